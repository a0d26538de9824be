// mul.c: product of two inputs, element by element, with NumPy broadcasting.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/map.h"

static double mul_of(double a, double b)
{
  return a * b;
}

static void mul_ref(const oxp__ref *io)
{
  oxp__map_pair_ref(io, mul_of);
}

static oxp_status mul_lower(oxp__lowering *to, const oxp__layer *layer)
{
  (void)layer;
  return oxp__map_pair_lower(to, "Mul");
}

const oxp__kind oxp__kind_mul = {
  .name = "mul",
  .doc = "product of two inputs with NumPy broadcasting",
  .formula = "y = a * b",
  .min_inputs = 2,
  .max_inputs = 2,
  .shape = oxp__shape_broadcast,
  .ref = mul_ref,
  .lower = { { 13, mul_lower } },
  .tolerance = OXP__ONE_ROUNDING,
  .draw = oxp__map_pair_draw,
};
