// temporary.h: a file without a name, for data that must be read in another order than it comes. Place: core.
#ifndef OXP_CORE_TEMPORARY_H
#define OXP_CORE_TEMPORARY_H

#include <stdint.h>
#include <stdio.h>

#include "core/error.h"

// A new, empty file for at most `bytes` bytes, which is gone when it is closed (fclose); NULL with errno when there can be none.
// It lies in the folder of the path `beside`, where a target of that size has room too; NULL: in the system's temporary folder.
FILE *oxp__temporary_file(const char *beside, uint64_t bytes);

// A new folder that only we may enter, in TMPDIR or /tmp, for a file that somebody else must find by its name. *path is for the
// caller to free, after the folder was emptied and removed.
oxp_status oxp__temporary_folder(char **path, oxp_error *error);

#endif
