// Comparing arrays: what counts as equal, and what is reported.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <onnxport.h>

static oxp_array array_f32(int count, float *data)
{
  return (oxp_array){ .dtype = OXP_FLOAT32, .rank = 1, .shape = { count }, .data = data };
}

static oxp_difference compare(int count, float *expected, float *actual, double rtol, double atol)
{
  oxp_array e = array_f32(count, expected), a = array_f32(count, actual);
  oxp_difference difference;
  assert_int_equal(oxp_compare(&e, &a, rtol, atol, &difference, NULL), OXP_OK);
  return difference;
}

static void equal_arrays_match(void **state)
{
  (void)state;
  float values[] = { 1, -2, 0, -0.0f, INFINITY, -INFINITY, NAN };
  oxp_difference difference = compare(7, values, values, 0, 0);
  assert_true(difference.match);
  assert_int_equal(difference.mismatches, 0);
  assert_true(difference.max_abs == 0 && difference.max_rel == 0);
  assert_true(difference.scale == 2);
}

static void zero_has_no_sign(void **state)
{
  (void)state;
  assert_true(compare(2, (float[]){ 0.0f, -0.0f }, (float[]){ -0.0f, 0.0f }, 0, 0).match);
}

static void the_worst_place_is_named(void **state)
{
  (void)state;
  float expected[] = { 1, 10, 100, 0 }, actual[] = { 1, 10.5f, 100.75f, 0.25f };
  oxp_difference difference = compare(4, expected, actual, 1, 1);
  assert_true(difference.match);
  assert_true(difference.max_abs == 0.75 && difference.max_rel == 0.0075 && difference.scale == 100);
  assert_int_equal(difference.at, 2);
  assert_true(difference.expected == 100 && difference.actual == 100.75);
}

static void the_farthest_mismatch_is_named(void **state)
{
  (void)state;
  float expected[] = { 1, 2, 3, 4, 1000 }, actual[] = { 1, 2.5f, 3, 9, 1006 };
  oxp_difference difference = compare(5, expected, actual, 0.01, 0);
  assert_false(difference.match);
  assert_int_equal(difference.mismatches, 2); // the largest difference is inside the tolerance
  assert_int_equal(difference.at, 3);
  assert_true(difference.max_abs == 6 && difference.max_rel == 1.25);
  assert_int_equal(difference.not_finite, 0);
}

// A relative difference near zero says nothing: none is shown.
static void the_relative_difference_is_that_of_the_place(void **state)
{
  (void)state;
  oxp_difference difference = compare(2, (float[]){ 1e-9f, 8 }, (float[]){ 3e-9f, 9 }, 1, 1e-4);
  assert_int_equal(difference.at, 1);
  assert_true(difference.max_rel == 0.125);
  difference = compare(2, (float[]){ 1e-9f, 8 }, (float[]){ 3e-9f, 8 }, 1, 1e-4);
  assert_int_equal(difference.at, 0);
  assert_true(isnan(difference.max_rel));
}

static void the_tolerance_is_allclose(void **state)
{
  (void)state;
  float expected[] = { 8 };
  assert_true(compare(1, expected, (float[]){ 8.75f }, 0.0625, 0.25).match); // 0.75 = 0.25 + 0.0625 * 8
  assert_false(compare(1, expected, (float[]){ 8.8125f }, 0.0625, 0.25).match);
  // rtol is a share of the value that is right, not of the one that was found.
  assert_false(compare(1, (float[]){ 1 }, (float[]){ 2 }, 0.6, 0).match);
  assert_true(compare(1, (float[]){ 2 }, (float[]){ 1 }, 0.6, 0).match);
}

static void nan_matches_only_nan(void **state)
{
  (void)state;
  float finite[] = { 1, 2 }, with_nan[] = { 1, NAN };
  oxp_difference difference = compare(2, with_nan, finite, 1e30, 1e30);
  assert_false(difference.match);
  assert_int_equal(difference.at, 1);
  assert_true(isnan(difference.expected) && difference.actual == 2);
  assert_int_equal(difference.not_finite, 1);
  assert_false(compare(2, finite, with_nan, 1e30, 1e30).match);
  assert_false(compare(1, (float[]){ NAN }, (float[]){ INFINITY }, 1e30, 1e30).match);
}

static void infinity_matches_only_itself(void **state)
{
  (void)state;
  float infinite[] = { INFINITY };
  assert_true(compare(1, infinite, infinite, 0, 0).match);
  assert_false(compare(1, infinite, (float[]){ -INFINITY }, 1e30, 1e30).match);
  assert_false(compare(1, infinite, (float[]){ 3e38f }, 1, 1e30).match);
  assert_false(compare(1, (float[]){ 3e38f }, infinite, 1, 1e30).match);
}

static void infinite_places_stay_out_of_the_largest_difference(void **state)
{
  (void)state;
  oxp_difference difference = compare(3, (float[]){ INFINITY, NAN, 1 }, (float[]){ INFINITY, NAN, 1.5f }, 1, 1);
  assert_true(difference.match);
  assert_true(difference.max_abs == 0.5 && difference.scale == 1);
  assert_int_equal(difference.at, 2);
}

static void types_may_differ(void **state)
{
  (void)state;
  double expected[] = { 0.5, 0.1 };
  float actual[] = { 0.5f, 0.1f };
  oxp_array e = { .dtype = OXP_FLOAT64, .rank = 1, .shape = { 2 }, .data = expected };
  oxp_array a = array_f32(2, actual);
  oxp_difference difference;
  assert_int_equal(oxp_compare(&e, &a, 0, 0, &difference, NULL), OXP_OK);
  assert_false(difference.match);
  assert_int_equal(difference.mismatches, 1);
  assert_true(difference.max_abs > 1e-10 && difference.max_abs < 1e-8);
}

static void the_place_has_an_index_per_axis(void **state)
{
  (void)state;
  float expected[24] = { 0 }, actual[24] = { 0 };
  actual[17] = 1;
  oxp_array e = { .dtype = OXP_FLOAT32, .rank = 3, .shape = { 2, 3, 4 }, .data = expected }, a = e;
  a.data = actual;
  oxp_difference difference;
  assert_int_equal(oxp_compare(&e, &a, 0, 0, &difference, NULL), OXP_OK);
  assert_int_equal(difference.at, 17);
  assert_int_equal(difference.rank, 3);
  assert_int_equal(difference.index[0], 1);
  assert_int_equal(difference.index[1], 1);
  assert_int_equal(difference.index[2], 1);
}

static void empty_arrays_match(void **state)
{
  (void)state;
  oxp_array empty = { .dtype = OXP_FLOAT32, .rank = 2, .shape = { 0, 3 } };
  oxp_difference difference;
  assert_int_equal(oxp_compare(&empty, &empty, 0, 0, &difference, NULL), OXP_OK);
  assert_true(difference.match);
}

static void other_shapes_are_refused(void **state)
{
  (void)state;
  float data[6] = { 0 };
  oxp_array e = { .dtype = OXP_FLOAT32, .rank = 2, .shape = { 2, 3 }, .data = data }, a = e;
  a.shape[0] = 3;
  a.shape[1] = 2;
  oxp_difference difference;
  oxp_error error = { 0 };
  assert_int_equal(oxp_compare(&e, &a, 0, 0, &difference, &error), OXP_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "(2, 3)"));
  assert_non_null(strstr(error.message, "(3, 2)"));
}

static void senseless_requests_are_refused(void **state)
{
  (void)state;
  float data[1] = { 0 };
  oxp_array a = array_f32(1, data), complex = a;
  complex.dtype = OXP_COMPLEX64;
  oxp_difference difference;
  assert_int_equal(oxp_compare(&a, &a, -1, 0, &difference, NULL), OXP_BAD_ARGUMENT);
  assert_int_equal(oxp_compare(&a, &a, 0, NAN, &difference, NULL), OXP_BAD_ARGUMENT);
  // Under an infinite limit NaN would match anything.
  assert_int_equal(oxp_compare(&a, &a, 0, INFINITY, &difference, NULL), OXP_BAD_ARGUMENT);
  assert_int_equal(oxp_compare(&a, &a, INFINITY, 0, &difference, NULL), OXP_BAD_ARGUMENT);
  assert_int_equal(oxp_compare(&a, &complex, 0, 0, &difference, NULL), OXP_BAD_ARGUMENT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(equal_arrays_match),
    cmocka_unit_test(zero_has_no_sign),
    cmocka_unit_test(the_worst_place_is_named),
    cmocka_unit_test(the_farthest_mismatch_is_named),
    cmocka_unit_test(the_relative_difference_is_that_of_the_place),
    cmocka_unit_test(the_tolerance_is_allclose),
    cmocka_unit_test(nan_matches_only_nan),
    cmocka_unit_test(infinity_matches_only_itself),
    cmocka_unit_test(infinite_places_stay_out_of_the_largest_difference),
    cmocka_unit_test(types_may_differ),
    cmocka_unit_test(the_place_has_an_index_per_axis),
    cmocka_unit_test(empty_arrays_match),
    cmocka_unit_test(other_shapes_are_refused),
    cmocka_unit_test(senseless_requests_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
