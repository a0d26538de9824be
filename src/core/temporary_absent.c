// temporary_absent.c: see temporary.h. Takes the place of temporary.c where every file has a name (WebAssembly): the data is kept in
// memory. Place: core.
#include "core/temporary.h"

#include <errno.h>

FILE *oxp__temporary_file(const char *beside, uint64_t bytes)
{
  (void)beside;
  if (bytes > SIZE_MAX - 1) {
    errno = ENOMEM;
    return NULL;
  }
  return fmemopen(NULL, (size_t)bytes + 1, "w+");
}

oxp_status oxp__temporary_folder(char **path, oxp_error *error)
{
  (void)path;
  return oxp__fail(error, OXP_NOT_AVAILABLE, "this system has no folder for temporary files");
}
