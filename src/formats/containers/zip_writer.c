// zip_writer.c: an archive of stored members in the layout that CPython's zipfile gives NumPy's savez: dated 1980-01-01, each
// local header with a ZIP64 field. Sizes and checksums are filled in once the data has passed. Place: formats/containers.
#include <libdeflate.h>
#include <string.h>

#include "core/text.h"
#include "formats/containers/bytes.h"
#include "formats/containers/zip.h"

enum {
  ZIP_VERSION = 45, // the first that knows ZIP64
  ZIP_UNIX = 3,
  ZIP_DATE = 0x21, // 1980-01-01
  ZIP_NAME_LIMIT = 1024,
};
#define ZIP_LARGE      UINT64_C(0x7FFFFFFF) // above it, 64-bit fields (CPython's rule)
#define ZIP_ATTRIBUTES UINT32_C(0x01800000) // permissions 0600

typedef struct zip_written {
  const char *name;
  uint64_t offset, bytes;
  uint32_t crc;
} zip_written;

struct oxp__zip_writer {
  oxp__arena *arena;
  oxp__output *output;
  zip_written *members;
  size_t count, capacity;
  uint64_t data_start; // of the member that is being written
  bool inside;
};

oxp_status oxp__zip_writer_new(oxp__arena *arena, oxp__output *output, oxp__zip_writer **out, oxp_error *error)
{
  oxp__zip_writer *writer = oxp__arena_new(arena, 1, sizeof *writer);
  if (!writer)
    return oxp__fail_memory(error, sizeof *writer);
  *writer = (oxp__zip_writer){ .arena = arena, .output = output };
  *out = writer;
  return OXP_OK;
}

// Flag 11 says that a name is UTF-8; ASCII names go without it.
static uint16_t zip_name_flags(const char *name)
{
  for (; *name; name++)
    if ((unsigned char)*name >= 0x80)
      return 0x800;
  return 0;
}

// The fields that local header and directory share, from the version to the lengths of the name and the extra field.
static unsigned char *zip_put_common(unsigned char *at, const zip_written *member, bool wide, int extra_bytes)
{
  uint64_t size = wide ? UINT32_MAX : member->bytes;
  at = oxp__put_le(at, ZIP_VERSION, 2);
  at = oxp__put_le(at, zip_name_flags(member->name), 2);
  at = oxp__put_le(at, 0, 2); // stored
  at = oxp__put_le(at, 0, 2); // midnight
  at = oxp__put_le(at, ZIP_DATE, 2);
  at = oxp__put_le(at, member->crc, 4);
  at = oxp__put_le(at, size, 4);
  at = oxp__put_le(at, size, 4);
  at = oxp__put_le(at, strlen(member->name), 2);
  return oxp__put_le(at, (uint64_t)extra_bytes, 2);
}

oxp_status oxp__zip_writer_begin(oxp__zip_writer *writer, const char *name, oxp_error *error)
{
  zip_written *grown =
      oxp__arena_grow(writer->arena, writer->members, writer->count, &writer->capacity, sizeof *writer->members);
  const char *copy = oxp__arena_copy(writer->arena, name);
  if (!grown || !copy)
    return oxp__fail_memory(error, sizeof *grown);
  if (writer->inside || strlen(name) > ZIP_NAME_LIMIT)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the zip member \"%.64s\" cannot be started", name);
  writer->members = grown;
  zip_written *member = &writer->members[writer->count++];
  *member = (zip_written){ .name = copy, .offset = writer->output->written_bytes };
  unsigned char header[64], *at = oxp__put_le(header, 0x04034b50, 4);
  at = zip_put_common(at, member, true, 20);
  OXP__TRY(oxp__output_write(writer->output, header, (size_t)(at - header), error));
  OXP__TRY(oxp__output_write(writer->output, copy, strlen(copy), error));
  at = oxp__put_le(oxp__put_le(header, 1, 2), 16, 2);
  at = oxp__put_le(oxp__put_le(at, 0, 8), 0, 8);
  OXP__TRY(oxp__output_write(writer->output, header, (size_t)(at - header), error));
  writer->data_start = writer->output->written_bytes;
  writer->inside = true;
  return OXP_OK;
}

oxp_status oxp__zip_writer_write(void *context, const void *bytes, size_t count, oxp_error *error)
{
  oxp__zip_writer *writer = context;
  zip_written *member = &writer->members[writer->count - 1];
  member->crc = libdeflate_crc32(member->crc, bytes, count);
  return oxp__output_write(writer->output, bytes, count, error);
}

oxp__sink oxp__zip_writer_sink(oxp__zip_writer *writer)
{
  return (oxp__sink){ .write = oxp__zip_writer_write, .context = writer, .beside = writer->output->target_path };
}

oxp_status oxp__zip_writer_end(oxp__zip_writer *writer, oxp_error *error)
{
  zip_written *member = &writer->members[writer->count - 1];
  writer->inside = false;
  member->bytes = writer->output->written_bytes - writer->data_start;
  unsigned char crc[4], sizes[16];
  oxp__put_le(crc, member->crc, 4);
  oxp__put_le(oxp__put_le(sizes, member->bytes, 8), member->bytes, 8);
  OXP__TRY(oxp__output_patch(writer->output, member->offset + 14, crc, sizeof crc, error));
  return oxp__output_patch(writer->output, writer->data_start - 16, sizes, sizeof sizes, error);
}

static oxp_status zip_write_entry(oxp__zip_writer *writer, const zip_written *member, oxp_error *error)
{
  unsigned char extra[32], header[64], *extra_end = extra + 4;
  bool wide = member->bytes > ZIP_LARGE, far = member->offset > ZIP_LARGE;
  if (wide)
    extra_end = oxp__put_le(oxp__put_le(extra_end, member->bytes, 8), member->bytes, 8);
  if (far)
    extra_end = oxp__put_le(extra_end, member->offset, 8);
  int extra_bytes = wide || far ? (int)(extra_end - extra) : 0;
  oxp__put_le(oxp__put_le(extra, 1, 2), (uint64_t)(extra_end - extra - 4), 2);
  unsigned char *at = oxp__put_le(header, 0x02014b50, 4);
  at = oxp__put_le(oxp__put_le(at, ZIP_VERSION, 1), ZIP_UNIX, 1);
  at = zip_put_common(at, member, wide, extra_bytes);
  at = oxp__put_le(at, 0, 6); // no comment, part 0, no internal attributes
  at = oxp__put_le(at, ZIP_ATTRIBUTES, 4);
  at = oxp__put_le(at, far ? UINT32_MAX : member->offset, 4);
  OXP__TRY(oxp__output_write(writer->output, header, (size_t)(at - header), error));
  OXP__TRY(oxp__output_write(writer->output, member->name, strlen(member->name), error));
  return oxp__output_write(writer->output, extra, (size_t)extra_bytes, error);
}

static oxp_status zip_write_end64(oxp__zip_writer *writer, uint64_t start, uint64_t bytes, oxp_error *error)
{
  unsigned char record[80], *at = oxp__put_le(record, 0x06064b50, 4);
  at = oxp__put_le(at, 44, 8);
  at = oxp__put_le(oxp__put_le(at, ZIP_VERSION, 2), ZIP_VERSION, 2);
  at = oxp__put_le(at, 0, 8); // part 0 of one
  at = oxp__put_le(oxp__put_le(at, writer->count, 8), writer->count, 8);
  at = oxp__put_le(oxp__put_le(at, bytes, 8), start, 8);
  at = oxp__put_le(oxp__put_le(at, 0x07064b50, 4), 0, 4);
  at = oxp__put_le(oxp__put_le(at, start + bytes, 8), 1, 4);
  return oxp__output_write(writer->output, record, (size_t)(at - record), error);
}

static uint64_t zip_at_most(uint64_t number, uint64_t limit)
{
  return number < limit ? number : limit;
}

oxp_status oxp__zip_writer_finish(oxp__zip_writer *writer, oxp_error *error)
{
  uint64_t start = writer->output->written_bytes;
  for (size_t i = 0; i < writer->count; i++)
    OXP__TRY(zip_write_entry(writer, &writer->members[i], error));
  uint64_t bytes = writer->output->written_bytes - start;
  if (writer->count > 0xFFFF || start > ZIP_LARGE || bytes > ZIP_LARGE)
    OXP__TRY(zip_write_end64(writer, start, bytes, error));
  unsigned char record[22], *at = oxp__put_le(oxp__put_le(record, 0x06054b50, 4), 0, 4);
  uint64_t count = zip_at_most(writer->count, 0xFFFF);
  at = oxp__put_le(oxp__put_le(at, count, 2), count, 2);
  at = oxp__put_le(at, zip_at_most(bytes, UINT32_MAX), 4);
  at = oxp__put_le(at, zip_at_most(start, UINT32_MAX), 4);
  at = oxp__put_le(at, 0, 2);
  return oxp__output_write(writer->output, record, (size_t)(at - record), error);
}
