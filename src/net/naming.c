// naming.c: names of values, nodes and initializers of one graph, all unique, the same in every run. Place: net.
#include "net/naming.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int oxp__naming_next(oxp__naming *naming)
{
  return ++naming->counter;
}

bool oxp__naming_is_free(const oxp__naming *naming, const char *name)
{
  return !oxp__names_find(&naming->names, name);
}

const char *oxp__naming_claim(oxp__naming *naming, const char *wanted)
{
  naming->names.arena = naming->arena;
  char *text = oxp__arena_copy(naming->arena, wanted);
  // The wanted name's own entry counts, so that a thousand layers of one name do not ask for each number again.
  for (oxp__name *taken; text && (taken = oxp__names_find(&naming->names, text));) {
    taken = oxp__names_find(&naming->names, wanted);
    text = oxp__arena_printf(naming->arena, "%s_%zu", wanted, ++taken->number);
  }
  return text && oxp__names_add(&naming->names, text, 0, NULL) ? text : NULL;
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
