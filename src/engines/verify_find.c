// verify_find.c: two sides differ; who is wrong? Asks a third one, the reference in double, and then narrows the cause
// down by running the tested side in other ways. Everything said was run, nothing is guessed. Place: engines.
#include <math.h>
#include <stdlib.h>

#include "engines/verify.h"

typedef struct find_amount {
  double off;         // the largest difference of finite values
  int64_t not_finite; // places that differ because of NaN or infinity
} find_amount;

// The differing run, and what every side makes of it. Lists hold the layers (if `layers`) and then the outputs.
typedef struct find_state {
  oxp__verify *verify;
  oxp_array *inputs;
  oxp_array *truth;       // all layers, then the outputs, in double
  find_amount actual_off; // how far the tested side's outputs are from the truth
} find_state;

// What one more session made, compared with the truth.
typedef struct find_result {
  bool ran;
  bool right;            // all outputs match
  find_amount off;       // of the outputs
  int first_layer;       // the first layer that departs; -1: none, or layers were not handed out
  find_amount layer_off; // by how much
} find_result;

// The limits that number `index` of the layers and outputs was compared with before; NULL: it was not.
static const oxp__verify_value *find_value(const oxp__verify *verify, int index)
{
  int output = index - (int)verify->network->layer_count;
  if (output >= 0)
    return &verify->values[verify->layer_count + output];
  return verify->layered ? &verify->layered[index] : NULL;
}

static bool find_compare(const find_state *state, int index, const oxp_array *array, find_amount *amount)
{
  const oxp__verify *verify = state->verify;
  const oxp__verify_value *value = find_value(verify, index);
  bool limited = value && value->atol;
  oxp_difference difference = { 0 };
  oxp_status status =
      oxp__compare(&state->truth[index], array, verify->options.rtol, limited ? value->atol : &verify->options.atol,
                   limited ? value->channel_count : 1, &difference, NULL);
  amount->off = fmax(amount->off, difference.max_abs);
  amount->not_finite += difference.not_finite;
  return status == OXP_OK && difference.match;
}

static void find_compare_all(const find_state *state, bool layers, const oxp_array *arrays, find_result *result)
{
  int layer_count = (int)state->verify->network->layer_count;
  *result = (find_result){ .ran = true, .right = true, .first_layer = -1 };
  const oxp_array *outputs = layers ? arrays + layer_count : arrays;
  for (int i = 0; i < state->verify->output_count; i++)
    result->right &= find_compare(state, layer_count + i, &outputs[i], &result->off);
  for (int i = 0; layers && i < layer_count && result->first_layer < 0; i++) {
    result->layer_off = (find_amount){ 0 };
    if (!find_compare(state, i, &arrays[i], &result->layer_off))
      result->first_layer = i;
  }
}

static void find_run(const find_state *state, oxp_session *session, bool layers, find_result *result)
{
  oxp_array *outputs = NULL;
  if (oxp__verify_run_session(state->verify, session, state->inputs, &outputs, NULL) != OXP_OK)
    return;
  find_compare_all(state, layers, outputs, result);
  oxp__verify_free(outputs, oxp_session_output_count(session), true);
}

// The tested engine on a graph.
static find_result find_run_graph(const find_state *state, const oxp_graph *graph, bool layers, bool optimization_off)
{
  find_result result = { .first_layer = -1 };
  oxp_session_options options = state->verify->options.session;
  options.expose_layers = layers;
  options.optimization_off |= optimization_off;
  oxp_session *session = NULL;
  if (oxp_session_open_graph(graph, state->verify->options.against, &options, &session, NULL) == OXP_OK)
    find_run(state, session, layers, &result);
  oxp_session_free(session);
  return result;
}

// The tested engine on a fresh export of the network, all layers handed out.
static find_result find_run_lowered(const find_state *state, oxp_lower_options lower, bool optimization_off)
{
  find_result result = { .first_layer = -1 };
  oxp_graph *graph = NULL;
  lower.expose_layers = true;
  if (oxp_graph_lower(state->verify->network, &lower, &graph, NULL) == OXP_OK)
    result = find_run_graph(state, graph, true, optimization_off);
  oxp_graph_free(graph);
  return result;
}

static const char *find_words(const find_amount *amount, char buffer[OXP__VERIFY_WORDS])
{
  return oxp__verify_words(amount->off, amount->not_finite, buffer);
}

static void find_add_layer(const find_state *state, const find_result *result, const char *before, const char *without)
{
  oxp__text *finding = &state->verify->report->finding;
  char label[256], words[OXP__VERIFY_WORDS];
  if (result->first_layer < 0)
    oxp__text_add(finding, without);
  else
    oxp__text_printf(finding, "%s%s (off by %s)", before,
                     oxp__layer_label(state->verify->network->layers[result->first_layer], label, sizeof label),
                     find_words(&result->layer_off, words));
}

// Is the runtime's optimiser to blame? True when that was found.
static bool find_blame_optimiser(const find_state *state, find_result *plain)
{
  oxp__verify *verify = state->verify;
  oxp__text *finding = &verify->report->finding;
  *plain = verify->lowered ? find_run_lowered(state, verify->options.lower, true)
                           : find_run_graph(state, verify->model, false, true);
  if (verify->options.session.optimization_off || !plain->ran || !plain->right)
    return false;
  oxp__text_printf(finding,
                   "The file is right: with optimisation off, %s gives the network's values; its optimiser changes ",
                   verify->against->title);
  find_result optimised = { .first_layer = -1 };
  if (verify->lowered)
    optimised = find_run_lowered(state, verify->options.lower, false);
  find_add_layer(state, &optimised, "", "them");
  char words[2][OXP__VERIFY_WORDS];
  oxp__text_printf(finding, ": off by %s from the network in double, by %s without it.",
                   find_words(&state->actual_off, words[0]), find_words(&plain->off, words[1]));
  return true;
}

// The first layer of the given model that departs, where that is known.
static void find_add_departure(const find_state *state)
{
  const oxp_verify_report *report = state->verify->report;
  char label[256];
  if (report->departure < 0)
    return;
  const oxp_verify_row *row = &report->layers[report->departure];
  oxp__text_printf(&state->verify->report->finding, ", first at %s%s%s",
                   oxp__layer_label(state->verify->network->layers[report->departure], label, sizeof label),
                   row->problem ? ", whose value is " : "", row->problem ? row->problem : "");
}

// The caller's model against a fresh export of the same network, run in the same way.
static void find_blame_model(const find_state *state)
{
  oxp__verify *verify = state->verify;
  oxp__text *finding = &verify->report->finding;
  find_result fresh = find_run_lowered(state, verify->options.lower, true);
  char words[OXP__VERIFY_WORDS];
  oxp__text_printf(finding, "The model differs from the network (by %s)", find_words(&state->actual_off, words));
  find_add_departure(state);
  if (fresh.ran && fresh.right)
    oxp__text_printf(finding, ": a fresh export of the network gives the network's values (off by %s).",
                     find_words(&fresh.off, words));
  else
    find_add_layer(state, &fresh, ", but so does a fresh export of it, from ", ".");
}

// Does the expanded form of batch normalization help? That is a loss of digits in the runtime's kernel.
static bool find_blame_batchnorm(const find_state *state, const find_result *plain)
{
  oxp__verify *verify = state->verify;
  if (verify->options.lower.batchnorm != OXP_BATCHNORM_LITERAL)
    return false;
  oxp_lower_options lower = verify->options.lower;
  lower.batchnorm = OXP_BATCHNORM_EXPANDED;
  find_result expanded = find_run_lowered(state, lower, true);
  if (!expanded.ran || !expanded.right)
    return false;
  oxp__text *finding = &verify->report->finding;
  char words[2][OXP__VERIFY_WORDS];
  oxp__text_printf(finding, "The file is right: the BatchNormalization of %s %s", verify->against->title,
                   state->actual_off.not_finite ? "makes NaN or infinity of other values" : "loses digits");
  find_add_layer(state, plain, ", first at ", "");
  oxp__text_printf(finding,
                   "; use --batchnorm expanded, whose outputs are off by %s from the network in double instead of %s.",
                   find_words(&expanded.off, words[0]), find_words(&state->actual_off, words[1]));
  return true;
}

// Does the same graph in float64 give the network's values? Then the float32 kernels lose them.
static bool find_blame_float32(const find_state *state, const find_result *plain)
{
  oxp__verify *verify = state->verify;
  if (verify->network->dtype != OXP_FLOAT32 || verify->options.lower.dtype == OXP_FLOAT64)
    return false;
  char words[OXP__VERIFY_WORDS];
  oxp_lower_options lower = verify->options.lower;
  lower.dtype = OXP_FLOAT64;
  lower.opset = 18; // where the runtime has most operators in double
  find_result wide = find_run_lowered(state, lower, true);
  if (!wide.ran || !wide.right)
    return false;
  oxp__text *finding = &verify->report->finding;
  oxp__text_printf(
      finding,
      "The file is right: computed in float64, %s gives the network's values (off by %s); in float32 it loses digits",
      verify->against->title, find_words(&wide.off, words));
  find_add_layer(state, plain, ", first at ", "");
  oxp__text_add(finding, ".");
  return true;
}

// The trusted side agrees with the truth and the tested one does not.
static void find_blame_actual(const find_state *state)
{
  oxp__verify *verify = state->verify;
  oxp__text *finding = &verify->report->finding;
  find_result plain = { .first_layer = -1 };
  if (verify->model && find_blame_optimiser(state, &plain))
    return;
  if (verify->model && !verify->lowered) {
    find_blame_model(state);
    return;
  }
  if (verify->model && (find_blame_batchnorm(state, &plain) || find_blame_float32(state, &plain)))
    return;
  char words[OXP__VERIFY_WORDS];
  oxp__text_printf(finding, "The result of %s differs from the network's in double (by %s)%s", verify->against->title,
                   find_words(&state->actual_off, words), plain.ran ? ", with optimisation off as well" : "");
  find_add_layer(state, &plain, ", from ", "");
  oxp__text_add(finding, plain.first_layer < 0 ? "." : " on.");
}

static void find_judge(find_state *state)
{
  oxp__verify *verify = state->verify;
  oxp__text *finding = &verify->report->finding;
  find_result expected = { .first_layer = -1 }, actual = expected;
  find_run(state, verify->expected, verify->layers, &expected);
  find_run(state, verify->actual, verify->layers, &actual);
  state->actual_off = actual.off;
  char words[2][OXP__VERIFY_WORDS];
  const char *of_expected = find_words(&expected.off, words[0]), *of_actual = find_words(&actual.off, words[1]);
  if (expected.right && !actual.right) {
    find_blame_actual(state);
  } else if (actual.right && !expected.right) {
    oxp__text_printf(finding, "%s is wrong: it is off by %s from the network in double, %s only by %s",
                     verify->options.engine, of_expected, verify->options.against, of_actual);
    find_add_layer(state, &expected, ", from ", "");
    oxp__text_add(finding, expected.first_layer < 0 ? "." : " on.");
  } else if (actual.right) {
    oxp__text_printf(finding,
                     "Both sides are within the tolerance of the network in double (%s %s, %s %s), but not of each "
                     "other: the tolerance is near the rounding of float32.",
                     verify->options.engine, of_expected, verify->options.against, of_actual);
  } else {
    oxp__text_printf(finding,
                     "Neither side is within the tolerance of the network in double (%s %s, %s %s): float32 does "
                     "not hold this network's values that exactly.",
                     verify->options.engine, of_expected, verify->options.against, of_actual);
  }
}

// What the network means, in double.
static oxp_status find_truth(find_state *state, oxp_error *error)
{
  oxp_session *session = NULL;
  oxp_session_options options = { .expose_layers = true };
  OXP__TRY(oxp_session_open(state->verify->network, "reference:double", &options, &session, error));
  oxp_status status = oxp__verify_run_session(state->verify, session, state->inputs, &state->truth, error);
  oxp_session_free(session);
  return status;
}

oxp_status oxp__verify_find(oxp__verify *verify, oxp_error *error)
{
  find_state state = { .verify = verify };
  state.inputs = calloc((size_t)verify->input_count + 1, sizeof *state.inputs);
  if (!state.inputs)
    return oxp__fail_memory(error, (size_t)verify->input_count * sizeof *state.inputs);
  oxp_status status = oxp__verify_inputs(verify, &verify->runs[verify->differing_run], state.inputs, error);
  if (status == OXP_OK)
    status = find_truth(&state, error);
  if (status == OXP_OK) {
    find_judge(&state);
    status = oxp__text_status(&verify->report->finding, error);
  }
  oxp__verify_free(state.truth, (int)verify->network->layer_count + verify->output_count, true);
  oxp__verify_free(state.inputs, verify->input_count, true);
  return status;
}
