// build.h: adding nodes, attributes and initializers to a graph while lowering, and the helpers that hide what differs
// between opsets. The graph's arena owns everything; names are copied. A builder that failed stays failed (`status`),
// returns NULL or nothing, and is checked once. Place: onnx (after core).
#ifndef OXP_ONNX_BUILD_H
#define OXP_ONNX_BUILD_H

#include "onnx/graph.h"

typedef struct oxp__builder {
  oxp_graph *graph;
  int opset;
  oxp_dtype dtype; // element type of the graph's floating-point values
  oxp_status status;
  oxp_error *error; // borrowed; may be NULL
} oxp__builder;

// Adds a node and returns it (NULL after failure). `inputs` and `outputs` end with NULL; "" is an absent input.
oxp__node *oxp__build_node(oxp__builder *builder, const char *op_type, const char *name, const char *const *inputs,
                           const char *const *outputs);

// Attributes, appended in the order of the calls. Doubles are rounded to float32: ONNX has no other.
void oxp__build_int(oxp__builder *builder, oxp__node *node, const char *name, int64_t value);
void oxp__build_ints(oxp__builder *builder, oxp__node *node, const char *name, int count, const int64_t *values);
void oxp__build_float(oxp__builder *builder, oxp__node *node, const char *name, double value);
void oxp__build_string(oxp__builder *builder, oxp__node *node, const char *name, const char *value);

// Adds an initializer that *borrows* what the tensor refers to; `as` converts while writing (OXP_DTYPE_NONE: not).
void oxp__build_initializer(oxp__builder *builder, const char *name, const oxp_tensor *tensor, oxp_dtype as);

// Adds an initializer with values copied into the graph. Rank 0 when count is 0 dims (scalar): shape may be NULL.
void oxp__build_constant_f64(oxp__builder *builder, const char *name, oxp_dtype dtype, int rank, const int64_t *shape,
                             const double *values);
void oxp__build_constant_i64(oxp__builder *builder, const char *name, int rank, const int64_t *shape,
                             const int64_t *values);

// The opset import of a domain ("" is the default domain), and an entry of the model's metadata.
void oxp__build_opset(oxp__builder *builder, const char *domain, int64_t version);
void oxp__build_metadata(oxp__builder *builder, const char *key, const char *value);

// A graph input or output; symbolic dimensions by name (OXP_DIM_UNKNOWN: neither value nor name).
// OXP_DIM_BATCH is called `batch_symbol`, which becomes the graph's name for it.
void oxp__build_value_info(oxp__builder *builder, oxp__value_infos *list, const char *name, oxp_dtype dtype, int rank,
                           const int64_t *shape, const char *batch_symbol);

#endif
