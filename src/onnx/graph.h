// graph.h: an ONNX model as plain data: one struct per message of onnx.proto3 that is in use, members in the order of
// the field numbers. Knows nothing of layers. Strings and arrays live in the graph's arena. Place: onnx (after core).
#ifndef OXP_ONNX_GRAPH_H
#define OXP_ONNX_GRAPH_H

#include "core/arena.h"
#include "core/file.h"
#include "core/tensor.h"

// Repeated fields: pointer and count. Strings are zero-terminated; NULL means "field absent".
typedef struct oxp__strings {
  const char **at;
  size_t count;
} oxp__strings;
typedef struct oxp__ints {
  int64_t *at;
  size_t count;
} oxp__ints;
typedef struct oxp__floats {
  float *at;
  size_t count;
} oxp__floats;

// Fields that are not in the schema table, kept as the raw bytes they came as (tag included), in file order.
typedef struct oxp__unknown {
  const unsigned char *at;
  size_t count;
} oxp__unknown;

typedef struct oxp__pair {
  const char *key, *value;
  oxp__unknown unknown;
} oxp__pair; // StringStringEntryProto
typedef struct oxp__pairs {
  oxp__pair *at;
  size_t count;
} oxp__pairs;

typedef struct oxp__dim { // TensorShapeProto.Dimension
  bool has_value;
  int64_t value;
  const char *param; // NULL: absent. Neither: unknown
  const char *denotation;
  oxp__unknown unknown;
} oxp__dim;

typedef struct oxp__value_info { // ValueInfoProto with a tensor type
  const char *name;
  int32_t dtype; // oxp_dtype; 0: no tensor type (sequence, map: kept in `type_unknown`)
  bool has_shape;
  oxp__dim *dims;
  size_t rank;
  const char *doc_string;
  oxp__pairs metadata;
  oxp__unknown unknown, type_unknown;
} oxp__value_info;
typedef struct oxp__value_infos {
  oxp__value_info *at;
  size_t count;
} oxp__value_infos;

// TensorProto. The payload is a tensor description; `storage` says in which field of the file the bytes lie.
typedef enum oxp__storage {
  OXP__STORAGE_RAW = 0, // raw_data (what we write)
  OXP__STORAGE_TYPED,   // float_data, int32_data, int64_data, double_data, uint64_data: raw field bytes are kept
  OXP__STORAGE_STRINGS,
  OXP__STORAGE_EXTERNAL
} oxp__storage;

typedef struct oxp__tensor_proto {
  const char *name;
  oxp_tensor tensor; // dtype, shape and bytes; valid for OXP__STORAGE_RAW (and EXTERNAL once resolved)
  oxp_dtype as;      // element type to write (OXP_DTYPE_NONE: as stored); the file's data_type
  oxp__storage storage;
  oxp__ints dims;      // as the file says (rank may exceed OXP_MAX_RANK)
  oxp__unknown typed;  // OXP__STORAGE_TYPED and STRINGS: the fields as they came
  oxp__pairs external; // OXP__STORAGE_EXTERNAL: location, offset, length
  const char *doc_string;
  oxp__unknown unknown;
} oxp__tensor_proto;
typedef struct oxp__tensor_protos {
  oxp__tensor_proto *at;
  size_t count;
} oxp__tensor_protos;

struct oxp__graph_proto;

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
  OXP__ATTR_STRINGS = 8
} oxp__attribute_type;

typedef struct oxp__attribute {
  const char *name;
  oxp__attribute_type type;
  float f;
  int64_t i;
  const char *s; // zero-terminated copy; s_count bytes
  size_t s_count;
  oxp__tensor_proto *t;
  struct oxp__graph_proto *g;
  oxp__floats floats;
  oxp__ints ints;
  oxp__strings strings;
  const char *doc_string;
  const char *ref_attr_name;
  oxp__unknown unknown; // tensors, graphs and newer fields
} oxp__attribute;
typedef struct oxp__attributes {
  oxp__attribute *at;
  size_t count;
} oxp__attributes;

typedef struct oxp__node {
  oxp__strings inputs, outputs; // "" is an absent optional input
  const char *name, *op_type;
  oxp__attributes attributes;
  const char *doc_string, *domain;
  oxp__pairs metadata;
  oxp__unknown unknown;
} oxp__node;
typedef struct oxp__nodes {
  oxp__node *at;
  size_t count, capacity;
} oxp__nodes;

typedef struct oxp__graph_proto {
  oxp__nodes nodes;
  const char *name;
  oxp__tensor_proto *initializers;
  size_t initializer_count, initializer_capacity;
  const char *doc_string;
  oxp__value_infos inputs, outputs, value_infos;
  oxp__pairs metadata;
  oxp__unknown unknown;
} oxp__graph_proto;

typedef struct oxp__opset {
  const char *domain;
  int64_t version;
  oxp__unknown unknown;
} oxp__opset;
typedef struct oxp__opsets {
  oxp__opset *at;
  size_t count;
} oxp__opsets;

typedef struct oxp__model { // ModelProto
  int64_t ir_version;
  const char *producer_name, *producer_version, *domain;
  bool has_model_version;
  int64_t model_version;
  const char *doc_string;
  oxp__graph_proto *graph;
  oxp__opsets opsets;
  oxp__pairs metadata;
  oxp__unknown unknown;
} oxp__model;

// The public handle: a model, its arena, and what was noticed on the way.
struct oxp_graph {
  oxp__arena arena;
  oxp__model model;
  oxp__file *file; // the file it was read from; NULL when it was lowered
  oxp__strings warnings;
  size_t warning_capacity;
  int64_t (*shapes)[OXP_MAX_RANK]; // cache behind oxp_graph_input_info and _output_info: inputs, then outputs
};

// An empty graph in its own arena; NULL when memory is out.
oxp_graph *oxp__graph_new(void);

// Adds a warning sentence; silently dropped only when memory is out.
void oxp__graph_warn(oxp_graph *graph, const char *format, ...) OXP__PRINTF(2, 3);

// wire.c: sizes, writing and reading, all driven by the schema table (schema.h).
// The exact number of bytes that oxp__model_write will write; false when a message would exceed 2 GiB - 1.
bool oxp__model_size(const oxp_graph *graph, uint64_t *bytes);
// Streams the model. Updates nothing but the warnings (values that are not finite, conversions that round).
oxp_status oxp__model_write(oxp_graph *graph, oxp__sink sink, oxp_error *error);
// Reads a model out of `file` without its payloads: tensors refer to the file. Nothing is trusted.
oxp_status oxp__model_read(oxp_graph *graph, oxp__file *file, oxp_error *error);

// check.c: see oxp_graph_check. Findings are collected, all in one message.
oxp_status oxp__model_check(const oxp_graph *graph, oxp_error *error);

// operators.c: what an operator of the default domain is called and how it looked at an opset.
// The lowest IR version that may carry an opset (ONNX's release table); 0 for an unknown opset.
int oxp__ir_version_for_opset(int opset);

#endif
