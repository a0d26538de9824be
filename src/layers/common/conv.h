// conv.h: what conv2d, depthwise_conv2d and conv_transpose2d share: parameters, shapes, the reference kernel, the node.
// Place: layers/common.
#ifndef OXP_LAYERS_COMMON_CONV_H
#define OXP_LAYERS_COMMON_CONV_H

#include "layers/common/window.h"

typedef struct oxp__conv {
  int64_t in_channels, out_channels, group;
  int64_t kernel_shape[2], strides[2], dilations[2];
  int64_t pads[4]; // top, left, bottom, right
  bool bias;
} oxp__conv;

// Weight number 0 is (out, in / group, kH, kW), number 1 the bias (out,).
void oxp__conv_weight_shape(const oxp__conv *conv, int role, oxp__shape *shape);
oxp_status oxp__conv_shape(const oxp__layer *layer, const oxp__conv *conv, const oxp__shape *input, oxp__shape *output,
                           oxp_error *error);
void oxp__conv_ref(const oxp__ref *io, const oxp__conv *conv);
// Groups that divide the channels; else OXP_BAD_NETWORK.
oxp_status oxp__conv_check(const oxp__conv *conv, oxp_error *error);
// A Conv node; with `output_padding` (two numbers) a ConvTranspose.
oxp_status oxp__conv_lower(oxp__lowering *to, const oxp__conv *conv, const int64_t *output_padding);

// Random windows, bias and a map that they fit, for the channels that are set already.
void oxp__conv_draw(oxp__random *random, oxp__conv *conv, oxp__shape *inputs);

#endif
