// size_trial.h: trying many sizes of a network's input. One walk finds the layers whose answer depends on the size; a try then asks
// only those, not all layers. Knows no kind of layer and not what the sizes are tried for. Place: net.
#ifndef OXP_NET_SIZE_TRIAL_H
#define OXP_NET_SIZE_TRIAL_H

#include "net/network.h"

enum { OXP__SIZE_LARGEST = 4096 }; // sizes from 1 to this are tried

typedef struct oxp__size_trial {
  const oxp_network *network;
  oxp__shape input;     // with its open dimensions: OXP_DIM_HEIGHT, OXP_DIM_WIDTH
  oxp__shape *relative; // of every value: its shape in symbols of its root's
  oxp_value *roots;     // of every value: the input, or the output of a step, whose sizes it only hands on
  oxp__shape *concrete; // of every root: its shape in the present try
  int *steps;           // the layers to ask, in order
  size_t step_count;
  oxp__shape *asked; // room for the input shapes of one layer
  int64_t (
      *axes)[2]; // what the first `axis_steps` steps make of size s: height of axes[s], width of axes[s]; 0: nothing
  size_t axis_steps;
} oxp__size_trial;

// Walks the layers once with that shape of the only input, its open dimensions symbolic; what it allocates lies in `arena`. Fails
// where a layer fits no size at all, with its label. OXP_UNSUPPORTED: so many layers depend on the size that trying is no way to
// find it.
oxp_status oxp__size_trial_init(oxp__size_trial *trial, oxp__arena *arena, const oxp_network *network,
                                const oxp__shape *input, oxp_error *error);

// Does the network take that height and width (those of the two that are open)?
bool oxp__size_trial_fits(oxp__size_trial *trial, int64_t height, int64_t width);

// Fills `pairs` with up to `most` heights and widths that fit and differ, those nearest to a square first; returns how many. Of
// sizes between which the layers see no difference the smallest stands for all. Uses `arena` for tables.
int oxp__size_trial_pairs(oxp__size_trial *trial, oxp__arena *arena, int64_t (*pairs)[2], int most);

#endif
