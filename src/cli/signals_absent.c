// signals_absent.c: see signals.h. Takes the place of signals.c where there are none (WebAssembly). Place: cli.
#include "cli/signals.h"

void oxp__signals_begin(void)
{
}

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

oxp__output_guard oxp__signals_guard(const oxp__sources *sources)
{
  return (oxp__output_guard){ .sources = sources };
}
