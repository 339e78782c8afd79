/*
   Many cycles of a 2D grid in one launch: each block holds a patch of the grid and of the right-hand side in registers from the first sweep to the
   last, a warp some rows of it, a lane W columns of these. Neighbours in x come from the next lanes, the rows above and below a warp's own through
   shared memory, with one barrier a sweep. Between cycles blocks give the cells near the borders of what they own to their neighbours, through
   arrays in global memory, of which each cycle uses the other one, and a flag of each block that counts its cycles.
*/
#include "edges_cuda.h"
#include "flags_cuda.h"
#include "persistent_cuda.h"
#include <cstdio>
#include <limits>

constexpr int    WARPS = 8, KINDS = 3; /* of a block; numbers of rows */
constexpr double GROWTH = 1 + 1e-6;    /* the sum of the legs of a cell that makes numbers grow, and the sweeps that it would take */
constexpr int    SLOWLY = 1000000;

/* W: columns of a lane; a lane at an end of the grid holds the zeros beyond it. KEPT: how many of the legs of a cell are in registers, the others are in
   shared memory. rows: of a warp, where no sweep has a weight; the last, the most, where some have. time: of a sweep, in microseconds. */
template <class T, int FORM> struct Shape;
template <> struct Shape<double, STRATA_SYSTEM_EQUAL> {
  static constexpr int    W = 6, KEPT = 0, rows[KINDS] = {4, 7, 8};
  static constexpr double time[KINDS] = {0.4, 0.54, 0.75};
};
template <> struct Shape<float, STRATA_SYSTEM_EQUAL> {
  static constexpr int    W = 6, KEPT = 0, rows[KINDS] = {4, 7, 8};
  static constexpr double time[KINDS] = {0.19, 0.28, 0.33};
};
template <> struct Shape<double, STRATA_SYSTEM_CONSTANT> {
  static constexpr int    W = 6, KEPT = 0, rows[KINDS] = {4, 7, 8};
  static constexpr double time[KINDS] = {0.5, 0.75, 0.95};
};
template <> struct Shape<float, STRATA_SYSTEM_CONSTANT> {
  static constexpr int    W = 6, KEPT = 0, rows[KINDS] = {4, 7, 8};
  static constexpr double time[KINDS] = {0.25, 0.35, 0.41};
};
template <> struct Shape<double, STRATA_SYSTEM_VARIABLE> {
  static constexpr int    W = 4, KEPT = 2, rows[KINDS] = {3, 4, 5};
  static constexpr double time[KINDS] = {0.38, 0.5, 0.62};
};
template <> struct Shape<float, STRATA_SYSTEM_VARIABLE> {
  static constexpr int    W = 4, KEPT = 4, rows[KINDS] = {3, 5, 8};
  static constexpr double time[KINDS] = {0.08, 0.18, 0.37};
};

/* One direction of a patch: its first cell, and the cells live[0] <= i < live[1] that are swept, own[0] <= i < own[1] that are the block's */
struct Span {
  int origin, live[2], own[2];
};

/* Patches in one direction: their size and the cells that one at an end of the grid lacks. halo: cells of a patch that the sweeps of a cycle make
   invalid, from each end of it within the grid; 0: patches are tiles by their definition. reach: how far from its own cells a block needs others. */
struct Spread {
  int n, size, lost, halo, tile, overlap, reach, count;
};

static int spread_count(const Spread &s)
{
  const int end = s.size - s.lost - s.halo, inner = s.size - 2 * s.halo, rest = s.n + (s.lost ? s.n % 2 : 0) - 2 * end;

  if (s.n <= s.size - s.lost - (s.lost ? 1 : 0)) return 1;
  if (inner < s.reach) return 1 << 15; /* too many for any device: a block needs more than its neighbours own */
  return rest > 0 ? 2 + (rest + inner - 1) / inner : 2;
}

/* Origins along x are even, so that pairs of columns can be exchanged */
static __device__ __forceinline__ Span spread_span(const Spread &s, int b)
{
  const bool last = b == s.count - 1;
  Span       p;

  if (!s.halo) {
    int from[2], to[2];

    strata_tile(s.n, 0, s.n, s.tile, s.overlap, b, from, to);
    p.origin = from[0] - s.lost;
    for (int m = 0; m < 2; m++) {
      p.live[m] = m ? to[0] : from[0];
      p.own[m] = m ? to[1] : from[1];
    }
    return p;
  }
  for (int m = 0; m < 2; m++) {
    const int border = s.size - s.lost - s.halo + (b + m - 1) * (s.size - 2 * s.halo);

    p.own[m] = b + m == 0 ? 0 : b + m == s.count ? s.n : min(border, (s.n - 1) / 2 * 2);
  }
  p.origin = b == 0 ? -s.lost : last ? s.n - (s.size - s.lost) : p.own[0] - s.halo;
  if (s.lost && last && b) p.origin += p.origin % 2;
  p.live[0] = max(p.origin, 0);
  p.live[1] = min(p.origin + s.size, s.n);
  return p;
}

/* All cycles of a launch */
template <class T> struct Cycles {
  Run<T>    run;
  Spread    across, along;        /* x and y */
  int       sweeps, cycles, last; /* of a cycle, number, sweeps of the last one */
  bool      careful;              /* may sweeps overflow, whatever the array holds? */
  T         most_x, most_b;       /* else: not if there are no larger numbers in it and in the right-hand side */
  int       pitch;                /* of the two arrays for exchange, with which the work space begins */
  ptrdiff_t numbers;              /* of one of them */
  unsigned *flag;
};

/* Some pairs of columns of a lane's part of a row to and from an array */
template <class T, int W> static __device__ __forceinline__ void give_row(T *to, const T (&row)[W], unsigned pairs)
{
#pragma unroll
  for (int q = 0; q < W / 2; q++) send(to + 2 * q, pairs & 1u << q, row[2 * q], row[2 * q + 1]);
}

template <class T, int W> static __device__ __forceinline__ void take_row(T (&row)[W], const T *from, unsigned pairs)
{
#pragma unroll
  for (int q = 0; q < W / 2; q++) fetch(from + 2 * q, pairs & 1u << q, row[2 * q], row[2 * q + 1]);
}

/* What of a patch is not swept: nothing, or it has no legs; rows, or lanes as a whole, which have a leg of zero; columns within a lane too, with a
   mask for each cell. Where numbers overflow there must be masks: zero times infinity is not zero. */
enum { ALL, ROWS_END, COLUMNS_END };

/* OWN: rows of a warp. All branches are those of the whole block: the compiler knows that warps are not split. */
template <class T, int FORM, int OWN, bool WEIGHTS> struct Patch {
  static constexpr bool LEGS = FORM == STRATA_SYSTEM_VARIABLE;
  static constexpr int  W = Shape<T, FORM>::W, PAIRS = W / 2, KEPT = Shape<T, FORM>::KEPT, FAR = LEGS ? 4 - KEPT : 0;

  /* Sets of columns of a lane, of pairs of them, and of rows of a warp: where a set begins among the bits of a number. Swept, the block's, of these
     wanted by others, theirs. */
  enum { INSIDE = 0, OURS = W, PAIR_OURS = 2 * W, PAIR_RIM = PAIR_OURS + PAIRS, PAIR_REACH = PAIR_RIM + PAIRS };
  enum { ROW_OURS = 0, ROW_RIM = OWN, ROW_REACH = 2 * OWN };

  typedef WarpEdges<T, W, WARPS> Edges;
  typedef Pack<T, 2>             Far[WARPS][OWN][FAR ? FAR : 1][PAIRS][WARP]; /* legs in shared memory */
  static constexpr int           BYTES = 2 * sizeof(Edges) + (FAR ? sizeof(Far) : 0);

  const typename Typed<T>::System &s;
  const Cycles<T>                 &p;
  Edges                           *edges; /* two */
  Far                             *far;
  int                              warp, n, parity; /* rows of the warp that are swept; which edges are of now */
  unsigned                         columns, rows;   /* sets */
  T                                equal;           /* leg; zero in lanes that keep their values */
  T                                u[OWN][W], b[OWN][W], legs[KEPT ? OWN : 1][KEPT ? KEPT : 1][W];
  typename Typed<T>::Bits          most;

  __device__ __forceinline__ Patch(const typename Typed<T>::System &s_, const Cycles<T> &p_, char *memory) : s(s_), p(p_)
  {
    edges = (Edges *)memory;
    far = (Far *)(edges + 2);
  }

  template <int ENDS, bool CHANGE> __device__ __forceinline__ void sweep(T weight)
  {
    const Edges &from = edges[parity];
    Edges       &to = edges[parity ^ 1];
    T            sum[W], above[W], below[W]; /* sum: west + south, which is also east + north of the row below; below: the row's old values */

    from.take(below, warp - 1, 1);
    from.take(above, warp + 1, 0);
    if (FORM == STRATA_SYSTEM_EQUAL) {
      const T west = __shfl_up_sync(~0u, u[0][W - 1], 1);

#pragma unroll
      for (int i = 0; i < W; i++) sum[i] = (i ? u[0][i ? i - 1 : 0] : west) + below[i];
    }
#pragma unroll
    for (int o = 0; o < OWN; o++) {
      const T(&up)[W] = o < OWN - 1 ? u[o < OWN - 1 ? o + 1 : o] : above;
      const T leg = ENDS == ROWS_END && o >= n ? 0 : equal;

      __syncwarp(); /* keeps the compiler from mixing rows, for which it lacks registers */
      const T east = __shfl_down_sync(~0u, u[o][0], 1);
      const T west = __shfl_up_sync(~0u, FORM == STRATA_SYSTEM_EQUAL ? up[W - 1] : u[o][W - 1], 1);
      T       high = up[W - 1] + east, left = west; /* high: east + north; left: the old value to the west */
      T       away[FAR ? FAR : 1][W];               /* legs */

      if constexpr (FAR > 0) {
#pragma unroll
        for (int l = 0; l < FAR; l++)
#pragma unroll
          for (int q = 0; q < PAIRS; q++) {
            const Pack<T, 2> two = (*far)[warp][o][l][q][threadIdx.x % WARP];

            away[l][2 * q] = two.v[0];
            away[l][2 * q + 1] = two.v[1];
          }
      }

#pragma unroll
      for (int m = 0; m < W; m++) {
        const int i = FORM == STRATA_SYSTEM_EQUAL ? W - 1 - m : m;
        const T   old = u[o][i];
        T         r;

        if (FORM == STRATA_SYSTEM_EQUAL) {
          r = fused(leg, sum[i] + high, b[o][i]);
          sum[i] = high = (i ? up[i ? i - 1 : 0] : west) + old;
        } else {
          const T v[4] = {left, i < W - 1 ? u[o][i < W - 1 ? i + 1 : i] : east, below[i], up[i]};

          if constexpr (LEGS) {
            T leg[4];

#pragma unroll
            for (int l = 0; l < 4; l++) leg[l] = l < KEPT ? legs[KEPT ? o : 0][l < KEPT ? l : 0][i] : away[l < KEPT ? 0 : l - KEPT][i];
            r = strata_jacobi_legs(2, leg, b[o][i], v);
          } else
            r = strata_jacobi_legs(2, s.leg, b[o][i], v);
          left = below[i] = old;
        }
        if (WEIGHTS) r = strata_jacobi_damped(weight, old, r);
        if (ENDS == COLUMNS_END && (o >= n || !(columns >> (INSIDE + i) & 1))) r = old;
        if (CHANGE && (rows >> (ROW_OURS + o) & 1) && (columns >> (OURS + i) & 1)) most = max(most, change_bits(r, old));
        u[o][i] = r;
      }
      if (o == 0) to.put(u[0], warp, 0);
    }
    to.put(u[OWN - 1], warp, 1);
    parity ^= 1;
    __syncthreads();
  }

  template <int ENDS> __device__ __forceinline__ void sweeps(int count, int &at)
  {
#pragma unroll 1
    for (int k = 0; k < count; k++) sweep<ENDS, false>(next_weight(at));
  }

  __device__ __forceinline__ T next_weight(int &at)
  {
    if (!WEIGHTS || !p.run.weight) return 1;
    const T weight = __ldg(p.run.weight + at);

    at = at + 1 < p.run.period ? at + 1 : 0;
    return weight;
  }

  __device__ __forceinline__ bool row_in(int set, int o) const
  {
    return rows >> (set + o) & 1;
  }

  /* Cells near the borders of the block's own; to: where the lane's first cell is in the array of this cycle */
  __device__ __forceinline__ void give(T *to) const
  {
    const unsigned all = columns >> PAIR_OURS, rim = columns >> PAIR_RIM;

#pragma unroll
    for (int o = 0; o < OWN; o++, to += p.pitch) give_row(to, u[o], row_in(ROW_RIM, o) ? all : row_in(ROW_OURS, o) ? rim : 0);
  }

  __device__ __forceinline__ void take(const T *from)
  {
    const unsigned reach = columns >> PAIR_REACH, all = reach | columns >> PAIR_OURS;

#pragma unroll
    for (int o = 0; o < OWN; o++, from += p.pitch) take_row(u[o], from, row_in(ROW_REACH, o) ? all : row_in(ROW_OURS, o) ? reach : 0);
  }

  __device__ __forceinline__ bool swept(int o, int i) const
  {
    return o < n && (columns >> (INSIDE + i) & 1);
  }

  /* Lanes and rows that are not swept keep what they have, and where each cell has legs columns within a lane do */
  __device__ __forceinline__ void freeze()
  {
    const bool lane = !(columns >> INSIDE & ((1u << W) - 1));

#pragma unroll
    for (int o = 0; o < OWN; o++)
#pragma unroll
      for (int i = 0; i < W; i++)
        if (LEGS ? !swept(o, i) : lane || o >= n) b[o][i] = u[o][i];
  }

  /* Takes the legs of the warp's cells; id: where the lane's first cell is. Do those of a cell make it grow? */
  __device__ __forceinline__ bool take_legs(ptrdiff_t id)
  {
    bool grows = false;

#pragma unroll
    for (int o = 0; o < OWN; o++) {
      T leg[4][W], sum[W] = {};

#pragma unroll
      for (int l = 0; l < 4; l++)
#pragma unroll
        for (int i = 0; i < W; i++) {
          leg[l][i] = swept(o, i) ? s.legs[l][id + (ptrdiff_t)s.n[0] * o + i] : 0;
          sum[i] += fabs(leg[l][i]);
          if (l < KEPT) legs[KEPT ? o : 0][l < KEPT ? l : 0][i] = leg[l][i];
        }
#pragma unroll
      for (int l = KEPT; l < 4; l++)
#pragma unroll
        for (int q = 0; q < PAIRS; q++) {
          const Pack<T, 2> two = {{leg[l][2 * q], leg[l][2 * q + 1]}};

          (*far)[warp][o][FAR ? l - KEPT : 0][q][threadIdx.x % WARP] = two;
        }
#pragma unroll
      for (int i = 0; i < W; i++) grows |= !(sum[i] <= (T)GROWTH);
    }
    return grows;
  }

  __device__ __forceinline__ void put_edges()
  {
    edges[parity].put(u[0], warp, 0);
    edges[parity].put(u[OWN - 1], warp, 1);
  }

  /* The row below or above the patch, of the first and the last warp */
  __device__ __forceinline__ void put_frame(const T (&row)[W])
  {
    for (int k = 0; k < 2; k++) edges[k].put(row, warp ? WARPS : -1, warp ? 0 : 1);
  }
};

template <class T, int FORM, int OWN, bool WEIGHTS>
static __global__ void __launch_bounds__(WARPS *WARP, 1)
    run_cycles(__grid_constant__ const typename Typed<T>::System s, __grid_constant__ const Cycles<T> p)
{
  extern __shared__ __align__(16) char memory[];
  typedef Patch<T, FORM, OWN, WEIGHTS> P;
  constexpr int                        W = P::W;
  P                                    patch(s, p, memory);
  const int                            lane = threadIdx.x % WARP, block = blockIdx.x, bx = block % p.across.count, by = block / p.across.count;
  const Span                           h = spread_span(p.across, bx), v = spread_span(p.along, by);
  const int                            warp = threadIdx.x / WARP, column = h.origin + lane * W, row = v.origin + warp * OWN;
  const int                            n0 = p.across.n, n1 = p.along.n, beside = warp ? v.origin + WARPS * OWN : v.origin - 1;
  const bool                           ends = warp == 0 || warp == WARPS - 1;
  const bool                           columns_end = (h.live[1] - h.origin) % W != 0, rows_end = v.live[1] - v.origin < WARPS * OWN;
  bool                                 masked = (columns_end && !P::LEGS) || WEIGHTS || FORM == STRATA_SYSTEM_CONSTANT || p.careful;
  bool                                 grows = false; /* are here numbers or legs that may lead to an overflow? */
  int                                  at = p.run.first;

  patch.warp = warp;
  patch.n = min(max(v.live[1] - row, 0), OWN);
  patch.parity = 0;
  patch.most = 0;
  patch.columns = patch.rows = 0;
#pragma unroll
  for (int i = 0; i < W; i++) {
    const int  c = column + i, d = p.across.reach;
    const bool ours = c >= h.own[0] && c < h.own[1], rim = (h.own[0] > 0 && c < h.own[0] + d) || (h.own[1] < n0 && c >= h.own[1] - d);

    patch.columns |= (unsigned)(c >= h.live[0] && c < h.live[1]) << (P::INSIDE + i);
    patch.columns |= (unsigned)ours << (P::OURS + i);
    patch.columns |= (unsigned)ours << (P::PAIR_OURS + i / 2);
    patch.columns |= (unsigned)(ours && rim) << (P::PAIR_RIM + i / 2);
    patch.columns |= (unsigned)(!ours && c >= 0 && c < n0 && c >= h.own[0] - d && c < h.own[1] + d) << (P::PAIR_REACH + i / 2);
  }
  const auto reached = [&](int j) { return j >= 0 && j < n1 && j >= v.own[0] - p.along.reach && j < v.own[1] + p.along.reach; };
#pragma unroll
  for (int o = 0; o < OWN; o++) {
    const int  j = row + o, d = p.along.reach;
    const bool ours = j >= v.own[0] && j < v.own[1], rim = (v.own[0] > 0 && j < v.own[0] + d) || (v.own[1] < n1 && j >= v.own[1] - d);

    patch.rows |= (unsigned)ours << (P::ROW_OURS + o);
    patch.rows |= (unsigned)(ours && rim) << (P::ROW_RIM + o);
    patch.rows |= (unsigned)(!ours && reached(j)) << (P::ROW_REACH + o);
#pragma unroll
    for (int i = 0; i < W; i++) {
      const bool      there = j < n1 && column + i >= 0 && column + i < n0;
      const ptrdiff_t id = (ptrdiff_t)n0 * j + column + i;

      patch.u[o][i] = there ? p.run.x[id] : 0;
      patch.b[o][i] = there ? p.run.b[id] : 0;
      grows |= !(fabs(patch.u[o][i]) <= p.most_x) || !(fabs(patch.b[o][i]) <= p.most_b);
    }
  }
  patch.equal = patch.columns >> P::INSIDE & ((1u << W) - 1) ? s.leg[0] : 0;
  if constexpr (P::LEGS) grows |= patch.take_legs((ptrdiff_t)n0 * row + column);
  patch.freeze();
  patch.put_edges();
  if (ends) {
    T outer[W];

#pragma unroll
    for (int i = 0; i < W; i++) {
      const bool there = beside >= 0 && beside < n1 && column + i >= 0 && column + i < n0;

      outer[i] = there ? p.run.x[(ptrdiff_t)n0 * beside + column + i] : 0;
      grows |= !(fabs(outer[i]) <= p.most_x);
    }
    patch.put_frame(outer);
  }
  masked |= __syncthreads_or(grows) != 0;
#pragma unroll 1
  for (int cycle = 1;; cycle++) {
    const bool last = cycle == p.cycles, change = last && p.run.change;
    const int  count = (last ? p.last : p.sweeps) - change;

    if (__any_sync(~0u, masked)) /* so the compiler knows that warps are not split */
      patch.template sweeps<COLUMNS_END>(count, at);
    else if (rows_end && !P::LEGS)
      patch.template sweeps<ROWS_END>(count, at);
    else
      patch.template sweeps<ALL>(count, at);
    if (change) patch.template sweep<COLUMNS_END, true>(patch.next_weight(at));
    if (last) break;

    T *const array = p.run.work + (cycle & 1) * p.numbers, *const here = array + (ptrdiff_t)p.pitch * row + column;

    patch.give(here);
    __syncthreads();
    if (threadIdx.x == WARP) raise(p.flag + FLAG * block, 2 * cycle + masked); /* another warp than the one that waits */
    grows = false;
    if (threadIdx.x < 9 && threadIdx.x != 4) {
      const int x = bx + (int)threadIdx.x % 3 - 1, y = by + (int)threadIdx.x / 3 - 1;

      if (x >= 0 && x < p.across.count && y >= 0 && y < p.along.count) grows = await(p.flag + FLAG * (x + p.across.count * y), 2 * cycle) & 1;
    }
    masked |= __syncthreads_or(grows) != 0;

    T outer[W] = {};

    take_row(outer, array + (ptrdiff_t)p.pitch * beside + column,
             ends && reached(beside) ? patch.columns >> P::PAIR_OURS | patch.columns >> P::PAIR_REACH : 0);
    patch.take(here);
    if (ends) patch.put_frame(outer);
    if (!p.across.halo) patch.freeze(); /* else it is zero */
    patch.put_edges();
    __syncthreads();
  }
#pragma unroll
  for (int o = 0; o < OWN; o++)
#pragma unroll
    for (int i = 0; i < W; i++)
      if (patch.row_in(P::ROW_OURS, o) && (patch.columns >> (P::OURS + i) & 1)) p.run.y[(ptrdiff_t)n0 * (row + o) + column + i] = patch.u[o][i];
  if (p.run.change) join_change(patch.most, p.run.change);
}

/* How patches are spread over the grid, and the sweeps after which they exchange cells; rows: of a warp, 0: there is no such plan */
struct Plan {
  Spread across, along;
  int    rows, sweeps;
};

static int plan_blocks(const Plan &p)
{
  return p.across.count * p.along.count;
}

template <class T, int FORM> static Plan plan_start(const typename Typed<T>::System &s, int rows, int sweeps)
{
  constexpr int W = Shape<T, FORM>::W;
  Plan          p = {};

  p.rows = rows;
  p.sweeps = sweeps;
  p.across.n = s.n[0];
  p.across.size = W * WARP;
  p.across.lost = W;
  p.along.n = s.n[1];
  p.along.size = rows * WARPS;
  return p;
}

template <class T, int FORM> static Plan plan_tiles(const typename Typed<T>::System &s, const StrataTiling &t, int rows)
{
  Plan p = plan_start<T, FORM>(s, rows, t.sweeps);

  for (int a = 0; a < 2; a++) {
    Spread &d = a ? p.along : p.across;

    d.tile = t.tile[a];
    d.overlap = t.overlap[a];
    d.reach = d.overlap / 2 + (a ? 1 : 2); /* pairs of columns */
    d.count = strata_tiles(d.n, 0, d.n, d.tile, d.overlap);
  }
  return p;
}

/* Patches of which so many sweeps leave valid what is the block's own */
template <class T, int FORM> static Plan plan_exact(const typename Typed<T>::System &s, int rows, int sweeps)
{
  Plan p = plan_start<T, FORM>(s, rows, sweeps);

  p.across.halo = sweeps;
  p.along.halo = sweeps - 1; /* the rows next to a patch are there too */
  p.across.reach = p.along.reach = sweeps;
  p.across.count = spread_count(p.across);
  p.along.count = spread_count(p.along);
  return p;
}

/* The plan for such sweeps with so many blocks, or a text that says why there is none, which does not depend on the weights */
template <class T, int FORM>
static Plan plan_find(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, bool weights, int blocks, char no[], size_t length)
{
  typedef Shape<T, FORM> S;
  constexpr int          MOST = S::rows[KINDS - 1], COLUMNS = S::W * WARP, DEEPEST = 20; /* what is swept twice must leave room for the rest */
  constexpr double       EXCHANGE = sizeof(T) == 8 ? 2.5 : 2, MASKS = sizeof(T) == 8 ? 1.4 : 1.25; /* microseconds; where a patch ends in a lane */
  Plan                   best = {};
  double                 least = 0;

  no[0] = 0;
  if (exact) {
    for (int kind = 0; kind < KINDS; kind++)
      for (int sweeps = DEEPEST; sweeps >= 2; sweeps -= 2) {
        const Plan   p = plan_exact<T, FORM>(s, S::rows[kind], sweeps);
        const bool   masked = FORM == STRATA_SYSTEM_EQUAL && (p.across.count == 1 ? s.n[0] % S::W : s.n[0] % 2) != 0;
        const double time = S::time[kind] * (masked && kind ? MASKS : 1) + (plan_blocks(p) > 1 ? EXCHANGE / sweeps : 0);

        if ((p.rows != MOST && weights) || plan_blocks(p) > blocks || (best.rows && time >= least)) continue;
        best = p;
        least = time;
      }
    if (plan_blocks(best) == 1) best.sweeps = 0;
    if (!best.rows) snprintf(no, length, "%d x %d cells do not fit on the %d multiprocessors", s.n[0], s.n[1], blocks);
  } else {
    const int wide = t.tile[0] < s.n[0] ? t.tile[0] : s.n[0], high = t.tile[1] < s.n[1] ? t.tile[1] : s.n[1];

    for (int rows : S::rows)
      if (!best.rows && high <= rows * WARPS && (!weights || rows == MOST)) best = plan_tiles<T, FORM>(s, t, rows);
    if (wide >= COLUMNS - S::W || high > MOST * WARPS)
      snprintf(no, length, "where tiles overlap less than %d it holds at most %d x %d cells of one", 2 * (t.sweeps - 1), COLUMNS - S::W - 1,
               MOST * WARPS);
    else if (best.across.count > 1 && (t.tile[0] % 2 || t.overlap[0] % 4))
      snprintf(no, length, "tiles must be an even number of cells wide and overlap by a multiple of 4 along x");
    else if ((best.across.count > 1 && 2 * t.tile[0] < 3 * t.overlap[0] + 4) || (best.along.count > 1 && 2 * t.tile[1] < 3 * t.overlap[1] + 2))
      snprintf(no, length, "tiles must be wider than 3/2 of their overlap and 2 cells more");
    else if (plan_blocks(best) > blocks)
      snprintf(no, length, "there are %d tiles, but %d multiprocessors", plan_blocks(best), blocks);
    if (no[0]) best.rows = 0;
  }
  return best;
}

template <class T, int FORM, int OWN, bool WEIGHTS>
static cudaError_t cycles_launch(const typename Typed<T>::System &s, const Cycles<T> &p, int blocks, cudaStream_t stream)
{
  const auto  kernel = run_cycles<T, FORM, OWN, WEIGHTS>;
  const int   bytes = Patch<T, FORM, OWN, WEIGHTS>::BYTES;
  void       *arguments[] = {(void *)&s, (void *)&p};
  cudaError_t err = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);

  if (err == cudaSuccess) err = cudaMemsetAsync(p.flag, 0, blocks * FLAG * sizeof(*p.flag), stream);
  if (err == cudaSuccess && p.run.change) err = cudaMemsetAsync(p.run.change, 0, sizeof(*p.run.change), stream);
  if (err == cudaSuccess) err = cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(WARPS * WARP), arguments, bytes, stream);
  return err;
}

/* The arrays by which blocks exchange cells: from row to row, and numbers of one */
static ptrdiff_t exchange_pitch(const int n[])
{
  return ((ptrdiff_t)n[0] + 31) / 32 * 32;
}

static ptrdiff_t exchange_numbers(const int n[])
{
  return exchange_pitch(n) * n[1];
}

/* So many sweeps, as cycles of those of the plan. What is swept cannot overflow if no cell makes numbers grow, or so slowly, and if they and what the
   right-hand side adds to them are smaller by far than the largest. */
template <class T, int FORM>
static cudaError_t plan_run(const typename Typed<T>::System &s, const Plan &plan, int sweeps, const Run<T> &r, cudaStream_t stream)
{
  typedef Shape<T, FORM> S;
  const int              each = plan.sweeps ? plan.sweeps : sweeps, cycles = (sweeps - 1) / each + 1;
  Cycles<T>              p;

  p.run = r;
  p.across = plan.across;
  p.along = plan.along;
  p.sweeps = each;
  p.cycles = cycles;
  p.last = sweeps - (cycles - 1) * each;
  p.careful = FORM == STRATA_SYSTEM_EQUAL ? !(fabs(s.leg[0]) <= 0.25) : sweeps > SLOWLY;
  p.most_x = std::numeric_limits<T>::max() / 256;
  p.most_b = p.most_x / sweeps;
  p.pitch = (int)exchange_pitch(s.n);
  p.numbers = exchange_numbers(s.n);
  p.flag = (unsigned *)(r.work + 2 * p.numbers);
  if (r.weight) return cycles_launch<T, FORM, S::rows[KINDS - 1], true>(s, p, plan_blocks(plan), stream);
  return plan.rows == S::rows[0]   ? cycles_launch<T, FORM, S::rows[0], false>(s, p, plan_blocks(plan), stream)
         : plan.rows == S::rows[1] ? cycles_launch<T, FORM, S::rows[1], false>(s, p, plan_blocks(plan), stream)
                                   : cycles_launch<T, FORM, S::rows[KINDS - 1], false>(s, p, plan_blocks(plan), stream);
}

static int device_blocks(void)
{
  Device d;

  return device_limits(&d) == cudaSuccess ? d.processors : 0;
}

template <class T> bool persistent_patches_fit(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, char no[], size_t length)
{
  const int  blocks = device_blocks();
  const Plan p = s.form == STRATA_SYSTEM_VARIABLE   ? plan_find<T, STRATA_SYSTEM_VARIABLE>(s, t, exact, false, blocks, no, length)
                 : s.form == STRATA_SYSTEM_CONSTANT ? plan_find<T, STRATA_SYSTEM_CONSTANT>(s, t, exact, false, blocks, no, length)
                                                    : plan_find<T, STRATA_SYSTEM_EQUAL>(s, t, exact, false, blocks, no, length);

  return p.rows > 0;
}

template <class T> ptrdiff_t persistent_patches_work(const int n[])
{
  return 2 * exchange_numbers(n) + device_blocks() * FLAG * (ptrdiff_t)sizeof(unsigned) / (ptrdiff_t)sizeof(T);
}

template <class T, int FORM>
static cudaError_t patches_form(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, int sweeps, const Run<T> &r,
                                cudaStream_t stream)
{
  char       no[8];
  const Plan plan = plan_find<T, FORM>(s, t, exact, r.weight != NULL, device_blocks(), no, sizeof(no));

  return plan.rows ? plan_run<T, FORM>(s, plan, sweeps, r, stream) : cudaErrorInvalidConfiguration;
}

template <class T>
cudaError_t persistent_patches(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, int sweeps, const Run<T> &r,
                               cudaStream_t stream)
{
  return s.form == STRATA_SYSTEM_VARIABLE   ? patches_form<T, STRATA_SYSTEM_VARIABLE>(s, t, exact, sweeps, r, stream)
         : s.form == STRATA_SYSTEM_CONSTANT ? patches_form<T, STRATA_SYSTEM_CONSTANT>(s, t, exact, sweeps, r, stream)
                                            : patches_form<T, STRATA_SYSTEM_EQUAL>(s, t, exact, sweeps, r, stream);
}

#define INSTANCES(T)                                                                                                                                 \
  template bool        persistent_patches_fit<T>(const typename Typed<T>::System &, const StrataTiling &, bool, char[], size_t);                     \
  template ptrdiff_t   persistent_patches_work<T>(const int[]);                                                                                      \
  template cudaError_t persistent_patches<T>(const typename Typed<T>::System &, const StrataTiling &, bool, int, const Run<T> &, cudaStream_t);
INSTANCES(double)
INSTANCES(float)
