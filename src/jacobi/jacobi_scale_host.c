/*
   What goes around cycles of Jacobi sweeps, on the host
*/
#include "jacobi_scale_kernels.h"

void StrataDiagonalCheckHost(ptrdiff_t n, const double *d, StrataDiagonalFaults *faults)
{
  faults->zero = faults->nonfinite = -1;
  for (ptrdiff_t i = n - 1; i >= 0; i--) {
    if (d[i] == 0) faults->zero = i;
    if (!(d[i] - d[i] == 0)) faults->nonfinite = i;
  }
}

void StrataQuotientHost(ptrdiff_t n, double factor, const double *by, int nv, const double *a, ptrdiff_t lda, const double *d, double number,
                        double *q, ptrdiff_t ldq)
{
  const ptrdiff_t piece = 1024; /* which stays in the cache for all vectors */

  for (ptrdiff_t from = 0; from < n; from += piece)
    for (int v = 0; v < nv; v++) {
      const ptrdiff_t end = n - from < piece ? n : from + piece;
      const double    f = by ? factor * by[2 * v] : factor, *av = a + v * lda;
      double         *qv = q + v * ldq;

      for (ptrdiff_t i = from; i < end; i++) qv[i] = f * av[i] / (d ? d[i] : number);
    }
}

void StrataPowersHost(const double *largest, double power[2])
{
  strata_powers(*largest, power);
}

void StrataTimesHost(const float *from, const double *by, double *to)
{
  *to = *by * (double)*from;
}

void StrataSubtractHost(ptrdiff_t n, const double *b, double *r)
{
  for (ptrdiff_t i = 0; i < n; i++) r[i] = b[i] - r[i];
}

#define STRATA_TYPED "../jacobi/jacobi_scale_host_typed.h"
#include "../sys/typed.h"
