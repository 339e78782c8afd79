/*
   Cycles of tiles along x in registers, of 1D grids and of grids whose other legs are zero: some lanes of a warp hold a tile and its right-hand side
   for all sweeps, W columns in each, and a warp as many tiles as it has lanes for. Warps do not wait for each other. Cells of the last lane beyond
   the tile keep their values, which are those of the frame.
*/
#include "line_cuda.h"
#include "register_cuda.h"

constexpr int BLOCK = 128, SHORT = 8; /* threads; columns of a lane, where the lanes of a warp suffice */

/* Tiles of a line, and lanes of a tile */
struct LineTiles {
  int across, lanes;
};

template <class T, int FORM, int W, bool FULL>
static __global__ void __launch_bounds__(BLOCK)
    sweep_line_tiles(__grid_constant__ const typename Typed<T>::System s, __grid_constant__ const Pass<T> p, __grid_constant__ const StrataTiling t,
                     LineTiles tiles)
{
  const int       lane = threadIdx.x % WARP, place = lane % tiles.lanes, each = WARP / tiles.lanes, n0 = s.n[0], e1 = p.box.hi[1] - p.box.lo[1];
  const ptrdiff_t item = (blockIdx.x * (ptrdiff_t)(BLOCK / WARP) + threadIdx.x / WARP) * each + lane / tiles.lanes, line_number = item / tiles.across;
  const bool      used = lane < each * tiles.lanes && line_number < (ptrdiff_t)e1 * (p.box.hi[2] - p.box.lo[2]);
  Line<T, FORM, W> line;
  int              f[2], e[2];

  strata_tile(n0, p.box.lo[0], p.box.hi[0], t.tile[0], t.overlap[0], (int)(item % tiles.across), f, e);

  const int       column = f[0] + place * W;
  const ptrdiff_t id = used ? column + n0 * (p.box.lo[1] + line_number % e1 + (ptrdiff_t)s.n[1] * (p.box.lo[2] + line_number / e1)) : 0;

  line.most = 0;
  line.before = place > 0;
  line.after = place < tiles.lanes - 1;
  line.inside = used ? min(max(e[0] - column, 0), W) : 0;
  line.low = used && place == 0 && column > 0 ? p.x[id - 1] : 0;
  line.high = used && !line.after && column + W < n0 ? p.x[id + W] : 0;
  line.writes = 0;
#pragma unroll
  for (int i = 0; i < W; i++) {
    const bool there = used && column + i < n0, own = i < line.inside;

    line.u[i] = there ? p.x[id + i] : 0;
    line.b[i] = own ? p.b[id + i] : 0;
    if constexpr (FORM == STRATA_SYSTEM_VARIABLE) {
      line.west[i] = own ? s.legs[STRATA_WEST][id + i] : 0;
      line.east[i] = own ? s.legs[STRATA_EAST][id + i] : 0;
    }
    if (own && column + i >= f[1] && column + i < e[1]) line.writes |= 1u << i;
  }
#pragma unroll 1
  for (int k = 0; k < p.sweeps - FULL; k++) line.template sweep<FULL, true, false>(s, FULL && p.weight ? __ldg(p.weight + k) : 1);
  if (FULL) line.template sweep<true, true, true>(s, p.weight ? __ldg(p.weight + p.sweeps - 1) : 1);
#pragma unroll
  for (int i = 0; i < W; i++)
    if (line.writes >> i & 1) p.y[id + i] = line.u[i];
  if (FULL && p.change) join_change(line.most, p.change);
}

template <class T, int FORM, int W>
static cudaError_t tiles_launch(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream)
{
  const int       width = t.tile[0] < s.n[0] ? t.tile[0] : s.n[0];
  const LineTiles tiles = {strata_tiles(s.n[0], p.box.lo[0], p.box.hi[0], t.tile[0], t.overlap[0]), (width + W - 1) / W};
  const ptrdiff_t count = (ptrdiff_t)tiles.across * (p.box.hi[1] - p.box.lo[1]) * (p.box.hi[2] - p.box.lo[2]);
  const ptrdiff_t each = BLOCK / WARP * (WARP / tiles.lanes), blocks = (count + each - 1) / each;

  if (blocks > 2147483647) return cudaErrorInvalidConfiguration;
  if (p.weight || p.change)
    sweep_line_tiles<T, FORM, W, true><<<(unsigned)blocks, BLOCK, 0, stream>>>(s, p, t, tiles);
  else
    sweep_line_tiles<T, FORM, W, false><<<(unsigned)blocks, BLOCK, 0, stream>>>(s, p, t, tiles);
  return cudaGetLastError();
}

template <class T, int FORM>
static cudaError_t tiles_form(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream)
{
  return (t.tile[0] < s.n[0] ? t.tile[0] : s.n[0]) <= WARP * SHORT ? tiles_launch<T, FORM, SHORT>(s, t, p, stream)
                                                                   : tiles_launch<T, FORM, LINE_COLUMNS<FORM>>(s, t, p, stream);
}

template <class T> int line_tiles_limit(const typename Typed<T>::System &s)
{
  return WARP * (s.form == STRATA_SYSTEM_VARIABLE ? LINE_COLUMNS<STRATA_SYSTEM_VARIABLE> : LINE_COLUMNS<STRATA_SYSTEM_EQUAL>);
}

template <class T> cudaError_t line_tiles_sweeps(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream)
{
  if (s.form == STRATA_SYSTEM_EQUAL && s.dim == 1) return tiles_form<T, STRATA_SYSTEM_EQUAL>(s, t, p, stream);
  if (s.form != STRATA_SYSTEM_VARIABLE) return tiles_form<T, STRATA_SYSTEM_CONSTANT>(s, t, p, stream);
  return tiles_form<T, STRATA_SYSTEM_VARIABLE>(s, t, p, stream);
}

template int         line_tiles_limit<double>(const StrataSystem_d &);
template int         line_tiles_limit<float>(const StrataSystem_f &);
template cudaError_t line_tiles_sweeps<double>(const StrataSystem_d &, const StrataTiling &, const Pass<double> &, cudaStream_t);
template cudaError_t line_tiles_sweeps<float>(const StrataSystem_f &, const StrataTiling &, const Pass<float> &, cudaStream_t);
