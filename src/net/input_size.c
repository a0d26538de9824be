// input_size.c: see input_size.h. Tries shapes by inferring them; knows no kind of layer, only what our vocabulary calls the
// parameters that speak of the input. Place: net.
#include "net/input_size.h"

#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "net/size_trial.h"

enum { SIZE_PAIRS = 8 }; // so many pairs of height and width are named where no square fits

typedef struct size_search {
  oxp_network *network;
  oxp__arena arena; // of what only the search needs
  oxp__shape input;
  oxp__size_trial trial; // of `input`, with its open dimensions
  oxp_status broken;     // a walk failed for another reason than its shape: what was found means nothing
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

// Walks the layers with `input`; OXP_BAD_NETWORK where one fits no size of the open dimensions.
static oxp_status size_walk(size_search *search, oxp_error *error)
{
  oxp_status status = oxp__size_trial_init(&search->trial, &search->arena, search->network, &search->input, error);
  if (status != OXP_OK && status != OXP_BAD_NETWORK)
    search->broken = status;
  return status;
}

static bool size_fits(size_search *search, int64_t height, int64_t width)
{
  return oxp__size_trial_fits(&search->trial, height, width);
}

// Sizes only grow or stay when the input does: what fits both of these fits everything between, so nothing depends on it.
static bool size_is_free(size_search *search, bool height, bool width, int64_t fixed)
{
  for (int64_t size = OXP__SIZE_LARGEST / 2; size <= OXP__SIZE_LARGEST; size *= 2)
    if (!size_fits(search, height ? size : fixed, width ? size : fixed))
      return false;
  return true;
}

// --- What is not known ---

// Leaves the shape open: the network can be looked at, and whoever needs shapes is told what to give. `text` is the sentence.
static oxp_status size_leave_open(size_search *search, oxp__text *text, oxp_error *error)
{
  oxp_network *network = search->network;
  oxp_status status = oxp__text_status(text, error);
  if (status == OXP_OK)
    network->missing_shape = oxp__arena_copy(&network->arena, oxp__text_string(text));
  if (status == OXP_OK && !network->missing_shape)
    status = oxp__fail_memory(error, text->length);
  oxp__text_fini(text);
  for (int i = 1; i < search->input.rank; i++)
    if (search->input.dim[i] < 0)
      search->input.dim[i] = OXP_DIM_UNKNOWN;
  return status;
}

// Adds "29, 31 to 33 and 40".
static void size_add_ranges(oxp__text *text, const bool *fits)
{
  int written = 0;
  for (int first = 1; first <= OXP__SIZE_LARGEST; first++) {
    if (!fits[first])
      continue;
    int last = first, next;
    while (last < OXP__SIZE_LARGEST && fits[last + 1])
      last++;
    for (next = last + 1; next <= OXP__SIZE_LARGEST && !fits[next];)
      next++;
    oxp__text_add(text, written++ == 0 ? "" : next > OXP__SIZE_LARGEST ? " and " : ", ");
    oxp__text_printf(text, last == first ? "%d" : last == first + 1 ? "%d and %d" : "%d to %d", first, last);
    first = last;
  }
}

static void size_add_squares(const size_search *search, oxp__text *text, const bool *fits)
{
  int first = 1;
  while (!fits[first])
    first++;
  oxp__text_add(text, "the file does not hold the input's size, and several square ones fit the layers: ");
  size_add_ranges(text, fits);
  oxp__text_printf(text, "; choose one with --input-shape, as in --input-shape %lldx%dx%d",
                   (long long)search->input.dim[1], first, first);
}

static void size_add_pairs(size_search *search, oxp__text *text)
{
  int64_t pairs[SIZE_PAIRS][2];
  long long channels = (long long)search->input.dim[1];
  int count = oxp__size_trial_pairs(&search->trial, &search->arena, pairs, SIZE_PAIRS);
  oxp__text_printf(text, "no square input of 1 to %d fits the layers; ", OXP__SIZE_LARGEST);
  for (int i = 0; i < count; i++)
    oxp__text_printf(text, "%s%lldx%lld", i > 0 ? ", " : "heights and widths that do: ", (long long)pairs[i][0],
                     (long long)pairs[i][1]);
  if (count == 0)
    oxp__text_printf(text, "give its size with --input-shape %lldxHxW", channels);
  else
    oxp__text_printf(text, "; choose one with --input-shape, as in --input-shape %lldx%lldx%lld", channels,
                     (long long)pairs[0][0], (long long)pairs[0][1]);
}

// Exactly one square size fits. An axis on which every size does stays symbolic.
static void size_take(size_search *search, int64_t size)
{
  bool height = size_is_free(search, true, false, size), width = size_is_free(search, false, true, size);
  search->input.dim[2] = height ? OXP_DIM_HEIGHT : size;
  search->input.dim[3] = width ? OXP_DIM_WIDTH : size;
  oxp__text shape = { 0 };
  oxp__text_add_shape(&shape, search->input.rank, search->input.dim);
  oxp__network_warn(search->network,
                    "The file does not hold the input's size; %s is used, the only square one that fits.",
                    oxp__text_string(&shape));
  oxp__text_fini(&shape);
}

static oxp_status size_search_squares(size_search *search, oxp_error *error)
{
  bool *fits = oxp__arena_new(&search->arena, OXP__SIZE_LARGEST + 1, sizeof *fits);
  oxp__text text = { 0 };
  if (!fits)
    return oxp__fail_memory(error, OXP__SIZE_LARGEST);
  int count = 0, found = 0;
  for (int size = 1; size <= OXP__SIZE_LARGEST; size++)
    if (size_fits(search, size, size)) {
      fits[size] = true;
      found = size;
      count++;
    }
  if (count == 1) {
    size_take(search, found);
    return OXP_OK;
  }
  if (count > 1)
    size_add_squares(search, &text, fits);
  else
    size_add_pairs(search, &text);
  return size_leave_open(search, &text, error);
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

// Settles the one axis that nothing speaks of, which is called a height: it stays symbolic where every size fits; where exactly
// one does, that is it.
static bool size_settle_open_axis(size_search *search, int axis)
{
  bool free = size_is_free(search, true, false, 1);
  int64_t found = 0;
  for (int64_t size = 1; !free && size <= OXP__SIZE_LARGEST; size++)
    if (size_fits(search, size, 1)) {
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
  return search->input.rank == rank && size_walk(search, NULL) == OXP_OK &&
         (open == 0 || size_settle_open_axis(search, open));
}

static bool size_guess_rank(size_search *search, const oxp__layer *layer)
{
  oxp__shape known = search->input;
  int64_t channels = size_channels(search->network);
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
      search->network,
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

static oxp_status size_leave_shape_open(size_search *search, const oxp__layer *layer, oxp_error *error)
{
  char label[256];
  oxp__text text = { 0 };
  search->input = (oxp__shape){ .rank = -1 };
  if (layer)
    oxp__text_printf(&text,
                     "the file does not hold the input's shape, and it does not follow from %s, the first layer that "
                     "knows what it takes; ",
                     oxp__layer_label(layer, label, sizeof label));
  else
    oxp__text_add(&text, "neither the file nor any of the layers says what shape the input has; ");
  oxp__text_add(&text, "give it with --input-shape, the batch left out");
  return size_leave_open(search, &text, error);
}

// Whether the layers before `layer` make samples flat: then it takes samples of any shape with so many numbers, and the file does
// not say which. Seen by one more axis making no difference to what reaches it.
static bool size_is_flattened(size_search *search, const oxp__layer *layer)
{
  oxp__shape flat = search->trial.relative[layer->output], input = search->input;
  if (input.rank != 2 || flat.rank == 0)
    return false;
  search->input.dim[search->input.rank++] = 1;
  size_walk(search, NULL);
  search->input = input;
  const oxp__shape *found = search->trial.relative ? &search->trial.relative[layer->output] : NULL;
  return found && found->rank == flat.rank && memcmp(found->dim, flat.dim, (size_t)flat.rank * sizeof *flat.dim) == 0;
}

// The side of a square picture with so many numbers in so many channels; 0 when there is none.
static int64_t size_square_side(int64_t count, int64_t channels)
{
  for (int64_t side = 2; count % channels == 0 && side * side <= count / channels; side++)
    if (side * side == count / channels)
      return side;
  return 0;
}

static oxp_status size_leave_flattened(size_search *search, const oxp__layer *layer, oxp_error *error)
{
  char label[256];
  oxp__text text = { 0 };
  long long count = (long long)search->input.dim[1];
  search->input = (oxp__shape){ .rank = -1 };
  oxp__text_printf(&text,
                   "the file does not hold the input's shape, and samples of any shape with %lld numbers are made flat "
                   "for %s; give the shape of the data it was trained on, as in --input-shape %lld",
                   count, oxp__layer_label(layer, label, sizeof label), count);
  for (int64_t channels = 1; channels <= 3; channels += 2) {
    int64_t side = size_square_side(count, channels);
    if (side > 0)
      oxp__text_printf(&text, " or --input-shape %lldx%lldx%lld", (long long)channels, (long long)side,
                       (long long)side);
  }
  return size_leave_open(search, &text, error);
}

// The network is walked through with a map of open height and width.
static oxp_status size_from_map(size_search *search, oxp_error *error)
{
  return size_is_free(search, true, true, 0) ? OXP_OK : size_search_squares(search, error);
}

static oxp_status size_leave_many(size_search *search, oxp_error *error)
{
  oxp__text text = { 0 };
  oxp__text_printf(&text,
                   "the file does not hold the input's size, and too many layers depend on it to try sizes; give "
                   "it with --input-shape %lldxHxW",
                   (long long)search->input.dim[1]);
  search->broken = OXP_OK;
  return size_leave_open(search, &text, error);
}

static oxp_status size_from_layers(size_search *search, oxp_error *error)
{
  const oxp_network *network = search->network;
  size_t first = 0;
  while (first < network->layer_count && !size_of_layer(network->layers[first], &search->input))
    first++;
  if (first == network->layer_count)
    return size_leave_shape_open(search, NULL, error);
  const oxp__layer *layer = network->layers[first];
  bool map = size_is_map(&search->input);
  oxp_error why = { 0 }; // of no concern where the shape is found or left open after all
  oxp_status status = size_walk(search, &why);
  bool stopped_before = search->trial.relative && search->trial.relative[layer->output].rank == 0;
  if (status == OXP_UNSUPPORTED)
    return size_leave_many(search, error);
  if (status == OXP_BAD_NETWORK && !map && size_guess_rank(search, layer))
    return OXP_OK;
  // The layers before it may want another rank than it does itself: the user has to say.
  if (status == OXP_BAD_NETWORK && first > 0 && stopped_before)
    return size_leave_shape_open(search, layer, error);
  if (first > 0 && size_is_flattened(search, layer))
    return size_leave_flattened(search, layer, error);
  if (status != OXP_OK && error)
    *error = why;
  OXP__TRY(status);
  char label[256];
  if (first > 0)
    oxp__network_warn(search->network, "The file does not hold the input's shape; it is taken from %s.",
                      oxp__layer_label(layer, label, sizeof label));
  return map ? size_from_map(search, error) : OXP_OK;
}

static oxp_status size_from_user(size_search *search, int rank, const int64_t *shape, oxp_error *error)
{
  search->input = (oxp__shape){ .rank = rank + 1, .dim = { OXP_DIM_BATCH } };
  for (int i = 0; i < rank; i++)
    search->input.dim[i + 1] = shape[i];
  oxp_status status = size_walk(search, error);
  return status == OXP_OK ? OXP_OK : oxp__at_key(error, status, "--input-shape");
}

oxp_status oxp__input_size_settle(oxp_network *network, int rank, const int64_t *shape, oxp_error *error)
{
  size_search search = { .network = network };
  OXP__TRY(oxp__network_check_params(network, error));
  oxp_status status = rank != 0 ? size_from_user(&search, rank, shape, error) : size_from_layers(&search, error);
  oxp__arena_fini(&search.arena);
  if (status == OXP_OK && search.broken != OXP_OK)
    status = oxp__fail(error, search.broken, "the input's size could not be found: %s", oxp_status_text(search.broken));
  if (status == OXP_OK)
    oxp__network_set_input_shape(network, 0, &search.input);
  return status;
}
