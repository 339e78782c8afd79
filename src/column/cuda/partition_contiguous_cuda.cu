/*
   The partition method where the cells of a line are neighbours in memory: a warp has whole lines, or a chunk of one, and each of its
   threads a segment. The cells of a warp lie together in memory; they pass through shared memory, a row of it for each thread.
*/
#include "partition.cuh"

namespace partition
{

constexpr int WARP = 32, WARPS = 4; /* warps of a block, at most */

/* Rows of shared memory, padded by 16 bytes where neighbouring threads would meet in a bank otherwise */
template <class T, int L> struct Tile {
  static constexpr int V = 16 / sizeof(T), ROW = L + (L / V % 2 ? 0 : V), SIZE = WARP * ROW;
};

/* Shared memory in tiles for each warp: right-hand side, then c, then the solution; and rows that are stored for each cell */
static inline __host__ __device__ int tiles_of(int rows, int has_upper)
{
  return rows == STRATA_ROWS_ARRAYS ? (has_upper ? 4 : 3) : 1;
}

/* The cells of a warp: `cells` of them, in lines of `span`, `segments` rows of the tile to a line. Small quotients by multiplication. Of linked chunks
   the lines are `apart` in memory, and `most` of their cells are there. */
struct Shape {
  unsigned cells, span, length, segments, by_span, by_length, most;
  int      apart;
};

/* Where a cell is: in the tile, and in memory */
template <bool FULL, int L, bool LINKED, class T> struct Spot {
  unsigned  tile;
  ptrdiff_t memory;
  bool      there;

  __device__ __forceinline__ Spot(const Shape &shape, unsigned cell)
  {
    constexpr unsigned ROW = Tile<T, L>::ROW;
    const unsigned     line = FULL && !LINKED ? 0 : cell * shape.by_span >> 22, k = cell - line * shape.span, s = k * shape.by_length >> 16;

    there = cell < shape.cells && (!LINKED || k < shape.most);
    tile = FULL ? cell / L * ROW + cell % L : (line * shape.segments + s) * ROW + k - s * shape.length;
    memory = LINKED ? (ptrdiff_t)line * shape.apart + k : cell;
  }
};

template <bool FULL, int L, bool LINKED, class T> static __device__ __forceinline__ void take(T *tile, const T *from, const Shape &shape, int packed)
{
  constexpr unsigned V = Tile<T, L>::V;
  const unsigned     lane = threadIdx.x % WARP;

  if (packed) {
#pragma unroll
    for (unsigned i = 0; i < L / V; i++) {
      const Spot<FULL, L, LINKED, T> at(shape, (i * WARP + lane) * V);

      if (at.there) fetch<16>(tile + at.tile, from + at.memory);
    }
  } else
#pragma unroll 4
    for (unsigned i = 0; i < L; i++) {
      const Spot<FULL, L, LINKED, T> at(shape, i * WARP + lane);

      if (at.there) fetch<sizeof(T)>(tile + at.tile, from + at.memory);
    }
}

template <bool FULL, int L, bool LINKED, class T>
static __device__ __forceinline__ void give(const T *tile, const T *add, T omega, T *to, const Shape &shape, int packed)
{
  constexpr unsigned V = Tile<T, L>::V;
  const unsigned     lane = threadIdx.x % WARP;

  if (packed && !add && omega == 1) {
#pragma unroll
    for (unsigned i = 0; i < L / V; i++) {
      const Spot<FULL, L, LINKED, T> at(shape, (i * WARP + lane) * V);

      if (at.there) *(int4 *)(to + at.memory) = *(const int4 *)(tile + at.tile);
    }
  } else
#pragma unroll 4
    for (unsigned i = 0; i < L; i++) {
      const Spot<FULL, L, LINKED, T> at(shape, i * WARP + lane);

      if (at.there) to[at.memory] = strata_correct(1, omega, tile[at.tile], add ? add[at.memory] : T(0));
    }
}

/* Linear functions of the segments of a line, composed as a tree: that of a segment becomes that of all from the first one to it. STEP 1 or
   -1: towards higher or lower segments; turn: how many come before this one. */
template <class T, int STEP> static __device__ __forceinline__ void compose(T sum[2], int turn, int segments)
{
  for (int d = 1; d < segments; d *= 2) {
    T other[2];

    for (int m = 0; m < 2; m++) other[m] = STEP > 0 ? __shfl_up_sync(~0u, sum[m], d) : __shfl_down_sync(~0u, sum[m], d);
    if (turn >= d) {
      strata_then(other, sum[0], sum[1]);
      sum[0] = other[0];
      sum[1] = other[1];
    }
  }
}

/* What goes into this thread's segment, from what goes into the first */
template <class T, int STEP> static __device__ __forceinline__ T chain(const T sum[2], T in, int turn)
{
  T before[2];

  for (int m = 0; m < 2; m++) before[m] = STEP > 0 ? __shfl_up_sync(~0u, sum[m], 1) : __shfl_down_sync(~0u, sum[m], 1);
  return turn ? fma(before[0], in, before[1]) : in;
}

/* Blocks that run together on a multiprocessor */
static constexpr int together(int rows, size_t size)
{
  return size == 8 ? 4 : rows == ROWS_SUMS ? 9 : 6;
}

template <class T, int ROWS, Phase PHASE, bool FULL, int L>
static __global__ void __launch_bounds__(WARP *WARPS, together(ROWS, sizeof(T)))
    contiguous(__grid_constant__ const typename Typed<T>::Lines lines, __grid_constant__ const Job<T> job, unsigned by_span, unsigned by_length,
               int packed)
{
  if constexpr (!has_code(PHASE)) return;
  extern __shared__ int4 space[];
  constexpr int          LINES = WARPS * WARP / STRATA_SEGMENTS_LINKED; /* of a block, if chunks are linked */
  __shared__ Links<T, PHASE == LINKED ? LINES : 1> links[PHASE == LINKED ? 2 : 1];
  if constexpr (PHASE == LINKED) cluster_arrive();
  const StrataPartition &plan = job.plan;
  const int              axis = lines.axis, levels = lines.coef.n[axis], P = plan.segments, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const int              seg = lane & (P - 1), side = WARP >> job.shift, warps = blockDim.x / WARP;
  const Place            at = place(job);
  const unsigned         chunk = at.chunk, v = at.v;
  const ptrdiff_t        first = ((ptrdiff_t)at.tile * warps + warp) * side, wanted = first + (lane >> job.shift);
  const ptrdiff_t        q = wanted < job.lines ? wanted : job.lines - 1, item = v * job.lines + q,
                  base = first * levels + (ptrdiff_t)chunk * P * plan.length;
  const int                 number = chunk * P + seg, k0 = number * plan.length, left = levels - k0;
  T                        *tile = (T *)space + warp * tiles_of(ROWS, lines.upper != NULL) * Tile<T, L>::SIZE, *own = tile + lane * Tile<T, L>::ROW;
  T                         line[3] = {1, 0, 0}, N = 0, sum[2];
  Segment<T, ROWS, FULL, L> segment;
  Shape                     shape;

  shape.span = plan.chunks == 1 ? levels : P * plan.length;
  shape.length = plan.length;
  shape.segments = P;
  shape.by_span = by_span;
  shape.by_length = by_length;
  shape.apart = levels;
  shape.most = plan.chunks == 1 ? levels : min(levels - (int)chunk * P * plan.length, P * plan.length);
  {
    const ptrdiff_t lines_left = job.lines - first;

    shape.cells = lines_left <= 0 ? 0 : (unsigned)((lines_left < side ? lines_left : side) * (is_linked(PHASE) ? shape.span : shape.most));
  }
  segment.count = left < 0 ? 0 : left < plan.length ? left : plan.length;

  if (ROWS == ROWS_SUMS) {
    fetch_levels<L>((T *)space + warps * Tile<T, L>::SIZE, job, chunk * P, P, threadIdx.x, blockDim.x);
    fetch_together();
  }
  take<FULL, L, is_linked(PHASE)>(tile, job.r + v * job.ldr + base, shape, packed);
  if (ROWS == ROWS_SUMS) fetch_together();
  if (ROWS == STRATA_ROWS_ARRAYS) {
    take<FULL, L, is_linked(PHASE)>(tile + Tile<T, L>::SIZE, lines.lower + base, shape, packed);
    take<FULL, L, is_linked(PHASE)>(tile + 2 * Tile<T, L>::SIZE, lines.excess + base, shape, packed);
    if (lines.upper) take<FULL, L, is_linked(PHASE)>(tile + 3 * Tile<T, L>::SIZE, lines.upper + base, shape, packed);
  }
  if (number && segment.count) N = job.start[q * P * plan.chunks + number];
  if constexpr (ROWS == ROWS_SUMS) {
    strata_partition_line(lines.coef.form == STRATA_CONSTANT ? (T)1 : lines.coef.area[q], job.start[q * P * plan.chunks], lines.coef.shift, line);
    segment.levels = (const T *)space + warps * Tile<T, L>::SIZE + seg * segment.PADDED;
    fetched_but_last();
    __syncthreads();
    segment.factor(line, N);
  } else if constexpr (ROWS == STRATA_ROWS_SHARED) {
    Pair<T> *table = (Pair<T> *)((T *)space + warps * Tile<T, L>::SIZE);

    strata_partition_line(lines.coef.form == STRATA_CONSTANT ? (T)1 : lines.coef.area[q], job.start[q * P * plan.chunks], lines.coef.shift, line);
    make_table<L, T>(table, lines, plan, chunk);
    __syncthreads();
    segment.legs = table + seg * (L + 1);
    segment.rest = segment.legs + P * (L + 1);
    segment.factor_shared(line, lines.singular, N);
  }
  T beyond = 0;
  if (ROWS == STRATA_ROWS_ARRAYS && !lines.upper && segment.count && k0 + segment.count < levels)
    beyond = lines.lower[q * levels + k0 + segment.count];
  fetched();
  __syncwarp();
  if constexpr (ROWS == STRATA_ROWS_SHARED || ROWS == ROWS_SUMS) {
#pragma unroll
    for (int j = 0; j < L; j += Pack<T>::SIZE) *(Pack<T> *)(segment.b + j) = *(const Pack<T> *)(own + j);
  }
  if constexpr (ROWS == STRATA_ROWS_SHARED)
    segment.scale_shared(line);
  else if constexpr (ROWS != ROWS_SUMS) {
    T   D = 1;
    int x[3] = {0, 0, 0};

    segment.c = own;
    segment.step = 1;
    if (ROWS == STRATA_ROWS_CELLS) strata_line_start(lines.coef.n, axis, q, x);
    auto factor = [&](int singular) {
      constexpr int V = Pack<T>::SIZE;
      const auto    pack = [&](int array, int j) { return *(const Pack<T> *)(own + array * Tile<T, L>::SIZE + j); };
      Pack<T>       lower, excess, upper;

      if (ROWS == STRATA_ROWS_ARRAYS) lower = pack(1, 0);
#pragma unroll
      for (int j = 0; j < L; j++) {
        Pack<T> next;

        if (j % V == 0) *(Pack<T> *)(segment.b + j) = pack(0, j); /* before c takes its place */
        if (ROWS == STRATA_ROWS_ARRAYS && j % V == 0) {
          excess = pack(2, j);
          if (lines.upper) upper = pack(3, j);
        }
        if (ROWS == STRATA_ROWS_ARRAYS && j % V == V - 1 && j < L - 1) next = pack(1, j + 1);
        if (segment.has(j)) {
          const bool last = FULL ? j == L - 1 : j == segment.count - 1;
          T          row[3];

          if (ROWS == STRATA_ROWS_ARRAYS)
            strata_array_row(lines.coef.scale, lines.coef.shift, lower.v[j % V],
                             lines.upper                   ? upper.v[j % V]
                             : last                        ? beyond
                             : j % V == V - 1 && j < L - 1 ? next.v[0]
                                                           : lower.v[j % V < V - 1 ? j % V + 1 : 0],
                             excess.v[j % V], row);
          else {
            x[axis] = k0 + j;
            strata_line_row(&lines, axis, ROWS, line, x, row);
          }
          segment.factor_row(j, row, singular, N, D);
        }
        if (j % V == V - 1) lower = next;
      }
    };
    if (lines.singular)
      factor(1);
    else
      factor(0);
  }

  if constexpr (PHASE == TOTALS) {
    typename Typed<T>::Part part = segment.total();

    for (int d = 1; d < WARP; d *= 2) { /* a tree, in the first thread in the end; a chunk has all threads */
      typename Typed<T>::Part behind;

      for (int m = 0; m < 2; m++) behind.carry[m] = __shfl_down_sync(~0u, part.carry[m], d);
      for (int m = 0; m < 3; m++) behind.first[m] = __shfl_down_sync(~0u, part.first[m], d);
      if (lane % (2 * d) == 0) part = strata_part_join(part, behind);
    }
    if (lane == 0 && wanted < job.lines) {
      for (int m = 0; m < 2; m++) *part_of(job, m, chunk, item) = part.carry[m];
      for (int m = 0; m < 3; m++) *part_of(job, 2 + m, chunk, item) = part.first[m];
    }
  } else {
    T in = PHASE == FINISH ? *part_of(job, 0, chunk, item) : (T)0;

    segment.sum_forward(sum);
    compose<T, 1>(sum, seg, P);
    if constexpr (PHASE == LINKED_FORWARD) {
      if (seg == P - 1 && wanted < job.lines)
        for (int m = 0; m < 2; m++) *part_of(job, m, chunk, item) = sum[m];
      return;
    }
    if constexpr (is_linked(PHASE)) in = linked_in<T, PHASE, 1>(job, chunk, item, links, threadIdx.x >> job.shift, seg == P - 1, sum);
    segment.forward(chain<T, 1>(sum, in, seg));
    segment.sum_backward(sum);
    compose<T, -1>(sum, P - 1 - seg, P);
    if constexpr (PHASE == LINKED_BACKWARD) {
      if (seg == 0 && wanted < job.lines)
        for (int m = 0; m < 2; m++) *part_of(job, 2 + m, chunk, item) = sum[m];
      return;
    }
    in = PHASE == FINISH ? *part_of(job, 1, chunk, item) : (T)0;
    if constexpr (is_linked(PHASE))
      in = linked_in<T, PHASE, -1>(job, chunk, item, links + (PHASE == LINKED), threadIdx.x >> job.shift, seg == 0, sum);
    segment.backward(chain<T, -1>(sum, in, P - 1 - seg));
    if (!is_colored(job, axis, lines.coef.n, q))
#pragma unroll
      for (int j = 0; j < L; j++) segment.b[j] = 0;
#pragma unroll
    for (int j = 0; j < L; j += Pack<T>::SIZE) *(Pack<T> *)(own + j) = *(const Pack<T> *)(segment.b + j);
    __syncwarp();
    give<FULL, L, is_linked(PHASE)>(tile, job.add ? job.add + v * job.ldz + base : NULL, job.omega, job.z + v * job.ldz + base, shape, packed);
  }
}

/* Can all cells move in packs of 16 bytes? */
static bool whole_packs(const void *p)
{
  return (uintptr_t)p % 16 == 0; /* NULL too */
}

struct Contiguous {
  template <class T, int ROWS, Phase PHASE, bool FULL, int L>
  static int launch(const typename Typed<T>::Lines &lines, Job<T> job, cudaStream_t stream)
  {
    const int levels = lines.coef.n[lines.axis], length = job.plan.length, side = WARP >> job.shift,
              span = job.plan.chunks == 1 ? levels : job.plan.segments * length;
    const ptrdiff_t groups = (job.lines + side - 1) / side;
    const int       warps = groups < WARPS ? (int)groups : WARPS;
    const ptrdiff_t tiles = (groups + warps - 1) / warps;
    const int       packed = levels % Tile<T, L>::V == 0 && job.ldr % Tile<T, L>::V == 0 && job.ldz % Tile<T, L>::V == 0 && whole_packs(job.r) &&
                       whole_packs(job.z) &&
                       (ROWS != STRATA_ROWS_ARRAYS || (whole_packs(lines.lower) && whole_packs(lines.upper) && whole_packs(lines.excess)));
    const size_t bytes = sizeof(T) * warps * tiles_of(ROWS, lines.upper != NULL) * Tile<T, L>::SIZE + table_bytes<T, ROWS, L>(job.plan.segments);

    job.tiles = (unsigned)tiles;
    return start_kernel(contiguous<T, ROWS, PHASE, FULL, L>, tiles * job.plan.chunks * job.nv, PHASE == LINKED ? job.plan.chunks : 1, WARP * warps,
                        bytes, stream, lines, job, ((1u << 22) + span - 1) / span, (65536u + length - 1) / length, packed);
  }
};

int launch_contiguous(const StrataLines_d &lines, const Job<double> &job, Phase phase, cudaStream_t stream)
{
  return launch<Contiguous>(lines, job, phase, stream);
}

int launch_contiguous(const StrataLines_f &lines, const Job<float> &job, Phase phase, cudaStream_t stream)
{
  return launch<Contiguous>(lines, job, phase, stream);
}

} // namespace partition
