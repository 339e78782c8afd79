/*
   The arithmetic of periodic lines, shared by host and device like that of column_cell.h
*/
#ifndef STRATA_COLUMN_RING_CELL_H
#define STRATA_COLUMN_RING_CELL_H

#include "column_cell.h"
#include "column_ring_kernels.h"

/* The line of a cell */
STRATA_CELL ptrdiff_t strata_line_of(const int n[3], int axis, const int x[3])
{
  const int h0 = axis == 0 ? 1 : 0, h1 = axis == 2 ? 1 : 2;

  return x[h0] + (ptrdiff_t)n[h0] * x[h1];
}

#define STRATA_TYPED "../column/column_ring_cell_typed.h"
#include "../sys/typed.h"

#endif
