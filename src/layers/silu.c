// silu.c: y = x / (1 + exp(-x)), element by element, any shape: x times its own sigmoid, also called swish.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include <math.h>

#include "layers/common/draw.h"
#include "layers/common/map.h"

static double silu_of(double x, const void *params)
{
  (void)params;
  return x / (1 + exp(-x));
}

static void silu_ref(const oxp__ref *io)
{
  oxp__map_ref(io, silu_of);
}

// One form at every opset: Swish exists from opset 24 on, and runtimes know the pair of nodes.
static oxp_status silu_lower(oxp__lowering *to, const oxp__layer *layer)
{
  (void)layer;
  const char *x = oxp__lower_input(to, 0), *gate;
  oxp__lower_inner(to, "Sigmoid", OXP__IN(x), &gate);
  oxp__lower_node(to, "Mul", OXP__IN(x, gate));
  return OXP_OK;
}

const oxp__kind oxp__kind_silu = {
  .name = "silu",
  .doc = "sigmoid linear unit, also called swish",
  .formula = "y = x / (1 + exp(-x))",
  .names = { { "netcl", "SiLU" }, { "netcl", "Swish" }, { "torch", "SiLU" } },
  .min_inputs = 1,
  .max_inputs = 1,
  .shape = oxp__shape_same,
  .ref = silu_ref,
  .lower = { { 13, silu_lower } },
  .tolerance = OXP__TRANSCENDENTAL,
  .draw = oxp__draw_any,
};
