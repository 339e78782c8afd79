/*
   The arithmetic of one cell of the star-stencil operator, shared by host and device: the order of the operations is fixed and
   every multiply-add is explicit, so that both give the same bits.
*/
#ifndef STRATA_OPERATOR_CELL_H
#define STRATA_OPERATOR_CELL_H

#include "operator_kernels.h"

/* Is leg l of cell x there? */
STRATA_CELL int strata_crosses(const int n[3], int l, const int x[3])
{
  return x[l / 2] == (l % 2 ? n[l / 2] - 1 : 0);
}

/* The global column of leg l of cell x, -1 where the leg is not there */
STRATA_CELL StrataInt strata_column(const StrataColumns *columns, const int n[3], const int outside[], int l, const int x[3])
{
  const StrataInt s[3] = {1, n[0], (StrataInt)n[0] * n[1]};

  if (!strata_crosses(n, l, x)) return columns->start[STRATA_LEGS] + x[0] + s[1] * x[1] + s[2] * x[2] + (l % 2 ? s[l / 2] : -s[l / 2]);
  if (outside[l] != STRATA_OUTSIDE_GHOST) return -1;
  return columns->start[l] + x[0] * columns->s[l][0] + x[1] * columns->s[l][1] + x[2] * columns->s[l][2];
}

/* Reads the row of cell x out of an assembled matrix; the value tells of faults: 1 an entry outside the star, 2 one that is not
   finite. The excess of a row whose entries cancel is made exactly zero when it is no more than their rounding. */
STRATA_CELL int strata_extract(const StrataCSR block[2], const StrataColumns *columns, const int n[3], const int outside[], int axis, const int x[3],
                               double *excess, double leg[])
{
  const StrataInt local = x[0] + (StrataInt)n[0] * (x[1] + (StrataInt)n[1] * x[2]), row = columns->start[STRATA_LEGS] + local;
  StrataInt       want[STRATA_LEGS];
  double          diagonal = 0, sum, size, other = 0;
  int             fault = 0;

  for (int l = 0; l < STRATA_LEGS; l++) {
    leg[l] = 0;
    want[l] = axis < 0 || l / 2 == axis ? strata_column(columns, n, outside, l, x) : -1;
  }
  for (int b = 0; b < 2 && block[b].row; b++)
    for (StrataInt e = block[b].row[local]; e < block[b].row[local + 1]; e++) {
      const StrataInt q = block[b].col[e], col = block[b].colmap ? block[b].colmap[q] : q + block[b].first;
      const double    a = block[b].value[e];
      int             l = 0;

      if (!(a - a == 0)) fault |= 2;
      if (col == row)
        diagonal += a;
      else {
        while (l < STRATA_LEGS && want[l] != col) l++;
        if (l < STRATA_LEGS)
          leg[l] += a;
        else if (fabs(a) > other)
          other = fabs(a);
      }
    }
  sum = diagonal;
  size = fabs(diagonal);
  for (int l = 0; l < STRATA_LEGS; l++) {
    sum += leg[l];
    size += fabs(leg[l]);
  }
  *excess = !(fault & 2) && fabs(sum) <= 8 * 2.220446049250313e-16 * size ? 0 : sum;
  if (axis < 0 && other > 2.220446049250313e-16 * size) fault |= 1;
  return fault;
}

#define STRATA_TYPED "../operator/operator_cell_typed.h"
#include "../sys/typed.h"

#endif
