// operators.c: looking up ONNX's releases and operators (operators_table.c), and which operators have a shape function.
// Place: onnx.
#include "onnx/operators.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

int oxp__ir_version_for_opset(int opset)
{
  if (opset < 1 || opset > OXP__NEWEST_OPSET)
    return 0;
  int ir_version = 0;
  for (size_t i = 0; i < oxp__release_count; i++)
    if (oxp__releases[i].opset <= opset)
      ir_version = oxp__releases[i].ir_version;
  return ir_version;
}

int oxp__domain_newest(const char *domain)
{
  for (size_t i = 0; i < oxp__domain_count; i++)
    if (strcmp(oxp__domains[i].name, domain) == 0)
      return oxp__domains[i].newest;
  return 0;
}

static bool operators_same(const oxp__operator *row, const char *domain, const char *name)
{
  return strcmp(row->domain, domain) == 0 && strcmp(row->name, name) == 0;
}

const oxp__operator *oxp__operator_find(const char *domain, const char *name, int opset)
{
  size_t low = 0, high = oxp__operator_count;
  // The last row that is not behind (domain, name, opset).
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const oxp__operator *row = &oxp__operators[middle];
    int order = strcmp(row->domain, domain);
    order = order ? order : strcmp(row->name, name);
    if (order < 0 || (order == 0 && row->since <= opset))
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && operators_same(&oxp__operators[low - 1], domain, name) ? &oxp__operators[low - 1] : NULL;
}

int oxp__operator_since(const char *domain, const char *name)
{
  const oxp__operator *row = oxp__operator_find(domain, name, INT_MAX);
  while (row && row > oxp__operators && operators_same(row - 1, domain, name))
    row--;
  return row ? row->since : 0;
}

// --- Shape functions ---

// From opset 7 on. Ordered by name, all of the default domain.
static const struct operators_shape {
  const char *name;
  oxp__infer_function infer;
} operators_shapes[] = {
  { "Abs", oxp__infer_same },
  { "Acos", oxp__infer_same },
  { "Acosh", oxp__infer_same },
  { "Add", oxp__infer_broadcast },
  { "And", oxp__infer_broadcast },
  { "ArgMax", oxp__infer_arg },
  { "ArgMin", oxp__infer_arg },
  { "Asin", oxp__infer_same },
  { "Asinh", oxp__infer_same },
  { "Atan", oxp__infer_same },
  { "Atanh", oxp__infer_same },
  { "AveragePool", oxp__infer_pool },
  { "BatchNormalization", oxp__infer_batch_normalization },
  { "BitCast", oxp__infer_same },
  { "BitShift", oxp__infer_broadcast },
  { "BitwiseAnd", oxp__infer_broadcast },
  { "BitwiseNot", oxp__infer_same },
  { "BitwiseOr", oxp__infer_broadcast },
  { "BitwiseXor", oxp__infer_broadcast },
  { "Cast", oxp__infer_cast },
  { "CastLike", oxp__infer_same },
  { "Ceil", oxp__infer_same },
  { "Celu", oxp__infer_same },
  { "Clip", oxp__infer_same },
  { "Concat", oxp__infer_concat },
  { "Constant", oxp__infer_constant_node },
  { "Conv", oxp__infer_conv },
  { "ConvTranspose", oxp__infer_conv_transpose },
  { "Cos", oxp__infer_same },
  { "Cosh", oxp__infer_same },
  { "CumProd", oxp__infer_same },
  { "CumSum", oxp__infer_same },
  { "DepthToSpace", oxp__infer_depth_to_space },
  { "Div", oxp__infer_broadcast },
  { "Dropout", oxp__infer_same },
  { "Elu", oxp__infer_same },
  { "Equal", oxp__infer_broadcast },
  { "Erf", oxp__infer_same },
  { "Exp", oxp__infer_same },
  { "Expand", oxp__infer_expand },
  { "Flatten", oxp__infer_flatten },
  { "Floor", oxp__infer_same },
  { "Gather", oxp__infer_gather },
  { "Gelu", oxp__infer_same },
  { "Gemm", oxp__infer_gemm },
  { "GlobalAveragePool", oxp__infer_global_pool },
  { "GlobalLpPool", oxp__infer_global_pool },
  { "GlobalMaxPool", oxp__infer_global_pool },
  { "Greater", oxp__infer_broadcast },
  { "GreaterOrEqual", oxp__infer_broadcast },
  { "GroupNormalization", oxp__infer_same },
  { "HardSigmoid", oxp__infer_same },
  { "HardSwish", oxp__infer_same },
  { "Hardmax", oxp__infer_softmax },
  { "Identity", oxp__infer_same },
  { "InstanceNormalization", oxp__infer_channel_normalization },
  { "IsInf", oxp__infer_same },
  { "IsNaN", oxp__infer_same },
  { "LRN", oxp__infer_same },
  { "LayerNormalization", oxp__infer_layer_normalization },
  { "LeakyRelu", oxp__infer_same },
  { "Less", oxp__infer_broadcast },
  { "LessOrEqual", oxp__infer_broadcast },
  { "Log", oxp__infer_same },
  { "LogSoftmax", oxp__infer_softmax },
  { "LpNormalization", oxp__infer_same },
  { "LpPool", oxp__infer_pool },
  { "MatMul", oxp__infer_matmul },
  { "Max", oxp__infer_broadcast },
  { "MaxPool", oxp__infer_pool },
  { "Mean", oxp__infer_broadcast },
  { "MeanVarianceNormalization", oxp__infer_same },
  { "Min", oxp__infer_broadcast },
  { "Mish", oxp__infer_same },
  { "Mod", oxp__infer_broadcast },
  { "Mul", oxp__infer_broadcast },
  { "Neg", oxp__infer_same },
  { "Not", oxp__infer_same },
  { "Or", oxp__infer_broadcast },
  { "PRelu", oxp__infer_prelu },
  { "Pad", oxp__infer_pad },
  { "Pow", oxp__infer_broadcast },
  { "RMSNormalization", oxp__infer_same },
  { "Reciprocal", oxp__infer_same },
  { "ReduceL1", oxp__infer_reduce },
  { "ReduceL2", oxp__infer_reduce },
  { "ReduceLogSum", oxp__infer_reduce },
  { "ReduceLogSumExp", oxp__infer_reduce },
  { "ReduceMax", oxp__infer_reduce },
  { "ReduceMean", oxp__infer_reduce },
  { "ReduceMin", oxp__infer_reduce },
  { "ReduceProd", oxp__infer_reduce },
  { "ReduceSum", oxp__infer_reduce },
  { "ReduceSumSquare", oxp__infer_reduce },
  { "Relu", oxp__infer_same },
  { "Reshape", oxp__infer_reshape },
  { "Resize", oxp__infer_resize },
  { "Round", oxp__infer_same },
  { "Selu", oxp__infer_same },
  { "Shape", oxp__infer_shape },
  { "Shrink", oxp__infer_same },
  { "Sigmoid", oxp__infer_same },
  { "Sign", oxp__infer_same },
  { "Sin", oxp__infer_same },
  { "Sinh", oxp__infer_same },
  { "Size", oxp__infer_size },
  { "Softmax", oxp__infer_softmax },
  { "Softplus", oxp__infer_same },
  { "Softsign", oxp__infer_same },
  { "SpaceToDepth", oxp__infer_space_to_depth },
  { "Split", oxp__infer_split },
  { "Sqrt", oxp__infer_same },
  { "Squeeze", oxp__infer_squeeze },
  { "Sub", oxp__infer_broadcast },
  { "Sum", oxp__infer_broadcast },
  { "Swish", oxp__infer_same },
  { "Tan", oxp__infer_same },
  { "Tanh", oxp__infer_same },
  { "ThresholdedRelu", oxp__infer_same },
  { "Transpose", oxp__infer_transpose },
  { "Trilu", oxp__infer_same },
  { "Unsqueeze", oxp__infer_unsqueeze },
  { "Where", oxp__infer_broadcast },
  { "Xor", oxp__infer_broadcast },
};

static int operators_compare(const void *name, const void *row)
{
  return strcmp(name, ((const struct operators_shape *)row)->name);
}

oxp__infer_function oxp__operator_shape(const oxp__operator *row, int opset)
{
  if (*row->domain || opset < OXP__OLDEST_SHAPES)
    return NULL;
  const struct operators_shape *found =
      bsearch(row->name, operators_shapes, OXP__COUNT(operators_shapes), sizeof *operators_shapes, operators_compare);
  return found ? found->infer : NULL;
}
