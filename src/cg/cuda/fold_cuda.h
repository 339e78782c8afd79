/*
   The end of a reduction in a block of threads
*/
#ifndef STRATA_FOLD_CUDA_H
#define STRATA_FOLD_CUDA_H

#include "../../grid/grid_kernels.h"

/* The lanes of a block, folded in halves; the result is that of thread 0. The block is at one before it calls. */
template <class T> static __device__ __forceinline__ T fold(T *lanes, T a)
{
  const int t = threadIdx.x;

  __syncthreads();
  lanes[t] = a;
  for (int s = STRATA_LANES / 2; s >= 32; s /= 2) {
    __syncthreads();
    if (t < s) lanes[t] = a = a + lanes[t + s];
  }
  if (t < 32)
    for (int s = 16; s; s /= 2) a = a + __shfl_down_sync(0xffffffff, a, s);
  return a;
}

#endif
