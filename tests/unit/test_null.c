// The rule on NULL and on failing functions of the caller's, at the top of onnxport.h: every public function is called.
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <onnxport.h>

static const float zeros[4];
static oxp_error failure;

#define FAILS(call)                                                                                                    \
  do {                                                                                                                 \
    failure = (oxp_error){ 0 };                                                                                        \
    assert_int_equal(call, OXP_BAD_ARGUMENT);                                                                          \
    assert_int_equal(failure.status, OXP_BAD_ARGUMENT);                                                                \
    assert_true(failure.message[0]);                                                                                   \
  } while (0)

static oxp_status take(void *context, const void *bytes, size_t count, oxp_error *error)
{
  (void)context;
  (void)bytes;
  (void)count;
  (void)error;
  return OXP_OK;
}

// A linear layer with float32 weights behind `tensor`; not finished.
static oxp_network *make_network(const oxp_tensor *tensor)
{
  oxp_network *network = NULL;
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &network, NULL), OXP_OK);
  oxp_value x = oxp_network_add_input(network, NULL, 2, (int64_t[]){ OXP_DIM_BATCH, 2 });
  x = oxp_network_add_layer(network, "linear", NULL, 1, &x);
  oxp_layer_set_int(network, x, "in_features", 2);
  oxp_layer_set_int(network, x, "out_features", 2);
  oxp_layer_set_int(network, x, "bias", 0);
  oxp_layer_set_weight(network, x, "weight", tensor);
  oxp_network_add_output(network, x, NULL);
  return network;
}

static oxp_network *make_zeros(void)
{
  oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ 2, 2 }, zeros);
  oxp_network *network = make_network(&tensor);
  assert_int_equal(oxp_network_finish(network, NULL), OXP_OK);
  return network;
}

static void functions_with_a_status_fail(void **state)
{
  (void)state;
  oxp_network *network = make_zeros(), *opened = NULL;
  oxp_graph *graph = NULL, *none = NULL;
  oxp_session *session = NULL;
  oxp_weights *weights = NULL;
  oxp_verify_report *report = NULL;
  oxp_tensor tensor;
  oxp_array array = { 0 };
  oxp_difference difference;
  assert_int_equal(oxp_graph_lower(network, NULL, &graph, NULL), OXP_OK);
  FAILS(oxp_array_new(NULL, OXP_FLOAT32, 0, NULL, &failure));
  FAILS(oxp_array_new(&array, OXP_FLOAT32, 1, NULL, &failure));
  FAILS(oxp_array_read(NULL, &array, &failure));
  FAILS(oxp_array_read("x", NULL, &failure));
  FAILS(oxp_array_write(NULL, "x", &failure));
  FAILS(oxp_array_write(&array, NULL, &failure));
  FAILS(oxp_array_fill_random(NULL, 1, &failure));
  FAILS(oxp_network_open(NULL, NULL, &opened, &failure));
  FAILS(oxp_network_open("x", NULL, NULL, &failure));
  FAILS(oxp_network_new(OXP_FLOAT32, NULL, &failure));
  FAILS(oxp_network_finish(NULL, &failure));
  FAILS(oxp_network_check_statistics(NULL, &failure));
  FAILS(oxp_network_write(NULL, "x", "netcl", &failure));
  FAILS(oxp_network_write(network, NULL, "netcl", &failure));
  FAILS(oxp_network_write(network, "x", NULL, &failure));
  FAILS(oxp_weights_open(NULL, &weights, &failure));
  FAILS(oxp_weights_open("x", NULL, &failure));
  FAILS(oxp_weights_find(NULL, "x", &tensor, &failure));
  FAILS(oxp_graph_lower(NULL, NULL, &none, &failure));
  FAILS(oxp_graph_lower(network, NULL, NULL, &failure));
  FAILS(oxp_graph_open(NULL, &none, &failure));
  FAILS(oxp_graph_open("x", NULL, &failure));
  FAILS(oxp_graph_check(NULL, &failure));
  FAILS(oxp_graph_write(NULL, "x", NULL, NULL, &failure));
  FAILS(oxp_graph_write(graph, NULL, NULL, NULL, &failure));
  FAILS(oxp_graph_write_to(NULL, take, NULL, &failure));
  FAILS(oxp_graph_write_to(graph, NULL, NULL, &failure));
  FAILS(oxp_session_open(NULL, "reference", NULL, &session, &failure));
  FAILS(oxp_session_open(network, NULL, NULL, &session, &failure));
  FAILS(oxp_session_open(network, "reference", NULL, NULL, &failure));
  FAILS(oxp_session_open_graph(NULL, "reference", NULL, &session, &failure));
  FAILS(oxp_session_open_graph(graph, NULL, NULL, &session, &failure));
  FAILS(oxp_session_open_graph(graph, "reference", NULL, NULL, &failure));
  FAILS(oxp_session_run(NULL, &array, &array, &failure));
  FAILS(oxp_compare(NULL, &array, 0, 0, &difference, &failure));
  FAILS(oxp_compare(&array, NULL, 0, 0, &difference, &failure));
  FAILS(oxp_compare(&array, &array, 0, 0, NULL, &failure));
  FAILS(oxp_verify(NULL, NULL, NULL, &report, &failure));
  FAILS(oxp_verify(network, NULL, NULL, NULL, &failure));
  FAILS(oxp_table_write(OXP_TABLE_ERRORS, OXP_STYLE_TEXT, NULL, NULL, &failure));
  assert_int_equal(oxp_session_open(network, "reference", NULL, &session, NULL), OXP_OK);
  FAILS(oxp_session_run(session, NULL, &array, &failure));
  FAILS(oxp_session_run(session, &array, NULL, &failure));
  oxp_session_free(session);
  oxp_graph_free(graph);
  oxp_network_free(network);
}

static void functions_without_one_return_nothing(void **state)
{
  (void)state;
  oxp_layer_info layer;
  oxp_value_info value;
  oxp_network *network = make_zeros();
  oxp_array_free(NULL);
  oxp_network_free(NULL);
  oxp_weights_free(NULL);
  oxp_graph_free(NULL);
  oxp_session_free(NULL);
  oxp_verify_report_free(NULL);
  assert_int_equal(oxp_array_count(NULL), 0);
  assert_int_equal(oxp_array_bytes(NULL), 0);
  assert_null(oxp_network_format(NULL));
  assert_null(oxp_network_missing_shape(NULL));
  assert_int_equal(oxp_network_layer_count(NULL), 0);
  assert_int_equal(oxp_network_input_count(NULL), 0);
  assert_int_equal(oxp_network_output_count(NULL), 0);
  assert_int_equal(oxp_network_parameter_count(NULL), 0);
  assert_int_equal(oxp_network_input(NULL, 0), -1);
  assert_int_equal(oxp_network_output(NULL, 0), -1);
  assert_false(oxp_network_layer_info(NULL, 0, &layer));
  assert_false(oxp_network_layer_info(network, 0, NULL));
  assert_false(oxp_network_value_info(NULL, 0, &value));
  assert_false(oxp_network_value_info(network, 0, NULL));
  assert_int_equal(oxp_network_warning_count(NULL), 0);
  assert_null(oxp_network_warning(NULL, 0));
  assert_int_equal(oxp_weights_count(NULL), 0);
  assert_null(oxp_weights_name(NULL, 0));
  assert_int_equal(oxp_graph_opset(NULL), 0);
  assert_int_equal(oxp_graph_ir_version(NULL), 0);
  assert_int_equal(oxp_graph_node_count(NULL), 0);
  assert_int_equal(oxp_graph_input_count(NULL), 0);
  assert_int_equal(oxp_graph_output_count(NULL), 0);
  assert_false(oxp_graph_input_info(NULL, 0, &value));
  assert_false(oxp_graph_output_info(NULL, 0, &value));
  assert_null(oxp_graph_dim_name(NULL, OXP_DIM_BATCH));
  assert_int_equal(oxp_graph_warning_count(NULL), 0);
  assert_null(oxp_graph_warning(NULL, 0));
  assert_int_equal(oxp_session_input_count(NULL), 0);
  assert_int_equal(oxp_session_output_count(NULL), 0);
  assert_null(oxp_session_output_name(NULL, 0));
  assert_int_equal(oxp_verify_output_count(NULL), 0);
  assert_int_equal(oxp_verify_layer_count(NULL), 0);
  assert_int_equal(oxp_verify_note_count(NULL), 0);
  assert_null(oxp_verify_output(NULL, 0));
  assert_null(oxp_verify_layer(NULL, 0));
  assert_null(oxp_verify_note(NULL, 0));
  assert_int_equal(oxp_verify_expected_count(NULL), 0);
  assert_null(oxp_verify_expected(NULL, 0));
  assert_null(oxp_verify_finding(NULL));
  assert_null(oxp_verify_report_input(NULL));
  assert_int_equal(oxp_verify_departure(NULL), -1);
  oxp_network_free(network);
}

// Each call is the first mistake of a network of its own.
static void builder_functions_remember_it(void **state)
{
  (void)state;
  oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ 2, 2 }, zeros);
  for (int i = 0; i < 10; i++) {
    oxp_network *network = make_network(&tensor);
    oxp_value x = oxp_network_output(network, 0);
    switch (i) {
    case 0:
      oxp_network_add_input(network, "b", 2, NULL);
      break;
    case 1:
      oxp_network_add_layer(network, NULL, NULL, 1, &x);
      break;
    case 2:
      oxp_network_add_layer(network, "relu", NULL, 1, NULL);
      break;
    case 3:
      oxp_layer_set_int(network, x, NULL, 1);
      break;
    case 4:
      oxp_layer_set_ints(network, x, "in_features", 1, NULL);
      break;
    case 5:
      oxp_layer_set_floats(network, x, "in_features", 1, NULL);
      break;
    case 6:
      oxp_layer_set_text(network, x, "in_features", NULL);
      break;
    case 7:
      oxp_layer_set_weight(network, x, NULL, &tensor);
      break;
    case 8:
      oxp_layer_set_weight(network, x, "weight", NULL);
      break;
    default:
      oxp_layer_set_float(network, x, NULL, 1);
      break;
    }
    FAILS(oxp_network_finish(network, &failure));
    assert_non_null(strstr(failure.message, "NULL"));
    oxp_network_free(network);
  }
  assert_int_equal(oxp_network_add_input(NULL, NULL, 0, NULL), -1);
  assert_int_equal(oxp_network_add_layer(NULL, "relu", NULL, 0, NULL), -1);
  oxp_layer_set_int(NULL, 0, "x", 1);
  oxp_layer_set_weight(NULL, 0, "x", &tensor);
  oxp_network_add_output(NULL, 0, NULL);
  oxp_network_set_training(NULL, true);
}

static void a_finished_network_cannot_be_changed(void **state)
{
  (void)state;
  oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ 2, 2 }, zeros);
  for (int i = 0; i < 6; i++) {
    oxp_network *network = make_zeros();
    oxp_value x = oxp_network_output(network, 0);
    assert_int_equal(oxp_network_finish(network, NULL), OXP_OK); // again
    switch (i) {
    case 0:
      assert_int_equal(oxp_network_add_input(network, "b", 1, (int64_t[]){ 1 }), -1);
      break;
    case 1:
      assert_int_equal(oxp_network_add_layer(network, "relu", NULL, 1, &x), -1);
      break;
    case 2:
      oxp_layer_set_int(network, x, "in_features", 3);
      break;
    case 3:
      oxp_layer_set_weight(network, x, "weight", &tensor);
      break;
    case 4:
      oxp_network_add_output(network, x, "again");
      break;
    default:
      oxp_network_set_training(network, true);
      break;
    }
    FAILS(oxp_network_finish(network, &failure));
    assert_non_null(strstr(failure.message, "finished"));
    assert_int_equal(oxp_network_layer_count(network), 1);
    oxp_network_free(network);
  }
}

static void numbers_outside_of_their_enum_are_refused(void **state)
{
  (void)state;
  oxp_network *network = make_zeros(), *none = NULL;
  oxp_graph *graph = NULL, *other = NULL;
  oxp_array array;
  const oxp_write_options writes[] = { { .sync = (oxp_sync)3 },
                                       { .sync = (oxp_sync)-1 },
                                       { .external_data = (oxp_external_data)3 } };
  assert_int_equal(oxp_graph_lower(network, NULL, &graph, NULL), OXP_OK);
  for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
    FAILS(oxp_graph_write(graph, "out.onnx", &writes[i], NULL, &failure));
  FAILS(oxp_graph_lower(network, &(oxp_lower_options){ .batchnorm = (oxp_batchnorm_form)2 }, &other, &failure));
  FAILS(oxp_graph_lower(network, &(oxp_lower_options){ .dtype = (oxp_dtype)99 }, &other, &failure));
  FAILS(oxp_network_new((oxp_dtype)99, &none, &failure));
  FAILS(oxp_array_new(&array, (oxp_dtype)99, 0, NULL, &failure));
  FAILS(oxp_table_write((oxp_table)99, OXP_STYLE_TEXT, take, NULL, &failure));
  FAILS(oxp_table_write(OXP_TABLE_ERRORS, (oxp_table_style)99, take, NULL, &failure));
  oxp_graph_free(graph);
  oxp_network_free(network);
}

// They take a number each, and have an answer to every one.
static void functions_of_numbers_know_every_number(void **state)
{
  (void)state;
  assert_string_equal(oxp_version(), OXP_VERSION);
  for (int number = -1; number <= 99; number += 100) {
    assert_non_null(oxp_status_name((oxp_status)number));
    assert_non_null(oxp_status_text((oxp_status)number));
    assert_true(oxp_status_exit_code((oxp_status)number) > 1);
    assert_non_null(oxp_dtype_name((oxp_dtype)number));
    assert_int_equal(oxp_dtype_bytes((oxp_dtype)number), 0);
  }
}

// ---- Completeness ----

static char *read_source(const char *path)
{
  FILE *file = fopen(path, "rb");
  char *text = calloc(1, 1 << 20);
  assert_non_null(file);
  assert_non_null(text);
  size_t count = fread(text, 1, (1 << 20) - 1, file);
  assert_true(count > 0 && feof(file));
  fclose(file);
  return text;
}

// What the header declares must be called here: a function that is added must be added to this file.
static void every_public_function_is_called(void **state)
{
  (void)state;
  char *header = read_source(OXP_SOURCE_DIR "/include/onnxport.h");
  char *own = read_source(OXP_SOURCE_DIR "/tests/unit/test_null.c");
  int declared = 0;
  for (const char *at = header; (at = strstr(at, "\nOXP_API "));) {
    char call[128];
    const char *end = at += strlen("\nOXP_API ");
    end += strcspn(end, "(");
    while (at < end &&
           !(strncmp(at, "oxp_", 4) == 0 && strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789") == (size_t)(end - at)))
      at++;
    assert_true(at < end); // the name, and not its type
    snprintf(call, sizeof call, "%.*s(", (int)(end - at), at);
    const char *used = strstr(own, call);
    while (used && (isalnum((unsigned char)used[-1]) || used[-1] == '_'))
      used = strstr(used + 1, call);
    if (!used)
      fail_msg("%s) is not called in test_null.c", call);
    declared++;
  }
  assert_true(declared > 80);
  free(header);
  free(own);
}

// ---- Functions of the caller's that fail ----

static oxp_status fail_silently(void *context, const void *bytes, size_t count, oxp_error *error)
{
  (void)bytes;
  (void)count;
  (void)error;
  return *(oxp_status *)context;
}

static oxp_status fail_reading(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  (void)offset;
  (void)buffer;
  (void)count;
  (void)error;
  return *(oxp_status *)context;
}

// The caller's error still holds an older failure of the same status: it must not be taken for the new one.
static void a_silent_failure_still_has_an_error(void **state)
{
  (void)state;
  oxp_status own = OXP_IO;
  oxp_tensor tensor = oxp_tensor_from_function(OXP_FLOAT32, 2, (int64_t[]){ 2, 2 }, fail_reading, &own);
  oxp_network *network = make_network(&tensor);
  oxp_graph *graph = NULL;
  oxp_session *session = NULL;
  assert_int_equal(oxp_network_finish(network, NULL), OXP_OK);
  assert_int_equal(oxp_graph_lower(network, NULL, &graph, NULL), OXP_OK);
  for (int i = 0; i < 4; i++) {
    oxp_error error = { .status = OXP_IO, .message = "an older failure" };
    oxp_status status = i == 0   ? oxp_graph_write_to(graph, fail_silently, &own, &error)
                        : i == 1 ? oxp_graph_write(graph, "out.onnx", NULL, NULL, &error)
                        : i == 2 ? oxp_session_open(network, "reference", NULL, &session, &error)
                                 : oxp_table_write(OXP_TABLE_ERRORS, OXP_STYLE_TEXT, fail_silently, &own, &error);
    assert_int_equal(status, OXP_IO);
    assert_int_equal(error.status, OXP_IO);
    assert_non_null(strstr(error.message, "the function that"));
    assert_null(strstr(error.message, "older"));
  }
  oxp_graph_free(graph);
  oxp_network_free(network);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(functions_with_a_status_fail),
    cmocka_unit_test(functions_without_one_return_nothing),
    cmocka_unit_test(builder_functions_remember_it),
    cmocka_unit_test(a_finished_network_cannot_be_changed),
    cmocka_unit_test(numbers_outside_of_their_enum_are_refused),
    cmocka_unit_test(functions_of_numbers_know_every_number),
    cmocka_unit_test(every_public_function_is_called),
    cmocka_unit_test(a_silent_failure_still_has_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
