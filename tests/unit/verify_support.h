// verify_support.h: what tests of oxp_verify ask its reports.
#ifndef OXP_TESTS_VERIFY_SUPPORT_H
#define OXP_TESTS_VERIFY_SUPPORT_H

#include <stdbool.h>
#include <string.h>

#include "onnxport.h"

// Is there a note that holds these words?
static inline bool has_note(const oxp_verify_report *report, const char *words)
{
  for (int i = 0; i < oxp_verify_note_count(report); i++)
    if (strstr(oxp_verify_note(report, i), words))
      return true;
  return false;
}

#endif
