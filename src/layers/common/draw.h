// draw.h: what the kinds' `draw` hooks share: small random shapes and choices. Place: layers/common.
#ifndef OXP_LAYERS_COMMON_DRAW_H
#define OXP_LAYERS_COMMON_DRAW_H

#include "layers/kind.h"

// Fills `shape` with `rank` random dimensions from low to high.
void oxp__draw_shape(oxp__random *random, oxp__shape *shape, int rank, int64_t low, int64_t high);

// One input with given rank, or with a random rank from 2 to 4.
void oxp__draw_input(oxp__random *random, oxp__shape *inputs, int rank);

// A whole `draw` hook for kinds without parameters that take any shape.
void oxp__draw_any(oxp__random *random, void *params, oxp__shape *inputs);

// True once in `n` times on average.
bool oxp__draw_one_in(oxp__random *random, int n);

// A number from low to high, rounded to three decimals so that a failing case can be typed in.
double oxp__draw_real(oxp__random *random, double low, double high);

#endif
