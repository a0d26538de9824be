// The whole path: a file, or a description alone, becomes a network, a graph, bytes; our reader takes the bytes, our checker finds
// nothing, and written again they are the same. Small networks also run on the reference engine.
#include "described.h"
#include "whole.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
  return fuzz_mutate_archive(data, size, max_size, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  oxp_error error = { 0 };
  oxp_network *network;
  bool described = size > 0 && (data[0] == '{' || data[0] == '[');
  oxp_status status = described ? fuzz_described_network(data, size, &network, &error)
                                : fuzz_open(fuzz_file(data, size), NULL, &network, &error);
  fuzz_check_error(status, &error);
  if (status != OXP_OK)
    return 0;
  oxp_lower_options options = fuzz_lower_options(size);
  fuzz_whole_path(network, &options, size / 30 % 4 == 0 && !(described && fuzz_described_shares(size)));
  return 0;
}
