/* Included by column_piece_kernels.c for each precision */

enum { TYPED(NV) = 2 }; /* vectors */

/* The arrays of lines along an axis, of a whole box */
typedef struct {
  int                n[3], axis;
  Arrays             arrays;
  TYPED(StrataLines) lines;
} TYPED(Whole);

static void TYPED(make)(TYPED(Whole) *w, Kind kind, int axis, const int n[3])
{
  TYPED(StrataLines) *t = &w->lines;
  TYPED(StrataCoef)  *c = &t->coef;
  const ptrdiff_t     cells = (ptrdiff_t)n[0] * n[1] * n[2], lines = cells / n[axis], stride = strata_line_stride(n, axis);
  const int           singular = kind == SINGULAR;

  memset(w, 0, sizeof(*w));
  w->axis = t->axis = axis;
  for (int a = 0; a < 3; a++) w->n[a] = c->n[a] = n[a];
  t->singular = singular;
  c->scale = (REAL)1.25;
  c->shift = (REAL)(singular ? 0 : 0.125);
  c->masked = 1;
  for (int l = 0; l < STRATA_LEGS; l++) {
    c->outside[l] = singular || l % 2 ? STRATA_OUTSIDE_NONE : STRATA_OUTSIDE_ZERO;
    c->leg[l] = (REAL)(singular && l / 2 != axis ? 0 : Random(-2, -0.1));
  }
  if (kind == ARRAYS) {
    REAL *lower = TYPED(Numbers)(&w->arrays, cells, -1, 2), *upper = TYPED(Numbers)(&w->arrays, cells, -1, 2);
    REAL *excess = TYPED(Numbers)(&w->arrays, cells, 0.1, 1);

    for (ptrdiff_t id = 0; id < cells; id++) {
      const int k = (int)(id / stride % n[axis]);

      if (k == 0) lower[id] = 0;
      if (k == n[axis] - 1) upper[id] = 0;
      excess[id] += (REAL)(fabs((double)lower[id]) + fabs((double)upper[id])) + lower[id] + upper[id];
    }
    t->rows = STRATA_ROWS_ARRAYS;
    t->lower = lower;
    t->upper = upper;
    t->excess = excess;
  } else {
    t->rows = STRATA_ROWS_SHARED;
    c->form = kind == TENSOR ? STRATA_TENSOR : STRATA_CONSTANT;
    c->axis = axis;
    if (singular) c->leg[2 * axis + 1] = c->leg[2 * axis];
    c->area = TYPED(Numbers)(&w->arrays, lines, 0.5, 2);
    for (int m = 0; m < 4; m++) c->alpha[m] = TYPED(Numbers)(&w->arrays, lines, 0.1, 2);
    c->level[0] = TYPED(Numbers)(&w->arrays, n[axis], 0, 1);
    for (int m = 1; m < 4; m++) c->level[m] = TYPED(Numbers)(&w->arrays, n[axis], -2, -0.1);
  }
}

/* The cells of levels from, from + 1, ... to - 1 of a box, to one of their own, or back */
static void TYPED(part)(const TYPED(Whole) *w, int from, int to, REAL *whole, REAL *own, int back)
{
  int       box[3] = {w->n[0], w->n[1], w->n[2]}, x[3];
  ptrdiff_t id = 0;

  box[w->axis] = to - from;
  for (x[2] = 0; x[2] < box[2]; x[2]++)
    for (x[1] = 0; x[1] < box[1]; x[1]++)
      for (x[0] = 0; x[0] < box[0]; x[0]++, id++) {
        int y[3] = {x[0], x[1], x[2]};

        y[w->axis] += from;
        if (back)
          whole[strata_line_cell(w->n, y)] = own[id];
        else
          own[id] = whole[strata_line_cell(w->n, y)];
      }
}

/* The lines of these levels */
static TYPED(StrataLines) TYPED(cut)(const TYPED(Whole) *w, int from, int to, Arrays *arrays)
{
  TYPED(StrataLines) t = w->lines;
  const int          levels = w->n[w->axis];
  const ptrdiff_t    cells = strata_line_count(w->n, w->axis) * (to - from);

  t.coef.n[w->axis] = to - from;
  if (from > 0) t.coef.outside[2 * w->axis] = STRATA_OUTSIDE_GHOST;
  if (to < levels) t.coef.outside[2 * w->axis + 1] = STRATA_OUTSIDE_GHOST;
  if (t.rows == STRATA_ROWS_ARRAYS) {
    const REAL **p[3] = {&t.lower, &t.upper, &t.excess};

    for (int m = 0; m < 3; m++) {
      REAL *own = (REAL *)NewArray(arrays, cells * sizeof(REAL));

      TYPED(part)(w, from, to, (REAL *)*p[m], own, 0);
      *p[m] = own;
    }
  } else
    for (int m = 0; m < 4; m++) t.coef.level[m] += from;
  return t;
}

/* What goes into a piece and comes out of it, arrays of numbers for each line: see StrataEnds */
typedef struct {
  REAL *before[STRATA_STATES], *carry, *after, *lower, *end[STRATA_STATES], *last, *first;
} TYPED(EndArrays);

static void TYPED(make_ends)(Arrays *arrays, ptrdiff_t lines, TYPED(EndArrays) *e)
{
  for (int m = 0; m < STRATA_STATES; m++) {
    e->before[m] = TYPED(Numbers)(arrays, lines, 0, 0);
    e->end[m] = TYPED(Numbers)(arrays, lines, 0, 0);
  }
  e->carry = TYPED(Numbers)(arrays, TYPED(NV) *lines, 0, 0);
  e->after = TYPED(Numbers)(arrays, TYPED(NV) *lines, 0, 0);
  e->lower = TYPED(Numbers)(arrays, lines, 0, 0);
  e->last = TYPED(Numbers)(arrays, TYPED(NV) *lines, 0, 0);
  e->first = TYPED(Numbers)(arrays, TYPED(NV) *lines, 0, 0);
}

static TYPED(StrataEnds) TYPED(all_ends)(const TYPED(EndArrays) *e)
{
  TYPED(StrataEnds) ends;

  for (int m = 0; m < STRATA_STATES; m++) {
    ends.before[m] = e->before[m];
    ends.end[m] = e->end[m];
  }
  ends.carry = e->carry;
  ends.after = e->after;
  ends.lower = e->lower;
  ends.last = e->last;
  ends.first = e->first;
  return ends;
}

#if STRATA_HAVE_CUDA
/* The same piece on the device: does it give the same numbers? r and z of the host */
static int TYPED(same_on_device)(const TYPED(Whole) *w, const TYPED(StrataLines) *t, const Arrays *arrays, int transpose, const TYPED(EndArrays) *e,
                                 const REAL *r, const REAL *z)
{
  const ptrdiff_t lines = strata_line_count(w->n, w->axis), cells = lines * t->coef.n[w->axis], numbers = TYPED(NV) *lines;
  const size_t       bytes = TYPED(StrataPieceWork)(t, lines, TYPED(NV), 1);
  TYPED(StrataLines) d = *t;
  TYPED(EndArrays)   de;
  TYPED(StrataEnds)  ends;
  Arrays             all = w->arrays;
  REAL              *back = (REAL *)malloc((TYPED(NV) *cells + numbers) * sizeof(REAL)), *dz, *dr;
  int                same;
  const void       **p[] = {(const void **)&d.lower,         (const void **)&d.upper,         (const void **)&d.excess,
                            (const void **)&d.coef.area,     (const void **)&d.coef.alpha[0], (const void **)&d.coef.alpha[1],
                            (const void **)&d.coef.alpha[2], (const void **)&d.coef.alpha[3], (const void **)&d.coef.level[0],
                            (const void **)&d.coef.level[1], (const void **)&d.coef.level[2], (const void **)&d.coef.level[3]};

  for (int m = 0; m < arrays->count; m++) {
    all.p[all.count] = arrays->p[m];
    all.bytes[all.count++] = arrays->bytes[m];
  }
  DeviceArrays(&all, 12, (const void **const *)p);
  for (int m = 0; m < STRATA_STATES; m++) {
    de.before[m] = (REAL *)DeviceCopy(e->before[m], lines * sizeof(REAL));
    de.end[m] = (REAL *)DeviceCopy(e->before[m], lines * sizeof(REAL));
  }
  de.carry = (REAL *)DeviceCopy(e->carry, numbers * sizeof(REAL));
  de.after = (REAL *)DeviceCopy(e->after, numbers * sizeof(REAL));
  de.lower = (REAL *)DeviceCopy(e->lower, lines * sizeof(REAL));
  de.last = (REAL *)DeviceCopy(e->carry, numbers * sizeof(REAL));
  de.first = (REAL *)DeviceCopy(e->carry, numbers * sizeof(REAL));
  dr = (REAL *)DeviceCopy(r, TYPED(NV) *cells * sizeof(REAL));
  dz = (REAL *)DeviceCopy(r, TYPED(NV) *cells * sizeof(REAL));
  ends = TYPED(all_ends)(&de);
  {
    void *work = malloc(bytes + 1), *dwork;

    memset(work, 0xff, bytes); /* NaN: nothing may be read that was not written */
    dwork = DeviceCopy(work, bytes);
    free(work);
    same = TYPED(StrataPieceCUDA)(&d, transpose, &ends, 0, lines, TYPED(NV), dr, cells, dr, dz, cells, dwork, NULL) == 0;
  }
  DeviceRead(back, dz, TYPED(NV) *cells * sizeof(REAL));
  same = same && TYPED(Same)(back, z, TYPED(NV) *cells);
  DeviceRead(back, de.last, numbers * sizeof(REAL));
  same = same && TYPED(Same)(back, e->last, numbers);
  DeviceRead(back, de.first, numbers * sizeof(REAL));
  same = same && TYPED(Same)(back, e->first, numbers);
  for (int m = 0; m < (transpose ? STRATA_STATES : 1); m++) {
    DeviceRead(back, de.end[m], lines * sizeof(REAL));
    same = same && TYPED(Same)(back, e->end[m], lines);
  }
  {
    StrataLinesReport onhost = StrataLinesReportEmpty(), ondevice = StrataLinesReportEmpty();
    REAL             *ratio = (REAL *)malloc(lines * sizeof(REAL)), *dratio = (REAL *)DeviceCopy(e->before[0], lines * sizeof(REAL));

    memcpy(ratio, e->before[0], lines * sizeof(REAL));
    TYPED(StrataPieceCheckHost)(t, ratio, e->lower, &onhost);
    same = same && TYPED(StrataPieceCheckCUDA)(&d, dratio, de.lower, &ondevice, NULL) == 0 && !memcmp(&onhost, &ondevice, sizeof(onhost));
    DeviceRead(back, dratio, lines * sizeof(REAL));
    same = same && TYPED(Same)(back, ratio, lines);
    TYPED(StrataPieceLowerHost)(t, ratio);
    same = same && TYPED(StrataPieceLowerCUDA)(&d, dratio, NULL) == 0;
    DeviceRead(back, dratio, lines * sizeof(REAL));
    same = same && TYPED(Same)(back, ratio, lines);
    free(ratio);
  }
  free(back);
  DeviceFreeAll();
  return same;
}
#endif

/* A line in two pieces is eliminated as a whole one is: the same bits of the solution, down through the pieces and back */
static void TYPED(pieces)(const char *precision, Kind kind, int axis)
{
  static const int lengths[] = {2, 3, 17, 64, 65};
  int              same = 1, ends = 1, report = 1;
#if STRATA_HAVE_CUDA
  int device_same = 1;
#endif

  for (int c = 0; c < (int)(sizeof(lengths) / sizeof(*lengths)); c += TestEach()) {
    const int       length = lengths[c], n[3] = {axis == 0 ? length : 67, axis == 1 ? length : 3, axis == 2 ? length : 2};
    const ptrdiff_t cells = (ptrdiff_t)n[0] * n[1] * n[2], lines = cells / length, size = TYPED(NV) *cells;
    TYPED(Whole)       w;
    Arrays             arrays = {.count = 0};
    REAL              *r, *z, *want;
    StrataLinesReport  whole = StrataLinesReportEmpty(), both = StrataLinesReportEmpty();
    TYPED(StrataLines) t[2];
    const int          at[3] = {0, length / 2, length};
    void              *work;

    TYPED(make)(&w, kind, axis, n);
    r = TYPED(Numbers)(&arrays, size, -1, 1);
    z = TYPED(Numbers)(&arrays, size, 0, 0);
    want = TYPED(Numbers)(&arrays, size, 0, 0);
    for (int p = 0; p < 2; p++) t[p] = TYPED(cut)(&w, at[p], at[p + 1], &arrays);
    work = malloc(TYPED(StrataThomasWorkHost)(&w.lines) + TYPED(StrataPieceWork)(&w.lines, lines, TYPED(NV), 0));
    for (int transpose = 0; transpose < 2; transpose++) {
      TYPED(EndArrays) e[2];
      REAL            *rp[2], *zp[2];
      Arrays           own = {.count = 0};

      TYPED(StrataThomasHost)(&w.lines, transpose, TYPED(NV), r, cells, r, want, cells, work);
      for (int p = 0; p < 2; p++) {
        const ptrdiff_t few = lines * t[p].coef.n[axis];

        TYPED(make_ends)(&own, lines, &e[p]);
        rp[p] = TYPED(Numbers)(&own, TYPED(NV) *few, 0, 0);
        zp[p] = TYPED(Numbers)(&own, TYPED(NV) *few, 0, 0);
        for (int v = 0; v < TYPED(NV); v++) TYPED(part)(&w, at[p], at[p + 1], r + v * cells, rp[p] + v * few, 0);
      }
      TYPED(StrataPieceLowerHost)(&t[1], e[0].lower);
      for (int pass = 0; pass < 2; pass++) /* what is before the second piece comes from the first one, what is after the first from the second */
        for (int p = 0; p < 2; p++) {
          const ptrdiff_t         few = lines * t[p].coef.n[axis];
          const TYPED(StrataEnds) here = TYPED(all_ends)(&e[p]);

          TYPED(StrataPieceHost)(&t[p], transpose, &here, 0, lines, TYPED(NV), rp[p], few, rp[p], zp[p], few, work);
          if (p == 0) {
            for (int m = 0; m < STRATA_STATES; m++) memcpy(e[1].before[m], e[0].end[m], lines * sizeof(REAL));
            memcpy(e[1].carry, e[0].last, TYPED(NV) *lines * sizeof(REAL));
          } else
            memcpy(e[0].after, e[1].first, TYPED(NV) *lines * sizeof(REAL));
        }
      for (int p = 0; p < 2; p++) {
        const ptrdiff_t few = lines * t[p].coef.n[axis];
        REAL           *again = (REAL *)malloc(TYPED(NV) *lines * sizeof(REAL));

        for (int v = 0; v < TYPED(NV); v++) TYPED(part)(&w, at[p], at[p + 1], z + v * cells, zp[p] + v * few, 1);
        { /* only the ends, of some lines: the same numbers */
          TYPED(StrataEnds) here = TYPED(all_ends)(&e[p]);
          const ptrdiff_t   from = lines / 3, count = lines - from;
          REAL             *in = (REAL *)malloc(2 * TYPED(NV) *count * sizeof(REAL));

          for (int v = 0; v < TYPED(NV); v++) {
            memcpy(in + v * count, e[p].carry + v * lines + from, count * sizeof(REAL));
            memcpy(in + (TYPED(NV) + v) * count, e[p].after + v * lines + from, count * sizeof(REAL));
          }
          here.carry = in;
          here.after = in + TYPED(NV) *count;
          here.last = NULL;
          here.first = again;
          TYPED(StrataPieceHost)(&t[p], transpose, &here, from, lines, TYPED(NV), rp[p], few, NULL, NULL, 0, work);
          for (int v = 0; v < TYPED(NV); v++) ends = ends && TYPED(Same)(again + v * count, e[p].first + v * lines + from, count);
          free(in);
        }
        free(again);
#if STRATA_HAVE_CUDA
        if (TapHasDevice()) device_same = device_same && TYPED(same_on_device)(&w, &t[p], &arrays, transpose, &e[p], rp[p], zp[p]);
#endif
      }
      same = same && TYPED(Same)(z, want, size);
      FreeArrays(&own);
    }
    {
      REAL *ratio = (REAL *)calloc(lines, sizeof(REAL)), *lower = (REAL *)malloc(lines * sizeof(REAL));

      TYPED(StrataLinesCheckHost)(&w.lines, &whole);
      TYPED(StrataPieceLowerHost)(&t[1], lower);
      for (int p = 0; p < 2; p++) TYPED(StrataPieceCheckHost)(&t[p], ratio, p ? NULL : lower, &both);
      report = report && whole.singular == both.singular && whole.sign == both.sign && whole.unsymmetric == both.unsymmetric &&
               (whole.zero == STRATA_NO_CELL) == (both.zero == STRATA_NO_CELL);
      if (kind == SINGULAR) report = report && both.singular == (unsigned long long)lines;
      free(ratio);
      free(lower);
    }
    free(work);
    FreeArrays(&arrays);
    FreeArrays(&w.arrays);
  }
  ok(same, "%s, %s, lines along %c: two pieces are solved as whole lines are", precision, kinds[kind], 'x' + axis);
  ok(ends, "%s, %s, lines along %c: the ends alone, of some lines", precision, kinds[kind], 'x' + axis);
  ok(report, "%s, %s, lines along %c: the same is found in two pieces", precision, kinds[kind], 'x' + axis);
#if STRATA_HAVE_CUDA
  if (TapHasDevice()) {
    ok(device_same, "%s, %s, lines along %c: the device gives the same numbers", precision, kinds[kind], 'x' + axis);
    return;
  }
#endif
  skip("no GPU");
}

/* What pieces of rings become when the solution in the last cell is known, on a rank that has this cell and on one that has not */
static void TYPED(rings)(const char *precision, int axis)
{
  static const int n[3] = {37, 5, 6};
  const ptrdiff_t cells = (ptrdiff_t)n[0] * n[1] * n[2], lines = cells / n[axis], size = TYPED(NV) *cells;
  Arrays             arrays = {.count = 0};
  REAL              *y = TYPED(Numbers)(&arrays, size, -1, 1), *add = TYPED(Numbers)(&arrays, size, -1, 1), *z = TYPED(Numbers)(&arrays, size, 0, 0);
  REAL              *column = TYPED(Numbers)(&arrays, cells, -1, 1), *number = TYPED(Numbers)(&arrays, TYPED(NV) *lines, -1, 1);
  TYPED(StrataLines) t;
  int                right = 1;
#if STRATA_HAVE_CUDA
  int same = 1;
#endif

  memset(&t, 0, sizeof(t));
  t.axis = axis;
  for (int a = 0; a < 3; a++) t.coef.n[a] = n[a];
  for (int kind = 0; kind < 4; kind++) {
    const int   level = kind / 2 ? n[axis] - 1 : -1;
    const REAL *from = kind % 2 ? add : NULL;

    TYPED(Poison)(z, size);
    TYPED(StrataPieceRingHost)(&t, level, column, number, TYPED(NV), y, cells, from, z, cells);
    for (ptrdiff_t q = 0; q < lines; q++) {
      int x[3];

      strata_line_start(n, axis, q, x);
      for (x[axis] = 0; x[axis] < n[axis]; x[axis]++)
        for (int v = 0; v < TYPED(NV); v++) {
          const ptrdiff_t id = strata_line_cell(n, x), at = v * cells + id;
          const REAL      last = number[v * lines + q], value = x[axis] == level ? last : FMA(-column[id], last, y[at]);

          if (z[at] != (from ? from[at] + value : value)) right = 0;
        }
    }
#if STRATA_HAVE_CUDA
    if (TapHasDevice()) {
      REAL *back = (REAL *)malloc(size * sizeof(REAL)), *dy = (REAL *)DeviceCopy(y, size * sizeof(REAL));
      REAL *dfrom = from ? (REAL *)DeviceCopy(from, size * sizeof(REAL)) : NULL, *dz = (REAL *)DeviceCopy(y, size * sizeof(REAL));
      REAL *dcolumn = (REAL *)DeviceCopy(column, cells * sizeof(REAL)), *dnumber = (REAL *)DeviceCopy(number, TYPED(NV) *lines * sizeof(REAL));

      same = same && TYPED(StrataPieceRingCUDA)(&t, level, dcolumn, dnumber, TYPED(NV), dy, cells, dfrom, dz, cells, NULL) == 0;
      DeviceRead(back, dz, size * sizeof(REAL));
      same = same && TYPED(Same)(back, z, size);
      free(back);
      DeviceFreeAll();
    }
#endif
  }
  FreeArrays(&arrays);
  ok(right, "%s, rings along %c: finished", precision, 'x' + axis);
#if STRATA_HAVE_CUDA
  if (TapHasDevice()) {
    ok(same, "%s, rings along %c: the device finishes the same", precision, 'x' + axis);
    return;
  }
#endif
  skip("no GPU");
}

/* Corrections of the lines of a colour */
static void TYPED(colors)(const char *precision, int axis)
{
  static const int n[3] = {37, 5, 6};
  const ptrdiff_t  cells = (ptrdiff_t)n[0] * n[1] * n[2];
  Arrays           arrays = {.count = 0};
  REAL            *e = TYPED(Numbers)(&arrays, cells, -1, 1), *add = TYPED(Numbers)(&arrays, cells, -1, 1), *z = TYPED(Numbers)(&arrays, cells, 0, 0);
  const REAL       omega = (REAL)1.3;
  int              right = 1;
#if STRATA_HAVE_CUDA
  int same = 1;
#endif

  for (int kind = 0; kind < 6; kind++) {
    const StrataColor color = {{n[0], n[1], n[2]}, axis, kind / 2 == 2, kind / 2};
    const REAL       *from = kind % 2 ? add : NULL;

    TYPED(Poison)(z, cells);
    TYPED(StrataCorrectHost)(&color, omega, e, from, z);
    for (ptrdiff_t id = 0; id < cells; id++) {
      const int  x[3] = {(int)(id % n[0]), (int)(id / n[0] % n[1]), (int)(id / (n[0] * n[1]))};
      const int  taken = color.all || (x[0] + x[1] + x[2] - x[axis] + color.parity) % 2 == 0;
      const REAL old = from ? from[id] : 0;

      if (z[id] != (taken ? FMA(omega, e[id], old) : old)) right = 0;
    }
#if STRATA_HAVE_CUDA
    if (TapHasDevice()) {
      REAL *back = (REAL *)malloc(cells * sizeof(REAL)), *de = (REAL *)DeviceCopy(e, cells * sizeof(REAL));
      REAL *dfrom = from ? (REAL *)DeviceCopy(from, cells * sizeof(REAL)) : NULL, *dz = (REAL *)DeviceCopy(e, cells * sizeof(REAL));

      same = same && TYPED(StrataCorrectCUDA)(&color, omega, de, dfrom, dz, NULL) == 0;
      DeviceRead(back, dz, cells * sizeof(REAL));
      same = same && TYPED(Same)(back, z, cells);
      free(back);
      DeviceFreeAll();
    }
#endif
  }
  FreeArrays(&arrays);
  ok(right, "%s, lines along %c: corrections of a colour", precision, 'x' + axis);
#if STRATA_HAVE_CUDA
  if (TapHasDevice()) {
    ok(same, "%s, lines along %c: the device corrects the same", precision, 'x' + axis);
    return;
  }
#endif
  skip("no GPU");
}
