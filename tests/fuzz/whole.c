// See whole.h.
#include "whole.h"

#include <string.h>
#include <unistd.h>

#include "net/network.h"
#include "onnx/graph.h"

enum { MODEL_LIMIT = 1 << 20, WORK_LIMIT = 1 << 20 };

// Bytes to a graph again, without a finding of the checker, and to the same bytes.
static void read_back(const oxp__text *model)
{
  oxp__text again = { 0 };
  oxp_error error = { 0 };
  oxp_graph *graph = NULL;
  FUZZ_CHECK(oxp_graph_open(fuzz_file((const uint8_t *)oxp__text_string(model), model->length), &graph, &error) ==
                 OXP_OK,
             error.message);
  FUZZ_CHECK(oxp__model_check(graph, NULL, &error) == OXP_OK, error.message);
  FUZZ_CHECK(oxp_graph_write_to(graph, fuzz_collect, &again, &error) == OXP_OK, error.message);
  FUZZ_CHECK(again.length == model->length &&
                 memcmp(oxp__text_string(&again), oxp__text_string(model), again.length) == 0,
             "written again, the model has other bytes");
  oxp_graph_free(graph);
  oxp__text_fini(&again);
}

static bool file_holds(const char *path, const oxp__text *expected)
{
  oxp__arena arena = { 0 };
  oxp__file *file;
  char *bytes;
  size_t count;
  bool same = oxp__file_open(&arena, path, &file, NULL) == OXP_OK &&
              oxp__file_read_all(&arena, file, MODEL_LIMIT, &bytes, &count, NULL) == OXP_OK &&
              count == expected->length && memcmp(bytes, oxp__text_string(expected), count) == 0;
  oxp__arena_fini(&arena);
  return same;
}

// The way to a file is another one than that to a function: large arrays are copied by threads.
static void export_to_file(const oxp_graph *graph, const oxp__text *model)
{
  oxp_write_options options = { .sync = OXP_SYNC_NEVER };
  oxp_error error = { 0 };
  const char *path = fuzz_target();
  FUZZ_CHECK(oxp_graph_write(graph, path, &options, NULL, &error) == OXP_OK, error.message);
  FUZZ_CHECK(file_holds(path, model), "the file has other bytes than were handed to a function");
  unlink(path);
}

static void export(const oxp_network *network, const oxp_lower_options *options, oxp__text *model)
{
  oxp_error error = { 0 };
  oxp_graph *graph;
  uint64_t announced = 0;
  oxp_status status = oxp_graph_lower(network, options, &graph, &error);
  fuzz_check_error(status, &error);
  if (status != OXP_OK)
    return;
  status = oxp__model_size(graph, &announced, &error);
  fuzz_check_error(status, &error);
  if (status == OXP_OK && announced <= MODEL_LIMIT) {
    status = oxp_graph_write_to(graph, fuzz_collect, model, &error);
    fuzz_check_error(status, &error);
    FUZZ_CHECK(status != OXP_OK || model->length == announced, "another size than was announced");
    if (status != OXP_OK)
      oxp__text_fini(model);
  }
  if (status == OXP_OK && model->length > 0)
    export_to_file(graph, model);
  oxp_graph_free(graph);
}

// The input of a run: every open dimension is 1.
static oxp__shape run_input(const oxp_network *network)
{
  oxp__shape shape = network->values[network->inputs[0]].shape;
  for (int i = 0; i < shape.rank; i++)
    shape.dim[i] = shape.dim[i] < 0 ? 1 : shape.dim[i];
  return shape;
}

// A rough bound of what one run costs: elements of all values, times those of the weights.
static bool is_small(const oxp_network *network)
{
  oxp__arena arena = { 0 };
  oxp__shape input = run_input(network);
  oxp__shape *shapes = oxp__arena_new(&arena, network->value_count, sizeof *shapes);
  int64_t elements = 1, count, work;
  bool small = shapes && oxp__infer_shapes(network, &input, shapes, NULL) == OXP_OK;
  for (size_t i = 0; small && i < network->value_count; i++)
    small = oxp__shape_count(shapes[i].rank, shapes[i].dim, &count) && oxp__add_i64(elements, count, &elements);
  small = small && oxp__mul_i64(elements, 1 + oxp_network_parameter_count(network), &work) && work <= WORK_LIMIT;
  oxp__arena_fini(&arena);
  return small;
}

// What can be written for netcl opens again and is exported to the same bytes.
static void convert(const oxp_network *network, const oxp_lower_options *options, const oxp__text *model)
{
  oxp_error error = { 0 };
  oxp_network *again;
  oxp__text same = { 0 };
  const char *path = fuzz_target();
  if (oxp_network_parameter_count(network) > MODEL_LIMIT)
    return;
  oxp_status status = oxp_network_write(network, path, "netcl", &error);
  fuzz_check_error(status, &error);
  if (status != OXP_OK)
    return;
  const oxp__shape *shape = &network->values[network->inputs[0]].shape;
  oxp_open_options same_input = { .input_rank = shape->rank - 1 };
  memcpy(same_input.input_shape, shape->dim + 1, (size_t)(shape->rank - 1) * sizeof(int64_t));
  for (int i = 1; i < shape->rank; i++)
    if (shape->dim[i] < 0) // any size fits: nothing has to be given
      same_input.input_rank = 0;
  FUZZ_CHECK(oxp_network_open(path, &same_input, &again, &error) == OXP_OK, error.message);
  unlink(path); // what is read may not be written over, as long as it has a name
  export(again, options, &same);
  FUZZ_CHECK(same.length == model->length && memcmp(oxp__text_string(&same), oxp__text_string(model), same.length) == 0,
             "converted to netcl, the network is exported to other bytes");
  oxp__text_fini(&same);
  oxp_network_free(again);
}

static void run(const oxp_network *network)
{
  oxp_error error = { 0 };
  oxp_session *session;
  oxp_array outputs[4] = { 0 }, input = { 0 };
  const oxp__shape shape = run_input(network);
  oxp_status status = oxp_session_open(network, "reference", NULL, &session, &error);
  fuzz_check_error(status, &error);
  if (status != OXP_OK)
    return;
  FUZZ_CHECK(oxp_array_new(&input, network->dtype, shape.rank, shape.dim, &error) == OXP_OK, error.message);
  status = oxp_session_run(session, &input, outputs, &error);
  fuzz_check_error(status, &error);
  for (int i = 0; status == OXP_OK && i < oxp_session_output_count(session); i++)
    oxp_array_free(&outputs[i]);
  oxp_array_free(&input);
  oxp_session_free(session);
}

// Lowering looks at the statistics of batch normalizations, all of them: gigabytes of made-up ones take their time.
static bool has_long_statistics(const oxp_network *network)
{
  oxp_layer_info layer;
  for (int i = 0; oxp_network_layer_info(network, i, &layer); i++)
    if (strcmp(layer.kind, "batch_norm") == 0 && layer.parameter_count > MODEL_LIMIT)
      return true;
  return false;
}

void fuzz_whole_path(oxp_network *network, const oxp_lower_options *options, bool convertible)
{
  oxp__text model = { 0 };
  if (has_long_statistics(network)) {
    oxp_network_free(network);
    return;
  }
  export(network, options, &model); // before the run and before the file is replaced
  if (network->input_count == 1 && network->output_count <= 4 && is_small(network))
    run(network);
  if (convertible && network->input_count == 1 && model.length > 0)
    convert(network, options, &model);
  oxp_network_free(network);
  if (model.length > 0)
    read_back(&model);
  oxp__text_fini(&model);
}

oxp_lower_options fuzz_lower_options(size_t number)
{
  static const int opsets[] = { 0, 13, 18, 20, 23 };
  return (oxp_lower_options){ .opset = opsets[number % 5],
                              .batch = (int64_t)(number / 5 % 3),
                              .batchnorm = number / 15 % 2 ? OXP_BATCHNORM_EXPANDED : OXP_BATCHNORM_LITERAL };
}
