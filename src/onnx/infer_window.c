// infer_window.c: shapes of the operators that slide a window over the axes behind batch and channels, and of Resize.
// Place: onnx.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "onnx/infer.h"

// The window's numbers per spatial axis.
typedef struct infer_window {
  int axes;
  int64_t kernel[OXP_MAX_RANK], strides[OXP_MAX_RANK], dilations[OXP_MAX_RANK];
  int64_t begin[OXP_MAX_RANK], end[OXP_MAX_RANK]; // pads
  bool same, valid;                               // auto_pad
  bool ceil;
} infer_window;

// Numbers beyond this are nonsense, and below it no product of two overflows.
static const int64_t infer_max_window = INT32_MAX;

// Copies an attribute of `count` numbers, each at least `minimum`; `otherwise` for all when it is absent.
static void infer_window_ints(oxp__inference *io, const char *name, int count, int64_t minimum, int64_t otherwise,
                              int64_t *numbers)
{
  const oxp__ints *given = oxp__infer_ints(io, name);
  if (given && given->count != (size_t)count) {
    oxp__infer_problem(io, "%s has %zu numbers where %d are needed", name, given->count, count);
    given = NULL;
  }
  for (int i = 0; i < count; i++) {
    numbers[i] = given ? given->at[i] : otherwise;
    if (numbers[i] >= minimum && numbers[i] <= infer_max_window)
      continue;
    oxp__infer_problem(io, "%s holds %" PRId64 ", which is out of range", name, numbers[i]);
    numbers[i] = minimum;
  }
}

// Everything but the kernel, which operators find in different places.
static void infer_window_read(oxp__inference *io, int axes, infer_window *window)
{
  int64_t pads[2 * OXP_MAX_RANK];
  *window = (infer_window){ .axes = axes };
  infer_window_ints(io, "strides", axes, 1, 1, window->strides);
  infer_window_ints(io, "dilations", axes, 1, 1, window->dilations);
  infer_window_ints(io, "pads", 2 * axes, 0, 0, pads);
  memcpy(window->begin, pads, (size_t)axes * sizeof *pads);
  memcpy(window->end, pads + axes, (size_t)axes * sizeof *pads);
  window->same = oxp__infer_is(io, "auto_pad", "SAME_UPPER") || oxp__infer_is(io, "auto_pad", "SAME_LOWER");
  window->valid = oxp__infer_is(io, "auto_pad", "VALID");
  window->ceil = oxp__infer_int(io, "ceil_mode", 0);
  if (!window->valid)
    return;
  memset(window->begin, 0, sizeof window->begin);
  memset(window->end, 0, sizeof window->end);
}

// The output's length on one axis.
static int64_t infer_window_out(oxp__inference *io, const infer_window *window, int axis, int64_t in)
{
  int64_t stride = window->strides[axis];
  if (in < 0 || in > INT64_MAX / 4)
    return window->same && stride == 1 ? in : OXP_DIM_UNKNOWN;
  if (window->same)
    return (in + stride - 1) / stride;
  int64_t extent = window->dilations[axis] * (window->kernel[axis] - 1) + 1;
  int64_t room = in + window->begin[axis] + window->end[axis] - extent;
  if (room < 0) {
    oxp__infer_problem(io, "a window of %" PRId64 " does not fit %" PRId64 " with pads %" PRId64 " and %" PRId64,
                       extent, in, window->begin[axis], window->end[axis]);
    return OXP_DIM_UNKNOWN;
  }
  // With ceil_mode, releases differ on a last window that lies in the padding alone.
  if (window->ceil && room % stride != 0)
    return OXP_DIM_UNKNOWN;
  return room / stride + 1;
}

static bool infer_spatial(oxp__inference *io, const oxp__typed *x)
{
  if (x->rank >= 0 && x->rank < 3)
    oxp__infer_problem(io, "the input has rank %d, but needs batch, channels and at least one axis more", x->rank);
  return x->rank >= 3;
}

static void infer_window_set(oxp__inference *io, const infer_window *window, const oxp__typed *x, int64_t channels)
{
  int64_t dims[OXP_MAX_RANK] = { x->dims[0], channels };
  for (int i = 0; i < window->axes; i++)
    dims[2 + i] = infer_window_out(io, window, i, x->dims[2 + i]);
  oxp__infer_set_shape(io, x->rank, dims);
}

// --- Convolutions ---

// The kernel: the weight's last axes, which kernel_shape must repeat where it is given.
static void infer_conv_kernel(oxp__inference *io, const oxp__typed *w, infer_window *window)
{
  int64_t given[OXP_MAX_RANK];
  bool repeats = oxp__infer_attribute(io, "kernel_shape");
  if (repeats)
    infer_window_ints(io, "kernel_shape", window->axes, 1, 1, given);
  for (int i = 0; i < window->axes; i++) {
    int64_t kernel = w->dims[2 + i] >= 0 ? w->dims[2 + i] : repeats ? given[i] : 1;
    if (kernel < 1 || kernel > infer_max_window)
      oxp__infer_problem(io, "the weight's axis %d has length %" PRId64, 2 + i, kernel);
    else if (repeats && given[i] != kernel)
      oxp__infer_problem(io, "kernel_shape says %" PRId64 ", but the weight's axis %d has length %" PRId64, given[i],
                         2 + i, kernel);
    window->kernel[i] = kernel;
  }
}

// A bias has one number per output channel.
static void infer_conv_bias(oxp__inference *io, int64_t channels)
{
  const oxp__typed *bias = oxp__infer_input(io, 2);
  int64_t ignored;
  if (bias->rank >= 0 && (bias->rank != 1 || !oxp__infer_same_dim(bias->dims[0], channels, &ignored))) {
    char text[OXP__INFER_TEXT];
    oxp__infer_problem(io, "a bias of shape %s does not fit %" PRId64 " output channels",
                       oxp__infer_shape_text(bias, text, sizeof text), channels);
  }
}

// Input, weight and group that fit each other so far; the window without its kernel.
static bool infer_conv_begin(oxp__inference *io, infer_window *window, int64_t *group)
{
  const oxp__typed *x = oxp__infer_input(io, 0), *w = oxp__infer_input(io, 1);
  *group = oxp__infer_int(io, "group", 1);
  if (*group < 1 || *group > INT32_MAX)
    oxp__infer_problem(io, "group %" PRId64 " is out of range", *group);
  if (!infer_spatial(io, x) || w->rank < 0)
    return false;
  if (w->rank != x->rank)
    oxp__infer_problem(io, "the input has rank %d, but the weight rank %d", x->rank, w->rank);
  if (io->problem[0])
    return false;
  infer_window_read(io, x->rank - 2, window);
  infer_conv_kernel(io, w, window);
  return !io->problem[0];
}

void oxp__infer_conv(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0), *w = oxp__infer_input(io, 1);
  infer_window window;
  int64_t group, channels;
  if (!infer_conv_begin(io, &window, &group))
    return;
  if (x->dims[1] >= 0 && w->dims[1] >= 0 && (!oxp__mul_i64(w->dims[1], group, &channels) || channels != x->dims[1]))
    oxp__infer_problem(
        io, "the input has %" PRId64 " channels, but the weight takes %" PRId64 " in each of %" PRId64 " groups",
        x->dims[1], w->dims[1], group);
  if (w->dims[0] >= 0 && w->dims[0] % group != 0)
    oxp__infer_problem(io, "%" PRId64 " output channels cannot be divided into %" PRId64 " groups", w->dims[0], group);
  infer_conv_bias(io, w->dims[0]);
  infer_window_set(io, &window, x, w->dims[0]);
}

static int64_t infer_transposed_out(oxp__inference *io, const infer_window *window, int axis, int64_t in, int64_t added)
{
  int64_t extent = window->dilations[axis] * (window->kernel[axis] - 1) + 1, out;
  if (in < 1 || in > INT32_MAX)
    return OXP_DIM_UNKNOWN;
  if (window->same)
    return in * window->strides[axis];
  if (!oxp__add_i64(window->strides[axis] * (in - 1), added + extent - window->begin[axis] - window->end[axis], &out))
    return OXP_DIM_UNKNOWN;
  if (out < 0)
    oxp__infer_problem(io, "the pads %" PRId64 " and %" PRId64 " leave nothing of axis %d", window->begin[axis],
                       window->end[axis], 2 + axis);
  return out < 0 ? OXP_DIM_UNKNOWN : out;
}

void oxp__infer_conv_transpose(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0), *w = oxp__infer_input(io, 1);
  infer_window window;
  int64_t group, channels, added[OXP_MAX_RANK], dims[OXP_MAX_RANK];
  if (!infer_conv_begin(io, &window, &group))
    return;
  if (!oxp__infer_same_dim(x->dims[1], w->dims[0], &channels))
    oxp__infer_problem(io, "the input has %" PRId64 " channels, but the weight takes %" PRId64, x->dims[1], w->dims[0]);
  bool known = w->dims[1] >= 0 && oxp__mul_i64(w->dims[1], group, &channels);
  dims[0] = x->dims[0];
  dims[1] = known ? channels : OXP_DIM_UNKNOWN;
  infer_conv_bias(io, dims[1]);
  infer_window_ints(io, "output_padding", window.axes, 0, 0, added);
  for (int i = 0; i < window.axes; i++)
    dims[2 + i] = oxp__infer_attribute(io, "output_shape")
                      ? OXP_DIM_UNKNOWN
                      : infer_transposed_out(io, &window, i, x->dims[2 + i], added[i]);
  oxp__infer_set_shape(io, x->rank, dims);
}

// --- Pools ---

void oxp__infer_pool(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  if (!infer_spatial(io, x))
    return;
  infer_window window;
  infer_window_read(io, x->rank - 2, &window);
  infer_window_ints(io, "kernel_shape", window.axes, 1, 1, window.kernel);
  infer_window_set(io, &window, x, x->dims[1]);
  for (size_t i = 1; i < io->output_count; i++) { // MaxPool's indices
    io->outputs[i].rank = io->outputs[0].rank;
    memcpy(io->outputs[i].dims, io->outputs[0].dims, sizeof io->outputs[0].dims);
  }
}

void oxp__infer_global_pool(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  if (!infer_spatial(io, x))
    return;
  int64_t dims[OXP_MAX_RANK] = { x->dims[0], x->dims[1] };
  for (int i = 2; i < x->rank; i++)
    dims[i] = 1;
  oxp__infer_set_shape(io, x->rank, dims);
}

// --- Resize ---

// `sizes` and `scales` are inputs 3 and 2, before opset 11 scales is input 1.
static bool infer_resize_numbers(oxp__inference *io, bool *sizes, int *count, double *numbers)
{
  size_t scales_at = io->opset < 11 ? 1 : 2;
  const oxp__typed *scales = oxp__infer_input(io, scales_at);
  bool empty = scales->rank == 1 && scales->dims[0] == 0; // opset 11 writes an absent input so
  bool filled = scales->rank == 1 && scales->dims[0] > 0;
  *sizes = oxp__infer_has_input(io, 3);
  if (*sizes && filled)
    oxp__infer_problem(io, "both sizes and scales are given");
  else if (!*sizes && (empty || !oxp__infer_has_input(io, scales_at)))
    oxp__infer_problem(io, "neither sizes nor scales are given");
  return oxp__infer_constant(*sizes ? oxp__infer_input(io, 3) : scales, count, numbers);
}

static int64_t infer_length(double number)
{
  return number >= 0 && number < 9e15 ? (int64_t)number : OXP_DIM_UNKNOWN;
}

// The length that comes of a scale. Whether the product is rounded to float before it is cut is not said, so a length for which
// that matters is not known.
static int64_t infer_scaled(int64_t length, double scale)
{
  if (scale == 1)
    return length;
  double out = floor((double)length * scale);
  bool clear = out == (double)floorf((float)length * (float)scale);
  return length >= 0 && clear ? infer_length(out) : OXP_DIM_UNKNOWN;
}

// Sizes are met as they are only where the sides of a picture need not keep their relation; scales where nothing is cut out first.
static bool infer_resize_is_literal(const oxp__inference *io, bool sizes)
{
  if (sizes)
    return !oxp__infer_attribute(io, "keep_aspect_ratio_policy") ||
           oxp__infer_is(io, "keep_aspect_ratio_policy", "stretch");
  return !oxp__infer_is(io, "coordinate_transformation_mode", "tf_crop_and_resize");
}

void oxp__infer_resize(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  double numbers[OXP__INFER_MAX_CONSTANT];
  int64_t dims[OXP_MAX_RANK];
  int axes[OXP__INFER_MAX_CONSTANT], axis_count, count = 0;
  bool sizes = false;
  bool known = infer_resize_numbers(io, &sizes, &count, numbers);
  if (x->rank < 0 || !oxp__infer_axes_or_all(io, io->input_count, x->rank, &axis_count, axes))
    return;
  if (known && count != axis_count) {
    oxp__infer_problem(io, "%d %s for %d axes", count, sizes ? "sizes" : "scales", axis_count);
    return;
  }
  bool literal = known && infer_resize_is_literal(io, sizes);
  memcpy(dims, x->dims, (size_t)x->rank * sizeof *dims);
  for (int i = 0; i < axis_count; i++) {
    if (known && !(numbers[i] > 0))
      oxp__infer_problem(io, "%s number %d is %g, not above 0", sizes ? "size" : "scale", i, numbers[i]);
    dims[axes[i]] = !literal ? OXP_DIM_UNKNOWN
                    : sizes  ? infer_length(numbers[i])
                             : infer_scaled(dims[axes[i]], numbers[i]);
  }
  oxp__infer_set_shape(io, x->rank, dims);
}
