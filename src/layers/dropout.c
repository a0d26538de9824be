// dropout.c: the identity in inference. The parameters are kept so that files can be written back.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include "layers/common/draw.h"
#include "layers/kind.h"

typedef struct {
  double p;     // share of values that training sets to 0
  int64_t seed; // of training's generator; OXP__UNSET: none
} dropout;

static const oxp__param dropout_params[] = {
  { .name = "p",
    .type = OXP__PARAM_FLOAT,
    .offset = offsetof(dropout, p),
    .value = 0.5,
    .maximum = 1,
    .idle = true,
    .doc = "share of values that training drops (no effect in inference)" },
  { .name = "seed",
    .type = OXP__PARAM_INT,
    .offset = offsetof(dropout, seed),
    .nullable = true,
    .value = (double)OXP__UNSET,
    .idle = true,
    .doc = "seed of training's generator (no effect in inference)" },
};

static void dropout_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  dropout *drawn = params;
  drawn->p = oxp__draw_real(random, 0, 1);
  if (oxp__draw_one_in(random, 2))
    drawn->seed = oxp__random_range(random, 0, 1000);
  oxp__draw_any(random, params, inputs);
}

const oxp__kind oxp__kind_dropout = {
  .name = "dropout",
  .doc = "drops values in training; the input itself in inference",
  .formula = "y = x",
  .names = { { "netcl", "Dropout" } },
  .params = OXP__ROWS(dropout_params),
  .params_bytes = sizeof(dropout),
  .min_inputs = 1,
  .max_inputs = 1,
  .passes_through = true,
  .shape = oxp__shape_same,
  .tolerance = OXP__EXACT,
  .draw = dropout_draw,
};
