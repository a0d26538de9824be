// signals.h: stopping on request. Place: cli.
#ifndef OXP_CLI_SIGNALS_H
#define OXP_CLI_SIGNALS_H

#include "core/output.h"

// What the command does about signals from its start on: a file that reaches the size limit (SIGXFSZ) is a failing write with a message, not
// the end of the process.
void oxp__signals_begin(void);

// From here on an interrupt (Ctrl-C, SIGTERM, a closed terminal) sets a flag, so that what is being written can be taken back. Release
// brings back what was there before: dying at once, where nothing is being written. A signal that was ignored at the start (nohup) stays so.
void oxp__signals_catch(void);
void oxp__signals_release(void);
bool oxp__interrupted(void);

// Guards files that the command writes: they do not replace the sources (borrowed; NULL: none), and an interrupt takes them back.
oxp__output_guard oxp__signals_guard(const oxp__sources *sources);

#endif
