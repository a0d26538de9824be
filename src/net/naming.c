// naming.c: names of values, nodes and initializers of one graph, all unique, the same in every run. Place: net.
#include "net/naming.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct oxp__name {
  const char *text; // NULL: free slot
  int copies;       // how many numbered variants were handed out
};

// FNV-1a: fixed, so that nothing depends on a seed.
static size_t naming_hash(const char *text)
{
  uint64_t hash = 0xCBF29CE484222325u;
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * 0x100000001B3u;
  return (size_t)hash;
}

// The slot that holds `text`, or the free one where it belongs. The table has free slots.
static struct oxp__name *naming_slot(struct oxp__name *table, size_t capacity, const char *text)
{
  size_t index = naming_hash(text) & (capacity - 1);
  while (table[index].text && strcmp(table[index].text, text) != 0)
    index = (index + 1) & (capacity - 1);
  return &table[index];
}

// Keeps the table at most half full. False when memory is out.
static bool naming_make_room(oxp__naming *naming)
{
  if (naming->table && naming->count < naming->capacity / 2)
    return true;
  size_t capacity = naming->table ? naming->capacity * 2 : 64;
  struct oxp__name *table = oxp__arena_new(naming->arena, capacity, sizeof *table);
  if (!table)
    return false;
  for (size_t i = 0; i < naming->capacity; i++)
    if (naming->table[i].text)
      *naming_slot(table, capacity, naming->table[i].text) = naming->table[i];
  naming->table = table;
  naming->capacity = capacity;
  return true;
}

int oxp__naming_next(oxp__naming *naming)
{
  return ++naming->counter;
}

bool oxp__naming_is_free(const oxp__naming *naming, const char *name)
{
  return !naming->table || !naming_slot(naming->table, naming->capacity, name)->text;
}

const char *oxp__naming_claim(oxp__naming *naming, const char *wanted)
{
  if (!naming_make_room(naming))
    return NULL;
  struct oxp__name *slot = naming_slot(naming->table, naming->capacity, wanted);
  char *text = NULL;
  if (!slot->text)
    text = oxp__arena_copy(naming->arena, wanted);
  // The slot of the wanted name counts, so that a thousand layers of one name do not ask for each number again.
  for (; slot->text && (!text || !oxp__naming_is_free(naming, text));) {
    text = oxp__arena_printf(naming->arena, "%s_%d", wanted, ++slot->copies);
    if (!text)
      return NULL;
  }
  if (!text)
    return NULL;
  naming_slot(naming->table, naming->capacity, text)->text = text;
  naming->count++;
  return text;
}

const char *oxp__naming_claimf(oxp__naming *naming, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char *wanted = length >= 0 ? malloc((size_t)length + 1) : NULL;
  if (wanted)
    vsnprintf(wanted, (size_t)length + 1, format, again);
  va_end(again);
  const char *name = wanted ? oxp__naming_claim(naming, wanted) : NULL;
  free(wanted);
  return name;
}
