// resemble.h: what a file is that a reader did not expect, by what it begins with: the one list for every reader. Place: core.
#ifndef OXP_CORE_RESEMBLE_H
#define OXP_CORE_RESEMBLE_H

#include "core/file.h"

// So many first bytes of a file tell what it is.
#define OXP__RESEMBLE_BYTES 512

// "a Git LFS pointer, not the file itself; fetch that with git lfs pull": what a file is that begins with these bytes, and what to do
// where something helps. NULL when it is nothing that is known; never anything for an empty one.
const char *oxp__resembles(const void *head, size_t count);

// Fails with OXP_BAD_FILE: "WANTED: this is a web page", or that the file is empty, or what it begins with. `wanted` says what it is not
// ("not an ONNX model").
oxp_status oxp__fail_resembling(const void *head, size_t count, const char *wanted, oxp_error *error);

// The same where a reader has failed with `status` already: if that is OXP_BAD_FILE and the file is something else that is known, or
// empty, that is the failure: "not OWN: this is a web page". Else the reader's own stays. `own` is what oxp__resembles says of files that
// are what they should be ("an ONNX model"), or the beginning of it.
oxp_status oxp__blame_resembling(oxp__file *file, const char *own, oxp_status status, oxp_error *error);

#endif
