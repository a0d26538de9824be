// Unit tests of core: errors, arenas, texts, numbers, files, tensors.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/file.h"
#include "core/output.h"
#include "core/tensor.h"
#include "core/text.h"

// ---- Errors ----

static void error_context_comes_before_the_message_once(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  assert_int_equal(oxp__fail(&error, OXP_BAD_FILE, "has %d bytes, %d expected", 3, 4), OXP_BAD_FILE);
  oxp__at_key(&error, OXP_BAD_FILE, "0:weight");
  oxp__at_key(&error, OXP_BAD_FILE, "ignored, an inner call knew better");
  oxp__at_file(&error, OXP_BAD_FILE, "net.netcl");
  assert_string_equal(error.message, "net.netcl: 0:weight: has 3 bytes, 4 expected");
  assert_string_equal(error.key, "0:weight");
  assert_string_equal(error.file, "net.netcl");
  assert_string_equal(error.layer, "");
}

static void error_is_optional_and_bounded(void **state)
{
  (void)state;
  assert_int_equal(oxp__fail(NULL, OXP_IO, "nobody listens"), OXP_IO);
  char long_text[9000];
  memset(long_text, 'x', sizeof long_text - 1);
  long_text[sizeof long_text - 1] = 0;
  oxp_error error = { 0 };
  oxp__fail(&error, OXP_BAD_FILE, "%s", long_text);
  oxp__at_file(&error, OXP_BAD_FILE, long_text);
  assert_true(strlen(error.message) < sizeof error.message);
  assert_true(strlen(error.file) == sizeof error.file - 1);
  error = (oxp_error){ 0 }; // somebody failed without a word, here and with an older failure in the error
  assert_int_equal(oxp__at_file(&error, OXP_IO, "net.netcl"), OXP_IO);
  assert_int_equal(error.status, OXP_IO);
  assert_string_equal(error.message, "net.netcl: a file could not be read or written");
  assert_int_equal(oxp__at_key(&error, OXP_BAD_FILE, "0:weight"), OXP_BAD_FILE);
  assert_string_equal(error.message, "0:weight: the input file is damaged or not understood");
}

static void every_status_has_a_name_a_text_and_an_exit_code(void **state)
{
  (void)state;
  for (int i = 0; i <= OXP_ENGINE_FAILED; i++) {
    assert_memory_equal(oxp_status_name((oxp_status)i), "OXP_", 4);
    assert_true(strlen(oxp_status_text((oxp_status)i)) > 0);
    assert_in_range(oxp_status_exit_code((oxp_status)i), 0, 6);
  }
  assert_string_equal(oxp_status_name((oxp_status)99), "OXP_UNKNOWN_STATUS");
}

// ---- Arena ----

static int closed[3], closed_count;

static void remember_close(void *thing)
{
  closed[closed_count++] = *(int *)thing;
}

static void arena_frees_all_and_closes_backwards(void **state)
{
  (void)state;
  oxp__arena arena = { 0 };
  for (int i = 1; i <= 3; i++) {
    int *thing = oxp__arena_new(&arena, 1, sizeof *thing);
    *thing = i;
    assert_int_equal(oxp__arena_defer(&arena, remember_close, thing, NULL), OXP_OK);
  }
  unsigned char *large = oxp__arena_new(&arena, 100000, 1);
  assert_non_null(large);
  assert_int_equal(large[99999], 0);
  assert_null(oxp__arena_new(&arena, SIZE_MAX / 2, 4));
  assert_string_equal(oxp__arena_printf(&arena, "%s-%d", "a", 7), "a-7");
  oxp__arena_fini(&arena);
  assert_int_equal(closed[0], 3);
  assert_int_equal(closed[2], 1);
}

static void arena_grow_keeps_what_was_there(void **state)
{
  (void)state;
  oxp__arena arena = { 0 };
  int *list = NULL;
  size_t capacity = 0;
  for (size_t i = 0; i < 1000; i++) {
    list = oxp__arena_grow(&arena, list, i, &capacity, sizeof *list);
    list[i] = (int)i;
  }
  for (size_t i = 0; i < 1000; i++)
    assert_int_equal(list[i], (int)i);
  oxp__arena_fini(&arena);
}

// ---- Text ----

// A code point as UTF-8, into at least five bytes.
static void write_utf8(uint32_t code, char *bytes)
{
  int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const unsigned char heads[] = { 0, 0xC0, 0xE0, 0xF0 };
  *bytes++ = (char)(heads[more] | code >> 6 * more);
  while (more-- > 0)
    *bytes++ = (char)(0x80 | (code >> 6 * more & 0x3F));
  *bytes = 0;
}

static void text_quotes_for_json(void **state)
{
  (void)state;
  oxp__text text = { 0 };
  oxp__text_add_json(&text, "a\"\\\n\x01 \xC3\xA4 \xFF\xC2\x9B");
  assert_string_equal(oxp__text_string(&text), "\"a\\\"\\\\\\n\\u0001 \xC3\xA4 \xEF\xBF\xBD\\u009b\"");
  oxp__text_fini(&text);
  const double numbers[] = { 0.1, 1e-05, 3, -1.5e300, 1.0 / 3 };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    oxp__text_add_json_number(&text, numbers[i]);
    assert_true(strtod(oxp__text_string(&text), NULL) == numbers[i]);
    oxp__text_fini(&text);
  }
  oxp__text_add_json_number(&text, (double)NAN);
  assert_string_equal(oxp__text_string(&text), "\"NaN\"");
  oxp__text_fini(&text);
}

static void text_is_made_safe_to_show(void **state)
{
  (void)state;
  char text[] = "a\n\tb\x1B[2J\x7F \xC3\xA4 \xC2\x9B \xFF \xE2\x82";
  oxp__text_clean(text);
  assert_string_equal(text, "a  b?[2J? \xC3\xA4 ? ? ??");
}

// Every one of these would be obeyed, or not seen: controls, marks that turn the order of writing, marks without width, blanks.
static void text_shows_nothing_odd(void **state)
{
  (void)state;
  static const uint32_t odd[] = { 0x1,    0x1F,   0x7F,   0x80,   0x9B,   0xAD,   0x61C,   0x180E,  0x200B, 0x200C,
                                  0x200D, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202E,  0x2060,  0x2066, 0x2069,
                                  0x206F, 0x3164, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFB, 0xE0001, 0xE0041, 0xE007F };
  static const char *const in_json[] = { "\\u202e", "\\u2066", "\\ufeff", "\\udb40\\udc41", "\\u009b", "\\u061c" };
  char json[1024] = "";
  for (size_t i = 0; i < OXP__COUNT(odd); i++) {
    oxp__text text = { 0 };
    char sequence[8] = "", shown[16] = "";
    write_utf8(odd[i], sequence);
    snprintf(shown, sizeof shown, "a%sb", sequence);
    oxp__text_add_json(&text, shown);
    assert_true(strlen(json) + text.length < sizeof json);
    strcat(json, oxp__text_string(&text));
    oxp__text_clean(shown);
    assert_string_equal(shown, "a?b");
    oxp__text_fini(&text);
  }
  for (const char *at = json; *at; at++)
    assert_true(*at >= 0x20 && *at < 0x7F);
  for (size_t i = 0; i < OXP__COUNT(in_json); i++)
    assert_non_null(strstr(json, in_json[i]));
}

static void text_leaves_letters_alone(void **state)
{
  (void)state;
  static const char letters[] = "\xC3\xA4 \xD7\xA9 \xD8\xA8 \xE4\xB8\xAD e\xCC\x81 \xF0\x9F\x98\x80 \xE2\x80\xA6";
  char shown[sizeof letters];
  memcpy(shown, letters, sizeof letters);
  oxp__text_clean(shown);
  assert_string_equal(shown, letters);
  assert_int_equal(oxp__text_cells(letters), 1 + 1 + 1 + 1 + 1 + 1 + 2 + 1 + 1 + 1 + 2 + 1 + 1);
}

static void text_is_shortened_in_its_middle(void **state)
{
  (void)state;
  static const char *const cases[][2] = { { "", "" },
                                          { "123456789", "123456789" },
                                          { "1234567890", "12345\xE2\x80\xA6"
                                                          "890" },
                                          { "\xE4\xB8\xAD\xE4\xB8\xAD\xE4\xB8\xAD\xE4\xB8\xAD\xE4\xB8\xAD",
                                            "\xE4\xB8\xAD\xE4\xB8\xAD\xE2\x80\xA6\xE4\xB8\xAD" },
                                          { "\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B\x1B", "?????\xE2\x80\xA6???" } };
  for (size_t i = 0; i < OXP__COUNT(cases); i++) {
    oxp__text text = { 0 };
    size_t cells = oxp__text_add_short(&text, cases[i][0], 9);
    assert_string_equal(oxp__text_string(&text), cases[i][1]);
    assert_true(cells <= 9 && oxp__text_cells(cases[i][1]) <= cells);
    oxp__text_fini(&text);
  }
}

static size_t drained_bytes, drained_calls;

static oxp_status drain_and_count(void *context, const void *bytes, size_t count, oxp_error *error)
{
  (void)context, (void)bytes;
  drained_bytes += count;
  return ++drained_calls < 40 ? OXP_OK : oxp__fail(error, OXP_IO, "full");
}

static void text_leaves_when_it_is_long(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp__text text = { .drain = drain_and_count, .error = &error };
  for (size_t i = 0; i < 1 << 20; i++) {
    assert_int_equal(drained_bytes + text.length, i);
    oxp__text_add(&text, "x");
  }
  assert_true(text.capacity <= 128 << 10 && drained_calls > 8);
  while (oxp__text_status(&text, NULL) == OXP_OK && drained_calls < 50)
    oxp__text_add(&text, "another line");
  assert_int_equal(oxp__text_status(&text, NULL), OXP_IO);
  assert_string_equal(error.message, "full");
  oxp__text_add(&text, "no more"); // and nothing more leaves
  assert_int_equal(drained_calls, 40);
  oxp__text_fini(&text);
}

static void text_prints_shapes_as_numpy_does(void **state)
{
  (void)state;
  oxp__text text = { 0 };
  oxp__text_add_shape(&text, 3, (int64_t[]){ OXP_DIM_BATCH, 3, OXP_DIM_UNKNOWN });
  oxp__text_add_shape(&text, 1, (int64_t[]){ 8 });
  oxp__text_add_shape(&text, 0, NULL);
  assert_string_equal(oxp__text_string(&text), "(batch, 3, ?)(8,)()");
  oxp__text_fini(&text);
}

static void text_knows_utf8(void **state)
{
  (void)state;
  assert_true(oxp__text_is_utf8("\xE2\x82\xAC \xF0\x9F\x98\x80", 8));
  assert_false(oxp__text_is_utf8("\xC0\xAF", 2));         // overlong
  assert_false(oxp__text_is_utf8("\xED\xA0\x80", 3));     // a surrogate
  assert_false(oxp__text_is_utf8("\xF4\x90\x80\x80", 4)); // above U+10FFFF
  assert_false(oxp__text_is_utf8("\xE2\x82", 2));         // cut off
  assert_false(oxp__text_is_utf8("a\0b", 3));
}

// ---- Numbers ----

static void products_that_overflow_are_found(void **state)
{
  (void)state;
  int64_t count = -1;
  assert_false(oxp__shape_count(2, (int64_t[]){ INT64_C(1) << 40, INT64_C(1) << 40 }, &count));
  assert_false(oxp__shape_count(3, (int64_t[]){ 0, INT64_C(1) << 40, INT64_C(1) << 40 }, &count));
  assert_false(oxp__shape_count(1, (int64_t[]){ -1 }, &count));
  assert_int_equal(count, -1);
  assert_true(oxp__shape_count(0, NULL, &count));
  assert_int_equal(count, 1);
  assert_true(oxp__shape_count(2, (int64_t[]){ 0, 7 }, &count));
  assert_int_equal(count, 0);
  assert_int_equal(oxp__floor_div(-7, 2), -4);
  assert_int_equal(oxp__floor_div(7, 2), 3);
  assert_int_equal(oxp__floor_div(-8, 2), -4);
}

static void halves_convert_exactly_and_round_to_even(void **state)
{
  (void)state;
  for (uint32_t bits = 0; bits <= 0xFFFF; bits++) { // every half survives the round trip through double
    uint16_t half = (uint16_t)bits, back;
    double value = oxp__load_f64(OXP_FLOAT16, &half);
    oxp__store_f64(OXP_FLOAT16, &back, value);
    if (value == value)
      assert_int_equal(back, half);
    else
      assert_true((back & 0x7C00) == 0x7C00 && (back & 0x3FF) != 0);
  }
  const struct {
    double value;
    uint16_t bits;
  } cases[] = { { 1 + 0x1p-11, 0x3C00 }, { 1 + 0x3p-11, 0x3C02 }, { 65519.9, 0x7BFF },
                { 65520, 0x7C00 },       { 0x1p-25, 0x0000 },     { 0x3p-25, 0x0002 },
                { -0.0, 0x8000 },        { 0x1.FF8p-15, 0x03FF }, { 0x1.FFCp-15, 0x0400 } };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint16_t bits;
    oxp__store_f64(OXP_FLOAT16, &bits, cases[i].value);
    assert_int_equal(bits, cases[i].bits);
  }
}

static void integers_saturate(void **state)
{
  (void)state;
  int8_t small;
  oxp__store_f64(OXP_INT8, &small, 1e9);
  assert_int_equal(small, 127);
  int64_t large;
  oxp__store_f64(OXP_INT64, &large, 1e300);
  assert_true(large == INT64_MAX);
  oxp__store_f64(OXP_INT64, &large, (double)NAN);
  assert_true(large == 0);
}

static void random_numbers_are_the_same_everywhere(void **state)
{
  (void)state;
  oxp__random random = { 42 };
  assert_true(oxp__random_u64(&random) == 0xBDD732262FEB6E95u); // the generator's published sequence for seed 42
  for (int i = 0; i < 1000; i++)
    assert_in_range(oxp__random_range(&random, 3, 5), 3, 5);
}

// ---- Files ----

static void write_file(const char *path, const char *text)
{
  oxp__output output;
  assert_int_equal(oxp__output_open(&output, path, NULL, NULL), OXP_OK);
  assert_int_equal(oxp__output_write(&output, text, strlen(text), NULL), OXP_OK);
  assert_int_equal(oxp__output_commit(&output, OXP_SYNC_AUTO, NULL), OXP_OK);
}

static void assert_file_is(const char *path, const char *text)
{
  oxp__arena arena = { 0 };
  oxp__file *file;
  char *bytes;
  size_t count;
  assert_int_equal(oxp__file_open(&arena, path, &file, NULL), OXP_OK);
  assert_int_equal(oxp__file_read_all(&arena, file, 1000, &bytes, &count, NULL), OXP_OK);
  assert_string_equal(bytes, text);
  oxp__arena_fini(&arena);
}

static void output_replaces_only_at_commit(void **state)
{
  (void)state;
  write_file("target", "old");
  oxp__output output;
  assert_int_equal(oxp__output_open(&output, "target", NULL, NULL), OXP_OK);
  char temporary[4096];
  snprintf(temporary, sizeof temporary, "%s", output.temporary_path);
  assert_int_equal(oxp__output_write(&output, "new", 3, NULL), OXP_OK);
  assert_file_is("target", "old");
  oxp__output_abort(&output);
  assert_file_is("target", "old");
  assert_int_equal(access(temporary, F_OK), -1);
  write_file("target", "new");
  assert_file_is("target", "new");
}

static void output_keeps_permissions_and_follows_links(void **state)
{
  (void)state;
  write_file("real", "old");
  chmod("real", 0640);
  unlink("link");
  assert_int_equal(symlink("real", "link"), 0);
  write_file("link", "through the link");
  struct stat status;
  assert_int_equal(lstat("link", &status), 0);
  assert_true(S_ISLNK(status.st_mode));
  assert_int_equal(stat("real", &status), 0);
  assert_int_equal(status.st_mode & 0777, 0640);
  assert_file_is("real", "through the link");
}

static void output_refuses_what_is_no_file(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp__output output;
  mkdir("folder", 0755);
  assert_int_equal(oxp__output_open(&output, "folder", NULL, &error), OXP_IO);
  assert_non_null(strstr(error.message, "a folder"));
  assert_int_equal(oxp__output_open(&output, "/dev/null", NULL, &error), OXP_IO);
  assert_int_equal(oxp__output_open(&output, "missing/folder/x", NULL, &error), OXP_IO);
  assert_non_null(strstr(error.message, "missing/folder/x"));
}

static void output_patches_what_was_written(void **state)
{
  (void)state;
  oxp__output output;
  assert_int_equal(oxp__output_open(&output, "patched", NULL, NULL), OXP_OK);
  assert_int_equal(oxp__output_write(&output, "0123456789", 10, NULL), OXP_OK);
  assert_int_equal(oxp__output_patch(&output, 3, "xy", 2, NULL), OXP_OK);
  assert_int_equal(oxp__output_write(&output, "end", 3, NULL), OXP_OK);
  assert_int_equal(oxp__output_commit(&output, OXP_SYNC_NEVER, NULL), OXP_OK);
  assert_file_is("patched", "012xy56789end");
}

static void file_refuses_folders_and_fifos(void **state)
{
  (void)state;
  oxp__arena arena = { 0 };
  oxp__file *file;
  oxp_error error = { 0 };
  unlink("fifo");
  assert_int_equal(mkfifo("fifo", 0600), 0);
  assert_int_equal(oxp__file_open(&arena, "fifo", &file, &error), OXP_IO);
  mkdir("folder", 0755);
  assert_int_equal(oxp__file_open(&arena, "folder", &file, &error), OXP_IO);
  assert_int_equal(oxp__file_open(&arena, "nothing-here", &file, &error), OXP_IO);
  assert_non_null(strstr(error.message, "nothing-here: cannot open the file"));
  write_file("short", "abc");
  assert_int_equal(oxp__file_open(&arena, "short", &file, &error), OXP_OK);
  char buffer[8];
  assert_int_equal(oxp__file_read(file, 1, buffer, 5, &error), OXP_BAD_FILE);
  assert_int_equal(oxp__file_read(file, UINT64_MAX - 1, buffer, 5, &error), OXP_BAD_FILE);
  oxp__arena_fini(&arena);
}

// ---- Tensors ----

enum { A = 5, B = 7, C = 11 };

// Compares a view in axis order `order` with the array it was made from, index by index.
static void assert_view_is(const float *copy, const float *data, const int64_t *shape, const int *order)
{
  int64_t index[3];
  size_t at = 0;
  for (int64_t i = 0; i < shape[0]; i++)
    for (int64_t j = 0; j < shape[1]; j++)
      for (int64_t k = 0; k < shape[2]; k++) {
        index[order[0]] = i;
        index[order[1]] = j;
        index[order[2]] = k;
        assert_true(copy[at++] == data[(index[0] * B + index[1]) * C + index[2]]);
      }
}

static void tensor_streams_views_like_a_copy(void **state)
{
  (void)state;
  float data[A * B * C], copy[A * B * C];
  for (int i = 0; i < A * B * C; i++)
    data[i] = (float)i;
  oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT32, 3, (int64_t[]){ A, B, C }, data);
  const int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
  for (size_t o = 0; o < 6; o++) {
    oxp_tensor view = oxp__tensor_permute(&tensor, orders[o]);
    assert_int_equal(oxp__tensor_read(&view, OXP_FLOAT32, copy, NULL), OXP_OK);
    assert_view_is(copy, data, view.shape, orders[o]);
  }
}

// A source that makes up its values from their offsets and refuses to go backwards.
typedef struct forward_source {
  uint64_t at;
} forward_source;

static oxp_status forward_read(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  forward_source *source = context;
  if (offset < source->at)
    return oxp__fail(error, OXP_IO, "went backwards");
  source->at = offset + count;
  for (size_t i = 0; i < count / 4; i++) {
    uint32_t value = (uint32_t)(offset / 4 + i);
    memcpy((char *)buffer + i * 4, &value, 4);
  }
  return OXP_OK;
}

typedef struct transposed_check {
  uint64_t at, rows, columns;
} transposed_check;

static oxp_status check_transposed(void *context, const void *bytes, size_t count, oxp_error *error)
{
  transposed_check *check = context;
  for (size_t i = 0; i < count / 4; i++, check->at++) {
    uint32_t value;
    memcpy(&value, (const char *)bytes + i * 4, 4);
    uint64_t row = check->at / check->columns, column = check->at % check->columns;
    if (value != column * check->rows + row)
      return oxp__fail(error, OXP_BAD_FILE, "element %llu is %u", (unsigned long long)check->at, value);
  }
  return OXP_OK;
}

static void tensor_views_of_forward_only_sources_are_spooled(void **state)
{
  (void)state;
  forward_source source = { 0 };
  const int64_t shape[] = { 1000, 1500 }; // larger than the buffers
  oxp_tensor tensor = oxp_tensor_from_function(OXP_UINT32, 2, shape, forward_read, &source);
  tensor.forward_only = true;
  oxp_tensor view = oxp__tensor_permute(&tensor, (const int[]){ 1, 0 });
  transposed_check check = { 0, 1500, 1000 };
  oxp__sink sink = { .write = check_transposed, .context = &check };
  assert_int_equal(oxp__tensor_stream(&view, OXP_DTYPE_NONE, sink, NULL, NULL), OXP_OK);
  assert_int_equal(check.at, 1000 * 1500);
  assert_int_equal(source.at, 4 * 1000 * 1500); // to the last byte: that is where a checksum is verified
}

static void spools_lie_beside_the_target_without_a_name(void **state)
{
  (void)state;
  forward_source source = { 0 };
  oxp_error error = { 0 };
  oxp_tensor tensor = oxp_tensor_from_function(OXP_UINT32, 2, (int64_t[]){ 1000, 1500 }, forward_read, &source);
  tensor.forward_only = true;
  oxp_tensor view = oxp__tensor_permute(&tensor, (const int[]){ 1, 0 });
  transposed_check check = { 0, 1500, 1000 };
  oxp__sink sink = { .write = check_transposed, .context = &check, .beside = "spools/target.onnx" };
  assert_int_equal(oxp__tensor_stream(&view, OXP_DTYPE_NONE, sink, NULL, &error), OXP_IO); // there is no such folder
  assert_non_null(strstr(error.message, "spools/target.onnx"));
  assert_int_equal(mkdir("spools", 0700), 0);
  assert_int_equal(oxp__tensor_stream(&view, OXP_DTYPE_NONE, sink, NULL, NULL), OXP_OK);
  assert_int_equal(check.at, 1000 * 1500);
  assert_int_equal(rmdir("spools"), 0); // empty again
}

static void tensor_swaps_byte_orders(void **state)
{
  (void)state;
  const unsigned char big[] = { 0x3F, 0x80, 0, 0, 0x7F, 0x80, 0, 0, 0x7F, 0xC0, 0, 0 }; // 1, infinity, NaN
  oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ 3 }, big);
  tensor.big_endian = true;
  double values[3];
  assert_int_equal(oxp__tensor_read_f64(&tensor, values, NULL), OXP_OK);
  assert_true(values[0] == 1 && isinf(values[1]) && isnan(values[2]));
}

static oxp_status swallow(void *context, const void *bytes, size_t count, oxp_error *error)
{
  (void)bytes;
  (void)error;
  *(size_t *)context += count;
  return OXP_OK;
}

static void tensor_counts_what_a_conversion_changes(void **state)
{
  (void)state;
  const double exact[] = { 0.5, 0.1, 1e300, (double)INFINITY };
  oxp_tensor wide = oxp_tensor_from_memory(OXP_FLOAT64, 1, (int64_t[]){ 4 }, exact);
  oxp__tensor_stats stats = { 0 };
  size_t bytes = 0;
  assert_int_equal(
      oxp__tensor_stream(&wide, OXP_FLOAT32, (oxp__sink){ .write = swallow, .context = &bytes }, &stats, NULL), OXP_OK);
  assert_int_equal(bytes, 16);
  assert_int_equal(stats.changed, 1);
  assert_int_equal(stats.overflowed, 1);
  assert_int_equal(stats.first_overflow_at, 2);
  assert_true(stats.first_overflow >= 1e300);
  assert_int_equal(stats.not_finite, 1);
  float narrow[4];
  assert_int_equal(oxp__tensor_read(&wide, OXP_FLOAT32, narrow, NULL), OXP_OK);
  assert_true(narrow[0] == 0.5f && narrow[1] == 0.1f && isinf(narrow[2]));
}

typedef struct counted {
  int calls;
} counted;

// Gives zeros once, then fails.
static oxp_status read_once(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  (void)offset;
  counted *source = context;
  memset(buffer, 0, count);
  return source->calls++ == 0 ? OXP_OK : oxp__fail(error, OXP_IO, "no more");
}

static oxp_status ignore(void *context, const void *bytes, size_t count, oxp_error *error)
{
  (void)context;
  (void)bytes;
  (void)count;
  (void)error;
  return OXP_OK;
}

static void tensor_shapes_that_cannot_exist_are_refused(void **state)
{
  (void)state;
  float value = 1;
  const int64_t shape[] = { INT64_C(1) << 62, 4 };
  oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT32, 2, shape, &value);
  assert_int_equal(tensor.rank, -1);
  assert_int_equal(oxp__tensor_read(&tensor, OXP_FLOAT32, &value, NULL), OXP_BAD_ARGUMENT);
  oxp_array array;
  assert_int_equal(oxp_array_new(&array, OXP_FLOAT32, 2, shape, NULL), OXP_BAD_ARGUMENT);
}

// 2^32 elements of one byte: a count that is 0 in 32 bits.
static void tensor_counts_do_not_depend_on_the_machine(void **state)
{
  (void)state;
  const int64_t shape[] = { 65536, 65536 };
  counted source = { 0 };
  oxp_tensor tensor = oxp_tensor_from_function(OXP_UINT8, 2, shape, read_once, &source);
  oxp__sink sink = { .write = ignore };
  assert_int_equal(oxp__tensor_stream(&tensor, OXP_DTYPE_NONE, sink, NULL, NULL), OXP_IO);
  assert_int_equal(source.calls, 2);
  size_t bytes = 7;
  assert_int_equal(oxp__memory_bytes(INT64_C(1) << 32, 1, &bytes), sizeof(size_t) > 4);
  assert_false(oxp__memory_bytes(INT64_MAX, 16, &bytes));
  assert_false(oxp__memory_bytes(-1, 1, &bytes));
  oxp_array array;
  if (sizeof(size_t) == 4) // elsewhere there may be that much memory
    assert_int_equal(oxp_array_new(&array, OXP_UINT8, 2, shape, NULL), OXP_NO_MEMORY);
}

static void empty_tensors_may_have_huge_axes(void **state)
{
  (void)state;
  float value = 1;
  const int64_t shapes[][3] = { { INT64_C(1) << 61, 0, 2 }, { 2, 0, INT64_C(1) << 61 }, { 0, INT64_C(1) << 61, 2 } };
  for (size_t i = 0; i < 3; i++) {
    oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT32, 3, shapes[i], &value);
    assert_int_equal(tensor.rank, 3);
    assert_int_equal(oxp__tensor_count(&tensor), 0);
    assert_true(oxp__tensor_is_contiguous(&tensor));
    assert_int_equal(oxp__tensor_read(&tensor, OXP_FLOAT32, &value, NULL), OXP_OK);
  }
}

static void tensor_reshape_takes_only_what_is_a_view(void **state)
{
  (void)state;
  float data[6] = { 0, 1, 2, 3, 4, 5 };
  oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ 2, 3 }, data);
  oxp_tensor view = oxp__tensor_permute(&tensor, (const int[]){ 1, 0 });
  assert_true(oxp__tensor_reshape(&tensor, 3, (int64_t[]){ 3, 1, 2 }));
  assert_false(oxp__tensor_reshape(&tensor, 1, (int64_t[]){ 5 }));
  assert_true(oxp__tensor_reshape(&view, 3, (int64_t[]){ 3, 1, 2 }));
  assert_false(oxp__tensor_reshape(&view, 1, (int64_t[]){ 6 }));
  float copy[6];
  assert_int_equal(oxp__tensor_read(&view, OXP_FLOAT32, copy, NULL), OXP_OK);
  const float expected[6] = { 0, 3, 1, 4, 2, 5 };
  assert_memory_equal(copy, expected, sizeof copy);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(error_context_comes_before_the_message_once),
    cmocka_unit_test(error_is_optional_and_bounded),
    cmocka_unit_test(every_status_has_a_name_a_text_and_an_exit_code),
    cmocka_unit_test(arena_frees_all_and_closes_backwards),
    cmocka_unit_test(arena_grow_keeps_what_was_there),
    cmocka_unit_test(text_quotes_for_json),
    cmocka_unit_test(text_is_made_safe_to_show),
    cmocka_unit_test(text_shows_nothing_odd),
    cmocka_unit_test(text_leaves_letters_alone),
    cmocka_unit_test(text_is_shortened_in_its_middle),
    cmocka_unit_test(text_leaves_when_it_is_long),
    cmocka_unit_test(text_prints_shapes_as_numpy_does),
    cmocka_unit_test(text_knows_utf8),
    cmocka_unit_test(products_that_overflow_are_found),
    cmocka_unit_test(halves_convert_exactly_and_round_to_even),
    cmocka_unit_test(integers_saturate),
    cmocka_unit_test(random_numbers_are_the_same_everywhere),
    cmocka_unit_test(output_replaces_only_at_commit),
    cmocka_unit_test(output_keeps_permissions_and_follows_links),
    cmocka_unit_test(output_refuses_what_is_no_file),
    cmocka_unit_test(output_patches_what_was_written),
    cmocka_unit_test(file_refuses_folders_and_fifos),
    cmocka_unit_test(tensor_streams_views_like_a_copy),
    cmocka_unit_test(tensor_views_of_forward_only_sources_are_spooled),
    cmocka_unit_test(spools_lie_beside_the_target_without_a_name),
    cmocka_unit_test(tensor_swaps_byte_orders),
    cmocka_unit_test(tensor_counts_what_a_conversion_changes),
    cmocka_unit_test(tensor_shapes_that_cannot_exist_are_refused),
    cmocka_unit_test(tensor_counts_do_not_depend_on_the_machine),
    cmocka_unit_test(empty_tensors_may_have_huge_axes),
    cmocka_unit_test(tensor_reshape_takes_only_what_is_a_view),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
