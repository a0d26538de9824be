// Any bytes as JSON, and as a description of layers: texts, numbers and lists where others are expected, up to inferred shapes.
#include "described.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  oxp_error error = { 0 };
  oxp_network *network;
  oxp_status status = fuzz_described_network(data, size, &network, &error);
  fuzz_check_error(status, &error);
  if (status == OXP_OK)
    oxp_network_free(network);
  return 0;
}
