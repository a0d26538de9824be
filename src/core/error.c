// error.c: filling an oxp_error; the texts and exit codes of statuses. Does not print. Place: core.
#include "core/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"

typedef struct status_row {
  const char *name;
  int exit_code;
  const char *text;
} status_row;

#define STATUS_ROW(name, exit_code, text) { #name, exit_code, text },
static const status_row status_rows[] = { OXP_STATUS_LIST(STATUS_ROW) };
#undef STATUS_ROW

static const status_row *status_find(oxp_status status)
{
  size_t index = (size_t)status;
  return index < sizeof status_rows / sizeof status_rows[0] ? &status_rows[index] : NULL;
}

const char *oxp_version(void)
{
  return OXP_VERSION;
}

const char *oxp_status_name(oxp_status status)
{
  const status_row *row = status_find(status);
  return row ? row->name : "OXP_UNKNOWN_STATUS";
}

const char *oxp_status_text(oxp_status status)
{
  const status_row *row = status_find(status);
  return row ? row->text : "a status that this version does not know";
}

int oxp_status_exit_code(oxp_status status)
{
  const status_row *row = status_find(status);
  return row ? row->exit_code : 5;
}

void oxp__error_copy(char *field, size_t size, const char *text)
{
  size_t length = strlen(text);
  if (length >= size) {
    length = size - 1;
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
      length--;
  }
  memcpy(field, text, length);
  field[length] = 0;
  oxp__text_clean(field);
}

oxp_status oxp__fail(oxp_error *error, oxp_status status, const char *format, ...)
{
  if (!error)
    return status;
  char text[sizeof error->message];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  error->status = status;
  error->file[0] = error->layer[0] = error->key[0] = 0;
  oxp__error_copy(error->message, sizeof error->message, text);
  return status;
}

oxp_status oxp__fail_memory(oxp_error *error, uint64_t bytes)
{
  return oxp__fail(error, OXP_NO_MEMORY, "out of memory: %llu bytes could not be had", (unsigned long long)bytes);
}

oxp_status oxp__fail_cancelled(oxp_error *error)
{
  return oxp__fail(error, OXP_CANCELLED, "stopped on request; nothing was written");
}

const char *oxp__errno_words(int code, char *words, size_t size)
{
  if (strerror_r(code, words, size) != 0)
    snprintf(words, size, "error %d", code);
  return words;
}

oxp_status oxp__fail_errno(oxp_error *error, const char *path, const char *action)
{
  char words[128];
  oxp__fail(error, OXP_IO, "cannot %s: %s", action, oxp__errno_words(errno, words, sizeof words));
  return oxp__at_file(error, OXP_IO, path);
}

void oxp__error_clear(oxp_error *own)
{
  own->status = OXP_OK;
  own->file[0] = own->layer[0] = own->key[0] = own->message[0] = 0;
}

oxp_status oxp__take_failure(oxp_status status, oxp_error *own, const char *who, oxp_error *error)
{
  if (status == OXP_OK || !error)
    return status;
  if (own->status != status || !own->message[0])
    return oxp__fail(error, status, "%s failed: %s", who, oxp_status_text(status));
  own->message[sizeof own->message - 1] = 0;
  oxp__text_clean(own->message);
  *error = *own;
  return status;
}

// Fills `field` with `text` and puts it before the message, unless an inner call did already. Whoever failed may not have said
// why (a caller's read function): then the status speaks for itself, and what is there is of an older failure.
static oxp_status error_at(oxp_error *error, oxp_status status, char *field, size_t size, const char *text)
{
  if (error->status != status)
    oxp__fail(error, status, "%s", oxp_status_text(status));
  if (field[0])
    return status;
  oxp__error_copy(field, size, text);
  char message[sizeof error->message];
  snprintf(message, sizeof message, "%s: %.*s", field, (int)(sizeof message - size - 3), error->message);
  oxp__error_copy(error->message, sizeof error->message, message);
  return status;
}

oxp_status oxp__at_file(oxp_error *error, oxp_status status, const char *path)
{
  return error ? error_at(error, status, error->file, sizeof error->file, path ? path : "") : status;
}

oxp_status oxp__at_layer(oxp_error *error, oxp_status status, const char *format, ...)
{
  if (!error)
    return status;
  char text[sizeof error->layer];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return error_at(error, status, error->layer, sizeof error->layer, text);
}

oxp_status oxp__at_key(oxp_error *error, oxp_status status, const char *key)
{
  return error ? error_at(error, status, error->key, sizeof error->key, key) : status;
}

oxp_status oxp__blame_file(oxp_error *error, oxp_status status)
{
  if (status != OXP_BAD_ARGUMENT)
    return status;
  if (error)
    error->status = OXP_BAD_FILE;
  return OXP_BAD_FILE;
}
