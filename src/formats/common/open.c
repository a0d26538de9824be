// open.c: finding out what a file is, and opening it as a network; writing a network in a format. Knows the rows only.
// Place: formats/common.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "core/text.h"
#include "formats/containers/zip.h"
#include "formats/format.h"

// --- Candidates ---

static bool open_starts_with(const oxp__candidate *candidate, const char *bytes, size_t count)
{
  return candidate->head_count >= count && memcmp(candidate->head, bytes, count) == 0;
}

static oxp_status open_look(oxp__arena *arena, oxp__candidate *candidate, oxp_error *error)
{
  uint64_t size = candidate->file->size_bytes;
  candidate->head_count = size < sizeof candidate->head ? (size_t)size : sizeof candidate->head;
  OXP__TRY(oxp__file_read(candidate->file, 0, candidate->head, candidate->head_count, error));
  bool starts = open_starts_with(candidate, "PK\3\4", 4) || open_starts_with(candidate, "PK\5\6", 4);
  if (!starts && !oxp__zip_has_end(candidate->file))
    return OXP_OK;
  oxp_status status = oxp__zip_open(arena, candidate->file, &candidate->zip, &candidate->zip_error);
  if (status != OXP_OK)
    candidate->zip = NULL;
  if (status != OXP_OK && status != OXP_BAD_FILE) { // memory, or a failing disk
    if (error)
      *error = candidate->zip_error;
    return status;
  }
  return OXP_OK;
}

oxp_status oxp__candidate_open(oxp__arena *arena, const char *path, oxp__candidate *candidate, oxp_error *error)
{
  *candidate = (oxp__candidate){ .path = path };
  struct stat status;
  if (stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR))
    return OXP_OK;
  OXP__TRY(oxp__file_open(arena, path, &candidate->file, error));
  return open_look(arena, candidate, error);
}

oxp_status oxp__candidate_fail_missing(const oxp__candidate *candidate, oxp_error *error)
{
  oxp__arena arena = { 0 };
  oxp__file *file;
  oxp_status status = oxp__file_open(&arena, candidate->path, &file, error); // says what the system says
  oxp__arena_fini(&arena);
  if (status != OXP_OK)
    return status;
  oxp__fail(error, OXP_IO, "the file was not there when it was looked for, and appeared since");
  return oxp__at_file(error, OXP_IO, candidate->path);
}

// --- Detection ---

static oxp_status open_fail_unknown(const oxp__candidate *candidate, oxp_error *error)
{
  if (!candidate->zip && candidate->zip_error.status != OXP_OK) {
    if (error)
      *error = candidate->zip_error;
    return candidate->zip_error.status;
  }
  return oxp__fail_resembling(candidate->head, candidate->head_count, "no known format of a network", error);
}

const oxp__format *oxp__format_find(const char *name)
{
  for (size_t i = 0; i < oxp__format_count; i++)
    if (strcmp(oxp__formats[i]->name, name) == 0)
      return oxp__formats[i];
  return NULL;
}

static oxp_status open_fail_format(const char *name, bool for_writing, oxp_error *error)
{
  oxp__text names = { 0 };
  for (size_t i = 0; i < oxp__format_count; i++)
    if (!for_writing || oxp__formats[i]->write)
      oxp__text_printf(&names, "%s%s", names.length > 0 ? ", " : "", oxp__formats[i]->name);
  oxp_status status = oxp__fail(error, OXP_BAD_ARGUMENT, "no format \"%s\" can be %s; there are: %s", name,
                                for_writing ? "written" : "read", oxp__text_string(&names));
  oxp__text_fini(&names);
  return status;
}

static oxp_status open_choose(const oxp__candidate *candidate, const char *name, const oxp__format **format,
                              oxp_error *error)
{
  *format = name ? oxp__format_find(name) : NULL;
  if (name)
    return *format ? OXP_OK : open_fail_format(name, false, error);
  int best = 0;
  for (size_t i = 0; i < oxp__format_count; i++) {
    int sure = oxp__formats[i]->probe(candidate);
    if (sure > best) {
      best = sure;
      *format = oxp__formats[i];
    }
  }
  if (*format)
    return OXP_OK;
  return candidate->file ? open_fail_unknown(candidate, error) : oxp__candidate_fail_missing(candidate, error);
}

// --- Opening ---

static oxp_status open_check_options(const oxp__format *format, const oxp_open_options *options, oxp_error *error)
{
  if (options->variable && !format->takes_variable)
    return oxp__fail(error, OXP_BAD_ARGUMENT,
                     "a file of the format %s holds one network, so there is no variable \"%.64s\"", format->name,
                     options->variable);
  if (options->input_rank < 0 || options->input_rank >= OXP_MAX_RANK)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the input shape has %d dimensions; 1 to %d are allowed",
                     options->input_rank, OXP_MAX_RANK - 1);
  for (int i = 0; i < options->input_rank; i++)
    if (options->input_shape[i] < 1)
      return oxp__fail(error, OXP_BAD_ARGUMENT, "dimension %d of the input shape is %lld; sizes start at 1", i,
                       (long long)options->input_shape[i]);
  return OXP_OK;
}

// A shape that the user gave fills in what the file leaves open, and contradicts nothing that it says.
static oxp_status open_settle_shape(oxp_network *network, const oxp_open_options *options, oxp_error *error)
{
  if (options->input_rank == 0)
    return OXP_OK;
  if (network->input_count != 1)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "--input-shape is for networks with one input, this one has %zu",
                     network->input_count);
  oxp__shape shape = network->values[network->inputs[0]].shape;
  bool agrees = shape.rank == options->input_rank + 1;
  for (int i = 1; agrees && i < shape.rank; i++) {
    agrees = shape.dim[i] < 0 || shape.dim[i] == options->input_shape[i - 1];
    shape.dim[i] = options->input_shape[i - 1];
  }
  if (agrees) {
    oxp__network_set_input_shape(network, 0, &shape);
    return OXP_OK;
  }
  oxp__text text = { 0 };
  const oxp__shape *is = &network->values[network->inputs[0]].shape;
  oxp__text_add_shape(&text, options->input_rank, options->input_shape);
  oxp__text_add(&text, " for one sample, the file says ");
  oxp__text_add_shape(&text, is->rank, is->dim);
  oxp_status status = oxp__fail(error, OXP_BAD_ARGUMENT, "--input-shape says %s", oxp__text_string(&text));
  oxp__text_fini(&text);
  return status;
}

static oxp_status open_read(oxp_network *network, const char *path, const oxp_open_options *options, oxp_error *error)
{
  oxp__candidate *candidate = oxp__arena_new(&network->arena, 1, sizeof *candidate);
  network->path = oxp__arena_copy(&network->arena, path);
  if (!candidate || !network->path)
    return oxp__fail_memory(error, sizeof *candidate);
  OXP__TRY(oxp__candidate_open(&network->arena, network->path, candidate, error));
  const oxp__format *format;
  OXP__TRY(open_choose(candidate, options->format, &format, error));
  if (!candidate->zip && candidate->zip_error.status != OXP_OK)
    return open_fail_unknown(candidate, error);
  OXP__TRY(open_check_options(format, options, error));
  network->format = format->name;
  OXP__TRY(format->read(candidate, options, network, error));
  oxp__arena_fini(&network->reading);
  OXP__TRY(open_settle_shape(network, options, error));
  return oxp_network_finish(network, error);
}

oxp_status oxp_network_open(const char *path, const oxp_open_options *options, oxp_network **out, oxp_error *error)
{
  OXP__NEED(path, error);
  OXP__NEED(out, error);
  oxp_open_options defaults = { 0 };
  oxp_network *network;
  if (!path || !path[0])
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the name of the file to open is empty");
  OXP__TRY(oxp_network_new(OXP_FLOAT32, &network, error));
  oxp_status status = open_read(network, path, options ? options : &defaults, error);
  if (status != OXP_OK) {
    oxp_network_free(network);
    return oxp__at_file(error, status, path);
  }
  *out = network;
  return OXP_OK;
}

// --- Writing ---

oxp_status oxp_network_write(const oxp_network *network, const char *path, const char *format, oxp_error *error)
{
  OXP__NEED(network, error);
  OXP__NEED(path, error);
  OXP__NEED(format, error);
  return oxp__network_write(network, path, format, NULL, error);
}

oxp_status oxp__network_write(const oxp_network *network, const char *path, const char *format,
                              const oxp__output_guard *guard, oxp_error *error)
{
  const oxp__format *row = format ? oxp__format_find(format) : NULL;
  if (!row || !row->write)
    return open_fail_format(format ? format : "", true, error);
  if (!network->finished)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the network is not finished");
  if (!path || !path[0])
    return oxp__fail(error, OXP_BAD_ARGUMENT, "the name of the file to write is empty");
  OXP__TRY(oxp__network_check_range(network, error));
  oxp__sources sources = { 0 };
  oxp__output_guard own = guard ? *guard : (oxp__output_guard){ 0 };
  oxp__network_add_sources(network, &sources);
  oxp__sources_add_all(&sources, own.sources);
  own.sources = &sources;
  oxp_status status = row->write(network, path, &own, error);
  oxp__sources_fini(&sources);
  return status == OXP_OK ? OXP_OK : oxp__at_file(error, status, path);
}
