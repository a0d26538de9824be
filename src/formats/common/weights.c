// weights.c: see weights.h. Knows no store and no kind. Place: formats/common.
#include "formats/common/weights.h"

#include <string.h>

#include "core/text.h"

typedef struct weights_state {
  oxp_network *network;
  const oxp__weights *weights;
  oxp__text missing;
  int missing_count;
  int stored_as[OXP_BFLOAT16 + 1]; // how many weights of each element type
  const char *example[OXP_BFLOAT16 + 1];
} weights_state;

enum { WEIGHTS_NAMED = 40 }; // so many missing ones are named

bool oxp__weights_wanted(const oxp__layer *layer, int role, const char *dialect, oxp__shape *shape)
{
  oxp__shape canonical = { .rank = -1 };
  layer->kind->weight_shape(layer, role, &canonical);
  *shape = canonical;
  const char *order = oxp__role_axes(&layer->kind->weights[role], dialect);
  for (int i = 0; order && i < canonical.rank; i++)
    shape->dim[order[i] - '0'] = canonical.dim[i];
  return canonical.rank >= 0;
}

// --- Shapes ---

static bool weights_same_shape(const oxp_tensor *tensor, const oxp__shape *wanted)
{
  return tensor->rank == wanted->rank &&
         memcmp(tensor->shape, wanted->dim, (size_t)wanted->rank * sizeof wanted->dim[0]) == 0;
}

// The dimensions that are not 1.
static oxp__shape weights_squeezed(int rank, const int64_t *shape)
{
  oxp__shape result = { .rank = 0 };
  for (int i = 0; i < rank; i++)
    if (shape[i] != 1)
      result.dim[result.rank++] = shape[i];
  return result;
}

// netcl compares shapes without axes of length 1; where only those differ the array fits, and a warning says so.
static bool weights_fit_squeezed(weights_state *state, const char *name, oxp_tensor *tensor, const oxp__shape *wanted)
{
  oxp__shape a = weights_squeezed(tensor->rank, tensor->shape), b = weights_squeezed(wanted->rank, wanted->dim);
  if (a.rank != b.rank || memcmp(a.dim, b.dim, (size_t)a.rank * sizeof a.dim[0]) != 0)
    return false;
  oxp__text text = { 0 };
  oxp__text_add_shape(&text, tensor->rank, tensor->shape);
  oxp__text_add(&text, " and is read as ");
  oxp__text_add_shape(&text, wanted->rank, wanted->dim);
  bool fits = oxp__tensor_reshape(tensor, wanted->rank, wanted->dim);
  if (fits)
    oxp__network_warn(state->network, "The array %s has shape %s, which differs in axes of length 1.", name,
                      oxp__text_string(&text));
  oxp__text_fini(&text);
  return fits;
}

static oxp_status weights_fail_shape(const oxp_tensor *tensor, const oxp__shape *wanted, oxp_error *error)
{
  oxp__text text = { 0 };
  oxp__text_add_shape(&text, tensor->rank, tensor->shape);
  oxp__text_add(&text, ", the layer asks for ");
  oxp__text_add_shape(&text, wanted->rank, wanted->dim);
  oxp_status status = oxp__fail(error, OXP_BAD_FILE, "the array has shape %s", oxp__text_string(&text));
  oxp__text_fini(&text);
  return status;
}

// --- One role ---

static void weights_note_missing(weights_state *state, const oxp__layer *layer, const char *name)
{
  if (state->missing_count++ < WEIGHTS_NAMED)
    oxp__text_printf(&state->missing, "%s%s (layer %d, %s)", state->missing_count > 1 ? ", " : "", name, layer->index,
                     layer->source_kind);
}

static oxp_status weights_check(weights_state *state, const char *name, oxp_tensor *tensor, const oxp__shape *wanted,
                                oxp_error *error)
{
  if (!oxp__dtype_is_float(tensor->dtype))
    return oxp__fail(error, OXP_BAD_FILE, "the array is %s; a weight is float32, float64, float16 or bfloat16",
                     oxp_dtype_name(tensor->dtype));
  if (!weights_same_shape(tensor, wanted) && !weights_fit_squeezed(state, name, tensor, wanted))
    return weights_fail_shape(tensor, wanted, error);
  if (state->stored_as[tensor->dtype]++ == 0)
    state->example[tensor->dtype] = name;
  return OXP_OK;
}

static oxp_status weights_bind_role(weights_state *state, oxp__layer *layer, int role, oxp_error *error)
{
  const oxp__weights *weights = state->weights;
  const char *name = "";
  oxp_tensor tensor = { .rank = -1 };
  oxp__shape wanted;
  bool is_wanted = oxp__weights_wanted(layer, role, weights->dialect, &wanted);
  OXP__TRY(weights->find(weights, layer, role, &name, &tensor, error));
  bool is_there = tensor.rank >= 0;
  if (is_wanted && !is_there)
    weights_note_missing(state, layer, name);
  if (is_there && !is_wanted) {
    oxp__fail(error, OXP_BAD_FILE, "the layer's arguments say that it has no %s, yet there is an array for it",
              oxp__role_dialect_name(&layer->kind->weights[role], weights->dialect));
    return oxp__at_key(error, OXP_BAD_FILE, name);
  }
  if (!is_there)
    return OXP_OK;
  oxp_status status = weights_check(state, name, &tensor, &wanted, error);
  if (status == OXP_OK)
    status = oxp__layer_bind(state->network, layer, role, weights->dialect, &tensor, error);
  return status == OXP_OK ? OXP_OK : oxp__at_key(error, status, name);
}

static oxp_status weights_bind_layer(weights_state *state, oxp__layer *layer, oxp_error *error)
{
  for (int role = 0; role < layer->kind->weight_count; role++)
    OXP__TRY(weights_bind_role(state, layer, role, error));
  return OXP_OK;
}

// --- All of them ---

static void weights_warn_types(const weights_state *state)
{
  for (int i = 0; i <= OXP_BFLOAT16; i++) {
    oxp_dtype dtype = (oxp_dtype)i;
    if (state->stored_as[i] == 0 || dtype == state->network->dtype)
      continue;
    bool wider = oxp_dtype_bytes(dtype) > oxp_dtype_bytes(state->network->dtype);
    oxp__network_warn(state->network, "%d array%s stored as %s (%s%s); the network computes in %s, values are %s.",
                      state->stored_as[i], state->stored_as[i] == 1 ? " is" : "s are", oxp_dtype_name(dtype),
                      state->example[i], state->stored_as[i] == 1 ? "" : " and others",
                      oxp_dtype_name(state->network->dtype), wider ? "rounded" : "widened, which is exact");
  }
}

static oxp_status weights_fail_missing(const weights_state *state, oxp_error *error)
{
  oxp__text text = { 0 };
  if (state->missing_count > WEIGHTS_NAMED)
    oxp__text_printf(&text, " and %d more", state->missing_count - WEIGHTS_NAMED);
  if (state->weights->hint)
    oxp__text_printf(&text, "; %s", state->weights->hint);
  oxp_status status = oxp__fail(error, OXP_BAD_FILE, "arrays are missing: %s%s", oxp__text_string(&state->missing),
                                oxp__text_string(&text));
  oxp__text_fini(&text);
  return status;
}

static oxp_status weights_bind_all(weights_state *state, oxp_error *error)
{
  char label[256];
  for (size_t i = 0; i < state->network->layer_count; i++) {
    oxp__layer *layer = state->network->layers[i];
    oxp_status status = weights_bind_layer(state, layer, error);
    if (status != OXP_OK)
      return oxp__at_layer(error, status, "%s", oxp__layer_label(layer, label, sizeof label));
  }
  if (state->missing_count > 0)
    return weights_fail_missing(state, error);
  weights_warn_types(state);
  return OXP_OK;
}

oxp_status oxp__weights_bind(oxp_network *network, const oxp__weights *weights, oxp_error *error)
{
  weights_state state = { .network = network, .weights = weights };
  OXP__TRY(oxp__network_check_params(network, error)); // the shapes wanted follow from them
  oxp_status status = weights_bind_all(&state, error);
  oxp__text_fini(&state.missing);
  return status == OXP_OK ? OXP_OK : oxp__at_file(error, status, weights->path);
}
