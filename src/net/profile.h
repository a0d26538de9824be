// profile.h: what differs between exporters of the same network, as data. One file in src/profiles per profile,
// `<name>.c`, defines `const oxp__profile oxp__profile_<name>`; the build lists the files. The row type stands here because
// the walk that reads it, net/lower.c, comes before the rows. Place: net.
#ifndef OXP_NET_PROFILE_H
#define OXP_NET_PROFILE_H

#include "net/naming.h"

typedef struct oxp__profile {
  const char *name; // = file name
  const char *doc;
  int opset, min_opset, max_opset;
  int ir_version; // 0: the lowest that the opset allows
  const char *producer_name, *producer_version, *graph_name;
  const char *doc_string; // of model and graph; NULL: none
  const char *batch_symbol;
  oxp_dtype dtype; // what the profile can write; OXP_DTYPE_NONE: the network's own type
  oxp__dense_form dense;
  bool node_names;         // false: nodes are nameless
  bool drops_pass_through; // identity and dropout leave no node
  bool final_identity;     // the output is an Identity of the last value, instead of the last value renamed
  bool shares_weights;     // an array that several layers use is stored once
  bool declares_dims;      // outputs with all known dimensions; false: rank and batch only

  // Names, in the order in which the walk asks: per layer its output, then its initializers.
  const char *(*value_name)(oxp__naming *naming, const oxp__layer *layer);
  const char *(*initializer_name)(oxp__naming *naming, const oxp__layer *layer, int role);

  // Why this profile does not write a layer with these input shapes at this opset (a clause: "its Gemm on rank 3 loads nowhere"); NULL
  // when it does.
  const char *(*refuses)(const oxp__layer *layer, const oxp__shape *inputs, int opset);
} oxp__profile;

extern const oxp__profile *const oxp__profiles[];
extern const size_t oxp__profile_count;

#endif
