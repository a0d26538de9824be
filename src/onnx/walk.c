// walk.c: every tensor of a model, wherever it is. What is nested is at most as deep as the reader lets messages be.
// Place: onnx.
#include "onnx/graph.h"

typedef struct walk_visitor {
  oxp__tensor_visit visit;
  void *context;
} walk_visitor;

static void walk_graph(const walk_visitor *walk, const oxp__graph_proto *graph);

static void walk_tensor(const walk_visitor *walk, const oxp__tensor_proto *tensor, const oxp__node *node, size_t index)
{
  if (tensor)
    walk->visit(walk->context, &(oxp__tensor_place){ .tensor = tensor, .node = node, .index = index });
}

static void walk_sparse(const walk_visitor *walk, const oxp__sparse_tensor *sparse, const oxp__node *node, size_t index)
{
  if (!sparse)
    return;
  walk_tensor(walk, sparse->values, node, index);
  walk_tensor(walk, sparse->indices, node, index);
}

static void walk_attribute(const walk_visitor *walk, const oxp__attribute *attribute, const oxp__node *node,
                           size_t index)
{
  walk_tensor(walk, attribute->t, node, index);
  walk_sparse(walk, attribute->sparse, node, index);
  for (size_t i = 0; i < attribute->tensors.count; i++)
    walk_tensor(walk, attribute->tensors.at[i], node, index);
  for (size_t i = 0; i < attribute->sparse_list.count; i++)
    walk_sparse(walk, attribute->sparse_list.at[i], node, index);
  walk_graph(walk, attribute->g);
  for (size_t i = 0; i < attribute->graphs.count; i++)
    walk_graph(walk, attribute->graphs.at[i]);
}

static void walk_nodes(const walk_visitor *walk, const oxp__nodes *nodes)
{
  for (size_t i = 0; i < nodes->count; i++)
    for (size_t k = 0; k < nodes->at[i]->attributes.count; k++)
      walk_attribute(walk, nodes->at[i]->attributes.at[k], nodes->at[i], i);
}

static void walk_graph(const walk_visitor *walk, const oxp__graph_proto *graph)
{
  if (!graph)
    return;
  for (size_t i = 0; i < graph->initializers.count; i++)
    walk_tensor(walk, graph->initializers.at[i], NULL, i);
  for (size_t i = 0; i < graph->sparse_initializers.count; i++)
    walk_sparse(walk, graph->sparse_initializers.at[i], NULL, i);
  walk_nodes(walk, &graph->nodes);
}

void oxp__model_each_tensor(const oxp__model *model, oxp__tensor_visit visit, void *context)
{
  const walk_visitor walk = { visit, context };
  walk_graph(&walk, model->graph);
  for (size_t i = 0; i < model->trainings.count; i++) {
    walk_graph(&walk, model->trainings.at[i]->initialization);
    walk_graph(&walk, model->trainings.at[i]->algorithm);
  }
  for (size_t i = 0; i < model->functions.count; i++) {
    const oxp__function *function = model->functions.at[i];
    walk_nodes(&walk, &function->nodes);
    for (size_t k = 0; k < function->attributes.count; k++)
      walk_attribute(&walk, function->attributes.at[k], NULL, k);
  }
}
