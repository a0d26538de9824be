// verify_match.c: which values of a model that was given hold what the network's layers compute. First the names that
// our profiles write; where those are not in the model, shape and order (verify_match_shapes.c), as far as they leave
// no choice. What is not certain is left open. Place: engines.
#include "engines/verify_match.h"

#include <string.h>

#include "net/profile.h"

oxp_status oxp__match_list_values(const oxp__nodes *nodes, oxp__names *made, oxp_error *error)
{
  for (size_t i = 0; i < nodes->count; i++)
    for (size_t k = 0; k < nodes->at[i]->outputs.count; k++)
      if (*oxp__match_text(nodes->at[i]->outputs.at[k]) && !oxp__names_add(made, nodes->at[i]->outputs.at[k], i, NULL))
        return oxp__fail_memory(error, nodes->count);
  return OXP_OK;
}

// --- By name ---

// The place of a name in a list of inputs or outputs; -1: it is not there.
static int match_find_info(const oxp__value_infos *list, const char *name)
{
  for (size_t i = 0; i < list->count; i++)
    if (strcmp(oxp__match_text(list->at[i]->name), name) == 0)
      return (int)i;
  return -1;
}

// What the model calls a value of a fresh export. Inputs and outputs correspond by their place, whatever they are
// called.
static const char *match_name(const oxp__match *match, const oxp__names *made, const oxp_graph *fresh, const char *name,
                              bool *by_name)
{
  int input = match_find_info(&fresh->model.graph->inputs, name);
  int output = match_find_info(&fresh->model.graph->outputs, name);
  oxp_value_info info;
  *by_name = input < 0 && output < 0;
  if (input >= 0)
    return oxp_graph_input_info(match->verify->given, input, &info) ? info.name : NULL;
  if (output >= 0)
    return (size_t)output < match->model->outputs.count ? match->model->outputs.at[output]->name : NULL;
  const oxp__name *entry = oxp__names_find(made, name);
  return entry ? entry->text : NULL;
}

oxp_status oxp__match_lower(const oxp__match *match, const char *profile, oxp_graph **fresh)
{
  oxp_lower_options lower = { .profile = profile, .opset = oxp_graph_opset(match->verify->given) };
  if (oxp_graph_lower(match->verify->network, &lower, fresh, NULL) == OXP_OK)
    return OXP_OK;
  lower.opset = 0;
  return oxp_graph_lower(match->verify->network, &lower, fresh, NULL);
}

// Takes a profile's names over when the model has most of those inside; one that happens to occur proves nothing.
static bool match_take_names(oxp__match *match, const oxp__names *made, const oxp_graph *fresh)
{
  const oxp_network *network = match->verify->network;
  size_t inner_count = 0, found_count = 0;
  bool by_name;
  for (size_t i = 0; i < network->layer_count; i++) {
    const char *found = match_name(match, made, fresh, fresh->layer_values.at[i], &by_name);
    inner_count += by_name;
    found_count += by_name && found;
  }
  if (2 * found_count < inner_count || (inner_count > 0 && found_count == 0))
    return false;
  for (size_t i = 0; i < network->layer_count; i++)
    match->verify->layer_names[i] = match_name(match, made, fresh, fresh->layer_values.at[i], &by_name);
  return true;
}

static oxp_status match_by_names(oxp__match *match, bool *taken, oxp_error *error)
{
  oxp__names made = { .arena = &match->arena };
  OXP__TRY(oxp__match_list_values(&match->model->nodes, &made, error));
  *taken = false;
  for (size_t i = 0; i < oxp__profile_count && !*taken; i++) {
    oxp_graph *fresh = NULL;
    *taken = oxp__match_lower(match, oxp__profiles[i]->name, &fresh) == OXP_OK && match_take_names(match, &made, fresh);
    oxp_graph_free(fresh);
  }
  return OXP_OK;
}

// --- Both ---

// Says how it was done, and what could not be.
static oxp_status match_end(oxp__match *match, bool by_names, oxp_error *error)
{
  oxp__verify *verify = match->verify;
  size_t missing = 0;
  oxp__text labels = { 0 };
  for (size_t i = 0; i < verify->network->layer_count; i++) {
    char label[256];
    if (verify->layer_names[i])
      continue;
    if (missing++ < 3)
      oxp__text_printf(&labels, "%s%s", labels.length ? ", " : "",
                       oxp__layer_label(verify->network->layers[i], label, sizeof label));
  }
  if (!by_names)
    oxp__verify_note(verify->report,
                     "The model has other names than our exports: its values were matched with layers by "
                     "shape and order.");
  if (missing > 0)
    oxp__verify_note(verify->report,
                     "For %zu of %zu layers it is not certain which value of the model is theirs: %s%s. They were not "
                     "compared.",
                     missing, verify->network->layer_count, oxp__text_string(&labels), missing > 3 ? ", ..." : "");
  oxp_status status = oxp__text_status(&labels, error);
  oxp__text_fini(&labels);
  return status;
}

oxp_status oxp__verify_match(oxp__verify *verify, oxp_error *error)
{
  oxp__match match = { .verify = verify, .model = verify->given->model.graph };
  size_t count = verify->network->layer_count;
  bool by_names = false;
  verify->layer_names = oxp__arena_new(&verify->report->arena, count, sizeof *verify->layer_names);
  if (!verify->layer_names)
    return oxp__fail_memory(error, count * sizeof *verify->layer_names);
  oxp_status status = match_by_names(&match, &by_names, error);
  if (status == OXP_OK && !by_names)
    status = oxp__match_by_shapes(&match, error);
  if (status == OXP_OK)
    status = match_end(&match, by_names, error);
  oxp__arena_fini(&match.arena);
  return status;
}
