// netcl_pair.c: netcl's older form, STEM.json with the layers and STEM.npz with the weights (netcl up to 0.1.3 wrote it as version 1;
// later releases still read it). Opened by the stem or by either file. Place: formats.
#include "formats/common/netcl_save.h"
#include "formats/common/netcl_source.h"

static int netcl_pair_probe(const oxp__candidate *candidate)
{
  oxp__netcl_json kind;
  bool has_weights;
  if (candidate->zip && oxp__zip_find(candidate->zip, OXP__NETCL_META))
    return 0;
  oxp__netcl_pair_probe(candidate, &kind, &has_weights);
  if (kind == OXP__NETCL_JSON_MODEL)
    return 90;
  // JSON that is damaged: reading it says where.
  return oxp__json_begins(candidate->head, candidate->head_count) && kind == OXP__NETCL_JSON_NONE ? 5 : 0;
}

static oxp_status netcl_pair_read(const oxp__candidate *candidate, const oxp_open_options *options,
                                  oxp_network *network, oxp_error *error)
{
  oxp__netcl_pair pair;
  oxp__netcl_source source;
  OXP__TRY(oxp__netcl_pair_open(&network->arena, candidate, &pair, error));
  if (options->description)
    oxp__network_warn(network, "The pair of files has its own description; the one given is not used.");
  OXP__TRY(oxp__netcl_source_from_pair(network, &pair, &source, error));
  return oxp__netcl_load_own(network, &source, options, error);
}

static oxp_status netcl_pair_write(const oxp_network *network, const char *path, const oxp__output_guard *guard,
                                   oxp_error *error)
{
  OXP__TRY(oxp__netcl_check_can_hold(network, error));
  oxp__netcl_output output;
  oxp__text text = { 0 };
  oxp_status status = oxp__netcl_output_open(&output, path, guard, error);
  if (status == OXP_OK)
    status = oxp__netcl_save_weights(network, output.writer, error);
  if (status == OXP_OK)
    status = oxp__netcl_save_text(network, false, &text, error);
  status = oxp__netcl_output_close(&output, status, oxp__text_string(&text), error);
  oxp__text_fini(&text);
  return status;
}

const oxp__format oxp__format_netcl_pair = {
  .name = "netcl_pair",
  .doc = "netcl's two files, STEM.json with the layers and STEM.npz with the weights (netcl up to 0.1.3)",
  .suffixes = ".json .npz",
  .probe = netcl_pair_probe,
  .read = netcl_pair_read,
  .write = netcl_pair_write,
  .is_pair = true,
};
