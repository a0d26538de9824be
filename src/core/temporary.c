// temporary.c: see temporary.h. Place: core.
#include "core/temporary.h"

FILE *oxp__temporary_file(uint64_t bytes)
{
  (void)bytes;
  return tmpfile();
}
