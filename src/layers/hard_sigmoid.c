// hard_sigmoid.c: y = clip(alpha x + beta, 0, 1), element by element, any shape.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/draw.h"
#include "layers/common/map.h"

typedef struct {
  double alpha, beta; // slope and value at 0
} hard_sigmoid;

// Frameworks disagree: netcl, Keras and ONNX have the slope 0.2, torch 1/6. netcl's layer takes no arguments.
static const oxp__param hard_sigmoid_params[] = {
  { .name = "alpha",
    OXP__REAL(hard_sigmoid, alpha),
    .value = 0.2,
    .doc = "slope between the two limits",
    .in = { { .dialect = "netcl", .name = NULL } } },
  { .name = "beta",
    OXP__REAL(hard_sigmoid, beta),
    .value = 0.5,
    .doc = "value at 0",
    .in = { { .dialect = "netcl", .name = NULL } } },
};

static double hard_sigmoid_of(double x, const void *params)
{
  const hard_sigmoid *p = params;
  double y = p->alpha * x + p->beta;
  return y < 0 ? 0 : y > 1 ? 1 : y;
}

static void hard_sigmoid_ref(const oxp__ref *io)
{
  oxp__map_ref(io, hard_sigmoid_of);
}

static oxp_status hard_sigmoid_lower(oxp__lowering *to, const oxp__layer *layer)
{
  const hard_sigmoid *p = layer->params;
  oxp__node *node = oxp__lower_node(to, "HardSigmoid", OXP__IN(oxp__lower_input(to, 0)));
  oxp__attr_float(to, node, "alpha", p->alpha); // written always: defaults differ between frameworks
  oxp__attr_float(to, node, "beta", p->beta);
  return OXP_OK;
}

static void hard_sigmoid_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  hard_sigmoid *p = params;
  if (oxp__draw_one_in(random, 2)) {
    p->alpha = oxp__draw_real(random, -0.5, 1.5);
    p->beta = oxp__draw_real(random, -0.5, 1.5);
  }
  oxp__draw_any(random, params, inputs);
}

const oxp__kind oxp__kind_hard_sigmoid = {
  .name = "hard_sigmoid",
  .doc = "sigmoid made of three straight lines",
  .formula = "y = clip(alpha x + beta, 0, 1)",
  .names = { { "netcl", "HardSigmoid" } },
  .params = OXP__ROWS(hard_sigmoid_params),
  .params_bytes = sizeof(hard_sigmoid),
  .min_inputs = 1,
  .max_inputs = 1,
  .shape = oxp__shape_same,
  .ref = hard_sigmoid_ref,
  .lower = { { 13, hard_sigmoid_lower } },
  .tolerance = OXP__ONE_ROUNDING,
  .draw = hard_sigmoid_draw,
};
