// size_trial.c: see size_trial.h. Place: net.
#include "net/size_trial.h"

#include <string.h>

// A try asks at most so many layers, so that all squares take a second or two, whatever a file holds.
enum { TRIAL_MOST_STEPS = 10000, TRIAL_MOST_PAIRS = 1 << 21 };

// --- Shapes in symbols ---
// Dimension `axis` of a value's root is written as a number of its own, so that the shapes of all that hang on the root can be told from
// the root's. Shape functions take any negative number for a symbol that they do not calculate with.

static int64_t trial_symbol(int axis)
{
  return -16 - axis;
}

static bool trial_is_open(int64_t dim)
{
  return dim < 0 && dim != OXP_DIM_BATCH;
}

static bool trial_has_open(const oxp__shape *shape)
{
  bool open = false;
  for (int i = 0; i < shape->rank; i++)
    open = open || trial_is_open(shape->dim[i]);
  return open;
}

// `relative` with its root's numbers in place of the symbols.
static oxp__shape trial_filled(const oxp__shape *relative, const oxp__shape *root)
{
  oxp__shape shape = *relative;
  for (int i = 0; i < shape.rank; i++)
    if (trial_is_open(shape.dim[i]))
      shape.dim[i] = root->dim[trial_symbol(0) - shape.dim[i]];
  return shape;
}

static bool trial_same(const oxp__shape *a, const oxp__shape *b)
{
  return a->rank == b->rank && memcmp(a->dim, b->dim, (size_t)a->rank * sizeof a->dim[0]) == 0;
}

// --- The walk ---

static void trial_make_root(oxp__size_trial *trial, oxp_value value, const oxp__shape *shape)
{
  trial->roots[value] = value;
  trial->relative[value] = *shape;
  for (int i = 0; i < shape->rank; i++)
    if (trial_is_open(shape->dim[i]))
      trial->relative[value].dim[i] = trial_symbol(i);
}

// Does the layer, of one input, do with numbers what it does with symbols? It is asked with small ones, odd ones and large ones: a
// limit or a wanted number would show.
static bool trial_hands_on(const oxp__layer *layer, const oxp__shape *input, const oxp__shape *output)
{
  static const int64_t numbers[][2] = { { 1, 1 }, { 5, 7 }, { OXP__SIZE_LARGEST, OXP__SIZE_LARGEST } };
  bool same = layer->input_count == 1;
  for (int i = 0; same && i < output->rank; i++)
    same = !trial_is_open(output->dim[i]) || output->dim[i] <= trial_symbol(0);
  for (size_t n = 0; same && n < OXP__COUNT(numbers); n++) {
    oxp__shape root = { .rank = OXP_MAX_RANK }, result;
    for (int i = 0; i < OXP_MAX_RANK; i++)
      root.dim[i] = numbers[n][i % 2];
    oxp__shape given = trial_filled(input, &root), expected = trial_filled(output, &root);
    same = layer->kind->shape(layer, &given, &result, NULL) == OXP_OK && trial_same(&result, &expected);
  }
  return same;
}

// The layer's input shapes; symbols of different roots are not the same numbers, so several inputs are given none that could meet.
static bool trial_ask_symbols(oxp__size_trial *trial, const oxp__layer *layer)
{
  bool open = false;
  for (int i = 0; i < layer->input_count; i++) {
    trial->asked[i] = trial->relative[layer->inputs[i]];
    open = open || trial_has_open(&trial->asked[i]);
    for (int k = 0; layer->input_count > 1 && k < trial->asked[i].rank; k++)
      if (trial_is_open(trial->asked[i].dim[k]))
        trial->asked[i].dim[k] = OXP_DIM_UNKNOWN;
  }
  return open;
}

static oxp_status trial_walk_layer(oxp__size_trial *trial, const oxp__layer *layer, oxp_error *error)
{
  oxp__shape output = { .rank = -1 };
  bool open = trial_ask_symbols(trial, layer);
  char label[256];
  oxp_status status = layer->kind->shape(layer, trial->asked, &output, error);
  if (status != OXP_OK)
    return oxp__at_layer(error, status, "%s", oxp__layer_label(layer, label, sizeof label));
  if (open && trial_hands_on(layer, &trial->asked[0], &output)) {
    trial->roots[layer->output] = trial->roots[layer->inputs[0]];
    trial->relative[layer->output] = output;
    return OXP_OK;
  }
  trial_make_root(trial, layer->output, &output);
  trial->concrete[layer->output] = output;
  if (!open)
    return OXP_OK;
  if (trial->step_count >= TRIAL_MOST_STEPS)
    return oxp__fail(error, OXP_UNSUPPORTED, "more than %d layers depend on the input's size, too many to try sizes",
                     TRIAL_MOST_STEPS);
  trial->steps[trial->step_count++] = layer->index;
  return OXP_OK;
}

static size_t trial_most_inputs(const oxp_network *network)
{
  size_t most = 1;
  for (size_t i = 0; i < network->layer_count; i++)
    if ((size_t)network->layers[i]->input_count > most)
      most = (size_t)network->layers[i]->input_count;
  return most;
}

oxp_status oxp__size_trial_init(oxp__size_trial *trial, oxp__arena *arena, const oxp_network *network,
                                const oxp__shape *input, oxp_error *error)
{
  size_t values = network->value_count, layers = network->layer_count;
  *trial = (oxp__size_trial){ .network = network, .input = *input };
  trial->relative = oxp__arena_new(arena, values, sizeof *trial->relative);
  trial->roots = oxp__arena_new(arena, values, sizeof *trial->roots);
  trial->concrete = oxp__arena_new(arena, values, sizeof *trial->concrete);
  trial->steps = oxp__arena_new(arena, layers < TRIAL_MOST_STEPS ? layers : TRIAL_MOST_STEPS, sizeof *trial->steps);
  trial->asked = oxp__arena_new(arena, trial_most_inputs(network), sizeof *trial->asked);
  if (!trial->relative || !trial->roots || !trial->concrete || !trial->steps || !trial->asked)
    return oxp__fail_memory(error, values * 2 * sizeof *trial->relative);
  trial_make_root(trial, network->inputs[0], input);
  for (size_t i = 0; i < layers; i++)
    OXP__TRY(trial_walk_layer(trial, network->layers[i], error));
  return OXP_OK;
}

// --- Trying ---

// Asks the steps from `first` up to `end` with the numbers that their roots have; false at the first that does not fit.
static bool trial_ask(oxp__size_trial *trial, size_t first, size_t end)
{
  for (size_t s = first; s < end; s++) {
    const oxp__layer *layer = trial->network->layers[trial->steps[s]];
    for (int i = 0; i < layer->input_count; i++) {
      oxp_value value = layer->inputs[i];
      trial->asked[i] = trial_filled(&trial->relative[value], &trial->concrete[trial->roots[value]]);
    }
    if (layer->kind->shape(layer, trial->asked, &trial->concrete[layer->output], NULL) != OXP_OK)
      return false;
  }
  return true;
}

static void trial_set_input(oxp__size_trial *trial, int64_t height, int64_t width)
{
  oxp__shape *shape = &trial->concrete[trial->network->inputs[0]];
  *shape = trial->input;
  for (int i = 0; i < shape->rank; i++)
    if (trial_is_open(shape->dim[i]))
      shape->dim[i] = shape->dim[i] == OXP_DIM_HEIGHT ? height : width;
}

bool oxp__size_trial_fits(oxp__size_trial *trial, int64_t height, int64_t width)
{
  trial_set_input(trial, height, width);
  return trial_ask(trial, 0, trial->step_count);
}

// --- Pairs ---
// The first steps are mostly windows, which treat the two axes alike and apart. What they make of each size is tabulated, so that a pair
// asks the steps from the one on that joins the axes (a Flatten). Sizes of which they make the same are one try, that of the smallest. A
// pair that was found so is tried as a whole.

static bool trial_is_map(const oxp__shape *relative)
{
  return relative->rank == 4 && relative->dim[2] == trial_symbol(2) && relative->dim[3] == trial_symbol(3) &&
         !trial_is_open(relative->dim[1]);
}

// The value that the first `axis_steps` steps end in.
static oxp_value trial_axis_root(const oxp__size_trial *trial)
{
  return trial->axis_steps ? trial->network->layers[trial->steps[trial->axis_steps - 1]]->output
                           : trial->network->inputs[0];
}

static bool trial_tabulate(oxp__size_trial *trial, oxp__arena *arena)
{
  trial->axes = oxp__arena_new(arena, OXP__SIZE_LARGEST + 1, sizeof *trial->axes);
  if (!trial->axes || !trial_is_map(&trial->relative[trial->network->inputs[0]]))
    return false;
  while (trial->axis_steps < trial->step_count) {
    const oxp__layer *next = trial->network->layers[trial->steps[trial->axis_steps]];
    bool chained = next->input_count == 1 && trial->roots[next->inputs[0]] == trial_axis_root(trial);
    if (!chained || !trial_is_map(&trial->relative[next->output]))
      break;
    trial->axis_steps++;
  }
  const oxp__shape *end = &trial->concrete[trial_axis_root(trial)];
  for (int size = 1; size <= OXP__SIZE_LARGEST; size++) {
    trial_set_input(trial, size, size);
    if (trial_ask(trial, 0, trial->axis_steps))
      memcpy(trial->axes[size], &end->dim[2], sizeof trial->axes[size]);
  }
  return true;
}

// Is it the smallest size of which the first steps make what they make of it, on that axis?
static bool trial_is_first(const oxp__size_trial *trial, int64_t size, int axis)
{
  return trial->axes[size][axis] != trial->axes[size - 1][axis];
}

// Up to which size pairs may be tried, for few enough of them.
static int64_t trial_largest_pair(const oxp__size_trial *trial)
{
  int64_t heights = 0, widths = 0, asked = (int64_t)(trial->step_count - trial->axis_steps) + 1, size = 0;
  while (size < OXP__SIZE_LARGEST && heights * widths * asked <= TRIAL_MOST_PAIRS) {
    size++;
    heights += trial_is_first(trial, size, 0);
    widths += trial_is_first(trial, size, 1);
  }
  return size;
}

static bool trial_pair_fits(oxp__size_trial *trial, int64_t height, int64_t width)
{
  oxp__shape *end = &trial->concrete[trial_axis_root(trial)];
  if (!trial_is_first(trial, height, 0) || !trial_is_first(trial, width, 1))
    return false;
  end->dim[2] = trial->axes[height][0];
  end->dim[3] = trial->axes[width][1];
  return end->dim[2] > 0 && end->dim[3] > 0 && trial_ask(trial, trial->axis_steps, trial->step_count) &&
         oxp__size_trial_fits(trial, height, width);
}

int oxp__size_trial_pairs(oxp__size_trial *trial, oxp__arena *arena, int64_t (*pairs)[2], int most)
{
  int found = 0;
  if (!trial_tabulate(trial, arena))
    return 0;
  int64_t largest = trial_largest_pair(trial);
  for (int64_t apart = 1; apart < largest && found < most; apart++)
    for (int64_t size = 1; size + apart <= largest && found < most; size++)
      for (int wide = 0; wide < 2 && found < most; wide++) {
        int64_t height = wide ? size : size + apart, width = wide ? size + apart : size;
        if (trial_pair_fits(trial, height, width)) {
          pairs[found][0] = height;
          pairs[found++][1] = width;
        }
      }
  return found;
}
