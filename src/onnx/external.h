// external.h: weights in a data file beside the model. Place: onnx.
#ifndef OXP_ONNX_EXTERNAL_H
#define OXP_ONNX_EXTERNAL_H

#include "onnx/graph.h"
#include "onnx/target.h"

// Arrays below this size stay in the model; those above begin at multiples of the alignment, so that they can be mapped.
enum { OXP__EXTERNAL_LEAST_BYTES = 1024, OXP__EXTERNAL_ALIGNMENT = 4096 };

// The bytes that the data file will have.
uint64_t oxp__external_bytes(const oxp_graph *graph);

// Writes the data of all large initializers to `data` (open, not committed), gives it the name that its content has, and makes
// *view: the same graph with references in the place of these arrays. The view lives in `arena` and borrows from the graph.
oxp_status oxp__external_write(const oxp_graph *graph, oxp__target *data, const char *model_name, oxp__arena *arena,
                               oxp_graph *view, oxp_error *error);

// The data file's name, once oxp__external_write has chosen it.
const char *oxp__external_name(const oxp__target *data);

// Removes the data files of earlier models of that path, all but `keep` (NULL: all).
void oxp__external_clean(const char *model_path, const char *keep);

#endif
