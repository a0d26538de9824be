// Reference tables: every row of every list is in them, JSON is JSON, and failures are passed on.
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "core/text.h"
#include "engines/engine.h"
#include "formats/format.h"
#include "layers/kind.h"
#include "net/profile.h"

static oxp_status collect(void *text, const void *bytes, size_t count, oxp_error *error)
{
  oxp__text_add_bytes(text, bytes, count);
  return oxp__text_status(text, error);
}

static oxp__text print(oxp_table table, oxp_table_style style)
{
  oxp__text text = { 0 };
  oxp_error error = { 0 };
  if (oxp_table_write(table, style, collect, &text, &error) != OXP_OK)
    fail_msg("%s", error.message);
  assert_true(text.length > 0 && text.bytes[text.length - 1] == '\n');
  return text;
}

static json_t *print_json(oxp_table table, const char *key)
{
  oxp__text text = print(table, OXP_STYLE_JSON);
  json_error_t why;
  json_t *json = json_loads(oxp__text_string(&text), JSON_REJECT_DUPLICATES, &why);
  if (!json)
    fail_msg("line %d: %s", why.line, why.text);
  oxp__text_fini(&text);
  json_t *rows = json_incref(json_object_get(json, key));
  json_decref(json);
  assert_true(json_is_array(rows));
  return rows;
}

static const char *name_of(const json_t *rows, size_t index)
{
  return json_string_value(json_object_get(json_array_get(rows, index), "name"));
}

static void every_kind_is_listed(void **state)
{
  (void)state;
  json_t *rows = print_json(OXP_TABLE_LAYERS, "layers");
  assert_int_equal(json_array_size(rows), oxp__kind_count);
  for (size_t i = 0; i < oxp__kind_count; i++) {
    const json_t *row = json_array_get(rows, i);
    assert_string_equal(name_of(rows, i), oxp__kinds[i]->name);
    assert_int_equal(json_array_size(json_object_get(row, "parameters")), oxp__kinds[i]->param_count);
    assert_int_equal(json_array_size(json_object_get(row, "weights")), oxp__kinds[i]->weight_count);
  }
  json_decref(rows);
}

static void every_profile_format_and_engine_is_listed(void **state)
{
  (void)state;
  json_t *profiles = print_json(OXP_TABLE_PROFILES, "profiles");
  assert_int_equal(json_array_size(profiles), oxp__profile_count);
  assert_int_equal(json_integer_value(json_object_get(json_array_get(profiles, 0), "opset")), oxp__profiles[0]->opset);
  json_t *formats = print_json(OXP_TABLE_FORMATS, "formats");
  assert_int_equal(json_array_size(formats), oxp__format_count);
  json_t *engines = print_json(OXP_TABLE_ENGINES, "engines");
  assert_int_equal(json_array_size(engines), oxp__engine_count);
  for (size_t i = 0; i < oxp__engine_count; i++) {
    const json_t *row = json_array_get(engines, i);
    assert_string_equal(name_of(engines, i), oxp__engines[i]->name);
    assert_true(json_is_boolean(json_object_get(row, "usable")));
    assert_true(json_is_string(json_object_get(row, "found")));
  }
  json_decref(profiles);
  json_decref(formats);
  json_decref(engines);
}

static void every_status_is_listed(void **state)
{
  (void)state;
  json_t *rows = print_json(OXP_TABLE_ERRORS, "errors");
  assert_int_equal(json_array_size(rows), OXP_ENGINE_FAILED + 1);
  for (int i = 0; i <= OXP_ENGINE_FAILED; i++) {
    assert_string_equal(name_of(rows, (size_t)i), oxp_status_name((oxp_status)i));
    assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, (size_t)i), "exit_code")),
                     oxp_status_exit_code((oxp_status)i));
  }
  json_decref(rows);
}

static void pages_have_a_title_and_no_trailing_blanks(void **state)
{
  (void)state;
  for (int table = OXP_TABLE_LAYERS; table <= OXP_TABLE_ERRORS; table++)
    for (int style = OXP_STYLE_TEXT; style <= OXP_STYLE_MARKDOWN; style++) {
      oxp__text text = print((oxp_table)table, (oxp_table_style)style);
      assert_true(style == OXP_STYLE_TEXT || strncmp(text.bytes, "# ", 2) == 0);
      assert_null(strstr(text.bytes, " \n"));
      oxp__text_fini(&text);
    }
}

static void a_page_does_not_depend_on_the_machine(void **state)
{
  (void)state;
  oxp__text text = print(OXP_TABLE_ENGINES, OXP_STYLE_MARKDOWN);
  assert_null(strstr(text.bytes, "found here"));
  oxp__text_fini(&text);
}

static oxp_status refuse(void *context, const void *bytes, size_t count, oxp_error *error)
{
  (void)context;
  (void)bytes;
  (void)count;
  return oxp__fail(error, OXP_IO, "full");
}

static void failures_are_passed_on(void **state)
{
  (void)state;
  assert_int_equal(oxp_table_write(OXP_TABLE_ERRORS, OXP_STYLE_TEXT, refuse, NULL, NULL), OXP_IO);
  assert_int_equal(oxp_table_write((oxp_table)99, OXP_STYLE_TEXT, refuse, NULL, NULL), OXP_BAD_ARGUMENT);
  assert_int_equal(oxp_table_write(OXP_TABLE_ERRORS, (oxp_table_style)9, refuse, NULL, NULL), OXP_BAD_ARGUMENT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_kind_is_listed),
    cmocka_unit_test(every_profile_format_and_engine_is_listed),
    cmocka_unit_test(every_status_is_listed),
    cmocka_unit_test(pages_have_a_title_and_no_trailing_blanks),
    cmocka_unit_test(a_page_does_not_depend_on_the_machine),
    cmocka_unit_test(failures_are_passed_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
