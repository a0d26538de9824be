// mlp.c: builds a small network by hand, exports it, and proves the file against ONNX Runtime: cc mlp.c -lonnxport
#include <onnxport.h>
#include <stdio.h>

enum { INPUTS = 4, HIDDEN = 8, OUTPUTS = 3 };

// Stands for weights from anywhere. The network borrows them, so they must outlive it.
static float weights[INPUTS * HIDDEN + HIDDEN + HIDDEN * OUTPUTS + OUTPUTS];

// Adds y = x W + b with the weights at `w`, W before b.
static oxp_value add_linear(oxp_network *net, oxp_value x, int64_t in, int64_t out, const float *w)
{
  oxp_value y = oxp_network_add_layer(net, "linear", NULL, 1, &x);
  oxp_tensor weight = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ in, out }, w);
  oxp_tensor bias = oxp_tensor_from_memory(OXP_FLOAT32, 1, (int64_t[]){ out }, w + in * out);
  oxp_layer_set_int(net, y, "in_features", in);
  oxp_layer_set_int(net, y, "out_features", out);
  oxp_layer_set_weight(net, y, "weight", &weight);
  oxp_layer_set_weight(net, y, "bias", &bias);
  return y;
}

// The calls remember the first mistake; oxp_network_finish reports it.
static oxp_status build(oxp_network *net, oxp_error *error)
{
  oxp_value x = oxp_network_add_input(net, "input", 2, (int64_t[]){ OXP_DIM_BATCH, INPUTS });
  x = add_linear(net, x, INPUTS, HIDDEN, weights);
  x = oxp_network_add_layer(net, "relu", NULL, 1, &x);
  x = add_linear(net, x, HIDDEN, OUTPUTS, weights + INPUTS * HIDDEN + HIDDEN);
  oxp_network_add_output(net, x, NULL);
  return oxp_network_finish(net, error);
}

int main(int argc, char **argv)
{
  const char *path = argc > 1 ? argv[1] : "mlp.onnx";
  oxp_error error = { 0 };
  oxp_network *net = NULL;
  oxp_graph *graph = NULL;
  oxp_verify_report *report = NULL;
  for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
    weights[i] = 0.1f * (float)((int)(i * 5 % 13) - 6);

  oxp_status status = OXP_OK;
  if ((status = oxp_network_new(OXP_FLOAT32, &net, &error)) == OXP_OK && (status = build(net, &error)) == OXP_OK &&
      (status = oxp_graph_lower(net, NULL, &graph, &error)) == OXP_OK &&
      (status = oxp_graph_write(graph, path, NULL, NULL, &error)) == OXP_OK)
    status = oxp_verify(net, graph, NULL, &report, &error);

  if (report)
    printf("%s: largest difference %.1e\n", path, oxp_verify_output(report, 0)->difference.max_abs);
  else
    fprintf(stderr, "%s\n", error.message);
  oxp_verify_report_free(report);
  oxp_graph_free(graph);
  oxp_network_free(net);
  return oxp_status_exit_code(status);
}
