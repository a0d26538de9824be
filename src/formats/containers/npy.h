// npy.h: the NumPy array format, versions 1 to 3, as a tensor over any byte range. Place: formats/containers.
#ifndef OXP_FORMATS_CONTAINERS_NPY_H
#define OXP_FORMATS_CONTAINERS_NPY_H

#include "core/file.h"
#include "core/tensor.h"
#include "formats/containers/zip.h"

// What the header of an array says. For text arrays (<U, >U, |S) dtype is OXP_STRING and item_bytes the length in bytes.
typedef struct oxp__npy {
  oxp_tensor tensor; // dtype, shape, strides, byte order, range
  const char *descr; // as written, for messages
  char type_letter;  // 'f', 'i', 'u', 'b', 'c', 'U', 'S'
  size_t item_bytes;
  uint64_t rest_bytes; // of something else behind the array, which NumPy does not look at either
} oxp__npy;

// Parses the header at the start of a range of `total_bytes` and checks that the announced bytes follow (fewer, or more than 16 MiB of
// something else behind them: OXP_BAD_FILE with both numbers). Object arrays and unknown types are refused. `read` and `context` go into the tensor.
oxp_status oxp__npy_open(oxp__arena *arena, oxp_read_function read, void *context, uint64_t total_bytes, oxp__npy *npy,
                         oxp_error *error);

// The same for a member of an archive: opens a stream for it.
oxp_status oxp__npy_open_member(oxp__arena *arena, const oxp__zip *zip, const oxp__zip_member *member, oxp__npy *npy,
                                oxp_error *error);

// A text array with one element (0-d or length 1) as UTF-8 in the arena; also |u1 arrays of UTF-8 bytes.
oxp_status oxp__npy_read_text(oxp__arena *arena, const oxp__npy *npy, size_t limit_bytes, char **text,
                              oxp_error *error);

// Writes a version 1.0 header (preamble a multiple of 64 bytes, as NumPy pads it) for a C-order little-endian array, then streams
// the tensor as dtype `as`.
oxp_status oxp__npy_write(const oxp_tensor *tensor, oxp_dtype as, oxp__sink sink, oxp_error *error);
// The same for one text (0-d <U array): what netcl's metadata member is.
oxp_status oxp__npy_write_text(const char *utf8, oxp__sink sink, oxp_error *error);

#endif
