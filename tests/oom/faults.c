// See faults.h.
#include "faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/arena.h"

static atomic_int armed, countdown, interruptions;
static atomic_bool fired;

void fault_arm(fault what, int n)
{
  json_set_alloc_funcs(malloc, free); // the wrapped one
  atomic_store(&fired, false);
  atomic_store(&countdown, n);
  atomic_store(&interruptions, 0);
  atomic_store(&armed, what);
}

bool fault_disarm(void)
{
  atomic_store(&armed, FAULT_NONE);
  return atomic_load(&fired);
}

// ---- What is done against power cuts ----

enum { MOST_SEEN = 64 };
static char seen[MOST_SEEN];
static ino_t synced[MOST_SEEN];
static size_t seen_count, synced_count;
static bool watching;

void fault_watch(void)
{
  seen_count = synced_count = 0;
  watching = true;
}

const char *fault_seen(void)
{
  watching = false;
  seen[seen_count] = 0;
  return seen;
}

static void see(char what)
{
  if (watching && seen_count + 1 < MOST_SEEN)
    seen[seen_count++] = what;
}

static void see_sync(int descriptor)
{
  struct stat status;
  if (fstat(descriptor, &status) != 0)
    return;
  see(S_ISDIR(status.st_mode) ? 'F' : 'S');
  if (watching && synced_count < MOST_SEEN)
    synced[synced_count++] = status.st_ino;
}

static void see_rename(const char *from)
{
  struct stat status;
  bool safe = false;
  for (size_t i = 0; stat(from, &status) == 0 && i < synced_count; i++)
    safe = safe || synced[i] == status.st_ino;
  see(safe ? 'R' : 'r');
}

static bool fails(fault what, int code)
{
  if (atomic_load(&armed) != (int)what || atomic_fetch_sub(&countdown, 1) != 1)
    return false;
  atomic_store(&fired, true);
  errno = code;
  return true;
}

// Half of a count; the whole when there is nothing to halve or nothing is armed. Negative: interrupted.
static ssize_t shortened(size_t count)
{
  if (atomic_load(&armed) != FAULT_SHORT)
    return (ssize_t)count;
  atomic_store(&fired, true);
  if (atomic_fetch_add(&interruptions, 1) % 3 == 2) {
    errno = EINTR;
    return -1;
  }
  return (ssize_t)(count > 1 ? count / 2 : count);
}

// clang-format off
#define WRAPPED(type, name, parameters) type __real_##name parameters; __attribute__((visibility("default"))) type __wrap_##name parameters; type __wrap_##name parameters
// clang-format on

// ---- Memory ----

WRAPPED(void *, malloc, (size_t size))
{
  return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_malloc(size);
}

WRAPPED(void *, calloc, (size_t count, size_t size))
{
  return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_calloc(count, size);
}

WRAPPED(void *, realloc, (void *old, size_t size))
{
  return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_realloc(old, size);
}

WRAPPED(char *, strdup, (const char *text))
{
  return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_strdup(text);
}

WRAPPED(char *, strndup, (const char *text, size_t size))
{
  return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_strndup(text, size);
}

WRAPPED(int, inflateInit2_, (z_streamp stream, int bits, const char *version, int size))
{
  return fails(FAULT_MEMORY, ENOMEM) ? Z_MEM_ERROR : __real_inflateInit2_(stream, bits, version, size);
}

// Most small things share blocks of an arena, so few of them are the one that finds no memory. Here each may be.
WRAPPED(void *, oxp__arena_new, (oxp__arena * arena, size_t count, size_t size))
{
  return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_oxp__arena_new(arena, count, size);
}

WRAPPED(char *, oxp__arena_copy, (oxp__arena * arena, const char *text))
{
  return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_oxp__arena_copy(arena, text);
}

WRAPPED(char *, oxp__arena_copy_bytes, (oxp__arena * arena, const void *bytes, size_t length))
{
  return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_oxp__arena_copy_bytes(arena, bytes, length);
}

WRAPPED(char *, oxp__arena_printf, (oxp__arena * arena, const char *format, ...))
{
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_oxp__arena_copy(arena, text);
}

WRAPPED(void *, oxp__arena_grow, (oxp__arena * arena, void *array, size_t count, size_t *capacity, size_t size))
{
  if (count >= *capacity && fails(FAULT_MEMORY, ENOMEM))
    return NULL;
  return __real_oxp__arena_grow(arena, array, count, capacity, size);
}

WRAPPED(oxp_status, oxp__arena_defer, (oxp__arena * arena, void (*close_it)(void *), void *thing, oxp_error *error))
{
  if (!fails(FAULT_MEMORY, ENOMEM))
    return __real_oxp__arena_defer(arena, close_it, thing, error);
  close_it(thing);
  return oxp__fail_memory(error, 1);
}

// ---- Reading ----

#define READING(name, offset_type)                                                                                     \
  WRAPPED(ssize_t, name, (int descriptor, void *buffer, size_t count, offset_type offset))                             \
  {                                                                                                                    \
    ssize_t some = fails(FAULT_READ, EIO) ? -1 : shortened(count);                                                     \
    return some < 0 ? -1 : __real_##name(descriptor, buffer, (size_t)some, offset);                                    \
  }

READING(pread64, off_t)

WRAPPED(ssize_t, read, (int descriptor, void *buffer, size_t count))
{
  ssize_t some = fails(FAULT_READ, EIO) ? -1 : shortened(count);
  return some < 0 ? -1 : __real_read(descriptor, buffer, (size_t)some);
}

// ---- Writing ----

#define WRITING(name, offset_type)                                                                                     \
  WRAPPED(ssize_t, name, (int descriptor, const void *buffer, size_t count, offset_type offset))                       \
  {                                                                                                                    \
    ssize_t some = fails(FAULT_WRITE, ENOSPC) ? -1 : shortened(count);                                                 \
    return some < 0 ? -1 : __real_##name(descriptor, buffer, (size_t)some, offset);                                    \
  }

WRITING(pwrite64, off_t)

WRAPPED(ssize_t, write, (int descriptor, const void *buffer, size_t count))
{
  ssize_t some = fails(FAULT_WRITE, ENOSPC) ? -1 : shortened(count);
  return some < 0 ? -1 : __real_write(descriptor, buffer, (size_t)some);
}

WRAPPED(int, fsync, (int descriptor))
{
  see_sync(descriptor);
  if (atomic_load(&armed) == FAULT_NONE)
    return __real_fsync(descriptor);
  return fails(FAULT_WRITE, EIO) ? -1 : 0; // the disk itself is not what is tested, thousands of times
}

WRAPPED(int, fchmod, (int descriptor, mode_t mode))
{
  return fails(FAULT_WRITE, EPERM) ? -1 : __real_fchmod(descriptor, mode);
}

WRAPPED(int, rename, (const char *from, const char *to))
{
  see_rename(from);
  if (fails(FAULT_KILL, 0))
    _exit(EXIT_SUCCESS);
  if (fails(FAULT_RENAME, ENOSPC))
    atomic_store(&countdown, 1); // the next one too
  else if (!fails(FAULT_WRITE, ENOSPC))
    return __real_rename(from, to);
  return -1;
}

WRAPPED(int, dup, (int descriptor))
{
  return fails(FAULT_WRITE, EMFILE) ? -1 : __real_dup(descriptor);
}

WRAPPED(int, close, (int descriptor))
{
  bool failed = fails(FAULT_WRITE, EIO);
  int result = __real_close(descriptor);
  errno = failed ? EIO : errno;
  return failed ? -1 : result;
}

WRAPPED(off_t, lseek64, (int descriptor, off_t offset, int whence))
{
  return fails(FAULT_WRITE, EINVAL) ? -1 : __real_lseek64(descriptor, offset, whence);
}

// ---- Opening ----

WRAPPED(int, open64, (const char *path, int flags, ...))
{
  va_list arguments;
  va_start(arguments, flags);
  unsigned mode = flags & O_CREAT ? va_arg(arguments, unsigned) : 0;
  va_end(arguments);
  return fails(FAULT_OPEN, EMFILE) ? -1 : __real_open64(path, flags, mode);
}

WRAPPED(int, openat64, (int folder, const char *path, int flags, ...))
{
  return fails(FAULT_OPEN, EMFILE) ? -1 : __real_openat64(folder, path, flags);
}

WRAPPED(DIR *, opendir, (const char *path))
{
  return fails(FAULT_OPEN, EMFILE) ? NULL : __real_opendir(path);
}

WRAPPED(DIR *, fdopendir, (int descriptor))
{
  return fails(FAULT_OPEN, ENOMEM) ? NULL : __real_fdopendir(descriptor);
}

WRAPPED(FILE *, tmpfile64, (void))
{
  return fails(FAULT_OPEN, EMFILE) ? NULL : __real_tmpfile64();
}

WRAPPED(int, flock, (int descriptor, int operation))
{
  bool failed = fails(FAULT_OPEN, ENOLCK);
  if (!failed && atomic_load(&armed) != FAULT_LOCK)
    return __real_flock(descriptor, operation);
  errno = ENOLCK;
  return -1;
}

WRAPPED(int, pthread_create,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *context))
{
  return fails(FAULT_OPEN, EAGAIN) ? EAGAIN : __real_pthread_create(thread, attributes, start, context);
}
