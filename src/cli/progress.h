// progress.h: the bar that shows how far a write has come. Place: cli.
#ifndef OXP_CLI_PROGRESS_H
#define OXP_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

typedef struct oxp__progress {
  const char *what; // "writing model.onnx"; borrowed
  bool silent;
  bool visible; // a bar is on the screen now
  struct timespec start;
} oxp__progress;

void oxp__progress_start(oxp__progress *progress, const char *what, bool silent);
// An oxp_progress_function: draws at most on a terminal and not in the first second; false once interrupted.
bool oxp__progress_step(void *progress, uint64_t done, uint64_t total);
// Takes the bar off the screen.
void oxp__progress_end(oxp__progress *progress);

#endif
