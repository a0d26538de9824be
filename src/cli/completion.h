// completion.h: what makes a shell complete the command's words, made from the rows of the verbs. Place: cli.
#ifndef OXP_CLI_COMPLETION_H
#define OXP_CLI_COMPLETION_H

#include "cli/verb.h"

// A script for the shell.
void oxp__completion_bash(oxp__text *text);
void oxp__completion_zsh(oxp__text *text);
void oxp__completion_fish(oxp__text *text);

#endif
