// names.h: a table of texts, each with a number: to find duplicates and to look things up by name. Place: core.
#ifndef OXP_CORE_NAMES_H
#define OXP_CORE_NAMES_H

#include "core/arena.h"

typedef struct oxp__name {
  const char *text; // borrowed; NULL: a free slot
  uint32_t number;
  uint32_t hash; // of the text, in this table
} oxp__name;

// An all-zero table is empty and ready once `arena` is set, in which it grows.
typedef struct oxp__names {
  oxp__arena *arena;
  oxp__name *slots;
  size_t count, capacity;
  uint64_t seed; // of the hashes
} oxp__names;

// The entry of `text`; NULL when there is none. Valid until the next name is added.
oxp__name *oxp__names_find(const oxp__names *names, const char *text);

// The entry of `text`, which is added with `number` (borrowed) when it is not there; *added may be NULL and says which.
// NULL when memory is out.
oxp__name *oxp__names_add(oxp__names *names, const char *text, size_t number, bool *added);

// Makes room for `count` names in all, where their number is known: the table then need not grow. False when memory is out.
bool oxp__names_reserve(oxp__names *names, size_t count);

#endif
