// tensor.h: views of stored arrays and their stream of canonical bytes. Never holds a whole array. Place: core.
#ifndef OXP_CORE_TENSOR_H
#define OXP_CORE_TENSOR_H

#include "core/numbers.h"

// What was seen while streaming.
typedef struct oxp__tensor_stats {
  int64_t not_finite;    // NaN and infinities among the stored values
  int64_t changed;       // finite values that a conversion to another type rounded to other finite ones
  int64_t overflowed;    // finite values that a conversion made infinite
  double first_overflow; // the first of them, and its number in row-major order
  int64_t first_overflow_at;
  uint32_t crc; // CRC-32 of the bytes written, where it was asked for or is known anyway
} oxp__tensor_stats;

// Where bytes go. `write` is called in order; anything but OXP_OK ends the stream.
typedef struct oxp__sink {
  oxp_write_function write;
  void *context;
  const char
      *beside; // a path whose folder takes what must be put away in between, without a name; NULL: the system's folder
  // NULL where bytes can only be handed over in order. Notes that the canonical bytes of a tensor for which
  // oxp__copy_way_of finds a way come next; `settle` copies all that was noted and fills each *stats. Both *borrowed* till then.
  oxp_status (*defer)(void *context, const oxp_tensor *tensor, oxp__tensor_stats *stats, oxp_error *error);
  oxp_status (*settle)(void *context, oxp_error *error);
} oxp__sink;

// NaN and infinities among `count` elements in native byte order; 0 for integers.
int64_t oxp__count_not_finite(oxp_dtype dtype, const void *elements, size_t count);

// Row-major, gapless strides for dtype and shape are written to the tensor.
void oxp__tensor_set_strides(oxp_tensor *tensor, bool fortran_order);

bool oxp__tensor_is_contiguous(const oxp_tensor *tensor); // row-major without gaps

// The same bytes with axes in another order: axis i of the result is axis axes[i] of the tensor.
oxp_tensor oxp__tensor_permute(const oxp_tensor *tensor, const int *axes);

// The same bytes with another shape of as many elements; only for contiguous tensors or for adding and dropping axes of
// length 1. False when it cannot be done.
bool oxp__tensor_reshape(oxp_tensor *tensor, int rank, const int64_t *shape);

// Elements, and bytes when written as `as` (OXP_DTYPE_NONE: as stored). The tensor's shape was checked when it was made.
int64_t oxp__tensor_count(const oxp_tensor *tensor);
uint64_t oxp__tensor_bytes(const oxp_tensor *tensor, oxp_dtype as);

// Streams the canonical bytes (row-major, little-endian, element type `as` or as stored) through a buffer of bounded
// size. `stats` may be NULL; it is added to. Views of forward-only sources go through an unnamed temporary file.
oxp_status oxp__tensor_stream(const oxp_tensor *tensor, oxp_dtype as, oxp__sink sink, oxp__tensor_stats *stats,
                              oxp_error *error);

// Reads everything into `values` (oxp__tensor_count of them), for engines and for small constants.
oxp_status oxp__tensor_read_f64(const oxp_tensor *tensor, double *values, oxp_error *error);

// Reads everything as `dtype` in native byte order into `elements`.
oxp_status oxp__tensor_read(const oxp_tensor *tensor, oxp_dtype dtype, void *elements, oxp_error *error);

// The tensor of an array; borrows its data.
oxp_tensor oxp__tensor_from_array(const oxp_array *array);

#endif
