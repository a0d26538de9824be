// input_size.h: the input shape of a chain of layers whose file does not hold one. Place: net.
#ifndef OXP_NET_INPUT_SIZE_H
#define OXP_NET_INPUT_SIZE_H

#include "net/network.h"

// Settles the shape of the network's only input, batch symbolic, before it is finished. `rank` and `shape` are what the user gave
// (one sample, without the batch; checked: up to OXP_MAX_RANK - 1 sizes from 1); rank 0: nothing. Without them the layers have to say it: the first one that knows its
// features or channels does; where that one knows its last axis only, ranks 2 to 4 are tried in this order and a guess is said
// in a warning on the network; height and width stay symbolic where every size fits, and where only some fit (a Flatten
// before a Linear) the square ones are tried: exactly one is taken, with a warning on the network. Where that leaves it open, the
// network gets what is known of the shape and the sentence `missing_shape`, with sizes that would do. OXP_BAD_NETWORK where no
// shape fits.
oxp_status oxp__input_size_settle(oxp_network *network, int rank, const int64_t *shape, oxp_error *error);

#endif
