// verify_limits.c: the limits under which values are compared. A tolerance only counts where it can tell: an atol that
// hides an output is tightened to what the output shows, but never below what the rounding of float32 does to it.
// Place: engines.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "engines/verify.h"

// An atol above this share of a channel's scale hides too much; it is tightened to that share.
static const double limits_hides = 1e-2, limits_tight = 1e-3;

// A sum of n products is off by about sqrt(n) / 2 of the roundings that jitter makes: up to n = 4096 this covers it.
static const double limits_noise = 32;

// Sides drawn anew for measuring noise: a channel may have few places, and one draw of a place may be small by chance.
enum { LIMITS_DRAWS = 3 };

// --- Looking ---

static oxp_status limits_new_channels(const oxp__verify *verify, oxp__verify_value *value, const oxp_array *array,
                                      size_t run, oxp_error *error)
{
  oxp__arena *arena = &verify->report->arena;
  int64_t count = oxp__channel_count(array), elements = oxp_array_count(array);
  count = count > 0 ? count : 1;
  value->channel_count = count;
  value->places = elements / count / (verify->runs[run].batch > 0 ? verify->runs[run].batch : 1);
  value->channels = oxp__arena_new(arena, (size_t)count, sizeof *value->channels);
  value->atol = oxp__arena_new(arena, (size_t)count, sizeof *value->atol);
  if (!value->channels || !value->atol)
    return oxp__fail_memory(error, (size_t)count * sizeof *value->channels);
  for (int64_t c = 0; c < count; c++) {
    value->channels[c] = (oxp__verify_channel){ .low = INFINITY, .high = -INFINITY, .excess = -INFINITY };
    value->atol[c] = verify->options.atol;
  }
  return OXP_OK;
}

static void limits_see(oxp__verify_channel *channel, size_t run, double e, double excess)
{
  if (isfinite(e)) {
    channel->scale = fmax(channel->scale, fabs(e));
    channel->low = fmin(channel->low, e);
    channel->high = fmax(channel->high, e);
  }
  if (excess > channel->excess) {
    channel->excess = excess;
    channel->run = run;
  }
}

oxp_status oxp__verify_observe(const oxp__verify *verify, oxp__verify_value *value, size_t run,
                               const oxp_array *expected, const oxp_array *actual, oxp_error *error)
{
  if (!value->channels)
    OXP__TRY(limits_new_channels(verify, value, expected, run, error));
  oxp__channel_walk walk = oxp__channel_walk_of(expected, value->channel_count);
  int64_t count = oxp_array_count(expected);
  for (int64_t i = 0; i < count; i++) {
    double e = oxp__array_load(expected, i), a = oxp__array_load(actual, i);
    limits_see(&value->channels[oxp__channel_of(&walk, i)], run, e, oxp__compare_excess(e, a, verify->options.rtol));
  }
  return OXP_OK;
}

// --- Limits ---

// The smallest normal float32 stays allowed: runtimes may flush what is below it to zero.
static double limits_atol(const oxp__verify *verify, const oxp__verify_channel *channel)
{
  double asked = verify->options.atol;
  if (verify->options.limits_given || asked <= limits_hides * channel->scale)
    return asked;
  double shown = fmax(limits_tight * channel->scale, limits_noise * channel->noise);
  return fmin(asked, fmax(shown, FLT_MIN));
}

static void limits_set(const oxp__verify *verify, oxp__verify_value *value)
{
  oxp_verify_row *row = value->row;
  double asked = verify->options.atol;
  row->rtol = verify->options.rtol;
  row->atol_min = INFINITY;
  row->atol_max = 0;
  row->channels = value->channel_count;
  row->tightened = 0;
  for (int64_t c = 0; c < value->channel_count; c++) {
    double atol = value->atol[c] = limits_atol(verify, &value->channels[c]);
    if (value->channels[c].scale == 0)
      continue; // where all is zero, what is compared has to be zero as well
    row->atol_min = fmin(row->atol_min, atol);
    row->atol_max = fmax(row->atol_max, atol);
    row->tightened += atol < asked;
  }
  if (row->atol_min > row->atol_max)
    row->atol_min = row->atol_max = asked;
}

bool oxp__verify_exceeds(const oxp__verify_value *value, size_t *run)
{
  double worst = -INFINITY;
  for (int64_t c = 0; c < value->channel_count; c++) {
    const oxp__verify_channel *channel = &value->channels[c];
    if (channel->excess <= value->atol[c] || channel->excess <= worst)
      continue;
    worst = channel->excess;
    *run = channel->run;
  }
  return worst > -INFINITY;
}

bool oxp__verify_beyond_noise(const oxp__verify_value *value)
{
  for (int64_t c = 0; c < value->channel_count; c++)
    if (value->channels[c].excess > fmax(value->atol[c], limits_noise * value->channels[c].noise))
      return true;
  return value->row->problem;
}

// --- Noise ---

// Would this run's noise decide about a channel? For an output only where a limit was tightened and is exceeded, and
// the one asked for is not; for a layer, whose values nobody gave limits for, wherever one is exceeded.
static bool limits_need_noise(const oxp__verify *verify, size_t run)
{
  for (int i = 0; i < verify->value_count; i++) {
    const oxp__verify_value *value = &verify->values[i];
    for (int64_t c = 0; c < value->channel_count; c++) {
      const oxp__verify_channel *channel = &value->channels[c];
      if (channel->run == run && channel->excess > value->atol[c] &&
          (i < verify->layer_count || channel->excess <= verify->options.atol))
        return true;
    }
  }
  return false;
}

static void limits_add_noise(oxp__verify_value *value, const oxp_array *truth, const oxp_array *moved)
{
  oxp__channel_walk walk = oxp__channel_walk_of(truth, value->channel_count);
  int64_t count = oxp_array_count(truth);
  for (int64_t i = 0; value->channels && i < count; i++) {
    double apart = fabs(oxp__array_load(truth, i) - oxp__array_load(moved, i));
    oxp__verify_channel *channel = &value->channels[oxp__channel_of(&walk, i)];
    if (isfinite(apart))
      channel->noise = fmax(channel->noise, apart);
  }
}

typedef struct limits_sides {
  oxp_session *truth, *moved; // owned
} limits_sides;

static oxp_status limits_measure(oxp__verify *verify, const limits_sides *sides, const oxp_array *inputs,
                                 oxp_error *error)
{
  oxp_array *truth = NULL, *moved = NULL;
  OXP__TRY(oxp__verify_run_session(verify, sides->truth, inputs, &truth, error));
  oxp_status status = OXP_OK;
  for (int draw = 0; status == OXP_OK && draw < LIMITS_DRAWS; draw++) {
    status = oxp__verify_run_session(verify, sides->moved, inputs, &moved, error);
    for (int i = 0; status == OXP_OK && i < verify->value_count; i++)
      limits_add_noise(&verify->values[i], &truth[i], &moved[i]);
    oxp__verify_free(moved, verify->value_count, true);
    moved = NULL;
  }
  oxp__verify_free(truth, verify->value_count, true);
  return status;
}

static oxp_status limits_open(const oxp__verify *verify, limits_sides *sides, oxp_error *error)
{
  oxp_session_options options = { .expose_layers = verify->layer_count > 0 };
  if (!sides->truth)
    OXP__TRY(oxp_session_open(verify->network, "reference:double", &options, &sides->truth, error));
  return sides->moved ? OXP_OK : oxp_session_open(verify->network, "reference:jitter", &options, &sides->moved, error);
}

static oxp_status limits_add_run_noise(oxp__verify *verify, limits_sides *sides, size_t run, oxp_error *error)
{
  OXP__TRY(limits_open(verify, sides, error));
  oxp_array *inputs = calloc((size_t)verify->input_count + 1, sizeof *inputs);
  if (!inputs)
    return oxp__fail_memory(error, (size_t)verify->input_count * sizeof *inputs);
  oxp_status status = oxp__verify_inputs(verify, &verify->runs[run], inputs, error);
  if (status == OXP_OK)
    status = limits_measure(verify, sides, inputs, error);
  oxp__verify_free(inputs, verify->input_count, true);
  return status;
}

// A channel's limit depends on the noise of the run in which it was exceeded most: if it holds there, it holds
// everywhere.
static oxp_status limits_raise_to_noise(oxp__verify *verify, oxp_error *error)
{
  limits_sides sides = { 0 };
  oxp_status status = OXP_OK;
  for (size_t run = 0; status == OXP_OK && run < verify->run_count; run++)
    if (limits_need_noise(verify, run))
      status = limits_add_run_noise(verify, &sides, run, error);
  oxp_session_free(sides.truth);
  oxp_session_free(sides.moved);
  for (int i = 0; status == OXP_OK && i < verify->value_count; i++)
    limits_set(verify, &verify->values[i]);
  return status;
}

// --- Movement ---

static bool limits_is_still(const oxp__verify *verify, const oxp__verify_value *value, int64_t c)
{
  const oxp__verify_channel *channel = &value->channels[c];
  double hidden = verify->options.limits_given
                      ? 1e-6 * channel->scale
                      : 2 * (value->atol[c] + fmin(verify->options.rtol, 1e-3) * channel->scale);
  return channel->low > channel->high || channel->high - channel->low <= hidden;
}

int64_t oxp__verify_still_channels(const oxp__verify *verify, const oxp__verify_value *value)
{
  int64_t still = 0;
  bool one_number = verify->samples == 1 && value->places == 1;
  for (int64_t c = 0; c < value->channel_count; c++)
    still += one_number ? value->channels[c].low > value->channels[c].high : limits_is_still(verify, value, c);
  return still;
}

// --- What is said about it ---

static int64_t limits_count_blind(const oxp__verify_value *value)
{
  int64_t blind = 0;
  for (int64_t c = 0; c < value->channel_count; c++)
    blind += value->channels[c].noise > 0 && value->atol[c] >= value->channels[c].scale;
  return blind;
}

static void limits_note_tightened(const oxp__verify *verify, const oxp_verify_row *row)
{
  double asked = verify->options.atol;
  if (row->tightened > 0 && row->tightened == row->channels)
    oxp__verify_note(verify->report,
                     "Values of \"%s\" are so small that atol %g would hide them: down to %.2g was used.", row->name,
                     asked, row->atol_min);
  else if (row->tightened > 0)
    oxp__verify_note(verify->report,
                     "Values in %lld of the %lld channels of \"%s\" are so small that atol %g would hide them: down to "
                     "%.2g was used there.",
                     (long long)row->tightened, (long long)row->channels, row->name, asked, row->atol_min);
}

// Limits that were given are kept, also when a model that only gives zeros would be inside.
static void limits_note_given(const oxp__verify *verify, const oxp_verify_row *row)
{
  const oxp_verify_options *options = &verify->options;
  double scale = row->difference.scale, kept = options->limits_given ? options->atol : 0;
  if (scale > 0 && kept + options->rtol * scale >= scale)
    oxp__verify_note(verify->report,
                     "The limits given show nothing about \"%s\": its values are at most %.2g, and zeros would match.",
                     row->name, scale);
}

static void limits_note(const oxp__verify *verify, const oxp__verify_value *value)
{
  int64_t blind = limits_count_blind(value);
  limits_note_tightened(verify, value->row);
  limits_note_given(verify, value->row);
  if (blind > 0)
    oxp__verify_note(
        verify->report,
        "The rounding of float32 is as large as the values in %lld of the %lld channels of \"%s\": nothing "
        "can be seen there.",
        (long long)blind, (long long)value->channel_count, value->row->name);
}

oxp_status oxp__verify_limit(oxp__verify *verify, oxp_error *error)
{
  for (int i = 0; i < verify->value_count; i++)
    limits_set(verify, &verify->values[i]);
  OXP__TRY(limits_raise_to_noise(verify, error));
  for (int i = 0; i < verify->value_count; i++)
    verify->values[i].row->still = oxp__verify_still_channels(verify, &verify->values[i]);
  for (int i = verify->layer_count; i < verify->value_count; i++)
    limits_note(verify, &verify->values[i]);
  return OXP_OK;
}
