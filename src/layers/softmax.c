// softmax.c: exp(x) divided by its sum along one axis.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include <math.h>

#include "layers/common/draw.h"
#include "layers/common/shapes.h"
#include "layers/lowering.h"

typedef struct {
  int64_t axis; // negative: counted from the last
} softmax;

static const oxp__param softmax_params[] = {
  { .name = "axis",
    OXP__AXIS(softmax, axis),
    .value = -1,
    .doc = "the axis that sums to 1; negative: counted from the last",
    .in = { { .dialect = "netcl", .name = NULL } } },
};

static oxp_status softmax_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output, oxp_error *error)
{
  const softmax *p = layer->params;
  int axis;
  OXP__TRY(oxp__shape_axis(&inputs[0], p->axis, &axis, error));
  *output = inputs[0];
  return OXP_OK;
}

// One line of `count` values, `stride` apart. The largest is subtracted first: exp cannot overflow.
static void softmax_line(const double *x, double *y, int64_t count, int64_t stride)
{
  double largest = x[0], sum = 0;
  for (int64_t i = 1; i < count; i++)
    largest = x[i * stride] > largest ? x[i * stride] : largest;
  for (int64_t i = 0; i < count; i++)
    sum += y[i * stride] = exp(x[i * stride] - largest);
  for (int64_t i = 0; i < count; i++)
    y[i * stride] /= sum;
}

static void softmax_ref(const oxp__ref *io)
{
  const softmax *p = io->layer->params;
  const oxp__shape *shape = &io->output->shape;
  int axis = oxp__axis_from_front(p->axis, shape->rank);
  int64_t outer = oxp__shape_product(shape, 0, axis), count = shape->dim[axis];
  int64_t inner = oxp__shape_product(shape, axis + 1, shape->rank);
  for (int64_t o = 0; count > 0 && o < outer; o++)
    for (int64_t i = 0; i < inner; i++) {
      int64_t at = o * count * inner + i;
      softmax_line(io->inputs[0].at + at, io->output->at + at, count, inner);
    }
}

static oxp_status softmax_lower(oxp__lowering *to, const oxp__layer *layer)
{
  const softmax *p = layer->params;
  oxp__node *node = oxp__lower_node(to, "Softmax", OXP__IN(oxp__lower_input(to, 0)));
  oxp__attr_int(to, node, "axis", p->axis);
  return OXP_OK;
}

static void softmax_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  softmax *p = params;
  oxp__draw_any(random, params, inputs);
  p->axis = oxp__random_range(random, -inputs[0].rank, inputs[0].rank - 1);
}

const oxp__kind oxp__kind_softmax = {
  .name = "softmax",
  .doc = "exponentials that sum to 1 along an axis",
  .formula = "y = exp(x) / sum over axis of exp(x)",
  .names = { { "netcl", "Softmax" } },
  .params = OXP__ROWS(softmax_params),
  .params_bytes = sizeof(softmax),
  .min_inputs = 1,
  .max_inputs = 1,
  .shape = softmax_shape,
  .ref = softmax_ref,
  .lower = { { 13, softmax_lower } },
  .tolerance = OXP__TRANSCENDENTAL,
  .draw = softmax_draw,
};
