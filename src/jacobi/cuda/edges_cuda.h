/*
   Rows at the seams of warps that are one above the other, each with W columns a lane, in shared memory
*/
#ifndef STRATA_EDGES_CUDA_H
#define STRATA_EDGES_CUDA_H

#include "cycle_cuda.h"

/* The first and the last rows of all warps, and those next to the patch of all of them, before or after a sweep */
template <class T, int W, int WARPS> struct WarpEdges {
  Pack<T, 2> row[WARPS + 2][2][W / 2][WARP];

  __device__ __forceinline__ void take(T (&to)[W], int warp, int last) const
  {
#pragma unroll
    for (int q = 0; q < W / 2; q++) {
      const Pack<T, 2> p = row[warp + 1][last][q][threadIdx.x % WARP];

      to[2 * q] = p.v[0];
      to[2 * q + 1] = p.v[1];
    }
  }
  __device__ __forceinline__ void put(const T (&from)[W], int warp, int last)
  {
#pragma unroll
    for (int q = 0; q < W / 2; q++) {
      Pack<T, 2> p;

      p.v[0] = from[2 * q];
      p.v[1] = from[2 * q + 1];
      row[warp + 1][last][q][threadIdx.x % WARP] = p;
    }
  }
};

#endif
