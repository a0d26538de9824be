// test_netcl_arguments.c: every argument of netcl's layer classes with odd values. What netcl itself makes of each is
// stored in data/netcl/arguments (see make.py there): what it refuses is refused here, what it takes is taken, and two
// values that give the same output there give the same layer here. Where we are stricter or wider, the list below says
// why.
#include <jansson.h>

#include "formats/common/npz.h"
#include "formats/containers/zip.h"
#include "formats_support.h"

typedef struct exception {
  const char *kind, *argument, *values; // NULL: any; values are separated by spaces
  const char *why;
  bool used; // an exception that nothing needs is wrong
} exception;

// netcl runs these, we refuse them.
static exception stricter[] = {
  { NULL, NULL, "\"3\"", "a number as a text", false },
  { NULL, NULL, "[3]", "a list of one number", false },
  { NULL, NULL, "1e+39", "ONNX's attributes are float32; netcl takes it for infinity", false },
  { "Conv2d", "pad", "-1", "it would cut the map, and netcl's backends disagree", false },
  { "Conv2d", "dilation", "0 false", "all taps on one place", false },
  { "Conv2d", "dilation", "1.0", "any other number with a point fails", false },
  { "AvgPool2d", "kernel_size", "0", "a window without values: NaN everywhere", false },
  { NULL, "eps", "-1 -0.5 NaN Infinity -Infinity", "NaN or a constant in every output", false },
  { "HardTanh", "min_val", "NaN", "a limit that is none", false },
  { "HardTanh", "max_val", "NaN", "a limit that is none", false },
  { "HardTanh", "min_val", "2 3 1.5 Infinity 2.0 3.0 100000", "above the other limit", false },
  { "HardTanh", "max_val", "-Infinity", "below the other limit", false },
  { "GELU", "approximate",
    "0 1 2 3 -1 0.5 1.5 0.1 1e-05 Infinity NaN null 0.0 1.0 2.0 3.0 -0.5 -Infinity \"x\" \"\" [] [3,3] [1,2] {} 100000",
    "netcl ignores it outside of training; true and false are what it means", false },
};

// netcl fails for these, we do not.
static exception wider[] = {
  { "MaxPool2d", "kernel_size", "true", "1 to Python and to OpenCL; NumPy wants no truth value here", false },
  { "AvgPool2d", "kernel_size", "true", "1 to Python and to OpenCL; NumPy wants no truth value here", false },
  { "GroupNorm", "num_groups", "true", "1 to Python and to OpenCL; NumPy wants no truth value here", false },
  { NULL, "kernel_size", "[3,3]", "a bare list of layers may have pairs", false },
  { NULL, "stride", "[3,3] [1,2]", "a bare list of layers may have pairs", false },
  { NULL, "pad", "[3,3] [1,2]", "a bare list of layers may have pairs", false },
  { "AvgPool2d", "kernel_size", "[3,3] [1,2]", "a bare list of layers may have pairs", false },
  { NULL, "pad", "100000", "netcl ran out of memory", false },
  { "PReLU", "init", NULL, "it has no effect in inference", false },
};

// Values that netcl gives the same meaning, and we do not.
static exception apart[] = {
  { "GELU", "approximate", "false", "netcl ignores it outside of training; here it is the exact function", false },
  { "HardTanh", NULL, NULL, "limits that the input of the example does not reach", false },
};

static bool holds(const char *list, const char *value)
{
  char compact[64];
  size_t length = 0;
  for (const char *at = value; *at && length + 1 < sizeof compact; at++)
    if (*at != ' ')
      compact[length++] = *at;
  compact[length] = 0;
  for (const char *at = strstr(list, compact); at; at = strstr(at + 1, compact))
    if ((at == list || at[-1] == ' ') && (at[length] == 0 || at[length] == ' '))
      return true;
  return false;
}

static bool is_excepted(exception *list, size_t count, const char *kind, const char *argument, const char *value)
{
  for (size_t i = 0; i < count; i++)
    if ((!list[i].kind || strcmp(list[i].kind, kind) == 0) &&
        (!list[i].argument || strcmp(list[i].argument, argument) == 0) &&
        (!list[i].values || holds(list[i].values, value)))
      return list[i].used = true;
  return false;
}

static void assert_used(const exception *list, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!list[i].used)
      fail_msg("nothing needs the exception \"%s\" (%s)", list[i].why, list[i].values ? list[i].values : "any");
}

#define IS(list, kind, argument, value) is_excepted(list, OXP__COUNT(list), kind, argument, value)

// ---- The files of one layer ----

static void write_arrays(const json_t *arrays)
{
  static const float values[256] = { 0 };
  oxp_error error = { 0 };
  oxp__arena arena = { 0 };
  oxp__output output = { 0 };
  oxp__zip_writer *writer;
  const char *name;
  json_t *shape;
  oxp_status status = oxp__output_open(&output, "argument.npz", NULL, &error);
  status = status == OXP_OK ? oxp__zip_writer_new(&arena, &output, &writer, &error) : status;
  json_object_foreach((json_t *)arrays, name, shape)
  {
    char member[64];
    int64_t dims[OXP_MAX_RANK];
    for (size_t i = 0; i < json_array_size(shape); i++)
      dims[i] = json_integer_value(json_array_get(shape, i));
    oxp_tensor tensor = oxp_tensor_from_memory(OXP_FLOAT32, (int)json_array_size(shape), dims, values);
    snprintf(member, sizeof member, "0:%s.npy", name);
    status = status == OXP_OK ? oxp__zip_writer_begin(writer, member, &error) : status;
    status = status == OXP_OK ? oxp__npy_write(&tensor, OXP_FLOAT32, oxp__zip_writer_sink(writer), &error) : status;
    status = status == OXP_OK ? oxp__zip_writer_end(writer, &error) : status;
  }
  status = status == OXP_OK ? oxp__zip_writer_finish(writer, &error) : status;
  if (status != OXP_OK || oxp__output_commit(&output, OXP_SYNC_NEVER, &error) != OXP_OK)
    fail_msg("%s", error.message);
  oxp__arena_fini(&arena);
}

// `usual` with one argument replaced or added, in the form of netcl's files or as a bare list.
static void write_layer(const char *kind, const json_t *layer, const char *argument, const char *value)
{
  char text[1024], key[64];
  const char *usual = json_string_value(json_object_get(layer, "usual")),
             *form = "[{\"type\": \"%s\", \"args\": {%s}}]";
  if (json_is_true(json_object_get(layer, "saved")))
    form = "{\"type\": \"Sequential\", \"config\": [{\"type\": \"%s\", \"args\": {%s}}], \"version\": 2}";
  snprintf(key, sizeof key, "\"%s\": ", argument);
  const char *old = strstr(usual, key);
  char arguments[512];
  if (old) { // up to the next argument or the end
    const char *end = strstr(old + strlen(key), ", \"");
    end = end ? end : usual + strlen(usual) - 1;
    snprintf(arguments, sizeof arguments, "%.*s%s%s%.*s", (int)(old - usual - 1), usual + 1, key, value,
             (int)(usual + strlen(usual) - 1 - end), end);
  } else {
    snprintf(arguments, sizeof arguments, "%.*s%s%s%s", (int)strlen(usual) - 2, usual + 1,
             strlen(usual) > 2 ? ", " : "", key, value);
  }
  snprintf(text, sizeof text, form, kind, arguments);
  write_text("argument.json", text);
}

// ---- One value ----

typedef struct tried {
  oxp_network *network; // NULL: refused
  oxp_error error;
} tried;

static tried try_value(const char *kind, const json_t *layer, const char *argument, const char *value)
{
  tried result = { 0 };
  oxp_open_options options = { 0 };
  const json_t *input = json_object_get(layer, "input");
  for (size_t i = 0; i < json_array_size(input); i++)
    options.input_shape[options.input_rank++] = json_integer_value(json_array_get(input, i));
  write_layer(kind, layer, argument, value);
  oxp_network_open("argument.json", &options, &result.network, &result.error);
  return result;
}

static bytes exported(const oxp_network *network, const char *path)
{
  oxp_graph *graph = NULL;
  oxp_error error = { 0 };
  if (oxp_graph_lower(network, NULL, &graph, &error) != OXP_OK ||
      oxp_graph_write(graph, path, NULL, NULL, &error) != OXP_OK)
    fail_msg("%s", error.message);
  oxp_graph_free(graph);
  return read_bytes(path);
}

static bool same_export(const oxp_network *a, const oxp_network *b)
{
  bytes x = exported(a, "a.onnx"), y = exported(b, "b.onnx");
  bool same = x.count == y.count && memcmp(x.at, y.at, x.count) == 0;
  free(x.at);
  free(y.at);
  return same;
}

// The JSON text that an argument has as usual.
static void usual_value(const json_t *layer, const char *argument, char *value, size_t size)
{
  char key[64];
  snprintf(key, sizeof key, "\"%s\": ", argument);
  const char *at = strstr(json_string_value(json_object_get(layer, "usual")), key);
  snprintf(value, size, "%.*s", at ? (int)strcspn(at + strlen(key), ",}") : 0, at ? at + strlen(key) : "");
}

static int check_value(const char *kind, const json_t *layer, const char *argument, const char *value,
                       const char *answer)
{
  tried got = try_value(kind, layer, argument, value);
  bool refused = strstr(answer, "not") != NULL;
  const char *wrong = NULL;
  char twin[64];
  if (!refused && !got.network && !IS(stricter, kind, argument, value))
    wrong = got.error.message;
  if (refused && got.network && !IS(wider, kind, argument, value))
    wrong = "netcl refuses it, we do not";
  if (!refused && got.network && strcmp(answer, "differs") != 0 && !IS(apart, kind, argument, value)) {
    usual_value(layer, argument, twin, sizeof twin);
    if (strcmp(answer, "as usual") != 0)
      snprintf(twin, sizeof twin, "%s", answer);
    tried other = twin[0] ? try_value(kind, layer, argument, twin) : (tried){ 0 };
    if (other.network && !same_export(got.network, other.network))
      wrong = "netcl makes the same of it as of another value, we do not";
    oxp_network_free(other.network);
  }
  oxp_network_free(got.network);
  if (wrong)
    print_error("%s %s = %s (netcl: %s): %s\n", kind, argument, value, answer, wrong);
  return wrong ? 1 : 0;
}

static void arguments_are_taken_as_netcl_takes_them(void **state)
{
  (void)state;
  json_t *classes = json_load_file(NETCL "arguments/arguments.json", 0, NULL), *layer, *values, *answer;
  const char *kind, *argument, *value;
  int wrong = 0, count = 0;
  assert_non_null(classes);
  json_object_foreach(classes, kind, layer)
  {
    write_arrays(json_object_get(layer, "arrays"));
    json_object_foreach(json_object_get(layer, "answers"), argument, values)
    {
      json_object_foreach(values, value, answer)
      {
        wrong += check_value(kind, layer, argument, value, json_string_value(answer));
        count++;
      }
    }
  }
  json_decref(classes);
  print_message("%d values\n", count);
  assert_int_equal(wrong, 0);
  assert_true(count > 1000);
  assert_used(stricter, OXP__COUNT(stricter));
  assert_used(wider, OXP__COUNT(wider));
  assert_used(apart, OXP__COUNT(apart));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(arguments_are_taken_as_netcl_takes_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
