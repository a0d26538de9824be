// compare.c: the difference between two arrays, place by place, in double. Knows no engine. Place: engines.
#include <math.h>

#include "core/numbers.h"
#include "core/text.h"
#include "engines/verify.h"

// What one walk over two arrays has seen.
typedef struct compare_walk {
  double rtol, atol;
  double worst;           // |e - a| at `worst_at`; infinite where only one side is finite
  int64_t worst_at;       // -1: nothing seen yet
  int64_t first_mismatch; // -1: none
} compare_walk;

static bool compare_is_real(oxp_dtype dtype)
{
  return oxp_dtype_bytes(dtype) > 0 && dtype != OXP_COMPLEX64 && dtype != OXP_COMPLEX128;
}

oxp_status oxp__check_tolerances(double rtol, double atol, oxp_error *error)
{
  if (rtol >= 0 && atol >= 0) // not of NaN
    return OXP_OK;
  return oxp__fail(error, OXP_BAD_ARGUMENT, "tolerances must not be negative: rtol is %g and atol is %g", rtol, atol);
}

static oxp_status compare_check(const oxp_array *expected, const oxp_array *actual, double rtol, double atol,
                                oxp_error *error)
{
  OXP__TRY(oxp__check_tolerances(rtol, atol, error));
  if (!compare_is_real(expected->dtype) || !compare_is_real(actual->dtype))
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

// Takes one place into account.
static void compare_place(compare_walk *walk, oxp_difference *difference, int64_t at, double e, double a)
{
  double apart = 0, allowed = walk->atol + walk->rtol * fabs(e);
  bool match = (isnan(e) && isnan(a)) || e == a;
  if (isfinite(e) && isfinite(a)) {
    apart = fabs(e - a);
    match = apart <= allowed;
    difference->compared++;
    difference->max_abs = fmax(difference->max_abs, apart);
    if (e != 0)
      difference->max_rel = fmax(difference->max_rel, apart / fabs(e));
  } else if (!match) {
    apart = INFINITY;
  }
  if (isfinite(e))
    difference->scale = fmax(difference->scale, fabs(e));
  if (walk->worst_at < 0 || apart > walk->worst) {
    walk->worst = apart;
    walk->worst_at = at;
  }
  if (match)
    return;
  difference->mismatches++;
  if (walk->first_mismatch < 0)
    walk->first_mismatch = at;
}

static void compare_index(const oxp_array *array, oxp_difference *difference)
{
  int64_t rest = difference->at;
  difference->rank = array->rank;
  for (int i = array->rank - 1; i >= 0; i--) {
    int64_t dim = array->shape[i] > 0 ? array->shape[i] : 1;
    difference->index[i] = rest % dim;
    rest /= dim;
  }
}

static double compare_load(const oxp_array *array, int64_t at)
{
  return oxp__load_f64(array->dtype, (const unsigned char *)array->data + (size_t)at * oxp_dtype_bytes(array->dtype));
}

oxp_status oxp_compare(const oxp_array *expected, const oxp_array *actual, double rtol, double atol,
                       oxp_difference *difference, oxp_error *error)
{
  OXP__TRY(compare_check(expected, actual, rtol, atol, error));
  compare_walk walk = { .rtol = rtol, .atol = atol, .worst_at = -1, .first_mismatch = -1 };
  int64_t count = oxp_array_count(expected);
  *difference = (oxp_difference){ 0 };
  for (int64_t i = 0; i < count; i++)
    compare_place(&walk, difference, i, compare_load(expected, i), compare_load(actual, i));
  difference->match = difference->mismatches == 0;
  if (count > 0) {
    difference->at = walk.first_mismatch >= 0 ? walk.first_mismatch : walk.worst_at;
    difference->expected = compare_load(expected, difference->at);
    difference->actual = compare_load(actual, difference->at);
  }
  compare_index(expected, difference);
  return OXP_OK;
}
