/*
   Between vectors in double and in single precision, as plain numbers
*/
#ifndef STRATA_CG_SINGLE_KERNELS_H
#define STRATA_CG_SINGLE_KERNELS_H

#include "../sys/kernels.h"

STRATA_BEGIN_C

/* to = factor from */
void StrataCGRoundHost(ptrdiff_t n, double factor, const double *from, float *to);
/* to = to + factor from */
void StrataCGAddHost(ptrdiff_t n, double factor, const float *from, double *to);
/* x = factor x */
void StrataCGScaleHost(ptrdiff_t n, float factor, float *x);

STRATA_END_C

#endif
