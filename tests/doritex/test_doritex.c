// test_doritex.c: examples/doritex.c against what the genuine package computed. Exit status 77 (skipped) where the weights or the
// engine are missing: `./dev setup` fetches both.
//
//     test_doritex reference | ort:cpu
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

// The example itself, with its main under another name.
int doritex_main(int argc, char **argv);
#define main doritex_main
#include "doritex.c"
#undef main

#define GOLDEN OXP_TEST_DATA "/netcl-real/doritex_"

static const char *test_engine;
static oxp_error test_error;

static void need(oxp_status status)
{
  if (status != OXP_OK)
    fail_msg("%s: %s", oxp_status_name(status), test_error.message);
}

static oxp_array golden(const char *name)
{
  oxp_array array = { 0 };
  char path[512];
  snprintf(path, sizeof path, GOLDEN "%s.npy", name);
  need(oxp_array_read(path, &array, &test_error));
  return array;
}

// The picture as the network wants it: v / 255, divided in float32, channels first.
static oxp_array test_image(void)
{
  oxp_array canvas = golden("page_canvas.uint8"), image = { 0 };
  assert_int_equal(canvas.rank, 3);
  int64_t height = canvas.shape[0], width = canvas.shape[1];
  need(oxp_array_new(&image, OXP_FLOAT32, 4, (int64_t[]){ 1, 3, height, width }, &test_error));
  const unsigned char *from = canvas.data;
  float *to = image.data;
  for (int64_t place = 0; place < height * width; place++)
    for (int64_t channel = 0; channel < 3; channel++)
      to[channel * height * width + place] = (float)from[place * 3 + channel] / 255.0f;
  oxp_array_free(&canvas);
  return image;
}

// `actual` is within `share` of the golden array's largest value (of 1, for small ones) everywhere. Shapes may differ by axes of
// length 1.
static void test_equal(const char *name, oxp_array *actual, double share)
{
  oxp_array expected = golden(name);
  assert_int_equal(oxp_array_count(&expected), oxp_array_count(actual));
  actual->rank = expected.rank;
  memcpy(actual->shape, expected.shape, sizeof actual->shape);
  oxp_difference difference;
  need(oxp_compare(&expected, actual, 0, 0, &difference, &test_error));
  double limit = share * fmax(1, difference.scale);
  printf("%s: largest difference %.2g, allowed %.2g\n", name, difference.max_abs, limit);
  if (isnan(difference.max_abs) || difference.max_abs > limit)
    fail_msg("%s: at %lld expected %.9g, got %.9g", name, (long long)difference.at, difference.expected,
             difference.actual);
  oxp_array_free(&expected);
}

static void test_equal_file(const char *name, const char *path, double share)
{
  oxp_array actual = { 0 };
  need(oxp_array_read(path, &actual, &test_error));
  test_equal(name, &actual, share);
  oxp_array_free(&actual);
}

// ---- The program, as a user runs it ----

static void test_detector(void **state)
{
  (void)state;
  oxp_array image = test_image();
  need(oxp_array_write(&image, "detector.input_0.npy", &test_error));
  oxp_array_free(&image);
  char *arguments[] = { "doritex",
                        OXP_DORITEX_WEIGHTS,
                        "detector",
                        "detector.onnx",
                        (char *)test_engine,
                        "detector.input_0.npy",
                        "detector.output_0.npy",
                        "detector.output_1.npy",
                        NULL };
  assert_int_equal(doritex_main(8, arguments), 0);
  test_equal_file("page_conf", "detector.output_0.npy", 1e-5);
  test_equal_file("page_geom", "detector.output_1.npy", 1e-5);
}

static oxp_array test_scores(const oxp_array *crops)
{
  need(oxp_array_write(crops, "direction.input_0.npy", &test_error));
  char *arguments[] = { "doritex",
                        OXP_DORITEX_WEIGHTS,
                        "direction",
                        "direction.onnx",
                        (char *)test_engine,
                        "direction.input_0.npy",
                        "direction.output.npy",
                        NULL };
  assert_int_equal(doritex_main(7, arguments), 0);
  oxp_array score = { 0 };
  need(oxp_array_read("direction.output.npy", &score, &test_error));
  return score;
}

// Turns each map by 180 degrees, in place: reverses its elements.
static void turn(oxp_array *maps)
{
  int64_t size = maps->shape[2] * maps->shape[3], count = maps->shape[0] * maps->shape[1];
  for (int64_t map = 0; map < count; map++) {
    float *at = (float *)maps->data + map * size;
    for (int64_t i = 0; i < size / 2; i++) {
      float other = at[size - 1 - i];
      at[size - 1 - i] = at[i];
      at[i] = other;
    }
  }
}

static void test_direction(void **state)
{
  (void)state;
  oxp_array crops = golden("crops");
  oxp_array upright = test_scores(&crops);
  test_equal("crops_score", &upright, 1e-5);
  turn(&crops);
  oxp_array turned = test_scores(&crops);
  for (int64_t i = 0; i < oxp_array_count(&upright); i++)
    ((float *)upright.data)[i] -= ((float *)turned.data)[i];
  test_equal("crops_z", &upright, 1e-5);
  oxp_array_free(&turned);
  oxp_array_free(&upright);
  oxp_array_free(&crops);
}

static void test_usage(void **state)
{
  (void)state;
  char *nothing[] = { "doritex", NULL }, *unknown[] = { "doritex", OXP_DORITEX_WEIGHTS, "reader", "x.onnx", NULL };
  char *missing[] = { "doritex", "missing.npz", "detector", "x.onnx", NULL };
  assert_int_equal(doritex_main(1, nothing), 2);
  assert_int_equal(doritex_main(4, unknown), 2);
  assert_int_equal(doritex_main(4, missing), 5);
}

// ---- Stages: where a description that is wrong goes wrong first ----

typedef struct stage {
  const char *name, *layer; // the stage's last layer
} stage;

static const stage test_stage_rows[] = {
  { "stem", "stem.7" }, { "c4", "s4.1" },          { "c8", "s8.2" },        { "c16", "s16.4" },      { "c32", "s32.2" },
  { "top", "top.2" },   { "p16", "f16.refine.5" }, { "p8", "f8.refine.5" }, { "p4", "f4.refine.5" },
};

static int layer_named(const oxp_network *network, const char *name)
{
  oxp_layer_info info;
  for (int i = 0; oxp_network_layer_info(network, i, &info); i++)
    if (strcmp(info.name, name) == 0)
      return i;
  fail_msg("the network has no layer \"%s\"", name);
  return -1;
}

static void stage_value(const char *stage_name, const char *what, double expected, double actual)
{
  if (!(fabs(expected - actual) <= 2e-5 * fmax(1, fabs(expected))))
    fail_msg("stage %s departs: %s is %.9g, expected %.9g", stage_name, what, actual, expected);
}

static void test_stage(const char *name, const json_t *expected, const oxp_array *actual)
{
  assert_non_null(expected);
  const float *at = actual->data;
  int64_t count = oxp_array_count(actual);
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; i++)
    sum += at[i];
  for (int64_t i = 0; i < count; i++)
    squares += (at[i] - sum / (double)count) * (at[i] - sum / (double)count);
  for (int i = 0; i < 4; i++)
    assert_int_equal(json_integer_value(json_array_get(json_object_get(expected, "shape"), (size_t)i)),
                     actual->shape[i]);
  stage_value(name, "the mean", json_real_value(json_object_get(expected, "mean")), sum / (double)count);
  stage_value(name, "the deviation", json_real_value(json_object_get(expected, "std")), sqrt(squares / (double)count));
  for (int i = 0; i < 4; i++) {
    stage_value(name, "one of the first four",
                json_real_value(json_array_get(json_object_get(expected, "first"), (size_t)i)), at[i]);
    stage_value(name, "one of the last four",
                json_real_value(json_array_get(json_object_get(expected, "last"), (size_t)i)), at[count - 4 + i]);
  }
}

// Every layer's value in one run, on both engines alike.
static void test_stages(void **state)
{
  (void)state;
  oxp_weights *weights = NULL;
  oxp_network *network = NULL;
  oxp_session *session = NULL;
  need(oxp_weights_open(OXP_DORITEX_WEIGHTS, &weights, &test_error));
  need(describe(weights, "detector", &network, &test_error));
  need(oxp_session_open(network, test_engine, &(oxp_session_options){ .expose_layers = true }, &session, &test_error));
  int count = oxp_session_output_count(session);
  assert_int_equal(count, oxp_network_layer_count(network) + 2);
  oxp_array image = test_image(), *values = calloc((size_t)count, sizeof *values);
  assert_non_null(values);
  need(oxp_session_run(session, &image, values, &test_error));
  json_t *stages = json_load_file(GOLDEN "page_stages.json", 0, NULL);
  for (size_t i = 0; i < sizeof test_stage_rows / sizeof test_stage_rows[0]; i++)
    test_stage(test_stage_rows[i].name, json_object_get(stages, test_stage_rows[i].name),
               &values[layer_named(network, test_stage_rows[i].layer)]);
  json_decref(stages);
  for (int i = 0; i < count; i++)
    oxp_array_free(&values[i]);
  free(values);
  oxp_array_free(&image);
  oxp_session_free(session);
  oxp_network_free(network);
  oxp_weights_free(weights);
}

// ---- Skipping ----

static bool have_weights(void)
{
  FILE *file = fopen(OXP_DORITEX_WEIGHTS, "rb");
  if (file)
    fclose(file);
  else
    printf("skipped: %s is missing; ./dev setup fetches it\n", OXP_DORITEX_WEIGHTS);
  return file != NULL;
}

// The smallest network that opens a session.
static bool have_engine(void)
{
  oxp_network *network = NULL;
  oxp_session *session = NULL;
  oxp_status status = oxp_network_new(OXP_FLOAT32, &network, &test_error);
  if (status == OXP_OK) {
    oxp_value x = oxp_network_add_input(network, "x", 2, (int64_t[]){ 1, 1 });
    oxp_network_add_output(network, oxp_network_add_layer(network, "relu", NULL, 1, &x), NULL);
    status = oxp_network_finish(network, &test_error);
  }
  if (status == OXP_OK)
    status = oxp_session_open(network, test_engine, NULL, &session, &test_error);
  oxp_session_free(session);
  oxp_network_free(network);
  if (status == OXP_NOT_AVAILABLE)
    printf("skipped: %s\n", test_error.message);
  return status != OXP_NOT_AVAILABLE;
}

int main(int argc, char **argv)
{
  if (argc != 2)
    return 2;
  test_engine = argv[1];
  if (!have_weights() || !have_engine())
    return 77;
  const struct CMUnitTest tests[] = { cmocka_unit_test(test_usage), cmocka_unit_test(test_stages),
                                      cmocka_unit_test(test_detector), cmocka_unit_test(test_direction) };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
