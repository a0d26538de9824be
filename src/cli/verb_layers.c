// verb_layers.c: `onnxport layers`: list the layer kinds, their parameters and their names in each format. Place: cli.
#include "cli/reference.h"

static oxp_status layers_run(const oxp__arguments *arguments, oxp_error *error)
{
  return oxp__reference_print(arguments, OXP_TABLE_LAYERS, error);
}

const oxp__verb oxp__verb_layers = {
  .name = "layers",
  .usage = "[--json | --markdown]",
  .doc = "list the layer kinds, their parameters and their names in each format",
  .examples = { { "onnxport layers", "what can be translated" },
                { "onnxport layers --json", "the same for programs" } },
  .groups = oxp__reference_groups,
  .run = layers_run,
};
