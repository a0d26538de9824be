// graph.c: making, freeing and looking at an ONNX model; its warnings and the names of its symbolic dimensions.
// Does no I/O and knows nothing of the wire format. Place: onnx.
#include "onnx/graph.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

// Bounds on what a hostile or hopeless model can make us keep.
enum { GRAPH_MAX_WARNINGS = 200, GRAPH_MAX_SYMBOLS = 1000, GRAPH_FIXED_SYMBOLS = 4, GRAPH_MAX_DIMS = 1 << 16 };

oxp_graph *oxp__graph_new(void)
{
  oxp_graph *graph = calloc(1, sizeof *graph);
  if (!graph)
    return NULL;
  graph->notes = calloc(1, sizeof *graph->notes);
  graph->model.graph = oxp__arena_new(&graph->arena, 1, sizeof *graph->model.graph);
  graph->symbols.at = oxp__arena_new(&graph->arena, GRAPH_FIXED_SYMBOLS, sizeof *graph->symbols.at);
  if (!graph->notes || !graph->model.graph || !graph->symbols.at) {
    oxp_graph_free(graph);
    return NULL;
  }
  graph->symbols.count = graph->symbols.capacity = GRAPH_FIXED_SYMBOLS;
  return graph;
}

void oxp_graph_free(oxp_graph *graph)
{
  if (!graph)
    return;
  if (graph->notes)
    oxp__arena_fini(&graph->notes->arena);
  free(graph->notes);
  oxp__arena_fini(&graph->arena);
  free(graph);
}

// Lists of every element type have one layout; it is copied in and out, since it may not be used through another type.
typedef OXP__REPEATED(void) graph_list;

bool oxp__repeated_append(oxp__arena *arena, void *list, const void *element, size_t size)
{
  graph_list generic;
  memcpy(&generic, list, sizeof generic);
  void *at = oxp__arena_grow(arena, generic.at, generic.count, &generic.capacity, size);
  if (!at)
    return false;
  generic.at = at;
  memcpy((char *)at + generic.count * size, element, size);
  generic.count++;
  memcpy(list, &generic, sizeof generic);
  return true;
}

const char *oxp__graph_path(const oxp_graph *graph)
{
  return graph->read == oxp__file_read ? ((const oxp__file *)graph->read_context)->path : NULL;
}

// --- Warnings ---

static bool graph_has_warning(const oxp__strings *warnings, const char *sentence)
{
  for (size_t i = 0; i < warnings->count; i++)
    if (strcmp(warnings->at[i], sentence) == 0)
      return true;
  return false;
}

void oxp__graph_warn(const oxp_graph *graph, const char *format, ...)
{
  oxp__strings *warnings = &graph->notes->warnings;
  if (warnings->count > GRAPH_MAX_WARNINGS)
    return;
  char sentence[1024];
  if (warnings->count == GRAPH_MAX_WARNINGS) {
    snprintf(sentence, sizeof sentence, "further warnings were left out");
  } else {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
  }
  oxp__text_clean(sentence);
  if (graph_has_warning(warnings, sentence))
    return;
  const char *copy = oxp__arena_copy(&graph->notes->arena, sentence);
  if (copy)
    (void)oxp__repeated_append(&graph->notes->arena, warnings, &copy, sizeof copy);
}

int oxp_graph_warning_count(const oxp_graph *graph)
{
  return graph ? (int)graph->notes->warnings.count : 0;
}

const char *oxp_graph_warning(const oxp_graph *graph, int index)
{
  if (!graph)
    return NULL;
  const oxp__strings *warnings = &graph->notes->warnings;
  return index >= 0 && (size_t)index < warnings->count ? warnings->at[index] : NULL;
}

// --- Symbolic dimensions ---

static int64_t graph_fixed_symbol(const char *name)
{
  if (strcmp(name, "batch") == 0)
    return OXP_DIM_BATCH;
  if (strcmp(name, "height") == 0)
    return OXP_DIM_HEIGHT;
  if (strcmp(name, "width") == 0)
    return OXP_DIM_WIDTH;
  return OXP_DIM_UNKNOWN;
}

void oxp__graph_warn_tensor(const oxp_graph *graph, const oxp__tensor_proto *proto, const oxp__tensor_stats *stats)
{
  const char *name = proto->name ? proto->name : "";
  if (stats->not_finite > 0)
    oxp__graph_warn(graph, "tensor \"%s\" holds %" PRId64 " %s not finite (NaN or infinity)", name, stats->not_finite,
                    stats->not_finite == 1 ? "value that is" : "values that are");
  if (stats->overflowed > 0) {
    oxp__text first = { 0 };
    oxp__text_add_json_number(&first, stats->first_overflow);
    oxp__graph_warn(graph, "tensor \"%s\": %" PRId64 " %s beyond the range of %s and became infinite; the first was %s",
                    name, stats->overflowed, stats->overflowed == 1 ? "value was" : "values were",
                    oxp_dtype_name(proto->as), oxp__text_string(&first));
    oxp__text_fini(&first);
  }
  if (stats->changed > 0)
    oxp__graph_warn(graph, "tensor \"%s\": %" PRId64 " %s rounded from %s to %s", name, stats->changed,
                    stats->changed == 1 ? "value was" : "values were", oxp_dtype_name(proto->tensor.dtype),
                    oxp_dtype_name(proto->as));
}

int64_t oxp__graph_symbol(oxp_graph *graph, const char *name)
{
  oxp__strings *symbols = &graph->symbols;
  for (size_t i = 0; i < symbols->count; i++)
    if (symbols->at[i] && strcmp(symbols->at[i], name) == 0)
      return -1 - (int64_t)i;
  if (!*name || symbols->count >= GRAPH_MAX_SYMBOLS)
    return OXP_DIM_UNKNOWN;
  const char *copy = oxp__arena_copy(&graph->arena, name);
  int64_t fixed = graph_fixed_symbol(name);
  if (copy && fixed != OXP_DIM_UNKNOWN && !symbols->at[-1 - fixed]) {
    symbols->at[-1 - fixed] = copy;
    return fixed;
  }
  if (!copy || !oxp__repeated_append(&graph->arena, symbols, &copy, sizeof copy))
    return OXP_DIM_UNKNOWN;
  return -(int64_t)symbols->count;
}

const char *oxp_graph_dim_name(const oxp_graph *graph, int64_t dim)
{
  if (!graph)
    return NULL;
  if (dim >= 0 || dim < -(int64_t)graph->symbols.count)
    return NULL;
  return graph->symbols.at[-1 - dim];
}

int32_t oxp__value_info_dtype(const oxp__value_info *info)
{
  return info->type && info->type->tensor ? info->type->tensor->dtype : 0;
}

bool oxp__tensor_proto_count(const oxp__tensor_proto *proto, int64_t *count)
{
  return proto->dims.count <= INT_MAX && oxp__shape_count((int)proto->dims.count, proto->dims.at, count);
}

bool oxp__tensor_proto_bytes(const oxp__tensor_proto *proto, uint64_t *bytes)
{
  int64_t count, bits = (int64_t)oxp__dtype_bits((oxp_dtype)proto->data_type);
  if (bits == 0 || !oxp__tensor_proto_count(proto, &count) || !oxp__mul_i64(count, bits, &bits))
    return false;
  *bytes = ((uint64_t)bits + 7) / 8;
  return true;
}

static int64_t graph_dim(oxp_graph *graph, const oxp__dim *dim)
{
  if (dim->param)
    return oxp__graph_symbol(graph, dim->param);
  bool known = dim->value > 0 || (dim->value == 0 && (dim->base.has & 1u << OXP__DIM_VALUE));
  return known ? dim->value : OXP_DIM_UNKNOWN;
}

oxp_status oxp__value_info_finish(oxp_graph *graph, oxp__value_info *info, oxp_error *error)
{
  info->rank = -1;
  info->shape = NULL;
  const oxp__tensor_shape *shape = info->type && info->type->tensor ? info->type->tensor->shape : NULL;
  if (!shape || shape->dims.count > GRAPH_MAX_DIMS)
    return OXP_OK;
  info->shape = oxp__arena_new(&graph->arena, shape->dims.count, sizeof *info->shape);
  if (!info->shape)
    return oxp__fail_memory(error, shape->dims.count * sizeof *info->shape);
  info->rank = (int)shape->dims.count;
  for (int i = 0; i < info->rank; i++)
    info->shape[i] = graph_dim(graph, shape->dims.at[i]);
  return OXP_OK;
}

// --- Looking ---

static int graph_clamp(int64_t number)
{
  return number < INT_MIN ? INT_MIN : number > INT_MAX ? INT_MAX : (int)number;
}

int oxp_graph_opset(const oxp_graph *graph)
{
  if (!graph)
    return 0;
  for (size_t i = 0; i < graph->model.opsets.count; i++) {
    const oxp__opset *opset = graph->model.opsets.at[i];
    if (!opset->domain || !*opset->domain || strcmp(opset->domain, "ai.onnx") == 0)
      return graph_clamp(opset->version);
  }
  return 0;
}

int oxp_graph_ir_version(const oxp_graph *graph)
{
  return graph ? graph_clamp(graph->model.ir_version) : 0;
}

int oxp_graph_node_count(const oxp_graph *graph)
{
  return graph ? (int)graph->model.graph->nodes.count : 0;
}

static const oxp__value_infos *graph_inputs(const oxp_graph *graph)
{
  return graph->has_given ? &graph->given : &graph->model.graph->inputs;
}

int oxp_graph_input_count(const oxp_graph *graph)
{
  return graph ? (int)graph_inputs(graph)->count : 0;
}

int oxp_graph_output_count(const oxp_graph *graph)
{
  return graph ? (int)graph->model.graph->outputs.count : 0;
}

const oxp__value_info *oxp__graph_value(const oxp_graph *graph, bool output, int index)
{
  const oxp__value_infos *list = output ? &graph->model.graph->outputs : graph_inputs(graph);
  return index >= 0 && (size_t)index < list->count ? list->at[index] : NULL;
}

// Callers keep shapes in arrays of OXP_MAX_RANK: a longer one is handed out as "not known".
static bool graph_value_info(const oxp__value_info *value, oxp_value_info *info)
{
  if (!value)
    return false;
  bool known = value->shape && value->rank <= OXP_MAX_RANK;
  *info = (oxp_value_info){
    .name = value->name ? value->name : "",
    .dtype = (oxp_dtype)oxp__value_info_dtype(value),
    .rank = known ? value->rank : -1,
    .shape = known ? value->shape : NULL,
  };
  return true;
}

bool oxp_graph_input_info(const oxp_graph *graph, int index, oxp_value_info *info)
{
  return graph && info && graph_value_info(oxp__graph_value(graph, false, index), info);
}

bool oxp_graph_output_info(const oxp_graph *graph, int index, oxp_value_info *info)
{
  return graph && info && graph_value_info(oxp__graph_value(graph, true, index), info);
}
