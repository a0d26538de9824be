// The path behind a network, which fuzz targets share: network to graph to bytes, to our reader and checker, and back.
#ifndef OXP_TESTS_FUZZ_WHOLE_H
#define OXP_TESTS_FUZZ_WHOLE_H

#include "fuzz.h"

// Exports the finished network, to a function and to a file, reads the model back, checks it and writes it again; runs small networks.
// `convertible`: also writes it for netcl, where that can hold it, and exports what comes back. Takes the network.
void fuzz_whole_path(oxp_network *network, const oxp_lower_options *options, bool convertible);

// Some options, chosen by a number.
oxp_lower_options fuzz_lower_options(size_t number);

#endif
