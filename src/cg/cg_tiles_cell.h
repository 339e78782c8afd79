/*
   The arithmetic of a column in the pass over tiles, shared by host and device: the order of the operations is fixed and every multiply-add is
   explicit, so that both give the same bits.

   With pivots d_k and lower legs b_k, M = L D L^T where t_k = b_k / d_{k-1} is below the diagonal of L: upwards y_k = r_k - t_k y_{k-1}, downwards
   z_k = y_k / d_k - t_{k+1} z_{k+1}, and (r,z) is the sum of y_k^2 / d_k.
*/
#ifndef STRATA_CG_TILES_CELL_H
#define STRATA_CG_TILES_CELL_H

#include "cg_cell.h"
#include "cg_tiles_kernels.h"
#include "../column/column_cell.h"

/* Which column of the grid is at x, a cell or two beyond the ends of an axis at most? -1: none */
STRATA_CELL int strata_tile_around(int x, int n, int around)
{
  if (around && (x < 0 || x == n)) return ((x % n) + n) % n;
  return x >= 0 && x < n ? x : -1;
}

/* Where level k of a column is */
STRATA_CELL ptrdiff_t strata_tile_cell(const int n[3], ptrdiff_t pitch, int i, int j, int k)
{
  return i + pitch * (k + (ptrdiff_t)n[2] * j);
}

#define STRATA_TYPED "../cg/cg_tiles_cell_typed.h"
#include "../sys/typed.h"

#endif
