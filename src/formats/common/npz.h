// npz.h: an archive of NumPy arrays as a store of weights. Place: formats/common.
#ifndef OXP_FORMATS_COMMON_NPZ_H
#define OXP_FORMATS_COMMON_NPZ_H

#include "formats/common/weights.h"
#include "formats/containers/npy.h"

#define OXP__NETCL_META "__netcl_meta__.npy"

typedef struct oxp__npz {
  oxp__arena *arena; // where streams and names go
  const oxp__zip *zip;
  bool *used;     // one per member
  uint64_t *rest; // the same: bytes behind its array, where it was opened
} oxp__npz;

oxp_status oxp__npz_init(oxp__npz *npz, oxp__arena *arena, const oxp__zip *zip, oxp_error *error);

// The array of a member; tensor->rank is -1 when there is no such member. Text arrays are handed out as OXP_STRING.
oxp_status oxp__npz_find(oxp__npz *npz, const char *member, oxp_tensor *tensor, oxp_error *error);

// The `find` of a store whose context is an oxp__npz with netcl's names: `<index of the layer>:<key>.npy`.
oxp_status oxp__npz_find_role(const oxp__weights *weights, const oxp__layer *layer, int role, const char **name,
                              oxp_tensor *tensor, oxp_error *error);

// "the archive has the members a.npy, b.npy, ... and 7 more", in the archive's arena: what to say where some are missing. NULL when memory is out.
const char *oxp__npz_describe(const oxp__npz *npz);

// Warns about what is in the archive and not used: members that nobody asked for, bytes behind arrays and behind the archive.
void oxp__npz_warn_unused(const oxp__npz *npz, oxp_network *network);

// The parts of it for those who have no store: bytes behind an array, and behind the archive. Nothing where there are none.
void oxp__npz_warn_rest(oxp_network *network, const char *member, uint64_t rest_bytes);
void oxp__npz_warn_archive_rest(oxp_network *network, const oxp__zip *zip);

// True when the archive has members with netcl's names (`0:weight.npy`).
bool oxp__npz_has_layers(const oxp__zip *zip);

#endif
