// Pictures: what is decoded equals what was encoded; damaged and lying files are refused within bounds.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <png.h>
#include <turbojpeg.h>
#include <zlib.h>

#include "formats/containers/exif.h"
#include "formats/containers/image.h"

#define WIDTH  20
#define HEIGHT 12

// A picture with structure: gradients and a hard edge.
static void paint(unsigned char *rgb)
{
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) {
      unsigned char *pixel = rgb + (y * WIDTH + x) * 3;
      pixel[0] = (unsigned char)(x * 12);
      pixel[1] = (unsigned char)(y * 20);
      pixel[2] = x < WIDTH / 2 ? 0 : 255;
    }
}

typedef struct bytes {
  unsigned char *at;
  size_t count;
} bytes;

// Pixels in one of libpng's simple formats to a PNG in memory.
static bytes make_png(png_uint_32 format, const void *pixels)
{
  png_image image = { .version = PNG_IMAGE_VERSION, .width = WIDTH, .height = HEIGHT, .format = format };
  png_alloc_size_t count = 0;
  assert_true(png_image_write_to_memory(&image, NULL, &count, 0, pixels, 0, NULL));
  bytes made = { .at = malloc(count), .count = count };
  assert_true(png_image_write_to_memory(&image, made.at, &count, 0, pixels, 0, NULL));
  return made;
}

static bytes make_jpeg(int pixel_format, int subsampling, const unsigned char *pixels, int flags)
{
  tjhandle jpeg = tjInitCompress();
  unsigned char *at = NULL;
  unsigned long count = 0;
  assert_int_equal(tjCompress2(jpeg, pixels, WIDTH, 0, HEIGHT, pixel_format, &at, &count, subsampling, 95, flags), 0);
  bytes made = { .at = malloc(count), .count = count };
  memcpy(made.at, at, count);
  tjFree(at);
  tjDestroy(jpeg);
  return made;
}

static oxp_status decode(const bytes *from, oxp__image *image, oxp_error *error)
{
  assert_true(oxp__image_recognise(from->at, from->count));
  oxp_status status = oxp__image_decode(from->at, from->count, image, error);
  assert_true((status == OXP_OK) == (image->rgb != NULL));
  return status;
}

static void decode_all(bytes *from, oxp__image *image)
{
  oxp_error error = { 0 };
  if (decode(from, image, &error) != OXP_OK)
    fail_msg("%s", error.message);
  free(from->at);
}

// --- PNG ---

static void rgb_pixels_come_back(void **state)
{
  (void)state;
  unsigned char rgb[WIDTH * HEIGHT * 3];
  paint(rgb);
  bytes png = make_png(PNG_FORMAT_RGB, rgb);
  oxp__image image;
  decode_all(&png, &image);
  assert_int_equal(image.width, WIDTH);
  assert_int_equal(image.height, HEIGHT);
  assert_memory_equal(image.rgb, rgb, sizeof rgb);
  oxp__image_fini(&image);
}

static void transparency_is_dropped(void **state)
{
  (void)state;
  unsigned char rgb[WIDTH * HEIGHT * 3], rgba[WIDTH * HEIGHT * 4];
  paint(rgb);
  for (int i = 0; i < WIDTH * HEIGHT; i++) {
    memcpy(rgba + i * 4, rgb + i * 3, 3);
    rgba[i * 4 + 3] = (unsigned char)i;
  }
  bytes png = make_png(PNG_FORMAT_RGBA, rgba);
  oxp__image image;
  decode_all(&png, &image);
  assert_memory_equal(image.rgb, rgb, sizeof rgb);
  oxp__image_fini(&image);
}

static void what_is_not_in_the_pixels_is_known(void **state)
{
  (void)state;
  unsigned char rgba[WIDTH * HEIGHT * 4];
  uint16_t deep[WIDTH * HEIGHT * 3];
  memset(rgba, 0xff, sizeof rgba);
  for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
    deep[i] = (uint16_t)(i * 77);
  oxp__image image;
  bytes png = make_png(PNG_FORMAT_RGBA, rgba); // an alpha channel that hides nothing is no transparency
  decode_all(&png, &image);
  assert_false(image.transparent || image.deep);
  oxp__image_fini(&image);
  rgba[WIDTH * HEIGHT * 4 - 1] = 0xfe;
  png = make_png(PNG_FORMAT_RGBA, rgba);
  decode_all(&png, &image);
  assert_true(image.transparent);
  oxp__image_fini(&image);
  png = make_png(PNG_FORMAT_LINEAR_RGB, deep);
  decode_all(&png, &image);
  assert_true(image.deep && !image.transparent);
  for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
    assert_int_equal(image.rgb[i], deep[i] >> 8);
  oxp__image_fini(&image);
}

static void grey_becomes_three_equal_channels(void **state)
{
  (void)state;
  unsigned char grey[WIDTH * HEIGHT];
  for (int i = 0; i < WIDTH * HEIGHT; i++)
    grey[i] = (unsigned char)i;
  bytes png = make_png(PNG_FORMAT_GRAY, grey);
  oxp__image image;
  decode_all(&png, &image);
  for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
    assert_int_equal(image.rgb[i], grey[i / 3]);
  oxp__image_fini(&image);
}

// Every shorter file is damaged: no prefix of a picture passes for one.
static void a_png_that_ends_early_is_refused(void **state)
{
  (void)state;
  unsigned char rgb[WIDTH * HEIGHT * 3];
  paint(rgb);
  bytes png = make_png(PNG_FORMAT_RGB, rgb);
  for (size_t count = 8; count < png.count; count++) {
    // A copy of exactly that many bytes, so that reading further is noticed.
    bytes part = { .at = malloc(count), .count = count };
    memcpy(part.at, png.at, count);
    oxp__image image;
    oxp_error error = { 0 };
    assert_int_equal(decode(&part, &image, &error), OXP_BAD_FILE);
    assert_non_null(strstr(error.message, "PNG is damaged"));
    free(part.at);
  }
  free(png.at);
}

// Any one changed byte: refused, or (outside of what a checksum covers) decoded; never a crash.
static void changed_bytes_do_no_harm(void **state)
{
  (void)state;
  unsigned char rgb[WIDTH * HEIGHT * 3];
  paint(rgb);
  bytes files[] = { make_png(PNG_FORMAT_RGB, rgb), make_jpeg(TJPF_RGB, TJSAMP_420, rgb, 0),
                    make_jpeg(TJPF_RGB, TJSAMP_444, rgb, TJFLAG_PROGRESSIVE) };
  int refused = 0;
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    for (size_t at = 8; at < files[i].count; at++)
      for (int bit = 0; bit < 8; bit += 3) {
        files[i].at[at] ^= (unsigned char)(1 << bit);
        oxp__image image;
        refused += decode(&files[i], &image, NULL) != OXP_OK;
        oxp__image_fini(&image);
        files[i].at[at] ^= (unsigned char)(1 << bit);
      }
    free(files[i].at);
  }
  assert_true(refused > 100);
}

static void put_u32(unsigned char *at, uint32_t value)
{
  for (int i = 0; i < 4; i++)
    at[i] = (unsigned char)(value >> (24 - 8 * i));
}

// A PNG that announces a size in a header with the right checksum.
static bytes make_lying_png(uint32_t width, uint32_t height)
{
  unsigned char rgb[WIDTH * HEIGHT * 3] = { 0 };
  bytes png = make_png(PNG_FORMAT_RGB, rgb);
  put_u32(png.at + 16, width);
  put_u32(png.at + 20, height);
  uint32_t crc = 0xffffffff;
  for (int i = 12; i < 29; i++) {
    crc ^= png.at[i];
    for (int bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  put_u32(png.at + 29, ~crc);
  return png;
}

static void assert_png_refused(uint32_t width, uint32_t height, oxp_status expected, const char *words)
{
  bytes png = make_lying_png(width, height);
  oxp__image image;
  oxp_error error = { 0 };
  oxp_status status = decode(&png, &image, &error);
  if (status != expected || !strstr(error.message, words))
    fail_msg("%s, and \"%s\" is not in: %s", oxp_status_name(status), words, error.message);
  free(png.at);
}

static void announced_sizes_are_not_believed(void **state)
{
  (void)state;
  assert_png_refused(65535, 65535, OXP_UNSUPPORTED, "65535 x 65535"); // above the limit
  assert_png_refused(70000, 1, OXP_UNSUPPORTED, "70000 x 1");         // a side above the limit
  assert_png_refused(8000, 8000, OXP_BAD_FILE, "cannot be in");       // below it, but not in so few bytes
  assert_png_refused(0, 5, OXP_BAD_FILE, "damaged");
}

// --- Orientation ---

// A TIFF file that says an orientation, as cameras put it into pictures, in either byte order.
static size_t make_tiff(unsigned char tiff[26], int orientation, bool big_endian)
{
  static const unsigned char little[] = "II*\0\10\0\0\0\1\0\22\1\3\0\1\0\0\0\0\0\0\0\0\0\0";
  static const unsigned char big[] = "MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\0\0\0\0\0\0";
  memcpy(tiff, big_endian ? big : little, 26);
  tiff[big_endian ? 19 : 18] = (unsigned char)orientation;
  return 26;
}

static void put_be(unsigned char *at, size_t number, int count)
{
  for (int i = 0; i < count; i++)
    at[i] = (unsigned char)(number >> 8 * (count - 1 - i));
}

// Puts `count` bytes into a file at `at`, in place.
static unsigned char *open_gap(bytes *file, size_t at, size_t count)
{
  unsigned char *wider = malloc(file->count + count);
  memcpy(wider, file->at, at);
  memcpy(wider + at + count, file->at + at, file->count - at);
  free(file->at);
  *file = (bytes){ .at = wider, .count = file->count + count };
  return wider + at;
}

static void put_exif_into_png(bytes *png, const unsigned char *tiff, size_t count)
{
  unsigned char *chunk = open_gap(png, 33, count + 12); // behind the signature and the head
  put_be(chunk, count, 4);
  memcpy(chunk + 4, "eXIf", 4);
  memcpy(chunk + 8, tiff, count);
  put_be(chunk + 8 + count, crc32_z(0, chunk + 4, count + 4), 4);
}

static void put_exif_into_jpeg(bytes *jpeg, const unsigned char *tiff, size_t count)
{
  unsigned char *segment = open_gap(jpeg, 2, count + 10);
  memcpy(segment, "\xff\xe1", 2);
  put_be(segment + 2, count + 8, 2);
  memcpy(segment + 4, "Exif\0", 6);
  memcpy(segment + 10, tiff, count);
}

static bytes make_small_png(const char *letters, int width, int height)
{
  png_image image = {
    .version = PNG_IMAGE_VERSION, .width = (png_uint_32)width, .height = (png_uint_32)height, .format = PNG_FORMAT_GRAY
  };
  png_alloc_size_t count = 0;
  assert_true(png_image_write_to_memory(&image, NULL, &count, 0, letters, 0, NULL));
  bytes made = { .at = malloc(count), .count = count };
  assert_true(png_image_write_to_memory(&image, made.at, &count, 0, letters, 0, NULL));
  return made;
}

static void pictures_are_turned_as_exif_says(void **state)
{
  (void)state;
  static const struct {
    const char *seen; // what was stored as abc over def
    int width;
  } rows[] = { { "abcdef", 3 }, { "abcdef", 3 }, { "cbafed", 3 }, { "fedcba", 3 }, { "defabc", 3 }, { "adbecf", 2 },
               { "daebfc", 2 }, { "fcebda", 2 }, { "cfbead", 2 }, { "abcdef", 3 }, { "abcdef", 3 } };
  for (int i = 0; i < 22; i++) { // 0, 9 and 10 are none
    unsigned char tiff[26];
    bytes png = make_small_png("abcdef", 3, 2);
    put_exif_into_png(&png, tiff, make_tiff(tiff, i / 2, i % 2));
    oxp__image image;
    decode_all(&png, &image);
    assert_int_equal(image.width, rows[i / 2].width);
    assert_int_equal(image.height, 6 / rows[i / 2].width);
    for (int pixel = 0; pixel < 6; pixel++)
      assert_int_equal(image.rgb[pixel * 3], rows[i / 2].seen[pixel]);
    oxp__image_fini(&image);
  }
}

static void a_jpeg_is_turned_too(void **state)
{
  (void)state;
  unsigned char rgb[WIDTH * HEIGHT * 3], tiff[26];
  paint(rgb);
  bytes plain = make_jpeg(TJPF_RGB, TJSAMP_444, rgb, 0), turned = make_jpeg(TJPF_RGB, TJSAMP_444, rgb, 0);
  put_exif_into_jpeg(&turned, tiff, make_tiff(tiff, 6, true));
  oxp__image a, b;
  decode_all(&plain, &a);
  decode_all(&turned, &b);
  assert_int_equal(b.width, HEIGHT);
  assert_int_equal(b.height, WIDTH);
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++)
      assert_memory_equal(a.rgb + (y * WIDTH + x) * 3, b.rgb + (x * HEIGHT + (HEIGHT - 1 - y)) * 3, 3);
  oxp__image_fini(&a);
  oxp__image_fini(&b);
}

// Whatever stands in place of an orientation does no harm: cut off anywhere, and with every byte changed.
static void damaged_exif_is_no_orientation(void **state)
{
  (void)state;
  unsigned char tiff[26];
  for (int i = 0; i < 2 * 27; i++) {
    size_t count = make_tiff(tiff, 6, i % 2);
    bytes png = make_small_png("abcdef", 3, 2), jpeg = { .at = malloc(2), .count = 2 };
    memcpy(jpeg.at, "\xff\xd8", 2);
    put_exif_into_png(&png, tiff, (size_t)i / 2);
    put_exif_into_jpeg(&jpeg, tiff, (size_t)i / 2);
    assert_int_equal(oxp__exif_orientation(png.at, png.count), (size_t)i / 2 < 22 ? 1 : 6);
    assert_int_equal(oxp__exif_orientation(jpeg.at, jpeg.count), (size_t)i / 2 < 22 ? 1 : 6);
    for (size_t cut = 0; cut < jpeg.count; cut++) {
      unsigned char *part = malloc(cut ? cut : 1); // so that a byte too many is seen
      memcpy(part, jpeg.at, cut);
      assert_int_equal(oxp__exif_orientation(part, cut), 1);
      free(part);
    }
    for (size_t at = 0; at < count; at++)
      for (int value = 0; value < 256; value += 15) {
        int orientation = oxp__exif_orientation(jpeg.at, jpeg.count);
        if ((size_t)i / 2 > at)
          jpeg.at[12 + at] ^= (unsigned char)value;
        assert_in_range(orientation, 1, 8);
      }
    free(png.at);
    free(jpeg.at);
  }
}

// --- JPEG ---

static int farthest(const unsigned char *a, const unsigned char *b, int count)
{
  int most = 0;
  for (int i = 0; i < count; i++)
    if (abs(a[i] - b[i]) > most)
      most = abs(a[i] - b[i]);
  return most;
}

static void a_jpeg_is_near_its_source(void **state)
{
  (void)state;
  unsigned char rgb[WIDTH * HEIGHT * 3];
  paint(rgb);
  for (int flags = 0; flags <= TJFLAG_PROGRESSIVE; flags += TJFLAG_PROGRESSIVE) {
    bytes jpeg = make_jpeg(TJPF_RGB, TJSAMP_444, rgb, flags);
    oxp__image image;
    decode_all(&jpeg, &image);
    assert_int_equal(image.width, WIDTH);
    assert_int_equal(image.height, HEIGHT);
    assert_true(farthest(image.rgb, rgb, (int)sizeof rgb) < 30);
    oxp__image_fini(&image);
  }
}

static void a_grey_jpeg_has_equal_channels(void **state)
{
  (void)state;
  unsigned char grey[WIDTH * HEIGHT];
  memset(grey, 77, sizeof grey);
  bytes jpeg = make_jpeg(TJPF_GRAY, TJSAMP_GRAY, grey, 0);
  oxp__image image;
  decode_all(&jpeg, &image);
  for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
    assert_int_equal(image.rgb[i], 77);
  oxp__image_fini(&image);
}

static void printing_colours_are_refused(void **state)
{
  (void)state;
  unsigned char cmyk[WIDTH * HEIGHT * 4] = { 0 };
  bytes jpeg = make_jpeg(TJPF_CMYK, TJSAMP_444, cmyk, 0);
  oxp__image image;
  oxp_error error = { 0 };
  assert_int_equal(decode(&jpeg, &image, &error), OXP_UNSUPPORTED);
  assert_non_null(strstr(error.message, "CMYK"));
  free(jpeg.at);
}

static void a_jpeg_that_ends_early_is_refused(void **state)
{
  (void)state;
  unsigned char rgb[WIDTH * HEIGHT * 3];
  paint(rgb);
  bytes jpeg = make_jpeg(TJPF_RGB, TJSAMP_444, rgb, 0);
  for (size_t count = 4; count + 2 < jpeg.count; count++) { // the end marker alone may be missing
    bytes part = { .at = malloc(count), .count = count };
    memcpy(part.at, jpeg.at, count);
    oxp__image image;
    oxp_error error = { 0 };
    oxp_status status = decode(&part, &image, &error);
    if (status != OXP_BAD_FILE || !strstr(error.message, "JPEG is damaged"))
      fail_msg("the first %zu of %zu bytes: %s %s", count, jpeg.count, oxp_status_name(status), error.message);
    free(part.at);
  }
  free(jpeg.at);
}

// Puts other bytes where the frame begins, `skip` bytes behind its marker.
static void change_frame(bytes *jpeg, size_t skip, const void *with, size_t count)
{
  for (size_t i = 2; i + 9 < jpeg->count; i++)
    if (jpeg->at[i] == 0xff && jpeg->at[i + 1] == 0xc0) {
      memcpy(jpeg->at + i + skip, with, count);
      return;
    }
  fail();
}

static void assert_jpeg_refused(size_t skip, const void *with, size_t count, oxp_status expected, const char *words)
{
  unsigned char rgb[WIDTH * HEIGHT * 3];
  paint(rgb);
  bytes jpeg = make_jpeg(TJPF_RGB, TJSAMP_444, rgb, 0);
  change_frame(&jpeg, skip, with, count);
  oxp__image image;
  oxp_error error = { 0 };
  oxp_status status = decode(&jpeg, &image, &error);
  if (status != expected || !strstr(error.message, words))
    fail_msg("%s, and \"%s\" is not in: %s", oxp_status_name(status), words, error.message);
  free(jpeg.at);
}

static void a_jpeg_is_not_believed(void **state)
{
  (void)state;
  assert_jpeg_refused(5, "\xff\x00\xff\x00", 4, OXP_UNSUPPORTED, "65280 x 65280");          // height, width
  assert_jpeg_refused(5, "\x1f\xff\x1f\xff", 4, OXP_BAD_FILE, "8191 x 8191 pixels cannot"); // below the limit
  assert_jpeg_refused(1, "\xc9", 1, OXP_UNSUPPORTED, "arithmetic");
  assert_jpeg_refused(1, "\xca", 1, OXP_UNSUPPORTED, "arithmetic");
}

// The least that an image can take: one colour, one bit for every block.
static void a_plain_jpeg_is_believed(void **state)
{
  (void)state;
  enum { SIDE = 2041 };
  unsigned char *black = calloc(SIDE, SIDE * 3);
  static const int subsampling[] = { TJSAMP_GRAY, TJSAMP_420, TJSAMP_411, TJSAMP_440 };
  for (int i = 0; i < 8; i++) {
    tjhandle jpeg = tjInitCompress();
    unsigned char *at = NULL;
    unsigned long count = 0;
    assert_int_equal(tjCompress2(jpeg, black, SIDE, 0, SIDE, TJPF_RGB, &at, &count, subsampling[i / 2], 1,
                                 i % 2 ? TJFLAG_PROGRESSIVE : 0),
                     0);
    oxp__image image;
    oxp_error error = { 0 };
    if (oxp__image_decode(at, count, &image, &error) != OXP_OK)
      fail_msg("%lu bytes: %s", count, error.message);
    oxp__image_fini(&image);
    tjFree(at);
    tjDestroy(jpeg);
  }
  free(black);
}

// --- Others ---

static void other_bytes_are_not_pictures(void **state)
{
  (void)state;
  oxp__image image;
  assert_false(oxp__image_recognise("", 0));
  assert_false(oxp__image_recognise("\x93NUMPY", 6));
  assert_int_equal(oxp__image_decode("GIF89a......", 12, &image, NULL), OXP_BAD_FILE);
}

static void resizing_keeps_what_is_plain(void **state)
{
  (void)state;
  unsigned char rgb[WIDTH * HEIGHT * 3];
  paint(rgb);
  oxp__image from = { .width = WIDTH, .height = HEIGHT, .rgb = rgb }, to;
  assert_int_equal(oxp__image_resize(&from, WIDTH, HEIGHT, &to, NULL), OXP_OK);
  assert_memory_equal(to.rgb, rgb, sizeof rgb);
  oxp__image_fini(&to);
  for (int i = 0; i < WIDTH * HEIGHT; i++)
    memcpy(rgb + i * 3, "\x0a\x64\xc8", 3);
  assert_int_equal(oxp__image_resize(&from, 7, 31, &to, NULL), OXP_OK);
  assert_int_equal(to.width, 7);
  assert_int_equal(to.height, 31);
  for (int i = 0; i < 7 * 31; i++)
    assert_memory_equal(to.rgb + i * 3, "\x0a\x64\xc8", 3);
  oxp__image_fini(&to);
  assert_int_equal(oxp__image_resize(&from, 0, 5, &to, NULL), OXP_UNSUPPORTED);
  assert_int_equal(oxp__image_resize(&from, 65535, 65535, &to, NULL), OXP_UNSUPPORTED);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(rgb_pixels_come_back),
    cmocka_unit_test(transparency_is_dropped),
    cmocka_unit_test(what_is_not_in_the_pixels_is_known),
    cmocka_unit_test(pictures_are_turned_as_exif_says),
    cmocka_unit_test(a_jpeg_is_turned_too),
    cmocka_unit_test(damaged_exif_is_no_orientation),
    cmocka_unit_test(grey_becomes_three_equal_channels),
    cmocka_unit_test(a_png_that_ends_early_is_refused),
    cmocka_unit_test(changed_bytes_do_no_harm),
    cmocka_unit_test(announced_sizes_are_not_believed),
    cmocka_unit_test(a_jpeg_is_near_its_source),
    cmocka_unit_test(a_grey_jpeg_has_equal_channels),
    cmocka_unit_test(printing_colours_are_refused),
    cmocka_unit_test(a_jpeg_that_ends_early_is_refused),
    cmocka_unit_test(a_jpeg_is_not_believed),
    cmocka_unit_test(a_plain_jpeg_is_believed),
    cmocka_unit_test(other_bytes_are_not_pictures),
    cmocka_unit_test(resizing_keeps_what_is_plain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
