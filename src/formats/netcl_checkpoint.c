// netcl_checkpoint.c: netcl's training checkpoint, STEM.npz with the trained parameters (p0, p1, ... or the caller's names) and
// STEM.json with the optimizer's state. It holds no layers and no running statistics: both come from the description, or the file
// is refused. Place: formats.
#include <stdio.h>
#include <string.h>

#include "formats/common/netcl_save.h"
#include "formats/common/netcl_source.h"

// Parameters in the order of layers and roles, statistics from the description's own archive.
typedef struct checkpoint_store {
  oxp__npz npz;
  bool numbered; // p0, p1, ...; else the members are in order, whatever their names
  size_t next;
  oxp__npz description;
  oxp__weights own; // the description's; `find` is NULL when it has none
} checkpoint_store;

// Running statistics are buffers to netcl, not parameters: a checkpoint never has them.
static bool checkpoint_holds(const oxp__layer *layer, int role)
{
  return strncmp(layer->kind->weights[role].role, "running_", 8) != 0;
}

static int checkpoint_probe(const oxp__candidate *candidate)
{
  oxp__netcl_json kind;
  bool has_weights;
  const oxp__zip *zip = candidate->zip;
  if (zip && (oxp__zip_find(zip, OXP__NETCL_META) || oxp__npz_has_layers(zip)))
    return 0;
  oxp__netcl_pair_probe(candidate, &kind, &has_weights);
  if (kind == OXP__NETCL_JSON_CHECKPOINT)
    return has_weights ? 90 : 50;
  if (!zip || zip->member_count == 0)
    return 0;
  for (size_t i = 0; i < zip->member_count; i++) {
    size_t length = strlen(zip->members[i].name);
    if (length < 4 || strcmp(zip->members[i].name + length - 4, ".npy") != 0)
      return 0;
  }
  return 30; // some archive of arrays
}

// --- Reading ---

// Does the row call its role so, in whatever dialect?
static bool checkpoint_is_called(const oxp__weight_row *row, const char *word, size_t length)
{
  bool is = strlen(row->role) == length && memcmp(row->role, word, length) == 0;
  for (int i = 0; !is && i < OXP__MAX_DIALECTS && row->in[i].dialect; i++)
    is = strlen(row->in[i].name) == length && memcmp(row->in[i].name, word, length) == 0;
  return is;
}

// Is it the word for a role of any kind?
static bool checkpoint_is_role(const char *word, size_t length)
{
  for (size_t i = 0; i < oxp__kind_count; i++)
    for (int role = 0; role < oxp__kinds[i]->weight_count; role++)
      if (checkpoint_is_called(&oxp__kinds[i]->weights[role], word, length))
        return true;
  return false;
}

// The place in a name, of `length` letters, where a role's word begins that the name ends in ("bn1.gamma", "bn1_gamma"); NULL when it
// ends in something else.
static const char *checkpoint_role_word(const char *name, size_t length)
{
  static const char separators[] = ".:/_-";
  for (size_t at = 0; at < length; at++)
    if ((at == 0 || strchr(separators, name[at - 1])) && checkpoint_is_role(name + at, length - at))
      return name + at;
  return NULL;
}

// The order is all that binds arrays with names of their own. Where a name contradicts it, neither is to be believed.
static oxp_status checkpoint_check_name(const oxp__layer *layer, int role, const char *member, oxp_error *error)
{
  const oxp__weight_row *row = &layer->kind->weights[role];
  size_t length = strlen(member), suffix = strlen(".npy");
  if (length >= suffix && strcmp(member + length - suffix, ".npy") == 0)
    length -= suffix;
  const char *word = checkpoint_role_word(member, length);
  size_t word_length = word ? length - (size_t)(word - member) : 0;
  if (!word || checkpoint_is_called(row, word, word_length))
    return OXP_OK;
  oxp__fail(error, OXP_BAD_FILE,
            "the order of the checkpoint makes this array the layer's %s, its name says that it is a %.*s; name the "
            "arrays p0, p1, ... in the order of the layers",
            oxp__role_dialect_name(row, "netcl"), (int)word_length, word);
  return oxp__at_key(error, OXP_BAD_FILE, member);
}

static oxp_status checkpoint_find(const oxp__weights *weights, const oxp__layer *layer, int role, const char **name,
                                  oxp_tensor *tensor, oxp_error *error)
{
  checkpoint_store *store = weights->context;
  oxp__shape wanted;
  *tensor = (oxp_tensor){ .rank = -1 };
  *name = oxp__role_dialect_name(&layer->kind->weights[role], weights->dialect);
  if (!oxp__weights_wanted(layer, role, weights->dialect, &wanted))
    return OXP_OK;
  if (!checkpoint_holds(layer, role))
    return store->own.find ? store->own.find(&store->own, layer, role, name, tensor, error) : OXP_OK;
  size_t index = store->next++;
  if (!store->numbered && index >= store->npz.zip->member_count) {
    *name = oxp__arena_printf(store->npz.arena, "parameter %zu", index);
    return *name ? OXP_OK : oxp__fail_memory(error, 0);
  }
  *name =
      store->numbered ? oxp__arena_printf(store->npz.arena, "p%zu.npy", index) : store->npz.zip->members[index].name;
  if (!store->numbered)
    OXP__TRY(checkpoint_check_name(layer, role, *name, error));
  return *name ? oxp__npz_find(&store->npz, *name, tensor, error) : oxp__fail_memory(error, 0);
}

static void checkpoint_warn_order(const checkpoint_store *store, oxp_network *network)
{
  if (!store->numbered && store->next > 0)
    oxp__network_warn(network,
                      "The checkpoint's arrays have names of their own (%.128s, ...); they are given to the layers in "
                      "the order in which they stand.",
                      store->npz.zip->members[0].name);
}

// Does any layer of the description leave open whether it has a bias? The parameters' order would then be a guess.
static oxp_status checkpoint_check_bias(const oxp__netcl_source *source, oxp_error *error)
{
  if (source->config.version != 1 || source->weights)
    return OXP_OK;
  oxp__fail(
      error, OXP_BAD_FILE,
      "a description of version 1 does not say which Conv2d layers have a bias; put its weights (%s) beside it, or "
      "describe the layers in version 2",
      source->weights_path);
  return oxp__at_file(error, OXP_BAD_FILE, source->config.path);
}

static oxp_status checkpoint_read(const oxp__candidate *candidate, const oxp_open_options *options,
                                  oxp_network *network, oxp_error *error)
{
  if (!options->description)
    return oxp__fail(
        error, OXP_BAD_FILE,
        "a training checkpoint holds parameters but neither the layers nor the running statistics of batch "
        "normalization; give the model it belongs to with --description MODEL.netcl");
  oxp__netcl_pair pair;
  oxp__netcl_source source;
  checkpoint_store store = { 0 };
  OXP__TRY(oxp__netcl_pair_open(&network->arena, candidate, &pair, error));
  if (!pair.zip)
    return oxp__fail(error, OXP_BAD_FILE, "the checkpoint's parameters are missing: there is no %s", pair.npz_path);
  OXP__TRY(oxp__netcl_source_open(network, options->description, &source, error));
  OXP__TRY(checkpoint_check_bias(&source, error));
  OXP__TRY(oxp__npz_init(&store.npz, &network->arena, pair.zip, error));
  store.numbered = oxp__zip_find(pair.zip, "p0.npy") != NULL;
  oxp__weights weights = { .dialect = "netcl", .path = pair.npz_path, .context = &store, .find = checkpoint_find };
  if (source.weights) {
    OXP__TRY(oxp__npz_init(&store.description, &network->arena, source.weights, error));
    store.own = (oxp__weights){
      .dialect = "netcl", .path = source.weights_path, .context = &store.description, .find = oxp__npz_find_role
    };
    weights.bias_from = &store.own;
  }
  weights.hint =
      "a checkpoint holds no running statistics: they have to come from the description, which must be a model with "
      "weights (.netcl, or the pair of files)";
  OXP__TRY(oxp__netcl_load(network, &source.config, &weights, options, error));
  oxp__npz_warn_unused(&store.npz, network);
  if (source.weights)
    oxp__npz_warn_archive_rest(network, source.weights);
  checkpoint_warn_order(&store, network);
  if (store.numbered || store.next == pair.zip->member_count)
    return OXP_OK;
  return oxp__fail(
      error, OXP_BAD_FILE,
      "the layers have %zu parameters, the checkpoint has %zu arrays whose names do not say where they belong",
      store.next, pair.zip->member_count);
}

// --- Writing ---

static oxp_status checkpoint_write_parameters(const oxp_network *network, oxp__zip_writer *writer, oxp_error *error)
{
  size_t next = 0;
  for (size_t i = 0; i < network->layer_count; i++) {
    const oxp__layer *layer = network->layers[i];
    for (int role = 0; role < layer->kind->weight_count; role++) {
      char member[32];
      if (!layer->weights[role].present || !checkpoint_holds(layer, role))
        continue;
      snprintf(member, sizeof member, "p%zu.npy", next++);
      OXP__TRY(oxp__netcl_save_array(writer, member, layer, role, error));
    }
  }
  return OXP_OK;
}

static oxp_status checkpoint_write(const oxp_network *network, const char *path, const oxp__output_guard *guard,
                                   oxp_error *error)
{
  OXP__TRY(oxp__netcl_check_can_hold(network, error));
  oxp__netcl_output output;
  oxp_status status = oxp__netcl_output_open(&output, path, guard, error);
  if (status == OXP_OK)
    status = checkpoint_write_parameters(network, output.writer, error);
  return oxp__netcl_output_close(&output, status, "{\"optim_state\": {}, \"config\": {}}", error);
}

const oxp__format oxp__format_netcl_checkpoint = {
  .name = "netcl_checkpoint",
  .doc = "netcl's training checkpoint, STEM.npz and STEM.json: trained parameters only, needs --description",
  .suffixes = ".npz .json",
  .probe = checkpoint_probe,
  .read = checkpoint_read,
  .write = checkpoint_write,
  .is_pair = true,
};
