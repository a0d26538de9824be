// window.c: see window.h. Place: layers/common.
#include "layers/common/window.h"

void oxp__window_range(const oxp__window *window, int64_t tap, int64_t in, int64_t out, int64_t *begin, int64_t *end)
{
  int64_t offset = tap * window->dilation - window->pad_begin; // input place of output 0
  int64_t first = oxp__floor_div(-offset + window->stride - 1, window->stride);
  int64_t last = oxp__floor_div(in - 1 - offset, window->stride);
  *begin = first < 0 ? 0 : first;
  *end = last + 1 > out ? out : last + 1;
}

void oxp__window_clip(const oxp__window *window, int64_t o, int64_t in, int64_t *begin, int64_t *end)
{
  int64_t first = o * window->stride - window->pad_begin;
  int64_t last = first + window->kernel;
  *begin = first < 0 ? 0 : first;
  *end = last > in ? in : last;
}

oxp_status oxp__window_shape(const oxp__layer *layer, const oxp__window window[2], const oxp__shape *input,
                             oxp__shape *output, oxp_error *error)
{
  *output = *input;
  for (int i = 0; i < 2; i++) {
    const oxp__window *w = &window[i];
    OXP__TRY(oxp__shape_window(layer, input->dim[2 + i], w->kernel, w->stride, w->pad_begin, w->pad_end, w->dilation,
                               &output->dim[2 + i], error));
  }
  return OXP_OK;
}

void oxp__window_from(const int64_t kernel_shape[2], const int64_t strides[2], const int64_t *dilations,
                      const int64_t *pads, oxp__window window[2])
{
  for (int i = 0; i < 2; i++)
    window[i] = (oxp__window){ .kernel = kernel_shape[i],
                               .stride = strides[i],
                               .dilation = dilations ? dilations[i] : 1,
                               .pad_begin = pads ? pads[i] : 0,
                               .pad_end = pads ? pads[2 + i] : 0 };
}

int64_t oxp__window_least(const oxp__window *window)
{
  int64_t least = window->dilation * (window->kernel - 1) + 1 - window->pad_begin - window->pad_end;
  return least < 1 ? 1 : least;
}
