// infer.h: from the types and shapes of a node's inputs to those of its outputs, one function per operator. What is not known
// stays unknown and is never held against a model; what is known and does not fit is said. Place: onnx.
#ifndef OXP_ONNX_INFER_H
#define OXP_ONNX_INFER_H

#include "onnx/graph.h"

// What is known about one value.
typedef struct oxp__typed {
  int32_t dtype;                     // 0: unknown
  int rank;                          // -1: unknown, or more than OXP_MAX_RANK
  int64_t dims[OXP_MAX_RANK];        // negative: symbolic, as in oxp_graph's symbols
  const oxp__tensor_proto *constant; // the value itself, where the model holds it; else NULL
} oxp__typed;

extern const oxp__typed oxp__typed_unknown;

// One node.
typedef struct oxp__inference {
  const oxp__node *node;
  int opset;
  const oxp__typed *const *inputs; // NULL: absent
  size_t input_count;
  oxp__typed *outputs; // element types are filled in where the signature says them, else and all else unknown
  size_t output_count;
  char problem[256]; // the first thing that does not fit; "": none
} oxp__inference;

typedef void (*oxp__infer_function)(oxp__inference *io);

// Notes what does not fit; only the first call counts.
void oxp__infer_problem(oxp__inference *io, const char *format, ...) OXP__PRINTF(2, 3);

// Input number `index`; an unknown value when it is absent.
const oxp__typed *oxp__infer_input(const oxp__inference *io, size_t index);
bool oxp__infer_has_input(const oxp__inference *io, size_t index);

// Attributes of the node: NULL or the default when it has none of that name.
const oxp__attribute *oxp__infer_attribute(const oxp__inference *io, const char *name);
int64_t oxp__infer_int(const oxp__inference *io, const char *name, int64_t otherwise);
const oxp__ints *oxp__infer_ints(const oxp__inference *io, const char *name);
bool oxp__infer_is(const oxp__inference *io, const char *name, const char *text); // a string attribute equals `text`

// The numbers of a constant vector of at most OXP_MAX_RANK * 2 elements; false when they are not known.
bool oxp__infer_constant(const oxp__typed *value, int *count, double *numbers);
bool oxp__infer_constant_ints(const oxp__typed *value, int *count, int64_t *numbers);
enum { OXP__INFER_MAX_CONSTANT = OXP_MAX_RANK * 2 };

// An axis as a number from 0; problem and -1 when it is outside [-rank, rank).
int oxp__infer_axis(oxp__inference *io, int64_t axis, int rank);
// The axes that the attribute `axes` or the constant input number `at` names, in the order given: at most
// OXP__INFER_MAX_CONSTANT. None: count 0. False when they are not known, or one is outside.
bool oxp__infer_axes(oxp__inference *io, size_t at, int rank, int *count, int *axes);
// The same; where none are named, all of them.
bool oxp__infer_axes_or_all(oxp__inference *io, size_t at, int rank, int *count, int *axes);

// Two dimensions that must be equal: the one that is known better. False when both are known and differ.
bool oxp__infer_same_dim(int64_t a, int64_t b, int64_t *dim);
// The product of dimensions from `first` to below `end`: a symbol when it is the only factor that is not 1.
int64_t oxp__infer_product(const oxp__typed *value, int first, int end);
// Broadcasts `value` into *shape. With `one_way`, the shape itself must not grow.
bool oxp__infer_broadcast_into(oxp__typed *shape, const oxp__typed *value, bool one_way);

// Sets the shape of output 0.
void oxp__infer_set_shape(oxp__inference *io, int rank, const int64_t *dims);

// A shape as text for messages, in a buffer of the caller's; returns it.
const char *oxp__infer_shape_text(const oxp__typed *value, char *buffer, size_t size);
enum { OXP__INFER_TEXT = 96 };

// infer.c: element by element and over axes
void oxp__infer_same(oxp__inference *io);
void oxp__infer_softmax(oxp__inference *io);
void oxp__infer_broadcast(oxp__inference *io);
void oxp__infer_prelu(oxp__inference *io);
void oxp__infer_cast(oxp__inference *io);
void oxp__infer_constant_node(oxp__inference *io);
void oxp__infer_gemm(oxp__inference *io);
void oxp__infer_matmul(oxp__inference *io);
void oxp__infer_batch_normalization(oxp__inference *io);
void oxp__infer_channel_normalization(oxp__inference *io);
void oxp__infer_layer_normalization(oxp__inference *io);
void oxp__infer_reduce(oxp__inference *io);
void oxp__infer_arg(oxp__inference *io);
// infer_shape.c: operators that move, cut and join
void oxp__infer_flatten(oxp__inference *io);
void oxp__infer_reshape(oxp__inference *io);
void oxp__infer_transpose(oxp__inference *io);
void oxp__infer_concat(oxp__inference *io);
void oxp__infer_squeeze(oxp__inference *io);
void oxp__infer_unsqueeze(oxp__inference *io);
void oxp__infer_expand(oxp__inference *io);
void oxp__infer_gather(oxp__inference *io);
void oxp__infer_pad(oxp__inference *io);
void oxp__infer_split(oxp__inference *io);
void oxp__infer_shape(oxp__inference *io);
void oxp__infer_size(oxp__inference *io);
void oxp__infer_depth_to_space(oxp__inference *io);
void oxp__infer_space_to_depth(oxp__inference *io);
// infer_window.c: operators that slide a window, and Resize
void oxp__infer_conv(oxp__inference *io);
void oxp__infer_conv_transpose(oxp__inference *io);
void oxp__infer_pool(oxp__inference *io);
void oxp__infer_global_pool(oxp__inference *io);
void oxp__infer_resize(oxp__inference *io);

#endif
