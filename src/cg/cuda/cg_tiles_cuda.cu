/*
   The two passes over tiles on the device. Both give a column to a thread. The first one makes the new p of the four columns around once more, from
   numbers that are in the cache; the second one solves the columns west and south of its tile once more, with t and z in shared memory.
*/
#include "../cg_tiles_cell.h"
#include "../../sys/cuda/bulk_cuda.h"

template <class T> struct Typed;
template <> struct Typed<double> {
  typedef StrataCG_d      CG;
  typedef StrataCGTiles_d Tiles;
};
template <> struct Typed<float> {
  typedef StrataCG_f      CG;
  typedef StrataCGTiles_f Tiles;
};

typedef unsigned char Range[2];

constexpr int WIDTH = STRATA_CG_TILE_WIDTH;

/* Columns of a tile, and with the column west and the row south of it */
constexpr int ROWS = STRATA_CG_TILE_ROWS, THREADS = WIDTH * ROWS, SPAN = WIDTH + 1, PLANE = SPAN * (ROWS + 1);

/* A tree of additions in halves over the lanes of a warp; the result is that of lane 0 */
template <class T> static __device__ __forceinline__ T halves(T a, int n)
{
  for (int s = n / 2; s; s /= 2) a = a + __shfl_down_sync(0xffffffff, a, s);
  return a;
}

/* The sums over the threads of the tile, left in `sum` of all warps' first lanes */
template <class T> static __device__ __forceinline__ void block_sums(const T own[STRATA_CG_SUMS], T (*rows)[ROWS], T *sum)
{
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  __syncthreads();
  if (warp < ROWS)
#pragma unroll
    for (int m = 0; m < STRATA_CG_SUMS; m++) {
      const T a = halves(own[m], WIDTH);

      if (!lane) rows[m][warp] = a;
    }
  __syncthreads();
  if (warp < STRATA_CG_SUMS) *sum = halves(lane < ROWS ? rows[warp][lane] : T(0), ROWS);
}

/* The sums of all tiles. The block that is last finishes them, and the step. */
template <class T>
static __device__ void finish(int tile, const T own[STRATA_CG_SUMS], T *work, typename Typed<T>::CG *cg, T (*history)[STRATA_CG_SUMS])
{
  __shared__ T   rows[STRATA_CG_SUMS][ROWS], all[STRATA_CG_SUMS];
  __shared__ int last;
  const int      warp = threadIdx.x / 32, lane = threadIdx.x % 32, tiles = gridDim.x * gridDim.y;
  unsigned      *count = (unsigned *)(work + STRATA_CG_SUMS * (ptrdiff_t)tiles);
  T              sum, thread[STRATA_CG_SUMS] = {0, 0, 0, 0};

  block_sums(own, rows, &sum);
  if (warp < STRATA_CG_SUMS && !lane) {
    work[warp * (ptrdiff_t)tiles + tile] = sum;
    __threadfence();
  }
  __syncthreads();
  if (!threadIdx.x) last = atomicAdd(count, 1u) == (unsigned)tiles - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
#pragma unroll 4
  for (int t = warp < ROWS ? (int)threadIdx.x : tiles; t < tiles; t += THREADS)
#pragma unroll
    for (int m = 0; m < STRATA_CG_SUMS; m++) thread[m] = thread[m] + __ldcg(&work[m * (ptrdiff_t)tiles + t]);
  block_sums(thread, rows, &sum);
  if (warp < STRATA_CG_SUMS && !lane) all[warp] = sum;
  __syncthreads();
  if (threadIdx.x) return;
  const T total[STRATA_CG_SUMS] = {all[0], all[1], all[2], all[3]};

  *count = 0;
  for (int m = 0; m < STRATA_CG_SUMS; m++) (history ? history[cg->its] : cg->sum)[m] = total[m];
  if (history) strata_cg_judge(cg, total);
}

/* What has been computed of a number by now is computed here, not where it is needed, from much that would have to be kept */
static __device__ __forceinline__ void settle(double &a)
{
  asm volatile("" : "+d"(a));
}

static __device__ __forceinline__ void settle(float &a)
{
  asm volatile("" : "+f"(a));
}

/* ---- p, r, x ------------------------------------------------------------------------------------------------------------------------ */

/* Where a thread finds a column: its first cell, and its levels, none if it is not there */
struct Column {
  ptrdiff_t cell;
  int       first, end;

  template <class Q> __device__ __forceinline__ Column(const Q &q, const Range *range, int x, int y, bool wanted)
  {
    const int  i = strata_tile_around(x, q.n[0], q.around[0]), j = strata_tile_around(y, q.n[1], q.around[1]);
    const bool there = wanted && i >= 0 && j >= 0;

    cell = there ? strata_tile_cell(q.n, q.pitch, i, j, 0) : 0;
    first = there ? range[i + (ptrdiff_t)q.n[0] * j][0] : 0;
    end = there ? range[i + (ptrdiff_t)q.n[0] * j][1] : 0;
  }

  __device__ __forceinline__ bool live(int k) const
  {
    return k >= first && k < end;
  }
};

/* How far it is to the column next to (x,y); to itself if there is none: no leg leads there */
template <class Q> static __device__ __forceinline__ ptrdiff_t next_to(const Q &q, int x, int y, int dx, int dy)
{
  const int i = strata_tile_around(x + dx, q.n[0], q.around[0]), j = strata_tile_around(y + dy, q.n[1], q.around[1]);

  return i < 0 || j < 0 ? 0 : strata_tile_cell(q.n, q.pitch, i - x, j - y, 0);
}

template <class T, bool X>
static __global__ void __launch_bounds__(THREADS, 3)
    step(const __grid_constant__ typename Typed<T>::Tiles q, const Range *__restrict__ range, const typename Typed<T>::CG *cg,
         const T *__restrict__ z, const T *__restrict__ p, T *__restrict__ pnew, T *__restrict__ r, T *__restrict__ x)
{
  const int i = blockIdx.x * WIDTH + threadIdx.x % WIDTH, j = blockIdx.y * ROWS + threadIdx.x / WIDTH;

  kernel_wait();
  const int    done = cg->done;
  const Column c(q, range, i, j, i < q.n[0] && j < q.n[1]);
  int          begin = c.first < c.end ? c.first : q.n[2], end = c.end;

  for (int s = 16; s; s /= 2) { /* all lanes of a warp are at the same level */
    begin = min(begin, __shfl_xor_sync(0xffffffff, begin, s));
    end = max(end, __shfl_xor_sync(0xffffffff, end, s));
  }
  if (done || begin >= end) return;
  const T         beta = cg->beta, alpha = cg->alpha, owed = X ? cg->owed : T(0);
  const ptrdiff_t west = next_to(q, i, j, -1, 0), east = next_to(q, i, j, 1, 0), south = next_to(q, i, j, 0, -1), north = next_to(q, i, j, 0, 1);
  ptrdiff_t       at = c.cell + q.pitch * begin;
  T               below = 0, bottom = 0, before = 0, now = 0;

  if (c.live(begin)) {
    before = p[at];
    now = strata_cg_add(beta, before, z[at]);
  }
#pragma unroll 2
  for (int k = begin; k < end; k++, at += q.pitch) {
    T old = 0, above = 0, top = 0;

    if (c.live(k + 1)) {
      old = p[at + q.pitch];
      above = z[at + q.pitch];
      top = __ldg(q.bottom + at + q.pitch);
    }
    if (c.live(k)) {
      const T pw = p[at + west], zw = z[at + west], pe = p[at + east], ze = z[at + east];
      const T ps = p[at + south], zs = z[at + south], pn = p[at + north], zn = z[at + north];
      const T rk = r[at], xk = X ? x[at] : T(0), excess = __ldg(q.excess + at);
      const T leg[STRATA_LEGS] = {
          __ldg(q.west + at), east ? __ldg(q.west + at + east) : T(0), __ldg(q.south + at), north ? __ldg(q.south + at + north) : T(0), bottom, top};
      const T up = k + 1 < c.end ? strata_cg_add(beta, old, above) : T(0);
      const T v[STRATA_LEGS] = {
          strata_cg_add(beta, pw, zw), strata_cg_add(beta, pe, ze), strata_cg_add(beta, ps, zs), strata_cg_add(beta, pn, zn), below, up};

      pnew[at] = now;
      r[at] = strata_cg_add(-alpha, strata_star(excess, leg, now, v), rk);
      if (X) x[at] = strata_cg_add(alpha, now, strata_cg_add(owed, before, xk));
    }
    below = now;
    before = old;
    now = strata_cg_add(beta, old, above);
    bottom = top;
  }
  kernel_next();
}

/* ---- z and the sums ----------------------------------------------------------------------------------------------------------------- */

/* Solves a column. box: its first level in shared memory, which is left with z; v, s: where it writes z, the legs west and south; FEW: levels whose
   numbers are asked for at once */
template <class T, int LEVELS, int FEW>
static __device__ __forceinline__ void solve(const typename Typed<T>::Tiles &q, const Column &c, bool writes, const T *__restrict__ r,
                                             T *__restrict__ z, T *box, T (&v)[LEVELS], T (&s)[LEVELS], T sum[STRATA_CG_SUMS])
{
  ptrdiff_t at = c.cell;
  T         y = 0, before = 0, next = 0, gamma = 0, rr = 0, zz = 0;

  /* upwards: a level of the box gets t of the level above */
#pragma unroll
  for (int k0 = 0; k0 < LEVELS; k0 += FEW) {
    T rk[FEW], bottom[FEW], inverse[FEW];

#pragma unroll
    for (int m = 0; m < FEW; m++) {
      const bool live = c.live(k0 + m);

      rk[m] = live ? r[at] : T(0);
      bottom[m] = live ? __ldg(q.bottom + at) : T(0);
      inverse[m] = live ? __ldg(q.inverse + at) : T(0);
      at += q.pitch;
    }
#pragma unroll
    for (int m = 0; m < FEW; m++) {
      T t;

      v[k0 + m] = strata_tile_up(bottom[m], before, inverse[m], rk[m], &t, &y);
      gamma = strata_cg_add(y, v[k0 + m], gamma);
      rr = strata_cg_add(rk[m], rk[m], rr);
      settle(gamma);
      settle(rr);
      if (k0 + m && k0 + m < q.n[2]) box[PLANE * (k0 + m - 1)] = t;
      before = inverse[m];
    }
  }
  /* downwards; the legs are on their way meanwhile */
#pragma unroll
  for (int k = LEVELS - 1; k >= 0; k--) {
    const bool live = c.live(k);

    at -= q.pitch;
    if (live) next = strata_tile_down(k + 1 < c.end ? box[PLANE * k] : T(0), next, v[k]);
    if (k < q.n[2]) box[PLANE * k] = live ? next : T(0);
    if (live && writes) z[at] = next;
    v[k] = live && writes ? __ldg(q.west + at) : T(0);
    s[k] = live && writes ? __ldg(q.south + at) : T(0);
    if (q.zz && live) zz = strata_cg_add(next, next, zz);
  }
  sum[STRATA_CG_GAMMA] = gamma;
  sum[STRATA_CG_RR] = rr;
  sum[STRATA_CG_ZZ] = zz;
}

/* LEVELS: at least those of the columns */
template <class T, int LEVELS, int FEW, int BLOCKS>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    columns(const __grid_constant__ typename Typed<T>::Tiles q, const Range *__restrict__ range, const T *__restrict__ r, T *__restrict__ z, T *work,
            typename Typed<T>::CG *cg, T (*history)[STRATA_CG_SUMS])
{
  static_assert(LEVELS % FEW == 0, "whole batches");
  extern __shared__ __align__(16) unsigned char raw[];

  kernel_wait();
  const int    done = cg->done, from = gridDim.y - 1 - blockIdx.y; /* the rows that the other pass wrote last are still in the cache */
  const int    warp = threadIdx.x / 32, lane = threadIdx.x % 32, x0 = blockIdx.x * WIDTH, y0 = from * ROWS;
  const bool   writes = x0 + lane < q.n[0] && y0 + warp < q.n[1];
  const Column own(q, range, x0 + lane, y0 + warp, writes);
  T           *box = (T *)raw + SPAN + 1, sum[STRATA_CG_SUMS] = {0, 0, 0, 0};

  if (done) return;
  if (__syncthreads_or(own.first < own.end)) {
    T west[LEVELS], south[LEVELS], faces = 0;

    /* two warps have the row south and the column west besides */
#pragma unroll 1
    for (int part = warp < 2 ? 0 : 1; part < 2; part++) {
      const int tx = part || !warp ? lane : -1, ty = part ? warp : warp ? lane : -1;

      if (part || !warp || lane < ROWS)
        solve<T, LEVELS, FEW>(q, Column(q, range, x0 + tx, y0 + ty, part ? writes : true), part && writes, r, z, box + tx + SPAN * ty, west, south,
                              sum);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < LEVELS; k++) {
      const T *u = box + lane + SPAN * warp + PLANE * k;

      if (own.live(k)) faces = strata_tile_faces(west[k], south[k], u[0], u[-1], u[-SPAN], faces);
    }
    sum[STRATA_CG_DELTA] = strata_tile_delta(sum[STRATA_CG_GAMMA], faces);
  }
  kernel_next();
  finish(blockIdx.x + gridDim.x * from, sum, work, cg, history);
}

/* ---- in and out --------------------------------------------------------------------------------------------------------------------- */

/* One thread a column */
template <class T>
static __global__ void __launch_bounds__(128)
    set_up(const __grid_constant__ typename Typed<T>::Tiles q, const T *__restrict__ excess, const T *__restrict__ west, const T *__restrict__ south,
           const T *__restrict__ bottom, T *__restrict__ toexcess, T *__restrict__ towest, T *__restrict__ tosouth, T *__restrict__ tobottom,
           T *__restrict__ inverse, int *bad)
{
  const ptrdiff_t plane = (ptrdiff_t)q.n[0] * q.n[1], id = blockIdx.x * (ptrdiff_t)blockDim.x + threadIdx.x;

  if (id >= plane) return;
  const int       i = (int)(id % q.n[0]), j = (int)(id / q.n[0]);
  const int       east = strata_tile_around(i + 1, q.n[0], q.around[0]), north = strata_tile_around(j + 1, q.n[1], q.around[1]);
  const ptrdiff_t ide = east + (ptrdiff_t)q.n[0] * j, idn = i + (ptrdiff_t)q.n[0] * north;
  T               ratio = 0;

#pragma unroll 2
  for (int k = 0; k < q.n[2]; k++) {
    const ptrdiff_t up = plane * k, at = strata_tile_cell(q.n, q.pitch, i, j, k);
    const T         e = excess[id + up];
    const T         leg[STRATA_LEGS] = {west[id + up],   east < 0 ? T(0) : west[ide + up],
                                        south[id + up],  north < 0 ? T(0) : south[idn + up],
                                        bottom[id + up], k + 1 < q.n[2] ? bottom[id + up + plane] : T(0)};
    const T         one = strata_tile_factor(e, leg, &ratio);

    toexcess[at] = e;
    towest[at] = leg[STRATA_WEST];
    tosouth[at] = leg[STRATA_SOUTH];
    tobottom[at] = leg[STRATA_BOTTOM];
    inverse[at] = one;
    if (!(one - one == 0)) *bad = 1;
  }
}

/* One thread a column */
template <class T>
static __global__ void __launch_bounds__(128)
    enter(const __grid_constant__ typename Typed<T>::Tiles q, const T *__restrict__ r, const T *__restrict__ p, const T *__restrict__ x,
          T *__restrict__ rto, T *__restrict__ zto, T *__restrict__ pto, T *__restrict__ pother, T *__restrict__ xto, Range *__restrict__ range)
{
  const ptrdiff_t plane = (ptrdiff_t)q.n[0] * q.n[1], id = blockIdx.x * (ptrdiff_t)blockDim.x + threadIdx.x;

  if (id >= plane) return;
  const int       i = (int)(id % q.n[0]), j = (int)(id / q.n[0]);
  const int       east = strata_tile_around(i + 1, q.n[0], q.around[0]), north = strata_tile_around(j + 1, q.n[1], q.around[1]);
  const ptrdiff_t cell = strata_tile_cell(q.n, q.pitch, i, j, 0), toeast = east - i, tonorth = strata_tile_cell(q.n, q.pitch, 0, north - j, 0);
  int             first = q.n[2], end = 0;

#pragma unroll 2
  for (int k = 0; k < q.n[2]; k++) {
    const ptrdiff_t from = id + plane * k, at = cell + q.pitch * k;
    const T         rk = r[from], pk = p[from];

    rto[at] = rk;
    pto[at] = pk;
    xto[at] = x[from];
    zto[at] = 0;
    pother[at] = 0;
    if (rk != 0 || pk != 0 || q.west[at] != 0 || q.south[at] != 0 || q.bottom[at] != 0 || (east >= 0 && q.west[at + toeast] != 0) ||
        (north >= 0 && q.south[at + tonorth] != 0) || (k + 1 < q.n[2] && q.bottom[at + q.pitch] != 0)) {
      first = min(first, k);
      end = k + 1;
    }
  }
  range[id][0] = (unsigned char)min(first, end);
  range[id][1] = (unsigned char)end;
}

template <class T>
static __global__ void __launch_bounds__(256)
    leave(const __grid_constant__ typename Typed<T>::Tiles q, T owed, const T *__restrict__ r, const T *__restrict__ p, const T *__restrict__ x,
          T *__restrict__ rto, T *__restrict__ pto, T *__restrict__ xto)
{
  const ptrdiff_t plane = (ptrdiff_t)q.n[0] * q.n[1], id = blockIdx.x * (ptrdiff_t)blockDim.x + threadIdx.x;

  if (id >= plane * q.n[2]) return;
  const ptrdiff_t at = strata_tile_cell(q.n, q.pitch, (int)(id % q.n[0]), (int)(id % plane / q.n[0]), (int)(id / plane));

  if (rto) rto[id] = r[at];
  if (pto) pto[id] = p[at];
  if (xto) xto[id] = strata_cg_add(owed, p[at], x[at]);
}

/* ---- calls -------------------------------------------------------------------------------------------------------------------------- */

template <class T> static dim3 tiles_of(const typename Typed<T>::Tiles &q)
{
  return dim3((unsigned)((q.n[0] + WIDTH - 1) / WIDTH), (unsigned)((q.n[1] + ROWS - 1) / ROWS));
}

template <class T>
static int step_launch(const typename Typed<T>::Tiles &q, const typename Typed<T>::CG *cg, const Range *range, const T *z, const T *p, T *pnew, T *r,
                       T *x, void *stream)
{
  return launch_early(x ? step<T, true> : step<T, false>, tiles_of<T>(q), THREADS, 0, stream, q, range, cg, z, p, pnew, r, x);
}

template <class T>
static int columns_launch(const typename Typed<T>::Tiles &q, typename Typed<T>::CG *cg, const Range *range, const T *r, T *z, T *work,
                          T (*history)[STRATA_CG_SUMS], void *stream)
{
  return launch_early(q.n[2] <= 20   ? columns<T, 20, 5, 2>
                      : q.n[2] <= 40 ? columns<T, 40, 4, 1>
                                     : columns<T, STRATA_CG_TILE_LEVELS, 4, 1>,
                      tiles_of<T>(q), THREADS, sizeof(T) * PLANE * q.n[2], stream, q, range, r, z, work, cg, history);
}

template <class T> static unsigned columns_of(const typename Typed<T>::Tiles &q)
{
  return (unsigned)(((ptrdiff_t)q.n[0] * q.n[1] + 127) / 128);
}

#define TYPED_CALLS(REAL, t)                                                                                                                         \
  int StrataCGTilesSetUpCUDA_##t(const StrataCGTiles_##t *q, const REAL *const from[4], REAL *const to[4], REAL *inverse, int *bad, void *stream)    \
  {                                                                                                                                                  \
    set_up<REAL>                                                                                                                                     \
        <<<columns_of<REAL>(*q), 128, 0, (cudaStream_t)stream>>>(*q, from[0], from[1], from[2], from[3], to[0], to[1], to[2], to[3], inverse, bad);  \
    return (int)cudaGetLastError();                                                                                                                  \
  }                                                                                                                                                  \
  int StrataCGTilesEnterCUDA_##t(const StrataCGTiles_##t *q, const REAL *r, const REAL *p, const REAL *x, REAL *rto, REAL *zto, REAL *const pto[2],  \
                                 REAL *xto, unsigned char(*range)[2], void *stream)                                                                  \
  {                                                                                                                                                  \
    enter<REAL><<<columns_of<REAL>(*q), 128, 0, (cudaStream_t)stream>>>(*q, r, p, x, rto, zto, pto[0], pto[1], xto, range);                          \
    return (int)cudaGetLastError();                                                                                                                  \
  }                                                                                                                                                  \
  int StrataCGTilesLeaveCUDA_##t(const StrataCGTiles_##t *q, REAL owed, const REAL *r, const REAL *p, const REAL *x, REAL *rto, REAL *pto,           \
                                 REAL *xto, void *stream)                                                                                            \
  {                                                                                                                                                  \
    const ptrdiff_t cells = (ptrdiff_t)q->n[0] * q->n[1] * q->n[2];                                                                                  \
                                                                                                                                                     \
    leave<REAL><<<(unsigned)((cells + 255) / 256), 256, 0, (cudaStream_t)stream>>>(*q, owed, r, p, x, rto, pto, xto);                                \
    return (int)cudaGetLastError();                                                                                                                  \
  }                                                                                                                                                  \
  int StrataCGTilesStepCUDA_##t(const StrataCGTiles_##t *q, const StrataCG_##t *cg, const unsigned char(*range)[2], const REAL *z, const REAL *p,    \
                                REAL *pnew, REAL *r, REAL *x, void *stream)                                                                          \
  {                                                                                                                                                  \
    return step_launch<REAL>(*q, cg, range, z, p, pnew, r, x, stream);                                                                               \
  }                                                                                                                                                  \
  int StrataCGTilesColumnsCUDA_##t(const StrataCGTiles_##t *q, StrataCG_##t *cg, const unsigned char(*range)[2], const REAL *r, REAL *z, REAL *work, \
                                   REAL(*history)[STRATA_CG_SUMS], void *stream)                                                                     \
  {                                                                                                                                                  \
    return columns_launch<REAL>(*q, cg, range, r, z, work, history, stream);                                                                         \
  }
TYPED_CALLS(double, d)
TYPED_CALLS(float, f)
