// verb_engines.c: `onnxport engines`: list the engines, and whether each can be used here. Place: cli.
#include "cli/reference.h"

static oxp_status engines_run(const oxp__arguments *arguments, oxp_error *error)
{
  return oxp__reference_print(arguments, OXP_TABLE_ENGINES, error);
}

const oxp__verb oxp__verb_engines = {
  .name = "engines",
  .usage = "[--json | --markdown]",
  .doc = "list the engines, and whether each can be used here",
  .examples = { { "onnxport engines", "says where ONNX Runtime was found, or where it was looked for" },
                { "onnxport engines --json", "the same for programs" } },
  .groups = oxp__reference_groups,
  .run = engines_run,
};
