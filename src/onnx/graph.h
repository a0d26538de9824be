// graph.h: an ONNX model as plain data: one struct per message of the format that is in use, members in the order of the
// field numbers. Knows nothing of layers. Everything lives in the graph's arena, one allocation per message, so pointers to
// messages stay valid while lists grow. Place: onnx (after core).
#ifndef OXP_ONNX_GRAPH_H
#define OXP_ONNX_GRAPH_H

#include "core/arena.h"
#include "core/sources.h"
#include "core/tensor.h"
#include "core/text.h"

// Repeated fields. All lists have this layout; oxp__repeated_append relies on it.
#define OXP__REPEATED(type)                                                                                            \
  struct {                                                                                                             \
    type *at;                                                                                                          \
    size_t count, capacity;                                                                                            \
  }

typedef OXP__REPEATED(const char *) oxp__strings; // zero-terminated
typedef OXP__REPEATED(int64_t) oxp__ints;
typedef OXP__REPEATED(float) oxp__floats;

// A `bytes` field: zero-terminated for convenience, but zeros may be inside. `at` NULL: absent.
typedef struct oxp__bytes {
  const char *at;
  size_t count;
} oxp__bytes;
typedef OXP__REPEATED(oxp__bytes) oxp__bytes_list;

// Bytes that stay where they are: `count` of them, `offset` bytes into the source that the graph was read from.
typedef struct oxp__span {
  uint64_t offset, count;
} oxp__span;

// One or more neighbouring fields that the schema table does not hold, tags included. Written again as they came, before
// the first known field with a higher number.
typedef struct oxp__unknown {
  uint32_t number;
  oxp__span span;
} oxp__unknown;

// The head of every message. Strings, byte fields and messages are absent when their pointer is NULL; a number is written
// when it is not zero or when its bit, 1 << field number, is in `has` (proto2 writes what was set, zero or not).
typedef struct oxp__message {
  uint32_t has;
  OXP__REPEATED(oxp__unknown) unknown;
} oxp__message;

typedef struct oxp__pair { // StringStringEntryProto
  oxp__message base;
  const char *key, *value;
} oxp__pair;
typedef OXP__REPEATED(oxp__pair *) oxp__pairs;

enum { OXP__DIM_VALUE = 1, OXP__DIM_PARAM = 2 };
typedef struct oxp__dim { // TensorShapeProto.Dimension; neither value nor name: unknown
  oxp__message base;      // has OXP__DIM_VALUE: the value is given
  int64_t value;
  const char *param;
  const char *denotation;
} oxp__dim;

typedef struct oxp__tensor_shape { // TensorShapeProto
  oxp__message base;
  OXP__REPEATED(oxp__dim *) dims;
} oxp__tensor_shape;

typedef struct oxp__tensor_type { // TypeProto.Tensor
  oxp__message base;
  int32_t dtype;            // oxp_dtype, or a number that we do not know
  oxp__tensor_shape *shape; // NULL: rank unknown
} oxp__tensor_type;

typedef struct oxp__element_type { // TypeProto.Sequence, TypeProto.Optional
  oxp__message base;
  struct oxp__type *element;
} oxp__element_type;

typedef struct oxp__map_type { // TypeProto.Map
  oxp__message base;
  int32_t key; // oxp_dtype, or a number that we do not know
  struct oxp__type *value;
} oxp__map_type;

typedef struct oxp__opaque_type { // TypeProto.Opaque
  oxp__message base;
  const char *domain, *name;
} oxp__opaque_type;

typedef struct oxp__type { // TypeProto; at most one of them, but for denotation
  oxp__message base;
  oxp__tensor_type *tensor;
  oxp__element_type *sequence;
  oxp__map_type *map;
  const char *denotation;
  oxp__opaque_type *opaque;
  oxp__tensor_type *sparse_tensor;
  oxp__element_type *optional;
} oxp__type;

typedef struct oxp__value_info { // ValueInfoProto
  oxp__message base;
  const char *name;
  oxp__type *type;
  const char *doc_string;
  oxp__pairs metadata;
  // Not fields: the declared dimensions as numbers (see oxp__graph_dim) once oxp__value_info_finish was called; rank -1 and
  // NULL where no tensor shape is declared.
  int rank;
  int64_t *shape;
} oxp__value_info;
typedef OXP__REPEATED(oxp__value_info *) oxp__value_infos;

enum { OXP__TENSOR_RAW_DATA = 9, OXP__TENSOR_EXTERNAL = 1 };
typedef struct oxp__tensor_proto { // TensorProto; typed payloads (float_data ...) are kept as unknown fields
  oxp__message base;
  oxp__ints dims;
  int32_t data_type; // oxp_dtype, or a number that we do not know
  const char *name;
  oxp__span raw; // raw_data of a graph that was read, whether it fits the shape or not
  const char *doc_string;
  oxp__pairs external; // location, offset, length
  int32_t data_location;
  oxp__pairs metadata;
  // Not fields: the array that raw_data holds (or int64_data and the like, where they are few), and the element type to
  // write it as (OXP_DTYPE_NONE: as stored). `has_tensor` is false when the payload is elsewhere, of a type without whole bytes, or does not fit `dims`.
  bool has_tensor;
  oxp_tensor tensor;
  oxp_dtype as;
} oxp__tensor_proto;
typedef OXP__REPEATED(oxp__tensor_proto *) oxp__tensor_protos;

// AttributeProto.AttributeType
typedef enum oxp__attribute_type {
  OXP__ATTR_UNDEFINED = 0,
  OXP__ATTR_FLOAT = 1,
  OXP__ATTR_INT = 2,
  OXP__ATTR_STRING = 3,
  OXP__ATTR_TENSOR = 4,
  OXP__ATTR_GRAPH = 5,
  OXP__ATTR_FLOATS = 6,
  OXP__ATTR_INTS = 7,
  OXP__ATTR_STRINGS = 8,
  OXP__ATTR_TENSORS = 9,
  OXP__ATTR_GRAPHS = 10,
  OXP__ATTR_SPARSE_TENSOR = 11,
  OXP__ATTR_SPARSE_TENSORS = 12,
  OXP__ATTR_TYPE = 13,
  OXP__ATTR_TYPES = 14
} oxp__attribute_type;

struct oxp__graph_proto;

typedef struct oxp__sparse_tensor { // SparseTensorProto
  oxp__message base;
  oxp__tensor_proto *values, *indices; // the values' name is the tensor's
  oxp__ints dims;                      // of the tensor; those of `values` count what is not 0
} oxp__sparse_tensor;
typedef OXP__REPEATED(oxp__sparse_tensor *) oxp__sparse_tensors;

enum { OXP__ATTRIBUTE_F = 2, OXP__ATTRIBUTE_I = 3, OXP__ATTRIBUTE_TYPE = 20 };
typedef struct oxp__attribute { // AttributeProto
  oxp__message base;
  const char *name;
  float f;
  int64_t i;
  oxp__bytes s;
  oxp__tensor_proto *t;
  struct oxp__graph_proto *g;
  oxp__floats floats;
  oxp__ints ints;
  oxp__bytes_list strings;
  oxp__tensor_protos tensors;
  OXP__REPEATED(struct oxp__graph_proto *) graphs;
  const char *doc_string;
  oxp__type *type_proto;
  OXP__REPEATED(oxp__type *) type_protos;
  int32_t type; // oxp__attribute_type, or a number that we do not know
  const char *ref_attr_name;
  oxp__sparse_tensor *sparse;
  oxp__sparse_tensors sparse_list;
} oxp__attribute;
typedef OXP__REPEATED(oxp__attribute *) oxp__attributes;

typedef struct oxp__node { // NodeProto
  oxp__message base;
  oxp__strings inputs, outputs; // "" is an absent optional input
  const char *name, *op_type;
  oxp__attributes attributes;
  const char *doc_string, *domain, *overload;
  oxp__pairs metadata;
} oxp__node;
typedef OXP__REPEATED(oxp__node *) oxp__nodes;

typedef struct oxp__graph_proto { // GraphProto
  oxp__message base;
  oxp__nodes nodes;
  const char *name;
  oxp__tensor_protos initializers;
  const char *doc_string;
  oxp__value_infos inputs, outputs, value_infos;
  oxp__sparse_tensors sparse_initializers;
  oxp__pairs metadata;
} oxp__graph_proto;

// Of what is needed to train, only what can hold tensors is told apart; the rest is kept as unknown fields.
typedef struct oxp__training { // TrainingInfoProto
  oxp__message base;
  oxp__graph_proto *initialization, *algorithm;
} oxp__training;

typedef struct oxp__opset { // OperatorSetIdProto
  oxp__message base;
  const char *domain;
  int64_t version;
} oxp__opset;
typedef OXP__REPEATED(oxp__opset *) oxp__opsets;

typedef struct oxp__function { // FunctionProto
  oxp__message base;
  const char *name;
  oxp__strings inputs, outputs, attribute_names; // of attributes without a default
  oxp__nodes nodes;
  const char *doc_string;
  oxp__opsets opsets;
  const char *domain;
  oxp__attributes attributes; // with their defaults
  oxp__value_infos value_infos;
  const char *overload;
  oxp__pairs metadata;
} oxp__function;

typedef struct oxp__model { // ModelProto
  oxp__message base;
  int64_t ir_version;
  const char *producer_name, *producer_version, *domain;
  int64_t model_version;
  const char *doc_string;
  oxp__graph_proto *graph;
  oxp__opsets opsets;
  oxp__pairs metadata;
  OXP__REPEATED(oxp__training *) trainings;
  OXP__REPEATED(oxp__function *) functions;
} oxp__model;

// What was noticed while lowering and writing. Apart from the graph, because writing changes it and nothing else.
typedef struct oxp__notes {
  oxp__arena arena;
  oxp__strings warnings;
} oxp__notes;

// The public handle: a model and its arena.
struct oxp_graph {
  oxp__arena arena;
  oxp__model model; // model.graph is never NULL
  oxp__notes *notes;
  // Names of symbolic dimensions: number i is the dimension -1 - i. The first four are OXP_DIM_* (batch, height, width,
  // unknown); NULL: not used.
  oxp__strings symbols;
  // Graphs that were read: the inputs that must be given, when there are others. Before IR version 4 every initializer was an
  // input too.
  bool has_given;
  oxp__value_infos given;
  // Lowered graphs: holds the files that the network was read from; NULL else. Borrowed, as the network's tensors are.
  const oxp__arena *origin;
  // Where oxp__span and the tensors of a graph that was read get their bytes; NULL when it was lowered.
  oxp_read_function read;
  void *read_context;
  // Lowered graphs: the name of the value that carries what each layer computes, in layer order (layers without a node share
  // the name of their input). With oxp_lower_options.expose_layers every one that is no input is a graph output; the network's
  // own outputs come first, `exposed_count` more follow, each once. Empty when read from a file.
  oxp__strings layer_values;
  size_t exposed_count;
};

// An empty graph in its own arena; NULL when memory is out.
oxp_graph *oxp__graph_new(void);

// Appends a copy of one element of `size` bytes to an OXP__REPEATED list in `arena`; false when memory is out.
bool oxp__repeated_append(oxp__arena *arena, void *list, const void *element, size_t size);

// Adds a warning sentence, once; bounded, and silently dropped only when memory is out.
void oxp__graph_warn(const oxp_graph *graph, const char *format, ...) OXP__PRINTF(2, 3);

// Warns of what was seen while an array was written: values that are not finite, conversions that rounded.
void oxp__graph_warn_tensor(const oxp_graph *graph, const oxp__tensor_proto *proto, const oxp__tensor_stats *stats);

// The dimension that stands for a name: one of OXP_DIM_* or a lower number; OXP_DIM_UNKNOWN also when memory is out.
int64_t oxp__graph_symbol(oxp_graph *graph, const char *name);

// The path of the file that a graph was read from; NULL when it was made otherwise.
const char *oxp__graph_path(const oxp_graph *graph);

// The files that a graph gets its bytes from: those that it or its network was read from, and data files that it refers to.
void oxp__graph_add_sources(const oxp_graph *graph, oxp__sources *sources);

// oxp_graph_write, which leaves `others` alone too: files that the caller has read beside the model. NULL: none.
oxp_status oxp__graph_write(const oxp_graph *graph, const char *path, const oxp_write_options *options,
                            const oxp__sources *others, oxp_write_report *report, oxp_error *error);

// Fills rank and shape from the declared type: a value as it is, a name as its symbol, anything else OXP_DIM_UNKNOWN.
oxp_status oxp__value_info_finish(oxp_graph *graph, oxp__value_info *info, oxp_error *error);
// The declared element type; 0 when no tensor type is declared.
int32_t oxp__value_info_dtype(const oxp__value_info *info);
// What oxp_graph_input_info and oxp_graph_output_info describe; NULL when there is no such number.
const oxp__value_info *oxp__graph_value(const oxp_graph *graph, bool output, int index);

// The elements that an array's dims make; false when there is no such number.
bool oxp__tensor_proto_count(const oxp__tensor_proto *proto, int64_t *count);
// The bytes that they take in raw_data or another file; false when there is no such number, or the type has no fixed size.
bool oxp__tensor_proto_bytes(const oxp__tensor_proto *proto, uint64_t *bytes);

// wire_write.c, wire_read.c: sizes, writing and reading, all driven by the table in schema.h.
// What has to be known before a model can be written: its size, and the lengths of its messages in the order in which their walks
// begin. All-zero: nothing is known.
typedef struct oxp__measure {
  uint64_t bytes;
  uint64_t *lengths; // owned
  size_t count, capacity;
} oxp__measure;

// Finds it out. OXP_UNSUPPORTED when a message would exceed 2 GiB - 1.
oxp_status oxp__model_measure(const oxp_graph *graph, oxp__measure *measure, oxp_error *error);
void oxp__measure_fini(oxp__measure *measure);
// The exact number of bytes that oxp__model_write will write.
oxp_status oxp__model_size(const oxp_graph *graph, uint64_t *bytes, oxp_error *error);
// Streams the model. Adds warnings (values that are not finite, conversions that round) and changes nothing else. Measures the
// model itself unless `measure` is given (borrowed; of the same graph, which has not changed).
oxp_status oxp__model_write(const oxp_graph *graph, const oxp__measure *measure, oxp__sink sink, oxp_error *error);
// Reads a model of `size` bytes behind `read` into an empty graph, without its payloads: spans and tensors refer to
// `read` and `context`, which are *borrowed*. Nothing is trusted.
oxp_status oxp__model_read(oxp_graph *graph, oxp_read_function read, void *context, uint64_t size, oxp_error *error);

// walk.c: one of a model's tensors, wherever it is.
typedef struct oxp__tensor_place {
  const oxp__tensor_proto *tensor;
  const oxp__node *node; // whose attribute holds it; NULL: an initializer of a graph
  size_t index;          // of the node or the initializer in its graph or function
} oxp__tensor_place;
typedef void (*oxp__tensor_visit)(void *context, const oxp__tensor_place *place);

// Calls `visit` for every tensor of the model: initializers, values and indices of sparse ones, attributes, and the same in nested
// graphs, functions and training information.
void oxp__model_each_tensor(const oxp__model *model, oxp__tensor_visit visit, void *context);

// check.c: see oxp_graph_check. `notes` (may be NULL) gets a sentence on what was not looked at, or nothing.
oxp_status oxp__model_check(const oxp_graph *graph, oxp__text *notes, oxp_error *error);
// oxp_graph_check with notes.
oxp_status oxp__graph_check(const oxp_graph *graph, oxp__text *notes, oxp_error *error);

// operators.c: the lowest IR version that may carry an opset (ONNX's release table); 0 for an unknown opset.
int oxp__ir_version_for_opset(int opset);

#endif
