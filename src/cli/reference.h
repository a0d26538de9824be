// reference.h: what the verbs that print a reference table have in common. Place: cli.
#ifndef OXP_CLI_REFERENCE_H
#define OXP_CLI_REFERENCE_H

#include "cli/verb.h"

extern const oxp__option_group *const oxp__reference_groups[]; // --json, --markdown

oxp_status oxp__reference_print(const oxp__arguments *arguments, oxp_table table, oxp_error *error);

#endif
