// npz.c: see npz.h. Opens a member only when it is asked for. Place: formats/common.
#include "formats/common/npz.h"

#include <inttypes.h>
#include <string.h>

#include "core/text.h"

enum { NPZ_NAMED = 20 }; // so many members are named in one message

oxp_status oxp__npz_init(oxp__npz *npz, oxp__arena *arena, const oxp__zip *zip, oxp_error *error)
{
  *npz = (oxp__npz){ arena, zip, oxp__arena_new(arena, zip->member_count, sizeof *npz->used),
                     oxp__arena_new(arena, zip->member_count, sizeof *npz->rest) };
  return npz->used && npz->rest ? OXP_OK : oxp__fail_memory(error, zip->member_count * sizeof *npz->rest);
}

oxp_status oxp__npz_find(oxp__npz *npz, const char *member, oxp_tensor *tensor, oxp_error *error)
{
  *tensor = (oxp_tensor){ .rank = -1 };
  const oxp__zip_member *found = oxp__zip_find(npz->zip, member);
  if (!found)
    return OXP_OK;
  npz->used[found - npz->zip->members] = true;
  oxp__npy npy;
  OXP__TRY(oxp__npy_open_member(npz->arena, npz->zip, found, &npy, error));
  npz->rest[found - npz->zip->members] = npy.rest_bytes;
  *tensor = npy.tensor;
  return OXP_OK;
}

oxp_status oxp__npz_find_role(const oxp__weights *weights, const oxp__layer *layer, int role, const char **name,
                              oxp_tensor *tensor, oxp_error *error)
{
  oxp__npz *npz = weights->context;
  const char *key = oxp__role_dialect_name(&layer->kind->weights[role], weights->dialect);
  char *member = oxp__arena_printf(npz->arena, "%d:%s.npy", layer->index, key);
  if (!member)
    return oxp__fail_memory(error, strlen(key));
  OXP__TRY(oxp__npz_find(npz, member, tensor, error));
  member[strlen(member) - strlen(".npy")] = 0; // NumPy calls the array by the name without it
  *name = member;
  return OXP_OK;
}

const char *oxp__npz_describe(const oxp__npz *npz)
{
  size_t count = npz->zip->member_count, named = count < NPZ_NAMED ? count : NPZ_NAMED;
  oxp__text text = { 0 };
  oxp__text_add(&text, count > 0 ? "the archive has the members " : "the archive is empty");
  for (size_t i = 0; i < named; i++)
    oxp__text_printf(&text, "%s%.64s", i > 0 ? ", " : "", npz->zip->members[i].name);
  if (count > named)
    oxp__text_printf(&text, " and %zu more", count - named);
  const char *copy = text.failed ? NULL : oxp__arena_copy(npz->arena, text.bytes);
  oxp__text_fini(&text);
  return copy;
}

void oxp__npz_warn_rest(oxp_network *network, const char *member, uint64_t rest_bytes)
{
  if (rest_bytes > 0)
    oxp__network_warn(network,
                      "Behind the array in the member \"%.128s\" there are %" PRIu64 " bytes; they are not used.",
                      member, rest_bytes);
}

void oxp__npz_warn_archive_rest(oxp_network *network, const oxp__zip *zip)
{
  if (zip->rest_bytes > 0)
    oxp__network_warn(network,
                      "Behind the zip archive there are %" PRIu64 " bytes of something else; they are not used.",
                      zip->rest_bytes);
}

void oxp__npz_warn_unused(const oxp__npz *npz, oxp_network *network)
{
  size_t count = 0;
  oxp__npz_warn_archive_rest(network, npz->zip);
  for (size_t i = 0; i < npz->zip->member_count; i++) {
    const char *name = npz->zip->members[i].name;
    oxp__npz_warn_rest(network, name, npz->rest[i]);
    if (npz->used[i] || strcmp(name, OXP__NETCL_META) == 0)
      continue;
    if (count++ < NPZ_NAMED)
      oxp__network_warn(network, "The archive's member \"%.128s\" belongs to no layer; it is not used.", name);
  }
  if (count > NPZ_NAMED)
    oxp__network_warn(network, "%zu more members belong to no layer; they are not used.", count - NPZ_NAMED);
}

bool oxp__npz_has_layers(const oxp__zip *zip)
{
  for (size_t i = 0; i < zip->member_count; i++) {
    size_t digits = strspn(zip->members[i].name, "0123456789");
    if (digits > 0 && zip->members[i].name[digits] == ':')
      return true;
  }
  return false;
}
