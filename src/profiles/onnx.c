// onnx.c: the default profile. Names come from the source; nothing is written that a reader does not need.
// Data only. Place: profiles.
#include "net/profile.h"

static const char *onnx_value_name(oxp__naming *naming, const oxp__layer *layer)
{
  return oxp__naming_claim(naming, layer->name);
}

static const char *onnx_initializer_name(oxp__naming *naming, const oxp__layer *layer, int role)
{
  return oxp__naming_claimf(naming, "%s.%s", naming->layer_name, layer->weights[role].source_role);
}

const oxp__profile oxp__profile_onnx = {
  .name = "onnx",
  .doc = "names from the source, known output sizes, the lowest IR version; the default",
  .opset = 17,
  .min_opset = 13,
  .max_opset = 26,
  .producer_name = "onnxport",
  .producer_version = OXP_VERSION,
  .graph_name = "network",
  .batch_symbol = "batch",
  .dense = OXP__DENSE_GEMM_AS_STORED,
  .node_names = true,
  .drops_pass_through = true,
  .shares_weights = true,
  .declares_dims = true,
  .value_name = onnx_value_name,
  .initializer_name = onnx_initializer_name,
};
