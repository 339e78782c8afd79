/*
   Pieces of lines on the device: one thread a line
*/
#include "../column_piece_cell.h"

template <class T> struct Typed;
template <> struct Typed<double> {
  typedef StrataLines_d Lines;
  typedef StrataEnds_d  Ends;
};
template <> struct Typed<float> {
  typedef StrataLines_f Lines;
  typedef StrataEnds_f  Ends;
};

constexpr int BLOCK = 128;

template <class T> static __global__ void __launch_bounds__(BLOCK) first_lower(typename Typed<T>::Lines lines, ptrdiff_t count, T *lower)
{
  const ptrdiff_t q = (ptrdiff_t)blockIdx.x * BLOCK + threadIdx.x;
  T               line[2], row[3];
  int             x[3];

  if (q >= count) return;
  strata_line_start(lines.coef.n, lines.axis, q, x);
  if (lines.rows == STRATA_ROWS_SHARED) strata_shared_line(&lines, lines.axis, x, line);
  strata_piece_row(&lines, lines.axis, lines.rows, line, x, row);
  lower[q] = row[0];
}

template <class T>
static __global__ void __launch_bounds__(BLOCK)
    check(typename Typed<T>::Lines lines, ptrdiff_t count, T *ratio, const T *lower, StrataLinesReport *report)
{
  const ptrdiff_t   q = (ptrdiff_t)blockIdx.x * BLOCK + threadIdx.x;
  const int         axis = lines.axis, levels = lines.coef.n[axis];
  StrataLinesReport own = StrataLinesReportEmpty();
  T                 line[2], row[3], next[3] = {0, 0, 0};
  int               x[3];

  if (q >= count) return;
  strata_line_start(lines.coef.n, axis, q, x);
  if (lines.rows == STRATA_ROWS_SHARED) strata_shared_line(&lines, axis, x, line);
  strata_piece_row(&lines, axis, lines.rows, line, x, row);
  for (int k = 0; k < levels; k++) {
    const unsigned long long id = (unsigned long long)strata_line_cell(lines.coef.n, x);

    x[axis] = k + 1;
    if (k < levels - 1)
      strata_piece_row(&lines, axis, lines.rows, line, x, next);
    else
      next[0] = strata_or_zero(lower, q);
    strata_report(&own, id, strata_check(row, next[0], &ratio[q]), strata_row_signs(row), row[1] != next[0]);
    for (int m = 0; m < 3; m++) row[m] = next[m];
  }
  if (own.zero != STRATA_NO_CELL) atomicMin(&report->zero, own.zero);
  if (own.isolated != STRATA_NO_CELL) atomicMin(&report->isolated, own.isolated);
  if (own.nonfinite != STRATA_NO_CELL) atomicMin(&report->nonfinite, own.nonfinite);
  if (own.singular) atomicAdd(&report->singular, own.singular);
  if (own.sign) atomicOr(&report->sign, own.sign);
  if (own.unsymmetric) atomicOr(&report->unsymmetric, own.unsymmetric);
}

/* c and d of item i and level k are at k items + i */
template <class T>
static __global__ void __launch_bounds__(BLOCK)
    piece(typename Typed<T>::Lines lines, int transpose, typename Typed<T>::Ends ends, ptrdiff_t from, ptrdiff_t count, ptrdiff_t items, const T *r,
          ptrdiff_t ldr, const T *add, T *z, ptrdiff_t ldz, T *c, T *d)
{
  const ptrdiff_t item = (ptrdiff_t)blockIdx.x * BLOCK + threadIdx.x, v = item / count, q = from + item % count;
  const int       axis = lines.axis, levels = lines.coef.n[axis];
  const ptrdiff_t stride = strata_line_stride(lines.coef.n, axis);
  T               line[2], state[STRATA_STATES];
  int             x[3];

  if (item >= items) return;
  strata_line_start(lines.coef.n, axis, q, x);
  const ptrdiff_t id = strata_line_cell(lines.coef.n, x);

  if (lines.rows == STRATA_ROWS_SHARED) strata_shared_line(&lines, axis, x, line);
  for (int n = 0; n < STRATA_STATES; n++) state[n] = strata_or_zero(ends.before[n], q);
  T carry = strata_or_zero(ends.carry, item), next = strata_or_zero(ends.after, item);

  c += item;
  d += item;
  for (int k = 0; k < levels; k++) {
    T row[3];

    x[axis] = k;
    strata_piece_row(&lines, axis, lines.rows, line, x, row);
    strata_forward(transpose, lines.singular, row, r ? r[v * ldr + id + k * stride] : T(0), &state[STRATA_STATE_RATIO], &carry,
                   &state[STRATA_STATE_PIVOT], &state[STRATA_STATE_FACTOR], &c[(k ? k - 1 : 0) * items], &c[k * items], &d[k * items]);
  }
  if (transpose && levels) c[(levels - 1) * items] = strata_or_zero(ends.lower, q) * state[STRATA_STATE_PIVOT];
  for (int k = levels - 1; k >= 0; k--) {
    const ptrdiff_t at = v * ldz + id + k * stride;

    next = strata_backward(c[k * items], d[k * items], next);
    if (z) z[at] = add ? add[at] + next : next;
  }
  for (int n = 0; n < STRATA_STATES; n++)
    if (ends.end[n]) ends.end[n][q] = state[n];
  if (ends.last) ends.last[item] = carry;
  if (ends.first) ends.first[item] = next;
}

template <class T>
static __global__ void __launch_bounds__(BLOCK) ring(typename Typed<T>::Lines lines, int level, ptrdiff_t count, ptrdiff_t cells, const T *column,
                                                     const T *number, const T *y, ptrdiff_t ldy, const T *add, T *z, ptrdiff_t ldz)
{
  const ptrdiff_t id = (ptrdiff_t)blockIdx.x * BLOCK + threadIdx.x, v = blockIdx.y;
  const int      *n = lines.coef.n, axis = lines.axis;

  if (id >= cells) return;
  const int x[3] = {(int)(id % n[0]), (int)(id / n[0] % n[1]), (int)(id / ((ptrdiff_t)n[0] * n[1]))};
  const int h0 = axis == 0 ? 1 : 0, h1 = axis == 2 ? 1 : 2;
  const T   last = number[v * count + x[h0] + (ptrdiff_t)n[h0] * x[h1]];
  const T   value = x[axis] == level ? last : (T)fma(-column[id], last, y[v * ldy + id]);

  z[v * ldz + id] = add ? add[v * ldz + id] + value : value;
}

/* ---- launch --------------------------------------------------------------------------------------------------------------------------- */

static unsigned blocks(ptrdiff_t items)
{
  return (unsigned)((items + BLOCK - 1) / BLOCK);
}

template <class T> static int look(const typename Typed<T>::Lines *lines, T *ratio, const T *lower, StrataLinesReport *report, cudaStream_t stream)
{
  const ptrdiff_t    count = strata_line_count(lines->coef.n, lines->axis);
  StrataLinesReport *found;
  cudaError_t        err;

  if (!count) return 0;
  if ((err = cudaMalloc(&found, sizeof(*found))) != cudaSuccess) return (int)err;
  if ((err = cudaMemcpyAsync(found, report, sizeof(*found), cudaMemcpyHostToDevice, stream)) == cudaSuccess) {
    check<T><<<blocks(count), BLOCK, 0, stream>>>(*lines, count, ratio, lower, found);
    if ((err = cudaGetLastError()) == cudaSuccess) err = cudaMemcpyAsync(report, found, sizeof(*found), cudaMemcpyDeviceToHost, stream);
    if (err == cudaSuccess) err = cudaStreamSynchronize(stream);
  }
  (void)cudaFree(found);
  return (int)err;
}

template <class T> static int lower_legs(const typename Typed<T>::Lines *lines, T *lower, cudaStream_t stream)
{
  const ptrdiff_t count = strata_line_count(lines->coef.n, lines->axis);

  if (!count) return 0;
  first_lower<T><<<blocks(count), BLOCK, 0, stream>>>(*lines, count, lower);
  return (int)cudaGetLastError();
}

template <class T>
static int solve(const typename Typed<T>::Lines *lines, int transpose, const typename Typed<T>::Ends *ends, ptrdiff_t from, ptrdiff_t to, int nv,
                 const T *r, ptrdiff_t ldr, const T *add, T *z, ptrdiff_t ldz, void *work, cudaStream_t stream)
{
  const ptrdiff_t items = (to - from) * nv;
  T              *c = (T *)work;

  if (!items) return 0;
  piece<T><<<blocks(items), BLOCK, 0, stream>>>(*lines, transpose, *ends, from, to - from, items, r, ldr, add, z, ldz, c,
                                                c + items * lines->coef.n[lines->axis]);
  return (int)cudaGetLastError();
}

template <class T>
static int finish(const typename Typed<T>::Lines *lines, int level, const T *column, const T *number, int nv, const T *y, ptrdiff_t ldy, const T *add,
                  T *z, ptrdiff_t ldz, cudaStream_t stream)
{
  const ptrdiff_t count = strata_line_count(lines->coef.n, lines->axis), cells = count * lines->coef.n[lines->axis];

  if (!cells || !nv) return 0;
  ring<T><<<dim3(blocks(cells), (unsigned)nv), BLOCK, 0, stream>>>(*lines, level, count, cells, column, number, y, ldy, add, z, ldz);
  return (int)cudaGetLastError();
}

#define ENTRY_POINTS(T, S)                                                                                                                           \
  int StrataPieceLowerCUDA_##S(const StrataLines_##S *lines, T *lower, void *stream)                                                                 \
  {                                                                                                                                                  \
    return lower_legs<T>(lines, lower, (cudaStream_t)stream);                                                                                        \
  }                                                                                                                                                  \
  int StrataPieceCheckCUDA_##S(const StrataLines_##S *lines, T *ratio, const T *lower, StrataLinesReport *report, void *stream)                      \
  {                                                                                                                                                  \
    return look<T>(lines, ratio, lower, report, (cudaStream_t)stream);                                                                               \
  }                                                                                                                                                  \
  int StrataPieceCUDA_##S(const StrataLines_##S *lines, int transpose, const StrataEnds_##S *ends, ptrdiff_t from, ptrdiff_t to, int nv, const T *r, \
                          ptrdiff_t ldr, const T *add, T *z, ptrdiff_t ldz, void *work, void *stream)                                                \
  {                                                                                                                                                  \
    return solve<T>(lines, transpose, ends, from, to, nv, r, ldr, add, z, ldz, work, (cudaStream_t)stream);                                          \
  }                                                                                                                                                  \
  int StrataPieceRingCUDA_##S(const StrataLines_##S *lines, int level, const T *column, const T *number, int nv, const T *y, ptrdiff_t ldy,          \
                              const T *add, T *z, ptrdiff_t ldz, void *stream)                                                                       \
  {                                                                                                                                                  \
    return finish<T>(lines, level, column, number, nv, y, ldy, add, z, ldz, (cudaStream_t)stream);                                                   \
  }
ENTRY_POINTS(double, d)
ENTRY_POINTS(float, f)
