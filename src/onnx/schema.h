// schema.h: the messages of the ONNX format as one table: what each field is called, how it lies on the wire and where it
// lies in graph.h's structs. Reader and writer know nothing else about the format. Place: onnx.
#ifndef OXP_ONNX_SCHEMA_H
#define OXP_ONNX_SCHEMA_H

#include "onnx/graph.h"

typedef enum oxp__field_type {
  OXP__FIELD_INT32,   // int32_t; enums too
  OXP__FIELD_INT64,   // int64_t
  OXP__FIELD_FLOAT,   // float
  OXP__FIELD_STRING,  // const char *
  OXP__FIELD_BYTES,   // oxp__bytes
  OXP__FIELD_MESSAGE, // pointer to the struct of `message`
  OXP__FIELD_PAYLOAD  // raw_data: oxp__span, or the tensor of the message
} oxp__field_type;

typedef struct oxp__schema oxp__schema;

typedef struct oxp__field {
  uint32_t number;
  const char *name;
  oxp__field_type type;
  bool repeated; // an OXP__REPEATED list of the above; numbers are written one by one, and read also when packed
  size_t offset; // in the message's struct
  const oxp__schema *message;
} oxp__field;

struct oxp__schema {
  const char *name;
  size_t bytes; // of the struct
  const oxp__field *fields;
  int field_count;
  uint32_t exclusive; // numbers (as bits) of a oneof, all of them in the table: setting one clears the others
  // Fills the members that are not fields, once the message was read; may be NULL.
  oxp_status (*finish)(oxp_graph *graph, void *message, oxp_error *error);
};

extern const oxp__schema oxp__schema_model;

// The row of a field; NULL when the table does not hold it.
const oxp__field *oxp__schema_field(const oxp__schema *schema, uint32_t number);

// Wire types of the encoding.
enum { OXP__WIRE_VARINT = 0, OXP__WIRE_FIXED64 = 1, OXP__WIRE_LENGTH = 2, OXP__WIRE_FIXED32 = 5 };

// The wire type in which a field's single values are written.
int oxp__field_wire_type(const oxp__field *field);

// The bytes that a single value takes in its message's struct, or in a list.
size_t oxp__field_bytes(const oxp__field *field);

// The most bytes that a message may have, and the deepest nesting of messages.
enum { OXP__MAX_MESSAGE_BYTES = INT32_MAX, OXP__MAX_MESSAGE_DEPTH = 100 };

// typed.c: the fields that hold a tensor's values one by one; the table does not, so that they stay where they are.
typedef struct oxp__typed_field {
  uint32_t number;
  int wire_type;
  const char *name;
} oxp__typed_field;

// The row of a field number, and of the field that an element type's values go to; NULL: none.
const oxp__typed_field *oxp__typed_find(uint32_t number);
const oxp__typed_field *oxp__typed_find_for(int32_t dtype);
// How many numbers or texts the dims ask for there; false when there is no such number.
bool oxp__typed_wanted(const oxp__tensor_proto *proto, uint64_t *count);
// How many there are. OXP_BAD_FILE when they are damaged; else what reading gives.
oxp_status oxp__typed_count(const oxp_graph *graph, const oxp__tensor_proto *proto, const oxp__typed_field *field,
                            uint64_t *count, oxp_error *error);
// Makes the tensor of a small vector or scalar whose elements are there; does nothing for other tensors.
oxp_status oxp__tensor_read_typed(oxp_graph *graph, oxp__tensor_proto *proto, oxp_error *error);

#endif
