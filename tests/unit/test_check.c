// test_check.c: the checker. A small valid model is broken in one way per case, and the one finding must name it; golden files
// are valid but for those that netcl and RunMat wrote wrong.
#include "unit/onnx_support.h"

#include "onnx/operators.h"

// --- A model that is right ---

// x (batch, 3) -> Gemm -> Relu -> Softmax -> y (batch, 4), and a Reshape and a Concat beside it.
static oxp_graph *valid_graph(void)
{
  static const float numbers[12] = { 0 };
  oxp_error error = { 0 };
  oxp_graph *graph = oxp__graph_new();
  assert_non_null(graph);
  oxp__builder builder = { .graph = graph, .opset = 17, .dtype = OXP_FLOAT32, .error = &error };
  oxp__graph_proto *proto = graph->model.graph;
  graph->model.ir_version = 8;
  proto->name = "net";
  oxp__build_opset(&builder, "", 17);
  oxp_tensor weight = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ 3, 4 }, numbers);
  oxp_tensor bias = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 4 }, numbers);
  oxp__build_initializer(&builder, "w", &weight, OXP_DTYPE_NONE);
  oxp__build_initializer(&builder, "b", &bias, OXP_DTYPE_NONE);
  oxp__build_constant_i64(&builder, "shape", 1, (int64_t[]){ 3 }, (int64_t[]){ 0, 2, 2 });
  oxp__build_value_info(&builder, &proto->inputs, "x", OXP_FLOAT32, 2, (int64_t[]){ OXP_DIM_BATCH, 3 }, "batch");
  oxp__build_node(&builder, "Gemm", "dense", (const char *[]){ "x", "w", "b", NULL }, (const char *[]){ "h", NULL });
  oxp__build_node(&builder, "Relu", "relu", (const char *[]){ "h", NULL }, (const char *[]){ "r", NULL });
  oxp__node *softmax =
      oxp__build_node(&builder, "Softmax", "softmax", (const char *[]){ "r", NULL }, (const char *[]){ "y", NULL });
  oxp__build_int(&builder, softmax, "axis", -1);
  oxp__build_node(&builder, "Reshape", "reshape", (const char *[]){ "r", "shape", NULL },
                  (const char *[]){ "z", NULL });
  oxp__node *join =
      oxp__build_node(&builder, "Concat", "join", (const char *[]){ "r", "y", NULL }, (const char *[]){ "c", NULL });
  oxp__build_int(&builder, join, "axis", 1);
  oxp__build_value_info(&builder, &proto->outputs, "y", OXP_FLOAT32, 2, (int64_t[]){ OXP_DIM_BATCH, 4 }, "batch");
  oxp__build_value_info(&builder, &proto->outputs, "z", OXP_FLOAT32, 3, (int64_t[]){ OXP_DIM_BATCH, 2, 2 }, "batch");
  oxp__build_value_info(&builder, &proto->outputs, "c", OXP_FLOAT32, 2, (int64_t[]){ OXP_DIM_BATCH, 8 }, "batch");
  assert_int_equal(builder.status, OXP_OK);
  return graph;
}

static oxp__node *node_of(oxp_graph *graph, size_t index)
{
  return graph->model.graph->nodes.at[index];
}

static oxp__tensor_proto *initializer_of(oxp_graph *graph, size_t index)
{
  return graph->model.graph->initializers.at[index];
}

static oxp__builder builder_of(oxp_graph *graph)
{
  return (oxp__builder){ .graph = graph, .opset = 17, .dtype = OXP_FLOAT32 };
}

// --- One way to break it each ---

static void ir_too_new(oxp_graph *graph)
{
  graph->model.ir_version = 99;
}
static void ir_missing(oxp_graph *graph)
{
  graph->model.ir_version = 0;
}
static void opset_too_new(oxp_graph *graph)
{
  graph->model.opsets.at[0]->version = 99;
}
static void opset_missing(oxp_graph *graph)
{
  graph->model.opsets.count = 0;
}
static void opset_twice(oxp_graph *graph)
{
  oxp__builder builder = builder_of(graph);
  oxp__build_opset(&builder, "ai.onnx", 17);
}
static void domain_not_imported(oxp_graph *graph)
{
  node_of(graph, 1)->domain = "com.example";
}
static void graph_without_name(oxp_graph *graph)
{
  graph->model.graph->name = NULL;
}
static void old_ir_with_initializers(oxp_graph *graph)
{
  graph->model.ir_version = 3;
  graph->model.graph->initializers.count = 2; // and without the Reshape that needs the third
  oxp__node **nodes = graph->model.graph->nodes.at;
  nodes[3] = nodes[4];
  graph->model.graph->nodes.count = 4;
  oxp__value_info **outputs = graph->model.graph->outputs.at;
  outputs[1] = outputs[2];
  graph->model.graph->outputs.count = 2;
}
static void node_name_twice(oxp_graph *graph)
{
  node_of(graph, 2)->name = "relu";
}
static void value_twice(oxp_graph *graph)
{
  node_of(graph, 2)->outputs.at[0] = "h";
}
static void initializer_twice(oxp_graph *graph)
{
  initializer_of(graph, 1)->name = "w";
  node_of(graph, 0)->inputs.count = 2;
}
static void name_not_utf8(oxp_graph *graph)
{
  node_of(graph, 4)->outputs.at[0] = "\xff";
  graph->model.graph->outputs.at[2]->name = "\xff";
}
static void wrong_order(oxp_graph *graph)
{
  oxp__node *first = node_of(graph, 0);
  graph->model.graph->nodes.at[0] = node_of(graph, 1);
  graph->model.graph->nodes.at[1] = first;
}
static void unknown_input(oxp_graph *graph)
{
  node_of(graph, 1)->inputs.at[0] = "nowhere";
}
static void unknown_output(oxp_graph *graph)
{
  graph->model.graph->outputs.at[2]->name = "nowhere";
}
static void input_without_type(oxp_graph *graph)
{
  graph->model.graph->inputs.at[0]->type = NULL;
  graph->model.graph->inputs.at[0]->shape = NULL;
}
static void operator_unknown(oxp_graph *graph)
{
  node_of(graph, 1)->op_type = "Rely";
}
static void operator_too_new(oxp_graph *graph)
{
  node_of(graph, 1)->op_type = "Gelu";
}
static void operator_taken_out(oxp_graph *graph)
{
  node_of(graph, 1)->op_type = "Upsample";
}
static void import_ml(oxp_graph *graph, const char *op_type, int64_t version)
{
  oxp__builder builder = builder_of(graph);
  oxp__build_opset(&builder, "ai.onnx.ml", version);
  node_of(graph, 1)->domain = "ai.onnx.ml";
  node_of(graph, 1)->op_type = op_type;
}
static void operator_unknown_in_ml(oxp_graph *graph)
{
  import_ml(graph, "Rely", 3);
}
static void operator_too_new_in_ml(oxp_graph *graph)
{
  import_ml(graph, "TreeEnsemble", 3);
}
static void attribute_unknown_in_ml(oxp_graph *graph)
{
  oxp__builder builder = builder_of(graph);
  import_ml(graph, "Normalizer", 3);
  oxp__build_int(&builder, node_of(graph, 1), "alpha", 1);
}
static void ml_too_new(oxp_graph *graph)
{
  import_ml(graph, "Normalizer", 99);
}
static void old_opset(oxp_graph *graph)
{
  oxp__builder builder = builder_of(graph);
  graph->model.opsets.at[0]->version = 5;
  oxp__build_int(&builder, node_of(graph, 1), "alpha", 1);
}

// A function Double(a) = second(a + other), by an opset of its own, which node 1 calls.
static oxp__function *add_function(oxp_graph *graph, const char *other, const char *second, const char *output)
{
  oxp_error error = { 0 };
  oxp__builder builder = { .graph = graph, .opset = 18, .dtype = OXP_FLOAT32, .error = &error };
  oxp__function *function = oxp__arena_new(&graph->arena, 1, sizeof *function);
  oxp__opset *opset = oxp__arena_new(&graph->arena, 1, sizeof *opset);
  oxp__graph_proto body = { 0 }, *outer = graph->model.graph;
  const char *input = "a";
  assert_true(function && opset);
  *opset = (oxp__opset){ .domain = "", .version = 18 };
  graph->model.graph = &body; // what is built now is the body
  oxp__build_node(&builder, "Add", NULL, (const char *[]){ "a", other, NULL }, (const char *[]){ "s", NULL });
  oxp__build_node(&builder, second, NULL, (const char *[]){ "s", NULL }, (const char *[]){ "d", NULL });
  graph->model.graph = outer;
  *function = (oxp__function){ .name = "Double", .nodes = body.nodes };
  bool done = oxp__repeated_append(&graph->arena, &function->inputs, &input, sizeof input) &&
              oxp__repeated_append(&graph->arena, &function->outputs, &output, sizeof output) &&
              oxp__repeated_append(&graph->arena, &function->opsets, &opset, sizeof opset) &&
              oxp__repeated_append(&graph->arena, &graph->model.functions, &function, sizeof function);
  assert_true(done && builder.status == OXP_OK);
  node_of(graph, 1)->op_type = "Double";
  return function;
}
static void function_without_name(oxp_graph *graph)
{
  add_function(graph, "a", "Relu", "d")->name = NULL;
}
static void function_twice(oxp_graph *graph)
{
  add_function(graph, "a", "Relu", "d");
  add_function(graph, "a", "Relu", "d");
}
static void function_is_broken(oxp_graph *graph)
{
  add_function(graph, "missing", "Relu", "d");
}
static void function_without_output(oxp_graph *graph)
{
  add_function(graph, "a", "Relu", "nowhere");
}
static void function_of_another_opset(oxp_graph *graph)
{
  add_function(graph, "a", "Gelu", "d");
}
static void function_with_another_overload(oxp_graph *graph)
{
  add_function(graph, "a", "Relu", "d")->overload = "other";
}

static void operator_missing(oxp_graph *graph)
{
  node_of(graph, 1)->op_type = NULL;
}
static void too_few_inputs(oxp_graph *graph)
{
  node_of(graph, 0)->inputs.count = 1;
}
static void too_many_inputs(oxp_graph *graph)
{
  oxp__node *relu = node_of(graph, 1);
  const char *extra = "x";
  assert_true(oxp__repeated_append(&graph->arena, &relu->inputs, &extra, sizeof extra));
}
static void needed_input_absent(oxp_graph *graph)
{
  node_of(graph, 0)->inputs.at[0] = "";
}
static void too_many_outputs(oxp_graph *graph)
{
  oxp__node *relu = node_of(graph, 1);
  const char *extra = "extra";
  assert_true(oxp__repeated_append(&graph->arena, &relu->outputs, &extra, sizeof extra));
}
static void attribute_unknown(oxp_graph *graph)
{
  oxp__builder builder = builder_of(graph);
  oxp__build_int(&builder, node_of(graph, 1), "alpha", 1);
}
static void attribute_too_new(oxp_graph *graph)
{
  oxp__builder builder = builder_of(graph);
  oxp__build_int(&builder, node_of(graph, 3), "allowzero", 0);
  graph->model.opsets.at[0]->version = 13;
}
static void attribute_of_wrong_kind(oxp_graph *graph)
{
  oxp__attribute *axis = node_of(graph, 2)->attributes.at[0];
  axis->type = OXP__ATTR_FLOAT;
  axis->base.has = 1u << OXP__ATTRIBUTE_F;
}
static void attribute_with_stray_value(oxp_graph *graph)
{
  node_of(graph, 2)->attributes.at[0]->type = OXP__ATTR_FLOAT;
}
static void attribute_without_kind(oxp_graph *graph)
{
  node_of(graph, 2)->attributes.at[0]->type = 0;
}
static void attribute_twice(oxp_graph *graph)
{
  oxp__builder builder = builder_of(graph);
  oxp__build_int(&builder, node_of(graph, 2), "axis", 1);
}
static void attribute_required(oxp_graph *graph)
{
  node_of(graph, 4)->attributes.count = 0;
}
static void element_types_differ(oxp_graph *graph)
{
  static const double numbers[4] = { 0 };
  oxp__tensor_proto *bias = initializer_of(graph, 1);
  bias->tensor = oxp_tensor_from_memory(OXP_FLOAT64, 1, (int64_t[]){ 4 }, numbers);
  bias->data_type = OXP_FLOAT64;
}
static void shape_input_of_wrong_type(oxp_graph *graph)
{
  initializer_of(graph, 2)->data_type = OXP_INT32;
}
static void declared_type_differs(oxp_graph *graph)
{
  graph->model.graph->outputs.at[0]->type->tensor->dtype = OXP_FLOAT64;
}
static void declared_dim_differs(oxp_graph *graph)
{
  graph->model.graph->outputs.at[0]->shape[1] = 5;
}
static void declared_rank_differs(oxp_graph *graph)
{
  graph->model.graph->outputs.at[0]->rank = 1;
}
static void inner_declaration_differs(oxp_graph *graph)
{
  oxp__builder builder = builder_of(graph);
  oxp__build_value_info(&builder, &graph->model.graph->value_infos, "h", OXP_FLOAT32, 2, (int64_t[]){ 7, 9 }, NULL);
}
static void rows_and_columns_differ(oxp_graph *graph)
{
  graph->model.graph->inputs.at[0]->shape[1] = 5;
}
static void payload_too_short(oxp_graph *graph)
{
  oxp__tensor_proto *bias = initializer_of(graph, 1);
  bias->has_tensor = false;
  bias->raw.count = 12;
}
static void values_missing(oxp_graph *graph)
{
  initializer_of(graph, 1)->has_tensor = false;
  initializer_of(graph, 1)->base.has = 0;
}
static void constant_too_short(oxp_graph *graph)
{
  oxp__builder builder = builder_of(graph);
  oxp__attribute *value = oxp__arena_new(&graph->arena, 1, sizeof *value);
  assert_non_null(value);
  *value = (oxp__attribute){ .name = "value", .type = OXP__ATTR_TENSOR, .t = initializer_of(graph, 1) };
  value->t->has_tensor = false;
  value->t->base.has = 1u << OXP__TENSOR_RAW_DATA;
  value->t->raw.count = 7;
  node_of(graph, 0)->inputs.count = 2; // the initializer itself is gone
  graph->model.graph->initializers.at[1] = initializer_of(graph, 2);
  graph->model.graph->initializers.count = 2;
  node_of(graph, 1)->domain = "com.example";
  oxp__build_opset(&builder, "com.example", 1);
  oxp__repeated_append(&graph->arena, &node_of(graph, 1)->attributes, &value, sizeof value);
}
static void negative_dimension(oxp_graph *graph)
{
  initializer_of(graph, 1)->dims.at[0] = -4;
  node_of(graph, 0)->inputs.count = 2;
}
static void tensor_without_type(oxp_graph *graph)
{
  initializer_of(graph, 1)->data_type = 0;
}
static void reshape_does_not_fit(oxp_graph *graph)
{
  static const int64_t asked[] = { 0, 3, 2 };
  initializer_of(graph, 2)->tensor = oxp_tensor_from_memory(OXP_INT64, 1, (int64_t[]){ 3 }, asked);
}
static void nested_graph_is_broken(oxp_graph *graph)
{
  oxp__attribute *body = oxp__arena_new(&graph->arena, 1, sizeof *body);
  assert_non_null(body);
  *body = (oxp__attribute){ .name = "body", .type = OXP__ATTR_GRAPH };
  body->g = oxp__arena_new(&graph->arena, 1, sizeof *body->g);
  body->g->name = "body";
  oxp__node *inner = oxp__arena_new(&graph->arena, 1, sizeof *inner);
  assert_non_null(inner);
  *inner = *node_of(graph, 1);
  inner->name = "inner";
  inner->inputs = (oxp__strings){ 0 };
  inner->outputs = (oxp__strings){ 0 };
  const char *names[] = { "h", "missing", "o" }; // h is the outer graph's
  oxp__repeated_append(&graph->arena, &inner->inputs, &names[0], sizeof names[0]);
  oxp__repeated_append(&graph->arena, &inner->inputs, &names[1], sizeof names[1]);
  oxp__repeated_append(&graph->arena, &inner->outputs, &names[2], sizeof names[2]);
  inner->op_type = "Add";
  oxp__repeated_append(&graph->arena, &body->g->nodes, &inner, sizeof inner);
  oxp__node *outer = node_of(graph, 1);
  outer->domain = "com.example";
  oxp__builder builder = builder_of(graph);
  oxp__build_opset(&builder, "com.example", 1);
  oxp__repeated_append(&graph->arena, &outer->attributes, &body, sizeof body);
}

static const struct {
  void (*breaks)(oxp_graph *graph);
  const char *words;
} cases[] = {
  { ir_too_new, "IR version 99 is not one of 3 to 14" },
  { ir_missing, "IR version 0 is not one of 3 to 14" },
  { opset_too_new, "opset 99 is not one of 1 to 28" },
  { opset_missing, "the default domain has no opset import" },
  { opset_twice, "the domain \"\" has two opset imports" },
  { domain_not_imported, "node 1 \"relu\" (Relu): the domain \"com.example\" has no opset import" },
  { graph_without_name, "the graph has no name" },
  { old_ir_with_initializers, "initializer 0 \"w\" must be a graph input too" },
  { node_name_twice, "nodes 1 and 2 are both called \"relu\"" },
  { value_twice, "node 2 \"softmax\" (Softmax): the value \"h\" is there already" },
  { initializer_twice, "initializer 1 \"w\": the value \"w\" is there already" },
  { name_not_utf8, "is not UTF-8" },
  { wrong_order, "node 0 \"relu\" (Relu): input 0 \"h\" is computed only by node 1" },
  { unknown_input, "node 1 \"relu\" (Relu): nothing gives input 0 \"nowhere\"" },
  { unknown_output, "graph output 2: nothing gives \"nowhere\"" },
  { input_without_type, "graph input 0 \"x\" declares no type" },
  { operator_unknown, "node 1 \"relu\" (Rely): opset 17 has no operator Rely" },
  { operator_too_new, "node 1 \"relu\" (Gelu): the operator Gelu came with opset 20, and the model imports 17" },
  { operator_taken_out,
    "node 1 \"relu\" (Upsample): the operator Upsample was taken out in opset 10, and the model imports 17" },
  { operator_unknown_in_ml, "node 1 \"relu\" (Rely): opset 3 of the domain ai.onnx.ml has no operator Rely" },
  { operator_too_new_in_ml,
    "(TreeEnsemble): the operator TreeEnsemble came with opset 5 of the domain ai.onnx.ml, and the model imports 3" },
  { attribute_unknown_in_ml, "Normalizer has no attribute \"alpha\" at opset 3" },
  { ml_too_new, "opset 99 of the domain ai.onnx.ml is not one of 1 to 5" },
  { old_opset, "Relu has no attribute \"alpha\" at opset 5" },
  { function_without_name, "function 0 has no name" },
  { function_twice, "function 1 \"Double\" is there already" },
  { function_is_broken, "in the function \"Double\": node 0 (Add): nothing gives input 1 \"missing\"" },
  { function_without_output, "in the function \"Double\": nothing gives the output \"nowhere\"" },
  { function_of_another_opset,
    "in the function \"Double\": node 1 (Gelu): the operator Gelu came with opset 20, and the model imports 18" },
  { function_with_another_overload, "opset 17 has no operator Double" },
  { operator_missing, "node 1 \"relu\" (?) has no operator" },
  { too_few_inputs, "node 0 \"dense\" (Gemm) has 1 inputs, but needs at least 2" },
  { too_many_inputs, "node 1 \"relu\" (Relu) has 2 inputs, but takes at most 1" },
  { needed_input_absent, "node 0 \"dense\" (Gemm): input 0 is absent, but needed" },
  { too_many_outputs, "node 1 \"relu\" (Relu) has 2 outputs, but takes at most 1" },
  { attribute_unknown, "Relu has no attribute \"alpha\" at opset 17" },
  { attribute_too_new, "Reshape has no attribute \"allowzero\" at opset 13" },
  { attribute_of_wrong_kind, "attribute \"axis\" is of kind float instead of int" },
  { attribute_with_stray_value, "attribute \"axis\" says float, but holds int" },
  { attribute_without_kind, "attribute \"axis\" does not say its kind" },
  { attribute_twice, "node 2 \"softmax\" (Softmax) has two attributes \"axis\"" },
  { attribute_required, "node 4 \"join\" (Concat) lacks the attribute \"axis\"" },
  { element_types_differ, "node 0 \"dense\" (Gemm): input 2 is float64, but must be float32" },
  { shape_input_of_wrong_type, "node 3 \"reshape\" (Reshape): input 1 is int32, but must be int64" },
  { declared_type_differs, "value \"y\" is declared float64, but is float32" },
  { declared_dim_differs, "value \"y\" is declared with shape (batch, 5), but has (batch, 4)" },
  { declared_rank_differs, "value \"y\" is declared with shape (batch), but has (batch, 4)" },
  { inner_declaration_differs, "value \"h\" is declared with shape (7, 9), but has (batch, 4)" },
  { rows_and_columns_differ, "A gives 5 columns, but B takes 3 rows" },
  { payload_too_short, "initializer 1 \"b\" holds 12 bytes, which do not fit its dims and its type float32" },
  { values_missing, "initializer 1 \"b\" has no values" },
  { constant_too_short, "node 1 \"relu\" (Relu): attribute \"value\" holds 7 bytes, which do not fit its dims" },
  { negative_dimension, "initializer 1 \"b\" has a dimension of -4" },
  { tensor_without_type, "initializer 1 \"b\" has no element type" },
  { reshape_does_not_fit, "4 elements do not fit a shape for 6" },
  { nested_graph_is_broken,
    "in \"body\" of node 1 \"relu\" (Relu): node 0 \"inner\" (Add): nothing gives input 1 \"missing\"" },
};

static void the_valid_graph_is_valid(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp_graph *graph = valid_graph();
  if (oxp__model_check(graph, NULL, &error) != OXP_OK)
    fail_msg("%s", error.message);
  oxp_graph_free(graph);
}

// The weight as a sparse array, of which two values are there.
static oxp__sparse_tensor *make_sparse(oxp_graph *graph, int rank, const int64_t *dims)
{
  static const int64_t places[4] = { 0, 5, 0, 1 };
  oxp_error error = { 0 };
  oxp__graph_proto *proto = graph->model.graph;
  oxp__builder builder = { .graph = graph, .opset = 17, .dtype = OXP_FLOAT32, .error = &error };
  oxp_tensor values = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 2 }, places);
  oxp_tensor indices = oxp_tensor_from_memory(OXP_INT64, rank, dims, places);
  oxp__sparse_tensor *sparse = oxp__arena_new(&graph->arena, 1, sizeof *sparse);
  assert_non_null(sparse);
  sparse->dims = initializer_of(graph, 0)->dims;
  oxp__build_initializer(&builder, "w", &values, OXP_DTYPE_NONE);
  oxp__build_initializer(&builder, "", &indices, OXP_DTYPE_NONE);
  sparse->values = initializer_of(graph, 3);
  sparse->indices = initializer_of(graph, 4);
  proto->initializers.at[0] = initializer_of(graph, 2);
  proto->initializers.count = 2;
  assert_true(oxp__repeated_append(&graph->arena, &proto->sparse_initializers, &sparse, sizeof sparse));
  assert_int_equal(builder.status, OXP_OK);
  return sparse;
}

static void sparse_initializers_are_values(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  for (int rank = 1; rank <= 2; rank++) {
    oxp_graph *graph = valid_graph();
    oxp__sparse_tensor *sparse = make_sparse(graph, rank, (int64_t[]){ 2, 2 });
    if (oxp__model_check(graph, NULL, &error) != OXP_OK)
      fail_msg("%s", error.message);
    sparse->dims.at[0] = 5;
    assert_int_equal(oxp__model_check(graph, NULL, &error), OXP_BAD_FILE);
    assert_non_null(strstr(error.message, "A gives 3 columns, but B takes 5 rows"));
    oxp_graph_free(graph);
  }
}

static void sparse_arrays_must_fit_themselves(void **state)
{
  (void)state;
  static const struct {
    int64_t indices[2], values, dim;
    oxp_dtype type;
    bool no_values, no_indices;
    const char *words;
  } wrong[] = {
    { { 2, 3 },
      2,
      3,
      OXP_INT64,
      false,
      false,
      "sparse initializer 0 \"w\" has indices whose dims do not fit its 2 values" },
    { { 3, 2 }, 2, 3, OXP_INT64, false, false, "has indices whose dims do not fit its 2 values and its rank of 2" },
    { { 2, 2 }, 2, 3, OXP_FLOAT64, false, false, "has indices of type float64 instead of int64" },
    { { 2, 2 }, 13, 3, OXP_INT64, false, false, "has 13 values, and dims for 12" },
    { { 2, 2 }, 2, -3, OXP_INT64, false, false, "sparse initializer 0 \"w\" has a dimension of -3" },
    { { 2, 2 }, 2, 3, OXP_INT64, true, false, "has no values" },
    { { 2, 2 }, 2, 3, OXP_INT64, false, true, "does not say where its values are" },
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    oxp_error error = { 0 };
    oxp_graph *graph = valid_graph();
    oxp__sparse_tensor *sparse = make_sparse(graph, 2, wrong[i].indices);
    sparse->values->dims.at[0] = wrong[i].values;
    sparse->indices->data_type = (int32_t)wrong[i].type;
    sparse->dims.at[0] = wrong[i].dim;
    sparse->values = wrong[i].no_values ? NULL : sparse->values;
    sparse->indices = wrong[i].no_indices ? NULL : sparse->indices;
    assert_int_equal(oxp__model_check(graph, NULL, &error), OXP_BAD_FILE);
    if (!strstr(error.message, wrong[i].words))
      fail_msg("\"%s\" does not say \"%s\"", error.message, wrong[i].words);
    oxp_graph_free(graph);
  }
}

static void every_rule_finds_its_breach(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    oxp_error error = { 0 };
    oxp_graph *graph = valid_graph();
    cases[i].breaks(graph);
    oxp_status status = oxp__model_check(graph, NULL, &error);
    if (status != OXP_BAD_FILE || !strstr(error.message, cases[i].words))
      fail_msg("case %zu: \"%s\" was not found, but: %s", i, cases[i].words, status ? error.message : "nothing");
    oxp_graph_free(graph);
  }
}

static void functions_are_operators(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp__text notes = { 0 };
  oxp_graph *graph = valid_graph();
  add_function(graph, "a", "Mish", "d"); // which opset 18, the function's own, has
  if (oxp__model_check(graph, &notes, &error) != OXP_OK)
    fail_msg("%s", error.message);
  assert_string_equal(oxp__text_string(&notes), "");
  graph->model.functions.at[0]->domain = node_of(graph, 1)->domain = "mine";
  graph->model.functions.at[0]->overload = node_of(graph, 1)->overload = "too";
  oxp__builder builder = builder_of(graph);
  oxp__build_opset(&builder, "mine", 1);
  if (oxp__model_check(graph, &notes, &error) != OXP_OK)
    fail_msg("%s", error.message);
  assert_string_equal(oxp__text_string(&notes), "");
  oxp_graph_free(graph);
}

static void other_domains_are_noted(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp__text notes = { 0 };
  oxp_graph *graph = valid_graph();
  oxp__builder builder = builder_of(graph);
  oxp__build_opset(&builder, "com.example", 1);
  node_of(graph, 1)->domain = node_of(graph, 2)->domain = "com.example";
  node_of(graph, 1)->op_type = "Anything";
  if (oxp__model_check(graph, &notes, &error) != OXP_OK)
    fail_msg("%s", error.message);
  assert_string_equal(oxp__text_string(&notes), "2 nodes of the domain \"com.example\"");
  oxp__text_fini(&notes);
  oxp_graph_free(graph);
}

// The checker's table of domains has an order that changes with its address; what it says has the model's.
static void other_domains_are_noted_in_the_order_of_the_model(void **state)
{
  (void)state;
  enum { DOMAINS = 25, NAMED = 20 };
  oxp_error error = { 0 };
  oxp__text notes = { 0 }, expected = { 0 };
  oxp_graph *graph = valid_graph();
  oxp__builder builder = builder_of(graph);
  char domains[DOMAINS][16], outputs[DOMAINS][16];
  for (int i = 0; i < DOMAINS; i++) {
    snprintf(domains[i], sizeof domains[i], "com.d%d", i * 7 % DOMAINS);
    snprintf(outputs[i], sizeof outputs[i], "o%d", i);
    oxp__build_opset(&builder, domains[i], 1);
    oxp__node *node = oxp__build_node(&builder, "Anything", outputs[i], (const char *[]){ "x", NULL },
                                      (const char *[]){ outputs[i], NULL });
    node->domain = domains[i];
    if (i < NAMED)
      oxp__text_printf(&expected, "%s1 node of the domain \"%s\"", i > 0 ? ", " : "", domains[i]);
  }
  oxp__text_printf(&expected, " and of %d more domains", DOMAINS - NAMED);
  if (oxp__model_check(graph, &notes, &error) != OXP_OK)
    fail_msg("%s", error.message);
  assert_string_equal(oxp__text_string(&notes), oxp__text_string(&expected));
  oxp__text_fini(&notes);
  oxp__text_fini(&expected);
  oxp_graph_free(graph);
}

// The other parts of a tensor that comes in segments are somewhere else: that this one is short is no fault of it.
static void segments_of_tensors_are_left_alone(void **state)
{
  (void)state;
  enum { SEGMENT = 3 };
  for (uint32_t field = SEGMENT; field <= SEGMENT + 96; field += 96) { // the second is a field that nobody knows
    oxp_error error = { 0 };
    oxp_graph *graph = valid_graph();
    oxp__tensor_proto *bias = initializer_of(graph, 1);
    const oxp__unknown unknown = { .number = field };
    bias->has_tensor = false;
    bias->base.has = 0;
    assert_true(oxp__repeated_append(&graph->arena, &bias->base.unknown, &unknown, sizeof unknown));
    assert_int_equal(oxp__model_check(graph, NULL, &error), field == SEGMENT ? OXP_OK : OXP_BAD_FILE);
    assert_true(field == SEGMENT || strstr(error.message, "initializer 1 \"b\" has no values"));
    oxp_graph_free(graph);
  }
}

static void findings_are_bounded(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp_graph *graph = valid_graph();
  oxp__builder builder = builder_of(graph);
  for (int i = 0; i < 100; i++)
    oxp__build_node(&builder, "Relu", NULL, (const char *[]){ "nowhere", NULL }, (const char *[]){ "", NULL });
  assert_int_equal(oxp_graph_check(graph, &error), OXP_BAD_FILE);
  assert_non_null(strstr(error.message, "; and 80 more"));
  oxp_graph_free(graph);
}

// A broken model names each fault, not only the first.
static void all_findings_are_named(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp_graph *graph = valid_graph();
  ir_too_new(graph);
  unknown_output(graph);
  attribute_unknown(graph);
  assert_int_equal(oxp_graph_check(graph, &error), OXP_BAD_FILE);
  assert_non_null(strstr(error.message, "IR version 99"));
  assert_non_null(strstr(error.message, "nothing gives \"nowhere\""));
  assert_non_null(strstr(error.message, "no attribute \"alpha\""));
  oxp_graph_free(graph);
}

// --- Golden files ---

// The only golden files that break a rule, and how.
static const struct {
  const char *file, *words;
} invalid[] = {
  // Linear on more than two axes, which netcl writes as Gemm.
  { "l_linear3d.onnx", "node 0 (Gemm): A has shape (batch, 5, 6), but needs rank 2" },
  { "l_linear4d.onnx", "node 2 (Gemm): A has shape (batch, 4, 6, 8), but needs rank 2" },
  // Layers that do not fit each other, which netcl does not look at.
  { "channel_mismatch.onnx", "the input has 4 channels, but the weight takes 5" },
  { "linear_mismatch.onnx", "A gives 256 columns, but B takes 100 rows" },
  // A window larger than its map: netcl computes nothing there, a runtime something else.
  { "pool_too_big.onnx", "a window of 5 does not fit 4" },
  // RunMat does not look whether a name is taken.
  { "name_input_is_tensor.onnx", "the value \"fc/Gemm\" is there already" },
  { "name_output_is_input.onnx", "the value \"features\" is there already" },
  { "layer_named_output.onnx", "are both called \"output\"" },
};
static int invalid_seen;

static void check_golden(const char *path)
{
  const char *words = NULL;
  for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
    if (strcmp(strrchr(path, '/') + 1, invalid[i].file) == 0)
      words = invalid[i].words;
  oxp_error error = { 0 };
  oxp_graph *graph = NULL;
  assert_int_equal(oxp_graph_open(path, &graph, &error), OXP_OK);
  oxp_status status = oxp__model_check(graph, NULL, &error);
  if (!words && status != OXP_OK)
    fail_msg("%s: %s", path, error.message);
  if (words && (status != OXP_BAD_FILE || !strstr(error.message, words)))
    fail_msg("%s: \"%s\" was not found, but: %s", path, words, status ? error.message : "nothing");
  invalid_seen += words != NULL;
  oxp_graph_free(graph);
}

static void golden_files_are_valid_but_for_the_wrong_ones(void **state)
{
  (void)state;
  visit_models(OXP_TEST_DATA "/netcl", check_golden);
  visit_models(OXP_TEST_DATA "/runmat", check_golden);
  assert_int_equal(invalid_seen, sizeof invalid / sizeof *invalid);
}

// --- The tables ---

static void releases_are_known(void **state)
{
  (void)state;
  static const int versions[] = { 0, 3, 3, 3, 3, 3, 3,  3,  3,  4,  5,  6,  7,  7,  7,
                                  8, 8, 8, 8, 9, 9, 10, 10, 11, 12, 13, 13, 13, 14, 0 };
  for (int opset = 0; opset < (int)(sizeof versions / sizeof *versions); opset++)
    assert_int_equal(oxp__ir_version_for_opset(opset), versions[opset]);
  assert_int_equal(oxp__ir_version_for_opset(-1), 0);
}

static void operators_are_found_at_their_opset(void **state)
{
  (void)state;
  assert_null(oxp__operator_find("", "LayerNormalization", 16));
  assert_non_null(oxp__operator_find("", "LayerNormalization", 17));
  assert_int_equal(oxp__operator_find("", "ReduceMean", 17)->since, 1);
  assert_int_equal(oxp__operator_find("", "ReduceMean", 18)->since, 18);
  assert_null(oxp__operator_find("", "Upsample", 10)->signature);
  assert_null(oxp__operator_find("", "", 17));
  assert_null(oxp__operator_find("", "Zzz", 17));
  assert_non_null(oxp__operator_find("", "Abs", 28));
  assert_non_null(oxp__operator_find("", "Xor", 28));
  assert_non_null(oxp__operator_find("", "Abs", 1));
  assert_null(oxp__operator_find("", "Abs", 0));
  assert_int_equal(oxp__operator_since("", "Gelu"), 20);
  assert_int_equal(oxp__operator_since("", "Zzz"), 0);
  assert_null(oxp__operator_find("ai.onnx.ml", "Abs", 3));
  assert_non_null(oxp__operator_find("ai.onnx.ml", "ZipMap", 1));
  assert_null(oxp__operator_find("", "ZipMap", 28));
  assert_int_equal(oxp__domain_newest("ai.onnx.ml"), 5);
  assert_int_equal(oxp__domain_newest("com.example"), 0);
  // Every operator is found at each of its rows, and each shape function belongs to one.
  size_t shapes = 0;
  for (size_t i = 0; i < oxp__operator_count; i++) {
    const oxp__operator *row = &oxp__operators[i];
    assert_ptr_equal(oxp__operator_find(row->domain, row->name, row->since), row);
    shapes += oxp__operator_shape(row, 28) && !(i > 0 && strcmp(row[-1].name, row->name) == 0);
  }
  assert_int_equal(shapes, 124);
  assert_null(oxp__operator_shape(oxp__operator_find("", "Relu", 6), 6));
}

// --- Shapes ---

// One node over inputs of given shapes; the output must have the given shape, or the problem these words.
typedef struct shape_case {
  const char *op_type;
  int opset;
  const char
      *inputs[4]; // "2,3,b,?": known, batch, unknown; "=2,3": a constant vector of int64; "i": one that is not known;
                  // "~1,0.5": a constant vector of float32; "-": absent
  const char *attributes; // "axis=1 pads=0,1,0,1"
  const char *output, *problem;
} shape_case;

static int parse_numbers(const char *text, int64_t *numbers)
{
  int count = 0;
  while (*text && *text != ' ') {
    char *end = NULL;
    if (*text == 'b' || *text == '?') {
      numbers[count++] = *text == 'b' ? OXP_DIM_BATCH : OXP_DIM_UNKNOWN;
      end = (char *)(uintptr_t)text + 1;
    } else {
      numbers[count++] = strtoll(text, &end, 10);
    }
    text = *end == ',' ? end + 1 : end;
  }
  return count;
}

static void add_attributes(oxp__builder *builder, oxp__node *node, const char *text)
{
  while (text && *text) {
    char name[64];
    const char *equals = strchr(text, '=');
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    int64_t numbers[16];
    int count = parse_numbers(equals + 1, numbers);
    bool list = strchr("pksd", name[0]) != NULL && strcmp(name, "keepdims") != 0; // perm, pads, kernel_shape, ...
    if (list || strcmp(name, "axes") == 0)
      oxp__build_ints(builder, node, name, count, numbers);
    else
      oxp__build_int(builder, node, name, numbers[0]);
    text = strchr(text, ' ');
    text += text != NULL;
  }
}

// The constant that "=2,3" or "~1,0.5" describes.
static void add_constant(oxp__builder *builder, const char *text, oxp__typed *value)
{
  int64_t ints[16], count = 0;
  double floats[16];
  if (*text == '=')
    count = parse_numbers(text + 1, ints);
  for (char *at = (char *)(uintptr_t)text; *text == '~' && *at; count++)
    floats[count] = strtod(at + 1, &at);
  if (*text == '=')
    oxp__build_constant_i64(builder, "c", 1, &count, ints);
  else
    oxp__build_constant_f64(builder, "c", OXP_FLOAT32, 1, &count, floats);
  const oxp__tensor_protos *all = &builder->graph->model.graph->initializers;
  value->constant = all->at[all->count - 1];
  value->rank = 1;
  value->dims[0] = count;
}

static void run_shape_case(const shape_case *test)
{
  oxp_graph *graph = oxp__graph_new();
  oxp__builder builder = builder_of(graph);
  oxp__node *node = oxp__build_node(&builder, test->op_type, "n", (const char *[]){ NULL }, (const char *[]){ NULL });
  add_attributes(&builder, node, test->attributes);
  oxp__typed typed[4];
  const oxp__typed *inputs[4] = { NULL };
  oxp__inference io = { .node = node, .opset = test->opset, .inputs = inputs };
  for (; io.input_count < 4 && test->inputs[io.input_count]; io.input_count++) {
    const char *text = test->inputs[io.input_count];
    oxp__typed *value = &typed[io.input_count];
    *value = (oxp__typed){ .dtype = OXP_FLOAT32 };
    if (*text == '-')
      continue;
    if (*text == 'i')
      text = "2";
    inputs[io.input_count] = value;
    if (*text == '=' || *text == '~')
      add_constant(&builder, text, value);
    else
      value->rank = parse_numbers(text, value->dims);
  }
  oxp__typed output = oxp__typed_unknown;
  io.outputs = &output;
  io.output_count = 1;
  const oxp__operator *row = oxp__operator_find("", test->op_type, test->opset);
  assert_non_null(row);
  oxp__infer_function infer = oxp__operator_shape(row, test->opset);
  assert_non_null(infer);
  infer(&io);
  char text[OXP__INFER_TEXT];
  oxp__infer_shape_text(&output, text, sizeof text);
  if (test->problem && !strstr(io.problem, test->problem))
    fail_msg("%s: \"%s\" does not say \"%s\"", test->op_type, io.problem, test->problem);
  if (test->output && (io.problem[0] || strcmp(text, test->output) != 0))
    fail_msg("%s: the output is %s instead of %s; \"%s\"", test->op_type, text, test->output, io.problem);
  oxp_graph_free(graph);
}

// long: a table of cases.
static void shapes_are_inferred(void **state)
{
  (void)state;
  static const shape_case tests[] = {
    { "Relu", 17, { "b,3" }, NULL, "(batch, 3)", NULL },
    { "Add", 17, { "b,3,1,1", "4,5" }, NULL, "(batch, 3, 4, 5)", NULL },
    { "Add", 17, { "?,1", "b,7" }, NULL, "(?, 7)", NULL },
    { "Mul", 17, { "2,3", "2,4" }, NULL, NULL, "shapes (2, 3) and (2, 4) do not broadcast" },
    { "Max", 17, { "3", "2,1", "1,1,1" }, NULL, "(1, 2, 3)", NULL },
    { "Gemm", 17, { "b,20", "20,64", "64" }, NULL, "(batch, 64)", NULL },
    { "Gemm", 17, { "20,b", "64,20" }, "transA=1 transB=1", "(batch, 64)", NULL },
    { "Gemm", 17, { "b,20", "20,64", "63" }, NULL, NULL, "C of shape (63) does not broadcast" },
    { "Gemm", 17, { "b,20", "20,64", "b,64,1" }, NULL, NULL, "does not broadcast" },
    { "MatMul", 17, { "b,5,6", "6,4" }, NULL, "(batch, 5, 4)", NULL },
    { "MatMul", 17, { "6", "6" }, NULL, "()", NULL },
    { "MatMul", 17, { "7,1,2,3", "5,3,4" }, NULL, "(7, 5, 2, 4)", NULL },
    { "MatMul", 17, { "b,5", "6,4" }, NULL, NULL, "A gives 5 columns, but B takes 6 rows" },
    { "Conv", 17, { "b,3,32,32", "12,3,3,3", "12" }, "pads=1,1,1,1", "(batch, 12, 32, 32)", NULL },
    { "Conv", 17, { "b,8,17,13", "16,2,3,3" }, "pads=2,2,2,2 dilations=2,2 group=4", "(batch, 16, 17, 13)", NULL },
    { "Conv",
      17,
      { "b,6,17,13", "4,3,5,5" },
      "pads=3,3,3,3 strides=2,2 dilations=3,3 group=2",
      "(batch, 4, 6, 4)",
      NULL },
    { "Conv", 17, { "b,3,?,b", "4,3,1,1" }, NULL, "(batch, 4, ?, ?)", NULL },
    { "Conv", 17, { "b,3,9", "4,3,3" }, NULL, "(batch, 4, 7)", NULL },
    { "Conv", 17, { "b,4,9,9", "4,3,3,3" }, NULL, NULL, "the input has 4 channels, but the weight takes 3" },
    { "Conv", 17, { "b,3,9,9", "4,3,3,3", "5" }, NULL, NULL, "does not fit 4 output channels" },
    { "Conv", 17, { "b,3,9,9", "5,1,3,3" }, "group=3", NULL, "5 output channels cannot be divided into 3 groups" },
    { "Conv", 17, { "b,3", "4,3,3,3" }, NULL, NULL, "the input has rank 2" },
    { "Conv", 17, { "b,3,9", "4,3,3,3" }, NULL, NULL, "the input has rank 3, but the weight rank 4" },
    { "Conv", 17, { "b,3,9,9", "4,3,3,3" }, "strides=0,1", NULL, "strides holds 0" },
    { "Conv", 17, { "b,3,9,9", "4,3,3,3" }, "strides=1", NULL, "strides has 1 numbers where 2 are needed" },
    { "Conv", 17, { "b,3,9,9", "4,3,3,3" }, "kernel_shape=3,5", NULL, "kernel_shape says 5" },
    { "ConvTranspose", 17, { "b,3,4,4", "3,2,3,3" }, "strides=2,2 pads=1,1,1,1", "(batch, 2, 7, 7)", NULL },
    { "MaxPool", 17, { "b,4,29,22" }, "kernel_shape=3,3 strides=2,2", "(batch, 4, 14, 10)", NULL },
    { "MaxPool", 17, { "b,4,4,4" }, "kernel_shape=5,5 strides=2,2", NULL, "a window of 5 does not fit 4" },
    { "AveragePool", 17, { "1,1,5,5" }, "kernel_shape=2,2 strides=2,2 ceil_mode=1", "(1, 1, ?, ?)", NULL },
    { "GlobalAveragePool", 17, { "b,7,?,9" }, NULL, "(batch, 7, 1, 1)", NULL },
    { "BatchNormalization", 17, { "b,5,9,7", "5", "5", "5" }, NULL, "(batch, 5, 9, 7)", NULL },
    { "BatchNormalization", 17, { "b,5,9,7", "6", "5", "5" }, NULL, NULL, "input 1 has 6 elements for 5 channels" },
    { "LayerNormalization", 17, { "b,5,6", "6", "6" }, NULL, "(batch, 5, 6)", NULL },
    { "LayerNormalization", 17, { "b,5,6", "5" }, NULL, NULL, "input 1 of shape (5) does not broadcast" },
    { "Softmax", 17, { "b,5" }, "axis=2", NULL, "axis 2 is outside a shape of rank 2" },
    { "Flatten", 17, { "b,20,8,8" }, NULL, "(batch, 1280)", NULL },
    { "Flatten", 17, { "2,3,4" }, "axis=-1", "(6, 4)", NULL },
    { "Flatten", 17, { "b,3,?,?" }, NULL, "(batch, ?)", NULL },
    { "Reshape", 17, { "b,20,8,8", "=0,-1" }, NULL, "(batch, 1280)", NULL },
    { "Reshape", 17, { "b,6", "=-1,2,3" }, NULL, "(?, 2, 3)", NULL },
    { "Reshape", 17, { "4,6", "=-1,5" }, NULL, NULL, "24 elements cannot be divided into rows of 5" },
    { "Reshape", 17, { "4,6", "=5,5" }, NULL, NULL, "24 elements do not fit a shape for 25" },
    { "Reshape", 17, { "4,6", "=-1,-1" }, NULL, NULL, "at most one -1" },
    { "Reshape", 17, { "4", "=2,0" }, NULL, NULL, "the input has rank 1" },
    { "Reshape", 17, { "0,6", "=0,3" }, "allowzero=1", "(0, 3)", NULL },
    { "Transpose", 17, { "b,3,4,5" }, "perm=0,2,3,1", "(batch, 4, 5, 3)", NULL },
    { "Transpose", 17, { "2,3" }, NULL, "(3, 2)", NULL },
    { "Transpose", 17, { "2,3" }, "perm=0,0", NULL, "perm is not an order of 2 axes" },
    { "Concat", 17, { "b,3,4", "b,5,4" }, "axis=1", "(batch, 8, 4)", NULL },
    { "Concat", 17, { "b,3,4", "b,5,5" }, "axis=1", NULL, "cannot be joined" },
    { "ReduceMean", 17, { "b,3,4,5" }, "axes=2,3", "(batch, 3, 1, 1)", NULL },
    { "ReduceMean", 18, { "b,3,4,5", "=2,3" }, "keepdims=0", "(batch, 3)", NULL },
    { "ReduceMean", 18, { "b,3" }, NULL, "(1, 1)", NULL },
    { "ReduceMean", 18, { "b,3", "=2" }, NULL, NULL, "axis 2 is outside" },
    { "Resize", 17, { "b,3,4,5", "-", "-", "=1,3,8,10" }, NULL, "(1, 3, 8, 10)", NULL },
    { "Resize", 17, { "b,3,4,5", "-", "=1,1,2,3" }, NULL, "(batch, 3, 8, 15)", NULL },
    { "Resize", 17, { "b,3,4,5", "-", "=1,1,2" }, NULL, NULL, "3 scales for 4 axes" },
    { "Resize", 17, { "b,3,10,11", "-", "~1,1,0.5,0.5" }, NULL, "(batch, 3, 5, 5)", NULL },
    { "Resize", 17, { "b,3,10,10", "-", "~1,1,0.7,0.6" }, NULL, "(batch, 3, ?, 6)", NULL }, // 6.99999988, 7 as float32
    { "Resize", 17, { "b,3,4,5" }, NULL, NULL, "neither sizes nor scales" },
    { "Resize", 17, { "b,3,4,5", "-", "-", "=1,3,8,0" }, NULL, NULL, "size number 3 is 0, not above 0" },
    { "Resize", 18, { "b,3,4,5", "-", "-", "=8,10" }, "axes=2,-1", "(batch, 3, 8, 10)", NULL },
    { "Resize", 18, { "b,3,4,5", "-", "=3,2" }, "axes=3,2", "(batch, 3, 8, 15)", NULL },
    { "Resize", 18, { "b,3,4,5", "-", "=3,2,1" }, "axes=3,2", NULL, "3 scales for 2 axes" },
    { "Resize", 18, { "b,3,4,5", "-", "-", "i" }, "axes=2,3", "(batch, 3, ?, ?)", NULL },
    { "Squeeze", 17, { "b,1,4,1", "=1,3" }, NULL, "(batch, 4)", NULL },
    { "Squeeze", 17, { "b,2", "=1" }, NULL, NULL, "axis 1 has length 2, not 1" },
    { "Unsqueeze", 17, { "b,4", "=1,3" }, NULL, "(batch, 1, 4, 1)", NULL },
    { "Unsqueeze", 17, { "b,4", "=3,-3" }, NULL, "(batch, 1, 4, 1)", NULL },
    { "Unsqueeze", 17, { "b,4", "=1,-3" }, NULL, NULL, "axis 1 is named twice" },
    { "Expand", 17, { "3,1", "=2,1,4" }, NULL, "(2, 3, 4)", NULL },
    { "Gather", 17, { "7,5", "b,2" }, NULL, "(batch, 2, 5)", NULL },
    { "Pad", 17, { "b,5", "=0,1,0,2" }, NULL, "(batch, 8)", NULL },
    { "Pad", 17, { "b,5", "=0,1,0" }, NULL, NULL, "3 pads for 2 axes" },
    { "Pad", 17, { "b,5", "=0,-3,0,-3" }, NULL, NULL, "axis 1 of length 5 is cut to less than nothing" },
    { "Pad", 18, { "b,3,4,5", "=1,2,3,4", "-", "=-1,2" }, NULL, "(batch, 3, 10, 9)", NULL },
    { "Pad", 18, { "b,3,4,5", "=1,2", "-", "=-1,2" }, NULL, NULL, "2 pads for 2 axes" },
    { "Pad", 18, { "b,3,4,5", "=1,2", "-", "=4" }, NULL, NULL, "axis 4 is outside a shape of rank 4" },
    { "Split", 17, { "10,3", "=3,3" }, NULL, NULL, "the parts are 6 long together, the axis 10" },
    { "Split", 17, { "10,3", "=-1,11" }, NULL, NULL, "part 0 has the length -1" },
    { "ConvTranspose", 17, { "b,3,4,4", "3,2,3,3" }, "pads=9,9,9,9", NULL, "leave nothing of axis 2" },
    { "AveragePool", 17, { "1,1,2000000" }, "kernel_shape=1323000", "(1, 1, 677001)", NULL },
    { "Resize", 17, { "b,3,4,5", "-", "b", "=1,3,8,10" }, NULL, "(1, 3, 8, 10)", NULL },
    { "DepthToSpace", 17, { "b,8,2,3" }, "blocksize=2", "(batch, 2, 4, 6)", NULL },
    { "SpaceToDepth", 17, { "b,2,4,5" }, "blocksize=2", NULL, "5 cannot be divided into blocks of 2" },
    { "ArgMax", 17, { "b,5,6" }, "axis=1 keepdims=0", "(batch, 6)", NULL },
    { "Shape", 17, { "b,5,6" }, NULL, "(3)", NULL },
    { "PRelu", 17, { "b,3,4,4", "3,1,1" }, NULL, "(batch, 3, 4, 4)", NULL },
    { "Dropout", 17, { "b,5" }, NULL, "(batch, 5)", NULL },
    { "Cast", 17, { "b,5" }, "to=11", "(batch, 5)", NULL },
    { "Cast", 17, { "b,5" }, "to=99", NULL, "unknown element type 99" },
  };
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    run_shape_case(&tests[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_valid_graph_is_valid),
    cmocka_unit_test(sparse_initializers_are_values),
    cmocka_unit_test(sparse_arrays_must_fit_themselves),
    cmocka_unit_test(every_rule_finds_its_breach),
    cmocka_unit_test(functions_are_operators),
    cmocka_unit_test(other_domains_are_noted),
    cmocka_unit_test(other_domains_are_noted_in_the_order_of_the_model),
    cmocka_unit_test(segments_of_tensors_are_left_alone),
    cmocka_unit_test(findings_are_bounded),
    cmocka_unit_test(all_findings_are_named),
    cmocka_unit_test(golden_files_are_valid_but_for_the_wrong_ones),
    cmocka_unit_test(releases_are_known),
    cmocka_unit_test(operators_are_found_at_their_opset),
    cmocka_unit_test(shapes_are_inferred),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
