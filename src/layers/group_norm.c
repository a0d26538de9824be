// group_norm.c: each sample's channels brought to mean 0 and variance 1 in groups, over channels and map together, then
// scaled and shifted per channel.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/draw.h"
#include "layers/common/shapes.h"
#include "layers/common/standardize.h"

typedef struct {
  int64_t num_groups, num_channels;
  double epsilon;
} group_norm;

enum { GROUP_NORM_GAMMA, GROUP_NORM_BETA };

static const oxp__param group_norm_params[] = {
  { .name = "num_groups",
    OXP__SIZE(group_norm, num_groups, 1),
    OXP__REQUIRED,
    .doc = "groups; they divide the channels",
    .in = { { .dialect = "netcl", .name = "num_groups", .required = true, .whole = true } } },
  { .name = "num_channels",
    OXP__SIZE(group_norm, num_channels, 1),
    OXP__REQUIRED,
    .doc = "channels of the input",
    .in = { { .dialect = "netcl", .name = "num_channels", .required = true, .whole = true } } },
  { .name = "epsilon",
    OXP__NOT_NEGATIVE(group_norm, epsilon),
    .value = 1e-5,
    .doc = "added to the variance",
    .in = { { .dialect = "netcl", .name = "eps" } } },
};

static const oxp__weight_row group_norm_weights[] = {
  { .role = "gamma", .doc = "scale (num_channels,)", .in = { { .dialect = "torch", .name = "weight" } } },
  { .role = "beta", .doc = "shift (num_channels,)", .in = { { .dialect = "torch", .name = "bias" } } },
};

static void group_norm_weight_shape(const oxp__layer *layer, int role, oxp__shape *shape)
{
  (void)role;
  *shape = (oxp__shape){ .rank = 1, .dim = { ((const group_norm *)layer->params)->num_channels } };
}

static oxp_status group_norm_check(const oxp__layer *layer, oxp_error *error)
{
  const group_norm *p = layer->params;
  if (p->num_channels % p->num_groups == 0)
    return OXP_OK;
  return oxp__fail(error, OXP_BAD_NETWORK, "num_groups is %lld, which does not divide num_channels %lld",
                   (long long)p->num_groups, (long long)p->num_channels);
}

static oxp_status group_norm_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output,
                                   oxp_error *error)
{
  const group_norm *p = layer->params;
  OXP__TRY(oxp__shape_need_rank(layer, &inputs[0], 4, error));
  OXP__TRY(oxp__shape_need_dim(layer, &inputs[0], 1, p->num_channels, "channels", error));
  *output = inputs[0];
  return OXP_OK;
}

// One group: `channels` maps of `map` values each.
static void group_norm_group(const oxp__ref *io, const double *x, double *y, int64_t first, int64_t channels,
                             int64_t map)
{
  const double *gamma = io->weights[GROUP_NORM_GAMMA].at + first, *beta = io->weights[GROUP_NORM_BETA].at + first;
  oxp__standardize_ref(x, y, channels * map, ((const group_norm *)io->layer->params)->epsilon);
  for (int64_t i = 0; i < channels * map; i++)
    y[i] = y[i] * gamma[i / map] + beta[i / map];
}

static void group_norm_ref(const oxp__ref *io)
{
  const group_norm *p = io->layer->params;
  const int64_t *dim = io->output->shape.dim;
  int64_t channels = p->num_channels / p->num_groups, map = dim[2] * dim[3];
  for (int64_t group = 0; group < dim[0] * p->num_groups; group++) {
    int64_t at = group * channels * map;
    group_norm_group(io, io->inputs[0].at + at, io->output->at + at, group % p->num_groups * channels, channels, map);
  }
}

// --- Lowering ---

// How many values a group has; -1 where that is open, for Reshape to find.
static int64_t group_norm_values(const group_norm *p, const oxp__shape *shape)
{
  int64_t map, values;
  bool known = shape->dim[2] >= 0 && shape->dim[3] >= 0 && oxp__mul_i64(shape->dim[2], shape->dim[3], &map) &&
               oxp__mul_i64(map, p->num_channels / p->num_groups, &values);
  return known ? values : -1;
}

// The shape to go back to from (N, G, values). Where height and width are both open only the input knows it.
static const char *group_norm_lower_shape(oxp__lowering *to, const char *x, const oxp__shape *shape)
{
  int64_t back[4] = { 0, shape->dim[1], shape->dim[2], shape->dim[3] }; // 0: as it is
  if (back[2] >= 0 || back[3] >= 0) {
    for (int i = 2; i < 4; i++)
      back[i] = back[i] < 0 ? -1 : back[i];
    return oxp__lower_ints(to, "shape", 4, back);
  }
  const char *inner;
  oxp__lower_inner(to, "Shape", OXP__IN(x), &inner);
  return inner;
}

// ONNX's GroupNormalization scales groups before opset 21, and is defined by a difference of squares, which cancels.
// The formula itself, step by step, is right at every opset.
static oxp_status group_norm_lower(oxp__lowering *to, const oxp__layer *layer)
{
  const group_norm *p = layer->params;
  oxp__shape shape = *oxp__lower_output_shape(to);
  shape.dim[1] = p->num_channels;
  const int64_t grouped[] = { 0, p->num_groups, group_norm_values(p, &shape) }, column[] = { p->num_channels, 1, 1 };
  const char *x = oxp__lower_input(to, 0), *groups, *maps, *scaled;
  oxp__lower_inner(to, "Reshape", OXP__IN(x, oxp__lower_ints(to, "groups", 3, grouped)), &groups);
  const char *normal = oxp__standardize_lower(to, groups, 1, (int64_t[]){ 2 }, p->epsilon);
  oxp__lower_inner(to, "Reshape", OXP__IN(normal, group_norm_lower_shape(to, x, &shape)), &maps);
  oxp__lower_inner(to, "Mul", OXP__IN(maps, oxp__lower_weight_shaped(to, GROUP_NORM_GAMMA, 3, column)), &scaled);
  oxp__lower_node(to, "Add", OXP__IN(scaled, oxp__lower_weight_shaped(to, GROUP_NORM_BETA, 3, column)));
  return OXP_OK;
}

static oxp_status group_norm_doubt(const oxp__layer *layer, oxp__text *clause, oxp_error *error)
{
  (void)error;
  oxp__standardize_doubt(((const group_norm *)layer->params)->epsilon, clause);
  return OXP_OK;
}

static void group_norm_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  group_norm *p = params;
  oxp__draw_input(random, inputs, 4);
  p->num_groups = oxp__random_range(random, 1, 4);
  p->num_channels = inputs[0].dim[1] = p->num_groups * oxp__random_range(random, 1, 3);
  // At least six values in a group: two always become -1 and 1, whatever they are, which hides and exaggerates
  // rounding.
  inputs[0].dim[2] += 2;
  inputs[0].dim[3] += 1;
  p->epsilon = oxp__draw_one_in(random, 2) ? 1e-5 : 1e-3;
}

const oxp__kind oxp__kind_group_norm = {
  .name = "group_norm",
  .doc = "normalization of each sample in groups of channels, over channels and map together",
  .formula = "y = (x - mean(group)) / sqrt(var(group) + epsilon) * gamma[c] + beta[c]",
  .names = { { "netcl", "GroupNorm" }, { "torch", "GroupNorm" } },
  .params = OXP__ROWS(group_norm_params),
  .params_bytes = sizeof(group_norm),
  .weights = OXP__ROWS(group_norm_weights),
  .min_inputs = 1,
  .max_inputs = 1,
  .weight_shape = group_norm_weight_shape,
  .check = group_norm_check,
  .shape = group_norm_shape,
  .ref = group_norm_ref,
  .lower = { { 13, group_norm_lower } },
  .tolerance = OXP__REDUCTION,
  .doubt = group_norm_doubt,
  .draw = group_norm_draw,
};
