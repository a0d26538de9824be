// lock.c: see lock.h. Place: core.
#include "core/lock.h"

#include <errno.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_STEP_MS = 10 };

// Asks again and again, because waiting in the system has no limit: somebody may hold a lock for as long as we live.
oxp__lock oxp__lock_take(int descriptor, int wait_ms, oxp__go_on go_on, void *context)
{
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR && errno != EWOULDBLOCK)
      return OXP__LOCK_IMPOSSIBLE;
    if (errno == EWOULDBLOCK && wait_ms <= 0)
      return OXP__LOCK_BUSY;
    if (go_on && !go_on(context))
      return OXP__LOCK_CANCELLED;
    wait_ms -= LOCK_STEP_MS;
    nanosleep(&(struct timespec){ .tv_nsec = LOCK_STEP_MS * 1000000 }, NULL);
  }
  return OXP__LOCKED;
}

bool oxp__lock_keep_and_close(int descriptor)
{
  int second = dup(descriptor); // has the lock too
  return second >= 0 && close(second) == 0;
}
