// typed.c: values that lie in int64_data and the like instead of raw_data. How many there are can be told of all of
// them; the few numbers that shapes, axes and scales consist of are read. Larger payloads are only carried along.
// Place: onnx.
#include <string.h>

#include "onnx/schema.h"

enum { TYPED_MAX_ELEMENTS = 16, TYPED_MAX_BYTES = 4 + 11 * TYPED_MAX_ELEMENTS, TYPED_WINDOW_BYTES = 4096 };

// --- Which field ---

static const oxp__typed_field typed_fields[] = {
  { 4, OXP__WIRE_FIXED32, "float_data" },   { 5, OXP__WIRE_VARINT, "int32_data" },
  { 6, OXP__WIRE_LENGTH, "string_data" },   { 7, OXP__WIRE_VARINT, "int64_data" },
  { 10, OXP__WIRE_FIXED64, "double_data" }, { 11, OXP__WIRE_VARINT, "uint64_data" }
};

const oxp__typed_field *oxp__typed_find(uint32_t number)
{
  for (size_t i = 0; i < OXP__COUNT(typed_fields); i++)
    if (typed_fields[i].number == number)
      return &typed_fields[i];
  return NULL;
}

const oxp__typed_field *oxp__typed_find_for(int32_t dtype)
{
  switch (dtype) {
  case OXP_FLOAT32:
  case OXP_COMPLEX64:
    return oxp__typed_find(4);
  case OXP_STRING:
    return oxp__typed_find(6);
  case OXP_INT64:
    return oxp__typed_find(7);
  case OXP_FLOAT64:
  case OXP_COMPLEX128:
    return oxp__typed_find(10);
  case OXP_UINT32:
  case OXP_UINT64:
    return oxp__typed_find(11);
  default:
    return oxp__dtype_bits((oxp_dtype)dtype) > 0 ? oxp__typed_find(5) : NULL;
  }
}

bool oxp__typed_wanted(const oxp__tensor_proto *proto, uint64_t *count)
{
  int64_t elements;
  size_t bits = oxp__dtype_bits((oxp_dtype)proto->data_type);
  if (!oxp__tensor_proto_count(proto, &elements))
    return false;
  bool complex = proto->data_type == OXP_COMPLEX64 || proto->data_type == OXP_COMPLEX128;
  size_t together = bits == 4 ? 2 : bits == 2 ? 4 : 1; // elements of 2 or 4 bits share a byte, those of 6 do not
  *count = complex ? 2 * (uint64_t)elements : ((uint64_t)elements + together - 1) / together;
  return true;
}

// --- What is in it ---

// The way through the bytes of a field, a part of them at a time.
typedef struct typed_walk {
  const oxp_graph *graph;
  const oxp__typed_field *field;
  uint64_t at, end; // what is to be read next, and where that ends
  unsigned char window[TYPED_WINDOW_BYTES];
  uint64_t window_start;
  size_t window_count;
  uint64_t count; // of the numbers behind us
  unsigned char
      *elements; // where they go, little-endian, `size` bytes each and `room` of them; NULL: they are only counted
  size_t size, room;
} typed_walk;

static oxp_status typed_cut_off(oxp_error *error)
{
  return oxp__fail(error, OXP_BAD_FILE, "a number is cut off");
}

static oxp_status typed_byte(typed_walk *walk, unsigned char *byte, oxp_error *error)
{
  if (walk->at >= walk->end)
    return typed_cut_off(error);
  if (walk->at - walk->window_start >= walk->window_count) {
    uint64_t left = walk->end - walk->at;
    size_t count = left < TYPED_WINDOW_BYTES ? (size_t)left : TYPED_WINDOW_BYTES;
    OXP__TRY(walk->graph->read(walk->graph->read_context, walk->at, walk->window, count, error));
    walk->window_start = walk->at;
    walk->window_count = count;
  }
  *byte = walk->window[walk->at++ - walk->window_start];
  return OXP_OK;
}

static oxp_status typed_number(typed_walk *walk, int wire_type, uint64_t *value, oxp_error *error)
{
  bool varint = wire_type == OXP__WIRE_VARINT, more = true;
  int bits = wire_type == OXP__WIRE_FIXED32 ? 32 : 64;
  *value = 0;
  for (int shift = 0; more; shift += varint ? 7 : 8) {
    unsigned char byte = 0;
    OXP__TRY(typed_byte(walk, &byte, error));
    *value |= shift < 64 ? (uint64_t)(varint ? byte & 0x7F : byte) << shift : 0;
    more = varint ? byte >= 0x80 : shift + 8 < bits;
  }
  return OXP_OK;
}

static oxp_status typed_take(typed_walk *walk, oxp_error *error)
{
  uint64_t value;
  OXP__TRY(typed_number(walk, walk->field->wire_type, &value, error));
  for (size_t b = 0; walk->elements && walk->count < walk->room && b < walk->size; b++)
    walk->elements[walk->count * walk->size + b] = (unsigned char)(value >> (8 * b));
  walk->count++;
  return OXP_OK;
}

// Numbers that lie one behind the other, or one text.
static oxp_status typed_packed(typed_walk *walk, uint64_t length, oxp_error *error)
{
  int wire_type = walk->field->wire_type;
  uint64_t end = walk->at + length, size = wire_type == OXP__WIRE_FIXED32 ? 4 : wire_type == OXP__WIRE_FIXED64 ? 8 : 0;
  bool unread = wire_type == OXP__WIRE_LENGTH || (size > 0 && !walk->elements);
  if (size > 0 && length % size != 0)
    return typed_cut_off(error);
  if (unread) {
    walk->count += size > 0 ? length / size : 1;
    walk->at = end;
  }
  while (walk->at < end)
    OXP__TRY(typed_take(walk, error));
  return walk->at == end ? OXP_OK : typed_cut_off(error);
}

// One or more fields with the same number, tags included.
static oxp_status typed_span(typed_walk *walk, const oxp__span *span, oxp_error *error)
{
  walk->at = span->offset;
  walk->end = span->offset + span->count;
  while (walk->at < walk->end) {
    uint64_t tag, length;
    OXP__TRY(typed_number(walk, OXP__WIRE_VARINT, &tag, error));
    if ((tag & 7) == OXP__WIRE_LENGTH) {
      OXP__TRY(typed_number(walk, OXP__WIRE_VARINT, &length, error));
      OXP__TRY(length > walk->end - walk->at ? typed_cut_off(error) : typed_packed(walk, length, error));
    } else if ((int)(tag & 7) == walk->field->wire_type) {
      OXP__TRY(typed_take(walk, error));
    } else {
      return oxp__fail(error, OXP_BAD_FILE, "a number is not encoded as the field says");
    }
  }
  return OXP_OK;
}

static oxp_status typed_spans(typed_walk *walk, const oxp__tensor_proto *proto, oxp_error *error)
{
  for (size_t i = 0; i < proto->base.unknown.count; i++)
    if (proto->base.unknown.at[i].number == walk->field->number)
      OXP__TRY(typed_span(walk, &proto->base.unknown.at[i].span, error));
  return OXP_OK;
}

oxp_status oxp__typed_count(const oxp_graph *graph, const oxp__tensor_proto *proto, const oxp__typed_field *field,
                            uint64_t *count, oxp_error *error)
{
  typed_walk walk = { .graph = graph, .field = field };
  oxp_status status = typed_spans(&walk, proto, error);
  *count = walk.count;
  return status;
}

// --- Small vectors ---

// The elements to be read; 0 where it is not worth it.
static size_t typed_small_count(const oxp__tensor_proto *proto)
{
  int64_t count = proto->dims.count == 1 ? proto->dims.at[0] : 1;
  bool complex = proto->data_type == OXP_COMPLEX64 || proto->data_type == OXP_COMPLEX128;
  bool plain = oxp_dtype_bytes((oxp_dtype)proto->data_type) > 0 && !complex;
  return plain && proto->dims.count <= 1 && count >= 1 && count <= TYPED_MAX_ELEMENTS ? (size_t)count : 0;
}

oxp_status oxp__tensor_read_typed(oxp_graph *graph, oxp__tensor_proto *proto, oxp_error *error)
{
  typed_walk walk = { .graph = graph,
                      .field = oxp__typed_find_for(proto->data_type),
                      .room = typed_small_count(proto) };
  if (proto->base.unknown.count == 0 || walk.room == 0 || (proto->base.has & 1u << OXP__TENSOR_RAW_DATA))
    return OXP_OK;
  for (size_t i = 0; i < proto->base.unknown.count; i++)
    if (proto->base.unknown.at[i].span.count > TYPED_MAX_BYTES)
      return OXP_OK;
  oxp_dtype dtype = (oxp_dtype)proto->data_type;
  walk.size = oxp_dtype_bytes(dtype);
  walk.elements = oxp__arena_new(&graph->arena, walk.room, walk.size);
  if (!walk.elements)
    return oxp__fail_memory(error, walk.room * walk.size);
  oxp_error why = { 0 };
  oxp_status status = typed_spans(&walk, proto, &why);
  if (status != OXP_OK && status != OXP_BAD_FILE) {
    if (error)
      *error = why;
    return status;
  }
  if (status != OXP_OK || walk.count != walk.room)
    return OXP_OK; // the checker says what is wrong
  if (oxp__is_big_endian_host())
    oxp__swap_bytes(walk.elements, walk.room, walk.size);
  proto->tensor = oxp_tensor_from_memory(dtype, (int)proto->dims.count, proto->dims.at, walk.elements);
  proto->has_tensor = true;
  return OXP_OK;
}
