/*
   Passes of conjugate gradients on the device. A block takes one chunk of the tree of grid_kernels.h.
*/
#include "../cg_cell.h"
#include "fold_cuda.h"

template <class T> struct Typed;
template <> struct Typed<double> {
  typedef StrataCG_d CG;
};
template <> struct Typed<float> {
  typedef StrataCG_f CG;
};

/* Numbers of each thread that are under way together */
constexpr int BURST = 4;

template <class T, bool NEWP, bool NEWW>
static __global__ void __launch_bounds__(STRATA_LANES)
    update(ptrdiff_t n, const typename Typed<T>::CG *cg, const T *__restrict__ z, const T *__restrict__ s, T *p, T *w, T *x, T *r, T *rr)
{
  __shared__ T    lanes[STRATA_LANES];
  const ptrdiff_t first = (ptrdiff_t)blockIdx.x * STRATA_CHUNK;
  const int       m = (int)(n - first < STRATA_CHUNK ? n - first : STRATA_CHUNK);
  const T         beta = cg->beta, alpha = cg->alpha;
  T               sum = 0;

  if (cg->done) return;
  for (int i0 = threadIdx.x; i0 < m; i0 += BURST * STRATA_LANES) {
    T pt[BURST], wt[BURST], xt[BURST], rt[BURST], zt[BURST], st[BURST];

#pragma unroll
    for (int q = 0; q < BURST; q++) {
      const ptrdiff_t i = first + i0 + q * STRATA_LANES;

      if (i0 + q * STRATA_LANES >= m) break;
      pt[q] = p[i];
      if (NEWP) zt[q] = z[i];
      st[q] = s[i];
      if (NEWW) wt[q] = w[i];
      xt[q] = x[i];
      rt[q] = r[i];
    }
#pragma unroll
    for (int q = 0; q < BURST; q++) {
      const ptrdiff_t i = first + i0 + q * STRATA_LANES;

      if (i0 + q * STRATA_LANES >= m) break;
      if (NEWP) p[i] = pt[q] = strata_cg_add(beta, pt[q], zt[q]);
      if (NEWW) w[i] = st[q] = strata_cg_add(beta, wt[q], st[q]);
      x[i] = strata_cg_add(alpha, pt[q], xt[q]);
      r[i] = rt[q] = strata_cg_add(-alpha, st[q], rt[q]);
      sum = strata_reduce_take(STRATA_REDUCE_DOT, sum, rt[q], rt[q]);
    }
  }
  sum = fold(lanes, sum);
  if (!threadIdx.x) rr[blockIdx.x] = sum;
}

template <class T>
static __global__ void __launch_bounds__(STRATA_LANES) direction(ptrdiff_t n, const typename Typed<T>::CG *cg, const T *__restrict__ z, T *p)
{
  const ptrdiff_t i = (ptrdiff_t)blockIdx.x * STRATA_LANES + threadIdx.x;

  if (i < n && !cg->done) p[i] = strata_cg_add(cg->beta, p[i], z[i]);
}

template <class T, bool PRODUCT>
static __global__ void __launch_bounds__(STRATA_LANES) sums(ptrdiff_t n, const typename Typed<T>::CG *cg, const T *__restrict__ r,
                                                            const T *__restrict__ z, const T *__restrict__ s, T *gamma, T *delta, T *zz)
{
  __shared__ T    lanes[STRATA_LANES];
  const ptrdiff_t first = (ptrdiff_t)blockIdx.x * STRATA_CHUNK;
  const int       m = (int)(n - first < STRATA_CHUNK ? n - first : STRATA_CHUNK);
  T               g = 0, d = 0, q = 0;

  if (cg->done) return;
#pragma unroll 4
  for (int i = threadIdx.x; i < m; i += STRATA_LANES) {
    const T zi = z[first + i];

    g = strata_reduce_take(STRATA_REDUCE_DOT, g, r[first + i], zi);
    if (PRODUCT) d = strata_reduce_take(STRATA_REDUCE_DOT, d, zi, s[first + i]);
    q = strata_reduce_take(STRATA_REDUCE_DOT, q, zi, zi);
  }
  g = fold(lanes, g);
  if (PRODUCT) d = fold(lanes, d);
  q = fold(lanes, q);
  if (threadIdx.x) return;
  gamma[blockIdx.x] = g;
  if (PRODUCT) delta[blockIdx.x] = d;
  zz[blockIdx.x] = q;
}

/* The sum of the results of chunks, by one block; the result is that of thread 0 */
template <class T> static __device__ T tree(T *lanes, ptrdiff_t n, T *work)
{
  if (!n) return 0;
  while (n > 1) {
    const ptrdiff_t chunks = (n + STRATA_CHUNK - 1) / STRATA_CHUNK;
    T              *to = work + n;

    for (ptrdiff_t c = 0; c < chunks; c++) {
      const ptrdiff_t first = c * STRATA_CHUNK;
      const int       m = (int)(n - first < STRATA_CHUNK ? n - first : STRATA_CHUNK);
      T               a = 0;

      for (int i = threadIdx.x; i < m; i += STRATA_LANES) a = strata_reduce_take(STRATA_REDUCE_SUM, a, work[first + i], T(0));
      a = fold(lanes, a);
      if (!threadIdx.x) to[c] = a;
    }
    __syncthreads();
    work = to;
    n = chunks;
  }
  return *work;
}

/* delta is found only where it was made: its run is empty otherwise, and the sum of no use */
template <class T>
static __global__ void __launch_bounds__(STRATA_LANES)
    judge(ptrdiff_t chunks, ptrdiff_t run, typename Typed<T>::CG *cg, T *work, T (*history)[STRATA_CG_SUMS])
{
  __shared__ T lanes[STRATA_LANES];
  T            sum[STRATA_CG_SUMS];

  if (cg->done) return;
  for (int q = 0; q < STRATA_CG_SUMS; q++) {
    sum[q] = tree(lanes, chunks, work + q * run);
    __syncthreads();
  }
  if (threadIdx.x) return;
  for (int q = 0; q < STRATA_CG_SUMS; q++) history[cg->its][q] = sum[q];
  strata_cg_judge(cg, sum);
}

template <class T>
static int update_launch(ptrdiff_t n, const typename Typed<T>::CG *cg, const T *z, const T *s, T *p, T *w, T *x, T *r, T *work, void *stream)
{
  const unsigned chunks = (unsigned)((n + STRATA_CHUNK - 1) / STRATA_CHUNK);
  T             *rr = work + STRATA_CG_RR * StrataReduceWork(n);
  cudaStream_t   q = (cudaStream_t)stream;

  if (!n) return 0;
  if (z && w)
    update<T, true, true><<<chunks, STRATA_LANES, 0, q>>>(n, cg, z, s, p, w, x, r, rr);
  else if (z)
    update<T, true, false><<<chunks, STRATA_LANES, 0, q>>>(n, cg, z, s, p, w, x, r, rr);
  else if (w)
    update<T, false, true><<<chunks, STRATA_LANES, 0, q>>>(n, cg, z, s, p, w, x, r, rr);
  else
    update<T, false, false><<<chunks, STRATA_LANES, 0, q>>>(n, cg, z, s, p, w, x, r, rr);
  return (int)cudaGetLastError();
}

template <class T> static int direction_launch(ptrdiff_t n, const typename Typed<T>::CG *cg, const T *z, T *p, void *stream)
{
  if (!n) return 0;
  direction<T><<<(unsigned)((n + STRATA_LANES - 1) / STRATA_LANES), STRATA_LANES, 0, (cudaStream_t)stream>>>(n, cg, z, p);
  return (int)cudaGetLastError();
}

template <class T> static int sums_launch(ptrdiff_t n, const typename Typed<T>::CG *cg, const T *r, const T *z, const T *s, T *work, void *stream)
{
  const unsigned  chunks = (unsigned)((n + STRATA_CHUNK - 1) / STRATA_CHUNK);
  const ptrdiff_t run = StrataReduceWork(n);
  T              *gamma = work + STRATA_CG_GAMMA * run, *delta = work + STRATA_CG_DELTA * run, *zz = work + STRATA_CG_ZZ * run;

  if (!n) return 0;
  if (s)
    sums<T, true><<<chunks, STRATA_LANES, 0, (cudaStream_t)stream>>>(n, cg, r, z, s, gamma, delta, zz);
  else
    sums<T, false><<<chunks, STRATA_LANES, 0, (cudaStream_t)stream>>>(n, cg, r, z, s, gamma, delta, zz);
  return (int)cudaGetLastError();
}

template <class T> static int judge_launch(ptrdiff_t n, typename Typed<T>::CG *cg, T *work, T (*history)[STRATA_CG_SUMS], void *stream)
{
  judge<T><<<1, STRATA_LANES, 0, (cudaStream_t)stream>>>((n + STRATA_CHUNK - 1) / STRATA_CHUNK, StrataReduceWork(n), cg, work, history);
  return (int)cudaGetLastError();
}

#define TYPED_CALLS(REAL, t)                                                                                                                         \
  int StrataCGUpdateCUDA_##t(ptrdiff_t n, const StrataCG_##t *cg, const REAL *z, const REAL *s, REAL *p, REAL *w, REAL *x, REAL *r, REAL *work,      \
                             void *stream)                                                                                                           \
  {                                                                                                                                                  \
    return update_launch<REAL>(n, cg, z, s, p, w, x, r, work, stream);                                                                               \
  }                                                                                                                                                  \
  int StrataCGDirectionCUDA_##t(ptrdiff_t n, const StrataCG_##t *cg, const REAL *z, REAL *p, void *stream)                                           \
  {                                                                                                                                                  \
    return direction_launch<REAL>(n, cg, z, p, stream);                                                                                              \
  }                                                                                                                                                  \
  int StrataCGSumsCUDA_##t(ptrdiff_t n, const StrataCG_##t *cg, const REAL *r, const REAL *z, const REAL *s, REAL *work, void *stream)               \
  {                                                                                                                                                  \
    return sums_launch<REAL>(n, cg, r, z, s, work, stream);                                                                                          \
  }                                                                                                                                                  \
  int StrataCGJudgeCUDA_##t(ptrdiff_t n, StrataCG_##t *cg, REAL *work, REAL(*history)[STRATA_CG_SUMS], void *stream)                                 \
  {                                                                                                                                                  \
    return judge_launch<REAL>(n, cg, work, history, stream);                                                                                         \
  }
TYPED_CALLS(double, d)
TYPED_CALLS(float, f)
