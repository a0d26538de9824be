// streams.c: see streams.h. Place: cli.
#include "cli/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/temporary.h"

enum { STREAM_BUFFER_BYTES = 64 * 1024 };

bool oxp__is_stream(const char *value)
{
  return value && strcmp(value, "-") == 0;
}

static const char *stream_name(const char *value)
{
  return oxp__is_stream(value) ? "standard input" : value;
}

// --- Reading ---

static void stream_close_file(void *file)
{
  fclose(file);
}

// Copies everything that comes out of a descriptor.
static oxp_status stream_copy(int from, FILE *to, const char *name, oxp_error *error)
{
  unsigned char buffer[STREAM_BUFFER_BYTES];
  uint64_t total = 0;
  for (;;) {
    ssize_t got = read(from, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return oxp__fail_errno(error, name, "read it");
    if (got == 0)
      break;
    total += (uint64_t)got;
    if (total > OXP__STREAM_MAX_BYTES)
      return oxp__fail(error, OXP_IO, "%s: more than %llu bytes came out of it; give a file instead", name,
                       (unsigned long long)OXP__STREAM_MAX_BYTES);
    if (fwrite(buffer, 1, (size_t)got, to) != (size_t)got)
      return oxp__fail_errno(error, name, "copy it to a temporary file");
  }
  return fflush(to) == 0 ? OXP_OK : oxp__fail_errno(error, name, "copy it to a temporary file");
}

// Puts what comes out of a descriptor into a file without a name; *path leads to it as long as the arguments live.
static oxp_status stream_spool(oxp__arguments *arguments, int from, const char *value, const char **path,
                               oxp_error *error)
{
  FILE *file = oxp__temporary_file(NULL, OXP__STREAM_MAX_BYTES);
  if (!file)
    return oxp__fail_errno(error, stream_name(value), "make a temporary file for it");
  OXP__TRY(oxp__arena_defer(&arguments->arena, stream_close_file, file, error));
  *path = oxp__arena_printf(&arguments->arena, "/dev/fd/%d", fileno(file));
  return *path ? stream_copy(from, file, stream_name(value), error) : oxp__fail_memory(error, 1);
}

// A file that standard input was redirected from is read where it lies, unless some of it is gone already.
static oxp_status stream_open_input(oxp__arguments *arguments, const char *value, const char **path, oxp_error *error)
{
  struct stat status;
  if (isatty(STDIN_FILENO))
    return oxp__fail(error, OXP_BAD_ARGUMENT, "standard input is a terminal: pipe or redirect a file into it");
  if (fstat(STDIN_FILENO, &status) != 0)
    return oxp__fail_errno(error, stream_name(value), "read it");
  if (!S_ISREG(status.st_mode) || lseek(STDIN_FILENO, 0, SEEK_CUR) != 0)
    return stream_spool(arguments, STDIN_FILENO, value, path, error);
  *path = "/dev/fd/0";
  return OXP_OK;
}

static oxp_status stream_open_pipe(oxp__arguments *arguments, const char *value, const char **path, oxp_error *error)
{
  int pipe = open(value, O_RDONLY | O_CLOEXEC | O_NOCTTY); // waits for somebody who writes, as everything does
  if (pipe < 0)
    return oxp__fail_errno(error, value, "open the pipe");
  oxp_status status = stream_spool(arguments, pipe, value, path, error);
  close(pipe);
  return status;
}

// `used`: standard input was named before.
static oxp_status stream_open(oxp__arguments *arguments, const char *value, const char **path, bool *used,
                              oxp_error *error)
{
  struct stat status;
  if (oxp__is_stream(value) && *used)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "standard input can be read once, and - stands twice for a file to read");
  if (oxp__is_stream(value)) {
    *used = true;
    return stream_open_input(arguments, value, path, error);
  }
  if (stat(value, &status) == 0 && S_ISFIFO(status.st_mode))
    return stream_open_pipe(arguments, value, path, error);
  return OXP_OK;
}

oxp_status oxp__streams_open(oxp__arguments *arguments, oxp_error *error)
{
  bool used = false;
  int length = 0;
  bool files = !oxp__choice_word(arguments->verb->usage, 0, &length); // else the operands are words
  for (int i = 0; files && i < arguments->operand_count; i++)
    OXP__TRY(stream_open(arguments, arguments->operands[i], &arguments->operand_paths[i], &used, error));
  for (size_t i = 0; i < arguments->given_count; i++) {
    oxp__given *given = &arguments->given[i];
    if (given->value && strcmp(given->option->argument, "FILE") == 0)
      OXP__TRY(stream_open(arguments, given->value, &given->path, &used, error));
  }
  return OXP_OK;
}

// --- Names in messages ---

// Replaces `path` by `name` in a text of `size` bytes, wherever no digit goes on.
static void stream_replace(char *string, size_t size, const char *path, const char *name)
{
  oxp__text text = { 0 };
  const char *at = string;
  for (const char *found; (found = strstr(at, path)); at = found + strlen(path)) {
    const char *rest = found + strlen(path);
    bool whole = !strchr("0123456789", *rest) || !*rest;
    oxp__text_add_bytes(&text, at, (size_t)(found - at));
    oxp__text_add(&text, whole ? name : path);
  }
  oxp__text_add(&text, at);
  if (!text.failed)
    oxp__error_copy(string, size, oxp__text_string(&text));
  oxp__text_fini(&text);
}

static void stream_name_in(oxp_error *error, const char *path, const char *value)
{
  if (path == value)
    return;
  stream_replace(error->message, sizeof error->message, path, stream_name(value));
  stream_replace(error->file, sizeof error->file, path, stream_name(value));
}

void oxp__streams_name(const oxp__arguments *arguments, oxp_error *error)
{
  for (int i = 0; i < arguments->operand_count; i++)
    stream_name_in(error, arguments->operand_paths[i], arguments->operands[i]);
  for (size_t i = 0; i < arguments->given_count; i++)
    if (arguments->given[i].value)
      stream_name_in(error, arguments->given[i].path, arguments->given[i].value);
}

// --- Writing ---

oxp_status oxp__stream_take_output(int *descriptor, oxp_error *error)
{
  if (isatty(STDOUT_FILENO))
    return oxp__fail(error, OXP_BAD_ARGUMENT,
                     "standard output is a terminal, which does not show such files: redirect it, or give -o a name");
  fflush(stdout);
  *descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (*descriptor < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return oxp__fail_errno(error, "standard output", "write to it");
  return OXP_OK;
}

oxp_status oxp__stream_write(void *descriptor, const void *bytes, size_t count, oxp_error *error)
{
  const unsigned char *at = bytes;
  while (count > 0) {
    ssize_t put = write(*(const int *)descriptor, at, count);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return oxp__fail_errno(error, "standard output", "write to it");
    at += put;
    count -= (size_t)put;
  }
  return OXP_OK;
}

void oxp__stream_close(int descriptor)
{
  if (descriptor >= 0)
    close(descriptor);
}

oxp_status oxp__stream_write_file(int descriptor, const char *path, oxp_error *error)
{
  oxp__arena arena = { 0 };
  oxp__file *file = NULL;
  unsigned char buffer[STREAM_BUFFER_BYTES];
  oxp_status status = oxp__file_open(&arena, path, &file, error);
  for (uint64_t at = 0; status == OXP_OK && at < file->size_bytes; at += sizeof buffer) {
    uint64_t left = file->size_bytes - at;
    size_t count = left < sizeof buffer ? (size_t)left : sizeof buffer;
    status = oxp__file_read(file, at, buffer, count, error);
    if (status == OXP_OK)
      status = oxp__stream_write(&descriptor, buffer, count, error);
  }
  oxp__arena_fini(&arena);
  return status;
}
