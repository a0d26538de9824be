// Any bytes as PyTorch's container: its pickle alone, and the archive with the description of a small network.
#include "formats/containers/pickle.h"
#include "fuzz.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
  return fuzz_mutate_archive(data, size, max_size, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  oxp_error error = { 0 };
  if (size > 0 && data[0] == 0x80) {
    oxp__arena arena = { 0 };
    const oxp__pickle_value *value;
    fuzz_check_error(oxp__pickle_read(&arena, data, size, &value, &error), &error);
    oxp__arena_fini(&arena);
    return 0;
  }
  oxp_open_options options = { .format = "netcl_pt", .description = FUZZ_DESCRIPTION };
  oxp_network *network;
  if (fuzz_open(fuzz_file(data, size), &options, &network, &error) == OXP_OK)
    oxp_network_free(network);
  return 0;
}
