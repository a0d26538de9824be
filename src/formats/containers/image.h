// image.h: PNG and JPEG files as 8-bit RGB pixels, and resizing. Knows nothing of networks. Nothing is trusted: sizes are
// checked against limits and against the bytes that are really there before anything is allocated. Place: formats/containers.
#ifndef OXP_FORMATS_CONTAINERS_IMAGE_H
#define OXP_FORMATS_CONTAINERS_IMAGE_H

#include "core/error.h"

// The largest image that is decoded or made: pixels in all, and on one side (the resizer counts in ints).
#define OXP__IMAGE_MAX_PIXELS INT64_C(67108864) // 64 Mi
#define OXP__IMAGE_MAX_SIDE   65535

// Rows from the top, pixels from the left, three bytes each: red, green, blue. No gaps.
typedef struct oxp__image {
  int width, height;
  unsigned char *rgb; // malloc; freed by oxp__image_fini
  // What of the file is not in the pixels.
  bool transparent; // some pixels were, wholly or in part: they have the colours stored under it
  bool deep;        // there were 16 bits for each channel, of which the upper 8 are left
} oxp__image;

// Does the file begin like a PNG or a JPEG?
bool oxp__image_recognise(const void *bytes, size_t count);

// Decodes a whole file in memory, and turns and mirrors it as its Exif orientation says. Pixel values as they are stored: no colour
// management, transparency dropped, 16 bits rounded down to 8, grey and palettes expanded. OXP_BAD_FILE for damage, also where a decoder could go on; OXP_UNSUPPORTED
// for images above the limit and for JPEG with arithmetic coding, whose length says nothing about its size.
oxp_status oxp__image_decode(const void *bytes, size_t count, oxp__image *image, oxp_error *error);

// Another size, stretched to fit; the same size gives the same pixels. *to is overwritten.
oxp_status oxp__image_resize(const oxp__image *from, int width, int height, oxp__image *to, oxp_error *error);

void oxp__image_fini(oxp__image *image);

#endif
