/*
   Lean operators on the device: the operator is applied while p, x and r are updated. A block of threads takes STRATA_CG_LEAN_X x _Y columns and
   walks up through STRATA_CG_LEAN_Z levels; the new p of a level, with a ring of cells around, waits in shared memory for its neighbours.
*/
#include "../cg_cell.h"
#include "fold_cuda.h"

template <class T> struct Typed;
template <> struct Typed<double> {
  typedef StrataCG_d     CG;
  typedef StrataCGLean_d Lean;
};
template <> struct Typed<float> {
  typedef StrataCG_f     CG;
  typedef StrataCGLean_f Lean;
};

constexpr int X = STRATA_CG_LEAN_X, Y = STRATA_CG_LEAN_Y, Z = STRATA_CG_LEAN_Z;
static_assert(X * Y == STRATA_LANES, "a block is one set of lanes");

template <class T> static __device__ __forceinline__ void column_numbers(const typename Typed<T>::Lean &q, int i, int j, T (&column)[LEAN_COLUMN])
{
  const ptrdiff_t columns = (ptrdiff_t)q.n[0] * q.n[1], id = i + (ptrdiff_t)q.n[0] * j;
  const bool      inside = i < q.n[0] && j < q.n[1];

#pragma unroll
  for (int m = 0; m < LEAN_COLUMN; m++) column[m] = inside ? q.column[m * columns + id] : 0;
}

static __device__ __forceinline__ unsigned block_number()
{
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

template <class T>
static __global__ void __launch_bounds__(STRATA_LANES)
    step(__grid_constant__ const typename Typed<T>::Lean q, const typename Typed<T>::CG *cg, const T *__restrict__ z, const T *__restrict__ p,
         T *__restrict__ pnew, T *__restrict__ x, T *__restrict__ r, T *rr)
{
  __shared__ T tile[2][Y + 2][X + 2], lanes[STRATA_LANES];
  const int t = threadIdx.x, tx = t % X, ty = t / X, i = blockIdx.x * X + tx, j = blockIdx.y * Y + ty, k0 = blockIdx.z * Z, k1 = min(k0 + Z, q.n[2]);
  const ptrdiff_t plane = (ptrdiff_t)q.n[0] * q.n[1];
  const bool      inside = i < q.n[0] && j < q.n[1];
  const T         beta = cg->beta, alpha = cg->alpha;
  T               column[LEAN_COLUMN], sum = 0;

  if (cg->done) return;
  column_numbers(q, i, j, column);

  /* the ring: rows south and north, then columns west and east */
  const int  rx = t < 2 * X ? t % X + 1 : t < 2 * X + Y ? 0 : X + 1, ry = t < X ? 0 : t < 2 * X ? Y + 1 : (t - 2 * X) % Y + 1;
  const int  hi = blockIdx.x * X + rx - 1, hj = blockIdx.y * Y + ry - 1;
  const bool ring = t < 2 * (X + Y), there = ring && hi >= 0 && hi < q.n[0] && hj >= 0 && hj < q.n[1];

  ptrdiff_t id = i + (ptrdiff_t)q.n[0] * j + plane * k0, at = hi + (ptrdiff_t)q.n[0] * hj + plane * k0;
  T         below = inside && k0 ? strata_cg_add(beta, p[id - plane], z[id - plane]) : 0, now = inside ? strata_cg_add(beta, p[id], z[id]) : 0;
  T         beside = there ? strata_cg_add(beta, p[at], z[at]) : 0;

#pragma unroll 2
  for (int k = k0; k < k1; k++) {
    T(*layer)[X + 2] = tile[k & 1];
    const T above = inside && k + 1 < q.n[2] ? strata_cg_add(beta, p[id + plane], z[id + plane]) : 0;
    const T next = there && k + 1 < k1 ? strata_cg_add(beta, p[at + plane], z[at + plane]) : 0;
    const T xk = inside ? x[id] : 0, rk = inside ? r[id] : 0;

    layer[ty + 1][tx + 1] = now;
    if (ring) layer[ry][rx] = beside;
    __syncthreads();
    if (inside) {
      const T v[6] = {below, above, layer[ty + 1][tx], layer[ty + 1][tx + 2], layer[ty][tx + 1], layer[ty + 2][tx + 1]};
      const T level[LEAN_LEVEL] = {q.level[4 * k], q.level[4 * k + 1], q.level[4 * k + 2], q.level[4 * k + 3]};
      const T left = strata_cg_add(-alpha, strata_cg_lean_apply(level, column, q.shift, now, v), rk);

      pnew[id] = now;
      x[id] = strata_cg_add(alpha, now, xk);
      r[id] = left;
      sum = strata_reduce_take(STRATA_REDUCE_DOT, sum, left, left);
    }
    below = now;
    now = above;
    beside = next;
    id += plane;
    at += plane;
  }
  sum = fold(lanes, sum);
  if (!t) rr[block_number()] = sum;
}

template <class T>
static __global__ void __launch_bounds__(STRATA_LANES) sums(__grid_constant__ const typename Typed<T>::Lean q, const typename Typed<T>::CG *cg,
                                                            const T *__restrict__ r, const T *__restrict__ z, T *gamma, T *delta, T *zz)
{
  __shared__ T    lanes[STRATA_LANES];
  const int       t = threadIdx.x, i = blockIdx.x * X + t % X, j = blockIdx.y * Y + t / X, k0 = blockIdx.z * Z, k1 = min(k0 + Z, q.n[2]);
  const ptrdiff_t plane = (ptrdiff_t)q.n[0] * q.n[1];
  const bool      inside = i < q.n[0] && j < q.n[1];
  T               column[LEAN_COLUMN], g = 0, d = 0, s = 0;
  ptrdiff_t       id = i + (ptrdiff_t)q.n[0] * j + plane * k0;

  if (cg->done) return;
  column_numbers(q, i, j, column);
  if (inside) {
    T below = k0 ? z[id - plane] : 0;

#pragma unroll 4
    for (int k = k0; k < k1; k++, id += plane) {
      const T u = z[id], west = i ? z[id - 1] : 0, south = j ? z[id - q.n[0]] : 0, y = u - below;
      const T level[LEAN_LEVEL] = {q.level[4 * k], q.level[4 * k + 1], q.level[4 * k + 2], q.level[4 * k + 3]};

      g = strata_reduce_take(STRATA_REDUCE_DOT, g, r[id], u);
      s = strata_reduce_take(STRATA_REDUCE_DOT, s, u, u);
      d = strata_reduce_take(STRATA_REDUCE_DOT, d, -column[LEAN_AREA] * level[LEAN_LOWER] * y, y);
      d = strata_cg_lean_energy(level, column, q.shift, u, west, south, d);
      below = u;
    }
  }
  g = fold(lanes, g);
  d = fold(lanes, d);
  s = fold(lanes, s);
  if (t) return;
  gamma[block_number()] = g;
  delta[block_number()] = d;
  zz[block_number()] = s;
}

static dim3 blocks(const int n[3])
{
  return dim3((unsigned)((n[0] + X - 1) / X), (unsigned)((n[1] + Y - 1) / Y), (unsigned)((n[2] + Z - 1) / Z));
}

#define TYPED_CALLS(REAL, t)                                                                                                                         \
  int StrataCGLeanStepCUDA_##t(const StrataCGLean_##t *q, const StrataCG_##t *cg, const REAL *z, const REAL *p, REAL *pnew, REAL *x, REAL *r,        \
                               REAL *work, void *stream)                                                                                             \
  {                                                                                                                                                  \
    const ptrdiff_t run = StrataReduceWork(StrataCGLeanBlocks_##t(q->n) * STRATA_CHUNK);                                                             \
                                                                                                                                                     \
    step<REAL><<<blocks(q->n), STRATA_LANES, 0, (cudaStream_t)stream>>>(*q, cg, z, p, pnew, x, r, work + STRATA_CG_RR * run);                        \
    return (int)cudaGetLastError();                                                                                                                  \
  }                                                                                                                                                  \
  int StrataCGLeanSumsCUDA_##t(const StrataCGLean_##t *q, const StrataCG_##t *cg, const REAL *r, const REAL *z, REAL *work, void *stream)            \
  {                                                                                                                                                  \
    const ptrdiff_t run = StrataReduceWork(StrataCGLeanBlocks_##t(q->n) * STRATA_CHUNK);                                                             \
                                                                                                                                                     \
    sums<REAL><<<blocks(q->n), STRATA_LANES, 0, (cudaStream_t)stream>>>(*q, cg, r, z, work + STRATA_CG_GAMMA * run, work + STRATA_CG_DELTA * run,    \
                                                                        work + STRATA_CG_ZZ * run);                                                  \
    return (int)cudaGetLastError();                                                                                                                  \
  }
TYPED_CALLS(double, d)
TYPED_CALLS(float, f)
