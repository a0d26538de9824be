// hard_swish.c: y = x clip(0.2 x + 0.5, 0, 1), element by element, any shape. This is netcl's function; ONNX's HardSwish
// has the slope 1/6 and is another one, so the node is never used.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/draw.h"
#include "layers/common/map.h"

static const double hard_swish_slope = 0.2, hard_swish_offset = 0.5;

static double hard_swish_of(double x, const void *params)
{
  (void)params;
  double gate = hard_swish_slope * x + hard_swish_offset;
  return x * (gate < 0 ? 0 : gate > 1 ? 1 : gate);
}

static void hard_swish_ref(const oxp__ref *io)
{
  oxp__map_ref(io, hard_swish_of);
}

static oxp_status hard_swish_lower(oxp__lowering *to, const oxp__layer *layer)
{
  (void)layer;
  const char *x = oxp__lower_input(to, 0), *gate;
  oxp__node *node = oxp__lower_inner(to, "HardSigmoid", OXP__IN(x), &gate);
  oxp__attr_float(to, node, "alpha", hard_swish_slope);
  oxp__attr_float(to, node, "beta", hard_swish_offset);
  oxp__lower_node(to, "Mul", OXP__IN(x, gate));
  return OXP_OK;
}

const oxp__kind oxp__kind_hard_swish = {
  .name = "hard_swish",
  .doc = "hard swish as netcl defines it (slope 0.2; not ONNX's HardSwish, whose slope is 1/6)",
  .formula = "y = x clip(0.2 x + 0.5, 0, 1)",
  .names = { { "netcl", "HardSwish" } },
  .min_inputs = 1,
  .max_inputs = 1,
  .shape = oxp__shape_same,
  .ref = hard_swish_ref,
  .lower = { { 13, hard_swish_lower } },
  .tolerance = OXP__ONE_ROUNDING,
  .draw = oxp__draw_any,
};
