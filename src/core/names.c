// names.c: open addressing, at most half full. The address of the first slots is part of the hash, so that nobody can prepare
// names that all fall on one slot; the order of the slots is never seen outside. Place: core.
#include "core/names.h"

#include <string.h>

enum { NAMES_FIRST_CAPACITY = 64 };

static uint32_t names_hash(const oxp__names *names, const char *text)
{
  uint64_t hash = 0xCBF29CE484222325u ^ names->seed;
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * 0x100000001B3u;
  hash ^= hash >> 32;
  return (uint32_t)hash;
}

// The slot that holds `text`, or the free one where it belongs.
static oxp__name *names_slot(const oxp__names *names, const char *text, uint32_t hash)
{
  size_t index = hash & (names->capacity - 1);
  for (;; index = (index + 1) & (names->capacity - 1)) {
    oxp__name *slot = &names->slots[index];
    if (!slot->text || (slot->hash == hash && strcmp(slot->text, text) == 0))
      return slot;
  }
}

static bool names_resize(oxp__names *names, size_t capacity)
{
  oxp__names larger = *names;
  larger.capacity = capacity;
  larger.slots = oxp__arena_new(names->arena, capacity, sizeof *larger.slots);
  if (!larger.slots)
    return false;
  if (!names->slots)
    larger.seed = (uintptr_t)larger.slots;
  for (size_t i = 0; i < names->capacity; i++)
    if (names->slots[i].text)
      *names_slot(&larger, names->slots[i].text, names->slots[i].hash) = names->slots[i];
  *names = larger;
  return true;
}

static bool names_make_room(oxp__names *names)
{
  if (names->slots && names->count < names->capacity / 2)
    return true;
  return names_resize(names, names->slots ? names->capacity * 2 : NAMES_FIRST_CAPACITY);
}

bool oxp__names_reserve(oxp__names *names, size_t count)
{
  if (count == 0)
    return true;
  size_t capacity = NAMES_FIRST_CAPACITY;
  while (capacity / 2 < count && capacity <= SIZE_MAX / 2)
    capacity *= 2;
  return capacity <= names->capacity || names_resize(names, capacity);
}

oxp__name *oxp__names_find(const oxp__names *names, const char *text)
{
  if (!names->slots)
    return NULL;
  oxp__name *slot = names_slot(names, text, names_hash(names, text));
  return slot->text ? slot : NULL;
}

oxp__name *oxp__names_add(oxp__names *names, const char *text, size_t number, bool *added)
{
  if (number > UINT32_MAX || !names_make_room(names))
    return NULL;
  uint32_t hash = names_hash(names, text);
  oxp__name *slot = names_slot(names, text, hash);
  bool is_new = !slot->text;
  if (is_new) {
    *slot = (oxp__name){ text, (uint32_t)number, hash };
    names->count++;
  }
  if (added)
    *added = is_new;
  return slot;
}
