// Unit tests of formats/containers/npy and of the public functions for single arrays.
#include "formats_support.h"

#include "formats/containers/npy.h"

// --- Headers by hand ---

typedef struct memory {
  unsigned char at[1024];
  size_t count;
} memory;

static oxp_status memory_read(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  (void)error;
  const memory *from = context;
  assert_true(offset <= from->count &&
              count <= from->count - offset); // a reader that trusts nothing never asks for more
  memcpy(buffer, from->at + offset, count);
  return OXP_OK;
}

// An array with this dict and `data_bytes` bytes of data, counting up.
static memory array_of(const char *dict, int version, size_t data_bytes)
{
  memory made = { .count = 0 };
  size_t length = strlen(dict), start = version == 1 ? 10 : 12;
  memcpy(made.at, "\x93NUMPY\1\0", 8);
  made.at[6] = (unsigned char)version;
  made.at[8] = (unsigned char)length;
  memcpy(made.at + start, dict, length);
  made.count = start + length + data_bytes;
  for (size_t i = 0; i < data_bytes; i++)
    made.at[start + length + i] = (unsigned char)i;
  return made;
}

static oxp_status open_array(memory *from, oxp__arena *arena, oxp__npy *npy, oxp_error *error)
{
  *error = (oxp_error){ 0 };
  return oxp__npy_open(arena, memory_read, from, from->count, npy, error);
}

static void test_accepts(void **state)
{
  (void)state;
  const struct {
    const char *dict;
    int version;
    size_t bytes;
    oxp_dtype dtype;
    int rank;
    bool big_endian;
  } cases[] = {
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 1, 24, OXP_FLOAT32, 2, false },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 2, 24, OXP_FLOAT32, 2, false },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 3, 24, OXP_FLOAT32, 2, false },
    { "{\"shape\":(6,),\"descr\":\">f2\",\"fortran_order\":True}", 1, 12, OXP_FLOAT16, 1, true },
    { "{ 'fortran_order' : False , 'shape' : ( ) , 'descr' : '<f8' }   \n", 1, 8, OXP_FLOAT64, 0, false },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (5,), }", 1, 5, OXP_UINT8, 1, false },
    { "{'descr': '=i8', 'fortran_order': False, 'shape': (1, 0), }", 1, 0, OXP_INT64, 2, false },
    { "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", 1, 2, OXP_BOOL, 1, false },
    { "{'descr': '<c16', 'fortran_order': False, 'shape': (), }", 1, 16, OXP_COMPLEX128, 0, false },
    { "{'descr': '<U3', 'fortran_order': False, 'shape': (), }", 1, 12, OXP_STRING, 0, false },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    memory from = array_of(cases[i].dict, cases[i].version, cases[i].bytes);
    oxp__arena arena = { 0 };
    oxp__npy npy;
    oxp_error error;
    if (open_array(&from, &arena, &npy, &error) != OXP_OK)
      fail_msg("%s: %s", cases[i].dict, error.message);
    assert_int_equal(npy.tensor.dtype, cases[i].dtype);
    assert_int_equal(npy.tensor.rank, cases[i].rank);
    assert_int_equal(npy.tensor.big_endian, cases[i].big_endian);
    assert_int_equal(npy.tensor.offset_bytes + cases[i].bytes, from.count);
    oxp__arena_fini(&arena);
  }
}

static void assert_refused(memory from, const char *words)
{
  oxp__arena arena = { 0 };
  oxp__npy npy;
  oxp_error error;
  if (open_array(&from, &arena, &npy, &error) != OXP_BAD_FILE)
    fail_msg("accepted, should say %s", words);
  assert_all_words(error.message, words);
  oxp__arena_fini(&arena);
}

// NumPy does not look at what lies behind an array; here it is counted, so that it can be said.
static void test_bytes_behind(void **state)
{
  (void)state;
  for (size_t rest = 0; rest < 800; rest += 333) {
    memory from = array_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 1, 24 + rest);
    oxp__arena arena = { 0 };
    oxp__npy npy;
    oxp_error error;
    float values[6];
    assert_int_equal(open_array(&from, &arena, &npy, &error), OXP_OK);
    assert_int_equal(npy.rest_bytes, rest);
    assert_int_equal(oxp__tensor_count(&npy.tensor), 6);
    assert_int_equal(oxp__tensor_read(&npy.tensor, OXP_FLOAT32, values, &error), OXP_OK);
    oxp__arena_fini(&arena);
  }
  memory from = array_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 1, 24);
  from.count += 16777217; // no more than that is passed over
  assert_refused(from, "(2, 3)|24|16777241");
}

static void test_refuses(void **state)
{
  (void)state;
  const struct {
    const char *dict;
    size_t bytes;
    const char *words;
  } cases[] = {
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 23, "(2, 3)|24|23" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }", 24, "negative" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 4, "2^63" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (02,), }", 8, "begins with 0" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 4, "(4294967296, 4294967296)" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }", 4, "4611686018427387904" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", 4, "8 dimensions" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (6), }", 24, "tuple" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': [6], }", 24, "tuple" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2.0,), }", 8, "tuple" },
    { "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", 8, "True or False" },
    { "{'descr': '<f4', 'shape': (2,), }", 8, "missing" },
    { "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 8, "twice" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", 8, "a key other than" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", 8, "something follows" },
    { "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", 8, "comma" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", 8, "comma" },
    { "{'descr': '<f4", 8, "does not end" },
    { "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", 16, "pickled" },
    { "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", 8, "structured" },
    { "{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }", 16, "'<f16' is not known" },
    { "{'descr': '<f3', 'fortran_order': False, 'shape': (1,), }", 3, "'<f3' is not known" },
    { "{'descr': '', 'fortran_order': False, 'shape': (1,), }", 3, "is not known" },
    { "__import__('os')", 3, "does not start with {" },
    { "", 3, "does not start with {" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_refused(array_of(cases[i].dict, 1, cases[i].bytes), cases[i].words);
}

static void test_refuses_damaged_preambles(void **state)
{
  (void)state;
  const char *dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  memory from = array_of(dict, 1, 8);
  from.at[1] = 'X';
  assert_refused(from, "does not start with");
  from = array_of(dict, 1, 8);
  from.at[6] = 4;
  assert_refused(from, "version 4.0");
  from = array_of(dict, 1, 8);
  from.at[9] = 9;
  assert_refused(from, "header is said to have");
  from = array_of(dict, 2, 8);
  from.at[11] = 0xFF; // a header of 4 GiB
  assert_refused(from, "header is said to have");
  from.count = 5;
  assert_refused(from, "only 5 bytes");
  from = array_of(dict, 2, 0);
  from.count = 11;
  assert_refused(from, "header is said to have");
  from = array_of(dict, 1, 8);
  from.at[10 + strlen(dict) - 1] = 0; // the dict ends in a zero byte
  assert_refused(from, "header is damaged");
}

// --- Text ---

static void assert_text(const char *dict, const void *data, size_t count, oxp_status status, const char *expected)
{
  memory from = array_of(dict, 1, count);
  memcpy(from.at + from.count - count, data, count);
  oxp__arena arena = { 0 };
  oxp__npy npy;
  oxp_error error;
  char *text = NULL;
  assert_int_equal(open_array(&from, &arena, &npy, &error), OXP_OK);
  assert_int_equal(oxp__npy_read_text(&arena, &npy, 8, &text, &error), status);
  if (status == OXP_OK)
    assert_string_equal(text, expected);
  else
    assert_all_words(error.message, expected);
  oxp__arena_fini(&arena);
}

#define TEXT(descr, shape) "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }"

static void test_text(void **state)
{
  (void)state;
  const unsigned char little[] = { 'a', 0, 0, 0, 0xE4, 0, 0, 0, 0x00, 0xF6, 0x01, 0, 0, 0, 0, 0 };
  const unsigned char big[] = { 0, 0, 0, 'a', 0, 0, 0, 0xE4, 0, 0x01, 0xF6, 0x00, 0, 0, 0, 0 };
  assert_text(TEXT("<U4", "()"), little, 16, OXP_OK, "a\xc3\xa4\xf0\x9f\x98\x80");
  assert_text(TEXT(">U4", "(1,)"), big, 16, OXP_OK, "a\xc3\xa4\xf0\x9f\x98\x80");
  assert_text(TEXT("|S5", "()"), "ab\xc3\xa4\0", 5, OXP_OK, "ab\xc3\xa4");
  assert_text(TEXT("|u1", "(3,)"), "abc", 3, OXP_OK, "abc");
  assert_text(TEXT("<U2", "(2,)"), little, 16, OXP_BAD_FILE, "one text was expected");
  assert_text(TEXT("<f4", "()"), little, 4, OXP_BAD_FILE, "one text was expected");
  assert_text(TEXT("|S9", "()"), "123456789", 9, OXP_BAD_FILE, "9 bytes, at most 8");
  assert_text(TEXT("|S2", "()"), "\xff\xfe", 2, OXP_BAD_FILE, "not UTF-8");
  assert_text(TEXT("<U2", "()"), "\0\xd8\0\0a\0\0\0", 8, OXP_BAD_FILE, "0000d800");
  assert_text(TEXT("<U2", "()"), "\0\0\0\0a\0\0\0", 8, OXP_BAD_FILE, "no character");
}

// --- Single arrays as files ---

static void test_array_files(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  for (int dtype = OXP_FLOAT32; dtype <= OXP_COMPLEX128; dtype++) {
    oxp_array array, again;
    if (dtype == OXP_STRING)
      continue;
    assert_int_equal(oxp_array_new(&array, (oxp_dtype)dtype, 3, (int64_t[]){ 2, 3, 4 }, &error), OXP_OK);
    for (size_t i = 0; i < oxp_array_bytes(&array); i++)
      ((unsigned char *)array.data)[i] = (unsigned char)(dtype == OXP_BOOL ? i % 2 : i);
    assert_int_equal(oxp_array_write(&array, "array.npy", &error), OXP_OK);
    assert_int_equal(oxp_array_read("array.npy", &again, &error), OXP_OK);
    assert_int_equal(again.dtype, dtype);
    assert_int_equal(again.rank, 3);
    assert_memory_equal(again.shape, array.shape, 3 * sizeof(int64_t));
    assert_memory_equal(again.data, array.data, oxp_array_bytes(&array));
    oxp_array_free(&array);
    oxp_array_free(&again);
  }
  oxp_array none;
  assert_int_equal(oxp_array_read("missing.npy", &none, &error), OXP_IO);
  assert_all_words(error.message, "missing.npy");
  oxp_array bfloat = { .dtype = OXP_BFLOAT16, .rank = 1, .shape = { 1 }, .data = &(uint16_t){ 1 } };
  assert_int_equal(oxp_array_write(&bfloat, "bfloat.npy", &error), OXP_BAD_ARGUMENT);
  assert_false(exists("bfloat.npy"));
}

static void test_byte_orders_and_fortran(void **state)
{
  (void)state;
  oxp_array array;
  oxp_error error = { 0 };
  memory from = array_of("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }", 1, 12);
  write_bytes("odd.npy", from.at, from.count);
  assert_int_equal(oxp_array_read("odd.npy", &array, &error), OXP_OK);
  const int16_t expected[] = { 0x0001, 0x0405, 0x0809, 0x0203, 0x0607, 0x0A0B };
  assert_memory_equal(array.data, expected, sizeof expected);
  oxp_array_free(&array);
}

// What NumPy wrote is written again byte for byte, whatever the shape.
static void test_writes_numpys_bytes(void **state)
{
  (void)state;
  static const char *const names[] = { "a_mlp.x.npy",
                                       "b_cnn.y.npy",
                                       "c_conv_groups.y.npy",
                                       "damaged/good.x.npy",
                                       "act/f_relu.x.npy",
                                       "detector/h_det26.y.npy",
                                       "detector/photos.uint8.npy" };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char path[512];
    oxp_error error = { 0 };
    snprintf(path, sizeof path, "%s%s", NETCL, names[i]);
    oxp_array array = read_array(path);
    assert_int_equal(oxp_array_write(&array, "again.npy", &error), OXP_OK);
    bytes a = read_bytes(path), b = read_bytes("again.npy");
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.at, b.at, a.count);
    free(a.at);
    free(b.at);
    oxp_array_free(&array);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_accepts),
    cmocka_unit_test(test_bytes_behind),
    cmocka_unit_test(test_refuses),
    cmocka_unit_test(test_refuses_damaged_preambles),
    cmocka_unit_test(test_text),
    cmocka_unit_test(test_array_files),
    cmocka_unit_test(test_byte_orders_and_fortran),
    cmocka_unit_test(test_writes_numpys_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
