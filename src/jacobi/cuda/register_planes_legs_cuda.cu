/*
   Exact sweeps of 3D grids whose cells have legs of their own. A block owns a strip of columns and some rows, a warp a few of these rows, and walks
   up the planes with K sweeps under way: plane t of the old iterate enters, sweep l makes its plane t - l, plane t - K of the new iterate leaves.
   A cell's record, its right-hand side and its legs, comes to shared memory two planes ahead and serves all sweeps from there or, for the last ones,
   from registers. A warp uses its own records alone and has the next plane fetched once it has used them; x comes one plane ahead, since the rows
   beside a warp's own are read by the next warps. A block needs one barrier a plane. K - 1 rows at either side of a block are computed by two blocks.
*/
#include "blocks_cuda.h"
#include "register_cuda.h"

/* Rows of a warp, warps of a block, planes of records in shared memory (one of them is on its way), and those in registers */
template <class T, int K> struct Records : Strip<T, K, 16 / sizeof(T)> {
  typedef Strip<T, K, 16 / sizeof(T)> S;
  /* rows begin with whole sectors of the memory; in single precision the columns that are written fill half lines */
  static constexpr int BEYOND = sizeof(T) == 4 ? 16 : 4, HALO = sizeof(T) == 4 ? 8 : S::HALO, STEP = S::COLUMNS - 2 * HALO;
  static constexpr int OWN = 2, WARPS = 8, SLOTS = K == 2 ? 3 : 2, KEPT = K + 1 - SLOTS, XSLOTS = 3;

  static constexpr int ARRAYS = STRATA_LEGS + 1, FRAME = K - 1, ROWS = OWN * WARPS, STEP_ROWS = ROWS - 2 * FRAME;
  static constexpr int PLANE = ROWS * S::COLUMNS, XPLANE = (ROWS + 2) * S::COLUMNS, RECORDS = ARRAYS * PLANE;
  static constexpr int EDGE = (WARPS + 2) * 2 * S::COLUMNS, EDGES = (K - 1) * EDGE;
  static constexpr int BYTES = (XSLOTS * XPLANE + SLOTS * RECORDS + 2 * EDGES) * (int)sizeof(T);
};

template <class T, int K, bool FULL, bool WIDE> struct Ascent {
  typedef Records<T, K>  S;
  typedef Fetch<S, WIDE> F;
  static constexpr int   W = S::W, OWN = S::OWN, C = S::COLUMNS, PIECES = F::PIECES;

  const typename Typed<T>::System &s;
  const Pass<T>                   &p;
  T                               *x, *records, *edges; /* in shared memory */
  int                              row, z0, z1;         /* the warp's first row, planes that are written */
  int                              warp, parity;
  unsigned                         inside, rows; /* which of the lane's cells are in the array, which rows are written */
  int                              xr, r;        /* in the rings: x of plane t, records of plane t - 1 */
  ptrdiff_t                        from[OWN + 1][PIECES];
  unsigned                         fetches; /* which of these pieces there are */
  T                                cur[K][OWN][W], low[K][OWN][W], kept[S::KEPT > 0 ? S::KEPT : 1][OWN][S::ARRAYS][W];
  typename Typed<T>::Bits          most;

  __device__ __forceinline__ Ascent(const typename Typed<T>::System &s_, const Pass<T> &p_) : s(s_), p(p_)
  {
  }

  /* In a ring, some steps further */
  static __device__ __forceinline__ int next(int slot, int steps, int size, int slots)
  {
    const int to = slot + steps * size;

    return to >= slots * size ? to - slots * size : to;
  }

  /* Where the lane's pieces of a row lie in a plane of an array: in the nearest row and columns, where it has none of its own */
  __device__ __forceinline__ void aim(const Place<S> &place, int j, ptrdiff_t (&to)[PIECES], unsigned &ok, int bit) const
  {
#pragma unroll
    for (int q = 0; q < PIECES; q++) {
      const int column = place.column + F::column(q);

      to[q] = min(max(column, 0), s.n[0] - F::NUMBERS) + s.n[0] * (ptrdiff_t)min(max(j, 0), s.n[1] - 1);
      if (column >= 0 && column < s.n[0] && j >= 0 && j < s.n[1]) ok |= 1u << (bit * PIECES + q);
    }
  }

  __device__ __forceinline__ void aim(const Place<S> &place)
  {
    fetches = 0;
#pragma unroll
    for (int o = 0; o < OWN; o++) aim(place, row + o, from[o], fetches, o);
    aim(place, warp ? row + OWN : row - 1, from[OWN], fetches, OWN);
  }

  /* Pieces of a row; zeros where there is none */
  __device__ __forceinline__ void fetch_row(const T *array, const ptrdiff_t (&at)[PIECES], unsigned ok, T *to) const
  {
    constexpr int BYTES = F::NUMBERS * (int)sizeof(T);

#pragma unroll
    for (int q = 0; q < PIECES; q++) copy_async<BYTES>(to + F::to(q), array + at[q], ok >> q & 1 ? BYTES : 0);
  }

  /* x of plane z; the rows next to the block belong to the first and the last warp */
  __device__ __forceinline__ void fetch_x(int z, int slot)
  {
    if (z < z1 + K) {
      const bool     there = z < s.n[2];
      const T *const array = p.x + (there ? z : 0) * ((ptrdiff_t)s.n[0] * s.n[1]);
      const unsigned ok = there ? fetches : 0;
      T *const       to = x + slot + (warp * OWN + 1) * C;

#pragma unroll
      for (int o = 0; o < OWN; o++) fetch_row(array, from[o], ok >> (o * PIECES), to + o * C);
      if (warp == 0 || warp == S::WARPS - 1) fetch_row(array, from[OWN], ok >> (OWN * PIECES), warp ? to + OWN * C : to - C);
    }
    copies_end();
  }

  /* Records of plane z, where a sweep needs them */
  __device__ __forceinline__ void fetch_records(int z, int slot)
  {
    if (z < z1 + K - 1 && z < s.n[2]) {
      const ptrdiff_t plane = z * ((ptrdiff_t)s.n[0] * s.n[1]);
      T *const        to = records + slot + warp * OWN * C;

#pragma unroll
      for (int o = 0; o < OWN; o++)
#pragma unroll
        for (int a = 0; a < S::ARRAYS; a++)
          fetch_row((a ? s.legs[a ? a - 1 : 0] : p.b) + plane, from[o], fetches >> (o * PIECES), to + a * S::PLANE + o * C);
    }
    copies_end();
  }

  __device__ __forceinline__ void take_record(const Lane<S> &lane, int slot, int o, T (&to)[S::ARRAYS][W]) const
  {
#pragma unroll
    for (int a = 0; a < S::ARRAYS; a++) lane.take(to[a], records + slot + a * S::PLANE + (warp * OWN + o) * C);
  }

  /* All planes of a chunk go through all sweeps */
  __device__ __forceinline__ void planes(const Place<S> &place, const Store<S, WIDE> &store)
  {
    const Lane<S>   lane;
    const ptrdiff_t plane = (ptrdiff_t)s.n[0] * s.n[1];
    const int       begin = max(z0 - K, 0), end = z1 + K, south = warp * OWN * C, north = south + (OWN + 1) * C; /* rows of x beside the warp's own */
    const int       below = (warp * 2 + 1) * C, above = (warp + 2) * 2 * C;                                      /* the next warps' edges */
    T              *y = p.y + (begin - K) * plane + (ptrdiff_t)s.n[0] * row + place.column;

    xr = r = 0;
    aim(place);
    fetch_x(begin, 0);
    fetch_records(begin, next(r, 1, S::RECORDS, S::SLOTS));
#pragma unroll 2
    for (int t = begin; t < end; t++) {
      const T *const before = x + next(xr, 2, S::XPLANE, 3), *const left = edges + (parity ^ 1) * S::EDGES;
      T *const leave = edges + parity * S::EDGES;
      T        v[OWN][W];

      copies_wait<1>();
      __syncthreads();
      fetch_x(t + 1, next(xr, 1, S::XPLANE, 3));
#pragma unroll
      for (int o = 0; o < OWN; o++) lane.take(v[o], x + xr + south + (o + 1) * C);
#pragma unroll
      for (int l = 1; l <= K; l++) { /* v: plane t - l + 1 before sweep l */
        const bool     ok = t - l >= 0 && t - l < s.n[2];
        const unsigned live = ok ? inside : 0;
        const T        weight = FULL && p.weight ? __ldg(p.weight + l - 1) : 1;
        const int      slot = next(r, l == 1 ? 0 : S::SLOTS - (l - 1) % S::SLOTS, S::RECORDS, S::SLOTS);
        T(&u)[OWN][W] = cur[l - 1], (&d)[OWN][W] = low[l - 1];
        T edge[2][W]; /* the rows below and above */

        lane.take(edge[0], l == 1 ? before + south : left + (l - 2) * S::EDGE + below);
        lane.take(edge[1], l == 1 ? before + north : left + (l - 2) * S::EDGE + above);
#pragma unroll
        for (int o = 0; o < OWN; o++) {
          const T(&up)[W] = o < OWN - 1 ? u[o < OWN - 1 ? o + 1 : o] : edge[1];
          const T(&down)[W] = o ? u[o ? o - 1 : 0] : edge[0];
          const T east = __shfl_down_sync(~0u, u[o][0], 1), west = __shfl_up_sync(~0u, u[o][W - 1], 1);
          T       record[S::ARRAYS][W], w[W];

          if (l < S::SLOTS) take_record(lane, slot, o, record);
#pragma unroll
          for (int i = 0; i < W; i++) {
            const T a[STRATA_LEGS] = {
                i ? u[o][i ? i - 1 : 0] : west, i < W - 1 ? u[o][i < W - 1 ? i + 1 : i] : east, down[i], up[i], d[o][i], v[o][i]};
            T leg[STRATA_LEGS], b;

#pragma unroll
            for (int m = 0; m < S::ARRAYS; m++) {
              const T number = l < S::SLOTS ? record[m][i] : kept[l < S::SLOTS ? 0 : l - S::SLOTS][o][m][i];

              if (m)
                leg[m ? m - 1 : 0] = number;
              else
                b = number;
            }
            w[i] = strata_jacobi_legs(3, leg, b, a);
            if (FULL) w[i] = strata_jacobi_damped(weight, u[o][i], w[i]);
            if (!(live >> (o * W + i) & 1)) w[i] = 0;
            if (FULL && l == K && p.change && t - K >= z0 && (rows >> o & 1) && (store.writes >> i & 1)) most = max(most, change_bits(w[i], u[o][i]));
          }
#pragma unroll
          for (int i = 0; i < W; i++) d[o][i] = w[i]; /* for now */
        }
#pragma unroll
        for (int o = 0; o < OWN; o++)
#pragma unroll
          for (int i = 0; i < W; i++) {
            const T w = d[o][i];

            d[o][i] = u[o][i];
            u[o][i] = v[o][i];
            v[o][i] = w;
          }
        if (l < K) {
          T *const mine = leave + (l - 1) * S::EDGE + (warp + 1) * 2 * C;

          lane.put(v[0], mine);
          lane.put(v[OWN - 1], mine + C);
        }
      }
      const int oldest = next(r, 2 % S::SLOTS, S::RECORDS, S::SLOTS);

      if (S::KEPT > 0) {
#pragma unroll
        for (int o = 0; o < OWN; o++) {
#pragma unroll
          for (int q = S::KEPT - 1; q > 0; q--)
#pragma unroll
            for (int m = 0; m < S::ARRAYS; m++)
#pragma unroll
              for (int i = 0; i < W; i++) kept[q][o][m][i] = kept[q ? q - 1 : 0][o][m][i];
          take_record(lane, oldest, o, kept[0][o]);
        }
      }
      __syncwarp();
      fetch_records(t + 1, oldest);
      r = next(r, 1, S::RECORDS, S::SLOTS);
      xr = next(xr, 1, S::XPLANE, 3);
      parity ^= 1;
#pragma unroll
      for (int o = 0; o < OWN; o++) store.put(v[o], t - K >= z0 && (rows >> o & 1), y + (ptrdiff_t)s.n[0] * o);
      y += plane;
    }
    copies_wait<0>();
    __syncthreads(); /* the next chunk's first planes go where this one's last are read */
  }
};

template <class T, int K, bool FULL, bool WIDE>
static __global__ void __launch_bounds__(Records<T, K>::WARPS *WARP, 1)
    stream_records(__grid_constant__ const typename Typed<T>::System s, __grid_constant__ const Pass<T> p, __grid_constant__ const Blocks blocks)
{
  typedef Records<T, K> S;
  extern __shared__ __align__(16) char memory[];
  Ascent<T, K, FULL, WIDE>             ascent(s, p);

  ascent.warp = threadIdx.x / WARP;
  ascent.x = (T *)memory;
  ascent.records = ascent.x + S::XSLOTS * S::XPLANE;
  ascent.edges = ascent.records + S::SLOTS * S::RECORDS;
  ascent.most = 0;
  ascent.parity = 0;
  for (int q = threadIdx.x; q < 2 * S::EDGES; q += S::WARPS * WARP) ascent.edges[q] = 0; /* beyond the block it stays so */
  __syncthreads();
#pragma unroll 1
  for (int task = blockIdx.x; task < blocks.strips.count * blocks.bands * blocks.chunks; task += gridDim.x) {
    const int            strip = task % blocks.strips.count, band = task / blocks.strips.count % blocks.bands, n0 = s.n[0], n1 = s.n[1];
    const int            start = blocks.base + band * S::STEP_ROWS; /* the block's first row, and those that it writes */
    const int            first = band ? start + S::FRAME : p.box.lo[1], last = band < blocks.bands - 1 ? start + S::ROWS - S::FRAME : p.box.hi[1];
    const Place<S>       place(blocks.strips, strip, n0, p.box.lo[0], p.box.hi[0]);
    const Store<S, WIDE> store(place);
    const unsigned       columns = place.within(0, n0);

    ascent.z0 = p.box.lo[2] + task / blocks.strips.count / blocks.bands * blocks.height;
    ascent.z1 = min(ascent.z0 + blocks.height, p.box.hi[2]);
    if (ascent.z0 >= ascent.z1) continue;
    ascent.row = start + ascent.warp * S::OWN;
    ascent.inside = ascent.rows = 0;
#pragma unroll
    for (int o = 0; o < S::OWN; o++) {
      const int j = ascent.row + o;

      if (j >= 0 && j < n1) ascent.inside |= columns << o * S::W;
      if (j >= first && j < last) ascent.rows |= 1u << o;
    }
#pragma unroll
    for (int l = 0; l < K; l++)
#pragma unroll
      for (int o = 0; o < S::OWN; o++)
#pragma unroll
        for (int i = 0; i < S::W; i++) ascent.cur[l][o][i] = ascent.low[l][o][i] = 0;
#pragma unroll
    for (int q = 0; q < S::KEPT; q++)
#pragma unroll
      for (int o = 0; o < S::OWN; o++)
#pragma unroll
        for (int m = 0; m < S::ARRAYS; m++)
#pragma unroll
          for (int i = 0; i < S::W; i++) ascent.kept[q][o][m][i] = 0;
    ascent.planes(place, store);
  }
  if (FULL && p.change) join_change(ascent.most, p.change);
}

template <class T, int K, bool FULL, bool WIDE>
static cudaError_t records_launch(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  typedef Records<T, K> S;
  Device                d;
  cudaError_t           err = device_limits(&d);

  if (err != cudaSuccess) return err;
  const Blocks c = cut_blocks<S>(s.n, p.box, d.processors, K);
  const int    tasks = c.strips.count * c.bands * c.chunks, blocks = tasks < d.processors ? tasks : d.processors;

  err = cudaFuncSetAttribute(stream_records<T, K, FULL, WIDE>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::BYTES);
  if (err != cudaSuccess) return err;
  stream_records<T, K, FULL, WIDE><<<blocks, S::WARPS * WARP, S::BYTES, stream>>>(s, p, c);
  return cudaGetLastError();
}

template <class T, int K> static cudaError_t records_kind(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  const bool wide = wide_rows<T>(s, p);

  if (p.weight || p.change) return wide ? records_launch<T, K, true, true>(s, p, stream) : records_launch<T, K, true, false>(s, p, stream);
  return wide ? records_launch<T, K, false, true>(s, p, stream) : records_launch<T, K, false, false>(s, p, stream);
}

template <class T> int records_depth(const typename Typed<T>::System &s, int sweeps)
{
  return sweeps < 2 ? 0 : sweeps < 3 ? 2 : 3;
}

/* Strips and bands have a fixed size, of which narrow grids leave much idle; grids that stay in the second-level cache are swept faster one by one */
template <class T> bool records_pay(const typename Typed<T>::System &s)
{
  typedef Records<T, 3> S;
  constexpr double      CACHE = 70e6, MOST = sizeof(T) == 4 ? 3 : 2; /* bytes; cells that are computed for one of the grid */
  const int             strips = (s.n[0] + S::BEYOND + S::STEP - 1) / S::STEP, bands = (s.n[1] + S::STEP_ROWS - 1) / S::STEP_ROWS;
  const double          plane = (double)s.n[0] * s.n[1];

  return (S::ARRAYS + 2) * sizeof(T) * plane * s.n[2] >= CACHE && MOST * plane >= (double)strips * S::COLUMNS * bands * S::ROWS;
}

template <class T> cudaError_t records_sweeps(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  return p.sweeps == 3 ? records_kind<T, 3>(s, p, stream) : records_kind<T, 2>(s, p, stream);
}

template int         records_depth<double>(const StrataSystem_d &, int);
template int         records_depth<float>(const StrataSystem_f &, int);
template bool        records_pay<double>(const StrataSystem_d &);
template bool        records_pay<float>(const StrataSystem_f &);
template cudaError_t records_sweeps<double>(const StrataSystem_d &, const Pass<double> &, cudaStream_t);
template cudaError_t records_sweeps<float>(const StrataSystem_f &, const Pass<float> &, cudaStream_t);
