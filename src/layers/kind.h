// kind.h: the row that holds everything known about one layer kind, and the layer that is an instance of it.
// One file in this folder per kind, `<name>.c`, defines `const oxp__kind oxp__kind_<name>`; the build lists the files.
// Place: layers (after onnx, before net).
#ifndef OXP_LAYERS_KIND_H
#define OXP_LAYERS_KIND_H

#include <float.h>

#include "core/numbers.h"
#include "core/tensor.h"
#include "core/text.h"

#define OXP__ROWS(array)  (array), (int)OXP__COUNT(array)
#define OXP__MAX_DIALECTS 8
#define OXP__ANY_INPUTS   1000000
#define OXP__DRAW_INPUTS  8

typedef struct oxp__kind oxp__kind;
typedef struct oxp__lowering oxp__lowering;

typedef struct oxp__shape {
  int rank;                  // -1: absent
  int64_t dim[OXP_MAX_RANK]; // negative: symbolic, OXP_DIM_*
} oxp__shape;

// --- Parameters ---

typedef enum oxp__param_type {
  OXP__PARAM_INT,    // int64_t
  OXP__PARAM_INTS,   // int64_t[count]; one number given stands for all
  OXP__PARAM_LIST,   // oxp__list: 1 to OXP_MAX_RANK numbers
  OXP__PARAM_FLOAT,  // double
  OXP__PARAM_FLOATS, // double[count]; one number given stands for all
  OXP__PARAM_BOOL,   // bool
  OXP__PARAM_CHOICE  // int, an index into tokens
} oxp__param_type;

typedef struct oxp__list {
  int count;
  int64_t at[OXP_MAX_RANK];
} oxp__list;

// What a parameter is called in a dialect, and its default there. A dialect without an entry uses the row as it is.
typedef struct oxp__param_alias {
  const char *dialect, *name; // name NULL: the dialect has no such parameter; `value` holds there
  bool has_value;             // the dialect's default differs from the row's
  double value;
  bool required; // the dialect demands it
  bool whole;    // the dialect takes no whole number that is written with a point, as 2.0
  bool truth;    // the dialect says true or false for the second or first of two choices
} oxp__param_alias;

// No default: the parameter must be given. Only numbers and lists can be required. Until they are given, integers have the value
// OXP__MISSING, floats OXP__MISSING_REAL (which may not be in their ranges), lists no entry.
#define OXP__REQUIRED     .required = true
#define OXP__MISSING      (INT64_MIN + 1)
#define OXP__MISSING_REAL (-DBL_MAX)
// Integers that may be left unset (a null seed) use this value for "unset". Floats use NAN.
#define OXP__UNSET INT64_MIN

// The largest size, stride, pad or channel count a parameter may hold: window arithmetic stays far inside int64. And the
// largest real number: ONNX attributes are float32.
#define OXP__MAX_SIZE 2147483647.0
#define OXP__MAX_REAL 3.4028234663852886e38

// Type, place and range of the usual parameters: `{ .name = "alpha", OXP__REAL(elu, alpha), .doc = "..." }`.
#define OXP__SIZE(kind, field, least)                                                                                  \
  .type = OXP__PARAM_INT, .offset = offsetof(kind, field), .minimum = (least), .maximum = OXP__MAX_SIZE
#define OXP__SIZES(kind, field, how_many, least)                                                                       \
  .type = OXP__PARAM_INTS, .offset = offsetof(kind, field), .count = (how_many), .minimum = (least),                   \
  .maximum = OXP__MAX_SIZE
#define OXP__AXIS(kind, field)                                                                                         \
  .type = OXP__PARAM_INT, .offset = offsetof(kind, field), .minimum = -OXP_MAX_RANK, .maximum = OXP_MAX_RANK - 1
#define OXP__REAL(kind, field)                                                                                         \
  .type = OXP__PARAM_FLOAT, .offset = offsetof(kind, field), .minimum = -OXP__MAX_REAL, .maximum = OXP__MAX_REAL
#define OXP__NOT_NEGATIVE(kind, field)                                                                                 \
  .type = OXP__PARAM_FLOAT, .offset = offsetof(kind, field), .minimum = 0, .maximum = OXP__MAX_REAL
#define OXP__FLAG(kind, field) .type = OXP__PARAM_BOOL, .offset = offsetof(kind, field)

typedef struct oxp__param {
  const char *name; // ONNX's term where there is one
  oxp__param_type type;
  size_t offset; // in the kind's struct
  int count;     // INTS and FLOATS
  bool required;
  bool nullable;             // INT, INTS, FLOATS: may be unset (integers OXP__UNSET, floats NAN)
  bool idle;                 // has no effect in inference: readers leave out what it does not accept
  bool open_ended;           // FLOAT: infinity and NaN are values, too
  double value;              // default; for CHOICE an index; for LIST the one element
  double minimum, maximum;   // inclusive range of each number; both 0: any (FLOAT must be finite)
  const char *const *tokens; // CHOICE: NULL-terminated
  const char *doc;
  oxp__param_alias in[OXP__MAX_DIALECTS];
} oxp__param;

// --- Weights ---

typedef struct oxp__weight_alias {
  const char *dialect, *name;
  const char *axes; // "10": canonical axis 0 is axis 1 of the stored array; NULL: as stored
} oxp__weight_alias;

typedef struct oxp__weight_row {
  const char *role;
  const char *doc;                         // with its axes
  bool positive;                           // random tests draw it from (0.1, 2): variances
  oxp__weight_alias in[OXP__MAX_DIALECTS]; // a dialect without an entry uses the role
} oxp__weight_row;

typedef struct oxp__weight {
  bool present;
  bool permuted;           // the dialect stores the axes in another order
  oxp_tensor tensor;       // canonical axes
  const char *source_role; // the dialect's word for the role
} oxp__weight;

// --- Layers ---

typedef struct oxp__layer {
  const oxp__kind *kind;
  int index;               // over all layers of the network, from 0
  const char *name;        // never NULL: the source's, else <kind>_<index>
  const char *source_kind; // the dialect's word
  void *params;            // the kind's struct
  int input_count;
  oxp_value *inputs;
  oxp_value output;
  oxp__weight *weights; // kind->weight_count of them
} oxp__layer;

// --- Reference kernels ---

// Values as double, row-major. In a float32 network the walker rounds every output to float32.
typedef struct oxp__f64 {
  oxp__shape shape;
  int64_t count;
  double *at;
} oxp__f64;

typedef struct oxp__ref {
  const oxp__layer *layer;
  const oxp__f64 *inputs;
  int input_count;
  const oxp__f64 *weights; // by role; `at` is NULL for an absent one
  oxp__f64 *output;        // shape set, values uninitialised
} oxp__ref;

// --- The row ---

// How far a correct float32 implementation may be from the exact formula, in the units the random tests use.
typedef enum oxp__tolerance {
  OXP__EXACT,          // moves or selects values
  OXP__ONE_ROUNDING,   // one or two rounded operations
  OXP__TRANSCENDENTAL, // a library function: some units in the last place
  OXP__REDUCTION       // sums: grows with the number of terms
} oxp__tolerance;

typedef struct oxp__kind_name {
  const char *dialect, *name;
} oxp__kind_name;

typedef struct oxp__lower_row {
  int since; // opset
  oxp_status (*lower)(oxp__lowering *to, const oxp__layer *layer);
} oxp__lower_row;

struct oxp__kind {
  const char *name;    // = file name
  const char *doc;     // one line
  const char *formula; // one line
  oxp__kind_name names[OXP__MAX_DIALECTS];

  const oxp__param *params;
  int param_count;
  size_t params_bytes;
  const oxp__weight_row *weights;
  int weight_count;
  int min_inputs, max_inputs;
  bool passes_through; // output = input in inference (identity, dropout): needs no lower and no ref

  // The canonical shape of weight number `role`; rank -1 when the parameters say that there is none. NULL: no weights.
  void (*weight_shape)(const oxp__layer *layer, int role, oxp__shape *shape);
  // Parameters that must fit each other (groups divide channels); may be NULL. OXP_BAD_NETWORK.
  oxp_status (*check)(const oxp__layer *layer, oxp_error *error);
  // Input shapes to the output shape; inputs may hold symbolic dimensions. OXP_BAD_NETWORK with the two values.
  oxp_status (*shape)(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output, oxp_error *error);
  void (*ref)(const oxp__ref *io);
  oxp__lower_row lower[4]; // ascending; the last one whose `since` is not above the opset is used
  oxp__tolerance tolerance;
  // Where the layer's statistics say that its input lies, per channel (axis 1): a centre, and how far around it. Random
  // verification draws from there, as values around 0 may say nothing about such a layer. NULL: any values do.
  oxp_status (*input_range)(const oxp__layer *layer, int64_t channels, double *centre, double *spread,
                            oxp_error *error);
  // What parameters and weights make wrong whatever goes in (a variance that has no root), as a clause for a warning
  // ("channel 3 has ..."); adds nothing where all is well. May read weights. NULL: nothing can be.
  oxp_status (*doubt)(const oxp__layer *layer, oxp__text *clause, oxp_error *error);
  // Fills `params` (already at its defaults) with legal random values, and shapes for the inputs (no symbols; rank -1
  // ends the list; there is room for OXP__DRAW_INPUTS). Small: at most a few thousand elements.
  void (*draw)(oxp__random *random, void *params, oxp__shape *inputs);
};

// The list of rows, in the order of their names. Generated by the build.
extern const oxp__kind *const oxp__kinds[];
extern const size_t oxp__kind_count;

// --- common/kind.c: what readers, builder and printers do with rows ---

const oxp__kind *oxp__kind_by_name(const char *name);
// The kind that `dialect` calls `name`; NULL when there is none. Kinds without a name there are not in the dialect.
const oxp__kind *oxp__kind_in_dialect(const char *dialect, const char *name);
// The kind's name in a dialect; NULL when the dialect does not have it.
const char *oxp__kind_dialect_name(const oxp__kind *kind, const char *dialect);

// Fills a kind's struct with the defaults that hold in `dialect` (NULL: our own); what is required there is missing.
void oxp__params_default(const oxp__kind *kind, const char *dialect, void *params);
// OXP_BAD_ARGUMENT unless every parameter that must be set is, and every number is in its range.
oxp_status oxp__params_check(const oxp__kind *kind, const void *params, oxp_error *error);

// The parameter that `dialect` (NULL: our own names) calls `name`; NULL when there is none.
const oxp__param *oxp__param_find(const oxp__kind *kind, const char *dialect, const char *name);
// The parameter's name in a dialect, NULL when it has none there; whether it must be given there.
const char *oxp__param_dialect_name(const oxp__param *param, const char *dialect);
bool oxp__param_required(const oxp__param *param, const char *dialect);
// What else the dialect says about it; NULL: nothing.
const oxp__param_alias *oxp__param_alias_in(const oxp__param *param, const char *dialect);

// Store a value after checking type, count and range; the error names the parameter and the value
// (OXP_BAD_ARGUMENT). Integers are accepted for floats, whole floats for integers.
oxp_status oxp__param_set_numbers(const oxp__param *param, void *params, int count, const double *numbers,
                                  oxp_error *error);
oxp_status oxp__param_set_ints(const oxp__param *param, void *params, int count, const int64_t *numbers,
                               oxp_error *error);
oxp_status oxp__param_set_bool(const oxp__param *param, void *params, bool value, oxp_error *error);
oxp_status oxp__param_set_text(const oxp__param *param, void *params, const char *text, oxp_error *error);
oxp_status oxp__param_set_null(const oxp__param *param, void *params, oxp_error *error);

// How many numbers a parameter holds now, and number `index` of it (bools as 0 and 1, choices as their index,
// unset numbers as NAN).
int oxp__param_number_count(const oxp__param *param, const void *params);
double oxp__param_number(const oxp__param *param, const void *params, int index);
// Does the parameter hold whole numbers? Number `index` of one that does, exactly, where a double may round; OXP__UNSET: unset.
bool oxp__param_is_int(const oxp__param *param);
int64_t oxp__param_int(const oxp__param *param, const void *params, int index);

// The role number that `dialect` (NULL: our own) calls `name`, -1 when there is none; the dialect's name of a role, and
// the order of its axes there (NULL: as stored).
int oxp__role_find(const oxp__kind *kind, const char *dialect, const char *name);
const char *oxp__role_dialect_name(const oxp__weight_row *row, const char *dialect);
const char *oxp__role_axes(const oxp__weight_row *row, const char *dialect);

// --- common/shapes.c: shape functions that several kinds use ---

// Output shape = first input's shape.
oxp_status oxp__shape_same(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output, oxp_error *error);
// NumPy broadcasting of all inputs (add, mul).
oxp_status oxp__shape_broadcast(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output,
                                oxp_error *error);
// OXP_BAD_NETWORK unless the input has `rank` axes ("the input has rank 2, (4, 3); conv2d needs rank 4").
oxp_status oxp__shape_need_rank(const oxp__layer *layer, const oxp__shape *input, int rank, oxp_error *error);
// OXP_BAD_NETWORK unless dimension `axis` is `expected` (or symbolic); `what` names it ("channels").
oxp_status oxp__shape_need_dim(const oxp__layer *layer, const oxp__shape *input, int axis, int64_t expected,
                               const char *what, oxp_error *error);
// The output size of a window: floor((in + pad_begin + pad_end - dilation * (kernel - 1) - 1) / stride) + 1. A symbol stays
// itself where the size does not change, else becomes OXP_DIM_UNKNOWN. OXP_BAD_NETWORK when the window is larger.
oxp_status oxp__shape_window(const oxp__layer *layer, int64_t in, int64_t kernel, int64_t stride, int64_t pad_begin,
                             int64_t pad_end, int64_t dilation, int64_t *out, oxp_error *error);

#endif
