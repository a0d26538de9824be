// onnx_support.h: what the tests of src/onnx share: models in memory, folders of models, bytes as a source. Header only, because
// each test is one program.
#ifndef OXP_TESTS_ONNX_SUPPORT_H
#define OXP_TESTS_ONNX_SUPPORT_H

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/build.h"
#include "onnx/graph.h"

typedef struct bytes {
  unsigned char *at;
  size_t count, capacity;
} bytes;

// An oxp_write_function that collects.
static inline oxp_status bytes_append(void *context, const void *data, size_t count, oxp_error *error)
{
  (void)error;
  bytes *all = context;
  if (count > all->capacity - all->count) {
    all->capacity = (all->count + count) * 2;
    all->at = realloc(all->at, all->capacity);
    assert_non_null(all->at);
  }
  memcpy(all->at + all->count, data, count);
  all->count += count;
  return OXP_OK;
}

// An oxp_read_function over `bytes`; like a file, it fails beyond the end.
static inline oxp_status bytes_read(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  const bytes *all = context;
  if (offset > all->count || count > all->count - offset)
    return oxp__fail(error, OXP_BAD_FILE, "read beyond the end");
  memcpy(buffer, all->at + offset, count);
  return OXP_OK;
}

static inline bytes bytes_of_file(const char *path)
{
  bytes all = { 0 };
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char chunk[65536];
  for (size_t count; (count = fread(chunk, 1, sizeof chunk, file)) > 0;)
    bytes_append(&all, chunk, count, NULL);
  fclose(file);
  return all;
}

static inline bytes bytes_of_graph(oxp_graph *graph)
{
  bytes all = { 0 };
  oxp_error error = { 0 };
  if (oxp_graph_write_to(graph, bytes_append, &all, &error) != OXP_OK)
    fail_msg("%s", error.message);
  return all;
}

// A graph out of bytes, which it borrows; NULL and *error on failure.
static inline oxp_graph *graph_of_bytes(bytes *all, oxp_error *error)
{
  oxp_graph *graph = oxp__graph_new();
  assert_non_null(graph);
  if (oxp__model_read(graph, bytes_read, all, all->count, error) == OXP_OK)
    return graph;
  oxp_graph_free(graph);
  return NULL;
}

// Calls `visit` for every `.onnx` file below `folder`; returns how many there were.
static inline int visit_models(const char *folder, void (*visit)(const char *path))
{
  DIR *directory = opendir(folder);
  assert_non_null(directory);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(directory));) {
    char path[4096];
    assert_true(snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path);
    const char *dot = strrchr(entry->d_name, '.');
    if (dot && strcmp(dot, ".onnx") == 0) {
      visit(path);
      count++;
    } else if (entry->d_name[0] != '.') {
      DIR *inner = opendir(path);
      if (!inner)
        continue;
      closedir(inner);
      count += visit_models(path, visit);
    }
  }
  closedir(directory);
  return count;
}

#endif
