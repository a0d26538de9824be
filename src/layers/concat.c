// concat.c: inputs put one behind the other along one axis.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include <string.h>

#include "layers/common/draw.h"
#include "layers/common/shapes.h"
#include "layers/lowering.h"

typedef struct {
  int64_t axis; // negative: counted from the last
} concat;

static const oxp__param concat_params[] = {
  { .name = "axis",
    OXP__AXIS(concat, axis),
    .value = 1,
    .doc = "the axis along which the inputs follow each other; negative: counted from the last" },
};

static oxp_status concat_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output, oxp_error *error)
{
  const concat *p = layer->params;
  int axis;
  OXP__TRY(oxp__shape_axis(&inputs[0], p->axis, &axis, error));
  oxp__shape sum = inputs[0];
  for (int i = 1; i < layer->input_count; i++)
    OXP__TRY(oxp__shape_join(&sum, &inputs[i], axis, &sum, error));
  *output = sum;
  return OXP_OK;
}

static void concat_ref(const oxp__ref *io)
{
  const concat *p = io->layer->params;
  const oxp__shape *shape = &io->output->shape;
  int axis = oxp__axis_from_front(p->axis, shape->rank);
  int64_t outer = oxp__shape_product(shape, 0, axis);
  double *y = io->output->at;
  for (int64_t o = 0; o < outer; o++)
    for (int i = 0; i < io->input_count; i++) {
      const oxp__f64 *x = &io->inputs[i];
      int64_t block = oxp__shape_product(&x->shape, axis, shape->rank);
      memcpy(y, x->at + o * block, (size_t)block * sizeof(double));
      y += block;
    }
}

static oxp_status concat_lower(oxp__lowering *to, const oxp__layer *layer)
{
  const concat *p = layer->params;
  oxp__node *node = oxp__lower_node(to, "Concat", oxp__lower_inputs(to));
  oxp__attr_int(to, node, "axis", p->axis);
  return OXP_OK;
}

static void concat_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  concat *p = params;
  int count = (int)oxp__random_range(random, 2, 4);
  oxp__draw_any(random, params, inputs);
  int axis = (int)oxp__random_range(random, 1, inputs[0].rank - 1); // the inputs of a network share the batch
  p->axis = oxp__draw_one_in(random, 2) ? axis : axis - inputs[0].rank;
  for (int i = 1; i < count; i++) {
    inputs[i] = inputs[0];
    inputs[i].dim[axis] = oxp__random_range(random, 1, 4);
  }
  inputs[count].rank = -1;
}

const oxp__kind oxp__kind_concat = {
  .name = "concat",
  .doc = "inputs joined along an axis",
  .formula = "y = (a, b, ...) along axis",
  .names = { { "netcl", "Concat" } },
  .params = OXP__ROWS(concat_params),
  .params_bytes = sizeof(concat),
  .min_inputs = 2,
  .max_inputs = OXP__ANY_INPUTS,
  .shape = concat_shape,
  .ref = concat_ref,
  .lower = { { 13, concat_lower } },
  .tolerance = OXP__EXACT,
  .draw = concat_draw,
};
