// reference.c: the engine that decides what is right. Walks the network in order with the kinds' own kernels, values and sums
// in double. Does nothing clever: no fusion, no reordering, no threads. Place: engines (one folder per engine).
//
// Devices. `float32` (the default) rounds every layer's values to the network's element type, so that it errs no more and no
// less than a careful float32 implementation must. `double` keeps double from the first layer to the last: what the
// network means, for telling which of two float32 results is wrong. In a float64 network the two are the same. `jitter` is
// `double` with every weight and every value that a layer rounds moved at random by up to one rounding of float32: how far it ends
// from `double` is how far rounding can move the results of a right float32 implementation. Sums that cancel show it, which
// `float32` does not: it rounds only what comes out of a layer. A session opened anew repeats its numbers.
//
// Parameters (epsilon, alpha) are used as the doubles they are. ONNX attributes are 32-bit floats, so a float64 network can
// differ from its own export by what that rounding does (5e-14 for an epsilon of 1e-5, 3e-9 for a HardSigmoid's alpha). That
// is a property of the file format and is reported as the difference that it is, not hidden here.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/reference/reference.h"

typedef struct reference_state {
  oxp_network network; // a copy without sources: layers, values, inputs and outputs, all in the session's arena
  bool rounds;         // to float32, after every layer
  bool jitters;
  oxp__random random; // of the jitter
  oxp__f64 *weights;  // one run of kind->weight_count per layer
  oxp__f64 **layer_weights;
  oxp_value *owner; // per value: the value whose memory it shares (itself, or the input of a pass-through layer)
  int *last_use;    // per owner: index of the last layer that reads it; layer_count when it is handed out
} reference_state;

// What one run owns.
typedef struct reference_run {
  reference_state *state;
  oxp__shape *shapes; // per value
  double **at;        // per owner; NULL before it is computed and after its last use
} reference_run;

static oxp_status reference_probe(const oxp_session_options *options, oxp__text *found, oxp_error *error)
{
  (void)options;
  oxp__text_add(found, "built in: plain C, sums in double");
  return oxp__text_status(found, error);
}

// --- Opening: everything that a run needs is copied ---

static void *reference_copy(oxp__arena *arena, const void *from, size_t count, size_t size)
{
  void *to = oxp__arena_new(arena, count, size);
  if (to && count > 0 && size > 0)
    memcpy(to, from, count * size);
  return to;
}

static oxp__layer *reference_copy_layer(oxp__arena *arena, const oxp__layer *from)
{
  oxp__layer *to = reference_copy(arena, from, 1, sizeof *from);
  if (!to)
    return NULL;
  size_t input_count = (size_t)from->input_count, weight_count = (size_t)from->kind->weight_count;
  to->name = oxp__arena_copy(arena, from->name);
  to->source_kind = from->source_kind ? oxp__arena_copy(arena, from->source_kind) : NULL;
  to->params = reference_copy(arena, from->params, 1, from->kind->params_bytes);
  to->inputs = reference_copy(arena, from->inputs, input_count, sizeof *from->inputs);
  to->weights = reference_copy(arena, from->weights, weight_count, sizeof *from->weights);
  return to->name && to->params && to->inputs && to->weights ? to : NULL;
}

// The description only: tensors keep their shapes, but nobody reads through them any more.
static oxp_status reference_copy_network(oxp_session *session, reference_state *state, const oxp_network *from,
                                         oxp_error *error)
{
  oxp__arena *arena = &session->arena;
  oxp_network *to = &state->network;
  *to = (oxp_network){ .dtype = from->dtype,
                       .layer_count = from->layer_count,
                       .value_count = from->value_count,
                       .input_count = from->input_count,
                       .output_count = from->output_count,
                       .finished = true };
  to->layers = oxp__arena_new(arena, from->layer_count, sizeof(oxp__layer *));
  to->values = reference_copy(arena, from->values, from->value_count, sizeof *from->values);
  to->inputs = reference_copy(arena, from->inputs, from->input_count, sizeof *from->inputs);
  to->outputs = reference_copy(arena, from->outputs, from->output_count, sizeof *from->outputs);
  bool copied = to->layers && to->values && to->inputs && to->outputs;
  for (size_t i = 0; copied && i < from->layer_count; i++)
    copied = (to->layers[i] = reference_copy_layer(arena, from->layers[i])) != NULL;
  for (size_t i = 0; copied && i < from->value_count; i++)
    if (from->values[i].name)
      copied = (to->values[i].name = oxp__arena_copy(arena, from->values[i].name)) != NULL;
  return copied ? OXP_OK : oxp__fail_memory(error, from->layer_count * sizeof(oxp__layer));
}

static void reference_round(double *at, int64_t count)
{
  for (int64_t i = 0; i < count; i++)
    at[i] = (float)at[i];
}

// Moves values by up to one rounding of float32, and by `absolute` more.
static void reference_jitter(oxp__random *random, double *at, int64_t count, double absolute)
{
  for (int64_t i = 0; i < count; i++) {
    double moved = 2 * oxp__random_unit(random) - 1;
    at[i] += moved * (absolute + 0x1p-24 * fabs(at[i]));
  }
}

// Functions like the sigmoid are computed from terms near 1, as 1 - t or 1/2 + t: small results carry a part of the rounding of 1.
static double reference_jitter_of(const oxp__kind *kind)
{
  return kind->tolerance == OXP__TRANSCENDENTAL ? 0x1p-26 : 0;
}

// Weights are what the export writes: in the network's element type, whatever the file stores.
static oxp_status reference_read_weight(oxp_session *session, const oxp_network *network, const oxp_tensor *tensor,
                                        oxp__f64 *to, oxp_error *error)
{
  reference_state *state = session->state;
  to->shape.rank = tensor->rank;
  memcpy(to->shape.dim, tensor->shape, sizeof to->shape.dim);
  to->count = oxp__tensor_count(tensor);
  size_t bytes = 0;
  if (oxp__memory_bytes(to->count, sizeof *to->at, &bytes))
    to->at = oxp__arena_new(&session->arena, bytes, 1);
  if (!to->at)
    return oxp__fail_memory(error, (uint64_t)to->count * sizeof *to->at);
  OXP__TRY(oxp__tensor_read_f64(tensor, to->at, error));
  if (network->dtype == OXP_FLOAT32)
    reference_round(to->at, to->count);
  if (state->jitters)
    reference_jitter(&state->random, to->at, to->count, 0);
  return OXP_OK;
}

static oxp_status reference_read_weights(oxp_session *session, reference_state *state, const oxp_network *network,
                                         oxp_error *error)
{
  state->layer_weights = oxp__arena_new(&session->arena, network->layer_count, sizeof *state->layer_weights);
  if (!state->layer_weights)
    return oxp__fail_memory(error, network->layer_count * sizeof *state->layer_weights);
  for (size_t i = 0; i < network->layer_count; i++) {
    const oxp__layer *layer = network->layers[i];
    size_t count = (size_t)layer->kind->weight_count;
    oxp__f64 *weights = state->layer_weights[i] = oxp__arena_new(&session->arena, count, sizeof *weights);
    if (!weights)
      return oxp__fail_memory(error, count * sizeof *weights);
    for (size_t role = 0; role < count; role++) {
      weights[role].shape.rank = -1;
      if (!layer->weights[role].present)
        continue;
      oxp_status status = reference_read_weight(session, network, &layer->weights[role].tensor, &weights[role], error);
      char label[256];
      if (status != OXP_OK)
        return oxp__at_layer(error, status, "%s", oxp__layer_label(layer, label, sizeof label));
    }
  }
  return OXP_OK;
}

// Who owns which memory, and until when it is needed.
static oxp_status reference_plan(oxp_session *session, reference_state *state, oxp_error *error)
{
  const oxp_network *network = &state->network;
  state->owner = oxp__arena_new(&session->arena, network->value_count, sizeof *state->owner);
  state->last_use = oxp__arena_new(&session->arena, network->value_count, sizeof *state->last_use);
  if (!state->owner || !state->last_use)
    return oxp__fail_memory(error, network->value_count * sizeof *state->last_use);
  for (size_t v = 0; v < network->value_count; v++) {
    state->owner[v] = (oxp_value)v;
    state->last_use[v] = -1;
  }
  for (size_t i = 0; i < network->layer_count; i++) {
    const oxp__layer *layer = network->layers[i];
    if (layer->kind->passes_through)
      state->owner[layer->output] = state->owner[layer->inputs[0]];
    for (int k = 0; k < layer->input_count; k++)
      state->last_use[state->owner[layer->inputs[k]]] = (int)i;
  }
  for (size_t i = 0; i < network->output_count; i++)
    state->last_use[state->owner[network->outputs[i]]] = (int)network->layer_count;
  for (size_t v = 0; session->options.expose_layers && v < network->value_count; v++) // inputs too: for a trace
    state->last_use[state->owner[v]] = (int)network->layer_count;
  return OXP_OK;
}

static void reference_port(const reference_state *state, oxp_value value, const char *name, oxp_dtype dtype,
                           oxp__port *port)
{
  const oxp__shape *shape = &state->network.values[value].shape;
  *port = (oxp__port){ .name = name, .dtype = dtype, .rank = shape->rank };
  memcpy(port->shape, shape->dim, sizeof port->shape);
}

// The names that a graph gives its outputs when nobody named them: `output`, `output_1`, ...
static const char *reference_output_name(oxp_session *session, const oxp_network *from, size_t index)
{
  if (from->output_names[index])
    return oxp__arena_copy(&session->arena, from->output_names[index]);
  return index == 0 ? "output" : oxp__arena_printf(&session->arena, "output_%zu", index);
}

static oxp_status reference_ports(oxp_session *session, const reference_state *state, const oxp_network *from,
                                  oxp_error *error)
{
  const oxp_network *network = &state->network;
  size_t exposed = session->options.expose_layers ? network->layer_count : 0;
  size_t output_count = exposed + network->output_count;
  oxp_dtype made = state->rounds ? OXP_FLOAT32 : OXP_FLOAT64;
  session->inputs = oxp__arena_new(&session->arena, network->input_count, sizeof *session->inputs);
  session->outputs = oxp__arena_new(&session->arena, output_count, sizeof *session->outputs);
  if (!session->inputs || !session->outputs)
    return oxp__fail_memory(error, output_count * sizeof *session->outputs);
  session->input_count = (int)network->input_count;
  session->output_count = (int)output_count;
  for (size_t i = 0; i < network->input_count; i++)
    reference_port(state, network->inputs[i], network->values[network->inputs[i]].name, network->dtype,
                   &session->inputs[i]);
  for (size_t i = 0; i < exposed; i++)
    reference_port(state, network->layers[i]->output, network->layers[i]->name, made, &session->outputs[i]);
  for (size_t i = 0; i < network->output_count; i++) {
    const char *name = reference_output_name(session, from, i);
    if (!name)
      return oxp__fail_memory(error, 1);
    reference_port(state, network->outputs[i], name, made, &session->outputs[exposed + i]);
  }
  return OXP_OK;
}

static oxp_status reference_open(oxp_session *session, const oxp_network *network, oxp_error *error)
{
  reference_state *state = session->state = oxp__arena_new(&session->arena, 1, sizeof *state);
  if (!state)
    return oxp__fail_memory(error, sizeof *state);
  state->rounds = network->dtype == OXP_FLOAT32 && strcmp(session->device, "float32") == 0;
  state->jitters = strcmp(session->device, "jitter") == 0;
  if (state->rounds && !session->options.narrow_weights)
    OXP__TRY(oxp__network_check_range(network, error));
  OXP__TRY(reference_copy_network(session, state, network, error));
  OXP__TRY(reference_read_weights(session, state, network, error));
  OXP__TRY(reference_plan(session, state, error));
  return reference_ports(session, state, network, error);
}

// --- Running ---

static double *reference_new_values(const oxp__shape *shape, int64_t *count, oxp_error *error)
{
  int64_t wanted = 0;
  if (!oxp__shape_count(shape->rank, shape->dim, count) || !oxp__mul_i64(*count, (int64_t)sizeof(double), &wanted)) {
    oxp__text text = { 0 };
    oxp__text_add_shape(&text, shape->rank, shape->dim);
    oxp__fail(error, OXP_BAD_NETWORK, "values of the shape %s do not fit into memory", oxp__text_string(&text));
    oxp__text_fini(&text);
    return NULL;
  }
  size_t bytes = 0;
  double *at = oxp__memory_bytes(*count, sizeof *at, &bytes) ? malloc(bytes ? bytes : 1) : NULL;
  if (!at)
    oxp__fail_memory(error, (uint64_t)wanted);
  return at;
}

static oxp_status reference_infer(reference_run *run, const oxp_array *inputs, oxp_error *error)
{
  const oxp_network *network = &run->state->network;
  oxp__shape *given = calloc(network->input_count ? network->input_count : 1, sizeof *given);
  if (!given)
    return oxp__fail_memory(error, network->input_count * sizeof *given);
  for (size_t i = 0; i < network->input_count; i++) {
    given[i].rank = inputs[i].rank;
    memcpy(given[i].dim, inputs[i].shape, sizeof given[i].dim);
  }
  oxp_status status = oxp__infer_shapes(network, given, run->shapes, error);
  free(given);
  return status;
}

static oxp_status reference_load_input(reference_run *run, oxp_value value, const oxp_array *array, oxp_error *error)
{
  int64_t count = 0;
  double *at = run->at[value] = reference_new_values(&run->shapes[value], &count, error);
  if (!at)
    return error ? error->status : OXP_NO_MEMORY;
  size_t size = oxp_dtype_bytes(array->dtype);
  for (int64_t i = 0; i < count; i++)
    at[i] = oxp__load_f64(array->dtype, (const unsigned char *)array->data + (size_t)i * size);
  if (run->state->jitters)
    reference_jitter(&run->state->random, at, count, 0);
  return OXP_OK;
}

static oxp__f64 reference_view(const reference_run *run, oxp_value value)
{
  oxp__f64 view = { .shape = run->shapes[value], .at = run->at[run->state->owner[value]] };
  oxp__shape_count(view.shape.rank, view.shape.dim, &view.count);
  return view;
}

static oxp_status reference_run_layer(reference_run *run, const oxp__layer *layer, oxp_error *error)
{
  oxp__f64 output = { .shape = run->shapes[layer->output] };
  output.at = run->at[layer->output] = reference_new_values(&output.shape, &output.count, error);
  size_t input_count = (size_t)layer->input_count;
  oxp__f64 *inputs = calloc(input_count ? input_count : 1, sizeof *inputs);
  if (!output.at || !inputs) {
    free(inputs);
    return output.at ? oxp__fail_memory(error, input_count * sizeof *inputs) : error ? error->status : OXP_NO_MEMORY;
  }
  for (size_t k = 0; k < input_count; k++)
    inputs[k] = reference_view(run, layer->inputs[k]);
  layer->kind->ref(&(oxp__ref){ .layer = layer,
                                .inputs = inputs,
                                .input_count = layer->input_count,
                                .weights = run->state->layer_weights[layer->index],
                                .output = &output });
  free(inputs);
  if (run->state->rounds)
    reference_round(output.at, output.count);
  if (run->state->jitters && layer->kind->tolerance != OXP__EXACT)
    reference_jitter(&run->state->random, output.at, output.count, reference_jitter_of(layer->kind));
  return OXP_OK;
}

static void reference_drop(reference_run *run, oxp_value value)
{
  free(run->at[value]);
  run->at[value] = NULL;
}

// Values that no later layer reads and nobody is handed.
static void reference_drop_unused(reference_run *run, const oxp__layer *layer)
{
  const reference_state *state = run->state;
  for (int k = 0; k < layer->input_count; k++)
    if (state->last_use[state->owner[layer->inputs[k]]] == layer->index)
      reference_drop(run, state->owner[layer->inputs[k]]);
  if (state->last_use[state->owner[layer->output]] <= layer->index)
    reference_drop(run, state->owner[layer->output]);
}

static oxp_status reference_run_layers(reference_run *run, oxp_error *error)
{
  const oxp_network *network = &run->state->network;
  for (size_t i = 0; i < network->layer_count; i++) {
    const oxp__layer *layer = network->layers[i];
    oxp_status status = layer->kind->passes_through ? OXP_OK : reference_run_layer(run, layer, error);
    char label[256];
    if (status != OXP_OK)
      return oxp__at_layer(error, status, "%s", oxp__layer_label(layer, label, sizeof label));
    reference_drop_unused(run, layer);
  }
  return OXP_OK;
}

static oxp_status reference_hand_out(const reference_run *run, oxp_value value, oxp_array *array, oxp_error *error)
{
  oxp__f64 from = reference_view(run, value);
  oxp_dtype dtype = run->state->rounds ? OXP_FLOAT32 : OXP_FLOAT64;
  OXP__TRY(oxp_array_new(array, dtype, from.shape.rank, from.shape.dim, error));
  size_t size = oxp_dtype_bytes(dtype);
  for (int64_t i = 0; i < from.count; i++)
    oxp__store_f64(dtype, (unsigned char *)array->data + (size_t)i * size, from.at[i]);
  return OXP_OK;
}

static oxp_status reference_run_init(reference_state *state, reference_run *run, oxp_error *error)
{
  size_t count = state->network.value_count ? state->network.value_count : 1;
  *run = (reference_run){ .state = state,
                          .shapes = calloc(count, sizeof *run->shapes),
                          .at = calloc(count, sizeof *run->at) };
  return run->shapes && run->at ? OXP_OK : oxp__fail_memory(error, count * sizeof *run->shapes);
}

static void reference_run_fini(reference_run *run)
{
  for (size_t v = 0; run->at && v < run->state->network.value_count; v++)
    free(run->at[v]);
  free(run->shapes);
  free(run->at);
}

static oxp_status reference_compute(reference_run *run, const oxp_array *inputs, oxp_error *error)
{
  const oxp_network *network = &run->state->network;
  OXP__TRY(reference_infer(run, inputs, error));
  for (size_t i = 0; i < network->input_count; i++)
    OXP__TRY(reference_load_input(run, network->inputs[i], &inputs[i], error));
  return reference_run_layers(run, error);
}

static oxp_status reference_walk(oxp_session *session, reference_run *run, const oxp_array *inputs, oxp_array *outputs,
                                 oxp_error *error)
{
  const oxp_network *network = &run->state->network;
  size_t exposed = session->options.expose_layers ? network->layer_count : 0;
  OXP__TRY(reference_compute(run, inputs, error));
  for (size_t i = 0; i < exposed; i++)
    OXP__TRY(reference_hand_out(run, network->layers[i]->output, &outputs[i], error));
  for (size_t i = 0; i < network->output_count; i++)
    OXP__TRY(reference_hand_out(run, network->outputs[i], &outputs[exposed + i], error));
  return OXP_OK;
}

static oxp_status reference_session_run(oxp_session *session, const oxp_array *inputs, oxp_array *outputs,
                                        oxp_error *error)
{
  reference_run run = { 0 };
  oxp_status status = reference_run_init(session->state, &run, error);
  if (status == OXP_OK)
    status = reference_walk(session, &run, inputs, outputs, error);
  reference_run_fini(&run);
  return status;
}

// --- Computing a part again ---

struct oxp__trace {
  reference_run before; // owns its values
  reference_run after;  // owns the values that differ from those before, and shares the others
};

// Gives back what the last rerun computed.
static void trace_forget(oxp__trace *trace)
{
  for (size_t v = 0; v < trace->before.state->network.value_count; v++) {
    if (trace->after.at[v] != trace->before.at[v])
      free(trace->after.at[v]);
    trace->after.at[v] = trace->before.at[v];
  }
}

void oxp__trace_free(oxp__trace *trace)
{
  if (!trace)
    return;
  if (trace->before.at && trace->after.at)
    trace_forget(trace);
  reference_run_fini(&trace->before);
  free(trace->after.at);
  free(trace);
}

oxp_status oxp__trace_new(oxp_session *session, const oxp_array *inputs, oxp__trace **out, oxp_error *error)
{
  oxp__trace *trace = calloc(1, sizeof *trace);
  if (!trace)
    return oxp__fail_memory(error, sizeof *trace);
  oxp_status status = reference_run_init(session->state, &trace->before, error);
  if (status == OXP_OK)
    status = reference_compute(&trace->before, inputs, error);
  trace->after = trace->before;
  size_t count = trace->before.state->network.value_count;
  trace->after.at = calloc(count ? count : 1, sizeof *trace->after.at);
  if (status == OXP_OK && !trace->after.at)
    status = oxp__fail_memory(error, count * sizeof *trace->after.at);
  if (status != OXP_OK) {
    oxp__trace_free(trace);
    return status;
  }
  memcpy(trace->after.at, trace->before.at, count * sizeof *trace->after.at);
  *out = trace;
  return OXP_OK;
}

oxp__f64 *oxp__trace_weights(oxp__trace *trace, int layer)
{
  return trace->before.state->layer_weights[layer];
}

static bool trace_is_touched(const oxp__trace *trace, const oxp__layer *layer)
{
  const oxp_value *owner = trace->before.state->owner;
  for (int k = 0; k < layer->input_count; k++)
    if (trace->after.at[owner[layer->inputs[k]]] != trace->before.at[owner[layer->inputs[k]]])
      return true;
  return false;
}

// A value that came out as before is shared again: nothing after it needs to be computed.
static void trace_share_equal(oxp__trace *trace, oxp_value value)
{
  oxp__f64 before = reference_view(&trace->before, value), after = reference_view(&trace->after, value);
  if (before.count > 0 && memcmp(before.at, after.at, (size_t)before.count * sizeof *before.at) != 0)
    return;
  free(after.at);
  trace->after.at[value] = before.at;
}

oxp_status oxp__trace_rerun(oxp__trace *trace, int layer, oxp_error *error)
{
  const oxp_network *network = &trace->before.state->network;
  trace_forget(trace);
  for (size_t i = (size_t)layer; i < network->layer_count; i++) {
    const oxp__layer *next = network->layers[i];
    if (next->kind->passes_through || ((int)i != layer && !trace_is_touched(trace, next)))
      continue;
    trace->after.at[next->output] = NULL; // not to be freed: it was shared
    OXP__TRY(reference_run_layer(&trace->after, next, error));
    trace_share_equal(trace, next->output);
  }
  return OXP_OK;
}

static oxp_array trace_array(const reference_run *run, oxp_value value)
{
  oxp__f64 view = reference_view(run, value);
  oxp_array array = { .dtype = OXP_FLOAT64, .rank = view.shape.rank, .data = view.at };
  memcpy(array.shape, view.shape.dim, sizeof array.shape);
  return array;
}

oxp_array oxp__trace_before(const oxp__trace *trace, oxp_value value)
{
  return trace_array(&trace->before, value);
}

oxp_array oxp__trace_after(const oxp__trace *trace, oxp_value value)
{
  return trace_array(&trace->after, value);
}

const oxp__engine oxp__engine_reference = {
  .name = "reference",
  .title = "the reference",
  .doc = "The truth: each layer kind's own plain kernel, sums in double; `double` never rounds values to float32, "
         "`jitter` moves them at random by one rounding",
  .devices = "float32 double jitter",
  .probe = reference_probe,
  .open_network = reference_open,
  .run = reference_session_run,
};
