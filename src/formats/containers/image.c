// image.c: see image.h. PNG through libpng, JPEG through TurboJPEG, resizing through stb. Does no file I/O.
// Place: formats/containers.
#include <png.h>
#include <setjmp.h>
#include <stb/stb_image_resize.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

#include "formats/containers/exif.h"
#include "formats/containers/image.h"

static const unsigned char image_png_signature[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };

static bool image_is_png(const void *bytes, size_t count)
{
  return count >= sizeof image_png_signature && memcmp(bytes, image_png_signature, sizeof image_png_signature) == 0;
}

static bool image_is_jpeg(const void *bytes, size_t count)
{
  return count >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0;
}

bool oxp__image_recognise(const void *bytes, size_t count)
{
  return image_is_png(bytes, count) || image_is_jpeg(bytes, count);
}

void oxp__image_fini(oxp__image *image)
{
  free(image->rgb);
  *image = (oxp__image){ 0 };
}

static bool image_is_allowed(int64_t width, int64_t height)
{
  return width > 0 && height > 0 && width <= OXP__IMAGE_MAX_SIDE && height <= OXP__IMAGE_MAX_SIDE &&
         width * height <= OXP__IMAGE_MAX_PIXELS;
}

// `channels` are those for which there is room: three, or four while a picture is read.
static oxp_status image_new(int64_t width, int64_t height, int channels, oxp__image *image, oxp_error *error)
{
  if (!image_is_allowed(width, height))
    return oxp__fail(error, OXP_UNSUPPORTED, "an image of %lld x %lld pixels; the limits are 1 to %d and %lld in all",
                     (long long)width, (long long)height, OXP__IMAGE_MAX_SIDE, (long long)OXP__IMAGE_MAX_PIXELS);
  size_t byte_count = (size_t)(width * height) * (size_t)channels;
  *image = (oxp__image){ .width = (int)width, .height = (int)height, .rgb = malloc(byte_count) };
  return image->rgb ? OXP_OK : oxp__fail_memory(error, byte_count);
}

// --- PNG ---

// Everything that must survive a jump out of libpng lives here, not in local variables.
typedef struct image_png {
  const unsigned char *bytes;
  size_t count, position;
  png_structp png;
  png_infop info;
  oxp__image *image;
  oxp_status status;
  oxp_error *error;
  jmp_buf stop;
} image_png;

static void image_png_fail(png_structp png, png_const_charp words)
{
  image_png *state = png_get_error_ptr(png);
  state->status = oxp__fail(state->error, OXP_BAD_FILE, "the PNG is damaged: %s", words);
  longjmp(state->stop, 1);
}

// Warnings are about chunks that do not matter for the pixels.
static void image_png_warn(png_structp png, png_const_charp words)
{
  (void)png;
  (void)words;
}

static void image_png_read(png_structp png, png_bytep to, size_t count)
{
  image_png *state = png_get_io_ptr(png);
  if (count > state->count - state->position)
    png_error(png, "the file ends too early");
  memcpy(to, state->bytes + state->position, count);
  state->position += count;
}

// Deflate packs at most 1032 bytes into one: a file that is too short for the size it announces is damaged, and no memory is
// spent on it.
static bool image_png_is_plausible(const image_png *state, int64_t width, int64_t height)
{
  int64_t bits = (int64_t)png_get_bit_depth(state->png, state->info) * png_get_channels(state->png, state->info);
  return (width * bits + 7) / 8 * height / 1032 <= (int64_t)state->count;
}

static oxp_status image_png_begin(image_png *state)
{
  png_set_read_fn(state->png, state, image_png_read);
  png_set_user_limits(state->png, 0x7fffffff, 0x7fffffff); // our own limit is on the product
  // Only what makes the pixels: profiles and texts would be given memory of the size that they announce.
  png_set_keep_unknown_chunks(state->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
  png_read_info(state->png, state->info);
  int64_t width = png_get_image_width(state->png, state->info);
  int64_t height = png_get_image_height(state->png, state->info);
  if (image_is_allowed(width, height) && !image_png_is_plausible(state, width, height))
    return oxp__fail(state->error, OXP_BAD_FILE, "the PNG is damaged: %lld x %lld pixels cannot be in %zu bytes",
                     (long long)width, (long long)height, state->count);
  OXP__TRY(image_new(width, height, 4, state->image, state->error));
  state->image->deep = png_get_bit_depth(state->png, state->info) == 16;
  return OXP_OK;
}

// Leaves the colours of pixels that came with an alpha channel, in place.
static void image_drop_alpha(oxp__image *image)
{
  size_t count = (size_t)image->width * (size_t)image->height;
  for (size_t i = 0; i < count; i++) {
    const unsigned char *pixel = image->rgb + i * 4;
    image->transparent = image->transparent || pixel[3] != 0xff;
    memmove(image->rgb + i * 3, pixel, 3);
  }
}

static void image_png_pixels(image_png *state)
{
  png_set_expand(state->png);
  png_set_strip_16(state->png);
  png_set_gray_to_rgb(state->png);
  png_set_add_alpha(state->png, 0xff, PNG_FILLER_AFTER);
  int passes = png_set_interlace_handling(state->png);
  png_read_update_info(state->png, state->info);
  size_t row_bytes = (size_t)state->image->width * 4;
  if (png_get_rowbytes(state->png, state->info) != row_bytes)
    png_error(state->png, "its rows have an unexpected length");
  for (int pass = 0; pass < passes; pass++)
    for (int y = 0; y < state->image->height; y++)
      png_read_row(state->png, state->image->rgb + (size_t)y * row_bytes, NULL);
  png_read_end(state->png, NULL);
  image_drop_alpha(state->image);
}

static void image_png_run(image_png *state)
{
  if (setjmp(state->stop) != 0)
    return; // image_png_fail has set the status
  state->status = image_png_begin(state);
  if (state->status == OXP_OK)
    image_png_pixels(state);
}

static oxp_status image_decode_png(const void *bytes, size_t count, oxp__image *image, oxp_error *error)
{
  image_png state = { .bytes = bytes, .count = count, .image = image, .error = error };
  state.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, image_png_fail, image_png_warn);
  state.info = state.png ? png_create_info_struct(state.png) : NULL;
  if (state.info)
    image_png_run(&state);
  else
    state.status = oxp__fail_memory(error, sizeof state);
  png_destroy_read_struct(&state.png, &state.info, NULL);
  return state.status;
}

// --- JPEG ---

// The kind of coding, from the second byte of the marker that starts the frame; 0 when there is none before the pixels.
static unsigned char image_jpeg_frame(const unsigned char *bytes, size_t count)
{
  oxp__jpeg_segment segment;
  for (size_t at = 2; oxp__jpeg_next(bytes, count, &at, &segment);) {
    unsigned char marker = segment.marker;
    if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc)
      return marker;
  }
  return 0;
}

// A Huffman code has at least one bit, and brightness, which is never stored at a lower resolution here, has one for the mean of every
// 8 x 8 pixels: a file that is too short for the size it announces is damaged, and no memory is spent on it.
static bool image_jpeg_is_plausible(int width, int height, size_t count)
{
  int64_t blocks = ((int64_t)width + 7) / 8 * (((int64_t)height + 7) / 8);
  return blocks / 8 <= (int64_t)count;
}

static oxp_status image_jpeg_run(tjhandle jpeg, const unsigned char *bytes, size_t count, oxp__image *image,
                                 oxp_error *error)
{
  int width = 0, height = 0, subsampling = 0, colours = 0;
  if (image_jpeg_frame(bytes, count) > 0xc8)
    return oxp__fail(error, OXP_UNSUPPORTED, "the JPEG is coded arithmetically; only Huffman's coding is read");
  if (tjDecompressHeader3(jpeg, bytes, (unsigned long)count, &width, &height, &subsampling, &colours) != 0)
    return oxp__fail(error, OXP_BAD_FILE, "the JPEG is damaged: %s", tjGetErrorStr2(jpeg));
  if (width < 1 || height < 1)
    return oxp__fail(error, OXP_BAD_FILE, "the JPEG is damaged: it holds no picture");
  if (colours == TJCS_CMYK || colours == TJCS_YCCK)
    return oxp__fail(error, OXP_UNSUPPORTED, "the JPEG has printing colours (CMYK); only RGB and grey can be used");
  if (image_is_allowed(width, height) && !image_jpeg_is_plausible(width, height, count))
    return oxp__fail(error, OXP_BAD_FILE, "the JPEG is damaged: %d x %d pixels cannot be in %zu bytes", width, height,
                     count);
  OXP__TRY(image_new(width, height, 3, image, error));
  if (tjDecompress2(jpeg, bytes, (unsigned long)count, image->rgb, width, 0, height, TJPF_RGB,
                    TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS) != 0)
    return oxp__fail(error, OXP_BAD_FILE, "the JPEG is damaged: %s", tjGetErrorStr2(jpeg));
  return OXP_OK;
}

static oxp_status image_decode_jpeg(const void *bytes, size_t count, oxp__image *image, oxp_error *error)
{
  tjhandle jpeg = tjInitDecompress();
  if (!jpeg)
    return oxp__fail_memory(error, count);
  oxp_status status = image_jpeg_run(jpeg, bytes, count, image, error);
  tjDestroy(jpeg);
  return status;
}

// --- Orientation ---

// Turns and mirrors the pixels as Exif's orientation says, 1 to 8: which place in the stored picture each pixel comes from.
static oxp_status image_orient(oxp__image *image, int orientation, oxp_error *error)
{
  bool swaps = orientation >= 5; // rows become columns
  bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  oxp__image turned = { 0 };
  if (orientation == 1)
    return OXP_OK;
  int width = swaps ? image->height : image->width, height = swaps ? image->width : image->height;
  OXP__TRY(image_new(width, height, 3, &turned, error));
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      int column = swaps ? y : x, row = swaps ? x : y;
      column = from_right ? image->width - 1 - column : column;
      row = from_below ? image->height - 1 - row : row;
      memcpy(turned.rgb + ((size_t)y * (size_t)width + (size_t)x) * 3,
             image->rgb + ((size_t)row * (size_t)image->width + (size_t)column) * 3, 3);
    }
  turned.transparent = image->transparent;
  turned.deep = image->deep;
  oxp__image_fini(image);
  *image = turned;
  return OXP_OK;
}

oxp_status oxp__image_decode(const void *bytes, size_t count, oxp__image *image, oxp_error *error)
{
  *image = (oxp__image){ 0 };
  oxp_status status = OXP_OK;
  if (image_is_png(bytes, count))
    status = image_decode_png(bytes, count, image, error);
  else if (image_is_jpeg(bytes, count))
    status = image_decode_jpeg(bytes, count, image, error);
  else
    status = oxp__fail(error, OXP_BAD_FILE, "this is neither a PNG nor a JPEG image");
  if (status == OXP_OK)
    status = image_orient(image, oxp__exif_orientation(bytes, count), error);
  if (status != OXP_OK)
    oxp__image_fini(image);
  return status;
}

// --- Resizing ---

oxp_status oxp__image_resize(const oxp__image *from, int width, int height, oxp__image *to, oxp_error *error)
{
  OXP__TRY(image_new(width, height, 3, to, error));
  if (width == from->width && height == from->height) {
    memcpy(to->rgb, from->rgb, (size_t)width * (size_t)height * 3);
    return OXP_OK;
  }
  if (stbir_resize_uint8(from->rgb, from->width, from->height, 0, to->rgb, width, height, 0, 3))
    return OXP_OK;
  oxp__image_fini(to);
  return oxp__fail(error, OXP_NO_MEMORY, "memory ran out while an image was resized to %d x %d", width, height);
}
