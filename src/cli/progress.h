// progress.h: the bar that shows how far a write has come, and stopping on request. Place: cli.
#ifndef OXP_CLI_PROGRESS_H
#define OXP_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

// From here on an interrupt (Ctrl-C, SIGTERM) sets a flag, so that what is being written can be taken back; and back to dying
// at once, where nothing is being written.
void oxp__signals_catch(void);
void oxp__signals_release(void);
bool oxp__interrupted(void);

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
