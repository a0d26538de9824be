// image_absent.c: see image.h. Takes the place of image.c in a build without libpng, TurboJPEG and stb (OXP_MINIMAL): no file
// is a picture then. Place: formats/containers.
#include <stdlib.h>

#include "formats/containers/image.h"

static oxp_status image_fail(oxp_error *error)
{
  return oxp__fail(error, OXP_NOT_AVAILABLE, "this build of onnxport reads no pictures");
}

bool oxp__image_recognise(const void *bytes, size_t count)
{
  (void)bytes;
  (void)count;
  return false;
}

oxp_status oxp__image_decode(const void *bytes, size_t count, oxp__image *image, oxp_error *error)
{
  (void)bytes;
  (void)count;
  *image = (oxp__image){ 0 };
  return image_fail(error);
}

oxp_status oxp__image_resize(const oxp__image *from, int width, int height, oxp__image *to, oxp_error *error)
{
  (void)from;
  (void)width;
  (void)height;
  *to = (oxp__image){ 0 };
  return image_fail(error);
}

void oxp__image_fini(oxp__image *image)
{
  free(image->rgb);
  *image = (oxp__image){ 0 };
}
