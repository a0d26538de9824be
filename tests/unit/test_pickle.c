// Unit tests of the restricted pickle machine and of JSON within limits. Pickles are spelled out by hand.
#include "formats_support.h"

#include "core/text.h"
#include "formats/containers/json.h"
#include "formats/containers/pickle.h"

#define PICKLE(text) text, sizeof(text) - 1

static const oxp__pickle_value *read_pickle(oxp__arena *arena, const char *at, size_t count)
{
  const oxp__pickle_value *value = NULL;
  oxp_error error = { 0 };
  if (oxp__pickle_read(arena, at, count, &value, &error) != OXP_OK)
    fail_msg("%s", error.message);
  return value;
}

static void assert_fails(const char *at, size_t count, oxp_status status, const char *words)
{
  oxp__arena arena = { 0 };
  const oxp__pickle_value *value = NULL;
  oxp_error error = { 0 };
  if (oxp__pickle_read(&arena, at, count, &value, &error) != status)
    fail_msg("status %d \"%s\", should say %s", error.status, error.message, words);
  assert_all_words(error.message, words);
  oxp__arena_fini(&arena);
}

static void assert_refused(const char *at, size_t count, const char *words)
{
  assert_fails(at, count, OXP_BAD_FILE, words);
}

static void test_numbers(void **state)
{
  (void)state;
  const struct {
    const char *at;
    size_t count;
    int64_t number;
  } cases[] = {
    { PICKLE("\x80\x02K\x05."), 5 },
    { PICKLE("\x80\x02M\x01\x02."), 513 },
    { PICKLE("\x80\x02J\xff\xff\xff\xff."), -1 },
    { PICKLE("\x80\x02\x8a\x00."), 0 },
    { PICKLE("\x80\x02\x8a\x01\xff."), -1 },
    { PICKLE("\x80\x02\x8a\x05\x00\x00\x00\x00\x01."), INT64_C(1) << 32 },
    { PICKLE("\x80\x02\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80."), INT64_MIN },
    // Bytes that repeat the sign are no part of a number, whatever the size says.
    { PICKLE("\x8a\x0a\x05\0\0\0\0\0\0\0\0\0."), 5 },
    { PICKLE("\x8b\x09\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff\xff."), -2 },
    { PICKLE("\x8b\0\0\0\0."), 0 },
    { PICKLE("\x80\x02\x88."), 1 },
    { PICKLE("\x80\x05\x95\x02\x00\x00\x00\x00\x00\x00\x00\x89."), 0 },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    oxp__arena arena = { 0 };
    assert_int_equal(read_pickle(&arena, cases[i].at, cases[i].count)->number, cases[i].number);
    oxp__arena_fini(&arena);
  }
  oxp__arena arena = { 0 };
  const oxp__pickle_value *real = read_pickle(&arena, PICKLE("G\x3f\xf8\0\0\0\0\0\0."));
  assert_int_equal(real->type, OXP__PICKLE_FLOAT);
  assert_true(real->real > 1.4 && real->real < 1.6);
  oxp__arena_fini(&arena);
}

// Whole numbers of Python have no limit. What 64 bits do not hold is left aside, and what follows is read.
static void test_large_numbers(void **state)
{
  (void)state;
  enum { DIGITS = 1000000 };
  oxp__arena arena = { 0 };
  const oxp__pickle_value *list = read_pickle(&arena, PICKLE("\x80\2](\x8a\x09\0\0\0\0\0\0\0\x80\0"         // 2^63
                                                             "\x8a\x09\xff\xff\xff\xff\xff\xff\xff\x7f\xff" // -2^63 - 1
                                                             "\x8a\x0a\0\0\0\0\0\0\0\0\0\1K\7e."));
  for (int i = 0; i < 3; i++)
    assert_int_equal(list->items[i]->type, OXP__PICKLE_LONG);
  assert_int_equal(list->items[3]->number, 7);
  char *long4 = calloc(DIGITS + 6, 1);
  memcpy(long4, "\x8b\x40\x42\x0f\0", 5); // a million bytes
  long4[DIGITS + 4] = 1;
  long4[DIGITS + 5] = '.';
  assert_int_equal(read_pickle(&arena, long4, DIGITS + 6)->type, OXP__PICKLE_LONG);
  free(long4);
  oxp__arena_fini(&arena);
}

static void test_collections(void **state)
{
  (void)state;
  oxp__arena arena = { 0 };
  // {"a": [1, (2, 3)], "b": {}, "a": 7}: with memo, marks, DUP and POP on the way
  const oxp__pickle_value *dict = read_pickle(&arena, PICKLE("\x80\x02}q\x00(X\x01\0\0\0aq\x01](K\x01K\x02K\x03\x86"
                                                             "e"
                                                             "\x8c\x01"
                                                             "b}uK\x09"
                                                             "20"
                                                             "0h\x01K\x07s."));
  assert_int_equal(dict->type, OXP__PICKLE_DICT);
  assert_int_equal(dict->count, 3);
  assert_int_equal(oxp__pickle_find(dict, "a")->number, 7);
  assert_int_equal(oxp__pickle_find(dict, "b")->type, OXP__PICKLE_DICT);
  assert_null(oxp__pickle_find(dict, "c"));
  const oxp__pickle_value *list = dict->items[1];
  assert_int_equal(list->type, OXP__PICKLE_LIST);
  assert_int_equal(list->count, 2);
  assert_int_equal(list->items[1]->type, OXP__PICKLE_TUPLE);
  assert_int_equal(list->items[1]->items[1]->number, 3);
  // A list that contains itself is a legal pickle; nobody follows it.
  const oxp__pickle_value *self = read_pickle(&arena, PICKLE("]q\x00h\x00"
                                                             "a."));
  assert_ptr_equal(self->items[0], self);
  // Protocol 4: memo without numbers, names from the stack.
  dict = read_pickle(&arena, PICKLE("\x80\x04\x8c\x0b"
                                    "collections\x94\x8c\x0bOrderedDict\x94\x93\x94)R\x94h\x01h\x00s."));
  assert_string_equal(oxp__pickle_find(dict, "OrderedDict")->text, "collections");
  // After a gap the memo goes on where Python's does: with the number of places that are filled.
  const oxp__pickle_value *text = read_pickle(&arena, PICKLE("\x80\x04Nq\0q\1"
                                                             "0\x8c\3oldq\3"
                                                             "0\x8c\3new\x94"
                                                             "0h\3."));
  assert_string_equal(text->text, "new");
  // Bytes as protocol 2 has them are no text, and so another key.
  dict = read_pickle(&arena, PICKLE("\x80\x02}c_codecs\nencode\n\x8c\1a\x8c\6latin1\x86RK\1s."));
  assert_int_equal(dict->items[0]->type, OXP__PICKLE_BYTES);
  assert_null(oxp__pickle_find(dict, "a"));
  assert_int_equal(read_pickle(&arena, PICKLE("c__builtin__\nlist\n](K\1K\2e\x85R."))->count, 2);
  assert_int_equal(read_pickle(&arena, PICKLE("c__builtin__\nlist\n)\x81."))->count, 0);
  oxp__arena_fini(&arena);
}

#define STORAGE                                                                                                        \
  "(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"                                                                   \
  "0X\3\0\0\0cpuK\x0ctQ"

static void test_tensors(void **state)
{
  (void)state;
  oxp__arena arena = { 0 };
  const oxp__pickle_value *value = read_pickle(
      &arena, PICKLE("ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE "K\x02K\x03K\x02\x86K\x02K\x01\x86\x89}tR."));
  assert_int_equal(value->type, OXP__PICKLE_TENSOR);
  assert_int_equal(value->tensor->storage->dtype, OXP_FLOAT32);
  assert_string_equal(value->tensor->storage->key, "0");
  assert_int_equal(value->tensor->storage->count, 12);
  assert_int_equal(value->tensor->offset, 2);
  assert_int_equal(value->tensor->rank, 2);
  assert_int_equal(value->tensor->shape[0], 3);
  assert_int_equal(value->tensor->strides[0], 2);
  oxp__arena_fini(&arena);
  assert_refused(PICKLE("ctorch._utils\n_rebuild_tensor_v2\n(K\1K\2K\3K\4tR."), "no storage");
  assert_refused(PICKLE("ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE "K\0K\1\x85)tR."), "shape and strides");
  assert_refused(PICKLE("ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE "K\0J\xff\xff\xff\xff\x85K\1\x85tR."),
                 "shape and strides");
  assert_refused(PICKLE("ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE "K\0(K\1K\1K\1K\1K\1K\1K\1K\1K\1t)tR."),
                 "more than 8");
  assert_refused(PICKLE("(X\3\0\0\0fooK\1K\2K\3K\4tQ."), "persistent id");
  assert_refused(PICKLE("(X\7\0\0\0storageccollections\nOrderedDict\nX\1\0\0\0"
                        "0X\3\0\0\0cpuK\x0ctQ."),
                 "storage class");
}

#define TENSOR(rest) "ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE "K\0))\x89}" rest "tR"

// torch 2 stores a negated or conjugated tensor as it was before, and says so in a seventh argument.
static void test_tensor_marks(void **state)
{
  (void)state;
  oxp__arena arena = { 0 };
  assert_int_equal(read_pickle(&arena, PICKLE(TENSOR("") "."))->type, OXP__PICKLE_TENSOR);
  assert_int_equal(read_pickle(&arena, PICKLE(TENSOR("N") "."))->type, OXP__PICKLE_TENSOR);
  assert_int_equal(read_pickle(&arena, PICKLE(TENSOR("}") "."))->type, OXP__PICKLE_TENSOR);
  assert_int_equal(read_pickle(&arena, PICKLE("ctorch._utils\n_rebuild_parameter\n" TENSOR("") "\x88}\x87R."))->type,
                   OXP__PICKLE_TENSOR);
  assert_fails(PICKLE(TENSOR("}X\3\0\0\0neg\x88s") "."), OXP_UNSUPPORTED, "\"neg\"|not the ones stored");
  assert_fails(PICKLE(TENSOR("}X\4\0\0\0conj\x88s") "."), OXP_UNSUPPORTED, "\"conj\"");
  assert_fails(PICKLE(TENSOR("\x88") "."), OXP_UNSUPPORTED, "(no text)");
  assert_fails(PICKLE(TENSOR("N}") "."), OXP_UNSUPPORTED, "8 things");
  // A parameter is made from a tensor; its attributes could be other values.
  assert_refused(PICKLE("ctorch._utils\n_rebuild_parameter\nK\1\x88}\x87R."), "not made from a tensor");
  assert_refused(PICKLE("ctorch._utils\n_rebuild_parameter\n(" TENSOR("") "\x88}NtR."), "not made from a tensor");
  const oxp__pickle_value *stateful =
      read_pickle(&arena, PICKLE("ctorch._utils\n_rebuild_parameter_with_state\n(" TENSOR("") "\x88}}tR."));
  assert_int_equal(stateful->type, OXP__PICKLE_OBJECT);
  assert_string_equal(stateful->text, "_rebuild_parameter_with_state");
  oxp__arena_fini(&arena);
}

// What torch.load(weights_only=True) permits, and NumPy's scalars: no weight is made of it, so it is left aside.
static void test_harmless_objects(void **state)
{
  (void)state;
  const struct {
    const char *at;
    size_t count;
    const char *name;
  } cases[] = {
    { PICKLE("ctorch\nfloat32\n."), "float32" },
    { PICKLE("ctorch\nfloat8_e4m3fn\n."), "float8_e4m3fn" },
    { PICKLE("ctorch\ndevice\nX\4\0\0\0cuda\x85R."), "device" },
    { PICKLE("c__builtin__\nbytearray\nX\1\0\0\0aX\7\0\0\0latin-1\x86R."), "bytearray" },
    { PICKLE("cbuiltins\ncomplex\nG\0\0\0\0\0\0\0\0G\0\0\0\0\0\0\0\0\x86R."), "complex" },
    { PICKLE("ccollections\nCounter\n}X\1\0\0\0aK\1s\x85R."), "Counter" },
    { PICKLE("ctorch.serialization\n_get_layout\nX\1\0\0\0x\x85R."), "_get_layout" },
    { PICKLE("cnumpy._core.multiarray\nscalar\ncnumpy\ndtype\nX\2\0\0\0f8\x89\x88\x87R(K\3NtbU\1a\x86R."), "scalar" },
    // A tensor of an element type that no weight has.
    { PICKLE("ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nComplexFloatStorage\nX\1\0\0\0"
             "0X\3\0\0\0cpuK\1tQK\0))\x89}tR."),
      "ComplexFloatStorage" },
    { PICKLE("ctorch._utils\n_rebuild_tensor_v3\n((X\7\0\0\0storagectorch.storage\nUntypedStorage\nX\1\0\0\0"
             "0X\3\0\0\0cpuK\1tQK\0))\x89}ctorch\nuint16\ntR."),
      "_rebuild_tensor_v3" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    oxp__arena arena = { 0 };
    const oxp__pickle_value *value = read_pickle(&arena, cases[i].at, cases[i].count);
    assert_int_equal(value->type, OXP__PICKLE_OBJECT);
    assert_string_equal(value->text, cases[i].name);
    oxp__arena_fini(&arena);
  }
  oxp__arena arena = { 0 };
  // A text that holds a zero byte is no key, not even up to there; two such texts are no key twice.
  const oxp__pickle_value *dict = read_pickle(&arena, PICKLE("}X\3\0\0\0a\0bK\1sX\1\0\0\0aK\2s."));
  assert_int_equal(oxp__pickle_find(dict, "a")->number, 2);
  assert_int_equal(dict->items[0]->type, OXP__PICKLE_BYTES);
  assert_int_equal(read_pickle(&arena, PICKLE("c_codecs\nencode\nX\2\0\0\0\0aX\6\0\0\0latin1\x86R."))->type,
                   OXP__PICKLE_BYTES);
  assert_refused(PICKLE("X\3\0\0\0a\0\xff."), "not UTF-8");
  assert_int_equal(read_pickle(&arena, PICKLE("ctorch\nSize\nK\2K\3\x86\x85\x81."))->count, 2);
  const oxp__pickle_value *size = read_pickle(&arena, PICKLE("ctorch\nSize\nK\2K\3\x86\x85R."));
  assert_int_equal(size->type, OXP__PICKLE_TUPLE); // as the tuple that it is, so that it can be a tensor's shape
  assert_int_equal(size->count, 2);
  assert_int_equal(read_pickle(&arena, PICKLE("\x80\5\x96\2\0\0\0\0\0\0\0ab."))->type, OXP__PICKLE_BYTES);
  oxp__arena_fini(&arena);
}

static void test_refuses_names(void **state)
{
  (void)state;
  // os.system("...") and builtins.eval: never called, both named, though neither ends the reading.
  assert_refused(PICKLE("cos\nsystem\nX\4\0\0\0true\x85R0cbuiltins\neval\n)R0cos\nsystem\n."),
                 "not plain weights|nothing was run|os.system, builtins.eval");
  assert_refused(PICKLE("\x80\x04\x8c\x02os\x8c\x06system\x93."), "os.system");
  // Names that only look like permitted ones.
  assert_refused(PICKLE("ctorchevil\nFloatStorage\n."), "torchevil.FloatStorage");
  assert_refused(PICKLE("ccollections.x\nOrderedDict\n."), "collections.x.OrderedDict");
  assert_refused(PICKLE("ctorch\nload\n."), "torch.load");
  assert_refused(PICKLE("ctorch\nfloat32 float\n."), "torch.float32 float");
  assert_refused(PICKLE("ctorch\n\n."), "torch.");
  assert_refused(PICKLE("cevil\ndevice\n."), "evil.device");
  assert_refused(PICKLE("cnumpy\nload\n."), "numpy.load");
  // What a refused object would have swallowed does not hide it.
  assert_refused(PICKLE("ctorch.nn\nModule\n)\x81}(X\1\0\0\0aK\1ub."), "torch.nn.Module");
  assert_refused(PICKLE("cevil\nX\nq\x05h\x05)R(K\1K\2u0."), "evil.X");
}

static void test_refuses_damage(void **state)
{
  (void)state;
  const struct {
    const char *at;
    size_t count;
    const char *words;
  } cases[] = {
    { PICKLE(""), "no end" },
    { PICKLE("K\x01"), "no end" },
    { PICKLE("."), "stack is empty" },
    { PICKLE("M\x01"), "ends inside" },
    { PICKLE("X\xff\xff\xff\xff"
             "abc."),
      "longer than what is left" },
    { PICKLE("X\1\0\0\0\xff."), "not UTF-8" },
    { PICKLE("K\1K\2a."), "cannot hold" },
    { PICKLE("}K\1u."), "a mark is missing" },
    { PICKLE("}(K\1u."), "cannot hold" },
    { PICKLE("(K\1d."), "without a value" },
    { PICKLE("h\x01."), "memo lacks" },
    { PICKLE("K\1r\xff\xff\xff\x7f."), "memo has a number that is too large" },
    { PICKLE("K\1)R."), "not a function" },
    { PICKLE("ctorch\nFloatStorage\n)R."), "not read here" },
    { PICKLE("ccollections\nOrderedDict\n]\x85R."), "not read here" },
    { PICKLE("ccollections"), "cut off" },
    { PICKLE("\x8a\x0a\0\0\0\0\0\0\0\0."), "number is longer than what is left" },
    { PICKLE("\x8b\xff\xff\xff\xff\0."), "number is longer than what is left" },
    { PICKLE("\x80\x01."), "protocol" },
    { PICKLE("I1\n."), "0x49" },
    { PICKLE("\xff."), "0xff" },
    { PICKLE("(0."), "stack is empty" },
    { PICKLE("K\1}b."), "state" },
    { PICKLE("c__builtin__\nlist\n](K\1K\2e\x85\x81."), "made with arguments" },
    { PICKLE("c_codecs\nencode\nK\1\x85R."), "not made from a text" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_refused(cases[i].at, cases[i].count, cases[i].words);
}

// A million nested lists, and a million marks: deep values cost memory in proportion and no stack.
static void test_depth(void **state)
{
  (void)state;
  enum { COUNT = 1000000 };
  char *deep = malloc(2 * COUNT + 2);
  memset(deep, ']', COUNT);
  memset(deep + COUNT, 'a', COUNT - 1);
  deep[2 * COUNT - 1] = '.';
  oxp__arena arena = { 0 };
  assert_int_equal(read_pickle(&arena, deep, 2 * COUNT)->count, 1);
  oxp__arena_fini(&arena);
  memset(deep, '(', COUNT);
  assert_refused(deep, COUNT, "no end");
  free(deep);
}

// What lies in the memo can be copied and named again and again by a few bytes; both have bounds of their own.
static void test_copies(void **state)
{
  (void)state;
  enum { ITEMS = 30000, COPIES = 3000 };
  oxp__text pickle = { 0 };
  oxp__text_add_bytes(&pickle, PICKLE("c__builtin__\nlist\nq\0("));
  for (int i = 0; i < ITEMS; i++)
    oxp__text_add(&pickle, "N");
  oxp__text_add(&pickle, "lq\1");
  for (int i = 0; i < COPIES; i++)
    oxp__text_add_bytes(&pickle, PICKLE("h\0h\1\x85R0"));
  oxp__text_add(&pickle, ".");
  assert_refused(pickle.bytes, pickle.length, "copied more often");
  oxp__text_fini(&pickle);
  oxp__text_add_bytes(&pickle, PICKLE("\x80\4X\0\1\1\0"));
  for (int i = 0; i < 0x10100; i++)
    oxp__text_add(&pickle, "x");
  oxp__text_add_bytes(&pickle, PICKLE("\x94"));
  for (int i = 0; i < COPIES; i++)
    oxp__text_add_bytes(&pickle, PICKLE("h\0h\0\x93"));
  oxp__text_add(&pickle, ".");
  assert_refused(pickle.bytes, pickle.length, "longer than 512 bytes");
  oxp__text_fini(&pickle);
}

// --- JSON ---

static void assert_json(const char *text, oxp_status status, const char *words)
{
  oxp__arena arena = { 0 };
  const json_t *root = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp__json_parse(&arena, text, strlen(text), &root, &error), status);
  if (status != OXP_OK)
    assert_all_words(error.message, words);
  oxp__arena_fini(&arena);
}

static void test_json(void **state)
{
  (void)state;
  assert_json("{\"a\": [1, 2.5, \"x\", null, true, {}]}", OXP_OK, "");
  assert_json("[]", OXP_OK, "");
  assert_json("{\"a\": 1,\n \"b\" 2}", OXP_BAD_FILE, "line 2");
  assert_json("{\"a\": 1, \"a\": 2}", OXP_BAD_FILE, "not valid JSON|column 13|twice");
  assert_json("", OXP_BAD_FILE, "not valid JSON");
  assert_json("{} x", OXP_BAD_FILE, "not valid JSON");
  assert_json("\xEF\xBB\xBF {}", OXP_OK, ""); // a byte order mark, once and at the start
  assert_json("\xEF\xBB\xBF\xEF\xBB\xBF{}", OXP_BAD_FILE, "not valid JSON");
  assert_json("{\xEF\xBB\xBF}", OXP_BAD_FILE, "not valid JSON");
  assert_json("{\"a\": 123456789012345678901234567890}", OXP_OK, "");
  char nested[200];
  for (int depth = OXP__JSON_LIMIT_DEPTH; depth <= OXP__JSON_LIMIT_DEPTH + 1; depth++) {
    memset(nested, '[', (size_t)depth);
    memset(nested + depth, ']', (size_t)depth);
    nested[2 * depth] = 0;
    assert_json(nested, depth <= OXP__JSON_LIMIT_DEPTH ? OXP_OK : OXP_BAD_FILE, "65 levels");
  }
  assert_json("[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[\"]", OXP_OK, "");
  char *large = malloc(OXP__JSON_LIMIT_BYTES + 2);
  memset(large, ' ', OXP__JSON_LIMIT_BYTES + 1);
  large[0] = '[';
  large[OXP__JSON_LIMIT_BYTES] = ']';
  large[OXP__JSON_LIMIT_BYTES + 1] = 0;
  assert_json(large, OXP_BAD_FILE, "bytes, at most");
  free(large);
}

static const char *const json_damaged[] = {
  // clang-format off
  "[1,]", "[,1]", "{\"a\":}", "{a: 1}", "[1 2]", "[01]", "[-]", "[1.]", "[.5]", "[1e]", "[+1]", "[1e+]", "[tru]",
  "[nul]", "[True]", "[\"a", "[\"\\x\"]", "[\"\\u12\"]", "[\"\\ud8\"]", "[\"\\ud800\\ud8\"]",
  "[\"\\u0000\"]", "[\"\xff\"]", "[\"\xc0\xaf\"]", "[\"\n\"]", "[\"\x01\"]", "\"a\"", "1", "[nan]", "[inf]", "[-NaN]",
  "[+Infinity]", "[- Infinity]", "[-Inf]", "[Na]", "NaN", "[", "{\"a\"", "{\"a\":", "[\"\\",
  // clang-format on
};

static void test_json_damage(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof json_damaged / sizeof json_damaged[0]; i++)
    assert_json(json_damaged[i], OXP_BAD_FILE, "not valid JSON at line 1, column");
}

static void test_json_values(void **state)
{
  (void)state;
  static const char text[] =
      " [\"\\u00e9\\ud83d\\ude00\\n\\/\\\"\", \"\", 1.5e3, -0.25, -9223372036854775808, 9223372036854775807,\r\n"
      "\t0, -0, 1E-2, {\"\\u0061\": {\"b\": \"c\"}, \"d\": []}, 9223372036854775808, -18446744073709551616] ";
  oxp__arena arena = { 0 };
  const json_t *root = NULL;
  assert_int_equal(oxp__json_parse(&arena, text, strlen(text), &root, NULL), OXP_OK);
  assert_int_equal(json_array_size(root), 12);
  assert_string_equal(json_string_value(json_array_get(root, 0)), "\xC3\xA9\xF0\x9F\x98\x80\n/\"");
  assert_string_equal(json_string_value(json_array_get(root, 1)), "");
  assert_true(json_real_value(json_array_get(root, 2)) == 1500);
  assert_true(json_real_value(json_array_get(root, 3)) == -0.25);
  assert_true(json_integer_value(json_array_get(root, 4)) == INT64_MIN);
  assert_true(json_integer_value(json_array_get(root, 5)) == INT64_MAX);
  assert_true(json_is_integer(json_array_get(root, 6)) && json_is_integer(json_array_get(root, 7)));
  assert_true(json_real_value(json_array_get(root, 8)) == 0.01);
  const json_t *object = json_array_get(root, 9);
  assert_string_equal(json_string_value(json_object_get(json_object_get(object, "a"), "b")), "c");
  assert_int_equal(json_array_size(json_object_get(object, "d")), 0);
  assert_true(json_real_value(json_array_get(root, 10)) == 0x1p63); // what int64 cannot hold is a real number
  assert_true(json_real_value(json_array_get(root, 11)) == -0x1p64);
  oxp__arena_fini(&arena);
}

// What Python's json writes and the standard lacks: numbers that are not finite, and halves of characters.
static void test_json_of_python(void **state)
{
  (void)state;
  static const char text[] =
      "[NaN, Infinity, -Infinity, 1e999, \"NaN\", \"\", null, 7, 0.5, \"a\\udce9\\ud800\\ud83d\\ude00\"]";
  const bool is_number[] = { true, true, true, true, false, false, false, true, true, false };
  oxp__arena arena = { 0 };
  const json_t *root = NULL;
  double numbers[10] = { 0 };
  assert_int_equal(oxp__json_parse(&arena, text, strlen(text), &root, NULL), OXP_OK);
  for (size_t i = 0; i < 10; i++)
    assert_int_equal(oxp__json_number_value(json_array_get(root, i), &numbers[i]), is_number[i]);
  assert_true(isnan(numbers[0]) && isinf(numbers[1]) && numbers[1] > 0 && isinf(numbers[2]) && numbers[2] < 0);
  assert_true(isinf(numbers[3]) && numbers[3] > 0);
  assert_true(numbers[7] == 7 && numbers[8] == 0.5);
  assert_string_equal(oxp__json_type_name(json_array_get(root, 0)), "NaN");
  assert_string_equal(oxp__json_type_name(json_array_get(root, 2)), "infinity");
  assert_string_equal(oxp__json_type_name(json_array_get(root, 4)), "a text");
  assert_string_equal(json_string_value(json_array_get(root, 9)), "a\xEF\xBF\xBD\xEF\xBF\xBD\xF0\x9F\x98\x80");
  oxp__arena_fini(&arena);
  enum { DIGITS = 100000 }; // as many digits as there are
  char *digits = malloc(DIGITS + 3);
  memset(digits, '1', DIGITS + 1);
  digits[0] = '[';
  memcpy(digits + DIGITS, "]", 2);
  assert_json(digits, OXP_OK, "");
  memcpy(digits, "[0.", 3);
  assert_json(digits, OXP_OK, "");
  free(digits);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_numbers),        cmocka_unit_test(test_collections),
    cmocka_unit_test(test_tensors),        cmocka_unit_test(test_refuses_names),
    cmocka_unit_test(test_refuses_damage), cmocka_unit_test(test_depth),
    cmocka_unit_test(test_tensor_marks),   cmocka_unit_test(test_copies),
    cmocka_unit_test(test_json),           cmocka_unit_test(test_json_damage),
    cmocka_unit_test(test_json_values),    cmocka_unit_test(test_json_of_python),
    cmocka_unit_test(test_large_numbers),  cmocka_unit_test(test_harmless_objects),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
