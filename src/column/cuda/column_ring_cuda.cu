/*
   Periodic lines on the device: a thread has a cell or a line
*/
#include "../column_ring_cell.h"

template <class T> struct Typed;
template <> struct Typed<double> {
  typedef StrataLines_d Lines;
  typedef StrataRing_d  Ring;
};
template <> struct Typed<float> {
  typedef StrataLines_f Lines;
  typedef StrataRing_f  Ring;
};

constexpr int THREADS = 256;

static unsigned blocks(ptrdiff_t threads)
{
  return (unsigned)((threads + THREADS - 1) / THREADS);
}

static __device__ __forceinline__ ptrdiff_t own()
{
  return (ptrdiff_t)blockIdx.x * THREADS + threadIdx.x;
}

static __device__ __forceinline__ void cell(const int n[3], ptrdiff_t id, int x[3])
{
  x[0] = (int)(id % n[0]);
  x[1] = (int)(id / n[0] % n[1]);
  x[2] = (int)(id / n[0] / n[1]);
}

static ptrdiff_t cells(const int n[3])
{
  return (ptrdiff_t)n[0] * n[1] * n[2];
}

template <class T>
static __global__ void __launch_bounds__(THREADS)
    cut(__grid_constant__ const typename Typed<T>::Lines from, ptrdiff_t count, T *number, T *excess, T *lower, T *upper)
{
  const ptrdiff_t id = own();
  T               row[3];
  int             x[3];

  if (id >= count) return;
  cell(from.coef.n, id, x);
  strata_ring_cut(&from, x, number, row);
  if (lower) lower[id] = row[0];
  if (upper) upper[id] = row[1];
  if (excess) excess[id] = row[2];
}

template <class T>
static __global__ void __launch_bounds__(THREADS)
    right_side(__grid_constant__ const typename Typed<T>::Lines lines, ptrdiff_t count, const T *number, int which, T *right)
{
  const ptrdiff_t id = own();
  int             x[3];

  if (id >= count) return;
  cell(lines.coef.n, id, x);
  right[id] = strata_ring_right(&lines, number, which, x);
}

/* The first cell of line q, and the distances from there to the two last ones */
template <class L> static __device__ __forceinline__ ptrdiff_t ends(const L &lines, ptrdiff_t q, ptrdiff_t to[2])
{
  const ptrdiff_t stride = strata_line_stride(lines.coef.n, lines.axis);
  int             x[3];

  to[0] = (lines.coef.n[lines.axis] - 2) * stride;
  to[1] = to[0] + stride;
  strata_line_start(lines.coef.n, lines.axis, q, x);
  return strata_line_cell(lines.coef.n, x);
}

template <class T>
static __global__ void __launch_bounds__(THREADS)
    pivot(__grid_constant__ const typename Typed<T>::Lines lines, ptrdiff_t count, const T *number, const T *g, T *inverse)
{
  const ptrdiff_t q = own();
  ptrdiff_t       to[2];

  if (q >= count) return;
  const T *first = g + ends(lines, q, to);

  inverse[q] = strata_ring_pivot(lines.coef.scale, lines.coef.shift, number + q, count, first[0], first[to[0]]);
}

template <class T>
static __global__ void __launch_bounds__(THREADS)
    find_last(__grid_constant__ const typename Typed<T>::Lines lines, __grid_constant__ const typename Typed<T>::Ring ring, int transpose,
              ptrdiff_t count, int nv, const T *y, ptrdiff_t ldy, T *last)
{
  const ptrdiff_t item = own(), q = item % count, v = item / count, one = ring.same ? 0 : q;
  ptrdiff_t       to[2];

  if (v >= nv) return;
  const T *first = y + v * ldy + ends(lines, q, to);

  last[item] = strata_ring_last(lines.coef.scale, lines.coef.shift, ring.number + one, ring.same ? 1 : count, transpose, ring.inverse[one], first[0],
                                first[to[0]], first[to[1]]);
}

template <class T>
static __global__ void __launch_bounds__(THREADS)
    finish(__grid_constant__ const typename Typed<T>::Lines lines, __grid_constant__ const typename Typed<T>::Ring ring, ptrdiff_t count, int nv,
           const T *y, ptrdiff_t ldy, const T *add, T *z, ptrdiff_t ldz, const T *last)
{
  const ptrdiff_t item = own(), id = item % count, v = item / count;
  const int       axis = lines.axis, end = lines.coef.n[axis] - 1;
  int             x[3];

  if (v >= nv) return;
  cell(lines.coef.n, id, x);
  const T next = last[v * (count / (end + 1)) + strata_line_of(lines.coef.n, axis, x)];
  const T value = x[axis] == end ? next : fma(-ring.column[ring.same ? x[axis] : id], next, y[v * ldy + id]);

  z[v * ldz + id] = add ? add[v * ldz + id] + value : value;
}

#define ENTRY_POINTS(T, S)                                                                                                                           \
  int StrataRingCutCUDA_##S(const StrataLines_##S *from, T *number, T *excess, T *lower, T *upper, void *stream)                                     \
  {                                                                                                                                                  \
    const ptrdiff_t count = cells(from->coef.n);                                                                                                     \
                                                                                                                                                     \
    if (!count) return 0;                                                                                                                            \
    cut<T><<<blocks(count), THREADS, 0, (cudaStream_t)stream>>>(*from, count, number, excess, lower, upper);                                         \
    return (int)cudaGetLastError();                                                                                                                  \
  }                                                                                                                                                  \
  int StrataRingRightCUDA_##S(const StrataLines_##S *lines, const T *number, int which, T *right, void *stream)                                      \
  {                                                                                                                                                  \
    const ptrdiff_t count = cells(lines->coef.n);                                                                                                    \
                                                                                                                                                     \
    if (!count) return 0;                                                                                                                            \
    right_side<T><<<blocks(count), THREADS, 0, (cudaStream_t)stream>>>(*lines, count, number, which, right);                                         \
    return (int)cudaGetLastError();                                                                                                                  \
  }                                                                                                                                                  \
  int StrataRingPivotCUDA_##S(const StrataLines_##S *lines, const T *number, const T *g, T *inverse, void *stream)                                   \
  {                                                                                                                                                  \
    const ptrdiff_t count = strata_line_count(lines->coef.n, lines->axis);                                                                           \
                                                                                                                                                     \
    if (!count) return 0;                                                                                                                            \
    pivot<T><<<blocks(count), THREADS, 0, (cudaStream_t)stream>>>(*lines, count, number, g, inverse);                                                \
    return (int)cudaGetLastError();                                                                                                                  \
  }                                                                                                                                                  \
  int StrataRingFinishCUDA_##S(const StrataLines_##S *lines, const StrataRing_##S *ring, int transpose, int nv, const T *y, ptrdiff_t ldy,           \
                               const T *add, T *z, ptrdiff_t ldz, T *last, void *stream)                                                             \
  {                                                                                                                                                  \
    const ptrdiff_t count = cells(lines->coef.n), rings = strata_line_count(lines->coef.n, lines->axis);                                             \
                                                                                                                                                     \
    if (!count || !nv) return 0;                                                                                                                     \
    find_last<T><<<blocks(rings *nv), THREADS, 0, (cudaStream_t)stream>>>(*lines, *ring, transpose, rings, nv, y, ldy, last);                        \
    finish<T><<<blocks(count *nv), THREADS, 0, (cudaStream_t)stream>>>(*lines, *ring, count, nv, y, ldy, add, z, ldz, last);                         \
    return (int)cudaGetLastError();                                                                                                                  \
  }
ENTRY_POINTS(double, d)
ENTRY_POINTS(float, f)
