// infer.c: helpers of shape inference, and the operators that work element by element, over axes or on matrices.
// Reads constants of a few elements and nothing else. Place: onnx.
#include "onnx/infer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"

const oxp__typed oxp__typed_unknown = { .rank = -1 };

// --- Helpers ---

void oxp__infer_problem(oxp__inference *io, const char *format, ...)
{
  if (io->problem[0])
    return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(io->problem, sizeof io->problem, format, arguments);
  va_end(arguments);
}

bool oxp__infer_has_input(const oxp__inference *io, size_t index)
{
  return index < io->input_count && io->inputs[index];
}

const oxp__typed *oxp__infer_input(const oxp__inference *io, size_t index)
{
  return oxp__infer_has_input(io, index) ? io->inputs[index] : &oxp__typed_unknown;
}

const oxp__attribute *oxp__infer_attribute(const oxp__inference *io, const char *name)
{
  for (size_t i = 0; i < io->node->attributes.count; i++) {
    const oxp__attribute *attribute = io->node->attributes.at[i];
    if (attribute->name && strcmp(attribute->name, name) == 0)
      return attribute;
  }
  return NULL;
}

int64_t oxp__infer_int(const oxp__inference *io, const char *name, int64_t otherwise)
{
  const oxp__attribute *attribute = oxp__infer_attribute(io, name);
  return attribute && attribute->type == OXP__ATTR_INT ? attribute->i : otherwise;
}

const oxp__ints *oxp__infer_ints(const oxp__inference *io, const char *name)
{
  const oxp__attribute *attribute = oxp__infer_attribute(io, name);
  return attribute && attribute->type == OXP__ATTR_INTS ? &attribute->ints : NULL;
}

bool oxp__infer_is(const oxp__inference *io, const char *name, const char *text)
{
  const oxp__attribute *attribute = oxp__infer_attribute(io, name);
  return attribute && attribute->s.at && strcmp(attribute->s.at, text) == 0;
}

bool oxp__infer_constant(const oxp__typed *value, int *count, double *numbers)
{
  const oxp__tensor_proto *constant = value->constant;
  if (!constant || !constant->has_tensor || constant->tensor.rank != 1 ||
      constant->tensor.shape[0] > OXP__INFER_MAX_CONSTANT || constant->tensor.dtype > OXP_UINT64 ||
      constant->tensor.dtype == OXP_BOOL || constant->tensor.forward_only)
    return false;
  *count = (int)constant->tensor.shape[0];
  return oxp__tensor_read_f64(&constant->tensor, numbers, NULL) == OXP_OK;
}

bool oxp__infer_constant_ints(const oxp__typed *value, int *count, int64_t *numbers)
{
  double exact[OXP__INFER_MAX_CONSTANT];
  if (!oxp__infer_constant(value, count, exact))
    return false;
  for (int i = 0; i < *count; i++) {
    if (!(exact[i] >= -9007199254740992.0 && exact[i] <= 9007199254740992.0))
      return false;
    numbers[i] = (int64_t)exact[i];
  }
  return true;
}

int oxp__infer_axis(oxp__inference *io, int64_t axis, int rank)
{
  if (axis >= -rank && axis < rank)
    return (int)(axis < 0 ? axis + rank : axis);
  oxp__infer_problem(io, "axis %" PRId64 " is outside a shape of rank %d", axis, rank);
  return -1;
}

bool oxp__infer_axes(oxp__inference *io, size_t at, int rank, int *count, int *axes)
{
  int64_t numbers[OXP__INFER_MAX_CONSTANT];
  const oxp__ints *attribute = oxp__infer_ints(io, "axes");
  *count = 0;
  if (attribute && attribute->count <= OXP__INFER_MAX_CONSTANT)
    for (*count = 0; *count < (int)attribute->count; ++*count)
      numbers[*count] = attribute->at[*count];
  else if (attribute ||
           (oxp__infer_has_input(io, at) && !oxp__infer_constant_ints(oxp__infer_input(io, at), count, numbers)))
    return false;
  for (int i = 0; i < *count; i++) {
    axes[i] = oxp__infer_axis(io, numbers[i], rank);
    if (axes[i] < 0)
      return false;
  }
  return true;
}

bool oxp__infer_axes_or_all(oxp__inference *io, size_t at, int rank, int *count, int *axes)
{
  if (!oxp__infer_axes(io, at, rank, count, axes))
    return false;
  if (*count == 0)
    for (; *count < rank; ++*count)
      axes[*count] = *count;
  return true;
}

bool oxp__infer_same_dim(int64_t a, int64_t b, int64_t *dim)
{
  if (a >= 0 && b >= 0 && a != b)
    return false;
  *dim = b >= 0 || a == OXP_DIM_UNKNOWN ? b : a;
  return true;
}

int64_t oxp__infer_product(const oxp__typed *value, int first, int end)
{
  int64_t product = 1, symbol = 0;
  for (int i = first; i < end; i++) {
    if (value->dims[i] < 0 && symbol != 0)
      return OXP_DIM_UNKNOWN;
    if (value->dims[i] < 0)
      symbol = value->dims[i];
    else if (!oxp__mul_i64(product, value->dims[i], &product))
      return OXP_DIM_UNKNOWN;
  }
  if (symbol == 0 || product == 0)
    return product;
  return product == 1 ? symbol : OXP_DIM_UNKNOWN;
}

// One axis of a broadcast: `into` becomes the larger one.
static bool infer_broadcast_dim(int64_t *into, int64_t other, bool one_way)
{
  if (other == 1 || *into == other)
    return true;
  if (*into == 1 && one_way)
    return other < 0; // a symbol may turn out to be 1
  if (*into == 1)
    *into = other;
  else if (*into >= 0)
    return other < 0;
  else if (!one_way)
    *into = other >= 0 ? other : OXP_DIM_UNKNOWN;
  return true;
}

bool oxp__infer_broadcast_into(oxp__typed *shape, const oxp__typed *value, bool one_way)
{
  if (shape->rank < 0 || value->rank < 0) {
    shape->rank = one_way ? shape->rank : -1;
    return true;
  }
  int added = value->rank - shape->rank;
  if (added > 0 && one_way)
    return false;
  if (added > 0) {
    memmove(shape->dims + added, shape->dims, (size_t)shape->rank * sizeof *shape->dims);
    for (int i = 0; i < added; i++)
      shape->dims[i] = 1;
    shape->rank = value->rank;
  }
  int skipped = shape->rank - value->rank;
  for (int i = 0; i < value->rank; i++)
    if (!infer_broadcast_dim(&shape->dims[skipped + i], value->dims[i], one_way))
      return false;
  return true;
}

void oxp__infer_set_shape(oxp__inference *io, int rank, const int64_t *dims)
{
  if (io->output_count == 0 || rank < 0 || rank > OXP_MAX_RANK)
    return;
  io->outputs[0].rank = rank;
  for (int i = 0; i < rank; i++)
    io->outputs[0].dims[i] = dims[i];
}

const char *oxp__infer_shape_text(const oxp__typed *value, char *buffer, size_t size)
{
  size_t used = (size_t)snprintf(buffer, size, value->rank < 0 ? "(unknown rank" : "(");
  for (int i = 0; i < value->rank && used < size; i++) {
    const char *comma = i ? ", " : "", *name = oxp__dim_name(value->dims[i]);
    used += value->dims[i] >= 0 ? (size_t)snprintf(buffer + used, size - used, "%s%" PRId64, comma, value->dims[i])
                                : (size_t)snprintf(buffer + used, size - used, "%s%s", comma, name ? name : "?");
  }
  if (used < size)
    snprintf(buffer + used, size - used, ")");
  return buffer;
}

// --- Element by element ---

// Every output has the shape of the first input.
void oxp__infer_same(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  for (size_t i = 0; i < io->output_count; i++) {
    io->outputs[i].rank = x->rank;
    memcpy(io->outputs[i].dims, x->dims, sizeof x->dims);
  }
}

void oxp__infer_softmax(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  oxp__infer_same(io);
  if (x->rank >= 0)
    (void)oxp__infer_axis(io, oxp__infer_int(io, "axis", io->opset < 13 && x->rank > 1 ? 1 : -1), x->rank);
}

void oxp__infer_broadcast(oxp__inference *io)
{
  oxp__typed shape = *oxp__infer_input(io, 0);
  for (size_t i = 1; i < io->input_count; i++) {
    char before[OXP__INFER_TEXT], other[OXP__INFER_TEXT];
    oxp__infer_shape_text(&shape, before, sizeof before);
    const oxp__typed *value = oxp__infer_input(io, i);
    if (!oxp__infer_broadcast_into(&shape, value, false)) {
      oxp__infer_problem(io, "shapes %s and %s do not broadcast", before,
                         oxp__infer_shape_text(value, other, sizeof other));
      return;
    }
  }
  oxp__infer_set_shape(io, shape.rank, shape.dims);
}

void oxp__infer_prelu(oxp__inference *io)
{
  oxp__typed x = *oxp__infer_input(io, 0);
  const oxp__typed *slope = oxp__infer_input(io, 1);
  char one[OXP__INFER_TEXT], two[OXP__INFER_TEXT];
  if (!oxp__infer_broadcast_into(&x, slope, true))
    oxp__infer_problem(io, "a slope of shape %s does not broadcast to %s",
                       oxp__infer_shape_text(slope, one, sizeof one),
                       oxp__infer_shape_text(oxp__infer_input(io, 0), two, sizeof two));
  oxp__infer_same(io);
}

void oxp__infer_cast(oxp__inference *io)
{
  enum { NEWEST_TYPE = 26 }; // TensorProto.DataType
  int64_t to = oxp__infer_int(io, "to", 0);
  oxp__infer_same(io);
  if (to < 1 || to > NEWEST_TYPE)
    oxp__infer_problem(io, "it casts to the unknown element type %" PRId64, to);
  else if (io->output_count > 0)
    io->outputs[0].dtype = (int32_t)to;
}

// A value that is not a tensor: one number or text, or a list of them.
static void infer_constant_plain(oxp__inference *io, const oxp__attribute *value)
{
  static const struct {
    oxp__attribute_type type;
    oxp_dtype dtype;
    int rank;
  } forms[] = { { OXP__ATTR_FLOAT, OXP_FLOAT32, 0 }, { OXP__ATTR_FLOATS, OXP_FLOAT32, 1 },
                { OXP__ATTR_INT, OXP_INT64, 0 },     { OXP__ATTR_INTS, OXP_INT64, 1 },
                { OXP__ATTR_STRING, OXP_STRING, 0 }, { OXP__ATTR_STRINGS, OXP_STRING, 1 } };
  int64_t count = (int64_t)(value->floats.count + value->ints.count + value->strings.count);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if ((int32_t)forms[i].type != value->type)
      continue;
    io->outputs[0].dtype = (int32_t)forms[i].dtype;
    oxp__infer_set_shape(io, forms[i].rank, &count);
  }
}

void oxp__infer_constant_node(oxp__inference *io)
{
  const oxp__attributes *attributes = &io->node->attributes;
  if (attributes->count != 1)
    oxp__infer_problem(io, "it has %zu values instead of one", attributes->count);
  if (attributes->count != 1 || io->output_count == 0)
    return;
  const oxp__tensor_proto *tensor = attributes->at[0]->t;
  if (!tensor) {
    infer_constant_plain(io, attributes->at[0]);
    return;
  }
  io->outputs[0].dtype = tensor->data_type;
  io->outputs[0].constant = tensor;
  if (tensor->dims.count <= OXP_MAX_RANK)
    oxp__infer_set_shape(io, (int)tensor->dims.count, tensor->dims.at);
}

// --- Matrices ---

static bool infer_need_rank(oxp__inference *io, const oxp__typed *value, int rank, const char *what)
{
  if (value->rank == rank)
    return true;
  char text[OXP__INFER_TEXT];
  if (value->rank >= 0)
    oxp__infer_problem(io, "%s has shape %s, but needs rank %d", what, oxp__infer_shape_text(value, text, sizeof text),
                       rank);
  return false;
}

void oxp__infer_gemm(oxp__inference *io)
{
  const oxp__typed *a = oxp__infer_input(io, 0), *b = oxp__infer_input(io, 1), *c = oxp__infer_input(io, 2);
  bool a_fits = infer_need_rank(io, a, 2, "A"), b_fits = infer_need_rank(io, b, 2, "B");
  if (io->problem[0])
    return;
  bool trans_a = oxp__infer_int(io, "transA", 0), trans_b = oxp__infer_int(io, "transB", 0);
  oxp__typed shape = { .rank = 2, .dims = { OXP_DIM_UNKNOWN, OXP_DIM_UNKNOWN } };
  if (a_fits)
    shape.dims[0] = a->dims[trans_a];
  if (b_fits)
    shape.dims[1] = b->dims[!trans_b];
  int64_t inner;
  if (a_fits && b_fits && !oxp__infer_same_dim(a->dims[!trans_a], b->dims[trans_b], &inner))
    oxp__infer_problem(io, "A gives %" PRId64 " columns, but B takes %" PRId64 " rows", a->dims[!trans_a],
                       b->dims[trans_b]);
  oxp__typed target = shape;
  char one[OXP__INFER_TEXT], two[OXP__INFER_TEXT];
  if (!oxp__infer_broadcast_into(&target, c, true))
    oxp__infer_problem(io, "C of shape %s does not broadcast to %s", oxp__infer_shape_text(c, one, sizeof one),
                       oxp__infer_shape_text(&shape, two, sizeof two));
  oxp__infer_set_shape(io, 2, shape.dims);
}

void oxp__infer_matmul(oxp__inference *io)
{
  oxp__typed a = *oxp__infer_input(io, 0), b = *oxp__infer_input(io, 1);
  if (a.rank < 0 || b.rank < 0)
    return;
  if (a.rank == 0 || b.rank == 0) {
    oxp__infer_problem(io, "a scalar cannot be a matrix");
    return;
  }
  bool vector_a = a.rank == 1, vector_b = b.rank == 1;
  int64_t inner, k_a = a.dims[a.rank - 1], k_b = vector_b ? b.dims[0] : b.dims[b.rank - 2];
  if (!oxp__infer_same_dim(k_a, k_b, &inner))
    oxp__infer_problem(io, "A gives %" PRId64 " columns, but B takes %" PRId64 " rows", k_a, k_b);
  int64_t rows = vector_a ? 0 : a.dims[a.rank - 2], columns = vector_b ? 0 : b.dims[b.rank - 1];
  a.rank = vector_a ? 0 : a.rank - 2;
  b.rank = vector_b ? 0 : b.rank - 2;
  if (!oxp__infer_broadcast_into(&a, &b, false))
    oxp__infer_problem(io, "the stacks of matrices do not broadcast");
  if (!vector_a)
    a.dims[a.rank++] = rows;
  if (!vector_b)
    a.dims[a.rank++] = columns;
  oxp__infer_set_shape(io, a.rank, a.dims);
}

// --- Normalizations ---

// Inputs 1 to `last` are vectors with one number per channel.
static void infer_channel_vectors(oxp__inference *io, size_t last)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  int64_t channels = x->rank >= 2 ? x->dims[1] : x->rank == 1 ? 1 : OXP_DIM_UNKNOWN;
  for (size_t i = 1; i <= last; i++) {
    const oxp__typed *vector = oxp__infer_input(io, i);
    char what[32];
    snprintf(what, sizeof what, "input %zu", i);
    if (!infer_need_rank(io, vector, 1, what))
      continue;
    if (!oxp__infer_same_dim(channels, vector->dims[0], &channels))
      oxp__infer_problem(io, "%s has %" PRId64 " elements for %" PRId64 " channels", what, vector->dims[0], channels);
  }
}

void oxp__infer_batch_normalization(oxp__inference *io)
{
  oxp__infer_same(io);
  if (!oxp__infer_int(io, "spatial", 1)) // before opset 9: statistics of every place
    return;
  infer_channel_vectors(io, 4);
  const oxp__typed *mean = oxp__infer_input(io, 3);
  for (size_t i = 1; i < io->output_count; i++) {
    io->outputs[i].rank = mean->rank;
    memcpy(io->outputs[i].dims, mean->dims, sizeof mean->dims);
  }
}

void oxp__infer_channel_normalization(oxp__inference *io)
{
  infer_channel_vectors(io, 2);
  oxp__infer_same(io);
}

void oxp__infer_layer_normalization(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  oxp__infer_same(io);
  if (x->rank < 0)
    return;
  int axis = oxp__infer_axis(io, oxp__infer_int(io, "axis", -1), x->rank);
  for (size_t i = 1; i < io->output_count && axis >= 0; i++)
    for (int j = axis; j < x->rank; j++)
      io->outputs[i].dims[j] = 1;
  for (size_t i = 1; i <= 2; i++) {
    oxp__typed whole = *x;
    const oxp__typed *value = oxp__infer_input(io, i);
    char one[OXP__INFER_TEXT], two[OXP__INFER_TEXT];
    if (!oxp__infer_broadcast_into(&whole, value, true))
      oxp__infer_problem(io, "input %zu of shape %s does not broadcast to %s", i,
                         oxp__infer_shape_text(value, one, sizeof one), oxp__infer_shape_text(x, two, sizeof two));
  }
}

// --- Reductions ---

// Which axes are reduced: true when that is known, with one flag per axis.
static bool infer_reduced_axes(oxp__inference *io, int rank, bool *reduced)
{
  int axes[OXP__INFER_MAX_CONSTANT], count;
  if (!oxp__infer_axes(io, 1, rank, &count, axes))
    return false;
  bool all = count == 0 && !oxp__infer_int(io, "noop_with_empty_axes", 0);
  for (int i = 0; i < rank; i++)
    reduced[i] = all;
  for (int i = 0; i < count; i++)
    reduced[axes[i]] = true;
  return true;
}

static void infer_reduce(oxp__inference *io, const oxp__typed *x, const bool *reduced)
{
  bool keep = oxp__infer_int(io, "keepdims", 1);
  oxp__typed shape = { 0 };
  for (int i = 0; i < x->rank; i++)
    if (!reduced[i] || keep)
      shape.dims[shape.rank++] = reduced[i] ? 1 : x->dims[i];
  oxp__infer_set_shape(io, shape.rank, shape.dims);
}

void oxp__infer_reduce(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  bool reduced[OXP_MAX_RANK];
  if (x->rank >= 0 && infer_reduced_axes(io, x->rank, reduced))
    infer_reduce(io, x, reduced);
}

void oxp__infer_arg(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  if (x->rank < 0)
    return;
  bool reduced[OXP_MAX_RANK] = { false };
  int axis = oxp__infer_axis(io, oxp__infer_int(io, "axis", 0), x->rank);
  if (axis < 0)
    return;
  reduced[axis] = true;
  infer_reduce(io, x, reduced);
}
