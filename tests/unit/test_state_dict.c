// Unit tests of formats/common/state_dict: which dictionary and which beginning of names is taken, and what is refused. The pickles are
// written by hand from a notation: `{` and `}` for a dictionary, a name for a tensor, `name:` for what follows it, `@` for the outermost
// dictionary itself.
#include "formats_support.h"

#include "formats/common/state_dict.h"

#define TENSOR                                                                                                         \
  "ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"                               \
  "0X\3\0\0\0cpuK\1tQK\0))\x89}tR"

static void put_name(oxp__text *pickle, const char *name, size_t length)
{
  const unsigned char head[] = { 'X', (unsigned char)length, (unsigned char)(length >> 8), 0, 0 };
  oxp__text_add_bytes(pickle, head, sizeof head);
  oxp__text_add_bytes(pickle, name, length);
}

static void put_notation(oxp__text *pickle, const char *at)
{
  bool outermost = true;
  for (; *at; at += *at == ' ') {
    size_t length = strcspn(at, " {}:@");
    if (length > 0) {
      put_name(pickle, at, length);
      at += length;
      if (*at == ':')
        at++;
      else
        oxp__text_add_bytes(pickle, TENSOR, sizeof TENSOR - 1);
      continue;
    }
    if (*at == '{')
      oxp__text_add_bytes(pickle, outermost ? "}q\0(" : "}(", outermost ? 4 : 2);
    else if (*at == '}')
      oxp__text_add(pickle, "u");
    else if (*at == '@')
      oxp__text_add_bytes(pickle, "h\0", 2);
    outermost = outermost && *at != '{';
    at += *at != ' ';
  }
  oxp__text_add(pickle, ".");
}

static const char *const two_names[] = { "0.weight", "0.bias" };

static oxp_status find(oxp__arena *arena, const char *notation, const char *choice, oxp__state_dict *found,
                       oxp_error *error)
{
  oxp__text pickle = { 0 };
  const oxp__pickle_value *root = NULL;
  put_notation(&pickle, notation);
  if (oxp__pickle_read(arena, pickle.bytes, pickle.length, &root, error) != OXP_OK)
    fail_msg("%s: %s", notation, error->message);
  oxp__text_fini(&pickle);
  return oxp__state_dict_find(arena, root, two_names, 2, choice, found, error);
}

static void assert_found(const char *notation, const char *choice, const char *path, const char *prefix, size_t count)
{
  oxp__arena arena = { 0 };
  oxp__state_dict found;
  oxp_error error = { 0 };
  if (find(&arena, notation, choice, &found, &error) != OXP_OK)
    fail_msg("%s: %s", notation, error.message);
  assert_string_equal(found.path, path);
  assert_string_equal(found.prefix, prefix);
  assert_int_equal(found.found, count);
  oxp__arena_fini(&arena);
}

static void assert_refused(const char *notation, const char *choice, oxp_status status, const char *words)
{
  oxp__arena arena = { 0 };
  oxp__state_dict found;
  oxp_error error = { 0 };
  if (find(&arena, notation, choice, &found, &error) != status)
    fail_msg("%s: %s", notation, error.message);
  assert_all_words(error.message, words);
  oxp__arena_fini(&arena);
}

static void the_place_with_all_names_is_found(void **state)
{
  (void)state;
  assert_found("{ 0.weight 0.bias }", NULL, "", "", 2);
  assert_found("{ a: { 0.weight 0.bias } }", NULL, "a", "", 2);
  assert_found("{ a: { b: { c: { d: { m.0.weight m.0.bias } } } } }", NULL, "a/b/c/d", "m.", 2);
  assert_found("{ a: { b: { c: { d: { e: { 0.weight 0.bias } } } } } }", NULL, "", "", 0); // too deep
  assert_found("{ x.0.weight y.0.weight y.0.bias }", NULL, "", "y.", 2);
  assert_found("{ y.10.weight y.10.bias x0.weight x0.bias }", NULL, "", "", 0); // no beginning that ends in a dot
  assert_found("{ self: @ m: { 0.weight 0.bias self: @ } }", NULL, "m", "", 2);
  assert_found("{ }", NULL, "", "", 0);
  // Where nothing fits, what comes nearest.
  assert_found("{ a: { 1.weight } b: { n.0.weight } }", NULL, "b", "n.", 1);
}

static void several_places_are_a_matter_of_choice(void **state)
{
  (void)state;
  static const char both[] = "{ a: { 0.weight 0.bias } b: { m.0.weight m.0.bias n.0.weight n.0.bias } }";
  assert_refused(both, NULL, OXP_BAD_FILE, "3 times|--variable: \"a\", \"b/m.\", \"b/n.\"");
  assert_found(both, "a", "a", "", 2);
  assert_found(both, "b/n.", "b", "n.", 2);
  assert_refused(both, "b", OXP_BAD_FILE, "2 times|\"b/m.\", \"b/n.\"");
  assert_refused(both, "bn.", OXP_BAD_ARGUMENT, "nothing called \"bn.\"|\"/\", \"a\", \"b\"");
  assert_found("{ 0.weight 0.bias a: { 0.weight 0.bias } }", "/", "", "", 2);
  assert_found("{ 0.weight a: { 0.weight 0.bias } }", "a", "a", "", 2);
  assert_found("{ m: { 0.weight 0.bias } again: { } }", "again", "again", "", 0);
}

static void contradictions_are_refused(void **state)
{
  (void)state;
  assert_refused("{ 0.weight a: { 0.weight 0.bias } }", NULL, OXP_BAD_FILE, "0.weight|also in one inside it");
  assert_refused("{ a: { 0.weight 0.bias 0.weight } }", NULL, OXP_BAD_FILE, "0.weight|set twice");
  assert_found("{ a: { 0.weight 0.bias } epoch: { x x } }", NULL, "a", "", 2); // elsewhere it is nobody's
}

// A dictionary that is named thousands of times is looked at once, and no more than 32 are: neither time nor memory follows.
static void many_dictionaries_are_not_all_looked_at(void **state)
{
  (void)state;
  oxp__text notation = { 0 };
  oxp__text_add(&notation, "{ ");
  for (int i = 0; i < 20000; i++)
    oxp__text_printf(&notation, "n%d: %s ", i, i % 2 ? "@" : "{ 0.weight }");
  oxp__text_add(&notation, "}");
  assert_found(oxp__text_string(&notation), NULL, "n0", "", 1);
  oxp__text_fini(&notation);
  oxp__text_add(&notation, "{ ");
  for (int i = 0; i < 100; i++)
    oxp__text_printf(&notation, "p%d.0.weight ", i);
  oxp__text_add(&notation, "p99.0.bias }");
  assert_found(oxp__text_string(&notation), NULL, "", "p0.", 1);
  oxp__text_fini(&notation);
}

static void names_are_listed_within_bounds(void **state)
{
  (void)state;
  oxp__arena arena = { 0 };
  oxp__state_dict found;
  oxp_error error = { 0 };
  oxp__text notation = { 0 }, text = { 0 };
  oxp__text_add(&notation, "{ ");
  for (int i = 0; i < 27; i++)
    oxp__text_printf(&notation, "name%d ", i);
  oxp__text_add(&notation, "}");
  assert_int_equal(find(&arena, oxp__text_string(&notation), NULL, &found, &error), OXP_OK);
  oxp__state_dict_describe(&found, &text);
  assert_all_words(oxp__text_string(&text), "the file has the names name0, name1,|name19 and 7 more");
  assert_null(strstr(oxp__text_string(&text), "name20"));
  oxp__text_fini(&text);
  oxp__text_fini(&notation);
  oxp__arena_fini(&arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_place_with_all_names_is_found), cmocka_unit_test(several_places_are_a_matter_of_choice),
    cmocka_unit_test(contradictions_are_refused),        cmocka_unit_test(many_dictionaries_are_not_all_looked_at),
    cmocka_unit_test(names_are_listed_within_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
