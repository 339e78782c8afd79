/*
   How a 3D box is cut for blocks that walk up its planes: strips of columns, bands of rows, chunks of planes, one of each at a time for a block
*/
#ifndef STRATA_BLOCKS_CUDA_H
#define STRATA_BLOCKS_CUDA_H

#include "strip_cuda.h"

struct Blocks {
  Strips strips;
  int    base, bands, height, chunks; /* the first band's first row */
};

/* A block has ROWS rows, of which FRAME at either side belong to the next bands. Chunks so that all multiprocessors are busy to the end */
template <class S> static inline Blocks cut_blocks(const int n[3], const StrataBox &box, int processors, int K)
{
  const int planes = box.hi[2] - box.lo[2];
  Blocks    c = {cut_strips<S>(n[0], box.lo[0], box.hi[0]), 0, 1, planes, 1};
  ptrdiff_t least = 0;

  c.base = box.lo[1] < S::FRAME ? 0 : box.lo[1] - S::FRAME;
  for (int end = c.base + S::ROWS; end - S::FRAME < box.hi[1] && end < n[1]; end += S::STEP_ROWS) c.bands++;
  const int blocks = c.strips.count * c.bands;

  for (int chunks = 1; chunks <= (planes + 4 * K - 1) / (4 * K) && (ptrdiff_t)(chunks - 1) * blocks < 16 * (ptrdiff_t)processors; chunks++) {
    const int       height = (planes + chunks - 1) / chunks;
    const ptrdiff_t cost = (((ptrdiff_t)blocks * chunks + processors - 1) / processors) * (height + 2 * K + 2);

    if (least && cost >= least) continue;
    least = cost;
    c.chunks = chunks;
    c.height = height;
  }
  return c;
}

#endif
