// access_absent.c: see access.h. Takes the place of access.c where files have no owners and no permissions (WebAssembly). Place: core.
#include "core/access.h"

bool oxp__access_keep(int descriptor, const char *path)
{
  (void)descriptor;
  (void)path;
  return true;
}

bool oxp__access_may_follow(const char *folder, const char *link)
{
  (void)folder;
  (void)link;
  return true;
}
