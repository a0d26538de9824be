// text.h: a growing string, quoting for the places that need it, and what a terminal may be shown. Place: core.
#ifndef OXP_CORE_TEXT_H
#define OXP_CORE_TEXT_H

#include "core/error.h"

// An all-zero text is empty and ready. `bytes` ends in zero once something was added and may be NULL before.
// After memory ran out `failed` stays true and nothing more is added: check once at the end.
typedef struct oxp__text {
  char *bytes;
  size_t length;
  size_t capacity;
  bool failed;
  // Where the text goes piece by piece once it is long, so that it takes little memory; NULL: it stays. Called without a
  // context. What goes wrong there is in `status` and in *error, which is *borrowed* and may be NULL.
  oxp_write_function drain;
  oxp_error *error;
  oxp_status status;
} oxp__text;

void oxp__text_add(oxp__text *text, const char *string);
void oxp__text_add_bytes(oxp__text *text, const void *bytes, size_t length);
void oxp__text_printf(oxp__text *text, const char *format, ...) OXP__PRINTF(2, 3);
// As a JSON string, with quotes; what oxp__text_clean would replace is escaped, bytes that are not valid UTF-8 become
// U+FFFD.
void oxp__text_add_json(oxp__text *text, const char *string);
// The same where zeros may be inside.
void oxp__text_add_json_bytes(oxp__text *text, const void *bytes, size_t length);
// A double with the fewest digits that read back to the same value; "NaN", "Infinity", "-Infinity" as JSON strings.
void oxp__text_add_json_number(oxp__text *text, double number);
// "(4, 3, 256, 256)", symbolic dimensions by name ("batch"); the form NumPy users know.
void oxp__text_add_shape(oxp__text *text, int rank, const int64_t *shape);
// Leaves the first `length` bytes of a text that does not drain.
void oxp__text_cut(oxp__text *text, size_t length);
// The string so far; "" when nothing was added. OXP_NO_MEMORY if it failed, or the status of `drain`.
const char *oxp__text_string(const oxp__text *text);
oxp_status oxp__text_status(const oxp__text *text, oxp_error *error);
void oxp__text_fini(oxp__text *text);

// The name of a symbolic dimension: "batch", "height", "width", "?"; NULL for a known one.
const char *oxp__dim_name(int64_t dim);

// Makes a sentence safe to show, in place: line breaks and tabs become spaces; other control characters, marks that turn
// the order of writing or are not seen, and bytes that are not UTF-8, such as files hold in names, become question marks.
void oxp__text_clean(char *string);
// Adds it so.
void oxp__text_add_clean(oxp__text *text, const char *string);
// Adds it so, with an ellipsis in place of its middle where it takes more than `cells` places on a screen; the places
// that it took.
size_t oxp__text_add_short(oxp__text *text, const char *string, size_t cells);
// The places that it takes on a screen when it was cleaned.
size_t oxp__text_cells(const char *string);

// True when the bytes are valid UTF-8 without a zero byte.
bool oxp__text_is_utf8(const void *bytes, size_t length);

#endif
