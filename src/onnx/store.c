// store.c: models from and to files and functions: what surrounds reading and writing. Place: onnx.
#include <stdio.h>
#include <string.h>

#include "core/resemble.h"
#include "onnx/external.h"

// --- Opening ---

static oxp_status store_read(oxp_graph *graph, const char *path, oxp_error *error)
{
  oxp__file *file;
  OXP__TRY(oxp__file_open(&graph->arena, path, &file, error));
  oxp_status status = oxp__model_read(graph, oxp__file_read, file, file->size_bytes, error);
  status = oxp__blame_resembling(file, "an ONNX model", status, error);
  return status == OXP_OK ? OXP_OK : oxp__at_file(error, status, path);
}

oxp_status oxp_graph_open(const char *path, oxp_graph **out, oxp_error *error)
{
  OXP__NEED(path, error);
  OXP__NEED(out, error);
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

enum { STORE_WAIT_MS = 5000 };

// Removes data files of earlier models, all but `keep`, under the folder's lock (-1: nobody could have it; then they stay, because
// another process may be about to refer to one). A graph that was read may refer to any of them.
static void store_clean(const oxp_graph *graph, const char *model_path, const char *keep, int lock,
                        const oxp__sources *sources)
{
  if (lock >= 0 && !graph->read)
    oxp__external_clean(model_path, keep, sources);
}

// Where the model goes: committing closes the target and forgets it. NULL when memory is out.
static const char *store_path(oxp__target *model)
{
  return oxp__arena_copy(&model->arena, model->output.target_path);
}

static oxp_status store_write_whole(const oxp_graph *graph, const oxp__measure *measure, oxp__target *model,
                                    oxp_error *error)
{
  const char *path = store_path(model);
  if (!path)
    return oxp__fail_memory(error, strlen(model->output.target_path));
  OXP__TRY(oxp__model_write(graph, measure, oxp__target_sink(model), error));
  int lock;
  if (oxp__output_try_lock_folder(&model->output, STORE_WAIT_MS, &lock) == OXP__LOCK_CANCELLED)
    return oxp__fail_cancelled(error);
  oxp_status status = oxp__output_commit(&model->output, model->written->options->sync, error);
  if (status == OXP_OK)
    store_clean(graph, path, NULL, lock, model->written->sources);
  oxp__folder_unlock(lock);
  return status;
}

// The model that refers to the data, and both names: first the data's, then the model's.
static oxp_status store_commit_both(const oxp_graph *graph, oxp__target *model, oxp__target *data, oxp__arena *arena,
                                    oxp__external *external, oxp_write_report *report, oxp_error *error)
{
  oxp_graph view;
  const char *model_name = oxp__path_name(model->output.target_path);
  OXP__TRY(oxp__external_view(graph, data, model_name, arena, external, &view, error));
  OXP__TRY(oxp__model_size(&view, &report->model_bytes, error));
  model->written->total_bytes += report->model_bytes;
  OXP__TRY(oxp__model_write(&view, NULL, oxp__target_sink(model), error));
  report->data_bytes = data->output.written_bytes;
  snprintf(report->data_file, sizeof report->data_file, "%s", external->name);
  oxp__output *const both[] = { &data->output, &model->output };
  return oxp__outputs_commit(both, 2, false, model->written->options->sync, error);
}

// Names, replaces and removes under one lock: two exports to one model do not meet or remove each other's data.
static oxp_status store_write_both(const oxp_graph *graph, oxp__target *model, oxp__target *data, oxp__arena *arena,
                                   oxp_write_report *report, oxp_error *error)
{
  oxp__external external = { 0 };
  const char *path = store_path(model);
  if (!path)
    return oxp__fail_memory(error, strlen(model->output.target_path));
  OXP__TRY(oxp__external_write(graph, data, arena, &external, error));
  int lock;
  OXP__TRY(oxp__output_lock_folder(&model->output, &lock, error));
  oxp_status status = store_commit_both(graph, model, data, arena, &external, report, error);
  if (status == OXP_OK)
    store_clean(graph, path, external.name, lock, model->written->sources);
  oxp__folder_unlock(lock);
  return status;
}

static oxp_status store_write_external(const oxp_graph *graph, oxp__target *model, oxp_write_report *report,
                                       oxp_error *error)
{
  oxp__target data = { 0 };
  oxp__arena arena = { 0 };
  OXP__TRY(oxp__external_check_name(model->output.target_path, error));
  model->written->total_bytes = oxp__external_bytes(graph);
  // The data's name is known when all of it was written; until then it lies beside the model under a temporary one.
  oxp_status status = oxp__target_open(&data, model->output.target_path, model->written, error);
  if (status == OXP_OK)
    status = store_write_both(graph, model, &data, &arena, report, error);
  oxp__target_fini(&data);
  oxp__arena_fini(&arena);
  return status;
}

// Whether the weights go to a file of their own.
static oxp_status store_choose(const oxp_graph *graph, oxp_external_data wanted, oxp__measure *measure, bool *external,
                               oxp_error *error)
{
  *external = wanted == OXP_EXTERNAL_ALWAYS && oxp__external_bytes(graph) > 0;
  if (*external)
    return OXP_OK;
  oxp_error why = { 0 }; // what succeeds in the end leaves the caller's error alone
  oxp_status status = oxp__model_measure(graph, measure, &why);
  *external = status == OXP_UNSUPPORTED && wanted == OXP_EXTERNAL_AUTO && oxp__external_bytes(graph) > 0;
  if (status == OXP_OK || *external)
    return OXP_OK;
  if (error)
    *error = why;
  return status;
}

static oxp_status store_write(const oxp_graph *graph, const char *path, oxp__written *written, oxp_write_report *report,
                              oxp_error *error)
{
  oxp__target model = { 0 };
  oxp__measure measure = { 0 };
  bool external;
  oxp_status status = store_choose(graph, written->options->external_data, &measure, &external, error);
  written->total_bytes = report->model_bytes = measure.bytes;
  if (status == OXP_OK)
    status = oxp__target_open(&model, path, written, error);
  if (status == OXP_OK)
    status = external ? store_write_external(graph, &model, report, error)
                      : store_write_whole(graph, &measure, &model, error);
  oxp__target_fini(&model);
  oxp__measure_fini(&measure);
  return status == OXP_OK ? OXP_OK : oxp__at_file(error, status, path);
}

oxp_status oxp__graph_write(const oxp_graph *graph, const char *path, const oxp_write_options *options,
                            const oxp__sources *others, oxp_write_report *report, oxp_error *error)
{
  OXP__NEED(graph, error);
  OXP__NEED(path, error);
  if (options && ((unsigned)options->sync > OXP_SYNC_NEVER || (unsigned)options->external_data > OXP_EXTERNAL_ALWAYS))
    return oxp__fail(error, OXP_BAD_ARGUMENT, "there is no way %d to sync, or no way %d to place the weights",
                     (int)options->sync, (int)options->external_data);
  const oxp_write_options defaults = { 0 };
  oxp_write_report unwanted = { 0 };
  oxp__sources sources = { 0 };
  report = report ? report : &unwanted;
  *report = (oxp_write_report){ 0 };
  oxp__graph_add_sources(graph, &sources);
  oxp__sources_add_all(&sources, others);
  oxp__written written = { .options = options ? options : &defaults, .sources = &sources };
  oxp_status status = store_write(graph, path, &written, report, error);
  oxp__sources_fini(&sources);
  return status;
}

oxp_status oxp_graph_write(const oxp_graph *graph, const char *path, const oxp_write_options *options,
                           oxp_write_report *report, oxp_error *error)
{
  return oxp__graph_write(graph, path, options, NULL, report, error);
}

typedef struct store_receiver {
  oxp_write_function write;
  void *context;
} store_receiver;

static oxp_status store_hand_over(void *context, const void *bytes, size_t count, oxp_error *error)
{
  const store_receiver *receiver = context;
  oxp_error own;
  oxp__error_clear(&own);
  oxp_status status = receiver->write(receiver->context, bytes, count, &own);
  return oxp__take_failure(status, &own, "the function that takes the model's bytes", error);
}

oxp_status oxp_graph_write_to(const oxp_graph *graph, oxp_write_function write, void *context, oxp_error *error)
{
  OXP__NEED(graph, error);
  OXP__NEED(write, error);
  store_receiver receiver = { write, context };
  return oxp__model_write(graph, NULL, (oxp__sink){ .write = store_hand_over, .context = &receiver }, error);
}
