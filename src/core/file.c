// file.c: see file.h. Place: core.
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void file_close(void *thing)
{
  oxp__file *file = thing;
  close(file->descriptor);
}

// OXP_IO unless the open descriptor is a regular file; fills in who it is.
static oxp_status file_identify(oxp__file *file, oxp_error *error)
{
  struct stat status;
  if (fstat(file->descriptor, &status) != 0)
    return oxp__fail_errno(error, file->path, "look at the file");
  if (!S_ISREG(status.st_mode)) {
    const char *what = S_ISDIR(status.st_mode) ? "a folder" : "a device, pipe or socket";
    oxp__fail(error, OXP_IO, "this is %s, not a regular file", what);
    return oxp__at_file(error, OXP_IO, file->path);
  }
  file->size_bytes = (uint64_t)status.st_size;
  file->device = (uint64_t)status.st_dev;
  file->inode = (uint64_t)status.st_ino;
  return OXP_OK;
}

oxp_status oxp__file_open(oxp__arena *arena, const char *path, oxp__file **out, oxp_error *error)
{
  oxp__file *file = oxp__arena_new(arena, 1, sizeof *file);
  char *copy = oxp__arena_copy(arena, path);
  if (!file || !copy)
    return oxp__fail_memory(error, sizeof *file);
  file->path = copy;
  // Without O_NONBLOCK, opening a FIFO would wait for a writer.
  file->descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (file->descriptor < 0)
    return oxp__fail_errno(error, path, "open the file");
  OXP__TRY(oxp__arena_defer(arena, file_close, file, error));
  OXP__TRY(file_identify(file, error));
  *out = file;
  return OXP_OK;
}

typedef struct file_visitor {
  oxp__file_visit visit;
  void *context;
} file_visitor;

static void file_visit(void *context, const void *thing)
{
  const file_visitor *visitor = context;
  visitor->visit(visitor->context, thing);
}

void oxp__files_each(const oxp__arena *arena, oxp__file_visit visit, void *context)
{
  file_visitor visitor = { visit, context };
  oxp__arena_each_deferred(arena, file_close, file_visit, &visitor);
}

oxp_status oxp__file_read(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  const oxp__file *file = context;
  unsigned char *at = buffer;
  while (count > 0) {
    ssize_t got = offset <= INT64_MAX ? pread(file->descriptor, at, count, (off_t)offset) : 0;
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return oxp__fail_errno(error, file->path, "read the file");
    if (got == 0) {
      oxp__fail(error, OXP_BAD_FILE, "the file ends at byte %llu, %zu more bytes were announced",
                (unsigned long long)offset, count);
      return oxp__at_file(error, OXP_BAD_FILE, file->path);
    }
    at += got;
    offset += (uint64_t)got;
    count -= (size_t)got;
  }
  return OXP_OK;
}

oxp_status oxp__file_window_get(oxp__file_window *window, uint64_t offset, size_t count, const unsigned char **bytes,
                                oxp_error *error)
{
  bool inside = offset >= window->offset && offset - window->offset <= window->count &&
                count <= window->count - (offset - window->offset);
  if (!inside) {
    uint64_t left = window->limit - offset;
    size_t more = left < sizeof window->bytes ? (size_t)left : sizeof window->bytes;
    window->count = 0;
    OXP__TRY(oxp__file_read(window->file, offset, window->bytes, more, error));
    window->offset = offset;
    window->count = more;
  }
  *bytes = window->bytes + (offset - window->offset);
  return OXP_OK;
}

oxp_status oxp__file_read_all(oxp__arena *arena, const oxp__file *file, size_t limit_bytes, char **bytes, size_t *count,
                              oxp_error *error)
{
  if (file->size_bytes > limit_bytes) {
    oxp__fail(error, OXP_BAD_FILE, "the file has %llu bytes, at most %zu are read here",
              (unsigned long long)file->size_bytes, limit_bytes);
    return oxp__at_file(error, OXP_BAD_FILE, file->path);
  }
  size_t size = (size_t)file->size_bytes;
  char *copy = oxp__arena_new(arena, size + 1, 1);
  if (!copy)
    return oxp__fail_memory(error, size + 1);
  OXP__TRY(oxp__file_read((void *)file, 0, copy, size, error));
  *bytes = copy;
  *count = size;
  return OXP_OK;
}
