// standardize.c: see standardize.h. Place: layers/common.
#include "layers/common/standardize.h"

#include <math.h>

void oxp__standardize_ref(const double *x, double *y, int64_t count, double epsilon)
{
  double mean = 0, variance = 0;
  for (int64_t i = 0; i < count; i++)
    mean += x[i];
  mean /= (double)count;
  for (int64_t i = 0; i < count; i++)
    variance += (x[i] - mean) * (x[i] - mean);
  double deviation = sqrt(variance / (double)count + epsilon);
  for (int64_t i = 0; i < count; i++)
    y[i] = (x[i] - mean) / deviation;
}

const char *oxp__standardize_lower(oxp__lowering *to, const char *x, int count, const int64_t *axes, double epsilon)
{
  const char *centred, *square, *sum, *deviation, *normal;
  const char *mean = oxp__lower_reduce_mean(to, x, count, axes);
  oxp__lower_inner(to, "Sub", OXP__IN(x, mean), &centred);
  oxp__lower_inner(to, "Mul", OXP__IN(centred, centred), &square);
  const char *variance = oxp__lower_reduce_mean(to, square, count, axes);
  oxp__lower_inner(to, "Add", OXP__IN(variance, oxp__lower_constant(to, "epsilon", epsilon)), &sum);
  oxp__lower_inner(to, "Sqrt", OXP__IN(sum), &deviation);
  oxp__lower_inner(to, "Div", OXP__IN(centred, deviation), &normal);
  return normal;
}

void oxp__standardize_doubt(double epsilon, oxp__text *clause)
{
  if ((float)epsilon <= 0) // ONNX attributes are float32
    oxp__text_add(clause, "epsilon is 0: where all values that are normalized together are equal, the results are NaN");
}
