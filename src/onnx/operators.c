// operators.c: what ONNX's releases and operators look like, as data. Place: onnx.
#include "onnx/graph.h"

// One row per change: the first opset that needs the IR version.
static const struct {
  int opset, ir_version;
} operators_releases[] = { { 1, 3 },  { 9, 4 },   { 10, 5 },  { 11, 6 },  { 12, 7 },  { 15, 8 },
                           { 19, 9 }, { 21, 10 }, { 23, 11 }, { 24, 12 }, { 25, 13 }, { 28, 14 } };

enum { OPERATORS_NEWEST_OPSET = 28 };

int oxp__ir_version_for_opset(int opset)
{
  if (opset < 1 || opset > OPERATORS_NEWEST_OPSET)
    return 0;
  int ir_version = 0;
  for (size_t i = 0; i < sizeof operators_releases / sizeof *operators_releases; i++)
    if (operators_releases[i].opset <= opset)
      ir_version = operators_releases[i].ir_version;
  return ir_version;
}
