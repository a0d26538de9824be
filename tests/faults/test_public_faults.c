// Faults that other exporters were reported for, each with what must come out instead. What needs the runtime is skipped where
// it is missing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/network.h"
#include "onnx/graph.h"
#include "runtime.h"

static oxp_error fault_error;

static void need(oxp_status status)
{
  if (status != OXP_OK)
    fail_msg("%s: %s", oxp_status_name(status), fault_error.message);
}

static const float *some_values(void)
{
  static float values[4096];
  for (int i = 0; i < 4096; i++)
    values[i] = (float)((i * 37) % 101 - 50) / 100;
  return values;
}

static void set_weight(oxp_network *network, oxp_value layer, const char *role, int offset, int rank,
                       const int64_t *shape)
{
  oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT32, rank, shape, some_values() + offset);
  oxp_layer_set_weight(network, layer, role, &tensor);
}

static oxp_value add_linear(oxp_network *network, const char *name, oxp_value x, int64_t in, int64_t out)
{
  x = oxp_network_add_layer(network, "linear", name, 1, &x);
  oxp_layer_set_int(network, x, "in_features", in);
  oxp_layer_set_int(network, x, "out_features", out);
  set_weight(network, x, "weight", (int)out, 2, (int64_t[]){ in, out });
  set_weight(network, x, "bias", 0, 1, (int64_t[]){ out });
  return x;
}

static oxp_network *new_network(void)
{
  oxp_network *network = NULL;
  need(oxp_network_new(OXP_FLOAT32, &network, &fault_error));
  return network;
}

static oxp_graph *lower(oxp_network *network, const oxp_lower_options *options)
{
  oxp_graph *graph = NULL;
  need(oxp_network_finish(network, &fault_error));
  need(oxp_graph_lower(network, options, &graph, &fault_error));
  return graph;
}

static oxp_network *flatten_then_linear(void)
{
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 4, (int64_t[]){ OXP_DIM_BATCH, 2, 3, 4 });
  x = oxp_network_add_layer(network, "flatten", NULL, 1, &x);
  oxp_network_add_output(network, add_linear(network, NULL, x, 24, 5), NULL);
  need(oxp_network_finish(network, &fault_error));
  return network;
}

static oxp_array run(oxp_session *session, const oxp_array *input)
{
  oxp_array output = { 0 };
  need(oxp_session_run(session, input, &output, &fault_error));
  return output;
}

// ---- 1. The batch of the trace inside the graph ----

static void a_dynamic_batch_runs_with_every_size(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *network = flatten_then_linear();
  oxp_graph *graph = lower(network, NULL);
  for (size_t i = 0; i < graph->model.graph->nodes.count; i++)
    assert_string_not_equal(graph->model.graph->nodes.at[i]->op_type, "Reshape");
  oxp_session *reference = NULL, *runtime = NULL;
  need(oxp_session_open(network, "reference", NULL, &reference, &fault_error));
  need(oxp_session_open_graph(graph, "ort:cpu", NULL, &runtime, &fault_error));
  const int64_t batches[] = { 0, 1, 2, 7 };
  for (size_t i = 0; i < 4; i++) {
    oxp_array input;
    need(oxp_array_new(&input, OXP_FLOAT32, 4, (int64_t[]){ batches[i], 2, 3, 4 }, &fault_error));
    need(oxp_array_fill_random(&input, i, &fault_error));
    oxp_array expected = run(reference, &input), actual = run(runtime, &input);
    assert_int_equal(actual.shape[0], batches[i]);
    assert_int_equal(actual.shape[1], 5);
    oxp_difference difference;
    need(oxp_compare(&expected, &actual, 1e-6, 1e-6, &difference, &fault_error));
    assert_true(difference.match);
    oxp_array_free(&input);
    oxp_array_free(&expected);
    oxp_array_free(&actual);
  }
  oxp_session_free(reference);
  oxp_session_free(runtime);
  oxp_graph_free(graph);
  oxp_network_free(network);
}

static void a_static_batch_is_declared_and_enforced(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *network = flatten_then_linear();
  oxp_graph *graph = lower(network, &(oxp_lower_options){ .batch = 2, .expose_layers = true });
  for (int i = 0; i < oxp_graph_output_count(graph); i++) {
    oxp_value_info info;
    assert_true(oxp_graph_output_info(graph, i, &info));
    assert_int_equal(info.shape[0], 2);
  }
  oxp_session *runtime = NULL;
  need(oxp_session_open_graph(graph, "ort:cpu", NULL, &runtime, &fault_error));
  oxp_array input, output = { 0 };
  need(oxp_array_new(&input, OXP_FLOAT32, 4, (int64_t[]){ 3, 2, 3, 4 }, &fault_error));
  assert_int_equal(oxp_session_run(runtime, &input, &output, &fault_error), OXP_BAD_ARGUMENT);
  oxp_array_free(&input);
  oxp_session_free(runtime);
  oxp_graph_free(graph);
  oxp_network_free(network);
}

// ---- 2. Names that occur twice ----

static void equal_and_empty_names_load_and_match(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, "conv1", 2, (int64_t[]){ OXP_DIM_BATCH, 6 });
  const char *const names[] = { "conv1", "conv1", "", "conv1_2", "output" };
  for (size_t i = 0; i < 5; i++)
    x = add_linear(network, names[i], x, 6, 6);
  oxp_network_add_output(network, x, NULL);
  need(oxp_network_finish(network, &fault_error));
  oxp_verify_report *report = NULL;
  need(oxp_verify(network, NULL, NULL, &report, &fault_error));
  oxp_verify_report_free(report);
  oxp_network_free(network);
}

// ---- 3. One array, several uses ----

static void tied_weights_are_stored_once_and_match(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 2, (int64_t[]){ OXP_DIM_BATCH, 12 });
  for (int i = 0; i < 2; i++) { // an encoder and, with the same weights transposed, a decoder
    int64_t in = i ? 8 : 12, out = i ? 12 : 8;
    x = oxp_network_add_layer(network, "linear", NULL, 1, &x);
    oxp_layer_set_int(network, x, "in_features", in);
    oxp_layer_set_int(network, x, "out_features", out);
    oxp_layer_set_int(network, x, "bias", 0);
    oxp_tensor weight = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ 12, 8 }, some_values());
    if (i)
      weight = oxp__tensor_permute(&weight, (const int[]){ 1, 0 });
    oxp_layer_set_weight(network, x, "weight", &weight);
  }
  oxp_network_add_output(network, x, NULL);
  oxp_graph *graph = lower(network, NULL);
  assert_int_equal(graph->model.graph->initializers.count, 1);
  oxp_verify_report *report = NULL;
  need(oxp_verify(network, graph, NULL, &report, &fault_error));
  oxp_verify_report_free(report);
  oxp_graph_free(graph);
  oxp_network_free(network);
}

// ---- 4. IR versions above what the opset's own release wrote ----

static void the_ir_version_is_that_of_the_opset(void **state)
{
  (void)state;
  static const struct {
    int opset, ir_version;
  } table[] = { { 13, 7 }, { 14, 7 }, { 15, 8 }, { 16, 8 },  { 17, 8 },
                { 18, 8 }, { 19, 9 }, { 20, 9 }, { 21, 10 }, { 22, 10 } };
  oxp_network *network = flatten_then_linear();
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    oxp_graph *graph = lower(network, &(oxp_lower_options){ .opset = table[i].opset });
    assert_int_equal(oxp_graph_ir_version(graph), table[i].ir_version);
    oxp_graph_free(graph);
  }
  for (int ir_version = 8; ir_version <= 10; ir_version += 2) {
    oxp_graph *graph = lower(network, &(oxp_lower_options){ .opset = 19, .ir_version = ir_version });
    assert_int_equal(oxp_graph_ir_version(graph), ir_version);
    oxp_graph_free(graph);
  }
  oxp_network_free(network);
}

// ---- 5. Zero padding in front of a max pool ----

// All values are negative: the zeros around the map win every window at the edge. An optimiser that turns the padding into
// that of the pool, which is minus infinity, changes the result.
static void zeros_before_a_max_pool_stay_or_the_runtime_is_blamed(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 4, (int64_t[]){ 1, 1, 4, 4 });
  x = oxp_network_add_layer(network, "zero_pad2d", "pad", 1, &x);
  oxp_layer_set_int(network, x, "pads", 1);
  x = oxp_network_add_layer(network, "max_pool2d", "pool", 1, &x);
  oxp_layer_set_int(network, x, "kernel_shape", 3);
  oxp_layer_set_int(network, x, "strides", 1);
  oxp_network_add_output(network, x, NULL);
  need(oxp_network_finish(network, &fault_error));
  float negative[16];
  for (int i = 0; i < 16; i++)
    negative[i] = -1 - (float)i;
  oxp_array input = { .dtype = OXP_FLOAT32, .rank = 4, .shape = { 1, 1, 4, 4 }, .data = negative };

  oxp_session *reference = NULL;
  need(oxp_session_open(network, "reference", NULL, &reference, &fault_error));
  oxp_array exact = run(reference, &input);
  assert_true(((const float *)exact.data)[0] == 0); // the zeros count
  oxp_array_free(&exact);
  oxp_session_free(reference);

  oxp_verify_options options = { .inputs = &input, .session = { .optimization_off = true } };
  oxp_verify_report *report = NULL;
  need(oxp_verify(network, NULL, &options, &report, &fault_error)); // the file is right
  oxp_verify_report_free(report);
  options.session.optimization_off = false;
  oxp_status status = oxp_verify(network, NULL, &options, &report, &fault_error);
  if (status == OXP_DIFFERENT)
    assert_non_null(strstr(oxp_verify_finding(report), "optimi"));
  else
    need(status);
  print_message("at its default level the runtime %s\n", status == OXP_OK ? "is right" : oxp_verify_finding(report));
  oxp_verify_report_free(report);
  oxp_network_free(network);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_dynamic_batch_runs_with_every_size),
    cmocka_unit_test(a_static_batch_is_declared_and_enforced),
    cmocka_unit_test(equal_and_empty_names_load_and_match),
    cmocka_unit_test(tied_weights_are_stored_once_and_match),
    cmocka_unit_test(the_ir_version_is_that_of_the_opset),
    cmocka_unit_test(zeros_before_a_max_pool_stay_or_the_runtime_is_blamed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
