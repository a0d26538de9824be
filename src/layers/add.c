// add.c: sum of two inputs, element by element, with NumPy broadcasting.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/map.h"

static double add_of(double a, double b)
{
  return a + b;
}

static void add_ref(const oxp__ref *io)
{
  oxp__map_pair_ref(io, add_of);
}

static oxp_status add_lower(oxp__lowering *to, const oxp__layer *layer)
{
  (void)layer;
  return oxp__map_pair_lower(to, "Add");
}

const oxp__kind oxp__kind_add = {
  .name = "add",
  .doc = "sum of two inputs with NumPy broadcasting",
  .formula = "y = a + b",
  .min_inputs = 2,
  .max_inputs = 2,
  .shape = oxp__shape_broadcast,
  .ref = add_ref,
  .lower = { { 13, add_lower } },
  .tolerance = OXP__ONE_ROUNDING,
  .draw = oxp__map_pair_draw,
};
