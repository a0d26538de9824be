// signals.c: see signals.h. The only place of the whole project that touches signals. Place: cli.
#include "cli/signals.h"

#include <signal.h>

static volatile sig_atomic_t signals_seen;

static const int signals_caught[] = { SIGINT, SIGTERM, SIGHUP };
enum { SIGNALS_COUNT = sizeof signals_caught / sizeof signals_caught[0] };
static struct sigaction signals_before[SIGNALS_COUNT];

static void signals_note(int number)
{
  (void)number;
  signals_seen = 1;
}

// Unlike an ignored signal, one with a handler is as it was in programs that we start.
static void signals_pass(int number)
{
  (void)number;
}

void oxp__signals_begin(void)
{
  struct sigaction action = { .sa_handler = signals_pass, .sa_flags = SA_RESTART };
  sigemptyset(&action.sa_mask);
  sigaction(SIGXFSZ, &action, NULL);
}

void oxp__signals_catch(void)
{
  struct sigaction action = { .sa_handler = signals_note, .sa_flags = SA_RESTART };
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < SIGNALS_COUNT; i++)
    if (sigaction(signals_caught[i], NULL, &signals_before[i]) == 0 && signals_before[i].sa_handler != SIG_IGN)
      sigaction(signals_caught[i], &action, NULL);
}

void oxp__signals_release(void)
{
  for (int i = 0; i < SIGNALS_COUNT; i++)
    sigaction(signals_caught[i], &signals_before[i], NULL);
}

bool oxp__interrupted(void)
{
  return signals_seen != 0;
}

static bool signals_go_on(void *context)
{
  (void)context;
  return !oxp__interrupted();
}

oxp__output_guard oxp__signals_guard(const oxp__sources *sources)
{
  return (oxp__output_guard){ .sources = sources, .go_on = signals_go_on };
}
