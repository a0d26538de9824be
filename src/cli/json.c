// json.c: a JSON document as growing text. Place: cli.
#include "cli/json.h"

#include "cli/print.h"

#include <inttypes.h>
#include <math.h>

// What comes before every value: comma, line break, indentation, key.
static void json_value(oxp__json *json, const char *key)
{
  if (json->filled)
    oxp__text_add(&json->text, ",");
  if (json->depth > 0)
    oxp__text_printf(&json->text, "\n%*s", 2 * json->depth, "");
  json->filled = true;
  if (key) {
    oxp__text_add_json(&json->text, key);
    oxp__text_add(&json->text, ": ");
  }
}

static void json_open(oxp__json *json, const char *key, const char *bracket)
{
  json_value(json, key);
  oxp__text_add(&json->text, bracket);
  json->depth++;
  json->filled = false;
}

void oxp__json_object(oxp__json *json, const char *key)
{
  json_open(json, key, "{");
}

void oxp__json_array(oxp__json *json, const char *key)
{
  json_open(json, key, "[");
}

void oxp__json_end(oxp__json *json, char bracket)
{
  json->depth--;
  if (json->filled)
    oxp__text_printf(&json->text, "\n%*s", 2 * json->depth, "");
  oxp__text_printf(&json->text, "%c", bracket);
  json->filled = true;
}

void oxp__json_text(oxp__json *json, const char *key, const char *value)
{
  json_value(json, key);
  if (value)
    oxp__text_add_json(&json->text, value);
  else
    oxp__text_add(&json->text, "null");
}

void oxp__json_bytes(oxp__json *json, const char *key, const void *bytes, size_t length)
{
  json_value(json, key);
  oxp__text_add_json_bytes(&json->text, bytes, length);
}

void oxp__json_int(oxp__json *json, const char *key, int64_t value)
{
  json_value(json, key);
  oxp__text_printf(&json->text, "%" PRId64, value);
}

void oxp__json_u64(oxp__json *json, const char *key, uint64_t value)
{
  json_value(json, key);
  oxp__text_printf(&json->text, "%" PRIu64, value);
}

void oxp__json_number(oxp__json *json, const char *key, double value)
{
  json_value(json, key);
  oxp__text_add_json_number(&json->text, value);
}

void oxp__json_scalar(oxp__json *json, const char *key, const oxp__scalar *value)
{
  if (!value->is_whole) {
    oxp__json_number(json, key, value->real);
    return;
  }
  json_value(json, key);
  oxp__scalar_add(&json->text, value);
}

void oxp__json_bool(oxp__json *json, const char *key, bool value)
{
  json_value(json, key);
  oxp__text_add(&json->text, value ? "true" : "false");
}

void oxp__json_dim(oxp__json *json, int64_t dim, const char *symbol)
{
  if (dim >= 0)
    oxp__json_int(json, NULL, dim);
  else
    oxp__json_text(json, NULL, symbol);
}

oxp_status oxp__json_print(oxp__json *json, oxp_error *error)
{
  oxp__text_add(&json->text, "\n");
  oxp_status status = oxp__text_status(&json->text, error);
  if (status == OXP_OK)
    status = oxp__print(oxp__text_string(&json->text), error);
  oxp__json_fini(json);
  return status;
}

void oxp__json_fini(oxp__json *json)
{
  oxp__text_fini(&json->text);
}
