// verify_reach.c: how large random input is, so that it shows something: activations that are all dead or all saturated
// hide what is before them. Looks at the reference only, never at the tested side. Place: engines.
#include <math.h>
#include <stdlib.h>

#include "engines/verify.h"

// Tried in this order; then the scale at which the first normalization inside sees its statistics.
static const double reach_scales[] = { 1, 0.125, 8 };

// A value moves when it answers a small step of its input with at least this share of the step; an activation is
// reached when this share of its values moves.
static const double reach_slope = 1e-3, reach_share = 1.0 / 64;
static const double reach_step = 1e-3; // of the largest input

// Batches above this many input elements are not used for looking.
enum { REACH_MAX_ELEMENTS = 1 << 16 };

typedef struct reach_state {
  oxp__verify *verify;
  oxp_session *session; // owned: the reference in double, with all layers
  const oxp__verify_run *run;
  oxp_array *inputs, *values; // owned: of the run; the layers' values come first
} reach_state;

// --- Activations ---

// Kinds without weights that keep the shape of their one input: whatever is between the layers that compute with
// weights.
static bool reach_is_activation(const oxp_network *network, const oxp__layer *layer)
{
  if (layer->kind->passes_through || layer->kind->weight_count > 0 || layer->input_count != 1)
    return false;
  const oxp__shape *from = &network->values[layer->inputs[0]].shape, *to = &network->values[layer->output].shape;
  bool same = from->rank == to->rank;
  for (int i = 0; same && i < from->rank; i++)
    same = from->dim[i] == to->dim[i];
  return same;
}

// Loads the values and moves them by one step, up and down in turn: where all move together a softmax would stand
// still.
static double reach_load_moved(const oxp_array *array, double *at)
{
  int64_t count = oxp_array_count(array);
  size_t size = oxp_dtype_bytes(array->dtype);
  double largest = 0;
  for (int64_t i = 0; i < count; i++) {
    at[i] = oxp__load_f64(array->dtype, (const unsigned char *)array->data + (size_t)i * size);
    largest = isfinite(at[i]) ? fmax(largest, fabs(at[i])) : largest;
  }
  double step = reach_step * (largest > 0 ? largest : 1);
  for (int64_t i = 0; i < count; i++)
    at[i] += i % 2 ? step : -step;
  return step;
}

// Do enough of an activation's values move with its input?
static oxp_status reach_look(const reach_state *state, const oxp__layer *layer, bool *reached, oxp_error *error)
{
  const oxp_array *x = oxp__verify_array(state->verify, layer->inputs[0], state->inputs, state->values),
                  *y = &state->values[layer->index];
  int64_t count = oxp_array_count(y), moving = 0;
  *reached = true;
  if (oxp_array_count(x) != count)
    return OXP_OK; // a padding of open sizes is no activation
  double *moved = calloc(2 * (size_t)count + 1, sizeof *moved);
  if (!moved)
    return oxp__fail_memory(error, 2 * (uint64_t)count * sizeof *moved);
  double step = reach_load_moved(x, moved);
  oxp__f64 input = oxp__verify_view(x, moved), output = oxp__verify_view(y, moved + count);
  layer->kind->ref(&(oxp__ref){ .layer = layer, .inputs = &input, .input_count = 1, .output = &output });
  for (int64_t i = 0; i < count; i++)
    moving += fabs(output.at[i] - ((const double *)y->data)[i]) > reach_slope * step;
  free(moved);
  *reached = (double)moving >= reach_share * (double)count;
  return OXP_OK;
}

// --- One scale ---

static void reach_drop(reach_state *state)
{
  oxp__verify_free(state->inputs, state->verify->input_count, false);
  oxp__verify_free(state->values, oxp_session_output_count(state->session), true);
  state->values = NULL;
}

// Runs at a scale and finds the first activation that is not reached; NULL: all are.
static oxp_status reach_try(reach_state *state, double scale, const oxp__layer **stuck, oxp_error *error)
{
  const oxp_network *network = state->verify->network;
  *stuck = NULL;
  reach_drop(state);
  state->verify->scale = scale;
  OXP__TRY(oxp__verify_inputs(state->verify, state->run, state->inputs, error));
  OXP__TRY(oxp__verify_run_session(state->verify, state->session, state->inputs, &state->values, error));
  for (size_t i = 0; i < network->layer_count && !*stuck; i++) {
    bool reached = true;
    if (reach_is_activation(network, network->layers[i]))
      OXP__TRY(reach_look(state, network->layers[i], &reached, error));
    if (!reached)
      *stuck = network->layers[i];
  }
  return OXP_OK;
}

// --- The statistics of the first normalization ---

// The first layer that knows where its values lie and does not read a network input: there they are moved anyway.
static const oxp__layer *reach_normalization(const oxp_network *network)
{
  for (size_t i = 0; i < network->layer_count; i++) {
    const oxp__layer *layer = network->layers[i];
    if (layer->kind->input_range && layer->input_count == 1 && network->values[layer->inputs[0]].layer >= 0)
      return layer;
  }
  return NULL;
}

// The variance of one channel's values.
static double reach_channel_variance(const oxp_array *array, int64_t channel)
{
  int64_t channels = array->shape[1], inner = oxp_array_count(array) / (array->shape[0] * channels), seen = 0;
  double mean = 0, square = 0;
  for (int64_t n = 0; n < array->shape[0]; n++)
    for (int64_t i = 0; i < inner; i++) {
      double value = ((const double *)array->data)[(n * channels + channel) * inner + i], apart = value - mean;
      mean += apart / (double)++seen;
      square += apart * (value - mean);
    }
  return square / (double)seen;
}

// The scale at which a normalization would see its statistics, from the values that it saw last; 0 when there is none.
static oxp_status reach_scale_of(const reach_state *state, const oxp__layer *layer, double *scale, oxp_error *error)
{
  const oxp_array *x = oxp__verify_array(state->verify, layer->inputs[0], state->inputs, state->values);
  *scale = 0;
  if (x->rank < 2 || oxp_array_count(x) == 0)
    return OXP_OK;
  size_t channels = (size_t)x->shape[1];
  double *centre = calloc(2 * channels, sizeof *centre), wanted = 0, found = 0;
  if (!centre)
    return oxp__fail_memory(error, 2 * channels * sizeof *centre);
  double *spread = centre + channels;
  oxp_status status = layer->kind->input_range(layer, x->shape[1], centre, spread, error);
  for (size_t c = 0; c < channels; c++) {
    wanted += spread[c] * spread[c] / 9; // a spread is three deviations
    found += reach_channel_variance(x, (int64_t)c);
  }
  free(centre);
  double factor = sqrt(wanted / found);
  if (status == OXP_OK && isfinite(factor) && factor > 0)
    *scale = state->verify->scale * factor;
  return status;
}

// --- Choosing ---

static void reach_say_chosen(oxp__verify *verify, const oxp__layer *stuck, const oxp__layer *normalization)
{
  char label[256], other[256];
  oxp__layer_label(stuck, label, sizeof label);
  if (normalization)
    oxp__verify_note(
        verify->report,
        "Random input was scaled by %.4g, to the statistics of %s: at 1, hardly a value of %s moves with its input.",
        verify->scale, oxp__layer_label(normalization, other, sizeof other), label);
  else
    oxp__verify_note(verify->report,
                     "Random input was scaled by %.4g: at 1, hardly a value of %s moves with its input.", verify->scale,
                     label);
}

static void reach_say_none(oxp__verify *verify, const oxp__layer *stuck)
{
  char label[256];
  oxp__verify_note(
      verify->report,
      "Random input does not reach %s, of which hardly a value moves with its input at any scale tried (1, 1/8, "
      "8): give real input (--input).",
      oxp__layer_label(stuck, label, sizeof label));
}

// Tries the scales until every activation is reached; 1 when none does that.
static oxp_status reach_choose(reach_state *state, oxp_error *error)
{
  oxp__verify *verify = state->verify;
  const oxp__layer *first_stuck = NULL, *stuck = NULL, *normalization = NULL;
  for (size_t i = 0; i < OXP__COUNT(reach_scales); i++) {
    OXP__TRY(reach_try(state, reach_scales[i], &stuck, error));
    first_stuck = i == 0 ? stuck : first_stuck;
    if (!stuck)
      break;
  }
  double scale = 0;
  if (stuck && (normalization = reach_normalization(verify->network)) != NULL)
    OXP__TRY(reach_scale_of(state, normalization, &scale, error));
  if (stuck && scale > 0)
    OXP__TRY(reach_try(state, scale, &stuck, error));
  normalization = scale > 0 ? normalization : NULL;
  if (stuck) {
    verify->scale = 1;
    reach_say_none(verify, first_stuck);
  } else if (first_stuck) {
    reach_say_chosen(verify, first_stuck, normalization);
  }
  if (!stuck && normalization)
    verify->report->input.statistics = oxp__arena_copy(&verify->report->arena, normalization->name);
  return OXP_OK;
}

static int64_t reach_elements(const oxp__shape *shape, int64_t batch)
{
  int64_t dims[OXP_MAX_RANK], count = 0;
  for (int axis = 0; axis < shape->rank; axis++)
    dims[axis] = shape->dim[axis] == OXP_DIM_BATCH ? batch : shape->dim[axis];
  return oxp__shape_count(shape->rank, dims, &count) ? count : INT64_MAX;
}

// The largest run that is quickly looked at.
static const oxp__verify_run *reach_run(const oxp__verify *verify)
{
  const oxp__verify_run *chosen = &verify->runs[0];
  for (size_t i = 1; i < verify->run_count; i++) {
    bool small = true;
    for (int k = 0; k < verify->input_count; k++)
      small = small && reach_elements(&verify->shapes[k], verify->runs[i].batch) <= REACH_MAX_ELEMENTS;
    if (small && verify->runs[i].batch > chosen->batch)
      chosen = &verify->runs[i];
  }
  return chosen;
}

static bool reach_has_activations(const oxp_network *network)
{
  for (size_t i = 0; i < network->layer_count; i++)
    if (reach_is_activation(network, network->layers[i]))
      return true;
  return false;
}

static oxp_status reach_open_and_choose(reach_state *state, oxp_error *error)
{
  oxp_session_options options = { .expose_layers = true };
  OXP__TRY(oxp_session_open(state->verify->network, "reference:double", &options, &state->session, error));
  state->inputs = calloc((size_t)state->verify->input_count + 1, sizeof *state->inputs);
  return state->inputs ? reach_choose(state, error) : oxp__fail_memory(error, sizeof *state->inputs);
}

oxp_status oxp__verify_reach(oxp__verify *verify, oxp_error *error)
{
  reach_state state = { .verify = verify };
  oxp_status status = OXP_OK;
  if (!verify->options.inputs && reach_has_activations(verify->network)) {
    state.run = reach_run(verify);
    status = reach_open_and_choose(&state, error);
    if (state.session)
      reach_drop(&state);
    free(state.inputs);
    oxp_session_free(state.session);
  }
  verify->report->input.given = verify->options.inputs;
  verify->report->input.scale = verify->scale;
  return status;
}
