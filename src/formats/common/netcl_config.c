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
  const json_t *flat = json_object_get(root, "layers");
  if (!config->layers || (json_is_null(config->layers) && flat)) {
    config->layers = flat;
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

// --- What cannot be exported ---

// Classes of netcl that are no step in a chain of arrays from one input to one output, or that have no exact form here.
static const struct {
  const char *type, *why;
} config_others[] = {
  { "CausalSelfAttention", "attention" },
  { "DecoderBlock", "attention" },
  { "Embedding", "its input is whole numbers" },
  { "ModuleDict", "it cannot be run by itself" },
  { "ModuleList", "it cannot be run by itself" },
  { "MultiheadAttention", "attention" },
  { "PositionalEmbedding", "its input is a length" },
  { "ResNet18", "it branches, and normalizes with the statistics of the batch" },
  { "RotaryAttention", "attention" },
  { "Sequential", "a network within the network" },
  { "TiedLinear", "its weight is another layer's" },
  { "TransformerBlock", "attention" },
  { "TransformerEncoderLayer", "attention" },
};

// netcl normalises over the last axis even where its constructor was given several; ours takes all of them.
static bool config_has_axes(const oxp__netcl_config *config, size_t index, const oxp__kind *kind)
{
  bool beside;
  const json_t *shape = json_object_get(config_arguments(config, index, &beside), "normalized_shape");
  return oxp__param_find(kind, "netcl", "normalized_shape") && json_array_size(shape) > 1;
}

// Why an entry cannot be exported; NULL when it can, as far as its class is concerned.
static const char *config_refusal(const oxp__netcl_config *config, size_t index, const char *type)
{
  const oxp__kind *kind = oxp__kind_in_dialect("netcl", type);
  for (size_t i = 0; !kind && i < OXP__COUNT(config_others); i++)
    if (strcmp(config_others[i].type, type) == 0)
      return config_others[i].why;
  if (!kind)
    return "not known";
  if (kind->min_inputs > 1)
    return "it has several inputs";
  if (!config->bare && !oxp__netcl_type_find(type))
    return "netcl's files cannot hold it, a bare list of layers can";
  if (config_has_axes(config, index, kind))
    return "normalized_shape has several axes; netcl normalizes over the last axis only and its engines disagree about "
           "the scale";
  return NULL;
}

// Every entry must be an object with a type; those that cannot be exported are collected and named together.
static oxp_status config_check_types(const oxp__netcl_config *config, oxp_error *error)
{
  oxp__text refused = { 0 };
  oxp_status status = OXP_OK;
  for (size_t i = 0; status == OXP_OK && i < json_array_size(config->layers); i++) {
    const char *type = config_type(config, i), *why = NULL;
    if (!type || !*type)
      status = oxp__fail(error, OXP_BAD_FILE, "layer %zu is %s, it should be an object with a text \"type\"", i,
                         oxp__json_type_name(json_array_get(config->layers, i)));
    else
      why = config_refusal(config, i, type);
    if (why)
      oxp__text_printf(&refused, "%slayer %zu (%.64s): %s", refused.length > 0 ? "; " : "", i, type, why);
  }
  if (status == OXP_OK && refused.length > 0)
    status = oxp__fail(error, OXP_UNSUPPORTED, "the network cannot be exported: %s", oxp__text_string(&refused));
  oxp__text_fini(&refused);
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
  if (count == 1 && param->type != OXP__PARAM_LIST)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the list has one entry; one number stands without a list");
  if (count == 2 && param->type == OXP__PARAM_INTS && param->count == 4) { // one padding for both sides of an axis
    numbers[2] = numbers[0];
    numbers[3] = numbers[1];
    count = 4;
  }
  return oxp__param_set_numbers(param, params, (int)count, numbers, error);
}

// What Python takes for true: everything but none, zero and what is empty.
static bool config_truth(const json_t *value)
{
  double number;
  if (oxp__json_number_value(value, &number))
    return number < 0 || number > 0 || isnan(number);
  return json_is_true(value) || json_string_length(value) > 0 || json_array_size(value) > 0 ||
         json_object_size(value) > 0;
}

static oxp_status config_fail_type(const json_t *value, const char *wanted, oxp_error *error)
{
  return oxp__fail(error, OXP_BAD_ARGUMENT, "the argument is %s, it should be %s", oxp__json_type_name(value), wanted);
}

static oxp_status config_set_number(const oxp__param *param, void *params, const json_t *value, oxp_error *error)
{
  int64_t whole = json_is_boolean(value) ? json_is_true(value) : json_integer_value(value);
  double number;
  if (json_is_integer(value) || json_is_boolean(value)) // a truth value is a number to Python
    return oxp__param_set_ints(param, params, 1, &whole, error);
  if (!oxp__json_number_value(value, &number))
    return config_fail_type(value, "a number", error);
  const oxp__param_alias *alias = oxp__param_alias_in(param, "netcl");
  if (alias && alias->whole &&
      fabs(number) < 9223372036854775808.0) // 2^63: from there on whole numbers come as real ones
    return config_fail_type(value, "a whole number without a point", error);
  return oxp__param_set_numbers(param, params, 1, &number, error);
}

// Lists stand for several numbers. netcl's own files have none, because its constructors fail for them; a bare list of
// layers may have pairs.
static oxp_status config_set(const oxp__param *param, void *params, const json_t *value, bool lists, oxp_error *error)
{
  double number;
  bool several = param->type == OXP__PARAM_LIST || param->type == OXP__PARAM_FLOATS || param->type == OXP__PARAM_INTS;
  if (param->type == OXP__PARAM_BOOL)
    return oxp__param_set_bool(param, params, config_truth(value), error);
  const oxp__param_alias *alias = oxp__param_alias_in(param, "netcl");
  if (json_is_boolean(value) && alias && alias->truth)
    return oxp__param_set_bool(param, params, json_is_true(value), error);
  if (json_is_string(value) && !oxp__json_number_value(value, &number))
    return oxp__param_set_text(param, params, json_string_value(value), error);
  if (json_is_null(value))
    return oxp__param_set_null(param, params, error);
  if (json_is_array(value) && several && lists)
    return config_set_list(param, params, value, error);
  if (param->type == OXP__PARAM_LIST || param->type == OXP__PARAM_CHOICE)
    return config_fail_type(value, param->type == OXP__PARAM_LIST ? "a list" : "a text", error);
  return config_set_number(param, params, value, error);
}

static oxp_status config_apply(oxp_network *network, const oxp__netcl_config *config, oxp__layer *layer,
                               const char *key, const json_t *value, oxp_error *error)
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
  oxp_error reason = { 0 };
  oxp_status status = oxp__blame_file(&reason, config_set(param, layer->params, value, config->bare, &reason));
  if (status == OXP_OK)
    return OXP_OK;
  if (param->idle && status == OXP_BAD_FILE) {
    oxp__network_warn(network, "The %s of %s has no effect in inference and is left out: %s.", key,
                      oxp__layer_label(layer, label, sizeof label), reason.message);
    return OXP_OK;
  }
  if (error)
    *error = reason;
  return oxp__at_key(error, status, key);
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
      OXP__TRY(config_apply(network, config, layer, key, value, error));
  }
  return OXP_OK;
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
  if (status == OXP_OK && layer->kind->check)
    status = layer->kind->check(layer, error);
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
