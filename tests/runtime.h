// runtime.h: for tests that need ONNX Runtime: asked before anything is allocated, as skipping leaves the test where it is.
#ifndef OXP_TESTS_RUNTIME_H
#define OXP_TESTS_RUNTIME_H

#include <stdio.h>
#include <string.h>

#include "engines/engine.h"

// Skips the test in a build that has no engine of this name (OXP_MINIMAL).
static inline void need_engine(const char *name)
{
  bool here = false;
  for (size_t i = 0; i < oxp__engine_count; i++)
    here = here || strcmp(oxp__engines[i]->name, name) == 0;
  if (here)
    return;
  print_message("skipped: there is no engine %s in this build\n", name);
  skip();
}

// Skips the test where the runtime cannot be used, and says why.
static inline void need_runtime(void)
{
  oxp__text found = { 0 };
  oxp_error why = { 0 };
  oxp_status status = OXP_NOT_AVAILABLE;
  for (size_t i = 0; i < oxp__engine_count; i++)
    if (strcmp(oxp__engines[i]->name, "ort") == 0)
      status = oxp__engines[i]->probe(NULL, &found, &why);
  oxp__text_fini(&found);
  if (status == OXP_OK)
    return;
  print_message("skipped: %s\n", why.message);
  skip();
}

#endif
