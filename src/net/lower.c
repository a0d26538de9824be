// lower.c: the walk that turns a network into an ONNX graph under a profile: a literal, unfused translation. Does no arithmetic
// on weights and reads none (kinds may look at a few statistics to warn). Place: net.
#include "net/lower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Options ----

static const oxp__profile *lower_find_profile(const char *name, oxp_error *error)
{
  oxp__text known = { 0 };
  for (size_t i = 0; i < oxp__profile_count; i++) {
    if (strcmp(oxp__profiles[i]->name, name) == 0) {
      oxp__text_fini(&known);
      return oxp__profiles[i];
    }
    oxp__text_printf(&known, "%s%s", i ? ", " : "", oxp__profiles[i]->name);
  }
  oxp__fail(error, OXP_BAD_ARGUMENT, "there is no profile \"%s\"; there are %s", name, oxp__text_string(&known));
  oxp__text_fini(&known);
  return NULL;
}

static oxp_status lower_take_opset(oxp__lowering *to, oxp_error *error)
{
  const oxp__profile *profile = to->profile;
  int opset = to->options.opset ? to->options.opset : profile->opset;
  if (opset < profile->min_opset || opset > profile->max_opset)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "opset %d is out of range, profile %s writes %d to %d", opset,
                     profile->name, profile->min_opset, profile->max_opset);
  to->builder.opset = opset;
  int ir_version = to->options.ir_version;
  if (ir_version && (ir_version < 4 || ir_version > 13)) // before 4, weights had to be inputs too
    return oxp__fail(error, OXP_BAD_ARGUMENT, "IR version %d is out of range, 4 to 13 can be written", ir_version);
  if (!ir_version)
    ir_version = profile->ir_version ? profile->ir_version : oxp__ir_version_for_opset(opset);
  to->graph->model.ir_version = ir_version;
  return OXP_OK;
}

static oxp_status lower_take_dtype(oxp__lowering *to, oxp_error *error)
{
  oxp_dtype asked = to->options.dtype, network = to->network->dtype, only = to->profile->dtype;
  if (asked && asked != OXP_FLOAT32 && asked != OXP_FLOAT64)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "weights can be written as float32 or float64, not as %s",
                     oxp_dtype_name(asked));
  if ((unsigned)to->options.batchnorm > OXP_BATCHNORM_EXPANDED)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "there is no form %d of a batch normalization",
                     (int)to->options.batchnorm);
  to->dtype = asked ? asked : network;
  if (only && to->dtype != only)
    return oxp__fail(error, OXP_UNSUPPORTED, "profile %s writes %s, this would be %s; --dtype %s converts",
                     to->profile->name, oxp_dtype_name(only), oxp_dtype_name(to->dtype), oxp_dtype_name(only));
  return asked ? OXP_OK : oxp__network_check_range(to->network, error);
}

static oxp_status lower_check_names(const oxp__lowering *to, oxp_error *error)
{
  const char *input = to->options.input_name, *output = to->options.output_name;
  if ((input && to->network->input_count != 1) || (output && to->network->output_count != 1))
    return oxp__fail(error, OXP_BAD_ARGUMENT,
                     "a name for the input or output needs a network with one; this one has %zu and %zu",
                     to->network->input_count, to->network->output_count);
  const char *given[] = { input, output, to->options.doc_string };
  for (size_t i = 0; i < OXP__COUNT(given); i++)
    if (given[i] && ((i < 2 && !given[i][0]) || !oxp__text_is_utf8(given[i], strlen(given[i]))))
      return oxp__fail(error, OXP_BAD_ARGUMENT, "a name or text for the graph is empty or not valid UTF-8");
  return OXP_OK;
}

// The shapes of all values with the batch that was asked for.
static oxp_status lower_infer(oxp__lowering *to, oxp_error *error)
{
  const oxp_network *network = to->network;
  int64_t batch = to->options.batch;
  if (batch < 0)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the batch cannot be %lld", (long long)batch);
  oxp__shape *inputs = oxp__arena_new(&to->scratch, network->input_count, sizeof *inputs);
  if (!inputs)
    return oxp__fail_memory(error, network->input_count * sizeof *inputs);
  for (size_t i = 0; i < network->input_count; i++) {
    inputs[i] = network->values[network->inputs[i]].shape;
    if (batch && inputs[i].dim[0] >= 0 && inputs[i].dim[0] != batch)
      return oxp__fail(error, OXP_BAD_ARGUMENT, "batch %lld was asked for, the network has a fixed batch of %lld",
                       (long long)batch, (long long)inputs[i].dim[0]);
    if (batch)
      inputs[i].dim[0] = batch;
  }
  return oxp__infer_shapes(network, inputs, to->shapes, error);
}

// ---- Refusals: all at once ----

static const oxp__lower_row *lower_find_row(const oxp__kind *kind, int opset)
{
  const oxp__lower_row *found = NULL;
  for (size_t i = 0; i < OXP__COUNT(kind->lower) && kind->lower[i].lower; i++)
    if (kind->lower[i].since <= opset)
      found = &kind->lower[i];
  return found;
}

// Why a layer cannot be written; NULL when it can. May use `buffer`.
static const char *lower_refusal(const oxp__lowering *to, const oxp__layer *layer, oxp__shape *inputs, char *buffer,
                                 size_t size)
{
  for (int i = 0; i < layer->input_count; i++)
    inputs[i] = to->shapes[layer->inputs[i]];
  const char *reason = to->profile->refuses ? to->profile->refuses(layer, inputs, to->builder.opset) : NULL;
  if (reason || layer->kind->passes_through || lower_find_row(layer->kind, to->builder.opset))
    return reason;
  snprintf(buffer, size, "it has no exact form at opset %d", to->builder.opset);
  return buffer;
}

static void lower_add_offender(oxp__text *offenders, const oxp__layer *layer, const char *reason)
{
  char label[256];
  oxp__text_printf(offenders, "%s%s: %s", offenders->length ? "; " : "", oxp__layer_label(layer, label, sizeof label),
                   reason);
}

static oxp_status lower_refuse(const oxp__lowering *to, oxp__text *offenders, oxp_error *error)
{
  oxp_status status = oxp__text_status(offenders, error);
  if (status == OXP_OK && offenders->length > 0)
    status = oxp__fail(error, OXP_UNSUPPORTED, "cannot be exported exactly under profile %s: %s", to->profile->name,
                       oxp__text_string(offenders));
  oxp__text_fini(offenders);
  return status;
}

static oxp_status lower_check_layers(oxp__lowering *to, oxp_error *error)
{
  oxp__text offenders = { 0 };
  for (size_t i = 0; i < to->network->layer_count; i++) {
    const oxp__layer *layer = to->network->layers[i];
    oxp__shape *inputs = calloc((size_t)layer->input_count + 1, sizeof *inputs);
    char buffer[128];
    if (!inputs) {
      oxp__text_fini(&offenders);
      return oxp__fail_memory(error, (size_t)layer->input_count * sizeof *inputs);
    }
    const char *reason = lower_refusal(to, layer, inputs, buffer, sizeof buffer);
    if (reason)
      lower_add_offender(&offenders, layer, reason);
    free(inputs);
  }
  return lower_refuse(to, &offenders, error);
}

// ---- Names of inputs and outputs ----

static const char *lower_claim_exactly(oxp__lowering *to, const char *name, oxp_error *error)
{
  if (!oxp__naming_is_free(&to->naming, name)) {
    oxp__fail(error, OXP_BAD_ARGUMENT, "two inputs or outputs would be called \"%s\"", name);
    return NULL;
  }
  const char *claimed = oxp__naming_claim(&to->naming, name);
  if (!claimed)
    oxp__fail_memory(error, strlen(name));
  return claimed;
}

static oxp_status lower_inputs(oxp__lowering *to, oxp_error *error)
{
  oxp__model *model = &to->graph->model;
  for (size_t i = 0; i < to->network->input_count; i++) {
    oxp_value value = to->network->inputs[i];
    const char *name = to->options.input_name ? to->options.input_name : to->network->values[value].name;
    to->names[value] = lower_claim_exactly(to, name, error);
    if (!to->names[value])
      return error->status;
    oxp__build_value_info(&to->builder, &model->graph->inputs, to->names[value], to->dtype, to->shapes[value].rank,
                          to->shapes[value].dim, to->profile->batch_symbol);
  }
  return to->builder.status;
}

static const char *lower_output_name(oxp__lowering *to, size_t index, oxp_error *error)
{
  const char *own = to->network->output_names[index];
  const char *wanted = to->options.output_name ? to->options.output_name : own;
  if (wanted)
    return lower_claim_exactly(to, wanted, error);
  const char *name = oxp__naming_claim(&to->naming, "output");
  if (!name)
    oxp__fail_memory(error, 0);
  return name;
}

static bool lower_output_is_named(const oxp__lowering *to, size_t index)
{
  return to->options.output_name || to->network->output_names[index];
}

// Claims the outputs' names before any inner name, those that were asked for first, and decides which values are simply renamed.
static oxp_status lower_claim_outputs(oxp__lowering *to, const char **outputs, oxp_error *error)
{
  size_t count = to->network->output_count;
  for (size_t k = 0; k < 2 * count; k++) {
    size_t i = k % count;
    if (lower_output_is_named(to, i) != (k < count))
      continue;
    outputs[i] = lower_output_name(to, i, error);
    if (!outputs[i])
      return error->status;
  }
  for (size_t i = 0; i < count; i++) {
    oxp_value root = to->roots[to->network->outputs[i]];
    bool computed = to->network->values[root].layer >= 0;
    if (computed && !to->output_names[root] && !to->profile->final_identity)
      to->output_names[root] = outputs[i];
  }
  return OXP_OK;
}

// ---- Layers ----

// Gives the layer's output a name; the layer itself has claimed one for its nodes and initializers.
static oxp_status lower_name_layer(oxp__lowering *to, const oxp__layer *layer, oxp_error *error)
{
  const char *name = to->profile->value_name(&to->naming, layer);
  if (!name)
    return oxp__fail_memory(error, 0);
  to->naming.layer_name = name;
  const char *output = to->output_names[layer->output];
  to->names[layer->output] = output ? output : name;
  return OXP_OK;
}

static oxp_status lower_layer(oxp__lowering *to, const oxp__layer *layer, oxp_error *error)
{
  to->layer = layer;
  if (layer->kind->passes_through && to->profile->drops_pass_through) {
    to->names[layer->output] = to->names[layer->inputs[0]];
    return OXP_OK;
  }
  OXP__TRY(lower_name_layer(to, layer, error));
  if (layer->kind->passes_through) {
    oxp__lower_node(to, "Identity", OXP__IN(oxp__lower_input(to, 0)));
    return to->builder.status;
  }
  OXP__TRY(lower_find_row(layer->kind, to->builder.opset)->lower(to, layer));
  return to->builder.status;
}

// Walks all layers. One that refuses while it is lowered (a size that has no exact form) does not end the walk: all of them
// are named.
static oxp_status lower_layers(oxp__lowering *to, oxp_error *error)
{
  oxp__text offenders = { 0 };
  oxp__strings *values = &to->graph->layer_values;
  values->at = oxp__arena_new(&to->graph->arena, to->network->layer_count, sizeof *values->at);
  oxp_status status = values->at ? OXP_OK : oxp__fail_memory(error, to->network->layer_count);
  for (size_t i = 0; status == OXP_OK && i < to->network->layer_count; i++) {
    const oxp__layer *layer = to->network->layers[i];
    status = lower_layer(to, layer, error);
    if (status == OXP_UNSUPPORTED) {
      lower_add_offender(&offenders, layer, error->message);
      to->builder.status = status = OXP_OK;
    }
    values->at[values->count++] = to->names[layer->output];
  }
  if (status == OXP_OK)
    return lower_refuse(to, &offenders, error);
  oxp__text_fini(&offenders);
  return status;
}

static void lower_say(void *context, const char *sentence)
{
  const oxp__lowering *to = context;
  oxp__graph_warn(to->graph, "%s", sentence);
}

// ---- Outputs ----

static void lower_declare_output(oxp__lowering *to, oxp_value value, const char *name)
{
  oxp__shape shape = to->shapes[value];
  for (int i = 1; i < shape.rank && !to->profile->declares_dims; i++)
    shape.dim[i] = OXP_DIM_UNKNOWN;
  oxp__build_value_info(&to->builder, &to->graph->model.graph->outputs, name, to->dtype, shape.rank, shape.dim,
                        to->profile->batch_symbol);
}

// Every layer's value as a further output, each name once, inputs and the network's own outputs left out.
static oxp_status lower_expose(oxp__lowering *to, oxp_error *error)
{
  bool *done = calloc(to->network->value_count + 1, sizeof *done);
  if (!done)
    return oxp__fail_memory(error, to->network->value_count);
  for (size_t i = 0; i < to->network->layer_count; i++) {
    oxp_value root = to->roots[to->network->layers[i]->output];
    if (done[root] || to->network->values[root].layer < 0 || to->output_names[root])
      continue;
    done[root] = true;
    lower_declare_output(to, root, to->names[root]);
    to->graph->exposed_count++;
  }
  free(done);
  return to->builder.status;
}

static oxp_status lower_outputs(oxp__lowering *to, const char *const *outputs, oxp_error *error)
{
  for (size_t i = 0; i < to->network->output_count; i++) {
    oxp_value value = to->network->outputs[i];
    if (strcmp(to->names[value], outputs[i]) != 0)
      oxp__build_node(&to->builder, "Identity", to->profile->node_names ? outputs[i] : NULL, OXP__IN(to->names[value]),
                      (const char *const[]){ outputs[i], NULL });
    lower_declare_output(to, value, outputs[i]);
  }
  OXP__TRY(to->builder.status);
  return to->options.expose_layers ? lower_expose(to, error) : OXP_OK;
}

// ---- The whole ----

// NULL where there is nothing to copy; memory that runs out ends the lowering.
static const char *lower_copy(oxp__lowering *to, const char *text)
{
  const char *copy = text ? oxp__arena_copy(&to->graph->arena, text) : NULL;
  if (text && !copy && to->builder.status == OXP_OK)
    to->builder.status = oxp__fail_memory(to->builder.error, strlen(text));
  return copy;
}

static oxp_status lower_header(oxp__lowering *to)
{
  oxp__model *model = &to->graph->model;
  const oxp__profile *profile = to->profile;
  const char *doc = to->options.doc_string ? to->options.doc_string : profile->doc_string;
  model->producer_name = lower_copy(to, profile->producer_name);
  model->producer_version = lower_copy(to, profile->producer_version);
  model->doc_string = model->graph->doc_string = lower_copy(to, doc);
  model->graph->name = lower_copy(to, profile->graph_name);
  oxp__build_opset(&to->builder, "", to->builder.opset);
  return to->builder.status;
}

// Layers stand behind what they read, so one pass in order does.
static void lower_find_roots(oxp__lowering *to)
{
  const oxp_network *network = to->network;
  for (size_t i = 0; i < network->value_count; i++) {
    const oxp__layer *layer = network->values[i].layer >= 0 ? network->layers[network->values[i].layer] : NULL;
    bool handed_on = layer && layer->kind->passes_through && to->profile->drops_pass_through;
    to->roots[i] = handed_on ? to->roots[layer->inputs[0]] : (oxp_value)i;
  }
}

// Room in the tables for as many names as most networks need: one for each value and weight.
static bool lower_reserve_names(oxp__lowering *to)
{
  size_t weights = 0;
  for (size_t i = 0; i < to->network->layer_count; i++)
    weights += (size_t)to->network->layers[i]->kind->weight_count;
  return oxp__names_reserve(&to->naming.names, to->network->value_count + weights) &&
         (!to->profile->shares_weights || oxp__lowering_reserve_stored(to, weights));
}

static oxp_status lower_prepare(oxp__lowering *to, oxp_error *error)
{
  oxp__arena *arena = &to->scratch;
  size_t values = to->network->value_count;
  to->naming.names.arena = arena;
  to->naming.texts = &to->graph->arena;
  to->shapes = oxp__arena_new(arena, values, sizeof *to->shapes);
  to->roots = oxp__arena_new(arena, values, sizeof *to->roots);
  to->names = oxp__arena_new(arena, values, sizeof *to->names);
  to->output_names = oxp__arena_new(arena, values, sizeof *to->output_names);
  to->dummy = oxp__arena_new(arena, 1, sizeof *to->dummy);
  if (!to->shapes || !to->roots || !to->names || !to->output_names || !to->dummy || !lower_reserve_names(to))
    return oxp__fail_memory(error, values * sizeof *to->shapes);
  lower_find_roots(to);
  OXP__TRY(lower_take_opset(to, error));
  OXP__TRY(lower_take_dtype(to, error));
  to->builder.dtype = to->dtype;
  OXP__TRY(lower_check_names(to, error));
  OXP__TRY(lower_infer(to, error));
  return lower_check_layers(to, error);
}

static oxp_status lower_walk(oxp__lowering *to, oxp_error *error)
{
  OXP__TRY(lower_prepare(to, error));
  OXP__TRY(lower_header(to));
  const char **outputs = oxp__arena_new(&to->scratch, to->network->output_count, sizeof *outputs);
  if (!outputs)
    return oxp__fail_memory(error, 0);
  OXP__TRY(lower_inputs(to, error));
  OXP__TRY(lower_claim_outputs(to, outputs, error));
  OXP__TRY(lower_layers(to, error));
  OXP__TRY(oxp__network_doubt(to->network, lower_say, to, error));
  return lower_outputs(to, outputs, error);
}

oxp_status oxp_graph_lower(const oxp_network *network, const oxp_lower_options *options, oxp_graph **out,
                           oxp_error *error)
{
  OXP__NEED(network, error);
  OXP__NEED(out, error);
  oxp__lowering to = { .network = network };
  if (options)
    to.options = *options;
  OXP__TRY(oxp__network_check_ready(network, error));
  to.profile = lower_find_profile(to.options.profile ? to.options.profile : "onnx", error);
  if (!to.profile)
    return OXP_BAD_ARGUMENT;
  to.graph = oxp__graph_new();
  if (!to.graph)
    return oxp__fail_memory(error, sizeof *to.graph);
  to.graph->origin = &network->arena;
  to.builder.graph = to.graph;
  to.builder.error = &to.error;
  oxp_status status = lower_walk(&to, &to.error);
  oxp__arena_fini(&to.scratch);
  if (status == OXP_OK)
    status = oxp__model_check(to.graph, NULL, &to.error);
  if (status == OXP_OK) {
    *out = to.graph;
    return OXP_OK;
  }
  oxp_graph_free(to.graph);
  oxp__at_file(&to.error, status, network->path ? network->path : "network");
  if (error)
    *error = to.error;
  return status;
}
