// signals_absent.c: see signals.h. Takes the place of signals.c where there are none (WebAssembly). Place: cli.
#include "cli/signals.h"

void oxp__signals_catch(void)
{
}

void oxp__signals_release(void)
{
}

bool oxp__interrupted(void)
{
  return false;
}
