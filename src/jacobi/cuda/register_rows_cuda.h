/*
   Exact sweeps of 2D grids in registers. A warp owns a strip of columns, a lane W of them, and walks down the rows with K sweeps under way:
   row t of the old iterate enters, sweep l makes its row t - l, row t - K of the new iterate leaves. A sweep keeps one row and what the next one
   needs of it. Neighbours in x come from the next lanes; HALO columns at either side of a strip are computed by two warps. Rows of x, b and legs
   come to shared memory some rows ahead, and stay there until the last sweep has used them. Nothing waits for other warps.

   Where the array ends, a strip has one lane beyond the end, whose values stay zero since all that it gets is zero.
*/
#include "async_cuda.h"
#include "cycle_cuda.h"

/* Warps of a block, and rows that are fetched ahead: as many as registers and shared memory allow */
template <class T, int K, int FORM> struct Strips {
  static constexpr bool SINGLE = sizeof(T) == 4, LEGS = FORM == STRATA_SYSTEM_VARIABLE;
  static constexpr int  WARPS = LEGS ? (SINGLE ? (K == 8 ? 8 : K == 4 ? 12 : 16) : K == 4 ? 6 : 8) : SINGLE ? (K >= 8 ? 12 : 16) : K == 8 ? 8 : 12;
  static constexpr int  AHEAD = LEGS ? 2 : !SINGLE && K == 8 ? 8 : 4;

  static constexpr int W = 4, PER16 = 16 / sizeof(T), CHUNKS = W / PER16, COLUMNS = WARP * W; /* numbers in 16 bytes, such chunks of a lane */
  static constexpr int HALO = (K + PER16 - 1) / PER16 * PER16, STEP = COLUMNS - 2 * HALO;
  static constexpr int ARRAYS = LEGS ? 5 : 1, XROWS = AHEAD + 1, ROWS = K + AHEAD, ROW = ARRAYS * COLUMNS;
  static constexpr int NUMBERS = XROWS * COLUMNS + ROWS * ROW, WEIGHTS = 32;
  static constexpr int BYTES = (WARPS * NUMBERS + WEIGHTS) * (int)sizeof(T);
};

/* How the box is cut into strips and chunks of rows, one of each at a time for a warp */
struct Cut {
  int base, step, strips, height, chunks;
};

/* Where a chunk of 16 bytes of a row lies in shared memory: a lane's two are read without conflicts of banks, and a copy of 128 bytes stays one */
template <int CHUNKS> static __device__ __forceinline__ int chunk_place(int c)
{
  return CHUNKS == 2 ? c ^ (c >> 3 & 1) : c;
}

template <class T, int W> static __device__ __forceinline__ void take_row(T (&to)[W], const T *row, int first, int second)
{
  constexpr int        PER16 = 16 / sizeof(T);
  const Pack<T, PER16> p = *reinterpret_cast<const Pack<T, PER16> *>(row + first);
#pragma unroll
  for (int i = 0; i < PER16; i++) to[i] = p.v[i];
  if (W > PER16) {
    const Pack<T, PER16> o = *reinterpret_cast<const Pack<T, PER16> *>(row + second);
#pragma unroll
    for (int i = 0; i < PER16; i++) to[(W - PER16) + i] = o.v[i];
  }
}

template <class T, int K, int FORM, bool FULL, bool WIDE> struct Walk {
  typedef Strips<T, K, FORM> S;
  static constexpr int       W = S::W, PER16 = S::PER16;

  const typename Typed<T>::System &s;
  const Pass<T>                   &p;
  T                               *xring, *ring;
  const T                         *weights;
  int                              lane, column, first, last, y0, y1; /* first of the strip; columns and rows that are written */
  unsigned                         inside, writes;                    /* which of the lane's columns are in the array, and are written */
  int                              xr, r;                             /* in the rings: row t */
  T                                west, east, equal;                 /* legs; zero where they would reach into the lane beyond the end */
  T                                old[K][W], kept[K][W];
  typename Typed<T>::Bits          most;

  __device__ __forceinline__ Walk(const typename Typed<T>::System &s_, const Pass<T> &p_) : s(s_), p(p_)
  {
  }

  /* Row r of x and of the legs, row r or r - 1 of b and row r - 1 of the north legs: what the sweeps need together */
  template <bool FAST> __device__ __forceinline__ void fetch(int row, int xto, int to)
  {
    constexpr int   PIECES = WIDE ? S::CHUNKS : W, NUMBERS = WIDE ? PER16 : 1, BYTES = NUMBERS * (int)sizeof(T);
    const int       brow = FORM == STRATA_SYSTEM_EQUAL ? row - 1 : row, n0 = s.n[0], n1 = s.n[1];
    const bool      rowok = FAST || (row >= 0 && row < n1), browok = FAST || (brow >= 0 && brow < n1), belowok = FAST || (row >= 1 && row <= n1);
    const ptrdiff_t id = rowok ? (ptrdiff_t)row * n0 : 0, bid = browok ? (ptrdiff_t)brow * n0 : 0, below = belowok ? (ptrdiff_t)(row - 1) * n0 : 0;

#pragma unroll
    for (int q = 0; q < PIECES; q++) {
      const int  e = (q * WARP + lane) * NUMBERS, at = chunk_place<S::CHUNKS>(e / PER16) * PER16 + e % PER16;
      const bool ok = FAST && q > 0 && q < PIECES - 1 ? true : column + e >= 0 && column + e < n0;
      const int  i = ok ? column + e : 0;

      copy_async<BYTES>(xring + xto + at, p.x + id + i, ok && rowok ? BYTES : 0);
      copy_async<BYTES>(ring + to + at, p.b + bid + i, ok && browok ? BYTES : 0);
      if (FORM == STRATA_SYSTEM_VARIABLE) {
#pragma unroll
        for (int l = 0; l < 4; l++) {
          const bool north = l == STRATA_NORTH;

          copy_async<BYTES>(ring + to + (l + 1) * S::COLUMNS + at, s.legs[l] + (north ? below : id) + i, ok && (north ? belowok : rowok) ? BYTES : 0);
        }
      }
    }
    copies_end();
  }

  /* Rows t <= row < end go through all sweeps. FAST: all rows that are touched are in the array, and so are the lanes or lie beyond its end. */
  template <bool FAST> __device__ __forceinline__ void rows(int t, int end)
  {
    constexpr int SIZE = S::ROWS * S::ROW, XSIZE = S::XROWS * S::COLUMNS;
    const int     l0 = chunk_place<S::CHUNKS>(lane * S::CHUNKS) * PER16, l1 = l0 ^ PER16, odd = lane & 1;
    const int     e0 = (S::CHUNKS == 2 ? 2 * lane - odd : lane) * PER16; /* the lane stores chunks here and 2 chunks further */
    T            *y = p.y + (ptrdiff_t)(t - K) * s.n[0] + column;
    bool          whole[S::CHUNKS], part[S::CHUNKS];

#pragma unroll
    for (int q = 0; q < S::CHUNKS; q++) {
      const int i = column + e0 + 2 * q * PER16;

      whole[q] = i >= first && i + PER16 <= last;
      part[q] = !whole[q] && i + PER16 > first && i < last;
    }
#pragma unroll 1
    for (; t < end; t++) {
      const unsigned slot = (unsigned)(r - K * S::ROW);
      T              v[W];

      copies_wait<S::AHEAD - 1>();
      __syncwarp();
      fetch<FAST>(t + S::AHEAD, xr ? xr - S::COLUMNS : XSIZE - S::COLUMNS, (int)min(slot, slot + SIZE));
      take_row(v, xring + xr, l0, l1);
#pragma unroll
      for (int l = 1; l <= K; l++) { /* v: row t - l + 1 before sweep l */
        const unsigned behind = (unsigned)(r - (l - 1) * S::ROW);
        const T *const row = ring + min(behind, behind + SIZE);
        const bool     rowok = FAST || (t - l >= 0 && t - l < s.n[1]);
        T(&u)[W] = old[l - 1], (&d)[W] = kept[l - 1];
        T b[W], w[W];

        take_row(b, row, l0, l1);
        if (FAST) __syncwarp(); /* keeps the compiler from mixing sweeps, for which it lacks registers */
        const T before = __shfl_up_sync(~0u, v[W - 1], 1);

        if (FORM == STRATA_SYSTEM_EQUAL) { /* d: west + south of row t - l, which are also east + north of the row below */
          T sum = v[W - 1] + __shfl_down_sync(~0u, u[0], 1);

#pragma unroll
          for (int i = W - 1; i >= 0; i--) {
            w[i] = fused(equal, d[i] + sum, b[i]);
            sum = (i ? v[i ? i - 1 : 0] : before) + u[i];
            d[i] = sum;
          }
        } else { /* d: all of row t - l but its north leg */
          const T after = __shfl_down_sync(~0u, v[0], 1);
          T       leg[4][W];

          if (FORM == STRATA_SYSTEM_VARIABLE) {
#pragma unroll
            for (int a = 0; a < 4; a++) take_row(leg[a], row + (a + 1) * S::COLUMNS, l0, l1);
          }
#pragma unroll
          for (int i = 0; i < W; i++) {
            const bool variable = FORM == STRATA_SYSTEM_VARIABLE;
            T          sum = fused(variable ? leg[STRATA_WEST][i] : i ? s.leg[STRATA_WEST] : west, i ? v[i ? i - 1 : 0] : before, b[i]);

            sum = fused(variable ? leg[STRATA_EAST][i] : i < W - 1 ? s.leg[STRATA_EAST] : east, i < W - 1 ? v[i < W - 1 ? i + 1 : i] : after, sum);
            w[i] = fused(variable ? leg[STRATA_NORTH][i] : s.leg[STRATA_NORTH], v[i], d[i]);
            d[i] = fused(variable ? leg[STRATA_SOUTH][i] : s.leg[STRATA_SOUTH], u[i], sum);
          }
        }
        if (FULL) {
          const T weight = weights[l - 1];

#pragma unroll
          for (int i = 0; i < W; i++) w[i] = strata_jacobi_damped(weight, u[i], w[i]);
        }
#pragma unroll
        for (int i = 0; i < W; i++) {
          if (!FAST && (!rowok || !(inside >> i & 1))) w[i] = 0;
          if (FULL && l == K && p.change && t - K >= y0 && (writes >> i & 1)) most = max(most, change_bits(w[i], u[i]));
          u[i] = v[i];
          v[i] = w[i];
        }
      }
      xr = xr == XSIZE - S::COLUMNS ? 0 : xr + S::COLUMNS;
      r = r == SIZE - S::ROW ? 0 : r + S::ROW;
      if (WIDE) { /* lanes of a pair first exchange chunks, so that every store fills whole sectors of the memory */
        Pack<T, PER16> out[S::CHUNKS];

#pragma unroll
        for (int i = 0; i < PER16; i++) {
          if (S::CHUNKS == 2) {
            const T other = __shfl_xor_sync(~0u, odd ? v[i] : v[W - PER16 + i], 1);

            out[0].v[i] = odd ? other : v[i];
            out[S::CHUNKS - 1].v[i] = odd ? v[W - PER16 + i] : other;
          } else
            out[0].v[i] = v[i];
        }
        if (t - K >= y0) {
#pragma unroll
          for (int q = 0; q < S::CHUNKS; q++) {
            T *const to = y + e0 + 2 * q * PER16;

            if (whole[q]) *reinterpret_cast<Pack<T, PER16> *>(to) = out[q];
            if (part[q]) {
#pragma unroll
              for (int i = 0; i < PER16; i++)
                if (column + e0 + 2 * q * PER16 + i >= first && column + e0 + 2 * q * PER16 + i < last) to[i] = out[q].v[i];
            }
          }
        }
      } else if (t - K >= y0) {
#pragma unroll
        for (int i = 0; i < W; i++)
          if (writes >> i & 1) y[lane * W + i] = v[i];
      }
      y += s.n[0];
    }
  }
};

template <class T, int K, int FORM, bool FULL, bool WIDE>
static __global__ void __launch_bounds__(Strips<T, K, FORM>::WARPS *WARP, 1)
    stream_rows(__grid_constant__ const typename Typed<T>::System s, __grid_constant__ const Pass<T> p, __grid_constant__ const Cut cut)
{
  typedef Strips<T, K, FORM> S;
  extern __shared__ __align__(16) char memory[];
  T *const                             weights = (T *)memory;
  const int                            warp = threadIdx.x / WARP;
  Walk<T, K, FORM, FULL, WIDE>         walk(s, p);

  if (FULL) {
    if (threadIdx.x < K) weights[threadIdx.x] = p.weight ? p.weight[threadIdx.x] : 1;
    __syncthreads();
  }
  walk.lane = threadIdx.x % WARP;
  walk.weights = weights;
  walk.xring = weights + S::WEIGHTS + warp * S::NUMBERS;
  walk.ring = walk.xring + S::XROWS * S::COLUMNS;
  walk.most = 0;
#pragma unroll 1
  for (int task = blockIdx.x + warp * gridDim.x; task < cut.strips * cut.chunks; task += S::WARPS * gridDim.x) {
    const int strip = task % cut.strips, place = cut.base + strip * cut.step, n0 = s.n[0], n1 = s.n[1];

    walk.column = strip && place + S::COLUMNS > n0 ? max(n0 + S::W - S::COLUMNS, -S::W) : place;
    walk.first = strip ? place + S::HALO : p.box.lo[0];
    walk.last = strip < cut.strips - 1 ? place + cut.step + S::HALO : p.box.hi[0];
    walk.y0 = p.box.lo[1] + task / cut.strips * cut.height;
    walk.y1 = min(walk.y0 + cut.height, p.box.hi[1]);
    if (walk.y0 >= walk.y1) continue;
    walk.inside = walk.writes = 0;
#pragma unroll
    for (int i = 0; i < S::W; i++) {
      const int column = walk.column + walk.lane * S::W + i;

      if (column >= 0 && column < n0) walk.inside |= 1u << i;
      if (column >= walk.first && column < walk.last) walk.writes |= 1u << i;
    }
    walk.equal = walk.inside ? s.leg[0] : 0;
    walk.west = walk.inside ? s.leg[STRATA_WEST] : 0;
    walk.east = walk.inside ? s.leg[STRATA_EAST] : 0;
#pragma unroll
    for (int l = 0; l < K; l++)
#pragma unroll
      for (int i = 0; i < S::W; i++) walk.old[l][i] = walk.kept[l][i] = 0;
    walk.xr = walk.r = 0;

    const bool edges = (walk.column >= 0 || walk.column == -S::W) && (walk.column + S::COLUMNS <= n0 || walk.column + S::COLUMNS == n0 + S::W);
    const int  begin = max(walk.y0 - K, 0), end = walk.y1 + K, from = edges ? max(begin, K) : end, to = min(end, n1 - S::AHEAD);

    __syncwarp();
    for (int q = 0; q < S::AHEAD; q++) walk.template fetch<false>(begin + q, q * S::COLUMNS, q * S::ROW);
#pragma unroll 1
    for (int t = begin; t < end;) { /* the first and the last rows of the array are slow */
      const bool fast = t >= from && t < to;
      const int  stop = fast ? to : t < from && from < to ? from : end;

      if (fast)
        walk.template rows<true>(t, stop);
      else
        walk.template rows<false>(t, stop);
      t = stop;
    }
    copies_wait<0>();
    __syncwarp();
  }
  if (FULL && p.change) join_change(walk.most, p.change);
}

/* Strips so that only in narrow arrays one ends within W columns of the array's end */
template <class S> static Cut cut_box(const int n[3], const StrataBox &box, int warps, int K)
{
  const int rows = box.hi[1] - box.lo[1];
  Cut       c;
  ptrdiff_t least = 0;

  c.base = box.lo[0] < S::HALO ? -S::W : (box.lo[0] - S::HALO) / S::PER16 * S::PER16;
  c.step = S::STEP;
  for (;; c.step -= S::PER16) {
    int end = c.base + S::COLUMNS;

    for (c.strips = 1; end - S::HALO < box.hi[0] && end < n[0] + S::W; c.strips++) end += c.step;
    if (c.strips == 1 || end <= n[0] || end >= n[0] + S::W) break;
  }
  c.chunks = 1;
  c.height = rows;
  for (int chunks = 1; chunks <= (rows + 4 * K - 1) / (4 * K) && (ptrdiff_t)chunks * c.strips < 4 * (ptrdiff_t)warps + c.strips; chunks++) {
    const int       height = (rows + chunks - 1) / chunks;
    const ptrdiff_t cost = (((ptrdiff_t)c.strips * chunks + warps - 1) / warps) * (height + 2 * K);

    if (least && cost >= least) continue;
    least = cost;
    c.chunks = chunks;
    c.height = height;
  }
  return c;
}

template <class T, int K, int FORM, bool FULL, bool WIDE>
static cudaError_t rows_launch(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  typedef Strips<T, K, FORM> S;
  Device                     d;
  cudaError_t                err = device_limits(&d);

  if (err != cudaSuccess) return err;
  const Cut cut = cut_box<S>(s.n, p.box, S::WARPS * d.processors, K);
  const int tasks = cut.strips * cut.chunks, blocks = tasks < d.processors ? tasks : d.processors;

  err = cudaFuncSetAttribute(stream_rows<T, K, FORM, FULL, WIDE>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::BYTES);
  if (err != cudaSuccess) return err;
  stream_rows<T, K, FORM, FULL, WIDE><<<blocks, S::WARPS * WARP, S::BYTES, stream>>>(s, p, cut);
  return cudaGetLastError();
}

template <class T, int K, int FORM> static cudaError_t rows_kind(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  const bool wide = wide_rows<T>(s, p);

  if (p.weight || p.change) return wide ? rows_launch<T, K, FORM, true, true>(s, p, stream) : rows_launch<T, K, FORM, true, false>(s, p, stream);
  return wide ? rows_launch<T, K, FORM, false, true>(s, p, stream) : rows_launch<T, K, FORM, false, false>(s, p, stream);
}

template <class T, int K> static cudaError_t rows_form(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  if (s.form == STRATA_SYSTEM_EQUAL) return rows_kind<T, K, STRATA_SYSTEM_EQUAL>(s, p, stream);
  return rows_kind<T, K, STRATA_SYSTEM_CONSTANT>(s, p, stream);
}
