// external.h: weights in a data file beside the model: written (external.c), and found again where a model says that they are
// (external_locate.c). Place: onnx.
#ifndef OXP_ONNX_EXTERNAL_H
#define OXP_ONNX_EXTERNAL_H

#include "onnx/graph.h"
#include "onnx/target.h"

// Arrays below this size stay in the model; those above begin at multiples of the alignment, so that they can be mapped.
enum { OXP__EXTERNAL_LEAST_BYTES = 1024, OXP__EXTERNAL_ALIGNMENT = 4096 };

// The bytes that the data file will have.
uint64_t oxp__external_bytes(const oxp_graph *graph);

// A data file that was written. Lives in an arena.
typedef struct oxp__external {
  uint64_t *offsets; // of each initializer
  uint64_t hash;     // of the content: it names the file
  const char *name;  // without a folder; NULL until oxp__external_view
} oxp__external;

// Writes the data of all large initializers to `data` (open, not committed).
oxp_status oxp__external_write(const oxp_graph *graph, oxp__target *data, oxp__arena *arena, oxp__external *external,
                               oxp_error *error);

// Gives the data file a name that no file with other content has (until the commit the folder must be locked), and makes *view: the
// same graph with references in the place of the large initializers. The view lives in `arena` and borrows from the graph.
oxp_status oxp__external_view(const oxp_graph *graph, oxp__target *data, const char *model_name, oxp__arena *arena,
                              oxp__external *external, oxp_graph *view, oxp_error *error);

// OXP_IO where a data file cannot have the name that a model of this path needs it to have (too long), which is known before its content.
oxp_status oxp__external_check_name(const char *model_path, oxp_error *error);

// Removes the data files of earlier models of that path, all but `keep` (NULL: all) and the sources.
void oxp__external_clean(const char *model_path, const char *keep, const oxp__sources *sources);

// Where the bytes of a tensor lie that are in another file.
typedef struct oxp__external_place {
  const char *location; // relative to the model's folder; borrowed from the tensor
  uint64_t offset, bytes;
} oxp__external_place;

// Finds it out for a tensor whose data_location is OXP__TENSOR_EXTERNAL. OXP_BAD_FILE, with a sentence that begins with "its" or "the", unless
// location, offset and length are sound, and a regular file that holds that range lies in the model's folder or a folder in it, also
// by where links lead. Opens nothing. Of a graph that was not read from a file only what it says is looked at.
oxp_status oxp__external_locate(const oxp_graph *graph, const oxp__tensor_proto *proto, oxp__external_place *place,
                                oxp_error *error);

// The same for every tensor of a model, in one message: has to be asked before its file is given to a runtime, which would open what
// it names.
oxp_status oxp__external_check(const oxp_graph *graph, oxp_error *error);

#endif
