// external_locate.c: where the arrays of a model lie that are in other files, and whether they may be read from there.
// A model comes from
// anybody: what it names must not make a program open a file that does not belong to it. Opens nothing itself. Place:
// onnx.
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/file.h"
#include "core/numbers.h"
#include "onnx/check.h"
#include "onnx/external.h"

// --- What the model says ---

// A number as the format wants it: digits only. False for anything else, and above INT64_MAX, where no file reaches.
static bool locate_number(const char *text, uint64_t *number)
{
  *number = 0;
  for (const char *at = text; *at; at++) {
    if (*at < '0' || *at > '9' || *number > (uint64_t)(INT64_MAX - (*at - '0')) / 10)
      return false;
    *number = *number * 10 + (uint64_t)(*at - '0');
  }
  return *text;
}

enum { LOCATE_LOCATION, LOCATE_OFFSET, LOCATE_LENGTH, LOCATE_CHECKSUM, LOCATE_KEYS };

// Two values under one key would let two readers see two arrays, and other keys mean something to some runtimes only.
static oxp_status locate_pairs(const oxp__tensor_proto *proto, const char *values[LOCATE_KEYS], oxp_error *error)
{
  static const char *const keys[LOCATE_KEYS] = { [LOCATE_LOCATION] = "location",
                                                 [LOCATE_OFFSET] = "offset",
                                                 [LOCATE_LENGTH] = "length",
                                                 [LOCATE_CHECKSUM] = "checksum" };
  for (size_t i = 0; i < proto->external.count; i++) {
    const char *key = proto->external.at[i]->key ? proto->external.at[i]->key : "";
    int k = 0;
    while (k < LOCATE_KEYS && strcmp(keys[k], key) != 0)
      k++;
    if (k == LOCATE_KEYS)
      return oxp__fail(error, OXP_BAD_FILE, "its external data has the key \"%.60s\", which the format does not know",
                       key);
    if (values[k])
      return oxp__fail(error, OXP_BAD_FILE, "its external data has two values for \"%s\"", key);
    values[k] = proto->external.at[i]->value ? proto->external.at[i]->value : "";
  }
  return OXP_OK;
}

// False when the path leaves its folder, or is none.
static bool locate_stays_inside(const char *path)
{
  if (!*path || *path == '/')
    return false;
  for (const char *at = path; at; at = strchr(at, '/')) {
    at += *at == '/';
    if (strncmp(at, "..", 2) == 0 && (!at[2] || at[2] == '/'))
      return false;
  }
  return true;
}

static oxp_status locate_check_location(const char *location, oxp_error *error)
{
  if (!location)
    return oxp__fail(error, OXP_BAD_FILE, "its bytes are said to be in another file, which is not named");
  // ONNX Runtime's own marks "*/_ORT_MEM_ADDR_/*" and the like: the offset would be an address in its memory.
  if (strncmp(location, "*/", 2) == 0)
    return oxp__fail(error, OXP_BAD_FILE, "its data file \"%.200s\" is a runtime's mark for memory, not a file",
                     location);
  if (!locate_stays_inside(location))
    return oxp__fail(error, OXP_BAD_FILE, "its data file \"%.200s\" is not a path inside the model's folder", location);
  return OXP_OK;
}

static oxp_status locate_range(const oxp__tensor_proto *proto, const char *offset, const char *length,
                               oxp__external_place *place, oxp_error *error)
{
  uint64_t wanted = 0;
  bool known = oxp__tensor_proto_bytes(proto, &wanted);
  if (offset && !locate_number(offset, &place->offset))
    return oxp__fail(error, OXP_BAD_FILE, "the offset \"%.40s\" into its data file is not a size", offset);
  if (length && !locate_number(length, &place->bytes))
    return oxp__fail(error, OXP_BAD_FILE, "the length \"%.40s\" of its data is not a size", length);
  if (!length)
    place->bytes = wanted;
  if (known && place->bytes != wanted)
    return oxp__fail(error, OXP_BAD_FILE, "its data has %llu bytes, its dims and type %s need %llu",
                     (unsigned long long)place->bytes, oxp_dtype_name((oxp_dtype)proto->data_type),
                     (unsigned long long)wanted);
  return OXP_OK;
}

// --- What is there ---

// Whether `path` lies in the folder that another path lies in, or deeper; both are resolved.
static bool locate_is_beside(const char *path, const char *other)
{
  size_t folder = (size_t)(oxp__path_name(other) - other);
  return strncmp(path, other, folder) == 0;
}

// Where links lead is what counts: it must lie in the model's folder, as the path says or where the model's own links
// lead (caches of models keep model and data elsewhere and link to both).
static oxp_status locate_resolve(const char *model, const char *location, char *resolved, oxp_error *error)
{
  char folder[PATH_MAX + 1], real_model[PATH_MAX], words[128];
  char *named = oxp__path_beside(model, "."), *given = oxp__path_beside(model, location);
  bool found = named && given && realpath(named, folder) && realpath(model, real_model) && realpath(given, resolved);
  int code = named && given ? errno : ENOMEM;
  free(named);
  free(given);
  if (!found)
    return oxp__fail(error, code == ENOMEM ? OXP_NO_MEMORY : OXP_BAD_FILE,
                     "its data file \"%.200s\" cannot be found: %s", location,
                     oxp__errno_words(code, words, sizeof words));
  size_t length = strlen(folder);
  if (folder[length - 1] != '/') // there is room for one more than a path has
    memcpy(folder + length, "/", 2);
  if (!locate_is_beside(resolved, folder) && !locate_is_beside(resolved, real_model))
    return oxp__fail(error, OXP_BAD_FILE, "its data file \"%.200s\" is a link out of the model's folder", location);
  return OXP_OK;
}

static oxp_status locate_file(const char *model, const oxp__external_place *place, oxp_error *error)
{
  char path[PATH_MAX], words[128];
  struct stat status;
  OXP__TRY(locate_resolve(model, place->location, path, error));
  if (stat(path, &status) != 0)
    return oxp__fail(error, OXP_BAD_FILE, "its data file \"%.200s\" cannot be looked at: %s", place->location,
                     oxp__errno_words(errno, words, sizeof words));
  if (!S_ISREG(status.st_mode))
    return oxp__fail(error, OXP_BAD_FILE, "its data file \"%.200s\" is not a regular file", place->location);
  uint64_t size = (uint64_t)status.st_size;
  if (place->offset > size || place->bytes > size - place->offset)
    return oxp__fail(error, OXP_BAD_FILE, "its data file \"%.200s\" has %llu bytes, %llu from byte %llu on are needed",
                     place->location, (unsigned long long)size, (unsigned long long)place->bytes,
                     (unsigned long long)place->offset);
  return OXP_OK;
}

oxp_status oxp__external_locate(const oxp_graph *graph, const oxp__tensor_proto *proto, oxp__external_place *place,
                                oxp_error *error)
{
  const char *values[LOCATE_KEYS] = { 0 }, *model = oxp__graph_path(graph);
  OXP__TRY(locate_pairs(proto, values, error));
  OXP__TRY(locate_check_location(values[LOCATE_LOCATION], error));
  *place = (oxp__external_place){ .location = values[LOCATE_LOCATION] };
  OXP__TRY(locate_range(proto, values[LOCATE_OFFSET], values[LOCATE_LENGTH], place, error));
  return model ? locate_file(model, place, error) : OXP_OK;
}

// --- All of a model ---

typedef struct locate_sources {
  const char *model; // path; NULL: not a file
  oxp__sources *sources;
} locate_sources;

// Whatever a location names, sound or not, is a file that somebody may need.
static void locate_add_source(void *context, const oxp__tensor_place *at)
{
  const locate_sources *to = context;
  const char *values[LOCATE_KEYS] = { 0 };
  oxp__sources_add_tensor(to->sources, &at->tensor->tensor);
  if (!to->model || at->tensor->data_location != OXP__TENSOR_EXTERNAL)
    return;
  (void)locate_pairs(at->tensor, values, NULL);
  const char *location = values[LOCATE_LOCATION] ? values[LOCATE_LOCATION] : "";
  char *path = *location == '/' ? strdup(location) : oxp__path_beside(to->model, location);
  if (path)
    oxp__sources_add_path(to->sources, path);
  to->sources->failed |= !path;
  free(path);
}

void oxp__graph_add_sources(const oxp_graph *graph, oxp__sources *sources)
{
  locate_sources to = { oxp__graph_path(graph), sources };
  oxp__sources_add_arena(sources, &graph->arena);
  if (graph->origin)
    oxp__sources_add_arena(sources, graph->origin);
  oxp__model_each_tensor(&graph->model, locate_add_source, &to);
}

typedef struct locate_all {
  const oxp_graph *graph;
  oxp__findings *findings;
} locate_all;

static void locate_visit(void *context, const oxp__tensor_place *at)
{
  const locate_all *all = context;
  oxp__external_place place;
  oxp_error why = { 0 };
  char label[OXP__NODE_LABEL];
  if (at->tensor->data_location != OXP__TENSOR_EXTERNAL ||
      oxp__external_locate(all->graph, at->tensor, &place, &why) == OXP_OK)
    return;
  const char *name = at->tensor->name ? at->tensor->name : "";
  all->findings->text.failed |= why.status == OXP_NO_MEMORY;
  if (at->node)
    oxp__finding(all->findings, "a tensor of %s: %s", oxp__node_label(at->node, at->index, label, sizeof label),
                 why.message);
  else
    oxp__finding(all->findings, "initializer %zu \"%.100s\": %s", at->index, name, why.message);
}

void oxp__external_find_faults(const oxp_graph *graph, oxp__findings *findings)
{
  locate_all all = { graph, findings };
  if (graph->read) // what we lowered refers to nothing
    oxp__model_each_tensor(&graph->model, locate_visit, &all);
}

oxp_status oxp__external_check(const oxp_graph *graph, oxp_error *error)
{
  oxp__findings findings = { 0 };
  oxp__external_find_faults(graph, &findings);
  oxp_status status = oxp__findings_end(&findings, "weights of the model are in files that cannot be used", error);
  return status == OXP_OK ? OXP_OK : oxp__at_file(error, status, oxp__graph_path(graph));
}
