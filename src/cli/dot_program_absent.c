// dot_program_absent.c: see dot_program.h. Takes the place of dot_program.c in a build that starts no other programs
// (OXP_MINIMAL). Place: cli.
#include "cli/dot_program.h"

oxp_status oxp__dot_program_run(const oxp__text *dot, const char *format, oxp__output *output, oxp_error *error)
{
  (void)dot;
  (void)format;
  (void)output;
  return oxp__fail(error, OXP_NOT_AVAILABLE,
                   "this build of onnxport cannot start the program dot; it writes .dot files");
}
