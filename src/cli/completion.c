// completion.c: see completion.h. A row's argument says what stands there: FILE or OUT, a choice (`auto|always|never`), one of the names
// that a table of ours holds (PROFILE, FORMAT, ENGINE), or something that only the user knows (N, NAME). Place: cli.
#include "cli/completion.h"

#include <string.h>

#include "cli/options.h"
#include "engines/engine.h"
#include "formats/format.h"
#include "net/profile.h"

// --- What can stand for an argument ---

static void add_profiles(oxp__text *words)
{
  for (size_t i = 0; i < oxp__profile_count; i++)
    oxp__text_printf(words, " %s", oxp__profiles[i]->name);
}

static void add_formats(oxp__text *words)
{
  for (size_t i = 0; i < oxp__format_count; i++)
    oxp__text_printf(words, " %s", oxp__formats[i]->name);
}

static void add_engines(oxp__text *words)
{
  for (size_t i = 0; i < oxp__engine_count; i++)
    oxp__text_printf(words, " %s", oxp__engines[i]->name);
}

static void add_verbs(oxp__text *words)
{
  for (size_t i = 0; i < oxp__verb_count; i++)
    oxp__text_printf(words, " %s", oxp__verbs[i]->name);
}

static bool is_file(const char *argument)
{
  return strcmp(argument, "FILE") == 0 || strcmp(argument, "OUT") == 0;
}

// Adds the words that may stand for an argument, each after a space; nothing for files and for what only the user knows.
static void add_values(oxp__text *words, const char *argument)
{
  static const struct {
    const char *argument;
    void (*add)(oxp__text *words);
  } lists[] = { { "PROFILE", add_profiles }, { "FORMAT", add_formats }, { "ENGINE", add_engines } };
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
    if (strcmp(argument, lists[i].argument) == 0)
      lists[i].add(words);
  const char *word = NULL;
  for (int i = 0, length = 0; (word = oxp__choice_word(argument, i, &length)); i++)
    oxp__text_printf(words, " %.*s", length, word);
}

// --- bash ---

static void add_bash_option(oxp__text *text, const oxp__option *option)
{
  oxp__text words = { 0 };
  add_values(&words, option->argument);
  oxp__text_printf(text, "    --%s", option->name);
  if (option->letter)
    oxp__text_printf(text, " | -%c", option->letter);
  oxp__text_add(text, is_file(option->argument) ? ") files=1 ;;\n" : ") words=\"");
  if (!is_file(option->argument))
    oxp__text_printf(text, "%s\" ;;\n", oxp__text_string(&words));
  oxp__text_fini(&words);
}

static void add_bash_verb(oxp__text *text, const oxp__verb *verb)
{
  const oxp__option *option = NULL;
  oxp__text_printf(text, "  %s)\n    case $before in\n", verb->name);
  for (int i = 0; (option = oxp__verb_option(verb, i)); i++)
    if (option->argument)
      add_bash_option(text, option);
  oxp__text_add(text, "    *)\n      words=\"");
  for (int i = 0; (option = oxp__verb_option(verb, i)); i++)
    oxp__text_printf(text, "--%s ", option->name);
  oxp__text_add(text, "--help");
  oxp__text operands = { 0 };
  add_values(&operands, verb->usage);
  if (operands.length > 0)
    oxp__text_printf(text, "%s\"\n", oxp__text_string(&operands));
  else
    oxp__text_add(text, verb->max_operands > 0 ? "\"\n      files=1\n" : "\"\n");
  oxp__text_fini(&operands);
  oxp__text_add(text, "      ;;\n    esac\n    ;;\n");
}

void oxp__completion_bash(oxp__text *text)
{
  oxp__text verbs = { 0 };
  add_verbs(&verbs);
  oxp__text_printf(
      text,
      "# bash completion for onnxport, printed by `onnxport completion bash`.\n\n"
      "_onnxport()\n{\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before='' verb=${COMP_WORDS[1]} words='' files='' skipped=''\n"
      "  [ \"$COMP_CWORD\" -gt 1 ] && before=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  # bash takes --option=value for three words.\n"
      "  [ \"$word\" = = ] && word=''\n"
      "  [ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD - 2]}\n"
      "  [ \"$COMP_CWORD\" -eq 1 ] && verb=''\n"
      "  case $verb in\n"
      "  '') words=\"%s --help --version\" files=1 ;;\n"
      "  help) words=\"%s\" ;;\n",
      oxp__text_string(&verbs), oxp__text_string(&verbs));
  for (size_t i = 0; i < oxp__verb_count; i++)
    add_bash_verb(text, oxp__verbs[i]);
  oxp__text_add(text, "  *) files=1 ;;\n"
                      "  esac\n"
                      "  case $word in\n"
                      "  -*) files='' ;;\n"
                      "  *) [ -n \"$files\" ] && skipped='-*' ;; # options only where somebody begins one\n"
                      "  esac\n"
                      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -X \"$skipped\" -- \"$word\")\n"
                      "  if [ -n \"$files\" ]; then\n"
                      "    compopt -o filenames 2>/dev/null\n"
                      "    mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$word\")\n"
                      "  fi\n"
                      "}\n"
                      "complete -F _onnxport onnxport\n");
  oxp__text_fini(&verbs);
}

// --- zsh ---

// Inside '[...]' of a specification in single quotes.
static void add_zsh_words(oxp__text *text, const char *words)
{
  for (const char *at = words; *at; at++)
    if (*at == '\'')
      oxp__text_add(text, "'\\''");
    else
      oxp__text_printf(text, strchr("[]:\\", *at) ? "\\%c" : "%c", *at);
}

static void add_zsh_option(oxp__text *text, const oxp__option *option)
{
  oxp__text words = { 0 };
  const char *attached = option->argument ? "=" : "";
  if (option->letter)
    oxp__text_printf(text, " \\\n      '*'{-%c%s,--%s%s}'[", option->letter, option->argument ? "+" : "", option->name,
                     attached);
  else
    oxp__text_printf(text, " \\\n      '*--%s%s[", option->name, attached);
  add_zsh_words(text, option->doc);
  oxp__text_add(text, "]");
  if (option->argument) {
    add_values(&words, option->argument);
    oxp__text_printf(text, ":%s:", words.length > 0 ? option->name : option->argument);
    if (is_file(option->argument))
      oxp__text_add(text, "_files");
    else if (words.length > 0)
      oxp__text_printf(text, "(%s)", oxp__text_string(&words) + 1);
  }
  oxp__text_add(text, "'");
  oxp__text_fini(&words);
}

static void add_zsh_verb(oxp__text *text, const oxp__verb *verb)
{
  const oxp__option *option = NULL;
  oxp__text operands = { 0 };
  add_values(&operands, verb->usage);
  oxp__text_printf(text, "  %s)\n    _arguments -s -S", verb->name);
  for (int i = 0; (option = oxp__verb_option(verb, i)); i++)
    add_zsh_option(text, option);
  oxp__text_add(text, " \\\n      '(- *)'{-h,--help}'[say what the verb does]'");
  if (operands.length > 0)
    oxp__text_printf(text, " \\\n      ':word:(%s)'", oxp__text_string(&operands) + 1);
  else if (verb->max_operands > 0)
    oxp__text_add(text, " \\\n      '*:file:_files'");
  oxp__text_add(text, "\n    ;;\n");
  oxp__text_fini(&operands);
}

void oxp__completion_zsh(oxp__text *text)
{
  oxp__text_add(text, "#compdef onnxport\n"
                      "# zsh completion for onnxport, printed by `onnxport completion zsh`.\n\n"
                      "_onnxport()\n{\n"
                      "  local -a verbs=(\n");
  for (size_t i = 0; i < oxp__verb_count; i++) {
    oxp__text_printf(text, "    '%s:", oxp__verbs[i]->name);
    add_zsh_words(text, oxp__verbs[i]->doc);
    oxp__text_add(text, "'\n");
  }
  oxp__text_add(text, "  )\n"
                      "  if ((CURRENT == 2)); then\n"
                      "    _describe verb verbs\n"
                      "    _files\n"
                      "    return\n"
                      "  fi\n"
                      "  shift words\n"
                      "  ((CURRENT--))\n"
                      "  case $words[1] in\n"
                      "  help) _describe verb verbs ;;\n");
  for (size_t i = 0; i < oxp__verb_count; i++)
    add_zsh_verb(text, oxp__verbs[i]);
  oxp__text_add(text, "  *) _files ;;\n"
                      "  esac\n"
                      "}\n\n"
                      "_onnxport \"$@\"\n");
}

// --- fish ---

static void add_fish_words(oxp__text *text, const char *words)
{
  oxp__text_add(text, " -d '");
  for (const char *at = words; *at; at++)
    oxp__text_printf(text, strchr("'\\", *at) ? "\\%c" : "%c", *at);
  oxp__text_add(text, "'\n");
}

static void add_fish_verb(oxp__text *text, const oxp__verb *verb)
{
  const oxp__option *option = NULL;
  oxp__text operands = { 0 };
  add_values(&operands, verb->usage);
  oxp__text_printf(text, "complete -c onnxport -n __fish_use_subcommand -a %s", verb->name);
  add_fish_words(text, verb->doc);
  if (operands.length > 0)
    oxp__text_printf(text, "complete -c onnxport -n '__fish_seen_subcommand_from %s' -f -a '%s'\n", verb->name,
                     oxp__text_string(&operands) + 1);
  for (int i = 0; (option = oxp__verb_option(verb, i)); i++) {
    oxp__text words = { 0 };
    add_values(&words, option->argument ? option->argument : "");
    oxp__text_printf(text, "complete -c onnxport -n '__fish_seen_subcommand_from %s' -l %s", verb->name, option->name);
    if (option->letter)
      oxp__text_printf(text, " -s %c", option->letter);
    if (option->argument)
      oxp__text_add(text, is_file(option->argument) ? " -r -F" : " -x");
    if (words.length > 0)
      oxp__text_printf(text, " -a '%s'", oxp__text_string(&words) + 1);
    add_fish_words(text, option->doc);
    oxp__text_fini(&words);
  }
  oxp__text_fini(&operands);
}

void oxp__completion_fish(oxp__text *text)
{
  oxp__text_add(text, "# fish completion for onnxport, printed by `onnxport completion fish`.\n");
  for (size_t i = 0; i < oxp__verb_count; i++)
    add_fish_verb(text, oxp__verbs[i]);
}
