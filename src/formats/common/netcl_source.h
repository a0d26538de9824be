// netcl_source.h: where a network's description and its own weights lie: inside one .netcl archive, or in STEM.json and STEM.npz.
// Shared by all netcl formats, and by `--description`. Place: formats/common.
#ifndef OXP_FORMATS_COMMON_NETCL_SOURCE_H
#define OXP_FORMATS_COMMON_NETCL_SOURCE_H

#include "formats/common/netcl_config.h"
#include "formats/common/npz.h"
#include "formats/format.h"

// What a JSON text beside weights is, by its outer form.
typedef enum oxp__netcl_json {
  OXP__NETCL_JSON_NONE,      // no such file, or not JSON
  OXP__NETCL_JSON_MODEL,     // {"type": ..., "config" or "layers": [...]}
  OXP__NETCL_JSON_LAYERS,    // [{"type": ...}, ...]
  OXP__NETCL_JSON_CHECKPOINT // {"optim_state": {...}, "config": {...}}
} oxp__netcl_json;

// The two files of a stem. Fields are NULL for what is not there.
typedef struct oxp__netcl_pair {
  const char *json_path, *npz_path;
  oxp__file *json, *npz;
  const json_t *root;
  oxp__netcl_json kind;
  const oxp__zip *zip;
} oxp__netcl_pair;

// A file of the pair that `path` belongs to: the path without .json or .npz, if it ends so, with `suffix` behind it. Lives in `arena`;
// NULL when memory is out.
const char *oxp__netcl_sibling(oxp__arena *arena, const char *path, const char *suffix);

// Opens STEM.json and STEM.npz, where the candidate is one of them or the stem. OXP_BAD_FILE when one of them is there and
// damaged; a missing one is no failure.
oxp_status oxp__netcl_pair_open(oxp__arena *arena, const oxp__candidate *candidate, oxp__netcl_pair *pair,
                                oxp_error *error);

// The same for a `probe`: never fails, and keeps nothing but what kind of JSON it is and whether there are weights.
void oxp__netcl_pair_probe(const oxp__candidate *candidate, oxp__netcl_json *kind, bool *has_weights);

// A description, and the archive of `<i>:<key>` members that belongs to it.
typedef struct oxp__netcl_source {
  oxp__netcl_config config;
  const oxp__zip *weights; // NULL: there are none
  const char *weights_path;
} oxp__netcl_source;

// From an open .netcl archive; from an open pair.
oxp_status oxp__netcl_source_from_archive(oxp_network *network, const oxp__zip *zip, const char *path,
                                          oxp__netcl_source *source, oxp_error *error);
oxp_status oxp__netcl_source_from_pair(oxp_network *network, const oxp__netcl_pair *pair, oxp__netcl_source *source,
                                       oxp_error *error);
// From the file that `--description` names: a .netcl archive, a JSON description, or a stem.
oxp_status oxp__netcl_source_open(oxp_network *network, const char *path, oxp__netcl_source *source, oxp_error *error);

// Builds the layers, settles whether layers of version 1 have a bias by what `weights` holds, binds the weights and settles the
// input shape: all that is left to do for a reader once it has a description and a store.
oxp_status oxp__netcl_load(oxp_network *network, const oxp__netcl_config *config, const oxp__weights *weights,
                           const oxp_open_options *options, oxp_error *error);
// The same for a source whose own archive holds the weights; warns about its unused members.
oxp_status oxp__netcl_load_own(oxp_network *network, const oxp__netcl_source *source, const oxp_open_options *options,
                               oxp_error *error);

#endif
