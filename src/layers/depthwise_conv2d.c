// depthwise_conv2d.c: a convolution in which every channel is its own group.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/conv.h"

// `in_channels` is the one channel count that is given; the others follow from it.
static const oxp__param depthwise_conv2d_params[] = {
  { .name = "channels", OXP__SIZE(oxp__conv, in_channels, 1), OXP__REQUIRED, .doc = "channels of input and output" },
  { .name = "kernel_shape",
    OXP__SIZES(oxp__conv, kernel_shape, 2, 1),
    OXP__REQUIRED,
    .doc = "height and width of the window",
    .in = { { .dialect = "netcl", .name = "kernel_size", .required = true } } },
  { .name = "strides",
    OXP__SIZES(oxp__conv, strides, 2, 1),
    .value = 1,
    .doc = "steps of the window, down and to the right",
    .in = { { .dialect = "netcl", .name = "stride", .whole = true } } },
  { .name = "pads",
    OXP__SIZES(oxp__conv, pads, 4, 0),
    .doc = "zeros around the map: top, left, bottom, right",
    .in = { { .dialect = "netcl", .name = "pad", .whole = true } } },
  { .name = "bias", OXP__FLAG(oxp__conv, bias), .value = 1, .doc = "whether a bias is added" },
  { .name = "dilations",
    OXP__SIZES(oxp__conv, dilations, 2, 1),
    .value = 1,
    .doc = "distances between neighbouring taps, down and to the right",
    .in = { { .dialect = "netcl", .name = NULL } } },
};

static const oxp__weight_row depthwise_conv2d_weights[] = {
  { .role = "weight", .doc = "(channels, 1, kernel height, kernel width)" },
  { .role = "bias", .doc = "(channels,), if bias" },
};

static oxp__conv depthwise_conv2d_conv(const oxp__layer *layer)
{
  oxp__conv conv = *(const oxp__conv *)layer->params;
  conv.out_channels = conv.group = conv.in_channels;
  return conv;
}

static void depthwise_conv2d_weight_shape(const oxp__layer *layer, int role, oxp__shape *shape)
{
  oxp__conv conv = depthwise_conv2d_conv(layer);
  oxp__conv_weight_shape(&conv, role, shape);
}

static oxp_status depthwise_conv2d_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output,
                                         oxp_error *error)
{
  oxp__conv conv = depthwise_conv2d_conv(layer);
  return oxp__conv_shape(layer, &conv, &inputs[0], output, error);
}

static void depthwise_conv2d_ref(const oxp__ref *io)
{
  oxp__conv conv = depthwise_conv2d_conv(io->layer);
  oxp__conv_ref(io, &conv);
}

static oxp_status depthwise_conv2d_lower(oxp__lowering *to, const oxp__layer *layer)
{
  oxp__conv conv = depthwise_conv2d_conv(layer);
  return oxp__conv_lower(to, &conv, NULL);
}

static void depthwise_conv2d_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  oxp__conv *p = params;
  p->in_channels = oxp__random_range(random, 1, 6);
  oxp__conv_draw(random, p, inputs);
}

const oxp__kind oxp__kind_depthwise_conv2d = {
  .name = "depthwise_conv2d",
  .doc = "two-dimensional convolution of each channel on its own, with zero padding",
  .formula = "y[n,c,i,j] = bias[c] + sum over k,l of weight[c,0,k,l] x[n,c, i s - p + k d, j s - p + l d]",
  .names = { { "netcl", "DepthwiseConv2d" } },
  .params = OXP__ROWS(depthwise_conv2d_params),
  .params_bytes = sizeof(oxp__conv),
  .weights = OXP__ROWS(depthwise_conv2d_weights),
  .min_inputs = 1,
  .max_inputs = 1,
  .weight_shape = depthwise_conv2d_weight_shape,
  .shape = depthwise_conv2d_shape,
  .ref = depthwise_conv2d_ref,
  .lower = { { 13, depthwise_conv2d_lower } },
  .tolerance = OXP__REDUCTION,
  .draw = depthwise_conv2d_draw,
};
