/*
   What goes around cycles of Jacobi sweeps, element by element: rows divided by their diagonal, vectors put into arrays with frames
   and taken out of them. Vectors lie on the owned box and are double; arrays have the precision of the sweeps.
*/
#ifndef STRATA_JACOBI_SCALE_KERNELS_H
#define STRATA_JACOBI_SCALE_KERNELS_H

#include "../grid/grid_kernels.h"

/* Cells with a diagonal entry that cannot be divided by: the first of each kind, -1 if there is none */
typedef struct {
  ptrdiff_t zero, nonfinite;
} StrataDiagonalFaults;

STRATA_BEGIN_C

void StrataDiagonalCheckHost(ptrdiff_t n, const double *d, StrataDiagonalFaults *faults);
int  StrataDiagonalCheckCUDA(ptrdiff_t n, const double *d, StrataDiagonalFaults *faults, void *stream);

/* q = factor a / d, where d is an array or, if that is NULL, a number; q may be a */
void StrataQuotientHost(ptrdiff_t n, double factor, const double *a, const double *d, double number, double *q);
int  StrataQuotientCUDA(ptrdiff_t n, double factor, const double *a, const double *d, double number, double *q, void *stream);

/* r = b - r */
void StrataSubtractHost(ptrdiff_t n, const double *b, double *r);
int  StrataSubtractCUDA(ptrdiff_t n, const double *b, double *r, void *stream);

STRATA_END_C

#define STRATA_TYPED "../jacobi/jacobi_scale_kernels_typed.h"
#include "../sys/typed.h"

#endif
