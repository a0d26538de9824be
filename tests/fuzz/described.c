// See described.h.
#include "described.h"

#include <string.h>

#include "formats/common/netcl_source.h"

typedef struct zeros {
  oxp__arena *arena;
  bool shared;
} zeros;

static oxp_status zeros_read(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  (void)context;
  (void)offset;
  (void)error;
  memset(buffer, 0, count);
  return OXP_OK;
}

static oxp_status zeros_find(const oxp__weights *weights, const oxp__layer *layer, int role, const char **name,
                             oxp_tensor *tensor, oxp_error *error)
{
  oxp__shape shape;
  (void)error;
  *name = "zeros";
  *tensor = (oxp_tensor){ .rank = -1 };
  // Arrays with one context and one shape are one array, which is stored once.
  const zeros *all = weights->context;
  void *context = all->shared ? NULL : oxp__arena_new(all->arena, 1, 1);
  if (oxp__weights_wanted(layer, role, weights->dialect, &shape))
    *tensor = oxp_tensor_from_function(OXP_FLOAT32, shape.rank, shape.dim, zeros_read, context);
  return OXP_OK;
}

bool fuzz_described_shares(size_t size)
{
  return size % 5 == 4;
}

static oxp_status described_build(const uint8_t *json, size_t size, oxp_network *network, oxp_error *error)
{
  const json_t *root;
  zeros all = { &network->arena, fuzz_described_shares(size) };
  oxp__netcl_config config = { .path = "described" };
  oxp__weights weights = { .dialect = "netcl", .path = "described", .context = &all, .find = zeros_find };
  const oxp_open_options options = { .input_rank = size % 3 == 0 ? 0 : 3,
                                     .input_shape = { size % 3 == 1 ? 3 : 4, 32, 32 } };
  network->format = "netcl";
  network->path = "described";
  OXP__TRY(oxp__json_parse(&network->arena, (const char *)json, size, &root, error));
  OXP__TRY(oxp__netcl_config_read(network, root, &config, error));
  OXP__TRY(oxp__netcl_load(network, &config, &weights, &options, error));
  return oxp_network_finish(network, error);
}

oxp_status fuzz_described_network(const uint8_t *json, size_t size, oxp_network **out, oxp_error *error)
{
  oxp_network *network;
  OXP__TRY(oxp_network_new(OXP_FLOAT32, &network, error));
  oxp_status status = described_build(json, size, network, error);
  if (status == OXP_OK)
    *out = network;
  else
    oxp_network_free(network);
  return status;
}
