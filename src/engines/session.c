// session.c: the public session functions: finds the engine, prepares it, checks inputs against what was declared, and
// hands out what was asked for. Knows no engine by name. Place: engines.
#include <stdlib.h>
#include <string.h>

#include "engines/engine.h"
#include "onnx/expose.h"
#include "onnx/external.h"

// --- Finding an engine ---

static void session_list_engines(oxp__text *text)
{
  for (size_t i = 0; i < oxp__engine_count; i++) {
    const oxp__engine *engine = oxp__engines[i];
    const char *device = engine->devices;
    do {
      size_t length = strcspn(device, " ");
      oxp__text_printf(text, "%s%s%s%.*s", text->length ? ", " : "", engine->name, length ? ":" : "", (int)length,
                       device);
      device += length + strspn(device + length, " ");
    } while (*device);
  }
}

static oxp_status session_fail_unknown(const char *name, oxp_error *error)
{
  oxp__text known = { 0 };
  session_list_engines(&known);
  oxp_status status =
      oxp__fail(error, OXP_BAD_ARGUMENT, "there is no engine \"%s\": there are %s", name, oxp__text_string(&known));
  oxp__text_fini(&known);
  return status;
}

// Is `device` (of that length) one of the engine's words? The first one when the length is 0. Copies the word.
static bool session_pick_device(oxp__arena *arena, const oxp__engine *engine, const char *device, const char **out)
{
  size_t wanted = strlen(device);
  const char *word = engine->devices;
  do {
    size_t length = strcspn(word, " ");
    if (wanted == 0 || (length == wanted && memcmp(word, device, wanted) == 0)) {
      *out = oxp__arena_copy_bytes(arena, word, length);
      return true;
    }
    word += length + strspn(word + length, " ");
  } while (*word);
  return false;
}

const oxp__engine *oxp__engine_find(oxp__arena *arena, const char *name, const char **device, oxp_error *error)
{
  size_t length = name ? strcspn(name, ":") : 0;
  for (size_t i = 0; i < oxp__engine_count; i++) {
    const oxp__engine *engine = oxp__engines[i];
    bool named = length > 0 && strlen(engine->name) == length && memcmp(engine->name, name, length) == 0;
    bool has_device = named && name[length] == ':' && name[length + 1];
    if (named && (has_device || name[length] == '\0') &&
        session_pick_device(arena, engine, has_device ? name + length + 1 : "", device))
      return engine;
  }
  session_fail_unknown(name ? name : "", error);
  return NULL;
}

// --- Opening ---

void oxp_session_free(oxp_session *session)
{
  if (!session)
    return;
  oxp__arena_fini(&session->arena);
  free(session);
}

static oxp_status session_set_options(oxp_session *session, const oxp_session_options *options, oxp_error *error)
{
  if (!options)
    return OXP_OK;
  session->options = *options;
  if (options->threads < 0)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the number of threads must not be negative, it is %d", options->threads);
  if (options->onnxruntime && !(session->options.onnxruntime = oxp__arena_copy(&session->arena, options->onnxruntime)))
    return oxp__fail_memory(error, strlen(options->onnxruntime));
  return OXP_OK;
}

// An empty session on an engine; the caller frees it, also after a failure.
static oxp_status session_new(const char *name, const oxp_session_options *options, oxp_session **out, oxp_error *error)
{
  oxp_session *session = *out = calloc(1, sizeof *session);
  if (!session)
    return oxp__fail_memory(error, sizeof *session);
  session->engine = oxp__engine_find(&session->arena, name, &session->device, error);
  if (!session->engine)
    return OXP_BAD_ARGUMENT;
  if (!session->device)
    return oxp__fail_memory(error, strlen(name));
  return session_set_options(session, options, error);
}

static int session_find_port(const oxp__port *ports, int count, const char *name)
{
  for (int i = 0; i < count; i++)
    if (strcmp(ports[i].name, name) == 0)
      return i;
  return -1;
}

// Where the value called `name` comes from: made by the engine, or one of the inputs handed on.
static oxp_status session_route(const oxp_session *session, const char *name, oxp__route *route, oxp_error *error)
{
  route->name = name;
  route->index = session_find_port(session->outputs, session->output_count, name);
  route->from_input = route->index < 0;
  if (route->from_input)
    route->index = session_find_port(session->inputs, session->input_count, name);
  if (route->index < 0)
    return oxp__fail(error, OXP_BAD_ARGUMENT,
                     "the value \"%s\" cannot be handed out: the graph does not have it as an output", name);
  return OXP_OK;
}

// The engine made the graph's outputs, each once; handed out are all layers in their order and then the network's outputs.
static oxp_status session_expose(oxp_session *session, const oxp_graph *graph, oxp_error *error)
{
  size_t own_count = (size_t)session->output_count - graph->exposed_count;
  size_t count = graph->layer_values.count + own_count;
  session->routes = oxp__arena_new(&session->arena, count, sizeof *session->routes);
  if (!session->routes)
    return oxp__fail_memory(error, count * sizeof *session->routes);
  for (size_t i = 0; i < count; i++) {
    bool is_layer = i < graph->layer_values.count;
    const char *name = is_layer ? graph->layer_values.at[i] : session->outputs[i - graph->layer_values.count].name;
    char *copy = oxp__arena_copy(&session->arena, name);
    if (!copy)
      return oxp__fail_memory(error, strlen(name));
    OXP__TRY(session_route(session, copy, &session->routes[i], error));
  }
  session->route_count = (int)count;
  return OXP_OK;
}

// The named values of any graph, as outputs of a view of it.
static oxp_status session_open_view(oxp_session *session, const oxp_graph *graph, oxp_error *error)
{
  const oxp_session_options *options = &session->options;
  if (options->expose_count < 0 || options->expose_layers)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "values are handed out by name or by layer, not both, and not %d of them",
                     options->expose_count);
  oxp_graph view;
  OXP__TRY(oxp__graph_expose(graph, options->expose, (size_t)options->expose_count, &session->arena, &view, error));
  OXP__TRY(session->engine->open_graph(session, &view, error));
  OXP__TRY(session_expose(session, &view, error));
  session->options.expose = NULL; // the caller's, who need not keep it
  return OXP_OK;
}

static oxp_status session_open_graph(oxp_session *session, const oxp_graph *graph, oxp_error *error)
{
  if (!session->engine->open_graph)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the engine \"%s\" runs networks, not ONNX graphs",
                     session->engine->name);
  OXP__TRY(oxp__external_check(graph, error));
  if (session->options.expose)
    return session_open_view(session, graph, error);
  if (session->options.expose_layers && graph->layer_values.count == 0 && graph->read)
    return oxp__fail(error, OXP_BAD_ARGUMENT,
                     "a model that was read from a file has no layers to hand out, only values with names");
  OXP__TRY(session->engine->open_graph(session, graph, error));
  return session->options.expose_layers ? session_expose(session, graph, error) : OXP_OK;
}

oxp_status oxp_session_open_graph(const oxp_graph *graph, const char *engine, const oxp_session_options *options,
                                  oxp_session **out, oxp_error *error)
{
  OXP__NEED(graph, error);
  OXP__NEED(engine, error);
  OXP__NEED(out, error);
  oxp_session *session = NULL;
  oxp_status status = session_new(engine, options, &session, error);
  if (status == OXP_OK)
    status = session_open_graph(session, graph, error);
  if (status != OXP_OK) {
    oxp_session_free(session);
    return status;
  }
  *out = session;
  return OXP_OK;
}

// For engines that run graphs only. Opset 18 is where runtimes have most operators in double.
static oxp_status session_open_lowered(oxp_session *session, const oxp_network *network, oxp_error *error)
{
  oxp_lower_options lower = { .expose_layers = session->options.expose_layers };
  if (network->dtype == OXP_FLOAT64)
    lower.opset = 18;
  if (session->options.narrow_weights)
    lower.dtype = network->dtype;
  oxp_graph *graph = NULL;
  OXP__TRY(oxp_graph_lower(network, &lower, &graph, error));
  oxp_status status = session_open_graph(session, graph, error);
  oxp_graph_free(graph);
  return status;
}

oxp_status oxp_session_open(const oxp_network *network, const char *engine, const oxp_session_options *options,
                            oxp_session **out, oxp_error *error)
{
  OXP__NEED(network, error);
  OXP__NEED(engine, error);
  OXP__NEED(out, error);
  OXP__TRY(oxp__network_check_ready(network, error));
  if (options && options->expose)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "values are handed out by name by sessions of graphs only");
  oxp_session *session = NULL;
  oxp_status status = session_new(engine, options, &session, error);
  if (status == OXP_OK)
    status = session->engine->open_network ? session->engine->open_network(session, network, error)
                                           : session_open_lowered(session, network, error);
  if (status != OXP_OK) {
    oxp_session_free(session);
    return status;
  }
  *out = session;
  return OXP_OK;
}

// --- Looking at a session ---

int oxp_session_input_count(const oxp_session *session)
{
  return session ? session->input_count : 0;
}

int oxp_session_output_count(const oxp_session *session)
{
  if (!session)
    return 0;
  return session->routes ? session->route_count : session->output_count;
}

const char *oxp_session_output_name(const oxp_session *session, int index)
{
  if (index < 0 || index >= oxp_session_output_count(session))
    return NULL;
  return session->routes ? session->routes[index].name : session->outputs[index].name;
}

// --- Running ---

static bool session_fits(const oxp__port *port, const oxp_array *array)
{
  if (port->rank < 0)
    return true;
  bool fits = array->rank == port->rank;
  for (int i = 0; fits && i < port->rank; i++)
    fits = port->shape[i] < 0 || port->shape[i] == array->shape[i];
  return fits;
}

static oxp_status session_check_input(const oxp__port *port, const oxp_array *array, oxp_error *error)
{
  if (array->dtype != port->dtype)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "input \"%s\" must be %s, the array given is %s", port->name,
                     oxp_dtype_name(port->dtype), oxp_dtype_name(array->dtype));
  int64_t count = 0;
  bool sane = array->rank >= 0 && array->rank <= OXP_MAX_RANK && oxp__shape_count(array->rank, array->shape, &count) &&
              (array->data || count == 0);
  if (!sane)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the array given for input \"%s\" is not one: rank %d, data at %p",
                     port->name, array->rank, array->data);
  if (session_fits(port, array))
    return OXP_OK;
  oxp__text text = { 0 };
  oxp__text_add_shape(&text, port->rank, port->shape);
  oxp__text_add(&text, ", the array given is ");
  oxp__text_add_shape(&text, array->rank, array->shape);
  oxp_status status =
      oxp__fail(error, OXP_BAD_ARGUMENT, "input \"%s\" has the shape %s", port->name, oxp__text_string(&text));
  oxp__text_fini(&text);
  return status;
}

// The place of the first dimension that has `symbol`: true when one comes before (input, axis).
static bool session_find_symbol(const oxp_session *session, int input, int axis, int *first_input, int *first_axis)
{
  int64_t symbol = session->inputs[input].shape[axis];
  for (int i = 0; i <= input; i++) {
    int axes = i < input ? session->inputs[i].rank : axis;
    for (int k = 0; k < axes; k++)
      if (session->inputs[i].shape[k] == symbol) {
        *first_input = i;
        *first_axis = k;
        return true;
      }
  }
  return false;
}

// Equal symbols must be equal numbers, also across inputs.
static oxp_status session_check_symbols(const oxp_session *session, const oxp_array *inputs, oxp_error *error)
{
  for (int i = 0; i < session->input_count; i++)
    for (int axis = 0; axis < session->inputs[i].rank; axis++) {
      int other = 0, other_axis = 0;
      int64_t symbol = session->inputs[i].shape[axis];
      if (symbol >= 0 || symbol == OXP_DIM_UNKNOWN || !session_find_symbol(session, i, axis, &other, &other_axis) ||
          inputs[i].shape[axis] == inputs[other].shape[other_axis])
        continue;
      return oxp__fail(error, OXP_BAD_ARGUMENT,
                       "axis %d of input \"%s\" is %lld and axis %d of input \"%s\" is %lld; they must be equal",
                       other_axis, session->inputs[other].name, (long long)inputs[other].shape[other_axis], axis,
                       session->inputs[i].name, (long long)inputs[i].shape[axis]);
    }
  return OXP_OK;
}

static oxp_status session_copy_array(const oxp_array *from, oxp_array *to, oxp_error *error)
{
  OXP__TRY(oxp_array_new(to, from->dtype, from->rank, from->shape, error));
  if (oxp_array_bytes(from) > 0)
    memcpy(to->data, from->data, oxp_array_bytes(from));
  return OXP_OK;
}

static void session_free_arrays(oxp_array *arrays, int count)
{
  for (int i = 0; i < count; i++)
    oxp_array_free(&arrays[i]);
}

// Runs the engine and copies every array to the places that it is handed out at.
static oxp_status session_run_routed(oxp_session *session, const oxp_array *inputs, oxp_array *outputs,
                                     oxp_error *error)
{
  size_t made_count = (size_t)session->output_count;
  oxp_array *made = calloc(made_count ? made_count : 1, sizeof *made);
  if (!made)
    return oxp__fail_memory(error, made_count * sizeof *made);
  oxp_status status = session->engine->run(session, inputs, made, error);
  for (int i = 0; status == OXP_OK && i < session->route_count; i++) {
    const oxp__route *route = &session->routes[i];
    const oxp_array *from = route->from_input ? &inputs[route->index] : &made[route->index];
    status = session_copy_array(from, &outputs[i], error);
  }
  session_free_arrays(made, session->output_count);
  free(made);
  return status;
}

oxp_status oxp_session_run(oxp_session *session, const oxp_array *inputs, oxp_array *outputs, oxp_error *error)
{
  OXP__NEED(session, error);
  int count = oxp_session_output_count(session);
  if (session->input_count > 0)
    OXP__NEED(inputs, error);
  if (count > 0)
    OXP__NEED(outputs, error);
  for (int i = 0; i < session->input_count; i++)
    OXP__TRY(session_check_input(&session->inputs[i], &inputs[i], error));
  OXP__TRY(session_check_symbols(session, inputs, error));
  for (int i = 0; i < count; i++)
    outputs[i] = (oxp_array){ 0 };
  oxp_status status = session->routes ? session_run_routed(session, inputs, outputs, error)
                                      : session->engine->run(session, inputs, outputs, error);
  if (status != OXP_OK)
    session_free_arrays(outputs, count);
  return status;
}
