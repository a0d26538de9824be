// Unit tests of formats/containers/zip: what is read, what is refused, what is written.
#include "formats_support.h"

#include <zlib.h>

#include "formats/containers/bytes.h"
#include "formats/containers/zip.h"

// --- Making archives by hand ---

typedef struct entry {
  const char *name, *local_name; // local_name NULL: the same
  const void *data;
  size_t stored, plain;
  uint32_t crc;
  uint16_t flags, method, local_method;
  int64_t offset;     // of the local header in the directory; -1: the true one
  bool descriptor;    // sizes behind the data
  bool large_by_half; // local header says twice the size
} entry;

typedef struct maker {
  unsigned char at[128 * 1024];
  size_t count;
} maker;

static void put(maker *made, uint64_t number, int size)
{
  oxp__put_le(made->at + made->count, number, size);
  made->count += (size_t)size;
}

static void put_bytes(maker *made, const void *data, size_t count)
{
  memcpy(made->at + made->count, data, count);
  made->count += count;
}

static entry stored(const char *name, const char *text)
{
  size_t count = strlen(text);
  return (entry){ .name = name,
                  .data = text,
                  .stored = count,
                  .plain = count,
                  .crc = (uint32_t)crc32_z(0, (const void *)text, count),
                  .offset = -1 };
}

static void put_local(maker *made, const entry *e)
{
  const char *name = e->local_name ? e->local_name : e->name;
  put(made, 0x04034b50, 4);
  put(made, 20, 2);
  put(made, e->flags, 2);
  put(made, e->local_method ? e->local_method : e->method, 2);
  put(made, 0x210000, 4);
  put(made, e->descriptor ? 0 : e->crc, 4);
  put(made, e->descriptor ? 0 : e->stored * (e->large_by_half ? 2 : 1), 4);
  put(made, e->descriptor ? 0 : e->plain * (e->large_by_half ? 2 : 1), 4);
  put(made, strlen(name), 2);
  put(made, 0, 2);
  put_bytes(made, name, strlen(name));
  put_bytes(made, e->data, e->stored);
  if (e->descriptor) {
    put(made, 0x08074b50, 4);
    put(made, e->crc, 4);
    put(made, e->stored, 4);
    put(made, e->plain, 4);
  }
}

static void put_directory_entry(maker *made, const entry *e, size_t offset)
{
  put(made, 0x02014b50, 4);
  put(made, 20, 2);
  put(made, 20, 2);
  put(made, e->flags, 2);
  put(made, e->method, 2);
  put(made, 0x210000, 4);
  put(made, e->crc, 4);
  put(made, e->stored, 4);
  put(made, e->plain, 4);
  put(made, strlen(e->name), 2);
  put(made, 0, 12); // no extra field, no comment, part 0, no attributes
  put(made, e->offset >= 0 ? (uint64_t)e->offset : offset, 4);
  put_bytes(made, e->name, strlen(e->name));
}

static void put_end(maker *made, size_t count, size_t start, const char *comment)
{
  put(made, 0x06054b50, 4);
  put(made, 0, 4);
  put(made, count, 2);
  put(made, count, 2);
  put(made, made->count - start - 12, 4);
  put(made, start, 4);
  put(made, strlen(comment), 2);
  put_bytes(made, comment, strlen(comment));
}

static maker make(const entry *entries, size_t count, const char *comment)
{
  maker made = { .count = 0 };
  size_t offsets[8];
  for (size_t i = 0; i < count; i++) {
    offsets[i] = made.count;
    put_local(&made, &entries[i]);
  }
  size_t start = made.count;
  for (size_t i = 0; i < count; i++)
    put_directory_entry(&made, &entries[i], offsets[i]);
  put_end(&made, count, start, comment);
  return made;
}

// --- Opening ---

typedef struct opened {
  oxp__arena arena;
  oxp__zip *zip;
  oxp_error error;
  oxp_status status;
} opened;

static opened open_zip(const void *data, size_t count)
{
  opened result = { .zip = NULL };
  oxp__file *file;
  write_bytes("test.zip", data, count);
  assert_int_equal(oxp__file_open(&result.arena, "test.zip", &file, &result.error), OXP_OK);
  result.status = oxp__zip_open(&result.arena, file, &result.zip, &result.error);
  return result;
}

static void assert_refused(const maker *made, const char *words)
{
  opened result = open_zip(made->at, made->count);
  assert_int_equal(result.status, OXP_BAD_FILE);
  assert_null(result.zip);
  assert_all_words(result.error.message, words);
  oxp__arena_fini(&result.arena);
}

static void assert_member(opened *zip, const char *name, const char *text)
{
  char *data;
  size_t count;
  const oxp__zip_member *member = oxp__zip_find(zip->zip, name);
  assert_non_null(member);
  if (oxp__zip_read_all(&zip->arena, zip->zip, member, 1000, &data, &count, &zip->error) != OXP_OK)
    fail_msg("%s", zip->error.message);
  assert_string_equal(data, text);
  assert_int_equal(count, strlen(text));
}

static void test_reads_members(void **state)
{
  (void)state;
  entry entries[] = { stored("b", "first"), stored("a/x", ""), stored("c", "third") };
  entries[2].flags = 8;
  entries[2].descriptor = true;
  maker made = make(entries, 3, "a comment");
  opened result = open_zip(made.at, made.count);
  assert_int_equal(result.status, OXP_OK);
  assert_int_equal(result.zip->member_count, 3);
  assert_string_equal(result.zip->members[0].name, "b"); // order of the directory
  assert_member(&result, "b", "first");
  assert_member(&result, "a/x", "");
  assert_member(&result, "c", "third");
  assert_null(oxp__zip_find(result.zip, "d"));
  oxp__arena_fini(&result.arena);
}

// Writers that stream know neither sizes nor checksum when they write a member's own header, or only some of them: each number is then
// zero or full of ones by itself. A number that says something else is a lie, and without the flag none may be missing.
static void test_streamed_headers(void **state)
{
  (void)state;
  enum { TRUE_NUMBER, ZERO, ONES, WRONG, CHOICES };
  for (int i = 0; i < CHOICES * CHOICES * CHOICES * 4; i++) {
    const int choice[] = { i % CHOICES, i / CHOICES % CHOICES, i / CHOICES / CHOICES % CHOICES };
    bool streamed = i / CHOICES / CHOICES / CHOICES % 2, said = i / CHOICES / CHOICES / CHOICES / 2;
    entry e = stored("member", "some text");
    e.flags = said ? 8 : 0; // in the directory; other readers believe the member's own header
    maker made = make(&e, 1, "");
    made.at[6] = streamed ? 8 : 0;
    bool all_true = true, all_possible = true;
    for (int field = 0; field < 3; field++) {
      unsigned char *at = made.at + 14 + 4 * field;
      if (choice[field] == ZERO || choice[field] == ONES)
        memset(at, choice[field] == ZERO ? 0 : 0xFF, 4);
      at[1] ^= choice[field] == WRONG;
      all_true = all_true && choice[field] == TRUE_NUMBER;
      all_possible = all_possible && choice[field] != WRONG;
    }
    opened result = open_zip(made.at, made.count);
    if ((result.status == OXP_OK) != (streamed ? all_possible : all_true))
      fail_msg("crc %d, stored %d, plain %d, streamed %d: %s", choice[0], choice[1], choice[2], streamed,
               result.error.message);
    if (result.status == OXP_OK)
      assert_member(&result, "member", "some text");
    oxp__arena_fini(&result.arena);
  }
}

static opened open_with_rest(maker made, const void *rest, size_t count)
{
  put_bytes(&made, rest, count);
  return open_zip(made.at, made.count);
}

static void test_bytes_behind(void **state)
{
  (void)state;
  static char rest[70000];
  entry e = stored("member", "some text");
  maker made = make(&e, 1, "a comment");
  const size_t counts[] = { 0, 1, 50, 65000 };
  for (size_t i = 0; i < 4; i++) {
    opened result = open_with_rest(made, rest, counts[i]);
    assert_int_equal(result.status, OXP_OK);
    assert_int_equal(result.zip->rest_bytes, counts[i]);
    assert_member(&result, "member", "some text");
    oxp__arena_fini(&result.arena);
  }
  // Beyond what others look through; and where others would find another archive, or none.
  maker copy = made;
  copy.at[0] ^= 1;
  const struct {
    const void *rest;
    size_t count;
    const char *words;
  } refused[] = {
    { rest, sizeof rest, "no end record" },
    { made.at, made.count, "something was put before the archive" },
    { copy.at, made.count, "something was put before the archive" },
    { "PK\5\6 is no end record, but begins like one", 43, "no end record" },
  };
  for (size_t i = 0; i < 4; i++) {
    opened result = open_with_rest(made, refused[i].rest, refused[i].count);
    assert_int_equal(result.status, OXP_BAD_FILE);
    assert_all_words(result.error.message, refused[i].words);
    oxp__arena_fini(&result.arena);
  }
}

static void test_reads_an_empty_archive(void **state)
{
  (void)state;
  maker made = make(NULL, 0, "");
  opened result = open_zip(made.at, made.count);
  assert_int_equal(result.status, OXP_OK);
  assert_int_equal(result.zip->member_count, 0);
  oxp__arena_fini(&result.arena);
}

static void test_refuses(void **state)
{
  (void)state;
  entry entries[2] = { stored("one", "first"), stored("two", "second") };
  struct {
    const char *words;
    entry second;
  } cases[6];
  for (int i = 0; i < 6; i++)
    cases[i].second = entries[1];
  cases[0].words = "one|two members", cases[0].second.name = "one";
  cases[1].words = "two|encrypted", cases[1].second.flags = 1;
  cases[2].words = "two|method 12", cases[2].second.method = 12;
  cases[3].words = "two|another name", cases[3].second.local_name = "owt";
  cases[4].words = "two|another method", cases[4].second.local_method = 8;
  cases[5].words = "two|6 bytes|12", cases[5].second.large_by_half = true;
  for (int i = 0; i < 6; i++) {
    entries[1] = cases[i].second;
    maker made = make(entries, 2, "");
    assert_refused(&made, cases[i].words);
  }
}

static void test_refuses_bad_ranges(void **state)
{
  (void)state;
  entry entries[2] = { stored("one", "first"), stored("two", "second") };
  entries[1].offset = 400000;
  maker made = make(entries, 2, "");
  assert_refused(&made, "two|outside");
  entries[1].offset = 5;
  made = make(entries, 2, "");
  assert_refused(&made, "two|does not start");
  entries[1] = stored("two", "second");
  entries[1].plain = 7; // stored, but sizes differ
  made = make(entries, 2, "");
  assert_refused(&made, "two|7 bytes in 6");
  entries[1] = stored("two", "second");
  entries[1].method = 8;
  entries[1].plain = 100000; // no deflate stream of 6 bytes holds that
  made = make(entries, 2, "");
  assert_refused(&made, "two|100000 bytes in 6");
}

// One local header inside another member's data, with the same name in both: the ranges overlap.
static void test_refuses_overlap(void **state)
{
  (void)state;
  maker inner = { .count = 0 };
  entry small = stored("two", "x");
  put_local(&inner, &small);
  inner.at[inner.count] = 0;
  entry outer = { .name = "one",
                  .data = inner.at,
                  .stored = inner.count,
                  .plain = inner.count,
                  .crc = (uint32_t)crc32_z(0, inner.at, inner.count),
                  .offset = -1 };
  maker made = { .count = 0 };
  put_local(&made, &outer);
  size_t start = made.count;
  put_directory_entry(&made, &outer, 0);
  put_directory_entry(&made, &small, 30 + 3);
  put_end(&made, 2, start, "");
  assert_refused(&made, "one|overlaps|two");
}

static void test_end_records(void **state)
{
  (void)state;
  entry one = stored("one", "first");
  maker good = make(&one, 1, ""), made = good;
  memmove(made.at + 3, made.at, made.count);
  made.count += 3;
  assert_refused(&made, "before the archive");
  made = good;
  made.count -= 1;
  assert_refused(&made, "no end record");
  made = good;
  made.at[made.count - 18] = 1; // part number
  assert_refused(&made, "one part of several");
  made = good;
  made.at[made.count - 10] += 1; // directory size
  assert_refused(&made, "directory is said to be");
  assert_refused(&(maker){ .count = 0 }, "no end record");
}

// A comment that looks like an end record, but fits nothing, is a comment.
static void test_reads_past_a_false_end_record(void **state)
{
  (void)state;
  entry one = stored("one", "first");
  maker made = make(&one, 1, ""), comment = { .count = 0 };
  put(&comment, 0x06054b50, 4);
  put(&comment, 0x10000, 8);
  put(&comment, 46, 4);
  put(&comment, 5, 4);
  put(&comment, 0, 2);
  oxp__put_le(made.at + made.count - 2, comment.count, 2);
  put_bytes(&made, comment.at, comment.count);
  opened result = open_zip(made.at, made.count);
  assert_int_equal(result.status, OXP_OK);
  assert_int_equal(result.error.status, OXP_OK); // nothing is left of the place that did not fit
  assert_member(&result, "one", "first");
  oxp__arena_fini(&result.arena);
}

// A comment that is the end record of an empty archive fits as well as the real one, so neither is believed.
static void test_refuses_two_end_records(void **state)
{
  (void)state;
  entry one = stored("one", "first");
  maker made = make(&one, 1, ""), comment = { .count = 0 };
  put(&comment, 0x06054b50, 4);
  put(&comment, 0, 12);
  put(&comment, made.count, 4);
  put(&comment, 0, 2);
  oxp__put_le(made.at + made.count - 2, comment.count, 2);
  put_bytes(&made, comment.at, comment.count);
  assert_refused(&made, "2 end records");
}

// --- Streams ---

enum { BIG_COUNT = 300000 };

// A deflated member of 300000 bytes that takes several refills of any sensible buffer; `plain` has room for its bytes.
static entry deflated(unsigned char *plain, unsigned char *stored)
{
  uint32_t random = 1;
  for (int i = 0; i < BIG_COUNT; i++) {
    random = random * 1664525 + 1013904223;
    plain[i] = (unsigned char)(random >> 30);
  }
  z_stream z = { .next_in = plain, .avail_in = BIG_COUNT, .next_out = stored, .avail_out = BIG_COUNT };
  deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  deflateEnd(&z);
  return (entry){ .name = "big",
                  .data = stored,
                  .stored = z.total_out,
                  .plain = BIG_COUNT,
                  .crc = (uint32_t)crc32_z(0, plain, BIG_COUNT),
                  .method = 8,
                  .offset = -1 };
}

static void test_inflates(void **state)
{
  (void)state;
  unsigned char *plain = malloc(BIG_COUNT), *stored_bytes = malloc(BIG_COUNT), *again = malloc(BIG_COUNT);
  entry big = deflated(plain, stored_bytes);
  maker *made = calloc(1, sizeof *made);
  *made = make(&big, 1, "");
  opened zip = open_zip(made->at, made->count);
  assert_int_equal(zip.status, OXP_OK);
  oxp__zip_stream *stream;
  oxp_error *error = &zip.error;
  assert_int_equal(oxp__zip_stream_open(&zip.arena, zip.zip, zip.zip->members, &stream, error), OXP_OK);
  for (int round = 0; round < 2; round++) { // in pieces of odd sizes
    for (size_t at = 0, step = 1; at < BIG_COUNT; at += step, step = step * 3 % 50021 + 1) {
      size_t count = BIG_COUNT - at < step ? BIG_COUNT - at : step;
      assert_int_equal(oxp__zip_read(stream, at, again + at, count, error), OXP_OK);
    }
    assert_memory_equal(plain, again, BIG_COUNT);
  }
  assert_int_equal(oxp__zip_read(stream, 200000, again, 100, error), OXP_OK); // forth
  assert_memory_equal(again, plain + 200000, 100);
  assert_int_equal(oxp__zip_read(stream, 7, again, 100, error), OXP_OK); // and back
  assert_memory_equal(again, plain + 7, 100);
  oxp__zip_stream_rest(stream);
  assert_int_equal(oxp__zip_read(stream, 107, again, 100, error), OXP_OK);
  assert_memory_equal(again, plain + 107, 100);
  assert_int_equal(oxp__zip_read(stream, BIG_COUNT - 5, again, 6, error), OXP_BAD_FILE);
  oxp__arena_fini(&zip.arena);
  free(plain);
  free(stored_bytes);
  free(again);
  free(made);
}

// A member whose directory announces one byte more or less than its stream has.
static void test_inflated_size_lies(void **state)
{
  (void)state;
  unsigned char *plain = malloc(BIG_COUNT), *stored_bytes = malloc(BIG_COUNT), *again = malloc(BIG_COUNT + 1);
  entry big = deflated(plain, stored_bytes);
  maker *made = calloc(1, sizeof *made);
  for (int off = -1; off <= 1; off += 2) {
    big.plain = (size_t)(BIG_COUNT + off);
    *made = make(&big, 1, "");
    opened zip = open_zip(made->at, made->count);
    oxp__zip_stream *stream;
    assert_int_equal(oxp__zip_stream_open(&zip.arena, zip.zip, zip.zip->members, &stream, &zip.error), OXP_OK);
    assert_int_equal(oxp__zip_read(stream, 0, again, big.plain, &zip.error), OXP_BAD_FILE);
    assert_all_words(zip.error.message, off < 0 ? "big|goes on" : "big|ends after 300000|300001");
    oxp__arena_fini(&zip.arena);
  }
  free(plain);
  free(stored_bytes);
  free(again);
  free(made);
}

static void test_checksum(void **state)
{
  (void)state;
  entry one = stored("one", "first");
  one.crc ^= 1;
  maker made = make(&one, 1, "");
  opened zip = open_zip(made.at, made.count);
  assert_int_equal(zip.status, OXP_OK);
  oxp__zip_stream *stream;
  char data[8];
  assert_int_equal(oxp__zip_stream_open(&zip.arena, zip.zip, zip.zip->members, &stream, &zip.error), OXP_OK);
  assert_int_equal(oxp__zip_read(stream, 0, data, 4, &zip.error), OXP_OK); // not at the end yet
  assert_int_equal(oxp__zip_read(stream, 4, data, 1, &zip.error), OXP_BAD_FILE);
  assert_all_words(zip.error.message, "test.zip|one|checksum");
  // Skipping to the last byte reads the ones before it too.
  assert_int_equal(oxp__zip_read(stream, 4, data, 1, &zip.error), OXP_BAD_FILE);
  oxp__arena_fini(&zip.arena);
}

// --- Writing ---

static void test_writes_what_it_reads(void **state)
{
  (void)state;
  oxp__output output = { 0 };
  oxp__arena arena = { 0 };
  oxp__zip_writer *writer;
  oxp_error error = { 0 };
  assert_int_equal(oxp__output_open(&output, "written.zip", NULL, &error), OXP_OK);
  assert_int_equal(oxp__zip_writer_new(&arena, &output, &writer, &error), OXP_OK);
  const char *names[] = { "a.npy", "\xc3\xa4.npy" };
  for (int i = 0; i < 2; i++) {
    assert_int_equal(oxp__zip_writer_begin(writer, names[i], &error), OXP_OK);
    assert_int_equal(oxp__zip_writer_write(writer, "some ", 5, &error), OXP_OK);
    assert_int_equal(oxp__zip_writer_write(writer, "text", 4, &error), OXP_OK);
    assert_int_equal(oxp__zip_writer_end(writer, &error), OXP_OK);
  }
  assert_int_equal(oxp__zip_writer_finish(writer, &error), OXP_OK);
  oxp__arena_fini(&arena);
  assert_int_equal(oxp__output_commit(&output, OXP_SYNC_NEVER, &error), OXP_OK);
  bytes written = read_bytes("written.zip");
  opened zip = open_zip(written.at, written.count);
  assert_int_equal(zip.status, OXP_OK);
  assert_member(&zip, names[0], "some text");
  assert_member(&zip, names[1], "some text");
  oxp__arena_fini(&zip.arena);
  free(written.at);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_reads_members),
    cmocka_unit_test(test_reads_an_empty_archive),
    cmocka_unit_test(test_refuses),
    cmocka_unit_test(test_refuses_bad_ranges),
    cmocka_unit_test(test_refuses_overlap),
    cmocka_unit_test(test_end_records),
    cmocka_unit_test(test_refuses_two_end_records),
    cmocka_unit_test(test_reads_past_a_false_end_record),
    cmocka_unit_test(test_streamed_headers),
    cmocka_unit_test(test_bytes_behind),
    cmocka_unit_test(test_inflates),
    cmocka_unit_test(test_inflated_size_lies),
    cmocka_unit_test(test_checksum),
    cmocka_unit_test(test_writes_what_it_reads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
