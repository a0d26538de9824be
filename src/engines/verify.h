// verify.h: what the parts of oxp_verify share: the two sides, the runs, the report. Place: engines.
#ifndef OXP_ENGINES_VERIFY_H
#define OXP_ENGINES_VERIFY_H

#include "engines/compare.h"
#include "engines/engine.h"

struct oxp_verify_report {
  oxp__arena arena;
  oxp_verify_row *outputs, *layers;
  int output_count, layer_count;
  oxp_verify_row *expected; // two per output where expected ones were given
  int expected_count;
  oxp__text finding;
  int departure; // the first layer that departs; -1: none
  oxp_verify_input input;
  const char **notes;
  size_t note_count, note_capacity;
};

// One run: how many samples, and which one of the given inputs comes first (they are taken in turn).
typedef struct oxp__verify_run {
  int64_t batch, first;
} oxp__verify_run;

// What all runs showed of one channel of an output or a layer.
typedef struct oxp__verify_channel {
  double scale;     // largest finite |expected|
  double low, high; // of the finite expected values; low > high: there was none
  double excess;    // what is left of the largest difference once rtol is taken off
  size_t run;       // in which it was seen
  double noise;     // how far the rounding of float32 alone moves the channel; 0 until somebody had to know
} oxp__verify_channel;

// An output or a layer: what was seen of it in all runs, and the limits that follow.
typedef struct oxp__verify_value {
  oxp_verify_row *row;           // in the report
  oxp__verify_channel *channels; // in the report's arena, like the limits; NULL before the first run
  double *atol;                  // per channel
  int64_t channel_count;
  int64_t places; // of one channel in one sample
} oxp__verify_value;

typedef struct oxp__verify {
  const oxp_network *network;
  const oxp_graph *given;     // the caller's model; NULL: the network's own export is tested
  const oxp_graph *model;     // what the tested side runs; NULL when it runs the network itself
  oxp_graph *lowered;         // owned; the model, unless the caller gave one
  oxp_verify_options options; // with defaults filled in
  const oxp__engine *engine, *against;
  oxp_session *expected, *actual; // owned
  bool layers;                    // both sessions hand out every layer before the outputs
  const char *
      *layer_names; // of the model given, per layer: the value that holds what it computes; NULL: not known which
  int *actual_at;   // per value: its place in what `actual` hands out, -1: it does not; NULL: the same place
  const oxp__verify_value *layered; // layers and outputs as they were compared layer by layer; NULL: they were not
  oxp_session *given_layers;        // owned: the model given, with layers; NULL: it was not compared so
  const int *given_at;              // per value, as actual_at
  int input_count, output_count;
  oxp__shape *shapes; // per input: BATCH where the batch goes, everything else a number
  oxp_dtype dtype;    // of the input values: the narrowest that a side takes
  double scale;       // of random input: it lies in [-scale, scale), before it is moved to where a first layer wants it
  oxp__verify_run *runs;
  size_t run_count, run_capacity;
  int64_t samples;              // different ones, in all runs
  oxp__verify_value *values;    // one per row of the report: the layers that are compared, then the outputs
  int value_count, layer_count; // layer_count: how many of the values are layers
  size_t differing_run;         // a run in which an output differs
  oxp_verify_report *report;
} oxp__verify;

// verify_match.c: fills layer_names for the model given, and says what could not be matched.
oxp_status oxp__verify_match(oxp__verify *verify, oxp_error *error);

// verify_input.c: decides shapes and runs, from the network, from what both sides declare, and from what was given.
oxp_status oxp__verify_plan(oxp__verify *verify, oxp_error *error);

// verify_reach.c: chooses the scale of random input, and says so in the report.
oxp_status oxp__verify_reach(oxp__verify *verify, oxp_error *error);

// Makes the inputs of a run: random, or the given samples. `arrays` holds input_count arrays; free them with
// oxp__verify_free.
oxp_status oxp__verify_inputs(const oxp__verify *verify, const oxp__verify_run *run, oxp_array *arrays,
                              oxp_error *error);

// Sample number `first` and the ones after it, starting over after the last; as many as `to` has room for.
void oxp__verify_take_samples(const oxp_array *given, int64_t first, oxp_array *to);

// Runs a session on such inputs, converted to the types that it takes. *outputs is a new list of
// oxp_session_output_count(session) arrays.
oxp_status oxp__verify_run_session(const oxp__verify *verify, oxp_session *session, const oxp_array *inputs,
                                   oxp_array **outputs, oxp_error *error);

// The array of a value: one of the run's inputs, or of the layers' values.
const oxp_array *oxp__verify_array(const oxp__verify *verify, oxp_value value, const oxp_array *inputs,
                                   const oxp_array *layers);
// An array's shape over values in double, for a kind's own kernel.
oxp__f64 oxp__verify_view(const oxp_array *array, double *at);

// Frees the arrays of a list and zeroes them; then, with `list_too`, the list.
void oxp__verify_free(oxp_array *arrays, int count, bool list_too);

// A difference in words: the largest one of finite values, and in how many places NaN or infinity is what differs.
enum { OXP__VERIFY_WORDS = 96 };
const char *oxp__verify_words(double largest, int64_t not_finite, char buffer[OXP__VERIFY_WORDS]);

// Adds a sentence to the report, once.
void oxp__verify_note(oxp_verify_report *report, const char *format, ...) OXP__PRINTF(2, 3);

// What is done with what both sides made of one value in a run.
typedef oxp_status (*oxp__verify_look)(const oxp__verify *verify, oxp__verify_value *value, size_t run,
                                       const oxp_array *expected, const oxp_array *actual, oxp_error *error);

// verify.c: does a run again.
oxp_status oxp__verify_run_again(oxp__verify *verify, size_t run, oxp__verify_look look, oxp_error *error);

// "(2, 3) instead of (2, 4)", in the report's arena; NULL where the two can be compared.
const char *oxp__verify_shape_problem(const oxp__verify *verify, const oxp_array *expected, const oxp_array *actual);

// verify_expected.c: compares both sides with options->expected, after everything else; the verdict with that.
oxp_status oxp__verify_expected(oxp__verify *verify, oxp_status verdict, oxp_error *error);

// verify_limits.c: looks at a value of one run; both arrays are of one shape.
oxp_status oxp__verify_observe(const oxp__verify *verify, oxp__verify_value *value, size_t run,
                               const oxp_array *expected, const oxp_array *actual, oxp_error *error);

// After all runs: sets the limits of every value, measures rounding noise where a tightened limit is exceeded, and says what
// was tightened.
oxp_status oxp__verify_limit(oxp__verify *verify, oxp_error *error);

// Is a value outside its limits? In the run *run farthest.
bool oxp__verify_exceeds(const oxp__verify_value *value, size_t *run);

// Is a value, one of the layers, outside its limits by more than the rounding of float32 explains? Also when it cannot be compared.
bool oxp__verify_beyond_noise(const oxp__verify_value *value);

// How many channels of a value would have matched a constant, so that comparing them shows nothing. All of them: the value does not
// move. 0 where a single number was seen of each channel, from which nothing follows.
int64_t oxp__verify_still_channels(const oxp__verify *verify, const oxp__verify_value *value);

// verify_exercise.c: among the layers with weights that were compared layer by layer and whose values do not move, finds the first
// one with an array whose zeros would have matched as well, or that was not compared. *layer NULL: there is none.
oxp_status oxp__verify_find_unexercised(oxp__verify *verify, const oxp__layer **layer, const char **role,
                                        oxp_error *error);

// verify_departure.c: for a model that was given and compared with layers, moves the report's departure to the first layer that
// departs from a fresh export on the same engine; leaves it where that cannot be found out.
oxp_status oxp__verify_find_departure(oxp__verify *verify, oxp_error *error);

// verify_power.c: measures which errors in weights would have been noticed (options.power), for the rows of the layers and a note;
// without that option it only says of which layers zeros would not have been, and leaves large networks alone.
oxp_status oxp__verify_power(oxp__verify *verify, oxp_error *error);

// verify_find.c: writes the finding: who is wrong. Runs more sessions; what cannot be found out is left out, so it only
// fails for lack of memory.
oxp_status oxp__verify_find(oxp__verify *verify, oxp_error *error);

#endif
