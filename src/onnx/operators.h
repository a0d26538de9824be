// operators.h: what ONNX's own domains hold, as tables of facts. Place: onnx.
#ifndef OXP_ONNX_OPERATORS_H
#define OXP_ONNX_OPERATORS_H

#include "onnx/infer.h"

// One operator from one opset on, until its next row.
typedef struct oxp__operator {
  const char *domain; // "" is the default one
  const char *name;
  int since;
  // Inputs > outputs, one letter each: an element type (b bool, d double, f float, i int64, j int32, q uint64, s string,
  // u uint8), a capital for one type that all with this letter share, - for any type. Behind it ? optional, + one or
  // more, * any number. NULL: the operator was taken out.
  const char *signature;
  // name:kind, ! required. Kinds: f float, i int, s string, t tensor, g graph, p sparse tensor, y type; capitals for
  // lists.
  const char *attributes;
} oxp__operator;

typedef struct oxp__release { // the first opset of the default domain that needs an IR version
  int opset, ir_version;
} oxp__release;

typedef struct oxp__domain {
  const char *name;
  int newest; // opset
} oxp__domain;

enum { OXP__NEWEST_OPSET = 28, OXP__OLDEST_SHAPES = 7 };

// operators_table.c. Operators are ordered by domain, name and opset.
extern const oxp__release oxp__releases[];
extern const size_t oxp__release_count;
extern const oxp__domain oxp__domains[];
extern const size_t oxp__domain_count;
extern const oxp__operator oxp__operators[];
extern const size_t oxp__operator_count;

// The newest opset of a domain that the table knows; 0: none of ONNX's domains.
int oxp__domain_newest(const char *domain);

// The row that holds at an opset of its domain; NULL when the domain has no such operator then.
const oxp__operator *oxp__operator_find(const char *domain, const char *name, int opset);
// The first opset that had it; 0: none.
int oxp__operator_since(const char *domain, const char *name);

// The shape function of an operator; NULL where shapes stay unknown.
oxp__infer_function oxp__operator_shape(const oxp__operator *row, int opset);

#endif
