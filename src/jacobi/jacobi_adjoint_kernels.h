/*
   The transpose of a cycle of Jacobi sweeps, for tiles that overlap in part: there it is no cycle of the transposed matrix
*/
#ifndef STRATA_JACOBI_ADJOINT_KERNELS_H
#define STRATA_JACOBI_ADJOINT_KERNELS_H

#include "jacobi_kernels.h"

#define STRATA_TYPED "../jacobi/jacobi_adjoint_kernels_typed.h"
#include "../sys/typed.h"

#endif
