// ort_places.c: see ort_places.h. Looks at names and owners only; loads nothing. Place: engines/ort.
#define _GNU_SOURCE // dladdr
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/environment.h"
#include "engines/ort/ort_places.h"

// Where pip puts a package's library, below the folder of an installation of Python.
#define PLACES_PIP "/lib/python*/*-packages/onnxruntime/capi/libonnxruntime.so.1*"

// Adds a place whose path is taken over; NULL: memory ran out.
static oxp_status places_add(oxp__ort_places *places, const char *what, const char *path, const char *fault,
                             oxp_error *error)
{
  if (!path)
    return oxp__fail_memory(error, PATH_MAX);
  if (places->count < OXP__ORT_PLACES_MAX)
    places->at[places->count++] = (oxp__ort_place){ what, path, fault };
  return OXP_OK;
}

static const char *places_not_there(const char *path)
{
  return access(path, F_OK) == 0 ? NULL : "not there";
}

// --- Beside the installed onnxport ---

// The program or shared library that this code is part of, with its folder; false when that cannot be told.
static bool places_own_path(char path[PATH_MAX])
{
  static const char here;
  Dl_info info;
  bool known = dladdr(&here, &info) != 0 && info.dli_fname;
  if (known && info.dli_fname[0] == '/')
    return realpath(info.dli_fname, path) != NULL;
  ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1); // a program that was found in PATH
  path[length > 0 ? length : 0] = 0;
  return length > 0;
}

// PREFIX/bin/onnxport has it in PREFIX/lib/onnxport or PREFIX/lib, a shared library in its own folder. Programs in folders of
// another name are not installed: what lies beside them may be anybody's.
static oxp_status places_add_installed(oxp__arena *arena, oxp__ort_places *places, oxp_error *error)
{
  static const char what[] = "beside the installed onnxport,";
  char own[PATH_MAX];
  if (!places_own_path(own))
    return OXP_OK;
  char *name = strrchr(own, '/');
  *name++ = 0;
  char *folder = strrchr(own, '/');
  const char *lib = strncmp(name, "libonnxport.", 12) == 0 ? own : NULL;
  if (!lib && folder && strcmp(folder, "/bin") == 0) {
    *folder = 0;
    lib = oxp__arena_printf(arena, "%s/lib", own);
  } else if (!lib) {
    return OXP_OK;
  }
  if (!lib)
    return oxp__fail_memory(error, PATH_MAX);
  for (int deep = 1; deep >= 0; deep--) {
    const char *path = oxp__arena_printf(arena, "%s%s/libonnxruntime.so.1", lib, deep ? "/onnxport" : "");
    OXP__TRY(places_add(places, what, path, path ? places_not_there(path) : NULL, error));
  }
  return OXP_OK;
}

// --- pip's packages ---

static bool places_others_write(const char *path)
{
  struct stat status;
  bool own = stat(path, &status) == 0 && (status.st_uid == 0 || status.st_uid == geteuid());
  return !own || (status.st_mode & S_IWOTH) != 0;
}

// A file that somebody else could have put there is named, but not loaded.
static const char *places_file_fault(const char *path)
{
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) : 0;
  if (length == 0 || length >= sizeof folder)
    return "not there";
  memcpy(folder, path, length);
  folder[length] = 0;
  return places_others_write(path) || places_others_write(folder) ? "others could have written it" : NULL;
}

static oxp_status places_add_pip(oxp__arena *arena, oxp__ort_places *places, const char *what, const char *root,
                                 oxp_error *error)
{
  glob_t found = { 0 };
  if (!root || root[0] != '/') // not set, or relative to the current folder
    return OXP_OK;
  char *pattern = oxp__arena_printf(arena, "%s%s", root, PLACES_PIP);
  if (!pattern)
    return oxp__fail_memory(error, strlen(root));
  oxp_status status = OXP_OK;
  if (glob(pattern, 0, NULL, &found) != 0)
    status = places_add(places, what, pattern, "not there", error);
  for (size_t i = found.gl_pathc; status == OXP_OK && i-- > 0;) // the last name has the highest version
    status = places_add(places, what, oxp__arena_copy(arena, found.gl_pathv[i]), places_file_fault(found.gl_pathv[i]),
                        error);
  globfree(&found);
  return status;
}

// --- All ---

oxp_status oxp__ort_places_list(oxp__arena *arena, const char *asked, oxp__ort_places *places, oxp_error *error)
{
  *places = (oxp__ort_places){ 0 };
  if (asked)
    return places_add(places, "the path that was asked for,", oxp__arena_copy(arena, asked), NULL, error);
  const char *environment = oxp__environment("ONNXPORT_ORT_LIBRARY"), *home = oxp__environment("HOME");
  if (environment)
    return places_add(places, "the environment's ONNXPORT_ORT_LIBRARY,", oxp__arena_copy(arena, environment), NULL,
                      error);
  OXP__TRY(places_add_installed(arena, places, error));
  if (OXP_ORT_DEFAULT_LIBRARY[0])
    OXP__TRY(places_add(places, "the project's folder,", OXP_ORT_DEFAULT_LIBRARY,
                        places_not_there(OXP_ORT_DEFAULT_LIBRARY), error));
  OXP__TRY(places_add(places, "the loader's path,", "libonnxruntime.so.1", NULL, error));
  OXP__TRY(places_add_pip(arena, places, "the active Python environment,", oxp__environment("VIRTUAL_ENV"), error));
  const char *local = home ? oxp__arena_printf(arena, "%s/.local", home) : NULL;
  OXP__TRY(places_add_pip(arena, places, "the user's Python packages,", local, error));
  return places_add_pip(arena, places, "the system's Python packages,", "/usr/local", error);
}
