// reference.c: prints a table of the library in the style that was asked for. Place: cli.
#include "cli/reference.h"

#include "cli/options.h"
#include "cli/print.h"
#include "cli/request.h"

static const oxp__option reference_options[] = {
  { "json", NULL, "print one JSON object instead of text", 0 },
  { "markdown", NULL, "print a page in Markdown, as in docs/reference", 0 },
};
static const oxp__option_group reference_group = OXP__GROUP("Output", reference_options);
const oxp__option_group *const oxp__reference_groups[] = { &reference_group, NULL };

// Collects, so that a failure on the way leaves nothing on standard output.
static oxp_status reference_add(void *text, const void *bytes, size_t count, oxp_error *error)
{
  oxp__text_add_bytes(text, bytes, count);
  return oxp__text_status(text, error);
}

oxp_status oxp__reference_print(const oxp__arguments *arguments, oxp_table table, oxp_error *error)
{
  oxp_table_style style = OXP_STYLE_TEXT;
  if (oxp__option_given(arguments, "json") && oxp__option_given(arguments, "markdown"))
    return oxp__fail(error, OXP_BAD_ARGUMENT, "--json and --markdown are two ways to print: choose one");
  if (oxp__option_given(arguments, "json"))
    style = OXP_STYLE_JSON;
  else if (oxp__option_given(arguments, "markdown"))
    style = OXP_STYLE_MARKDOWN;
  oxp__text text = { 0 };
  oxp_status status = oxp_table_write(table, style, reference_add, &text, error);
  if (status == OXP_OK)
    return oxp__print_text(&text, error);
  oxp__text_fini(&text);
  return status;
}
