// signals.c: see signals.h. The only place of the whole project that touches signals. Place: cli.
#include "cli/signals.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
  (void)number;
  interrupted = 1;
}

static void set_handler(void (*handler)(int))
{
  struct sigaction action = { .sa_handler = handler };
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

void oxp__signals_catch(void)
{
  set_handler(on_signal);
}

void oxp__signals_release(void)
{
  set_handler(SIG_DFL);
}

bool oxp__interrupted(void)
{
  return interrupted != 0;
}
