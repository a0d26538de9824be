// onnx_text.c: see onnx_text.h. Place: cli.
#include "cli/onnx_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *oxp__or_empty(const char *string)
{
  return string ? string : "";
}

// --- Types ---

static void add_element(oxp__text *text, const char *what, const oxp__type *element)
{
  oxp__text_printf(text, "%s(", what);
  oxp__onnx_add_type(text, element);
  oxp__text_add(text, ")");
}

static void add_map(oxp__text *text, const oxp__map_type *map)
{
  oxp__text_printf(text, "map(%s, ", oxp_dtype_name((oxp_dtype)map->key));
  oxp__onnx_add_type(text, map->value);
  oxp__text_add(text, ")");
}

static void add_opaque(oxp__text *text, const oxp__opaque_type *opaque)
{
  const char *domain = oxp__or_empty(opaque->domain);
  oxp__text_printf(text, "opaque(%s%s%s)", domain, *domain ? "::" : "", oxp__or_empty(opaque->name));
}

// Calls itself: types are nested at most as deep as the reader lets messages be.
void oxp__onnx_add_type(oxp__text *text, const oxp__type *type)
{
  if (type && type->tensor)
    oxp__text_add(text, oxp_dtype_name((oxp_dtype)type->tensor->dtype));
  else if (type && type->sparse_tensor)
    oxp__text_printf(text, "sparse(%s)", oxp_dtype_name((oxp_dtype)type->sparse_tensor->dtype));
  else if (type && type->sequence)
    add_element(text, "sequence", type->sequence->element);
  else if (type && type->optional)
    add_element(text, "optional", type->optional->element);
  else if (type && type->map)
    add_map(text, type->map);
  else if (type && type->opaque)
    add_opaque(text, type->opaque);
  else
    oxp__text_add(text, "unknown");
}

// The sizes of the arrays inside of it; NULL when none are declared.
static const oxp__tensor_shape *type_shape(const oxp__type *type)
{
  while (type && !type->tensor && !type->sparse_tensor)
    type = type->sequence   ? type->sequence->element
           : type->optional ? type->optional->element
           : type->map      ? type->map->value
                            : NULL;
  const oxp__tensor_type *tensor = !type ? NULL : type->tensor ? type->tensor : type->sparse_tensor;
  return tensor ? tensor->shape : NULL;
}

static bool dim_is_number(const oxp__dim *dim)
{
  return !dim->param && (dim->value != 0 || (dim->base.has & 1u << OXP__DIM_VALUE));
}

void oxp__onnx_add_type_shape(oxp__text *text, const oxp__type *type)
{
  const oxp__tensor_shape *shape = type_shape(type);
  oxp__text_add(text, shape ? "(" : "?");
  for (size_t i = 0; shape && i < shape->dims.count; i++) {
    const oxp__dim *dim = shape->dims.at[i];
    oxp__text_add(text, i > 0 ? ", " : "");
    if (dim_is_number(dim))
      oxp__text_printf(text, "%" PRId64, dim->value);
    else
      oxp__text_add(text, dim->param && *dim->param ? dim->param : "?");
  }
  if (shape)
    oxp__text_add(text, shape->dims.count == 1 ? ",)" : ")");
}

void oxp__onnx_json_type_shape(oxp__json *json, const oxp__type *type)
{
  const oxp__tensor_shape *shape = type_shape(type);
  if (!shape) {
    oxp__json_text(json, "shape", NULL);
    return;
  }
  oxp__json_array(json, "shape");
  for (size_t i = 0; i < shape->dims.count; i++)
    if (dim_is_number(shape->dims.at[i]))
      oxp__json_int(json, NULL, shape->dims.at[i]->value);
    else
      oxp__json_text(json, NULL, shape->dims.at[i]->param);
  oxp__json_end(json, ']');
}

// --- Sizes ---

void oxp__onnx_add_dims(oxp__text *text, const oxp__ints *dims)
{
  oxp__text_add(text, "(");
  for (size_t i = 0; i < dims->count; i++)
    oxp__text_printf(text, "%s%" PRId64, i > 0 ? ", " : "", dims->at[i]);
  oxp__text_add(text, dims->count == 1 ? ",)" : ")");
}

void oxp__onnx_json_dims(oxp__json *json, const char *key, const oxp__ints *dims)
{
  oxp__json_array(json, key);
  for (size_t i = 0; i < dims->count; i++)
    oxp__json_int(json, NULL, dims->at[i]);
  oxp__json_end(json, ']');
}

// --- Attributes ---

// A float32 with the fewest digits that read back to the same value.
static void add_float(oxp__text *text, float number)
{
  char digits[32];
  for (int precision = 6; precision <= 9; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, (double)number);
    if (strtof(digits, NULL) == number)
      break;
  }
  oxp__text_add(text, digits);
}

static void add_tensor(oxp__text *text, const oxp__tensor_proto *tensor)
{
  oxp__text_add(text, tensor ? oxp_dtype_name((oxp_dtype)tensor->data_type) : "nothing");
  if (tensor)
    oxp__onnx_add_dims(text, &tensor->dims);
}

static void add_sparse(oxp__text *text, const oxp__sparse_tensor *sparse)
{
  const oxp__tensor_proto *values = sparse ? sparse->values : NULL;
  oxp__text_printf(text, "sparse %s", values ? oxp_dtype_name((oxp_dtype)values->data_type) : "nothing");
  if (sparse)
    oxp__onnx_add_dims(text, &sparse->dims);
}

static void add_graph(oxp__text *text, const oxp__graph_proto *graph)
{
  oxp__text_printf(text, "graph of %zu nodes", graph ? graph->nodes.count : 0);
}

// One element of an attribute that holds a list of what its type says.
static void add_item(oxp__text *text, const oxp__attribute *attribute, size_t index)
{
  if (attribute->type == OXP__ATTR_INTS)
    oxp__text_printf(text, "%" PRId64, attribute->ints.at[index]);
  else if (attribute->type == OXP__ATTR_FLOATS)
    add_float(text, attribute->floats.at[index]);
  else if (attribute->type == OXP__ATTR_STRINGS)
    oxp__text_add_json_bytes(text, attribute->strings.at[index].at, attribute->strings.at[index].count);
  else if (attribute->type == OXP__ATTR_TENSORS)
    add_tensor(text, attribute->tensors.at[index]);
  else if (attribute->type == OXP__ATTR_SPARSE_TENSORS)
    add_sparse(text, attribute->sparse_list.at[index]);
  else if (attribute->type == OXP__ATTR_TYPES)
    oxp__onnx_add_type(text, attribute->type_protos.at[index]);
  else
    add_graph(text, attribute->graphs.at[index]);
}

static bool is_list(const oxp__attribute *attribute, size_t *count)
{
  const struct {
    oxp__attribute_type type;
    size_t count;
  } lists[] = { { OXP__ATTR_INTS, attribute->ints.count },
                { OXP__ATTR_FLOATS, attribute->floats.count },
                { OXP__ATTR_STRINGS, attribute->strings.count },
                { OXP__ATTR_TENSORS, attribute->tensors.count },
                { OXP__ATTR_SPARSE_TENSORS, attribute->sparse_list.count },
                { OXP__ATTR_TYPES, attribute->type_protos.count },
                { OXP__ATTR_GRAPHS, attribute->graphs.count } };
  for (size_t i = 0; i < OXP__COUNT(lists); i++)
    if ((int32_t)lists[i].type == attribute->type) {
      *count = lists[i].count;
      return true;
    }
  return false;
}

static void add_single(oxp__text *text, const oxp__attribute *attribute)
{
  switch (attribute->type) {
  case OXP__ATTR_FLOAT:
    add_float(text, attribute->f);
    break;
  case OXP__ATTR_INT:
    oxp__text_printf(text, "%" PRId64, attribute->i);
    break;
  case OXP__ATTR_STRING:
    oxp__text_add_json_bytes(text, attribute->s.at, attribute->s.count);
    break;
  case OXP__ATTR_TENSOR:
    add_tensor(text, attribute->t);
    break;
  case OXP__ATTR_SPARSE_TENSOR:
    add_sparse(text, attribute->sparse);
    break;
  case OXP__ATTR_TYPE:
    oxp__onnx_add_type(text, attribute->type_proto);
    break;
  case OXP__ATTR_GRAPH:
    add_graph(text, attribute->g);
    break;
  default:
    oxp__text_printf(text, "(type %d)", (int)attribute->type);
  }
}

void oxp__onnx_add_attribute(oxp__text *text, const oxp__attribute *attribute)
{
  size_t count;
  if (attribute->ref_attr_name && *attribute->ref_attr_name) { // of the function around it
    oxp__text_printf(text, "@%s", attribute->ref_attr_name);
  } else if (is_list(attribute, &count)) {
    oxp__text_add(text, "[");
    for (size_t i = 0; i < count; i++) {
      oxp__text_add(text, i > 0 ? ", " : "");
      add_item(text, attribute, i);
    }
    oxp__text_add(text, "]");
  } else {
    add_single(text, attribute);
  }
}
