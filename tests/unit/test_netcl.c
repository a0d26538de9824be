// Tests of reading netcl's files in all their forms: the golden networks compute what netcl computed, input sizes are found, and what
// a file lacks is said.
#include "formats_support.h"

#include "formats/common/netcl_source.h"
#include "onnx/graph.h"

#define CNN "3x32x32"

static void assert_reads(const char *name, const char *shape, double tolerance)
{
  char path[512], x[512], y[512];
  snprintf(path, sizeof path, NETCL "%s.netcl", name);
  snprintf(x, sizeof x, NETCL "%s.x.npy", name);
  snprintf(y, sizeof y, NETCL "%s.y.npy", name);
  oxp_network *network = open_network(path, with_shape(shape));
  assert_string_equal(oxp_network_format(network), "netcl");
  assert_int_equal(oxp_network_warning_count(network), 0);
  assert_computes(network, x, y, tolerance);
  oxp_network_free(network);
}

static void test_golden_networks(void **state)
{
  (void)state;
  static const struct {
    const char *name, *shape;
  } cases[] = {
    { "a_mlp", "" },
    { "b_cnn", CNN },
    { "c_conv_groups", "" },
    { "d_bn", "" },
    { "e_dropout_pool", "4x29x22" },
    { "f_allact", "" },
    { "l_linear3d", "5x6" },
    { "l_linear4d", "3x6x8" },
    { "p_pools", "3x23x26" },
    { "z_empty", "3" },
    { "act/f_sigmoid", "16" },
    { "act/f_tanh", "16" },
    { "edge/dilated_relu", "" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_reads(cases[i].name, cases[i].shape, 1e-5);
}

static void test_detector(void **state)
{
  (void)state;
  oxp_network *network = open_network(NETCL "detector/h_det26.netcl", with_shape(""));
  assert_int_equal(oxp_network_layer_count(network), 26);
  oxp_value_info info;
  assert_true(oxp_network_value_info(network, oxp_network_input(network, 0), &info));
  assert_int_equal(info.rank, 4);
  assert_int_equal(info.shape[0], OXP_DIM_BATCH);
  assert_int_equal(info.shape[1], 3);
  assert_int_equal(info.shape[2], OXP_DIM_HEIGHT);
  assert_int_equal(info.shape[3], OXP_DIM_WIDTH);
  oxp_network_free(network);
}

// --- Old releases ---

static void assert_legacy(const char *path, const char *stem, const char *shape, const char *format)
{
  char x[512], y[512], full[512];
  snprintf(full, sizeof full, NETCL "legacy/%s", path);
  snprintf(x, sizeof x, NETCL "legacy/%s.x.npy", stem);
  snprintf(y, sizeof y, NETCL "legacy/%s.y.npy", stem);
  oxp_network *network = open_network(full, with_shape(shape));
  assert_string_equal(oxp_network_format(network), format);
  assert_computes(network, x, y, 1e-5);
  oxp_network_free(network);
}

static void test_legacy(void **state)
{
  (void)state;
  static const char *const nets[][2] = { { "mlp", "" }, { "cnn", "3x16x16" }, { "nobias", "3x9x9" } };
  for (int i = 0; i < 3; i++) {
    char stem[32], path[64];
    for (int release = 0; release < 2; release++) {
      snprintf(stem, sizeof stem, "%s_%s", release ? "v027" : "v014", nets[i][0]);
      snprintf(path, sizeof path, "%s.netcl", stem);
      assert_legacy(path, stem, nets[i][1], "netcl");
    }
    snprintf(stem, sizeof stem, "v013_%s", nets[i][0]);
    assert_legacy(stem, stem, nets[i][1], "netcl_pair"); // by the stem, and by either file
    snprintf(path, sizeof path, "%s.json", stem);
    assert_legacy(path, stem, nets[i][1], "netcl_pair");
    snprintf(path, sizeof path, "%s.npz", stem);
    assert_legacy(path, stem, nets[i][1], "netcl_pair");
  }
}

static void copy_file(const char *from, const char *to)
{
  bytes data = read_bytes(from);
  write_bytes(to, data.at, data.count);
  free(data.at);
}

static void test_half_a_pair(void **state)
{
  (void)state;
  copy_file(NETCL "legacy/v013_mlp.json", "half.json");
  remove("half.npz");
  assert_open_fails("half.json", with_shape(""), OXP_BAD_FILE, "half.npz|weight|bias|no such file");
  copy_file(NETCL "legacy/v013_mlp.npz", "other.npz");
  assert_open_fails("other.npz", with_shape(""), OXP_BAD_FILE, "other.npz|no description|other.json|--description");
  write_text("broken.json", "{\"type\": \"Sequential\",\n \"config\" []}");
  assert_open_fails("broken.json", with_shape(""), OXP_BAD_FILE, "broken.json|line 2");
  assert_open_fails("nothing_here", with_shape(""), OXP_IO, "nothing_here|No such file");
  copy_file(NETCL "a_mlp.netcl", "stem.netcl");
  oxp_network_free(open_network("stem", with_shape(""))); // netcl adds its suffix too
}

// Version 1 wrote for every Linear whether it has a bias: a member that is not there is missing.
static void test_linear_of_version_1(void **state)
{
  (void)state;
  write_text("version1_linear.json", "{\"type\": \"Sequential\", \"version\": 1, \"config\": [{\"type\": "
                                     "\"Linear\", \"args\": {\"in_features\": 3, \"out_features\": 2}}]}");
  remove("version1_linear.npz");
  assert_open_fails("version1_linear.json", with_shape(""), OXP_BAD_FILE,
                    "weight (layer 0, Linear)|bias (layer 0, Linear)");
}

// A file may appear after it was looked for: that is a failure like any other, not a success without a file.
static void test_file_that_appears(void **state)
{
  (void)state;
  remove("appears.netcl");
  oxp__arena arena = { 0 };
  oxp__candidate candidate;
  oxp_error error = { 0 };
  assert_int_equal(oxp__candidate_open(&arena, "appears.netcl", &candidate, &error), OXP_OK);
  assert_null(candidate.file);
  assert_int_equal(oxp__candidate_fail_missing(&candidate, &error), OXP_IO);
  assert_all_words(error.message, "appears.netcl|No such file");
  write_text("appears.netcl", "now");
  error = (oxp_error){ 0 };
  assert_int_equal(oxp__candidate_fail_missing(&candidate, &error), OXP_IO);
  assert_all_words(error.message, "appears.netcl|appeared since");
  assert_int_equal(oxp__candidate_fail_missing(&candidate, NULL), OXP_IO);
  oxp__arena_fini(&arena);
}

// --- Plain lists of layers ---

static const char layer_norm_list[] =
    "[{\"type\": \"Linear\", \"args\": {\"in_features\": 10, \"out_features\": 16}},\n"
    " {\"type\": \"LayerNorm\", \"normalized_shape\": [16], \"eps\": 1e-3},\n"
    " {\"type\": \"ReLU\"}, {\"type\": \"Linear\", \"in_features\": 16, \"out_features\": 3, \"bias\": true}]";

static void test_layer_list(void **state)
{
  (void)state;
  copy_file(NETCL "g_layernorm.weights.npz", "list.npz");
  write_text("list.json", layer_norm_list);
  static const char *const paths[] = { "list.json", "list.npz", "list" };
  for (int i = 0; i < 3; i++) {
    oxp_network *network = open_network(paths[i], with_shape(""));
    assert_string_equal(oxp_network_format(network), "netcl_layers");
    assert_computes(network, NETCL "g_layernorm.x.npy", NETCL "g_layernorm.y.npy", 1e-5);
    oxp_network_free(network);
  }
  write_text("elsewhere.json", layer_norm_list);
  oxp_open_options options = { .description = "elsewhere.json" };
  oxp_network *network = open_network(NETCL "g_layernorm.weights.npz", options);
  assert_computes(network, NETCL "g_layernorm.x.npy", NETCL "g_layernorm.y.npy", 1e-5);
  oxp_network_free(network);
}

static void assert_list_fails(const char *list, oxp_status status, const char *words)
{
  write_text("bad.json", list);
  copy_file(NETCL "g_layernorm.weights.npz", "bad.npz");
  assert_open_fails("bad.json", with_shape("4"), status, words);
}

static void test_bad_lists(void **state)
{
  (void)state;
  assert_list_fails(
      "[{\"type\": \"Warp\"}, {\"type\": \"ReLU\"}, {\"type\": \"Twist\"}, {\"type\": \"MultiheadAttention\"}]",
      OXP_UNSUPPORTED, "layer 0 (Warp)|layer 2 (Twist)|layer 3 (MultiheadAttention)");
  assert_list_fails("[{\"type\": \"LayerNorm\", \"normalized_shape\": [5, 6]}]", OXP_UNSUPPORTED,
                    "layer 0|normalized_shape|last axis only");
  assert_list_fails("[{\"type\": \"Concat\"}]", OXP_UNSUPPORTED, "layer 0 (Concat)");
  assert_list_fails("[3]", OXP_BAD_FILE, "layer 0 is a whole number");
  assert_list_fails("[{\"kind\": \"ReLU\"}]", OXP_BAD_FILE, "layer 0 is an object|\"type\"");
  assert_list_fails("[{\"type\": \"ReLU\", \"args\": 3}]", OXP_BAD_FILE, "\"args\" is a whole number");
  assert_list_fails("[{\"type\": \"Linear\"}]", OXP_BAD_FILE, "\"in_features\", \"out_features\"");
  assert_list_fails("[{\"type\": \"LeakyReLU\", \"negative_slope\": [1, 2]}]", OXP_BAD_FILE, "negative_slope|a list");
  assert_list_fails("[{\"type\": \"MaxPool2d\", \"stride\": []}]", OXP_BAD_FILE, "stride|0 entries");
  assert_list_fails("[{\"type\": \"MaxPool2d\", \"stride\": [1, true]}]", OXP_BAD_FILE, "entry 1|true or false");
  assert_list_fails("[{\"type\": \"LeakyReLU\", \"negative_slope\": null}]", OXP_BAD_FILE, "negative_slope");
  assert_list_fails("[{\"type\": \"LeakyReLU\", \"negative_slope\": {}}]", OXP_BAD_FILE, "negative_slope|an object");
  assert_list_fails("[{\"type\": \"Upsample\", \"size\": 2, \"mode\": true}]", OXP_BAD_FILE, "mode|true");
  assert_list_fails("[{\"type\": \"LeakyReLU\", \"args\": {}, \"negative_slope\": 0.5}]", OXP_BAD_FILE,
                    "layer 0|\"args\"|\"negative_slope\"");
  assert_list_fails("[{\"type\": \"GELU\", \"args\": null, \"approximate\": false}]", OXP_BAD_FILE,
                    "layer 0|\"args\"|\"approximate\"");
  assert_list_fails("[{\"type\": \"MaxPool2d\", \"kernel_size\": 18446744073709551616}]", OXP_BAD_FILE,
                    "layer 0|kernel_size|1.8446744073709552e+19|2147483647");
  assert_list_fails("{\"optim_state\": {}}", OXP_BAD_FILE, "--description");
  assert_list_fails("{\"hello\": 1}", OXP_BAD_FILE, "does not describe a network");
}

// netcl ignores keys beside "args": a network that it saved means the same here, and they are named.
static void test_keys_beside_arguments(void **state)
{
  (void)state;
  write_text("beside.json", "{\"type\": \"Sequential\", \"version\": 2, \"config\": [{\"type\": \"LeakyReLU\", "
                            "\"negative_slope\": 0.5}, {\"type\": \"ReLU\", \"args\": {}, \"name\": \"last\"}]}");
  write_bytes("beside.npz", "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
  oxp_network *network = open_network("beside.json", with_shape("4"));
  assert_all_words(oxp_network_warning(network, 0), "\"negative_slope\"|layer 0");
  assert_all_words(oxp_network_warning(network, 1), "\"name\"|layer 1");
  oxp_network_free(network);
}

// A pair of numbers is accepted wherever netcl has one, and one padding stands for both sides.
static void test_pairs_of_numbers(void **state)
{
  (void)state;
  write_text("pairs.json", "[{\"type\": \"MaxPool2d\", \"kernel_size\": [2, 3], \"stride\": [1, 2]}]");
  write_bytes("pairs.npz", "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
  oxp_network *network = open_network("pairs.json", with_shape("1x8x9"));
  oxp_value_info info;
  assert_true(oxp_network_value_info(network, oxp_network_output(network, 0), &info));
  assert_int_equal(info.shape[2], 7);
  assert_int_equal(info.shape[3], 4);
  oxp_network_free(network);
}

static oxp_value add_conv(oxp_network *network, oxp_value x, int64_t in, int64_t out)
{
  static const float zeros[4 * 3 * 9] = { 0 };
  x = oxp_network_add_layer(network, "conv2d", NULL, 1, &x);
  oxp_layer_set_int(network, x, "in_channels", in);
  oxp_layer_set_int(network, x, "out_channels", out);
  oxp_layer_set_int(network, x, "kernel_shape", 3);
  oxp_layer_set_int(network, x, "bias", 0);
  oxp_tensor kernel = oxp_tensor_from_memory(OXP_FLOAT32, 4, (int64_t[]){ out, in, 3, 3 }, zeros);
  oxp_layer_set_weight(network, x, "weight", &kernel);
  return x;
}

// In a bare list a pair of pads is (height, width), each added on both sides of its axis: an 8x8 map becomes 6x10. Read
// as anything else (top and left, or turned) it would stay 8x8.
static void test_pairs_of_pads(void **state)
{
  (void)state;
  oxp_network *network = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &network, &error), OXP_OK);
  oxp_value x = oxp_network_add_input(network, "input", 4, (int64_t[]){ OXP_DIM_BATCH, 1, 8, 8 });
  x = add_conv(network, x, 1, 1);
  oxp_network_add_output(network, x, NULL);
  if (oxp_network_finish(network, &error) != OXP_OK ||
      oxp_network_write(network, "pads", "netcl_pair", &error) != OXP_OK)
    fail_msg("%s", error.message);
  oxp_network_free(network);
  write_text(
      "pads.json",
      "[{\"type\": \"Conv2d\", \"in_channels\": 1, \"out_channels\": 1, \"kernel_size\": [3, 3], \"pad\": [0, 2], "
      "\"bias\": false}]");
  network = open_network("pads.json", with_shape("1x8x8"));
  oxp_value_info info;
  assert_true(oxp_network_value_info(network, oxp_network_output(network, 0), &info));
  assert_int_equal(info.shape[2], 6);
  assert_int_equal(info.shape[3], 10);
  oxp_network_free(network);
  write_text("pads.json",
             "[{\"type\": \"Conv2d\", \"in_channels\": 1, \"out_channels\": 1, \"kernel_size\": 3, \"pad\": [1], "
             "\"bias\": false}]");
  assert_open_fails("pads.json", with_shape("1x8x8"), OXP_BAD_FILE, "pad|one entry");
}

// NaN in a window of MaxPool2d, and in a weight that lies over the padding: netcl, runtimes and we answer differently
// there (see docs/formats/netcl.md). Everywhere else all agree.
static void test_nan_is_compared_where_it_is_defined(void **state)
{
  (void)state;
  static const struct {
    const char *name, *shape;
    int defined;
  } rows[] = { { "pool_nan", "2x6x6", 8 }, { "nan_border", "1x4x4", 16 } };
  for (size_t i = 0; i < 2; i++) {
    char path[3][512];
    static const char *const suffixes[] = { "netcl", "x.npy", "y.npy" };
    for (int k = 0; k < 3; k++)
      snprintf(path[k], sizeof path[k], FAULTS "edge/%s.%s", rows[i].name, suffixes[k]);
    oxp_network *network = open_network(path[0], with_shape(rows[i].shape));
    oxp_array x = read_array(path[1]), y = read_array(path[2]), got = run_network(network, &x);
    int defined = 0;
    for (int64_t k = 0; k < oxp_array_count(&y); k++) {
      float expected = ((const float *)y.data)[k], actual = ((const float *)got.data)[k];
      if (isnan(expected) || isnan(actual))
        continue;
      assert_true(fabsf(expected - actual) <= 2e-6F * fmaxf(1, fabsf(expected)));
      defined++;
    }
    assert_int_equal(defined, rows[i].defined);
    oxp_array_free(&x);
    oxp_array_free(&y);
    oxp_array_free(&got);
    oxp_network_free(network);
  }
}

// --- Checkpoints ---

static oxp_open_options described(const char *path)
{
  oxp_open_options options = with_shape(CNN);
  options.description = path;
  return options;
}

static void test_checkpoints(void **state)
{
  (void)state;
  static const char *const paths[] = { "checkpoint/b_ck.npz", "checkpoint/b_ck.json", "checkpoint/b_ck",
                                       "checkpoint/b_named.npz" };
  for (int i = 0; i < 4; i++) {
    char path[512];
    snprintf(path, sizeof path, NETCL "%s", paths[i]);
    oxp_network *network = open_network(path, described(NETCL "b_cnn.netcl"));
    assert_string_equal(oxp_network_format(network), "netcl_checkpoint");
    assert_int_equal(oxp_network_warning_count(network), i == 3); // bound by order, and that is said
    assert_computes(network, NETCL "b_cnn.x.npy", NETCL "b_cnn.y.npy", 1e-5);
    oxp_network_free(network);
    assert_open_fails(path, with_shape(CNN), OXP_BAD_FILE, "checkpoint|neither the layers|statistics|--description");
  }
}

static const char cnn_layers[] =
    "[{\"type\": \"Conv2d\", \"in_channels\": 3, \"out_channels\": 12, \"kernel_size\": 3, \"pad\": 1},"
    " {\"type\": \"BatchNorm2d\", \"num_features\": 12}, {\"type\": \"ReLU\"}, {\"type\": \"MaxPool2d\"},"
    " {\"type\": \"Conv2d\", \"in_channels\": 12, \"out_channels\": 20, \"kernel_size\": 3, \"pad\": 1},"
    " {\"type\": \"BatchNorm2d\", \"num_features\": 20}, {\"type\": \"LeakyReLU\", \"negative_slope\": 0.1},"
    " {\"type\": \"MaxPool2d\"}, {\"type\": \"Flatten\"},"
    " {\"type\": \"Linear\", \"in_features\": 1280, \"out_features\": 10}]";

static void test_checkpoint_lacks_something(void **state)
{
  (void)state;
  write_text("cnn.json", cnn_layers);
  assert_open_fails(NETCL "checkpoint/b_ck.npz", described("cnn.json"), OXP_BAD_FILE,
                    "b_ck.npz|running_mean (layer 1|running_var (layer 5|no running statistics");
  assert_open_fails(NETCL "checkpoint/b_ck.npz", described(NETCL "a_mlp.netcl"), OXP_BAD_FILE,
                    "p0|(12, 3, 3, 3)|(20, 64)");
  assert_open_fails(NETCL "checkpoint/b_ck.npz", described("nowhere.netcl"), OXP_IO, "nowhere.netcl");
  assert_open_fails(NETCL "checkpoint/b_ck.npz", described(NETCL "a_mlp.x.npy"), OXP_BAD_FILE, "a_mlp.x");
  assert_open_fails(NETCL "checkpoint/b_ck.npz", described(NETCL "damaged/bitflip_crc.netcl"), OXP_BAD_FILE, "p0");
  copy_file(NETCL "checkpoint/b_ck.json", "lone.json");
  remove("lone.npz");
  assert_open_fails("lone.json", described(NETCL "b_cnn.netcl"), OXP_BAD_FILE, "lone.npz");
  copy_file(NETCL "legacy/v013_nobias.json", "version1.json");
  assert_open_fails(NETCL "checkpoint/b_ck.npz", described("version1.json"), OXP_BAD_FILE,
                    "version1.json|bias|version1.npz");
}

// A description of version 1 says with its own members which layers have a bias: the parameters' order depends on it.
static void test_checkpoint_of_version_1(void **state)
{
  (void)state;
  oxp_open_options shape = with_shape("3x9x9"), options = shape;
  oxp_network *network = open_network(NETCL "legacy/v013_nobias", shape);
  oxp_error error = { 0 };
  if (oxp_network_write(network, "nobias_ck", "netcl_checkpoint", &error) != OXP_OK)
    fail_msg("%s", error.message);
  oxp_network_free(network);
  options.description = NETCL "legacy/v013_nobias";
  network = open_network("nobias_ck.npz", options);
  assert_string_equal(oxp_network_format(network), "netcl_checkpoint");
  assert_computes(network, NETCL "legacy/v013_nobias.x.npy", NETCL "legacy/v013_nobias.y.npy", 1e-5);
  oxp_network_free(network);
}

// --- .pt ---

static void test_pt(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    double tolerance;
    int warnings;
  } cases[] = { { "netcl_export", 1e-5, 0 },  { "torch_state", 1e-5, 0 },   { "torch_parameters", 1e-5, 0 },
                { "torch_double", 1e-5, 1 },  { "torch_half", 1e-3, 1 },    { "torch_strided_offset", 1e-5, 0 },
                { "torch_wrapped", 1e-5, 1 }, { "torch_bfloat16", 2e-2, 1 } };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char path[512];
    snprintf(path, sizeof path, NETCL "pt/b_cnn.%s.pt", cases[i].name);
    oxp_network *network = open_network(path, described(NETCL "b_cnn.netcl"));
    assert_string_equal(oxp_network_format(network), "netcl_pt");
    assert_int_equal(oxp_network_warning_count(network), cases[i].warnings);
    assert_computes(network, NETCL "b_cnn.x.npy", NETCL "b_cnn.y.npy", cases[i].tolerance);
    oxp_network_free(network);
    // The description may as well be JSON alone: a state dict has the statistics.
    write_text("cnn.json", cnn_layers);
    network = open_network(path, described("cnn.json"));
    assert_computes(network, NETCL "b_cnn.x.npy", NETCL "b_cnn.y.npy", cases[i].tolerance);
    oxp_network_free(network);
    assert_open_fails(path, with_shape(CNN), OXP_BAD_FILE, "no layers|--description");
  }
}

static void test_pt_refused(void **state)
{
  (void)state;
  assert_open_fails(
      NETCL "pt/b_cnn.torch_full_module.pt", described(NETCL "b_cnn.netcl"), OXP_BAD_FILE,
      "data.pkl|nothing was run|torch.nn.modules.container.Sequential|torch.nn.modules.linear.Linear|state_dict");
  assert_open_fails(NETCL "pt/b_cnn.torch_state_legacy.pt", described(NETCL "b_cnn.netcl"), OXP_BAD_FILE,
                    "old form|torch.save");
  assert_open_fails(NETCL "pt/b_cnn.torch_state.pt", described(NETCL "a_mlp.netcl"), OXP_BAD_FILE,
                    "0.weight|(12, 3, 3, 3)|(64, 20)");
  write_text("deeper.json", "[{\"type\": \"ReLU\"}, {\"type\": \"Conv2d\", \"in_channels\": 3, \"out_channels\": 12, "
                            "\"kernel_size\": 3}]");
  assert_open_fails(NETCL "pt/b_cnn.torch_state.pt", described("deeper.json"), OXP_BAD_FILE, "1.weight");
}

// Initializers are called as the source calls its arrays: a .pt file says weight and running_mean where netcl says gamma and
// running_mean.
static void test_names_of_weights(void **state)
{
  (void)state;
  static const struct {
    const char *path, *description, *names[4];
  } rows[] = {
    { NETCL "pt/b_cnn.torch_state.pt",
      NETCL "b_cnn.netcl",
      { "batch_norm_1.weight", "batch_norm_1.bias", "batch_norm_1.running_mean", "batch_norm_1.running_var" } },
    { NETCL "b_cnn.netcl",
      NULL,
      { "batch_norm_1.gamma", "batch_norm_1.beta", "batch_norm_1.running_mean", "batch_norm_1.running_var" } },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    oxp_open_options options = with_shape("3x32x32");
    options.description = rows[i].description;
    oxp_network *network = open_network(rows[i].path, options);
    oxp_graph *graph = NULL;
    assert_int_equal(oxp_graph_lower(network, NULL, &graph, NULL), OXP_OK);
    for (size_t k = 0; k < 4; k++) // behind the convolution's weight and bias
      assert_string_equal(graph->model.graph->initializers.at[2 + k]->name, rows[i].names[k]);
    oxp_graph_free(graph);
    oxp_network_free(network);
  }
}

// --- Input sizes ---

static void test_input_sizes(void **state)
{
  (void)state;
  assert_shape_missing(NETCL "b_cnn.netcl", "32 to 35|--input-shape 3x32x32");
  assert_open_fails(NETCL "b_cnn.netcl", with_shape("3x40x40"), OXP_BAD_NETWORK, "--input-shape|1280|2000");
  assert_open_fails(NETCL "b_cnn.netcl", with_shape("3x32x0"), OXP_BAD_ARGUMENT, "sizes start at 1");
  assert_shape_missing(NETCL "e_dropout_pool.netcl", "no square input|--input-shape 4x27x19");
  assert_shape_missing(NETCL "z_empty.netcl", "--input-shape");
  assert_shape_missing(NETCL "act/f_relu.netcl", "--input-shape");
  assert_open_fails(NETCL "edge/pool_too_big.netcl", with_shape("1x4x4"), OXP_BAD_NETWORK, "layer 0|5|4");
  assert_open_fails(NETCL "edge/channel_mismatch.netcl", with_shape(""), OXP_BAD_NETWORK, "layer");
  assert_open_fails(NETCL "edge/linear_mismatch.netcl", with_shape("3x8x8"), OXP_BAD_NETWORK, "layer 2|256|100");
  assert_open_fails(NETCL "edge/bn_on_2d.netcl", with_shape("6"), OXP_BAD_NETWORK, "layer 1");
  oxp_network_free(open_network(NETCL "edge/leaky_int_slope.netcl", with_shape("2x2")));
  oxp_network_free(open_network(NETCL "edge/leaky_int_zero.netcl", with_shape("7")));
}

static void assert_input(const char *layers, const char *expected_warning, int rank, const int64_t *shape)
{
  write_text("size.json", layers);
  bytes archive = read_bytes("size_weights.npz");
  write_bytes("size.npz", archive.at, archive.count);
  free(archive.at);
  oxp_network *network = open_network("size.json", with_shape(""));
  oxp_value_info info;
  assert_true(oxp_network_value_info(network, oxp_network_input(network, 0), &info));
  assert_int_equal(info.rank, rank);
  assert_memory_equal(info.shape, shape, (size_t)rank * sizeof *shape);
  bool found = !expected_warning;
  for (int i = 0; expected_warning && i < oxp_network_warning_count(network); i++)
    found = found || strstr(oxp_network_warning(network, i), expected_warning);
  if (!found)
    fail_msg("no warning says \"%s\"", expected_warning);
  oxp_network_free(network);
}

// The weights of g_layernorm: 0 is Linear 10-16, 1 LayerNorm(16), 3 Linear 16-3. Layers before and between are free.
static void test_sizes_from_layers(void **state)
{
  (void)state;
  copy_file(NETCL "g_layernorm.weights.npz", "size_weights.npz");
  assert_input("[{\"type\": \"Linear\", \"in_features\": 10, \"out_features\": 16}]", NULL, 2,
               (int64_t[]){ OXP_DIM_BATCH, 10 });
  assert_input("[{\"type\": \"ReLU\"}, {\"type\": \"LayerNorm\", \"normalized_shape\": [16]}]", "layer 1", 2,
               (int64_t[]){ OXP_DIM_BATCH, 16 });
}

static oxp_value add_linear(oxp_network *network, oxp_value x, int64_t in, int64_t out)
{
  static const float zeros[200] = { 0 };
  x = oxp_network_add_layer(network, "linear", NULL, 1, &x);
  oxp_layer_set_int(network, x, "in_features", in);
  oxp_layer_set_int(network, x, "out_features", out);
  oxp_layer_set_int(network, x, "bias", 0);
  oxp_tensor matrix = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ in, out }, zeros);
  oxp_layer_set_weight(network, x, "weight", &matrix);
  return x;
}

static void write_dense_flatten_dense(const char *path)
{
  oxp_network *network = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &network, &error), OXP_OK);
  oxp_value x = oxp_network_add_input(network, "input", 3, (int64_t[]){ OXP_DIM_BATCH, 3, 5 });
  x = add_linear(network, x, 5, 4);
  x = oxp_network_add_layer(network, "flatten", NULL, 1, &x);
  oxp_network_add_output(network, add_linear(network, x, 12, 2), NULL);
  if (oxp_network_finish(network, &error) != OXP_OK || oxp_network_write(network, path, "netcl", &error) != OXP_OK)
    fail_msg("%s", error.message);
  oxp_network_free(network);
}

// A Linear knows its last axis only: what is behind it says how many axes are before that.
static void test_guessed_ranks(void **state)
{
  (void)state;
  static const struct {
    const char *path, *words;
    int rank;
    int64_t shape[4];
  } rows[] = {
    { FAULTS "edge/lin_then_conv.netcl",
      "(batch, 2, height, 5) is guessed: layer 0",
      4,
      { OXP_DIM_BATCH, 2, OXP_DIM_HEIGHT, 5 } },
    { FAULTS "edge/1173.netcl",
      "(batch, 12, height, 3) is guessed: layer 3",
      4,
      { OXP_DIM_BATCH, 12, OXP_DIM_HEIGHT, 3 } },
    { "rank_3.netcl", "(batch, 3, 5) is guessed: layer 0", 3, { OXP_DIM_BATCH, 3, 5 } },
  };
  write_dense_flatten_dense("rank_3.netcl");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    oxp_network *network = open_network(rows[i].path, with_shape(""));
    oxp_value_info info;
    assert_true(oxp_network_value_info(network, oxp_network_input(network, 0), &info));
    assert_int_equal(info.rank, rows[i].rank);
    assert_memory_equal(info.shape, rows[i].shape, (size_t)info.rank * sizeof info.shape[0]);
    assert_words(oxp_network_warning(network, 0), rows[i].words);
    oxp_network_free(network);
  }
  oxp_network *network = open_network(FAULTS "edge/1173.netcl", with_shape(""));
  assert_computes(network, FAULTS "edge/1173.x.npy", FAULTS "edge/1173.y.npy", 2e-6);
  oxp_network_free(network);
}

// One convolution, a pool and a Linear: exactly one square input fits.
static void test_unique_square(void **state)
{
  (void)state;
  oxp_network *network = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &network, &error), OXP_OK);
  oxp_value x = oxp_network_add_input(network, "input", 4, (int64_t[]){ OXP_DIM_BATCH, 3, 7, 7 });
  x = add_conv(network, x, 3, 4);
  x = oxp_network_add_layer(network, "flatten", NULL, 1, &x);
  oxp_network_add_output(network, add_linear(network, x, 100, 2), NULL);
  if (oxp_network_finish(network, &error) != OXP_OK ||
      oxp_network_write(network, "square.netcl", "netcl", &error) != OXP_OK)
    fail_msg("%s", error.message);
  oxp_network_free(network);
  network = open_network("square.netcl", with_shape(""));
  oxp_value_info info;
  assert_true(oxp_network_value_info(network, oxp_network_input(network, 0), &info));
  assert_memory_equal(info.shape, ((int64_t[]){ OXP_DIM_BATCH, 3, 7, 7 }), 4 * sizeof(int64_t));
  assert_int_equal(oxp_network_warning_count(network), 1);
  assert_words(oxp_network_warning(network, 0), "(batch, 3, 7, 7)");
  oxp_network_free(network);
}

// A Linear that runs along the width fixes the width and leaves the height open.
static void test_width_only(void **state)
{
  (void)state;
  oxp_network *network = open_network(NETCL "l_linear4d.netcl", with_shape(""));
  oxp_value_info info;
  assert_true(oxp_network_value_info(network, oxp_network_input(network, 0), &info));
  assert_memory_equal(info.shape, ((int64_t[]){ OXP_DIM_BATCH, 3, OXP_DIM_HEIGHT, 8 }), 4 * sizeof(int64_t));
  assert_computes(network, NETCL "l_linear4d.x.npy", NETCL "l_linear4d.y.npy", 1e-5);
  oxp_network_free(network);
}

// --- Recognising ---

static void test_what_it_looks_like(void **state)
{
  (void)state;
  assert_open_fails(NETCL "a_mlp.onnx", with_shape(""), OXP_BAD_FILE, "ONNX");
  assert_open_fails(NETCL "a_mlp.x.npy", with_shape(""), OXP_BAD_FILE, "NumPy array");
  assert_open_fails(OXP_EXAMPLES "/photos/rocket.png", with_shape(""), OXP_BAD_FILE, "PNG");
  assert_open_fails(OXP_EXAMPLES, with_shape(""), OXP_IO, "folder");
  write_text("odd.bin", "\x1f\x8b\x08");
  assert_open_fails("odd.bin", with_shape(""), OXP_BAD_FILE, "gzip");
  write_text("odd.bin", "\1\2\3\4\5");
  assert_open_fails("odd.bin", with_shape(""), OXP_BAD_FILE, "01 02 03 04");
  oxp_open_options options = { .format = "nonsense" };
  oxp_network *network = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_network_open(NETCL "a_mlp.netcl", &options, &network, &error), OXP_BAD_ARGUMENT);
  assert_all_words(error.message, "nonsense|netcl_pair");
  options.format = "netcl_pt";
  assert_open_fails(NETCL "a_mlp.netcl", options, OXP_BAD_FILE, "data.pkl");
  options.format = "netcl";
  assert_open_fails(NETCL "a_mlp.x.npy", options, OXP_BAD_FILE, "not a zip archive");
  oxp_network_free(open_network(NETCL "a_mlp.netcl", options));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_golden_networks),
    cmocka_unit_test(test_detector),
    cmocka_unit_test(test_legacy),
    cmocka_unit_test(test_half_a_pair),
    cmocka_unit_test(test_linear_of_version_1),
    cmocka_unit_test(test_file_that_appears),
    cmocka_unit_test(test_layer_list),
    cmocka_unit_test(test_bad_lists),
    cmocka_unit_test(test_keys_beside_arguments),
    cmocka_unit_test(test_pairs_of_numbers),
    cmocka_unit_test(test_pairs_of_pads),
    cmocka_unit_test(test_nan_is_compared_where_it_is_defined),
    cmocka_unit_test(test_checkpoints),
    cmocka_unit_test(test_checkpoint_lacks_something),
    cmocka_unit_test(test_checkpoint_of_version_1),
    cmocka_unit_test(test_pt),
    cmocka_unit_test(test_pt_refused),
    cmocka_unit_test(test_names_of_weights),
    cmocka_unit_test(test_input_sizes),
    cmocka_unit_test(test_sizes_from_layers),
    cmocka_unit_test(test_guessed_ranks),
    cmocka_unit_test(test_unique_square),
    cmocka_unit_test(test_width_only),
    cmocka_unit_test(test_what_it_looks_like),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
