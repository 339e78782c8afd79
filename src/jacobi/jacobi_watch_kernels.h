/*
   Tests for convergence where the work is done, so that work can go on before anybody has looked at them
*/
#ifndef STRATA_JACOBI_WATCH_KERNELS_H
#define STRATA_JACOBI_WATCH_KERNELS_H

#include "../sys/kernels.h"

/* What tests leave: the index of the one that passed, -1 if none has, and the norm of each, at 1 + index */
#define STRATA_WATCH_TESTS   32
#define STRATA_WATCH_NUMBERS (1 + STRATA_WATCH_TESTS)

/* A test passes unless low < norm < high, NaN passes. Those after one that passed leave nothing. The norm is a number or its root. */
STRATA_CELL void strata_watch(const double *number, int root, double low, double high, int index, double record[])
{
  const double norm = root ? sqrt(*number) : *number;

  if (record[0] >= 0) return;
  record[1 + index] = norm;
  if (!(norm > low && norm < high)) record[0] = index;
}

STRATA_BEGIN_C

void StrataWatchHost(const double *number, int root, double low, double high, int index, double record[]);
int  StrataWatchCUDA(const double *number, int root, double low, double high, int index, double record[], void *stream);

/* kept = x if this is the test that passed */
void StrataWatchKeepHost(ptrdiff_t n, const double *x, int index, const double record[], double *kept);
int  StrataWatchKeepCUDA(ptrdiff_t n, const double *x, int index, const double record[], double *kept, void *stream);

STRATA_END_C

#endif
