// pool.h: what the pooling kinds share: windows over a map that are each reduced to one number. Place: layers/common.
#ifndef OXP_LAYERS_COMMON_POOL_H
#define OXP_LAYERS_COMMON_POOL_H

#include "layers/common/window.h"

typedef struct oxp__pool {
  int64_t kernel_shape[2];
  int64_t strides[2]; // OXP__UNSET: the kernel
  int64_t pads[4];    // top, left, bottom, right; outside the map there is nothing
} oxp__pool;

oxp_status oxp__pool_shape(const oxp__layer *layer, const oxp__pool *pool, const oxp__shape *input, oxp__shape *output,
                           oxp_error *error);

// `reduce` gets the part of a window that lies inside the map: its first value, and how many rows and columns there are.
void oxp__pool_ref(const oxp__ref *io, const oxp__pool *pool,
                   double (*reduce)(const double *x, int64_t row_length, int64_t rows, int64_t columns));

oxp_status oxp__pool_lower(oxp__lowering *to, const oxp__pool *pool, const char *op_type);

void oxp__pool_draw(oxp__random *random, oxp__pool *pool, bool with_pads, oxp__shape *inputs);

#endif
