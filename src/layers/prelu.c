// prelu.c: a rectifier whose slope for negative input was trained, one for each channel (axis 1).
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/draw.h"
#include "layers/common/shapes.h"
#include "layers/lowering.h"

typedef struct {
  int64_t num_parameters;
  double init;
} prelu;

enum { PRELU_ALPHA };

static const oxp__param prelu_params[] = {
  { .name = "num_parameters",
    OXP__SIZE(prelu, num_parameters, 1),
    OXP__REQUIRED,
    .doc = "channels, one slope each",
    .in = { { .dialect = "netcl", .name = "num_parameters", .required = true, .whole = true } } },
  { .name = "init",
    OXP__REAL(prelu, init),
    .value = 0.25,
    .idle = true,
    .doc = "the slopes that training began with (no effect in inference)" },
};

static const oxp__weight_row prelu_weights[] = {
  { .role = "alpha", .doc = "slope per channel (num_parameters,)", .in = { { .dialect = "torch", .name = "weight" } } },
};

static void prelu_weight_shape(const oxp__layer *layer, int role, oxp__shape *shape)
{
  (void)role;
  *shape = (oxp__shape){ .rank = 1, .dim = { ((const prelu *)layer->params)->num_parameters } };
}

static oxp_status prelu_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output, oxp_error *error)
{
  const prelu *p = layer->params;
  if (inputs[0].rank < 2)
    return oxp__shape_fail(&inputs[0], error, "prelu needs a batch axis and a channel axis");
  OXP__TRY(oxp__shape_need_dim(layer, &inputs[0], 1, p->num_parameters, "channels", error));
  *output = inputs[0];
  return OXP_OK;
}

static void prelu_ref(const oxp__ref *io)
{
  const oxp__shape *shape = &io->output->shape;
  int64_t map = oxp__shape_product(shape, 2, shape->rank);
  const double *x = io->inputs[0].at, *alpha = io->weights[PRELU_ALPHA].at;
  for (int64_t i = 0; i < io->output->count; i++)
    io->output->at[i] = x[i] < 0 ? alpha[i / map % shape->dim[1]] * x[i] : x[i];
}

// The slopes are seen as (C, 1, ...) to meet the channels; no arithmetic on them.
static oxp_status prelu_lower(oxp__lowering *to, const oxp__layer *layer)
{
  const prelu *p = layer->params;
  int rank = oxp__lower_input_shape(to, 0)->rank - 1;
  int64_t column[OXP_MAX_RANK] = { p->num_parameters };
  for (int i = 1; i < rank; i++)
    column[i] = 1;
  const char *slope = oxp__lower_weight_shaped(to, PRELU_ALPHA, rank, column);
  oxp__lower_node(to, "PRelu", OXP__IN(oxp__lower_input(to, 0), slope));
  return OXP_OK;
}

static void prelu_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  oxp__draw_any(random, params, inputs);
  ((prelu *)params)->num_parameters = inputs[0].dim[1];
}

const oxp__kind oxp__kind_prelu = {
  .name = "prelu",
  .doc = "rectifier with a trained slope per channel for negative input",
  .formula = "y[n,c,...] = x < 0 ? alpha[c] x : x",
  .names = { { "netcl", "PReLU" }, { "torch", "PReLU" } },
  .params = OXP__ROWS(prelu_params),
  .params_bytes = sizeof(prelu),
  .weights = OXP__ROWS(prelu_weights),
  .min_inputs = 1,
  .max_inputs = 1,
  .weight_shape = prelu_weight_shape,
  .shape = prelu_shape,
  .ref = prelu_ref,
  .lower = { { 13, prelu_lower } },
  .tolerance = OXP__ONE_ROUNDING,
  .draw = prelu_draw,
};
