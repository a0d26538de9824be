// test_kind_rows.c: the registry of layer kinds: every row is complete and consistent, and what readers and builder do
// with rows.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "layers/kind.h"

static const char *const dialects[] = { NULL, "netcl", "torch" };

static const oxp__kind *kind(const char *name)
{
  const oxp__kind *found = oxp__kind_by_name(name);
  if (!found)
    fail_msg("there is no kind %s", name);
  return found;
}

static const oxp__param *param(const char *kind_name, const char *dialect, const char *name)
{
  const oxp__param *found = oxp__param_find(kind(kind_name), dialect, name);
  if (!found)
    fail_msg("%s has no parameter %s", kind_name, name);
  return found;
}

static bool has_text(const char *text)
{
  return text && text[0] && text[strlen(text) - 1] != '.';
}

// ---- The rows ----

static void rows_are_sorted_and_found_by_name(void **state)
{
  (void)state;
  assert_true(oxp__kind_count >= 23);
  for (size_t i = 0; i < oxp__kind_count; i++) {
    assert_ptr_equal(oxp__kind_by_name(oxp__kinds[i]->name), oxp__kinds[i]);
    if (i > 0)
      assert_true(strcmp(oxp__kinds[i - 1]->name, oxp__kinds[i]->name) < 0);
  }
  assert_null(oxp__kind_by_name("no_such_kind"));
}

static void rows_are_complete(void **state)
{
  (void)state;
  for (size_t i = 0; i < oxp__kind_count; i++) {
    const oxp__kind *k = oxp__kinds[i];
    print_message("  %s\n", k->name);
    assert_true(has_text(k->doc) && has_text(k->formula));
    assert_true(k->min_inputs >= 1 && k->max_inputs >= k->min_inputs);
    assert_true(k->shape && k->draw);
    assert_true(k->passes_through || (k->ref && k->lower[0].lower));
    assert_true((k->weight_count > 0) == (k->weight_shape != NULL));
    assert_true((k->param_count > 0) == (k->params_bytes > 0));
    for (size_t row = 1; row < OXP__COUNT(k->lower) && k->lower[row].lower; row++)
      assert_true(k->lower[row].since > k->lower[row - 1].since);
    assert_true(k->passes_through || k->lower[0].since <= 13);
  }
}

static size_t field_bytes(const oxp__param *p)
{
  switch (p->type) {
  case OXP__PARAM_INT:
    return sizeof(int64_t);
  case OXP__PARAM_INTS:
    return (size_t)p->count * sizeof(int64_t);
  case OXP__PARAM_LIST:
    return sizeof(oxp__list);
  case OXP__PARAM_FLOAT:
    return sizeof(double);
  case OXP__PARAM_FLOATS:
    return (size_t)p->count * sizeof(double);
  case OXP__PARAM_BOOL:
    return sizeof(bool);
  case OXP__PARAM_CHOICE:
    return sizeof(int);
  }
  return SIZE_MAX;
}

static void parameters_lie_inside_their_struct_and_apart(void **state)
{
  (void)state;
  for (size_t i = 0; i < oxp__kind_count; i++) {
    const oxp__kind *k = oxp__kinds[i];
    for (int a = 0; a < k->param_count; a++) {
      const oxp__param *p = &k->params[a];
      assert_true(has_text(p->name) && has_text(p->doc));
      assert_true(p->offset + field_bytes(p) <= k->params_bytes);
      assert_true((p->type == OXP__PARAM_CHOICE) == (p->tokens != NULL));
      assert_false(p->required &&
                   (p->type == OXP__PARAM_CHOICE || p->type == OXP__PARAM_BOOL)); // these cannot be unset
      for (int b = 0; b < a; b++)
        assert_true(k->params[b].offset + field_bytes(&k->params[b]) <= p->offset ||
                    p->offset + field_bytes(p) <= k->params[b].offset);
    }
  }
}

static void names_are_unique_in_every_dialect(void **state)
{
  (void)state;
  for (size_t d = 0; d < OXP__COUNT(dialects); d++)
    for (size_t i = 0; i < oxp__kind_count; i++) {
      const oxp__kind *k = oxp__kinds[i];
      const char *name = dialects[d] ? oxp__kind_dialect_name(k, dialects[d]) : k->name;
      if (name && dialects[d])
        assert_ptr_equal(oxp__kind_in_dialect(dialects[d], name), k);
      for (int p = 0; p < k->param_count; p++) {
        const char *own = oxp__param_dialect_name(&k->params[p], dialects[d]);
        if (own)
          assert_ptr_equal(oxp__param_find(k, dialects[d], own), &k->params[p]);
      }
      for (int role = 0; role < k->weight_count; role++)
        assert_int_equal(oxp__role_find(k, dialects[d], oxp__role_dialect_name(&k->weights[role], dialects[d])), role);
    }
}

// A default that is not required must be a value that the parameter itself would accept.
static void defaults_are_legal(void **state)
{
  (void)state;
  for (size_t i = 0; i < oxp__kind_count; i++)
    for (size_t d = 0; d < OXP__COUNT(dialects); d++) {
      const oxp__kind *k = oxp__kinds[i];
      void *params = calloc(1, k->params_bytes + 1);
      oxp__params_default(k, dialects[d], params);
      for (int a = 0; a < k->param_count; a++) {
        const oxp__param *p = &k->params[a];
        if (oxp__param_required(p, dialects[d]) || (p->required && !oxp__param_dialect_name(p, dialects[d])))
          continue;
        double value = oxp__param_number(p, params, 0);
        if (isnan(value))
          assert_true(p->nullable);
        else if (p->type == OXP__PARAM_CHOICE)
          assert_int_equal(oxp__param_set_text(p, params, p->tokens[(int)value], NULL), OXP_OK);
        else
          assert_int_equal(oxp__param_set_numbers(p, params, 1, &value, NULL), OXP_OK);
      }
      free(params);
    }
}

static void drawn_parameters_are_legal_and_small(void **state)
{
  (void)state;
  oxp__random random = { .state = 7 };
  for (size_t i = 0; i < oxp__kind_count; i++) {
    const oxp__kind *k = oxp__kinds[i];
    void *params = calloc(1, k->params_bytes + 1);
    for (int n = 0; n < 200; n++) {
      oxp__shape inputs[OXP__DRAW_INPUTS], output;
      oxp_error error = { 0 };
      oxp__params_default(k, NULL, params);
      k->draw(&random, params, inputs);
      int count = 0;
      int64_t elements = 0;
      while (inputs[count].rank >= 0) {
        assert_true(oxp__shape_count(inputs[count].rank, inputs[count].dim, &elements) && elements > 0);
        assert_true(elements <= 10000);
        assert_true(++count < OXP__DRAW_INPUTS);
      }
      assert_true(count >= k->min_inputs && count <= k->max_inputs);
      oxp__layer layer = { .kind = k, .name = "drawn", .params = params, .input_count = count };
      if ((k->check && k->check(&layer, &error) != OXP_OK) || k->shape(&layer, inputs, &output, &error) != OXP_OK)
        fail_msg("%s: %s", k->name, error.message);
      assert_true(oxp__shape_count(output.rank, output.dim, &elements) && elements > 0);
    }
    free(params);
  }
}

// ---- Defaults and names of netcl ----

static double number(const char *kind_name, const char *dialect, const char *name)
{
  const oxp__kind *k = kind(kind_name);
  void *params = calloc(1, k->params_bytes);
  oxp__params_default(k, dialect, params);
  double value = oxp__param_number(param(kind_name, dialect, name), params, 0);
  free(params);
  return value;
}

static void netcl_defaults_hold_in_netcl_files(void **state)
{
  (void)state;
  assert_true(number("max_pool2d", "netcl", "kernel_size") == 2);
  assert_true(number("max_pool2d", "netcl", "stride") == 2); // the number, not the kernel
  assert_true(isnan(number("avg_pool2d", "netcl", "stride")));
  assert_true(number("leaky_relu", "netcl", "negative_slope") == 0.01);
  assert_true(number("gelu", "netcl", "approximate") == 1 && number("gelu", NULL, "approximate") == 0);
  assert_true(number("conv2d", "netcl", "pad") == 0 && number("conv2d", "netcl", "groups") == 1);
  assert_true(number("batch_norm", "netcl", "eps") == 1e-5 && number("batch_norm", "netcl", "momentum") == 0.1);
  assert_true(number("dropout", "netcl", "p") == 0.5 && isnan(number("dropout", "netcl", "seed")));
  assert_true(number("concat", "netcl", "axis") == 1);
}

static void required_depends_on_the_dialect(void **state)
{
  (void)state;
  assert_true(oxp__param_required(param("conv2d", "netcl", "kernel_size"), "netcl"));
  assert_false(oxp__param_required(param("conv2d", "netcl", "stride"), "netcl"));
  assert_true(oxp__param_required(param("max_pool2d", NULL, "strides"), NULL));
  assert_false(oxp__param_required(param("max_pool2d", NULL, "strides"), "netcl"));
  assert_true(oxp__param_required(param("linear", NULL, "in_features"), "netcl"));
  assert_null(oxp__param_find(kind("softmax"), "netcl", "axis"));
}

static void netcl_arguments_stand_in_netcl_order(void **state)
{
  (void)state;
  static const char *const order[] = { "in_channels", "out_channels", "kernel_size", "stride",
                                       "pad",         "bias",         "dilation",    "groups" };
  const oxp__kind *k = kind("conv2d");
  assert_int_equal(k->param_count, OXP__COUNT(order));
  for (int i = 0; i < k->param_count; i++)
    assert_string_equal(oxp__param_dialect_name(&k->params[i], "netcl"), order[i]);
}

static void torch_stores_linear_weights_the_other_way(void **state)
{
  (void)state;
  const oxp__kind *linear = kind("linear"), *batch_norm = kind("batch_norm");
  assert_string_equal(oxp__role_axes(&linear->weights[0], "torch"), "10");
  assert_null(oxp__role_axes(&linear->weights[0], "netcl"));
  assert_int_equal(oxp__role_find(batch_norm, "torch", "weight"), oxp__role_find(batch_norm, NULL, "gamma"));
  assert_int_equal(oxp__role_find(batch_norm, "torch", "running_var"), 3);
  assert_int_equal(oxp__role_find(batch_norm, "netcl", "weight"), -1);
}

// ---- Setting values ----

static void refuse_numbers(const char *kind_name, const char *name, int count, const double *numbers, const char *words)
{
  const oxp__kind *k = kind(kind_name);
  void *params = calloc(1, k->params_bytes);
  oxp_error error = { 0 };
  assert_int_equal(oxp__param_set_numbers(param(kind_name, NULL, name), params, count, numbers, &error),
                   OXP_BAD_ARGUMENT);
  if (!strstr(error.message, words) || !strstr(error.message, name))
    fail_msg("\"%s\" should name %s and %s", error.message, name, words);
  free(params);
}

static void values_out_of_range_are_named(void **state)
{
  (void)state;
  refuse_numbers("conv2d", "kernel_shape", 1, (double[]){ 0 }, "is 0; allowed is 1 to");
  refuse_numbers("conv2d", "strides", 2, (double[]){ 1, -3 }, "-3");
  refuse_numbers("conv2d", "pads", 1, (double[]){ -1 }, "-1");
  refuse_numbers("conv2d", "kernel_shape", 1, (double[]){ 2.5 }, "2.5");
  refuse_numbers("conv2d", "kernel_shape", 1, (double[]){ 1e300 }, "1e+300");
  refuse_numbers("conv2d", "kernel_shape", 1, (double[]){ NAN }, "NaN");
  refuse_numbers("conv2d", "kernel_shape", 3, (double[]){ 1, 2, 3 }, "3 numbers");
  refuse_numbers("conv2d", "pads", 2, (double[]){ 1, 2 }, "2 numbers");
  refuse_numbers("conv2d", "bias", 1, (double[]){ 2 }, "is 2");
  refuse_numbers("hard_sigmoid", "alpha", 1, (double[]){ INFINITY }, "Infinity");
  refuse_numbers("leaky_relu", "alpha", 1, (double[]){ 1e39 }, "1e+39");
  refuse_numbers("batch_norm", "epsilon", 1, (double[]){ -1e-5 }, "-1e-05");
  refuse_numbers("dropout", "p", 1, (double[]){ 1.5 }, "1.5");
  refuse_numbers("gelu", "approximate", 1, (double[]){ 1 }, "one of none, tanh");
  refuse_numbers("layer_norm", "normalized_shape", 9, (double[]){ 1, 1, 1, 1, 1, 1, 1, 1, 1 }, "9 numbers");
}

static void one_number_stands_for_all(void **state)
{
  (void)state;
  const oxp__kind *k = kind("conv2d");
  const oxp__param *pads = param("conv2d", NULL, "pads");
  void *params = calloc(1, k->params_bytes);
  assert_int_equal(oxp__param_set_numbers(pads, params, 1, (double[]){ 3.0 }, NULL), OXP_OK);
  for (int i = 0; i < 4; i++)
    assert_true(oxp__param_number(pads, params, i) == 3);
  assert_int_equal(oxp__param_set_ints(pads, params, 4, (int64_t[]){ 0, 1, 2, 3 }, NULL), OXP_OK);
  for (int i = 0; i < 4; i++)
    assert_true(oxp__param_number(pads, params, i) == i);
  free(params);
}

static void a_refused_value_changes_nothing(void **state)
{
  (void)state;
  const oxp__param *strides = param("conv2d", NULL, "strides");
  void *params = calloc(1, kind("conv2d")->params_bytes);
  assert_int_equal(oxp__param_set_ints(strides, params, 2, (int64_t[]){ 4, 5 }, NULL), OXP_OK);
  assert_int_equal(oxp__param_set_ints(strides, params, 2, (int64_t[]){ 6, 0 }, NULL), OXP_BAD_ARGUMENT);
  assert_true(oxp__param_number(strides, params, 0) == 4 && oxp__param_number(strides, params, 1) == 5);
  free(params);
}

static void texts_booleans_and_null_go_where_they_fit(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  int64_t room[16] = { 0 };
  const oxp__param *approximate = param("gelu", NULL, "approximate"), *epsilon = param("batch_norm", NULL, "epsilon");
  assert_int_equal(oxp__param_set_text(approximate, room, "tanh", NULL), OXP_OK);
  assert_true(oxp__param_number(approximate, room, 0) == 1);
  assert_int_equal(oxp__param_set_bool(approximate, room, false, NULL), OXP_OK);
  assert_true(oxp__param_number(approximate, room, 0) == 0);
  assert_int_equal(oxp__param_set_text(approximate, room, "fast", &error), OXP_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "\"fast\""));
  assert_int_equal(oxp__param_set_text(epsilon, room, "1e-5", &error), OXP_BAD_ARGUMENT);
  assert_int_equal(oxp__param_set_bool(epsilon, room, true, NULL), OXP_BAD_ARGUMENT);
  assert_int_equal(oxp__param_set_null(epsilon, room, &error), OXP_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "null"));
  const oxp__param *seed = param("dropout", NULL, "seed"), *mode = param("upsample", NULL, "mode");
  assert_int_equal(oxp__param_set_null(seed, room, NULL), OXP_OK);
  assert_true(isnan(oxp__param_number(seed, room, 0)));
  assert_true(oxp__param_is_int(seed) && oxp__param_int(seed, room, 0) == OXP__UNSET);
  assert_int_equal(oxp__param_set_ints(seed, room, 1, (int64_t[]){ INT64_MAX }, NULL), OXP_OK);
  assert_true(oxp__param_int(seed, room, 0) == INT64_MAX);
  assert_int_equal(oxp__param_set_numbers(seed, room, 1, (double[]){ 0x1p54 }, &error), OXP_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "seed is 18014398509481984, which is too large"));
  assert_int_equal(oxp__param_set_text(mode, room, "bicubic", NULL), OXP_BAD_ARGUMENT);
}

// ---- Shapes ----

static oxp_status infer(const char *kind_name, const void *params, int count, const oxp__shape *inputs,
                        oxp__shape *output, oxp_error *error)
{
  const oxp__kind *k = kind(kind_name);
  oxp__layer layer = { .kind = k, .name = "layer", .params = (void *)(uintptr_t)params, .input_count = count };
  return k->shape(&layer, inputs, output, error);
}

static void symbols_pass_where_sizes_do_not_change(void **state)
{
  (void)state;
  const oxp__kind *conv = kind("conv2d");
  void *params = calloc(1, conv->params_bytes);
  oxp__params_default(conv, NULL, params);
  int64_t three = 3, one = 1, eight = 8, two = 2;
  oxp__param_set_ints(param("conv2d", NULL, "in_channels"), params, 1, &three, NULL);
  oxp__param_set_ints(param("conv2d", NULL, "out_channels"), params, 1, &eight, NULL);
  oxp__param_set_ints(param("conv2d", NULL, "kernel_shape"), params, 1, &three, NULL);
  oxp__param_set_ints(param("conv2d", NULL, "pads"), params, 1, &one, NULL);
  oxp__shape in = { .rank = 4, .dim = { OXP_DIM_BATCH, 3, OXP_DIM_HEIGHT, OXP_DIM_WIDTH } }, out;
  assert_int_equal(infer("conv2d", params, 1, &in, &out, NULL), OXP_OK);
  assert_true(out.dim[0] == OXP_DIM_BATCH && out.dim[1] == 8 && out.dim[2] == OXP_DIM_HEIGHT &&
              out.dim[3] == OXP_DIM_WIDTH);
  oxp__param_set_ints(param("conv2d", NULL, "strides"), params, 1, &two, NULL);
  assert_int_equal(infer("conv2d", params, 1, &in, &out, NULL), OXP_OK);
  assert_true(out.dim[2] == OXP_DIM_UNKNOWN && out.dim[3] == OXP_DIM_UNKNOWN);
  free(params);
  assert_int_equal(infer("flatten", NULL, 1, &in, &out, NULL), OXP_OK);
  assert_true(out.rank == 2 && out.dim[0] == OXP_DIM_BATCH && out.dim[1] == OXP_DIM_UNKNOWN);
}

static void broadcasting_knows_symbols(void **state)
{
  (void)state;
  oxp__shape out, pair[2] = {
    { .rank = 4, .dim = { OXP_DIM_BATCH, 8, OXP_DIM_UNKNOWN, 1 } },
    { .rank = 4, .dim = { OXP_DIM_BATCH, 1, OXP_DIM_UNKNOWN, OXP_DIM_WIDTH } },
  };
  assert_int_equal(infer("add", NULL, 2, pair, &out, NULL), OXP_OK);
  assert_true(out.dim[0] == OXP_DIM_BATCH && out.dim[1] == 8 && out.dim[2] == OXP_DIM_UNKNOWN &&
              out.dim[3] == OXP_DIM_WIDTH);
  pair[1] = (oxp__shape){ .rank = 2, .dim = { 5, 1 } };
  assert_int_equal(infer("add", NULL, 2, pair, &out, NULL), OXP_OK);
  assert_true(out.rank == 4 && out.dim[2] == 5);
  pair[1] = (oxp__shape){ .rank = 3, .dim = { 9, 5, 1 } };
  oxp_error error = { 0 };
  assert_int_equal(infer("mul", NULL, 2, pair, &out, &error), OXP_BAD_NETWORK);
  assert_non_null(strstr(error.message, "(9, 5, 1)"));
}

static void windows_larger_than_the_map_are_refused(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp__layer layer = { .kind = kind("max_pool2d"), .name = "pool" };
  int64_t out = 0;
  assert_int_equal(oxp__shape_window(&layer, 4, 5, 2, 0, 0, 1, &out, &error), OXP_BAD_NETWORK);
  assert_non_null(strstr(error.message, "5"));
  assert_non_null(strstr(error.message, "4"));
  assert_int_equal(oxp__shape_window(&layer, 4, 5, 2, 1, 0, 1, &out, NULL), OXP_OK);
  assert_int_equal(out, 1);
  assert_int_equal(oxp__shape_window(&layer, 4, INT64_MAX, 1, 0, 0, INT64_MAX, &out, NULL), OXP_BAD_NETWORK);
  assert_int_equal(oxp__shape_window(&layer, INT64_MAX, 1, 1, 1, 1, 1, &out, NULL), OXP_BAD_NETWORK);
}

static void channels_that_do_not_fit_are_refused(void **state)
{
  (void)state;
  struct {
    int64_t num_features;
    double momentum, epsilon;
  } params = { 5, 0.1, 1e-5 };
  oxp_error error = { 0 };
  oxp__shape out, in = { .rank = 4, .dim = { 1, 4, 2, 2 } };
  assert_int_equal(infer("batch_norm", &params, 1, &in, &out, &error), OXP_BAD_NETWORK);
  assert_non_null(strstr(error.message, "4 channels"));
  assert_non_null(strstr(error.message, "needs 5"));
  in.rank = 2;
  assert_int_equal(infer("batch_norm", &params, 1, &in, &out, &error), OXP_BAD_NETWORK);
  assert_non_null(strstr(error.message, "rank 2"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(rows_are_sorted_and_found_by_name),
    cmocka_unit_test(rows_are_complete),
    cmocka_unit_test(parameters_lie_inside_their_struct_and_apart),
    cmocka_unit_test(names_are_unique_in_every_dialect),
    cmocka_unit_test(defaults_are_legal),
    cmocka_unit_test(drawn_parameters_are_legal_and_small),
    cmocka_unit_test(netcl_defaults_hold_in_netcl_files),
    cmocka_unit_test(required_depends_on_the_dialect),
    cmocka_unit_test(netcl_arguments_stand_in_netcl_order),
    cmocka_unit_test(torch_stores_linear_weights_the_other_way),
    cmocka_unit_test(values_out_of_range_are_named),
    cmocka_unit_test(one_number_stands_for_all),
    cmocka_unit_test(a_refused_value_changes_nothing),
    cmocka_unit_test(texts_booleans_and_null_go_where_they_fit),
    cmocka_unit_test(symbols_pass_where_sizes_do_not_change),
    cmocka_unit_test(broadcasting_knows_symbols),
    cmocka_unit_test(windows_larger_than_the_map_are_refused),
    cmocka_unit_test(channels_that_do_not_fit_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
