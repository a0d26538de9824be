// lowering.c: what a kind's `lower` calls. Adds nodes, initializers and names to the graph under the profile's rules; after the
// first failure everything does nothing. Place: net.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/lower.h"

oxp_error *oxp__lower_error(const oxp__lowering *to)
{
  return to->builder.error;
}

int oxp__lower_opset(const oxp__lowering *to)
{
  return to->builder.opset;
}

oxp__dense_form oxp__lower_dense_form(const oxp__lowering *to)
{
  return to->profile->dense;
}

bool oxp__lower_batchnorm_expanded(const oxp__lowering *to)
{
  return to->options.batchnorm == OXP_BATCHNORM_EXPANDED;
}

oxp_dtype oxp__lower_dtype(const oxp__lowering *to)
{
  return to->dtype;
}

const char *oxp__lower_input(oxp__lowering *to, int index)
{
  return to->names[to->layer->inputs[index]];
}

const char *const *oxp__lower_inputs(oxp__lowering *to)
{
  static const char *const none[] = { NULL };
  size_t count = (size_t)to->layer->input_count;
  const char **inputs = oxp__arena_new(&to->scratch, count + 1, sizeof *inputs);
  for (size_t i = 0; inputs && i < count; i++)
    inputs[i] = oxp__lower_input(to, (int)i);
  if (!inputs && to->builder.status == OXP_OK)
    to->builder.status = oxp__fail_memory(to->builder.error, (count + 1) * sizeof *inputs);
  return inputs ? inputs : none;
}

const char *oxp__lower_output(oxp__lowering *to)
{
  return to->names[to->layer->output];
}

const oxp__shape *oxp__lower_input_shape(const oxp__lowering *to, int index)
{
  return &to->shapes[to->layer->inputs[index]];
}

const oxp__shape *oxp__lower_output_shape(const oxp__lowering *to)
{
  return &to->shapes[to->layer->output];
}

// A name that could not be had: memory is out.
static const char *lowering_name(oxp__lowering *to, const char *name)
{
  if (!name && to->builder.status == OXP_OK)
    to->builder.status = oxp__fail_memory(to->builder.error, 0);
  return name ? name : "";
}

// ---- Weights ----

// Is it the same array in the same view? Pointers are only compared, never written.
static bool lowering_is_same(const oxp_tensor *a, const oxp_tensor *b)
{
  if (a->read != b->read || a->context != b->context || a->offset_bytes != b->offset_bytes || a->dtype != b->dtype ||
      a->big_endian != b->big_endian || a->rank != b->rank)
    return false;
  size_t bytes = (size_t)a->rank * sizeof a->shape[0];
  return memcmp(a->shape, b->shape, bytes) == 0 && memcmp(a->strides_bytes, b->strides_bytes, bytes) == 0;
}

// The slot of the initializer that holds this view of these bytes, or the free one where its number belongs. At most half are taken.
static uint32_t *lowering_slot(oxp__lowering *to, const oxp_tensor *tensor)
{
  uint64_t hash =
      ((uintptr_t)tensor->context ^ tensor->offset_bytes) * 0x9E3779B97F4A7C15u; // 2^64 over the golden ratio
  for (size_t index = (size_t)(hash >> 32);; index++) {
    uint32_t *slot = &to->stored[index & (to->stored_capacity - 1)];
    if (*slot == 0 || lowering_is_same(&to->graph->model.graph->initializers.at[*slot - 1]->tensor, tensor))
      return slot;
  }
}

// The initializer that holds this view of these bytes already; NULL when there is none.
static const char *lowering_find_stored(oxp__lowering *to, const oxp_tensor *tensor)
{
  uint32_t number = to->stored_capacity > 0 ? *lowering_slot(to, tensor) : 0;
  return number > 0 ? to->graph->model.graph->initializers.at[number - 1]->name : NULL;
}

bool oxp__lowering_reserve_stored(oxp__lowering *to, size_t weights)
{
  size_t capacity = 16, old_capacity = to->stored_capacity;
  const uint32_t *old = to->stored;
  while (capacity / 2 < weights && capacity <= SIZE_MAX / 2)
    capacity *= 2;
  uint32_t *slots = oxp__arena_new(&to->scratch, capacity, sizeof *slots);
  if (!slots)
    return false;
  to->stored = slots;
  to->stored_capacity = capacity;
  for (size_t i = 0; i < old_capacity; i++)
    if (old[i] > 0)
      *lowering_slot(to, &to->graph->model.graph->initializers.at[old[i] - 1]->tensor) = old[i];
  return true;
}

// Remembers that the newest initializer holds this view.
static void lowering_remember(oxp__lowering *to, const oxp_tensor *tensor)
{
  if (2 * ++to->stored_count > to->stored_capacity && !oxp__lowering_reserve_stored(to, to->stored_count)) {
    to->builder.status = oxp__fail_memory(to->builder.error, 2 * to->stored_count * sizeof *to->stored);
    return;
  }
  *lowering_slot(to, tensor) = (uint32_t)to->graph->model.graph->initializers.count;
}

static const char *lowering_add_weight(oxp__lowering *to, int role, const oxp_tensor *tensor)
{
  const char *stored = lowering_find_stored(to, tensor);
  if (stored)
    return stored;
  const char *name = lowering_name(to, to->profile->initializer_name(&to->naming, to->layer, role));
  oxp__build_initializer(&to->builder, name, tensor, to->dtype);
  if (to->stored_capacity > 0 && to->builder.status == OXP_OK)
    lowering_remember(to, tensor);
  return name;
}

const char *oxp__lower_weight(oxp__lowering *to, int role)
{
  const oxp__weight *weight = &to->layer->weights[role];
  return weight->present ? lowering_add_weight(to, role, &weight->tensor) : NULL;
}

const char *oxp__lower_weight_as_stored(oxp__lowering *to, int role, bool *transposed)
{
  const oxp__weight *weight = &to->layer->weights[role];
  *transposed = weight->present && weight->permuted;
  if (!weight->present)
    return NULL;
  // An array that another layer uses the other way round is stored already.
  oxp_tensor swapped = oxp__tensor_permute(&weight->tensor, (const int[]){ 1, 0 });
  const oxp_tensor *stored = weight->permuted ? &swapped : &weight->tensor;
  const char *other =
      lowering_find_stored(to, stored) ? NULL : lowering_find_stored(to, weight->permuted ? &weight->tensor : &swapped);
  if (other)
    *transposed = !*transposed;
  return other ? other : lowering_add_weight(to, role, stored);
}

const char *oxp__lower_weight_permuted(oxp__lowering *to, int role, const int *axes)
{
  const oxp__weight *weight = &to->layer->weights[role];
  if (!weight->present)
    return NULL;
  oxp_tensor view = oxp__tensor_permute(&weight->tensor, axes);
  return lowering_add_weight(to, role, &view);
}

const char *oxp__lower_weight_shaped(oxp__lowering *to, int role, int rank, const int64_t *shape)
{
  const oxp__weight *weight = &to->layer->weights[role];
  if (!weight->present)
    return NULL;
  oxp_tensor view = weight->tensor;
  if (!oxp__tensor_reshape(&view, rank, shape) && to->builder.status == OXP_OK)
    to->builder.status = oxp__fail(to->builder.error, OXP_UNSUPPORTED,
                                   "weight \"%s\" cannot be viewed in the shape that the "
                                   "operator wants",
                                   weight->source_role);
  return lowering_add_weight(to, role, &view);
}

// ---- Constants ----

static const char *lowering_constant_name(oxp__lowering *to, const char *suffix)
{
  return lowering_name(to, oxp__naming_claimf(&to->naming, "%s.%s", to->naming.layer_name, suffix));
}

const char *oxp__lower_constant(oxp__lowering *to, const char *suffix, double value)
{
  const char *name = lowering_constant_name(to, suffix);
  oxp__build_constant_f64(&to->builder, name, to->dtype, 0, NULL, &value);
  return name;
}

const char *oxp__lower_ints(oxp__lowering *to, const char *suffix, int count, const int64_t *values)
{
  const char *name = lowering_constant_name(to, suffix);
  oxp__build_constant_i64(&to->builder, name, 1, (int64_t[]){ count }, values);
  return name;
}

// One of the two functions is set.
typedef struct lowering_made {
  int64_t (*whole)(int64_t index, const int64_t numbers[3]);
  double (*real)(int64_t index, const int64_t numbers[3]);
  oxp_dtype dtype;
  int64_t numbers[3];
} lowering_made;

// The bits of element `index`.
static uint64_t lowering_made_bits(const lowering_made *made, int64_t index)
{
  if (made->whole)
    return (uint64_t)made->whole(index, made->numbers);
  double real = made->real(index, made->numbers);
  float single = (float)real;
  uint32_t narrow;
  uint64_t wide;
  memcpy(&narrow, &single, sizeof narrow);
  memcpy(&wide, &real, sizeof wide);
  return made->dtype == OXP_FLOAT32 ? narrow : wide;
}

// An oxp_read_function: little-endian.
static oxp_status lowering_read_made(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  (void)error;
  const lowering_made *made = context;
  size_t width = oxp_dtype_bytes(made->dtype);
  unsigned char *bytes = buffer;
  uint64_t bits = 0;
  for (size_t i = 0; i < count; i++, offset++) {
    if (i == 0 || offset % width == 0)
      bits = lowering_made_bits(made, (int64_t)(offset / width));
    bytes[i] = (unsigned char)(bits >> 8 * (offset % width));
  }
  return OXP_OK;
}

static const char *lowering_add_made(oxp__lowering *to, const char *suffix, int rank, const int64_t *shape,
                                     const lowering_made *made)
{
  const char *name = lowering_constant_name(to, suffix);
  lowering_made *copy = oxp__arena_new(&to->graph->arena, 1, sizeof *copy);
  if (copy) {
    *copy = *made;
    oxp_tensor tensor = oxp_tensor_from_function(made->dtype, rank, shape, lowering_read_made, copy);
    oxp__build_initializer(&to->builder, name, &tensor, OXP_DTYPE_NONE);
  } else if (to->builder.status == OXP_OK) {
    to->builder.status = oxp__fail_memory(to->builder.error, sizeof *copy);
  }
  return name;
}

const char *oxp__lower_made_ints(oxp__lowering *to, const char *suffix, int64_t count,
                                 int64_t (*value)(int64_t index, const int64_t numbers[3]), const int64_t numbers[3])
{
  return lowering_add_made(
      to, suffix, 1, &count,
      &(lowering_made){ .whole = value, .dtype = OXP_INT64, .numbers = { numbers[0], numbers[1], numbers[2] } });
}

const char *oxp__lower_made_floats(oxp__lowering *to, const char *suffix, int rank, const int64_t *shape,
                                   double (*value)(int64_t index, const int64_t numbers[3]), const int64_t numbers[3])
{
  return lowering_add_made(
      to, suffix, rank, shape,
      &(lowering_made){ .real = value, .dtype = to->dtype, .numbers = { numbers[0], numbers[1], numbers[2] } });
}

const char *oxp__lower_floats(oxp__lowering *to, const char *suffix, int count, const double *values)
{
  const char *name = lowering_constant_name(to, suffix);
  oxp__build_constant_f64(&to->builder, name, OXP_FLOAT32, 1, (int64_t[]){ count }, values);
  return name;
}

// ---- Nodes ----

static oxp__node *lowering_node(oxp__lowering *to, const char *op_type, const char *name, const char *const *inputs,
                                const char *output)
{
  oxp__node *node = oxp__build_node(&to->builder, op_type, to->profile->node_names ? name : NULL, inputs,
                                    (const char *const[]){ output, NULL });
  return node ? node : to->dummy;
}

oxp__node *oxp__lower_node(oxp__lowering *to, const char *op_type, const char *const *inputs)
{
  return lowering_node(to, op_type, to->naming.layer_name, inputs, oxp__lower_output(to));
}

oxp__node *oxp__lower_inner(oxp__lowering *to, const char *op_type, const char *const *inputs, const char **inner)
{
  *inner = lowering_name(to, oxp__naming_claimf(&to->naming, "%s/%s", to->naming.layer_name, op_type));
  return lowering_node(to, op_type, *inner, inputs, *inner);
}

oxp__node *oxp__lower_step(oxp__lowering *to, const char *op_type, const char *const *inputs, const char **inner)
{
  return inner ? oxp__lower_inner(to, op_type, inputs, inner) : oxp__lower_node(to, op_type, inputs);
}

void oxp__lower_dense(oxp__lowering *to, const char *x, const char *weight, const char *bias, const char **inner)
{
  const char *product;
  oxp__lower_step(to, "MatMul", OXP__IN(x, weight), bias ? &product : inner);
  if (bias)
    oxp__lower_step(to, "Add", OXP__IN(product, bias), inner);
}

void oxp__attr_int(oxp__lowering *to, oxp__node *node, const char *name, int64_t value)
{
  if (node != to->dummy)
    oxp__build_int(&to->builder, node, name, value);
}

void oxp__attr_ints(oxp__lowering *to, oxp__node *node, const char *name, int count, const int64_t *values)
{
  if (node != to->dummy)
    oxp__build_ints(&to->builder, node, name, count, values);
}

// ONNX attributes are float32; in a float64 graph that may be another number than the network's. One that is none at all is what the
// network holds, and spoils what it touches.
static void lowering_warn_attribute(oxp__lowering *to, const char *name, double value)
{
  if (!isfinite(value))
    oxp__lower_warn(to, "%s is %s, which makes values that are not finite", name,
                    isnan(value) ? "NaN"
                    : value < 0  ? "-Infinity"
                                 : "Infinity");
  if (!isfinite(value) || to->dtype != OXP_FLOAT64 || !((double)(float)value < value || (double)(float)value > value))
    return;
  oxp__text text = { 0 };
  oxp__text_add_json_number(&text, value);
  oxp__lower_warn(to, "%s %s is rounded to float32 in the file, because ONNX attributes have no other type", name,
                  oxp__text_string(&text));
  oxp__text_fini(&text);
}

void oxp__attr_float(oxp__lowering *to, oxp__node *node, const char *name, double value)
{
  if (node == to->dummy)
    return;
  oxp__build_float(&to->builder, node, name, value);
  lowering_warn_attribute(to, name, value);
}

void oxp__attr_string(oxp__lowering *to, oxp__node *node, const char *name, const char *value)
{
  if (node != to->dummy)
    oxp__build_string(&to->builder, node, name, value);
}

void oxp__lower_warn(oxp__lowering *to, const char *format, ...)
{
  char label[256], sentence[768];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  oxp__graph_warn(to->graph, "%s: %s", oxp__layer_label(to->layer, label, sizeof label), sentence);
}

const char *oxp__lower_reduce_mean(oxp__lowering *to, const char *input, int count, const int64_t *axes)
{
  const char *inner;
  if (oxp__lower_opset(to) >= 18) {
    const char *list = oxp__lower_ints(to, "axes", count, axes);
    oxp__attr_int(to, oxp__lower_inner(to, "ReduceMean", OXP__IN(input, list), &inner), "keepdims", 1);
    return inner;
  }
  oxp__node *node = oxp__lower_inner(to, "ReduceMean", OXP__IN(input), &inner);
  oxp__attr_ints(to, node, "axes", count, axes);
  oxp__attr_int(to, node, "keepdims", 1);
  return inner;
}
