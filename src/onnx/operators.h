// operators.h: what ONNX's default domain holds, as a table of facts. Place: onnx.
#ifndef OXP_ONNX_OPERATORS_H
#define OXP_ONNX_OPERATORS_H

#include "onnx/infer.h"

// One operator from one opset on, until its next row. Opsets below 7 are not described.
typedef struct oxp__operator {
  const char *name;
  int since;
  // Inputs > outputs, one letter each: an element type (b bool, d double, f float, i int64, j int32, s string, u uint8), a
  // capital for one type that all with this letter share, - for any type. Behind it ? optional, + one or more, * any number.
  // NULL: the operator was taken out.
  const char *signature;
  // name:kind, ! required. Kinds: f float, i int, s string, t tensor, g graph, p sparse tensor, y type; capitals for lists.
  const char *attributes;
  oxp__infer_function infer; // NULL: shapes stay unknown
} oxp__operator;

enum { OXP__OLDEST_OPSET = 7, OXP__NEWEST_OPSET = 28 };

// The row that holds at an opset; NULL when the default domain has no such operator then.
const oxp__operator *oxp__operator_find(const char *name, int opset);

#endif
