// pickle.c: see pickle.h. The machine has a stack, a stack of marks and a memo, as the format demands. All of them grow
// only with bytes that are really there: every instruction makes at most one value, and copies only what earlier ones
// pushed. What the memo holds can be used again and again, so whatever copies or compares it has a bound of its own.
// Place: formats/containers.
#include "formats/containers/pickle.h"

#include <string.h>

#include "core/text.h"
#include "formats/containers/bytes.h"

enum {
  PICKLE_REFUSED_LIMIT = 32, // that many are named
  PICKLE_NAME_LIMIT = 512,   // bytes of a module or of a name in it
};

// A name that is not permitted; both texts live in the arena.
typedef struct pickle_refused {
  const char *module, *name;
} pickle_refused;

typedef struct pickle_machine {
  oxp__arena *arena;
  const unsigned char *start, *at, *end;
  oxp__pickle_value **stack;
  size_t depth, capacity;
  size_t *marks; // stack depths
  size_t mark_count, mark_capacity;
  oxp__pickle_value **memo;
  size_t memo_room, memo_count;                 // places, and how many of them are filled
  size_t copied;                                // items that calls like list(x) copied, all together
  pickle_refused refused[PICKLE_REFUSED_LIMIT]; // each once
  int refused_count;
  oxp_error *error;
} pickle_machine;

typedef enum pickle_effect { // what a permitted name does when it is called
  CALL_DICT,
  CALL_LIST,
  CALL_TUPLE,
  CALL_SET,
  CALL_TENSOR,
  CALL_PARAMETER, // (tensor, requires_grad, hooks)
  CALL_ENCODE,    // (text, encoding): bytes
  CALL_OBJECT,    // something harmless that no weight is made of, whatever the arguments are
  CALL_STORAGE
} pickle_effect;

typedef struct pickle_name {
  const char *module; // "torch*": torch and everything inside it
  const char *names;  // separated by spaces
  pickle_effect call;
  oxp_dtype dtype; // of storages
} pickle_name;

#define PICKLE_DTYPES                                                                                                  \
  "float64 double float32 float float16 half bfloat16 complex128 cdouble complex64 cfloat complex32 chalf "            \
  "int64 long int32 int int16 short int8 uint8 uint16 uint32 uint64 bool quint8 qint8 qint32 quint4x2 quint2x4 "       \
  "bits1x8 bits2x4 bits4x2 bits8 bits16 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu "     \
  "float4_e2m1fn_x2 uint1 uint2 uint3 uint4 uint5 uint6 uint7 int1 int2 int3 int4 int5 int6 int7"
#define PICKLE_OTHER_STORAGES                                                                                          \
  "UntypedStorage TypedStorage ComplexDoubleStorage ComplexFloatStorage QUInt8Storage QInt8Storage QInt32Storage "     \
  "QUInt4x2Storage QUInt2x4Storage"
#define PICKLE_OTHER_TENSORS                                                                                           \
  "_rebuild_parameter_with_state _rebuild_tensor_v3 _rebuild_qtensor _rebuild_sparse_tensor _rebuild_nested_tensor "   \
  "_rebuild_meta_tensor_no_storage _rebuild_wrapper_subclass _rebuild_device_tensor_from_numpy "                       \
  "_rebuild_device_tensor_from_cpu_tensor"

// The whole world of the machine.
static const pickle_name pickle_names[] = {
  { "torch*", "DoubleStorage", CALL_STORAGE, OXP_FLOAT64 },
  { "torch*", "FloatStorage", CALL_STORAGE, OXP_FLOAT32 },
  { "torch*", "HalfStorage", CALL_STORAGE, OXP_FLOAT16 },
  { "torch*", "BFloat16Storage", CALL_STORAGE, OXP_BFLOAT16 },
  { "torch*", "LongStorage", CALL_STORAGE, OXP_INT64 },
  { "torch*", "IntStorage", CALL_STORAGE, OXP_INT32 },
  { "torch*", "ShortStorage", CALL_STORAGE, OXP_INT16 },
  { "torch*", "CharStorage", CALL_STORAGE, OXP_INT8 },
  { "torch*", "ByteStorage", CALL_STORAGE, OXP_UINT8 },
  { "torch*", "BoolStorage", CALL_STORAGE, OXP_BOOL },
  { "torch*", PICKLE_OTHER_STORAGES, CALL_OBJECT, 0 }, // of element types that no weight has
  { "torch*", "_rebuild_tensor_v2 _rebuild_tensor", CALL_TENSOR, 0 },
  { "torch*", "_rebuild_parameter", CALL_PARAMETER, 0 }, // not ..._with_state, which can set the values anew
  { "torch*", "Parameter", CALL_PARAMETER, 0 },
  { "torch._utils", PICKLE_OTHER_TENSORS, CALL_OBJECT, 0 },
  { "torch._tensor", "_rebuild_from_type_v2", CALL_OBJECT, 0 },
  { "torch", "Size", CALL_TUPLE, 0 },
  { "torch", PICKLE_DTYPES, CALL_OBJECT, 0 },
  { "torch", "device Tensor", CALL_OBJECT, 0 },
  { "torch", "per_tensor_affine per_tensor_symmetric per_channel_affine per_channel_symmetric", CALL_OBJECT, 0 },
  { "torch.serialization", "_get_layout", CALL_OBJECT, 0 },
  { "torch*", "OrderedDict", CALL_DICT, 0 },
  { "collections", "OrderedDict", CALL_DICT, 0 },
  { "collections", "Counter", CALL_OBJECT, 0 },
  { "builtins", "dict", CALL_DICT, 0 },
  { "builtins", "list", CALL_LIST, 0 },
  { "builtins", "tuple", CALL_TUPLE, 0 },
  { "builtins", "set frozenset", CALL_SET, 0 },
  { "builtins", "bytearray complex", CALL_OBJECT, 0 },
  { "__builtin__", "dict", CALL_DICT, 0 },
  { "__builtin__", "list", CALL_LIST, 0 },
  { "__builtin__", "tuple", CALL_TUPLE, 0 },
  { "__builtin__", "set frozenset", CALL_SET, 0 },
  { "__builtin__", "bytearray complex", CALL_OBJECT, 0 },
  { "_codecs", "encode", CALL_ENCODE, 0 }, // how protocol 2 spells bytes
  { "numpy", "dtype ndarray", CALL_OBJECT, 0 },
  { "numpy.core.multiarray", "scalar _reconstruct", CALL_OBJECT, 0 },
  { "numpy._core.multiarray", "scalar _reconstruct", CALL_OBJECT, 0 },
};

// --- Stack, marks, memo ---

static oxp_status pickle_fail(pickle_machine *machine, const char *what)
{
  return oxp__fail(machine->error, OXP_BAD_FILE, "the pickle is damaged at byte %zu: %s",
                   (size_t)(machine->at - machine->start), what);
}

static oxp_status pickle_push(pickle_machine *machine, oxp__pickle_value *value)
{
  if (!value)
    return oxp__fail_memory(machine->error, sizeof *value);
  void *grown = oxp__arena_grow(machine->arena, machine->stack, machine->depth, &machine->capacity, sizeof value);
  if (!grown)
    return oxp__fail_memory(machine->error, machine->capacity * sizeof value);
  machine->stack = grown;
  machine->stack[machine->depth++] = value;
  return OXP_OK;
}

static oxp__pickle_value *pickle_new(pickle_machine *machine, oxp__pickle_type type)
{
  oxp__pickle_value *value = oxp__arena_new(machine->arena, 1, sizeof *value);
  if (value)
    value->type = type;
  return value;
}

static oxp_status pickle_push_number(pickle_machine *machine, oxp__pickle_type type, int64_t number)
{
  oxp__pickle_value *value = pickle_new(machine, type);
  if (value)
    value->number = number;
  return pickle_push(machine, value);
}

// The lowest place that may be popped: values below the last mark belong to it.
static size_t pickle_floor(const pickle_machine *machine)
{
  return machine->mark_count > 0 ? machine->marks[machine->mark_count - 1] : 0;
}

static oxp_status pickle_pop(pickle_machine *machine, oxp__pickle_value **value)
{
  if (machine->depth == pickle_floor(machine))
    return pickle_fail(machine, "its stack is empty");
  *value = machine->stack[--machine->depth];
  return OXP_OK;
}

static oxp_status pickle_top(pickle_machine *machine, oxp__pickle_value **value)
{
  OXP__TRY(pickle_pop(machine, value));
  machine->depth++;
  return OXP_OK;
}

static oxp_status pickle_mark(pickle_machine *machine)
{
  void *grown = oxp__arena_grow(machine->arena, machine->marks, machine->mark_count, &machine->mark_capacity,
                                sizeof *machine->marks);
  if (!grown)
    return oxp__fail_memory(machine->error, sizeof *machine->marks);
  machine->marks = grown;
  machine->marks[machine->mark_count++] = machine->depth;
  return OXP_OK;
}

// Takes everything above the last mark off the stack: `items`, which stay valid until the next push.
static oxp_status pickle_pop_mark(pickle_machine *machine, oxp__pickle_value ***items, size_t *count)
{
  if (machine->mark_count == 0)
    return pickle_fail(machine, "a mark is missing");
  size_t floor = machine->marks[--machine->mark_count];
  *items = machine->stack + floor;
  *count = machine->depth - floor;
  machine->depth = floor;
  return OXP_OK;
}

static oxp_status pickle_remember(pickle_machine *machine, size_t index)
{
  oxp__pickle_value *value = NULL;
  OXP__TRY(pickle_top(machine, &value));
  if (index > (size_t)(machine->end - machine->start))
    return pickle_fail(machine, "its memo has a number that is too large");
  if (index >= machine->memo_room) {
    size_t room = machine->memo_room ? machine->memo_room : 64;
    while (room <= index)
      room *= 2;
    oxp__pickle_value **memo = oxp__arena_new(machine->arena, room, sizeof *memo);
    if (!memo)
      return oxp__fail_memory(machine->error, room * sizeof *memo);
    if (machine->memo_room > 0)
      memcpy(memo, machine->memo, machine->memo_room * sizeof *memo);
    machine->memo = memo;
    machine->memo_room = room;
  }
  machine->memo_count += !machine->memo[index];
  machine->memo[index] = value;
  return OXP_OK;
}

// Protocol 4 numbers the memo by itself. Like Python, the number is how many places are filled, gaps or not.
static oxp_status pickle_memoize(pickle_machine *machine)
{
  return pickle_remember(machine, machine->memo_count);
}

static oxp_status pickle_recall(pickle_machine *machine, size_t index)
{
  if (index >= machine->memo_room || !machine->memo[index])
    return pickle_fail(machine, "its memo lacks a number that is asked for");
  return pickle_push(machine, machine->memo[index]);
}

// --- Reading operands ---

static oxp_status pickle_take(pickle_machine *machine, size_t count, const unsigned char **bytes)
{
  if ((size_t)(machine->end - machine->at) < count)
    return pickle_fail(machine, "it ends inside an instruction");
  *bytes = machine->at;
  machine->at += count;
  return OXP_OK;
}

// An unsigned number of 1, 2, 4 or 8 bytes.
static oxp_status pickle_operand(pickle_machine *machine, size_t size, uint64_t *number)
{
  const unsigned char *bytes = NULL;
  OXP__TRY(pickle_take(machine, size, &bytes));
  *number = 0;
  for (size_t i = size; i-- > 0;)
    *number = *number << 8 | bytes[i];
  return OXP_OK;
}

static oxp_status pickle_line(pickle_machine *machine, const char **line)
{
  const unsigned char *newline = memchr(machine->at, '\n', (size_t)(machine->end - machine->at));
  size_t length = newline ? (size_t)(newline - machine->at) : 0;
  if (!newline || !oxp__text_is_utf8(machine->at, length))
    return pickle_fail(machine, "a name is cut off or not UTF-8");
  *line = oxp__arena_copy_bytes(machine->arena, machine->at, length);
  machine->at = newline + 1;
  return *line ? OXP_OK : oxp__fail_memory(machine->error, length);
}

// UTF-8 in which there may be zero bytes, as in the text that stands for the bytes of a number.
static bool pickle_is_text(const unsigned char *bytes, size_t count)
{
  for (size_t at = 0; at < count; at++) {
    const unsigned char *zero = memchr(bytes + at, 0, count - at);
    size_t length = zero ? (size_t)(zero - bytes) - at : count - at;
    if (!oxp__text_is_utf8(bytes + at, length))
      return false;
    at += length;
  }
  return true;
}

// A text or bytes with a length of `size` bytes before it. A text with a zero byte would end early here: it is kept as
// bytes are, and so is no key.
static oxp_status pickle_push_text(pickle_machine *machine, oxp__pickle_type type, size_t size)
{
  uint64_t count;
  const unsigned char *bytes;
  OXP__TRY(pickle_operand(machine, size, &count));
  if (count > (size_t)(machine->end - machine->at))
    return pickle_fail(machine, "a text is longer than what is left");
  OXP__TRY(pickle_take(machine, (size_t)count, &bytes));
  if (type == OXP__PICKLE_TEXT && !pickle_is_text(bytes, (size_t)count))
    return pickle_fail(machine, "a text is not UTF-8");
  if (memchr(bytes, 0, (size_t)count))
    type = OXP__PICKLE_BYTES;
  oxp__pickle_value *value = pickle_new(machine, type);
  if (value && type == OXP__PICKLE_TEXT) {
    value->text = oxp__arena_copy_bytes(machine->arena, bytes, (size_t)count);
    value->count = (size_t)count;
    if (!value->text)
      return oxp__fail_memory(machine->error, (size_t)count);
  }
  return pickle_push(machine, value);
}

// A signed number with its length, of `size` bytes, before it. What 64 bits do not hold, as the seeds of generators, is
// not kept: no weight is made of it. Bytes that only repeat the sign are no part of the number.
static oxp_status pickle_push_long(pickle_machine *machine, size_t size)
{
  uint64_t count, number = 0;
  const unsigned char *bytes = NULL;
  OXP__TRY(pickle_operand(machine, size, &count));
  if (count > (size_t)(machine->end - machine->at))
    return pickle_fail(machine, "a number is longer than what is left");
  OXP__TRY(pickle_take(machine, (size_t)count, &bytes));
  unsigned char sign = count > 0 && bytes[count - 1] >= 0x80 ? 0xFF : 0;
  while (count > 8 && bytes[count - 1] == sign && bytes[count - 2] >> 7 == sign >> 7)
    count--;
  if (count > 8)
    return pickle_push(machine, pickle_new(machine, OXP__PICKLE_LONG));
  for (size_t i = 8; i-- > 0;)
    number = number << 8 | (i < count ? bytes[i] : sign);
  return pickle_push_number(machine, OXP__PICKLE_INT, (int64_t)number);
}

static oxp_status pickle_push_float(pickle_machine *machine)
{
  const unsigned char *bytes = NULL;
  OXP__TRY(pickle_take(machine, 8, &bytes));
  uint64_t bits = 0;
  for (int i = 0; i < 8; i++) // big-endian, unlike everything else
    bits = bits << 8 | bytes[i];
  oxp__pickle_value *value = pickle_new(machine, OXP__PICKLE_FLOAT);
  if (value)
    memcpy(&value->real, &bits, sizeof bits);
  return pickle_push(machine, value);
}

// --- Collections ---

static oxp_status pickle_append(pickle_machine *machine, oxp__pickle_value *list, oxp__pickle_value *item, size_t used)
{
  void *grown = oxp__arena_grow(machine->arena, list->items, used, &list->capacity, sizeof item);
  if (!grown)
    return oxp__fail_memory(machine->error, list->capacity * sizeof item);
  list->items = grown;
  list->items[used] = item;
  return OXP_OK;
}

static oxp__pickle_value *pickle_collection(pickle_machine *machine, oxp__pickle_type type, oxp__pickle_value **items,
                                            size_t item_count)
{
  oxp__pickle_value *value = pickle_new(machine, type);
  oxp__pickle_value **copy = oxp__arena_new(machine->arena, item_count, sizeof *copy);
  if (!value || !copy)
    return NULL;
  if (item_count > 0)
    memcpy(copy, items, item_count * sizeof *copy);
  value->items = copy;
  value->capacity = item_count;
  value->count = type == OXP__PICKLE_DICT ? item_count / 2 : item_count;
  return value;
}

static oxp_status pickle_collect(pickle_machine *machine, oxp__pickle_type type)
{
  oxp__pickle_value **items = NULL;
  size_t count = 0;
  OXP__TRY(pickle_pop_mark(machine, &items, &count));
  if (type == OXP__PICKLE_DICT && count % 2 != 0)
    return pickle_fail(machine, "a dict has a key without a value");
  return pickle_push(machine, pickle_collection(machine, type, items, count));
}

static oxp_status pickle_push_tuple(pickle_machine *machine, size_t count)
{
  if (machine->depth - pickle_floor(machine) < count)
    return pickle_fail(machine, "its stack is empty");
  machine->depth -= count;
  return pickle_push(machine, pickle_collection(machine, OXP__PICKLE_TUPLE, machine->stack + machine->depth, count));
}

// Something that is refused or left aside: it swallows what is put into it and what is called on it.
static bool pickle_is_opaque(const oxp__pickle_value *value)
{
  return value->type == OXP__PICKLE_REFUSED || value->type == OXP__PICKLE_OBJECT;
}

// Adds items to the list, set or dict below them.
static oxp_status pickle_extend(pickle_machine *machine, oxp__pickle_value **items, size_t count, oxp__pickle_type type)
{
  oxp__pickle_value *target = NULL;
  OXP__TRY(pickle_top(machine, &target));
  if (pickle_is_opaque(target))
    return OXP_OK;
  bool pairs = type == OXP__PICKLE_DICT;
  if (target->type != type || (pairs && count % 2 != 0))
    return pickle_fail(machine, "something is put into a value that cannot hold it");
  size_t used = target->count * (pairs ? 2 : 1);
  for (size_t i = 0; i < count; i++)
    OXP__TRY(pickle_append(machine, target, items[i], used + i));
  target->count += pairs ? count / 2 : count;
  return OXP_OK;
}

static oxp_status pickle_extend_marked(pickle_machine *machine, oxp__pickle_type type)
{
  oxp__pickle_value **items = NULL;
  size_t count = 0;
  OXP__TRY(pickle_pop_mark(machine, &items, &count));
  return pickle_extend(machine, items, count, type);
}

static oxp_status pickle_extend_top(pickle_machine *machine, size_t count, oxp__pickle_type type)
{
  if (machine->depth - pickle_floor(machine) < count)
    return pickle_fail(machine, "its stack is empty");
  machine->depth -= count;
  return pickle_extend(machine, machine->stack + machine->depth, count, type);
}

// --- Names and calls ---

static bool pickle_has_word(const char *words, const char *word, size_t length)
{
  for (size_t count; *words; words += count + (words[count] == ' ')) {
    count = strcspn(words, " ");
    if (count == length && memcmp(words, word, length) == 0)
      return true;
  }
  return false;
}

static bool pickle_name_matches(const pickle_name *row, const char *module, const char *name)
{
  if (!pickle_has_word(row->names, name, strlen(name)))
    return false;
  size_t length = strlen(row->module);
  if (row->module[length - 1] != '*')
    return strcmp(row->module, module) == 0;
  length--;
  return strncmp(row->module, module, length) == 0 && (module[length] == 0 || module[length] == '.');
}

static void pickle_refuse(pickle_machine *machine, const char *module, const char *name)
{
  for (int i = 0; i < machine->refused_count; i++)
    if (strcmp(machine->refused[i].module, module) == 0 && strcmp(machine->refused[i].name, name) == 0)
      return;
  if (machine->refused_count < PICKLE_REFUSED_LIMIT)
    machine->refused[machine->refused_count++] = (pickle_refused){ module, name };
}

// *borrows* `name`, which lives in the arena.
static oxp_status pickle_push_object(pickle_machine *machine, const char *name)
{
  oxp__pickle_value *value = pickle_new(machine, OXP__PICKLE_OBJECT);
  if (value) {
    value->text = name;
    value->count = strlen(name);
  }
  return pickle_push(machine, value);
}

static oxp_status pickle_push_name(pickle_machine *machine, const char *module, const char *name)
{
  for (size_t i = 0; i < sizeof pickle_names / sizeof pickle_names[0]; i++) {
    if (!pickle_name_matches(&pickle_names[i], module, name))
      continue;
    if (pickle_names[i].call == CALL_OBJECT)
      return pickle_push_object(machine, name);
    return pickle_push_number(machine, OXP__PICKLE_NAME, (int64_t)i);
  }
  if (strnlen(module, PICKLE_NAME_LIMIT + 1) > PICKLE_NAME_LIMIT ||
      strnlen(name, PICKLE_NAME_LIMIT + 1) > PICKLE_NAME_LIMIT)
    return pickle_fail(machine, "a name is longer than 512 bytes");
  pickle_refuse(machine, module, name);
  return pickle_push(machine, pickle_new(machine, OXP__PICKLE_REFUSED));
}

static oxp_status pickle_global(pickle_machine *machine)
{
  const char *module, *name;
  OXP__TRY(pickle_line(machine, &module));
  OXP__TRY(pickle_line(machine, &name));
  return pickle_push_name(machine, module, name);
}

static oxp_status pickle_stack_global(pickle_machine *machine)
{
  oxp__pickle_value *module = NULL, *name = NULL;
  OXP__TRY(pickle_pop(machine, &name));
  OXP__TRY(pickle_pop(machine, &module));
  if (module->type != OXP__PICKLE_TEXT || name->type != OXP__PICKLE_TEXT)
    return pickle_fail(machine, "a name is not a text");
  return pickle_push_name(machine, module->text, name->text);
}

// A persistent id: ("storage", class, key, device, count), the only one that a torch file has.
static oxp_status pickle_persistent(pickle_machine *machine)
{
  oxp__pickle_value *id = NULL;
  OXP__TRY(pickle_pop(machine, &id));
  if (id->type != OXP__PICKLE_TUPLE || id->count != 5 || id->items[0]->type != OXP__PICKLE_TEXT ||
      strcmp(id->items[0]->text, "storage") != 0 || id->items[2]->type != OXP__PICKLE_TEXT ||
      id->items[4]->type != OXP__PICKLE_INT)
    return pickle_fail(machine, "a persistent id is not that of a storage");
  if (pickle_is_opaque(id->items[1]))
    return pickle_push(machine, id->items[1]);
  const pickle_name *name = id->items[1]->type == OXP__PICKLE_NAME ? &pickle_names[id->items[1]->number] : NULL;
  if (!name || name->call != CALL_STORAGE || id->items[4]->number < 0)
    return pickle_fail(machine, "a storage has no storage class or a negative size");
  oxp__pickle_value *value = pickle_new(machine, OXP__PICKLE_STORAGE);
  if (value) {
    value->storage = oxp__arena_new(machine->arena, 1, sizeof *value->storage);
    if (!value->storage)
      return oxp__fail_memory(machine->error, sizeof *value->storage);
    *value->storage = (oxp__pickle_storage){ name->dtype, id->items[2]->text, id->items[4]->number };
  }
  return pickle_push(machine, value);
}

static bool pickle_read_ints(const oxp__pickle_value *tuple, int rank, int64_t *numbers)
{
  if (tuple->type != OXP__PICKLE_TUPLE && tuple->type != OXP__PICKLE_LIST)
    return false;
  if (tuple->count != (size_t)rank)
    return false;
  for (int i = 0; i < rank; i++) {
    if (tuple->items[i]->type != OXP__PICKLE_INT || tuple->items[i]->number < 0)
      return false;
    numbers[i] = tuple->items[i]->number;
  }
  return true;
}

// What the values still have to go through, as {"neg": True}: the stored bytes are those before it.
static oxp_status pickle_check_metadata(pickle_machine *machine, const oxp__pickle_value *metadata)
{
  if (metadata->type == OXP__PICKLE_NONE || (metadata->type == OXP__PICKLE_DICT && metadata->count == 0))
    return OXP_OK;
  bool named = metadata->type == OXP__PICKLE_DICT && metadata->items[0]->type == OXP__PICKLE_TEXT;
  return oxp__fail(
      machine->error, OXP_UNSUPPORTED,
      "a tensor is saved with the mark \"%.64s\", so its values are not the ones stored; save it as a plain "
      "one (tensor.resolve_neg().resolve_conj().clone())",
      named ? metadata->items[0]->text : "(no text)");
}

// (storage, offset, shape, strides, requires_grad, hooks, metadata), of which the last three may be absent.
static oxp_status pickle_call_tensor(pickle_machine *machine, const oxp__pickle_value *arguments)
{
  oxp__pickle_value **items = arguments->items;
  if (arguments->count >= 1 && pickle_is_opaque(items[0]))
    return pickle_push(machine, items[0]);
  if (arguments->count > 7)
    return oxp__fail(machine->error, OXP_UNSUPPORTED,
                     "a tensor is made from %zu things, only the 7 that torch 2 writes are known", arguments->count);
  if (arguments->count == 7)
    OXP__TRY(pickle_check_metadata(machine, items[6]));
  if (arguments->count < 4 || items[0]->type != OXP__PICKLE_STORAGE || items[1]->type != OXP__PICKLE_INT ||
      items[1]->number < 0)
    return pickle_fail(machine, "a tensor has no storage or offset");
  if (items[2]->count > OXP_MAX_RANK)
    return pickle_fail(machine, "a tensor has more than 8 dimensions");
  oxp__pickle_value *value = pickle_new(machine, OXP__PICKLE_TENSOR);
  oxp__pickle_tensor *tensor = oxp__arena_new(machine->arena, 1, sizeof *tensor);
  if (!value || !tensor)
    return oxp__fail_memory(machine->error, sizeof *tensor);
  tensor->storage = items[0]->storage;
  tensor->offset = items[1]->number;
  tensor->rank = (int)items[2]->count;
  if (!pickle_read_ints(items[2], tensor->rank, tensor->shape) ||
      !pickle_read_ints(items[3], tensor->rank, tensor->strides))
    return pickle_fail(machine, "a tensor's shape and strides are not whole numbers, one each per dimension");
  value->tensor = tensor;
  return pickle_push(machine, value);
}

// (tensor, requires_grad, hooks): the tensor.
static oxp_status pickle_call_parameter(pickle_machine *machine, const oxp__pickle_value *arguments)
{
  bool fits = arguments->count >= 1 && arguments->count <= 3;
  if (!fits || (arguments->items[0]->type != OXP__PICKLE_TENSOR && !pickle_is_opaque(arguments->items[0])))
    return pickle_fail(machine, "a parameter is not made from a tensor");
  return pickle_push(machine, arguments->items[0]);
}

// (text, encoding): bytes, which are not the same as a key. They are not encoded: nobody looks into bytes, nor into a
// text that is kept as such.
static oxp_status pickle_call_encode(pickle_machine *machine, const oxp__pickle_value *arguments)
{
  if (arguments->count < 1 || arguments->count > 2 ||
      (arguments->items[0]->type != OXP__PICKLE_TEXT && arguments->items[0]->type != OXP__PICKLE_BYTES))
    return pickle_fail(machine, "bytes are not made from a text");
  return pickle_push(machine, pickle_new(machine, OXP__PICKLE_BYTES));
}

// list(x), tuple(x), set(x), dict(): of nothing, or of one collection. Calls may copy one collection from the memo many
// times; all of them together may copy as many items as the pickle has bytes, more than any pickle that Python writes
// does.
static oxp_status pickle_call_collection(pickle_machine *machine, oxp__pickle_type type,
                                         const oxp__pickle_value *arguments)
{
  if (arguments->count == 0)
    return pickle_push(machine, pickle_collection(machine, type, NULL, 0));
  const oxp__pickle_value *from = arguments->items[0];
  bool sequence = from->type == OXP__PICKLE_LIST || from->type == OXP__PICKLE_TUPLE || from->type == OXP__PICKLE_SET;
  if (type == OXP__PICKLE_DICT || arguments->count != 1 || !sequence)
    return pickle_fail(machine, "a collection is made from something that is not read here");
  size_t left = (size_t)(machine->end - machine->start) - machine->copied;
  if (from->count > left)
    return pickle_fail(machine, "its collections are copied more often than a pickle of its length needs");
  machine->copied += from->count;
  return pickle_push(machine, pickle_collection(machine, type, from->items, from->count));
}

// A class or function and its arguments. A new object (NEWOBJ) may leave its contents to later instructions, as a list
// does whatever the arguments are; what pickles really hold has none, so others are refused. A tuple has its contents
// from the start.
static oxp_status pickle_call(pickle_machine *machine, bool new_object)
{
  oxp__pickle_value *arguments = NULL, *callee = NULL;
  OXP__TRY(pickle_pop(machine, &arguments));
  OXP__TRY(pickle_pop(machine, &callee));
  if (pickle_is_opaque(callee))
    return pickle_push(machine, callee);
  if (callee->type != OXP__PICKLE_NAME || arguments->type != OXP__PICKLE_TUPLE)
    return pickle_fail(machine, "something is called that is not a function");
  pickle_effect effect = pickle_names[callee->number].call;
  if (new_object && arguments->count > 0 && effect != CALL_TUPLE)
    return pickle_fail(machine, "an object is made with arguments, which is not read here");
  switch (effect) {
  case CALL_DICT:
    return pickle_call_collection(machine, OXP__PICKLE_DICT, arguments);
  case CALL_LIST:
    return pickle_call_collection(machine, OXP__PICKLE_LIST, arguments);
  case CALL_TUPLE:
    return pickle_call_collection(machine, OXP__PICKLE_TUPLE, arguments);
  case CALL_SET:
    return pickle_call_collection(machine, OXP__PICKLE_SET, arguments);
  case CALL_TENSOR:
    return pickle_call_tensor(machine, arguments);
  case CALL_PARAMETER:
    return pickle_call_parameter(machine, arguments);
  case CALL_ENCODE:
    return pickle_call_encode(machine, arguments);
  case CALL_STORAGE:
  case CALL_OBJECT: // was no name any more
    break;
  }
  return pickle_fail(machine, "a class is called in a way that is not read here");
}

// State that is put onto an object: an OrderedDict's attributes, of which none matters here.
static oxp_status pickle_build(pickle_machine *machine)
{
  oxp__pickle_value *state = NULL, *object = NULL;
  OXP__TRY(pickle_pop(machine, &state));
  OXP__TRY(pickle_top(machine, &object));
  if (object->type != OXP__PICKLE_DICT && !pickle_is_opaque(object))
    return pickle_fail(machine, "state is put onto a value that has none");
  return OXP_OK;
}

// --- Instructions ---

static oxp_status pickle_do_memo(pickle_machine *machine, size_t size, bool put)
{
  uint64_t index;
  OXP__TRY(pickle_operand(machine, size, &index));
  return put ? pickle_remember(machine, (size_t)index) : pickle_recall(machine, (size_t)index);
}

static oxp_status pickle_do_int(pickle_machine *machine, size_t size)
{
  uint64_t number;
  OXP__TRY(pickle_operand(machine, size, &number));
  return pickle_push_number(machine, OXP__PICKLE_INT, size == 4 ? (int32_t)(uint32_t)number : (int64_t)number);
}

static oxp_status pickle_do_stack(pickle_machine *machine, unsigned char code)
{
  oxp__pickle_value *value = NULL;
  oxp__pickle_value **items;
  size_t count;
  switch (code) {
  case '(':
    return pickle_mark(machine);
  case '0': // POP
    return pickle_pop(machine, &value);
  case '1': // POP_MARK
    return pickle_pop_mark(machine, &items, &count);
  default: // DUP
    OXP__TRY(pickle_top(machine, &value));
    return pickle_push(machine, value);
  }
}

// PROTO and FRAME: nothing to do but to skip and check.
static oxp_status pickle_do_framing(pickle_machine *machine, unsigned char code)
{
  uint64_t number;
  OXP__TRY(pickle_operand(machine, code == 0x80 ? 1 : 8, &number));
  if (code == 0x80 && (number < 2 || number > 5))
    return pickle_fail(machine, "its protocol is not one of 2 to 5");
  return OXP_OK;
}

static oxp_status pickle_fail_code(pickle_machine *machine, unsigned char code)
{
  return oxp__fail(machine->error, OXP_BAD_FILE,
                   "the pickle has instruction 0x%02x at byte %zu, which is not read here", code,
                   (size_t)(machine->at - machine->start) - 1);
}

// Instructions of protocols 2 and up, as far as they build plain data.
static oxp_status pickle_step_late(pickle_machine *machine, unsigned char code)
{
  switch (code) {
  case 0x80:
  case 0x95:
    return pickle_do_framing(machine, code);
  case 0x81: // NEWOBJ
    return pickle_call(machine, true);
  case 0x85:
  case 0x86:
  case 0x87: // TUPLE1 to TUPLE3
    return pickle_push_tuple(machine, code - 0x84u);
  case 0x88:
  case 0x89:
    return pickle_push_number(machine, OXP__PICKLE_BOOL, code == 0x88);
  case 0x8a:
    return pickle_push_long(machine, 1);
  case 0x8b:
    return pickle_push_long(machine, 4);
  case 0x8c:
    return pickle_push_text(machine, OXP__PICKLE_TEXT, 1);
  case 0x8d:
    return pickle_push_text(machine, OXP__PICKLE_TEXT, 8);
  case 0x8e:
  case 0x96: // BYTEARRAY8
    return pickle_push_text(machine, OXP__PICKLE_BYTES, 8);
  case 0x8f: // EMPTY_SET
    return pickle_push(machine, pickle_collection(machine, OXP__PICKLE_SET, NULL, 0));
  case 0x90: // ADDITEMS
    return pickle_extend_marked(machine, OXP__PICKLE_SET);
  case 0x91: // FROZENSET
    return pickle_collect(machine, OXP__PICKLE_SET);
  case 0x93:
    return pickle_stack_global(machine);
  case 0x94:
    return pickle_memoize(machine);
  default:
    return pickle_fail_code(machine, code);
  }
}

// The rest, by the letters that the format gives them.
// long: one case a line; a table would hide which operands they have.
static oxp_status pickle_step(pickle_machine *machine, unsigned char code)
{
  switch (code) {
  case '(':
  case '0':
  case '1':
  case '2':
    return pickle_do_stack(machine, code);
  case 'N':
    return pickle_push(machine, pickle_new(machine, OXP__PICKLE_NONE));
  case 'K':
    return pickle_do_int(machine, 1);
  case 'M':
    return pickle_do_int(machine, 2);
  case 'J':
    return pickle_do_int(machine, 4);
  case 'G':
    return pickle_push_float(machine);
  case 'X':
    return pickle_push_text(machine, OXP__PICKLE_TEXT, 4);
  case 'B':
  case 'T':
    return pickle_push_text(machine, OXP__PICKLE_BYTES, 4);
  case 'C':
  case 'U':
    return pickle_push_text(machine, OXP__PICKLE_BYTES, 1);
  case ')':
    return pickle_push_tuple(machine, 0);
  case 't':
    return pickle_collect(machine, OXP__PICKLE_TUPLE);
  case ']':
    return pickle_push(machine, pickle_collection(machine, OXP__PICKLE_LIST, NULL, 0));
  case 'l':
    return pickle_collect(machine, OXP__PICKLE_LIST);
  case 'a':
    return pickle_extend_top(machine, 1, OXP__PICKLE_LIST);
  case 'e':
    return pickle_extend_marked(machine, OXP__PICKLE_LIST);
  case '}':
    return pickle_push(machine, pickle_collection(machine, OXP__PICKLE_DICT, NULL, 0));
  case 'd':
    return pickle_collect(machine, OXP__PICKLE_DICT);
  case 's':
    return pickle_extend_top(machine, 2, OXP__PICKLE_DICT);
  case 'u':
    return pickle_extend_marked(machine, OXP__PICKLE_DICT);
  case 'q':
  case 'r':
    return pickle_do_memo(machine, code == 'q' ? 1 : 4, true);
  case 'h':
  case 'j':
    return pickle_do_memo(machine, code == 'h' ? 1 : 4, false);
  case 'c':
    return pickle_global(machine);
  case 'Q':
    return pickle_persistent(machine);
  case 'R':
    return pickle_call(machine, false);
  case 'b':
    return pickle_build(machine);
  default:
    return pickle_step_late(machine, code);
  }
}

static oxp_status pickle_run(pickle_machine *machine, const oxp__pickle_value **out)
{
  oxp__pickle_value *result = NULL;
  while (machine->at < machine->end) {
    unsigned char code = *machine->at++;
    if (code != '.') {
      OXP__TRY(pickle_step(machine, code));
      continue;
    }
    OXP__TRY(pickle_pop(machine, &result));
    *out = result;
    return OXP_OK;
  }
  return pickle_fail(machine, "it has no end");
}

// All names that are not permitted, in one message.
static oxp_status pickle_fail_refused(const pickle_machine *machine)
{
  oxp__text names = { 0 };
  for (int i = 0; i < machine->refused_count; i++)
    oxp__text_printf(&names, "%s%s.%s", i > 0 ? ", " : "", machine->refused[i].module, machine->refused[i].name);
  if (machine->refused_count == PICKLE_REFUSED_LIMIT)
    oxp__text_add(&names, " and perhaps more");
  oxp_status status =
      oxp__fail(machine->error, OXP_BAD_FILE,
                "the pickle wants to make objects that are not plain weights (nothing was run; a saved state_dict can "
                "be read): %s",
                oxp__text_string(&names));
  oxp__text_fini(&names);
  return status;
}

oxp_status oxp__pickle_read(oxp__arena *arena, const void *bytes, size_t count, const oxp__pickle_value **out,
                            oxp_error *error)
{
  if (count > OXP__PICKLE_LIMIT_BYTES)
    return oxp__fail(error, OXP_BAD_FILE, "the pickle has %zu bytes, at most %d are read", count,
                     OXP__PICKLE_LIMIT_BYTES);
  pickle_machine machine = { .arena = arena, .start = bytes, .at = bytes, .error = error };
  machine.end = machine.start + count;
  // From the start there is a stack, if an empty one: instructions take addresses in it also where they take nothing
  // from it.
  machine.stack = oxp__arena_grow(arena, NULL, 0, &machine.capacity, sizeof(oxp__pickle_value *));
  if (!machine.stack)
    return oxp__fail_memory(error, sizeof(oxp__pickle_value *));
  oxp_status status = pickle_run(&machine, out);
  return machine.refused_count > 0 ? pickle_fail_refused(&machine) : status;
}

const oxp__pickle_value *oxp__pickle_find(const oxp__pickle_value *dict, const char *key)
{
  if (dict->type != OXP__PICKLE_DICT)
    return NULL;
  for (size_t i = dict->count; i-- > 0;) // a key that is set again has its last value
    if (dict->items[2 * i]->type == OXP__PICKLE_TEXT && strcmp(dict->items[2 * i]->text, key) == 0)
      return dict->items[2 * i + 1];
  return NULL;
}
