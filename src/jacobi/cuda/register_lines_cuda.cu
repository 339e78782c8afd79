/*
   Exact sweeps along x in registers, of 1D grids and of grids whose other legs are zero: each warp holds a line, or 32 W columns of a long one,
   and sweeps it as often as a pass wants. Long lines are cut into segments that share as many columns as there are sweeps at either side.
*/
#include "async_cuda.h"
#include "line_cuda.h"
#include "register_cuda.h"

constexpr int BLOCK = 256, FEW = 96; /* threads; sweeps of one pass over segments */

template <int FORM, bool SHORT> constexpr int LANE = SHORT ? 8 : LINE_COLUMNS<FORM>;

/* Segments of a line: columns of the first one, distance, how many, and the columns at either side that are not written */
struct Segments {
  int base, step, count, halo;
};

/* Columns of an array, which lie in shared memory with a gap after those of each lane, into registers */
template <class T, int W> static __device__ __forceinline__ void take_lanes(T (&to)[W], T *row, const T *from, int columns)
{
  const int lane = threadIdx.x % WARP;

  __syncwarp();
#pragma unroll 8
  for (int i = lane; i < W * WARP; i += WARP)
    copy_async<(int)sizeof(T)>(row + i + i / W, i < columns ? from + i : from, i < columns ? (int)sizeof(T) : 0);
  copies_end();
  copies_wait<0>();
  __syncwarp();
#pragma unroll
  for (int i = 0; i < W; i++) to[i] = row[lane * (W + 1) + i];
}

template <class T, int FORM, int W, bool FULL, bool MASKED>
static __global__ void __launch_bounds__(BLOCK)
    sweep_lines(__grid_constant__ const typename Typed<T>::System s, __grid_constant__ const Pass<T> p, __grid_constant__ const Segments segments)
{
  extern __shared__ __align__(16) char memory[];
  const int                            lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, n0 = s.n[0], e1 = p.box.hi[1] - p.box.lo[1];
  const ptrdiff_t                      tasks = (ptrdiff_t)segments.count * e1 * (p.box.hi[2] - p.box.lo[2]);
  T *const                             row = (T *)memory + warp * (W + 1) * WARP;
  Line<T, FORM, W>                     line;

  line.most = 0;
  line.low = line.high = 0;
#pragma unroll 1
  for (ptrdiff_t task = blockIdx.x + (ptrdiff_t)warp * gridDim.x; task < tasks; task += (ptrdiff_t)gridDim.x * (BLOCK / WARP)) {
    const int       segment = (int)(task % segments.count), column = segments.base + segment * segments.step;
    const int       first = segment ? column + segments.halo : p.box.lo[0], columns = min(n0 - column, W * WARP);
    const int       end = segment < segments.count - 1 ? column + segments.step + segments.halo : p.box.hi[0];
    const ptrdiff_t q = task / segments.count, id = column + n0 * (p.box.lo[1] + q % e1 + (ptrdiff_t)s.n[1] * (p.box.lo[2] + q / e1));

    line.inside = min(max(columns - lane * W, 0), W);
    line.before = lane > 0 && line.inside > 0;
    line.after = lane < WARP - 1 && columns > (lane + 1) * W;
    line.writes = 0;
#pragma unroll
    for (int i = 0; i < W; i++) {
      const int at = column + lane * W + i;

      if (at >= first && at < end) line.writes |= 1u << i;
    }
    take_lanes(line.u, row, p.x + id, columns);
    take_lanes(line.b, row, p.b + id, columns);
    if constexpr (FORM == STRATA_SYSTEM_VARIABLE) {
      take_lanes(line.west, row, s.legs[STRATA_WEST] + id, columns);
      take_lanes(line.east, row, s.legs[STRATA_EAST] + id, columns);
    }
#pragma unroll 1
    for (int k = 0; k < p.sweeps - FULL; k++) line.template sweep<FULL, MASKED, false>(s, FULL && p.weight ? __ldg(p.weight + k) : 1);
    if (FULL) line.template sweep<true, MASKED, true>(s, p.weight ? __ldg(p.weight + p.sweeps - 1) : 1);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < W; i++) row[lane * (W + 1) + i] = line.u[i];
    __syncwarp();
#pragma unroll 8
    for (int i = lane; i < W * WARP; i += WARP)
      if (column + i >= first && column + i < end) p.y[id + i] = row[i + i / W];
  }
  if (FULL && p.change) join_change(line.most, p.change);
}

template <class T, int FORM, int W, bool FULL, bool MASKED>
static cudaError_t lines_launch(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  constexpr int COLUMNS = W * WARP, WARPS = BLOCK / WARP, BYTES = WARPS * (W + 1) * WARP * (int)sizeof(T);
  Segments      g = {0, COLUMNS, 1, 0};
  Device        d;
  cudaError_t   err = device_limits(&d);

  if (err != cudaSuccess) return err;
  if (s.n[0] > COLUMNS) {
    g.halo = (p.sweeps + W - 1) / W * W;
    g.base = (p.box.lo[0] > g.halo ? p.box.lo[0] - g.halo : 0) / W * W;
    g.step = COLUMNS - 2 * g.halo;
    while (g.base + (g.count - 1) * g.step + COLUMNS - g.halo < p.box.hi[0] && g.base + (g.count - 1) * g.step + COLUMNS < s.n[0]) g.count++;
  }
  const ptrdiff_t tasks = g.count * (ptrdiff_t)(p.box.hi[1] - p.box.lo[1]) * (p.box.hi[2] - p.box.lo[2]);
  const ptrdiff_t blocks = tasks < d.processors ? tasks : tasks < (ptrdiff_t)WARPS * d.processors ? d.processors : (tasks + WARPS - 1) / WARPS;

  if (blocks > 2147483647) return cudaErrorInvalidConfiguration;
  err = cudaFuncSetAttribute(sweep_lines<T, FORM, W, FULL, MASKED>, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
  if (err != cudaSuccess) return err;
  sweep_lines<T, FORM, W, FULL, MASKED><<<(unsigned)blocks, BLOCK, BYTES, stream>>>(s, p, g);
  return cudaGetLastError();
}

template <class T, int FORM, bool SHORT> static cudaError_t lines_kind(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  constexpr int W = LANE<FORM, SHORT>;

  if (p.weight || p.change) return lines_launch<T, FORM, W, true, true>(s, p, stream);
  return s.n[0] % W ? lines_launch<T, FORM, W, false, true>(s, p, stream) : lines_launch<T, FORM, W, false, false>(s, p, stream);
}

template <class T, int FORM> static cudaError_t lines_form(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  return s.n[0] <= LANE<FORM, true> * WARP ? lines_kind<T, FORM, true>(s, p, stream) : lines_kind<T, FORM, false>(s, p, stream);
}

template <class T> int lines_depth(const typename Typed<T>::System &s, int sweeps)
{
  const int columns = WARP * (s.form == STRATA_SYSTEM_VARIABLE ? LINE_COLUMNS<STRATA_SYSTEM_VARIABLE> : LINE_COLUMNS<STRATA_SYSTEM_EQUAL>);

  return sweeps < 2 ? 0 : s.n[0] > columns && sweeps > FEW ? FEW : sweeps;
}

template <class T> cudaError_t lines_sweeps(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  if (s.form == STRATA_SYSTEM_EQUAL && s.dim == 1) return lines_form<T, STRATA_SYSTEM_EQUAL>(s, p, stream);
  if (s.form != STRATA_SYSTEM_VARIABLE) return lines_form<T, STRATA_SYSTEM_CONSTANT>(s, p, stream);
  return lines_form<T, STRATA_SYSTEM_VARIABLE>(s, p, stream);
}

template int         lines_depth<double>(const StrataSystem_d &, int);
template int         lines_depth<float>(const StrataSystem_f &, int);
template cudaError_t lines_sweeps<double>(const StrataSystem_d &, const Pass<double> &, cudaStream_t);
template cudaError_t lines_sweeps<float>(const StrataSystem_f &, const Pass<float> &, cudaStream_t);
