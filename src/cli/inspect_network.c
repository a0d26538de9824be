// inspect_network.c: what `inspect` says about a network. Place: cli.
#include "cli/inspect.h"

#include <inttypes.h>
#include <math.h>

// --- Parameters that are worth showing ---

static bool same_number(double a, double b)
{
  return a == b || (isnan(a) && isnan(b));
}

// Is the parameter at its default?
static bool param_is_default(const oxp__kind *kind, const oxp__param *param, const void *params, oxp__arena *arena)
{
  void *defaults = oxp__arena_new(arena, 1, kind->params_bytes);
  if (param->required || !defaults)
    return false;
  oxp__params_default(kind, NULL, defaults);
  int count = oxp__param_number_count(param, params);
  if (count != oxp__param_number_count(param, defaults))
    return false;
  for (int i = 0; i < count; i++)
    if (!same_number(oxp__param_number(param, params, i), oxp__param_number(param, defaults, i)))
      return false;
  return true;
}

static void add_param_number(oxp__text *text, const oxp__param *param, const void *params, int index)
{
  double number = oxp__param_number(param, params, index);
  if (oxp__param_is_int(param) && !isnan(number))
    oxp__text_printf(text, "%" PRId64, oxp__param_int(param, params, index));
  else if (param->type == OXP__PARAM_CHOICE)
    oxp__text_add(text, param->tokens[(int)number]);
  else if (param->type == OXP__PARAM_BOOL)
    oxp__text_add(text, number != 0 ? "yes" : "no");
  else
    oxp__text_printf(text, "%.10g", number);
}

// `kernel_shape 3x3, groups 2`: everything required and everything that is not at its default.
static void add_settings(oxp__text *text, const oxp__layer *layer)
{
  oxp__arena arena = { 0 };
  for (int i = 0; i < layer->kind->param_count; i++) {
    const oxp__param *param = &layer->kind->params[i];
    if (param_is_default(layer->kind, param, layer->params, &arena))
      continue;
    oxp__text_printf(text, "%s%s ", text->length > 0 ? ", " : "", param->name);
    int count = oxp__param_number_count(param, layer->params);
    for (int j = 0; j < count; j++) {
      oxp__text_add(text, j > 0 ? "x" : "");
      add_param_number(text, param, layer->params, j);
    }
  }
  oxp__arena_fini(&arena);
}

static void json_param_number(oxp__json *json, const char *key, const oxp__param *param, const void *params, int index)
{
  double number = oxp__param_number(param, params, index);
  if (param->type == OXP__PARAM_CHOICE)
    oxp__json_text(json, key, param->tokens[(int)number]);
  else if (param->type == OXP__PARAM_BOOL)
    oxp__json_bool(json, key, number != 0);
  else if (isnan(number))
    oxp__json_text(json, key, NULL);
  else if (oxp__param_is_int(param))
    oxp__json_int(json, key, oxp__param_int(param, params, index));
  else
    oxp__json_number(json, key, number);
}

static void json_params(oxp__json *json, const oxp__layer *layer)
{
  oxp__json_object(json, "settings");
  for (int i = 0; i < layer->kind->param_count; i++) {
    const oxp__param *param = &layer->kind->params[i];
    bool list = param->type == OXP__PARAM_INTS || param->type == OXP__PARAM_FLOATS || param->type == OXP__PARAM_LIST;
    if (list)
      oxp__json_array(json, param->name);
    int count = oxp__param_number_count(param, layer->params);
    for (int j = 0; j < count; j++)
      json_param_number(json, list ? NULL : param->name, param, layer->params, j);
    if (list)
      oxp__json_end(json, ']');
  }
  oxp__json_end(json, '}');
}

// --- Layers ---

// What a value is called: the name of an input, or of the layer that computes it.
static const char *value_label(const oxp_network *network, oxp_value value)
{
  const oxp__value *at = &network->values[value];
  return at->layer >= 0 ? network->layers[at->layer]->name : at->name;
}

// In a chain every layer reads what the one before it computes, which then needs no saying.
static bool is_chain(const oxp_network *network)
{
  for (size_t i = 0; i < network->layer_count; i++) {
    const oxp__layer *layer = network->layers[i];
    oxp_value before = i > 0 ? network->layers[i - 1]->output : oxp_network_input(network, 0);
    if (layer->input_count != 1 || layer->inputs[0] != before)
      return false;
  }
  return true;
}

static void add_inputs(oxp__text *text, const oxp_network *network, const oxp__layer *layer)
{
  for (int i = 0; i < layer->input_count; i++) {
    oxp__text_add(text, i > 0 ? ", " : "");
    oxp__text_add(text, value_label(network, layer->inputs[i]));
  }
}

static void grid_layer(oxp__grid *grid, const oxp_network *network, const oxp__layer *layer, bool chain)
{
  oxp__text settings = { 0 }, inputs = { 0 }, shape = { 0 }, parameters = { 0 };
  oxp__subject subject = { .network = (oxp_network *)network };
  oxp_layer_info info = { 0 };
  oxp_network_layer_info(network, layer->index, &info);
  const oxp__shape *output = &network->values[layer->output].shape;
  add_settings(&settings, layer);
  add_inputs(&inputs, network, layer);
  oxp__subject_add_shape(&shape, &subject, output->rank, output->dim);
  oxp__text_add_count(&parameters, info.parameter_count);
  oxp__grid_addf(grid, "%d", layer->index);
  oxp__grid_add(grid, info.name);
  oxp__grid_add(grid, info.kind);
  oxp__grid_take(grid, &shape);
  oxp__grid_take(grid, &parameters);
  if (!chain)
    oxp__grid_take(grid, &inputs);
  oxp__text_fini(&inputs);
  oxp__grid_take(grid, &settings);
}

static void add_layers(oxp__text *text, const oxp_network *network)
{
  static const char *const headings[] = { "#", "name", "kind", "output shape", "parameters" };
  bool chain = is_chain(network);
  oxp__grid grid;
  oxp__grid_init(&grid, chain ? "rlllrl" : "rlllrll");
  for (size_t i = 0; i < OXP__COUNT(headings); i++)
    oxp__grid_add(&grid, headings[i]);
  if (!chain)
    oxp__grid_add(&grid, "inputs");
  oxp__grid_add(&grid, "settings");
  for (size_t i = 0; i < network->layer_count; i++)
    grid_layer(&grid, network, network->layers[i], chain);
  oxp__grid_end(&grid, 2, text);
}

void oxp__inspect_network_text(oxp__text *text, const oxp_network *network)
{
  oxp__subject subject = { .network = (oxp_network *)network };
  int64_t parameters = oxp_network_parameter_count(network);
  oxp__text_printf(text, "  format %s, element type %s, %zu %s, ", oxp_network_format(network),
                   oxp_dtype_name(network->dtype), network->layer_count,
                   network->layer_count == 1 ? "layer" : "layers");
  oxp__text_add_count(text, parameters);
  oxp__text_add(text, " parameters (");
  oxp__text_add_size(text, (uint64_t)parameters * oxp_dtype_bytes(network->dtype));
  oxp__text_add(text, ")\n\n");
  oxp__subject_text(text, &subject);
  add_layers(text, network);
}

// --- JSON ---

static void json_weights(oxp__json *json, const oxp__layer *layer)
{
  oxp__json_array(json, "weights");
  for (int role = 0; role < layer->kind->weight_count; role++) {
    const oxp__weight *weight = &layer->weights[role];
    if (!weight->present)
      continue;
    oxp__json_object(json, NULL);
    oxp__json_text(json, "role", layer->kind->weights[role].role);
    oxp__json_text(json, "dtype", oxp_dtype_name(weight->tensor.dtype));
    oxp__json_array(json, "shape");
    for (int i = 0; i < weight->tensor.rank; i++)
      oxp__json_int(json, NULL, weight->tensor.shape[i]);
    oxp__json_end(json, ']');
    oxp__json_end(json, '}');
  }
  oxp__json_end(json, ']');
}

static void json_layer(oxp__json *json, const oxp_network *network, const oxp__layer *layer)
{
  oxp__subject subject = { .network = (oxp_network *)network };
  oxp_layer_info info = { 0 };
  oxp_network_layer_info(network, layer->index, &info);
  const oxp__shape *output = &network->values[layer->output].shape;
  oxp__json_object(json, NULL);
  oxp__json_int(json, "index", layer->index);
  oxp__json_text(json, "name", info.name);
  oxp__json_text(json, "kind", info.kind);
  oxp__json_text(json, "source_kind", info.source_kind);
  oxp__json_array(json, "inputs");
  for (int i = 0; i < layer->input_count; i++)
    oxp__json_text(json, NULL, value_label(network, layer->inputs[i]));
  oxp__json_end(json, ']');
  oxp__subject_json_shape(json, &subject, output->rank, output->dim);
  oxp__json_int(json, "parameters", info.parameter_count);
  json_params(json, layer);
  json_weights(json, layer);
  oxp__json_end(json, '}');
}

void oxp__inspect_network_json(oxp__json *json, const oxp_network *network)
{
  oxp__subject subject = { .network = (oxp_network *)network };
  oxp__json_text(json, "format", oxp_network_format(network));
  oxp__json_text(json, "dtype", oxp_dtype_name(network->dtype));
  oxp__json_int(json, "parameters", oxp_network_parameter_count(network));
  oxp__subject_json(json, &subject);
  oxp__json_text(json, "missing_shape", oxp_network_missing_shape(network));
  oxp__json_array(json, "layers");
  for (size_t i = 0; i < network->layer_count; i++)
    json_layer(json, network, network->layers[i]);
  oxp__json_end(json, ']');
}

// --- Picture ---

// An arrow from a value to a layer (`v3`) or an output (`o0`), with the shape that flows.
static void dot_arrow(oxp__text *text, const oxp_network *network, oxp_value from, char to, size_t number)
{
  oxp__text shape = { 0 };
  oxp__subject subject = { .network = (oxp_network *)network };
  const oxp__shape *flowing = &network->values[from].shape;
  oxp__subject_add_shape(&shape, &subject, flowing->rank, flowing->dim);
  oxp__text_printf(text, "  v%d -> %c%zu [label=\"%s\"];\n", from, to, number, oxp__text_string(&shape));
  oxp__text_fini(&shape);
}

static void dot_layer(oxp__text *text, const oxp_network *network, const oxp__layer *layer)
{
  oxp__text_printf(text, "  v%d [", layer->output);
  oxp__dot_add_label(text, layer->kind->name, layer->name);
  oxp__text_add(text, "];\n");
  for (int i = 0; i < layer->input_count; i++)
    dot_arrow(text, network, layer->inputs[i], 'v', (size_t)layer->output);
}

oxp_status oxp__inspect_network_dot(oxp__text *text, const oxp_network *network, oxp_error *error)
{
  oxp__text_add(text, "digraph network {\n  node [shape=box, fontname=\"sans-serif\"];\n");
  for (size_t i = 0; i < network->input_count; i++) {
    oxp__text_printf(text, "  v%d [shape=oval, ", network->inputs[i]);
    oxp__dot_add_label(text, "", value_label(network, network->inputs[i]));
    oxp__text_add(text, "];\n");
  }
  for (size_t i = 0; i < network->layer_count; i++)
    dot_layer(text, network, network->layers[i]);
  for (size_t i = 0; i < network->output_count; i++) {
    const char *name = network->values[network->outputs[i]].name;
    oxp__text_printf(text, "  o%zu [shape=oval, ", i);
    oxp__dot_add_label(text, "", name ? name : "output");
    oxp__text_add(text, "];\n");
    dot_arrow(text, network, network->outputs[i], 'o', i);
  }
  oxp__text_add(text, "}\n");
  return oxp__text_status(text, error);
}
