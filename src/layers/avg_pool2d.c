// avg_pool2d.c: the mean of each window, without padding.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/pool.h"

static const oxp__param avg_pool2d_params[] = {
  { .name = "kernel_shape",
    OXP__SIZES(oxp__pool, kernel_shape, 2, 1),
    OXP__REQUIRED,
    .doc = "height and width of the window",
    .in = { { .dialect = "netcl", .name = "kernel_size", .has_value = true, .value = 2, .whole = true } } },
  { .name = "strides",
    OXP__SIZES(oxp__pool, strides, 2, 1),
    OXP__REQUIRED,
    .nullable = true,
    .doc = "steps of the window, unset: the kernel; must be given, because frameworks disagree on it",
    .in = { { .dialect = "netcl",
              .name = "stride",
              .has_value = true,
              .value = (double)OXP__UNSET,
              .whole = true } } }, // null there: the kernel
};

static oxp_status avg_pool2d_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output,
                                   oxp_error *error)
{
  return oxp__pool_shape(layer, layer->params, &inputs[0], output, error);
}

static double avg_pool2d_of(const double *x, int64_t row_length, int64_t rows, int64_t columns)
{
  double sum = 0;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      sum += x[i * row_length + j];
  return sum / (double)(rows * columns);
}

static void avg_pool2d_ref(const oxp__ref *io)
{
  oxp__pool_ref(io, io->layer->params, avg_pool2d_of);
}

static oxp_status avg_pool2d_lower(oxp__lowering *to, const oxp__layer *layer)
{
  return oxp__pool_lower(to, layer->params, "AveragePool");
}

static void avg_pool2d_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  oxp__pool_draw(random, params, false, inputs);
}

const oxp__kind oxp__kind_avg_pool2d = {
  .name = "avg_pool2d",
  .doc = "mean of each window, without padding; sizes rounded down",
  .formula = "y[n,c,i,j] = mean over k,l of x[n,c, i s + k, j s + l]",
  .names = { { "netcl", "AvgPool2d" } },
  .params = OXP__ROWS(avg_pool2d_params),
  .params_bytes = sizeof(oxp__pool),
  .min_inputs = 1,
  .max_inputs = 1,
  .shape = avg_pool2d_shape,
  .ref = avg_pool2d_ref,
  .lower = { { 13, avg_pool2d_lower } },
  .tolerance = OXP__REDUCTION,
  .draw = avg_pool2d_draw,
};
