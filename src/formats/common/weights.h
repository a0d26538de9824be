// weights.h: giving the layers of a network their stored arrays, whatever the store is: names, presence, types and shapes are
// checked here once for all formats. Place: formats/common.
#ifndef OXP_FORMATS_COMMON_WEIGHTS_H
#define OXP_FORMATS_COMMON_WEIGHTS_H

#include "net/network.h"

typedef struct oxp__weights oxp__weights;

struct oxp__weights {
  const char *dialect; // whose names and axis orders the rows give
  const char *path;    // the store's file, for messages
  void *context;       // borrowed
  // What the store calls the array of a role (*name, always set unless it fails), and the array: tensor->rank is -1 when there is
  // none. Asked once per role, in the order of layers and roles, also for roles that the parameters rule out.
  oxp_status (*find)(const oxp__weights *weights, const oxp__layer *layer, int role, const char **name,
                     oxp_tensor *tensor, oxp_error *error);
  // Called once when the network has its layers, before anything is asked for; NULL where there is nothing to prepare.
  oxp_status (*begin)(const oxp__weights *weights, oxp_error *error);
  const oxp__weights *bias_from; // who knows whether a layer of version 1 has a bias; NULL: this store itself
  const char *hint;              // added to the message when arrays are missing; may be NULL
};

// Binds every weight of every layer. All missing arrays are named at once. OXP_BAD_FILE for missing ones, for types other than
// floating point, for shapes that the layer does not ask for. Warns where values will be converted.
oxp_status oxp__weights_bind(oxp_network *network, const oxp__weights *weights, oxp_error *error);

// True when the layer's parameters ask for the weight; *shape is then its shape as `dialect` stores it.
bool oxp__weights_wanted(const oxp__layer *layer, int role, const char *dialect, oxp__shape *shape);

#endif
