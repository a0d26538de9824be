// naming.h: names of values, nodes and initializers of one graph, all unique. Place: net.
#ifndef OXP_NET_NAMING_H
#define OXP_NET_NAMING_H

#include "layers/lowering.h"
#include "net/network.h"

// The names given so far, and one counter that profiles may use. Lives in the graph's arena.
typedef struct oxp__naming oxp__naming;

// The next number of the graph's counter, from 1.
int oxp__naming_next(oxp__naming *naming);

// `wanted`, or `wanted_1`, `wanted_2`, ... when it was taken: the name that is now ours. NULL when memory is out.
const char *oxp__naming_claim(oxp__naming *naming, const char *wanted);
const char *oxp__naming_claimf(oxp__naming *naming, const char *format, ...) OXP__PRINTF(2, 3);

#endif
