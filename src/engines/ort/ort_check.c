// ort_check.c: takes a runtime's table of functions and tries it out, so that a wrong one is found before it is used. Must not
// be trusted to survive a wrong table: see ort_library.c for the process that it runs in. Place: engines/ort.
#define _GNU_SOURCE // dladdr: which library a function lies in
#include <dlfcn.h>
#include <string.h>

#include "engines/ort/ort_api.h"

// --- Binding ---

typedef struct check_slot {
  int number;
  const char *name;
  size_t offset; // of the member of oxp__ort_api
} check_slot;

static const check_slot check_slots[] = {
#define CHECK_SLOT(number, name, result, arguments) { number, #name, offsetof(oxp__ort_api, name) },
  OXP__ORT_SLOTS(CHECK_SLOT)
#undef CHECK_SLOT
};

// Where the library that holds `function` begins; NULL when it lies in none.
static const void *check_library_of(const void *function)
{
  Dl_info info;
  return dladdr(function, &info) != 0 ? info.dli_fbase : NULL;
}

static bool check_copy_slots(const void *table, const void *library, oxp__ort_api *api, oxp__text *why)
{
  for (size_t i = 0; i < sizeof check_slots / sizeof check_slots[0]; i++) {
    const check_slot *slot = &check_slots[i];
    const void *function = NULL;
    memcpy(&function, (const char *)table + (size_t)slot->number * sizeof function, sizeof function);
    if (!function || check_library_of(function) != library) {
      oxp__text_printf(why, "slot %d (%s) of its table of functions %s", slot->number, slot->name,
                       function ? "lies outside the library" : "is empty");
      return false;
    }
    memcpy((char *)api + slot->offset, &function, sizeof function);
  }
  return true;
}

bool oxp__ort_bind(void *handle, oxp__ort_api *api, const char **version, oxp__text *why)
{
  oxp__ort_get_base get_base = NULL;
  void *symbol = dlsym(handle, "OrtGetApiBase");
  if (!symbol) {
    oxp__text_add(why, "it is not ONNX Runtime: it has no function OrtGetApiBase");
    return false;
  }
  memcpy(&get_base, &symbol, sizeof get_base);
  const oxp__ort_base *base = get_base();
  const void *library = check_library_of(symbol);
  if (!base || !base->get_api || !base->get_version) {
    oxp__text_add(why, "its OrtGetApiBase hands out nothing");
    return false;
  }
  *version = base->get_version();
  const void *table = base->get_api(OXP__ORT_API_VERSION);
  if (!table || !*version) {
    oxp__text_printf(why, "version %s does not have the interface %d, which is needed", *version ? *version : "?",
                     OXP__ORT_API_VERSION);
    return false;
  }
  return check_copy_slots(table, library, api, why);
}

void oxp__ort_words(const oxp__ort_api *api, oxp__ort_status *status, oxp__text *words)
{
  const char *message = api->get_error_message(status);
  for (const char *at = message ? message : "no words"; *at; at++)
    oxp__text_add_bytes(words, *at == '\n' || *at == '\r' || *at == '\t' ? " " : at, 1);
  api->release_status(status);
}

// --- Trying out ---

// t = Gemm(x, w, b), y = Relu(t), a complete ONNX file; for x = [1, 2] the result is [5.5, 0].
static const unsigned char check_model[] = {
  0x08, 0x08,                                                 // ir_version 8
  0x3a, 0x7f,                                                 // graph, 127 bytes:
  0x0a, 0x12, 0x0a, 0x01, 0x78, 0x0a, 0x01, 0x77, 0x0a, 0x01, //   node t = Gemm(x, w, b)
  0x62, 0x12, 0x01, 0x74, 0x22, 0x04, 0x47, 0x65, 0x6d, 0x6d, //
  0x0a, 0x0c, 0x0a, 0x01, 0x74, 0x12, 0x01, 0x79, 0x22, 0x04, //   node y = Relu(t)
  0x52, 0x65, 0x6c, 0x75,                                     //
  0x12, 0x01, 0x67,                                           //   name "g"
  0x2a, 0x1b, 0x08, 0x02, 0x08, 0x02, 0x10, 0x01, 0x42, 0x01, //   initializer w = [[1, -1], [2, 1]]
  0x77, 0x4a, 0x10, 0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x80, //
  0xbf, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x80, 0x3f,       //
  0x2a, 0x11, 0x08, 0x02, 0x10, 0x01, 0x42, 0x01, 0x62, 0x4a, //   initializer b = [0.5, -3]
  0x08, 0x00, 0x00, 0x00, 0x3f, 0x00, 0x00, 0x40, 0xc0,       //
  0x5a, 0x13, 0x0a, 0x01, 0x78, 0x12, 0x0e, 0x0a, 0x0c, 0x08, //   input x: float32 (1, 2)
  0x01, 0x12, 0x08, 0x0a, 0x02, 0x08, 0x01, 0x0a, 0x02, 0x08, //
  0x02,                                                       //
  0x62, 0x13, 0x0a, 0x01, 0x79, 0x12, 0x0e, 0x0a, 0x0c, 0x08, //   output y: float32 (1, 2)
  0x01, 0x12, 0x08, 0x0a, 0x02, 0x08, 0x01, 0x0a, 0x02, 0x08, //
  0x02,                                                       //
  0x42, 0x02, 0x10, 0x0d,                                     // opset 13
};

// True when a call worked; else its words go to `why`.
static bool check_call(const oxp__ort_api *api, oxp__ort_status *status, oxp__text *why)
{
  if (!status)
    return true;
  oxp__text_add(why, "a trial call failed: ");
  oxp__ort_words(api, status, why);
  return false;
}

static bool check_expect(bool condition, const char *what, oxp__text *why)
{
  if (!condition)
    oxp__text_printf(why, "its table of functions is not the one that is known: %s came back wrong", what);
  return condition;
}

static bool check_status(const oxp__ort_api *api, oxp__text *why)
{
  oxp__ort_status *status = api->create_status(7, "text");
  bool right = status && api->get_error_code(status) == 7 && strcmp(api->get_error_message(status), "text") == 0;
  if (status)
    api->release_status(status);
  return check_expect(right, "a status", why);
}

static bool check_tensor(const oxp__ort_api *api, oxp__ort_memory *memory, oxp__text *why)
{
  double data[6] = { 0 };
  int64_t dims[3] = { 1, 2, 3 }, dims_back[3] = { 0 };
  oxp__ort_value *value = NULL;
  oxp__ort_tensor *tensor = NULL;
  void *data_back = NULL;
  int element_type = 0;
  size_t rank = 0, count = 0;
  bool called =
      check_call(api, api->create_tensor(memory, data, sizeof data, dims, 3, OXP_FLOAT64, &value), why) &&
      check_call(api, api->get_data(value, &data_back), why) && check_call(api, api->get_tensor(value, &tensor), why) &&
      check_call(api, api->get_element_type(tensor, &element_type), why) &&
      check_call(api, api->get_rank(tensor, &rank), why) && check_call(api, api->get_dims(tensor, dims_back, 3), why) &&
      check_call(api, api->get_element_count(tensor, &count), why);
  if (tensor)
    api->release_tensor(tensor);
  if (value)
    api->release_value(value);
  bool right = data_back == data && element_type == OXP_FLOAT64 && rank == 3 && count == 6;
  return called && check_expect(right && memcmp(dims, dims_back, sizeof dims) == 0, "a tensor", why);
}

static bool check_run(const oxp__ort_api *api, oxp__ort_memory *memory, oxp__ort_session *session, oxp__text *why)
{
  float x[2] = { 1, 2 }, y[2] = { 0 };
  int64_t dims[2] = { 1, 2 };
  oxp__ort_value *input = NULL, *output = NULL;
  bool called =
      check_call(api, api->create_tensor(memory, x, sizeof x, dims, 2, OXP_FLOAT32, &input), why) &&
      check_call(api, api->create_tensor(memory, y, sizeof y, dims, 2, OXP_FLOAT32, &output), why) &&
      check_call(api,
                 api->run(session, NULL, (const char *const[]){ "x" }, (const oxp__ort_value *const[]){ input }, 1,
                          (const char *const[]){ "y" }, 1, &output),
                 why);
  if (input)
    api->release_value(input);
  if (output)
    api->release_value(output);
  return called && check_expect(y[0] == 5.5f && y[1] == 0, "the result of a small model", why);
}

static bool check_session(const oxp__ort_api *api, oxp__ort_memory *memory, oxp__text *why)
{
  oxp__ort_env *env = NULL;
  oxp__ort_options *options = NULL;
  oxp__ort_session *session = NULL;
  bool right =
      check_call(api, api->create_env(4, "onnxport", &env), why) &&
      check_call(api, api->create_options(&options), why) &&
      check_call(api, api->set_intra_op_threads(options, 1), why) &&
      check_call(api, api->create_session_from(env, check_model, sizeof check_model, options, &session), why) &&
      check_run(api, memory, session, why);
  if (session)
    api->release_session(session);
  if (options)
    api->release_options(options);
  if (env)
    api->release_env(env);
  return right;
}

bool oxp__ort_try(const oxp__ort_api *api, oxp__text *why)
{
  oxp__ort_memory *memory = NULL;
  bool right = check_status(api, why) && check_call(api, api->create_cpu_memory(1, 0, &memory), why) &&
               check_tensor(api, memory, why) && check_session(api, memory, why);
  if (memory)
    api->release_memory(memory);
  return right;
}
