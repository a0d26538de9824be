// Preloaded into a program, makes it believe that the machine has as many processors as the variable OXP_TEST_CPUS says, so that code
// that starts a thread for each can be tested with any number of them. Used by determinism.py.
#define _GNU_SOURCE // RTLD_NEXT
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("default"))) long sysconf(int name);

long sysconf(int name)
{
  const char *count = name == _SC_NPROCESSORS_ONLN ? getenv("OXP_TEST_CPUS") : NULL;
  if (count)
    return strtol(count, NULL, 10);
  long (*next)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
  return next(name);
}
