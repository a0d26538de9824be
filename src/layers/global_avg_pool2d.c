// global_avg_pool2d.c: the mean of each channel's whole map.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/draw.h"
#include "layers/common/map.h"

typedef struct {
  int64_t output_size[2];
} global_avg_pool2d;

static const oxp__param global_avg_pool2d_params[] = {
  { .name = "output_size",
    .type = OXP__PARAM_INTS,
    .offset = offsetof(global_avg_pool2d, output_size),
    .count = 2,
    .minimum = 1,
    .maximum = 1,
    .value = 1,
    .doc = "height and width of the output: 1, which is all that netcl's AdaptiveAvgPool2d can" },
};

static oxp_status global_avg_pool2d_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output,
                                          oxp_error *error)
{
  OXP__TRY(oxp__shape_need_rank(layer, &inputs[0], 4, error));
  *output = inputs[0];
  output->dim[2] = output->dim[3] = 1;
  return OXP_OK;
}

static void global_avg_pool2d_ref(const oxp__ref *io)
{
  const int64_t *in = io->inputs[0].shape.dim;
  int64_t map = in[2] * in[3];
  for (int64_t i = 0; i < io->output->count; i++) {
    double sum = 0;
    for (int64_t j = 0; j < map; j++)
      sum += io->inputs[0].at[i * map + j];
    io->output->at[i] = sum / (double)map;
  }
}

static oxp_status global_avg_pool2d_lower(oxp__lowering *to, const oxp__layer *layer)
{
  (void)layer;
  return oxp__map_lower(to, "GlobalAveragePool");
}

static void global_avg_pool2d_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  (void)params;
  oxp__draw_input(random, inputs, 4);
}

const oxp__kind oxp__kind_global_avg_pool2d = {
  .name = "global_avg_pool2d",
  .doc = "mean over height and width, which become 1",
  .formula = "y[n,c,0,0] = mean over i,j of x[n,c,i,j]",
  .names = { { "netcl", "GlobalAvgPool2d" }, { "netcl", "AdaptiveAvgPool2d" } },
  .params = OXP__ROWS(global_avg_pool2d_params),
  .params_bytes = sizeof(global_avg_pool2d),
  .min_inputs = 1,
  .max_inputs = 1,
  .shape = global_avg_pool2d_shape,
  .ref = global_avg_pool2d_ref,
  .lower = { { 13, global_avg_pool2d_lower } },
  .tolerance = OXP__REDUCTION,
  .draw = global_avg_pool2d_draw,
};
