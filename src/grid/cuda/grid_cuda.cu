/*
   Packing and reductions on the device
*/
#include "../grid_kernels.h"

template <class T> static __global__ void pack(StrataPackList list, int n0, int n1, int nv, const T *__restrict__ x, ptrdiff_t ld)
{
  const StrataBox box = list.box[blockIdx.y];
  T *const        to = (T *)list.to[blockIdx.y];
  const ptrdiff_t e0 = box.hi[0] - box.lo[0], e1 = box.hi[1] - box.lo[1], cells = strata_box_size(&box);
  const ptrdiff_t step = (ptrdiff_t)gridDim.x * blockDim.x;

  for (ptrdiff_t q = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x; q < cells * nv; q += step) {
    const ptrdiff_t v = q / cells, c = q % cells;
    const ptrdiff_t i = box.lo[0] + c % e0, j = box.lo[1] + c / e0 % e1, k = box.lo[2] + c / (e0 * e1);

    to[q] = x[v * ld + i + n0 * (j + n1 * k)];
  }
}

template <class T> static int pack_launch(const StrataPackList *list, const int n[3], int nv, const void *x, ptrdiff_t ld, cudaStream_t stream)
{
  ptrdiff_t largest = 1;

  for (int b = 0; b < list->count; b++)
    if (strata_box_size(&list->box[b]) > largest) largest = strata_box_size(&list->box[b]);
  largest = (largest * nv + 255) / 256;
  pack<T><<<dim3((unsigned)(largest < 1024 ? largest : 1024), (unsigned)list->count), 256, 0, stream>>>(*list, n[0], n[1], nv, (const T *)x, ld);
  return (int)cudaGetLastError();
}

int StrataPackCUDA(const StrataPackList *list, const int n[3], int bytes, int nv, const void *x, ptrdiff_t ld, void *stream)
{
  if (!list->count || !nv) return 0;
  switch (bytes) {
  case 1: return pack_launch<unsigned char>(list, n, nv, x, ld, (cudaStream_t)stream);
  case 4: return pack_launch<float>(list, n, nv, x, ld, (cudaStream_t)stream);
  case 8: return pack_launch<double>(list, n, nv, x, ld, (cudaStream_t)stream);
  default: return (int)cudaErrorInvalidValue;
  }
}

/* One chunk a block, the tree of grid_kernels.h */
template <class T, StrataReduction OP>
static __global__ void __launch_bounds__(STRATA_LANES) reduce(ptrdiff_t n, const T *__restrict__ x, const T *__restrict__ y, T *result)
{
  __shared__ T    lanes[STRATA_LANES];
  const ptrdiff_t first = (ptrdiff_t)blockIdx.x * STRATA_CHUNK;
  const int       t = threadIdx.x, m = (int)(n - first < STRATA_CHUNK ? n - first : STRATA_CHUNK);
  T               a = strata_reduce_identity(OP, T(0));

  x += first;
  if (OP == STRATA_REDUCE_DOT || OP == STRATA_REDUCE_MAXDIFF)
    y += first;
  else
    y = x;
#pragma unroll 8
  for (int i = t; i < m; i += STRATA_LANES) a = strata_reduce_take(OP, a, x[i], y[i]);
  lanes[t] = a;
  for (int s = STRATA_LANES / 2; s >= 32; s /= 2) {
    __syncthreads();
    if (t < s) lanes[t] = a = strata_reduce_join(OP, a, lanes[t + s]);
  }
  if (t < 32) {
    for (int s = 16; s; s /= 2) a = strata_reduce_join(OP, a, __shfl_down_sync(0xffffffff, a, s));
    if (!t) *(result + blockIdx.x) = a;
  }
}

template <class T> static __global__ void reduce_finish(StrataReduction op, ptrdiff_t n, const T *from, T *to)
{
  *to = n ? *from : strata_reduce_identity(op, T(0));
}

template <class T> static int reduce_all(StrataReduction op, ptrdiff_t n, const T *x, const T *y, T *work, cudaStream_t stream)
{
  const StrataReduction asked = op;
  const ptrdiff_t       count = n;

  while (n) {
    const ptrdiff_t chunks = (n + STRATA_CHUNK - 1) / STRATA_CHUNK;

    switch (op) {
    case STRATA_REDUCE_SUM: reduce<T, STRATA_REDUCE_SUM><<<(unsigned)chunks, STRATA_LANES, 0, stream>>>(n, x, y, work); break;
    case STRATA_REDUCE_SUMABS: reduce<T, STRATA_REDUCE_SUMABS><<<(unsigned)chunks, STRATA_LANES, 0, stream>>>(n, x, y, work); break;
    case STRATA_REDUCE_DOT: reduce<T, STRATA_REDUCE_DOT><<<(unsigned)chunks, STRATA_LANES, 0, stream>>>(n, x, y, work); break;
    case STRATA_REDUCE_MAX: reduce<T, STRATA_REDUCE_MAX><<<(unsigned)chunks, STRATA_LANES, 0, stream>>>(n, x, y, work); break;
    case STRATA_REDUCE_MAXABS: reduce<T, STRATA_REDUCE_MAXABS><<<(unsigned)chunks, STRATA_LANES, 0, stream>>>(n, x, y, work); break;
    case STRATA_REDUCE_MAXDIFF: reduce<T, STRATA_REDUCE_MAXDIFF><<<(unsigned)chunks, STRATA_LANES, 0, stream>>>(n, x, y, work); break;
    }
    op = StrataReduceAgain(op);
    x = work;
    work += chunks;
    if (chunks == 1) break;
    n = chunks;
  }
  reduce_finish<T><<<1, 1, 0, stream>>>(asked, count, x, work);
  return (int)cudaGetLastError();
}

int StrataReduceCUDA_d(StrataReduction op, ptrdiff_t n, const double *x, const double *y, double *work, void *stream)
{
  return reduce_all(op, n, x, y, work, (cudaStream_t)stream);
}

int StrataReduceCUDA_f(StrataReduction op, ptrdiff_t n, const float *x, const float *y, float *work, void *stream)
{
  return reduce_all(op, n, x, y, work, (cudaStream_t)stream);
}
