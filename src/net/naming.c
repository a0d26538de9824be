// naming.c: names of values, nodes and initializers of one graph, all unique, the same in every run. Place: net.
#include "net/naming.h"

#include <inttypes.h>
#include <stdarg.h>

int oxp__naming_next(oxp__naming *naming)
{
  return ++naming->counter;
}

bool oxp__naming_is_free(const oxp__naming *naming, const char *name)
{
  return !oxp__names_find(&naming->names, name);
}

// Claims a text of the arena, or a numbered variant of it. The wanted name's own entry counts, so that a thousand layers of one
// name do not ask for each number again.
static const char *naming_take(oxp__naming *naming, char *wanted)
{
  bool added = false;
  oxp__name *entry = wanted ? oxp__names_add(&naming->names, wanted, 0, &added) : NULL;
  if (!entry || added)
    return entry ? wanted : NULL;
  char *text = wanted;
  while (text && !oxp__naming_is_free(naming, text))
    text = oxp__arena_printf(naming->texts, "%s_%" PRIu32, wanted, ++entry->number);
  return text && oxp__names_add(&naming->names, text, 0, NULL) ? text : NULL;
}

const char *oxp__naming_claim(oxp__naming *naming, const char *wanted)
{
  return naming_take(naming, oxp__arena_copy(naming->texts, wanted));
}

const char *oxp__naming_claimf(oxp__naming *naming, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  char *wanted = oxp__arena_vprintf(naming->texts, format, arguments);
  va_end(arguments);
  return naming_take(naming, wanted);
}
