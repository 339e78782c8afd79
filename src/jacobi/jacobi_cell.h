/*
   The arithmetic of one Jacobi update, shared by host and device: the order of the operations is fixed and every multiply-add is
   explicit, so that all kernels give the same bits.
*/
#ifndef STRATA_JACOBI_CELL_H
#define STRATA_JACOBI_CELL_H

#include "jacobi_kernels.h"

/* One direction of an array of n cells, of which the cells lo <= i < hi are written: the number of its tiles */
STRATA_CELL int strata_tiles(int n, int lo, int hi, int tile, int overlap)
{
  const int length = hi - lo + (lo > 0 ? overlap / 2 : 0) + (hi < n ? overlap / 2 : 0);

  return length <= tile ? 1 : 1 + (length - overlap - 1) / (tile - overlap);
}

/* The cells from[0] <= i < to[0] that tile b computes, and those from[1] <= i < to[1] of them that it writes */
STRATA_CELL void strata_tile(int n, int lo, int hi, int tile, int overlap, int b, int from[2], int to[2])
{
  const int end = hi < n ? hi + overlap / 2 : hi;

  from[0] = lo - (lo > 0 ? overlap / 2 : 0) + b * (tile - overlap);
  to[0] = from[0] + tile < end ? from[0] + tile : end;
  from[1] = b ? from[0] + overlap / 2 : lo;
  to[1] = b + 1 < strata_tiles(n, lo, hi, tile, overlap) ? to[0] - overlap / 2 : hi;
}

#define STRATA_TYPED "../jacobi/jacobi_cell_typed.h"
#include "../sys/typed.h"

#endif
