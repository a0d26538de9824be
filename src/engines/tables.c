// tables.c: the reference tables: what is said about the rows of kinds, profiles, formats, engines and statuses. Everything
// comes from the rows that the code itself works with; how it looks is tables_print.c. Place: engines.
#include <float.h>
#include <math.h>
#include <string.h>

#include "engines/engine.h"
#include "engines/tables_print.h"
#include "formats/format.h"
#include "layers/kind.h"
#include "net/profile.h"

// --- Layer kinds ---

static const char *tables_param_type(oxp__printer *printer, const oxp__param *param)
{
  static const char *const names[] = {
    [OXP__PARAM_INT] = "int",       [OXP__PARAM_INTS] = "ints",     [OXP__PARAM_LIST] = "list of ints",
    [OXP__PARAM_FLOAT] = "float",   [OXP__PARAM_FLOATS] = "floats", [OXP__PARAM_BOOL] = "bool",
    [OXP__PARAM_CHOICE] = "choice",
  };
  bool several = param->type == OXP__PARAM_INTS || param->type == OXP__PARAM_FLOATS;
  return several ? oxp__cell_printf(printer, "%d %s", param->count, names[param->type]) : names[param->type];
}

static void tables_add_number(oxp__text *text, double number)
{
  if (fabs(number) < 1e15 && number == floor(number))
    oxp__text_printf(text, "%lld", (long long)number);
  else
    oxp__text_add_json_number(text, number);
}

// A default as a person writes it.
static const char *tables_value(oxp__printer *printer, const oxp__param *param, double value)
{
  if (param->nullable && (isnan(value) || value == (double)OXP__UNSET))
    return "unset";
  if (param->type == OXP__PARAM_BOOL)
    return value != 0 ? "true" : "false";
  if (param->type == OXP__PARAM_CHOICE)
    return param->tokens[(int)value];
  oxp__text text = { 0 };
  tables_add_number(&text, value);
  return oxp__cell_text(printer, &text);
}

static const char *tables_range(oxp__printer *printer, const oxp__param *param)
{
  oxp__text text = { 0 };
  if (param->type == OXP__PARAM_CHOICE) {
    for (int i = 0; param->tokens[i]; i++)
      oxp__text_printf(&text, "%s%s", i ? ", " : "", param->tokens[i]);
  } else if (param->type == OXP__PARAM_BOOL) {
    oxp__text_add(&text, "true, false");
  } else if ((param->minimum == 0 && param->maximum == 0) || param->minimum == -(double)FLT_MAX) {
    oxp__text_add(&text, (param->type == OXP__PARAM_FLOAT || param->type == OXP__PARAM_FLOATS) && !param->open_ended
                             ? "finite"
                             : "any");
  } else if (param->maximum == INT32_MAX || param->maximum == (double)FLT_MAX) {
    tables_add_number(&text, param->minimum);
    oxp__text_add(&text, " or more");
  } else {
    tables_add_number(&text, param->minimum);
    oxp__text_add(&text, " to ");
    tables_add_number(&text, param->maximum);
  }
  return oxp__cell_text(printer, &text);
}

// "netcl: kernel_size (2)": the names and defaults that differ from the row's own.
static const char *tables_param_aliases(oxp__printer *printer, const oxp__param *param)
{
  oxp__text text = { 0 };
  for (int i = 0; i < OXP__MAX_DIALECTS && param->in[i].dialect; i++) {
    const oxp__param_alias *alias = &param->in[i];
    oxp__text_printf(&text, "%s%s: %s", text.length ? ", " : "", alias->dialect, alias->name ? alias->name : "fixed");
    if (alias->has_value || !alias->name)
      oxp__text_printf(&text, " (%s)", tables_value(printer, param, alias->has_value ? alias->value : param->value));
  }
  return oxp__cell_text(printer, &text);
}

static void tables_kind_names(oxp__printer *printer, const oxp__kind *kind)
{
  static const oxp__column columns[] = { { "format", "format", false }, { "name", "name", false } };
  oxp__cells cells = { .columns = columns, .column_count = OXP__COUNT(columns) };
  for (int i = 0; i < OXP__MAX_DIALECTS && kind->names[i].dialect; i++) {
    oxp__cells_add(printer, &cells, kind->names[i].dialect);
    oxp__cells_add(printer, &cells, kind->names[i].name);
  }
  oxp__print_list(printer, "names", "called", &cells);
}

static void tables_kind_params(oxp__printer *printer, const oxp__kind *kind)
{
  static const oxp__column columns[] = {
    { "name", "parameter", false }, { "type", "type", false },         { "default", "default", false },
    { "range", "range", false },    { "aliases", "elsewhere", false }, { "doc", "meaning", false },
  };
  oxp__cells cells = { .columns = columns, .column_count = OXP__COUNT(columns) };
  for (int i = 0; i < kind->param_count; i++) {
    const oxp__param *param = &kind->params[i];
    oxp__cells_add(printer, &cells, param->name);
    oxp__cells_add(printer, &cells, tables_param_type(printer, param));
    oxp__cells_add(printer, &cells, param->required ? "must be given" : tables_value(printer, param, param->value));
    oxp__cells_add(printer, &cells, tables_range(printer, param));
    oxp__cells_add(printer, &cells, tables_param_aliases(printer, param));
    oxp__cells_add(printer, &cells, param->doc);
  }
  oxp__print_list(printer, "parameters", "parameters", &cells);
}

static const char *tables_weight_aliases(oxp__printer *printer, const oxp__weight_row *row)
{
  oxp__text text = { 0 };
  for (int i = 0; i < OXP__MAX_DIALECTS && row->in[i].dialect; i++) {
    const oxp__weight_alias *alias = &row->in[i];
    oxp__text_printf(&text, "%s%s: %s", text.length ? ", " : "", alias->dialect, alias->name ? alias->name : row->role);
    if (alias->axes)
      oxp__text_printf(&text, " (axes in the order %s)", alias->axes);
  }
  return oxp__cell_text(printer, &text);
}

static void tables_kind_weights(oxp__printer *printer, const oxp__kind *kind)
{
  static const oxp__column columns[] = { { "role", "weight", false },
                                         { "doc", "axes", false },
                                         { "aliases", "elsewhere", false } };
  oxp__cells cells = { .columns = columns, .column_count = OXP__COUNT(columns) };
  for (int i = 0; i < kind->weight_count; i++) {
    oxp__cells_add(printer, &cells, kind->weights[i].role);
    oxp__cells_add(printer, &cells, kind->weights[i].doc);
    oxp__cells_add(printer, &cells, tables_weight_aliases(printer, &kind->weights[i]));
  }
  oxp__print_list(printer, "weights", "weights", &cells);
}

static void tables_layers(oxp__printer *printer)
{
  oxp__print_open(printer, "Layer kinds", "layers",
                  "Every kind of layer a network can hold, with what it computes in inference.");
  for (size_t i = 0; i < oxp__kind_count; i++) {
    const oxp__kind *kind = oxp__kinds[i];
    oxp__print_item(printer, kind->name, kind->doc);
    oxp__print_field(printer, "formula", "formula", kind->formula);
    tables_kind_names(printer, kind);
    tables_kind_params(printer, kind);
    tables_kind_weights(printer, kind);
    oxp__print_item_end(printer);
  }
  oxp__print_close(printer);
}

// --- Profiles, formats ---

static const char *tables_dense(oxp__dense_form form)
{
  static const char *const forms[] = {
    [OXP__DENSE_GEMM] = "Gemm, never transB",
    [OXP__DENSE_GEMM_AS_STORED] = "Gemm, transB as stored",
    [OXP__DENSE_GEMM_TRANSB] = "Gemm with transB",
    [OXP__DENSE_MATMUL_ADD] = "MatMul and Add",
  };
  return forms[form];
}

static void tables_profiles(oxp__printer *printer)
{
  static const oxp__column columns[] = {
    { "name", "profile", false },         { "opset", "opset", true },
    { "min_opset", "from", true },        { "max_opset", "to", true },
    { "ir_version", "IR version", true }, { "producer", "producer", false },
    { "batch", "batch", false },          { "dtype", "type", false },
    { "dense", "dense layers", false },   { "shares_weights", "shared weights", false },
    { "doc", "what it writes", false },
  };
  oxp__cells cells = { .columns = columns, .column_count = OXP__COUNT(columns) };
  oxp__print_open(printer, "Profiles", "profiles",
                  "How the exported file looks. An empty IR version is the lowest that the opset allows; an empty type "
                  "is the network's own.");
  for (size_t i = 0; i < oxp__profile_count; i++) {
    const oxp__profile *profile = oxp__profiles[i];
    oxp__cells_add(printer, &cells, profile->name);
    oxp__cells_add(printer, &cells, oxp__cell_printf(printer, "%d", profile->opset));
    oxp__cells_add(printer, &cells, oxp__cell_printf(printer, "%d", profile->min_opset));
    oxp__cells_add(printer, &cells, oxp__cell_printf(printer, "%d", profile->max_opset));
    oxp__cells_add(printer, &cells, profile->ir_version ? oxp__cell_printf(printer, "%d", profile->ir_version) : NULL);
    oxp__cells_add(printer, &cells, profile->producer_name);
    oxp__cells_add(printer, &cells, profile->batch_symbol);
    oxp__cells_add(printer, &cells, profile->dtype ? oxp_dtype_name(profile->dtype) : NULL);
    oxp__cells_add(printer, &cells, tables_dense(profile->dense));
    oxp__cells_add(printer, &cells, profile->shares_weights ? "stored once" : "a copy each");
    oxp__cells_add(printer, &cells, profile->doc);
  }
  oxp__print_rows(printer, &cells);
  oxp__print_close(printer);
}

static void tables_formats(oxp__printer *printer)
{
  static const oxp__column columns[] = { { "name", "format", false },
                                         { "suffixes", "usual suffix", false },
                                         { "readable", "read", true },
                                         { "writable", "written", true },
                                         { "doc", "what it is", false } };
  oxp__cells cells = { .columns = columns, .column_count = OXP__COUNT(columns) };
  oxp__print_open(printer, "Formats", "formats", "Files are recognised by what is in them, not by their suffix.");
  for (size_t i = 0; i < oxp__format_count; i++) {
    const oxp__format *format = oxp__formats[i];
    oxp__cells_add(printer, &cells, format->name);
    oxp__cells_add(printer, &cells, format->suffixes);
    oxp__cells_add(printer, &cells, format->read ? "true" : "false");
    oxp__cells_add(printer, &cells, format->write ? "true" : "false");
    oxp__cells_add(printer, &cells, format->doc);
  }
  oxp__print_rows(printer, &cells);
  oxp__print_close(printer);
}

// --- Engines ---

// An engine that cannot be used here is a row like any other; the reason is in it.
static void tables_engine_found(oxp__printer *printer, const oxp__engine *engine, oxp__cells *cells)
{
  oxp__text found = { 0 };
  oxp_error why = { 0 };
  bool usable = engine->probe(NULL, &found, &why) == OXP_OK;
  if (!usable) {
    oxp__text_fini(&found);
    oxp__text_add(&found, why.message);
  }
  oxp__cells_add(printer, cells, usable ? "true" : "false");
  oxp__cells_add(printer, cells, oxp__cell_text(printer, &found));
}

// Pages in Markdown are the same on every machine: they leave out what is found on this one.
static void tables_engines(oxp__printer *printer)
{
  static const oxp__column columns[] = {
    { "name", "engine", false },    { "devices", "devices", false }, { "runs", "runs", false },
    { "doc", "what it is", false }, { "usable", "usable", true },    { "found", "found here", false },
  };
  bool with_found = printer->style != OXP_STYLE_MARKDOWN;
  oxp__cells cells = { .columns = columns, .column_count = OXP__COUNT(columns) - (with_found ? 0 : 2) };
  oxp__print_open(printer, "Engines", "engines",
                  "An engine is named `name` or `name:device`; the first device is the default.");
  for (size_t i = 0; i < oxp__engine_count; i++) {
    const oxp__engine *engine = oxp__engines[i];
    oxp__cells_add(printer, &cells, engine->name);
    oxp__cells_add(printer, &cells, engine->devices);
    oxp__cells_add(printer, &cells, engine->open_network ? "networks" : "ONNX graphs");
    oxp__cells_add(printer, &cells, engine->doc);
    if (with_found)
      tables_engine_found(printer, engine, &cells);
  }
  oxp__print_rows(printer, &cells);
  oxp__print_close(printer);
}

// --- Statuses ---

static void tables_errors(oxp__printer *printer)
{
  static const oxp__column columns[] = { { "name", "status", false },
                                         { "exit_code", "exit code", true },
                                         { "doc", "meaning", false } };
  static const oxp_status statuses[] = {
#define TABLES_STATUS(name, exit_code, text) name,
    OXP_STATUS_LIST(TABLES_STATUS)
#undef TABLES_STATUS
  };
  oxp__cells cells = { .columns = columns, .column_count = OXP__COUNT(columns) };
  oxp__print_open(printer, "Errors", "errors", "What the functions return, and the exit code of the command for each.");
  for (size_t i = 0; i < OXP__COUNT(statuses); i++) {
    oxp__cells_add(printer, &cells, oxp_status_name(statuses[i]));
    oxp__cells_add(printer, &cells, oxp__cell_printf(printer, "%d", oxp_status_exit_code(statuses[i])));
    oxp__cells_add(printer, &cells, oxp_status_text(statuses[i]));
  }
  oxp__print_rows(printer, &cells);
  oxp__print_close(printer);
}

oxp_status oxp_table_write(oxp_table table, oxp_table_style style, oxp_write_function write, void *context,
                           oxp_error *error)
{
  OXP__NEED(write, error);
  static void (*const printers[])(oxp__printer *) = {
    [OXP_TABLE_LAYERS] = tables_layers,   [OXP_TABLE_PROFILES] = tables_profiles, [OXP_TABLE_FORMATS] = tables_formats,
    [OXP_TABLE_ENGINES] = tables_engines, [OXP_TABLE_ERRORS] = tables_errors,
  };
  if ((size_t)table >= OXP__COUNT(printers) || (size_t)style > OXP_STYLE_JSON)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "there is no reference table %d in style %d", (int)table, (int)style);
  oxp__printer printer = { .style = style };
  printers[table](&printer);
  oxp_status status =
      printer.failed ? oxp__fail_memory(error, printer.text.length) : oxp__text_status(&printer.text, error);
  oxp_error own;
  oxp__error_clear(&own);
  if (status == OXP_OK) {
    status = write(context, oxp__text_string(&printer.text), printer.text.length, &own);
    oxp__take_failure(status, &own, "the function that takes the table's bytes", error);
  }
  oxp__printer_fini(&printer);
  return status;
}
