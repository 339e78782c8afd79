/*
   The partition method on the device: set-up, the joining of chunks, and the solve in one or three launches or more
*/
#include "partition.cuh"

namespace partition
{

constexpr int THREADS = 128;

/* ---- set-up --------------------------------------------------------------------------------------------------------------------------- */

/* A line is set up in pieces of so many segments, a thread each. Where there are several, the maps that the pieces are come first: the four
   numbers of each wait in its first segments. One that is not of an M-matrix is walked through later, and NaN says so. */
template <class T> struct Pieces {
  StrataPartition plan;
  ptrdiff_t       lines, length, count; /* segments of a piece, pieces of a line */
  T              *start, *table, *out;  /* table: the numbers of the levels for running sums, else NULL; *out: not 0 if they do not suit */

  __device__ __forceinline__ ptrdiff_t step() const
  {
    return strata_partition_start_step(&plan, lines);
  }
  __device__ __forceinline__ T *first(ptrdiff_t q, ptrdiff_t piece) const
  {
    return start + strata_partition_start_of(&plan, q) + piece * length * step();
  }
};

/* The rows of a line */
template <class T, int ROWS> struct Rows {
  const typename Typed<T>::Lines &lines;
  T                               line[2];
  int                             axis, levels, x[3];

  __device__ __forceinline__ Rows(const typename Typed<T>::Lines &lines, ptrdiff_t q)
      : lines(lines), line{1, 0}, axis(lines.axis), levels(lines.coef.n[lines.axis])
  {
    strata_line_start(lines.coef.n, axis, q, x);
    if (ROWS == STRATA_ROWS_SHARED) strata_shared_line(&lines, axis, x, line);
  }
  __device__ __forceinline__ void get(int k, T row[3])
  {
    x[axis] = k;
    strata_line_row(&lines, axis, ROWS, line, x, row);
  }
};

/* All pieces but the last of each line */
template <class T, int ROWS>
static __global__ void __launch_bounds__(THREADS) maps(__grid_constant__ const typename Typed<T>::Lines lines, __grid_constant__ const Pieces<T> p)
{
  const ptrdiff_t item = (ptrdiff_t)blockIdx.x * THREADS + threadIdx.x, piece = item / p.lines, q = item % p.lines, size = p.length * p.plan.length;
  T               map[4] = {1, 0, 0, 1};
  int             sign = 0;

  if (piece >= p.count - 1) return;
  Rows<T, ROWS> rows(lines, q);
#pragma unroll 4
  for (int k = (int)(piece * size); k < (piece + 1) * size; k++) {
    T row[3];

    rows.get(k, row);
    strata_map_row(map, row);
    sign |= strata_row_signs(row);
  }
  if (sign) map[0] = (T)NAN;
  for (int m = 0; m < 4; m++) p.first(q, piece)[m * p.step()] = map[m];
}

/* N / D behind the rows [from, end) of a line; no part of link(), which would have it many times */
template <class T, int ROWS> static __device__ __noinline__ T walk(const typename Typed<T>::Lines &lines, ptrdiff_t q, int from, int end, T ratio)
{
  Rows<T, ROWS> rows(lines, q);

#pragma unroll 1
  for (int k = from; k < end; k++) {
    T row[3];

    rows.get(k, row);
    (void)strata_factor(row, lines.singular, &ratio);
  }
  return ratio;
}

/* A thread for a line: N / D before each piece, in the place of the maps */
template <class T, int ROWS>
static __global__ void __launch_bounds__(THREADS) link(__grid_constant__ const typename Typed<T>::Lines lines, __grid_constant__ const Pieces<T> p)
{
  constexpr int   AHEAD = 8;
  const ptrdiff_t q = (ptrdiff_t)blockIdx.x * THREADS + threadIdx.x, size = p.length * p.plan.length;
  T               ratio = 0;

  if (q >= p.lines) return;
  for (ptrdiff_t piece0 = 0; piece0 < p.count; piece0 += AHEAD) {
    T map[AHEAD][4];

#pragma unroll
    for (int i = 0; i < AHEAD; i++)
      if (piece0 + i < p.count - 1)
        for (int m = 0; m < 4; m++) map[i][m] = p.first(q, piece0 + i)[m * p.step()];
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
      const ptrdiff_t piece = piece0 + i;

      if (piece < p.count) *p.first(q, piece) = ratio;
      if (piece >= p.count - 1) break;
      ratio =
          map[i][0] == map[i][0] ? strata_map_ratio(map[i], ratio) : walk<T, ROWS>(lines, q, (int)(piece * size), (int)((piece + 1) * size), ratio);
    }
  }
}

/* A thread walks through a piece and leaves what is kept of its segments */
template <class T, int ROWS>
static __global__ void __launch_bounds__(THREADS) set_up(__grid_constant__ const typename Typed<T>::Lines lines, __grid_constant__ const Pieces<T> p)
{
  const ptrdiff_t item = (ptrdiff_t)blockIdx.x * THREADS + threadIdx.x, piece = item / p.lines, q = item % p.lines, size = p.length * p.plan.length;
  bool            out = false;

  if (piece >= p.count) return;
  Rows<T, ROWS>   rows(lines, q);
  T              *s = p.first(q, piece), ratio = piece ? *s : (T)0;
  const ptrdiff_t step = p.step(), end = (piece + 1) * size < rows.levels ? (piece + 1) * size : rows.levels;

  *s = piece ? ratio : rows.line[1];
  for (int k0 = (int)(piece * size); k0 < end; k0 += p.plan.length) {
    T shrink = 1;

    if (k0 > piece * size) *(s += step) = ratio;
#pragma unroll 4
    for (int k = k0; k < k0 + p.plan.length && k < end; k++) {
      T row[3];

      rows.get(k, row);
      const T inverse = strata_factor(row, lines.singular, &ratio);
      if (ROWS == STRATA_ROWS_SHARED && p.table && !strata_sums_fit_row(row, rows.line[0], inverse, &shrink)) out = true;
    }
  }
  if (ROWS == STRATA_ROWS_SHARED && out) *p.out = 1;
}

template <class T>
static __global__ void __launch_bounds__(THREADS)
    set_levels(__grid_constant__ const typename Typed<T>::Lines lines, __grid_constant__ const Pieces<T> p)
{
  const int k = blockIdx.x * THREADS + threadIdx.x, axis = lines.axis, levels = lines.coef.n[axis], segment = k / p.plan.length,
            j = k % p.plan.length;
  T level[4], next[4];

  if (k >= levels) return;
  strata_shared_level(&lines, axis, k, level);
  strata_sums_level(level, j == 0, p.table + (ptrdiff_t)segment * strata_sums_segment(&p.plan, sizeof(T)) + j * STRATA_SUMS_LEVEL);
  if (k == levels - 1) return;
  strata_shared_level(&lines, axis, k + 1, next);
  if (!strata_sums_fit_legs(level[1], next[0])) *p.out = 1;
}

template <class T, int ROWS> static cudaError_t prepare_rows(const typename Typed<T>::Lines &lines, const Pieces<T> &p, cudaStream_t stream)
{
  const auto blocks = [](ptrdiff_t threads) { return (unsigned)((threads + THREADS - 1) / THREADS); };

  if (p.count > 1) {
    maps<T, ROWS><<<blocks((p.count - 1) * p.lines), THREADS, 0, stream>>>(lines, p);
    link<T, ROWS><<<blocks(p.lines), THREADS, 0, stream>>>(lines, p);
  }
  set_up<T, ROWS><<<blocks(p.count * p.lines), THREADS, 0, stream>>>(lines, p);
  if (ROWS == STRATA_ROWS_SHARED && p.table) set_levels<T><<<blocks(lines.coef.n[lines.axis]), THREADS, 0, stream>>>(lines, p);
  return cudaGetLastError();
}

template <class T> static int prepare(const typename Typed<T>::Lines &lines, T *start, int *sums, cudaStream_t stream)
{
  const int   levels = lines.coef.n[lines.axis];
  cudaError_t err;
  Pieces<T>   p;
  T           out;

  p.plan = StrataPartitionPlan(lines.coef.n, lines.axis);
  p.lines = strata_line_count(lines.coef.n, lines.axis);
  p.length = strata_partition_piece(&p.plan, levels, p.lines);
  p.count = ((levels + p.plan.length - 1) / p.plan.length + p.length - 1) / p.length;
  p.start = start;
  p.table = p.out = NULL;
  *sums = 0;
  if (!p.lines) return 0;
  if (lines.rows == STRATA_ROWS_ARRAYS) return (int)prepare_rows<T, STRATA_ROWS_ARRAYS>(lines, p, stream);
  if (lines.rows == STRATA_ROWS_CELLS) return (int)prepare_rows<T, STRATA_ROWS_CELLS>(lines, p, stream);
  if (!lines.singular) {
    p.table = start + strata_sums_table(&p.plan, p.lines);
    p.out = start + strata_sums_range(&p.plan, p.lines, sizeof(T));
    if ((err = cudaMemsetAsync(p.out, 0, sizeof(T), stream)) != cudaSuccess) return (int)err;
  }
  if ((err = prepare_rows<T, STRATA_ROWS_SHARED>(lines, p, stream)) != cudaSuccess || !p.table) return (int)err;
  if ((err = cudaMemcpyAsync(&out, p.out, sizeof(T), cudaMemcpyDeviceToHost, stream)) != cudaSuccess) return (int)err;
  if ((err = cudaStreamSynchronize(stream)) != cudaSuccess) return (int)err;
  *sums = out == 0;
  return 0;
}

/* ---- the joining of chunks --------------------------------------------------------------------------------------------------------------- */

template <class T> static __device__ __forceinline__ typename Typed<T>::Part read(const Job<T> &job, int chunk, ptrdiff_t item)
{
  typename Typed<T>::Part part;

  for (int m = 0; m < 2; m++) part.carry[m] = *part_of(job, m, chunk, item);
  for (int m = 0; m < 3; m++) part.first[m] = *part_of(job, 2 + m, chunk, item);
  return part;
}

/* A thread a line: the carry before each chunk and the solution after it, in place of its first numbers */
template <class T> static __global__ void __launch_bounds__(THREADS) join_few(__grid_constant__ const Job<T> job)
{
  const ptrdiff_t item = (ptrdiff_t)blockIdx.x * THREADS + threadIdx.x;
  T               before = 0, after = 0;

  if (item >= job.lines * job.nv) return;
#pragma unroll 4
  for (int chunk = 0; chunk < job.plan.chunks; chunk++) {
    const typename Typed<T>::Part part = read(job, chunk, item);

    *part_of(job, 0, chunk, item) = before;
    before = strata_part_carry(&part, before);
  }
#pragma unroll 4
  for (int chunk = job.plan.chunks - 1; chunk >= 0; chunk--) {
    const typename Typed<T>::Part part = read(job, chunk, item);

    *part_of(job, 1, chunk, item) = after;
    after = strata_part_first(&part, part.carry[0], after);
  }
}

/* Of long lines a block has a group of chunks. They pass through shared memory, where one thread goes through them: what takes time is memory,
   not the few operations. */
constexpr int TILE = 128;

/* The numbers from, from + 1, ... of the chunks of an item, to or from shared memory */
template <class T, int FIRST, int END>
static __device__ __forceinline__ void take(const Job<T> &job, T (*tile)[TILE], int from, int count, ptrdiff_t item)
{
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += THREADS)
#pragma unroll
    for (int m = FIRST; m < END; m++) tile[m][i] = *part_of(job, m, from + i, item);
  __syncthreads();
}

template <class T> static __device__ __forceinline__ void give(const Job<T> &job, const T *row, int m, int from, int count, ptrdiff_t item)
{
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += THREADS) *part_of(job, m, from + i, item) = row[i];
}

template <class T> static __device__ __forceinline__ typename Typed<T>::Part part_in(const T (*tile)[TILE], int i)
{
  return {{tile[0][i], tile[1][i]}, {tile[2][i], tile[3][i], tile[4][i]}};
}

/* The groups of a line, seen from outside */
template <class T> struct Groups {
  int                      length, count; /* chunks of one, groups */
  typename Typed<T>::Part *part;
};

template <class T> static __global__ void __launch_bounds__(THREADS) join_groups(__grid_constant__ const Job<T> job, const Groups<T> groups)
{
  __shared__ T            tile[5][TILE];
  const int               group = blockIdx.x % groups.count, end = min((group + 1) * groups.length, job.plan.chunks);
  const ptrdiff_t         item = blockIdx.x / groups.count;
  typename Typed<T>::Part own = none(T());

  for (int from = group * groups.length; from < end; from += TILE) {
    const int count = min(TILE, end - from);

    take<T, 0, 5>(job, tile, from, count, item);
    if (threadIdx.x == 0)
#pragma unroll 4
      for (int i = 0; i < count; i++) own = strata_part_join(own, part_in<T>(tile, i));
  }
  if (threadIdx.x == 0) groups.part[blockIdx.x] = own;
}

/* The carry before each group and the solution after it */
template <class T> static __global__ void __launch_bounds__(STRATA_JOIN_GROUPS) join_line(const Groups<T> groups)
{
  __shared__ typename Typed<T>::Part group[STRATA_JOIN_GROUPS];
  typename Typed<T>::Part           *own = groups.part + (ptrdiff_t)blockIdx.x * groups.count + threadIdx.x;

  if (threadIdx.x < groups.count) group[threadIdx.x] = *own;
  __syncthreads();
  if (threadIdx.x == 0) {
    T before = 0, after = 0;

#pragma unroll 4
    for (int g = 0; g < groups.count; g++) {
      const T next = strata_part_carry(&group[g], before);

      group[g].carry[0] = before;
      before = next;
    }
#pragma unroll 4
    for (int g = groups.count - 1; g >= 0; g--) {
      const T next = strata_part_first(&group[g], group[g].carry[0], after);

      group[g].carry[1] = after;
      after = next;
    }
  }
  __syncthreads();
  if (threadIdx.x < groups.count) *own = group[threadIdx.x];
}

/* The same for its chunks */
template <class T> static __global__ void __launch_bounds__(THREADS) join_chunks(__grid_constant__ const Job<T> job, const Groups<T> groups)
{
  __shared__ T    tile[5][TILE];
  const int       group = blockIdx.x % groups.count, first = group * groups.length, end = min(first + groups.length, job.plan.chunks);
  const ptrdiff_t item = blockIdx.x / groups.count;
  T               before = groups.part[blockIdx.x].carry[0], after = groups.part[blockIdx.x].carry[1];

  for (int from = first; from < end; from += TILE) {
    const int count = min(TILE, end - from);

    take<T, 0, 2>(job, tile, from, count, item);
    if (threadIdx.x == 0)
#pragma unroll 4
      for (int i = 0; i < count; i++) {
        const typename Typed<T>::Part part = {{tile[0][i], tile[1][i]}, {0, 0, 0}};

        tile[0][i] = before;
        before = strata_part_carry(&part, before);
      }
    give(job, tile[0], 0, from, count, item);
  }
  for (int from = first + (end - first - 1) / TILE * TILE; from >= first; from -= TILE) {
    const int count = min(TILE, end - from);

    take<T, 0, 5>(job, tile, from, count, item);
    if (threadIdx.x == 0)
#pragma unroll 4
      for (int i = count - 1; i >= 0; i--) {
        const typename Typed<T>::Part part = part_in<T>(tile, i);

        tile[1][i] = after;
        after = strata_part_first(&part, part.carry[0], after);
      }
    give(job, tile[1], 1, from, count, item);
  }
}

template <class T> static int join(const Job<T> &job, cudaStream_t stream)
{
  const ptrdiff_t items = job.lines * job.nv;
  Groups<T>       groups;

  if (job.plan.chunks <= STRATA_JOIN_FEW) {
    join_few<T><<<(unsigned)((items + THREADS - 1) / THREADS), THREADS, 0, stream>>>(job);
    return (int)cudaGetLastError();
  }
  groups.length = strata_join_length(job.plan.chunks);
  groups.count = strata_join_groups(job.plan.chunks);
  groups.part = (typename Typed<T>::Part *)(job.parts + (ptrdiff_t)5 * job.plan.chunks * items);
  if (items * groups.count > INT_MAX) return (int)cudaErrorInvalidConfiguration;
  join_groups<T><<<(unsigned)(items * groups.count), THREADS, 0, stream>>>(job, groups);
  join_line<T><<<(unsigned)items, STRATA_JOIN_GROUPS, 0, stream>>>(groups);
  join_chunks<T><<<(unsigned)(items * groups.count), THREADS, 0, stream>>>(job, groups);
  return (int)cudaGetLastError();
}

/* Has the device, and this build, clusters of blocks? */
static cudaError_t has_clusters(bool *has)
{
  cudaFuncAttributes attributes;
  int                device, major;
  cudaError_t        err = cudaGetDevice(&device);

  if (err == cudaSuccess) err = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (err == cudaSuccess) err = cudaFuncGetAttributes(&attributes, (const void *)join_few<double>);
  *has = err == cudaSuccess && major >= 9 && attributes.binaryVersion >= 90;
  return err;
}

/* ---- the solve --------------------------------------------------------------------------------------------------------------------------- */

template <class T>
static int solve(const typename Typed<T>::Lines &lines, const T *start, const StrataColor &color, T omega, int nv, const T *r, ptrdiff_t ldr,
                 const T *add, T *z, ptrdiff_t ldz, void *work, cudaStream_t stream)
{
  Job<T> job;
  int    err;

  job.plan = StrataPartitionPlan(lines.coef.n, lines.axis);
  job.nv = nv;
  job.r = r;
  job.add = add;
  job.start = start;
  job.levels = lines.sums ? start + strata_sums_table(&job.plan, strata_line_count(lines.coef.n, lines.axis)) : NULL;
  job.z = z;
  job.parts = (T *)work;
  job.ldr = ldr;
  job.ldz = ldz;
  job.color = color;
  job.omega = omega;
  job.lines = strata_line_count(lines.coef.n, lines.axis);
  job.shift = 0;
  while (1 << job.shift < job.plan.segments) job.shift++;
  if (!job.lines || !nv) return 0;
#define PHASE(phase) (job.plan.contiguous ? launch_contiguous(lines, job, phase, stream) : launch_strided(lines, job, phase, stream))
  if (job.plan.chunks == 1) return PHASE(WHOLE);
  if (job.plan.linked) {
    bool clusters;

    if ((err = (int)has_clusters(&clusters)) != 0) return err;
    if (clusters) {
      err = PHASE(LINKED);
      if (err != (int)cudaErrorInvalidClusterSize) return err;
      (void)cudaGetLastError(); /* too large for this device */
    }
    if ((err = PHASE(LINKED_FORWARD)) != 0 || (err = PHASE(LINKED_BACKWARD)) != 0) return err;
    return PHASE(LINKED_FINISH);
  }
  if ((err = PHASE(TOTALS)) != 0 || (err = join(job, stream)) != 0) return err;
  return PHASE(FINISH);
#undef PHASE
}

} // namespace partition

#define ENTRY_POINTS(T, S)                                                                                                                           \
  int StrataPartitionSetUpCUDA_##S(const StrataLines_##S *lines, T *start, int *sums, void *stream)                                                  \
  {                                                                                                                                                  \
    return partition::prepare<T>(*lines, start, sums, (cudaStream_t)stream);                                                                         \
  }                                                                                                                                                  \
  int StrataPartitionCUDA_##S(const StrataLines_##S *lines, const T *start, int nv, const T *r, ptrdiff_t ldr, const T *add, T *z, ptrdiff_t ldz,    \
                              void *work, void *stream)                                                                                              \
  {                                                                                                                                                  \
    return partition::solve<T>(*lines, start, StrataColor{{0}, 0, 1, 0}, 1, nv, r, ldr, add, z, ldz, work, (cudaStream_t)stream);                    \
  }                                                                                                                                                  \
  int StrataPartitionCorrectCUDA_##S(const StrataLines_##S *lines, const T *start, const StrataColor *color, T omega, const T *r, const T *add,      \
                                     T *z, void *work, void *stream)                                                                                 \
  {                                                                                                                                                  \
    return partition::solve<T>(*lines, start, *color, omega, 1, r, 0, add, z, 0, work, (cudaStream_t)stream);                                        \
  }
ENTRY_POINTS(double, d)
ENTRY_POINTS(float, f)
