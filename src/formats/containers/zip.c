// zip.c: the directory of a ZIP archive, read so that nothing in it is believed without a check. The end record leads
// to the central directory, each of its entries to a local header, and all three have to agree; only then a member is a
// byte range. Knows nothing of what members hold. Place: formats/containers.
#include "formats/containers/zip.h"

#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "formats/containers/bytes.h"

enum {
  ZIP_END_BYTES = 22,
  ZIP_LOCATOR_BYTES = 20,
  ZIP_END64_BYTES = 56,
  ZIP_ENTRY_BYTES = 46,
  ZIP_LOCAL_BYTES = 30,
  ZIP_COMMENT_LIMIT = 65535,
  ZIP_NAME_AND_EXTRA_LIMIT = 8192, // of a local header; writers that align data to pages stay below it
  ZIP_FLAG_ENCRYPTED = 1,
  ZIP_FLAG_DESCRIPTOR = 8,     // sizes and checksum follow the data
  ZIP_FLAGS_LOOSE = 2 | 4 | 8, // deflate's level, descriptor: the two headers of a member may differ in these
  ZIP_FLAGS_HARMLESS = ZIP_FLAGS_LOOSE | 0x800, // and UTF-8 name
  ZIP_DEFLATE_LARGEST_RATIO = 1032,             // no deflate stream grows more
};
#define ZIP_END_SIGNATURE     UINT32_C(0x06054b50)
#define ZIP_LOCATOR_SIGNATURE UINT32_C(0x07064b50)
#define ZIP_END64_SIGNATURE   UINT32_C(0x06064b50)
#define ZIP_ENTRY_SIGNATURE   UINT32_C(0x02014b50)
#define ZIP_LOCAL_SIGNATURE   UINT32_C(0x04034b50)
#define ZIP_FULL32            UINT32_C(0xFFFFFFFF)

// Where the central directory is, from the end record.
typedef struct zip_end {
  uint64_t directory_offset, directory_bytes, entry_count;
  uint64_t position;   // of the end record (of the ZIP64 one where there is one): the directory has to end there
  uint64_t rest_bytes; // behind the end record and its comment
} zip_end;

// One entry of the central directory while it is checked.
typedef struct zip_entry {
  oxp__zip_member *member;
  uint64_t local_offset;
  uint16_t flags, method;
} zip_entry;

// --- End record ---

// Takes the 64-bit values where a locator says that there are any. The 32-bit ones have to agree or be full of ones.
static oxp_status zip_read_end64(oxp__file *file, uint64_t end_position, zip_end *end, oxp_error *error)
{
  unsigned char locator[ZIP_LOCATOR_BYTES], record[ZIP_END64_BYTES];
  if (end_position < ZIP_LOCATOR_BYTES + ZIP_END64_BYTES)
    return OXP_OK;
  uint64_t locator_position = end_position - ZIP_LOCATOR_BYTES;
  OXP__TRY(oxp__file_read(file, locator_position, locator, sizeof locator, error));
  if (oxp__le32(locator) != ZIP_LOCATOR_SIGNATURE)
    return OXP_OK;
  uint64_t position = oxp__le64(locator + 8);
  if (oxp__le32(locator + 4) != 0 || oxp__le32(locator + 16) > 1)
    return oxp__fail(error, OXP_BAD_FILE, "the zip archive is one part of several");
  if (position > locator_position - ZIP_END64_BYTES)
    return oxp__fail(error, OXP_BAD_FILE, "the ZIP64 end record is said to be at byte %llu, behind its locator at %llu",
                     (unsigned long long)position, (unsigned long long)locator_position);
  OXP__TRY(oxp__file_read(file, position, record, sizeof record, error));
  uint64_t size = oxp__le64(record + 4);
  if (oxp__le32(record) != ZIP_END64_SIGNATURE || size != locator_position - position - 12)
    return oxp__fail(error, OXP_BAD_FILE, "the ZIP64 end record at byte %llu is damaged", (unsigned long long)position);
  zip_end wide = { oxp__le64(record + 48), oxp__le64(record + 40), oxp__le64(record + 32), position, end->rest_bytes };
  if (oxp__le32(record + 16) != 0 || oxp__le32(record + 20) != 0 || oxp__le64(record + 24) != wide.entry_count)
    return oxp__fail(error, OXP_BAD_FILE, "the zip archive is one part of several");
  bool agrees = (end->directory_offset == wide.directory_offset || end->directory_offset == ZIP_FULL32) &&
                (end->directory_bytes == wide.directory_bytes || end->directory_bytes == ZIP_FULL32) &&
                (end->entry_count == wide.entry_count || end->entry_count == 0xFFFF);
  if (!agrees)
    return oxp__fail(error, OXP_BAD_FILE, "the two end records of the zip archive disagree");
  *end = wide;
  return OXP_OK;
}

// Reads the end record at `record` (`position` in the file).
static oxp_status zip_read_end(oxp__file *file, const unsigned char *record, uint64_t position, zip_end *end,
                               oxp_error *error)
{
  *end = (zip_end){ .directory_offset = oxp__le32(record + 16),
                    .directory_bytes = oxp__le32(record + 12),
                    .entry_count = oxp__le16(record + 10),
                    .position = position };
  if (oxp__le16(record + 4) != 0 || oxp__le16(record + 6) != 0 || oxp__le16(record + 8) != end->entry_count)
    return oxp__fail(error, OXP_BAD_FILE, "the zip archive is one part of several");
  OXP__TRY(zip_read_end64(file, position, end, error));
  if (end->directory_offset > end->position || end->position - end->directory_offset != end->directory_bytes)
    return oxp__fail(
        error, OXP_BAD_FILE,
        "the zip directory is said to be %llu bytes at byte %llu, but its end record is at byte %llu: something "
        "was put before the archive, or it is damaged",
        (unsigned long long)end->directory_bytes, (unsigned long long)end->directory_offset,
        (unsigned long long)end->position);
  if (end->entry_count > end->directory_bytes / ZIP_ENTRY_BYTES)
    return oxp__fail(error, OXP_BAD_FILE, "the zip directory has %llu bytes, too few for %llu members",
                     (unsigned long long)end->directory_bytes, (unsigned long long)end->entry_count);
  return OXP_OK;
}

// Where end records may be: their comments end exactly with the file. A comment may hold what looks like one, so
// several places may do.
typedef struct zip_tail {
  unsigned char *bytes;
  size_t count, at; // `at` walks down from the end
  uint64_t position;
} zip_tail;

static oxp_status zip_read_tail(oxp__file *file, zip_tail *tail, oxp_error *error)
{
  size_t count = ZIP_COMMENT_LIMIT + ZIP_END_BYTES;
  if (file->size_bytes < count)
    count = (size_t)file->size_bytes;
  *tail = (zip_tail){ malloc(count + 1), count, count < ZIP_END_BYTES ? 0 : count + 1 - ZIP_END_BYTES,
                      file->size_bytes - count };
  return tail->bytes ? oxp__file_read(file, tail->position, tail->bytes, count, error) : oxp__fail_memory(error, count);
}

// How many bytes lie behind the record at `at`.
static size_t zip_behind(const zip_tail *tail)
{
  return tail->count - tail->at - ZIP_END_BYTES;
}

// The next end record below `at`; `exact`: one whose comment ends with the file.
static bool zip_next_candidate(zip_tail *tail, bool exact)
{
  while (tail->at-- > 0) {
    const unsigned char *record = tail->bytes + tail->at;
    if (oxp__le32(record) == ZIP_END_SIGNATURE && (!exact || oxp__le16(record + 20) == zip_behind(tail)))
      return true;
  }
  return false;
}

// The last end record of an archive behind which there is something else, as other readers find it.
static oxp_status zip_read_end_before_rest(oxp__file *file, zip_tail *tail, zip_end *end, oxp_error *error)
{
  tail->at = tail->count < ZIP_END_BYTES ? 0 : tail->count + 1 - ZIP_END_BYTES;
  if (!zip_next_candidate(tail, false) || oxp__le16(tail->bytes + tail->at + 20) > zip_behind(tail))
    return oxp__fail(error, OXP_BAD_FILE, "the zip archive has no end record: the file was cut off");
  const unsigned char *record = tail->bytes + tail->at;
  OXP__TRY(zip_read_end(file, record, tail->position + tail->at, end, error));
  end->rest_bytes = zip_behind(tail) - oxp__le16(record + 20);
  return OXP_OK;
}

// Of several candidates exactly one has to fit its directory; two that fit make the archive ambiguous.
static oxp_status zip_choose_end(oxp__file *file, zip_tail *tail, zip_end *found, oxp_error *error)
{
  int candidates = 0, fitting = 0;
  oxp_error why = { 0 }; // of the last candidate that does not fit
  for (zip_end end; zip_next_candidate(tail, true); candidates++) {
    const unsigned char *record = tail->bytes + tail->at;
    if (zip_read_end(file, record, tail->position + tail->at, &end, &why) == OXP_OK && fitting++ == 0)
      *found = end;
  }
  if (fitting == 1)
    return OXP_OK;
  if (fitting > 1)
    return oxp__fail(error, OXP_BAD_FILE, "the zip archive has %d end records", fitting);
  if (candidates > 0 && error)
    *error = why;
  if (candidates > 0)
    return why.status;
  return zip_read_end_before_rest(file, tail, found, error);
}

static oxp_status zip_find_end(oxp__file *file, zip_end *found, oxp_error *error)
{
  zip_tail tail;
  oxp_status status = zip_read_tail(file, &tail, error);
  if (status == OXP_OK)
    status = zip_choose_end(file, &tail, found, error);
  free(tail.bytes);
  return status;
}

bool oxp__zip_has_end(oxp__file *file)
{
  zip_tail tail;
  bool found = zip_read_tail(file, &tail, NULL) == OXP_OK && zip_next_candidate(&tail, true);
  free(tail.bytes);
  return found;
}

// --- Directory ---

static oxp_status zip_fail_member(const oxp__zip_member *member, oxp_error *error, const char *what)
{
  oxp__fail(error, OXP_BAD_FILE, "%s", what);
  return oxp__at_key(error, OXP_BAD_FILE, member->name);
}

// Reads the ZIP64 extra field: the values of `fields` that are full of ones, in order. False when one is missing there.
static bool zip_read_extra(const unsigned char *extra, size_t count, uint64_t *const *fields, int field_count)
{
  int wanted = 0;
  for (int i = 0; i < field_count; i++)
    wanted += *fields[i] == ZIP_FULL32;
  for (size_t at = 0; wanted > 0 && at + 4 <= count;) {
    size_t size = oxp__le16(extra + at + 2);
    const unsigned char *data = extra + at + 4;
    at += 4 + size;
    if (oxp__le16(data - 4) != 1)
      continue;
    if (at > count || size < 8 * (size_t)wanted)
      return false;
    for (int i = 0; i < field_count; i++)
      if (*fields[i] == ZIP_FULL32) {
        *fields[i] = oxp__le64(data);
        data += 8;
      }
    return true;
  }
  return wanted == 0;
}

static oxp_status zip_check_entry(const zip_entry *entry, oxp_error *error)
{
  const oxp__zip_member *member = entry->member;
  if (entry->flags & ZIP_FLAG_ENCRYPTED)
    return zip_fail_member(member, error, "the zip member is encrypted");
  if (entry->flags & ~ZIP_FLAGS_HARMLESS)
    return zip_fail_member(member, error, "the zip member has flags that are not known");
  if (entry->method != 0 && entry->method != 8) {
    oxp__fail(error, OXP_BAD_FILE,
              "the zip member is compressed with method %u; only 0 (stored) and 8 (deflated) are read", entry->method);
    return oxp__at_key(error, OXP_BAD_FILE, member->name);
  }
  bool fits = member->deflated ? member->plain_bytes / ZIP_DEFLATE_LARGEST_RATIO <= member->stored_bytes
                               : member->plain_bytes == member->stored_bytes;
  if (fits)
    return OXP_OK;
  oxp__fail(error, OXP_BAD_FILE, "the zip member is said to have %llu bytes in %llu, which cannot be",
            (unsigned long long)member->plain_bytes, (unsigned long long)member->stored_bytes);
  return oxp__at_key(error, OXP_BAD_FILE, member->name);
}

static oxp_status zip_read_name(oxp__arena *arena, const unsigned char *bytes, size_t count, const char **name,
                                oxp_error *error)
{
  if (count == 0 || !oxp__text_is_utf8(bytes, count))
    return oxp__fail(error, OXP_BAD_FILE, "the zip directory holds a name that is empty or not UTF-8");
  *name = oxp__arena_copy_bytes(arena, bytes, count);
  return *name ? OXP_OK : oxp__fail_memory(error, count);
}

// Reads the entry at `at`, of which `left` bytes of directory are left; *length becomes its length.
static oxp_status zip_read_entry(oxp__arena *arena, const unsigned char *at, size_t left, zip_entry *entry,
                                 size_t *length, oxp_error *error)
{
  if (left < ZIP_ENTRY_BYTES || oxp__le32(at) != ZIP_ENTRY_SIGNATURE)
    return oxp__fail(error, OXP_BAD_FILE, "the zip directory is damaged %zu bytes before its end", left);
  size_t name_bytes = oxp__le16(at + 28), extra_bytes = oxp__le16(at + 30), comment_bytes = oxp__le16(at + 32);
  *length = ZIP_ENTRY_BYTES + name_bytes + extra_bytes + comment_bytes;
  if (*length > left)
    return oxp__fail(error, OXP_BAD_FILE, "the zip directory ends inside an entry of %zu bytes", *length);
  oxp__zip_member *member = entry->member;
  OXP__TRY(zip_read_name(arena, at + ZIP_ENTRY_BYTES, name_bytes, &member->name, error));
  entry->flags = oxp__le16(at + 8);
  entry->method = oxp__le16(at + 10);
  member->crc = oxp__le32(at + 16);
  member->stored_bytes = oxp__le32(at + 20);
  member->plain_bytes = oxp__le32(at + 24);
  member->deflated = entry->method == 8;
  entry->local_offset = oxp__le32(at + 42);
  uint64_t *const fields[] = { &member->plain_bytes, &member->stored_bytes, &entry->local_offset };
  if (!zip_read_extra(at + ZIP_ENTRY_BYTES + name_bytes, extra_bytes, fields, 3))
    return zip_fail_member(member, error, "the zip member's ZIP64 field is missing or too short");
  if (oxp__le16(at + 34) != 0)
    return zip_fail_member(member, error, "the zip member lies in another part of the archive");
  return zip_check_entry(entry, error);
}

// --- Local headers ---

// What a local header says against what the directory says. Where a descriptor follows, the header was written before
// anybody knew: then it may be zero or full of ones, each number by itself, since some writers know the sizes and no
// checksum.
static bool zip_agrees(uint64_t local, uint64_t directory, bool later)
{
  return local == directory || (later && (local == 0 || local == ZIP_FULL32));
}

// Sizes and checksum of a local header. The descriptor behind the data is not looked at: the directory has the same
// numbers.
static oxp_status zip_check_local_sizes(const zip_entry *entry, const unsigned char *header, const unsigned char *extra,
                                        size_t extra_bytes, oxp_error *error)
{
  const oxp__zip_member *member = entry->member;
  uint32_t crc = oxp__le32(header + 14);
  uint64_t stored = oxp__le32(header + 18), plain = oxp__le32(header + 22);
  uint64_t *const fields[] = { &plain, &stored };
  bool later = oxp__le16(header + 6) & ZIP_FLAG_DESCRIPTOR;
  if (!zip_read_extra(extra, extra_bytes, fields, 2) && !later)
    return zip_fail_member(member, error, "the ZIP64 field of the zip member's own header is missing or too short");
  if (zip_agrees(crc, member->crc, later) && zip_agrees(stored, member->stored_bytes, later) &&
      zip_agrees(plain, member->plain_bytes, later))
    return OXP_OK;
  oxp__fail(error, OXP_BAD_FILE,
            "the zip directory says %llu bytes and checksum %08x, the zip member's own header %llu and %08x",
            (unsigned long long)member->plain_bytes, member->crc, (unsigned long long)plain, crc);
  return oxp__at_key(error, OXP_BAD_FILE, member->name);
}

// The whole local header, with its name and extra field.
static oxp_status zip_read_header(oxp__file_window *window, const zip_entry *entry, const unsigned char **header,
                                  size_t *header_bytes, oxp_error *error)
{
  const oxp__zip_member *member = entry->member;
  uint64_t offset = entry->local_offset;
  if (offset > window->limit || window->limit - offset < ZIP_LOCAL_BYTES)
    return zip_fail_member(member, error, "the zip member lies outside the archive");
  uint64_t room = window->limit - offset;
  OXP__TRY(oxp__file_window_get(window, offset, ZIP_LOCAL_BYTES, header, error));
  if (oxp__le32(*header) != ZIP_LOCAL_SIGNATURE)
    return zip_fail_member(member, error, "the zip member does not start with a zip header");
  *header_bytes = (size_t)ZIP_LOCAL_BYTES + oxp__le16(*header + 26) + oxp__le16(*header + 28);
  if (*header_bytes > room || member->stored_bytes > room - *header_bytes)
    return zip_fail_member(member, error, "the zip member lies outside the archive");
  if (*header_bytes > ZIP_LOCAL_BYTES + ZIP_NAME_AND_EXTRA_LIMIT)
    return zip_fail_member(member, error, "the zip member's own header is longer than 8192 bytes");
  return oxp__file_window_get(window, offset, *header_bytes, header, error);
}

// Compares the local header with the entry and finds out where the data starts.
static oxp_status zip_read_local(oxp__file_window *window, const zip_entry *entry, oxp_error *error)
{
  oxp__zip_member *member = entry->member;
  const unsigned char *header = NULL;
  size_t header_bytes = 0;
  OXP__TRY(zip_read_header(window, entry, &header, &header_bytes, error));
  const unsigned char *name = header + ZIP_LOCAL_BYTES;
  size_t name_bytes = oxp__le16(header + 26), extra_bytes = oxp__le16(header + 28);
  member->data_offset = entry->local_offset + header_bytes;
  if (name_bytes != strlen(member->name) || memcmp(name, member->name, name_bytes) != 0)
    return zip_fail_member(member, error, "the zip member has another name in its own header");
  if (((oxp__le16(header + 6) ^ entry->flags) & ~ZIP_FLAGS_LOOSE) != 0 || oxp__le16(header + 8) != entry->method)
    return zip_fail_member(member, error, "the zip member has another method or other flags in its own header");
  return zip_check_local_sizes(entry, header, name + name_bytes, extra_bytes, error);
}

static int zip_compare_offset(const void *a, const void *b)
{
  uint64_t x = ((const zip_entry *)a)->local_offset, y = ((const zip_entry *)b)->local_offset;
  return (x > y) - (x < y);
}

// No two members with one name, none that overlaps another, nothing before the first. Sorts the entries; fills the
// names.
static oxp_status zip_check_layout(oxp__zip *zip, const zip_end *end, zip_entry *entries, oxp_error *error)
{
  size_t count = zip->member_count;
  if (!oxp__names_reserve(&zip->names, count))
    return oxp__fail_memory(error, count * sizeof(oxp__name));
  for (size_t i = 0; i < count; i++) {
    bool added = false;
    if (!oxp__names_add(&zip->names, zip->members[i].name, i, &added))
      return oxp__fail_memory(error, count * sizeof(oxp__name));
    if (!added)
      return zip_fail_member(&zip->members[i], error, "two members of the zip archive have this name");
  }
  bool in_order = true; // as archives are written, mostly
  for (size_t i = 1; in_order && i < count; i++)
    in_order = entries[i - 1].local_offset <= entries[i].local_offset;
  if (!in_order)
    qsort(entries, count, sizeof *entries, zip_compare_offset);
  uint64_t first = count > 0 ? entries[0].local_offset : end->directory_offset;
  if (first != 0)
    return oxp__fail(error, OXP_BAD_FILE, "%llu bytes of something else lie before the first member of the zip archive",
                     (unsigned long long)first);
  for (size_t i = 1; i < count; i++) {
    const oxp__zip_member *before = entries[i - 1].member;
    if (before->data_offset + before->stored_bytes > entries[i].local_offset) {
      oxp__fail(error, OXP_BAD_FILE, "the zip member overlaps the next one, \"%s\"", entries[i].member->name);
      return oxp__at_key(error, OXP_BAD_FILE, before->name);
    }
  }
  return OXP_OK;
}

static oxp_status zip_read_members(oxp__arena *arena, oxp__zip *zip, const zip_end *end, const unsigned char *directory,
                                   zip_entry *entries, oxp_error *error)
{
  size_t left = (size_t)end->directory_bytes;
  for (size_t i = 0; i < zip->member_count; i++) {
    size_t length = 0;
    entries[i].member = &zip->members[i];
    OXP__TRY(zip_read_entry(arena, directory, left, &entries[i], &length, error));
    OXP__TRY(zip_read_local(zip->ahead, &entries[i], error));
    directory += length;
    left -= length;
  }
  if (left > 0)
    return oxp__fail(error, OXP_BAD_FILE, "the zip directory has %zu bytes after its last entry", left);
  return zip_check_layout(zip, end, entries, error);
}

oxp_status oxp__zip_open(oxp__arena *arena, oxp__file *file, oxp__zip **out, oxp_error *error)
{
  zip_end end = { 0 };
  OXP__TRY(zip_find_end(file, &end, error));
  if (end.directory_bytes >= SIZE_MAX) // of a machine with small addresses
    return oxp__fail_memory(error, end.directory_bytes);
  size_t count = (size_t)end.entry_count;
  oxp__zip *zip = oxp__arena_new(arena, 1, sizeof *zip);
  oxp__zip_member *members = oxp__arena_new(arena, count, sizeof *members);
  oxp__file_window *ahead = oxp__arena_new(arena, 1, sizeof *ahead);
  if (!zip || !members || !ahead)
    return oxp__fail_memory(error, count * sizeof *members);
  ahead->file = file;
  ahead->limit = end.directory_offset;
  *zip = (oxp__zip){ file, members, count, { .arena = arena }, end.rest_bytes, ahead };
  unsigned char *directory = malloc((size_t)end.directory_bytes + 1);
  zip_entry *entries = calloc(count + 1, sizeof *entries);
  oxp_status status = directory && entries ? OXP_OK : oxp__fail_memory(error, (size_t)end.directory_bytes);
  if (status == OXP_OK)
    status = oxp__file_read(file, end.directory_offset, directory, (size_t)end.directory_bytes, error);
  if (status == OXP_OK)
    status = zip_read_members(arena, zip, &end, directory, entries, error);
  free(directory);
  free(entries);
  if (status == OXP_OK)
    *out = zip;
  return status;
}

const oxp__zip_member *oxp__zip_find(const oxp__zip *zip, const char *name)
{
  const oxp__name *found = oxp__names_find(&zip->names, name);
  return found ? &zip->members[found->number] : NULL;
}
