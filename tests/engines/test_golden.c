// The golden networks, whose outputs netcl itself computed: the reference engine equals them, and ONNX Runtime on our export equals
// the reference engine, each within 1e-5 of the output's scale.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engines/input.h"
#include "runtime.h"

#define DATA OXP_TEST_DATA "/netcl/"

typedef struct golden {
  const char *name; // of the files, without suffix
  const char *file; // when it is not <name>.netcl
  // How it is compared. Activations of special values: each place by itself, as their scale is the largest float. Where netcl
  // and the formula treat NaN differently (ReLU gives 0, pooling looks at the first element only), we follow the formula, and
  // places where it gives NaN are left out.
  bool each_place, nan_differs;
  bool expanded; // the runtime loses digits in the one-node form of batch normalization
} golden;

static const golden goldens[] = {
  { .name = "a_mlp" },
  { .name = "b_cnn" },
  { .name = "c_conv_groups" },
  { .name = "d_bn", .expanded = true },
  { .name = "e_dropout_pool" },
  { .name = "f_allact" },
  { .name = "l_linear3d" },
  { .name = "l_linear4d" },
  { .name = "p_pools" },
  { .name = "z_empty" },
  { .name = "act/f_leaky", .each_place = true },
  { .name = "act/f_leaky_neg", .each_place = true },
  { .name = "act/f_leaky_steep", .each_place = true },
  { .name = "act/f_relu", .each_place = true, .nan_differs = true },
  { .name = "act/f_sigmoid", .each_place = true },
  { .name = "act/f_tanh", .each_place = true },
  { .name = "act/p_pool_nan", .nan_differs = true },
  { .name = "edge/dilated_relu" },
  { .name = "damaged/good" },
  { .name = "legacy/v013_mlp", .file = "legacy/v013_mlp" },
  { .name = "legacy/v013_cnn", .file = "legacy/v013_cnn" },
  { .name = "legacy/v013_nobias", .file = "legacy/v013_nobias" },
  { .name = "legacy/v014_mlp" },
  { .name = "legacy/v014_cnn" },
  { .name = "legacy/v014_nobias" },
  { .name = "legacy/v027_mlp" },
  { .name = "legacy/v027_cnn" },
  { .name = "legacy/v027_nobias" },
};

#define GOLDEN_COUNT (sizeof goldens / sizeof goldens[0])

// --- Help ---

static void read_array(const char *name, const char *suffix, oxp_array *array)
{
  char path[512];
  oxp_error error = { 0 };
  snprintf(path, sizeof path, DATA "%s%s", name, suffix);
  if (oxp_array_read(path, array, &error) != OXP_OK)
    fail_msg("%s", error.message);
}

static oxp_network *open_golden(const golden *row, const oxp_array *x)
{
  char path[512];
  snprintf(path, sizeof path, DATA "%s%s", row->file ? row->file : row->name, row->file ? "" : ".netcl");
  oxp_open_options options = { .input_rank = x->rank - 1 };
  memcpy(options.input_shape, x->shape + 1, (size_t)(x->rank - 1) * sizeof *x->shape);
  oxp_network *net = NULL;
  oxp_error error = { 0 };
  if (oxp_network_open(path, &options, &net, &error) != OXP_OK)
    fail_msg("%s", error.message);
  return net;
}

static oxp_array run_session(oxp_session *session, const oxp_array *x)
{
  oxp_array y = { 0 };
  oxp_error error = { 0 };
  assert_int_equal(oxp_session_input_count(session), 1);
  assert_int_equal(oxp_session_output_count(session), 1);
  if (oxp_session_run(session, x, &y, &error) != OXP_OK)
    fail_msg("%s", error.message);
  oxp_session_free(session);
  return y;
}

static oxp_array run_reference(const oxp_network *net, const oxp_array *x)
{
  oxp_session *session = NULL;
  oxp_error error = { 0 };
  if (oxp_session_open(net, "reference", NULL, &session, &error) != OXP_OK)
    fail_msg("%s", error.message);
  return run_session(session, x);
}

// Our export on the runtime.
static oxp_array run_export(const oxp_network *net, const oxp_lower_options *lower, const oxp_array *x)
{
  oxp_graph *graph = NULL;
  oxp_session *session = NULL;
  oxp_error error = { 0 };
  if (oxp_graph_lower(net, lower, &graph, &error) != OXP_OK)
    fail_msg("%s", error.message);
  oxp_status status = oxp_session_open_graph(graph, "ort:cpu", NULL, &session, &error);
  oxp_graph_free(graph);
  if (status != OXP_OK)
    fail_msg("%s", error.message);
  return run_session(session, x);
}

// Takes places where the formula gives NaN out of the comparison.
static int leave_nan_out(const oxp_array *formula, oxp_array *a, oxp_array *b)
{
  int count = 0;
  for (int64_t i = 0; i < oxp_array_count(formula); i++)
    if (isnan(((float *)formula->data)[i])) {
      ((float *)a->data)[i] = ((float *)b->data)[i] = 0;
      count++;
    }
  return count;
}

static void assert_near(const golden *row, const oxp_array *expected, const oxp_array *actual)
{
  oxp_difference difference;
  oxp_error error = { 0 };
  if (oxp_compare(expected, actual, 0, 0, &difference, &error) != OXP_OK)
    fail_msg("%s: %s", row->name, error.message);
  double rtol = row->each_place ? 1e-5 : 0, atol = row->each_place ? 1e-6 : 1e-5 * difference.scale;
  assert_int_equal(oxp_compare(expected, actual, rtol, atol, &difference, &error), OXP_OK);
  if (!difference.match)
    fail_msg("%s differs by %g (scale %g) at %lld: %g and %g", row->name, difference.max_abs, difference.scale,
             (long long)difference.at, difference.expected, difference.actual);
}

// --- Tests ---

static void the_reference_equals_netcl(void **state)
{
  const golden *row = *state;
  oxp_array x, expected;
  read_array(row->name, ".x.npy", &x);
  read_array(row->name, ".y.npy", &expected);
  oxp_network *net = open_golden(row, &x);
  oxp_array actual = run_reference(net, &x);
  if (row->nan_differs) {
    oxp_array formula = run_reference(net, &x);
    assert_true(leave_nan_out(&formula, &expected, &actual) > 0);
    oxp_array_free(&formula);
  }
  assert_near(row, &expected, &actual);
  oxp_array_free(&x);
  oxp_array_free(&expected);
  oxp_array_free(&actual);
  oxp_network_free(net);
}

static void the_runtime_equals_the_reference(void **state)
{
  const golden *row = *state;
  oxp_array x;
  need_runtime();
  read_array(row->name, ".x.npy", &x);
  oxp_network *net = open_golden(row, &x);
  oxp_lower_options lower = { .batchnorm = row->expanded ? OXP_BATCHNORM_EXPANDED : OXP_BATCHNORM_LITERAL };
  oxp_array actual = run_export(net, &lower, &x);
  oxp_array expected = run_reference(net, &x);
  // Pooling is free to treat NaN as it likes; activations are not.
  if (row->nan_differs && !row->each_place) {
    oxp_array formula = run_reference(net, &x);
    assert_true(leave_nan_out(&formula, &expected, &actual) > 0);
    oxp_array_free(&formula);
  }
  assert_near(row, &expected, &actual);
  oxp_array_free(&x);
  oxp_array_free(&expected);
  oxp_array_free(&actual);
  oxp_network_free(net);
}

// A network that netcl cannot save: described with the builder, weights from its plain archive.
static oxp_network *build_layernorm(oxp_weights *weights)
{
  oxp_network *net = NULL;
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &net, NULL), OXP_OK);
  oxp_value x = oxp_network_add_input(net, "input", 2, (int64_t[]){ OXP_DIM_BATCH, 10 });
  x = oxp_network_add_layer(net, "linear", NULL, 1, &x);
  oxp_layer_set_int(net, x, "in_features", 10);
  oxp_layer_set_int(net, x, "out_features", 16);
  oxp_value norm = oxp_network_add_layer(net, "layer_norm", NULL, 1, &x);
  oxp_layer_set_int(net, norm, "normalized_shape", 16);
  oxp_layer_set_float(net, norm, "epsilon", 1e-3);
  oxp_value relu = oxp_network_add_layer(net, "relu", NULL, 1, &norm);
  oxp_value last = oxp_network_add_layer(net, "linear", NULL, 1, &relu);
  oxp_layer_set_int(net, last, "in_features", 16);
  oxp_layer_set_int(net, last, "out_features", 3);
  const struct {
    oxp_value layer;
    const char *role, *member;
  } roles[] = { { x, "weight", "0:weight" }, { x, "bias", "0:bias" },        { norm, "gamma", "1:gamma" },
                { norm, "beta", "1:beta" },  { last, "weight", "3:weight" }, { last, "bias", "3:bias" } };
  for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
    oxp_tensor tensor;
    oxp_error error = { 0 };
    if (oxp_weights_find(weights, roles[i].member, &tensor, &error) != OXP_OK)
      fail_msg("%s", error.message);
    oxp_layer_set_weight(net, roles[i].layer, roles[i].role, &tensor);
  }
  oxp_network_add_output(net, last, NULL);
  return net;
}

static void check_layer_normalization(bool runtime)
{
  const golden row = { .name = "g_layernorm" };
  oxp_weights *weights = NULL;
  oxp_error error = { 0 };
  oxp_array x, expected;
  read_array(row.name, ".x.npy", &x);
  read_array(row.name, ".y.npy", &expected);
  if (oxp_weights_open(DATA "g_layernorm.weights.npz", &weights, &error) != OXP_OK)
    fail_msg("%s", error.message);
  oxp_network *net = build_layernorm(weights);
  if (oxp_network_finish(net, &error) != OXP_OK)
    fail_msg("%s", error.message);
  // On the runtime decomposed (opset 13), and as one node.
  for (int opset = 13; opset <= (runtime ? 17 : 13); opset += 4) {
    oxp_array actual = runtime ? run_export(net, &(oxp_lower_options){ .opset = opset }, &x) : run_reference(net, &x);
    assert_near(&row, &expected, &actual);
    oxp_array_free(&actual);
  }
  oxp_array_free(&x);
  oxp_array_free(&expected);
  oxp_network_free(net);
  oxp_weights_free(weights);
}

static void layer_normalization_equals_netcl(void **state)
{
  (void)state;
  check_layer_normalization(false);
}

static void layer_normalization_on_the_runtime_equals_netcl(void **state)
{
  (void)state;
  need_runtime();
  check_layer_normalization(true);
}

// The trained detector on the four photos, read from their PNG files.
static void check_detector(bool runtime)
{
  const golden row = { .name = "detector/h_det26" };
  oxp_array x, expected;
  oxp_network *net = NULL;
  oxp_value_info input;
  oxp_error error = { 0 };
  if (oxp_network_open(DATA "detector/h_det26.netcl", NULL, &net, &error) != OXP_OK)
    fail_msg("%s", error.message);
  assert_true(oxp_network_value_info(net, oxp_network_input(net, 0), &input));
  const char *folder = OXP_EXAMPLES "/photos";
  if (oxp__input_read(&folder, 1, &input, NULL, &x, NULL, &error) != OXP_OK)
    fail_msg("%s", error.message);
  read_array(row.name, ".y.npy", &expected);
  oxp_array actual = runtime ? run_export(net, NULL, &x) : run_reference(net, &x);
  assert_near(&row, &expected, &actual);
  oxp_array_free(&x);
  oxp_array_free(&expected);
  oxp_array_free(&actual);
  oxp_network_free(net);
}

static void the_detector_equals_netcl(void **state)
{
  (void)state;
  check_detector(false);
}

static void the_detector_on_the_runtime_equals_netcl(void **state)
{
  (void)state;
  need_runtime();
  check_detector(true);
}

int main(void)
{
  struct CMUnitTest tests[2 * GOLDEN_COUNT + 4] = {
    cmocka_unit_test(layer_normalization_equals_netcl),
    cmocka_unit_test(layer_normalization_on_the_runtime_equals_netcl),
    cmocka_unit_test(the_detector_equals_netcl),
    cmocka_unit_test(the_detector_on_the_runtime_equals_netcl),
  };
  for (size_t i = 0; i < GOLDEN_COUNT; i++) {
    void *row = (void *)&goldens[i];
    tests[4 + 2 * i] = (struct CMUnitTest){ goldens[i].name, the_reference_equals_netcl, NULL, NULL, row };
    tests[5 + 2 * i] = (struct CMUnitTest){ goldens[i].name, the_runtime_equals_the_reference, NULL, NULL, row };
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
