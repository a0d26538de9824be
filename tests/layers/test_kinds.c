// test_kinds.c: the one random driver for all layer kinds. For every kind: random legal parameters -> a network through the
// public builder -> shapes -> the reference session -> the graph at every opset -> our checker -> ONNX Runtime -> compare.
//
// Every case prints enough to repeat it; `test_kinds --help` lists the options. Exit status: 0 all agree, 1 something
// differs or fails, 2 wrong usage, 77 everything but the comparison agrees, because ONNX Runtime is not here.
//
// Tolerances. Let u be half a float32 unit in the last place of 1 (2^-24). The output may be off by
//     4 D + k u S
// where S is the output's scale and D is how far the double kernel's output moves when every input and weight is moved by a
// random relative u (the worst of four tries): what no float32 implementation can avoid. k is what the operations add: 0
// for EXACT, 4 for ONE_ROUNDING, 16 for TRANSCENDENTAL (with S at least 1, where such functions saturate), 4 sqrt(n) for
// REDUCTION over n terms, because rounding errors of a sum grow like the square root of its length.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "net/network.h"

enum { FIRST_OPSET = 13, LAST_OPSET = 26, MAX_WEIGHTS = 8, TRIES = 4, SKIPPED = 77 };

static const double unit = 0x1p-24;

typedef struct settings {
  uint64_t seed;
  int cases;
  const char *kind; // NULL: all
  int opset;        // 0: all
  const char *write_folder;
  const char *broken; // the kind whose reference result is spoiled on purpose
} settings;

typedef struct tally {
  int cases, compared, failed;
  int no_runtime; // ONNX Runtime is not here
  int no_kernel;  // the runtime has no float64 kernel for the operator
  int fixed;      // refused with symbolic dimensions, right with fixed ones
  double worst;   // largest share of the tolerance that was used
} tally;

// One random case.
typedef struct trial {
  const settings *settings;
  const oxp__kind *kind;
  uint64_t seed;
  oxp__random random;
  oxp_dtype dtype;
  void *params;
  int input_count;
  oxp__shape shapes[OXP__DRAW_INPUTS];
  oxp_array inputs[OXP__DRAW_INPUTS];
  oxp_array weights[MAX_WEIGHTS]; // `data` NULL: absent
  bool symbolic_batch, symbolic_map, expanded;
  oxp_network *network;
  oxp_array expected;
  double tolerance;
  tally *tally;
} trial;

// Prints what went wrong, and the command that shows it again. Returns false, for `return complain(...)`.
static bool complain(const trial *t, int opset, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  printf("FAILED %s: ", t->kind->name);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n  repeat: test_kinds --seed %llu --cases 1 --kind %s", (unsigned long long)t->seed, t->kind->name);
  if (opset > 0)
    printf(" --opset %d", opset);
  printf("\n");
  return false;
}

// ---- Random values ----

static void fill(oxp__random *random, oxp_array *array, double low, double high)
{
  for (int64_t i = 0; i < oxp_array_count(array); i++) {
    double value = (float)(low + (high - low) * oxp__random_unit(random)); // a float32 in both element types
    oxp__store_f64(array->dtype, (char *)array->data + (size_t)i * oxp_dtype_bytes(array->dtype), value);
  }
}

static bool new_array(const trial *t, oxp_array *array, const oxp__shape *shape)
{
  oxp_error error = { 0 };
  if (oxp_array_new(array, t->dtype, shape->rank, shape->dim, &error) != OXP_OK)
    return complain(t, 0, "%s", error.message);
  return true;
}

static bool draw_weights(trial *t, const oxp__layer *layer)
{
  for (int role = 0; role < t->kind->weight_count; role++) {
    oxp__shape shape;
    t->kind->weight_shape(layer, role, &shape);
    if (shape.rank < 0)
      continue;
    if (!new_array(t, &t->weights[role], &shape))
      return false;
    bool positive = t->kind->weights[role].positive;
    fill(&t->random, &t->weights[role], positive ? 0.1 : -1, positive ? 2 : 1);
  }
  return true;
}

// Most functions are interesting near 0; now and then they are pushed to where they saturate.
static bool draw_inputs(trial *t)
{
  double reach = oxp__random_range(&t->random, 1, 3) == 1 ? 20 : 2;
  for (int i = 0; i < t->input_count; i++) {
    if (!new_array(t, &t->inputs[i], &t->shapes[i]))
      return false;
    fill(&t->random, &t->inputs[i], -reach, reach);
  }
  return true;
}

static bool draw(trial *t)
{
  t->params = calloc(1, t->kind->params_bytes + 1);
  oxp__params_default(t->kind, NULL, t->params);
  t->kind->draw(&t->random, t->params, t->shapes);
  while (t->shapes[t->input_count].rank >= 0)
    t->input_count++;
  oxp__layer layer = { .kind = t->kind, .name = "drawn", .params = t->params, .input_count = t->input_count };
  t->expanded = oxp__random_range(&t->random, 0, 1) == 1;
  t->symbolic_batch = oxp__random_range(&t->random, 0, 2) > 0;
  t->symbolic_map =
      t->symbolic_batch && t->input_count == 1 && t->shapes[0].rank == 4 && oxp__random_range(&t->random, 0, 1) == 1;
  return draw_weights(t, &layer) && draw_inputs(t);
}

// ---- The network, through the public builder ----

static void set_param(trial *t, oxp_value value, const oxp__param *param)
{
  int count = oxp__param_number_count(param, t->params);
  double first = oxp__param_number(param, t->params, 0);
  if (isnan(first))
    return; // unset
  if (param->type == OXP__PARAM_CHOICE) {
    oxp_layer_set_text(t->network, value, param->name, param->tokens[(int)first]);
    return;
  }
  if (param->type == OXP__PARAM_FLOAT) {
    oxp_layer_set_float(t->network, value, param->name, first);
    return;
  }
  if (param->type == OXP__PARAM_FLOATS) {
    const double *numbers = (const double *)((const char *)t->params + param->offset);
    oxp_layer_set_floats(t->network, value, param->name, count, numbers);
    return;
  }
  int64_t numbers[OXP_MAX_RANK];
  for (int i = 0; i < count; i++)
    numbers[i] = (int64_t)oxp__param_number(param, t->params, i);
  if (count == 1)
    oxp_layer_set_int(t->network, value, param->name, numbers[0]);
  else
    oxp_layer_set_ints(t->network, value, param->name, count, numbers);
}

static oxp_value add_input(trial *t, int index)
{
  oxp__shape shape = t->shapes[index];
  char name[32];
  snprintf(name, sizeof name, "input_%d", index);
  if (t->symbolic_batch)
    shape.dim[0] = OXP_DIM_BATCH;
  if (t->symbolic_map) {
    shape.dim[2] = OXP_DIM_HEIGHT;
    shape.dim[3] = OXP_DIM_WIDTH;
  }
  return oxp_network_add_input(t->network, name, shape.rank, shape.dim);
}

static bool build(trial *t)
{
  oxp_error error = { 0 };
  oxp_network_free(t->network);
  t->network = NULL;
  if (oxp_network_new(t->dtype, &t->network, &error) != OXP_OK)
    return complain(t, 0, "%s", error.message);
  oxp_value inputs[OXP__DRAW_INPUTS];
  for (int i = 0; i < t->input_count; i++)
    inputs[i] = add_input(t, i);
  oxp_value value = oxp_network_add_layer(t->network, t->kind->name, NULL, t->input_count, inputs);
  for (int i = 0; i < t->kind->param_count; i++)
    set_param(t, value, &t->kind->params[i]);
  for (int role = 0; role < t->kind->weight_count; role++) {
    const oxp_array *weight = &t->weights[role];
    oxp_tensor tensor = oxp_tensor_from_memory(weight->dtype, weight->rank, weight->shape, weight->data);
    if (weight->data)
      oxp_layer_set_weight(t->network, value, t->kind->weights[role].role, &tensor);
  }
  oxp_network_add_output(t->network, value, NULL);
  if (oxp_network_finish(t->network, &error) != OXP_OK)
    return complain(t, 0, "%s", error.message);
  if (t->kind->params_bytes > 0 && memcmp(t->network->layers[0]->params, t->params, t->kind->params_bytes) != 0)
    return complain(t, 0, "the builder stored other parameters than the drawn ones");
  return true;
}

// ---- Shapes ----

static bool check_dims(const trial *t, int opset, const char *who, int rank, const int64_t *declared)
{
  bool same = rank == t->expected.rank;
  for (int i = 0; same && i < rank; i++) {
    bool symbolic = declared[i] < 0;
    same = symbolic ? t->symbolic_batch && (i == 0 || t->symbolic_map) : declared[i] == t->expected.shape[i];
  }
  if (same)
    return true;
  oxp__text text = { 0 };
  oxp__text_add_shape(&text, rank, declared);
  oxp__text_add(&text, ", the values have ");
  oxp__text_add_shape(&text, t->expected.rank, t->expected.shape);
  complain(t, opset, "%s has shape %s", who, oxp__text_string(&text));
  oxp__text_fini(&text);
  return false;
}

static bool check_network_shape(const trial *t)
{
  oxp_value_info info;
  if (!oxp_network_value_info(t->network, oxp_network_output(t->network, 0), &info))
    return complain(t, 0, "the network has no output");
  return check_dims(t, 0, "the network's output", info.rank, info.shape);
}

// ---- The reference ----

// For the test of this driver: a wrong kernel, by a thousandth in one place.
static void spoil(oxp_array *array)
{
  int64_t largest = 0;
  size_t size = oxp_dtype_bytes(array->dtype);
  char *data = array->data;
  for (int64_t i = 0; i < oxp_array_count(array); i++) {
    double value = fabs(oxp__load_f64(array->dtype, data + (size_t)i * size));
    if (value > fabs(oxp__load_f64(array->dtype, data + (size_t)largest * size)))
      largest = i;
  }
  double value = oxp__load_f64(array->dtype, data + (size_t)largest * size);
  oxp__store_f64(array->dtype, data + (size_t)largest * size, value * 1.001 + 0.001);
}

static bool run_reference(trial *t)
{
  oxp_session *session = NULL;
  oxp_error error = { 0 };
  oxp_status status = oxp_session_open(t->network, "reference", NULL, &session, &error);
  if (status == OXP_OK)
    status = oxp_session_run(session, t->inputs, &t->expected, &error);
  oxp_session_free(session);
  if (status != OXP_OK)
    return complain(t, 0, "reference: %s", error.message);
  if (t->settings->broken && strcmp(t->settings->broken, t->kind->name) == 0)
    spoil(&t->expected);
  return check_network_shape(t);
}

// ---- Tolerance ----

// The array as doubles, each moved by a random relative unit when `random` is given.
static bool moved(const oxp_array *array, oxp__random *random, oxp__f64 *out)
{
  *out = (oxp__f64){ .shape = { .rank = array->data ? array->rank : -1 } };
  if (!array->data)
    return true;
  memcpy(out->shape.dim, array->shape, sizeof out->shape.dim);
  out->count = oxp_array_count(array);
  out->at = malloc((size_t)out->count * sizeof(double));
  for (int64_t i = 0; out->at && i < out->count; i++) {
    double value = oxp__load_f64(array->dtype, (char *)array->data + (size_t)i * oxp_dtype_bytes(array->dtype));
    double move = random ? unit * (double)(2 * oxp__random_range(random, 0, 1) - 1) : 0;
    out->at[i] = value * (1 + move);
  }
  return out->at != NULL;
}

// Runs the kernel itself into `output`, on exact or moved values.
static bool run_kernel(const trial *t, oxp__random *random, oxp__f64 *output)
{
  oxp__f64 inputs[OXP__DRAW_INPUTS] = { 0 }, weights[MAX_WEIGHTS] = { 0 };
  oxp__layer layer = { .kind = t->kind, .name = "moved", .params = t->params, .input_count = t->input_count };
  bool right = true;
  for (int i = 0; i < t->input_count; i++)
    right = right && moved(&t->inputs[i], random, &inputs[i]);
  for (int i = 0; i < t->kind->weight_count; i++)
    right = right && moved(&t->weights[i], random, &weights[i]);
  if (right)
    t->kind->ref(&(oxp__ref){
        .layer = &layer, .inputs = inputs, .input_count = t->input_count, .weights = weights, .output = output });
  for (int i = 0; i < t->input_count; i++)
    free(inputs[i].at);
  for (int i = 0; i < t->kind->weight_count; i++)
    free(weights[i].at);
  return right;
}

static bool new_output(const trial *t, oxp__f64 *output)
{
  output->shape.rank = t->expected.rank;
  memcpy(output->shape.dim, t->expected.shape, sizeof output->shape.dim);
  output->count = oxp_array_count(&t->expected);
  output->at = malloc((size_t)output->count * sizeof(double));
  return output->at != NULL;
}

// How far the output moves, and its scale.
static bool find_movement(trial *t, double *movement, double *scale)
{
  oxp__f64 exact = { 0 }, other = { 0 };
  *movement = *scale = 0;
  bool right = new_output(t, &exact) && new_output(t, &other) && run_kernel(t, NULL, &exact);
  for (int k = 0; right && k < TRIES; k++) {
    right = run_kernel(t, &t->random, &other);
    for (int64_t i = 0; right && i < exact.count; i++) {
      *movement = fmax(*movement, fabs(exact.at[i] - other.at[i]));
      *scale = fmax(*scale, fabs(exact.at[i]));
    }
  }
  free(exact.at);
  free(other.at);
  return right || complain(t, 0, "out of memory");
}

static bool find_tolerance(trial *t)
{
  if (t->kind->tolerance == OXP__EXACT) {
    t->tolerance = 0;
    return true;
  }
  double movement, scale;
  if (!find_movement(t, &movement, &scale))
    return false;
  // At most as many terms as a sample has values, or as there are weights.
  double terms = (double)oxp_array_count(&t->inputs[0]) / (double)t->inputs[0].shape[0];
  if (t->kind->weight_count > 0)
    terms = fmin(terms, (double)oxp_array_count(&t->weights[0]));
  double factor = 4;
  if (t->kind->tolerance == OXP__TRANSCENDENTAL) {
    factor = 16;
    scale = fmax(scale, 1);
  } else if (t->kind->tolerance == OXP__REDUCTION) {
    factor = 4 * sqrt(terms);
  }
  t->tolerance = 4 * movement + factor * unit * scale;
  return true;
}

// ---- Graph and runtime ----

static bool write_model(const trial *t, const oxp_graph *graph, int opset)
{
  oxp_error error = { 0 };
  char path[1024];
  const char *folder = t->settings->write_folder;
  unsigned long long seed = t->seed;
  snprintf(path, sizeof path, "%s/%s-%llu-opset%d.onnx", folder, t->kind->name, seed, opset);
  oxp_status status = oxp_graph_write(graph, path, NULL, NULL, &error);
  for (int i = 0; status == OXP_OK && i < t->input_count; i++) {
    snprintf(path, sizeof path, "%s/%s-%llu.input_%d.npy", folder, t->kind->name, seed, i);
    status = oxp_array_write(&t->inputs[i], path, &error);
  }
  snprintf(path, sizeof path, "%s/%s-%llu.output.npy", folder, t->kind->name, seed);
  if (status == OXP_OK)
    status = oxp_array_write(&t->expected, path, &error);
  return status == OXP_OK || complain(t, opset, "%s", error.message);
}

static bool compare(trial *t, int opset, const oxp_array *actual)
{
  oxp_difference difference;
  oxp_error error = { 0 };
  if (oxp_compare(&t->expected, actual, 0, t->tolerance, &difference, &error) != OXP_OK)
    return complain(t, opset, "%s", error.message);
  t->tally->compared++;
  if (!difference.match)
    return complain(t, opset, "place %lld: reference %.9g, runtime %.9g, tolerance %.3g", (long long)difference.at,
                    difference.expected, difference.actual, t->tolerance);
  if (t->tolerance > 0)
    t->tally->worst = fmax(t->tally->worst, difference.max_abs / t->tolerance);
  return true;
}

static bool run_graph(trial *t, const oxp_graph *graph, int opset)
{
  oxp_session *session = NULL;
  oxp_error error = { 0 };
  oxp_array actual = { 0 };
  // Every other opset without the runtime's own rewriting, which has faults of its own.
  oxp_session_options options = { .threads = 1, .optimization_off = opset % 2 == 1 };
  oxp_status status = oxp_session_open_graph(graph, "ort:cpu", &options, &session, &error);
  if (status == OXP_NOT_AVAILABLE) {
    if (t->tally->no_runtime == 0)
      printf("%s: %s\n", t->kind->name, error.message);
    t->tally->no_runtime++;
    return true;
  }
  if (status == OXP_ENGINE_FAILED && t->dtype == OXP_FLOAT64 && strstr(error.message, "implementation")) {
    t->tally->no_kernel++;
    return true;
  }
  if (status == OXP_OK)
    status = oxp_session_run(session, t->inputs, &actual, &error);
  oxp_session_free(session);
  bool right = status == OXP_OK ? compare(t, opset, &actual) : complain(t, opset, "%s", error.message);
  oxp_array_free(&actual);
  return right;
}

static bool check_graph(trial *t, const oxp_graph *graph, int opset)
{
  oxp_error error = { 0 };
  oxp_value_info info;
  if (oxp_graph_check(graph, &error) != OXP_OK)
    return complain(t, opset, "%s", error.message);
  if (oxp_graph_opset(graph) != opset)
    return complain(t, opset, "the graph has opset %d", oxp_graph_opset(graph));
  if (oxp_graph_output_count(graph) != 1 || !oxp_graph_output_info(graph, 0, &info))
    return complain(t, opset, "the graph should have one output");
  if (!check_dims(t, opset, "the graph's output", info.rank, info.shape))
    return false;
  if (t->settings->write_folder && !write_model(t, graph, opset))
    return false;
  return run_graph(t, graph, opset);
}

// A form that needs known sizes may refuse symbols, but must then be right without them.
static oxp_status lower(trial *t, int opset, oxp_graph **graph, oxp_error *error)
{
  oxp_lower_options options = { .opset = opset,
                                .batchnorm = t->expanded ? OXP_BATCHNORM_EXPANDED : OXP_BATCHNORM_LITERAL };
  oxp_status status = oxp_graph_lower(t->network, &options, graph, error);
  if (status != OXP_UNSUPPORTED || !t->symbolic_batch)
    return status;
  t->tally->fixed++;
  t->symbolic_batch = t->symbolic_map = false;
  if (!build(t))
    return OXP_BAD_NETWORK;
  return oxp_graph_lower(t->network, &options, graph, error);
}

static bool try_opset(trial *t, int opset)
{
  oxp_graph *graph = NULL;
  oxp_error error = { 0 };
  bool batch = t->symbolic_batch, map = t->symbolic_map;
  bool right = lower(t, opset, &graph, &error) == OXP_OK ? check_graph(t, graph, opset)
                                                         : complain(t, opset, "%s", error.message);
  oxp_graph_free(graph);
  if (batch == t->symbolic_batch)
    return right;
  t->symbolic_batch = batch;
  t->symbolic_map = map;
  return build(t) && right; // back to symbols for the next opset
}

// ---- Cases ----

static bool try_opsets(trial *t)
{
  bool right = true;
  for (int opset = FIRST_OPSET; opset <= LAST_OPSET; opset++)
    if (t->settings->opset == 0 || t->settings->opset == opset)
      right = try_opset(t, opset) && right;
  return right;
}

static void free_trial(trial *t)
{
  for (int i = 0; i < OXP__DRAW_INPUTS; i++)
    oxp_array_free(&t->inputs[i]);
  for (int i = 0; i < MAX_WEIGHTS; i++)
    oxp_array_free(&t->weights[i]);
  oxp_array_free(&t->expected);
  oxp_network_free(t->network);
  free(t->params);
}

// Every fourth case computes in double; the runtime has no double kernel for some operators, which is counted.
static void run_case(const settings *s, const oxp__kind *kind, uint64_t seed, tally *sum)
{
  trial t = { .settings = s, .kind = kind, .seed = seed, .tally = sum, .random = { .state = seed } };
  for (const char *name = kind->name; *name; name++)
    t.random.state = t.random.state * 131 + (unsigned char)*name;
  t.dtype = oxp__random_range(&t.random, 1, 4) == 1 ? OXP_FLOAT64 : OXP_FLOAT32;
  sum->cases++;
  if (!draw(&t) || !build(&t) || !run_reference(&t) || !find_tolerance(&t) || !try_opsets(&t))
    sum->failed++;
  free_trial(&t);
}

static tally run_kind(const settings *s, const oxp__kind *kind)
{
  tally sum = { 0 };
  for (int i = 0; i < s->cases; i++)
    run_case(s, kind, s->seed + (uint64_t)i, &sum);
  printf("%-18s %3d cases %5d compared, worst %4.0f%% of the tolerance", kind->name, sum.cases, sum.compared,
         100 * sum.worst);
  if (sum.no_kernel > 0)
    printf(", %d without a float64 kernel", sum.no_kernel);
  if (sum.fixed > 0)
    printf(", %d with fixed sizes only", sum.fixed);
  if (sum.no_runtime > 0)
    printf(", %d skipped", sum.no_runtime);
  printf("%s\n", sum.failed > 0 ? ", FAILED" : "");
  return sum;
}

static int report(const settings *s, const tally *sum)
{
  printf("seed %llu: %d cases, %d compared, %d failed", (unsigned long long)s->seed, sum->cases, sum->compared,
         sum->failed);
  if (sum->no_runtime > 0)
    printf("; %d comparisons skipped: ONNX Runtime is not here", sum->no_runtime);
  printf("\n");
  return sum->failed > 0 ? 1 : sum->no_runtime > 0 ? SKIPPED : 0;
}

static int run_all(const settings *s)
{
  tally sum = { 0 };
  for (size_t i = 0; i < oxp__kind_count; i++) {
    const oxp__kind *kind = oxp__kinds[i];
    if (s->kind && strcmp(s->kind, kind->name) != 0)
      continue;
    tally one = run_kind(s, kind);
    sum.cases += one.cases;
    sum.compared += one.compared;
    sum.failed += one.failed;
    sum.no_runtime += one.no_runtime;
  }
  return report(s, &sum);
}

// ---- Options ----

static int usage(int status)
{
  printf("test_kinds [--seed N] [--cases N] [--kind NAME] [--opset N] [--write FOLDER] [--break KIND]\n"
         "  --seed N        seed of the first case (default 1); case number i has the seed N + i\n"
         "  --cases N       cases per kind (default 12)\n"
         "  --kind NAME     only this kind\n"
         "  --opset N       only this opset (%d to %d)\n"
         "  --write FOLDER  write every model, its inputs and the reference's output there\n"
         "  --break KIND    spoil the reference of this kind, to see that the comparison notices\n",
         FIRST_OPSET, LAST_OPSET);
  return status;
}

static bool take_option(settings *s, const char *name, const char *value)
{
  char *end = NULL;
  if (strcmp(name, "--kind") == 0 || strcmp(name, "--break") == 0) {
    *(name[2] == 'k' ? &s->kind : &s->broken) = value;
    return oxp__kind_by_name(value) != NULL;
  }
  if (strcmp(name, "--write") == 0) {
    s->write_folder = value;
    return true;
  }
  unsigned long long number = strtoull(value, &end, 10);
  if (end == value || *end)
    return false;
  if (strcmp(name, "--seed") == 0)
    s->seed = number;
  else if (strcmp(name, "--cases") == 0)
    s->cases = (int)(number < 1000000 ? number : 1000000);
  else if (strcmp(name, "--opset") == 0 && number >= FIRST_OPSET && number <= LAST_OPSET)
    s->opset = (int)number;
  else
    return false;
  return true;
}

int main(int count, char **arguments)
{
  settings s = { .seed = 1, .cases = 12 };
  for (int i = 1; i < count; i += 2) {
    if (strcmp(arguments[i], "--help") == 0)
      return usage(0);
    if (i + 1 == count || !take_option(&s, arguments[i], arguments[i + 1]))
      return usage(2);
  }
  return run_all(&s);
}
