// path.h: paths as text, and where they lead. Place: core.
#ifndef OXP_CORE_PATH_H
#define OXP_CORE_PATH_H

#include "core/error.h"

// What stands behind the last slash of a path; all of it when there is none.
const char *oxp__path_name(const char *path);

// The path of `name` in the folder that a path lies in: malloc; NULL when memory is out.
char *oxp__path_beside(const char *path, const char *name);

// The path without symbolic links, also when nothing is there yet: malloc, in *resolved. OXP_IO when there are too many links, or
// one that somebody else has put into a folder in which everybody may write (see oxp__access_may_follow): writing there would
// write where that somebody wants.
oxp_status oxp__path_resolve(const char *path, char **resolved, oxp_error *error);

#endif
