// Any bytes as a zip archive and as a NumPy array: directory, members, headers, element streams, texts.
#include "formats/containers/npy.h"
#include "fuzz.h"

enum { STREAM_LIMIT = 1 << 20 };

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
  return fuzz_mutate_archive(data, size, max_size, seed);
}

static void use_array(oxp__arena *arena, const oxp__npy *npy)
{
  oxp_error error = { 0 };
  char *text;
  if (npy->tensor.dtype == OXP_STRING) {
    fuzz_check_error(oxp__npy_read_text(arena, npy, STREAM_LIMIT, &text, &error), &error);
    return;
  }
  uint64_t bytes = oxp__tensor_bytes(&npy->tensor, OXP_DTYPE_NONE);
  if (bytes > STREAM_LIMIT)
    return;
  oxp__text plain = { 0 }, wide = { 0 };
  oxp_status status = oxp__tensor_stream(&npy->tensor, OXP_DTYPE_NONE,
                                         (oxp__sink){ .write = fuzz_collect, .context = &plain }, NULL, &error);
  fuzz_check_error(status, &error);
  FUZZ_CHECK(status != OXP_OK || plain.length == bytes, "a stream of another length than was announced");
  oxp__tensor_stats stats = { 0 };
  if (oxp__dtype_is_float(npy->tensor.dtype))
    (void)oxp__tensor_stream(&npy->tensor, OXP_FLOAT32, (oxp__sink){ .write = fuzz_collect, .context = &wide }, &stats,
                             NULL);
  oxp__text_fini(&plain);
  oxp__text_fini(&wide);
}

static void use_member(oxp__arena *arena, const oxp__zip *zip, const oxp__zip_member *member)
{
  oxp_error error = { 0 };
  char *bytes;
  size_t count;
  fuzz_check_error(oxp__zip_read_all(arena, zip, member, STREAM_LIMIT, &bytes, &count, &error), &error);
  oxp__npy npy;
  error = (oxp_error){ 0 };
  oxp_status status = oxp__npy_open_member(arena, zip, member, &npy, &error);
  fuzz_check_error(status, &error);
  if (status == OXP_OK)
    use_array(arena, &npy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  oxp__arena arena = { 0 };
  oxp_error error = { 0 };
  oxp__file *file;
  oxp__zip *zip;
  oxp__npy npy;
  FUZZ_CHECK(oxp__file_open(&arena, fuzz_file(data, size), &file, &error) == OXP_OK, error.message);
  if (size > 0 && data[0] == 0x93) {
    oxp_status status = oxp__npy_open(&arena, oxp__file_read, file, file->size_bytes, &npy, &error);
    fuzz_check_error(status, &error);
    if (status == OXP_OK)
      use_array(&arena, &npy);
  } else {
    oxp_status status = oxp__zip_open(&arena, file, &zip, &error);
    fuzz_check_error(status, &error);
    for (size_t i = 0; status == OXP_OK && i < zip->member_count && i < 64; i++)
      use_member(&arena, zip, &zip->members[i]);
  }
  oxp__arena_fini(&arena);
  return 0;
}
