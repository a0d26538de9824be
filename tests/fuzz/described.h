// A network from a description alone: every weight that the layers ask for is zeros. Shared by fuzz targets.
#ifndef OXP_TESTS_FUZZ_DESCRIBED_H
#define OXP_TESTS_FUZZ_DESCRIBED_H

#include "fuzz.h"

// Builds and finishes a network from a JSON description of layers. As the readers: nothing is handed out on failure.
oxp_status fuzz_described_network(const uint8_t *json, size_t size, oxp_network **out, oxp_error *error);

// Whether descriptions of that size make layers share arrays, which netcl's files cannot say.
bool fuzz_described_shares(size_t size);

#endif
