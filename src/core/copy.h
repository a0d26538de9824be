// copy.h: large arrays from file to file at the speed of the disk: several threads with small buffers, checksums verified as the
// bytes pass. Knows no file format. Place: core.
#ifndef OXP_CORE_COPY_H
#define OXP_CORE_COPY_H

#include "core/file.h"
#include "core/tensor.h"

// Which file the bytes behind a tensor's read function come from, and where they lie there, when they lie there as they are.
struct oxp_extent {
  const oxp__file *file;
  bool is_packed;        // they do not: what follows means nothing
  uint64_t offset_bytes; // in the file, of what `read` calls offset 0
  uint64_t size_bytes;   // from there
  bool has_crc;
  uint32_t crc; // CRC-32 of those size_bytes
};

// One array on its way. The bytes go to `target_offset` of the target.
typedef struct oxp__copy_job {
  const oxp_tensor *tensor;
  uint64_t target_offset;
  oxp__tensor_stats *stats; // filled by oxp__copy_run; borrowed
} oxp__copy_job;

// How the canonical bytes of a tensor come out of its extent.
typedef enum oxp__copy_way {
  OXP__COPY_NONE,     // not at all: the tensor must be streamed
  OXP__COPY_SPAN,     // as they are
  OXP__COPY_SWAP,     // with the bytes of each element reversed
  OXP__COPY_TRANSPOSE // a matrix of 4-byte elements that is stored the other way round
} oxp__copy_way;

// The way for a tensor that is written as `as` (OXP_DTYPE_NONE: as stored). Its bytes must reach to the end of their extent, so
// that the checksum can be verified.
oxp__copy_way oxp__copy_way_of(const oxp_tensor *tensor, oxp_dtype as);

// Called on the calling thread with the bytes done so far; false cancels.
typedef bool (*oxp__copy_progress)(void *context, uint64_t done_bytes);

// Runs all jobs on a few threads (the calling one included) and verifies every checksum. On failure the target holds anything.
// `progress` may be NULL.
oxp_status oxp__copy_run(oxp__copy_job *jobs, size_t count, int target, const char *target_path,
                         oxp__copy_progress progress, void *context, oxp_error *error);

#endif
