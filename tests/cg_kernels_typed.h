/* Included by cg_kernels.c for each precision */

typedef struct {
  REAL *z, *s, *p, *w, *x, *r, *work;
} TYPED(Vectors);

static TYPED(Vectors) TYPED(draw)(Arrays *a, ptrdiff_t n)
{
  TYPED(Vectors) v;

  v.z = TYPED(Numbers)(a, n, -1, 1);
  v.s = TYPED(Numbers)(a, n, -1, 1);
  v.p = TYPED(Numbers)(a, n, -1, 1);
  v.w = TYPED(Numbers)(a, n, -1, 1);
  v.x = TYPED(Numbers)(a, n, -1, 1);
  v.r = TYPED(Numbers)(a, n, -1, 1);
  v.work = TYPED(Numbers)(a, STRATA_CG_SUMS * StrataReduceWork(n), 0, 0);
  return v;
}

/* Updates and sums of vectors */
static void TYPED(vectors)(const char *precision)
{
  for (size_t t = 0; t < sizeof(lengths) / sizeof(*lengths); t++)
    for (int variant = 0; variant < 4; variant++) {
      const ptrdiff_t      n = lengths[t], run = StrataReduceWork(n);
      const int            newp = variant & 1, neww = variant >> 1;
      Arrays               a = {.count = 0};
      const TYPED(Vectors) v = TYPED(draw)(&a, n);
      TYPED(StrataCG)      cg = {0};
      REAL *p = (REAL *)NewArray(&a, n * sizeof(REAL)), *w = (REAL *)NewArray(&a, n * sizeof(REAL)), *x = (REAL *)NewArray(&a, n * sizeof(REAL)),
           *r = (REAL *)NewArray(&a, n * sizeof(REAL)), *work = (REAL *)NewArray(&a, run * sizeof(REAL));
      REAL dot[3];

      cg.beta = (REAL)0.7;
      cg.alpha = (REAL)-1.3;
      for (ptrdiff_t i = 0; i < n; i++) { /* the parts */
        p[i] = newp ? FMA(cg.beta, v.p[i], v.z[i]) : v.p[i];
        w[i] = neww ? FMA(cg.beta, v.w[i], v.s[i]) : v.s[i];
        x[i] = FMA(cg.alpha, p[i], v.x[i]);
        r[i] = FMA(-cg.alpha, w[i], v.r[i]);
      }
#if STRATA_HAVE_CUDA
      const int        device = TapHasDevice();
      REAL            *dz = NULL, *ds = NULL, *dp = NULL, *dw = NULL, *dx = NULL, *dr = NULL, *dwork = NULL;
      TYPED(StrataCG) *dcg = NULL;

      if (device) {
        dz = (REAL *)DeviceCopy(v.z, n * sizeof(REAL));
        ds = (REAL *)DeviceCopy(v.s, n * sizeof(REAL));
        dp = (REAL *)DeviceCopy(v.p, n * sizeof(REAL));
        dw = (REAL *)DeviceCopy(v.w, n * sizeof(REAL));
        dx = (REAL *)DeviceCopy(v.x, n * sizeof(REAL));
        dr = (REAL *)DeviceCopy(v.r, n * sizeof(REAL));
        dwork = (REAL *)DeviceCopy(v.work, STRATA_CG_SUMS * run * sizeof(REAL));
        dcg = (TYPED(StrataCG) *)DeviceCopy(&cg, sizeof(cg));
      }
#endif
      TYPED(StrataCGUpdateHost)(n, &cg, newp ? v.z : NULL, v.s, v.p, neww ? v.w : NULL, v.x, v.r, v.work);
      ok(TYPED(Same)(v.p, p, n) && TYPED(Same)(v.x, x, n) && TYPED(Same)(v.r, r, n) && (!neww || TYPED(Same)(v.w, w, n)),
         "%s, length %td, %s, %s: the parts, bit for bit", precision, n, newp ? "new p" : "p as it is", neww ? "new w" : "w given");
      TYPED(StrataReduceHost)(STRATA_REDUCE_DOT, n, v.r, v.r, work);
      is_bits(&v.work[(STRATA_CG_RR + 1) * run - 1], &work[run - 1], sizeof(REAL), "%s, length %td: (r,r) is the reduction", precision, n);
      TYPED(StrataCGSumsHost)(n, v.r, v.z, newp ? v.s : NULL, v.work);
      for (int q = 0; q < 3; q++) {
        TYPED(StrataReduceHost)(STRATA_REDUCE_DOT, n, q ? v.z : v.r, q == 1 ? v.s : v.z, work);
        dot[q] = work[run - 1];
      }
      ok(v.work[(STRATA_CG_GAMMA + 1) * run - 1] == dot[0] && (!newp || v.work[(STRATA_CG_DELTA + 1) * run - 1] == dot[1]) &&
             v.work[(STRATA_CG_ZZ + 1) * run - 1] == dot[2],
         "%s, length %td: the sums after z are reductions", precision, n);
      TYPED(StrataCGDirectionHost)(n, &cg, v.z, v.p);
      for (ptrdiff_t i = 0; i < n; i++) p[i] = FMA(cg.beta, p[i], v.z[i]);
      ok(TYPED(Same)(v.p, p, n), "%s, length %td: the direction", precision, n);
#if STRATA_HAVE_CUDA
      if (device) {
        REAL(*history)[STRATA_CG_SUMS];
        REAL            sums[2][STRATA_CG_SUMS] = {{0}};
        TYPED(StrataCG) expected = cg, got;
        int             err;

        history = (REAL(*)[STRATA_CG_SUMS])DeviceCopy(sums, sizeof(sums));
        err = TYPED(StrataCGUpdateCUDA)(n, dcg, newp ? dz : NULL, ds, dp, neww ? dw : NULL, dx, dr, dwork, NULL);
        err += TYPED(StrataCGSumsCUDA)(n, dcg, dr, dz, ds, dwork, NULL);
        err += TYPED(StrataCGDirectionCUDA)(n, dcg, dz, dp, NULL);
        err += TYPED(StrataCGJudgeCUDA)(n, dcg, dwork, history, NULL);
        ok(err == 0 && cudaDeviceSynchronize() == cudaSuccess, "%s, length %td: kernels run", precision, n);
        DeviceRead(p, dp, n * sizeof(REAL));
        DeviceRead(w, dw, n * sizeof(REAL));
        DeviceRead(x, dx, n * sizeof(REAL));
        DeviceRead(r, dr, n * sizeof(REAL));
        ok(TYPED(Same)(v.p, p, n) && TYPED(Same)(v.x, x, n) && TYPED(Same)(v.r, r, n) && (!neww || TYPED(Same)(v.w, w, n)),
           "%s, length %td: vectors on the device are those of the host", precision, n);
        DeviceRead(&got, dcg, sizeof(got));
        DeviceRead(sums, history, sizeof(sums));
        expected.sum[STRATA_CG_GAMMA] = dot[0];
        expected.sum[STRATA_CG_DELTA] = dot[1];
        expected.sum[STRATA_CG_ZZ] = dot[2];
        expected.sum[STRATA_CG_RR] = v.work[(STRATA_CG_RR + 1) * run - 1];
        CELL(strata_cg_judge)(&expected, (const REAL[STRATA_CG_SUMS]){expected.sum[0], expected.sum[1], expected.sum[2], expected.sum[3]});
        ok(TYPED(Same)(sums[0], expected.sum, STRATA_CG_SUMS), "%s, length %td: sums on the device are those of the host", precision, n);
        ok(got.its == 1 && got.done == expected.done && TYPED(Same)(&got.beta, &expected.beta, 4), "%s, length %td: and so is what follows",
           precision, n);
        /* once it is done, nothing moves */
        got.done = 1;
        if (cudaMemcpy(dcg, &got, sizeof(got), cudaMemcpyHostToDevice) != cudaSuccess) exit(1);
        err = TYPED(StrataCGUpdateCUDA)(n, dcg, dz, ds, dp, dw, dx, dr, dwork, NULL) + TYPED(StrataCGJudgeCUDA)(n, dcg, dwork, history, NULL);
        DeviceRead(x, dx, n * sizeof(REAL));
        DeviceRead(&got, dcg, sizeof(got));
        ok(err == 0 && TYPED(Same)(v.x, x, n) && got.its == 1, "%s, length %td: x stays as it is at the end", precision, n);
        DeviceFreeAll();
      } else
#endif
        skip("no GPU");
      FreeArrays(&a);
    }
}

/* A symmetric positive definite operator */
static void TYPED(make)(TYPED(StrataCoef) *c, Arrays *a, int kind, const int n[3])
{
  const ptrdiff_t s[3] = {1, n[0], (ptrdiff_t)n[0] * n[1]}, cells = s[2] * n[2], columns = (ptrdiff_t)n[0] * n[2];

  memset(c, 0, sizeof(*c));
  c->form = kind == TENSOR ? STRATA_TENSOR : kind == FACES ? STRATA_FACES : STRATA_CONSTANT;
  c->axis = 1;
  c->scale = (REAL)1.25;
  c->shift = (REAL)0.125;
  c->masked = 1;
  c->excess = (REAL)0.5;
  for (int d = 0; d < 3; d++) c->n[d] = n[d];
  for (int l = 0; l < STRATA_LEGS; l++) {
    c->outside[l] = kind == ROUND && l / 2 != 1 ? STRATA_OUTSIDE_GHOST : kind == FACES ? STRATA_OUTSIDE_NONE : (int)Random(0, 1.99);
    c->leg[l] = l % 2 ? c->leg[l - 1] : (REAL)Random(-2, -0.1);
  }
  if (kind == TENSOR) {
    REAL *area = TYPED(Numbers)(a, columns, 0.5, 2), *alpha = TYPED(Numbers)(a, 4 * columns, 0.1, 2), *level = TYPED(Numbers)(a, 4 * n[1], -2, -0.1);

    for (ptrdiff_t q = 0; q < columns; q++) {
      if (q % n[0]) alpha[q] = alpha[columns + q - 1];
      if (q >= n[0]) alpha[2 * columns + q] = alpha[3 * columns + q - n[0]];
    }
    for (int k = 0; k < n[1]; k++) {
      level[k] = -level[k];
      if (k) level[2 * n[1] + k] = level[n[1] + k - 1];
    }
    c->area = area;
    for (int m = 0; m < 4; m++) {
      c->alpha[m] = alpha + m * columns;
      c->level[m] = level + m * n[1];
    }
  }
  if (kind == FACES) {
    c->cell = TYPED(Numbers)(a, cells, 0.1, 1);
    for (int d = 0; d < 3; d++) c->legs[2 * d] = TYPED(Numbers)(a, cells, -2, -0.1);
  }
}

static double TYPED(off)(const REAL *x, const REAL *y, ptrdiff_t n)
{
  double most = 0, size = 0;

  for (ptrdiff_t i = 0; i < n; i++) {
    if (!(fabs((double)x[i] - y[i]) <= most)) most = fabs((double)x[i] - y[i]);
    if (fabs((double)y[i]) > size) size = fabs((double)y[i]);
  }
  return size > 0 ? most / size : most;
}

#if STRATA_HAVE_CUDA
/* The lean kernels of the device against the pass of the host; there lines run along z. old: z, p, x, r before; v: after */
static void TYPED(lean_device)(const TYPED(StrataCGProblem) *q, REAL beta, REAL alpha, REAL *const old[4], const TYPED(Vectors) *v, ptrdiff_t layer,
                               const double sum[], double tolerance)
{
  const StrataCGTurn  turn = {{0, 2, 1}};
  const int          *n = q->lines.coef.n, m[3] = {n[0], n[2], n[1]};
  const ptrdiff_t     cells = layer * n[2], blocks = TYPED(StrataCGLeanBlocks)(m), run = StrataReduceWork(blocks * STRATA_CHUNK);
  Arrays              a = {.count = 0};
  REAL               *work = TYPED(Numbers)(&a, STRATA_CG_SUMS * run, 0, 0), *back = TYPED(Numbers)(&a, cells, 0, 0), *d[5], *dwork, *lean;
  REAL                history[1][STRATA_CG_SUMS] = {{0}}, (*dhistory)[STRATA_CG_SUMS];
  TYPED(StrataCG)     cg = {0}, *dcg;
  TYPED(StrataCGLean) box;
  int                 err;

  cg.beta = beta;
  cg.alpha = alpha;
  cg.gamma = cg.curvature = 1;
  dcg = (TYPED(StrataCG) *)DeviceCopy(&cg, sizeof(cg));
  dwork = (REAL *)DeviceCopy(work, STRATA_CG_SUMS * run * sizeof(REAL));
  dhistory = (REAL(*)[STRATA_CG_SUMS])DeviceCopy(history, sizeof(history));
  lean = (REAL *)DeviceCopy(q->lean, TYPED(StrataCGLeanSize)(q) * sizeof(REAL));
  for (int f = 0; f < 5; f++) { /* the last one is for the new p */
    TYPED(StrataCGTurnHost)(&turn, n, old[f % 4] + layer, back);
    d[f] = (REAL *)DeviceCopy(back, cells * sizeof(REAL));
  }
  for (int axis = 0; axis < 3; axis++) box.n[axis] = m[axis];
  box.shift = q->lines.coef.shift;
  box.level = lean;
  box.column = lean + LEAN_LEVEL * n[1];
  err = TYPED(StrataCGLeanStepCUDA)(&box, dcg, d[0], d[1], d[4], d[2], d[3], dwork, NULL);
  for (int f = 1; f < 4; f++) {
    const REAL *after = f == 1 ? v->p : f == 2 ? v->x : v->r;

    TYPED(StrataCGTurnHost)(&turn, n, after + layer, work = (REAL *)NewArray(&a, cells * sizeof(REAL)));
    DeviceRead(back, f == 1 ? d[4] : d[f], cells * sizeof(REAL));
    ok(err == 0 && TYPED(Same)(back, work, cells), "%s on the device as on the host", f == 1 ? "p" : f == 2 ? "x" : "r");
  }
  TYPED(StrataCGTurnHost)(&turn, n, v->z + layer, back);
  d[0] = (REAL *)DeviceCopy(back, cells * sizeof(REAL));
  err = TYPED(StrataCGLeanSumsCUDA)(&box, dcg, d[3], d[0], dwork, NULL) + TYPED(StrataCGJudgeCUDA)(blocks * STRATA_CHUNK, dcg, dwork, dhistory, NULL);
  DeviceRead(history, dhistory, sizeof(history));
  for (int f = 0; f < STRATA_CG_SUMS; f++) is_real((double)history[0][f], (double)sum[f], 10 * tolerance, "sum %d on the device", f);
  ok(err == 0, "kernels run");
  DeviceFreeAll();
  FreeArrays(&a);
}
#endif

/* One iteration in one pass, against its parts */
static void TYPED(pass)(const char *precision, double tolerance, int kind, int pc, const int n[3])
{
  static const char *const kinds[] = {"tensor", "constant", "periodic", "faces"}, *const pcs[] = {"none", "diagonal", "lines"};
  const ptrdiff_t        s[3] = {1, n[0], (ptrdiff_t)n[0] * n[1]}, layer = s[2], cells = layer * n[2];
  const StrataBox        box = {{0, 0, 0}, {n[0], n[1], n[2]}};
  Arrays                 a = {.count = 0};
  StrataGhost            ghost[STRATA_LEGS] = {{NULL, {0}, 0}};
  TYPED(StrataCGProblem) q = {0};
  TYPED(Vectors)         v, e;
  double                 sum[STRATA_CG_SUMS];
  REAL                   beta = (REAL)0.3, alpha = (REAL)0.2, *inverse, *lower, *level, *lean, *diagonal, *old[4];
  long double            exact[STRATA_CG_SUMS] = {0};
  const ptrdiff_t        padded = cells + 2 * layer;
  size_t                 size;

  q.pc = pc;
  q.lines.axis = 1;
  TYPED(make)(&q.lines.coef, &a, kind, n);
  q.lines.rows = kind == FACES ? STRATA_ROWS_CELLS : STRATA_ROWS_SHARED;
  inverse = TYPED(Numbers)(&a, cells, 0, 0);
  lower = TYPED(Numbers)(&a, cells, 0, 0);
  level = TYPED(Numbers)(&a, 4 * n[1], 0, 0);
  diagonal = TYPED(Numbers)(&a, cells, 0, 0);
  ok(TYPED(StrataCGPassFactorHost)(&q, inverse, lower, NULL, level), "%s, %s, %s, %d x %d x %d: set-up", precision, kinds[kind], pcs[pc], n[0], n[1],
     n[2]);
  q.inverse = inverse;
  q.lower = lower;
  q.level = level;
  size = TYPED(StrataCGLeanSize)(&q);
  ok(!size == (pc != STRATA_CG_LINES || kind == ROUND || kind == FACES), "a lean operator where there should be one");
  lean = TYPED(Numbers)(&a, (ptrdiff_t)size, 0, 0);
  if (size) {
    TYPED(StrataCGLeanHost)(&q, lean);
    q.lean = lean;
  }
  v = TYPED(draw)(&a, padded);
  e = TYPED(draw)(&a, padded);
  for (int m = 0; m < 4; m++) old[m] = TYPED(Numbers)(&a, padded, 0, 0);
  for (ptrdiff_t i = 0; i < padded; i++) { /* zeros around the vectors */
    if (i < layer || i >= layer + cells) v.z[i] = v.p[i] = v.x[i] = v.r[i] = 0;
    e.z[i] = v.z[i];
    e.p[i] = v.p[i];
    e.x[i] = v.x[i];
    e.r[i] = v.r[i];
    old[0][i] = v.z[i];
    old[1][i] = v.p[i];
    old[2][i] = v.x[i];
    old[3][i] = v.r[i];
  }
  /* the parts */
  for (ptrdiff_t i = layer; i < layer + cells; i++) e.p[i] = FMA(beta, e.p[i], e.z[i]);
  for (int l = 0; l < STRATA_LEGS; l++) {
    ghost[l].p = e.p + layer + (l % 2 ? 0 : (n[l / 2] - 1) * s[l / 2]);
    for (int d = 0; d < 3; d++) ghost[l].s[d] = s[d];
  }
  TYPED(StrataMultHost)(&q.lines.coef, ghost, 1, &box, 1, e.p + layer, 0, NULL, e.w + layer, 0);
  for (ptrdiff_t i = layer; i < layer + cells; i++) {
    e.x[i] = FMA(alpha, e.p[i], e.x[i]);
    e.r[i] = FMA(-alpha, e.w[i], e.r[i]);
  }
  if (pc == STRATA_CG_LINES) {
    void *work = NewArray(&a, TYPED(StrataThomasWorkHost)(&q.lines));

    TYPED(StrataThomasHost)(&q.lines, 0, 1, e.r + layer, 0, NULL, e.z + layer, 0, work);
  } else {
    TYPED(StrataRowsHost)(&q.lines.coef, STRATA_ROW_DIAGONAL, 0, diagonal);
    for (ptrdiff_t i = 0; i < cells; i++) e.z[layer + i] = pc == STRATA_CG_DIAGONAL ? e.r[layer + i] / diagonal[i] : e.r[layer + i];
  }
  for (int l = 0; l < STRATA_LEGS; l++) ghost[l].p = (const REAL *)ghost[l].p - e.p + e.z;
  TYPED(StrataMultHost)(&q.lines.coef, ghost, 1, &box, 1, e.z + layer, 0, NULL, e.s + layer, 0);
  for (ptrdiff_t i = layer; i < layer + cells; i++) {
    exact[STRATA_CG_GAMMA] += (long double)e.r[i] * e.z[i];
    exact[STRATA_CG_DELTA] += (long double)e.z[i] * e.s[i];
    exact[STRATA_CG_RR] += (long double)e.r[i] * e.r[i];
    exact[STRATA_CG_ZZ] += (long double)e.z[i] * e.z[i];
  }
  TYPED(StrataCGPassHost)(&q, beta, alpha, 0, 0, v.z + layer, v.p + layer, v.x + layer, v.r + layer, sum, TYPED(Numbers)(&a, layer, 0, 0));
  ok(TYPED(off)(v.p + layer, e.p + layer, cells) == 0 && TYPED(off)(v.x + layer, e.x + layer, cells) == 0, "p and x, bit for bit");
  ok(TYPED(off)(v.r + layer, e.r + layer, cells) <= tolerance, "r, off by %g", TYPED(off)(v.r + layer, e.r + layer, cells));
  ok(TYPED(off)(v.z + layer, e.z + layer, cells) <= tolerance, "z, off by %g", TYPED(off)(v.z + layer, e.z + layer, cells));
  for (int m = 0; m < STRATA_CG_SUMS; m++) is_real((double)sum[m], (double)exact[m], 10 * tolerance, "sum %d", m);
  ok(v.z[layer - 1] == 0 && v.z[layer + cells] == 0 && v.r[layer - 1] == 0 && v.r[layer + cells] == 0, "nothing is written around the vectors");
#if STRATA_HAVE_CUDA
  if (q.lean && TapHasDevice()) TYPED(lean_device)(&q, beta, alpha, old, &v, layer, sum, tolerance);
#endif
  if (q.lean && !TapHasDevice()) skip("no GPU");
  if (q.lean) { /* once more, with x later */
    double again[STRATA_CG_SUMS];

    TYPED(StrataCGPassHost)(&q, beta, alpha, 0, 1, old[0] + layer, old[1] + layer, old[2] + layer, old[3] + layer, again, NULL);
    is_bits(old[0], v.z, padded * sizeof(REAL), "z does not depend on when x is updated");
    TYPED(StrataCGPassPayHost)(&q, alpha, old[1] + layer, old[2] + layer);
    is_bits(old[2], v.x, padded * sizeof(REAL), "nor does x, in the end");
    TYPED(StrataCGPassHost)(&q, beta, alpha, 0, 1, old[0] + layer, old[1] + layer, old[2] + layer, old[3] + layer, again, NULL);
    TYPED(StrataCGPassHost)(&q, alpha, beta, alpha, 0, old[0] + layer, old[1] + layer, old[2] + layer, old[3] + layer, again, NULL);
    TYPED(StrataCGPassHost)(&q, beta, alpha, 0, 0, v.z + layer, v.p + layer, v.x + layer, v.r + layer, again, NULL);
    TYPED(StrataCGPassHost)(&q, alpha, beta, 0, 0, v.z + layer, v.p + layer, v.x + layer, v.r + layer, again, NULL);
    is_bits(old[2], v.x, padded * sizeof(REAL), "two steps of x at once");
  }
  if (!q.lean && pc == STRATA_CG_LINES) {
    for (ptrdiff_t i = 0; i < cells; i++) e.s[i] = v.z[layer + i];
    TYPED(StrataThomasHost)(&q.lines, 0, 1, v.r + layer, 0, NULL, e.z + layer, 0, NewArray(&a, TYPED(StrataThomasWorkHost)(&q.lines)));
    is_bits(e.s, e.z + layer, cells * sizeof(REAL), "z of lines is that of the column solve, bit for bit");
  }
  FreeArrays(&a);
}

static void TYPED(turns)(const char *precision)
{
  for (int t = 0; t < 3; t++)
    for (size_t g = 0; g < sizeof(grids) / sizeof(*grids); g++) {
      const StrataCGTurn turn = {{t == 1 ? 0 : t == 0 ? 1 : 0, t, t == 2 ? 1 : 2}};
      const int         *n = grids[g];
      const ptrdiff_t    cells = (ptrdiff_t)n[0] * n[1] * n[2];
      Arrays             a = {.count = 0};
      REAL              *x = TYPED(Numbers)(&a, cells, -1, 1), *y = TYPED(Numbers)(&a, cells, 0, 0), *back = TYPED(Numbers)(&a, cells, 0, 0);
      int                good = 1, m[3], at[3];

      for (int d = 0; d < 3; d++) m[d] = n[turn.from[d]];
      TYPED(StrataCGTurnHost)(&turn, n, x, y);
      TYPED(StrataCGTurnBackHost)(&turn, n, y, back);
      for (at[2] = 0; at[2] < m[2]; at[2]++)
        for (at[1] = 0; at[1] < m[1]; at[1]++)
          for (at[0] = 0; at[0] < m[0]; at[0]++) {
            int old[3];

            for (int d = 0; d < 3; d++) old[turn.from[d]] = at[d];
            good = good && y[at[0] + m[0] * (at[1] + (ptrdiff_t)m[1] * at[2])] == x[old[0] + n[0] * (old[1] + (ptrdiff_t)n[1] * old[2])];
          }
      ok(good, "%s, %d x %d x %d: turned about axis %d", precision, n[0], n[1], n[2], t);
      is_bits(back, x, cells * sizeof(REAL), "and back");
      FreeArrays(&a);
    }
}

static void TYPED(passes)(const char *precision, double tolerance)
{
  for (int kind = 0; kind < KINDS; kind++)
    for (int pc = STRATA_CG_NONE; pc <= STRATA_CG_LINES; pc++)
      for (size_t g = 0; g < sizeof(grids) / sizeof(*grids); g++) TYPED(pass)(precision, tolerance, kind, pc, grids[g]);
  TYPED(turns)(precision);
}
