// map.h: element-by-element kinds: the reference loop and the one-operator lowering. Place: layers/common.
#ifndef OXP_LAYERS_COMMON_MAP_H
#define OXP_LAYERS_COMMON_MAP_H

#include "layers/kind.h"
#include "layers/lowering.h"

// y[i] = function(x[i], params) over the whole input.
void oxp__map_ref(const oxp__ref *io, double (*function)(double x, const void *params));

// z = function(x, y) with NumPy broadcasting of two inputs.
void oxp__map_pair_ref(const oxp__ref *io, double (*function)(double x, double y));

// One node that reads the layer's input and has no attributes; its status is the walk's to check.
oxp_status oxp__map_lower(oxp__lowering *to, const char *op_type);

// One node that reads the layer's two inputs.
oxp_status oxp__map_pair_lower(oxp__lowering *to, const char *op_type);

// Two random shapes that broadcast together, with ones now and then.
void oxp__map_pair_draw(oxp__random *random, void *params, oxp__shape *inputs);

#endif
