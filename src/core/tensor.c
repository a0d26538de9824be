// tensor.c: views of stored arrays and their stream of canonical bytes (row-major, little-endian). Memory is bounded by two
// buffers, whatever the array's size. Place: core.
#include "core/tensor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/scalar.h"
#include "core/temporary.h"

// Contiguous arrays pass through a buffer that stays in the second-level cache; gathering wants long runs.
enum { TENSOR_CHUNK_BYTES = 128 * 1024, TENSOR_GATHER_BYTES = 2 * 1024 * 1024 };

// ---- Describing ----

// The distance behind an axis of `dim` elements that are `stride` apart. It fits whenever the array has elements; where another
// axis is empty it may not, and then no element is ever looked for.
static int64_t tensor_next_stride(int64_t stride, int64_t dim)
{
  return oxp__mul_i64(stride, dim, &stride) ? stride : 0;
}

void oxp__tensor_set_strides(oxp_tensor *tensor, bool fortran_order)
{
  int64_t stride = (int64_t)oxp_dtype_bytes(tensor->dtype);
  for (int i = 0; i < tensor->rank; i++) {
    int axis = fortran_order ? i : tensor->rank - 1 - i;
    tensor->strides_bytes[axis] = stride;
    stride = tensor_next_stride(stride, tensor->shape[axis]);
  }
}

static oxp_tensor tensor_describe(oxp_dtype dtype, int rank, const int64_t *shape, oxp_read_function read,
                                  void *context)
{
  oxp_tensor tensor = { .dtype = dtype, .rank = rank, .read = read, .context = context };
  for (int i = 0; i < rank && i < OXP_MAX_RANK; i++)
    tensor.shape[i] = shape[i];
  int64_t count;
  // A shape that cannot exist makes a tensor of rank -1, which every user of it refuses.
  if (rank < 0 || rank > OXP_MAX_RANK || !oxp__shape_count(rank, shape, &count) ||
      !oxp__mul_i64(count, (int64_t)oxp_dtype_bytes(dtype), &count))
    tensor.rank = -1;
  else
    oxp__tensor_set_strides(&tensor, false);
  return tensor;
}

static oxp_status tensor_read_memory(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  (void)error;
  memcpy(buffer, (const unsigned char *)context + offset, count);
  return OXP_OK;
}

oxp_tensor oxp_tensor_from_memory(oxp_dtype dtype, int rank, const int64_t *shape, const void *data)
{
  oxp_tensor tensor = tensor_describe(dtype, rank, shape, tensor_read_memory, (void *)data);
  tensor.big_endian = oxp__is_big_endian_host();
  return tensor;
}

oxp_tensor oxp_tensor_from_function(oxp_dtype dtype, int rank, const int64_t *shape, oxp_read_function read,
                                    void *context)
{
  return tensor_describe(dtype, rank, shape, read, context);
}

oxp_tensor oxp__tensor_from_array(const oxp_array *array)
{
  return oxp_tensor_from_memory(array->dtype, array->rank, array->shape, array->data);
}

bool oxp__tensor_is_contiguous(const oxp_tensor *tensor)
{
  int64_t stride = (int64_t)oxp_dtype_bytes(tensor->dtype);
  for (int axis = tensor->rank - 1; axis >= 0; axis--) {
    if (tensor->shape[axis] != 1 && tensor->strides_bytes[axis] != stride)
      return false;
    stride = tensor_next_stride(stride, tensor->shape[axis]);
  }
  return true;
}

oxp_tensor oxp__tensor_permute(const oxp_tensor *tensor, const int *axes)
{
  oxp_tensor view = *tensor;
  for (int i = 0; i < tensor->rank; i++) {
    view.shape[i] = tensor->shape[axes[i]];
    view.strides_bytes[i] = tensor->strides_bytes[axes[i]];
  }
  return view;
}

// Copies the strides of axes longer than 1 to the axes longer than 1 of the new shape; false when these differ.
static bool tensor_reshape_ones(oxp_tensor *view, const oxp_tensor *tensor)
{
  int from = 0;
  for (int i = 0; i < view->rank; i++) {
    view->strides_bytes[i] = (int64_t)oxp_dtype_bytes(tensor->dtype);
    if (view->shape[i] == 1)
      continue;
    while (from < tensor->rank && tensor->shape[from] == 1)
      from++;
    if (from == tensor->rank || tensor->shape[from] != view->shape[i])
      return false;
    view->strides_bytes[i] = tensor->strides_bytes[from++];
  }
  while (from < tensor->rank && tensor->shape[from] == 1)
    from++;
  return from == tensor->rank;
}

bool oxp__tensor_reshape(oxp_tensor *tensor, int rank, const int64_t *shape)
{
  int64_t count;
  if (rank < 0 || rank > OXP_MAX_RANK || !oxp__shape_count(rank, shape, &count) || count != oxp__tensor_count(tensor))
    return false;
  oxp_tensor view = *tensor;
  view.rank = rank;
  memcpy(view.shape, shape, (size_t)rank * sizeof *shape);
  if (oxp__tensor_is_contiguous(tensor))
    oxp__tensor_set_strides(&view, false);
  else if (!tensor_reshape_ones(&view, tensor))
    return false;
  *tensor = view;
  return true;
}

int64_t oxp__tensor_count(const oxp_tensor *tensor)
{
  int64_t count = 0;
  return oxp__shape_count(tensor->rank, tensor->shape, &count) ? count : 0;
}

uint64_t oxp__tensor_bytes(const oxp_tensor *tensor, oxp_dtype as)
{
  return (uint64_t)oxp__tensor_count(tensor) * oxp_dtype_bytes(as ? as : tensor->dtype);
}

// ---- Streaming ----

// One stream: where elements come from, what they become, where they go.
typedef struct tensor_stream {
  const oxp_tensor *tensor;
  oxp_dtype as;
  oxp__sink sink;
  oxp__tensor_stats *stats; // never NULL
  size_t size, as_size;     // bytes of one element, stored and written
  unsigned char *elements;  // stored elements on their way; native byte order once read
  size_t capacity;          // elements that fit
  unsigned char *converted; // NULL when the type does not change
  int64_t done;             // elements handed on so far
} tensor_stream;

static int64_t tensor_not_finite_f32(const unsigned char *elements, size_t count)
{
  int64_t found = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t bits;
    memcpy(&bits, elements + i * sizeof bits, sizeof bits);
    found += (bits & 0x7F800000u) == 0x7F800000u;
  }
  return found;
}

int64_t oxp__count_not_finite(oxp_dtype dtype, const void *elements, size_t count)
{
  if (dtype == OXP_FLOAT32)
    return tensor_not_finite_f32(elements, count);
  int64_t found = 0;
  size_t size = oxp_dtype_bytes(dtype);
  for (size_t i = 0; oxp__dtype_is_float(dtype) && i < count; i++) {
    double value = oxp__load_f64(dtype, (const unsigned char *)elements + i * size);
    found += !(value - value == 0); // NaN for NaN and infinities
  }
  return found;
}

static void tensor_note_overflow(tensor_stream *stream, double value, int64_t at)
{
  oxp__tensor_stats *stats = stream->stats;
  if (stats->overflowed++ > 0)
    return;
  stats->first_overflow = value;
  stats->first_overflow_at = stream->done + at;
}

// The same where whole numbers are on either side, which double does not hold all.
static void tensor_convert_whole(tensor_stream *stream, size_t count)
{
  oxp_dtype from = stream->tensor->dtype;
  for (size_t i = 0; i < count; i++) {
    unsigned char *target = stream->converted + i * stream->as_size;
    oxp__scalar value = oxp__scalar_load(from, stream->elements + i * stream->size);
    oxp__held held = oxp__scalar_store(stream->as, target, &value);
    if (held == OXP__NOT_HELD)
      oxp__store_f64(stream->as, target, oxp__load_f64(from, stream->elements + i * stream->size));
    stream->stats->changed += held != OXP__HELD_EXACTLY;
  }
}

// Converts native elements; counts the values that did not survive.
static void tensor_convert(tensor_stream *stream, size_t count)
{
  oxp_dtype from = stream->tensor->dtype;
  for (size_t i = 0; i < count; i++) {
    unsigned char *target = stream->converted + i * stream->as_size;
    double value = oxp__load_f64(from, stream->elements + i * stream->size);
    oxp__store_f64(stream->as, target, value);
    double back = oxp__load_f64(stream->as, target);
    if (back - back != 0 && value - value == 0)
      tensor_note_overflow(stream, value, (int64_t)i);
    else
      stream->stats->changed += back != value && value == value;
  }
}

// Hands `count` native elements on: counted, converted, little-endian.
static oxp_status tensor_put(tensor_stream *stream, size_t count, oxp_error *error)
{
  unsigned char *bytes = stream->elements;
  stream->stats->not_finite += oxp__count_not_finite(stream->tensor->dtype, bytes, count);
  if (stream->converted) {
    bool floats = oxp__dtype_is_float(stream->as) && oxp__dtype_is_float(stream->tensor->dtype);
    (floats ? tensor_convert : tensor_convert_whole)(stream, count);
    bytes = stream->converted;
  }
  if (oxp__is_big_endian_host())
    oxp__swap_bytes(bytes, count, stream->as_size);
  stream->done += (int64_t)count;
  return stream->sink.write(stream->sink.context, bytes, count * stream->as_size, error);
}

// Bytes behind the tensor's read function, which may be the caller's.
static oxp_status tensor_read_bytes(const oxp_tensor *tensor, uint64_t offset, void *bytes, size_t count,
                                    oxp_error *error)
{
  oxp_error own;
  oxp__error_clear(&own);
  oxp_status status = tensor->read(tensor->context, tensor->offset_bytes + offset, bytes, count, &own);
  return oxp__take_failure(status, &own, "the function that reads the array", error);
}

// Reads `count` neighbouring stored elements, in native byte order.
static oxp_status tensor_get(const oxp_tensor *tensor, uint64_t offset, unsigned char *elements, size_t count,
                             oxp_error *error)
{
  size_t size = oxp_dtype_bytes(tensor->dtype);
  OXP__TRY(tensor_read_bytes(tensor, offset, elements, count * size, error));
  if (tensor->big_endian != oxp__is_big_endian_host())
    oxp__swap_bytes(elements, count, size);
  return OXP_OK;
}

static oxp_status tensor_stream_contiguous(tensor_stream *stream, oxp_error *error)
{
  uint64_t left = (uint64_t)oxp__tensor_count(stream->tensor);
  uint64_t offset = 0;
  while (left > 0) {
    size_t count = left < stream->capacity ? (size_t)left : stream->capacity;
    OXP__TRY(tensor_get(stream->tensor, offset, stream->elements, count, error));
    OXP__TRY(tensor_put(stream, count, error));
    offset += count * stream->size;
    left -= count;
  }
  return OXP_OK;
}

// The axis along which neighbours lie next to each other in the source; the last axis when there is none.
static int tensor_fast_axis(const oxp_tensor *tensor)
{
  for (int axis = tensor->rank - 1; axis >= 0; axis--)
    if (tensor->shape[axis] > 1 && tensor->strides_bytes[axis] == (int64_t)oxp_dtype_bytes(tensor->dtype))
      return axis;
  return tensor->rank - 1;
}

// The source offset of flat index `flat` over axes `first` to `last` - 1.
static uint64_t tensor_offset(const oxp_tensor *tensor, int first, int last, int64_t flat)
{
  uint64_t offset = 0;
  for (int axis = last - 1; axis >= first; axis--) {
    offset += (uint64_t)(flat % tensor->shape[axis] * tensor->strides_bytes[axis]);
    flat /= tensor->shape[axis];
  }
  return offset;
}

// One run along the fast axis: `count` elements from `offset`, spread over the tile with a distance of `step` elements.
static oxp_status tensor_gather_run(tensor_stream *stream, int axis, uint64_t offset, size_t count, unsigned char *run,
                                    size_t at, size_t step, oxp_error *error)
{
  const oxp_tensor *tensor = stream->tensor;
  size_t size = stream->size;
  if (tensor->strides_bytes[axis] == (int64_t)size)
    OXP__TRY(tensor_get(tensor, offset, run, count, error));
  else
    for (size_t i = 0; i < count; i++)
      OXP__TRY(tensor_get(tensor, offset + i * (uint64_t)tensor->strides_bytes[axis], run + i * size, 1, error));
  for (size_t i = 0; i < count; i++)
    memcpy(stream->elements + (at + i * step) * size, run + i * size, size);
  return OXP_OK;
}

// Tiles: for each index of the axes before the fast one, as many steps along it as fit the buffer together with all axes behind
// it (or, when even one step does not fit, a part of those). A tile is contiguous in the output.
static oxp_status tensor_stream_gather(tensor_stream *stream, unsigned char *run, oxp_error *error)
{
  const oxp_tensor *tensor = stream->tensor;
  int axis = tensor_fast_axis(tensor);
  int64_t outer = 1, inner = 1, capacity = (int64_t)stream->capacity;
  for (int i = 0; i < tensor->rank; i++)
    *(i < axis ? &outer : &inner) *= i == axis ? 1 : tensor->shape[i];
  int64_t steps = inner <= capacity ? capacity / inner : 1;
  int64_t part = inner <= capacity ? inner : capacity;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t a = 0; a < tensor->shape[axis]; a += steps)
      for (int64_t first = 0; first < inner; first += part) {
        int64_t rows = tensor->shape[axis] - a < steps ? tensor->shape[axis] - a : steps;
        int64_t columns = inner - first < part ? inner - first : part;
        uint64_t base = tensor_offset(tensor, 0, axis, o) + (uint64_t)(a * tensor->strides_bytes[axis]);
        for (int64_t i = 0; i < columns; i++)
          OXP__TRY(tensor_gather_run(stream, axis, base + tensor_offset(tensor, axis + 1, tensor->rank, first + i),
                                     (size_t)rows, run, (size_t)i, (size_t)columns, error));
        OXP__TRY(tensor_put(stream, (size_t)(rows * columns), error));
      }
  return OXP_OK;
}

static oxp_status tensor_spool_read(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  FILE *spool = context;
  errno = EIO; // when the file ends too early
  if (fseeko(spool, (off_t)offset, SEEK_SET) != 0 || fread(buffer, 1, count, spool) != count)
    return oxp__fail_errno(error, "temporary file", "read the array back");
  return OXP_OK;
}

// From the first byte that a view refers to, to the last one.
static uint64_t tensor_spool_bytes(const oxp_tensor *view)
{
  uint64_t bytes = oxp_dtype_bytes(view->dtype);
  for (int i = 0; i < view->rank; i++)
    bytes += (uint64_t)((view->shape[i] - 1) * view->strides_bytes[i]);
  return bytes;
}

// Copies the bytes that a forward-only view refers to into an unnamed temporary file, in order, to the last one (so that the
// source's checksum is verified), and points the view there.
static oxp_status tensor_spool(oxp_tensor *view, uint64_t bytes, FILE *spool, oxp_error *error)
{
  unsigned char chunk[16 * 1024];
  for (uint64_t done = 0; done < bytes;) {
    size_t count = bytes - done < sizeof chunk ? (size_t)(bytes - done) : sizeof chunk;
    OXP__TRY(tensor_read_bytes(view, done, chunk, count, error));
    if (fwrite(chunk, 1, count, spool) != count)
      return oxp__fail_errno(error, "temporary file", "write the array");
    done += count;
  }
  view->read = tensor_spool_read;
  view->context = spool;
  view->offset_bytes = 0;
  view->forward_only = false;
  return OXP_OK;
}

static oxp_status tensor_stream_view(const tensor_stream *whole, oxp_error *error)
{
  oxp_tensor view = *whole->tensor;
  tensor_stream copy = *whole, *stream = &copy;
  stream->tensor = &view;
  FILE *spool = NULL;
  unsigned char *run = malloc(stream->capacity * stream->size);
  oxp_status status = run ? OXP_OK : oxp__fail_memory(error, stream->capacity * stream->size);
  if (status == OXP_OK && view.forward_only) {
    uint64_t bytes = tensor_spool_bytes(&view);
    const char *beside = stream->sink.beside;
    spool = oxp__temporary_file(beside, bytes);
    status = spool ? tensor_spool(&view, bytes, spool, error)
                   : oxp__fail_errno(error, beside ? beside : "temporary file", "create a temporary file for it");
  }
  if (status == OXP_OK)
    status = tensor_stream_gather(stream, run, error);
  if (spool)
    fclose(spool);
  free(run);
  return status;
}

oxp_status oxp__tensor_stream(const oxp_tensor *tensor, oxp_dtype as, oxp__sink sink, oxp__tensor_stats *stats,
                              oxp_error *error)
{
  oxp__tensor_stats unwanted = { 0 };
  tensor_stream stream = { .tensor = tensor,
                           .as = as ? as : tensor->dtype,
                           .sink = sink,
                           .stats = stats ? stats : &unwanted,
                           .size = oxp_dtype_bytes(tensor->dtype) };
  stream.as_size = oxp_dtype_bytes(stream.as);
  if (tensor->rank < 0 || stream.size == 0 || stream.as_size == 0)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "a tensor of type %s has no valid shape", oxp_dtype_name(tensor->dtype));
  uint64_t count = (uint64_t)oxp__tensor_count(tensor);
  if (count == 0)
    return OXP_OK;
  bool contiguous = oxp__tensor_is_contiguous(tensor);
  stream.capacity = (contiguous ? TENSOR_CHUNK_BYTES : TENSOR_GATHER_BYTES) / stream.size;
  if (stream.capacity > count)
    stream.capacity = (size_t)count;
  stream.elements = malloc(stream.capacity * stream.size);
  bool converts = stream.as != tensor->dtype;
  stream.converted = converts ? malloc(stream.capacity * stream.as_size) : NULL;
  oxp_status status = OXP_OK;
  if (!stream.elements || (converts && !stream.converted))
    status = oxp__fail_memory(error, stream.capacity * stream.as_size);
  else
    status = contiguous ? tensor_stream_contiguous(&stream, error) : tensor_stream_view(&stream, error);
  free(stream.elements);
  free(stream.converted);
  return status;
}

// ---- Reading everything ----

typedef struct tensor_cursor {
  unsigned char *at;
} tensor_cursor;

static oxp_status tensor_collect(void *context, const void *bytes, size_t count, oxp_error *error)
{
  (void)error;
  tensor_cursor *cursor = context;
  memcpy(cursor->at, bytes, count);
  cursor->at += count;
  return OXP_OK;
}

oxp_status oxp__tensor_read(const oxp_tensor *tensor, oxp_dtype dtype, void *elements, oxp_error *error)
{
  tensor_cursor cursor = { elements };
  OXP__TRY(oxp__tensor_stream(tensor, dtype, (oxp__sink){ .write = tensor_collect, .context = &cursor }, NULL, error));
  if (oxp__is_big_endian_host())
    oxp__swap_bytes(elements, (size_t)oxp__tensor_count(tensor), oxp_dtype_bytes(dtype));
  return OXP_OK;
}

oxp_status oxp__tensor_read_f64(const oxp_tensor *tensor, double *values, oxp_error *error)
{
  return oxp__tensor_read(tensor, OXP_FLOAT64, values, error);
}
