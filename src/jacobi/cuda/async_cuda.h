/*
   Copies from memory to shared memory that run while a warp computes
*/
#ifndef STRATA_ASYNC_CUDA_H
#define STRATA_ASYNC_CUDA_H

/* Copies BYTES (4, 8 or 16) where all threads see them after copies_wait() and a barrier; valid = 0 writes zeros instead */
template <int BYTES> static __device__ __forceinline__ void copy_async(void *to, const void *from, int valid)
{
  const unsigned address = (unsigned)__cvta_generic_to_shared(to);

  if (BYTES == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(valid) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(BYTES == 16 ? 8 : BYTES), "r"(valid) : "memory");
}

/* Ends a group of copies; all groups but the last N are there */
static __device__ __forceinline__ void copies_end(void)
{
  asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int N> static __device__ __forceinline__ void copies_wait(void)
{
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

#endif
