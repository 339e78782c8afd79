/* Included by cg_pass_host.c for each precision */

/* Where a strip of lines, or a run of cells without lines, finds its data */
typedef struct {
  int         count, levels, shared;
  ptrdiff_t   stride;                  /* from one level to the next */
  const REAL *level, *area;            /* shared */
  const REAL *lower, *upper, *inverse; /* upper NULL: the lower leg of the next level */
  const REAL *p, *w;
  REAL       *x, *r, *z;
} TYPED(Strip);

static const REAL TYPED(strata_ones)[STRIP] = {[0 ... STRIP - 1] = 1};

static inline __attribute__((always_inline)) double TYPED(total)(const REAL *lane, int n)
{
  double sum = 0;

  for (int w = 0; w < n; w++) sum += lane[w];
  return sum;
}

/* x, r and z of a strip of lines, and their sums */
static inline __attribute__((always_inline)) void TYPED(strip)(const TYPED(Strip) *s, int shared, int count, REAL alpha, double sum[])
{
  const int levels = s->levels;
  REAL      carry[STRIP] = {0}, next[STRIP] = {0}, rr[STRIP] = {0}, gamma[STRIP] = {0}, zz[STRIP] = {0};

  for (int k = 0; k < levels; k++) {
    const ptrdiff_t at = k * s->stride;
    const REAL     *p = s->p + at, *ap = s->w + at, *inverse = s->inverse + at, *lower = shared ? s->area : s->lower + at;
    const REAL      level = shared ? s->level[4 * k] : 1;
    REAL           *x = s->x + at, *r = s->r + at, *z = s->z + at;

#pragma GCC ivdep
    for (int w = 0; w < count; w++) {
      const REAL rw = CELL(strata_cg_add)(-alpha, ap[w], r[w]), low = shared ? lower[w] * level : lower[w];

      x[w] = CELL(strata_cg_add)(alpha, p[w], x[w]);
      r[w] = rw;
      rr[w] = FMA(rw, rw, rr[w]);
      carry[w] = FMA(-low, carry[w], rw) * inverse[w];
      z[w] = carry[w];
    }
  }
  for (int k = levels - 1; k >= 0; k--) {
    const ptrdiff_t at = k * s->stride, after = k < levels - 1 ? s->stride : 0;
    const REAL     *inverse = s->inverse + at, *upper = shared ? s->area : s->upper ? s->upper + at : s->lower + at + after, *r = s->r + at;
    const REAL      level = shared ? s->level[4 * k + 1] : 1;
    REAL           *z = s->z + at;

#pragma GCC ivdep
    for (int w = 0; w < count; w++) {
      const REAL up = shared ? upper[w] * level : upper[w], zw = CELL(strata_backward)(up * inverse[w], z[w], next[w]);

      next[w] = zw;
      z[w] = zw;
      gamma[w] = FMA(r[w], zw, gamma[w]);
      zz[w] = FMA(zw, zw, zz[w]);
    }
  }
  sum[STRATA_CG_RR] += TYPED(total)(rr, count);
  sum[STRATA_CG_GAMMA] += TYPED(total)(gamma, count);
  sum[STRATA_CG_ZZ] += TYPED(total)(zz, count);
}

STRATA_CLONES void TYPED(strata_cg_strip)(const TYPED(Strip) *s, REAL alpha, double sum[]);
STRATA_CLONES void TYPED(strata_cg_strip)(const TYPED(Strip) *s, REAL alpha, double sum[])
{
  if (s->shared && s->count == STRIP)
    TYPED(strip)(s, 1, STRIP, alpha, sum);
  else if (s->shared)
    TYPED(strip)(s, 1, s->count, alpha, sum);
  else if (s->count == STRIP)
    TYPED(strip)(s, 0, STRIP, alpha, sum);
  else
    TYPED(strip)(s, 0, s->count, alpha, sum);
}

/* The same for a run of cells where the preconditioner is a diagonal, or none (inverse NULL) */
static inline __attribute__((always_inline)) void TYPED(run)(const TYPED(Strip) *s, int diagonal, REAL alpha, double sum[])
{
  REAL rr[LANES] = {0}, gamma[LANES] = {0}, zz[LANES] = {0};

  for (int i = 0; i < s->count; i += LANES) {
    const int m = s->count - i < LANES ? s->count - i : LANES;

#pragma GCC ivdep
    for (int t = 0; t < m; t++) {
      const REAL rw = CELL(strata_cg_add)(-alpha, s->w[i + t], s->r[i + t]), zw = diagonal ? rw * s->inverse[i + t] : rw;

      s->x[i + t] = CELL(strata_cg_add)(alpha, s->p[i + t], s->x[i + t]);
      s->r[i + t] = rw;
      s->z[i + t] = zw;
      rr[t] = FMA(rw, rw, rr[t]);
      gamma[t] = FMA(rw, zw, gamma[t]);
      zz[t] = FMA(zw, zw, zz[t]);
    }
  }
  sum[STRATA_CG_RR] += TYPED(total)(rr, LANES);
  sum[STRATA_CG_GAMMA] += TYPED(total)(gamma, LANES);
  sum[STRATA_CG_ZZ] += TYPED(total)(zz, LANES);
}

STRATA_CLONES void TYPED(strata_cg_run)(const TYPED(Strip) *s, REAL alpha, double sum[]);
STRATA_CLONES void TYPED(strata_cg_run)(const TYPED(Strip) *s, REAL alpha, double sum[])
{
  if (s->inverse)
    TYPED(run)(s, 1, alpha, sum);
  else
    TYPED(run)(s, 0, alpha, sum);
}

STRATA_CLONES void TYPED(strata_cg_line)(int n, REAL beta, const REAL *z, REAL *p);
STRATA_CLONES void TYPED(strata_cg_line)(int n, REAL beta, const REAL *z, REAL *p)
{
#pragma GCC ivdep
  for (int i = 0; i < n; i++) p[i] = CELL(strata_cg_add)(beta, p[i], z[i]);
}

STRATA_CLONES void TYPED(strata_cg_line_add)(int n, REAL alpha, const REAL *p, REAL *x);
STRATA_CLONES void TYPED(strata_cg_line_add)(int n, REAL alpha, const REAL *p, REAL *x)
{
#pragma GCC ivdep
  for (int i = 0; i < n; i++) x[i] = CELL(strata_cg_add)(alpha, p[i], x[i]);
}

STRATA_CLONES double TYPED(strata_cg_dot)(int n, const REAL *z, const REAL *s);
STRATA_CLONES double TYPED(strata_cg_dot)(int n, const REAL *z, const REAL *s)
{
  REAL lane[LANES] = {0};

  for (int i = 0; i < n; i += LANES) {
    const int m = n - i < LANES ? n - i : LANES;

    for (int t = 0; t < m; t++) lane[t] = FMA(z[i + t], s[i + t], lane[t]);
  }
  return TYPED(total)(lane, LANES);
}

static ptrdiff_t TYPED(layer)(const TYPED(StrataCGProblem) *q)
{
  return (ptrdiff_t)q->lines.coef.n[0] * q->lines.coef.n[1];
}

/* w = A v in a layer */
static void TYPED(product)(const TYPED(StrataCGProblem) *q, int k, const REAL *v, REAL *w)
{
  const TYPED(StrataCoef) *c = &q->lines.coef;
  const StrataBox          box = {{0, 0, k}, {c->n[0], c->n[1], k + 1}};
  StrataGhost              ghost[STRATA_LEGS] = {{NULL, {0, 0, 0}, 0}};
  const ptrdiff_t          s[3] = {1, c->n[0], TYPED(layer)(q)};

  for (int l = 0; l < STRATA_LEGS; l++) {
    ghost[l].p = v + (l % 2 ? 0 : (c->n[l / 2] - 1) * s[l / 2]);
    for (int a = 0; a < 3; a++) ghost[l].s[a] = s[a];
  }
  TYPED(StrataMultHost)(c, ghost, 1, &box, 1, v, 0, NULL, w - s[2] * k, 0);
}

static void TYPED(direction)(const TYPED(StrataCGProblem) *q, int k, REAL beta, const REAL *z, REAL *p)
{
  const ptrdiff_t size = TYPED(layer)(q);

  TYPED(strata_cg_line)((int)size, beta, z + size * k, p + size * k);
}

/* x, r and z of a layer from p and w = A p, and their sums; w and z from the layer's first cell on */
static void TYPED(strips)(const TYPED(StrataCGProblem) *q, int k, REAL alpha, const REAL *p, const REAL *w, REAL *x, REAL *r, REAL *z, double sum[])
{
  const int      *n = q->lines.coef.n;
  const ptrdiff_t size = TYPED(layer)(q), first = size * k;
  const int       lines = q->pc == STRATA_CG_LINES;
  TYPED(Strip)    s = {0};

  s.shared = lines && q->lines.rows == STRATA_ROWS_SHARED;
  s.level = q->level;
  s.levels = n[1];
  s.stride = n[0];
  for (ptrdiff_t i = 0; i < (lines ? n[0] : size); i += lines ? STRIP : PIECE) {
    const ptrdiff_t id = first + i;

    s.p = p + id;
    s.w = w + i;
    s.x = x + id;
    s.r = r + id;
    s.z = z + i;
    s.inverse = q->pc == STRATA_CG_NONE ? NULL : q->inverse + id;
    if (!lines) {
      s.count = (int)(size - i < PIECE ? size - i : PIECE);
      TYPED(strata_cg_run)(&s, alpha, sum);
    } else {
      s.count = n[0] - i < STRIP ? n[0] - (int)i : STRIP;
      s.area = s.shared && q->lines.coef.form == STRATA_TENSOR ? q->lines.coef.area + (ptrdiff_t)n[0] * k + i : TYPED(strata_ones);
      s.lower = s.shared ? NULL : q->lower + id;
      s.upper = s.shared || !q->upper ? NULL : q->upper + id;
      TYPED(strata_cg_strip)(&s, alpha, sum);
    }
  }
}

/* (z, A z) of a layer */
static double TYPED(energy)(const TYPED(StrataCGProblem) *q, int k, const REAL *z, REAL *work)
{
  const ptrdiff_t size = TYPED(layer)(q);
  double          sum = 0;

  TYPED(product)(q, k, z, work);
  for (ptrdiff_t i = 0; i < size; i += PIECE) sum += TYPED(strata_cg_dot)((int)(size - i < PIECE ? size - i : PIECE), z + size * k + i, work + i);
  return sum;
}

/* ---- lean operators ------------------------------------------------------------------------------------------------------------------ */

ptrdiff_t TYPED(StrataCGLeanBlocks)(const int n[3])
{
  return (ptrdiff_t)((n[0] + STRATA_CG_LEAN_X - 1) / STRATA_CG_LEAN_X) * ((n[1] + STRATA_CG_LEAN_Y - 1) / STRATA_CG_LEAN_Y) *
         ((n[2] + STRATA_CG_LEAN_Z - 1) / STRATA_CG_LEAN_Z);
}

size_t TYPED(StrataCGLeanSize)(const TYPED(StrataCGProblem) *q)
{
  const TYPED(StrataCoef) *c = &q->lines.coef;

  if (q->pc != STRATA_CG_LINES || q->lines.rows != STRATA_ROWS_SHARED) return 0;
  for (int l = 0; l < STRATA_LEGS; l++)
    if (c->outside[l] == STRATA_OUTSIDE_GHOST) return 0;
  return (size_t)LEAN_LEVEL * c->n[1] + (size_t)LEAN_COLUMN * c->n[0] * c->n[2];
}

void TYPED(StrataCGLeanHost)(const TYPED(StrataCGProblem) *q, REAL *lean)
{
  const TYPED(StrataCoef) *c = &q->lines.coef;
  const ptrdiff_t          columns = (ptrdiff_t)c->n[0] * c->n[2];
  const int                legs[4] = {STRATA_WEST, STRATA_EAST, STRATA_BOTTOM, STRATA_TOP};
  REAL                    *column = lean + (size_t)LEAN_LEVEL * c->n[1];

  for (int j = 0; j < c->n[1]; j++) CELL(strata_shared_level)(&q->lines, 1, j, lean + LEAN_LEVEL * j);
  for (int k = 0; k < c->n[2]; k++)
    for (int i = 0; i < c->n[0]; i++) {
      const int       at[3] = {i, 0, k};
      const ptrdiff_t id = i + (ptrdiff_t)c->n[0] * k;

      column[LEAN_AREA * columns + id] = c->form == STRATA_TENSOR ? c->area[id] : 1;
      column[LEAN_SIDES * columns + id] = 0;
      for (int m = 0; m < 4; m++) {
        const REAL leg = c->form == STRATA_TENSOR ? c->alpha[m][id] : c->leg[legs[m]];
        const int  crosses = strata_crosses(c->n, legs[m], at);

        column[(LEAN_WEST + m) * columns + id] = crosses ? 0 : leg;
        if (crosses && c->outside[legs[m]] == STRATA_OUTSIDE_ZERO) column[LEAN_SIDES * columns + id] += leg;
      }
    }
}

/* A strip of lines: A p, r, z and all sums. x is taken care of where p is made. */
static inline __attribute__((always_inline)) void TYPED(lean)(const TYPED(StrataCGProblem) *q, int k, int i0, int count, REAL alpha, const REAL *p,
                                                              REAL *r, REAL *z, double sum[])
{
  const int       n0 = q->lines.coef.n[0], levels = q->lines.coef.n[1];
  const ptrdiff_t size = (ptrdiff_t)n0 * levels, columns = (ptrdiff_t)n0 * q->lines.coef.n[2], first = size * k + i0;
  const REAL     *column = q->lean + (size_t)LEAN_LEVEL * levels + (ptrdiff_t)n0 * k + i0, shift = q->lines.coef.shift;
  const REAL     *area = column, *west = column + LEAN_WEST * columns, *east = column + LEAN_EAST * columns, *south = column + LEAN_SOUTH * columns,
             *north = column + LEAN_NORTH * columns, *sides = column + LEAN_SIDES * columns;
  REAL carry[STRIP] = {0}, next[STRIP] = {0}, rr[STRIP] = {0}, gamma[STRIP] = {0}, zz[STRIP] = {0}, delta[STRIP] = {0};

  p += first;
  r += first;
  z += first;
  for (int j = 0; j < levels; j++) {
    const REAL *level = q->lean + LEAN_LEVEL * j, lower = level[LEAN_LOWER];
    const REAL  own[LEAN_LEVEL] = {lower, level[LEAN_UPPER], level[LEAN_EXCESS], level[LEAN_LATERAL]};
    const REAL *inverse = q->inverse + first + (ptrdiff_t)n0 * j, *pj = p + (ptrdiff_t)n0 * j;
    REAL       *rj = r + (ptrdiff_t)n0 * j, *zj = z + (ptrdiff_t)n0 * j;

#pragma GCC ivdep
    for (int w = 0; w < count; w++) {
      const REAL numbers[LEAN_COLUMN] = {area[w], west[w], east[w], south[w], north[w], sides[w]};
      const REAL v[6] = {pj[w - n0], pj[w + n0], pj[w - 1], pj[w + 1], pj[w - size], pj[w + size]};
      REAL       a = CELL(strata_cg_lean_apply)(own, numbers, shift, pj[w], v);

      a = CELL(strata_cg_add)(-alpha, a, rj[w]);
      rj[w] = a;
      rr[w] = FMA(a, a, rr[w]);
      zj[w] = carry[w] = FMA(-(area[w] * lower), carry[w], a) * inverse[w];
    }
  }
  for (int j = levels - 1; j >= 0; j--) {
    const REAL *level = q->lean + LEAN_LEVEL * j, upper = level[LEAN_UPPER];
    const REAL  own[LEAN_LEVEL] = {level[LEAN_LOWER], upper, level[LEAN_EXCESS], level[LEAN_LATERAL]};
    const REAL *inverse = q->inverse + first + (ptrdiff_t)n0 * j, *rj = r + (ptrdiff_t)n0 * j;
    REAL       *zj = z + (ptrdiff_t)n0 * j;

#pragma GCC ivdep
    for (int w = 0; w < count; w++) {
      const REAL b = area[w] * upper, u = CELL(strata_backward)(b * inverse[w], zj[w], next[w]), up = next[w] - u;

      zj[w] = next[w] = u;
      gamma[w] = FMA(rj[w], u, gamma[w]);
      zz[w] = FMA(u, u, zz[w]);
      delta[w] = FMA(-b * up, up, delta[w]);
    }
    /* (z,Az) is a sum over cells and over faces, of which each belongs to the cell on its high side */
#pragma GCC ivdep
    for (int w = 0; w < count; w++) {
      const REAL numbers[LEAN_COLUMN] = {area[w], west[w], 0, south[w], 0, sides[w]};

      delta[w] = CELL(strata_cg_lean_energy)(own, numbers, shift, zj[w], zj[w - 1], zj[w - size], delta[w]);
    }
  }
  sum[STRATA_CG_RR] += TYPED(total)(rr, count);
  sum[STRATA_CG_GAMMA] += TYPED(total)(gamma, count);
  sum[STRATA_CG_ZZ] += TYPED(total)(zz, count);
  sum[STRATA_CG_DELTA] += TYPED(total)(delta, count);
}

STRATA_CLONES void TYPED(strata_cg_lean)(const TYPED(StrataCGProblem) *q, int k, int i0, int count, REAL alpha, const REAL *p, REAL *r, REAL *z,
                                         double sum[]);
STRATA_CLONES void TYPED(strata_cg_lean)(const TYPED(StrataCGProblem) *q, int k, int i0, int count, REAL alpha, const REAL *p, REAL *r, REAL *z,
                                         double sum[])
{
  if (count == STRIP)
    TYPED(lean)(q, k, i0, STRIP, alpha, p, r, z, sum);
  else
    TYPED(lean)(q, k, i0, count, alpha, p, r, z, sum);
}

STRATA_CLONES void TYPED(strata_cg_lean_line)(int n, REAL beta, REAL alpha, REAL owed, const REAL *z, REAL *p, REAL *x);
STRATA_CLONES void TYPED(strata_cg_lean_line)(int n, REAL beta, REAL alpha, REAL owed, const REAL *z, REAL *p, REAL *x)
{
#pragma GCC ivdep
  for (int i = 0; i < n; i++) {
    const REAL before = p[i], now = CELL(strata_cg_add)(beta, before, z[i]);

    p[i] = now;
    x[i] = CELL(strata_cg_add)(alpha, now, CELL(strata_cg_add)(owed, before, x[i]));
  }
}

void TYPED(StrataCGPassPayHost)(const TYPED(StrataCGProblem) *q, REAL owed, const REAL *p, REAL *x)
{
  const ptrdiff_t size = TYPED(layer)(q);

  for (int k = 0; k < q->lines.coef.n[2]; k++) TYPED(strata_cg_line_add)((int)size, owed, p + size * k, x + size * k);
}

static void TYPED(lean_pass)(const TYPED(StrataCGProblem) *q, REAL beta, REAL alpha, REAL owed, int later, REAL *z, REAL *p, REAL *x, REAL *r,
                             double sum[])
{
  const int      *n = q->lines.coef.n;
  const ptrdiff_t size = TYPED(layer)(q);

  for (int k = -1; k < n[2]; k++) {
    const ptrdiff_t ahead = size * (k + 1);

    if (k + 1 < n[2] && later)
      TYPED(strata_cg_line)((int)size, beta, z + ahead, p + ahead);
    else if (k + 1 < n[2])
      TYPED(strata_cg_lean_line)((int)size, beta, alpha, owed, z + ahead, p + ahead, x + ahead);
    for (int i = 0; k >= 0 && i < n[0]; i += STRIP) TYPED(strata_cg_lean)(q, k, i, n[0] - i < STRIP ? n[0] - i : STRIP, alpha, p, r, z, sum);
  }
}

void TYPED(StrataCGPassHost)(const TYPED(StrataCGProblem) *q, REAL beta, REAL alpha, REAL owed, int later, REAL *z, REAL *p, REAL *x, REAL *r,
                             double sum[], REAL *work)
{
  const TYPED(StrataCoef) *c = &q->lines.coef;
  const int                layers = c->n[2], round = c->outside[STRATA_BOTTOM] == STRATA_OUTSIDE_GHOST && layers > 1;
  const ptrdiff_t          size = TYPED(layer)(q);

  for (int m = 0; m < STRATA_CG_SUMS; m++) sum[m] = 0;
  if (!size || !layers) return;
  if (q->lean) {
    TYPED(lean_pass)(q, beta, alpha, owed, later, z, p, x, r, sum);
    return;
  }
  if (round) TYPED(direction)(q, layers - 1, beta, z, p); /* the first layer looks at the last */
  TYPED(direction)(q, 0, beta, z, p);
  for (int k = 0; k < layers; k++) {
    if (k + 1 < layers && !(round && k + 1 == layers - 1)) TYPED(direction)(q, k + 1, beta, z, p);
    TYPED(product)(q, k, p, work);
    TYPED(strips)(q, k, alpha, p, work, x, r, z + size * k, sum);
    if (k > (round ? 1 : 0)) sum[STRATA_CG_DELTA] += TYPED(energy)(q, k - 1, z, work);
  }
  sum[STRATA_CG_DELTA] += TYPED(energy)(q, layers - 1, z, work);
  if (round) sum[STRATA_CG_DELTA] += TYPED(energy)(q, 0, z, work);
}

void TYPED(StrataCGPassProbeHost)(const TYPED(StrataCGProblem) *q, int first, int last, REAL *r, const REAL *z, REAL *x, REAL *work, REAL found[2])
{
  const ptrdiff_t size = TYPED(layer)(q);

  found[0] = found[1] = 0;
  for (int k = first; k < last; k++) {
    double sum[STRATA_CG_SUMS];

    TYPED(strips)(q, k, 0, r, r + size * k, x, r, work, sum); /* a step of length 0 */
    for (ptrdiff_t i = 0; i < size; i++) {
      const REAL off = CELL(strata_abs)(work[i] - z[size * k + i]), most = CELL(strata_abs)(z[size * k + i]);

      if (!(off <= found[0])) found[0] = off;
      if (!(most <= found[1])) found[1] = most;
    }
  }
}

/* Pivots of neighbouring lines, level by level */
static inline __attribute__((always_inline)) int TYPED(factor)(const TYPED(StrataCGProblem) *q, int rows, int k, int i, int count, REAL *inverse,
                                                               REAL *lower, REAL *upper)
{
  const TYPED(StrataLines) *t = &q->lines;
  const int                 levels = t->coef.n[1];
  REAL                      line[STRIP][2], ratio[STRIP] = {0}, bad = 0;

  for (int w = 0; w < count; w++) {
    const int at[3] = {i + w, 0, k};

    if (rows == STRATA_ROWS_SHARED) CELL(strata_shared_line)(t, 1, at, line[w]);
  }
  for (int j = 0; j < levels; j++) {
    const ptrdiff_t id = i + t->coef.n[0] * (j + (ptrdiff_t)levels * k);
    const REAL      level[4] = {rows == STRATA_ROWS_SHARED ? q->level[4 * j] : 0, rows == STRATA_ROWS_SHARED ? q->level[4 * j + 1] : 0,
                           rows == STRATA_ROWS_SHARED ? q->level[4 * j + 2] : 0, rows == STRATA_ROWS_SHARED ? q->level[4 * j + 3] : 0};

    for (int w = 0; w < count; w++) {
      const int at[3] = {i + w, j, k};
      REAL      row[3], value;

      if (rows == STRATA_ROWS_SHARED)
        CELL(strata_shared_row)(level, line[w][0], line[w][1], t->coef.shift, row);
      else
        CELL(strata_cell_row)(t, 1, at, row);
      value = CELL(strata_factor)(row, 0, &ratio[w]);
      bad += value - value + (ratio[w] - ratio[w]); /* 0, or not a number */
      inverse[id + w] = value;
      if (lower) lower[id + w] = row[0];
      if (upper) upper[id + w] = row[1];
    }
  }
  return bad == 0;
}

STRATA_CLONES int TYPED(strata_cg_factor_shared)(const TYPED(StrataCGProblem) *q, int k, int i, int count, REAL *inverse);
STRATA_CLONES int TYPED(strata_cg_factor_shared)(const TYPED(StrataCGProblem) *q, int k, int i, int count, REAL *inverse)
{
  return TYPED(factor)(q, STRATA_ROWS_SHARED, k, i, count, inverse, NULL, NULL);
}

int TYPED(StrataCGPassFactorHost)(const TYPED(StrataCGProblem) *q, REAL *inverse, REAL *lower, REAL *upper, REAL *level)
{
  TYPED(StrataCGProblem) with = *q;
  const int             *n = q->lines.coef.n, shared = q->lines.rows == STRATA_ROWS_SHARED;
  int                    good = 1;

  with.level = level;
  if (q->pc == STRATA_CG_LINES && shared)
    for (int j = 0; j < n[1]; j++) CELL(strata_shared_level)(&q->lines, 1, j, level + 4 * j);
  if (q->pc == STRATA_CG_DIAGONAL) {
    const ptrdiff_t size = TYPED(layer)(q) * n[2];

    TYPED(StrataRowsHost)(&q->lines.coef, STRATA_ROW_DIAGONAL, 0, inverse);
    for (ptrdiff_t id = 0; id < size; id++) {
      inverse[id] = 1 / inverse[id];
      good = good && inverse[id] - inverse[id] == 0;
    }
  }
  for (int k = 0; q->pc == STRATA_CG_LINES && k < n[2]; k++)
    for (int i = 0; i < n[0]; i += STRIP) {
      const int count = n[0] - i < STRIP ? n[0] - i : STRIP;

      good = (shared ? TYPED(strata_cg_factor_shared)(&with, k, i, count, inverse)
                     : TYPED(factor)(&with, STRATA_ROWS_CELLS, k, i, count, inverse, lower, upper)) &&
             good;
    }
  return good;
}

/* ---- turned grids ------------------------------------------------------------------------------------------------------------------- */

/* Strides of the grid as it is, along the axes of the turned one, and its widths there */
static void TYPED(turned)(const StrataCGTurn *turn, const int n[3], ptrdiff_t s[3], int m[3])
{
  const ptrdiff_t stride[3] = {1, n[0], (ptrdiff_t)n[0] * n[1]};

  for (int a = 0; a < 3; a++) {
    s[a] = stride[turn->from[a]];
    m[a] = n[turn->from[a]];
  }
}

void TYPED(StrataCGTurnHost)(const StrataCGTurn *turn, const int n[3], const REAL *from, REAL *to)
{
  ptrdiff_t s[3];
  int       m[3];

  TYPED(turned)(turn, n, s, m);
  for (int k = 0; k < m[2]; k++)
    for (int j0 = 0; j0 < m[1]; j0 += LANES) /* in pieces, so that both sides stay in cache */
      for (int i0 = 0; i0 < m[0]; i0 += STRIP)
        for (int j = j0; j < j0 + LANES && j < m[1]; j++)
          for (int i = i0; i < i0 + STRIP && i < m[0]; i++) to[i + m[0] * (j + (ptrdiff_t)m[1] * k)] = from[i * s[0] + j * s[1] + k * s[2]];
}

void TYPED(StrataCGTurnBackHost)(const StrataCGTurn *turn, const int n[3], const REAL *from, REAL *to)
{
  ptrdiff_t s[3];
  int       m[3];

  TYPED(turned)(turn, n, s, m);
  for (int k = 0; k < m[2]; k++)
    for (int j0 = 0; j0 < m[1]; j0 += LANES)
      for (int i0 = 0; i0 < m[0]; i0 += STRIP)
        for (int j = j0; j < j0 + LANES && j < m[1]; j++)
          for (int i = i0; i < i0 + STRIP && i < m[0]; i++) to[i * s[0] + j * s[1] + k * s[2]] = from[i + m[0] * (j + (ptrdiff_t)m[1] * k)];
}

void TYPED(StrataCGTurnCoefHost)(const StrataCGTurn *turn, const TYPED(StrataCoef) *c, REAL *cell, REAL *const legs[], unsigned char *flags,
                                 TYPED(StrataCoef) *turned)
{
  ptrdiff_t s[3], id = 0;
  int       m[3], leg[STRATA_LEGS];

  TYPED(turned)(turn, c->n, s, m);
  *turned = *c;
  for (int a = 0; a < 3; a++) {
    turned->n[a] = m[a];
    if (turn->from[a] == c->axis) turned->axis = a;
  }
  for (int l = 0; l < STRATA_LEGS; l++) {
    leg[l] = 2 * turn->from[l / 2] + l % 2;
    turned->outside[l] = c->outside[leg[l]];
    turned->leg[l] = c->leg[leg[l]];
    turned->legs[l] = NULL;
  }
  if (c->cell) TYPED(StrataCGTurnHost)(turn, c->n, c->cell, cell);
  turned->cell = c->cell ? cell : NULL;
  for (int l = 0; l < STRATA_LEGS; l++)
    if (c->legs[leg[l]]) {
      TYPED(StrataCGTurnHost)(turn, c->n, c->legs[leg[l]], legs[l]);
      turned->legs[l] = legs[l];
    }
  for (int a = 0; a < 3; a++) { /* the faces beyond a periodic side are the first ones of the box */
    const ptrdiff_t stride[3] = {1, m[0], (ptrdiff_t)m[0] * m[1]};

    turned->high[a].p = c->form == STRATA_FACES && turned->outside[2 * a + 1] == STRATA_OUTSIDE_GHOST ? turned->legs[2 * a] : NULL;
    for (int b = 0; b < 3; b++) turned->high[a].s[b] = stride[b];
    turned->high[a].sv = 0;
  }
  turned->flags = c->flags ? flags : NULL;
  for (int k = 0; c->flags && k < m[2]; k++)
    for (int j = 0; j < m[1]; j++)
      for (int i = 0; i < m[0]; i++, id++) {
        const unsigned char old = c->flags[i * s[0] + j * s[1] + k * s[2]];
        unsigned char       now = old & 64;

        for (int l = 0; l < STRATA_LEGS; l++) now = (unsigned char)(now | (old >> leg[l] & 1) << l);
        flags[id] = now;
      }
}
