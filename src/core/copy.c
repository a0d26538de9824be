// copy.c: see copy.h. The jobs are cut into pieces; threads take the next piece until none is left, and each piece's checksum
// is kept, so that an array's checksum can be put together from its pieces in order. A matrix that is stored the other way
// round is read twice: in order for its checksum, and in square tiles, each of which is read by columns and written by rows.
// Place: core.
#include "core/copy.h"

#include <errno.h>
#include <libdeflate.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
  COPY_BUFFER_BYTES = 256 * 1024,     // stays in the second-level cache
  COPY_TILE = 512,                    // elements of 4 bytes on a side: runs of 2 KiB to read and to write
  COPY_TILE_ROWS = 16,                // turned together: one cache line of every column
  COPY_PIECE_BYTES = 4 * 1024 * 1024, // what a thread takes at once
  COPY_MOST_THREADS = 4               // more do not make a disk faster
};

typedef struct copy_piece {
  size_t job;
  bool is_tile;
  uint64_t offset, count; // bytes of the array
  uint64_t row, column;   // where a tile begins
  uint32_t crc;
  int64_t not_finite;
} copy_piece;

typedef struct copy_state {
  oxp__copy_job *jobs;
  copy_piece *pieces;
  size_t piece_count;
  int target;
  const char *target_path;
  oxp__copy_progress progress;
  void *context;
  atomic_size_t next;        // piece to take
  atomic_uint_fast64_t done; // bytes
  atomic_bool stopped;       // somebody failed or cancelled
  pthread_mutex_t mutex;     // guards what follows
  oxp_status status;         // the first failure
  oxp_error error;
} copy_state;

oxp__copy_way oxp__copy_way_of(const oxp_tensor *tensor, oxp_dtype as)
{
  const oxp_extent *extent = tensor->extent;
  // The counts of values that are not finite are taken from the stored bytes: they must be those of this machine.
  if (!extent || tensor->rank < 0 || (as && as != tensor->dtype) || oxp__is_big_endian_host())
    return OXP__COPY_NONE;
  int64_t size = (int64_t)oxp_dtype_bytes(tensor->dtype);
  uint64_t bytes = oxp__tensor_bytes(tensor, OXP_DTYPE_NONE);
  if (tensor->offset_bytes > extent->size_bytes || extent->size_bytes - tensor->offset_bytes != bytes)
    return OXP__COPY_NONE;
  if (oxp__tensor_is_contiguous(tensor))
    return tensor->big_endian && size > 1 ? OXP__COPY_SWAP : OXP__COPY_SPAN;
  bool turned = tensor->rank == 2 && size == 4 && tensor->strides_bytes[0] == size &&
                tensor->strides_bytes[1] == size * tensor->shape[0];
  return turned && !tensor->big_endian ? OXP__COPY_TRANSPOSE : OXP__COPY_NONE;
}

// ---- One piece ----

static void copy_fail(copy_state *state, const oxp_error *error, oxp_status status)
{
  pthread_mutex_lock(&state->mutex);
  if (state->status == OXP_OK) {
    state->status = status;
    state->error = *error;
  }
  pthread_mutex_unlock(&state->mutex);
  atomic_store(&state->stopped, true);
}

static oxp_status copy_read(const oxp_extent *extent, uint64_t offset, unsigned char *buffer, size_t count,
                            oxp_error *error)
{
  while (count > 0) {
    ssize_t got = pread(extent->descriptor, buffer, count, (off_t)offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return oxp__fail_errno(error, extent->path, "read the file");
    if (got == 0) {
      oxp__fail(error, OXP_BAD_FILE, "the file ends at byte %llu, it was longer when it was opened",
                (unsigned long long)offset);
      return oxp__at_file(error, OXP_BAD_FILE, extent->path);
    }
    buffer += got;
    offset += (uint64_t)got;
    count -= (size_t)got;
  }
  return OXP_OK;
}

static oxp_status copy_write(const copy_state *state, uint64_t offset, const unsigned char *buffer, size_t count,
                             oxp_error *error)
{
  while (count > 0) {
    ssize_t put = pwrite(state->target, buffer, count, (off_t)offset);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return oxp__fail_errno(error, state->target_path, "write the file");
    buffer += put;
    offset += (uint64_t)put;
    count -= (size_t)put;
  }
  return OXP_OK;
}

static oxp_status copy_span(copy_state *state, copy_piece *piece, unsigned char *buffer, oxp_error *error)
{
  const oxp__copy_job *job = &state->jobs[piece->job];
  const oxp_extent *extent = job->tensor->extent;
  size_t size = oxp_dtype_bytes(job->tensor->dtype);
  oxp__copy_way way = oxp__copy_way_of(job->tensor, OXP_DTYPE_NONE);
  uint64_t from = extent->offset_bytes + job->tensor->offset_bytes + piece->offset;
  uint64_t to = job->target_offset + piece->offset;
  for (uint64_t done = 0; done < piece->count && !atomic_load(&state->stopped);) {
    size_t count = piece->count - done < COPY_BUFFER_BYTES ? (size_t)(piece->count - done) : COPY_BUFFER_BYTES;
    OXP__TRY(copy_read(extent, from + done, buffer, count, error));
    piece->crc = libdeflate_crc32(piece->crc, buffer, count);
    if (way == OXP__COPY_SWAP)
      oxp__swap_bytes(buffer, count / size, size);
    piece->not_finite += oxp__count_not_finite(job->tensor->dtype, buffer, count / size);
    if (way != OXP__COPY_TRANSPOSE) { // what is written in tiles is read here for its checksum only
      OXP__TRY(copy_write(state, to + done, buffer, count, error));
      atomic_fetch_add(&state->done, count);
    }
    done += count;
  }
  return OXP_OK;
}

// Turns rows `first` to `first` + `rows` of a tile: `from` holds its columns, each `height` elements long.
static void copy_turn(const uint32_t *from, size_t height, size_t width, size_t first, size_t rows, uint32_t *to)
{
  for (size_t column = 0; column < width; column++)
    for (size_t row = 0; row < rows; row++)
      to[row * width + column] = from[column * height + first + row];
}

static oxp_status copy_tile(copy_state *state, const copy_piece *piece, unsigned char *buffer, oxp_error *error)
{
  const oxp__copy_job *job = &state->jobs[piece->job];
  const oxp_tensor *tensor = job->tensor;
  uint64_t rows = (uint64_t)tensor->shape[0], columns = (uint64_t)tensor->shape[1];
  size_t height = rows - piece->row < COPY_TILE ? (size_t)(rows - piece->row) : COPY_TILE;
  size_t width = columns - piece->column < COPY_TILE ? (size_t)(columns - piece->column) : COPY_TILE;
  uint32_t *tile = (uint32_t *)(void *)buffer, *turned = tile + COPY_TILE * COPY_TILE;
  uint64_t from = tensor->extent->offset_bytes + tensor->offset_bytes + 4 * (piece->column * rows + piece->row);
  for (size_t column = 0; column < width; column++)
    OXP__TRY(copy_read(tensor->extent, from + 4 * column * rows, buffer + 4 * column * height, 4 * height, error));
  for (size_t row = 0; row < height; row += COPY_TILE_ROWS) {
    size_t some = height - row < COPY_TILE_ROWS ? height - row : COPY_TILE_ROWS;
    copy_turn(tile, height, width, row, some, turned);
    for (size_t i = 0; i < some; i++) {
      uint64_t to = job->target_offset + 4 * ((piece->row + row + i) * columns + piece->column);
      OXP__TRY(copy_write(state, to, (const unsigned char *)(turned + i * width), 4 * width, error));
    }
  }
  atomic_fetch_add(&state->done, 4 * height * width);
  return OXP_OK;
}

static void copy_work(copy_state *state, unsigned char *buffer, bool reports)
{
  while (!atomic_load(&state->stopped)) {
    size_t index = atomic_fetch_add(&state->next, 1);
    if (index >= state->piece_count)
      return;
    oxp_error error = { 0 };
    copy_piece *piece = &state->pieces[index];
    oxp_status status =
        piece->is_tile ? copy_tile(state, piece, buffer, &error) : copy_span(state, piece, buffer, &error);
    if (status == OXP_OK && reports && state->progress && !state->progress(state->context, atomic_load(&state->done)))
      status = oxp__fail(&error, OXP_CANCELLED, "stopped on request; nothing was written");
    if (status != OXP_OK)
      copy_fail(state, &error, status);
  }
}

// Room for a tile and its turned rows only where there are tiles.
static size_t copy_buffer_bytes(const copy_state *state)
{
  bool tiles = state->piece_count > 0 && state->pieces[state->piece_count - 1].is_tile;
  return tiles ? 4 * COPY_TILE * (COPY_TILE + COPY_TILE_ROWS) : COPY_BUFFER_BYTES;
}

static void *copy_thread(void *context)
{
  copy_state *state = context;
  unsigned char *buffer = malloc(copy_buffer_bytes(state));
  if (buffer)
    copy_work(state, buffer, false);
  free(buffer); // without a buffer the other threads do the work
  return NULL;
}

// ---- All of them ----

static uint64_t copy_tiles(int64_t side)
{
  return ((uint64_t)side + COPY_TILE - 1) / COPY_TILE;
}

static int64_t copy_count_pieces(const oxp__copy_job *jobs, size_t count)
{
  uint64_t pieces = 0;
  for (size_t i = 0; i < count; i++) {
    const oxp_tensor *tensor = jobs[i].tensor;
    pieces += oxp__tensor_bytes(tensor, OXP_DTYPE_NONE) / COPY_PIECE_BYTES + 1;
    if (oxp__copy_way_of(tensor, OXP_DTYPE_NONE) == OXP__COPY_TRANSPOSE)
      pieces += copy_tiles(tensor->shape[0]) * copy_tiles(tensor->shape[1]);
  }
  return (int64_t)pieces;
}

static void copy_cut_spans(copy_state *state, size_t job)
{
  uint64_t bytes = oxp__tensor_bytes(state->jobs[job].tensor, OXP_DTYPE_NONE);
  for (uint64_t offset = 0; offset < bytes; offset += COPY_PIECE_BYTES) {
    uint64_t left = bytes - offset;
    state->pieces[state->piece_count++] =
        (copy_piece){ .job = job, .offset = offset, .count = left < COPY_PIECE_BYTES ? left : COPY_PIECE_BYTES };
  }
}

// Tiles come after all spans, so that the spans of a job stand together.
static void copy_cut_tiles(copy_state *state, size_t job)
{
  const oxp_tensor *tensor = state->jobs[job].tensor;
  if (oxp__copy_way_of(tensor, OXP_DTYPE_NONE) != OXP__COPY_TRANSPOSE)
    return;
  for (uint64_t row = 0; row < (uint64_t)tensor->shape[0]; row += COPY_TILE)
    for (uint64_t column = 0; column < (uint64_t)tensor->shape[1]; column += COPY_TILE)
      state->pieces[state->piece_count++] = (copy_piece){ .job = job, .is_tile = true, .row = row, .column = column };
}

// The checksum of what lies before the array in its extent (a header of some hundred bytes).
static oxp_status copy_head_crc(const oxp_tensor *tensor, uint32_t *crc, oxp_error *error)
{
  unsigned char bytes[4096];
  *crc = 0;
  for (uint64_t done = 0; done < tensor->offset_bytes;) {
    uint64_t left = tensor->offset_bytes - done;
    size_t count = left < sizeof bytes ? (size_t)left : sizeof bytes;
    OXP__TRY(copy_read(tensor->extent, tensor->extent->offset_bytes + done, bytes, count, error));
    *crc = libdeflate_crc32(*crc, bytes, count);
    done += count;
  }
  return OXP_OK;
}

// Puts a job's pieces together: what was counted, and the checksum. `at` is the job's first piece; it moves to the next job's.
static oxp_status copy_judge(copy_state *state, size_t index, size_t *at, oxp_error *error)
{
  oxp__copy_job *job = &state->jobs[index];
  const oxp_extent *extent = job->tensor->extent;
  uint32_t crc = 0, whole = 0;
  if (extent->has_crc)
    OXP__TRY(copy_head_crc(job->tensor, &whole, error));
  for (; *at < state->piece_count && state->pieces[*at].job == index && !state->pieces[*at].is_tile; ++*at) {
    const copy_piece *piece = &state->pieces[*at];
    crc = (uint32_t)crc32_combine(crc, piece->crc, (z_off_t)piece->count);
    whole = (uint32_t)crc32_combine(whole, piece->crc, (z_off_t)piece->count);
    job->stats->not_finite += piece->not_finite;
  }
  job->stats->crc = crc;
  if (!extent->has_crc || whole == extent->crc)
    return OXP_OK;
  const char *origin = job->tensor->origin;
  oxp__fail(error, OXP_BAD_FILE, "the data is damaged: its checksum is %08x, the archive says %08x", (unsigned)whole,
            (unsigned)extent->crc);
  oxp__at_key(error, OXP_BAD_FILE, origin ? origin : "an array");
  return oxp__at_file(error, OXP_BAD_FILE, extent->path);
}

static void copy_run_threads(copy_state *state, unsigned char *buffer)
{
  pthread_t others[COPY_MOST_THREADS];
  int started = 0;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int threads = cores > COPY_MOST_THREADS ? COPY_MOST_THREADS : cores < 1 ? 1 : (int)cores;
  if ((size_t)threads > state->piece_count)
    threads = (int)state->piece_count;
  while (started + 1 < threads && pthread_create(&others[started], NULL, copy_thread, state) == 0)
    started++;
  copy_work(state, buffer, true);
  for (int i = 0; i < started; i++)
    pthread_join(others[i], NULL);
}

static oxp_status copy_run(copy_state *state, size_t count, oxp_error *error)
{
  for (size_t i = 0; i < count; i++)
    copy_cut_spans(state, i);
  for (size_t i = 0; i < count; i++)
    copy_cut_tiles(state, i);
  unsigned char *buffer = malloc(copy_buffer_bytes(state));
  if (!buffer)
    return oxp__fail_memory(error, copy_buffer_bytes(state));
  copy_run_threads(state, buffer);
  free(buffer);
  if (state->status != OXP_OK) {
    if (error)
      *error = state->error;
    return state->status;
  }
  size_t at = 0;
  for (size_t i = 0; i < count; i++)
    OXP__TRY(copy_judge(state, i, &at, error));
  return OXP_OK;
}

oxp_status oxp__copy_run(oxp__copy_job *jobs, size_t count, int target, const char *target_path,
                         oxp__copy_progress progress, void *context, oxp_error *error)
{
  size_t bytes = 0;
  bool fits = oxp__memory_bytes(copy_count_pieces(jobs, count), sizeof(copy_piece), &bytes);
  copy_state state = { .jobs = jobs,
                       .pieces = fits ? malloc(bytes + 1) : NULL,
                       .target = target,
                       .target_path = target_path,
                       .progress = progress,
                       .context = context,
                       .mutex = PTHREAD_MUTEX_INITIALIZER };
  if (!state.pieces)
    return oxp__fail_memory(error, bytes);
  oxp_status status = copy_run(&state, count, error);
  free(state.pieces);
  return status;
}
