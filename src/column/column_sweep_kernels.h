/*
   Corrections of the lines of one colour, as plain numbers; host and device results are equal bit for bit
*/
#ifndef STRATA_COLUMN_SWEEP_KERNELS_H
#define STRATA_COLUMN_SWEEP_KERNELS_H

#include "../sys/kernels.h"

/* Some lines along an axis of the owned box: all, or those whose two places across the axis add up to an even number with `parity` */
typedef struct {
  int n[3], axis, all, parity;
} StrataColor;

STRATA_CELL int strata_colored(const StrataColor *c, int i, int j, int k)
{
  return c->all || (c->parity + (c->axis != 0 ? i : 0) + (c->axis != 1 ? j : 0) + (c->axis != 2 ? k : 0)) % 2 == 0;
}

#define STRATA_TYPED "../column/column_sweep_kernels_typed.h"
#include "../sys/typed.h"

#endif
