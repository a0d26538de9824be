// Finding and checking the runtime's library: whatever is wrong with it is a sentence, never a crash, and the sentence names
// every place that was tried.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engines/ort/ort_api.h"
#include "engines/ort/ort_places.h"

static void assert_refused(const char *path, const char *words)
{
  oxp__arena arena = { 0 };
  oxp__ort_library *library = NULL;
  oxp_error error = { 0 };
  oxp_session_options options = { .onnxruntime = path };
  assert_int_equal(oxp__ort_library_open(&arena, &options, &library, &error), OXP_NOT_AVAILABLE);
  if (!strstr(error.message, words) || !strstr(error.message, path))
    fail_msg("%s: \"%s\" is not in: %s", path, words, error.message);
  oxp__arena_fini(&arena);
}

static void other_files_are_refused(void **state)
{
  (void)state;
  assert_refused("./no-such-file.so", "No such file");
  assert_refused(OXP_SOURCE_DIR "/LICENSE", "invalid ELF header");
  assert_refused(OXP_SOURCE_DIR, "");
  assert_refused("libm.so.6", "it has no function OrtGetApiBase");
}

static void wrong_tables_are_refused(void **state)
{
  (void)state;
  assert_refused(STUB_DIR "/libort_stub_no_base.so", "hands out nothing");
  assert_refused(STUB_DIR "/libort_stub_old.so", "version 0.9 does not have the interface 17");
  assert_refused(STUB_DIR "/libort_stub_empty.so", "slot 130 (add_config_entry) of its table of functions is empty");
  assert_refused(STUB_DIR "/libort_stub_outside.so", "slot 99 (release_tensor)");
  assert_refused(STUB_DIR "/libort_stub_idle.so", "a status came back wrong");
  assert_refused(STUB_DIR "/libort_stub_crash.so", "ended with signal 6");
}

// A program that ignores its children's ends cannot be told how they ended, but gets an answer.
static void ignored_children_are_no_trouble(void **state)
{
  (void)state;
  void (*before)(int) = signal(SIGCHLD, SIG_IGN);
  assert_refused(STUB_DIR "/libort_stub_crash.so", "ended");
  signal(SIGCHLD, before);
}

static void a_session_says_the_same(void **state)
{
  (void)state;
  oxp_network *net = NULL;
  oxp_session *session = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &net, NULL), OXP_OK);
  oxp_value x = oxp_network_add_input(net, "x", 2, (int64_t[]){ OXP_DIM_BATCH, 3 });
  x = oxp_network_add_layer(net, "relu", NULL, 1, &x);
  oxp_network_add_output(net, x, NULL);
  assert_int_equal(oxp_network_finish(net, NULL), OXP_OK);
  oxp_session_options options = { .onnxruntime = STUB_DIR "/libort_stub_crash.so" };
  assert_int_equal(oxp_session_open(net, "ort:cpu", &options, &session, &error), OXP_NOT_AVAILABLE);
  assert_null(session);
  assert_non_null(strstr(error.message, "signal 6"));
  oxp_network_free(net);
}

// What was asked for is the only place; else the environment's; else project and loader.
static void places_are_tried_in_order(void **state)
{
  (void)state;
  const char *environment = getenv("ONNXPORT_ORT_LIBRARY");
  char *before = environment ? strdup(environment) : NULL;
  setenv("ONNXPORT_ORT_LIBRARY", "./from-the-environment.so", 1);
  assert_refused("./from-the-options.so", "the path that was asked for");
  oxp__arena arena = { 0 };
  oxp__ort_library *library = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp__ort_library_open(&arena, NULL, &library, &error), OXP_NOT_AVAILABLE);
  assert_non_null(strstr(error.message, "ONNXPORT_ORT_LIBRARY, ./from-the-environment.so"));
  assert_null(strstr(error.message, "the loader's path"));
  unsetenv("ONNXPORT_ORT_LIBRARY");
  if (oxp__ort_library_open(&arena, NULL, &library, &error) != OXP_OK)
    assert_non_null(strstr(error.message, "the loader's path, libonnxruntime.so.1"));
  if (before)
    setenv("ONNXPORT_ORT_LIBRARY", before, 1);
  free(before);
  oxp__arena_fini(&arena);
}

// The first place with these words in its path; NULL when there is none.
static const oxp__ort_place *find_place(const oxp__ort_places *places, const char *words)
{
  for (int i = 0; i < places->count; i++)
    if (strstr(places->at[i].path, words))
      return &places->at[i];
  return NULL;
}

static void list_places(oxp__arena *arena, oxp__ort_places *places, const char *environment)
{
  setenv("VIRTUAL_ENV", environment, 1);
  unsetenv("ONNXPORT_ORT_LIBRARY");
  assert_int_equal(oxp__ort_places_list(arena, NULL, places, NULL), OXP_OK);
}

// pip's library is found in an active environment, the newest first, unless somebody else could have put it there.
static void environments_of_python_are_places(void **state)
{
  (void)state;
  const char *set = getenv("ONNXPORT_ORT_LIBRARY");
  char *before = set ? strdup(set) : NULL, folder[4096], path[4200];
  assert_int_equal(system("rm -rf venv && mkdir -p venv/lib/python3.11/site-packages/onnxruntime/capi && cd "
                          "venv/lib/python3.11/site-packages/onnxruntime/capi && touch libonnxruntime.so.1.31.0 "
                          "libonnxruntime.so.1.32.0"),
                   0);
  assert_non_null(getcwd(folder, sizeof folder - 8));
  strcat(folder, "/venv");
  oxp__arena arena = { 0 };
  oxp__ort_places places;
  list_places(&arena, &places, folder);
  const oxp__ort_place *place = find_place(&places, "/venv/");
  assert_non_null(place);
  assert_null(place->fault);
  assert_non_null(strstr(place->path, "1.32.0"));
  assert_null(place[1].fault);
  snprintf(path, sizeof path, "%s", place->path);
  assert_int_equal(chmod(path, 0666), 0);
  list_places(&arena, &places, folder);
  assert_string_equal(find_place(&places, "1.32.0")->fault, "others could have written it");
  // Relative to the current folder: not looked at. Empty: said to be so.
  list_places(&arena, &places, "venv");
  assert_null(find_place(&places, "1.32.0"));
  list_places(&arena, &places, "/nowhere");
  assert_string_equal(find_place(&places, "/nowhere/lib/python")->fault, "not there");
  for (int i = 0; i < places.count; i++)
    assert_true(places.at[i].path[0] == '/' || strcmp(places.at[i].path, "libonnxruntime.so.1") == 0);
  oxp__arena_fini(&arena);
  unsetenv("VIRTUAL_ENV");
  if (before)
    setenv("ONNXPORT_ORT_LIBRARY", before, 1);
  free(before);
}

// What cannot be loaded says what helps.
static void the_refusal_says_what_helps(void **state)
{
  (void)state;
  assert_refused("./no-such-file.so", "onnxruntime/capi");
  assert_refused("./no-such-file.so", "ONNXPORT_ORT_LIBRARY=PATH");
}

static void the_real_one_passes(void **state)
{
  (void)state;
  oxp__text found = { 0 };
  for (int i = 0; i < 2; i++) { // tried out once; the second time the loader knows it
    oxp__arena arena = { 0 };
    oxp__ort_library *library = NULL;
    oxp_error error = { 0 };
    oxp_status status = oxp__ort_library_open(&arena, NULL, &library, &error);
    if (status == OXP_OK)
      oxp__text_printf(&found, "%s ", library->version);
    oxp__arena_fini(&arena);
    if (status != OXP_OK) {
      print_message("skipped: %s\n", error.message);
      skip();
    }
  }
  assert_int_equal(oxp__text_string(&found)[0], '1');
  oxp__text_fini(&found);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(other_files_are_refused),           cmocka_unit_test(wrong_tables_are_refused),
    cmocka_unit_test(ignored_children_are_no_trouble),   cmocka_unit_test(a_session_says_the_same),
    cmocka_unit_test(places_are_tried_in_order),         cmocka_unit_test(the_real_one_passes),
    cmocka_unit_test(environments_of_python_are_places), cmocka_unit_test(the_refusal_says_what_helps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
