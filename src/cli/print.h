// print.h: everything the command puts on a screen: results on standard output, messages on standard error, tables, sizes,
// colours (only on a terminal, and not when NO_COLOR is set). Place: cli.
#ifndef OXP_CLI_PRINT_H
#define OXP_CLI_PRINT_H

#include "core/text.h"

// Writes to standard output; OXP_IO when it cannot take everything (a full disk, a closed pipe).
oxp_status oxp__print(const char *string, oxp_error *error);
// An empty text that leaves for standard output whenever it is long, however much is added; *borrows* `error`.
oxp__text oxp__print_start(oxp_error *error);
// Writes a text that was built, or the rest of one that was started so; frees it.
oxp_status oxp__print_text(oxp__text *text, oxp_error *error);
// An oxp_write_function to standard output; `context` is not used.
oxp_status oxp__print_bytes(void *context, const void *bytes, size_t count, oxp_error *error);

// `warning: ...` and `error: ...` on standard error.
void oxp__print_warning(const char *message);
void oxp__print_error(const char *message);

typedef enum oxp__colour { OXP__PLAIN, OXP__BOLD, OXP__FAINT, OXP__GREEN, OXP__RED } oxp__colour;

// The string, made safe to show, in a colour, when standard output shows colours.
void oxp__text_add_colour(oxp__text *text, oxp__colour colour, const char *string);

// "1,234,567", and "1.2 MB" (powers of 1000).
void oxp__text_add_count(oxp__text *text, int64_t count);
void oxp__text_add_size(oxp__text *text, uint64_t bytes);

// A table: cells are added one after another, row by row. The first row is the heading. `columns` holds one letter per
// column: 'l' aligned left, 'r' aligned right. What is in the cells is made safe to show, and where it is longer than a
// table's cell may be, its middle becomes an ellipsis: a long name must not make every row as long.
enum { OXP__GRID_COLUMNS = 12 };
typedef struct oxp__grid {
  const char *columns;
  size_t column_count;              // at most OXP__GRID_COLUMNS
  size_t widths[OXP__GRID_COLUMNS]; // of what was added so far
  oxp__text cells;                  // a colour and a text that ends in zero for each
  size_t count, last;               // cells, and where in the text the last one begins
} oxp__grid;

void oxp__grid_init(oxp__grid *grid, const char *columns);
void oxp__grid_add(oxp__grid *grid, const char *cell); // copies
void oxp__grid_addf(oxp__grid *grid, const char *format, ...) OXP__PRINTF(2, 3);
// A text as a cell; frees it.
void oxp__grid_take(oxp__grid *grid, oxp__text *text);
// Colours the cell that was added last.
void oxp__grid_colour(oxp__grid *grid, oxp__colour colour);
// Adds the table to `text`, each line after `indent` spaces, and frees it.
void oxp__grid_end(oxp__grid *grid, int indent, oxp__text *text);

#endif
