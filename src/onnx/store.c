// store.c: models from and to files and functions: what surrounds reading and writing. Place: onnx.
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

typedef struct store_progress {
  oxp__output output;
  const oxp_write_options *options;
  uint64_t done, total;
} store_progress;

static oxp_status store_write_chunk(void *context, const void *bytes, size_t count, oxp_error *error)
{
  store_progress *progress = context;
  OXP__TRY(oxp__output_write(&progress->output, bytes, count, error));
  progress->done += count;
  const oxp_write_options *options = progress->options;
  if (options->progress && !options->progress(options->progress_context, progress->done, progress->total))
    return oxp__fail(error, OXP_CANCELLED, "stopped on request after %llu of %llu bytes; nothing was written",
                     (unsigned long long)progress->done, (unsigned long long)progress->total);
  return OXP_OK;
}

oxp_status oxp_graph_write(const oxp_graph *graph, const char *path, const oxp_write_options *options,
                           uint64_t *written_bytes, oxp_error *error)
{
  oxp_write_options defaults = { 0 };
  store_progress progress = { .options = options ? options : &defaults };
  oxp_status status = oxp__model_size(graph, &progress.total, error);
  if (status == OXP_OK)
    status = oxp__output_open(&progress.output, path, error);
  if (status == OXP_OK)
    status = oxp__model_write(graph, (oxp__sink){ store_write_chunk, &progress }, error);
  if (status == OXP_OK)
    status = oxp__output_commit(&progress.output, progress.options->sync, error);
  oxp__output_abort(&progress.output);
  if (status != OXP_OK)
    return oxp__at_file(error, status, path);
  if (written_bytes)
    *written_bytes = progress.done;
  return OXP_OK;
}

oxp_status oxp_graph_write_to(const oxp_graph *graph, oxp_write_function write, void *context, oxp_error *error)
{
  return oxp__model_write(graph, (oxp__sink){ write, context }, error);
}
