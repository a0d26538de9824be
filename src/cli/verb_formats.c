// verb_formats.c: `onnxport formats`: list the file formats that can be read and written. Place: cli.
#include "cli/reference.h"

static oxp_status formats_run(const oxp__arguments *arguments, oxp_error *error)
{
  return oxp__reference_print(arguments, OXP_TABLE_FORMATS, error);
}

const oxp__verb oxp__verb_formats = {
  .name = "formats",
  .usage = "[--json | --markdown]",
  .doc = "list the file formats that can be read and written",
  .examples = { { "onnxport formats", "what can be read, and what convert can write" },
                { "onnxport formats --markdown", "the same as a page" } },
  .groups = oxp__reference_groups,
  .run = formats_run,
};
