// json.h: builds the one JSON object that a verb prints under --json, with commas and indentation in place. Keys are
// constants of ours. Check oxp__json_print's status; nothing else fails visibly before. Place: cli.
#ifndef OXP_CLI_JSON_H
#define OXP_CLI_JSON_H

#include "core/scalar.h"

// All zero is an empty document; with `text` from oxp__print_start, it leaves piece by piece.
typedef struct oxp__json {
  oxp__text text;
  int depth;
  bool filled; // the open object or array has something in it
} oxp__json;

// Open an object or array; `key` is NULL for the outermost and inside arrays. Every one is closed with oxp__json_end.
void oxp__json_object(oxp__json *json, const char *key);
void oxp__json_array(oxp__json *json, const char *key);
void oxp__json_end(oxp__json *json, char bracket); // '}' or ']'

void oxp__json_text(oxp__json *json, const char *key, const char *value);                 // NULL is null
void oxp__json_bytes(oxp__json *json, const char *key, const void *bytes, size_t length); // as text
void oxp__json_int(oxp__json *json, const char *key, int64_t value);
void oxp__json_u64(oxp__json *json, const char *key, uint64_t value);
void oxp__json_number(oxp__json *json, const char *key, double value);             // as text when it is not finite
void oxp__json_scalar(oxp__json *json, const char *key, const oxp__scalar *value); // whole numbers with all digits
void oxp__json_bool(oxp__json *json, const char *key, bool value);
// A number, the symbol's name, or null where nothing is known.
void oxp__json_dim(oxp__json *json, int64_t dim, const char *symbol);

// Writes the document and a line break to standard output and frees it.
oxp_status oxp__json_print(oxp__json *json, oxp_error *error);
void oxp__json_fini(oxp__json *json);

#endif
