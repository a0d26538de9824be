// zip.h: the directory of a ZIP archive and its members as byte ranges (stored or deflated, ZIP64), and a writer of stored
// members. Reading trusts nothing: every range is checked against the file. Place: formats/containers.
#ifndef OXP_FORMATS_CONTAINERS_ZIP_H
#define OXP_FORMATS_CONTAINERS_ZIP_H

#include "core/copy.h"
#include "core/file.h"
#include "core/names.h"
#include "core/output.h"
#include "core/tensor.h"

typedef struct oxp__zip_member {
  const char *name; // as stored; for comparing and for messages only, never used as a path
  uint64_t data_offset, stored_bytes, plain_bytes;
  uint32_t crc;
  bool deflated;
} oxp__zip_member;

typedef struct oxp__zip {
  oxp__file *file;
  oxp__zip_member *members; // in the order of the central directory
  size_t member_count;
  oxp__names names;        // of the members, each with its index
  uint64_t rest_bytes;     // behind the archive, of something else; not looked at
  oxp__file_window *ahead; // over the members, for whatever is small
} oxp__zip;

// Reads the directory. OXP_BAD_FILE for damage, duplicate names, encrypted or oddly compressed members, members that overlap
// or lie outside the file, bytes before the first member. Up to 64 KiB of something else may lie behind the archive. Lives in `arena`.
oxp_status oxp__zip_open(oxp__arena *arena, oxp__file *file, oxp__zip **out, oxp_error *error);

// True when the file ends with a zip end record: a zip archive, though perhaps a damaged one.
bool oxp__zip_has_end(oxp__file *file);

const oxp__zip_member *oxp__zip_find(const oxp__zip *zip, const char *name);

// A member opened for reading: the `context` of oxp__zip_read, an oxp_read_function. Reading in order from 0 to the end checks
// the CRC with the last byte; reading backwards starts over. Lives in `arena`.
typedef struct oxp__zip_stream oxp__zip_stream;
oxp_status oxp__zip_stream_open(oxp__arena *arena, const oxp__zip *zip, const oxp__zip_member *member,
                                oxp__zip_stream **out, oxp_error *error);
oxp_status oxp__zip_read(void *stream, uint64_t offset, void *buffer, size_t count, oxp_error *error);

// Says that nobody will read beyond the first `count` bytes: whoever reads to there makes the stream read on to the end, so that the
// checksum is compared all the same.
void oxp__zip_stream_want(oxp__zip_stream *stream, uint64_t count);

// Reads a member once from its start to its end and compares its checksum, for those who then read only parts of it.
oxp_status oxp__zip_verify(const oxp__zip *zip, const oxp__zip_member *member, oxp_error *error);

// The bytes of a member as a span of the archive's file, with its checksum; of a deflated one only the file. NULL when memory is out.
// Lives in `arena`.
const oxp_extent *oxp__zip_extent(oxp__arena *arena, const oxp__zip *zip, const oxp__zip_member *member);

// Gives back what reading holds in memory; the next read starts over. For streams of which only the start was needed.
void oxp__zip_stream_rest(oxp__zip_stream *stream);

// Reads a whole small member into the arena (zero-terminated); OXP_BAD_FILE above `limit_bytes`.
oxp_status oxp__zip_read_all(oxp__arena *arena, const oxp__zip *zip, const oxp__zip_member *member, size_t limit_bytes,
                             char **bytes, size_t *count, oxp_error *error);

// Writes an archive into an open output: members in order, stored, dated 1980-01-01, the layout NumPy writes.
typedef struct oxp__zip_writer oxp__zip_writer;
oxp_status oxp__zip_writer_new(oxp__arena *arena, oxp__output *output, oxp__zip_writer **out, oxp_error *error);
oxp_status oxp__zip_writer_begin(oxp__zip_writer *writer, const char *name, oxp_error *error);
oxp_status oxp__zip_writer_write(void *writer, const void *bytes, size_t count, oxp_error *error); // oxp_write_function
oxp__sink oxp__zip_writer_sink(oxp__zip_writer *writer);
oxp_status oxp__zip_writer_end(oxp__zip_writer *writer, oxp_error *error);    // of a member
oxp_status oxp__zip_writer_finish(oxp__zip_writer *writer, oxp_error *error); // of the archive; does not commit

#endif
