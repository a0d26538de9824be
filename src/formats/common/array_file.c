// array_file.c: single arrays as .npy files. Place: formats/common.
#include "formats/common/array_file.h"

#include "core/resemble.h"
#include "formats/containers/npy.h"
#include "formats/format.h"

static oxp_status array_read(oxp__arena *arena, const char *path, oxp_array *array, uint64_t *rest_bytes,
                             oxp_error *error)
{
  oxp__file *file;
  oxp__npy npy;
  OXP__TRY(oxp__file_open(arena, path, &file, error));
  oxp_status status = oxp__npy_open(arena, oxp__file_read, file, file->size_bytes, &npy, error);
  OXP__TRY(oxp__blame_resembling(file, "a NumPy array", status, error));
  const oxp_tensor *tensor = &npy.tensor;
  *rest_bytes = npy.rest_bytes;
  if (oxp_dtype_bytes(tensor->dtype) == 0)
    return oxp__fail(error, OXP_BAD_FILE, "the array holds text ('%s'), not numbers", npy.descr);
  OXP__TRY(oxp_array_new(array, tensor->dtype, tensor->rank, tensor->shape, error));
  status = oxp__tensor_read(tensor, tensor->dtype, array->data, error);
  if (status != OXP_OK)
    oxp_array_free(array);
  return status;
}

oxp_status oxp__array_file_read(const char *path, oxp_array *array, uint64_t *rest_bytes, oxp_error *error)
{
  oxp__arena arena = { 0 };
  *array = (oxp_array){ 0 };
  oxp_status status = array_read(&arena, path, array, rest_bytes, error);
  oxp__arena_fini(&arena);
  return status == OXP_OK ? OXP_OK : oxp__at_file(error, status, path);
}

oxp_status oxp_array_read(const char *path, oxp_array *array, oxp_error *error)
{
  OXP__NEED(path, error);
  OXP__NEED(array, error);
  uint64_t rest_bytes;
  return oxp__array_file_read(path, array, &rest_bytes, error);
}

oxp_status oxp_array_write(const oxp_array *array, const char *path, oxp_error *error)
{
  OXP__NEED(array, error);
  OXP__NEED(path, error);
  return oxp__array_write(array, path, NULL, error);
}

oxp_status oxp__array_write(const oxp_array *array, const char *path, const oxp__output_guard *guard, oxp_error *error)
{
  oxp__output output = { 0 };
  OXP__TRY(oxp__output_open(&output, path, guard, error));
  oxp_tensor tensor = oxp__tensor_from_array(array);
  oxp_status status =
      oxp__npy_write(&tensor, OXP_DTYPE_NONE, (oxp__sink){ .write = oxp__output_write, .context = &output }, error);
  if (status == OXP_OK)
    return oxp__output_commit(&output, OXP_SYNC_AUTO, error);
  oxp__output_abort(&output);
  return oxp__at_file(error, status, path);
}
