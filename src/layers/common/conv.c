// conv.c: see conv.h. Place: layers/common.
#include "layers/common/conv.h"

#include "layers/common/draw.h"

void oxp__conv_weight_shape(const oxp__conv *conv, int role, oxp__shape *shape)
{
  if (role == 0)
    *shape = (oxp__shape){ .rank = 4,
                           .dim = { conv->out_channels, conv->in_channels / conv->group, conv->kernel_shape[0],
                                    conv->kernel_shape[1] } };
  else
    *shape = (oxp__shape){ .rank = conv->bias ? 1 : -1, .dim = { conv->out_channels } };
}

static void conv_windows(const oxp__conv *conv, oxp__window window[2])
{
  oxp__window_from(conv->kernel_shape, conv->strides, conv->dilations, conv->pads, window);
}

oxp_status oxp__conv_shape(const oxp__layer *layer, const oxp__conv *conv, const oxp__shape *input, oxp__shape *output,
                           oxp_error *error)
{
  oxp__window window[2];
  conv_windows(conv, window);
  OXP__TRY(oxp__shape_need_rank(layer, input, 4, error));
  OXP__TRY(oxp__shape_need_dim(layer, input, 1, conv->in_channels, "channels", error));
  OXP__TRY(oxp__window_shape(layer, window, input, output, error));
  output->dim[1] = conv->out_channels;
  return OXP_OK;
}

// One output row that is being summed up, and what it is summed from.
typedef struct conv_row {
  const oxp__window *window; // along the row
  double *y;
  int64_t out;
  int64_t in; // length of an input row
} conv_row;

// Adds one input row, weighted by the taps of one kernel row. The inner loop runs along the output.
static void conv_add_row(const conv_row *row, const double *x, const double *taps)
{
  const oxp__window *window = row->window;
  for (int64_t k = 0; k < window->kernel; k++) {
    int64_t begin, end;
    oxp__window_range(window, k, row->in, row->out, &begin, &end);
    double tap = taps[k];
    double *y = row->y;
    const double *from = x + begin * window->stride + k * window->dilation - window->pad_begin;
    if (window->stride == 1) {
      for (int64_t o = begin; o < end; o++)
        y[o] += tap * from[o - begin];
    } else {
      for (int64_t o = begin; o < end; o++)
        y[o] += tap * from[(o - begin) * window->stride];
    }
  }
}

// Adds everything that one input channel contributes to output row number `oy`.
static void conv_add_channel(const conv_row *row, const oxp__window *down, int64_t oy, int64_t in_rows, const double *x,
                             const double *kernel)
{
  for (int64_t k = 0; k < down->kernel; k++) {
    int64_t iy = oy * down->stride + k * down->dilation - down->pad_begin;
    if (iy >= 0 && iy < in_rows)
      conv_add_row(row, x + iy * row->in, kernel + k * row->window->kernel);
  }
}

void oxp__conv_ref(const oxp__ref *io, const oxp__conv *conv)
{
  oxp__window window[2];
  conv_windows(conv, window);
  const int64_t *in = io->inputs[0].shape.dim, *out = io->output->shape.dim;
  int64_t group_in = conv->in_channels / conv->group, group_out = conv->out_channels / conv->group;
  int64_t map = in[2] * in[3], taps = window[0].kernel * window[1].kernel;
  const double *weight = io->weights[0].at, *bias = io->weights[1].at;
  conv_row row = { .window = &window[1], .y = io->output->at, .out = out[3], .in = in[3] };
  for (int64_t n = 0; n < out[0]; n++)
    for (int64_t oc = 0; oc < out[1]; oc++)
      for (int64_t oy = 0; oy < out[2]; oy++, row.y += row.out) {
        const double *x = io->inputs[0].at + (n * in[1] + oc / group_out * group_in) * map;
        for (int64_t o = 0; o < row.out; o++)
          row.y[o] = bias ? bias[oc] : 0;
        for (int64_t ic = 0; ic < group_in; ic++)
          conv_add_channel(&row, &window[0], oy, in[2], x + ic * map, weight + (oc * group_in + ic) * taps);
      }
}

oxp_status oxp__conv_check(const oxp__conv *conv, oxp_error *error)
{
  bool divides_in = conv->in_channels % conv->group == 0;
  if (divides_in && conv->out_channels % conv->group == 0)
    return OXP_OK;
  return oxp__fail(error, OXP_BAD_NETWORK, "group is %lld, which does not divide %s %lld", (long long)conv->group,
                   divides_in ? "out_channels" : "in_channels",
                   (long long)(divides_in ? conv->out_channels : conv->in_channels));
}

oxp_status oxp__conv_lower(oxp__lowering *to, const oxp__conv *conv, const int64_t *output_padding)
{
  const char *x = oxp__lower_input(to, 0), *weight = oxp__lower_weight(to, 0);
  oxp__node *node =
      oxp__lower_node(to, output_padding ? "ConvTranspose" : "Conv", OXP__IN(x, weight, oxp__lower_weight(to, 1)));
  oxp__attr_ints(to, node, "dilations", 2, conv->dilations);
  oxp__attr_int(to, node, "group", conv->group);
  oxp__attr_ints(to, node, "kernel_shape", 2, conv->kernel_shape);
  if (output_padding)
    oxp__attr_ints(to, node, "output_padding", 2, output_padding);
  oxp__attr_ints(to, node, "pads", 4, conv->pads);
  oxp__attr_ints(to, node, "strides", 2, conv->strides);
  return OXP_OK;
}

void oxp__conv_draw(oxp__random *random, oxp__conv *conv, oxp__shape *inputs)
{
  bool square = oxp__draw_one_in(random, 2), even_pads = oxp__draw_one_in(random, 2);
  for (int i = 0; i < 2; i++) {
    bool copy = square && i == 1;
    conv->kernel_shape[i] = copy ? conv->kernel_shape[0] : oxp__random_range(random, 1, 4);
    conv->strides[i] = copy ? conv->strides[0] : oxp__random_range(random, 1, 3); // now and then above the kernel
    conv->dilations[i] = copy ? conv->dilations[0] : oxp__random_range(random, 1, 3);
  }
  for (int i = 0; i < 4; i++)
    conv->pads[i] = even_pads && i > 0 ? conv->pads[0] : oxp__random_range(random, 0, 3);
  conv->bias = oxp__draw_one_in(random, 2);
  oxp__window window[2];
  conv_windows(conv, window);
  inputs[0] = (oxp__shape){ .rank = 4, .dim = { oxp__random_range(random, 1, 3), conv->in_channels } };
  for (int i = 0; i < 2; i++)
    inputs[0].dim[2 + i] = oxp__window_least(&window[i]) + oxp__random_range(random, 0, 8);
  inputs[1].rank = -1;
}
