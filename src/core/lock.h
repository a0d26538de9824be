// lock.h: locks between processes on open files and folders. Place: core.
#ifndef OXP_CORE_LOCK_H
#define OXP_CORE_LOCK_H

#include <stdbool.h>

typedef enum oxp__lock {
  OXP__LOCKED,
  OXP__LOCK_BUSY,      // somebody else has it
  OXP__LOCK_CANCELLED, // nobody wants to wait for it any more
  OXP__LOCK_IMPOSSIBLE // not on this system, not on this file system
} oxp__lock;

// Asked while somebody has to wait: false when there is no point in going on.
typedef bool (*oxp__go_on)(void *context);

// Takes the exclusive lock of what a descriptor has open; closing that gives it back. Waits at most `wait_ms` for somebody else who has
// it, as long as `go_on` says so (NULL: always).
oxp__lock oxp__lock_take(int descriptor, int wait_ms, oxp__go_on go_on, void *context);

// Does what closing does before it gives the lock back: network file systems report a full disk only then. False with errno.
bool oxp__lock_keep_and_close(int descriptor);

#endif
