// netcl.c: the bytes that netcl 0.4.4's export_onnx writes for the same network, wherever those are right. Where they are not
// (no runtime loads them, or they compute something else than netcl), the layer is refused and the default profile is named.
// Data only. Place: profiles.
#include <string.h>

#include "net/profile.h"

static const char *netcl_value_name(oxp__naming *naming, const oxp__layer *layer)
{
  (void)layer;
  return oxp__naming_claimf(naming, "t_%d", oxp__naming_next(naming));
}

// What netcl calls its initializers, by kind and role; other kinds have a weight and a bias.
static const struct {
  const char *kind, *prefixes[4];
} netcl_prefixes[] = {
  { "batch_norm", { "bn_scale", "bn_bias", "bn_mean", "bn_var" } },
  { "layer_norm", { "ln_scale", "ln_bias" } },
};

static const char *netcl_prefix(const oxp__layer *layer, int role)
{
  for (size_t i = 0; i < OXP__COUNT(netcl_prefixes); i++)
    if (strcmp(netcl_prefixes[i].kind, layer->kind->name) == 0)
      return netcl_prefixes[i].prefixes[role];
  return role == 0 ? "W" : "B";
}

static const char *netcl_initializer_name(oxp__naming *naming, const oxp__layer *layer, int role)
{
  return oxp__naming_claimf(naming, "%s_%d", netcl_prefix(layer, role), oxp__naming_next(naming));
}

static const char *const netcl_kinds[] = { "linear",  "conv2d", "batch_norm", "layer_norm", "relu",   "leaky_relu",
                                           "sigmoid", "tanh",   "max_pool2d", "flatten",    "dropout" };

static const char *netcl_refuses(const oxp__layer *layer, const oxp__shape *inputs, int opset)
{
  const char *kind = layer->kind->name;
  bool known = false;
  for (size_t i = 0; i < OXP__COUNT(netcl_kinds); i++)
    known = known || strcmp(netcl_kinds[i], kind) == 0;
  if (!known)
    return "netcl's exporter does not know this kind; profile onnx writes it";
  if (strcmp(kind, "linear") == 0 && inputs[0].rank != 2)
    return "netcl writes Gemm here, which takes rank 2 only and loads nowhere; profile onnx writes MatMul and Add";
  if (strcmp(kind, "linear") == 0 && opset < 11 && !layer->weights[1].present)
    return "netcl writes Gemm without a bias, which it must have below opset 11";
  if (strcmp(kind, "layer_norm") == 0 && opset < 17)
    return "netcl's LayerNormalization needs opset 17; profile onnx takes it apart below that";
  if (strcmp(kind, "layer_norm") == 0 && layer->weights[0].tensor.rank != 1)
    return "netcl normalizes over the last axis only, the node it writes over all given axes; profile onnx writes what "
           "the "
           "parameters say";
  return NULL;
}

const oxp__profile oxp__profile_netcl = {
  .name = "netcl",
  .doc = "byte for byte what netcl 0.4.4 writes, wherever that is valid and right",
  .opset = 17,
  .min_opset = 7,
  .max_opset = 26,
  .ir_version = 10,
  .producer_name = "netcl",
  .graph_name = "netcl_model",
  .doc_string = "Exported from NetCL",
  .batch_symbol = "batch",
  .dtype = OXP_FLOAT32,
  .dense = OXP__DENSE_GEMM,
  .final_identity = true,
  .value_name = netcl_value_name,
  .initializer_name = netcl_initializer_name,
  .refuses = netcl_refuses,
};
