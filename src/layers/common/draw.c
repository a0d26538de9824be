// draw.c: see draw.h. Place: layers/common.
#include "layers/common/draw.h"

#include <math.h>

void oxp__draw_shape(oxp__random *random, oxp__shape *shape, int rank, int64_t low, int64_t high)
{
  shape->rank = rank;
  for (int i = 0; i < rank; i++)
    shape->dim[i] = oxp__random_range(random, low, high);
}

void oxp__draw_input(oxp__random *random, oxp__shape *inputs, int rank)
{
  oxp__draw_shape(random, &inputs[0], rank, 1, 7);
  inputs[1].rank = -1;
}

void oxp__draw_any(oxp__random *random, void *params, oxp__shape *inputs)
{
  (void)params;
  oxp__draw_input(random, inputs, (int)oxp__random_range(random, 2, 4));
}

bool oxp__draw_one_in(oxp__random *random, int n)
{
  return oxp__random_range(random, 1, n) == 1;
}

double oxp__draw_real(oxp__random *random, double low, double high)
{
  return round((low + (high - low) * oxp__random_unit(random)) * 1000) / 1000;
}
