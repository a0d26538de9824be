// store.c: models from and to files and functions: what surrounds reading and writing. Place: onnx.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/external.h"

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

enum { STORE_WAIT_MS = 5000, STORE_WAIT_DATA_MS = 60000 };

// Gives the files their names, first the data (NULL: there is none), then the model that refers to it; then data files of
// earlier models go, under one lock, so that two exports to one model do not remove each other's data. A model without data can do
// without the lock: then the data files stay.
static oxp_status store_commit_at(oxp__target *model, oxp__target *data, const char *model_path, const char *data_file,
                                  oxp_error *error)
{
  oxp__output *both[] = { data ? &data->output : &model->output, &model->output };
  int descriptor;
  oxp__lock lock = oxp__folder_lock(model_path, data ? STORE_WAIT_DATA_MS : STORE_WAIT_MS, &descriptor);
  if (lock == OXP__LOCK_BUSY && data)
    return oxp__fail(error, OXP_IO,
                     "cannot replace the model with its data: somebody has kept the folder locked for %d s",
                     STORE_WAIT_DATA_MS / 1000);
  oxp_status status = oxp__outputs_commit(both, data ? 2 : 1, false, model->written->options->sync, error);
  if (status == OXP_OK && lock != OXP__LOCK_BUSY)
    oxp__external_clean(model_path, data_file);
  oxp__folder_unlock(descriptor);
  return status;
}

static oxp_status store_commit(oxp__target *model, oxp__target *data, const char *data_file, oxp_error *error)
{
  char *model_path = strdup(model->output.target_path); // committing closes the targets and forgets their paths
  if (!model_path)
    return oxp__fail_memory(error, strlen(model->output.target_path));
  oxp_status status = store_commit_at(model, data, model_path, data_file, error);
  free(model_path);
  return status;
}

static oxp_status store_write_whole(const oxp_graph *graph, const oxp__measure *measure, oxp__target *model,
                                    oxp_error *error)
{
  OXP__TRY(oxp__model_write(graph, measure, oxp__target_sink(model), error));
  return store_commit(model, NULL, NULL, error);
}

static oxp_status store_write_both(const oxp_graph *graph, oxp__target *model, oxp__target *data, oxp__arena *arena,
                                   oxp_write_report *report, oxp_error *error)
{
  oxp_graph view;
  const char *name = oxp__path_name(model->output.target_path);
  OXP__TRY(oxp__external_write(graph, data, name, arena, &view, error));
  OXP__TRY(oxp__model_size(&view, &report->model_bytes, error));
  OXP__TRY(oxp__model_write(&view, NULL, oxp__target_sink(model), error));
  report->data_bytes = data->output.written_bytes;
  snprintf(report->data_file, sizeof report->data_file, "%s", oxp__external_name(data));
  return store_commit(model, data, report->data_file, error);
}

static oxp_status store_write_external(const oxp_graph *graph, oxp__target *model, oxp_write_report *report,
                                       oxp_error *error)
{
  oxp__target data = { 0 };
  oxp__arena arena = { 0 };
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

oxp_status oxp_graph_write(const oxp_graph *graph, const char *path, const oxp_write_options *options,
                           oxp_write_report *report, oxp_error *error)
{
  oxp_write_options defaults = { 0 };
  oxp__written written = { .options = options ? options : &defaults };
  oxp_write_report unwanted = { 0 };
  report = report ? report : &unwanted;
  *report = (oxp_write_report){ 0 };
  oxp__target model = { 0 };
  oxp__measure measure = { 0 };
  bool external;
  oxp_status status = store_choose(graph, written.options->external_data, &measure, &external, error);
  written.total_bytes = report->model_bytes = measure.bytes;
  if (status == OXP_OK)
    status = oxp__target_open(&model, path, &written, error);
  if (status == OXP_OK)
    status = external ? store_write_external(graph, &model, report, error)
                      : store_write_whole(graph, &measure, &model, error);
  oxp__target_fini(&model);
  oxp__measure_fini(&measure);
  return status == OXP_OK ? OXP_OK : oxp__at_file(error, status, path);
}

oxp_status oxp_graph_write_to(const oxp_graph *graph, oxp_write_function write, void *context, oxp_error *error)
{
  return oxp__model_write(graph, NULL, (oxp__sink){ .write = write, .context = context }, error);
}
