// See fuzz.h: mutating an archive's members behind its checksums.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/numbers.h"
#include "formats/containers/bytes.h"
#include "formats/containers/npy.h"
#include "fuzz.h"

enum { MEMBERS = 64, NAME_BYTES = 256 };

typedef struct member {
  char name[NAME_BYTES];
  uint8_t *bytes;
  size_t count, capacity;
  bool deflated;
} member;

typedef struct archive {
  member members[MEMBERS];
  size_t count;
} archive;

static void archive_fini(archive *all)
{
  for (size_t i = 0; i < all->count; i++)
    free(all->members[i].bytes);
}

static bool archive_take(archive *all, oxp__arena *arena, const oxp__zip *zip, const oxp__zip_member *from,
                         size_t max_size)
{
  char *bytes;
  size_t count;
  member *to = &all->members[all->count];
  if (all->count == MEMBERS || strlen(from->name) >= NAME_BYTES ||
      oxp__zip_read_all(arena, zip, from, max_size, &bytes, &count, NULL) != OXP_OK)
    return false;
  strcpy(to->name, from->name);
  to->capacity = count + max_size;
  to->bytes = malloc(to->capacity);
  FUZZ_CHECK(to->bytes, "no memory");
  memcpy(to->bytes, bytes, count);
  to->count = count;
  to->deflated = from->deflated;
  all->count++;
  return true;
}

// False when the bytes are no archive that the reader opens.
static bool archive_read(archive *all, const uint8_t *data, size_t size, size_t max_size)
{
  oxp__arena arena = { 0 };
  oxp__file *file;
  oxp__zip *zip;
  all->count = 0;
  if (oxp__file_open(&arena, fuzz_file(data, size), &file, NULL) == OXP_OK &&
      oxp__zip_open(&arena, file, &zip, NULL) == OXP_OK)
    for (size_t i = 0; i < zip->member_count; i++)
      archive_take(all, &arena, zip, &zip->members[i], max_size);
  oxp__arena_fini(&arena);
  return all->count > 0;
}

// --- Mutations ---

// netcl's description in its usual form has four bytes per letter; as bytes it can be mutated with words of a dictionary.
static void member_to_text(member *one)
{
  if (one->count < 128 || memcmp(one->bytes, "\x93NUMPY\x01", 7) != 0)
    return;
  size_t start = 10 + (size_t)oxp__le16(one->bytes + 8), letters = 0;
  if (start > one->count || !memchr(one->bytes + 10, 'U', start - 10))
    return;
  for (size_t at = start; at + 4 <= one->count; at += 4)
    if (one->bytes[at])
      one->bytes[128 + letters++] = one->bytes[at] < 0x80 ? one->bytes[at] : '?';
  one->count = 128 + letters;
}

// Mutates what follows a header of 128 bytes, and writes the header that fits: one text of bytes.
static void member_mutate_text(member *one)
{
  size_t count = LLVMFuzzerMutate(one->bytes + 128, one->count - 128, one->capacity - 128);
  char header[129];
  memset(header, ' ', sizeof header);
  memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
  int length =
      snprintf(header + 10, sizeof header - 10, "{'descr': '|u1', 'fortran_order': False, 'shape': (%zu,), }", count);
  header[10 + length] = ' ';
  header[127] = '\n';
  memcpy(one->bytes, header, 128);
  one->count = 128 + count;
}

static void archive_mutate(archive *all, oxp__random *random)
{
  size_t index = (size_t)oxp__random_range(random, 0, (int64_t)all->count - 1);
  if (oxp__random_range(random, 0, 1) == 0) // the descriptions, where most of what is to be found lies
    for (size_t i = 0; i < all->count; i++)
      if (strstr(all->members[i].name, "meta") || strstr(all->members[i].name, ".pkl"))
        index = i;
  member *one = &all->members[index];
  int64_t what = oxp__random_range(random, 0, 19);
  if (what == 0 && all->count > 1) {
    free(one->bytes);
    *one = all->members[--all->count];
  } else if (what == 1) {
    size_t count = LLVMFuzzerMutate((uint8_t *)one->name, strlen(one->name), NAME_BYTES - 1);
    one->name[count] = 0;
  } else if (what == 2) {
    one->deflated = !one->deflated;
  } else if (strstr(one->name, "meta") && what < 16) {
    member_to_text(one);
    if (one->count >= 128)
      member_mutate_text(one);
  } else {
    one->count = LLVMFuzzerMutate(one->bytes, one->count, one->capacity);
  }
}

// --- Packing ---

typedef struct packer {
  uint8_t *out;
  size_t used, size;
  bool full;
} packer;

static void pack(packer *to, const void *bytes, size_t count)
{
  to->full = to->full || count > to->size - to->used;
  if (to->full)
    return;
  memcpy(to->out + to->used, bytes, count);
  to->used += count;
}

static void pack_number(packer *to, uint64_t number, int count)
{
  unsigned char bytes[8];
  oxp__put_le(bytes, number, count);
  pack(to, bytes, (size_t)count);
}

// A bare deflate stream; NULL when it would be longer than `limit`.
static uint8_t *deflated(const member *one, size_t limit, size_t *count)
{
  z_stream z = { 0 };
  uint8_t *bytes = malloc(limit + 1);
  FUZZ_CHECK(bytes && deflateInit2(&z, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK, "no memory");
  z.next_in = one->bytes;
  z.avail_in = (uInt)one->count;
  z.next_out = bytes;
  z.avail_out = (uInt)limit;
  int code = deflate(&z, Z_FINISH);
  *count = z.total_out;
  deflateEnd(&z);
  if (code == Z_STREAM_END)
    return bytes;
  free(bytes);
  return NULL;
}

// What a local header and an entry of the directory have in common.
static void pack_common(packer *to, const member *one, size_t stored)
{
  pack_number(to, 20, 2);
  pack_number(to, 0, 2);
  pack_number(to, one->deflated ? 8 : 0, 2);
  pack_number(to, 0x210000, 4);
  pack_number(to, crc32(0, one->bytes, (uInt)one->count), 4);
  pack_number(to, stored, 4);
  pack_number(to, one->count, 4);
  pack_number(to, strlen(one->name), 2);
  pack_number(to, 0, 2);
}

static size_t pack_member(packer *to, const member *one)
{
  size_t stored = one->count;
  uint8_t *bytes = one->deflated ? deflated(one, to->size, &stored) : NULL;
  to->full = to->full || (one->deflated && !bytes);
  pack_number(to, 0x04034b50, 4);
  pack_common(to, one, stored);
  pack(to, one->name, strlen(one->name));
  pack(to, bytes ? bytes : one->bytes, stored);
  free(bytes);
  return stored;
}

// 0 when it does not fit.
static size_t archive_pack(const archive *all, uint8_t *out, size_t size)
{
  packer to = { .out = out, .size = size };
  size_t offsets[MEMBERS], stored[MEMBERS];
  for (size_t i = 0; i < all->count; i++) {
    offsets[i] = to.used;
    stored[i] = pack_member(&to, &all->members[i]);
  }
  size_t directory = to.used;
  for (size_t i = 0; i < all->count; i++) {
    pack_number(&to, 0x02014b50, 4);
    pack_number(&to, 20, 2);
    pack_common(&to, &all->members[i], stored[i]);
    pack_number(&to, 0, 8);
    pack_number(&to, 0, 2);
    pack_number(&to, offsets[i], 4);
    pack(&to, all->members[i].name, strlen(all->members[i].name));
  }
  size_t directory_end = to.used;
  pack_number(&to, 0x06054b50, 4);
  pack_number(&to, 0, 4);
  pack_number(&to, all->count, 2);
  pack_number(&to, all->count, 2);
  pack_number(&to, directory_end - directory, 4);
  pack_number(&to, directory, 4);
  pack_number(&to, 0, 2);
  return to.full ? 0 : to.used;
}

size_t fuzz_mutate_archive(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
  oxp__random random = { seed };
  static archive all;
  if (oxp__random_range(&random, 0, 9) == 0 || !archive_read(&all, data, size, max_size))
    return LLVMFuzzerMutate(data, size, max_size);
  archive_mutate(&all, &random);
  size_t packed = archive_pack(&all, data, max_size);
  archive_fini(&all);
  return packed > 0 ? packed : LLVMFuzzerMutate(data, size, max_size);
}
