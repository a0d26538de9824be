// netcl.c: netcl's single file (since 0.1.4): an archive of NumPy arrays, the weights in layer order and, last, one text with the
// layers. Place: formats.
#include <string.h>
#include <sys/stat.h>

#include "formats/common/netcl_save.h"
#include "formats/common/netcl_source.h"

// netcl opens PATH.netcl for PATH when nothing has that name.
static const char *netcl_with_suffix(oxp__arena *arena, const char *path)
{
  struct stat status;
  const char *full = oxp__arena_printf(arena, "%s.netcl", path);
  return full && stat(full, &status) == 0 ? full : NULL;
}

static int netcl_probe(const oxp__candidate *candidate)
{
  if (candidate->zip)
    return oxp__zip_find(candidate->zip, OXP__NETCL_META) ? 100 : 0;
  if (candidate->file)
    return 0;
  oxp__arena arena = { 0 };
  bool found = netcl_with_suffix(&arena, candidate->path) != NULL;
  oxp__arena_fini(&arena);
  return found ? 40 : 0; // behind the pair of files, as in netcl
}

static oxp_status netcl_read_archive(const oxp__candidate *candidate, const oxp_open_options *options,
                                     oxp_network *network, oxp_error *error)
{
  oxp__netcl_source source;
  if (!candidate->zip)
    return oxp__fail_resembling(candidate->head, candidate->head_count, "not a zip archive, as netcl's single file is",
                                error);
  if (options->description)
    oxp__network_warn(network, "The file holds its own description; the one given is not used.");
  OXP__TRY(oxp__netcl_source_from_archive(network, candidate->zip, candidate->path, &source, error));
  return oxp__netcl_load_own(network, &source, options, error);
}

static oxp_status netcl_read(const oxp__candidate *candidate, const oxp_open_options *options, oxp_network *network,
                             oxp_error *error)
{
  if (candidate->file)
    return netcl_read_archive(candidate, options, network, error);
  const char *path = netcl_with_suffix(&network->arena, candidate->path);
  oxp__candidate *found = oxp__arena_new(&network->arena, 1, sizeof *found);
  if (!found)
    return oxp__fail_memory(error, sizeof *found);
  OXP__TRY(oxp__candidate_open(&network->arena, path ? path : candidate->path, found, error));
  if (!found->file)
    return oxp__fail(error, OXP_IO, "there is no such file");
  if (!found->zip && found->zip_error.status != OXP_OK) {
    if (error)
      *error = found->zip_error;
    return found->zip_error.status;
  }
  return netcl_read_archive(found, options, network, error);
}

static oxp_status netcl_write_members(const oxp_network *network, oxp__zip_writer *writer, oxp_error *error)
{
  oxp__text text = { 0 };
  oxp_status status = oxp__netcl_save_weights(network, writer, error);
  if (status == OXP_OK)
    status = oxp__netcl_save_text(network, true, &text, error);
  if (status == OXP_OK)
    status = oxp__zip_writer_begin(writer, OXP__NETCL_META, error);
  if (status == OXP_OK)
    status = oxp__npy_write_text(oxp__text_string(&text), oxp__zip_writer_sink(writer), error);
  if (status == OXP_OK)
    status = oxp__zip_writer_end(writer, error);
  if (status == OXP_OK)
    status = oxp__zip_writer_finish(writer, error);
  oxp__text_fini(&text);
  return status;
}

static oxp_status netcl_write(const oxp_network *network, const char *path, const oxp__output_guard *guard,
                              oxp_error *error)
{
  OXP__TRY(oxp__netcl_check_can_hold(network, error));
  oxp__output output = { 0 };
  OXP__TRY(oxp__output_open(&output, path, guard, error));
  oxp__arena arena = { 0 };
  oxp__zip_writer *writer;
  oxp_status status = oxp__zip_writer_new(&arena, &output, &writer, error);
  if (status == OXP_OK)
    status = netcl_write_members(network, writer, error);
  oxp__arena_fini(&arena);
  if (status == OXP_OK)
    return oxp__output_commit(&output, OXP_SYNC_AUTO, error);
  oxp__output_abort(&output);
  return status;
}

const oxp__format oxp__format_netcl = {
  .name = "netcl",
  .doc = "netcl's single file: layers and weights in one archive (netcl 0.1.4 and later)",
  .suffixes = ".netcl",
  .probe = netcl_probe,
  .read = netcl_read,
  .write = netcl_write,
};
