// target.h: a file that a model or its data is written to: in order, with gaps for large arrays that are copied at the end.
// Reports progress. Place: onnx.
#ifndef OXP_ONNX_TARGET_H
#define OXP_ONNX_TARGET_H

#include "core/arena.h"
#include "core/copy.h"
#include "core/output.h"

// Progress over everything that one call writes.
typedef struct oxp__written {
  const oxp_write_options *options; // borrowed
  const oxp__sources *sources;      // borrowed; NULL: none
  uint64_t done_bytes, total_bytes;
} oxp__written;

typedef struct oxp__target {
  oxp__output output;
  oxp__written *written; // borrowed
  oxp__copy_job *jobs;
  size_t job_count, job_capacity;
  oxp__arena arena; // of the jobs
} oxp__target;

// Opens a temporary file for `path`, guarded by the sources and by progress.
oxp_status oxp__target_open(oxp__target *target, const char *path, oxp__written *written, oxp_error *error);

// A sink that writes to the target, defers and settles; the target must outlive it.
oxp__sink oxp__target_sink(oxp__target *target);

// Closes the temporary file without a trace, unless output was committed. All-zero targets are fine.
void oxp__target_fini(oxp__target *target);

#endif
