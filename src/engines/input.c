// input.c: see input.h. Place: engines.
#include "engines/input.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/file.h"
#include "core/resemble.h"
#include "core/scalar.h"
#include "formats/common/array_file.h"
#include "formats/containers/image.h"

#define INPUT_MAX_PICTURE_BYTES ((size_t)256 << 20)

typedef struct input_state {
  oxp__arena arena;
  const oxp_value_info *input;
  oxp__input_options options;
  int64_t sizes[OXP_MAX_RANK]; // of one sample; negative while open
  const char **files;
  size_t file_count, file_capacity;
  oxp_array *parts; // per file: samples, batch first, in the input's type
  oxp__text *notes; // borrowed; NULL: nobody reads them
} input_state;

static void input_note(const input_state *state, const char *path, const char *format, ...) OXP__PRINTF(3, 4);

static void input_note(const input_state *state, const char *path, const char *format, ...)
{
  char sentence[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  if (state->notes)
    oxp__text_printf(state->notes, "%s: %s\n", path, sentence);
}

// --- Which files ---

static oxp_status input_add_file(input_state *state, const char *path, oxp_error *error)
{
  void *files =
      oxp__arena_grow(&state->arena, (void *)state->files, state->file_count, &state->file_capacity, sizeof(char *));
  char *copy = files ? oxp__arena_copy(&state->arena, path) : NULL;
  if (!copy)
    return oxp__fail_memory(error, strlen(path));
  state->files = files;
  state->files[state->file_count++] = copy;
  if (state->options.sources)
    oxp__sources_add_path(state->options.sources, path);
  return OXP_OK;
}

// What a file begins with; false when it cannot be read.
static bool input_head(const char *path, unsigned char head[OXP__RESEMBLE_BYTES], size_t *count, oxp_error *error)
{
  oxp__arena arena = { 0 };
  oxp__file *file = NULL;
  bool read = oxp__file_open(&arena, path, &file, error) == OXP_OK;
  *count = read && file->size_bytes < OXP__RESEMBLE_BYTES ? (size_t)file->size_bytes : OXP__RESEMBLE_BYTES;
  read = read && oxp__file_read(file, 0, head, *count, error) == OXP_OK;
  oxp__arena_fini(&arena);
  return read;
}

static bool input_is_npy(const unsigned char *head, size_t count)
{
  return count >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

static bool input_is_known(const char *path)
{
  unsigned char head[OXP__RESEMBLE_BYTES];
  size_t count = 0;
  return input_head(path, head, &count, NULL) && (input_is_npy(head, count) || oxp__image_recognise(head, count));
}

static int input_by_name(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static oxp_status input_list_folder(input_state *state, const char *folder, DIR *stream, oxp_error *error)
{
  size_t first = state->file_count;
  for (struct dirent *entry = readdir(stream); entry; entry = readdir(stream)) {
    char *path = oxp__arena_printf(&state->arena, "%s/%s", folder, entry->d_name);
    if (!path)
      return oxp__fail_memory(error, strlen(folder));
    if (input_is_known(path))
      OXP__TRY(input_add_file(state, path, error));
  }
  if (state->file_count == first)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the folder %s holds no .npy, PNG or JPEG file", folder);
  qsort((void *)(state->files + first), state->file_count - first, sizeof *state->files, input_by_name);
  return OXP_OK;
}

static oxp_status input_list(input_state *state, const char *path, oxp_error *error)
{
  struct stat about;
  if (stat(path, &about) != 0)
    return oxp__fail_errno(error, path, "open it");
  if (!S_ISDIR(about.st_mode))
    return input_add_file(state, path, error);
  DIR *stream = opendir(path);
  if (!stream)
    return oxp__fail_errno(error, path, "list the folder");
  oxp_status status = input_list_folder(state, path, stream, error);
  closedir(stream);
  return status;
}

// --- Arrays ---

static oxp_status input_misfit(const input_state *state, int rank, const int64_t *shape, oxp_error *error)
{
  oxp__text text = { 0 };
  oxp__text_add_shape(&text, rank, shape);
  oxp__text_printf(&text, " does not fit the network's input \"%s\", which is ", state->input->name);
  oxp__text_add_shape(&text, state->input->rank, state->input->shape);
  oxp_status status = oxp__fail(error, OXP_BAD_ARGUMENT, "an array of shape %s", oxp__text_string(&text));
  oxp__text_fini(&text);
  return status;
}

// Checks the sizes of a sample against the network's and those of the samples before it.
static bool input_fits(input_state *state, const int64_t *sample)
{
  for (int i = 0; i < state->input->rank - 1; i++) {
    if (state->sizes[i] >= 0 && state->sizes[i] != sample[i])
      return false;
    state->sizes[i] = sample[i];
  }
  return true;
}

static oxp_status input_fail_value(const input_state *state, const oxp_array *from, int64_t at,
                                   const oxp__scalar *value, oxp_error *error)
{
  oxp__text text = { 0 };
  oxp__scalar_add(&text, value);
  oxp_status status = oxp__fail(
      error, OXP_BAD_ARGUMENT,
      "element %" PRId64 " of the array is %s (%s); the input \"%s\" is %s, which cannot hold it", at,
      oxp__text_string(&text), oxp_dtype_name(from->dtype), state->input->name, oxp_dtype_name(state->input->dtype));
  oxp__text_fini(&text);
  return status;
}

// The array's elements in the input's type. Whole numbers that it rounds are noted; numbers with a fraction are rounded as a matter of
// course.
static oxp_status input_convert(const input_state *state, const char *path, const oxp_array *from, int rank,
                                const int64_t *shape, oxp_array *to, oxp_error *error)
{
  if (oxp_dtype_bytes(from->dtype) == 0 || from->dtype == OXP_COMPLEX64 || from->dtype == OXP_COMPLEX128)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "an array of type %s cannot be the input of a network",
                     oxp_dtype_name(from->dtype));
  OXP__TRY(oxp_array_new(to, state->input->dtype, rank, shape, error));
  size_t from_size = oxp_dtype_bytes(from->dtype), to_size = oxp_dtype_bytes(to->dtype);
  int64_t count = oxp_array_count(from), rounded = 0;
  if (from->dtype == to->dtype) {
    memcpy(to->data, from->data, oxp_array_bytes(from));
    return OXP_OK;
  }
  for (int64_t i = 0; i < count; i++) {
    oxp__scalar value = oxp__scalar_load(from->dtype, (const unsigned char *)from->data + (size_t)i * from_size);
    oxp__held held = oxp__scalar_store(to->dtype, (unsigned char *)to->data + (size_t)i * to_size, &value);
    if (held == OXP__NOT_HELD) {
      oxp_array_free(to);
      return input_fail_value(state, from, i, &value, error);
    }
    rounded += held == OXP__HELD_ROUNDED && value.is_whole;
  }
  if (rounded > 0)
    input_note(state, path, "%" PRId64 " whole numbers are rounded to %s, the type of the input.", rounded,
               oxp_dtype_name(to->dtype));
  return OXP_OK;
}

static oxp_status input_take_array(input_state *state, const char *path, const oxp_array *from, oxp_array *to,
                                   oxp_error *error)
{
  int rank = state->input->rank;
  int64_t shape[OXP_MAX_RANK] = { 1 };
  bool one_sample = from->rank == rank - 1;
  if (!one_sample && from->rank != rank)
    return input_misfit(state, from->rank, from->shape, error);
  memcpy(shape + (one_sample ? 1 : 0), from->shape, (size_t)from->rank * sizeof *shape);
  if (!input_fits(state, shape + 1))
    return input_misfit(state, from->rank, from->shape, error);
  return input_convert(state, path, from, rank, shape, to, error);
}

static oxp_status input_read_array(const input_state *state, const char *path, oxp_array *array, oxp_error *error)
{
  uint64_t rest_bytes = 0;
  OXP__TRY(oxp__array_file_read(path, array, &rest_bytes, error));
  if (rest_bytes > 0)
    input_note(state, path, "Behind the array there are %" PRIu64 " bytes; they are not used.", rest_bytes);
  return OXP_OK;
}

static oxp_status input_read_npy(input_state *state, const char *path, oxp_array *to, oxp_error *error)
{
  oxp_array from = { 0 };
  OXP__TRY(input_read_array(state, path, &from, error));
  oxp_status status = input_take_array(state, path, &from, to, error);
  oxp_array_free(&from);
  return status;
}

// --- Pictures ---

// The network's sizes where it has any, else the picture's.
static oxp_status input_picture_sizes(const input_state *state, const oxp__image *image, int64_t sizes[3],
                                      oxp_error *error)
{
  const oxp_value_info *input = state->input;
  if (input->rank != 4 || (input->shape[1] >= 0 && input->shape[1] != 1 && input->shape[1] != 3)) {
    oxp__text text = { 0 };
    oxp__text_add_shape(&text, input->rank, input->shape);
    oxp_status status = oxp__fail(error, OXP_BAD_ARGUMENT,
                                  "a picture has 1 or 3 channels, height and width; the network's input \"%s\" is %s",
                                  input->name, oxp__text_string(&text));
    oxp__text_fini(&text);
    return status;
  }
  sizes[0] = state->sizes[0] >= 0 ? state->sizes[0] : 3;
  sizes[1] = state->sizes[1] >= 0 ? state->sizes[1] : image->height;
  sizes[2] = state->sizes[2] >= 0 ? state->sizes[2] : image->width;
  if (state->options.keep_size && (sizes[1] != image->height || sizes[2] != image->width))
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the picture has %d x %d pixels (height x width), %lld x %lld are needed",
                     image->height, image->width, (long long)sizes[1], (long long)sizes[2]);
  if (sizes[1] > OXP__IMAGE_MAX_SIDE || sizes[2] > OXP__IMAGE_MAX_SIDE)
    return oxp__fail(error, OXP_UNSUPPORTED, "a picture cannot be resized to %lld x %lld pixels", (long long)sizes[1],
                     (long long)sizes[2]);
  return OXP_OK;
}

// What each of the 256 byte values becomes in one channel.
static void input_table(const oxp__input_options *options, int channel, oxp__scalar table[256])
{
  double std = options->std[channel] != 0 ? options->std[channel] : 1;
  for (int byte = 0; byte < 256; byte++) {
    double scaled = options->scale != 0 ? byte * options->scale : byte / 255.0;
    table[byte] = (oxp__scalar){ .real = (scaled - options->mean[channel]) / std };
  }
}

// Brightness by the weights of ITU-R BT.601, rounded as others do it.
static unsigned char input_grey(const unsigned char *rgb)
{
  return (unsigned char)((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

// A type of whole numbers cannot hold the fractions that scaling makes; only values that occur in the picture matter.
static oxp_status input_take_channel(const input_state *state, const oxp__image *image, int channel, oxp_array *to,
                                     oxp_error *error)
{
  oxp__scalar table[256];
  input_table(&state->options, channel, table);
  int64_t pixels = (int64_t)image->width * image->height;
  bool grey = to->shape[1] == 1;
  int source = state->options.bgr ? 2 - channel : channel;
  size_t size = oxp_dtype_bytes(to->dtype);
  unsigned char *target = (unsigned char *)to->data + (size_t)(channel * pixels) * size;
  for (int64_t i = 0; i < pixels; i++) {
    const unsigned char *rgb = image->rgb + (size_t)i * 3;
    unsigned char byte = grey ? input_grey(rgb) : rgb[source];
    if (oxp__scalar_store(to->dtype, target + (size_t)i * size, &table[byte]) == OXP__NOT_HELD)
      return oxp__fail(error, OXP_BAD_ARGUMENT,
                       "the byte %d of the picture becomes %.7g, and the input \"%s\" is %s, which cannot "
                       "hold it; other values of scale, mean and std are needed",
                       byte, table[byte].real, state->input->name, oxp_dtype_name(to->dtype));
  }
  return OXP_OK;
}

static oxp_status input_take_picture(input_state *state, const oxp__image *image, oxp_array *to, oxp_error *error)
{
  int64_t sizes[3];
  OXP__TRY(input_picture_sizes(state, image, sizes, error));
  memcpy(state->sizes, sizes, sizeof sizes);
  OXP__TRY(oxp_array_new(to, state->input->dtype, 4, (int64_t[]){ 1, sizes[0], sizes[1], sizes[2] }, error));
  oxp__image resized = { 0 };
  OXP__TRY(oxp__image_resize(image, (int)sizes[2], (int)sizes[1], &resized, error));
  oxp_status status = OXP_OK;
  for (int channel = 0; status == OXP_OK && channel < (int)sizes[0]; channel++)
    status = input_take_channel(state, &resized, channel, to, error);
  oxp__image_fini(&resized);
  return status;
}

static oxp_status input_decode(const char *path, oxp__image *image, oxp_error *error)
{
  oxp__arena arena = { 0 };
  oxp__file *file = NULL;
  char *bytes = NULL;
  size_t count = 0;
  oxp_status status = oxp__file_open(&arena, path, &file, error);
  if (status == OXP_OK)
    status = oxp__file_read_all(&arena, file, INPUT_MAX_PICTURE_BYTES, &bytes, &count, error);
  if (status == OXP_OK)
    status = oxp__image_decode(bytes, count, image, error);
  oxp__arena_fini(&arena);
  return status;
}

static oxp_status input_read_picture(input_state *state, const char *path, oxp_array *to, oxp_error *error)
{
  oxp__image image = { 0 };
  OXP__TRY(input_decode(path, &image, error));
  if (image.transparent)
    input_note(state, path,
               "The picture is transparent in places; transparency is not used, and the colours stored under it are.");
  if (image.deep)
    input_note(state, path, "The picture has 16 bits for each channel; the upper 8 are used.");
  oxp_status status = input_take_picture(state, &image, to, error);
  oxp__image_fini(&image);
  return status;
}

// --- All together ---

static oxp_status input_fail_other(const unsigned char *head, size_t count, oxp_error *error)
{
  return oxp__fail_resembling(head, count, "neither a .npy array nor a PNG or JPEG picture", error);
}

static oxp_status input_read_file(input_state *state, const char *path, oxp_array *to, oxp_error *error)
{
  unsigned char head[OXP__RESEMBLE_BYTES];
  size_t count = 0;
  if (!input_head(path, head, &count, error))
    return error ? error->status : OXP_IO;
  if (input_is_npy(head, count))
    return input_read_npy(state, path, to, error);
  if (oxp__image_recognise(head, count))
    return input_read_picture(state, path, to, error);
  return input_fail_other(head, count, error);
}

static oxp_status input_read_files(input_state *state, oxp_error *error)
{
  state->parts = oxp__arena_new(&state->arena, state->file_count, sizeof *state->parts);
  if (!state->parts)
    return oxp__fail_memory(error, state->file_count * sizeof *state->parts);
  for (size_t i = 0; i < state->file_count; i++) {
    oxp_status status = input_read_file(state, state->files[i], &state->parts[i], error);
    if (status != OXP_OK)
      return oxp__at_file(error, status, state->files[i]);
  }
  return OXP_OK;
}

static oxp_status input_join(const input_state *state, oxp_array *array, oxp_error *error)
{
  int64_t shape[OXP_MAX_RANK] = { 0 };
  for (size_t i = 0; i < state->file_count; i++)
    shape[0] += state->parts[i].shape[0];
  memcpy(shape + 1, state->sizes, (size_t)(state->input->rank - 1) * sizeof *shape);
  OXP__TRY(oxp_array_new(array, state->input->dtype, state->input->rank, shape, error));
  size_t at = 0;
  for (size_t i = 0; i < state->file_count; i++) {
    size_t bytes = oxp_array_bytes(&state->parts[i]);
    if (bytes > 0)
      memcpy((unsigned char *)array->data + at, state->parts[i].data, bytes);
    at += bytes;
  }
  return OXP_OK;
}

static oxp_status input_check(const input_state *state, int path_count, oxp_error *error)
{
  const oxp__input_options *options = &state->options;
  bool finite = isfinite(options->scale);
  for (int i = 0; i < 3; i++)
    finite = finite && isfinite(options->mean[i]) && isfinite(options->std[i]);
  if (!finite)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "scale, mean and std must be finite numbers");
  if (path_count < 1)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "no file was given for input \"%s\"", state->input->name);
  return OXP_OK;
}

// Inputs without axes, or of a shape that the model does not tell, have no samples to be joined: one array, as it is.
static oxp_status input_read_whole(const input_state *state, const char *const *paths, int path_count, oxp_array *array,
                                   oxp_error *error)
{
  oxp_array from = { 0 };
  if (path_count != 1)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "input \"%s\" takes one array, %d files were given", state->input->name,
                     path_count);
  if (state->options.sources)
    oxp__sources_add_path(state->options.sources, paths[0]);
  OXP__TRY(input_read_array(state, paths[0], &from, error));
  oxp_status status = OXP_OK;
  if (state->input->rank == 0 && from.rank != 0)
    status = oxp__fail(error, OXP_BAD_ARGUMENT, "input \"%s\" is a single number, the array has %d axes",
                       state->input->name, from.rank);
  else
    status = input_convert(state, paths[0], &from, from.rank, from.shape, array, error);
  oxp_array_free(&from);
  return status == OXP_OK ? OXP_OK : oxp__at_file(error, status, paths[0]);
}

oxp_status oxp__input_read(const char *const *paths, int path_count, const oxp_value_info *input,
                           const oxp__input_options *options, oxp_array *array, oxp__text *notes, oxp_error *error)
{
  input_state state = { .input = input, .notes = notes };
  if (options)
    state.options = *options;
  oxp_status status = input_check(&state, path_count, error);
  if (status == OXP_OK && input->rank < 1)
    return input_read_whole(&state, paths, path_count, array, error);
  for (int i = 1; status == OXP_OK && i < input->rank; i++)
    state.sizes[i - 1] = input->shape[i];
  for (int i = 0; status == OXP_OK && i < path_count; i++)
    status = input_list(&state, paths[i], error);
  if (status == OXP_OK)
    status = input_read_files(&state, error);
  if (status == OXP_OK)
    status = input_join(&state, array, error);
  for (size_t i = 0; state.parts && i < state.file_count; i++)
    oxp_array_free(&state.parts[i]);
  oxp__arena_fini(&state.arena);
  return status;
}

// --- Looking ---

bool oxp__input_is_array(const char *path)
{
  unsigned char head[OXP__RESEMBLE_BYTES];
  size_t count = 0;
  return input_head(path, head, &count, NULL) && input_is_npy(head, count);
}

static oxp_status input_look_at_array(const char *path, oxp__input_sizes *sizes, oxp_error *error)
{
  oxp_array array = { 0 };
  OXP__TRY(oxp_array_read(path, &array, error));
  *sizes = (oxp__input_sizes){ .rank = array.rank };
  memcpy(sizes->shape, array.shape, sizeof array.shape);
  oxp_array_free(&array);
  return OXP_OK;
}

static oxp_status input_look_at_picture(const char *path, oxp__input_sizes *sizes, oxp_error *error)
{
  oxp__image image = { 0 };
  OXP__TRY(input_decode(path, &image, error));
  *sizes = (oxp__input_sizes){ .picture = true, .rank = 2, .shape = { image.height, image.width } };
  oxp__image_fini(&image);
  return OXP_OK;
}

oxp_status oxp__input_look(const char *path, oxp__input_sizes *sizes, oxp_error *error)
{
  input_state state = { 0 };
  unsigned char head[OXP__RESEMBLE_BYTES];
  size_t count = 0;
  oxp_status status = input_list(&state, path, error);
  if (status == OXP_OK && !input_head(state.files[0], head, &count, error))
    status = OXP_IO;
  if (status == OXP_OK)
    status = input_is_npy(head, count)           ? input_look_at_array(state.files[0], sizes, error)
             : oxp__image_recognise(head, count) ? input_look_at_picture(state.files[0], sizes, error)
                                                 : input_fail_other(head, count, error);
  oxp__arena_fini(&state.arena);
  return status;
}
