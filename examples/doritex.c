// doritex.c: describes a real network that no file format holds, call by call, and turns it into ONNX.
//
// doritex finds the words on a page and the direction they read in. Its package brings bare arrays (an .npz) and no graph:
// the graph is this file. Read it from the bottom up: main runs it, detector() and direction() say what the two networks look
// like, and the functions above say what their words mean. Each layer has the name under which the arrays of its weights are
// stored ("s4.0.3:weight" belongs to layer "s4.0.3"), so nothing has to be listed twice.
//
//     doritex doritex-v1.npz detector detector.onnx
//     doritex doritex-v1.npz detector detector.onnx reference page.npy conf.npy geom.npy
//     doritex doritex-v1.npz direction direction.onnx ort:cpu crops.npy score.npy
#include <onnxport.h>

#include <stdio.h>
#include <string.h>

enum { DORITEX_MAX_OUTPUTS = 2, DORITEX_PYRAMID = 80 }; // the feature pyramid has 80 channels at every size

// A network that is being described. The library remembers the first mistake in it until oxp_network_finish; `status` and
// `error` do the same for the first array that the weight file lacks.
typedef struct model {
  oxp_network *network;
  const oxp_weights *weights;
  oxp_status status;
  oxp_error *error;
} model;

// ---- Names ----

// A layer's name, by value: layer number `index` of block "s4.0" is "s4.0.3".
typedef struct layer_name {
  char text[48];
} layer_name;

static layer_name at(const char *block, int index)
{
  layer_name layer;
  snprintf(layer.text, sizeof layer.text, "%.32s.%d", block, index);
  return layer;
}

// ---- Layers: one function each, from the value that goes in to the value that comes out ----

// Gives the layer that computes `y` the array "LAYER:ROLE" as its weight of that role.
static void weight(model *m, oxp_value y, const char *layer, const char *role)
{
  char member[64];
  snprintf(member, sizeof member, "%s:%s", layer, role);
  oxp_tensor tensor;
  if (m->status == OXP_OK)
    m->status = oxp_weights_find(m->weights, member, &tensor, m->error);
  if (m->status == OXP_OK)
    oxp_layer_set_weight(m->network, y, role, &tensor);
}

// A convolution with bias. Padding by half the window keeps the size, but for the stride.
static oxp_value conv(model *m, oxp_value x, const char *layer, int in, int out, int kernel, int stride)
{
  oxp_value y = oxp_network_add_layer(m->network, "conv2d", layer, 1, &x);
  oxp_layer_set_int(m->network, y, "in_channels", in);
  oxp_layer_set_int(m->network, y, "out_channels", out);
  oxp_layer_set_int(m->network, y, "kernel_shape", kernel);
  oxp_layer_set_int(m->network, y, "strides", stride);
  oxp_layer_set_int(m->network, y, "pads", kernel / 2);
  weight(m, y, layer, "weight");
  weight(m, y, layer, "bias");
  return y;
}

// A convolution of each channel on its own, without bias.
static oxp_value depthwise(model *m, oxp_value x, const char *layer, int channels, int kernel, int stride)
{
  oxp_value y = oxp_network_add_layer(m->network, "depthwise_conv2d", layer, 1, &x);
  oxp_layer_set_int(m->network, y, "channels", channels);
  oxp_layer_set_int(m->network, y, "kernel_shape", kernel);
  oxp_layer_set_int(m->network, y, "strides", stride);
  oxp_layer_set_int(m->network, y, "pads", kernel / 2);
  oxp_layer_set_int(m->network, y, "bias", false);
  weight(m, y, layer, "weight");
  return y;
}

static oxp_value batch_norm(model *m, oxp_value x, const char *layer, int channels)
{
  oxp_value y = oxp_network_add_layer(m->network, "batch_norm", layer, 1, &x);
  oxp_layer_set_int(m->network, y, "num_features", channels);
  oxp_layer_set_float(m->network, y, "epsilon", 1e-5);
  weight(m, y, layer, "gamma");
  weight(m, y, layer, "beta");
  weight(m, y, layer, "running_mean");
  weight(m, y, layer, "running_var");
  return y;
}

static oxp_value linear(model *m, oxp_value x, const char *layer, int in, int out)
{
  oxp_value y = oxp_network_add_layer(m->network, "linear", layer, 1, &x);
  oxp_layer_set_int(m->network, y, "in_features", in);
  oxp_layer_set_int(m->network, y, "out_features", out);
  weight(m, y, layer, "weight");
  weight(m, y, layer, "bias");
  return y;
}

// Layers without parameters. `layer` may be NULL: the library makes a name from the kind.
static oxp_value plain(model *m, oxp_value x, const char *kind, const char *layer)
{
  return oxp_network_add_layer(m->network, kind, layer, 1, &x);
}

static oxp_value add(model *m, oxp_value a, oxp_value b, const char *layer)
{
  return oxp_network_add_layer(m->network, "add", layer, 2, (oxp_value[]){ a, b });
}

static oxp_value upsample_by_2(model *m, oxp_value x)
{
  oxp_value y = oxp_network_add_layer(m->network, "upsample", NULL, 1, &x);
  oxp_layer_set_float(m->network, y, "scales", 2);
  return y;
}

// ---- Blocks: layers `first`, `first + 1`, ... of a block that is numbered through ----

static oxp_value conv_bn(model *m, oxp_value x, const char *block, int first, int in, int out, int kernel, int stride)
{
  x = conv(m, x, at(block, first).text, in, out, kernel, stride);
  return batch_norm(m, x, at(block, first + 1).text, out);
}

static oxp_value conv_bn_swish(model *m, oxp_value x, const char *block, int first, int in, int out, int kernel,
                               int stride)
{
  x = conv_bn(m, x, block, first, in, out, kernel, stride);
  return plain(m, x, "hard_swish", at(block, first + 2).text);
}

static oxp_value depthwise_bn_swish(model *m, oxp_value x, const char *block, int first, int channels, int kernel,
                                    int stride)
{
  x = depthwise(m, x, at(block, first).text, channels, kernel, stride);
  x = batch_norm(m, x, at(block, first + 1).text, channels);
  return plain(m, x, "hard_swish", at(block, first + 2).text);
}

// Widens, filters each channel, narrows again; the input is added where the shape did not change.
static oxp_value inverted_residual(model *m, oxp_value x, const char *block, int in, int out, int expand, int kernel,
                                   int stride)
{
  int wide = in * expand;
  oxp_value y = conv_bn_swish(m, x, block, 0, in, wide, 1, 1);
  y = depthwise_bn_swish(m, y, block, 3, wide, kernel, stride);
  y = conv_bn(m, y, block, 6, wide, out, 1, 1);
  return stride == 1 && in == out ? add(m, x, y, block) : y;
}

typedef struct residual_row {
  int in, out, expand, kernel, stride;
} residual_row;

// A chain of them: "s4.0", "s4.1", ... up to the first row of zeros.
static oxp_value residuals(model *m, oxp_value x, const char *stage, const residual_row *row)
{
  for (int i = 0; row[i].in; i++)
    x = inverted_residual(m, x, at(stage, i).text, row[i].in, row[i].out, row[i].expand, row[i].kernel, row[i].stride);
  return x;
}

// Five layers that keep size and channels; the feature pyramid and both heads end in them.
static oxp_value smooth(model *m, oxp_value x, const char *block)
{
  x = depthwise_bn_swish(m, x, block, 0, DORITEX_PYRAMID, 3, 1);
  return conv_bn_swish(m, x, block, 3, DORITEX_PYRAMID, DORITEX_PYRAMID, 1, 1);
}

// One step down the pyramid: the coarse map at twice its size, plus the finer one from the backbone.
static oxp_value merge(model *m, oxp_value coarse, oxp_value fine, int fine_channels, const char *lateral,
                       const char *refine)
{
  fine = conv_bn(m, fine, lateral, 0, fine_channels, DORITEX_PYRAMID, 1, 1);
  return smooth(m, add(m, upsample_by_2(m, coarse), fine, NULL), refine);
}

// ---- The two networks ----

// channels in, out, expansion, kernel, stride
static const residual_row detector_s4[] = { { 16, 24, 4, 3, 2 }, { 24, 24, 3, 3, 1 }, { 0 } };
static const residual_row detector_s8[] = { { 24, 48, 3, 5, 2 }, { 48, 48, 3, 5, 1 }, { 48, 48, 3, 5, 1 }, { 0 } };
static const residual_row detector_s16[] = { { 48, 96, 4, 3, 2 },  { 96, 96, 3, 5, 1 },   { 96, 96, 3, 5, 1 },
                                             { 96, 112, 4, 5, 1 }, { 112, 112, 3, 5, 1 }, { 0 } };
static const residual_row detector_s32[] = {
  { 112, 160, 4, 5, 2 }, { 160, 160, 3, 5, 1 }, { 160, 160, 3, 5, 1 }, { 0 }
};
static const residual_row direction_body[] = { { 16, 24, 3, 3, 2 },
                                               { 24, 24, 3, 3, 1 },
                                               { 24, 48, 3, 3, 2 },
                                               { 48, 48, 3, 3, 1 },
                                               { 48, 64, 3, 3, 2 },
                                               { 64, 64, 3, 3, 1 },
                                               { 0 } };

// RGB in 0..1, height and width multiples of 32. Two maps of a quarter of the size come out: `conf`, how likely a place lies in
// a word, and `geom`, where its word's box is and how it is turned.
static void detector(model *m)
{
  int64_t image[] = { OXP_DIM_BATCH, 3, OXP_DIM_HEIGHT, OXP_DIM_WIDTH };
  oxp_value x = oxp_network_add_input(m->network, "image", 4, image);
  x = conv_bn_swish(m, x, "stem", 0, 3, 16, 3, 2);
  x = depthwise_bn_swish(m, x, "stem", 3, 16, 3, 1);
  x = conv_bn(m, x, "stem", 6, 16, 16, 1, 1);

  oxp_value c4 = residuals(m, x, "s4", detector_s4);
  oxp_value c8 = residuals(m, c4, "s8", detector_s8);
  oxp_value c16 = residuals(m, c8, "s16", detector_s16);
  oxp_value c32 = residuals(m, c16, "s32", detector_s32);

  oxp_value p = conv_bn_swish(m, c32, "top", 0, 160, DORITEX_PYRAMID, 1, 1);
  p = merge(m, p, c16, 112, "f16.lat", "f16.refine");
  p = merge(m, p, c8, 48, "f8.lat", "f8.refine");
  p = merge(m, p, c4, 24, "f4.lat", "f4.refine");

  oxp_value conf = conv(m, smooth(m, p, "conf_head"), "conf_out.0", DORITEX_PYRAMID, 1, 1, 1);
  oxp_value geom = conv(m, smooth(m, p, "geom_head"), "geom_out", DORITEX_PYRAMID, 8, 1, 1);
  oxp_network_add_output(m->network, plain(m, conf, "sigmoid", "conf_out.1"), "conf");
  oxp_network_add_output(m->network, geom, "geom");
}

// Crops of single words, 32 by 128 and normalised; `score` grows with the certainty that the word stands upright.
static void direction(model *m)
{
  oxp_value x = oxp_network_add_input(m->network, "crop", 4, (int64_t[]){ OXP_DIM_BATCH, 3, 32, 128 });
  x = conv_bn_swish(m, x, "orient_stem", 0, 3, 16, 3, 2);
  x = residuals(m, x, "orient_body", direction_body);
  x = plain(m, x, "flatten", NULL);
  x = linear(m, x, "orient_fc1", 1024, 64);
  x = plain(m, x, "hard_swish", NULL);
  oxp_network_add_output(m->network, linear(m, x, "orient_fc2", 64, 1), "score");
}

// Describes the network called `what` over the weights, which must outlive it.
static oxp_status describe(const oxp_weights *weights, const char *what, oxp_network **out, oxp_error *error)
{
  model m = { .weights = weights, .error = error };
  oxp_status status = oxp_network_new(OXP_FLOAT32, &m.network, error);
  if (status != OXP_OK)
    return status;
  if (strcmp(what, "direction") == 0)
    direction(&m);
  else
    detector(&m);
  status = m.status != OXP_OK ? m.status : oxp_network_finish(m.network, error);
  if (status == OXP_OK)
    *out = m.network;
  else
    oxp_network_free(m.network);
  return status;
}

// ---- What the program does with them ----

static oxp_status export(const oxp_network *network, const char *path, oxp_error *error)
{
  oxp_graph *graph = NULL;
  oxp_status status = oxp_graph_lower(network, NULL, &graph, error);
  if (status == OXP_OK)
    status = oxp_graph_write(graph, path, NULL, NULL, error);
  oxp_graph_free(graph);
  return status;
}

// Runs the array in `input_path` through an engine and writes output number i to output_paths[i].
static oxp_status run(const oxp_network *network, const char *engine, const char *input_path, char **output_paths,
                      oxp_error *error)
{
  oxp_session *session = NULL;
  oxp_array input = { 0 }, outputs[DORITEX_MAX_OUTPUTS] = { 0 };
  oxp_status status = oxp_array_read(input_path, &input, error);
  if (status == OXP_OK)
    status = oxp_session_open(network, engine, NULL, &session, error);
  if (status == OXP_OK)
    status = oxp_session_run(session, &input, outputs, error);
  for (int i = 0; status == OXP_OK && i < oxp_session_output_count(session); i++)
    status = oxp_array_write(&outputs[i], output_paths[i], error);
  for (int i = 0; i < DORITEX_MAX_OUTPUTS; i++)
    oxp_array_free(&outputs[i]);
  oxp_array_free(&input);
  oxp_session_free(session);
  return status;
}

int main(int argc, char **argv)
{
  bool is_detector = argc > 2 && strcmp(argv[2], "detector") == 0;
  bool is_direction = argc > 2 && strcmp(argv[2], "direction") == 0;
  if (!(is_detector || is_direction) || !(argc == 4 || argc == (is_detector ? 8 : 7))) {
    fprintf(stderr, "usage: doritex WEIGHTS.npz detector  MODEL.onnx [ENGINE IMAGE.npy CONF.npy GEOM.npy]\n"
                    "       doritex WEIGHTS.npz direction MODEL.onnx [ENGINE CROPS.npy SCORE.npy]\n");
    return oxp_status_exit_code(OXP_BAD_ARGUMENT);
  }
  oxp_error error = { 0 };
  oxp_weights *weights = NULL;
  oxp_network *network = NULL;
  oxp_status status = oxp_weights_open(argv[1], &weights, &error);
  if (status == OXP_OK)
    status = describe(weights, argv[2], &network, &error);
  if (status == OXP_OK)
    status = export(network, argv[3], &error);
  if (status == OXP_OK && argc > 4)
    status = run(network, argv[4], argv[5], argv + 6, &error);
  if (status != OXP_OK)
    fprintf(stderr, "doritex: %s\n", error.message);
  oxp_network_free(network);
  oxp_weights_free(weights); // after the network, which borrows from it
  return oxp_status_exit_code(status);
}
