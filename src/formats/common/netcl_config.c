// netcl_config.c: see netcl_config.h. Kinds and their parameters come from the layer rows; what is here is only how netcl's
// files spell them and how strict netcl is about it. Place: formats/common.
#include "formats/common/netcl_config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

static const oxp__netcl_type netcl_types[] = {
  { "Conv2d", "in_channels out_channels kernel_size stride pad bias dilation groups ", true },
  { "Linear", "in_features out_features bias ", true },
  { "BatchNorm2d", "num_features momentum eps ", true },
  { "ReLU", "", false },
  { "LeakyReLU", "negative_slope ", false },
  { "Sigmoid", "", false },
  { "Tanh", "", false },
  { "Dropout", "p seed ", false },
  { "MaxPool2d", "kernel_size stride ", false },
  { "Flatten", "", false },
};

const oxp__netcl_type *oxp__netcl_type_find(const char *name)
{
  for (size_t i = 0; i < OXP__COUNT(netcl_types); i++)
    if (strcmp(netcl_types[i].name, name) == 0)
      return &netcl_types[i];
  return NULL;
}

// Adds where a description lies to a failure.
static oxp_status config_at(const oxp__netcl_config *config, oxp_status status, oxp_error *error)
{
  if (config->member)
    oxp__at_key(error, status, config->member);
  return oxp__at_file(error, status, config->path);
}

// --- The description ---

static void config_warn_unknown_keys(oxp_network *network, const json_t *root)
{
  static const char *const known[] = { "type", "config", "layers", "version", "format" };
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)root, key, value)
  {
    bool found = false;
    for (size_t i = 0; i < OXP__COUNT(known); i++)
      found = found || strcmp(known[i], key) == 0;
    if (!found)
      oxp__network_warn(network, "The description has a key \"%s\" that is not known; it is not used.", key);
  }
}

static void config_read_version(oxp_network *network, const json_t *root, oxp__netcl_config *config)
{
  const json_t *version = json_object_get(root, "version"), *format = json_object_get(root, "format");
  config->version = json_is_integer(version) ? json_integer_value(version) : 0;
  if (version && config->version != 1 && config->version != 2) {
    char *text = json_dumps(version, JSON_ENCODE_ANY | JSON_COMPACT);
    oxp__network_warn(network, "The description says version %.64s; versions 1 and 2 are known.", text ? text : "?");
    free(text);
  }
  if (json_is_string(format) && strcmp(json_string_value(format), "netcl.single-file") != 0)
    oxp__network_warn(network, "The description says format \"%.64s\"; \"netcl.single-file\" is known.",
                      json_string_value(format));
}

static oxp_status config_read_object(oxp_network *network, const json_t *root, oxp__netcl_config *config,
                                     oxp_error *error)
{
  const json_t *type = json_object_get(root, "type");
  if (!json_is_string(type) || strcmp(json_string_value(type), "Sequential") != 0)
    return oxp__fail(error, OXP_BAD_FILE, "\"type\" is \"%.64s\", it should be \"Sequential\"",
                     json_is_string(type) ? json_string_value(type) : "missing or not a text");
  config->layers = json_object_get(root, "config");
  if (!config->layers) {
    config->layers = json_object_get(root, "layers");
    config->flat = true;
  }
  if (!config->layers)
    return oxp__fail(error, OXP_BAD_FILE, "there is neither \"config\" nor \"layers\" in the description");
  if (!json_is_array(config->layers))
    return oxp__fail(error, OXP_BAD_FILE, "\"%s\" is %s, it should be a list of layers",
                     config->flat ? "layers" : "config", oxp__json_type_name(config->layers));
  config_read_version(network, root, config);
  config_warn_unknown_keys(network, root);
  return OXP_OK;
}

oxp_status oxp__netcl_config_read(oxp_network *network, const json_t *root, oxp__netcl_config *config, oxp_error *error)
{
  if (json_is_object(root)) {
    oxp_status status = config_read_object(network, root, config, error);
    return status == OXP_OK ? OXP_OK : config_at(config, status, error);
  }
  config->layers = root;
  config->bare = true;
  if (!config->member)
    return OXP_OK;
  oxp__fail(error, OXP_BAD_FILE, "the metadata is %s, it should be an object", oxp__json_type_name(root));
  return config_at(config, OXP_BAD_FILE, error);
}

// --- Entries ---

static const char *config_type(const oxp__netcl_config *config, size_t index)
{
  const json_t *entry = json_array_get(config->layers, index);
  return json_is_object(entry) ? json_string_value(json_object_get(entry, "type")) : NULL;
}

// Where the arguments of an entry are: in "args", or beside the type (*beside). NULL: there are none.
static const json_t *config_arguments(const oxp__netcl_config *config, size_t index, bool *beside)
{
  const json_t *entry = json_array_get(config->layers, index), *arguments = json_object_get(entry, "args");
  *beside = config->flat || (config->bare && !arguments);
  return *beside ? entry : arguments;
}

// Every entry must be an object with a type; classes that we cannot read are collected and named together.
static oxp_status config_check_types(const oxp__netcl_config *config, oxp_error *error)
{
  oxp__text unknown = { 0 };
  oxp_status status = OXP_OK;
  for (size_t i = 0; status == OXP_OK && i < json_array_size(config->layers); i++) {
    const char *type = config_type(config, i);
    const oxp__kind *kind = type ? oxp__kind_in_dialect("netcl", type) : NULL;
    if (!type || !*type)
      status = oxp__fail(error, OXP_BAD_FILE, "layer %zu is %s, it should be an object with a text \"type\"", i,
                         oxp__json_type_name(json_array_get(config->layers, i)));
    else if (!kind || kind->min_inputs > 1 || (!config->bare && !oxp__netcl_type_find(type)))
      oxp__text_printf(&unknown, "%slayer %zu (%.64s)", unknown.length > 0 ? ", " : "", i, type);
  }
  if (status == OXP_OK && unknown.length > 0)
    status = oxp__fail(error, OXP_UNSUPPORTED,
                       "the network has layers that this format cannot hold or that are not known: %s",
                       oxp__text_string(&unknown));
  oxp__text_fini(&unknown);
  return status;
}

// --- Arguments ---

static oxp_status config_set_list(const oxp__param *param, void *params, const json_t *list, oxp_error *error)
{
  double numbers[OXP_MAX_RANK];
  size_t count = json_array_size(list);
  if (count == 0 || count > OXP_MAX_RANK)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the list has %zu entries; 1 to %d are allowed", count, OXP_MAX_RANK);
  for (size_t i = 0; i < count; i++) {
    const json_t *item = json_array_get(list, i);
    if (!oxp__json_number_value(item, &numbers[i]))
      return oxp__fail(error, OXP_BAD_ARGUMENT, "entry %zu of the list is %s, it should be a number", i,
                       oxp__json_type_name(item));
  }
  if (count == 2 && param->type == OXP__PARAM_INTS && param->count == 4) { // one padding for both sides of an axis
    numbers[2] = numbers[0];
    numbers[3] = numbers[1];
    count = 4;
  }
  return oxp__param_set_numbers(param, params, (int)count, numbers, error);
}

static oxp_status config_set(const oxp__param *param, void *params, const json_t *value, oxp_error *error)
{
  int64_t whole = json_integer_value(value);
  double number;
  if (!json_is_integer(value) && oxp__json_number_value(value, &number))
    return oxp__param_set_numbers(param, params, 1, &number, error);
  switch (json_typeof(value)) {
  case JSON_TRUE:
  case JSON_FALSE:
    return oxp__param_set_bool(param, params, json_is_true(value), error);
  case JSON_INTEGER:
    return oxp__param_set_ints(param, params, 1, &whole, error);
  case JSON_STRING:
    return oxp__param_set_text(param, params, json_string_value(value), error);
  case JSON_NULL:
    return oxp__param_set_null(param, params, error);
  case JSON_ARRAY:
    return config_set_list(param, params, value, error);
  case JSON_REAL: // done above
  case JSON_OBJECT:
    break;
  }
  return oxp__fail(error, OXP_BAD_ARGUMENT, "the argument is %s, it should be a number", oxp__json_type_name(value));
}

// netcl takes whole numbers of any size as the seed of training's generator, of which int64 holds not all.
static bool config_is_large_seed(const oxp__param *param, const json_t *value)
{
  bool large = fabs(json_number_value(value)) >= 9223372036854775808.0; // 2^63
  return strcmp(param->name, "seed") == 0 && large && (json_is_real(value) || json_integer_value(value) == OXP__UNSET);
}

// The rows say OXP_BAD_ARGUMENT; here the argument came from a file.
static oxp_status config_blame_file(oxp_status status, oxp_error *error)
{
  if (status != OXP_BAD_ARGUMENT)
    return status;
  if (error)
    error->status = OXP_BAD_FILE;
  return OXP_BAD_FILE;
}

static oxp_status config_apply(oxp_network *network, oxp__layer *layer, const char *key, const json_t *value,
                               oxp_error *error)
{
  const oxp__param *param = oxp__param_find(layer->kind, "netcl", key);
  const oxp__netcl_type *type = oxp__netcl_type_find(layer->source_kind);
  char label[256];
  if (!param && type && !type->strict) {
    oxp__network_warn(network, "The argument \"%.64s\" of %s is not known; it is not used.", key,
                      oxp__layer_label(layer, label, sizeof label));
    return OXP_OK;
  }
  if (!param)
    return oxp__fail(error, OXP_BAD_FILE, "there is no argument \"%.64s\"", key);
  if (config_is_large_seed(param, value)) {
    oxp__network_warn(network, "The seed of %s is too large to be held; it has no effect in inference and is left out.",
                      oxp__layer_label(layer, label, sizeof label));
    return oxp__param_set_null(param, layer->params, error);
  }
  oxp_status status = config_blame_file(config_set(param, layer->params, value, error), error);
  return status == OXP_OK ? OXP_OK : oxp__at_key(error, status, key);
}

static oxp_status config_check_required(const oxp__layer *layer, const json_t *arguments, oxp_error *error)
{
  oxp__text missing = { 0 };
  for (int i = 0; i < layer->kind->param_count; i++) {
    const oxp__param *param = &layer->kind->params[i];
    const char *name = oxp__param_dialect_name(param, "netcl");
    if (name && oxp__param_required(param, "netcl") && !json_object_get(arguments, name))
      oxp__text_printf(&missing, "%s\"%s\"", missing.length > 0 ? ", " : "", name);
  }
  oxp_status status = OXP_OK;
  if (missing.length > 0)
    status = oxp__fail(error, OXP_BAD_FILE, "required arguments are missing: %s", oxp__text_string(&missing));
  oxp__text_fini(&missing);
  return status;
}

// Keys of an entry whose arguments stand in "args". netcl ignores them, and so do we, but not in silence; in a bare list, where
// arguments may stand there, they are refused.
static oxp_status config_check_entry(oxp_network *network, const oxp__netcl_config *config, const oxp__layer *layer,
                                     oxp_error *error)
{
  char label[256];
  const char *key;
  json_t *value;
  json_object_foreach(json_array_get(config->layers, (size_t)layer->index), key, value)
  {
    if (strcmp(key, "type") == 0 || strcmp(key, "args") == 0)
      continue;
    if (config->bare)
      return oxp__fail(error, OXP_BAD_FILE,
                       "there are \"args\" and, beside them, \"%.64s\"; arguments are in one of the two places", key);
    oxp__network_warn(network, "The key \"%.64s\" of %s does not stand in its \"args\"; it is not used.", key,
                      oxp__layer_label(layer, label, sizeof label));
  }
  return OXP_OK;
}

static oxp_status config_fill(oxp_network *network, const oxp__netcl_config *config, oxp__layer *layer,
                              oxp_error *error)
{
  bool beside;
  const json_t *arguments = config_arguments(config, (size_t)layer->index, &beside);
  if (arguments && !json_is_null(arguments) && !json_is_object(arguments))
    return oxp__fail(error, OXP_BAD_FILE, "\"args\" is %s, it should be an object", oxp__json_type_name(arguments));
  if (!beside)
    OXP__TRY(config_check_entry(network, config, layer, error));
  OXP__TRY(config_check_required(layer, arguments, error));
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)arguments, key, value)
  {
    if (!beside || strcmp(key, "type") != 0)
      OXP__TRY(config_apply(network, layer, key, value, error));
  }
  return OXP_OK;
}

// netcl normalises over the last axis even where its constructor was given several; ours takes all of them.
static oxp_status config_check_layer(const oxp__layer *layer, oxp_error *error)
{
  const oxp__param *axes = oxp__param_find(layer->kind, "netcl", "normalized_shape");
  if (axes && oxp__param_number_count(axes, layer->params) > 1)
    return oxp__fail(error, OXP_UNSUPPORTED,
                     "normalized_shape has %d sizes; netcl normalizes over the last axis only and its engines disagree "
                     "about the scale, so there is no exact form",
                     oxp__param_number_count(axes, layer->params));
  return layer->kind->check ? layer->kind->check(layer, error) : OXP_OK;
}

// --- Building ---

static oxp_status config_add_layer(oxp_network *network, const oxp__netcl_config *config, size_t index,
                                   oxp_value *value, oxp_error *error)
{
  const char *type = config_type(config, index);
  *value = oxp__network_add(network, oxp__kind_in_dialect("netcl", type), "netcl", type, NULL, 1, value);
  if (*value < 0)
    return OXP_OK; // the network remembers why
  oxp__layer *layer = network->layers[network->layer_count - 1];
  oxp_status status = config_fill(network, config, layer, error);
  if (status == OXP_OK)
    status = config_check_layer(layer, error);
  char label[256];
  return status == OXP_OK ? OXP_OK : oxp__at_layer(error, status, "%s", oxp__layer_label(layer, label, sizeof label));
}

static oxp_status config_build(oxp_network *network, const oxp__netcl_config *config, oxp_error *error)
{
  OXP__TRY(config_check_types(config, error));
  oxp_value value = oxp_network_add_input(network, "input", 1, (int64_t[]){ OXP_DIM_BATCH });
  for (size_t i = 0; value >= 0 && i < json_array_size(config->layers); i++)
    OXP__TRY(config_add_layer(network, config, i, &value, error));
  oxp_network_add_output(network, value, NULL);
  if (network->status != OXP_OK && error)
    *error = network->mistake;
  return network->status;
}

oxp_status oxp__netcl_config_build(oxp_network *network, const oxp__netcl_config *config, oxp_error *error)
{
  oxp_status status = config_build(network, config, error);
  return status == OXP_OK ? OXP_OK : config_at(config, status, error);
}

bool oxp__netcl_config_bias_is_open(const oxp__netcl_config *config, const oxp_network *network, size_t index)
{
  bool beside;
  const oxp__layer *layer = network->layers[index];
  return config->version == 1 && strcmp(layer->source_kind, "Conv2d") == 0 &&
         !json_object_get(config_arguments(config, index, &beside), "bias");
}
