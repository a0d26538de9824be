// Any bytes as a file that some reader recognises by content: netcl's archive, its pair, checkpoints, bare layers. What opens is
// looked at as a caller would.
#include "fuzz.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
  return fuzz_mutate_archive(data, size, max_size, seed);
}

static void look_at(const oxp_network *network)
{
  oxp_layer_info layer;
  oxp_value_info value;
  for (int i = 0; oxp_network_layer_info(network, i, &layer); i++)
    FUZZ_CHECK(layer.name && layer.kind && layer.parameter_count >= 0, "a layer that is not complete");
  for (int i = 0; oxp_network_value_info(network, i, &value); i++)
    FUZZ_CHECK(value.rank >= 0 && value.rank <= OXP_MAX_RANK, "a value without a shape");
  for (int i = 0; i < oxp_network_warning_count(network); i++)
    FUZZ_CHECK(oxp_network_warning(network, i)[0], "an empty warning");
}

static void open_as(const char *path, const char *format, const char *description)
{
  oxp_open_options options = { .format = format, .description = description };
  oxp_error error = { 0 };
  oxp_network *network;
  if (fuzz_open(path, &options, &network, &error) != OXP_OK)
    return;
  look_at(network);
  oxp_network_free(network);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *path = fuzz_file(data, size);
  open_as(path, NULL, NULL);
  open_as(path, "netcl", NULL);
  open_as(path, "netcl_layers", FUZZ_DESCRIPTION);
  return 0;
}
