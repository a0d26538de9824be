// array_file.h: single arrays as .npy files, for callers inside the library. Place: formats/common.
#ifndef OXP_FORMATS_COMMON_ARRAY_FILE_H
#define OXP_FORMATS_COMMON_ARRAY_FILE_H

#include "core/error.h"

// As oxp_array_read; *rest_bytes says how many bytes of something else lie behind the array in the file.
oxp_status oxp__array_file_read(const char *path, oxp_array *array, uint64_t *rest_bytes, oxp_error *error);

#endif
