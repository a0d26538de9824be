// file.h: reading a regular file by ranges. Knows no file format. Place: core.
#ifndef OXP_CORE_FILE_H
#define OXP_CORE_FILE_H

#include "core/arena.h"

// A file that is open for reading. Owns the descriptor.
typedef struct oxp__file {
  int descriptor;
  uint64_t size_bytes;
  uint64_t device, inode; // who it is, to recognise a target that is also the source
  char *path;
} oxp__file;

// Opens a regular file; folders, devices and FIFOs are refused with OXP_IO without blocking. The file lives in
// `arena` and is closed with it.
oxp_status oxp__file_open(oxp__arena *arena, const char *path, oxp__file **out, oxp_error *error);

// Calls `visit` for every file that is open in `arena`.
typedef void (*oxp__file_visit)(void *context, const oxp__file *file);
void oxp__files_each(const oxp__arena *arena, oxp__file_visit visit, void *context);

// Reads exactly `count` bytes at `offset`; OXP_BAD_FILE when the file ends before. An oxp_read_function with an
// oxp__file as its context.
oxp_status oxp__file_read(void *file, uint64_t offset, void *buffer, size_t count, oxp_error *error);

// The bytes that were read last, and those behind them: where many small things lie close together, one read serves many of them.
enum { OXP__WINDOW_BYTES = 32 * 1024 };
typedef struct oxp__file_window {
  oxp__file *file;
  uint64_t limit; // nothing is read from here on
  uint64_t offset;
  size_t count;
  unsigned char bytes[OXP__WINDOW_BYTES];
} oxp__file_window;

// `count` bytes (no more than a window has) at `offset`, before the limit; they stay where they are until the next call.
oxp_status oxp__file_window_get(oxp__file_window *window, uint64_t offset, size_t count, const unsigned char **bytes,
                                oxp_error *error);

// Reads a whole small file into the arena (zero-terminated); OXP_BAD_FILE above `limit_bytes`.
oxp_status oxp__file_read_all(oxp__arena *arena, const oxp__file *file, size_t limit_bytes, char **bytes, size_t *count,
                              oxp_error *error);

#endif
