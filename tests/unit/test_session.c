// Sessions: finding engines, checking inputs, running on the reference engine, handing out layers, and (where ONNX Runtime is
// here) the same on the runtime.
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "runtime.h"

// x (batch, 3) -> fc (3 to 2) -> relu -> drop -> output
static float fc_weight[6] = { 1, -1, 2, 0, 0.1f, 1 };
static float fc_bias[2] = { 0.5f, -2 };

static oxp_network *build_dense(oxp_dtype dtype)
{
  oxp_network *net = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_network_new(dtype, &net, &error), OXP_OK);
  oxp_tensor weight = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ 3, 2 }, fc_weight);
  oxp_tensor bias = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 2 }, fc_bias);
  oxp_value x = oxp_network_add_input(net, "x", 2, (int64_t[]){ OXP_DIM_BATCH, 3 });
  x = oxp_network_add_layer(net, "linear", "fc", 1, &x);
  oxp_layer_set_int(net, x, "in_features", 3);
  oxp_layer_set_int(net, x, "out_features", 2);
  oxp_layer_set_weight(net, x, "weight", &weight);
  oxp_layer_set_weight(net, x, "bias", &bias);
  x = oxp_network_add_layer(net, "relu", "act", 1, &x);
  x = oxp_network_add_layer(net, "dropout", "drop", 1, &x);
  oxp_network_add_output(net, x, "y");
  if (oxp_network_finish(net, &error) != OXP_OK)
    fail_msg("%s", error.message);
  return net;
}

static oxp_session *open_session(const oxp_network *net, const char *engine, const oxp_session_options *options)
{
  oxp_session *session = NULL;
  oxp_error error = { 0 };
  oxp_status status = oxp_session_open(net, engine, options, &session, &error);
  if (status != OXP_OK)
    fail_msg("%s: %s", engine, error.message);
  return session;
}

static oxp_array input_of(float *values, int64_t batch)
{
  return (oxp_array){ .dtype = OXP_FLOAT32, .rank = 2, .shape = { batch, 3 }, .data = values };
}

static float element(const oxp_array *array, int index)
{
  assert_int_equal(array->dtype, OXP_FLOAT32);
  return ((const float *)array->data)[index];
}

// --- Finding engines ---

static void an_unknown_engine_lists_those_there_are(void **state)
{
  (void)state;
  need_engine("ort");
  oxp_network *net = build_dense(OXP_FLOAT32);
  const char *const names[] = { "opencl", "", "ort:gpu", "reference:", "reference:half", "ort:cp" };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    oxp_session *session = NULL;
    oxp_error error = { 0 };
    assert_int_equal(oxp_session_open(net, names[i], NULL, &session, &error), OXP_BAD_ARGUMENT);
    assert_null(session);
    assert_non_null(strstr(error.message, names[i]));
    assert_non_null(strstr(error.message, "ort:cpu"));
    assert_non_null(strstr(error.message, "reference"));
  }
  oxp_network_free(net);
}

static void an_unfinished_network_is_refused(void **state)
{
  (void)state;
  oxp_network *net = NULL;
  oxp_session *session = NULL;
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &net, NULL), OXP_OK);
  assert_int_equal(oxp_session_open(net, "reference", NULL, &session, NULL), OXP_BAD_ARGUMENT);
  oxp_network_free(net);
}

static void a_negative_number_of_threads_is_refused(void **state)
{
  (void)state;
  oxp_network *net = build_dense(OXP_FLOAT32);
  oxp_session *session = NULL;
  assert_int_equal(oxp_session_open(net, "reference", &(oxp_session_options){ .threads = -1 }, &session, NULL),
                   OXP_BAD_ARGUMENT);
  oxp_network_free(net);
}

static void the_reference_does_not_run_graphs(void **state)
{
  (void)state;
  oxp_network *net = build_dense(OXP_FLOAT32);
  oxp_graph *graph = NULL;
  oxp_session *session = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_graph_lower(net, NULL, &graph, &error), OXP_OK);
  assert_int_equal(oxp_session_open_graph(graph, "reference", NULL, &session, &error), OXP_BAD_ARGUMENT);
  oxp_graph_free(graph);
  oxp_network_free(net);
}

// --- Running ---

static void run_dense(const char *engine)
{
  oxp_network *net = build_dense(OXP_FLOAT32);
  oxp_session *session = open_session(net, engine, NULL);
  oxp_network_free(net); // a session needs it no longer
  assert_int_equal(oxp_session_input_count(session), 1);
  assert_int_equal(oxp_session_output_count(session), 1);
  assert_string_equal(oxp_session_output_name(session, 0), "y");
  assert_null(oxp_session_output_name(session, 1));
  for (int64_t batch = 1; batch <= 3; batch++) {
    float values[9] = { 1, 2, 3, 0, 0, 10, -1, 0, 0 };
    oxp_array x = input_of(values, batch), y;
    assert_int_equal(oxp_session_run(session, &x, &y, NULL), OXP_OK);
    assert_int_equal(y.rank, 2);
    assert_int_equal(y.shape[0], batch);
    assert_int_equal(y.shape[1], 2);
    assert_float_equal(element(&y, 0), 5.8, 1e-6);
    assert_float_equal(element(&y, 1), 0, 0);
    if (batch > 1)
      assert_float_equal(element(&y, 3), 8, 0);
    oxp_array_free(&y);
  }
  oxp_session_free(session);
}

static void the_reference_runs(void **state)
{
  (void)state;
  run_dense("reference");
}

static void the_runtime_runs(void **state)
{
  (void)state;
  need_runtime();
  run_dense("ort:cpu");
}

static void check_refused_inputs(const char *engine)
{
  oxp_network *net = build_dense(OXP_FLOAT32);
  oxp_session *session = open_session(net, engine, NULL);
  float values[9] = { 0 };
  oxp_error error = { 0 };
  oxp_array y, x = input_of(values, 2);
  x.shape[1] = 4;
  assert_int_equal(oxp_session_run(session, &x, &y, &error), OXP_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "\"x\""));
  assert_non_null(strstr(error.message, "3)"));
  assert_non_null(strstr(error.message, "(2, 4)"));
  x = input_of(values, 1);
  x.rank = 1;
  assert_int_equal(oxp_session_run(session, &x, &y, &error), OXP_BAD_ARGUMENT);
  x = input_of(values, 1);
  x.dtype = OXP_FLOAT64;
  assert_int_equal(oxp_session_run(session, &x, &y, &error), OXP_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "float32"));
  assert_non_null(strstr(error.message, "float64"));
  x = input_of(NULL, 1);
  assert_int_equal(oxp_session_run(session, &x, &y, &error), OXP_BAD_ARGUMENT);
  oxp_session_free(session);
  oxp_network_free(net);
}

static void the_reference_refuses_wrong_inputs(void **state)
{
  (void)state;
  check_refused_inputs("reference");
}

static void the_runtime_refuses_wrong_inputs(void **state)
{
  (void)state;
  need_runtime();
  check_refused_inputs("ort:cpu");
}

static void check_exposed(const char *engine)
{
  oxp_network *net = build_dense(OXP_FLOAT32);
  oxp_session *session = open_session(net, engine, &(oxp_session_options){ .expose_layers = true });
  assert_int_equal(oxp_session_output_count(session), 4);
  assert_string_equal(oxp_session_output_name(session, 3), "y");
  float values[3] = { 1, 2, 3 };
  oxp_array x = input_of(values, 1), y[4];
  assert_int_equal(oxp_session_run(session, &x, y, NULL), OXP_OK);
  assert_float_equal(element(&y[0], 0), 5.8, 1e-6);
  assert_float_equal(element(&y[0], 1), 0, 1e-6); // -1 + 3 - 2
  for (int i = 1; i < 4; i++)
    assert_memory_equal(y[i].data, y[1].data, 2 * sizeof(float));
  for (int i = 0; i < 4; i++)
    oxp_array_free(&y[i]);
  oxp_session_free(session);
  oxp_network_free(net);
}

static void the_reference_hands_out_layers(void **state)
{
  (void)state;
  check_exposed("reference");
}

static void the_runtime_hands_out_layers(void **state)
{
  (void)state;
  need_runtime();
  check_exposed("ort:cpu");
}

// A network whose layers leave no node: every value is the input.
static void check_pass_through(const char *engine)
{
  oxp_network *net = NULL;
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &net, NULL), OXP_OK);
  oxp_value x = oxp_network_add_input(net, "x", 2, (int64_t[]){ OXP_DIM_BATCH, 3 });
  oxp_value y = oxp_network_add_layer(net, "dropout", NULL, 1, &x);
  oxp_network_add_output(net, y, NULL);
  assert_int_equal(oxp_network_finish(net, NULL), OXP_OK);
  oxp_session *session = open_session(net, engine, &(oxp_session_options){ .expose_layers = true });
  assert_int_equal(oxp_session_output_count(session), 2);
  float values[3] = { 1, NAN, -0.0f };
  oxp_array in = input_of(values, 1), out[2];
  assert_int_equal(oxp_session_run(session, &in, out, NULL), OXP_OK);
  for (int i = 0; i < 2; i++) {
    assert_memory_equal(out[i].data, values, sizeof values);
    oxp_array_free(&out[i]);
  }
  oxp_session_free(session);
  oxp_network_free(net);
}

static void layers_without_nodes_hand_on_their_input(void **state)
{
  (void)state;
  check_pass_through("reference");
}

static void layers_without_nodes_hand_on_their_input_in_the_runtime(void **state)
{
  (void)state;
  need_runtime();
  check_pass_through("ort:cpu");
}

// Two branches and two inputs; the output comes last although a branch ends before.
static void check_branches(const char *engine)
{
  oxp_network *net = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &net, NULL), OXP_OK);
  oxp_value a = oxp_network_add_input(net, "a", 2, (int64_t[]){ OXP_DIM_BATCH, 3 });
  oxp_value b = oxp_network_add_input(net, "b", 2, (int64_t[]){ OXP_DIM_BATCH, 3 });
  oxp_value sum = oxp_network_add_layer(net, "add", "sum", 2, (oxp_value[]){ a, b });
  oxp_value product = oxp_network_add_layer(net, "mul", "product", 2, (oxp_value[]){ sum, a });
  oxp_value relu = oxp_network_add_layer(net, "relu", NULL, 1, &b);
  oxp_network_add_output(net, product, NULL);
  oxp_network_add_output(net, relu, NULL);
  if (oxp_network_finish(net, &error) != OXP_OK)
    fail_msg("%s", error.message);
  oxp_session *session = open_session(net, engine, NULL);
  float values_a[3] = { 1, 2, 3 }, values_b[3] = { -1, 1, 4 };
  oxp_array in[2] = { input_of(values_a, 1), input_of(values_b, 1) }, out[2];
  assert_int_equal(oxp_session_run(session, in, out, &error), OXP_OK);
  assert_string_equal(oxp_session_output_name(session, 0), "output");
  assert_string_equal(oxp_session_output_name(session, 1), "output_1");
  assert_memory_equal(out[0].data, ((float[]){ 0, 6, 21 }), 3 * sizeof(float));
  assert_memory_equal(out[1].data, ((float[]){ 0, 1, 4 }), 3 * sizeof(float));
  oxp_array_free(&out[0]);
  oxp_array_free(&out[1]);
  // Both inputs have the batch as their first dimension: it must be the same number.
  float more[6] = { 0 };
  in[1] = input_of(more, 2);
  assert_int_not_equal(oxp_session_run(session, in, out, &error), OXP_OK);
  oxp_session_free(session);
  oxp_network_free(net);
}

static void branches_run_on_the_reference(void **state)
{
  (void)state;
  check_branches("reference");
}

static void branches_run_on_the_runtime(void **state)
{
  (void)state;
  need_runtime();
  check_branches("ort:cpu");
}

// --- Rounding ---

// 0.1f is not 0.1: in float32 the weight and every value are rounded, in double only the weight is.
static void the_double_reference_does_not_round(void **state)
{
  (void)state;
  oxp_network *net = build_dense(OXP_FLOAT32);
  float values[3] = { 0, 0, 3 };
  oxp_array x = input_of(values, 1), rounded, exact;
  oxp_session *session = open_session(net, "reference:float32", NULL);
  assert_int_equal(oxp_session_run(session, &x, &rounded, NULL), OXP_OK);
  oxp_session_free(session);
  session = open_session(net, "reference:double", NULL);
  assert_int_equal(oxp_session_run(session, &x, &exact, NULL), OXP_OK);
  oxp_session_free(session);
  assert_int_equal(exact.dtype, OXP_FLOAT64);
  double expected = 3 * (double)0.1f + 0.5;
  assert_true(((double *)exact.data)[0] == expected);
  assert_true(element(&rounded, 0) == (float)expected);
  assert_true((double)(float)expected != expected);
  oxp_array_free(&rounded);
  oxp_array_free(&exact);
  oxp_network_free(net);
}

static void check_float64(const char *engine)
{
  oxp_network *net = build_dense(OXP_FLOAT64);
  oxp_session *session = open_session(net, engine, NULL);
  double values[3] = { 1, 2, 1.0 / 3 };
  oxp_array x = { .dtype = OXP_FLOAT64, .rank = 2, .shape = { 1, 3 }, .data = values }, y;
  oxp_error error = { 0 };
  if (oxp_session_run(session, &x, &y, &error) != OXP_OK)
    fail_msg("%s", error.message);
  assert_int_equal(y.dtype, OXP_FLOAT64);
  assert_true(fabs(((double *)y.data)[0] - (5.5 + (double)0.1f / 3)) < 1e-15);
  oxp_array_free(&y);
  oxp_session_free(session);
  oxp_network_free(net);
}

static void float64_networks_run_on_the_reference(void **state)
{
  (void)state;
  check_float64("reference");
}

static void float64_networks_run_on_the_runtime(void **state)
{
  (void)state;
  need_runtime();
  check_float64("ort:cpu");
}

// --- The runtime's own words ---

static void what_the_runtime_refuses_is_passed_on(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *net = build_dense(OXP_FLOAT32);
  oxp_graph *graph = NULL;
  oxp_session *session = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_graph_open(OXP_TEST_DATA "/netcl/l_linear3d.onnx", &graph, &error), OXP_OK);
  assert_int_equal(oxp_session_open_graph(graph, "ort:cpu", NULL, &session, &error), OXP_ENGINE_FAILED);
  assert_null(session);
  assert_non_null(strstr(error.message, "ONNX Runtime"));
  assert_non_null(strstr(error.message, "Gemm"));
  assert_null(strchr(error.message, '\n'));
  oxp_graph_free(graph);
  oxp_network_free(net);
}

static void a_file_is_run_as_it_is(void **state)
{
  (void)state;
  need_runtime();
  oxp_graph *graph = NULL;
  oxp_session *session = NULL;
  oxp_error error = { 0 };
  oxp_array x, y, expected;
  oxp_difference difference;
  assert_int_equal(oxp_graph_open(OXP_TEST_DATA "/netcl/a_mlp.onnx", &graph, &error), OXP_OK);
  oxp_status status = oxp_session_open_graph(graph, "ort:cpu", NULL, &session, &error);
  oxp_graph_free(graph);
  assert_int_equal(status, OXP_OK);
  assert_int_equal(oxp_array_read(OXP_TEST_DATA "/netcl/a_mlp.x.npy", &x, &error), OXP_OK);
  assert_int_equal(oxp_array_read(OXP_TEST_DATA "/netcl/a_mlp.y.npy", &expected, &error), OXP_OK);
  assert_int_equal(oxp_session_run(session, &x, &y, &error), OXP_OK);
  assert_int_equal(oxp_compare(&expected, &y, 0, 1e-6, &difference, &error), OXP_OK);
  assert_true(difference.match);
  oxp_array_free(&x);
  oxp_array_free(&y);
  oxp_array_free(&expected);
  oxp_session_free(session);
}

static void a_file_has_no_layers_to_hand_out(void **state)
{
  (void)state;
  need_runtime();
  oxp_graph *graph = NULL;
  oxp_session *session = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_graph_open(OXP_TEST_DATA "/netcl/a_mlp.onnx", &graph, &error), OXP_OK);
  oxp_status status =
      oxp_session_open_graph(graph, "ort:cpu", &(oxp_session_options){ .expose_layers = true }, &session, &error);
  oxp_graph_free(graph);
  assert_int_equal(status, OXP_BAD_ARGUMENT);
}

// --- Values by name ---

// Runs a_mlp as it lies in a file with some of its values handed out, and compares them with the network's layers.
static void check_exposed_values(const char *path)
{
  static const char *const names[] = { "relu_1", "input", "linear_2", "output", "relu_1" };
  enum { NAMES = sizeof names / sizeof names[0] };
  oxp_graph *graph = NULL;
  oxp_session *session = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_graph_open(path, &graph, &error), OXP_OK);
  oxp_session_options options = { .expose = names, .expose_count = NAMES };
  if (oxp_session_open_graph(graph, "ort:cpu", &options, &session, &error) != OXP_OK)
    fail_msg("%s", error.message);
  assert_int_equal(oxp_graph_output_count(graph), 1); // the graph itself is as it was
  oxp_graph_free(graph);
  assert_int_equal(oxp_session_output_count(session), NAMES + 1);
  for (int i = 0; i < NAMES; i++)
    assert_string_equal(oxp_session_output_name(session, i), names[i]);
  assert_string_equal(oxp_session_output_name(session, NAMES), "output");

  oxp_network *net = NULL;
  assert_int_equal(oxp_network_open(OXP_TEST_DATA "/netcl/a_mlp.netcl", NULL, &net, &error), OXP_OK);
  oxp_session *layers = open_session(net, "reference", &(oxp_session_options){ .expose_layers = true });
  oxp_network_free(net);
  oxp_array x = { 0 }, found[NAMES + 1], expected[16];
  assert_int_equal(oxp_array_new(&x, OXP_FLOAT32, 2, (int64_t[]){ 3, 20 }, &error), OXP_OK);
  assert_int_equal(oxp_array_fill_random(&x, 5, &error), OXP_OK);
  int layer_count = oxp_session_output_count(layers) - 1;
  assert_in_range(layer_count, 3, 15);
  assert_int_equal(oxp_session_run(session, &x, found, &error), OXP_OK);
  assert_int_equal(oxp_session_run(layers, &x, expected, &error), OXP_OK);
  const oxp_array *wanted[] = { &expected[1],           &x,           &expected[2],
                                &expected[layer_count], &expected[1], &expected[layer_count] };
  for (int i = 0; i <= NAMES; i++) {
    oxp_difference difference;
    assert_int_equal(oxp_compare(wanted[i], &found[i], 1e-5, 1e-6, &difference, &error), OXP_OK);
    assert_true(difference.match);
    oxp_array_free(&found[i]);
  }
  for (int i = 0; i <= layer_count; i++)
    oxp_array_free(&expected[i]);
  oxp_array_free(&x);
  oxp_session_free(session);
  oxp_session_free(layers);
}

static void write_mlp(const char *path, oxp_external_data external)
{
  oxp_network *net = NULL;
  oxp_graph *graph = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_network_open(OXP_TEST_DATA "/netcl/a_mlp.netcl", NULL, &net, &error), OXP_OK);
  assert_int_equal(oxp_graph_lower(net, NULL, &graph, &error), OXP_OK);
  oxp_write_report report;
  assert_int_equal(oxp_graph_write(graph, path, &(oxp_write_options){ .external_data = external }, &report, &error),
                   OXP_OK);
  assert_int_equal(report.data_file[0] != '\0', external == OXP_EXTERNAL_ALWAYS);
  oxp_graph_free(graph);
  oxp_network_free(net);
}

static void a_file_hands_out_inner_values_by_name(void **state)
{
  (void)state;
  need_runtime();
  write_mlp("exposed.onnx", OXP_EXTERNAL_NEVER);
  check_exposed_values("exposed.onnx");
}

// The weights lie beside the file, in the working directory and in a folder.
static void so_does_a_file_with_external_data(void **state)
{
  (void)state;
  need_runtime();
  write_mlp("external.onnx", OXP_EXTERNAL_ALWAYS);
  check_exposed_values("external.onnx");
  assert_true(mkdir("folder", 0700) == 0 || errno == EEXIST);
  write_mlp("folder/external.onnx", OXP_EXTERNAL_ALWAYS);
  check_exposed_values("folder/external.onnx");
}

static void wrong_wishes_for_values_are_refused(void **state)
{
  (void)state;
  need_runtime();
  static const char *const unknown[] = { "input", "nowhere" };
  oxp_session_options wishes[] = { { .expose = unknown, .expose_count = 2 },
                                   { .expose = unknown, .expose_count = 1, .expose_layers = true },
                                   { .expose = unknown, .expose_count = -1 } };
  oxp_error error = { 0 };
  oxp_graph *graph = NULL;
  assert_int_equal(oxp_graph_open(OXP_TEST_DATA "/netcl/a_mlp.onnx", &graph, &error), OXP_OK);
  for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
    oxp_session *session = NULL;
    assert_int_equal(oxp_session_open_graph(graph, "ort:cpu", &wishes[i], &session, &error), OXP_BAD_ARGUMENT);
    assert_null(session);
    assert_true(i > 0 || strstr(error.message, "\"nowhere\""));
  }
  oxp_graph_free(graph);
  oxp_network *net = build_dense(OXP_FLOAT32);
  oxp_session *session = NULL;
  assert_int_equal(oxp_session_open(net, "reference", &wishes[0], &session, &error), OXP_BAD_ARGUMENT);
  oxp_network_free(net);
}

// The threads of this process; 0 where the system does not list them.
static int count_threads(void)
{
  DIR *folder = opendir("/proc/self/task");
  int count = 0;
  for (const struct dirent *entry = NULL; folder && (entry = readdir(folder)) != NULL;)
    count += entry->d_name[0] != '.';
  if (folder)
    closedir(folder);
  return count;
}

// How many threads a session adds.
static int threads_of_session(const oxp_network *net, int threads)
{
  oxp_session *session = NULL;
  int before = count_threads();
  assert_int_equal(oxp_session_open(net, "ort:cpu", &(oxp_session_options){ .threads = threads }, &session, NULL),
                   OXP_OK);
  int added = count_threads() - before;
  oxp_session_free(session);
  return added;
}

static void the_runtime_uses_as_many_threads_as_were_asked_for(void **state)
{
  (void)state;
  need_runtime();
  if (count_threads() == 0)
    skip();
  oxp_network *net = build_dense(OXP_FLOAT32);
  threads_of_session(net, 2); // the first one may start threads of the runtime itself
  int two = threads_of_session(net, 2);
  assert_int_equal(threads_of_session(net, 3), two + 1);
  assert_int_equal(threads_of_session(net, 5), two + 3);
  oxp_network_free(net);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_runtime_uses_as_many_threads_as_were_asked_for),
    cmocka_unit_test(a_file_hands_out_inner_values_by_name),
    cmocka_unit_test(so_does_a_file_with_external_data),
    cmocka_unit_test(wrong_wishes_for_values_are_refused),
    cmocka_unit_test(an_unknown_engine_lists_those_there_are),
    cmocka_unit_test(an_unfinished_network_is_refused),
    cmocka_unit_test(a_negative_number_of_threads_is_refused),
    cmocka_unit_test(the_reference_does_not_run_graphs),
    cmocka_unit_test(the_reference_runs),
    cmocka_unit_test(the_runtime_runs),
    cmocka_unit_test(the_reference_refuses_wrong_inputs),
    cmocka_unit_test(the_runtime_refuses_wrong_inputs),
    cmocka_unit_test(the_reference_hands_out_layers),
    cmocka_unit_test(the_runtime_hands_out_layers),
    cmocka_unit_test(layers_without_nodes_hand_on_their_input),
    cmocka_unit_test(layers_without_nodes_hand_on_their_input_in_the_runtime),
    cmocka_unit_test(branches_run_on_the_reference),
    cmocka_unit_test(branches_run_on_the_runtime),
    cmocka_unit_test(the_double_reference_does_not_round),
    cmocka_unit_test(float64_networks_run_on_the_reference),
    cmocka_unit_test(float64_networks_run_on_the_runtime),
    cmocka_unit_test(what_the_runtime_refuses_is_passed_on),
    cmocka_unit_test(a_file_is_run_as_it_is),
    cmocka_unit_test(a_file_has_no_layers_to_hand_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
