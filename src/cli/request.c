// request.c: the shared option rows and what they mean to the library. Place: cli.
#include "cli/request.h"

#include <string.h>

#include "engines/engine.h"

static const oxp__option source_options[] = {
  { "from", "FORMAT", "read SRC as this format (see onnxport formats) instead of recognising it by its content", 0 },
  { "description", "FILE", "model description (.netcl or JSON) for a SRC that holds weights only", 0 },
  { "variable", "NAME", "which of several networks or sets of weights in SRC, such as ema", 0 },
  { "input-shape", "SHAPE", "shape of one sample without the batch, such as 3x256x256, where SRC does not say", 0 },
};
const oxp__option_group oxp__source_group = OXP__GROUP("Reading SRC", source_options);

static const oxp__option model_options[] = {
  { "profile", "PROFILE", "naming and form of the model (see onnxport profiles); default: onnx", 0 },
  { "opset", "N", "operator set, 13 to 26 (profile netcl: from 7); default: the profile's", 0 },
  { "ir", "N", "IR version; default: the lowest that the operator set allows", 0 },
  { "batch", "N", "batch size in the declared shapes, or dynamic (the default)", 0 },
  { "input-name", "NAME", "name of the input of a network with one input; default: input", 0 },
  { "output-name", "NAME", "name of the output of a network with one output; default: output", 0 },
  { "dtype", "source|float32|float64", "element type; source (the default): as the network has it", 0 },
  { "batchnorm", "literal|expanded", "one operator (the default), or subtract, divide, multiply, add", 0 },
  { "doc", "TEXT", "documentation string of the model; default: the profile's", 0 },
};
const oxp__option_group oxp__model_group = OXP__GROUP("The ONNX model", model_options);

static const oxp__option session_options[] = {
  { "threads", "N", "threads of the engine; default: its own choice", 0 },
  { "no-optimization", NULL, "make ONNX Runtime run the model node by node as it is written", 0 },
  { "onnxruntime", "FILE",
    "the runtime's library; default: ONNXPORT_ORT_LIBRARY, else it is looked for (see onnxport engines)", 0 },
};
const oxp__option_group oxp__session_group = OXP__GROUP("Engines", session_options);

static const oxp__option output_options[] = {
  { "json", NULL, "print one JSON object instead of text", 0 },
};
const oxp__option_group oxp__output_group = OXP__GROUP("Output", output_options);

oxp_status oxp__request_source(const oxp__arguments *arguments, oxp_open_options *options, oxp_error *error)
{
  options->format = oxp__option_text(arguments, "from");
  options->description = oxp__option_path(arguments, "description");
  options->variable = oxp__option_text(arguments, "variable");
  return oxp__option_shape(arguments, "input-shape", &options->input_rank, options->input_shape, error);
}

static oxp_status request_batch(const oxp__arguments *arguments, int64_t *batch, oxp_error *error)
{
  const char *text = oxp__option_text(arguments, "batch");
  if (text && strcmp(text, "dynamic") == 0)
    return OXP_OK;
  return oxp__option_int(arguments, "batch", 1, INT64_MAX, batch, error);
}

oxp_status oxp__request_model(const oxp__arguments *arguments, oxp_lower_options *options, oxp_error *error)
{
  static const oxp_dtype dtype_values[] = { OXP_DTYPE_NONE, OXP_FLOAT32, OXP_FLOAT64 };
  static const oxp_batchnorm_form form_values[] = { OXP_BATCHNORM_LITERAL, OXP_BATCHNORM_EXPANDED };
  int64_t opset = 0, ir_version = 0;
  int dtype = 0, form = 0;
  OXP__TRY(oxp__option_int(arguments, "opset", 1, 1000, &opset, error));
  OXP__TRY(oxp__option_int(arguments, "ir", 1, 1000, &ir_version, error));
  OXP__TRY(request_batch(arguments, &options->batch, error));
  OXP__TRY(oxp__option_choice(arguments, "dtype", &dtype, error));
  OXP__TRY(oxp__option_choice(arguments, "batchnorm", &form, error));
  options->profile = oxp__option_text(arguments, "profile");
  options->opset = (int)opset;
  options->ir_version = (int)ir_version;
  options->input_name = oxp__option_text(arguments, "input-name");
  options->output_name = oxp__option_text(arguments, "output-name");
  options->doc_string = oxp__option_text(arguments, "doc");
  options->dtype = dtype_values[dtype];
  options->batchnorm = form_values[form];
  return OXP_OK;
}

oxp_status oxp__request_engine(const oxp__arguments *arguments, const char *engine, oxp_error *error)
{
  oxp__arena arena = { 0 };
  const char *device = NULL;
  const oxp__engine *row = oxp__engine_find(&arena, engine, &device, error);
  oxp__arena_fini(&arena);
  if (!row)
    return OXP_BAD_ARGUMENT;
  return row->open_graph ? OXP_OK : oxp__options_idle(arguments, &oxp__session_group, "on an engine of our own", error);
}

oxp_status oxp__request_session(const oxp__arguments *arguments, oxp_session_options *options, oxp_error *error)
{
  int64_t threads = 0;
  OXP__TRY(oxp__option_int(arguments, "threads", 1, 4096, &threads, error));
  options->threads = (int)threads;
  options->optimization_off = oxp__option_given(arguments, "no-optimization");
  options->onnxruntime = oxp__option_text(arguments, "onnxruntime");
  return OXP_OK;
}
