/*
   What the kernels of the partition method share: a segment of a line in the registers of one thread
*/
#ifndef STRATA_PARTITION_CUH
#define STRATA_PARTITION_CUH

#include "../column_cell_partition.h"
#include <climits>

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

static __device__ __forceinline__ double reciprocal(double x)
{
  return strata_reciprocal_d(x);
}
static __device__ __forceinline__ float reciprocal(float x)
{
  return strata_reciprocal_f(x);
}

/* Shared rows solved by running sums; the other kinds of rows are those of the lines */
constexpr int ROWS_SUMS = -1;
static_assert(ROWS_SUMS != STRATA_ROWS_SHARED && ROWS_SUMS != STRATA_ROWS_ARRAYS && ROWS_SUMS != STRATA_ROWS_CELLS, "its own number");

/* Numbers that move together */
template <class T> struct __align__(16) Pack
{
  static constexpr int SIZE = 16 / sizeof(T);
  T                    v[SIZE];
};

/* What a kernel does with its chunk of a line */
enum Phase {
  WHOLE,          /* the line is one chunk: all of it */
  TOTALS,         /* first pass: what the chunk is, seen from outside */
  FINISH,         /* last pass: with the carry before it and the solution after it known */
  LINKED,         /* the chunks of a line are the blocks of a cluster, which tell each other what they are: all of it */
  LINKED_FORWARD, /* the same without clusters, in three passes: what the chunk makes of the carry, of the solution after it, and the rest */
  LINKED_BACKWARD,
  LINKED_FINISH
};

static __host__ __device__ constexpr bool is_linked(Phase phase)
{
  return phase >= LINKED;
}

/* Clusters are there from compute capability 9.0 */
static __host__ __device__ constexpr bool has_code(Phase phase)
{
#if defined(__CUDA_ARCH__)
  return phase < LINKED || (phase == LINKED) == (__CUDA_ARCH__ >= 900);
#else
  return true;
#endif
}

/* parts: the chunks seen from outside, five numbers each; number m of chunk q of item i (a line of a vector) is at (m chunks + q) items + i.
   Once they are joined the first two are the carry before the chunk and the solution after it. Of linked chunks there are four: what they
   make of the carry, and of the solution. */
template <class T> struct Job {
  StrataPartition plan;
  int             nv, shift;                /* shift: there are 2^shift segments */
  unsigned        tiles;                    /* blocks for one chunk of all lines of a vector */
  const T        *r, *add, *start, *levels; /* levels: their numbers for running sums, segment by segment */
  T              *z, *parts;
  ptrdiff_t       ldr, ldz, lines;
  StrataColor     color; /* on lines of which z = add + omega b, on others z = add */
  T               omega;
};

/* Is a line of the colour? */
template <class T> static __device__ __forceinline__ bool is_colored(const Job<T> &job, int axis, const int n[3], ptrdiff_t q)
{
  int x[3];

  if (job.color.all) return true;
  strata_line_start(n, axis, q, x);
  return strata_colored(&job.color, x[0], x[1], x[2]);
}

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

  if (job.plan.linked) { /* the blocks of a cluster are neighbours */
    const unsigned q = p.tile / job.plan.chunks;

    p.chunk = p.tile - q * job.plan.chunks;
    p.v = q / job.tiles;
    p.tile = q - p.v * job.tiles;
  } else if (job.plan.chunks > 1 || job.nv > 1) {
    const unsigned q = p.tile / job.tiles;

    p.tile -= q * job.tiles;
    p.v = q / job.plan.chunks;
    p.chunk = q - p.v * job.plan.chunks;
  }
  return p;
}

/* All blocks of the cluster have come here, and see what the others have written before: in two halves */
static __device__ __forceinline__ void cluster_arrive()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
#endif
}
static __device__ __forceinline__ void cluster_wait()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}

/* Writes to the same place of the shared memory of another block of the cluster */
static __device__ __forceinline__ void to_block(const double *p, unsigned block, double v)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .u32 at; mapa.shared::cluster.u32 at, %0, %1; st.shared::cluster.f64 [at], %2; }" ::"r"((unsigned)__cvta_generic_to_shared(p)),
               "r"(block), "d"(v)
               : "memory");
#endif
}
static __device__ __forceinline__ void to_block(const float *p, unsigned block, float v)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .u32 at; mapa.shared::cluster.u32 at, %0, %1; st.shared::cluster.f32 [at], %2; }" ::"r"((unsigned)__cvta_generic_to_shared(p)),
               "r"(block), "f"(v)
               : "memory");
#endif
}

/* Linked chunks: a linear function of each, two numbers for each line of the block, in shared memory */
template <class T, int LINES> struct Links {
  T of[STRATA_CHUNKS_LINKED][2][LINES];
};

/* Tells the chunks behind what this one is, which one thread of each line knows, and gives what goes into it, from those before it. STEP 1 or -1:
   towards higher or lower levels. */
template <class T, Phase PHASE, int STEP, int LINES>
static __device__ __forceinline__ T linked_in(const Job<T> &job, int chunk, ptrdiff_t item, Links<T, LINES> *links, int line, bool knows,
                                              const T total[2])
{
  const int chunks = job.plan.chunks, before = STEP > 0 ? chunk : chunks - 1 - chunk;
  T         in = 0;

  if constexpr (PHASE == LINKED) {
    if (STEP > 0) cluster_wait(); /* all have begun */
    if (knows)
      for (int to = chunk + STEP; to >= 0 && to < chunks; to += STEP)
        for (int m = 0; m < 2; m++) to_block(&links->of[chunk][m][line], to, total[m]);
    cluster_arrive();
    cluster_wait();
  }
#pragma unroll 4
  for (int i = 0; i < before; i++) {
    const int from = STEP > 0 ? i : chunks - 1 - i;
    T         s[2];

    for (int m = 0; m < 2; m++) s[m] = PHASE == LINKED ? links->of[from][m][line] : *part_of(job, (STEP > 0 ? 0 : 2) + m, from, item);
    in = fma(s[0], in, s[1]);
  }
  return in;
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

/* What was fetched before is together, and is there while what was fetched since may be under way */
static __device__ __forceinline__ void fetch_together()
{
  asm volatile("cp.async.commit_group;" ::: "memory");
}
static __device__ __forceinline__ void fetched_but_last()
{
  asm volatile("cp.async.wait_group 1;" ::: "memory");
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

static inline __host__ __device__ int table_pairs(int segments, int L)
{
  return 2 * segments * (L + 1);
}

template <int L, class T>
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

/* L: the room of a segment; FULL: all segments have L rows. With shared rows 1 / den is kept and f and c are made from it when they are needed; with others f is kept,
   and c in shared memory, at c[j * step]. */
template <class T, int ROWS, bool FULL, int L> struct Segment {
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

/* By running sums: see column_cell_partition.h. What D G of a row is follows from D of the next. */
template <class T, bool FULL, int L> struct Segment<T, ROWS_SUMS, FULL, L> {
  static constexpr int PADDED = STRATA_SUMS_LEVEL * L + Pack<T>::SIZE;
  int                  count;
  const T             *levels; /* in shared memory */
  T                    inverse, rho, G, sum, D[L], b[L];

  __device__ __forceinline__ bool has(int j) const
  {
    return FULL || j < count;
  }
  __device__ __forceinline__ void factor(const T line[3], T start)
  {
    T N = 0, upper = 0, last = 1;

#pragma unroll
    for (int j = 0; j < L; j++)
      if (has(j)) {
        T number[STRATA_SUMS_LEVEL];

#pragma unroll
        for (int m = 0; m < STRATA_SUMS_LEVEL; m += Pack<T>::SIZE) *(Pack<T> *)(number + m) = *(const Pack<T> *)(levels + STRATA_SUMS_LEVEL * j + m);
        strata_sums_factor(number, line, j == 0, start, &N, &last);
        D[j] = last;
        upper = number[1];
      }
    G = fma(upper, last, N);
    rho = upper * reciprocal(G);
    inverse = line[0];
  }
  /* 1 / (D G) */
  __device__ __forceinline__ T c(int j) const
  {
    const T next = j < L - 1 && has(j + 1) ? levels[STRATA_SUMS_LEVEL * j + 1] * D[j < L - 1 ? j + 1 : j] : G;

    return reciprocal(D[j] * next);
  }
  __device__ __forceinline__ void sum_forward(T s[2]) const
  {
    T F[2] = {0, 0};

#pragma unroll
    for (int j = 0; j < L; j++)
      if (has(j)) F[j % 2] = fma(D[j], b[j], F[j % 2]);
    s[0] = FULL || count ? rho : (T)1;
    s[1] = FULL || count ? rho * (F[0] + F[1]) : (T)0;
  }
  __device__ __forceinline__ void forward(T carry)
  {
    sum = 0;
#pragma unroll
    for (int j = 0; j < L; j++)
      if (has(j)) {
        carry = fma(D[j], b[j], carry);
        b[j] = carry * c(j);
        sum = sum + b[j];
      }
  }
  __device__ __forceinline__ void sum_backward(T s[2]) const
  {
    s[0] = FULL || count ? rho : (T)1;
    s[1] = sum;
  }
  __device__ __forceinline__ void backward(T next)
  {
    next = next * rho * inverse;
#pragma unroll
    for (int j = L - 1; j >= 0; j--)
      if (has(j)) {
        next = fma(b[j], inverse, next);
        b[j] = D[j] * next;
      }
  }
  __device__ __forceinline__ typename Typed<T>::Part total() const
  {
    typename Typed<T>::Part part = none(T());
    T                       F = 0;

    if (!FULL && !count) return part;
    sum_forward(part.carry);
    part.first[0] = part.first[2] = 0;
    part.first[1] = rho;
#pragma unroll
    for (int j = 0; j < L; j++)
      if (has(j)) {
        const T inverse = c(j);

        F = fma(D[j], b[j], F);
        part.first[0] = part.first[0] + inverse;
        part.first[2] = fma(F, inverse, part.first[2]);
      }
    return part;
  }
};

/* Shared memory for the numbers of the levels of so many segments */
template <class T, int ROWS, int L> static size_t table_bytes(int segments)
{
  return ROWS == ROWS_SUMS            ? sizeof(T) * segments * Segment<T, ROWS_SUMS, true, L>::PADDED
         : ROWS == STRATA_ROWS_SHARED ? sizeof(Pair<T>) * table_pairs(segments, L)
                                      : 0;
}

/* For running sums they come from memory while the thread goes on: it is one of so many that fetch them */
template <int L, class T>
static __device__ __forceinline__ void fetch_levels(T *table, const Job<T> &job, int segment, int segments, int thread, int threads)
{
  constexpr int PADDED = Segment<T, ROWS_SUMS, true, L>::PADDED;
  const T      *from = job.levels + (ptrdiff_t)segment * PADDED;

  for (int i = thread * Pack<T>::SIZE; i < segments * PADDED; i += threads * Pack<T>::SIZE) fetch<16>(table + i, from + i);
}

/* ---- launches; the values are those of cudaError_t --------------------------------------------------------------------------------- */

/* blocks may be too many for a grid; so many neighbours of them are a cluster */
template <class... Arguments>
static int start_kernel(void (*kernel)(Arguments...), ptrdiff_t blocks, int cluster, int threads, size_t bytes, cudaStream_t stream,
                        const Arguments &...arguments)
{
  cudaError_t         err = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
  cudaLaunchConfig_t  config = {};
  cudaLaunchAttribute together;

  if (err == cudaSuccess && cluster > 8) err = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (err != cudaSuccess) return (int)err;
  if (blocks > INT_MAX) return (int)cudaErrorInvalidConfiguration;
  together.id = cudaLaunchAttributeClusterDimension;
  together.val.clusterDim.x = (unsigned)cluster;
  together.val.clusterDim.y = together.val.clusterDim.z = 1;
  config.gridDim = dim3((unsigned)blocks);
  config.blockDim = dim3((unsigned)threads);
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &together;
  config.numAttrs = cluster > 1;
  return (int)cudaLaunchKernelEx(&config, kernel, arguments...);
}

/* Way::launch<T, ROWS, PHASE, FULL, L>() for the rows of these lines; L: the room of a segment, FULL: all of them have L rows */
template <class Way, Phase PHASE, int L, class T>
static int launch_phase(const typename Typed<T>::Lines &lines, const Job<T> &job, cudaStream_t stream)
{
  const bool full = job.plan.length == L && lines.coef.n[lines.axis] == L * job.plan.segments * job.plan.chunks;

#define LAUNCH(rows)                                                                                                                                 \
  (full ? Way::template launch<T, rows, PHASE, true, L>(lines, job, stream) : Way::template launch<T, rows, PHASE, false, L>(lines, job, stream))
  if (lines.rows == STRATA_ROWS_SHARED) return lines.sums ? LAUNCH(ROWS_SUMS) : LAUNCH(STRATA_ROWS_SHARED);
  if (lines.rows == STRATA_ROWS_ARRAYS) return LAUNCH(STRATA_ROWS_ARRAYS);
  return Way::template launch<T, STRATA_ROWS_CELLS, PHASE, false, L>(lines, job, stream);
#undef LAUNCH
}

template <class Way, class T> static int launch(const typename Typed<T>::Lines &lines, const Job<T> &job, Phase phase, cudaStream_t stream)
{
  constexpr int L = STRATA_SEGMENT;

  switch (phase) {
  case TOTALS: return launch_phase<Way, TOTALS, L>(lines, job, stream);
  case FINISH: return launch_phase<Way, FINISH, L>(lines, job, stream);
  case LINKED: return launch_phase<Way, LINKED, L>(lines, job, stream);
  case LINKED_FORWARD: return launch_phase<Way, LINKED_FORWARD, L>(lines, job, stream);
  case LINKED_BACKWARD: return launch_phase<Way, LINKED_BACKWARD, L>(lines, job, stream);
  case LINKED_FINISH: return launch_phase<Way, LINKED_FINISH, L>(lines, job, stream);
  default:
    return job.plan.room == L ? launch_phase<Way, WHOLE, L>(lines, job, stream) : launch_phase<Way, WHOLE, STRATA_SEGMENT_LONG>(lines, job, stream);
  }
}

/* Two ways: the cells of a line are neighbours in memory, or the lines are */
int launch_contiguous(const StrataLines_d &lines, const Job<double> &job, Phase phase, cudaStream_t stream);
int launch_contiguous(const StrataLines_f &lines, const Job<float> &job, Phase phase, cudaStream_t stream);
int launch_strided(const StrataLines_d &lines, const Job<double> &job, Phase phase, cudaStream_t stream);
int launch_strided(const StrataLines_f &lines, const Job<float> &job, Phase phase, cudaStream_t stream);

} // namespace partition

#endif
