// conv_transpose2d.c: two-dimensional transposed convolution: every input place adds the kernel, weighted by its value,
// to the output around place * stride.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/conv.h"
#include "layers/common/draw.h"
#include "layers/common/shapes.h"

// Pads are cut off the output, output_padding is added at its bottom and right.
typedef struct {
  oxp__conv conv;
  int64_t output_padding[2];
} conv_transpose2d;

enum { CONV_TRANSPOSE2D_WEIGHT, CONV_TRANSPOSE2D_BIAS };

static const oxp__param conv_transpose2d_params[] = {
  { .name = "in_channels",
    OXP__SIZE(conv_transpose2d, conv.in_channels, 1),
    OXP__REQUIRED,
    .doc = "channels of the input" },
  { .name = "out_channels",
    OXP__SIZE(conv_transpose2d, conv.out_channels, 1),
    OXP__REQUIRED,
    .doc = "channels of the output" },
  { .name = "kernel_shape",
    OXP__SIZES(conv_transpose2d, conv.kernel_shape, 2, 1),
    OXP__REQUIRED,
    .doc = "height and width of the kernel",
    .in = { { .dialect = "netcl", .name = "kernel_size", .required = true } } },
  { .name = "strides",
    OXP__SIZES(conv_transpose2d, conv.strides, 2, 1),
    .value = 1,
    .doc = "distances in the output between neighbouring places of the input",
    .in = { { .dialect = "netcl", .name = "stride", .whole = true } } },
  { .name = "pads",
    OXP__SIZES(conv_transpose2d, conv.pads, 4, 0),
    .doc = "rows and columns cut off the output: top, left, bottom, right",
    .in = { { .dialect = "netcl", .name = "pad", .whole = true } } },
  { .name = "bias", OXP__FLAG(conv_transpose2d, conv.bias), .value = 1, .doc = "whether a bias is added" },
  { .name = "output_padding",
    OXP__SIZES(conv_transpose2d, output_padding, 2, 0),
    .doc = "rows at the bottom and columns at the right that are added to the output; each below its stride",
    .in = { { .dialect = "netcl", .name = NULL } } },
  { .name = "dilations",
    OXP__SIZES(conv_transpose2d, conv.dilations, 2, 1),
    .value = 1,
    .doc = "distances between neighbouring taps, down and to the right",
    .in = { { .dialect = "netcl", .name = NULL } } },
  { .name = "group",
    OXP__SIZE(conv_transpose2d, conv.group, 1),
    .value = 1,
    .doc = "groups of channels that do not see each other",
    .in = { { .dialect = "netcl", .name = NULL } } },
};

static const oxp__weight_row conv_transpose2d_weights[] = {
  { .role = "weight", .doc = "(in_channels, out_channels / group, kernel height, kernel width)" },
  { .role = "bias", .doc = "(out_channels,), if bias" },
};

static void conv_transpose2d_weight_shape(const oxp__layer *layer, int role, oxp__shape *shape)
{
  const oxp__conv *p = &((const conv_transpose2d *)layer->params)->conv;
  if (role == CONV_TRANSPOSE2D_WEIGHT)
    *shape =
        (oxp__shape){ .rank = 4,
                      .dim = { p->in_channels, p->out_channels / p->group, p->kernel_shape[0], p->kernel_shape[1] } };
  else
    *shape = (oxp__shape){ .rank = p->bias ? 1 : -1, .dim = { p->out_channels } };
}

static oxp_status conv_transpose2d_check(const oxp__layer *layer, oxp_error *error)
{
  const conv_transpose2d *p = layer->params;
  OXP__TRY(oxp__conv_check(&p->conv, error));
  for (int i = 0; i < 2; i++)
    if (p->output_padding[i] >= p->conv.strides[i])
      return oxp__fail(error, OXP_BAD_NETWORK, "output_padding holds %lld, which is not below the stride %lld",
                       (long long)p->output_padding[i], (long long)p->conv.strides[i]);
  return OXP_OK;
}

// (in - 1) stride + dilation (kernel - 1) + 1 + output_padding - pads. A symbol stays itself where the size does not
// change.
static oxp_status conv_transpose2d_size(const oxp__window *window, int64_t output_padding, int64_t in, int64_t *out,
                                        oxp_error *error)
{
  int64_t reach, steps, sum, pads = window->pad_begin + window->pad_end;
  if (!oxp__mul_i64(window->dilation, window->kernel - 1, &reach) ||
      !oxp__mul_i64(window->stride, in < 0 ? 0 : in - 1, &steps) || !oxp__add_i64(reach, steps, &sum) ||
      !oxp__add_i64(sum, output_padding + 1 - pads, &sum))
    return oxp__fail(error, OXP_BAD_NETWORK,
                     "the output's size overflows: input %lld, stride %lld, kernel %lld, dilation %lld", (long long)in,
                     (long long)window->stride, (long long)window->kernel, (long long)window->dilation);
  OXP__TRY(oxp__shape_limit_window(reach + 1, pads > window->stride ? pads : window->stride, error));
  if (in >= 0 && sum < 1)
    return oxp__fail(error, OXP_BAD_NETWORK, "pads cut off %lld places of an output that has %lld", (long long)pads,
                     (long long)(sum + pads));
  bool same = window->stride == 1 && reach + output_padding == pads;
  *out = in >= 0 ? sum : same ? in : OXP_DIM_UNKNOWN;
  return OXP_OK;
}

static void conv_transpose2d_windows(const oxp__conv *conv, oxp__window window[2])
{
  oxp__window_from(conv->kernel_shape, conv->strides, conv->dilations, conv->pads, window);
}

static oxp_status conv_transpose2d_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output,
                                         oxp_error *error)
{
  const conv_transpose2d *p = layer->params;
  oxp__window window[2];
  conv_transpose2d_windows(&p->conv, window);
  OXP__TRY(oxp__shape_need_rank(layer, &inputs[0], 4, error));
  OXP__TRY(oxp__shape_need_dim(layer, &inputs[0], 1, p->conv.in_channels, "channels", error));
  *output = inputs[0];
  output->dim[1] = p->conv.out_channels;
  for (int i = 0; i < 2; i++)
    OXP__TRY(conv_transpose2d_size(&window[i], p->output_padding[i], inputs[0].dim[2 + i], &output->dim[2 + i], error));
  return OXP_OK;
}

// Adds what one input map contributes to one output map. Input place i meets output place i * stride + tap * dilation -
// pad: the convolution's relation with input and output in each other's place.
static void conv_transpose2d_add_map(const oxp__window window[2], const int64_t in[2], const int64_t out[2],
                                     const double *x, const double *kernel, double *y)
{
  const oxp__window *down = &window[0], *along = &window[1];
  for (int64_t k = 0; k < down->kernel; k++) {
    int64_t top, bottom;
    oxp__window_range(down, k, out[0], in[0], &top, &bottom);
    for (int64_t l = 0; l < along->kernel; l++) {
      int64_t left, right;
      double tap = kernel[k * along->kernel + l];
      oxp__window_range(along, l, out[1], in[1], &left, &right);
      for (int64_t i = top; i < bottom; i++) {
        double *row = y + (i * down->stride + k * down->dilation - down->pad_begin) * out[1];
        for (int64_t j = left; j < right; j++)
          row[j * along->stride + l * along->dilation - along->pad_begin] += tap * x[i * in[1] + j];
      }
    }
  }
}

static void conv_transpose2d_ref(const oxp__ref *io)
{
  const oxp__conv *p = &((const conv_transpose2d *)io->layer->params)->conv;
  oxp__window window[2];
  conv_transpose2d_windows(p, window);
  const int64_t *in = io->inputs[0].shape.dim, *out = io->output->shape.dim;
  int64_t group_in = p->in_channels / p->group, group_out = p->out_channels / p->group;
  int64_t in_map = in[2] * in[3], out_map = out[2] * out[3], taps = window[0].kernel * window[1].kernel;
  const double *weight = io->weights[CONV_TRANSPOSE2D_WEIGHT].at, *bias = io->weights[CONV_TRANSPOSE2D_BIAS].at;
  double *y = io->output->at;
  for (int64_t n = 0; n < out[0]; n++)
    for (int64_t oc = 0; oc < out[1]; oc++, y += out_map) {
      for (int64_t i = 0; i < out_map; i++)
        y[i] = bias ? bias[oc] : 0;
      for (int64_t c = 0; c < group_in; c++) {
        int64_t ic = oc / group_out * group_in + c;
        conv_transpose2d_add_map(window, in + 2, out + 2, io->inputs[0].at + (n * in[1] + ic) * in_map,
                                 weight + (ic * group_out + oc % group_out) * taps, y);
      }
    }
}

static oxp_status conv_transpose2d_lower(oxp__lowering *to, const oxp__layer *layer)
{
  const conv_transpose2d *p = layer->params;
  return oxp__conv_lower(to, &p->conv, p->output_padding);
}

static void conv_transpose2d_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  conv_transpose2d *p = params;
  p->conv.group = oxp__random_range(random, 1, 3);
  p->conv.in_channels = p->conv.group * oxp__random_range(random, 1, 3);
  p->conv.out_channels = p->conv.group * oxp__random_range(random, 1, 3);
  oxp__conv_draw(random, &p->conv, inputs);
  oxp__window window[2];
  conv_transpose2d_windows(&p->conv, window);
  for (int i = 0; i < 2; i++) {
    int64_t out;
    p->output_padding[i] = oxp__random_range(random, 0, window[i].stride - 1);
    inputs[0].dim[2 + i] = oxp__random_range(random, 1, 6);
    while (conv_transpose2d_size(&window[i], p->output_padding[i], inputs[0].dim[2 + i], &out, NULL) != OXP_OK)
      inputs[0].dim[2 + i]++; // larger than what the pads cut off
  }
}

const oxp__kind oxp__kind_conv_transpose2d = {
  .name = "conv_transpose2d",
  .doc = "two-dimensional transposed convolution",
  .formula = "y[n,o,i s + k d - p, j s + l d - p] = bias[o] + sum over c,i,j,k,l that meet there of weight[c,o,k,l] "
             "x[n,c,i,j]",
  .names = { { "netcl", "ConvTranspose2d" }, { "torch", "ConvTranspose2d" } },
  .params = OXP__ROWS(conv_transpose2d_params),
  .params_bytes = sizeof(conv_transpose2d),
  .weights = OXP__ROWS(conv_transpose2d_weights),
  .min_inputs = 1,
  .max_inputs = 1,
  .weight_shape = conv_transpose2d_weight_shape,
  .check = conv_transpose2d_check,
  .shape = conv_transpose2d_shape,
  .ref = conv_transpose2d_ref,
  .lower = { { 13, conv_transpose2d_lower } },
  .tolerance = OXP__REDUCTION,
  .draw = conv_transpose2d_draw,
};
