// No file that something is read from is replaced or removed by what is written: not as the target, not as a left-over, not as old data.
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

#include "core/copy.h"
#include "formats/format.h"
#include "onnx/graph.h"

static const char mlp[] = OXP_TEST_DATA "/netcl/a_mlp.netcl";
static const oxp_write_options always = { .external_data = OXP_EXTERNAL_ALWAYS };

static char *read_all(const char *path, size_t *count)
{
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  *count = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*count + 1);
  assert_int_equal(fread(bytes, 1, *count, file), *count);
  fclose(file);
  return bytes;
}

static void copy_file(const char *from, const char *to)
{
  size_t count;
  char *bytes = read_all(from, &count);
  FILE *file = fopen(to, "wb");
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  fclose(file);
  free(bytes);
}

static void is_still(const char *path, const char *original)
{
  size_t count, expected_count;
  char *bytes = read_all(path, &count), *expected = read_all(original, &expected_count);
  assert_int_equal(count, expected_count);
  assert_memory_equal(bytes, expected, count);
  free(bytes);
  free(expected);
}

static void make(const char *path)
{
  fclose(fopen(path, "wb"));
}

static bool is_there(const char *path)
{
  struct stat status;
  return lstat(path, &status) == 0;
}

static int enter_empty_folder(void **state)
{
  (void)state;
  char folder[] = "sources-XXXXXX";
  return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
  (void)state;
  return chdir("..");
}

// Opens a network from `source` and exports it to `target`.
static oxp_status export_to(const char *source, const char *target, const oxp_write_options *options, oxp_error *error)
{
  oxp_network *network = NULL;
  oxp_graph *graph = NULL;
  assert_int_equal(oxp_network_open(source, NULL, &network, NULL), OXP_OK);
  assert_int_equal(oxp_graph_lower(network, NULL, &graph, NULL), OXP_OK);
  oxp_status status = oxp_graph_write(graph, target, options, NULL, error);
  oxp_graph_free(graph);
  oxp_network_free(network);
  return status;
}

static oxp_status convert_to(const char *source, const char *target, const char *format, oxp_error *error)
{
  oxp_network *network = NULL;
  assert_int_equal(oxp_network_open(source, NULL, &network, NULL), OXP_OK);
  oxp_status status = oxp_network_write(network, target, format, error);
  oxp_network_free(network);
  return status;
}

static void is_refused(oxp_status status, const oxp_error *error)
{
  assert_int_equal(status, OXP_BAD_ARGUMENT);
  assert_non_null(strstr(error->message, "this is a file that was read"));
}

static void a_source_is_no_target(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  copy_file(mlp, "net.netcl");
  assert_int_equal(link("net.netcl", "hard.onnx"), 0);
  assert_int_equal(symlink("net.netcl", "soft.onnx"), 0);
  const char *const targets[] = { "net.netcl", "./net.netcl", "hard.onnx", "soft.onnx" };
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    is_refused(export_to("net.netcl", targets[i], NULL, &error), &error);
    is_refused(convert_to("net.netcl", targets[i], "netcl", &error), &error);
    is_refused(convert_to("net.netcl", targets[i], "netcl_pt", &error), &error);
  }
  is_still("net.netcl", mlp);
}

static void no_file_of_a_pair_is_a_target(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  assert_int_equal(convert_to(mlp, "pair", "netcl_pair", NULL), OXP_OK);
  copy_file("pair.json", "json");
  copy_file("pair.npz", "npz");
  is_refused(convert_to("pair.json", "pair", "netcl_pair", &error), &error);
  is_refused(convert_to("pair", "pair.npz", "netcl_checkpoint", &error), &error);
  is_refused(export_to("pair.json", "pair.npz", NULL, &error), &error);
  is_refused(export_to("pair.npz", "pair.json", NULL, &error), &error);
  is_still("pair.json", "json");
  is_still("pair.npz", "npz");
}

static void a_source_with_a_temporary_name_is_kept(void **state)
{
  (void)state;
  copy_file(mlp, ".out.oxp-0123abcd");
  make(".out.oxp-76543210");
  assert_int_equal(export_to(".out.oxp-0123abcd", "out", NULL, NULL), OXP_OK);
  is_still(".out.oxp-0123abcd", mlp);
  assert_false(is_there(".out.oxp-76543210"));
  make(".out.oxp-76543210");
  assert_int_equal(convert_to(".out.oxp-0123abcd", "out", "netcl", NULL), OXP_OK);
  is_still(".out.oxp-0123abcd", mlp);
  assert_false(is_there(".out.oxp-76543210"));
}

static void a_source_with_a_data_files_name_is_kept(void **state)
{
  (void)state;
  static const char data[] = "out.0123456789abcdef.data", old[] = "out.fedcba9876543210.data";
  copy_file(mlp, data);
  for (int i = 0; i < 2; i++) {
    make(old);
    assert_int_equal(export_to(data, "out", i ? &always : NULL, NULL), OXP_OK);
    is_still(data, mlp);
    assert_false(is_there(old));
  }
}

// A data file that has the very name and content that the new one would have is taken over, unless it is a source.
static void data_get_another_name_beside_a_source(void **state)
{
  (void)state;
  oxp_write_report first, second;
  float weights[40 * 40] = { 1 };
  FILE *file = fopen("weights", "wb");
  assert_int_equal(fwrite(weights, 1, sizeof weights, file), sizeof weights);
  fclose(file);
  for (int i = 0; i < 2; i++) {
    oxp__arena arena = { 0 };
    oxp__file *source;
    oxp_network *network;
    oxp_graph *graph;
    struct stat before, after;
    assert_int_equal(oxp__file_open(&arena, i ? first.data_file : "weights", &source, NULL), OXP_OK);
    oxp_extent extent = { .file = source, .size_bytes = sizeof weights };
    oxp_tensor tensor = oxp_tensor_from_function(OXP_FLOAT32, 2, (int64_t[]){ 40, 40 }, oxp__file_read, source);
    tensor.extent = &extent;
    oxp_network_new(OXP_FLOAT32, &network, NULL);
    oxp_value x = oxp_network_add_input(network, NULL, 2, (int64_t[]){ OXP_DIM_BATCH, 40 });
    x = oxp_network_add_layer(network, "linear", NULL, 1, &x);
    oxp_layer_set_int(network, x, "in_features", 40);
    oxp_layer_set_int(network, x, "out_features", 40);
    oxp_layer_set_int(network, x, "bias", 0);
    oxp_layer_set_weight(network, x, "weight", &tensor);
    oxp_network_add_output(network, x, NULL);
    assert_int_equal(oxp_network_finish(network, NULL), OXP_OK);
    assert_int_equal(oxp_graph_lower(network, NULL, &graph, NULL), OXP_OK);
    fstat(source->descriptor, &before);
    assert_int_equal(oxp_graph_write(graph, "m.onnx", &always, i ? &second : &first, NULL), OXP_OK);
    fstat(source->descriptor, &after);
    assert_int_equal(after.st_nlink, before.st_nlink); // nobody took its name
    oxp_graph_free(graph);
    oxp_network_free(network);
    oxp__arena_fini(&arena);
  }
  assert_string_not_equal(first.data_file, second.data_file);
}

static void what_was_put_away_is_kept_while_it_is_read(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  assert_int_equal(convert_to(mlp, "pair", "netcl_pair", NULL), OXP_OK);
  copy_file(mlp, ".pair.npz.oxp-old");
  is_refused(convert_to(".pair.npz.oxp-old", "pair", "netcl_pair", &error), &error);
  is_still(".pair.npz.oxp-old", mlp);
  assert_true(is_there("pair.json"));
  assert_int_equal(convert_to(mlp, "pair", "netcl_pair", NULL), OXP_OK); // nobody reads it: a left-over
  assert_false(is_there(".pair.npz.oxp-old"));
}

// A network that a program made of arrays in a file: the file is a source too, stored or compressed.
static void a_file_of_weights_is_no_target(void **state)
{
  (void)state;
  static const char *const files[][2] = { { OXP_TEST_DATA "/netcl/a_mlp.netcl", "0:weight" },
                                          { OXP_TEST_DATA "/netcl/damaged/compressed.netcl", "4:weight" },
                                          { OXP_TEST_DATA "/netcl/a_mlp.x.npy", "" } };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    oxp_error error = { 0 };
    oxp_weights *weights;
    oxp_network *network;
    oxp_graph *graph;
    oxp_tensor tensor;
    copy_file(files[i][0], "weights");
    assert_int_equal(oxp_weights_open("weights", &weights, NULL), OXP_OK);
    assert_int_equal(oxp_weights_find(weights, files[i][1], &tensor, NULL), OXP_OK);
    oxp_network_new(OXP_FLOAT32, &network, NULL);
    oxp_value x = oxp_network_add_input(network, NULL, 2, (int64_t[]){ OXP_DIM_BATCH, tensor.shape[0] });
    x = oxp_network_add_layer(network, "linear", NULL, 1, &x);
    oxp_layer_set_int(network, x, "in_features", tensor.shape[0]);
    oxp_layer_set_int(network, x, "out_features", tensor.shape[1]);
    oxp_layer_set_int(network, x, "bias", 0);
    oxp_layer_set_weight(network, x, "weight", &tensor);
    oxp_network_add_output(network, x, NULL);
    assert_int_equal(oxp_network_finish(network, NULL), OXP_OK);
    assert_int_equal(oxp_graph_lower(network, NULL, &graph, NULL), OXP_OK);
    is_refused(oxp_graph_write(graph, "weights", NULL, NULL, &error), &error);
    is_refused(oxp_network_write(network, "weights", "netcl", &error), &error);
    is_still("weights", files[i][0]);
    oxp_graph_free(graph);
    oxp_network_free(network);
    oxp_weights_free(weights);
  }
}

static void a_model_is_not_written_over_its_data(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp_network *network;
  oxp_graph *graph;
  oxp_write_report report;
  assert_int_equal(oxp_network_open(mlp, NULL, &network, NULL), OXP_OK);
  assert_int_equal(oxp_graph_lower(network, NULL, &graph, NULL), OXP_OK);
  assert_int_equal(oxp_graph_write(graph, "m.onnx", &always, &report, NULL), OXP_OK);
  oxp_graph_free(graph);
  oxp_network_free(network);
  copy_file(report.data_file, "data");
  assert_int_equal(oxp_graph_open("m.onnx", &graph, NULL), OXP_OK);
  is_refused(oxp_graph_write(graph, "m.onnx", NULL, NULL, &error), &error);
  is_refused(oxp_graph_write(graph, report.data_file, NULL, NULL, &error), &error);
  is_still(report.data_file, "data");
  oxp_graph_free(graph);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_empty_folder, leave_folder)
  const struct CMUnitTest tests[] = {
    TEST(a_source_is_no_target),
    TEST(no_file_of_a_pair_is_a_target),
    TEST(a_source_with_a_temporary_name_is_kept),
    TEST(a_source_with_a_data_files_name_is_kept),
    TEST(data_get_another_name_beside_a_source),
    TEST(what_was_put_away_is_kept_while_it_is_read),
    TEST(a_file_of_weights_is_no_target),
    TEST(a_model_is_not_written_over_its_data),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
