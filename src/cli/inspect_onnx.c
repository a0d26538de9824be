// inspect_onnx.c: what `inspect` says about an ONNX model, ours or anybody's. Place: cli.
#include "cli/inspect.h"

#include "onnx/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *or_empty(const char *string)
{
  return string ? string : "";
}

// --- Attributes ---

// A float32 with the fewest digits that read back to the same value.
static void add_float(oxp__text *text, float number)
{
  char digits[32];
  for (int precision = 6; precision <= 9; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, (double)number);
    if (strtof(digits, NULL) == number)
      break;
  }
  oxp__text_add(text, digits);
}

static void add_dims(oxp__text *text, const oxp__ints *dims)
{
  oxp__text_add(text, "(");
  for (size_t i = 0; i < dims->count; i++)
    oxp__text_printf(text, "%s%" PRId64, i > 0 ? ", " : "", dims->at[i]);
  oxp__text_add(text, dims->count == 1 ? ",)" : ")");
}

static void add_numbers(oxp__text *text, const oxp__attribute *attribute)
{
  oxp__text_add(text, "[");
  for (size_t i = 0; i < attribute->ints.count; i++)
    oxp__text_printf(text, "%s%" PRId64, i > 0 ? ", " : "", attribute->ints.at[i]);
  for (size_t i = 0; i < attribute->floats.count; i++) {
    oxp__text_add(text, i > 0 ? ", " : "");
    add_float(text, attribute->floats.at[i]);
  }
  oxp__text_add(text, "]");
}

static void add_attribute_value(oxp__text *text, const oxp__attribute *attribute)
{
  switch (attribute->type) {
  case OXP__ATTR_FLOAT:
    add_float(text, attribute->f);
    break;
  case OXP__ATTR_INT:
    oxp__text_printf(text, "%" PRId64, attribute->i);
    break;
  case OXP__ATTR_STRING:
    oxp__text_add_json(text, or_empty(attribute->s.at));
    break;
  case OXP__ATTR_INTS:
  case OXP__ATTR_FLOATS:
    add_numbers(text, attribute);
    break;
  case OXP__ATTR_TENSOR:
    oxp__text_printf(text, "%s", attribute->t ? oxp_dtype_name((oxp_dtype)attribute->t->data_type) : "tensor");
    if (attribute->t)
      add_dims(text, &attribute->t->dims);
    break;
  case OXP__ATTR_GRAPH:
    oxp__text_printf(text, "graph of %zu nodes", attribute->g ? attribute->g->nodes.count : 0);
    break;
  default:
    oxp__text_printf(text, "(type %d)", (int)attribute->type);
  }
}

// --- Tables ---

static void add_names(oxp__text *text, const oxp__strings *names)
{
  for (size_t i = 0; i < names->count; i++)
    oxp__text_printf(text, "%s%s", i > 0 ? ", " : "", *names->at[i] ? names->at[i] : "-");
}

// The same for what a node reads: names that begin with the node's own are shortened (`conv1.weight` to `.weight`).
static void add_inputs(oxp__text *text, const oxp__node *node)
{
  size_t length = strlen(or_empty(node->name));
  for (size_t i = 0; i < node->inputs.count; i++) {
    const char *name = node->inputs.at[i];
    bool own = length > 0 && strncmp(name, node->name, length) == 0 && name[length] == '.';
    oxp__text_printf(text, "%s%s", i > 0 ? ", " : "", own ? name + length : *name ? name : "-");
  }
}

static void grid_node(oxp__grid *grid, size_t index, const oxp__node *node)
{
  oxp__text inputs = { 0 }, outputs = { 0 }, attributes = { 0 };
  add_inputs(&inputs, node);
  add_names(&outputs, &node->outputs);
  for (size_t i = 0; i < node->attributes.count; i++) {
    oxp__text_printf(&attributes, "%s%s=", i > 0 ? " " : "", or_empty(node->attributes.at[i]->name));
    add_attribute_value(&attributes, node->attributes.at[i]);
  }
  oxp__grid_addf(grid, "%zu", index);
  oxp__grid_add(grid, or_empty(node->name));
  oxp__grid_addf(grid, "%s%s%s", or_empty(node->domain), node->domain && *node->domain ? "::" : "",
                 or_empty(node->op_type));
  oxp__grid_take(grid, &inputs);
  oxp__grid_take(grid, &outputs);
  oxp__grid_take(grid, &attributes);
}

static void add_nodes(oxp__text *text, const oxp__nodes *nodes)
{
  static const char *const headings[] = { "#", "name", "operator", "inputs", "outputs", "attributes" };
  oxp__grid grid;
  oxp__grid_init(&grid, "rlllll");
  for (size_t i = 0; i < OXP__COUNT(headings); i++)
    oxp__grid_add(&grid, headings[i]);
  for (size_t i = 0; i < nodes->count; i++)
    grid_node(&grid, i, nodes->at[i]);
  oxp__grid_end(&grid, 2, text);
}

// The number of elements; 0 when the declared dimensions make no sense.
static int64_t element_count(const oxp__tensor_proto *tensor)
{
  int64_t count = 1;
  for (size_t i = 0; i < tensor->dims.count; i++)
    if (tensor->dims.at[i] < 0 || !oxp__mul_i64(count, tensor->dims.at[i], &count))
      return 0;
  return count;
}

static void add_initializers(oxp__text *text, const oxp__tensor_protos *initializers)
{
  static const char *const headings[] = { "initializer", "type", "shape", "elements" };
  oxp__grid grid;
  oxp__grid_init(&grid, "lllr");
  for (size_t i = 0; i < OXP__COUNT(headings); i++)
    oxp__grid_add(&grid, headings[i]);
  for (size_t i = 0; i < initializers->count; i++) {
    const oxp__tensor_proto *tensor = initializers->at[i];
    oxp__text dims = { 0 }, elements = { 0 };
    add_dims(&dims, &tensor->dims);
    oxp__text_add_count(&elements, element_count(tensor));
    oxp__grid_add(&grid, or_empty(tensor->name));
    oxp__grid_add(&grid, oxp_dtype_name((oxp_dtype)tensor->data_type));
    oxp__grid_take(&grid, &dims);
    oxp__grid_take(&grid, &elements);
  }
  oxp__grid_end(&grid, 2, text);
}

static int64_t parameter_count(const oxp_graph *graph)
{
  int64_t total = 0;
  const oxp__tensor_protos *initializers = &graph->model.graph->initializers;
  for (size_t i = 0; i < initializers->count; i++)
    if (!oxp__add_i64(total, element_count(initializers->at[i]), &total))
      return INT64_MAX;
  return total;
}

// `label` and a text out of the file; nothing when there is none.
static void add_stated(oxp__text *text, const char *label, const char *string)
{
  if (!string || !*string)
    return;
  oxp__text_add(text, label);
  oxp__text_add_clean(text, string);
}

static void add_opsets(oxp__text *text, const oxp__opsets *opsets)
{
  for (size_t i = 0; i < opsets->count; i++) {
    oxp__text_add(text, ", opset");
    add_stated(text, " ", opsets->at[i]->domain);
    oxp__text_printf(text, " %" PRId64, opsets->at[i]->version);
  }
}

static void add_header(oxp__text *text, const oxp_graph *graph)
{
  const oxp__model *model = &graph->model;
  oxp__text_printf(text, "  ONNX, IR version %" PRId64, model->ir_version);
  add_opsets(text, &model->opsets);
  add_stated(text, ", made by ", model->producer_name);
  add_stated(text, " ", model->producer_version);
  oxp__text_add(text, "\n  graph");
  add_stated(text, " ", model->graph->name);
  oxp__text_printf(text, ", %zu nodes, %zu initializers with ", model->graph->nodes.count,
                   model->graph->initializers.count);
  oxp__text_add_count(text, parameter_count(graph));
  oxp__text_add(text, " elements");
  add_stated(text, "\n  doc: ", model->doc_string);
  for (size_t i = 0; i < model->metadata.count; i++) {
    oxp__text_add(text, "\n  ");
    oxp__text_add_clean(text, or_empty(model->metadata.at[i]->key));
    add_stated(text, ": ", model->metadata.at[i]->value);
  }
  oxp__text_add(text, "\n");
}

void oxp__inspect_onnx_text(oxp__text *text, const oxp_graph *graph)
{
  oxp_error finding = { 0 };
  oxp__subject subject = { .graph = (oxp_graph *)graph };
  add_header(text, graph);
  oxp_status checked = oxp_graph_check(graph, &finding);
  oxp__text_printf(text, "  check: %s\n\n", checked == OXP_OK ? "nothing wrong" : finding.message);
  oxp__subject_text(text, &subject);
  add_nodes(text, &graph->model.graph->nodes);
  if (graph->model.graph->initializers.count > 0) {
    oxp__text_add(text, "\n");
    add_initializers(text, &graph->model.graph->initializers);
  }
}

// --- JSON ---

static void json_strings(oxp__json *json, const char *key, const oxp__strings *strings)
{
  oxp__json_array(json, key);
  for (size_t i = 0; i < strings->count; i++)
    oxp__json_text(json, NULL, strings->at[i]);
  oxp__json_end(json, ']');
}

static void json_attribute(oxp__json *json, const oxp__attribute *attribute)
{
  const char *key = or_empty(attribute->name);
  oxp__text text = { 0 };
  if (attribute->type == OXP__ATTR_INT) {
    oxp__json_int(json, key, attribute->i);
  } else if (attribute->type == OXP__ATTR_FLOAT) {
    oxp__json_number(json, key, (double)attribute->f);
  } else if (attribute->type == OXP__ATTR_INTS) {
    oxp__json_array(json, key);
    for (size_t i = 0; i < attribute->ints.count; i++)
      oxp__json_int(json, NULL, attribute->ints.at[i]);
    oxp__json_end(json, ']');
  } else if (attribute->type == OXP__ATTR_STRING) {
    oxp__json_text(json, key, or_empty(attribute->s.at));
  } else {
    add_attribute_value(&text, attribute);
    oxp__json_text(json, key, oxp__text_string(&text));
  }
  oxp__text_fini(&text);
}

static void json_node(oxp__json *json, size_t index, const oxp__node *node)
{
  oxp__json_object(json, NULL);
  oxp__json_int(json, "index", (int64_t)index);
  oxp__json_text(json, "name", or_empty(node->name));
  oxp__json_text(json, "operator", or_empty(node->op_type));
  oxp__json_text(json, "domain", or_empty(node->domain));
  json_strings(json, "inputs", &node->inputs);
  json_strings(json, "outputs", &node->outputs);
  oxp__json_object(json, "attributes");
  for (size_t i = 0; i < node->attributes.count; i++)
    json_attribute(json, node->attributes.at[i]);
  oxp__json_end(json, '}');
  oxp__json_end(json, '}');
}

static void json_initializers(oxp__json *json, const oxp__tensor_protos *initializers)
{
  oxp__json_array(json, "initializers");
  for (size_t i = 0; i < initializers->count; i++) {
    const oxp__tensor_proto *tensor = initializers->at[i];
    oxp__json_object(json, NULL);
    oxp__json_text(json, "name", or_empty(tensor->name));
    oxp__json_text(json, "dtype", oxp_dtype_name((oxp_dtype)tensor->data_type));
    oxp__json_array(json, "shape");
    for (size_t j = 0; j < tensor->dims.count; j++)
      oxp__json_int(json, NULL, tensor->dims.at[j]);
    oxp__json_end(json, ']');
    oxp__json_end(json, '}');
  }
  oxp__json_end(json, ']');
}

static void json_header(oxp__json *json, const oxp_graph *graph)
{
  const oxp__model *model = &graph->model;
  oxp_error finding = { 0 };
  oxp_status checked = oxp_graph_check(graph, &finding);
  oxp__json_text(json, "format", "onnx");
  oxp__json_int(json, "ir_version", model->ir_version);
  oxp__json_int(json, "opset", oxp_graph_opset(graph));
  oxp__json_text(json, "producer", or_empty(model->producer_name));
  oxp__json_text(json, "producer_version", or_empty(model->producer_version));
  oxp__json_text(json, "graph", or_empty(model->graph->name));
  oxp__json_text(json, "doc", or_empty(model->doc_string));
  oxp__json_object(json, "metadata");
  for (size_t i = 0; i < model->metadata.count; i++)
    oxp__json_text(json, or_empty(model->metadata.at[i]->key), or_empty(model->metadata.at[i]->value));
  oxp__json_end(json, '}');
  oxp__json_int(json, "parameters", parameter_count(graph));
  oxp__json_text(json, "check", checked == OXP_OK ? "" : finding.message);
}

void oxp__inspect_onnx_json(oxp__json *json, const oxp_graph *graph)
{
  oxp__subject subject = { .graph = (oxp_graph *)graph };
  const oxp__graph_proto *proto = graph->model.graph;
  json_header(json, graph);
  oxp__subject_json(json, &subject);
  oxp__json_array(json, "nodes");
  for (size_t i = 0; i < proto->nodes.count; i++)
    json_node(json, i, proto->nodes.at[i]);
  oxp__json_end(json, ']');
  json_initializers(json, &proto->initializers);
}

// --- Picture ---

typedef struct producer {
  const char *value;
  char from; // 'n' for a node, 'i' for an input
  size_t index;
} producer;

static int compare_producers(const void *a, const void *b)
{
  return strcmp(((const producer *)a)->value, ((const producer *)b)->value);
}

// Everything that makes a value, sorted by the value's name. Initializers are left out: the picture is about the flow.
static producer *find_producers(oxp__arena *arena, const oxp__graph_proto *proto, size_t *count)
{
  size_t total = proto->inputs.count;
  for (size_t i = 0; i < proto->nodes.count; i++)
    total += proto->nodes.at[i]->outputs.count;
  producer *producers = oxp__arena_new(arena, total, sizeof *producers);
  *count = 0;
  for (size_t i = 0; producers && i < proto->inputs.count; i++)
    producers[(*count)++] = (producer){ or_empty(proto->inputs.at[i]->name), 'i', i };
  for (size_t i = 0; producers && i < proto->nodes.count; i++)
    for (size_t j = 0; j < proto->nodes.at[i]->outputs.count; j++)
      producers[(*count)++] = (producer){ proto->nodes.at[i]->outputs.at[j], 'n', i };
  if (producers)
    qsort(producers, *count, sizeof *producers, compare_producers);
  return producers;
}

static void dot_edge(oxp__text *text, const producer *producers, size_t count, const char *value, char to, size_t index)
{
  producer key = { .value = value };
  const producer *from = *value ? bsearch(&key, producers, count, sizeof key, compare_producers) : NULL;
  if (from)
    oxp__text_printf(text, "  %c%zu -> %c%zu;\n", from->from, from->index, to, index);
}

static void dot_oval(oxp__text *text, char letter, size_t index, const char *name)
{
  oxp__text_printf(text, "  %c%zu [shape=oval, ", letter, index);
  oxp__dot_add_label(text, "", or_empty(name));
  oxp__text_add(text, "];\n");
}

oxp_status oxp__inspect_onnx_dot(oxp__text *text, const oxp_graph *graph, oxp_error *error)
{
  const oxp__graph_proto *proto = graph->model.graph;
  oxp__arena arena = { 0 };
  size_t count = 0;
  producer *producers = find_producers(&arena, proto, &count);
  text->failed |= !producers;
  oxp__text_add(text, "digraph model {\n  node [shape=box, fontname=\"sans-serif\"];\n");
  for (size_t i = 0; i < proto->inputs.count; i++)
    dot_oval(text, 'i', i, proto->inputs.at[i]->name);
  for (size_t i = 0; producers && i < proto->nodes.count; i++) {
    const oxp__node *node = proto->nodes.at[i];
    oxp__text_printf(text, "  n%zu [", i);
    oxp__dot_add_label(text, or_empty(node->op_type), or_empty(node->name));
    oxp__text_add(text, "];\n");
    for (size_t j = 0; j < node->inputs.count; j++)
      dot_edge(text, producers, count, node->inputs.at[j], 'n', i);
  }
  for (size_t i = 0; producers && i < proto->outputs.count; i++) {
    dot_oval(text, 'o', i, proto->outputs.at[i]->name);
    dot_edge(text, producers, count, or_empty(proto->outputs.at[i]->name), 'o', i);
  }
  oxp__text_add(text, "}\n");
  oxp__arena_fini(&arena);
  return oxp__text_status(text, error);
}
