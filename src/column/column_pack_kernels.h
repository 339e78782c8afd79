/*
   Vectors in the order and the precision of the solve
*/
#ifndef STRATA_COLUMN_PACK_KERNELS_H
#define STRATA_COLUMN_PACK_KERNELS_H

#include "../sys/kernels.h"

#define STRATA_TYPED "../column/column_pack_kernels_typed.h"
#include "../sys/typed.h"

#endif
