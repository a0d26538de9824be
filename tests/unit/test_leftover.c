// Temporary files that killed processes left behind: the next writer of the same target removes them, and nothing else.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/output.h"

static void make(const char *path)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("left", file);
  fclose(file);
}

static bool is_there(const char *path)
{
  struct stat status;
  return lstat(path, &status) == 0;
}

static void write_target(const char *path)
{
  oxp_error error = { 0 };
  oxp__output output;
  if (oxp__output_open(&output, path, &error) != OXP_OK || oxp__output_write(&output, "new", 3, &error) != OXP_OK ||
      oxp__output_commit(&output, OXP_SYNC_NEVER, &error) != OXP_OK)
    fail_msg("%s", error.message);
}

static void leftovers_of_the_target_are_removed(void **state)
{
  (void)state;
  make(".out.onnx.oxp-0123abcd");
  make(".out.onnx.oxp-ffffffff");
  write_target("out.onnx");
  assert_false(is_there(".out.onnx.oxp-0123abcd"));
  assert_false(is_there(".out.onnx.oxp-ffffffff"));
  unlink("out.onnx");
}

static void nothing_else_is_removed(void **state)
{
  (void)state;
  static const char *const kept[] = {
    ".out.onnx.oxp-0123abc",   // a digit less
    ".out.onnx.oxp-0123abcde", // a digit more
    ".out.onnx.oxp-0123ABCD",  // not as they are written
    ".out.onnx.oxp-0123abc.",  // something else
    ".out2.onnx.oxp-0123abcd", // of another target
    "out.onnx.oxp-0123abcd",   // not hidden
    ".out.onnx.onnx.oxp-0123abcd",
  };
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
    make(kept[i]);
  assert_int_equal(mkdir(".out.onnx.oxp-00000001", 0700), 0);
  assert_int_equal(symlink("out.onnx", ".out.onnx.oxp-00000002"), 0);
  write_target("out.onnx");
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
    assert_true(is_there(kept[i]));
    unlink(kept[i]);
  }
  assert_true(is_there(".out.onnx.oxp-00000001"));
  assert_true(is_there(".out.onnx.oxp-00000002"));
  assert_true(is_there("out.onnx"));
  rmdir(".out.onnx.oxp-00000001");
  unlink(".out.onnx.oxp-00000002");
  unlink("out.onnx");
}

static void what_another_writer_uses_is_kept(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp__output slow;
  assert_int_equal(oxp__output_open(&slow, "out.onnx", &error), OXP_OK);
  assert_int_equal(oxp__output_write(&slow, "slow", 4, &error), OXP_OK);
  write_target("out.onnx");
  assert_true(is_there(slow.temporary_path));
  assert_int_equal(oxp__output_commit(&slow, OXP_SYNC_NEVER, &error), OXP_OK);
  char text[8] = "";
  FILE *file = fopen("out.onnx", "r");
  assert_non_null(file);
  assert_non_null(fgets(text, sizeof text, file));
  fclose(file);
  assert_string_equal(text, "slow");
  unlink("out.onnx");
}

static void long_names_are_cleaned_too(void **state)
{
  (void)state;
  char target[256], left[256];
  memset(target, 'x', 240);
  target[240] = 0;
  snprintf(left, sizeof left, ".%.200s.oxp-00000000", target);
  make(left);
  write_target(target);
  assert_false(is_there(left));
  unlink(target);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(leftovers_of_the_target_are_removed),
    cmocka_unit_test(nothing_else_is_removed),
    cmocka_unit_test(what_another_writer_uses_is_kept),
    cmocka_unit_test(long_names_are_cleaned_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
