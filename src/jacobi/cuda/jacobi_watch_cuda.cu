/*
   Tests for convergence that are looked at later, on the device
*/
#include "../jacobi_watch_kernels.h"

#define THREADS 256

static __global__ void watch(const double *number, int root, double low, double high, int index, double *record)
{
  strata_watch(number, root, low, high, index, record);
}

int StrataWatchCUDA(const double *number, int root, double low, double high, int index, double record[], void *stream)
{
  watch<<<1, 1, 0, (cudaStream_t)stream>>>(number, root, low, high, index, record);
  return (int)cudaGetLastError();
}

static __global__ void keep(ptrdiff_t n, const double *__restrict__ x, int index, const double *record, double *__restrict__ kept)
{
  if (*record != index) return;
  for (ptrdiff_t i = (ptrdiff_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += (ptrdiff_t)gridDim.x * THREADS) kept[i] = x[i];
}

int StrataWatchKeepCUDA(ptrdiff_t n, const double *x, int index, const double record[], double *kept, void *stream)
{
  const ptrdiff_t blocks = (n + THREADS - 1) / THREADS;

  /* few blocks: most of these kernels do nothing */
  if (n) keep<<<(unsigned)(blocks < 512 ? blocks : 512), THREADS, 0, (cudaStream_t)stream>>>(n, x, index, record, kept);
  return (int)cudaGetLastError();
}
