/*
   The arithmetic of conjugate gradients, shared by host and device: the order of the operations is fixed and every multiply-add is
   explicit, so that both give the same bits.
*/
#ifndef STRATA_CG_CELL_H
#define STRATA_CG_CELL_H

#include "cg_pass_kernels.h"

#define STRATA_TYPED "../cg/cg_cell_typed.h"
#include "../sys/typed.h"

#endif
