// arena.h: memory that is freed in one call, and things to close along with it. Place: core.
#ifndef OXP_CORE_ARENA_H
#define OXP_CORE_ARENA_H

#include <stdarg.h>

#include "core/error.h"

typedef struct oxp__block oxp__block;
typedef struct oxp__deferred oxp__deferred;

// An all-zero arena is ready for use.
typedef struct oxp__arena {
  oxp__block *blocks;
  oxp__deferred *deferred;
} oxp__arena;

// `count` zeroed elements of `size` bytes, aligned for any type; NULL when memory is out or the product overflows.
// A count of 0 gives a valid pointer.
void *oxp__arena_new(oxp__arena *arena, size_t count, size_t size);

// Copies of text; NULL when memory is out. `length` bytes need not end in zero; the copy does.
char *oxp__arena_copy(oxp__arena *arena, const char *text);
char *oxp__arena_copy_bytes(oxp__arena *arena, const void *bytes, size_t length);
char *oxp__arena_printf(oxp__arena *arena, const char *format, ...) OXP__PRINTF(2, 3);
char *oxp__arena_vprintf(oxp__arena *arena, const char *format, va_list arguments);

// Runs close(thing) when the arena is freed, the last deferred first. On OXP_NO_MEMORY thing is closed at once.
oxp_status oxp__arena_defer(oxp__arena *arena, void (*close)(void *thing), void *thing, oxp_error *error);

// Calls `visit` for everything that was deferred with that `close`, the last first.
void oxp__arena_each_deferred(const oxp__arena *arena, void (*close)(void *thing),
                              void (*visit)(void *context, const void *thing), void *context);

// Closes what was deferred and frees everything; the arena is empty and usable again.
void oxp__arena_fini(oxp__arena *arena);

// Makes room for one more element in an array that lives in an arena: returns `array`, or a larger copy when count has
// reached *capacity (doubled). NULL when memory is out (array is still valid then).
void *oxp__arena_grow(oxp__arena *arena, void *array, size_t count, size_t *capacity, size_t size);

#endif
