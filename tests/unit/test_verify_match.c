// A model that was given is compared layer by layer: values are matched with layers by the names of our exports, else by shape and
// order as far as that leaves no choice, and the first wrong layer is named.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime.h"
#include "unit/verify_support.h"

enum { WEIGHTS = 400, WRONG_LAYERS = 4 };

// What distinguishes the networks of one structure.
typedef struct variant {
  const char *prefix; // of the layers' names
  int wrong;          // the layer with weights, counted from 0, whose weights are 1 % larger; -1: none
  int64_t stride;     // of the first convolution
  int stray;          // the number in the first layer's name, which then begins as `right` has it; 0: none
} variant;

static const variant right = { .prefix = "l", .wrong = -1, .stride = 1 };

// Weights from a seed, in memory that the test program keeps.
static oxp_tensor draw(uint64_t seed, double factor, int rank, const int64_t *shape)
{
  static float pool[256][WEIGHTS];
  static size_t used;
  float *values = pool[used++ % 256];
  oxp_array array = { .dtype = OXP_FLOAT32, .rank = rank, .data = values };
  for (int i = 0; i < rank; i++)
    array.shape[i] = shape[i];
  assert_in_range(oxp_array_count(&array), 1, WEIGHTS);
  assert_int_equal(oxp_array_fill_random(&array, seed, NULL), OXP_OK);
  for (int64_t i = 0; i < oxp_array_count(&array); i++)
    values[i] = (float)(factor * values[i]);
  return oxp_tensor_from_memory(OXP_FLOAT32, rank, shape, values);
}

static oxp_value add(oxp_network *net, const variant *of, const char *kind, int number, int count,
                     const oxp_value *inputs)
{
  char name[32];
  bool strays = of->stray > 0 && number == 0;
  snprintf(name, sizeof name, "%s%d", strays ? right.prefix : of->prefix, strays ? of->stray : number);
  return oxp_network_add_layer(net, kind, name, count, inputs);
}

static double factor_of(const variant *of, int number)
{
  return of->wrong == number ? 1.01 : 1;
}

static oxp_value convolution(oxp_network *net, const variant *of, int number, int weights, int64_t in, int64_t out,
                             oxp_value x)
{
  x = add(net, of, "conv2d", number, 1, &x);
  oxp_layer_set_int(net, x, "in_channels", in);
  oxp_layer_set_int(net, x, "out_channels", out);
  oxp_layer_set_ints(net, x, "kernel_shape", 2, (int64_t[]){ 3, 3 });
  oxp_layer_set_ints(net, x, "pads", 4, (int64_t[]){ 1, 1, 1, 1 });
  if (weights == 0)
    oxp_layer_set_ints(net, x, "strides", 2, (int64_t[]){ of->stride, of->stride });
  oxp_layer_set_int(net, x, "bias", 0);
  oxp_tensor tensor = draw((uint64_t)weights, factor_of(of, weights), 4, (int64_t[]){ out, in, 3, 3 });
  oxp_layer_set_weight(net, x, "weight", &tensor);
  return x;
}

static oxp_value normalization(oxp_network *net, const variant *of, int number, int weights, oxp_value x)
{
  static const char *const roles[] = { "gamma", "beta", "running_mean" };
  static float ones[] = { 1, 1, 1, 1 };
  x = add(net, of, "batch_norm", number, 1, &x);
  oxp_layer_set_int(net, x, "num_features", 4);
  for (int i = 0; i < 3; i++) {
    oxp_tensor tensor = draw((uint64_t)(10 + i), i == 0 ? factor_of(of, weights) : 1, 1, (int64_t[]){ 4 });
    oxp_layer_set_weight(net, x, roles[i], &tensor);
  }
  oxp_tensor variance = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 4 }, ones);
  oxp_layer_set_weight(net, x, "running_var", &variance);
  return x;
}

static oxp_value dense(oxp_network *net, const variant *of, int number, int weights, int64_t in, int64_t out,
                       oxp_value x)
{
  x = add(net, of, "linear", number, 1, &x);
  oxp_layer_set_int(net, x, "in_features", in);
  oxp_layer_set_int(net, x, "out_features", out);
  oxp_layer_set_int(net, x, "bias", 0);
  oxp_tensor tensor = draw((uint64_t)(20 + weights), factor_of(of, weights), 2, (int64_t[]){ in, out });
  oxp_layer_set_weight(net, x, "weight", &tensor);
  return x;
}

static oxp_network *begin(oxp_value *x)
{
  oxp_network *net = NULL;
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &net, NULL), OXP_OK);
  *x = oxp_network_add_input(net, "x", 4, (int64_t[]){ OXP_DIM_BATCH, 2, 5, 6 });
  return net;
}

static oxp_network *end(oxp_network *net, oxp_value x)
{
  oxp_error error = { 0 };
  oxp_network_add_output(net, x, NULL);
  if (oxp_network_finish(net, &error) != OXP_OK)
    fail_msg("%s", error.message);
  return net;
}

// 0 conv, 1 norm, 2 relu, 3 conv, 4 global average, 5 flatten, 6 linear; with weights: 0, 1, 3 and 6
static oxp_network *chain(const variant *of)
{
  oxp_value x;
  oxp_network *net = begin(&x);
  x = convolution(net, of, 0, 0, 2, 4, x);
  x = normalization(net, of, 1, 1, x);
  x = add(net, of, "relu", 2, 1, &x);
  x = convolution(net, of, 3, 2, 4, 3, x);
  x = add(net, of, "global_avg_pool2d", 4, 1, &x);
  x = add(net, of, "flatten", 5, 1, &x);
  return end(net, dense(net, of, 6, 3, 3, 2, x));
}

// 0 conv; 1 conv and 2 relu on a branch; 3 their sum; 4 conv
static oxp_network *branches(const variant *of)
{
  oxp_value x;
  oxp_network *net = begin(&x);
  x = convolution(net, of, 0, 0, 2, 4, x);
  oxp_value y = convolution(net, of, 1, 1, 4, 4, x);
  y = add(net, of, "relu", 2, 1, &y);
  x = add(net, of, "add", 3, 2, (oxp_value[]){ y, x });
  return end(net, convolution(net, of, 4, 2, 4, 3, x));
}

static oxp_verify_report *verify(const oxp_network *net, oxp_network *other, oxp_batchnorm_form batchnorm, bool layers,
                                 oxp_status expected)
{
  oxp_graph *graph = NULL;
  oxp_verify_report *report = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_graph_lower(other, &(oxp_lower_options){ .batchnorm = batchnorm }, &graph, &error), OXP_OK);
  oxp_status status = oxp_verify(net, graph, &(oxp_verify_options){ .layers = layers, .seed = 1 }, &report, &error);
  oxp_graph_free(graph);
  oxp_network_free(other);
  if (status != expected)
    fail_msg("%s instead of %s: %s%s", oxp_status_name(status), oxp_status_name(expected), error.message,
             report ? oxp_verify_finding(report) : "");
  return report;
}

static void check_departure(const oxp_verify_report *report, int layer)
{
  char words[48];
  if (oxp_verify_departure(report) != layer)
    fail_msg("layer %d departs, not %d: %s", oxp_verify_departure(report), layer, oxp_verify_finding(report));
  snprintf(words, sizeof words, ", first at layer %d \"", layer);
  assert_non_null(strstr(oxp_verify_finding(report), words));
}

// Whether the names are ours or not: the wrong layer is named, without being asked for.
static void the_first_wrong_layer_is_named(void **state)
{
  (void)state;
  need_runtime();
  static const int wrong_layer[WRONG_LAYERS] = { 0, 1, 3, 6 };
  oxp_network *net = chain(&right);
  for (int i = 0; i < 2 * WRONG_LAYERS; i++) {
    variant wrong = { .prefix = i < WRONG_LAYERS ? "l" : "other", .wrong = i % WRONG_LAYERS, .stride = 1 };
    oxp_verify_report *report = verify(net, chain(&wrong), OXP_BATCHNORM_LITERAL, false, OXP_DIFFERENT);
    check_departure(report, wrong_layer[i % WRONG_LAYERS]);
    assert_int_equal(has_note(report, "by shape and order"), i >= WRONG_LAYERS);
    oxp_verify_report_free(report);
  }
  oxp_network_free(net);
}

// All layers of a right model match, and no two are mixed up: each row shows its own layer's scale.
static void every_layer_is_compared_when_asked_for(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *net = chain(&right);
  variant renamed = right;
  renamed.prefix = "other";
  oxp_verify_report *alone = NULL;
  assert_int_equal(oxp_verify(net, NULL, &(oxp_verify_options){ .layers = true, .seed = 1 }, &alone, NULL), OXP_OK);
  for (int i = 0; i < 2; i++) {
    oxp_verify_report *report = verify(net, chain(i ? &renamed : &right), OXP_BATCHNORM_LITERAL, true, OXP_OK);
    assert_int_equal(oxp_verify_layer_count(report), 7);
    assert_int_equal(oxp_verify_departure(report), -1);
    for (int k = 0; k < 7; k++) {
      const oxp_verify_row *row = oxp_verify_layer(report, k), *own = oxp_verify_layer(alone, k);
      assert_true(row->difference.match && row->batch > 0);
      assert_true(row->difference.scale >= own->difference.scale && row->difference.scale <= own->difference.scale);
      assert_int_equal(row->difference.compared, own->difference.compared);
    }
    oxp_verify_report_free(report);
  }
  oxp_verify_report_free(alone);
  oxp_network_free(net);
}

// One of our names, on a value that is another layer's, is chance.
static void a_single_name_proves_nothing(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *net = chain(&right);
  variant renamed = { .prefix = "other", .wrong = -1, .stride = 1, .stray = 3 };
  oxp_verify_report *report = verify(net, chain(&renamed), OXP_BATCHNORM_LITERAL, true, OXP_OK);
  assert_true(has_note(report, "by shape and order"));
  for (int i = 0; i < 7; i++)
    assert_true(oxp_verify_layer(report, i)->batch > 0 && oxp_verify_layer(report, i)->difference.match);
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

// Four nodes for one layer, with other names: which of them is the layer's cannot be told by shape. What is before the shape changes
// can.
static void what_is_not_certain_is_left_out_and_said(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *net = chain(&right);
  variant renamed = right;
  renamed.prefix = "other";
  oxp_verify_report *report = verify(net, chain(&renamed), OXP_BATCHNORM_EXPANDED, true, OXP_OK);
  static const bool compared[] = { false, false, true, true, true, true, true };
  for (int i = 0; i < 7; i++)
    assert_int_equal(oxp_verify_layer(report, i)->batch > 0, compared[i]);
  assert_true(
      has_note(report, "For 2 of 7 layers it is not certain which value of the model is theirs: layer 0 \"l0\""));
  oxp_verify_report_free(report);
  report = verify(net, chain(&right), OXP_BATCHNORM_EXPANDED, true, OXP_OK); // with our names it can be told
  for (int i = 0; i < 7; i++)
    assert_true(oxp_verify_layer(report, i)->batch > 0);
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

// On a branch there is no telling by shape and order; a fault there shows where the branches meet.
static void branches_are_matched_by_name_or_where_they_meet(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *net = branches(&right);
  variant wrong = { .prefix = "l", .wrong = 1, .stride = 1 };
  oxp_verify_report *report = verify(net, branches(&wrong), OXP_BATCHNORM_LITERAL, false, OXP_DIFFERENT);
  check_departure(report, 1);
  oxp_verify_report_free(report);
  wrong.prefix = "other";
  report = verify(net, branches(&wrong), OXP_BATCHNORM_LITERAL, false, OXP_DIFFERENT);
  check_departure(report, 3);
  assert_int_equal(oxp_verify_layer(report, 0)->batch > 0, true);
  assert_int_equal(oxp_verify_layer(report, 1)->batch, 0);
  assert_int_equal(oxp_verify_layer(report, 2)->batch, 0);
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

static void a_layer_of_another_shape_is_named(void **state)
{
  (void)state;
  need_runtime();
  oxp_network *net = chain(&right);
  variant wrong = { .prefix = "l", .wrong = -1, .stride = 2 };
  oxp_verify_report *report = verify(net, chain(&wrong), OXP_BATCHNORM_LITERAL, false, OXP_DIFFERENT);
  check_departure(report, 0);
  assert_non_null(oxp_verify_layer(report, 0)->problem);
  oxp_verify_report_free(report);
  oxp_network_free(net);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_first_wrong_layer_is_named),
    cmocka_unit_test(every_layer_is_compared_when_asked_for),
    cmocka_unit_test(a_single_name_proves_nothing),
    cmocka_unit_test(what_is_not_certain_is_left_out_and_said),
    cmocka_unit_test(branches_are_matched_by_name_or_where_they_meet),
    cmocka_unit_test(a_layer_of_another_shape_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
