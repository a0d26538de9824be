// verb_errors.c: `onnxport errors`: list the errors and their exit codes. Place: cli.
#include "cli/reference.h"

static oxp_status errors_run(const oxp__arguments *arguments, oxp_error *error)
{
  return oxp__reference_print(arguments, OXP_TABLE_ERRORS, error);
}

const oxp__verb oxp__verb_errors = {
  .name = "errors",
  .usage = "[--json | --markdown]",
  .doc = "list the errors and their exit codes",
  .examples = { { "onnxport errors", "what the exit statuses mean" },
                { "onnxport errors --json", "the same for programs" } },
  .groups = oxp__reference_groups,
  .run = errors_run,
};
