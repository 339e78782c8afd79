/*
   Exact sweeps of 3D grids in registers. A block owns a strip of columns and some rows, a warp a few of these rows, and walks up the planes with K
   sweeps under way: plane t of the old iterate enters, sweep l makes its plane t - l, plane t - K of the new iterate leaves. A thread keeps the
   planes t - l and t - l - 1 before each sweep. Neighbours in x come from the next lanes; the rows above and below a warp's own come from shared
   memory, where they were left a plane ago. So warps need each other once a plane, and the first sweep lies between arriving and waiting. One more
   warp copies planes ahead. K cells at each side of a block are computed by two blocks.

   Why no warp overtakes another: step t, in which plane t enters, ends with a warp's arrival at done(t). One lane arrives for all, after __syncwarp();
   every lane waits for itself.
   - Rows at seams: step t waits for done(t - 1), then writes to buffer t mod 2 and reads the other one. What it reads was written in step t - 1, and
     what it overwrites, of step t - 2, was read in step t - 1.
   - Rings: steps wait for full(t). Copies of number t wait for done(t - AHEAD - 1), in x the last step that reads the slot's plane before; in b that
     plane has number t - AHEAD - K, and sweep K reads it K - 1 steps after it entered, in step t - AHEAD - 1 too.
   - Phases: copies are at most AHEAD steps ahead of the last warp and warps one step ahead of each other, less than the GATES steps after which a
     barrier is used again, so that a parity tells its phase.
*/
#include "../../sys/cuda/bulk_cuda.h"
#include "register_cuda.h"
#include "strip_cuda.h"

/* Rows of a warp, warps of a block that compute, planes that are fetched ahead */
template <class T, int K> struct Planes : Strip<T, K, 16 / sizeof(T)> {
  typedef Strip<T, K, 16 / sizeof(T)> S;
  static constexpr bool               SINGLE = sizeof(T) == 4;
  static constexpr int                OWN = 4, WARPS = SINGLE ? 7 : 11, AHEAD = 2;

  static constexpr int HALO = K, STEP = (S::COLUMNS - 2 * K) / S::PER16 * S::PER16, BEYOND = S::W; /* no wider than needed */
  static constexpr int THREADS = (WARPS + 1) * WARP, ROWS = OWN * WARPS, STEP_ROWS = ROWS - 2 * K, PLANE = ROWS * S::COLUMNS;
  static constexpr int XPLANES = AHEAD + 1, PLANES = AHEAD + K, EDGES = (K - 1) * WARPS * 2 * S::COLUMNS, WEIGHTS = 32;
  static constexpr int GATES = 4; /* a power of two, more than AHEAD: a wait tells a gate's phase from the next, not from the one after it */
  static constexpr int BYTES = ((XPLANES + PLANES) * PLANE + 2 * EDGES + WEIGHTS) * (int)sizeof(T) + 2 * GATES * (int)sizeof(uint64_t);
};

template <class T> constexpr int DEEPEST = sizeof(T) == 4 ? 4 : 3; /* sweeps at a time */

/* The box as strips, bands of rows and chunks of planes, one of each for a block */
struct Blocks {
  Strips strips;
  int    base, bands, height, chunks; /* the first band's first row */
};

/* A block's cells in a plane of an array, for bulk copies */
struct Maps {
  CUtensorMap x, b;
};

/* What a block has in shared memory: planes of x and b in rings, the rows at the seams of warps after each sweep for two planes in turn */
template <class T, int K> struct Shared {
  typedef Planes<T, K> S;

  T        *x, *b, *edges, *weights;
  uint64_t *full, *done; /* number t mod GATES: plane t is there, all warps are done with it */

  __device__ __forceinline__ Shared()
  {
    extern __shared__ __align__(128) char memory[];

    x = (T *)memory;
    b = x + S::XPLANES * S::PLANE;
    edges = b + S::PLANES * S::PLANE;
    weights = edges + 2 * S::EDGES;
    full = (uint64_t *)(weights + S::WEIGHTS);
    done = full + S::GATES;
  }
  __device__ __forceinline__ void wait_done(unsigned plane) const
  {
    barrier_wait(done + plane % S::GATES, (int)(plane / S::GATES & 1));
  }
};

/* What the copying warp does: planes begin <= z < end of x, and with each the one below it of b, which the sweeps need together */
template <class T, int K, bool WIDE>
static __device__ __forceinline__ void feed(const typename Typed<T>::System &s, const Pass<T> &p, const Maps &maps, const Shared<T, K> &shared,
                                            int column, int row, int begin, int end)
{
  typedef Planes<T, K> S;
  const int            lane = threadIdx.x % WARP;
  const ptrdiff_t      plane = (ptrdiff_t)s.n[0] * s.n[1];
  int                  xr = 0, r = 0; /* in the rings */
  unsigned             count = 0;

#pragma unroll 1
  for (int z = begin; z < end; z++, count++) {
    uint64_t *const full = shared.full + count % S::GATES;

    if (z >= begin + S::AHEAD) shared.wait_done(count - S::AHEAD - 1);
    if (WIDE) {
      if (lane == 0) {
        bulk_fence();
        barrier_expect(full, 2 * S::PLANE * sizeof(T));
        bulk_box(shared.x + xr, &maps.x, column, row, z, full);
        bulk_box(shared.b + r, &maps.b, column, row, z - 1, full);
      }
    } else {
      const bool     xok = z >= 0 && z < s.n[2], bok = z >= 1 && z <= s.n[2];
      const T *const x = p.x + (xok ? plane * z : 0), *const b = p.b + (bok ? plane * (z - 1) : 0);

#pragma unroll 4
      for (int q = 0; q < S::PLANE / WARP; q++) {
        const int       at = q * WARP + lane, i = column + at % S::COLUMNS, j = row + at / S::COLUMNS;
        const bool      ok = i >= 0 && i < s.n[0] && j >= 0 && j < s.n[1];
        const ptrdiff_t id = ok ? i + (ptrdiff_t)s.n[0] * j : 0;

        copy_async<sizeof(T)>(shared.x + xr + at, x + id, ok && xok ? sizeof(T) : 0);
        copy_async<sizeof(T)>(shared.b + r + at, b + id, ok && bok ? sizeof(T) : 0);
      }
      barrier_copies(full);
    }
    xr = xr == (S::XPLANES - 1) * S::PLANE ? 0 : xr + S::PLANE;
    r = r == (S::PLANES - 1) * S::PLANE ? 0 : r + S::PLANE;
  }
}

template <class T, int K, int FORM, bool FULL, bool WIDE> struct Climb {
  typedef Planes<T, K> S;
  static constexpr int W = S::W, OWN = S::OWN;

  const typename Typed<T>::System &s;
  const Pass<T>                   &p;
  const Shared<T, K>              &shared;
  int                              warp, row, z0; /* the warp's first row, the first plane that is written */
  unsigned                         inside, rows;  /* which of the lane's cells are in the array, which rows are written */
  unsigned                         count;         /* planes that entered */
  int                              xr, r;         /* in the rings: plane t */
  T                                equal[OWN];    /* leg; zero in lanes and rows beyond the array */
  T                                cur[K][OWN][W], low[K][OWN][W], beside[2][W]; /* beside: the rows below and above the warp's in plane t - 1 */
  typename Typed<T>::Bits          most;

  __device__ __forceinline__ Climb(const typename Typed<T>::System &s_, const Pass<T> &p_, const Shared<T, K> &shared_)
      : s(s_), p(p_), shared(shared_), count(0), most(0)
  {
  }

  /* Planes t <= plane < end go through all sweeps. FAST: all planes that the sweeps make are in the array */
  template <bool FAST> __device__ __forceinline__ void planes(const Place<S> &place, const Store<S, WIDE> &store, int t, int end)
  {
    constexpr int   XSIZE = S::XPLANES * S::PLANE, SIZE = S::PLANES * S::PLANE, C = S::COLUMNS;
    const Lane<S>   lane;
    const ptrdiff_t plane = (ptrdiff_t)s.n[0] * s.n[1];
    const int       own = warp * OWN * C, south = max(warp * OWN - 1, 0) * C, north = min(warp * OWN + OWN, S::ROWS - 1) * C;
    const int       below = (max(warp - 1, 0) * 2 + 1) * C, above = min(warp + 1, S::WARPS - 1) * 2 * C; /* the next warps' edges */
    T              *y = p.y + (t - K) * plane + (ptrdiff_t)s.n[0] * row + place.column;

#pragma unroll 1
    for (; t < end; t++) {
      const T *const left = shared.edges + (~count & 1) * S::EDGES;
      T *const       leave = shared.edges + (count & 1) * S::EDGES + warp * 2 * C;
      T              v[OWN][W], next[2][W];

      barrier_wait(shared.full + count % S::GATES, (int)(count / S::GATES & 1));
#pragma unroll
      for (int o = 0; o < OWN; o++) lane.take(v[o], shared.x + xr + own + o * C);
      lane.take(next[0], shared.x + xr + south);
      lane.take(next[1], shared.x + xr + north);
#pragma unroll
      for (int l = 1; l <= K; l++) { /* v: plane t - l + 1 before sweep l */
        const unsigned behind = (unsigned)(r - (l - 1) * S::PLANE);
        const T *const plane_b = shared.b + min(behind, behind + SIZE) + own;
        const bool     ok = FAST || (t - l >= 0 && t - l < s.n[2]);
        const T        weight = FULL ? shared.weights[l - 1] : 1;
        T(&u)[OWN][W] = cur[l - 1], (&d)[OWN][W] = low[l - 1];
        T edge[2][W], sum[W]; /* the rows below and above; west + south of a row, which are also east + north of the row below */

        if (l == 2) shared.wait_done(count - 1);
        if (l > 1) {
          lane.put(v[0], leave + (l - 2) * S::WARPS * 2 * C);
          lane.put(v[OWN - 1], leave + (l - 2) * S::WARPS * 2 * C + C);
          lane.take(edge[0], left + (l - 2) * S::WARPS * 2 * C + below);
          lane.take(edge[1], left + (l - 2) * S::WARPS * 2 * C + above);
        } else {
#pragma unroll
          for (int i = 0; i < W; i++) {
            edge[0][i] = beside[0][i];
            edge[1][i] = beside[1][i];
            beside[0][i] = next[0][i];
            beside[1][i] = next[1][i];
          }
        }
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
            const bool cell = WIDE && FORM == STRATA_SYSTEM_EQUAL ? true : inside >> (o * W + i) & 1;

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
      }
      __syncwarp();
      if (threadIdx.x % WARP == 0) barrier_arrive(shared.done + count % S::GATES);
      xr = xr == XSIZE - S::PLANE ? 0 : xr + S::PLANE;
      r = r == SIZE - S::PLANE ? 0 : r + S::PLANE;
      count++;
#pragma unroll
      for (int o = 0; o < OWN; o++) store.put(v[o], t - K >= z0 && (rows >> o & 1), y + (ptrdiff_t)s.n[0] * o);
      y += plane;
    }
  }
};

template <class T, int K, int FORM, bool FULL, bool WIDE>
static __global__ void __launch_bounds__(Planes<T, K>::THREADS, 1)
    stream_planes(__grid_constant__ const typename Typed<T>::System s, __grid_constant__ const Pass<T> p, __grid_constant__ const Blocks blocks,
                  __grid_constant__ const Maps maps)
{
  typedef Planes<T, K>          S;
  const Shared<T, K>            shared;
  Climb<T, K, FORM, FULL, WIDE> climb(s, p, shared);

  climb.warp = __shfl_sync(~0u, (int)threadIdx.x / WARP, 0); /* so that the compiler knows it to be the same in all lanes */
  if (FULL && threadIdx.x < K) shared.weights[threadIdx.x] = p.weight ? p.weight[threadIdx.x] : 1;
  if (threadIdx.x == 0) {
    for (int g = 0; g < S::GATES; g++) {
      barrier_init(shared.full + g, WIDE ? 1 : WARP);
      barrier_init(shared.done + g, S::WARPS);
    }
    barrier_init_done();
  }
  __syncthreads();

  const int      strip = blockIdx.x % blocks.strips.count, band = blockIdx.x / blocks.strips.count % blocks.bands, n0 = s.n[0], n1 = s.n[1];
  const int      start = blocks.base + band * S::STEP_ROWS; /* the block's first row, and those that it writes */
  const int      first = band ? start + K : p.box.lo[1], last = band < blocks.bands - 1 ? start + S::ROWS - K : p.box.hi[1];
  const int      z0 = p.box.lo[2] + blockIdx.x / blocks.strips.count / blocks.bands * blocks.height, z1 = min(z0 + blocks.height, p.box.hi[2]);
  const int      begin = max(z0 - K, 0), end = z1 + K, from = max(begin, K), to = min(end, s.n[2] + 1);
  const Place<S> place(blocks.strips, strip, n0, p.box.lo[0], p.box.hi[0]);

  if (z0 >= z1) return;
  if (climb.warp == S::WARPS) {
    feed<T, K, WIDE>(s, p, maps, shared, place.column, start, begin, end);
    return;
  }

  const Store<S, WIDE> store(place);
  const unsigned       columns = place.within(0, n0);

  climb.z0 = z0;
  climb.row = start + climb.warp * S::OWN;
  climb.inside = climb.rows = 0;
  climb.xr = climb.r = 0;
#pragma unroll
  for (int o = 0; o < S::OWN; o++) {
    const int  j = climb.row + o;
    const bool there = j >= 0 && j < n1;

    if (there) climb.inside |= columns << o * S::W;
    if (j >= first && j < last) climb.rows |= 1u << o;
    climb.equal[o] = there && columns ? s.leg[0] : 0;
  }
#pragma unroll
  for (int i = 0; i < S::W; i++) {
    climb.beside[0][i] = climb.beside[1][i] = 0;
#pragma unroll
    for (int l = 0; l < K; l++)
#pragma unroll
      for (int o = 0; o < S::OWN; o++) climb.cur[l][o][i] = climb.low[l][o][i] = 0;
  }
#pragma unroll 1
  for (int t = begin; t < end;) { /* the first and the last planes of the array are slow */
    const bool fast = t >= from && t < to;
    const int  stop = fast ? to : t < from && from < to ? from : end;

    if (fast)
      climb.template planes<true>(place, store, t, stop);
    else
      climb.template planes<false>(place, store, t, stop);
    t = stop;
  }
  if (FULL && p.change) join_change(climb.most, p.change);
}

/* Chunks of planes so that all multiprocessors are busy to the end. Blocks drift apart as they climb, and frames that they share are read again if
   they leave the L2 cache before the last of them comes by: double precision fills it sooner, so that there low chunks serve better. */
template <class S> static Blocks cut_box(const int n[3], const StrataBox &box, int processors, int K)
{
  constexpr int TALL = S::SINGLE ? 2147483647 : 32;
  const int     planes = box.hi[2] - box.lo[2], few = (planes - 1) / TALL + 1, many = (planes + 4 * K - 1) / (4 * K);
  Blocks        c = {cut_strips<S>(n[0], box.lo[0], box.hi[0]), 0, 1, planes, 1};
  ptrdiff_t     least = 0;

  c.base = box.lo[1] < K ? -1 : box.lo[1] - K; /* where the array ends, a row of zeros is needed beyond */
  for (int end = c.base + S::ROWS; end - K < box.hi[1] && end <= n[1]; end += S::STEP_ROWS) c.bands++;
  const int blocks = c.strips.count * c.bands;

  for (int chunks = few; chunks == few || (chunks <= many && (ptrdiff_t)(chunks - 1) * blocks < 16 * (ptrdiff_t)processors); chunks++) {
    const int       height = (planes + chunks - 1) / chunks;
    const ptrdiff_t cost = (((ptrdiff_t)blocks * chunks + processors - 1) / processors) * (height + 2 * K + 2);

    if (least && cost >= least) continue;
    least = cost;
    c.chunks = chunks;
    c.height = height;
  }
  return c;
}

/* Frames of blocks are read by others too, so that a miss need not bring more than was asked for */
template <class S, class T> static cudaError_t map_cells(CUtensorMap *map, const T *array, const int n[3])
{
  return (cudaError_t)bulk_map(map, array, n, n[0], (ptrdiff_t)n[0] * n[1], S::COLUMNS, S::ROWS, 1, CU_TENSOR_MAP_L2_PROMOTION_NONE);
}

template <class T, int K, int FORM, bool FULL, bool WIDE>
static cudaError_t planes_launch(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  typedef Planes<T, K> S;
  Maps                 maps = {};
  Device               d;
  cudaError_t          err = device_limits(&d);

  if (err == cudaSuccess && WIDE) err = map_cells<S>(&maps.x, p.x, s.n);
  if (err == cudaSuccess && WIDE) err = map_cells<S>(&maps.b, p.b, s.n);
  if (err == cudaSuccess) err = cudaFuncSetAttribute(stream_planes<T, K, FORM, FULL, WIDE>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::BYTES);
  if (err != cudaSuccess) return err;
  const Blocks c = cut_box<S>(s.n, p.box, d.processors, K);

  stream_planes<T, K, FORM, FULL, WIDE><<<c.strips.count * c.bands * c.chunks, S::THREADS, S::BYTES, stream>>>(s, p, c, maps);
  return cudaGetLastError();
}

template <class T, int K, int FORM> static cudaError_t planes_kind(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  const bool wide = wide_rows<T>(s, p);

  if (p.weight || p.change) return wide ? planes_launch<T, K, FORM, true, true>(s, p, stream) : planes_launch<T, K, FORM, true, false>(s, p, stream);
  return wide ? planes_launch<T, K, FORM, false, true>(s, p, stream) : planes_launch<T, K, FORM, false, false>(s, p, stream);
}

template <class T, int K> static cudaError_t planes_form(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  if (s.form == STRATA_SYSTEM_EQUAL) return planes_kind<T, K, STRATA_SYSTEM_EQUAL>(s, p, stream);
  return planes_kind<T, K, STRATA_SYSTEM_CONSTANT>(s, p, stream);
}

/* Has the device bulk copies, and is the code made for them? */
static bool bulk_copies(void)
{
  static int known = -1;

  if (known < 0) {
    cudaFuncAttributes attributes;
    int                device, major;

    if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
        cudaFuncGetAttributes(&attributes, stream_planes<double, 2, STRATA_SYSTEM_EQUAL, false, true>) != cudaSuccess)
      return false;
    known = major >= 9 && attributes.binaryVersion >= 90;
  }
  return known;
}

/* The most sweeps of a pass, but never so that one is left for the last */
template <class T> int planes_depth(const typename Typed<T>::System &s, int sweeps)
{
  constexpr int MOST = DEEPEST<T>;

  if (s.form == STRATA_SYSTEM_VARIABLE || sweeps < 2 || !bulk_copies()) return 0;
  return sweeps <= MOST ? sweeps : sweeps == MOST + 1 ? MOST - 1 : MOST;
}

template <class T> bool planes_pays(const typename Typed<T>::System &s)
{
  typedef Planes<T, DEEPEST<T>> S;
  const StrataBox               all = {{0, 0, 0}, {s.n[0], s.n[1], s.n[2]}};
  const Blocks                  c = cut_box<S>(s.n, all, 1, DEEPEST<T>);

  return (double)s.n[0] * s.n[1] >= 0.45 * c.strips.count * S::COLUMNS * (double)c.bands * S::ROWS;
}

template <class T> cudaError_t planes_sweeps(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  if (p.sweeps == 2) return planes_form<T, 2>(s, p, stream);
  if (p.sweeps == 3) return planes_form<T, 3>(s, p, stream);
  return planes_form<T, DEEPEST<T>>(s, p, stream);
}

template bool        planes_pays<double>(const StrataSystem_d &);
template bool        planes_pays<float>(const StrataSystem_f &);
template int         planes_depth<double>(const StrataSystem_d &, int);
template int         planes_depth<float>(const StrataSystem_f &, int);
template cudaError_t planes_sweeps<double>(const StrataSystem_d &, const Pass<double> &, cudaStream_t);
template cudaError_t planes_sweeps<float>(const StrataSystem_f &, const Pass<float> &, cudaStream_t);
