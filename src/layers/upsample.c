// upsample.c: a map made larger (or smaller) by repeating the nearest value: output place o shows input place
// floor(o * in / out). Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include <math.h>

#include "layers/common/draw.h"
#include "layers/common/shapes.h"
#include "layers/lowering.h"

static const char *const upsample_modes[] = { "nearest", NULL };
static const char *const upsample_transformations[] = { "asymmetric", NULL };

typedef struct {
  double scales[2]; // height, width; NAN: sizes are given
  int64_t sizes[2]; // height, width; OXP__UNSET: scales are given
  int mode, transformation;
} upsample;

static const oxp__param upsample_params[] = {
  { .name = "sizes",
    OXP__SIZES(upsample, sizes, 2, 1),
    .nullable = true,
    .value = (double)OXP__UNSET,
    .doc = "height and width of the output; either this or scales",
    .in = { { .dialect = "netcl", .name = "size" } } },
  { .name = "scales",
    .type = OXP__PARAM_FLOATS,
    .offset = offsetof(upsample, scales),
    .count = 2,
    .nullable = true,
    .value = NAN,
    .minimum = 0x1p-24,
    .maximum = 0x1p24,
    .doc = "factors for height and width, the results rounded down; either this or sizes",
    .in = { { .dialect = "netcl", .name = "scale_factor" } } },
  { .name = "mode",
    .type = OXP__PARAM_CHOICE,
    .offset = offsetof(upsample, mode),
    .tokens = upsample_modes,
    .doc = "how values between the samples are found" },
  { .name = "coordinate_transformation_mode",
    .type = OXP__PARAM_CHOICE,
    .offset = offsetof(upsample, transformation),
    .tokens = upsample_transformations,
    .doc = "where the samples lie",
    .in = { { .dialect = "netcl", .name = "align_corners" } } }, // false there
};

static oxp_status upsample_check(const oxp__layer *layer, oxp_error *error)
{
  const upsample *p = layer->params;
  if (isnan(p->scales[0]) == (p->sizes[0] != OXP__UNSET))
    return OXP_OK;
  return oxp__fail(error, OXP_BAD_NETWORK, "%s of sizes and scales must be given",
                   isnan(p->scales[0]) ? "one" : "only one");
}

static oxp_status upsample_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output,
                                 oxp_error *error)
{
  const upsample *p = layer->params;
  OXP__TRY(oxp__shape_need_rank(layer, &inputs[0], 4, error));
  *output = inputs[0];
  for (int i = 0; i < 2; i++) {
    int64_t *dim = &output->dim[2 + i];
    if (*dim == 0)
      return oxp__shape_fail(&inputs[0], error, "a map without values cannot be resized");
    if (p->sizes[0] != OXP__UNSET) {
      *dim = p->sizes[i];
      continue;
    }
    if (*dim < 0) {
      *dim = p->scales[i] < 1 || p->scales[i] > 1 ? OXP_DIM_UNKNOWN : *dim;
      continue;
    }
    double size = (double)*dim * p->scales[i];
    if (!(size >= 1 && size <= OXP__MAX_SIZE))
      return oxp__shape_fail(&inputs[0], error, "scaling it gives a size below 1 or above 2147483647");
    *dim = (int64_t)size;
  }
  return OXP_OK;
}

static void upsample_ref(const oxp__ref *io)
{
  const int64_t *in = io->inputs[0].shape.dim, *out = io->output->shape.dim;
  double *y = io->output->at;
  for (int64_t map = 0; map < out[0] * out[1]; map++)
    for (int64_t i = 0; i < out[2]; i++) {
      const double *row = io->inputs[0].at + (map * in[2] + i * in[2] / out[2]) * in[3];
      for (int64_t j = 0; j < out[3]; j++)
        *y++ = row[j * in[3] / out[3]];
    }
}

// --- Lowering ---

// float32, in which runtimes may count, knows all places up to here.
static const int64_t upsample_most_places = 1 << 24;

// The whole factor that the axis grows by; 0 when it does not grow by one, or not for sure.
static int64_t upsample_whole_factor(const upsample *p, int i, int64_t in, int64_t out)
{
  if (in > 0 && out > 0)
    return out % in == 0 && out <= upsample_most_places ? out / in : 0;
  bool whole = p->sizes[0] == OXP__UNSET && p->scales[i] >= 1 && !(floor(p->scales[i]) < p->scales[i]);
  return whole ? (int64_t)p->scales[i] : 0;
}

static void upsample_lower_whole(oxp__lowering *to, const double scales[4])
{
  const char *list = oxp__lower_floats(to, "scales", 4, scales);
  oxp__node *node = oxp__lower_node(to, "Resize", OXP__IN(oxp__lower_input(to, 0), "", list));
  oxp__attr_string(to, node, "coordinate_transformation_mode", "asymmetric");
  oxp__attr_string(to, node, "mode", "nearest");
  oxp__attr_string(to, node, "nearest_mode", "floor");
}

// The input's place that the output's place number `index` shows; sizes are in and out.
static int64_t upsample_place(int64_t index, const int64_t sizes[2])
{
  return index * sizes[0] / sizes[1];
}

// Resize finds places by dividing by a rounded factor, each runtime in its own way. Where the factor is not a whole number, that
// may be another place; the list of places cannot be misunderstood.
static void upsample_lower_places(oxp__lowering *to, const oxp__shape *input, const oxp__shape *output)
{
  static const char *const suffixes[] = { "rows", "columns" };
  bool both = input->dim[2] != output->dim[2] && input->dim[3] != output->dim[3];
  const char *x = oxp__lower_input(to, 0);
  for (int axis = 2; axis < 4; axis++) {
    if (input->dim[axis] == output->dim[axis])
      continue;
    const char *places = oxp__lower_made_ints(to, suffixes[axis - 2], output->dim[axis], upsample_place,
                                              (int64_t[]){ input->dim[axis], output->dim[axis] });
    oxp__node *node = both && axis == 2 ? oxp__lower_inner(to, "Gather", OXP__IN(x, places), &x)
                                        : oxp__lower_node(to, "Gather", OXP__IN(x, places));
    oxp__attr_int(to, node, "axis", axis);
  }
}

static oxp_status upsample_lower(oxp__lowering *to, const oxp__layer *layer)
{
  const oxp__shape *input = oxp__lower_input_shape(to, 0), *output = oxp__lower_output_shape(to);
  double scales[4] = { 1, 1 };
  for (int i = 0; i < 2; i++)
    scales[2 + i] = (double)upsample_whole_factor(layer->params, i, input->dim[2 + i], output->dim[2 + i]);
  if (scales[2] > 0 && scales[3] > 0) {
    upsample_lower_whole(to, scales);
    return OXP_OK;
  }
  for (int i = 2; i < 4; i++) {
    if (input->dim[i] < 0 || output->dim[i] < 0)
      return oxp__fail(oxp__lower_error(to), OXP_UNSUPPORTED,
                       "it scales by another than a whole number, so height and width of its input must be known; give "
                       "the input's shape");
    if (output->dim[i] > upsample_most_places)
      return oxp__fail(oxp__lower_error(to), OXP_UNSUPPORTED, "it makes %lld places of %lld; the limit is %lld",
                       (long long)output->dim[i], (long long)input->dim[i], (long long)upsample_most_places);
  }
  upsample_lower_places(to, input, output);
  return OXP_OK;
}

static void upsample_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  static const double factors[] = { 1, 1.5, 2, 2.5, 3, 0.5 };
  upsample *p = params;
  oxp__draw_shape(random, &inputs[0], 4, 2, 9);
  inputs[1].rank = -1;
  bool by_sizes = oxp__draw_one_in(random, 2);
  for (int i = 0; i < 2; i++) {
    if (by_sizes)
      p->sizes[i] = oxp__random_range(random, 1, 25);
    else
      p->scales[i] = factors[oxp__random_range(random, 0, (int64_t)OXP__COUNT(factors) - 1)];
  }
}

const oxp__kind oxp__kind_upsample = {
  .name = "upsample",
  .doc = "a map resized by repeating the nearest value, to sizes or by scales",
  .formula = "y[n,c,i,j] = x[n,c, floor(i H / H_out), floor(j W / W_out)]",
  .names = { { "netcl", "Upsample" } },
  .params = OXP__ROWS(upsample_params),
  .params_bytes = sizeof(upsample),
  .min_inputs = 1,
  .max_inputs = 1,
  .check = upsample_check,
  .shape = upsample_shape,
  .ref = upsample_ref,
  .lower = { { 13, upsample_lower } },
  .tolerance = OXP__EXACT,
  .draw = upsample_draw,
};
