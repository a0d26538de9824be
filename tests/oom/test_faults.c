// Every reader, both writing passes, the converting writers and sessions, while the n-th call of the system fails, for n from 1 on
// until none does. Each failure has a status and a message, leaves no file and no open descriptor, and an older target as it was;
// what succeeds although a call failed has the right result. Leaks are the sanitizer's part.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <dirent.h>
#include <onnxport.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"

#define NETCL OXP_TEST_DATA "/netcl/"
enum { MOST_CALLS = 20000 };

// One thing to do, with everything that it needs.
typedef struct operation {
  const char *name, *source, *description, *format;
  bool external;
  bool pair;                   // writes two files that belong together
  int channels, height, width; // of the input; 0: as the file says
  oxp_status (*run)(const struct operation *operation, oxp_error *error);
  int least[FAULT_SHORT + 1]; // so many calls of each group at least, so that a group that is not reached is noticed
} operation;

static const char *const targets[] = { "target", "target.json", "target.npz" };

// ---- Operations ----

static oxp_status open_network(const operation *op, oxp_network **network, oxp_error *error)
{
  oxp_open_options options = { .description = op->description };
  if (op->height > 0) {
    options.input_rank = 3;
    memcpy(options.input_shape, (int64_t[]){ op->channels, op->height, op->width }, 3 * sizeof(int64_t));
  }
  return oxp_network_open(op->source, &options, network, error);
}

static oxp_status run_open(const operation *op, oxp_error *error)
{
  oxp_network *network;
  oxp_status status = open_network(op, &network, error);
  if (status == OXP_OK)
    oxp_network_free(network);
  return status;
}

static oxp_status run_export(const operation *op, oxp_error *error)
{
  oxp_network *network;
  oxp_graph *graph = NULL;
  oxp_write_options options = { .sync = OXP_SYNC_ALWAYS,
                                .external_data = op->external ? OXP_EXTERNAL_ALWAYS : OXP_EXTERNAL_AUTO };
  oxp_status status = open_network(op, &network, error);
  if (status != OXP_OK)
    return status;
  status = oxp_graph_lower(network, NULL, &graph, error);
  if (status == OXP_OK)
    status = oxp_graph_write(graph, targets[0], &options, NULL, error);
  oxp_graph_free(graph);
  oxp_network_free(network);
  return status;
}

static oxp_status run_convert(const operation *op, oxp_error *error)
{
  oxp_network *network;
  oxp_status status = open_network(op, &network, error);
  if (status != OXP_OK)
    return status;
  status = oxp_network_write(network, targets[0], op->format, error);
  oxp_network_free(network);
  return status;
}

static oxp_status run_model(const operation *op, oxp_error *error)
{
  oxp_graph *graph;
  oxp_status status = oxp_graph_open(op->source, &graph, error);
  if (status != OXP_OK)
    return status;
  status = oxp_graph_check(graph, error);
  if (status == OXP_OK)
    status = oxp_graph_write(graph, targets[0], NULL, NULL, error);
  oxp_graph_free(graph);
  return status;
}

static oxp_status run_session(const operation *op, oxp_error *error)
{
  oxp_network *network;
  oxp_session *session = NULL;
  oxp_array input = { 0 }, output = { 0 };
  oxp_status status = open_network(op, &network, error);
  if (status != OXP_OK)
    return status;
  status = oxp_session_open(network, "reference", NULL, &session, error);
  oxp_network_free(network);
  if (status != OXP_OK)
    return status;
  status = oxp_array_new(&input, OXP_FLOAT32, 4, (int64_t[]){ 1, 8, 9, 11 }, error);
  if (status == OXP_OK)
    status = oxp_session_run(session, &input, &output, error);
  if (status == OXP_OK)
    status = oxp_array_write(&output, targets[0], error);
  oxp_array_free(&input);
  oxp_array_free(&output);
  oxp_session_free(session);
  return status;
}

static oxp_status run_arrays(const operation *op, oxp_error *error)
{
  oxp_array array;
  oxp_weights *weights;
  oxp_tensor tensor;
  oxp_status status = oxp_array_read(NETCL "a_mlp.x.npy", &array, error);
  if (status != OXP_OK)
    return status;
  oxp_array_free(&array);
  status = oxp_weights_open(op->source, &weights, error);
  if (status != OXP_OK)
    return status;
  status = oxp_weights_find(weights, "1:gamma", &tensor, error);
  oxp_weights_free(weights);
  return status;
}

// ---- What is on the disk ----

static char *file_bytes(const char *path, size_t *count)
{
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t capacity = 1 << 20;
  char *bytes = malloc(capacity);
  assert_non_null(bytes);
  *count = fread(bytes, 1, capacity, file);
  assert_true(*count < capacity);
  fclose(file);
  return bytes;
}

static bool is_there(const char *path)
{
  struct stat status;
  return stat(path, &status) == 0;
}

// False when there is no such file.
static bool same_bytes(const char *path, const char *bytes, size_t count)
{
  if (!is_there(path))
    return false;
  size_t found;
  char *now = file_bytes(path, &found);
  bool same = found == count && memcmp(now, bytes, count) == 0;
  free(now);
  return same;
}

static int count_entries(const char *path)
{
  DIR *folder = opendir(path);
  assert_non_null(folder);
  int count = 0;
  while (readdir(folder))
    count++;
  closedir(folder);
  return count;
}

static void put_old_targets(void)
{
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
    FILE *file = fopen(targets[i], "wb");
    assert_non_null(file);
    fprintf(file, "an older %s", targets[i]);
    fclose(file);
  }
}

static bool old_targets_are_there(void)
{
  bool same = true;
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
    char old[64];
    int length = snprintf(old, sizeof old, "an older %s", targets[i]);
    same = same && same_bytes(targets[i], old, (size_t)length);
  }
  return same;
}

// Data files of models are named after their content.
static void empty_folder(void)
{
  DIR *folder = opendir(".");
  assert_non_null(folder);
  for (struct dirent *entry; (entry = readdir(folder));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      assert_int_equal(unlink(entry->d_name), 0);
  closedir(folder);
}

// ---- Faults ----

static void check_failure(const operation *op, fault what, int n, oxp_status status, const oxp_error *error,
                          const char *expected, size_t count)
{
  if (status != error->status || error->message[0] == 0)
    fail_msg("%s, group %d, call %d: status %d, in the error %d: \"%s\"", op->name, (int)what, n, (int)status,
             (int)error->status, error->message);
  // Once a file has its name, only the syncing of its folder is left to fail.
  bool replaced = strstr(error->message, "after the file was replaced") != NULL;
  if (replaced && !op->external && expected && !same_bytes(targets[0], expected, count))
    fail_msg("%s, group %d, call %d: the target is not right (%s)", op->name, (int)what, n, error->message);
  if (replaced)
    return;
  if (!old_targets_are_there())
    fail_msg("%s, group %d, call %d: an older target was touched (%s)", op->name, (int)what, n, error->message);
  if (count_entries(".") != 2 + (int)(sizeof targets / sizeof targets[0]))
    fail_msg("%s, group %d, call %d: a file was left behind (%s)", op->name, (int)what, n, error->message);
}

// Returns how many calls there were to fail.
static int fail_every_call(const operation *op, fault what, const char *expected, size_t count)
{
  int descriptors = count_entries("/proc/self/fd");
  for (int n = 1; n < MOST_CALLS; n++) {
    oxp_error error = { 0 };
    put_old_targets();
    fault_arm(what, n);
    oxp_status status = op->run(op, &error);
    bool fired = fault_disarm();
    if (count_entries("/proc/self/fd") != descriptors)
      fail_msg("%s, group %d, call %d: a descriptor stayed open", op->name, (int)what, n);
    if (status != OXP_OK)
      check_failure(op, what, n, status, &error, expected, count);
    else if (expected && !same_bytes(targets[0], expected, count))
      fail_msg("%s, group %d, call %d: done, but the target is not right", op->name, (int)what, n);
    empty_folder();
    if (!fired) {
      assert_int_equal(status, OXP_OK);
      return n - 1;
    }
    if (what == FAULT_SHORT)
      return 1;
  }
  fail_msg("%s, group %d: more calls than there can be", op->name, (int)what);
  return 0;
}

static void check_operation(void **state)
{
  const operation *op = *state;
  oxp_error error = { 0 };
  size_t count = 0;
  char *expected = NULL;
  empty_folder();
  if (op->run(op, &error) != OXP_OK)
    fail_msg("%s", error.message);
  struct stat status;
  if (stat(targets[0], &status) == 0)
    expected = file_bytes(targets[0], &count);
  empty_folder();
  for (fault what = FAULT_MEMORY; what <= FAULT_SHORT; what++) {
    int calls = fail_every_call(op, what, expected, count);
    printf("%s, group %d: %d calls failed, one after another\n", op->name, (int)what, calls);
    if (calls < op->least[what])
      fail_msg("%s, group %d: only %d calls", op->name, (int)what, calls);
  }
  free(expected);
}

// ---- Kills ----

// The n-th renaming kills the process that converts over an older pair; false when there are fewer.
static bool kill_at(const operation *op, int n)
{
  put_old_targets();
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    oxp_error error = { 0 };
    fault_arm(FAULT_KILL, n);
    _exit(op->run(op, &error) == OXP_OK ? 1 : 2); // it was not killed
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
  return WEXITSTATUS(status) == 0;
}

// A description never stands beside the weights of another network: both files are old, or both new, or there is no description.
static void pairs_are_never_mixed(void **state)
{
  const operation *op = *state;
  oxp_error error = { 0 };
  size_t json_count, npz_count;
  empty_folder();
  assert_int_equal(op->run(op, &error), OXP_OK);
  char *json = file_bytes("target.json", &json_count), *npz = file_bytes("target.npz", &npz_count);
  int n = 1;
  for (bool killed = true; killed; n++) {
    empty_folder();
    killed = kill_at(op, n);
    bool new_npz = same_bytes("target.npz", npz, npz_count);
    if (is_there("target.json") && same_bytes("target.json", json, json_count) != new_npz)
      fail_msg("%s, killed at renaming %d: the files are of two networks", op->name, n);
    assert_true(killed || (new_npz && is_there("target.json")));
  }
  assert_int_equal(n, 1 + 4 + 1); // the two old files go, the two new ones come, then it was not killed
  empty_folder();
  assert_true(kill_at(op, 4));
  assert_int_equal(count_entries("."),
                   2 + 2 + 2 + 1); // another target, the weights; two that were put away; a temporary file
  assert_int_equal(op->run(op, &error), OXP_OK);
  assert_int_equal(count_entries("."), 2 + 3); // what was left is gone
  empty_folder();
  free(json);
  free(npz);
}

// From the n-th renaming on none succeeds, so that nothing can be put back either: then too no description stands beside the
// weights of another network, and nothing old is lost.
static void what_cannot_be_put_back_is_not_mixed(void **state)
{
  const operation *op = *state;
  int failures = 0;
  for (bool failed = true; failed; failures += failed) {
    oxp_error error = { 0 };
    empty_folder();
    put_old_targets();
    fault_arm(FAULT_RENAME, failures + 1);
    failed = op->run(op, &error) != OXP_OK;
    fault_disarm();
    bool old_npz = same_bytes("target.npz", "an older target.npz", 19);
    if (failed && is_there("target.json") && !old_npz)
      fail_msg("%s, renaming failed from the call %d on: the files are of two networks", op->name, failures + 1);
    assert_true(!failed || is_there("target.json") || is_there(".target.json.oxp-old"));
    assert_true(!failed || old_npz || is_there(".target.npz.oxp-old"));
    if (failed && !is_there("target.json"))
      assert_non_null(strstr(error.message, ".NAME.oxp-old"));
  }
  assert_int_equal(failures, 4);
  empty_folder();
}

// Where folders cannot be locked, another process may be about to refer to any data file.
static void without_locks_no_data_file_is_removed(void **state)
{
  const operation *op = *state;
  for (int locks = 0; locks < 2; locks++) {
    oxp_error error = { 0 };
    empty_folder();
    fclose(fopen("target.0123456789abcdef.data", "wb"));
    fault_arm(locks ? FAULT_NONE : FAULT_LOCK, 1);
    assert_int_equal(op->run(op, &error), OXP_OK);
    fault_disarm();
    assert_int_equal(is_there("target.0123456789abcdef.data"), !locks);
    assert_true(is_there("target"));
  }
  empty_folder();
}

#define READS                                                                                                          \
  {                                                                                                                    \
    0, 10, 2, 0, 1, 1                                                                                                  \
  }
#define WRITES                                                                                                         \
  {                                                                                                                    \
    0, 10, 2, 5, 2, 1                                                                                                  \
  }
static const operation operations[] = {
  { "open .netcl", NETCL "c_conv_groups.netcl", .run = run_open, .least = READS },
  { "open deflated .netcl", NETCL "damaged/compressed.netcl", .channels = 2, .height = 6, .width = 5, .run = run_open,
    .least = READS },
  { "open pair", NETCL "legacy/v013_cnn", .channels = 3, .height = 16, .width = 16, .run = run_open, .least = READS },
  { "open checkpoint", NETCL "checkpoint/b_ck", OXP_EXAMPLES "/b_cnn.netcl", .channels = 3, .height = 32, .width = 32,
    .run = run_open, .least = READS },
  { "open .pt", NETCL "pt/b_cnn.torch_state.pt", OXP_EXAMPLES "/b_cnn.netcl", .channels = 3, .height = 32, .width = 32,
    .run = run_open, .least = READS },
  { "open .pt with parts of storages", NETCL "pt/b_cnn.torch_strided_offset.pt", OXP_EXAMPLES "/b_cnn.netcl",
    .channels = 3, .height = 32, .width = 32, .run = run_open, .least = READS },
  { "open .pt of netcl", NETCL "pt/b_cnn.netcl_export.pt", OXP_EXAMPLES "/b_cnn.netcl", .channels = 3, .height = 32,
    .width = 32, .run = run_open, .least = READS },
  { "arrays", NETCL "g_layernorm.weights.npz", .run = run_arrays, .least = READS },
  { "export", NETCL "c_conv_groups.netcl", .run = run_export, .least = WRITES },
  { "export deflated", NETCL "damaged/compressed.netcl", .channels = 2, .height = 6, .width = 5, .run = run_export,
    .least = WRITES },
  { "export Fortran order", NETCL "damaged/fortran.netcl", .channels = 2, .height = 6, .width = 5, .run = run_export,
    .least = WRITES },
  { "export pair", NETCL "legacy/v013_mlp", .run = run_export, .least = WRITES },
  { "export a bare list", NETCL "list/net.json", .channels = 6, .height = 7, .width = 9, .run = run_export,
    .least = WRITES },
  { "export with a data file", NETCL "c_conv_groups.netcl", .external = true, .run = run_export, .least = WRITES },
  { "convert to netcl", NETCL "d_bn.netcl", .format = "netcl", .run = run_convert, .least = WRITES },
  { "convert to netcl_pair", NETCL "d_bn.netcl", .format = "netcl_pair", .pair = true, .run = run_convert,
    .least = WRITES },
  { "convert to netcl_pt", NETCL "d_bn.netcl", .format = "netcl_pt", .run = run_convert, .least = WRITES },
  { "convert to netcl_checkpoint", NETCL "d_bn.netcl", .format = "netcl_checkpoint", .pair = true, .run = run_convert,
    .least = WRITES },
  { "read and write a model", NETCL "c_conv_groups.onnx", .run = run_model, .least = WRITES },
  { "session", NETCL "c_conv_groups.netcl", .run = run_session, .least = WRITES },
};

// ---- Power cuts ----

static void check_seen(const char *expected)
{
  const char *found = fault_seen();
  if (strcmp(found, expected) != 0)
    fail_msg("seen %s, expected %s", found, expected);
}

// Exports over an older file, or where there is none.
static void check_export(oxp_sync sync, oxp_external_data external, bool replaces, const char *expected)
{
  oxp_network *network;
  oxp_graph *graph;
  const oxp_write_options options = { .sync = sync, .external_data = external };
  empty_folder();
  if (replaces)
    fclose(fopen(targets[0], "wb"));
  assert_int_equal(oxp_network_open(NETCL "c_conv_groups.netcl", NULL, &network, NULL), OXP_OK);
  assert_int_equal(oxp_graph_lower(network, NULL, &graph, NULL), OXP_OK);
  fault_watch();
  assert_int_equal(oxp_graph_write(graph, targets[0], &options, NULL, NULL), OXP_OK);
  check_seen(expected);
  oxp_graph_free(graph);
  oxp_network_free(network);
  empty_folder();
}

// The bytes are on the disk before a name leads to them, and the name before the call returns.
static void what_replaces_a_file_is_on_the_disk_first(void **state)
{
  (void)state;
  check_export(OXP_SYNC_AUTO, OXP_EXTERNAL_AUTO, true, "SRF");
  check_export(OXP_SYNC_AUTO, OXP_EXTERNAL_AUTO, false, "r");
  check_export(OXP_SYNC_ALWAYS, OXP_EXTERNAL_AUTO, false, "SRF");
  check_export(OXP_SYNC_NEVER, OXP_EXTERNAL_AUTO, true, "r");
  check_export(OXP_SYNC_AUTO, OXP_EXTERNAL_ALWAYS, true, "SSRRF");
  check_export(OXP_SYNC_ALWAYS, OXP_EXTERNAL_ALWAYS, false, "SSRRF");
  check_export(OXP_SYNC_NEVER, OXP_EXTERNAL_ALWAYS, true, "rr");
}

static void a_pair_is_on_the_disk_before_the_old_one_goes(void **state)
{
  (void)state;
  static const char *const expected[] = { "rr", "SSrrRRF" }; // none before; two old ones put away
  oxp_network *network;
  assert_int_equal(oxp_network_open(NETCL "d_bn.netcl", NULL, &network, NULL), OXP_OK);
  empty_folder();
  for (int i = 0; i < 2; i++) {
    fault_watch();
    assert_int_equal(oxp_network_write(network, targets[0], "netcl_pair", NULL), OXP_OK);
    check_seen(expected[i]);
  }
  empty_folder();
  oxp_network_free(network);
}

int main(void)
{
  enum { COUNT = sizeof operations / sizeof operations[0], MOST_EACH = 3 };
  struct CMUnitTest tests[COUNT * MOST_EACH + 2] = {
    cmocka_unit_test(what_replaces_a_file_is_on_the_disk_first),
    cmocka_unit_test(a_pair_is_on_the_disk_before_the_old_one_goes),
  };
  size_t count = 2;
  for (size_t i = 0; i < COUNT; i++) {
    const operation *op = &operations[i];
    tests[count++] = (struct CMUnitTest){ op->name, check_operation, NULL, NULL, (void *)op };
    if (op->external)
      tests[count++] = (struct CMUnitTest){ op->name, without_locks_no_data_file_is_removed, NULL, NULL, (void *)op };
    if (op->pair) {
      tests[count++] = (struct CMUnitTest){ op->format, pairs_are_never_mixed, NULL, NULL, (void *)op };
      tests[count++] = (struct CMUnitTest){ op->format, what_cannot_be_put_back_is_not_mixed, NULL, NULL, (void *)op };
    }
  }
  return cmocka_run_group_tests(tests, NULL, NULL); // passes over the empty ones at the end
}
