/*
   Exact sweeps of 3D grids in registers. A block owns a strip of columns and some rows, a warp a few of these rows, and walks up the planes with K
   sweeps under way: plane t of the old iterate enters, sweep l makes its plane t - l, plane t - K of the new iterate leaves. A thread keeps the
   planes t - l and t - l - 1 before each sweep. Neighbours in x come from the next lanes; the rows above and below a warp's own come from shared
   memory, where they were left a plane ago, so that a block needs one barrier a plane. K rows at either side of a block are computed by two blocks.
*/
#include "register_cuda.h"
#include "strip_cuda.h"

/* Rows of a warp, warps of a block, planes that are fetched ahead */
template <class T, int K> struct Planes : Strip<T, K> {
  typedef Strip<T, K>   S;
  static constexpr bool SINGLE = sizeof(T) == 4;
  static constexpr int  OWN = SINGLE && K == 4 ? 2 : 3, WARPS = SINGLE && K == 4 ? 14 : 8, AHEAD = SINGLE ? 2 : 1;

  static constexpr int ROWS = OWN * WARPS, STEP_ROWS = ROWS - 2 * K, PLANE = ROWS * S::COLUMNS;
  static constexpr int XPLANES = AHEAD + 2, PLANES = K + AHEAD, EDGES = (K - 1) * WARPS * 2 * S::COLUMNS, WEIGHTS = 32;
  static constexpr int BYTES = ((XPLANES + PLANES) * PLANE + 2 * EDGES + WEIGHTS) * (int)sizeof(T);
};

/* The box as strips, bands of rows and chunks of planes, one of each at a time for a block */
struct Blocks {
  Strips strips;
  int    base, bands, height, chunks; /* the first band's first row */
};

template <class T, int K, int FORM, bool FULL, bool WIDE> struct Climb {
  typedef Planes<T, K> S;
  static constexpr int W = S::W, OWN = S::OWN;

  const typename Typed<T>::System &s;
  const Pass<T>                   &p;
  T                               *x, *b, *edges; /* in shared memory */
  const T                         *weights;
  int                              row, z0, z1; /* the warp's first row, planes that are written */
  int                              warp, parity;
  unsigned                         inside, rows; /* which of the lane's cells are in the array, which rows are written */
  int                              xr, r;        /* in the rings: plane t */
  T                                equal[OWN];   /* leg; zero in lanes and rows beyond the array */
  T                                cur[K][OWN][W], low[K][OWN][W];
  typename Typed<T>::Bits          most;

  __device__ __forceinline__ Climb(const typename Typed<T>::System &s_, const Pass<T> &p_) : s(s_), p(p_)
  {
  }

  /* Plane z of x and the one below of b: what the sweeps need together */
  template <bool FAST> __device__ __forceinline__ void fetch(const Place<S> &place, int z, int xto, int to)
  {
    typedef Fetch<S, WIDE> F;
    constexpr int          BYTES = F::NUMBERS * (int)sizeof(T);
    const int              n0 = s.n[0], n1 = s.n[1], n2 = s.n[2];
    const bool             xok = FAST || (z >= 0 && z < n2), bok = FAST || (z >= 1 && z <= n2);
    const ptrdiff_t        plane = (ptrdiff_t)n0 * n1, xid = xok ? plane * z : 0, bid = bok ? plane * (z - 1) : 0;

#pragma unroll
    for (int o = 0; o < OWN; o++) {
      const int  j = row + o;
      const bool rowok = j >= 0 && j < n1;

#pragma unroll
      for (int q = 0; q < F::PIECES; q++) {
        const int       column = place.column + F::column(q), at = (warp * OWN + o) * S::COLUMNS + F::to(q);
        const bool      ok = rowok && column >= 0 && column < n0;
        const ptrdiff_t id = ok ? column + (ptrdiff_t)n0 * j : 0;

        copy_async<BYTES>(x + xto + at, p.x + xid + id, ok && xok ? BYTES : 0);
        copy_async<BYTES>(b + to + at, p.b + bid + id, ok && bok ? BYTES : 0);
      }
    }
    copies_end();
  }

  /* Planes t <= plane < end go through all sweeps. FAST: all planes that are touched are in the array. EVEN: the strip is, too. */
  template <bool FAST, bool EVEN> __device__ __forceinline__ void planes(const Place<S> &place, const Store<S, WIDE> &store, int t, int end)
  {
    constexpr int   XSIZE = S::XPLANES * S::PLANE, SIZE = S::PLANES * S::PLANE, C = S::COLUMNS;
    const Lane<S>   lane;
    const ptrdiff_t plane = (ptrdiff_t)s.n[0] * s.n[1];
    const int       own = warp * OWN * C, south = max(warp * OWN - 1, 0) * C, north = min(warp * OWN + OWN, S::ROWS - 1) * C;
    const int       below = (max(warp - 1, 0) * 2 + 1) * C, above = min(warp + 1, S::WARPS - 1) * 2 * C; /* the next warps' edges */
    T              *y = p.y + (t - K) * plane + (ptrdiff_t)s.n[0] * row + place.column;

#pragma unroll 1
    for (; t < end; t++) {
      const unsigned xslot = (unsigned)(xr - 2 * S::PLANE), slot = (unsigned)(r - K * S::PLANE), last = (unsigned)(xr - S::PLANE);
      T *const before = x + min(last, last + XSIZE), *const left = edges + (parity ^ 1) * S::EDGES, *const leave = edges + parity * S::EDGES;
      T v[OWN][W];

      copies_wait<S::AHEAD - 1>();
      __syncthreads();
      fetch<FAST>(place, t + S::AHEAD, (int)min(xslot, xslot + XSIZE), (int)min(slot, slot + SIZE));
#pragma unroll
      for (int o = 0; o < OWN; o++) lane.take(v[o], x + xr + own + o * C);
#pragma unroll
      for (int l = 1; l <= K; l++) { /* v: plane t - l + 1 before sweep l */
        const unsigned behind = (unsigned)(r - (l - 1) * S::PLANE);
        const T *const plane_b = b + min(behind, behind + SIZE) + own;
        const bool     ok = FAST || (t - l >= 0 && t - l < s.n[2]);
        const T        weight = FULL ? weights[l - 1] : 1;
        T(&u)[OWN][W] = cur[l - 1], (&d)[OWN][W] = low[l - 1];
        T edge[2][W], sum[W]; /* the rows below and above; west + south of a row, which are also east + north of the row below */

        lane.take(edge[0], l == 1 ? before + south : left + (l - 2) * S::WARPS * 2 * C + below);
        lane.take(edge[1], l == 1 ? before + north : left + (l - 2) * S::WARPS * 2 * C + above);
        if (FORM == STRATA_SYSTEM_EQUAL) {
          const T west = __shfl_up_sync(~0u, u[0][W - 1], 1);

#pragma unroll
          for (int i = 0; i < W; i++) sum[i] = (i ? u[0][i ? i - 1 : 0] : west) + edge[0][i];
        }
#pragma unroll
        for (int o = 0; o < OWN; o++) {
          const T(&up)[W] = o < OWN - 1 ? u[o < OWN - 1 ? o + 1 : o] : edge[1];
          const T(&down)[W] = o ? u[o ? o - 1 : 0] : edge[0];
          T bb[W], w[W];

          lane.take(bb, plane_b + o * C);
          if (FAST) __syncwarp(); /* keeps the compiler from mixing rows, for which it lacks registers */
          const T east = __shfl_down_sync(~0u, u[o][0], 1), west = __shfl_up_sync(~0u, FORM == STRATA_SYSTEM_EQUAL ? up[W - 1] : u[o][W - 1], 1);

          if (FORM == STRATA_SYSTEM_EQUAL) {
#pragma unroll
            for (int i = W - 1; i >= 0; i--) {
              const T high = (i < W - 1 ? u[o][i < W - 1 ? i + 1 : i] : east) + up[i]; /* west + south of the cell to the north-east */

              w[i] = fused(equal[o], (sum[i] + high) + (d[o][i] + v[o][i]), bb[i]);
              if (i < W - 1) sum[i < W - 1 ? i + 1 : i] = high;
            }
            sum[0] = west + u[o][0];
          } else {
#pragma unroll
            for (int i = 0; i < W; i++) {
              const T a[STRATA_LEGS] = {
                  i ? u[o][i ? i - 1 : 0] : west, i < W - 1 ? u[o][i < W - 1 ? i + 1 : i] : east, down[i], up[i], d[o][i], v[o][i]};

              w[i] = strata_jacobi_legs(3, s.leg, bb[i], a);
            }
          }
#pragma unroll
          for (int i = 0; i < W; i++) {
            const bool cell = EVEN && FORM == STRATA_SYSTEM_EQUAL ? true : inside >> (o * W + i) & 1;

            if (FULL) w[i] = strata_jacobi_damped(weight, u[o][i], w[i]);
            if (!ok || !cell) w[i] = 0;
            if (FULL && l == K && p.change && t - K >= z0 && (rows >> o & 1) && (store.writes >> i & 1)) most = max(most, change_bits(w[i], u[o][i]));
            d[o][i] = w[i]; /* for now */
          }
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
          lane.put(v[0], leave + ((l - 1) * S::WARPS + warp) * 2 * C);
          lane.put(v[OWN - 1], leave + ((l - 1) * S::WARPS + warp) * 2 * C + C);
        }
      }
      xr = xr == XSIZE - S::PLANE ? 0 : xr + S::PLANE;
      r = r == SIZE - S::PLANE ? 0 : r + S::PLANE;
      parity ^= 1;
#pragma unroll
      for (int o = 0; o < OWN; o++) store.put(v[o], t - K >= z0 && (rows >> o & 1), y + (ptrdiff_t)s.n[0] * o);
      y += plane;
    }
  }
};

template <class T, int K, int FORM, bool FULL, bool WIDE, bool EVEN>
static __global__ void __launch_bounds__(Planes<T, K>::WARPS *WARP, 1)
    stream_planes(__grid_constant__ const typename Typed<T>::System s, __grid_constant__ const Pass<T> p, __grid_constant__ const Blocks blocks)
{
  typedef Planes<T, K> S;
  extern __shared__ __align__(16) char memory[];
  T *const                             weights = (T *)memory;
  Climb<T, K, FORM, FULL, WIDE>        climb(s, p);

  if (FULL && threadIdx.x < K) weights[threadIdx.x] = p.weight ? p.weight[threadIdx.x] : 1;
  climb.warp = threadIdx.x / WARP;
  climb.weights = weights;
  climb.x = weights + S::WEIGHTS;
  climb.b = climb.x + S::XPLANES * S::PLANE;
  climb.edges = climb.b + S::PLANES * S::PLANE;
  climb.most = 0;
#pragma unroll 1
  for (int task = blockIdx.x; task < blocks.strips.count * blocks.bands * blocks.chunks; task += gridDim.x) {
    const int            strip = task % blocks.strips.count, band = task / blocks.strips.count % blocks.bands, n0 = s.n[0], n1 = s.n[1];
    const int            start = blocks.base + band * S::STEP_ROWS; /* the block's first row, and those that it writes */
    const int            first = band ? start + K : p.box.lo[1], last = band < blocks.bands - 1 ? start + S::ROWS - K : p.box.hi[1];
    const Place<S>       place(blocks.strips, strip, n0, p.box.lo[0], p.box.hi[0]);
    const Store<S, WIDE> store(place);
    const unsigned       columns = place.within(0, n0);

    climb.z0 = p.box.lo[2] + task / blocks.strips.count / blocks.bands * blocks.height;
    climb.z1 = min(climb.z0 + blocks.height, p.box.hi[2]);
    if (climb.z0 >= climb.z1) continue;
    climb.row = start + climb.warp * S::OWN;
    climb.inside = climb.rows = 0;
#pragma unroll
    for (int o = 0; o < S::OWN; o++) {
      const int  j = climb.row + o;
      const bool there = j >= 0 && j < n1;

      if (there) climb.inside |= columns << o * S::W;
      if (j >= first && j < last) climb.rows |= 1u << o;
      climb.equal[o] = there && columns ? s.leg[0] : 0;
    }
#pragma unroll
    for (int l = 0; l < K; l++)
#pragma unroll
      for (int o = 0; o < S::OWN; o++)
#pragma unroll
        for (int i = 0; i < S::W; i++) climb.cur[l][o][i] = climb.low[l][o][i] = 0;
    climb.xr = climb.r = climb.parity = 0;

    const int begin = max(climb.z0 - K, 0), end = climb.z1 + K, from = max(begin, K), to = min(end, s.n[2] - S::AHEAD);

    __syncthreads(); /* the last task's planes have been used */
    for (int q = threadIdx.x; q < 2 * S::EDGES; q += S::WARPS * WARP) climb.edges[q] = 0;
    for (int q = threadIdx.x; q < S::PLANE; q += S::WARPS * WARP) climb.x[(S::XPLANES - 1) * S::PLANE + q] = 0;
    for (int q = 0; q < S::AHEAD; q++) climb.template fetch<false>(place, begin + q, q * S::PLANE, q * S::PLANE);
#pragma unroll 1
    for (int t = begin; t < end;) { /* the first and the last planes of the array are slow */
      const bool fast = t >= from && t < to;
      const int  stop = fast ? to : t < from && from < to ? from : end;

      if (fast)
        climb.template planes<true, EVEN>(place, store, t, stop);
      else
        climb.template planes<false, EVEN>(place, store, t, stop);
      t = stop;
    }
    copies_wait<0>();
  }
  if (FULL && p.change) join_change(climb.most, p.change);
}

/* Chunks of planes so that all multiprocessors are busy to the end */
template <class S> static Blocks cut_box(const int n[3], const StrataBox &box, int processors, int K)
{
  const int planes = box.hi[2] - box.lo[2];
  Blocks    c = {cut_strips<S>(n[0], box.lo[0], box.hi[0]), 0, 1, planes, 1};
  ptrdiff_t least = 0;

  c.base = box.lo[1] < K ? -1 : box.lo[1] - K; /* where the array ends, a row of zeros is needed beyond */
  for (int end = c.base + S::ROWS; end - K < box.hi[1] && end <= n[1]; end += S::STEP_ROWS) c.bands++;
  const int blocks = c.strips.count * c.bands;

  for (int chunks = 1; chunks <= (planes + 4 * K - 1) / (4 * K) && (ptrdiff_t)(chunks - 1) * blocks < 16 * (ptrdiff_t)processors; chunks++) {
    const int       height = (planes + chunks - 1) / chunks;
    const ptrdiff_t cost = (((ptrdiff_t)blocks * chunks + processors - 1) / processors) * (height + 2 * K + 2);

    if (least && cost >= least) continue;
    least = cost;
    c.chunks = chunks;
    c.height = height;
  }
  return c;
}

template <class T, int K, int FORM, bool FULL, bool WIDE, bool EVEN>
static cudaError_t planes_launch(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  typedef Planes<T, K> S;
  Device               d;
  cudaError_t          err = device_limits(&d);

  if (err != cudaSuccess) return err;
  const Blocks c = cut_box<S>(s.n, p.box, d.processors, K);
  const int    tasks = c.strips.count * c.bands * c.chunks, blocks = tasks < d.processors ? tasks : d.processors;

  err = cudaFuncSetAttribute(stream_planes<T, K, FORM, FULL, WIDE, EVEN>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::BYTES);
  if (err != cudaSuccess) return err;
  stream_planes<T, K, FORM, FULL, WIDE, EVEN><<<blocks, S::WARPS * WARP, S::BYTES, stream>>>(s, p, c);
  return cudaGetLastError();
}

template <class T, int K, int FORM> static cudaError_t planes_kind(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  typedef Planes<T, K> S;
  const Strips         c = cut_strips<S>(s.n[0], p.box.lo[0], p.box.hi[0]);
  const int            end = c.base + S::COLUMNS; /* of the first strip */
  const bool           even = (end <= s.n[0] || end == s.n[0] + S::W) && (c.count == 1 || s.n[0] >= S::COLUMNS - S::W);

  if (p.weight || p.change) {
    if (wide_rows<T>(s, p))
      return even ? planes_launch<T, K, FORM, true, true, true>(s, p, stream) : planes_launch<T, K, FORM, true, true, false>(s, p, stream);
    return planes_launch<T, K, FORM, true, false, false>(s, p, stream);
  }
  if (wide_rows<T>(s, p))
    return even ? planes_launch<T, K, FORM, false, true, true>(s, p, stream) : planes_launch<T, K, FORM, false, true, false>(s, p, stream);
  return planes_launch<T, K, FORM, false, false, false>(s, p, stream);
}

template <class T, int K> static cudaError_t planes_form(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  if (s.form == STRATA_SYSTEM_EQUAL) return planes_kind<T, K, STRATA_SYSTEM_EQUAL>(s, p, stream);
  return planes_kind<T, K, STRATA_SYSTEM_CONSTANT>(s, p, stream);
}

template <> int planes_depth<double>(const StrataSystem_d &s, int sweeps)
{
  return s.form == STRATA_SYSTEM_VARIABLE || sweeps < 2 ? 0 : 2;
}

template <> int planes_depth<float>(const StrataSystem_f &s, int sweeps)
{
  return s.form == STRATA_SYSTEM_VARIABLE || sweeps < 2 ? 0 : sweeps < 4 ? 2 : 4;
}

template <> cudaError_t planes_sweeps<double>(const StrataSystem_d &s, const Pass<double> &p, cudaStream_t stream)
{
  return planes_form<double, 2>(s, p, stream);
}

template <> cudaError_t planes_sweeps<float>(const StrataSystem_f &s, const Pass<float> &p, cudaStream_t stream)
{
  return p.sweeps == 4 ? planes_form<float, 4>(s, p, stream) : planes_form<float, 2>(s, p, stream);
}
