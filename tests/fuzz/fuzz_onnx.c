// Any bytes as an ONNX model: what the reader takes is checked, and written; what was written is read and written again, to the
// same bytes.
#include <string.h>

#include "fuzz.h"
#include "onnx/graph.h"

static void write_again(const oxp_graph *graph)
{
  oxp__text first = { 0 }, second = { 0 };
  oxp_error error = { 0 };
  uint64_t announced = 0;
  oxp_graph *again = NULL;
  oxp_status status = oxp__model_size(graph, &announced, &error);
  fuzz_check_error(status, &error);
  if (status == OXP_OK)
    status = oxp_graph_write_to(graph, fuzz_collect, &first, &error);
  fuzz_check_error(status, &error);
  if (status == OXP_OK) {
    FUZZ_CHECK(announced == first.length, "another size than was announced");
    const char *path = fuzz_file((const uint8_t *)oxp__text_string(&first), first.length);
    FUZZ_CHECK(oxp_graph_open(path, &again, &error) == OXP_OK, error.message);
    FUZZ_CHECK(oxp_graph_write_to(again, fuzz_collect, &second, &error) == OXP_OK, error.message);
    FUZZ_CHECK(first.length == second.length &&
                   memcmp(oxp__text_string(&first), oxp__text_string(&second), first.length) == 0,
               "written again, the model has other bytes");
  }
  oxp_graph_free(again);
  oxp__text_fini(&first);
  oxp__text_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  oxp_error error = { 0 };
  oxp_graph *graph;
  oxp_status status = oxp_graph_open(fuzz_file(data, size), &graph, &error);
  fuzz_check_error(status, &error);
  if (status != OXP_OK)
    return 0;
  fuzz_check_error(oxp_graph_check(graph, &error), &error);
  error = (oxp_error){ 0 };
  fuzz_check_error(oxp__model_check(graph, NULL, &error), &error);
  write_again(graph);
  oxp_graph_free(graph);
  return 0;
}
