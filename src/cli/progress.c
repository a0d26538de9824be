// progress.c: the progress bar. Place: cli.
#include "cli/progress.h"
#include "cli/signals.h"

#include <stdio.h>
#include <unistd.h>

enum { BAR_WIDTH = 30 };

static double seconds_since(const struct timespec *start)
{
  struct timespec now = { 0 };
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

void oxp__progress_start(oxp__progress *progress, const char *what, bool silent)
{
  *progress = (oxp__progress){ .what = what, .silent = silent || !isatty(STDERR_FILENO) };
  clock_gettime(CLOCK_MONOTONIC, &progress->start);
}

bool oxp__progress_step(void *context, uint64_t done, uint64_t total)
{
  oxp__progress *progress = context;
  if (!progress->silent && total > 0 && seconds_since(&progress->start) >= 1) {
    double part = done >= total ? 1 : (double)done / (double)total;
    int filled = (int)(part * (double)BAR_WIDTH);
    fprintf(stderr, "\r%s [%.*s%*s] %3.0f %%", progress->what, filled,
            "==============================", BAR_WIDTH - filled, "", 100 * part);
    fflush(stderr);
    progress->visible = true;
  }
  return !oxp__interrupted();
}

void oxp__progress_end(oxp__progress *progress)
{
  if (progress->visible)
    fputs("\r\033[K", stderr);
  progress->visible = false;
}
