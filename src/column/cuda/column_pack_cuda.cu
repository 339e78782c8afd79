/*
   Vectors in the order and the precision of the solve, on the device: a thread has a number
*/
#include "../column_pack_kernels.h"

constexpr int THREADS = 256;

template <class T>
static __global__ void __launch_bounds__(THREADS)
    pack(ptrdiff_t n, const int *place, const double *by, int nv, const double *from, ptrdiff_t ldf, T *to, ptrdiff_t ldt)
{
  const ptrdiff_t item = (ptrdiff_t)blockIdx.x * THREADS + threadIdx.x, i = item % n, v = item / n;

  if (v >= nv) return;
  const ptrdiff_t at = place ? place[i] : i;

  to[v * ldt + i] = at < 0 ? (T)0 : (T)((by ? by[2 * v] : 1) * from[v * ldf + at]);
}

template <class T>
static __global__ void __launch_bounds__(THREADS)
    unpack(ptrdiff_t n, const int *place, const double *by, int nv, const T *from, ptrdiff_t ldf, const double *add, double *to, ptrdiff_t ldt)
{
  const ptrdiff_t item = (ptrdiff_t)blockIdx.x * THREADS + threadIdx.x, i = item % n, v = item / n;

  if (v >= nv) return;
  const ptrdiff_t at = place ? place[i] : i;
  const double    value = (by ? by[2 * v] : 1) * from[v * ldf + i];

  if (at >= 0) to[v * ldt + at] = add ? add[v * ldt + at] + value : value;
}

#define ENTRY_POINTS(T, S)                                                                                                                           \
  int StrataPackCUDA_##S(ptrdiff_t n, const int *place, const double *by, int nv, const double *from, ptrdiff_t ldf, T *to, ptrdiff_t ldt,           \
                         void *stream)                                                                                                               \
  {                                                                                                                                                  \
    if (!n || !nv) return 0;                                                                                                                         \
    pack<T><<<(unsigned)((n * nv + THREADS - 1) / THREADS), THREADS, 0, (cudaStream_t)stream>>>(n, place, by, nv, from, ldf, to, ldt);               \
    return (int)cudaGetLastError();                                                                                                                  \
  }                                                                                                                                                  \
  int StrataUnpackCUDA_##S(ptrdiff_t n, const int *place, const double *by, int nv, const T *from, ptrdiff_t ldf, const double *add, double *to,     \
                           ptrdiff_t ldt, void *stream)                                                                                              \
  {                                                                                                                                                  \
    if (!n || !nv) return 0;                                                                                                                         \
    unpack<T><<<(unsigned)((n * nv + THREADS - 1) / THREADS), THREADS, 0, (cudaStream_t)stream>>>(n, place, by, nv, from, ldf, add, to, ldt);        \
    return (int)cudaGetLastError();                                                                                                                  \
  }
ENTRY_POINTS(double, d)
ENTRY_POINTS(float, f)
