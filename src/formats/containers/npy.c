// npy.c: the header of a NumPy array, parsed by hand (it is a literal of Python's language, of which only what NumPy itself
// writes is accepted), and written as NumPy writes it. Never unpickles anything. Place: formats/containers.
#include "formats/containers/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "formats/containers/bytes.h"

enum {
  NPY_MAGIC_BYTES = 6,
  NPY_HEADER_LIMIT = 64 * 1024,
  NPY_REST_LIMIT = 16 * 1024 * 1024, // behind an array; it is read too, for the checksum
  NPY_ALIGN = 64,
  NPY_GROWTH_DIGITS = 21, // NumPy leaves room for the first dimension to grow to this many digits
};
static const unsigned char npy_magic[NPY_MAGIC_BYTES] = { 0x93, 'N', 'U', 'M', 'P', 'Y' };

// --- Parsing the header's dict ---

typedef struct npy_parser {
  const char *at; // the text ends in zero
  const char *problem;
} npy_parser;

typedef struct npy_fields {
  const char *descr;
  size_t descr_length;
  bool fortran_order;
  bool seen[3]; // descr, fortran_order, shape
  int rank;
  int64_t shape[OXP_MAX_RANK];
} npy_fields;

static bool npy_stop(npy_parser *parser, const char *problem)
{
  if (!parser->problem)
    parser->problem = problem;
  return false;
}

static void npy_space(npy_parser *parser)
{
  while (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n')
    parser->at++;
}

// Skips white space and then `token`, if it comes next.
static bool npy_accept(npy_parser *parser, const char *token)
{
  npy_space(parser);
  size_t length = strlen(token);
  if (strncmp(parser->at, token, length) != 0)
    return false;
  parser->at += length;
  return true;
}

static bool npy_text(npy_parser *parser, const char **text, size_t *length)
{
  npy_space(parser);
  char quote = *parser->at;
  if (quote != '\'' && quote != '"')
    return npy_stop(parser, "a quoted text is missing");
  const char *end = strchr(parser->at + 1, quote);
  if (!end)
    return npy_stop(parser, "a quoted text does not end");
  *text = parser->at + 1;
  *length = (size_t)(end - *text);
  parser->at = end + 1;
  return memchr(*text, '\\', *length) ? npy_stop(parser, "a quoted text has an escape in it") : true;
}

static bool npy_dimension(npy_parser *parser, int64_t *dimension)
{
  npy_space(parser);
  if (*parser->at == '-')
    return npy_stop(parser, "the shape has a negative dimension");
  int64_t value = 0;
  const char *start = parser->at;
  for (; *parser->at >= '0' && *parser->at <= '9'; parser->at++)
    if (!oxp__mul_i64(value, 10, &value) || !oxp__add_i64(value, *parser->at - '0', &value))
      return npy_stop(parser, "the shape has a dimension above 2^63");
  if (*start == '0' && value > 0)
    return npy_stop(parser, "the shape has a number that begins with 0");
  *dimension = value;
  return parser->at > start ? true : npy_stop(parser, "the shape has something other than whole numbers");
}

static bool npy_shape(npy_parser *parser, npy_fields *fields)
{
  if (!npy_accept(parser, "("))
    return npy_stop(parser, "the shape is not a tuple");
  while (!npy_accept(parser, ")")) {
    if (fields->rank == OXP_MAX_RANK)
      return npy_stop(parser, "the shape has more than 8 dimensions");
    if (!npy_dimension(parser, &fields->shape[fields->rank++]))
      return false;
    bool comma = npy_accept(parser, ",");
    npy_space(parser);
    if (!comma && (*parser->at != ')' || fields->rank == 1))
      return npy_stop(parser, "the shape is not a tuple");
  }
  return true;
}

static bool npy_value(npy_parser *parser, npy_fields *fields, int key)
{
  if (fields->seen[key])
    return npy_stop(parser, "a key stands there twice");
  fields->seen[key] = true;
  if (key == 0 && npy_accept(parser, "["))
    return npy_stop(parser, "it is a structured array");
  if (key == 0)
    return npy_text(parser, &fields->descr, &fields->descr_length);
  if (key == 2)
    return npy_shape(parser, fields);
  fields->fortran_order = npy_accept(parser, "True");
  return fields->fortran_order || npy_accept(parser, "False") ? true
                                                              : npy_stop(parser, "fortran_order is not True or False");
}

static bool npy_entry(npy_parser *parser, npy_fields *fields)
{
  static const char *const keys[] = { "descr", "fortran_order", "shape" };
  const char *key;
  size_t length;
  if (!npy_text(parser, &key, &length))
    return false;
  if (!npy_accept(parser, ":"))
    return npy_stop(parser, "a colon is missing");
  for (int i = 0; i < 3; i++)
    if (strlen(keys[i]) == length && memcmp(keys[i], key, length) == 0)
      return npy_value(parser, fields, i);
  return npy_stop(parser, "there is a key other than descr, fortran_order and shape");
}

static bool npy_parse(npy_parser *parser, npy_fields *fields)
{
  if (!npy_accept(parser, "{"))
    return npy_stop(parser, "it does not start with {");
  while (!npy_accept(parser, "}")) {
    if (!npy_entry(parser, fields))
      return false;
    bool comma = npy_accept(parser, ",");
    npy_space(parser);
    if (!comma && *parser->at != '}')
      return npy_stop(parser, "a comma is missing");
  }
  if (!fields->seen[0] || !fields->seen[1] || !fields->seen[2])
    return npy_stop(parser, "descr, fortran_order or shape is missing");
  return true;
}

static bool npy_at_end(npy_parser *parser, const char *end)
{
  npy_space(parser);
  return parser->at == end ? true : npy_stop(parser, "something follows the }");
}

// --- Element types ---

typedef struct npy_type {
  char letter;
  size_t bytes;
  oxp_dtype dtype;
} npy_type;

static const npy_type npy_types[] = { { 'f', 2, OXP_FLOAT16 },   { 'f', 4, OXP_FLOAT32 },    { 'f', 8, OXP_FLOAT64 },
                                      { 'i', 1, OXP_INT8 },      { 'i', 2, OXP_INT16 },      { 'i', 4, OXP_INT32 },
                                      { 'i', 8, OXP_INT64 },     { 'u', 1, OXP_UINT8 },      { 'u', 2, OXP_UINT16 },
                                      { 'u', 4, OXP_UINT32 },    { 'u', 8, OXP_UINT64 },     { 'b', 1, OXP_BOOL },
                                      { 'c', 8, OXP_COMPLEX64 }, { 'c', 16, OXP_COMPLEX128 } };

// Splits "<f4" into byte order, letter and size. `<` and `>` are orders; with `=`, `|` or none it is little-endian, whatever this
// machine is: a file must mean the same everywhere.
static oxp_status npy_read_descr(oxp__npy *npy, oxp_error *error)
{
  const char *at = npy->descr;
  npy->tensor.big_endian = *at == '>';
  if (*at && strchr("<>=|", *at))
    at++;
  npy->type_letter = *at ? *at++ : '?';
  if (npy->type_letter == 'O')
    return oxp__fail(error, OXP_BAD_FILE, "the array holds pickled Python objects ('%s'); they are never loaded",
                     npy->descr);
  size_t number = 0;
  for (; *at >= '0' && *at <= '9' && number < 100000000; at++)
    number = number * 10 + (size_t)(*at - '0');
  bool text = npy->type_letter == 'U' || npy->type_letter == 'S';
  npy->item_bytes = npy->type_letter == 'U' ? number * 4 : number;
  if (!*at && text) {
    npy->tensor.dtype = OXP_STRING;
    return OXP_OK;
  }
  for (size_t i = 0; !*at && i < sizeof npy_types / sizeof npy_types[0]; i++)
    if (npy_types[i].letter == npy->type_letter && npy_types[i].bytes == number) {
      npy->tensor.dtype = npy_types[i].dtype;
      return OXP_OK;
    }
  return oxp__fail(error, OXP_BAD_FILE, "the array's element type '%s' is not known", npy->descr);
}

// --- Opening ---

// The first bytes, read at once: NumPy pads magic, version, length and a short dict to this size.
typedef struct npy_head {
  unsigned char bytes[128];
  size_t count;  // bytes that are here
  size_t start;  // of the dict
  size_t length; // of the dict; it may go on behind what is here
} npy_head;

static oxp_status npy_read_head(oxp_read_function read, void *context, uint64_t total, npy_head *head, oxp_error *error)
{
  unsigned char *bytes = head->bytes;
  *head = (npy_head){ .count = total < sizeof head->bytes ? (size_t)total : sizeof head->bytes };
  if (total < 10)
    return oxp__fail(error, OXP_BAD_FILE, "not a NumPy array: it has only %llu bytes", (unsigned long long)total);
  OXP__TRY(read(context, 0, bytes, head->count, error));
  if (memcmp(bytes, npy_magic, NPY_MAGIC_BYTES) != 0)
    return oxp__fail(error, OXP_BAD_FILE, "not a NumPy array: it does not start with \\x93NUMPY");
  if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
    return oxp__fail(error, OXP_BAD_FILE, "the NumPy array has format version %d.%d; 1.0 to 3.0 are known", bytes[6],
                     bytes[7]);
  head->start = bytes[6] == 1 ? 10 : 12;
  uint64_t length = bytes[6] == 1 ? oxp__le16(bytes + 8) : oxp__le32(bytes + 8);
  if (total < head->start || length > total - head->start || length > NPY_HEADER_LIMIT)
    return oxp__fail(error, OXP_BAD_FILE,
                     "the NumPy array's header is said to have %llu bytes; %llu follow and %d are allowed",
                     (unsigned long long)length, (unsigned long long)(total < head->start ? 0 : total - head->start),
                     NPY_HEADER_LIMIT);
  head->length = (size_t)length;
  return OXP_OK;
}

// Copies the dict and reads what of it is missing.
static oxp_status npy_read_dict(oxp_read_function read, void *context, const npy_head *head, char *text,
                                oxp_error *error)
{
  size_t here = head->count - head->start;
  if (here > head->length)
    here = head->length;
  memcpy(text, head->bytes + head->start, here);
  text[head->length] = 0;
  if (here == head->length)
    return OXP_OK;
  return read(context, head->count, text + here, head->length - here, error);
}

// Shape and element type say how many bytes follow. What lies behind those is counted.
static oxp_status npy_check_size(oxp__npy *npy, uint64_t data_bytes, oxp_error *error)
{
  int64_t bytes;
  oxp_tensor *tensor = &npy->tensor;
  bool addressed =
      oxp__shape_count(tensor->rank, tensor->shape, &bytes) && oxp__mul_i64(bytes, (int64_t)npy->item_bytes, &bytes);
  if (addressed && (uint64_t)bytes == data_bytes)
    return OXP_OK;
  oxp__text shape = { 0 };
  oxp__text_add_shape(&shape, tensor->rank, tensor->shape);
  oxp_status status = OXP_OK;
  if (!addressed)
    status = oxp__fail(error, OXP_BAD_FILE, "the array has shape %s, more elements than can be addressed",
                       oxp__text_string(&shape));
  else if ((uint64_t)bytes > data_bytes || data_bytes - (uint64_t)bytes > NPY_REST_LIMIT)
    status = oxp__fail(error, OXP_BAD_FILE, "shape %s of '%s' needs %lld bytes, %llu are there",
                       oxp__text_string(&shape), npy->descr, (long long)bytes, (unsigned long long)data_bytes);
  else
    npy->rest_bytes = data_bytes - (uint64_t)bytes;
  oxp__text_fini(&shape);
  return status;
}

oxp_status oxp__npy_open(oxp__arena *arena, oxp_read_function read, void *context, uint64_t total_bytes, oxp__npy *npy,
                         oxp_error *error)
{
  npy_head head;
  *npy = (oxp__npy){ .descr = "" };
  OXP__TRY(npy_read_head(read, context, total_bytes, &head, error));
  char *text = malloc(head.length + 1);
  if (!text)
    return oxp__fail_memory(error, head.length + 1);
  npy_parser parser = { .at = text };
  npy_fields fields = { 0 };
  oxp_status status = npy_read_dict(read, context, &head, text, error);
  if (status == OXP_OK && (!npy_parse(&parser, &fields) || !npy_at_end(&parser, text + head.length)))
    status = oxp__fail(error, OXP_BAD_FILE, "the NumPy array's header is damaged: %s", parser.problem);
  if (status == OXP_OK && !oxp__text_is_utf8(fields.descr, fields.descr_length))
    status = oxp__fail(error, OXP_BAD_FILE, "the NumPy array's header is damaged: its descr is not UTF-8");
  if (status == OXP_OK)
    npy->descr = oxp__arena_copy_bytes(arena, fields.descr, fields.descr_length);
  free(text);
  OXP__TRY(status);
  if (!npy->descr)
    return oxp__fail_memory(error, fields.descr_length);
  OXP__TRY(npy_read_descr(npy, error));
  oxp_tensor *tensor = &npy->tensor;
  tensor->rank = fields.rank;
  memcpy(tensor->shape, fields.shape, sizeof fields.shape);
  OXP__TRY(npy_check_size(npy, total_bytes - head.start - head.length, error));
  oxp__tensor_set_strides(tensor, fields.fortran_order);
  tensor->read = read;
  tensor->context = context;
  tensor->offset_bytes = head.start + head.length;
  return OXP_OK;
}

oxp_status oxp__npy_open_member(oxp__arena *arena, const oxp__zip *zip, const oxp__zip_member *member, oxp__npy *npy,
                                oxp_error *error)
{
  oxp__zip_stream *stream;
  OXP__TRY(oxp__zip_stream_open(arena, zip, member, &stream, error));
  oxp_status status = oxp__npy_open(arena, oxp__zip_read, stream, member->plain_bytes, npy, error);
  oxp__zip_stream_rest(stream);
  if (status != OXP_OK)
    return oxp__at_key(error, status, member->name);
  oxp__zip_stream_want(stream, member->plain_bytes - npy->rest_bytes);
  npy->tensor.forward_only = true;
  npy->tensor.origin = member->name;
  npy->tensor.extent = oxp__zip_extent(arena, zip, member);
  return OXP_OK;
}

// --- Text arrays ---

// Writes one character as UTF-8 to `bytes`; returns how many there are.
static size_t npy_put_code_point(unsigned char *bytes, uint32_t code)
{
  size_t count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  static const unsigned char first[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
  for (size_t i = count - 1; i > 0; i--, code >>= 6)
    bytes[i] = (unsigned char)(0x80 | (code & 0x3F));
  bytes[0] = (unsigned char)(first[count] | code);
  return count;
}

// UTF-32 of either byte order to UTF-8. Padding zeros at the end are dropped.
static oxp_status npy_decode_utf32(const unsigned char *at, size_t count, bool big_endian, oxp__text *text,
                                   oxp_error *error)
{
  unsigned char bytes[256];
  size_t used = 0;
  while (count > 0 && oxp__le32(at + 4 * (count - 1)) == 0)
    count--;
  for (size_t i = 0; i < count; i++, at += 4) {
    uint32_t code = oxp__le32(at);
    if (big_endian)
      oxp__swap_bytes(&code, 1, sizeof code);
    if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
      return oxp__fail(error, OXP_BAD_FILE, "the text holds %08x, which is no character, at place %zu", code, i);
    if (used > sizeof bytes - 4) {
      oxp__text_add_bytes(text, bytes, used);
      used = 0;
    }
    used += npy_put_code_point(bytes + used, code);
  }
  oxp__text_add_bytes(text, bytes, used);
  return oxp__text_status(text, error);
}

static oxp_status npy_decode_bytes(const unsigned char *at, size_t count, oxp__text *text, oxp_error *error)
{
  while (count > 0 && at[count - 1] == 0)
    count--;
  if (!oxp__text_is_utf8(at, count))
    return oxp__fail(error, OXP_BAD_FILE, "the text is not UTF-8");
  oxp__text_add_bytes(text, at, count);
  return oxp__text_status(text, error);
}

oxp_status oxp__npy_read_text(oxp__arena *arena, const oxp__npy *npy, size_t limit_bytes, char **out, oxp_error *error)
{
  int64_t elements = oxp__tensor_count(&npy->tensor);
  bool wide = npy->type_letter == 'U', bytes = npy->tensor.dtype == OXP_UINT8 && npy->tensor.rank == 1;
  if (!bytes && (npy->tensor.dtype != OXP_STRING || elements != 1))
    return oxp__fail(error, OXP_BAD_FILE, "one text was expected, the array holds %lld elements of '%s'",
                     (long long)elements, npy->descr);
  uint64_t stored = bytes ? (uint64_t)elements : npy->item_bytes;
  if (stored / (wide ? 4 : 1) > limit_bytes)
    return oxp__fail(error, OXP_BAD_FILE, "the text has %llu bytes, at most %zu are read here",
                     (unsigned long long)stored / (wide ? 4 : 1), limit_bytes);
  size_t count = (size_t)stored;
  unsigned char *raw = malloc(count + 1);
  if (!raw)
    return oxp__fail_memory(error, count);
  oxp__text text = { 0 };
  oxp_status status = npy->tensor.read(npy->tensor.context, npy->tensor.offset_bytes, raw, count, error);
  if (status == OXP_OK && wide)
    status = npy_decode_utf32(raw, count / 4, npy->tensor.big_endian, &text, error);
  else if (status == OXP_OK)
    status = npy_decode_bytes(raw, count, &text, error);
  free(raw);
  if (status == OXP_OK) {
    *out = oxp__arena_copy_bytes(arena, oxp__text_string(&text), text.length);
    status = *out ? OXP_OK : oxp__fail_memory(error, text.length);
  }
  oxp__text_fini(&text);
  return status;
}

// --- Writing ---

static const char *npy_descr(oxp_dtype dtype, char buffer[8])
{
  for (size_t i = 0; i < sizeof npy_types / sizeof npy_types[0]; i++)
    if (npy_types[i].dtype == dtype) {
      const npy_type *type = &npy_types[i];
      buffer[0] = type->bytes == 1 ? '|' : '<';
      buffer[1] = type->letter;
      buffer[2] = (char)('0' + type->bytes % 10);
      buffer[3] = 0;
      if (type->bytes == 16)
        memcpy(buffer + 2, "16", 3);
      return buffer;
    }
  return NULL;
}

static int npy_digits(int64_t number)
{
  int digits = 1;
  for (; number >= 10; number /= 10)
    digits++;
  return digits;
}

// Magic, version 1.0, length and dict, padded as NumPy pads it.
static oxp_status npy_write_header(const char *descr, int rank, const int64_t *shape, oxp__sink sink, oxp_error *error)
{
  oxp__text text = { 0 };
  oxp__text_add_bytes(&text, npy_magic, NPY_MAGIC_BYTES);
  oxp__text_add_bytes(&text, "\1\0\0\0", 4);
  oxp__text_printf(&text, "{'descr': '%s', 'fortran_order': False, 'shape': ", descr);
  oxp__text_add_shape(&text, rank, shape);
  oxp__text_add(&text, ", }");
  if (rank > 0)
    oxp__text_printf(&text, "%*s", NPY_GROWTH_DIGITS - npy_digits(shape[0]), "");
  size_t padding = NPY_ALIGN - (text.length + 1) % NPY_ALIGN; // NumPy adds a whole line where none is needed
  oxp__text_printf(&text, "%*s\n", (int)padding, "");
  oxp_status status = oxp__text_status(&text, error);
  if (status == OXP_OK) {
    oxp__put_le((unsigned char *)text.bytes + 8, text.length - 10, 2);
    status = sink.write(sink.context, text.bytes, text.length, error);
  }
  oxp__text_fini(&text);
  return status;
}

oxp_status oxp__npy_write(const oxp_tensor *tensor, oxp_dtype as, oxp__sink sink, oxp_error *error)
{
  char buffer[8];
  oxp_dtype dtype = as ? as : tensor->dtype;
  const char *descr = npy_descr(dtype, buffer);
  if (!descr)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "NumPy has no element type for %s", oxp_dtype_name(dtype));
  OXP__TRY(npy_write_header(descr, tensor->rank, tensor->shape, sink, error));
  return oxp__tensor_stream(tensor, dtype, sink, NULL, error);
}

// The code point at *at, which then points behind it; the text is valid UTF-8.
static uint32_t npy_next_code_point(const unsigned char **at)
{
  unsigned char lead = *(*at)++;
  int more = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  uint32_t code = more == 0 ? lead : lead & (0x3Fu >> more);
  for (; more > 0; more--)
    code = code << 6 | (*(*at)++ & 0x3Fu);
  return code;
}

oxp_status oxp__npy_write_text(const char *utf8, oxp__sink sink, oxp_error *error)
{
  if (!oxp__text_is_utf8(utf8, strlen(utf8)))
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the text to write is not UTF-8");
  oxp__text text = { 0 };
  for (const unsigned char *at = (const unsigned char *)utf8; *at;) {
    unsigned char bytes[4];
    oxp__put_le(bytes, npy_next_code_point(&at), 4);
    oxp__text_add_bytes(&text, bytes, 4);
  }
  char descr[32];
  snprintf(descr, sizeof descr, "<U%zu", text.length / 4);
  oxp_status status = oxp__text_status(&text, error);
  if (status == OXP_OK)
    status = npy_write_header(descr, 0, NULL, sink, error);
  if (status == OXP_OK && text.length > 0)
    status = sink.write(sink.context, text.bytes, text.length, error);
  oxp__text_fini(&text);
  return status;
}
