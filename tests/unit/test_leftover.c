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
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/output.h"
#include "formats/common/netcl_save.h"

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

static void check_text(const char *path, const char *expected)
{
  char text[32] = "";
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_non_null(fgets(text, sizeof text, file));
  fclose(file);
  assert_string_equal(text, expected);
}

static void write_target(const char *path)
{
  oxp_error error = { 0 };
  oxp__output output;
  if (oxp__output_open(&output, path, NULL, &error) != OXP_OK ||
      oxp__output_write(&output, "new", 3, &error) != OXP_OK ||
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
  assert_int_equal(oxp__output_open(&slow, "out.onnx", NULL, &error), OXP_OK);
  assert_int_equal(oxp__output_write(&slow, "slow", 4, &error), OXP_OK);
  write_target("out.onnx");
  assert_true(is_there(slow.temporary_path));
  assert_int_equal(oxp__output_commit(&slow, OXP_SYNC_NEVER, &error), OXP_OK);
  check_text("out.onnx", "slow");
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

// ---- Links and permissions ----

static void links_are_followed_to_files_that_are_not_there_yet(void **state)
{
  (void)state;
  struct stat status;
  mkdir("there", 0755);
  assert_int_equal(symlink("there/second", "first"), 0);
  assert_int_equal(symlink("third", "there/second"), 0);
  for (int i = 0; i < 2; i++) { // the second time it is there
    write_target("first");
    assert_int_equal(lstat("first", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    check_text("there/third", "new");
  }
  unlink("first");
  unlink("there/second");
  unlink("there/third");
  rmdir("there");
}

static void links_that_lead_nowhere_are_refused(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp__output output;
  assert_int_equal(symlink("circle", "circle"), 0);
  assert_int_equal(oxp__output_open(&output, "circle", NULL, &error), OXP_IO);
  assert_non_null(strstr(error.message, "circle: cannot follow the symbolic link"));
  assert_true(is_there("circle"));
  unlink("circle");
}

static void nobody_else_reads_what_replaces_a_private_file(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp__output output;
  struct stat status;
  make("private");
  assert_int_equal(chmod("private", 0600), 0);
  assert_int_equal(oxp__output_open(&output, "private", NULL, &error), OXP_OK);
  assert_int_equal(stat(output.temporary_path, &status), 0);
  assert_int_equal(status.st_mode & 0777, 0600);
  assert_int_equal(oxp__output_commit(&output, OXP_SYNC_NEVER, &error), OXP_OK);
  assert_int_equal(stat("private", &status), 0);
  assert_int_equal(status.st_mode & 0777, 0600);
  unlink("private");
}

// ---- Pairs ----

static oxp_status write_pair(int opened, const char *json_text)
{
  oxp_error error = { 0 };
  oxp__netcl_output output;
  oxp_status status = oxp__netcl_output_open(&output, "pair", NULL, &error);
  bool told = opened < 0 || write(opened, "", 1) == 1;
  return oxp__netcl_output_close(&output, told ? status : OXP_IO, json_text, &error);
}

// An old file that was put away may be the only one there is: whoever opens or fails to write the target leaves it alone.
static void what_was_put_away_goes_when_a_pair_is_written(void **state)
{
  (void)state;
  oxp__netcl_output output;
  make(".pair.json.oxp-old");
  make(".pair.npz.oxp-old");
  assert_int_equal(oxp__netcl_output_open(&output, "pair", NULL, NULL), OXP_OK);
  assert_int_equal(oxp__netcl_output_close(&output, OXP_CANCELLED, "", NULL), OXP_CANCELLED);
  assert_true(is_there(".pair.json.oxp-old"));
  assert_true(is_there(".pair.npz.oxp-old"));
  assert_int_equal(write_pair(-1, "new"), OXP_OK);
  assert_false(is_there(".pair.json.oxp-old"));
  assert_false(is_there(".pair.npz.oxp-old"));
  unlink("pair.json");
  unlink("pair.npz");
}

// Who replaces a pair waits for whoever else does, and then replaces what is there by then.
static void pairs_are_replaced_one_after_another(void **state)
{
  (void)state;
  int lock, opened[2];
  char byte;
  char path[] = "pair.json";
  const oxp__output other = { .target_path = path };
  assert_int_equal(oxp__output_try_lock_folder(&other, 0, &lock), OXP__LOCKED);
  assert_int_equal(pipe(opened), 0);
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    oxp__folder_unlock(lock); // the parent has it still
    _exit(write_pair(opened[1], "new") == OXP_OK ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  assert_int_equal(read(opened[0], &byte, 1), 1);
  nanosleep(&(struct timespec){ .tv_nsec = 200 * 1000000 }, NULL);
  assert_false(is_there("pair.json"));
  make("pair.json");
  make("pair.npz");
  oxp__folder_unlock(lock);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  check_text("pair.json", "new");
  assert_false(is_there(".pair.json.oxp-old"));
  unlink("pair.json");
  unlink("pair.npz");
  close(opened[0]);
  close(opened[1]);
}

// Wants to stop when it was asked for the third time.
static bool go_on_twice(void *context)
{
  return --*(int *)context > 0;
}

static void who_waits_can_be_told_to_stop(void **state)
{
  (void)state;
  int lock, asked = 3;
  oxp_error error = { 0 };
  oxp__netcl_output output;
  char path[] = "pair.json";
  const oxp__output other = { .target_path = path };
  const oxp__output_guard guard = { .go_on = go_on_twice, .context = &asked };
  assert_int_equal(oxp__output_try_lock_folder(&other, 0, &lock), OXP__LOCKED);
  assert_int_equal(oxp__netcl_output_open(&output, "pair", &guard, &error), OXP_OK);
  assert_int_equal(oxp__netcl_output_close(&output, OXP_OK, "new", &error), OXP_CANCELLED);
  assert_non_null(strstr(error.message, "stopped on request"));
  assert_false(is_there("pair.json"));
  assert_false(is_there("pair.npz"));
  assert_int_equal(asked, 0);
  oxp__folder_unlock(lock);
}

static void long_names_of_a_pair_are_put_away_apart(void **state)
{
  (void)state;
  char stem[256], path[300];
  memset(stem, 'x', 240);
  stem[240] = 0;
  for (int i = 0; i < 2; i++) {
    oxp__netcl_output output;
    assert_int_equal(oxp__netcl_output_open(&output, stem, NULL, NULL), OXP_OK);
    assert_int_equal(oxp__netcl_output_close(&output, OXP_OK, i == 0 ? "old" : "new", NULL), OXP_OK);
  }
  snprintf(path, sizeof path, "%s.json", stem);
  check_text(path, "new");
  unlink(path);
  snprintf(path, sizeof path, "%s.npz", stem);
  unlink(path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(leftovers_of_the_target_are_removed),
    cmocka_unit_test(nothing_else_is_removed),
    cmocka_unit_test(what_another_writer_uses_is_kept),
    cmocka_unit_test(long_names_are_cleaned_too),
    cmocka_unit_test(links_are_followed_to_files_that_are_not_there_yet),
    cmocka_unit_test(links_that_lead_nowhere_are_refused),
    cmocka_unit_test(nobody_else_reads_what_replaces_a_private_file),
    cmocka_unit_test(what_was_put_away_goes_when_a_pair_is_written),
    cmocka_unit_test(pairs_are_replaced_one_after_another),
    cmocka_unit_test(who_waits_can_be_told_to_stop),
    cmocka_unit_test(long_names_of_a_pair_are_put_away_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
