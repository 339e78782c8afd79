/*
   Solves along lines on the device: one thread a line.

   No more threads run than have their factors in the second-level cache, each with line after line. Along y and z the lines of
   neighbouring threads are neighbours in memory; along x a warp turns the numbers of its 32 lines in shared memory, some levels at
   a time.
*/
#include "../column_cell.h"

template <class T> struct Typed;
template <> struct Typed<double> {
  typedef StrataLines_d Lines;
};
template <> struct Typed<float> {
  typedef StrataLines_f Lines;
};

constexpr int WARP = 32, BLOCK = 64; /* threads of a block */
constexpr int BURST = 4;             /* levels whose numbers are under way together */
constexpr int TILE = 16;             /* levels that are turned together */

/* Right-hand sides, solutions, and the space that the way down leaves for the way back: number k of a thread is at k * threads */
template <class T> struct Job {
  int       transpose, nv;
  const T  *r, *add;
  T        *z, *c, *d; /* d NULL: in z */
  ptrdiff_t ldr, ldz, lines, threads;
};

/* What a thread carries from row to row */
template <class T> struct State {
  T ratio, carry, pivot, factor;

  __device__ __forceinline__ State() : ratio(0), carry(0), pivot(0), factor(0)
  {
  }
  __device__ __forceinline__ void forward(const Job<T> &job, int singular, int k, const T row[3], T r, T *c, T *d)
  {
    strata_forward(job.transpose, singular, row, r, &ratio, &carry, &pivot, &factor, k ? c - job.threads : c, c, d);
  }
};

/* ---- lines along y and z ---------------------------------------------------------------------------------------------------------- */

template <class T, int ROWS, int AXIS>
static __global__ void __launch_bounds__(BLOCK) thomas(__grid_constant__ const typename Typed<T>::Lines lines, __grid_constant__ const Job<T> job)
{
  const ptrdiff_t thread = (ptrdiff_t)blockIdx.x * BLOCK + threadIdx.x, stride = strata_line_stride(lines.coef.n, AXIS);
  const int       levels = lines.coef.n[AXIS];
  T *__restrict__ c = job.c + thread;

  for (ptrdiff_t item = thread; item < job.lines * job.nv; item += job.threads) {
    const ptrdiff_t v = item / job.lines;
    State<T>        state;
    T               line[2];
    int             x[3];

    strata_line_start(lines.coef.n, AXIS, item % job.lines, x);
    const ptrdiff_t id = strata_line_cell(lines.coef.n, x), stepd = job.d ? job.threads : stride;
    const T        *r = job.r + v * job.ldr + id, *add = job.add ? job.add + v * job.ldz + id : NULL;
    T              *z = job.z + v * job.ldz + id, *d = job.d ? job.d + thread : z;
    if (ROWS == STRATA_ROWS_SHARED) strata_shared_line(&lines, AXIS, x, line);
    for (int k0 = 0; k0 < levels; k0 += BURST) {
      T rk[BURST], row[BURST][3];

#pragma unroll
      for (int m = 0; m < BURST; m++) {
        if (k0 + m >= levels) break;
        rk[m] = r[(k0 + m) * stride];
        x[AXIS] = k0 + m;
        strata_line_row(&lines, AXIS, ROWS, line, x, row[m]);
      }
#pragma unroll
      for (int m = 0; m < BURST; m++) {
        if (k0 + m >= levels) break;
        state.forward(job, lines.singular, k0 + m, row[m], rk[m], c + (k0 + m) * job.threads, d + (k0 + m) * stepd);
      }
    }
    if (job.transpose) c[(levels - 1) * job.threads] = 0;
    T next = 0;
    for (int k0 = levels - 1; k0 >= 0; k0 -= BURST) {
      T ck[BURST], dk[BURST], ak[BURST];

#pragma unroll
      for (int m = 0; m < BURST; m++) {
        if (k0 - m < 0) break;
        ck[m] = c[(k0 - m) * job.threads];
        dk[m] = d[(k0 - m) * stepd];
        if (add) ak[m] = add[(k0 - m) * stride];
      }
#pragma unroll
      for (int m = 0; m < BURST; m++) {
        if (k0 - m < 0) break;
        next = strata_backward(ck[m], dk[m], next);
        z[(k0 - m) * stride] = add ? ak[m] + next : next;
      }
    }
  }
}

/* ---- lines along x ------------------------------------------------------------------------------------------------------------------ */

/* The levels k0, k0 + 1, ... of the first `count` lines of a warp, from memory and back. start: where the line of this thread begins */
template <class T> static __device__ __forceinline__ void take(T (*tile)[TILE + 1], const T *from, ptrdiff_t start, int count, int k0, int levels)
{
  const int lane = threadIdx.x % WARP, k = k0 + lane % TILE;

  for (int w = lane / TILE; w < WARP; w += WARP / TILE) {
    const ptrdiff_t at = __shfl_sync(~0u, start, w);

    if (w < count && k < levels) tile[w][lane % TILE] = from[at + k];
  }
}

template <class T>
static __device__ __forceinline__ void give(T (*tile)[TILE + 1], const T *add, T *to, ptrdiff_t start, int count, int k0, int levels)
{
  const int lane = threadIdx.x % WARP, k = k0 + lane % TILE;

  for (int w = lane / TILE; w < WARP; w += WARP / TILE) {
    const ptrdiff_t at = __shfl_sync(~0u, start, w);

    if (w < count && k < levels) to[at + k] = add ? add[at + k] + tile[w][lane % TILE] : tile[w][lane % TILE];
  }
}

template <class T, int ROWS>
static __global__ void __launch_bounds__(BLOCK)
    thomas_turned(__grid_constant__ const typename Typed<T>::Lines lines, __grid_constant__ const Job<T> job)
{
  constexpr int   ARRAYS = ROWS == STRATA_ROWS_ARRAYS ? 4 : 1;
  __shared__ T    tiles[BLOCK / WARP][ARRAYS][WARP][TILE + 1];
  const ptrdiff_t thread = (ptrdiff_t)blockIdx.x * BLOCK + threadIdx.x, items = job.lines * job.nv;
  const int       levels = lines.coef.n[0], lane = threadIdx.x % WARP;
  T(*tile)[WARP][TILE + 1] = tiles[threadIdx.x / WARP];
  T *__restrict__ c = job.c + thread;
  T *__restrict__ d = job.d + thread;

  for (ptrdiff_t first = thread - lane; first < items; first += job.threads) {
    const int       count = (int)(items - first < WARP ? items - first : WARP);
    const ptrdiff_t item = first + (lane < count ? lane : 0), v = item / job.lines, q = item % job.lines, cell = q * levels;
    State<T>        state;
    T               line[2];
    int             x[3];

    strata_line_start(lines.coef.n, 0, q, x);
    if (ROWS == STRATA_ROWS_SHARED) strata_shared_line(&lines, 0, x, line);
    for (int k0 = 0; k0 < levels; k0 += TILE) {
      __syncwarp();
      take(tile[0], job.r, v * job.ldr + cell, count, k0, levels);
      if (ROWS == STRATA_ROWS_ARRAYS) {
        take(tile[ARRAYS - 3], lines.lower, cell, count, k0, levels);
        if (lines.upper)
          take(tile[ARRAYS - 2], lines.upper, cell, count, k0, levels);
        else
          take(tile[ARRAYS - 2], lines.lower + 1, cell, count, k0, levels - 1);
        take(tile[ARRAYS - 1], lines.excess, cell, count, k0, levels);
      }
      __syncwarp();
      if (lane < count)
        for (int m = 0; m < TILE && k0 + m < levels; m++) {
          T row[3];

          if (ROWS == STRATA_ROWS_ARRAYS) {
            const T upper = lines.upper || k0 + m < levels - 1 ? tile[ARRAYS - 2][lane][m] : 0;

            strata_array_row(lines.coef.scale, lines.coef.shift, tile[ARRAYS - 3][lane][m], upper, tile[ARRAYS - 1][lane][m], row);
          } else {
            x[0] = k0 + m;
            strata_line_row(&lines, 0, ROWS, line, x, row);
          }
          state.forward(job, lines.singular, k0 + m, row, tile[0][lane][m], c + (k0 + m) * job.threads, d + (k0 + m) * job.threads);
        }
    }
    if (job.transpose) c[(levels - 1) * job.threads] = 0;
    T next = 0;
    for (int k0 = (levels - 1) / TILE * TILE; k0 >= 0; k0 -= TILE) {
      __syncwarp();
      if (lane < count)
        for (int m = (levels - k0 < TILE ? levels - k0 : TILE) - 1; m >= 0; m--) {
          next = strata_backward(c[(k0 + m) * job.threads], d[(k0 + m) * job.threads], next);
          tile[0][lane][m] = next;
        }
      __syncwarp();
      give(tile[0], job.add, job.z, v * job.ldz + cell, count, k0, levels);
    }
  }
}

/* ---- launch --------------------------------------------------------------------------------------------------------------------------- */

/* Threads that run together: what they leave for the way back should fit in a part of the second-level cache, but the latency of their
   arithmetic needs some of them on each multiprocessor */
static cudaError_t resident(ptrdiff_t items, size_t bytes, ptrdiff_t *threads)
{
  int         device, processors, cache;
  cudaError_t err;

  if ((err = cudaGetDevice(&device)) != cudaSuccess) return err;
  if ((err = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device)) != cudaSuccess) return err;
  if ((err = cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device)) != cudaSuccess) return err;
  const ptrdiff_t fit = (ptrdiff_t)(0.6 * cache / bytes / processors / BLOCK),
                  blocks = (fit < 3    ? 3
                            : fit > 16 ? 16
                                       : fit) *
                           processors,
                  need = (items + BLOCK - 1) / BLOCK;

  *threads = BLOCK * (need < blocks ? need : blocks);
  return cudaSuccess;
}

/* Numbers that a thread leaves for each level */
static int left(int axis, int adds)
{
  return axis == 0 || adds ? 2 : 1;
}

template <class T> static int work_bytes(const typename Typed<T>::Lines *lines, int nv, int adds, size_t *bytes)
{
  const int         levels = lines->coef.n[lines->axis], numbers = left(lines->axis, adds);
  ptrdiff_t         threads = 0;
  const cudaError_t err = resident(strata_line_count(lines->coef.n, lines->axis) * nv, sizeof(T) * levels * numbers, &threads);

  *bytes = sizeof(T) * levels * numbers * threads;
  return (int)err;
}

template <class T>
static int solve(const typename Typed<T>::Lines *lines, int transpose, int nv, const T *r, ptrdiff_t ldr, const T *add, T *z, ptrdiff_t ldz,
                 void *work, cudaStream_t stream)
{
  const int   levels = lines->coef.n[lines->axis], numbers = left(lines->axis, add != NULL);
  Job<T>      job;
  cudaError_t err;

  job.transpose = transpose;
  job.nv = nv;
  job.r = r;
  job.add = add;
  job.z = z;
  job.ldr = ldr;
  job.ldz = ldz;
  job.lines = strata_line_count(lines->coef.n, lines->axis);
  if (!job.lines || !nv) return 0;
  if ((err = resident(job.lines * nv, sizeof(T) * levels * numbers, &job.threads)) != cudaSuccess) return (int)err;
  job.c = (T *)work;
  job.d = numbers == 2 ? job.c + levels * job.threads : NULL;

  const unsigned blocks = (unsigned)(job.threads / BLOCK);
#define SOLVE(rows)                                                                                                                                  \
  (lines->axis == 0   ? thomas_turned<T, rows><<<blocks, BLOCK, 0, stream>>>(*lines, job)                                                            \
   : lines->axis == 1 ? thomas<T, rows, 1><<<blocks, BLOCK, 0, stream>>>(*lines, job)                                                                \
                      : thomas<T, rows, 2><<<blocks, BLOCK, 0, stream>>>(*lines, job))
  if (lines->rows == STRATA_ROWS_SHARED)
    SOLVE(STRATA_ROWS_SHARED);
  else if (lines->rows == STRATA_ROWS_ARRAYS)
    SOLVE(STRATA_ROWS_ARRAYS);
  else
    SOLVE(STRATA_ROWS_CELLS);
#undef SOLVE
  return (int)cudaGetLastError();
}

/* ---- a look at all rows --------------------------------------------------------------------------------------------------------------- */

template <class T, int ROWS>
static __global__ void __launch_bounds__(BLOCK)
    check(__grid_constant__ const typename Typed<T>::Lines lines, ptrdiff_t count, StrataLinesReport *report)
{
  const ptrdiff_t   q = (ptrdiff_t)blockIdx.x * BLOCK + threadIdx.x;
  const int         axis = lines.axis, levels = lines.coef.n[axis];
  StrataLinesReport own = StrataLinesReportEmpty();
  T                 line[2], row[3], ratio = 0;
  int               x[3];

  if (q >= count) return;
  strata_line_start(lines.coef.n, axis, q, x);
  if (ROWS == STRATA_ROWS_SHARED) strata_shared_line(&lines, axis, x, line);
  strata_line_row(&lines, axis, ROWS, line, x, row);
  for (int k = 0; k < levels; k++) {
    const unsigned long long id = (unsigned long long)strata_line_cell(lines.coef.n, x);
    T                        next[3] = {0, 0, 0};

    x[axis] = k + 1;
    if (k < levels - 1) strata_line_row(&lines, axis, ROWS, line, x, next);
    strata_report(&own, id, strata_check(row, next[0], &ratio), strata_row_signs(row), row[1] != next[0]);
    for (int m = 0; m < 3; m++) row[m] = next[m];
  }
  if (own.zero != STRATA_NO_CELL) atomicMin(&report->zero, own.zero);
  if (own.isolated != STRATA_NO_CELL) atomicMin(&report->isolated, own.isolated);
  if (own.nonfinite != STRATA_NO_CELL) atomicMin(&report->nonfinite, own.nonfinite);
  if (own.singular) atomicAdd(&report->singular, own.singular);
  if (own.sign) atomicOr(&report->sign, own.sign);
  if (own.unsymmetric) atomicOr(&report->unsymmetric, own.unsymmetric);
}

template <class T> static int look(const typename Typed<T>::Lines *lines, StrataLinesReport *report, cudaStream_t stream)
{
  const ptrdiff_t    count = strata_line_count(lines->coef.n, lines->axis);
  const unsigned     blocks = (unsigned)((count + BLOCK - 1) / BLOCK);
  StrataLinesReport *found;
  cudaError_t        err;

  if (!count) return 0;
  if ((err = cudaMalloc(&found, sizeof(*found))) != cudaSuccess) return (int)err;
  if ((err = cudaMemcpyAsync(found, report, sizeof(*found), cudaMemcpyHostToDevice, stream)) == cudaSuccess) {
    if (lines->rows == STRATA_ROWS_SHARED)
      check<T, STRATA_ROWS_SHARED><<<blocks, BLOCK, 0, stream>>>(*lines, count, found);
    else if (lines->rows == STRATA_ROWS_ARRAYS)
      check<T, STRATA_ROWS_ARRAYS><<<blocks, BLOCK, 0, stream>>>(*lines, count, found);
    else
      check<T, STRATA_ROWS_CELLS><<<blocks, BLOCK, 0, stream>>>(*lines, count, found);
    if ((err = cudaGetLastError()) == cudaSuccess) err = cudaMemcpyAsync(report, found, sizeof(*found), cudaMemcpyDeviceToHost, stream);
    if (err == cudaSuccess) err = cudaStreamSynchronize(stream);
  }
  (void)cudaFree(found);
  return (int)err;
}

#define ENTRY_POINTS(T, S)                                                                                                                           \
  int StrataLinesCheckCUDA_##S(const StrataLines_##S *lines, StrataLinesReport *report, void *stream)                                                \
  {                                                                                                                                                  \
    return look<T>(lines, report, (cudaStream_t)stream);                                                                                             \
  }                                                                                                                                                  \
  int StrataThomasWorkCUDA_##S(const StrataLines_##S *lines, int nv, int adds, size_t *bytes)                                                        \
  {                                                                                                                                                  \
    return work_bytes<T>(lines, nv, adds, bytes);                                                                                                    \
  }                                                                                                                                                  \
  int StrataThomasCUDA_##S(const StrataLines_##S *lines, int transpose, int nv, const T *r, ptrdiff_t ldr, const T *add, T *z, ptrdiff_t ldz,        \
                           void *work, void *stream)                                                                                                 \
  {                                                                                                                                                  \
    return solve<T>(lines, transpose, nv, r, ldr, add, z, ldz, work, (cudaStream_t)stream);                                                          \
  }
ENTRY_POINTS(double, d)
ENTRY_POINTS(float, f)
