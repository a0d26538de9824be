// inspect.h: the parts of `onnxport inspect`: a network, an ONNX model, and the picture of either. Place: cli.
#ifndef OXP_CLI_INSPECT_H
#define OXP_CLI_INSPECT_H

#include "cli/subject.h"
#include "onnx/graph.h"

// Add what a person wants to read, or members of the open JSON object.
void oxp__inspect_network_text(oxp__text *text, const oxp_network *network);
void oxp__inspect_network_json(oxp__json *json, const oxp_network *network);
void oxp__inspect_onnx_text(oxp__text *text, const oxp_graph *graph);
void oxp__inspect_onnx_json(oxp__json *json, const oxp_graph *graph);

// inspect_arrays.c: the arrays of a model, wherever in it they are: as a table, as "initializers": [...], how many there
// are, and all their stored elements together.
void oxp__inspect_arrays_text(oxp__text *text, const oxp_graph *graph);
void oxp__inspect_arrays_json(oxp__json *json, const oxp_graph *graph);
void oxp__inspect_arrays_summary(oxp__text *text, const oxp_graph *graph);
int64_t oxp__inspect_parameters(const oxp_graph *graph);

// Calls `visit` for each graph in the attributes of node number `index`, with the way to it: `NODE.ATTRIBUTE`, cut to a
// length that many can have.
typedef void (*oxp__inspect_visit)(void *context, const char *path, const oxp__graph_proto *graph);
void oxp__inspect_inner_graphs(const oxp__node *node, size_t index, oxp__inspect_visit visit, void *context);
enum { OXP__INSPECT_PATH = 40 }; // places that each part of it takes

// Adds `label="KIND\nNAME"` in the DOT language; either may be "". Both are made safe to show.
void oxp__dot_add_label(oxp__text *text, const char *kind, const char *name);

// Add the graph in the DOT language.
oxp_status oxp__inspect_network_dot(oxp__text *text, const oxp_network *network, oxp_error *error);
oxp_status oxp__inspect_onnx_dot(oxp__text *text, const oxp_graph *graph, oxp_error *error);

// Draws a DOT text into a file (.svg, .png, .pdf) with the program dot; .dot and .gv get the text itself.
// OXP_NOT_AVAILABLE when the program is not installed.
oxp_status oxp__dot_draw(const oxp__text *dot, const char *path, const oxp__output_guard *guard, oxp_error *error);

#endif
