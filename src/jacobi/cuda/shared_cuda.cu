/*
   Cycles by tiles in shared memory: a block holds a tile with its frame twice and sweeps from one to the other. A thread owns a run of
   cells along the last axis of the grid, and takes neighbours along it from registers. Any tile that fits, any overlap, any number of sweeps.
*/
#include "cycle_cuda.h"

constexpr int RUN = 4, THREADS = 1024;

/* How a block's threads go over a tile of n cells: `lateral` runs side by side */
struct Runs {
  int lateral, count;
};

template <int DIM> static __host__ __device__ __forceinline__ Runs tile_runs(const int n[3])
{
  Runs r;

  r.lateral = DIM == 3 ? n[0] * n[1] : n[0];
  r.count = r.lateral * (DIM == 1 ? 1 : (n[DIM == 1 ? 0 : DIM - 1] + RUN - 1) / RUN);
  return r;
}

template <class T> struct Tile {
  int from[3], n[3], lo[3], hi[3]; /* first cell, cells, and those of them that are written */
  int step[3];                     /* in the shared arrays */
};

/* A run of cells: the first one's place in the tile and in the shared arrays, and how many there are */
struct Run {
  int x[3], at, cells;
};

template <class T, int DIM> static __device__ __forceinline__ Run run_of(const Tile<T> &tile, int item, int lateral)
{
  constexpr int M = DIM == 1 ? 0 : DIM - 1;
  const int     q = item % lateral, first = item / lateral * RUN;
  Run           r = {};

  r.x[0] = DIM == 3 ? q % tile.n[0] : q;
  r.x[1] = DIM == 3 ? q / tile.n[0] : DIM == 2 ? first : 0;
  r.x[2] = DIM == 3 ? first : 0;
  r.cells = DIM == 1 ? 1 : min(RUN, tile.n[M] - first);
#pragma unroll
  for (int a = 0; a < DIM; a++) r.at += (r.x[a] + 1) * tile.step[a];
  return r;
}

/* A sweep of one run; u: its cells, which become the new ones */
template <class T, int DIM, int FORM>
static __device__ __forceinline__ void sweep_run(const typename Typed<T>::System &s, const Tile<T> &tile, const Run &r, ptrdiff_t id,
                                                 ptrdiff_t stride, T weight, const T *from, T *to, const T b[RUN], T u[RUN])
{
  constexpr int M = DIM == 1 ? 0 : DIM - 1;
  const int     step = tile.step[M];
  T             below = DIM > 1 ? from[r.at - step] : 0;
  const T       above = DIM > 1 ? from[r.at + r.cells * step] : 0;

#pragma unroll
  for (int c = 0; c < (DIM == 1 ? 1 : RUN); c++) {
    if (c >= r.cells) break;
    const T *const at = from + r.at + c * step;
    T              v[STRATA_LEGS], leg[STRATA_LEGS];

    v[STRATA_WEST] = at[-1];
    v[STRATA_EAST] = at[1];
    if (DIM == 3) {
      v[STRATA_SOUTH] = at[-tile.step[1]];
      v[STRATA_NORTH] = at[tile.step[1]];
    }
    if (DIM > 1) {
      v[2 * M] = below;
      v[2 * M + 1] = c < RUN - 1 && c < r.cells - 1 ? u[c < RUN - 1 ? c + 1 : c] : above;
    }
#pragma unroll
    for (int l = 0; l < 2 * DIM; l++) leg[l] = FORM == STRATA_SYSTEM_VARIABLE ? __ldg(s.legs[l] + id + c * stride) : s.leg[l];
    below = u[c];
    u[c] = strata_jacobi_damped(weight, u[c], jacobi_value<DIM, FORM>(leg, b[c], v));
    to[r.at + c * step] = u[c];
  }
}

/* KEEP: every thread has one run, whose cells stay in registers */
template <class T, int DIM, int FORM, bool KEEP>
static __global__ void __launch_bounds__(THREADS)
    tile_sweeps(__grid_constant__ const typename Typed<T>::System s, __grid_constant__ const Pass<T> p, __grid_constant__ const StrataTiling t)
{
  constexpr int     M = DIM == 1 ? 0 : DIM - 1;
  extern __shared__ __align__(16) char memory[];
  Tile<T>                              tile;
  int                                  size = 1, number = (int)blockIdx.x;
  ptrdiff_t                            array[3], origin = 0;
  typename Typed<T>::Bits              most = 0;

#pragma unroll
  for (int a = 0; a < 3; a++) {
    int f[2] = {0, 0}, e[2] = {1, 1};

    if (a < DIM) {
      const int count = strata_tiles(s.n[a], p.box.lo[a], p.box.hi[a], t.tile[a], t.overlap[a]);

      strata_tile(s.n[a], p.box.lo[a], p.box.hi[a], t.tile[a], t.overlap[a], number % count, f, e);
      number /= count;
    }
    tile.from[a] = f[0];
    tile.n[a] = e[0] - f[0];
    tile.lo[a] = f[1] - f[0];
    tile.hi[a] = e[1] - f[0];
    tile.step[a] = size;
    size *= a < DIM ? tile.n[a] + 2 : 1;
    array[a] = a ? array[a - 1] * s.n[a - 1] : 1;
    origin += tile.from[a] * array[a];
  }
  T *from = (T *)memory, *to = from + size;

  for (int q = threadIdx.x; q < size; q += blockDim.x) { /* the tile and its frame; the frame stays as it is */
    int  rest = q;
    bool inside = true;

    ptrdiff_t id = 0;
#pragma unroll
    for (int a = 0; a < DIM; a++) {
      const int i = tile.from[a] - 1 + (a < DIM - 1 ? rest % (tile.n[a] + 2) : rest);

      if (a < DIM - 1) rest /= tile.n[a] + 2;
      inside = inside && i >= 0 && i < s.n[a];
      id += i * array[a];
    }
    from[q] = to[q] = inside ? p.x[id] : 0;
  }
  __syncthreads();

  const Runs runs = tile_runs<DIM>(tile.n);
  Run        r = {};
  ptrdiff_t  id = 0;
  T          u[RUN], b[RUN];

  for (int k = 0; k < p.sweeps; k++) {
    const T    weight = p.weight ? __ldg(p.weight + k) : 1;
    const bool last = k == p.sweeps - 1;

    for (int item = threadIdx.x; item < runs.count; item += blockDim.x) {
      if (!KEEP || k == 0) {
        r = run_of<T, DIM>(tile, item, runs.lateral);
        id = origin;
#pragma unroll
        for (int a = 0; a < DIM; a++) id += r.x[a] * array[a];
#pragma unroll
        for (int c = 0; c < RUN; c++) {
          const bool own = c < r.cells;

          b[c] = own ? __ldg(p.b + id + c * array[M]) : 0;
          u[c] = own ? from[r.at + c * tile.step[M]] : 0;
        }
      }
      T old[RUN];
#pragma unroll
      for (int c = 0; c < RUN; c++) old[c] = u[c];
      sweep_run<T, DIM, FORM>(s, tile, r, id, array[M], weight, from, to, b, u);
      if (!last) continue;
#pragma unroll
      for (int c = 0; c < RUN; c++) {
        bool writes = c < r.cells;
#pragma unroll
        for (int a = 0; a < DIM; a++) {
          const int i = r.x[a] + (a == M ? c : 0);

          writes = writes && i >= tile.lo[a] && i < tile.hi[a];
        }
        if (!writes) continue;
        p.y[id + c * array[M]] = u[c];
        if (p.change) most = max(most, change_bits(u[c], old[c]));
      }
    }
    T *const swap = from;

    from = to;
    to = swap;
    __syncthreads();
  }
  if (p.change) join_change(most, p.change);
}

/* The largest tile that there is */
static void largest_tile(const int array[3], const StrataTiling &t, const StrataBox &box, int n[3])
{
  for (int a = 0; a < 3; a++) {
    int f[2], e[2];

    strata_tile(array[a], box.lo[a], box.hi[a], t.tile[a], t.overlap[a], 0, f, e);
    n[a] = e[0] - f[0];
  }
}

template <class T> size_t shared_bytes(const typename Typed<T>::System &s, const StrataTiling &t, const StrataBox &box)
{
  int    n[3];
  size_t cells = 1;

  largest_tile(s.n, t, box, n);
  for (int a = 0; a < s.dim; a++) cells *= n[a] + 2;
  return 2 * cells * sizeof(T);
}

template <class T, int DIM, int FORM, bool KEEP>
static cudaError_t tile_launch(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, int runs, cudaStream_t stream)
{
  const size_t bytes = shared_bytes<T>(s, t, p.box);
  const int    threads = (runs < THREADS ? runs + WARP - 1 : THREADS) / WARP * WARP;
  ptrdiff_t    tiles = 1;
  cudaError_t  err;

  for (int a = 0; a < DIM; a++) tiles *= strata_tiles(s.n[a], p.box.lo[a], p.box.hi[a], t.tile[a], t.overlap[a]);
  if (tiles > 2147483647) return cudaErrorInvalidConfiguration;
  err = cudaFuncSetAttribute(tile_sweeps<T, DIM, FORM, KEEP>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
  if (err != cudaSuccess) return err;
  tile_sweeps<T, DIM, FORM, KEEP><<<(unsigned)tiles, threads, bytes, stream>>>(s, p, t);
  return cudaGetLastError();
}

template <class T, int DIM>
static cudaError_t tile_form(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream)
{
  int n[3];

  largest_tile(s.n, t, p.box, n);
  const int runs = tile_runs<DIM>(n).count;
#define LAUNCH(form)                                                                                                                                 \
  (runs <= THREADS ? tile_launch<T, DIM, form, true>(s, t, p, runs, stream) : tile_launch<T, DIM, form, false>(s, t, p, runs, stream))
  if (s.form == STRATA_SYSTEM_EQUAL) return LAUNCH(STRATA_SYSTEM_EQUAL);
  if (s.form == STRATA_SYSTEM_CONSTANT) return LAUNCH(STRATA_SYSTEM_CONSTANT);
  return LAUNCH(STRATA_SYSTEM_VARIABLE);
#undef LAUNCH
}

template <class T> cudaError_t shared_sweeps(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream)
{
  return s.dim == 1 ? tile_form<T, 1>(s, t, p, stream) : s.dim == 2 ? tile_form<T, 2>(s, t, p, stream) : tile_form<T, 3>(s, t, p, stream);
}

template size_t      shared_bytes<double>(const StrataSystem_d &, const StrataTiling &, const StrataBox &);
template size_t      shared_bytes<float>(const StrataSystem_f &, const StrataTiling &, const StrataBox &);
template cudaError_t shared_sweeps<double>(const StrataSystem_d &, const StrataTiling &, const Pass<double> &, cudaStream_t);
template cudaError_t shared_sweeps<float>(const StrataSystem_f &, const StrataTiling &, const Pass<float> &, cudaStream_t);
