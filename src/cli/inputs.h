// inputs.h: the arrays that --input names, as `run` and `verify` need them. Place: cli.
#ifndef OXP_CLI_INPUTS_H
#define OXP_CLI_INPUTS_H

#include "cli/subject.h"

extern const oxp__option_group oxp__inputs_group;   // --input
extern const oxp__option_group oxp__pictures_group; // how pictures become arrays

// Owned arrays, one per input of the network or model (or per output: what is expected of it); NULL and 0 when --input was not given.
typedef struct oxp__inputs {
  oxp_array *arrays;
  int count;
  oxp__sources sources; // the files that they were read from
} oxp__inputs;

// Reads what --input names. With one input all files are samples of it; with several each --input is one of them, in order.
oxp_status oxp__inputs_read(oxp__inputs *inputs, const oxp__arguments *arguments, const oxp__subject *subject,
                            oxp_error *error);

// Reads the arrays that --expected names, one per output of the network, in their order. Nothing when it was not given.
oxp_status oxp__expected_read(oxp__inputs *expected, const oxp__arguments *arguments, const oxp__subject *subject,
                              oxp_error *error);

void oxp__inputs_free(oxp__inputs *inputs);

#endif
