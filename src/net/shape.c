// shape.c: the walk that infers the shape of every value. Reads no weights. Place: net.
#include <stdlib.h>

#include "net/network.h"

static oxp_status shape_layer(const oxp__layer *layer, oxp__shape *inputs, oxp__shape *shapes, oxp_error *error)
{
  for (int i = 0; i < layer->input_count; i++)
    inputs[i] = shapes[layer->inputs[i]];
  shapes[layer->output] = (oxp__shape){ .rank = -1 };
  oxp_status status = layer->kind->shape(layer, inputs, &shapes[layer->output], error);
  char label[256];
  return status == OXP_OK ? status : oxp__at_layer(error, status, "%s", oxp__layer_label(layer, label, sizeof label));
}

// The largest number of inputs that any layer has: room for one layer's input shapes.
static size_t shape_most_inputs(const oxp_network *network)
{
  size_t most = 1;
  for (size_t i = 0; i < network->layer_count; i++)
    if ((size_t)network->layers[i]->input_count > most)
      most = (size_t)network->layers[i]->input_count;
  return most;
}

oxp_status oxp__infer_shapes(const oxp_network *network, const oxp__shape *input_shapes, oxp__shape *shapes,
                             oxp_error *error)
{
  size_t most = shape_most_inputs(network);
  oxp__shape *inputs = calloc(most, sizeof *inputs);
  if (!inputs)
    return oxp__fail_memory(error, most * sizeof *inputs);
  for (size_t i = 0; i < network->input_count; i++)
    shapes[network->inputs[i]] = input_shapes[i];
  oxp_status status = OXP_OK;
  for (size_t i = 0; status == OXP_OK && i < network->layer_count; i++)
    status = shape_layer(network->layers[i], inputs, shapes, error);
  free(inputs);
  return status;
}
