// expose.h: a model that hands out values which it has inside. Place: onnx.
#ifndef OXP_ONNX_EXPOSE_H
#define OXP_ONNX_EXPOSE_H

#include "onnx/graph.h"

// Makes *view: the same model with `names` as further outputs, each once, behind its own; names of inputs and of outputs
// are not added again. They have no declared type: runtimes find it out. The view's layer_values are the names, in their order.
// It lives in `arena` and borrows from the graph, which does not change. OXP_BAD_ARGUMENT names the first value that the
// model does not have.
oxp_status oxp__graph_expose(const oxp_graph *graph, const char *const *names, size_t count, oxp__arena *arena,
                             oxp_graph *view, oxp_error *error);

#endif
