// pool.c: see pool.h. Place: layers/common.
#include "layers/common/pool.h"

#include "layers/common/draw.h"

static void pool_strides(const oxp__pool *pool, int64_t strides[2])
{
  for (int i = 0; i < 2; i++)
    strides[i] = pool->strides[i] == OXP__UNSET ? pool->kernel_shape[i] : pool->strides[i];
}

static void pool_windows(const oxp__pool *pool, oxp__window window[2])
{
  int64_t strides[2];
  pool_strides(pool, strides);
  oxp__window_from(pool->kernel_shape, strides, NULL, pool->pads, window);
}

oxp_status oxp__pool_shape(const oxp__layer *layer, const oxp__pool *pool, const oxp__shape *input, oxp__shape *output,
                           oxp_error *error)
{
  oxp__window window[2];
  pool_windows(pool, window);
  OXP__TRY(oxp__shape_need_rank(layer, input, 4, error));
  return oxp__window_shape(layer, window, input, output, error);
}

void oxp__pool_ref(const oxp__ref *io, const oxp__pool *pool,
                   double (*reduce)(const double *x, int64_t row_length, int64_t rows, int64_t columns))
{
  oxp__window window[2];
  pool_windows(pool, window);
  const int64_t *in = io->inputs[0].shape.dim, *out = io->output->shape.dim;
  double *y = io->output->at;
  for (int64_t map = 0; map < out[0] * out[1]; map++) {
    const double *x = io->inputs[0].at + map * in[2] * in[3];
    for (int64_t i = 0; i < out[2]; i++)
      for (int64_t j = 0; j < out[3]; j++) {
        int64_t top, bottom, left, right;
        oxp__window_clip(&window[0], i, in[2], &top, &bottom);
        oxp__window_clip(&window[1], j, in[3], &left, &right);
        *y++ = reduce(x + top * in[3] + left, in[3], bottom - top, right - left);
      }
  }
}

oxp_status oxp__pool_lower(oxp__lowering *to, const oxp__pool *pool, const char *op_type)
{
  int64_t strides[2];
  pool_strides(pool, strides);
  oxp__node *node = oxp__lower_node(to, op_type, OXP__IN(oxp__lower_input(to, 0)));
  oxp__attr_ints(to, node, "kernel_shape", 2, pool->kernel_shape);
  oxp__attr_ints(to, node, "pads", 4, pool->pads);
  oxp__attr_ints(to, node, "strides", 2, strides);
  return OXP_OK;
}

void oxp__pool_draw(oxp__random *random, oxp__pool *pool, bool with_pads, oxp__shape *inputs)
{
  bool square = oxp__draw_one_in(random, 2);
  for (int i = 0; i < 2; i++) {
    bool copy = square && i == 1;
    pool->kernel_shape[i] = copy ? pool->kernel_shape[0] : oxp__random_range(random, 1, 4);
    pool->strides[i] = copy ? pool->strides[0] : oxp__random_range(random, 1, 5); // now and then above the kernel
  }
  for (int i = 0; i < 4; i++)
    pool->pads[i] = with_pads ? oxp__random_range(random, 0, pool->kernel_shape[i % 2] - 1) : 0;
  oxp__draw_shape(random, &inputs[0], 4, 1, 3);
  for (int i = 0; i < 2; i++)
    inputs[0].dim[2 + i] = pool->kernel_shape[i] + oxp__random_range(random, 0, 9);
  inputs[1].rank = -1;
}
