// lowering.h: what a kind's `lower` works with. It asks for names and adds nodes; it never tests which profile it is under.
// Everything allocated lives in the graph. After the first failure all calls do nothing; the walk checks.
// Implemented by net/lowering.c. Place: layers (after onnx).
#ifndef OXP_LAYERS_LOWERING_H
#define OXP_LAYERS_LOWERING_H

#include "layers/kind.h"
#include "onnx/build.h"

// How a dense layer may be written.
typedef enum oxp__dense_form {
  OXP__DENSE_GEMM,           // (in, out), gathered when the source stores it the other way
  OXP__DENSE_GEMM_AS_STORED, // transB says how the weight lies
  OXP__DENSE_GEMM_TRANSB,
  OXP__DENSE_MATMUL_ADD
} oxp__dense_form;

// Where a `lower` that refuses describes why: `return oxp__fail(oxp__lower_error(to), OXP_UNSUPPORTED, ...)`, a sentence
// without the layer's label. May be NULL.
oxp_error *oxp__lower_error(const oxp__lowering *to);

int oxp__lower_opset(const oxp__lowering *to);
oxp__dense_form oxp__lower_dense_form(const oxp__lowering *to);
bool oxp__lower_batchnorm_expanded(const oxp__lowering *to);
oxp_dtype oxp__lower_dtype(const oxp__lowering *to);

// The ONNX name of the current layer's input number `index`, of all its inputs, of its output.
const char *oxp__lower_input(oxp__lowering *to, int index);
const char *const *oxp__lower_inputs(oxp__lowering *to); // all of them, ending with NULL
const char *oxp__lower_output(oxp__lowering *to);

// The shape of the current layer's input number `index` and of its output, as declared in the graph.
const oxp__shape *oxp__lower_input_shape(const oxp__lowering *to, int index);
const oxp__shape *oxp__lower_output_shape(const oxp__lowering *to);

// Adds the initializer of the weight in row `role` of the kind's table and returns its name; NULL when the layer has no
// such weight (an absent bias), which oxp__lower_node takes as the end of the inputs.
// With _as_stored, a matrix that its dialect stores transposed is written as it lies (*transposed says so) instead of
// gathered: for operators that can transpose themselves.
const char *oxp__lower_weight(oxp__lowering *to, int role);
const char *oxp__lower_weight_as_stored(oxp__lowering *to, int role, bool *transposed);
// The same weight with its axes in another order (axis i of the result is canonical axis axes[i]), or with another shape of
// as many elements ((C,) as (C, 1, 1)): another view of the same bytes.
const char *oxp__lower_weight_permuted(oxp__lowering *to, int role, const int *axes);
const char *oxp__lower_weight_shaped(oxp__lowering *to, int role, int rank, const int64_t *shape);

// Constants that the form needs (`<layer>.<suffix>`); returns the name.
const char *oxp__lower_constant(oxp__lowering *to, const char *suffix,
                                double value); // scalar of the graph's float type
const char *oxp__lower_ints(oxp__lowering *to, const char *suffix, int count, const int64_t *values); // int64 vector
// An int64 vector of any length, made while it is written: value(index, numbers) for each index. `numbers` are copied.
const char *oxp__lower_made_ints(oxp__lowering *to, const char *suffix, int64_t count,
                                 int64_t (*value)(int64_t index, const int64_t numbers[3]), const int64_t numbers[3]);
// The same with numbers of the graph's float type, in any shape.
const char *oxp__lower_made_floats(oxp__lowering *to, const char *suffix, int rank, const int64_t *shape,
                                   double (*value)(int64_t index, const int64_t numbers[3]), const int64_t numbers[3]);
const char *oxp__lower_floats(oxp__lowering *to, const char *suffix, int count,
                              const double *values); // float32 vector, whatever the graph's type (Resize's scales)

// Adds the node that computes the layer's output, or an inner one (`<layer>/<op>`) whose output name is returned through
// *inner. `inputs` ends with NULL. Returns the node for attributes (never NULL: after failure a dummy).
oxp__node *oxp__lower_node(oxp__lowering *to, const char *op_type, const char *const *inputs);
oxp__node *oxp__lower_inner(oxp__lowering *to, const char *op_type, const char *const *inputs, const char **inner);

// The one or the other: with `inner` an inner node, without (NULL) the one that computes the layer's output.
oxp__node *oxp__lower_step(oxp__lowering *to, const char *op_type, const char *const *inputs, const char **inner);
// x weight + bias (NULL: none) as MatMul and Add, which take any rank.
void oxp__lower_dense(oxp__lowering *to, const char *x, const char *weight, const char *bias, const char **inner);

#define OXP__IN(...) ((const char *const[]){ __VA_ARGS__, NULL })

// Attributes of a node.
void oxp__attr_int(oxp__lowering *to, oxp__node *node, const char *name, int64_t value);
void oxp__attr_ints(oxp__lowering *to, oxp__node *node, const char *name, int count, const int64_t *values);
void oxp__attr_float(oxp__lowering *to, oxp__node *node, const char *name, double value);
void oxp__attr_string(oxp__lowering *to, oxp__node *node, const char *name, const char *value);

// Notes something the user should know about this layer: a sentence without the layer's label, which is put before it.
void oxp__lower_warn(oxp__lowering *to, const char *format, ...) OXP__PRINTF(2, 3);

// ReduceMean over `axes`, keeping them: an attribute before opset 18, an input from then on. Inner node.
const char *oxp__lower_reduce_mean(oxp__lowering *to, const char *input, int count, const int64_t *axes);

#endif
