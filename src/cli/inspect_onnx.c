// inspect_onnx.c: what `inspect` says about an ONNX model, ours or anybody's, as text and as a picture. Place: cli.
#include "cli/inspect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/onnx_text.h"

// --- Graphs inside of nodes ---

void oxp__inspect_inner_graphs(const oxp__node *node, size_t index, oxp__inspect_visit visit, void *context)
{
  oxp__text path = { 0 };
  for (size_t i = 0; i < node->attributes.count; i++) {
    const oxp__attribute *attribute = node->attributes.at[i];
    if (!attribute->g && attribute->graphs.count == 0)
      continue;
    if (path.length == 0 && node->name && *node->name)
      oxp__text_add_short(&path, node->name, OXP__INSPECT_PATH);
    else if (path.length == 0)
      oxp__text_printf(&path, "%zu", index);
    size_t length = path.length;
    oxp__text_add(&path, ".");
    oxp__text_add_short(&path, oxp__or_empty(attribute->name), OXP__INSPECT_PATH);
    if (attribute->g)
      visit(context, oxp__text_string(&path), attribute->g);
    for (size_t j = 0, end = path.length; j < attribute->graphs.count; j++) {
      oxp__text_printf(&path, "[%zu]", j);
      visit(context, oxp__text_string(&path), attribute->graphs.at[j]);
      oxp__text_cut(&path, end);
    }
    oxp__text_cut(&path, length);
  }
  oxp__text_fini(&path);
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
  size_t length = strlen(oxp__or_empty(node->name));
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
    oxp__text_printf(&attributes, "%s%s=", i > 0 ? " " : "", oxp__or_empty(node->attributes.at[i]->name));
    oxp__onnx_add_attribute(&attributes, node->attributes.at[i]);
  }
  oxp__grid_addf(grid, "%zu", index);
  oxp__grid_add(grid, oxp__or_empty(node->name));
  oxp__grid_addf(grid, "%s%s%s", oxp__or_empty(node->domain), node->domain && *node->domain ? "::" : "",
                 oxp__or_empty(node->op_type));
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

// A graph that is not the main one: what it is called and takes, and its nodes.
static void add_inner_title(oxp__text *text, const char *path, const char *name)
{
  oxp__text_add(text, "\n  ");
  oxp__text_add_clean(text, path);
  oxp__text_add(text, ": ");
  oxp__text_add_short(text, oxp__or_empty(name), OXP__INSPECT_PATH);
}

typedef struct inner_texts {
  oxp__text *text;
  oxp__text path; // of the graph that we are in
} inner_texts;

static void add_inner_graphs(inner_texts *inner, const oxp__nodes *nodes);

static void add_infos(oxp__text *text, const oxp__value_infos *infos)
{
  for (size_t i = 0; i < infos->count; i++) {
    oxp__text_add(text, i > 0 ? ", " : "");
    oxp__text_add_short(text, oxp__or_empty(infos->at[i]->name), OXP__INSPECT_PATH);
  }
}

static void add_inner_graph(void *context, const char *path, const oxp__graph_proto *graph)
{
  inner_texts *inner = context;
  size_t before = inner->path.length;
  oxp__text_printf(&inner->path, "%s%s", before > 0 ? "/" : "", path);
  add_inner_title(inner->text, oxp__text_string(&inner->path), graph->name);
  oxp__text_add(inner->text, " (");
  add_infos(inner->text, &graph->inputs);
  oxp__text_add(inner->text, ") -> ");
  add_infos(inner->text, &graph->outputs);
  oxp__text_add(inner->text, "\n");
  if (graph->nodes.count > 0)
    add_nodes(inner->text, &graph->nodes);
  add_inner_graphs(inner, &graph->nodes);
  oxp__text_cut(&inner->path, before);
}

static void add_inner_graphs(inner_texts *inner, const oxp__nodes *nodes)
{
  for (size_t i = 0; i < nodes->count; i++)
    oxp__inspect_inner_graphs(nodes->at[i], i, add_inner_graph, inner);
}

static void add_opsets(oxp__text *text, const oxp__opsets *opsets);

static void add_function(inner_texts *inner, const oxp__function *function)
{
  oxp__text *text = inner->text, names = { 0 };
  add_inner_title(text, "function", function->domain);
  oxp__text_add(text, function->domain && *function->domain ? "::" : "");
  oxp__text_add_short(text, oxp__or_empty(function->name), OXP__INSPECT_PATH);
  oxp__text_add(text, " (");
  add_names(&names, &function->inputs);
  oxp__text_add(&names, ") -> ");
  add_names(&names, &function->outputs);
  oxp__text_add_short(text, oxp__text_string(&names), 4 * OXP__INSPECT_PATH);
  oxp__text_fini(&names);
  add_opsets(text, &function->opsets);
  oxp__text_add(text, "\n");
  if (function->nodes.count > 0)
    add_nodes(text, &function->nodes);
  oxp__text_add(&inner->path, "function ");
  oxp__text_add_short(&inner->path, oxp__or_empty(function->name), OXP__INSPECT_PATH);
  add_inner_graphs(inner, &function->nodes);
  oxp__text_cut(&inner->path, 0);
}

static void add_inner(oxp__text *text, const oxp__model *model)
{
  inner_texts inner = { .text = text };
  add_inner_graphs(&inner, &model->graph->nodes);
  for (size_t i = 0; i < model->functions.count; i++)
    add_function(&inner, model->functions.at[i]);
  text->failed |= inner.path.failed;
  oxp__text_fini(&inner.path);
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
  oxp__text_printf(text, ", %zu nodes, ", model->graph->nodes.count);
  oxp__inspect_arrays_summary(text, graph);
  add_stated(text, "\n  doc: ", model->doc_string);
  for (size_t i = 0; i < model->metadata.count; i++) {
    oxp__text_add(text, "\n  ");
    oxp__text_add_clean(text, oxp__or_empty(model->metadata.at[i]->key));
    add_stated(text, ": ", model->metadata.at[i]->value);
  }
  oxp__text_add(text, "\n");
}

static void add_check(oxp__text *text, const oxp_graph *graph)
{
  oxp_error finding = { 0 };
  oxp__text notes = { 0 };
  oxp_status checked = oxp__graph_check(graph, &notes, &finding);
  oxp__text_printf(text, "  check: %s\n", checked == OXP_OK ? "nothing wrong" : finding.message);
  add_stated(text, "  not checked: ", oxp__text_string(&notes));
  oxp__text_add(text, notes.length > 0 ? "\n\n" : "\n");
  oxp__text_fini(&notes);
}

void oxp__inspect_onnx_text(oxp__text *text, const oxp_graph *graph)
{
  oxp__subject subject = { .graph = (oxp_graph *)graph };
  add_header(text, graph);
  add_check(text, graph);
  oxp__subject_text(text, &subject);
  add_nodes(text, &graph->model.graph->nodes);
  oxp__inspect_arrays_text(text, graph);
  add_inner(text, &graph->model);
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
    producers[(*count)++] = (producer){ oxp__or_empty(proto->inputs.at[i]->name), 'i', i };
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
  oxp__dot_add_label(text, "", oxp__or_empty(name));
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
    oxp__dot_add_label(text, oxp__or_empty(node->op_type), oxp__or_empty(node->name));
    oxp__text_add(text, "];\n");
    for (size_t j = 0; j < node->inputs.count; j++)
      dot_edge(text, producers, count, node->inputs.at[j], 'n', i);
  }
  for (size_t i = 0; producers && i < proto->outputs.count; i++) {
    dot_oval(text, 'o', i, proto->outputs.at[i]->name);
    dot_edge(text, producers, count, oxp__or_empty(proto->outputs.at[i]->name), 'o', i);
  }
  oxp__text_add(text, "}\n");
  oxp__arena_fini(&arena);
  return oxp__text_status(text, error);
}
