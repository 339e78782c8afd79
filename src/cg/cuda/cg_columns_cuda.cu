/*
   The two passes along columns on the device. A block takes a tile of columns, one thread a column, and walks through all levels. Chunks of levels,
   with a ring of cells around the tile, come into shared memory by bulk copies that one more warp keeps under way; other threads solve the columns
   of the ring, as far as their z is needed.
*/
#include "../cg_columns_cell.h"
#include "../../sys/cuda/bulk_cuda.h"

template <class T> struct Typed;
template <> struct Typed<double> {
  typedef StrataCGColumns_d Columns;
};
template <> struct Typed<float> {
  typedef StrataCGColumns_f Columns;
};

constexpr int                     CHUNK = STRATA_CG_CHUNK, WIDTH = STRATA_CG_WIDTH;
constexpr int                     RING = 4, SPAN = WIDTH + 2 * RING; /* cells west and east of the tile that are copied with it: rows stay aligned */
template <int ROWS> constexpr int BLOCKS = ROWS < STRATA_CG_ROWS ? 2 : 1; /* on a multiprocessor, if there are so many */
constexpr int                     TABLE = STRATA_LEVEL * CHUNK;
constexpr int                     IDLE = -2; /* a column of the ring that no other thread reads or writes, for threads without one of their own */

/* A chunk of levels of one or two vectors, with the ring around the tile */
template <class T, int HEIGHT, int VECTORS> struct Stage {
  static constexpr int PLANE = SPAN * HEIGHT, BOX = PLANE * CHUNK;
  T                    box[VECTORS][BOX];
};

/* The numbers of a column, as far as all threads need them. One outside the grid is factored as the first one is, which is safe whatever the scale,
   and has no right-hand side, no inverse of its area and no legs. */
template <class T> static __device__ __forceinline__ T number(const typename Typed<T>::Columns &q, int which, int id, bool in, T otherwise)
{
  return in ? q.column[which * q.columns + id] : otherwise;
}

/* A number of each warp lane, folded in halves; the result is that of lane 0 */
static __device__ __forceinline__ double halves(double a, int n)
{
  for (int s = n / 2; s; s /= 2) a = a + __shfl_down_sync(0xffffffff, a, s);
  return a;
}

/* The sums of all columns. The block that is last finishes them, and the step. */
template <int ROWS>
static __device__ void finish(int n1, const double own[STRATA_CG_SUMS], double *work, StrataCG_d *cg, double (*history)[STRATA_CG_SUMS])
{
  constexpr int     PART = STRATA_CG_PART;
  __shared__ double rows[STRATA_CG_SUMS][ROWS];
  __shared__ int    last;
  const int         warp = threadIdx.x / 32, lane = threadIdx.x % 32, parts = (n1 + PART - 1) / PART, tiles = gridDim.x * parts,
            blocks = gridDim.x * gridDim.y;
  const int part = blockIdx.y * (ROWS / PART) + lane / PART;
  unsigned *count = (unsigned *)(work + STRATA_CG_SUMS * (ptrdiff_t)tiles);

  if (warp < ROWS)
#pragma unroll
    for (int m = 0; m < STRATA_CG_SUMS; m++) {
      const double a = halves(own[m], WIDTH);

      if (!lane) rows[m][warp] = a;
    }
  __syncthreads();
  if (warp < STRATA_CG_SUMS) {
    const double a = halves(lane < ROWS ? rows[warp][lane] : 0, PART);

    if (lane < ROWS && lane % PART == 0 && part < parts) work[warp * (ptrdiff_t)tiles + blockIdx.x + gridDim.x * part] = a;
    __threadfence();
  }
  __syncthreads();
  if (!threadIdx.x) last = atomicAdd(count, 1u) == (unsigned)blocks - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  if (warp < STRATA_CG_SUMS) {
    double a = 0;

#pragma unroll 8
    for (int t = lane; t < tiles; t += WIDTH) a = a + __ldcg(&work[warp * (ptrdiff_t)tiles + t]);
    a = halves(a, WIDTH);
    if (!lane) rows[warp][0] = a;
  }
  __syncthreads();
  if (threadIdx.x) return;
  const double sum[STRATA_CG_SUMS] = {rows[0][0], rows[1][0], rows[2][0], rows[3][0]};

  *count = 0;
  for (int m = 0; m < STRATA_CG_SUMS; m++) (history ? history[cg->its] : cg->sum)[m] = sum[m];
  if (history) strata_cg_judge(cg, sum);
}

/* ---- down --------------------------------------------------------------------------------------------------------------------------- */

template <class T> constexpr int DOWN_STAGES = sizeof(T) == 8 ? 5 : 8;

/* Warps: rows of the tile, the row south of it, the column west of it, the copies */
template <class T, int ROWS, bool ENERGY, bool ZZ>
static __global__ void __launch_bounds__((ROWS + 3) * 32, BLOCKS<ROWS>)
    down(const __grid_constant__ CUtensorMap map, const __grid_constant__ typename Typed<T>::Columns q, const T *__restrict__ start,
         const T *__restrict__ F, T *__restrict__ z, double *work, StrataCG_d *cg, double (*history)[STRATA_CG_SUMS])
{
  typedef Stage<T, ROWS + 1, 1> Stage;
  constexpr int                 WARPS = ROWS + 2, PLANE = Stage::PLANE, STAGES = DOWN_STAGES<T>;
  extern __shared__ __align__(128) unsigned char raw[];
  __shared__ __align__(16) T table[STAGES][TABLE];
  __shared__ uint64_t        full[STAGES], empty[STAGES];
  Stage                     *stage = (Stage *)raw;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, chunks = q.levels / CHUNK, x0 = blockIdx.x * WIDTH, y0 = blockIdx.y * ROWS;
  double    sum[STRATA_CG_SUMS] = {0, 0, 0, 0};

  cg += blockIdx.z;
  if (!threadIdx.x) {
    for (int s = 0; s < STAGES; s++) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], WARPS);
    }
    barrier_init_done();
  }
  __syncthreads();
  if (warp == WARPS) {
    kernel_wait();
    if (cg->done) return;
    if (!lane)
      for (int i = 0; i < chunks; i++) {
        const int s = i % STAGES, k = (chunks - 1 - i) * CHUNK, layer = blockIdx.z * q.levels + k;

        if (i >= STAGES) {
          barrier_wait(&empty[s], (i / STAGES - 1) & 1);
          bulk_fence();
        }
        barrier_expect(&full[s], sizeof(Stage) + sizeof(table[s]));
        bulk_box(stage[s].box[0], &map, x0 - RING, y0 - 1, layer, &full[s]);
        bulk_bytes(table[s], q.level + STRATA_LEVEL * k, sizeof(table[s]), &full[s]);
      }
    __syncwarp();
  } else {
    const bool own = warp < ROWS;
    const int  tx = warp <= ROWS  ? lane
                    : lane < ROWS ? -1
                                  : IDLE,
              ty = own            ? warp
                   : warp == ROWS ? -1
                   : lane < ROWS  ? lane
                                  : ROWS - 1,
              i = x0 + tx, j = y0 + ty;
    const bool      in = i >= 0 && j >= 0 && i < q.n[0] && j < q.n[1] && (warp <= ROWS || lane < ROWS);
    const int       id = in ? i + q.n[0] * j : 0, at = (ty + 1) * SPAN + tx + RING;
    const ptrdiff_t columns = q.columns;
    const T         inverse = number<T>(q, STRATA_COLUMN_INVERSE, id, in, 0), lateral = q.column[STRATA_COLUMN_LATERAL * columns + id];
    const T         shift = q.column[STRATA_COLUMN_SHIFT * columns + id];
    const T         west = number<T>(q, STRATA_COLUMN_WEST, id, in && own, 0), south = number<T>(q, STRATA_COLUMN_SOUTH, id, in && own, 0);
    const T         high = ENERGY ? number<T>(q, STRATA_COLUMN_HIGH, id, in && own, 0) : 0;
    const ptrdiff_t top = id + columns * (chunks - 1), mine = top + columns * chunks * blockIdx.z;
    const T        *starts = start + top, *runs = F + mine;
    T              *left = z + mine;
    T               N = *starts, next = 0;

    kernel_wait();
    if (cg->done) return;
    T run = in ? *runs : 0, run1 = in && chunks > 1 ? runs[-columns] : 0; /* two chunks ahead */

    for (int c = 0; c < chunks; c++) {
      const int s = c % STAGES, skip = q.pad - (chunks - 1 - c) * CHUNK;
      T        *cell = stage[s].box[0] + at;
      const T  *level = table[s], above = next;
      T         D[CHUNK], v[CHUNK], last, rho, F = run, gamma = 0, rr = 0, zz = 0, faces = 0;

      run = run1;
      run1 = in && c + 2 < chunks ? runs[-2 * columns] : 0;
      runs -= columns;
      barrier_wait(&full[s], (c / STAGES) & 1);
      strata_chunk_factor(level, lateral, shift, N, D, &last);
      starts -= columns;
      N = c + 1 < chunks ? *starts : 0;
      strata_chunk_up(level, D, last, cell, PLANE, &F, v, &rho, &gamma, &rr);
      sum[STRATA_CG_GAMMA] += gamma;
      sum[STRATA_CG_RR] += rr;
      T w = next * rho;

#pragma unroll
      for (int m = CHUNK - 1; m >= 0; m--) {
        next = strata_chunk_down(D, v, inverse, m, &w);
        if (ZZ && m >= skip) zz = strata_cg_add(next, next, zz);
        v[m] = next;
        if (in) cell[m * PLANE] = next;
      }
      if (ZZ) sum[STRATA_CG_ZZ] += zz;
      if (own && in) *left = next;
      left -= columns;
      meet<WARPS * 32>();
      if (own) {
#pragma unroll
        for (int m = 0; m < CHUNK; m++) {
          const T *u = cell + m * PLANE;

          if (ENERGY)
            faces = strata_cell_energy(level + STRATA_LEVEL * m, west, south, high, shift, v[m], u[-1], u[-SPAN], m + 1 < CHUNK ? v[m + 1] : above,
                                       faces);
          else
            faces = strata_cell_faces(level + STRATA_LEVEL * m, west, south, v[m], u[-1], u[-SPAN], faces);
        }
        sum[STRATA_CG_DELTA] += faces;
      }
      __syncwarp();
      if (!lane) barrier_arrive(&empty[s]);
    }
    kernel_next();
    if (own) {
      sum[STRATA_CG_GAMMA] *= inverse;
      sum[STRATA_CG_DELTA] = strata_column_delta(ENERGY, number<T>(q, STRATA_COLUMN_AREA, id, in, 0), sum[STRATA_CG_GAMMA], sum[STRATA_CG_DELTA]);
    } else
      for (int m = 0; m < STRATA_CG_SUMS; m++) sum[m] = 0;
  }
  finish<ROWS>(q.n[1], sum, work + blockIdx.z * ((ptrdiff_t)STRATA_CG_SUMS * gridDim.x * ((q.n[1] + STRATA_CG_PART - 1) / STRATA_CG_PART) + 1), cg,
               history ? history + blockIdx.z * (ptrdiff_t)q.room : NULL);
}

/* ---- up ----------------------------------------------------------------------------------------------------------------------------- */

template <class T> constexpr int UP_STAGES = sizeof(T) == 8 ? 2 : 4;
template <class T> constexpr int X_STAGES = sizeof(T) == 8 ? 1 : 2;

/* Warps: rows of the tile, the rows south and north of it, the columns west and east, the copies. X: x is updated */
template <class T, int ROWS, bool X>
static __global__ void __launch_bounds__((ROWS + 4) * 32, BLOCKS<ROWS>)
    up(const __grid_constant__ CUtensorMap rmap, const __grid_constant__ CUtensorMap pmap, const __grid_constant__ CUtensorMap xmap,
       const __grid_constant__ typename Typed<T>::Columns q, const StrataCG_d *cg, const T *__restrict__ z, T *__restrict__ rnew,
       T *__restrict__ pnew, T *__restrict__ x, T *__restrict__ F)
{
  typedef Stage<T, ROWS + 2, 2> Stage;
  constexpr int     WARPS = ROWS + 3, PLANE = Stage::PLANE, BOX = Stage::BOX, XPLANE = WIDTH * ROWS, STAGES = UP_STAGES<T>, XSTAGES = X_STAGES<T>;
  extern __shared__ __align__(128) unsigned char raw[];
  __shared__ __align__(16) T table[STAGES][TABLE];
  __shared__ uint64_t        full[STAGES], empty[STAGES], xfull[XSTAGES], xempty[XSTAGES];
  __shared__ T               beta, alpha, owed; /* for want of registers */
  Stage                     *stage = (Stage *)raw;
  T                         *xbox = (T *)(stage + STAGES);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, chunks = q.levels / CHUNK, x0 = blockIdx.x * WIDTH, y0 = blockIdx.y * ROWS;

  cg += blockIdx.z;
  if (!threadIdx.x) {
    for (int s = 0; s < STAGES; s++) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], WARPS);
    }
    for (int s = 0; s < XSTAGES; s++) {
      barrier_init(&xfull[s], 1);
      barrier_init(&xempty[s], ROWS);
    }
    barrier_init_done();
  }
  __syncthreads();
  if (warp == WARPS) {
    if (lane) return;
    const auto fetch = [&](int c) {
      const int s = c % STAGES, k = c * CHUNK, layer = blockIdx.z * q.levels + k;

      barrier_expect(&full[s], sizeof(Stage) + sizeof(table[s]));
      bulk_box(stage[s].box[0], &rmap, x0 - RING, y0 - 1, layer, &full[s]);
      bulk_box(stage[s].box[1], &pmap, x0 - RING, y0 - 1, layer, &full[s]);
      bulk_bytes(table[s], q.level + STRATA_LEVEL * k, sizeof(table[s]), &full[s]);
    };
    const auto fetchx = [&](int c) {
      const int s = c % XSTAGES;

      barrier_expect(&xfull[s], XPLANE * CHUNK * sizeof(T));
      bulk_box_once(xbox + s * XPLANE * CHUNK, &xmap, x0, y0, blockIdx.z * q.levels + c * CHUNK, &xfull[s]);
    };
    const int early = min(STAGES, chunks), xearly = X ? min(XSTAGES, chunks) : 0;

    /* r, p and x are there: the kernel before the last one wrote them, and the last one waited for it */
    for (int c = 0; c < early; c++) fetch(c);
    for (int c = 0; c < xearly; c++) fetchx(c);
    kernel_wait();
    if (cg->done) { /* no copies may be under way at the end */
      for (int c = 0; c < early; c++) barrier_wait(&full[c], 0);
      for (int c = 0; c < xearly; c++) barrier_wait(&xfull[c], 0);
      return;
    }
    for (int c = 1; c < chunks; c++) { /* into the places of chunk c - 1 */
      if (X && c + XSTAGES <= chunks) {
        barrier_wait(&xempty[(c - 1) % XSTAGES], ((c - 1) / XSTAGES) & 1);
        bulk_fence();
        fetchx(c + XSTAGES - 1);
      }
      if (c + STAGES <= chunks) {
        barrier_wait(&empty[(c - 1) % STAGES], ((c - 1) / STAGES) & 1);
        bulk_fence();
        fetch(c + STAGES - 1);
      }
    }
    return;
  }
  const bool own = warp < ROWS;
  const int  beside = lane % 16 < ROWS ? lane % 16 : ROWS - 1;
  const int  tx = warp < WARPS - 1    ? lane
                  : lane % 16 >= ROWS ? IDLE
                  : lane < 16         ? -1
                                      : WIDTH,
            ty = own                ? warp
                 : warp == ROWS     ? -1
                 : warp == ROWS + 1 ? ROWS
                                    : beside;
  const int  i = x0 + tx, j = y0 + ty;
  const bool in = i >= 0 && j >= 0 && i < q.n[0] && j < q.n[1] && (warp < WARPS - 1 || lane % 16 < ROWS), writes = own && in;
  const int  id = in ? i + q.n[0] * j : 0, at = (ty + 1) * SPAN + tx + RING;
  const T    inverse = number<T>(q, STRATA_COLUMN_INVERSE, id, in, 0), lateral = q.column[STRATA_COLUMN_LATERAL * q.columns + id];
  const T    shift = q.column[STRATA_COLUMN_SHIFT * q.columns + id], area = number<T>(q, STRATA_COLUMN_AREA, id, writes, 0);
  const T    leg[4] = {number<T>(q, STRATA_COLUMN_WEST, id, writes, 0), number<T>(q, STRATA_COLUMN_EAST, id, writes, 0),
                       number<T>(q, STRATA_COLUMN_SOUTH, id, writes, 0), number<T>(q, STRATA_COLUMN_NORTH, id, writes, 0)};

  kernel_wait();
  if (cg->done) return;
  if (!threadIdx.x) {
    beta = (T)cg->beta;
    alpha = (T)cg->alpha;
    owed = (T)cg->owed;
  }
  meet<WARPS * 32>();
  const T        slope = alpha * area;
  const uint64_t stays = leaves_last();
  ptrdiff_t      cell = i + q.pitch * j + q.plane * q.levels * blockIdx.z, chunk = id + q.columns * chunks * blockIdx.z;
  T              N = 0, run = 0, newrun = 0, across = 0, pend = 0, below = 0, top = in && chunks > 1 ? z[chunk + q.columns] : 0;

  for (int c = 0; c < chunks; c++) {
    const int s = c % STAGES;
    T        *rcell = stage[s].box[0] + at, *pcell = rcell + BOX;
    const T  *level = table[s];
    const T   z1 = top;
    T         D[CHUNK], v[CHUNK], last, rho;

    top = in && c + 2 < chunks ? z[chunk + 2 * q.columns] : 0;
    barrier_wait(&full[s], (c / STAGES) & 1);
    strata_chunk_factor(level, lateral, shift, N, D, &last);
    strata_chunk_up(level, D, last, rcell, PLANE, &run, v, &rho, (T *)NULL, (T *)NULL);
    T w = z1 * rho;

    const T *xcell = xbox + c % XSTAGES * XPLANE * CHUNK + warp * WIDTH + lane;

    if (X && own) barrier_wait(&xfull[c % XSTAGES], (c / XSTAGES) & 1);
    ptrdiff_t to = cell + (CHUNK - 1) * q.plane;

#pragma unroll
    for (int m = CHUNK - 1; m >= 0; m--, to -= q.plane) {
      const T before = pcell[m * PLANE], now = strata_cg_add(beta, before, strata_chunk_down(D, v, inverse, m, &w));

      v[m] = now;
      if (in) pcell[m * PLANE] = now;
      if (writes) {
        __stcs(pnew + to, now);
        if (X) __stcs(x + to, strata_cg_add(alpha, now, strata_cg_add(owed, before, xcell[m * XPLANE])));
      }
    }
    if (X && own) {
      __syncwarp();
      if (!lane) barrier_arrive(&xempty[c % XSTAGES]);
    }
    N = last * rho;
    run *= rho;
    meet<WARPS * 32>();
    if (own) { /* r of a level is complete when p of the next one is known */
#pragma unroll
      for (int m = 0; m < CHUNK; m++) {
        const T *u = pcell + m * PLANE, *l = level + STRATA_LEVEL * m, flux = l[STRATA_LEVEL_LEG] * (v[m] - below);
        const T  around[4] = {u[-1], u[1], u[-SPAN], u[SPAN]};

        if (m || c) {
          const T left = strata_cg_add(slope, flux, pend);

          if (writes) store(rnew + cell - q.plane, left, stays);
          newrun = strata_cg_add(m ? D[m ? m - 1 : 0] : across, left, newrun);
        }
        if (!m && writes) F[chunk] = newrun;
        cell += q.plane;
        pend = strata_cell_residual(l, leg, shift, slope, v[m], around, flux, rcell[m * PLANE]);
        below = v[m];
      }
      newrun *= rho;
      across = D[CHUNK - 1] * rho;
    }
    chunk += q.columns;
    __syncwarp();
    if (!lane) barrier_arrive(&empty[s]);
  }
  kernel_next();
  if (writes) store(rnew + cell - q.plane, strata_cg_add(slope, T(0) * (T(0) - below), pend), stays);
}

/* ---- in and out --------------------------------------------------------------------------------------------------------------------- */

/* r is kappa times a vector, or the difference of two; p and x are vectors, or else p is ratio times itself and x zero */
template <class T, class FROM>
static __global__ void __launch_bounds__(128)
    enter(const __grid_constant__ typename Typed<T>::Columns q, double kappa, T ratio, const FROM *__restrict__ r, const FROM *__restrict__ minus,
          const FROM *__restrict__ p, const FROM *__restrict__ x, T *__restrict__ rto, T *__restrict__ pto, T *__restrict__ xto,
          T *__restrict__ start, T *__restrict__ F)
{
  const ptrdiff_t columns = q.columns, plane = q.plane, id = blockIdx.x * (ptrdiff_t)blockDim.x + threadIdx.x;

  if (id >= columns) return;
  const T lateral = q.column[STRATA_COLUMN_LATERAL * columns + id], shift = q.column[STRATA_COLUMN_SHIFT * columns + id];
  T       N = 0, run = 0;

  rto += id % q.n[0] + q.pitch * (id / q.n[0]);
  pto += id % q.n[0] + q.pitch * (id / q.n[0]);
  xto += id % q.n[0] + q.pitch * (id / q.n[0]);
  for (int k = 0; k < q.levels; k += CHUNK) {
    T level[TABLE], D[CHUNK], v[CHUNK], u[CHUNK], last, rho;

#pragma unroll
    for (int m = 0; m < TABLE; m++) level[m] = q.level[STRATA_LEVEL * k + m];
#pragma unroll
    for (int m = 0; m < CHUNK; m++) {
      const ptrdiff_t from = id + columns * (k + m < q.pad ? 0 : k + m - q.pad), to = plane * (k + m);

      rto[to] = u[m] = k + m < q.pad ? 0 : (T)(kappa * (minus ? r[from] - minus[from] : r[from]));
      pto[to] = p ? (T)p[from] : ratio == 0 ? 0 : ratio * pto[to];
      xto[to] = x ? (T)x[from] : 0;
    }
    start[id + columns * (k / CHUNK)] = N;
    F[id + columns * (k / CHUNK)] = run;
    strata_chunk_factor(level, lateral, shift, N, D, &last);
    strata_chunk_up(level, D, last, u, 1, &run, v, &rho, (T *)NULL, (T *)NULL);
    N = last * rho;
    run *= rho;
  }
}

template <class T>
static __global__ void __launch_bounds__(256)
    leave(const __grid_constant__ typename Typed<T>::Columns q, T owed, const T *__restrict__ r, const T *__restrict__ p, const T *__restrict__ x,
          T *__restrict__ rto, T *__restrict__ pto, T *__restrict__ xto)
{
  const ptrdiff_t id = blockIdx.x * (ptrdiff_t)blockDim.x + threadIdx.x;

  if (id >= q.columns * q.n[2]) return;
  const ptrdiff_t row = id / q.n[0], at = id % q.n[0] + q.pitch * (row + (ptrdiff_t)q.n[1] * q.pad);

  if (rto) rto[id] = r[at];
  if (pto) pto[id] = p[at];
  if (xto) xto[id] = strata_cg_add(owed, p[at], x[at]);
}

static __global__ void __launch_bounds__(256) add(const __grid_constant__ StrataCGColumns_f q, double factor, float owed, const float *__restrict__ p,
                                                  float *__restrict__ x, double *__restrict__ to)
{
  const ptrdiff_t id = blockIdx.x * (ptrdiff_t)blockDim.x + threadIdx.x;

  if (id >= q.columns * q.n[2]) return;
  const ptrdiff_t row = id / q.n[0], at = id % q.n[0] + q.pitch * (row + (ptrdiff_t)q.n[1] * q.pad);

  to[id] = fma(factor, (double)strata_cg_add(owed, p[at], x[at]), to[id]);
  x[at] = 0;
}

/* ---- calls -------------------------------------------------------------------------------------------------------------------------- */

template <class T, int ROWS> static dim3 tiles(const typename Typed<T>::Columns &q)
{
  return dim3((unsigned)((q.n[0] + WIDTH - 1) / WIDTH), (unsigned)((q.n[1] + ROWS - 1) / ROWS), (unsigned)q.vectors);
}

template <class T, int ROWS> static int map_of(const typename Typed<T>::Columns &q, CUtensorMap *map, const T *v, int x, int y)
{
  const int n[3] = {q.n[0], q.n[1], q.levels * q.vectors};

  return bulk_map(map, v, n, q.pitch, q.plane, x, y, CHUNK);
}

template <class T, int ROWS>
static int down_launch(const typename Typed<T>::Columns &q, StrataCG_d *cg, const T *r, const T *start, const T *F, T *z, double *work,
                       double (*history)[STRATA_CG_SUMS], void *stream)
{
  CUtensorMap map;
  const int   err = map_of<T, ROWS>(q, &map, r, SPAN, ROWS + 1);

  if (err) return err;
  return launch_early(q.energy ? q.zz ? down<T, ROWS, true, true> : down<T, ROWS, true, false>
                      : q.zz ? down<T, ROWS, false, true>
                               : down<T, ROWS, false, false>,
                      tiles<T, ROWS>(q), (ROWS + 3) * 32, DOWN_STAGES<T> * sizeof(Stage<T, ROWS + 1, 1>), stream, map, q, start, F, z, work, cg,
                      history);
}

template <class T, int ROWS>
static int up_launch(const typename Typed<T>::Columns &q, const StrataCG_d *cg, const T *z, const T *r, const T *p, T *rnew, T *pnew, T *x, T *F,
                     void *stream)
{
  CUtensorMap  rmap, pmap, xmap;
  const size_t shared = UP_STAGES<T> * sizeof(Stage<T, ROWS + 2, 2>) + (x ? X_STAGES<T> * sizeof(T) * WIDTH * ROWS * CHUNK : 0);
  int          err = map_of<T, ROWS>(q, &rmap, r, SPAN, ROWS + 2);

  if (!err) err = map_of<T, ROWS>(q, &pmap, p, SPAN, ROWS + 2);
  if (!err) err = map_of<T, ROWS>(q, &xmap, x ? x : p, WIDTH, ROWS);
  if (err) return err;
  return launch_early(x ? up<T, ROWS, true> : up<T, ROWS, false>, tiles<T, ROWS>(q), (ROWS + 4) * 32, shared, stream, rmap, pmap, xmap, q, cg, z,
                      rnew, pnew, x, F);
}

template <class T>
static int enter_launch(const typename Typed<T>::Columns &q, const T *r, const T *p, const T *x, T *rto, T *pto, T *xto, T *start, T *F, void *stream)
{
  enter<T, T><<<(unsigned)((q.columns + 127) / 128), 128, 0, (cudaStream_t)stream>>>(q, 1, 0, r, NULL, p, x, rto, pto, xto, start, F);
  return (int)cudaGetLastError();
}

template <class T>
static int leave_launch(const typename Typed<T>::Columns &q, T owed, const T *r, const T *p, const T *x, T *rto, T *pto, T *xto, void *stream)
{
  leave<T><<<(unsigned)((q.columns * q.n[2] + 255) / 256), 256, 0, (cudaStream_t)stream>>>(q, owed, r, p, x, rto, pto, xto);
  return (int)cudaGetLastError();
}

int StrataCGColumnsRoundCUDA(const StrataCGColumns_f *q, double kappa, const double *from, const double *minus, float ratio, float *r, float *p,
                             float *x, float *start, float *F, void *stream)
{
  enter<float, double>
      <<<(unsigned)((q->columns + 127) / 128), 128, 0, (cudaStream_t)stream>>>(*q, kappa, ratio, from, minus, NULL, NULL, r, p, x, start, F);
  return (int)cudaGetLastError();
}

int StrataCGColumnsAddCUDA(const StrataCGColumns_f *q, double factor, float owed, const float *p, float *x, double *to, void *stream)
{
  add<<<(unsigned)((q->columns * q->n[2] + 255) / 256), 256, 0, (cudaStream_t)stream>>>(*q, factor, owed, p, x, to);
  return (int)cudaGetLastError();
}

int StrataCGColumnsCUDA(int *can)
{
  cudaFuncAttributes attributes;
  int                device, major;
  cudaError_t        err = cudaGetDevice(&device);

  if (err == cudaSuccess) err = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (err == cudaSuccess) err = cudaFuncGetAttributes(&attributes, (const void *)down<double, STRATA_CG_ROWS, false, false>);
  *can = err == cudaSuccess && major >= 9 && attributes.binaryVersion >= 90;
  return (int)err;
}

#define TYPED_CALLS(REAL, t)                                                                                                                         \
  int StrataCGColumnsEnterCUDA_##t(const StrataCGColumns_##t *q, const REAL *r, const REAL *p, const REAL *x, REAL *rto, REAL *pto, REAL *xto,       \
                                   REAL *start, REAL *F, void *stream)                                                                               \
  {                                                                                                                                                  \
    return enter_launch<REAL>(*q, r, p, x, rto, pto, xto, start, F, stream);                                                                         \
  }                                                                                                                                                  \
  int StrataCGColumnsLeaveCUDA_##t(const StrataCGColumns_##t *q, REAL owed, const REAL *r, const REAL *p, const REAL *x, REAL *rto, REAL *pto,       \
                                   REAL *xto, void *stream)                                                                                          \
  {                                                                                                                                                  \
    return leave_launch<REAL>(*q, owed, r, p, x, rto, pto, xto, stream);                                                                             \
  }                                                                                                                                                  \
  int StrataCGColumnsUpCUDA_##t(const StrataCGColumns_##t *q, const StrataCG_d *cg, const REAL *z, const REAL *r, const REAL *p, REAL *rnew,         \
                                REAL *pnew, REAL *x, REAL *F, void *stream)                                                                          \
  {                                                                                                                                                  \
    return q->rows == STRATA_CG_PART ? up_launch<REAL, STRATA_CG_PART>(*q, cg, z, r, p, rnew, pnew, x, F, stream)                                    \
                                     : up_launch<REAL, STRATA_CG_ROWS>(*q, cg, z, r, p, rnew, pnew, x, F, stream);                                   \
  }                                                                                                                                                  \
  int StrataCGColumnsDownCUDA_##t(const StrataCGColumns_##t *q, StrataCG_d *cg, const REAL *r, const REAL *start, const REAL *F, REAL *z,            \
                                  double *work, double(*history)[STRATA_CG_SUMS], void *stream)                                                      \
  {                                                                                                                                                  \
    return q->rows == STRATA_CG_PART ? down_launch<REAL, STRATA_CG_PART>(*q, cg, r, start, F, z, work, history, stream)                              \
                                     : down_launch<REAL, STRATA_CG_ROWS>(*q, cg, r, start, F, z, work, history, stream);                             \
  }
TYPED_CALLS(double, d)
TYPED_CALLS(float, f)
