// state_dict.c: see state_dict.h. Every dictionary that can be reached is one place to look, with every beginning of names that the
// first wanted one suggests; a place fits when it has all names. Reads no tensor. Place: formats/common.
#include "formats/common/state_dict.h"

#include <stdio.h>
#include <string.h>

enum {
  DICT_LEVELS = 4,       // of dictionaries in dictionaries
  DICT_PLACES = 32,      // dictionaries that are looked at
  DICT_PREFIXES = 16,    // beginnings that are tried in each
  DICT_NAME_LIMIT = 512, // bytes of a beginning and a name behind it
  DICT_NAMED = 20,       // keys that a message names
};

typedef struct dict_search {
  oxp__arena *arena;
  const char *const *wanted;
  size_t wanted_count;
  const char *choice;
  const oxp__pickle_value *places[DICT_PLACES]; // that were looked at, each once
  size_t place_count;
  oxp__state_dict *best;
  size_t fitting;
  oxp__text fits;   // the labels of those that fit
  oxp__text labels; // of all places
} dict_search;

// --- Labels ---

// What the user calls a place: "model", "model/module.", "/" for the outermost dictionary without a beginning.
static void dict_add_label(oxp__text *text, const char *path, const char *prefix)
{
  if (*path || *prefix)
    oxp__text_printf(text, "%s%s%s", path, *path && *prefix ? "/" : "", prefix);
  else
    oxp__text_add(text, "/");
}

static void dict_list_label(oxp__text *text, const char *path, const char *prefix)
{
  oxp__text_add(text, text->length > 0 ? ", \"" : "\"");
  dict_add_label(text, path, prefix);
  oxp__text_add(text, "\"");
}

// Is it the place, or in the place, that the user wants?
static bool dict_is_chosen(const dict_search *search, const char *path, const char *prefix)
{
  const char *choice = search->choice;
  if (!choice || strcmp(choice, *path ? path : "/") == 0)
    return true;
  size_t length = strlen(path);
  if (*path && (strncmp(choice, path, length) != 0 || choice[length] != '/'))
    return false;
  return strcmp(choice + length + (*path ? 1 : 0), prefix) == 0;
}

// --- One place ---

// How many of the wanted names are there behind `prefix`. Stops when more are missing than `missing`.
static size_t dict_count(const dict_search *search, const oxp__names *names, const char *prefix, size_t missing)
{
  char name[DICT_NAME_LIMIT];
  size_t found = 0;
  for (size_t i = 0; i < search->wanted_count && i - found <= missing; i++) {
    int length = snprintf(name, sizeof name, "%s%s", prefix, search->wanted[i]);
    found += length >= 0 && length < (int)sizeof name && oxp__names_find(names, name);
  }
  return found;
}

static oxp_status dict_try(dict_search *search, const oxp__state_dict *place, oxp_error *error)
{
  oxp__state_dict *best = search->best;
  if (!dict_is_chosen(search, place->path, place->prefix))
    return OXP_OK;
  size_t found = dict_count(search, &place->names, place->prefix, search->wanted_count - best->found);
  if (found == search->wanted_count && search->fitting++ < DICT_NAMED)
    dict_list_label(&search->fits, place->path, place->prefix);
  if (best->dict && found <= best->found)
    return OXP_OK;
  *best = *place;
  best->found = found;
  best->prefix = oxp__arena_copy(search->arena, place->prefix);
  return best->prefix ? OXP_OK : oxp__fail_memory(error, strlen(place->prefix));
}

// The names of a dictionary, each with the place of its first entry.
static oxp_status dict_index(oxp__arena *arena, const oxp__pickle_value *dict, oxp__names *names, oxp_error *error)
{
  *names = (oxp__names){ .arena = arena };
  for (size_t i = 0; i < dict->count; i++) {
    const oxp__pickle_value *key = dict->items[2 * i];
    if (key->type == OXP__PICKLE_TEXT && !oxp__names_add(names, key->text, i, NULL))
      return oxp__fail_memory(error, dict->count * sizeof(oxp__name));
  }
  return OXP_OK;
}

// Tries what stands before the first wanted name in the keys that end in it.
static oxp_status dict_try_prefixes(dict_search *search, oxp__state_dict *place, oxp_error *error)
{
  const char *first = search->wanted[0];
  size_t length = strlen(first), tried = 0;
  char prefix[DICT_NAME_LIMIT];
  for (size_t i = 0; i < place->dict->count && tried < DICT_PREFIXES; i++) {
    const oxp__pickle_value *key = place->dict->items[2 * i];
    if (key->type != OXP__PICKLE_TEXT || key->count <= length || key->count >= sizeof prefix)
      continue;
    size_t before = key->count - length;
    if (key->text[before - 1] != '.' || strcmp(key->text + before, first) != 0)
      continue;
    memcpy(prefix, key->text, before);
    prefix[before] = 0;
    place->prefix = prefix;
    OXP__TRY(dict_try(search, place, error));
    tried++;
  }
  return OXP_OK;
}

// A dictionary that was not looked at, while there may be more. A pickle's dictionaries may contain themselves.
static bool dict_is_new(const dict_search *search, const oxp__pickle_value *value)
{
  bool is_new = value->type == OXP__PICKLE_DICT && search->place_count < DICT_PLACES;
  for (size_t i = 0; is_new && i < search->place_count; i++)
    is_new = search->places[i] != value;
  return is_new;
}

// Looks at a dictionary and at those in it.
static oxp_status dict_look(dict_search *search, const oxp__pickle_value *dict, const char *path, int level,
                            oxp_error *error)
{
  search->places[search->place_count++] = dict;
  oxp__state_dict place = { .dict = dict, .path = path, .prefix = "" };
  dict_list_label(&search->labels, path, "");
  OXP__TRY(dict_index(search->arena, dict, &place.names, error));
  OXP__TRY(dict_try(search, &place, error));
  if (search->wanted_count > 0)
    OXP__TRY(dict_try_prefixes(search, &place, error));
  for (size_t i = 0; level < DICT_LEVELS && i < dict->count; i++) {
    const oxp__pickle_value *key = dict->items[2 * i], *value = dict->items[2 * i + 1];
    if (key->type != OXP__PICKLE_TEXT || key->count >= DICT_NAME_LIMIT || !dict_is_new(search, value))
      continue;
    const char *inner = oxp__arena_printf(search->arena, "%s%s%s", path, *path ? "/" : "", key->text);
    if (!inner)
      return oxp__fail_memory(error, key->count);
    OXP__TRY(dict_look(search, value, inner, level + 1, error));
  }
  return OXP_OK;
}

// --- What was found ---

static oxp_status dict_fail_key(const char *key, const char *what, oxp_error *error)
{
  oxp__fail(error, OXP_BAD_FILE, "%s", what);
  return oxp__at_key(error, OXP_BAD_FILE, key);
}

// Python would take the last value of a key that is set twice; here none of them is trusted.
static oxp_status dict_check_keys(const oxp__state_dict *found, oxp_error *error)
{
  for (size_t i = 0; i < found->dict->count; i++) {
    const oxp__pickle_value *key = found->dict->items[2 * i];
    if (key->type == OXP__PICKLE_TEXT && oxp__names_find(&found->names, key->text)->number != i)
      return dict_fail_key(key->text, "this key is set twice in the pickle", error);
  }
  return OXP_OK;
}

// Other readers look at the outermost dictionary alone: no tensor of it may have the name of a wanted one that lies further inside.
static oxp_status dict_check_outermost(const oxp__pickle_value *root, const oxp__state_dict *found, oxp_error *error)
{
  for (size_t i = 0; root != found->dict && i < root->count; i++) {
    const oxp__pickle_value *key = root->items[2 * i], *value = root->items[2 * i + 1];
    if (key->type == OXP__PICKLE_TEXT && value->type == OXP__PICKLE_TENSOR && oxp__names_find(&found->names, key->text))
      return dict_fail_key(key->text, "this tensor is in the pickle's dict and also in one inside it", error);
  }
  return OXP_OK;
}

static oxp_status dict_check(const dict_search *search, const oxp__pickle_value *root, oxp_error *error)
{
  const oxp__state_dict *found = search->best;
  if (!found->dict)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "there is nothing called \"%.64s\" in the file; it has %s",
                     search->choice, oxp__text_string(&search->labels));
  if (search->fitting > 1 && search->wanted_count > 0)
    return oxp__fail(
        error, OXP_BAD_FILE,
        "the weights of the network are in the file %zu times, and nothing says which are meant; choose one "
        "with --variable: %s",
        search->fitting, oxp__text_string(&search->fits));
  OXP__TRY(dict_check_keys(found, error));
  return search->choice ? OXP_OK : dict_check_outermost(root, found, error);
}

oxp_status oxp__state_dict_find(oxp__arena *arena, const oxp__pickle_value *root, const char *const *wanted,
                                size_t wanted_count, const char *choice, oxp__state_dict *found, oxp_error *error)
{
  *found = (oxp__state_dict){ .path = "", .prefix = "" };
  dict_search search = {
    .arena = arena, .wanted = wanted, .wanted_count = wanted_count, .choice = choice, .best = found
  };
  oxp_status status = dict_look(&search, root, "", 0, error);
  if (status == OXP_OK)
    status = dict_check(&search, root, error);
  oxp__text_fini(&search.fits);
  oxp__text_fini(&search.labels);
  return status;
}

void oxp__state_dict_describe(const oxp__state_dict *found, oxp__text *text)
{
  size_t named = 0, names = found->names.count;
  oxp__text_add(text, names > 0 ? "the file has the names " : "the file has no names");
  for (size_t i = 0; i < found->dict->count && named < DICT_NAMED; i++) {
    const oxp__pickle_value *key = found->dict->items[2 * i];
    if (key->type == OXP__PICKLE_TEXT)
      oxp__text_printf(text, "%s%.64s", named++ > 0 ? ", " : "", key->text);
  }
  if (names > named)
    oxp__text_printf(text, " and %zu more", names - named);
}
