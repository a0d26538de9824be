// check.h: what the parts of the checker share: check.c walks models, graphs and functions, check_array.c looks at single arrays,
// check_node.c at single nodes. Place: onnx.
#ifndef OXP_ONNX_CHECK_H
#define OXP_ONNX_CHECK_H

#include "core/text.h"
#include "onnx/operators.h"

// Findings are sentences, all in one message; after the first ones they are only counted.
typedef struct oxp__findings {
  oxp__text text;
  size_t count, shown;
  const char *where; // stands before each sentence; NULL: the main graph
  oxp_status status; // of reading what had to be looked at; `error` is the first failure
  oxp_error error;
} oxp__findings;

void oxp__finding(oxp__findings *findings, const char *format, ...) OXP__PRINTF(2, 3);

// OXP_BAD_FILE with `what` and all findings behind it, unless there are none. Frees their text.
oxp_status oxp__findings_end(oxp__findings *findings, const char *what, oxp_error *error);

// external_locate.c: data in other files that cannot or must not be read.
void oxp__external_find_faults(const oxp_graph *graph, oxp__findings *findings);

// check_array.c: an array, or a sparse one, that sentences call `where`.
void oxp__check_array(const oxp_graph *graph, oxp__findings *findings, const oxp__tensor_proto *proto,
                      const char *where);
void oxp__check_sparse(const oxp_graph *graph, oxp__findings *findings, const oxp__sparse_tensor *sparse,
                       const char *where);

// `node 3 "conv1" (Conv)`, in a buffer of the caller's; returns it.
const char *oxp__node_label(const oxp__node *node, size_t index, char *label, size_t size);
enum { OXP__NODE_LABEL = 200 };

// Attributes are sound by themselves: named, once, of one kind.
void oxp__check_attributes(oxp__findings *findings, const oxp__node *node, const char *label);

// A node of the default domain against its row: counts, kinds of attributes, element types; then its shape function. Outputs
// that are not known afterwards are left unknown.
void oxp__check_operator(oxp__findings *findings, const oxp__operator *row, oxp__inference *io, const char *label);

#endif
