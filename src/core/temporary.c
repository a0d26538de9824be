// temporary.c: see temporary.h. Place: core.
#ifdef __linux__
#define _GNU_SOURCE // O_TMPFILE
#endif
#include "core/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/environment.h"
#include "core/output.h"

// A file that never has a name; -1 where there cannot be one.
static int temporary_nameless(const char *beside)
{
#ifdef O_TMPFILE
  char *folder = oxp__path_beside(beside, ".");
  int descriptor = folder ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
  free(folder);
  return descriptor;
#else
  (void)beside;
  return -1;
#endif
}

// A file that loses its name at once.
static int temporary_unlinked(const char *beside)
{
  char *path = oxp__path_beside(beside, ".oxp-XXXXXX");
  int descriptor = path ? mkstemp(path) : -1;
  if (descriptor >= 0) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    unlink(path);
  }
  free(path);
  return descriptor;
}

FILE *oxp__temporary_file(const char *beside, uint64_t bytes)
{
  (void)bytes;
  if (!beside)
    return tmpfile();
  int descriptor = temporary_nameless(beside);
  if (descriptor < 0)
    descriptor = temporary_unlinked(beside);
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "w+b") : NULL;
  int code = errno;
  if (!file && descriptor >= 0)
    close(descriptor);
  errno = code;
  return file;
}

oxp_status oxp__temporary_folder(char **path, oxp_error *error)
{
  const char *base = oxp__environment("TMPDIR");
  if (!base)
    base = "/tmp";
  size_t size = strlen(base) + sizeof "/onnxport-XXXXXX";
  char *folder = malloc(size);
  if (!folder)
    return oxp__fail_memory(error, size);
  snprintf(folder, size, "%s/onnxport-XXXXXX", base);
  if (mkdtemp(folder)) {
    *path = folder;
    return OXP_OK;
  }
  oxp_status status = oxp__fail_errno(error, folder, "make a temporary folder");
  free(folder);
  return status;
}
