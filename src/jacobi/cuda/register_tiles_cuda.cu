/*
   Cycles of 2D tiles in registers: a block holds a tile and its right-hand side for all sweeps, a warp some rows of it, a lane W columns of these.
   Neighbours in x come from the next lanes, the rows above and below a warp's own through shared memory, with one barrier a sweep. Cells of the
   block beyond the tile keep their values, which are those of the frame. Legs of its own that a cell has are held too, as in held_legs_cuda.h.
*/
#include "edges_cuda.h"
#include "held_legs_cuda.h"
#include "register_cuda.h"

/* Columns of a lane, rows of a warp, warps of a block */
template <int FORM> struct Shape {
  static constexpr int W = FORM == STRATA_SYSTEM_VARIABLE ? 4 : 6, OWN = 7, WARPS = 8, COLUMNS = W * WARP, ROWS = OWN * WARPS, PAIRS = W / 2;
};

template <class T, int FORM> using Edges = WarpEdges<T, Shape<FORM>::W, Shape<FORM>::WARPS>;
template <class T, int FORM> using Held = HeldLegs<T, FORM, Shape<FORM>::OWN, Shape<FORM>::W>;

template <class T, int FORM, bool FULL> struct Patch {
  static constexpr int W = Shape<FORM>::W, OWN = Shape<FORM>::OWN;

  const typename Typed<T>::System &s;
  const Pass<T>                   &p;
  Edges<T, FORM>                  *edges;                /* two */
  int                              warp, n;              /* rows of the warp that are swept */
  unsigned                         inside, writes, rows; /* which of the lane's columns are swept, and written; which rows are written */
  bool                             first, last;          /* of the lanes */
  T                                equal;                /* leg; zero in lanes that keep their values */
  T                                u[OWN][W], b[OWN][W], frame[OWN];
  Held<T, FORM>                    legs;
  typename Typed<T>::Bits          most;

  __device__ __forceinline__ Patch(const typename Typed<T>::System &s_, const Pass<T> &p_) : s(s_), p(p_)
  {
  }

  /* MASKED: the tile ends within the columns of a lane */
  template <bool MASKED> __device__ __forceinline__ void sweep(int k)
  {
    const Edges<T, FORM> &from = edges[k & 1];
    Edges<T, FORM>       &to = edges[~k & 1];
    const T               weight = FULL && p.weight ? __ldg(p.weight + k) : 1;
    const bool            change = FULL && p.change && k == p.sweeps - 1;
    T sum[W], above[W], below[W]; /* sum: west + south, which is also east + north of the row below; below: the row's old values */

    from.take(below, warp - 1, 1);
    from.take(above, warp + 1, 0);
    if (FORM == STRATA_SYSTEM_EQUAL) {
      const T other = __shfl_up_sync(~0u, u[0][W - 1], 1), west = first ? frame[0] : other;

#pragma unroll
      for (int i = 0; i < W; i++) sum[i] = (i ? u[0][i ? i - 1 : 0] : west) + below[i];
    }
#pragma unroll
    for (int o = 0; o < OWN; o++) {
      if (o >= n) break;
      const int next = o < OWN - 1 ? o + 1 : o;
      const T(&up)[W] = o < OWN - 1 ? u[next] : above;
      T old[W];

      __syncwarp(); /* keeps the compiler from mixing rows, for which it lacks registers */
      const T right = __shfl_down_sync(~0u, u[o][0], 1), east = last ? frame[o] : right;

#pragma unroll
      for (int i = 0; i < W; i++) old[i] = u[o][i];
      if (FORM == STRATA_SYSTEM_EQUAL) {
        const T other = __shfl_up_sync(~0u, up[W - 1], 1), west = first ? frame[next] : other;

#pragma unroll
        for (int i = W - 1; i >= 0; i--) {
          const T high = (i < W - 1 ? old[i < W - 1 ? i + 1 : i] : east) + up[i]; /* west + south of the cell to the north-east */

          u[o][i] = fused(equal, sum[i] + high, b[o][i]);
          if (i < W - 1) sum[i < W - 1 ? i + 1 : i] = high;
        }
        sum[0] = west + old[0];
      } else {
        const T other = __shfl_up_sync(~0u, old[W - 1], 1), west = first ? frame[o] : other;
        T       leg[W][4];

        legs.take(s, o, leg);
#pragma unroll
        for (int i = 0; i < W; i++) {
          const T v[4] = {i ? old[i ? i - 1 : 0] : west, i < W - 1 ? old[i < W - 1 ? i + 1 : i] : east, below[i], up[i]};

          u[o][i] = strata_jacobi_legs(2, leg[i], b[o][i], v);
        }
#pragma unroll
        for (int i = 0; i < W; i++) below[i] = old[i];
      }
#pragma unroll
      for (int i = 0; i < W; i++) {
        if (FULL) u[o][i] = strata_jacobi_damped(weight, old[i], u[o][i]);
        if ((MASKED || FORM != STRATA_SYSTEM_EQUAL) && !(inside >> i & 1)) u[o][i] = old[i];
        if (change && (rows >> o & 1) && (writes >> i & 1)) most = max(most, change_bits(u[o][i], old[i]));
      }
      if (o == 0) to.put(u[0], warp, 0);
    }
    if (n <= 0) to.put(u[0], warp, 0);
    to.put(u[OWN - 1], warp, 1);
    __syncthreads();
  }
};

template <class T, int FORM, bool FULL>
static __global__ void __launch_bounds__(Shape<FORM>::WARPS *WARP, 1)
    sweep_patch(__grid_constant__ const typename Typed<T>::System s, __grid_constant__ const Pass<T> p, __grid_constant__ const StrataTiling t)
{
  constexpr int     W = Shape<FORM>::W, OWN = Shape<FORM>::OWN, WARPS = Shape<FORM>::WARPS, COLUMNS = Shape<FORM>::COLUMNS, ROWS = Shape<FORM>::ROWS;
  extern __shared__ __align__(16) char memory[];
  const int                            lane = threadIdx.x % WARP, n0 = s.n[0], n1 = s.n[1];
  Patch<T, FORM, FULL>                 patch(s, p);
  int                                  f[2][2], e[2][2];

  {
    const int across = strata_tiles(n0, p.box.lo[0], p.box.hi[0], t.tile[0], t.overlap[0]);

    strata_tile(n0, p.box.lo[0], p.box.hi[0], t.tile[0], t.overlap[0], (int)blockIdx.x % across, f[0], e[0]);
    strata_tile(n1, p.box.lo[1], p.box.hi[1], t.tile[1], t.overlap[1], (int)blockIdx.x / across, f[1], e[1]);
  }
  const int  columns = e[0][0] - f[0][0], rows = e[1][0] - f[1][0], column = f[0][0] + lane * W;
  const bool wide = ((f[0][0] | n0) & 1) == 0 && (((uintptr_t)p.x | (uintptr_t)p.b) % sizeof(Pack<T, 2>)) == 0;

  patch.edges = (Edges<T, FORM> *)memory;
  patch.legs.place(memory + 2 * sizeof(Edges<T, FORM>));
  patch.warp = threadIdx.x / WARP;
  patch.n = min(max(rows - patch.warp * OWN, 0), OWN);
  patch.first = lane == 0;
  patch.last = lane == WARP - 1;
  patch.most = 0;
  patch.inside = patch.writes = patch.rows = 0;
#pragma unroll
  for (int i = 0; i < W; i++) {
    if (lane * W + i < columns) patch.inside |= 1u << i;
    if (column + i >= f[0][1] && column + i < e[0][1]) patch.writes |= 1u << i;
  }
  patch.equal = patch.inside ? s.leg[0] : 0;
#pragma unroll
  for (int o = 0; o < OWN; o++) {
    const int       j = f[1][0] + patch.warp * OWN + o, edge = f[0][0] + (lane ? COLUMNS : -1);
    const bool      there = j < n1;
    const ptrdiff_t id = (ptrdiff_t)n0 * j;

    if (j >= f[1][1] && j < e[1][1]) patch.rows |= 1u << o;
    patch.frame[o] = there && (lane == 0 || lane == WARP - 1) && edge >= 0 && edge < n0 ? p.x[id + edge] : 0;
    patch.legs.load(s, o, id + column, there ? n0 - column : 0);
#pragma unroll
    for (int q = 0; q < W / 2; q++) {
      const int i = column + 2 * q;

      if (wide) {
        Pack<T, 2> x = {{0, 0}}, b = {{0, 0}};

        if (there && i < n0) {
          x = *reinterpret_cast<const Pack<T, 2> *>(p.x + id + i);
          b = *reinterpret_cast<const Pack<T, 2> *>(p.b + id + i);
        }
#pragma unroll
        for (int m = 0; m < 2; m++) {
          patch.u[o][2 * q + m] = x.v[m];
          patch.b[o][2 * q + m] = b.v[m];
        }
      } else {
#pragma unroll
        for (int m = 0; m < 2; m++) {
          patch.u[o][2 * q + m] = there && i + m < n0 ? p.x[id + i + m] : 0;
          patch.b[o][2 * q + m] = there && i + m < n0 ? p.b[id + i + m] : 0;
        }
      }
    }
    if (!patch.inside) { /* these lanes keep what they have */
#pragma unroll
      for (int i = 0; i < W; i++) patch.b[o][i] = patch.u[o][i];
    }
  }
  for (int k = 0; k < 2; k++) {
    patch.edges[k].put(patch.u[0], patch.warp, 0);
    patch.edges[k].put(patch.u[OWN - 1], patch.warp, 1);
    if (patch.warp < 2) { /* the frame's rows below and above the block */
      const int  j = patch.warp ? f[1][0] + ROWS : f[1][0] - 1;
      const bool there = j >= 0 && j < n1;
      T          row[W];

#pragma unroll
      for (int i = 0; i < W; i++) row[i] = there && column + i < n0 ? p.x[(ptrdiff_t)n0 * j + column + i] : 0;
      patch.edges[k].put(row, patch.warp ? WARPS : -1, patch.warp ? 0 : 1);
    }
  }
  __syncthreads();
  if (columns % W == 0) {
#pragma unroll 1
    for (int k = 0; k < p.sweeps; k++) patch.template sweep<false>(k);
  } else {
#pragma unroll 1
    for (int k = 0; k < p.sweeps; k++) patch.template sweep<true>(k);
  }
#pragma unroll
  for (int o = 0; o < OWN; o++) {
    T *const y = p.y + (ptrdiff_t)n0 * (f[1][0] + patch.warp * OWN + o) + column;

    if (!(patch.rows >> o & 1)) continue;
#pragma unroll
    for (int q = 0; q < W / 2; q++) {
      if (wide && (uintptr_t)p.y % sizeof(Pack<T, 2>) == 0 && (patch.writes >> 2 * q & 3) == 3) {
        Pack<T, 2> out;

        out.v[0] = patch.u[o][2 * q];
        out.v[1] = patch.u[o][2 * q + 1];
        *reinterpret_cast<Pack<T, 2> *>(y + 2 * q) = out;
      } else {
#pragma unroll
        for (int m = 0; m < 2; m++)
          if (patch.writes >> (2 * q + m) & 1) y[2 * q + m] = patch.u[o][2 * q + m];
      }
    }
  }
  if (FULL && p.change) join_change(patch.most, p.change);
}

template <class T> void tiles_limit(const typename Typed<T>::System &s, int cells[2])
{
  cells[0] = s.form == STRATA_SYSTEM_VARIABLE ? Shape<STRATA_SYSTEM_VARIABLE>::COLUMNS : Shape<STRATA_SYSTEM_EQUAL>::COLUMNS;
  cells[1] = Shape<STRATA_SYSTEM_EQUAL>::ROWS;
}

template <class T, int FORM, bool FULL>
static cudaError_t patch_launch(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream)
{
  const int       bytes = 2 * (int)sizeof(Edges<T, FORM>) + Shape<FORM>::WARPS * Held<T, FORM>::BYTES;
  const ptrdiff_t tiles = (ptrdiff_t)strata_tiles(s.n[0], p.box.lo[0], p.box.hi[0], t.tile[0], t.overlap[0]) *
                          strata_tiles(s.n[1], p.box.lo[1], p.box.hi[1], t.tile[1], t.overlap[1]);
  const cudaError_t err = cudaFuncSetAttribute(sweep_patch<T, FORM, FULL>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);

  if (err != cudaSuccess) return err;
  if (tiles > 2147483647) return cudaErrorInvalidConfiguration;
  sweep_patch<T, FORM, FULL><<<(unsigned)tiles, Shape<FORM>::WARPS * WARP, bytes, stream>>>(s, p, t);
  return cudaGetLastError();
}

template <class T, int FORM>
static cudaError_t patch_kind(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream)
{
  return p.weight || p.change ? patch_launch<T, FORM, true>(s, t, p, stream) : patch_launch<T, FORM, false>(s, t, p, stream);
}

template <class T> cudaError_t tiles_sweeps(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream)
{
  if (s.form == STRATA_SYSTEM_EQUAL) return patch_kind<T, STRATA_SYSTEM_EQUAL>(s, t, p, stream);
  if (s.form == STRATA_SYSTEM_CONSTANT) return patch_kind<T, STRATA_SYSTEM_CONSTANT>(s, t, p, stream);
  return patch_kind<T, STRATA_SYSTEM_VARIABLE>(s, t, p, stream);
}

template void        tiles_limit<double>(const StrataSystem_d &, int[2]);
template void        tiles_limit<float>(const StrataSystem_f &, int[2]);
template cudaError_t tiles_sweeps<double>(const StrataSystem_d &, const StrataTiling &, const Pass<double> &, cudaStream_t);
template cudaError_t tiles_sweeps<float>(const StrataSystem_f &, const StrataTiling &, const Pass<float> &, cudaStream_t);
