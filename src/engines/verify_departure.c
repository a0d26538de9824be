// verify_departure.c: which layer of a model that was given is the first wrong one? The trusted side computes in its
// own way and may depart by rounding; a fresh export of the network on the same engine rounds as the model does, layer
// by layer. Place: engines.
#include <stdlib.h>

#include "engines/verify.h"

// Both sides are one engine with one arithmetic, so a twentieth of the limits is enough to allow.
static const double departure_share = 1.0 / 20;

typedef struct departure_state {
  oxp__verify *verify;
  oxp_graph *graph; // owned: a fresh export
  oxp_session *fresh;
  oxp_array *inputs, *expected, *actual; // owned: of one run
  int first;                             // so far; the layers from there on need not be looked at
} departure_state;

static oxp_status departure_open(departure_state *state)
{
  const oxp__verify *verify = state->verify;
  oxp_lower_options lower = verify->options.lower;
  oxp_session_options session = verify->options.session;
  lower.expose_layers = session.expose_layers = true;
  OXP__TRY(oxp_graph_lower(verify->network, &lower, &state->graph, NULL));
  return oxp_session_open_graph(state->graph, verify->options.against, &session, &state->fresh, NULL);
}

// Does the model's value of a layer depart from the fresh export's?
static bool departure_at(const departure_state *state, int layer)
{
  const oxp__verify *verify = state->verify;
  const oxp__verify_value *value = &verify->layered[layer];
  int at = verify->given_at[layer];
  oxp_difference difference = { 0 };
  if (at < 0 || value->row->problem)
    return value->row->problem;
  double *atol = calloc((size_t)value->channel_count + 1, sizeof *atol);
  for (int64_t c = 0; atol && c < value->channel_count; c++)
    atol[c] = departure_share * value->atol[c];
  bool departs = atol &&
                 oxp__compare(&state->expected[layer], &state->actual[at], departure_share * verify->options.rtol, atol,
                              value->channel_count, &difference, NULL) == OXP_OK &&
                 !difference.match;
  free(atol);
  return departs;
}

static void departure_drop(departure_state *state)
{
  const oxp__verify *verify = state->verify;
  oxp__verify_free(state->inputs, verify->input_count, true);
  oxp__verify_free(state->expected, state->fresh ? oxp_session_output_count(state->fresh) : 0, true);
  oxp__verify_free(state->actual, oxp_session_output_count(verify->given_layers), true);
  state->inputs = state->expected = state->actual = NULL;
}

static oxp_status departure_run(departure_state *state, const oxp__verify_run *run, oxp_error *error)
{
  oxp__verify *verify = state->verify;
  departure_drop(state);
  state->inputs = calloc((size_t)verify->input_count + 1, sizeof *state->inputs);
  if (!state->inputs)
    return oxp__fail_memory(error, sizeof *state->inputs);
  OXP__TRY(oxp__verify_inputs(verify, run, state->inputs, error));
  OXP__TRY(oxp__verify_run_session(verify, state->fresh, state->inputs, &state->expected, error));
  OXP__TRY(oxp__verify_run_session(verify, verify->given_layers, state->inputs, &state->actual, error));
  for (int i = 0; i < state->first; i++)
    if (departure_at(state, i))
      state->first = i;
  return OXP_OK;
}

oxp_status oxp__verify_find_departure(oxp__verify *verify, oxp_error *error)
{
  departure_state state = { .verify = verify, .first = verify->report->layer_count };
  oxp_status status = OXP_OK;
  if (!verify->given_layers || !verify->layered)
    return OXP_OK;
  if (departure_open(&state) == OXP_OK) {
    for (size_t run = 0; status == OXP_OK && run < verify->run_count; run++)
      status = departure_run(&state, &verify->runs[run], error);
    if (status == OXP_OK && state.first < verify->report->layer_count)
      verify->report->departure = state.first;
  }
  departure_drop(&state);
  oxp_session_free(state.fresh);
  oxp_graph_free(state.graph);
  return status;
}
