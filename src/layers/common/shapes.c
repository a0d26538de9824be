// shapes.c: the shape functions that several kinds use. All arithmetic is checked; symbolic dimensions are negative
// numbers and are never calculated with. Place: layers/common.
#include "layers/kind.h"

#include "core/text.h"
#include "layers/common/shapes.h"

oxp_status oxp__shape_same(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output, oxp_error *error)
{
  (void)layer;
  (void)error;
  *output = inputs[0];
  return OXP_OK;
}

oxp_status oxp__shape_fail(const oxp__shape *input, oxp_error *error, const char *reason)
{
  oxp__text text = { 0 };
  oxp__text_add_shape(&text, input->rank, input->dim);
  oxp_status status = oxp__fail(error, OXP_BAD_NETWORK, "the input has shape %s; %s", oxp__text_string(&text), reason);
  oxp__text_fini(&text);
  return status;
}

oxp_status oxp__shape_need_rank(const oxp__layer *layer, const oxp__shape *input, int rank, oxp_error *error)
{
  if (input->rank == rank)
    return OXP_OK;
  oxp__text text = { 0 };
  oxp__text_add_shape(&text, input->rank, input->dim);
  oxp_status status = oxp__fail(error, OXP_BAD_NETWORK, "the input has rank %d, %s; %s needs rank %d", input->rank,
                                oxp__text_string(&text), layer->kind->name, rank);
  oxp__text_fini(&text);
  return status;
}

oxp_status oxp__shape_need_dim(const oxp__layer *layer, const oxp__shape *input, int axis, int64_t expected,
                               const char *what, oxp_error *error)
{
  int64_t dim = input->dim[axis];
  if (dim < 0 || dim == expected)
    return OXP_OK;
  oxp__text text = { 0 };
  oxp__text_add_shape(&text, input->rank, input->dim);
  oxp_status status = oxp__fail(error, OXP_BAD_NETWORK, "the input has %lld %s, %s; this %s needs %lld", (long long)dim,
                                what, oxp__text_string(&text), layer->kind->name, (long long)expected);
  oxp__text_fini(&text);
  return status;
}

// Two dimensions that meet in a broadcast. False when they do not fit.
static bool shape_broadcast_dim(int64_t a, int64_t b, int64_t *out)
{
  if (a == b || b == 1)
    *out = a;
  else if (a == 1)
    *out = b;
  else if (a < 0 && b < 0)
    *out = OXP_DIM_UNKNOWN; // whichever is not 1
  else if (a < 0 || b < 0)
    *out = a < 0 ? b : a; // the symbol is 1 or equal
  else
    return false;
  return true;
}

static oxp_status shape_fail_pair(const oxp__shape *a, const oxp__shape *b, const char *how, oxp_error *error)
{
  oxp__text left = { 0 }, right = { 0 };
  oxp__text_add_shape(&left, a->rank, a->dim);
  oxp__text_add_shape(&right, b->rank, b->dim);
  oxp_status status = oxp__fail(error, OXP_BAD_NETWORK, "inputs of shapes %s and %s cannot be %s",
                                oxp__text_string(&left), oxp__text_string(&right), how);
  oxp__text_fini(&left);
  oxp__text_fini(&right);
  return status;
}

oxp_status oxp__shape_broadcast(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output, oxp_error *error)
{
  oxp__shape sum = inputs[0];
  for (int i = 1; i < layer->input_count; i++) {
    oxp__shape a = sum, b = inputs[i];
    sum.rank = a.rank > b.rank ? a.rank : b.rank;
    for (int axis = 0; axis < sum.rank; axis++) { // counted from the last axis
      int64_t of_a = axis < a.rank ? a.dim[a.rank - 1 - axis] : 1;
      int64_t of_b = axis < b.rank ? b.dim[b.rank - 1 - axis] : 1;
      if (!shape_broadcast_dim(of_a, of_b, &sum.dim[sum.rank - 1 - axis]))
        return shape_fail_pair(&a, &b, "broadcast together", error);
    }
  }
  *output = sum;
  return OXP_OK;
}

oxp_status oxp__shape_join(const oxp__shape *a, const oxp__shape *b, int axis, oxp__shape *output, oxp_error *error)
{
  if (a->rank != b->rank)
    return shape_fail_pair(a, b, "joined: their ranks differ", error);
  oxp__shape sum = *a;
  for (int i = 0; i < a->rank; i++) {
    int64_t x = a->dim[i], y = b->dim[i];
    if (i == axis) {
      if (x < 0 || y < 0)
        sum.dim[i] = OXP_DIM_UNKNOWN;
      else if (!oxp__add_i64(x, y, &sum.dim[i]))
        return shape_fail_pair(a, b, "joined: the sum of their sizes overflows", error);
    } else if (x >= 0 && y >= 0 && x != y) {
      return shape_fail_pair(a, b, "joined: another axis differs", error);
    } else if (x != y) {
      sum.dim[i] = x >= 0 ? x : y >= 0 ? y : OXP_DIM_UNKNOWN;
    }
  }
  *output = sum;
  return OXP_OK;
}

oxp_status oxp__shape_limit_window(int64_t reach, int64_t pads, oxp_error *error)
{
  const int64_t most = 1 << 24;
  if (reach <= most && pads <= most)
    return OXP_OK;
  return oxp__fail(
      error, OXP_BAD_NETWORK,
      "the window covers %lld places and the pads are %lld on one axis; no program can run a map of that size, "
      "the limit is %lld",
      (long long)reach, (long long)pads, (long long)most);
}

oxp_status oxp__shape_window(const oxp__layer *layer, int64_t in, int64_t kernel, int64_t stride, int64_t pad_begin,
                             int64_t pad_end, int64_t dilation, int64_t *out, oxp_error *error)
{
  int64_t reach, pads, padded; // the window covers reach + 1 places
  if (!oxp__mul_i64(dilation, kernel - 1, &reach) || !oxp__add_i64(pad_begin, pad_end, &pads) || reach == INT64_MAX ||
      !oxp__add_i64(in < 0 ? 0 : in, pads, &padded))
    return oxp__fail(error, OXP_BAD_NETWORK, "the window's size (kernel %lld, dilation %lld) or pads overflow",
                     (long long)kernel, (long long)dilation);
  OXP__TRY(oxp__shape_limit_window(reach + 1, pads, error));
  if (in < 0) {
    *out = stride == 1 && pads == reach ? in : OXP_DIM_UNKNOWN;
    return OXP_OK;
  }
  if (padded < reach + 1)
    return oxp__fail(error, OXP_BAD_NETWORK, "the window covers %lld places, but the padded input of this %s has %lld",
                     (long long)(reach + 1), layer->kind->name, (long long)padded);
  *out = (padded - reach - 1) / stride + 1;
  return OXP_OK;
}

int oxp__axis_from_front(int64_t axis, int rank)
{
  return (int)(axis < 0 ? axis + rank : axis);
}

oxp_status oxp__shape_axis(const oxp__shape *input, int64_t axis, int *out, oxp_error *error)
{
  if (axis >= -input->rank && axis < input->rank) {
    *out = oxp__axis_from_front(axis, input->rank);
    return OXP_OK;
  }
  return oxp__fail(error, OXP_BAD_NETWORK, "axis is %lld, but the input has rank %d", (long long)axis, input->rank);
}

int64_t oxp__shape_product(const oxp__shape *shape, int begin, int end)
{
  int64_t product = 1;
  for (int i = begin; i < end; i++)
    product *= shape->dim[i];
  return product;
}
