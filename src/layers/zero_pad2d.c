// zero_pad2d.c: zeros around a map. A layer of its own, as several frameworks have it; convolutions have their padding
// themselves. Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/draw.h"
#include "layers/common/shapes.h"
#include "layers/lowering.h"

typedef struct {
  int64_t pads[4]; // top, left, bottom, right
} zero_pad2d;

static const oxp__param zero_pad2d_params[] = {
  { .name = "pads", OXP__SIZES(zero_pad2d, pads, 4, 0), OXP__REQUIRED, .doc = "zeros: top, left, bottom, right" },
};

static oxp_status zero_pad2d_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output,
                                   oxp_error *error)
{
  const zero_pad2d *p = layer->params;
  OXP__TRY(oxp__shape_need_rank(layer, &inputs[0], 4, error));
  *output = inputs[0];
  for (int i = 0; i < 2; i++) {
    int64_t more = 0, *dim = &output->dim[2 + i];
    bool fits = oxp__add_i64(p->pads[i], p->pads[2 + i], &more);
    if (fits && *dim < 0)
      *dim = more == 0 ? *dim : OXP_DIM_UNKNOWN;
    else if (!fits || !oxp__add_i64(*dim, more, dim))
      return oxp__shape_fail(&inputs[0], error, "the padded map has too many rows or columns");
  }
  return OXP_OK;
}

static void zero_pad2d_ref(const oxp__ref *io)
{
  const zero_pad2d *p = io->layer->params;
  const int64_t *in = io->inputs[0].shape.dim, *out = io->output->shape.dim;
  const double *x = io->inputs[0].at;
  for (int64_t i = 0; i < io->output->count; i++)
    io->output->at[i] = 0;
  for (int64_t map = 0; map < in[0] * in[1]; map++)
    for (int64_t row = 0; row < in[2]; row++) {
      double *y = io->output->at + (map * out[2] + p->pads[0] + row) * out[3] + p->pads[1];
      for (int64_t column = 0; column < in[3]; column++)
        y[column] = *x++;
    }
}

static oxp_status zero_pad2d_lower(oxp__lowering *to, const oxp__layer *layer)
{
  const zero_pad2d *p = layer->params;
  const int64_t pads[8] = { 0, 0, p->pads[0], p->pads[1], 0, 0, p->pads[2], p->pads[3] }; // begins, then ends
  const char *list = oxp__lower_ints(to, "pads", 8, pads);
  oxp__node *node = oxp__lower_node(to, "Pad", OXP__IN(oxp__lower_input(to, 0), list));
  oxp__attr_string(to, node, "mode", "constant"); // of zeros, when no other value is given
  return OXP_OK;
}

static void zero_pad2d_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  zero_pad2d *p = params;
  for (int i = 0; i < 4; i++)
    p->pads[i] = oxp__random_range(random, 0, 3);
  oxp__draw_input(random, inputs, 4);
}

const oxp__kind oxp__kind_zero_pad2d = {
  .name = "zero_pad2d",
  .doc = "zeros around a map",
  .formula = "y[n,c,i,j] = x[n,c, i - top, j - left] inside the map, 0 outside",
  .params = OXP__ROWS(zero_pad2d_params),
  .params_bytes = sizeof(zero_pad2d),
  .min_inputs = 1,
  .max_inputs = 1,
  .shape = zero_pad2d_shape,
  .ref = zero_pad2d_ref,
  .lower = { { 13, zero_pad2d_lower } },
  .tolerance = OXP__EXACT,
  .draw = zero_pad2d_draw,
};
