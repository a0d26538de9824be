// sources.c: see sources.h. Place: core.
#include "core/sources.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "core/copy.h"
#include "core/numbers.h"

bool oxp__sources_hold(const oxp__sources *sources, uint64_t device, uint64_t inode)
{
  for (size_t i = 0; sources && i < sources->count; i++)
    if (sources->at[i].device == device && sources->at[i].inode == inode)
      return true;
  return false;
}

static void sources_add(oxp__sources *sources, uint64_t device, uint64_t inode)
{
  if (oxp__sources_hold(sources, device, inode))
    return;
  if (sources->count == sources->capacity) {
    size_t capacity = sources->capacity ? 2 * sources->capacity : 8, bytes;
    oxp__source *at = oxp__mul_size(capacity, sizeof *at, &bytes) ? realloc(sources->at, bytes) : NULL;
    if (!at) {
      sources->failed = true;
      return;
    }
    sources->at = at;
    sources->capacity = capacity;
  }
  sources->at[sources->count++] = (oxp__source){ device, inode };
}

void oxp__sources_add_path(oxp__sources *sources, const char *path)
{
  struct stat status;
  if (stat(path, &status) == 0)
    sources_add(sources, (uint64_t)status.st_dev, (uint64_t)status.st_ino);
}

static void sources_add_file(void *sources, const oxp__file *file)
{
  sources_add(sources, file->device, file->inode);
}

void oxp__sources_add_arena(oxp__sources *sources, const oxp__arena *arena)
{
  oxp__files_each(arena, sources_add_file, sources);
}

void oxp__sources_add_tensor(oxp__sources *sources, const oxp_tensor *tensor)
{
  if (tensor->extent)
    sources_add_file(sources, tensor->extent->file);
}

void oxp__sources_add_all(oxp__sources *sources, const oxp__sources *others)
{
  for (size_t i = 0; others && i < others->count; i++)
    sources_add(sources, others->at[i].device, others->at[i].inode);
  sources->failed |= others && others->failed;
}

void oxp__sources_fini(oxp__sources *sources)
{
  free(sources->at);
  *sources = (oxp__sources){ 0 };
}
