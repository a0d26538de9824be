// lock_absent.c: see lock.h. Takes the place of lock.c where a program is alone (WebAssembly). Place: core.
#include "core/lock.h"

#include <unistd.h>

oxp__lock oxp__lock_take(int descriptor, int wait_ms, oxp__go_on go_on, void *context)
{
  (void)descriptor;
  (void)wait_ms;
  (void)go_on;
  (void)context;
  return OXP__LOCK_IMPOSSIBLE;
}

bool oxp__lock_keep_and_close(int descriptor)
{
  return fsync(descriptor) == 0;
}
