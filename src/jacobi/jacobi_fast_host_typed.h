/* Included by jacobi_fast_host.c for each precision */

/* A row of cells: everything has consecutive numbers, neighbours and legs too */
typedef struct {
  int         count;
  const REAL *v[STRATA_LEGS], *leg[STRATA_LEGS], *u, *b;
  REAL       *out;
} TYPED(Row);

static inline __attribute__((always_inline)) void TYPED(row)(const TYPED(StrataSystem) *s, int dim, int form, REAL weight, const TYPED(Row) *q)
{
  const REAL *v0 = q->v[0], *v1 = q->v[1], *v2 = q->v[2], *v3 = q->v[3], *v4 = q->v[4], *v5 = q->v[5], *u = q->u, *b = q->b;
  const REAL *l0 = q->leg[0], *l1 = q->leg[1], *l2 = q->leg[2], *l3 = q->leg[3], *l4 = q->leg[4], *l5 = q->leg[5];
  const REAL  cleg[STRATA_LEGS] = {s->leg[0], s->leg[1], s->leg[2], s->leg[3], s->leg[4], s->leg[5]};
  const int   count = q->count;
  REAL       *out = q->out;

#pragma GCC ivdep
  for (int i = 0; i < count; i++) {
    REAL w[STRATA_LEGS] = {v0[i], v1[i]}, leg[STRATA_LEGS], r;

    if (dim > 1) {
      w[2] = v2[i];
      w[3] = v3[i];
    }
    if (dim > 2) {
      w[4] = v4[i];
      w[5] = v5[i];
    }
    if (form == STRATA_SYSTEM_VARIABLE) {
      leg[0] = l0[i];
      leg[1] = l1[i];
      if (dim > 1) {
        leg[2] = l2[i];
        leg[3] = l3[i];
      }
      if (dim > 2) {
        leg[4] = l4[i];
        leg[5] = l5[i];
      }
    }
    if (form == STRATA_SYSTEM_EQUAL)
      r = CELL(strata_jacobi_equal)(dim, cleg[0], b[i], w);
    else
      r = CELL(strata_jacobi_legs)(dim, form == STRATA_SYSTEM_VARIABLE ? leg : cleg, b[i], w);
    out[i] = CELL(strata_jacobi_damped)(weight, u[i], r);
  }
}

/* One row, with dimension, form and a weight of 1 known to the compiler */
STRATA_CLONES void TYPED(strata_jacobi_row)(const TYPED(StrataSystem) *s, REAL weight, const TYPED(Row) *q);
STRATA_CLONES void TYPED(strata_jacobi_row)(const TYPED(StrataSystem) *s, REAL weight, const TYPED(Row) *q)
{
#define ROW(dim, form)                                                                                                                               \
  do {                                                                                                                                               \
    if (weight == 1)                                                                                                                                 \
      TYPED(row)(s, dim, form, 1, q);                                                                                                                \
    else                                                                                                                                             \
      TYPED(row)(s, dim, form, weight, q);                                                                                                           \
  } while (0)
#define ROWS(dim)                                                                                                                                    \
  do {                                                                                                                                               \
    if (s->form == STRATA_SYSTEM_EQUAL)                                                                                                              \
      ROW(dim, STRATA_SYSTEM_EQUAL);                                                                                                                 \
    else if (s->form == STRATA_SYSTEM_CONSTANT)                                                                                                      \
      ROW(dim, STRATA_SYSTEM_CONSTANT);                                                                                                              \
    else                                                                                                                                             \
      ROW(dim, STRATA_SYSTEM_VARIABLE);                                                                                                              \
  } while (0)
  if (s->dim == 1)
    ROWS(1);
  else if (s->dim == 2)
    ROWS(2);
  else
    ROWS(3);
#undef ROW
#undef ROWS
}

/* Legs and right-hand side of the row of the array that begins in cell (i, j, k) */
static inline void TYPED(place)(const TYPED(StrataSystem) *s, int i, int j, int k, const REAL *b, TYPED(Row) *q)
{
  const ptrdiff_t id = i + s->n[0] * (j + (ptrdiff_t)s->n[1] * k);

  q->b = b + id;
  for (int l = 0; l < STRATA_LEGS; l++) q->leg[l] = s->legs[l] ? s->legs[l] + id : NULL;
}

/* The largest change in a row; NaN stays */
static inline REAL TYPED(change)(int count, const REAL *u, const REAL *v, REAL most)
{
  for (int i = 0; i < count; i++) most = CELL(strata_reduce_take)(STRATA_REDUCE_MAXDIFF, most, u[i], v[i]);
  return most;
}

/* Copies cells i0 <= i < i1 of row (j, k) of the array, zero where there are none; x NULL: all zero */
static inline void TYPED(load)(const TYPED(StrataSystem) *s, const REAL *x, int i0, int i1, int j, int k, REAL *to)
{
  const int lo = i0 < 0 ? 0 : i0, hi = i1 > s->n[0] ? s->n[0] : i1;

  if (!x || j < 0 || j >= s->n[1] || k < 0 || k >= s->n[2] || hi <= lo) {
    memset(to, 0, (size_t)(i1 - i0) * sizeof(REAL));
    return;
  }
  for (int i = i0; i < lo; i++) to[i - i0] = 0;
  memcpy(to + (lo - i0), x + lo + s->n[0] * (j + (ptrdiff_t)s->n[1] * k), (size_t)(hi - lo) * sizeof(REAL));
  for (int i = hi; i < i1; i++) to[i - i0] = 0;
}

/* All sweeps of one tile, in two buffers with a frame. from, n: cells that are computed; lo, hi: of these, those that are written */
static REAL TYPED(sweep_tile)(const TYPED(StrataSystem) *s, int sweeps, const int from[3], const int n[3], const int lo[3], const int hi[3],
                              const REAL *weight, const REAL *b, const REAL *x, REAL *y, REAL *u, REAL *v, int wants)
{
  const ptrdiff_t step[3] = {1, n[0] + 2, (ptrdiff_t)(n[0] + 2) * (s->dim > 1 ? n[1] + 2 : 1)};
  const int       frame[3] = {1, s->dim > 1, s->dim > 2}; /* directions that the grid lacks need none */
  REAL            most = 0, *w = u;

  for (int k = -frame[2]; k < n[2] + frame[2]; k++)
    for (int j = -frame[1]; j < n[1] + frame[1]; j++, w += step[1]) TYPED(load)(s, x, from[0] - 1, from[0] + n[0] + 1, from[1] + j, from[2] + k, w);
  memcpy(v, u, (size_t)(w - u) * sizeof(REAL));
  for (int sweep = 0; sweep < sweeps; sweep++) {
    for (int k = 0; k < n[2]; k++)
      for (int j = 0; j < n[1]; j++) {
        const ptrdiff_t at = 1 + (j + frame[1]) * step[1] + (k + frame[2]) * step[2];
        TYPED(Row)      q;

        q.count = n[0];
        TYPED(place)(s, from[0], from[1] + j, from[2] + k, b, &q);
        for (int l = 0; l < 2 * s->dim; l++) q.v[l] = u + (l % 2 ? at + step[l / 2] : at - step[l / 2]);
        for (int l = 2 * s->dim; l < STRATA_LEGS; l++) q.v[l] = NULL;
        q.u = u + at;
        q.out = v + at;
        TYPED(strata_jacobi_row)(s, weight ? weight[sweep] : 1, &q);
      }
    w = u;
    u = v;
    v = w;
  }
  for (int k = lo[2]; k < hi[2]; k++)
    for (int j = lo[1]; j < hi[1]; j++) {
      const ptrdiff_t at = 1 + lo[0] + (j + frame[1]) * step[1] + (k + frame[2]) * step[2];

      memcpy(y + from[0] + lo[0] + s->n[0] * (from[1] + j + (ptrdiff_t)s->n[1] * (from[2] + k)), u + at, (size_t)(hi[0] - lo[0]) * sizeof(REAL));
      if (wants) most = TYPED(change)(hi[0] - lo[0], u + at, v + at, most);
    }
  return most;
}

/* Tile after tile, each for all vectors: its legs are still in the cache */
static int TYPED(by_tiles)(const TYPED(StrataSystem) *s, const StrataTiling *t, int nv, ptrdiff_t ld, const StrataBox *box, const REAL *weight,
                           const REAL *b, const REAL *x, REAL *y, REAL *change)
{
  int       count[3], tile[3];
  ptrdiff_t cells = 1;
  REAL     *work, most = 0;

  for (int a = 0; a < 3; a++) {
    count[a] = strata_tiles(s->n[a], box->lo[a], box->hi[a], t->tile[a], t->overlap[a]);
    cells *= (t->tile[a] < s->n[a] ? t->tile[a] : s->n[a]) + (a < s->dim ? 2 : 0);
  }
  if (!(work = (REAL *)malloc(2 * (size_t)cells * sizeof(REAL)))) return 1;
  for (tile[2] = 0; tile[2] < count[2]; tile[2]++)
    for (tile[1] = 0; tile[1] < count[1]; tile[1]++)
      for (tile[0] = 0; tile[0] < count[0]; tile[0]++) {
        int from[3], n[3], lo[3], hi[3];

        for (int a = 0; a < 3; a++) {
          int f[2], e[2];

          strata_tile(s->n[a], box->lo[a], box->hi[a], t->tile[a], t->overlap[a], tile[a], f, e);
          from[a] = f[0];
          n[a] = e[0] - f[0];
          lo[a] = f[1] - f[0];
          hi[a] = e[1] - f[0];
        }
        for (int v = 0; v < nv; v++)
          most = CELL(strata_reduce_join)(STRATA_REDUCE_MAX, most,
                                          TYPED(sweep_tile)(s, t->sweeps, from, n, lo, hi, weight, b + v * ld, x ? x + v * ld : NULL, y + v * ld,
                                                            work, work + cells, change != NULL));
      }
  free(work);
  if (change) *change = most;
  return 0;
}

/* The cells lo <= i < hi of axis a that sweep l of k must compute, so that cells w0 <= i < w1 are right after the last */
static inline void TYPED(reach)(const TYPED(StrataSystem) *s, int a, int w0, int w1, int more, int *lo, int *hi)
{
  const int first = s->outside[2 * a] == STRATA_OUTSIDE_GHOST, end = s->n[a] - (s->outside[2 * a + 1] == STRATA_OUTSIDE_GHOST);

  *lo = w0 - more < first ? (w0 < first ? w0 : first) : w0 - more;
  *hi = w1 + more > end ? (w1 > end ? w1 : end) : w1 + more;
}

/* All sweeps of a strip at once, plane after plane along the slowest axis: sweep l is l planes behind the first, and each keeps three planes of
   each vector. In two dimensions a plane is a row. */
static REAL TYPED(sweep_strip)(const TYPED(StrataSystem) *s, int sweeps, const StrataBox *strip, const REAL *weight, int nv, ptrdiff_t ld,
                               const REAL *b, const REAL *x, REAL *y, REAL *ring, int wants)
{
  const int slow = s->dim - 1, rows = s->dim > 2;
  int       lo0, hi0, mlo0 = 0, mhi0 = 1, zlo0, zhi0;
  REAL      most = 0;

  TYPED(reach)(s, 0, strip->lo[0], strip->hi[0], sweeps, &lo0, &hi0);
  if (rows) TYPED(reach)(s, 1, strip->lo[1], strip->hi[1], sweeps, &mlo0, &mhi0);
  if (s->outside[0] == STRATA_OUTSIDE_GHOST) lo0--; /* values are read there, none are computed */
  if (s->outside[1] == STRATA_OUTSIDE_GHOST) hi0++;
  if (rows && s->outside[2] == STRATA_OUTSIDE_GHOST) mlo0--;
  if (rows && s->outside[3] == STRATA_OUTSIDE_GHOST) mhi0++;
  lo0 = lo0 < 0 ? 0 : lo0;
  hi0 = hi0 > s->n[0] ? s->n[0] : hi0;
  mlo0 = mlo0 < 0 ? 0 : mlo0;
  mhi0 = rows && mhi0 > s->n[1] ? s->n[1] : mhi0;
  zlo0 = strip->lo[slow] - sweeps < 0 ? 0 : strip->lo[slow] - sweeps;
  zhi0 = strip->hi[slow] + sweeps > s->n[slow] ? s->n[slow] : strip->hi[slow] + sweeps;
  {
    const ptrdiff_t width = hi0 - lo0 + 2, height = rows ? mhi0 - mlo0 + 2 : 1, plane = width * height;
    const REAL     *zero = ring + 3 * (ptrdiff_t)sweeps * nv * plane;

    memset(ring, 0, (size_t)(3 * (ptrdiff_t)sweeps * nv + 1) * (size_t)plane * sizeof(REAL));
#define PLANE(v, l, z) (ring + (3 * ((v) * (ptrdiff_t)sweeps + (l)) + (z) % 3) * plane)
#define READ(v, l, z)  ((z) < 0 || (z) >= s->n[slow] ? zero : PLANE(v, l, z))
    for (int t = zlo0; t < zhi0 + sweeps; t++) {
      for (int v = 0; v < nv && t < zhi0; v++)
        for (int j = mlo0; j < mhi0; j++)
          TYPED(load)(s, x ? x + v * ld : NULL, lo0, hi0, rows ? j : t, rows ? t : 0, PLANE(v, 0, t) + 1 + (rows ? (j - mlo0 + 1) * width : 0));
      for (int l = 1; l <= sweeps; l++) {
        const int z = t - l;
        int       lo, hi, mlo = 0, mhi = 1, zlo, zhi;

        TYPED(reach)(s, slow, strip->lo[slow], strip->hi[slow], sweeps - l, &zlo, &zhi);
        if (z < zlo || z >= zhi) continue;
        TYPED(reach)(s, 0, strip->lo[0], strip->hi[0], sweeps - l, &lo, &hi);
        if (rows) TYPED(reach)(s, 1, strip->lo[1], strip->hi[1], sweeps - l, &mlo, &mhi);
        for (int j = mlo; j < mhi; j++) {
          const ptrdiff_t at = 1 + (lo - lo0) + (rows ? (j - mlo0 + 1) * width : 0);
          TYPED(Row)      q;

          q.count = hi - lo;
          TYPED(place)(s, lo, rows ? j : z, rows ? z : 0, b, &q);
          for (int v = 0; v < nv; v++, q.b += ld) { /* the legs of the row are in the cache after the first */
            q.u = READ(v, l - 1, z) + at;
            q.v[0] = q.u - 1;
            q.v[1] = q.u + 1;
            q.v[2] = rows ? q.u - width : READ(v, l - 1, z - 1) + at;
            q.v[3] = rows ? q.u + width : READ(v, l - 1, z + 1) + at;
            q.v[4] = rows ? READ(v, l - 1, z - 1) + at : NULL;
            q.v[5] = rows ? READ(v, l - 1, z + 1) + at : NULL;
            q.out = l < sweeps ? PLANE(v, l, z) + at : y + v * ld + lo + s->n[0] * ((rows ? j : z) + (ptrdiff_t)s->n[1] * (rows ? z : 0));
            TYPED(strata_jacobi_row)(s, weight ? weight[l - 1] : 1, &q);
            if (wants && l == sweeps) most = TYPED(change)(q.count, q.out, q.u, most);
          }
        }
      }
    }
#undef PLANE
#undef READ
  }
  return most;
}

/* The width of strips whose rows fit the cache, with their legs and right-hand sides, for so many vectors */
static ptrdiff_t TYPED(strip_width)(const TYPED(StrataSystem) *s, int sweeps, int nv)
{
  const ptrdiff_t row = s->dim > 2 ? s->n[0] + 2 : 1, cells = STRATA_CACHE / (ptrdiff_t)sizeof(REAL) / (3 * sweeps * row);
  const ptrdiff_t legs = s->form == STRATA_SYSTEM_VARIABLE ? 2 * s->dim * (sweeps + 1) : 0, each = 4 * sweeps + 1;

  return cells * (legs + each) / (legs + nv * each) - 2 * sweeps - 2;
}

/* Strip after strip, each for a few vectors at once if that saves the legs from being read again */
static int TYPED(by_strips)(const TYPED(StrataSystem) *s, int sweeps, int nv, ptrdiff_t ld, const StrataBox *box, const REAL *weight, const REAL *b,
                            const REAL *x, REAL *y, REAL *change)
{
  const int       across = s->dim - 2, wide = box->hi[across] - box->lo[across]; /* strips lie side by side along this axis */
  const ptrdiff_t row = s->dim > 2 ? s->n[0] + 2 : 1;
  ptrdiff_t       width;
  int             few = s->form != STRATA_SYSTEM_VARIABLE ? 1 : nv < STRATA_FEW ? nv : STRATA_FEW;
  REAL           *ring, most = 0;
  StrataBox       strip = *box;

  while (few > 1 && TYPED(strip_width)(s, sweeps, few) < 2 * sweeps) few--;
  width = TYPED(strip_width)(s, sweeps, few);
  if (width < STRATA_STRIP * sweeps) width = STRATA_STRIP * sweeps;
  if (width > wide) width = wide;
  ring = (REAL *)malloc((size_t)(3 * (ptrdiff_t)sweeps * few + 1) * (size_t)((width + 2 * sweeps + 4) * (s->dim > 2 ? row + 2 : 1)) * sizeof(REAL));
  if (!ring) return 1;
  for (ptrdiff_t from = box->lo[across]; from < box->hi[across]; from += width) {
    strip.lo[across] = (int)from;
    strip.hi[across] = from + width < box->hi[across] ? (int)(from + width) : box->hi[across];
    for (int v = 0; v < nv; v += few)
      most = CELL(strata_reduce_join)(STRATA_REDUCE_MAX, most,
                                      TYPED(sweep_strip)(s, sweeps, &strip, weight, nv - v < few ? nv - v : few, ld, b + v * ld,
                                                         x ? x + v * ld : NULL, y + v * ld, ring, change != NULL));
  }
  free(ring);
  if (change) *change = most;
  return 0;
}

int TYPED(StrataCycleFastHost)(const TYPED(StrataSystem) *s, const StrataTiling *t, int nv, ptrdiff_t ld, const StrataBox *box, const REAL *weight,
                               const REAL *b, const REAL *x, REAL *y, REAL *change)
{
  StrataTiling own = *t;
  int          exact = 1;

  if (change) *change = 0;
  if (!strata_box_size(box)) return 0;
  for (int a = 0; a < s->dim; a++) exact &= t->overlap[a] >= 2 * (t->sweeps - 1);
  if (!exact) return TYPED(by_tiles)(s, t, nv, ld, box, weight, b, x, y, change);
  if (s->dim > 1) return TYPED(by_strips)(s, t->sweeps, nv, ld, box, weight, b, x, y, change);
  own.overlap[0] = 2 * (t->sweeps - 1);
  own.tile[0] = own.overlap[0] + (STRATA_STRIP * t->sweeps > STRATA_LINE ? STRATA_STRIP * t->sweeps : STRATA_LINE);
  return TYPED(by_tiles)(s, &own, nv, ld, box, weight, b, x, y, change);
}
