// verify_power.c: which errors in the weights of a layer this input and these limits would have noticed. Measured, not
// estimated: the weights are changed in the reference in double, and what follows them is computed again. Place:
// engines.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/reference/reference.h"
#include "engines/verify.h"

// Changes are looked for from one rounding of float32, below which weights are the same, to 1: set to zero.
static const double power_smallest = 0x1p-24, power_first = 1e-2;

// A change is measured well enough when it moves an output by no more than this many times what would just be noticed.
static const double power_enough = 1.1;
enum { POWER_TRIES = 6 };

// What is looked at without being asked: this many multiplications in all, a part of a second.
static const double power_budget = 1e8;

typedef struct power_state {
  oxp__verify *verify;
  oxp_session *session; // owned: the reference in double, with all values
  oxp__trace *trace;    // owned
  double *kept;         // owned: room for the largest array of weights
} power_state;

// How a weight array is changed: all of it scaled by 1 - change, or its elements by 1 - change and 1 + change in turn.
// The second shows what the first cannot: a normalization afterwards takes a common factor out again.
typedef enum power_way { POWER_SCALED, POWER_IN_TURN } power_way;

// --- One change ---

// How far an output is outside its limits: above 1 somewhere means that the change would have been noticed.
static double power_output_ratio(const power_state *state, int output)
{
  const oxp__verify *verify = state->verify;
  const oxp__verify_value *value = &verify->values[verify->layer_count + output];
  oxp_array before = oxp__trace_before(state->trace, verify->network->outputs[output]);
  oxp_array after = oxp__trace_after(state->trace, verify->network->outputs[output]);
  oxp__channel_walk walk = oxp__channel_walk_of(&before, value->channel_count);
  int64_t count = before.data == after.data ? 0 : oxp_array_count(&before);
  double ratio = 0;
  for (int64_t i = 0; i < count; i++) {
    double e = oxp__array_load(&before, i), a = oxp__array_load(&after, i);
    double limit = value->atol[oxp__channel_of(&walk, i)] + verify->options.rtol * fabs(e);
    double apart = oxp__compare_excess(e, a, 0);
    if (apart > 0)
      ratio = fmax(ratio, isfinite(limit) ? apart / limit : isfinite(e) ? 0 : INFINITY);
  }
  return ratio;
}

// Changes an array of weights, computes what follows, and puts the weights back.
static oxp_status power_try(power_state *state, int layer, int role, power_way way, double change, double *ratio,
                            oxp_error *error)
{
  oxp__f64 *weights = &oxp__trace_weights(state->trace, layer)[role];
  size_t bytes = (size_t)weights->count * sizeof *weights->at;
  memcpy(state->kept, weights->at, bytes);
  for (int64_t i = 0; i < weights->count; i++)
    weights->at[i] *= way == POWER_IN_TURN && i % 2 ? 1 + change : 1 - change;
  oxp_status status = oxp__trace_rerun(state->trace, layer, error);
  memcpy(weights->at, state->kept, bytes);
  *ratio = 0;
  for (int i = 0; status == OXP_OK && i < state->verify->output_count; i++)
    *ratio = fmax(*ratio, power_output_ratio(state, i));
  return status;
}

// The smallest change that was seen to be noticed; infinite when not even zeros are. Small changes act in proportion,
// so each try says where to look next.
static oxp_status power_search(power_state *state, int layer, int role, power_way way, double *smallest,
                               oxp_error *error)
{
  double change = power_first, ratio = 0;
  *smallest = INFINITY;
  for (int i = 0; i < POWER_TRIES; i++) {
    OXP__TRY(power_try(state, layer, role, way, change, &ratio, error));
    if (ratio > 1)
      *smallest = fmin(*smallest, change);
    bool at_end = ratio > 1 ? change <= power_smallest : change >= 1;
    if (at_end || (ratio > 1 && ratio <= power_enough))
      break;
    double next = ratio > 0 ? fmin(1, fmax(power_smallest, change / ratio * (1 + power_enough) / 2)) : 1;
    change = next < *smallest ? next : (change + *smallest) / 2;
  }
  return OXP_OK;
}

// --- One layer ---

static bool power_is_there(const oxp__f64 *weights)
{
  for (int64_t i = 0; weights->at && i < weights->count; i++)
    if (weights->at[i] != 0)
      return true;
  return false; // absent, or zeros, which no factor changes
}

static oxp_status power_array(power_state *state, int layer, int role, double *smallest, oxp_error *error)
{
  double in_turn = INFINITY;
  OXP__TRY(power_search(state, layer, role, POWER_SCALED, smallest, error));
  if (*smallest > 0.5)
    OXP__TRY(power_search(state, layer, role, POWER_IN_TURN, &in_turn, error));
  *smallest = fmin(*smallest, in_turn);
  return OXP_OK;
}

// Each array of weights on its own; the one of which the largest error stays hidden counts.
static oxp_status power_layer(power_state *state, const oxp__layer *layer, double *power, const char **weight,
                              oxp_error *error)
{
  const oxp__f64 *weights = oxp__trace_weights(state->trace, layer->index);
  *weight = NULL;
  *power = 0;
  for (int role = 0; role < layer->kind->weight_count; role++) {
    double smallest = 0;
    if (!power_is_there(&weights[role]))
      continue;
    OXP__TRY(power_array(state, layer->index, role, &smallest, error));
    if (*weight && smallest <= *power)
      continue;
    *power = smallest;
    *weight = layer->kind->weights[role].role;
  }
  return OXP_OK;
}

// --- All layers ---

// Names up to four layers, and says how many more there are.
typedef struct power_names {
  oxp__text text;
  int count;
} power_names;

static void power_name(power_names *names, const oxp__layer *layer)
{
  char label[256];
  if (names->count++ < 4)
    oxp__text_printf(&names->text, "%s%s", names->count > 1 ? ", " : "", oxp__layer_label(layer, label, sizeof label));
}

static const char *power_list(power_names *names)
{
  if (names->count > 4)
    oxp__text_printf(&names->text, " and %d more", names->count - 4);
  return oxp__text_string(&names->text);
}

static void power_say(oxp__verify *verify, double worst, power_names *hidden)
{
  if (hidden->count == 0)
    oxp__verify_note(verify->report, "An error of %.2g %% in the weights of any layer would have been seen.",
                     100 * worst);
  else if (worst > 0)
    oxp__verify_note(
        verify->report,
        "An error of %.2g %% in the weights of any layer would have been seen, but not all weights of %s were "
        "exercised.",
        100 * worst, power_list(hidden));
  else
    oxp__verify_note(verify->report, "Errors in some weights of %s would not have been seen, however large.",
                     power_list(hidden));
}

static oxp_status power_measure(power_state *state, oxp_error *error)
{
  oxp__verify *verify = state->verify;
  power_names hidden = { 0 };
  oxp_status status = OXP_OK;
  double worst = 0;
  bool any = false;
  for (size_t i = 0; status == OXP_OK && i < verify->network->layer_count; i++) {
    const oxp__layer *layer = verify->network->layers[i];
    oxp_verify_row row = { 0 };
    status = power_layer(state, layer, &row.power, &row.power_weight, error);
    if (status != OXP_OK || !row.power_weight)
      continue;
    any = true;
    if (isfinite(row.power))
      worst = fmax(worst, row.power);
    else
      power_name(&hidden, layer);
    if ((int)i < verify->report->layer_count) {
      verify->report->layers[i].power = row.power;
      verify->report->layers[i].power_weight = row.power_weight;
    }
  }
  if (status == OXP_OK && any)
    power_say(verify, worst, &hidden);
  oxp__text_fini(&hidden.text);
  return status;
}

// The array that a layer multiplies with: its largest one. -1: the layer has none.
static int power_main_role(const oxp__f64 *weights, int count)
{
  int role = -1;
  for (int i = 0; i < count; i++)
    if (power_is_there(&weights[i]) && (role < 0 || weights[i].count > weights[role].count))
      role = i;
  return role;
}

// Could the main weights of a layer be zeros without notice? One sentence names such layers.
static oxp_status power_look_for_hidden(power_state *state, oxp_error *error)
{
  oxp__verify *verify = state->verify;
  power_names hidden = { 0 };
  oxp_status status = OXP_OK;
  for (size_t i = 0; status == OXP_OK && i < verify->network->layer_count; i++) {
    const oxp__layer *layer = verify->network->layers[i];
    int role = power_main_role(oxp__trace_weights(state->trace, (int)i), layer->kind->weight_count);
    double ratio = INFINITY;
    if (role >= 0)
      status = power_try(state, (int)i, role, POWER_SCALED, 1, &ratio, error);
    if (ratio <= 1)
      power_name(&hidden, layer);
  }
  if (status == OXP_OK && hidden.count > 0)
    oxp__verify_note(verify->report,
                     "Zeros as weights of %s would not have been noticed in the outputs (--power says more).",
                     power_list(&hidden));
  oxp__text_fini(&hidden.text);
  return status;
}

// --- Which run ---

static oxp_status power_infer(const oxp__verify *verify, int64_t batch, oxp__shape *shapes, oxp_error *error)
{
  oxp__shape *inputs = calloc((size_t)verify->input_count + 1, sizeof *inputs);
  if (!inputs)
    return oxp__fail_memory(error, (size_t)verify->input_count * sizeof *inputs);
  for (int i = 0; i < verify->input_count; i++) {
    inputs[i] = verify->shapes[i];
    for (int axis = 0; axis < inputs[i].rank; axis++)
      if (inputs[i].dim[axis] == OXP_DIM_BATCH)
        inputs[i].dim[axis] = batch;
  }
  oxp_status status = oxp__infer_shapes(verify->network, inputs, shapes, error);
  free(inputs);
  return status;
}

// About the multiplications of one layer: for each value that it computes, its weights for one output channel.
static double power_layer_work(const oxp__layer *layer, const oxp__shape *output)
{
  double values = 1, weights = 1, channels = output->rank > 1 ? fmax(1, (double)output->dim[1]) : 1;
  for (int axis = 0; axis < output->rank; axis++)
    values *= (double)output->dim[axis];
  for (int role = 0; role < layer->kind->weight_count; role++)
    if (layer->weights[role].present)
      weights += (double)oxp__tensor_count(&layer->weights[role].tensor);
  return values * fmax(1, weights / channels);
}

// About the multiplications of changing each layer with weights once.
static oxp_status power_work(const oxp__verify *verify, int64_t batch, double *work, oxp_error *error)
{
  const oxp_network *network = verify->network;
  oxp__shape *shapes = calloc(network->value_count + 1, sizeof *shapes);
  if (!shapes)
    return oxp__fail_memory(error, network->value_count * sizeof *shapes);
  oxp_status status = power_infer(verify, batch, shapes, error);
  double after = 0;
  *work = 0;
  for (size_t i = network->layer_count; status == OXP_OK && i-- > 0;) {
    after += power_layer_work(network->layers[i], &shapes[network->layers[i]->output]);
    *work += network->layers[i]->kind->weight_count > 0 ? after : 0;
  }
  free(shapes);
  return status;
}

// The run with the largest batch; unless power was asked for, of those that are looked at quickly. -1: there is none.
static oxp_status power_choose_run(const oxp__verify *verify, int *chosen, oxp_error *error)
{
  int64_t batch = 0;
  *chosen = -1;
  for (size_t i = 0; i < verify->run_count; i++) {
    double work = 0;
    if (verify->runs[i].batch <= batch)
      continue;
    OXP__TRY(power_work(verify, verify->runs[i].batch, &work, error));
    if (!verify->options.power && work > power_budget)
      continue;
    batch = verify->runs[i].batch;
    *chosen = (int)i;
  }
  return OXP_OK;
}

// --- ---

static oxp_status power_open(power_state *state, int run, oxp_error *error)
{
  oxp__verify *verify = state->verify;
  const oxp_network *network = verify->network;
  oxp_session_options options = { .expose_layers = true };
  OXP__TRY(oxp_session_open(network, "reference:double", &options, &state->session, error));
  oxp_array *inputs = calloc((size_t)verify->input_count + 1, sizeof *inputs);
  if (!inputs)
    return oxp__fail_memory(error, (size_t)verify->input_count * sizeof *inputs);
  oxp_status status = oxp__verify_inputs(verify, &verify->runs[run], inputs, error);
  if (status == OXP_OK)
    status = oxp__trace_new(state->session, inputs, &state->trace, error);
  oxp__verify_free(inputs, verify->input_count, true);
  OXP__TRY(status);
  int64_t largest = 1;
  for (size_t i = 0; i < network->layer_count; i++)
    for (int role = 0; role < network->layers[i]->kind->weight_count; role++) {
      int64_t count = oxp__trace_weights(state->trace, (int)i)[role].count;
      largest = count > largest ? count : largest;
    }
  state->kept = calloc((size_t)largest, sizeof *state->kept);
  return state->kept ? OXP_OK : oxp__fail_memory(error, (uint64_t)largest * sizeof *state->kept);
}

// Every output was compared by number.
static bool power_has_limits(const oxp__verify *verify)
{
  for (int i = verify->layer_count; i < verify->value_count; i++)
    if (!verify->values[i].atol)
      return false;
  return true;
}

oxp_status oxp__verify_power(oxp__verify *verify, oxp_error *error)
{
  power_state state = { .verify = verify };
  int run = -1;
  if (!power_has_limits(verify))
    return OXP_OK;
  OXP__TRY(power_choose_run(verify, &run, error));
  if (run < 0)
    return OXP_OK;
  oxp_status status = power_open(&state, run, error);
  if (status == OXP_OK)
    status = verify->options.power ? power_measure(&state, error) : power_look_for_hidden(&state, error);
  oxp__trace_free(state.trace);
  oxp_session_free(state.session);
  free(state.kept);
  return status;
}
