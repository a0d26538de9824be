// network.c: building a network and looking at it. Reads no weights, knows no file format. Place: net.
#include "net/network.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

// ---- Life ----

oxp_status oxp_network_new(oxp_dtype dtype, oxp_network **out, oxp_error *error)
{
  OXP__NEED(out, error);
  if (dtype != OXP_FLOAT32 && dtype != OXP_FLOAT64)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "a network computes in float32 or float64, not in %s",
                     oxp_dtype_name(dtype));
  oxp_network *network = calloc(1, sizeof *network);
  if (!network)
    return oxp__fail_memory(error, sizeof *network);
  network->dtype = dtype;
  *out = network;
  return OXP_OK;
}

void oxp_network_free(oxp_network *network)
{
  if (!network)
    return;
  oxp__arena_fini(&network->reading);
  oxp__arena_fini(&network->arena);
  free(network);
}

void oxp__network_warn(oxp_network *network, const char *format, ...)
{
  char sentence[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  oxp__text_clean(sentence);
  const char *copy = oxp__arena_copy(&network->arena, sentence);
  const char **list = copy ? oxp__arena_grow(&network->arena, (void *)network->warnings, network->warning_count,
                                             &network->warning_capacity, sizeof *list)
                           : NULL;
  if (!list)
    return;
  network->warnings = list;
  list[network->warning_count++] = copy;
}

// ---- Building ----

// True while building may go on: there is a network, no mistake so far, not finished.
static bool network_open(oxp_network *network)
{
  if (!network)
    return false;
  if (network->finished && network->status == OXP_OK)
    network->status = oxp__fail(&network->mistake, OXP_BAD_ARGUMENT, "the network is finished and cannot be changed");
  return network->status == OXP_OK;
}

#define NETWORK_MISTAKE(network, ...)                                                                                  \
  ((network)->status = oxp__fail(&(network)->mistake, OXP_BAD_ARGUMENT, __VA_ARGS__))

// False and a mistake when something is NULL that a builder function needs.
static bool network_is_given(oxp_network *network, const void *pointer, const char *what)
{
  if (!pointer)
    NETWORK_MISTAKE(network, "%s is NULL", what);
  return pointer;
}

static void network_out_of_memory(oxp_network *network)
{
  network->status = oxp__fail_memory(&network->mistake, 0);
}

// Makes room in a list of the network's arena; false (and a remembered mistake) when memory is out.
static bool network_grow(oxp_network *network, void **list, size_t count, size_t *capacity, size_t size)
{
  void *grown = oxp__arena_grow(&network->arena, *list, count, capacity, size);
  if (!grown) {
    network_out_of_memory(network);
    return false;
  }
  *list = grown;
  return true;
}

static oxp_value network_add_value(oxp_network *network, const oxp__value *value)
{
  void *list = network->values;
  if (network->value_count >= INT32_MAX ||
      !network_grow(network, &list, network->value_count, &network->value_capacity, sizeof *value))
    return -1;
  network->values = list;
  network->values[network->value_count] = *value;
  return (oxp_value)network->value_count++;
}

// Copies a name that will stand in the ONNX file; those are UTF-8. NULL after a mistake.
static const char *network_copy_name(oxp_network *network, const char *name, const char *what)
{
  if (!oxp__text_is_utf8(name, strlen(name))) {
    NETWORK_MISTAKE(network, "the name of %s is not valid UTF-8", what);
    return NULL;
  }
  const char *copy = oxp__arena_copy(&network->arena, name);
  if (!copy)
    network_out_of_memory(network);
  return copy;
}

static bool network_check_input_shape(oxp_network *network, const char *name, int rank, const int64_t *shape)
{
  bool right = rank >= 1 && rank <= OXP_MAX_RANK;
  for (int i = 0; right && i < rank; i++)
    right =
        shape[i] > 0 || (i == 0 ? shape[i] == OXP_DIM_BATCH : shape[i] == OXP_DIM_HEIGHT || shape[i] == OXP_DIM_WIDTH);
  if (!right)
    NETWORK_MISTAKE(
        network,
        "input \"%s\": rank %d or a dimension is out of range (ranks 1 to %d; sizes from 1; the first may be "
        "the symbolic batch, others the symbolic height or width)",
        name, rank, OXP_MAX_RANK);
  return right;
}

void oxp_network_set_training(oxp_network *network, bool training)
{
  if (!network || !network_open(network))
    return;
  network->training = training;
}

oxp_value oxp_network_add_input(oxp_network *network, const char *name, int rank, const int64_t *shape)
{
  if (!network_open(network))
    return -1;
  name = name && name[0] ? name : "input";
  if ((rank > 0 && !network_is_given(network, shape, "the shape of an input")) ||
      !network_check_input_shape(network, name, rank, shape))
    return -1;
  for (size_t i = 0; i < network->input_count; i++)
    if (strcmp(network->values[network->inputs[i]].name, name) == 0) {
      NETWORK_MISTAKE(network, "two inputs are called \"%s\"", name);
      return -1;
    }
  oxp__value value = { .name = network_copy_name(network, name, "an input"), .layer = -1, .shape = { .rank = rank } };
  memcpy(value.shape.dim, shape, (size_t)rank * sizeof *shape);
  void *list = network->inputs;
  if (!value.name || !network_grow(network, &list, network->input_count, &network->input_capacity, sizeof(oxp_value)))
    return -1;
  network->inputs = list;
  oxp_value id = network_add_value(network, &value);
  if (id >= 0)
    network->inputs[network->input_count++] = id;
  return id;
}

static bool network_check_inputs(oxp_network *network, const oxp__kind *kind, int count, const oxp_value *inputs)
{
  size_t index = network->layer_count;
  if (count < kind->min_inputs || count > kind->max_inputs) {
    NETWORK_MISTAKE(network, "layer %zu (%s) has %d inputs, it takes %d to %d", index, kind->name, count,
                    kind->min_inputs, kind->max_inputs);
    return false;
  }
  for (int i = 0; i < count; i++)
    if (inputs[i] < 0 || (size_t)inputs[i] >= network->value_count) {
      NETWORK_MISTAKE(network, "layer %zu (%s): input %d refers to value %d, there are %zu", index, kind->name, i,
                      inputs[i], network->value_count);
      return false;
    }
  return true;
}

// A layer with everything allocated and copied; NULL when memory is out.
static oxp__layer *network_make_layer(oxp_network *network, const oxp__kind *kind, const char *source_kind,
                                      const char *name, int input_count, const oxp_value *inputs)
{
  oxp__arena *arena = &network->arena;
  oxp__layer *layer = oxp__arena_new(arena, 1, sizeof *layer);
  if (!layer)
    return NULL;
  layer->kind = kind;
  layer->index = (int)network->layer_count;
  layer->name = name && name[0] ? network_copy_name(network, name, "a layer")
                                : oxp__arena_printf(arena, "%s_%d", kind->name, layer->index);
  layer->source_kind = oxp__arena_copy(arena, source_kind);
  layer->params = oxp__arena_new(arena, 1, kind->params_bytes);
  layer->inputs = oxp__arena_new(arena, (size_t)input_count, sizeof *inputs);
  layer->weights = oxp__arena_new(arena, (size_t)kind->weight_count, sizeof *layer->weights);
  if (!layer->name || !layer->source_kind || !layer->params || !layer->inputs || !layer->weights)
    return NULL;
  layer->input_count = input_count;
  if (input_count > 0)
    memcpy(layer->inputs, inputs, (size_t)input_count * sizeof *inputs);
  return layer;
}

oxp_value oxp__network_add(oxp_network *network, const oxp__kind *kind, const char *dialect, const char *source_kind,
                           const char *name, int input_count, const oxp_value *inputs)
{
  void *list = (void *)network->layers;
  if (!network_open(network) || !network_check_inputs(network, kind, input_count, inputs) ||
      !network_grow(network, &list, network->layer_count, &network->layer_capacity, sizeof *network->layers))
    return -1;
  network->layers = list;
  oxp__layer *layer = network_make_layer(network, kind, source_kind, name, input_count, inputs);
  if (!layer) {
    if (network->status == OXP_OK)
      network_out_of_memory(network);
    return -1;
  }
  oxp__params_default(kind, dialect, layer->params);
  layer->output = network_add_value(network, &(oxp__value){ .layer = layer->index, .shape = { .rank = -1 } });
  if (layer->output >= 0)
    network->layers[network->layer_count++] = layer;
  return layer->output;
}

oxp_value oxp_network_add_layer(oxp_network *network, const char *kind, const char *name, int input_count,
                                const oxp_value *inputs)
{
  if (!network_open(network))
    return -1;
  if (!network_is_given(network, kind, "the kind of a layer") ||
      (input_count > 0 && !network_is_given(network, inputs, "the list of a layer's inputs")))
    return -1;
  const oxp__kind *row = oxp__kind_by_name(kind);
  if (!row) {
    NETWORK_MISTAKE(network, "there is no layer kind \"%s\"", kind);
    return -1;
  }
  return oxp__network_add(network, row, NULL, row->name, name, input_count, inputs);
}

oxp__layer *oxp__network_layer(oxp_network *network, oxp_value value, const char *what)
{
  if (!network_open(network))
    return NULL;
  if (value < 0 || (size_t)value >= network->value_count || network->values[value].layer < 0) {
    NETWORK_MISTAKE(network, "%s: value %d is not computed by a layer", what, value);
    return NULL;
  }
  return network->layers[network->values[value].layer];
}

// The layer that computes `value` and its parameter of that name; NULL and a remembered mistake when one is unknown.
static const oxp__param *network_param(oxp_network *network, oxp_value value, const char *parameter, oxp__layer **layer)
{
  *layer = oxp__network_layer(network, value, parameter ? parameter : "a parameter");
  if (!*layer || !network_is_given(network, parameter, "the name of a parameter"))
    return NULL;
  const oxp__param *param = oxp__param_find((*layer)->kind, NULL, parameter);
  char label[256];
  if (!param)
    NETWORK_MISTAKE(network, "%s has no parameter \"%s\"", oxp__layer_label(*layer, label, sizeof label), parameter);
  return param;
}

// Remembers a failure of setting something on a layer, with the layer's label.
static void network_note(oxp_network *network, const oxp__layer *layer, oxp_status status)
{
  char label[256];
  if (status != OXP_OK)
    network->status = oxp__at_layer(&network->mistake, status, "%s", oxp__layer_label(layer, label, sizeof label));
}

void oxp_layer_set_int(oxp_network *network, oxp_value value, const char *parameter, int64_t number)
{
  oxp_layer_set_ints(network, value, parameter, 1, &number);
}

void oxp_layer_set_ints(oxp_network *network, oxp_value value, const char *parameter, int count, const int64_t *numbers)
{
  oxp__layer *layer;
  const oxp__param *param = network_param(network, value, parameter, &layer);
  if (!param || (count > 0 && !network_is_given(network, numbers, "the list of a parameter's numbers")))
    return;
  if (param->type == OXP__PARAM_BOOL && count == 1 && (numbers[0] == 0 || numbers[0] == 1))
    network_note(network, layer, oxp__param_set_bool(param, layer->params, numbers[0] == 1, &network->mistake));
  else
    network_note(network, layer, oxp__param_set_ints(param, layer->params, count, numbers, &network->mistake));
}

void oxp_layer_set_float(oxp_network *network, oxp_value value, const char *parameter, double number)
{
  oxp_layer_set_floats(network, value, parameter, 1, &number);
}

void oxp_layer_set_floats(oxp_network *network, oxp_value value, const char *parameter, int count,
                          const double *numbers)
{
  oxp__layer *layer;
  const oxp__param *param = network_param(network, value, parameter, &layer);
  if (param && (count <= 0 || network_is_given(network, numbers, "the list of a parameter's numbers")))
    network_note(network, layer, oxp__param_set_numbers(param, layer->params, count, numbers, &network->mistake));
}

void oxp_layer_set_text(oxp_network *network, oxp_value value, const char *parameter, const char *text)
{
  oxp__layer *layer;
  const oxp__param *param = network_param(network, value, parameter, &layer);
  if (param && network_is_given(network, text, "the text of a parameter"))
    network_note(network, layer, oxp__param_set_text(param, layer->params, text, &network->mistake));
}

oxp_status oxp__layer_bind(oxp_network *network, oxp__layer *layer, int role, const char *dialect,
                           const oxp_tensor *stored, oxp_error *error)
{
  const oxp__weight_row *row = &layer->kind->weights[role];
  oxp__weight *weight = &layer->weights[role];
  const char *source_role = oxp__role_dialect_name(row, dialect);
  if (stored->rank < 0 || !oxp__dtype_is_float(stored->dtype) || !stored->read)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "weight \"%s\" has no valid shape or no floating-point type (%s)",
                     source_role, oxp_dtype_name(stored->dtype));
  *weight = (oxp__weight){ .present = true, .tensor = *stored, .source_role = source_role };
  if (stored->origin) {
    weight->tensor.origin = oxp__arena_copy(&network->arena, stored->origin);
    if (!weight->tensor.origin)
      return oxp__fail_memory(error, strlen(stored->origin));
  }
  const char *order = oxp__role_axes(row, dialect);
  if (!order || strlen(order) != (size_t)stored->rank)
    return OXP_OK; // a wrong rank is found when shapes are compared
  int axes[OXP_MAX_RANK];
  for (int i = 0; i < stored->rank; i++)
    axes[i] = order[i] - '0';
  weight->tensor = oxp__tensor_permute(&weight->tensor, axes);
  weight->permuted = true;
  return OXP_OK;
}

void oxp_layer_set_weight(oxp_network *network, oxp_value value, const char *role, const oxp_tensor *tensor)
{
  oxp__layer *layer = oxp__network_layer(network, value, role ? role : "a weight");
  if (!layer || !network_is_given(network, role, "the role of a weight") ||
      !network_is_given(network, tensor, "the tensor of a weight"))
    return;
  int index = oxp__role_find(layer->kind, NULL, role);
  char label[256];
  if (index < 0)
    NETWORK_MISTAKE(network, "%s has no weight \"%s\"", oxp__layer_label(layer, label, sizeof label), role);
  else
    network_note(network, layer, oxp__layer_bind(network, layer, index, NULL, tensor, &network->mistake));
}

void oxp_network_add_output(oxp_network *network, oxp_value value, const char *name)
{
  if (!network_open(network))
    return;
  if (value < 0 || (size_t)value >= network->value_count) {
    NETWORK_MISTAKE(network, "output %zu refers to value %d, there are %zu", network->output_count, value,
                    network->value_count);
    return;
  }
  const char *copy = name && name[0] ? network_copy_name(network, name, "an output") : NULL;
  size_t capacity = network->output_capacity;
  void *list = network->outputs, *names = (void *)network->output_names;
  if (network->status != OXP_OK || !network_grow(network, &list, network->output_count, &capacity, sizeof(oxp_value)) ||
      !network_grow(network, &names, network->output_count, &network->output_capacity, sizeof(char *)))
    return;
  network->outputs = list;
  network->output_names = names;
  network->outputs[network->output_count] = value;
  network->output_names[network->output_count++] = copy;
}

void oxp__network_set_input_shape(oxp_network *network, int index, const oxp__shape *shape)
{
  network->values[network->inputs[index]].shape = *shape;
}

// ---- Finishing ----

const char *oxp__layer_label(const oxp__layer *layer, char *buffer, size_t size)
{
  snprintf(buffer, size, "layer %d \"%s\" (%s)", layer->index, layer->name, layer->source_kind);
  return buffer;
}

// A builder's mistake is the caller's; a reader's is the file's, which did not say what its layers need.
oxp_status oxp__network_check_params(const oxp_network *network, oxp_error *error)
{
  for (size_t i = 0; i < network->layer_count; i++) {
    const oxp__layer *layer = network->layers[i];
    char label[256];
    oxp_status status = oxp__params_check(layer->kind, layer->params, error);
    if (network->format)
      status = oxp__blame_file(error, status);
    if (status != OXP_OK)
      return oxp__at_layer(error, status, "%s", oxp__layer_label(layer, label, sizeof label));
  }
  return OXP_OK;
}

static oxp_status network_check_weight(const oxp__layer *layer, int role, oxp_error *error)
{
  const oxp__weight *weight = &layer->weights[role];
  const char *name = weight->present ? weight->source_role : layer->kind->weights[role].role;
  oxp__shape wanted = { .rank = -1 };
  layer->kind->weight_shape(layer, role, &wanted);
  if (wanted.rank < 0 && weight->present)
    return oxp__fail(error, OXP_BAD_NETWORK, "the parameters say that there is no \"%s\", yet it was given", name);
  if (wanted.rank < 0)
    return OXP_OK;
  if (!weight->present)
    return oxp__fail(error, OXP_BAD_NETWORK, "weight \"%s\" is missing", name);
  const oxp_tensor *tensor = &weight->tensor;
  if (tensor->rank == wanted.rank && memcmp(tensor->shape, wanted.dim, (size_t)wanted.rank * sizeof(int64_t)) == 0)
    return OXP_OK;
  oxp__text shapes = { 0 };
  oxp__text_add_shape(&shapes, tensor->rank, tensor->shape);
  oxp__text_add(&shapes, ", the parameters ask for ");
  oxp__text_add_shape(&shapes, wanted.rank, wanted.dim);
  oxp_status status = oxp__fail(error, OXP_BAD_NETWORK, "weight \"%s\" has shape %s", name, oxp__text_string(&shapes));
  oxp__text_fini(&shapes);
  return status;
}

static oxp_status network_check_layer(const oxp__layer *layer, oxp_error *error)
{
  if (layer->kind->check)
    OXP__TRY(layer->kind->check(layer, error));
  for (int role = 0; role < layer->kind->weight_count; role++)
    OXP__TRY(network_check_weight(layer, role, error));
  return OXP_OK;
}

static oxp_status network_check(const oxp_network *network, oxp_error *error)
{
  if (network->training)
    return oxp__fail(
        error, OXP_UNSUPPORTED,
        "the network is in training mode (batch statistics, active dropout); only the inference form can be "
        "translated exactly");
  if (network->input_count == 0 || network->output_count == 0)
    return oxp__fail(error, OXP_BAD_NETWORK,
                     "the network has %zu inputs and %zu outputs, it needs at least one of each", network->input_count,
                     network->output_count);
  OXP__TRY(oxp__network_check_params(network, error));
  for (size_t i = 0; i < network->layer_count; i++) {
    char label[256];
    oxp_status status = network_check_layer(network->layers[i], error);
    if (status != OXP_OK)
      return oxp__at_layer(error, status, "%s", oxp__layer_label(network->layers[i], label, sizeof label));
  }
  return OXP_OK;
}

static oxp_status network_infer(oxp_network *network, oxp_error *error)
{
  if (network->missing_shape && network->values[network->inputs[0]].shape.rank < 0)
    return OXP_OK; // nothing is known, not even how many axes there are
  oxp__shape *shapes = malloc((network->value_count + network->input_count) * sizeof *shapes);
  if (!shapes)
    return oxp__fail_memory(error, network->value_count * sizeof *shapes);
  oxp__shape *inputs = shapes + network->value_count;
  for (size_t i = 0; i < network->input_count; i++)
    inputs[i] = network->values[network->inputs[i]].shape;
  oxp_status status = oxp__infer_shapes(network, inputs, shapes, error);
  for (size_t i = 0; status == OXP_OK && i < network->value_count; i++)
    network->values[i].shape = shapes[i];
  free(shapes);
  return status;
}

// Layers stand behind what they read, so one pass from the end does.
static void network_find_needed(const oxp_network *network, bool *needed)
{
  for (size_t i = 0; i < network->output_count; i++)
    needed[network->outputs[i]] = true;
  for (size_t i = network->layer_count; i-- > 0;) {
    const oxp__layer *layer = network->layers[i];
    for (int k = 0; needed[layer->output] && k < layer->input_count; k++)
      needed[layer->inputs[k]] = true;
  }
}

// What changes nothing is written all the same, and may be a mistake.
static oxp_status network_warn_unused(oxp_network *network, oxp_error *error)
{
  bool *needed = calloc(network->value_count + 1, sizeof *needed);
  if (!needed)
    return oxp__fail_memory(error, network->value_count);
  network_find_needed(network, needed);
  for (size_t i = 0; i < network->input_count; i++)
    if (!needed[network->inputs[i]])
      oxp__network_warn(network, "No output needs the input \"%s\".", network->values[network->inputs[i]].name);
  for (size_t i = 0; i < network->layer_count; i++) {
    char label[256];
    if (!needed[network->layers[i]->output])
      oxp__network_warn(network, "No output needs %s.", oxp__layer_label(network->layers[i], label, sizeof label));
  }
  free(needed);
  return OXP_OK;
}

oxp_status oxp_network_finish(oxp_network *network, oxp_error *error)
{
  OXP__NEED(network, error);
  if (network->status != OXP_OK) {
    if (error)
      *error = network->mistake;
    return network->status;
  }
  if (network->finished)
    return OXP_OK;
  OXP__TRY(network_check(network, error));
  OXP__TRY(network_infer(network, error));
  OXP__TRY(network_warn_unused(network, error));
  network->finished = true;
  return OXP_OK;
}

oxp_status oxp__network_check_ready(const oxp_network *network, oxp_error *error)
{
  if (!network->finished)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the network is not finished: call oxp_network_finish first");
  if (!network->missing_shape)
    return OXP_OK;
  oxp__fail(error, OXP_BAD_NETWORK, "%s", network->missing_shape);
  return oxp__at_file(error, OXP_BAD_NETWORK, network->path);
}

// ---- Looking ----

const char *oxp_network_missing_shape(const oxp_network *network)
{
  return network ? network->missing_shape : NULL;
}

const char *oxp_network_format(const oxp_network *network)
{
  if (!network)
    return NULL;
  return network->format ? network->format : "builder";
}

int oxp_network_layer_count(const oxp_network *network)
{
  return network ? (int)network->layer_count : 0;
}

int oxp_network_input_count(const oxp_network *network)
{
  return network ? (int)network->input_count : 0;
}

int oxp_network_output_count(const oxp_network *network)
{
  return network ? (int)network->output_count : 0;
}

static int64_t network_layer_parameters(const oxp__layer *layer)
{
  int64_t count = 0;
  for (int role = 0; role < layer->kind->weight_count; role++)
    if (layer->weights[role].present)
      count += oxp__tensor_count(&layer->weights[role].tensor);
  return count;
}

int64_t oxp_network_parameter_count(const oxp_network *network)
{
  if (!network)
    return 0;
  int64_t count = 0;
  for (size_t i = 0; i < network->layer_count; i++)
    count += network_layer_parameters(network->layers[i]);
  return count;
}

oxp_value oxp_network_input(const oxp_network *network, int index)
{
  return network && index >= 0 && (size_t)index < network->input_count ? network->inputs[index] : -1;
}

oxp_value oxp_network_output(const oxp_network *network, int index)
{
  return network && index >= 0 && (size_t)index < network->output_count ? network->outputs[index] : -1;
}

bool oxp_network_layer_info(const oxp_network *network, int index, oxp_layer_info *info)
{
  if (!network || !info || index < 0 || (size_t)index >= network->layer_count)
    return false;
  const oxp__layer *layer = network->layers[index];
  *info = (oxp_layer_info){ .name = layer->name,
                            .kind = layer->kind->name,
                            .source_kind = layer->source_kind,
                            .input_count = layer->input_count,
                            .inputs = layer->inputs,
                            .output = layer->output,
                            .parameter_count = network_layer_parameters(layer) };
  return true;
}

bool oxp_network_value_info(const oxp_network *network, oxp_value value, oxp_value_info *info)
{
  if (!network || !info || value < 0 || (size_t)value >= network->value_count)
    return false;
  const oxp__value *entry = &network->values[value];
  *info = (oxp_value_info){
    .name = entry->name, .dtype = network->dtype, .rank = entry->shape.rank, .shape = entry->shape.dim
  };
  return true;
}

void oxp__network_add_sources(const oxp_network *network, oxp__sources *sources)
{
  oxp__sources_add_arena(sources, &network->arena);
  for (size_t i = 0; i < network->layer_count; i++)
    for (int role = 0; role < network->layers[i]->kind->weight_count; role++)
      if (network->layers[i]->weights[role].present)
        oxp__sources_add_tensor(sources, &network->layers[i]->weights[role].tensor);
}

int oxp_network_warning_count(const oxp_network *network)
{
  return network ? (int)network->warning_count : 0;
}

const char *oxp_network_warning(const oxp_network *network, int index)
{
  return network && index >= 0 && (size_t)index < network->warning_count ? network->warnings[index] : NULL;
}
