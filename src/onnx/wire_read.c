// wire_read.c: bytes to a model, driven by the schema table. Payloads and fields that the table does not hold stay where they
// are and are remembered as spans, so memory grows with the small things that are really there and with nothing else. Trusts
// no length, no number and no nesting; does not check whether the model makes sense (check.c). Place: onnx.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "onnx/schema.h"

enum { WIRE_WINDOW_BYTES = 16 * 1024 };

typedef struct wire_reader {
  oxp_graph *graph;
  uint64_t size;         // of the source
  unsigned char *window; // the part of the source from window_start on that is in memory
  uint64_t window_start;
  size_t window_count;
  oxp_error *error;
} wire_reader;

// One field as it lies there.
typedef struct wire_item {
  uint64_t start; // of the tag
  uint32_t number;
  int wire_type;
  uint64_t value;        // VARINT, FIXED32 and FIXED64: the bits
  uint64_t content, end; // LENGTH: where the content begins; where the field ends
} wire_item;

static oxp_status wire_read_message(wire_reader *reader, const oxp__schema *schema, void *message, uint64_t at,
                                    uint64_t end, int depth);

// --- Bytes ---

static oxp_status wire_bad(wire_reader *reader, uint64_t offset, const char *where, const char *what)
{
  return oxp__fail(reader->error, OXP_BAD_FILE, "at byte %" PRIu64 ", %s: %s", offset, where, what);
}

// Byte number `at` of the source, which must be below its size.
static oxp_status wire_byte(wire_reader *reader, uint64_t at, unsigned char *byte)
{
  if (at < reader->window_start || at - reader->window_start >= reader->window_count) {
    uint64_t left = reader->size - at;
    size_t count = left < WIRE_WINDOW_BYTES ? (size_t)left : WIRE_WINDOW_BYTES;
    reader->window_count = 0;
    OXP__TRY(reader->graph->read(reader->graph->read_context, at, reader->window, count, reader->error));
    reader->window_start = at;
    reader->window_count = count;
  }
  *byte = reader->window[at - reader->window_start];
  return OXP_OK;
}

// Reads a varint at *at and moves *at behind it. At most 64 bits in at most ten bytes.
static oxp_status wire_read_varint(wire_reader *reader, const char *where, uint64_t *at, uint64_t end, uint64_t *value)
{
  uint64_t start = *at, result = 0;
  for (int shift = 0;; shift += 7) {
    unsigned char byte;
    if (*at >= end)
      return wire_bad(reader, start, where, "a number is cut off by the end of its message");
    OXP__TRY(wire_byte(reader, *at, &byte));
    if (shift == 63 && byte > 1)
      return wire_bad(reader, start, where, "a number has more than 64 bits");
    result |= (uint64_t)(byte & 0x7F) << shift;
    ++*at;
    if (byte < 0x80)
      break;
  }
  *value = result;
  return OXP_OK;
}

static oxp_status wire_read_fixed(wire_reader *reader, const char *where, uint64_t *at, uint64_t end, int count,
                                  uint64_t *value)
{
  if (end - *at < (uint64_t)count)
    return wire_bad(reader, *at, where, "a number is cut off by the end of its message");
  *value = 0;
  for (int i = 0; i < count; i++) {
    unsigned char byte;
    OXP__TRY(wire_byte(reader, *at, &byte));
    *value |= (uint64_t)byte << (8 * i);
    ++*at;
  }
  return OXP_OK;
}

static float wire_float_of(uint64_t value)
{
  uint32_t bits = (uint32_t)value;
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

// --- Items ---

static oxp_status wire_read_length(wire_reader *reader, const char *where, uint64_t *at, uint64_t end, wire_item *item)
{
  uint64_t length, start = *at;
  OXP__TRY(wire_read_varint(reader, where, at, end, &length));
  if (length > end - *at)
    return oxp__fail(reader->error, OXP_BAD_FILE,
                     "at byte %" PRIu64 ", %s: field %" PRIu32 " says %" PRIu64
                     " bytes, but its message ends after %" PRIu64,
                     start, where, item->number, length, end - *at);
  item->content = *at;
  *at += length;
  return OXP_OK;
}

// Reads tag and extent of the field at *at, and moves *at behind it.
static oxp_status wire_read_item(wire_reader *reader, const char *where, uint64_t *at, uint64_t end, wire_item *item)
{
  uint64_t tag;
  item->start = *at;
  OXP__TRY(wire_read_varint(reader, where, at, end, &tag));
  if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3)
    return wire_bad(reader, item->start, where, "this is not the tag of a field");
  item->number = (uint32_t)(tag >> 3);
  item->wire_type = (int)(tag & 7);
  oxp_status status;
  switch (item->wire_type) {
  case OXP__WIRE_VARINT:
    status = wire_read_varint(reader, where, at, end, &item->value);
    break;
  case OXP__WIRE_FIXED64:
    status = wire_read_fixed(reader, where, at, end, 8, &item->value);
    break;
  case OXP__WIRE_LENGTH:
    status = wire_read_length(reader, where, at, end, item);
    break;
  case OXP__WIRE_FIXED32:
    status = wire_read_fixed(reader, where, at, end, 4, &item->value);
    break;
  default:
    return wire_bad(reader, item->start, where, "the field has a wire type that ONNX does not use");
  }
  item->end = *at;
  return status;
}

static bool wire_is_exclusive(const oxp__schema *schema, uint32_t number)
{
  return number < 32 && (schema->exclusive & 1u << number);
}

// Forgets the other members of a oneof. The table knows all of them, so nothing that is kept unread is one.
static void wire_clear_others(const oxp__schema *schema, uint32_t number, void *message)
{
  oxp__message *base = message;
  for (int i = 0; i < schema->field_count; i++) {
    const oxp__field *other = &schema->fields[i];
    if (other->number == number || !wire_is_exclusive(schema, other->number))
      continue;
    base->has &= ~(1u << other->number);
    memset((char *)message + other->offset, 0, oxp__field_bytes(other));
  }
}

// Remembers a field without reading it; neighbours with the same number become one span.
static oxp_status wire_keep_unknown(wire_reader *reader, oxp__message *base, const wire_item *item)
{
  oxp__unknown *last = base->unknown.count > 0 ? &base->unknown.at[base->unknown.count - 1] : NULL;
  if (last && last->number == item->number && last->span.offset + last->span.count == item->start) {
    last->span.count += item->end - item->start;
    return OXP_OK;
  }
  oxp__unknown unknown = { item->number, { item->start, item->end - item->start } };
  if (!oxp__repeated_append(&reader->graph->arena, &base->unknown, &unknown, sizeof unknown))
    return oxp__fail_memory(reader->error, sizeof unknown);
  return OXP_OK;
}

// --- Values ---

// A copy of a field's content that ends in zero.
static oxp_status wire_read_bytes(wire_reader *reader, const wire_item *item, oxp__bytes *bytes)
{
  uint64_t length = item->end - item->content;
  char *copy = length < SIZE_MAX ? oxp__arena_new(&reader->graph->arena, (size_t)length + 1, 1) : NULL;
  if (!copy)
    return oxp__fail_memory(reader->error, (size_t)length);
  bool in_window = item->content >= reader->window_start && item->end - reader->window_start <= reader->window_count;
  if (in_window)
    memcpy(copy, reader->window + (item->content - reader->window_start), (size_t)length);
  else if (length > 0)
    OXP__TRY(reader->graph->read(reader->graph->read_context, item->content, copy, (size_t)length, reader->error));
  *bytes = (oxp__bytes){ copy, (size_t)length };
  return OXP_OK;
}

static oxp_status wire_read_text(wire_reader *reader, const char *where, const wire_item *item, const char **text)
{
  oxp__bytes bytes;
  OXP__TRY(wire_read_bytes(reader, item, &bytes));
  if (memchr(bytes.at, 0, bytes.count))
    return wire_bad(reader, item->content, where, "a text holds a zero byte");
  *text = bytes.at;
  return OXP_OK;
}

// A number into the member or list element at `target`.
static void wire_put_number(const oxp__field *field, uint64_t value, void *target)
{
  if (field->type == OXP__FIELD_INT32)
    *(int32_t *)target = (int32_t)(uint32_t)value;
  else if (field->type == OXP__FIELD_INT64)
    *(int64_t *)target = (int64_t)value;
  else
    *(float *)target = wire_float_of(value);
}

// What a struct member or a list element of the field's type can be.
typedef union wire_value {
  int32_t int32;
  int64_t int64;
  float number;
  const char *text;
  oxp__bytes bytes;
  void *message;
} wire_value;

static oxp_status wire_append(wire_reader *reader, const oxp__field *field, void *list, const wire_value *value)
{
  if (!oxp__repeated_append(&reader->graph->arena, list, value, oxp__field_bytes(field)))
    return oxp__fail_memory(reader->error, oxp__field_bytes(field));
  return OXP_OK;
}

// Several numbers in one field.
static oxp_status wire_read_packed(wire_reader *reader, const char *where, const oxp__field *field,
                                   const wire_item *item, void *list)
{
  for (uint64_t at = item->content; at < item->end;) {
    uint64_t number;
    if (field->type == OXP__FIELD_FLOAT)
      OXP__TRY(wire_read_fixed(reader, where, &at, item->end, 4, &number));
    else
      OXP__TRY(wire_read_varint(reader, where, &at, item->end, &number));
    wire_value value;
    wire_put_number(field, number, &value);
    OXP__TRY(wire_append(reader, field, list, &value));
  }
  return OXP_OK;
}

// A nested message: read into the one that is there already (the format merges them), or into a new one.
static oxp_status wire_read_submessage(wire_reader *reader, const oxp__field *field, const wire_item *item, void *there,
                                       int depth, wire_value *value)
{
  if (depth >= OXP__MAX_MESSAGE_DEPTH)
    return oxp__fail(reader->error, OXP_BAD_FILE, "at byte %" PRIu64 ", %s: messages are nested deeper than %d levels",
                     item->start, field->message->name, OXP__MAX_MESSAGE_DEPTH);
  value->message = there ? there : oxp__arena_new(&reader->graph->arena, 1, field->message->bytes);
  if (!value->message)
    return oxp__fail_memory(reader->error, field->message->bytes);
  return wire_read_message(reader, field->message, value->message, item->content, item->end, depth + 1);
}

// Once all parts of a message are there.
static oxp_status wire_finish_message(wire_reader *reader, const oxp__field *field, void *message)
{
  bool wanted = field->type == OXP__FIELD_MESSAGE && field->message->finish && message;
  return wanted ? field->message->finish(reader->graph, message, reader->error) : OXP_OK;
}

static oxp_status wire_finish_singles(wire_reader *reader, const oxp__schema *schema, const void *message)
{
  for (int i = 0; i < schema->field_count; i++) {
    const oxp__field *field = &schema->fields[i];
    void *single = NULL;
    if (field->type == OXP__FIELD_MESSAGE && !field->repeated)
      memcpy(&single, (const char *)message + field->offset, sizeof single);
    OXP__TRY(wire_finish_message(reader, field, single));
  }
  return OXP_OK;
}

static oxp_status wire_read_value(wire_reader *reader, const char *where, const oxp__field *field,
                                  const wire_item *item, void *there, int depth, wire_value *value)
{
  switch (field->type) {
  case OXP__FIELD_STRING:
    return wire_read_text(reader, where, item, &value->text);
  case OXP__FIELD_BYTES:
    return wire_read_bytes(reader, item, &value->bytes);
  case OXP__FIELD_MESSAGE:
    return wire_read_submessage(reader, field, item, there, depth, value);
  default:
    wire_put_number(field, item->value, value);
    return OXP_OK;
  }
}

// --- Fields ---

static oxp_status wire_read_single(wire_reader *reader, const oxp__schema *schema, const oxp__field *field,
                                   const wire_item *item, void *message, int depth)
{
  oxp__message *base = message;
  void *member = (char *)message + field->offset;
  base->has |= 1u << field->number;
  if (wire_is_exclusive(schema, field->number))
    wire_clear_others(schema, field->number, message);
  if (field->type == OXP__FIELD_PAYLOAD) {
    *(oxp__span *)member = (oxp__span){ item->content, item->end - item->content };
    return OXP_OK;
  }
  void *there = NULL;
  if (field->type == OXP__FIELD_MESSAGE)
    memcpy(&there, member, sizeof there);
  wire_value value;
  OXP__TRY(wire_read_value(reader, schema->name, field, item, there, depth, &value));
  memcpy(member, &value, oxp__field_bytes(field));
  return OXP_OK;
}

static oxp_status wire_read_field(wire_reader *reader, const oxp__schema *schema, const oxp__field *field,
                                  const wire_item *item, void *message, int depth)
{
  int expected = oxp__field_wire_type(field);
  bool packed = field->repeated && expected != OXP__WIRE_LENGTH && item->wire_type == OXP__WIRE_LENGTH;
  if (item->wire_type != expected && !packed)
    return oxp__fail(reader->error, OXP_BAD_FILE,
                     "at byte %" PRIu64 ", %s: field \"%s\" has wire type %d instead of %d", item->start, schema->name,
                     field->name, item->wire_type, expected);
  if (!field->repeated)
    return wire_read_single(reader, schema, field, item, message, depth);
  void *list = (char *)message + field->offset;
  if (packed)
    return wire_read_packed(reader, schema->name, field, item, list);
  wire_value value;
  OXP__TRY(wire_read_value(reader, schema->name, field, item, NULL, depth, &value));
  if (field->type == OXP__FIELD_MESSAGE)
    OXP__TRY(wire_finish_message(reader, field, value.message));
  return wire_append(reader, field, list, &value);
}

static oxp_status wire_read_message(wire_reader *reader, const oxp__schema *schema, void *message, uint64_t at,
                                    uint64_t end, int depth)
{
  while (at < end) {
    wire_item item = { 0 };
    OXP__TRY(wire_read_item(reader, schema->name, &at, end, &item));
    const oxp__field *field = oxp__schema_field(schema, item.number);
    if (field)
      OXP__TRY(wire_read_field(reader, schema, field, &item, message, depth));
    else
      OXP__TRY(wire_keep_unknown(reader, message, &item));
  }
  return wire_finish_singles(reader, schema, message);
}

// --- The model ---

static oxp_status wire_finish_infos(oxp_graph *graph, const oxp__value_infos *list, oxp_error *error)
{
  for (size_t i = 0; i < list->count; i++)
    OXP__TRY(oxp__value_info_finish(graph, list->at[i], error));
  return OXP_OK;
}

// The name of the first input's first dimension is the batch, whatever it is called.
static oxp_status wire_find_batch(oxp_graph *graph, oxp_error *error)
{
  const oxp__value_infos *inputs = &graph->given;
  const oxp__type *type = inputs->count > 0 ? inputs->at[0]->type : NULL;
  const oxp__tensor_shape *shape = type && type->tensor ? type->tensor->shape : NULL;
  const char *name = shape && shape->dims.count > 0 ? shape->dims.at[0]->param : NULL;
  if (!name || !*name || strcmp(name, "height") == 0 || strcmp(name, "width") == 0)
    return OXP_OK;
  const char *copy = oxp__arena_copy(&graph->arena, name);
  if (!copy)
    return oxp__fail_memory(error, strlen(name));
  graph->symbols.at[-1 - OXP_DIM_BATCH] = copy;
  return OXP_OK;
}

// Tells the inputs that must be given from those that initializers give a value.
static oxp_status wire_find_given(oxp_graph *graph, oxp_error *error)
{
  const oxp__graph_proto *proto = graph->model.graph;
  oxp__arena scratch = { 0 };
  oxp__names initializers = { .arena = &scratch };
  bool done = true;
  for (size_t i = 0; done && proto->inputs.count > 0 && i < proto->initializers.count; i++)
    if (proto->initializers.at[i]->name)
      done = oxp__names_add(&initializers, proto->initializers.at[i]->name, i, NULL);
  for (size_t i = 0; done && i < proto->inputs.count; i++) {
    const char *name = proto->inputs.at[i]->name;
    if (name && oxp__names_find(&initializers, name))
      graph->has_given = true;
    else
      done = oxp__repeated_append(&graph->arena, &graph->given, &proto->inputs.at[i], sizeof proto->inputs.at[i]);
  }
  oxp__arena_fini(&scratch);
  return done ? OXP_OK : oxp__fail_memory(error, proto->inputs.count * sizeof proto->inputs.at[0]);
}

static oxp_status wire_finish(wire_reader *reader)
{
  oxp_graph *graph = reader->graph;
  if (!graph->model.graph) {
    graph->model.graph = oxp__arena_new(&graph->arena, 1, sizeof *graph->model.graph);
    return oxp__fail(reader->error, OXP_BAD_FILE, "this is not an ONNX model: it holds no graph");
  }
  OXP__TRY(wire_find_given(graph, reader->error));
  OXP__TRY(wire_find_batch(graph, reader->error));
  OXP__TRY(wire_finish_infos(graph, &graph->model.graph->inputs, reader->error));
  OXP__TRY(wire_finish_infos(graph, &graph->model.graph->outputs, reader->error));
  return wire_finish_infos(graph, &graph->model.graph->value_infos, reader->error);
}

oxp_status oxp__model_read(oxp_graph *graph, oxp_read_function read, void *context, uint64_t size, oxp_error *error)
{
  if (size > OXP__MAX_MESSAGE_BYTES)
    return oxp__fail(error, OXP_BAD_FILE, "the file has %" PRIu64 " bytes; an ONNX file has at most %d", size,
                     OXP__MAX_MESSAGE_BYTES);
  wire_reader reader = { .graph = graph, .size = size, .error = error, .window = malloc(WIRE_WINDOW_BYTES) };
  if (!reader.window)
    return oxp__fail_memory(error, WIRE_WINDOW_BYTES);
  graph->read = read;
  graph->read_context = context;
  graph->model.graph = NULL;
  oxp_status status = wire_read_message(&reader, &oxp__schema_model, &graph->model, 0, size, 0);
  if (status == OXP_OK)
    status = wire_finish(&reader);
  free(reader.window);
  return status;
}
