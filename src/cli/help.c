// help.c: what --help and the manual page say. Every fact comes from the rows of the verbs. Place: cli.
#include "cli/help.h"

#include <string.h>

enum { HELP_WIDTH = 100, OPTION_COLUMN = 26 };

static const char summary[] = "turns trained networks into exact, reproducible ONNX files and proves them";

// --- Text for a terminal ---

// Adds `words` broken into lines; every line but the first starts after `indent` spaces, `column` says where the first starts.
static void add_wrapped(oxp__text *text, const char *words, int column, int indent)
{
  while (*words) {
    int length = (int)strcspn(words, " \n");
    if (column > indent && column + 1 + length > HELP_WIDTH) {
      oxp__text_printf(text, "\n%*s", indent, "");
      column = indent;
    } else if (column > indent) {
      oxp__text_add(text, " ");
      column++;
    }
    oxp__text_add_bytes(text, words, (size_t)length);
    column += length;
    words += length;
    words += *words != 0;
  }
  oxp__text_add(text, "\n");
}

static void add_option(oxp__text *text, const oxp__option *option)
{
  oxp__text line = { 0 };
  if (option->letter)
    oxp__text_printf(&line, "  -%c, --%s", option->letter, option->name);
  else
    oxp__text_printf(&line, "      --%s", option->name);
  if (option->argument)
    oxp__text_printf(&line, " %s", option->argument);
  text->failed |= line.failed;
  oxp__text_add(text, oxp__text_string(&line));
  if (line.length + 2 > OPTION_COLUMN)
    oxp__text_printf(text, "\n%*s", OPTION_COLUMN, "");
  else
    oxp__text_printf(text, "%*s", OPTION_COLUMN - (int)line.length, "");
  oxp__text_fini(&line);
  add_wrapped(text, option->doc, OPTION_COLUMN, OPTION_COLUMN);
}

// Paragraphs are separated by an empty line.
static void add_paragraphs(oxp__text *text, const char *details)
{
  while (details) {
    const char *end = strstr(details, "\n\n");
    oxp__text paragraph = { 0 };
    oxp__text_add_bytes(&paragraph, details, end ? (size_t)(end - details) : strlen(details));
    oxp__text_add(text, "\n");
    add_wrapped(text, oxp__text_string(&paragraph), 0, 0);
    oxp__text_fini(&paragraph);
    details = end ? end + 2 : NULL;
  }
}

void oxp__help_overview(oxp__text *text)
{
  oxp__text_printf(
      text, "onnxport %s: %s\n\nusage: onnxport VERB ...\n       onnxport SRC      the same as onnxport export SRC\n\n",
      oxp_version(), summary);
  for (size_t i = 0; i < oxp__verb_count; i++)
    oxp__text_printf(text, "  %-10s %s\n", oxp__verbs[i]->name, oxp__verbs[i]->doc);
  oxp__text_add(text, "\nFiles to read may be - or a pipe, files to write -: standard input and output.\n"
                      "onnxport VERB --help says more. onnxport --version, onnxport --man (the manual page as roff).\n"
                      "Exit status: onnxport errors lists them; 0 is success, 1 compared and different.\n");
}

void oxp__help_verb(oxp__text *text, const oxp__verb *verb)
{
  oxp__text_printf(text, "onnxport %s: %s\n\nusage: onnxport %s%s%s\n", verb->name, verb->doc, verb->name,
                   *verb->usage ? " " : "", verb->usage);
  add_paragraphs(text, verb->details);
  for (const oxp__option_group *const *group = verb->groups; *group; group++) {
    oxp__text_printf(text, "\n%s:\n", (*group)->title);
    for (int i = 0; i < (*group)->count; i++)
      add_option(text, &(*group)->options[i]);
  }
  oxp__text_add(text, "\nExamples, beside the files of the folder examples:\n");
  for (size_t i = 0; i < OXP__COUNT(verb->examples); i++)
    oxp__text_printf(text, "  %s\n      %s\n", verb->examples[i].command, verb->examples[i].doc);
}

// --- Roff ---

// Text with everything escaped that roff would take for markup.
static void add_roff(oxp__text *text, const char *words)
{
  for (const char *at = words; *at; at++) {
    if (*at == '\\')
      oxp__text_add(text, "\\e");
    else if (*at == '-')
      oxp__text_add(text, "\\-");
    else if (*at == '\n' && at[1] == '\n')
      oxp__text_add(text, "\n.PP\n"), at++;
    else if ((*at == '.' || *at == '\'') && (at == words || at[-1] == '\n'))
      oxp__text_printf(text, "\\&%c", *at);
    else
      oxp__text_add_bytes(text, at, 1);
  }
}

static void add_roff_option(oxp__text *text, const oxp__option *option)
{
  oxp__text_add(text, ".TP\n\\fB");
  if (option->letter)
    oxp__text_printf(text, "\\-%c\\fR, \\fB", option->letter);
  oxp__text_add(text, "\\-\\-");
  add_roff(text, option->name);
  oxp__text_add(text, "\\fR");
  if (option->argument)
    oxp__text_printf(text, " \\fI%s\\fR", option->argument);
  oxp__text_add(text, "\n");
  add_roff(text, option->doc);
  oxp__text_add(text, "\n");
}

static void add_roff_verb(oxp__text *text, const oxp__verb *verb)
{
  oxp__text_printf(text, ".SH ONNXPORT %s\n\\fBonnxport %s\\fR ", verb->name, verb->name);
  add_roff(text, verb->usage);
  oxp__text_add(text, "\n.PP\n");
  add_roff(text, verb->doc);
  oxp__text_add(text, ".\n");
  if (verb->details) {
    oxp__text_add(text, ".PP\n");
    add_roff(text, verb->details);
    oxp__text_add(text, "\n");
  }
  for (const oxp__option_group *const *group = verb->groups; *group; group++) {
    oxp__text_add(text, ".SS ");
    add_roff(text, (*group)->title);
    oxp__text_add(text, "\n");
    for (int i = 0; i < (*group)->count; i++)
      add_roff_option(text, &(*group)->options[i]);
  }
  oxp__text_add(text, ".SS Examples\n");
  for (size_t i = 0; i < OXP__COUNT(verb->examples); i++) {
    oxp__text_add(text, ".TP\n.B ");
    add_roff(text, verb->examples[i].command);
    oxp__text_add(text, "\n");
    add_roff(text, verb->examples[i].doc);
    oxp__text_add(text, "\n");
  }
}

static void add_roff_statuses(oxp__text *text)
{
  oxp__text_add(text, ".SH EXIT STATUS\n");
#define HELP_STATUS(status, exit_code, meaning)                                                                        \
  oxp__text_printf(text, ".TP\n%d\n%s (%s)\n", exit_code, meaning, #status);
  OXP_STATUS_LIST(HELP_STATUS)
#undef HELP_STATUS
}

void oxp__help_manual(oxp__text *text)
{
  oxp__text_printf(text, ".TH ONNXPORT 1 \"\" \"onnxport %s\" \"User Commands\"\n.SH NAME\nonnxport \\- ",
                   oxp_version());
  add_roff(text, summary);
  oxp__text_add(text, "\n.SH SYNOPSIS\n");
  for (size_t i = 0; i < oxp__verb_count; i++) {
    oxp__text_printf(text, "\\fBonnxport %s\\fR ", oxp__verbs[i]->name);
    add_roff(text, oxp__verbs[i]->usage);
    oxp__text_add(text, "\n.br\n");
  }
  oxp__text_add(
      text,
      "\\fBonnxport\\fR SRC\n.SH DESCRIPTION\nResults go to standard output, messages and progress to standard "
      "error. SRC is recognised by its content, not by its name. With \\fB\\-\\-json\\fR every verb prints "
      "exactly one object; after a failure it has the key \\fIerror\\fR.\n.PP\nA file to read may be \\fB\\-\\fR, "
      "which is "
      "standard input, or a pipe: up to 4 GiB of it are put into a file without a name in the system's temporary "
      "folder first. A file to write may be \\fB\\-\\fR where it is one file: standard output is that file alone then, "
      "and results go to standard error.\n");
  for (size_t i = 0; i < oxp__verb_count; i++)
    add_roff_verb(text, oxp__verbs[i]);
  add_roff_statuses(text);
  oxp__text_add(
      text, ".SH ENVIRONMENT\n.TP\nONNXPORT_ORT_LIBRARY\nPath of the ONNX Runtime library that the engine ort uses. "
            "Without it these are tried: lib/onnxport and lib "
            "beside the bin that onnxport is installed in, the loader's path, and pip's package onnxruntime of the "
            "active Python "
            "environment (VIRTUAL_ENV), of the user (~/.local) and of the system (/usr/local).\n"
            ".TP\nNO_COLOR\nNo colours, also on a terminal.\n.SH SEE ALSO\nThe reference pages in the documentation "
            "folder.\n");
}
