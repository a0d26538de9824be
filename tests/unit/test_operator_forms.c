// test_operator_forms.c: operators whose form changed between opsets: the checker takes each form where it is right, and nowhere else.
#include "unit/onnx_support.h"

// One node. Inputs, a letter each: x map (4, 4, 4, 4), c float (4), s float scalar, i int64 vector, - absent.
// Attributes: "name:kind", f float, i int, s string, I four zeros for pads, else the numbers 1 and 3.
typedef struct operator_form {
  const char *op_type;
  int opset;
  const char *inputs, *attributes;
  bool right;
} operator_form;

static const operator_form forms[] = {
  { "Clip", 7, "x", "min:f max:f", true },
  { "Clip", 10, "x", "min:f max:f", true },
  { "Clip", 10, "xss", "", false },
  { "Clip", 11, "xss", "", true },
  { "Clip", 11, "x", "min:f", false },
  { "Clip", 13, "xs", "", true },
  { "Clip", 26, "x-s", "", true },
  { "Clip", 26, "x", "max:f", false },
  { "Split", 12, "x", "axis:i split:I", true },
  { "Split", 12, "xi", "axis:i", false },
  { "Split", 13, "xi", "axis:i", true },
  { "Split", 13, "x", "axis:i split:I", false },
  { "Split", 17, "x", "num_outputs:i", false },
  { "Split", 18, "x", "num_outputs:i", true },
  { "Split", 26, "xi", "", true },
  { "Split", 26, "x", "split:I", false },
  { "ReduceMean", 17, "x", "axes:I keepdims:i", true },
  { "ReduceMean", 17, "xi", "", false },
  { "ReduceMean", 18, "xi", "keepdims:i", true },
  { "ReduceMean", 18, "x", "axes:I", false },
  { "ReduceMax", 17, "x", "axes:I", true },
  { "ReduceMax", 18, "x", "axes:I", false },
  { "ReduceSum", 12, "x", "axes:I", true },
  { "ReduceSum", 12, "xi", "", false },
  { "ReduceSum", 13, "xi", "", true },
  { "ReduceSum", 13, "x", "axes:I", false },
  { "Pad", 10, "x", "mode:s pads:I", true },
  { "Pad", 10, "xi", "", false },
  { "Pad", 11, "xi", "", true },
  { "Pad", 11, "x", "pads:I", false },
  { "Pad", 17, "xisi", "", false },
  { "Pad", 18, "xisi", "", true },
  { "Resize", 10, "xc", "", true },
  { "Resize", 11, "xc", "", false },
  { "Resize", 11, "xcc", "", true },
  { "Resize", 13, "x-c", "", true },
  { "Resize", 17, "x--i", "axes:I", false },
  { "Resize", 18, "x--i", "axes:I", true },
  { "Resize", 18, "xc", "", false },
  { "BatchNormalization", 8, "xcccc", "spatial:i", true },
  { "BatchNormalization", 9, "xcccc", "spatial:i", false },
  { "BatchNormalization", 9, "xcccc", "epsilon:f momentum:f", true },
  { "BatchNormalization", 13, "xcccc", "training_mode:i", false },
  { "BatchNormalization", 14, "xcccc", "training_mode:i", true },
  { "Squeeze", 12, "x", "axes:I", false }, // axes of length 4
  { "Unsqueeze", 12, "x", "axes:I", true },
  { "Unsqueeze", 13, "x", "axes:I", false },
  { "Unsqueeze", 13, "xi", "", true },
  { "Dropout", 11, "x", "ratio:f", true },
  { "Dropout", 12, "x", "ratio:f", false },
  { "Dropout", 12, "xs", "", true },
  { "Upsample", 9, "xc", "", true },
  { "Upsample", 10, "xc", "", false },
  { "Gelu", 19, "x", "", false },
  { "Gelu", 20, "x", "approximate:s", true },
  { "LayerNormalization", 16, "xc", "", false },
  { "LayerNormalization", 17, "xc", "", true },
};

static void add_inputs(oxp__builder *builder, const char *letters, const char **names)
{
  static const char *const all[] = { "v0", "v1", "v2", "v3", "v4" };
  static const int64_t four[] = { 4, 4, 4, 4 }, unknown[] = { OXP_DIM_UNKNOWN };
  for (int i = 0; letters[i]; i++) {
    names[i] = letters[i] == '-' ? "" : all[i];
    bool is_ints = letters[i] == 'i';
    int rank = letters[i] == 'x' ? 4 : letters[i] == 's' ? 0 : 1;
    if (letters[i] != '-')
      oxp__build_value_info(builder, &builder->graph->model.graph->inputs, names[i], is_ints ? OXP_INT64 : OXP_FLOAT32,
                            rank, is_ints ? unknown : four, NULL);
  }
}

static void add_attribute(oxp__builder *builder, oxp__node *node, const char *name, char kind)
{
  static const int64_t zeros[8] = { 0 }, numbers[] = { 1, 3 };
  switch (kind) {
  case 'f':
    oxp__build_float(builder, node, name, 0.5);
    break;
  case 'i':
    oxp__build_int(builder, node, name, strcmp(name, "num_outputs") == 0 ? 2 : 0);
    break;
  case 's':
    oxp__build_string(builder, node, name, strcmp(name, "mode") == 0 ? "constant" : "none");
    break;
  default:
    if (strcmp(name, "pads") == 0)
      oxp__build_ints(builder, node, name, 8, zeros);
    else
      oxp__build_ints(builder, node, name, 2, numbers);
  }
}

static oxp_graph *graph_of(const operator_form *form)
{
  oxp_graph *graph = oxp__graph_new();
  assert_non_null(graph);
  oxp__builder builder = { .graph = graph, .opset = form->opset, .dtype = OXP_FLOAT32 };
  graph->model.ir_version = 7;
  graph->model.graph->name = "form";
  oxp__build_opset(&builder, "", form->opset);
  const char *inputs[6] = { NULL };
  add_inputs(&builder, form->inputs, inputs);
  bool is_split = strcmp(form->op_type, "Split") == 0;
  oxp__node *node =
      oxp__build_node(&builder, form->op_type, "node", inputs, (const char *[]){ "y", is_split ? "z" : NULL, NULL });
  char attributes[64];
  snprintf(attributes, sizeof attributes, "%s", form->attributes);
  for (char *word = strtok(attributes, " "); word; word = strtok(NULL, " ")) {
    char *colon = strchr(word, ':');
    *colon = '\0';
    add_attribute(&builder, node, word, colon[1]);
  }
  assert_int_equal(builder.status, OXP_OK);
  return graph;
}

static void each_form_is_right_at_its_opsets_only(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    const operator_form *form = &forms[i];
    oxp_graph *graph = graph_of(form);
    oxp_error error = { 0 };
    oxp_status status = oxp__model_check(graph, NULL, &error);
    if (status != (form->right ? OXP_OK : OXP_BAD_FILE))
      fail_msg("%s %d (%s) [%s]: %s %s", form->op_type, form->opset, form->inputs, form->attributes,
               oxp_status_name(status), error.message);
    oxp_graph_free(graph);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_form_is_right_at_its_opsets_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
