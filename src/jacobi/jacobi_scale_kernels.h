/*
   What goes around cycles of Jacobi sweeps, element by element: rows divided by their diagonal, vectors put into arrays with frames
   and taken out of them. Vectors lie on the owned box and are double; arrays have the precision of the sweeps.
*/
#ifndef STRATA_JACOBI_SCALE_KERNELS_H
#define STRATA_JACOBI_SCALE_KERNELS_H

#include "../grid/grid_kernels.h"
#include <float.h>

/* Cells with a diagonal entry that cannot be divided by: the first of each kind, -1 if there is none */
typedef struct {
  ptrdiff_t zero, nonfinite;
} StrataDiagonalFaults;

/* The power of two that divides numbers up to `largest`, perhaps tiny, so that they fit single precision: its inverse and itself */
STRATA_CELL void strata_powers(double largest, double power[2])
{
  int exponent = 0;

  if (largest > 0 && largest <= DBL_MAX) (void)frexp(largest, &exponent);
  power[1] = ldexp(1.0, exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent);
  power[0] = 1 / power[1];
}

STRATA_BEGIN_C

void StrataDiagonalCheckHost(ptrdiff_t n, const double *d, StrataDiagonalFaults *faults);
int  StrataDiagonalCheckCUDA(ptrdiff_t n, const double *d, StrataDiagonalFaults *faults, void *stream);

/* Several vectors: nv of them with leading dimensions. Their factors are in the memory of the arrays, by[2 v] that of vector v as powers lie; NULL
   stands for 1. */

/* q = factor by a / d, where d is an array or, if that is NULL, a number; q may be a */
void StrataQuotientHost(ptrdiff_t n, double factor, const double *by, int nv, const double *a, ptrdiff_t lda, const double *d, double number,
                        double *q, ptrdiff_t ldq);
int  StrataQuotientCUDA(ptrdiff_t n, double factor, const double *by, int nv, const double *a, ptrdiff_t lda, const double *d, double number,
                        double *q, ptrdiff_t ldq, void *stream);

/* power[] for the number *largest; to = *by from, of one number */
void StrataPowersHost(const double *largest, double power[2]);
int  StrataPowersCUDA(const double *largest, double power[2], void *stream);
void StrataTimesHost(const float *from, const double *by, double *to);
int  StrataTimesCUDA(const float *from, const double *by, double *to, void *stream);

/* r = b - r */
void StrataSubtractHost(ptrdiff_t n, const double *b, double *r);
int  StrataSubtractCUDA(ptrdiff_t n, const double *b, double *r, void *stream);

STRATA_END_C

#define STRATA_TYPED "../jacobi/jacobi_scale_kernels_typed.h"
#include "../sys/typed.h"

#endif
