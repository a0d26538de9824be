// max_pool2d.c: the largest value of each window. Places outside the map count as -infinity; NaN in a window gives NaN.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include <math.h>

#include "layers/common/pool.h"

static const oxp__param max_pool2d_params[] = {
  { .name = "kernel_shape",
    OXP__SIZES(oxp__pool, kernel_shape, 2, 1),
    OXP__REQUIRED,
    .doc = "height and width of the window",
    .in = { { .dialect = "netcl", .name = "kernel_size", .has_value = true, .value = 2, .whole = true } } },
  { .name = "strides",
    OXP__SIZES(oxp__pool, strides, 2, 1),
    OXP__REQUIRED,
    .doc = "steps of the window; must be given, because frameworks disagree on the default (1, 2, the kernel)",
    .in = { { .dialect = "netcl", .name = "stride", .has_value = true, .value = 2, .whole = true } } },
  { .name = "pads",
    OXP__SIZES(oxp__pool, pads, 4, 0),
    .doc = "places around the map that never win: top, left, bottom, right; each below the kernel",
    .in = { { .dialect = "netcl", .name = NULL } } },
};

static oxp_status max_pool2d_check(const oxp__layer *layer, oxp_error *error)
{
  const oxp__pool *p = layer->params;
  for (int i = 0; i < 4; i++)
    if (p->pads[i] >= p->kernel_shape[i % 2])
      return oxp__fail(error, OXP_BAD_NETWORK, "pads hold %lld, which is not below the kernel's %lld",
                       (long long)p->pads[i], (long long)p->kernel_shape[i % 2]);
  return OXP_OK;
}

static oxp_status max_pool2d_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output,
                                   oxp_error *error)
{
  return oxp__pool_shape(layer, layer->params, &inputs[0], output, error);
}

static double max_pool2d_of(const double *x, int64_t row_length, int64_t rows, int64_t columns)
{
  double largest = -INFINITY;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      double value = x[i * row_length + j];
      if (value > largest || isnan(value))
        largest = value;
    }
  return largest;
}

static void max_pool2d_ref(const oxp__ref *io)
{
  oxp__pool_ref(io, io->layer->params, max_pool2d_of);
}

static oxp_status max_pool2d_lower(oxp__lowering *to, const oxp__layer *layer)
{
  return oxp__pool_lower(to, layer->params, "MaxPool");
}

static void max_pool2d_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  oxp__pool *p = params;
  oxp__pool_draw(random, p, true, inputs);
}

const oxp__kind oxp__kind_max_pool2d = {
  .name = "max_pool2d",
  .doc = "largest value of each window; sizes rounded down",
  .formula = "y[n,c,i,j] = max over k,l of x[n,c, i s + k - p, j s + l - p]",
  .names = { { "netcl", "MaxPool2d" } },
  .params = OXP__ROWS(max_pool2d_params),
  .params_bytes = sizeof(oxp__pool),
  .min_inputs = 1,
  .max_inputs = 1,
  .check = max_pool2d_check,
  .shape = max_pool2d_shape,
  .ref = max_pool2d_ref,
  .lower = { { 7, max_pool2d_lower } },
  .tolerance = OXP__EXACT,
  .draw = max_pool2d_draw,
};
