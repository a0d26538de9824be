// Input from files: arrays, pictures, folders, and what is refused.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <png.h>

#include "engines/input.h"

static const int64_t detector_shape[4] = { OXP_DIM_BATCH, 3, OXP_DIM_HEIGHT, OXP_DIM_WIDTH };
static const int64_t small_shape[4] = { OXP_DIM_BATCH, 3, 2, 2 };
static const int64_t grey_shape[4] = { OXP_DIM_BATCH, 1, 2, 2 };
static const int64_t vector_shape[2] = { OXP_DIM_BATCH, 3 };

static oxp_value_info info_of(int rank, const int64_t *shape)
{
  return (oxp_value_info){ .name = "input", .dtype = OXP_FLOAT32, .rank = rank, .shape = shape };
}

static oxp_array read_one(const char *path, oxp_value_info info, const oxp__input_options *options)
{
  oxp_array array = { 0 };
  oxp_error error = { 0 };
  if (oxp__input_read(&path, 1, &info, options, &array, NULL, &error) != OXP_OK)
    fail_msg("%s", error.message);
  return array;
}

static void assert_refused(const char *path, oxp_value_info info, const oxp__input_options *options,
                           oxp_status expected, const char *words)
{
  oxp_array array = { 0 };
  oxp_error error = { 0 };
  oxp_status status = oxp__input_read(&path, 1, &info, options, &array, NULL, &error);
  if (status != expected || !strstr(error.message, words) || !strstr(error.message, path))
    fail_msg("%s: %s, and \"%s\" is not in: %s", path, oxp_status_name(status), words, error.message);
  assert_null(array.data);
}

static void write_png(const char *path, int width, int height, const unsigned char *rgb)
{
  png_image image = {
    .version = PNG_IMAGE_VERSION, .width = (png_uint_32)width, .height = (png_uint_32)height, .format = PNG_FORMAT_RGB
  };
  assert_true(png_image_write_to_file(&image, path, 0, rgb, 0, NULL));
}

static void write_npy(const char *path, oxp_dtype dtype, int rank, const int64_t *shape, void *data)
{
  oxp_array array = { .dtype = dtype, .rank = rank, .data = data };
  for (int i = 0; i < rank; i++)
    array.shape[i] = shape[i];
  assert_int_equal(oxp_array_write(&array, path, NULL), OXP_OK);
}

static void write_text(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static const float *values(const oxp_array *array)
{
  assert_int_equal(array->dtype, OXP_FLOAT32);
  return array->data;
}

// Every byte value over 255 is the same float as a division in float32 gives.
static void bytes_become_the_nearest_floats(void **state)
{
  (void)state;
  unsigned char rgb[256 * 3];
  for (int i = 0; i < 256 * 3; i++)
    rgb[i] = (unsigned char)(i / 3);
  write_png("ramp.png", 256, 1, rgb);
  oxp_array array = read_one("ramp.png", info_of(4, detector_shape), NULL);
  assert_int_equal(array.shape[2], 1);
  assert_int_equal(array.shape[3], 256);
  for (int i = 0; i < 256; i++)
    assert_true(values(&array)[i] == (float)i / 255.0f);
  oxp_array_free(&array);
}

static const unsigned char four_pixels[12] = { 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120 };

static void scale_mean_std_and_order_are_applied(void **state)
{
  (void)state;
  write_png("four.png", 2, 2, four_pixels);
  oxp__input_options options = { .scale = 1, .mean = { 1, 2, 3 }, .std = { 2, 4, 0 } };
  oxp_array array = read_one("four.png", info_of(4, small_shape), &options);
  assert_float_equal(values(&array)[0], (10 - 1) / 2.0, 0);
  assert_float_equal(values(&array)[3], (100 - 1) / 2.0, 0);
  assert_float_equal(values(&array)[4], (20 - 2) / 4.0, 0);
  assert_float_equal(values(&array)[8], 30 - 3, 0);
  oxp_array_free(&array);
  options = (oxp__input_options){ .scale = 1, .bgr = true };
  array = read_one("four.png", info_of(4, small_shape), &options);
  assert_float_equal(values(&array)[0], 30, 0);
  assert_float_equal(values(&array)[4], 20, 0);
  assert_float_equal(values(&array)[8], 10, 0);
  oxp_array_free(&array);
}

static void one_channel_is_brightness(void **state)
{
  (void)state;
  unsigned char rgb[12] = { 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0 };
  write_png("grey.png", 2, 2, rgb);
  oxp_array array = read_one("grey.png", info_of(4, grey_shape), &(oxp__input_options){ .scale = 1 });
  assert_int_equal(oxp_array_count(&array), 4);
  assert_memory_equal(values(&array), ((float[]){ 255, 0, 76, 150 }), 4 * sizeof(float));
  oxp_array_free(&array);
}

static oxp_array read_noted(const char *path, oxp_value_info info, const oxp__input_options *options, const char *words)
{
  oxp_array array = { 0 };
  oxp_error error = { 0 };
  oxp__text notes = { 0 };
  if (oxp__input_read(&path, 1, &info, options, &array, &notes, &error) != OXP_OK)
    fail_msg("%s", error.message);
  if (words ? !strstr(oxp__text_string(&notes), words) : notes.length > 0)
    fail_msg("notes \"%s\" should say %s", oxp__text_string(&notes), words ? words : "nothing");
  oxp__text_fini(&notes);
  return array;
}

// A type that cannot hold a value refuses it; what it only rounds is said where it was a whole number.
static void what_a_type_cannot_hold_is_refused(void **state)
{
  (void)state;
  oxp_value_info whole = info_of(2, vector_shape), narrow = whole, single = whole;
  whole.dtype = OXP_INT64;
  narrow.dtype = OXP_FLOAT16;
  write_npy("nan.npy", OXP_FLOAT32, 1, (int64_t[]){ 3 }, (float[]){ 1, (float)NAN, 2 });
  assert_refused("nan.npy", whole, NULL, OXP_BAD_ARGUMENT, "element 1 of the array is nan (float32)");
  write_npy("large.npy", OXP_FLOAT64, 2, (int64_t[]){ 1, 3 }, (double[]){ 1, 2, 65520 });
  assert_refused("large.npy", narrow, NULL, OXP_BAD_ARGUMENT, "element 2 of the array is 65520 (float64)");
  write_npy("beyond.npy", OXP_FLOAT64, 2, (int64_t[]){ 1, 3 }, (double[]){ 1, -1e39, 3 });
  assert_refused("beyond.npy", single, NULL, OXP_BAD_ARGUMENT, "element 1 of the array is -1e+39");
  write_npy("whole.npy", OXP_INT64, 2, (int64_t[]){ 1, 3 }, (int64_t[]){ 16777217, 16777216, -16777219 });
  oxp_array array = read_noted("whole.npy", single, NULL, "whole.npy: 2 whole numbers are rounded to float32");
  assert_memory_equal(values(&array), ((float[]){ 16777216, 16777216, -16777220 }), 3 * sizeof(float));
  oxp_array_free(&array);
  write_npy("double.npy", OXP_FLOAT64, 2, (int64_t[]){ 1, 3 }, (double[]){ 0.1, 1e-50, -0.0 });
  array = read_noted("double.npy", single, NULL, NULL);
  oxp_array_free(&array);
}

static void bytes_behind_an_array_are_said(void **state)
{
  (void)state;
  write_npy("rest.npy", OXP_FLOAT32, 2, (int64_t[]){ 1, 3 }, (float[]){ 1, 2, 3 });
  FILE *file = fopen("rest.npy", "ab");
  assert_non_null(file);
  fputs("something", file);
  fclose(file);
  oxp_array array = read_noted("rest.npy", info_of(2, vector_shape), NULL, "Behind the array there are 9 bytes");
  assert_memory_equal(values(&array), ((float[]){ 1, 2, 3 }), 3 * sizeof(float));
  oxp_array_free(&array);
}

// The default scale makes fractions, which would all be 0 in a network that takes bytes.
static void a_picture_for_whole_numbers_needs_whole_numbers(void **state)
{
  (void)state;
  write_png("four.png", 2, 2, four_pixels);
  oxp_value_info bytes = info_of(4, small_shape);
  bytes.dtype = OXP_UINT8;
  assert_refused("four.png", bytes, NULL, OXP_BAD_ARGUMENT, "the byte 10 of the picture becomes 0.03921569");
  assert_refused("four.png", bytes, &(oxp__input_options){ .scale = 1, .mean = { 20, 0, 0 } }, OXP_BAD_ARGUMENT, "-10");
  oxp_array array = read_noted("four.png", bytes, &(oxp__input_options){ .scale = 1 }, NULL);
  assert_memory_equal(array.data, ((unsigned char[]){ 10, 40, 70, 100, 20 }), 5);
  oxp_array_free(&array);
}

static void pictures_are_resized_unless_asked_not_to(void **state)
{
  (void)state;
  unsigned char rgb[5 * 4 * 3];
  memset(rgb, 51, sizeof rgb);
  write_png("large.png", 5, 4, rgb);
  oxp_array array = read_one("large.png", info_of(4, small_shape), NULL);
  assert_int_equal(oxp_array_count(&array), 12);
  for (int i = 0; i < 12; i++)
    assert_true(values(&array)[i] == 0.2f);
  oxp_array_free(&array);
  assert_refused("large.png", info_of(4, small_shape), &(oxp__input_options){ .keep_size = true }, OXP_BAD_ARGUMENT,
                 "4 x 5");
}

static void the_photos_equal_their_array(void **state)
{
  (void)state;
  oxp_array photos = read_one(OXP_EXAMPLES "/photos", info_of(4, detector_shape), &(oxp__input_options){ .scale = 1 });
  oxp_array bytes;
  assert_int_equal(oxp_array_read(OXP_TEST_DATA "/netcl/detector/photos.uint8.npy", &bytes, NULL), OXP_OK);
  assert_int_equal(photos.shape[0], 4);
  const unsigned char *pixels = bytes.data;
  int64_t size = 256 * 256, wrong = 0;
  for (int64_t i = 0; i < 4 * 3 * size; i++) {
    int64_t photo = i / (3 * size), channel = i / size % 3, pixel = i % size;
    wrong += values(&photos)[i] != pixels[(photo * size + pixel) * 3 + channel];
  }
  assert_int_equal(wrong, 0);
  oxp_array_free(&photos);
  oxp_array_free(&bytes);
}

static void arrays_hold_one_sample_or_many(void **state)
{
  (void)state;
  double many[6] = { 1, 2, 3, 4, 5, 6 };
  int64_t one[3] = { 7, 8, 9 };
  write_npy("many.npy", OXP_FLOAT64, 2, (int64_t[]){ 2, 3 }, many);
  write_npy("one.npy", OXP_INT64, 1, (int64_t[]){ 3 }, one);
  const char *paths[] = { "one.npy", "many.npy" };
  oxp_value_info info = info_of(2, vector_shape);
  oxp_array array;
  assert_int_equal(oxp__input_read(paths, 2, &info, NULL, &array, NULL, NULL), OXP_OK);
  assert_int_equal(array.shape[0], 3);
  assert_memory_equal(values(&array), ((float[]){ 7, 8, 9, 1, 2, 3, 4, 5, 6 }), 9 * sizeof(float));
  oxp_array_free(&array);
}

static void a_folder_is_read_in_the_order_of_names(void **state)
{
  (void)state;
  float first[3] = { 1, 1, 1 }, second[3] = { 2, 2, 2 };
  mkdir("folder", 0777);
  mkdir("folder/below", 0777);
  write_npy("folder/b.npy", OXP_FLOAT32, 1, (int64_t[]){ 3 }, second);
  write_npy("folder/a.npy", OXP_FLOAT32, 1, (int64_t[]){ 3 }, first);
  write_text("folder/README.md", "no data");
  oxp_array array = read_one("folder", info_of(2, vector_shape), NULL);
  assert_int_equal(array.shape[0], 2);
  assert_memory_equal(values(&array), ((float[]){ 1, 1, 1, 2, 2, 2 }), 6 * sizeof(float));
  oxp_array_free(&array);
}

static void what_does_not_fit_is_refused(void **state)
{
  (void)state;
  float data[8] = { 0 };
  write_npy("four.npy", OXP_FLOAT32, 2, (int64_t[]){ 2, 4 }, data);
  write_npy("deep.npy", OXP_FLOAT32, 4, (int64_t[]){ 1, 2, 2, 2 }, data);
  write_png("four.png", 2, 2, four_pixels);
  write_text("text.npy", "not an array");
  write_text("cut.png", "\x89PNG\r\n\x1a\n");
  mkdir("empty", 0777);
  oxp_value_info vector = info_of(2, vector_shape);
  assert_refused("four.npy", vector, NULL, OXP_BAD_ARGUMENT,
                 "(2, 4) does not fit the network's input \"input\", which is (batch, 3)");
  assert_refused("deep.npy", vector, NULL, OXP_BAD_ARGUMENT, "(1, 2, 2, 2)");
  assert_refused("four.png", vector, NULL, OXP_BAD_ARGUMENT, "(batch, 3)");
  assert_refused("text.npy", vector, NULL, OXP_BAD_FILE, "neither");
  assert_refused("cut.png", info_of(4, small_shape), NULL, OXP_BAD_FILE, "PNG is damaged");
  assert_refused("empty", vector, NULL, OXP_BAD_ARGUMENT, "holds no");
  assert_refused("missing.npy", vector, NULL, OXP_IO, "No such file");
}

static void pictures_of_different_sizes_follow_the_first(void **state)
{
  (void)state;
  unsigned char rgb[5 * 4 * 3] = { 0 };
  write_png("a.png", 2, 2, four_pixels);
  write_png("b.png", 5, 4, rgb);
  const char *paths[] = { "a.png", "b.png" };
  oxp_value_info info = info_of(4, detector_shape);
  oxp_array array;
  assert_int_equal(oxp__input_read(paths, 2, &info, NULL, &array, NULL, NULL), OXP_OK);
  assert_int_equal(array.shape[0], 2);
  assert_int_equal(array.shape[2], 2);
  assert_int_equal(array.shape[3], 2);
  oxp_array_free(&array);
}

static void arrays_for_inputs_without_samples_are_taken_whole(void **state)
{
  (void)state;
  float values[6] = { 1, 2, 3, 4, 5, 6 };
  write_npy("whole.npy", OXP_FLOAT32, 2, (int64_t[]){ 2, 3 }, values);
  write_npy("number.npy", OXP_FLOAT32, 0, NULL, values);
  oxp_array array = read_one("whole.npy", info_of(-1, NULL), NULL);
  assert_int_equal(array.rank, 2);
  assert_memory_equal(array.data, values, sizeof values);
  oxp_array_free(&array);
  array = read_one("number.npy", info_of(0, NULL), NULL);
  assert_int_equal(array.rank, 0);
  assert_memory_equal(array.data, values, sizeof values[0]);
  oxp_array_free(&array);
  assert_refused("whole.npy", info_of(0, NULL), NULL, OXP_BAD_ARGUMENT, "is a single number, the array has 2 axes");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(arrays_for_inputs_without_samples_are_taken_whole),
    cmocka_unit_test(bytes_become_the_nearest_floats),
    cmocka_unit_test(scale_mean_std_and_order_are_applied),
    cmocka_unit_test(one_channel_is_brightness),
    cmocka_unit_test(pictures_are_resized_unless_asked_not_to),
    cmocka_unit_test(what_a_type_cannot_hold_is_refused),
    cmocka_unit_test(bytes_behind_an_array_are_said),
    cmocka_unit_test(a_picture_for_whole_numbers_needs_whole_numbers),
    cmocka_unit_test(the_photos_equal_their_array),
    cmocka_unit_test(arrays_hold_one_sample_or_many),
    cmocka_unit_test(a_folder_is_read_in_the_order_of_names),
    cmocka_unit_test(what_does_not_fit_is_refused),
    cmocka_unit_test(pictures_of_different_sizes_follow_the_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
