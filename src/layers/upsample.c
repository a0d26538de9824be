// upsample.c: a map made larger or smaller, by repeating the nearest value or by mixing the four around (bilinear).
// Which values an output place shows is what netcl computes: nearest, floor(place * (in / out)) in double; bilinear,
// half-pixel or aligned corners.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include <math.h>

#include "layers/common/draw.h"
#include "layers/common/shapes.h"
#include "layers/lowering.h"

enum { UPSAMPLE_NEAREST, UPSAMPLE_BILINEAR };
static const char *const upsample_modes[] = { "nearest", "bilinear", NULL };

typedef struct {
  double scales[2]; // height, width; NAN: sizes are given
  int64_t sizes[2]; // height, width; OXP__UNSET: scales are given
  int mode;         // index into upsample_modes
  bool align_corners;
} upsample;

static const oxp__param upsample_params[] = {
  { .name = "sizes",
    OXP__SIZES(upsample, sizes, 2, 1),
    .nullable = true,
    .value = (double)OXP__UNSET,
    .doc = "height and width of the output; either this or scales",
    .in = { { .dialect = "netcl", .name = "size", .whole = true } } },
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
  { .name = "align_corners",
    OXP__FLAG(upsample, align_corners),
    .doc = "bilinear: the centres of the corner values lie on each other, else the edges of the maps do" },
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

// --- Which values an output place shows ---
// The functions take the output's place on one axis and that axis: its sizes before and after, and whether corners are
// aligned.

enum { UPSAMPLE_IN, UPSAMPLE_OUT, UPSAMPLE_ALIGNED };

// netcl's arithmetic: in / out is rounded once and the product again, so 47 * (6 / 94) is 2, not 3. Below 2^31 int64
// holds it.
static int64_t upsample_nearest(int64_t place, const int64_t axis[3])
{
  double scale = (double)axis[UPSAMPLE_IN] / (double)axis[UPSAMPLE_OUT], at = (double)place * scale;
  return at < (double)(axis[UPSAMPLE_IN] - 1) ? (int64_t)at : axis[UPSAMPLE_IN] - 1;
}

// Where the place lies in the input, as a fraction without rounding; not before the first value.
static void upsample_coordinate(int64_t place, const int64_t axis[3], int64_t *numerator, int64_t *denominator)
{
  int64_t in = axis[UPSAMPLE_IN], out = axis[UPSAMPLE_OUT];
  bool aligned = axis[UPSAMPLE_ALIGNED] != 0;
  *numerator = aligned ? place * (in - 1) : (2 * place + 1) * in - out;
  *denominator = aligned ? out - 1 : 2 * out;
  if (*numerator < 0 || *denominator == 0) { // in front of the first value; the only value
    *numerator = 0;
    *denominator = 1;
  }
}

// The value at or before that coordinate, the one behind it (the last one has none), and its share.
static int64_t upsample_before(int64_t place, const int64_t axis[3])
{
  int64_t numerator, denominator;
  upsample_coordinate(place, axis, &numerator, &denominator);
  return numerator / denominator;
}

static int64_t upsample_after(int64_t place, const int64_t axis[3])
{
  int64_t before = upsample_before(place, axis);
  return before < axis[UPSAMPLE_IN] - 1 ? before + 1 : before;
}

static double upsample_share(int64_t place, const int64_t axis[3])
{
  int64_t numerator, denominator;
  upsample_coordinate(place, axis, &numerator, &denominator);
  return (double)(numerator % denominator) / (double)denominator;
}

// --- The kernel ---

// What one place of an axis is made of.
typedef struct upsample_tap {
  int64_t before, after;
  double share;
} upsample_tap;

static upsample_tap upsample_tap_of(const upsample *p, int64_t place, const int64_t axis[3])
{
  if (p->mode == UPSAMPLE_NEAREST)
    return (upsample_tap){ .before = upsample_nearest(place, axis) };
  return (upsample_tap){ upsample_before(place, axis), upsample_after(place, axis), upsample_share(place, axis) };
}

static double upsample_mix(const double *row, const upsample_tap *tap)
{
  return row[tap->before] + (row[tap->after] - row[tap->before]) * tap->share;
}

static double upsample_value(const upsample *p, const double *map, int64_t width, const upsample_tap *row,
                             const upsample_tap *column)
{
  const double *above = map + row->before * width;
  if (p->mode == UPSAMPLE_NEAREST)
    return above[column->before];
  double top = upsample_mix(above, column), bottom = upsample_mix(map + row->after * width, column);
  return top + (bottom - top) * row->share;
}

// One place of all maps after another: what it is made of is found once.
static void upsample_ref(const oxp__ref *io)
{
  const upsample *p = io->layer->params;
  const int64_t *in = io->inputs[0].shape.dim, *out = io->output->shape.dim;
  const int64_t rows[] = { in[2], out[2], p->align_corners }, columns[] = { in[3], out[3], p->align_corners };
  for (int64_t i = 0; i < out[2]; i++) {
    upsample_tap row = upsample_tap_of(p, i, rows);
    for (int64_t j = 0; j < out[3]; j++) {
      upsample_tap column = upsample_tap_of(p, j, columns);
      for (int64_t map = 0; map < out[0] * out[1]; map++)
        io->output->at[(map * out[2] + i) * out[3] + j] =
            upsample_value(p, io->inputs[0].at + map * in[2] * in[3], in[3], &row, &column);
    }
  }
}

// --- Lowering ---

// float32, in which runtimes may count, knows all places up to here.
static const int64_t upsample_most_places = 1 << 24;

// Does netcl show the value that Resize shows when a map grows by this whole factor, whatever its size? Where 1 /
// factor is rounded down, the first place of the second value may still show the first one (49 is the smallest such
// factor).
static bool upsample_is_safe(const upsample *p, int64_t factor)
{
  return p->mode == UPSAMPLE_BILINEAR || upsample_nearest(factor, (int64_t[]){ 2, 2 * factor, 0 }) == 1;
}

// The whole factor that the axis grows by; 0 when it does not grow by one, or not for sure, or Resize shows other
// values.
static int64_t upsample_whole_factor(const upsample *p, int i, int64_t in, int64_t out)
{
  bool known = in > 0 && out > 0, whole = known && out % in == 0 && out <= upsample_most_places;
  if (!known)
    whole = p->sizes[0] == OXP__UNSET && p->scales[i] >= 1 && !(floor(p->scales[i]) < p->scales[i]);
  int64_t factor = !whole ? 0 : known ? out / in : (int64_t)p->scales[i];
  return factor > 0 && upsample_is_safe(p, factor) ? factor : 0;
}

static void upsample_lower_whole(oxp__lowering *to, const upsample *p, const double scales[4])
{
  bool nearest = p->mode == UPSAMPLE_NEAREST;
  const char *list = oxp__lower_floats(to, "scales", 4, scales);
  oxp__node *node = oxp__lower_node(to, "Resize", OXP__IN(oxp__lower_input(to, 0), "", list));
  oxp__attr_string(to, node, "coordinate_transformation_mode",
                   nearest            ? "asymmetric"
                   : p->align_corners ? "align_corners"
                                      : "half_pixel");
  oxp__attr_string(to, node, "mode", nearest ? "nearest" : "linear");
  if (nearest)
    oxp__attr_string(to, node, "nearest_mode", "floor");
}

// One axis that is resized by lists.
typedef struct upsample_axis {
  int index; // 2 or 3
  int64_t numbers[3];
} upsample_axis;

// The values at the listed places of the axis.
static void upsample_lower_gather(oxp__lowering *to, const upsample_axis *axis, const char *x, const char *suffix,
                                  int64_t (*place)(int64_t, const int64_t[3]), const char **inner)
{
  const char *places = oxp__lower_made_ints(to, suffix, axis->numbers[UPSAMPLE_OUT], place, axis->numbers);
  oxp__attr_int(to, oxp__lower_step(to, "Gather", OXP__IN(x, places), inner), "axis", axis->index);
}

// before + (after - before) * share
static void upsample_lower_bilinear(oxp__lowering *to, const upsample_axis *axis, const char *x, const char **inner)
{
  bool rows = axis->index == 2;
  const int64_t column[] = { axis->numbers[UPSAMPLE_OUT], 1 };
  const char *before, *after, *difference, *part;
  upsample_lower_gather(to, axis, x, rows ? "rows_before" : "columns_before", upsample_before, &before);
  upsample_lower_gather(to, axis, x, rows ? "rows_after" : "columns_after", upsample_after, &after);
  const char *share = oxp__lower_made_floats(to, rows ? "rows_share" : "columns_share", rows ? 2 : 1, column,
                                             upsample_share, axis->numbers);
  oxp__lower_inner(to, "Sub", OXP__IN(after, before), &difference);
  oxp__lower_inner(to, "Mul", OXP__IN(difference, share), &part);
  oxp__lower_step(to, "Add", OXP__IN(before, part), inner);
}

// Resize finds places by dividing by a rounded factor, each runtime in its own way. Where the factor is not a whole
// number, that may be another place; lists of places and shares cannot be misunderstood.
static void upsample_lower_lists(oxp__lowering *to, const upsample *p, const oxp__shape *input,
                                 const oxp__shape *output)
{
  const char *x = oxp__lower_input(to, 0);
  for (int index = 2; index < 4; index++) {
    int64_t in = input->dim[index], out = output->dim[index];
    upsample_axis axis = { index, { in, out, p->align_corners } };
    const char **inner = index == 2 && input->dim[3] != output->dim[3] ? &x : NULL; // rows, before the columns
    if (in != out && p->mode == UPSAMPLE_NEAREST)
      upsample_lower_gather(to, &axis, x, index == 2 ? "rows" : "columns", upsample_nearest, inner);
    else if (in != out)
      upsample_lower_bilinear(to, &axis, x, inner);
  }
}

static oxp_status upsample_lower(oxp__lowering *to, const oxp__layer *layer)
{
  const upsample *p = layer->params;
  const oxp__shape *input = oxp__lower_input_shape(to, 0), *output = oxp__lower_output_shape(to);
  double scales[4] = { 1, 1 };
  for (int i = 0; i < 2; i++)
    scales[2 + i] = (double)upsample_whole_factor(p, i, input->dim[2 + i], output->dim[2 + i]);
  if (scales[2] > 0 && scales[3] > 0) {
    upsample_lower_whole(to, p, scales);
    return OXP_OK;
  }
  for (int i = 2; i < 4; i++) {
    if (input->dim[i] < 0 || output->dim[i] < 0)
      return oxp__fail(
          oxp__lower_error(to), OXP_UNSUPPORTED,
          "which values it shows depends on the size of its input, so height and width of its input must be "
          "known; give the input's shape");
    if (output->dim[i] > upsample_most_places)
      return oxp__fail(oxp__lower_error(to), OXP_UNSUPPORTED, "it makes %lld places of %lld; the limit is %lld",
                       (long long)output->dim[i], (long long)input->dim[i], (long long)upsample_most_places);
  }
  upsample_lower_lists(to, p, input, output);
  return OXP_OK;
}

static void upsample_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  static const double factors[] = { 1, 1.5, 2, 2.5, 3, 0.5 };
  upsample *p = params;
  p->mode = (int)oxp__random_range(random, UPSAMPLE_NEAREST, UPSAMPLE_BILINEAR);
  p->align_corners = oxp__draw_one_in(random, 2);
  inputs[1].rank = -1;
  bool by_sizes = oxp__draw_one_in(random, 2);
  oxp__draw_shape(random, &inputs[0], 4, by_sizes ? 1 : 2, 9); // 0.5 leaves one of two
  for (int i = 0; i < 2; i++) {
    if (by_sizes)
      p->sizes[i] = oxp__random_range(random, 1, 25);
    else
      p->scales[i] = factors[oxp__random_range(random, 0, (int64_t)OXP__COUNT(factors) - 1)];
  }
}

const oxp__kind oxp__kind_upsample = {
  .name = "upsample",
  .doc = "a map resized to sizes or by scales, by the nearest value or bilinear",
  .formula =
      "nearest: y[n,c,i,j] = x[n,c, floor(i H / H_out), floor(j W / W_out)]; bilinear: the four values around i', j' "
      "mixed, i' = (i + 1/2) H / H_out - 1/2 or, aligned, i (H - 1) / (H_out - 1), not below 0",
  .names = { { "netcl", "Upsample" } },
  .params = OXP__ROWS(upsample_params),
  .params_bytes = sizeof(upsample),
  .min_inputs = 1,
  .max_inputs = 1,
  .check = upsample_check,
  .shape = upsample_shape,
  .ref = upsample_ref,
  .lower = { { 13, upsample_lower } },
  .tolerance = OXP__REDUCTION, // nearest is exact; runtimes round the coordinates of a mix, and those grow with the map
  .draw = upsample_draw,
};
