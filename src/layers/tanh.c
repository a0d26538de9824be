// tanh.c: y = tanh(x), element by element, any shape.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include <math.h>

#include "layers/common/draw.h"
#include "layers/common/map.h"

static double tanh_of(double x, const void *params)
{
  (void)params;
  return tanh(x);
}

static void tanh_ref(const oxp__ref *io)
{
  oxp__map_ref(io, tanh_of);
}

static oxp_status tanh_lower(oxp__lowering *to, const oxp__layer *layer)
{
  (void)layer;
  return oxp__map_lower(to, "Tanh");
}

const oxp__kind oxp__kind_tanh = {
  .name = "tanh",
  .doc = "hyperbolic tangent",
  .formula = "y = tanh(x)",
  .names = { { "netcl", "Tanh" } },
  .min_inputs = 1,
  .max_inputs = 1,
  .shape = oxp__shape_same,
  .ref = tanh_ref,
  .lower = { { 7, tanh_lower } },
  .tolerance = OXP__TRANSCENDENTAL,
  .draw = oxp__draw_any,
};
