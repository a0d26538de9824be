// netcl_save.h: what the writers of netcl's formats share: what can be held, the JSON text, the arrays. Place: formats/common.
#ifndef OXP_FORMATS_COMMON_NETCL_SAVE_H
#define OXP_FORMATS_COMMON_NETCL_SAVE_H

#include "core/text.h"
#include "formats/containers/npy.h"
#include "net/network.h"

// OXP_UNSUPPORTED with every layer that netcl's files cannot hold, and why: other kinds, branches, parameters that netcl does
// not have. Names of layers are not kept by netcl and are no reason.
oxp_status oxp__netcl_check_can_hold(const oxp_network *network, oxp_error *error);

// The description as Python's json.dumps prints it: with `"version": 2`, and "format" for the single file.
oxp_status oxp__netcl_save_text(const oxp_network *network, bool single_file, oxp__text *text, oxp_error *error);

// All weights as members `<i>:<key>.npy`, in layer order.
oxp_status oxp__netcl_save_weights(const oxp_network *network, oxp__zip_writer *writer, oxp_error *error);

// One float32 array as a member of its own, with the axes in the order of `dialect`.
oxp_status oxp__netcl_save_array(oxp__zip_writer *writer, const char *member, const oxp__layer *layer, int role,
                                 oxp_error *error);

// The weight as `dialect` stores it: a view of the canonical tensor.
oxp_tensor oxp__netcl_stored_view(const oxp__layer *layer, int role, const char *dialect);

// Two files that belong together, STEM.npz and STEM.json: opened together, renamed only when both are complete.
typedef struct oxp__netcl_output {
  oxp__arena arena;
  oxp__output json, npz;
  oxp__zip_writer *writer;
} oxp__netcl_output;

// Opens STEM.npz and STEM.json, where `path` is the stem or either file.
oxp_status oxp__netcl_output_open(oxp__netcl_output *output, const char *path, const oxp__output_guard *guard,
                                  oxp_error *error);
// Ends the writing: commits when `status` is OXP_OK, else removes everything. Returns the final status.
oxp_status oxp__netcl_output_close(oxp__netcl_output *output, oxp_status status, const char *json_text,
                                   oxp_error *error);

#endif
