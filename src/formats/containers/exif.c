// exif.c: see exif.h. The orientation is one entry of a small TIFF file inside the picture. Nothing is trusted: what
// does not lie inside the bytes is not there. Place: formats/containers.
#include "formats/containers/exif.h"

#include <stdint.h>
#include <string.h>

enum {
  JPEG_PIXELS = 0xda,
  JPEG_APP1 = 0xe1,
  PNG_SIGNATURE_BYTES = 8,
  PNG_CHUNK_BYTES = 12, // of a chunk without data
  TIFF_HEAD_BYTES = 8,
  TIFF_ENTRY_BYTES = 12,
  TIFF_BYTE = 1,
  TIFF_SHORT = 3,
  TIFF_LONG = 4,
  EXIF_ORIENTATION = 0x0112,
};

static uint32_t exif_number(const unsigned char *at, size_t size, bool big_endian)
{
  uint32_t number = 0;
  for (size_t i = 0; i < size; i++)
    number = number << 8 | at[big_endian ? i : size - 1 - i];
  return number;
}

// From the first directory of a TIFF file.
static int exif_from_tiff(const unsigned char *tiff, size_t count)
{
  bool big = count >= TIFF_HEAD_BYTES && memcmp(tiff, "MM\0*", 4) == 0;
  if (!big && (count < TIFF_HEAD_BYTES || memcmp(tiff, "II*\0", 4) != 0))
    return 1;
  size_t at = exif_number(tiff + 4, 4, big);
  if (at > count || count - at < 2)
    return 1;
  size_t entries = exif_number(tiff + at, 2, big);
  for (at += 2; entries > 0 && count - at >= TIFF_ENTRY_BYTES; at += TIFF_ENTRY_BYTES, entries--) {
    const unsigned char *entry = tiff + at;
    uint32_t type = exif_number(entry + 2, 2, big);
    size_t size = type == TIFF_BYTE ? 1 : type == TIFF_SHORT ? 2 : type == TIFF_LONG ? 4 : 0;
    if (exif_number(entry, 2, big) != EXIF_ORIENTATION || size == 0)
      continue;
    uint32_t orientation = exif_number(entry + 8, size, big);
    return orientation >= 1 && orientation <= 8 ? (int)orientation : 1;
  }
  return 1;
}

bool oxp__jpeg_next(const unsigned char *bytes, size_t count, size_t *at, oxp__jpeg_segment *segment)
{
  while (*at < count && count - *at >= 4 && bytes[*at] == 0xff && bytes[*at + 1] == 0xff)
    ++*at; // a byte to fill
  if (*at >= count || count - *at < 4 || bytes[*at] != 0xff || bytes[*at + 1] == JPEG_PIXELS)
    return false;
  size_t length = exif_number(bytes + *at + 2, 2, true), left = count - *at - 2;
  if (length < 2 || length > left)
    return false;
  *segment = (oxp__jpeg_segment){ bytes[*at + 1], bytes + *at + 4, length - 2 };
  *at += 2 + length;
  return true;
}

static int exif_from_jpeg(const unsigned char *bytes, size_t count)
{
  oxp__jpeg_segment segment;
  for (size_t at = 2; oxp__jpeg_next(bytes, count, &at, &segment);)
    if (segment.marker == JPEG_APP1 && segment.count >= 6 && memcmp(segment.content, "Exif\0\0", 6) == 0)
      return exif_from_tiff(segment.content + 6, segment.count - 6);
  return 1;
}

static int exif_from_png(const unsigned char *bytes, size_t count)
{
  for (size_t at = PNG_SIGNATURE_BYTES; at <= count && count - at >= PNG_CHUNK_BYTES;) {
    size_t length = exif_number(bytes + at, 4, true), left = count - at - PNG_CHUNK_BYTES;
    if (length > left)
      return 1;
    if (memcmp(bytes + at + 4, "eXIf", 4) == 0)
      return exif_from_tiff(bytes + at + 8, length);
    at += PNG_CHUNK_BYTES + length;
  }
  return 1;
}

int oxp__exif_orientation(const void *bytes, size_t count)
{
  bool is_jpeg = count >= 2 && memcmp(bytes, "\xff\xd8", 2) == 0;
  return is_jpeg ? exif_from_jpeg(bytes, count) : exif_from_png(bytes, count);
}
