// What the command does about signals: what was there before comes back, what was ignored stays so.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/signals.h"

static volatile sig_atomic_t own_count;

static void own_handler(int number)
{
  (void)number;
  own_count++;
}

static void (*action_of(int number))(int)
{
  struct sigaction action;
  assert_int_equal(sigaction(number, NULL, &action), 0);
  return action.sa_handler;
}

static void actions_come_back(void **state)
{
  (void)state;
  signal(SIGINT, own_handler);
  signal(SIGTERM, SIG_DFL);
  signal(SIGHUP, SIG_IGN);
  oxp__signals_catch();
  assert_true(action_of(SIGINT) != own_handler);
  assert_true(action_of(SIGTERM) != SIG_DFL);
  assert_true(action_of(SIGHUP) == SIG_IGN);
  raise(SIGHUP);
  assert_false(oxp__interrupted());
  oxp__output_guard guard = oxp__signals_guard(NULL);
  assert_true(guard.go_on(guard.context));
  raise(SIGINT);
  assert_true(oxp__interrupted());
  assert_false(guard.go_on(guard.context));
  oxp__signals_release();
  assert_true(action_of(SIGINT) == own_handler);
  assert_true(action_of(SIGTERM) == SIG_DFL);
  assert_true(action_of(SIGHUP) == SIG_IGN);
  assert_int_equal(own_count, 0);
}

static void the_file_size_signal_ends_nothing(void **state)
{
  (void)state;
  oxp__signals_begin();
  raise(SIGXFSZ);
  assert_true(action_of(SIGXFSZ) != SIG_IGN); // programs that are started would inherit that
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(actions_come_back),
    cmocka_unit_test(the_file_size_signal_ends_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
