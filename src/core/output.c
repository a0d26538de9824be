// output.c: see output.h. A temporary file is locked as long as it is open, so that another process can tell a
// left-over from one that is being written. Place: core.
#ifdef __linux__
#define _GNU_SOURCE // fallocate
#endif
#include "core/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/access.h"
#include "core/lock.h"

enum {
  OUTPUT_BUFFER_BYTES = 256 * 1024,
  OUTPUT_NAME_TRIES = 100,
  OUTPUT_NAME_BYTES = 200,
  OUTPUT_DIGITS = 8,
  OUTPUT_WAIT_MS = 60000
};

static oxp_status output_fail(oxp__output *output, const char *action, oxp_error *error)
{
  return oxp__fail_errno(error, output->given_path, action);
}

// `FOLDER/.NAME.oxp-XXXXXXXX`: hidden, and without a suffix that anything takes for a model.
static char *output_temporary_name(const char *target, uint64_t salt)
{
  char name[OUTPUT_NAME_BYTES + 32];
  snprintf(name, sizeof name, ".%.*s.oxp-%0*llx", OUTPUT_NAME_BYTES, oxp__path_name(target), OUTPUT_DIGITS,
           (unsigned long long)(salt & 0xFFFFFFFF));
  return oxp__path_beside(target, name);
}

// `FOLDER/.NAME.oxp-old`: the end of a long name, because the files of a pair differ there.
static char *output_old_name(const char *target)
{
  char name[OUTPUT_NAME_BYTES + 32];
  const char *own = oxp__path_name(target);
  size_t length = strlen(own);
  snprintf(name, sizeof name, ".%s.oxp-old", own + (length > OUTPUT_NAME_BYTES ? length - OUTPUT_NAME_BYTES : 0));
  return oxp__path_beside(target, name);
}

// Takes the lock that says "in use" as long as the file is open. False when somebody takes the file for a left-over,
// which can only be between its making and its locking. Where files cannot be locked nobody removes any.
static bool output_lock(int descriptor)
{
  struct stat status;
  oxp__lock lock = oxp__lock_take(descriptor, 0, NULL, NULL);
  if (lock != OXP__LOCKED)
    return lock == OXP__LOCK_IMPOSSIBLE;
  return fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

// A descriptor of the folder that a path lies in; -1 on failure.
static int folder_open(const char *path)
{
  char *folder = oxp__path_beside(path, ".");
  int descriptor = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  free(folder);
  return descriptor;
}

// Makes a new file under a name that nobody has. One that replaces another is its maker's alone until it is complete; a
// new one is what the umask makes of it.
static oxp_status output_create(oxp__output *output, oxp_error *error)
{
  mode_t mode = output->replaces ? 0600 : 0666;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t salt = (uint64_t)now.tv_nsec * 0x9E3779B97F4A7C15u + (uint64_t)getpid();
  for (int i = 0; i < OUTPUT_NAME_TRIES; i++) {
    free(output->temporary_path);
    output->temporary_path = output_temporary_name(output->target_path, salt + (uint64_t)i);
    if (!output->temporary_path)
      return oxp__fail_memory(error, PATH_MAX);
    output->descriptor = open(output->temporary_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (output->descriptor < 0 && errno == EEXIST)
      continue;
    if (output->descriptor < 0)
      break;
    if (output_lock(output->descriptor))
      return OXP_OK;
    close(output->descriptor);
  }
  return output_fail(output, "create a file there", error);
}

// Removes a temporary file unless somebody has it open for writing, or it is a source.
static void output_remove_unused(int folder, const char *name, const oxp__sources *sources)
{
  struct stat opened, named;
  int descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0)
    return;
  bool unused = fstat(descriptor, &opened) == 0 && S_ISREG(opened.st_mode) &&
                !oxp__sources_hold(sources, (uint64_t)opened.st_dev, (uint64_t)opened.st_ino) &&
                oxp__lock_take(descriptor, 0, NULL, NULL) == OXP__LOCKED;
  if (unused && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_ino == opened.st_ino)
    unlinkat(folder, name, 0);
  close(descriptor);
}

// Removes what processes that were killed while they wrote this target left behind: files with a temporary name of the
// target that nobody holds a lock on.
static void output_clean(const oxp__output *output)
{
  const char *own = oxp__path_name(output->temporary_path);
  size_t prefix = strlen(own) - OUTPUT_DIGITS;
  int descriptor = folder_open(output->temporary_path);
  DIR *folder = descriptor >= 0 ? fdopendir(descriptor) : NULL;
  if (!folder && descriptor >= 0)
    close(descriptor);
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    const char *name = entry->d_name;
    if (strncmp(name, own, prefix) == 0 && strspn(name + prefix, "0123456789abcdef") == OUTPUT_DIGITS &&
        !name[prefix + OUTPUT_DIGITS] && strcmp(name, own) != 0)
      output_remove_unused(dirfd(folder), name, output->guard.sources);
  }
  if (folder)
    closedir(folder);
}

static void output_free(oxp__output *output)
{
  free(output->given_path);
  free(output->target_path);
  free(output->like_path);
  free(output->temporary_path);
  free(output->old_path);
  free(output->buffer);
  *output = (oxp__output){ .descriptor = -1 };
}

// Whether the path leads to one of the guard's sources.
static bool output_is_source(const oxp__output *output, const char *path)
{
  struct stat status;
  return stat(path, &status) == 0 &&
         oxp__sources_hold(output->guard.sources, (uint64_t)status.st_dev, (uint64_t)status.st_ino);
}

static oxp_status output_fail_source(const oxp__output *output, oxp_error *error)
{
  oxp__fail(error, OXP_BAD_ARGUMENT, "this is a file that was read; what is written needs another name");
  return oxp__at_file(error, OXP_BAD_ARGUMENT, output->given_path);
}

// Looks whether there is a target; OXP_IO when something other than a regular file has its name, or nothing can have
// it.
static oxp_status output_check_target(oxp__output *output, oxp_error *error)
{
  struct stat status;
  output->replaces = output->is_source = false;
  if (stat(output->target_path, &status) != 0)
    return errno == ENOENT ? OXP_OK : output_fail(output, "write the file", error);
  if (!S_ISREG(status.st_mode)) {
    const char *what = S_ISDIR(status.st_mode) ? "a folder" : "a device, pipe or socket";
    oxp__fail(error, OXP_IO, "cannot write the file: %s has this name", what);
    return oxp__at_file(error, OXP_IO, output->given_path);
  }
  output->replaces = true;
  output->is_source = output_is_source(output, output->target_path);
  return OXP_OK;
}

// Finds out where the target is and whether it may be written.
static oxp_status output_find_target(oxp__output *output, const char *path, const oxp__output_guard *guard,
                                     oxp_error *error)
{
  *output = (oxp__output){ .descriptor = -1, .guard = guard ? *guard : (oxp__output_guard){ 0 } };
  if (!path || !path[0])
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the name of the file to write is empty");
  output->given_path = strdup(path);
  if (!output->given_path || (guard && guard->sources && guard->sources->failed))
    return oxp__fail_memory(error, strlen(path));
  OXP__TRY(oxp__path_resolve(path, &output->target_path, error));
  OXP__TRY(output_check_target(output, error));
  return output->is_source ? output_fail_source(output, error) : OXP_OK;
}

oxp_status oxp__output_check(const char *path, const oxp__output_guard *guard, oxp_error *error)
{
  oxp__output output;
  oxp_status status = output_find_target(&output, path, guard, error);
  output_free(&output);
  return status;
}

// Makes what the bytes go to until the commit.
static oxp_status output_begin(oxp__output *output, oxp_error *error)
{
  output->like_path = strdup(output->target_path);
  output->buffer = malloc(OUTPUT_BUFFER_BYTES);
  if (!output->like_path || !output->buffer)
    return oxp__fail_memory(error, OUTPUT_BUFFER_BYTES);
  return output_create(output, error);
}

oxp_status oxp__output_open(oxp__output *output, const char *path, const oxp__output_guard *guard, oxp_error *error)
{
  oxp_status status = output_find_target(output, path, guard, error);
  if (status == OXP_OK)
    status = output_begin(output, error);
  if (status != OXP_OK)
    output_free(output);
  else
    output_clean(output);
  output->open = status == OXP_OK;
  return status;
}

// Writes everything at `offset`, or at the end when offset is negative.
static oxp_status output_put(oxp__output *output, int64_t offset, const void *bytes, size_t count, oxp_error *error)
{
  const unsigned char *at = bytes;
  while (count > 0) {
    ssize_t put =
        offset < 0 ? write(output->descriptor, at, count) : pwrite(output->descriptor, at, count, (off_t)offset);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return output_fail(output, "write the file", error);
    at += put;
    count -= (size_t)put;
    if (offset >= 0)
      offset += put;
  }
  return OXP_OK;
}

static oxp_status output_flush(oxp__output *output, oxp_error *error)
{
  size_t count = output->buffered;
  output->buffered = 0;
  if (output->guard.go_on && !output->guard.go_on(output->guard.context))
    return oxp__fail_cancelled(error);
  return output_put(output, -1, output->buffer, count, error);
}

oxp_status oxp__output_write(void *context, const void *bytes, size_t count, oxp_error *error)
{
  oxp__output *output = context;
  output->written_bytes += count;
  if (count > OUTPUT_BUFFER_BYTES - output->buffered)
    OXP__TRY(output_flush(output, error));
  if (count >= OUTPUT_BUFFER_BYTES / 2) { // too large to be worth a copy
    OXP__TRY(output_flush(output, error));
    return output_put(output, -1, bytes, count, error);
  }
  memcpy(output->buffer + output->buffered, bytes, count);
  output->buffered += count;
  return OXP_OK;
}

oxp_status oxp__output_skip(oxp__output *output, uint64_t count, uint64_t *offset, oxp_error *error)
{
  OXP__TRY(output_flush(output, error));
  if (count > INT64_MAX || lseek(output->descriptor, (off_t)count, SEEK_CUR) < 0)
    return output_fail(output, "write the file", error);
  *offset = output->written_bytes;
  output->written_bytes += count;
  return OXP_OK;
}

oxp_status oxp__output_reserve(oxp__output *output, oxp_error *error)
{
#ifdef __linux__ // posix_fallocate may write zeros where the file system cannot reserve, which is slower than not to ask
  bool full = fallocate(output->descriptor, 0, 0, (off_t)output->written_bytes) != 0 &&
              (errno == ENOSPC || errno == EDQUOT || errno == EFBIG);
  if (full)
    return output_fail(output, "write the file", error);
#else
  (void)output;
  (void)error;
#endif
  return OXP_OK;
}

oxp_status oxp__output_patch(oxp__output *output, uint64_t offset, const void *bytes, size_t count, oxp_error *error)
{
  OXP__TRY(output_flush(output, error));
  return output_put(output, (int64_t)offset, bytes, count, error);
}

oxp__lock oxp__output_try_lock_folder(const oxp__output *output, int wait_ms, int *descriptor)
{
  const oxp__output_guard *guard = &output->guard;
  *descriptor = folder_open(output->target_path);
  oxp__lock lock =
      *descriptor >= 0 ? oxp__lock_take(*descriptor, wait_ms, guard->go_on, guard->context) : OXP__LOCK_IMPOSSIBLE;
  if (lock == OXP__LOCKED)
    return lock;
  oxp__folder_unlock(*descriptor);
  *descriptor = -1;
  return lock;
}

oxp_status oxp__output_lock_folder(const oxp__output *output, int *descriptor, oxp_error *error)
{
  oxp__lock lock = oxp__output_try_lock_folder(output, OUTPUT_WAIT_MS, descriptor);
  if (lock == OXP__LOCK_CANCELLED)
    return oxp__fail_cancelled(error);
  if (lock != OXP__LOCK_BUSY)
    return OXP_OK;
  oxp__fail(error, OXP_IO, "cannot replace two files as one: somebody has kept the folder locked for %d s",
            OUTPUT_WAIT_MS / 1000);
  return oxp__at_file(error, OXP_IO, output->given_path);
}

void oxp__folder_unlock(int descriptor)
{
  if (descriptor >= 0)
    close(descriptor);
}

// Replaces what stands behind the last slash of *path; false when memory is out.
static bool output_replace_name(char **path, const char *name)
{
  char *replaced = oxp__path_beside(*path, name);
  if (!replaced)
    return false;
  free(*path);
  *path = replaced;
  return true;
}

oxp_status oxp__output_set_name(oxp__output *output, const char *name, oxp_error *error)
{
  if (!output_replace_name(&output->target_path, name) || !output_replace_name(&output->given_path, name))
    return oxp__fail_memory(error, strlen(name));
  return output_check_target(output, error);
}

// Whether two files of one size hold the same bytes, up to what cannot be read.
static bool output_same_bytes(oxp__file *one, oxp__file *other, unsigned char *buffer)
{
  enum { HALF = OUTPUT_BUFFER_BYTES / 2 };
  for (uint64_t at = 0; at < one->size_bytes;) {
    size_t count = one->size_bytes - at < HALF ? (size_t)(one->size_bytes - at) : HALF;
    if (oxp__file_read(one, at, buffer, count, NULL) != OXP_OK ||
        oxp__file_read(other, at, buffer + HALF, count, NULL) != OXP_OK || memcmp(buffer, buffer + HALF, count) != 0)
      return false;
    at += count;
  }
  return true;
}

oxp_status oxp__output_compare(oxp__output *output, bool *same, oxp_error *error)
{
  oxp__arena arena = { 0 };
  oxp__file *old, own = { .descriptor = output->descriptor, .size_bytes = output->written_bytes };
  *same = false;
  OXP__TRY(output_flush(output, error));
  if (oxp__file_open(&arena, output->target_path, &old, NULL) == OXP_OK && old->size_bytes == own.size_bytes)
    *same = output_same_bytes(&own, old, output->buffer);
  oxp__arena_fini(&arena);
  return OXP_OK;
}

// After a rename the folder's entry is on the disk only when the folder was synced too. Some file systems cannot do
// that (EINVAL): the rename is then as safe as it gets.
static oxp_status output_sync_folder(oxp__output *output, int folder, oxp_error *error)
{
  bool failed = fsync(folder) != 0 && errno != EINVAL;
  return failed ? output_fail(output, "sync the folder after the file was replaced", error) : OXP_OK;
}

// Everything but the name: after it only the renaming is left to do.
static oxp_status output_prepare(oxp__output *output, bool sync, oxp_error *error)
{
  OXP__TRY(output_flush(output, error));
  if (!oxp__access_keep(output->descriptor, output->like_path))
    return output_fail(output, "set the file's permissions", error);
  if (sync && fsync(output->descriptor) != 0)
    return output_fail(output, "sync the file", error);
  // The lock is kept until the file has its name.
  if (!oxp__lock_keep_and_close(output->descriptor))
    return output_fail(output, "write the file", error);
  return OXP_OK;
}

// Takes their names from the files that are about to be replaced; the last one goes first. They need no lock: cleaning
// up does not know their new names, and whoever else replaces these files waits for the folder.
static oxp_status outputs_hide(oxp__output *const *outputs, int count, oxp_error *error)
{
  for (int i = count - 1; i >= 0; i--) {
    outputs[i]->hidden = outputs[i]->replaces && rename(outputs[i]->target_path, outputs[i]->old_path) == 0;
    if (outputs[i]->replaces && !outputs[i]->hidden)
      return output_fail(outputs[i], "replace the file", error);
  }
  return OXP_OK;
}

// Undoes the hiding, and the renaming of the first `renamed` files. In their order, and no further than it succeeds:
// the last old file must not come back to the others' new content. What cannot be put back keeps its hidden name until
// the next commit of these files succeeds. False then.
static bool outputs_put_back(oxp__output *const *outputs, int count, int renamed)
{
  bool back = true;
  for (int i = 0; i < count && back; i++)
    if (outputs[i]->hidden)
      back = rename(outputs[i]->old_path, outputs[i]->target_path) == 0;
    else if (i < renamed && !outputs[i]->replaces)
      back = unlink(outputs[i]->target_path) == 0;
  return back;
}

// Renames all, or none when one cannot be renamed.
static oxp_status outputs_rename(oxp__output *const *outputs, int count, bool hide_old, oxp_error *error)
{
  int renamed = 0;
  oxp_status status = hide_old ? outputs_hide(outputs, count, error) : OXP_OK;
  while (status == OXP_OK && renamed < count)
    if (rename(outputs[renamed]->temporary_path, outputs[renamed]->target_path) == 0)
      renamed++;
    else
      status = output_fail(outputs[renamed], "replace the file", error);
  if (status == OXP_OK || outputs_put_back(outputs, count, renamed))
    return status;
  return output_fail(outputs[count - 1], "put the old files back, which are beside it as .NAME.oxp-old", error);
}

// Looks for what could not be known before the folder was locked: which of the targets are there. They may have come
// and gone.
static oxp_status outputs_begin(oxp__output *const *outputs, int count, bool hide_old, oxp_error *error)
{
  for (int i = 0; i < count; i++) {
    OXP__TRY(output_check_target(outputs[i], error));
    outputs[i]->old_path = hide_old ? output_old_name(outputs[i]->target_path) : NULL;
    if (hide_old && !outputs[i]->old_path)
      return oxp__fail_memory(error, strlen(outputs[i]->target_path));
    if (outputs[i]->is_source || (hide_old && output_is_source(outputs[i], outputs[i]->old_path)))
      return output_fail_source(outputs[i], error);
  }
  return OXP_OK;
}

static bool outputs_need_sync(oxp__output *const *outputs, int count, oxp_sync policy)
{
  bool sync = policy == OXP_SYNC_ALWAYS;
  for (int i = 0; i < count; i++)
    sync = sync || (policy == OXP_SYNC_AUTO && outputs[i]->replaces);
  return sync;
}

static oxp_status outputs_publish(oxp__output *const *outputs, int count, bool hide_old, oxp_sync policy,
                                  oxp_error *error)
{
  oxp_status status = outputs_begin(outputs, count, hide_old, error);
  bool sync = status == OXP_OK && outputs_need_sync(outputs, count, policy);
  // Opened before any file has its name: what fails from then on cannot be undone.
  int folder = sync ? folder_open(outputs[0]->target_path) : -1;
  if (sync && folder < 0)
    status = output_fail(outputs[0], "open the folder", error);
  for (int i = 0; i < count && status == OXP_OK; i++)
    status = output_prepare(outputs[i], sync, error);
  if (status == OXP_OK)
    status = outputs_rename(outputs, count, hide_old, error);
  for (int i = 0; i < count; i++)
    if (status != OXP_OK)
      oxp__output_abort(outputs[i]);
    else if (hide_old)
      unlink(outputs[i]->old_path); // a killed process's too
  if (sync && status == OXP_OK)
    status = output_sync_folder(outputs[0], folder, error);
  if (folder >= 0)
    close(folder);
  return status;
}

oxp_status oxp__outputs_commit(oxp__output *const *outputs, int count, bool hide_old, oxp_sync policy, oxp_error *error)
{
  oxp_status status = outputs_publish(outputs, count, hide_old, policy, error);
  for (int i = 0; i < count; i++) {
    if (outputs[i]->open)
      close(outputs[i]->descriptor);
    output_free(outputs[i]);
  }
  return status;
}

oxp_status oxp__output_commit(oxp__output *output, oxp_sync policy, oxp_error *error)
{
  return oxp__outputs_commit(&output, 1, false, policy, error);
}

void oxp__output_abort(oxp__output *output)
{
  if (!output->open)
    return;
  if (output->descriptor >= 0)
    close(output->descriptor);
  unlink(output->temporary_path);
  output_free(output);
}
