// subject.c: opening SRC and describing it. Place: cli.
#include "cli/subject.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/offers.h"
#include "cli/onnx_text.h"

enum { IR_VERSION_TAG = 0x08 }; // field 1, a number

bool oxp__path_is_onnx(const char *path)
{
  const char *suffix = strrchr(path, '.');
  if (suffix && strcmp(suffix, ".onnx") == 0)
    return true;
  oxp__arena arena = { 0 };
  oxp__file *file = NULL;
  unsigned char first = 0;
  bool found = oxp__file_open(&arena, path, &file, NULL) == OXP_OK && file->size_bytes > 0 &&
               oxp__file_read(file, 0, &first, 1, NULL) == OXP_OK && first == IR_VERSION_TAG;
  oxp__arena_fini(&arena);
  return found;
}

oxp_status oxp__subject_open(oxp__subject *subject, const oxp__arguments *arguments, oxp_error *error)
{
  const char *path = oxp__operand_path(arguments, 0);
  oxp_open_options options = { 0 };
  OXP__TRY(oxp__request_source(arguments, &options, error));
  if (!options.format && oxp__path_is_onnx(path)) {
    OXP__TRY(oxp__options_idle(arguments, &oxp__source_group, "on an ONNX model", error));
    return oxp_graph_open(path, &subject->graph, error);
  }
  return oxp__offers_open(arguments, &options, &subject->network, error);
}

oxp_status oxp__subject_open_network(oxp_network **network, const oxp__arguments *arguments, const char *hint,
                                     oxp_error *error)
{
  oxp__subject subject = { 0 };
  OXP__TRY(oxp__subject_open(&subject, arguments, error));
  *network = subject.network;
  if (!subject.graph)
    return OXP_OK;
  oxp_graph_free(subject.graph);
  oxp_status status = oxp__fail(error, OXP_BAD_ARGUMENT, "this is an ONNX model already; %s", hint);
  return oxp__at_file(error, status, oxp__operand(arguments, 0));
}

void oxp__subject_add_sources(const oxp__subject *subject, oxp__sources *sources)
{
  if (subject->network)
    oxp__network_add_sources(subject->network, sources);
  if (subject->graph)
    oxp__graph_add_sources(subject->graph, sources);
}

void oxp__subject_close(oxp__subject *subject)
{
  oxp_graph_free(subject->graph);
  oxp_network_free(subject->network);
  *subject = (oxp__subject){ 0 };
}

// --- Shapes ---

// NULL where nothing is known.
static const char *dim_symbol(const oxp__subject *subject, int64_t dim)
{
  if (subject->graph)
    return oxp_graph_dim_name(subject->graph, dim);
  return dim == OXP_DIM_UNKNOWN ? NULL : oxp__dim_name(dim);
}

void oxp__subject_add_shape(oxp__text *text, const oxp__subject *subject, int rank, const int64_t *shape)
{
  if (rank < 0) {
    oxp__text_add(text, "?");
    return;
  }
  oxp__text_add(text, "(");
  for (int i = 0; i < rank; i++) {
    const char *symbol = shape[i] < 0 ? dim_symbol(subject, shape[i]) : NULL;
    oxp__text_add(text, i > 0 ? ", " : "");
    if (shape[i] >= 0)
      oxp__text_printf(text, "%" PRId64, shape[i]);
    else
      oxp__text_add(text, symbol ? symbol : "?");
  }
  oxp__text_add(text, rank == 1 ? ",)" : ")");
}

void oxp__subject_json_shape(oxp__json *json, const oxp__subject *subject, int rank, const int64_t *shape)
{
  if (rank < 0) {
    oxp__json_text(json, "shape", NULL);
    return;
  }
  oxp__json_array(json, "shape");
  for (int i = 0; i < rank; i++)
    oxp__json_dim(json, shape[i], shape[i] < 0 ? dim_symbol(subject, shape[i]) : NULL);
  oxp__json_end(json, ']');
}

// --- Inputs and outputs ---

bool oxp__subject_value(const oxp__subject *subject, bool output, int index, oxp_value_info *info)
{
  if (subject->graph)
    return output ? oxp_graph_output_info(subject->graph, index, info)
                  : oxp_graph_input_info(subject->graph, index, info);
  oxp_value value = output ? oxp_network_output(subject->network, index) : oxp_network_input(subject->network, index);
  return value >= 0 && oxp_network_value_info(subject->network, value, info);
}

// The names that a network's nameless outputs get in a graph.
static const char *value_name(const oxp_value_info *info, bool output)
{
  return info->name && *info->name ? info->name : output ? "output" : "input";
}

// The type of a model's value when it is no plain array; NULL for others.
static const oxp__type *rich_type(const oxp__subject *subject, bool output, int index)
{
  const oxp__value_info *info = subject->graph ? oxp__graph_value(subject->graph, output, index) : NULL;
  return info && info->type && !info->type->tensor ? info->type : NULL;
}

static void json_type(oxp__json *json, const oxp__type *type)
{
  oxp__text name = { 0 };
  oxp__onnx_add_type(&name, type);
  oxp__json_text(json, "dtype", oxp__text_string(&name));
  oxp__onnx_json_type_shape(json, type);
  json->text.failed |= name.failed;
  oxp__text_fini(&name);
}

static void json_values(oxp__json *json, const oxp__subject *subject, bool output)
{
  oxp_value_info info;
  oxp__json_array(json, output ? "outputs" : "inputs");
  for (int i = 0; oxp__subject_value(subject, output, i, &info); i++) {
    const oxp__type *type = rich_type(subject, output, i);
    oxp__json_object(json, NULL);
    oxp__json_text(json, "name", value_name(&info, output));
    if (type) {
      json_type(json, type);
    } else {
      oxp__json_text(json, "dtype", oxp_dtype_name(info.dtype));
      oxp__subject_json_shape(json, subject, info.rank, info.shape);
    }
    oxp__json_end(json, '}');
  }
  oxp__json_end(json, ']');
}

void oxp__subject_json(oxp__json *json, const oxp__subject *subject)
{
  json_values(json, subject, false);
  json_values(json, subject, true);
}

static void grid_values(oxp__grid *grid, const oxp__subject *subject, bool output)
{
  oxp_value_info info;
  for (int i = 0; oxp__subject_value(subject, output, i, &info); i++) {
    const oxp__type *rich = rich_type(subject, output, i);
    oxp__text type = { 0 }, shape = { 0 };
    if (rich) {
      oxp__onnx_add_type(&type, rich);
      oxp__onnx_add_type_shape(&shape, rich);
    } else {
      oxp__text_add(&type, oxp_dtype_name(info.dtype));
      oxp__subject_add_shape(&shape, subject, info.rank, info.shape);
    }
    oxp__grid_add(grid, output ? "output" : "input");
    oxp__grid_add(grid, value_name(&info, output));
    oxp__grid_take(grid, &type);
    oxp__grid_take(grid, &shape);
  }
}

void oxp__subject_grid(oxp__grid *grid, const oxp__subject *subject)
{
  grid_values(grid, subject, false);
  grid_values(grid, subject, true);
}

// --- Warnings ---

void oxp__warnings_print(const oxp_network *network, const oxp_graph *graph)
{
  for (int i = 0; network && i < oxp_network_warning_count(network); i++)
    oxp__print_warning(oxp_network_warning(network, i));
  for (int i = 0; graph && i < oxp_graph_warning_count(graph); i++)
    oxp__print_warning(oxp_graph_warning(graph, i));
}

void oxp__warnings_json(oxp__json *json, const oxp_network *network, const oxp_graph *graph)
{
  oxp__json_array(json, "warnings");
  for (int i = 0; network && i < oxp_network_warning_count(network); i++)
    oxp__json_text(json, NULL, oxp_network_warning(network, i));
  for (int i = 0; graph && i < oxp_graph_warning_count(graph); i++)
    oxp__json_text(json, NULL, oxp_graph_warning(graph, i));
  oxp__json_end(json, ']');
}

void oxp__subject_text(oxp__text *text, const oxp__subject *subject)
{
  static const char *const headings[] = { "", "name", "type", "shape" };
  oxp__grid grid;
  oxp__grid_init(&grid, "llll");
  for (size_t i = 0; i < OXP__COUNT(headings); i++)
    oxp__grid_add(&grid, headings[i]);
  oxp__subject_grid(&grid, subject);
  oxp__grid_end(&grid, 2, text);
  oxp__text_add(text, "\n");
}
