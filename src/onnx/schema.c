// schema.c: the table of messages and fields (facts of the ONNX format). A field that is not here travels as unknown bytes.
// Place: onnx.
#include "onnx/schema.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
#define ONE(number, name, type, owner, member)                                                                         \
  {                                                                                                                    \
    number, name, OXP__FIELD_##type, false, offsetof(owner, member), NULL                                              \
  }
#define MANY(number, name, type, owner, member)                                                                        \
  {                                                                                                                    \
    number, name, OXP__FIELD_##type, true, offsetof(owner, member), NULL                                               \
  }
#define SUB(number, name, owner, member, schema)                                                                       \
  {                                                                                                                    \
    number, name, OXP__FIELD_MESSAGE, false, offsetof(owner, member), schema                                           \
  }
#define SUBS(number, name, owner, member, schema)                                                                      \
  {                                                                                                                    \
    number, name, OXP__FIELD_MESSAGE, true, offsetof(owner, member), schema                                            \
  }

static const oxp__schema schema_graph, schema_type;
static oxp_status schema_finish_tensor(oxp_graph *graph, void *message, oxp_error *error);

static const oxp__field schema_pair_fields[] = {
  ONE(1, "key", STRING, oxp__pair, key),
  ONE(2, "value", STRING, oxp__pair, value),
};
static const oxp__schema schema_pair = { .name = "StringStringEntryProto",
                                         .bytes = sizeof(oxp__pair),
                                         .fields = schema_pair_fields,
                                         .field_count = COUNT(schema_pair_fields) };

static const oxp__field schema_dim_fields[] = {
  ONE(OXP__DIM_VALUE, "dim_value", INT64, oxp__dim, value),
  ONE(OXP__DIM_PARAM, "dim_param", STRING, oxp__dim, param),
  ONE(3, "denotation", STRING, oxp__dim, denotation),
};
static const oxp__schema schema_dim = { .name = "TensorShapeProto.Dimension",
                                        .bytes = sizeof(oxp__dim),
                                        .fields = schema_dim_fields,
                                        .field_count = COUNT(schema_dim_fields),
                                        .exclusive = 1u << OXP__DIM_VALUE | 1u << OXP__DIM_PARAM };

static const oxp__field schema_shape_fields[] = {
  SUBS(1, "dim", oxp__tensor_shape, dims, &schema_dim),
};
static const oxp__schema schema_shape = { .name = "TensorShapeProto",
                                          .bytes = sizeof(oxp__tensor_shape),
                                          .fields = schema_shape_fields,
                                          .field_count = COUNT(schema_shape_fields) };

static const oxp__field schema_tensor_type_fields[] = {
  ONE(1, "elem_type", INT32, oxp__tensor_type, dtype),
  SUB(2, "shape", oxp__tensor_type, shape, &schema_shape),
};
static const oxp__schema schema_tensor_type = { .name = "TypeProto.Tensor",
                                                .bytes = sizeof(oxp__tensor_type),
                                                .fields = schema_tensor_type_fields,
                                                .field_count = COUNT(schema_tensor_type_fields) };

static const oxp__field schema_element_type_fields[] = {
  SUB(1, "elem_type", oxp__element_type, element, &schema_type),
};
static const oxp__schema schema_element_type = { .name = "TypeProto.Sequence",
                                                 .bytes = sizeof(oxp__element_type),
                                                 .fields = schema_element_type_fields,
                                                 .field_count = COUNT(schema_element_type_fields) };

static const oxp__field schema_map_type_fields[] = {
  ONE(1, "key_type", INT32, oxp__map_type, key),
  SUB(2, "value_type", oxp__map_type, value, &schema_type),
};
static const oxp__schema schema_map_type = { .name = "TypeProto.Map",
                                             .bytes = sizeof(oxp__map_type),
                                             .fields = schema_map_type_fields,
                                             .field_count = COUNT(schema_map_type_fields) };

static const oxp__field schema_opaque_type_fields[] = {
  ONE(1, "domain", STRING, oxp__opaque_type, domain),
  ONE(2, "name", STRING, oxp__opaque_type, name),
};
static const oxp__schema schema_opaque_type = { .name = "TypeProto.Opaque",
                                                .bytes = sizeof(oxp__opaque_type),
                                                .fields = schema_opaque_type_fields,
                                                .field_count = COUNT(schema_opaque_type_fields) };

static const oxp__field schema_type_fields[] = {
  SUB(1, "tensor_type", oxp__type, tensor, &schema_tensor_type),
  SUB(4, "sequence_type", oxp__type, sequence, &schema_element_type),
  SUB(5, "map_type", oxp__type, map, &schema_map_type),
  ONE(6, "denotation", STRING, oxp__type, denotation),
  SUB(7, "opaque_type", oxp__type, opaque, &schema_opaque_type),
  SUB(8, "sparse_tensor_type", oxp__type, sparse_tensor, &schema_tensor_type),
  SUB(9, "optional_type", oxp__type, optional, &schema_element_type),
};
static const oxp__schema schema_type = { .name = "TypeProto",
                                         .bytes = sizeof(oxp__type),
                                         .fields = schema_type_fields,
                                         .field_count = COUNT(schema_type_fields),
                                         // all but the denotation: one of them
                                         .exclusive = 1u << 1 | 1u << 4 | 1u << 5 | 1u << 7 | 1u << 8 | 1u << 9 };

static const oxp__field schema_value_info_fields[] = {
  ONE(1, "name", STRING, oxp__value_info, name),
  SUB(2, "type", oxp__value_info, type, &schema_type),
  ONE(3, "doc_string", STRING, oxp__value_info, doc_string),
  SUBS(4, "metadata_props", oxp__value_info, metadata, &schema_pair),
};
static const oxp__schema schema_value_info = { .name = "ValueInfoProto",
                                               .bytes = sizeof(oxp__value_info),
                                               .fields = schema_value_info_fields,
                                               .field_count = COUNT(schema_value_info_fields) };

static const oxp__field schema_tensor_fields[] = {
  MANY(1, "dims", INT64, oxp__tensor_proto, dims),
  ONE(2, "data_type", INT32, oxp__tensor_proto, data_type),
  ONE(8, "name", STRING, oxp__tensor_proto, name),
  ONE(OXP__TENSOR_RAW_DATA, "raw_data", PAYLOAD, oxp__tensor_proto, raw),
  ONE(12, "doc_string", STRING, oxp__tensor_proto, doc_string),
  SUBS(13, "external_data", oxp__tensor_proto, external, &schema_pair),
  ONE(14, "data_location", INT32, oxp__tensor_proto, data_location),
  SUBS(16, "metadata_props", oxp__tensor_proto, metadata, &schema_pair),
};
static const oxp__schema schema_tensor = { .name = "TensorProto",
                                           .bytes = sizeof(oxp__tensor_proto),
                                           .fields = schema_tensor_fields,
                                           .field_count = COUNT(schema_tensor_fields),
                                           .finish = schema_finish_tensor };

static const oxp__field schema_sparse_tensor_fields[] = {
  SUB(1, "values", oxp__sparse_tensor, values, &schema_tensor),
  SUB(2, "indices", oxp__sparse_tensor, indices, &schema_tensor),
  MANY(3, "dims", INT64, oxp__sparse_tensor, dims),
};
static const oxp__schema schema_sparse_tensor = { .name = "SparseTensorProto",
                                                  .bytes = sizeof(oxp__sparse_tensor),
                                                  .fields = schema_sparse_tensor_fields,
                                                  .field_count = COUNT(schema_sparse_tensor_fields) };

static const oxp__field schema_attribute_fields[] = {
  ONE(1, "name", STRING, oxp__attribute, name),
  ONE(OXP__ATTRIBUTE_F, "f", FLOAT, oxp__attribute, f),
  ONE(OXP__ATTRIBUTE_I, "i", INT64, oxp__attribute, i),
  ONE(4, "s", BYTES, oxp__attribute, s),
  SUB(5, "t", oxp__attribute, t, &schema_tensor),
  SUB(6, "g", oxp__attribute, g, &schema_graph),
  MANY(7, "floats", FLOAT, oxp__attribute, floats),
  MANY(8, "ints", INT64, oxp__attribute, ints),
  MANY(9, "strings", BYTES, oxp__attribute, strings),
  SUBS(10, "tensors", oxp__attribute, tensors, &schema_tensor),
  SUBS(11, "graphs", oxp__attribute, graphs, &schema_graph),
  ONE(13, "doc_string", STRING, oxp__attribute, doc_string),
  SUB(14, "tp", oxp__attribute, type_proto, &schema_type),
  SUBS(15, "type_protos", oxp__attribute, type_protos, &schema_type),
  ONE(OXP__ATTRIBUTE_TYPE, "type", INT32, oxp__attribute, type),
  ONE(21, "ref_attr_name", STRING, oxp__attribute, ref_attr_name),
  SUB(22, "sparse_tensor", oxp__attribute, sparse, &schema_sparse_tensor),
  SUBS(23, "sparse_tensors", oxp__attribute, sparse_list, &schema_sparse_tensor),
};
static const oxp__schema schema_attribute = { .name = "AttributeProto",
                                              .bytes = sizeof(oxp__attribute),
                                              .fields = schema_attribute_fields,
                                              .field_count = COUNT(schema_attribute_fields) };

static const oxp__field schema_node_fields[] = {
  MANY(1, "input", STRING, oxp__node, inputs),
  MANY(2, "output", STRING, oxp__node, outputs),
  ONE(3, "name", STRING, oxp__node, name),
  ONE(4, "op_type", STRING, oxp__node, op_type),
  SUBS(5, "attribute", oxp__node, attributes, &schema_attribute),
  ONE(6, "doc_string", STRING, oxp__node, doc_string),
  ONE(7, "domain", STRING, oxp__node, domain),
  ONE(8, "overload", STRING, oxp__node, overload),
  SUBS(9, "metadata_props", oxp__node, metadata, &schema_pair),
};
static const oxp__schema schema_node = { .name = "NodeProto",
                                         .bytes = sizeof(oxp__node),
                                         .fields = schema_node_fields,
                                         .field_count = COUNT(schema_node_fields) };

static const oxp__field schema_graph_fields[] = {
  SUBS(1, "node", oxp__graph_proto, nodes, &schema_node),
  ONE(2, "name", STRING, oxp__graph_proto, name),
  SUBS(5, "initializer", oxp__graph_proto, initializers, &schema_tensor),
  ONE(10, "doc_string", STRING, oxp__graph_proto, doc_string),
  SUBS(11, "input", oxp__graph_proto, inputs, &schema_value_info),
  SUBS(12, "output", oxp__graph_proto, outputs, &schema_value_info),
  SUBS(13, "value_info", oxp__graph_proto, value_infos, &schema_value_info),
  SUBS(15, "sparse_initializer", oxp__graph_proto, sparse_initializers, &schema_sparse_tensor),
  SUBS(16, "metadata_props", oxp__graph_proto, metadata, &schema_pair),
};
static const oxp__schema schema_graph = { .name = "GraphProto",
                                          .bytes = sizeof(oxp__graph_proto),
                                          .fields = schema_graph_fields,
                                          .field_count = COUNT(schema_graph_fields) };

static const oxp__field schema_training_fields[] = {
  SUB(1, "initialization", oxp__training, initialization, &schema_graph),
  SUB(2, "algorithm", oxp__training, algorithm, &schema_graph),
};
static const oxp__schema schema_training = { .name = "TrainingInfoProto",
                                             .bytes = sizeof(oxp__training),
                                             .fields = schema_training_fields,
                                             .field_count = COUNT(schema_training_fields) };

static const oxp__field schema_opset_fields[] = {
  ONE(1, "domain", STRING, oxp__opset, domain),
  ONE(2, "version", INT64, oxp__opset, version),
};
static const oxp__schema schema_opset = { .name = "OperatorSetIdProto",
                                          .bytes = sizeof(oxp__opset),
                                          .fields = schema_opset_fields,
                                          .field_count = COUNT(schema_opset_fields) };

static const oxp__field schema_function_fields[] = {
  ONE(1, "name", STRING, oxp__function, name),
  MANY(4, "input", STRING, oxp__function, inputs),
  MANY(5, "output", STRING, oxp__function, outputs),
  MANY(6, "attribute", STRING, oxp__function, attribute_names),
  SUBS(7, "node", oxp__function, nodes, &schema_node),
  ONE(8, "doc_string", STRING, oxp__function, doc_string),
  SUBS(9, "opset_import", oxp__function, opsets, &schema_opset),
  ONE(10, "domain", STRING, oxp__function, domain),
  SUBS(11, "attribute_proto", oxp__function, attributes, &schema_attribute),
  SUBS(12, "value_info", oxp__function, value_infos, &schema_value_info),
  ONE(13, "overload", STRING, oxp__function, overload),
  SUBS(14, "metadata_props", oxp__function, metadata, &schema_pair),
};
static const oxp__schema schema_function = { .name = "FunctionProto",
                                             .bytes = sizeof(oxp__function),
                                             .fields = schema_function_fields,
                                             .field_count = COUNT(schema_function_fields) };

static const oxp__field schema_model_fields[] = {
  ONE(1, "ir_version", INT64, oxp__model, ir_version),
  ONE(2, "producer_name", STRING, oxp__model, producer_name),
  ONE(3, "producer_version", STRING, oxp__model, producer_version),
  ONE(4, "domain", STRING, oxp__model, domain),
  ONE(5, "model_version", INT64, oxp__model, model_version),
  ONE(6, "doc_string", STRING, oxp__model, doc_string),
  SUB(7, "graph", oxp__model, graph, &schema_graph),
  SUBS(8, "opset_import", oxp__model, opsets, &schema_opset),
  SUBS(14, "metadata_props", oxp__model, metadata, &schema_pair),
  SUBS(20, "training_info", oxp__model, trainings, &schema_training),
  SUBS(25, "functions", oxp__model, functions, &schema_function),
};
const oxp__schema oxp__schema_model = { .name = "ModelProto",
                                        .bytes = sizeof(oxp__model),
                                        .fields = schema_model_fields,
                                        .field_count = COUNT(schema_model_fields) };

const oxp__field *oxp__schema_field(const oxp__schema *schema, uint32_t number)
{
  for (int i = 0; i < schema->field_count; i++)
    if (schema->fields[i].number == number)
      return &schema->fields[i];
  return NULL;
}

int oxp__field_wire_type(const oxp__field *field)
{
  switch (field->type) {
  case OXP__FIELD_INT32:
  case OXP__FIELD_INT64:
    return OXP__WIRE_VARINT;
  case OXP__FIELD_FLOAT:
    return OXP__WIRE_FIXED32;
  default:
    return OXP__WIRE_LENGTH;
  }
}

size_t oxp__field_bytes(const oxp__field *field)
{
  switch (field->type) {
  case OXP__FIELD_INT32:
    return sizeof(int32_t);
  case OXP__FIELD_INT64:
    return sizeof(int64_t);
  case OXP__FIELD_FLOAT:
    return sizeof(float);
  case OXP__FIELD_BYTES:
    return sizeof(oxp__bytes);
  case OXP__FIELD_PAYLOAD:
    return sizeof(oxp__span);
  default:
    return sizeof(void *);
  }
}

// raw_data becomes an array that can be looked at when type, dims and length agree; else it stays bytes, and the checker says
// what is wrong.
static oxp_status schema_finish_tensor(oxp_graph *graph, void *message, oxp_error *error)
{
  oxp__tensor_proto *proto = message;
  oxp_dtype dtype = (oxp_dtype)proto->data_type;
  int64_t count, bytes;
  proto->has_tensor = (proto->base.has & 1u << OXP__TENSOR_RAW_DATA) && proto->data_location != OXP__TENSOR_EXTERNAL &&
                      proto->dims.count <= OXP_MAX_RANK && oxp_dtype_bytes(dtype) > 0 &&
                      oxp__shape_count((int)proto->dims.count, proto->dims.at, &count) &&
                      oxp__mul_i64(count, (int64_t)oxp_dtype_bytes(dtype), &bytes) &&
                      (uint64_t)bytes == proto->raw.count;
  if (!proto->has_tensor)
    return oxp__tensor_read_typed(graph, proto, error);
  proto->tensor =
      oxp_tensor_from_function(dtype, (int)proto->dims.count, proto->dims.at, graph->read, graph->read_context);
  proto->tensor.offset_bytes = proto->raw.offset;
  proto->tensor.origin = proto->name;
  return OXP_OK;
}
