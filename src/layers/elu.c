// elu.c: y = x < 0 ? alpha (exp(x) - 1) : x, element by element, any shape.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include <math.h>

#include "layers/common/draw.h"
#include "layers/common/map.h"

typedef struct {
  double alpha; // the limit for very negative x is -alpha
} elu;

static const oxp__param elu_params[] = {
  { .name = "alpha",
    OXP__REAL(elu, alpha),
    .value = 1,
    .open_ended = true,
    .doc = "scale for negative input",
    .in = { { .dialect = "netcl", .name = "alpha" } } },
};

static double elu_of(double x, const void *params)
{
  return x < 0 ? ((const elu *)params)->alpha * expm1(x) : x;
}

static void elu_ref(const oxp__ref *io)
{
  oxp__map_ref(io, elu_of);
}

static oxp_status elu_lower(oxp__lowering *to, const oxp__layer *layer)
{
  const elu *p = layer->params;
  oxp__node *node = oxp__lower_node(to, "Elu", OXP__IN(oxp__lower_input(to, 0)));
  oxp__attr_float(to, node, "alpha", p->alpha);
  return OXP_OK;
}

static void elu_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  elu *p = params;
  p->alpha = oxp__draw_real(random, 0.1, 2);
  oxp__draw_any(random, params, inputs);
}

const oxp__kind oxp__kind_elu = {
  .name = "elu",
  .doc = "exponential linear unit",
  .formula = "y = x < 0 ? alpha (exp(x) - 1) : x",
  .names = { { "netcl", "ELU" } },
  .params = OXP__ROWS(elu_params),
  .params_bytes = sizeof(elu),
  .min_inputs = 1,
  .max_inputs = 1,
  .shape = oxp__shape_same,
  .ref = elu_ref,
  .lower = { { 13, elu_lower } },
  .tolerance = OXP__TRANSCENDENTAL,
  .draw = elu_draw,
};
