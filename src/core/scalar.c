// scalar.c: see scalar.h. Place: core.
#include "core/scalar.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

// What a type of whole numbers holds: up to `highest`, and down to -`lowest`.
typedef struct scalar_range {
  uint64_t highest, lowest;
} scalar_range;

static bool scalar_range_of(oxp_dtype dtype, scalar_range *range)
{
  bool is_signed = dtype == OXP_INT8 || dtype == OXP_INT16 || dtype == OXP_INT32 || dtype == OXP_INT64;
  bool is_unsigned = dtype == OXP_UINT8 || dtype == OXP_UINT16 || dtype == OXP_UINT32 || dtype == OXP_UINT64;
  size_t bits = 8 * oxp_dtype_bytes(dtype);
  *range = (scalar_range){ 1, 0 }; // bool
  if (is_signed)
    *range = (scalar_range){ (UINT64_C(1) << (bits - 1)) - 1, UINT64_C(1) << (bits - 1) };
  if (is_unsigned)
    *range = (scalar_range){ UINT64_MAX >> (64 - bits), 0 };
  return is_signed || is_unsigned || dtype == OXP_BOOL;
}

// --- Loading ---

static oxp__scalar scalar_whole(int64_t number)
{
  bool negative = number < 0;
  uint64_t magnitude = (uint64_t)number;
  return (oxp__scalar){ .is_whole = true, .negative = negative, .magnitude = negative ? 0 - magnitude : magnitude };
}

oxp__scalar oxp__scalar_load(oxp_dtype dtype, const void *element)
{
  uint64_t magnitude;
  int64_t number;
  scalar_range range;
  if (dtype == OXP_UINT64) {
    memcpy(&magnitude, element, sizeof magnitude);
    return (oxp__scalar){ .is_whole = true, .magnitude = magnitude };
  }
  if (dtype == OXP_INT64) {
    memcpy(&number, element, sizeof number);
    return scalar_whole(number);
  }
  double real = oxp__load_f64(dtype, element); // exact for all other types
  return scalar_range_of(dtype, &range) ? scalar_whole((int64_t)real) : (oxp__scalar){ .real = real };
}

// --- Storing ---

// The whole number that a double is; false when it is none of up to 64 bits.
static bool scalar_as_whole(const oxp__scalar *value, oxp__scalar *whole)
{
  *whole = *value;
  if (value->is_whole)
    return true;
  double magnitude = fabs(value->real);
  if (!(magnitude < 0x1p64) || magnitude != floor(magnitude))
    return false;
  *whole = (oxp__scalar){ .is_whole = true, .negative = value->real < 0, .magnitude = (uint64_t)magnitude };
  return true;
}

static oxp__held scalar_store_whole(oxp_dtype dtype, void *element, const oxp__scalar *value, const scalar_range *range)
{
  oxp__scalar whole;
  if (!scalar_as_whole(value, &whole) || whole.magnitude > (whole.negative ? range->lowest : range->highest))
    return OXP__NOT_HELD;
  uint64_t bits = whole.negative ? 0 - whole.magnitude : whole.magnitude;
  if (oxp__is_big_endian_host())
    oxp__swap_bytes(&bits, 1, sizeof bits);
  memcpy(element, &bits, oxp_dtype_bytes(dtype));
  if (oxp__is_big_endian_host())
    oxp__swap_bytes(element, 1, oxp_dtype_bytes(dtype));
  return OXP__HELD_EXACTLY;
}

// A double that rounds to every narrower type as the whole number itself does: what double cannot hold is kept as one
// bit that says that there was something.
static double scalar_sticky(uint64_t magnitude)
{
  if (magnitude >> DBL_MANT_DIG == 0)
    return (double)magnitude;
  const uint64_t low = (UINT64_C(1) << (64 - DBL_MANT_DIG)) - 1;
  return (double)((magnitude & ~low) | (magnitude & low ? low + 1 : 0));
}

static oxp__held scalar_store_float(oxp_dtype dtype, void *element, const oxp__scalar *value)
{
  unsigned char stored[8];
  double real = value->real;
  if (value->is_whole) {
    real = dtype == OXP_FLOAT64 ? (double)value->magnitude : scalar_sticky(value->magnitude);
    real = value->negative ? -real : real;
  }
  oxp__store_f64(dtype, stored, real);
  double back = oxp__load_f64(dtype, stored);
  if (isinf(back) && !isinf(real))
    return OXP__NOT_HELD;
  memcpy(element, stored, oxp_dtype_bytes(dtype));
  oxp__scalar of_back = { .real = back }, whole = { 0 };
  bool same = value->is_whole ? scalar_as_whole(&of_back, &whole) && whole.magnitude == value->magnitude : back == real;
  return same || isnan(real) ? OXP__HELD_EXACTLY : OXP__HELD_ROUNDED;
}

oxp__held oxp__scalar_store(oxp_dtype dtype, void *element, const oxp__scalar *value)
{
  scalar_range range;
  if (scalar_range_of(dtype, &range))
    return scalar_store_whole(dtype, element, value, &range);
  return oxp__dtype_is_float(dtype) ? scalar_store_float(dtype, element, value) : OXP__NOT_HELD;
}

// --- Comparing and showing ---

bool oxp__scalar_less(const oxp__scalar *a, const oxp__scalar *b)
{
  if (!a->is_whole)
    return a->real < b->real;
  if (a->negative != b->negative)
    return a->negative;
  return a->negative ? a->magnitude > b->magnitude : a->magnitude < b->magnitude;
}

void oxp__scalar_add(oxp__text *text, const oxp__scalar *value)
{
  if (value->is_whole)
    oxp__text_printf(text, "%s%" PRIu64, value->negative ? "-" : "", value->magnitude);
  else
    oxp__text_printf(text, "%.7g", value->real);
}

// --- Means ---

void oxp__mean_take(oxp__mean *mean, const oxp__scalar *whole)
{
  int side = whole->negative ? 1 : 0;
  mean->whole[side] += whole->magnitude / mean->count;
  mean->rest[side] += whole->magnitude % mean->count; // both below 2^63, since so many elements have no room in memory
  if (mean->rest[side] >= mean->count) {
    mean->rest[side] -= mean->count;
    mean->whole[side]++;
  }
}

oxp__scalar oxp__mean_value(const oxp__mean *mean)
{
  enum { SAYS_ENOUGH = 1000000 };
  const uint64_t *whole = mean->whole, *rest = mean->rest;
  bool negative = whole[1] != whole[0] ? whole[1] > whole[0] : rest[1] > rest[0];
  int large = negative ? 1 : 0, small = 1 - large;
  bool borrow = rest[large] < rest[small];
  uint64_t magnitude = whole[large] - whole[small] - borrow;
  uint64_t left = rest[large] - rest[small] + (borrow ? mean->count : 0);
  if (left == 0 || magnitude >= SAYS_ENOUGH) {
    magnitude += left > 0 && left >= mean->count - left;
    return (oxp__scalar){ .is_whole = true, .negative = negative && magnitude > 0, .magnitude = magnitude };
  }
  double real = (double)magnitude + (double)left / (double)mean->count;
  return (oxp__scalar){ .real = negative ? -real : real };
}
