// check.c: the static checker: what can be told about a model without running it. Walks a graph once in node order and keeps, for
// each value, what is known about it. Never complains about what it does not know. Place: onnx.
#include "onnx/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "onnx/external.h"

enum { CHECK_MAX_FINDINGS = 20, CHECK_MAX_FINDING_BYTES = 400, CHECK_MAX_BYTES = 3000 };

// Is what is found from now on only counted?
static bool findings_are_full(const oxp__findings *findings)
{
  return findings->shown >= CHECK_MAX_FINDINGS || findings->text.length > CHECK_MAX_BYTES;
}

void oxp__finding(oxp__findings *findings, const char *format, ...)
{
  findings->count++;
  if (findings_are_full(findings))
    return;
  findings->shown++;
  char sentence[CHECK_MAX_FINDING_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  if (findings->text.length > 0)
    oxp__text_add(&findings->text, "; ");
  if (findings->where)
    oxp__text_printf(&findings->text, "in %s: ", findings->where);
  oxp__text_add(&findings->text, sentence);
}

oxp_status oxp__findings_end(oxp__findings *findings, const char *what, oxp_error *error)
{
  if (findings->count > findings->shown)
    oxp__text_printf(&findings->text, "; and %zu more", findings->count - findings->shown);
  oxp_status status = oxp__text_status(&findings->text, error);
  if (status == OXP_OK && findings->status != OXP_OK) {
    status = findings->status;
    if (error)
      *error = findings->error;
  } else if (status == OXP_OK && findings->count > 0)
    status = oxp__fail(error, OXP_BAD_FILE, "%s: %s", what, oxp__text_string(&findings->text));
  oxp__text_fini(&findings->text);
  return status;
}

// One graph, and the graphs around it, whose values it may use.
typedef struct check_scope {
  const struct check_scope *outer;
  oxp__arena arena; // of the tables
  const oxp__graph_proto *graph;
  oxp__names values;   // name: number in the checker's list
  oxp__names declared; // outputs, then value_infos: a number in `outputs`, or behind them in `value_infos`
} check_scope;

typedef struct check_value {
  oxp__typed typed;
  bool is_input, is_initializer, is_computed;
} check_value;

// A domain that is none of ONNX's.
typedef struct check_domain_count {
  const char *domain; // borrowed
  size_t nodes;       // that were not looked at
} check_domain_count;

typedef struct checker {
  const oxp_graph *graph;
  const oxp__opsets *opsets; // of the model, or of the function that is looked at
  bool labelled; // are findings worded? Most models have none, and the words would cost more than the checks
  oxp__arena arena;
  OXP__REPEATED(check_value *) values;
  oxp__names functions;                             // of the model, by domain, name and overload
  oxp__names unknown_domains;                       // each with a number in `unknown_counts`
  OXP__REPEATED(check_domain_count) unknown_counts; // as the model names them
  oxp__findings findings;
  bool no_memory, said_no_opset;
} checker;

static void check_graph(checker *check, const oxp__graph_proto *graph, const check_scope *outer);

// --- Values ---

static const check_value *check_find(const checker *check, const check_scope *scope, const char *name)
{
  for (; scope; scope = scope->outer) {
    const oxp__name *entry = oxp__names_find(&scope->values, name);
    if (entry)
      return check->values.at[entry->number];
  }
  return NULL;
}

// Adds a value; `what` and `where` say who defines it. NULL when it cannot be added.
static check_value *check_define(checker *check, check_scope *scope, const char *name, const char *where)
{
  if (!oxp__text_is_utf8(name, strlen(name)))
    oxp__finding(&check->findings, "%s: the name \"%s\" is not UTF-8", where, name);
  bool added = false;
  check_value *value = oxp__arena_new(&check->arena, 1, sizeof *value);
  // First the list: a name must not lead to a place that the list does not have.
  bool listed = value && oxp__repeated_append(&check->arena, &check->values, &value, sizeof value);
  oxp__name *entry = listed ? oxp__names_add(&scope->values, name, check->values.count - 1, &added) : NULL;
  if (entry && !added)
    oxp__finding(&check->findings, "%s: the value \"%s\" is there already", where, name);
  check->no_memory = check->no_memory || !entry;
  if (!added)
    return NULL;
  value->typed = oxp__typed_unknown;
  return value;
}

// What a declaration says.
static oxp__typed check_declared(const oxp__value_info *info)
{
  oxp__typed typed = oxp__typed_unknown;
  typed.dtype = oxp__value_info_dtype(info);
  if (!info->shape || info->rank > OXP_MAX_RANK)
    return typed;
  typed.rank = info->rank;
  memcpy(typed.dims, info->shape, (size_t)info->rank * sizeof *info->shape);
  return typed;
}

static bool check_shapes_agree(const oxp__typed *a, const oxp__typed *b)
{
  int64_t ignored;
  if (a->rank < 0 || b->rank < 0)
    return true;
  for (int i = 0; i < a->rank && a->rank == b->rank; i++)
    if (!oxp__infer_same_dim(a->dims[i], b->dims[i], &ignored))
      return false;
  return a->rank == b->rank;
}

// Compares what is declared with what was found out, and lets each fill the other's gaps.
static void check_merge(checker *check, const char *name, const oxp__typed *declared, oxp__typed *known)
{
  char one[OXP__INFER_TEXT], two[OXP__INFER_TEXT];
  if (declared->dtype != 0 && known->dtype != 0 && declared->dtype != known->dtype)
    oxp__finding(&check->findings, "value \"%s\" is declared %s, but is %s", name,
                 oxp_dtype_name((oxp_dtype)declared->dtype), oxp_dtype_name((oxp_dtype)known->dtype));
  if (!check_shapes_agree(declared, known)) {
    oxp__finding(&check->findings, "value \"%s\" is declared with shape %s, but has %s", name,
                 oxp__infer_shape_text(declared, one, sizeof one), oxp__infer_shape_text(known, two, sizeof two));
    return;
  }
  if (known->dtype == 0)
    known->dtype = declared->dtype;
  for (int i = 0; i < declared->rank; i++)
    if (known->rank < 0)
      known->dims[i] = declared->dims[i];
    else
      (void)oxp__infer_same_dim(known->dims[i], declared->dims[i], &known->dims[i]);
  if (known->rank < 0)
    known->rank = declared->rank;
}

// --- Declarations ---

static void check_declaration(checker *check, const oxp__value_info *info, const char *where)
{
  if (!info->name || !*info->name)
    oxp__finding(&check->findings, "%s has no name", where);
  if (!info->type || (info->type->tensor && info->type->tensor->dtype == 0))
    oxp__finding(&check->findings, "%s \"%s\" declares no type", where, info->name ? info->name : "");
}

static void check_inputs(checker *check, check_scope *scope)
{
  const oxp__value_infos *inputs = &scope->graph->inputs;
  for (size_t i = 0; i < inputs->count; i++) {
    char where[48];
    snprintf(where, sizeof where, "graph input %zu", i);
    const oxp__value_info *info = inputs->at[i];
    if (!scope->outer) // a nested graph's may be left open
      check_declaration(check, info, where);
    check_value *value = info->name && *info->name ? check_define(check, scope, info->name, where) : NULL;
    if (!value)
      continue;
    value->typed = check_declared(info);
    value->is_input = true;
  }
}

// Enters outputs and inner declarations, so that nodes find them.
static void check_declare(checker *check, check_scope *scope)
{
  const oxp__value_infos *lists[] = { &scope->graph->outputs, &scope->graph->value_infos };
  size_t number = 0;
  for (size_t l = 0; l < 2; l++)
    for (size_t i = 0; i < lists[l]->count; i++, number++) {
      const char *name = lists[l]->at[i]->name;
      if (name && !oxp__names_add(&scope->declared, name, number, NULL))
        check->no_memory = true;
    }
}

static const oxp__value_info *check_declaration_of(const check_scope *scope, const char *name)
{
  const oxp__name *entry = oxp__names_find(&scope->declared, name);
  if (!entry)
    return NULL;
  size_t outputs = scope->graph->outputs.count;
  return entry->number < outputs ? scope->graph->outputs.at[entry->number]
                                 : scope->graph->value_infos.at[entry->number - outputs];
}

// --- Initializers ---

static oxp__typed check_tensor_typed(const oxp__tensor_proto *proto)
{
  oxp__typed typed = oxp__typed_unknown;
  typed.dtype = proto->data_type;
  typed.constant = proto;
  if (proto->dims.count > OXP_MAX_RANK)
    return typed;
  typed.rank = (int)proto->dims.count;
  for (int i = 0; i < typed.rank; i++)
    typed.dims[i] = proto->dims.at[i];
  return typed;
}

static void check_initializer(checker *check, check_scope *scope, const oxp__tensor_proto *proto, const char *where)
{
  oxp__check_array(check->graph, &check->findings, proto, where);
  if (!proto->name || !*proto->name) {
    oxp__finding(&check->findings, "%s has no name", where);
    return;
  }
  oxp__typed typed = check_tensor_typed(proto);
  const oxp__name *entry = oxp__names_find(&scope->values, proto->name);
  check_value *value = entry ? check->values.at[entry->number] : NULL;
  if (value && value->is_input && !value->is_initializer) { // the input's default: it may change
    typed.constant = NULL;
    check_merge(check, proto->name, &value->typed, &typed);
    value->is_initializer = true;
    return;
  }
  if (!scope->outer && check->graph->model.ir_version < 4)
    oxp__finding(&check->findings, "%s must be a graph input too, as long as the IR version is below 4", where);
  value = check_define(check, scope, proto->name, where);
  if (!value)
    return;
  value->typed = typed;
  value->is_initializer = true;
}

static void check_initializers(checker *check, check_scope *scope)
{
  for (size_t i = 0; i < scope->graph->initializers.count; i++) {
    const oxp__tensor_proto *proto = scope->graph->initializers.at[i];
    char where[160] = "";
    if (check->labelled)
      snprintf(where, sizeof where, "initializer %zu \"%.100s\"", i, proto->name ? proto->name : "");
    check_initializer(check, scope, proto, where);
  }
}

static void check_sparse_initializers(checker *check, check_scope *scope)
{
  const oxp__sparse_tensors *list = &scope->graph->sparse_initializers;
  for (size_t i = 0; i < list->count; i++) {
    const oxp__sparse_tensor *sparse = list->at[i];
    const char *name = sparse->values ? sparse->values->name : NULL;
    char where[160];
    snprintf(where, sizeof where, "sparse initializer %zu \"%.100s\"", i, name ? name : "");
    if (!name || !*name)
      oxp__finding(&check->findings, "%s has no name", where);
    oxp__check_sparse(check->graph, &check->findings, sparse, where);
    check_value *value = name && *name ? check_define(check, scope, name, where) : NULL;
    if (!value)
      continue;
    oxp__tensor_proto whole = { .data_type = sparse->values->data_type, .dims = sparse->dims };
    value->typed = check_tensor_typed(&whole);
    value->typed.constant = NULL;
    value->is_initializer = true;
  }
}

// --- Nodes ---

// The default domain has two names.
static const char *check_domain(const char *domain)
{
  return !domain || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

// Models import a handful; every node looks through them, so that more are a fault and not looked at.
enum { CHECK_MOST_IMPORTS = 1000 };

// The opset that is imported of a domain ("": the default one); 0: none.
static int64_t check_import(const checker *check, const char *domain)
{
  for (size_t i = 0; i < check->opsets->count && i < CHECK_MOST_IMPORTS; i++)
    if (strcmp(check_domain(check->opsets->at[i]->domain), domain) == 0)
      return check->opsets->at[i]->version;
  return 0;
}

// The node that computes a value which is not there yet; none: the number of nodes. Looks only for what will be read.
static size_t check_computed_later(const checker *check, const check_scope *scope, const char *name)
{
  const oxp__nodes *nodes = &scope->graph->nodes;
  for (size_t i = 0; check->labelled && !findings_are_full(&check->findings) && i < nodes->count; i++)
    for (size_t j = 0; j < nodes->at[i]->outputs.count; j++)
      if (strcmp(nodes->at[i]->outputs.at[j], name) == 0)
        return i;
  return nodes->count;
}

// The node's inputs as the inference sees them: NULL for absent ones, unknown for those that are not there (a finding).
static void check_node_inputs(checker *check, const check_scope *scope, const oxp__node *node, const char *label,
                              const oxp__typed **inputs)
{
  for (size_t i = 0; i < node->inputs.count; i++) {
    const char *name = node->inputs.at[i];
    const check_value *value = *name ? check_find(check, scope, name) : NULL;
    inputs[i] = value ? &value->typed : *name ? &oxp__typed_unknown : NULL;
    if (value || !*name)
      continue;
    size_t later = check_computed_later(check, scope, name);
    if (later < scope->graph->nodes.count)
      oxp__finding(&check->findings, "%s: input %zu \"%s\" is computed only by node %zu", label, i, name, later);
    else
      oxp__finding(&check->findings, "%s: nothing gives input %zu \"%s\"", label, i, name);
  }
}

static void check_node_outputs(checker *check, check_scope *scope, const oxp__inference *io, const char *label)
{
  for (size_t i = 0; i < io->output_count; i++) {
    const char *name = io->node->outputs.at[i];
    check_value *value = *name ? check_define(check, scope, name, label) : NULL;
    if (!value)
      continue;
    value->typed = io->outputs[i];
    value->is_computed = true;
    const oxp__value_info *info = check_declaration_of(scope, name);
    oxp__typed declared = info ? check_declared(info) : oxp__typed_unknown;
    check_merge(check, name, &declared, &value->typed);
  }
}

// A function's place in the table of functions; NULL when memory is out.
static const char *check_function_key(checker *check, const char *domain, const char *name, const char *overload)
{
  const char *key = oxp__arena_printf(&check->arena, "%s\n%s\n%s", domain, name, overload ? overload : "");
  check->no_memory |= !key;
  return key;
}

// Whether the model itself says what the node's operator does.
static bool check_is_function(checker *check, const oxp__node *node)
{
  if (check->functions.count == 0)
    return false;
  const char *key = check_function_key(check, check_domain(node->domain), node->op_type, node->overload);
  return key && oxp__names_find(&check->functions, key);
}

// Counts a node of a domain that is none of ONNX's.
static void check_count_unknown(checker *check, const char *domain)
{
  const check_domain_count none = { .domain = domain };
  bool added = false;
  oxp__name *entry = oxp__names_add(&check->unknown_domains, domain, check->unknown_counts.count, &added);
  if (!entry || (added && !oxp__repeated_append(&check->arena, &check->unknown_counts, &none, sizeof none)))
    check->no_memory = true;
  else
    check->unknown_counts.at[entry->number].nodes++;
}

// An operator that its domain does not have at this opset: because it came later, went, or never was.
static void check_missing(checker *check, const oxp__operator *row, const oxp__inference *io, const char *domain,
                          const char *label)
{
  const char *name = io->node->op_type, *of = *domain ? " of the domain " : "";
  int since = oxp__operator_since(domain, name);
  if (row)
    oxp__finding(&check->findings, "%s: the operator %s was taken out in opset %d%s%s, and the model imports %d", label,
                 name, row->since, of, domain, io->opset);
  else if (since > 0)
    oxp__finding(&check->findings, "%s: the operator %s came with opset %d%s%s, and the model imports %d", label, name,
                 since, of, domain, io->opset);
  else
    oxp__finding(&check->findings, "%s: opset %d%s%s has no operator %s", label, io->opset, of, domain, name);
}

static void check_no_import(checker *check, const char *domain, const char *label)
{
  if (*domain)
    oxp__finding(&check->findings, "%s: the domain \"%s\" has no opset import", label, domain);
  else if (!check->said_no_opset)
    oxp__finding(&check->findings, "%s: the default domain has no opset import", label);
  check->said_no_opset |= !*domain;
}

static void check_operator(checker *check, oxp__inference *io, const char *label)
{
  const oxp__node *node = io->node;
  const char *domain = check_domain(node->domain);
  if (!node->op_type || !*node->op_type) {
    oxp__finding(&check->findings, "%s has no operator", label);
    return;
  }
  int64_t opset = check_import(check, domain);
  int newest = oxp__domain_newest(domain);
  if (opset == 0)
    check_no_import(check, domain, label);
  if (check_is_function(check, node))
    return;
  if (newest == 0)
    check_count_unknown(check, domain);
  if (opset < 1 || opset > newest)
    return; // said once, about the model
  io->opset = (int)opset;
  const oxp__operator *row = oxp__operator_find(domain, node->op_type, io->opset);
  if (row && row->signature)
    oxp__check_operator(&check->findings, row, io, label);
  else
    check_missing(check, row, io, domain, label);
}

static void check_subgraphs(checker *check, const check_scope *scope, const oxp__node *node, const char *label)
{
  const char *outer = check->findings.where;
  for (size_t i = 0; i < node->attributes.count; i++) {
    const oxp__attribute *attribute = node->attributes.at[i];
    char where[OXP__NODE_LABEL + 64];
    snprintf(where, sizeof where, "\"%.40s\" of %s", attribute->name ? attribute->name : "", label);
    check->findings.where = where;
    if (attribute->g)
      check_graph(check, attribute->g, scope);
    for (size_t j = 0; j < attribute->graphs.count; j++)
      check_graph(check, attribute->graphs.at[j], scope);
    check->findings.where = outer;
  }
}

static void check_constants(checker *check, const oxp__node *node, const char *label)
{
  for (size_t i = 0; i < node->attributes.count; i++) {
    const oxp__attribute *attribute = node->attributes.at[i];
    char where[OXP__NODE_LABEL + 64] = "";
    if (check->labelled)
      snprintf(where, sizeof where, "%s: attribute \"%.40s\"", label, attribute->name ? attribute->name : "");
    if (attribute->t)
      oxp__check_array(check->graph, &check->findings, attribute->t, where);
    if (attribute->sparse)
      oxp__check_sparse(check->graph, &check->findings, attribute->sparse, where);
    for (size_t j = 0; j < attribute->tensors.count; j++)
      oxp__check_array(check->graph, &check->findings, attribute->tensors.at[j], where);
    for (size_t j = 0; j < attribute->sparse_list.count; j++)
      oxp__check_sparse(check->graph, &check->findings, attribute->sparse_list.at[j], where);
  }
}

static void check_node(checker *check, check_scope *scope, const oxp__node *node, size_t index)
{
  char label[OXP__NODE_LABEL] = "";
  if (check->labelled)
    oxp__node_label(node, index, label, sizeof label);
  const oxp__typed **inputs = calloc(node->inputs.count + 1, sizeof *inputs);
  oxp__typed *outputs = calloc(node->outputs.count + 1, sizeof *outputs);
  if (inputs && outputs) {
    for (size_t i = 0; i < node->outputs.count; i++)
      outputs[i] = oxp__typed_unknown;
    oxp__inference io = { .node = node, .inputs = inputs, .input_count = node->inputs.count };
    io.outputs = outputs;
    io.output_count = node->outputs.count;
    check_node_inputs(check, scope, node, label, inputs);
    oxp__check_attributes(&check->findings, node, label);
    check_constants(check, node, label);
    check_operator(check, &io, label);
    check_subgraphs(check, scope, node, label);
    check_node_outputs(check, scope, &io, label);
  } else
    check->no_memory = true;
  free(inputs);
  free(outputs);
}

// Names of nodes that stand twice.
static void check_node_names(checker *check, check_scope *scope)
{
  oxp__names names = { .arena = &scope->arena };
  const oxp__nodes *nodes = &scope->graph->nodes;
  if (!oxp__names_reserve(&names, nodes->count))
    check->no_memory = true;
  for (size_t i = 0; i < nodes->count; i++) {
    const oxp__node *node = nodes->at[i];
    bool added = true;
    if (node->name && *node->name && !oxp__names_add(&names, node->name, i, &added))
      check->no_memory = true;
    if (!added)
      oxp__finding(&check->findings, "nodes %" PRIu32 " and %zu are both called \"%s\"",
                   oxp__names_find(&names, node->name)->number, i, node->name);
  }
}

// --- Graphs ---

static void check_outputs(checker *check, const check_scope *scope)
{
  const oxp__value_infos *outputs = &scope->graph->outputs;
  for (size_t i = 0; i < outputs->count; i++) {
    const oxp__value_info *info = outputs->at[i];
    char where[48];
    snprintf(where, sizeof where, "graph output %zu", i);
    if (!scope->outer)
      check_declaration(check, info, where);
    const check_value *value = info->name ? check_find(check, scope, info->name) : NULL;
    if (info->name && *info->name && !value)
      oxp__finding(&check->findings, "%s: nothing gives \"%s\"", where, info->name);
    // Values that nodes compute were compared where they were made.
    if (!value || value->is_computed)
      continue;
    oxp__typed declared = check_declared(info), known = value->typed;
    check_merge(check, info->name, &declared, &known);
  }
}

static void check_scope_begin(checker *check, check_scope *scope)
{
  const oxp__graph_proto *graph = scope->graph;
  scope->values.arena = scope->declared.arena = &scope->arena;
  if (!oxp__names_reserve(&scope->values, graph->initializers.count + graph->nodes.count))
    check->no_memory = true;
}

static void check_nodes(checker *check, check_scope *scope)
{
  check_declare(check, scope);
  check_node_names(check, scope);
  for (size_t i = 0; i < scope->graph->nodes.count; i++)
    check_node(check, scope, scope->graph->nodes.at[i], i);
}

static void check_graph(checker *check, const oxp__graph_proto *graph, const check_scope *outer)
{
  check_scope scope = { .outer = outer, .graph = graph };
  check_scope_begin(check, &scope);
  if (!graph->name || !*graph->name)
    oxp__finding(&check->findings, "%s has no name", outer ? "a nested graph" : "the graph");
  check_inputs(check, &scope);
  check_initializers(check, &scope);
  check_sparse_initializers(check, &scope);
  check_nodes(check, &scope);
  check_outputs(check, &scope);
  oxp__arena_fini(&scope.arena);
}

// --- Functions ---

static void check_function_names(checker *check)
{
  for (size_t i = 0; i < check->graph->model.functions.count; i++) {
    const oxp__function *function = check->graph->model.functions.at[i];
    bool added = true;
    if (!function->name || !*function->name) {
      oxp__finding(&check->findings, "function %zu has no name", i);
      continue;
    }
    const char *key = check_function_key(check, check_domain(function->domain), function->name, function->overload);
    if (key && !oxp__names_add(&check->functions, key, i, &added))
      check->no_memory = true;
    if (!added)
      oxp__finding(&check->findings, "function %zu \"%.100s\" is there already", i, function->name);
  }
}

// A function's body, by the opsets that the function imports. What its inputs are is open.
static void check_function(checker *check, const oxp__function *function)
{
  const oxp__graph_proto body = { .nodes = function->nodes, .value_infos = function->value_infos };
  check_scope scope = { .graph = &body };
  char where[160];
  snprintf(where, sizeof where, "the function \"%.100s\"", function->name ? function->name : "");
  check->findings.where = where;
  check->opsets = &function->opsets;
  check->said_no_opset = false;
  check_scope_begin(check, &scope);
  for (size_t i = 0; i < function->inputs.count; i++)
    (void)check_define(check, &scope, function->inputs.at[i], "an input");
  check_nodes(check, &scope);
  for (size_t i = 0; i < function->outputs.count; i++)
    if (!check_find(check, &scope, function->outputs.at[i]))
      oxp__finding(&check->findings, "nothing gives the output \"%s\"", function->outputs.at[i]);
  oxp__arena_fini(&scope.arena);
  check->findings.where = NULL;
  check->opsets = &check->graph->model.opsets;
}

static void check_functions(checker *check)
{
  for (size_t i = 0; i < check->graph->model.functions.count; i++)
    check_function(check, check->graph->model.functions.at[i]);
}

// --- The model ---

static void check_versions(checker *check)
{
  const oxp__model *model = &check->graph->model;
  enum { OLDEST_IR = 3 };
  int newest_ir = oxp__ir_version_for_opset(OXP__NEWEST_OPSET);
  if (model->ir_version < OLDEST_IR || model->ir_version > newest_ir)
    oxp__finding(&check->findings, "IR version %" PRId64 " is not one of %d to %d", model->ir_version, OLDEST_IR,
                 newest_ir);
  if (model->opsets.count > CHECK_MOST_IMPORTS)
    oxp__finding(&check->findings, "it imports %zu opsets; at most %d are looked at", model->opsets.count,
                 CHECK_MOST_IMPORTS);
  oxp__names names = { .arena = &check->arena };
  for (size_t i = 0; i < model->opsets.count; i++) {
    const oxp__opset *opset = model->opsets.at[i];
    const char *domain = check_domain(opset->domain);
    bool added = true;
    if (!oxp__names_add(&names, domain, i, &added))
      check->no_memory = true;
    if (!added)
      oxp__finding(&check->findings, "the domain \"%s\" has two opset imports", domain);
    int newest = oxp__domain_newest(domain);
    if (newest > 0 && (opset->version < 1 || opset->version > newest))
      oxp__finding(&check->findings, "opset %" PRId64 "%s%s is not one of 1 to %d", opset->version,
                   *domain ? " of the domain " : "", domain, newest);
  }
}

// What was not looked at, in the model's order: the table of names has one that changes from run to run.
static void check_note(const checker *check, oxp__text *notes)
{
  size_t count = check->unknown_counts.count, shown = count < CHECK_MAX_FINDINGS ? count : CHECK_MAX_FINDINGS;
  for (size_t i = 0; i < shown; i++) {
    const check_domain_count *unknown = &check->unknown_counts.at[i];
    oxp__text_printf(notes, "%s%zu %s of the domain \"%.100s\"", i > 0 ? ", " : "", unknown->nodes,
                     unknown->nodes == 1 ? "node" : "nodes", unknown->domain);
  }
  if (count > shown)
    oxp__text_printf(notes, " and of %zu more domains", count - shown);
}

static oxp_status check_model(const oxp_graph *graph, bool labelled, oxp__text *notes, oxp_error *error)
{
  checker check = { .graph = graph, .opsets = &graph->model.opsets, .labelled = labelled };
  check.functions.arena = check.unknown_domains.arena = &check.arena;
  check_versions(&check);
  check_function_names(&check);
  check_graph(&check, graph->model.graph, NULL);
  check_functions(&check);
  oxp__external_find_faults(graph, &check.findings);
  oxp_status status = oxp__findings_end(&check.findings, "the model breaks the rules of ONNX", error);
  if (check.no_memory)
    status = oxp__fail_memory(error, sizeof(check_value));
  if (notes)
    check_note(&check, notes);
  oxp__arena_fini(&check.arena);
  return status;
}

oxp_status oxp__model_check(const oxp_graph *graph, oxp__text *notes, oxp_error *error)
{
  oxp_status status = check_model(graph, false, notes, error);
  return status == OXP_BAD_FILE ? check_model(graph, true, NULL, error) : status;
}

// The format's limit of 2 GiB is on a file; weights that can lie in a data file beside it are the writer's business.
static oxp_status check_size(const oxp_graph *graph, oxp_error *error)
{
  uint64_t bytes;
  return oxp__external_bytes(graph) > 0 ? OXP_OK : oxp__model_size(graph, &bytes, error);
}

oxp_status oxp__graph_check(const oxp_graph *graph, oxp__text *notes, oxp_error *error)
{
  OXP__NEED(graph, error);
  OXP__TRY(oxp__model_check(graph, notes, error));
  return check_size(graph, error);
}

oxp_status oxp_graph_check(const oxp_graph *graph, oxp_error *error)
{
  return oxp__graph_check(graph, NULL, error);
}
