// verb_export.c: `onnxport export`: a network becomes an ONNX file. Place: cli.
#include "cli/comparison.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/streams.h"
#include "cli/subject.h"
#include "core/output.h"
#include "onnx/graph.h"

#include <string.h>

static const oxp__option export_options[] = {
  { "output", "OUT",
    "the model to write, - for standard output; default: SRC with the suffix .onnx; an existing file is replaced",
    'o' },
  { "external-data", "auto|always|never",
    "weights in a data file beside the model; auto (the default): when the model is above 2 GiB", 0 },
  { "sync", "auto|always|never", "force data to the disk; auto (the default): when a file is replaced", 0 },
  { "verify", NULL, "compare network and model first, as onnxport verify does; write only when they match", 0 },
  { "quiet", NULL, "print no summary and no progress", 'q' },
};
static const oxp__option_group export_group = OXP__GROUP("Writing", export_options);

typedef struct export_job {
  const oxp__arguments *arguments;
  char *output;   // "-": standard output
  int descriptor; // of standard output, when that is the output
  oxp_write_options options;
  oxp_network *network;
  oxp_graph *graph;
  bool verify;                // was asked for
  oxp__comparison comparison; // then: what it found
  oxp_write_report written;
} export_job;

// SRC with its suffix replaced by .onnx; a leading dot or a folder's dot is no suffix. What comes out of a stream goes into one.
static char *export_default_output(oxp__arena *arena, const oxp__arguments *arguments)
{
  const char *source = oxp__operand(arguments, 0), *base = oxp__path_name(source), *dot = strrchr(base, '.');
  if (source != oxp__operand_path(arguments, 0))
    return oxp__arena_copy(arena, "-");
  size_t stem = dot && dot > base ? (size_t)(dot - source) : strlen(source);
  return oxp__arena_printf(arena, "%.*s.onnx", (int)stem, source);
}

// Options of a comparison that nobody asked for would be passed over in silence.
static oxp_status export_request_comparison(export_job *job, oxp_error *error)
{
  static const oxp__option_group *const groups[] = { &oxp__comparison_group, &oxp__inputs_group, &oxp__pictures_group,
                                                     &oxp__session_group };
  job->verify = oxp__option_given(job->arguments, "verify");
  job->comparison.arguments = job->arguments;
  if (job->verify)
    return oxp__comparison_request(&job->comparison, error);
  for (size_t i = 0; i < OXP__COUNT(groups); i++)
    OXP__TRY(oxp__options_idle(job->arguments, groups[i], "without --verify", error));
  return OXP_OK;
}

static oxp_status export_request(export_job *job, oxp_lower_options *lower, oxp_error *error)
{
  static const oxp_sync sync_values[] = { OXP_SYNC_AUTO, OXP_SYNC_ALWAYS, OXP_SYNC_NEVER };
  static const oxp_external_data external_values[] = { OXP_EXTERNAL_AUTO, OXP_EXTERNAL_ALWAYS, OXP_EXTERNAL_NEVER };
  int sync = 0, external = 0;
  OXP__TRY(oxp__option_choice(job->arguments, "sync", &sync, error));
  OXP__TRY(oxp__option_choice(job->arguments, "external-data", &external, error));
  job->options = (oxp_write_options){ .sync = sync_values[sync], .external_data = external_values[external] };
  OXP__TRY(export_request_comparison(job, error));
  return oxp__request_model(job->arguments, lower, error);
}

// Standard output is taken before anything else is done, so that not even an error's object gets into the model.
static oxp_status export_take_output(export_job *job, oxp_error *error)
{
  if (!oxp__is_stream(job->output))
    return OXP_OK;
  if (job->options.external_data == OXP_EXTERNAL_ALWAYS)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "--external-data: there is no place beside standard output");
  if (oxp__option_given(job->arguments, "sync"))
    return oxp__fail(error, OXP_BAD_ARGUMENT, "--sync has no effect on standard output");
  return oxp__stream_take_output(&job->descriptor, error);
}

static oxp_status export_stream(void *context, const void *bytes, size_t count, oxp_error *error)
{
  export_job *job = context;
  job->written.model_bytes += count;
  return oxp__stream_write(&job->descriptor, bytes, count, error);
}

static oxp_status export_write(export_job *job, oxp_error *error)
{
  if (oxp__is_stream(job->output))
    return oxp_graph_write_to(job->graph, export_stream, job, error);
  oxp__progress progress;
  bool silent = oxp__option_given(job->arguments, "quiet") || oxp__option_given(job->arguments, "json");
  oxp__progress_start(&progress, job->output, silent);
  job->options.progress = oxp__progress_step;
  job->options.progress_context = &progress;
  oxp__signals_catch();
  oxp_status status =
      oxp__graph_write(job->graph, job->output, &job->options, &job->comparison.inputs.sources, &job->written, error);
  oxp__signals_release();
  oxp__progress_end(&progress);
  return status;
}

static const char *export_profile(const export_job *job)
{
  const char *profile = oxp__option_text(job->arguments, "profile");
  return profile ? profile : "onnx";
}

static oxp_status export_print_json(const export_job *job, oxp_error *error)
{
  oxp__json json = { .text = oxp__print_start(error) };
  oxp__subject written = { .graph = job->graph };
  oxp__json_object(&json, NULL);
  oxp__json_text(&json, "output", job->comparison.verdict == OXP_OK ? job->output : NULL);
  oxp__json_text(&json, "profile", export_profile(job));
  oxp__json_int(&json, "opset", oxp_graph_opset(job->graph));
  oxp__json_int(&json, "ir_version", oxp_graph_ir_version(job->graph));
  oxp__subject_json(&json, &written);
  oxp__json_int(&json, "layers", oxp_network_layer_count(job->network));
  oxp__json_int(&json, "parameters", oxp_network_parameter_count(job->network));
  oxp__json_u64(&json, "bytes", job->written.model_bytes + job->written.data_bytes);
  if (job->written.data_file[0])
    oxp__json_text(&json, "data_file", job->written.data_file);
  if (job->verify) {
    oxp__json_object(&json, "verify");
    oxp__comparison_json(&json, &job->comparison);
    oxp__json_end(&json, '}');
  }
  oxp__warnings_json(&json, job->network, job->graph);
  oxp__json_end(&json, '}');
  return oxp__json_print(&json, error);
}

static void export_add_summary(oxp__text *text, const export_job *job)
{
  oxp__grid grid;
  oxp__subject written = { .graph = job->graph };
  int layers = oxp_network_layer_count(job->network);
  oxp__text_add_colour(text, OXP__BOLD, oxp__is_stream(job->output) ? "standard output" : job->output);
  oxp__text_add(text, " from ");
  oxp__text_add_clean(text, oxp__operand(job->arguments, 0));
  oxp__text_printf(text, " (%s)\n", oxp_network_format(job->network));
  oxp__grid_init(&grid, "llll");
  oxp__subject_grid(&grid, &written);
  oxp__grid_end(&grid, 2, text);
  oxp__text_printf(text, "  %d %s, ", layers, layers == 1 ? "layer" : "layers");
  oxp__text_add_count(text, oxp_network_parameter_count(job->network));
  oxp__text_add(text, " parameters, ");
  oxp__text_add_size(text, job->written.model_bytes + job->written.data_bytes);
  oxp__text_printf(text, ", opset %d, IR version %d, profile %s\n", oxp_graph_opset(job->graph),
                   oxp_graph_ir_version(job->graph), export_profile(job));
  if (job->written.data_file[0]) {
    oxp__text_add(text, "  weights in ");
    oxp__text_add_clean(text, job->written.data_file);
    oxp__text_add(text, " beside it; the two belong together\n");
  }
}

static oxp_status export_print_text(const export_job *job, oxp_error *error)
{
  oxp__text text = oxp__print_start(error);
  if (job->verify)
    oxp__comparison_text(&text, &job->comparison);
  oxp__text_add(&text, job->verify ? "\n" : "");
  if (job->comparison.verdict == OXP_OK)
    export_add_summary(&text, job);
  else
    oxp__text_add_clean(&text, job->output);
  oxp__text_add(&text, job->comparison.verdict == OXP_OK ? "" : " was not written.\n");
  return oxp__print_text(&text, error);
}

// A verdict is shown also to who wants no summary, unless it is the right one.
static oxp_status export_report(const export_job *job, oxp_error *error)
{
  bool quiet = oxp__option_given(job->arguments, "quiet") && job->comparison.verdict == OXP_OK;
  oxp__warnings_print(job->network, job->graph);
  if (oxp__option_given(job->arguments, "json"))
    return export_print_json(job, error);
  return quiet ? OXP_OK : export_print_text(job, error);
}

// Runs what is going to be written. Only a model that matches is: whatever stands under the target's name stays otherwise.
static oxp_status export_compare(export_job *job, oxp_error *error)
{
  job->comparison.network = job->network;
  return job->verify ? oxp__comparison_run(&job->comparison, error) : OXP_OK;
}

// Asked before the work; writing asks again, and of what the comparison has read.
static oxp_status export_check_target(const export_job *job, oxp_error *error)
{
  oxp__sources sources = { 0 };
  if (oxp__is_stream(job->output))
    return OXP_OK;
  oxp__network_add_sources(job->network, &sources);
  oxp_status status = oxp__output_check(job->output, &(oxp__output_guard){ .sources = &sources }, error);
  oxp__sources_fini(&sources);
  return status;
}

static oxp_status export_do(export_job *job, oxp_error *error)
{
  oxp_lower_options lower = { 0 };
  OXP__TRY(export_request(job, &lower, error));
  OXP__TRY(export_take_output(job, error));
  OXP__TRY(oxp__subject_open_network(&job->network, job->arguments, "onnxport inspect looks into it", error));
  OXP__TRY(export_check_target(job, error));
  OXP__TRY(oxp_graph_lower(job->network, &lower, &job->graph, error));
  OXP__TRY(export_compare(job, error));
  if (job->comparison.verdict == OXP_OK)
    OXP__TRY(export_write(job, error));
  OXP__TRY(export_report(job, error));
  return job->comparison.verdict;
}

static oxp_status export_run(const oxp__arguments *arguments, oxp_error *error)
{
  oxp__arena arena = { 0 };
  export_job job = { .arguments = arguments, .descriptor = -1 };
  const char *output = oxp__option_text(arguments, "output");
  job.output = output ? oxp__arena_copy(&arena, output) : export_default_output(&arena, arguments);
  oxp_status status = job.output ? export_do(&job, error) : oxp__fail_memory(error, 0);
  oxp__stream_close(job.descriptor);
  oxp__comparison_fini(&job.comparison);
  oxp_graph_free(job.graph);
  oxp_network_free(job.network);
  oxp__arena_fini(&arena);
  return status;
}

static const oxp__option_group *const export_groups[] = {
  &export_group,          &oxp__source_group, &oxp__model_group,
  &oxp__comparison_group, &oxp__inputs_group, &oxp__pictures_group,
  &oxp__session_group,    &oxp__output_group, NULL
};

const oxp__verb oxp__verb_export = {
  .name = "export",
  .usage = "SRC [-o OUT.onnx] [options]",
  .doc = "turn a trained network into an ONNX file",
  .details =
      "The file is a literal, unfused translation: weights are copied, never computed with. A network that cannot be "
      "translated exactly is refused, with all offending layers named, and nothing is written.\n\n"
      "With --verify nothing is written, and an older file stays, unless network and model match: the exit status is "
      "that of onnxport verify then.\n\n"
      "`onnxport SRC` alone does the same. What comes from a pipe goes to standard output unless -o says otherwise; "
      "the summary "
      "goes to standard error then.",
  .examples = { { "onnxport export h_det26.netcl -o detector.onnx", "a detector whose pictures may have any size" },
                { "onnxport export b_cnn.netcl --verify --input b_cnn.x.npy --quiet",
                  "writes b_cnn.onnx, once it has given what the network gives" } },
  .groups = export_groups,
  .min_operands = 1,
  .max_operands = 1,
  .run = export_run,
};
