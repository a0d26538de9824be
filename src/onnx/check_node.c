// check_node.c: one node against its row of the operator table. Place: onnx.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/names.h"
#include "onnx/check.h"

const char *oxp__node_label(const oxp__node *node, size_t index, char *label, size_t size)
{
  const char *type = node->op_type ? node->op_type : "?";
  if (node->name && *node->name)
    snprintf(label, size, "node %zu \"%.80s\" (%.60s)", index, node->name, type);
  else
    snprintf(label, size, "node %zu (%.60s)", index, type);
  return label;
}

// --- Attributes by themselves ---

static const struct {
  char letter;
  const char *name;
} check_kinds[] = { [OXP__ATTR_UNDEFINED] = { '?', "no kind" },
                    [OXP__ATTR_FLOAT] = { 'f', "float" },
                    [OXP__ATTR_INT] = { 'i', "int" },
                    [OXP__ATTR_STRING] = { 's', "string" },
                    [OXP__ATTR_TENSOR] = { 't', "tensor" },
                    [OXP__ATTR_GRAPH] = { 'g', "graph" },
                    [OXP__ATTR_FLOATS] = { 'F', "floats" },
                    [OXP__ATTR_INTS] = { 'I', "ints" },
                    [OXP__ATTR_STRINGS] = { 'S', "strings" },
                    [OXP__ATTR_TENSORS] = { 'T', "tensors" },
                    [OXP__ATTR_GRAPHS] = { 'G', "graphs" },
                    [OXP__ATTR_SPARSE_TENSOR] = { 'p', "sparse tensor" },
                    [OXP__ATTR_SPARSE_TENSORS] = { 'P', "sparse tensors" },
                    [OXP__ATTR_TYPE] = { 'y', "type" },
                    [OXP__ATTR_TYPES] = { 'Y', "types" } };

enum { CHECK_KIND_COUNT = sizeof check_kinds / sizeof *check_kinds };

static char check_kind_letter(int32_t type)
{
  return type > 0 && type < CHECK_KIND_COUNT ? check_kinds[type].letter : '?';
}

static const char *check_kind_name(int32_t type)
{
  return type > 0 && type < CHECK_KIND_COUNT ? check_kinds[type].name : "an unknown kind";
}

static const char *check_letter_name(char letter)
{
  for (int32_t i = 1; i < CHECK_KIND_COUNT; i++)
    if (check_kinds[i].letter == letter)
      return check_kinds[i].name;
  return "?";
}

// The kind whose value is there although the attribute says another; 0: none.
static int32_t check_stray_value(const oxp__attribute *attribute)
{
  const struct {
    int32_t type;
    bool there;
  } values[] = { { OXP__ATTR_FLOAT, attribute->base.has & 1u << OXP__ATTRIBUTE_F },
                 { OXP__ATTR_INT, attribute->base.has & 1u << OXP__ATTRIBUTE_I },
                 { OXP__ATTR_STRING, attribute->s.at },
                 { OXP__ATTR_TENSOR, attribute->t },
                 { OXP__ATTR_GRAPH, attribute->g },
                 { OXP__ATTR_FLOATS, attribute->floats.count > 0 },
                 { OXP__ATTR_INTS, attribute->ints.count > 0 },
                 { OXP__ATTR_STRINGS, attribute->strings.count > 0 },
                 { OXP__ATTR_TENSORS, attribute->tensors.count > 0 },
                 { OXP__ATTR_GRAPHS, attribute->graphs.count > 0 },
                 { OXP__ATTR_SPARSE_TENSOR, attribute->sparse },
                 { OXP__ATTR_SPARSE_TENSORS, attribute->sparse_list.count > 0 },
                 { OXP__ATTR_TYPE, attribute->type_proto },
                 { OXP__ATTR_TYPES, attribute->type_protos.count > 0 } };
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    if (values[i].there && values[i].type != attribute->type)
      return values[i].type;
  return 0;
}

static void check_attribute(oxp__findings *findings, const oxp__attribute *attribute, const char *label)
{
  if (!attribute->name || !*attribute->name) {
    oxp__finding(findings, "%s has an attribute without a name", label);
    return;
  }
  if (attribute->ref_attr_name && *attribute->ref_attr_name)
    return;
  int32_t stray = check_stray_value(attribute);
  if (attribute->type == OXP__ATTR_UNDEFINED)
    oxp__finding(findings, "%s: attribute \"%s\" does not say its kind", label, attribute->name);
  else if (stray)
    oxp__finding(findings, "%s: attribute \"%s\" says %s, but holds %s", label, attribute->name,
                 check_kind_name(attribute->type), check_kind_name(stray));
  else if ((attribute->type == OXP__ATTR_TENSOR && !attribute->t) ||
           (attribute->type == OXP__ATTR_GRAPH && !attribute->g) ||
           (attribute->type == OXP__ATTR_SPARSE_TENSOR && !attribute->sparse) ||
           (attribute->type == OXP__ATTR_TYPE && !attribute->type_proto))
    oxp__finding(findings, "%s: attribute \"%s\" says %s, but holds none", label, attribute->name,
                 check_kind_name(attribute->type));
}

void oxp__check_attributes(oxp__findings *findings, const oxp__node *node, const char *label)
{
  oxp__arena arena = { 0 };
  oxp__names names = { .arena = &arena };
  for (size_t i = 0; i < node->attributes.count; i++) {
    const oxp__attribute *attribute = node->attributes.at[i];
    check_attribute(findings, attribute, label);
    bool added = true;
    if (attribute->name && node->attributes.count > 1)
      (void)oxp__names_add(&names, attribute->name, i, &added);
    if (!added)
      oxp__finding(findings, "%s has two attributes \"%s\"", label, attribute->name);
  }
  oxp__arena_fini(&arena);
}

// --- Attributes against the table ---

// The kind letter behind `name:` in a row's list, and whether it is required; 0 when it is not there.
static char check_declared_kind(const char *list, const char *name)
{
  size_t length = strlen(name);
  for (const char *at = list; at; at = strchr(at, ' ')) {
    at += *at == ' ';
    if (strncmp(at, name, length) == 0 && at[length] == ':')
      return at[length + 1];
  }
  return 0;
}

static void check_declared_attributes(oxp__findings *findings, const oxp__operator *row, const oxp__inference *io,
                                      const char *label)
{
  for (size_t i = 0; i < io->node->attributes.count; i++) {
    const oxp__attribute *attribute = io->node->attributes.at[i];
    if (!attribute->name || !*attribute->name || attribute->type == OXP__ATTR_UNDEFINED)
      continue;
    char kind = check_declared_kind(row->attributes, attribute->name);
    if (!kind)
      oxp__finding(findings, "%s: %s has no attribute \"%s\" at opset %d", label, row->name, attribute->name,
                   io->opset);
    else if (kind != check_kind_letter(attribute->type))
      oxp__finding(findings, "%s: attribute \"%s\" is of kind %s instead of %s", label, attribute->name,
                   check_kind_name(attribute->type), check_letter_name(kind));
  }
}

static void check_required_attributes(oxp__findings *findings, const oxp__operator *row, const oxp__inference *io,
                                      const char *label)
{
  for (const char *mark = strchr(row->attributes, '!'); mark; mark = strchr(mark + 1, '!')) {
    const char *start = mark - 2; // the colon
    while (start > row->attributes && start[-1] != ' ')
      start--;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(mark - 2 - start), start);
    if (!oxp__infer_attribute(io, name))
      oxp__finding(findings, "%s lacks the attribute \"%s\"", label, name);
  }
}

// --- Signatures ---

// One place of a signature.
typedef struct check_place {
  char type, times; // times: ' ' once, '?', '+' or '*'
} check_place;

// Reads the place at *at and moves on; false at the end of this side.
static bool check_next_place(const char **at, check_place *place)
{
  while (**at == ' ')
    ++*at;
  if (**at == 0 || **at == '>')
    return false;
  place->type = *(*at)++;
  place->times = **at == '?' || **at == '+' || **at == '*' ? *(*at)++ : ' ';
  return true;
}

static const char *check_other_side(const char *signature)
{
  return strchr(signature, '>') + 1;
}

static void check_count(oxp__findings *findings, const char *side, size_t count, const char *what, const char *label)
{
  size_t least = 0, places = 0;
  bool any = false;
  check_place place;
  while (check_next_place(&side, &place)) {
    places++;
    any = any || place.times == '+' || place.times == '*';
    if (place.times == ' ' || place.times == '+')
      least = places;
  }
  if (count < least)
    oxp__finding(findings, "%s has %zu %ss, but needs at least %zu", label, count, what, least);
  else if (count > places && !any)
    oxp__finding(findings, "%s has %zu %ss, but takes at most %zu", label, count, what, places);
}

static oxp_dtype check_letter_dtype(char letter)
{
  static const struct {
    char letter;
    oxp_dtype dtype;
  } fixed[] = { { 'b', OXP_BOOL },  { 'd', OXP_FLOAT64 }, { 'f', OXP_FLOAT32 }, { 'i', OXP_INT64 },
                { 'j', OXP_INT32 }, { 's', OXP_STRING },  { 'u', OXP_UINT8 },   { 'q', OXP_UINT64 } };
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
    if (fixed[i].letter == letter)
      return fixed[i].dtype;
  return OXP_DTYPE_NONE;
}

// Element types that capitals stand for so far.
typedef struct check_types {
  int32_t bound[26];
} check_types;

static void check_input(oxp__findings *findings, check_types *types, const check_place *place, const oxp__inference *io,
                        size_t index, const char *label)
{
  const oxp__typed *value = oxp__infer_input(io, index);
  if (!oxp__infer_has_input(io, index)) {
    if (place->times == ' ' && index < io->input_count)
      oxp__finding(findings, "%s: input %zu is absent, but needed", label, index);
    return;
  }
  if (value->dtype == 0 || place->type == '-')
    return;
  int32_t expected = (int32_t)check_letter_dtype(place->type);
  if (expected == 0) {
    int32_t *bound = &types->bound[place->type - 'A'];
    expected = *bound = *bound ? *bound : value->dtype;
  }
  if (value->dtype != expected)
    oxp__finding(findings, "%s: input %zu is %s, but must be %s", label, index, oxp_dtype_name((oxp_dtype)value->dtype),
                 oxp_dtype_name((oxp_dtype)expected));
}

static void check_inputs(oxp__findings *findings, check_types *types, const char *side, const oxp__inference *io,
                         const char *label)
{
  check_place place;
  for (size_t i = 0; check_next_place(&side, &place); i++) {
    bool many = place.times == '+' || place.times == '*';
    for (size_t j = i; j < (many ? io->input_count : i + 1); j++)
      check_input(findings, types, &place, io, j, label);
  }
}

static void check_outputs(const check_types *types, const char *side, oxp__inference *io)
{
  check_place place;
  for (size_t i = 0; check_next_place(&side, &place); i++) {
    bool many = place.times == '+' || place.times == '*';
    for (size_t j = i; j < (many ? io->output_count : i + 1) && j < io->output_count; j++) {
      bool shared = place.type >= 'A' && place.type <= 'Z';
      io->outputs[j].dtype = shared ? types->bound[place.type - 'A'] : (int32_t)check_letter_dtype(place.type);
    }
  }
}

// --- All of it ---

void oxp__check_operator(oxp__findings *findings, const oxp__operator *row, oxp__inference *io, const char *label)
{
  size_t before = findings->count;
  const char *outputs = check_other_side(row->signature);
  check_types types = { { 0 } };
  check_count(findings, row->signature, io->input_count, "input", label);
  check_count(findings, outputs, io->output_count, "output", label);
  check_declared_attributes(findings, row, io, label);
  check_required_attributes(findings, row, io, label);
  check_inputs(findings, &types, row->signature, io, label);
  check_outputs(&types, outputs, io);
  oxp__infer_function infer = oxp__operator_shape(row, io->opset);
  if (findings->count == before && infer)
    infer(io);
  if (!io->problem[0])
    return;
  oxp__finding(findings, "%s: %s", label, io->problem);
  for (size_t i = 0; i < io->output_count; i++)
    io->outputs[i].rank = -1;
}
