// netcl_save.c: see netcl_save.h. Place: formats/common.
#include "formats/common/netcl_save.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/netcl_source.h"

// --- What can be held ---

static void save_object(oxp__text *reasons, const oxp__layer *layer, const char *reason)
{
  char label[256];
  oxp__text_printf(reasons, "%s%s: %s", reasons->length > 0 ? "; " : "", oxp__layer_label(layer, label, sizeof label),
                   reason);
}

// True when netcl's row lists the argument.
static bool save_is_listed(const oxp__netcl_type *type, const char *name)
{
  size_t length = strlen(name);
  for (const char *at = type->arguments; *at; at = strchr(at, ' ') + 1)
    if (strncmp(at, name, length) == 0 && at[length] == ' ')
      return true;
  return false;
}

static bool save_same(double a, double b)
{
  return (isnan(a) && isnan(b)) || !(a < b || a > b);
}

// A listed argument is one number for all; what is not listed must have the value that netcl works with.
static void save_check_param(oxp__text *reasons, const oxp__layer *layer, const oxp__netcl_type *type,
                             const oxp__param *param, const void *defaults)
{
  const char *name = oxp__param_dialect_name(param, "netcl");
  bool listed = name && save_is_listed(type, name), right = true;
  int count = oxp__param_number_count(param, layer->params);
  for (int i = 0; i < count; i++) {
    double wanted = listed ? oxp__param_number(param, layer->params, 0) : oxp__param_number(param, defaults, i);
    right = right && save_same(oxp__param_number(param, layer->params, i), wanted);
  }
  char reason[160];
  snprintf(reason, sizeof reason, listed ? "netcl has one number for %s, this layer has several" : "netcl has no %s",
           param->name);
  if (!right)
    save_object(reasons, layer, reason);
}

static oxp_status save_check_layer(const oxp_network *network, const oxp__layer *layer, oxp__text *reasons,
                                   oxp_error *error)
{
  const char *name = oxp__kind_dialect_name(layer->kind, "netcl");
  const oxp__netcl_type *type = name ? oxp__netcl_type_find(name) : NULL;
  if (!type) {
    save_object(reasons, layer, "netcl cannot save this kind");
    return OXP_OK;
  }
  oxp_value before = layer->index == 0 ? network->inputs[0] : network->layers[layer->index - 1]->output;
  if (layer->input_count != 1 || layer->inputs[0] != before)
    save_object(reasons, layer, "its input is not the layer before it, and netcl saves chains only");
  void *defaults = calloc(1, layer->kind->params_bytes + 1);
  if (!defaults)
    return oxp__fail_memory(error, layer->kind->params_bytes);
  oxp__params_default(layer->kind, "netcl", defaults);
  for (int i = 0; i < layer->kind->param_count; i++)
    save_check_param(reasons, layer, type, &layer->kind->params[i], defaults);
  free(defaults);
  return OXP_OK;
}

oxp_status oxp__netcl_check_can_hold(const oxp_network *network, oxp_error *error)
{
  if (network->dtype != OXP_FLOAT32)
    return oxp__fail(error, OXP_UNSUPPORTED, "netcl computes in float32, this network in %s",
                     oxp_dtype_name(network->dtype));
  if (network->input_count != 1 || network->output_count != 1)
    return oxp__fail(error, OXP_UNSUPPORTED,
                     "netcl saves chains with one input and one output, this network has %zu and %zu",
                     network->input_count, network->output_count);
  oxp__text reasons = { 0 };
  oxp_status status = OXP_OK;
  for (size_t i = 0; status == OXP_OK && i < network->layer_count; i++)
    status = save_check_layer(network, network->layers[i], &reasons, error);
  oxp_value last = network->layer_count ? network->layers[network->layer_count - 1]->output : network->inputs[0];
  if (status == OXP_OK && reasons.length == 0 && network->outputs[0] != last)
    status = oxp__fail(error, OXP_UNSUPPORTED, "netcl saves chains only, and the output is not that of the last layer");
  if (status == OXP_OK && reasons.length > 0)
    status = oxp__fail(error, OXP_UNSUPPORTED, "the format cannot hold %s", oxp__text_string(&reasons));
  oxp__text_fini(&reasons);
  return status;
}

// --- JSON as Python prints it ---

// A float as Python's repr: the fewest digits that read back, plain from 1e-4 to 1e16, else with an exponent of two digits or more.
static void save_add_float(oxp__text *text, double number)
{
  char scientific[40], digits[20];
  for (int precision = 0; precision <= 16; precision++) {
    snprintf(scientific, sizeof scientific, "%.*e", precision, number);
    if (save_same(strtod(scientific, NULL), number))
      break;
  }
  const char *e = strchr(scientific, 'e');
  int count = 0, exponent = atoi(e + 1);
  for (const char *at = scientific; at < e; at++) // whatever the locale's decimal point is, it is no digit
    if (*at >= '0' && *at <= '9')
      digits[count++] = *at;
  while (count > 1 && digits[count - 1] == '0')
    count--;
  if (signbit(number))
    oxp__text_add(text, "-");
  if (exponent < -4 || exponent >= 16) {
    oxp__text_printf(text, "%c%s%.*se%s%02d", digits[0], count > 1 ? "." : "", count - 1, digits + 1,
                     exponent < 0 ? "-" : "+", abs(exponent));
    return;
  }
  if (exponent < 0)
    oxp__text_printf(text, "0.%.*s%.*s", -exponent - 1, "0000", count, digits);
  for (int i = 0; exponent >= 0 && (i <= exponent + 1 || i < count); i++) {
    if (i == exponent + 1)
      oxp__text_add(text, ".");
    oxp__text_printf(text, "%c", i < count ? digits[i] : '0');
  }
}

static void save_add_value(oxp__text *text, const oxp__param *param, const void *params)
{
  double number = oxp__param_number(param, params, 0);
  if (isnan(number) && param->nullable)
    oxp__text_add(text, "null");
  else if (!isfinite(number)) // as Python writes them
    oxp__text_add(text, isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity");
  else if (oxp__param_is_int(param))
    oxp__text_printf(text, "%" PRId64, oxp__param_int(param, params, 0));
  else if (param->type == OXP__PARAM_BOOL)
    oxp__text_add(text, number > 0 ? "true" : "false");
  else
    save_add_float(text, number);
}

static void save_add_layer(oxp__text *text, const oxp__layer *layer)
{
  const oxp__netcl_type *type = oxp__netcl_type_find(oxp__kind_dialect_name(layer->kind, "netcl"));
  oxp__text_printf(text, "{\"type\": \"%s\", \"args\": {", type->name);
  for (const char *at = type->arguments; *at; at = strchr(at, ' ') + 1) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " "), at);
    oxp__text_printf(text, "%s\"%s\": ", at == type->arguments ? "" : ", ", name);
    save_add_value(text, oxp__param_find(layer->kind, "netcl", name), layer->params);
  }
  oxp__text_add(text, "}}");
}

oxp_status oxp__netcl_save_text(const oxp_network *network, bool single_file, oxp__text *text, oxp_error *error)
{
  oxp__text_add(text, "{\"type\": \"Sequential\", \"config\": [");
  for (size_t i = 0; i < network->layer_count; i++) {
    oxp__text_add(text, i > 0 ? ", " : "");
    save_add_layer(text, network->layers[i]);
  }
  oxp__text_add(text, single_file ? "], \"version\": 2, \"format\": \"netcl.single-file\"}" : "], \"version\": 2}");
  return oxp__text_status(text, error);
}

// --- Arrays ---

oxp_tensor oxp__netcl_stored_view(const oxp__layer *layer, int role, const char *dialect)
{
  const oxp_tensor *canonical = &layer->weights[role].tensor;
  const char *order = oxp__role_axes(&layer->kind->weights[role], dialect);
  int axes[OXP_MAX_RANK];
  if (!order)
    return *canonical;
  for (int i = 0; i < canonical->rank; i++) // canonical axis i is stored axis order[i]
    axes[order[i] - '0'] = i;
  return oxp__tensor_permute(canonical, axes);
}

oxp_status oxp__netcl_save_array(oxp__zip_writer *writer, const char *member, const oxp__layer *layer, int role,
                                 oxp_error *error)
{
  oxp_tensor stored = oxp__netcl_stored_view(layer, role, "netcl");
  OXP__TRY(oxp__zip_writer_begin(writer, member, error));
  OXP__TRY(oxp__npy_write(&stored, OXP_FLOAT32, oxp__zip_writer_sink(writer), error));
  return oxp__zip_writer_end(writer, error);
}

oxp_status oxp__netcl_save_weights(const oxp_network *network, oxp__zip_writer *writer, oxp_error *error)
{
  for (size_t i = 0; i < network->layer_count; i++) {
    const oxp__layer *layer = network->layers[i];
    for (int role = 0; role < layer->kind->weight_count; role++) {
      char member[128];
      snprintf(member, sizeof member, "%d:%s.npy", layer->index,
               oxp__role_dialect_name(&layer->kind->weights[role], "netcl"));
      if (layer->weights[role].present)
        OXP__TRY(oxp__netcl_save_array(writer, member, layer, role, error));
    }
  }
  return OXP_OK;
}

// --- Two files ---

oxp_status oxp__netcl_output_open(oxp__netcl_output *output, const char *path, const oxp__output_guard *guard,
                                  oxp_error *error)
{
  *output = (oxp__netcl_output){ 0 };
  const char *npz = oxp__netcl_sibling(&output->arena, path, ".npz");
  const char *json = oxp__netcl_sibling(&output->arena, path, ".json");
  oxp_status status = npz && json ? OXP_OK : oxp__fail_memory(error, strlen(path));
  if (status == OXP_OK)
    status = oxp__output_open(&output->npz, npz, guard, error);
  if (status == OXP_OK)
    status = oxp__output_open(&output->json, json, guard, error);
  if (status == OXP_OK)
    status = oxp__zip_writer_new(&output->arena, &output->npz, &output->writer, error);
  return status;
}

// The description goes last, and the old one first: without it nobody takes the archive for a network, and an old one would make a
// wrong network of it. So would that of another process, which is kept out by the lock.
static oxp_status save_commit(oxp__netcl_output *output, oxp_error *error)
{
  oxp__output *const both[] = { &output->npz, &output->json };
  int lock;
  OXP__TRY(oxp__output_lock_folder(&output->json, &lock, error));
  oxp_status status = oxp__outputs_commit(both, 2, true, OXP_SYNC_AUTO, error);
  oxp__folder_unlock(lock);
  return status;
}

oxp_status oxp__netcl_output_close(oxp__netcl_output *output, oxp_status status, const char *json_text,
                                   oxp_error *error)
{
  if (status == OXP_OK)
    status = oxp__zip_writer_finish(output->writer, error);
  if (status == OXP_OK)
    status = oxp__output_write(&output->json, json_text, strlen(json_text), error);
  if (status == OXP_OK)
    status = save_commit(output, error);
  oxp__output_abort(&output->npz);
  oxp__output_abort(&output->json);
  oxp__arena_fini(&output->arena);
  return status;
}
