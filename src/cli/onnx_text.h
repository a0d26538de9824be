// onnx_text.h: what ONNX models hold besides nodes (types, sizes, attributes), as text and JSON. Place: cli.
#ifndef OXP_CLI_ONNX_TEXT_H
#define OXP_CLI_ONNX_TEXT_H

#include "cli/json.h"
#include "onnx/graph.h"

// "" for a text that is not there.
const char *oxp__or_empty(const char *string);

// `float32`, `sequence(map(string, float32))`, `optional(sequence(int64))`, `sparse(float32)`; `unknown` when nothing is
// declared.
void oxp__onnx_add_type(oxp__text *text, const oxp__type *type);
// The declared sizes of the arrays that such a value consists of: `(batch, 3)`, `?` when there are none; and as JSON,
// null.
void oxp__onnx_add_type_shape(oxp__text *text, const oxp__type *type);
void oxp__onnx_json_type_shape(oxp__json *json, const oxp__type *type);

// `(3, 2)`
void oxp__onnx_add_dims(oxp__text *text, const oxp__ints *dims);
void oxp__onnx_json_dims(oxp__json *json, const char *key, const oxp__ints *dims);

// An attribute's value on one line; a graph as what it is, without its nodes.
void oxp__onnx_add_attribute(oxp__text *text, const oxp__attribute *attribute);

#endif
