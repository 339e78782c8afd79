/*
   The partition method where neighbouring lines are neighbours in memory: a warp has a segment of neighbouring lines, a block a chunk of
   them. Right-hand sides go straight to registers, rows that are stored for each cell through shared memory.
*/
#include "partition.cuh"

namespace partition
{

constexpr int WARP = 32;

/* Threads of a block: the blocks of a cluster wait for one another, and meanwhile others must have work */
static inline __host__ __device__ constexpr int threads_of(Phase phase)
{
  return is_linked(phase) ? 128 : 256;
}

constexpr int LATE = 4; /* right-hand sides that wait in shared memory, for want of registers while the rows are factored */

/* Numbers in shared memory for each thread and row: c, and what is fetched; the lower legs give their place to c */
static int numbers(int rows, int has_upper)
{
  return rows == STRATA_ROWS_SHARED || rows == ROWS_SUMS ? 0 : rows == STRATA_ROWS_ARRAYS ? (has_upper ? 3 : 2) : 1;
}

/* A warp has its own numbers of the levels of its segments, so that it need not wait for the others of its block */
static inline __host__ __device__ int segments_of_warp(int segments, int threads)
{
  return segments * WARP / threads > 1 ? segments * WARP / threads : 1;
}

/* Blocks that run together on a multiprocessor */
static constexpr int together(int rows, Phase phase, size_t size)
{
  return (size == 8 ? 2 : rows == ROWS_SUMS ? 4 : 3) * 256 / threads_of(phase);
}

template <class T, int ROWS, Phase PHASE, bool FULL, int L>
static __global__ void __launch_bounds__(threads_of(PHASE), together(ROWS, PHASE, sizeof(T)))
    strided(__grid_constant__ const typename Typed<T>::Lines lines, __grid_constant__ const Job<T> job)
{
  if constexpr (!has_code(PHASE)) return;
  constexpr int          THREADS = threads_of(PHASE), EXCHANGED = PHASE == TOTALS ? 5 : 4;
  extern __shared__ int4 space[];
  __shared__ T           exchange[EXCHANGED][THREADS];
  __shared__ T           late[ROWS == ROWS_SUMS ? 1 : LATE][ROWS == ROWS_SUMS ? 1 : THREADS];
  __shared__ Links<T, PHASE == LINKED ? THREADS / STRATA_SEGMENTS_LINKED : 1> links[PHASE == LINKED ? 2 : 1];
  if constexpr (PHASE == LINKED) cluster_arrive();
  const StrataPartition    &plan = job.plan;
  const int                 axis = lines.axis, levels = lines.coef.n[axis], tid = threadIdx.x;
  const int                 width = THREADS >> job.shift, seg = (tid << job.shift) / THREADS, w = tid & (width - 1);
  const Place               at = place(job);
  const unsigned            chunk = at.chunk, v = at.v;
  const ptrdiff_t           wanted = (ptrdiff_t)at.tile * width + w, q = wanted < job.lines ? wanted : job.lines - 1;
  const ptrdiff_t           stride = strata_line_stride(lines.coef.n, axis), item = v * job.lines + q;
  const int                 number = chunk * plan.segments + seg, k0 = number * plan.length, left = levels - k0;
  Segment<T, ROWS, FULL, L> segment;
  T                        *own = (T *)space + tid, line[3] = {1, 0, 0}, N = 0, sum[2];
  int                       x[3] = {0, 0, 0};

  segment.count = left < 0 ? 0 : left < plan.length ? left : plan.length;
  if (ROWS == STRATA_ROWS_CELLS) strata_line_start(lines.coef.n, axis, q, x);
  const ptrdiff_t id = (axis == 2 ? q : q + q / lines.coef.n[0] * (stride * (levels - 1))) + k0 * stride;
  const T        *r = job.r + v * job.ldr + id;

  if (ROWS == STRATA_ROWS_SHARED || ROWS == ROWS_SUMS) { /* these are needed first */
    line[0] = lines.coef.form == STRATA_CONSTANT ? (T)1 : lines.coef.area[q];
    line[1] = job.start[q];
  }
  if constexpr (ROWS == ROWS_SUMS) {
    const int each = segments_of_warp(plan.segments, THREADS), lane = tid % WARP;
    T        *table = (T *)space + tid / WARP * each * segment.PADDED;

    fetch_levels<L>(table, job, __shfl_sync(~0u, number, 0), each, lane, WARP);
    segment.levels = table + (number - __shfl_sync(~0u, number, 0)) * segment.PADDED;
  }
  if (ROWS == STRATA_ROWS_ARRAYS) {
#pragma unroll
    for (int j = 0; j < L; j++)
      if (segment.has(j)) {
        fetch<sizeof(T)>(own + j * THREADS, lines.lower + id + j * stride);
        fetch<sizeof(T)>(own + (L + j) * THREADS, lines.excess + id + j * stride);
        if (lines.upper) fetch<sizeof(T)>(own + (2 * L + j) * THREADS, lines.upper + id + j * stride);
      }
  }
#pragma unroll
  for (int j = 0; j < L; j++)
    if (segment.has(j)) {
      if (ROWS == ROWS_SUMS || j < L - LATE)
        segment.b[j] = __ldcs(r + j * stride);
      else
        fetch<sizeof(T)>(&late[j - (L - LATE)][tid], r + j * stride);
    }
  if (number && segment.count) N = job.start[number * job.lines + q];
  if constexpr (ROWS == ROWS_SUMS) {
    strata_partition_line(line[0], line[1], lines.coef.shift, line);
    fetched();
    __syncwarp();
    segment.factor(line, N);
  } else if constexpr (ROWS == STRATA_ROWS_SHARED) {
    Pair<T> *table = (Pair<T> *)space;

    strata_partition_line(line[0], line[1], lines.coef.shift, line);
    make_table<L, T>(table, lines, plan, chunk);
    __syncthreads();
    segment.legs = table + seg * (L + 1);
    segment.rest = segment.legs + plan.segments * (L + 1);
    segment.factor_shared(line, lines.singular, N);
    fetched();
#pragma unroll
    for (int j = L - LATE; j < L; j++)
      if (segment.has(j)) segment.b[j] = late[j - (L - LATE)][tid];
    segment.scale_shared(line);
  } else {
    T D = 1, beyond = 0;

    segment.c = own;
    segment.step = THREADS;

    if (ROWS == STRATA_ROWS_ARRAYS) {
      if (!lines.upper && segment.count && k0 + segment.count < levels) beyond = lines.lower[id + segment.count * stride];
    }
    fetched(); /* what this thread has fetched itself */
    auto factor = [&](int singular) {
#pragma unroll
      for (int j = 0; j < L; j++)
        if (segment.has(j)) {
          T row[3];

          if (ROWS == STRATA_ROWS_ARRAYS) {
            const bool last = FULL ? j == L - 1 : j == segment.count - 1;
            const T    upper = lines.upper ? own[(2 * L + j) * THREADS] : last ? beyond : own[(j < L - 1 ? j + 1 : j) * THREADS];

            strata_array_row(lines.coef.scale, lines.coef.shift, own[j * THREADS], upper, own[(L + j) * THREADS], row);
          } else {
            x[axis] = k0 + j;
            strata_line_row(&lines, axis, ROWS, line, x, row);
          }
          if (j >= L - LATE) segment.b[j] = late[j < L - LATE ? 0 : j - (L - LATE)][tid];
          segment.factor_row(j, row, singular, N, D);
        }
    };
    if (lines.singular)
      factor(1);
    else
      factor(0);
  }

  if constexpr (PHASE == TOTALS) {
    typename Typed<T>::Part part = segment.total();

    for (int d = 1; d < plan.segments; d *= 2) { /* a tree */
      exchange[0][tid] = part.carry[0];
      exchange[1][tid] = part.carry[1];
      exchange[2][tid] = part.first[0];
      exchange[3][tid] = part.first[1];
      exchange[4 % EXCHANGED][tid] = part.first[2];
      __syncthreads();
      if (seg % (2 * d) == 0) {
        const int               other = tid + d * width;
        typename Typed<T>::Part behind;

        behind.carry[0] = exchange[0][other];
        behind.carry[1] = exchange[1][other];
        behind.first[0] = exchange[2][other];
        behind.first[1] = exchange[3][other];
        behind.first[2] = exchange[4 % EXCHANGED][other];
        part = strata_part_join(part, behind);
      }
      __syncthreads();
    }
    if (seg == 0 && wanted < job.lines) {
      *part_of(job, 0, chunk, item) = part.carry[0];
      *part_of(job, 1, chunk, item) = part.carry[1];
      *part_of(job, 2, chunk, item) = part.first[0];
      *part_of(job, 3, chunk, item) = part.first[1];
      *part_of(job, 4, chunk, item) = part.first[2];
    }
  } else {
    const T   before = PHASE == FINISH ? *part_of(job, 0, chunk, item) : (T)0, after = PHASE == FINISH ? *part_of(job, 1, chunk, item) : (T)0;
    const int first = w, last = w + (plan.segments - 1) * width;

    segment.sum_forward(sum);
    if (plan.segments > 1) {
      exchange[0][tid] = sum[0];
      exchange[1][tid] = sum[1];
      __syncthreads();
    }
    if constexpr (is_linked(PHASE)) {
      T map[2] = {1, 0}, total[2];

      for (int s = 0, o = first; s < seg; s++, o += width) strata_then(map, exchange[0][o], exchange[1][o]);
      for (int m = 0; m < 2; m++) total[m] = map[m];
      strata_then(total, sum[0], sum[1]);
      if constexpr (PHASE == LINKED_FORWARD) {
        if (seg == plan.segments - 1 && wanted < job.lines)
          for (int m = 0; m < 2; m++) *part_of(job, m, chunk, item) = total[m];
        return;
      }
      segment.forward(fma(map[0], linked_in<T, PHASE, 1>(job, chunk, item, links, w, seg == plan.segments - 1, total), map[1]));
    } else {
      T carry = before;

      for (int s = 0, o = first; s < seg; s++, o += width) carry = fma(exchange[0][o], carry, exchange[1][o]);
      segment.forward(carry);
    }
    segment.sum_backward(sum);
    if (plan.segments > 1) {
      exchange[2][tid] = sum[0];
      exchange[3][tid] = sum[1];
      __syncthreads();
    }
    if constexpr (is_linked(PHASE)) {
      T map[2] = {1, 0}, total[2];

      for (int s = plan.segments - 1, o = last; s > seg; s--, o -= width) strata_then(map, exchange[2][o], exchange[3][o]);
      for (int m = 0; m < 2; m++) total[m] = map[m];
      strata_then(total, sum[0], sum[1]);
      if constexpr (PHASE == LINKED_BACKWARD) {
        if (seg == 0 && wanted < job.lines)
          for (int m = 0; m < 2; m++) *part_of(job, 2 + m, chunk, item) = total[m];
        return;
      }
      const T in = linked_in<T, PHASE, -1>(job, chunk, item, links + (PHASE == LINKED), w, seg == 0, total);

      segment.backward(fma(map[0], in, map[1]));
    } else {
      T next = after;

      for (int s = plan.segments - 1, o = last; s > seg; s--, o -= width) next = fma(exchange[2][o], next, exchange[3][o]);
      segment.backward(next);
    }
    if (wanted >= job.lines) return;

    T *z = job.z + v * job.ldz + id;

    if (job.add || !job.color.all || job.omega != 1) {
      const T   *add = job.add ? job.add + v * job.ldz + id : NULL;
      const bool colored = is_colored(job, axis, lines.coef.n, q);

#pragma unroll
      for (int j = 0; j < L; j++)
        if (segment.has(j)) segment.b[j] = strata_correct(colored, job.omega, segment.b[j], add ? add[j * stride] : T(0));
    }
#pragma unroll
    for (int j = 0; j < L; j++)
      if (segment.has(j)) __stcs(z + j * stride, segment.b[j]);
  }
}

struct Strided {
  template <class T, int ROWS, Phase PHASE, bool FULL, int L>
  static int launch(const typename Typed<T>::Lines &lines, Job<T> job, cudaStream_t stream)
  {
    constexpr int   THREADS = threads_of(PHASE);
    const int       width = THREADS >> job.shift;
    const ptrdiff_t tiles = (job.lines + width - 1) / width;
    const size_t    bytes =
        sizeof(T) * L * THREADS * numbers(ROWS, lines.upper != NULL) +
        table_bytes<T, ROWS, L>(ROWS == ROWS_SUMS ? THREADS / WARP * segments_of_warp(job.plan.segments, THREADS) : job.plan.segments);

    job.tiles = (unsigned)tiles;
    return start_kernel(strided<T, ROWS, PHASE, FULL, L>, tiles * job.plan.chunks * job.nv, PHASE == LINKED ? job.plan.chunks : 1, THREADS, bytes,
                        stream, lines, job);
  }
};

int launch_strided(const StrataLines_d &lines, const Job<double> &job, Phase phase, cudaStream_t stream)
{
  return launch<Strided>(lines, job, phase, stream);
}

int launch_strided(const StrataLines_f &lines, const Job<float> &job, Phase phase, cudaStream_t stream)
{
  return launch<Strided>(lines, job, phase, stream);
}

} // namespace partition
