// signals.h: stopping on request. Place: cli.
#ifndef OXP_CLI_SIGNALS_H
#define OXP_CLI_SIGNALS_H

#include <stdbool.h>

// From here on an interrupt (Ctrl-C, SIGTERM) sets a flag, so that what is being written can be taken back; and back to dying
// at once, where nothing is being written.
void oxp__signals_catch(void);
void oxp__signals_release(void);
bool oxp__interrupted(void);

#endif
