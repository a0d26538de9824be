// Every file of tests/data/netcl/damaged ends as the table below says; and small files that are cut off or changed at every byte end
// in an error or in a network, never in anything else.
#include "formats_support.h"

#include <dirent.h>

#define SHAPE "2x5x6"

typedef struct damaged {
  const char *name;
  oxp_status status; // of opening
  const char *words; // all of them are in the message, or each in some warning
  int warnings;
  double tolerance; // against good.y; 0: not compared
} damaged;

#define REFUSED(name, status, words)    { name, status, words, 0, 0 },
#define ACCEPTED(name, warnings, words) { name, OXP_OK, words, warnings, 1e-6 },
#define OTHER_VALUES(name)              { name, OXP_OK, "", 0, 0 },

static const damaged cases[] = {
  // clang-format off
  REFUSED("bias_false_but_member", OXP_BAD_FILE, "layer 0|0:bias|no bias")
  ACCEPTED("bigendian", 0, "")
  REFUSED("bn_features_mismatch", OXP_BAD_FILE, "layer 1|1:gamma|(4,)|(7,)")
  REFUSED("bomb", OXP_BAD_FILE, "layer 4|4:weight|(4096, 4096)|(120, 3)")
  REFUSED("bool_weight", OXP_BAD_FILE, "4:bias|bool|float32")
  REFUSED("complex_weight", OXP_BAD_FILE, "4:bias|complex64|float32")
  ACCEPTED("compressed", 0, "")
  REFUSED("dup_member", OXP_BAD_FILE, "4:bias|two members")
  REFUSED("empty", OXP_BAD_FILE, "empty")
  REFUSED("eps_string", OXP_BAD_FILE, "layer 1|eps|\"1e-5\"|a number")
  REFUSED("extra_arg_conv", OXP_BAD_FILE, "__netcl_meta__|layer 0|padding_mode")
  ACCEPTED("extra_arg_relu", 1, "layer 2|inplace")
  ACCEPTED("extra_members", 3, "9:weight|0:extra|note")
  ACCEPTED("flat_layers", 0, "")
  { "float16", OXP_OK, "float16|0:weight|float32|exact", 1, 1e-2 },
  ACCEPTED("float64", 1, "float64|0:weight|float32|rounded")
  ACCEPTED("float_kernel", 0, "")
  ACCEPTED("fortran", 0, "")
  ACCEPTED("good", 0, "")
  REFUSED("groups_bad", OXP_BAD_NETWORK, "layer 0|group|3|2")
  REFUSED("huge_config", OXP_BAD_FILE, "layer 4|4:weight|(120, 3)|(1048576, 1048576)")
  REFUSED("huge_shape", OXP_BAD_FILE, "4:weight|(1000000000, 1000000000)|4000000000000000000|1440")
  OTHER_VALUES("inf_weights")
  REFUSED("int32", OXP_BAD_FILE, "0:weight|int32|float32")
  ACCEPTED("long_data", 1, "4:weight|64 bytes")
  ACCEPTED("meta_1elem", 0, "")
  ACCEPTED("meta_bigendian_U", 0, "")
  ACCEPTED("meta_bytes", 0, "")
  REFUSED("meta_deep_json", OXP_BAD_FILE, "__netcl_meta__|20000 levels|64")
  REFUSED("meta_json_list", OXP_BAD_FILE, "__netcl_meta__|a list|an object")
  ACCEPTED("meta_nonascii_raw", 1, "comment")
  REFUSED("meta_not_json", OXP_BAD_FILE, "__netcl_meta__|line 1, column 35")
  REFUSED("meta_object_evil", OXP_BAD_FILE, "__netcl_meta__|pickled")
  REFUSED("meta_object_pickle", OXP_BAD_FILE, "__netcl_meta__|pickled")
  ACCEPTED("meta_u1", 0, "")
  REFUSED("missing_bias", OXP_BAD_FILE, "missing|0:bias|layer 0")
  ACCEPTED("missing_optional_args", 0, "")
  REFUSED("missing_required_arg", OXP_BAD_FILE, "__netcl_meta__|layer 0|\"in_channels\"")
  REFUSED("missing_running_var", OXP_BAD_FILE, "missing|1:running_var|layer 1")
  REFUSED("missing_weight", OXP_BAD_FILE, "missing|0:weight|layer 0")
  OTHER_VALUES("nan_weights")
  REFUSED("negative_features", OXP_BAD_FILE, "layer 4|in_features|-5|1 to")
  REFUSED("negative_shape", OXP_BAD_FILE, "4:weight|negative")
  REFUSED("no_meta", OXP_BAD_FILE, "__netcl_meta__|no description")
  ACCEPTED("no_version", 0, "")
  REFUSED("not_zip", OXP_BAD_FILE, "no known format")
  REFUSED("npy_bad_magic", OXP_BAD_FILE, "4:weight|NUMPY")
  ACCEPTED("npy_v2", 0, "")
  REFUSED("object_weight", OXP_BAD_FILE, "4:bias|pickled")
  REFUSED("pad_negative", OXP_BAD_FILE, "layer 0|pad|-1|0 to")
  ACCEPTED("path_traversal", 1, "../../evil.npy")
  ACCEPTED("relu_no_args", 0, "")
  ACCEPTED("relu_null_args", 0, "")
  ACCEPTED("shape_extra_ones", 1, "1:gamma|(1, 4, 1, 1)|(4,)")
  REFUSED("shape_flat", OXP_BAD_FILE, "4:weight|(360,)|(120, 3)")
  REFUSED("short_data", OXP_BAD_FILE, "4:weight|(120, 3)|1440|1340")
  REFUSED("stride_zero", OXP_BAD_FILE, "layer 0|stride|0|1 to")
  ACCEPTED("training_only_extras", 1, "optimizer")
  REFUSED("trunc_half", OXP_BAD_FILE, "no end record")
  REFUSED("trunc_tail", OXP_BAD_FILE, "no end record")
  REFUSED("type_not_sequential", OXP_BAD_FILE, "__netcl_meta__|\"Module\"|\"Sequential\"")
  REFUSED("unknown_layer_gelu", OXP_UNSUPPORTED, "layer 2 (GELU)")
  REFUSED("unknown_layer_mha", OXP_UNSUPPORTED, "layer 3 (MultiheadAttention)")
  ACCEPTED("version99_extra_keys", 3, "99|other|extra")
  REFUSED("wrong_shape", OXP_BAD_FILE, "0:weight|(4, 2, 2, 3)|(4, 2, 3, 3)")
  REFUSED("wrong_shape_transposed", OXP_BAD_FILE, "4:weight|(3, 120)|(120, 3)")
  ACCEPTED("zip_comment", 0, "")
  REFUSED("zip_prefix_junk", OXP_BAD_FILE, "5380|5919|before the archive")
  // clang-format on
};
enum { CASES = sizeof cases / sizeof cases[0] };

static void assert_warnings(const oxp_network *network, const damaged *what)
{
  char all[8192] = "";
  for (int i = 0; i < oxp_network_warning_count(network); i++) {
    strncat(all, oxp_network_warning(network, i), sizeof all - strlen(all) - 1);
    strncat(all, "\n", sizeof all - strlen(all) - 1);
  }
  if (oxp_network_warning_count(network) != what->warnings)
    fail_msg("%s: %d warnings instead of %d: %s", what->name, oxp_network_warning_count(network), what->warnings, all);
  assert_all_words(all, what->words);
}

static void test_table(void **state)
{
  (void)state;
  for (int i = 0; i < CASES; i++) {
    char path[512];
    snprintf(path, sizeof path, NETCL "damaged/%s.netcl", cases[i].name);
    if (cases[i].status != OXP_OK) {
      assert_open_fails(path, with_shape(SHAPE), cases[i].status, cases[i].words);
      continue;
    }
    oxp_network *network = open_network(path, with_shape(SHAPE));
    assert_warnings(network, &cases[i]);
    if (cases[i].tolerance > 0)
      assert_computes(network, NETCL "damaged/good.x.npy", NETCL "damaged/good.y.npy", cases[i].tolerance);
    oxp_network_free(network);
  }
}

// The damage of one file is in the data, which is read only when somebody wants it.
static void test_damaged_data(void **state)
{
  (void)state;
  oxp_network *network = open_network(NETCL "damaged/bitflip_crc.netcl", with_shape(SHAPE));
  oxp_session *session = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_session_open(network, "reference", NULL, &session, &error), OXP_BAD_FILE);
  assert_all_words(error.message, "bitflip_crc.netcl|4:weight|checksum|1a8b62af|769fde7e");
  assert_int_equal(oxp_network_write(network, "again.netcl", "netcl", &error), OXP_BAD_FILE);
  assert_all_words(error.message, "bitflip_crc.netcl|4:weight|checksum");
  assert_false(exists("again.netcl"));
  oxp_network_free(network);
}

static void test_values_that_are_not_finite(void **state)
{
  (void)state;
  static const char *const names[] = { "nan_weights", "inf_weights" };
  for (int i = 0; i < 2; i++) {
    char path[512];
    snprintf(path, sizeof path, NETCL "damaged/%s.netcl", names[i]);
    oxp_network *network = open_network(path, with_shape(SHAPE));
    oxp_array x = read_array(NETCL "damaged/good.x.npy"), y = run_network(network, &x);
    bool seen = false;
    for (int64_t k = 0; k < oxp_array_count(&y); k++)
      seen = seen || !isfinite(((const float *)y.data)[k]);
    assert_true(seen);
    oxp_array_free(&x);
    oxp_array_free(&y);
    oxp_network_free(network);
  }
}

// No file of the folder is left out of the table.
static void test_table_is_complete(void **state)
{
  (void)state;
  DIR *folder = opendir(NETCL "damaged");
  assert_non_null(folder);
  int files = 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    const char *suffix = strstr(entry->d_name, ".netcl");
    if (!suffix)
      continue;
    files++;
    bool found = strcmp(entry->d_name, "bitflip_crc.netcl") == 0; // a test of its own
    for (int i = 0; i < CASES; i++)
      found = found || strncmp(entry->d_name, cases[i].name, (size_t)(suffix - entry->d_name)) == 0;
    if (!found)
      fail_msg("%s is in no table", entry->d_name);
  }
  closedir(folder);
  assert_int_equal(files, CASES + 1);
}

// --- Every byte ---

// Opens and, if that works, reads every weight. The outcome must be one of the honest ones.
static void assert_honest(const char *path, oxp_open_options options)
{
  oxp_network *network = NULL;
  oxp_session *session = NULL;
  oxp_error error = { 0 };
  oxp_status status = oxp_network_open(path, &options, &network, &error);
  if (status == OXP_OK)
    status = oxp_session_open(network, "reference", NULL, &session, &error);
  bool honest = status == OXP_OK || status == OXP_BAD_FILE || status == OXP_UNSUPPORTED || status == OXP_BAD_NETWORK;
  if (!honest)
    fail_msg("%s: %s: %s", path, oxp_status_name(status), error.message);
  if (status != OXP_OK)
    assert_true(error.message[0] && error.status == status);
  oxp_session_free(session);
  oxp_network_free(network);
}

static void break_everywhere(const char *from, oxp_open_options options, const char *path)
{
  bytes data = read_bytes(from);
  for (size_t length = 0; length < data.count; length++) {
    write_bytes(path, data.at, length);
    oxp_network *network = NULL;
    oxp_error error = { 0 };
    oxp_status status = oxp_network_open(path, &options, &network, &error);
    if (status != OXP_BAD_FILE) // an archive that lost its end is never a network
      fail_msg("%s cut at %zu: %s", from, length, oxp_status_name(status));
  }
  for (size_t i = 0; i < data.count; i++) {
    static const unsigned char masks[] = { 0x01, 0x80, 0xFF };
    data.at[i] ^= masks[i % 3];
    write_bytes(path, data.at, data.count);
    assert_honest(path, options);
    data.at[i] ^= masks[i % 3];
  }
  free(data.at);
}

// One Linear 2-2, in the single file and in a .pt; small, because every byte of them is changed.
static void test_every_byte(void **state)
{
  (void)state;
  static const float values[] = { 1, 2, 3, 4 };
  oxp_network *network = NULL;
  oxp_error error = { 0 };
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &network, &error), OXP_OK);
  oxp_value x = oxp_network_add_input(network, "input", 2, (int64_t[]){ OXP_DIM_BATCH, 2 });
  x = oxp_network_add_layer(network, "linear", NULL, 1, &x);
  oxp_layer_set_int(network, x, "in_features", 2);
  oxp_layer_set_int(network, x, "out_features", 2);
  oxp_layer_set_int(network, x, "bias", 0);
  oxp_tensor weight = oxp_tensor_from_memory(OXP_FLOAT32, 2, (int64_t[]){ 2, 2 }, values);
  oxp_layer_set_weight(network, x, "weight", &weight);
  oxp_network_add_output(network, x, NULL);
  if (oxp_network_finish(network, &error) != OXP_OK ||
      oxp_network_write(network, "small.netcl", "netcl", &error) != OXP_OK ||
      oxp_network_write(network, "small.pt", "netcl_pt", &error) != OXP_OK)
    fail_msg("%s", error.message);
  oxp_network_free(network);
  oxp_open_options described = { .description = "small.netcl" };
  break_everywhere("small.netcl", with_shape(""), "broken.netcl");
  break_everywhere("small.pt", described, "broken.pt");
}

// The same for a deflated archive, without the many bytes of its text.
static void test_every_byte_deflated(void **state)
{
  (void)state;
  bytes data = read_bytes(NETCL "damaged/compressed.netcl");
  for (size_t i = 0; i < data.count; i += 3) {
    data.at[i] ^= 0x55;
    write_bytes("broken.netcl", data.at, data.count);
    assert_honest("broken.netcl", with_shape(SHAPE));
    data.at[i] ^= 0x55;
  }
  free(data.at);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_table),
    cmocka_unit_test(test_damaged_data),
    cmocka_unit_test(test_values_that_are_not_finite),
    cmocka_unit_test(test_table_is_complete),
    cmocka_unit_test(test_every_byte),
    cmocka_unit_test(test_every_byte_deflated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
