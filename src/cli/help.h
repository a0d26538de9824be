// help.h: usage texts and the manual page, made from the rows of the verbs. Place: cli.
#ifndef OXP_CLI_HELP_H
#define OXP_CLI_HELP_H

#include "cli/verb.h"

void oxp__help_overview(oxp__text *text);
void oxp__help_verb(oxp__text *text, const oxp__verb *verb);
void oxp__help_manual(oxp__text *text); // roff, section 1

#endif
