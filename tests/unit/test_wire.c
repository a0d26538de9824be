// test_wire.c: reading and writing models: golden files come out byte for byte, hostile bytes give an error or a model, what the
// table does not know is kept, and files are replaced only by whole ones.
#include "unit/onnx_support.h"

#include <sys/stat.h>
#include <unistd.h>

// --- Golden files ---

static void check_round_trip(const char *path)
{
  oxp_error error = { 0 };
  oxp_graph *graph = NULL;
  if (oxp_graph_open(path, &graph, &error) != OXP_OK)
    fail_msg("%s", error.message);
  bytes before = bytes_of_file(path), after = bytes_of_graph(graph);
  uint64_t size = 0;
  assert_int_equal(oxp__model_size(graph, &size, &error), OXP_OK);
  assert_int_equal(size, after.count);
  if (before.count != after.count || memcmp(before.at, after.at, before.count) != 0)
    fail_msg("%s: written again it has other bytes", path);
  free(before.at);
  free(after.at);
  oxp_graph_free(graph);
}

static void golden_files_come_out_unchanged(void **state)
{
  (void)state;
  assert_int_equal(visit_models(OXP_TEST_DATA "/netcl", check_round_trip), 36);
  assert_int_equal(visit_models(OXP_TEST_DATA "/runmat", check_round_trip), 83);
}

static void a_golden_file_looks_right(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp_graph *graph = NULL;
  assert_int_equal(oxp_graph_open(OXP_TEST_DATA "/netcl/b_cnn.onnx", &graph, &error), OXP_OK);
  assert_int_equal(oxp_graph_opset(graph), 17);
  assert_int_equal(oxp_graph_ir_version(graph), 10);
  assert_int_equal(oxp_graph_node_count(graph), 11);
  oxp_value_info info;
  assert_true(oxp_graph_input_info(graph, 0, &info));
  assert_string_equal(info.name, "input");
  assert_int_equal(info.dtype, OXP_FLOAT32);
  assert_int_equal(info.rank, 4);
  assert_int_equal(info.shape[0], OXP_DIM_BATCH);
  assert_int_equal(info.shape[1], 3);
  assert_string_equal(oxp_graph_dim_name(graph, info.shape[0]), "batch");
  assert_true(oxp_graph_output_info(graph, 0, &info));
  assert_int_equal(info.shape[1], OXP_DIM_UNKNOWN);
  assert_false(oxp_graph_output_info(graph, 1, &info));
  assert_false(oxp_graph_input_info(graph, -1, &info));
  assert_null(oxp_graph_dim_name(graph, OXP_DIM_UNKNOWN));
  const oxp__tensor_proto *weight = graph->model.graph->initializers.at[0];
  assert_true(weight->has_tensor);
  assert_int_equal(weight->tensor.shape[0], 12);
  uint32_t bits;
  float first;
  assert_int_equal(weight->tensor.read(weight->tensor.context, weight->tensor.offset_bytes, &bits, 4, &error), OXP_OK);
  if (oxp__is_big_endian_host()) // these are the bytes of the file
    oxp__swap_bytes(&bits, 1, sizeof bits);
  memcpy(&first, &bits, sizeof first);
  assert_true(first == first && first > -10 && first < 10);
  oxp_graph_free(graph);
}

// --- Models made by hand ---

// Appends one field with a length.
static void put(bytes *all, uint32_t number, const void *content, size_t count)
{
  assert_true(count < 128 && number < 4096);
  unsigned char head[3] = { (unsigned char)(number << 3 | 2), (unsigned char)count };
  size_t length = 2;
  if (number > 15) {
    head[0] = (unsigned char)((number << 3 | 2) & 0x7F) | 0x80;
    head[1] = (unsigned char)(number >> 4);
    head[2] = (unsigned char)count;
    length = 3;
  }
  bytes_append(all, head, length, NULL);
  if (count > 0)
    bytes_append(all, content, count, NULL);
}

static void put_message(bytes *all, uint32_t number, bytes *message)
{
  put(all, number, message->at, message->count);
  free(message->at);
  *message = (bytes){ 0 };
}

static bytes model_of(bytes *graph)
{
  bytes model = { 0 };
  bytes_append(&model, "\x08\x08", 2, NULL); // ir_version 8
  put_message(&model, 7, graph);
  return model;
}

static void expect_same_bytes(bytes *model)
{
  oxp_error error = { 0 };
  oxp_graph *graph = graph_of_bytes(model, &error);
  if (!graph)
    fail_msg("%s", error.message);
  bytes again = bytes_of_graph(graph);
  assert_int_equal(again.count, model->count);
  assert_memory_equal(again.at, model->at, model->count);
  free(again.at);
  oxp_graph_free(graph);
}

static void expect_refused(bytes *model, const char *words)
{
  oxp_error error = { 0 };
  assert_null(graph_of_bytes(model, &error));
  assert_int_equal(error.status, OXP_BAD_FILE);
  if (!strstr(error.message, words))
    fail_msg("\"%s\" does not say \"%s\"", error.message, words);
}

static void unknown_fields_stay_in_their_place(void **state)
{
  (void)state;
  bytes tensor = { 0 }, graph = { 0 };
  bytes_append(&tensor, "\x08\x02\x10\x01", 4, NULL); // dims 2, data_type float
  put(&tensor, 4, "\0\0\x80\x3f\0\0\0\x40", 8);       // float_data 1, 2
  put(&tensor, 8, "w", 1);                            // name
  put(&tensor, 10, "\0\0\0\0\0\0\0\0", 8);            // double_data, before doc_string
  put(&tensor, 12, "doc", 3);
  put_message(&graph, 5, &tensor);
  put(&graph, 14, "\x0a\x01q", 3); // quantization_annotation, between known fields
  put(&graph, 15, "", 0);          // sparse_initializer, twice
  put(&graph, 15, "\x18\x07", 2);
  put(&graph, 16, "\x0a\x01k\x12\x01v", 6); // metadata_props
  bytes model = model_of(&graph);
  put(&model, 25,
      "\x0a\x01"
      "f",
      3);                                                       // functions
  bytes_append(&model, "\xf5\x3f\x01\x02\x03\x04", 6, NULL);    // field 1022, fixed32
  bytes_append(&model, "\xf9\x3f\1\2\3\4\5\6\7\x08", 10, NULL); // field 1023, fixed64
  bytes_append(&model, "\x80\x40\x96\x01", 4, NULL);            // field 1024, varint
  expect_same_bytes(&model);
  free(model.at);
}

static void zeros_that_were_set_are_written(void **state)
{
  (void)state;
  bytes attribute = { 0 }, node = { 0 }, graph = { 0 };
  put(&attribute, 1, "axis", 4);
  bytes_append(&attribute, "\x15\0\0\0\0\x18\0", 7, NULL); // f: 0, i: 0
  put(&attribute, 4, "", 0);                               // s: ""
  bytes_append(&attribute, "\xa0\x01\x02", 3, NULL);       // type: INT
  put(&node, 1, "", 0);                                    // an absent input
  put(&node, 2, "y", 1);
  put_message(&node, 5, &attribute);
  put(&node, 7, "", 0); // domain ""
  put_message(&graph, 1, &node);
  bytes model = model_of(&graph);
  bytes_append(&model, "\x28\0", 2, NULL); // model_version 0 behind the graph: the one thing that moves
  oxp_error error = { 0 };
  oxp_graph *read = graph_of_bytes(&model, &error);
  assert_non_null(read);
  bytes again = bytes_of_graph(read);
  assert_int_equal(again.count, model.count);
  assert_memory_equal(again.at, "\x08\x08\x28\0", 4);
  assert_memory_equal(again.at + 4, model.at + 2, model.count - 4);
  oxp_graph_free(read);
  free(again.at);
  free(model.at);
}

static void packed_numbers_are_read(void **state)
{
  (void)state;
  bytes attribute = { 0 }, node = { 0 }, graph = { 0 };
  put(&attribute, 8, "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x96\x01", 13); // ints 1, -1, 150
  put(&attribute, 7, "\0\0\x80\x3f\0\0\0\xc0", 8);                                // floats 1, -2
  put_message(&node, 5, &attribute);
  put_message(&graph, 1, &node);
  bytes model = model_of(&graph);
  oxp_error error = { 0 };
  oxp_graph *read = graph_of_bytes(&model, &error);
  assert_non_null(read);
  const oxp__attribute *a = read->model.graph->nodes.at[0]->attributes.at[0];
  assert_int_equal(a->ints.count, 3);
  assert_int_equal(a->ints.at[1], -1);
  assert_int_equal(a->ints.at[2], 150);
  assert_int_equal(a->floats.count, 2);
  assert_true(a->floats.at[1] == -2.0f);
  oxp_graph_free(read);
  free(model.at);
}

// int64_data 2, -1 and float_data 1, 2: few enough to be read as arrays, and written again as they came.
static void few_typed_numbers_are_read(void **state)
{
  (void)state;
  bytes shape = { 0 }, scales = { 0 }, damaged = { 0 }, graph = { 0 };
  bytes_append(&shape, "\x08\x02\x10\x07", 4, NULL);
  put(&shape, 7, "\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
  bytes_append(&scales, "\x08\x02\x10\x01", 4, NULL);
  put(&scales, 4, "\0\0\x80\x3f\0\0\0\x40", 8);
  bytes_append(&damaged, "\x08\x02\x10\x01", 4, NULL);
  put(&damaged, 4, "\0\0\x80\x3f\0\0\0", 7);
  put_message(&graph, 5, &shape);
  put_message(&graph, 5, &scales);
  put_message(&graph, 5, &damaged);
  bytes model = model_of(&graph);
  expect_same_bytes(&model);
  oxp_error error = { 0 };
  oxp_graph *read = graph_of_bytes(&model, &error);
  assert_non_null(read);
  oxp__tensor_proto *const *at = read->model.graph->initializers.at;
  double numbers[2];
  assert_true(at[0]->has_tensor && at[1]->has_tensor && !at[2]->has_tensor);
  assert_int_equal(oxp__tensor_read_f64(&at[0]->tensor, numbers, &error), OXP_OK);
  assert_true(numbers[0] == 2 && numbers[1] == -1);
  assert_int_equal(oxp__tensor_read_f64(&at[1]->tensor, numbers, &error), OXP_OK);
  assert_true(numbers[0] == 1 && numbers[1] == 2);
  oxp_graph_free(read);
  free(model.at);
}

static void the_last_of_a_choice_counts(void **state)
{
  (void)state;
  bytes dim = { 0 }, shape = { 0 }, tensor = { 0 }, type = { 0 }, info = { 0 }, graph = { 0 };
  put(&dim, 2, "N", 1);
  bytes_append(&dim, "\x08\x07", 2, NULL);
  put_message(&shape, 1, &dim);
  put(&dim, 2, "rows", 4);
  put_message(&shape, 1, &dim);
  bytes_append(&tensor, "\x08\x01", 2, NULL);
  put_message(&tensor, 2, &shape);
  put_message(&type, 1, &tensor);
  put(&info, 1, "x", 1);
  put_message(&info, 2, &type);
  put_message(&graph, 11, &info);
  bytes model = model_of(&graph);
  oxp_error error = { 0 };
  oxp_graph *read = graph_of_bytes(&model, &error);
  assert_non_null(read);
  oxp_value_info seen;
  assert_true(oxp_graph_input_info(read, 0, &seen));
  assert_int_equal(seen.rank, 2);
  assert_int_equal(seen.shape[0], 7);
  assert_string_equal(oxp_graph_dim_name(read, seen.shape[1]), "rows");
  oxp_graph_free(read);
  free(model.at);
}

// A value's type is one of several: the last one counts.
static void the_last_type_counts(void **state)
{
  (void)state;
  bytes type = { 0 }, info = { 0 }, graph = { 0 };
  put(&type, 4, "\x0a\x00", 2); // a sequence
  put(&type, 1, "\x08\x01", 2); // a tensor of float32
  put(&info, 1, "x", 1);
  put_message(&info, 2, &type);
  put(&type, 1, "\x08\x01", 2);
  put(&type, 9, "\x0a\x00", 2); // an optional
  bytes other = { 0 };
  put(&other, 1, "y", 1);
  put_message(&other, 2, &type);
  put_message(&graph, 11, &info);
  put_message(&graph, 11, &other);
  bytes model = model_of(&graph);
  oxp_error error = { 0 };
  oxp_graph *read = graph_of_bytes(&model, &error);
  assert_non_null(read);
  const oxp__value_infos *inputs = &read->model.graph->inputs;
  assert_non_null(inputs->at[0]->type->tensor);
  assert_null(inputs->at[0]->type->sequence);
  assert_null(inputs->at[1]->type->tensor);
  assert_non_null(inputs->at[1]->type->optional);
  oxp_graph_free(read);
  free(model.at);
}

// Before IR version 4 weights are declared as inputs too.
static void weights_that_are_inputs_are_not_counted(void **state)
{
  (void)state;
  bytes w = { 0 }, x = { 0 }, weight = { 0 }, graph = { 0 };
  put(&w, 1, "w", 1);
  put(&x, 1, "x", 1);
  put(&weight, 8, "w", 1);
  put_message(&graph, 5, &weight);
  put_message(&graph, 11, &w);
  put_message(&graph, 11, &x);
  bytes model = model_of(&graph);
  oxp_error error = { 0 };
  oxp_graph *read = graph_of_bytes(&model, &error);
  assert_non_null(read);
  oxp_value_info seen;
  assert_int_equal(oxp_graph_input_count(read), 1);
  assert_true(oxp_graph_input_info(read, 0, &seen));
  assert_string_equal(seen.name, "x");
  assert_int_equal(seen.rank, -1);
  assert_false(oxp_graph_input_info(read, 1, &seen));
  oxp_graph_free(read);
  free(model.at);
}

static void bad_bytes_are_named(void **state)
{
  (void)state;
  static const struct {
    const char *bytes;
    size_t count;
    const char *words;
  } cases[] = {
    { "", 0, "holds no graph" },
    { "\x08", 1, "at byte 1, ModelProto: a number is cut off" },
    { "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, "more than 64 bits" },
    { "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12, "more than 64 bits" },
    { "\x00\x00", 2, "not the tag of a field" },
    { "\x3a\x05\x0a", 3, "field 7 says 5 bytes, but its message ends after 1" },
    { "\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, "says 9223372036854775807 bytes" },
    { "\x3b\x3c", 2, "wire type that ONNX does not use" },
    { "\x38\x01", 2, "field \"graph\" has wire type 0 instead of 2" },
    { "\x3a\x04\x12\x02"
      "a\0",
      6, "GraphProto: a text holds a zero byte" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bytes model = { 0 };
    if (cases[i].count > 0)
      bytes_append(&model, cases[i].bytes, cases[i].count, NULL);
    expect_refused(&model, cases[i].words);
    free(model.at);
  }
}

// Graphs in attributes in graphs: 3 levels each.
static bytes nested_model(int levels)
{
  bytes inner = { 0 };
  put(&inner, 2, "g", 1);
  for (int i = 0; i < levels; i++) {
    bytes outer = { 0 };
    static const unsigned char fields[] = { 6, 5, 1 }; // g, attribute, node
    unsigned char head[6] = { (unsigned char)(fields[i % 3] << 3 | 2) };
    size_t count = 1, rest = inner.count;
    for (; rest > 127; rest >>= 7)
      head[count++] = (unsigned char)(rest | 0x80);
    head[count++] = (unsigned char)rest;
    bytes_append(&outer, head, count, NULL);
    bytes_append(&outer, inner.at, inner.count, NULL);
    free(inner.at);
    inner = outer;
  }
  bytes model = { 0 };
  assert_true(inner.count < 16384);
  unsigned char head[] = { 7 << 3 | 2, (unsigned char)(inner.count | 0x80), (unsigned char)(inner.count >> 7) };
  bytes_append(&model, head, sizeof head, NULL);
  bytes_append(&model, inner.at, inner.count, NULL);
  free(inner.at);
  return model;
}

static void nesting_is_bounded(void **state)
{
  (void)state;
  bytes deep = nested_model(96);
  expect_same_bytes(&deep);
  free(deep.at);
  deep = nested_model(3 * 1000);
  expect_refused(&deep, "nested deeper than 100 levels");
  free(deep.at);
}

// --- Hostile bytes ---

// Every outcome is fine but a crash, a leak or memory out of proportion: read, look, check, write.
static void survive(bytes *model)
{
  oxp_error error = { 0 };
  oxp_graph *graph = graph_of_bytes(model, &error);
  if (!graph) {
    assert_true(error.status == OXP_BAD_FILE);
    assert_true(error.message[0]);
    return;
  }
  oxp_value_info info;
  for (int i = 0; i < 3; i++)
    (void)(oxp_graph_input_info(graph, i, &info) && oxp_graph_output_info(graph, i, &info));
  oxp_status checked = oxp_graph_check(graph, &error);
  assert_true(checked == OXP_OK || (checked == OXP_BAD_FILE && error.message[0]));
  bytes again = { 0 };
  assert_int_equal(oxp_graph_write_to(graph, bytes_append, &again, &error), OXP_OK);
  free(again.at);
  oxp_graph_free(graph);
}

static void check_hostile(const char *path)
{
  bytes whole = bytes_of_file(path);
  if (whole.count > 700) {
    free(whole.at);
    return;
  }
  bytes copy = { .at = malloc(whole.count), .capacity = whole.count };
  assert_non_null(copy.at);
  for (size_t cut = 0; cut < whole.count; cut++) {
    memcpy(copy.at, whole.at, whole.count);
    copy.count = cut;
    survive(&copy);
  }
  static const unsigned char flips[] = { 0x01, 0x02, 0x04, 0x08, 0x80, 0xFF };
  for (size_t at = 0; at < whole.count; at++)
    for (size_t i = 0; i < sizeof flips; i++) {
      memcpy(copy.at, whole.at, whole.count);
      copy.count = whole.count;
      copy.at[at] ^= flips[i];
      survive(&copy);
    }
  free(copy.at);
  free(whole.at);
}

static void hostile_bytes_are_survived(void **state)
{
  (void)state;
  visit_models(OXP_TEST_DATA "/netcl/edge", check_hostile);
  check_hostile(OXP_TEST_DATA "/netcl/p_pools.onnx");
  check_hostile(OXP_TEST_DATA "/runmat/odd_names.onnx");
}

// --- Files ---

static bool cancel_at_once(void *context, uint64_t done, uint64_t total)
{
  *(uint64_t *)context = total;
  return done > total;
}

static bool never_cancel(void *context, uint64_t done, uint64_t total)
{
  *(uint64_t *)context = total - done;
  return true;
}

static void files_are_replaced_whole(void **state)
{
  (void)state;
  const char *source = OXP_TEST_DATA "/netcl/a_mlp.onnx", *target = "again.onnx";
  unlink(target);
  oxp_error error = { 0 };
  oxp_graph *graph = NULL;
  assert_int_equal(oxp_graph_open(source, &graph, &error), OXP_OK);
  uint64_t number = 1;
  oxp_write_report written;
  oxp_write_options cancel = { .progress = cancel_at_once, .progress_context = &number };
  assert_int_equal(oxp_graph_write(graph, target, &cancel, &written, &error), OXP_CANCELLED);
  assert_int_equal(access(target, F_OK), -1);
  assert_int_equal(number, 20179);
  oxp_write_options options = { .progress = never_cancel, .progress_context = &number };
  assert_int_equal(oxp_graph_write(graph, target, &options, &written, &error), OXP_OK);
  assert_int_equal(written.model_bytes, 20179);
  assert_int_equal(number, 0);
  oxp_graph_free(graph);
  check_round_trip(target);
  // Never over itself, but over another one.
  assert_int_equal(oxp_graph_open(target, &graph, &error), OXP_OK);
  assert_int_equal(oxp_graph_write(graph, target, NULL, NULL, &error), OXP_BAD_ARGUMENT);
  oxp_graph_free(graph);
  assert_int_equal(oxp_graph_open(source, &graph, &error), OXP_OK);
  assert_int_equal(oxp_graph_write(graph, target, NULL, NULL, &error), OXP_OK);
  oxp_graph_free(graph);
  bytes before = bytes_of_file(source), after = bytes_of_file(target);
  assert_int_equal(before.count, after.count);
  assert_memory_equal(before.at, after.at, before.count);
  free(before.at);
  free(after.at);
  assert_int_equal(oxp_graph_open("missing.onnx", &graph, &error), OXP_IO);
  assert_non_null(strstr(error.message, "missing.onnx"));
  assert_int_equal(oxp_graph_open(OXP_TEST_DATA "/netcl/README.md", &graph, &error), OXP_BAD_FILE);
  assert_non_null(strstr(error.file, "README.md"));
}

// A payload of 1 GiB that is never there: only its description.
static oxp_status endless(void *context, uint64_t offset, void *buffer, size_t count, oxp_error *error)
{
  (void)context, (void)offset, (void)error;
  memset(buffer, 0, count);
  return OXP_OK;
}

static bool cancel_and_keep_total(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
  (void)done_bytes;
  *(uint64_t *)context = total_bytes;
  return false;
}

static void two_gibibytes_need_a_data_file(void **state)
{
  (void)state;
  oxp_error error = { 0 };
  oxp_graph *graph = oxp__graph_new();
  oxp__builder builder = { .graph = graph, .opset = 17, .dtype = OXP_FLOAT32, .error = &error };
  oxp_tensor big = oxp_tensor_from_function(OXP_FLOAT32, 2, (int64_t[]){ 1 << 14, 1 << 14 }, endless, NULL);
  oxp__build_initializer(&builder, "a", &big, OXP_DTYPE_NONE);
  uint64_t size = 0;
  assert_int_equal(oxp__model_size(graph, &size, &error), OXP_OK);
  assert_true(size > UINT64_C(1) << 30);
  oxp__build_initializer(&builder, "b", &big, OXP_DTYPE_NONE);
  assert_int_equal(builder.status, OXP_OK);
  assert_int_equal(oxp__model_size(graph, &size, &error), OXP_UNSUPPORTED);
  oxp_write_options never = { .external_data = OXP_EXTERNAL_NEVER };
  unlink("big.onnx");
  assert_int_equal(oxp_graph_write(graph, "big.onnx", &never, NULL, &error), OXP_UNSUPPORTED);
  assert_non_null(strstr(error.message, "external data"));
  // By default the weights go to a file of their own; it is not worth writing here.
  uint64_t total = 0;
  oxp_write_options cancel = { .progress = cancel_and_keep_total, .progress_context = &total };
  assert_int_equal(oxp_graph_write(graph, "big.onnx", &cancel, NULL, &error), OXP_CANCELLED);
  assert_int_equal(total, UINT64_C(1) << 31);
  assert_int_equal(access("big.onnx", F_OK), -1);
  oxp_graph_free(graph);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(golden_files_come_out_unchanged),
    cmocka_unit_test(a_golden_file_looks_right),
    cmocka_unit_test(unknown_fields_stay_in_their_place),
    cmocka_unit_test(zeros_that_were_set_are_written),
    cmocka_unit_test(packed_numbers_are_read),
    cmocka_unit_test(few_typed_numbers_are_read),
    cmocka_unit_test(the_last_of_a_choice_counts),
    cmocka_unit_test(the_last_type_counts),
    cmocka_unit_test(weights_that_are_inputs_are_not_counted),
    cmocka_unit_test(bad_bytes_are_named),
    cmocka_unit_test(nesting_is_bounded),
    cmocka_unit_test(hostile_bytes_are_survived),
    cmocka_unit_test(files_are_replaced_whole),
    cmocka_unit_test(two_gibibytes_need_a_data_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
