// tables_print.c: see tables_print.h. Place: engines.
#include <stdio.h>
#include <string.h>

#include "engines/tables_print.h"

// --- Cells ---

void oxp__cells_add(oxp__printer *printer, oxp__cells *cells, const char *cell)
{
  void *at = oxp__arena_grow(&printer->arena, (void *)cells->at, cells->count, &cells->capacity, sizeof(char *));
  if (!at) {
    printer->failed = true;
    return;
  }
  cells->at = at;
  cells->at[cells->count++] = cell;
}

const char *oxp__cell_printf(oxp__printer *printer, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  char text[256];
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char *copy = oxp__arena_copy(&printer->arena, text);
  printer->failed |= !copy;
  return copy;
}

const char *oxp__cell_text(oxp__printer *printer, oxp__text *text)
{
  const char *copy = text->length ? oxp__arena_copy(&printer->arena, oxp__text_string(text)) : NULL;
  printer->failed |= text->failed || (text->length && !copy);
  oxp__text_fini(text);
  return copy;
}

void oxp__printer_fini(oxp__printer *printer)
{
  oxp__text_fini(&printer->text);
  oxp__arena_fini(&printer->arena);
}

// --- JSON ---

static void print_json_key(oxp__printer *printer, const char *key)
{
  oxp__text_add(&printer->text, printer->need_comma ? ", " : "");
  oxp__text_add_json(&printer->text, key);
  oxp__text_add(&printer->text, ": ");
  printer->need_comma = true;
}

static void print_json_cell(oxp__printer *printer, const oxp__column *column, const char *cell)
{
  print_json_key(printer, column->key);
  if (!cell || column->plain)
    oxp__text_add(&printer->text, cell ? cell : "null");
  else
    oxp__text_add_json(&printer->text, cell);
}

static void print_json_rows(oxp__printer *printer, const oxp__cells *cells, const char *indent)
{
  for (size_t i = 0; i < cells->count; i += cells->column_count) {
    oxp__text_printf(&printer->text, "%s\n%s{ ", i ? "," : "", indent);
    printer->need_comma = false;
    for (size_t k = 0; k < cells->column_count; k++)
      print_json_cell(printer, &cells->columns[k], cells->at[i + k]);
    oxp__text_add(&printer->text, " }");
  }
  printer->need_comma = true;
}

// --- Markdown ---

// A bar would end the cell.
static void print_markdown_cell(oxp__printer *printer, const char *cell)
{
  oxp__text_add(&printer->text, " ");
  for (; cell && *cell; cell++)
    oxp__text_printf(&printer->text, "%s%c", *cell == '|' ? "\\" : "", *cell);
  oxp__text_add(&printer->text, " |");
}

static void print_markdown_rows(oxp__printer *printer, const oxp__cells *cells)
{
  oxp__text *text = &printer->text;
  oxp__text_add(text, "|");
  for (size_t k = 0; k < cells->column_count; k++)
    print_markdown_cell(printer, cells->columns[k].heading);
  oxp__text_add(text, "\n|");
  for (size_t k = 0; k < cells->column_count; k++)
    oxp__text_add(text, " --- |");
  oxp__text_add(text, "\n");
  for (size_t i = 0; i < cells->count; i += cells->column_count) {
    oxp__text_add(text, "|");
    for (size_t k = 0; k < cells->column_count; k++)
      print_markdown_cell(printer, cells->at[i + k]);
    oxp__text_add(text, "\n");
  }
  oxp__text_add(text, "\n");
}

// --- Text: aligned columns, the last one as long as it is ---

static size_t print_width(const oxp__cells *cells, size_t column)
{
  size_t width = strlen(cells->columns[column].heading);
  for (size_t i = column; i < cells->count; i += cells->column_count)
    if (cells->at[i] && strlen(cells->at[i]) > width)
      width = strlen(cells->at[i]);
  return width;
}

static void print_text_row(oxp__printer *printer, const oxp__cells *cells, const char *indent, size_t first,
                           bool heading)
{
  oxp__text_add(&printer->text, indent);
  for (size_t k = 0; k < cells->column_count; k++) {
    const char *cell = heading ? cells->columns[k].heading : cells->at[first + k];
    int width = k + 1 < cells->column_count ? (int)print_width(cells, k) + 2 : 0;
    oxp__text_printf(&printer->text, "%-*s", width, cell ? cell : "");
  }
  while (printer->text.length > 0 && printer->text.bytes[printer->text.length - 1] == ' ')
    printer->text.bytes[--printer->text.length] = '\0';
  oxp__text_add(&printer->text, "\n");
}

static void print_text_rows(oxp__printer *printer, const oxp__cells *cells, const char *indent)
{
  print_text_row(printer, cells, indent, 0, true);
  for (size_t i = 0; i < cells->count; i += cells->column_count)
    print_text_row(printer, cells, indent, i, false);
}

// --- Documents ---

void oxp__print_open(oxp__printer *printer, const char *title, const char *key, const char *intro)
{
  if (printer->style == OXP_STYLE_JSON) {
    oxp__text_add(&printer->text, "{");
    print_json_key(printer, key);
    oxp__text_add(&printer->text, "[");
    printer->need_comma = false;
  } else if (printer->style == OXP_STYLE_MARKDOWN) {
    oxp__text_printf(&printer->text, "# %s\n\n%s\n\n", title, intro);
  }
}

void oxp__print_close(oxp__printer *printer)
{
  if (printer->style == OXP_STYLE_JSON)
    oxp__text_add(&printer->text, "\n]}\n");
}

void oxp__print_item(oxp__printer *printer, const char *name, const char *doc)
{
  oxp__text *text = &printer->text;
  if (printer->style == OXP_STYLE_JSON) {
    oxp__text_add(text, printer->need_comma ? ",\n  { " : "\n  { ");
    printer->need_comma = false;
    print_json_cell(printer, &(oxp__column){ .key = "name" }, name);
    print_json_cell(printer, &(oxp__column){ .key = "doc" }, doc);
  } else if (printer->style == OXP_STYLE_MARKDOWN) {
    oxp__text_printf(text, "## %s\n\n%s\n\n", name, doc);
  } else {
    oxp__text_printf(text, "%s%s: %s\n", text->length ? "\n" : "", name, doc);
  }
}

void oxp__print_field(oxp__printer *printer, const char *key, const char *heading, const char *value)
{
  if (printer->style == OXP_STYLE_JSON)
    print_json_cell(printer, &(oxp__column){ .key = key }, value);
  else if (value && printer->style == OXP_STYLE_MARKDOWN)
    oxp__text_printf(&printer->text, "%s: `%s`\n\n", heading, value);
  else if (value)
    oxp__text_printf(&printer->text, "  %s: %s\n", heading, value);
}

void oxp__print_list(oxp__printer *printer, const char *key, const char *heading, const oxp__cells *cells)
{
  if (printer->style == OXP_STYLE_JSON) {
    print_json_key(printer, key);
    oxp__text_add(&printer->text, "[");
    print_json_rows(printer, cells, "      ");
    oxp__text_add(&printer->text, cells->count ? "\n    ]" : "]");
  } else if (cells->count > 0 && printer->style == OXP_STYLE_MARKDOWN) {
    oxp__text_printf(&printer->text, "%s:\n\n", heading);
    print_markdown_rows(printer, cells);
  } else if (cells->count > 0) {
    oxp__text_printf(&printer->text, "  %s:\n", heading);
    print_text_rows(printer, cells, "    ");
  }
}

void oxp__print_item_end(oxp__printer *printer)
{
  if (printer->style == OXP_STYLE_JSON)
    oxp__text_add(&printer->text, " }");
}

void oxp__print_rows(oxp__printer *printer, const oxp__cells *cells)
{
  if (printer->style == OXP_STYLE_JSON)
    print_json_rows(printer, cells, "  ");
  else if (printer->style == OXP_STYLE_MARKDOWN)
    print_markdown_rows(printer, cells);
  else
    print_text_rows(printer, cells, "");
}
