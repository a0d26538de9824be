// comparison.h: what `verify` does, for other verbs that do it too: running a network and its model on the same input. Lives in
// verb_verify.c. Place: cli.
#ifndef OXP_CLI_COMPARISON_H
#define OXP_CLI_COMPARISON_H

#include "cli/inputs.h"

extern const oxp__option_group oxp__comparison_group; // the sides, the limits, what is expected

typedef struct oxp__comparison {
  const oxp__arguments *arguments;
  oxp_verify_options options;
  oxp_network *network;         // borrowed
  oxp_graph *model;             // borrowed; NULL: the network is lowered
  const char *fresh;            // the profile under which export writes the model's very bytes; NULL: none
  oxp__inputs inputs, expected; // `inputs.sources`: of both, and the runtime's library
  oxp_verify_report *report;
  oxp_status verdict;
} oxp__comparison;

// Takes the options from `arguments`; before anything is opened.
oxp_status oxp__comparison_request(oxp__comparison *comparison, oxp_error *error);

// Reads the inputs and compares `network` with `model`. OXP_OK when there is a verdict, whatever it is.
oxp_status oxp__comparison_run(oxp__comparison *comparison, oxp_error *error);

// Add what was found, for people, and as members of the open object.
void oxp__comparison_text(oxp__text *text, const oxp__comparison *comparison);
void oxp__comparison_json(oxp__json *json, const oxp__comparison *comparison);

void oxp__comparison_fini(oxp__comparison *comparison);

#endif
