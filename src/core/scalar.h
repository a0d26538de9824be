// scalar.h: single values of any real element type, exactly: whole numbers never pass through double. Pure functions. Place: core.
#ifndef OXP_CORE_SCALAR_H
#define OXP_CORE_SCALAR_H

#include "core/numbers.h"
#include "core/text.h"

// A value as its type has it: a whole number by sign and magnitude (bool is 0 or another number), or a double.
typedef struct oxp__scalar {
  bool is_whole;
  bool negative; // of a whole number; 0 is not
  uint64_t magnitude;
  double real;
} oxp__scalar;

// How a value comes through when it is stored as another type.
typedef enum oxp__held {
  OXP__HELD_EXACTLY,
  OXP__HELD_ROUNDED, // to the nearest, and even, value of a floating type
  OXP__NOT_HELD      // out of range, not whole, not 0 or 1, or not a number, where the type has no such value
} oxp__held;

// One element in native byte order.
oxp__scalar oxp__scalar_load(oxp_dtype dtype, const void *element);
// Stores nothing when the answer is OXP__NOT_HELD. Infinity and NaN are values of floating types; what would become infinity is not held.
oxp__held oxp__scalar_store(oxp_dtype dtype, void *element, const oxp__scalar *value);

// For values of one type; false where one of them is NaN.
bool oxp__scalar_less(const oxp__scalar *a, const oxp__scalar *b);

// Whole numbers with all digits, others with seven.
void oxp__scalar_add(oxp__text *text, const oxp__scalar *value);

// The mean of whole numbers, without a sum that could overflow or round. Set `count` to how many there will be, the rest to zero.
typedef struct oxp__mean {
  uint64_t count;
  uint64_t whole[2],
      rest[2]; // the sum divided by count, of the numbers that are not negative and of those that are; rest < count
} oxp__mean;

void oxp__mean_take(oxp__mean *mean, const oxp__scalar *whole);
// A whole number where it is one, or where a million or more of its whole part says enough: rounded to the nearest.
oxp__scalar oxp__mean_value(const oxp__mean *mean);

#endif
