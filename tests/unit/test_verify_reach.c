// The scale of random input: 1 where that reaches every activation, else the first of 1/8, 8 and the statistics of a normalization that
// does. Both sides are the reference, so no runtime is needed.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "onnxport.h"
#include "unit/verify_support.h"

static const oxp_verify_options both_ours = { .engine = "reference", .against = "reference:double", .seed = 3 };

// conv (1 to 1 channel, 1x1: x * weight + bias), then batch normalization where `variance` is above 0, then an activation.
static oxp_network *build(float *weight, float *bias, float *variance, const char *activation)
{
  static float one[] = { 1 }, zero[] = { 0 };
  oxp_network *net = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &net, &error), OXP_OK);
  oxp_value x = oxp_network_add_input(net, "x", 4, (int64_t[]){ OXP_DIM_BATCH, 1, 6, 7 });
  x = oxp_network_add_layer(net, "conv2d", "conv", 1, &x);
  oxp_layer_set_int(net, x, "in_channels", 1);
  oxp_layer_set_int(net, x, "out_channels", 1);
  oxp_layer_set_ints(net, x, "kernel_shape", 2, (int64_t[]){ 1, 1 });
  oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT32, 4, (int64_t[]){ 1, 1, 1, 1 }, weight);
  oxp_layer_set_weight(net, x, "weight", &tensor);
  tensor = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 1 }, bias);
  oxp_layer_set_weight(net, x, "bias", &tensor);
  if (*variance > 0) {
    static const char *const roles[] = { "gamma", "beta", "running_mean", "running_var" };
    float *values[] = { one, zero, zero, variance };
    x = oxp_network_add_layer(net, "batch_norm", "norm", 1, &x);
    oxp_layer_set_int(net, x, "num_features", 1);
    for (int i = 0; i < 4; i++) {
      tensor = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 1 }, values[i]);
      oxp_layer_set_weight(net, x, roles[i], &tensor);
    }
  }
  x = oxp_network_add_layer(net, activation, "act", 1, &x);
  oxp_network_add_output(net, x, NULL);
  if (oxp_network_finish(net, &error) != OXP_OK)
    fail_msg("%s", error.message);
  return net;
}

static oxp_verify_report *verify(const oxp_network *net, const oxp_verify_options *options)
{
  oxp_verify_report *report = NULL;
  oxp_error error = { 0 };
  oxp_status status = oxp_verify(net, NULL, options, &report, &error);
  if (!report)
    fail_msg("status %d: %s", status, error.message);
  return report;
}

typedef struct reach_case {
  const char *activation;
  float weight, bias, variance;
  double scale;
  const char *statistics, *note; // NULL: none
} reach_case;

static void the_first_scale_that_reaches_every_activation_is_taken(void **state)
{
  (void)state;
  reach_case cases[] = {
    { "relu", 1, 0, 0, 1, NULL, NULL },
    { "softmax", 1, 0, 0, 1, NULL, NULL },                        // does not see what moves all values alike
    { "relu", 1, -0.9f, 0, 1, NULL, NULL },                       // a twentieth of the values moves: enough
    { "tanh", 1000, 0, 0, 0.125, NULL, "scaled by 0.125: at 1" }, // saturated at 1
    { "relu", 1, -4, 0, 8, NULL, "scaled by 8: at 1" },           // dead at 1 and 1/8
    { "relu", 1, -1000, 0, 1, NULL, "does not reach layer 1 \"act\"" },
    { "relu", 1, -500, 1e6f, 1000 * 1.7, "norm", "statistics of layer 1 \"norm\"" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    oxp_network *net = build(&cases[i].weight, &cases[i].bias, &cases[i].variance, cases[i].activation);
    oxp_verify_report *report = verify(net, &both_ours);
    const oxp_verify_input *input = oxp_verify_report_input(report);
    assert_false(input->given);
    if (input->scale < 0.9 * cases[i].scale || input->scale > 1.1 * cases[i].scale)
      fail_msg("case %zu: the scale is %g, not %g", i, input->scale, cases[i].scale);
    assert_int_equal(input->statistics != NULL, cases[i].statistics != NULL);
    assert_true(!input->statistics || strcmp(input->statistics, cases[i].statistics) == 0);
    assert_true(!cases[i].note || has_note(report, cases[i].note));
    assert_true(cases[i].note || (!has_note(report, "scaled") && !has_note(report, "reach")));
    oxp_verify_report_free(report);
    oxp_network_free(net);
  }
}

// The chosen scale is what goes in: the values of the output show it.
static void values_are_drawn_at_the_scale(void **state)
{
  (void)state;
  float weight = 1, bias = -4, variance = 0;
  oxp_network *net = build(&weight, &bias, &variance, "relu");
  double largest[2];
  for (int i = 0; i < 2; i++) {
    oxp_verify_report *report = verify(net, &both_ours);
    largest[i] = oxp_verify_output(report, 0)->difference.scale;
    oxp_verify_report_free(report);
  }
  assert_true(largest[0] > 2 && largest[0] < 4);                     // 8 - 4 at most; at scale 1 it is 0
  assert_true(largest[0] >= largest[1] && largest[0] <= largest[1]); // the same again
  oxp_network_free(net);
}

static void given_input_is_left_alone(void **state)
{
  (void)state;
  float weight = 1, bias = -4, variance = 0, values[42] = { 5 };
  oxp_network *net = build(&weight, &bias, &variance, "relu");
  oxp_array x = { .dtype = OXP_FLOAT32, .rank = 4, .shape = { 1, 1, 6, 7 }, .data = values };
  oxp_verify_options options = both_ours;
  options.inputs = &x;
  oxp_verify_report *report = verify(net, &options);
  assert_true(oxp_verify_report_input(report)->given);
  assert_false(has_note(report, "scaled"));
  double scale = oxp_verify_output(report, 0)->difference.scale;
  assert_true(scale >= 1 && scale <= 1);
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_first_scale_that_reaches_every_activation_is_taken),
    cmocka_unit_test(values_are_drawn_at_the_scale),
    cmocka_unit_test(given_input_is_left_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
