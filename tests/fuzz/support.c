// See fuzz.h: everything but the mutator of archives.
#define _GNU_SOURCE // memfd_create
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Noreturn void fuzz_fail(const char *file, int line, const char *text)
{
  fprintf(stderr, "%s:%d: %s\n", file, line, text);
  abort();
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
  static int descriptor = -1;
  static char path[64];
  if (descriptor < 0) {
    descriptor = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(descriptor >= 0, "there is no file in memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  }
  FUZZ_CHECK(ftruncate(descriptor, 0) == 0, "the file cannot be emptied");
  FUZZ_CHECK(pwrite(descriptor, data, size, 0) == (ssize_t)size, "the file cannot be written");
  return path;
}

static char folder[64];

static void folder_remove(void)
{
  rmdir(folder);
}

const char *fuzz_target(void)
{
  static char path[96];
  if (!folder[0]) {
    snprintf(folder, sizeof folder, "/dev/shm/oxp-fuzz-XXXXXX");
    FUZZ_CHECK(mkdtemp(folder) || (strcpy(folder, "/tmp/oxp-fuzz-XXXXXX") && mkdtemp(folder)), "there is no folder");
    snprintf(path, sizeof path, "%s/target", folder);
    atexit(folder_remove);
  }
  return path;
}

void fuzz_check_error(oxp_status status, const oxp_error *error)
{
  FUZZ_CHECK(status == error->status, "the status that is returned is not the one in the error");
  if (status == OXP_OK)
    return;
  FUZZ_CHECK(error->message[0] != 0, "a failure without a message");
  FUZZ_CHECK(!strchr(error->message, '\n'), "a message with a line break");
  FUZZ_CHECK(oxp__text_is_utf8(error->message, strlen(error->message)), "a message that is not UTF-8");
}

// A network whose input's shape is missing is complete but for the shapes, and is not lowered. Frees it; returns the failure that asks
// for a shape.
static oxp_status lower_without_shape(oxp_network *network, oxp_error *error)
{
  oxp_layer_info layer;
  oxp_graph *graph;
  for (int i = 0; oxp_network_layer_info(network, i, &layer); i++)
    FUZZ_CHECK(layer.name && layer.kind && layer.parameter_count >= 0, "a layer that is not complete");
  oxp_status status = oxp_graph_lower(network, NULL, &graph, error);
  FUZZ_CHECK(status == OXP_BAD_NETWORK, "a network without shapes was lowered");
  fuzz_check_error(status, error);
  oxp_network_free(network);
  return status;
}

oxp_status fuzz_open(const char *path, const oxp_open_options *given, oxp_network **network, oxp_error *error)
{
  static const int64_t channels[] = { 3, 1, 2, 8, 4, 0 };
  oxp_open_options options = given ? *given : (oxp_open_options){ 0 };
  oxp_status status = oxp_network_open(path, &options, network, error);
  fuzz_check_error(status, error);
  if (status == OXP_OK && oxp_network_missing_shape(*network))
    status = lower_without_shape(*network, error);
  options.input_rank = 3;
  for (int i = 0; status == OXP_BAD_NETWORK && channels[i] > 0; i++) {
    memcpy(options.input_shape, (int64_t[]){ channels[i], 32, 32 }, 3 * sizeof(int64_t));
    *error = (oxp_error){ 0 };
    status = oxp_network_open(path, &options, network, error);
    fuzz_check_error(status, error);
  }
  return status;
}

oxp_status fuzz_collect(void *text, const void *bytes, size_t count, oxp_error *error)
{
  oxp__text_add_bytes(text, bytes, count);
  return oxp__text_status(text, error);
}
