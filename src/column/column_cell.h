/*
   The arithmetic of one row of a line, shared by host and device: the order of the operations is fixed and every multiply-add is
   explicit, so that both give the same bits.

   A line is factored in excess form: with  den_k  the pivot of row k and  E_k = den_k + upper_k,
     E_k = excess_k - lower_k (E_{k-1} / den_{k-1}),   den_k = E_k - upper_k.
   For an M-matrix (legs <= 0, excess >= 0) all terms are of one sign: nothing cancels, and a line without any excess, which is singular,
   has E_k = 0 exactly, up to its last pivot.
*/
#ifndef STRATA_COLUMN_CELL_H
#define STRATA_COLUMN_CELL_H

#include "column_kernels.h"
#include "../operator/operator_cell.h"

/* The lines of a box are counted through it, x fastest: their number, and the first cell of line q */
STRATA_CELL ptrdiff_t strata_line_count(const int n[3], int axis)
{
  return n[axis] ? (ptrdiff_t)n[axis == 0 ? 1 : 0] * n[axis == 2 ? 1 : 2] : 0;
}

STRATA_CELL void strata_line_start(const int n[3], int axis, ptrdiff_t q, int x[3])
{
  const int h0 = axis == 0 ? 1 : 0, h1 = axis == 2 ? 1 : 2;

  x[axis] = 0;
  x[h0] = (int)(q % n[h0]);
  x[h1] = (int)(q / n[h0]);
}

STRATA_CELL ptrdiff_t strata_line_cell(const int n[3], const int x[3])
{
  return x[0] + n[0] * (x[1] + (ptrdiff_t)n[1] * x[2]);
}

/* The distance between the cells of a line */
STRATA_CELL ptrdiff_t strata_line_stride(const int n[3], int axis)
{
  return axis == 0 ? 1 : axis == 1 ? (ptrdiff_t)n[0] : (ptrdiff_t)n[0] * n[1];
}

/* What a step of the factorization meets */
enum {
  STRATA_PIVOT_FINE,
  STRATA_PIVOT_ZERO,
  STRATA_PIVOT_SINGULAR, /* zero, as the last one of a singular run is */
  STRATA_PIVOT_ISOLATED, /* the same, in a run of one cell */
  STRATA_PIVOT_NONFINITE
};

/* Takes what one row is like into the report */
STRATA_CELL void strata_report(StrataLinesReport *report, unsigned long long cell, int pivot, int sign, int unsymmetric)
{
  if (pivot == STRATA_PIVOT_ZERO && cell < report->zero) report->zero = cell;
  if (pivot == STRATA_PIVOT_ISOLATED && cell < report->isolated) report->isolated = cell;
  if (pivot == STRATA_PIVOT_NONFINITE && cell < report->nonfinite) report->nonfinite = cell;
  if (pivot == STRATA_PIVOT_SINGULAR || pivot == STRATA_PIVOT_ISOLATED) report->singular++;
  if (sign) report->sign = 1;
  if (unsymmetric) report->unsymmetric = 1;
}

#define STRATA_TYPED "../column/column_cell_typed.h"
#include "../sys/typed.h"

#endif
