// ort_library.c: finds ONNX Runtime on this machine and loads it, after a process of its own has tried it out: a library with
// another table of functions than the known one must be an error message, not a crash. Place: engines/ort.
//
// No state is kept for that: the loader itself remembers which libraries this process has. One that is loaded already was
// tried before (or belongs to the program that we are part of) and is not tried again.
#define _GNU_SOURCE // RTLD_NOLOAD, RTLD_NODELETE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engines/ort/ort_api.h"
#include "engines/ort/ort_places.h"

#define LIBRARY_TRIAL_MS 30000 // a trial takes 0.1 s; more than this is a library that hangs

// --- The trial, in a process of its own ---

// Crashes here are an answer: no report, no core file, none of the program's own signal handlers.
static void library_make_quiet(void)
{
  int null = open("/dev/null", O_RDWR);
  if (null >= 0) {
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
  }
  setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
  const int fatal[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS };
  for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
    signal(fatal[i], SIG_DFL);
}

// The loader's words on what went wrong, without the path that they may begin with.
static void library_add_words(const char *path, oxp__text *why)
{
  const char *words = dlerror();
  size_t length = strlen(path);
  if (words && strncmp(words, path, length) == 0 && strncmp(words + length, ": ", 2) == 0)
    words += length + 2;
  oxp__text_add(why, words ? words : "it cannot be loaded");
}

// Runs in the child; writes "+" when all is well, else the reason, and never returns.
static void library_trial_child(const char *path, int answer)
{
  library_make_quiet();
  oxp__text why = { 0 };
  oxp__ort_api api = { 0 };
  const char *version = NULL;
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    library_add_words(path, &why);
  bool right = handle && oxp__ort_bind(handle, &api, &version, &why) && oxp__ort_try(&api, &why);
  const char *text = right ? "+" : oxp__text_string(&why);
  ssize_t written = write(answer, text, strlen(text));
  _exit(written > 0 ? 0 : 1);
}

static int64_t library_now_ms(void)
{
  struct timespec now = { 0 };
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Collects what the child writes until it ends; false when it takes too long.
static bool library_listen(int answer, oxp__text *text)
{
  int64_t deadline = library_now_ms() + LIBRARY_TRIAL_MS;
  for (;;) {
    int64_t left = deadline - library_now_ms();
    struct pollfd waiting = { .fd = answer, .events = POLLIN };
    int ready = left > 0 ? poll(&waiting, 1, (int)left) : 0;
    if (ready == 0)
      return false;
    char bytes[512];
    ssize_t count = ready > 0 ? read(answer, bytes, sizeof bytes) : -1;
    if (count > 0)
      oxp__text_add_bytes(text, bytes, (size_t)count);
    else if (count == 0 || errno != EINTR)
      return true;
  }
}

// Waits for the child's end, after killing it when it was too slow; false when somebody else has collected it.
static bool library_collect(pid_t child, bool in_time, int *wait_status)
{
  if (!in_time)
    kill(child, SIGKILL);
  pid_t waited = -1;
  do
    waited = waitpid(child, wait_status, 0);
  while (waited < 0 && errno == EINTR);
  return waited == child;
}

// Listens to the child; true when it says "+".
static bool library_judge(pid_t child, int answer_end, oxp__text *why)
{
  oxp__text answer = { 0 };
  int wait_status = 0;
  bool in_time = library_listen(answer_end, &answer);
  bool collected = library_collect(child, in_time, &wait_status);
  bool right = in_time && strcmp(oxp__text_string(&answer), "+") == 0;
  if (!in_time)
    oxp__text_printf(why, "trying its functions out took more than %d s", LIBRARY_TRIAL_MS / 1000);
  else if (answer.length > 0 && !right)
    oxp__text_add(why, oxp__text_string(&answer));
  else if (!right && collected && WIFSIGNALED(wait_status))
    oxp__text_printf(why, "trying its functions out ended with signal %d: its table of functions is not the known one",
                     WTERMSIG(wait_status));
  else if (!right)
    oxp__text_add(why, "trying its functions out ended early: its table of functions is not the known one");
  oxp__text_fini(&answer);
  return right;
}

// Tries the library out in a child. The fork is the one place where the program's other threads matter: in the child only
// this one exists, so a lock that another one held stays held, which the time limit turns into an error.
static bool library_trial(const char *path, oxp__text *why)
{
  int ends[2];
  char words[128];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    oxp__text_printf(why, "it cannot be tried out: %s", oxp__errno_words(errno, words, sizeof words));
    return false;
  }
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    library_trial_child(path, ends[1]);
  }
  int fork_errno = errno;
  close(ends[1]);
  bool right = child > 0 && library_judge(child, ends[0], why);
  close(ends[0]);
  if (child < 0)
    oxp__text_printf(why, "there is no process to try it out in: %s",
                     oxp__errno_words(fork_errno, words, sizeof words));
  return right;
}

// --- Loading ---

static void library_close(void *handle)
{
  dlclose(handle);
}

static bool library_load(oxp__arena *arena, const char *path, oxp__ort_library *library, oxp__text *why)
{
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE);
  if (!handle && !library_trial(path, why))
    return false;
  if (!handle)
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) {
    library_add_words(path, why);
    return false;
  }
  if (oxp__arena_defer(arena, library_close, handle, NULL) != OXP_OK) {
    oxp__text_add(why, "memory ran out");
    return false;
  }
  library->path = oxp__arena_copy(arena, path);
  return library->path && oxp__ort_bind(handle, &library->api, &library->version, why);
}

// Tries one place and adds what went wrong to `tried`.
static bool library_try_place(oxp__arena *arena, const oxp__ort_place *place, oxp__ort_library *library,
                              oxp__text *tried)
{
  oxp__text why = { 0 };
  oxp__text_add(&why, place->fault ? place->fault : "");
  bool loaded = !place->fault && library_load(arena, place->path, library, &why);
  if (!loaded)
    oxp__text_printf(tried, "%s%s %s: %s", tried->length ? "; " : "", place->what, place->path, oxp__text_string(&why));
  oxp__text_fini(&why);
  return loaded;
}

oxp_status oxp__ort_library_open(oxp__arena *arena, const oxp_session_options *options, oxp__ort_library **out,
                                 oxp_error *error)
{
  oxp__ort_library *library = oxp__arena_new(arena, 1, sizeof *library);
  if (!library)
    return oxp__fail_memory(error, sizeof *library);
  oxp__text tried = { 0 };
  oxp__ort_places places;
  OXP__TRY(oxp__ort_places_list(arena, options ? options->onnxruntime : NULL, &places, error));
  bool loaded = false;
  for (int i = 0; !loaded && i < places.count; i++)
    loaded = library_try_place(arena, &places.at[i], library, &tried);
  oxp_status status = OXP_OK;
  if (!loaded)
    status = oxp__fail(error, OXP_NOT_AVAILABLE,
                       "ONNX Runtime cannot be used here; tried: %s. Its library is in pip's package onnxruntime, as "
                       "onnxruntime/capi/libonnxruntime.so.*; ONNXPORT_ORT_LIBRARY=PATH says where",
                       oxp__text_string(&tried));
  oxp__text_fini(&tried);
  *out = library;
  return status;
}
