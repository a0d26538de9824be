// external.c: see external.h. The data file's name holds a checksum of its content, and is not that of a file with other content:
// a model that refers to it cannot meet another model's data, whatever happens between the renaming of the two files. Place: onnx.
#include "onnx/external.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char external_suffix[] = ".data";
enum { EXTERNAL_DIGITS = 16 };

static uint64_t external_size(const oxp__tensor_proto *proto)
{
  uint64_t bytes = proto->has_tensor ? oxp__tensor_bytes(&proto->tensor, proto->as) : 0;
  return bytes >= OXP__EXTERNAL_LEAST_BYTES ? bytes : 0;
}

static uint64_t external_align(uint64_t offset)
{
  return (offset + OXP__EXTERNAL_ALIGNMENT - 1) / OXP__EXTERNAL_ALIGNMENT * OXP__EXTERNAL_ALIGNMENT;
}

uint64_t oxp__external_bytes(const oxp_graph *graph)
{
  const oxp__tensor_protos *list = &graph->model.graph->initializers;
  uint64_t end = 0;
  for (size_t i = 0; i < list->count; i++) {
    uint64_t bytes = external_size(list->at[i]);
    if (bytes > 0)
      end = external_align(end) + bytes;
  }
  return end;
}

// ---- Data ----

typedef struct external_crc {
  oxp__sink sink;
  uint32_t crc;
} external_crc;

static oxp_status external_write_chunk(void *context, const void *bytes, size_t count, oxp_error *error)
{
  external_crc *through = context;
  through->crc = libdeflate_crc32(through->crc, bytes, count);
  return through->sink.write(through->sink.context, bytes, count, error);
}

static oxp_status external_put(oxp__sink sink, const oxp__tensor_proto *proto, oxp__tensor_stats *stats,
                               oxp_error *error)
{
  if (oxp__copy_way_of(&proto->tensor, proto->as) == OXP__COPY_SPAN) // its checksum is that of the written bytes
    return sink.defer(sink.context, &proto->tensor, stats, error);
  external_crc through = { .sink = sink };
  oxp__sink counted = { .write = external_write_chunk, .context = &through, .beside = sink.beside };
  oxp_status status = oxp__tensor_stream(&proto->tensor, proto->as, counted, stats, error);
  stats->crc = through.crc;
  return status;
}

static oxp_status external_pad(oxp__target *data, oxp__sink sink, oxp_error *error)
{
  static const unsigned char zeros[OXP__EXTERNAL_ALIGNMENT];
  uint64_t at = data->output.written_bytes;
  return sink.write(sink.context, zeros, (size_t)(external_align(at) - at), error);
}

static oxp_status external_put_all(const oxp_graph *graph, oxp__target *data, oxp__tensor_stats *stats,
                                   uint64_t *offsets, oxp_error *error)
{
  const oxp__tensor_protos *list = &graph->model.graph->initializers;
  oxp__sink sink = oxp__target_sink(data);
  for (size_t i = 0; i < list->count; i++) {
    if (external_size(list->at[i]) == 0)
      continue;
    OXP__TRY(external_pad(data, sink, error));
    offsets[i] = data->output.written_bytes;
    oxp_status status = external_put(sink, list->at[i], &stats[i], error);
    if (status != OXP_OK)
      return oxp__at_key(error, status, list->at[i]->name ? list->at[i]->name : "");
  }
  OXP__TRY(sink.settle(sink.context, error));
  for (size_t i = 0; i < list->count; i++)
    oxp__graph_warn_tensor(graph, list->at[i], &stats[i]);
  return OXP_OK;
}

// FNV-1a over what identifies the content: each array's checksum, length and place.
static uint64_t external_hash(const oxp_graph *graph, const oxp__tensor_stats *stats, const uint64_t *offsets)
{
  const oxp__tensor_protos *list = &graph->model.graph->initializers;
  uint64_t hash = 0xCBF29CE484222325u;
  for (size_t i = 0; i < list->count; i++) {
    const uint64_t words[] = { stats[i].crc, external_size(list->at[i]), offsets[i] };
    for (size_t byte = 0; byte < 8 * sizeof words / sizeof words[0] && words[1] > 0; byte++)
      hash = (hash ^ (words[byte / 8] >> 8 * (byte % 8) & 0xFF)) * 0x100000001B3u;
  }
  return hash;
}

// ---- The model that refers to it ----

static oxp__pair *external_pair(oxp__arena *arena, const char *key, const char *value)
{
  oxp__pair *pair = oxp__arena_new(arena, 1, sizeof *pair);
  if (pair && value)
    *pair = (oxp__pair){ .key = key, .value = value };
  return value ? pair : NULL;
}

// A copy of the proto that refers to `bytes` at `offset` of the data file; NULL when memory is out.
static oxp__tensor_proto *external_reference(oxp__arena *arena, const oxp__tensor_proto *proto, const char *location,
                                             uint64_t offset, uint64_t bytes)
{
  oxp__tensor_proto *copy = oxp__arena_new(arena, 1, sizeof *copy);
  oxp__pair **pairs = oxp__arena_new(arena, 3, sizeof *pairs);
  if (!copy || !pairs)
    return NULL;
  pairs[0] = external_pair(arena, "location", location);
  pairs[1] = external_pair(arena, "offset", oxp__arena_printf(arena, "%" PRIu64, offset));
  pairs[2] = external_pair(arena, "length", oxp__arena_printf(arena, "%" PRIu64, bytes));
  *copy = *proto;
  copy->base.has &= ~(1u << OXP__TENSOR_RAW_DATA);
  copy->has_tensor = false;
  copy->data_location = OXP__TENSOR_EXTERNAL;
  copy->external.at = pairs;
  copy->external.count = copy->external.capacity = 3;
  return pairs[0] && pairs[1] && pairs[2] ? copy : NULL;
}

static oxp_status external_view(const oxp_graph *graph, const char *location, const uint64_t *offsets,
                                oxp__arena *arena, oxp_graph *view, oxp_error *error)
{
  const oxp__tensor_protos *list = &graph->model.graph->initializers;
  oxp__graph_proto *proto = oxp__arena_new(arena, 1, sizeof *proto);
  oxp__tensor_proto **at = oxp__arena_new(arena, list->count, sizeof *at);
  if (!proto || !at)
    return oxp__fail_memory(error, list->count * sizeof *at);
  for (size_t i = 0; i < list->count; i++) {
    uint64_t bytes = external_size(list->at[i]);
    at[i] = bytes ? external_reference(arena, list->at[i], location, offsets[i], bytes) : list->at[i];
    if (!at[i])
      return oxp__fail_memory(error, sizeof *at[i]);
  }
  *view = *graph;
  *proto = *graph->model.graph;
  view->model.graph = proto;
  proto->initializers.at = at;
  return OXP_OK;
}

static char *external_name_of(oxp__arena *arena, const char *model_name, uint64_t hash)
{
  return oxp__arena_printf(arena, "%s.%0*" PRIx64 "%s", model_name, EXTERNAL_DIGITS, hash, external_suffix);
}

oxp_status oxp__external_check_name(const char *model_path, oxp_error *error)
{
  oxp__arena arena = { 0 };
  struct stat status;
  char *path = external_name_of(&arena, model_path, 0);
  bool possible = path && (lstat(path, &status) == 0 || errno != ENAMETOOLONG);
  oxp_status failure = path ? OXP_OK : oxp__fail_memory(error, strlen(model_path));
  if (path && !possible)
    failure = oxp__fail_errno(error, path, "give the data file beside the model its name");
  oxp__arena_fini(&arena);
  return failure;
}

// Names the data file after its content. Where other content with the same checksums has that name, the next free one is taken.
static oxp_status external_name(oxp__target *data, const char *model_name, uint64_t hash, oxp__arena *arena,
                                const char **name, oxp_error *error)
{
  for (bool usable = false; !usable; hash++) {
    *name = external_name_of(arena, model_name, hash);
    if (!*name)
      return oxp__fail_memory(error, strlen(model_name));
    OXP__TRY(oxp__output_set_name(&data->output, *name, error));
    usable = !data->output.replaces;
    if (!usable && !data->output.is_source)
      OXP__TRY(oxp__output_compare(&data->output, &usable, error));
  }
  return OXP_OK;
}

oxp_status oxp__external_write(const oxp_graph *graph, oxp__target *data, oxp__arena *arena, oxp__external *external,
                               oxp_error *error)
{
  size_t count = graph->model.graph->initializers.count;
  oxp__tensor_stats *stats = oxp__arena_new(arena, count, sizeof *stats);
  external->offsets = oxp__arena_new(arena, count, sizeof *external->offsets);
  if (!stats || !external->offsets)
    return oxp__fail_memory(error, count * sizeof *stats);
  OXP__TRY(external_put_all(graph, data, stats, external->offsets, error));
  external->hash = external_hash(graph, stats, external->offsets);
  return OXP_OK;
}

oxp_status oxp__external_view(const oxp_graph *graph, oxp__target *data, const char *model_name, oxp__arena *arena,
                              oxp__external *external, oxp_graph *view, oxp_error *error)
{
  OXP__TRY(external_name(data, model_name, external->hash, arena, &external->name, error));
  return external_view(graph, external->name, external->offsets, arena, view, error);
}

// ---- Cleaning up ----

// True for MODEL.<16 hex digits>.data.
static bool external_is_data_of(const char *name, const char *model_name)
{
  size_t length = strlen(model_name);
  if (strncmp(name, model_name, length) != 0 || name[length] != '.')
    return false;
  name += length + 1;
  return strspn(name, "0123456789abcdef") == EXTERNAL_DIGITS && strcmp(name + EXTERNAL_DIGITS, external_suffix) == 0;
}

static void external_remove(int folder, const char *name, const oxp__sources *sources)
{
  struct stat status;
  if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      !oxp__sources_hold(sources, (uint64_t)status.st_dev, (uint64_t)status.st_ino))
    unlinkat(folder, name, 0);
}

void oxp__external_clean(const char *model_path, const char *keep, const oxp__sources *sources)
{
  const char *model_name = oxp__path_name(model_path);
  char *folder = model_name > model_path ? strndup(model_path, (size_t)(model_name - model_path)) : strdup(".");
  DIR *entries = folder ? opendir(folder) : NULL;
  for (const struct dirent *entry; entries && (entry = readdir(entries)) != NULL;)
    if (external_is_data_of(entry->d_name, model_name) && (!keep || strcmp(entry->d_name, keep) != 0))
      external_remove(dirfd(entries), entry->d_name, sources);
  if (entries)
    closedir(entries);
  free(folder);
}
