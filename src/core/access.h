// access.h: who may do what with a file that takes another one's place, and whose links are followed. Place: core.
#ifndef OXP_CORE_ACCESS_H
#define OXP_CORE_ACCESS_H

#include <stdbool.h>

// Gives a new file that is open owner, group, access control list and permissions of the file at `path`, as far as they can be kept.
// What cannot is made up for by permissions that are narrower: nobody may do with the new file what he may not do with that one. Nothing to
// do when there is none. False with errno.
bool oxp__access_keep(int descriptor, const char *path);

// Whether a symbolic link in a folder may be followed when something is written: not one of somebody else in a folder where everybody may
// make files but only remove his own (such as /tmp), unless the folder's owner made it. This is the kernel's own rule
// (fs.protected_symlinks), which not every system has switched on.
bool oxp__access_may_follow(const char *folder, const char *link);

#endif
