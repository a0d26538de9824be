// build.c: adding nodes, attributes, initializers and declarations to a graph. Does not check the model (check.c does) and
// writes nothing. Place: onnx.
#include "onnx/build.h"

#include <string.h>

static void *build_new(oxp__builder *builder, size_t count, size_t size)
{
  void *thing = builder->status == OXP_OK ? oxp__arena_new(&builder->graph->arena, count, size) : NULL;
  if (!thing && builder->status == OXP_OK)
    builder->status = oxp__fail_memory(builder->error, size * count);
  return thing;
}

static const char *build_text(oxp__builder *builder, const char *text)
{
  const char *copy = builder->status == OXP_OK ? oxp__arena_copy(&builder->graph->arena, text) : NULL;
  if (!copy && builder->status == OXP_OK)
    builder->status = oxp__fail_memory(builder->error, strlen(text) + 1);
  return copy;
}

static void build_append(oxp__builder *builder, void *list, const void *element, size_t size)
{
  if (builder->status == OXP_OK && !oxp__repeated_append(&builder->graph->arena, list, element, size))
    builder->status = oxp__fail_memory(builder->error, size);
}

static void build_strings(oxp__builder *builder, oxp__strings *list, const char *const *texts)
{
  size_t count = 0;
  while (texts[count])
    count++;
  list->at = build_new(builder, count, sizeof *list->at);
  if (!list->at)
    return;
  for (; list->count < count; list->count++)
    list->at[list->count] = build_text(builder, texts[list->count]);
  list->capacity = count;
}

oxp__node *oxp__build_node(oxp__builder *builder, const char *op_type, const char *name, const char *const *inputs,
                           const char *const *outputs)
{
  oxp__node *node = build_new(builder, 1, sizeof *node);
  if (!node)
    return NULL;
  build_strings(builder, &node->inputs, inputs);
  build_strings(builder, &node->outputs, outputs);
  node->op_type = build_text(builder, op_type);
  if (name)
    node->name = build_text(builder, name);
  build_append(builder, &builder->graph->model.graph->nodes, &node, sizeof node);
  return builder->status == OXP_OK ? node : NULL;
}

// --- Attributes ---

static oxp__attribute *build_attribute(oxp__builder *builder, oxp__node *node, const char *name,
                                       oxp__attribute_type type)
{
  oxp__attribute *attribute = node ? build_new(builder, 1, sizeof *attribute) : NULL;
  if (!attribute)
    return NULL;
  attribute->name = build_text(builder, name);
  attribute->type = (int32_t)type;
  attribute->base.has = 1u << OXP__ATTRIBUTE_TYPE;
  build_append(builder, &node->attributes, &attribute, sizeof attribute);
  return builder->status == OXP_OK ? attribute : NULL;
}

void oxp__build_int(oxp__builder *builder, oxp__node *node, const char *name, int64_t value)
{
  oxp__attribute *attribute = build_attribute(builder, node, name, OXP__ATTR_INT);
  if (!attribute)
    return;
  attribute->i = value;
  attribute->base.has |= 1u << OXP__ATTRIBUTE_I;
}

void oxp__build_ints(oxp__builder *builder, oxp__node *node, const char *name, int count, const int64_t *values)
{
  oxp__attribute *attribute = build_attribute(builder, node, name, OXP__ATTR_INTS);
  for (int i = 0; attribute && i < count; i++)
    build_append(builder, &attribute->ints, &values[i], sizeof values[i]);
}

void oxp__build_float(oxp__builder *builder, oxp__node *node, const char *name, double value)
{
  oxp__attribute *attribute = build_attribute(builder, node, name, OXP__ATTR_FLOAT);
  if (!attribute)
    return;
  oxp__store_f64(OXP_FLOAT32, &attribute->f, value);
  attribute->base.has |= 1u << OXP__ATTRIBUTE_F;
}

void oxp__build_string(oxp__builder *builder, oxp__node *node, const char *name, const char *value)
{
  oxp__attribute *attribute = build_attribute(builder, node, name, OXP__ATTR_STRING);
  if (attribute)
    attribute->s = (oxp__bytes){ build_text(builder, value), strlen(value) };
}

// --- Initializers ---

void oxp__build_initializer(oxp__builder *builder, const char *name, const oxp_tensor *tensor, oxp_dtype as)
{
  oxp__tensor_proto *proto = build_new(builder, 1, sizeof *proto);
  if (!proto)
    return;
  for (int i = 0; i < tensor->rank; i++)
    build_append(builder, &proto->dims, &tensor->shape[i], sizeof tensor->shape[i]);
  proto->as = as == tensor->dtype ? OXP_DTYPE_NONE : as;
  proto->data_type = (int32_t)(proto->as ? proto->as : tensor->dtype);
  proto->name = build_text(builder, name);
  proto->base.has = 1u << OXP__TENSOR_RAW_DATA;
  proto->has_tensor = true;
  proto->tensor = *tensor;
  build_append(builder, &builder->graph->model.graph->initializers, &proto, sizeof proto);
}

// Copied constants: room for the elements of `shape`, or NULL after failure.
static void *build_constant_room(oxp__builder *builder, const char *name, oxp_dtype dtype, int rank,
                                 const int64_t *shape, int64_t *count)
{
  if (builder->status == OXP_OK && (!oxp__shape_count(rank, shape, count) || (uint64_t)*count > SIZE_MAX))
    builder->status = oxp__fail(builder->error, OXP_BAD_ARGUMENT, "constant \"%s\": its shape is out of range", name);
  return build_new(builder, (size_t)(builder->status == OXP_OK ? *count : 0), oxp_dtype_bytes(dtype));
}

static void build_constant(oxp__builder *builder, const char *name, oxp_dtype dtype, int rank, const int64_t *shape,
                           const void *elements)
{
  oxp_tensor tensor = oxp_tensor_from_memory(dtype, rank, shape, elements);
  oxp__build_initializer(builder, name, &tensor, OXP_DTYPE_NONE);
}

void oxp__build_constant_f64(oxp__builder *builder, const char *name, oxp_dtype dtype, int rank, const int64_t *shape,
                             const double *values)
{
  int64_t count = 0;
  char *elements = build_constant_room(builder, name, dtype, rank, shape, &count);
  if (!elements)
    return;
  for (int64_t i = 0; i < count; i++)
    oxp__store_f64(dtype, elements + (size_t)i * oxp_dtype_bytes(dtype), values[i]);
  build_constant(builder, name, dtype, rank, shape, elements);
}

void oxp__build_constant_i64(oxp__builder *builder, const char *name, int rank, const int64_t *shape,
                             const int64_t *values)
{
  int64_t count = 0;
  int64_t *elements = build_constant_room(builder, name, OXP_INT64, rank, shape, &count);
  if (!elements)
    return;
  memcpy(elements, values, (size_t)count * sizeof *elements);
  build_constant(builder, name, OXP_INT64, rank, shape, elements);
}

// --- Declarations ---

void oxp__build_opset(oxp__builder *builder, const char *domain, int64_t version)
{
  oxp__opset *opset = build_new(builder, 1, sizeof *opset);
  if (!opset)
    return;
  opset->domain = build_text(builder, domain);
  opset->version = version;
  build_append(builder, &builder->graph->model.opsets, &opset, sizeof opset);
}

void oxp__build_metadata(oxp__builder *builder, const char *key, const char *value)
{
  oxp__pair *pair = build_new(builder, 1, sizeof *pair);
  if (!pair)
    return;
  pair->key = build_text(builder, key);
  pair->value = build_text(builder, value);
  build_append(builder, &builder->graph->model.metadata, &pair, sizeof pair);
}

static const char *build_dim_name(oxp__builder *builder, int64_t dim, const char *batch_symbol)
{
  const char *name = dim == OXP_DIM_BATCH     ? batch_symbol
                     : dim == OXP_DIM_HEIGHT  ? "height"
                     : dim == OXP_DIM_WIDTH   ? "width"
                     : dim == OXP_DIM_UNKNOWN ? NULL
                                              : oxp_graph_dim_name(builder->graph, dim);
  if (name && dim >= OXP_DIM_WIDTH && !builder->graph->symbols.at[-1 - dim])
    builder->graph->symbols.at[-1 - dim] = build_text(builder, name);
  return name;
}

static void build_dim(oxp__builder *builder, oxp__tensor_shape *shape, int64_t value, const char *batch_symbol)
{
  oxp__dim *dim = build_new(builder, 1, sizeof *dim);
  if (!dim)
    return;
  const char *name = value < 0 ? build_dim_name(builder, value, batch_symbol) : NULL;
  if (name)
    dim->param = build_text(builder, name);
  if (value >= 0) {
    dim->value = value;
    dim->base.has = 1u << OXP__DIM_VALUE;
  }
  build_append(builder, &shape->dims, &dim, sizeof dim);
}

void oxp__build_value_info(oxp__builder *builder, oxp__value_infos *list, const char *name, oxp_dtype dtype, int rank,
                           const int64_t *shape, const char *batch_symbol)
{
  oxp__value_info *info = build_new(builder, 1, sizeof *info);
  oxp__type *type = build_new(builder, 1, sizeof *type);
  oxp__tensor_type *tensor = build_new(builder, 1, sizeof *tensor);
  oxp__tensor_shape *dims = build_new(builder, 1, sizeof *dims);
  if (!info || !type || !tensor || !dims)
    return;
  *info = (oxp__value_info){ .name = build_text(builder, name), .type = type };
  type->tensor = tensor;
  *tensor = (oxp__tensor_type){ .dtype = (int32_t)dtype, .shape = dims };
  for (int i = 0; i < rank; i++)
    build_dim(builder, dims, shape[i], batch_symbol);
  build_append(builder, list, &info, sizeof info);
  if (builder->status == OXP_OK)
    builder->status = oxp__value_info_finish(builder->graph, info, builder->error);
}
