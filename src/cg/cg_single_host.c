/*
   Between vectors in double and in single precision, on the host
*/
#include "cg_single_kernels.h"

STRATA_CLONES void strata_cg_round(ptrdiff_t n, double factor, const double *from, float *to);
STRATA_CLONES void strata_cg_round(ptrdiff_t n, double factor, const double *from, float *to)
{
#pragma GCC ivdep
  for (ptrdiff_t i = 0; i < n; i++) to[i] = (float)(factor * from[i]);
}

void StrataCGRoundHost(ptrdiff_t n, double factor, const double *from, float *to)
{
  strata_cg_round(n, factor, from, to);
}

STRATA_CLONES void strata_cg_add_single(ptrdiff_t n, double factor, const float *from, double *to);
STRATA_CLONES void strata_cg_add_single(ptrdiff_t n, double factor, const float *from, double *to)
{
#pragma GCC ivdep
  for (ptrdiff_t i = 0; i < n; i++) to[i] = fma(factor, (double)from[i], to[i]);
}

void StrataCGAddHost(ptrdiff_t n, double factor, const float *from, double *to)
{
  strata_cg_add_single(n, factor, from, to);
}

STRATA_CLONES void strata_cg_scale(ptrdiff_t n, float factor, float *x);
STRATA_CLONES void strata_cg_scale(ptrdiff_t n, float factor, float *x)
{
#pragma GCC ivdep
  for (ptrdiff_t i = 0; i < n; i++) x[i] = factor * x[i];
}

void StrataCGScaleHost(ptrdiff_t n, float factor, float *x)
{
  strata_cg_scale(n, factor, x);
}
