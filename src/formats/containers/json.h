// json.h: JSON text that nobody trusts, as jansson's values, within limits of size and nesting. Place: formats/containers.
#ifndef OXP_FORMATS_CONTAINERS_JSON_H
#define OXP_FORMATS_CONTAINERS_JSON_H

#include <jansson.h>

#include "core/arena.h"

#define OXP__JSON_LIMIT_BYTES (4 * 1024 * 1024)
#define OXP__JSON_LIMIT_DEPTH 64

// Parses an object or a list. The result lives as long as `arena`. OXP_BAD_FILE with line and column for anything that is not JSON,
// for one key twice in an object, for text above the limits.
oxp_status oxp__json_parse(oxp__arena *arena, const char *text, size_t count, const json_t **out, oxp_error *error);

// "an object", "a list", "a text", "a whole number", ... for messages.
const char *oxp__json_type_name(const json_t *value);

#endif
