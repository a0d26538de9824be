// compare.c: the difference between two arrays, place by place, in double. Knows no engine. Place: engines.
#include <math.h>

#include "core/numbers.h"
#include "core/text.h"
#include "engines/compare.h"

// A relative difference says something where |expected| is at least this many times the absolute limit.
static const double compare_meaningful = 10;

oxp_status oxp__check_tolerances(double rtol, double atol, oxp_error *error)
{
  bool positive = rtol >= 0 && atol >= 0;           // not of NaN
  if (positive && isfinite(rtol) && isfinite(atol)) // infinite ones would let NaN match anything
    return OXP_OK;
  return oxp__fail(error, OXP_BAD_ARGUMENT,
                   "tolerances must not be negative, NaN or infinite: rtol is %g and atol is %g", rtol, atol);
}

bool oxp__compare_takes(oxp_dtype dtype)
{
  return oxp_dtype_bytes(dtype) > 0 && dtype != OXP_COMPLEX64 && dtype != OXP_COMPLEX128;
}

oxp_status oxp__compare_check(const oxp_array *expected, const oxp_array *actual, oxp_error *error)
{
  if (!oxp__compare_takes(expected->dtype) || !oxp__compare_takes(actual->dtype))
    return oxp__fail(error, OXP_BAD_ARGUMENT, "arrays of type %s and %s cannot be compared: only real numbers can",
                     oxp_dtype_name(expected->dtype), oxp_dtype_name(actual->dtype));
  bool same = expected->rank == actual->rank;
  for (int i = 0; same && i < expected->rank; i++)
    same = expected->shape[i] == actual->shape[i];
  if (same)
    return OXP_OK;
  oxp__text text = { 0 };
  oxp__text_add_shape(&text, expected->rank, expected->shape);
  oxp__text_add(&text, " expected, ");
  oxp__text_add_shape(&text, actual->rank, actual->shape);
  oxp_status status =
      oxp__fail(error, OXP_BAD_ARGUMENT, "the shapes of the two arrays differ: %s found", oxp__text_string(&text));
  oxp__text_fini(&text);
  return status;
}

// --- Places ---

double oxp__array_load(const oxp_array *array, int64_t at)
{
  return oxp__load_f64(array->dtype, (const unsigned char *)array->data + (size_t)at * oxp_dtype_bytes(array->dtype));
}

// How far two values are from each other: infinitely where only one is finite, or where both are not and are not the
// same.
static double compare_apart(double e, double a)
{
  if (isfinite(e) && isfinite(a))
    return fabs(e - a);
  return (isnan(e) && isnan(a)) || e == a ? 0 : INFINITY;
}

double oxp__compare_excess(double e, double a, double rtol)
{
  double apart = compare_apart(e, a);
  return isfinite(apart) && isfinite(e) ? apart - rtol * fabs(e) : apart;
}

int64_t oxp__channel_count(const oxp_array *array)
{
  return array->rank >= 2 ? array->shape[1] : 1;
}

oxp__channel_walk oxp__channel_walk_of(const oxp_array *array, int64_t channels)
{
  oxp__channel_walk walk = { .channels = channels > 0 ? channels : 1, .inner = 1 };
  for (int axis = 2; axis < array->rank; axis++)
    walk.inner *= array->shape[axis];
  if (array->rank < 2)
    walk.inner = INT64_MAX; // all places are one channel
  return walk;
}

int64_t oxp__channel_of(const oxp__channel_walk *walk, int64_t at)
{
  return at / walk->inner % walk->channels;
}

// --- Whole arrays ---

// What one walk over two arrays has seen.
typedef struct compare_walk {
  double worst; // how far apart the values at `worst_at` are
  int64_t at;   // -1: nothing seen yet
  bool at_is_mismatch;
} compare_walk;

static void compare_place(compare_walk *walk, oxp_difference *difference, int64_t at, double e, double a, bool match)
{
  double apart = compare_apart(e, a);
  if (isfinite(e) && isfinite(a)) {
    difference->compared++;
    difference->max_abs = fmax(difference->max_abs, apart);
  }
  if (isfinite(e))
    difference->scale = fmax(difference->scale, fabs(e));
  if (!match) {
    difference->mismatches++;
    difference->not_finite += !isfinite(apart);
  }
  bool worse = !match == walk->at_is_mismatch ? apart > walk->worst : !match;
  if (walk->at >= 0 && !worse)
    return;
  *walk = (compare_walk){ .worst = apart, .at = at, .at_is_mismatch = !match };
}

static void compare_finish(const oxp_array *expected, const oxp_array *actual, int64_t at, double atol,
                           oxp_difference *difference)
{
  difference->match = difference->mismatches == 0;
  difference->rank = expected->rank;
  difference->max_rel = (double)NAN;
  if (at < 0)
    return;
  difference->at = at;
  difference->expected = oxp__array_load(expected, at);
  difference->actual = oxp__array_load(actual, at);
  double size = fabs(difference->expected);
  if (isfinite(size) && isfinite(difference->actual) && size > 0 && size >= compare_meaningful * atol)
    difference->max_rel = fabs(difference->expected - difference->actual) / size;
  for (int i = expected->rank - 1; i >= 0; i--) {
    difference->index[i] = at % expected->shape[i];
    at /= expected->shape[i];
  }
}

oxp_status oxp__compare(const oxp_array *expected, const oxp_array *actual, double rtol, const double *atol,
                        int64_t channels, oxp_difference *difference, oxp_error *error)
{
  OXP__TRY(oxp__compare_check(expected, actual, error));
  compare_walk walk = { .at = -1 };
  oxp__channel_walk channel = oxp__channel_walk_of(expected, channels);
  int64_t count = oxp_array_count(expected);
  *difference = (oxp_difference){ 0 };
  for (int64_t i = 0; i < count; i++) {
    double e = oxp__array_load(expected, i), a = oxp__array_load(actual, i);
    bool match = oxp__compare_excess(e, a, rtol) <= atol[oxp__channel_of(&channel, i)];
    compare_place(&walk, difference, i, e, a, match);
  }
  compare_finish(expected, actual, walk.at, walk.at < 0 ? 0 : atol[oxp__channel_of(&channel, walk.at)], difference);
  return OXP_OK;
}

oxp_status oxp_compare(const oxp_array *expected, const oxp_array *actual, double rtol, double atol,
                       oxp_difference *difference, oxp_error *error)
{
  OXP__NEED(expected, error);
  OXP__NEED(actual, error);
  OXP__NEED(difference, error);
  OXP__TRY(oxp__check_tolerances(rtol, atol, error));
  return oxp__compare(expected, actual, rtol, &atol, 1, difference, error);
}
