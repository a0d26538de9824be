// Unit tests of weights in a data file beside the model.
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/numbers.h"
#include "onnx/external.h"
#include "runtime.h"

enum { SIDE = 40 }; // 6,400 bytes of weights: above what stays in the model

static const oxp_write_options always = { .external_data = OXP_EXTERNAL_ALWAYS };

// A linear layer without file, whose weights all have one value.
static oxp_network *make_network(const float *weights)
{
  oxp_network *network = NULL;
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &network, NULL), OXP_OK);
  oxp_value x = oxp_network_add_input(network, NULL, 2, (int64_t[]){ OXP_DIM_BATCH, SIDE });
  x = oxp_network_add_layer(network, "linear", NULL, 1, &x);
  oxp_layer_set_int(network, x, "in_features", SIDE);
  oxp_layer_set_int(network, x, "out_features", SIDE);
  oxp_tensor weight = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ SIDE, SIDE }, weights);
  oxp_tensor bias = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ SIDE }, weights);
  oxp_layer_set_weight(network, x, "weight", &weight);
  oxp_layer_set_weight(network, x, "bias", &bias);
  oxp_network_add_output(network, x, NULL);
  assert_int_equal(oxp_network_finish(network, NULL), OXP_OK);
  return network;
}

static void write_weights(const char *path, const float *weights, const oxp_write_options *options,
                          oxp_write_report *report)
{
  oxp_network *network = make_network(weights);
  oxp_graph *graph = NULL;
  oxp_error error = { 0 };
  if (oxp_graph_lower(network, NULL, &graph, &error) != OXP_OK ||
      oxp_graph_write(graph, path, options, report, &error) != OXP_OK)
    fail_msg("%s", error.message);
  oxp_graph_free(graph);
  oxp_network_free(network);
}

static void write_model(const char *path, float value, const oxp_write_options *options, oxp_write_report *report)
{
  float weights[SIDE * SIDE];
  for (int i = 0; i < SIDE * SIDE; i++)
    weights[i] = value;
  write_weights(path, weights, options, report);
}

// How many files here end like this.
static int count_files(const char *suffix)
{
  DIR *folder = opendir(".");
  int count = 0;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    size_t length = strlen(entry->d_name), tail = strlen(suffix);
    count += length > tail && strcmp(entry->d_name + length - tail, suffix) == 0;
  }
  closedir(folder);
  return count;
}

static int enter_empty_folder(void **state)
{
  (void)state;
  char folder[] = "external-XXXXXX";
  return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
  (void)state;
  return chdir("..");
}

static void large_arrays_lie_aligned_in_the_data_file(void **state)
{
  (void)state;
  oxp_write_report report;
  write_model("m.onnx", 1.5f, &always, &report);
  assert_memory_equal(report.data_file, "m.onnx.", 7);
  assert_int_equal(report.data_bytes, SIDE * SIDE * 4);
  struct stat status;
  assert_int_equal(stat(report.data_file, &status), 0);
  assert_int_equal(status.st_size, SIDE * SIDE * 4);
  assert_int_equal(stat("m.onnx", &status), 0);
  assert_int_equal(status.st_size, report.model_bytes);
  oxp_graph *graph = NULL;
  assert_int_equal(oxp_graph_open("m.onnx", &graph, NULL), OXP_OK);
  const oxp__tensor_proto *weight = graph->model.graph->initializers.at[0],
                          *bias = graph->model.graph->initializers.at[1];
  assert_int_equal(weight->data_location, OXP__TENSOR_EXTERNAL);
  assert_int_equal(weight->external.count, 3);
  assert_string_equal(weight->external.at[0]->value, report.data_file); // bare: no folder in it
  assert_string_equal(weight->external.at[1]->value, "0");
  assert_string_equal(weight->external.at[2]->value, "6400");
  assert_int_equal(bias->data_location, 0); // 160 bytes stay in the model
  oxp_graph_free(graph);
}

static bool check_progress(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
  assert_true(done_bytes <= total_bytes);
  uint64_t *last = context;
  last[0] = done_bytes;
  last[1] = total_bytes;
  return true;
}

// Several arrays, none of which is a multiple of a page long: the offsets say so, and the right bytes are there.
static void every_large_array_begins_on_a_page(void **state)
{
  (void)state;
  enum { COUNT = 3, ELEMENTS = SIDE * SIDE, BYTES = 4 * ELEMENTS, PAGE = 4096 };
  static float weights[COUNT][ELEMENTS];
  oxp_network *network = NULL;
  oxp_graph *graph = NULL;
  oxp_write_report report;
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &network, NULL), OXP_OK);
  oxp_value x = oxp_network_add_input(network, NULL, 2, (int64_t[]){ OXP_DIM_BATCH, SIDE });
  for (int i = 0; i < COUNT; i++) {
    for (int k = 0; k < ELEMENTS; k++)
      weights[i][k] = (float)(i + 1);
    x = oxp_network_add_layer(network, "linear", NULL, 1, &x);
    oxp_layer_set_int(network, x, "in_features", SIDE);
    oxp_layer_set_int(network, x, "out_features", SIDE);
    oxp_layer_set_int(network, x, "bias", 0);
    oxp_tensor weight = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ SIDE, SIDE }, weights[i]);
    oxp_layer_set_weight(network, x, "weight", &weight);
  }
  oxp_network_add_output(network, x, NULL);
  assert_int_equal(oxp_network_finish(network, NULL), OXP_OK);
  assert_int_equal(oxp_graph_lower(network, NULL, &graph, NULL), OXP_OK);
  assert_int_equal(oxp_graph_write(graph, "m.onnx", &always, &report, NULL), OXP_OK);
  oxp_graph_free(graph);
  oxp_network_free(network);
  assert_int_equal(oxp_graph_open("m.onnx", &graph, NULL), OXP_OK);
  FILE *data = fopen(report.data_file, "rb");
  assert_int_equal(graph->model.graph->initializers.count, COUNT);
  for (int i = 0; i < COUNT; i++) {
    static float found[ELEMENTS];
    oxp__external_place place;
    assert_int_equal(oxp__external_locate(graph, graph->model.graph->initializers.at[i], &place, NULL), OXP_OK);
    assert_int_equal(place.offset, i * 2 * PAGE); // 6,400 bytes take two pages
    assert_int_equal(place.bytes, BYTES);
    assert_int_equal(fseek(data, (long)place.offset, SEEK_SET), 0);
    assert_int_equal(fread(found, 1, BYTES, data), BYTES);
    if (oxp__is_big_endian_host())
      oxp__swap_bytes(found, ELEMENTS, sizeof *found);
    assert_memory_equal(found, weights[i], BYTES);
  }
  fclose(data);
  oxp_graph_free(graph);
}

static void names_that_leave_no_room_for_the_datas_are_refused_at_once(void **state)
{
  (void)state;
  float weights[SIDE * SIDE] = { 0 };
  char path[256];
  oxp_network *network = make_network(weights);
  oxp_graph *graph = NULL;
  assert_int_equal(oxp_graph_lower(network, NULL, &graph, NULL), OXP_OK);
  for (size_t length = 232; length <= 256;
       length++) { // 22 bytes are needed for ".<16 digits>.data", at most 255 in a name
    oxp_error error = { 0 };
    uint64_t last[2] = { 0 };
    oxp_write_options options = { .external_data = OXP_EXTERNAL_ALWAYS,
                                  .progress = check_progress,
                                  .progress_context = last };
    memset(path, 'm', sizeof path);
    path[length - 1] = 0;
    oxp_status status = oxp_graph_write(graph, path, &options, NULL, &error);
    assert_int_equal(status, length - 1 + 22 <= 255 ? OXP_OK : OXP_IO);
    if (status != OXP_OK) {
      assert_non_null(strstr(error.message, strerror(ENAMETOOLONG)));
      assert_int_equal(last[0], 0); // nothing was written yet
    }
    assert_int_equal(oxp_graph_write(graph, path, NULL, NULL, &error), OXP_OK); // alone it fits
    assert_int_equal(unlink(path), 0);
  }
  memset(path, 'm', sizeof path);
  char longer[300];
  snprintf(longer, sizeof longer, "%.255sm", path);
  oxp_error error = { 0 };
  assert_int_equal(oxp_graph_write(graph, longer, NULL, NULL, &error), OXP_IO);
  assert_non_null(strstr(error.message, strerror(ENAMETOOLONG)));
  assert_int_equal(count_files(".data"), 0);
  oxp_graph_free(graph);
  oxp_network_free(network);
}

static void rewriting_leaves_one_data_file_that_fits(void **state)
{
  (void)state;
  oxp_write_report first, second, same;
  write_model("m.onnx", 1, &always, &first);
  write_model("m.onnx", 2, &always, &second);
  assert_string_not_equal(first.data_file, second.data_file);
  assert_int_equal(count_files(".data"), 1);
  assert_int_equal(access(second.data_file, F_OK), 0);
  write_model("m.onnx", 2, &always, &same);
  assert_string_equal(second.data_file, same.data_file); // same input, same bytes, same name
  assert_int_equal(count_files(".data"), 1);
  write_model("m.onnx", 2, NULL, &same);
  assert_int_equal(count_files(".data"), 0);
  assert_string_equal(same.data_file, "");
}

static void other_files_are_left_alone(void **state)
{
  (void)state;
  const char *const others[] = { "m.onnx.data", "m.onnx.0123456789abcdeg.data", "m.onnx.0123456789abcdef.data.bak",
                                 "n.onnx.0123456789abcdef.data" };
  for (size_t i = 0; i < 4; i++)
    fclose(fopen(others[i], "wb"));
  write_model("m.onnx", 1, &always, NULL);
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(access(others[i], F_OK), 0);
}

static void a_model_that_cannot_be_replaced_keeps_its_data(void **state)
{
  (void)state;
  float weights[SIDE * SIDE] = { 0 };
  oxp_network *network = make_network(weights);
  oxp_graph *graph = NULL;
  assert_int_equal(oxp_graph_lower(network, NULL, &graph, NULL), OXP_OK);
  oxp_error error = { 0 };
  mkdir("m.onnx", 0755);
  assert_int_equal(oxp_graph_write(graph, "m.onnx", &always, NULL, &error), OXP_IO);
  assert_int_equal(count_files(".data"), 0);
  oxp_graph_free(graph);
  oxp_network_free(network);
}

// Two matrices with one CRC-32: they differ by the polynomial of the checksum.
static void other_content_has_another_name_whatever_its_checksum(void **state)
{
  (void)state;
  float weights[SIDE * SIDE];
  uint32_t words[2];
  oxp_write_report first, second, again;
  for (int i = 0; i < SIDE * SIDE; i++)
    weights[i] = 1;
  write_weights("m.onnx", weights, &always, &first);
  memcpy(words, weights + 1000, sizeof words);
  words[0] ^= 0xDB710641;
  words[1] ^= 1;
  memcpy(weights + 1000, words, sizeof words);
  write_weights("n.onnx", weights, &always, &second);
  assert_string_equal(first.data_file + 1, second.data_file + 1); // nobody has the name there
  write_weights("m.onnx", weights, &always, &second);
  assert_string_not_equal(first.data_file, second.data_file);
  assert_int_equal(access(second.data_file, F_OK), 0);
  assert_int_equal(access(first.data_file, F_OK), -1);
  write_weights("m.onnx", weights, &always, &again);
  assert_int_equal(access(again.data_file, F_OK), 0);
  assert_int_equal(count_files(".data"), 2);
}

static void a_model_that_was_read_keeps_its_data(void **state)
{
  (void)state;
  oxp_graph *graph;
  oxp_write_report report;
  write_model("m.onnx", 1, &always, &report);
  assert_int_equal(rename("m.onnx", "read.onnx"), 0);
  assert_int_equal(oxp_graph_open("read.onnx", &graph, NULL), OXP_OK);
  assert_int_equal(oxp_graph_write(graph, "m.onnx", NULL, NULL, NULL), OXP_OK);
  assert_int_equal(access(report.data_file, F_OK), 0);
  assert_int_equal(oxp_graph_write(graph, "m.onnx", &always, NULL, NULL), OXP_OK);
  assert_int_equal(access(report.data_file, F_OK), 0);
  oxp_graph_free(graph);
}

static void progress_ends_at_its_total(void **state)
{
  (void)state;
  uint64_t last[2] = { 0 };
  oxp_write_report report;
  oxp_write_options options = { .external_data = OXP_EXTERNAL_ALWAYS,
                                .progress = check_progress,
                                .progress_context = last };
  write_model("m.onnx", 1, &options, &report);
  assert_int_equal(last[0], report.model_bytes + report.data_bytes);
  assert_int_equal(last[1], last[0]);
}

static void the_data_of_a_private_model_are_private(void **state)
{
  (void)state;
  oxp_write_report report;
  struct stat status;
  write_model("m.onnx", 1, NULL, NULL);
  assert_int_equal(chmod("m.onnx", 0600), 0);
  write_model("m.onnx", 1, &always, &report);
  assert_int_equal(stat(report.data_file, &status), 0);
  assert_int_equal(status.st_mode & 0777, 0600);
}

// ---- Where a model says that its data are ----

// Opens a model with 6,400 bytes of weights in a data file, whose entry `key` was given another value (NULL: left out) after reading.
static oxp_graph *open_changed(const char *key, const char *value)
{
  oxp_graph *graph = NULL;
  write_model("m.onnx", 1, &always, NULL);
  assert_int_equal(oxp_graph_open("m.onnx", &graph, NULL), OXP_OK);
  oxp__pairs *pairs = &graph->model.graph->initializers.at[0]->external;
  for (size_t i = 0; i < pairs->count; i++)
    if (strcmp(pairs->at[i]->key, key) == 0 && value)
      pairs->at[i]->value = value;
    else if (strcmp(pairs->at[i]->key, key) == 0)
      pairs->at[i] = pairs->at[--pairs->count];
  return graph;
}

// The checker refuses it, and no engine is started with it: the library of the engine, which is not there, is not looked for.
static void is_refused(oxp_graph *graph, const char *why)
{
  oxp_error error = { 0 };
  oxp_session *session = NULL;
  const oxp_session_options nowhere = { .onnxruntime = "/nowhere.so" };
  assert_int_equal(oxp_graph_check(graph, &error), OXP_BAD_FILE);
  if (!strstr(error.message, why))
    fail_msg("\"%s\" is not in: %s", why, error.message);
  assert_int_equal(oxp_session_open_graph(graph, "ort:cpu", &nowhere, &session, &error), OXP_BAD_FILE);
  if (!strstr(error.message, why))
    fail_msg("\"%s\" is not in: %s", why, error.message);
  oxp_graph_free(graph);
}

static void is_accepted(oxp_graph *graph)
{
  oxp_error error = { 0 };
  if (oxp_graph_check(graph, &error) != OXP_OK || oxp__external_check(graph, &error) != OXP_OK)
    fail_msg("%s", error.message);
  oxp_graph_free(graph);
}

static void make_data(const char *path, long bytes)
{
  FILE *file = fopen(path, "wb");
  assert_int_equal(ftruncate(fileno(file), bytes), 0);
  fclose(file);
}

static void data_outside_of_the_folder_are_refused(void **state)
{
  (void)state;
  need_engine("ort");
  char absolute[4096];
  assert_non_null(getcwd(absolute, sizeof absolute - 16));
  strcat(absolute, "/data");
  make_data("data", 6400);
  make_data("../outside", 6400);
  mkdir("folder", 0755);
  mkdir("*", 0755);
  mkdir("*/_ORT_MEM_ADDR_", 0755);
  make_data("*/_ORT_MEM_ADDR_/*", 6400);
  assert_int_equal(symlink("../outside", "link"), 0);
  assert_int_equal(symlink("..", "folder/up"), 0);
  is_refused(open_changed("location", "../outside"), "\"../outside\" is not a path inside");
  is_refused(open_changed("location", "folder/../data"), "is not a path inside");
  is_refused(open_changed("location", ".."), "is not a path inside");
  is_refused(open_changed("location", absolute), "is not a path inside");
  is_refused(open_changed("location", ""), "is not a path inside");
  is_refused(open_changed("location", "link"), "\"link\" is a link out of");
  is_refused(open_changed("location", "folder/up/../outside"), "is not a path inside");
  is_refused(open_changed("location", "*/_ORT_MEM_ADDR_/*"), "a runtime's mark for memory");
  is_refused(open_changed("location", NULL), "which is not named");
  assert_int_equal(symlink("../data", "folder/up-inside"), 0);
  is_accepted(open_changed("location", "data"));
  is_accepted(open_changed("location", "./data"));
  is_accepted(open_changed("location", "folder/up-inside")); // a link that stays inside
  is_accepted(open_changed("location", "folder/up/data"));
}

// Caches of models keep files under other names elsewhere, and link to them.
static void a_linked_model_may_have_data_where_it_lies(void **state)
{
  (void)state;
  oxp_write_report report;
  oxp_graph *graph = NULL;
  char data[sizeof report.data_file + 8];
  mkdir("store", 0755);
  mkdir("view", 0755);
  write_model("store/m.onnx", 1, &always, &report);
  assert_int_equal(symlink("../store/m.onnx", "view/m.onnx"), 0);
  snprintf(data, sizeof data, "view/%s", report.data_file);
  char to[sizeof data + 8];
  snprintf(to, sizeof to, "../store/%s", report.data_file);
  assert_int_equal(symlink(to, data), 0);
  assert_int_equal(oxp_graph_open("view/m.onnx", &graph, NULL), OXP_OK);
  is_accepted(graph);
}

static void data_that_are_no_files_are_refused(void **state)
{
  (void)state;
  need_engine("ort");
  mkdir("folder", 0755);
  assert_int_equal(mkfifo("fifo", 0644), 0);
  assert_int_equal(symlink("/dev/zero", "zero"), 0);
  is_refused(open_changed("location", "folder"), "\"folder\" is not a regular file");
  is_refused(open_changed("location", "fifo"), "\"fifo\" is not a regular file");
  is_refused(open_changed("location", "zero"), "is a link out of");
  is_refused(open_changed("location", "none"), "\"none\" cannot be found: No such file");
}

static void ranges_that_do_not_fit_are_refused(void **state)
{
  (void)state;
  need_engine("ort");
  is_refused(open_changed("offset", "-1"), "the offset \"-1\"");
  is_refused(open_changed("offset", "0x10"), "the offset \"0x10\"");
  is_refused(open_changed("offset", ""), "the offset \"\"");
  is_refused(open_changed("offset", "4"), "has 6400 bytes, 6400 from byte 4 on");
  is_refused(open_changed("offset", "9223372036854775807"), "from byte 9223372036854775807 on");
  is_refused(open_changed("offset", "18446744073709551616"), "the offset \"18446744073709551616\"");
  is_refused(open_changed("length", "9223372036854775808"), "the length \"9223372036854775808\"");
  is_refused(open_changed("length", "6396"), "its data has 6396 bytes, its dims and type float32 need 6400");
  is_refused(open_changed("length", " 6400"), "the length \" 6400\"");
  is_accepted(open_changed("length", NULL));
  is_accepted(open_changed("offset", NULL));
  oxp_graph *graph = open_changed("offset", NULL);
  oxp__pairs *pairs = &graph->model.graph->initializers.at[0]->external;
  pairs->at[1]->key = "location";
  is_refused(graph, "two values for \"location\"");
  graph = open_changed("offset", "0");
  graph->model.graph->initializers.at[0]->external.at[1]->key = "prepacked_0";
  is_refused(graph, "the key \"prepacked_0\"");
}

// Tensors that refer to data hide in many places; each of these is a model that a runtime opens.
static void tensors_are_found_wherever_they_are(void **state)
{
  (void)state;
  need_engine("ort");
  static oxp__pair location = { .key = "location", .value = "../outside" };
  static oxp__pair *pairs[] = { &location };
  oxp__tensor_proto outside = { .data_type = OXP_FLOAT32,
                                .data_location = OXP__TENSOR_EXTERNAL,
                                .external = { .at = pairs, .count = 1 } };
  oxp__sparse_tensor sparse = { .indices = &outside };
  oxp__tensor_proto *list[] = { &outside };
  oxp__sparse_tensor *sparse_list[] = { &sparse };
  oxp__graph_proto inner = { .sparse_initializers = { .at = sparse_list, .count = 1 } };
  oxp__graph_proto *inner_list[] = { &inner };
  oxp__attribute attributes[] = {
    { .name = "a", .type = OXP__ATTR_TENSOR, .t = &outside },
    { .name = "a", .type = OXP__ATTR_TENSORS, .tensors = { .at = list, .count = 1 } },
    { .name = "a", .type = OXP__ATTR_GRAPH, .g = &inner },
    { .name = "a", .type = OXP__ATTR_GRAPHS, .graphs = { .at = inner_list, .count = 1 } },
    { .name = "a", .type = OXP__ATTR_SPARSE_TENSOR, .sparse = &sparse },
    { .name = "a", .type = OXP__ATTR_SPARSE_TENSORS, .sparse_list = { .at = sparse_list, .count = 1 } }
  };
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
    for (int in_function = 0; in_function < 2; in_function++) {
      oxp__attribute *held[] = { &attributes[i] };
      oxp__node node = { .op_type = "Constant", .domain = "", .attributes = { .at = held, .count = 1 } };
      oxp__node *nodes[] = { &node };
      oxp__function function = { .nodes = { .at = nodes, .count = 1 } };
      oxp__function *functions[] = { &function };
      oxp_graph *graph = open_changed("offset", "0");
      if (in_function) {
        graph->model.functions.at = functions;
        graph->model.functions.count = 1;
      } else {
        graph->model.graph->nodes.at = nodes;
        graph->model.graph->nodes.count = 1;
      }
      oxp_error error = { 0 };
      assert_int_equal(oxp__external_check(graph, &error), OXP_BAD_FILE);
      assert_non_null(strstr(error.message, "\"../outside\" is not a path inside"));
      oxp_graph_free(graph);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(large_arrays_lie_aligned_in_the_data_file, enter_empty_folder, leave_folder),
    cmocka_unit_test_setup_teardown(every_large_array_begins_on_a_page, enter_empty_folder, leave_folder),
    cmocka_unit_test_setup_teardown(names_that_leave_no_room_for_the_datas_are_refused_at_once, enter_empty_folder,
                                    leave_folder),
    cmocka_unit_test_setup_teardown(rewriting_leaves_one_data_file_that_fits, enter_empty_folder, leave_folder),
    cmocka_unit_test_setup_teardown(other_files_are_left_alone, enter_empty_folder, leave_folder),
    cmocka_unit_test_setup_teardown(a_model_that_cannot_be_replaced_keeps_its_data, enter_empty_folder, leave_folder),
    cmocka_unit_test_setup_teardown(other_content_has_another_name_whatever_its_checksum, enter_empty_folder,
                                    leave_folder),
    cmocka_unit_test_setup_teardown(a_model_that_was_read_keeps_its_data, enter_empty_folder, leave_folder),
    cmocka_unit_test_setup_teardown(progress_ends_at_its_total, enter_empty_folder, leave_folder),
    cmocka_unit_test_setup_teardown(the_data_of_a_private_model_are_private, enter_empty_folder, leave_folder),
    cmocka_unit_test_setup_teardown(data_outside_of_the_folder_are_refused, enter_empty_folder, leave_folder),
    cmocka_unit_test_setup_teardown(a_linked_model_may_have_data_where_it_lies, enter_empty_folder, leave_folder),
    cmocka_unit_test_setup_teardown(data_that_are_no_files_are_refused, enter_empty_folder, leave_folder),
    cmocka_unit_test_setup_teardown(ranges_that_do_not_fit_are_refused, enter_empty_folder, leave_folder),
    cmocka_unit_test_setup_teardown(tensors_are_found_wherever_they_are, enter_empty_folder, leave_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
