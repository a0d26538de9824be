// linear.c: matrix product with the last axis, and a bias. Rank 2 is a Gemm; above it MatMul and Add, which ONNX's Gemm
// cannot do.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/draw.h"
#include "layers/common/shapes.h"
#include "layers/lowering.h"

typedef struct {
  int64_t in_features, out_features;
  bool bias;
} linear;

enum { LINEAR_WEIGHT, LINEAR_BIAS };

static const oxp__param linear_params[] = {
  { .name = "in_features", OXP__SIZE(linear, in_features, 1), OXP__REQUIRED, .doc = "length of the input's last axis" },
  { .name = "out_features",
    OXP__SIZE(linear, out_features, 1),
    OXP__REQUIRED,
    .doc = "length of the output's last axis" },
  { .name = "bias", OXP__FLAG(linear, bias), .value = 1, .doc = "whether a bias is added" },
};

static const oxp__weight_row linear_weights[] = {
  { .role = "weight",
    .doc = "(in_features, out_features)",
    .in = { { .dialect = "torch", .name = "weight", .axes = "10" } } },
  { .role = "bias", .doc = "(out_features,), if bias" },
};

static void linear_weight_shape(const oxp__layer *layer, int role, oxp__shape *shape)
{
  const linear *p = layer->params;
  if (role == LINEAR_WEIGHT)
    *shape = (oxp__shape){ .rank = 2, .dim = { p->in_features, p->out_features } };
  else
    *shape = (oxp__shape){ .rank = p->bias ? 1 : -1, .dim = { p->out_features } };
}

static oxp_status linear_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output, oxp_error *error)
{
  const linear *p = layer->params;
  const oxp__shape *x = &inputs[0];
  if (x->rank < 2)
    return oxp__shape_fail(x, error, "linear needs a batch axis and a feature axis");
  OXP__TRY(oxp__shape_need_dim(layer, x, x->rank - 1, p->in_features, "features on its last axis", error));
  *output = *x;
  output->dim[x->rank - 1] = p->out_features;
  return OXP_OK;
}

static void linear_ref(const oxp__ref *io)
{
  const linear *p = io->layer->params;
  const double *weight = io->weights[LINEAR_WEIGHT].at, *bias = io->weights[LINEAR_BIAS].at;
  const double *x = io->inputs[0].at;
  double *y = io->output->at;
  int64_t rows = io->output->count / p->out_features;
  for (int64_t row = 0; row < rows; row++, x += p->in_features, y += p->out_features) {
    for (int64_t o = 0; o < p->out_features; o++)
      y[o] = bias ? bias[o] : 0;
    for (int64_t i = 0; i < p->in_features; i++)
      for (int64_t o = 0; o < p->out_features; o++)
        y[o] += x[i] * weight[i * p->out_features + o];
  }
}

// The weight in the form that the profile asks for; *transposed says whether it is (out, in).
static const char *linear_lower_weight(oxp__lowering *to, bool *transposed)
{
  static const int swapped[] = { 1, 0 };
  oxp__dense_form form = oxp__lower_dense_form(to);
  if (form == OXP__DENSE_GEMM_AS_STORED)
    return oxp__lower_weight_as_stored(to, LINEAR_WEIGHT, transposed);
  *transposed = form == OXP__DENSE_GEMM_TRANSB;
  return *transposed ? oxp__lower_weight_permuted(to, LINEAR_WEIGHT, swapped) : oxp__lower_weight(to, LINEAR_WEIGHT);
}

static oxp_status linear_lower_gemm(oxp__lowering *to)
{
  bool transposed = false;
  const char *weight = linear_lower_weight(to, &transposed);
  const char *bias = oxp__lower_weight(to, LINEAR_BIAS);
  oxp__node *node = oxp__lower_node(to, "Gemm", OXP__IN(oxp__lower_input(to, 0), weight, bias));
  oxp__attr_int(to, node, "transB", transposed ? 1 : 0);
  return OXP_OK;
}

static oxp_status linear_lower(oxp__lowering *to, const oxp__layer *layer)
{
  (void)layer;
  if (oxp__lower_input_shape(to, 0)->rank == 2 && oxp__lower_dense_form(to) != OXP__DENSE_MATMUL_ADD)
    return linear_lower_gemm(to);
  const char *x = oxp__lower_input(to, 0), *weight = oxp__lower_weight(to, LINEAR_WEIGHT);
  oxp__lower_dense(to, x, weight, oxp__lower_weight(to, LINEAR_BIAS), NULL);
  return OXP_OK;
}

static void linear_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  linear *p = params;
  oxp__draw_any(random, params, inputs);
  p->in_features = inputs[0].dim[inputs[0].rank - 1] = oxp__random_range(random, 1, 29);
  p->out_features = oxp__random_range(random, 1, 20);
  p->bias = oxp__draw_one_in(random, 2);
}

const oxp__kind oxp__kind_linear = {
  .name = "linear",
  .doc = "fully connected layer, applied along the last axis of any rank from 2",
  .formula = "y = x weight + bias",
  .names = { { "netcl", "Linear" }, { "torch", "Linear" } },
  .params = OXP__ROWS(linear_params),
  .params_bytes = sizeof(linear),
  .weights = OXP__ROWS(linear_weights),
  .min_inputs = 1,
  .max_inputs = 1,
  .weight_shape = linear_weight_shape,
  .shape = linear_shape,
  .ref = linear_ref,
  .lower = { { 7, linear_lower } },
  .tolerance = OXP__REDUCTION,
  .draw = linear_draw,
};
