// inputs.c: --input and the options that say how pictures become arrays. Place: cli.
#include "cli/inputs.h"

#include "engines/input.h"
#include "onnx/graph.h"

#include <stdlib.h>
#include <string.h>

static const oxp__option inputs_options[] = {
  { "input", "FILE",
    "array (.npy), picture (PNG, JPEG) or folder of them; may be repeated: more samples, or, where there "
    "are several inputs, one for each",
    'i' },
};
const oxp__option_group oxp__inputs_group = OXP__GROUP("Input", inputs_options);

static const oxp__option pictures_options[] = {
  { "scale", "X", "what each byte is multiplied by; default: 1/255", 0 },
  { "mean", "X,Y,Z", "subtracted after scaling, one number or one per channel; default: 0", 0 },
  { "std", "X,Y,Z", "divided by after that, one number or one per channel; default: 1", 0 },
  { "channels", "rgb|bgr", "order of the channels; default: rgb", 0 },
  { "no-resize", NULL, "refuse another size than the network's instead of resizing", 0 },
};
const oxp__option_group oxp__pictures_group = OXP__GROUP("Pictures in the input", pictures_options);

// One number stands for all three channels.
static oxp_status per_channel(const oxp__arguments *arguments, const char *name, double values[3], oxp_error *error)
{
  int given = 0;
  OXP__TRY(oxp__option_floats(arguments, name, 3, values, &given, error));
  for (int i = 1; given == 1 && i < 3; i++)
    values[i] = values[0];
  return OXP_OK;
}

static oxp_status request_pictures(const oxp__arguments *arguments, oxp__input_options *options, oxp_error *error)
{
  int order = 0;
  OXP__TRY(oxp__option_float(arguments, "scale", &options->scale, error));
  if (oxp__option_given(arguments, "scale") && options->scale == 0)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "--scale cannot be 0");
  OXP__TRY(per_channel(arguments, "mean", options->mean, error));
  OXP__TRY(per_channel(arguments, "std", options->std, error));
  OXP__TRY(oxp__option_choice(arguments, "channels", &order, error));
  if (oxp__option_given(arguments, "std") && (options->std[0] == 0 || options->std[1] == 0 || options->std[2] == 0))
    return oxp__fail(error, OXP_BAD_ARGUMENT, "--std cannot be 0");
  options->bgr = order == 1;
  options->keep_size = oxp__option_given(arguments, "no-resize");
  return OXP_OK;
}

static oxp_status read_arrays(oxp__inputs *inputs, const char *const *paths, int path_count,
                              const oxp__subject *subject, const oxp__input_options *options, oxp__text *notes,
                              oxp_error *error)
{
  int per_input = inputs->count == 1 ? path_count : 1;
  for (int i = 0; i < inputs->count; i++) {
    oxp_value_info info;
    oxp__subject_value(subject, false, i, &info);
    OXP__TRY(oxp__input_read(paths + i * per_input, per_input, &info, options, &inputs->arrays[i], notes, error));
  }
  return OXP_OK;
}

// Options about pictures are wrong where there can be none.
static oxp_status check_pictures(const oxp__arguments *arguments, int path_count, oxp_error *error)
{
  bool pictures = false;
  for (int i = 0; i < path_count; i++)
    pictures = pictures || !oxp__input_is_array(oxp__option_path_at(arguments, "input", i));
  if (pictures)
    return OXP_OK;
  return oxp__options_idle(arguments, &oxp__pictures_group, path_count > 0 ? "on arrays" : "without --input", error);
}

// What was noticed about the files joins the warnings about the subject.
static void warn_lines(const oxp__subject *subject, oxp__text *lines)
{
  char *rest = NULL;
  for (char *line = lines->bytes ? strtok_r(lines->bytes, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
    if (subject->network)
      oxp__network_warn(subject->network, "%s", line);
    else
      oxp__graph_warn(subject->graph, "%s", line);
}

oxp_status oxp__inputs_read(oxp__inputs *inputs, const oxp__arguments *arguments, const oxp__subject *subject,
                            oxp_error *error)
{
  oxp__input_options options = { .sources = &inputs->sources };
  oxp_value_info info;
  int path_count = 0;
  OXP__TRY(request_pictures(arguments, &options, error));
  while (oxp__option_text_at(arguments, "input", path_count))
    path_count++;
  OXP__TRY(check_pictures(arguments, path_count, error));
  if (path_count == 0)
    return OXP_OK;
  while (oxp__subject_value(subject, false, inputs->count, &info))
    inputs->count++;
  if (inputs->count != 1 && inputs->count != path_count)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "there are %d inputs and --input was given %d times", inputs->count,
                     path_count);
  inputs->arrays = calloc((size_t)inputs->count, sizeof *inputs->arrays);
  const char **paths = calloc((size_t)path_count, sizeof *paths);
  for (int i = 0; paths && i < path_count; i++)
    paths[i] = oxp__option_path_at(arguments, "input", i);
  oxp__text notes = { 0 };
  oxp_status status = inputs->arrays && paths ? read_arrays(inputs, paths, path_count, subject, &options, &notes, error)
                                              : oxp__fail_memory(error, (size_t)inputs->count * sizeof *inputs->arrays);
  warn_lines(subject, &notes);
  oxp__text_fini(&notes);
  free((void *)paths);
  return status;
}

// One sample may come without the axis for samples.
static oxp_status read_expected(const char *path, int rank, oxp_array *array, oxp_error *error)
{
  OXP__TRY(oxp_array_read(path, array, error));
  if (rank != array->rank + 1)
    return OXP_OK;
  memmove(array->shape + 1, array->shape, (size_t)array->rank * sizeof *array->shape);
  array->shape[0] = 1;
  array->rank++;
  return OXP_OK;
}

oxp_status oxp__expected_read(oxp__inputs *expected, const oxp__arguments *arguments, const oxp__subject *subject,
                              oxp_error *error)
{
  oxp_value_info info;
  int path_count = 0, count = 0;
  while (oxp__option_text_at(arguments, "expected", path_count))
    path_count++;
  if (path_count == 0)
    return OXP_OK;
  while (oxp__subject_value(subject, true, count, &info))
    count++;
  if (count != path_count)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "there are %d outputs and --expected was given %d times", count,
                     path_count);
  expected->arrays = calloc((size_t)count, sizeof *expected->arrays);
  if (!expected->arrays)
    return oxp__fail_memory(error, (size_t)count * sizeof *expected->arrays);
  expected->count = count;
  for (int i = 0; i < count; i++) {
    const char *path = oxp__option_path_at(arguments, "expected", i);
    oxp__subject_value(subject, true, i, &info);
    oxp__sources_add_path(&expected->sources, path);
    OXP__TRY(read_expected(path, info.rank, &expected->arrays[i], error));
  }
  return OXP_OK;
}

void oxp__inputs_free(oxp__inputs *inputs)
{
  for (int i = 0; inputs->arrays && i < inputs->count; i++)
    oxp_array_free(&inputs->arrays[i]);
  free(inputs->arrays);
  oxp__sources_fini(&inputs->sources);
  *inputs = (oxp__inputs){ 0 };
}
