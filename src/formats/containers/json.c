// json.c: see json.h. The text is read here, by a parser that lives with every byte and with memory running out
// anywhere; jansson holds the values. What Python's json writes beyond the standard is read as Python reads it. Knows
// no dialect. Place: formats/containers.
#include "formats/containers/json.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/numbers.h"
#include "core/text.h"

typedef struct json_reader {
  const char *start, *at, *end;
  // Decoded texts that are in use, one behind the other, and behind them a number's digits. As large as the text and a
  // decimal point, so that all fit.
  char *scratch;
  oxp_status status;
  oxp_error *error;
} json_reader;

enum { REPLACEMENT = 0xFFFD }; // the character that stands for what is none

static json_t *reader_value(json_reader *reader);

// --- Failing ---

// Remembers the first problem; returns NULL. Lines and columns, in characters, start at 1.
static json_t *reader_stop(json_reader *reader, const char *problem)
{
  int line = 1, column = 1;
  if (reader->status != OXP_OK)
    return NULL;
  for (const char *c = reader->start; c < reader->at; c++) {
    if (((unsigned char)*c & 0xC0) != 0x80)
      column++;
    if (*c == '\n') {
      line++;
      column = 1;
    }
  }
  reader->status =
      oxp__fail(reader->error, OXP_BAD_FILE, "not valid JSON at line %d, column %d: %s", line, column, problem);
  return NULL;
}

static json_t *reader_stop_memory(json_reader *reader)
{
  if (reader->status == OXP_OK)
    reader->status = oxp__fail_memory(reader->error, (size_t)(reader->end - reader->start));
  return NULL;
}

// A new value, or NULL and the failure that memory is out.
static json_t *reader_made(json_reader *reader, json_t *value)
{
  return value ? value : reader_stop_memory(reader);
}

// --- Letters ---

// The next character that is no white space; 0 at the end.
static char reader_next(json_reader *reader)
{
  while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) && *reader->at)
    reader->at++;
  return reader->at < reader->end ? *reader->at : 0;
}

static bool reader_accept(json_reader *reader, char wanted)
{
  if (reader_next(reader) != wanted)
    return false;
  reader->at++;
  return true;
}

// --- Texts ---

// Four hexadecimal digits; -1 when there are fewer.
static int32_t reader_hex(json_reader *reader)
{
  static const char digits[] = "0123456789abcdef0123456789ABCDEF";
  int32_t code = 0;
  for (int i = 0; i < 4; i++) {
    const char *digit = reader->at < reader->end && *reader->at ? strchr(digits, *reader->at) : NULL;
    if (!digit)
      return -1;
    code = code * 16 + (int32_t)((digit - digits) % 16);
    reader->at++;
  }
  return code;
}

// The code point after `\u`, of which half may be in a second escape; 0 when it is none. Zero itself is refused: it
// would end texts. Half a character alone, as Python writes it for a byte of a file's name that is no character,
// becomes U+FFFD.
static uint32_t reader_code_point(json_reader *reader)
{
  int32_t first = reader_hex(reader);
  if (first < 0xD800 || first > 0xDFFF)
    return first < 0 ? 0 : (uint32_t)first;
  const char *behind = reader->at;
  if (first <= 0xDBFF && reader->end - behind >= 6 && behind[0] == '\\' && behind[1] == 'u') {
    reader->at += 2;
    int32_t second = reader_hex(reader);
    if (second >= 0xDC00 && second <= 0xDFFF)
      return 0x10000u + ((uint32_t)(first - 0xD800) << 10) + (uint32_t)(second - 0xDC00);
    reader->at = behind;
  }
  return REPLACEMENT;
}

// Writes a code point as UTF-8; returns the place after it.
static char *put_utf8(char *to, uint32_t code)
{
  int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const unsigned char lead[] = { 0, 0xC0, 0xE0, 0xF0 };
  *to++ = (char)(lead[more] | code >> 6 * more);
  while (more-- > 0)
    *to++ = (char)(0x80 | (code >> 6 * more & 0x3F));
  return to;
}

// What an escape stands for, written at `to`; NULL when it is none. The escape is never shorter than that.
static char *reader_escape(json_reader *reader, char *to)
{
  static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  char letter = reader->at < reader->end ? *reader->at : 0;
  const char *found = letter ? strchr(letters, letter) : NULL;
  reader->at++;
  if (found) {
    *to = meant[found - letters];
    return to + 1;
  }
  uint32_t code = letter == 'u' ? reader_code_point(reader) : 0;
  return code ? put_utf8(to, code) : NULL;
}

// Decodes a text behind its opening quote into the scratch, zero-terminated, and takes that part of the scratch. NULL
// on failure.
static const char *reader_text(json_reader *reader)
{
  char *start = reader->scratch, *to = start;
  const char *first = reader->at;
  while (reader->at < reader->end && *reader->at != '"') {
    if ((unsigned char)*reader->at < 0x20)
      return reader_stop(reader, "there is a control character in a text"), NULL;
    if (*reader->at != '\\') {
      *to++ = *reader->at++;
      continue;
    }
    const char *escape = reader->at++;
    to = reader_escape(reader, to);
    if (!to) {
      reader->at = escape;
      return reader_stop(reader, "there is no such escape in texts, or it stands for a zero byte"), NULL;
    }
  }
  if (reader->at >= reader->end) {
    reader->at = reader->end;
    return reader_stop(reader, "a text does not end"), NULL;
  }
  if (!oxp__text_is_utf8(start, (size_t)(to - start))) {
    reader->at = first;
    return reader_stop(reader, "the text that starts here is not UTF-8"), NULL;
  }
  reader->at++;
  *to++ = 0;
  reader->scratch = to;
  return start;
}

static json_t *reader_string(json_reader *reader)
{
  char *scratch = reader->scratch;
  const char *text = reader_text(reader);
  reader->scratch = scratch;
  return text ? reader_made(reader, json_string_nocheck(text)) : NULL;
}

// --- Numbers ---

static bool reader_digits(json_reader *reader)
{
  const char *first = reader->at;
  while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9')
    reader->at++;
  return reader->at > first;
}

// jansson holds no number that is not finite: it becomes a text that begins with a zero byte, which no text that was
// read does.
static json_t *reader_real(json_reader *reader, double number)
{
  if (isfinite(number))
    return reader_made(reader, json_real(number));
  static const char *const words[] = { "\0NaN", "\0Infinity", "\0-Infinity" };
  const char *word = words[isnan(number) ? 0 : number > 0 ? 1 : 2];
  return reader_made(reader, json_stringn_nocheck(word, 1 + strlen(word + 1)));
}

bool oxp__json_number_value(const json_t *value, double *number)
{
  bool is_word = json_is_string(value) && json_string_length(value) > 1 && json_string_value(value)[0] == 0;
  if (is_word)
    *number = strtod(json_string_value(value) + 1, NULL); // C reads the three words as JSON in Python does
  else if (json_is_number(value))
    *number = json_number_value(value);
  return is_word || json_is_number(value);
}

// A number from `first` to where the reader is. The caller's program may have set a locale whose decimal point is
// something else, which strtod then expects. What is too large for a double is infinity, as in Python.
static json_t *reader_decimal(json_reader *reader, const char *first)
{
  const char *point = localeconv()->decimal_point;
  size_t point_length = strlen(point);
  char *digits = reader->scratch, *to = digits;
  for (const char *c = first; c < reader->at; c++) {
    size_t length = *c == '.' ? point_length : 1;
    memcpy(to, *c == '.' ? point : c, length);
    to += length;
  }
  *to = 0;
  return reader_real(reader, strtod(digits, NULL));
}

// Digits from `first` to where the reader is, with a sign in front. What int64 cannot hold becomes a real number: JSON
// knows no limit, and only who needs such a number has to refuse it.
static json_t *reader_integer(json_reader *reader, const char *first)
{
  int64_t number = 0, sign = *first == '-' ? -1 : 1;
  for (const char *c = first + (sign < 0); c < reader->at; c++)
    if (!oxp__mul_i64(number, 10, &number) || !oxp__add_i64(number, sign * (*c - '0'), &number))
      return reader_decimal(reader, first);
  return reader_made(reader, json_integer(number));
}

static json_t *reader_number(json_reader *reader)
{
  const char *first = reader->at;
  reader->at += *reader->at == '-';
  bool zero = reader->at < reader->end && *reader->at == '0', right = reader_digits(reader);
  right = right && !(zero && reader->at > first + 1 + (*first == '-'));
  const char *whole = reader->at;
  if (right && reader->at < reader->end && *reader->at == '.') {
    reader->at++;
    right = reader_digits(reader);
  }
  if (right && reader->at < reader->end && (*reader->at == 'e' || *reader->at == 'E')) {
    reader->at++;
    reader->at += reader->at < reader->end && (*reader->at == '+' || *reader->at == '-');
    right = reader_digits(reader);
  }
  if (!right) {
    reader->at = first;
    return reader_stop(reader, "this is not a number of JSON");
  }
  return reader->at == whole ? reader_integer(reader, first) : reader_decimal(reader, first);
}

// --- Lists and objects ---

// The end of a list or an object of which `value` has been read so far; frees it and returns NULL on failure.
static json_t *reader_close(json_reader *reader, json_t *value)
{
  if (reader->status == OXP_OK)
    return value;
  json_decref(value);
  return NULL;
}

static json_t *reader_list(json_reader *reader)
{
  json_t *list = reader_made(reader, json_array());
  if (!list || reader_accept(reader, ']'))
    return list;
  do {
    json_t *item = reader_value(reader);
    if (item && json_array_append_new(list, item) != 0)
      reader_stop_memory(reader);
  } while (reader->status == OXP_OK && reader_accept(reader, ','));
  if (reader->status == OXP_OK && !reader_accept(reader, ']'))
    reader_stop(reader, "a comma or the end of the list is missing");
  return reader_close(reader, list);
}

// One `"key": value` of an object.
static void reader_entry(json_reader *reader, json_t *object)
{
  char *scratch = reader->scratch;
  const char *key = reader_accept(reader, '"') ? reader_text(reader) : NULL;
  if (!key || json_object_get(object, key))
    reader_stop(reader, key ? "a key stands twice in one object" : "a key in quotes is missing");
  else if (!reader_accept(reader, ':'))
    reader_stop(reader, "a colon is missing after a key");
  json_t *value = reader->status == OXP_OK ? reader_value(reader) : NULL;
  if (value && json_object_set_new_nocheck(object, key, value) != 0)
    reader_stop_memory(reader);
  reader->scratch = scratch;
}

static json_t *reader_object(json_reader *reader)
{
  json_t *object = reader_made(reader, json_object());
  if (!object || reader_accept(reader, '}'))
    return object;
  do
    reader_entry(reader, object);
  while (reader->status == OXP_OK && reader_accept(reader, ','));
  if (reader->status == OXP_OK && !reader_accept(reader, '}'))
    reader_stop(reader, "a comma or the end of the object is missing");
  return reader_close(reader, object);
}

// The words of JSON, and those that Python writes for numbers that are not finite.
static json_t *reader_word(json_reader *reader)
{
  static const char *const words[] = { "true", "false", "null", "NaN", "Infinity", "-Infinity" };
  static const double numbers[] = { 0, 0, 0, (double)NAN, (double)INFINITY, -(double)INFINITY };
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    size_t length = strlen(words[i]);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, words[i], length) != 0)
      continue;
    reader->at += length;
    return i == 0 ? json_true() : i == 1 ? json_false() : i == 2 ? json_null() : reader_real(reader, numbers[i]);
  }
  return reader_stop(reader, reader->at < reader->end ? "a value is missing or is not one of JSON's"
                                                      : "a value is missing at the end");
}

// Recursion is bounded: how deep the text is nested was checked before.
static json_t *reader_value(json_reader *reader)
{
  switch (reader_next(reader)) {
  case '{':
    reader->at++;
    return reader_object(reader);
  case '[':
    reader->at++;
    return reader_list(reader);
  case '"':
    reader->at++;
    return reader_string(reader);
  case '-':
    return reader->end - reader->at > 1 && reader->at[1] == 'I' ? reader_word(reader) : reader_number(reader);
  case '0':
  case '1':
  case '2':
  case '3':
  case '4':
  case '5':
  case '6':
  case '7':
  case '8':
  case '9':
    return reader_number(reader);
  default:
    return reader_word(reader);
  }
}

// Editors put a byte order mark before UTF-8 text. It is no part of the text.
static size_t json_mark_bytes(const char *text, size_t count)
{
  return count >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

bool oxp__json_begins(const void *head, size_t count)
{
  const char *text = head;
  size_t at = json_mark_bytes(text, count);
  while (at < count && text[at] && strchr(" \t\r\n", text[at]))
    at++;
  return at < count && (text[at] == '{' || text[at] == '[');
}

static json_t *reader_all(json_reader *reader)
{
  reader->at += json_mark_bytes(reader->at, (size_t)(reader->end - reader->at));
  char first = reader_next(reader);
  if (first != '{' && first != '[')
    return reader_stop(reader, "an object or a list should be here");
  json_t *value = reader_value(reader);
  if (value && (reader_next(reader), reader->at < reader->end))
    reader_stop(reader, "something follows after the end");
  return value ? reader_close(reader, value) : NULL;
}

// --- Parsing ---

static void json_close(void *value)
{
  json_decref(value);
}

// How deep objects and lists are nested, without looking at anything else. Reading recurses, so this comes first.
static int json_depth(const char *text, size_t count)
{
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (size_t i = 0; i < count; i++) {
    char c = text[i];
    if (c == '"')
      quoted = !quoted;
    else if (quoted && c == '\\')
      i++;
    else if (!quoted && (c == '[' || c == '{') && ++depth > deepest)
      deepest = depth;
    else if (!quoted && (c == ']' || c == '}'))
      depth--;
  }
  return deepest;
}

oxp_status oxp__json_parse(oxp__arena *arena, const char *text, size_t count, const json_t **out, oxp_error *error)
{
  if (count > OXP__JSON_LIMIT_BYTES)
    return oxp__fail(error, OXP_BAD_FILE, "the JSON text has %zu bytes, at most %d are read", count,
                     OXP__JSON_LIMIT_BYTES);
  int depth = json_depth(text, count);
  if (depth > OXP__JSON_LIMIT_DEPTH)
    return oxp__fail(error, OXP_BAD_FILE, "the JSON text is nested %d levels deep, at most %d are read", depth,
                     OXP__JSON_LIMIT_DEPTH);
  char *scratch = malloc(count + 1 + MB_LEN_MAX);
  if (!scratch)
    return oxp__fail_memory(error, count);
  json_reader reader = { .start = text, .at = text, .end = text + count, .scratch = scratch, .error = error };
  json_t *value = reader_all(&reader);
  free(scratch);
  OXP__TRY(reader.status);
  OXP__TRY(oxp__arena_defer(arena, json_close, value, error));
  *out = value;
  return OXP_OK;
}

const char *oxp__json_type_name(const json_t *value)
{
  double number;
  if (!value)
    return "missing";
  if (json_is_string(value) && oxp__json_number_value(value, &number))
    return isnan(number) ? "NaN" : "infinity";
  switch (json_typeof(value)) {
  case JSON_OBJECT:
    return "an object";
  case JSON_ARRAY:
    return "a list";
  case JSON_STRING:
    return "a text";
  case JSON_INTEGER:
    return "a whole number";
  case JSON_REAL:
    return "a number";
  case JSON_TRUE:
  case JSON_FALSE:
    return "true or false";
  case JSON_NULL:
    break;
  }
  return "null";
}
