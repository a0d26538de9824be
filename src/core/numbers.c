// numbers.c: checked arithmetic, element types, conversions, random numbers. Pure functions. Place: core.
#include "core/numbers.h"

#include <float.h>
#include <math.h>
#include <string.h>

// The same numbers on every machine: float and double are computed as such. 16 is the same for both, and says something of
// half floats, which are not computed with.
_Static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16, "float and double would be computed in wider registers");

bool oxp__mul_i64(int64_t a, int64_t b, int64_t *result)
{
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    return false;
  *result = product;
  return true;
}

bool oxp__add_i64(int64_t a, int64_t b, int64_t *result)
{
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum))
    return false;
  *result = sum;
  return true;
}

bool oxp__mul_size(size_t a, size_t b, size_t *result)
{
  size_t product;
  if (__builtin_mul_overflow(a, b, &product))
    return false;
  *result = product;
  return true;
}

bool oxp__memory_bytes(int64_t count, size_t size, size_t *result)
{
  return count >= 0 && (uint64_t)count <= SIZE_MAX && oxp__mul_size((size_t)count, size, result);
}

bool oxp__shape_count(int rank, const int64_t *shape, int64_t *count)
{
  int64_t product = 1;
  bool zero = false;
  for (int i = 0; i < rank; i++) {
    if (shape[i] < 0)
      return false;
    zero = zero || shape[i] == 0;
    // A zero dimension makes the product 0 whatever the others are; they are still checked without it.
    if (!oxp__mul_i64(product, shape[i] ? shape[i] : 1, &product))
      return false;
  }
  *count = zero ? 0 : product;
  return true;
}

int64_t oxp__floor_div(int64_t a, int64_t b)
{
  int64_t quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}

// ---- Element types ----

typedef struct dtype_row {
  const char *name;
  size_t bytes;
  bool is_float;
  size_t packed_bits; // of types that we make no arrays of; else 0
} dtype_row;

static const dtype_row dtype_rows[] = {
  [OXP_FLOAT32] = { "float32", 4, true, 0 },
  [OXP_UINT8] = { "uint8", 1, false, 0 },
  [OXP_INT8] = { "int8", 1, false, 0 },
  [OXP_UINT16] = { "uint16", 2, false, 0 },
  [OXP_INT16] = { "int16", 2, false, 0 },
  [OXP_INT32] = { "int32", 4, false, 0 },
  [OXP_INT64] = { "int64", 8, false, 0 },
  [OXP_STRING] = { "string", 0, false, 0 },
  [OXP_BOOL] = { "bool", 1, false, 0 },
  [OXP_FLOAT16] = { "float16", 2, true, 0 },
  [OXP_FLOAT64] = { "float64", 8, true, 0 },
  [OXP_UINT32] = { "uint32", 4, false, 0 },
  [OXP_UINT64] = { "uint64", 8, false, 0 },
  [OXP_COMPLEX64] = { "complex64", 8, false, 0 },
  [OXP_COMPLEX128] = { "complex128", 16, false, 0 },
  [OXP_BFLOAT16] = { "bfloat16", 2, true, 0 },
  [OXP_FLOAT8E4M3FN] = { "float8e4m3fn", 0, false, 8 },
  [OXP_FLOAT8E4M3FNUZ] = { "float8e4m3fnuz", 0, false, 8 },
  [OXP_FLOAT8E5M2] = { "float8e5m2", 0, false, 8 },
  [OXP_FLOAT8E5M2FNUZ] = { "float8e5m2fnuz", 0, false, 8 },
  [OXP_UINT4] = { "uint4", 0, false, 4 },
  [OXP_INT4] = { "int4", 0, false, 4 },
  [OXP_FLOAT4E2M1] = { "float4e2m1", 0, false, 4 },
  [OXP_FLOAT8E8M0] = { "float8e8m0", 0, false, 8 },
  [OXP_UINT2] = { "uint2", 0, false, 2 },
  [OXP_INT2] = { "int2", 0, false, 2 },
  [OXP_FLOAT6E2M3] = { "float6e2m3", 0, false, 6 },
  [OXP_FLOAT6E3M2] = { "float6e3m2", 0, false, 6 },
};

static const dtype_row *dtype_find(oxp_dtype dtype)
{
  size_t index = (size_t)dtype;
  bool known = index < sizeof dtype_rows / sizeof dtype_rows[0] && dtype_rows[index].name;
  return known ? &dtype_rows[index] : NULL;
}

const char *oxp_dtype_name(oxp_dtype dtype)
{
  const dtype_row *row = dtype_find(dtype);
  return row ? row->name : "unknown";
}

size_t oxp_dtype_bytes(oxp_dtype dtype)
{
  const dtype_row *row = dtype_find(dtype);
  return row ? row->bytes : 0;
}

size_t oxp__dtype_bits(oxp_dtype dtype)
{
  const dtype_row *row = dtype_find(dtype);
  return !row ? 0 : row->packed_bits ? row->packed_bits : 8 * row->bytes;
}

bool oxp__dtype_is_float(oxp_dtype dtype)
{
  const dtype_row *row = dtype_find(dtype);
  return row && row->is_float;
}

// IEEE 754 binary16 to double: sign, 5 exponent bits (bias 15), 10 fraction bits.
static double half_to_f64(uint16_t half)
{
  int exponent = half >> 10 & 0x1F;
  int fraction = half & 0x3FF;
  double magnitude;
  if (exponent == 0x1F)
    magnitude = fraction ? (double)NAN : (double)INFINITY;
  else if (exponent == 0)
    magnitude = ldexp(fraction, -24);
  else
    magnitude = ldexp(1024 + fraction, exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

// To a floating type of 16 bits, of which the lowest `fraction_bits` are the fraction; rounds once, to nearest even.
static uint16_t f64_to_16(double value, int fraction_bits)
{
  int bias = (1 << (14 - fraction_bits)) - 1, exponent = 0;
  uint16_t sign = signbit(value) ? 0x8000 : 0, infinity = (uint16_t)((2 * bias + 1) << fraction_bits);
  double magnitude = fabs(value);
  if (isnan(value))
    return (uint16_t)(sign | infinity | 1 << (fraction_bits - 1));
  if (isinf(value))
    return (uint16_t)(sign | infinity);
  frexp(magnitude, &exponent);
  // The unit in the last place: that of the smallest number, or so many bits under the leading one.
  int smallest = 1 - bias - fraction_bits, unit = exponent - 1 - fraction_bits;
  unit = unit < smallest ? smallest : unit;
  long steps = lrint(ldexp(magnitude, -unit)); // round to nearest even, the default mode
  double rounded = ldexp((double)steps, unit);
  if (rounded >= ldexp(1, bias + 1))
    return (uint16_t)(sign | infinity);
  if (rounded < ldexp(1, 1 - bias))
    return (uint16_t)(sign | (uint16_t)steps);
  frexp(rounded, &exponent);
  long fraction = (long)ldexp(rounded, fraction_bits + 1 - exponent) - (1 << fraction_bits);
  return (uint16_t)(sign | (exponent - 1 + bias) << fraction_bits | fraction);
}

static double bfloat_to_f64(uint16_t bits)
{
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return (double)value;
}

// Reads one element of a C type without assuming alignment.
#define LOAD_CASE(dtype, type)                                                                                         \
  case dtype: {                                                                                                        \
    type typed;                                                                                                        \
    memcpy(&typed, element, sizeof typed);                                                                             \
    return (double)typed;                                                                                              \
  }

double oxp__load_f64(oxp_dtype dtype, const void *element)
{
  uint16_t bits;
  switch (dtype) {
    LOAD_CASE(OXP_FLOAT32, float)
    LOAD_CASE(OXP_FLOAT64, double)
    LOAD_CASE(OXP_UINT8, uint8_t)
    LOAD_CASE(OXP_BOOL, uint8_t)
    LOAD_CASE(OXP_INT8, int8_t)
    LOAD_CASE(OXP_UINT16, uint16_t)
    LOAD_CASE(OXP_INT16, int16_t)
    LOAD_CASE(OXP_UINT32, uint32_t)
    LOAD_CASE(OXP_INT32, int32_t)
    LOAD_CASE(OXP_UINT64, uint64_t)
    LOAD_CASE(OXP_INT64, int64_t)
  case OXP_FLOAT16:
    memcpy(&bits, element, sizeof bits);
    return half_to_f64(bits);
  case OXP_BFLOAT16:
    memcpy(&bits, element, sizeof bits);
    return bfloat_to_f64(bits);
  default:
    return (double)NAN;
  }
}

// Stores a double as an integer type: truncated, saturated at the type's ends, NaN as 0.
#define STORE_CASE(dtype, type, low, high)                                                                             \
  case dtype: {                                                                                                        \
    type typed = value != value            ? (type)0                                                                   \
                 : value <= (double)(low)  ? (type)(low)                                                               \
                 : value >= (double)(high) ? (type)(high)                                                              \
                                           : (type)value;                                                              \
    memcpy(element, &typed, sizeof typed);                                                                             \
    return;                                                                                                            \
  }

void oxp__store_f64(oxp_dtype dtype, void *element, double value)
{
  float single = (float)value;
  uint16_t bits;
  switch (dtype) {
    STORE_CASE(OXP_UINT8, uint8_t, 0, UINT8_MAX)
    STORE_CASE(OXP_INT8, int8_t, INT8_MIN, INT8_MAX)
    STORE_CASE(OXP_UINT16, uint16_t, 0, UINT16_MAX)
    STORE_CASE(OXP_INT16, int16_t, INT16_MIN, INT16_MAX)
    STORE_CASE(OXP_UINT32, uint32_t, 0, UINT32_MAX)
    STORE_CASE(OXP_INT32, int32_t, INT32_MIN, INT32_MAX)
    STORE_CASE(OXP_UINT64, uint64_t, 0, UINT64_MAX)
    STORE_CASE(OXP_INT64, int64_t, INT64_MIN, INT64_MAX)
    STORE_CASE(OXP_BOOL, uint8_t, 0, 1)
  case OXP_FLOAT32:
    memcpy(element, &single, sizeof single);
    return;
  case OXP_FLOAT64:
    memcpy(element, &value, sizeof value);
    return;
  case OXP_FLOAT16:
    bits = f64_to_16(value, 10);
    memcpy(element, &bits, sizeof bits);
    return;
  case OXP_BFLOAT16:
    bits = f64_to_16(value, 7);
    memcpy(element, &bits, sizeof bits);
    return;
  default:
    return;
  }
}

void oxp__swap_bytes(void *elements, size_t count, size_t size)
{
  unsigned char *at = elements;
  for (size_t i = 0; i < count; i++, at += size)
    for (size_t low = 0, high = size - 1; low < high; low++, high--) {
      unsigned char swapped = at[low];
      at[low] = at[high];
      at[high] = swapped;
    }
}

bool oxp__is_big_endian_host(void)
{
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first == 0;
}

// ---- Random numbers ----

// splitmix64 (Steele, Lea, Flood 2014): a counter through a mixing function.
uint64_t oxp__random_u64(oxp__random *random)
{
  uint64_t z = random->state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

int64_t oxp__random_range(oxp__random *random, int64_t low, int64_t high)
{
  uint64_t span = (uint64_t)high - (uint64_t)low + 1;
  uint64_t drawn = oxp__random_u64(random);
  return span == 0 ? (int64_t)drawn : (int64_t)((uint64_t)low + drawn % span);
}

double oxp__random_unit(oxp__random *random)
{
  return (double)(oxp__random_u64(random) >> 11) * 0x1p-53;
}
