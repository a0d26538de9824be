// check_array.c: whether the arrays of a model hold what they say: values once, in the right field, as many as the dims
// ask for. Reads values only to count them. Place: onnx.
#include <inttypes.h>

#include "onnx/check.h"
#include "onnx/schema.h"

// The fields that hold a tensor's values, as bits.
static uint32_t array_fields(const oxp__tensor_proto *proto)
{
  uint32_t fields = 0;
  for (size_t i = 0; i < proto->base.unknown.count; i++)
    if (oxp__typed_find(proto->base.unknown.at[i].number))
      fields |= 1u << proto->base.unknown.at[i].number;
  bool raw = (proto->base.has & 1u << OXP__TENSOR_RAW_DATA) || (proto->has_tensor && fields == 0);
  return fields | (uint32_t)raw << OXP__TENSOR_RAW_DATA;
}

// The name of the lowest one.
static const char *array_field_name(uint32_t fields)
{
  uint32_t number = (uint32_t)__builtin_ctz(fields);
  return number == OXP__TENSOR_RAW_DATA ? "raw_data" : oxp__typed_find(number)->name;
}

static void array_raw(oxp__findings *findings, const oxp__tensor_proto *proto, const char *where)
{
  uint64_t bytes;
  const char *dtype = oxp_dtype_name((oxp_dtype)proto->data_type);
  if (proto->data_type == OXP_STRING)
    oxp__finding(findings, "%s keeps texts in raw_data", where);
  else if (!proto->has_tensor && oxp__dtype_bits((oxp_dtype)proto->data_type) > 0 &&
           (!oxp__tensor_proto_bytes(proto, &bytes) || bytes != proto->raw.count))
    oxp__finding(findings, "%s holds %" PRIu64 " bytes, which do not fit its dims and its type %s", where,
                 proto->raw.count, dtype);
}

static void array_typed(const oxp_graph *graph, oxp__findings *findings, const oxp__tensor_proto *proto,
                        uint32_t fields, const char *where)
{
  const oxp__typed_field *field = oxp__typed_find((uint32_t)__builtin_ctz(fields));
  const oxp__typed_field *right = oxp__typed_find_for(proto->data_type);
  uint64_t count, wanted;
  oxp_error why = { 0 };
  if (!right)
    return; // of no element type, or of one that we do not know
  if (field != right) {
    oxp__finding(findings, "%s keeps its values in %s, but those of type %s belong in %s", where, field->name,
                 oxp_dtype_name((oxp_dtype)proto->data_type), right->name);
    return;
  }
  oxp_status status = oxp__typed_count(graph, proto, field, &count, &why);
  if (status == OXP_BAD_FILE) {
    oxp__finding(findings, "%s is damaged: %s in %s", where, why.message, field->name);
  } else if (status != OXP_OK && findings->status == OXP_OK) {
    findings->status = status;
    findings->error = why;
  } else if (!oxp__typed_wanted(proto, &wanted)) {
    oxp__finding(findings, "%s has dims that make no number of values", where);
  } else if (count != wanted) {
    oxp__finding(findings, "%s holds %" PRIu64 " values in %s, but its dims and its type %s need %" PRIu64, where,
                 count, field->name, oxp_dtype_name((oxp_dtype)proto->data_type), wanted);
  }
}

static bool array_dims(oxp__findings *findings, const oxp__ints *dims, const char *where)
{
  for (size_t i = 0; i < dims->count; i++)
    if (dims->at[i] < 0) {
      oxp__finding(findings, "%s has a dimension of %" PRId64, where, dims->at[i]);
      return false;
    }
  return true;
}

static bool array_has_segment(const oxp__tensor_proto *proto)
{
  enum { SEGMENT = 3 }; // a part of a tensor whose other parts are somewhere else
  for (size_t i = 0; i < proto->base.unknown.count; i++)
    if (proto->base.unknown.at[i].number == SEGMENT)
      return true;
  return false;
}

// Values are in raw_data, in another file, or in the field of their type.
void oxp__check_array(const oxp_graph *graph, oxp__findings *findings, const oxp__tensor_proto *proto,
                      const char *where)
{
  int64_t count = -1;
  uint32_t fields = array_fields(proto);
  if (!array_dims(findings, &proto->dims, where) || array_has_segment(proto))
    return;
  (void)oxp__tensor_proto_count(proto, &count);
  if (proto->data_type == OXP_DTYPE_NONE)
    oxp__finding(findings, "%s has no element type", where);
  if (proto->data_location == OXP__TENSOR_EXTERNAL) {
    if (fields)
      oxp__finding(findings, "%s holds its values, and says that they are in another file", where);
  } else if (!fields && count != 0)
    oxp__finding(findings, "%s has no values", where);
  else if (fields & (fields - 1))
    oxp__finding(findings, "%s holds its values twice, in %s and %s", where, array_field_name(fields),
                 array_field_name(fields & (fields - 1)));
  else if (fields == 1u << OXP__TENSOR_RAW_DATA)
    array_raw(findings, proto, where);
  else if (fields)
    array_typed(graph, findings, proto, fields, where);
}

// Where the values of a sparse array are in it: one number each, or one for every axis.
static void array_indices(const oxp_graph *graph, oxp__findings *findings, const oxp__sparse_tensor *sparse,
                          int64_t values, const char *where)
{
  const oxp__tensor_proto *indices = sparse->indices;
  const oxp__ints *dims = &indices->dims;
  bool fits =
      (dims->count == 1 || (dims->count == 2 && dims->at[1] == (int64_t)sparse->dims.count)) && dims->at[0] == values;
  oxp__check_array(graph, findings, indices, where);
  if (indices->data_type != OXP_INT64)
    oxp__finding(findings, "%s has indices of type %s instead of int64", where,
                 oxp_dtype_name((oxp_dtype)indices->data_type));
  if (!fits)
    oxp__finding(findings, "%s has indices whose dims do not fit its %" PRId64 " values and its rank of %zu", where,
                 values, sparse->dims.count);
}

void oxp__check_sparse(const oxp_graph *graph, oxp__findings *findings, const oxp__sparse_tensor *sparse,
                       const char *where)
{
  oxp__tensor_proto whole = { .dims = sparse->dims };
  int64_t count = 0, values = 0;
  if (!sparse->values) {
    oxp__finding(findings, "%s has no values", where);
    return;
  }
  oxp__check_array(graph, findings, sparse->values, where);
  if (!array_dims(findings, &sparse->dims, where))
    return;
  bool counted = oxp__tensor_proto_count(&whole, &count) && oxp__tensor_proto_count(sparse->values, &values);
  if (sparse->dims.count == 0 || sparse->values->dims.count != 1)
    oxp__finding(findings, "%s has %zu dims, and its values %zu: the values of a sparse array are a vector", where,
                 sparse->dims.count, sparse->values->dims.count);
  else if (!counted || values > count)
    oxp__finding(findings, "%s has %" PRId64 " values, and dims for %" PRId64, where, values, count);
  else if (sparse->indices)
    array_indices(graph, findings, sparse, values, where);
  else if (values > 0)
    oxp__finding(findings, "%s does not say where its values are", where);
}
