// gelu.c: x times the normal distribution function of x, exactly or by the tanh formula, element by element, any shape.
// Knows everything about the kind; does no I/O and keeps no state. Place: layers.
#include <math.h>

#include "layers/common/draw.h"
#include "layers/common/map.h"

enum { GELU_NONE, GELU_TANH };
static const char *const gelu_tokens[] = { "none", "tanh", NULL };

#define GELU_SQRT_2         1.41421356237309504880
#define GELU_SQRT_2_OVER_PI 0.79788456080286535588
#define GELU_CUBIC          0.044715

typedef struct {
  int approximate; // index into gelu_tokens
} gelu;

static const oxp__param gelu_params[] = {
  { .name = "approximate",
    .type = OXP__PARAM_CHOICE,
    .offset = offsetof(gelu, approximate),
    .value = GELU_NONE,
    .tokens = gelu_tokens,
    .doc = "none: the error function; tanh: the approximation",
    .in = { { .dialect = "netcl",
              .name = "approximate",
              .has_value = true,
              .value = GELU_TANH,
              .truth = true } } }, // false and true there
};

static double gelu_of(double x, const void *params)
{
  if (((const gelu *)params)->approximate == GELU_TANH)
    return 0.5 * x * (1 + tanh(GELU_SQRT_2_OVER_PI * (x + GELU_CUBIC * x * x * x)));
  return 0.5 * x * erfc(-x / GELU_SQRT_2); // 1 + erf without the cancellation for negative x
}

static void gelu_ref(const oxp__ref *io)
{
  oxp__map_ref(io, gelu_of);
}

static oxp_status gelu_lower_native(oxp__lowering *to, const oxp__layer *layer)
{
  const gelu *p = layer->params;
  oxp__node *node = oxp__lower_node(to, "Gelu", OXP__IN(oxp__lower_input(to, 0)));
  oxp__attr_string(to, node, "approximate", gelu_tokens[p->approximate]);
  return OXP_OK;
}

// The argument of the tanh: sqrt(2 / pi) (x + 0.044715 x^3). Returns tanh of it.
static const char *gelu_lower_tanh(oxp__lowering *to, const char *x)
{
  const char *square, *cube, *term, *sum, *argument, *result;
  oxp__lower_inner(to, "Mul", OXP__IN(x, x), &square);
  oxp__lower_inner(to, "Mul", OXP__IN(square, x), &cube);
  oxp__lower_inner(to, "Mul", OXP__IN(cube, oxp__lower_constant(to, "cubic", GELU_CUBIC)), &term);
  oxp__lower_inner(to, "Add", OXP__IN(x, term), &sum);
  oxp__lower_inner(to, "Mul", OXP__IN(sum, oxp__lower_constant(to, "sqrt_2_over_pi", GELU_SQRT_2_OVER_PI)), &argument);
  oxp__lower_inner(to, "Tanh", OXP__IN(argument), &result);
  return result;
}

static const char *gelu_lower_erf(oxp__lowering *to, const char *x)
{
  const char *argument, *result;
  oxp__lower_inner(to, "Div", OXP__IN(x, oxp__lower_constant(to, "sqrt_2", GELU_SQRT_2)), &argument);
  oxp__lower_inner(to, "Erf", OXP__IN(argument), &result);
  return result;
}

// Before opset 20 there is no Gelu: x/2 (1 + erf or tanh).
static oxp_status gelu_lower_decomposed(oxp__lowering *to, const oxp__layer *layer)
{
  const gelu *p = layer->params;
  const char *x = oxp__lower_input(to, 0), *sum, *product;
  const char *odd = p->approximate == GELU_TANH ? gelu_lower_tanh(to, x) : gelu_lower_erf(to, x);
  oxp__lower_inner(to, "Add", OXP__IN(odd, oxp__lower_constant(to, "one", 1)), &sum);
  oxp__lower_inner(to, "Mul", OXP__IN(x, sum), &product);
  oxp__lower_node(to, "Mul", OXP__IN(product, oxp__lower_constant(to, "half", 0.5)));
  return OXP_OK;
}

static void gelu_draw(oxp__random *random, void *params, oxp__shape *inputs)
{
  gelu *p = params;
  p->approximate = (int)oxp__random_range(random, GELU_NONE, GELU_TANH);
  oxp__draw_any(random, params, inputs);
}

const oxp__kind oxp__kind_gelu = {
  .name = "gelu",
  .doc = "Gaussian error linear unit",
  .formula = "y = x/2 (1 + erf(x / sqrt 2)); tanh: y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))",
  .names = { { "netcl", "GELU" } },
  .params = OXP__ROWS(gelu_params),
  .params_bytes = sizeof(gelu),
  .min_inputs = 1,
  .max_inputs = 1,
  .shape = oxp__shape_same,
  .ref = gelu_ref,
  .lower = { { 13, gelu_lower_decomposed }, { 20, gelu_lower_native } },
  .tolerance = OXP__TRANSCENDENTAL,
  .draw = gelu_draw,
};
