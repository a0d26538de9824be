// verb.h: the row of one verb of the command. One file per verb, `verb_<name>.c`, defines
// `const oxp__verb oxp__verb_<name>`; the build lists the files. Place: cli (last).
#ifndef OXP_CLI_VERB_H
#define OXP_CLI_VERB_H

#include "core/text.h"
#include "net/network.h"

// One option. Help text, parsing and the manual page are made from the rows.
typedef struct oxp__option {
  const char *name; // without dashes
  const char *
      argument; // "N", "FILE" (read), "OUT" (written), a choice ("auto|always|never"), a name from a table ("PROFILE") ...; NULL: a switch
  const char *doc;
  char letter; // short form; 0: none
} oxp__option;

// Options that belong together, under a heading. Verbs share groups.
typedef struct oxp__option_group {
  const char *title;
  const oxp__option *options;
  int count;
} oxp__option_group;

typedef struct oxp__arguments oxp__arguments; // parsed command line, options.h

// A command that works as printed, in a folder that holds the files of examples/.
typedef struct oxp__example {
  const char *command;
  const char *doc; // what it does
} oxp__example;

typedef struct oxp__verb {
  const char *name;
  const char *usage;   // "SRC [-o OUT.onnx] [options]"
  const char *doc;     // one line
  const char *details; // paragraphs for --help and the manual page; may be NULL
  oxp__example examples[2];
  const oxp__option_group *const *groups; // ends with NULL
  int min_operands, max_operands;
  // Prints its result only when it is complete, so that a failure leaves nothing on standard output.
  oxp_status (*run)(const oxp__arguments *arguments, oxp_error *error);
} oxp__verb;

extern const oxp__verb *const oxp__verbs[];
extern const size_t oxp__verb_count;

#endif
