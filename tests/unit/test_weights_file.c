// test_weights_file.c: files of named arrays: archives, single arrays, what is missing or damaged.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <onnxport.h>

#include "formats/containers/npy.h"

static oxp_error test_error;

// Every array of an archive can be found by the name that it is listed under, and read.
static void test_archive(void **state)
{
  (void)state;
  oxp_weights *weights = NULL;
  assert_int_equal(oxp_weights_open(OXP_TEST_DATA "/netcl/g_layernorm.weights.npz", &weights, &test_error), OXP_OK);
  assert_int_equal(oxp_weights_count(weights), 6);
  assert_string_equal(oxp_weights_name(weights, 0), "0:weight");
  assert_null(oxp_weights_name(weights, 6));
  assert_null(oxp_weights_name(weights, -1));
  for (int i = 0; i < oxp_weights_count(weights); i++) {
    oxp_tensor tensor;
    float first = 0;
    assert_int_equal(oxp_weights_find(weights, oxp_weights_name(weights, i), &tensor, &test_error), OXP_OK);
    assert_int_equal(tensor.dtype, OXP_FLOAT32);
    assert_string_equal(tensor.origin, oxp_weights_name(weights, i));
    assert_int_equal(tensor.read(tensor.context, tensor.offset_bytes, &first, sizeof first, &test_error), OXP_OK);
  }
  oxp_tensor weight;
  assert_int_equal(oxp_weights_find(weights, "0:weight", &weight, &test_error), OXP_OK);
  assert_int_equal(weight.rank, 2);
  assert_int_equal(weight.shape[0], 10);
  assert_int_equal(weight.shape[1], 16);
  oxp_weights_free(weights);
}

static void test_missing_array(void **state)
{
  (void)state;
  oxp_weights *weights = NULL;
  oxp_tensor tensor;
  assert_int_equal(oxp_weights_open(OXP_TEST_DATA "/netcl/g_layernorm.weights.npz", &weights, &test_error), OXP_OK);
  assert_int_equal(oxp_weights_find(weights, "0:weight.npy", &tensor, &test_error), OXP_BAD_FILE);
  assert_non_null(strstr(test_error.message, "\"0:weight.npy\""));
  assert_non_null(strstr(test_error.file, "g_layernorm.weights.npz"));
  oxp_weights_free(weights);
}

static void test_single_array(void **state)
{
  (void)state;
  oxp_weights *weights = NULL;
  oxp_tensor tensor;
  assert_int_equal(oxp_weights_open(OXP_TEST_DATA "/netcl/a_mlp.x.npy", &weights, &test_error), OXP_OK);
  assert_int_equal(oxp_weights_count(weights), 1);
  assert_string_equal(oxp_weights_name(weights, 0), "");
  assert_int_equal(oxp_weights_find(weights, "", &tensor, &test_error), OXP_OK);
  assert_int_equal(tensor.rank, 2);
  oxp_weights_free(weights);
}

static void write_array(oxp__zip_writer *writer, const char *member)
{
  float number = 1;
  oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 1 }, &number);
  assert_int_equal(oxp__zip_writer_begin(writer, member, &test_error), OXP_OK);
  assert_int_equal(oxp__npy_write(&tensor, OXP_FLOAT32, oxp__zip_writer_sink(writer), &test_error), OXP_OK);
  assert_int_equal(oxp__zip_writer_end(writer, &test_error), OXP_OK);
}

// A name leads to one array: two members that differ in .npy alone are refused.
static void test_two_of_a_name(void **state)
{
  (void)state;
  oxp__arena arena = { 0 };
  oxp__output output = { 0 };
  oxp__zip_writer *writer = NULL;
  assert_int_equal(oxp__output_open(&output, "two.npz", NULL, &test_error), OXP_OK);
  assert_int_equal(oxp__zip_writer_new(&arena, &output, &writer, &test_error), OXP_OK);
  write_array(writer, "a");
  write_array(writer, "a.npy");
  assert_int_equal(oxp__zip_writer_finish(writer, &test_error), OXP_OK);
  oxp__arena_fini(&arena);
  assert_int_equal(oxp__output_commit(&output, OXP_SYNC_NEVER, &test_error), OXP_OK);
  oxp_weights *weights = NULL;
  assert_int_equal(oxp_weights_open("two.npz", &weights, &test_error), OXP_BAD_FILE);
  assert_non_null(strstr(test_error.message, "two.npz: a: two members"));
}

static void test_damage(void **state)
{
  (void)state;
  static const struct {
    const char *path;
    oxp_status status;
  } rows[] = {
    { OXP_TEST_DATA "/netcl/damaged/empty.netcl", OXP_BAD_FILE },
    { OXP_TEST_DATA "/netcl/damaged/not_zip.netcl", OXP_BAD_FILE },
    { OXP_TEST_DATA "/netcl/damaged/trunc_half.netcl", OXP_BAD_FILE },
    { OXP_TEST_DATA "/netcl/damaged/dup_member.netcl", OXP_BAD_FILE },
    { OXP_TEST_DATA "/netcl/damaged/npy_bad_magic.netcl", OXP_BAD_FILE },
    { OXP_TEST_DATA "/netcl/damaged/short_data.netcl", OXP_BAD_FILE },
    { OXP_TEST_DATA "/netcl/damaged/object_weight.netcl", OXP_BAD_FILE },
    { OXP_TEST_DATA "/netcl/pt/b_cnn.torch_state.pt", OXP_BAD_FILE }, // a zip archive, but not of arrays
    { OXP_TEST_DATA "/netcl", OXP_IO },
    { OXP_TEST_DATA "/missing.npz", OXP_IO },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    oxp_weights *weights = NULL;
    oxp_error error = { 0 };
    assert_int_equal(oxp_weights_open(rows[i].path, &weights, &error), rows[i].status);
    assert_null(weights);
    assert_string_equal(error.file, rows[i].path);
    assert_non_null(strstr(error.message, rows[i].path));
    assert_int_equal(oxp_weights_open(rows[i].path, &weights, NULL), rows[i].status);
  }
  oxp_weights_free(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = { cmocka_unit_test(test_archive), cmocka_unit_test(test_missing_array),
                                      cmocka_unit_test(test_single_array), cmocka_unit_test(test_two_of_a_name),
                                      cmocka_unit_test(test_damage) };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
