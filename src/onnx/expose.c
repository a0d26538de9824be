// expose.c: see expose.h. Looks at names only, never into inner graphs. Place: onnx.
#include "onnx/expose.h"

#include <string.h>

#include "core/names.h"

// What a name stands for in a model.
enum { EXPOSE_OUTSIDE, EXPOSE_INSIDE }; // an input or output; a value that only nodes see

static oxp_status expose_add(oxp__names *known, const char *name, size_t what, oxp_error *error)
{
  if (!name || !*name || oxp__names_add(known, name, what, NULL))
    return OXP_OK;
  return oxp__fail_memory(error, strlen(name));
}

static oxp_status expose_list(const oxp__graph_proto *graph, oxp__names *known, oxp_error *error)
{
  for (size_t i = 0; i < graph->inputs.count; i++)
    OXP__TRY(expose_add(known, graph->inputs.at[i]->name, EXPOSE_OUTSIDE, error));
  for (size_t i = 0; i < graph->outputs.count; i++)
    OXP__TRY(expose_add(known, graph->outputs.at[i]->name, EXPOSE_OUTSIDE, error));
  for (size_t i = 0; i < graph->nodes.count; i++)
    for (size_t k = 0; k < graph->nodes.at[i]->outputs.count; k++)
      OXP__TRY(expose_add(known, graph->nodes.at[i]->outputs.at[k], EXPOSE_INSIDE, error));
  return OXP_OK;
}

// The view with the model's own outputs in a list that can grow.
static oxp_status expose_begin(const oxp_graph *graph, oxp__arena *arena, oxp_graph *view, oxp_error *error)
{
  const oxp__value_infos *outputs = &graph->model.graph->outputs;
  oxp__graph_proto *proto = oxp__arena_new(arena, 1, sizeof *proto);
  oxp__value_info **list = oxp__arena_new(arena, outputs->count, sizeof *list);
  if (!proto || !list)
    return oxp__fail_memory(error, outputs->count * sizeof *list);
  *view = *graph;
  *proto = *graph->model.graph;
  view->model.graph = proto;
  view->layer_values = (oxp__strings){ 0 };
  view->exposed_count = 0;
  if (outputs->count > 0)
    memcpy(list, outputs->at, outputs->count * sizeof *list);
  proto->outputs.at = list;
  proto->outputs.capacity = outputs->count;
  return OXP_OK;
}

static oxp_status expose_output(oxp_graph *view, const char *name, oxp__arena *arena, oxp_error *error)
{
  oxp__value_info *info = oxp__arena_new(arena, 1, sizeof *info);
  if (!info)
    return oxp__fail_memory(error, sizeof *info);
  *info = (oxp__value_info){ .name = name, .rank = -1 };
  if (!oxp__repeated_append(arena, &view->model.graph->outputs, &info, sizeof info))
    return oxp__fail_memory(error, sizeof info);
  view->exposed_count++;
  return OXP_OK;
}

static oxp_status expose_name(oxp_graph *view, oxp__names *known, const char *name, oxp__arena *arena, oxp_error *error)
{
  oxp__name *entry = name && *name ? oxp__names_find(known, name) : NULL;
  if (!entry)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the model has no value \"%s\" to hand out", name ? name : "");
  const char *copy = oxp__arena_copy(arena, name);
  if (!copy || !oxp__repeated_append(arena, &view->layer_values, &copy, sizeof copy))
    return oxp__fail_memory(error, strlen(name));
  if (entry->number == EXPOSE_OUTSIDE)
    return OXP_OK;
  entry->number = EXPOSE_OUTSIDE; // from now on
  return expose_output(view, copy, arena, error);
}

oxp_status oxp__graph_expose(const oxp_graph *graph, const char *const *names, size_t count, oxp__arena *arena,
                             oxp_graph *view, oxp_error *error)
{
  oxp__names known = { .arena = arena };
  OXP__TRY(expose_begin(graph, arena, view, error));
  OXP__TRY(expose_list(graph->model.graph, &known, error));
  for (size_t i = 0; i < count; i++)
    OXP__TRY(expose_name(view, &known, names[i], arena, error));
  return OXP_OK;
}
