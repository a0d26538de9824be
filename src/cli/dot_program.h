// dot_program.h: the program dot of the package graphviz, which turns DOT text into a picture. Place: cli.
#ifndef OXP_CLI_DOT_PROGRAM_H
#define OXP_CLI_DOT_PROGRAM_H

#include "core/output.h"
#include "core/text.h"

// Runs the program and writes the picture that it makes. `format` is what it calls the picture's format: svg, png, pdf.
// OXP_NOT_AVAILABLE when it is not installed.
oxp_status oxp__dot_program_run(const oxp__text *dot, const char *format, oxp__output *output, oxp_error *error);

#endif
