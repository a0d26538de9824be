// naming.h: names of values, nodes and initializers of one graph, all unique. Place: net.
#ifndef OXP_NET_NAMING_H
#define OXP_NET_NAMING_H

#include "core/names.h"
#include "layers/lowering.h"
#include "net/network.h"

// The names given so far, and one counter that profiles may use. All-zero but for the two arenas: empty.
typedef struct oxp__naming {
  oxp__arena *texts; // where names are made, the graph's
  oxp__names names;  // the number of a name: how many numbered variants of it were handed out
  int counter;
  const char *layer_name; // the claimed name of the layer whose turn it is
} oxp__naming;

// The next number of the graph's counter, from 1.
int oxp__naming_next(oxp__naming *naming);

// True when nobody has the name yet.
bool oxp__naming_is_free(const oxp__naming *naming, const char *name);

// `wanted`, or `wanted_1`, `wanted_2`, ... when it was taken: the name that is now ours. NULL when memory is out.
const char *oxp__naming_claim(oxp__naming *naming, const char *wanted);
const char *oxp__naming_claimf(oxp__naming *naming, const char *format, ...) OXP__PRINTF(2, 3);

#endif
