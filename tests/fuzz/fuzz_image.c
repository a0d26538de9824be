// Any bytes as a picture: decoded, every pixel looked at, and brought to another size.
#include <string.h>
#include <zlib.h>

#include "core/numbers.h"
#include "formats/containers/image.h"
#include "fuzz.h"

enum { PNG_SIGNATURE_BYTES = 8, PNG_CHUNK_BYTES = 12, RESIZED_PIXELS = 1 << 16 };

static uint32_t get_be32(const uint8_t *at)
{
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

// Gives every chunk of a PNG the checksum of its content, so that mutations reach what lies behind the checksums.
static void png_mend(uint8_t *data, size_t size)
{
  for (size_t at = PNG_SIGNATURE_BYTES; at < size && size - at >= PNG_CHUNK_BYTES;) {
    size_t length = get_be32(data + at);
    if (length > size - at - PNG_CHUNK_BYTES)
      return;
    uint8_t *end = data + at + 8 + length;
    uint32_t crc = (uint32_t)crc32(0, data + at + 4, (uInt)length + 4);
    for (int i = 0; i < 4; i++)
      end[i] = (uint8_t)(crc >> (24 - 8 * i));
    at += PNG_CHUNK_BYTES + length;
  }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
  oxp__random random = { seed };
  size = LLVMFuzzerMutate(data, size, max_size);
  if (oxp__random_range(&random, 0, 9) > 0)
    png_mend(data, size);
  return size;
}

static void look_at(const oxp__image *image)
{
  FUZZ_CHECK(image->width > 0 && image->height > 0 && image->rgb, "an image without pixels");
  volatile unsigned char last;
  for (size_t i = 0; i < (size_t)image->width * (size_t)image->height * 3; i++)
    last = image->rgb[i];
  (void)last;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  oxp_error error = { 0 };
  oxp__image image, other;
  oxp_status status = oxp__image_decode(data, size, &image, &error);
  fuzz_check_error(status, &error);
  FUZZ_CHECK(status != OXP_OK || oxp__image_recognise(data, size), "decoded, but not recognised");
  if (status != OXP_OK)
    return 0;
  look_at(&image);
  status = OXP_CANCELLED;
  if ((int64_t)image.width * image.height <= RESIZED_PIXELS) // the cost of more is time only
    status = oxp__image_resize(&image, 1 + (int)(size % 61), 1 + (int)(size % 37), &other, &error);
  oxp__image_fini(&image);
  if (status == OXP_OK) {
    look_at(&other);
    oxp__image_fini(&other);
  }
  return 0;
}
