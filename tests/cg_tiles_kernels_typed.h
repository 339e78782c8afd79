/* Included by cg_tiles_kernels.c for each precision */

/* A symmetric positive definite operator: excess, legs west, south and bottom of each cell; cells where land is set are coupled to none */
typedef struct {
  int   n[3], around[2];
  REAL *number[4], *land;
} TYPED(Sea);

/* The neighbour of a cell along an axis, -1 if there is none */
static ptrdiff_t TYPED(next_to)(const TYPED(Sea) *s, const int x[3], int axis, int step)
{
  const ptrdiff_t stride[3] = {1, s->n[0], (ptrdiff_t)s->n[0] * s->n[1]};
  int             y[3] = {x[0], x[1], x[2]};

  y[axis] += step;
  if (axis < 2 && s->around[axis] && s->n[axis] > 1) y[axis] = (y[axis] + s->n[axis]) % s->n[axis];
  if (y[axis] < 0 || y[axis] >= s->n[axis]) return -1;
  return y[0] * stride[0] + y[1] * stride[1] + y[2] * stride[2];
}

static TYPED(Sea) TYPED(sea)(Arrays *a, const int n[3], int around, int land)
{
  const ptrdiff_t cells = (ptrdiff_t)n[0] * n[1] * n[2], plane = (ptrdiff_t)n[0] * n[1];
  TYPED(Sea)      s = {{n[0], n[1], n[2]}, {around & 1, around >> 1}};
  ptrdiff_t       id = 0;

  s.number[0] = TYPED(Numbers)(a, cells, 0.5, 1);
  for (int m = 1; m < 4; m++) s.number[m] = TYPED(Numbers)(a, cells, m == 3 ? -4 : -2, -0.1);
  s.land = TYPED(Numbers)(a, cells, 0, 0);
  for (ptrdiff_t q = 0; land && q < plane; q++) { /* most seas have a floor, some columns are all land, and there are caves */
    const int floor = (int)Random(-0.5 * n[2], 1.5 * n[2]);

    for (int k = 0; k < n[2]; k++) s.land[q + plane * k] = k >= floor || Random(0, 1) < 0.03;
  }
  for (int k = 0; k < n[2]; k++)
    for (int j = 0; j < n[1]; j++)
      for (int i = 0; i < n[0]; i++, id++)
        for (int m = 1; m < 4; m++) {
          const int       x[3] = {i, j, k};
          const ptrdiff_t before = TYPED(next_to)(&s, x, m - 1, -1);

          if (before < 0 || s.land[id] != 0 || s.land[before] != 0) s.number[m][id] = 0;
        }
  return s;
}

/* The six legs of a cell and its neighbours */
static void TYPED(legs)(const TYPED(Sea) *s, const int x[3], ptrdiff_t id, double leg[STRATA_LEGS], ptrdiff_t to[STRATA_LEGS])
{
  for (int l = 0; l < STRATA_LEGS; l++) {
    to[l] = TYPED(next_to)(s, x, l / 2, l % 2 ? 1 : -1);
    leg[l] = to[l] < 0 ? 0 : s->number[1 + l / 2][l % 2 ? to[l] : id];
  }
}

/* y = A u and the solution of the columns, by themselves and in double precision */
static void TYPED(apply)(const TYPED(Sea) *s, const double *u, double *y)
{
  ptrdiff_t id = 0;

  for (int k = 0; k < s->n[2]; k++)
    for (int j = 0; j < s->n[1]; j++)
      for (int i = 0; i < s->n[0]; i++, id++) {
        const int x[3] = {i, j, k};
        double    leg[STRATA_LEGS];
        ptrdiff_t to[STRATA_LEGS];

        TYPED(legs)(s, x, id, leg, to);
        y[id] = s->number[0][id] * u[id];
        for (int l = 0; l < STRATA_LEGS; l++) y[id] += to[l] < 0 ? 0 : leg[l] * (u[to[l]] - u[id]);
      }
}

static void TYPED(columns)(const TYPED(Sea) *s, const double *r, double *z)
{
  const ptrdiff_t plane = (ptrdiff_t)s->n[0] * s->n[1];

  for (ptrdiff_t q = 0; q < plane; q++) {
    double ratio[STRATA_CG_TILE_LEVELS], leg[STRATA_LEGS], before = 0, above = 0;

    for (int k = 0; k < s->n[2]; k++) {
      const int       x[3] = {(int)(q % s->n[0]), (int)(q / s->n[0]), k};
      const ptrdiff_t id = q + plane * k;
      double          d = s->number[0][id];
      ptrdiff_t       to[STRATA_LEGS];

      TYPED(legs)(s, x, id, leg, to);
      for (int l = 0; l < STRATA_LEGS; l++) d -= leg[l];
      if (k) d -= leg[STRATA_BOTTOM] * ratio[k - 1];
      z[id] = before = (r[id] - leg[STRATA_BOTTOM] * before) / d;
      ratio[k] = leg[STRATA_TOP] / d;
    }
    for (int k = s->n[2] - 1; k >= 0; k--) z[q + plane * k] = above = z[q + plane * k] - (k + 1 < s->n[2] ? ratio[k] : 0) * above;
  }
}

/* Is y what x is, but for rounding? */
static void TYPED(close)(const double *x, const REAL *y, ptrdiff_t n, double tolerance, const char *what)
{
  double most = 0, size = 0;

  for (ptrdiff_t i = 0; i < n; i++) {
    if (!(fabs(x[i] - y[i]) <= most)) most = fabs(x[i] - y[i]);
    size = fmax(size, fabs(x[i]));
  }
  ok(most <= tolerance * size, "%s, off by %g of %g", what, most, size);
}

/* The vectors of the pass */
typedef struct {
  REAL *r, *p[2], *x, *z, *number[5], (*history)[STRATA_CG_SUMS];
  unsigned char (*range)[2];
} TYPED(Pass);

static TYPED(Pass) TYPED(pass)(const TYPED(StrataCGTiles) *q, Arrays *a)
{
  TYPED(Pass) v;

  for (int m = 0; m < 2; m++) v.p[m] = TYPED(Numbers)(a, q->size, 7, 7);
  v.r = TYPED(Numbers)(a, q->size, 0, 0);
  v.x = TYPED(Numbers)(a, q->size, 0, 0);
  v.z = TYPED(Numbers)(a, q->size, 7, 7);
  for (int m = 0; m < 5; m++) v.number[m] = TYPED(Numbers)(a, q->size, 0, 0);
  v.history = (REAL(*)[STRATA_CG_SUMS])TYPED(Numbers)(a, 8 * STRATA_CG_SUMS, 0, 0);
  v.range = (unsigned char(*)[2])NewArray(a, 2 * (size_t)q->n[0] * q->n[1]);
  return v;
}

static void TYPED(point)(TYPED(StrataCGTiles) *q, REAL *const number[5])
{
  q->excess = number[0];
  q->west = number[1];
  q->south = number[2];
  q->bottom = number[3];
  q->inverse = number[4];
}

#if STRATA_HAVE_CUDA
/* A vector of the pass without what the pitch leaves unused */
static int TYPED(same_cells)(const TYPED(StrataCGTiles) *q, const REAL *host, const REAL *from, REAL *space)
{
  int same = 1;

  DeviceRead(space, from, q->size * sizeof(REAL));
  for (ptrdiff_t row = 0; row < (ptrdiff_t)q->n[1] * q->n[2]; row++)
    same = same && TYPED(Same)(host + row * q->pitch, space + row * q->pitch, q->n[0]);
  return same;
}

static void TYPED(on_device)(const TYPED(StrataCGTiles) *plan, const TYPED(Sea) *s, const TYPED(StrataCG) *numbers, REAL *const given[3])
{
  const ptrdiff_t      cells = (ptrdiff_t)plan->n[0] * plan->n[1] * plan->n[2], work = TYPED(StrataCGTilesWork)(plan);
  Arrays               a = {.count = 0};
  TYPED(StrataCGTiles) q = *plan, dq = *plan;
  TYPED(StrataCG)      cg = *numbers, *dcg = (TYPED(StrataCG) *)DeviceCopy(&cg, sizeof(cg)), got;
  TYPED(Pass)          h = TYPED(pass)(plan, &a), d = h;
  REAL                *space = TYPED(Numbers)(&a, plan->size + work + 8 * STRATA_CG_SUMS, 0, 0), *dwork, *from[4], *dgiven[3], *out[3], *dout[3];
  int                  bad[2] = {0}, *dbad = (int *)DeviceCopy(bad, sizeof(int)), err, same = 1;

  for (int m = 0; m < 4; m++) from[m] = (REAL *)DeviceCopy(s->number[m], cells * sizeof(REAL));
  for (int m = 0; m < 5; m++) d.number[m] = (REAL *)DeviceCopy(h.number[m], plan->size * sizeof(REAL));
  for (int m = 0; m < 3; m++) {
    dgiven[m] = (REAL *)DeviceCopy(given[m], cells * sizeof(REAL));
    out[m] = TYPED(Numbers)(&a, 2 * cells, 0, 0);
    dout[m] = (REAL *)DeviceCopy(out[m], cells * sizeof(REAL));
  }
  for (int m = 0; m < 2; m++) d.p[m] = (REAL *)DeviceCopy(h.p[m], plan->size * sizeof(REAL));
  d.r = (REAL *)DeviceCopy(h.r, plan->size * sizeof(REAL));
  d.z = (REAL *)DeviceCopy(h.z, plan->size * sizeof(REAL));
  d.x = (REAL *)DeviceCopy(h.x, plan->size * sizeof(REAL));
  d.history = (REAL(*)[STRATA_CG_SUMS])DeviceCopy(h.history, 8 * sizeof(*h.history));
  d.range = (unsigned char(*)[2])DeviceCopy(h.range, 2 * (size_t)plan->n[0] * plan->n[1]);
  dwork = (REAL *)DeviceCopy(space, work * sizeof(REAL));

  TYPED(StrataCGTilesSetUpHost)(plan, (const REAL *const *)s->number, h.number, h.number[4], &bad[0]);
  err = TYPED(StrataCGTilesSetUpCUDA)(plan, (const REAL *const *)from, d.number, d.number[4], dbad, NULL);
  DeviceRead(&bad[1], dbad, sizeof(int));
  TYPED(point)(&q, h.number);
  TYPED(point)(&dq, d.number);
  for (int m = 0; m < 5; m++) same = same && TYPED(same_cells)(plan, h.number[m], d.number[m], space);
  ok(err == 0 && same && bad[0] == bad[1], "device: the numbers of the host");
  TYPED(StrataCGTilesEnterHost)(&q, given[0], given[1], given[2], h.r, h.z, h.p, h.x, h.range);
  err = TYPED(StrataCGTilesEnterCUDA)(&dq, dgiven[0], dgiven[1], dgiven[2], d.r, d.z, d.p, d.x, d.range, NULL);
  DeviceRead(space, d.range, 2 * (size_t)plan->n[0] * plan->n[1]);
  is_bits(space, h.range, 2 * (size_t)plan->n[0] * plan->n[1], "levels with something to do");
  for (int s = 0; s < 5; s++) {
    const int old = s % 2, next = 1 - old, stopped = s == 4;

    cg.gamma = numbers->gamma; /* whatever the step before: these are no steps of a solve */
    cg.done = stopped;         /* nothing moves once it is done */
    if (cudaMemcpy(dcg, &cg, sizeof(cg), cudaMemcpyHostToDevice) != cudaSuccess) exit(1);
    q.zz = dq.zz = s != 2;
    TYPED(StrataCGTilesColumnsHost)(&q, &cg, h.range, h.r, h.z, s ? h.history : NULL);
    TYPED(StrataCGTilesStepHost)(&q, &cg, h.range, h.z, h.p[old], h.p[next], h.r, s % 2 ? h.x : NULL);
    err += TYPED(StrataCGTilesColumnsCUDA)(&dq, dcg, d.range, d.r, d.z, dwork, s ? d.history : NULL, NULL);
    err += TYPED(StrataCGTilesStepCUDA)(&dq, dcg, d.range, d.z, d.p[old], d.p[next], d.r, s % 2 ? d.x : NULL, NULL);
    DeviceRead(&got, dcg, sizeof(got));
    ok(err == 0 && TYPED(same_cells)(plan, h.r, d.r, space) && TYPED(same_cells)(plan, h.p[next], d.p[next], space) &&
           TYPED(same_cells)(plan, h.x, d.x, space) && TYPED(same_cells)(plan, h.z, d.z, space),
       "device, step %d%s: r, p, x and z of the host", s, stopped ? ", which is not made" : "");
    DeviceRead(space, d.history, 8 * sizeof(*h.history));
    ok(TYPED(Same)(space, h.history[0], 8 * STRATA_CG_SUMS) && TYPED(Same)(got.sum, cg.sum, STRATA_CG_SUMS) && got.its == cg.its &&
           got.done == cg.done && TYPED(Same)(&got.beta, &cg.beta, 5),
       "and sums and numbers of the next step");
  }
  TYPED(StrataCGTilesLeaveHost)(&q, (REAL)0.4, h.r, h.p[1], h.x, out[0], out[1], out[2]);
  err = TYPED(StrataCGTilesLeaveCUDA)(&dq, (REAL)0.4, d.r, d.p[1], d.x, dout[0], dout[1], dout[2], NULL);
  for (int m = 0; m < 3; m++) {
    DeviceRead(out[m] + cells, dout[m], cells * sizeof(REAL));
    ok(err == 0 && TYPED(Same)(out[m], out[m] + cells, cells), "device: vector %d comes out as on the host", m);
  }
  DeviceFreeAll();
  FreeArrays(&a);
}
#endif

/* Two steps, against their parts */
static void TYPED(steps)(const char *precision, double tolerance, const int n[3], int around, int land)
{
  const ptrdiff_t      cells = (ptrdiff_t)n[0] * n[1] * n[2];
  Arrays               a = {.count = 0}, more = {.count = 0};
  const TYPED(Sea)     s = TYPED(sea)(&a, n, around, land);
  TYPED(StrataCGTiles) q = TYPED(StrataCGTilesPlan)(n, s.around);
  TYPED(Pass)          v = TYPED(pass)(&q, &a);
  TYPED(StrataCG)      cg = {0};
  REAL                *given[3], *out[3];
  double              *e[6]; /* r, p, x; z, A p, and what was p */
  int                  bad = 0;

  for (int m = 0; m < 3; m++) {
    given[m] = TYPED(Numbers)(&more, cells, -1, 1);
    out[m] = TYPED(Numbers)(&more, cells, 0, 0);
    for (ptrdiff_t i = 0; i < cells; i++)
      if (m < 2 && s.land[i] != 0 && (land == 1 || i % 7)) given[m][i] = 0; /* land 2: some cells of land have work to do */
  }
  for (int m = 0; m < 6; m++) {
    e[m] = (double *)NewArray(&more, cells * sizeof(double));
    for (ptrdiff_t i = 0; i < cells; i++) e[m][i] = m < 3 ? given[m][i] : 0;
  }
  TYPED(StrataCGTilesSetUpHost)(&q, (const REAL *const *)s.number, v.number, v.number[4], &bad);
  TYPED(point)(&q, v.number);
  ok(!bad, "%s, %d x %d x %d, around %d, land %d: set-up", precision, n[0], n[1], n[2], around, land);
  TYPED(StrataCGTilesEnterHost)(&q, given[0], given[1], given[2], v.r, v.z, v.p, v.x, v.range);
  TYPED(StrataCGTilesLeaveHost)(&q, 0, v.r, v.p[0], v.x, out[0], out[1], out[2]);
  for (int m = 0; m < 3; m++) ok(TYPED(Same)(out[m], given[m], cells), "vector %d in and out", m);
  cg.beta = (REAL)0.3;
  cg.alpha = (REAL)0.2;
  cg.owed = (REAL)-0.7;
  cg.gamma = (REAL)(10 * cells); /* large enough not to see an indefinite operator where steps are of any length */
  cg.curvature = (REAL)0.1;
#if STRATA_HAVE_CUDA
  if (TapHasDevice()) TYPED(on_device)(&q, &s, &cg, given);
#endif
  TYPED(StrataCGTilesColumnsHost)(&q, &cg, v.range, v.r, v.z, NULL);
  for (int step = 0; step < 2; step++) {
    cg.alpha = (REAL)0.2; /* one that the step before found may leave nothing but rounding of r */

    const double beta = cg.beta, alpha = cg.alpha, owed = cg.owed;
    double       exact[STRATA_CG_SUMS] = {0};

    TYPED(StrataCGTilesStepHost)(&q, &cg, v.range, v.z, v.p[step], v.p[1 - step], v.r, step ? v.x : NULL);
    TYPED(StrataCGTilesColumnsHost)(&q, &cg, v.range, v.r, v.z, v.history);
    TYPED(columns)(&s, e[0], e[3]);
    for (ptrdiff_t i = 0; i < cells; i++) {
      e[5][i] = e[1][i];
      e[1][i] = e[3][i] + beta * e[1][i];
    }
    TYPED(apply)(&s, e[1], e[4]);
    for (ptrdiff_t i = 0; i < cells; i++) {
      e[0][i] -= alpha * e[4][i];
      if (step) e[2][i] += owed * e[5][i] + alpha * e[1][i];
    }
    TYPED(columns)(&s, e[0], e[3]);
    TYPED(apply)(&s, e[3], e[4]);
    for (ptrdiff_t i = 0; i < cells; i++) {
      exact[STRATA_CG_GAMMA] += e[0][i] * e[3][i];
      exact[STRATA_CG_DELTA] += e[3][i] * e[4][i];
      exact[STRATA_CG_RR] += e[0][i] * e[0][i];
      exact[STRATA_CG_ZZ] += e[3][i] * e[3][i];
    }
    TYPED(StrataCGTilesLeaveHost)(&q, 0, v.r, v.p[1 - step], v.x, out[0], out[1], out[2]);
    TYPED(close)(e[0], out[0], cells, tolerance, "r");
    TYPED(close)(e[1], out[1], cells, tolerance, "p");
    TYPED(close)(e[2], out[2], cells, tolerance, "x");
    for (int m = 0; m < STRATA_CG_SUMS; m++) is_real((double)v.history[step][m], exact[m], 10 * tolerance, "step %d: sum %d", step, m);
  }
  FreeArrays(&more);
  FreeArrays(&a);
}

static void TYPED(tiles)(const char *precision, double tolerance)
{
  for (size_t g = 0; g < sizeof(grids) / sizeof(*grids); g += TestEach())
    for (int around = 0; around < 4; around++)
      if (around < 3 || g % 2) TYPED(steps)(precision, tolerance, grids[g], around, (around + (int)g) % 3);
}
