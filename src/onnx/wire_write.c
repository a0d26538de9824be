// wire_write.c: a model as bytes. One walk over the schema table serves twice: it first counts (a message's length stands before
// it), then writes. Small things are collected in a buffer; payloads pass through as streams, never whole. Does not check
// whether the model makes sense. Place: onnx.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/copy.h"
#include "onnx/schema.h"

// Arrays from WIRE_DEFER_BYTES on are worth a job of their own where the sink can copy them.
enum { WIRE_BUFFER_BYTES = 64 * 1024, WIRE_DEFER_BYTES = 256 * 1024 };

// A payload that the sink copies at the end, and what it will have seen then.
typedef struct wire_deferred {
  struct wire_deferred *next;
  const oxp__tensor_proto *proto;
  oxp__tensor_stats stats;
} wire_deferred;

typedef struct wire_writer {
  const oxp_graph *graph;
  oxp__measure *counting;      // bytes and lengths so far; NULL while writing
  const oxp__measure *measure; // while writing
  size_t next;                 // length that was not written yet
  oxp__sink sink;
  unsigned char *buffer;
  size_t buffered;
  oxp__arena arena;        // of what is deferred
  wire_deferred *deferred; // the last one first
  oxp_error *error;
} wire_writer;

static oxp_status wire_message(wire_writer *writer, const oxp__schema *schema, const void *message);

// --- Bytes ---

static oxp_status wire_flush(wire_writer *writer)
{
  if (writer->buffered == 0)
    return OXP_OK;
  size_t count = writer->buffered;
  writer->buffered = 0;
  return writer->sink.write(writer->sink.context, writer->buffer, count, writer->error);
}

static oxp_status wire_bytes(wire_writer *writer, const void *bytes, size_t count)
{
  if (writer->counting) {
    writer->counting->bytes += count;
    return OXP_OK;
  }
  if (count > WIRE_BUFFER_BYTES - writer->buffered)
    OXP__TRY(wire_flush(writer));
  if (count > WIRE_BUFFER_BYTES)
    return writer->sink.write(writer->sink.context, bytes, count, writer->error);
  if (count > 0)
    memcpy(writer->buffer + writer->buffered, bytes, count);
  writer->buffered += count;
  return OXP_OK;
}

static oxp_status wire_varint(wire_writer *writer, uint64_t value)
{
  unsigned char bytes[10];
  size_t count = 0;
  for (; value > 0x7F; value >>= 7)
    bytes[count++] = (unsigned char)(value & 0x7F) | 0x80;
  bytes[count++] = (unsigned char)value;
  return wire_bytes(writer, bytes, count);
}

static oxp_status wire_tag(wire_writer *writer, const oxp__field *field)
{
  return wire_varint(writer, (uint64_t)field->number << 3 | (uint64_t)oxp__field_wire_type(field));
}

static oxp_status wire_float(wire_writer *writer, float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  unsigned char bytes[4] = { (unsigned char)bits, (unsigned char)(bits >> 8), (unsigned char)(bits >> 16),
                             (unsigned char)(bits >> 24) };
  return wire_bytes(writer, bytes, sizeof bytes);
}

static oxp_status wire_text(wire_writer *writer, const void *bytes, size_t count)
{
  OXP__TRY(wire_varint(writer, count));
  return wire_bytes(writer, bytes, count);
}

// Bytes of the source that the graph was read from.
static oxp_status wire_span(wire_writer *writer, oxp__span span)
{
  if (writer->counting) {
    writer->counting->bytes += span.count;
    return OXP_OK;
  }
  unsigned char chunk[16 * 1024];
  for (uint64_t done = 0; done < span.count;) {
    size_t count = span.count - done < sizeof chunk ? (size_t)(span.count - done) : sizeof chunk;
    const oxp_graph *graph = writer->graph;
    OXP__TRY(graph->read(graph->read_context, span.offset + done, chunk, count, writer->error));
    OXP__TRY(wire_bytes(writer, chunk, count));
    done += count;
  }
  return OXP_OK;
}

// --- Payloads ---

static oxp_status wire_payload_chunk(void *context, const void *bytes, size_t count, oxp_error *error)
{
  (void)error; // the writer's own, the same one
  return wire_bytes(context, bytes, count);
}

static oxp_status wire_defer(wire_writer *writer, const oxp__tensor_proto *proto)
{
  wire_deferred *deferred = oxp__arena_new(&writer->arena, 1, sizeof *deferred);
  if (!deferred)
    return oxp__fail_memory(writer->error, sizeof *deferred);
  *deferred = (wire_deferred){ .next = writer->deferred, .proto = proto };
  writer->deferred = deferred;
  OXP__TRY(wire_flush(writer));
  return writer->sink.defer(writer->sink.context, &proto->tensor, &deferred->stats, writer->error);
}

// Copies what was deferred; what was seen on the way becomes warnings in the order of the file.
static oxp_status wire_settle(wire_writer *writer)
{
  OXP__TRY(writer->deferred ? writer->sink.settle(writer->sink.context, writer->error) : OXP_OK);
  wire_deferred *forwards = NULL;
  while (writer->deferred) {
    wire_deferred *next = writer->deferred->next;
    writer->deferred->next = forwards;
    forwards = writer->deferred;
    writer->deferred = next;
  }
  for (; forwards; forwards = forwards->next)
    oxp__graph_warn_tensor(writer->graph, forwards->proto, &forwards->stats);
  return OXP_OK;
}

static oxp_status wire_payload(wire_writer *writer, const oxp__tensor_proto *proto)
{
  uint64_t bytes = proto->has_tensor ? oxp__tensor_bytes(&proto->tensor, proto->as) : proto->raw.count;
  OXP__TRY(wire_varint(writer, bytes));
  if (!proto->has_tensor)
    return wire_span(writer, proto->raw);
  if (writer->counting) {
    writer->counting->bytes += bytes;
    return OXP_OK;
  }
  if (writer->sink.defer && bytes >= WIRE_DEFER_BYTES && oxp__copy_way_of(&proto->tensor, proto->as) != OXP__COPY_NONE)
    return wire_defer(writer, proto);
  oxp__tensor_stats stats = { 0 };
  oxp__sink sink = { .write = wire_payload_chunk, .context = writer, .beside = writer->sink.beside };
  oxp_status status = oxp__tensor_stream(&proto->tensor, proto->as, sink, &stats, writer->error);
  if (status != OXP_OK)
    return oxp__at_key(writer->error, status, proto->name ? proto->name : "");
  oxp__graph_warn_tensor(writer->graph, proto, &stats);
  return OXP_OK;
}

// --- Fields ---

static oxp_status wire_too_big(wire_writer *writer, const char *what, uint64_t bytes)
{
  return oxp__fail(writer->error, OXP_UNSUPPORTED,
                   "%s would take %" PRIu64
                   " bytes; an ONNX file holds messages of at most %d bytes, more weights need external data",
                   what, bytes, OXP__MAX_MESSAGE_BYTES);
}

static oxp_status wire_count_submessage(wire_writer *writer, const oxp__schema *schema, const void *message)
{
  oxp__measure *measure = writer->counting;
  if (measure->count == measure->capacity) {
    size_t capacity = measure->capacity ? measure->capacity * 2 : 256;
    uint64_t *lengths = realloc(measure->lengths, capacity * sizeof *lengths);
    if (!lengths)
      return oxp__fail_memory(writer->error, capacity * sizeof *lengths);
    measure->lengths = lengths;
    measure->capacity = capacity;
  }
  size_t index = measure->count++;
  uint64_t before = measure->bytes;
  OXP__TRY(wire_message(writer, schema, message));
  uint64_t length = measure->bytes - before;
  if (length > OXP__MAX_MESSAGE_BYTES)
    return wire_too_big(writer, schema->name, length);
  measure->lengths[index] = length;
  return wire_varint(writer, length);
}

static oxp_status wire_submessage(wire_writer *writer, const oxp__schema *schema, const void *message)
{
  if (writer->counting)
    return wire_count_submessage(writer, schema, message);
  OXP__TRY(wire_varint(writer, writer->measure->lengths[writer->next++]));
  return wire_message(writer, schema, message);
}

// One value with its tag; `at` points to the member or to the list's element. Values are copied out: their types differ.
static oxp_status wire_value(wire_writer *writer, const oxp__field *field, const void *at)
{
  OXP__TRY(wire_tag(writer, field));
  switch (field->type) {
  case OXP__FIELD_INT32:
    return wire_varint(writer, (uint64_t)(int64_t) * (const int32_t *)at);
  case OXP__FIELD_INT64:
    return wire_varint(writer, (uint64_t) * (const int64_t *)at);
  case OXP__FIELD_FLOAT:
    return wire_float(writer, *(const float *)at);
  case OXP__FIELD_STRING: {
    const char *text = *(const char *const *)at;
    return wire_text(writer, text, strlen(text));
  }
  case OXP__FIELD_BYTES: {
    const oxp__bytes *bytes = at;
    return wire_text(writer, bytes->at, bytes->count);
  }
  default: {
    const void *message;
    memcpy(&message, at, sizeof message);
    return wire_submessage(writer, field->message, message);
  }
  }
}

static bool wire_is_present(const oxp__field *field, const oxp__message *base, const void *at)
{
  const void *pointer;
  switch (field->type) {
  case OXP__FIELD_INT32:
    return *(const int32_t *)at != 0 || (base->has & 1u << field->number);
  case OXP__FIELD_INT64:
    return *(const int64_t *)at != 0 || (base->has & 1u << field->number);
  case OXP__FIELD_FLOAT:
    return *(const float *)at != 0 || (base->has & 1u << field->number);
  case OXP__FIELD_PAYLOAD:
    return base->has & 1u << field->number;
  case OXP__FIELD_BYTES:
    return ((const oxp__bytes *)at)->at != NULL;
  default:
    memcpy(&pointer, at, sizeof pointer);
    return pointer != NULL;
  }
}

static oxp_status wire_repeated(wire_writer *writer, const oxp__field *field, const void *at)
{
  OXP__REPEATED(const char) list;
  memcpy(&list, at, sizeof list);
  size_t size = oxp__field_bytes(field);
  for (size_t i = 0; i < list.count; i++)
    OXP__TRY(wire_value(writer, field, list.at + i * size));
  return OXP_OK;
}

static oxp_status wire_field(wire_writer *writer, const oxp__field *field, const void *message)
{
  const void *at = (const char *)message + field->offset;
  if (field->repeated)
    return wire_repeated(writer, field, at);
  if (!wire_is_present(field, message, at))
    return OXP_OK;
  if (field->type != OXP__FIELD_PAYLOAD)
    return wire_value(writer, field, at);
  OXP__TRY(wire_tag(writer, field));
  return wire_payload(writer, message);
}

static oxp_status wire_unknown(wire_writer *writer, const oxp__message *base, uint32_t above, uint32_t below)
{
  for (size_t i = 0; i < base->unknown.count; i++) {
    const oxp__unknown *unknown = &base->unknown.at[i];
    if (unknown->number > above && unknown->number < below)
      OXP__TRY(wire_span(writer, unknown->span));
  }
  return OXP_OK;
}

static oxp_status wire_message(wire_writer *writer, const oxp__schema *schema, const void *message)
{
  const oxp__message *base = message;
  uint32_t above = 0;
  for (int i = 0; i < schema->field_count; i++) {
    const oxp__field *field = &schema->fields[i];
    if (base->unknown.count > 0)
      OXP__TRY(wire_unknown(writer, base, above, field->number));
    OXP__TRY(wire_field(writer, field, message));
    above = field->number;
  }
  return wire_unknown(writer, base, above, UINT32_MAX);
}

// --- The model ---

oxp_status oxp__model_measure(const oxp_graph *graph, oxp__measure *measure, oxp_error *error)
{
  wire_writer writer = { .graph = graph, .counting = measure, .error = error };
  OXP__TRY(wire_message(&writer, &oxp__schema_model, &graph->model));
  return measure->bytes > OXP__MAX_MESSAGE_BYTES ? wire_too_big(&writer, "the model", measure->bytes) : OXP_OK;
}

void oxp__measure_fini(oxp__measure *measure)
{
  free(measure->lengths);
  *measure = (oxp__measure){ 0 };
}

oxp_status oxp__model_size(const oxp_graph *graph, uint64_t *bytes, oxp_error *error)
{
  oxp__measure measure = { 0 };
  oxp_status status = oxp__model_measure(graph, &measure, error);
  *bytes = measure.bytes;
  oxp__measure_fini(&measure);
  return status;
}

static oxp_status wire_model(wire_writer *writer)
{
  writer->buffer = malloc(WIRE_BUFFER_BYTES);
  if (!writer->buffer)
    return oxp__fail_memory(writer->error, WIRE_BUFFER_BYTES);
  OXP__TRY(wire_message(writer, &oxp__schema_model, &writer->graph->model));
  OXP__TRY(wire_flush(writer));
  return wire_settle(writer);
}

oxp_status oxp__model_write(const oxp_graph *graph, const oxp__measure *measure, oxp__sink sink, oxp_error *error)
{
  oxp__measure own = { 0 };
  wire_writer writer = { .graph = graph, .measure = measure ? measure : &own, .sink = sink, .error = error };
  oxp_status status = measure ? OXP_OK : oxp__model_measure(graph, &own, error);
  if (status == OXP_OK)
    status = wire_model(&writer);
  oxp__arena_fini(&writer.arena);
  free(writer.buffer);
  oxp__measure_fini(&own);
  return status;
}
