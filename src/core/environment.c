// environment.c: see environment.h. Place: core.
#ifdef __linux__
#define _GNU_SOURCE // secure_getenv
#endif
#include "core/environment.h"

#include <stdlib.h>

const char *oxp__environment(const char *name)
{
#ifdef __linux__
  const char *value = secure_getenv(name);
#else
  const char *value = getenv(name);
#endif
  return value && *value ? value : NULL;
}
