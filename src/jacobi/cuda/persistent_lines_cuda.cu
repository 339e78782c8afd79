/*
   Many cycles of lines along x in one launch: of 1D grids, and of grids whose other legs are zero. A line is cut into tiles. A tile stays with its
   right-hand side and legs in the registers of some lanes of a warp, W columns a lane; the values next to it are kept at its ends. Between cycles
   tiles give what others hold of their cells through shared memory. Blocks that share a line give the cells near their ends through global memory,
   of which each cycle uses the other half, with a flag at either end that counts cycles; those that hold whole lines wait for nobody. Several blocks
   are on a multiprocessor, so that one sweeps while another waits.
*/
#include "flags_cuda.h"
#include "line_cuda.h"
#include "persistent_cuda.h"
#include "register_cuda.h"
#include <cstdio>
#include <cstring>

constexpr int MOST_WARPS = 4, WIDTHS = 5, REACH = 512; /* of a block; kinds of lanes; cells that a block gives at an end, at most */

/* Columns of a lane */
template <class T, int FORM> struct Lanes;
template <int FORM> struct Lanes<double, FORM> {
  static constexpr int width[WIDTHS] = {4, 8, 16, 24, 32};
};
template <> struct Lanes<double, STRATA_SYSTEM_VARIABLE> {
  static constexpr int width[WIDTHS] = {4, 8, 12, 16, 24};
};
template <int FORM> struct Lanes<float, FORM> {
  static constexpr int width[WIDTHS] = {4, 8, 16, 24, 32};
};
template <> struct Lanes<float, STRATA_SYSTEM_VARIABLE> {
  static constexpr int width[WIDTHS] = {4, 8, 16, 24, 32};
};

/* Blocks of a multiprocessor, by the registers that numbers take and those that everything else does */
template <class T, int FORM> static constexpr int blocks_of(int width)
{
  const int registers = (FORM == STRATA_SYSTEM_VARIABLE ? 4 : 2) * width * (int)sizeof(T) / 4 + 50;

  return registers <= 80 ? 6 : registers <= 128 ? 4 : registers <= 168 ? 3 : 2;
}

/* How lines are held. width: which of the kinds of lanes, -1: there is no such plan */
struct Plan {
  int       width, lanes, warps; /* lanes of a tile, warps of a block */
  int       n, tile, overlap, count;
  int       reach;       /* cells that a tile gives at an end */
  bool      spread;      /* tiles are equally wide, and overlap so far at least; else they are as the method defines them */
  int       sweeps;      /* of a cycle; 0: all are one cycle */
  int       each, parts; /* tiles of a block; blocks that share a line */
  int       lines;       /* that a block holds, if it holds whole ones */
  int       teams;       /* blocks, or groups of those that share a line, each of which takes one after another */
  ptrdiff_t all;         /* lines */
};

template <class T> struct Cycles {
  Run<T>    run;
  Plan      plan;
  int       cycles, sweeps, last; /* number, sweeps of a cycle and of the last one */
  unsigned *flag;                 /* two of each block; the work space begins with numbers that blocks give */
};

/* A tile and where it is; next: the first cell of the next one */
struct Tile {
  ptrdiff_t line; /* the line's first cell */
  int       from, to, own[2], next;
  bool      there;
};

static __device__ __forceinline__ Tile find_tile(const Plan &p, ptrdiff_t line, int part, int slot)
{
  int  b = slot + part * p.each;
  Tile t = {};

  if (p.parts == 1) {
    line += slot / p.count;
    b = slot % p.count;
  }
  t.there = slot < p.each && b < p.count && line < p.all;
  t.line = line * p.n;
  if (!t.there) return t;
  if (p.spread) {
    const int gaps = p.count - 1;

    t.from = (int)((ptrdiff_t)b * (p.n - p.tile) / gaps);
    t.to = t.from + p.tile;
    t.next = (int)((b + 1) * (ptrdiff_t)(p.n - p.tile) / gaps);
    t.own[0] = b ? t.from + p.overlap / 2 : 0;
    t.own[1] = b < gaps ? t.next + p.overlap / 2 : p.n;
  } else {
    int from[2], to[2];

    strata_tile(p.n, 0, p.n, p.tile, p.overlap, b, from, to);
    t.from = from[0];
    t.to = to[0];
    t.next = t.from + p.tile - p.overlap;
    t.own[0] = from[1];
    t.own[1] = to[1];
  }
  return t;
}

/* Numbers that tiles give to those beside them, before and after a cycle: each the first and the last that is its own and that others need */
template <class T> struct Given {
  T  *memory;
  int slots, reach;

  __device__ __forceinline__ T *at(int parity, int slot, int side) const
  {
    return memory + ((parity * (slots + 2) + slot + 1) * 2 + side) * reach;
  }
};

/* What a warp holds of an array, through shared memory with a gap after the columns of each lane; zero beyond the ends of tiles. further: cells that
   are taken too after the end of a tile, if there are any and the lanes have room for them. */
template <class T, int W>
static __device__ __forceinline__ void take_tiles(const Plan &p, ptrdiff_t line, int part, int further, const T *from, T *row, T (&to)[W])
{
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, places = WARP / p.lanes;

  __syncwarp();
#pragma unroll 1
  for (int q = 0; q < places; q++) {
    const Tile t = find_tile(p, line, part, warp * places + q);

#pragma unroll 8
    for (int i = lane; i < p.lanes * W; i += WARP) {
      const int at = q * p.lanes * W + i, column = t.from + i;

      row[at + at / W] = t.there && column < min(t.to + further, p.n) ? from[t.line + column] : 0;
    }
  }
  __syncwarp();
#pragma unroll
  for (int i = 0; i < W; i++) to[i] = lane < places * p.lanes ? row[lane * (W + 1) + i] : 0;
}

template <class T> static int lines_bytes(const Plan &p, int width)
{
  return (p.warps * (width + 1) * WARP + 4 * (p.each + 2) * p.reach) * (int)sizeof(T);
}

template <class T, int FORM, int W, bool WEIGHTS>
static __global__ void __launch_bounds__(MOST_WARPS *WARP, blocks_of<T, FORM>(W))
    run_lines(__grid_constant__ const typename Typed<T>::System s, __grid_constant__ const Cycles<T> c)
{
  extern __shared__ __align__(16) char memory[];
  const Plan                          &p = c.plan;
  const int                            lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, places = WARP / p.lanes, reach = p.reach;
  const int                            team = blockIdx.x / p.parts, part = blockIdx.x % p.parts, slot = warp * places + lane / p.lanes;
  const int                            inner = lane % p.lanes * W, held = p.parts == 1 ? p.each : min(p.each, p.count - part * p.each);
  T *const                             row = (T *)memory + warp * (W + 1) * WARP;
  const Given<T>                       given = {(T *)memory + p.warps * (W + 1) * WARP, p.each, reach};
  unsigned                             epoch = 0;
  Line<T, FORM, W>                     line;

  line.most = 0;
#pragma unroll 1
  for (ptrdiff_t first = (ptrdiff_t)team * p.lines; first < p.all; first += (ptrdiff_t)p.teams * p.lines) {
    Tile tile = find_tile(p, first, part, slot);
    int  at = c.run.first;

    if (lane >= places * p.lanes) tile.there = false;
    line.inside = tile.there ? min(max(tile.to - tile.from - inner, 0), W) : 0;
    line.before = inner > 0 && line.inside > 0;
    line.after = inner + W < p.lanes * W && line.inside > 0;
    line.low = tile.there && tile.from > 0 && line.inside > 0 ? c.run.x[tile.line + tile.from - 1] : 0;
    line.high = tile.there && tile.to < p.n && line.inside > 0 ? c.run.x[tile.line + tile.to] : 0;
    line.writes = 0;
#pragma unroll
    for (int i = 0; i < W; i++)
      if (tile.there && tile.from + inner + i >= tile.own[0] && tile.from + inner + i < tile.own[1]) line.writes |= 1u << i;
    take_tiles(p, first, part, 1, c.run.x, row, line.u);
    take_tiles(p, first, part, 0, c.run.b, row, line.b);
    if constexpr (FORM == STRATA_SYSTEM_VARIABLE) {
      take_tiles(p, first, part, 0, s.legs[STRATA_WEST], row, line.west);
      take_tiles(p, first, part, 0, s.legs[STRATA_EAST], row, line.east);
    }
    const bool masked = __any_sync(~0u, line.inside % W != 0);
    const int  low = inner - p.overlap / 2, high = inner - (tile.next - tile.from - 1);   /* numbers of the lane's first column among those given */
    const bool before = tile.there && tile.from > 0, after = tile.there && tile.to < p.n; /* are there tiles? */
    /* Others give the columns before `lost` and from `found` to `end`, of which the last is next to the tile */
    const int lost = before ? p.overlap / 2 - inner : 0, found = after ? tile.own[1] - tile.from - inner : W, end = tile.to - tile.from - inner;

#pragma unroll 1
    for (int cycle = 1;; cycle++) {
      const bool last = cycle == c.cycles, change = last && c.run.change;
      const int  count = (last ? c.last : c.sweeps) - change;
      T          weight = WEIGHTS ? __ldg(c.run.weight + at) : 1;
      const auto next = [&]() {
        const T now = weight;

        if (!WEIGHTS) return now;
        at = at + 1 < c.run.period ? at + 1 : 0;
        weight = __ldg(c.run.weight + at);
        return now;
      };

      if (masked)
#pragma unroll 1
        for (int k = 0; k < count; k++) line.template sweep<WEIGHTS, true, false>(s, next());
      else
#pragma unroll 1
        for (int k = 0; k < count; k++) line.template sweep<WEIGHTS, false, false>(s, next());
      if (change) line.template sweep<WEIGHTS, true, true>(s, next());
      if (last) break;

      const int parity = ++epoch & 1;
      T *const  mine = given.at(parity, slot, 0);

      if (tile.there) {
#pragma unroll
        for (int i = 0; i < W; i++) {
          if ((unsigned)(low + i) < (unsigned)reach) mine[low + i] = line.u[i];
          if ((unsigned)(high + i) < (unsigned)reach) mine[reach + high + i] = line.u[i];
        }
      }
      __syncthreads();
      if (p.parts > 1) {
        T *const work = c.run.work + (ptrdiff_t)parity * gridDim.x * 2 * reach;

        for (int side = 0; side < 2; side++) {
          if (warp != (side ? p.warps - 1 : 0) || part == (side ? p.parts - 1 : 0)) continue;
          const T *const from = given.at(parity, side ? held - 1 : 0, side);
          T *const       to = work + (ptrdiff_t)(2 * blockIdx.x + side) * reach;

          for (int i = lane; i < reach; i += WARP) send(to + i, from[i]);
          __syncwarp();
          if (lane == 0) raise(c.flag + FLAG * (2 * blockIdx.x + side), epoch);
        }
        for (int side = 0; side < 2; side++) {
          if (warp != (side ? p.warps - 1 : 0) || part == (side ? p.parts - 1 : 0)) continue;
          const int      other = 2 * (side ? blockIdx.x + 1 : blockIdx.x - 1) + !side;
          T *const       to = given.at(parity, side ? held : -1, !side);
          const T *const from = work + (ptrdiff_t)other * reach;

          if (lane == 0) await(c.flag + FLAG * other, epoch);
          __syncwarp();
          for (int i = lane; i < reach; i += WARP) to[i] = fetch(from + i);
        }
        __syncthreads();
      }
      if (tile.there) {
        const T *const left = given.at(parity, slot - 1, 1) + inner + 1, *const right = given.at(parity, slot + 1, 0) - found;

        if (before && inner == 0) line.low = left[-1];
        if (after && !line.after) line.high = right[end];
#pragma unroll
        for (int i = 0; i < W; i++) {
          if (i < lost) line.u[i] = left[i];
          if (i >= found && i <= end) line.u[i] = right[i];
        }
      }
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < W; i++)
      if (lane < places * p.lanes) row[lane * (W + 1) + i] = line.u[i];
    __syncwarp();
#pragma unroll 1
    for (int q = 0; q < places; q++) {
      const Tile t = find_tile(p, first, part, warp * places + q);

#pragma unroll 8
      for (int i = lane; i < p.lanes * W; i += WARP) {
        const int in = q * p.lanes * W + i, column = t.from + i;

        if (t.there && column >= t.own[0] && column < t.own[1]) c.run.y[t.line + column] = row[in + in / W];
      }
    }
  }
  if (c.run.change) join_change(line.most, c.run.change);
}

/* Time of a sweep in clocks, about: the arithmetic units are busy, or one warp waits for itself. Masks take time if a tile ends within a lane; what is
   given between cycles does, for which blocks wait. */
template <class T> static double plan_clocks(const Plan &p, int width, int blocks, int processors)
{
  const bool   masked = !p.spread && (p.tile % width || (p.n - (p.count - 1) * (p.tile - p.overlap)) % width);
  const double column = (sizeof(T) == 8 ? 4.2 : 2.4) * (masked ? 1.6 : 1), most = blocks * processors, launched = (double)p.teams * p.parts;
  const double flight = launched < most ? launched : most, rounds = p.parts > 1 ? ceil((double)p.all / p.teams) : ceil(launched / most);
  const double warps = ceil(ceil(flight / processors) * p.warps / 4), busy = warps * (width * column + 20), alone = width * column + 90;
  const double give = warps * width * 14 + (p.parts > 1 ? 2500 : 300);

  return rounds * ((busy > alone ? busy : alone) + (p.count > 1 ? give / p.sweeps : 0));
}

template <class T, int FORM>
static Plan plan_search(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, const Device &d, char no[], size_t length)
{
  constexpr int DEPTHS[] = {8, 16, 24, 32, 48, 64, 96, 128, 192, 256}; /* sweeps of a cycle where tiles may be any */
  constexpr int WIDEST = WARP * Lanes<T, FORM>::width[WIDTHS - 1];
  Plan          best = {-1};
  double        least = 0, capacity = 0;

  no[0] = 0;
  for (int kind = 0; kind < WIDTHS; kind++)
    for (int warps = 1; warps <= MOST_WARPS; warps *= 2)
      for (int depth : DEPTHS) {
        const int  width = Lanes<T, FORM>::width[kind], blocks = blocks_of<T, FORM>(width), widest = WARP * width;
        const bool whole = exact ? s.n[0] <= widest : t.tile[0] >= s.n[0];
        Plan       p;

        if ((whole || !exact) && depth != DEPTHS[0]) continue;
        p.width = kind;
        p.warps = warps;
        p.n = s.n[0];
        p.all = (ptrdiff_t)s.n[1] * s.n[2];
        p.sweeps = whole ? 0 : exact ? depth : t.sweeps;
        p.tile = whole ? s.n[0] : exact ? widest : t.tile[0];
        p.overlap = whole ? 0 : exact ? 2 * (depth - 1) : t.overlap[0];
        p.spread = exact && !whole;
        if (p.tile > widest || p.tile <= p.overlap) continue;
        p.count = strata_tiles(s.n[0], 0, s.n[0], p.tile, p.overlap);
        if (p.spread) p.tile = ((s.n[0] + (p.count - 1) * p.overlap + p.count - 1) / p.count + width - 1) / width * width;
        p.lanes = (p.tile + width - 1) / width;
        const int apart = p.spread ? (s.n[0] - p.tile) / (p.count - 1) : p.tile - p.overlap; /* tiles, at least */

        p.reach = p.spread ? p.tile - apart - p.overlap / 2 + 1 : p.overlap / 2 + 1;
        if (p.count > 1 && (p.reach > apart || p.reach > REACH)) continue;
        p.each = warps * (WARP / p.lanes);
        p.parts = (p.count + p.each - 1) / p.each;
        p.lines = p.parts > 1 ? 1 : p.each / p.count;
        p.each = p.parts > 1 ? (p.count + p.parts - 1) / p.parts : p.lines * p.count;
        const int       resident = blocks * d.processors, bytes = lines_bytes<T>(p, width);
        const ptrdiff_t teams = p.parts > 1 ? resident / p.parts : (p.all + p.lines - 1) / p.lines;

        p.teams = (int)(p.parts > 1 && teams > p.all ? p.all : teams < 1 << 30 ? teams : 1 << 30);
        if (exact && !whole) capacity = fmax(capacity, (double)resident * warps * (p.tile - p.overlap));
        if (!teams || bytes > d.shared / blocks - 1024) continue;
        const double clocks = plan_clocks<T>(p, width, blocks, d.processors);

        if (best.width >= 0 && clocks >= least) continue;
        best = p;
        least = clocks;
      }
  if (best.width >= 0) return best;
  if (exact)
    snprintf(no, length, "a line of %d cells does not fit on the %d multiprocessors: at most about %d000 do", s.n[0], d.processors,
             (int)(capacity / 1000));
  else if (t.tile[0] > WIDEST)
    snprintf(no, length, "where tiles overlap less than %d it holds at most %d cells of one", 2 * (t.sweeps - 1), WIDEST);
  else if (2 * t.tile[0] < 3 * t.overlap[0] + 2)
    snprintf(no, length, "tiles must be wider than 3/2 of their overlap and 2 cells more");
  else
    snprintf(no, length, "%d tiles of a line do not fit on the %d multiprocessors", strata_tiles(s.n[0], 0, s.n[0], t.tile[0], t.overlap[0]),
             d.processors);
  return best;
}

/* The last plan is remembered: a search takes as long as a launch */
template <class T, int FORM> static Plan plan_find(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, char no[], size_t length)
{
  struct Question {
    int          n[3], exact;
    StrataTiling tiling;
    Device       device;
  };
  static thread_local Question last;
  static thread_local Plan     plan = {-1};
  Question                     now = {{s.n[0], s.n[1], s.n[2]}, exact, t, {0, 0}};

  (void)device_limits(&now.device);
  if (plan.width >= 0 && !memcmp(&last, &now, sizeof(now))) return plan;
  plan = plan_search<T, FORM>(s, t, exact, now.device, no, length);
  last = now;
  return plan;
}

template <class T, int FORM, int KIND> static cudaError_t cycles_launch(const typename Typed<T>::System &s, const Cycles<T> &c, cudaStream_t stream)
{
  constexpr int  W = Lanes<T, FORM>::width[KIND];
  const auto     kernel = c.run.weight ? run_lines<T, FORM, W, true> : run_lines<T, FORM, W, false>;
  const unsigned blocks = (unsigned)(c.plan.teams * c.plan.parts), threads = c.plan.warps * WARP;
  const int      bytes = lines_bytes<T>(c.plan, W);
  void          *arguments[] = {(void *)&s, (void *)&c};
  cudaError_t    err = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);

  if (c.plan.width != KIND) {
    if constexpr (KIND + 1 < WIDTHS) return cycles_launch<T, FORM, KIND + 1>(s, c, stream);
    return cudaErrorInvalidConfiguration;
  }
  if (err == cudaSuccess && c.run.change) err = cudaMemsetAsync(c.run.change, 0, sizeof(*c.run.change), stream);
  if (err != cudaSuccess) return err;
  if (c.plan.parts == 1) return cudaLaunchKernel(kernel, dim3(blocks), dim3(threads), arguments, bytes, stream);
  err = cudaMemsetAsync(c.flag, 0, 2 * blocks * FLAG * sizeof(*c.flag), stream);
  return err == cudaSuccess ? cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads), arguments, bytes, stream) : err;
}

template <class T, int FORM>
static cudaError_t cycles_run(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, int sweeps, const Run<T> &r, cudaStream_t stream)
{
  char      no[8];
  Cycles<T> c;

  c.run = r;
  c.plan = plan_find<T, FORM>(s, t, exact, no, sizeof(no));
  if (c.plan.width < 0) return cudaErrorInvalidConfiguration;
  c.sweeps = c.plan.sweeps ? c.plan.sweeps : sweeps;
  c.cycles = (sweeps - 1) / c.sweeps + 1;
  c.last = sweeps - (c.cycles - 1) * c.sweeps;
  c.flag = (unsigned *)(r.work + 4 * (ptrdiff_t)c.plan.teams * c.plan.parts * c.plan.reach);
  return cycles_launch<T, FORM, 0>(s, c, stream);
}

/* Equal legs of lines in a grid of more dimensions are zero along x too, so all are */
template <class T> bool persistent_lines_fit(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, char no[], size_t length)
{
  return (s.form == STRATA_SYSTEM_VARIABLE ? plan_find<T, STRATA_SYSTEM_VARIABLE>(s, t, exact, no, length)
                                           : plan_find<T, STRATA_SYSTEM_CONSTANT>(s, t, exact, no, length))
             .width >= 0;
}

/* It saves passes, if there are two. Where it loses time by masks, or for tiles that blocks exchange much of, many sweeps of a pass outweigh that. */
template <class T> bool persistent_lines_pay(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, int cycles)
{
  constexpr int MANY = 32;
  const bool    whole = s.n[0] <= WARP * Lanes<T, STRATA_SYSTEM_EQUAL>::width[WIDTHS - 1], alone = s.n[1] * (double)s.n[2] == 1;

  if (!exact) return cycles > 1 && (alone || t.sweeps <= MANY);
  if (whole && s.n[0] % WARP && t.sweeps > MANY) return false;
  return cycles > 1 || lines_depth<T>(s, t.sweeps) < t.sweeps;
}

template <class T> ptrdiff_t persistent_lines_work(void)
{
  constexpr int MOST_BLOCKS = 6;
  Device        d = {};

  (void)device_limits(&d);
  return (ptrdiff_t)d.processors * MOST_BLOCKS * (4 * REACH + 2 * FLAG);
}

template <class T>
cudaError_t persistent_lines(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, int sweeps, const Run<T> &r, cudaStream_t stream)
{
  if (s.form == STRATA_SYSTEM_VARIABLE) return cycles_run<T, STRATA_SYSTEM_VARIABLE>(s, t, exact, sweeps, r, stream);
  return s.form == STRATA_SYSTEM_EQUAL && s.dim == 1 ? cycles_run<T, STRATA_SYSTEM_EQUAL>(s, t, exact, sweeps, r, stream)
                                                     : cycles_run<T, STRATA_SYSTEM_CONSTANT>(s, t, exact, sweeps, r, stream);
}

#define INSTANCES(T)                                                                                                                                 \
  template bool        persistent_lines_fit<T>(const typename Typed<T>::System &, const StrataTiling &, bool, char[], size_t);                       \
  template bool        persistent_lines_pay<T>(const typename Typed<T>::System &, const StrataTiling &, bool, int);                                  \
  template ptrdiff_t   persistent_lines_work<T>(void);                                                                                               \
  template cudaError_t persistent_lines<T>(const typename Typed<T>::System &, const StrataTiling &, bool, int, const Run<T> &, cudaStream_t);
INSTANCES(double)
INSTANCES(float)
