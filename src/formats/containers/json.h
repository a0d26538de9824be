// json.h: JSON text that nobody trusts, as jansson's values, within limits of size and nesting. Also reads what Python's json writes and
// the standard lacks: NaN, Infinity, -Infinity. Place: formats/containers.
#ifndef OXP_FORMATS_CONTAINERS_JSON_H
#define OXP_FORMATS_CONTAINERS_JSON_H

#include <jansson.h>

#include "core/arena.h"

#define OXP__JSON_LIMIT_BYTES (4 * 1024 * 1024)
#define OXP__JSON_LIMIT_DEPTH 64

// Parses an object or a list, also behind a byte order mark. Ask oxp__json_number_value for numbers: jansson's own types hold no number that
// is not finite; where a text is wanted such a number is an empty one. The result lives as long as `arena`. OXP_BAD_FILE with line and column for anything that is not JSON,
// for one key twice in an object, for text above the limits.
oxp_status oxp__json_parse(oxp__arena *arena, const char *text, size_t count, const json_t **out, oxp_error *error);

// The value of a number of any kind, also NaN and infinities; false for what is no number.
bool oxp__json_number_value(const json_t *value, double *number);

// Does a file that begins with these bytes hold an object or a list?
bool oxp__json_begins(const void *head, size_t count);

// "an object", "a list", "a text", "a whole number", "NaN", "missing" (NULL), ... for messages.
const char *oxp__json_type_name(const json_t *value);

#endif
