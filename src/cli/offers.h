// offers.h: opening SRC when its input's size is not in it but stands elsewhere on the command line: in a given model, in the
// arrays and pictures of --input. Place: cli.
#ifndef OXP_CLI_OFFERS_H
#define OXP_CLI_OFFERS_H

#include "cli/options.h"

// Opens the network that SRC, the first operand, holds. Where --input-shape is not given and SRC leaves the size open, or guesses
// another than was given, the given sizes are tried: those of the model that is the second operand, then those of the first
// --input. Pictures only where nothing else is known, since they are resized. An --input-shape that contradicts the model is
// OXP_BAD_ARGUMENT.
oxp_status oxp__offers_open(const oxp__arguments *arguments, const oxp_open_options *options, oxp_network **network,
                            oxp_error *error);

#endif
