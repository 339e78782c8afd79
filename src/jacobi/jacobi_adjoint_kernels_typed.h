/* Included by jacobi_adjoint_kernels.h for each precision of the system */

STRATA_BEGIN_C

/* A cycle makes y in the cells of the box from x and b: y = X x + B b. This adds X' y to x and B' y to b, arrays of the size of the system, all of
   them in double precision; outside the box y is not read. The value is not 0 if there is no memory for work space. */
int TYPED(StrataCycleAdjointHost)(const TYPED(StrataSystem) *s, const StrataTiling *t, const StrataBox *box, const REAL *weight, const double *y,
                                  double *x, double *b);

STRATA_END_C
