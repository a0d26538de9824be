// test_kinds_driver.c: the test of the random driver: it must fail, with a non-zero status and the command that repeats the
// case, when the reference kernel of a kind is wrong, and only then. Runs the program test_kinds that lies beside this one.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { NO_RUNTIME = 77 };

// Runs test_kinds with `options`; returns its exit status and collects the beginning of what it printed.
static int run(const char *options, char *output, size_t size)
{
  char own[900], command[1024];
  ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
  assert_true(length > 0);
  own[length] = '\0';
  *strrchr(own, '/') = '\0';
  snprintf(command, sizeof command, "'%s/test_kinds' %s", own, options);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  size_t count = fread(output, 1, size - 1, pipe);
  output[count] = '\0';
  for (char rest[256]; fread(rest, 1, sizeof rest, pipe) > 0;)
    ;
  int status = pclose(pipe);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void skip_without_runtime(int status)
{
  if (status != NO_RUNTIME)
    return;
  print_message("skipped: ONNX Runtime is not here\n");
  skip();
}

static void a_right_kernel_passes(void **state)
{
  (void)state;
  char output[8192];
  int status = run("--cases 2 --kind conv2d", output, sizeof output);
  skip_without_runtime(status);
  assert_int_equal(status, 0);
  assert_null(strstr(output, "FAILED"));
}

// One kind of each tolerance class.
static void a_wrong_kernel_is_noticed(void **state)
{
  (void)state;
  static const char *const kinds[] = { "max_pool2d", "leaky_relu", "sigmoid", "linear", "layer_norm" };
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    char options[128], repeat[128], output[8192];
    snprintf(options, sizeof options, "--cases 1 --kind %s --break %s", kinds[i], kinds[i]);
    int status = run(options, output, sizeof output);
    skip_without_runtime(status);
    assert_int_equal(status, 1);
    snprintf(repeat, sizeof repeat, "repeat: test_kinds --seed 1 --cases 1 --kind %s --opset 13", kinds[i]);
    assert_non_null(strstr(output, repeat));
  }
}

static void breaking_one_kind_leaves_the_others_right(void **state)
{
  (void)state;
  char output[8192];
  int status = run("--cases 1 --kind relu --break tanh", output, sizeof output);
  skip_without_runtime(status);
  assert_int_equal(status, 0);
}

static void wrong_options_are_refused(void **state)
{
  (void)state;
  char output[8192];
  assert_int_equal(run("--kind no_such_kind", output, sizeof output), 2);
  assert_int_equal(run("--opset 12", output, sizeof output), 2);
  assert_int_equal(run("--seed", output, sizeof output), 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_right_kernel_passes),
    cmocka_unit_test(a_wrong_kernel_is_noticed),
    cmocka_unit_test(breaking_one_kind_leaves_the_others_right),
    cmocka_unit_test(wrong_options_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
