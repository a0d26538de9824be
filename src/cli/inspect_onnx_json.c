// inspect_onnx_json.c: what `inspect --json` says about an ONNX model. Place: cli.
#include "cli/inspect.h"
#include "cli/onnx_text.h"

static void json_strings(oxp__json *json, const char *key, const oxp__strings *strings)
{
  oxp__json_array(json, key);
  for (size_t i = 0; i < strings->count; i++)
    oxp__json_text(json, NULL, strings->at[i]);
  oxp__json_end(json, ']');
}

static void json_nodes(oxp__json *json, const oxp__nodes *nodes);

static void json_info_names(oxp__json *json, const char *key, const oxp__value_infos *infos)
{
  oxp__json_array(json, key);
  for (size_t i = 0; i < infos->count; i++)
    oxp__json_text(json, NULL, oxp__or_empty(infos->at[i]->name));
  oxp__json_end(json, ']');
}

static void json_graph(oxp__json *json, const char *key, const oxp__graph_proto *graph)
{
  oxp__json_object(json, key);
  oxp__json_text(json, "name", oxp__or_empty(graph->name));
  json_info_names(json, "inputs", &graph->inputs);
  json_info_names(json, "outputs", &graph->outputs);
  json_nodes(json, &graph->nodes);
  oxp__json_end(json, '}');
}

// True for an attribute that holds a list of a kind that JSON has.
static bool json_list(oxp__json *json, const char *key, const oxp__attribute *attribute)
{
  int32_t type = attribute->type;
  if (type != OXP__ATTR_INTS && type != OXP__ATTR_FLOATS && type != OXP__ATTR_STRINGS && type != OXP__ATTR_GRAPHS)
    return false;
  oxp__json_array(json, key);
  for (size_t i = 0; type == OXP__ATTR_INTS && i < attribute->ints.count; i++)
    oxp__json_int(json, NULL, attribute->ints.at[i]);
  for (size_t i = 0; type == OXP__ATTR_FLOATS && i < attribute->floats.count; i++)
    oxp__json_number(json, NULL, (double)attribute->floats.at[i]);
  for (size_t i = 0; type == OXP__ATTR_STRINGS && i < attribute->strings.count; i++)
    oxp__json_bytes(json, NULL, attribute->strings.at[i].at, attribute->strings.at[i].count);
  for (size_t i = 0; type == OXP__ATTR_GRAPHS && i < attribute->graphs.count; i++)
    json_graph(json, NULL, attribute->graphs.at[i]);
  oxp__json_end(json, ']');
  return true;
}

static void json_attribute(oxp__json *json, const oxp__attribute *attribute)
{
  const char *key = oxp__or_empty(attribute->name);
  bool own = !attribute->ref_attr_name || !*attribute->ref_attr_name; // not that of the function around it
  oxp__text text = { 0 };
  if (own && attribute->type == OXP__ATTR_INT) {
    oxp__json_int(json, key, attribute->i);
  } else if (own && attribute->type == OXP__ATTR_FLOAT) {
    oxp__json_number(json, key, (double)attribute->f);
  } else if (own && attribute->type == OXP__ATTR_STRING) {
    oxp__json_bytes(json, key, attribute->s.at, attribute->s.count);
  } else if (own && attribute->type == OXP__ATTR_GRAPH && attribute->g) {
    json_graph(json, key, attribute->g);
  } else if (!own || !json_list(json, key, attribute)) {
    oxp__onnx_add_attribute(&text, attribute);
    oxp__json_text(json, key, oxp__text_string(&text));
    json->text.failed |= text.failed;
  }
  oxp__text_fini(&text);
}

static void json_node(oxp__json *json, size_t index, const oxp__node *node)
{
  oxp__json_object(json, NULL);
  oxp__json_int(json, "index", (int64_t)index);
  oxp__json_text(json, "name", oxp__or_empty(node->name));
  oxp__json_text(json, "operator", oxp__or_empty(node->op_type));
  oxp__json_text(json, "domain", oxp__or_empty(node->domain));
  json_strings(json, "inputs", &node->inputs);
  json_strings(json, "outputs", &node->outputs);
  oxp__json_object(json, "attributes");
  for (size_t i = 0; i < node->attributes.count; i++)
    json_attribute(json, node->attributes.at[i]);
  oxp__json_end(json, '}');
  oxp__json_end(json, '}');
}

static void json_nodes(oxp__json *json, const oxp__nodes *nodes)
{
  oxp__json_array(json, "nodes");
  for (size_t i = 0; i < nodes->count; i++)
    json_node(json, i, nodes->at[i]);
  oxp__json_end(json, ']');
}

static void json_opsets(oxp__json *json, const oxp__opsets *opsets)
{
  oxp__json_array(json, "opsets");
  for (size_t i = 0; i < opsets->count; i++) {
    oxp__json_object(json, NULL);
    oxp__json_text(json, "domain", oxp__or_empty(opsets->at[i]->domain));
    oxp__json_int(json, "version", opsets->at[i]->version);
    oxp__json_end(json, '}');
  }
  oxp__json_end(json, ']');
}

static void json_function(oxp__json *json, const oxp__function *function)
{
  oxp__json_object(json, NULL);
  oxp__json_text(json, "name", oxp__or_empty(function->name));
  oxp__json_text(json, "domain", oxp__or_empty(function->domain));
  oxp__json_text(json, "overload", oxp__or_empty(function->overload));
  json_strings(json, "inputs", &function->inputs);
  json_strings(json, "outputs", &function->outputs);
  json_strings(json, "attributes", &function->attribute_names);
  json_opsets(json, &function->opsets);
  json_nodes(json, &function->nodes);
  oxp__json_end(json, '}');
}

static void json_check(oxp__json *json, const oxp_graph *graph)
{
  oxp_error finding = { 0 };
  oxp__text notes = { 0 };
  oxp_status checked = oxp__graph_check(graph, &notes, &finding);
  oxp__json_text(json, "check", checked == OXP_OK ? "" : finding.message);
  oxp__json_text(json, "not_checked", oxp__text_string(&notes));
  json->text.failed |= notes.failed;
  oxp__text_fini(&notes);
}

static void json_header(oxp__json *json, const oxp_graph *graph)
{
  const oxp__model *model = &graph->model;
  oxp__json_text(json, "format", "onnx");
  oxp__json_int(json, "ir_version", model->ir_version);
  oxp__json_int(json, "opset", oxp_graph_opset(graph));
  json_opsets(json, &model->opsets);
  oxp__json_text(json, "producer", oxp__or_empty(model->producer_name));
  oxp__json_text(json, "producer_version", oxp__or_empty(model->producer_version));
  oxp__json_text(json, "graph", oxp__or_empty(model->graph->name));
  oxp__json_text(json, "doc", oxp__or_empty(model->doc_string));
  oxp__json_object(json, "metadata");
  for (size_t i = 0; i < model->metadata.count; i++)
    oxp__json_text(json, oxp__or_empty(model->metadata.at[i]->key), oxp__or_empty(model->metadata.at[i]->value));
  oxp__json_end(json, '}');
  oxp__json_int(json, "parameters", oxp__inspect_parameters(graph));
  json_check(json, graph);
}

void oxp__inspect_onnx_json(oxp__json *json, const oxp_graph *graph)
{
  oxp__subject subject = { .graph = (oxp_graph *)graph };
  json_header(json, graph);
  oxp__subject_json(json, &subject);
  json_nodes(json, &graph->model.graph->nodes);
  oxp__inspect_arrays_json(json, graph);
  oxp__json_array(json, "functions");
  for (size_t i = 0; i < graph->model.functions.count; i++)
    json_function(json, graph->model.functions.at[i]);
  oxp__json_end(json, ']');
}
