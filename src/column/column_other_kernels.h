/*
   Two other ways to solve lines. From both ends: two eliminations meet in the middle cell. Parallel cyclic reduction: each row is freed of its
   neighbours at once, then of those two cells away, four, ...: log2 steps, in which all cells are independent.
*/
#ifndef STRATA_COLUMN_OTHER_KERNELS_H
#define STRATA_COLUMN_OTHER_KERNELS_H

#include "column_kernels.h"

#define STRATA_TYPED "../column/column_other_kernels_typed.h"
#include "../sys/typed.h"

#endif
