// verify_exercise.c: does the input make a layer's weights matter? A value that does not move may still tell wrong
// weights from right ones (a mean over much noise), or not (zeros go in). Tries it, in double: with zeros in the place
// of each array in turn.
// Place: engines.
#include <stdlib.h>
#include <string.h>

#include "engines/verify.h"

typedef struct exercise_state {
  oxp__verify *verify;
  oxp_session *session;      // owned: the reference in double, with all layers
  oxp_array *inputs, *truth; // owned: of one run; the layers' values come first
} exercise_state;

// --- One layer ---

// Everything that the layer's kernel reads and writes, in double.
typedef struct exercise_layer {
  const oxp__layer *layer;
  oxp__arena arena;
  oxp__f64 *inputs, *weights;
  oxp_array output; // borrows `made`
  oxp__f64 made;
} exercise_layer;

static double *exercise_new(exercise_layer *of, int64_t count)
{
  size_t bytes = 0;
  return oxp__memory_bytes(count, sizeof(double), &bytes) ? oxp__arena_new(&of->arena, bytes ? bytes : 1, 1) : NULL;
}

static oxp_status exercise_load_inputs(const exercise_state *state, exercise_layer *of, oxp_error *error)
{
  for (int k = 0; k < of->layer->input_count; k++) {
    const oxp_array *from = oxp__verify_array(state->verify, of->layer->inputs[k], state->inputs, state->truth);
    double *at = exercise_new(of, oxp_array_count(from));
    if (!at)
      return oxp__fail_memory(error, oxp_array_bytes(from));
    of->inputs[k] = oxp__verify_view(from, at);
    for (int64_t i = 0; i < of->inputs[k].count; i++)
      at[i] = oxp__array_load(from, i);
  }
  return OXP_OK;
}

static oxp_status exercise_load_weights(exercise_layer *of, oxp_error *error)
{
  for (int role = 0; role < of->layer->kind->weight_count; role++) {
    const oxp_tensor *tensor = &of->layer->weights[role].tensor;
    of->weights[role].shape.rank = -1;
    if (!of->layer->weights[role].present)
      continue;
    oxp__f64 *weight = &of->weights[role];
    weight->shape.rank = tensor->rank;
    memcpy(weight->shape.dim, tensor->shape, sizeof weight->shape.dim);
    weight->count = oxp__tensor_count(tensor);
    weight->at = exercise_new(of, weight->count);
    if (!weight->at)
      return oxp__fail_memory(error, (uint64_t)weight->count * sizeof *weight->at);
    OXP__TRY(oxp__tensor_read_f64(tensor, weight->at, error));
  }
  return OXP_OK;
}

static oxp_status exercise_load(const exercise_state *state, exercise_layer *of, oxp_error *error)
{
  const oxp_array *truth = &state->truth[of->layer->index];
  of->inputs = oxp__arena_new(&of->arena, (size_t)of->layer->input_count, sizeof *of->inputs);
  of->weights = oxp__arena_new(&of->arena, (size_t)of->layer->kind->weight_count, sizeof *of->weights);
  double *at = exercise_new(of, oxp_array_count(truth));
  if (!of->inputs || !of->weights || !at)
    return oxp__fail_memory(error, oxp_array_bytes(truth));
  of->output = *truth;
  of->output.data = at;
  of->made = oxp__verify_view(truth, at);
  OXP__TRY(exercise_load_inputs(state, of, error));
  return exercise_load_weights(of, error);
}

static bool exercise_is_zero(const oxp__f64 *weight)
{
  for (int64_t i = 0; i < weight->count; i++)
    if (weight->at[i] != 0)
      return false;
  return true;
}

// Would zeros in the place of an array have been noticed under the limits of the layer's value?
static oxp_status exercise_notices(const exercise_state *state, exercise_layer *of, int role, bool *noticed,
                                   oxp_error *error)
{
  const oxp__verify_value *value = &state->verify->layered[of->layer->index];
  double *own = of->weights[role].at;
  oxp_difference difference = { 0 };
  of->weights[role].at = exercise_new(of, of->weights[role].count); // zeroed
  if (!of->weights[role].at)
    return oxp__fail_memory(error, (uint64_t)of->weights[role].count * sizeof *own);
  of->layer->kind->ref(&(oxp__ref){ .layer = of->layer,
                                    .inputs = of->inputs,
                                    .input_count = of->layer->input_count,
                                    .weights = of->weights,
                                    .output = &of->made });
  of->weights[role].at = own;
  OXP__TRY(oxp__compare(&state->truth[of->layer->index], &of->output, state->verify->options.rtol, value->atol,
                        value->channel_count, &difference, error));
  *noticed = !difference.match;
  return OXP_OK;
}

// The first array of a layer whose zeros would have matched; NULL: all are exercised. Arrays that are zero are what
// they are.
static oxp_status exercise_look(const exercise_state *state, const oxp__layer *layer, const char **role,
                                oxp_error *error)
{
  exercise_layer of = { .layer = layer };
  oxp_status status = exercise_load(state, &of, error);
  *role = NULL;
  for (int i = 0; status == OXP_OK && !*role && i < layer->kind->weight_count; i++) {
    bool noticed = true;
    if (of.weights[i].at && !exercise_is_zero(&of.weights[i]))
      status = exercise_notices(state, &of, i, &noticed, error);
    if (!noticed)
      *role = layer->kind->weights[i].role;
  }
  oxp__arena_fini(&of.arena);
  return status;
}

// --- All layers ---

static oxp_status exercise_open(exercise_state *state, oxp_error *error)
{
  oxp__verify *verify = state->verify;
  oxp_session_options options = { .expose_layers = true };
  OXP__TRY(oxp_session_open(verify->network, "reference:double", &options, &state->session, error));
  state->inputs = calloc((size_t)verify->input_count + 1, sizeof *state->inputs);
  if (!state->inputs)
    return oxp__fail_memory(error, sizeof *state->inputs);
  OXP__TRY(oxp__verify_inputs(verify, &verify->runs[verify->run_count - 1], state->inputs, error));
  return oxp__verify_run_session(verify, state->session, state->inputs, &state->truth, error);
}

oxp_status oxp__verify_find_unexercised(oxp__verify *verify, const oxp__layer **layer, const char **role,
                                        oxp_error *error)
{
  exercise_state state = { .verify = verify };
  oxp_status status = OXP_OK;
  *layer = NULL;
  *role = NULL;
  for (int i = 0; status == OXP_OK && !*layer && i < verify->report->layer_count; i++) {
    const oxp_verify_row *row = &verify->report->layers[i];
    const oxp__layer *candidate = verify->network->layers[i];
    if (candidate->kind->weight_count == 0 || row->still < row->channels)
      continue;
    if (row->batch > 0 && !state.session)
      status = exercise_open(&state, error);
    if (row->batch > 0 && status == OXP_OK)
      status = exercise_look(&state, candidate, role, error);
    if (row->batch == 0 || *role)
      *layer = candidate;
  }
  oxp__verify_free(state.inputs, verify->input_count, true);
  oxp__verify_free(state.truth, state.session ? oxp_session_output_count(state.session) : 0, true);
  oxp_session_free(state.session);
  return status;
}
