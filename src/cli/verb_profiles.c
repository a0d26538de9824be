// verb_profiles.c: `onnxport profiles`: list the profiles: whose naming and form a model can have. Place: cli.
#include "cli/reference.h"

static oxp_status profiles_run(const oxp__arguments *arguments, oxp_error *error)
{
  return oxp__reference_print(arguments, OXP_TABLE_PROFILES, error);
}

const oxp__verb oxp__verb_profiles = {
  .name = "profiles",
  .usage = "[--json | --markdown]",
  .doc = "list the profiles: whose naming and form a model can have",
  .examples = { { "onnxport profiles", "how models can be written" },
                { "onnxport profiles --json", "the same for programs" } },
  .groups = oxp__reference_groups,
  .run = profiles_run,
};
