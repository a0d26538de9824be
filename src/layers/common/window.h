// window.h: windows that slide over a map (convolution, pooling): which outputs a tap reaches, and drawing legal ones.
// Place: layers/common.
#ifndef OXP_LAYERS_COMMON_WINDOW_H
#define OXP_LAYERS_COMMON_WINDOW_H

#include "layers/kind.h"
#include "layers/lowering.h"

// One axis of a sliding window. Output o, tap k reads input o * stride + k * dilation - pad_begin.
typedef struct oxp__window {
  int64_t kernel, stride, dilation, pad_begin, pad_end;
} oxp__window;

// The outputs begin <= o < end, of `out`, for which tap `tap` lies inside an input of `in` places.
void oxp__window_range(const oxp__window *window, int64_t tap, int64_t in, int64_t out, int64_t *begin, int64_t *end);

// The part of the window of output `o` that lies inside an input of `in` places: begin <= place < end. Without dilation.
void oxp__window_clip(const oxp__window *window, int64_t o, int64_t in, int64_t *begin, int64_t *end);

// The output shape of windows over height and width of a rank 4 input; batch and channels stay.
oxp_status oxp__window_shape(const oxp__layer *layer, const oxp__window window[2], const oxp__shape *input,
                             oxp__shape *output, oxp_error *error);

// The two windows of parameters in ONNX's order: pads are top, left, bottom, right. NULL: ones, and no padding.
void oxp__window_from(const int64_t kernel_shape[2], const int64_t strides[2], const int64_t *dilations,
                      const int64_t *pads, oxp__window window[2]);

// The smallest size that a map needs for the window.
int64_t oxp__window_least(const oxp__window *window);

#endif
