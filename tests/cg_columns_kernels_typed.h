/* Included by cg_columns_kernels.c for each precision */

/* A symmetric positive definite operator with lines along z */
static void TYPED(operator)(TYPED(StrataLines) *lines, Arrays *a, int kind, const int n[3])
{
  const ptrdiff_t    columns = (ptrdiff_t)n[0] * n[1];
  TYPED(StrataCoef) *c = &lines->coef;
  const REAL         own = (REAL)(kind == STIFF ? 1e-4 : 1);
  REAL              *area, *alpha, *level;

  memset(lines, 0, sizeof(*lines));
  lines->axis = c->axis = 2;
  lines->rows = STRATA_ROWS_SHARED;
  c->form = kind == CONSTANT ? STRATA_CONSTANT : STRATA_TENSOR;
  c->scale = (REAL)1.25;
  c->shift = (REAL)(kind == CONSTANT ? 0.125 : 0);
  c->masked = 1;
  c->excess = (REAL)0.5;
  for (int d = 0; d < 3; d++) c->n[d] = n[d];
  for (int l = 0; l < STRATA_LEGS; l++) {
    c->outside[l] = kind == CONSTANT ? (int)Random(0, 1.99) : STRATA_OUTSIDE_NONE;
    c->leg[l] = l % 2 ? c->leg[l - 1] : (REAL)Random(-2, l < 4 ? -0.1 : -1); /* weakly coupled levels are not for single precision */
  }
  if (kind == CONSTANT) return;
  area = TYPED(Numbers)(a, columns, 0.5, 2);
  alpha = TYPED(Numbers)(a, 4 * columns, 0.1, 2);
  level = TYPED(Numbers)(a, 4 * n[2], -2, -0.1);
  for (ptrdiff_t q = 0; q < columns; q++) {
    if (q % n[0]) alpha[q] = alpha[columns + q - 1];
    if (q >= n[0]) alpha[2 * columns + q] = alpha[3 * columns + q - n[0]];
  }
  for (int k = 0; k < n[2]; k++) {
    level[k] *= -own;
    if (k) level[2 * n[2] + k] = level[n[2] + k - 1];
  }
  c->area = area;
  for (int m = 0; m < 4; m++) {
    c->alpha[m] = alpha + m * columns;
    c->level[m] = level + m * n[2];
  }
}

/* Vectors of the passes, and what the passes leave for each other */
typedef struct {
  REAL *r[2], *p[2], *x, *start, *F, *z, *work;
  double (*history)[STRATA_CG_SUMS];
} TYPED(Passes);

static TYPED(Passes) TYPED(passes)(const TYPED(StrataCGColumns) *q, Arrays *a)
{
  const ptrdiff_t vector = q->vectors * TYPED(StrataCGColumnsVector)(q), chunks = q->vectors * TYPED(StrataCGColumnsChunks)(q);
  TYPED(Passes)   v;

  for (int m = 0; m < 2; m++) {
    v.r[m] = TYPED(Numbers)(a, vector, 0, 0);
    v.p[m] = TYPED(Numbers)(a, vector, 0, 0);
  }
  v.x = TYPED(Numbers)(a, vector, 0, 0);
  v.start = TYPED(Numbers)(a, chunks, 0, 0);
  v.F = TYPED(Numbers)(a, chunks, 0, 0);
  v.z = TYPED(Numbers)(a, chunks, 0, 0);
  v.work = TYPED(Numbers)(a, vector, 0, 0);
  v.history = (double(*)[STRATA_CG_SUMS])Numbers_d(a, 8 * q->vectors * STRATA_CG_SUMS, 0, 0);
  return v;
}

/* How far apart are two vectors, of their size? */
static double TYPED(apart)(const REAL *x, const REAL *y, ptrdiff_t n)
{
  double most = 0, size = 0;

  for (ptrdiff_t i = 0; i < n; i++) {
    if (!(fabs((double)x[i] - y[i]) <= most)) most = fabs((double)x[i] - y[i]);
    if (fabs((double)y[i]) > size) size = fabs((double)y[i]);
  }
  return size > 0 ? most / size : most;
}

/* Two right-hand sides that make their steps together, and the numbers of both */
static void TYPED(pair)(TYPED(StrataCGColumns) *q, const StrataCG_d *numbers, StrataCG_d cg[2])
{
  q->vectors = 2; /* tiles as they are */
  q->room = 8;
  cg[0] = cg[1] = *numbers;
  cg[1].beta = 0.6;
  cg[1].alpha = -0.1;
  cg[1].epsilon = 1e-3; /* looks at the drift */
}

#if STRATA_HAVE_CUDA
/* The same passes on the device, for four steps of two right-hand sides; the second one stops before the third, all before the fourth */
static void TYPED(on_device)(const TYPED(StrataCGColumns) *one, const StrataCG_d *numbers, const REAL *const from[3], Arrays *a)
{
  const ptrdiff_t        vector = TYPED(StrataCGColumnsVector)(one), chunks = TYPED(StrataCGColumnsChunks)(one), cells = one->columns * one->n[2];
  const ptrdiff_t        work = 2 * TYPED(StrataCGColumnsWork)(one);
  TYPED(StrataCGColumns) q = *one, dq;
  StrataCG_d             cg[2], *dcg, got[2];
  TYPED(Passes)          h, d, back;
  REAL                  *dfrom[3], *to[3], *dto[3];
  double                *dwork;
  int                    err = 0;

  TYPED(pair)(&q, numbers, cg);
  h = TYPED(passes)(&q, a);
  back = TYPED(passes)(&q, a);
  dq = q;
  dq.level = (const REAL *)DeviceCopy(q.level, TYPED(StrataCGColumnsLevel)(&q) * sizeof(REAL));
  dq.column = (const REAL *)DeviceCopy(q.column, TYPED(StrataCGColumnsColumn)(&q) * sizeof(REAL));
  dcg = (StrataCG_d *)DeviceCopy(cg, sizeof(cg));
  for (int m = 0; m < 3; m++) {
    dfrom[m] = (REAL *)DeviceCopy(from[m], cells * sizeof(REAL));
    to[m] = TYPED(Numbers)(a, 2 * cells, 0, 0);
    dto[m] = (REAL *)DeviceCopy(to[m], cells * sizeof(REAL));
  }
  for (int m = 0; m < 2; m++) {
    d.r[m] = (REAL *)DeviceCopy(h.r[m], 2 * vector * sizeof(REAL));
    d.p[m] = (REAL *)DeviceCopy(h.p[m], 2 * vector * sizeof(REAL));
  }
  d.x = (REAL *)DeviceCopy(h.x, 2 * vector * sizeof(REAL));
  d.start = (REAL *)DeviceCopy(h.start, chunks * sizeof(REAL));
  d.F = (REAL *)DeviceCopy(h.F, 2 * chunks * sizeof(REAL));
  d.z = (REAL *)DeviceCopy(h.z, 2 * chunks * sizeof(REAL));
  d.history = (double(*)[STRATA_CG_SUMS])DeviceCopy(h.history, 16 * sizeof(*h.history));
  dwork = (double *)DeviceCopy(Numbers_d(a, work, 0, 0), work * sizeof(double));

  for (int v = 0; v < 2; v++) { /* r and p change places */
    const ptrdiff_t at = v * vector;

    TYPED(StrataCGColumnsEnterHost)(&q, from[v], from[1 - v], from[2], h.r[0] + at, h.p[0] + at, h.x + at, h.start, h.F + v * chunks);
    err +=
        TYPED(StrataCGColumnsEnterCUDA)(&dq, dfrom[v], dfrom[1 - v], dfrom[2], d.r[0] + at, d.p[0] + at, d.x + at, d.start, d.F + v * chunks, NULL);
  }
  TYPED(StrataCGColumnsDownHost)(&q, cg, h.r[0], h.start, h.F, h.z, h.work, NULL);
  err += TYPED(StrataCGColumnsDownCUDA)(&dq, dcg, d.r[0], d.start, d.F, d.z, dwork, NULL, NULL);
  DeviceRead(back.start, d.start, chunks * sizeof(REAL));
  DeviceRead(back.z, d.z, 2 * chunks * sizeof(REAL));
  DeviceRead(got, dcg, sizeof(got));
  ok(err == 0 && TYPED(Same)(back.start, h.start, chunks) && TYPED(Same)(back.z, h.z, 2 * chunks), "device: factors and z are those of the host");
  ok(Same_d(got[0].sum, cg[0].sum, STRATA_CG_SUMS) && Same_d(got[1].sum, cg[1].sum, STRATA_CG_SUMS), "and the sums");
  for (int s = 0; s < 4; s++) {
    const int old = s % 2, next = 1 - old, stopped = s == 3;

    if (s > 1) { /* nothing moves once it is done */
      cg[1].done = 1;
      cg[0].done = stopped;
      if (cudaMemcpy(dcg, cg, sizeof(cg), cudaMemcpyHostToDevice) != cudaSuccess) exit(1);
    }
    TYPED(StrataCGColumnsUpHost)(&q, cg, h.z, h.r[old], h.p[old], h.r[next], h.p[next], s % 2 ? h.x : NULL, h.F);
    TYPED(StrataCGColumnsDownHost)(&q, cg, h.r[next], h.start, h.F, h.z, h.work, h.history);
    err = TYPED(StrataCGColumnsUpCUDA)(&dq, dcg, d.z, d.r[old], d.p[old], d.r[next], d.p[next], s % 2 ? d.x : NULL, d.F, NULL);
    err += TYPED(StrataCGColumnsDownCUDA)(&dq, dcg, d.r[next], d.start, d.F, d.z, dwork, d.history, NULL);
    DeviceRead(back.r[0], d.r[next], 2 * vector * sizeof(REAL));
    DeviceRead(back.p[0], d.p[next], 2 * vector * sizeof(REAL));
    DeviceRead(back.x, d.x, 2 * vector * sizeof(REAL));
    DeviceRead(back.F, d.F, 2 * chunks * sizeof(REAL));
    DeviceRead(back.z, d.z, 2 * chunks * sizeof(REAL));
    DeviceRead(back.history, d.history, 16 * sizeof(*back.history));
    DeviceRead(got, dcg, sizeof(got));
    ok(err == 0 && TYPED(Same)(back.r[0], h.r[next], 2 * vector) && TYPED(Same)(back.p[0], h.p[next], 2 * vector) &&
           TYPED(Same)(back.x, h.x, 2 * vector),
       "device, step %d%s: r, p and x of the host", s, stopped ? ", which is not made" : "");
    ok(TYPED(Same)(back.F, h.F, 2 * chunks) && TYPED(Same)(back.z, h.z, 2 * chunks), "and what the passes leave for each other");
    ok(Same_d(back.history[0], h.history[0], 16 * STRATA_CG_SUMS), "and the history of both");
    for (int v = 0; v < 2; v++)
      ok(got[v].its == cg[v].its && got[v].done == cg[v].done && Same_d(&got[v].beta, &cg[v].beta, 5) && Same_d(&got[v].epsilon, &cg[v].epsilon, 3),
         "and the numbers of the next step of right-hand side %d", v);
  }
  for (int v = 0; v < 2; v++) {
    TYPED(StrataCGColumnsLeaveHost)(&q, (REAL)0.4, h.r[1] + v * vector, h.p[1] + v * vector, h.x + v * vector, to[0], to[1], to[2]);
    err = TYPED(StrataCGColumnsLeaveCUDA)(&dq, (REAL)0.4, d.r[1] + v * vector, d.p[1] + v * vector, d.x + v * vector, dto[0], dto[1], dto[2], NULL);
    for (int m = 0; m < 3; m++) {
      DeviceRead(to[m] + cells, dto[m], cells * sizeof(REAL));
      ok(err == 0 && TYPED(Same)(to[m], to[m] + cells, cells), "device: vector %d of right-hand side %d comes out as on the host", m, v);
    }
  }
  DeviceFreeAll();
}
#endif

/* Right-hand sides together have the bits of each by itself */
static void TYPED(together)(const TYPED(StrataCGColumns) *one, const StrataCG_d *numbers, const REAL *const from[3], Arrays *a)
{
  const ptrdiff_t        vector = TYPED(StrataCGColumnsVector)(one), chunks = TYPED(StrataCGColumnsChunks)(one);
  TYPED(StrataCGColumns) q = *one;
  StrataCG_d             cg[2], alone[2];
  TYPED(Passes)          v, w[2];

  TYPED(pair)(&q, numbers, cg);
  TYPED(pair)(&q, numbers, alone);
  v = TYPED(passes)(&q, a);
  for (int m = 0; m < 2; m++) {
    const ptrdiff_t at = m * vector;

    w[m] = TYPED(passes)(one, a);
    TYPED(StrataCGColumnsEnterHost)(one, from[m], from[1 - m], from[2], v.r[0] + at, v.p[0] + at, v.x + at, v.start, v.F + m * chunks);
    TYPED(StrataCGColumnsEnterHost)(one, from[m], from[1 - m], from[2], w[m].r[0], w[m].p[0], w[m].x, w[m].start, w[m].F);
    TYPED(StrataCGColumnsDownHost)(one, &alone[m], w[m].r[0], w[m].start, w[m].F, w[m].z, w[m].work, NULL);
  }
  TYPED(StrataCGColumnsDownHost)(&q, cg, v.r[0], v.start, v.F, v.z, v.work, NULL);
  for (int s = 0; s < 2; s++) {
    TYPED(StrataCGColumnsUpHost)(&q, cg, v.z, v.r[s], v.p[s], v.r[1 - s], v.p[1 - s], s ? v.x : NULL, v.F);
    TYPED(StrataCGColumnsDownHost)(&q, cg, v.r[1 - s], v.start, v.F, v.z, v.work, v.history);
    for (int m = 0; m < 2; m++) {
      TYPED(StrataCGColumnsUpHost)(one, &alone[m], w[m].z, w[m].r[s], w[m].p[s], w[m].r[1 - s], w[m].p[1 - s], s ? w[m].x : NULL, w[m].F);
      TYPED(StrataCGColumnsDownHost)(one, &alone[m], w[m].r[1 - s], w[m].start, w[m].F, w[m].z, w[m].work, w[m].history);
    }
  }
  for (int m = 0; m < 2; m++)
    ok(TYPED(Same)(v.r[0] + m * vector, w[m].r[0], vector) && TYPED(Same)(v.p[0] + m * vector, w[m].p[0], vector) &&
           TYPED(Same)(v.x + m * vector, w[m].x, vector) && Same_d(v.history[8 * m], w[m].history[0], 2 * STRATA_CG_SUMS) &&
           cg[m].its == alone[m].its && cg[m].alpha == alone[m].alpha,
       "right-hand side %d of two: the steps of each by itself", m);
}

/* Two steps, against their parts */
static void TYPED(steps)(const char *precision, double tolerance, int kind, const int n[3], int rows)
{
  static const char *const kinds[] = {"tensor", "constant", "stiff"};
  const ptrdiff_t          s[3] = {1, n[0], (ptrdiff_t)n[0] * n[1]}, cells = s[2] * n[2];
  const StrataBox          box = {{0, 0, 0}, {n[0], n[1], n[2]}};
  Arrays                   a = {.count = 0}, more = {.count = 0};
  StrataGhost              ghost[STRATA_LEGS] = {{NULL, {0}, 0}};
  TYPED(StrataLines)       lines;
  TYPED(StrataCGColumns)   q = TYPED(StrataCGColumnsPlan)(n);
  StrataCG_d               cg = {0};
  TYPED(Passes)            v;
  REAL                    *level, *column, *e[3], *given[3], *z, *w, *out[3];
  void                    *work;

  q.rows = rows;
  TYPED(operator)(&lines, &a, kind, n);
  level = TYPED(Numbers)(&a, TYPED(StrataCGColumnsLevel)(&q), 0, 0);
  column = TYPED(Numbers)(&a, TYPED(StrataCGColumnsColumn)(&q), 0, 0);
  ok(TYPED(StrataCGColumnsSetUpHost)(&lines, &q, level, column), "%s, %s, %d x %d x %d, tiles of %d rows: set-up", precision, kinds[kind], n[0], n[1],
     n[2], rows);
  q.level = level;
  q.column = column;
  v = TYPED(passes)(&q, &a);
  for (int m = 0; m < 3; m++) { /* r, p, x */
    given[m] = TYPED(Numbers)(&more, cells, -1, 1);
    out[m] = TYPED(Numbers)(&more, cells, 0, 0);
    e[m] = (REAL *)NewArray(&more, cells * sizeof(REAL));
    memcpy(e[m], given[m], cells * sizeof(REAL));
  }
  z = TYPED(Numbers)(&more, cells, 0, 0);
  w = TYPED(Numbers)(&more, cells, 0, 0);
  work = NewArray(&more, TYPED(StrataThomasWorkHost)(&lines));
  cg.beta = 0.3f;
  cg.alpha = 0.2f;
  cg.owed = -0.7f;
  cg.gamma = cg.curvature = 1;
  if (kind == STIFF) tolerance *= 100;
  TYPED(StrataCGColumnsEnterHost)(&q, given[0], given[1], given[2], v.r[0], v.p[0], v.x, v.start, v.F);
  TYPED(StrataCGColumnsLeaveHost)(&q, 0, v.r[0], v.p[0], v.x, out[0], out[1], out[2]);
  for (int m = 0; m < 3; m++) is_bits(out[m], given[m], cells * sizeof(REAL), "vector %d in and out", m);
  TYPED(StrataCGColumnsDownHost)(&q, &cg, v.r[0], v.start, v.F, v.z, v.work, NULL);
  for (int step = 0; step < 3; step++) {
    const int     old = step % 2, next = 1 - old;
    const double *sum = step ? v.history[0] : cg.sum;
    long double   exact[STRATA_CG_SUMS] = {0};

    /* the parts: z = M r and the sums */
    TYPED(StrataThomasHost)(&lines, 0, 1, e[0], 0, NULL, z, 0, work);
    for (int l = 0; l < STRATA_LEGS; l++) {
      ghost[l].p = z + (l % 2 ? 0 : (n[l / 2] - 1) * s[l / 2]);
      for (int d = 0; d < 3; d++) ghost[l].s[d] = s[d];
    }
    TYPED(StrataMultHost)(&lines.coef, ghost, 1, &box, 1, z, 0, NULL, w, 0);
    for (ptrdiff_t i = 0; i < cells; i++) {
      exact[STRATA_CG_GAMMA] += (long double)e[0][i] * z[i];
      exact[STRATA_CG_DELTA] += (long double)z[i] * w[i];
      exact[STRATA_CG_RR] += (long double)e[0][i] * e[0][i];
      exact[STRATA_CG_ZZ] += (long double)z[i] * z[i];
    }
    TYPED(StrataCGColumnsLeaveHost)(&q, 0, v.work, NULL, NULL, out[0], NULL, NULL);
    ok(TYPED(apart)(out[0], z, cells) <= tolerance, "step %d: z is that of the column solve, off by %g", step, TYPED(apart)(out[0], z, cells));
    for (int m = 0; m < STRATA_CG_SUMS; m++) is_real(sum[m], (double)exact[m], 10 * tolerance, "sum %d", m);
    if (step == 2) break;
    /* p = z + beta p, r = r - alpha A p, x = x + alpha p */
    for (ptrdiff_t i = 0; i < cells; i++) {
      if (step) e[2][i] = FMA((REAL)cg.owed, e[1][i], e[2][i]);
      e[1][i] = FMA((REAL)cg.beta, e[1][i], z[i]);
      if (step) e[2][i] = FMA((REAL)cg.alpha, e[1][i], e[2][i]);
    }
    for (int l = 0; l < STRATA_LEGS; l++) ghost[l].p = (const REAL *)ghost[l].p - z + e[1];
    TYPED(StrataMultHost)(&lines.coef, ghost, 1, &box, 1, e[1], 0, NULL, w, 0);
    for (ptrdiff_t i = 0; i < cells; i++) e[0][i] = FMA((REAL)-cg.alpha, w[i], e[0][i]);
    TYPED(StrataCGColumnsUpHost)(&q, &cg, v.z, v.r[old], v.p[old], v.r[next], v.p[next], step ? v.x : NULL, v.F);
    TYPED(StrataCGColumnsLeaveHost)(&q, 0, v.r[next], v.p[next], v.x, out[0], out[1], out[2]);
    for (int m = 0; m < 3; m++)
      ok(TYPED(apart)(out[m], e[m], cells) <= tolerance, "step %d: vector %d, off by %g", step, m, TYPED(apart)(out[m], e[m], cells));
    cg.its = 0; /* the numbers stay as they are */
    {
      StrataCG_d judged = cg;

      TYPED(StrataCGColumnsDownHost)(&q, &judged, v.r[next], v.start, v.F, v.z, v.work, v.history);
      ok(judged.its == 1 && (judged.done || judged.owed == cg.alpha), "the end of the step");
    }
  }
  TYPED(together)(&q, &cg, (const REAL *const *)given, &more);
#if STRATA_HAVE_CUDA
  if (TapHasDevice()) {
    Arrays    space = {.count = 0};
    int       can;
    const int err = StrataCGColumnsCUDA(&can);

    cg.alpha = 0.2f;
    ok(err == 0, "device: asked");
    if (can)
      TYPED(on_device)(&q, &cg, (const REAL *const *)given, &space);
    else
      skip("a GPU of compute capability below 9.0");
    FreeArrays(&space);
  } else
#endif
    skip("no GPU");
  FreeArrays(&more);
  FreeArrays(&a);
}

static void TYPED(columns)(const char *precision, double tolerance)
{
  for (int kind = 0; kind < KINDS; kind++)
    for (size_t g = 0; g < sizeof(grids) / sizeof(*grids); g++)
      for (int rows = STRATA_CG_PART; rows <= STRATA_CG_ROWS; rows += STRATA_CG_ROWS - STRATA_CG_PART)
        TYPED(steps)(precision, tolerance, kind, grids[g], rows);
}

/* Operators that this factorization is not for */
static void TYPED(refused)(const char *precision)
{
  static const char *const why[] = {"a negative excess", "a positive leg", "levels that are not coupled", "singular", "not a number", "too stiff"};
  const int                n[3] = {3, 2, 12};

  for (int c = 0; c < 6; c++) {
    Arrays                 a = {.count = 0};
    TYPED(StrataLines)     lines;
    TYPED(StrataCGColumns) q = TYPED(StrataCGColumnsPlan)(n);
    REAL                  *level, *column, *l;

    TYPED(operator)(&lines, &a, TENSOR, n);
    l = (REAL *)lines.coef.level[0];
    level = TYPED(Numbers)(&a, TYPED(StrataCGColumnsLevel)(&q), 0, 0);
    column = TYPED(Numbers)(&a, TYPED(StrataCGColumnsColumn)(&q), 0, 0);
    if (c == 0) l[5] = -l[5];
    if (c == 1) l[3 * n[2] + 5] = -l[3 * n[2] + 5];
    if (c == 2) l[n[2] + 5] = l[2 * n[2] + 6] = 0;
    for (int k = 0; k < n[2]; k++) {
      if (c == 3) l[k] = l[3 * n[2] + k] = 0;
      if (c == 5 && k < 11) l[n[2] + k] = l[2 * n[2] + k + 1] = (REAL)-1e-30;
    }
    if (c == 4) ((REAL *)lines.coef.area)[4] = NAN;
    ok(!TYPED(StrataCGColumnsSetUpHost)(&lines, &q, level, column), "%s: refuses %s", precision, why[c]);
    FreeArrays(&a);
  }
}
