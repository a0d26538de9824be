// map.c: see map.h. Place: layers/common.
#include "layers/common/map.h"

#include "layers/common/draw.h"

void oxp__map_ref(const oxp__ref *io, double (*function)(double x, const void *params))
{
  const double *x = io->inputs[0].at;
  for (int64_t i = 0; i < io->output->count; i++)
    io->output->at[i] = function(x[i], io->layer->params);
}

// The distance between neighbours of each output axis in an input: 0 where it is broadcast.
static void map_strides(const oxp__shape *input, const oxp__shape *output, int64_t *strides)
{
  int64_t stride = 1;
  for (int i = output->rank - 1; i >= 0; i--) {
    int axis = i - (output->rank - input->rank);
    strides[i] = axis < 0 || input->dim[axis] == 1 ? 0 : stride;
    stride *= axis < 0 ? 1 : input->dim[axis];
  }
}

void oxp__map_pair_ref(const oxp__ref *io, double (*function)(double x, double y))
{
  const oxp__shape *shape = &io->output->shape;
  int64_t of_x[OXP_MAX_RANK], of_y[OXP_MAX_RANK], at[OXP_MAX_RANK] = { 0 };
  map_strides(&io->inputs[0].shape, shape, of_x);
  map_strides(&io->inputs[1].shape, shape, of_y);
  int64_t x = 0, y = 0;
  for (int64_t i = 0; i < io->output->count; i++) {
    io->output->at[i] = function(io->inputs[0].at[x], io->inputs[1].at[y]);
    // Step to the next place like an odometer: the last axis first, back to 0 with a carry.
    for (int axis = shape->rank - 1; axis >= 0; axis--) {
      x += of_x[axis];
      y += of_y[axis];
      if (++at[axis] < shape->dim[axis])
        break;
      x -= of_x[axis] * at[axis];
      y -= of_y[axis] * at[axis];
      at[axis] = 0;
    }
  }
}

oxp_status oxp__map_lower(oxp__lowering *to, const char *op_type)
{
  oxp__lower_node(to, op_type, OXP__IN(oxp__lower_input(to, 0)));
  return OXP_OK;
}

oxp_status oxp__map_pair_lower(oxp__lowering *to, const char *op_type)
{
  const char *x = oxp__lower_input(to, 0), *y = oxp__lower_input(to, 1);
  oxp__lower_node(to, op_type, OXP__IN(x, y));
  return OXP_OK;
}

void oxp__map_pair_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  (void)params;
  oxp__draw_shape(random, &inputs[0], (int)oxp__random_range(random, 2, 4), 1, 6);
  inputs[1] = inputs[0];
  inputs[2].rank = -1;
  // The batch axis stays common to both: a network's inputs all have it.
  for (int i = 1; i < inputs[0].rank; i++) {
    if (oxp__draw_one_in(random, 4))
      inputs[oxp__random_range(random, 0, 1)].dim[i] = 1;
  }
}
