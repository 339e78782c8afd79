/*
   Cycles of small 2D tiles in registers: a warp holds a tile of at most 32 x 32 cells and its right-hand side for all sweeps, a lane W columns of
   OWN rows. Neighbours come from other lanes, the frame from shared memory; warps do not wait for each other. Cells of the warp beyond the tile keep
   their values, which are those of the frame. Legs of its own that a cell has are held too, as in held_legs_cuda.h.
*/
#include "held_legs_cuda.h"
#include "register_cuda.h"

/* Columns and rows of a lane, lanes across a tile and bands of lanes, warps of a block */
constexpr int W = 4, OWN = 8, ACROSS = 8, BANDS = WARP / ACROSS, WARPS = 4, COLUMNS = W * ACROSS, ROWS = OWN * BANDS;

/* The frame of a tile: of each row the cells beside it, of each lane those below the first or above the last band */
template <class T> struct Frame {
  T beside[OWN][BANDS][2];
  T outer[W][WARP];
};

template <class T, int FORM, bool FULL> struct Small {
  const typename Typed<T>::System &s;
  const Pass<T>                   &p;
  Frame<T>                        *frame;
  int                              lane, n;              /* rows of the lane that are swept */
  unsigned                         inside, writes, rows; /* which of the lane's columns are swept, and written; which rows are written */
  T                                u[OWN][W], b[OWN][W];
  HeldLegs<T, FORM, OWN, W>        legs;
  typename Typed<T>::Bits          most;

  __device__ __forceinline__ Small(const typename Typed<T>::System &s_, const Pass<T> &p_) : s(s_), p(p_)
  {
  }

  /* MASKED: the tile does not fill the warp; LAST: the sweep whose change is wanted */
  template <bool MASKED, bool LAST> __device__ __forceinline__ void sweep(T weight)
  {
    const bool first = lane % ACROSS == 0, last = lane % ACROSS == ACROSS - 1, lowest = lane < ACROSS, highest = lane >= WARP - ACROSS;
    T          below[W], above[W], sum[W]; /* sum: west + south, which is also east + north of the row below; below: the row's old values */
    T          now = frame->beside[0][lane / ACROSS][last];

#pragma unroll
    for (int i = 0; i < W; i++) {
      const T outer = frame->outer[i][lane], south = __shfl_up_sync(~0u, u[OWN - 1][i], ACROSS), north = __shfl_down_sync(~0u, u[0][i], ACROSS);

      below[i] = lowest ? outer : south;
      above[i] = highest ? outer : north;
    }
    if (FORM == STRATA_SYSTEM_EQUAL) {
      const T other = __shfl_up_sync(~0u, u[0][W - 1], 1), west = first ? now : other;

#pragma unroll
      for (int i = 0; i < W; i++) sum[i] = (i ? u[0][i ? i - 1 : 0] : west) + below[i];
    }
#pragma unroll
    for (int o = 0; o < OWN; o++) {
      const int next = o < OWN - 1 ? o + 1 : o;
      const T(&up)[W] = o < OWN - 1 ? u[next] : above;
      const T right = __shfl_down_sync(~0u, u[o][0], 1), east = last ? now : right;
      const T left = __shfl_up_sync(~0u, FORM == STRATA_SYSTEM_EQUAL ? up[W - 1] : u[o][W - 1], 1), then = frame->beside[next][lane / ACROSS][last];
      T       west = first ? (FORM == STRATA_SYSTEM_EQUAL ? then : now) : left, high = up[W - 1] + east; /* high: east + north */
      T       leg[W][4];

      legs.take(s, o, leg);
#pragma unroll
      for (int m = 0; m < W; m++) {
        const int i = FORM == STRATA_SYSTEM_EQUAL ? W - 1 - m : m;
        const T   old = u[o][i];
        T         r;

        if (FORM == STRATA_SYSTEM_EQUAL) {
          r = fused(s.leg[0], sum[i] + high, b[o][i]);
          sum[i] = high = (i ? up[i ? i - 1 : 0] : west) + old;
        } else {
          const T v[4] = {west, i < W - 1 ? u[o][i < W - 1 ? i + 1 : i] : east, below[i], up[i]};

          r = strata_jacobi_legs(2, leg[i], b[o][i], v);
          west = below[i] = old;
        }
        if (FULL) r = strata_jacobi_damped(weight, old, r);
        if (MASKED && (o >= n || !(inside >> i & 1))) r = old;
        if (LAST && (rows >> o & 1) && (writes >> i & 1)) most = max(most, change_bits(r, old));
        u[o][i] = r;
      }
      now = then;
      __syncwarp(); /* keeps the compiler from mixing rows, for which it lacks registers */
    }
  }

  template <bool MASKED> __device__ __forceinline__ void sweeps()
  {
#pragma unroll 1
    for (int k = 0; k < p.sweeps - FULL; k++) sweep<MASKED, false>(FULL && p.weight ? __ldg(p.weight + k) : 1);
    if (FULL) sweep<MASKED, true>(p.weight ? __ldg(p.weight + p.sweeps - 1) : 1);
  }
};

template <class T, int FORM, bool FULL>
static __global__ void __launch_bounds__(WARPS *WARP, FORM == STRATA_SYSTEM_VARIABLE && sizeof(T) == 8 ? 2 : 3)
    sweep_small(__grid_constant__ const typename Typed<T>::System s, __grid_constant__ const Pass<T> p, __grid_constant__ const StrataTiling t)
{
  extern __shared__ __align__(16) char memory[];
  __shared__ Frame<T>  frames[WARPS];
  const int            lane = threadIdx.x % WARP, n0 = s.n[0], n1 = s.n[1];
  const ptrdiff_t      tile = (ptrdiff_t)blockIdx.x * WARPS + threadIdx.x / WARP;
  const int            across = strata_tiles(n0, p.box.lo[0], p.box.hi[0], t.tile[0], t.overlap[0]);
  const int            along = strata_tiles(n1, p.box.lo[1], p.box.hi[1], t.tile[1], t.overlap[1]);
  Small<T, FORM, FULL> small(s, p);
  int                  f[2][2], e[2][2];

  if (tile >= (ptrdiff_t)across * along) return;
  strata_tile(n0, p.box.lo[0], p.box.hi[0], t.tile[0], t.overlap[0], (int)(tile % across), f[0], e[0]);
  strata_tile(n1, p.box.lo[1], p.box.hi[1], t.tile[1], t.overlap[1], (int)(tile / across), f[1], e[1]);

  const int  columns = e[0][0] - f[0][0], rows = e[1][0] - f[1][0], column = f[0][0] + lane % ACROSS * W, row = f[1][0] + lane / ACROSS * OWN;
  const bool wide = ((f[0][0] | n0) & 1) == 0 && (((uintptr_t)p.x | (uintptr_t)p.b | (uintptr_t)p.y) % sizeof(Pack<T, 2>)) == 0;
  Frame<T>  &frame = frames[threadIdx.x / WARP];

  small.legs.place(memory);
  small.frame = &frame;
  small.lane = lane;
  small.n = min(max(e[1][0] - row, 0), OWN);
  small.most = 0;
  small.inside = small.writes = small.rows = 0;
#pragma unroll
  for (int i = 0; i < W; i++) {
    small.inside |= (unsigned)(column + i < e[0][0]) << i;
    small.writes |= (unsigned)(column + i >= f[0][1] && column + i < e[0][1]) << i;
  }
#pragma unroll
  for (int o = 0; o < OWN; o++) {
    const int       j = row + o;
    const ptrdiff_t id = (ptrdiff_t)n0 * j;

    small.rows |= (unsigned)(j >= f[1][1] && j < e[1][1]) << o;
    small.legs.load(s, o, id + column, j < n1 ? n0 - column : 0);
#pragma unroll
    for (int i = 0; i < W; i += 2) {
      Pack<T, 2> x = {{0, 0}}, b = {{0, 0}};

      if (wide) {
        if (j < n1 && column + i < n0) {
          x = *reinterpret_cast<const Pack<T, 2> *>(p.x + id + column + i);
          b = *reinterpret_cast<const Pack<T, 2> *>(p.b + id + column + i);
        }
      } else {
#pragma unroll
        for (int m = 0; m < 2; m++) {
          if (j >= n1 || column + i + m >= n0) continue;
          x.v[m] = p.x[id + column + i + m];
          b.v[m] = p.b[id + column + i + m];
        }
      }
#pragma unroll
      for (int m = 0; m < 2; m++) {
        small.u[o][i + m] = x.v[m];
        small.b[o][i + m] = b.v[m];
      }
    }
  }
#pragma unroll
  for (int side = 0; side < 2; side++) { /* a lane for each row */
    const int i = side ? f[0][0] + COLUMNS : f[0][0] - 1, j = f[1][0] + lane;

    frame.beside[lane % OWN][lane / OWN][side] = i >= 0 && i < n0 && j < n1 ? p.x[(ptrdiff_t)n0 * j + i] : 0;
  }
#pragma unroll
  for (int i = 0; i < W; i++) {
    const int j = lane < ACROSS ? f[1][0] - 1 : f[1][0] + ROWS;

    frame.outer[i][lane] = j >= 0 && j < n1 && column + i < n0 ? p.x[(ptrdiff_t)n0 * j + column + i] : 0;
  }
  __syncwarp();
  if (columns == COLUMNS && rows == ROWS)
    small.template sweeps<false>();
  else
    small.template sweeps<true>();
#pragma unroll
  for (int o = 0; o < OWN; o++) {
    T *const y = p.y + (ptrdiff_t)n0 * (row + o) + column;

    if (!(small.rows >> o & 1)) continue;
#pragma unroll
    for (int i = 0; i < W; i += 2) {
      if (wide && (small.writes >> i & 3) == 3) {
        Pack<T, 2> out;

        out.v[0] = small.u[o][i];
        out.v[1] = small.u[o][i + 1];
        *reinterpret_cast<Pack<T, 2> *>(y + i) = out;
      } else {
#pragma unroll
        for (int m = 0; m < 2; m++)
          if (small.writes >> (i + m) & 1) y[i + m] = small.u[o][i + m];
      }
    }
  }
  if (FULL && p.change) join_change(small.most, p.change);
}

template <class T> void small_limit(int cells[2])
{
  cells[0] = COLUMNS;
  cells[1] = ROWS;
}

template <class T, int FORM, bool FULL>
static cudaError_t small_launch(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream)
{
  const ptrdiff_t tiles = (ptrdiff_t)strata_tiles(s.n[0], p.box.lo[0], p.box.hi[0], t.tile[0], t.overlap[0]) *
                          strata_tiles(s.n[1], p.box.lo[1], p.box.hi[1], t.tile[1], t.overlap[1]);

  const int         bytes = WARPS * HeldLegs<T, FORM, OWN, W>::BYTES;
  const cudaError_t err = cudaFuncSetAttribute(sweep_small<T, FORM, FULL>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);

  if (err != cudaSuccess) return err;
  if (tiles > 2147483647) return cudaErrorInvalidConfiguration;
  sweep_small<T, FORM, FULL><<<(unsigned)((tiles + WARPS - 1) / WARPS), WARPS * WARP, bytes, stream>>>(s, p, t);
  return cudaGetLastError();
}

template <class T, int FORM>
static cudaError_t small_kind(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream)
{
  return p.weight || p.change ? small_launch<T, FORM, true>(s, t, p, stream) : small_launch<T, FORM, false>(s, t, p, stream);
}

template <class T> cudaError_t small_sweeps(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream)
{
  if (s.form == STRATA_SYSTEM_EQUAL) return small_kind<T, STRATA_SYSTEM_EQUAL>(s, t, p, stream);
  if (s.form == STRATA_SYSTEM_CONSTANT) return small_kind<T, STRATA_SYSTEM_CONSTANT>(s, t, p, stream);
  return small_kind<T, STRATA_SYSTEM_VARIABLE>(s, t, p, stream);
}

template void        small_limit<double>(int[2]);
template void        small_limit<float>(int[2]);
template cudaError_t small_sweeps<double>(const StrataSystem_d &, const StrataTiling &, const Pass<double> &, cudaStream_t);
template cudaError_t small_sweeps<float>(const StrataSystem_f &, const StrataTiling &, const Pass<float> &, cudaStream_t);
