// ort.c: runs ONNX graphs on ONNX Runtime, which is loaded while the program runs (ort_library.c). Knows no layers. The
// runtime prints nothing, its errors are passed on in its own words, and nothing here falls back to another provider.
// Place: engines (one folder per engine).
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/temporary.h"
#include "engines/engine.h"
#include "engines/ort/ort_api.h"
#include "onnx/external.h"

// Models above this size are handed over as a file: the runtime and the format have their limits at 2 GiB.
#define ORT_MEMORY_MODEL_BYTES UINT64_C(1500000000)

typedef struct ort_state {
  oxp__ort_library *library;
  const oxp__ort_api *api;
  oxp__ort_env *env;
  oxp__ort_session *session;
  oxp__ort_memory *memory;
  oxp__ort_allocator *allocator; // the runtime's own; not released
  const char **input_names, **output_names;
} ort_state;

static oxp_status ort_probe(const oxp_session_options *options, oxp__text *found, oxp_error *error)
{
  oxp__arena arena = { 0 };
  oxp__ort_library *library = NULL;
  oxp_status status = oxp__ort_library_open(&arena, options, &library, error);
  if (status == OXP_OK)
    oxp__text_printf(found, "ONNX Runtime %s, %s", library->version, library->path);
  oxp__arena_fini(&arena);
  return status == OXP_OK ? oxp__text_status(found, error) : status;
}

// Passes a call's status on: OXP_ENGINE_FAILED with the runtime's words after ours.
static oxp_status ort_call(const ort_state *state, oxp__ort_status *status, const char *what, oxp_error *error)
{
  if (!status)
    return OXP_OK;
  oxp__text words = { 0 };
  oxp__ort_words(state->api, status, &words);
  oxp_status result = oxp__fail(error, OXP_ENGINE_FAILED, "ONNX Runtime %s %s: %s", state->library->version, what,
                                oxp__text_string(&words));
  oxp__text_fini(&words);
  return result;
}

static void ort_close(void *closed)
{
  ort_state *state = closed;
  if (state->session)
    state->api->release_session(state->session);
  if (state->memory)
    state->api->release_memory(state->memory);
  if (state->env)
    state->api->release_env(state->env);
}

// --- The model, in memory or in a file ---

typedef struct ort_bytes {
  unsigned char *at;
  size_t count, capacity;
} ort_bytes;

static oxp_status ort_collect(void *context, const void *bytes, size_t count, oxp_error *error)
{
  ort_bytes *into = context;
  if (count > into->capacity - into->count)
    return oxp__fail(error, OXP_ENGINE_FAILED, "the model is larger than was announced (%zu bytes)", into->capacity);
  if (count > 0)
    memcpy(into->at + into->count, bytes, count);
  into->count += count;
  return OXP_OK;
}

static oxp_status ort_load_memory(ort_state *state, const oxp_graph *graph, uint64_t byte_count,
                                  const oxp__ort_options *options, oxp_error *error)
{
  ort_bytes model = { .at = malloc(byte_count ? (size_t)byte_count : 1), .capacity = (size_t)byte_count };
  if (!model.at)
    return oxp__fail_memory(error, model.capacity);
  oxp_status status = oxp_graph_write_to(graph, ort_collect, &model, error);
  if (status == OXP_OK)
    status =
        ort_call(state, state->api->create_session_from(state->env, model.at, model.count, options, &state->session),
                 "refuses the model", error);
  free(model.at);
  return status;
}

static oxp_status ort_load_file(ort_state *state, const char *path, const oxp__ort_options *options, oxp_error *error)
{
  return ort_call(state, state->api->create_session(state->env, path, options, &state->session), "refuses the model",
                  error);
}

static void ort_remove(const char *folder, const char *name)
{
  oxp__text path = { 0 };
  oxp__text_printf(&path, "%s/%s", folder, name);
  if (name[0] && !path.failed)
    unlink(path.bytes);
  oxp__text_fini(&path);
}

// Writes the model (with a data file beside it when it is large) and has the runtime read it.
static oxp_status ort_load_from(ort_state *state, const oxp_graph *graph, const char *folder,
                                const oxp__ort_options *options, oxp_error *error)
{
  oxp__text path = { 0 };
  oxp_write_report report = { 0 };
  oxp__text_printf(&path, "%s/model.onnx", folder);
  oxp_status status = oxp__text_status(&path, error);
  if (status == OXP_OK)
    status = oxp_graph_write(graph, path.bytes, &(oxp_write_options){ .sync = OXP_SYNC_NEVER }, &report, error);
  if (status == OXP_OK)
    status = ort_load_file(state, path.bytes, options, error);
  ort_remove(folder, "model.onnx");
  ort_remove(folder, report.data_file);
  oxp__text_fini(&path);
  return status;
}

// Through a file in a folder of our own, which is gone afterwards.
static oxp_status ort_load_temporary(ort_state *state, const oxp_graph *graph, const oxp__ort_options *options,
                                     oxp_error *error)
{
  char *folder = NULL;
  OXP__TRY(oxp__temporary_folder(&folder, error));
  oxp_status status = ort_load_from(state, graph, folder, options, error);
  rmdir(folder);
  free(folder);
  return status;
}

// A copy in memory of a model that lies in a file: its data files are beside that one.
static oxp_status ort_set_data_folder(const ort_state *state, const char *path, oxp__ort_options *options,
                                      oxp_error *error)
{
  const char *name = oxp__path_name(path);
  oxp__text folder = { 0 };
  oxp__text_printf(&folder, "%.*s", (int)(name - path), path);
  oxp_status status = oxp__text_status(&folder, error);
  if (status == OXP_OK)
    status = ort_call(state,
                      state->api->add_config_entry(options, "session.model_external_initializers_file_folder_path",
                                                   folder.length ? folder.bytes : "."),
                      "refuses a folder", error);
  oxp__text_fini(&folder);
  return status;
}

// A graph that was read from a file is run as that file, so that what is tested is what lies there; unless it is a view with more
// outputs.
static oxp_status ort_load(ort_state *state, const oxp_graph *graph, oxp__ort_options *options, oxp_error *error)
{
  const char *path = oxp__graph_path(graph);
  if (path && graph->exposed_count == 0)
    return ort_load_file(state, path, options, error);
  if (path)
    OXP__TRY(ort_set_data_folder(state, path, options, error));
  // The weights are nearly all of it; above 2 GiB the whole has no size at all.
  if (oxp__external_bytes(graph) > ORT_MEMORY_MODEL_BYTES)
    return ort_load_temporary(state, graph, options, error);
  uint64_t byte_count = 0;
  OXP__TRY(oxp__model_size(graph, &byte_count, error));
  return ort_load_memory(state, graph, byte_count, options, error);
}

static oxp_status ort_set_options(const ort_state *state, const oxp_session_options *from, oxp__ort_options *to,
                                  oxp_error *error)
{
  const oxp__ort_api *api = state->api;
  // Waiting threads that spin take the processor from the ones that work when the machine is busy.
  OXP__TRY(
      ort_call(state, api->add_config_entry(to, "session.intra_op.allow_spinning", "0"), "refuses an option", error));
  if (from->optimization_off)
    OXP__TRY(ort_call(state, api->set_optimization_level(to, 0), "cannot switch its optimiser off", error));
  if (from->threads > 0)
    OXP__TRY(ort_call(state, api->set_intra_op_threads(to, from->threads), "refuses the number of threads", error));
  return OXP_OK;
}

static oxp_status ort_start(ort_state *state, const oxp_session_options *from, const oxp_graph *graph, oxp_error *error)
{
  const oxp__ort_api *api = state->api;
  OXP__TRY(ort_call(state, api->create_env(4, "onnxport", &state->env), "does not start", error));
  OXP__TRY(ort_call(state, api->create_cpu_memory(1, 0, &state->memory), "does not start", error));
  OXP__TRY(ort_call(state, api->get_allocator(&state->allocator), "does not start", error));
  oxp__ort_options *options = NULL;
  OXP__TRY(ort_call(state, api->create_options(&options), "does not start", error));
  oxp_status status = ort_set_options(state, from, options, error);
  if (status == OXP_OK)
    status = ort_load(state, graph, options, error);
  api->release_options(options);
  return status;
}

// --- What the model declares ---

static oxp_status ort_read_shape(const ort_state *state, const oxp__ort_tensor *tensor, oxp__port *port,
                                 oxp_error *error)
{
  const oxp__ort_api *api = state->api;
  int element_type = 0;
  size_t rank = 0;
  OXP__TRY(ort_call(state, api->get_element_type(tensor, &element_type), "cannot tell a type", error));
  OXP__TRY(ort_call(state, api->get_rank(tensor, &rank), "cannot tell a shape", error));
  if (rank > OXP_MAX_RANK)
    return oxp__fail(error, OXP_UNSUPPORTED, "\"%s\" has %zu axes, at most %d can be handled", port->name, rank,
                     OXP_MAX_RANK);
  port->dtype = (oxp_dtype)element_type;
  port->rank = (int)rank;
  OXP__TRY(ort_call(state, api->get_dims(tensor, port->shape, rank), "cannot tell a shape", error));
  for (size_t i = 0; i < rank; i++)
    if (port->shape[i] < 0)
      port->shape[i] = OXP_DIM_UNKNOWN;
  if (oxp_dtype_bytes(port->dtype) == 0)
    return oxp__fail(error, OXP_UNSUPPORTED, "\"%s\" has elements of type %s, which cannot be handed over", port->name,
                     oxp_dtype_name(port->dtype));
  return OXP_OK;
}

static oxp_status ort_read_type(const ort_state *state, const oxp__ort_type *type, oxp__port *port, oxp_error *error)
{
  const oxp__ort_tensor *tensor = NULL;
  OXP__TRY(ort_call(state, state->api->cast_to_tensor(type, &tensor), "cannot tell a type", error));
  if (!tensor)
    return oxp__fail(error, OXP_UNSUPPORTED, "\"%s\" is not a tensor but a sequence, a map or an optional value",
                     port->name);
  return ort_read_shape(state, tensor, port, error);
}

static oxp_status ort_read_port(oxp_session *session, bool is_input, size_t index, oxp__port *port, oxp_error *error)
{
  const ort_state *state = session->state;
  const oxp__ort_api *api = state->api;
  char *name = NULL;
  OXP__TRY(ort_call(state,
                    is_input ? api->get_input_name(state->session, index, state->allocator, &name)
                             : api->get_output_name(state->session, index, state->allocator, &name),
                    "cannot tell a name", error));
  port->name = oxp__arena_copy(&session->arena, name);
  OXP__TRY(ort_call(state, api->free_memory(state->allocator, name), "cannot free memory", error));
  if (!port->name)
    return oxp__fail_memory(error, 1);
  oxp__ort_type *type = NULL;
  OXP__TRY(ort_call(state,
                    is_input ? api->get_input_type(state->session, index, &type)
                             : api->get_output_type(state->session, index, &type),
                    "cannot tell a type", error));
  oxp_status status = ort_read_type(state, type, port, error);
  api->release_type(type);
  return status;
}

static oxp_status ort_read_ports(oxp_session *session, bool is_input, oxp__port **ports, int *port_count,
                                 const char ***names, oxp_error *error)
{
  const ort_state *state = session->state;
  size_t count = 0;
  OXP__TRY(ort_call(state,
                    is_input ? state->api->get_input_count(state->session, &count)
                             : state->api->get_output_count(state->session, &count),
                    "cannot tell its inputs and outputs", error));
  *ports = oxp__arena_new(&session->arena, count, sizeof **ports);
  *names = oxp__arena_new(&session->arena, count, sizeof **names);
  if (!*ports || !*names)
    return oxp__fail_memory(error, count * sizeof **ports);
  for (size_t i = 0; i < count; i++) {
    OXP__TRY(ort_read_port(session, is_input, i, &(*ports)[i], error));
    (*names)[i] = (*ports)[i].name;
  }
  *port_count = (int)count;
  return OXP_OK;
}

// The runtime only says that a dimension is open, and says nothing of a shape that is not declared; the graph knows which open
// dimensions are the same.
static void ort_name_symbols(oxp_session *session, const oxp_graph *graph)
{
  for (int i = 0; i < session->input_count; i++) {
    oxp_value_info info;
    oxp__port *port = &session->inputs[i];
    bool known = oxp_graph_input_info(graph, i, &info) && info.name && strcmp(info.name, port->name) == 0;
    if (known && info.rank < 0)
      port->rank = -1;
    for (int axis = 0; known && info.rank == port->rank && axis < port->rank; axis++)
      if (port->shape[axis] < 0 && info.shape[axis] < 0)
        port->shape[axis] = info.shape[axis];
  }
}

static oxp_status ort_open_graph(oxp_session *session, const oxp_graph *graph, oxp_error *error)
{
  ort_state *state = session->state = oxp__arena_new(&session->arena, 1, sizeof *state);
  if (!state)
    return oxp__fail_memory(error, sizeof *state);
  OXP__TRY(oxp__ort_library_open(&session->arena, &session->options, &state->library, error));
  state->api = &state->library->api;
  OXP__TRY(oxp__arena_defer(&session->arena, ort_close, state, error));
  OXP__TRY(ort_start(state, &session->options, graph, error));
  OXP__TRY(ort_read_ports(session, true, &session->inputs, &session->input_count, &state->input_names, error));
  ort_name_symbols(session, graph);
  return ort_read_ports(session, false, &session->outputs, &session->output_count, &state->output_names, error);
}

// --- Running ---

// The values of one run: inputs over the caller's memory, outputs in the runtime's.
typedef struct ort_run {
  oxp__ort_value **inputs, **outputs;
} ort_run;

static oxp_status ort_wrap(const ort_state *state, const oxp_array *array, oxp__ort_value **value, oxp_error *error)
{
  static const double nothing = 0; // an address for arrays without elements; never read or written
  void *data = array->data ? array->data : (void *)&nothing;
  return ort_call(state,
                  state->api->create_tensor(state->memory, data, oxp_array_bytes(array), array->shape,
                                            (size_t)array->rank, (int)array->dtype, value),
                  "refuses an input", error);
}

static oxp_status ort_unwrap(const ort_state *state, const char *name, oxp__ort_value *value, oxp_array *array,
                             oxp_error *error)
{
  oxp__ort_tensor *tensor = NULL;
  oxp__port port = { .name = name };
  OXP__TRY(ort_call(state, state->api->get_tensor(value, &tensor), "cannot tell a shape", error));
  oxp_status status = ort_read_shape(state, tensor, &port, error);
  state->api->release_tensor(tensor);
  void *data = NULL;
  if (status == OXP_OK)
    status = ort_call(state, state->api->get_data(value, &data), "does not hand a result out", error);
  if (status == OXP_OK)
    status = oxp_array_new(array, port.dtype, port.rank, port.shape, error);
  if (status == OXP_OK && oxp_array_bytes(array) > 0)
    memcpy(array->data, data, oxp_array_bytes(array));
  return status;
}

static oxp_status ort_run_values(oxp_session *session, const ort_run *run, const oxp_array *inputs, oxp_array *outputs,
                                 oxp_error *error)
{
  const ort_state *state = session->state;
  for (int i = 0; i < session->input_count; i++)
    OXP__TRY(ort_wrap(state, &inputs[i], &run->inputs[i], error));
  OXP__TRY(ort_call(state,
                    state->api->run(state->session, NULL, state->input_names,
                                    (const oxp__ort_value *const *)run->inputs, (size_t)session->input_count,
                                    state->output_names, (size_t)session->output_count, run->outputs),
                    "failed while it ran", error));
  for (int i = 0; i < session->output_count; i++)
    OXP__TRY(ort_unwrap(state, session->outputs[i].name, run->outputs[i], &outputs[i], error));
  return OXP_OK;
}

static void ort_release_values(const ort_state *state, oxp__ort_value **values, int count)
{
  for (int i = 0; values && i < count; i++)
    if (values[i])
      state->api->release_value(values[i]);
  free(values);
}

static oxp_status ort_session_run(oxp_session *session, const oxp_array *inputs, oxp_array *outputs, oxp_error *error)
{
  size_t input_count = (size_t)session->input_count, output_count = (size_t)session->output_count;
  ort_run run = { .inputs = calloc(input_count + 1, sizeof *run.inputs),
                  .outputs = calloc(output_count + 1, sizeof *run.outputs) };
  oxp_status status = run.inputs && run.outputs
                          ? ort_run_values(session, &run, inputs, outputs, error)
                          : oxp__fail_memory(error, (input_count + output_count) * sizeof(void *));
  ort_release_values(session->state, run.inputs, session->input_count);
  ort_release_values(session->state, run.outputs, session->output_count);
  return status;
}

const oxp__engine oxp__engine_ort = {
  .name = "ort",
  .title = "ONNX Runtime",
  .doc = "ONNX Runtime, loaded while the program runs; runs the exported graph itself",
  .devices = "cpu",
  .probe = ort_probe,
  .open_graph = ort_open_graph,
  .run = ort_session_run,
};
