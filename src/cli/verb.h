// verb.h: the row of one verb of the command. One file per verb, `verb_<name>.c`, defines
// `const oxp__verb oxp__verb_<name>`; the build lists the files. Place: cli (last).
#ifndef OXP_CLI_VERB_H
#define OXP_CLI_VERB_H

#include "core/text.h"
#include "net/network.h"

// One option of a verb. Help text, parsing and the man page are made from the rows.
typedef struct oxp__option {
  const char *name;     // without dashes
  const char *argument; // "N", "FILE" ...; NULL: a switch
  const char *doc;
  char letter; // short form; 0: none
} oxp__option;

typedef struct oxp__arguments oxp__arguments; // parsed command line, options.h

typedef struct oxp__verb {
  const char *name;
  const char *usage;   // "SRC [-o OUT.onnx] [options]"
  const char *doc;     // one line
  const char *details; // paragraphs for --help and the man page; may be NULL
  const oxp__option *options;
  int option_count;
  oxp_status (*run)(const oxp__arguments *arguments, oxp_error *error);
} oxp__verb;

extern const oxp__verb *const oxp__verbs[];
extern const size_t oxp__verb_count;

#endif
