// verify.c: oxp_verify: runs the same inputs through two engines and reports where they differ. What goes in is decided in
// verify_input.c, who is wrong in verify_find.c. Place: engines.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/verify.h"

// --- The report ---

void oxp__verify_note(oxp_verify_report *report, const char *format, ...)
{
  char sentence[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  for (size_t i = 0; i < report->note_count; i++)
    if (strcmp(report->notes[i], sentence) == 0)
      return; // runs are repeated to find out who is wrong
  void *notes = oxp__arena_grow(&report->arena, (void *)report->notes, report->note_count, &report->note_capacity,
                                sizeof(char *));
  char *copy = notes ? oxp__arena_copy(&report->arena, sentence) : NULL;
  if (notes)
    report->notes = notes;
  if (copy)
    report->notes[report->note_count++] = copy;
}

void oxp_verify_report_free(oxp_verify_report *report)
{
  if (!report)
    return;
  oxp__text_fini(&report->finding);
  oxp__arena_fini(&report->arena);
  free(report);
}

int oxp_verify_output_count(const oxp_verify_report *report)
{
  return report->output_count;
}

const oxp_verify_row *oxp_verify_output(const oxp_verify_report *report, int index)
{
  return index >= 0 && index < report->output_count ? &report->outputs[index] : NULL;
}

int oxp_verify_layer_count(const oxp_verify_report *report)
{
  return report->layer_count;
}

const oxp_verify_row *oxp_verify_layer(const oxp_verify_report *report, int index)
{
  return index >= 0 && index < report->layer_count ? &report->layers[index] : NULL;
}

const char *oxp_verify_finding(const oxp_verify_report *report)
{
  return oxp__text_string(&report->finding);
}

const oxp_verify_input *oxp_verify_report_input(const oxp_verify_report *report)
{
  return &report->input;
}

int oxp_verify_note_count(const oxp_verify_report *report)
{
  return (int)report->note_count;
}

const char *oxp_verify_note(const oxp_verify_report *report, int index)
{
  return index >= 0 && (size_t)index < report->note_count ? report->notes[index] : NULL;
}

// --- The two sides ---

static oxp_status verify_set_options(oxp__verify *verify, const oxp_verify_options *options, oxp_error *error)
{
  if (options)
    verify->options = *options;
  if (!verify->options.engine)
    verify->options.engine = "reference";
  if (!verify->options.against)
    verify->options.against = "ort:cpu";
  if (verify->options.rtol == 0 && verify->options.atol == 0) {
    verify->options.rtol = 1e-3;
    verify->options.atol = 1e-4;
  }
  OXP__TRY(oxp__check_tolerances(verify->options.rtol, verify->options.atol, error));
  oxp__arena *arena = &verify->report->arena;
  const char *device = NULL;
  verify->engine = oxp__engine_find(arena, verify->options.engine, &device, error);
  verify->against = verify->engine ? oxp__engine_find(arena, verify->options.against, &device, error) : NULL;
  return verify->against ? OXP_OK : OXP_BAD_ARGUMENT;
}

// The tested side runs the caller's model, else the network's own export, else (an engine without ONNX) the network.
static oxp_status verify_open_actual(oxp__verify *verify, const oxp_graph *graph, oxp_error *error)
{
  oxp_session_options session = verify->options.session;
  session.expose_layers = verify->layers;
  verify->model = graph;
  if (!graph && !verify->against->open_graph)
    return oxp_session_open(verify->network, verify->options.against, &session, &verify->actual, error);
  if (!graph) {
    oxp_lower_options lower = verify->options.lower;
    lower.expose_layers = verify->layers;
    OXP__TRY(oxp_graph_lower(verify->network, &lower, &verify->lowered, error));
    verify->model = verify->lowered;
  }
  OXP__TRY(oxp_session_open_graph(verify->model, verify->options.against, &session, &verify->actual, error));
  for (int i = 0; !graph && i < oxp_graph_warning_count(verify->lowered);
       i++) // of lowering, and of writing for the engine
    oxp__verify_note(verify->report, "%s", oxp_graph_warning(verify->lowered, i));
  return OXP_OK;
}

static oxp_status verify_open(oxp__verify *verify, const oxp_graph *graph, oxp_error *error)
{
  verify->layers = verify->options.layers && !graph;
  if (verify->options.layers && graph)
    oxp__verify_note(verify->report, "The model given has nodes, not layers: only its outputs were compared.");
  oxp_session_options session = verify->options.session;
  session.expose_layers = verify->layers;
  OXP__TRY(oxp_session_open(verify->network, verify->options.engine, &session, &verify->expected, error));
  OXP__TRY(verify_open_actual(verify, graph, error));
  int outputs = oxp_session_output_count(verify->expected), found = oxp_session_output_count(verify->actual);
  if (outputs != found)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the network has %d outputs, the model has %d", verify->output_count,
                     found - (outputs - verify->output_count));
  return OXP_OK;
}

// --- Rows ---

static oxp_status verify_make_rows(oxp__verify *verify, oxp_error *error)
{
  oxp_verify_report *report = verify->report;
  const oxp_network *network = verify->network;
  report->output_count = verify->output_count;
  report->layer_count = verify->layers ? (int)network->layer_count : 0;
  report->outputs = oxp__arena_new(&report->arena, (size_t)report->output_count, sizeof *report->outputs);
  report->layers = oxp__arena_new(&report->arena, (size_t)report->layer_count, sizeof *report->layers);
  if (!report->outputs || !report->layers)
    return oxp__fail_memory(error, (size_t)report->layer_count * sizeof *report->layers);
  for (int i = 0; i < report->layer_count; i++)
    report->layers[i] = (oxp_verify_row){ .name = oxp__arena_copy(&report->arena, network->layers[i]->name),
                                          .kind = network->layers[i]->kind->name };
  for (int i = 0; i < report->output_count; i++) {
    const char *name = oxp_session_output_name(verify->actual, report->layer_count + i);
    report->outputs[i] = (oxp_verify_row){ .name = oxp__arena_copy(&report->arena, name), .kind = "output" };
  }
  for (int i = 0; i < report->layer_count + report->output_count; i++)
    if (!(i < report->layer_count ? report->layers[i] : report->outputs[i - report->layer_count]).name)
      return oxp__fail_memory(error, 1);
  return OXP_OK;
}

static bool verify_is_worse(const oxp_difference *a, const oxp_difference *b)
{
  if (a->match != b->match)
    return !a->match;
  return a->max_abs != b->max_abs ? a->max_abs > b->max_abs : a->mismatches > b->mismatches;
}

// Arrays of different shapes differ everywhere.
static void verify_compare_shapes(oxp__verify *verify, const oxp_verify_row *row, const oxp_array *expected,
                                  const oxp_array *actual, oxp_difference *difference)
{
  *difference = (oxp_difference){
    .mismatches = oxp_array_count(expected), .max_abs = INFINITY, .max_rel = INFINITY, .expected = NAN, .actual = NAN
  };
  if (verify->report->finding.length > 0)
    return;
  oxp__text *finding = &verify->report->finding;
  oxp__text_printf(finding, "The shapes of \"%s\" differ: ", row->name);
  oxp__text_add_shape(finding, expected->rank, expected->shape);
  oxp__text_add(finding, " by the network, ");
  oxp__text_add_shape(finding, actual->rank, actual->shape);
  oxp__text_add(finding, " by the model.");
}

static void verify_compare(oxp__verify *verify, oxp_verify_row *row, int64_t batch, const oxp_array *expected,
                           const oxp_array *actual)
{
  oxp_difference difference = { 0 };
  if (oxp_compare(expected, actual, verify->options.rtol, verify->options.atol, &difference, NULL) != OXP_OK)
    verify_compare_shapes(verify, row, expected, actual, &difference);
  difference.compared += row->difference.compared; // in all runs
  if (row->batch != 0 && !verify_is_worse(&difference, &row->difference)) {
    row->difference.compared = difference.compared;
    return;
  }
  row->batch = batch;
  row->difference = difference;
}

static void verify_compare_all(oxp__verify *verify, int64_t batch, const oxp_array *expected, const oxp_array *actual)
{
  oxp_verify_report *report = verify->report;
  for (int i = 0; i < report->layer_count; i++)
    verify_compare(verify, &report->layers[i], batch, &expected[i], &actual[i]);
  for (int i = 0; i < report->output_count; i++) {
    int at = report->layer_count + i;
    verify_compare(verify, &report->outputs[i], batch, &expected[at], &actual[at]);
  }
}

static bool verify_matches(const oxp_verify_row *rows, int count)
{
  for (int i = 0; i < count; i++)
    if (!rows[i].difference.match)
      return false;
  return true;
}

// --- Running ---

static oxp_status verify_run_sides(oxp__verify *verify, const oxp__verify_run *run, const oxp_array *inputs,
                                   oxp_error *error)
{
  oxp_array *expected = NULL, *actual = NULL;
  OXP__TRY(oxp__verify_run_session(verify, verify->expected, inputs, &expected, error));
  oxp_status status = oxp__verify_run_session(verify, verify->actual, inputs, &actual, error);
  if (status == OXP_OK)
    verify_compare_all(verify, run->batch, expected, actual);
  oxp__verify_free(expected, oxp_session_output_count(verify->expected), true);
  oxp__verify_free(actual, oxp_session_output_count(verify->actual), true);
  return status;
}

static oxp_status verify_run_all(oxp__verify *verify, oxp_error *error)
{
  oxp_array *inputs = calloc((size_t)verify->input_count + 1, sizeof *inputs);
  if (!inputs)
    return oxp__fail_memory(error, (size_t)verify->input_count * sizeof *inputs);
  oxp_status status = OXP_OK;
  bool matched = true;
  for (size_t i = 0; status == OXP_OK && i < verify->run_count; i++) {
    status = oxp__verify_inputs(verify, &verify->runs[i], inputs, error);
    if (status == OXP_OK)
      status = verify_run_sides(verify, &verify->runs[i], inputs, error);
    oxp__verify_free(inputs, verify->input_count, false);
    if (matched && !verify_matches(verify->report->outputs, verify->report->output_count)) {
      matched = false;
      verify->differing_run = i;
    }
  }
  free(inputs);
  return status;
}

// Outputs decide. A layer that departs while they match is worth a word: its digits got lost on the way.
static void verify_note_layers(oxp__verify *verify)
{
  const oxp_verify_report *report = verify->report;
  for (int i = 0; i < report->layer_count; i++) {
    char label[256];
    if (report->layers[i].difference.match)
      continue;
    oxp__verify_note(verify->report, "All outputs match, although %s departs by %.2g.",
                     oxp__layer_label(verify->network->layers[i], label, sizeof label),
                     report->layers[i].difference.max_abs);
    return;
  }
}

// NaN matches NaN, so an output without a number matches almost anything.
static void verify_note_empty_matches(oxp__verify *verify)
{
  const oxp_verify_report *report = verify->report;
  for (int i = 0; i < report->output_count; i++)
    if (report->outputs[i].difference.compared == 0)
      oxp__verify_note(verify->report, "\"%s\" matches, but holds no finite number: that shows next to nothing.",
                       report->outputs[i].name);
}

static void verify_say(void *context, const char *sentence)
{
  oxp__verify_note(context, "%s", sentence);
}

static oxp_status verify_judge(oxp__verify *verify, oxp_error *error)
{
  oxp_verify_report *report = verify->report;
  if (verify_matches(report->outputs, report->output_count)) {
    oxp__text_fini(&report->finding); // of a layer's shape
    verify_note_empty_matches(verify);
    verify_note_layers(verify);
    return OXP_OK;
  }
  if (report->finding.length == 0)
    OXP__TRY(oxp__verify_find(verify, error));
  return OXP_DIFFERENT;
}

static oxp_status verify_all(oxp__verify *verify, const oxp_graph *graph, const oxp_verify_options *options,
                             oxp_error *error)
{
  OXP__TRY(verify_set_options(verify, options, error));
  OXP__TRY(verify_open(verify, graph, error));
  OXP__TRY(oxp__verify_plan(verify, error));
  OXP__TRY(verify_make_rows(verify, error));
  if (graph) // lowering warns of them, but nothing was lowered
    OXP__TRY(oxp__network_doubt(verify->network, verify_say, verify->report, error));
  OXP__TRY(verify_run_all(verify, error));
  return verify_judge(verify, error);
}

oxp_status oxp_verify(const oxp_network *network, const oxp_graph *graph, const oxp_verify_options *options,
                      oxp_verify_report **out, oxp_error *error)
{
  if (!network->finished)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the network is not finished: call oxp_network_finish first");
  oxp_verify_report *report = calloc(1, sizeof *report);
  if (!report)
    return oxp__fail_memory(error, sizeof *report);
  oxp__verify verify = { .network = network,
                         .report = report,
                         .input_count = (int)network->input_count,
                         .output_count = (int)network->output_count };
  oxp_status status = verify_all(&verify, graph, options, error);
  oxp_session_free(verify.expected);
  oxp_session_free(verify.actual);
  oxp_graph_free(verify.lowered);
  if (status != OXP_OK && status != OXP_DIFFERENT) {
    oxp_verify_report_free(report);
    return status;
  }
  *out = report;
  return status;
}
