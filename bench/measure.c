// measure.c: runs one command and prints what the kernel counted: wall, user and system nanoseconds, peak resident KiB, exit status.
// The largest resident size that a process ever had includes, on Linux, that of the process which started it, as it was at that
// moment; a script interpreter would hide what a command of a few MB needs. This program starts commands from less than 2 MB.
//
// usage: measure OUTPUT COMMAND [ARGUMENT ...]     OUTPUT: the file that takes the command's standard output
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long long nanoseconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long long of_timeval(struct timeval time)
{
  return time.tv_sec * 1000000000LL + time.tv_usec * 1000LL;
}

int main(int argc, char **argv)
{
  if (argc < 3) {
    fprintf(stderr, "usage: measure OUTPUT COMMAND [ARGUMENT ...]\n");
    return 2;
  }
  pid_t child;
  int status;
  struct rusage usage;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);
  long long start = nanoseconds();
  int failed = posix_spawnp(&child, argv[2], &actions, NULL, argv + 2, environ);
  if (failed) {
    fprintf(stderr, "measure: cannot run %s: %s\n", argv[2], strerror(failed));
    return 2;
  }
  if (wait4(child, &status, 0, &usage) < 0) {
    perror("measure: wait4");
    return 2;
  }
  long long wall = nanoseconds() - start;
  printf("%lld %lld %lld %ld %d\n", wall, of_timeval(usage.ru_utime), of_timeval(usage.ru_stime), usage.ru_maxrss,
         WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return 0;
}
