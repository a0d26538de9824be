// Unit tests of the table of names, and of the texts that arenas make for it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/names.h"

static void names_are_added_once_and_found_with_their_number(void **state)
{
  (void)state;
  oxp__arena arena = { 0 };
  oxp__names names = { .arena = &arena };
  bool added = false;
  assert_null(oxp__names_find(&names, "a"));
  assert_int_equal(oxp__names_add(&names, "a", 7, &added)->number, 7);
  assert_true(added);
  assert_int_equal(oxp__names_add(&names, "a", 8, &added)->number, 7);
  assert_false(added);
  assert_int_equal(oxp__names_find(&names, "a")->number, 7);
  assert_null(oxp__names_find(&names, "b"));
  assert_null(oxp__names_find(&names, ""));
#if SIZE_MAX > UINT32_MAX                                                   // where there are such numbers
  assert_null(oxp__names_add(&names, "b", (size_t)UINT32_MAX + 1, &added)); // no number that it can hold
#endif
  oxp__arena_fini(&arena);
}

// A table keeps 32 bits of each hash. Among so many names some have the same ones (with a probability above 0.9999); the content decides.
static void names_with_equal_hashes_are_two(void **state)
{
  (void)state;
  enum { MANY = 300000 };
  oxp__arena arena = { 0 };
  oxp__names names = { .arena = &arena };
  assert_true(oxp__names_reserve(&names, MANY));
  size_t capacity = names.capacity;
  for (size_t i = 0; i < MANY; i++) {
    bool added = false;
    const char *text = oxp__arena_printf(&arena, "layer_%d", (int)i);
    assert_non_null(oxp__names_add(&names, text, i, &added));
    assert_true(added);
  }
  assert_int_equal(names.capacity, capacity); // reserved is reserved
  for (size_t i = 0; i < MANY; i++) {
    char text[32];
    snprintf(text, sizeof text, "layer_%zu", i);
    assert_int_equal(oxp__names_find(&names, text)->number, i);
  }
  oxp__arena_fini(&arena);
}

static char *made(oxp__arena *arena, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  char *text = oxp__arena_vprintf(arena, format, arguments);
  va_end(arguments);
  assert_non_null(text);
  return text;
}

// Simple formats go a short way, all others that of vsnprintf: both give the same text.
static void texts_are_those_of_printf(void **state)
{
  (void)state;
  oxp__arena arena = { 0 };
  static const int numbers[] = { 0, 7, 10, -1, 2147483647, -2147483647 - 1 };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    char expected[64];
    snprintf(expected, sizeof expected, "%s_%d.%s/%d", "conv", numbers[i], "", numbers[i]);
    assert_string_equal(made(&arena, "%s_%d.%s/%d", "conv", numbers[i], "", numbers[i]), expected);
    snprintf(expected, sizeof expected, "%s %5d%% %zu", "x", numbers[i], i);
    assert_string_equal(made(&arena, "%s %5d%% %zu", "x", numbers[i], i), expected);
  }
  assert_string_equal(made(&arena, "plain"), "plain");
  assert_string_equal(made(&arena, ""), "");
  char lengthy[600];
  memset(lengthy, 'x', sizeof lengthy - 1);
  lengthy[sizeof lengthy - 1] = 0;
  for (size_t length = 240; length < 270; length++) { // around the size of the room for usual texts
    const char *tail = lengthy + sizeof lengthy - 1 - length;
    char *text = made(&arena, "%s_%d", tail, 42);
    assert_int_equal(strlen(text), length + 3);
    assert_memory_equal(text, tail, length);
    assert_string_equal(text + length, "_42");
  }
  oxp__arena_fini(&arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(names_are_added_once_and_found_with_their_number),
    cmocka_unit_test(names_with_equal_hashes_are_two),
    cmocka_unit_test(texts_are_those_of_printf),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
