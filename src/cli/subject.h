// subject.h: the file that a verb works on, a network of any dialect or an ONNX model, and describing what goes in and comes
// out of it. Place: cli.
#ifndef OXP_CLI_SUBJECT_H
#define OXP_CLI_SUBJECT_H

#include "cli/json.h"
#include "cli/print.h"
#include "cli/request.h"
#include "formats/format.h"

// One of the two is set.
typedef struct oxp__subject {
  oxp_network *network;
  oxp_graph *graph;
} oxp__subject;

// Opens SRC, the first operand, as what its content says it is.
oxp_status oxp__subject_open(oxp__subject *subject, const oxp__arguments *arguments, oxp_error *error);
// The same for verbs that want a network: an ONNX file is OXP_BAD_ARGUMENT, with `hint`.
oxp_status oxp__subject_open_network(oxp_network **network, const oxp__arguments *arguments, const char *hint,
                                     oxp_error *error);
// The files that the subject was read from: nothing that the verb writes may take their place.
void oxp__subject_add_sources(const oxp__subject *subject, oxp__sources *sources);
void oxp__subject_close(oxp__subject *subject);

// A protobuf message of an ONNX model starts with its IR version; no other format here starts with that byte. A file with
// another start is one when it is called .onnx, so that a damaged model is reported as one.
bool oxp__path_is_onnx(const char *path);

// What input (output) number `index` is; false when there is no such number.
bool oxp__subject_value(const oxp__subject *subject, bool output, int index, oxp_value_info *info);

// Shapes as people and JSON want them; symbolic dimensions by name. Rank -1: nothing is declared.
void oxp__subject_add_shape(oxp__text *text, const oxp__subject *subject, int rank, const int64_t *shape);
void oxp__subject_json_shape(oxp__json *json, const oxp__subject *subject, int rank, const int64_t *shape);

// "inputs": [...], "outputs": [...]; and the same as rows of a table with the columns "llll".
void oxp__subject_json(oxp__json *json, const oxp__subject *subject);
void oxp__subject_grid(oxp__grid *grid, const oxp__subject *subject);
// The rows as a table of their own, with headings and a blank line behind it.
void oxp__subject_text(oxp__text *text, const oxp__subject *subject);

// Everything that was noticed about a network and its graph (either may be NULL): to standard error, or "warnings": [...].
void oxp__warnings_print(const oxp_network *network, const oxp_graph *graph);
void oxp__warnings_json(oxp__json *json, const oxp_network *network, const oxp_graph *graph);

#endif
