// test_layers_golden.c: the kernels of single layers against netcl's own results: every file of data/netcl/layers is looked
// at, under netcl's own class and argument names. Classes that we do not have must be unknown.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "formats/containers/npy.h"
#include "layers/kind.h"

// netcl computes in float32; the kernels do not.
static const double tolerance = 2e-6;

typedef struct golden {
  oxp__arena arena;
  oxp__zip *zip;
  json_t *description;
  const oxp__kind *kind; // NULL: not known
} golden;

static void right(oxp_status status, const oxp_error *error)
{
  if (status != OXP_OK)
    fail_msg("%s", error->message);
}

static void golden_open(golden *g, const char *name)
{
  oxp_error error = { 0 };
  oxp__file *file;
  oxp__npy npy;
  char path[1024], *text;
  snprintf(path, sizeof path, OXP_TEST_DATA "/netcl/layers/%s.npz", name);
  right(oxp__file_open(&g->arena, path, &file, &error), &error);
  right(oxp__zip_open(&g->arena, file, &g->zip, &error), &error);
  const oxp__zip_member *member = oxp__zip_find(g->zip, "args.npy");
  assert_non_null(member);
  right(oxp__npy_open_member(&g->arena, g->zip, member, &npy, &error), &error);
  right(oxp__npy_read_text(&g->arena, &npy, 4096, &text, &error), &error);
  g->description = json_loads(text, 0, NULL);
  assert_non_null(g->description);
  g->kind = oxp__kind_in_dialect("netcl", json_string_value(json_object_get(g->description, "class")));
}

static void golden_close(golden *g)
{
  json_decref(g->description);
  oxp__arena_fini(&g->arena);
}

// The array called `name` as doubles; rank -1 when there is none.
static oxp__f64 golden_read(golden *g, const char *name)
{
  oxp_error error = { 0 };
  oxp__f64 array = { .shape = { .rank = -1 } };
  oxp__npy npy;
  char file_name[64];
  snprintf(file_name, sizeof file_name, "%s.npy", name);
  const oxp__zip_member *member = oxp__zip_find(g->zip, file_name);
  if (!member)
    return array;
  right(oxp__npy_open_member(&g->arena, g->zip, member, &npy, &error), &error);
  array.shape.rank = npy.tensor.rank;
  memcpy(array.shape.dim, npy.tensor.shape, sizeof array.shape.dim);
  array.count = oxp__tensor_count(&npy.tensor);
  array.at = oxp__arena_new(&g->arena, (size_t)array.count, sizeof(double));
  assert_non_null(array.at);
  right(oxp__tensor_read_f64(&npy.tensor, array.at, &error), &error);
  return array;
}

static oxp_status set_argument(const oxp__param *param, void *params, const json_t *value, oxp_error *error)
{
  if (json_is_boolean(value))
    return oxp__param_set_bool(param, params, json_is_true(value), error);
  if (json_is_string(value))
    return oxp__param_set_text(param, params, json_string_value(value), error);
  if (json_is_null(value))
    return oxp__param_set_null(param, params, error);
  double numbers[OXP_MAX_RANK] = { json_number_value(value) };
  int count = json_is_array(value) ? (int)json_array_size(value) : 1;
  for (int i = 0; json_is_array(value) && i < count; i++)
    numbers[i] = json_number_value(json_array_get(value, (size_t)i));
  return oxp__param_set_numbers(param, params, count, numbers, error);
}

static oxp_status set_arguments(golden *g, void *params, oxp_error *error)
{
  const char *name;
  json_t *value;
  oxp__params_default(g->kind, "netcl", params);
  json_object_foreach(json_object_get(g->description, "args"), name, value)
  {
    const oxp__param *param = oxp__param_find(g->kind, "netcl", name);
    if (!param)
      fail_msg("%s does not know netcl's argument %s", g->kind->name, name);
    OXP__TRY(set_argument(param, params, value, error));
  }
  return OXP_OK;
}

static int read_inputs(golden *g, oxp__f64 *inputs)
{
  inputs[0] = golden_read(g, "x");
  if (inputs[0].shape.rank >= 0)
    return 1;
  inputs[0] = golden_read(g, "x0");
  inputs[1] = golden_read(g, "x1");
  return 2;
}

static void check_weights(golden *g, const oxp__layer *layer, oxp__f64 *weights)
{
  for (int role = 0; role < g->kind->weight_count; role++) {
    char name[64];
    oxp__shape wanted;
    snprintf(name, sizeof name, "p:%s", oxp__role_dialect_name(&g->kind->weights[role], "netcl"));
    weights[role] = golden_read(g, name);
    g->kind->weight_shape(layer, role, &wanted);
    assert_int_equal(weights[role].shape.rank, wanted.rank);
    for (int i = 0; i < wanted.rank; i++)
      assert_int_equal(weights[role].shape.dim[i], wanted.dim[i]);
  }
}

// The output of the kernel (of a kind that passes through: the input) for netcl's input.
static oxp__f64 compute(golden *g, void *params)
{
  oxp_error error = { 0 };
  oxp__f64 inputs[2], weights[8] = { 0 }, output = { 0 };
  oxp__shape shapes[2];
  oxp__layer layer = { .kind = g->kind, .name = "golden", .params = params, .input_count = read_inputs(g, inputs) };
  for (int i = 0; i < layer.input_count; i++)
    shapes[i] = inputs[i].shape;
  if (g->kind->passes_through)
    return inputs[0];
  check_weights(g, &layer, weights);
  right(g->kind->check ? g->kind->check(&layer, &error) : OXP_OK, &error);
  right(g->kind->shape(&layer, shapes, &output.shape, &error), &error);
  assert_true(oxp__shape_count(output.shape.rank, output.shape.dim, &output.count));
  output.at = oxp__arena_new(&g->arena, (size_t)output.count, sizeof(double));
  assert_non_null(output.at);
  g->kind->ref(&(oxp__ref){
      .layer = &layer, .inputs = inputs, .input_count = layer.input_count, .weights = weights, .output = &output });
  return output;
}

static void compare(golden *g, const char *name, void *params)
{
  oxp__f64 expected = golden_read(g, "y"), actual = compute(g, params);
  double worst = 0, scale = 1;
  assert_int_equal(actual.shape.rank, expected.shape.rank);
  for (int i = 0; i < expected.shape.rank; i++)
    assert_int_equal(actual.shape.dim[i], expected.shape.dim[i]);
  for (int64_t i = 0; i < expected.count; i++) {
    worst = fmax(worst, fabs(actual.at[i] - expected.at[i]));
    scale = fmax(scale, fabs(expected.at[i]));
  }
  print_message("  %-22s %-18s largest difference %.1e\n", name, g->kind->name, worst);
  if (!(worst <= tolerance * scale))
    fail_msg("%s differs by %g", name, worst);
}

static const char *const same[] = {
  "AdaptiveAvgPool2d",
  "AvgPool2d",
  "AvgPool2d_k2",
  "Concat",
  "ConvTranspose2d",
  "ConvTranspose2d_s3",
  "DepthwiseConv2d",
  "ELU",
  "GELU_erf",
  "GELU_tanh",
  "GlobalAvgPool2d",
  "GroupNorm",
  "HardSigmoid",
  "HardSwish",
  "HardTanh",
  "Identity",
  "LayerNorm",
  "Linear_3d",
  "PReLU",
  "RMSNorm",
  "SiLU",
  "Softmax",
  "Softplus",
  "SwiGLU",
  "Upsample_bilinear",
  "Upsample_bilinear2",
  "Upsample_bilinear_corners",
  "Upsample_nearest1.5",
  "Upsample_nearest2",
  "Upsample_nearest_size",
};

static const char *const unknown[] = {
  "CausalSelfAttention",     "CausalSelfAttention_full", "DecoderBlock", "Embedding",        "MultiheadAttention",
  "PositionalEmbedding",     "RotaryAttention",          "TiedLinear",   "TransformerBlock", "TransformerBlock_relu",
  "TransformerEncoderLayer",
};

static void kernels_agree_with_netcl(void **state)
{
  (void)state;
  for (size_t i = 0; i < OXP__COUNT(same); i++) {
    golden g = { 0 };
    oxp_error error = { 0 };
    golden_open(&g, same[i]);
    assert_non_null(g.kind);
    void *params = oxp__arena_new(&g.arena, 1, g.kind->params_bytes);
    right(set_arguments(&g, params, &error), &error);
    compare(&g, same[i], params);
    golden_close(&g);
  }
}

// ---- Upsampling, size by size ----

// The kind's kernel on a column of `in` values, resized to `out` rows.
static void upsample_column(const char *mode, bool aligned, int64_t in, const double *x, int64_t out, double *y)
{
  const oxp__kind *kind = oxp__kind_by_name("upsample");
  double params[16] = { 0 };
  assert_true(kind->params_bytes <= sizeof params);
  oxp__params_default(kind, "netcl", params);
  const int64_t size[] = { out, 1 };
  right(oxp__param_set_ints(oxp__param_find(kind, "netcl", "size"), params, 2, size, NULL), NULL);
  right(oxp__param_set_text(oxp__param_find(kind, "netcl", "mode"), params, mode, NULL), NULL);
  right(oxp__param_set_bool(oxp__param_find(kind, "netcl", "align_corners"), params, aligned, NULL), NULL);
  double input[128];
  memcpy(input, x, (size_t)in * sizeof *x);
  oxp__layer layer = { .kind = kind, .name = "column", .params = params, .input_count = 1 };
  oxp__f64 source = { .shape = { .rank = 4, .dim = { 1, 1, in, 1 } }, .count = in, .at = input };
  oxp__f64 target = { .count = out, .at = y };
  right(kind->shape(&layer, &source.shape, &target.shape, NULL), NULL);
  kind->ref(&(oxp__ref){ .layer = &layer, .inputs = &source, .input_count = 1, .output = &target });
}

static void read_upsample_file(const char *name, oxp_dtype dtype, oxp_array *array)
{
  oxp_error error = { 0 };
  char path[1024];
  snprintf(path, sizeof path, OXP_TEST_DATA "/netcl/upsample/%s.npy", name);
  right(oxp_array_read(path, array, &error), &error);
  assert_int_equal(array->dtype, dtype);
}

// The file holds every place, of all sizes to 128, where netcl shows another row than exact arithmetic would.
static void nearest_rows_are_netcls_at_every_size(void **state)
{
  (void)state;
  oxp_array file;
  read_upsample_file("nearest", OXP_INT16, &file);
  const int16_t *row = file.data, *end = row + oxp_array_count(&file);
  double x[128], y[128];
  for (int i = 0; i < 128; i++)
    x[i] = i;
  for (int64_t in = 1; in <= 128; in++)
    for (int64_t out = 1; out <= 128; out++) {
      upsample_column("nearest", false, in, x, out, y);
      for (int64_t place = 0; place < out; place++) {
        bool listed = row < end && row[0] == in && row[1] == out && row[2] == place;
        int64_t expected = listed ? row[3] : place * in / out;
        if ((int64_t)y[place] != expected)
          fail_msg("%d rows of %d: row %d shows %d, netcl %d", (int)out, (int)in, (int)place, (int)y[place],
                   (int)expected);
        row += listed ? 4 : 0;
      }
    }
  assert_ptr_equal(row, end);
  oxp_array_free(&file);
}

// netcl counts in float32, where a coordinate below 10 is off by up to 2^-20; neighbours here differ by less than 1.
static void bilinear_rows_are_netcls_at_every_size(void **state)
{
  (void)state;
  oxp_array file;
  read_upsample_file("bilinear", OXP_FLOAT32, &file);
  const float *expected = file.data;
  double x[10], y[16];
  for (int i = 0; i < 10; i++)
    x[i] = (float)((i * 37 % 101 - 50) / 100.0);
  for (int64_t in = 1; in <= 10; in++)
    for (int64_t out = 1; out <= 16; out++)
      for (int aligned = 0; aligned <= 1; aligned++) {
        upsample_column("bilinear", aligned, in, x, out, y);
        for (int64_t place = 0; place < out; place++, expected++)
          if (!(fabs(y[place] - *expected) <= 0x1p-20))
            fail_msg("%d rows of %d, aligned %d, row %d: %g, netcl %g", (int)out, (int)in, aligned, (int)place,
                     y[place], (double)*expected);
      }
  assert_ptr_equal(expected, (const float *)file.data + oxp_array_count(&file));
  oxp_array_free(&file);
}

static void other_classes_are_unknown(void **state)
{
  (void)state;
  for (size_t i = 0; i < OXP__COUNT(unknown); i++) {
    golden g = { 0 };
    golden_open(&g, unknown[i]);
    assert_null(g.kind);
    golden_close(&g);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(kernels_agree_with_netcl),
    cmocka_unit_test(nearest_rows_are_netcls_at_every_size),
    cmocka_unit_test(bilinear_rows_are_netcls_at_every_size),
    cmocka_unit_test(other_classes_are_unknown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
