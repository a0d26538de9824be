// formats_support.h: what the tests of file formats share: files as bytes, opening with an expected outcome, running on the reference
// engine. Every function fails the test by itself.
#ifndef TESTS_FORMATS_SUPPORT_H
#define TESTS_FORMATS_SUPPORT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <onnxport.h>

#define NETCL  OXP_TEST_DATA "/netcl/"
#define FAULTS OXP_TEST_DATA "/faults/"

typedef struct bytes {
  unsigned char *at;
  size_t count;
} bytes;

static inline bytes read_bytes(const char *path)
{
  FILE *file = fopen(path, "rb");
  if (!file)
    fail_msg("cannot open %s", path);
  fseek(file, 0, SEEK_END);
  bytes result = { NULL, (size_t)ftell(file) };
  rewind(file);
  result.at = malloc(result.count + 1);
  assert_non_null(result.at);
  assert_int_equal(fread(result.at, 1, result.count, file), result.count);
  fclose(file);
  return result;
}

// Anew each time: some file systems wait for the disk when an existing file is cut and filled again.
static inline void write_bytes(const char *path, const void *at, size_t count)
{
  remove(path);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(at, 1, count, file), count);
  assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *path, const char *text)
{
  write_bytes(path, text, strlen(text));
}

static inline bool exists(const char *path)
{
  FILE *file = fopen(path, "rb");
  if (file)
    fclose(file);
  return file != NULL;
}

// "3x32x32" as an input shape; "" gives none.
static inline oxp_open_options with_shape(const char *shape)
{
  oxp_open_options options = { 0 };
  for (const char *at = shape; *at; at += *at == 'x') {
    char *end;
    options.input_shape[options.input_rank++] = strtoll(at, &end, 10);
    at = end;
  }
  return options;
}

static inline oxp_network *open_network(const char *path, oxp_open_options options)
{
  oxp_network *network = NULL;
  oxp_error error = { 0 };
  if (oxp_network_open(path, &options, &network, &error) != OXP_OK)
    fail_msg("%s", error.message);
  return network;
}

static inline void assert_words(const char *text, const char *words)
{
  if (!strstr(text, words))
    fail_msg("\"%s\" lacks \"%s\"", text, words);
}

// `words` is a list separated by '|': the message must hold each of them.
static inline void assert_all_words(const char *text, const char *words)
{
  char copy[1024];
  snprintf(copy, sizeof copy, "%s", words);
  char *rest = NULL;
  for (char *word = strtok_r(copy, "|", &rest); word; word = strtok_r(NULL, "|", &rest))
    assert_words(text, word);
}

static inline void assert_open_fails(const char *path, oxp_open_options options, oxp_status status, const char *words)
{
  oxp_network *network = NULL;
  oxp_error error = { 0 };
  oxp_status got = oxp_network_open(path, &options, &network, &error);
  if (got != status)
    fail_msg("%s: %s instead of %s: %s", path, oxp_status_name(got), oxp_status_name(status), error.message);
  assert_null(network);
  assert_int_equal(error.status, status);
  assert_true(error.file[0] != 0);
  assert_all_words(error.message, words);
}

// The file opens and can be looked at, but says too little about its input: what needs shapes fails with a sentence of these words.
static inline void assert_shape_missing(const char *path, const char *words)
{
  oxp_network *network = open_network(path, (oxp_open_options){ 0 });
  oxp_graph *graph = NULL;
  oxp_session *session = NULL;
  oxp_verify_report *report = NULL;
  oxp_error errors[3] = { 0 };
  oxp_value_info info = { 0 };
  assert_non_null(oxp_network_missing_shape(network));
  assert_int_equal(oxp_graph_lower(network, NULL, &graph, &errors[0]), OXP_BAD_NETWORK);
  assert_int_equal(oxp_session_open(network, "reference", NULL, &session, &errors[1]), OXP_BAD_NETWORK);
  assert_int_equal(oxp_verify(network, NULL, NULL, &report, &errors[2]), OXP_BAD_NETWORK);
  for (int i = 0; i < 3; i++) {
    assert_all_words(errors[i].message, words);
    assert_string_equal(errors[i].file, path);
  }
  assert_true(oxp_network_value_info(network, oxp_network_input(network, 0), &info));
  assert_true(info.rank < 0 || info.shape[info.rank - 1] == OXP_DIM_UNKNOWN);
  oxp_network_free(network);
}

static inline oxp_array read_array(const char *path)
{
  oxp_array array;
  oxp_error error = { 0 };
  if (oxp_array_read(path, &array, &error) != OXP_OK)
    fail_msg("%s", error.message);
  return array;
}

static inline oxp_array run_network(const oxp_network *network, const oxp_array *input)
{
  oxp_session *session = NULL;
  oxp_array output = { 0 };
  oxp_error error = { 0 };
  if (oxp_session_open(network, "reference", NULL, &session, &error) != OXP_OK ||
      oxp_session_run(session, input, &output, &error) != OXP_OK)
    fail_msg("%s", error.message);
  oxp_session_free(session);
  return output;
}

// Runs the network on the array in `x_path`; the result must be near the one in `y_path`, relative to its largest value.
static inline void assert_computes(const oxp_network *network, const char *x_path, const char *y_path, double tolerance)
{
  oxp_array x = read_array(x_path), y = read_array(y_path), got = run_network(network, &x);
  oxp_difference difference;
  oxp_error error = { 0 };
  if (oxp_compare(&y, &got, 0, 1e300, &difference, &error) != OXP_OK)
    fail_msg("%s", error.message);
  if (!(difference.max_abs <= tolerance * (difference.scale > 1 ? difference.scale : 1)))
    fail_msg("%s: off by %g at %lld (scale %g)", y_path, difference.max_abs, (long long)difference.at,
             difference.scale);
  oxp_array_free(&x);
  oxp_array_free(&y);
  oxp_array_free(&got);
}

#endif
