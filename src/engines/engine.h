// engine.h: the row of one engine, and what a session is inside. One folder below this one per engine, `<name>/<name>.c`
// defines `const oxp__engine oxp__engine_<name>`; the build lists the folders. Place: engines (after formats).
#ifndef OXP_ENGINES_ENGINE_H
#define OXP_ENGINES_ENGINE_H

#include "core/text.h"
#include "net/network.h"
#include "onnx/graph.h"

typedef struct oxp__engine oxp__engine;

typedef struct oxp__port { // an input or output of a session
  const char *name;
  oxp_dtype dtype;
  int rank;                    // -1: not declared
  int64_t shape[OXP_MAX_RANK]; // negative: open; equal symbols are equal numbers, but for OXP_DIM_UNKNOWN
} oxp__port;

// Where one array that a session hands out comes from: several layers may share an array, or hand on an input.
typedef struct oxp__route {
  const char *name;
  bool from_input;
  int index; // of the input, or of the engine's output
} oxp__route;

struct oxp_session {
  oxp__arena arena; // owned by the session; engine state lives in it
  const oxp__engine *engine;
  const char *device; // the part after ':' in the engine's name, else the first one; "" when the engine has none
  oxp_session_options options;
  void *state; // the engine's own
  oxp__port *inputs;
  int input_count;
  oxp__port *outputs; // what the engine makes
  int output_count;
  // What the session hands out when that is not simply what the engine makes: layers in their order, then the outputs.
  oxp__route *routes; // NULL: the engine's outputs as they are
  int route_count;
};

struct oxp__engine {
  const char *name;  // = folder name: `reference`, `ort`
  const char *title; // in sentences: "ONNX Runtime"
  const char *doc;
  const char *devices; // space-separated, the first is used when none is named; "" when the engine has no devices
  // Can it be used here? Adds what was found ("ONNX Runtime 1.32.0, PATH") to `found`; else OXP_NOT_AVAILABLE and why.
  oxp_status (*probe)(const oxp_session_options *options, oxp__text *found, oxp_error *error);
  // Prepare a session (engine, device, options and arena are set) and fill inputs, outputs and state. An engine has one of
  // the two or both; a network goes to an engine that only runs graphs as its lowered graph.
  oxp_status (*open_network)(oxp_session *session, const oxp_network *network, oxp_error *error);
  oxp_status (*open_graph)(oxp_session *session, const oxp_graph *graph, oxp_error *error);
  // Inputs were checked against the ports (dtype, rank, fixed dimensions, equal symbols). Makes every output array.
  oxp_status (*run)(oxp_session *session, const oxp_array *inputs, oxp_array *outputs, oxp_error *error);
};

extern const oxp__engine *const oxp__engines[];
extern const size_t oxp__engine_count;

// session.c: the engine called `name` (`ort:cpu`, or `ort` for its first device); *device is a copy in `arena` (NULL when
// memory is out). NULL and OXP_BAD_ARGUMENT, with a list of what there is, when there is none.
const oxp__engine *oxp__engine_find(oxp__arena *arena, const char *name, const char **device, oxp_error *error);

#endif
