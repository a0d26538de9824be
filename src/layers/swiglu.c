// swiglu.c: a gated feed-forward block along the last axis: two dense layers side by side, one of them through silu,
// multiplied and brought back by a third.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include <math.h>

#include "layers/common/draw.h"
#include "layers/common/shapes.h"
#include "layers/lowering.h"

typedef struct {
  int64_t in_features;
  int64_t hidden_features; // not above 0: the default, which follows from in_features
  bool bias;
} swiglu;

enum { SWIGLU_GATE, SWIGLU_GATE_BIAS, SWIGLU_UP, SWIGLU_UP_BIAS, SWIGLU_DOWN, SWIGLU_DOWN_BIAS };

static const oxp__param swiglu_params[] = {
  { .name = "in_features",
    OXP__SIZE(swiglu, in_features, 1),
    OXP__REQUIRED,
    .doc = "length of the last axis of input and output",
    .in = { { .dialect = "netcl", .name = "dim", .required = true } } },
  { .name = "hidden_features",
    OXP__SIZE(swiglu, hidden_features, 0),
    .nullable = true,
    .value = (double)OXP__UNSET,
    .doc = "features between; unset or 0: 8/3 of in_features, rounded up to a multiple of 64",
    .in = { { .dialect = "netcl", .name = "hidden" } } },
  { .name = "bias", OXP__FLAG(swiglu, bias), .doc = "whether the three dense layers add a bias" },
};

// Each bias stands behind its weight.
static const oxp__weight_row swiglu_weights[] = {
  { .role = "gate.weight",
    .doc = "(in_features, hidden_features)",
    .in = { { .dialect = "torch", .name = "gate.weight", .axes = "10" } } },
  { .role = "gate.bias", .doc = "(hidden_features,), if bias" },
  { .role = "up.weight",
    .doc = "(in_features, hidden_features)",
    .in = { { .dialect = "torch", .name = "up.weight", .axes = "10" } } },
  { .role = "up.bias", .doc = "(hidden_features,), if bias" },
  { .role = "down.weight",
    .doc = "(hidden_features, in_features)",
    .in = { { .dialect = "torch", .name = "down.weight", .axes = "10" } } },
  { .role = "down.bias", .doc = "(in_features,), if bias" },
};

static int64_t swiglu_hidden(const swiglu *p)
{
  return p->hidden_features > 0 ? p->hidden_features : (8 * p->in_features / 3 + 63) / 64 * 64;
}

static void swiglu_weight_shape(const oxp__layer *layer, int role, oxp__shape *shape)
{
  const swiglu *p = layer->params;
  int64_t from = p->in_features, to = swiglu_hidden(p);
  if (role == SWIGLU_DOWN || role == SWIGLU_DOWN_BIAS) {
    from = to;
    to = p->in_features;
  }
  bool is_bias = role % 2 == 1;
  *shape = is_bias ? (oxp__shape){ .rank = p->bias ? 1 : -1, .dim = { to } }
                   : (oxp__shape){ .rank = 2, .dim = { from, to } };
}

static oxp_status swiglu_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output, oxp_error *error)
{
  const oxp__shape *x = &inputs[0];
  if (x->rank < 2)
    return oxp__shape_fail(x, error, "swiglu needs a batch axis and a feature axis");
  OXP__TRY(oxp__shape_need_dim(layer, x, x->rank - 1, ((const swiglu *)layer->params)->in_features,
                               "features on its last axis", error));
  *output = *x;
  return OXP_OK;
}

// Output number `o` of one of the two dense layers that read x.
static double swiglu_dense(const oxp__ref *io, int role, const double *x, int64_t o, int64_t hidden)
{
  const swiglu *p = io->layer->params;
  double sum = p->bias ? io->weights[role + 1].at[o] : 0;
  for (int64_t i = 0; i < p->in_features; i++)
    sum += x[i] * io->weights[role].at[i * hidden + o];
  return sum;
}

static void swiglu_row(const oxp__ref *io, const double *x, double *y)
{
  const swiglu *p = io->layer->params;
  int64_t hidden = swiglu_hidden(p);
  for (int64_t o = 0; o < p->in_features; o++)
    y[o] = p->bias ? io->weights[SWIGLU_DOWN_BIAS].at[o] : 0;
  for (int64_t h = 0; h < hidden; h++) {
    double gate = swiglu_dense(io, SWIGLU_GATE, x, h, hidden), up = swiglu_dense(io, SWIGLU_UP, x, h, hidden);
    double value = gate / (1 + exp(-gate)) * up;
    for (int64_t o = 0; o < p->in_features; o++)
      y[o] += value * io->weights[SWIGLU_DOWN].at[h * p->in_features + o];
  }
}

static void swiglu_ref(const oxp__ref *io)
{
  int64_t features = ((const swiglu *)io->layer->params)->in_features;
  for (int64_t at = 0; at < io->output->count; at += features)
    swiglu_row(io, io->inputs[0].at + at, io->output->at + at);
}

static void swiglu_lower_dense(oxp__lowering *to, int role, const char *x, const char **inner)
{
  const char *weight = oxp__lower_weight(to, role);
  oxp__lower_dense(to, x, weight, oxp__lower_weight(to, role + 1), inner);
}

static oxp_status swiglu_lower(oxp__lowering *to, const oxp__layer *layer)
{
  (void)layer;
  const char *x = oxp__lower_input(to, 0), *gate, *up, *sigmoid, *silu, *gated;
  swiglu_lower_dense(to, SWIGLU_GATE, x, &gate);
  swiglu_lower_dense(to, SWIGLU_UP, x, &up);
  oxp__lower_inner(to, "Sigmoid", OXP__IN(gate), &sigmoid);
  oxp__lower_inner(to, "Mul", OXP__IN(gate, sigmoid), &silu);
  oxp__lower_inner(to, "Mul", OXP__IN(silu, up), &gated);
  swiglu_lower_dense(to, SWIGLU_DOWN, gated, NULL);
  return OXP_OK;
}

static void swiglu_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  swiglu *p = params;
  oxp__draw_any(random, params, inputs);
  p->in_features = inputs[0].dim[inputs[0].rank - 1] = oxp__random_range(random, 1, 12);
  if (!oxp__draw_one_in(random, 4))
    p->hidden_features = oxp__random_range(random, 1, 20);
  p->bias = oxp__draw_one_in(random, 2);
}

const oxp__kind oxp__kind_swiglu = {
  .name = "swiglu",
  .doc = "gated feed-forward block along the last axis",
  .formula = "y = (silu(x gate + gate.bias) (x up + up.bias)) down + down.bias, silu(g) = g / (1 + exp(-g))",
  .names = { { "netcl", "SwiGLU" } },
  .params = OXP__ROWS(swiglu_params),
  .params_bytes = sizeof(swiglu),
  .weights = OXP__ROWS(swiglu_weights),
  .min_inputs = 1,
  .max_inputs = 1,
  .weight_shape = swiglu_weight_shape,
  .shape = swiglu_shape,
  .ref = swiglu_ref,
  .lower = { { 13, swiglu_lower } },
  .tolerance = OXP__REDUCTION,
  .draw = swiglu_draw,
};
