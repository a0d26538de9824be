// Makes the n-th call of a group of system functions fail. The functions are replaced by the linker (--wrap), so that only calls
// from the library's own objects count, and jansson's allocations. Nothing fails unless a fault is armed.
#ifndef OXP_TESTS_FAULTS_H
#define OXP_TESTS_FAULTS_H

#include <stdbool.h>

typedef enum fault {
  FAULT_NONE,
  FAULT_MEMORY, // malloc and its kin find no memory
  FAULT_READ,   // reading says EIO
  FAULT_WRITE,  // writing, syncing, renaming, closing say ENOSPC
  FAULT_OPEN,   // opening says EMFILE; threads cannot be started
  FAULT_SHORT,  // every read and write does half of what was asked, and every third is interrupted: no fault at all
  FAULT_KILL,   // the process ends where it would rename
  FAULT_RENAME, // renaming says ENOSPC, from the n-th on for ever
  FAULT_LOCK    // locking says ENOLCK, always
} fault;

// From now on the n-th call (from 1) of the group fails, once.
void fault_arm(fault what, int n);

// Ends it; true when a call failed since fault_arm.
bool fault_disarm(void);

// From now on, what is done so that files survive a power cut is written down, in order: S: a file is synced; R: a file that was synced is
// given a name; r: one that was not; F: a folder is synced. The string is the log's own.
void fault_watch(void);
const char *fault_seen(void);

#endif
