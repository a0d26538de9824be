// Who may do what with a file that took another one's place: nobody more than before. Much of it needs root, who can be anybody.
#define _DEFAULT_SOURCE // setgroups
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <grp.h>
#include <sys/xattr.h>
#endif

#include <cmocka.h>

#include "core/output.h"

enum { SOMEBODY = 1234, A_GROUP = 4321, ELSE = 2345, OTHER_GROUP = 5432 };

static void make(const char *path, mode_t mode)
{
  fclose(fopen(path, "wb"));
  assert_int_equal(chmod(path, mode), 0);
}

static oxp_status replace(const char *path)
{
  oxp__output output;
  oxp_status status = oxp__output_open(&output, path, NULL, NULL);
  if (status == OXP_OK)
    status = oxp__output_write(&output, "new", 3, NULL);
  return status == OXP_OK ? oxp__output_commit(&output, OXP_SYNC_NEVER, NULL) : status;
}

static struct stat look(const char *path)
{
  struct stat status;
  assert_int_equal(stat(path, &status), 0);
  return status;
}

static int enter_empty_folder(void **state)
{
  (void)state;
  char folder[] = "access-XXXXXX";
  umask(022);
  return mkdtemp(folder) && chmod(folder, 0777) == 0 && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
  (void)state;
  return chdir("..");
}

// Modes that a new file does not have by itself, with an umask that would take some of the bits away.
static void permissions_are_kept(void **state)
{
  (void)state;
  static const mode_t modes[] = { 0666, 0775, 0640, 0600, 0444, 0604, 0777 };
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    make("file", modes[i]);
    assert_int_equal(replace("file"), OXP_OK);
    assert_int_equal(look("file").st_mode & 07777, modes[i]);
    assert_int_equal(look("file").st_size, 3);
    unlink("file");
  }
  assert_int_equal(replace("fresh"), OXP_OK);
  assert_int_equal(look("fresh").st_mode & 07777, 0644);
}

static void while_it_is_written_a_replacement_is_its_makers_alone(void **state)
{
  (void)state;
  oxp__output output;
  make("file", 0666);
  assert_int_equal(oxp__output_open(&output, "file", NULL, NULL), OXP_OK);
  assert_int_equal(look(output.temporary_path).st_mode & 07777, 0600);
  oxp__output_abort(&output);
}

// ---- Needing root ----

static void need_root(void)
{
  if (geteuid() == 0)
    return;
  print_message("skipped: only root can give files away\n");
  skip();
}

static void root_keeps_owner_and_group(void **state)
{
  (void)state;
  need_root();
  make("file", 0640);
  assert_int_equal(chown("file", SOMEBODY, A_GROUP), 0);
  assert_int_equal(replace("file"), OXP_OK);
  assert_int_equal(look("file").st_uid, SOMEBODY);
  assert_int_equal(look("file").st_gid, A_GROUP);
  assert_int_equal(look("file").st_mode & 07777, 0640);
}

// Calls the function as ELSE, a member of one group, in a process of its own.
static void as_somebody_else(gid_t group, void (*what)(void))
{
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
#ifdef __linux__
    bool changed = setgroups(1, &group) == 0 && setgid(OTHER_GROUP) == 0 && setuid(ELSE) == 0;
#else
    bool changed = false;
#endif
    if (!changed)
      _exit(2);
    what();
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static void replace_file(void)
{
  if (replace("file") != OXP_OK)
    _exit(1);
}

// Members of the old group are among all others now, whoever is in the new group was: each class has what all of its people had before.
static void what_cannot_be_kept_gives_nobody_more(void **state)
{
  (void)state;
  need_root();
  static const struct {
    mode_t before, group_kept, nothing_kept;
  } cases[] = {
    { 0664, 0664, 0604 }, { 0660, 0660, 0600 }, { 0604, 0604, 0600 },
    { 0646, 0646, 0604 }, { 0644, 0644, 0604 }, { 0466, 0444, 0404 },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int member = 0; member < 2; member++) {
      make("file", cases[i].before);
      assert_int_equal(chown("file", SOMEBODY, A_GROUP), 0);
      as_somebody_else(member ? A_GROUP : OTHER_GROUP, replace_file);
      struct stat now = look("file");
      assert_int_equal(now.st_uid, ELSE);
      assert_int_equal(now.st_gid, member ? A_GROUP : OTHER_GROUP);
      assert_int_equal(now.st_mode & 07777, member ? cases[i].group_kept : cases[i].nothing_kept);
      unlink("file");
    }
}

// ---- Access control lists ----

#ifdef __linux__
static const char list_name[] = "system.posix_acl_access", default_name[] = "system.posix_acl_default";

// The list "owner rw-, user ELSE rw-, group r--, mask rw-, other ---" as it lies in the attribute.
static const unsigned char list[] = {
  2,  0, 0, 0,                                     // version
  1,  0, 6, 0, 0xff,        0xff,      0xff, 0xff, // owner
  2,  0, 6, 0, ELSE & 0xff, ELSE >> 8, 0,    0,    // a user
  4,  0, 4, 0, 0xff,        0xff,      0xff, 0xff, // group
  16, 0, 6, 0, 0xff,        0xff,      0xff, 0xff, // mask
  32, 0, 0, 0, 0xff,        0xff,      0xff, 0xff, // all others
};

static void need_lists(void)
{
  make("probe", 0600);
  if (setxattr("probe", list_name, list, sizeof list, 0) == 0)
    return;
  print_message("skipped: no access control lists here (%s)\n", strerror(errno));
  skip();
}

static void lists_are_kept(void **state)
{
  (void)state;
  unsigned char found[256];
  need_lists();
  make("file", 0600);
  assert_int_equal(setxattr("file", list_name, list, sizeof list, 0), 0);
  mode_t mode = look("file").st_mode;
  assert_int_equal(replace("file"), OXP_OK);
  assert_int_equal(getxattr("file", list_name, found, sizeof found), sizeof list);
  assert_memory_equal(found, list, sizeof list);
  assert_int_equal(look("file").st_mode, mode);
  assert_int_equal(look("file").st_size, 3);
}

// A folder's default list would let ELSE read what was the group's alone.
static void a_folders_list_is_not_for_a_file_that_had_none(void **state)
{
  (void)state;
  unsigned char found[256];
  need_lists();
  make("file", 0640);
  if (setxattr(".", default_name, list, sizeof list, 0) != 0)
    fail_msg("%s", strerror(errno));
  assert_int_equal(replace("file"), OXP_OK);
  assert_int_equal(getxattr("file", list_name, found, sizeof found), -1);
  assert_int_equal(look("file").st_mode & 07777, 0640);
}

static void a_list_for_other_people_is_not_taken_over(void **state)
{
  (void)state;
  enum { ALL_OTHERS = 38 }; // where their permissions are in the list
  unsigned char found[256], given[sizeof list];
  need_root();
  need_lists();
  memcpy(given, list, sizeof list);
  for (int others = 0; others <= 4;
       others += 4) { // a list may deny to some what all others may: then none of those may
    given[ALL_OTHERS] = (unsigned char)others;
    make("file", 0600);
    assert_int_equal(setxattr("file", list_name, given, sizeof given, 0), 0);
    assert_int_equal(chown("file", SOMEBODY, A_GROUP), 0);
    as_somebody_else(OTHER_GROUP, replace_file);
    assert_int_equal(getxattr("file", list_name, found, sizeof found), -1);
    assert_int_equal(look("file").st_mode & 07777, 0600);
    unlink("file");
  }
}
#endif

// ---- Links ----

// A link in a folder may lead to a path of the whole system; it stays, and what it names is replaced.
static void links_to_whole_paths_are_followed(void **state)
{
  (void)state;
  char here[4096], target[4200];
  assert_non_null(getcwd(here, sizeof here));
  snprintf(target, sizeof target, "%s/target", here);
  mkdir("folder", 0755);
  make("target", 0644);
  assert_int_equal(symlink(target, "folder/link"), 0);
  assert_int_equal(replace("folder/link"), OXP_OK);
  assert_int_equal(look("target").st_size, 3);
  assert_true(readlink("folder/link", here, sizeof here) > 0);
}

// As many links on the way as the system follows itself, and no more.
static void long_chains_of_links_are_followed_to_an_end(void **state)
{
  (void)state;
  enum { MOST_LINKS = 40 };
  char link[16] = "target", next[16];
  make("target", 0644);
  for (int i = 0; i < MOST_LINKS; i++) {
    snprintf(next, sizeof next, "link%d", i);
    assert_int_equal(symlink(link, next), 0);
    memcpy(link, next, sizeof link);
  }
  assert_int_equal(replace(link), OXP_OK);
  assert_int_equal(look("target").st_size, 3);
  oxp__output output;
  oxp_error error = { 0 };
  assert_int_equal(symlink(link, "further"), 0);
  assert_int_equal(oxp__output_open(&output, "further", NULL, &error), OXP_IO);
  assert_non_null(strstr(error.message, strerror(ELOOP)));
}

// In a folder like /tmp only own links and those of the folder's owner are followed; elsewhere all are.
static void strangers_links_are_not_followed_in_shared_folders(void **state)
{
  (void)state;
  need_root();
  static const struct {
    mode_t folder;
    uid_t link_owner;
    oxp_status expected;
  } cases[] = {
    { 01777, ELSE, OXP_IO }, { 01777, 0, OXP_OK },    { 01777, SOMEBODY, OXP_OK },
    { 01775, ELSE, OXP_OK }, { 00777, ELSE, OXP_OK }, { 00755, ELSE, OXP_OK },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int inner = 0; inner < 2; inner++) { // the link is the file, or a folder on the way
      oxp_error error = { 0 };
      oxp__output output;
      mkdir("shared", 0755);
      mkdir("target", 0755);
      assert_int_equal(symlink(inner ? "../target" : "../target/model", "shared/link"), 0);
      assert_int_equal(lchown("shared/link", cases[i].link_owner, 0), 0);
      assert_int_equal(chown("shared", SOMEBODY, 0), 0);
      assert_int_equal(chmod("shared", cases[i].folder), 0);
      const char *path = inner ? "shared/link/model" : "shared/link";
      oxp_status status = oxp__output_open(&output, path, NULL, &error);
      assert_int_equal(status, cases[i].expected);
      if (status != OXP_OK)
        assert_non_null(strstr(error.message, "belongs to somebody else"));
      else
        assert_int_equal(oxp__output_commit(&output, OXP_SYNC_NEVER, NULL), OXP_OK);
      assert_int_equal(access("target/model", F_OK), status == OXP_OK ? 0 : -1);
      unlink("target/model");
      unlink("shared/link");
      rmdir("shared");
      rmdir("target");
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_empty_folder, leave_folder)
  const struct CMUnitTest tests[] = {
    TEST(permissions_are_kept),
    TEST(while_it_is_written_a_replacement_is_its_makers_alone),
    TEST(root_keeps_owner_and_group),
    TEST(what_cannot_be_kept_gives_nobody_more),
#ifdef __linux__
    TEST(lists_are_kept),
    TEST(a_folders_list_is_not_for_a_file_that_had_none),
    TEST(a_list_for_other_people_is_not_taken_over),
#endif
    TEST(links_to_whole_paths_are_followed),
    TEST(long_chains_of_links_are_followed_to_an_end),
    TEST(strangers_links_are_not_followed_in_shared_folders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
