// verify.h: what the parts of oxp_verify share: the two sides, the runs, the report. Place: engines.
#ifndef OXP_ENGINES_VERIFY_H
#define OXP_ENGINES_VERIFY_H

#include "engines/engine.h"

struct oxp_verify_report {
  oxp__arena arena;
  oxp_verify_row *outputs, *layers;
  int output_count, layer_count;
  oxp__text finding;
  oxp_verify_input input;
  const char **notes;
  size_t note_count, note_capacity;
};

// One run: how many samples, and which one of the given inputs comes first (they are taken in turn).
typedef struct oxp__verify_run {
  int64_t batch, first;
} oxp__verify_run;

typedef struct oxp__verify {
  const oxp_network *network;
  const oxp_graph *model;     // what the tested side runs; NULL when it runs the network itself
  oxp_graph *lowered;         // owned; the model, unless the caller gave one
  oxp_verify_options options; // with defaults filled in
  const oxp__engine *engine, *against;
  oxp_session *expected, *actual; // owned
  bool layers;                    // both sessions hand out every layer before the outputs
  int input_count, output_count;
  oxp__shape *shapes; // per input: BATCH where the batch goes, everything else a number
  oxp_dtype dtype;    // of the input values: the narrowest that a side takes
  double scale;       // of random input: it lies in [-scale, scale), before it is moved to where a first layer wants it
  oxp__verify_run *runs;
  size_t run_count, run_capacity;
  size_t differing_run; // the first run in which an output differs
  oxp_verify_report *report;
} oxp__verify;

// verify_input.c: decides shapes and runs, from the network, from what both sides declare, and from what was given.
oxp_status oxp__verify_plan(oxp__verify *verify, oxp_error *error);

// verify_reach.c: chooses the scale of random input, and says so in the report.
oxp_status oxp__verify_reach(oxp__verify *verify, oxp_error *error);

// Makes the inputs of a run: random, or the given samples. `arrays` holds input_count arrays; free them with
// oxp__verify_free.
oxp_status oxp__verify_inputs(const oxp__verify *verify, const oxp__verify_run *run, oxp_array *arrays,
                              oxp_error *error);

// Runs a session on such inputs, converted to the types that it takes. *outputs is a new list of
// oxp_session_output_count(session) arrays.
oxp_status oxp__verify_run_session(const oxp__verify *verify, oxp_session *session, const oxp_array *inputs,
                                   oxp_array **outputs, oxp_error *error);

// Frees the arrays of a list and zeroes them; then, with `list_too`, the list.
void oxp__verify_free(oxp_array *arrays, int count, bool list_too);

// Adds a sentence to the report, once.
void oxp__verify_note(oxp_verify_report *report, const char *format, ...) OXP__PRINTF(2, 3);

// compare.c: OXP_BAD_ARGUMENT unless both are 0 or more.
oxp_status oxp__check_tolerances(double rtol, double atol, oxp_error *error);

// verify_find.c: writes the finding: who is wrong. Runs more sessions; what cannot be found out is left out, so it only
// fails for lack of memory.
oxp_status oxp__verify_find(oxp__verify *verify, oxp_error *error);

#endif
