// zip_stream.c: the bytes of one member of a ZIP archive, inflated on the way where needed, with its checksum verified when the
// last byte has been read in order. Memory is bounded and held only between the first and the last byte. Place:
// formats/containers.
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "formats/containers/zip.h"

// What is read in order in pieces of up to ZIP_SMALL_BYTES is read ahead: small arrays lie one behind the other.
enum { ZIP_CHUNK_BYTES = 32 * 1024, ZIP_VERIFY_BYTES = 256 * 1024, ZIP_SMALL_BYTES = 4096 };

// The inflater and its input, made with the first byte that is read.
typedef struct zip_inflater {
  z_stream z;
  uint64_t consumed; // stored bytes that were handed to it
  bool ended;
  unsigned char input[ZIP_CHUNK_BYTES];
} zip_inflater;

struct oxp__zip_stream {
  const oxp__zip *zip;
  oxp__file *file;
  const oxp__zip_member *member;
  uint64_t wanted;   // plain bytes that somebody will read
  uint64_t position; // of the next plain byte in order
  uint32_t crc;      // of the bytes before it
  bool checked;      // read to the end, and the checksum was right
  zip_inflater *inflater;
};

void oxp__zip_stream_rest(oxp__zip_stream *stream)
{
  if (stream->inflater) {
    inflateEnd(&stream->inflater->z);
    free(stream->inflater);
    stream->inflater = NULL;
    stream->position = 0;
    stream->crc = 0;
  }
}

static void zip_stream_close(void *stream)
{
  oxp__zip_stream_rest(stream);
}

oxp_status oxp__zip_stream_open(oxp__arena *arena, const oxp__zip *zip, const oxp__zip_member *member,
                                oxp__zip_stream **out, oxp_error *error)
{
  oxp__zip_stream *stream = oxp__arena_new(arena, 1, sizeof *stream);
  if (!stream)
    return oxp__fail_memory(error, sizeof *stream);
  *stream = (oxp__zip_stream){ .zip = zip, .file = zip->file, .member = member, .wanted = member->plain_bytes };
  OXP__TRY(oxp__arena_defer(arena, zip_stream_close, stream, error));
  *out = stream;
  return OXP_OK;
}

void oxp__zip_stream_want(oxp__zip_stream *stream, uint64_t count)
{
  stream->wanted = count;
}

const oxp_extent *oxp__zip_extent(oxp__arena *arena, const oxp__zip *zip, const oxp__zip_member *member)
{
  oxp_extent *extent = oxp__arena_new(arena, 1, sizeof *extent);
  if (extent)
    *extent = (oxp_extent){ .file = zip->file,
                            .is_packed = member->deflated,
                            .offset_bytes = member->data_offset,
                            .size_bytes = member->plain_bytes,
                            .has_crc = true,
                            .crc = member->crc };
  return extent;
}

static oxp_status zip_start(oxp__zip_stream *stream, oxp_error *error)
{
  stream->inflater = calloc(1, sizeof *stream->inflater);
  // A negative window size means a bare deflate stream, as zip members are.
  if (stream->inflater && inflateInit2(&stream->inflater->z, -MAX_WBITS) == Z_OK)
    return OXP_OK;
  free(stream->inflater);
  stream->inflater = NULL;
  return oxp__fail_memory(error, sizeof *stream->inflater);
}

static oxp_status zip_refill(oxp__zip_stream *stream, oxp_error *error)
{
  zip_inflater *inflater = stream->inflater;
  uint64_t left = stream->member->stored_bytes - inflater->consumed;
  size_t count = left < ZIP_CHUNK_BYTES ? (size_t)left : ZIP_CHUNK_BYTES;
  OXP__TRY(
      oxp__file_read(stream->file, stream->member->data_offset + inflater->consumed, inflater->input, count, error));
  inflater->consumed += count;
  inflater->z.next_in = inflater->input;
  inflater->z.avail_in = (uInt)count;
  return OXP_OK;
}

// Inflates exactly `count` bytes; fewer in the stream than announced is damage.
static oxp_status zip_inflate(oxp__zip_stream *stream, unsigned char *buffer, size_t count, oxp_error *error)
{
  zip_inflater *inflater = stream->inflater;
  inflater->z.next_out = buffer;
  inflater->z.avail_out = (uInt)count; // callers ask for a chunk at most
  while (inflater->z.avail_out > 0) {
    if (inflater->z.avail_in == 0)
      OXP__TRY(zip_refill(stream, error));
    int code = inflater->ended ? Z_STREAM_END : inflate(&inflater->z, Z_NO_FLUSH);
    inflater->ended = code == Z_STREAM_END;
    if (code == Z_MEM_ERROR)
      return oxp__fail_memory(error, ZIP_CHUNK_BYTES);
    bool stuck = code == Z_BUF_ERROR && inflater->consumed == stream->member->stored_bytes;
    if (code < 0 && (code != Z_BUF_ERROR || stuck))
      return oxp__fail(error, OXP_BAD_FILE, "the deflated data is damaged after %llu bytes",
                       (unsigned long long)(stream->position + count - inflater->z.avail_out));
    if (inflater->ended && inflater->z.avail_out > 0)
      return oxp__fail(error, OXP_BAD_FILE, "the deflated data ends after %llu bytes, %llu were announced",
                       (unsigned long long)(stream->position + count - inflater->z.avail_out),
                       (unsigned long long)stream->member->plain_bytes);
  }
  return OXP_OK;
}

// A deflated stream must end where the directory says, in plain bytes and in stored ones.
static oxp_status zip_check_inflated_end(oxp__zip_stream *stream, oxp_error *error)
{
  zip_inflater *inflater = stream->inflater;
  unsigned char beyond;
  int code = inflater->ended ? Z_STREAM_END : Z_OK;
  inflater->z.next_out = &beyond;
  inflater->z.avail_out = 1;
  while (code == Z_OK && inflater->z.avail_out > 0) {
    if (inflater->z.avail_in == 0 && inflater->consumed < stream->member->stored_bytes)
      OXP__TRY(zip_refill(stream, error));
    code = inflate(&inflater->z, Z_NO_FLUSH);
  }
  if (code == Z_STREAM_END && inflater->z.avail_out == 1 && inflater->z.avail_in == 0 &&
      inflater->consumed == stream->member->stored_bytes)
    return OXP_OK;
  return oxp__fail(error, OXP_BAD_FILE, "the deflated data goes on after the %llu bytes that were announced",
                   (unsigned long long)stream->member->plain_bytes);
}

static oxp_status zip_finish(oxp__zip_stream *stream, oxp_error *error)
{
  if (stream->inflater)
    OXP__TRY(zip_check_inflated_end(stream, error));
  if (stream->crc != stream->member->crc)
    return oxp__fail(error, OXP_BAD_FILE, "the data is damaged: its checksum is %08x, the archive says %08x",
                     stream->crc, stream->member->crc);
  stream->checked = true;
  oxp__zip_stream_rest(stream);
  stream->position = stream->member->plain_bytes;
  return OXP_OK;
}

// The next bytes in order of a stored member.
static oxp_status zip_copy(oxp__zip_stream *stream, unsigned char *buffer, size_t count, oxp_error *error)
{
  uint64_t offset = stream->member->data_offset + stream->position;
  if (count > ZIP_SMALL_BYTES)
    return oxp__file_read(stream->file, offset, buffer, count, error);
  const unsigned char *bytes;
  OXP__TRY(oxp__file_window_get(stream->zip->ahead, offset, count, &bytes, error));
  memcpy(buffer, bytes, count);
  return OXP_OK;
}

// The next bytes in order.
static oxp_status zip_next(oxp__zip_stream *stream, unsigned char *buffer, size_t count, oxp_error *error)
{
  const oxp__zip_member *member = stream->member;
  while (count > 0) {
    size_t step = count < ZIP_CHUNK_BYTES || !member->deflated ? count : ZIP_CHUNK_BYTES;
    if (member->deflated && !stream->inflater)
      OXP__TRY(zip_start(stream, error));
    if (member->deflated)
      OXP__TRY(zip_inflate(stream, buffer, step, error));
    else
      OXP__TRY(zip_copy(stream, buffer, step, error));
    stream->crc = libdeflate_crc32(stream->crc, buffer, step);
    stream->position += step;
    buffer += step;
    count -= step;
  }
  return stream->position == member->plain_bytes ? zip_finish(stream, error) : OXP_OK;
}

static oxp_status zip_skip_to(oxp__zip_stream *stream, uint64_t offset, oxp_error *error)
{
  unsigned char unwanted[4096];
  if (offset < stream->position) {
    oxp__zip_stream_rest(stream);
    stream->position = 0;
    stream->crc = 0;
  }
  while (stream->position < offset) {
    uint64_t left = offset - stream->position;
    OXP__TRY(zip_next(stream, unwanted, left < sizeof unwanted ? (size_t)left : sizeof unwanted, error));
  }
  return OXP_OK;
}

static oxp_status zip_read_checked(oxp__zip_stream *stream, uint64_t offset, void *buffer, size_t count,
                                   oxp_error *error)
{
  const oxp__zip_member *member = stream->member;
  if (offset > member->plain_bytes || count > member->plain_bytes - offset)
    return oxp__fail(error, OXP_BAD_FILE, "byte %llu was asked for, there are %llu",
                     (unsigned long long)(offset + count), (unsigned long long)member->plain_bytes);
  if (member->plain_bytes == 0)
    return stream->checked ? OXP_OK : zip_next(stream, buffer, 0, error);
  if (stream->checked && !member->deflated)
    return oxp__file_read(stream->file, member->data_offset + offset, buffer, count, error);
  if (count == 0)
    return OXP_OK;
  OXP__TRY(zip_skip_to(stream, offset, error));
  OXP__TRY(zip_next(stream, buffer, count, error));
  return stream->position == stream->wanted ? zip_skip_to(stream, member->plain_bytes, error) : OXP_OK;
}

oxp_status oxp__zip_read(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  oxp__zip_stream *stream = context;
  oxp_status status = zip_read_checked(stream, offset, buffer, count, error);
  if (status == OXP_OK)
    return OXP_OK;
  oxp__zip_stream_rest(stream); // whoever tries again starts over
  oxp__at_key(error, status, stream->member->name);
  return oxp__at_file(error, status, stream->file->path);
}

oxp_status oxp__zip_verify(const oxp__zip *zip, const oxp__zip_member *member, oxp_error *error)
{
  oxp__zip_stream stream = { .zip = zip, .file = zip->file, .member = member, .wanted = member->plain_bytes };
  unsigned char *buffer = malloc(ZIP_VERIFY_BYTES);
  oxp_status status = buffer ? OXP_OK : oxp__fail_memory(error, ZIP_VERIFY_BYTES);
  while (status == OXP_OK && !stream.checked) {
    uint64_t left = member->plain_bytes - stream.position;
    status = oxp__zip_read(&stream, stream.position, buffer, left < ZIP_VERIFY_BYTES ? (size_t)left : ZIP_VERIFY_BYTES,
                           error);
  }
  oxp__zip_stream_rest(&stream);
  free(buffer);
  return status;
}

oxp_status oxp__zip_read_all(oxp__arena *arena, const oxp__zip *zip, const oxp__zip_member *member, size_t limit_bytes,
                             char **bytes, size_t *count, oxp_error *error)
{
  if (member->plain_bytes > limit_bytes) {
    oxp__fail(error, OXP_BAD_FILE, "the zip member has %llu bytes, at most %zu are read here",
              (unsigned long long)member->plain_bytes, limit_bytes);
    return oxp__at_key(error, OXP_BAD_FILE, member->name);
  }
  oxp__zip_stream *stream = NULL;
  OXP__TRY(oxp__zip_stream_open(arena, zip, member, &stream, error));
  size_t size = (size_t)member->plain_bytes;
  char *copy = oxp__arena_new(arena, size + 1, 1);
  if (!copy)
    return oxp__fail_memory(error, size + 1);
  OXP__TRY(oxp__zip_read(stream, 0, copy, size, error));
  *bytes = copy;
  *count = size;
  return OXP_OK;
}
