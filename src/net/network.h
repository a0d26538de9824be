// network.h: what a network is inside. Read-only after oxp_network_finish. Place: net (after onnx and layers).
#ifndef OXP_NET_NETWORK_H
#define OXP_NET_NETWORK_H

#include "core/arena.h"
#include "core/sources.h"
#include "layers/kind.h"

typedef struct oxp__value {
  const char *name; // of inputs and outputs; NULL inside
  int layer;        // the layer that computes it; -1 for an input
  oxp__shape shape; // declared (inputs) or inferred
} oxp__value;

struct oxp_network {
  oxp__arena arena;
  oxp__arena reading; // what a reader needs no longer than it reads
  const char *format; // dialect it came from
  const char *path;   // file it came from; NULL when built by hand
  oxp_dtype dtype;    // element type of all values

  oxp__layer **layers; // in topological order: builder functions only accept values that exist
  size_t layer_count, layer_capacity;
  oxp__value *values;
  size_t value_count, value_capacity;
  oxp_value *inputs;
  size_t input_count, input_capacity;
  oxp_value *outputs;
  const char **output_names; // NULL: default name
  size_t output_count, output_capacity;
  const char
      *missing_shape; // a reader's sentence: why the input's shape is not known, and what to give; NULL: it is known
  const char **warnings;
  size_t warning_count, warning_capacity;

  bool training;
  bool finished;
  oxp_status status; // first mistake of the builder functions
  oxp_error mistake;
};

// The files that a network was read from, and those that its weights are in.
void oxp__network_add_sources(const oxp_network *network, oxp__sources *sources);

void oxp__network_warn(oxp_network *network, const char *format, ...) OXP__PRINTF(2, 3);

// `layer 3 "conv1" (Conv2d)`, in a buffer of the caller's; returns it.
const char *oxp__layer_label(const oxp__layer *layer, char *buffer, size_t size);

// The layer that computes `value`; NULL (and a remembered mistake) when there is none or the network is finished.
oxp__layer *oxp__network_layer(oxp_network *network, oxp_value value, const char *what);

// Adds a layer as `dialect` (NULL: ours) describes it: parameters at the dialect's defaults. Like the public function, it
// remembers mistakes and returns a negative value after one. *Copies* the texts.
oxp_value oxp__network_add(oxp_network *network, const oxp__kind *kind, const char *dialect, const char *source_kind,
                           const char *name, int input_count, const oxp_value *inputs);

// For whatever needs shapes. OXP_BAD_ARGUMENT unless the network is finished, OXP_BAD_NETWORK when its input's shape is missing.
oxp_status oxp__network_check_ready(const oxp_network *network, oxp_error *error);

// Gives a layer the weight of that role as a dialect stores it; the kind's row says in which order its axes lie there. Copies
// the description, borrows the bytes.
oxp_status oxp__layer_bind(oxp_network *network, oxp__layer *layer, int role, const char *dialect,
                           const oxp_tensor *stored, oxp_error *error);

// Fails unless every layer has all parameters that it needs, in their ranges: shapes and weights' shapes follow from them, so a
// reader's network is looked at before either is asked for, and every network when it is finished. OXP_BAD_ARGUMENT for one built
// by hand, OXP_BAD_FILE for a reader's.
oxp_status oxp__network_check_params(const oxp_network *network, oxp_error *error);

// shape.c: infers the shape of every value from the given input shapes (one per network input) into `shapes`
// (value_count of them). Stops at the first layer that does not fit, OXP_BAD_NETWORK with its label.
oxp_status oxp__infer_shapes(const oxp_network *network, const oxp__shape *input_shapes, oxp__shape *shapes,
                             oxp_error *error);

// doubt.c: hands `say` one sentence, with the layer's label, for each layer that is wrong whatever goes in.
oxp_status oxp__network_doubt(const oxp_network *network, void (*say)(void *context, const char *sentence),
                              void *context, oxp_error *error);

// range.c: OXP_UNSUPPORTED when weights that are stored as float64 would be infinite in the network's own element type, with every such
// layer. To be asked before weights are used in that type, unless somebody asked for the type by name.
oxp_status oxp__network_check_range(const oxp_network *network, oxp_error *error);

// Replaces the declared shape of an input before finishing (readers that find a size out).
void oxp__network_set_input_shape(oxp_network *network, int index, const oxp__shape *shape);

#endif
