// exif.h: which way up a picture is meant, from what a camera wrote into its JPEG or PNG file. Decodes no pixels. Place:
// formats/containers.
#ifndef OXP_FORMATS_CONTAINERS_EXIF_H
#define OXP_FORMATS_CONTAINERS_EXIF_H

#include <stdbool.h>
#include <stddef.h>

// Exif's orientation of a whole JPEG or PNG file in memory: 1 (as stored, also where nothing is said) to 8.
int oxp__exif_orientation(const void *bytes, size_t count);

// A part of a JPEG before its pixels.
typedef struct oxp__jpeg_segment {
  unsigned char marker;
  const unsigned char *content;
  size_t count;
} oxp__jpeg_segment;

// The segment at *at (2 for the first), which moves to the next one; false behind the last that is complete, and at the pixels.
bool oxp__jpeg_next(const unsigned char *bytes, size_t count, size_t *at, oxp__jpeg_segment *segment);

#endif
