// output.h: replacing files atomically: written under a temporary name beside the target, which is renamed at the end. Knows no
// file format. Place: core.
#ifndef OXP_CORE_OUTPUT_H
#define OXP_CORE_OUTPUT_H

#include "core/error.h"
#include "core/lock.h"
#include "core/path.h"
#include "core/sources.h"

// What who writes a file has to respect, apart from the file itself. All zero: nothing.
typedef struct oxp__output_guard {
  const oxp__sources *sources; // files that are neither replaced nor removed; borrowed until the commit; NULL: none
  oxp__go_on go_on;            // asked while bytes are written and while somebody else is waited for; NULL: always
  void *context;
} oxp__output_guard;

// A file that is being written under a temporary name in the target's folder. All-zero is "not open".
typedef struct oxp__output {
  int descriptor;
  char *given_path;  // as the caller calls the target: for messages
  char *target_path; // where links lead
  char *like_path;   // the file whose owner and permissions it gets: the target that it was opened with
  char *temporary_path;
  char *old_path; // where the old file is put away while it is replaced with others; else NULL
  unsigned char *buffer;
  size_t buffered;
  uint64_t written_bytes; // handed over so far, buffered or not
  bool open;
  bool replaces;  // the target exists
  bool is_source; // and is one of the guard's sources
  bool hidden;    // its old content is at old_path
  oxp__output_guard guard;
} oxp__output;

// Makes the temporary file and removes those that killed processes left behind for the same target. OXP_BAD_ARGUMENT when the target is
// one of the guard's sources; OXP_IO when it is a folder or something else that is not a regular file, or its folder is missing or not
// writable. Symbolic links are followed (oxp__path_resolve): the file they name is replaced, or made. Meanwhile the file that replaces
// another may be read by nobody else. `guard` may be NULL.
oxp_status oxp__output_open(oxp__output *output, const char *path, const oxp__output_guard *guard, oxp_error *error);

// Looks before the work whether oxp__output_open would refuse the target for what it is. Makes nothing.
oxp_status oxp__output_check(const char *path, const oxp__output_guard *guard, oxp_error *error);

// Appends. An oxp_write_function with an oxp__output as its context.
oxp_status oxp__output_write(void *output, const void *bytes, size_t count, oxp_error *error);

// Overwrites bytes that were written before (a length or checksum that was not known yet).
oxp_status oxp__output_patch(oxp__output *output, uint64_t offset, const void *bytes, size_t count, oxp_error *error);

// Leaves a gap of `count` bytes, to be filled through the descriptor before the commit; *offset says where it begins.
oxp_status oxp__output_skip(oxp__output *output, uint64_t count, uint64_t *offset, oxp_error *error);

// Asks for room on the disk for everything up to here, gaps included, at once: a full disk is noticed before they are filled, and
// filling them is faster. A file system that cannot do it is no failure.
oxp_status oxp__output_reserve(oxp__output *output, oxp_error *error);

// Gives the file that is being written another name than the one it was opened with, in the same folder. A source of that name is no
// failure yet: see is_source.
oxp_status oxp__output_set_name(oxp__output *output, const char *name, oxp_error *error);

// Whether the target holds the bytes that were written so far; false when there is none or it cannot be read.
oxp_status oxp__output_compare(oxp__output *output, bool *same, oxp_error *error);

// Locks the folder of an output against everybody else who calls this (other processes too), for removing files there. Waits as long as
// the guard says so. *descriptor is what oxp__folder_unlock gives back; -1 without a lock.
oxp__lock oxp__output_try_lock_folder(const oxp__output *output, int wait_ms, int *descriptor);

// The same for replacing several files as one: OXP_IO when somebody else keeps the folder locked for a minute, OXP_CANCELLED when the
// guard does not want to wait. OXP_OK where folders cannot be locked.
oxp_status oxp__output_lock_folder(const oxp__output *output, int *descriptor, oxp_error *error);
void oxp__folder_unlock(int descriptor);

// Flushes, syncs as asked, gives the file owner, group and permissions of the one it replaces (oxp__access_keep; else the default ones),
// renames it over the target and closes. On failure the temporary file is gone and the target untouched, unless it is the folder that cannot
// be synced after the renaming, which the message says.
oxp_status oxp__output_commit(oxp__output *output, oxp_sync sync, oxp_error *error);

// The same for several files that belong together, in one folder that is locked: they are renamed in the order given, the last one
// makes them a whole. When one cannot be renamed, those before it go, or get their old content back. `hide_old` where old and new
// files must never be found together, not even when the process is killed in between: the old ones are put away first, the last of
// them before the others, so that for a moment there is no whole; a killed process leaves them as `.NAME.oxp-old`, which the next
// commit that succeeds removes (a source of that name: OXP_BAD_ARGUMENT, and nothing is renamed). Without it all but the last must be new files, or the same as those they replace.
oxp_status oxp__outputs_commit(oxp__output *const *outputs, int count, bool hide_old, oxp_sync sync, oxp_error *error);

// Closes and removes the temporary file; nothing to do after commit.
void oxp__output_abort(oxp__output *output);

#endif
