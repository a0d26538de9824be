// infer_shape.c: shapes of the operators that move, cut and join values. Place: onnx.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "onnx/infer.h"

void oxp__infer_flatten(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  if (x->rank < 0) {
    oxp__infer_set_shape(io, 2, (int64_t[]){ OXP_DIM_UNKNOWN, OXP_DIM_UNKNOWN });
    return;
  }
  int64_t axis = oxp__infer_int(io, "axis", 1);
  int split = axis == x->rank ? x->rank : oxp__infer_axis(io, axis, x->rank);
  if (split >= 0)
    oxp__infer_set_shape(io, 2, (int64_t[]){ oxp__infer_product(x, 0, split), oxp__infer_product(x, split, x->rank) });
}

// Resolves 0 (the input's dimension): taken out of both sides, so that a symbol there does no harm. The rest of the input is
// left in *rest.
static bool infer_reshape_copy(oxp__inference *io, const oxp__typed *x, int count, int64_t *dims, oxp__typed *rest)
{
  bool zero_is_zero = oxp__infer_int(io, "allowzero", 0);
  *rest = *x;
  for (int i = 0; i < count && !zero_is_zero; i++) {
    if (dims[i] != 0)
      continue;
    if (x->rank >= 0 && i >= x->rank) {
      oxp__infer_problem(io, "number %d of the new shape is 0 (as in the input), but the input has rank %d", i,
                         x->rank);
      return false;
    }
    dims[i] = x->rank < 0 ? OXP_DIM_UNKNOWN : x->dims[i];
    if (x->rank >= 0)
      rest->dims[i] = 1;
  }
  return true;
}

// The one number that was left open: what remains of the input's elements.
static int64_t infer_reshape_open(oxp__inference *io, int64_t elements, int64_t known)
{
  if (elements < 0)
    return known == 1 ? elements : OXP_DIM_UNKNOWN;
  if (known == 0 || elements % known != 0) {
    oxp__infer_problem(io, "%" PRId64 " elements cannot be divided into rows of %" PRId64, elements, known);
    return OXP_DIM_UNKNOWN;
  }
  return elements / known;
}

void oxp__infer_reshape(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0), *shape = oxp__infer_input(io, 1);
  int64_t asked[OXP__INFER_MAX_CONSTANT], dims[OXP__INFER_MAX_CONSTANT], known = 1;
  int count = 0, open = -1;
  if (!oxp__infer_constant_ints(shape, &count, asked) || count > OXP_MAX_RANK)
    return;
  oxp__typed rest;
  memcpy(dims, asked, sizeof dims);
  if (!infer_reshape_copy(io, x, count, dims, &rest))
    return;
  bool copies = oxp__infer_int(io, "allowzero", 0) == 0;
  for (int i = 0; i < count; i++) {
    if (asked[i] < -1 || (asked[i] == -1 && open >= 0))
      oxp__infer_problem(io, "the new shape holds %" PRId64 " where at most one -1 may stand", asked[i]);
    if (asked[i] == -1)
      open = i;
    else if (!(copies && asked[i] == 0) && asked[i] >= 0 && !oxp__mul_i64(known, asked[i], &known))
      oxp__infer_problem(io, "the new shape has too many elements");
  }
  if (io->problem[0])
    return;
  int64_t elements = x->rank < 0 ? OXP_DIM_UNKNOWN : oxp__infer_product(&rest, 0, x->rank);
  if (open >= 0)
    dims[open] = infer_reshape_open(io, elements, known);
  else if (elements >= 0 && elements != known)
    oxp__infer_problem(io, "%" PRId64 " elements do not fit a shape for %" PRId64, elements, known);
  oxp__infer_set_shape(io, count, dims);
}

void oxp__infer_transpose(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  const oxp__ints *perm = oxp__infer_ints(io, "perm");
  if (x->rank < 0)
    return;
  if (perm && perm->count != (size_t)x->rank) {
    oxp__infer_problem(io, "perm has %zu numbers for an input of rank %d", perm->count, x->rank);
    return;
  }
  int64_t dims[OXP_MAX_RANK];
  bool seen[OXP_MAX_RANK] = { false };
  for (int i = 0; i < x->rank; i++) {
    int64_t axis = perm ? perm->at[i] : x->rank - 1 - i;
    if (axis < 0 || axis >= x->rank || seen[axis]) {
      oxp__infer_problem(io, "perm is not an order of %d axes", x->rank);
      return;
    }
    seen[axis] = true;
    dims[i] = x->dims[axis];
  }
  oxp__infer_set_shape(io, x->rank, dims);
}

// --- Joining ---

// Adds input number `index` along `axis`.
static void infer_concat_one(oxp__inference *io, size_t index, int axis, oxp__typed *sum)
{
  const oxp__typed *value = oxp__infer_input(io, index);
  char one[OXP__INFER_TEXT], two[OXP__INFER_TEXT];
  oxp__infer_shape_text(sum, one, sizeof one);
  bool fits = value->rank == sum->rank;
  for (int i = 0; i < sum->rank && fits; i++) {
    if (i != axis)
      fits = oxp__infer_same_dim(sum->dims[i], value->dims[i], &sum->dims[i]);
    else if (sum->dims[i] < 0 || value->dims[i] < 0 || !oxp__add_i64(sum->dims[i], value->dims[i], &sum->dims[i]))
      sum->dims[i] = OXP_DIM_UNKNOWN;
  }
  if (!fits)
    oxp__infer_problem(io, "input %zu of shape %s cannot be joined to %s along axis %d", index,
                       oxp__infer_shape_text(value, two, sizeof two), one, axis);
}

void oxp__infer_concat(oxp__inference *io)
{
  oxp__typed sum = *oxp__infer_input(io, 0);
  for (size_t i = 0; i < io->input_count; i++)
    if (oxp__infer_input(io, i)->rank < 0)
      return;
  if (io->input_count == 0)
    return;
  int axis = oxp__infer_axis(io, oxp__infer_int(io, "axis", 1), sum.rank);
  for (size_t i = 1; i < io->input_count && axis >= 0 && !io->problem[0]; i++)
    infer_concat_one(io, i, axis, &sum);
  if (axis >= 0)
    oxp__infer_set_shape(io, sum.rank, sum.dims);
}

// --- Axes of length 1 ---

void oxp__infer_squeeze(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  int axes[OXP__INFER_MAX_CONSTANT], count;
  if (x->rank < 0 || !oxp__infer_axes(io, 1, x->rank, &count, axes) || count == 0)
    return;
  bool dropped[OXP_MAX_RANK] = { false };
  for (int i = 0; i < count; i++) {
    dropped[axes[i]] = true;
    if (x->dims[axes[i]] >= 0 && x->dims[axes[i]] != 1)
      oxp__infer_problem(io, "axis %d has length %" PRId64 ", not 1", axes[i], x->dims[axes[i]]);
  }
  oxp__typed shape = { 0 };
  for (int i = 0; i < x->rank; i++)
    if (!dropped[i])
      shape.dims[shape.rank++] = x->dims[i];
  oxp__infer_set_shape(io, shape.rank, shape.dims);
}

void oxp__infer_unsqueeze(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  const oxp__ints *attribute = oxp__infer_ints(io, "axes");
  const oxp__typed *input = oxp__infer_input(io, 1);
  int64_t added = attribute ? (int64_t)attribute->count : input->rank == 1 ? input->dims[0] : -1;
  if (x->rank < 0 || added < 0 || added > OXP_MAX_RANK - x->rank)
    return;
  int axes[OXP__INFER_MAX_CONSTANT], count, rank = x->rank + (int)added, next = 0;
  if (!oxp__infer_axes(io, 1, rank, &count, axes) || count != added)
    return;
  bool is_new[OXP_MAX_RANK] = { false };
  for (int i = 0; i < count; i++) {
    if (is_new[axes[i]])
      oxp__infer_problem(io, "axis %d is named twice", axes[i]);
    is_new[axes[i]] = true;
  }
  if (io->problem[0])
    return;
  int64_t dims[OXP_MAX_RANK];
  for (int i = 0; i < rank; i++)
    dims[i] = is_new[i] ? 1 : x->dims[next++];
  oxp__infer_set_shape(io, rank, dims);
}

// --- Growing and cutting ---

void oxp__infer_expand(oxp__inference *io)
{
  oxp__typed shape = *oxp__infer_input(io, 0), asked = { 0 };
  int64_t numbers[OXP__INFER_MAX_CONSTANT];
  if (shape.rank < 0 || !oxp__infer_constant_ints(oxp__infer_input(io, 1), &asked.rank, numbers) ||
      asked.rank > OXP_MAX_RANK)
    return;
  memcpy(asked.dims, numbers, (size_t)asked.rank * sizeof *numbers);
  if (!oxp__infer_broadcast_into(&shape, &asked, false))
    oxp__infer_problem(io, "the input does not broadcast to the shape that is asked for");
  oxp__infer_set_shape(io, shape.rank, shape.dims);
}

void oxp__infer_gather(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0), *indices = oxp__infer_input(io, 1);
  if (x->rank < 0 || indices->rank < 0)
    return;
  int axis = oxp__infer_axis(io, oxp__infer_int(io, "axis", 0), x->rank);
  if (axis < 0 || x->rank + indices->rank - 1 > OXP_MAX_RANK)
    return;
  oxp__typed shape = { 0 };
  for (int i = 0; i < axis; i++)
    shape.dims[shape.rank++] = x->dims[i];
  for (int i = 0; i < indices->rank; i++)
    shape.dims[shape.rank++] = indices->dims[i];
  for (int i = axis + 1; i < x->rank; i++)
    shape.dims[shape.rank++] = x->dims[i];
  oxp__infer_set_shape(io, shape.rank, shape.dims);
}

// The axis that is padded, by `pads` at its begin and its end.
static int64_t infer_padded(oxp__inference *io, int axis, int64_t begin, int64_t end)
{
  int64_t dim = oxp__infer_input(io, 0)->dims[axis], sum;
  if (begin == 0 && end == 0)
    return dim;
  if (dim < 0 || !oxp__add_i64(begin, end, &sum) || !oxp__add_i64(sum, dim, &sum))
    return OXP_DIM_UNKNOWN;
  if (sum < 0)
    oxp__infer_problem(io, "axis %d of length %" PRId64 " is cut to less than nothing", axis, dim);
  return sum;
}

// Input 3 names the axes from opset 18 on; else they are all padded, in order.
void oxp__infer_pad(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  const oxp__ints *attribute = oxp__infer_ints(io, "pads");
  int64_t pads[OXP__INFER_MAX_CONSTANT], dims[OXP_MAX_RANK];
  int axes[OXP__INFER_MAX_CONSTANT], axis_count, count = attribute ? (int)attribute->count : 0;
  if (x->rank < 0)
    return;
  bool known = attribute || oxp__infer_constant_ints(oxp__infer_input(io, 1), &count, pads);
  bool known_axes = oxp__infer_axes_or_all(io, 3, x->rank, &axis_count, axes);
  if (known && known_axes && count != 2 * axis_count)
    oxp__infer_problem(io, "%d pads for %d axes", count, axis_count);
  if (io->problem[0])
    return;
  for (int i = 0; i < x->rank; i++)
    dims[i] = known && known_axes ? x->dims[i] : OXP_DIM_UNKNOWN;
  const int64_t *given = attribute ? attribute->at : pads;
  for (int i = 0; known && known_axes && i < axis_count; i++)
    dims[axes[i]] = infer_padded(io, axes[i], given[i], given[axis_count + i]);
  oxp__infer_set_shape(io, x->rank, dims);
}

// The length of part number `index` of equal ones, as far as the whole lasts; OXP_DIM_UNKNOWN when it is not known.
static int64_t infer_equal_part(const oxp__inference *io, int64_t whole, size_t index)
{
  int64_t outputs = (int64_t)io->output_count;
  if (whole < 0)
    return OXP_DIM_UNKNOWN;
  int64_t part = whole / outputs + (whole % outputs != 0), left;
  if (!oxp__mul_i64(part, (int64_t)index, &left) || left >= whole)
    return 0;
  return whole - left < part ? whole - left : part;
}

// Parts of given lengths make up the whole.
static void infer_check_parts(oxp__inference *io, int64_t whole, const int64_t *parts, int count)
{
  int64_t sum = 0;
  bool known = whole >= 0;
  for (int i = 0; i < count; i++) {
    if (parts[i] < 0)
      oxp__infer_problem(io, "part %d has the length %" PRId64, i, parts[i]);
    known = known && oxp__add_i64(sum, parts[i], &sum);
  }
  if (known && sum != whole)
    oxp__infer_problem(io, "the parts are %" PRId64 " long together, the axis %" PRId64, sum, whole);
}

void oxp__infer_split(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  const oxp__ints *attribute = oxp__infer_ints(io, "split");
  int64_t numbers[OXP__INFER_MAX_CONSTANT];
  int count = -1;
  if (x->rank < 0 || io->output_count == 0)
    return;
  int axis = oxp__infer_axis(io, oxp__infer_int(io, "axis", 0), x->rank);
  if (axis < 0 || (attribute && attribute->count > OXP__INFER_MAX_CONSTANT))
    return;
  if (attribute)
    for (count = 0; count < (int)attribute->count; count++)
      numbers[count] = attribute->at[count];
  else if (oxp__infer_has_input(io, 1) && !oxp__infer_constant_ints(oxp__infer_input(io, 1), &count, numbers))
    return;
  if (count >= 0)
    infer_check_parts(io, x->dims[axis], numbers, count);
  for (size_t i = 0; i < io->output_count && !io->problem[0]; i++) {
    io->outputs[i].rank = x->rank;
    memcpy(io->outputs[i].dims, x->dims, sizeof x->dims);
    io->outputs[i].dims[axis] = count < 0           ? infer_equal_part(io, x->dims[axis], i)
                                : i < (size_t)count ? numbers[i]
                                                    : OXP_DIM_UNKNOWN;
  }
}

// --- Shapes as values, blocks ---

void oxp__infer_shape(oxp__inference *io)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  int64_t length = OXP_DIM_UNKNOWN;
  if (x->rank >= 0 && !oxp__infer_attribute(io, "start") && !oxp__infer_attribute(io, "end"))
    length = x->rank;
  oxp__infer_set_shape(io, 1, &length);
}

void oxp__infer_size(oxp__inference *io)
{
  oxp__infer_set_shape(io, 0, NULL);
}

static bool infer_blocks(oxp__inference *io, int64_t *block)
{
  const oxp__typed *x = oxp__infer_input(io, 0);
  *block = oxp__infer_int(io, "blocksize", 0);
  if (x->rank >= 0 && x->rank != 4)
    oxp__infer_problem(io, "the input has rank %d, but needs rank 4", x->rank);
  if (*block < 1 || *block > INT16_MAX)
    oxp__infer_problem(io, "blocksize %" PRId64 " is out of range", *block);
  return x->rank == 4 && !io->problem[0];
}

static int64_t infer_divide(oxp__inference *io, int64_t dim, int64_t by)
{
  if (dim < 0)
    return OXP_DIM_UNKNOWN;
  if (dim % by != 0)
    oxp__infer_problem(io, "%" PRId64 " cannot be divided into blocks of %" PRId64, dim, by);
  return dim / by;
}

static int64_t infer_multiply(int64_t dim, int64_t by)
{
  int64_t product;
  return dim >= 0 && oxp__mul_i64(dim, by, &product) ? product : OXP_DIM_UNKNOWN;
}

void oxp__infer_depth_to_space(oxp__inference *io)
{
  int64_t block;
  if (!infer_blocks(io, &block))
    return;
  const int64_t *x = oxp__infer_input(io, 0)->dims;
  oxp__infer_set_shape(io, 4,
                       (int64_t[]){ x[0], infer_divide(io, x[1], block * block), infer_multiply(x[2], block),
                                    infer_multiply(x[3], block) });
}

void oxp__infer_space_to_depth(oxp__inference *io)
{
  int64_t block;
  if (!infer_blocks(io, &block))
    return;
  const int64_t *x = oxp__infer_input(io, 0)->dims;
  oxp__infer_set_shape(io, 4,
                       (int64_t[]){ x[0], infer_multiply(x[1], block * block), infer_divide(io, x[2], block),
                                    infer_divide(io, x[3], block) });
}
