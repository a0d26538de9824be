// Unit tests of copying arrays from file to file.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "core/copy.h"
#include "core/file.h"
#include "core/output.h"

// A file with a head of some bytes and an array behind it; the extent reaches over both.
enum { HEAD = 200 };

typedef struct source {
  oxp__arena arena;
  oxp__file *file;
  oxp_extent extent;
  oxp_tensor tensor;
} source;

static void make_source(source *s, oxp_dtype dtype, int64_t rows, int64_t columns, bool fortran)
{
  size_t bytes = HEAD + (size_t)(rows * columns) * oxp_dtype_bytes(dtype);
  unsigned char *content = malloc(bytes);
  oxp__random random = { 7 };
  for (size_t i = 0; i < bytes; i++)
    content[i] = (unsigned char)oxp__random_u64(&random);
  oxp__output output;
  assert_int_equal(oxp__output_open(&output, "source", NULL, NULL), OXP_OK);
  assert_int_equal(oxp__output_write(&output, content, bytes, NULL), OXP_OK);
  assert_int_equal(oxp__output_commit(&output, OXP_SYNC_NEVER, NULL), OXP_OK);
  *s = (source){ 0 };
  assert_int_equal(oxp__file_open(&s->arena, "source", &s->file, NULL), OXP_OK);
  s->extent = (oxp_extent){
    .file = s->file, .size_bytes = bytes, .has_crc = true, .crc = (uint32_t)crc32(0, content, (uInt)bytes)
  };
  const int64_t shape[] = { rows, columns };
  s->tensor = oxp_tensor_from_function(dtype, 2, shape, oxp__file_read, s->file);
  s->tensor.offset_bytes = HEAD;
  s->tensor.extent = &s->extent;
  oxp__tensor_set_strides(&s->tensor, fortran);
  free(content);
}

typedef struct counter {
  uint64_t last;
  bool go_on;
} counter;

static bool count_progress(void *context, uint64_t done_bytes)
{
  counter *progress = context;
  progress->last = done_bytes;
  return progress->go_on;
}

// Copies to a file, 64 bytes into it, and returns what stands there (free it).
static unsigned char *copy(const source *s, oxp__tensor_stats *stats, counter *progress, oxp_status expected,
                           oxp_error *error)
{
  size_t bytes = (size_t)oxp__tensor_bytes(&s->tensor, OXP_DTYPE_NONE);
  unsigned char *found = malloc(bytes);
  oxp__output output;
  oxp__arena arena = { 0 };
  oxp__copy_job job = { .tensor = &s->tensor, .stats = stats };
  assert_int_equal(oxp__output_open(&output, "target", NULL, NULL), OXP_OK);
  assert_int_equal(oxp__output_write(&output, s, 64, NULL), OXP_OK);
  assert_int_equal(oxp__output_skip(&output, bytes, &job.target_offset, NULL), OXP_OK);
  assert_int_equal(oxp__output_write(&output, "end", 3, NULL), OXP_OK);
  oxp_status status = oxp__copy_run(&job, 1, output.descriptor, "target", count_progress, progress, error);
  assert_int_equal(status, expected);
  if (status != OXP_OK) {
    oxp__output_abort(&output);
    free(found);
    return NULL;
  }
  assert_int_equal(oxp__output_commit(&output, OXP_SYNC_NEVER, NULL), OXP_OK);
  oxp__file *file;
  assert_int_equal(oxp__file_open(&arena, "target", &file, NULL), OXP_OK);
  assert_int_equal(file->size_bytes, 64 + bytes + 3);
  assert_int_equal(oxp__file_read(file, 64, found, bytes, NULL), OXP_OK);
  oxp__arena_fini(&arena);
  return found;
}

typedef struct collected {
  unsigned char *at;
} collected;

static oxp_status collect(void *context, const void *bytes, size_t count, oxp_error *error)
{
  (void)error;
  collected *to = context;
  memcpy(to->at, bytes, count);
  to->at += count;
  return OXP_OK;
}

// The copy is what the stream gives, which is slower and tested elsewhere.
static void assert_copies_like_the_stream(oxp_dtype dtype, int64_t rows, int64_t columns, bool fortran, bool big_endian,
                                          oxp__copy_way way)
{
  source s;
  make_source(&s, dtype, rows, columns, fortran);
  s.tensor.big_endian = big_endian;
  assert_int_equal(oxp__copy_way_of(&s.tensor, OXP_DTYPE_NONE), way);
  size_t bytes = (size_t)oxp__tensor_bytes(&s.tensor, OXP_DTYPE_NONE);
  unsigned char *expected = malloc(bytes);
  collected to = { expected };
  oxp__tensor_stats streamed = { 0 }, copied = { 0 };
  oxp__sink sink = { .write = collect, .context = &to };
  assert_int_equal(oxp__tensor_stream(&s.tensor, OXP_DTYPE_NONE, sink, &streamed, NULL), OXP_OK);
  counter progress = { .go_on = true };
  unsigned char *found = copy(&s, &copied, &progress, OXP_OK, NULL);
  assert_memory_equal(found, expected, bytes);
  assert_int_equal(copied.not_finite, streamed.not_finite);
  if (way == OXP__COPY_SPAN)
    assert_int_equal(copied.crc, crc32(0, expected, (uInt)bytes));
  free(found);
  free(expected);
  oxp__arena_fini(&s.arena);
}

static void copies_are_what_streams_give(void **state)
{
  (void)state;
  if (oxp__is_big_endian_host()) { // there is no way there
    print_message("skipped: files hold little-endian values, this machine does not\n");
    skip();
  }
  assert_copies_like_the_stream(OXP_FLOAT32, 700, 513, false, false, OXP__COPY_SPAN);
  assert_copies_like_the_stream(OXP_FLOAT32, 2100, 1100, false, false, OXP__COPY_SPAN); // several pieces
  assert_copies_like_the_stream(OXP_FLOAT16, 333, 77, false, false, OXP__COPY_SPAN);
  assert_copies_like_the_stream(OXP_FLOAT32, 700, 513, false, true, OXP__COPY_SWAP);
  assert_copies_like_the_stream(OXP_FLOAT64, 300, 257, false, true, OXP__COPY_SWAP);
  assert_copies_like_the_stream(OXP_FLOAT32, 700, 513, true, false, OXP__COPY_TRANSPOSE);
  assert_copies_like_the_stream(OXP_FLOAT32, 600, 4101, true, false, OXP__COPY_TRANSPOSE); // tiles in both directions
  assert_copies_like_the_stream(OXP_FLOAT32, 1025, 511, true, false, OXP__COPY_TRANSPOSE);
  assert_copies_like_the_stream(OXP_FLOAT32, 513, 3, true, false, OXP__COPY_TRANSPOSE);
}

static void what_has_no_way_is_told(void **state)
{
  (void)state;
  source s;
  make_source(&s, OXP_FLOAT32, 20, 30, true);
  assert_int_equal(oxp__copy_way_of(&s.tensor, OXP_FLOAT64), OXP__COPY_NONE); // converted
  s.tensor.big_endian = true;
  assert_int_equal(oxp__copy_way_of(&s.tensor, OXP_FLOAT32), OXP__COPY_NONE); // turned and swapped
  s.tensor.big_endian = false;
  s.extent.size_bytes++; // bytes behind it would escape the checksum
  assert_int_equal(oxp__copy_way_of(&s.tensor, OXP_FLOAT32), OXP__COPY_NONE);
  s.tensor.extent = NULL;
  assert_int_equal(oxp__copy_way_of(&s.tensor, OXP_FLOAT32), OXP__COPY_NONE);
  oxp__arena_fini(&s.arena);
}

static void wrong_checksums_and_cut_files_are_found(void **state)
{
  (void)state;
  for (int fortran = 0; fortran < 2; fortran++) {
    source s;
    make_source(&s, OXP_FLOAT32, 600, 700, fortran);
    s.tensor.origin = "0:weight";
    s.extent.crc ^= 1;
    oxp__tensor_stats stats = { 0 };
    oxp_error error = { 0 };
    counter progress = { .go_on = true };
    copy(&s, &stats, &progress, OXP_BAD_FILE, &error);
    assert_non_null(strstr(error.message, "source: 0:weight: the data is damaged: its checksum is"));
    s.extent.offset_bytes = 1000; // the last bytes are beyond the end
    copy(&s, &stats, &progress, OXP_BAD_FILE, &error);
    assert_non_null(strstr(error.message, "the file ends"));
    oxp__arena_fini(&s.arena);
  }
}

static void copying_stops_on_request(void **state)
{
  (void)state;
  source s;
  make_source(&s, OXP_FLOAT32, 2000, 3000, false);
  oxp__tensor_stats stats = { 0 };
  oxp_error error = { 0 };
  counter progress = { .go_on = false };
  copy(&s, &stats, &progress, OXP_CANCELLED, &error);
  oxp__arena_fini(&s.arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(copies_are_what_streams_give),
    cmocka_unit_test(what_has_no_way_is_told),
    cmocka_unit_test(wrong_checksums_and_cut_files_are_found),
    cmocka_unit_test(copying_stops_on_request),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
