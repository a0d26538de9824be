// typed.c: the few numbers that shapes, axes and scales consist of, where a file keeps them in int64_data and the like instead of
// raw_data. Larger payloads of that kind are only carried along. Place: onnx.
#include <string.h>

#include "onnx/schema.h"

enum { TYPED_MAX_ELEMENTS = 16, TYPED_MAX_BYTES = 4 + 10 * TYPED_MAX_ELEMENTS };

// Which field holds a type's elements, and how they lie there.
static const struct typed_row {
  oxp_dtype dtype;
  uint32_t number;
  int wire_type;
} typed_rows[] = { { OXP_FLOAT32, 4, OXP__WIRE_FIXED32 },
                   { OXP_INT32, 5, OXP__WIRE_VARINT },
                   { OXP_INT64, 7, OXP__WIRE_VARINT },
                   { OXP_FLOAT64, 10, OXP__WIRE_FIXED64 } };

static const struct typed_row *typed_find(int32_t dtype)
{
  for (size_t i = 0; i < sizeof typed_rows / sizeof *typed_rows; i++)
    if ((int32_t)typed_rows[i].dtype == dtype)
      return &typed_rows[i];
  return NULL;
}

// Takes one number off the front of `bytes`; false when they end before it does.
static bool typed_take(const unsigned char **bytes, const unsigned char *end, int wire_type, uint64_t *value)
{
  *value = 0;
  if (wire_type != OXP__WIRE_VARINT) {
    size_t count = wire_type == OXP__WIRE_FIXED32 ? 4 : 8;
    for (size_t i = 0; i < count && *bytes < end; i++)
      *value |= (uint64_t) * (*bytes)++ << (8 * i);
    return true; // a number that is cut off leaves too few elements
  }
  for (int shift = 0; *bytes < end && shift < 64; shift += 7) {
    unsigned char byte = *(*bytes)++;
    *value |= (uint64_t)(byte & 0x7F) << shift;
    if (byte < 0x80)
      return true;
  }
  return false;
}

// Decodes one packed field, tag included, into `count` little-endian elements of `size` bytes.
static bool typed_decode(const struct typed_row *row, const unsigned char *bytes, const unsigned char *end,
                         unsigned char *elements, size_t count, size_t size)
{
  uint64_t length, value;
  if (bytes == end || *bytes++ != (row->number << 3 | OXP__WIRE_LENGTH) ||
      !typed_take(&bytes, end, OXP__WIRE_VARINT, &length) || length != (uint64_t)(end - bytes))
    return false;
  if (row->wire_type != OXP__WIRE_VARINT && length != count * size)
    return false;
  for (size_t i = 0; i < count; i++) {
    if (bytes == end || !typed_take(&bytes, end, row->wire_type, &value))
      return false;
    for (size_t b = 0; b < size; b++)
      elements[i * size + b] = (unsigned char)(value >> (8 * b));
  }
  return bytes == end;
}

static const oxp__unknown *typed_field(const oxp__tensor_proto *proto, uint32_t number)
{
  for (size_t i = 0; i < proto->base.unknown.count; i++)
    if (proto->base.unknown.at[i].number == number)
      return &proto->base.unknown.at[i];
  return NULL;
}

oxp_status oxp__tensor_read_typed(oxp_graph *graph, oxp__tensor_proto *proto, oxp_error *error)
{
  const struct typed_row *row = typed_find(proto->data_type);
  const oxp__unknown *field = row ? typed_field(proto, row->number) : NULL;
  if (!field || (proto->base.has & 1u << OXP__TENSOR_RAW_DATA) || proto->dims.count > 1 ||
      field->span.count > TYPED_MAX_BYTES)
    return OXP_OK;
  int64_t count = proto->dims.count == 1 ? proto->dims.at[0] : 1;
  if (count < 1 || count > TYPED_MAX_ELEMENTS)
    return OXP_OK;
  unsigned char bytes[TYPED_MAX_BYTES];
  size_t size = oxp_dtype_bytes(row->dtype);
  OXP__TRY(graph->read(graph->read_context, field->span.offset, bytes, (size_t)field->span.count, error));
  unsigned char *elements = oxp__arena_new(&graph->arena, (size_t)count, size);
  if (!elements)
    return oxp__fail_memory(error, (size_t)count * size);
  if (!typed_decode(row, bytes, bytes + field->span.count, elements, (size_t)count, size))
    return OXP_OK;
  if (oxp__is_big_endian_host())
    oxp__swap_bytes(elements, (size_t)count, size);
  proto->tensor = oxp_tensor_from_memory(row->dtype, (int)proto->dims.count, proto->dims.at, elements);
  proto->has_tensor = true;
  return OXP_OK;
}
