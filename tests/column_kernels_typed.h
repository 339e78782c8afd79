/* Included by column_kernels.c for each precision */

/* A problem on a box: kernels see `lines`; the reference sees lower leg, upper leg and excess of each cell */
typedef struct {
  TYPED(StrataLines) lines;
  ptrdiff_t          cells;
  Arrays             arrays;
  long double       *row[3];
} TYPED(Problem);

static void TYPED(make)(TYPED(Problem) *p, Kind kind, int axis, const int n[3])
{
  TYPED(StrataLines) *t = &p->lines;
  TYPED(StrataCoef)  *c = &t->coef;
  const ptrdiff_t     cells = (ptrdiff_t)n[0] * n[1] * n[2], stride = axis == 0 ? 1 : axis == 1 ? n[0] : (ptrdiff_t)n[0] * n[1];
  const int           singular = kind == SINGULAR || kind == PIECES;
  int                 x[3];

  memset(p, 0, sizeof(*p));
  p->cells = cells;
  t->axis = axis;
  t->singular = singular;
  c->scale = (REAL)(kind == FACES || kind == LEGS || kind == PIECES ? 0.75 : 1.25);
  c->shift = (REAL)(singular ? 0 : 0.125);
  c->masked = 1;
  for (int a = 0; a < 3; a++) c->n[a] = n[a];
  for (int l = 0; l < STRATA_LEGS; l++) {
    c->outside[l] = kind == SINGULAR ? STRATA_OUTSIDE_NONE : (int)Random(0, l / 2 == axis ? 1.99 : 2.99);
    c->leg[l] = (REAL)(singular && l / 2 != axis ? 0 : Random(-2, -0.1));
  }
  c->excess = 0;
  if (kind == FACES || kind == LEGS || kind == PIECES) {
    REAL *lower = TYPED(Numbers)(&p->arrays, cells, -2, -0.1), *upper = kind == LEGS ? TYPED(Numbers)(&p->arrays, cells, -2, 2) : NULL;
    REAL *excess = TYPED(Numbers)(&p->arrays, cells, 0, kind == PIECES ? 0 : 1);

    for (ptrdiff_t id = 0; id < cells; id++) {
      const int k = (int)(id / stride % n[axis]);

      if (kind == LEGS) { /* diagonally dominant, no M-matrix */
        lower[id] = (REAL)Random(-1, 2);
        if (k == n[axis] - 1) upper[id] = 0;
      }
      if (k == 0 || (kind == PIECES && Random(0, 1) < 0.3)) lower[id] = 0;
      if (kind == LEGS) excess[id] = (REAL)(Random(0.1, 1) + fabs((double)lower[id]) + fabs((double)upper[id])) + lower[id] + upper[id];
    }
    if (kind == PIECES)
      for (ptrdiff_t id = 0; id < cells; id++) /* no row of zeros */
        if (lower[id] == 0 && (id / stride % n[axis] == n[axis] - 1 || lower[id + stride] == 0)) excess[id] = 1;
    t->rows = STRATA_ROWS_ARRAYS;
    t->lower = lower;
    t->upper = upper;
    t->excess = excess;
  } else {
    const int       own = kind == TENSOR_ACROSS ? (axis + 1) % 3 : axis;
    const ptrdiff_t lines = cells / n[own];
    const double    size = kind == TENSOR_SYMMETRIC ? 0.1 : 1;
    REAL            area = 1;

    c->form = kind == CONSTANT || kind == CONSTANT_MASKED ? STRATA_CONSTANT : STRATA_TENSOR;
    c->axis = own;
    c->area = TYPED(Numbers)(&p->arrays, lines, 0.5, 2);
    for (int m = 0; m < 4; m++) c->alpha[m] = TYPED(Numbers)(&p->arrays, lines, singular ? 0 : 0.1 * size, singular ? 0 : 2 * size);
    for (ptrdiff_t q = 0; q < lines && kind == TENSOR_EQUAL; q++) { /* columns side by side that are equal, of kinds that come again */
      if (q % 8 == 0) area = (REAL)(1 + (int)Random(0, 24) * 0.0625);
      ((REAL *)c->area)[q] = area;
      for (int m = 0; m < 4; m++) ((REAL *)c->alpha[m])[q] = q / 32 % 3 ? 1 : c->alpha[m][q / 96];
    }
    c->level[0] = TYPED(Numbers)(&p->arrays, n[own], kind == TENSOR_STEEP ? 1e7 : 0, kind == TENSOR_STEEP ? 1e8 : singular ? 0 : 1);
    for (int m = 1; m < 4; m++) c->level[m] = TYPED(Numbers)(&p->arrays, n[own], -2, -0.1);
    t->rows = STRATA_ROWS_SHARED;
    if (kind == SINGULAR || kind == TENSOR_SYMMETRIC || kind == TENSOR_STEEP) /* of a singular column's sum nothing is left then */
      for (int k = 1; k < n[own]; k++) ((REAL *)c->level[2])[k] = c->level[1][k - 1];
    if (kind == TENSOR_ACROSS) t->rows = STRATA_ROWS_CELLS;
    if (kind == CONSTANT_MASKED || kind == TENSOR_MASKED) {
      unsigned char *mask = (unsigned char *)malloc(cells), *flags = (unsigned char *)NewArray(&p->arrays, cells);
      ptrdiff_t      id = 0;

      for (ptrdiff_t i = 0; i < cells; i++) mask[i] = Random(0, 1) < 0.3;
      for (x[2] = 0; x[2] < n[2]; x[2]++)
        for (x[1] = 0; x[1] < n[1]; x[1]++)
          for (x[0] = 0; x[0] < n[0]; x[0]++, id++) {
            flags[id] = 0;
            for (int l = 0; l < STRATA_LEGS; l++) {
              const ptrdiff_t s = (l % 2 ? 1 : -1) * (l < 2 ? 1 : l < 4 ? n[0] : (ptrdiff_t)n[0] * n[1]);
              const int       edge = x[l / 2] == (l % 2 ? n[l / 2] - 1 : 0);

              if (edge ? c->outside[l] != STRATA_OUTSIDE_NONE : !mask[id + s]) flags[id] |= (unsigned char)(1 << l);
            }
            if (mask[id]) flags[id] = 1 << 6;
          }
      free(mask);
      c->flags = flags;
      t->rows = STRATA_ROWS_CELLS;
    }
  }
  for (int m = 0; m < 3; m++) p->row[m] = (long double *)malloc(cells * sizeof(long double));
  for (x[2] = 0; x[2] < n[2]; x[2]++) /* the rows by other means: all legs of a cell, and their sum */
    for (x[1] = 0; x[1] < n[1]; x[1]++)
      for (x[0] = 0; x[0] < n[0]; x[0]++) {
        const ptrdiff_t id = x[0] + n[0] * (x[1] + (ptrdiff_t)n[1] * x[2]);
        const int       last = x[axis] == n[axis] - 1;
        REAL            leg[STRATA_LEGS];

        if (t->rows == STRATA_ROWS_ARRAYS) {
          p->row[0][id] = (long double)c->scale * t->lower[id];
          p->row[1][id] = (long double)c->scale * (t->upper ? t->upper[id] : last ? 0 : t->lower[id + stride]);
          p->row[2][id] = (long double)c->scale * t->excess[id] + c->shift;
        } else {
          const REAL excess = CELL(strata_row)(c, x, leg);

          p->row[0][id] = leg[2 * axis];
          p->row[1][id] = leg[2 * axis + 1];
          p->row[2][id] = excess;
          for (int l = 0; l < STRATA_LEGS; l++)
            if (l / 2 != axis) p->row[2][id] -= leg[l];
        }
      }
}

static void TYPED(unmake)(TYPED(Problem) *p)
{
  FreeArrays(&p->arrays);
  for (int m = 0; m < 3; m++) free(p->row[m]);
}

/* The kernel structure with its arrays in device memory */
#if STRATA_HAVE_CUDA
static TYPED(StrataLines) TYPED(to_device)(const TYPED(Problem) *p)
{
  TYPED(StrataLines) t = p->lines;
  const void **const pointers[] = {(const void **)&t.coef.area,     (const void **)&t.coef.alpha[0], (const void **)&t.coef.alpha[1],
                                   (const void **)&t.coef.alpha[2], (const void **)&t.coef.alpha[3], (const void **)&t.coef.level[0],
                                   (const void **)&t.coef.level[1], (const void **)&t.coef.level[2], (const void **)&t.coef.level[3],
                                   (const void **)&t.coef.flags,    (const void **)&t.lower,         (const void **)&t.upper,
                                   (const void **)&t.excess};

  DeviceArrays(&p->arrays, (int)(sizeof(pointers) / sizeof(*pointers)), pointers);
  return t;
}
#endif

/* What the solve must give: the lines one by one, runs of coupled cells by the pivots of the whole matrix; the transpose from the rows of
   the transpose */
static void TYPED(reference)(const TYPED(Problem) *p, int transpose, const REAL *r, long double *z)
{
  const int      *n = p->lines.coef.n, axis = p->lines.axis, levels = n[axis];
  const ptrdiff_t stride = axis == 0 ? 1 : axis == 1 ? n[0] : (ptrdiff_t)n[0] * n[1];
  long double    *den = (long double *)malloc(levels * sizeof(long double));

  for (ptrdiff_t id = 0; id < p->cells; id++) {
    if (id / stride % levels) continue;
#define ROW(m, k) p->row[m][id + (k)*stride]
#define LOWER(k)  ((k) ? transpose ? ROW(1, (k)-1) : ROW(0, k) : 0)
#define UPPER(k)  ((k) < levels - 1 ? transpose ? ROW(0, (k) + 1) : ROW(1, k) : 0)
    for (int k = 0; k < levels; k++) {
      const long double diagonal = ROW(2, k) - ROW(0, k) - ROW(1, k), size = fabsl(ROW(2, k)) + fabsl(ROW(0, k)) + fabsl(ROW(1, k));
      long double       rest = r[id + k * stride];

      den[k] = diagonal;
      if (k && den[k - 1] != 0) {
        den[k] -= LOWER(k) * UPPER(k - 1) / den[k - 1];
        rest -= LOWER(k) / den[k - 1] * z[id + (k - 1) * stride];
      }
      if (p->lines.singular && fabsl(den[k]) <= 1e-5L * size) den[k] = 0;
      z[id + k * stride] = rest;
    }
    for (int k = levels - 1; k >= 0; k--) {
      if (k < levels - 1) z[id + k * stride] -= UPPER(k) * z[id + (k + 1) * stride];
      z[id + k * stride] = den[k] == 0 ? 0 : z[id + k * stride] / den[k];
    }
#undef ROW
#undef LOWER
#undef UPPER
  }
  free(den);
}

/* The largest error over the largest value, or -1 where something was written that must not be or was not that must */
static double TYPED(compare)(const TYPED(Problem) *p, int nv, ptrdiff_t ld, const REAL *z, const REAL *add, int transpose, const REAL *r)
{
  long double *exact = (long double *)malloc(p->cells * sizeof(long double)), error = 0, size = 0;

  for (int v = 0; v < nv; v++) {
    TYPED(reference)(p, transpose, r + v * ld, exact);
    for (ptrdiff_t i = 0; i < ld; i++) {
      const REAL got = z[v * ld + i];

      if ((i < p->cells) == isnan(got)) {
        free(exact);
        return -1;
      }
      if (i >= p->cells) continue;
      error = fmaxl(error, fabsl(got - exact[i] - (add ? add[v * ld + i] : 0)));
      size = fmaxl(size, fabsl(exact[i]));
    }
  }
  free(exact);
  return (double)(error / size);
}

/* Vectors that the host does not keep in cache: the same numbers as in a sum with zeros, wherever the vectors begin */
static void TYPED(large)(const char *precision, Kind kind, int axis)
{
  const int      n[3] = {131, 129, axis == 1 ? 61 : 63};
  TYPED(Problem) p;
  REAL          *r, *zero, *want, *z;
  void          *work;
  int            same = 1, untouched = 1;

  if ((kind + axis) % TestEach()) return;
  TYPED(make)(&p, kind, axis, n);
  r = TYPED(Numbers)(&p.arrays, p.cells, -1, 1);
  zero = TYPED(Numbers)(&p.arrays, p.cells, 0, 0);
  want = TYPED(Numbers)(&p.arrays, p.cells, 0, 0);
  z = TYPED(Numbers)(&p.arrays, p.cells + 32, 0, 0);
  work = malloc(TYPED(StrataThomasWorkHost)(&p.lines));
  for (ptrdiff_t i = 0; i < p.cells; i++) zero[i] = -zero[i];
  TYPED(StrataThomasHost)(&p.lines, 0, 1, r, p.cells, zero, want, p.cells, work);
  for (int from = 0; from < 16; from += 5) {
    TYPED(Poison)(z, p.cells + 32);
    TYPED(StrataThomasHost)(&p.lines, 0, 1, r, p.cells, NULL, z + 8 + from, p.cells, work);
    for (ptrdiff_t i = 0; i < p.cells + 32; i++) {
      const int inside = i >= 8 + from && i < p.cells + 8 + from;

      if (inside && z[i] != want[i - 8 - from]) same = 0;
      if (!inside && !isnan(z[i])) untouched = 0;
    }
  }
  ok(same, "%s, %s rows along %c, large: the same numbers past the cache", precision, kinds[kind], 'x' + axis);
  ok(untouched, "%s, %s rows along %c, large: no others are written", precision, kinds[kind], 'x' + axis);
  free(work);
  TYPED(unmake)(&p);
}

/* Pivots with reciprocals of every kind, one row a line: rounded as by division, also next to a power of two and at the ends of the range */
static void TYPED(reciprocals)(const char *precision)
{
  enum { LINES = 3000 };
  const REAL most = (REAL)(sizeof(REAL) == 8 ? 1.7e308 : 3.4e38), least = (REAL)(sizeof(REAL) == 8 ? 3e-308 : 2e-38);
  const REAL odd[] = {1,     -1,   2 - (REAL)REAL_EPSILON, (REAL)REAL_EPSILON / 2 - 1, 1 + (REAL)REAL_EPSILON, 4 - 2 * (REAL)REAL_EPSILON, most,
                      -most, least};
  const REAL zero[LINES] = {0}, level[4] = {1, 0, 0, 1};
  Arrays     arrays = {0};
  TYPED(StrataLines) t = {.axis = 2, .rows = STRATA_ROWS_SHARED};
  REAL *area = TYPED(Numbers)(&arrays, LINES, 1, 2), *r = TYPED(Numbers)(&arrays, LINES, -1, 1), *z = TYPED(Numbers)(&arrays, LINES, 0, 0);
  int   same = 1;

  for (int q = 0; q < LINES; q++) {
    area[q] *= (REAL)ldexp(q % 2 ? 1 : -1, q % 101 - 50);
    if (q % 7 == 0 && q / 100 % 2) area[q] = odd[q / 7 % (int)(sizeof(odd) / sizeof(odd[0]))];
  }
  t.coef = (TYPED(StrataCoef)){.form = STRATA_TENSOR, .axis = 2, .n = {LINES, 1, 1}, .scale = 1, .area = area};
  for (int l = 0; l < STRATA_LEGS; l++) t.coef.outside[l] = STRATA_OUTSIDE_NONE;
  for (int m = 0; m < 4; m++) {
    t.coef.alpha[m] = zero;
    t.coef.level[m] = level + m;
  }
  TYPED(StrataThomasHost)(&t, 0, 1, r, LINES, NULL, z, LINES, NewArray(&arrays, TYPED(StrataThomasWorkHost)(&t)));
  for (int q = 0; q < LINES; q++)
    if (z[q] != r[q] * (1 / area[q])) same = 0;
  ok(same, "%s: reciprocals are those of division", precision);
  FreeArrays(&arrays);
}

/* One kind of rows along one axis, in boxes of several shapes */
static void TYPED(solves)(const char *precision, Kind kind, int axis)
{
  enum { NV = 3 };
  double worst = 0, worsttransposed = 0;
  int    untouched = 1, inplace = 1, adds = 1;
#if STRATA_HAVE_CUDA
  int same = 1, samereport = 1, failures = 0;
#endif

  for (int shape = 0; shape < SHAPES + (kind == FACES); shape++) {
    const int      many[3] = {axis == 0 ? 2 : 400, axis == 1 ? 2 : axis ? 130 : 400, axis == 2 ? 2 : 130}; /* more lines than threads at once */
    TYPED(Problem) p;
    ptrdiff_t      n;
    REAL          *r, *add, *host[4];
    void          *work;

    if ((shape + kind + axis) % TestEach()) continue;
    TYPED(make)(&p, kind, axis, shape < SHAPES ? shapes[shape] : many);
    n = NV * (p.cells + 5);
    r = TYPED(Numbers)(&p.arrays, n, -1, 1);
    add = TYPED(Numbers)(&p.arrays, n, -1, 1);
    work = malloc(TYPED(StrataThomasWorkHost)(&p.lines));
    for (int transpose = 0; transpose < 2; transpose++) {
      const ptrdiff_t ld = p.cells + 5;
      double          error;

      for (int m = 0; m < 4; m++) TYPED(Poison)(host[m] = (REAL *)malloc(n * sizeof(REAL)), n);
      TYPED(StrataThomasHost)(&p.lines, transpose, NV, r, ld, NULL, host[0], ld, work);
      TYPED(StrataThomasHost)(&p.lines, transpose, NV, r, ld, add, host[1], ld, work);
      for (int v = 0; v < NV; v++) { /* in place of the right-hand side, and of what is added */
        memcpy(host[2] + v * ld, r + v * ld, p.cells * sizeof(REAL));
        memcpy(host[3] + v * ld, add + v * ld, p.cells * sizeof(REAL));
      }
      TYPED(StrataThomasHost)(&p.lines, transpose, NV, host[2], ld, NULL, host[2], ld, work);
      TYPED(StrataThomasHost)(&p.lines, transpose, NV, r, ld, host[3], host[3], ld, work);
      error = TYPED(compare)(&p, NV, ld, host[0], NULL, transpose, r);
      if (error < 0) untouched = 0;
      if (transpose)
        worsttransposed = fmax(worsttransposed, error);
      else
        worst = fmax(worst, error);
      for (ptrdiff_t i = 0; i < n; i++) {
        if (i % ld >= p.cells) continue;
        if (host[2][i] != host[0][i]) inplace = 0;
        if (host[1][i] != add[i] + host[0][i] || host[3][i] != host[1][i]) adds = 0;
      }
#if STRATA_HAVE_CUDA
      if (TapHasDevice()) {
        TYPED(StrataLines) t = TYPED(to_device)(&p);
        StrataLinesReport  onhost = StrataLinesReportEmpty(), ondevice = StrataLinesReportEmpty();
        const REAL        *dr = DeviceCopy(r, n * sizeof(REAL)), *dadd = DeviceCopy(add, n * sizeof(REAL));

        for (int m = 0; m < 4; m++) {
          REAL  *dz, *back = (REAL *)malloc(n * sizeof(REAL));
          size_t bytes;

          TYPED(Poison)(back, n);
          for (int v = 0; v < NV && m > 1; v++) memcpy(back + v * ld, (m == 2 ? r : add) + v * ld, p.cells * sizeof(REAL));
          dz = DeviceCopy(back, n * sizeof(REAL));
          TYPED(Poison)(back, n);
          failures += TYPED(StrataThomasWorkCUDA)(&t, NV, m % 2, &bytes) != 0;
          memset(work = realloc(work, bytes), 0xff, bytes); /* NaN: nothing may be read that was not written */
          {
            void *dwork = DeviceCopy(work, bytes);

            failures += TYPED(StrataThomasCUDA)(&t, transpose, NV, m == 2 ? dz : dr, ld,
                                                m == 1   ? dadd
                                                : m == 3 ? dz
                                                         : NULL,
                                                dz, ld, dwork, NULL) != 0;
          }
          DeviceRead(back, dz, n * sizeof(REAL));
          for (ptrdiff_t i = 0; i < n; i++)
            if (i % ld < p.cells ? back[i] != host[m][i] : !isnan(back[i])) same = 0;
          free(back);
        }
        TYPED(StrataLinesCheckHost)(&p.lines, &onhost);
        failures += TYPED(StrataLinesCheckCUDA)(&t, &ondevice, NULL) != 0;
        if (memcmp(&onhost, &ondevice, sizeof(onhost))) samereport = 0;
        DeviceFreeAll();
        free(work);
        work = malloc(TYPED(StrataThomasWorkHost)(&p.lines));
      }
#endif
      for (int m = 0; m < 4; m++) free(host[m]);
    }
    free(work);
    TYPED(unmake)(&p);
  }
  ok(worst <= 100 * REAL_EPSILON, "%s, %s rows along %c: error %.1e", precision, kinds[kind], 'x' + axis, worst);
  ok(worsttransposed <= 100 * REAL_EPSILON, "%s, %s rows along %c: error of the transpose %.1e", precision, kinds[kind], 'x' + axis, worsttransposed);
  ok(untouched, "%s, %s rows along %c: all cells are written and no others", precision, kinds[kind], 'x' + axis);
  ok(inplace, "%s, %s rows along %c: in place", precision, kinds[kind], 'x' + axis);
  ok(adds, "%s, %s rows along %c: added to another vector", precision, kinds[kind], 'x' + axis);
#if STRATA_HAVE_CUDA
  if (TapHasDevice()) {
    is_int(failures, 0, "%s, %s rows along %c: kernels run on the device", precision, kinds[kind], 'x' + axis);
    ok(same, "%s, %s rows along %c: the device gives the same numbers", precision, kinds[kind], 'x' + axis);
    ok(samereport, "%s, %s rows along %c: the device reports the same", precision, kinds[kind], 'x' + axis);
    return;
  }
#endif
  skip("no GPU");
}

/* The partition method, on lines of many lengths: of one segment and of several, of one chunk, of few and of many */
static void TYPED(partitions)(const char *precision, Kind kind, int axis)
{
  enum { NV = 2 };
  static const int lengths[] = {1, 2, 3, 5, 16, 17, 20, 31, 33, 64, 100, 127, 128, 256, 509, 512, 513, 1000, 1024, 4096, 12289, 40000};
  double           worst = 0;
  int              untouched = 1, inplace = 1, adds = 1, colors = 1, sums, reach = 1;
#if STRATA_HAVE_CUDA
  int same = 1, failures = 0;
#endif

  for (int c = 0; c < 3 * (int)(sizeof(lengths) / sizeof(*lengths)); c++) {
    const int      length = lengths[c / 3], lines = c % 3 == 2 ? 1 : length > 1024 ? 3 : length < 128 ? 67 : 13, across = c % 3 ? 1 : 2;
    const int      n[3] = {axis == 0 ? length : lines, axis == 1 ? length : axis ? across : lines, axis == 2 ? length : across};
    TYPED(Problem) p;
    REAL          *r, *add, *start, *corrected, *host[4];
    void          *work;
    ptrdiff_t      ld, size, starts;
    double         error;

    if (length > 16384 && c % 3 < 2) continue;
    if (kind != TENSOR && kind != TENSOR_SYMMETRIC && kind != FACES && c % 3 != c / 3 % 3) continue; /* one of the three for most kinds */
    if ((c / 3 + kind + axis) % TestEach()) continue;
    TYPED(make)(&p, kind, axis, n);
    ld = p.cells + (c % 2 ? 3 : 4); /* packs of numbers are whole in every vector, or not */
    size = NV * ld;
    starts = TYPED(StrataPartitionStart)(&p.lines);
    r = TYPED(Numbers)(&p.arrays, size, -1, 1);
    add = TYPED(Numbers)(&p.arrays, size, -1, 1);
    start = (REAL *)malloc(starts * sizeof(REAL));
    TYPED(Poison)(start, starts);
    work = malloc(TYPED(StrataPartitionWork)(&p.lines, NV, 0));
    corrected = (REAL *)malloc(size * sizeof(REAL));
    for (int m = 0; m < 4; m++) TYPED(Poison)(host[m] = (REAL *)malloc(size * sizeof(REAL)), size);
    for (int v = 0; v < NV; v++) { /* in place of the right-hand side, and of what is added */
      memcpy(host[2] + v * ld, r + v * ld, p.cells * sizeof(REAL));
      memcpy(host[3] + v * ld, add + v * ld, p.cells * sizeof(REAL));
    }
    TYPED(StrataPartitionSetUpHost)(&p.lines, start, &sums);
    if (kind == TENSOR_STEEP ? sums && length > 512
                             : sums != (kind == TENSOR_SYMMETRIC || (length == 1 && (kind == CONSTANT || kind == TENSOR || kind == TENSOR_EQUAL))))
      if (sizeof(REAL) == 8 || StrataPartitionPlan(n, axis).room == STRATA_SEGMENT) reach = 0; /* long segments may leave the range of single */
    p.lines.sums = sums;
    for (int m = 0; m < 4; m++)
      TYPED(StrataPartitionHost)(&p.lines, start, NV, m == 2 ? host[2] : r, ld, m == 1 ? add : m == 3 ? host[3] : NULL, host[m], ld, work);
    error = TYPED(compare)(&p, NV, ld, host[0], NULL, 0, r);
    if (error < 0) untouched = 0;
    worst = fmax(worst, error / (kind == SINGULAR && length > 100 ? length : 100)); /* a singular line sums up all of its right-hand side */
    for (ptrdiff_t i = 0; i < size; i++) {
      if (i % ld >= p.cells) continue;
      if (host[2][i] != host[0][i]) inplace = 0;
      if (host[1][i] != add[i] + host[0][i] || host[3][i] != host[1][i]) adds = 0;
    }
    const StrataColor color = {{n[0], n[1], n[2]}, axis, 0, c % 2};
    const REAL        omega = (REAL)0.75;

    memcpy(corrected, add, p.cells * sizeof(REAL));
    TYPED(StrataPartitionCorrectHost)(&p.lines, start, &color, omega, r, corrected, corrected, work);
    for (ptrdiff_t i = 0; i < p.cells; i++) {
      const int colored = strata_colored(&color, (int)(i % n[0]), (int)(i / n[0] % n[1]), (int)(i / n[0] / n[1]));

      if (corrected[i] != CELL(strata_correct)(colored, omega, host[0][i], add[i])) colors = 0;
    }
#if STRATA_HAVE_CUDA
    if (TapHasDevice()) {
      TYPED(StrataLines) t = TYPED(to_device)(&p);
      const REAL        *dr = DeviceCopy(r, size * sizeof(REAL)), *dadd = DeviceCopy(add, size * sizeof(REAL));
      const size_t       bytes = TYPED(StrataPartitionWork)(&t, NV, 1);
      REAL              *back = (REAL *)malloc(size * sizeof(REAL)), *dstart;
      void              *dwork;

      TYPED(Poison)(start, starts);
      dstart = DeviceCopy(start, starts * sizeof(REAL));
      memset(work = realloc(work, bytes ? bytes : 1), 0xff, bytes); /* NaN: nothing may be read that was not written */
      dwork = DeviceCopy(work, bytes);
      failures += TYPED(StrataPartitionSetUpCUDA)(&t, dstart, &sums, NULL) != 0;
      if (sums != p.lines.sums) same = 0;
      for (int m = 0; m < 4; m++) {
        REAL *dz;

        TYPED(Poison)(back, size);
        for (int v = 0; v < NV && m > 1; v++) memcpy(back + v * ld, (m == 2 ? r : add) + v * ld, p.cells * sizeof(REAL));
        dz = DeviceCopy(back, size * sizeof(REAL));
        failures += TYPED(StrataPartitionCUDA)(&t, dstart, NV, m == 2 ? dz : dr, ld, m == 1 ? dadd : m == 3 ? dz : NULL, dz, ld, dwork, NULL) != 0;
        TYPED(Poison)(back, size);
        DeviceRead(back, dz, size * sizeof(REAL));
        for (ptrdiff_t i = 0; i < size; i++)
          if (i % ld < p.cells ? back[i] != host[m][i] : !isnan(back[i])) same = 0;
      }
      for (int m = 0; m < 2; m++) { /* added to what is there, or to zeros */
        REAL *dz = DeviceCopy(add, size * sizeof(REAL));

        failures += TYPED(StrataPartitionCorrectCUDA)(&t, dstart, &color, omega, dr, m ? dz : NULL, dz, dwork, NULL) != 0;
        DeviceRead(back, dz, size * sizeof(REAL));
        for (ptrdiff_t i = 0; i < p.cells; i++) {
          const int colored = strata_colored(&color, (int)(i % n[0]), (int)(i / n[0] % n[1]), (int)(i / n[0] / n[1]));

          if (back[i] != (m ? corrected[i] : CELL(strata_correct)(colored, omega, host[0][i], 0))) same = 0;
        }
      }
      free(back);
      DeviceFreeAll();
    }
#endif
    for (int m = 0; m < 4; m++) free(host[m]);
    free(corrected);
    free(start);
    free(work);
    TYPED(unmake)(&p);
  }
  ok(worst <= REAL_EPSILON, "%s, partition, %s rows along %c: error %.1e", precision, kinds[kind], 'x' + axis, 100 * worst);
  ok(untouched, "%s, partition, %s rows along %c: all cells are written and no others", precision, kinds[kind], 'x' + axis);
  ok(inplace, "%s, partition, %s rows along %c: in place", precision, kinds[kind], 'x' + axis);
  ok(adds, "%s, partition, %s rows along %c: added to another vector", precision, kinds[kind], 'x' + axis);
  ok(colors, "%s, partition, %s rows along %c: corrections of a colour", precision, kinds[kind], 'x' + axis);
  ok(reach, "%s, partition, %s rows along %c: running sums where they suit", precision, kinds[kind], 'x' + axis);
#if STRATA_HAVE_CUDA
  if (TapHasDevice()) {
    is_int(failures, 0, "%s, partition, %s rows along %c: kernels run on the device", precision, kinds[kind], 'x' + axis);
    ok(same, "%s, partition, %s rows along %c: the device gives the same numbers", precision, kinds[kind], 'x' + axis);
    return;
  }
#endif
  skip("no GPU");
}

/* What the look at all rows reports, from a line of five cells with one fault */
static StrataLinesReport TYPED(report_of)(const REAL lower[5], const REAL upper[5], const REAL excess[5], int axis)
{
  StrataLinesReport  report = StrataLinesReportEmpty();
  TYPED(StrataLines) t;

  memset(&t, 0, sizeof(t));
  t.axis = axis;
  t.rows = STRATA_ROWS_ARRAYS;
  for (int a = 0; a < 3; a++) t.coef.n[a] = a == axis ? 5 : 1;
  t.coef.scale = 1;
  t.lower = lower;
  t.upper = upper;
  t.excess = excess;
  TYPED(StrataLinesCheckHost)(&t, &report);
  return report;
}

static void TYPED(reports)(const char *precision)
{
  for (int axis = 0; axis < 3; axis++) {
    REAL              lower[5] = {0, -1, -2, -1, -3}, excess[5] = {1, 0, 0, 0, 0}, upper[5] = {-1, -2, -1, -3, 0};
    StrataLinesReport r = TYPED(report_of)(lower, NULL, excess, axis);

    ok(r.zero == STRATA_NO_CELL && r.isolated == STRATA_NO_CELL && r.nonfinite == STRATA_NO_CELL && !r.singular && !r.sign && !r.unsymmetric,
       "%s, along %c: nothing to report", precision, 'x' + axis);
    r = TYPED(report_of)(lower, upper, excess, axis);
    ok(!r.unsymmetric, "%s, along %c: two arrays of a symmetric matrix", precision, 'x' + axis);
    upper[2] = -1.5;
    r = TYPED(report_of)(lower, upper, excess, axis);
    ok(r.unsymmetric && !r.sign, "%s, along %c: a matrix that is not symmetric", precision, 'x' + axis);
    excess[0] = 0;
    r = TYPED(report_of)(lower, NULL, excess, axis);
    ok(r.singular == 1 && r.zero == STRATA_NO_CELL && r.isolated == STRATA_NO_CELL, "%s, along %c: a singular line", precision, 'x' + axis);
    lower[2] = 0;
    r = TYPED(report_of)(lower, NULL, excess, axis);
    ok(r.singular == 2 && r.zero == STRATA_NO_CELL, "%s, along %c: two singular runs", precision, 'x' + axis);
    lower[3] = 0;
    r = TYPED(report_of)(lower, NULL, excess, axis);
    ok(r.singular == 3 && r.isolated == 2 && r.zero == STRATA_NO_CELL, "%s, along %c: a row of zeros", precision, 'x' + axis);
    excess[2] = NAN;
    r = TYPED(report_of)(lower, NULL, excess, axis);
    ok(r.nonfinite == 2 && r.singular == 2, "%s, along %c: NaN", precision, 'x' + axis);
    excess[2] = 1;
    lower[1] = (REAL)INFINITY;
    r = TYPED(report_of)(lower, NULL, excess, axis);
    is_int(r.nonfinite, 0, "%s, along %c: infinity", precision, 'x' + axis);
    lower[1] = lower[2] = lower[3] = -1;
    excess[0] = -1; /* the first diagonal entry is zero */
    r = TYPED(report_of)(lower, NULL, excess, axis);
    ok(r.zero == 0 && r.sign, "%s, along %c: a zero pivot at the beginning", precision, 'x' + axis);
    excess[0] = 1;
    excess[2] = (REAL)-1.5; /* E = 0.5 of the row before, so the pivot is -1.5 - (-1 * 0.5 / 1.5) + 1 */
    excess[2] = -1 - (REAL)0.5 / (REAL)1.5;
    r = TYPED(report_of)(lower, NULL, excess, axis);
    is_int(r.zero, 2, "%s, along %c: a zero pivot inside", precision, 'x' + axis);
    excess[2] = 0;
    upper[0] = 0;
    excess[0] = 0; /* nothing above row 0, but row 1 needs it */
    r = TYPED(report_of)(lower, upper, excess, axis);
    is_int(r.zero, 0, "%s, along %c: a zero pivot that the next row needs", precision, 'x' + axis);
  }
}

/* Elimination from both ends (pcr 0) or cyclic reduction (pcr 1) for one kind of rows along one axis */
static void TYPED(others)(const char *precision, Kind kind, int axis, int pcr)
{
  enum { NV = 2 };
  const char *name = pcr ? "cyclic reduction" : "both ends";
  double      worst = 0;
  int         same = 1, failures = 0;

  if (pcr && (kind == SINGULAR || kind == PIECES)) return;
  for (int shape = 0; shape < SHAPES + 2; shape++) {
    const int longer[2] = {axis == 0 ? 1300 : 3, axis == 0 ? 6600 : 1}; /* more rows than fit in shared memory in one precision or in both */
    const int across[3] = {axis == 0 ? longer[shape % 2] : 3, axis == 1 ? 1300 : 2, axis == 2 ? 1300 : 1},
              *n = shape < SHAPES ? shapes[shape] : across;
    TYPED(Problem) p;
    ptrdiff_t      ld, size;
    REAL          *r, *add, *host[2];
    void          *work;

    if ((shape + kind + axis) % TestEach()) continue;
    TYPED(make)(&p, kind, axis, n);
    ld = p.cells + 3;
    size = NV * ld;
    r = TYPED(Numbers)(&p.arrays, size, -1, 1);
    add = TYPED(Numbers)(&p.arrays, size, -1, 1);
    work = malloc(pcr ? TYPED(StrataPCRWork)(&p.lines, NV, 0) : TYPED(StrataTwoWayWork)(&p.lines, NV, 0));
    for (int m = 0; m < 2; m++) {
      TYPED(Poison)(host[m] = (REAL *)malloc(size * sizeof(REAL)), size);
      if (m)
        for (int v = 0; v < NV; v++) memcpy(host[m] + v * ld, r + v * ld, p.cells * sizeof(REAL)); /* in place, added to another vector */
      if (pcr)
        TYPED(StrataPCRHost)(&p.lines, NV, m ? host[m] : r, ld, m ? add : NULL, host[m], ld, work);
      else
        TYPED(StrataTwoWayHost)(&p.lines, NV, m ? host[m] : r, ld, m ? add : NULL, host[m], ld, work);
    }
    if (kind != SINGULAR && kind != PIECES) {
      const double error = TYPED(compare)(&p, NV, ld, host[0], NULL, 0, r);

      worst = fmax(worst, error < 0 ? 1 : error);
    }
    for (ptrdiff_t i = 0; i < size; i++)
      if (i % ld < p.cells ? host[1][i] != add[i] + host[0][i] : !isnan(host[1][i])) worst = 1;
#if STRATA_HAVE_CUDA
    if (TapHasDevice()) {
      TYPED(StrataLines) t = TYPED(to_device)(&p);
      const REAL        *dadd = DeviceCopy(add, size * sizeof(REAL)), *dr = DeviceCopy(r, size * sizeof(REAL));
      const size_t       bytes = pcr ? TYPED(StrataPCRWork)(&t, NV, 1) : TYPED(StrataTwoWayWork)(&t, NV, 1);
      void              *dwork;

      memset(work = realloc(work, bytes ? bytes : 1), 0xff, bytes);
      dwork = DeviceCopy(work, bytes);
      for (int m = 0; m < 2; m++) {
        REAL *back = (REAL *)malloc(size * sizeof(REAL)), *dz;

        TYPED(Poison)(back, size);
        for (int v = 0; v < NV && m; v++) memcpy(back + v * ld, r + v * ld, p.cells * sizeof(REAL));
        dz = DeviceCopy(back, size * sizeof(REAL));
        failures += (pcr ? TYPED(StrataPCRCUDA)(&t, NV, m ? dz : dr, ld, m ? dadd : NULL, dz, ld, dwork, NULL)
                         : TYPED(StrataTwoWayCUDA)(&t, NV, m ? dz : dr, ld, m ? dadd : NULL, dz, ld, dwork, NULL)) != 0;
        DeviceRead(back, dz, size * sizeof(REAL));
        if (!TYPED(Same)(back, host[m], size)) same = 0;
        free(back);
      }
      DeviceFreeAll();
    }
#endif
    for (int m = 0; m < 2; m++) free(host[m]);
    free(work);
    TYPED(unmake)(&p);
  }
  ok(worst <= 100 * REAL_EPSILON, "%s, %s, %s rows along %c: error %.1e", precision, name, kinds[kind], 'x' + axis, worst);
  if (TapHasDevice())
    ok(same && !failures, "%s, %s, %s rows along %c: the device gives the same numbers", precision, name, kinds[kind], 'x' + axis);
  else
    skip("no GPU");
}

#if STRATA_HAVE_CUDA
/* Does the device have these numbers? */
static int TYPED(device_has)(const REAL *device, const REAL *host, ptrdiff_t n)
{
  REAL *back = (REAL *)malloc(n * sizeof(REAL));
  int   same;

  DeviceRead(back, device, n * sizeof(REAL));
  same = TYPED(Same)(back, host, n);
  free(back);
  return same;
}

static REAL *TYPED(device_new)(ptrdiff_t n)
{
  REAL *p = (REAL *)malloc(n * sizeof(REAL)), *d;

  TYPED(Poison)(p, n);
  d = DeviceCopy(p, n * sizeof(REAL));
  free(p);
  return d;
}
#endif

/* Rings of one kind of rows: cut, solved, and looked at with their own rows */
static void TYPED(rings)(const char *precision, Kind kind, int axis)
{
  double worst = 0;
  int    same = 1, failures = 0;

  for (int shape = 0; shape < SHAPES; shape++) {
    const int         *n = shapes[shape], levels = n[axis];
    TYPED(Problem)     p;
    TYPED(StrataLines) from, t;
    TYPED(StrataRing)  ring;
    ptrdiff_t          cells, lines, stride = axis == 0 ? 1 : axis == 1 ? n[0] : (ptrdiff_t)n[0] * n[1];
    REAL              *row[3], *number, *right[3], *inverse, *last, *r, *add, *y, *z;
    void              *work;

    if (levels < 2 || (shape + kind + axis) % TestEach()) continue;
    TYPED(make)(&p, kind, axis, n);
    cells = p.cells;
    lines = cells / levels;
    if (p.lines.rows == STRATA_ROWS_ARRAYS) { /* the legs between the ends, and the excess that keeps the ring diagonally dominant */
      for (ptrdiff_t id = 0; id < cells; id++) {
        const int k = (int)(id / stride % levels);

        if (k == 0) ((REAL *)p.lines.lower)[id] = (REAL)Random(-1, 0);
        if (k == levels - 1) ((REAL *)p.lines.upper)[id] = (REAL)Random(-1, 0);
      }
    } else {
      p.lines.rows = STRATA_ROWS_CELLS;
      p.lines.coef.outside[2 * axis] = p.lines.coef.outside[2 * axis + 1] = STRATA_OUTSIDE_GHOST;
    }
    from = p.lines;
    from.coef.scale = 1;
    from.coef.shift = 0;
    for (int m = 0; m < 3; m++) row[m] = TYPED(Numbers)(&p.arrays, cells, 0, 1);
    number = TYPED(Numbers)(&p.arrays, STRATA_RING_NUMBERS * lines, 0, 1);
    inverse = TYPED(Numbers)(&p.arrays, lines, 0, 1);
    last = (REAL *)malloc(2 * lines * sizeof(REAL));
    TYPED(StrataRingCutHost)(&from, number, row[2], row[0], row[1]);
    memset(&t, 0, sizeof(t));
    t.axis = axis;
    t.rows = STRATA_ROWS_ARRAYS;
    t.coef = p.lines.coef;
    t.lower = row[0];
    t.upper = row[1];
    t.excess = row[2];
    work = malloc(TYPED(StrataThomasWorkHost)(&t));
    for (int m = 0; m < 3; m++) {
      right[m] = TYPED(Numbers)(&p.arrays, cells, 0, 1);
      TYPED(StrataRingRightHost)(&t, number, 2 * m, right[m]);
    }
    y = TYPED(Numbers)(&p.arrays, cells, 0, 1);
    z = TYPED(Numbers)(&p.arrays, 2 * cells, 0, 1);
    r = TYPED(Numbers)(&p.arrays, 2 * cells, -1, 1);
    add = TYPED(Numbers)(&p.arrays, 2 * cells, -1, 1);
    TYPED(StrataThomasHost)(&t, 0, 1, right[STRATA_RING_SUM / 2], cells, NULL, y, cells, work);
    TYPED(StrataRingPivotHost)(&t, number, y, inverse);
    TYPED(StrataThomasHost)(&t, 0, 1, right[STRATA_RING_B / 2], cells, NULL, y, cells, work);
    ring.same = 0;
    ring.number = number;
    ring.inverse = inverse;
    ring.column = y;
    TYPED(StrataThomasHost)(&t, 0, 2, r, cells, NULL, z, cells, work);
#if STRATA_HAVE_CUDA
    if (TapHasDevice()) {
      TYPED(Problem)     q = p;
      TYPED(StrataLines) dfrom, dt;
      TYPED(StrataRing)  dring;
      REAL              *drow[3], *dnumber, *dright, *dinverse, *dlast, *dz;

      q.lines = from;
      dfrom = TYPED(to_device)(&q);
      for (int m = 0; m < 3; m++) drow[m] = TYPED(device_new)(cells);
      dnumber = TYPED(device_new)(STRATA_RING_NUMBERS * lines);
      failures += TYPED(StrataRingCutCUDA)(&dfrom, dnumber, drow[2], drow[0], drow[1], NULL) != 0;
      for (int m = 0; m < 3; m++) same &= TYPED(device_has)(drow[m], row[m], cells);
      same &= TYPED(device_has)(dnumber, number, STRATA_RING_NUMBERS * lines);
      dt = t;
      dt.lower = drow[0];
      dt.upper = drow[1];
      dt.excess = drow[2];
      dright = TYPED(device_new)(cells);
      for (int m = 0; m < 3; m++) {
        failures += TYPED(StrataRingRightCUDA)(&dt, dnumber, 2 * m, dright, NULL) != 0;
        same &= TYPED(device_has)(dright, right[m], cells);
      }
      {
        REAL *g = (REAL *)malloc(cells * sizeof(REAL)), *want = (REAL *)malloc(lines * sizeof(REAL));

        TYPED(StrataThomasHost)(&t, 0, 1, right[STRATA_RING_SUM / 2], cells, NULL, g, cells, work);
        TYPED(StrataRingPivotHost)(&t, number, g, want);
        dinverse = TYPED(device_new)(lines);
        failures += TYPED(StrataRingPivotCUDA)(&dt, dnumber, DeviceCopy(g, cells * sizeof(REAL)), dinverse, NULL) != 0;
        same &= TYPED(device_has)(dinverse, want, lines);
        free(g);
        free(want);
      }
      dring.same = 0;
      dring.number = dnumber;
      dring.inverse = dinverse;
      dring.column = DeviceCopy(y, cells * sizeof(REAL));
      dlast = TYPED(device_new)(2 * lines);
      for (int m = 0; m < 4; m++) { /* with the transpose, added to another vector */
        REAL *want = (REAL *)malloc(2 * cells * sizeof(REAL));

        TYPED(StrataRingFinishHost)(&t, &ring, m / 2, 2, z, cells, m % 2 ? add : NULL, want, cells, last);
        dz = DeviceCopy(z, 2 * cells * sizeof(REAL));
        failures += TYPED(StrataRingFinishCUDA)(&dt, &dring, m / 2, 2, dz, cells, m % 2 ? DeviceCopy(add, 2 * cells * sizeof(REAL)) : NULL, dz, cells,
                                                dlast, NULL) != 0;
        same &= TYPED(device_has)(dz, want, 2 * cells);
        free(want);
      }
      DeviceFreeAll();
    }
#endif
    TYPED(StrataRingFinishHost)(&t, &ring, 0, 2, z, cells, add, z, cells, last);
    for (int v = 0; v < 2; v++)
      for (ptrdiff_t id = 0; id < cells; id++) { /* what is left of the right-hand side, with the rows of the ring */
        const int       k = (int)(id / stride % levels);
        const ptrdiff_t before = k ? id - stride : id + (levels - 1) * stride, behind = k < levels - 1 ? id + stride : id - (levels - 1) * stride;
        const REAL     *zv = z + v * cells, *av = add + v * cells;
        REAL            own[3], leg[STRATA_LEGS];
        int             x[3] = {(int)(id % n[0]), (int)(id / n[0] % n[1]), (int)(id / n[0] / n[1])};

        if (p.lines.rows == STRATA_ROWS_ARRAYS) {
          own[0] = p.lines.coef.scale * p.lines.lower[id];
          own[1] = p.lines.coef.scale * p.lines.upper[id];
          own[2] = p.lines.coef.scale * p.lines.excess[id] + p.lines.coef.shift;
        } else {
          own[2] = CELL(strata_row)(&p.lines.coef, x, leg);
          for (int l = 0; l < STRATA_LEGS; l++)
            if (l / 2 != axis) own[2] -= leg[l];
          own[0] = leg[2 * axis];
          own[1] = leg[2 * axis + 1];
        }
        worst = fmax(worst, fabs((double)((own[2] - own[0] - own[1]) * (zv[id] - av[id]) + own[0] * (zv[before] - av[before]) +
                                          own[1] * (zv[behind] - av[behind]) - r[v * cells + id])));
      }
    free(last);
    free(work);
    TYPED(unmake)(&p);
  }
  ok(worst <= 500 * REAL_EPSILON, "%s, rings of %s rows along %c: residual %.1e", precision, kinds[kind], 'x' + axis, worst);
  if (TapHasDevice())
    ok(same && !failures, "%s, rings of %s rows along %c: the device gives the same numbers", precision, kinds[kind], 'x' + axis);
  else
    skip("no GPU");
}

/* Vectors in another order and precision */
static void TYPED(packs)(const char *precision)
{
  enum { N = 700, NV = 3, LD = 900 };
  Arrays        arrays = {0};
  const double  by[2 * NV] = {0.5, 0, 4, 0, 0.125, 0};
  const double *from = Numbers_d(&arrays, NV * LD, -1, 1), *add = Numbers_d(&arrays, NV * LD, -1, 1);
  REAL         *packed = TYPED(Numbers)(&arrays, NV * N, -1, 1);
  double       *back = Numbers_d(&arrays, NV * LD, -1, 1);
  int          *place = (int *)NewArray(&arrays, N * sizeof(int)), good = 1, same = 1, failures = 0;

  for (int i = 0; i < N; i++) place[i] = i % 10 == 3 ? -1 : N - 1 - i;
  for (int m = 0; m < 4; m++) {
    const int    *at = m % 2 ? place : NULL;
    const double *factor = m / 2 ? by : NULL;

    TYPED(StrataPackHost)(N, at, factor, NV, from, LD, packed, N);
    Poison_d(back, NV * LD);
    TYPED(StrataUnpackHost)(N, at, factor, NV, packed, N, m ? add : NULL, back, LD);
    for (int v = 0; v < NV; v++)
      for (int i = 0; i < N; i++) {
        const int    j = at ? at[i] : i;
        const double f = factor ? factor[2 * v] : 1;

        if (packed[v * N + i] != (j < 0 ? 0 : (REAL)(f * from[v * LD + j]))) good = 0;
        if (j >= 0 && back[v * LD + j] != (m ? add[v * LD + j] : 0) + f * packed[v * N + i]) good = 0;
      }
#if STRATA_HAVE_CUDA
    if (TapHasDevice()) {
      const int    *dat = at ? DeviceCopy(place, N * sizeof(int)) : NULL;
      const double *dfactor = factor ? DeviceCopy(by, sizeof(by)) : NULL, *dfrom = DeviceCopy(from, NV * LD * sizeof(double));
      const double *dadd = m ? DeviceCopy(add, NV * LD * sizeof(double)) : NULL;
      REAL         *dpacked = TYPED(device_new)(NV * N);
      double       *other = Numbers_d(&arrays, NV * LD, -1, 1), *dback;

      Poison_d(other, NV * LD);
      dback = DeviceCopy(other, NV * LD * sizeof(double));
      failures += TYPED(StrataPackCUDA)(N, dat, dfactor, NV, dfrom, LD, dpacked, N, NULL) != 0;
      failures += TYPED(StrataUnpackCUDA)(N, dat, dfactor, NV, dpacked, N, dadd, dback, LD, NULL) != 0;
      same &= TYPED(device_has)(dpacked, packed, NV * N);
      DeviceRead(other, dback, NV * LD * sizeof(double));
      same &= Same_d(other, back, NV * LD);
      DeviceFreeAll();
    }
#endif
  }
  ok(good, "%s: vectors in another order and precision", precision);
  if (TapHasDevice())
    ok(same && !failures, "%s: vectors in another order and precision, the device gives the same numbers", precision);
  else
    skip("no GPU");
  FreeArrays(&arrays);
}
