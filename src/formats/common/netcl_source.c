// netcl_source.c: see netcl_source.h. Place: formats/common.
#include "formats/common/netcl_source.h"

#include <string.h>
#include <sys/stat.h>

#include "net/input_size.h"

// --- The pair of files ---

static bool source_ends_in(const char *path, const char *suffix)
{
  size_t length = strlen(path), tail = strlen(suffix);
  return length > tail && strcmp(path + length - tail, suffix) == 0;
}

const char *oxp__netcl_sibling(oxp__arena *arena, const char *path, const char *suffix)
{
  size_t length = strlen(path);
  if (source_ends_in(path, ".json"))
    length -= 5;
  else if (source_ends_in(path, ".npz"))
    length -= 4;
  return oxp__arena_printf(arena, "%.*s%s", (int)length, path, suffix);
}

static bool source_exists(const char *path)
{
  struct stat status;
  return stat(path, &status) == 0;
}

static oxp__netcl_json source_classify(const json_t *root)
{
  if (json_is_array(root))
    return OXP__NETCL_JSON_LAYERS;
  bool listed = json_is_array(json_object_get(root, "config")) || json_object_get(root, "layers");
  if (listed || json_object_get(root, "type"))
    return OXP__NETCL_JSON_MODEL;
  return json_object_get(root, "optim_state") ? OXP__NETCL_JSON_CHECKPOINT : OXP__NETCL_JSON_NONE;
}

static oxp_status source_parse(oxp__arena *arena, oxp__netcl_pair *pair, oxp_error *error)
{
  char *text;
  size_t count;
  oxp_status status = oxp__file_read_all(arena, pair->json, OXP__JSON_LIMIT_BYTES, &text, &count, error);
  if (status == OXP_OK)
    status = oxp__json_parse(arena, text, count, &pair->root, error);
  status = oxp__blame_resembling(pair->json, "JSON text", status, error);
  if (status != OXP_OK)
    return oxp__at_file(error, status, pair->json_path);
  pair->kind = source_classify(pair->root);
  return OXP_OK;
}

static bool source_is_json(const oxp__candidate *candidate)
{
  return candidate->file && oxp__json_begins(candidate->head, candidate->head_count);
}

static oxp_status source_open_npz(oxp__arena *arena, oxp__netcl_pair *pair, oxp_error *error)
{
  oxp__zip *zip;
  OXP__TRY(oxp__file_open(arena, pair->npz_path, &pair->npz, error));
  oxp_status status = oxp__zip_open(arena, pair->npz, &zip, error);
  status = oxp__blame_resembling(pair->npz, "a zip archive", status, error);
  if (status != OXP_OK)
    return oxp__at_file(error, status, pair->npz_path);
  pair->zip = zip;
  return OXP_OK;
}

oxp_status oxp__netcl_pair_open(oxp__arena *arena, const oxp__candidate *candidate, oxp__netcl_pair *pair,
                                oxp_error *error)
{
  bool is_json = source_is_json(candidate), is_zip = candidate->file && candidate->zip;
  *pair = (oxp__netcl_pair){ .json_path = oxp__netcl_sibling(arena, candidate->path, ".json"),
                             .npz_path = oxp__netcl_sibling(arena, candidate->path, ".npz") };
  if (!pair->json_path || !pair->npz_path)
    return oxp__fail_memory(error, strlen(candidate->path));
  if (is_json) {
    pair->json = candidate->file;
    pair->json_path = candidate->path;
  } else if (source_exists(pair->json_path))
    OXP__TRY(oxp__file_open(arena, pair->json_path, &pair->json, error));
  if (pair->json)
    OXP__TRY(source_parse(arena, pair, error));
  if (is_zip) {
    pair->npz = candidate->file;
    pair->zip = candidate->zip;
    pair->npz_path = candidate->path;
  } else if (source_exists(pair->npz_path))
    return source_open_npz(arena, pair, error);
  return OXP_OK;
}

void oxp__netcl_pair_probe(const oxp__candidate *candidate, oxp__netcl_json *kind, bool *has_weights)
{
  oxp__arena arena = { 0 };
  oxp__netcl_pair pair;
  (void)oxp__netcl_pair_open(&arena, candidate, &pair, NULL); // a damaged part is reported when the file is read
  *kind = pair.kind;
  *has_weights = pair.npz != NULL;
  oxp__arena_fini(&arena);
}

// --- Sources ---

oxp_status oxp__netcl_source_from_archive(oxp_network *network, const oxp__zip *zip, const char *path,
                                          oxp__netcl_source *source, oxp_error *error)
{
  *source = (oxp__netcl_source){ .config = { .path = path, .member = OXP__NETCL_META },
                                 .weights = zip,
                                 .weights_path = path };
  const oxp__zip_member *member = oxp__zip_find(zip, OXP__NETCL_META);
  if (!member) {
    oxp__fail(error, OXP_BAD_FILE, "the archive has no member " OXP__NETCL_META ", which holds the network's layers");
    return oxp__at_file(error, OXP_BAD_FILE, path);
  }
  oxp__npy npy;
  char *text = NULL;
  const json_t *root = NULL;
  oxp_status status = oxp__npy_open_member(&network->arena, zip, member, &npy, error);
  if (status == OXP_OK)
    status = oxp__npy_read_text(&network->reading, &npy, OXP__JSON_LIMIT_BYTES, &text, error);
  if (status == OXP_OK)
    oxp__npz_warn_rest(network, member->name, npy.rest_bytes);
  if (status == OXP_OK)
    status = oxp__json_parse(&network->reading, text, strlen(text), &root, error);
  if (status == OXP_OK)
    return oxp__netcl_config_read(network, root, &source->config, error);
  oxp__at_key(error, status, member->name);
  return oxp__at_file(error, status, path);
}

oxp_status oxp__netcl_source_from_pair(oxp_network *network, const oxp__netcl_pair *pair, oxp__netcl_source *source,
                                       oxp_error *error)
{
  *source = (oxp__netcl_source){ .config = { .path = pair->json_path },
                                 .weights = pair->zip,
                                 .weights_path = pair->npz_path };
  if (pair->kind == OXP__NETCL_JSON_MODEL || pair->kind == OXP__NETCL_JSON_LAYERS)
    return oxp__netcl_config_read(network, pair->root, &source->config, error);
  oxp__fail(error, OXP_BAD_FILE, "%s",
            pair->json ? "this JSON does not describe a network: it is neither a list of layers nor an object with "
                         "\"type\" and \"config\""
                       : "the file that describes the network's layers is missing");
  return oxp__at_file(error, OXP_BAD_FILE, pair->json_path);
}

oxp_status oxp__netcl_source_open(oxp_network *network, const char *path, oxp__netcl_source *source, oxp_error *error)
{
  oxp__arena *arena = &network->arena;
  oxp__candidate *candidate = oxp__arena_new(arena, 1, sizeof *candidate);
  if (!candidate)
    return oxp__fail_memory(error, sizeof *candidate);
  OXP__TRY(oxp__candidate_open(arena, path, candidate, error));
  if (candidate->zip && oxp__zip_find(candidate->zip, OXP__NETCL_META))
    return oxp__netcl_source_from_archive(network, candidate->zip, candidate->path, source, error);
  if (!candidate->zip && candidate->zip_error.status != OXP_OK) {
    if (error)
      *error = candidate->zip_error;
    return oxp__at_file(error, candidate->zip_error.status, path);
  }
  oxp__netcl_pair pair;
  OXP__TRY(oxp__netcl_pair_open(arena, candidate, &pair, error));
  if (!pair.json && !candidate->file) // neither a file nor a stem
    return oxp__candidate_fail_missing(candidate, error);
  if (pair.json || candidate->zip)
    return oxp__netcl_source_from_pair(network, &pair, source, error);
  oxp__fail_resembling(candidate->head, candidate->head_count, "no description of a network", error);
  return oxp__at_file(error, OXP_BAD_FILE, path);
}

// --- Loading ---

// In version 1 a Conv2d without a bias says so only by having no member for it.
static oxp_status source_settle_bias(oxp_network *network, const oxp__netcl_config *config, const oxp__weights *weights,
                                     size_t index, oxp_error *error)
{
  oxp__layer *layer = network->layers[index];
  const oxp__param *bias = oxp__param_find(layer->kind, "netcl", "bias");
  int role = oxp__role_find(layer->kind, "netcl", "bias");
  if (role < 0 || !oxp__netcl_config_bias_is_open(config, network, index))
    return OXP_OK;
  const oxp__weights *from = weights->bias_from ? weights->bias_from : weights;
  const char *name;
  oxp_tensor tensor;
  OXP__TRY(from->find(from, layer, role, &name, &tensor, error));
  return oxp__param_set_bool(bias, layer->params, tensor.rank >= 0, error);
}

oxp_status oxp__netcl_load(oxp_network *network, const oxp__netcl_config *config, const oxp__weights *weights,
                           const oxp_open_options *options, oxp_error *error)
{
  OXP__TRY(oxp__netcl_config_build(network, config, error));
  if (weights->begin)
    OXP__TRY(weights->begin(weights, error));
  for (size_t i = 0; i < network->layer_count; i++)
    OXP__TRY(source_settle_bias(network, config, weights, i, error));
  OXP__TRY(oxp__weights_bind(network, weights, error));
  return oxp__input_size_settle(network, options->input_rank, options->input_shape, error);
}

static oxp_status source_find_nothing(const oxp__weights *weights, const oxp__layer *layer, int role, const char **name,
                                      oxp_tensor *tensor, oxp_error *error)
{
  (void)error;
  *name = oxp__role_dialect_name(&layer->kind->weights[role], weights->dialect);
  *tensor = (oxp_tensor){ .rank = -1 };
  return OXP_OK;
}

oxp_status oxp__netcl_load_own(oxp_network *network, const oxp__netcl_source *source, const oxp_open_options *options,
                               oxp_error *error)
{
  oxp__weights weights = { .dialect = "netcl", .path = source->weights_path };
  if (!source->weights) {
    weights.find = source_find_nothing;
    weights.hint = "there is no such file";
    return oxp__netcl_load(network, &source->config, &weights, options, error);
  }
  oxp__npz npz;
  OXP__TRY(oxp__npz_init(&npz, &network->arena, source->weights, error));
  weights.context = &npz;
  weights.find = oxp__npz_find_role;
  weights.hint = oxp__npz_has_layers(npz.zip) ? NULL : oxp__npz_describe(&npz); // netcl's own names need no list
  OXP__TRY(oxp__netcl_load(network, &source->config, &weights, options, error));
  oxp__npz_warn_unused(&npz, network);
  return OXP_OK;
}
