// temporary_absent.c: see temporary.h. Takes the place of temporary.c where files always have names (WebAssembly). Place: core.
#include "core/temporary.h"

#include <errno.h>

FILE *oxp__temporary_file(void)
{
  errno = ENOSYS;
  return NULL;
}
