// lower.h: the state of one walk that lowers a network to a graph; shared by the walk (lower.c) and by what kinds call on the
// way (lowering.c). Place: net.
#ifndef OXP_NET_LOWER_H
#define OXP_NET_LOWER_H

#include "core/names.h"
#include "core/text.h"
#include "net/naming.h"
#include "net/profile.h"

struct oxp__lowering {
  const oxp_network *network;
  const oxp__profile *profile;
  oxp_lower_options options;
  oxp_graph *graph;
  oxp__arena scratch;   // of all that only the walk needs
  oxp__builder builder; // its error is `error` below
  oxp__naming naming;
  oxp_dtype dtype;
  oxp__shape *shapes; // of every value, with the batch that was asked for
  oxp_value *roots;   // of every value: the one that it is in the graph (layers that leave no node hand on their input)
  const char **names; // of every value, as far as the walk has come
  const char **output_names; // per value: the graph output that it becomes by renaming; NULL: none
  uint32_t *stored; // weights by what they are (lowering.c): the number of their initializer, from 1; 0: a free slot
  size_t stored_count, stored_capacity; // a power of two; 0: the profile stores each weight by itself
  const oxp__layer *layer;              // whose turn it is
  oxp__node *dummy;                     // handed out after a failure, so that kinds need not check
  oxp_error error;
};

// Makes room to find each of so many weights again (lowering.c), with those that are there; false when memory is out.
bool oxp__lowering_reserve_stored(oxp__lowering *to, size_t weights);

#endif
