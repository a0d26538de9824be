// verb_run.c: `onnxport run`: one input through a network or model on one engine. Place: cli.
#include "cli/inputs.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/streams.h"
#include "core/scalar.h"
#include "formats/containers/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { SHOWN_VALUES = 6 };

static const oxp__option run_options[] = {
  { "engine", "ENGINE", "where to run; default: reference for networks, ort:cpu for ONNX models", 0 },
  { "output", "OUT",
    "write the output as .npy, - for standard output; once for each output, in their order. Default: a summary", 'o' },
};
static const oxp__option_group run_group = OXP__GROUP("Running", run_options);

typedef struct run_job {
  const oxp__arguments *arguments;
  const char *engine;
  oxp__subject subject;
  oxp__inputs inputs;
  oxp_session *session;
  oxp_array *outputs; // output_count of them
  int output_count;
  int descriptor;          // of standard output, when an output goes there
  oxp__output_guard guard; // of the files that the outputs go to: none that was read
} run_job;

// What is worth knowing about an array without printing it: of whole numbers exactly.
typedef struct run_summary {
  oxp__scalar minimum, maximum, mean; // of the finite values; NaN when there are none
  int64_t not_finite;
} run_summary;

static oxp__scalar array_value(const oxp_array *array, int64_t index)
{
  size_t size = oxp_dtype_bytes(array->dtype);
  return oxp__scalar_load(array->dtype, (const unsigned char *)array->data + (size_t)index * size);
}

static run_summary summarise(const oxp_array *array)
{
  int64_t count = oxp_array_count(array), finite = 0;
  run_summary summary = { .mean = { .real = NAN } };
  summary.minimum = summary.maximum = summary.mean;
  oxp__mean mean = { .count = (uint64_t)count };
  double sum = 0;
  for (int64_t i = 0; i < count; i++) {
    oxp__scalar value = array_value(array, i);
    if (!value.is_whole && !isfinite(value.real))
      continue;
    if (finite == 0 || oxp__scalar_less(&value, &summary.minimum))
      summary.minimum = value;
    if (finite++ == 0 || oxp__scalar_less(&summary.maximum, &value))
      summary.maximum = value;
    if (value.is_whole)
      oxp__mean_take(&mean, &value);
    sum += value.real;
  }
  summary.not_finite = count - finite;
  if (finite > 0)
    summary.mean = summary.minimum.is_whole ? oxp__mean_value(&mean) : (oxp__scalar){ .real = sum / (double)finite };
  return summary;
}

// --- Output ---

static void json_output(oxp__json *json, const run_job *job, int index)
{
  const oxp_array *array = &job->outputs[index];
  run_summary summary = summarise(array);
  oxp__json_object(json, NULL);
  oxp__json_text(json, "name", oxp_session_output_name(job->session, index));
  oxp__json_text(json, "dtype", oxp_dtype_name(array->dtype));
  oxp__subject_json_shape(json, &job->subject, array->rank, array->shape);
  oxp__json_text(json, "file", oxp__option_text_at(job->arguments, "output", index));
  oxp__json_scalar(json, "minimum", &summary.minimum);
  oxp__json_scalar(json, "maximum", &summary.maximum);
  oxp__json_scalar(json, "mean", &summary.mean);
  oxp__json_int(json, "not_finite", summary.not_finite);
  oxp__json_end(json, '}');
}

static oxp_status run_print_json(const run_job *job, oxp_error *error)
{
  oxp__json json = { .text = oxp__print_start(error) };
  oxp__json_object(&json, NULL);
  oxp__json_text(&json, "engine", job->engine);
  oxp__json_array(&json, "outputs");
  for (int i = 0; i < job->output_count; i++)
    json_output(&json, job, i);
  oxp__json_end(&json, ']');
  oxp__warnings_json(&json, job->subject.network, job->subject.graph);
  oxp__json_end(&json, '}');
  return oxp__json_print(&json, error);
}

static void add_output(oxp__text *text, const run_job *job, int index)
{
  const oxp_array *array = &job->outputs[index];
  const char *file = oxp__option_text_at(job->arguments, "output", index);
  run_summary summary = summarise(array);
  int64_t count = oxp_array_count(array);
  oxp__text_add_clean(text, oxp_session_output_name(job->session, index));
  oxp__text_printf(text, "  %s  ", oxp_dtype_name(array->dtype));
  oxp__text_add_shape(text, array->rank, array->shape);
  oxp__text_add(text, "  minimum ");
  oxp__scalar_add(text, &summary.minimum);
  oxp__text_add(text, ", maximum ");
  oxp__scalar_add(text, &summary.maximum);
  oxp__text_add(text, ", mean ");
  oxp__scalar_add(text, &summary.mean);
  if (summary.not_finite > 0)
    oxp__text_printf(text, ", %" PRId64 " not finite", summary.not_finite);
  if (file) {
    oxp__text_add(text, ", written to ");
    oxp__text_add_clean(text, file);
    oxp__text_add(text, "\n");
    return;
  }
  oxp__text_add(text, "\n  ");
  for (int64_t i = 0; i < count && i < SHOWN_VALUES; i++) {
    oxp__scalar value = array_value(array, i);
    oxp__scalar_add(text, &value);
    oxp__text_add(text, " ");
  }
  oxp__text_add(text, count > SHOWN_VALUES ? "...\n" : "\n");
}

static oxp_status run_print_text(const run_job *job, oxp_error *error)
{
  oxp__text text = oxp__print_start(error);
  for (int i = 0; i < job->output_count; i++)
    add_output(&text, job, i);
  return oxp__print_text(&text, error);
}

// --- The verb ---

static oxp_status run_check_outputs(const run_job *job, oxp_error *error)
{
  int given = 0;
  while (oxp__option_text_at(job->arguments, "output", given))
    given++;
  if (given > 0 && given != job->output_count)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "there are %d outputs and --output was given %d times", job->output_count,
                     given);
  for (int i = 0; i < given; i++) {
    const char *path = oxp__option_text_at(job->arguments, "output", i);
    if (!oxp__is_stream(path))
      OXP__TRY(oxp__output_check(path, &job->guard, error));
  }
  return OXP_OK;
}

// Before anything is done, so that nothing else gets into the array.
static oxp_status run_take_output(run_job *job, oxp_error *error)
{
  int streams = 0;
  const char *path = NULL;
  for (int i = 0; (path = oxp__option_text_at(job->arguments, "output", i)); i++)
    streams += oxp__is_stream(path);
  if (streams > 1)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "standard output takes one array, and - stands for several outputs");
  return streams == 1 ? oxp__stream_take_output(&job->descriptor, error) : OXP_OK;
}

static oxp_status run_write_output(run_job *job, const oxp_array *array, const char *path, oxp_error *error)
{
  if (!oxp__is_stream(path))
    return oxp__array_write(array, path, &job->guard, error);
  oxp_tensor tensor = oxp__tensor_from_array(array);
  return oxp__npy_write(&tensor, OXP_DTYPE_NONE, (oxp__sink){ .write = oxp__stream_write, .context = &job->descriptor },
                        error);
}

static oxp_status run_write_outputs(run_job *job, oxp_error *error)
{
  oxp_status status = OXP_OK;
  oxp__signals_catch();
  for (int i = 0; i < job->output_count && status == OXP_OK; i++) {
    const char *path = oxp__option_text_at(job->arguments, "output", i);
    if (path)
      status = run_write_output(job, &job->outputs[i], path, error);
  }
  oxp__signals_release();
  return status;
}

static oxp_status run_open(run_job *job, oxp_error *error)
{
  oxp_session_options options = { 0 };
  OXP__TRY(oxp__request_session(job->arguments, &options, error));
  OXP__TRY(oxp__subject_open(&job->subject, job->arguments, error));
  if (!job->engine)
    job->engine = job->subject.graph ? "ort:cpu" : "reference";
  OXP__TRY(oxp__request_engine(job->arguments, job->engine, error));
  OXP__TRY(oxp__inputs_read(&job->inputs, job->arguments, &job->subject, error));
  oxp__subject_add_sources(&job->subject, &job->inputs.sources);
  if (options.onnxruntime)
    oxp__sources_add_path(&job->inputs.sources, options.onnxruntime);
  job->guard = oxp__signals_guard(&job->inputs.sources);
  if (job->subject.graph)
    return oxp_session_open_graph(job->subject.graph, job->engine, &options, &job->session, error);
  return oxp_session_open(job->subject.network, job->engine, &options, &job->session, error);
}

static oxp_status run_do(run_job *job, oxp_error *error)
{
  if (!oxp__option_given(job->arguments, "input"))
    return oxp__fail(error, OXP_BAD_ARGUMENT, "run needs something to run on: --input FILE");
  OXP__TRY(run_take_output(job, error));
  OXP__TRY(run_open(job, error));
  job->output_count = oxp_session_output_count(job->session);
  OXP__TRY(run_check_outputs(job, error));
  job->outputs = calloc((size_t)job->output_count + 1, sizeof *job->outputs);
  if (!job->outputs)
    return oxp__fail_memory(error, (size_t)job->output_count * sizeof *job->outputs);
  OXP__TRY(oxp_session_run(job->session, job->inputs.arrays, job->outputs, error));
  OXP__TRY(run_write_outputs(job, error));
  oxp__warnings_print(job->subject.network, job->subject.graph);
  return oxp__option_given(job->arguments, "json") ? run_print_json(job, error) : run_print_text(job, error);
}

static oxp_status run_run(const oxp__arguments *arguments, oxp_error *error)
{
  run_job job = { .arguments = arguments, .engine = oxp__option_text(arguments, "engine"), .descriptor = -1 };
  oxp_status status = run_do(&job, error);
  for (int i = 0; job.outputs && i < job.output_count; i++)
    oxp_array_free(&job.outputs[i]);
  free(job.outputs);
  oxp__stream_close(job.descriptor);
  oxp_session_free(job.session);
  oxp__inputs_free(&job.inputs);
  oxp__subject_close(&job.subject);
  return status;
}

static const oxp__option_group *const run_groups[] = {
  &run_group, &oxp__inputs_group, &oxp__pictures_group, &oxp__source_group, &oxp__session_group, &oxp__output_group,
  NULL
};

const oxp__verb oxp__verb_run = {
  .name = "run",
  .usage = "SRC|MODEL.onnx --input IN.npy [--output OUT.npy] [--engine NAME]",
  .doc = "run a network or an ONNX model on an input",
  .examples = { { "onnxport run b_cnn.netcl --input b_cnn.x.npy --output y.npy", "an array in, an array out" },
                { "onnxport run detector.onnx --input photos/chelsea.png",
                  "a photo through a model that export wrote" } },
  .groups = run_groups,
  .min_operands = 1,
  .max_operands = 1,
  .run = run_run,
};
