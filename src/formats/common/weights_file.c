// weights_file.c: a file of named arrays, for programs that describe a network themselves. Knows no layers. Place: formats/common.
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "core/resemble.h"
#include "formats/containers/npy.h"

struct oxp_weights {
  oxp__arena arena; // also owns the open file
  const char *path;
  int count;
  const char **names;
  oxp_tensor *tensors;
  oxp__names by_name; // each with its index
};

static oxp_status weights_make_room(oxp_weights *weights, size_t count, oxp_error *error)
{
  if (count > INT32_MAX)
    return oxp__fail(error, OXP_BAD_FILE, "the archive has %zu members, more than can be counted", count);
  weights->count = (int)count;
  weights->names = oxp__arena_new(&weights->arena, count, sizeof *weights->names);
  weights->tensors = oxp__arena_new(&weights->arena, count, sizeof *weights->tensors);
  return weights->names && weights->tensors ? OXP_OK : oxp__fail_memory(error, count * sizeof *weights->tensors);
}

static oxp_status weights_set(oxp_weights *weights, int index, const char *name, size_t name_length,
                              const oxp__npy *npy, oxp_error *error)
{
  bool added = false;
  weights->names[index] = oxp__arena_copy_bytes(&weights->arena, name, name_length);
  weights->tensors[index] = npy->tensor;
  weights->tensors[index].origin = weights->names[index];
  if (!weights->names[index] || !oxp__names_add(&weights->by_name, weights->names[index], (size_t)index, &added))
    return oxp__fail_memory(error, name_length);
  if (added)
    return OXP_OK;
  oxp__fail(error, OXP_BAD_FILE, "two members have this name, with and without .npy");
  return oxp__at_key(error, OXP_BAD_FILE, weights->names[index]);
}

static oxp_status weights_read_archive(oxp_weights *weights, oxp__file *file, oxp_error *error)
{
  oxp__zip *zip = NULL;
  oxp_status status = oxp__zip_open(&weights->arena, file, &zip, error);
  OXP__TRY(oxp__blame_resembling(file, "a zip archive", status, error));
  OXP__TRY(weights_make_room(weights, zip->member_count, error));
  for (int i = 0; i < weights->count; i++) {
    const oxp__zip_member *member = &zip->members[i];
    size_t length = strlen(member->name), suffix = strlen(".npy");
    if (length >= suffix && strcmp(member->name + length - suffix, ".npy") == 0)
      length -= suffix;
    oxp__npy npy;
    OXP__TRY(oxp__npy_open_member(&weights->arena, zip, member, &npy, error));
    OXP__TRY(weights_set(weights, i, member->name, length, &npy, error));
  }
  return OXP_OK;
}

// A single array, all of whose file is behind its read function.
static oxp_status weights_read_array(oxp_weights *weights, oxp__file *file, oxp_error *error)
{
  oxp__npy npy;
  oxp_extent *extent = oxp__arena_new(&weights->arena, 1, sizeof *extent);
  if (!extent)
    return oxp__fail_memory(error, sizeof *extent);
  OXP__TRY(oxp__npy_open(&weights->arena, oxp__file_read, file, file->size_bytes, &npy, error));
  *extent = (oxp_extent){ .file = file, .size_bytes = file->size_bytes };
  npy.tensor.extent = extent;
  OXP__TRY(weights_make_room(weights, 1, error));
  return weights_set(weights, 0, "", 0, &npy, error);
}

static oxp_status weights_read(oxp_weights *weights, const char *path, oxp_error *error)
{
  oxp__file *file = NULL;
  OXP__TRY(oxp__file_open(&weights->arena, path, &file, error));
  weights->path = file->path;
  char first = 0;
  OXP__TRY(oxp__file_read(file, 0, &first, 1, error));
  bool is_array = first == '\x93'; // what single arrays begin with
  return is_array ? weights_read_array(weights, file, error) : weights_read_archive(weights, file, error);
}

oxp_status oxp_weights_open(const char *path, oxp_weights **out, oxp_error *error)
{
  OXP__NEED(path, error);
  OXP__NEED(out, error);
  oxp_weights *weights = calloc(1, sizeof *weights);
  if (!weights)
    return oxp__fail_memory(error, sizeof *weights);
  weights->by_name.arena = &weights->arena;
  oxp_status status = weights_read(weights, path, error);
  if (status == OXP_OK) {
    *out = weights;
    return OXP_OK;
  }
  oxp_weights_free(weights);
  return oxp__at_file(error, status, path);
}

void oxp_weights_free(oxp_weights *weights)
{
  if (!weights)
    return;
  oxp__arena_fini(&weights->arena);
  free(weights);
}

int oxp_weights_count(const oxp_weights *weights)
{
  return weights ? weights->count : 0;
}

const char *oxp_weights_name(const oxp_weights *weights, int index)
{
  return weights && index >= 0 && index < weights->count ? weights->names[index] : NULL;
}

oxp_status oxp_weights_find(const oxp_weights *weights, const char *name, oxp_tensor *tensor, oxp_error *error)
{
  OXP__NEED(weights, error);
  OXP__NEED(name, error);
  OXP__NEED(tensor, error);
  const oxp__name *found = oxp__names_find(&weights->by_name, name);
  if (found) {
    *tensor = weights->tensors[found->number];
    return OXP_OK;
  }
  oxp__fail(error, OXP_BAD_FILE, "there is no array \"%s\" among the %d in the file", name, weights->count);
  return oxp__at_file(error, OXP_BAD_FILE, weights->path);
}
