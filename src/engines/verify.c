// verify.c: oxp_verify: runs the same inputs through two engines and reports where they differ. What goes in is decided in
// verify_input.c, under which limits in verify_limits.c, what would have been noticed in verify_power.c, who is wrong in verify_find.c. Place: engines.
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

const char *oxp__verify_words(double largest, int64_t not_finite, char buffer[OXP__VERIFY_WORDS])
{
  if (not_finite == 0)
    snprintf(buffer, OXP__VERIFY_WORDS, "%.2g", largest);
  else
    snprintf(buffer, OXP__VERIFY_WORDS, "NaN or infinity in %lld place%s, %.2g elsewhere", (long long)not_finite,
             not_finite == 1 ? "" : "s", largest);
  return buffer;
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
  return report ? report->output_count : 0;
}

const oxp_verify_row *oxp_verify_output(const oxp_verify_report *report, int index)
{
  return report && index >= 0 && index < report->output_count ? &report->outputs[index] : NULL;
}

int oxp_verify_layer_count(const oxp_verify_report *report)
{
  return report ? report->layer_count : 0;
}

const oxp_verify_row *oxp_verify_layer(const oxp_verify_report *report, int index)
{
  return report && index >= 0 && index < report->layer_count ? &report->layers[index] : NULL;
}

int oxp_verify_expected_count(const oxp_verify_report *report)
{
  return report ? report->expected_count : 0;
}

const oxp_verify_row *oxp_verify_expected(const oxp_verify_report *report, int index)
{
  return report && index >= 0 && index < report->expected_count ? &report->expected[index] : NULL;
}

const char *oxp_verify_finding(const oxp_verify_report *report)
{
  return report ? oxp__text_string(&report->finding) : NULL;
}

const oxp_verify_input *oxp_verify_report_input(const oxp_verify_report *report)
{
  return report ? &report->input : NULL;
}

int oxp_verify_departure(const oxp_verify_report *report)
{
  return report ? report->departure : -1;
}

int oxp_verify_note_count(const oxp_verify_report *report)
{
  return report ? (int)report->note_count : 0;
}

const char *oxp_verify_note(const oxp_verify_report *report, int index)
{
  return report && index >= 0 && (size_t)index < report->note_count ? report->notes[index] : NULL;
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
  if (verify->options.rtol == 0 && verify->options.atol == 0 && !verify->options.limits_given) {
    verify->options.rtol = 1e-3;
    verify->options.atol = 1e-4;
  }
  OXP__TRY(oxp__check_tolerances(verify->options.rtol, verify->options.atol, error));
  verify->options.layers |= verify->options.power; // which has a number for every layer
  // A given model's outputs are compared as they are: engines fuse less where they have to hand out more.
  verify->layers = verify->options.layers && !verify->given;
  oxp__arena *arena = &verify->report->arena;
  const char *device = NULL;
  if (verify->options.lower.dtype == OXP_FLOAT32) // asked for by name
    verify->options.session.narrow_weights = true;
  verify->engine = oxp__engine_find(arena, verify->options.engine, &device, error);
  verify->against = verify->engine ? oxp__engine_find(arena, verify->options.against, &device, error) : NULL;
  return verify->against ? OXP_OK : OXP_BAD_ARGUMENT;
}

// The caller's model with the values of the layers before its outputs, as far as it is known which they are.
static oxp_status verify_open_given(oxp__verify *verify, oxp_error *error)
{
  size_t count = verify->network->layer_count, matched = 0;
  oxp__arena *arena = &verify->report->arena;
  OXP__TRY(oxp__verify_match(verify, error));
  const char **names = oxp__arena_new(arena, count, sizeof *names);
  verify->actual_at = oxp__arena_new(arena, count + (size_t)verify->output_count, sizeof *verify->actual_at);
  if (!names || !verify->actual_at)
    return oxp__fail_memory(error, count * sizeof *names);
  for (size_t i = 0; i < count; i++) {
    verify->actual_at[i] = verify->layer_names[i] ? (int)matched : -1;
    if (verify->layer_names[i])
      names[matched++] = verify->layer_names[i];
  }
  for (int i = 0; i < verify->output_count; i++)
    verify->actual_at[count + (size_t)i] = (int)matched + i;
  oxp_session_options session = verify->options.session;
  session.expose = names;
  session.expose_count = (int)matched;
  return oxp_session_open_graph(verify->given, verify->options.against, &session, &verify->actual, error);
}

// The tested side runs the caller's model, else the network's own export, else (an engine without ONNX) the network.
static oxp_status verify_open_actual(oxp__verify *verify, oxp_error *error)
{
  oxp_session_options session = verify->options.session;
  session.expose_layers = verify->layers;
  verify->model = verify->given;
  if (verify->given && verify->layers)
    return verify_open_given(verify, error);
  if (!verify->given && !verify->against->open_graph)
    return oxp_session_open(verify->network, verify->options.against, &session, &verify->actual, error);
  if (!verify->given) {
    oxp_lower_options lower = verify->options.lower;
    lower.expose_layers = verify->layers;
    OXP__TRY(oxp_graph_lower(verify->network, &lower, &verify->lowered, error));
    verify->model = verify->lowered;
  }
  OXP__TRY(oxp_session_open_graph(verify->model, verify->options.against, &session, &verify->actual, error));
  int warnings =
      verify->lowered ? oxp_graph_warning_count(verify->lowered) : 0; // of lowering, and of writing for the engine
  for (int i = 0; i < warnings; i++)
    oxp__verify_note(verify->report, "%s", oxp_graph_warning(verify->lowered, i));
  return OXP_OK;
}

static void verify_close(oxp__verify *verify)
{
  oxp_session_free(verify->expected);
  oxp_session_free(verify->actual);
  oxp_graph_free(verify->lowered);
  verify->expected = verify->actual = NULL;
  verify->lowered = NULL;
}

// Where a value is in what the tested side hands out; -1: it does not hand it out.
static int verify_actual_at(const oxp__verify *verify, int value)
{
  return verify->actual_at ? verify->actual_at[value] : value;
}

static oxp_status verify_open(oxp__verify *verify, oxp_error *error)
{
  oxp_session_options session = verify->options.session;
  session.expose_layers = verify->layers;
  OXP__TRY(oxp_session_open(verify->network, verify->options.engine, &session, &verify->expected, error));
  OXP__TRY(verify_open_actual(verify, error));
  int first = verify_actual_at(verify, verify->layers ? (int)verify->network->layer_count : 0);
  int found = oxp_session_output_count(verify->actual) - first;
  if (found != verify->output_count)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the network has %d outputs, the model has %d", verify->output_count,
                     found);
  return OXP_OK;
}

// --- Rows ---

static oxp_status verify_new_rows(oxp__verify *verify, oxp_error *error)
{
  oxp_verify_report *report = verify->report;
  report->output_count = verify->output_count;
  report->layer_count = verify->layer_count = verify->layers ? (int)verify->network->layer_count : 0;
  verify->value_count = report->layer_count + report->output_count;
  report->outputs = oxp__arena_new(&report->arena, (size_t)report->output_count, sizeof *report->outputs);
  report->layers = oxp__arena_new(&report->arena, (size_t)report->layer_count, sizeof *report->layers);
  verify->values = oxp__arena_new(&report->arena, (size_t)verify->value_count, sizeof *verify->values);
  if (!report->outputs || !report->layers || !verify->values)
    return oxp__fail_memory(error, (size_t)verify->value_count * sizeof *verify->values);
  for (int i = 0; i < verify->value_count; i++)
    verify->values[i].row = i < report->layer_count ? &report->layers[i] : &report->outputs[i - report->layer_count];
  return OXP_OK;
}

static oxp_status verify_make_rows(oxp__verify *verify, oxp_error *error)
{
  OXP__TRY(verify_new_rows(verify, error));
  oxp__arena *arena = &verify->report->arena;
  for (int i = 0; i < verify->value_count; i++) {
    const oxp__layer *layer = i < verify->layer_count ? verify->network->layers[i] : NULL;
    int at = verify_actual_at(verify, i);
    const char *name = layer ? layer->name : oxp_session_output_name(verify->actual, at);
    oxp_verify_row *row = verify->values[i].row;
    *row = (oxp_verify_row){ .name = oxp__arena_copy(arena, name), .kind = layer ? layer->kind->name : "output" };
    row->difference.match = at < 0; // stays so: it is not compared
    if (!row->name)
      return oxp__fail_memory(error, strlen(name));
  }
  return OXP_OK;
}

// The element type that the tested side must have; OXP_DTYPE_NONE where an engine may choose.
static oxp_dtype verify_wanted_dtype(const oxp__verify *verify)
{
  if (!verify->model)
    return OXP_DTYPE_NONE;
  return verify->options.lower.dtype ? verify->options.lower.dtype : verify->network->dtype;
}

const char *oxp__verify_shape_problem(const oxp__verify *verify, const oxp_array *expected, const oxp_array *actual)
{
  if (oxp__compare_check(expected, actual, NULL) == OXP_OK)
    return NULL;
  oxp__text text = { 0 };
  oxp__text_add_shape(&text, actual->rank, actual->shape);
  oxp__text_add(&text, " instead of ");
  oxp__text_add_shape(&text, expected->rank, expected->shape);
  const char *problem = oxp__arena_copy(&verify->report->arena, oxp__text_string(&text));
  oxp__text_fini(&text);
  return problem;
}

// Another element type, rank or shape is a difference that no number describes. NULL: there is none.
static const char *verify_problem(const oxp__verify *verify, const oxp_array *expected, const oxp_array *actual)
{
  oxp__arena *arena = &verify->report->arena;
  oxp_dtype wanted = verify_wanted_dtype(verify);
  if (wanted && actual->dtype != wanted)
    return oxp__arena_printf(arena, "%s instead of %s", oxp_dtype_name(actual->dtype), oxp_dtype_name(wanted));
  return oxp__verify_shape_problem(verify, expected, actual);
}

static bool verify_is_worse(const oxp_difference *a, const oxp_difference *b)
{
  if (a->match != b->match)
    return !a->match;
  return a->max_abs != b->max_abs ? a->max_abs > b->max_abs : a->mismatches > b->mismatches;
}

static oxp_status verify_compare(const oxp__verify *verify, oxp__verify_value *value, size_t run,
                                 const oxp_array *expected, const oxp_array *actual, oxp_error *error)
{
  oxp_verify_row *row = value->row;
  if (row->problem)
    return OXP_OK;
  row->problem = verify_problem(verify, expected, actual);
  if (row->problem) {
    row->difference = (oxp_difference){ 0 };
    row->batch = verify->runs[run].batch;
    return OXP_OK;
  }
  oxp_difference difference = { 0 };
  OXP__TRY(oxp__verify_observe(verify, value, run, expected, actual, error));
  OXP__TRY(oxp__compare(expected, actual, verify->options.rtol, value->atol, value->channel_count, &difference, error));
  difference.compared += row->difference.compared; // in all runs
  difference.scale = fmax(difference.scale, row->difference.scale);
  if (row->batch == 0 || verify_is_worse(&difference, &row->difference)) {
    row->batch = verify->runs[run].batch;
    row->difference = difference;
  }
  row->difference.compared = difference.compared;
  row->difference.scale = difference.scale;
  return OXP_OK;
}

// The farthest place under the limits that hold in the end; the run is the one in which the value is farthest outside.
static oxp_status verify_compare_again(const oxp__verify *verify, oxp__verify_value *value, size_t run,
                                       const oxp_array *expected, const oxp_array *actual, oxp_error *error)
{
  oxp_difference *shown = &value->row->difference, difference = { 0 };
  size_t worst = 0;
  if (value->row->problem || !oxp__verify_exceeds(value, &worst) || worst != run)
    return OXP_OK;
  OXP__TRY(oxp__compare(expected, actual, verify->options.rtol, value->atol, value->channel_count, &difference, error));
  difference.compared = shown->compared;
  difference.scale = shown->scale;
  *shown = difference;
  value->row->batch = verify->runs[run].batch;
  return OXP_OK;
}

static bool verify_matches(const oxp_verify_row *rows, int count)
{
  for (int i = 0; i < count; i++)
    if (!rows[i].difference.match)
      return false;
  return true;
}

// --- Running ---

static oxp_status verify_run_sides(oxp__verify *verify, size_t run, const oxp_array *inputs, oxp__verify_look look,
                                   oxp_error *error)
{
  oxp_array *expected = NULL, *actual = NULL;
  OXP__TRY(oxp__verify_run_session(verify, verify->expected, inputs, &expected, error));
  oxp_status status = oxp__verify_run_session(verify, verify->actual, inputs, &actual, error);
  for (int i = 0; status == OXP_OK && i < verify->value_count; i++)
    if (verify_actual_at(verify, i) >= 0)
      status = look(verify, &verify->values[i], run, &expected[i], &actual[verify_actual_at(verify, i)], error);
  oxp__verify_free(expected, oxp_session_output_count(verify->expected), true);
  oxp__verify_free(actual, oxp_session_output_count(verify->actual), true);
  return status;
}

oxp_status oxp__verify_run_again(oxp__verify *verify, size_t run, oxp__verify_look look, oxp_error *error)
{
  oxp_array *inputs = calloc((size_t)verify->input_count + 1, sizeof *inputs);
  if (!inputs)
    return oxp__fail_memory(error, (size_t)verify->input_count * sizeof *inputs);
  oxp_status status = oxp__verify_inputs(verify, &verify->runs[run], inputs, error);
  if (status == OXP_OK)
    status = verify_run_sides(verify, run, inputs, look, error);
  oxp__verify_free(inputs, verify->input_count, true);
  return status;
}

// Must a run be looked at again? Where a value is farthest outside limits that were only known after the runs.
static bool verify_again(const oxp__verify *verify, size_t run)
{
  size_t worst = 0;
  for (int i = 0; !verify->options.limits_given && i < verify->value_count; i++)
    if (oxp__verify_exceeds(&verify->values[i], &worst) && worst == run)
      return true;
  return false;
}

static oxp_status verify_run_all(oxp__verify *verify, oxp_error *error)
{
  for (size_t run = 0; run < verify->run_count; run++)
    OXP__TRY(oxp__verify_run_again(verify, run, verify_compare, error));
  OXP__TRY(oxp__verify_limit(verify, error));
  for (size_t run = 0; run < verify->run_count; run++)
    if (verify_again(verify, run))
      OXP__TRY(oxp__verify_run_again(verify, run, verify_compare_again, error));
  return OXP_OK;
}

// Both sides opened and compared; `verify->layers` says whether layer by layer.
static oxp_status verify_compare_sides(oxp__verify *verify, oxp_error *error)
{
  OXP__TRY(verify_open(verify, error));
  if (verify->run_count == 0)
    OXP__TRY(oxp__verify_plan(verify, error));
  OXP__TRY(verify_make_rows(verify, error));
  OXP__TRY(verify_run_all(verify, error));
  verify->layered = verify->layers ? verify->values : NULL;
  return OXP_OK;
}

// Compares once more, with every layer handed out, for the rows of the layers. What was found about the outputs stays.
static oxp_status verify_compare_layers(oxp__verify *verify, oxp_error *error)
{
  oxp_verify_report *report = verify->report;
  oxp_verify_row *outputs = report->outputs;
  oxp__verify deep = *verify;
  oxp_error why = { 0 };
  if (verify->layers)
    return OXP_OK; // they are there
  deep.expected = deep.actual = NULL;
  deep.lowered = NULL;
  deep.layers = true;
  oxp_status status = verify_compare_sides(&deep, &why);
  if (status == OXP_OK && verify->given) { // who departs first is found out with it
    verify->given_layers = deep.actual;
    verify->given_at = deep.actual_at;
    deep.actual = NULL;
  }
  verify_close(&deep);
  report->outputs = outputs;
  verify->layered = deep.layered;
  if (status == OXP_OK)
    return OXP_OK;
  report->layer_count = 0;
  if (status == OXP_NO_MEMORY)
    return oxp__fail(error, status, "%s", why.message);
  oxp__verify_note(report, "The layers could not be compared: %s.", why.message);
  return OXP_OK;
}

// --- The verdict ---

// The first layer that departs from the trusted side; with `beyond_noise`, by more than rounding explains. -1: none.
static int verify_departing_layer(const oxp__verify *verify, bool beyond_noise)
{
  for (int i = 0; i < verify->report->layer_count; i++)
    if (!verify->report->layers[i].difference.match && (!beyond_noise || oxp__verify_beyond_noise(&verify->layered[i])))
      return i;
  return -1;
}

// An output of another element type, rank or shape, and where that begins.
static oxp_status verify_say_problem(oxp__verify *verify, const oxp_verify_row *output, oxp_error *error)
{
  oxp__text *finding = &verify->report->finding;
  int departure = verify->report->departure;
  char label[256];
  oxp__text_printf(finding, "The output \"%s\" is %s", output->name, output->problem);
  if (departure >= 0)
    oxp__text_printf(finding, "; the first layer that departs is %s",
                     oxp__layer_label(verify->network->layers[departure], label, sizeof label));
  oxp__text_add(finding, ".");
  return oxp__text_status(finding, error);
}

static oxp_status verify_differ(oxp__verify *verify, oxp_error *error)
{
  oxp_verify_report *report = verify->report;
  OXP__TRY(verify_compare_layers(verify, error));
  report->departure = verify_departing_layer(verify, false);
  OXP__TRY(oxp__verify_find_departure(verify, error));
  for (int i = 0; i < report->output_count; i++) {
    size_t run = 0;
    if (report->outputs[i].problem) {
      OXP__TRY(verify_say_problem(verify, &report->outputs[i], error));
      return OXP_DIFFERENT;
    }
    if (oxp__verify_exceeds(&verify->values[verify->layer_count + i], &run))
      verify->differing_run = run;
  }
  OXP__TRY(oxp__verify_find(verify, error));
  return OXP_DIFFERENT;
}

// An output that does not move: all its channels would have matched constants. NULL: there is none. One without a finite number
// comes first: it shows the least.
static const oxp_verify_row *verify_still_output(const oxp_verify_report *report)
{
  const oxp_verify_row *still = NULL;
  for (int i = 0; i < report->output_count; i++) {
    const oxp_verify_row *output = &report->outputs[i];
    if (output->channels == 0 || output->still < output->channels)
      continue;
    if (!still || (output->difference.compared == 0 && still->difference.compared > 0))
      still = output;
  }
  return still;
}

static bool verify_has_still_channels(const oxp_verify_report *report)
{
  for (int i = 0; i < report->output_count; i++)
    if (report->outputs[i].still > 0)
      return true;
  return false;
}

static void verify_note_still(oxp__verify *verify)
{
  const oxp_verify_report *report = verify->report;
  for (int i = 0; i < report->output_count; i++)
    if (report->outputs[i].still > 0 && report->outputs[i].still < report->outputs[i].channels)
      oxp__verify_note(
          verify->report, "%lld of the %lld channels of \"%s\" do not move on this input%s.",
          (long long)report->outputs[i].still, (long long)report->outputs[i].channels, report->outputs[i].name,
          report->layer_count > 0 ? ": every layer was compared as well" : ": nothing was shown about them");
}

// The output does not move. What a layer's weights do was not seen either (`role` is the first array of it), the layer could not be
// compared (no role), or no layer could (no layer), or nothing but NaN and infinity was compared, which many weights give.
static void verify_say_nothing_shown(oxp__verify *verify, const oxp_verify_row *output, const oxp__layer *layer,
                                     const char *role)
{
  oxp__text *finding = &verify->report->finding;
  char label[256];
  oxp__text_printf(finding, "\"%s\" %s on this input", output->name,
                   output->difference.compared > 0 ? "does not move" : "holds no finite number");
  if (layer && !role)
    oxp__text_printf(finding, ", and %s could not be compared", oxp__layer_label(layer, label, sizeof label));
  else if (!layer && verify->report->layer_count == 0)
    oxp__text_add(finding, ", and the layers of the model given could not be compared");
  if (role)
    oxp__text_printf(finding, ", and zeros in the place of the %s of %s would have matched as well.", role,
                     oxp__layer_label(layer, label, sizeof label));
  else
    oxp__text_add(finding, ": other weights would have matched as well.");
  oxp__text_printf(finding, " Give %s, or another --seed.",
                   verify->options.inputs ? "another --input" : "real data with --input");
}

// A layer that departs while all outputs match is worth a word: its digits got lost on the way.
static void verify_note_departure(oxp__verify *verify)
{
  int departing = verify_departing_layer(verify, false);
  char label[256], words[OXP__VERIFY_WORDS];
  if (departing < 0)
    return;
  const oxp_verify_row *row = &verify->report->layers[departing];
  oxp__layer_label(verify->network->layers[departing], label, sizeof label);
  if (row->problem)
    oxp__verify_note(verify->report, "All outputs match, although the value of %s is %s.", label, row->problem);
  else
    oxp__verify_note(verify->report, "All outputs match, although %s departs by %s.", label,
                     oxp__verify_words(row->difference.max_abs, row->difference.not_finite, words));
}

// All outputs match. Where they move, that is the verdict; else the layers decide.
static oxp_status verify_weigh_match(oxp__verify *verify, oxp_error *error)
{
  oxp_verify_report *report = verify->report;
  const oxp_verify_row *output = verify_still_output(report);
  char label[256];
  const oxp__layer *unexercised = NULL;
  const char *role = NULL;
  int departing = verify_departing_layer(verify, true);
  verify_note_still(verify);
  report->departure = verify_departing_layer(verify, false);
  if (departing >= 0 && verify_has_still_channels(report)) {
    report->departure = departing;
    OXP__TRY(oxp__verify_find_departure(verify, error));
    oxp__text_printf(&report->finding, "The outputs match, but do not move everywhere, and %s departs%s.",
                     oxp__layer_label(verify->network->layers[report->departure], label, sizeof label),
                     report->layers[report->departure].problem ? " in its type or shape" : "");
    return oxp__text_status(&report->finding, error) == OXP_OK ? OXP_DIFFERENT : OXP_NO_MEMORY;
  }
  if (output)
    OXP__TRY(oxp__verify_find_unexercised(verify, &unexercised, &role, error));
  if (output && (unexercised || report->layer_count == 0 || output->difference.compared == 0)) {
    verify_say_nothing_shown(verify, output, unexercised, role);
    return oxp__text_status(&report->finding, error) == OXP_OK ? OXP_NOTHING_SHOWN : OXP_NO_MEMORY;
  }
  verify_note_departure(verify);
  return OXP_OK;
}

static void verify_say(void *context, const char *sentence)
{
  oxp__verify_note(context, "%s", sentence);
}

static oxp_status verify_judge(oxp__verify *verify, oxp_error *error)
{
  if (!verify_matches(verify->report->outputs, verify->report->output_count))
    return verify_differ(verify, error);
  if (verify->options.layers || verify_has_still_channels(verify->report))
    OXP__TRY(verify_compare_layers(verify, error));
  return verify_weigh_match(verify, error);
}

static oxp_status verify_all(oxp__verify *verify, const oxp_verify_options *options, oxp_error *error)
{
  OXP__TRY(verify_set_options(verify, options, error));
  if (verify->given) // lowering warns of them, but nothing was lowered
    OXP__TRY(oxp__network_doubt(verify->network, verify_say, verify->report, error));
  OXP__TRY(verify_compare_sides(verify, error));
  oxp_status verdict = verify_judge(verify, error);
  bool look = verify->options.power || (verdict == OXP_OK && !verify_still_output(verify->report));
  if (look && oxp_status_exit_code(verdict) <= 1)
    OXP__TRY(oxp__verify_power(verify, error));
  if (oxp_status_exit_code(verdict) > 1 || !verify->options.expected)
    return verdict;
  return oxp__verify_expected(verify, verdict, error);
}

oxp_status oxp_verify(const oxp_network *network, const oxp_graph *graph, const oxp_verify_options *options,
                      oxp_verify_report **out, oxp_error *error)
{
  OXP__NEED(network, error);
  OXP__NEED(out, error);
  OXP__TRY(oxp__network_check_ready(network, error));
  oxp_verify_report *report = calloc(1, sizeof *report);
  if (!report)
    return oxp__fail_memory(error, sizeof *report);
  report->departure = -1;
  oxp__verify verify = { .network = network,
                         .given = graph,
                         .report = report,
                         .input_count = (int)network->input_count,
                         .output_count = (int)network->output_count };
  oxp_status status = verify_all(&verify, options, error);
  verify_close(&verify);
  oxp_session_free(verify.given_layers);
  if (oxp_status_exit_code(status) > 1) {
    oxp_verify_report_free(report);
    return status;
  }
  *out = report;
  return status;
}
