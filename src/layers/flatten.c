// flatten.c: everything but the batch becomes one axis, in row-major order.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include <string.h>

#include "layers/common/draw.h"
#include "layers/common/shapes.h"
#include "layers/lowering.h"

static oxp_status flatten_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output, oxp_error *error)
{
  (void)layer;
  const oxp__shape *x = &inputs[0];
  if (x->rank < 1)
    return oxp__shape_fail(x, error, "flatten needs a batch axis");
  int64_t features = 1;
  for (int i = 1; i < x->rank; i++) {
    if (x->dim[i] < 0 || features < 0)
      features = OXP_DIM_UNKNOWN;
    else if (!oxp__mul_i64(features, x->dim[i], &features))
      return oxp__shape_fail(x, error, "the product of its sizes overflows");
  }
  *output = (oxp__shape){ .rank = 2, .dim = { x->dim[0], features } };
  return OXP_OK;
}

static void flatten_ref(const oxp__ref *io)
{
  memcpy(io->output->at, io->inputs[0].at, (size_t)io->output->count * sizeof(double));
}

static oxp_status flatten_lower(oxp__lowering *to, const oxp__layer *layer)
{
  (void)layer;
  oxp__node *node = oxp__lower_node(to, "Flatten", OXP__IN(oxp__lower_input(to, 0)));
  oxp__attr_int(to, node, "axis", 1);
  return OXP_OK;
}

static void flatten_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  (void)params;
  oxp__draw_input(random, inputs, (int)oxp__random_range(random, 1, 5));
}

const oxp__kind oxp__kind_flatten = {
  .name = "flatten",
  .doc = "all axes but the batch joined into one, row-major",
  .formula = "(N, C, H, W) -> (N, C H W)",
  .names = { { "netcl", "Flatten" } },
  .min_inputs = 1,
  .max_inputs = 1,
  .shape = flatten_shape,
  .ref = flatten_ref,
  .lower = { { 7, flatten_lower } },
  .tolerance = OXP__EXACT,
  .draw = flatten_draw,
};
