// copy.c: see copy.h. The jobs are cut into pieces; threads take the next piece until none is left, and each piece's checksum
// is kept, so that an array's checksum can be put together from those of its pieces. A matrix that is stored the other way
// round is cut into tiles, each of which is read by columns and written by rows. Place: core.
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
  COPY_TILE_HEIGHT = 256,             // elements of 4 bytes: what is read at once of a column,
  COPY_TILE_WIDTH = 2048,             // and written at once of a row: long runs matter more to writes
  COPY_TURN_COLUMNS = 16,             // turned together: one cache line of every row
  COPY_TILE_THREADS = 2,              // each with a tile of 2 MiB
  COPY_PIECE_BYTES = 4 * 1024 * 1024, // what a thread takes at once
  COPY_MOST_THREADS = 4               // more do not make a disk faster
};

typedef struct copy_piece {
  size_t job;
  bool is_tile;
  uint64_t offset, count; // bytes of the array, of a span
  uint64_t row, column;   // where a tile begins
  uint64_t behind;        // bytes of the array behind the piece's last one
  uint32_t crc;           // of the piece as if zeros stood where a tile has gaps
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
  atomic_size_t next;  // piece to take
  atomic_bool stopped; // somebody failed or cancelled
  bool has_tiles;
  pthread_mutex_t writing; // of tiles, one at a time: more threads would only spin for the file's own lock
  pthread_mutex_t mutex;   // guards what follows
  uint64_t done;           // bytes; not atomic: machines of 32 bits have no such atomics
  oxp_status status;       // the first failure
  oxp_error error;
} copy_state;

oxp__copy_way oxp__copy_way_of(const oxp_tensor *tensor, oxp_dtype as)
{
  const oxp_extent *extent = tensor->extent;
  // The counts of values that are not finite are taken from the stored bytes: they must be those of this machine.
  if (!extent || extent->is_packed || tensor->rank < 0 || (as && as != tensor->dtype) || oxp__is_big_endian_host())
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

// Adds to the bytes that are done, and returns their sum.
static uint64_t copy_add_done(copy_state *state, uint64_t bytes)
{
  pthread_mutex_lock(&state->mutex);
  uint64_t done = state->done += bytes;
  pthread_mutex_unlock(&state->mutex);
  return done;
}

static oxp_status copy_read(const oxp_extent *extent, uint64_t offset, unsigned char *buffer, size_t count,
                            oxp_error *error)
{
  while (count > 0) {
    ssize_t got = pread(extent->file->descriptor, buffer, count, (off_t)offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return oxp__fail_errno(error, extent->file->path, "read the file");
    if (got == 0) {
      oxp__fail(error, OXP_BAD_FILE, "the file ends at byte %llu, it was longer when it was opened",
                (unsigned long long)offset);
      return oxp__at_file(error, OXP_BAD_FILE, extent->file->path);
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
    OXP__TRY(copy_write(state, to + done, buffer, count, error));
    copy_add_done(state, count);
    done += count;
  }
  return OXP_OK;
}

// The part of a tile that is inside the matrix.
typedef struct copy_area {
  const oxp_tensor *tensor;
  uint64_t rows, columns; // of the matrix
  size_t height, width;   // of the tile
} copy_area;

static copy_area copy_area_of(const copy_state *state, const copy_piece *piece)
{
  const oxp_tensor *tensor = state->jobs[piece->job].tensor;
  copy_area area = { tensor, (uint64_t)tensor->shape[0], (uint64_t)tensor->shape[1], COPY_TILE_HEIGHT,
                     COPY_TILE_WIDTH };
  if (area.rows - piece->row < area.height)
    area.height = (size_t)(area.rows - piece->row);
  if (area.columns - piece->column < area.width)
    area.width = (size_t)(area.columns - piece->column);
  return area;
}

// Some columns become a part of the tile's rows.
static void copy_turn(const uint32_t *from, size_t columns, uint32_t *to, const copy_area *area)
{
  for (size_t row = 0; row < area->height; row++)
    for (size_t column = 0; column < columns; column++)
      to[row * area->width + column] = from[column * area->height + row];
}

// The product of two polynomials modulo that of CRC-32, bits in the order of the checksum: the highest is the constant term.
static uint32_t copy_multiply(uint32_t a, uint32_t b)
{
  uint32_t product = 0;
  for (uint32_t bit = UINT32_C(1) << 31; bit > 0; bit >>= 1) {
    product ^= a & bit ? b : 0;
    b = b & 1 ? b >> 1 ^ UINT32_C(0xEDB88320) : b >> 1;
  }
  return product;
}

// Reads a tile by columns. What lies between two of them counts as zeros in the checksum, which is linear.
static oxp_status copy_read_tile(copy_piece *piece, const copy_area *area, uint32_t *tile, uint32_t *some,
                                 oxp_error *error)
{
  const oxp_tensor *tensor = area->tensor;
  uint64_t from = tensor->extent->offset_bytes + tensor->offset_bytes + 4 * (piece->column * area->rows + piece->row);
  size_t bytes = 4 * area->height;
  uint32_t shift =
      (uint32_t)crc32_combine(UINT32_C(1) << 31, 0, (z_off_t)(4 * area->rows)); // what a column's length does to 1
  for (size_t column = 0; column < area->width; column += COPY_TURN_COLUMNS) {
    size_t count = area->width - column < COPY_TURN_COLUMNS ? area->width - column : COPY_TURN_COLUMNS;
    for (size_t i = 0; i < count; i++) {
      uint32_t *run = some + i * area->height;
      OXP__TRY(copy_read(tensor->extent, from + 4 * (column + i) * area->rows, (unsigned char *)run, bytes, error));
      piece->not_finite += oxp__count_not_finite(tensor->dtype, run, area->height);
      piece->crc = copy_multiply(shift, piece->crc) ^ libdeflate_crc32(0, run, bytes);
    }
    copy_turn(some, count, tile + column, area);
  }
  return OXP_OK;
}

static oxp_status copy_write_tile(copy_state *state, const copy_piece *piece, const copy_area *area,
                                  const uint32_t *tile, oxp_error *error)
{
  uint64_t to = state->jobs[piece->job].target_offset + 4 * (piece->row * area->columns + piece->column);
  const unsigned char *bytes = (const unsigned char *)tile;
  if (area->width == area->columns)
    return copy_write(state, to, bytes, 4 * area->width * area->height, error);
  for (size_t row = 0; row < area->height; row++)
    OXP__TRY(copy_write(state, to + 4 * row * area->columns, bytes + 4 * row * area->width, 4 * area->width, error));
  return OXP_OK;
}

static oxp_status copy_tile(copy_state *state, copy_piece *piece, unsigned char *buffer, oxp_error *error)
{
  copy_area area = copy_area_of(state, piece);
  uint32_t *tile = (uint32_t *)(void *)buffer, *some = tile + COPY_TILE_HEIGHT * COPY_TILE_WIDTH;
  OXP__TRY(copy_read_tile(piece, &area, tile, some, error));
  pthread_mutex_lock(&state->writing);
  oxp_status status = copy_write_tile(state, piece, &area, tile, error);
  pthread_mutex_unlock(&state->writing);
  copy_add_done(state, 4 * area.height * area.width);
  return status;
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
    if (status == OXP_OK && reports && state->progress && !state->progress(state->context, copy_add_done(state, 0)))
      status = oxp__fail_cancelled(&error);
    if (status != OXP_OK)
      copy_fail(state, &error, status);
  }
}

static size_t copy_buffer_bytes(const copy_state *state)
{
  return state->has_tiles ? 4 * COPY_TILE_HEIGHT * (COPY_TILE_WIDTH + COPY_TURN_COLUMNS) : COPY_BUFFER_BYTES;
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

static uint64_t copy_tiles(int64_t side, uint64_t tile_side)
{
  return ((uint64_t)side + tile_side - 1) / tile_side;
}

static bool copy_is_turned(const oxp_tensor *tensor)
{
  return oxp__copy_way_of(tensor, OXP_DTYPE_NONE) == OXP__COPY_TRANSPOSE;
}

static int64_t copy_count_pieces(const oxp__copy_job *jobs, size_t count)
{
  uint64_t pieces = 0;
  for (size_t i = 0; i < count; i++) {
    const oxp_tensor *tensor = jobs[i].tensor;
    if (copy_is_turned(tensor))
      pieces += copy_tiles(tensor->shape[0], COPY_TILE_HEIGHT) * copy_tiles(tensor->shape[1], COPY_TILE_WIDTH);
    else
      pieces += oxp__tensor_bytes(tensor, OXP_DTYPE_NONE) / COPY_PIECE_BYTES + 1;
  }
  return (int64_t)pieces;
}

static void copy_cut_spans(copy_state *state, size_t job)
{
  uint64_t bytes = oxp__tensor_bytes(state->jobs[job].tensor, OXP_DTYPE_NONE);
  for (uint64_t offset = 0; offset < bytes; offset += COPY_PIECE_BYTES) {
    uint64_t left = bytes - offset, count = left < COPY_PIECE_BYTES ? left : COPY_PIECE_BYTES;
    state->pieces[state->piece_count++] =
        (copy_piece){ .job = job, .offset = offset, .count = count, .behind = left - count };
  }
}

static void copy_cut_tiles(copy_state *state, size_t job)
{
  state->has_tiles = true;
  const oxp_tensor *tensor = state->jobs[job].tensor;
  uint64_t bytes = oxp__tensor_bytes(tensor, OXP_DTYPE_NONE);
  for (uint64_t row = 0; row < (uint64_t)tensor->shape[0]; row += COPY_TILE_HEIGHT)
    for (uint64_t column = 0; column < (uint64_t)tensor->shape[1]; column += COPY_TILE_WIDTH) {
      copy_piece *piece = &state->pieces[state->piece_count++];
      *piece = (copy_piece){ .job = job, .is_tile = true, .row = row, .column = column };
      copy_area area = copy_area_of(state, piece);
      piece->behind = bytes - 4 * ((column + area.width - 1) * area.rows + row + area.height);
    }
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
  for (; *at < state->piece_count && state->pieces[*at].job == index; ++*at) {
    const copy_piece *piece = &state->pieces[*at];
    crc ^= (uint32_t)crc32_combine(piece->crc, 0, (z_off_t)piece->behind);
    job->stats->not_finite += piece->not_finite;
  }
  job->stats->crc = crc;
  if (!extent->has_crc)
    return OXP_OK;
  OXP__TRY(copy_head_crc(job->tensor, &whole, error));
  whole = (uint32_t)crc32_combine(whole, crc, (z_off_t)oxp__tensor_bytes(job->tensor, OXP_DTYPE_NONE));
  if (whole == extent->crc)
    return OXP_OK;
  const char *origin = job->tensor->origin;
  oxp__fail(error, OXP_BAD_FILE, "the data is damaged: its checksum is %08x, the archive says %08x", (unsigned)whole,
            (unsigned)extent->crc);
  oxp__at_key(error, OXP_BAD_FILE, origin ? origin : "an array");
  return oxp__at_file(error, OXP_BAD_FILE, extent->file->path);
}

static void copy_run_threads(copy_state *state, unsigned char *buffer)
{
  pthread_t others[COPY_MOST_THREADS];
  int started = 0;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int threads = cores > COPY_MOST_THREADS ? COPY_MOST_THREADS : cores < 1 ? 1 : (int)cores;
  if (state->has_tiles && threads > COPY_TILE_THREADS)
    threads = COPY_TILE_THREADS;
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
    (copy_is_turned(state->jobs[i].tensor) ? copy_cut_tiles : copy_cut_spans)(state, i);
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
                       .mutex = PTHREAD_MUTEX_INITIALIZER,
                       .writing = PTHREAD_MUTEX_INITIALIZER };
  if (!state.pieces)
    return oxp__fail_memory(error, bytes);
  oxp_status status = copy_run(&state, count, error);
  free(state.pieces);
  return status;
}
