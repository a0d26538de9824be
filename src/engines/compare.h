// compare.h: what comparing arrays consists of, for those who compare with one limit per channel. Place: engines.
#ifndef OXP_ENGINES_COMPARE_H
#define OXP_ENGINES_COMPARE_H

#include "core/error.h"

// OXP_BAD_ARGUMENT unless both are finite and 0 or more.
oxp_status oxp__check_tolerances(double rtol, double atol, oxp_error *error);

// Whether arrays of a type can be compared: those of real numbers.
bool oxp__compare_takes(oxp_dtype dtype);

// OXP_BAD_ARGUMENT unless both arrays hold real numbers and have one shape.
oxp_status oxp__compare_check(const oxp_array *expected, const oxp_array *actual, oxp_error *error);

// Element number `at` of an array of real numbers.
double oxp__array_load(const oxp_array *array, int64_t at);

// What is left of |e - a| once rtol * |e| is taken off: the two match when that is at most atol. Infinite where only one is
// finite or both are different kinds of not finite.
double oxp__compare_excess(double e, double a, double rtol);

// Channels lie along axis 1; an array of fewer axes is one channel.
typedef struct oxp__channel_walk {
  int64_t channels, inner; // inner: places of one channel that follow each other
} oxp__channel_walk;

int64_t oxp__channel_count(const oxp_array *array);
// For going through an array whose places belong to `channels` channels (1: all of it is one).
oxp__channel_walk oxp__channel_walk_of(const oxp_array *array, int64_t channels);
int64_t oxp__channel_of(const oxp__channel_walk *walk, int64_t at);

// oxp_compare with one atol for each of `channels` channels.
oxp_status oxp__compare(const oxp_array *expected, const oxp_array *actual, double rtol, const double *atol,
                        int64_t channels, oxp_difference *difference, oxp_error *error);

#endif
