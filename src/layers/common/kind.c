// kind.c: what readers, builder and printers do with the rows: find them by name, fill parameter structs, check values.
// Knows no particular kind. Place: layers/common.
#include "layers/kind.h"

#include <math.h>
#include <string.h>

#include "core/text.h"

// --- Names of kinds ---

const oxp__kind *oxp__kind_by_name(const char *name)
{
  for (size_t i = 0; i < oxp__kind_count; i++)
    if (strcmp(oxp__kinds[i]->name, name) == 0)
      return oxp__kinds[i];
  return NULL;
}

const char *oxp__kind_dialect_name(const oxp__kind *kind, const char *dialect)
{
  for (int i = 0; i < OXP__MAX_DIALECTS && kind->names[i].dialect; i++)
    if (strcmp(kind->names[i].dialect, dialect) == 0)
      return kind->names[i].name;
  return NULL;
}

// A dialect may have several words for one kind: all of them are looked at.
static bool kind_is_called(const oxp__kind *kind, const char *dialect, const char *name)
{
  for (int i = 0; i < OXP__MAX_DIALECTS && kind->names[i].dialect; i++)
    if (kind->names[i].name[0] == name[0] && strcmp(kind->names[i].name, name) == 0 &&
        strcmp(kind->names[i].dialect, dialect) == 0)
      return true;
  return false;
}

const oxp__kind *oxp__kind_in_dialect(const char *dialect, const char *name)
{
  for (size_t i = 0; i < oxp__kind_count; i++)
    if (kind_is_called(oxp__kinds[i], dialect, name))
      return oxp__kinds[i];
  return NULL;
}

// --- Names and defaults of parameters ---

const oxp__param_alias *oxp__param_alias_in(const oxp__param *param, const char *dialect)
{
  for (int i = 0; dialect && i < OXP__MAX_DIALECTS && param->in[i].dialect; i++)
    if (strcmp(param->in[i].dialect, dialect) == 0)
      return &param->in[i];
  return NULL;
}

const char *oxp__param_dialect_name(const oxp__param *param, const char *dialect)
{
  const oxp__param_alias *alias = oxp__param_alias_in(param, dialect);
  return alias ? alias->name : param->name;
}

bool oxp__param_required(const oxp__param *param, const char *dialect)
{
  const oxp__param_alias *alias = oxp__param_alias_in(param, dialect);
  if (!alias)
    return param->required;
  return alias->required || (param->required && alias->name && !alias->has_value);
}

const oxp__param *oxp__param_find(const oxp__kind *kind, const char *dialect, const char *name)
{
  for (int i = 0; i < kind->param_count; i++) {
    const char *own = oxp__param_dialect_name(&kind->params[i], dialect);
    if (own && strcmp(own, name) == 0)
      return &kind->params[i];
  }
  return NULL;
}

// --- Storing values ---

static void *kind_field(const oxp__param *param, void *params)
{
  return (char *)params + param->offset;
}

// How many numbers the parameter's field has room for.
static int kind_capacity(const oxp__param *param)
{
  switch (param->type) {
  case OXP__PARAM_INTS:
  case OXP__PARAM_FLOATS:
    return param->count;
  case OXP__PARAM_LIST:
    return OXP_MAX_RANK;
  default:
    return 1;
  }
}

bool oxp__param_is_int(const oxp__param *param)
{
  return param->type == OXP__PARAM_INT || param->type == OXP__PARAM_INTS || param->type == OXP__PARAM_LIST;
}

static bool kind_is_float(const oxp__param *param)
{
  return param->type == OXP__PARAM_FLOAT || param->type == OXP__PARAM_FLOATS;
}

// The inverse of a plain cast for the whole numbers that a double can hold; OXP__UNSET is one of them.
static void kind_store_value(const oxp__param *param, void *params, double value)
{
  void *field = kind_field(param, params);
  switch (param->type) {
  case OXP__PARAM_INT:
  case OXP__PARAM_INTS:
    for (int i = 0; i < kind_capacity(param); i++)
      ((int64_t *)field)[i] = (int64_t)value;
    break;
  case OXP__PARAM_LIST:
    *(oxp__list *)field = (oxp__list){ .count = 1, .at = { (int64_t)value } };
    break;
  case OXP__PARAM_FLOAT:
  case OXP__PARAM_FLOATS:
    for (int i = 0; i < kind_capacity(param); i++)
      ((double *)field)[i] = value;
    break;
  case OXP__PARAM_BOOL:
    *(bool *)field = value > 0;
    break;
  case OXP__PARAM_CHOICE:
    *(int *)field = (int)value;
    break;
  }
}

static void kind_store_missing(const oxp__param *param, void *params)
{
  void *field = kind_field(param, params);
  if (param->type == OXP__PARAM_LIST)
    ((oxp__list *)field)->count = 0;
  else if (!oxp__param_is_int(param))
    kind_store_value(param, params, OXP__MISSING_REAL);
  else
    for (int i = 0; i < kind_capacity(param); i++)
      ((int64_t *)field)[i] = OXP__MISSING;
}

static bool kind_is_missing(const oxp__param *param, const void *params)
{
  if (!param->required)
    return false;
  if (param->type == OXP__PARAM_LIST)
    return oxp__param_number_count(param, params) == 0;
  if (oxp__param_is_int(param))
    return oxp__param_int(param, params, 0) == OXP__MISSING;
  double number = oxp__param_number(param, params, 0);
  return number <= OXP__MISSING_REAL && isfinite(number);
}

void oxp__params_default(const oxp__kind *kind, const char *dialect, void *params)
{
  if (kind->params_bytes > 0)
    memset(params, 0, kind->params_bytes);
  for (int i = 0; i < kind->param_count; i++) {
    const oxp__param *param = &kind->params[i];
    const oxp__param_alias *alias = oxp__param_alias_in(param, dialect);
    bool own_default = alias && alias->has_value;
    if (param->required && !own_default)
      kind_store_missing(param, params);
    else
      kind_store_value(param, params, own_default ? alias->value : param->value);
  }
}

// What a message says a parameter takes: "a number", "4 whole numbers, or one for all", "one of none, tanh".
static void kind_add_expected(oxp__text *text, const oxp__param *param)
{
  switch (param->type) {
  case OXP__PARAM_INT:
    oxp__text_add(text, "a whole number");
    break;
  case OXP__PARAM_INTS:
    oxp__text_printf(text, "%d whole numbers, or one for all", param->count);
    break;
  case OXP__PARAM_LIST:
    oxp__text_printf(text, "1 to %d whole numbers", OXP_MAX_RANK);
    break;
  case OXP__PARAM_FLOAT:
    oxp__text_add(text, "a number");
    break;
  case OXP__PARAM_FLOATS:
    oxp__text_printf(text, "%d numbers, or one for all", param->count);
    break;
  case OXP__PARAM_BOOL:
    oxp__text_add(text, "true or false (1 or 0)");
    break;
  case OXP__PARAM_CHOICE:
    oxp__text_add(text, "one of");
    for (int i = 0; param->tokens[i]; i++)
      oxp__text_printf(text, "%s %s", i > 0 ? "," : "", param->tokens[i]);
    break;
  }
}

static oxp_status kind_fail_type(const oxp__param *param, const char *given, oxp_error *error)
{
  oxp__text expected = { 0 };
  kind_add_expected(&expected, param);
  oxp_status status =
      oxp__fail(error, OXP_BAD_ARGUMENT, "%s is %s; it takes %s", param->name, given, oxp__text_string(&expected));
  oxp__text_fini(&expected);
  return status;
}

static oxp_status kind_fail_number(const oxp__param *param, double number, oxp_error *error)
{
  oxp__text given = { 0 };
  oxp__text_add_json_number(&given, number);
  oxp_status status = kind_fail_type(param, oxp__text_string(&given), error);
  oxp__text_fini(&given);
  return status;
}

static oxp_status kind_fail_range(const oxp__param *param, double number, oxp_error *error)
{
  oxp__text text = { 0 };
  oxp__text_printf(&text, "%s is ", param->name);
  oxp__text_add_json_number(&text, number);
  oxp__text_add(&text, "; allowed is ");
  oxp__text_add_json_number(&text, param->minimum);
  oxp__text_add(&text, " to ");
  oxp__text_add_json_number(&text, param->maximum);
  oxp_status status = oxp__fail(error, OXP_BAD_ARGUMENT, "%s", oxp__text_string(&text));
  oxp__text_fini(&text);
  return status;
}

static oxp_status kind_fail_large(const oxp__param *param, double number, oxp_error *error)
{
  oxp__text given = { 0 };
  oxp__text_add_json_number(&given, number);
  oxp_status status = oxp__fail(error, OXP_BAD_ARGUMENT, "%s is %s, which is too large to be held as a whole number",
                                param->name, oxp__text_string(&given));
  oxp__text_fini(&given);
  return status;
}

static oxp_status kind_check_range(const oxp__param *param, double number, oxp_error *error)
{
  bool any = param->minimum >= 0 && param->maximum <= 0; // both 0
  if (!any && !(number >= param->minimum && number <= param->maximum))
    return kind_fail_range(param, number, error);
  return OXP_OK;
}

static oxp_status kind_check_count(const oxp__param *param, int count, oxp_error *error)
{
  if (param->type == OXP__PARAM_LIST ? count >= 1 && count <= OXP_MAX_RANK
                                     : count == 1 || count == kind_capacity(param))
    return OXP_OK;
  oxp__text expected = { 0 };
  kind_add_expected(&expected, param);
  oxp_status status = oxp__fail(error, OXP_BAD_ARGUMENT, "%s was given %d numbers; it takes %s", param->name, count,
                                oxp__text_string(&expected));
  oxp__text_fini(&expected);
  return status;
}

// Puts one checked whole number where number `index` of the parameter lies.
static void kind_put_int(const oxp__param *param, void *params, int index, int64_t number)
{
  void *field = kind_field(param, params);
  switch (param->type) {
  case OXP__PARAM_LIST:
    ((oxp__list *)field)->at[index] = number;
    break;
  case OXP__PARAM_FLOAT:
  case OXP__PARAM_FLOATS:
    ((double *)field)[index] = (double)number;
    break;
  case OXP__PARAM_BOOL:
    *(bool *)field = number != 0;
    break;
  default:
    ((int64_t *)field)[index] = number;
  }
}

oxp_status oxp__param_set_ints(const oxp__param *param, void *params, int count, const int64_t *numbers,
                               oxp_error *error)
{
  if (param->type == OXP__PARAM_CHOICE)
    return kind_fail_number(param, count > 0 ? (double)numbers[0] : 0, error);
  OXP__TRY(kind_check_count(param, count, error));
  for (int i = 0; i < count; i++) {
    if ((oxp__param_is_int(param) && numbers[i] == OXP__UNSET) ||
        (param->type == OXP__PARAM_BOOL && numbers[i] != 0 && numbers[i] != 1))
      return kind_fail_number(param, (double)numbers[i], error);
    OXP__TRY(kind_check_range(param, (double)numbers[i], error));
  }
  if (param->type == OXP__PARAM_LIST)
    ((oxp__list *)kind_field(param, params))->count = count;
  int filled = param->type == OXP__PARAM_LIST ? count : kind_capacity(param);
  for (int i = 0; i < filled; i++)
    kind_put_int(param, params, i, numbers[count == 1 ? 0 : i]);
  return OXP_OK;
}

// Whole numbers given as floating-point ones go the way of whole numbers. 2^53 is where doubles stop being exact.
static oxp_status kind_set_whole(const oxp__param *param, void *params, int count, const double *numbers,
                                 oxp_error *error)
{
  int64_t whole[OXP_MAX_RANK];
  OXP__TRY(kind_check_count(param, count, error));
  for (int i = 0; i < count; i++) {
    if (!isfinite(numbers[i]) || floor(numbers[i]) < numbers[i])
      return kind_fail_number(param, numbers[i], error);
    OXP__TRY(kind_check_range(param, numbers[i], error));
    if (fabs(numbers[i]) > 9007199254740992.0)
      return kind_fail_large(param, numbers[i], error);
    whole[i] = (int64_t)numbers[i];
  }
  return oxp__param_set_ints(param, params, count, whole, error);
}

oxp_status oxp__param_set_numbers(const oxp__param *param, void *params, int count, const double *numbers,
                                  oxp_error *error)
{
  if (param->type == OXP__PARAM_CHOICE)
    return kind_fail_number(param, count > 0 ? numbers[0] : 0, error);
  if (!kind_is_float(param))
    return kind_set_whole(param, params, count, numbers, error);
  OXP__TRY(kind_check_count(param, count, error));
  for (int i = 0; i < count; i++) {
    if (!isfinite(numbers[i]) && param->open_ended)
      continue;
    if (!isfinite(numbers[i]))
      return kind_fail_number(param, numbers[i], error);
    OXP__TRY(kind_check_range(param, numbers[i], error));
  }
  for (int i = 0; i < kind_capacity(param); i++)
    ((double *)kind_field(param, params))[i] = numbers[count == 1 ? 0 : i];
  return OXP_OK;
}

// A dialect may say true or false where we have a choice of two (netcl's GELU): the second token is true.
oxp_status oxp__param_set_bool(const oxp__param *param, void *params, bool value, oxp_error *error)
{
  if (param->type == OXP__PARAM_BOOL) {
    *(bool *)kind_field(param, params) = value;
    return OXP_OK;
  }
  int index = value ? 1 : 0;
  bool of_two = param->type == OXP__PARAM_CHOICE && (!param->tokens[1] || !param->tokens[2]);
  if (!of_two || !param->tokens[index])
    return kind_fail_type(param, value ? "true" : "false", error);
  *(int *)kind_field(param, params) = index;
  return OXP_OK;
}

oxp_status oxp__param_set_text(const oxp__param *param, void *params, const char *text, oxp_error *error)
{
  for (int i = 0; param->type == OXP__PARAM_CHOICE && param->tokens[i]; i++) {
    if (strcmp(param->tokens[i], text) == 0) {
      *(int *)kind_field(param, params) = i;
      return OXP_OK;
    }
  }
  oxp__text given = { 0 };
  oxp__text_add_json(&given, text);
  oxp_status status = kind_fail_type(param, oxp__text_string(&given), error);
  oxp__text_fini(&given);
  return status;
}

oxp_status oxp__param_set_null(const oxp__param *param, void *params, oxp_error *error)
{
  if (!param->nullable)
    return kind_fail_type(param, "null", error);
  kind_store_value(param, params, oxp__param_is_int(param) ? (double)OXP__UNSET : NAN);
  return OXP_OK;
}

// --- Looking at values ---

int oxp__param_number_count(const oxp__param *param, const void *params)
{
  if (param->type != OXP__PARAM_LIST)
    return kind_capacity(param);
  return ((const oxp__list *)((const char *)params + param->offset))->count;
}

int64_t oxp__param_int(const oxp__param *param, const void *params, int index)
{
  const void *field = (const char *)params + param->offset;
  return param->type == OXP__PARAM_LIST ? ((const oxp__list *)field)->at[index] : ((const int64_t *)field)[index];
}

double oxp__param_number(const oxp__param *param, const void *params, int index)
{
  const void *field = (const char *)params + param->offset;
  switch (param->type) {
  case OXP__PARAM_FLOAT:
  case OXP__PARAM_FLOATS:
    return ((const double *)field)[index];
  case OXP__PARAM_BOOL:
    return *(const bool *)field ? 1 : 0;
  case OXP__PARAM_CHOICE:
    return *(const int *)field;
  default:
    break;
  }
  int64_t number = oxp__param_int(param, params, index);
  return number == OXP__UNSET ? NAN : (double)number;
}

oxp_status oxp__params_check(const oxp__kind *kind, const void *params, oxp_error *error)
{
  for (int i = 0; i < kind->param_count; i++) {
    const oxp__param *param = &kind->params[i];
    if (kind_is_missing(param, params))
      return oxp__fail(error, OXP_BAD_ARGUMENT, "parameter \"%s\" has no default and was not set", param->name);
    for (int k = 0; k < oxp__param_number_count(param, params); k++) {
      double number = oxp__param_number(param, params, k);
      bool beyond = (param->nullable && isnan(number)) || (param->open_ended && !isfinite(number));
      if (!beyond)
        OXP__TRY(kind_check_range(param, number, error));
    }
  }
  return OXP_OK;
}

// --- Weights ---

static const oxp__weight_alias *kind_weight_alias(const oxp__weight_row *row, const char *dialect)
{
  for (int i = 0; dialect && i < OXP__MAX_DIALECTS && row->in[i].dialect; i++)
    if (strcmp(row->in[i].dialect, dialect) == 0)
      return &row->in[i];
  return NULL;
}

const char *oxp__role_dialect_name(const oxp__weight_row *row, const char *dialect)
{
  const oxp__weight_alias *alias = kind_weight_alias(row, dialect);
  return alias ? alias->name : row->role;
}

const char *oxp__role_axes(const oxp__weight_row *row, const char *dialect)
{
  const oxp__weight_alias *alias = kind_weight_alias(row, dialect);
  return alias ? alias->axes : NULL;
}

int oxp__role_find(const oxp__kind *kind, const char *dialect, const char *name)
{
  for (int i = 0; i < kind->weight_count; i++) {
    const char *own = oxp__role_dialect_name(&kind->weights[i], dialect);
    if (own && strcmp(own, name) == 0)
      return i;
  }
  return -1;
}
