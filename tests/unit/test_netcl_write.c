// Tests of writing netcl's files: what is written is what netcl writes, byte for byte within the archive, and what a format cannot hold
// is refused with every layer named.
#include "formats_support.h"

#include "formats/common/netcl_save.h"
#include "formats/containers/zip.h"

static void no_weights(const oxp__layer *layer, int role, oxp__shape *shape)
{
  (void)layer;
  (void)role;
  *shape = (oxp__shape){ .rank = 3, .dim = { 2, 3, 4 } };
}

// Reading turns the axes that a dialect stores into ours, writing turns them back. An order that is its own inverse does not tell which is
// which; (1, 2, 0) does.
static void test_axes_are_turned_back(void **state)
{
  (void)state;
  static const oxp__weight_row rows[] = { { .role = "kernel", .in = { { "elsewhere", "kernel", "120" } } } };
  static const oxp__kind kind = { .name = "turned", .weights = rows, .weight_count = 1, .weight_shape = no_weights };
  static const float numbers[24] = { 0 };
  oxp_network *network = NULL;
  oxp__weight weight = { 0 };
  oxp__layer layer = { .kind = &kind, .name = "turned", .source_kind = "turned", .weights = &weight };
  oxp_tensor stored = oxp_tensor_from_memory(OXP_FLOAT32, 3, (int64_t[]){ 4, 2, 3 }, numbers);
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &network, NULL), OXP_OK);
  assert_int_equal(oxp__layer_bind(network, &layer, 0, "elsewhere", &stored, NULL), OXP_OK);
  assert_memory_equal(weight.tensor.shape, ((int64_t[]){ 2, 3, 4 }), 3 * sizeof(int64_t));
  assert_memory_equal(weight.tensor.strides_bytes, ((int64_t[]){ 12, 4, 24 }), 3 * sizeof(int64_t));
  oxp_tensor again = oxp__netcl_stored_view(&layer, 0, "elsewhere");
  assert_memory_equal(again.shape, stored.shape, 3 * sizeof(int64_t));
  assert_memory_equal(again.strides_bytes, stored.strides_bytes, 3 * sizeof(int64_t));
  oxp_network_free(network);
}

static void write_network(const oxp_network *network, const char *path, const char *format)
{
  oxp_error error = { 0 };
  if (oxp_network_write(network, path, format, &error) != OXP_OK)
    fail_msg("%s", error.message);
}

static oxp__zip *open_archive(oxp__arena *arena, const char *path)
{
  oxp__file *file;
  oxp__zip *zip = NULL;
  oxp_error error = { 0 };
  if (oxp__file_open(arena, path, &file, &error) != OXP_OK || oxp__zip_open(arena, file, &zip, &error) != OXP_OK)
    fail_msg("%s", error.message);
  return zip;
}

// Same members in the same order with the same bytes.
static void assert_same_archive(const char *path, const char *genuine)
{
  oxp__arena arena = { 0 };
  oxp__zip *a = open_archive(&arena, path), *b = open_archive(&arena, genuine);
  assert_int_equal(a->member_count, b->member_count);
  for (size_t i = 0; i < a->member_count; i++) {
    char *x, *y;
    size_t x_count, y_count;
    oxp_error error = { 0 };
    assert_string_equal(a->members[i].name, b->members[i].name);
    assert_int_equal(oxp__zip_read_all(&arena, a, &a->members[i], 10000000, &x, &x_count, &error), OXP_OK);
    assert_int_equal(oxp__zip_read_all(&arena, b, &b->members[i], 10000000, &y, &y_count, &error), OXP_OK);
    if (x_count != y_count || memcmp(x, y, x_count) != 0)
      fail_msg("%s: %s differs from %s", path, a->members[i].name, genuine);
  }
  oxp__arena_fini(&arena);
}

static const struct {
  const char *name, *shape;
} nets[] = {
  { "a_mlp", "" },
  { "b_cnn", "3x32x32" },
  { "c_conv_groups", "" },
  { "d_bn", "" },
  { "e_dropout_pool", "4x29x22" },
  { "f_allact", "" },
  { "l_linear3d", "5x6" },
  { "p_pools", "3x23x26" },
  { "z_empty", "3" },
  { "act/f_leaky", "16" },
  { "act/f_leaky_neg", "16" },
  { "act/f_leaky_steep", "16" },
  { "detector/h_det26", "" },
};
enum { NETS = sizeof nets / sizeof nets[0] };

static void test_single_file(void **state)
{
  (void)state;
  for (int i = 0; i < NETS; i++) {
    char path[512];
    snprintf(path, sizeof path, NETCL "%s.netcl", nets[i].name);
    oxp_network *network = open_network(path, with_shape(nets[i].shape));
    write_network(network, "written.netcl", "netcl");
    assert_same_archive("written.netcl", path);
    // The archive itself is the one that CPython 3.11.7 wrote.
    bytes a = read_bytes("written.netcl"), b = read_bytes(path);
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.at, b.at, a.count);
    free(a.at);
    free(b.at);
    oxp_network_free(network);
  }
}

static void test_pt(void **state)
{
  (void)state;
  oxp_network *network = open_network(NETCL "b_cnn.netcl", with_shape("3x32x32"));
  write_network(network, "written.pt", "netcl_pt");
  assert_same_archive("written.pt", NETCL "pt/b_cnn.netcl_export.pt");
  oxp_network_free(network);
  oxp_open_options options = with_shape("3x32x32");
  options.description = NETCL "b_cnn.netcl";
  network = open_network("written.pt", options);
  write_network(network, "again.netcl", "netcl"); // through the transposed weights and back
  assert_same_archive("again.netcl", NETCL "b_cnn.netcl");
  oxp_network_free(network);
}

static void test_checkpoint(void **state)
{
  (void)state;
  oxp_network *network = open_network(NETCL "b_cnn.netcl", with_shape("3x32x32"));
  static const char *const paths[] = { "ck", "ck.npz", "ck.json" };
  for (int i = 0; i < 3; i++) {
    remove("ck.npz");
    remove("ck.json");
    write_network(network, paths[i], "netcl_checkpoint");
    assert_same_archive("ck.npz", NETCL "checkpoint/b_ck.npz");
    assert_true(exists("ck.json"));
  }
  oxp_network_free(network);
}

static void test_pair(void **state)
{
  (void)state;
  oxp_network *network = open_network(NETCL "e_dropout_pool.netcl", with_shape("4x29x22"));
  write_network(network, "pair", "netcl_pair");
  oxp_network_free(network);
  network = open_network("pair", with_shape("4x29x22"));
  assert_string_equal(oxp_network_format(network), "netcl_pair");
  assert_int_equal(oxp_network_warning_count(network), 0);
  assert_computes(network, NETCL "e_dropout_pool.x.npy", NETCL "e_dropout_pool.y.npy", 1e-5);
  write_network(network, "again.netcl", "netcl");
  assert_same_archive("again.netcl", NETCL "e_dropout_pool.netcl");
  oxp_network_free(network);
}

// Whatever the source had (byte order, Fortran order, half precision, deflated), float32 in C order is written.
static void test_other_sources(void **state)
{
  (void)state;
  static const char *const names[] = { "bigendian",  "fortran",          "float64",
                                       "compressed", "shape_extra_ones", "float_kernel" };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char path[512];
    snprintf(path, sizeof path, NETCL "damaged/%s.netcl", names[i]);
    oxp_network *network = open_network(path, with_shape("2x5x6"));
    write_network(network, "written.netcl", "netcl");
    assert_same_archive("written.netcl", NETCL "damaged/good.netcl");
    oxp_network_free(network);
  }
}

// --- Refusals ---

static void assert_write_fails(const oxp_network *network, const char *format, oxp_status status, const char *words)
{
  oxp_error error = { 0 };
  assert_int_equal(oxp_network_write(network, "refused", format, &error), status);
  assert_all_words(error.message, words);
  static const char *const left[] = { "refused", "refused.json", "refused.npz" };
  for (int i = 0; i < 3; i++)
    assert_false(exists(left[i]));
}

static oxp_network *network_with(oxp_dtype dtype, oxp_value *x)
{
  oxp_network *network = NULL;
  assert_int_equal(oxp_network_new(dtype, &network, NULL), OXP_OK);
  *x = oxp_network_add_input(network, "input", 4, (int64_t[]){ OXP_DIM_BATCH, 2, 8, 8 });
  return network;
}

static void finish(oxp_network *network, oxp_value output)
{
  oxp_error error = { 0 };
  oxp_network_add_output(network, output, NULL);
  if (oxp_network_finish(network, &error) != OXP_OK)
    fail_msg("%s", error.message);
}

static void test_refuses_layers(void **state)
{
  (void)state;
  oxp_value x, a;
  oxp_network *network = network_with(OXP_FLOAT32, &x);
  a = oxp_network_add_layer(network, "gelu", "smooth", 1, &x);
  a = oxp_network_add_layer(network, "max_pool2d", "pool", 1, &a);
  oxp_layer_set_ints(network, a, "kernel_shape", 2, (int64_t[]){ 2, 3 });
  oxp_layer_set_int(network, a, "strides", 1);
  oxp_layer_set_int(network, a, "pads", 1);
  a = oxp_network_add_layer(network, "relu", "fine", 1, &a);
  a = oxp_network_add_layer(network, "softmax", "last", 1, &a);
  finish(network, a);
  static const char *const formats[] = { "netcl", "netcl_pair", "netcl_checkpoint", "netcl_pt" };
  for (int i = 0; i < 4; i++)
    assert_write_fails(network, formats[i], OXP_UNSUPPORTED,
                       "layer 0 \"smooth\"|layer 1 \"pool\"|kernel_shape|several|no pads|layer 3 \"last\"");
  oxp_network_free(network);
}

static void test_refuses_graphs(void **state)
{
  (void)state;
  oxp_value x, two[2];
  oxp_network *network = network_with(OXP_FLOAT32, &x);
  two[0] = oxp_network_add_layer(network, "relu", "left", 1, &x);
  two[1] = oxp_network_add_layer(network, "tanh", "right", 1, &x);
  oxp_value sum = oxp_network_add_layer(network, "add", "sum", 2, two);
  finish(network, sum);
  assert_write_fails(network, "netcl", OXP_UNSUPPORTED, "layer 1 \"right\"|not the layer before|layer 2 \"sum\"");
  oxp_network_free(network);
  network = network_with(OXP_FLOAT32, &x);
  two[0] = oxp_network_add_layer(network, "relu", NULL, 1, &x);
  two[1] = oxp_network_add_layer(network, "tanh", NULL, 1, &two[0]);
  finish(network, two[0]);
  assert_write_fails(network, "netcl", OXP_UNSUPPORTED, "the output is not that of the last layer");
  oxp_network_free(network);
  network = network_with(OXP_FLOAT32, &x);
  oxp_network_add_output(network, x, "first");
  finish(network, oxp_network_add_layer(network, "relu", NULL, 1, &x));
  assert_write_fails(network, "netcl_pt", OXP_UNSUPPORTED, "one output|2");
  oxp_network_free(network);
  network = network_with(OXP_FLOAT64, &x);
  finish(network, oxp_network_add_layer(network, "relu", NULL, 1, &x));
  assert_write_fails(network, "netcl_checkpoint", OXP_UNSUPPORTED, "float32|float64");
  assert_write_fails(network, "netcl_layers", OXP_BAD_ARGUMENT, "\"netcl_layers\" can be written|netcl_pair");
  assert_write_fails(network, "nonsense", OXP_BAD_ARGUMENT, "nonsense");
  oxp_network_free(network);
}

static void test_unwritable_targets(void **state)
{
  (void)state;
  oxp_network *network = open_network(NETCL "a_mlp.netcl", with_shape(""));
  oxp_error error = { 0 };
  static const char *const formats[] = { "netcl", "netcl_pair", "netcl_checkpoint", "netcl_pt" };
  for (int i = 0; i < 4; i++) {
    assert_int_equal(oxp_network_write(network, "no/such/folder/x", formats[i], &error), OXP_IO);
    assert_all_words(error.message, "no/such/folder/x");
  }
  // The second of two files cannot be written: the first is not left behind.
  write_text("in_the_way", "");
  assert_int_equal(oxp_network_write(network, "in_the_way/x", "netcl_pair", &error), OXP_IO);
  oxp_network_free(network);
}

// Floats are printed as Python prints them.
static void test_numbers(void **state)
{
  (void)state;
  static const struct {
    double number;
    const char *text;
  } cases[] = {
    { 0.1, "0.1" },
    { 1e-5, "1e-05" },
    { 0.0001, "0.0001" },
    { 1.0, "1.0" },
    { 123456.0, "123456.0" },
    { 1e15, "1000000000000000.0" },
    { 1e16, "1e+16" },
    { 1.5e300 / 1e280, "1.5e+20" },
    { 0.0, "0.0" },
    { -0.25, "-0.25" },
    { 0.012345678901234567, "0.012345678901234567" },
    { 1.0 / 3, "0.3333333333333333" },
    { 2.5e-7, "2.5e-07" },
    { 123.456, "123.456" },
    { 1e22, "1e+22" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    oxp_value x;
    oxp_network *network = network_with(OXP_FLOAT32, &x);
    oxp_value y = oxp_network_add_layer(network, "leaky_relu", NULL, 1, &x);
    oxp_layer_set_float(network, y, "alpha", cases[i].number);
    finish(network, y);
    write_network(network, "number", "netcl_pair");
    oxp_network_free(network);
    bytes json = read_bytes("number.json");
    json.at[json.count] = 0;
    char wanted[128];
    snprintf(wanted, sizeof wanted, "{\"negative_slope\": %s}", cases[i].text);
    assert_words((const char *)json.at, wanted);
    free(json.at);
  }
}

// Seeds go from one file to another as they are, beyond what a double holds; what int64 does not hold is left out, with a warning.
static void test_seeds(void **state)
{
  (void)state;
  static const struct {
    const char *seed, *written;
  } cases[] = {
    { "null", "null" },
    { "-5", "-5" },
    { "9007199254740993", "9007199254740993" },
    { "9223372036854775807", "9223372036854775807" },
    { "-9223372036854775807", "-9223372036854775807" },
    { "-9223372036854775808", NULL },
    { "9223372036854775808", NULL },
    { "18446744073709551615", NULL },
    { "-100000000000000000000", NULL },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[256], wanted[128];
    snprintf(text, sizeof text, "[{\"type\": \"Dropout\", \"seed\": %s}]", cases[i].seed);
    write_text("seed.json", text);
    write_bytes("seed.npz", "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
    oxp_network *network = open_network("seed.json", with_shape("4"));
    assert_int_equal(oxp_network_warning_count(network), cases[i].written ? 0 : 1);
    if (!cases[i].written)
      assert_all_words(oxp_network_warning(network, 0), "seed|layer 0|no effect in inference");
    write_network(network, "seed_written", "netcl_pair");
    oxp_network_free(network);
    bytes json = read_bytes("seed_written.json");
    json.at[json.count] = 0;
    snprintf(wanted, sizeof wanted, "{\"p\": 0.5, \"seed\": %s}", cases[i].written ? cases[i].written : "null");
    assert_words((const char *)json.at, wanted);
    free(json.at);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_single_file),
    cmocka_unit_test(test_pt),
    cmocka_unit_test(test_checkpoint),
    cmocka_unit_test(test_pair),
    cmocka_unit_test(test_other_sources),
    cmocka_unit_test(test_refuses_layers),
    cmocka_unit_test(test_refuses_graphs),
    cmocka_unit_test(test_unwritable_targets),
    cmocka_unit_test(test_axes_are_turned_back),
    cmocka_unit_test(test_numbers),
    cmocka_unit_test(test_seeds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
