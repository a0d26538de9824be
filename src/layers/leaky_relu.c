// leaky_relu.c: y = x < 0 ? alpha x : x, element by element, any shape.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/draw.h"
#include "layers/common/map.h"

typedef struct {
  double alpha; // slope for x < 0, no unit; negative and above 1 are legal
} leaky_relu;

static const oxp__param leaky_relu_params[] = {
  { .name = "alpha",
    OXP__REAL(leaky_relu, alpha),
    .value = 0.01,
    .open_ended = true,
    .doc = "slope for negative input",
    .in = { { .dialect = "netcl", .name = "negative_slope" } } },
};

static double leaky_relu_of(double x, const void *params)
{
  return x < 0 ? ((const leaky_relu *)params)->alpha * x : x;
}

static void leaky_relu_ref(const oxp__ref *io)
{
  oxp__map_ref(io, leaky_relu_of);
}

static oxp_status leaky_relu_lower(oxp__lowering *to, const oxp__layer *layer)
{
  const leaky_relu *p = layer->params;
  oxp__node *node = oxp__lower_node(to, "LeakyRelu", OXP__IN(oxp__lower_input(to, 0)));
  oxp__attr_float(to, node, "alpha", p->alpha); // written always: defaults differ between frameworks
  return OXP_OK;
}

static void leaky_relu_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  leaky_relu *p = params;
  p->alpha = oxp__draw_real(random, -1.5, 2.5);
  oxp__draw_any(random, params, inputs);
}

const oxp__kind oxp__kind_leaky_relu = {
  .name = "leaky_relu",
  .doc = "rectifier with a slope for negative input",
  .formula = "y = x < 0 ? alpha x : x",
  .names = { { "netcl", "LeakyReLU" } },
  .params = OXP__ROWS(leaky_relu_params),
  .params_bytes = sizeof(leaky_relu),
  .min_inputs = 1,
  .max_inputs = 1,
  .shape = oxp__shape_same,
  .ref = leaky_relu_ref,
  .lower = { { 7, leaky_relu_lower } },
  .tolerance = OXP__ONE_ROUNDING,
  .draw = leaky_relu_draw,
};
