// verb_completion.c: `onnxport completion`: print what makes a shell complete the command's words. Place: cli.
#include "cli/completion.h"
#include "cli/options.h"
#include "cli/print.h"

#include <string.h>

static oxp_status completion_run(const oxp__arguments *arguments, oxp_error *error)
{
  static const struct {
    const char *name;
    void (*add)(oxp__text *text);
  } shells[] = { { "bash", oxp__completion_bash }, { "zsh", oxp__completion_zsh }, { "fish", oxp__completion_fish } };
  const char *wanted = oxp__operand(arguments, 0);
  for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
    if (strcmp(wanted, shells[i].name) == 0) {
      oxp__text text = { 0 };
      shells[i].add(&text);
      return oxp__print_text(&text, error);
    }
  return oxp__fail(error, OXP_BAD_ARGUMENT, "there is no completion for \"%s\"; there is for bash, zsh and fish",
                   wanted);
}

static const oxp__option_group *const completion_groups[] = { NULL };

const oxp__verb oxp__verb_completion = {
  .name = "completion",
  .usage = "bash|zsh|fish",
  .doc = "print what makes a shell complete the command's words",
  .details = "An installed onnxport has these scripts where the shells look for them.",
  .examples = { { "source <(onnxport completion bash)", "completion in this bash" },
                { "onnxport completion zsh >_onnxport", "for zsh: a file for a folder of its fpath" } },
  .groups = completion_groups,
  .min_operands = 1,
  .max_operands = 1,
  .run = completion_run,
};
