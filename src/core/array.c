// array.c: dense arrays in memory. Place: core.
#include <math.h>
#include <stdlib.h>

#include "core/numbers.h"

oxp_status oxp_array_new(oxp_array *array, oxp_dtype dtype, int rank, const int64_t *shape, oxp_error *error)
{
  OXP__NEED(array, error);
  *array = (oxp_array){ .dtype = dtype, .rank = rank };
  int64_t count = 0, wanted = 0;
  size_t bytes = 0;
  if (rank > 0)
    OXP__NEED(shape, error);
  if (rank < 0 || rank > OXP_MAX_RANK || oxp_dtype_bytes(dtype) == 0)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "an array of type %s and rank %d cannot be made (rank 0 to %d)",
                     oxp_dtype_name(dtype), rank, OXP_MAX_RANK);
  if (!oxp__shape_count(rank, shape, &count) || !oxp__mul_i64(count, (int64_t)oxp_dtype_bytes(dtype), &wanted))
    return oxp__fail(error, OXP_BAD_ARGUMENT, "an array of this shape has a negative dimension or too many elements");
  for (int i = 0; i < rank; i++)
    array->shape[i] = shape[i];
  if (oxp__memory_bytes(count, oxp_dtype_bytes(dtype), &bytes))
    array->data = calloc(bytes ? bytes : 1, 1);
  return array->data ? OXP_OK : oxp__fail_memory(error, (uint64_t)wanted);
}

void oxp_array_free(oxp_array *array)
{
  if (!array)
    return;
  free(array->data);
  *array = (oxp_array){ 0 };
}

int64_t oxp_array_count(const oxp_array *array)
{
  if (!array)
    return 0;
  int64_t count = 0;
  return oxp__shape_count(array->rank, array->shape, &count) ? count : 0;
}

size_t oxp_array_bytes(const oxp_array *array)
{
  return array ? (size_t)oxp_array_count(array) * oxp_dtype_bytes(array->dtype) : 0;
}

oxp_status oxp_array_fill_random(oxp_array *array, uint64_t seed, oxp_error *error)
{
  OXP__NEED(array, error);
  if (array->dtype != OXP_FLOAT32 && array->dtype != OXP_FLOAT64)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "random values are for float32 and float64 arrays, this one is %s",
                     oxp_dtype_name(array->dtype));
  oxp__random random = { seed };
  size_t size = oxp_dtype_bytes(array->dtype);
  int64_t count = oxp_array_count(array);
  if (count > 0)
    OXP__NEED(array->data, error);
  for (int64_t i = 0; i < count; i++) {
    // 24 random bits: exact in float32, so both types get the same values.
    double unit = floor(oxp__random_unit(&random) * 0x1p24) * 0x1p-24;
    oxp__store_f64(array->dtype, (unsigned char *)array->data + (size_t)i * size, 2 * unit - 1);
  }
  return OXP_OK;
}
