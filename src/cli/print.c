// print.c: output of the command. Place: cli.
#include "cli/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

oxp_status oxp__print_bytes(void *context, const void *bytes, size_t count, oxp_error *error)
{
  (void)context;
  if (fwrite(bytes, 1, count, stdout) != count || fflush(stdout) != 0)
    return oxp__fail_errno(error, "standard output", "write");
  return OXP_OK;
}

oxp_status oxp__print(const char *string, oxp_error *error)
{
  return oxp__print_bytes(NULL, string, strlen(string), error);
}

oxp_status oxp__print_text(oxp__text *text, oxp_error *error)
{
  oxp_status status = oxp__text_status(text, error);
  if (status == OXP_OK)
    status = oxp__print(oxp__text_string(text), error);
  oxp__text_fini(text);
  return status;
}

// --- Colours ---

static bool shows_colours(FILE *stream)
{
  const char *off = getenv("NO_COLOR"), *kind = getenv("TERM");
  return isatty(fileno(stream)) && !(off && *off) && kind && strcmp(kind, "dumb") != 0;
}

static const char *colour_start(oxp__colour colour)
{
  static const char *const starts[] = { "", "\033[1m", "\033[2m", "\033[32m", "\033[31m" };
  return starts[colour];
}

void oxp__text_add_colour(oxp__text *text, oxp__colour colour, const char *string)
{
  if (colour == OXP__PLAIN || !shows_colours(stdout))
    oxp__text_add(text, string);
  else
    oxp__text_printf(text, "%s%s\033[0m", colour_start(colour), string);
}

void oxp__text_add_clean(oxp__text *text, const char *string)
{
  size_t start = text->length;
  oxp__text_add(text, string);
  if (!text->failed && text->length > start)
    oxp__text_clean(text->bytes + start);
}

static void print_message(const char *label, const char *start, const char *message)
{
  bool colours = shows_colours(stderr);
  fprintf(stderr, "%s%s:%s %s\n", colours ? start : "", label, colours ? "\033[0m" : "", message);
}

void oxp__print_warning(const char *message)
{
  print_message("warning", "\033[1;33m", message);
}

void oxp__print_error(const char *message)
{
  print_message("error", "\033[1;31m", message);
}

// --- Numbers for people ---

void oxp__text_add_count(oxp__text *text, int64_t count)
{
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%" PRId64, count);
  for (int i = 0; i < length; i++) {
    oxp__text_add_bytes(text, digits + i, 1);
    int left = length - 1 - i;
    if (left > 0 && left % 3 == 0 && digits[i] != '-')
      oxp__text_add(text, ",");
  }
}

void oxp__text_add_size(oxp__text *text, uint64_t bytes)
{
  static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
  double size = (double)bytes;
  size_t unit = 0;
  for (; size >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
    size /= 1000;
  if (unit == 0)
    oxp__text_printf(text, "%" PRIu64 " bytes", bytes);
  else
    oxp__text_printf(text, size < 10 ? "%.2f %s" : "%.1f %s", size, units[unit]);
}

// --- Tables ---

void oxp__grid_init(oxp__grid *grid, const char *columns)
{
  *grid = (oxp__grid){ .columns = columns };
}

void oxp__grid_add(oxp__grid *grid, const char *cell)
{
  oxp__cell *cells = oxp__arena_grow(&grid->arena, grid->cells, grid->count, &grid->capacity, sizeof *cells);
  char *copy = oxp__arena_copy(&grid->arena, cell);
  if (!cells || !copy) {
    grid->failed = true;
    return;
  }
  oxp__text_clean(copy);
  grid->cells = cells;
  bool heading = grid->count < strlen(grid->columns);
  cells[grid->count++] = (oxp__cell){ copy, heading ? OXP__FAINT : OXP__PLAIN };
}

void oxp__grid_colour(oxp__grid *grid, oxp__colour colour)
{
  if (grid->count > 0)
    grid->cells[grid->count - 1].colour = colour;
}

void oxp__grid_addf(oxp__grid *grid, const char *format, ...)
{
  char cell[512];
  va_list values;
  va_start(values, format);
  vsnprintf(cell, sizeof cell, format, values);
  va_end(values);
  oxp__grid_add(grid, cell);
}

void oxp__grid_take(oxp__grid *grid, oxp__text *text)
{
  grid->failed |= text->failed;
  oxp__grid_add(grid, oxp__text_string(text));
  oxp__text_fini(text);
}

// How many places a terminal needs: code points.
static int display_width(const char *cell)
{
  int width = 0;
  for (const char *at = cell; *at; at++)
    width += ((unsigned char)*at & 0xC0) != 0x80;
  return width;
}

static int column_width(const oxp__grid *grid, size_t column)
{
  int width = 0;
  for (size_t i = column; i < grid->count; i += strlen(grid->columns)) {
    int cell = display_width(grid->cells[i].text);
    width = cell > width ? cell : width;
  }
  return width;
}

// A column's cell between its gaps; the last column is not padded on the right.
static void grid_cell(const oxp__grid *grid, size_t index, int width, oxp__text *text)
{
  size_t column_count = strlen(grid->columns), column = index % column_count;
  const oxp__cell *cell = &grid->cells[index];
  int gap = width - display_width(cell->text);
  bool right = grid->columns[column] == 'r', last = column + 1 == column_count;
  oxp__text_printf(text, "%*s", right ? gap : 0, "");
  if (last && !*cell->text)
    return;
  oxp__text_add_colour(text, cell->colour, cell->text);
  oxp__text_printf(text, "%*s", last ? 0 : (right ? 0 : gap) + 2, "");
}

void oxp__grid_end(oxp__grid *grid, int indent, oxp__text *text)
{
  size_t column_count = strlen(grid->columns);
  int *widths = oxp__arena_new(&grid->arena, column_count, sizeof *widths);
  text->failed |= grid->failed || !widths;
  for (size_t column = 0; widths && column < column_count; column++)
    widths[column] = column_width(grid, column);
  for (size_t i = 0; widths && i < grid->count; i++) {
    if (i % column_count == 0)
      oxp__text_printf(text, "%*s", indent, "");
    grid_cell(grid, i, widths[i % column_count], text);
    if (i % column_count == column_count - 1)
      oxp__text_add(text, "\n");
  }
  oxp__arena_fini(&grid->arena);
}
