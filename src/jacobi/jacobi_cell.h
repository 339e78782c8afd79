/*
   The arithmetic of one Jacobi update, shared by host and device: the order of the operations is fixed and every multiply-add is
   explicit, so that all kernels give the same bits.
*/
#ifndef STRATA_JACOBI_CELL_H
#define STRATA_JACOBI_CELL_H

#include "jacobi_kernels.h"

#define STRATA_TYPED "../jacobi/jacobi_cell_typed.h"
#include "../sys/typed.h"

#endif
