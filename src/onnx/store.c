// store.c: models from and to files and functions: what surrounds reading and writing. Place: onnx.
#include "core/copy.h"
#include "onnx/graph.h"

// --- Opening ---

static oxp_status store_read(oxp_graph *graph, const char *path, oxp_error *error)
{
  oxp__file *file;
  OXP__TRY(oxp__file_open(&graph->arena, path, &file, error));
  oxp_status status = oxp__model_read(graph, oxp__file_read, file, file->size_bytes, error);
  return status == OXP_OK ? OXP_OK : oxp__at_file(error, status, path);
}

oxp_status oxp_graph_open(const char *path, oxp_graph **out, oxp_error *error)
{
  oxp_graph *graph = oxp__graph_new();
  if (!graph)
    return oxp__fail_memory(error, sizeof *graph);
  oxp_status status = store_read(graph, path, error);
  if (status == OXP_OK)
    *out = graph;
  else
    oxp_graph_free(graph);
  return status;
}

// --- Writing ---

// A file that is being written, and what is copied into it at the end.
typedef struct store_target {
  oxp__output output;
  const oxp_write_options *options;
  uint64_t done, total; // bytes
  oxp__copy_job *jobs;
  size_t job_count, job_capacity;
  oxp__arena arena; // of the jobs
} store_target;

static oxp_status store_report(store_target *target, oxp_error *error)
{
  const oxp_write_options *options = target->options;
  if (options->progress && !options->progress(options->progress_context, target->done, target->total))
    return oxp__fail(error, OXP_CANCELLED, "stopped on request after %llu of %llu bytes; nothing was written",
                     (unsigned long long)target->done, (unsigned long long)target->total);
  return OXP_OK;
}

static oxp_status store_write_chunk(void *context, const void *bytes, size_t count, oxp_error *error)
{
  store_target *target = context;
  OXP__TRY(oxp__output_write(&target->output, bytes, count, error));
  target->done += count;
  return store_report(target, error);
}

static oxp_status store_defer(void *context, const oxp_tensor *tensor, oxp__tensor_stats *stats, oxp_error *error)
{
  store_target *target = context;
  oxp__copy_job *jobs =
      oxp__arena_grow(&target->arena, target->jobs, target->job_count, &target->job_capacity, sizeof *jobs);
  if (!jobs)
    return oxp__fail_memory(error, target->job_count * sizeof *jobs);
  target->jobs = jobs;
  oxp__copy_job *job = &jobs[target->job_count++];
  *job = (oxp__copy_job){ .tensor = tensor, .stats = stats };
  return oxp__output_skip(&target->output, oxp__tensor_bytes(tensor, OXP_DTYPE_NONE), &job->target_offset, error);
}

static bool store_copy_progress(void *context, uint64_t done_bytes)
{
  const store_target *target = context;
  const oxp_write_options *options = target->options;
  return !options->progress || options->progress(options->progress_context, target->done + done_bytes, target->total);
}

static oxp_status store_settle(void *context, oxp_error *error)
{
  store_target *target = context;
  OXP__TRY(oxp__copy_run(target->jobs, target->job_count, target->output.descriptor, target->output.target_path,
                         store_copy_progress, target, error));
  for (size_t i = 0; i < target->job_count; i++)
    target->done += oxp__tensor_bytes(target->jobs[i].tensor, OXP_DTYPE_NONE);
  return OXP_OK;
}

static oxp_status store_write(store_target *target, const oxp_graph *graph, const char *path, oxp_error *error)
{
  OXP__TRY(oxp__model_size(graph, &target->total, error));
  OXP__TRY(oxp__output_open(&target->output, path, error));
  oxp__sink sink = { .write = store_write_chunk, .context = target, .defer = store_defer, .settle = store_settle };
  OXP__TRY(oxp__model_write(graph, sink, error));
  return oxp__output_commit(&target->output, target->options->sync, error);
}

oxp_status oxp_graph_write(const oxp_graph *graph, const char *path, const oxp_write_options *options,
                           uint64_t *written_bytes, oxp_error *error)
{
  oxp_write_options defaults = { 0 };
  store_target target = { .options = options ? options : &defaults };
  oxp_status status = store_write(&target, graph, path, error);
  oxp__output_abort(&target.output);
  oxp__arena_fini(&target.arena);
  if (status != OXP_OK)
    return oxp__at_file(error, status, path);
  if (written_bytes)
    *written_bytes = target.done;
  return OXP_OK;
}

oxp_status oxp_graph_write_to(const oxp_graph *graph, oxp_write_function write, void *context, oxp_error *error)
{
  return oxp__model_write(graph, (oxp__sink){ .write = write, .context = context }, error);
}
