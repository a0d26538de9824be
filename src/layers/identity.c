// identity.c: hands its input on. A profile decides whether it leaves a node.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/draw.h"
#include "layers/kind.h"

const oxp__kind oxp__kind_identity = {
  .name = "identity",
  .doc = "the input itself",
  .formula = "y = x",
  .names = { { "netcl", "Identity" } },
  .min_inputs = 1,
  .max_inputs = 1,
  .passes_through = true,
  .shape = oxp__shape_same,
  .tolerance = OXP__EXACT,
  .draw = oxp__draw_any,
};
