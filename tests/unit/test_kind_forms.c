// test_kind_forms.c: in which form kinds are written: operators and attributes by opset, weights as stored or gathered,
// refusals where no exact form exists, warnings about lost digits.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/network.h"
#include "onnx/graph.h"

static float numbers[256];

static oxp_network *new_network(oxp_dtype dtype)
{
  oxp_network *network = NULL;
  assert_int_equal(oxp_network_new(dtype, &network, NULL), OXP_OK);
  return network;
}

static oxp_network *new_layer(const char *kind, int rank, const int64_t *shape, oxp_value *y)
{
  oxp_network *network = new_network(OXP_FLOAT32);
  oxp_value x = oxp_network_add_input(network, "input", rank, shape);
  *y = oxp_network_add_layer(network, kind, "it", 1, &x);
  oxp_network_add_output(network, *y, NULL);
  return network;
}

static void finish(oxp_network *network)
{
  oxp_error error = { 0 };
  if (oxp_network_finish(network, &error) != OXP_OK)
    fail_msg("%s", error.message);
}

static oxp_graph *lower_with(oxp_network *network, const oxp_lower_options *options)
{
  oxp_error error = { 0 };
  oxp_graph *graph = NULL;
  if (oxp_graph_lower(network, options, &graph, &error) != OXP_OK)
    fail_msg("%s", error.message);
  return graph;
}

static oxp_graph *lower(oxp_network *network, int opset)
{
  return lower_with(network, &(oxp_lower_options){ .opset = opset });
}

// The operators of a graph, joined with spaces.
static void assert_operators(const oxp_graph *graph, const char *expected)
{
  char found[512] = "";
  for (size_t i = 0; i < graph->model.graph->nodes.count; i++)
    snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", i > 0 ? " " : "",
             graph->model.graph->nodes.at[i]->op_type);
  assert_string_equal(found, expected);
}

static const oxp__attribute *attribute(const oxp_graph *graph, size_t node, const char *name)
{
  const oxp__node *at = graph->model.graph->nodes.at[node];
  for (size_t i = 0; i < at->attributes.count; i++)
    if (strcmp(at->attributes.at[i]->name, name) == 0)
      return at->attributes.at[i];
  fail_msg("%s has no attribute %s", at->op_type, name);
  return NULL;
}

static void assert_initializer(const oxp_graph *graph, size_t index, int rank, const int64_t *shape)
{
  assert_true(index < graph->model.graph->initializers.count);
  const oxp_tensor *tensor = &graph->model.graph->initializers.at[index]->tensor;
  assert_int_equal(tensor->rank, rank);
  for (int i = 0; i < rank; i++)
    assert_int_equal(tensor->shape[i], shape[i]);
}

static void done(oxp_network *network, oxp_graph *graph)
{
  oxp_graph_free(graph);
  oxp_network_free(network);
}

static void set_weight(oxp_network *network, oxp_value layer, const char *role, int rank, const int64_t *shape)
{
  oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT32, rank, shape, numbers);
  oxp_layer_set_weight(network, layer, role, &tensor);
}

// ---- Linear ----

static oxp_network *linear(int rank, const int64_t *shape, bool bias)
{
  oxp_value y;
  oxp_network *network = new_layer("linear", rank, shape, &y);
  oxp_layer_set_int(network, y, "in_features", 3);
  oxp_layer_set_int(network, y, "out_features", 5);
  oxp_layer_set_int(network, y, "bias", bias);
  set_weight(network, y, "weight", 2, (int64_t[]){ 3, 5 });
  if (bias)
    set_weight(network, y, "bias", 1, (int64_t[]){ 5 });
  finish(network);
  return network;
}

static void linear_is_gemm_on_rank_2_only(void **state)
{
  (void)state;
  const int64_t two[] = { OXP_DIM_BATCH, 3 }, three[] = { OXP_DIM_BATCH, 7, 3 };
  oxp_network *network = linear(2, two, true);
  oxp_graph *graph = lower(network, 17);
  assert_operators(graph, "Gemm");
  assert_int_equal(attribute(graph, 0, "transB")->i, 0);
  assert_int_equal(graph->model.graph->nodes.at[0]->attributes.count, 1);
  done(network, graph);
  network = linear(3, three, true);
  graph = lower(network, 17);
  assert_operators(graph, "MatMul Add");
  done(network, graph);
  network = linear(3, three, false);
  graph = lower(network, 17);
  assert_operators(graph, "MatMul");
  done(network, graph);
}

// A weight stored as (out, in) stays as it is where the operator can transpose, and is gathered where it cannot.
static void linear_of_torch_is_not_moved_for_gemm(void **state)
{
  (void)state;
  for (int rank = 2; rank <= 3; rank++) {
    const int64_t shape[2][3] = { { OXP_DIM_BATCH, 3 }, { OXP_DIM_BATCH, 7, 3 } };
    oxp_value y;
    oxp_network *network = new_layer("linear", rank, shape[rank - 2], &y);
    oxp_layer_set_int(network, y, "in_features", 3);
    oxp_layer_set_int(network, y, "out_features", 5);
    oxp_layer_set_int(network, y, "bias", 0);
    oxp_tensor stored = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ 5, 3 }, numbers);
    assert_int_equal(oxp__layer_bind(network, network->layers[0], 0, "torch", &stored, NULL), OXP_OK);
    finish(network);
    oxp_graph *graph = lower(network, 17);
    if (rank == 2)
      assert_int_equal(attribute(graph, 0, "transB")->i, 1);
    assert_initializer(graph, 0, 2, rank == 2 ? (int64_t[]){ 5, 3 } : (int64_t[]){ 3, 5 });
    done(network, graph);
  }
}

// ---- Normalization ----

static oxp_network *batch_norm(const float *mean, const float *variance, oxp_dtype dtype)
{
  static const float gamma[2] = { 1, 1 }, beta[2] = { 1, 1 };
  const char *const roles[] = { "gamma", "beta", "running_mean", "running_var" };
  const float *values[] = { gamma, beta, mean, variance };
  oxp_network *network = new_network(dtype);
  oxp_value x = oxp_network_add_input(network, "input", 4, (int64_t[]){ OXP_DIM_BATCH, 2, 4, 4 });
  x = oxp_network_add_layer(network, "batch_norm", "it", 1, &x);
  oxp_layer_set_int(network, x, "num_features", 2);
  for (int i = 0; i < 4; i++) {
    oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 2 }, values[i]);
    oxp_layer_set_weight(network, x, roles[i], &tensor);
  }
  oxp_network_add_output(network, x, NULL);
  finish(network);
  return network;
}

static void batch_norm_has_two_forms(void **state)
{
  (void)state;
  static const float mean[] = { 0.5f, -0.5f }, variance[] = { 1, 0.01f };
  oxp_network *network = batch_norm(mean, variance, OXP_FLOAT32);
  oxp_graph *graph = lower(network, 17);
  assert_operators(graph, "BatchNormalization");
  assert_initializer(graph, 3, 1, (int64_t[]){ 2 });
  assert_int_equal(oxp_graph_warning_count(graph), 0);
  oxp_graph_free(graph);
  graph = lower_with(network, &(oxp_lower_options){ .batchnorm = OXP_BATCHNORM_EXPANDED });
  assert_operators(graph, "Add Sqrt Sub Div Mul Add");
  for (size_t i = 0; i < 4; i++)
    assert_initializer(graph, i, 3, (int64_t[]){ 2, 1, 1 });
  done(network, graph);
}

static void batch_norm_warns_of_lost_digits(void **state)
{
  (void)state;
  static const float mean[] = { 0.5f, 1000 }, variance[] = { 1, 1e-6f };
  oxp_network *network = batch_norm(mean, variance, OXP_FLOAT32);
  oxp_graph *graph = lower(network, 17);
  assert_int_equal(oxp_graph_warning_count(graph), 1);
  const char *warning = oxp_graph_warning(graph, 0);
  assert_non_null(strstr(warning, "\"it\""));
  assert_non_null(strstr(warning, "channel 1 has mean 1000 and variance 1e-06"));
  oxp_graph_free(graph);
  graph = lower_with(network, &(oxp_lower_options){ .batchnorm = OXP_BATCHNORM_EXPANDED });
  assert_int_equal(oxp_graph_warning_count(graph), 0);
  done(network, graph);
}

static int warnings_of(const char *name, int64_t size)
{
  char path[1024];
  oxp_network *network = NULL;
  oxp_error error = { 0 };
  oxp_open_options options = { .input_rank = 3, .input_shape = { 3, size, size } };
  snprintf(path, sizeof path, OXP_TEST_DATA "/netcl/%s.netcl", name);
  if (oxp_network_open(path, size > 0 ? &options : NULL, &network, &error) != OXP_OK)
    fail_msg("%s", error.message);
  oxp_graph *graph = lower(network, 17);
  int count = oxp_graph_warning_count(graph);
  done(network, graph);
  return count;
}

// Statistics set by hand (mean 1000, variance 1e-6) in one layer of three; statistics from training.
static void trained_networks_do_not_warn(void **state)
{
  (void)state;
  assert_int_equal(warnings_of("d_bn", 0), 1);
  assert_int_equal(warnings_of("b_cnn", 32), 0);
  assert_int_equal(warnings_of("detector/h_det26", 256), 0);
}

static void float64_graphs_keep_digits_but_round_attributes(void **state)
{
  (void)state;
  static const float mean[] = { 0.5f, 1000 }, variance[] = { 1, 1e-6f };
  oxp_network *network = batch_norm(mean, variance, OXP_FLOAT64);
  oxp_graph *graph = lower(network, 17);
  assert_int_equal(oxp_graph_warning_count(graph), 1);
  assert_non_null(strstr(oxp_graph_warning(graph, 0), "epsilon 1e-05 is rounded"));
  done(network, graph);
}

static void layer_norm_is_taken_apart_before_opset_17(void **state)
{
  (void)state;
  oxp_value y;
  oxp_network *network = new_layer("layer_norm", 4, (int64_t[]){ OXP_DIM_BATCH, 2, 3, 5 }, &y);
  oxp_layer_set_ints(network, y, "normalized_shape", 2, (int64_t[]){ 3, 5 });
  set_weight(network, y, "gamma", 2, (int64_t[]){ 3, 5 });
  set_weight(network, y, "beta", 2, (int64_t[]){ 3, 5 });
  finish(network);
  oxp_graph *graph = lower(network, 17);
  assert_operators(graph, "LayerNormalization");
  assert_int_equal(attribute(graph, 0, "axis")->i, -2);
  oxp_graph_free(graph);
  graph = lower(network, 16);
  assert_operators(graph, "ReduceMean Sub Mul ReduceMean Add Sqrt Div Mul Add");
  oxp_graph_free(graph);
  // The operator computes in float32 even where float64 goes in.
  graph = lower_with(network, &(oxp_lower_options){ .opset = 17, .dtype = OXP_FLOAT64 });
  assert_operators(graph, "ReduceMean Sub Mul ReduceMean Add Sqrt Div Mul Add");
  done(network, graph);
}

static void gelu_is_taken_apart_before_opset_20(void **state)
{
  (void)state;
  oxp_value y;
  oxp_network *network = new_layer("gelu", 2, (int64_t[]){ OXP_DIM_BATCH, 3 }, &y);
  oxp_layer_set_text(network, y, "approximate", "tanh");
  finish(network);
  oxp_graph *graph = lower(network, 20);
  assert_operators(graph, "Gelu");
  assert_memory_equal(attribute(graph, 0, "approximate")->s.at, "tanh", 4);
  oxp_graph_free(graph);
  graph = lower(network, 19);
  assert_operators(graph, "Mul Mul Mul Add Mul Tanh Add Mul Mul");
  done(network, graph);
}

// ---- Windows ----

static void attributes_stand_in_alphabetical_order(void **state)
{
  (void)state;
  static const char *const names[] = { "dilations", "group", "kernel_shape", "pads", "strides" };
  oxp_value y;
  oxp_network *network = new_layer("conv2d", 4, (int64_t[]){ OXP_DIM_BATCH, 2, 8, 8 }, &y);
  oxp_layer_set_int(network, y, "in_channels", 2);
  oxp_layer_set_int(network, y, "out_channels", 3);
  oxp_layer_set_ints(network, y, "kernel_shape", 2, (int64_t[]){ 3, 2 });
  oxp_layer_set_ints(network, y, "pads", 4, (int64_t[]){ 0, 1, 2, 3 });
  oxp_layer_set_int(network, y, "bias", 0);
  set_weight(network, y, "weight", 4, (int64_t[]){ 3, 2, 3, 2 });
  finish(network);
  oxp_graph *graph = lower(network, 17);
  const oxp__node *node = graph->model.graph->nodes.at[0];
  assert_int_equal(node->attributes.count, OXP__COUNT(names));
  for (size_t i = 0; i < OXP__COUNT(names); i++)
    assert_string_equal(node->attributes.at[i]->name, names[i]);
  for (int64_t i = 0; i < 4; i++)
    assert_int_equal(attribute(graph, 0, "pads")->ints.at[i], i);
  done(network, graph);
}

static void refuse_finish(oxp_network *network, oxp_status status, const char *words)
{
  oxp_error error = { 0 };
  assert_int_equal(oxp_network_finish(network, &error), status);
  if (!strstr(error.message, words) || !strstr(error.message, "\"it\""))
    fail_msg("\"%s\" lacks \"%s\" or the layer", error.message, words);
  oxp_network_free(network);
}

static void windows_that_do_not_fit_are_refused(void **state)
{
  (void)state;
  oxp_value y;
  oxp_network *network = new_layer("max_pool2d", 4, (int64_t[]){ OXP_DIM_BATCH, 2, 4, 4 }, &y);
  oxp_layer_set_int(network, y, "kernel_shape", 5);
  oxp_layer_set_int(network, y, "strides", 2);
  refuse_finish(network, OXP_BAD_NETWORK, "the window covers 5 places");
  network = new_layer("max_pool2d", 4, (int64_t[]){ OXP_DIM_BATCH, 2, 4, 4 }, &y);
  oxp_layer_set_int(network, y, "kernel_shape", 2);
  refuse_finish(network, OXP_BAD_ARGUMENT, "strides");
  network = new_layer("max_pool2d", 4, (int64_t[]){ OXP_DIM_BATCH, 2, 4, 4 }, &y);
  oxp_layer_set_int(network, y, "kernel_shape", 2);
  oxp_layer_set_int(network, y, "strides", 2);
  oxp_layer_set_int(network, y, "pads", 2);
  refuse_finish(network, OXP_BAD_NETWORK, "pads hold 2");
  network = new_layer("conv2d", 4, (int64_t[]){ OXP_DIM_BATCH, 4, 4, 4 }, &y);
  oxp_layer_set_int(network, y, "in_channels", 4);
  oxp_layer_set_int(network, y, "out_channels", 6);
  oxp_layer_set_int(network, y, "kernel_shape", 1);
  oxp_layer_set_int(network, y, "group", 4);
  refuse_finish(network, OXP_BAD_NETWORK, "does not divide out_channels 6");
}

// ---- Upsample ----

static oxp_network *upsample(const int64_t *shape, const double *scales, const int64_t *sizes)
{
  oxp_value y;
  oxp_network *network = new_layer("upsample", 4, shape, &y);
  if (scales)
    oxp_layer_set_floats(network, y, "scales", 2, scales);
  if (sizes)
    oxp_layer_set_ints(network, y, "sizes", 2, sizes);
  finish(network);
  return network;
}

static const oxp_tensor *last_initializer(const oxp_graph *graph)
{
  return &graph->model.graph->initializers.at[graph->model.graph->initializers.count - 1]->tensor;
}

static void upsample_by_whole_factors_needs_no_sizes(void **state)
{
  (void)state;
  const int64_t open[] = { OXP_DIM_BATCH, 3, OXP_DIM_HEIGHT, OXP_DIM_WIDTH };
  oxp_network *network = upsample(open, (double[]){ 2, 3 }, NULL);
  oxp_graph *graph = lower(network, 13);
  float scales[4];
  assert_int_equal(last_initializer(graph)->dtype, OXP_FLOAT32);
  assert_int_equal(oxp__tensor_read(last_initializer(graph), OXP_FLOAT32, scales, NULL), OXP_OK);
  assert_true(scales[0] == 1 && scales[1] == 1 && scales[2] == 2 && scales[3] == 3);
  done(network, graph);
}

// A size that is open stays the same symbol only where nothing scales it, up or down.
static void upsample_of_open_sizes_says_which_stay(void **state)
{
  (void)state;
  static const double scales[][2] = { { 0.5, 1 }, { 1, 0.5 }, { 3, 1 } };
  for (size_t i = 0; i < 3; i++) {
    const int64_t open[] = { OXP_DIM_BATCH, 3, OXP_DIM_HEIGHT, OXP_DIM_WIDTH };
    oxp_network *network = upsample(open, scales[i], NULL);
    const oxp__shape *shape = &network->values[network->outputs[0]].shape;
    for (int axis = 0; axis < 2; axis++)
      assert_int_equal(shape->dim[2 + axis], i % 2 != (size_t)axis ? open[2 + axis] : OXP_DIM_UNKNOWN);
    oxp_network_free(network);
  }
}

// ---- Clip ----

static void clip_takes_its_limits_as_inputs(void **state)
{
  (void)state;
  oxp_value y;
  oxp_network *network = new_layer("clip", 2, (int64_t[]){ OXP_DIM_BATCH, 3 }, &y);
  oxp_layer_set_float(network, y, "min", 0);
  oxp_layer_set_float(network, y, "max", 6);
  finish(network);
  for (int opset = 13; opset <= 26; opset++) {
    oxp_graph *graph = lower(network, opset);
    assert_operators(graph, "Clip");
    assert_int_equal(graph->model.graph->nodes.at[0]->inputs.count, 3);
    assert_initializer(graph, 0, 0, NULL);
    assert_initializer(graph, 1, 0, NULL);
    oxp_graph_free(graph);
  }
  oxp_network_free(network);
  network = new_layer("clip", 2, (int64_t[]){ OXP_DIM_BATCH, 3 }, &y);
  oxp_layer_set_float(network, y, "min", 2);
  oxp_layer_set_float(network, y, "max", 1.5);
  refuse_finish(network, OXP_BAD_NETWORK, "min 2 is above max 1.5");
}

static void refuse_lower(oxp_network *network, int opset, const char *words)
{
  oxp_error error = { 0 };
  oxp_graph *graph = NULL;
  assert_int_equal(oxp_graph_lower(network, &(oxp_lower_options){ .opset = opset }, &graph, &error), OXP_UNSUPPORTED);
  if (!strstr(error.message, words) || !strstr(error.message, "\"it\""))
    fail_msg("\"%s\" lacks \"%s\" or the layer", error.message, words);
}

static void assert_places(const oxp_graph *graph, size_t initializer, const char *expected)
{
  int64_t places[64];
  char found[256] = "";
  const oxp_tensor *tensor = &graph->model.graph->initializers.at[initializer]->tensor;
  assert_true(oxp__tensor_count(tensor) <= 64);
  assert_int_equal(oxp__tensor_read(tensor, OXP_INT64, places, NULL), OXP_OK);
  for (int64_t i = 0; i < oxp__tensor_count(tensor); i++)
    snprintf(found + strlen(found), sizeof found - strlen(found), "%s%d", i > 0 ? " " : "", (int)places[i]);
  assert_string_equal(found, expected);
}

static void upsample_to_sizes_lists_the_places(void **state)
{
  (void)state;
  const int64_t shape[] = { OXP_DIM_BATCH, 3, 4, 6 };
  oxp_network *network = upsample(shape, NULL, (int64_t[]){ 6, 9 });
  for (int opset = 13; opset <= 26; opset++) {
    oxp_graph *graph = lower(network, opset);
    assert_operators(graph, "Gather Gather");
    assert_int_equal(attribute(graph, 0, "axis")->i, 2);
    assert_int_equal(attribute(graph, 1, "axis")->i, 3);
    assert_places(graph, 0, "0 0 1 2 2 3");
    assert_places(graph, 1, "0 0 1 2 2 3 4 4 5");
    oxp_graph_free(graph);
  }
  oxp_network_free(network);
  network = upsample(shape, NULL, (int64_t[]){ 4, 3 }); // one axis stays as it is
  oxp_graph *graph = lower(network, 18);
  assert_operators(graph, "Gather");
  assert_places(graph, 0, "0 2 4");
  done(network, graph);
  // In float32, 16 / (32 / 14) is a little below 7: Resize might show place 6.
  network = upsample((int64_t[]){ OXP_DIM_BATCH, 1, 14, 4 }, NULL, (int64_t[]){ 32, 4 });
  graph = lower(network, 18);
  assert_places(graph, 0, "0 0 0 1 1 2 2 3 3 3 4 4 5 5 6 6 7 7 7 8 8 9 9 10 10 10 11 11 12 12 13 13");
  done(network, graph);
}

// netcl's arithmetic shows row 0 at place 49 of a map that grows 49 times; Resize shows row 1.
static void upsample_by_49_lists_the_places(void **state)
{
  (void)state;
  oxp_network *network = upsample((int64_t[]){ OXP_DIM_BATCH, 1, 2, 4 }, (double[]){ 49, 1 }, NULL);
  for (int opset = 13; opset <= 26; opset++) {
    oxp_graph *graph = lower(network, opset);
    assert_operators(graph, "Gather");
    int64_t places[98];
    assert_int_equal(oxp__tensor_read(last_initializer(graph), OXP_INT64, places, NULL), OXP_OK);
    for (int i = 0; i < 98; i++)
      assert_int_equal(places[i], i > 49);
    oxp_graph_free(graph);
  }
  oxp_network_free(network);
  network = upsample((int64_t[]){ OXP_DIM_BATCH, 1, OXP_DIM_HEIGHT, OXP_DIM_WIDTH }, (double[]){ 49, 2 }, NULL);
  refuse_lower(network, 17, "height and width of its input must be known");
  oxp_network_free(network);
}

static oxp_network *bilinear(const int64_t *shape, const double *scales, const int64_t *sizes, bool aligned)
{
  oxp_value y;
  oxp_network *network = new_layer("upsample", 4, shape, &y);
  oxp_layer_set_text(network, y, "mode", "bilinear");
  oxp_layer_set_int(network, y, "align_corners", aligned);
  if (scales)
    oxp_layer_set_floats(network, y, "scales", 2, scales);
  else
    oxp_layer_set_ints(network, y, "sizes", 2, sizes);
  finish(network);
  return network;
}

static void upsample_bilinear_by_whole_factors_is_resize(void **state)
{
  (void)state;
  const int64_t open[] = { OXP_DIM_BATCH, 3, OXP_DIM_HEIGHT, OXP_DIM_WIDTH };
  for (int aligned = 0; aligned <= 1; aligned++) {
    oxp_network *network = bilinear(open, (double[]){ 2, 49 }, NULL, aligned);
    for (int opset = 13; opset <= 26; opset++) {
      oxp_graph *graph = lower(network, opset);
      assert_operators(graph, "Resize");
      const oxp__attribute *mode = attribute(graph, 0, "coordinate_transformation_mode");
      const char *expected = aligned ? "align_corners" : "half_pixel";
      assert_int_equal(mode->s.count, strlen(expected));
      assert_memory_equal(mode->s.at, expected, strlen(expected));
      assert_memory_equal(attribute(graph, 0, "mode")->s.at, "linear", 6);
      oxp_graph_free(graph);
    }
    oxp_network_free(network);
  }
}

static void assert_shares(const oxp_graph *graph, size_t initializer, int count, const float *expected)
{
  float shares[16];
  const oxp_tensor *tensor = &graph->model.graph->initializers.at[initializer]->tensor;
  assert_int_equal(tensor->dtype, OXP_FLOAT32);
  assert_int_equal(oxp__tensor_count(tensor), count);
  assert_int_equal(oxp__tensor_read(tensor, OXP_FLOAT32, shares, NULL), OXP_OK);
  assert_memory_equal(shares, expected, (size_t)count * sizeof *shares);
}

static void upsample_bilinear_lists_places_and_shares(void **state)
{
  (void)state;
  const int64_t shape[] = { OXP_DIM_BATCH, 3, 2, 4 };
  oxp_network *network = bilinear(shape, NULL, (int64_t[]){ 3, 4 }, false);
  for (int opset = 13; opset <= 26; opset++) {
    oxp_graph *graph = lower(network, opset);
    assert_operators(graph, "Gather Gather Sub Mul Add");
    assert_int_equal(attribute(graph, 0, "axis")->i, 2);
    assert_places(graph, 0, "0 0 1"); // coordinates 0 (from -1/6), 1/2, 7/6
    assert_places(graph, 1, "1 1 1");
    assert_shares(graph, 2, 3, (const float[]){ 0, 0.5F, (float)(1.0 / 6) });
    assert_initializer(graph, 2, 2, (int64_t[]){ 3, 1 });
    oxp_graph_free(graph);
  }
  oxp_network_free(network);
  network = bilinear(shape, NULL, (int64_t[]){ 1, 3 }, true);
  oxp_graph *graph = lower(network, 13);
  assert_operators(graph, "Gather Gather Sub Mul Add Gather Gather Sub Mul Add");
  assert_places(graph, 0, "0");
  assert_shares(graph, 2, 1, (const float[]){ 0 });
  assert_places(graph, 3, "0 1 3");
  assert_places(graph, 4, "1 2 3");
  assert_shares(graph, 5, 3, (const float[]){ 0, 0.5F, 0 });
  done(network, graph);
}

// ---- Normalization in groups, by the mean square; transposed convolution; slopes ----

static oxp_network *group_norm(const int64_t *shape)
{
  oxp_value y;
  oxp_network *network = new_layer("group_norm", 4, shape, &y);
  oxp_layer_set_int(network, y, "num_groups", 3);
  oxp_layer_set_int(network, y, "num_channels", 6);
  set_weight(network, y, "gamma", 1, (int64_t[]){ 6 });
  set_weight(network, y, "beta", 1, (int64_t[]){ 6 });
  return network;
}

// Kinds that take their statistics from the values: only an epsilon keeps the deviation above 0, and of a double that float32 does
// not hold nothing is left in the file.
static void normalizations_without_an_epsilon_warn(void **state)
{
  (void)state;
  static const char *const kinds[] = { "layer_norm", "rms_norm", "group_norm" };
  static const double epsilons[] = { 1e-5, 0, 1e-60 };
  for (int i = 0; i < 9; i++) {
    oxp_value y;
    oxp_network *network = new_layer(kinds[i / 3], 4, (int64_t[]){ OXP_DIM_BATCH, 6, 2, 6 }, &y);
    if (i / 3 == 0)
      oxp_layer_set_ints(network, y, "normalized_shape", 1, (int64_t[]){ 6 });
    if (i / 3 == 1)
      oxp_layer_set_int(network, y, "in_features", 6);
    if (i / 3 == 2) {
      oxp_layer_set_int(network, y, "num_groups", 3);
      oxp_layer_set_int(network, y, "num_channels", 6);
    }
    oxp_layer_set_float(network, y, "epsilon", epsilons[i % 3]);
    set_weight(network, y, "gamma", 1, (int64_t[]){ 6 });
    if (i / 3 != 1)
      set_weight(network, y, "beta", 1, (int64_t[]){ 6 });
    finish(network);
    oxp_graph *graph = lower(network, 17);
    int warnings = 0;
    for (int k = 0; k < oxp_graph_warning_count(graph); k++)
      warnings += strstr(oxp_graph_warning(graph, k), "epsilon is 0: where") != NULL;
    assert_int_equal(warnings, i % 3 > 0);
    done(network, graph);
  }
}

static void group_norm_is_taken_apart_at_every_opset(void **state)
{
  (void)state;
  static const struct {
    int64_t height, width;
    const char *shape, *groups, *operators;
  } rows[] = {
    { 4, 5, "0 6 4 5", "0 3 40", "Reshape ReduceMean Sub Mul ReduceMean Add Sqrt Div Reshape Mul Add" },
    { 4, OXP_DIM_WIDTH, "0 6 4 -1", "0 3 -1", "Reshape ReduceMean Sub Mul ReduceMean Add Sqrt Div Reshape Mul Add" },
    { OXP_DIM_HEIGHT, OXP_DIM_WIDTH, NULL, "0 3 -1",
      "Reshape ReduceMean Sub Mul ReduceMean Add Sqrt Div Shape Reshape Mul Add" },
  };
  for (size_t i = 0; i < OXP__COUNT(rows); i++) {
    oxp_network *network = group_norm((int64_t[]){ OXP_DIM_BATCH, 6, rows[i].height, rows[i].width });
    finish(network);
    for (int opset = 13; opset <= 26; opset++) {
      oxp_graph *graph = lower(network, opset);
      assert_operators(graph, rows[i].operators);
      assert_places(graph, 0, rows[i].groups);
      size_t shape = graph->model.graph->initializers.count - 2; // gamma and beta are one array here
      if (rows[i].shape)
        assert_places(graph, shape, rows[i].shape);
      oxp_graph_free(graph);
    }
    oxp_network_free(network);
  }
  oxp_value y;
  oxp_network *network = new_layer("group_norm", 4, (int64_t[]){ 1, 6, 2, 2 }, &y);
  oxp_layer_set_int(network, y, "num_groups", 4);
  oxp_layer_set_int(network, y, "num_channels", 6);
  refuse_finish(network, OXP_BAD_NETWORK, "num_groups is 4, which does not divide num_channels 6");
}

static void rms_norm_is_taken_apart_before_opset_23(void **state)
{
  (void)state;
  for (int wide = 0; wide <= 1; wide++) {
    oxp_network *network = new_network(wide ? OXP_FLOAT64 : OXP_FLOAT32);
    oxp_value x = oxp_network_add_input(network, "input", 2, (int64_t[]){ OXP_DIM_BATCH, 4 });
    oxp_value y = oxp_network_add_layer(network, "rms_norm", "it", 1, &x);
    oxp_layer_set_int(network, y, "in_features", 4);
    set_weight(network, y, "gamma", 1, (int64_t[]){ 4 });
    oxp_network_add_output(network, y, NULL);
    finish(network);
    for (int opset = 13; opset <= 26; opset++) {
      oxp_graph *graph = lower(network, opset);
      assert_operators(graph, !wide && opset >= 23 ? "RMSNormalization" : "Mul ReduceMean Add Sqrt Div Mul");
      oxp_graph_free(graph);
    }
    oxp_network_free(network);
  }
}

static oxp_network *conv_transpose(int64_t output_padding)
{
  oxp_value y;
  oxp_network *network = new_layer("conv_transpose2d", 4, (int64_t[]){ OXP_DIM_BATCH, 2, 5, 6 }, &y);
  oxp_layer_set_int(network, y, "in_channels", 2);
  oxp_layer_set_int(network, y, "out_channels", 3);
  oxp_layer_set_ints(network, y, "kernel_shape", 2, (int64_t[]){ 3, 2 });
  oxp_layer_set_ints(network, y, "strides", 2, (int64_t[]){ 2, 3 });
  oxp_layer_set_ints(network, y, "pads", 4, (int64_t[]){ 0, 1, 2, 0 });
  oxp_layer_set_ints(network, y, "output_padding", 2, (int64_t[]){ output_padding, 2 });
  oxp_layer_set_int(network, y, "bias", 0);
  set_weight(network, y, "weight", 4, (int64_t[]){ 2, 3, 3, 2 });
  return network;
}

static void conv_transpose_has_its_sizes(void **state)
{
  (void)state;
  static const char *const names[] = { "dilations", "group", "kernel_shape", "output_padding", "pads", "strides" };
  oxp_network *network = conv_transpose(1);
  finish(network);
  oxp_graph *graph = lower(network, 17);
  assert_operators(graph, "ConvTranspose");
  const oxp__node *node = graph->model.graph->nodes.at[0];
  assert_int_equal(node->attributes.count, OXP__COUNT(names));
  for (size_t i = 0; i < OXP__COUNT(names); i++)
    assert_string_equal(node->attributes.at[i]->name, names[i]);
  oxp_value_info info;
  assert_true(oxp_network_value_info(network, oxp_network_output(network, 0), &info));
  assert_memory_equal(info.shape, ((int64_t[]){ OXP_DIM_BATCH, 3, 4 * 2 + 3 + 1 - 2, 5 * 3 + 2 + 2 - 1 }),
                      4 * sizeof(int64_t));
  done(network, graph);
  refuse_finish(conv_transpose(2), OXP_BAD_NETWORK, "output_padding holds 2, which is not below the stride 2");
  network = conv_transpose(0);
  oxp_layer_set_int(network, oxp_network_input(network, 0) + 1, "pads", 40);
  refuse_finish(network, OXP_BAD_NETWORK, "pads cut off 80 places of an output that has 11");
}

// Pads, kernels, dilations and strides that only a map could use which nobody can hold: refused although the map's size is open.
static void windows_that_nothing_can_run_are_refused(void **state)
{
  (void)state;
  static const struct {
    const char *kind, *param;
    int64_t value;
  } rows[] = {
    { "conv2d", "pads", 1000000000 },
    { "conv2d", "dilations", 8388608 },
    { "depthwise_conv2d", "pads", 8388609 },
    { "max_pool2d", "kernel_shape", 16777217 },
    { "avg_pool2d", "kernel_shape", 2147483647 },
    { "conv_transpose2d", "strides", 16777217 },
    { "conv_transpose2d", "dilations", 1000000000 },
  };
  static const char *const sizes[] = { "in_channels", "out_channels", "channels" };
  for (size_t i = 0; i < OXP__COUNT(rows); i++) {
    oxp_value y;
    oxp_network *network =
        new_layer(rows[i].kind, 4, (int64_t[]){ OXP_DIM_BATCH, 1, OXP_DIM_HEIGHT, OXP_DIM_WIDTH }, &y);
    const oxp__kind *kind = oxp__kind_by_name(rows[i].kind);
    for (size_t k = 0; k < OXP__COUNT(sizes); k++)
      if (oxp__param_find(kind, NULL, sizes[k]))
        oxp_layer_set_int(network, y, sizes[k], 1);
    oxp_layer_set_int(network, y, "kernel_shape", 3);
    oxp_layer_set_int(network, y, "strides", 1);
    if (kind->weight_count > 0) {
      oxp_layer_set_int(network, y, "bias", 0);
      set_weight(network, y, "weight", 4, (int64_t[]){ 1, 1, 3, 3 });
    }
    oxp_layer_set_int(network, y, rows[i].param, rows[i].value);
    refuse_finish(network, OXP_BAD_NETWORK, "no program can run a map of that size");
  }
}

static void prelu_slopes_meet_the_channels(void **state)
{
  (void)state;
  for (int rank = 2; rank <= 5; rank++) {
    oxp_value y;
    oxp_network *network = new_layer("prelu", rank, (int64_t[]){ OXP_DIM_BATCH, 3, 4, 5, 6 }, &y);
    oxp_layer_set_int(network, y, "num_parameters", 3);
    set_weight(network, y, "alpha", 1, (int64_t[]){ 3 });
    finish(network);
    oxp_graph *graph = lower(network, 13);
    assert_operators(graph, "PRelu");
    assert_initializer(graph, 0, rank - 1, (int64_t[]){ 3, 1, 1, 1 });
    done(network, graph);
  }
  oxp_value y;
  oxp_network *network = new_layer("prelu", 4, (int64_t[]){ 1, 3, 4, 4 }, &y);
  oxp_layer_set_int(network, y, "num_parameters", 1); // one slope for all is not what the layer does
  set_weight(network, y, "alpha", 1, (int64_t[]){ 1 });
  refuse_finish(network, OXP_BAD_NETWORK, "the input has 3 channels");
}

static void upsample_needs_values(void **state)
{
  (void)state;
  const int64_t open[] = { 1, 2, OXP_DIM_HEIGHT, 4 };
  oxp_network *network = upsample(open, NULL, (int64_t[]){ 8, 8 });
  oxp_session *session;
  oxp_array input, output = { 0 };
  oxp_error error = { 0 };
  assert_int_equal(oxp_session_open(network, "reference", NULL, &session, &error), OXP_OK);
  assert_int_equal(oxp_array_new(&input, OXP_FLOAT32, 4, (int64_t[]){ 1, 2, 0, 4 }, &error), OXP_OK);
  assert_int_equal(oxp_session_run(session, &input, &output, &error), OXP_BAD_NETWORK);
  assert_non_null(strstr(error.message, "without values"));
  oxp_array_free(&input);
  oxp_session_free(session);
  oxp_network_free(network);
}

static void upsample_refuses_places_that_it_cannot_list(void **state)
{
  (void)state;
  const int64_t open[] = { OXP_DIM_BATCH, 3, OXP_DIM_HEIGHT, OXP_DIM_WIDTH };
  oxp_network *network = upsample(open, (double[]){ 1.5, 1.5 }, NULL);
  refuse_lower(network, 18, "height and width of its input must be known");
  oxp_network_free(network);
  network = upsample((int64_t[]){ OXP_DIM_BATCH, 3, 7, 7 }, NULL, (int64_t[]){ 20000000, 7 });
  refuse_lower(network, 18, "it makes 20000000 places of 7; the limit is 16777216");
  oxp_network_free(network);
}

static void upsample_takes_sizes_or_scales(void **state)
{
  (void)state;
  oxp_value y;
  const int64_t shape[] = { OXP_DIM_BATCH, 1, 4, 4 };
  refuse_finish(new_layer("upsample", 4, shape, &y), OXP_BAD_NETWORK, "one of sizes and scales must be given");
  oxp_network *network = new_layer("upsample", 4, shape, &y);
  oxp_layer_set_float(network, y, "scales", 2);
  oxp_layer_set_int(network, y, "sizes", 8);
  refuse_finish(network, OXP_BAD_NETWORK, "only one of sizes and scales");
}

int main(void)
{
  for (size_t i = 0; i < OXP__COUNT(numbers); i++)
    numbers[i] = (float)i / 16 - 4;
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(linear_is_gemm_on_rank_2_only),
    cmocka_unit_test(linear_of_torch_is_not_moved_for_gemm),
    cmocka_unit_test(batch_norm_has_two_forms),
    cmocka_unit_test(batch_norm_warns_of_lost_digits),
    cmocka_unit_test(trained_networks_do_not_warn),
    cmocka_unit_test(float64_graphs_keep_digits_but_round_attributes),
    cmocka_unit_test(layer_norm_is_taken_apart_before_opset_17),
    cmocka_unit_test(gelu_is_taken_apart_before_opset_20),
    cmocka_unit_test(clip_takes_its_limits_as_inputs),
    cmocka_unit_test(attributes_stand_in_alphabetical_order),
    cmocka_unit_test(windows_that_do_not_fit_are_refused),
    cmocka_unit_test(upsample_by_whole_factors_needs_no_sizes),
    cmocka_unit_test(upsample_of_open_sizes_says_which_stay),
    cmocka_unit_test(upsample_to_sizes_lists_the_places),
    cmocka_unit_test(upsample_by_49_lists_the_places),
    cmocka_unit_test(upsample_bilinear_by_whole_factors_is_resize),
    cmocka_unit_test(upsample_bilinear_lists_places_and_shares),
    cmocka_unit_test(normalizations_without_an_epsilon_warn),
    cmocka_unit_test(group_norm_is_taken_apart_at_every_opset),
    cmocka_unit_test(rms_norm_is_taken_apart_before_opset_23),
    cmocka_unit_test(conv_transpose_has_its_sizes),
    cmocka_unit_test(windows_that_nothing_can_run_are_refused),
    cmocka_unit_test(prelu_slopes_meet_the_channels),
    cmocka_unit_test(upsample_needs_values),
    cmocka_unit_test(upsample_refuses_places_that_it_cannot_list),
    cmocka_unit_test(upsample_takes_sizes_or_scales),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
