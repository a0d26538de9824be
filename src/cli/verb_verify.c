// verb_verify.c: `onnxport verify`: runs a network on two engines and compares. The exit status is the verdict. Place: cli.
#include "cli/comparison.h"
#include "cli/fresh_export.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const oxp__option verify_options[] = {
  { "engine", "ENGINE", "the side that is trusted; default: reference", 0 },
  { "against", "ENGINE", "the side that is tested; default: ort:cpu", 0 },
  { "seed", "N", "seed of the random input; default: 1", 0 },
  { "rtol", "X", "allowed relative difference; default: 0.001", 0 },
  { "atol", "X", "allowed absolute difference; default: 0.0001, or less where an output is smaller than that shows",
    0 },
  { "layers", NULL, "compare every layer, and name the first that departs", 0 },
  { "power", NULL, "find the smallest error in each layer's weights that would have been noticed; compares layers too",
    0 },
  { "expected", "FILE",
    "what the training tool itself computed from --input, as .npy; compared with both sides; once for each output", 0 },
};
const oxp__option_group oxp__comparison_group = OXP__GROUP("Comparing", verify_options);

typedef oxp__comparison verify_job;

oxp_status oxp__comparison_request(verify_job *job, oxp_error *error)
{
  const oxp__arguments *arguments = job->arguments;
  oxp_verify_options *options = &job->options;
  options->engine = oxp__option_text(arguments, "engine");
  options->against = oxp__option_text(arguments, "against");
  options->layers = oxp__option_given(arguments, "layers");
  options->power = oxp__option_given(arguments, "power");
  options->seed = 1;
  options->rtol = 1e-3;
  options->atol = 1e-4;
  OXP__TRY(oxp__option_u64(arguments, "seed", &options->seed, error));
  OXP__TRY(oxp__option_float(arguments, "rtol", &options->rtol, error));
  OXP__TRY(oxp__option_float(arguments, "atol", &options->atol, error));
  if (options->rtol < 0 || options->atol < 0)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "--rtol and --atol cannot be negative");
  options->limits_given = oxp__option_given(arguments, "atol");
  OXP__TRY(oxp__request_model(arguments, &options->lower, error));
  options->batch = options->lower.batch;
  if (oxp__option_given(arguments, "expected") && !oxp__option_given(arguments, "input"))
    return oxp__fail(error, OXP_BAD_ARGUMENT, "--expected needs --input: what the expected output was computed from");
  return oxp__request_session(arguments, &options->session, error);
}

// The words for an overall verdict and for that of a row.
static const char *verify_verdict(oxp_status status)
{
  return status == OXP_OK ? "match" : status == OXP_DIFFERENT ? "differ" : "nothing shown";
}

static const char *verify_row_verdict(const oxp_verify_row *row)
{
  if (row->batch == 0)
    return "not compared";
  return row->difference.match ? "match" : "differ";
}

// The first layer that departs; NULL when there is none.
static const oxp_verify_row *first_departure(const oxp_verify_report *report)
{
  return oxp_verify_layer(report, oxp_verify_departure(report));
}

// --- JSON ---

// null where there is nothing to say.
static void json_number_if(oxp__json *json, const char *key, bool said, double value)
{
  if (said)
    oxp__json_number(json, key, value);
  else
    oxp__json_text(json, key, NULL);
}

static void json_row(oxp__json *json, const oxp_verify_row *row)
{
  const oxp_difference *difference = &row->difference;
  oxp__json_object(json, NULL);
  oxp__json_text(json, "name", row->name);
  oxp__json_text(json, "kind", row->kind);
  oxp__json_int(json, "batch", row->batch);
  oxp__json_text(json, "problem", row->problem);
  json_number_if(json, "max_abs", !row->problem, difference->max_abs);
  json_number_if(json, "max_rel", !row->problem && !isnan(difference->max_rel), difference->max_rel);
  oxp__json_number(json, "scale", difference->scale);
  oxp__json_array(json, "at");
  for (int i = 0; i < difference->rank; i++)
    oxp__json_int(json, NULL, difference->index[i]);
  oxp__json_end(json, ']');
  json_number_if(json, "expected", !row->problem, difference->expected);
  json_number_if(json, "actual", !row->problem, difference->actual);
  oxp__json_int(json, "mismatches", difference->mismatches);
  oxp__json_int(json, "not_finite", difference->not_finite);
  oxp__json_number(json, "rtol", row->rtol);
  oxp__json_number(json, "atol_min", row->atol_min);
  oxp__json_number(json, "atol_max", row->atol_max);
  oxp__json_int(json, "channels", row->channels);
  oxp__json_int(json, "tightened", row->tightened);
  oxp__json_int(json, "still", row->still);
  json_number_if(json, "power", row->power_weight && isfinite(row->power), row->power);
  oxp__json_text(json, "power_weight", row->power_weight);
  oxp__json_text(json, "verdict", verify_row_verdict(row));
  oxp__json_end(json, '}');
}

static void json_input(oxp__json *json, const oxp_verify_input *input)
{
  oxp__json_object(json, "input");
  oxp__json_text(json, "values", input->given ? "given" : "random");
  oxp__json_number(json, "scale", input->scale);
  oxp__json_text(json, "statistics", input->statistics);
  oxp__json_end(json, '}');
}

void oxp__comparison_json(oxp__json *json, const verify_job *job)
{
  const oxp_verify_report *report = job->report;
  const oxp_verify_row *departure = first_departure(report);
  oxp__json_text(json, "verdict", verify_verdict(job->verdict));
  oxp__json_u64(json, "seed", job->options.seed);
  oxp__json_text(json, "engine", job->options.engine ? job->options.engine : "reference");
  oxp__json_text(json, "against", job->options.against ? job->options.against : "ort:cpu");
  oxp__json_number(json, "rtol", job->options.rtol);
  oxp__json_number(json, "atol", job->options.atol);
  json_input(json, oxp_verify_report_input(report));
  oxp__json_array(json, "outputs");
  for (int i = 0; i < oxp_verify_output_count(report); i++)
    json_row(json, oxp_verify_output(report, i));
  oxp__json_end(json, ']');
  oxp__json_array(json, "expected");
  for (int i = 0; i < oxp_verify_expected_count(report); i++)
    json_row(json, oxp_verify_expected(report, i));
  oxp__json_end(json, ']');
  oxp__json_array(json, "layers");
  for (int i = 0; i < oxp_verify_layer_count(report); i++)
    json_row(json, oxp_verify_layer(report, i));
  oxp__json_end(json, ']');
  oxp__json_text(json, "fresh_export", job->fresh);
  oxp__json_text(json, "first_departure", departure ? departure->name : NULL);
  oxp__json_text(json, "finding", oxp_verify_finding(report));
  oxp__json_array(json, "notes");
  for (int i = 0; i < oxp_verify_note_count(report); i++)
    oxp__json_text(json, NULL, oxp_verify_note(report, i));
  oxp__json_end(json, ']');
}

// --- Text ---

// `kind` is NULL where rows have none; `power` where nobody measured it.
static void grid_headings(oxp__grid *grid, const char *name, const char *kind, const char *power)
{
  static const char *const headings[] = { "largest abs", "at", "expected", "actual", "relative", "batch", "verdict" };
  oxp__grid_add(grid, name);
  if (kind)
    oxp__grid_add(grid, kind);
  if (power)
    oxp__grid_add(grid, power);
  for (size_t i = 0; i < OXP__COUNT(headings); i++)
    oxp__grid_add(grid, headings[i]);
}

// The numbers of a row; dashes where the two sides cannot be compared.
static void grid_numbers(oxp__grid *grid, const oxp_verify_row *row)
{
  const oxp_difference *difference = &row->difference;
  oxp__text place = { 0 };
  bool dashes = row->problem || row->batch == 0;
  for (int i = 0; dashes && i < 5; i++)
    oxp__grid_add(grid, "-");
  if (dashes)
    return;
  oxp__text_add_shape(&place, difference->rank, difference->index);
  oxp__grid_addf(grid, "%.2e", difference->max_abs);
  oxp__grid_take(grid, &place);
  oxp__grid_addf(grid, "%.7g", isnan(difference->expected) ? (double)NAN : difference->expected); // never "-nan"
  oxp__grid_addf(grid, "%.7g", isnan(difference->actual) ? (double)NAN : difference->actual);
  if (isnan(difference->max_rel))
    oxp__grid_add(grid, "-");
  else
    oxp__grid_addf(grid, "%.2e", difference->max_rel);
}

// The smallest error in a layer's weights that would have been noticed.
static void grid_power(oxp__grid *grid, const oxp_verify_row *row)
{
  if (!row->power_weight)
    oxp__grid_add(grid, "");
  else if (isfinite(row->power))
    oxp__grid_addf(grid, "%.2g %% of %s", 100 * row->power, row->power_weight);
  else
    oxp__grid_addf(grid, "never: %s", row->power_weight);
}

static void grid_row(oxp__grid *grid, const oxp_verify_row *row, bool layers, bool power)
{
  const oxp_difference *difference = &row->difference;
  oxp__text verdict = { 0 };
  oxp__text_add(&verdict, verify_row_verdict(row));
  if (row->problem)
    oxp__text_printf(&verdict, ": %s", row->problem);
  if (difference->match && row->still > 0 && row->still == row->channels)
    oxp__text_add(&verdict, ", does not move");
  if (difference->mismatches > 0)
    oxp__text_printf(&verdict, " in %" PRId64 " places", difference->mismatches);
  if (difference->not_finite > 0)
    oxp__text_printf(&verdict, ", NaN or infinity in %" PRId64, difference->not_finite);
  oxp__grid_add(grid, row->name);
  if (layers)
    oxp__grid_add(grid, row->kind);
  if (power)
    grid_power(grid, row);
  grid_numbers(grid, row);
  oxp__grid_addf(grid, "%" PRId64, row->batch);
  oxp__grid_take(grid, &verdict);
  oxp__grid_colour(grid, difference->match ? OXP__GREEN : OXP__RED);
}

static void add_rows(oxp__text *text, const oxp_verify_report *report, bool layers)
{
  int count = layers ? oxp_verify_layer_count(report) : oxp_verify_output_count(report);
  bool power = false;
  for (int i = 0; layers && i < count; i++)
    power |= oxp_verify_layer(report, i)->power_weight != NULL;
  oxp__grid grid;
  oxp__grid_init(&grid, power ? "lllrlrrrrl" : layers ? "llrlrrrrl" : "lrlrrrrl");
  grid_headings(&grid, layers ? "layer" : "output", layers ? "kind" : NULL, power ? "noticed from" : NULL);
  for (int i = 0; i < count; i++)
    grid_row(&grid, layers ? oxp_verify_layer(report, i) : oxp_verify_output(report, i), layers, power);
  oxp__grid_end(&grid, 2, text);
}

static void add_departure(oxp__text *text, const oxp_verify_report *report)
{
  const oxp_verify_row *departure = first_departure(report);
  if (!departure) {
    oxp__text_add(text, "No layer departs.\n\n");
    return;
  }
  oxp__text_add(text, "The first layer that departs is ");
  oxp__text_add_clean(text, departure->name);
  oxp__text_printf(text, " (%s).\n\n", departure->kind);
}

// Both sides against what was expected, as a table of its own.
static void add_expected(oxp__text *text, const oxp_verify_report *report)
{
  oxp__grid grid;
  if (oxp_verify_expected_count(report) == 0)
    return;
  oxp__text_add(text, "\n");
  oxp__grid_init(&grid, "llrlrrrrl");
  grid_headings(&grid, "expected of", "computed by", NULL);
  for (int i = 0; i < oxp_verify_expected_count(report); i++)
    grid_row(&grid, oxp_verify_expected(report, i), true, false);
  oxp__grid_end(&grid, 2, text);
}

void oxp__comparison_text(oxp__text *text, const verify_job *job)
{
  const oxp_verify_report *report = job->report;
  const oxp_verify_options *options = &job->options;
  const char *model = oxp__operand(job->arguments, 1);
  oxp__text_add_colour(text, OXP__BOLD, oxp__operand(job->arguments, 0));
  oxp__text_printf(text, " on %s against ", options->engine ? options->engine : "reference");
  oxp__text_add_clean(text, model ? model : "its export");
  oxp__text_printf(text, " on %s\n", options->against ? options->against : "ort:cpu");
  oxp__text_printf(text, "  seed %" PRIu64 "%s, rtol %g, atol %g\n", options->seed,
                   options->inputs ? " (not used: the input was given)" : "", options->rtol, options->atol);
  for (int i = 0; i < oxp_verify_note_count(report); i++) {
    oxp__text_add(text, "  ");
    oxp__text_add_clean(text, oxp_verify_note(report, i));
    oxp__text_add(text, "\n");
  }
  if (job->fresh) {
    oxp__text_add(text, "  ");
    oxp__text_add_clean(text, model);
    oxp__text_printf(text, " is byte for byte what export writes (profile %s).\n", job->fresh);
  }
  oxp__text_add(text, "\n");
  // Layers that were only looked at to find the first one that departs are not worth a table.
  if (options->layers || options->power || (job->verdict != OXP_DIFFERENT && oxp_verify_layer_count(report) > 0)) {
    add_rows(text, report, true);
    oxp__text_add(text, "\n");
  }
  if (oxp_verify_layer_count(report) > 0)
    add_departure(text, report);
  add_rows(text, report, false);
  add_expected(text, report);
  oxp__text_add(text, "\n");
  oxp__text_add_colour(text, job->verdict == OXP_OK ? OXP__GREEN : OXP__RED, verify_verdict(job->verdict));
  oxp__text_add(text, *oxp_verify_finding(report) ? ": " : "");
  oxp__text_add_clean(text, oxp_verify_finding(report));
  oxp__text_add(text, "\n");
}

// --- The verb ---

oxp_status oxp__comparison_run(verify_job *job, oxp_error *error)
{
  oxp__subject subject = { .network = job->network };
  OXP__TRY(oxp__inputs_read(&job->inputs, job->arguments, &subject, error));
  OXP__TRY(oxp__expected_read(&job->expected, job->arguments, &subject, error));
  oxp__sources_add_all(&job->inputs.sources, &job->expected.sources);
  if (job->options.session.onnxruntime)
    oxp__sources_add_path(&job->inputs.sources, job->options.session.onnxruntime);
  job->options.inputs = job->inputs.arrays;
  job->options.expected = job->expected.arrays;
  job->verdict = oxp_verify(job->network, job->model, &job->options, &job->report, error);
  return oxp_status_exit_code(job->verdict) > 1 ? job->verdict : OXP_OK;
}

void oxp__comparison_fini(verify_job *job)
{
  oxp_verify_report_free(job->report);
  oxp__inputs_free(&job->inputs);
  oxp__inputs_free(&job->expected);
}

static oxp_status verify_print(const verify_job *job, oxp_error *error)
{
  oxp__warnings_print(job->network, job->model);
  if (!oxp__option_given(job->arguments, "json")) {
    oxp__text text = oxp__print_start(error);
    oxp__comparison_text(&text, job);
    return oxp__print_text(&text, error);
  }
  oxp__json json = { .text = oxp__print_start(error) };
  oxp__json_object(&json, NULL);
  oxp__comparison_json(&json, job);
  oxp__warnings_json(&json, job->network, job->model);
  oxp__json_end(&json, '}');
  return oxp__json_print(&json, error);
}

static oxp_status verify_do(verify_job *job, oxp_error *error)
{
  const char *model = oxp__operand_path(job->arguments, 1);
  OXP__TRY(oxp__comparison_request(job, error));
  OXP__TRY(oxp__subject_open_network(&job->network, job->arguments,
                                     "give the network it came from first: verify SRC MODEL.onnx", error));
  if (model)
    OXP__TRY(oxp_graph_open(model, &job->model, error));
  job->fresh = model ? oxp__fresh_export_profile(job->network, job->model, &job->options.lower) : NULL;
  OXP__TRY(oxp__comparison_run(job, error));
  OXP__TRY(verify_print(job, error));
  return job->verdict;
}

static oxp_status verify_run(const oxp__arguments *arguments, oxp_error *error)
{
  verify_job job = { .arguments = arguments };
  oxp_status status = verify_do(&job, error);
  oxp__comparison_fini(&job);
  oxp_graph_free(job.model);
  oxp_network_free(job.network);
  return status;
}

static const oxp__option_group *const verify_groups[] = { &oxp__comparison_group, &oxp__inputs_group,
                                                          &oxp__pictures_group,   &oxp__source_group,
                                                          &oxp__model_group,      &oxp__session_group,
                                                          &oxp__output_group,     NULL };

const oxp__verb oxp__verb_verify = {
  .name = "verify",
  .usage = "SRC [MODEL.onnx] [options]",
  .doc = "run a network and its ONNX model on the same input and compare",
  .details =
      "Without MODEL.onnx the network is exported in memory, as `onnxport export` would with the same options. Two "
      "values "
      "match when their difference is at most atol + rtol * |expected|; NaN matches only NaN and infinity only the "
      "same "
      "infinity. Where atol is more than 1 % of what a channel of an output holds, it is tightened to a thousandth of "
      "that, unless --atol was given. Without --input the input is random and the batches are 1, 2 and 7 where the "
      "batch is dynamic.\n\n"
      "The exit status is the verdict: 0 match, 1 differ or nothing shown (the outputs do not move on this input, so "
      "that "
      "a wrong model would have matched). When the sides differ, the finding says who is wrong: the "
      "file, "
      "the runtime's optimiser or the runtime's kernel.",
  .examples = { { "onnxport verify h_det26.netcl detector.onnx --input photos",
                  "a model that export wrote, on photos" },
                { "onnxport verify h_det26.netcl --layers", "layer by layer, on random input" } },
  .groups = verify_groups,
  .min_operands = 1,
  .max_operands = 2,
  .run = verify_run,
};
