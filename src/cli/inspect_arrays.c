// inspect_arrays.c: the arrays that an ONNX model holds: initializers, sparse ones, and what its Constant nodes give, in the
// main graph, in the graphs inside of nodes, and in functions. Values are not read. Place: cli.
#include "cli/inspect.h"

#include <inttypes.h>
#include <string.h>

#include "cli/onnx_text.h"
#include "onnx/external.h"

// --- Walking ---

typedef struct held_array {
  const char *name, *kind; // "initializer", "sparse" or "constant"
  const char *graph;       // where it is: "" is the main graph
  int32_t dtype;
  const oxp__ints *dims;
  int64_t elements, stored;        // of a sparse array fewer are stored
  const oxp__tensor_proto *tensor; // that has the values; NULL: they are in the attribute
} held_array;

typedef struct array_walk {
  void (*visit)(struct array_walk *walk, const held_array *array);
  const oxp_graph *model;
  oxp__text graph; // the way to where we are
  // Found out by the first walk.
  size_t initializers, constants;
  int64_t initializer_elements, constant_elements;
  bool has_kinds, has_graphs, has_external;
  // Where the second one puts them.
  oxp__grid *grid;
  oxp__json *json;
} array_walk;

static void walk_nodes(array_walk *walk, const oxp__nodes *nodes);

// The number of elements; 0 when the declared dimensions make no sense.
static int64_t count_of(const oxp__ints *dims)
{
  int64_t count;
  oxp__tensor_proto whole = { .dims = *dims };
  return oxp__tensor_proto_count(&whole, &count) ? count : 0;
}

static void visit_tensor(array_walk *walk, const oxp__tensor_proto *tensor, const char *name, const char *kind)
{
  held_array found = { .name = oxp__or_empty(name), .kind = kind, .graph = oxp__text_string(&walk->graph) };
  found.dtype = tensor->data_type;
  found.dims = &tensor->dims;
  found.elements = found.stored = count_of(&tensor->dims);
  found.tensor = tensor;
  walk->visit(walk, &found);
}

static void visit_sparse(array_walk *walk, const oxp__sparse_tensor *sparse, const char *name)
{
  held_array found = { .kind = "sparse", .graph = oxp__text_string(&walk->graph), .tensor = sparse->values };
  found.name = oxp__or_empty(name ? name : sparse->values ? sparse->values->name : NULL);
  found.dtype = sparse->values ? sparse->values->data_type : 0;
  found.dims = &sparse->dims;
  found.elements = count_of(&sparse->dims);
  found.stored = sparse->values ? count_of(&sparse->values->dims) : 0;
  walk->visit(walk, &found);
}

// The numbers or texts of value_float, value_ints and the like.
static void visit_list(array_walk *walk, const oxp__attribute *attribute, const char *name)
{
  const struct {
    oxp__attribute_type type;
    oxp_dtype dtype;
    size_t count;
    bool scalar;
  } kinds[] = { { OXP__ATTR_FLOAT, OXP_FLOAT32, 1, true },
                { OXP__ATTR_INT, OXP_INT64, 1, true },
                { OXP__ATTR_STRING, OXP_STRING, 1, true },
                { OXP__ATTR_FLOATS, OXP_FLOAT32, attribute->floats.count, false },
                { OXP__ATTR_INTS, OXP_INT64, attribute->ints.count, false },
                { OXP__ATTR_STRINGS, OXP_STRING, attribute->strings.count, false } };
  for (size_t i = 0; i < OXP__COUNT(kinds); i++) {
    if ((int32_t)kinds[i].type != attribute->type)
      continue;
    int64_t count = (int64_t)kinds[i].count;
    oxp__ints dims = { .at = &count, .count = !kinds[i].scalar };
    walk->visit(walk, &(held_array){ .name = name,
                                     .kind = "constant",
                                     .graph = oxp__text_string(&walk->graph),
                                     .dtype = (int32_t)kinds[i].dtype,
                                     .dims = &dims,
                                     .elements = count,
                                     .stored = count });
  }
}

static void walk_constant(array_walk *walk, const oxp__node *node)
{
  const char *name = node->outputs.count > 0 ? node->outputs.at[0] : "";
  bool constant = node->op_type && strcmp(node->op_type, "Constant") == 0 && !*oxp__or_empty(node->domain);
  for (size_t i = 0; constant && i < node->attributes.count; i++) {
    const oxp__attribute *attribute = node->attributes.at[i];
    if (attribute->t)
      visit_tensor(walk, attribute->t, name, "constant");
    else if (attribute->sparse)
      visit_sparse(walk, attribute->sparse, name);
    else
      visit_list(walk, attribute, name);
  }
}

static void walk_graph(array_walk *walk, const oxp__graph_proto *graph)
{
  for (size_t i = 0; i < graph->initializers.count; i++)
    visit_tensor(walk, graph->initializers.at[i], graph->initializers.at[i]->name, "initializer");
  for (size_t i = 0; i < graph->sparse_initializers.count; i++)
    visit_sparse(walk, graph->sparse_initializers.at[i], NULL);
  walk_nodes(walk, &graph->nodes);
}

static void walk_inner(void *context, const char *path, const oxp__graph_proto *graph)
{
  array_walk *walk = context;
  size_t before = walk->graph.length;
  oxp__text_printf(&walk->graph, "%s%s", before > 0 ? "/" : "", path);
  walk_graph(walk, graph);
  oxp__text_cut(&walk->graph, before);
}

static void walk_nodes(array_walk *walk, const oxp__nodes *nodes)
{
  for (size_t i = 0; i < nodes->count; i++) {
    walk_constant(walk, nodes->at[i]);
    oxp__inspect_inner_graphs(nodes->at[i], i, walk_inner, walk);
  }
}

static void walk_model(array_walk *walk)
{
  const oxp__model *model = &walk->model->model;
  walk_graph(walk, model->graph);
  for (size_t i = 0; i < model->functions.count; i++) {
    oxp__text_add(&walk->graph, "function ");
    oxp__text_add_short(&walk->graph, oxp__or_empty(model->functions.at[i]->name), OXP__INSPECT_PATH);
    walk_nodes(walk, &model->functions.at[i]->nodes);
    oxp__text_cut(&walk->graph, 0);
  }
}

// --- Counting ---

static bool is_external(const held_array *array)
{
  return array->tensor && array->tensor->data_location == OXP__TENSOR_EXTERNAL;
}

static void visit_count(array_walk *walk, const held_array *array)
{
  bool constant = strcmp(array->kind, "constant") == 0;
  int64_t *elements = constant ? &walk->constant_elements : &walk->initializer_elements;
  *(constant ? &walk->constants : &walk->initializers) += 1;
  if (!oxp__add_i64(*elements, array->stored, elements))
    *elements = INT64_MAX;
  walk->has_kinds |= strcmp(array->kind, "initializer") != 0;
  walk->has_graphs |= *array->graph != 0;
  walk->has_external |= is_external(array);
}

static array_walk walk_of(const oxp_graph *graph)
{
  array_walk walk = { .model = graph, .visit = visit_count };
  walk_model(&walk);
  return walk;
}

int64_t oxp__inspect_parameters(const oxp_graph *graph)
{
  array_walk walk = walk_of(graph);
  int64_t total = INT64_MAX;
  (void)oxp__add_i64(walk.initializer_elements, walk.constant_elements, &total);
  oxp__text_fini(&walk.graph);
  return total;
}

void oxp__inspect_arrays_summary(oxp__text *text, const oxp_graph *graph)
{
  array_walk walk = walk_of(graph);
  oxp__text_printf(text, "%zu initializers with ", walk.initializers);
  oxp__text_add_count(text, walk.initializer_elements);
  oxp__text_add(text, " elements");
  if (walk.constants > 0) {
    oxp__text_printf(text, ", %zu constants with ", walk.constants);
    oxp__text_add_count(text, walk.constant_elements);
  }
  text->failed |= walk.graph.failed;
  oxp__text_fini(&walk.graph);
}

// --- Where the values lie ---

// What the model says under a key about values in another file; NULL: nothing.
static const char *stated(const oxp__tensor_proto *tensor, const char *key)
{
  for (size_t i = 0; i < tensor->external.count; i++)
    if (strcmp(oxp__or_empty(tensor->external.at[i]->key), key) == 0)
      return tensor->external.at[i]->value;
  return NULL;
}

static void add_external(oxp__text *text, const oxp_graph *graph, const oxp__tensor_proto *tensor)
{
  oxp__external_place place;
  const char *location = stated(tensor, "location");
  if (oxp__external_locate(graph, tensor, &place, NULL) == OXP_OK)
    oxp__text_printf(text, "%s, %" PRIu64 " bytes from %" PRIu64 " on", place.location, place.bytes, place.offset);
  else
    oxp__text_printf(text, "%s, which cannot be used", location ? location : "another file");
}

static void json_external(oxp__json *json, const oxp_graph *graph, const oxp__tensor_proto *tensor)
{
  oxp__external_place place;
  oxp_error why = { 0 };
  bool usable = oxp__external_locate(graph, tensor, &place, &why) == OXP_OK;
  oxp__json_object(json, "external");
  oxp__json_text(json, "location", stated(tensor, "location"));
  if (usable) {
    oxp__json_u64(json, "offset", place.offset);
    oxp__json_u64(json, "length", place.bytes);
  } else {
    oxp__json_text(json, "offset", stated(tensor, "offset"));
    oxp__json_text(json, "length", stated(tensor, "length"));
  }
  oxp__json_text(json, "fault", usable ? NULL : why.message);
  oxp__json_end(json, '}');
}

// --- As a table ---

static void visit_grid(array_walk *walk, const held_array *array)
{
  oxp__text dims = { 0 }, elements = { 0 }, data = { 0 };
  oxp__onnx_add_dims(&dims, array->dims);
  if (array->stored != array->elements) {
    oxp__text_add_count(&elements, array->stored);
    oxp__text_add(&elements, " of ");
  }
  oxp__text_add_count(&elements, array->elements);
  oxp__grid_add(walk->grid, array->name);
  if (walk->has_kinds)
    oxp__grid_add(walk->grid, array->kind);
  oxp__grid_add(walk->grid, oxp_dtype_name((oxp_dtype)array->dtype));
  oxp__grid_take(walk->grid, &dims);
  oxp__grid_take(walk->grid, &elements);
  if (walk->has_graphs)
    oxp__grid_add(walk->grid, array->graph);
  if (is_external(array))
    add_external(&data, walk->model, array->tensor);
  if (walk->has_external)
    oxp__grid_take(walk->grid, &data);
  oxp__text_fini(&data);
}

void oxp__inspect_arrays_text(oxp__text *text, const oxp_graph *graph)
{
  array_walk walk = walk_of(graph);
  const struct {
    const char *heading;
    char side;
    bool wanted;
  } columns[] = { { walk.has_kinds ? "array" : "initializer", 'l', true },
                  { "kind", 'l', walk.has_kinds },
                  { "type", 'l', true },
                  { "shape", 'l', true },
                  { "elements", 'r', true },
                  { "in graph", 'l', walk.has_graphs },
                  { "in file", 'l', walk.has_external } };
  char sides[OXP__COUNT(columns) + 1] = "";
  oxp__grid grid;
  for (size_t i = 0; i < OXP__COUNT(columns); i++)
    if (columns[i].wanted)
      sides[strlen(sides)] = columns[i].side;
  oxp__grid_init(&grid, sides);
  for (size_t i = 0; i < OXP__COUNT(columns); i++)
    if (columns[i].wanted)
      oxp__grid_add(&grid, columns[i].heading);
  walk.grid = &grid;
  walk.visit = visit_grid;
  walk_model(&walk);
  if (walk.initializers + walk.constants > 0)
    oxp__text_add(text, "\n");
  else
    grid.count = 0; // no headings alone
  oxp__grid_end(&grid, 2, text);
  text->failed |= walk.graph.failed;
  oxp__text_fini(&walk.graph);
}

// --- As JSON ---

static void visit_json(array_walk *walk, const held_array *array)
{
  oxp__json *json = walk->json;
  oxp__json_object(json, NULL);
  oxp__json_text(json, "name", array->name);
  oxp__json_text(json, "kind", array->kind);
  oxp__json_text(json, "graph", array->graph);
  oxp__json_text(json, "dtype", oxp_dtype_name((oxp_dtype)array->dtype));
  oxp__onnx_json_dims(json, "shape", array->dims);
  oxp__json_int(json, "elements", array->elements);
  oxp__json_int(json, "stored", array->stored);
  if (is_external(array))
    json_external(json, walk->model, array->tensor);
  oxp__json_end(json, '}');
}

void oxp__inspect_arrays_json(oxp__json *json, const oxp_graph *graph)
{
  array_walk walk = { .model = graph, .visit = visit_json, .json = json };
  oxp__json_array(json, "initializers");
  walk_model(&walk);
  oxp__json_end(json, ']');
  json->text.failed |= walk.graph.failed;
  oxp__text_fini(&walk.graph);
}
