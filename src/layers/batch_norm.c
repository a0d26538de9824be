// batch_norm.c: each channel shifted and scaled by statistics that training left behind.
// Knows everything about the kind; its only I/O is reading the statistics to warn about lost digits. Place: layers.
#include <math.h>

#include "core/text.h"
#include "layers/common/draw.h"
#include "layers/common/shapes.h"
#include "layers/lowering.h"

typedef struct {
  int64_t num_features;
  double momentum, epsilon;
} batch_norm;

enum { BATCH_NORM_GAMMA, BATCH_NORM_BETA, BATCH_NORM_MEAN, BATCH_NORM_VARIANCE, BATCH_NORM_WEIGHTS };

static const oxp__param batch_norm_params[] = {
  { .name = "num_features",
    OXP__SIZE(batch_norm, num_features, 1),
    OXP__REQUIRED,
    .doc = "channels",
    .in = { { .dialect = "netcl", .name = "num_features", .required = true, .whole = true } } },
  { .name = "momentum",
    OXP__REAL(batch_norm, momentum),
    .value = 0.1,
    .idle = true,
    .doc = "how fast training moved the statistics (no effect in inference)" },
  { .name = "epsilon",
    OXP__NOT_NEGATIVE(batch_norm, epsilon),
    .value = 1e-5,
    .doc = "added to the variance",
    .in = { { .dialect = "netcl", .name = "eps" } } },
};

static const oxp__weight_row batch_norm_weights[] = {
  { .role = "gamma", .doc = "scale (num_features,)", .in = { { .dialect = "torch", .name = "weight" } } },
  { .role = "beta", .doc = "shift (num_features,)", .in = { { .dialect = "torch", .name = "bias" } } },
  { .role = "running_mean", .doc = "mean per channel (num_features,)" },
  { .role = "running_var", .doc = "variance per channel (num_features,)", .positive = true },
};

static void batch_norm_weight_shape(const oxp__layer *layer, int role, oxp__shape *shape)
{
  (void)role;
  *shape = (oxp__shape){ .rank = 1, .dim = { ((const batch_norm *)layer->params)->num_features } };
}

static oxp_status batch_norm_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output,
                                   oxp_error *error)
{
  const batch_norm *p = layer->params;
  OXP__TRY(oxp__shape_need_rank(layer, &inputs[0], 4, error));
  OXP__TRY(oxp__shape_need_dim(layer, &inputs[0], 1, p->num_features, "channels", error));
  *output = inputs[0];
  return OXP_OK;
}

static void batch_norm_ref(const oxp__ref *io)
{
  const batch_norm *p = io->layer->params;
  const oxp__shape *shape = &io->output->shape;
  int64_t map = shape->dim[2] * shape->dim[3];
  const double *x = io->inputs[0].at;
  double *y = io->output->at;
  for (int64_t row = 0; row < shape->dim[0] * shape->dim[1]; row++, x += map, y += map) {
    int64_t channel = row % shape->dim[1];
    double mean = io->weights[BATCH_NORM_MEAN].at[channel];
    double deviation = sqrt(io->weights[BATCH_NORM_VARIANCE].at[channel] + p->epsilon);
    double gamma = io->weights[BATCH_NORM_GAMMA].at[channel], beta = io->weights[BATCH_NORM_BETA].at[channel];
    for (int64_t i = 0; i < map; i++)
      y[i] = (x[i] - mean) / deviation * gamma + beta;
  }
}

// --- The warning ---
// A runtime that computes scale * x + (beta - mean * scale) in float32 rounds two terms of the size |mean * scale|. The
// output is about as large as |gamma| + |beta| is anywhere in the layer.

// Channels that are looked at together: 4 arrays of 8 KiB.
enum { BATCH_NORM_CHUNK = 1024 };

// Errors above this share of the output's scale are worth a sentence; trained networks stay below 1e-6.
static const double batch_norm_worth_saying = 1e-5;

typedef struct batch_norm_worst {
  double term; // the largest |mean * scale|
  double scale;
  double mean, variance; // of that channel
  int64_t channel;
} batch_norm_worst;

static oxp_status batch_norm_read(const oxp_tensor *tensor, int64_t first, int64_t count, double *values,
                                  oxp_error *error)
{
  oxp_tensor part = *tensor;
  part.shape[0] = count;
  part.offset_bytes += (uint64_t)(first * part.strides_bytes[0]);
  return oxp__tensor_read_f64(&part, values, error);
}

static oxp_status batch_norm_look(const oxp__layer *layer, int64_t first, int64_t count, batch_norm_worst *worst,
                                  oxp_error *error)
{
  const batch_norm *p = layer->params;
  double w[BATCH_NORM_WEIGHTS][BATCH_NORM_CHUNK];
  for (int role = 0; role < BATCH_NORM_WEIGHTS; role++)
    OXP__TRY(batch_norm_read(&layer->weights[role].tensor, first, count, w[role], error));
  for (int64_t i = 0; i < count; i++) {
    double mean = w[BATCH_NORM_MEAN][i], variance = w[BATCH_NORM_VARIANCE][i];
    double term = fabs(mean * w[BATCH_NORM_GAMMA][i]) / sqrt(variance + p->epsilon);
    double scale = fabs(w[BATCH_NORM_GAMMA][i]) + fabs(w[BATCH_NORM_BETA][i]);
    if (scale > worst->scale)
      worst->scale = scale;
    if (isfinite(term) && term > worst->term) {
      worst->term = term;
      worst->mean = mean;
      worst->variance = variance;
      worst->channel = first + i;
    }
  }
  return OXP_OK;
}

// A number with four digits: enough for a message.
static void batch_norm_add(oxp__text *text, double value)
{
  double unit = value < 0 || value > 0 ? pow(10, floor(log10(fabs(value))) - 3) : 1;
  bool plain = isfinite(value / unit) && unit > 0;
  oxp__text_add_json_number(text, plain && unit < 1 ? round(value / unit) / round(1 / unit) : value);
}

static void batch_norm_say(oxp__lowering *to, const batch_norm_worst *worst, double share)
{
  oxp__text text = { 0 };
  oxp__text_printf(&text, "channel %lld has mean ", (long long)worst->channel);
  batch_norm_add(&text, worst->mean);
  oxp__text_add(&text, " and variance ");
  batch_norm_add(&text, worst->variance);
  oxp__text_printf(&text,
                   ": a runtime that computes scale * x + shift in float32 loses digits, about 1e%+d of the output's "
                   "scale; the expanded form (--batchnorm expanded) keeps them",
                   (int)floor(log10(share)));
  oxp__lower_warn(to, "%s", oxp__text_string(&text));
  oxp__text_fini(&text);
}

static oxp_status batch_norm_warn(oxp__lowering *to, const oxp__layer *layer)
{
  batch_norm_worst worst = { 0 };
  int64_t channels = ((const batch_norm *)layer->params)->num_features;
  for (int64_t first = 0; first < channels; first += BATCH_NORM_CHUNK) {
    int64_t count = channels - first < BATCH_NORM_CHUNK ? channels - first : BATCH_NORM_CHUNK;
    OXP__TRY(batch_norm_look(layer, first, count, &worst, oxp__lower_error(to)));
  }
  double rounding = oxp__lower_dtype(to) == OXP_FLOAT64 ? 0x1p-53 : 0x1p-24;
  double share = worst.term * rounding / worst.scale;
  if (isfinite(share) && share > batch_norm_worth_saying)
    batch_norm_say(to, &worst, share);
  return OXP_OK;
}

// --- What cannot be right ---

// The first channel whose deviation is no number above 0, and how many there are.
static oxp_status batch_norm_doubt(const oxp__layer *layer, oxp__text *clause, oxp_error *error)
{
  const batch_norm *p = layer->params;
  double variance[BATCH_NORM_CHUNK], worst = 0;
  int64_t channel = 0, count = 0;
  for (int64_t first = 0; first < p->num_features; first += BATCH_NORM_CHUNK) {
    int64_t size = p->num_features - first < BATCH_NORM_CHUNK ? p->num_features - first : BATCH_NORM_CHUNK;
    OXP__TRY(batch_norm_read(&layer->weights[BATCH_NORM_VARIANCE].tensor, first, size, variance, error));
    for (int64_t i = 0; i < size; i++) {
      if (isnan(variance[i]) || variance[i] + (double)(float)p->epsilon > 0) // ONNX attributes are float32
        continue;                                                            // of NaN, the writer warns
      channel = count == 0 ? first + i : channel;
      worst = count == 0 ? variance[i] : worst;
      count++;
    }
  }
  if (count == 0)
    return OXP_OK;
  oxp__text_printf(clause, "channel %lld has variance ", (long long)channel);
  batch_norm_add(clause, worst);
  oxp__text_add(clause, " and epsilon ");
  batch_norm_add(clause, p->epsilon);
  oxp__text_printf(clause, ": their sum has no root to divide by, and its results are NaN or infinite");
  if (count > 1)
    oxp__text_printf(clause, "; so are those of %lld more", (long long)(count - 1));
  return OXP_OK;
}

// --- Lowering ---

static oxp_status batch_norm_lower_literal(oxp__lowering *to, const oxp__layer *layer)
{
  const batch_norm *p = layer->params;
  OXP__TRY(batch_norm_warn(to, layer));
  const char *x = oxp__lower_input(to, 0), *of[BATCH_NORM_WEIGHTS];
  for (int role = 0; role < BATCH_NORM_WEIGHTS; role++)
    of[role] = oxp__lower_weight(to, role);
  oxp__node *node = oxp__lower_node(to, "BatchNormalization", OXP__IN(x, of[0], of[1], of[2], of[3]));
  oxp__attr_float(to, node, "epsilon", p->epsilon);
  return OXP_OK;
}

// The mean goes first, so nothing cancels. The weights are seen as (C, 1, 1) to meet the channels; no arithmetic on them.
static oxp_status batch_norm_lower_expanded(oxp__lowering *to, const oxp__layer *layer)
{
  const batch_norm *p = layer->params;
  const int64_t column[] = { p->num_features, 1, 1 };
  const char *x = oxp__lower_input(to, 0), *of[BATCH_NORM_WEIGHTS];
  for (int role = 0; role < BATCH_NORM_WEIGHTS; role++)
    of[role] = oxp__lower_weight_shaped(to, role, 3, column);
  const char *sum, *deviation, *centred, *normal, *scaled;
  oxp__lower_inner(to, "Add", OXP__IN(of[BATCH_NORM_VARIANCE], oxp__lower_constant(to, "epsilon", p->epsilon)), &sum);
  oxp__lower_inner(to, "Sqrt", OXP__IN(sum), &deviation);
  oxp__lower_inner(to, "Sub", OXP__IN(x, of[BATCH_NORM_MEAN]), &centred);
  oxp__lower_inner(to, "Div", OXP__IN(centred, deviation), &normal);
  oxp__lower_inner(to, "Mul", OXP__IN(normal, of[BATCH_NORM_GAMMA]), &scaled);
  oxp__lower_node(to, "Add", OXP__IN(scaled, of[BATCH_NORM_BETA]));
  return OXP_OK;
}

static oxp_status batch_norm_lower(oxp__lowering *to, const oxp__layer *layer)
{
  return oxp__lower_batchnorm_expanded(to) ? batch_norm_lower_expanded(to, layer) : batch_norm_lower_literal(to, layer);
}

// Three standard deviations around the mean.
static oxp_status batch_norm_input_range(const oxp__layer *layer, int64_t channels, double *centre, double *spread,
                                         oxp_error *error)
{
  const batch_norm *p = layer->params;
  (void)channels; // equal to num_features: the shapes were inferred
  OXP__TRY(oxp__tensor_read_f64(&layer->weights[BATCH_NORM_MEAN].tensor, centre, error));
  OXP__TRY(oxp__tensor_read_f64(&layer->weights[BATCH_NORM_VARIANCE].tensor, spread, error));
  for (int64_t i = 0; i < p->num_features; i++)
    spread[i] = 3 * sqrt(spread[i] + p->epsilon);
  return OXP_OK;
}

static void batch_norm_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  batch_norm *p = params;
  oxp__draw_input(random, inputs, 4);
  p->num_features = inputs[0].dim[1];
  p->epsilon = oxp__draw_one_in(random, 2) ? 1e-5 : oxp__draw_real(random, 0.001, 0.1);
}

const oxp__kind oxp__kind_batch_norm = {
  .name = "batch_norm",
  .doc = "normalization per channel with the statistics of training",
  .formula = "y = (x - running_mean) / sqrt(running_var + epsilon) * gamma + beta",
  .names = { { "netcl", "BatchNorm2d" }, { "torch", "BatchNorm2d" } },
  .params = OXP__ROWS(batch_norm_params),
  .params_bytes = sizeof(batch_norm),
  .weights = OXP__ROWS(batch_norm_weights),
  .min_inputs = 1,
  .max_inputs = 1,
  .weight_shape = batch_norm_weight_shape,
  .shape = batch_norm_shape,
  .ref = batch_norm_ref,
  .lower = { { 7, batch_norm_lower } },
  .tolerance = OXP__ONE_ROUNDING,
  .input_range = batch_norm_input_range,
  .doubt = batch_norm_doubt,
  .draw = batch_norm_draw,
};
