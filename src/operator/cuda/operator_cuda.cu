/*
   The star-stencil operator on the device.

   Whole boxes are swept by marching threads: a thread owns V neighbouring cells of a layer and walks through a run of layers with the
   layer below, its own and the one above in registers, so that each vector is read from memory once. Layers that wait for another rank's
   cells, and grids whose ghosts are in buffers, take one thread a cell. Both use the arithmetic of operator_cell.h.
*/
#include "../operator_cell.h"

template <class T> struct Typed;
template <> struct Typed<double> {
  typedef StrataCoef_d Coef;
};
template <> struct Typed<float> {
  typedef StrataCoef_f Coef;
};

/* ---- one thread a cell ------------------------------------------------------------------------------------------------------ */

struct Ghosts {
  StrataGhost leg[STRATA_LEGS];
};

struct Boxes {
  int       count;
  StrataBox box[STRATA_LEGS];
};

template <class T>
static __global__ void __launch_bounds__(256)
    mult_cells(__grid_constant__ const typename Typed<T>::Coef c, __grid_constant__ const Ghosts ghost, __grid_constant__ const Boxes boxes,
               const T *__restrict__ x, ptrdiff_t ldx, const T *add, T *y, ptrdiff_t ldy)
{
  const StrataBox &box = boxes.box[blockIdx.y];
  const ptrdiff_t  step = (ptrdiff_t)gridDim.x * blockDim.x, cells = strata_box_size(&box);
  const int        v = blockIdx.z;

  for (ptrdiff_t q = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x; q < cells; q += step) {
    const int       e0 = box.hi[0] - box.lo[0], e1 = box.hi[1] - box.lo[1];
    const int       at[3] = {box.lo[0] + (int)(q % e0), box.lo[1] + (int)(q / e0 % e1), box.lo[2] + (int)(q / ((ptrdiff_t)e0 * e1))};
    const ptrdiff_t id = at[0] + c.n[0] * (at[1] + (ptrdiff_t)c.n[1] * at[2]);
    const T         r = strata_apply(&c, ghost.leg, v, at, x + v * ldx);

    y[v * ldy + id] = add ? add[v * ldy + id] + r : r;
  }
}

/* ---- marching threads -------------------------------------------------------------------------------------------------------- */

/* Where a cell finds its neighbour beyond side l, as a distance from itself: itself where the leg is not there */
struct Wraps {
  ptrdiff_t distance[STRATA_LEGS];
  int       zero[STRATA_LEGS]; /* the value is zero instead */
};

template <class T, int V> struct __align__(sizeof(T) * V) Pack
{
  T v[V];
};

template <class T, int V> static __device__ __forceinline__ void load(T (&to)[V], const T *from)
{
  const Pack<T, V> p = *reinterpret_cast<const Pack<T, V> *>(from);
#pragma unroll
  for (int m = 0; m < V; m++) to[m] = p.v[m];
}

/* A block of MARCH_X x MARCH_Y threads walks through at most MARCH_RUN layers. Layers are taken in bursts: all loads of a burst are under
   way before its first use, which hides the memory's latency better than more threads with fewer registers would. */
constexpr int                     MARCH_X = 32, MARCH_Y = 8, MARCH_RUN = 64;
template <int FORM> constexpr int MARCH_BURST = FORM == STRATA_CONSTANT || FORM == STRATA_TENSOR ? 4 : 1;
template <int FORM> constexpr int MARCH_BLOCKS = FORM == STRATA_CONSTANT || FORM == STRATA_TENSOR ? 2 : 3; /* on a multiprocessor */

/* Numbers that all threads of a row of the block need in a layer wait in shared memory: a, b, c, d of the levels (columns along z), or
   alpha and area of the columns (along x) */
template <class T, int FORM, int AXIS> struct Shared {
  static constexpr bool USED = FORM == STRATA_TENSOR && AXIS != 1;
  static constexpr int  ROWS = USED && AXIS == 0 ? MARCH_Y : 1, LAYERS = USED ? MARCH_RUN : 1, COUNT = AXIS == 2 ? 4 : 6;
  __align__(16) T v[ROWS][LAYERS][COUNT];
};

/* What a thread keeps while it marches */
template <class T, int FORM, int AXIS, int V> struct March {
  static constexpr int Z = MARCH_BURST<FORM>;
  int                  i, j;
  ptrdiff_t            id, plane;        /* the first cell of the burst */
  int                  to[4];            /* distances to the lateral neighbours, which lie in the same layer */
  bool                 edge[4], zero[4]; /* is it at the side; is the value beyond zero? */
  T                    u[Z + 2][V];      /* the layer below, those of the burst, the one above */
  T                    area[V], alpha[4][V], level[4][V], facebelow[V];
};

/* One burst, from layer k on. FULL: all its layers are in the run and none is the grid's last, the common case */
template <bool FULL, class T, int FORM, int AXIS, bool MASK, bool ZERO, bool ADD, int V>
static __device__ __forceinline__ void burst(March<T, FORM, AXIS, V> &m, const Shared<T, FORM, AXIS> &shared, const typename Typed<T>::Coef &c,
                                             const Wraps &wraps, int k, int k0, int k1, const T *__restrict__ x, const T *add, T *__restrict__ y)
{
  constexpr int   Z = MARCH_BURST<FORM>;
  const int       n2 = c.n[2];
  const ptrdiff_t plane = m.plane;
  T               south[Z][V], north[Z][V], west[Z], east[Z];

#pragma unroll
  for (int z = 0; z < Z; z++) { /* past the grid any cell will do: it is not used */
    const T *above = x + m.id + (z + 1) * plane;

    if (!FULL && k + z + 1 >= n2) above = x + m.id + (k + z + 1 == n2 ? z * plane + wraps.distance[STRATA_TOP] : 0);
    load(m.u[z + 2], above);
    if (ZERO && !FULL && k + z == n2 - 1 && wraps.zero[STRATA_TOP]) {
#pragma unroll
      for (int q = 0; q < V; q++) m.u[z + 2][q] = 0;
    }
  }
#pragma unroll
  for (int z = 0; z < Z; z++) {
    const T *layer = x + m.id + (FULL || k + z < n2 ? z * plane : 0);

    load(south[z], layer + m.to[STRATA_SOUTH]);
    load(north[z], layer + m.to[STRATA_NORTH]);
    west[z] = layer[m.to[STRATA_WEST]];
    east[z] = layer[m.to[STRATA_EAST]];
    if (ZERO) {
      if (m.zero[STRATA_WEST]) west[z] = 0;
      if (m.zero[STRATA_EAST]) east[z] = 0;
#pragma unroll
      for (int q = 0; q < V; q++) {
        if (m.zero[STRATA_SOUTH]) south[z][q] = 0;
        if (m.zero[STRATA_NORTH]) north[z][q] = 0;
      }
    }
  }
#pragma unroll
  for (int z = 0; z < Z; z++) {
    const ptrdiff_t cell = m.id + z * plane;

    if (!FULL && k + z >= k1) break;
    if (FORM == STRATA_TENSOR && AXIS == 2) {
#pragma unroll
      for (int f = 0; f < 4; f++) m.level[f][0] = shared.v[0][k + z - k0][f];
    }
    if (FORM == STRATA_TENSOR && AXIS == 0) {
      const T *column = shared.v[threadIdx.y % Shared<T, FORM, AXIS>::ROWS][k + z - k0];

      m.area[0] = column[4 % Shared<T, FORM, AXIS>::COUNT];
#pragma unroll
      for (int f = 0; f < 4; f++) m.alpha[f][0] = column[f];
    }
    if (FORM == STRATA_TENSOR && AXIS == 1) { /* columns (x, z) */
      const ptrdiff_t col = m.i + (ptrdiff_t)c.n[0] * (k + z);

      load(m.area, c.area + col);
#pragma unroll
      for (int f = 0; f < 4; f++) load(m.alpha[f], c.alpha[f] + col);
    }
    T excess[V], leg[STRATA_LEGS][V];
    if (FORM == STRATA_LEGWISE) {
      load(excess, c.cell + cell);
#pragma unroll
      for (int l = 0; l < STRATA_LEGS; l++) load(leg[l], c.legs[l] + cell);
    }
    if (FORM == STRATA_FACES) { /* the high faces are the next cells' low ones */
      const int last[3] = {m.i + V - 1, m.j, k + z};

      load(excess, c.cell + cell);
      load(leg[STRATA_WEST], c.legs[STRATA_WEST] + cell);
      load(leg[STRATA_SOUTH], c.legs[STRATA_SOUTH] + cell);
      if (!m.edge[STRATA_NORTH]) load(leg[STRATA_NORTH], c.legs[STRATA_SOUTH] + cell + c.n[0]);
      if (k + z < n2 - 1) load(leg[STRATA_TOP], c.legs[STRATA_BOTTOM] + cell + plane);
#pragma unroll
      for (int q = 0; q < V; q++) {
        const int at[3] = {m.i + q, m.j, k + z};

        if (q) leg[STRATA_EAST][q ? q - 1 : 0] = leg[STRATA_WEST][q];
        if (m.edge[STRATA_NORTH]) leg[STRATA_NORTH][q] = strata_stored_leg(&c, STRATA_NORTH, at, cell + q);
        if (k + z == n2 - 1) leg[STRATA_TOP][q] = strata_stored_leg(&c, STRATA_TOP, at, cell + q);
        leg[STRATA_BOTTOM][q] = m.facebelow[q];
        m.facebelow[q] = leg[STRATA_TOP][q];
      }
      leg[STRATA_EAST][V - 1] = strata_stored_leg(&c, STRATA_EAST, last, cell + V - 1);
    }
    Pack<unsigned char, V> flags;
    if (MASK) flags = *reinterpret_cast<const Pack<unsigned char, V> *>(c.flags + cell);
    Pack<T, V> out;
#pragma unroll
    for (int q = 0; q < V; q++) {
      const T w = m.u[z + 1][q];
      T       v[STRATA_LEGS] = {q ? m.u[z + 1][q ? q - 1 : 0] : west[z],
                          q < V - 1 ? m.u[z + 1][q < V - 1 ? q + 1 : q] : east[z],
                          south[z][q],
                          north[z][q],
                          m.u[z][q],
                          m.u[z + 2][q]},
        r;

      if (MASK) {
#pragma unroll
        for (int l = 0; l < STRATA_LEGS; l++)
          if (!(flags.v[q] >> l & 1)) v[l] = w;
      }
      if (FORM == STRATA_CONSTANT)
        r = strata_star(c.excess, c.leg, w, v);
      else if (FORM == STRATA_TENSOR) {
        constexpr bool column = AXIS != 0, levels = AXIS != 2; /* do they differ among the V cells? */
        const T        a[4] = {m.alpha[0][column ? q : 0], m.alpha[1][column ? q : 0], m.alpha[2][column ? q : 0], m.alpha[3][column ? q : 0]};
        const T        b[4] = {m.level[0][levels ? q : 0], m.level[1][levels ? q : 0], m.level[2][levels ? q : 0], m.level[3][levels ? q : 0]};

        r = strata_tensor(AXIS, m.area[column ? q : 0], a, b, w, v);
      } else {
        const T a[STRATA_LEGS] = {leg[0][q], leg[1][q], leg[2][q], leg[3][q], leg[4][q], leg[5][q]};

        r = strata_star(excess[q], a, w, v);
      }
      if (MASK && flags.v[q] >> 6 & 1) r = c.masked * w;
      out.v[q] = strata_scaled(c.scale, c.shift, r, w);
    }
    if (ADD) {
      T w[V];

      load(w, add + cell);
#pragma unroll
      for (int q = 0; q < V; q++) out.v[q] = w[q] + out.v[q];
    }
    *reinterpret_cast<Pack<T, V> *>(y + cell) = out;
  }
#pragma unroll
  for (int q = 0; q < V; q++) {
    m.u[0][q] = m.u[Z][q];
    m.u[1][q] = m.u[Z + 1][q];
  }
  m.id += Z * plane;
}

template <class T, int FORM, int AXIS, bool MASK, bool ZERO, bool ADD, int V>
static __global__ void __launch_bounds__(MARCH_X *MARCH_Y, MARCH_BLOCKS<FORM>)
    mult_march(__grid_constant__ const typename Typed<T>::Coef c, __grid_constant__ const Wraps wraps, __grid_constant__ const StrataBox box, int run,
               const T *__restrict__ x, ptrdiff_t ldx, const T *add, T *__restrict__ y, ptrdiff_t ldy)
{
  constexpr int Z = MARCH_BURST<FORM>;
  __shared__ Shared<T, FORM, AXIS> shared;
  March<T, FORM, AXIS, V>          m;
  const int                        n0 = c.n[0], n1 = c.n[1], n2 = c.n[2], runs = (box.hi[2] - box.lo[2] + run - 1) / run, vec = blockIdx.z / runs;
  const int j0 = box.lo[1] + (int)(blockIdx.y * MARCH_Y), k0 = box.lo[2] + (int)(blockIdx.z % runs) * run, k1 = min(k0 + run, box.hi[2]);

  m.i = box.lo[0] + V * (int)(blockIdx.x * MARCH_X + threadIdx.x);
  m.j = j0 + (int)threadIdx.y;
  m.plane = (ptrdiff_t)n0 * n1;
  if (Shared<T, FORM, AXIS>::USED) {
    const int thread = threadIdx.x + MARCH_X * threadIdx.y, layers = k1 - k0;

    if (AXIS == 2)
      for (int t = thread; t < 4 * layers; t += MARCH_X * MARCH_Y) shared.v[0][t / 4][t % 4] = c.level[t % 4][k0 + t / 4];
    else
      for (int t = thread; t < MARCH_Y * layers; t += MARCH_X * MARCH_Y) {
        const int       row = t % MARCH_Y % Shared<T, FORM, AXIS>::ROWS, layer = t / MARCH_Y;
        const ptrdiff_t col = j0 + row + n1 * (ptrdiff_t)(k0 + layer);

        if (j0 + row >= box.hi[1]) continue;
        for (int f = 0; f < 4; f++) shared.v[row][layer][f] = c.alpha[f][col];
        shared.v[row][layer][4 % Shared<T, FORM, AXIS>::COUNT] = c.area[col];
      }
    __syncthreads();
  }
  if (m.i >= box.hi[0] || m.j >= box.hi[1]) return;

  m.edge[STRATA_WEST] = m.i == 0;
  m.edge[STRATA_EAST] = m.i + V == n0;
  m.edge[STRATA_SOUTH] = m.j == 0;
  m.edge[STRATA_NORTH] = m.j == n1 - 1;
  m.to[STRATA_WEST] = -1;
  m.to[STRATA_EAST] = V;
  m.to[STRATA_SOUTH] = -n0;
  m.to[STRATA_NORTH] = n0;
#pragma unroll
  for (int l = 0; l < 4; l++) {
    m.zero[l] = m.edge[l] && wraps.zero[l];
    if (m.edge[l]) m.to[l] = (int)wraps.distance[l] + (l == STRATA_EAST ? V - 1 : 0);
  }
  m.id = m.i + (ptrdiff_t)n0 * m.j + m.plane * k0;
  x += vec * ldx;
  y += vec * ldy;
  if (ADD) add += vec * ldy;
  if (FORM == STRATA_TENSOR && AXIS == 2) { /* numbers that stay the same along the march */
    const ptrdiff_t col = m.i + (ptrdiff_t)n0 * m.j;

    load(m.area, c.area + col);
#pragma unroll
    for (int f = 0; f < 4; f++) load(m.alpha[f], c.alpha[f] + col);
  }
  if (FORM == STRATA_TENSOR && AXIS != 2) {
#pragma unroll
    for (int f = 0; f < 4; f++)
#pragma unroll
      for (int q = 0; q < V; q++) m.level[f][q] = c.level[f][AXIS == 0 ? m.i + q : m.j];
  }
  load(m.u[0], x + m.id + (k0 ? -m.plane : wraps.distance[STRATA_BOTTOM]));
  load(m.u[1], x + m.id);
  if (ZERO && !k0 && wraps.zero[STRATA_BOTTOM]) {
#pragma unroll
    for (int q = 0; q < V; q++) m.u[0][q] = 0;
  }
  if (FORM == STRATA_FACES) load(m.facebelow, c.legs[STRATA_BOTTOM] + m.id);

  int k = k0;
#pragma unroll 1
  for (; k + Z <= k1 && k + Z < n2; k += Z) burst<true, T, FORM, AXIS, MASK, ZERO, ADD, V>(m, shared, c, wraps, k, k0, k1, x, add, y);
#pragma unroll 1
  for (; k < k1; k += Z) burst<false, T, FORM, AXIS, MASK, ZERO, ADD, V>(m, shared, c, wraps, k, k0, k1, x, add, y);
}

/* Layers that a thread walks through: long runs reread fewer layers, but the blocks must fill the multiprocessors evenly */
static int march_run(int layers, ptrdiff_t tiles, int blocks)
{
  static int processors = 0; /* of the first device that is used */
  int        best = MARCH_RUN;
  ptrdiff_t  least = 0;

  if (!processors) {
    int device;

    if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
      return MARCH_RUN;
  }
  for (int run = MARCH_RUN; run >= 8; run -= 4) {
    const ptrdiff_t count = tiles * ((layers + run - 1) / run), rounds = (count + processors * blocks - 1) / (processors * blocks),
                    cost = rounds * ((run < layers ? run : layers) + 3);

    if (!least || cost < least) {
      least = cost;
      best = run;
    }
  }
  return best;
}

template <class T, int FORM, int AXIS, bool MASK, bool ZERO, bool ADD, int V>
static void march_launch(const typename Typed<T>::Coef &c, const Wraps &wraps, const StrataBox &box, int nv, const T *x, ptrdiff_t ldx, const T *add,
                         T *y, ptrdiff_t ldy, cudaStream_t stream)
{
  const int w[3] = {box.hi[0] - box.lo[0], box.hi[1] - box.lo[1], box.hi[2] - box.lo[2]};
  const int tx = (w[0] / V + MARCH_X - 1) / MARCH_X, ty = (w[1] + MARCH_Y - 1) / MARCH_Y,
            run = march_run(w[2], (ptrdiff_t)tx * ty * nv, MARCH_BLOCKS<FORM>), runs = (w[2] + run - 1) / run;

  mult_march<T, FORM, AXIS, MASK, ZERO, ADD, V>
      <<<dim3((unsigned)tx, (unsigned)ty, (unsigned)(runs * nv)), dim3(MARCH_X, MARCH_Y), 0, stream>>>(c, wraps, box, run, x, ldx, add, y, ldy);
}

/* Picks the instance for form, axis, mask and sides; in the forms with numbers of each cell mask and sides are in the numbers */
template <class T, int V>
static void march_form(const typename Typed<T>::Coef &c, const Wraps &wraps, const StrataBox &box, int nv, const T *x, ptrdiff_t ldx, const T *add,
                       T *y, ptrdiff_t ldy, cudaStream_t stream)
{
  bool zero = false;

  for (int l = 0; l < STRATA_LEGS; l++) zero = zero || wraps.zero[l];
#define MARCH(form, axis, mask, zero)                                                                                                                \
  (add ? march_launch<T, form, axis, mask, zero, true, V>(c, wraps, box, nv, x, ldx, add, y, ldy, stream)                                            \
       : march_launch<T, form, axis, mask, zero, false, V>(c, wraps, box, nv, x, ldx, add, y, ldy, stream))
#define MARCH_SIDES(form, axis) (c.flags ? MARCH(form, axis, true, true) : zero ? MARCH(form, axis, false, true) : MARCH(form, axis, false, false))
  if (c.form == STRATA_CONSTANT)
    MARCH_SIDES(STRATA_CONSTANT, 2);
  else if (c.form == STRATA_TENSOR && c.axis == 0)
    MARCH_SIDES(STRATA_TENSOR, 0);
  else if (c.form == STRATA_TENSOR && c.axis == 1)
    MARCH_SIDES(STRATA_TENSOR, 1);
  else if (c.form == STRATA_TENSOR)
    MARCH_SIDES(STRATA_TENSOR, 2);
  else if (c.form == STRATA_FACES)
    MARCH(STRATA_FACES, 2, false, false);
  else
    MARCH(STRATA_LEGWISE, 2, false, false);
#undef MARCH_SIDES
#undef MARCH
}

/* Can marching threads take the box: does it touch no ghosts but parts of the vector itself? Fills in the distances. */
template <class T>
static bool march_wraps(const typename Typed<T>::Coef &c, const StrataGhost ghost[], const StrataBox &box, const T *x, ptrdiff_t ldx, Wraps *wraps)
{
  const ptrdiff_t s[3] = {1, c.n[0], (ptrdiff_t)c.n[0] * c.n[1]};

  for (int l = 0; l < STRATA_LEGS; l++) {
    const int a = l / 2;

    wraps->distance[l] = 0;
    wraps->zero[l] = c.outside[l] == STRATA_OUTSIDE_ZERO;
    if (c.outside[l] != STRATA_OUTSIDE_GHOST || (l % 2 ? box.hi[a] < c.n[a] : box.lo[a] > 0)) continue;
    wraps->distance[l] = (const T *)ghost[l].p - x - (l % 2 ? (c.n[a] - 1) * s[a] : 0);
    if (wraps->distance[l] != (l % 2 ? -1 : 1) * (c.n[a] - 1) * s[a]) return false;
    for (int b = 0; b < 3; b++)
      if (b != a && ghost[l].s[b] != s[b]) return false;
    if (ghost[l].sv != ldx) return false;
  }
  return true;
}

static bool aligned(const void *p, size_t bytes)
{
  return (uintptr_t)p % bytes == 0;
}

/* Takes all boxes of the list, one thread a cell, and empties it */
template <class T>
static void cells_launch(const typename Typed<T>::Coef &c, const StrataGhost ghost[], Boxes *boxes, int nv, const T *x, ptrdiff_t ldx, const T *add,
                         T *y, ptrdiff_t ldy, cudaStream_t stream)
{
  Ghosts    ghosts;
  ptrdiff_t blocks = 0;

  if (!boxes->count) return;
  for (int l = 0; l < STRATA_LEGS; l++) ghosts.leg[l] = ghost[l];
  for (int b = 0; b < boxes->count; b++) {
    const ptrdiff_t needs = (strata_box_size(&boxes->box[b]) + 255) / 256;

    if (needs > blocks) blocks = needs;
  }
  mult_cells<T><<<dim3((unsigned)(blocks < 65536 ? blocks : 65536), (unsigned)boxes->count, (unsigned)nv), 256, 0, stream>>>(c, ghosts, *boxes, x,
                                                                                                                             ldx, add, y, ldy);
  boxes->count = 0;
}

template <class T>
static int mult_launch(const typename Typed<T>::Coef *c, const StrataGhost ghost[], int nbox, const StrataBox box[], int nv, const T *x,
                       ptrdiff_t ldx, const T *add, T *y, ptrdiff_t ldy, cudaStream_t stream)
{
  constexpr int V = 16 / sizeof(T);
  Boxes         cells;

  cells.count = 0;
  for (int b = 0; b < nbox; b++) {
    const ptrdiff_t size = strata_box_size(&box[b]);
    Wraps           wraps;

    if (!size || !nv) continue;
    if (size >= 4096 && box[b].hi[0] - box[b].lo[0] >= 16 && (ptrdiff_t)c->n[0] * c->n[1] < 2147483647 && box[b].hi[1] - box[b].lo[1] < 65535 &&
        (ptrdiff_t)(box[b].hi[2] - box[b].lo[2]) * nv < 8 * 65535 && march_wraps<T>(*c, ghost, box[b], x, ldx, &wraps)) {
      bool wide = c->n[0] % V == 0 && box[b].lo[0] % V == 0 && box[b].hi[0] % V == 0 && aligned(x, 16) && aligned(y, 16) && aligned(add, 16) &&
                  (nv == 1 || (ldx % V == 0 && ldy % V == 0));

      if (c->form == STRATA_TENSOR && c->axis != 0)
        wide = wide && aligned(c->area, 16) && aligned(c->alpha[0], 16) && aligned(c->alpha[1], 16) && aligned(c->alpha[2], 16) &&
               aligned(c->alpha[3], 16);
      if (c->form == STRATA_FACES || c->form == STRATA_LEGWISE) {
        wide = wide && aligned(c->cell, 16);
        for (int l = 0; l < STRATA_LEGS; l += c->form == STRATA_FACES ? 2 : 1) wide = wide && aligned(c->legs[l], 16);
      }
      if (c->flags) wide = wide && aligned(c->flags, V);
      if (wide)
        march_form<T, V>(*c, wraps, box[b], nv, x, ldx, add, y, ldy, stream);
      else
        march_form<T, 1>(*c, wraps, box[b], nv, x, ldx, add, y, ldy, stream);
    } else
      cells.box[cells.count++] = box[b];
    if (cells.count == STRATA_LEGS) cells_launch<T>(*c, ghost, &cells, nv, x, ldx, add, y, ldy, stream);
  }
  cells_launch<T>(*c, ghost, &cells, nv, x, ldx, add, y, ldy, stream);
  return (int)cudaGetLastError();
}

/* ---- a number, or all numbers, of each row ------------------------------------------------------------------------------------- */

/* The cell of a number, for kernels of one thread a cell */
static __device__ __forceinline__ void cell_of(const int n[3], ptrdiff_t id, int at[3])
{
  at[0] = (int)(id % n[0]);
  at[1] = (int)(id / n[0] % n[1]);
  at[2] = (int)(id / ((ptrdiff_t)n[0] * n[1]));
}

static ptrdiff_t cell_count(const int n[3])
{
  return (ptrdiff_t)n[0] * n[1] * n[2];
}

template <class T> struct Arrays {
  T *cell, *leg[STRATA_LEGS];
};

template <class T>
static __global__ void __launch_bounds__(256) rows(__grid_constant__ const typename Typed<T>::Coef c, StrataRowQuantity quantity, int axis, T *y)
{
  const ptrdiff_t id = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x;
  int             at[3];
  T               leg[STRATA_LEGS];

  if (id >= (ptrdiff_t)c.n[0] * c.n[1] * c.n[2]) return;
  cell_of(c.n, id, at);
  const T excess = strata_row(&c, at, leg);
  y[id] = strata_quantity(quantity, axis, excess, leg);
}

template <class T> static __global__ void __launch_bounds__(256) expand(__grid_constant__ const typename Typed<T>::Coef c, Arrays<T> out)
{
  const ptrdiff_t id = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x;
  int             at[3];
  T               leg[STRATA_LEGS];

  if (id >= (ptrdiff_t)c.n[0] * c.n[1] * c.n[2]) return;
  cell_of(c.n, id, at);
  out.cell[id] = strata_row(&c, at, leg);
  for (int l = 0; l < STRATA_LEGS; l++)
    if (out.leg[l]) out.leg[l][id] = leg[l];
}

template <class T>
static __global__ void __launch_bounds__(256)
    transpose(__grid_constant__ const typename Typed<T>::Coef c, __grid_constant__ const Ghosts ghost, Arrays<T> out)
{
  const ptrdiff_t id = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x;
  int             at[3];
  T               leg[STRATA_LEGS];

  if (id >= (ptrdiff_t)c.n[0] * c.n[1] * c.n[2]) return;
  cell_of(c.n, id, at);
  out.cell[id] = strata_transposed(&c, ghost.leg, at, leg);
  for (int l = 0; l < STRATA_LEGS; l++) out.leg[l][id] = leg[l];
}

template <class T> static Arrays<T> arrays(T *cell, T *const legs[])
{
  Arrays<T> a;

  a.cell = cell;
  for (int l = 0; l < STRATA_LEGS; l++) a.leg[l] = legs[l];
  return a;
}

#define BLOCKS(n) (unsigned)((cell_count(n) + 255) / 256), 256, 0, (cudaStream_t)stream

#define ENTRY_POINTS(T, S)                                                                                                                           \
  int StrataMultCUDA_##S(const StrataCoef_##S *c, const StrataGhost ghost[], int nbox, const StrataBox box[], int nv, const T *x, ptrdiff_t ldx,     \
                         const T *add, T *y, ptrdiff_t ldy, void *stream)                                                                            \
  {                                                                                                                                                  \
    return mult_launch<T>(c, ghost, nbox, box, nv, x, ldx, add, y, ldy, (cudaStream_t)stream);                                                       \
  }                                                                                                                                                  \
  int StrataRowsCUDA_##S(const StrataCoef_##S *c, StrataRowQuantity quantity, int axis, T *y, void *stream)                                          \
  {                                                                                                                                                  \
    if (cell_count(c->n)) rows<T><<<BLOCKS(c->n)>>>(*c, quantity, axis, y);                                                                          \
    return (int)cudaGetLastError();                                                                                                                  \
  }                                                                                                                                                  \
  int StrataExpandCUDA_##S(const StrataCoef_##S *c, T *cell, T *const legs[], void *stream)                                                          \
  {                                                                                                                                                  \
    if (cell_count(c->n)) expand<T><<<BLOCKS(c->n)>>>(*c, arrays<T>(cell, legs));                                                                    \
    return (int)cudaGetLastError();                                                                                                                  \
  }                                                                                                                                                  \
  int StrataTransposeCUDA_##S(const StrataCoef_##S *c, const StrataGhost ghost[], T *cell, T *const legs[], void *stream)                            \
  {                                                                                                                                                  \
    Ghosts ghosts;                                                                                                                                   \
                                                                                                                                                     \
    for (int l = 0; l < STRATA_LEGS; l++) ghosts.leg[l] = ghost[l];                                                                                  \
    if (cell_count(c->n)) transpose<T><<<BLOCKS(c->n)>>>(*c, ghosts, arrays<T>(cell, legs));                                                         \
    return (int)cudaGetLastError();                                                                                                                  \
  }
ENTRY_POINTS(double, d)
ENTRY_POINTS(float, f)

/* ---- coefficients out of an assembled matrix ------------------------------------------------------------------------------------ */

struct Extract {
  StrataCSR     block[2];
  StrataColumns columns;
  int           n[3], outside[STRATA_LEGS], axis;
};

static __device__ __forceinline__ void lower_row(StrataInt *to, StrataInt row)
{
#if defined(PETSC_USE_64BIT_INDICES)
  atomicMin((long long *)to, (long long)row);
#else
  atomicMin(to, row);
#endif
}

static __global__ void __launch_bounds__(256) extract(__grid_constant__ const Extract e, Arrays<double> out, StrataCSRFaults *faults)
{
  const ptrdiff_t id = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x;
  int             at[3];
  double          leg[STRATA_LEGS];

  if (id >= (ptrdiff_t)e.n[0] * e.n[1] * e.n[2]) return;
  cell_of(e.n, id, at);
  const int       fault = strata_extract(e.block, &e.columns, e.n, e.outside, e.axis, at, &out.cell[id], leg);
  const StrataInt row = e.columns.start[STRATA_LEGS] + (StrataInt)id;
  if (fault & 1) lower_row(&faults->outside, row);
  if (fault & 2) lower_row(&faults->nonfinite, row);
  for (int l = 0; l < STRATA_LEGS; l++)
    if (out.leg[l]) out.leg[l][id] = leg[l];
}

int StrataExtractCUDA(const StrataCSR block[2], const StrataColumns *columns, const int n[3], const int outside[], int axis, double *cell,
                      double *const legs[], StrataCSRFaults *faults, void *stream)
{
  Extract          e;
  StrataCSRFaults *found;
  cudaError_t      err;

  for (int b = 0; b < 2; b++) e.block[b] = block[b];
  for (int a = 0; a < 3; a++) e.n[a] = n[a];
  for (int l = 0; l < STRATA_LEGS; l++) e.outside[l] = outside[l];
  e.columns = *columns;
  e.axis = axis;
  if (!cell_count(n)) return 0;
  if ((err = cudaMalloc(&found, sizeof(*found))) != cudaSuccess) return (int)err;
  if ((err = cudaMemcpyAsync(found, faults, sizeof(*found), cudaMemcpyHostToDevice, (cudaStream_t)stream)) == cudaSuccess) {
    extract<<<BLOCKS(n)>>>(e, arrays<double>(cell, legs), found);
    if ((err = cudaGetLastError()) == cudaSuccess) err = cudaMemcpyAsync(faults, found, sizeof(*found), cudaMemcpyDeviceToHost, (cudaStream_t)stream);
    if (err == cudaSuccess) err = cudaStreamSynchronize((cudaStream_t)stream);
  }
  (void)cudaFree(found);
  return (int)err;
}
