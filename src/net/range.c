// range.c: weights that the element type of a network cannot hold: they would be infinite. Reads only weights that are stored wider. Place: net.
#include <inttypes.h>

#include "core/text.h"
#include "net/network.h"

static oxp_status range_ignore(void *context, const void *bytes, size_t count, oxp_error *error)
{
  (void)context;
  (void)bytes;
  (void)count;
  (void)error;
  return OXP_OK;
}

// Where the element with this number lies, as the index of its array.
static void range_add_place(oxp__text *text, const oxp_tensor *tensor, int64_t flat)
{
  int64_t index[OXP_MAX_RANK];
  for (int axis = tensor->rank - 1; axis >= 0; axis--) {
    index[axis] = flat % tensor->shape[axis];
    flat /= tensor->shape[axis];
  }
  oxp__text_add_shape(text, tensor->rank, index);
}

static oxp_status range_look(oxp__text *found, const oxp__layer *layer, const oxp__weight *weight, oxp_error *error)
{
  char label[256];
  oxp__tensor_stats stats = { 0 };
  oxp__sink sink = { .write = range_ignore };
  oxp_status status = oxp__tensor_stream(&weight->tensor, OXP_FLOAT32, sink, &stats, error);
  if (status != OXP_OK)
    return oxp__at_layer(error, status, "%s", oxp__layer_label(layer, label, sizeof label));
  if (stats.overflowed == 0)
    return OXP_OK;
  oxp__text_printf(found, "%s%s: \"%s\" holds %" PRId64 " of them, the first ", found->length ? "; " : "",
                   oxp__layer_label(layer, label, sizeof label), weight->source_role, stats.overflowed);
  oxp__text_add_json_number(found, stats.first_overflow);
  oxp__text_add(found, " at ");
  range_add_place(found, &weight->tensor, stats.first_overflow_at);
  return oxp__text_status(found, error);
}

static oxp_status range_look_at_all(oxp__text *found, const oxp_network *network, oxp_error *error)
{
  for (size_t i = 0; i < network->layer_count; i++)
    for (int role = 0; role < network->layers[i]->kind->weight_count; role++) {
      const oxp__weight *weight = &network->layers[i]->weights[role];
      if (weight->present && weight->tensor.dtype == OXP_FLOAT64)
        OXP__TRY(range_look(found, network->layers[i], weight, error));
    }
  return OXP_OK;
}

oxp_status oxp__network_check_range(const oxp_network *network, oxp_error *error)
{
  oxp__text found = { 0 };
  oxp_status status = network->dtype == OXP_FLOAT32 ? range_look_at_all(&found, network, error) : OXP_OK;
  if (status == OXP_OK && found.length > 0)
    status =
        oxp__fail(error, OXP_UNSUPPORTED,
                  "weights are beyond the range of float32: %s; as float64 they can be kept, and float32 asked for by "
                  "name makes them infinite",
                  oxp__text_string(&found));
  oxp__text_fini(&found);
  return status;
}
