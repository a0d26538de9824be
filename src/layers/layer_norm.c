// layer_norm.c: each sample brought to mean 0 and variance 1 over its last axes, then scaled and shifted.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/draw.h"
#include "layers/common/shapes.h"
#include "layers/common/standardize.h"

typedef struct {
  oxp__list normalized_shape;
  double epsilon;
} layer_norm;

enum { LAYER_NORM_GAMMA, LAYER_NORM_BETA };

static const oxp__param layer_norm_params[] = {
  { .name = "normalized_shape",
    .type = OXP__PARAM_LIST,
    .offset = offsetof(layer_norm, normalized_shape),
    .minimum = 1,
    .maximum = OXP__MAX_SIZE,
    OXP__REQUIRED,
    .doc = "sizes of the last axes, over all of which mean and variance are taken" },
  { .name = "epsilon",
    OXP__NOT_NEGATIVE(layer_norm, epsilon),
    .value = 1e-5,
    .doc = "added to the variance",
    .in = { { .dialect = "netcl", .name = "eps" } } },
};

static const oxp__weight_row layer_norm_weights[] = {
  { .role = "gamma", .doc = "scale, of shape normalized_shape", .in = { { .dialect = "torch", .name = "weight" } } },
  { .role = "beta", .doc = "shift, of shape normalized_shape", .in = { { .dialect = "torch", .name = "bias" } } },
};

static void layer_norm_weight_shape(const oxp__layer *layer, int role, oxp__shape *shape)
{
  (void)role;
  const layer_norm *p = layer->params;
  shape->rank = p->normalized_shape.count;
  for (int i = 0; i < shape->rank; i++)
    shape->dim[i] = p->normalized_shape.at[i];
}

static oxp_status layer_norm_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output,
                                   oxp_error *error)
{
  const layer_norm *p = layer->params;
  const oxp__shape *x = &inputs[0];
  int first = x->rank - p->normalized_shape.count;
  if (first < 1)
    return oxp__shape_fail(x, error, "normalized_shape must leave the batch axis out");
  for (int i = 0; i < p->normalized_shape.count; i++)
    OXP__TRY(oxp__shape_need_dim(layer, x, first + i, p->normalized_shape.at[i], "places on a normalized axis", error));
  *output = *x;
  return OXP_OK;
}

static void layer_norm_row(const oxp__ref *io, const double *x, double *y, int64_t count)
{
  const layer_norm *p = io->layer->params;
  const double *gamma = io->weights[LAYER_NORM_GAMMA].at, *beta = io->weights[LAYER_NORM_BETA].at;
  oxp__standardize_ref(x, y, count, p->epsilon);
  for (int64_t i = 0; i < count; i++)
    y[i] = y[i] * gamma[i] + beta[i];
}

static void layer_norm_ref(const oxp__ref *io)
{
  int64_t count = io->weights[LAYER_NORM_GAMMA].count;
  for (int64_t at = 0; at < io->output->count; at += count)
    layer_norm_row(io, io->inputs[0].at + at, io->output->at + at, count);
}

// Before opset 17 there is no LayerNormalization: the formula, step by step.
static oxp_status layer_norm_lower_decomposed(oxp__lowering *to, const oxp__layer *layer)
{
  const layer_norm *p = layer->params;
  const char *x = oxp__lower_input(to, 0), *gamma = oxp__lower_weight(to, LAYER_NORM_GAMMA);
  const char *beta = oxp__lower_weight(to, LAYER_NORM_BETA);
  int64_t axes[OXP_MAX_RANK];
  for (int i = 0; i < p->normalized_shape.count; i++)
    axes[i] = i - p->normalized_shape.count;
  const char *normal = oxp__standardize_lower(to, x, p->normalized_shape.count, axes, p->epsilon), *scaled;
  oxp__lower_inner(to, "Mul", OXP__IN(normal, gamma), &scaled);
  oxp__lower_node(to, "Add", OXP__IN(scaled, beta));
  return OXP_OK;
}

// The operator computes in float32, whatever goes in: its stash_type names that type, and runtimes know no other.
static oxp_status layer_norm_lower_native(oxp__lowering *to, const oxp__layer *layer)
{
  const layer_norm *p = layer->params;
  if (oxp__lower_dtype(to) != OXP_FLOAT32)
    return layer_norm_lower_decomposed(to, layer);
  const char *x = oxp__lower_input(to, 0), *gamma = oxp__lower_weight(to, LAYER_NORM_GAMMA);
  const char *beta = oxp__lower_weight(to, LAYER_NORM_BETA);
  oxp__node *node = oxp__lower_node(to, "LayerNormalization", OXP__IN(x, gamma, beta));
  oxp__attr_int(to, node, "axis", -p->normalized_shape.count);
  oxp__attr_float(to, node, "epsilon", p->epsilon);
  return OXP_OK;
}

static oxp_status layer_norm_doubt(const oxp__layer *layer, oxp__text *clause, oxp_error *error)
{
  (void)error;
  oxp__standardize_doubt(((const layer_norm *)layer->params)->epsilon, clause);
  return OXP_OK;
}

static void layer_norm_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  layer_norm *p = params;
  oxp__draw_any(random, params, inputs);
  p->normalized_shape.count = (int)oxp__random_range(random, 1, inputs[0].rank - 1);
  int first = inputs[0].rank - p->normalized_shape.count;
  // At least five values: two always become -1 and 1, whatever they are, which hides and exaggerates rounding.
  for (int i = 0; i < p->normalized_shape.count; i++)
    p->normalized_shape.at[i] = inputs[0].dim[first + i] = oxp__random_range(random, i == 0 ? 5 : 2, 9);
  p->epsilon = oxp__draw_one_in(random, 2) ? 1e-5 : 1e-3;
}

const oxp__kind oxp__kind_layer_norm = {
  .name = "layer_norm",
  .doc = "normalization of each sample over its last axes (all of normalized_shape, as ONNX has it)",
  .formula = "y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta",
  .names = { { "netcl", "LayerNorm" }, { "torch", "LayerNorm" } },
  .params = OXP__ROWS(layer_norm_params),
  .params_bytes = sizeof(layer_norm),
  .weights = OXP__ROWS(layer_norm_weights),
  .min_inputs = 1,
  .max_inputs = 1,
  .weight_shape = layer_norm_weight_shape,
  .shape = layer_norm_shape,
  .ref = layer_norm_ref,
  .lower = { { 13, layer_norm_lower_decomposed }, { 17, layer_norm_lower_native } },
  .tolerance = OXP__REDUCTION,
  .doubt = layer_norm_doubt,
  .draw = layer_norm_draw,
};
