// dot_program.c: see dot_program.h. The program reads from an unnamed file. Place: cli.
#include "cli/dot_program.h"

#include "core/environment.h"
#include "core/temporary.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static oxp_status program_spawn(const char *format, int input, int pipe_ends[2], pid_t *child, oxp_error *error)
{
  char option[8];
  snprintf(option, sizeof option, "-T%s", format);
  char name[] = "dot", fixed[] = "/usr/bin/dot";
  char *const words[] = { name, option, NULL };
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
  // Without a path that can be trusted there is one place to look.
  const char *program = oxp__environment("PATH") ? name : fixed;
  int failed = posix_spawnp(child, program, &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed)
    return oxp__fail(error, OXP_NOT_AVAILABLE,
                     "the program dot, which draws the picture, cannot be started (%s); it comes "
                     "with the package graphviz",
                     strerror(failed));
  return OXP_OK;
}

// Copies what the program prints into the output.
static oxp_status program_copy(int from, oxp__output *output, oxp_error *error)
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

static oxp_status program_run(const char *format, FILE *input, oxp__output *output, oxp_error *error)
{
  int pipe_ends[2];
  pid_t child = 0;
  int exit_status = 0;
  if (pipe(pipe_ends) != 0)
    return oxp__fail_errno(error, "dot", "make a pipe");
  oxp_status status = program_spawn(format, fileno(input), pipe_ends, &child, error);
  close(pipe_ends[1]);
  if (status == OXP_OK) {
    status = program_copy(pipe_ends[0], output, error);
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
static oxp_status program_input(const oxp__text *dot, const char *beside, FILE **input, oxp_error *error)
{
  *input = oxp__temporary_file(beside, dot->length);
  if (!*input)
    return oxp__fail_errno(error, "temporary file", "create");
  if (fwrite(dot->bytes, 1, dot->length, *input) == dot->length && fflush(*input) == 0) {
    rewind(*input);
    return OXP_OK;
  }
  oxp_status status = oxp__fail_errno(error, "temporary file", "write");
  fclose(*input);
  return status;
}

oxp_status oxp__dot_program_run(const oxp__text *dot, const char *format, oxp__output *output, oxp_error *error)
{
  FILE *input = NULL;
  OXP__TRY(program_input(dot, output->target_path, &input, error));
  oxp_status status = program_run(format, input, output, error);
  fclose(input);
  return status;
}
