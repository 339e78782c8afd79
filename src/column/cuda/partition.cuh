/*
   What the kernels of the partition method share: a segment of a line in the registers of one thread
*/
#ifndef STRATA_PARTITION_CUH
#define STRATA_PARTITION_CUH

#include "../column_cell_partition.h"

namespace partition
{

template <class T> struct Typed;
template <> struct Typed<double> {
  typedef StrataLines_d Lines;
  typedef StrataPart_d  Part;
};
template <> struct Typed<float> {
  typedef StrataLines_f Lines;
  typedef StrataPart_f  Part;
};

static __device__ __forceinline__ StrataPart_d none(double)
{
  return strata_part_none_d();
}
static __device__ __forceinline__ StrataPart_f none(float)
{
  return strata_part_none_f();
}

constexpr int L = STRATA_SEGMENT;

/* What a kernel does with its chunk of a line */
enum Phase {
  WHOLE,  /* the line is one chunk: all of it */
  TOTALS, /* first pass: what the chunk is, seen from outside */
  FINISH  /* last pass: with the carry before it and the solution after it known */
};

/* parts: the chunks seen from outside, five numbers each; number m of chunk q of item i (a line of a vector) is at (m chunks + q) items + i.
   Once they are joined the first two are the carry before the chunk and the solution after it. */
template <class T> struct Job {
  StrataPartition plan;
  int             nv, shift; /* shift: there are 2^shift segments */
  unsigned        tiles;     /* blocks for one chunk of all lines of a vector */
  const T        *r, *add, *start;
  T              *z, *parts;
  ptrdiff_t       ldr, ldz, lines;
};

template <class T> static __device__ __forceinline__ T *part_of(const Job<T> &job, int m, int chunk, ptrdiff_t item)
{
  return job.parts + ((ptrdiff_t)m * job.plan.chunks + chunk) * (job.lines * job.nv) + item;
}

/* What a block is to work on: divisions only where there are several chunks or vectors */
struct Place {
  unsigned tile, chunk, v;
};

template <class T> static __device__ __forceinline__ Place place(const Job<T> &job)
{
  Place p = {blockIdx.x, 0, 0};

  if (job.plan.chunks > 1 || job.nv > 1) {
    const unsigned q = p.tile / job.tiles;

    p.tile -= q * job.tiles;
    p.v = q / job.plan.chunks;
    p.chunk = q - p.v * job.plan.chunks;
  }
  return p;
}

/* Copies to shared memory while the thread goes on */
template <int BYTES> static __device__ __forceinline__ void fetch(void *to, const void *from)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "n"(BYTES) : "memory");
}
static __device__ __forceinline__ void fetched()
{
  asm volatile("cp.async.wait_all;" ::: "memory");
}

/* What is in shared memory is read after this, not before: registers are needed for other things */
static __device__ __forceinline__ void forget()
{
  asm volatile("" ::: "memory");
}

/* Shared rows: the numbers of the levels of a chunk in shared memory, in pairs: legs, then excess and lateral factor. A segment is padded by a
   pair, so that threads of different segments do not meet in a bank. */
template <class T> struct __align__(2 * sizeof(T)) Pair
{
  T v[2];
};

static inline __host__ __device__ int table_pairs(int segments)
{
  return 2 * segments * (L + 1);
}

template <class T>
static __device__ __forceinline__ void make_table(Pair<T> *table, const typename Typed<T>::Lines &lines, const StrataPartition &plan, int chunk)
{
  const int size = plan.segments * plan.length, levels = lines.coef.n[lines.axis];

  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    const int k = chunk * size + i, at = i / plan.length * (L + 1) + i % plan.length;
    T         level[4];

    if (k >= levels) break;
    strata_shared_level(&lines, lines.axis, k, level);
    table[at] = {level[0], level[1]};
    table[plan.segments * (L + 1) + at] = {level[2], level[3]};
  }
}

/* FULL: all segments have L rows. With shared rows 1 / den is kept and f and c are made from it when they are needed; with others f is kept,
   and c in shared memory, at c[j * step]. */
template <class T, int ROWS, bool FULL> struct Segment {
  int            count, step;
  const Pair<T> *legs, *rest; /* in the table */
  T             *c;
  T              s[L], b[L];

  __device__ __forceinline__ bool has(int j) const
  {
    return FULL || j < count;
  }
  __device__ __forceinline__ T f(int j) const
  {
    return ROWS == STRATA_ROWS_SHARED ? -(legs[j].v[0] * s[j]) : s[j];
  }
  __device__ __forceinline__ T after(int j) const
  {
    return ROWS == STRATA_ROWS_SHARED ? legs[j].v[1] * s[j] : c[j * step];
  }
  /* singular is looked at once, not in each row */
  __device__ __forceinline__ void factor_shared(const T line[3], int singular, T N)
  {
    if (singular)
      factor_shared_rows(line, 1, N);
    else
      factor_shared_rows(line, 0, N);
    forget();
  }
  __device__ __forceinline__ void factor_shared_rows(const T line[3], int singular, T N)
  {
    T D = 1;

#pragma unroll
    for (int j = 0; j < L; j++)
      if (has(j)) {
        const Pair<T> leg = legs[j], other = rest[j];
        const T       level[4] = {leg.v[0], leg.v[1], other.v[0], other.v[1]};
        T             row[3];

        strata_partition_shared_row(level, line, row);
        s[j] = strata_partition_factor(row, singular, &N, &D);
        if (j % 4 == 3) forget();
      }
  }
  /* One row, in turn; b[j] is the right-hand side */
  __device__ __forceinline__ void factor_row(int j, const T row[3], int singular, T &N, T &D)
  {
    const T inverse = strata_partition_factor(row, singular, &N, &D);

    s[j] = -(row[0] * inverse);
    c[j * step] = row[1] * inverse;
    b[j] = b[j] * inverse;
    if (j % 4 == 3) forget();
  }
  __device__ __forceinline__ void scale_shared(const T line[3])
  {
#pragma unroll
    for (int j = 0; j < L; j++)
      if (has(j)) b[j] = line[0] * b[j] * s[j];
  }
  __device__ __forceinline__ typename Typed<T>::Part total() const
  {
    typename Typed<T>::Part part = none(T());

#pragma unroll
    for (int j = 0; j < L; j++)
      if (has(j)) {
        strata_part_row(&part, f(j), after(j), b[j]);
        if (j % 4 == 3) forget();
      }
    return part;
  }
  __device__ __forceinline__ void sum_forward(T sum[2]) const
  {
    sum[0] = 1;
    sum[1] = 0;
#pragma unroll
    for (int j = 0; j < L; j++)
      if (has(j)) strata_then(sum, f(j), b[j]);
  }
  __device__ __forceinline__ void forward(T carry)
  {
#pragma unroll
    for (int j = 0; j < L; j++)
      if (has(j)) b[j] = carry = fma(f(j), carry, b[j]);
  }
  __device__ __forceinline__ void sum_backward(T sum[2]) const
  {
    sum[0] = 1;
    sum[1] = 0;
#pragma unroll
    for (int j = L - 1; j >= 0; j--)
      if (has(j)) strata_then(sum, -after(j), b[j]);
  }
  __device__ __forceinline__ void backward(T next)
  {
#pragma unroll
    for (int j = L - 1; j >= 0; j--)
      if (has(j)) b[j] = next = strata_backward(after(j), b[j], next);
  }
};

/* Launches; the values are those of cudaError_t. Two kinds: the cells of a line are neighbours in memory, or the lines are. */
int launch_contiguous(const StrataLines_d &lines, const Job<double> &job, Phase phase, cudaStream_t stream);
int launch_contiguous(const StrataLines_f &lines, const Job<float> &job, Phase phase, cudaStream_t stream);
int launch_strided(const StrataLines_d &lines, const Job<double> &job, Phase phase, cudaStream_t stream);
int launch_strided(const StrataLines_f &lines, const Job<float> &job, Phase phase, cudaStream_t stream);

} // namespace partition

#endif
