// clip.c: y = min(max(x, low), high), element by element, any shape: also ReLU6, clipped ReLU and hard tanh.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include <math.h>

#include "layers/common/draw.h"
#include "layers/common/map.h"

typedef struct {
  double min, max;
} clip;

static const oxp__param clip_params[] = {
  { .name = "min",
    OXP__REAL(clip, min),
    OXP__REQUIRED,
    .open_ended = true,
    .doc = "smallest value that comes out",
    .in = { { .dialect = "netcl", .name = "min_val", .has_value = true, .value = -1 } } },
  { .name = "max",
    OXP__REAL(clip, max),
    OXP__REQUIRED,
    .open_ended = true,
    .doc = "largest value that comes out",
    .in = { { .dialect = "netcl", .name = "max_val", .has_value = true, .value = 1 } } },
};

static oxp_status clip_check(const oxp__layer *layer, oxp_error *error)
{
  const clip *p = layer->params;
  if (isnan(p->min) || isnan(p->max))
    return oxp__fail(error, OXP_BAD_NETWORK, "%s is NaN", isnan(p->min) ? "min" : "max");
  if (p->min > p->max)
    return oxp__fail(error, OXP_BAD_NETWORK, "min %g is above max %g", p->min, p->max);
  return OXP_OK;
}

static double clip_of(double x, const void *params)
{
  const clip *p = params;
  return x < p->min ? p->min : x > p->max ? p->max : x;
}

static void clip_ref(const oxp__ref *io)
{
  oxp__map_ref(io, clip_of);
}

static oxp_status clip_lower(oxp__lowering *to, const oxp__layer *layer)
{
  const clip *p = layer->params;
  const char *min = oxp__lower_constant(to, "min", p->min), *max = oxp__lower_constant(to, "max", p->max);
  oxp__lower_node(to, "Clip", OXP__IN(oxp__lower_input(to, 0), min, max));
  return OXP_OK;
}

static void clip_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  clip *p = params;
  p->min = oxp__draw_real(random, -1.5, 0.5);
  p->max = p->min + oxp__draw_real(random, 0, 2);
  oxp__draw_any(random, params, inputs);
}

const oxp__kind oxp__kind_clip = {
  .name = "clip",
  .doc = "limits on both sides; netcl's hard tanh, clipped ReLU",
  .formula = "y = x < min ? min : x > max ? max : x",
  .names = { { "netcl", "HardTanh" } },
  .params = OXP__ROWS(clip_params),
  .params_bytes = sizeof(clip),
  .min_inputs = 1,
  .max_inputs = 1,
  .check = clip_check,
  .shape = oxp__shape_same,
  .ref = clip_ref,
  .lower = { { 13, clip_lower } },
  .tolerance = OXP__EXACT,
  .draw = clip_draw,
};
