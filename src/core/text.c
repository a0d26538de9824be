// text.c: a growing string, quoting for the places that need it, and what a terminal may be shown. Place: core.
#include "core/text.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_DRAIN_BYTES = 64 * 1024 };

// Lets everything go that is there.
static void text_drain(oxp__text *text)
{
  text->status = text->drain(NULL, text->bytes, text->length, text->error);
  text->failed |= text->status != OXP_OK;
  text->length = 0;
}

// Makes room for `more` bytes and the final zero; false when memory is out.
static bool text_reserve(oxp__text *text, size_t more)
{
  if (text->drain && text->length >= TEXT_DRAIN_BYTES && !text->failed)
    text_drain(text);
  if (text->failed || more > SIZE_MAX / 4 || text->length > SIZE_MAX / 4) {
    text->failed = true;
    return false;
  }
  size_t needed = text->length + more + 1;
  if (needed <= text->capacity)
    return true;
  size_t capacity = text->capacity ? text->capacity : 256;
  while (capacity < needed)
    capacity *= 2;
  char *bytes = realloc(text->bytes, capacity);
  if (!bytes) {
    text->failed = true;
    return false;
  }
  text->bytes = bytes;
  text->capacity = capacity;
  return true;
}

void oxp__text_add_bytes(oxp__text *text, const void *bytes, size_t length)
{
  if (!text_reserve(text, length))
    return;
  if (length > 0)
    memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
  text->bytes[text->length] = 0;
}

void oxp__text_add(oxp__text *text, const char *string)
{
  oxp__text_add_bytes(text, string, strlen(string));
}

void oxp__text_printf(oxp__text *text, const char *format, ...)
{
  if (!text_reserve(text, 0))
    return;
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  size_t room = text->capacity - text->length;
  int length = vsnprintf(text->bytes + text->length, room, format, arguments);
  if (length < 0)
    text->failed = true;
  else if ((size_t)length >= room && text_reserve(text, (size_t)length))
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
  va_end(again);
  va_end(arguments);
  if (text->failed)
    text->bytes[text->length] = 0; // as it was
  else
    text->length += (size_t)length;
}

// --- Characters ---

// The length of the UTF-8 sequence at `at` (1 to 4) and its code point; 0 when it is not a valid one.
static size_t text_sequence(const unsigned char *at, size_t left, uint32_t *code)
{
  static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
  *code = at[0];
  if (at[0] < 0x80)
    return 1;
  size_t length = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
  if (at[0] < 0xC2 || at[0] > 0xF4 || length > left)
    return 0;
  *code = at[0] & (0x7Fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((at[i] & 0xC0) != 0x80)
      return 0;
    *code = *code << 6 | (at[i] & 0x3Fu);
  }
  bool surrogate = *code >= 0xD800 && *code <= 0xDFFF;
  return *code >= least[length] && *code <= 0x10FFFF && !surrogate ? length : 0;
}

bool oxp__text_is_utf8(const void *bytes, size_t length)
{
  const unsigned char *at = bytes;
  uint32_t code;
  for (size_t i = 0; i < length;) {
    size_t step = at[i] ? text_sequence(at + i, length - i, &code) : 0;
    if (step == 0)
      return false;
    i += step;
  }
  return true;
}

typedef struct text_range {
  uint32_t first, last;
} text_range;

static bool text_is_in(const text_range *ranges, size_t count, uint32_t code)
{
  for (size_t i = 0; i < count && ranges[i].first <= code; i++)
    if (code <= ranges[i].last)
      return true;
  return false;
}

// Characters that a terminal may obey, that turn the order of what stands around them, or that take room without being
// seen: Unicode's categories Cc, Cf, Zl and Zp, and letters that are blank by design.
static bool text_is_control(uint32_t code)
{
  static const text_range ranges[] = {
    { 0x0, 0x1F },        { 0x7F, 0x9F },       { 0xAD, 0xAD },       { 0x34F, 0x34F },     { 0x600, 0x605 },
    { 0x61C, 0x61C },     { 0x6DD, 0x6DD },     { 0x70F, 0x70F },     { 0x890, 0x891 },     { 0x8E2, 0x8E2 },
    { 0x115F, 0x1160 },   { 0x17B4, 0x17B5 },   { 0x180E, 0x180E },   { 0x200B, 0x200F },   { 0x2028, 0x202E },
    { 0x2060, 0x206F },   { 0x3164, 0x3164 },   { 0xFEFF, 0xFEFF },   { 0xFFA0, 0xFFA0 },   { 0xFFF0, 0xFFFB },
    { 0x110BD, 0x110BD }, { 0x110CD, 0x110CD }, { 0x13430, 0x1343F }, { 0x1BCA0, 0x1BCA3 }, { 0x1D173, 0x1D17A },
    { 0xE0000, 0xE0FFF },
  };
  return text_is_in(ranges, OXP__COUNT(ranges), code);
}

// The places that a character takes on a screen. Blocks, not single characters: right for what names hold.
static size_t text_cells_of(uint32_t code)
{
  static const text_range none[] = { { 0x300, 0x36F },   { 0x483, 0x489 },   { 0x591, 0x5BD },
                                     { 0x64B, 0x65F },   { 0x1AB0, 0x1AFF }, { 0x1DC0, 0x1DFF },
                                     { 0x20D0, 0x20FF }, { 0xFE00, 0xFE0F }, { 0xFE20, 0xFE2F } };
  static const text_range wide[] = { { 0x1100, 0x115E },   { 0x2E80, 0x303E },  { 0x3041, 0x33FF },
                                     { 0x3400, 0x4DBF },   { 0x4E00, 0xA4CF },  { 0xA960, 0xA97F },
                                     { 0xAC00, 0xD7A3 },   { 0xF900, 0xFAFF },  { 0xFE30, 0xFE6F },
                                     { 0xFF00, 0xFF60 },   { 0xFFE0, 0xFFE6 },  { 0x1F300, 0x1F64F },
                                     { 0x1F900, 0x1F9FF }, { 0x20000, 0x3FFFD } };
  if (text_is_in(none, OXP__COUNT(none), code))
    return 0;
  return text_is_in(wide, OXP__COUNT(wide), code) ? 2 : 1;
}

// What is shown for the character at *at, which is moved behind it: the character itself, or one of ours. Its length and
// the places that it takes on a screen.
static const char *text_shown(const char **at, size_t *left, size_t *length, size_t *cells)
{
  uint32_t code;
  const char *start = *at;
  size_t step = text_sequence((const unsigned char *)start, *left, &code);
  *length = step ? step : 1;
  *at += *length;
  *left -= *length;
  *cells = 1;
  if (step > 0 && !text_is_control(code)) {
    *cells = text_cells_of(code);
    return start;
  }
  *length = 1;
  return code == '\n' || code == '\r' || code == '\t' ? " " : "?";
}

void oxp__text_clean(char *string)
{
  const char *at = string;
  size_t length, cells;
  for (size_t left = strlen(string); left > 0; string += length) {
    const char *shown = text_shown(&at, &left, &length, &cells);
    memmove(string, shown, length); // what is shown is never longer
  }
  *string = 0;
}

// Adds what is shown of `string` from `at` on, as long as it takes no more than `cells` places.
static void text_add_shown(oxp__text *text, const char *at, size_t cells)
{
  size_t length, width, left = strlen(at);
  while (left > 0) {
    const char *shown = text_shown(&at, &left, &length, &width);
    if (width > cells)
      return;
    cells -= width;
    oxp__text_add_bytes(text, shown, length);
  }
}

void oxp__text_add_clean(oxp__text *text, const char *string)
{
  text_add_shown(text, string, SIZE_MAX);
}

size_t oxp__text_cells(const char *string)
{
  size_t cells = 0, length, width, left = strlen(string);
  while (left > 0) {
    text_shown(&string, &left, &length, &width);
    cells += width;
  }
  return cells;
}

size_t oxp__text_add_short(oxp__text *text, const char *string, size_t cells)
{
  size_t all = oxp__text_cells(string), end = cells / 3, length, width, left = strlen(string);
  if (all <= cells) {
    oxp__text_add_clean(text, string);
    return all;
  }
  text_add_shown(text, string, cells - end - 1);
  oxp__text_add(text, "\xE2\x80\xA6"); // an ellipsis, one place
  for (size_t rest = all; rest > end; rest -= width)
    text_shown(&string, &left, &length, &width);
  oxp__text_add_clean(text, string);
  return cells;
}

// --- Quoting ---

// A character as JSON's escape, above 16 bits as a pair of them.
static void text_add_json_escape(oxp__text *text, uint32_t code)
{
  if (code == '\n' || code == '\t')
    oxp__text_add(text, code == '\n' ? "\\n" : "\\t");
  else if (code < 0x10000)
    oxp__text_printf(text, "\\u%04" PRIx32, code);
  else
    oxp__text_printf(text, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xD7C0 + (code >> 10), 0xDC00 + (code & 0x3FF));
}

void oxp__text_add_json(oxp__text *text, const char *string)
{
  oxp__text_add_json_bytes(text, string, strlen(string));
}

void oxp__text_add_json_bytes(oxp__text *text, const void *bytes, size_t length)
{
  const unsigned char *at = bytes;
  size_t step;
  oxp__text_add(text, "\"");
  for (size_t left = length; left > 0; left -= step, at += step) {
    uint32_t code;
    step = text_sequence(at, left, &code);
    if (step == 0)
      oxp__text_add(text, "\xEF\xBF\xBD"); // U+FFFD, the replacement character
    else if (code == '"' || code == '\\')
      oxp__text_printf(text, "\\%c", (int)code);
    else if (text_is_control(code))
      text_add_json_escape(text, code);
    else
      oxp__text_add_bytes(text, at, step);
    step = step ? step : 1;
  }
  oxp__text_add(text, "\"");
}

void oxp__text_add_json_number(oxp__text *text, double number)
{
  if (isnan(number) || isinf(number)) {
    oxp__text_add(text, isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    return;
  }
  char digits[40];
  bool whole = fabs(number) < 1e15 && number == floor(number);
  if (whole)
    snprintf(digits, sizeof digits, "%.0f", number);
  for (int precision = 1; !whole && precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, number);
    if (strtod(digits, NULL) == number)
      break;
  }
  // The caller's program may have set a locale whose decimal point is a comma, or a character of several bytes.
  const char *point = localeconv()->decimal_point;
  char *found = point[0] ? strstr(digits, point) : NULL;
  if (found) {
    oxp__text_add_bytes(text, digits, (size_t)(found - digits));
    oxp__text_add(text, ".");
  }
  oxp__text_add(text, found ? found + strlen(point) : digits);
}

const char *oxp__dim_name(int64_t dim)
{
  switch (dim) {
  case OXP_DIM_BATCH:
    return "batch";
  case OXP_DIM_HEIGHT:
    return "height";
  case OXP_DIM_WIDTH:
    return "width";
  default:
    return dim < 0 ? "?" : NULL;
  }
}

void oxp__text_add_shape(oxp__text *text, int rank, const int64_t *shape)
{
  oxp__text_add(text, "(");
  for (int i = 0; i < rank; i++) {
    const char *name = oxp__dim_name(shape[i]);
    if (i > 0)
      oxp__text_add(text, ", ");
    if (name)
      oxp__text_add(text, name);
    else
      oxp__text_printf(text, "%" PRId64, shape[i]);
  }
  oxp__text_add(text, rank == 1 ? ",)" : ")");
}

void oxp__text_cut(oxp__text *text, size_t length)
{
  if (length >= text->length)
    return;
  text->length = length;
  text->bytes[length] = 0;
}

const char *oxp__text_string(const oxp__text *text)
{
  return text->bytes ? text->bytes : "";
}

oxp_status oxp__text_status(const oxp__text *text, oxp_error *error)
{
  if (text->status != OXP_OK)
    return text->status; // whose error was filled in where it happened
  return text->failed ? oxp__fail_memory(error, text->length) : OXP_OK;
}

void oxp__text_fini(oxp__text *text)
{
  free(text->bytes);
  *text = (oxp__text){ 0 };
}
