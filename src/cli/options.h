// options.h: the parsed command line of one verb, and asking it for typed values. Errors name the option and what was
// given. Knows nothing of what the options mean. Place: cli.
#ifndef OXP_CLI_OPTIONS_H
#define OXP_CLI_OPTIONS_H

#include "cli/verb.h"

// One option as it was given. *Borrows* from argv.
typedef struct oxp__given {
  const oxp__option *option;
  const char *value; // NULL for a switch
  const char *path;  // of a file to read: where it is read, which streams.h may have put elsewhere; else the value
} oxp__given;

struct oxp__arguments {
  oxp__arena arena;
  const oxp__verb *verb;
  bool help; // --help was given: nothing else was checked
  oxp__given *given;
  size_t given_count, given_capacity;
  char *const *operands;      // SRC ... as they were typed
  const char **operand_paths; // where they are read
  int operand_count;
};

// Parses what follows the verb (argv[0] is skipped); reorders argv. OXP_BAD_ARGUMENT with the nearest right name for unknown
// options, for missing values, and for too few or too many operands. Free with oxp__arguments_fini also after a failure.
oxp_status oxp__arguments_parse(oxp__arguments *arguments, const oxp__verb *verb, int argc, char **argv,
                                oxp_error *error);
void oxp__arguments_fini(oxp__arguments *arguments);

// Operand number `index`; NULL when there are fewer.
const char *oxp__operand(const oxp__arguments *arguments, int index);

// Where it is read; the operand itself unless it stands for a stream.
const char *oxp__operand_path(const oxp__arguments *arguments, int index);

bool oxp__option_given(const oxp__arguments *arguments, const char *name);
// The value given last; NULL when the option was not given.
const char *oxp__option_text(const oxp__arguments *arguments, const char *name);
// Options that may be repeated: the value given `index`-th; NULL after the last.
const char *oxp__option_text_at(const oxp__arguments *arguments, const char *name, int index);

// The same for files to read: where they are read.
const char *oxp__option_path(const oxp__arguments *arguments, const char *name);
const char *oxp__option_path_at(const oxp__arguments *arguments, const char *name, int index);

// OXP_BAD_ARGUMENT when one of these options was given: it has no effect `where` ("without --verify").
oxp_status oxp__options_idle(const oxp__arguments *arguments, const oxp__option_group *group, const char *where,
                             oxp_error *error);

// The following leave *value alone when the option was not given.
oxp_status oxp__option_int(const oxp__arguments *arguments, const char *name, int64_t minimum, int64_t maximum,
                           int64_t *value, oxp_error *error);
oxp_status oxp__option_u64(const oxp__arguments *arguments, const char *name, uint64_t *value, oxp_error *error);
oxp_status oxp__option_float(const oxp__arguments *arguments, const char *name, double *value, oxp_error *error);
// One number or `count` of them, separated by commas; *given says how many.
oxp_status oxp__option_floats(const oxp__arguments *arguments, const char *name, int count, double *values, int *given,
                              oxp_error *error);
// For an option whose argument is a choice (`auto|always|never`): the index of the word that was given.
oxp_status oxp__option_choice(const oxp__arguments *arguments, const char *name, int *index, oxp_error *error);
// `3x256x256`: one to OXP_MAX_RANK positive numbers.
oxp_status oxp__option_shape(const oxp__arguments *arguments, const char *name, int *rank, int64_t *shape,
                             oxp_error *error);

// Word number `index` of a choice, and its length; NULL after the last, and at once when the argument is no choice.
const char *oxp__choice_word(const char *argument, int index, int *length);

// The options of a verb, of all groups, one after another: row number `index`, or NULL after the last.
const oxp__option *oxp__verb_option(const oxp__verb *verb, int index);

// Of `words` the one that `word` was probably meant to be; NULL when none is near.
const char *oxp__nearest_word(const char *word, const char *const *words, size_t count);

#endif
