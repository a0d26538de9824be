// Unit tests of core/scalar: every pair of element types, at the edges of each, against sums that are done by hand.
#include "formats_support.h"

#include "core/scalar.h"

static const oxp_dtype dtypes[] = { OXP_BOOL,     OXP_INT8,    OXP_UINT8,  OXP_INT16,  OXP_UINT16,
                                    OXP_INT32,    OXP_UINT32,  OXP_INT64,  OXP_UINT64, OXP_FLOAT16,
                                    OXP_BFLOAT16, OXP_FLOAT32, OXP_FLOAT64 };
enum { DTYPES = sizeof dtypes / sizeof dtypes[0] };

static oxp__scalar whole(int64_t number)
{
  uint64_t magnitude = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  return (oxp__scalar){ .is_whole = true, .negative = number < 0, .magnitude = magnitude };
}

static oxp__scalar of_u64(uint64_t number)
{
  return (oxp__scalar){ .is_whole = true, .magnitude = number };
}

static oxp__scalar real(double number)
{
  return (oxp__scalar){ .real = number };
}

// A value, and the types that hold it exactly, round it, or do not hold it: a letter each, in the order of `dtypes`.
static const struct {
  oxp__scalar value;
  const char *held;
} values[] = {
  // clang-format off
  //                           b i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64
  { { true, false, 0, 0 },                        "eeeeeeeeeeeee" },
  { { true, false, 1, 0 },                        "eeeeeeeeeeeee" },
  { { true, true, 1, 0 },                         "-e-e-e-e-eeee" },
  { { true, false, 2, 0 },                        "-eeeeeeeeeeee" },
  { { true, false, 127, 0 },                      "-eeeeeeeeeeee" },
  { { true, false, 128, 0 },                      "--eeeeeeeeeee" },
  { { true, true, 128, 0 },                       "-e-e-e-e-eeee" },
  { { true, true, 129, 0 },                       "---e-e-e-eeee" },
  { { true, false, 255, 0 },                      "--eeeeeeeeeee" },
  { { true, false, 257, 0 },                      "---eeeeeeeree" },
  { { true, false, 2049, 0 },                     "---eeeeeerree" },
  { { true, false, 32768, 0 },                    "----eeeeeeeee" },
  { { true, true, 32769, 0 },                     "-----e-e-rree" },
  { { true, false, 65519, 0 },                    "----eeeeerree" },
  { { true, false, 65520, 0 },                    "----eeeee-ree" }, // halfway to 2^16, which float16 has not
  { { true, false, 65536, 0 },                    "-----eeee-eee" },
  { { true, false, 16777217, 0 },                 "-----eeee-rre" },
  { { true, false, 2147483648u, 0 },              "------eee-eee" },
  { { true, true, 2147483648u, 0 },               "-----e-e--eee" },
  { { true, false, UINT64_C(1) << 40, 0 },        "-------ee-eee" },
  { { true, false, (UINT64_C(1) << 53) + 1, 0 },  "-------ee-rrr" },
  { { true, false, INT64_MAX, 0 },                "-------ee-rrr" },
  { { true, false, UINT64_C(1) << 63, 0 },        "--------e-eee" },
  { { true, true, UINT64_C(1) << 63, 0 },         "-------e--eee" },
  { { true, false, UINT64_MAX, 0 },               "--------e-rrr" },
  { { false, false, 0, -0.0 },                    "eeeeeeeeeeeee" },
  { { false, false, 0, 1 },                       "eeeeeeeeeeeee" },
  { { false, false, 0, 1.5 },                     "---------eeee" },
  { { false, false, 0, -1 },                      "-e-e-e-e-eeee" },
  { { false, false, 0, 0.1 },                     "---------rrre" },
  { { false, false, 0, 65519.9 },                 "---------rrre" },
  { { false, false, 0, 0x1p63 },                  "--------e-eee" },
  { { false, false, 0, -0x1p63 },                 "-------e--eee" },
  { { false, false, 0, 0x1p64 },                  "----------eee" },
  { { false, false, 0, 3.3961775292304601e38 },   "-----------ee" }, // bfloat16 ends at 3.3895e38
  { { false, false, 0, 1e39 },                    "------------e" },
  { { false, false, 0, 1e-60 },                   "---------rrre" },
  { { false, false, 0, (double)NAN },             "---------eeee" },
  { { false, false, 0, (double)INFINITY },        "---------eeee" },
  // clang-format on
};

static bool same(const oxp__scalar *a, const oxp__scalar *b)
{
  if (a->is_whole && b->is_whole)
    return a->negative == b->negative && a->magnitude == b->magnitude;
  double x = a->is_whole ? (double)a->magnitude * (a->negative ? -1 : 1) : a->real;
  double y = b->is_whole ? (double)b->magnitude * (b->negative ? -1 : 1) : b->real;
  return x == y || (isnan(x) && isnan(y));
}

static void every_type_holds_what_it_can(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
    for (size_t j = 0; j < DTYPES; j++) {
      unsigned char element[9];
      memset(element, 0xA5, sizeof element);
      oxp__held held = oxp__scalar_store(dtypes[j], element, &values[i].value);
      char letter = held == OXP__HELD_EXACTLY ? 'e' : held == OXP__HELD_ROUNDED ? 'r' : '-';
      if (letter != values[i].held[j])
        fail_msg("value %zu as %s: %c instead of %c", i, oxp_dtype_name(dtypes[j]), letter, values[i].held[j]);
      size_t size = oxp_dtype_bytes(dtypes[j]);
      assert_int_equal(element[held == OXP__NOT_HELD ? 0 : size],
                       0xA5); // nothing beside the element, or nothing at all
      oxp__scalar back = oxp__scalar_load(dtypes[j], element);
      if (held == OXP__HELD_EXACTLY && !same(&back, &values[i].value))
        fail_msg("value %zu as %s comes back as another", i, oxp_dtype_name(dtypes[j]));
    }
}

// What is stored from every type comes back: all 8 and 16 bits of each, and edges of the wide ones.
static void every_pair_comes_back(void **state)
{
  (void)state;
  for (size_t from = 0; from < DTYPES; from++)
    for (size_t to = 0; to < DTYPES; to++)
      for (uint32_t bits = 0; bits < 65536; bits += oxp_dtype_bytes(dtypes[from]) == 1 ? 1 : 7) {
        unsigned char element[8] = { 0 }, target[8] = { 0 };
        uint64_t wide = (uint64_t)bits << (bits % 3 == 0 ? 48 : bits % 3 == 1 ? 32 : 0) | bits;
        memcpy(element, &wide, sizeof element);
        if (dtypes[from] == OXP_BOOL)
          element[0] &= 1;
        oxp__scalar value = oxp__scalar_load(dtypes[from], element);
        oxp__held held = oxp__scalar_store(dtypes[to], target, &value);
        oxp__scalar back = oxp__scalar_load(dtypes[to], target);
        if (held == OXP__HELD_EXACTLY && !same(&value, &back))
          fail_msg("%s to %s: %08x", oxp_dtype_name(dtypes[from]), oxp_dtype_name(dtypes[to]), bits);
        if (from == to && held != OXP__HELD_EXACTLY)
          fail_msg("%s to itself: %08x", oxp_dtype_name(dtypes[from]), bits);
      }
}

// One rounding, not two: a tie of the narrow type that only the last bit of a wide number breaks.
static void whole_numbers_are_rounded_once(void **state)
{
  (void)state;
  float single;
  uint16_t bits;
  oxp__scalar above = of_u64((UINT64_C(1) << 63) + (UINT64_C(1) << 39) + 1);
  assert_int_equal(oxp__scalar_store(OXP_FLOAT32, &single, &above), OXP__HELD_ROUNDED);
  assert_true(single == 0x1.000002p63f);
  above = of_u64((UINT64_C(1) << 63) + (UINT64_C(1) << 55) + 1);
  assert_int_equal(oxp__scalar_store(OXP_BFLOAT16, &bits, &above), OXP__HELD_ROUNDED);
  assert_int_equal(bits, 0x5F01);
  oxp__scalar tie = real(0x1.01000001p0); // above a tie of bfloat16 by less than float32 tells from it
  assert_int_equal(oxp__scalar_store(OXP_BFLOAT16, &bits, &tie), OXP__HELD_ROUNDED);
  assert_int_equal(bits, 0x3F81);
  tie = real(0x1.01p0);
  oxp__scalar_store(OXP_BFLOAT16, &bits, &tie);
  assert_int_equal(bits, 0x3F80);
}

static void assert_text(const oxp__scalar *value, const char *expected)
{
  oxp__text text = { 0 };
  oxp__scalar_add(&text, value);
  assert_string_equal(oxp__text_string(&text), expected);
  oxp__text_fini(&text);
}

static void assert_mean(const oxp__scalar *numbers, uint64_t count, const char *expected)
{
  oxp__mean mean = { .count = count };
  for (uint64_t i = 0; i < count; i++)
    oxp__mean_take(&mean, &numbers[i]);
  oxp__scalar value = oxp__mean_value(&mean);
  assert_text(&value, expected);
}

static void means_are_exact(void **state)
{
  (void)state;
  assert_mean((oxp__scalar[]){ of_u64(UINT64_MAX), of_u64(UINT64_MAX), of_u64(UINT64_MAX) }, 3, "18446744073709551615");
  assert_mean((oxp__scalar[]){ whole(INT64_MIN), whole(INT64_MIN) }, 2, "-9223372036854775808");
  assert_mean((oxp__scalar[]){ whole(INT64_MIN), whole(INT64_MAX) }, 2, "-0.5");
  assert_mean((oxp__scalar[]){ whole(1), whole(2), whole(-2) }, 3, "0.3333333");
  assert_mean((oxp__scalar[]){ whole(-1), whole(-2), whole(2) }, 3, "-0.3333333");
  assert_mean((oxp__scalar[]){ whole(-1), whole(1) }, 2, "0");
  assert_mean((oxp__scalar[]){ whole(9007199254740993), whole(4611686018427387905), whole(-9007199254740993) }, 3,
              "1537228672809129302"); // ...301.67
  assert_mean((oxp__scalar[]){ whole(-3000000), whole(-3000001) }, 2, "-3000001");
  assert_mean((oxp__scalar[]){ whole(3000000), whole(3000001), whole(3000000) }, 3, "3000000"); // to the nearest one
  assert_mean((oxp__scalar[]){ whole(3000000), whole(3000001), whole(3000001) }, 3, "3000001");
  assert_mean((oxp__scalar[]){ whole(-7) }, 1, "-7");
}

static void values_are_ordered_and_shown(void **state)
{
  (void)state;
  const oxp__scalar ordered[] = { whole(INT64_MIN), whole(-2), whole(-1), whole(0), whole(1), of_u64(UINT64_MAX) };
  for (size_t i = 0; i < 6; i++)
    for (size_t j = 0; j < 6; j++)
      assert_int_equal(oxp__scalar_less(&ordered[i], &ordered[j]), i < j);
  oxp__scalar nan = real((double)NAN), one = real(1), half = real(0.5);
  assert_true(oxp__scalar_less(&half, &one) && !oxp__scalar_less(&one, &half));
  assert_false(oxp__scalar_less(&nan, &one) || oxp__scalar_less(&one, &nan));
  assert_text(&ordered[0], "-9223372036854775808");
  assert_text(&ordered[5], "18446744073709551615");
  assert_text(&half, "0.5");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_type_holds_what_it_can),   cmocka_unit_test(every_pair_comes_back),
    cmocka_unit_test(whole_numbers_are_rounded_once), cmocka_unit_test(means_are_exact),
    cmocka_unit_test(values_are_ordered_and_shown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
