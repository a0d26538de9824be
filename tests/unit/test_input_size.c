// Unit tests of the search for an input's size: that trying sizes the short way answers as walking all layers does, that it asks no
// layer more often than it must, and what is said where the size stays open.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "net/input_size.h"
#include "net/size_trial.h"

// A network as a reader leaves it whose file says nothing about the input.
static oxp_network *new_network(oxp_value *x)
{
  oxp_network *network = NULL;
  assert_int_equal(oxp_network_new(OXP_FLOAT32, &network, NULL), OXP_OK);
  network->format = "a format";
  *x = oxp_network_add_input(network, "input", 1, (int64_t[]){ OXP_DIM_BATCH });
  return network;
}

// Adds a layer with up to two whole numbers as parameters, one for all places of each.
static oxp_value add(oxp_network *network, oxp_value x, const char *kind, const char *first, int64_t one,
                     const char *second, int64_t two)
{
  x = oxp_network_add_layer(network, kind, NULL, 1, &x);
  if (first)
    oxp_layer_set_int(network, x, first, one);
  if (second)
    oxp_layer_set_int(network, x, second, two);
  assert_int_equal(network->status, OXP_OK);
  return x;
}

static oxp_value add_conv(oxp_network *network, oxp_value x, int64_t in, int64_t out, int64_t kernel, int64_t pads)
{
  x = add(network, x, "conv2d", "in_channels", in, "out_channels", out);
  oxp_layer_set_int(network, x, "kernel_shape", kernel);
  oxp_layer_set_int(network, x, "pads", pads);
  return x;
}

static oxp_value add_linear(oxp_network *network, oxp_value x, int64_t in, int64_t out)
{
  return add(network, x, "linear", "in_features", in, "out_features", out);
}

static void settle(oxp_network *network)
{
  oxp_error error = { 0 };
  if (oxp__input_size_settle(network, 0, NULL, &error) != OXP_OK)
    fail_msg("%s", error.message);
}

static void assert_input(const oxp_network *network, int rank, const int64_t *dims)
{
  const oxp__shape *shape = &network->values[network->inputs[0]].shape;
  assert_int_equal(shape->rank, rank);
  assert_memory_equal(shape->dim, dims, (size_t)rank * sizeof *dims);
}

static void assert_missing(const oxp_network *network, const char *words)
{
  assert_non_null(oxp_network_missing_shape(network));
  if (!strstr(oxp_network_missing_shape(network), words))
    fail_msg("\"%s\" lacks \"%s\"", oxp_network_missing_shape(network), words);
}

// ---- The short way and the whole walk ----

// Adds a random layer behind `x` that fits `shape`, what `x` has for the one size that the chain is built around, and puts its output
// there. Now and then a layer wants another number than there is, so that no size fits.
static oxp_value add_random(oxp_network *network, oxp__random *random, oxp_value x, oxp__shape *shape)
{
  int64_t last = shape->dim[shape->rank - 1] + (oxp__random_range(random, 0, 9) == 0), channels = shape->dim[1];
  int64_t kernel = oxp__random_range(random, 1, 3), some = oxp__random_range(random, 1, 4);
  switch (oxp__random_range(random, shape->rank == 4 ? 0 : 6, 9)) {
  case 0:
  case 1:
    x = add(network, x, "max_pool2d", "kernel_shape", kernel, "strides", oxp__random_range(random, 1, 2));
    break;
  case 2:
    x = add(network, x, "zero_pad2d", "pads", some % 3, NULL, 0);
    break;
  case 3:
    x = add_conv(network, x, channels, some, kernel, some % 2);
    break;
  case 4:
    x = add(network, x, "upsample", "scales", kernel, NULL, 0);
    break;
  case 5:
    x = add(network, x, "flatten", NULL, 0, NULL, 0);
    break;
  case 6:
    x = add_linear(network, x, last, some);
    break;
  case 7:
    x = add(network, x, "layer_norm", "normalized_shape", last, NULL, 0);
    break;
  default:
    x = add(network, x, "relu", NULL, 0, NULL, 0);
  }
  oxp__shape input = *shape;
  const oxp__layer *layer = network->layers[network->layer_count - 1];
  if (layer->kind->shape(layer, &input, shape, NULL) != OXP_OK)
    *shape = (oxp__shape){ .rank = 0 };
  return x;
}

static bool walk_fits(const oxp_network *network, oxp__shape input, int64_t height, int64_t width)
{
  oxp__shape shapes[32];
  assert_true(network->value_count <= OXP__COUNT(shapes));
  input.dim[2] = height;
  input.dim[3] = width;
  return oxp__infer_shapes(network, &input, shapes, NULL) == OXP_OK;
}

// Returns how many of the sizes tried fit; *sizes counts them all.
static int compare_with_walk(oxp__random *random, int *sizes)
{
  static const int64_t tried[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 31, 4096 };
  oxp__shape shape = { .rank = 4,
                       .dim = { OXP_DIM_BATCH, 2, oxp__random_range(random, 1, 9), oxp__random_range(random, 1, 9) } };
  oxp__shape input = { .rank = 4, .dim = { OXP_DIM_BATCH, 2, OXP_DIM_HEIGHT, OXP_DIM_WIDTH } };
  oxp__arena arena = { 0 };
  oxp__size_trial trial;
  oxp_value x;
  int fitting = 0;
  oxp_network *network = new_network(&x);
  for (int i = 0; i < 12 && shape.rank > 0; i++)
    x = add_random(network, random, x, &shape);
  bool walked = oxp__size_trial_init(&trial, &arena, network, &input, NULL) == OXP_OK;
  for (size_t h = 0; h < OXP__COUNT(tried); h++)
    for (size_t w = 0; w < OXP__COUNT(tried); w++) {
      bool fits = walked && oxp__size_trial_fits(&trial, tried[h], tried[w]);
      assert_int_equal(fits, walk_fits(network, input, tried[h], tried[w]));
      fitting += fits;
      ++*sizes;
    }
  oxp__arena_fini(&arena);
  oxp_network_free(network);
  return fitting;
}

static void a_try_answers_as_the_whole_walk(void **state)
{
  (void)state;
  oxp__random random = { .state = 11 };
  int sizes = 0, fitting = 0;
  for (int i = 0; i < 400; i++)
    fitting += compare_with_walk(&random, &sizes);
  assert_true(fitting > sizes / 20 && fitting < sizes - sizes / 20); // both answers were given often
}

// ---- How much is asked ----

static int shapes_asked; // by the kind below

static oxp_status counting_shape(const oxp__layer *layer, const oxp__shape *inputs, oxp__shape *output,
                                 oxp_error *error)
{
  shapes_asked++;
  return oxp__shape_same(layer, inputs, output, error);
}

static const oxp__kind counting = {
  .name = "counting", .doc = "asks nothing", .min_inputs = 1, .max_inputs = 1, .shape = counting_shape
};

// Layers on both sides of a Flatten, whose shapes follow the input's but say nothing about it, and behind the layer that fixes it.
static void layers_that_fix_no_size_are_walked_and_not_tried(void **state)
{
  (void)state;
  enum { MANY = 2000 };
  oxp_value x;
  oxp_network *network = new_network(&x);
  x = add_conv(network, x, 1, 1, 3, 0);
  for (int i = 0; i < MANY; i++)
    x = oxp__network_add(network, &counting, NULL, "counting", NULL, 1, &x);
  x = add(network, x, "max_pool2d", "kernel_shape", 2, "strides", 2);
  for (int i = 0; i < MANY; i++)
    x = oxp__network_add(network, &counting, NULL, "counting", NULL, 1, &x);
  x = add(network, x, "flatten", NULL, 0, NULL, 0);
  for (int i = 0; i < MANY; i++)
    x = oxp__network_add(network, &counting, NULL, "counting", NULL, 1, &x);
  x = add_linear(network, x, 25, 2);
  for (int i = 0; i < MANY; i++)
    x = oxp__network_add(network, &counting, NULL, "counting", NULL, 1, &x);
  shapes_asked = 0;
  settle(network);
  assert_missing(network, "several square ones fit the layers: 12 and 13; choose one with --input-shape, as in "
                          "--input-shape 1x12x12");
  assert_in_range(shapes_asked, 4 * MANY, 20 * MANY); // 4,096 sizes were tried
  oxp_network_free(network);
}

static void so_many_layers_that_trying_is_no_way_are_left_to_the_user(void **state)
{
  (void)state;
  oxp_value x;
  oxp_network *network = new_network(&x);
  x = add_conv(network, x, 5, 1, 1, 0);
  for (int i = 0; i < 6000; i++) {
    x = add(network, x, "zero_pad2d", "pads", 1, NULL, 0);
    x = add(network, x, "max_pool2d", "kernel_shape", 3, "strides", 1);
  }
  settle(network);
  assert_missing(network, "too many layers depend on it to try sizes; give it with --input-shape 5xHxW");
  oxp_network_free(network);
}

// ---- What is said ----

static oxp_network *chain(int64_t channels, int64_t features)
{
  oxp_value x;
  oxp_network *network = new_network(&x);
  x = add_conv(network, x, channels, 1, 1, 0);
  x = add(network, x, "max_pool2d", "kernel_shape", 2, "strides", 2);
  x = add(network, x, "flatten", NULL, 0, NULL, 0);
  add_linear(network, x, features, 2);
  settle(network);
  return network;
}

static void where_no_square_fits_pairs_are_named(void **state)
{
  (void)state;
  oxp_network *network = chain(3, 21); // 3 by 7 or 1 by 21 behind the pool, which sees no difference between 14 and 15
  assert_missing(network, "no square input of 1 to 4096 fits the layers; heights and widths that do: 14x6, 6x14, 42x2, "
                          "2x42; choose one with --input-shape, as in --input-shape 3x14x6");
  assert_input(network, 4, (int64_t[]){ OXP_DIM_BATCH, 3, OXP_DIM_UNKNOWN, OXP_DIM_UNKNOWN });
  oxp_network_free(network);

  network = chain(3, 2520); // there are more than eight
  assert_missing(network, "that do: 112x90, 90x112, 120x84, 84x120, 126x80, 80x126, 140x72, 72x140; choose one");
  oxp_network_free(network);

  oxp_value x;
  network = new_network(&x); // a prime number of features, and no window: two pairs
  x = add_conv(network, x, 2, 1, 1, 0);
  x = add(network, x, "flatten", NULL, 0, NULL, 0);
  add_linear(network, x, 13, 2);
  settle(network);
  assert_missing(network, "heights and widths that do: 13x1, 1x13; choose one");
  oxp_network_free(network);

  network = new_network(&x); // the width is fixed by one layer, the height by another
  x = add_conv(network, x, 2, 1, 3, 0);
  x = add_linear(network, x, 20, 3);
  x = add(network, x, "flatten", NULL, 0, NULL, 0);
  add_linear(network, x, 15, 2);
  settle(network);
  assert_missing(network,
                 "heights and widths that do: 7x22; choose one with --input-shape, as in --input-shape 2x7x22");
  oxp_network_free(network);

  network = new_network(&x); // a column is added to the width alone, so that height and width are not alike
  x = add_conv(network, x, 2, 1, 1, 0);
  x = add(network, x, "zero_pad2d", NULL, 0, NULL, 0);
  oxp_layer_set_ints(network, x, "pads", 4, (int64_t[]){ 0, 0, 0, 1 });
  x = add(network, x, "flatten", NULL, 0, NULL, 0);
  add_linear(network, x, 15, 2);
  settle(network);
  assert_missing(network, "heights and widths that do: 3x4, 5x2, 1x14; choose one");
  oxp_network_free(network);

  network = chain(3, 4099 * 2); // a prime number above all sizes that are tried
  assert_missing(network, "no square input of 1 to 4096 fits the layers; give its size with --input-shape 3xHxW");
  oxp_network_free(network);
}

static void one_square_is_taken_and_free_sizes_stay_symbols(void **state)
{
  (void)state;
  oxp_value x;
  oxp_network *network = new_network(&x);
  x = add_conv(network, x, 3, 1, 3, 1);
  x = add(network, x, "flatten", NULL, 0, NULL, 0);
  add_linear(network, x, 49, 2);
  settle(network);
  assert_null(oxp_network_missing_shape(network));
  assert_input(network, 4, (int64_t[]){ OXP_DIM_BATCH, 3, 7, 7 });
  assert_non_null(strstr(oxp_network_warning(network, 0), "(batch, 3, 7, 7) is used, the only square one that fits"));
  oxp_network_free(network);

  network = new_network(&x);
  x = add_conv(network, x, 3, 1, 3, 1);
  add(network, x, "relu", NULL, 0, NULL, 0);
  settle(network);
  assert_null(oxp_network_missing_shape(network));
  assert_input(network, 4, (int64_t[]){ OXP_DIM_BATCH, 3, OXP_DIM_HEIGHT, OXP_DIM_WIDTH });
  oxp_network_free(network);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_try_answers_as_the_whole_walk),
    cmocka_unit_test(layers_that_fix_no_size_are_walked_and_not_tried),
    cmocka_unit_test(so_many_layers_that_trying_is_no_way_are_left_to_the_user),
    cmocka_unit_test(where_no_square_fits_pairs_are_named),
    cmocka_unit_test(one_square_is_taken_and_free_sizes_stay_symbols),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
