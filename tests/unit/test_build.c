// test_build.c: what the builder helpers make: golden bytes from calls, attributes as they were given, conversions while
// writing and what is said about them, symbols, and that a builder that failed stays failed.
#include "unit/onnx_support.h"

#include <math.h>

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define DIMS(...) ((const int64_t[]){ __VA_ARGS__ })

static oxp_graph *new_graph(oxp__builder *builder, oxp_error *error)
{
  oxp_graph *graph = oxp__graph_new();
  assert_non_null(graph);
  *builder = (oxp__builder){ .graph = graph, .opset = 17, .dtype = OXP_FLOAT32, .error = error };
  return graph;
}

// netcl's file for one LeakyReLU, call by call.
static void calls_give_the_golden_bytes(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp__builder builder;
  oxp_graph *graph = new_graph(&builder, &error);
  oxp__graph_proto *proto = graph->model.graph;
  graph->model.ir_version = 10;
  graph->model.producer_name = "netcl";
  graph->model.doc_string = proto->doc_string = "Exported from NetCL";
  proto->name = "netcl_model";
  oxp__build_opset(&builder, "", 17);
  oxp__node *leaky = oxp__build_node(&builder, "LeakyRelu", NULL, LIST("input"), LIST("t_1"));
  oxp__build_node(&builder, "Identity", NULL, LIST("t_1"), LIST("output"));
  oxp__build_float(&builder, leaky, "alpha", 0.1); // still valid: nodes do not move
  oxp__build_value_info(&builder, &proto->inputs, "input", OXP_FLOAT32, 2, DIMS(OXP_DIM_BATCH, 16), "batch");
  oxp__build_value_info(&builder, &proto->outputs, "output", OXP_FLOAT32, 2, DIMS(OXP_DIM_BATCH, OXP_DIM_UNKNOWN),
                        "batch");
  assert_int_equal(builder.status, OXP_OK);
  assert_int_equal(oxp__model_check(graph, NULL, &error), OXP_OK);
  bytes made = bytes_of_graph(graph), golden = bytes_of_file(OXP_TEST_DATA "/netcl/act/f_leaky.onnx");
  assert_int_equal(made.count, golden.count);
  assert_memory_equal(made.at, golden.at, golden.count);
  free(made.at);
  free(golden.at);
  oxp_graph_free(graph);
}

// Writes the graph and reads it again, from `all`, which the caller frees after it.
static oxp_graph *through_the_wire(oxp_graph *graph, bytes *all)
{
  oxp_error error = { 0 };
  *all = bytes_of_graph(graph);
  oxp_graph *again = graph_of_bytes(all, &error);
  if (!again)
    fail_msg("%s", error.message);
  return again;
}

static void attributes_keep_order_and_values(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp__builder builder;
  oxp_graph *graph = new_graph(&builder, &error);
  oxp__node *node = oxp__build_node(&builder, "Any", "n", LIST("x", "", "z"), LIST("y"));
  oxp__build_string(&builder, node, "mode", "");
  oxp__build_ints(&builder, node, "pads", 3, DIMS(0, -1, INT64_MAX));
  oxp__build_int(&builder, node, "zero", 0);
  oxp__build_float(&builder, node, "tiny", -1e-300);
  oxp__build_metadata(&builder, "key", "value");
  bytes all;
  oxp_graph *again = through_the_wire(graph, &all);
  const oxp__node *read = again->model.graph->nodes.at[0];
  assert_int_equal(read->inputs.count, 3);
  assert_string_equal(read->inputs.at[1], "");
  assert_int_equal(read->attributes.count, 4);
  oxp__attribute *const *at = read->attributes.at;
  assert_string_equal(at[0]->name, "mode");
  assert_int_equal(at[0]->type, OXP__ATTR_STRING);
  assert_non_null(at[0]->s.at);
  assert_int_equal(at[0]->s.count, 0);
  assert_int_equal(at[1]->ints.count, 3);
  assert_int_equal(at[1]->ints.at[1], -1);
  assert_true(at[1]->ints.at[2] == INT64_MAX);
  assert_int_equal(at[2]->i, 0);
  assert_true(at[2]->base.has & 1u << OXP__ATTRIBUTE_I); // a zero that was set
  assert_true(at[3]->f == 0 && signbit(at[3]->f));
  assert_true(at[3]->base.has & 1u << OXP__ATTRIBUTE_F);
  assert_string_equal(again->model.metadata.at[0]->value, "value");
  oxp_graph_free(again);
  oxp_graph_free(graph);
  free(all.at);
}

static void read_floats(const oxp__tensor_proto *proto, float *values)
{
  oxp_error error = { 0 };
  assert_true(proto->has_tensor);
  assert_int_equal(proto->data_type, OXP_FLOAT32);
  assert_int_equal(oxp__tensor_read(&proto->tensor, OXP_FLOAT32, values, &error), OXP_OK);
}

static void initializers_are_converted_while_written(void **state)
{
  (void)state;
  static const double stored[] = { 0.1, 0.5, NAN, 1e300, -2, 3 };
  oxp_error error = { 0 };
  oxp__builder builder;
  oxp_graph *graph = new_graph(&builder, &error);
  oxp_tensor matrix = oxp_tensor_from_memory(OXP_FLOAT64, 2, DIMS(2, 3), stored);
  oxp_tensor turned = oxp__tensor_permute(&matrix, (const int[]){ 1, 0 });
  oxp__build_initializer(&builder, "m", &turned, OXP_FLOAT32);
  oxp_tensor empty = oxp_tensor_from_memory(OXP_FLOAT32, 1, DIMS(0), stored);
  oxp__build_initializer(&builder, "empty", &empty, OXP_FLOAT32);
  assert_int_equal(oxp_graph_warning_count(graph), 0);
  bytes all;
  oxp_graph *again = through_the_wire(graph, &all);
  float values[6];
  oxp__tensor_protos *list = &again->model.graph->initializers;
  read_floats(list->at[0], values);
  assert_int_equal(list->at[0]->dims.at[0], 3);
  assert_true(values[0] == 0.1f && values[1] == INFINITY && values[2] == 0.5f && isnan(values[4]) && values[5] == 3);
  assert_true(list->at[1]->base.has & 1u << OXP__TENSOR_RAW_DATA);
  assert_int_equal(oxp_graph_warning_count(graph), 3);
  assert_string_equal(oxp_graph_warning(graph, 0), "tensor \"m\" holds 1 value that is not finite (NaN or infinity)");
  assert_string_equal(oxp_graph_warning(graph, 1), "tensor \"m\": 1 value was beyond the range of float32 and became "
                                                   "infinite; the first was 1e+300");
  assert_string_equal(oxp_graph_warning(graph, 2), "tensor \"m\": 1 value was rounded from float64 to float32");
  assert_null(oxp_graph_warning(graph, 3));
  free(bytes_of_graph(graph).at); // writing again says nothing twice
  assert_int_equal(oxp_graph_warning_count(graph), 3);
  oxp_graph_free(again);
  oxp_graph_free(graph);
  free(all.at);
}

static void constants_are_copied(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp__builder builder;
  oxp_graph *graph = new_graph(&builder, &error);
  double scalar = 0.2, pair[] = { 1.5, -1 };
  int64_t axes[] = { 2, 3 };
  oxp__build_constant_f64(&builder, "scalar", OXP_FLOAT32, 0, NULL, &scalar);
  oxp__build_constant_f64(&builder, "pair", OXP_FLOAT32, 1, DIMS(2), pair);
  oxp__build_constant_i64(&builder, "axes", 1, DIMS(2), axes);
  memset(pair, 0, sizeof pair);
  memset(axes, 0, sizeof axes);
  scalar = 0;
  bytes all;
  oxp_graph *again = through_the_wire(graph, &all);
  oxp__tensor_proto *const *at = again->model.graph->initializers.at;
  float values[2];
  read_floats(at[0], values);
  assert_true(values[0] == 0.2f && at[0]->dims.count == 0);
  read_floats(at[1], values);
  assert_true(values[0] == 1.5f && values[1] == -1);
  int64_t numbers[2];
  assert_int_equal(at[2]->data_type, OXP_INT64);
  assert_int_equal(oxp__tensor_read(&at[2]->tensor, OXP_INT64, numbers, &error), OXP_OK);
  assert_true(numbers[0] == 2 && numbers[1] == 3);
  oxp_graph_free(again);
  oxp_graph_free(graph);
  free(all.at);
}

static void dimensions_have_names(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp__builder builder;
  oxp_graph *graph = new_graph(&builder, &error);
  oxp__value_infos *inputs = &graph->model.graph->inputs;
  oxp__build_value_info(&builder, inputs, "x", OXP_FLOAT32, 4, DIMS(OXP_DIM_BATCH, 0, OXP_DIM_HEIGHT, OXP_DIM_UNKNOWN),
                        "N");
  bytes all;
  oxp_graph *again = through_the_wire(graph, &all);
  oxp_graph *both[] = { graph, again };
  for (int i = 0; i < 2; i++) {
    oxp_value_info info;
    assert_true(oxp_graph_input_info(both[i], 0, &info));
    assert_int_equal(info.rank, 4);
    assert_int_equal(info.shape[0], OXP_DIM_BATCH);
    assert_int_equal(info.shape[1], 0);
    assert_int_equal(info.shape[2], OXP_DIM_HEIGHT);
    assert_int_equal(info.shape[3], OXP_DIM_UNKNOWN);
    assert_string_equal(oxp_graph_dim_name(both[i], OXP_DIM_BATCH), "N");
    assert_string_equal(oxp_graph_dim_name(both[i], OXP_DIM_HEIGHT), "height");
    assert_null(oxp_graph_dim_name(both[i], OXP_DIM_WIDTH));
  }
  oxp_graph_free(again);
  oxp_graph_free(graph);
  free(all.at);
}

static void a_failed_builder_does_nothing(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp__builder builder;
  oxp_graph *graph = new_graph(&builder, &error);
  double value = 1;
  oxp__build_constant_f64(&builder, "bad", OXP_FLOAT32, 1, DIMS(-1), &value);
  assert_int_equal(builder.status, OXP_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "\"bad\""));
  assert_null(oxp__build_node(&builder, "Relu", NULL, LIST("x"), LIST("y")));
  oxp__build_int(&builder, NULL, "axis", 1);
  oxp__build_opset(&builder, "", 17);
  assert_int_equal(oxp_graph_node_count(graph), 0);
  assert_int_equal(graph->model.opsets.count, 0);
  oxp_graph_free(graph);
}

static oxp_status broken_source(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  (void)context, (void)offset, (void)buffer;
  return oxp__fail(error, OXP_IO, "the device did not hand over %zu bytes", count);
}

// A source that fails ends writing with its own words and the tensor's name, and leaves no file.
static void a_failing_source_is_named(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp__builder builder;
  oxp_graph *graph = new_graph(&builder, &error);
  oxp_tensor weight = oxp_tensor_from_function(OXP_FLOAT32, 1, DIMS(3), broken_source, NULL);
  oxp__build_initializer(&builder, "fc1.weight", &weight, OXP_DTYPE_NONE);
  assert_int_equal(oxp_graph_write(graph, "broken.onnx", NULL, NULL, &error), OXP_IO);
  assert_string_equal(error.key, "fc1.weight");
  assert_non_null(strstr(error.message, "the device did not hand over 12 bytes"));
  assert_null(fopen("broken.onnx", "rb"));
  oxp_graph_free(graph);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(calls_give_the_golden_bytes),
    cmocka_unit_test(attributes_keep_order_and_values),
    cmocka_unit_test(initializers_are_converted_while_written),
    cmocka_unit_test(constants_are_copied),
    cmocka_unit_test(dimensions_have_names),
    cmocka_unit_test(a_failed_builder_does_nothing),
    cmocka_unit_test(a_failing_source_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
