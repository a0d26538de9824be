// tables_print.h: writing reference tables in three styles. A table is a list of items (JSON objects, Markdown sections), each
// with fields and lists; or one list only. Knows nothing of what is in it. Place: engines.
#ifndef OXP_ENGINES_TABLES_PRINT_H
#define OXP_ENGINES_TABLES_PRINT_H

#include "core/arena.h"
#include "core/text.h"

typedef struct oxp__column {
  const char *key;     // JSON
  const char *heading; // text and Markdown
  bool plain;          // numbers and truth values: without quotes in JSON
} oxp__column;

// A rectangle of cells, row by row, that grows. Cells are borrowed; NULL is an empty one (JSON null).
typedef struct oxp__cells {
  const oxp__column *columns;
  size_t column_count;
  const char **at;
  size_t count, capacity; // cells
} oxp__cells;

typedef struct oxp__printer {
  oxp_table_style style;
  oxp__text text;
  oxp__arena arena; // for cells; freed with the printer
  bool failed;      // memory ran out
  bool need_comma;  // JSON
} oxp__printer;

// Document: its JSON key is what the list of items is called.
void oxp__print_open(oxp__printer *printer, const char *title, const char *key, const char *intro);
void oxp__print_close(oxp__printer *printer);

// One item with a name and a line about it; fields and lists go between.
void oxp__print_item(oxp__printer *printer, const char *name, const char *doc);
void oxp__print_field(oxp__printer *printer, const char *key, const char *heading, const char *value);
void oxp__print_list(oxp__printer *printer, const char *key, const char *heading, const oxp__cells *cells);
void oxp__print_item_end(oxp__printer *printer);

// The rows of a document that is one list.
void oxp__print_rows(oxp__printer *printer, const oxp__cells *cells);

// Adds a cell, and texts to put into cells; NULL (and `failed`) when memory is out.
void oxp__cells_add(oxp__printer *printer, oxp__cells *cells, const char *cell);
const char *oxp__cell_printf(oxp__printer *printer, const char *format, ...) OXP__PRINTF(2, 3);
const char *oxp__cell_text(oxp__printer *printer, oxp__text *text); // takes the text

void oxp__printer_fini(oxp__printer *printer);

#endif
