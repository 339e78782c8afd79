/*
   The partition method on the device: set-up, the joining of chunks, and the solve in one or three launches
*/
#include "partition.cuh"

namespace partition
{

constexpr int THREADS = 128;

/* ---- set-up: a thread walks through a line and leaves what is kept of its segments --------------------------------------------------- */

template <class T, int ROWS>
static __global__ void __launch_bounds__(THREADS)
    set_up(__grid_constant__ const typename Typed<T>::Lines lines, StrataPartition plan, ptrdiff_t count, T *start)
{
  const ptrdiff_t q = (ptrdiff_t)blockIdx.x * THREADS + threadIdx.x, step = strata_partition_start_step(&plan, count);
  const int       axis = lines.axis, levels = lines.coef.n[axis];
  T               line[2] = {1, 0}, row[3], ratio = 0;
  int             x[3];

  if (q >= count) return;
  T *s = start + strata_partition_start_of(&plan, q);

  strata_line_start(lines.coef.n, axis, q, x);
  if (ROWS == STRATA_ROWS_SHARED) strata_shared_line(&lines, axis, x, line);
  *s = line[1];
  for (int k0 = 0; k0 < levels; k0 += plan.length) {
    if (k0) *(s += step) = ratio;
#pragma unroll 4
    for (int k = k0; k < k0 + plan.length && k < levels; k++) {
      x[axis] = k;
      strata_line_row(&lines, axis, ROWS, line, x, row);
      (void)strata_factor(row, lines.singular, &ratio);
    }
  }
}

template <class T> static int prepare(const typename Typed<T>::Lines &lines, T *start, cudaStream_t stream)
{
  const StrataPartition plan = StrataPartitionPlan(lines.coef.n, lines.axis);
  const ptrdiff_t       count = strata_line_count(lines.coef.n, lines.axis);
  const unsigned        blocks = (unsigned)((count + THREADS - 1) / THREADS);

  if (!count) return 0;
  if (lines.rows == STRATA_ROWS_SHARED)
    set_up<T, STRATA_ROWS_SHARED><<<blocks, THREADS, 0, stream>>>(lines, plan, count, start);
  else if (lines.rows == STRATA_ROWS_ARRAYS)
    set_up<T, STRATA_ROWS_ARRAYS><<<blocks, THREADS, 0, stream>>>(lines, plan, count, start);
  else
    set_up<T, STRATA_ROWS_CELLS><<<blocks, THREADS, 0, stream>>>(lines, plan, count, start);
  return (int)cudaGetLastError();
}

/* ---- the joining of chunks --------------------------------------------------------------------------------------------------------------- */

template <class T> static __device__ __forceinline__ typename Typed<T>::Part read(const Job<T> &job, int chunk, ptrdiff_t item)
{
  typename Typed<T>::Part part;

  for (int m = 0; m < 2; m++) part.carry[m] = *part_of(job, m, chunk, item);
  for (int m = 0; m < 3; m++) part.first[m] = *part_of(job, 2 + m, chunk, item);
  return part;
}

/* The chunks [from, end), with the carry before and the solution after them known: both are left for each chunk in place of its first numbers */
template <class T> static __device__ __forceinline__ void pass(const Job<T> &job, int from, int end, ptrdiff_t item, T before, T after)
{
#pragma unroll 4
  for (int chunk = from; chunk < end; chunk++) {
    const typename Typed<T>::Part part = read(job, chunk, item);

    *part_of(job, 0, chunk, item) = before;
    before = strata_part_carry(&part, before);
  }
#pragma unroll 4
  for (int chunk = end - 1; chunk >= from; chunk--) {
    const typename Typed<T>::Part part = read(job, chunk, item);

    *part_of(job, 1, chunk, item) = after;
    after = strata_part_first(&part, part.carry[0], after);
  }
}

/* One thread a line */
template <class T> static __global__ void __launch_bounds__(THREADS) join_few(__grid_constant__ const Job<T> job)
{
  const ptrdiff_t item = (ptrdiff_t)blockIdx.x * THREADS + threadIdx.x;

  if (item < job.lines * job.nv) pass(job, 0, job.plan.chunks, item, (T)0, (T)0);
}

/* One block a line: each thread has a group of chunks */
template <class T> static __global__ void __launch_bounds__(STRATA_JOIN_GROUPS) join_many(__grid_constant__ const Job<T> job, int length)
{
  __shared__ typename Typed<T>::Part group[STRATA_JOIN_GROUPS];
  const ptrdiff_t                    item = blockIdx.x;
  const int chunks = job.plan.chunks, groups = (chunks + length - 1) / length, from = threadIdx.x * length, end = min(from + length, chunks);
  typename Typed<T>::Part own = none(T());

#pragma unroll 4
  for (int chunk = from; chunk < end; chunk++) own = strata_part_join(own, read(job, chunk, item));
  group[threadIdx.x] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    T before = 0, after = 0;

    for (int g = 0; g < groups; g++) {
      const T next = strata_part_carry(&group[g], before);

      group[g].carry[0] = before;
      before = next;
    }
    for (int g = groups - 1; g >= 0; g--) {
      const T next = strata_part_first(&group[g], group[g].carry[0], after);

      group[g].carry[1] = after;
      after = next;
    }
  }
  __syncthreads();
  if (from < end) pass(job, from, end, item, group[threadIdx.x].carry[0], group[threadIdx.x].carry[1]);
}

template <class T> static int join(const Job<T> &job, cudaStream_t stream)
{
  const ptrdiff_t items = job.lines * job.nv;

  if (job.plan.chunks <= STRATA_JOIN_FEW)
    join_few<T><<<(unsigned)((items + THREADS - 1) / THREADS), THREADS, 0, stream>>>(job);
  else
    join_many<T><<<(unsigned)items, STRATA_JOIN_GROUPS, 0, stream>>>(job, strata_join_length(job.plan.chunks));
  return (int)cudaGetLastError();
}

/* ---- the solve --------------------------------------------------------------------------------------------------------------------------- */

template <class T>
static int solve(const typename Typed<T>::Lines &lines, const T *start, int nv, const T *r, ptrdiff_t ldr, const T *add, T *z, ptrdiff_t ldz,
                 void *work, cudaStream_t stream)
{
  Job<T> job;
  int    err;

  job.plan = StrataPartitionPlan(lines.coef.n, lines.axis);
  job.nv = nv;
  job.r = r;
  job.add = add;
  job.start = start;
  job.z = z;
  job.parts = (T *)work;
  job.ldr = ldr;
  job.ldz = ldz;
  job.lines = strata_line_count(lines.coef.n, lines.axis);
  job.shift = 0;
  while (1 << job.shift < job.plan.segments) job.shift++;
  if (!job.lines || !nv) return 0;
#define PHASE(phase) (job.plan.contiguous ? launch_contiguous(lines, job, phase, stream) : launch_strided(lines, job, phase, stream))
  if (job.plan.chunks == 1) return PHASE(WHOLE);
  if ((err = PHASE(TOTALS)) != 0 || (err = join(job, stream)) != 0) return err;
  return PHASE(FINISH);
#undef PHASE
}

} // namespace partition

#define ENTRY_POINTS(T, S)                                                                                                                           \
  int StrataPartitionSetUpCUDA_##S(const StrataLines_##S *lines, T *start, void *stream)                                                             \
  {                                                                                                                                                  \
    return partition::prepare<T>(*lines, start, (cudaStream_t)stream);                                                                               \
  }                                                                                                                                                  \
  int StrataPartitionCUDA_##S(const StrataLines_##S *lines, const T *start, int nv, const T *r, ptrdiff_t ldr, const T *add, T *z, ptrdiff_t ldz,    \
                              void *work, void *stream)                                                                                              \
  {                                                                                                                                                  \
    return partition::solve<T>(*lines, start, nv, r, ldr, add, z, ldz, work, (cudaStream_t)stream);                                                  \
  }
ENTRY_POINTS(double, d)
ENTRY_POINTS(float, f)
