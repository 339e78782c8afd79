/*
   The arithmetic of a row in elimination from both ends and in cyclic reduction, shared by host and device like that of column_cell.h
*/
#ifndef STRATA_COLUMN_OTHER_CELL_H
#define STRATA_COLUMN_OTHER_CELL_H

#include "column_cell.h"
#include "column_other_kernels.h"

/* Numbers of a row in cyclic reduction: lower leg, upper leg, excess, right-hand side, 1 / diagonal entry. The sum of the row is kept, not the
   diagonal, so that nothing cancels for an M-matrix. */
enum { STRATA_PCR_LOWER, STRATA_PCR_UPPER, STRATA_PCR_EXCESS, STRATA_PCR_RIGHT, STRATA_PCR_INVERSE, STRATA_PCR_NUMBERS };

/* Lines that a block of threads works on together, and whether their numbers, old and new, fit in shared memory */
#define STRATA_PCR_SHARED 65536
STRATA_CELL int strata_pcr_lines(const int n[3], int axis, int bytes)
{
  int lines = strata_line_stride(n, axis) > 1 ? 8 : 1;

  while (lines > 1 && (size_t)n[axis] * lines * 2 * STRATA_PCR_NUMBERS * bytes > STRATA_PCR_SHARED) lines /= 2;
  return lines;
}

STRATA_CELL int strata_pcr_fits(const int n[3], int axis, int bytes)
{
  return (size_t)n[axis] * 2 * STRATA_PCR_NUMBERS * bytes <= STRATA_PCR_SHARED;
}

#define STRATA_TYPED "../column/column_other_cell_typed.h"
#include "../sys/typed.h"

#endif
