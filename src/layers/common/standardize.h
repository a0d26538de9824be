// standardize.h: what the normalizing kinds share: values brought to mean 0 and variance 1. Place: layers/common.
#ifndef OXP_LAYERS_COMMON_STANDARDIZE_H
#define OXP_LAYERS_COMMON_STANDARDIZE_H

#include "layers/kind.h"
#include "layers/lowering.h"

// y = (x - mean) / sqrt(variance + epsilon) over all `count` values; the variance is that of the values themselves.
void oxp__standardize_ref(const double *x, double *y, int64_t count, double epsilon);

// The same over `axes` of the value `x`, step by step; returns the inner value.
const char *oxp__standardize_lower(oxp__lowering *to, const char *x, int count, const int64_t *axes, double epsilon);

// The doubt of a kind whose statistics come from the values themselves: only without an epsilon can they be 0.
void oxp__standardize_doubt(double epsilon, oxp__text *clause);

#endif
