// path.c: see path.h. Place: core.
#include "core/path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/access.h"
#include "core/text.h"

enum { PATH_MOST_LINKS = 40 };

const char *oxp__path_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

char *oxp__path_beside(const char *path, const char *name)
{
  size_t folder = (size_t)(oxp__path_name(path) - path), size = folder + strlen(name) + 1;
  char *beside = malloc(size);
  if (beside)
    snprintf(beside, size, "%.*s%s", (int)folder, path, name);
  return beside;
}

// A walk along a path: what was walked is free of links and names a folder, with its slash ("" is where we are).
typedef struct path_walk {
  const char *given;
  oxp__text done, rest;
  size_t at; // in rest
  int links;
} path_walk;

// Goes on where a link leads, and then along what is left.
static oxp_status path_follow(path_walk *walk, const char *step, const char *link, oxp_error *error)
{
  oxp__text rest = { 0 };
  if (++walk->links > PATH_MOST_LINKS) {
    errno = ELOOP;
    return oxp__fail_errno(error, walk->given, "follow the symbolic link");
  }
  if (!oxp__access_may_follow(walk->done.length ? walk->done.bytes : ".", step)) {
    oxp__fail(error, OXP_IO,
              "%s is a symbolic link that belongs to somebody else, in a folder where everybody may write; "
              "what is written does not follow it",
              step);
    return oxp__at_file(error, OXP_IO, walk->given);
  }
  oxp__text_printf(&rest, "%s%s", link, walk->rest.bytes + walk->at);
  oxp__text_fini(&walk->rest);
  walk->rest = rest;
  walk->at = 0;
  if (link[0] == '/')
    oxp__text_cut(&walk->done, 0);
  return oxp__text_status(&walk->rest, error);
}

// Adds the next name of what is left to what was walked, with the slashes behind it, unless it is a link.
static oxp_status path_step(path_walk *walk, oxp_error *error)
{
  char link[PATH_MAX];
  const char *name = walk->rest.bytes + walk->at;
  size_t length = strcspn(name, "/"), slashes = strspn(name + length, "/"), before = walk->done.length;
  oxp__text_add_bytes(&walk->done, name, length);
  OXP__TRY(oxp__text_status(&walk->done, error));
  ssize_t linked = length > 0 ? readlink(walk->done.bytes, link, sizeof link - 1) : -1;
  walk->at += length + (linked < 0 ? slashes : 0);
  if (linked < 0) {
    oxp__text_add(&walk->done, slashes > 0 ? "/" : "");
    return oxp__text_status(&walk->done, error);
  }
  link[linked] = 0;
  char *step = strdup(walk->done.bytes);
  oxp__text_cut(&walk->done, before);
  oxp_status status = step ? path_follow(walk, step, link, error) : oxp__fail_memory(error, before + length);
  free(step);
  return status;
}

oxp_status oxp__path_resolve(const char *path, char **resolved, oxp_error *error)
{
  path_walk walk = { .given = path };
  oxp__text_add(&walk.done, "");
  oxp__text_add(&walk.rest, path);
  oxp_status status = oxp__text_status(&walk.rest, error);
  while (status == OXP_OK && walk.rest.bytes[walk.at])
    status = path_step(&walk, error);
  oxp__text_fini(&walk.rest);
  if (status == OXP_OK)
    *resolved = walk.done.bytes;
  else
    oxp__text_fini(&walk.done);
  return status;
}
