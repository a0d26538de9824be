// Any bytes as a program that builds a network with the public functions: kinds, inputs, parameters, branches, outputs that a file of
// netcl cannot say; then the whole path behind it.
#include <string.h>

#include "formats/common/weights.h"
#include "whole.h"

enum { MOST_LAYERS = 24 };

typedef struct script {
  const uint8_t *at, *end;
} script;

static unsigned next(script *program)
{
  return program->at < program->end ? *program->at++ : 0;
}

static int64_t next_number(script *program)
{
  static const int64_t numbers[] = { 1,         2,        3, 4, 0, 5, 6, 8, -1, -2, -3, 16, INT32_MAX, INT64_C(1) << 31,
                                     INT64_MAX, INT64_MIN };
  return numbers[next(program) % (sizeof numbers / sizeof numbers[0])];
}

static oxp_status zeros(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  (void)context;
  (void)offset;
  (void)error;
  memset(buffer, 0, count);
  return OXP_OK;
}

static void add_input(oxp_network *network, script *program)
{
  int64_t shape[OXP_MAX_RANK] = { OXP_DIM_BATCH };
  int rank = 1 + (int)(next(program) % 5);
  for (int i = 1; i < rank; i++)
    shape[i] = next_number(program);
  oxp_network_add_input(network, next(program) % 8 ? NULL : "x", rank, shape);
}

static void set_parameter(oxp_network *network, oxp_value value, const oxp__param *param, script *program)
{
  int64_t numbers[4];
  for (int i = 0; i < 4; i++)
    numbers[i] = next_number(program);
  if (param->type == OXP__PARAM_FLOAT || param->type == OXP__PARAM_FLOATS)
    oxp_layer_set_float(network, value, param->name, (double)numbers[0] / 7);
  else if (param->type == OXP__PARAM_CHOICE)
    oxp_layer_set_text(network, value, param->name, numbers[0] > 1 ? "none" : "tanh");
  else if (param->type == OXP__PARAM_INT || param->type == OXP__PARAM_BOOL || numbers[0] == 1)
    oxp_layer_set_int(network, value, param->name, numbers[1]);
  else
    oxp_layer_set_ints(network, value, param->name, param->count > 0 && param->count < 4 ? param->count : 4, numbers);
}

// Gives the newest layer what it asks for: zeros, now and then of another shape.
static void set_weights(oxp_network *network, oxp_value value, script *program)
{
  const oxp__layer *layer = network->layers[network->layer_count - 1];
  if (oxp__params_check(layer->kind, layer->params, NULL) != OXP_OK)
    return; // weights have shapes once all parameters that must be given were given
  for (int role = 0; role < layer->kind->weight_count; role++) {
    oxp__shape shape;
    if (!oxp__weights_wanted(layer, role, "onnx", &shape) || shape.rank > OXP_MAX_RANK)
      continue;
    unsigned odd = next(program);
    if (odd == 255 && shape.rank > 0)
      shape.dim[0] = next_number(program);
    oxp_tensor tensor = oxp_tensor_from_function(odd % 16 == 9 ? OXP_FLOAT64 : OXP_FLOAT32, shape.rank, shape.dim,
                                                 zeros, odd < 128 ? network : NULL);
    oxp_layer_set_weight(network, value, layer->kind->weights[role].role, &tensor);
  }
}

static void add_layer(oxp_network *network, script *program)
{
  const oxp__kind *kind = oxp__kinds[next(program) % oxp__kind_count];
  oxp_value inputs[3];
  int input_count = kind->max_inputs > 1 ? 1 + (int)(next(program) % 3) : 1;
  for (int i = 0; i < input_count; i++)
    inputs[i] = (oxp_value)(network->value_count - 1 - next(program) % 4 % network->value_count);
  static const char *const names[] = { NULL, NULL, NULL, "conv1", "conv1_2", "", "input", "output", "a/b" };
  oxp_value value = oxp_network_add_layer(network, kind->name, names[next(program) % 9], input_count, inputs);
  for (int i = 0; i < kind->param_count && value >= 0; i++)
    if (kind->params[i].required && next(program) != 77)
      set_parameter(network, value, &kind->params[i], program);
  for (unsigned left = next(program) % 6; left > 0 && value >= 0 && kind->param_count > 0; left--)
    set_parameter(network, value, &kind->params[next(program) % (unsigned)kind->param_count], program);
  if (value >= 0 && network->status == OXP_OK)
    set_weights(network, value, program);
}

static oxp_status build(oxp_network *network, script *program, oxp_error *error)
{
  for (unsigned left = 1 + next(program) % 2; left > 0; left--)
    add_input(network, program);
  for (int i = 0; i < MOST_LAYERS && program->at < program->end && network->value_count > 0; i++)
    add_layer(network, program);
  for (unsigned left = 1 + next(program) % 2; left > 0 && network->value_count > 0; left--)
    oxp_network_add_output(network, (oxp_value)(network->value_count - left), next(program) % 4 ? NULL : "input");
  return oxp_network_finish(network, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  script program = { data, data + size };
  oxp_error error = { 0 };
  oxp_network *network;
  oxp_lower_options options = fuzz_lower_options(next(&program));
  FUZZ_CHECK(oxp_network_new(next(&program) % 8 ? OXP_FLOAT32 : OXP_FLOAT64, &network, &error) == OXP_OK,
             error.message);
  oxp_status status = build(network, &program, &error);
  fuzz_check_error(status, &error);
  if (status == OXP_OK)
    fuzz_whole_path(network, &options, false);
  else
    oxp_network_free(network);
  return 0;
}
