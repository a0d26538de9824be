// Verifying: two sides that agree, and for each way to differ the sentence that says who is wrong. The runtime's part is skipped
// where there is none.
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime.h"
#include "unit/verify_support.h"

#define DATA OXP_TEST_DATA "/netcl/"

static oxp_network *open_network(const char *path, int rank, const int64_t *shape)
{
  oxp_open_options options = { .input_rank = rank };
  for (int i = 0; i < rank; i++)
    options.input_shape[i] = shape[i];
  oxp_network *net = NULL;
  oxp_error error = { 0 };
  if (oxp_network_open(path, &options, &net, &error) != OXP_OK)
    fail_msg("%s", error.message);
  return net;
}

static oxp_verify_report *verify(const oxp_network *net, const oxp_graph *graph, const oxp_verify_options *options,
                                 oxp_status expected)
{
  oxp_verify_report *report = NULL;
  oxp_error error = { 0 };
  oxp_status status = oxp_verify(net, graph, options, &report, &error);
  if (status != expected)
    fail_msg("%s, expected %s: %s %s", oxp_status_name(status), oxp_status_name(expected), error.message,
             report ? oxp_verify_finding(report) : "");
  return report;
}

static void assert_finding(const oxp_verify_report *report, const char *words)
{
  if (!strstr(oxp_verify_finding(report), words))
    fail_msg("\"%s\" is not in the finding: %s", words, oxp_verify_finding(report));
}

static oxp_network *build(oxp_dtype dtype)
{
  oxp_network *net = NULL;
  assert_int_equal(oxp_network_new(dtype, &net, NULL), OXP_OK);
  return net;
}

static void finish(oxp_network *net)
{
  oxp_error error = { 0 };
  if (oxp_network_finish(net, &error) != OXP_OK)
    fail_msg("%s", error.message);
}

// A dense layer without a bias, from as many values as to.
static oxp_value add_dense(oxp_network *net, const char *name, oxp_value x, int64_t size, const float *weights)
{
  oxp_tensor weight = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ size, size }, weights);
  x = oxp_network_add_layer(net, "linear", name, 1, &x);
  oxp_layer_set_int(net, x, "in_features", size);
  oxp_layer_set_int(net, x, "out_features", size);
  oxp_layer_set_int(net, x, "bias", 0);
  oxp_layer_set_weight(net, x, "weight", &weight);
  return x;
}

// One dense layer from 2 to 2 with the given weights.
static oxp_network *build_dense(const float weights[4])
{
  oxp_network *net = build(OXP_FLOAT32);
  oxp_value x = oxp_network_add_input(net, "x", 2, (int64_t[]){ OXP_DIM_BATCH, 2 });
  oxp_network_add_output(net, add_dense(net, "fc", x, 2, weights), NULL);
  finish(net);
  return net;
}

// --- Agreement ---

static void two_engines_agree(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *net = open_network(DATA "b_cnn.netcl", 3, (int64_t[]){ 3, 32, 32 });
  oxp_verify_report *report =
      verify(net, NULL, &(oxp_verify_options){ .rtol = 0, .atol = 1e-5, .layers = true, .seed = 4 }, OXP_OK);
  assert_int_equal(oxp_verify_output_count(report), 1);
  assert_int_equal(oxp_verify_layer_count(report), oxp_network_layer_count(net));
  const oxp_verify_row *row = oxp_verify_output(report, 0);
  assert_string_equal(row->kind, "output");
  assert_true(row->difference.match && row->difference.max_abs < 1e-5 && row->difference.scale > 0.01);
  assert_true(row->batch == 1 || row->batch == 2 || row->batch == 7);
  assert_string_equal(oxp_verify_layer(report, 0)->kind, "conv2d");
  assert_string_equal(oxp_verify_finding(report), "");
  assert_true(has_note(report, "1, 2, 7"));
  assert_true(has_note(report, "seed 4"));
  assert_null(oxp_verify_output(report, 1));
  assert_null(oxp_verify_layer(report, -1));
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

static void the_reference_needs_no_runtime(void **state)
{
  (void)state;
  oxp_network *net = open_network(DATA "a_mlp.netcl", 0, NULL);
  oxp_verify_options options = { .against = "reference:double", .rtol = 0, .atol = 1e-6, .layers = true };
  oxp_verify_report *report = verify(net, NULL, &options, OXP_OK);
  assert_true(oxp_verify_output(report, 0)->difference.max_abs > 0); // one side rounds
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

static void open_sizes_are_chosen(void **state)
{
  (void)state;
  oxp_network *net = open_network(DATA "edge/dilated_relu.netcl", 0, NULL);
  oxp_verify_report *report = verify(net, NULL, &(oxp_verify_options){ .against = "reference:double" }, OXP_OK);
  assert_true(has_note(report, "32, 64)"));
  assert_int_equal(oxp_verify_output(report, 0)->difference.rank, 4);
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

// 24 samples, of which only the last one is not zero: the two sides can only differ there.
static void given_samples_are_all_used(void **state)
{
  (void)state;
  float weights[4] = { 0.1f, 0.2f, 0.3f, 0.7f }, values[48] = { 0 };
  values[46] = values[47] = 1.0f / 3;
  oxp_network *net = build_dense(weights);
  oxp_array inputs = { .dtype = OXP_FLOAT32, .rank = 2, .shape = { 24, 2 }, .data = values };
  oxp_verify_options options = { .against = "reference:double", .inputs = &inputs, .rtol = 0, .atol = 1 };
  oxp_verify_report *report = verify(net, NULL, &options, OXP_OK);
  assert_true(has_note(report, "24 samples"));
  assert_true(oxp_verify_output(report, 0)->difference.max_abs > 0);
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

static void a_fixed_batch_is_kept(void **state)
{
  (void)state;
  need_runtime();
  float weights[4] = { 1, 2, 3, 4 };
  oxp_network *net = build_dense(weights);
  oxp_verify_options options = { .lower = { .batch = 3 } };
  oxp_verify_report *report = verify(net, NULL, &options, OXP_OK);
  assert_int_equal(oxp_verify_output(report, 0)->batch, 3);
  assert_true(has_note(report, "batches of 3,"));
  oxp_verify_report_free(report);
  options.batch = 4;
  oxp_error error = { 0 };
  assert_int_equal(oxp_verify(net, NULL, &options, &report, &error), OXP_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "4"));
  assert_non_null(strstr(error.message, "3"));
  oxp_network_free(net);
}

static void a_widened_export_is_compared_too(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *net = open_network(DATA "a_mlp.netcl", 0, NULL);
  oxp_verify_options options = { .rtol = 0, .atol = 1e-6, .lower = { .dtype = OXP_FLOAT64, .opset = 18 } };
  oxp_verify_report *report = verify(net, NULL, &options, OXP_OK);
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

// --- Arguments ---

static void arguments_are_checked(void **state)
{
  (void)state;
  float weights[4] = { 1, 2, 3, 4 }, values[6] = { 0 };
  oxp_network *net = build_dense(weights);
  oxp_verify_report *report = NULL;
  oxp_error error = { 0 };
  oxp_array inputs = { .dtype = OXP_FLOAT32, .rank = 2, .shape = { 2, 3 }, .data = values };
  oxp_verify_options options = { .against = "reference:double", .inputs = &inputs };
  assert_int_equal(oxp_verify(net, NULL, &options, &report, &error), OXP_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "(batch, 2)"));
  assert_non_null(strstr(error.message, "(2, 3)"));
  inputs = (oxp_array){ .dtype = OXP_INT64, .rank = 2, .shape = { 1, 2 }, .data = values };
  assert_int_equal(oxp_verify(net, NULL, &options, &report, &error), OXP_BAD_ARGUMENT);
  options = (oxp_verify_options){ .against = "abacus" };
  assert_int_equal(oxp_verify(net, NULL, &options, &report, &error), OXP_BAD_ARGUMENT);
  options = (oxp_verify_options){ .against = "reference:double", .batch = -1 };
  assert_int_equal(oxp_verify(net, NULL, &options, &report, &error), OXP_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "the batch cannot be -1"));
  inputs = (oxp_array){ .dtype = OXP_FLOAT32, .rank = 2, .shape = { 1, 2 } }; // without data
  options = (oxp_verify_options){ .against = "reference:double", .inputs = &inputs };
  assert_int_equal(oxp_verify(net, NULL, &options, &report, &error), OXP_BAD_ARGUMENT);
  const double wrong[][2] = { { -1, 0 }, { 0, -1e-4 }, { (double)NAN, 0 }, { 1, (double)NAN } };
  for (size_t i = 0; i < 4; i++) {
    options = (oxp_verify_options){ .against = "reference:double", .rtol = wrong[i][0], .atol = wrong[i][1] };
    assert_int_equal(oxp_verify(net, NULL, &options, &report, &error), OXP_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "tolerances must not be negative"));
  }
  oxp_network_free(net);
}

static void a_missing_runtime_is_an_error(void **state)
{
  (void)state;
  need_engine("ort");
  float weights[4] = { 1, 2, 3, 4 };
  oxp_network *net = build_dense(weights);
  oxp_verify_report *report = NULL;
  oxp_error error = { 0 };
  oxp_verify_options options = { .session = { .onnxruntime = "./no-such-library.so" } };
  assert_int_equal(oxp_verify(net, NULL, &options, &report, &error), OXP_NOT_AVAILABLE);
  assert_null(report);
  assert_non_null(strstr(error.message, "no-such-library.so"));
  oxp_network_free(net);
}

// --- Who is wrong ---

static void the_runtime_loses_digits_in_batch_normalization(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *net = open_network(DATA "d_bn.netcl", 3, (int64_t[]){ 5, 9, 7 });
  oxp_array x;
  assert_int_equal(oxp_array_read(DATA "d_bn.x.npy", &x, NULL), OXP_OK);
  oxp_verify_options options = { .rtol = 0, .atol = 1e-5, .inputs = &x };
  oxp_verify_report *report = verify(net, NULL, &options, OXP_DIFFERENT);
  double off = oxp_verify_output(report, 0)->difference.max_abs;
  assert_true(off > 1e-4 && off < 2e-4);
  assert_finding(report, "The file is right");
  assert_finding(report, "BatchNormalization");
  assert_finding(report, "layer 0 \"batch_norm_0\"");
  assert_finding(report, "--batchnorm expanded");
  oxp_verify_report_free(report);
  options.lower.batchnorm = OXP_BATCHNORM_EXPANDED;
  report = verify(net, NULL, &options, OXP_OK);
  assert_true(oxp_verify_output(report, 0)->difference.max_abs < 1e-6);
  oxp_verify_report_free(report);
  // With the usual tolerance the outputs match, and the layer that departs is mentioned.
  options = (oxp_verify_options){ .inputs = &x, .layers = true };
  report = verify(net, NULL, &options, OXP_OK);
  assert_false(oxp_verify_layer(report, 0)->difference.match);
  assert_string_equal(oxp_verify_finding(report), "");
  assert_true(has_note(report, "batch_norm_0"));
  oxp_verify_report_free(report);
  oxp_array_free(&x);
  oxp_network_free(net);
}

// Values around 0 would say nothing about a layer whose statistics lie around 1000: its random input lies there too.
static void random_input_lies_where_the_statistics_are(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *net = open_network(DATA "d_bn.netcl", 3, (int64_t[]){ 5, 9, 7 });
  oxp_verify_options options = { .rtol = 0, .atol = 1e-5, .seed = 1 };
  oxp_verify_report *report = verify(net, NULL, &options, OXP_DIFFERENT);
  assert_finding(report, "layer 0 \"batch_norm_0\"");
  assert_true(has_note(report, "has its statistics"));
  assert_true(has_note(report, "--batchnorm expanded")); // the exporter's warning
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

// x goes into a normalization without sense, and past it.
static oxp_network *build_broken_norm(const float variance[2])
{
  static const float ones[2] = { 1, 1 }, zeros[2] = { 0, 0 };
  const float *weights[] = { ones, zeros, zeros, variance };
  static const char *const roles[] = { "gamma", "beta", "running_mean", "running_var" };
  oxp_network *net = build(OXP_FLOAT32);
  oxp_value x = oxp_network_add_input(net, "x", 4, (int64_t[]){ OXP_DIM_BATCH, 2, 1, 1 });
  oxp_value norm = oxp_network_add_layer(net, "batch_norm", "norm", 1, &x);
  oxp_layer_set_int(net, norm, "num_features", 2);
  for (int i = 0; i < 4; i++) {
    oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 2 }, weights[i]);
    oxp_layer_set_weight(net, norm, roles[i], &tensor);
  }
  oxp_network_add_output(net, norm, "normal");
  oxp_network_add_output(net, oxp_network_add_layer(net, "tanh", "past", 1, &x), "past");
  finish(net);
  return net;
}

// Statistics without sense must not turn the random input into NaN, which would match whatever else reads it.
static void broken_statistics_do_not_hide_differences(void **state)
{
  (void)state;
  oxp_network *net = build_broken_norm((float[]){ -1, -2 });
  oxp_verify_options options = { .against = "reference:double" };
  oxp_verify_report *report = verify(net, NULL, &options, OXP_NOTHING_SHOWN);
  assert_int_equal(oxp_verify_output(report, 0)->difference.compared, 0);
  assert_true(oxp_verify_output(report, 1)->difference.compared == 2 * (1 + 2 + 7));
  assert_int_equal(oxp_verify_output(report, 1)->still, 0);
  assert_finding(report, "\"normal\" holds no finite number");
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

// Infinite weights give NaN and infinity, and so do others: zeros would be noticed, but that tells little.
static void outputs_without_a_finite_number_show_nothing(void **state)
{
  (void)state;
  oxp_network *net = build_dense((float[]){ INFINITY, INFINITY, INFINITY, INFINITY });
  oxp_verify_options options = { .against = "reference:double" };
  oxp_verify_report *report = verify(net, NULL, &options, OXP_NOTHING_SHOWN);
  assert_int_equal(oxp_verify_output(report, 0)->difference.compared, 0);
  assert_finding(report, "holds no finite number on this input: other weights would have matched as well");
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

static void warnings_of_writing_are_notes(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *net = build_dense((float[]){ 1, INFINITY, 3, 4 });
  oxp_verify_report *report = verify(net, NULL, NULL, OXP_OK);
  assert_true(has_note(report, "holds 1 value that is not finite"));
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

// A model of other weights is told from one that the runtime gets wrong.
static void a_wrong_model_is_found_out(void **state)
{
  (void)state;
  need_runtime();
  float weights[4] = { 1, 2, 3, 4 }, other_weights[4] = { 1, 2, 3, 4.5f };
  oxp_network *net = build_dense(weights), *other = build_dense(other_weights);
  oxp_graph *graph = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_graph_lower(other, NULL, &graph, NULL), OXP_OK);
  assert_int_equal(oxp_graph_write(graph, "wrong.onnx", NULL, NULL, &error), OXP_OK);
  oxp_graph_free(graph);
  assert_int_equal(oxp_graph_open("wrong.onnx", &graph, &error), OXP_OK);
  oxp_verify_report *report = verify(net, graph, &(oxp_verify_options){ .layers = true }, OXP_DIFFERENT);
  assert_finding(report, "The model differs from the network");
  assert_finding(report, "a fresh export of the network gives the network's values");
  assert_int_equal(oxp_verify_layer_count(report), (int)oxp_network_layer_count(net));
  assert_int_equal(oxp_verify_departure(report), 0);
  oxp_verify_report_free(report);
  report = verify(other, graph, NULL, OXP_OK);
  oxp_verify_report_free(report);
  oxp_graph_free(graph);
  oxp_network_free(net);
  oxp_network_free(other);
}

static void a_model_of_another_shape_is_refused(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *net = open_network(DATA "a_mlp.netcl", 0, NULL);
  oxp_graph *graph = NULL;
  oxp_verify_report *report = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_graph_open(DATA "b_cnn.onnx", &graph, &error), OXP_OK);
  oxp_status status = oxp_verify(net, graph, NULL, &report, &error);
  oxp_graph_free(graph);
  oxp_network_free(net);
  assert_int_equal(status, OXP_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "(batch, 20)"));
}

// The runtime multiplies a normalization's factor into the weights of the convolution before it. Where the product is too large
// for float32 although all values are not, the joined layer is infinite.
static void the_runtimes_optimiser_is_found_out(void **state)
{
  (void)state;
  need_runtime();
  static const float large[1] = { 1e30f }, zero[1] = { 0 }, one[1] = { 1 };
  oxp_tensor weight = oxp_tensor_from_memory(OXP_FLOAT32, 4, (int64_t[]){ 1, 1, 1, 1 }, large);
  oxp_tensor gamma = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 1 }, large);
  oxp_tensor none = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 1 }, zero);
  oxp_tensor unit = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 1 }, one);
  oxp_network *net = build(OXP_FLOAT32);
  oxp_value x = oxp_network_add_input(net, "x", 4, (int64_t[]){ OXP_DIM_BATCH, 1, 2, 2 });
  x = oxp_network_add_layer(net, "conv2d", "conv", 1, &x);
  oxp_layer_set_int(net, x, "in_channels", 1);
  oxp_layer_set_int(net, x, "out_channels", 1);
  oxp_layer_set_int(net, x, "kernel_shape", 1);
  oxp_layer_set_int(net, x, "bias", 0);
  oxp_layer_set_weight(net, x, "weight", &weight);
  x = oxp_network_add_layer(net, "batch_norm", "norm", 1, &x);
  oxp_layer_set_int(net, x, "num_features", 1);
  oxp_layer_set_weight(net, x, "gamma", &gamma);
  oxp_layer_set_weight(net, x, "beta", &none);
  oxp_layer_set_weight(net, x, "running_mean", &none);
  oxp_layer_set_weight(net, x, "running_var", &unit);
  oxp_network_add_output(net, x, NULL);
  finish(net);
  float values[4] = { 1e-30f, 2e-30f, 0, -1e-30f };
  oxp_array inputs = { .dtype = OXP_FLOAT32, .rank = 4, .shape = { 1, 1, 2, 2 }, .data = values };
  oxp_verify_options options = { .inputs = &inputs };
  oxp_verify_report *report = verify(net, NULL, &options, OXP_DIFFERENT);
  assert_finding(report, "The file is right: with optimisation off, ONNX Runtime gives the network's values");
  oxp_verify_report_free(report);
  options.session.optimization_off = true;
  report = verify(net, NULL, &options, OXP_OK);
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

// A tolerance that float32 itself cannot keep is nobody's fault.
static void float32_itself_may_not_be_enough(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *net = open_network(DATA "a_mlp.netcl", 0, NULL);
  oxp_verify_report *report = verify(net, NULL, &(oxp_verify_options){ .atol = 1e-12 }, OXP_DIFFERENT);
  assert_finding(report, "Neither side");
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

// --- Limits that can tell ---

#define FAULTS OXP_TEST_DATA "/faults/"

static oxp_graph *open_graph(const char *path)
{
  oxp_graph *graph = NULL;
  oxp_error error = { 0 };
  if (oxp_graph_open(path, &graph, &error) != OXP_OK)
    fail_msg("%s", error.message);
  return graph;
}

// A stored network against a stored model.
static oxp_verify_report *verify_pair(const char *network, const char *model, const oxp_verify_options *options,
                                      oxp_status expected)
{
  const int64_t picture[3] = { 3, 24, 40 };
  oxp_network *net = open_network(network, strstr(network, "rare") ? 3 : 0, picture);
  oxp_graph *graph = open_graph(model);
  oxp_verify_report *report = verify(net, graph, options, expected);
  oxp_graph_free(graph);
  oxp_network_free(net);
  return report;
}

// Outputs near 1e-5, tiny ones, and one tiny column among large ones: weights set to zero are seen, the right model is not blamed.
static void small_outputs_are_not_hidden_by_the_tolerance(void **state)
{
  (void)state;
  need_runtime();
  static const char *const names[] = { "rare", "tiny", "mixed" };
  for (size_t i = 0; i < 3; i++) {
    char network[256], right[256], wrong[256];
    snprintf(network, sizeof network, FAULTS "verify/%s.netcl", names[i]);
    snprintf(right, sizeof right, FAULTS "verify/%s.onnx", names[i]);
    snprintf(wrong, sizeof wrong, FAULTS "verify/%s_zero.onnx", names[i]);
    for (uint64_t seed = 1; seed < 6; seed++) {
      oxp_verify_report *report = verify_pair(network, right, &(oxp_verify_options){ .seed = seed }, OXP_OK);
      const oxp_verify_row *row = oxp_verify_output(report, 0);
      assert_true(i == 0 || (row->tightened > 0 && row->atol_min < 1e-4)); // rare ones grow with the input
      assert_true(has_note(report, "would hide them") == (row->tightened > 0));
      oxp_verify_report_free(report);
      report = verify_pair(network, wrong, &(oxp_verify_options){ .seed = seed }, OXP_DIFFERENT);
      assert_finding(report, "The model differs from the network");
      assert_true(oxp_verify_output(report, 0)->difference.mismatches > 0);
      oxp_verify_report_free(report);
    }
  }
}

// Limits that were given are kept, and it is said that they show nothing.
static void given_limits_are_kept(void **state)
{
  (void)state;
  need_runtime();
  oxp_verify_options options = { .rtol = 1e-3, .atol = 1e-4, .limits_given = true };
  oxp_verify_report *report = verify_pair(FAULTS "verify/tiny.netcl", FAULTS "verify/tiny_zero.onnx", &options, OXP_OK);
  const oxp_verify_row *row = oxp_verify_output(report, 0);
  assert_true(row->tightened == 0 && row->atol_min == 1e-4 && row->atol_max == 1e-4 && row->rtol == 1e-3);
  assert_true(has_note(report, "The limits given show nothing"));
  oxp_verify_report_free(report);
  options = (oxp_verify_options){ .limits_given = true, .against = "reference:double" }; // exactly equal
  oxp_network *net = open_network(DATA "a_mlp.netcl", 0, NULL);
  report = verify(net, NULL, &options, OXP_DIFFERENT);
  assert_true(oxp_verify_output(report, 0)->difference.max_abs < 1e-6);
  oxp_verify_report_free(report);
  options.against = "reference";
  report = verify(net, NULL, &options, OXP_OK);
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

// No limit lies below the smallest normal number, which runtimes may take for zero.
static void no_limit_is_below_normal_numbers(void **state)
{
  (void)state;
  oxp_network *net = build_dense((const float[4]){ 1e-37f, -2e-37f, 3e-37f, 1e-37f });
  oxp_verify_report *report = verify(net, NULL, &(oxp_verify_options){ .against = "reference" }, OXP_OK);
  const oxp_verify_row *row = oxp_verify_output(report, 0);
  assert_true(row->tightened == 2 && row->atol_min == (double)FLT_MIN && row->atol_max == (double)FLT_MIN);
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

// Where limits were given that hide everything, what moves by its last digits still does not move.
static void last_digits_are_no_movement(void **state)
{
  (void)state;
  const float weights[4] = { 1, 1, -1, 1 }, large[2] = { 3e7f, 0 };
  oxp_tensor weight = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ 2, 2 }, weights);
  oxp_tensor bias = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 2 }, large);
  oxp_network *net = build(OXP_FLOAT32);
  oxp_value x = oxp_network_add_input(net, "x", 2, (int64_t[]){ OXP_DIM_BATCH, 2 });
  x = oxp_network_add_layer(net, "linear", "fc", 1, &x);
  oxp_layer_set_int(net, x, "in_features", 2);
  oxp_layer_set_int(net, x, "out_features", 2);
  oxp_layer_set_weight(net, x, "weight", &weight);
  oxp_layer_set_weight(net, x, "bias", &bias);
  oxp_network_add_output(net, x, NULL);
  finish(net);
  oxp_verify_options options = { .against = "reference", .limits_given = true, .batch = 8 };
  oxp_verify_report *report = NULL;
  oxp_error error = { 0 };
  (void)oxp_verify(net, NULL, &options, &report, &error);
  assert_non_null(report);
  assert_int_equal(oxp_verify_output(report, 0)->still, 1);
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

// 64 values that are there twice, once with either sign of a weight: what is left is what rounding leaves.
static void rounding_noise_is_nobodys_fault(void **state)
{
  (void)state;
  need_runtime();
  enum { PAIRS = 64 };
  static float first[4 * 2 * PAIRS], second[2 * PAIRS * 2];
  for (int k = 0; k < PAIRS; k++) {
    for (int i = 0; i < 4; i++)
      first[i * 2 * PAIRS + k] = first[i * 2 * PAIRS + PAIRS + k] = (float)((i * 7 + k * 13) % 29 - 14) / 9;
    second[2 * k] = (float)(k % 11 - 5) / 3; // column 0 cancels, column 1 does not
    second[2 * (PAIRS + k)] = -second[2 * k];
    second[2 * k + 1] = (float)(k % 7) / 5;
  }
  oxp_network *net = build(OXP_FLOAT32);
  oxp_value x = oxp_network_add_input(net, "x", 2, (int64_t[]){ OXP_DIM_BATCH, 4 });
  const int64_t sizes[3] = { 4, 2 * PAIRS, 2 };
  const float *weights[2] = { first, second };
  for (int i = 0; i < 2; i++) {
    oxp_tensor weight = oxp_tensor_from_memory(OXP_FLOAT32, 2, sizes + i, weights[i]);
    x = oxp_network_add_layer(net, "linear", NULL, 1, &x);
    oxp_layer_set_int(net, x, "in_features", sizes[i]);
    oxp_layer_set_int(net, x, "out_features", sizes[i + 1]);
    oxp_layer_set_int(net, x, "bias", 0);
    oxp_layer_set_weight(net, x, "weight", &weight);
  }
  oxp_network_add_output(net, x, NULL);
  finish(net);
  for (uint64_t seed = 1; seed < 20; seed++) {
    oxp_verify_report *report = verify(net, NULL, &(oxp_verify_options){ .seed = seed }, OXP_OK);
    const oxp_verify_row *row = oxp_verify_output(report, 0);
    assert_true(row->atol_max == 1e-4);
    oxp_verify_report_free(report);
  }
  oxp_network_free(net);
}

// --- Outputs that do not move ---

static void outputs_that_do_not_move_show_nothing(void **state)
{
  (void)state;
  need_runtime();
  oxp_verify_report *given =
      verify_pair(FAULTS "verify/dead.netcl", FAULTS "verify/dead.onnx", NULL, OXP_NOTHING_SHOWN);
  assert_finding(given, "\"output\" does not move");
  assert_finding(given, "--input");
  assert_int_equal(oxp_verify_output(given, 0)->still, 2);
  oxp_verify_report_free(given);
  given = verify_pair(FAULTS "verify/dead.netcl", FAULTS "verify/dead_zero.onnx", NULL,
                      OXP_DIFFERENT); // its layers show it
  assert_finding(given, "layer 0 \"linear_0\" (Linear) departs");
  oxp_verify_report_free(given);
  oxp_network *net = open_network(FAULTS "verify/dead.netcl", 0, NULL);
  oxp_verify_report *report = verify(net, NULL, NULL, OXP_NOTHING_SHOWN);
  assert_int_equal(oxp_verify_layer_count(report), 3); // compared although nobody asked for them
  assert_finding(report, "layer 2 \"linear_2\"");
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

// A mean over many random values hardly moves. Where it is what the last layer's weights are multiplied with, wrong ones show all
// the same; where a large bias hides the product, they do not.
static void values_that_hardly_move_may_show_all_weights(void **state)
{
  (void)state;
  need_runtime();
  static const struct {
    float mean, bias;
    oxp_status verdict;
  } cases[] = { { 3, 1, OXP_OK }, { 0, 40, OXP_NOTHING_SHOWN } };
  for (int i = 0; i < 2; i++) {
    const float one[] = { 1 }, weights[] = { 1, -2 }, shift[] = { cases[i].mean }, biases[] = { cases[i].bias, 41 };
    oxp_network *net = build(OXP_FLOAT32);
    oxp_value x = oxp_network_add_input(net, "x", 4, (int64_t[]){ OXP_DIM_BATCH, 1, 128, 128 });
    x = oxp_network_add_layer(net, "conv2d", "conv", 1, &x);
    oxp_layer_set_int(net, x, "in_channels", 1);
    oxp_layer_set_int(net, x, "out_channels", 1);
    oxp_layer_set_ints(net, x, "kernel_shape", 2, (int64_t[]){ 1, 1 });
    oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT32, 4, (int64_t[]){ 1, 1, 1, 1 }, one);
    oxp_layer_set_weight(net, x, "weight", &tensor);
    tensor = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 1 }, shift);
    oxp_layer_set_weight(net, x, "bias", &tensor);
    x = oxp_network_add_layer(net, "global_avg_pool2d", NULL, 1, &x);
    x = oxp_network_add_layer(net, "flatten", NULL, 1, &x);
    x = oxp_network_add_layer(net, "linear", "fc", 1, &x);
    oxp_layer_set_int(net, x, "in_features", 1);
    oxp_layer_set_int(net, x, "out_features", 2);
    tensor = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ 1, 2 }, weights);
    oxp_layer_set_weight(net, x, "weight", &tensor);
    tensor = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 2 }, biases);
    oxp_layer_set_weight(net, x, "bias", &tensor);
    oxp_network_add_output(net, x, NULL);
    finish(net);
    oxp_verify_report *report = verify(net, NULL, &(oxp_verify_options){ .batch = 3 }, cases[i].verdict);
    assert_int_equal(oxp_verify_output(report, 0)->still, 2);
    if (cases[i].verdict != OXP_OK)
      assert_finding(report, "zeros in the place of the weight of layer 3 \"fc\"");
    oxp_verify_report_free(report);
    oxp_network_free(net);
  }
}

// A saturated output: the layers before it move, and decide.
static void layers_decide_where_outputs_do_not_move(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *net = build(OXP_FLOAT32);
  const float weights[4] = { 1, 2, 3, 4 }, biases[2] = { 60, 70 };
  oxp_tensor weight = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ 2, 2 }, weights);
  oxp_tensor bias = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 2 }, biases);
  oxp_value x = oxp_network_add_input(net, "x", 2, (int64_t[]){ OXP_DIM_BATCH, 2 });
  x = oxp_network_add_layer(net, "linear", "fc", 1, &x);
  oxp_layer_set_int(net, x, "in_features", 2);
  oxp_layer_set_int(net, x, "out_features", 2);
  oxp_layer_set_weight(net, x, "weight", &weight);
  oxp_layer_set_weight(net, x, "bias", &bias);
  oxp_network_add_output(net, oxp_network_add_layer(net, "sigmoid", NULL, 1, &x), NULL);
  finish(net);
  oxp_verify_report *report = verify(net, NULL, NULL, OXP_OK);
  assert_int_equal(oxp_verify_layer_count(report), 2);
  assert_int_equal(oxp_verify_output(report, 0)->still, 2);
  assert_int_equal(oxp_verify_layer(report, 0)->still, 0);
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

// --- Differences that no number describes ---

static void other_types_and_shapes_are_differences(void **state)
{
  (void)state;
  need_runtime();
  static const char *const networks[] = { "net", "large", "zero" };
  static const char *const models[][2] = { { "half", "float16 instead of float32" },
                                           { "bool", "bool instead of float32" },
                                           { "int64", "int64 instead of float32" },
                                           { "shape", "(1, 1, 2) instead of (1, 2)" } };
  for (size_t i = 0; i < 12; i++) {
    char network[256], model[256];
    snprintf(network, sizeof network, FAULTS "71/%s.netcl", networks[i / 4]);
    snprintf(model, sizeof model, FAULTS "71/%s.onnx", models[i % 4][0]);
    oxp_verify_report *report = verify_pair(network, model, NULL, OXP_DIFFERENT);
    const oxp_verify_row *row = oxp_verify_output(report, 0);
    assert_string_equal(row->problem, models[i % 4][1]);
    assert_false(row->difference.match);
    assert_true(row->difference.mismatches == 0 && row->difference.max_abs == 0); // no number is made up
    assert_finding(report, models[i % 4][1]);
    oxp_verify_report_free(report);
  }
}

// What differs is NaN against infinity; the finding says so, and not that digits were lost.
static void not_finite_values_are_mentioned(void **state)
{
  (void)state;
  need_runtime();
  oxp_array x;
  assert_int_equal(oxp_array_read(FAULTS "edge/bn_eps0_var0.x.npy", &x, NULL), OXP_OK);
  oxp_network *net = open_network(FAULTS "edge/bn_eps0_var0.netcl", x.rank - 1, x.shape + 1);
  oxp_verify_report *report = verify(net, NULL, &(oxp_verify_options){ .inputs = &x }, OXP_DIFFERENT);
  const oxp_difference *difference = &oxp_verify_output(report, 0)->difference;
  assert_true(difference->not_finite > 0 && difference->not_finite == difference->mismatches);
  assert_finding(report, "NaN or infinity in");
  assert_null(strstr(oxp_verify_finding(report), "loses digits"));
  oxp_verify_report_free(report);
  oxp_array_free(&x);
  oxp_network_free(net);
}

static double seen_with_seed(const oxp_network *net, uint64_t seed)
{
  oxp_verify_options options = { .against = "reference:double", .seed = seed };
  oxp_verify_report *report = verify(net, NULL, &options, OXP_OK);
  double scale = oxp_verify_output(report, 0)->difference.scale;
  oxp_verify_report_free(report);
  return scale;
}

static void the_seed_decides_the_input(void **state)
{
  (void)state;
  oxp_network *net = open_network(DATA "a_mlp.netcl", 0, NULL);
  double one = seen_with_seed(net, 1), two = seen_with_seed(net, 2), again = seen_with_seed(net, 1);
  assert_true(one == again);
  assert_true(one != two);
  oxp_network_free(net);
}

// --- Power ---

// Does verify notice weights that are off by that share of themselves?
static bool notices(const oxp_network *net, const float weights[4], double change)
{
  float changed[4];
  for (int i = 0; i < 4; i++)
    changed[i] = (float)(weights[i] * (1 - change));
  oxp_network *other = build_dense(changed);
  oxp_graph *graph = NULL;
  oxp_verify_report *report = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_graph_lower(other, NULL, &graph, &error), OXP_OK);
  oxp_status status = oxp_verify(net, graph, &(oxp_verify_options){ .batch = 7 }, &report, &error);
  if (status != OXP_OK && status != OXP_DIFFERENT)
    fail_msg("%s", error.message);
  oxp_verify_report_free(report);
  oxp_graph_free(graph);
  oxp_network_free(other);
  return status == OXP_DIFFERENT;
}

// What power says is what happens: an error a little larger is seen, one a little smaller is not.
static void power_is_what_would_be_noticed(void **state)
{
  (void)state;
  need_runtime();
  const float weights[4] = { 1, -2, 3, 0.5f };
  oxp_network *net = build_dense(weights);
  oxp_verify_report *report = verify(net, NULL, &(oxp_verify_options){ .batch = 7, .power = true }, OXP_OK);
  const oxp_verify_row *row = oxp_verify_layer(report, 0);
  assert_string_equal(row->power_weight, "weight");
  assert_true(row->power > 1e-3 && row->power < 2e-3); // rtol is 1e-3
  assert_true(notices(net, weights, 1.15 * row->power));
  assert_false(notices(net, weights, 0.85 * row->power));
  assert_true(has_note(report, "in the weights of any layer would have been seen."));
  oxp_verify_report_free(report);
  report = verify(net, NULL, NULL, OXP_OK);
  assert_int_equal(oxp_verify_layer_count(report), 0);
  assert_false(has_note(report, "Zeros as weights"));
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

// Any output may be the one that shows an error.
static void power_counts_every_output(void **state)
{
  (void)state;
  const float weights[4] = { 1, -2, 3, 0.5f };
  oxp_network *net = build(OXP_FLOAT32);
  oxp_value x = oxp_network_add_input(net, "x", 2, (int64_t[]){ OXP_DIM_BATCH, 2 });
  for (int i = 0; i < 2; i++)
    oxp_network_add_output(net, add_dense(net, NULL, x, 2, weights), NULL);
  finish(net);
  oxp_verify_options options = { .against = "reference:double", .batch = 7, .power = true };
  oxp_verify_report *report = verify(net, NULL, &options, OXP_OK);
  for (int i = 0; i < 2; i++)
    assert_true(oxp_verify_layer(report, i)->power < 2e-3);
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

// A normalization takes a common factor out again: such weights are changed in turn.
static void power_is_measured_before_a_normalization(void **state)
{
  (void)state;
  const float weights[4 * 4] = { 1, -2, 3, 0.5f, 2, 1, -1, 4, -3, 2, 1, 1, 0.5f, 1, -2, 2 };
  const float ones[4] = { 1, 1, 1, 1 }, zeros[4] = { 0 };
  oxp_tensor gamma = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 4 }, ones);
  oxp_tensor beta = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 4 }, zeros);
  oxp_network *net = build(OXP_FLOAT32);
  oxp_value x = oxp_network_add_input(net, "x", 2, (int64_t[]){ OXP_DIM_BATCH, 4 });
  x = add_dense(net, "fc", x, 4, weights);
  x = oxp_network_add_layer(net, "layer_norm", NULL, 1, &x);
  oxp_layer_set_ints(net, x, "normalized_shape", 1, (int64_t[]){ 4 });
  oxp_layer_set_weight(net, x, "gamma", &gamma);
  oxp_layer_set_weight(net, x, "beta", &beta);
  oxp_network_add_output(net, x, NULL);
  finish(net);
  oxp_verify_options options = { .against = "reference:double", .batch = 7, .power = true };
  oxp_verify_report *report = verify(net, NULL, &options, OXP_OK);
  assert_true(oxp_verify_layer(report, 0)->power < 0.05);
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

static void weights_that_nothing_shows_are_named(void **state)
{
  (void)state;
  oxp_network *net = open_network(FAULTS "verify/dead.netcl", 0, NULL);
  oxp_verify_options options = { .against = "reference:double", .power = true };
  oxp_verify_report *report = verify(net, NULL, &options, OXP_NOTHING_SHOWN);
  assert_true(isinf(oxp_verify_layer(report, 0)->power));
  assert_null(oxp_verify_layer(report, 1)->power_weight);
  assert_true(has_note(report, "layer 0 \"linear_0\" (Linear), layer 2 \"linear_2\" (Linear)"));
  oxp_verify_report_free(report);
  oxp_network_free(net);
  // An output that moves, although the weights of one of its layers do not matter. Nobody asked.
  const float tiny[4] = { 1e-12f, 2e-12f, 1e-12f, 3e-12f };
  net = build(OXP_FLOAT32);
  oxp_value x = oxp_network_add_input(net, "x", 2, (int64_t[]){ OXP_DIM_BATCH, 2 });
  oxp_value fc = add_dense(net, "fc", x, 2, tiny);
  oxp_network_add_output(net, oxp_network_add_layer(net, "add", NULL, 2, (oxp_value[]){ x, fc }), NULL);
  finish(net);
  options.power = false;
  report = verify(net, NULL, &options, OXP_OK);
  assert_true(has_note(report, "Zeros as weights of layer 0 \"fc\""));
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(two_engines_agree),
    cmocka_unit_test(the_reference_needs_no_runtime),
    cmocka_unit_test(open_sizes_are_chosen),
    cmocka_unit_test(given_samples_are_all_used),
    cmocka_unit_test(a_fixed_batch_is_kept),
    cmocka_unit_test(a_widened_export_is_compared_too),
    cmocka_unit_test(arguments_are_checked),
    cmocka_unit_test(a_missing_runtime_is_an_error),
    cmocka_unit_test(the_runtime_loses_digits_in_batch_normalization),
    cmocka_unit_test(random_input_lies_where_the_statistics_are),
    cmocka_unit_test(broken_statistics_do_not_hide_differences),
    cmocka_unit_test(outputs_without_a_finite_number_show_nothing),
    cmocka_unit_test(warnings_of_writing_are_notes),
    cmocka_unit_test(a_wrong_model_is_found_out),
    cmocka_unit_test(a_model_of_another_shape_is_refused),
    cmocka_unit_test(the_runtimes_optimiser_is_found_out),
    cmocka_unit_test(float32_itself_may_not_be_enough),
    cmocka_unit_test(small_outputs_are_not_hidden_by_the_tolerance),
    cmocka_unit_test(given_limits_are_kept),
    cmocka_unit_test(no_limit_is_below_normal_numbers),
    cmocka_unit_test(last_digits_are_no_movement),
    cmocka_unit_test(rounding_noise_is_nobodys_fault),
    cmocka_unit_test(outputs_that_do_not_move_show_nothing),
    cmocka_unit_test(values_that_hardly_move_may_show_all_weights),
    cmocka_unit_test(layers_decide_where_outputs_do_not_move),
    cmocka_unit_test(other_types_and_shapes_are_differences),
    cmocka_unit_test(not_finite_values_are_mentioned),
    cmocka_unit_test(the_seed_decides_the_input),
    cmocka_unit_test(power_is_what_would_be_noticed),
    cmocka_unit_test(power_counts_every_output),
    cmocka_unit_test(power_is_measured_before_a_normalization),
    cmocka_unit_test(weights_that_nothing_shows_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
