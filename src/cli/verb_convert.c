// verb_convert.c: `onnxport convert`: a network in one tool's format becomes one in another's. Place: cli.
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/streams.h"
#include "cli/subject.h"

#include "formats/format.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/temporary.h"

static const oxp__option convert_options[] = {
  { "output", "OUT", "the file to write, - for standard output; an existing one is replaced", 'o' },
  { "format", "FORMAT", "format to write (see onnxport formats); default: what the suffix of OUT says", 0 },
  { "quiet", NULL, "print no summary", 'q' },
};
static const oxp__option_group convert_group = OXP__GROUP("Writing", convert_options);

// Does the space-separated list hold the suffix?
static bool has_suffix(const char *suffixes, const char *suffix)
{
  size_t length = strlen(suffix);
  for (const char *at = suffixes; (at = strstr(at, suffix)); at += length)
    if ((at == suffixes || strchr(" ,+", at[-1])) && (!at[length] || strchr(" ,+", at[length])))
      return true;
  return false;
}

// The one writable format whose files are called like `path`.
static oxp_status format_of_suffix(const char *path, const char **format, oxp_error *error)
{
  const char *suffix = strrchr(path, '.');
  oxp__text found = { 0 };
  *format = NULL;
  int count = 0;
  for (size_t i = 0; suffix && i < oxp__format_count; i++) {
    const oxp__format *row = oxp__formats[i];
    if (!row->write || !row->suffixes || !has_suffix(row->suffixes, suffix))
      continue;
    oxp__text_printf(&found, "%s%s", count++ > 0 ? ", " : "", row->name);
    *format = row->name;
  }
  oxp_status status = OXP_OK;
  if (count == 0)
    status = oxp__fail(error, OXP_BAD_ARGUMENT,
                       "%s: no format that can be written has the suffix \"%s\"; give --format "
                       "NAME (see onnxport formats)",
                       path, suffix ? suffix : "");
  else if (count > 1)
    status = oxp__fail(error, OXP_BAD_ARGUMENT, "%s: several formats have this suffix (%s); choose one with --format",
                       path, oxp__text_string(&found));
  oxp__text_fini(&found);
  return status;
}

static oxp_status convert_target(const oxp__arguments *arguments, const char **path, const char **format,
                                 oxp_error *error)
{
  *path = oxp__option_text(arguments, "output");
  *format = oxp__option_text(arguments, "format");
  if (!*path)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "convert needs to know where to write: -o FILE");
  const char *suffix = strrchr(*path, '.');
  if ((*format && strcmp(*format, "onnx") == 0) || (!*format && suffix && strcmp(suffix, ".onnx") == 0))
    return oxp__fail(error, OXP_BAD_ARGUMENT, "%s: ONNX is written by onnxport export %s -o %s", *path,
                     oxp__operand(arguments, 0), *path);
  if (oxp__is_stream(*path) && !*format)
    return oxp__fail(error, OXP_BAD_ARGUMENT, "standard output has no suffix: say what to write with --format FORMAT");
  return *format ? OXP_OK : format_of_suffix(*path, format, error);
}

// Standard output takes one file.
static oxp_status convert_take_output(const char *name, int *descriptor, oxp_error *error)
{
  const oxp__format *format = oxp__format_find(name);
  if (format && format->is_pair)
    return oxp__fail(error, OXP_BAD_ARGUMENT,
                     "the format %s is two files, and standard output takes one: give -o a name", name);
  return oxp__stream_take_output(descriptor, error);
}

// Formats go back to bytes that they have written, which standard output does not allow: through a file in a folder of our own.
static oxp_status convert_write_stream(const oxp_network *network, const char *format, int descriptor,
                                       const oxp__output_guard *guard, oxp_error *error)
{
  oxp__text path = { 0 };
  char *folder = NULL;
  OXP__TRY(oxp__temporary_folder(&folder, error));
  oxp__text_printf(&path, "%s/network", folder);
  oxp_status status = oxp__text_status(&path, error);
  if (status == OXP_OK)
    status = oxp__network_write(network, oxp__text_string(&path), format, guard, error);
  if (status == OXP_OK)
    status = oxp__stream_write_file(descriptor, oxp__text_string(&path), error);
  unlink(oxp__text_string(&path));
  rmdir(folder);
  oxp__text_fini(&path);
  free(folder);
  return status;
}

static oxp_status convert_report(const oxp__arguments *arguments, const oxp_network *network, const char *path,
                                 const char *format, oxp_error *error)
{
  oxp__warnings_print(network, NULL);
  if (oxp__option_given(arguments, "json")) {
    oxp__json json = { 0 };
    oxp__json_object(&json, NULL);
    oxp__json_text(&json, "output", path);
    oxp__json_text(&json, "format", format);
    oxp__json_int(&json, "layers", oxp_network_layer_count(network));
    oxp__json_int(&json, "parameters", oxp_network_parameter_count(network));
    oxp__warnings_json(&json, network, NULL);
    oxp__json_end(&json, '}');
    return oxp__json_print(&json, error);
  }
  if (oxp__option_given(arguments, "quiet"))
    return OXP_OK;
  oxp__text text = { 0 };
  oxp__text_add_colour(&text, OXP__BOLD, oxp__is_stream(path) ? "standard output" : path);
  oxp__text_printf(&text, " (%s) from ", format);
  oxp__text_add_clean(&text, oxp__operand(arguments, 0));
  oxp__text_printf(&text, " (%s)\n  %d layers, ", oxp_network_format(network), oxp_network_layer_count(network));
  oxp__text_add_count(&text, oxp_network_parameter_count(network));
  oxp__text_add(&text, " parameters\n");
  return oxp__print_text(&text, error);
}

static oxp_status convert_run(const oxp__arguments *arguments, oxp_error *error)
{
  const char *path = NULL, *format = NULL;
  oxp_network *network = NULL;
  int descriptor = -1;
  OXP__TRY(convert_target(arguments, &path, &format, error));
  if (oxp__is_stream(path))
    OXP__TRY(convert_take_output(format, &descriptor, error));
  oxp_status status = oxp__subject_open_network(&network, arguments, "convert reads networks, not ONNX models", error);
  if (status == OXP_OK)
    status = oxp_network_check_statistics(network, error);
  if (status == OXP_OK) {
    oxp__output_guard guard = oxp__signals_guard(NULL);
    oxp__signals_catch();
    status = descriptor < 0 ? oxp__network_write(network, path, format, &guard, error)
                            : convert_write_stream(network, format, descriptor, &guard, error);
    oxp__signals_release();
  }
  oxp__stream_close(descriptor);
  if (status == OXP_OK)
    status = convert_report(arguments, network, path, format, error);
  oxp_network_free(network);
  return status;
}

static const oxp__option_group *const convert_groups[] = { &convert_group, &oxp__source_group, &oxp__output_group,
                                                           NULL };

const oxp__verb oxp__verb_convert = {
  .name = "convert",
  .usage = "SRC -o DST [--format NAME]",
  .doc = "write a network in another format",
  .details = "What the other format cannot hold is refused, with all offending layers named, and nothing is written.",
  .examples = { { "onnxport convert h_det26.netcl -o h_det26.json --format netcl_pair",
                  "writes h_det26.json and h_det26.npz, for a netcl before 0.1.4" },
                { "onnxport convert h_det26.netcl -o weights.pt --json", "writes the weights as PyTorch names them" } },
  .groups = convert_groups,
  .min_operands = 1,
  .max_operands = 1,
  .run = convert_run,
};
