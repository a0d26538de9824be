// dot.c: draws a graph with the program dot, which reads from an unnamed file and whose output replaces the target only when
// it ended well. Place: cli.
#include "cli/inspect.h"

#include "core/file.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// The picture's format, from the suffix; NULL for the text itself.
static oxp_status dot_format(const char *path, const char **format, oxp_error *error)
{
  static const char *const known[] = { "svg", "png", "pdf" };
  const char *suffix = strrchr(path, '.');
  suffix = suffix ? suffix + 1 : "";
  *format = NULL;
  if (strcmp(suffix, "dot") == 0 || strcmp(suffix, "gv") == 0)
    return OXP_OK;
  for (size_t i = 0; i < OXP__COUNT(known); i++)
    if (strcmp(suffix, known[i]) == 0)
      *format = known[i];
  if (*format)
    return OXP_OK;
  return oxp__fail(error, OXP_BAD_ARGUMENT, "%s: a picture is called .svg, .png, .pdf or .dot", path);
}

static oxp_status dot_spawn(const char *format, int input, int pipe_ends[2], pid_t *child, oxp_error *error)
{
  char option[8];
  snprintf(option, sizeof option, "-T%s", format);
  char name[] = "dot";
  char *const words[] = { name, option, NULL };
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
  int failed = posix_spawnp(child, "dot", &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed)
    return oxp__fail(error, OXP_NOT_AVAILABLE,
                     "the program dot, which draws the picture, cannot be started (%s); it comes "
                     "with the package graphviz",
                     strerror(failed));
  return OXP_OK;
}

// Copies what the program prints into the output.
static oxp_status dot_copy(int from, oxp__output *output, oxp_error *error)
{
  unsigned char buffer[65536];
  for (;;) {
    ssize_t count = read(from, buffer, sizeof buffer);
    if (count == 0)
      return OXP_OK;
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return oxp__fail_errno(error, "dot", "read its output");
    OXP__TRY(oxp__output_write(output, buffer, (size_t)count, error));
  }
}

static oxp_status dot_run(const char *format, FILE *input, oxp__output *output, oxp_error *error)
{
  int pipe_ends[2];
  pid_t child = 0;
  int exit_status = 0;
  if (pipe(pipe_ends) != 0)
    return oxp__fail_errno(error, "dot", "make a pipe");
  oxp_status status = dot_spawn(format, fileno(input), pipe_ends, &child, error);
  close(pipe_ends[1]);
  if (status == OXP_OK) {
    status = dot_copy(pipe_ends[0], output, error);
    close(pipe_ends[0]);
    while (waitpid(child, &exit_status, 0) < 0 && errno == EINTR)
      continue;
    if (status == OXP_OK && exit_status != 0)
      status = oxp__fail(error, OXP_ENGINE_FAILED, "the program dot failed with status %d",
                         WIFEXITED(exit_status) ? WEXITSTATUS(exit_status) : -1);
  } else {
    close(pipe_ends[0]);
  }
  return status;
}

// The DOT text as an unnamed file at its start, for the program to read.
static oxp_status dot_input(const oxp__text *dot, FILE **input, oxp_error *error)
{
  *input = tmpfile();
  if (!*input)
    return oxp__fail_errno(error, "temporary file", "create");
  if (fwrite(dot->bytes, 1, dot->length, *input) == dot->length && fflush(*input) == 0) {
    rewind(*input);
    return OXP_OK;
  }
  fclose(*input);
  return oxp__fail_errno(error, "temporary file", "write");
}

static oxp_status dot_draw(const oxp__text *dot, const char *format, oxp__output *output, oxp_error *error)
{
  if (!format)
    return oxp__output_write(output, dot->bytes, dot->length, error);
  FILE *input = NULL;
  OXP__TRY(dot_input(dot, &input, error));
  oxp_status status = dot_run(format, input, output, error);
  fclose(input);
  return status;
}

oxp_status oxp__dot_draw(const oxp__text *dot, const char *path, oxp_error *error)
{
  const char *format = NULL;
  oxp__output output = { 0 };
  OXP__TRY(dot_format(path, &format, error));
  OXP__TRY(oxp__output_open(&output, path, error));
  oxp_status status = dot_draw(dot, format, &output, error);
  if (status == OXP_OK)
    return oxp__output_commit(&output, OXP_SYNC_AUTO, error);
  oxp__output_abort(&output);
  return status;
}
