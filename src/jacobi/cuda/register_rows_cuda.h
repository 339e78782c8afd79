/*
   Exact sweeps of 2D grids in registers. A warp walks down a strip with K sweeps under way: row t of the old iterate enters, sweep l makes its row
   t - l, row t - K of the new iterate leaves. A sweep keeps one row and what the next one needs of it. Neighbours in x come from the next lanes.
   Rows of x, b and legs come to shared memory some rows ahead, and stay there until the last sweep has used them. No warp waits for others.
*/
#include "strip_cuda.h"

/* Warps of a block, and rows that are fetched ahead: as many as registers and shared memory allow */
template <class T, int K, int FORM> struct Rows : Strip<T, K> {
  typedef Strip<T, K>   S;
  static constexpr bool SINGLE = sizeof(T) == 4, LEGS = FORM == STRATA_SYSTEM_VARIABLE;
  static constexpr int  LEGS_WARPS = SINGLE ? (K == 12 ? 6 : K == 8 ? 9 : K == 4 ? 12 : 16) : K >= 4 ? 6 : 8;
  static constexpr int  PLAIN_WARPS = SINGLE ? (K >= 8 ? 12 : 16) : K == 8 ? 8 : 12;
  static constexpr int  WARPS = LEGS ? LEGS_WARPS : PLAIN_WARPS, AHEAD = LEGS ? (K >= 6 ? 1 : 2) : !SINGLE && K == 8 ? 8 : 4;

  static constexpr int ARRAYS = LEGS ? 5 : 1, XROWS = AHEAD + 1, ROWS = K + AHEAD, ROW = ARRAYS * S::COLUMNS;
  static constexpr int NUMBERS = XROWS * S::COLUMNS + ROWS * ROW, WEIGHTS = 32;
  static constexpr int BYTES = (WARPS * NUMBERS + WEIGHTS) * (int)sizeof(T);
};

/* The box as strips and chunks of rows, one of each at a time for a warp */
struct Cut {
  Strips strips;
  int    height, chunks;
};

template <class T, int K, int FORM, bool FULL, bool WIDE> struct Walk {
  typedef Rows<T, K, FORM> S;
  static constexpr int     W = S::W;

  const typename Typed<T>::System &s;
  const Pass<T>                   &p;
  T                               *xring, *ring;
  const T                         *weights;
  int                              y0, y1;            /* rows that are written */
  unsigned                         inside;            /* which of the lane's columns are in the array */
  int                              xr, r;             /* in the rings: row t */
  T                                west, east, equal; /* legs; zero where they would reach into the lane beyond the end */
  T                                old[K][W], kept[K][W];
  typename Typed<T>::Bits          most;

  __device__ __forceinline__ Walk(const typename Typed<T>::System &s_, const Pass<T> &p_) : s(s_), p(p_)
  {
  }

  /* Row r of x and of the legs, row r or r - 1 of b and row r - 1 of the north legs: what the sweeps need together */
  template <bool FAST> __device__ __forceinline__ void fetch(const Place<S> &place, int row, int xto, int to)
  {
    typedef Fetch<S, WIDE> F;
    constexpr int          BYTES = F::NUMBERS * (int)sizeof(T);
    const int              brow = FORM == STRATA_SYSTEM_EQUAL ? row - 1 : row, n0 = s.n[0], n1 = s.n[1];
    const bool      rowok = FAST || (row >= 0 && row < n1), browok = FAST || (brow >= 0 && brow < n1), belowok = FAST || (row >= 1 && row <= n1);
    const ptrdiff_t id = rowok ? (ptrdiff_t)row * n0 : 0, bid = browok ? (ptrdiff_t)brow * n0 : 0, below = belowok ? (ptrdiff_t)(row - 1) * n0 : 0;

#pragma unroll
    for (int q = 0; q < F::PIECES; q++) {
      const int  column = place.column + F::column(q), at = F::to(q);
      const bool ok = FAST && q > 0 && q < F::PIECES - 1 ? true : column >= 0 && column < n0;
      const int  i = ok ? column : 0;

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

  /* Rows t <= row < end go through all sweeps. FAST: all rows that are touched are in the array, and the strip is even. */
  template <bool FAST> __device__ __forceinline__ void rows(const Place<S> &place, const Store<S, WIDE> &store, int t, int end)
  {
    constexpr int SIZE = S::ROWS * S::ROW, XSIZE = S::XROWS * S::COLUMNS;
    const Lane<S> lane;
    T            *y = p.y + (ptrdiff_t)(t - K) * s.n[0] + place.column;

#pragma unroll 1
    for (; t < end; t++) {
      const unsigned slot = (unsigned)(r - K * S::ROW);
      T              v[W];

      copies_wait<S::AHEAD - 1>();
      __syncwarp();
      fetch<FAST>(place, t + S::AHEAD, xr ? xr - S::COLUMNS : XSIZE - S::COLUMNS, (int)min(slot, slot + SIZE));
      lane.take(v, xring + xr);
#pragma unroll
      for (int l = 1; l <= K; l++) { /* v: row t - l + 1 before sweep l */
        const unsigned behind = (unsigned)(r - (l - 1) * S::ROW);
        const T *const row = ring + min(behind, behind + SIZE);
        const bool     rowok = FAST || (t - l >= 0 && t - l < s.n[1]);
        T(&u)[W] = old[l - 1], (&d)[W] = kept[l - 1];
        T b[W], w[W];

        lane.take(b, row);
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
            for (int a = 0; a < 4; a++) lane.take(leg[a], row + (a + 1) * S::COLUMNS);
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
          if (FULL && l == K && p.change && t - K >= y0 && (store.writes >> i & 1)) most = max(most, change_bits(w[i], u[i]));
          u[i] = v[i];
          v[i] = w[i];
        }
      }
      xr = xr == XSIZE - S::COLUMNS ? 0 : xr + S::COLUMNS;
      r = r == SIZE - S::ROW ? 0 : r + S::ROW;
      store.put(v, t - K >= y0, y);
      y += s.n[0];
    }
  }
};

template <class T, int K, int FORM, bool FULL, bool WIDE>
static __global__ void __launch_bounds__(Rows<T, K, FORM>::WARPS *WARP, 1)
    stream_rows(__grid_constant__ const typename Typed<T>::System s, __grid_constant__ const Pass<T> p, __grid_constant__ const Cut cut)
{
  typedef Rows<T, K, FORM> S;
  extern __shared__ __align__(16) char memory[];
  T *const                             weights = (T *)memory;
  const int                            warp = threadIdx.x / WARP;
  Walk<T, K, FORM, FULL, WIDE>         walk(s, p);

  if (FULL) {
    if (threadIdx.x < K) weights[threadIdx.x] = p.weight ? p.weight[threadIdx.x] : 1;
    __syncthreads();
  }
  walk.weights = weights;
  walk.xring = weights + S::WEIGHTS + warp * S::NUMBERS;
  walk.ring = walk.xring + S::XROWS * S::COLUMNS;
  walk.most = 0;
#pragma unroll 1
  for (int task = blockIdx.x + warp * gridDim.x; task < cut.strips.count * cut.chunks; task += S::WARPS * gridDim.x) {
    const int            n0 = s.n[0], n1 = s.n[1];
    const Place<S>       place(cut.strips, task % cut.strips.count, n0, p.box.lo[0], p.box.hi[0]);
    const Store<S, WIDE> store(place);

    walk.y0 = p.box.lo[1] + task / cut.strips.count * cut.height;
    walk.y1 = min(walk.y0 + cut.height, p.box.hi[1]);
    if (walk.y0 >= walk.y1) continue;
    walk.inside = place.within(0, n0);
    walk.equal = walk.inside ? s.leg[0] : 0;
    walk.west = walk.inside ? s.leg[STRATA_WEST] : 0;
    walk.east = walk.inside ? s.leg[STRATA_EAST] : 0;
#pragma unroll
    for (int l = 0; l < K; l++)
#pragma unroll
      for (int i = 0; i < S::W; i++) walk.old[l][i] = walk.kept[l][i] = 0;
    walk.xr = walk.r = 0;

    const int begin = max(walk.y0 - K, 0), end = walk.y1 + K, from = place.even(n0) ? max(begin, K) : end, to = min(end, n1 - S::AHEAD);

    __syncwarp();
    for (int q = 0; q < S::AHEAD; q++) walk.template fetch<false>(place, begin + q, q * S::COLUMNS, q * S::ROW);
#pragma unroll 1
    for (int t = begin; t < end;) { /* the first and the last rows of the array are slow */
      const bool fast = t >= from && t < to;
      const int  stop = fast ? to : t < from && from < to ? from : end;

      if (fast)
        walk.template rows<true>(place, store, t, stop);
      else
        walk.template rows<false>(place, store, t, stop);
      t = stop;
    }
    copies_wait<0>();
    __syncwarp();
  }
  if (FULL && p.change) join_change(walk.most, p.change);
}

template <class S> static Cut cut_box(const int n[3], const StrataBox &box, int warps, int K)
{
  const int rows = box.hi[1] - box.lo[1];
  Cut       c = {cut_strips<S>(n[0], box.lo[0], box.hi[0]), rows, 1};
  ptrdiff_t least = 0;

  for (int chunks = 1; chunks <= (rows + K - 1) / K && (ptrdiff_t)chunks * c.strips.count < 4 * (ptrdiff_t)warps + c.strips.count; chunks++) {
    const int       height = (rows + chunks - 1) / chunks;
    const ptrdiff_t tasks = (ptrdiff_t)c.strips.count * chunks, rounds = (tasks + warps - 1) / warps;
    const ptrdiff_t cost = rounds * (height + 2 * K) * (warps + (tasks < warps ? tasks : warps)); /* warps that are alone run twice as fast */

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
  typedef Rows<T, K, FORM> S;
  Device                   d;
  cudaError_t              err = device_limits(&d);

  if (err != cudaSuccess) return err;
  const Cut cut = cut_box<S>(s.n, p.box, S::WARPS * d.processors, K);
  const int tasks = cut.strips.count * cut.chunks, blocks = tasks < d.processors ? tasks : d.processors;

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
