/*
   The vector work of an iteration of conjugate gradients in as few passes as can be, as plain numbers. Sums follow the tree of
   grid_kernels.h, so that each is equal, bit for bit, to the reduction of the vectors that the pass leaves behind.
*/
#ifndef STRATA_CG_KERNELS_H
#define STRATA_CG_KERNELS_H

#include "../grid/grid_kernels.h"

/* Sums of an iteration: (r,z), (z,Az), (r,r), (z,z) */
enum { STRATA_CG_GAMMA, STRATA_CG_DELTA, STRATA_CG_RR, STRATA_CG_ZZ, STRATA_CG_SUMS };

/* What is tested for convergence */
enum { STRATA_CG_TEST_NONE, STRATA_CG_TEST_R, STRATA_CG_TEST_Z, STRATA_CG_TEST_NATURAL };

#define STRATA_TYPED "../cg/cg_kernels_typed.h"
#include "../sys/typed.h"

#endif
