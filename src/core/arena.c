// arena.c: memory that is freed in one call, and things to close along with it. Place: core.
#include "core/arena.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/numbers.h"

// Blocks grow with what was asked for; a request that does not fit the current block opens a new one.
struct oxp__block {
  oxp__block *next;
  size_t used, size; // of `bytes`
  _Alignas(max_align_t) unsigned char bytes[];
};

struct oxp__deferred {
  oxp__deferred *next;
  void (*close)(void *thing);
  void *thing;
};

enum {
  ARENA_FIRST_BYTES = 4096 - sizeof(oxp__block),
  ARENA_LARGEST_BYTES = 64 * 1024 - sizeof(oxp__block), // a single thing may be larger
  ARENA_ALIGN = _Alignof(max_align_t)
};

// Small arenas stay small, large ones ask for memory seldom.
static size_t arena_usual_bytes(const oxp__arena *arena)
{
  if (!arena->blocks)
    return ARENA_FIRST_BYTES;
  size_t twice = 2 * (arena->blocks->size + sizeof(oxp__block)) - sizeof(oxp__block);
  return twice < ARENA_LARGEST_BYTES ? twice : ARENA_LARGEST_BYTES;
}

static oxp__block *arena_block(oxp__arena *arena, size_t bytes)
{
  size_t usual = arena_usual_bytes(arena);
  size_t size = bytes > usual ? bytes : usual;
  if (size > SIZE_MAX - sizeof(oxp__block))
    return NULL;
  oxp__block *block = calloc(1, sizeof *block + size);
  if (!block)
    return NULL;
  block->size = size;
  // A block for one large thing goes behind the current one, whose room is still of use.
  if (arena->blocks && bytes > usual) {
    block->next = arena->blocks->next;
    arena->blocks->next = block;
  } else {
    block->next = arena->blocks;
    arena->blocks = block;
  }
  return block;
}

void *oxp__arena_new(oxp__arena *arena, size_t count, size_t size)
{
  size_t bytes;
  if (!oxp__mul_size(count, size, &bytes) || bytes > SIZE_MAX - ARENA_ALIGN)
    return NULL;
  bytes = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
  if (bytes == 0)
    bytes = ARENA_ALIGN;
  oxp__block *block = arena->blocks;
  if (!block || block->size - block->used < bytes)
    block = arena_block(arena, bytes);
  if (!block)
    return NULL;
  void *result = block->bytes + block->used;
  block->used += bytes;
  return result;
}

char *oxp__arena_copy_bytes(oxp__arena *arena, const void *bytes, size_t length)
{
  char *copy = length < SIZE_MAX ? oxp__arena_new(arena, length + 1, 1) : NULL;
  if (copy && length > 0)
    memcpy(copy, bytes, length);
  return copy;
}

char *oxp__arena_copy(oxp__arena *arena, const char *text)
{
  return oxp__arena_copy_bytes(arena, text, strlen(text));
}

// `number` in decimal, at the end of the room.
static const char *arena_digits(char digits[16], int number)
{
  unsigned rest = number < 0 ? 0u - (unsigned)number : (unsigned)number;
  char *at = digits + 15;
  *at = 0;
  do
    *--at = (char)('0' + rest % 10);
  while ((rest /= 10) > 0);
  if (number < 0)
    *--at = '-';
  return at;
}

// What names are made of, %s and %d, takes a tenth of the time without vsnprintf. False where the format has something else in it or
// the text does not fit.
static bool arena_format(char *room, size_t size, int *length, const char *format, va_list arguments)
{
  char digits[16];
  size_t used = 0;
  while (*format) {
    size_t count = strcspn(format, "%");
    const char *piece = format;
    if (count > 0) {
      format += count;
    } else if (format[1] == 's' || format[1] == 'd') {
      piece = format[1] == 's' ? va_arg(arguments, const char *) : arena_digits(digits, va_arg(arguments, int));
      count = piece ? strlen(piece) : size;
      format += 2;
    } else
      return false;
    if (count >= size - used)
      return false;
    memcpy(room + used, piece, count);
    used += count;
  }
  *length = (int)used;
  return true;
}

char *oxp__arena_vprintf(oxp__arena *arena, const char *format, va_list arguments)
{
  char usual[256];
  int length = 0;
  va_list again, first;
  va_copy(again, arguments);
  va_copy(first, arguments);
  if (!arena_format(usual, sizeof usual, &length, format, first))
    length = vsnprintf(usual, sizeof usual, format, arguments);
  va_end(first);
  char *text = length >= 0 ? oxp__arena_new(arena, (size_t)length + 1, 1) : NULL;
  if (text && (size_t)length < sizeof usual)
    memcpy(text, usual, (size_t)length);
  else if (text)
    vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

char *oxp__arena_printf(oxp__arena *arena, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  char *text = oxp__arena_vprintf(arena, format, arguments);
  va_end(arguments);
  return text;
}

oxp_status oxp__arena_defer(oxp__arena *arena, void (*close)(void *thing), void *thing, oxp_error *error)
{
  oxp__deferred *deferred = oxp__arena_new(arena, 1, sizeof *deferred);
  if (!deferred) {
    close(thing);
    return oxp__fail_memory(error, sizeof *deferred);
  }
  *deferred = (oxp__deferred){ arena->deferred, close, thing };
  arena->deferred = deferred;
  return OXP_OK;
}

void oxp__arena_each_deferred(const oxp__arena *arena, void (*close)(void *thing),
                              void (*visit)(void *context, const void *thing), void *context)
{
  for (const oxp__deferred *deferred = arena->deferred; deferred; deferred = deferred->next)
    if (deferred->close == close)
      visit(context, deferred->thing);
}

void oxp__arena_fini(oxp__arena *arena)
{
  // What is closed may lie in the arena itself: close everything before any block goes.
  for (oxp__deferred *deferred = arena->deferred; deferred; deferred = deferred->next)
    deferred->close(deferred->thing);
  for (oxp__block *block = arena->blocks; block;) {
    oxp__block *next = block->next;
    free(block);
    block = next;
  }
  *arena = (oxp__arena){ 0 };
}

void *oxp__arena_grow(oxp__arena *arena, void *array, size_t count, size_t *capacity, size_t size)
{
  if (count < *capacity)
    return array;
  size_t larger;
  if (!oxp__mul_size(*capacity, 2, &larger))
    return NULL;
  if (larger < 4)
    larger = 4;
  void *copy = oxp__arena_new(arena, larger, size);
  if (!copy)
    return NULL;
  if (count > 0)
    memcpy(copy, array, count * size);
  *capacity = larger;
  return copy;
}
