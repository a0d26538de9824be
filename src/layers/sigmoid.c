// sigmoid.c: y = 1 / (1 + exp(-x)), element by element, any shape.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include <math.h>

#include "layers/common/draw.h"
#include "layers/common/map.h"

static double sigmoid_of(double x, const void *params)
{
  (void)params;
  return 1 / (1 + exp(-x));
}

static void sigmoid_ref(const oxp__ref *io)
{
  oxp__map_ref(io, sigmoid_of);
}

static oxp_status sigmoid_lower(oxp__lowering *to, const oxp__layer *layer)
{
  (void)layer;
  return oxp__map_lower(to, "Sigmoid");
}

const oxp__kind oxp__kind_sigmoid = {
  .name = "sigmoid",
  .doc = "logistic function",
  .formula = "y = 1 / (1 + exp(-x))",
  .names = { { "netcl", "Sigmoid" } },
  .min_inputs = 1,
  .max_inputs = 1,
  .shape = oxp__shape_same,
  .ref = sigmoid_ref,
  .lower = { { 7, sigmoid_lower } },
  .tolerance = OXP__TRANSCENDENTAL,
  .draw = oxp__draw_any,
};
