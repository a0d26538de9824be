// access.c: see access.h. Place: core.
#include "core/access.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

// ---- Access control lists ----

#ifdef __linux__
static const char access_list[] = "system.posix_acl_access";

static bool access_has_none(int code)
{
  return code == ENODATA || code == ENOTSUP;
}
#endif

// Gives the new file the list of the old one. A file without one gets none, although its folder may have given the new
// one a list. False when that fails, and where the list's entries for owner or group would now mean somebody else.
static bool access_keep_list(int descriptor, const char *path, bool same_owner_and_group)
{
#ifdef __linux__
  char list[4096];
  ssize_t size = getxattr(path, access_list, list, sizeof list);
  if (size >= 0)
    return same_owner_and_group && fsetxattr(descriptor, access_list, list, (size_t)size, 0) == 0;
  return access_has_none(errno) && (fremovexattr(descriptor, access_list) == 0 || access_has_none(errno));
#else
  (void)descriptor;
  (void)path;
  (void)same_owner_and_group;
  return true;
#endif
}

// ---- Owner, group, permissions ----

// The old permissions, less what they would give to people who were in another class before: members of the old group
// are now among all others, and whoever is in the new group had no more than all others. The same for the old owner.
static mode_t access_narrow(mode_t mode, bool same_owner, bool same_group)
{
  mode_t owner = mode >> 6 & 7, group = mode >> 3 & 7, other = mode & 7;
  if (!same_owner) {
    group &= owner;
    other &= owner;
  }
  if (!same_group) {
    other &= group;
    group = 0;
  }
  return owner << 6 | group << 3 | other;
}

// Owner and group where that is allowed, else the group alone, else neither.
static bool access_take_owner(int descriptor, const struct stat *old, struct stat *own)
{
  if (fstat(descriptor, own) != 0)
    return false;
  if ((own->st_uid == old->st_uid && own->st_gid == old->st_gid) ||
      (fchown(descriptor, old->st_uid, old->st_gid) != 0 && fchown(descriptor, (uid_t)-1, old->st_gid) != 0))
    return true;
  return fstat(descriptor, own) == 0;
}

// Permissions come last: until then the file is its maker's alone.
bool oxp__access_keep(int descriptor, const char *path)
{
  struct stat old, own;
  if (stat(path, &old) != 0)
    return errno == ENOENT;
  if (!access_take_owner(descriptor, &old, &own))
    return false;
  bool same_owner = own.st_uid == old.st_uid, same_group = own.st_gid == old.st_gid;
  mode_t mode = access_narrow(old.st_mode & 0777, same_owner, same_group);
  if (!access_keep_list(descriptor, path, same_owner && same_group))
    mode &= 0700;
  return fchmod(descriptor, mode) == 0;
}

bool oxp__access_may_follow(const char *folder, const char *link)
{
  struct stat holder, own;
  if (stat(folder, &holder) != 0 || lstat(link, &own) != 0)
    return false;
  bool shared = (holder.st_mode & S_ISVTX) && (holder.st_mode & S_IWOTH);
  return !shared || own.st_uid == geteuid() || own.st_uid == holder.st_uid;
}
