// doubt.c: what is wrong with a network whatever goes into it, although it can be written: its kinds know (oxp__kind.doubt). Reads a
// few statistics, never all weights. Place: net.
#include "net/network.h"

oxp_status oxp__network_doubt(const oxp_network *network, void (*say)(void *context, const char *sentence),
                              void *context, oxp_error *error)
{
  for (size_t i = 0; i < network->layer_count; i++) {
    const oxp__layer *layer = network->layers[i];
    oxp__text sentence = { 0 };
    char label[256];
    if (!layer->kind->doubt)
      continue;
    oxp__text_printf(&sentence, "%s: ", oxp__layer_label(layer, label, sizeof label));
    size_t label_length = sentence.length;
    oxp_status status = layer->kind->doubt(layer, &sentence, error);
    if (status == OXP_OK)
      status = oxp__text_status(&sentence, error);
    if (status == OXP_OK && sentence.length > label_length)
      say(context, sentence.bytes);
    oxp__text_fini(&sentence);
    if (status != OXP_OK)
      return oxp__at_layer(error, status, "%s", label);
  }
  return OXP_OK;
}

static void doubt_warn(void *context, const char *sentence)
{
  oxp__network_warn(context, "%s", sentence);
}

oxp_status oxp_network_check_statistics(oxp_network *network, oxp_error *error)
{
  OXP__NEED(network, error);
  if (!network->finished)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the network is not finished: call oxp_network_finish first");
  return oxp__network_doubt(network, doubt_warn, network, error);
}
