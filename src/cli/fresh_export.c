// fresh_export.c: see fresh_export.h. Place: cli.
#include "cli/fresh_export.h"

#include <string.h>

#include "net/profile.h"

enum { FRESH_BUFFER_BYTES = 64 * 1024 };

typedef struct fresh_comparison {
  oxp__file *file;
  uint64_t at;
} fresh_comparison;

// An oxp_write_function that compares instead of writing.
static oxp_status fresh_compare(void *context, const void *bytes, size_t count, oxp_error *error)
{
  fresh_comparison *comparison = context;
  unsigned char buffer[FRESH_BUFFER_BYTES];
  if (count > comparison->file->size_bytes - comparison->at)
    return OXP_DIFFERENT;
  for (size_t done = 0; done < count;) {
    size_t part = count - done < sizeof buffer ? count - done : sizeof buffer;
    OXP__TRY(oxp__file_read(comparison->file, comparison->at, buffer, part, error));
    if (memcmp(buffer, (const unsigned char *)bytes + done, part) != 0)
      return OXP_DIFFERENT;
    comparison->at += part;
    done += part;
  }
  return OXP_OK;
}

static bool fresh_is_same(const oxp_network *network, oxp__file *file, const oxp_lower_options *options)
{
  oxp_graph *graph = NULL;
  fresh_comparison comparison = { .file = file };
  bool same = oxp_graph_lower(network, options, &graph, NULL) == OXP_OK &&
              oxp_graph_write_to(graph, fresh_compare, &comparison, NULL) == OXP_OK &&
              comparison.at == file->size_bytes;
  oxp_graph_free(graph);
  return same;
}

// What the model records of how it was made.
static oxp_lower_options fresh_options(const oxp_network *network, const oxp_graph *model,
                                       const oxp_lower_options *asked)
{
  oxp_lower_options options = *asked;
  oxp_value_info input, output;
  bool known = oxp_graph_input_info(model, 0, &input) && oxp_graph_output_info(model, 0, &output);
  if (!options.opset)
    options.opset = oxp_graph_opset(model);
  if (!options.ir_version)
    options.ir_version = oxp_graph_ir_version(model);
  if (!options.doc_string)
    options.doc_string = model->model.doc_string;
  options.batch = known && input.rank > 0 && input.shape[0] > 0 ? input.shape[0] : 0;
  if (known && !options.dtype && input.dtype != network->dtype)
    options.dtype = input.dtype;
  if (known && !options.input_name && oxp_network_input_count(network) == 1)
    options.input_name = input.name;
  if (known && !options.output_name && oxp_network_output_count(network) == 1)
    options.output_name = output.name;
  return options;
}

static const char *fresh_find(const oxp_network *network, oxp__file *file, oxp_lower_options options)
{
  static const oxp_batchnorm_form forms[] = { OXP_BATCHNORM_LITERAL, OXP_BATCHNORM_EXPANDED };
  const char *asked = options.profile;
  for (size_t i = 0; i < 2 * oxp__profile_count; i++) {
    options.profile = oxp__profiles[i / 2]->name;
    options.batchnorm = forms[i % 2];
    if ((!asked || strcmp(asked, options.profile) == 0) && fresh_is_same(network, file, &options))
      return options.profile;
  }
  return NULL;
}

const char *oxp__fresh_export_profile(const oxp_network *network, const oxp_graph *model,
                                      const oxp_lower_options *asked)
{
  oxp__arena arena = { 0 };
  oxp__file *file = NULL;
  const char *profile = NULL, *path = oxp__graph_path(model);
  if (path && oxp__file_open(&arena, path, &file, NULL) == OXP_OK)
    profile = fresh_find(network, file, fresh_options(network, model, asked));
  oxp__arena_fini(&arena);
  return profile;
}
