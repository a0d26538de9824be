// verify_input.c: which shapes and batches are verified, and the values that go in. Place: engines.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/verify.h"

// --- Shapes ---

static oxp_status verify_fail_shapes(const char *input, const oxp__shape *wanted, int rank, const int64_t *found,
                                     const char *who, oxp_error *error)
{
  oxp__text text = { 0 };
  oxp__text_add_shape(&text, wanted->rank, wanted->dim);
  oxp__text_printf(&text, " in the network; %s has ", who);
  oxp__text_add_shape(&text, rank, found);
  oxp_status status =
      oxp__fail(error, OXP_BAD_ARGUMENT, "input \"%s\" has the shape %s", input, oxp__text_string(&text));
  oxp__text_fini(&text);
  return status;
}

// The number that a symbol stands for is the same in all inputs, but for UNKNOWN.
static void verify_bind(oxp__verify *verify, int input, int axis, int64_t number)
{
  int64_t symbol = verify->shapes[input].dim[axis];
  verify->shapes[input].dim[axis] = number;
  for (int i = 0; symbol > OXP_DIM_UNKNOWN && i < verify->input_count; i++)
    for (int k = 0; k < verify->shapes[i].rank; k++)
      if (verify->shapes[i].dim[k] == symbol)
        verify->shapes[i].dim[k] = number;
}

// Takes over the dimensions that are fixed in `dims` (negative: open). `keep_batch` leaves the batch open.
static oxp_status verify_narrow(oxp__verify *verify, int input, int rank, const int64_t *dims, bool keep_batch,
                                const char *who, oxp_error *error)
{
  oxp__shape *shape = &verify->shapes[input];
  const char *name = verify->network->values[verify->network->inputs[input]].name;
  if (rank != shape->rank)
    return verify_fail_shapes(name, shape, rank, dims, who, error);
  for (int axis = 0; axis < rank; axis++) {
    bool is_batch = shape->dim[axis] == OXP_DIM_BATCH || axis == 0;
    if (dims[axis] < 0 || shape->dim[axis] == dims[axis] || (keep_batch && is_batch))
      continue;
    if (shape->dim[axis] >= 0)
      return verify_fail_shapes(name, shape, rank, dims, who, error);
    verify_bind(verify, input, axis, dims[axis]);
  }
  return OXP_OK;
}

static oxp_status verify_narrow_to_session(oxp__verify *verify, const oxp_session *session, const char *who,
                                           oxp_error *error)
{
  if (session->input_count != verify->input_count)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the network has %d inputs; %s has %d", verify->input_count, who,
                     session->input_count);
  for (int i = 0; i < verify->input_count; i++) {
    const oxp__port *port = &session->inputs[i];
    if (port->dtype != OXP_FLOAT32 && port->dtype != OXP_FLOAT64)
      return oxp__fail(error, OXP_BAD_ARGUMENT, "input \"%s\" of %s is %s; the network computes in %s", port->name, who,
                       oxp_dtype_name(port->dtype), oxp_dtype_name(verify->network->dtype));
    if (port->dtype == OXP_FLOAT32)
      verify->dtype = OXP_FLOAT32;
    if (port->rank >= 0)
      OXP__TRY(verify_narrow(verify, i, port->rank, port->shape, false, who, error));
  }
  return OXP_OK;
}

static oxp_status verify_check_given(oxp__verify *verify, oxp_error *error)
{
  for (int i = 0; i < verify->input_count; i++) {
    const oxp_array *given = &verify->options.inputs[i];
    const char *name = verify->network->values[verify->network->inputs[i]].name;
    if (!oxp__dtype_is_float(given->dtype))
      return oxp__fail(error, OXP_BAD_ARGUMENT, "the array given for input \"%s\" is %s; the network computes in %s",
                       name, oxp_dtype_name(given->dtype), oxp_dtype_name(verify->network->dtype));
    if (given->rank < 1 || oxp_array_count(given) == 0 || !given->data)
      return oxp__fail(error, OXP_BAD_ARGUMENT, "the array given for input \"%s\" is empty", name);
    OXP__TRY(verify_narrow(verify, i, given->rank, given->shape, true, "the array given", error));
  }
  return OXP_OK;
}

// --- Open sizes ---

// Height and width to try where both are open: unequal ones first, as they show more; multiples of 32 before others.
static const int64_t verify_sizes[][2] = {
  { 32, 64 },   { 64, 96 },   { 96, 128 },  { 192, 160 }, { 256, 320 }, { 512, 480 }, { 32, 32 },
  { 64, 64 },   { 128, 128 }, { 224, 224 }, { 256, 256 }, { 299, 299 }, { 320, 320 }, { 416, 416 },
  { 512, 512 }, { 640, 640 }, { 28, 28 },   { 16, 16 },   { 8, 8 },     { 4, 4 },     { 1, 1 },
};

static int64_t verify_size_of(int64_t dim, const int64_t size[2])
{
  if (dim == OXP_DIM_BATCH)
    return 1;
  if (dim >= 0)
    return dim;
  return dim == OXP_DIM_WIDTH ? size[1] : size[0];
}

static oxp_status verify_try_size(const oxp__verify *verify, const int64_t size[2], oxp__shape *inputs,
                                  oxp__shape *values, oxp_error *error)
{
  for (int i = 0; i < verify->input_count; i++) {
    inputs[i] = verify->shapes[i];
    for (int axis = 0; axis < inputs[i].rank; axis++)
      inputs[i].dim[axis] = verify_size_of(inputs[i].dim[axis], size);
  }
  return oxp__infer_shapes(verify->network, inputs, values, error);
}

static void verify_take_size(oxp__verify *verify, const int64_t size[2])
{
  for (int i = 0; i < verify->input_count; i++) {
    oxp__shape *shape = &verify->shapes[i];
    bool open = false;
    for (int axis = 0; axis < shape->rank; axis++)
      if (shape->dim[axis] < OXP_DIM_BATCH) {
        shape->dim[axis] = verify_size_of(shape->dim[axis], size);
        open = true;
      }
    if (!open)
      continue;
    oxp__text text = { 0 };
    oxp__text_add_shape(&text, shape->rank, shape->dim);
    oxp__verify_note(verify->report, "Sizes of input \"%s\" are open; %s was chosen.",
                     verify->network->values[verify->network->inputs[i]].name, oxp__text_string(&text));
    oxp__text_fini(&text);
  }
}

// Finds sizes that all layers accept; the error of the largest tried one when there are none.
static oxp_status verify_choose_sizes(oxp__verify *verify, oxp_error *error)
{
  size_t count = verify->network->value_count + (size_t)verify->input_count;
  oxp__shape *values = calloc(count ? count : 1, sizeof *values);
  if (!values)
    return oxp__fail_memory(error, count * sizeof *values);
  oxp_status status = OXP_OK;
  for (size_t i = 0; i < OXP__COUNT(verify_sizes); i++) {
    oxp__shape *inputs = values + verify->network->value_count;
    oxp_error ignored = { 0 };
    status = verify_try_size(verify, verify_sizes[i], inputs, values, i == 5 ? error : &ignored);
    if (status != OXP_OK)
      continue;
    verify_take_size(verify, verify_sizes[i]);
    break;
  }
  free(values);
  return status;
}

// --- Batches ---

static oxp_status verify_add_run(oxp__verify *verify, int64_t batch, int64_t first, oxp_error *error)
{
  oxp__verify_run *runs =
      oxp__arena_grow(&verify->report->arena, verify->runs, verify->run_count, &verify->run_capacity, sizeof *runs);
  if (!runs)
    return oxp__fail_memory(error, sizeof *runs);
  verify->runs = runs;
  verify->runs[verify->run_count++] = (oxp__verify_run){ batch, first };
  return OXP_OK;
}

static bool verify_has_open_batch(const oxp__verify *verify)
{
  for (int i = 0; i < verify->input_count; i++)
    for (int axis = 0; axis < verify->shapes[i].rank; axis++)
      if (verify->shapes[i].dim[axis] == OXP_DIM_BATCH)
        return true;
  return false;
}

// The samples that were given for each input with an open batch (for the first one, when all are fixed); 0 when the
// values are random.
static oxp_status verify_sample_count(const oxp__verify *verify, int64_t *count, oxp_error *error)
{
  *count = 0;
  for (int i = 0; verify->options.inputs && i < verify->input_count; i++) {
    int64_t samples = verify->options.inputs[i].shape[0];
    if (verify->shapes[i].dim[0] >= 0 && (*count || verify_has_open_batch(verify)))
      continue;
    if (*count && samples != *count)
      return oxp__fail(error, OXP_BAD_ARGUMENT, "input %d has %lld samples, the inputs before it have %lld", i,
                       (long long)samples, (long long)*count);
    *count = samples;
  }
  return OXP_OK;
}

static void verify_note_runs(oxp__verify *verify, int64_t samples)
{
  oxp__text text = { 0 };
  for (size_t i = 0; i < verify->run_count && i < 4; i++)
    oxp__text_printf(&text, "%s%lld", i ? ", " : "", (long long)verify->runs[i].batch);
  if (verify->run_count > 4)
    oxp__text_printf(&text, ", ... (%zu runs)", verify->run_count);
  if (samples)
    oxp__verify_note(verify->report, "Run with batches of %s taken from the %lld samples given.",
                     oxp__text_string(&text), (long long)samples);
  else
    oxp__verify_note(verify->report, "Run with batches of %s, values random from seed %llu.", oxp__text_string(&text),
                     (unsigned long long)verify->options.seed);
  oxp__text_fini(&text);
}

// 1, 2 and 7 where the batch is open, then on until every given sample was used.
static oxp_status verify_choose_batches(oxp__verify *verify, oxp_error *error)
{
  static const int64_t usual[] = { 1, 2, 7 };
  int64_t samples = 0, first = 0, batch = verify->options.batch;
  OXP__TRY(verify_sample_count(verify, &samples, error));
  bool open = verify_has_open_batch(verify);
  int64_t fixed = open || verify->shapes[0].rank < 1 ? 1 : verify->shapes[0].dim[0];
  if (batch < 0)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the batch cannot be %lld", (long long)batch);
  if (batch > 0 && !open && batch != fixed)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "a batch of %lld was asked for; the model takes %lld", (long long)batch,
                     (long long)fixed);
  if (batch == 0 && !open)
    batch = fixed;
  for (size_t i = 0; batch == 0 && i < OXP__COUNT(usual); i++) {
    OXP__TRY(verify_add_run(verify, usual[i], first, error));
    first += usual[i];
  }
  if (batch == 0)
    batch = usual[OXP__COUNT(usual) - 1];
  for (; verify->run_count == 0 || first < samples; first += batch)
    OXP__TRY(verify_add_run(verify, batch, first, error));
  verify->samples = samples ? samples : first;
  verify_note_runs(verify, samples);
  return OXP_OK;
}

oxp_status oxp__verify_plan(oxp__verify *verify, oxp_error *error)
{
  const oxp_network *network = verify->network;
  verify->shapes = oxp__arena_new(&verify->report->arena, (size_t)verify->input_count, sizeof *verify->shapes);
  if (!verify->shapes)
    return oxp__fail_memory(error, (size_t)verify->input_count * sizeof *verify->shapes);
  for (int i = 0; i < verify->input_count; i++)
    verify->shapes[i] = network->values[network->inputs[i]].shape;
  verify->dtype = OXP_FLOAT64;
  verify->scale = 1;
  OXP__TRY(verify_narrow_to_session(verify, verify->expected, verify->engine->title, error));
  OXP__TRY(verify_narrow_to_session(verify, verify->actual, "the model", error));
  if (verify->options.inputs)
    OXP__TRY(verify_check_given(verify, error));
  OXP__TRY(verify_choose_sizes(verify, error));
  OXP__TRY(verify_choose_batches(verify, error));
  return oxp__verify_reach(verify, error);
}

// --- Values ---

static void verify_concrete(const oxp__shape *from, int64_t batch, oxp__shape *to)
{
  *to = *from;
  for (int axis = 0; axis < to->rank; axis++)
    if (to->dim[axis] == OXP_DIM_BATCH)
      to->dim[axis] = batch;
}

// Copies elements, converting. Both arrays have `count` of them from there on.
static void verify_convert(const oxp_array *from, int64_t from_at, oxp_array *to, int64_t to_at, int64_t count)
{
  size_t from_size = oxp_dtype_bytes(from->dtype), to_size = oxp_dtype_bytes(to->dtype);
  const unsigned char *source = (const unsigned char *)from->data + (size_t)from_at * from_size;
  unsigned char *target = (unsigned char *)to->data + (size_t)to_at * to_size;
  if (from->dtype == to->dtype && count > 0)
    memcpy(target, source, (size_t)count * to_size);
  for (int64_t i = 0; from->dtype != to->dtype && i < count; i++)
    oxp__store_f64(to->dtype, target + (size_t)i * to_size, oxp__load_f64(from->dtype, source + (size_t)i * from_size));
}

void oxp__verify_take_samples(const oxp_array *given, int64_t first, oxp_array *to)
{
  int64_t samples = given->shape[0], size = oxp_array_count(given) / samples;
  for (int64_t i = 0; i < to->shape[0]; i++)
    verify_convert(given, (first + i) % samples * size, to, i * size, size);
}

// The layer that reads a network input and knows where its values lie; NULL when there is none.
static const oxp__layer *verify_ranged_layer(const oxp_network *network, oxp_value input)
{
  for (size_t i = 0; i < network->layer_count; i++) {
    const oxp__layer *layer = network->layers[i];
    for (int k = 0; layer->kind->input_range && k < layer->input_count; k++)
      if (layer->inputs[k] == input)
        return layer;
  }
  return NULL;
}

// Random values in [-scale, scale).
static oxp_status verify_draw(const oxp__verify *verify, uint64_t number, oxp_array *array, oxp_error *error)
{
  OXP__TRY(oxp_array_fill_random(array, verify->options.seed + number, error));
  size_t size = oxp_dtype_bytes(array->dtype);
  int64_t count = verify->scale == 1 ? 0 : oxp_array_count(array);
  for (int64_t i = 0; i < count; i++) {
    unsigned char *element = (unsigned char *)array->data + (size_t)i * size;
    oxp__store_f64(array->dtype, element, verify->scale * oxp__load_f64(array->dtype, element));
  }
  return OXP_OK;
}

static void verify_move(oxp_array *array, const double *centre, const double *spread)
{
  size_t size = oxp_dtype_bytes(array->dtype);
  int64_t channels = array->shape[1], count = oxp_array_count(array);
  int64_t inner = count / (array->shape[0] * channels);
  for (int64_t i = 0; i < count; i++) {
    unsigned char *element = (unsigned char *)array->data + (size_t)i * size;
    int64_t channel = i / inner % channels;
    if (!isfinite(centre[channel]) || !isfinite(spread[channel]))
      continue; // broken statistics lead nowhere, and would break what else reads the input
    double moved = centre[channel] + spread[channel] * oxp__load_f64(array->dtype, element);
    oxp__store_f64(array->dtype, element, moved);
  }
}

// Moves random values to where the first layer expects them; says so in the first run.
static oxp_status verify_centre(const oxp__verify *verify, const oxp__verify_run *run, int input, oxp_array *array,
                                oxp_error *error)
{
  const oxp__layer *layer = verify_ranged_layer(verify->network, verify->network->inputs[input]);
  if (!layer || array->rank < 2 || oxp_array_count(array) == 0)
    return OXP_OK;
  size_t channels = (size_t)array->shape[1];
  double *centre = calloc(2 * channels, sizeof *centre);
  if (!centre)
    return oxp__fail_memory(error, 2 * channels * sizeof *centre);
  oxp_status status = layer->kind->input_range(layer, array->shape[1], centre, centre + channels, error);
  if (status == OXP_OK)
    verify_move(array, centre, centre + channels);
  free(centre);
  char label[256];
  if (status == OXP_OK && run == verify->runs && !verify->report->input.statistics)
    verify->report->input.statistics = oxp__arena_copy(&verify->report->arena, layer->name);
  if (status == OXP_OK && run == verify->runs)
    oxp__verify_note(verify->report, "Values of input \"%s\" lie where %s has its statistics.",
                     verify->network->values[verify->network->inputs[input]].name,
                     oxp__layer_label(layer, label, sizeof label));
  return status;
}

oxp_status oxp__verify_inputs(const oxp__verify *verify, const oxp__verify_run *run, oxp_array *arrays,
                              oxp_error *error)
{
  for (int i = 0; i < verify->input_count; i++) {
    oxp__shape shape;
    verify_concrete(&verify->shapes[i], run->batch, &shape);
    OXP__TRY(oxp_array_new(&arrays[i], verify->dtype, shape.rank, shape.dim, error));
    uint64_t number = (uint64_t)(run - verify->runs) * (uint64_t)verify->input_count + (uint64_t)i;
    if (verify->options.inputs) {
      oxp__verify_take_samples(&verify->options.inputs[i], run->first, &arrays[i]);
      continue;
    }
    OXP__TRY(verify_draw(verify, number, &arrays[i], error));
    OXP__TRY(verify_centre(verify, run, i, &arrays[i], error));
  }
  return OXP_OK;
}

void oxp__verify_free(oxp_array *arrays, int count, bool list_too)
{
  for (int i = 0; arrays && i < count; i++)
    oxp_array_free(&arrays[i]);
  if (list_too)
    free(arrays);
}

// The inputs as the session takes them: borrowed where the type fits, else converted into `own`.
static oxp_status verify_feed(const oxp_session *session, const oxp_array *inputs, oxp_array *own, oxp_array *fed,
                              oxp_error *error)
{
  for (int i = 0; i < session->input_count; i++) {
    fed[i] = inputs[i];
    if (session->inputs[i].dtype == inputs[i].dtype)
      continue;
    OXP__TRY(oxp_array_new(&own[i], session->inputs[i].dtype, inputs[i].rank, inputs[i].shape, error));
    verify_convert(&inputs[i], 0, &own[i], 0, oxp_array_count(&inputs[i]));
    fed[i] = own[i];
  }
  return OXP_OK;
}

oxp_status oxp__verify_run_session(const oxp__verify *verify, oxp_session *session, const oxp_array *inputs,
                                   oxp_array **outputs, oxp_error *error)
{
  int input_count = verify->input_count, output_count = oxp_session_output_count(session);
  oxp_array *own = calloc((size_t)input_count * 2 + 1, sizeof *own);
  *outputs = calloc((size_t)output_count + 1, sizeof **outputs);
  oxp_status status = own && *outputs ? verify_feed(session, inputs, own, own + input_count, error)
                                      : oxp__fail_memory(error, sizeof *own * (size_t)(input_count + output_count));
  if (status == OXP_OK)
    status = oxp_session_run(session, own + input_count, *outputs, error);
  oxp__verify_free(own, input_count, true);
  if (status != OXP_OK) {
    oxp__verify_free(*outputs, output_count, true);
    *outputs = NULL;
  }
  return status;
}

const oxp_array *oxp__verify_array(const oxp__verify *verify, oxp_value value, const oxp_array *inputs,
                                   const oxp_array *layers)
{
  const oxp_network *network = verify->network;
  if (network->values[value].layer >= 0)
    return &layers[network->values[value].layer];
  for (size_t i = 0; i < network->input_count; i++)
    if (network->inputs[i] == value)
      return &inputs[i];
  return NULL;
}

oxp__f64 oxp__verify_view(const oxp_array *array, double *at)
{
  oxp__f64 view = { .shape.rank = array->rank, .count = oxp_array_count(array), .at = at };
  memcpy(view.shape.dim, array->shape, sizeof view.shape.dim);
  return view;
}
