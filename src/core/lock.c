// lock.c: see lock.h. Place: core.
#include "core/lock.h"

#include <errno.h>
#include <sys/file.h>
#include <unistd.h>

oxp__lock oxp__lock_take(int descriptor, bool wait)
{
  while (flock(descriptor, LOCK_EX | (wait ? 0 : LOCK_NB)) != 0)
    if (errno != EINTR)
      return errno == EWOULDBLOCK ? OXP__LOCK_BUSY : OXP__LOCK_IMPOSSIBLE;
  return OXP__LOCKED;
}

bool oxp__lock_keep_and_close(int descriptor)
{
  int second = dup(descriptor); // has the lock too
  return second >= 0 && close(second) == 0;
}
