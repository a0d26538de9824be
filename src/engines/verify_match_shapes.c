// verify_match_shapes.c: matches layers with the values of a model whose names say nothing: by the shapes that both
// pass through. Asks the engine for the model's shapes. Place: engines.
#include <string.h>

#include "engines/verify_match.h"

// One value that everything behind it depends on: nothing else of what was computed before it is used later. A chain
// consists of such values only; of a branching network they are the places where it is one value wide.
typedef struct match_cut {
  int layer;           // of the network, or
  const char *name;    // of the model
  const char *op_type; // of the node that makes it
  int rank;
  const int64_t *dims; // negative: open
} match_cut;

typedef struct match_cuts {
  match_cut *at;
  size_t count;
} match_cuts;

// A walk over steps that use and make values. Only values that depend on an input count; `uses` are those still to
// come.
typedef struct match_flow {
  size_t *uses;
  bool *depends;
  size_t live_count; // values that are made and still to be used
} match_flow;

static bool match_flow_init(match_flow *flow, oxp__arena *arena, size_t value_count)
{
  flow->uses = oxp__arena_new(arena, value_count, sizeof *flow->uses);
  flow->depends = oxp__arena_new(arena, value_count, sizeof *flow->depends);
  return flow->uses && flow->depends;
}

static void match_make(match_flow *flow, size_t value)
{
  flow->depends[value] = true;
  flow->live_count += flow->uses[value] > 0;
}

static bool match_use(match_flow *flow, size_t value)
{
  if (flow->depends[value] && flow->uses[value] > 0 && --flow->uses[value] == 0)
    flow->live_count--;
  return flow->depends[value];
}

static bool match_is_cut(const match_flow *flow, size_t value)
{
  return flow->live_count == 1 && flow->depends[value] && flow->uses[value] > 0;
}

// The operator under which a fresh export writes what a layer computes.
static const char *match_fresh_operator(const oxp_graph *fresh, const oxp__names *made, size_t layer)
{
  const oxp__name *entry = oxp__names_find(made, fresh->layer_values.at[layer]);
  return entry ? fresh->model.graph->nodes.at[entry->number]->op_type : "";
}

static void match_count_network_uses(const oxp_network *network, match_flow *flow)
{
  for (size_t i = 0; i < network->layer_count; i++)
    for (int k = 0; k < network->layers[i]->input_count; k++)
      flow->uses[network->layers[i]->inputs[k]]++;
  for (size_t i = 0; i < network->output_count; i++)
    flow->uses[network->outputs[i]]++;
  for (size_t i = 0; i < network->input_count; i++)
    match_make(flow, (size_t)network->inputs[i]);
}

static oxp_status match_network_cuts(oxp__match *match, const oxp_graph *fresh, match_cuts *cuts, oxp_error *error)
{
  const oxp_network *network = match->verify->network;
  oxp__names made = { .arena = &match->arena };
  match_flow flow = { 0 };
  cuts->at = oxp__arena_new(&match->arena, network->layer_count, sizeof *cuts->at);
  if (!cuts->at || !match_flow_init(&flow, &match->arena, network->value_count))
    return oxp__fail_memory(error, network->layer_count * sizeof *cuts->at);
  OXP__TRY(oxp__match_list_values(&fresh->model.graph->nodes, &made, error));
  match_count_network_uses(network, &flow);
  for (size_t i = 0; i < network->layer_count; i++) {
    const oxp__layer *layer = network->layers[i];
    for (int k = 0; k < layer->input_count; k++)
      match_use(&flow, (size_t)layer->inputs[k]);
    match_make(&flow, (size_t)layer->output);
    const oxp__shape *shape = &network->values[layer->output].shape;
    if (!layer->kind->passes_through && match_is_cut(&flow, (size_t)layer->output))
      cuts->at[cuts->count++] = (match_cut){
        .layer = (int)i, .op_type = match_fresh_operator(fresh, &made, i), .rank = shape->rank, .dims = shape->dim
      };
  }
  return OXP_OK;
}

// The number of a name in the model; false for a constant, which no node makes and nobody gives.
static bool match_value(const oxp__names *values, const char *name, size_t *number)
{
  const oxp__name *entry = *oxp__match_text(name) ? oxp__names_find(values, name) : NULL;
  *number = entry ? entry->number : 0;
  return entry;
}

static oxp_status match_number_values(const oxp__match *match, oxp__names *values, oxp_error *error)
{
  const oxp__graph_proto *model = match->model;
  bool added = true;
  for (int i = 0; added && i < oxp_graph_input_count(match->verify->given); i++) {
    oxp_value_info info;
    oxp_graph_input_info(match->verify->given, i, &info);
    added = oxp__names_add(values, info.name, values->count, NULL);
  }
  for (size_t i = 0; added && i < model->nodes.count; i++)
    for (size_t k = 0; added && k < model->nodes.at[i]->outputs.count; k++)
      added = oxp__names_add(values, oxp__match_text(model->nodes.at[i]->outputs.at[k]), values->count, NULL);
  return added ? OXP_OK : oxp__fail_memory(error, values->count);
}

static void match_count_uses(const oxp__match *match, const oxp__names *values, match_flow *flow)
{
  const oxp__graph_proto *model = match->model;
  size_t number;
  for (size_t i = 0; i < model->nodes.count; i++)
    for (size_t k = 0; k < model->nodes.at[i]->inputs.count; k++)
      if (match_value(values, model->nodes.at[i]->inputs.at[k], &number))
        flow->uses[number]++;
  for (size_t i = 0; i < model->outputs.count; i++)
    if (match_value(values, model->outputs.at[i]->name, &number))
      flow->uses[number]++;
  for (int i = 0; i < oxp_graph_input_count(match->verify->given); i++) {
    oxp_value_info info;
    if (oxp_graph_input_info(match->verify->given, i, &info) && match_value(values, info.name, &number))
      match_make(flow, number);
  }
}

static void match_step(const oxp__node *node, const oxp__names *values, match_flow *flow, match_cuts *cuts)
{
  size_t number;
  bool depends = false;
  for (size_t k = 0; k < node->inputs.count; k++)
    if (match_value(values, node->inputs.at[k], &number))
      depends |= match_use(flow, number);
  for (size_t k = 0; depends && k < node->outputs.count; k++)
    if (match_value(values, node->outputs.at[k], &number))
      match_make(flow, number);
  for (size_t k = 0; depends && k < node->outputs.count; k++)
    if (match_value(values, node->outputs.at[k], &number) && match_is_cut(flow, number))
      cuts->at[cuts->count++] = (match_cut){ .name = node->outputs.at[k], .op_type = oxp__match_text(node->op_type) };
}

// Inner graphs use values of the outer one without naming them as inputs: where there are any, no cut is certain.
static bool match_has_inner_graphs(const oxp__graph_proto *model)
{
  for (size_t i = 0; i < model->nodes.count; i++)
    for (size_t k = 0; k < model->nodes.at[i]->attributes.count; k++)
      if (model->nodes.at[i]->attributes.at[k]->g || model->nodes.at[i]->attributes.at[k]->graphs.count > 0)
        return true;
  return false;
}

static oxp_status match_model_cuts(oxp__match *match, match_cuts *cuts, oxp_error *error)
{
  const oxp__nodes *nodes = &match->model->nodes;
  oxp__names values = { .arena = &match->arena };
  match_flow flow = { 0 };
  if (match_has_inner_graphs(match->model))
    return OXP_OK;
  OXP__TRY(match_number_values(match, &values, error));
  cuts->at = oxp__arena_new(&match->arena, values.count, sizeof *cuts->at);
  if (!cuts->at || !match_flow_init(&flow, &match->arena, values.count))
    return oxp__fail_memory(error, values.count * sizeof *cuts->at);
  match_count_uses(match, &values, &flow);
  for (size_t i = 0; i < nodes->count; i++)
    match_step(nodes->at[i], &values, &flow, cuts);
  return OXP_OK;
}

// Asks the engine for the shapes of the model's cuts; those that are not made of real numbers are dropped.
static oxp_status match_ask_shapes(oxp__match *match, match_cuts *cuts, oxp_session **session, oxp_error *error)
{
  const char **names = oxp__arena_new(&match->arena, cuts->count, sizeof *names);
  if (!names)
    return oxp__fail_memory(error, cuts->count * sizeof *names);
  for (size_t i = 0; i < cuts->count; i++)
    names[i] = cuts->at[i].name;
  oxp_session_options options = match->verify->options.session;
  options.expose = names;
  options.expose_count = (int)cuts->count;
  OXP__TRY(oxp_session_open_graph(match->verify->given, match->verify->options.against, &options, session, error));
  size_t kept = 0;
  for (size_t i = 0; i < cuts->count; i++) {
    const oxp__route *route = &(*session)->routes[i];
    const oxp__port *port = route->from_input ? &(*session)->inputs[route->index] : &(*session)->outputs[route->index];
    if (!oxp__dtype_is_float(port->dtype))
      continue;
    cuts->at[kept] = cuts->at[i];
    cuts->at[kept].rank = port->rank;
    cuts->at[kept++].dims = port->shape;
  }
  cuts->count = kept;
  return OXP_OK;
}

// Equal, or open on either side: a model may fix a batch that the network leaves open.
static bool match_same_shape(const match_cut *a, const match_cut *b)
{
  bool same = a->rank == b->rank;
  for (int i = 0; same && i < a->rank; i++)
    same = a->dims[i] < 0 || b->dims[i] < 0 || a->dims[i] == b->dims[i];
  return same;
}

// How many cuts from `first` on have the shape of that one.
static size_t match_run_length(const match_cuts *cuts, size_t first)
{
  size_t end = first;
  while (end < cuts->count && match_same_shape(&cuts->at[end], &cuts->at[first]))
    end++;
  return end - first;
}

// Runs of one shape that are equally long on both sides correspond value by value. Of others only the last values do,
// if one operator makes both: what stands before the shape changes.
static void match_run(oxp__match *match, const match_cut *layers, size_t layer_count, const match_cut *values,
                      size_t value_count)
{
  for (size_t i = 0; layer_count == value_count && i < layer_count; i++)
    match->verify->layer_names[layers[i].layer] = values[i].name;
  const match_cut *layer = &layers[layer_count - 1], *value = &values[value_count - 1];
  if (layer_count != value_count && strcmp(layer->op_type, value->op_type) == 0)
    match->verify->layer_names[layer->layer] = value->name;
}

// Both must be the same sequence of shapes. With `take`, takes the values over.
static bool match_runs(oxp__match *match, const match_cuts *layers, const match_cuts *values, bool take)
{
  size_t i = 0, k = 0;
  while (i < layers->count && k < values->count && match_same_shape(&layers->at[i], &values->at[k])) {
    size_t layer_count = match_run_length(layers, i), value_count = match_run_length(values, k);
    if (take)
      match_run(match, &layers->at[i], layer_count, &values->at[k], value_count);
    i += layer_count;
    k += value_count;
  }
  return i == layers->count && k == values->count;
}

// The outputs correspond by their place; layers that hand on their input have its value.
static void match_certain(oxp__match *match)
{
  const oxp_network *network = match->verify->network;
  const char **values = match->verify->layer_names;
  for (size_t i = 0; i < network->output_count && i < match->model->outputs.count; i++)
    if (network->values[network->outputs[i]].layer >= 0)
      values[network->values[network->outputs[i]].layer] = match->model->outputs.at[i]->name;
  for (size_t i = 0; i < network->layer_count; i++) {
    const oxp__layer *layer = network->layers[i];
    int before = layer->kind->passes_through ? network->values[layer->inputs[0]].layer : -1;
    if (before >= 0 && !values[i])
      values[i] = values[before];
  }
}

oxp_status oxp__match_by_shapes(oxp__match *match, oxp_error *error)
{
  oxp_graph *fresh = NULL;
  oxp_session *session = NULL;
  match_cuts layers = { 0 }, values = { 0 };
  oxp_status status = match_model_cuts(match, &values, error);
  // A network that cannot be exported, or a model that the engine does not open so, is matched by its outputs only.
  if (status == OXP_OK && values.count > 0 && oxp__match_lower(match, NULL, &fresh) == OXP_OK &&
      match_ask_shapes(match, &values, &session, NULL) == OXP_OK) {
    status = match_network_cuts(match, fresh, &layers, error);
    if (status == OXP_OK && match_runs(match, &layers, &values, false))
      match_runs(match, &layers, &values, true);
  }
  oxp_session_free(session);
  oxp_graph_free(fresh);
  match_certain(match);
  return status;
}
