/*
   Elimination from both ends and cyclic reduction on the device
*/
#include "../column_other_cell.h"

template <class T> struct Typed;
template <> struct Typed<double> {
  typedef StrataLines_d Lines;
};
template <> struct Typed<float> {
  typedef StrataLines_f Lines;
};

/* Right-hand sides and solutions */
template <class T> struct Job {
  int       nv;
  const T  *r, *add;
  T        *z, *work;
  ptrdiff_t ldr, ldz, lines;
};

constexpr int WARP = 32, THREADS = 256;

/* ---- from both ends: two warps have 32 lines ---------------------------------------------------------------------------------------------- */

template <class T, int ROWS>
static __global__ void __launch_bounds__(2 * WARP) twoway(__grid_constant__ const typename Typed<T>::Lines lines, __grid_constant__ const Job<T> job)
{
  __shared__ T    ratio[2][WARP], carry[2][WARP], met[WARP];
  const int       axis = lines.axis, levels = lines.coef.n[axis], middle = levels / 2, lane = threadIdx.x % WARP, half = threadIdx.x / WARP;
  const ptrdiff_t items = job.lines * job.nv, wanted = (ptrdiff_t)blockIdx.x * WARP + lane, item = wanted < items ? wanted : items - 1;
  const ptrdiff_t q = item % job.lines, v = item / job.lines, stride = strata_line_stride(lines.coef.n, axis);
  const int       begin = half ? levels - 1 : 0, step = half ? -1 : 1, count = half ? levels - 1 - middle : middle;
  T              *c = job.work + item, *d = c + items * levels, line[2], row[3], own = 0, left = 0, unused = 0;
  int             x[3];

  strata_line_start(lines.coef.n, axis, q, x);
  const ptrdiff_t id = strata_line_cell(lines.coef.n, x);
  const T        *r = job.r + v * job.ldr + id;
  T              *z = job.z + v * job.ldz + id;

  if (ROWS == STRATA_ROWS_SHARED) strata_shared_line(&lines, axis, x, line);
  for (int m = 0, k = begin; m < count; m++, k += step) {
    T ck, dk;

    x[axis] = k;
    strata_line_row(&lines, axis, ROWS, line, x, row);
    const T turned[3] = {half ? row[1] : row[0], half ? row[0] : row[1], row[2]};

    strata_forward(0, lines.singular, turned, r[k * stride], &own, &left, &unused, &unused, (T *)NULL, &ck, &dk);
    if (wanted < items) {
      c[k * items] = ck;
      d[k * items] = dk;
    }
  }
  ratio[half][lane] = own;
  carry[half][lane] = left;
  __syncthreads();
  if (half == 0) {
    const T ratios[2] = {ratio[0][lane], ratio[1][lane]}, carries[2] = {carry[0][lane], carry[1][lane]};

    x[axis] = middle;
    strata_line_row(&lines, axis, ROWS, line, x, row);
    met[lane] = strata_meet(row, lines.singular, ratios, carries, r[middle * stride]);
  }
  __syncthreads();
  if (wanted >= items) return;
  T        next = met[lane];
  const T *add = job.add ? job.add + v * job.ldz + id : NULL;

  if (half == 0) z[middle * stride] = add ? add[middle * stride] + next : next;
  for (int m = 0, k = middle - step; m < count; m++, k -= step) {
    next = strata_backward(c[k * items], d[k * items], next);
    z[k * stride] = add ? add[k * stride] + next : next;
  }
}

/* ---- cyclic reduction: a block has a few lines, all of whose rows are in shared memory, or in global memory if they do not fit ------------- */

template <class T, int ROWS>
static __global__ void __launch_bounds__(THREADS)
    pcr(__grid_constant__ const typename Typed<T>::Lines lines, __grid_constant__ const Job<T> job, int together)
{
  extern __shared__ double space[];
  const int                axis = lines.axis, levels = lines.coef.n[axis];
  const ptrdiff_t          items = job.lines * job.nv, first = (ptrdiff_t)blockIdx.x * together, stride = strata_line_stride(lines.coef.n, axis);
  const ptrdiff_t          size = (ptrdiff_t)levels * together;
  T                       *old = job.work ? job.work + (ptrdiff_t)blockIdx.x * 2 * STRATA_PCR_NUMBERS * size : (T *)space;
  T                       *now = old + STRATA_PCR_NUMBERS * size;

  /* number i of the block: a row of line i % together */
  for (ptrdiff_t i = threadIdx.x; i < size; i += THREADS) {
    const ptrdiff_t item = first + i % together;
    T               line[2], row[3] = {0, 0, 1}, r = 0;
    int             x[3];

    if (item < items) {
      strata_line_start(lines.coef.n, axis, item % job.lines, x);
      const ptrdiff_t id = strata_line_cell(lines.coef.n, x);

      if (ROWS == STRATA_ROWS_SHARED) strata_shared_line(&lines, axis, x, line);
      x[axis] = (int)(i / together);
      strata_line_row(&lines, axis, ROWS, line, x, row);
      r = job.r[item / job.lines * job.ldr + id + x[axis] * stride];
    }
    strata_pcr_begin(row, r, old + i, size);
  }
  __syncthreads();
  for (ptrdiff_t distance = together; distance < size; distance *= 2) {
    for (ptrdiff_t i = threadIdx.x; i < size; i += THREADS) strata_pcr_step(old + i, distance, i >= distance, i + distance < size, now + i, size);
    __syncthreads();
    T *t = old;

    old = now;
    now = t;
  }
  for (ptrdiff_t i = threadIdx.x; i < size; i += THREADS) {
    const ptrdiff_t item = first + i % together;
    int             x[3];

    if (item >= items) continue;
    strata_line_start(lines.coef.n, axis, item % job.lines, x);
    const ptrdiff_t at = item / job.lines * job.ldz + strata_line_cell(lines.coef.n, x) + i / together * stride;
    const T         value = old[STRATA_PCR_RIGHT * size + i] * old[STRATA_PCR_INVERSE * size + i];

    job.z[at] = job.add ? job.add[at] + value : value;
  }
}

/* ---- launch ------------------------------------------------------------------------------------------------------------------------------ */

template <class T>
static Job<T> make_job(const typename Typed<T>::Lines *lines, int nv, const T *r, ptrdiff_t ldr, const T *add, T *z, ptrdiff_t ldz, void *work)
{
  Job<T> job;

  job.nv = nv;
  job.r = r;
  job.add = add;
  job.z = z;
  job.work = (T *)work;
  job.ldr = ldr;
  job.ldz = ldz;
  job.lines = strata_line_count(lines->coef.n, lines->axis);
  return job;
}

template <class T> static int solve_twoway(const typename Typed<T>::Lines *lines, const Job<T> &job, cudaStream_t stream)
{
  const unsigned blocks = (unsigned)((job.lines * job.nv + WARP - 1) / WARP);

  if (!blocks) return 0;
  if (lines->rows == STRATA_ROWS_SHARED)
    twoway<T, STRATA_ROWS_SHARED><<<blocks, 2 * WARP, 0, stream>>>(*lines, job);
  else if (lines->rows == STRATA_ROWS_ARRAYS)
    twoway<T, STRATA_ROWS_ARRAYS><<<blocks, 2 * WARP, 0, stream>>>(*lines, job);
  else
    twoway<T, STRATA_ROWS_CELLS><<<blocks, 2 * WARP, 0, stream>>>(*lines, job);
  return (int)cudaGetLastError();
}

template <class T, int ROWS> static int launch_pcr(const typename Typed<T>::Lines *lines, Job<T> job, cudaStream_t stream)
{
  const int       together = strata_pcr_lines(lines->coef.n, lines->axis, (int)sizeof(T));
  const bool      fits = strata_pcr_fits(lines->coef.n, lines->axis, (int)sizeof(T));
  const ptrdiff_t blocks = (job.lines * job.nv + together - 1) / together;
  const size_t    bytes = fits ? sizeof(T) * lines->coef.n[lines->axis] * together * 2 * STRATA_PCR_NUMBERS : 0;
  cudaError_t     err;

  if (!blocks) return 0;
  if (fits) job.work = NULL;
  if ((err = cudaFuncSetAttribute(pcr<T, ROWS>, cudaFuncAttributeMaxDynamicSharedMemorySize, STRATA_PCR_SHARED)) != cudaSuccess) return (int)err;
  pcr<T, ROWS><<<(unsigned)blocks, THREADS, bytes, stream>>>(*lines, job, together);
  return (int)cudaGetLastError();
}

template <class T> static int solve_pcr(const typename Typed<T>::Lines *lines, const Job<T> &job, cudaStream_t stream)
{
  return lines->rows == STRATA_ROWS_SHARED   ? launch_pcr<T, STRATA_ROWS_SHARED>(lines, job, stream)
         : lines->rows == STRATA_ROWS_ARRAYS ? launch_pcr<T, STRATA_ROWS_ARRAYS>(lines, job, stream)
                                             : launch_pcr<T, STRATA_ROWS_CELLS>(lines, job, stream);
}

#define ENTRY_POINTS(T, S)                                                                                                                           \
  int StrataTwoWayCUDA_##S(const StrataLines_##S *lines, int nv, const T *r, ptrdiff_t ldr, const T *add, T *z, ptrdiff_t ldz, void *work,           \
                           void *stream)                                                                                                             \
  {                                                                                                                                                  \
    return solve_twoway<T>(lines, make_job<T>(lines, nv, r, ldr, add, z, ldz, work), (cudaStream_t)stream);                                          \
  }                                                                                                                                                  \
  int StrataPCRCUDA_##S(const StrataLines_##S *lines, int nv, const T *r, ptrdiff_t ldr, const T *add, T *z, ptrdiff_t ldz, void *work,              \
                        void *stream)                                                                                                                \
  {                                                                                                                                                  \
    return solve_pcr<T>(lines, make_job<T>(lines, nv, r, ldr, add, z, ldz, work), (cudaStream_t)stream);                                             \
  }
ENTRY_POINTS(double, d)
ENTRY_POINTS(float, f)
