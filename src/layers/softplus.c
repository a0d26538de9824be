// softplus.c: y = log(1 + exp(x)), element by element, any shape: a ReLU without the corner.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include <math.h>

#include "layers/common/draw.h"
#include "layers/common/map.h"

// Written so that exp never overflows: log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)).
static double softplus_of(double x, const void *params)
{
  (void)params;
  return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static void softplus_ref(const oxp__ref *io)
{
  oxp__map_ref(io, softplus_of);
}

static oxp_status softplus_lower(oxp__lowering *to, const oxp__layer *layer)
{
  (void)layer;
  return oxp__map_lower(to, "Softplus");
}

const oxp__kind oxp__kind_softplus = {
  .name = "softplus",
  .doc = "rectifier without a corner (netcl's own formula overflows above 88; the right number is computed here)",
  .formula = "y = log(1 + exp(x))",
  .names = { { "netcl", "Softplus" }, { "torch", "Softplus" } },
  .min_inputs = 1,
  .max_inputs = 1,
  .shape = oxp__shape_same,
  .ref = softplus_ref,
  .lower = { { 13, softplus_lower } },
  .tolerance = OXP__TRANSCENDENTAL,
  .draw = oxp__draw_any,
};
