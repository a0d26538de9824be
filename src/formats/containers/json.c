// json.c: see json.h. Knows no dialect. Place: formats/containers.
#include "formats/containers/json.h"

static void json_close(void *value)
{
  json_decref(value);
}

// How deep objects and lists are nested, without looking at anything else. Parsing recurses, so this comes first.
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
  json_error_t found;
  json_t *value = json_loadb(text, count, JSON_REJECT_DUPLICATES, &found);
  if (!value && json_error_code(&found) == json_error_out_of_memory)
    return oxp__fail_memory(error, count);
  if (!value)
    return oxp__fail(error, OXP_BAD_FILE, "not valid JSON at line %d, column %d: %s", found.line, found.column,
                     found.text);
  OXP__TRY(oxp__arena_defer(arena, json_close, value, error));
  *out = value;
  return OXP_OK;
}

const char *oxp__json_type_name(const json_t *value)
{
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
