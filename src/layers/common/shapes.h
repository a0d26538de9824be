// shapes.h: shape helpers that only the kinds themselves use; those that readers and builder see too are in kind.h.
// Place: layers/common.
#ifndef OXP_LAYERS_COMMON_SHAPES_H
#define OXP_LAYERS_COMMON_SHAPES_H

#include "layers/kind.h"

// OXP_BAD_NETWORK: "the input has shape (2, 3); REASON".
oxp_status oxp__shape_fail(const oxp__shape *input, oxp_error *error, const char *reason);

// Two inputs put one behind the other along `axis` (not negative). A sum with a symbol in it is OXP_DIM_UNKNOWN.
oxp_status oxp__shape_join(const oxp__shape *a, const oxp__shape *b, int axis, oxp__shape *output, oxp_error *error);

// An axis counted from the front (0 ...) or from the back (-1 ...), as one counted from the front: for kernels, where it
// was checked, and with the check.
int oxp__axis_from_front(int64_t axis, int rank);
oxp_status oxp__shape_axis(const oxp__shape *input, int64_t axis, int *out, oxp_error *error);

// OXP_BAD_NETWORK where a window covers, or pads add, more places on one axis than a map can have that is ever run.
oxp_status oxp__shape_limit_window(int64_t reach, int64_t pads, oxp_error *error);

// The product of the dimensions begin <= i < end; for kernels, whose shapes are known and were checked.
int64_t oxp__shape_product(const oxp__shape *shape, int begin, int end);

#endif
