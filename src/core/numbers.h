// numbers.h: checked arithmetic, element types, conversions, random numbers. Pure functions. Place: core.
#ifndef OXP_CORE_NUMBERS_H
#define OXP_CORE_NUMBERS_H

#include "core/error.h"

// *result = a * b or a + b; false (and *result untouched) when that does not fit.
bool oxp__mul_i64(int64_t a, int64_t b, int64_t *result);
bool oxp__add_i64(int64_t a, int64_t b, int64_t *result);
bool oxp__mul_size(size_t a, size_t b, size_t *result);

// The bytes that `count` elements of `size` bytes take in memory; false when this machine cannot address them.
bool oxp__memory_bytes(int64_t count, size_t size, size_t *result);

// The product of a shape (1 for rank 0); false when it overflows or a dimension is negative.
bool oxp__shape_count(int rank, const int64_t *shape, int64_t *count);

// floor(a / b) for b > 0, also for negative a.
int64_t oxp__floor_div(int64_t a, int64_t b);

// The bits that one element takes where elements lie packed, in any of ONNX's types but text; 0 for text and unknown types.
size_t oxp__dtype_bits(oxp_dtype dtype);

bool oxp__dtype_is_float(oxp_dtype dtype); // float16, bfloat16, float32, float64

// One element of any real type, native byte order, to double and back. Storing rounds to nearest even, and
// overflow becomes infinity. Integers saturate.
double oxp__load_f64(oxp_dtype dtype, const void *element);
void oxp__store_f64(oxp_dtype dtype, void *element, double value);

// Reverses the bytes of `count` elements of `size` bytes in place.
void oxp__swap_bytes(void *elements, size_t count, size_t size);
bool oxp__is_big_endian_host(void);

// A small generator (splitmix64): same sequence everywhere. The state is the seed.
typedef struct oxp__random {
  uint64_t state;
} oxp__random;

uint64_t oxp__random_u64(oxp__random *random);
int64_t oxp__random_range(oxp__random *random, int64_t low, int64_t high); // low <= result <= high
double oxp__random_unit(oxp__random *random);                              // 0 <= result < 1

#endif
