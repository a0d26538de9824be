// netcl_layers.c: a plain JSON list of layers with netcl's class names, and an archive with members `<i>:<key>`: for networks that
// netcl can run but not save (LayerNorm, GELU ...). The weights lie in STEM.npz beside STEM.json, or are opened themselves
// with the list given as the description. Place: formats.
#include "formats/common/netcl_source.h"

static int netcl_layers_probe(const oxp__candidate *candidate)
{
  oxp__netcl_json kind;
  bool has_weights;
  if (candidate->zip && oxp__zip_find(candidate->zip, OXP__NETCL_META))
    return 0;
  oxp__netcl_pair_probe(candidate, &kind, &has_weights);
  if (kind == OXP__NETCL_JSON_LAYERS)
    return 90;
  if (candidate->zip && oxp__npz_has_layers(candidate->zip))
    return 60; // weights whose list of layers is not beside them
  return 0;
}

// Weights were opened, and the layers are described elsewhere.
static oxp_status netcl_layers_read_described(const oxp__netcl_pair *pair, const oxp_open_options *options,
                                              oxp_network *network, oxp_error *error)
{
  oxp__netcl_source source;
  if (!pair->zip)
    return oxp__fail(error, OXP_BAD_FILE, "this is not an archive of weights, so a description does not help");
  OXP__TRY(oxp__netcl_source_open(network, options->description, &source, error));
  source.weights = pair->zip;
  source.weights_path = pair->npz_path;
  return oxp__netcl_load_own(network, &source, options, error);
}

static oxp_status netcl_layers_read(const oxp__candidate *candidate, const oxp_open_options *options,
                                    oxp_network *network, oxp_error *error)
{
  oxp__netcl_pair pair;
  oxp__netcl_source source;
  OXP__TRY(oxp__netcl_pair_open(&network->arena, candidate, &pair, error));
  if (options->description)
    return netcl_layers_read_described(&pair, options, network, error);
  if (pair.zip && pair.kind == OXP__NETCL_JSON_NONE)
    return oxp__fail(error, OXP_BAD_FILE,
                     "the archive holds weights but no description of the layers: it has no member " OXP__NETCL_META
                     ", and there is no %s; give one with --description",
                     pair.json_path);
  OXP__TRY(oxp__netcl_source_from_pair(network, &pair, &source, error));
  return oxp__netcl_load_own(network, &source, options, error);
}

const oxp__format oxp__format_netcl_layers = {
  .name = "netcl_layers",
  .doc = "a JSON list of layers with netcl's class names, and their weights in STEM.npz",
  .suffixes = ".json",
  .probe = netcl_layers_probe,
  .read = netcl_layers_read,
};
