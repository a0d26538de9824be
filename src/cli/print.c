// print.c: output of the command. Place: cli.
#include "cli/print.h"

#include <inttypes.h>
#include <stdarg.h>
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

oxp__text oxp__print_start(oxp_error *error)
{
  return (oxp__text){ .drain = oxp__print_bytes, .error = error };
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
  bool shown = colour != OXP__PLAIN && shows_colours(stdout);
  oxp__text_add(text, shown ? colour_start(colour) : "");
  oxp__text_add_clean(text, string);
  oxp__text_add(text, shown ? "\033[0m" : "");
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

// The last column is not padded, and may be longer.
enum { GRID_CELL = 60, GRID_LAST_CELL = 200 };

void oxp__grid_init(oxp__grid *grid, const char *columns)
{
  *grid = (oxp__grid){ .columns = columns, .column_count = strlen(columns) };
}

void oxp__grid_add(oxp__grid *grid, const char *cell)
{
  size_t column = grid->count % grid->column_count;
  bool last = column + 1 == grid->column_count, heading = grid->count < grid->column_count;
  char colour = heading ? OXP__FAINT : OXP__PLAIN;
  grid->last = grid->cells.length;
  oxp__text_add_bytes(&grid->cells, &colour, 1);
  size_t width = oxp__text_add_short(&grid->cells, cell, last ? GRID_LAST_CELL : GRID_CELL);
  oxp__text_add_bytes(&grid->cells, "", 1);
  if (width > grid->widths[column])
    grid->widths[column] = width;
  grid->count++;
}

void oxp__grid_colour(oxp__grid *grid, oxp__colour colour)
{
  if (grid->count > 0 && !grid->cells.failed)
    grid->cells.bytes[grid->last] = (char)colour;
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
  grid->cells.failed |= text->failed;
  oxp__grid_add(grid, oxp__text_string(text));
  oxp__text_fini(text);
}

// A column's cell between its gaps; the last column is not padded on the right.
static void grid_cell(const oxp__grid *grid, size_t column, oxp__colour colour, const char *cell, oxp__text *text)
{
  bool right = grid->columns[column] == 'r', last = column + 1 == grid->column_count;
  int gap = (int)(grid->widths[column] - oxp__text_cells(cell));
  oxp__text_printf(text, "%*s", right ? gap : 0, "");
  if (last && !*cell)
    return;
  oxp__text_add_colour(text, colour, cell);
  oxp__text_printf(text, "%*s", last ? 0 : (right ? 0 : gap) + 2, "");
}

void oxp__grid_end(oxp__grid *grid, int indent, oxp__text *text)
{
  const char *at = oxp__text_string(&grid->cells);
  text->failed |= grid->cells.failed;
  for (size_t i = 0; !grid->cells.failed && i < grid->count; i++) {
    size_t column = i % grid->column_count;
    if (column == 0)
      oxp__text_printf(text, "%*s", indent, "");
    grid_cell(grid, column, (oxp__colour)at[0], at + 1, text);
    if (column + 1 == grid->column_count)
      oxp__text_add(text, "\n");
    at += strlen(at + 1) + 2;
  }
  oxp__text_fini(&grid->cells);
}
