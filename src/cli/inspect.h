// inspect.h: the parts of `onnxport inspect`: a network, an ONNX model, and the picture of either. Place: cli.
#ifndef OXP_CLI_INSPECT_H
#define OXP_CLI_INSPECT_H

#include "cli/subject.h"

// Add what a person wants to read, or members of the open JSON object.
void oxp__inspect_network_text(oxp__text *text, const oxp_network *network);
void oxp__inspect_network_json(oxp__json *json, const oxp_network *network);
void oxp__inspect_onnx_text(oxp__text *text, const oxp_graph *graph);
void oxp__inspect_onnx_json(oxp__json *json, const oxp_graph *graph);

// Adds `label="KIND\nNAME"` in the DOT language; either may be "". Both are made safe to show.
void oxp__dot_add_label(oxp__text *text, const char *kind, const char *name);

// Add the graph in the DOT language.
oxp_status oxp__inspect_network_dot(oxp__text *text, const oxp_network *network, oxp_error *error);
oxp_status oxp__inspect_onnx_dot(oxp__text *text, const oxp_graph *graph, oxp_error *error);

// Draws a DOT text into a file (.svg, .png, .pdf) with the program dot; .dot and .gv get the text itself.
// OXP_NOT_AVAILABLE when the program is not installed.
oxp_status oxp__dot_draw(const oxp__text *dot, const char *path, oxp_error *error);

#endif
