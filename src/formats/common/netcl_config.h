// netcl_config.h: the layer list that all netcl formats share, from JSON to layers. Place: formats/common.
#ifndef OXP_FORMATS_COMMON_NETCL_CONFIG_H
#define OXP_FORMATS_COMMON_NETCL_CONFIG_H

#include "formats/containers/json.h"
#include "net/network.h"

// A parsed description. Borrows the JSON and the texts.
typedef struct oxp__netcl_config {
  const json_t *layers; // the list
  bool flat;            // entries of `layers` instead of `config`: arguments beside the type
  bool bare;            // a list without an object around it: our own form, which knows more kinds than netcl saves
  int64_t version;      // 0: none given
  const char *path;     // of the file it came from
  const char *member;   // the archive's member it came from; NULL: the file itself
} oxp__netcl_config;

// What netcl's own saver knows about a class of layers.
typedef struct oxp__netcl_type {
  const char *name;
  const char *arguments; // in the order of its files, each with a space behind it
  bool strict;           // its constructor takes no other arguments; the rest ignore them
} oxp__netcl_type;

// The row of a class; NULL for classes that netcl cannot save.
const oxp__netcl_type *oxp__netcl_type_find(const char *name);

// Fills layers, flat, bare and version from parsed JSON and warns about what is not known. OXP_BAD_FILE when it is not a
// description of a Sequential.
oxp_status oxp__netcl_config_read(oxp_network *network, const json_t *root, oxp__netcl_config *config,
                                  oxp_error *error);

// Adds input, layers with their parameters, and output to an empty network; no weights, and an input shape that is to be
// replaced. Unknown kinds are all named in one OXP_UNSUPPORTED; wrong arguments are OXP_BAD_FILE.
oxp_status oxp__netcl_config_build(oxp_network *network, const oxp__netcl_config *config, oxp_error *error);

// Version 1 did not write whether a Conv2d has a bias. True when layer `index` may have one and the description does not say.
bool oxp__netcl_config_bias_is_open(const oxp__netcl_config *config, const oxp_network *network, size_t index);

#endif
