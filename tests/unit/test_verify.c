// Verifying: two sides that agree, and for each way to differ the sentence that says who is wrong. The runtime's part is skipped
// where there is none.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime.h"

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

static bool has_note(const oxp_verify_report *report, const char *words)
{
  for (int i = 0; i < oxp_verify_note_count(report); i++)
    if (strstr(oxp_verify_note(report, i), words))
      return true;
  return false;
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

// One dense layer from 2 to 2 with the given weights.
static oxp_network *build_dense(const float weights[4])
{
  oxp_network *net = build(OXP_FLOAT32);
  oxp_tensor weight = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ 2, 2 }, weights);
  oxp_value x = oxp_network_add_input(net, "x", 2, (int64_t[]){ OXP_DIM_BATCH, 2 });
  x = oxp_network_add_layer(net, "linear", "fc", 1, &x);
  oxp_layer_set_int(net, x, "in_features", 2);
  oxp_layer_set_int(net, x, "out_features", 2);
  oxp_layer_set_int(net, x, "bias", 0);
  oxp_layer_set_weight(net, x, "weight", &weight);
  oxp_network_add_output(net, x, NULL);
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
  oxp_verify_report *report = verify(net, NULL, &(oxp_verify_options){ .against = "reference:double" }, OXP_OK);
  assert_int_equal(oxp_verify_output(report, 0)->difference.compared, 0);
  assert_true(oxp_verify_output(report, 1)->difference.compared == 2 * (1 + 2 + 7));
  assert_true(has_note(report, "\"normal\" matches, but holds no finite number"));
  assert_false(has_note(report, "\"past\" matches"));
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
  assert_true(has_note(report, "nodes, not layers"));
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
    cmocka_unit_test(warnings_of_writing_are_notes),
    cmocka_unit_test(a_wrong_model_is_found_out),
    cmocka_unit_test(a_model_of_another_shape_is_refused),
    cmocka_unit_test(the_runtimes_optimiser_is_found_out),
    cmocka_unit_test(float32_itself_may_not_be_enough),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
