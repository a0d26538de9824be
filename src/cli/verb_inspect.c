// verb_inspect.c: `onnxport inspect`: what is in a network or ONNX file. Place: cli.
#include "cli/inspect.h"
#include "cli/signals.h"

static const oxp__option inspect_options[] = {
  { "json", NULL, "print one JSON object instead of text", 0 },
  { "graph", "OUT", "draw the graph into OUT (.svg, .png, .pdf with the program dot; or .dot)", 0 },
};
static const oxp__option_group inspect_group = OXP__GROUP("Output", inspect_options);

static oxp_status inspect_draw(const oxp__subject *subject, const char *path, oxp_error *error)
{
  oxp__text dot = { 0 };
  oxp__sources sources = { 0 };
  oxp__subject_add_sources(subject, &sources);
  oxp__output_guard guard = oxp__signals_guard(&sources);
  oxp_status status = subject->graph ? oxp__inspect_onnx_dot(&dot, subject->graph, error)
                                     : oxp__inspect_network_dot(&dot, subject->network, error);
  oxp__signals_catch();
  if (status == OXP_OK)
    status = oxp__dot_draw(&dot, path, &guard, error);
  oxp__signals_release();
  oxp__sources_fini(&sources);
  oxp__text_fini(&dot);
  return status;
}

// What shows a "?" for shapes says how to get them.
static void inspect_warn(const oxp__subject *subject)
{
  const char *missing = subject->network ? oxp_network_missing_shape(subject->network) : NULL;
  oxp__text text = { 0 };
  oxp__text_printf(&text, "The input's shape is not known: %s.", missing ? missing : "");
  if (missing)
    oxp__print_warning(oxp__text_string(&text));
  oxp__text_fini(&text);
  oxp__warnings_print(subject->network, subject->graph);
}

static oxp_status inspect_print_json(const oxp__subject *subject, const char *path, oxp_error *error)
{
  oxp__json json = { .text = oxp__print_start(error) };
  oxp__json_object(&json, NULL);
  oxp__json_text(&json, "file", path);
  if (subject->graph)
    oxp__inspect_onnx_json(&json, subject->graph);
  else
    oxp__inspect_network_json(&json, subject->network);
  oxp__warnings_json(&json, subject->network, subject->graph);
  oxp__json_end(&json, '}');
  return oxp__json_print(&json, error);
}

static oxp_status inspect_print_text(const oxp__subject *subject, const char *path, oxp_error *error)
{
  oxp__text text = oxp__print_start(error);
  oxp__text_add_colour(&text, OXP__BOLD, path);
  oxp__text_add(&text, "\n");
  if (subject->graph)
    oxp__inspect_onnx_text(&text, subject->graph);
  else
    oxp__inspect_network_text(&text, subject->network);
  return oxp__print_text(&text, error);
}

static oxp_status inspect_do(const oxp__subject *subject, const oxp__arguments *arguments, oxp_error *error)
{
  const char *path = oxp__operand(arguments, 0), *picture = oxp__option_text(arguments, "graph");
  if (picture)
    OXP__TRY(inspect_draw(subject, picture, error));
  inspect_warn(subject);
  if (oxp__option_given(arguments, "json"))
    return inspect_print_json(subject, path, error);
  return inspect_print_text(subject, path, error);
}

static oxp_status inspect_run(const oxp__arguments *arguments, oxp_error *error)
{
  oxp__subject subject = { 0 };
  oxp_status status = oxp__subject_open(&subject, arguments, error);
  if (status == OXP_OK)
    status = inspect_do(&subject, arguments, error);
  oxp__subject_close(&subject);
  return status;
}

static const oxp__option_group *const inspect_groups[] = { &inspect_group, &oxp__source_group, NULL };

const oxp__verb oxp__verb_inspect = {
  .name = "inspect",
  .usage = "FILE [--json] [--graph OUT.svg]",
  .doc = "print what is in a network file or an ONNX file",
  .details = "Weights are not read, so large files are as quick as small ones.",
  .examples = { { "onnxport inspect h_det26.netcl", "layers, shapes and parameters" },
                { "onnxport inspect detector.onnx --json", "a model that export wrote, for programs" } },
  .groups = inspect_groups,
  .min_operands = 1,
  .max_operands = 1,
  .run = inspect_run,
};
