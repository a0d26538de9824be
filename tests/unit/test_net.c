// Unit tests of net and profiles: building by hand, names, lowering.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "net/input_size.h"
#include "net/naming.h"
#include "net/network.h"
#include "onnx/graph.h"

static const int64_t batch_by_4[] = { OXP_DIM_BATCH, 4 };
static const float weights[64] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

static oxp_network *new_network(void)
{
  oxp_network *network = NULL;
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &network, NULL), OXP_OK);
  return network;
}

// A linear layer with weights; `bias` false: none.
static oxp_value add_linear(oxp_network *network, const char *name, oxp_value x, int64_t in, int64_t out, bool bias)
{
  x = oxp_network_add_layer(network, "linear", name, 1, &x);
  oxp_layer_set_int(network, x, "in_features", in);
  oxp_layer_set_int(network, x, "out_features", out);
  oxp_layer_set_int(network, x, "bias", bias);
  oxp_tensor weight = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ in, out }, weights);
  oxp_tensor vector = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ out }, weights);
  oxp_layer_set_weight(network, x, "weight", &weight);
  if (bias)
    oxp_layer_set_weight(network, x, "bias", &vector);
  return x;
}

static oxp_value add(oxp_network *network, const char *kind, const char *name, oxp_value x)
{
  return oxp_network_add_layer(network, kind, name, 1, &x);
}

static void assert_finish_fails(oxp_network *network, oxp_status status, const char *words)
{
  oxp_error error = { 0 };
  assert_int_equal(oxp_network_finish(network, &error), status);
  if (!strstr(error.message, words))
    fail_msg("\"%s\" lacks \"%s\"", error.message, words);
  oxp_network_free(network);
}

static oxp_graph *lower(oxp_network *network, const oxp_lower_options *options)
{
  oxp_error error = { 0 };
  oxp_graph *graph = NULL;
  if (oxp_network_finish(network, &error) != OXP_OK || oxp_graph_lower(network, options, &graph, &error) != OXP_OK)
    fail_msg("%s", error.message);
  return graph;
}

static const oxp__node *node(const oxp_graph *graph, size_t index)
{
  assert_true(index < graph->model.graph->nodes.count);
  return graph->model.graph->nodes.at[index];
}

// ---- The builder ----

static void first_mistake_is_reported_and_nothing_follows(void **state)
{
  (void)state;
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, "input", 2, batch_by_4);
  x = add(network, "no_such_kind", NULL, x);
  assert_true(x < 0);
  x = add(network, "relu", NULL, x);
  oxp_layer_set_int(network, x, "whatever", 3);
  oxp_network_add_output(network, x, NULL);
  assert_finish_fails(network, OXP_BAD_ARGUMENT, "there is no layer kind \"no_such_kind\"");
}

static void mistakes_name_the_layer_and_the_values(void **state)
{
  (void)state;
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 2, batch_by_4);
  x = add_linear(network, "fc1", x, 4, 3, false);
  oxp_layer_set_int(network, x, "no_such_parameter", 1);
  assert_finish_fails(network, OXP_BAD_ARGUMENT, "layer 0 \"fc1\" (linear) has no parameter \"no_such_parameter\"");

  network = new_network();
  x = oxp_network_add_input(network, NULL, 2, batch_by_4);
  x = add_linear(network, "fc1", x, 4, 3, true);
  oxp_tensor wrong = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ 3, 4 }, weights);
  oxp_layer_set_weight(network, x, "weight", &wrong);
  oxp_network_add_output(network, x, NULL);
  assert_finish_fails(network, OXP_BAD_NETWORK,
                      "layer 0 \"fc1\" (linear): weight \"weight\" has shape (3, 4), the parameters ask for (4, 3)");

  network = new_network();
  x = oxp_network_add_input(network, NULL, 2, batch_by_4);
  x = add_linear(network, "fc1", x, 5, 3, true);
  oxp_network_add_output(network, x, NULL);
  assert_finish_fails(network, OXP_BAD_NETWORK, "layer 0 \"fc1\" (linear)");

  network = new_network();
  x = oxp_network_add_input(network, NULL, 2, batch_by_4);
  x = add(network, "linear", "fc1", x);
  oxp_layer_set_int(network, x, "in_features", 4);
  oxp_network_add_output(network, x, NULL);
  assert_finish_fails(network, OXP_BAD_ARGUMENT, "parameter \"out_features\" has no default");
}

// A network as a reader makes it: parameters set past the builder functions, here all of a kind's but number `without`.
static oxp_network *read_without(const oxp__kind *kind, int without)
{
  oxp_network *network = new_network();
  network->format = "a format";
  oxp_value x = oxp_network_add_input(network, NULL, 4, (int64_t[]){ OXP_DIM_BATCH, 1, 8, 8 });
  oxp_value inputs[] = { x, x };
  x = oxp__network_add(network, kind, NULL, kind->name, NULL, kind->min_inputs, inputs);
  for (int i = 0; i < kind->param_count; i++)
    if (kind->params[i].required && i != without)
      assert_int_equal(oxp__param_set_ints(&kind->params[i], network->layers[0]->params, 1, (int64_t[]){ 1 }, NULL),
                       OXP_OK);
  oxp_network_add_output(network, x, NULL);
  return network;
}

static void readers_must_set_what_has_no_default(void **state)
{
  (void)state;
  int seen = 0;
  for (size_t k = 0; k < oxp__kind_count; k++)
    for (int i = 0; i < oxp__kinds[k]->param_count; i++) {
      if (!oxp__kinds[k]->params[i].required)
        continue;
      char words[128];
      snprintf(words, sizeof words, "layer 0 \"%s_0\" (%s): parameter \"%s\" has no default and was not set",
               oxp__kinds[k]->name, oxp__kinds[k]->name, oxp__kinds[k]->params[i].name);
      oxp_network *network = read_without(oxp__kinds[k], i);
      oxp_error error = { 0 };
      assert_int_equal(oxp__input_size_settle(network, 0, NULL, &error),
                       OXP_BAD_FILE); // asks for shapes before the end
      assert_non_null(strstr(error.message, words));
      assert_finish_fails(network, OXP_BAD_FILE, words);
      seen++;
    }
  assert_true(seen >= 15);
}

static void parameters_out_of_range_are_found_at_the_end(void **state)
{
  (void)state;
  const oxp__kind *pool = oxp__kind_by_name("max_pool2d");
  oxp_network *network = read_without(pool, -1);
  const oxp__param *strides = oxp__param_find(pool, NULL, "strides");
  *(int64_t *)((char *)network->layers[0]->params + strides->offset) = 0; // a reader that fills the struct itself
  assert_finish_fails(network, OXP_BAD_FILE, "strides is 0; allowed is 1 to 2147483647");
}

static void weights_must_be_what_the_parameters_say(void **state)
{
  (void)state;
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 2, batch_by_4);
  x = add_linear(network, NULL, x, 4, 3, true);
  oxp_layer_set_int(network, x, "bias", 0);
  oxp_network_add_output(network, x, NULL);
  assert_finish_fails(network, OXP_BAD_NETWORK, "there is no \"bias\"");

  network = new_network();
  x = oxp_network_add_input(network, NULL, 2, batch_by_4);
  x = add_linear(network, NULL, x, 4, 3, false);
  oxp_layer_set_int(network, x, "bias", 1);
  oxp_network_add_output(network, x, NULL);
  assert_finish_fails(network, OXP_BAD_NETWORK, "weight \"bias\" is missing");

  network = new_network();
  x = oxp_network_add_input(network, NULL, 2, batch_by_4);
  x = add_linear(network, NULL, x, 4, 3, false);
  oxp_tensor integers = oxp_tensor_from_memory(OXP_INT32, 2, (int64_t[]){ 4, 3 }, weights);
  oxp_layer_set_weight(network, x, "weight", &integers);
  assert_finish_fails(network, OXP_BAD_ARGUMENT, "int32");
}

static void training_and_empty_networks_are_refused(void **state)
{
  (void)state;
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 2, batch_by_4);
  oxp_network_add_output(network, x, NULL);
  oxp_network_set_training(network, true);
  assert_finish_fails(network, OXP_UNSUPPORTED, "training mode");
  assert_finish_fails(new_network(), OXP_BAD_NETWORK, "0 inputs and 0 outputs");
  oxp_error error = { 0 };
  oxp_network *none = NULL;
  assert_int_equal(oxp_network_new(OXP_INT8, &none, &error), OXP_BAD_ARGUMENT);
}

static void finished_networks_do_not_change(void **state)
{
  (void)state;
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 2, batch_by_4);
  oxp_network_add_output(network, x, NULL);
  assert_int_equal(oxp_network_finish(network, NULL), OXP_OK);
  assert_true(add(network, "relu", NULL, x) < 0);
  assert_int_equal(oxp_network_layer_count(network), 0);
  oxp_network_free(network);
}

static void names_must_be_text(void **state)
{
  (void)state;
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 2, batch_by_4);
  add(network, "relu", "bad \xFF", x);
  assert_finish_fails(network, OXP_BAD_ARGUMENT, "UTF-8");
  network = new_network();
  oxp_network_add_input(network, "a", 2, batch_by_4);
  oxp_network_add_input(network, "a", 2, batch_by_4);
  assert_finish_fails(network, OXP_BAD_ARGUMENT, "two inputs are called \"a\"");
}

// ---- Names ----

static void names_are_made_unique_in_order(void **state)
{
  (void)state;
  oxp__arena arena = { 0 };
  oxp__naming naming = { .texts = &arena, .names = { .arena = &arena } };
  assert_string_equal(oxp__naming_claim(&naming, "conv1"), "conv1");
  assert_string_equal(oxp__naming_claim(&naming, "conv1_2"), "conv1_2");
  assert_string_equal(oxp__naming_claim(&naming, "conv1"), "conv1_1");
  assert_string_equal(oxp__naming_claim(&naming, "conv1"), "conv1_3"); // conv1_2 was taken
  assert_string_equal(oxp__naming_claimf(&naming, "conv%d", 1), "conv1_4");
  for (int i = 0; i < 5000; i++)
    assert_non_null(oxp__naming_claim(&naming, "again"));
  assert_false(oxp__naming_is_free(&naming, "again_4999"));
  assert_true(oxp__naming_is_free(&naming, "again_5000"));
  oxp__arena_fini(&arena);
}

static void equal_layer_names_give_unique_nodes_and_values(void **state)
{
  (void)state;
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, "conv1", 2, batch_by_4);
  x = add_linear(network, "conv1", x, 4, 4, true);
  x = add_linear(network, "conv1", x, 4, 4, true);
  x = add(network, "relu", "", x);
  x = add(network, "relu", "conv1_2", x);
  oxp_network_add_output(network, x, NULL);
  oxp_graph *graph = lower(network, NULL);
  const char *const names[] = { "conv1_1", "conv1_2", "relu_2", "conv1_2_1" };
  const char *const outputs[] = { "conv1_1", "conv1_2", "relu_2", "output" };
  for (size_t i = 0; i < 4; i++) {
    assert_string_equal(node(graph, i)->name, names[i]);
    assert_string_equal(node(graph, i)->outputs.at[0], outputs[i]);
  }
  assert_string_equal(node(graph, 1)->inputs.at[1], "conv1_1.weight"); // one array, stored once
  oxp_graph_free(graph);
  oxp_network_free(network);
}

// ---- Lowering ----

static void pass_through_layers_leave_no_node_in_the_default_profile(void **state)
{
  (void)state;
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 2, batch_by_4);
  x = add(network, "relu", NULL, x);
  x = add(network, "dropout", NULL, x);
  oxp_network_add_output(network, x, "result");
  oxp_graph *graph = lower(network, NULL);
  assert_int_equal(oxp_graph_node_count(graph), 1);
  assert_string_equal(node(graph, 0)->outputs.at[0], "result");
  oxp_graph_free(graph);
  graph = lower(network, &(oxp_lower_options){ .profile = "netcl" });
  assert_int_equal(oxp_graph_node_count(graph), 3); // Relu, Identity for the dropout, Identity into the output
  assert_string_equal(node(graph, 2)->op_type, "Identity");
  oxp_graph_free(graph);
  oxp_network_free(network);
}

static void outputs_that_are_inputs_or_shared_get_an_identity(void **state)
{
  (void)state;
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 2, batch_by_4);
  oxp_value y = add(network, "relu", NULL, x);
  oxp_network_add_output(network, x, NULL);
  oxp_network_add_output(network, y, "a");
  oxp_network_add_output(network, y, "b");
  oxp_graph *graph = lower(network, NULL);
  assert_int_equal(oxp_graph_output_count(graph), 3);
  assert_int_equal(oxp_graph_node_count(graph), 3);
  assert_string_equal(node(graph, 0)->outputs.at[0], "a");
  assert_string_equal(node(graph, 1)->inputs.at[0], "input");
  assert_string_equal(node(graph, 1)->outputs.at[0], "output");
  assert_string_equal(node(graph, 2)->inputs.at[0], "a");
  assert_string_equal(node(graph, 2)->outputs.at[0], "b");
  oxp_graph_free(graph);
  oxp_network_free(network);
}

static void fixed_batch_stands_in_every_declared_shape(void **state)
{
  (void)state;
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 2, batch_by_4);
  oxp_network_add_output(network, add_linear(network, NULL, x, 4, 3, true), NULL);
  oxp_graph *graph = lower(network, &(oxp_lower_options){ .batch = 5 });
  oxp_value_info info;
  assert_true(oxp_graph_input_info(graph, 0, &info));
  assert_int_equal(info.shape[0], 5);
  assert_true(oxp_graph_output_info(graph, 0, &info));
  assert_int_equal(info.shape[0], 5);
  assert_int_equal(info.shape[1], 3);
  oxp_graph_free(graph);
  oxp_network_free(network);
}

static void assert_lower_fails(oxp_network *network, const oxp_lower_options *options, oxp_status status,
                               const char *words)
{
  oxp_error error = { 0 };
  oxp_graph *graph = NULL;
  assert_int_equal(oxp_network_finish(network, &error), OXP_OK);
  assert_int_equal(oxp_graph_lower(network, options, &graph, &error), status);
  assert_null(graph);
  if (!strstr(error.message, words))
    fail_msg("\"%s\" lacks \"%s\"", error.message, words);
}

static void options_out_of_range_are_refused(void **state)
{
  (void)state;
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 2, (int64_t[]){ 2, 4 });
  oxp_network_add_output(network, add(network, "relu", NULL, x), NULL);
  assert_lower_fails(network, &(oxp_lower_options){ .profile = "none" }, OXP_BAD_ARGUMENT, "there are netcl, onnx");
  assert_lower_fails(network, &(oxp_lower_options){ .opset = 12 }, OXP_BAD_ARGUMENT, "opset 12");
  assert_lower_fails(network, &(oxp_lower_options){ .opset = 27 }, OXP_BAD_ARGUMENT, "13 to 26");
  assert_lower_fails(network, &(oxp_lower_options){ .ir_version = 2 }, OXP_BAD_ARGUMENT, "IR version 2");
  assert_lower_fails(network, &(oxp_lower_options){ .batch = 3 }, OXP_BAD_ARGUMENT, "fixed batch of 2");
  assert_lower_fails(network, &(oxp_lower_options){ .dtype = OXP_FLOAT16 }, OXP_BAD_ARGUMENT, "float16");
  assert_lower_fails(network, &(oxp_lower_options){ .dtype = OXP_FLOAT64, .profile = "netcl" }, OXP_UNSUPPORTED,
                     "float64");
  oxp_lower_options same = { .input_name = "same", .output_name = "same" };
  assert_lower_fails(network, &same, OXP_BAD_ARGUMENT, "\"same\"");
  oxp_network_free(network);
}

static void all_offending_layers_are_named_at_once(void **state)
{
  (void)state;
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 3, (int64_t[]){ OXP_DIM_BATCH, 2, 4 });
  x = add_linear(network, "first", x, 4, 4, true);
  x = add(network, "gelu", "second", x);
  oxp_network_add_output(network, add(network, "relu", "fine", x), NULL);
  oxp_lower_options options = { .profile = "netcl" };
  assert_lower_fails(network, &options, OXP_UNSUPPORTED, "layer 0 \"first\" (linear): netcl writes Gemm");
  assert_lower_fails(network, &options, OXP_UNSUPPORTED, "layer 1 \"second\" (gelu): netcl's exporter does not know");
  oxp_error error = { 0 };
  oxp_graph *graph = NULL;
  oxp_graph_lower(network, &options, &graph, &error);
  assert_null(strstr(error.message, "fine"));
  oxp_network_free(network);
}

// Names that the netcl profile hands out itself stay unique when the user takes one of them for the input.
static void names_of_the_user_win_over_inner_names(void **state)
{
  (void)state;
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 2, batch_by_4);
  oxp_network_add_output(network, add_linear(network, NULL, x, 4, 3, true), NULL);
  oxp_lower_options options = { .profile = "netcl", .input_name = "W_2", .output_name = "t_1" };
  oxp_graph *graph = lower(network, &options);
  assert_string_equal(node(graph, 0)->inputs.at[0], "W_2");
  assert_string_equal(node(graph, 0)->inputs.at[1], "W_2_1");
  assert_string_equal(node(graph, 0)->outputs.at[0], "t_1_1");
  assert_string_equal(node(graph, 1)->outputs.at[0], "t_1");
  oxp_graph_free(graph);
  oxp_network_free(network);
}

// ---- Weights ----

typedef struct counted_source {
  int calls;
  uint64_t end;
} counted_source;

static oxp_status read_counted(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  (void)error;
  counted_source *source = context;
  source->calls++;
  source->end = offset + count;
  memset(buffer, 0, count);
  return OXP_OK;
}

static oxp_status count_bytes(void *context, const void *bytes, size_t count, oxp_error *error)
{
  (void)bytes;
  (void)error;
  *(uint64_t *)context += count;
  return OXP_OK;
}

static void weights_behind_a_function_are_read_only_while_writing(void **state)
{
  (void)state;
  counted_source source = { 0 };
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 2, (int64_t[]){ OXP_DIM_BATCH, 300 });
  x = add(network, "linear", NULL, x);
  oxp_layer_set_int(network, x, "in_features", 300);
  oxp_layer_set_int(network, x, "out_features", 400);
  oxp_layer_set_int(network, x, "bias", 0);
  const int64_t shape[] = { 300, 400 };
  oxp_tensor weight = oxp_tensor_from_function(OXP_FLOAT32, 2, shape, read_counted, &source);
  oxp_layer_set_weight(network, x, "weight", &weight);
  oxp_network_add_output(network, x, NULL);
  oxp_graph *graph = lower(network, NULL);
  assert_int_equal(source.calls, 0);
  uint64_t bytes = 0;
  assert_int_equal(oxp_graph_write_to(graph, count_bytes, &bytes, NULL), OXP_OK);
  assert_int_equal(source.end, 300 * 400 * 4);
  assert_true(source.calls > 1); // in pieces
  assert_true(bytes > 300 * 400 * 4);
  oxp_graph_free(graph);
  oxp_network_free(network);
}

static oxp_status read_failing(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  (void)context;
  memset(buffer, 0, count);
  return offset < 65536 ? OXP_OK : oxp__fail(error, OXP_NOT_AVAILABLE, "the device went away");
}

static void a_failing_read_function_ends_the_export(void **state)
{
  (void)state;
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 2, (int64_t[]){ OXP_DIM_BATCH, 300 });
  x = add(network, "linear", NULL, x);
  oxp_layer_set_int(network, x, "in_features", 300);
  oxp_layer_set_int(network, x, "out_features", 400);
  oxp_layer_set_int(network, x, "bias", 0);
  oxp_tensor weight = oxp_tensor_from_function(OXP_FLOAT32, 2, (int64_t[]){ 300, 400 }, read_failing, NULL);
  oxp_layer_set_weight(network, x, "weight", &weight);
  oxp_network_add_output(network, x, NULL);
  oxp_graph *graph = lower(network, NULL);
  oxp_error error = { 0 };
  assert_int_equal(oxp_graph_write(graph, "never.onnx", NULL, NULL, &error), OXP_NOT_AVAILABLE);
  assert_non_null(strstr(error.message, "the device went away"));
  FILE *file = fopen("never.onnx", "rb");
  assert_null(file);
  oxp_graph_free(graph);
  oxp_network_free(network);
}

// A linear layer whose weight is the array `weights` seen as rows x columns, or the other way round.
static oxp_value add_tied(oxp_network *network, oxp_value x, int64_t in, int64_t out, bool flipped)
{
  x = oxp_network_add_layer(network, "linear", NULL, 1, &x);
  oxp_layer_set_int(network, x, "in_features", in);
  oxp_layer_set_int(network, x, "out_features", out);
  oxp_layer_set_int(network, x, "bias", 0);
  const int64_t shape[] = { flipped ? out : in, flipped ? in : out };
  oxp_tensor weight = oxp_tensor_from_memory(OXP_FLOAT32, 2, shape, weights);
  if (flipped)
    weight = oxp__tensor_permute(&weight, (const int[]){ 1, 0 });
  oxp_layer_set_weight(network, x, "weight", &weight);
  return x;
}

static int64_t attribute(const oxp__node *of, const char *name)
{
  for (size_t i = 0; i < of->attributes.count; i++)
    if (strcmp(of->attributes.at[i]->name, name) == 0)
      return of->attributes.at[i]->i;
  fail_msg("there is no attribute %s", name);
  return -1;
}

static void a_weight_array_of_several_layers_is_stored_once(void **state)
{
  (void)state;
  oxp_network *network = new_network();
  oxp_value x = oxp_network_add_input(network, NULL, 2, batch_by_4);
  x = add_tied(network, x, 4, 8, false);
  x = add_tied(network, x, 8, 4, true); // the same array, transposed
  x = add_tied(network, x, 4, 8, false);
  oxp_network_add_output(network, x, NULL);
  oxp_graph *graph = lower(network, NULL);
  assert_int_equal(graph->model.graph->initializers.count, 1);
  for (size_t i = 0; i < 3; i++) {
    assert_string_equal(node(graph, i)->inputs.at[1], "linear_0.weight");
    assert_int_equal(attribute(node(graph, i), "transB"), i == 1);
  }
  oxp_graph_free(graph);
  graph = lower(network, &(oxp_lower_options){ .profile = "netcl" }); // as netcl does: one copy each
  assert_int_equal(graph->model.graph->initializers.count, 3);
  oxp_graph_free(graph);
  oxp_network_free(network);
}

// What no output needs is said: it may be a mistake.
static void what_no_output_needs_is_said(void **state)
{
  (void)state;
  oxp_network *network = NULL;
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &network, NULL), OXP_OK);
  oxp_value x = oxp_network_add_input(network, "used", 2, (int64_t[]){ OXP_DIM_BATCH, 2 });
  oxp_value y = oxp_network_add_input(network, "unused", 2, (int64_t[]){ OXP_DIM_BATCH, 2 });
  oxp_value z = oxp_network_add_layer(network, "relu", "kept", 1, &x);
  oxp_value dead = oxp_network_add_layer(network, "tanh", "dead", 1, &z);
  oxp_network_add_layer(network, "add", "deader", 2, (oxp_value[]){ dead, y });
  oxp_network_add_output(network, z, NULL);
  assert_int_equal(oxp_network_finish(network, NULL), OXP_OK);
  assert_int_equal(oxp_network_warning_count(network), 3);
  assert_string_equal(oxp_network_warning(network, 0), "No output needs the input \"unused\".");
  assert_string_equal(oxp_network_warning(network, 1), "No output needs layer 1 \"dead\" (tanh).");
  assert_string_equal(oxp_network_warning(network, 2), "No output needs layer 2 \"deader\" (add).");
  oxp_network_free(network);
}

// float64 weights in a float32 network: every layer with one that is out of range is named, with the first value and its place.
static void weights_that_would_be_infinite_are_refused(void **state)
{
  (void)state;
  static const double values[2][4] = { { 1, 2, -1e39, 3.5e38 }, { 3.4028234663852886e38, 0, INFINITY, NAN } };
  oxp_error error = { 0 };
  oxp_graph *graph = NULL;
  oxp_session *session = NULL;
  oxp_network *network = NULL;
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &network, NULL), OXP_OK);
  oxp_value x = oxp_network_add_input(network, NULL, 2, (int64_t[]){ OXP_DIM_BATCH, 2 });
  for (int i = 0; i < 2; i++) {
    oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT64, 2, (int64_t[]){ 2, 2 }, values[i]);
    x = oxp_network_add_layer(network, "linear", NULL, 1, &x);
    oxp_layer_set_int(network, x, "in_features", 2);
    oxp_layer_set_int(network, x, "out_features", 2);
    oxp_layer_set_int(network, x, "bias", 0);
    oxp_layer_set_weight(network, x, "weight", &tensor);
  }
  oxp_network_add_output(network, x, NULL);
  assert_int_equal(oxp_network_finish(network, NULL), OXP_OK);
  for (int i = 0; i < 3; i++) {
    oxp_status status = i == 0   ? oxp_graph_lower(network, NULL, &graph, &error)
                        : i == 1 ? oxp_session_open(network, "reference", NULL, &session, &error)
                                 : oxp_network_write(network, "out.netcl", "netcl", &error);
    assert_int_equal(status, OXP_UNSUPPORTED);
    assert_non_null(
        strstr(error.message, "layer 0 \"linear_0\" (linear): \"weight\" holds 2 of them, the first -1e+39 at (1, 0)"));
    assert_null(strstr(error.message, "layer 1")); // the largest float32, and what was not finite before
  }
  assert_int_equal(oxp_graph_lower(network, &(oxp_lower_options){ .dtype = OXP_FLOAT64 }, &graph, NULL), OXP_OK);
  oxp_graph_free(graph);
  assert_int_equal(
      oxp_session_open(network, "reference", &(oxp_session_options){ .narrow_weights = true }, &session, NULL), OXP_OK);
  oxp_session_free(session);
  assert_int_equal(oxp_session_open(network, "reference:double", NULL, &session, NULL), OXP_OK);
  oxp_session_free(session);
  oxp_network_free(network);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_no_output_needs_is_said),
    cmocka_unit_test(weights_that_would_be_infinite_are_refused),
    cmocka_unit_test(first_mistake_is_reported_and_nothing_follows),
    cmocka_unit_test(mistakes_name_the_layer_and_the_values),
    cmocka_unit_test(readers_must_set_what_has_no_default),
    cmocka_unit_test(parameters_out_of_range_are_found_at_the_end),
    cmocka_unit_test(weights_must_be_what_the_parameters_say),
    cmocka_unit_test(training_and_empty_networks_are_refused),
    cmocka_unit_test(finished_networks_do_not_change),
    cmocka_unit_test(names_must_be_text),
    cmocka_unit_test(names_are_made_unique_in_order),
    cmocka_unit_test(equal_layer_names_give_unique_nodes_and_values),
    cmocka_unit_test(pass_through_layers_leave_no_node_in_the_default_profile),
    cmocka_unit_test(outputs_that_are_inputs_or_shared_get_an_identity),
    cmocka_unit_test(fixed_batch_stands_in_every_declared_shape),
    cmocka_unit_test(options_out_of_range_are_refused),
    cmocka_unit_test(all_offending_layers_are_named_at_once),
    cmocka_unit_test(names_of_the_user_win_over_inner_names),
    cmocka_unit_test(weights_behind_a_function_are_read_only_while_writing),
    cmocka_unit_test(a_failing_read_function_ends_the_export),
    cmocka_unit_test(a_weight_array_of_several_layers_is_stored_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
