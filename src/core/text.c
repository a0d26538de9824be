// text.c: a growing string, and quoting for the places that need it. Place: core.
#include "core/text.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Makes room for `more` bytes and the final zero; false when memory is out.
static bool text_reserve(oxp__text *text, size_t more)
{
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

// The length of the UTF-8 sequence at `at` (1 to 4); 0 when it is not a valid one.
static size_t text_sequence(const unsigned char *at, size_t left)
{
  static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
  if (at[0] < 0x80)
    return 1;
  size_t length = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
  if (at[0] < 0xC2 || at[0] > 0xF4 || length > left)
    return 0;
  uint32_t code = at[0] & (0x7Fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((at[i] & 0xC0) != 0x80)
      return 0;
    code = code << 6 | (at[i] & 0x3Fu);
  }
  bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code >= least[length] && code <= 0x10FFFF && !surrogate ? length : 0;
}

bool oxp__text_is_utf8(const void *bytes, size_t length)
{
  const unsigned char *at = bytes;
  for (size_t i = 0; i < length;) {
    size_t step = at[i] ? text_sequence(at + i, length - i) : 0;
    if (step == 0)
      return false;
    i += step;
  }
  return true;
}

// Control characters, among them U+0080 to U+009F: a terminal may obey them.
static bool text_is_control(const unsigned char *at, size_t step)
{
  return step == 1 ? at[0] < 0x20 || at[0] == 0x7F : step == 2 && at[0] == 0xC2 && at[1] < 0xA0;
}

void oxp__text_clean(char *string)
{
  unsigned char *at = (unsigned char *)string;
  for (size_t left = strlen(string); left > 0;) {
    size_t step = text_sequence(at, left);
    bool blank = *at == '\n' || *at == '\r' || *at == '\t';
    if (step == 0 || text_is_control(at, step))
      memset(at, blank ? ' ' : '?', step ? step : 1);
    at += step ? step : 1;
    left -= step ? step : 1;
  }
}

static void text_add_json_char(oxp__text *text, unsigned char c)
{
  if (c == '"' || c == '\\')
    oxp__text_printf(text, "\\%c", c);
  else if (c == '\n')
    oxp__text_add(text, "\\n");
  else if (c == '\t')
    oxp__text_add(text, "\\t");
  else if (c < 0x20 || c == 0x7F)
    oxp__text_printf(text, "\\u%04x", c);
  else
    oxp__text_add_bytes(text, &c, 1);
}

void oxp__text_add_json(oxp__text *text, const char *string)
{
  const unsigned char *at = (const unsigned char *)string;
  size_t left = strlen(string);
  oxp__text_add(text, "\"");
  while (left > 0) {
    size_t step = text_sequence(at, left);
    if (step == 0)
      oxp__text_add(text, "\xEF\xBF\xBD"); // U+FFFD, the replacement character
    else if (step == 1)
      text_add_json_char(text, *at);
    else if (text_is_control(at, step))
      oxp__text_printf(text, "\\u00%02x", at[1]); // U+0080 to U+009F
    else
      oxp__text_add_bytes(text, at, step);
    at += step ? step : 1;
    left -= step ? step : 1;
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

const char *oxp__text_string(const oxp__text *text)
{
  return text->bytes ? text->bytes : "";
}

oxp_status oxp__text_status(const oxp__text *text, oxp_error *error)
{
  return text->failed ? oxp__fail_memory(error, text->length) : OXP_OK;
}

void oxp__text_fini(oxp__text *text)
{
  free(text->bytes);
  *text = (oxp__text){ 0 };
}
