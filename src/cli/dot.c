// dot.c: draws a graph into a file, which is replaced only when all went well. Place: cli.
#include "cli/dot_program.h"
#include "cli/inspect.h"

#include <string.h>

// The picture's format, from the suffix; NULL for the text itself.
static oxp_status dot_format(const char *path, const char **format, oxp_error *error)
{
  static const char *const known[] = { "svg", "png", "pdf" };
  const char *suffix = strrchr(path, '.');
  suffix = suffix ? suffix + 1 : "";
  *format = NULL;
  if (strcmp(suffix, "dot") == 0 || strcmp(suffix, "gv") == 0)
    return OXP_OK;
  for (size_t i = 0; i < OXP__COUNT(known); i++)
    if (strcmp(suffix, known[i]) == 0)
      *format = known[i];
  if (*format)
    return OXP_OK;
  return oxp__fail(error, OXP_BAD_ARGUMENT, "%s: a picture is called .svg, .png, .pdf or .dot", path);
}

void oxp__dot_add_label(oxp__text *text, const char *kind, const char *name)
{
  oxp__text label = { 0 };
  oxp__text_add_clean(&label, kind);
  oxp__text_add(&label, *kind && *name ? "\n" : "");
  oxp__text_add_clean(&label, name);
  text->failed |= label.failed;
  oxp__text_add(text, "label=");
  // JSON's escapes that are left once it was cleaned (a quote, a backslash, a line break) mean the same in DOT.
  oxp__text_add_json(text, oxp__text_string(&label));
  oxp__text_fini(&label);
}

static oxp_status dot_draw(const oxp__text *dot, const char *format, oxp__output *output, oxp_error *error)
{
  return format ? oxp__dot_program_run(dot, format, output, error)
                : oxp__output_write(output, dot->bytes, dot->length, error);
}

oxp_status oxp__dot_draw(const oxp__text *dot, const char *path, const oxp__output_guard *guard, oxp_error *error)
{
  const char *format = NULL;
  oxp__output output = { 0 };
  OXP__TRY(dot_format(path, &format, error));
  OXP__TRY(oxp__output_open(&output, path, guard, error));
  oxp_status status = dot_draw(dot, format, &output, error);
  if (status == OXP_OK)
    return oxp__output_commit(&output, OXP_SYNC_AUTO, error);
  oxp__output_abort(&output);
  return status;
}
