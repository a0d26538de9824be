// options.c: getopt_long driven by a verb's option rows, and typed access to the result. Place: cli.
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_HELP = 256, OPTION_FIRST = 257, WORD_MAX = 63, OPTIONS_MAX = 64 };

// --- Nearest words ---

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

// How many letters must be inserted, dropped or replaced (Levenshtein), row by row.
static size_t word_distance(const char *a, const char *b)
{
  size_t a_length = strlen(a), b_length = strlen(b);
  if (a_length > WORD_MAX || b_length > WORD_MAX)
    return WORD_MAX;
  size_t row[WORD_MAX + 1];
  for (size_t j = 0; j <= b_length; j++)
    row[j] = j;
  for (size_t i = 1; i <= a_length; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = smaller(replaced, smaller(row[j], row[j - 1]) + 1);
    }
  }
  return row[b_length];
}

const char *oxp__nearest_word(const char *word, const char *const *words, size_t count)
{
  const char *best = NULL;
  size_t best_distance = 1 + strlen(word) / 3; // further away is no slip of the finger
  for (size_t i = 0; i < count; i++) {
    size_t distance = word_distance(word, words[i]);
    if (distance < best_distance || (distance == best_distance && !best)) {
      best = words[i];
      best_distance = distance;
    }
  }
  return best;
}

// --- Parsing ---

const oxp__option *oxp__verb_option(const oxp__verb *verb, int index)
{
  for (const oxp__option_group *const *group = verb->groups; *group; group++) {
    if (index < (*group)->count)
      return &(*group)->options[index];
    index -= (*group)->count;
  }
  return NULL;
}

static int verb_option_count(const oxp__verb *verb)
{
  int count = 0;
  while (oxp__verb_option(verb, count))
    count++;
  return count;
}

// The tables getopt_long wants. A leading ':' lets it tell a missing value from an unknown option.
static bool options_tables(oxp__arguments *arguments, char **letters, struct option **table)
{
  int count = verb_option_count(arguments->verb);
  *table = oxp__arena_new(&arguments->arena, (size_t)count + 2, sizeof **table);
  char *at = *letters = oxp__arena_new(&arguments->arena, 2 * (size_t)count + 3, 1);
  if (!*table || !at)
    return false;
  *at++ = ':';
  *at++ = 'h';
  for (int i = 0; i < count; i++) {
    const oxp__option *option = oxp__verb_option(arguments->verb, i);
    (*table)[i] =
        (struct option){ option->name, option->argument ? required_argument : no_argument, NULL, OPTION_FIRST + i };
    if (option->letter) {
      *at++ = option->letter;
      if (option->argument)
        *at++ = ':';
    }
  }
  (*table)[count] = (struct option){ "help", no_argument, NULL, OPTION_HELP };
  return true;
}

static const oxp__option *option_of_code(const oxp__verb *verb, int code)
{
  if (code >= OPTION_FIRST)
    return oxp__verb_option(verb, code - OPTION_FIRST);
  for (int i = 0;; i++) {
    const oxp__option *option = oxp__verb_option(verb, i);
    if (!option || option->letter == code)
      return option;
  }
}

// The options that `name` may be short for: getopt_long takes a beginning that only one has. How many there are.
static int add_beginnings(const oxp__verb *verb, const char *name, size_t length, oxp__text *text)
{
  int count = 0;
  const oxp__option *option = NULL;
  for (int i = 0; (option = oxp__verb_option(verb, i)); i++)
    if (length > 0 && strncmp(option->name, name, length) == 0)
      oxp__text_printf(text, "%s--%s", count++ > 0 ? ", " : "", option->name);
  return count;
}

// The option that `name` was probably meant to be; NULL when none is near.
static const char *nearest_option(const oxp__verb *verb, const char *name)
{
  const char *names[OPTIONS_MAX];
  size_t count = 0;
  const oxp__option *option = NULL;
  for (int i = 0; count < OPTIONS_MAX && (option = oxp__verb_option(verb, i)); i++)
    names[count++] = option->name;
  return oxp__nearest_word(name, names, count);
}

// `word` is what was typed, with its dashes and perhaps a value.
static oxp_status fail_unknown_option(const oxp__verb *verb, const char *word, oxp_error *error)
{
  char name[WORD_MAX + 1] = "";
  int length = (int)strcspn(word, "=");
  if (strncmp(word, "--", 2) == 0 && length - 2 <= WORD_MAX)
    memcpy(name, word + 2, (size_t)length - 2);
  oxp__text beginnings = { 0 };
  const char *nearest = nearest_option(verb, name);
  oxp_status status = OXP_BAD_ARGUMENT;
  if (add_beginnings(verb, name, strlen(name), &beginnings) > 1)
    oxp__fail(error, status, "%s: %.*s is short for several options: %s", verb->name, length, word,
              oxp__text_string(&beginnings));
  else if (*name && nearest)
    oxp__fail(error, status, "%s has no option %.*s; did you mean --%s?", verb->name, length, word, nearest);
  else
    oxp__fail(error, status, "%s has no option %.*s (see onnxport %s --help)", verb->name, length, word, verb->name);
  oxp__text_fini(&beginnings);
  return status;
}

// What getopt_long did not like: `code` is ':' or '?'.
static oxp_status fail_option(oxp__arguments *arguments, int code, char **argv, oxp_error *error)
{
  const oxp__option *option = optopt ? option_of_code(arguments->verb, optopt) : NULL;
  if (option && code == ':')
    return oxp__fail(error, OXP_BAD_ARGUMENT, "option --%s needs a value: --%s %s", option->name, option->name,
                     option->argument);
  if (optopt >= OPTION_HELP)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "option --%s takes no value", option ? option->name : "help");
  char letter[3] = { '-', (char)optopt, 0 };
  return fail_unknown_option(arguments->verb, optopt ? letter : argv[optind - 1], error);
}

static oxp_status remember(oxp__arguments *arguments, int code, const char *value, oxp_error *error)
{
  oxp__given *given = oxp__arena_grow(&arguments->arena, arguments->given, arguments->given_count,
                                      &arguments->given_capacity, sizeof *given);
  if (!given)
    return oxp__fail_memory(error, sizeof *given);
  arguments->given = given;
  given[arguments->given_count++] = (oxp__given){ option_of_code(arguments->verb, code), value, value };
  return OXP_OK;
}

static oxp_status check_operands(const oxp__arguments *arguments, oxp_error *error)
{
  const oxp__verb *verb = arguments->verb;
  if (arguments->operand_count < verb->min_operands)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "%s needs more: onnxport %s %s", verb->name, verb->name, verb->usage);
  if (arguments->operand_count > verb->max_operands)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "%s does not know what to do with \"%s\": onnxport %s %s", verb->name,
                     arguments->operands[verb->max_operands], verb->name, verb->usage);
  return OXP_OK;
}

static oxp_status take_operands(oxp__arguments *arguments, char *const *operands, int count, oxp_error *error)
{
  const char **paths = oxp__arena_new(&arguments->arena, (size_t)count, sizeof *paths);
  if (!paths)
    return oxp__fail_memory(error, (size_t)count * sizeof *paths);
  for (int i = 0; i < count; i++)
    paths[i] = operands[i];
  arguments->operands = operands;
  arguments->operand_paths = paths;
  arguments->operand_count = count;
  return OXP_OK;
}

oxp_status oxp__arguments_parse(oxp__arguments *arguments, const oxp__verb *verb, int argc, char **argv,
                                oxp_error *error)
{
  *arguments = (oxp__arguments){ .verb = verb };
  char *letters = NULL;
  struct option *table = NULL;
  if (!options_tables(arguments, &letters, &table))
    return oxp__fail_memory(error, sizeof *table);
  opterr = 0;
  optind = 1;
  for (;;) {
    int code = getopt_long(argc, argv, letters, table, NULL);
    if (code == -1)
      break;
    if (code == ':' || code == '?')
      return fail_option(arguments, code, argv, error);
    if (code == OPTION_HELP || code == 'h') {
      arguments->help = true;
      return OXP_OK;
    }
    OXP__TRY(remember(arguments, code, optarg, error));
  }
  OXP__TRY(take_operands(arguments, argv + optind, argc - optind, error));
  return check_operands(arguments, error);
}

void oxp__arguments_fini(oxp__arguments *arguments)
{
  oxp__arena_fini(&arguments->arena);
}

// --- Access ---

const char *oxp__operand(const oxp__arguments *arguments, int index)
{
  return index < arguments->operand_count ? arguments->operands[index] : NULL;
}

const char *oxp__operand_path(const oxp__arguments *arguments, int index)
{
  return index < arguments->operand_count ? arguments->operand_paths[index] : NULL;
}

// The option as it was given last; NULL when it was not.
static const oxp__given *option_last(const oxp__arguments *arguments, const char *name)
{
  for (size_t i = arguments->given_count; i-- > 0;)
    if (strcmp(arguments->given[i].option->name, name) == 0)
      return &arguments->given[i];
  return NULL;
}

bool oxp__option_given(const oxp__arguments *arguments, const char *name)
{
  return option_last(arguments, name) != NULL;
}

const char *oxp__option_text(const oxp__arguments *arguments, const char *name)
{
  const oxp__given *given = option_last(arguments, name);
  return given ? given->value : NULL;
}

const char *oxp__option_path(const oxp__arguments *arguments, const char *name)
{
  const oxp__given *given = option_last(arguments, name);
  return given ? given->path : NULL;
}

// The option as it was given `index`-th; NULL after the last.
static const oxp__given *option_at(const oxp__arguments *arguments, const char *name, int index)
{
  for (size_t i = 0; i < arguments->given_count; i++)
    if (strcmp(arguments->given[i].option->name, name) == 0 && index-- == 0)
      return &arguments->given[i];
  return NULL;
}

const char *oxp__option_text_at(const oxp__arguments *arguments, const char *name, int index)
{
  const oxp__given *given = option_at(arguments, name, index);
  return given ? given->value : NULL;
}

const char *oxp__option_path_at(const oxp__arguments *arguments, const char *name, int index)
{
  const oxp__given *given = option_at(arguments, name, index);
  return given ? given->path : NULL;
}

oxp_status oxp__options_idle(const oxp__arguments *arguments, const oxp__option_group *group, const char *where,
                             oxp_error *error)
{
  for (int i = 0; i < group->count; i++)
    if (oxp__option_given(arguments, group->options[i].name))
      return oxp__fail(error, OXP_BAD_ARGUMENT, "--%s has no effect %s", group->options[i].name, where);
  return OXP_OK;
}

static oxp_status fail_value(oxp_error *error, const char *name, const char *value, const char *wanted)
{
  oxp_status status = oxp__fail(error, OXP_BAD_ARGUMENT, "\"%s\" is not %s", value, wanted);
  char option[80];
  snprintf(option, sizeof option, "--%s", name);
  return oxp__at_key(error, status, option);
}

// A whole decimal number at the start of `text`; *end is what follows it, `text` itself when there is none.
static bool parse_int(const char *text, int64_t *value, char **end)
{
  *end = (char *)text;
  if (!strchr("+-0123456789", *text) || !*text)
    return false;
  errno = 0;
  long long parsed = strtoll(text, end, 10);
  *value = (int64_t)parsed;
  return *end != text && errno == 0;
}

oxp_status oxp__option_int(const oxp__arguments *arguments, const char *name, int64_t minimum, int64_t maximum,
                           int64_t *value, oxp_error *error)
{
  const char *text = oxp__option_text(arguments, name);
  if (!text)
    return OXP_OK;
  int64_t parsed = 0;
  char *end = NULL;
  if (parse_int(text, &parsed, &end) && !*end && parsed >= minimum && parsed <= maximum) {
    *value = parsed;
    return OXP_OK;
  }
  char wanted[96];
  if (maximum == INT64_MAX)
    snprintf(wanted, sizeof wanted, "a whole number from %lld on", (long long)minimum);
  else
    snprintf(wanted, sizeof wanted, "a whole number from %lld to %lld", (long long)minimum, (long long)maximum);
  return fail_value(error, name, text, wanted);
}

oxp_status oxp__option_u64(const oxp__arguments *arguments, const char *name, uint64_t *value, oxp_error *error)
{
  const char *text = oxp__option_text(arguments, name);
  if (!text)
    return OXP_OK;
  char *end = NULL;
  errno = 0;
  unsigned long long parsed = strtoull(text, &end, 10);
  if (end == text || *end || errno || !strchr("0123456789", *text))
    return fail_value(error, name, text, "a whole number from 0 to 18446744073709551615");
  *value = (uint64_t)parsed;
  return OXP_OK;
}

oxp_status oxp__option_floats(const oxp__arguments *arguments, const char *name, int count, double *values, int *given,
                              oxp_error *error)
{
  const char *text = oxp__option_text(arguments, name);
  if (!text)
    return OXP_OK;
  double parsed[8];
  int found = 0;
  const char *at = text;
  for (; found < count; found++) {
    char *end = NULL;
    parsed[found] = strtod(at, &end);
    if (end == at || !isfinite(parsed[found]) || (*end && *end != ','))
      return fail_value(error, name, text, count == 1 ? "a number" : "numbers separated by commas");
    at = end;
    if (!*at) {
      found++;
      break;
    }
    at++;
  }
  if (*at || (found != 1 && found != count)) {
    char wanted[48];
    snprintf(wanted, sizeof wanted, "one number or %d of them", count);
    return fail_value(error, name, text, wanted);
  }
  memcpy(values, parsed, (size_t)found * sizeof *values);
  *given = found;
  return OXP_OK;
}

oxp_status oxp__option_float(const oxp__arguments *arguments, const char *name, double *value, oxp_error *error)
{
  int given = 0;
  return oxp__option_floats(arguments, name, 1, value, &given, error);
}

const char *oxp__choice_word(const char *argument, int index, int *length)
{
  const char *word = argument && strchr(argument, '|') && !strchr(argument, ' ') ? argument : NULL;
  for (; word && index > 0; index--) {
    word = strchr(word, '|');
    word = word ? word + 1 : NULL;
  }
  *length = word ? (int)strcspn(word, "|") : 0;
  return word;
}

oxp_status oxp__option_choice(const oxp__arguments *arguments, const char *name, int *index, oxp_error *error)
{
  const oxp__given *given = option_last(arguments, name);
  if (!given)
    return OXP_OK;
  char wanted[160] = "one of ";
  const char *word = NULL;
  for (int i = 0, length = 0; (word = oxp__choice_word(given->option->argument, i, &length)); i++) {
    if (strncmp(word, given->value, (size_t)length) == 0 && !given->value[length]) {
      *index = i;
      return OXP_OK;
    }
    size_t used = strlen(wanted);
    snprintf(wanted + used, sizeof wanted - used, "%s%.*s", i == 0 ? "" : ", ", length, word);
  }
  return fail_value(error, name, given->value, wanted);
}

oxp_status oxp__option_shape(const oxp__arguments *arguments, const char *name, int *rank, int64_t *shape,
                             oxp_error *error)
{
  const char *text = oxp__option_text(arguments, name);
  if (!text)
    return OXP_OK;
  int64_t parsed[OXP_MAX_RANK];
  int found = 0;
  for (const char *at = text;; at++) {
    char *end = NULL;
    if (found == OXP_MAX_RANK || !parse_int(at, &parsed[found], &end) || parsed[found] < 1 ||
        (*end && !strchr("xX,", *end)))
      return fail_value(error, name, text, "a shape without the batch, such as 3x256x256");
    found++;
    at = end;
    if (!*at)
      break;
  }
  memcpy(shape, parsed, (size_t)found * sizeof *shape);
  *rank = found;
  return OXP_OK;
}
