// input_size.c: see input_size.h. Tries shapes by inferring them; knows no kind of layer, only what our vocabulary calls the
// parameters that speak of the input. Place: net.
#include "net/input_size.h"

#include <stdlib.h>
#include <string.h>

#include "core/text.h"

enum { SIZE_LARGEST = 4096 }; // square sizes from 1 to this are tried

typedef struct size_search {
  const oxp_network *network;
  oxp__shape input;
  oxp__shape *shapes; // room for the shapes of all values
  oxp_status broken;  // a try failed for another reason than its shape: what was found means nothing
} size_search;

// Which parameters say something about the input: their numbers are its last axes, or its channels before height and width.
typedef struct size_hint {
  const char *param;
  bool channels;
} size_hint;

static const size_hint size_hints[] = {
  { "in_features", false }, { "normalized_shape", false }, { "in_channels", true },
  { "num_features", true }, { "channels", true },          { "num_channels", true },
};

// The input shape that the layer's parameters speak of; false when they do not.
static bool size_of_layer(const oxp__layer *layer, oxp__shape *input)
{
  for (size_t i = 0; i < OXP__COUNT(size_hints); i++) {
    const oxp__param *param = oxp__param_find(layer->kind, NULL, size_hints[i].param);
    if (!param)
      continue;
    *input = (oxp__shape){ .rank = 1, .dim = { OXP_DIM_BATCH } };
    int count = oxp__param_number_count(param, layer->params);
    for (int k = 0; k < count && input->rank < OXP_MAX_RANK; k++)
      input->dim[input->rank++] = oxp__param_int(param, layer->params, k);
    if (size_hints[i].channels) {
      input->dim[input->rank++] = OXP_DIM_HEIGHT;
      input->dim[input->rank++] = OXP_DIM_WIDTH;
    }
    return true;
  }
  return false;
}

static oxp_status size_try(size_search *search, oxp_error *error)
{
  oxp_status status = oxp__infer_shapes(search->network, &search->input, search->shapes, error);
  if (status != OXP_OK && status != OXP_BAD_NETWORK)
    search->broken = status;
  return status;
}

static bool size_fits(size_search *search, int64_t height, int64_t width)
{
  search->input.dim[2] = height;
  search->input.dim[3] = width;
  return size_try(search, NULL) == OXP_OK;
}

// Sizes only grow or stay when the input does: what fits both of these fits everything between, so nothing depends on it.
static bool size_is_free(size_search *search, bool height, bool width, int64_t fixed)
{
  for (int64_t size = SIZE_LARGEST / 2; size <= SIZE_LARGEST; size *= 2)
    if (!size_fits(search, height ? size : fixed, width ? size : fixed))
      return false;
  return true;
}

// Adds "29, 31 to 33 and 40".
static void size_add_ranges(oxp__text *text, const bool *fits)
{
  int written = 0;
  for (int first = 1; first <= SIZE_LARGEST; first++) {
    if (!fits[first])
      continue;
    int last = first, next;
    while (last < SIZE_LARGEST && fits[last + 1])
      last++;
    for (next = last + 1; next <= SIZE_LARGEST && !fits[next];)
      next++;
    oxp__text_add(text, written++ == 0 ? "" : next > SIZE_LARGEST ? " and " : ", ");
    oxp__text_printf(text, last == first ? "%d" : last == first + 1 ? "%d and %d" : "%d to %d", first, last);
    first = last;
  }
}

static oxp_status size_refuse(const size_search *search, const bool *fits, int count, oxp_error *error)
{
  oxp__text text = { 0 };
  long long channels = (long long)search->input.dim[1];
  int first = 1;
  while (first < SIZE_LARGEST && !fits[first])
    first++;
  if (count == 0)
    oxp__text_printf(&text, "no square input of 1 to %d fits the layers; give its size with --input-shape %lldxHxW",
                     SIZE_LARGEST, channels);
  else {
    oxp__text_add(&text, "the file does not hold the input's size, and several square ones fit the layers: ");
    size_add_ranges(&text, fits);
    oxp__text_printf(&text, "; choose one with --input-shape, as in --input-shape %lldx%dx%d", channels, first, first);
  }
  oxp_status status = oxp__fail(error, OXP_BAD_NETWORK, "%s", oxp__text_string(&text));
  oxp__text_fini(&text);
  return status;
}

// Exactly one square size fits. An axis on which every size does stays symbolic.
static void size_take(oxp_network *network, size_search *search, int64_t size)
{
  bool height = size_is_free(search, true, false, size), width = size_is_free(search, false, true, size);
  search->input.dim[2] = height ? OXP_DIM_HEIGHT : size;
  search->input.dim[3] = width ? OXP_DIM_WIDTH : size;
  oxp__text shape = { 0 };
  oxp__text_add_shape(&shape, search->input.rank, search->input.dim);
  oxp__network_warn(network, "The file does not hold the input's size; %s is used, the only square one that fits.",
                    oxp__text_string(&shape));
  oxp__text_fini(&shape);
}

static oxp_status size_search_squares(oxp_network *network, size_search *search, oxp_error *error)
{
  bool *fits = calloc(SIZE_LARGEST + 1, sizeof *fits);
  if (!fits)
    return oxp__fail_memory(error, SIZE_LARGEST);
  int count = 0, found = 0;
  for (int size = 1; size <= SIZE_LARGEST; size++)
    if (size_fits(search, size, size)) {
      fits[size] = true;
      found = size;
      count++;
    }
  oxp_status status = OXP_OK;
  if (count == 1)
    size_take(network, search, found);
  else
    status = size_refuse(search, fits, count, error);
  free(fits);
  return status;
}

// --- More axes ---
// A layer that knows its last axes only (a dense one) says nothing about the axes before them. The batch alone is tried
// first; where that does not fit, a convolution behind wants channels and a height before the features, a Flatten one
// axis more.

enum { SIZE_MOST_AXES = 4 };

// The channels that the first layer which knows them wants; 0: none does.
static int64_t size_channels(const oxp_network *network)
{
  for (size_t i = 0; i < network->layer_count; i++) {
    oxp__shape input = { .rank = 0 };
    if (size_of_layer(network->layers[i], &input) && input.rank == 4 && input.dim[2] == OXP_DIM_HEIGHT)
      return input.dim[1];
  }
  return 0;
}

static bool size_open_axis_fits(size_search *search, int axis, int64_t size)
{
  search->input.dim[axis] = size;
  return size_try(search, NULL) == OXP_OK;
}

// Settles the one axis that nothing speaks of: it stays symbolic where every size fits; where exactly one does, it is
// that.
static bool size_settle_open_axis(size_search *search, int axis)
{
  bool free = true;
  for (int64_t size = SIZE_LARGEST / 2; free && size <= SIZE_LARGEST; size *= 2)
    free = size_open_axis_fits(search, axis, size);
  int64_t found = 0;
  for (int64_t size = 1; !free && size <= SIZE_LARGEST; size++)
    if (size_open_axis_fits(search, axis, size)) {
      if (found)
        return false;
      found = size;
    }
  search->input.dim[axis] = free ? OXP_DIM_HEIGHT : found;
  return free || found;
}

// Tries the known last axes as those of an input with `rank` axes; true when exactly one shape fits.
static bool size_fits_rank(size_search *search, const oxp__shape *known, int rank, int64_t channels)
{
  int open = 0;
  search->input = (oxp__shape){ .rank = 1, .dim = { OXP_DIM_BATCH } };
  if (rank == SIZE_MOST_AXES && channels == 0)
    return false;
  if (rank == SIZE_MOST_AXES)
    search->input.dim[search->input.rank++] = channels;
  if (search->input.rank + known->rank - 1 < rank) {
    open = search->input.rank;
    search->input.dim[search->input.rank++] = OXP_DIM_HEIGHT;
  }
  for (int i = 1; i < known->rank; i++)
    search->input.dim[search->input.rank++] = known->dim[i];
  return search->input.rank == rank && size_try(search, NULL) == OXP_OK &&
         (open == 0 || size_settle_open_axis(search, open));
}

static bool size_guess_rank(oxp_network *network, size_search *search, const oxp__layer *layer)
{
  oxp__shape known = search->input;
  int64_t channels = size_channels(network);
  int rank = known.rank + 1;
  while (rank <= SIZE_MOST_AXES && !size_fits_rank(search, &known, rank, channels))
    rank++;
  if (rank > SIZE_MOST_AXES) {
    search->input = known;
    return false;
  }
  char label[256];
  oxp__text shape = { 0 };
  oxp__text_add_shape(&shape, search->input.rank, search->input.dim);
  oxp__network_warn(
      network,
      "The file does not hold the input's shape; %s is guessed: %s knows the last axis only, and no input "
      "with fewer axes fits the layers behind it.",
      oxp__text_string(&shape), oxp__layer_label(layer, label, sizeof label));
  oxp__text_fini(&shape);
  return true;
}

static bool size_is_map(const oxp__shape *input)
{
  return input->rank == 4 && input->dim[2] == OXP_DIM_HEIGHT && input->dim[3] == OXP_DIM_WIDTH;
}

// Whether the layers before `layer` make samples flat: then it takes samples of any shape with so many numbers, and the file does
// not say which. Seen by one more axis making no difference to what reaches it.
static bool size_is_flattened(size_search *search, const oxp__layer *layer)
{
  oxp__shape *found = &search->shapes[layer->output], flat = *found, input = search->input;
  if (input.rank != 2 || flat.rank < 0)
    return false;
  search->input.dim[search->input.rank++] = 1;
  found->rank = -1;
  size_try(search, NULL);
  bool same = found->rank == flat.rank && memcmp(found->dim, flat.dim, (size_t)flat.rank * sizeof *flat.dim) == 0;
  search->input = input;
  return same;
}

// The side of a square picture with so many numbers in so many channels; 0 when there is none.
static int64_t size_square_side(int64_t count, int64_t channels)
{
  for (int64_t side = 2; count % channels == 0 && side * side <= count / channels; side++)
    if (side * side == count / channels)
      return side;
  return 0;
}

static oxp_status size_refuse_flattened(int64_t count, const char *label, oxp_error *error)
{
  oxp__text shapes = { 0 };
  for (int64_t channels = 1; channels <= 3; channels += 2) {
    int64_t side = size_square_side(count, channels);
    if (side > 0)
      oxp__text_printf(&shapes, " or --input-shape %lldx%lldx%lld", (long long)channels, (long long)side,
                       (long long)side);
  }
  oxp_status status = oxp__fail(error, OXP_BAD_NETWORK,
                                "the file does not hold the input's shape, and samples of any shape with %lld numbers "
                                "are made flat for %s; give the shape of the data it was trained on, as in "
                                "--input-shape %lld%s",
                                (long long)count, label, (long long)count, oxp__text_string(&shapes));
  oxp__text_fini(&shapes);
  return status;
}

static oxp_status size_from_layers(oxp_network *network, size_search *search, oxp_error *error)
{
  size_t first = 0;
  while (first < network->layer_count && !size_of_layer(network->layers[first], &search->input))
    first++;
  if (first == network->layer_count)
    return oxp__fail(
        error, OXP_BAD_NETWORK,
        "neither the file nor any of the layers says what shape the input has; give it with --input-shape, "
        "the batch left out");
  const oxp__layer *layer = network->layers[first];
  bool map = size_is_map(&search->input);
  if (!map && size_try(search, NULL) != OXP_OK && size_guess_rank(network, search, layer))
    return OXP_OK;
  search->shapes[layer->output].rank = -1;
  oxp_status status = size_try(search, error);
  char label[256];
  oxp__layer_label(layer, label, sizeof label);
  // The layers before it may want another rank than it does itself: the user has to say.
  if (status != OXP_OK && first > 0 && search->shapes[layer->output].rank < 0)
    return oxp__fail(
        error, OXP_BAD_NETWORK,
        "the file does not hold the input's shape, and it does not follow from %s, the first layer that knows "
        "what it takes; give it with --input-shape, the batch left out",
        label);
  if (first > 0 && size_is_flattened(search, layer))
    return size_refuse_flattened(search->input.dim[1], label, error);
  OXP__TRY(status);
  if (first > 0)
    oxp__network_warn(network, "The file does not hold the input's shape; it is taken from %s.", label);
  if (map && !size_is_free(search, true, true, 0))
    return size_search_squares(network, search, error);
  if (map) {
    search->input.dim[2] = OXP_DIM_HEIGHT;
    search->input.dim[3] = OXP_DIM_WIDTH;
  }
  return OXP_OK;
}

static oxp_status size_from_user(size_search *search, int rank, const int64_t *shape, oxp_error *error)
{
  if (rank < 0 || rank >= OXP_MAX_RANK)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the input shape has %d dimensions; 1 to %d are allowed", rank,
                     OXP_MAX_RANK - 1);
  search->input = (oxp__shape){ .rank = rank + 1, .dim = { OXP_DIM_BATCH } };
  for (int i = 0; i < rank; i++) {
    if (shape[i] < 1)
      return oxp__fail(error, OXP_BAD_ARGUMENT, "dimension %d of the input shape is %lld; sizes start at 1", i,
                       (long long)shape[i]);
    search->input.dim[i + 1] = shape[i];
  }
  oxp_status status = size_try(search, error);
  return status == OXP_OK ? OXP_OK : oxp__at_key(error, status, "--input-shape");
}

oxp_status oxp__input_size_settle(oxp_network *network, int rank, const int64_t *shape, oxp_error *error)
{
  size_search search = { .network = network };
  OXP__TRY(oxp__network_check_params(network, error));
  search.shapes = calloc(network->value_count, sizeof *search.shapes);
  if (!search.shapes)
    return oxp__fail_memory(error, network->value_count * sizeof *search.shapes);
  oxp_status status =
      rank != 0 ? size_from_user(&search, rank, shape, error) : size_from_layers(network, &search, error);
  free(search.shapes);
  if (status == OXP_OK && search.broken != OXP_OK)
    status = oxp__fail(error, search.broken, "the input's size could not be found: %s", oxp_status_text(search.broken));
  if (status == OXP_OK)
    oxp__network_set_input_shape(network, 0, &search.input);
  return status;
}
