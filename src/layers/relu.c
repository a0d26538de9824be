// relu.c: y = max(x, 0), element by element, any shape.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/draw.h"
#include "layers/common/map.h"

static double relu_of(double x, const void *params)
{
  (void)params;
  return x < 0 ? 0 : x;
}

static void relu_ref(const oxp__ref *io)
{
  oxp__map_ref(io, relu_of);
}

static oxp_status relu_lower(oxp__lowering *to, const oxp__layer *layer)
{
  (void)layer;
  return oxp__map_lower(to, "Relu");
}

const oxp__kind oxp__kind_relu = {
  .name = "relu",
  .doc = "rectifier; NaN stays NaN",
  .formula = "y = max(x, 0)",
  .names = { { "netcl", "ReLU" } },
  .min_inputs = 1,
  .max_inputs = 1,
  .shape = oxp__shape_same,
  .ref = relu_ref,
  .lower = { { 7, relu_lower } },
  .tolerance = OXP__EXACT,
  .draw = oxp__draw_any,
};
