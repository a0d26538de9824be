// conv2d.c: two-dimensional convolution (cross-correlation) with groups, strides, dilations and zero padding.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/conv.h"

static const oxp__param conv2d_params[] = {
  { .name = "in_channels", OXP__SIZE(oxp__conv, in_channels, 1), OXP__REQUIRED, .doc = "channels of the input" },
  { .name = "out_channels", OXP__SIZE(oxp__conv, out_channels, 1), OXP__REQUIRED, .doc = "channels of the output" },
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
    .in = { { .dialect = "netcl", .name = "dilation", .whole = true } } },
  { .name = "group",
    OXP__SIZE(oxp__conv, group, 1),
    .value = 1,
    .doc = "groups of channels that do not see each other",
    .in = { { .dialect = "netcl", .name = "groups" } } },
};

static const oxp__weight_row conv2d_weights[] = {
  { .role = "weight", .doc = "(out_channels, in_channels / group, kernel height, kernel width)" },
  { .role = "bias", .doc = "(out_channels,), if bias" },
};

static void conv2d_weight_shape(const oxp__layer *layer, int role, oxp__shape *shape)
{
  oxp__conv_weight_shape(layer->params, role, shape);
}

static oxp_status conv2d_check(const oxp__layer *layer, oxp_error *error)
{
  return oxp__conv_check(layer->params, error);
}

static oxp_status conv2d_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output, oxp_error *error)
{
  return oxp__conv_shape(layer, layer->params, &inputs[0], output, error);
}

static void conv2d_ref(const oxp__ref *io)
{
  oxp__conv_ref(io, io->layer->params);
}

static oxp_status conv2d_lower(oxp__lowering *to, const oxp__layer *layer)
{
  return oxp__conv_lower(to, layer->params, NULL);
}

static void conv2d_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  oxp__conv *p = params;
  p->group = oxp__random_range(random, 1, 3);
  p->in_channels = p->group * oxp__random_range(random, 1, 3);
  p->out_channels = p->group * oxp__random_range(random, 1, 3);
  oxp__conv_draw(random, p, inputs);
}

const oxp__kind oxp__kind_conv2d = {
  .name = "conv2d",
  .doc = "two-dimensional convolution with zero padding",
  .formula = "y[n,o,i,j] = bias[o] + sum over c,k,l of weight[o,c,k,l] x[n,c, i s - p + k d, j s - p + l d]",
  .names = { { "netcl", "Conv2d" }, { "torch", "Conv2d" } },
  .params = OXP__ROWS(conv2d_params),
  .params_bytes = sizeof(oxp__conv),
  .weights = OXP__ROWS(conv2d_weights),
  .min_inputs = 1,
  .max_inputs = 1,
  .weight_shape = conv2d_weight_shape,
  .check = conv2d_check,
  .shape = conv2d_shape,
  .ref = conv2d_ref,
  .lower = { { 7, conv2d_lower } },
  .tolerance = OXP__REDUCTION,
  .draw = conv2d_draw,
};
