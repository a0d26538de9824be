// request.h: options that several verbs share, and turning them into the option structs of the library. Place: cli.
#ifndef OXP_CLI_REQUEST_H
#define OXP_CLI_REQUEST_H

#include "cli/options.h"

extern const oxp__option_group oxp__source_group;  // how SRC is read
extern const oxp__option_group oxp__model_group;   // what the ONNX model is like
extern const oxp__option_group oxp__session_group; // how engines run
extern const oxp__option_group oxp__output_group;  // --json

#define OXP__GROUP(title, options)                                                                                     \
  {                                                                                                                    \
    (title), (options), (int)(sizeof(options) / sizeof((options)[0]))                                                  \
  }

// Strings are *borrowed* from the command line.
oxp_status oxp__request_source(const oxp__arguments *arguments, oxp_open_options *options, oxp_error *error);
oxp_status oxp__request_model(const oxp__arguments *arguments, oxp_lower_options *options, oxp_error *error);
// OXP_BAD_ARGUMENT when options of runtimes were given for an engine that is none.
oxp_status oxp__request_engine(const oxp__arguments *arguments, const char *engine, oxp_error *error);
oxp_status oxp__request_session(const oxp__arguments *arguments, oxp_session_options *options, oxp_error *error);

#endif
