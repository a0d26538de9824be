// rms_norm.c: each row of the last axis divided by the root of its mean square, then scaled: layer normalization
// without a mean.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include <math.h>

#include "layers/common/draw.h"
#include "layers/common/shapes.h"
#include "layers/lowering.h"

typedef struct {
  int64_t features;
  double epsilon;
} rms_norm;

enum { RMS_NORM_GAMMA };

static const oxp__param rms_norm_params[] = {
  { .name = "in_features",
    OXP__SIZE(rms_norm, features, 1),
    OXP__REQUIRED,
    .doc = "length of the last axis, over which the mean square is taken",
    .in = { { .dialect = "netcl", .name = "dim", .required = true, .whole = true } } },
  { .name = "epsilon",
    OXP__NOT_NEGATIVE(rms_norm, epsilon),
    .value = 1e-6,
    .doc = "added to the mean square",
    .in = { { .dialect = "netcl", .name = "eps" } } },
};

static const oxp__weight_row rms_norm_weights[] = {
  { .role = "gamma", .doc = "scale (in_features,)", .in = { { .dialect = "torch", .name = "weight" } } },
};

static void rms_norm_weight_shape(const oxp__layer *layer, int role, oxp__shape *shape)
{
  (void)role;
  *shape = (oxp__shape){ .rank = 1, .dim = { ((const rms_norm *)layer->params)->features } };
}

static oxp_status rms_norm_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output,
                                 oxp_error *error)
{
  const rms_norm *p = layer->params;
  const oxp__shape *x = &inputs[0];
  if (x->rank < 2)
    return oxp__shape_fail(x, error, "rms_norm needs a batch axis and a feature axis");
  OXP__TRY(oxp__shape_need_dim(layer, x, x->rank - 1, p->features, "features on its last axis", error));
  *output = *x;
  return OXP_OK;
}

static void rms_norm_ref(const oxp__ref *io)
{
  const rms_norm *p = io->layer->params;
  const double *x = io->inputs[0].at, *gamma = io->weights[RMS_NORM_GAMMA].at;
  double *y = io->output->at;
  for (int64_t row = 0; row < io->output->count / p->features; row++, x += p->features, y += p->features) {
    double sum = 0;
    for (int64_t i = 0; i < p->features; i++)
      sum += x[i] * x[i];
    double root = sqrt(sum / (double)p->features + p->epsilon);
    for (int64_t i = 0; i < p->features; i++)
      y[i] = x[i] / root * gamma[i];
  }
}

// Before opset 23 there is no RMSNormalization: the formula, step by step.
static oxp_status rms_norm_lower_decomposed(oxp__lowering *to, const oxp__layer *layer)
{
  const rms_norm *p = layer->params;
  const char *x = oxp__lower_input(to, 0), *gamma = oxp__lower_weight(to, RMS_NORM_GAMMA);
  const char *square, *sum, *root, *normal;
  oxp__lower_inner(to, "Mul", OXP__IN(x, x), &square);
  const char *mean = oxp__lower_reduce_mean(to, square, 1, (int64_t[]){ -1 });
  oxp__lower_inner(to, "Add", OXP__IN(mean, oxp__lower_constant(to, "epsilon", p->epsilon)), &sum);
  oxp__lower_inner(to, "Sqrt", OXP__IN(sum), &root);
  oxp__lower_inner(to, "Div", OXP__IN(x, root), &normal);
  oxp__lower_node(to, "Mul", OXP__IN(normal, gamma));
  return OXP_OK;
}

// Like LayerNormalization, the operator computes in float32 whatever goes in.
static oxp_status rms_norm_lower_native(oxp__lowering *to, const oxp__layer *layer)
{
  const rms_norm *p = layer->params;
  if (oxp__lower_dtype(to) != OXP_FLOAT32)
    return rms_norm_lower_decomposed(to, layer);
  const char *x = oxp__lower_input(to, 0), *gamma = oxp__lower_weight(to, RMS_NORM_GAMMA);
  oxp__node *node = oxp__lower_node(to, "RMSNormalization", OXP__IN(x, gamma));
  oxp__attr_int(to, node, "axis", -1);
  oxp__attr_float(to, node, "epsilon", p->epsilon);
  return OXP_OK;
}

static oxp_status rms_norm_doubt(const oxp__layer *layer, oxp__text *clause, oxp_error *error)
{
  (void)error;
  if ((float)((const rms_norm *)layer->params)->epsilon <= 0) // ONNX attributes are float32
    oxp__text_add(clause, "epsilon is 0: where a row holds zeros only, the results are NaN");
  return OXP_OK;
}

static void rms_norm_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  rms_norm *p = params;
  oxp__draw_any(random, params, inputs);
  p->features = inputs[0].dim[inputs[0].rank - 1] = oxp__random_range(random, 2, 12);
  p->epsilon = oxp__draw_one_in(random, 2) ? 1e-6 : 1e-3;
}

const oxp__kind oxp__kind_rms_norm = {
  .name = "rms_norm",
  .doc = "each row of the last axis divided by the root of its mean square",
  .formula = "y = x / sqrt(mean(x^2) + epsilon) * gamma",
  .names = { { "netcl", "RMSNorm" }, { "torch", "RMSNorm" } },
  .params = OXP__ROWS(rms_norm_params),
  .params_bytes = sizeof(rms_norm),
  .weights = OXP__ROWS(rms_norm_weights),
  .min_inputs = 1,
  .max_inputs = 1,
  .weight_shape = rms_norm_weight_shape,
  .shape = rms_norm_shape,
  .ref = rms_norm_ref,
  .lower = { { 13, rms_norm_lower_decomposed }, { 23, rms_norm_lower_native } },
  .tolerance = OXP__REDUCTION,
  .doubt = rms_norm_doubt,
  .draw = rms_norm_draw,
};
