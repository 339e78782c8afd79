/* Included by operator_kernels.c for each precision */

/* An operator as kernels see it, and as the formulas give it */
typedef struct {
  TYPED(StrataCoef) c;
  ptrdiff_t         cells;
  Side              side[STRATA_LEGS];
  Arrays            arrays;
  unsigned char    *there;                     /* bit l: leg l of a cell is there; bit 6: the cell is masked */
  long double      *excess, *leg[STRATA_LEGS]; /* of each cell, whatever mask and sides */
} TYPED(Problem);

static long double TYPED(wanted)(const TYPED(Problem) *p, int l, ptrdiff_t id)
{
  return p->there[id] >> l & 1 ? p->leg[l][id] : 0;
}

static void TYPED(make)(TYPED(Problem) *p, Kind kind, int masked, Layout layout, const int n[3])
{
  TYPED(StrataCoef) *c = &p->c;
  const ptrdiff_t    cells = (ptrdiff_t)n[0] * n[1] * n[2];
  unsigned char     *mask = (unsigned char *)calloc(cells, 1), *beyond[STRATA_LEGS], *flags;

  memset(p, 0, sizeof(*p));
  p->cells = cells;
  MakeSides(layout, kind >= FACES, p->side);
  for (int a = 0; a < 3; a++) c->n[a] = n[a];
  c->form = kind == CONSTANT ? STRATA_CONSTANT : kind == FACES ? STRATA_FACES : kind == LEGWISE ? STRATA_LEGWISE : STRATA_TENSOR;
  c->scale = (REAL)(Random(0, 1) < 0.3 ? 1 : Random(-2, 2));
  c->shift = (REAL)(Random(0, 1) < 0.3 ? 0 : Random(-1, 1));
  c->masked = (REAL)(Random(0, 1) < 0.3 ? 1 : Random(0.5, 2));
  for (int l = 0; l < STRATA_LEGS; l++) {
    c->outside[l] = p->side[l] == SIDE_NONE ? STRATA_OUTSIDE_NONE : p->side[l] == SIDE_ZERO ? STRATA_OUTSIDE_ZERO : STRATA_OUTSIDE_GHOST;
    beyond[l] = (unsigned char *)calloc(BeyondCount(n, l), 1);
    for (ptrdiff_t i = 0; i < BeyondCount(n, l) && masked; i++) beyond[l][i] = Random(0, 1) < 0.3;
  }

  /* Which legs are there */
  for (ptrdiff_t i = 0; i < cells && masked; i++) mask[i] = Random(0, 1) < 0.3;
  p->there = (unsigned char *)NewArray(&p->arrays, cells);
  flags = (unsigned char *)NewArray(&p->arrays, cells);
  if (masked) c->flags = flags;
  EACH_CELL(n, x, id)
  {
    p->there[id] = flags[id] = mask[id] ? 1 << 6 : 0;
    for (int l = 0; l < STRATA_LEGS && !mask[id]; l++) {
      const int there = !Crosses(n, l, x)           ? !mask[id + Step(n, l)]
                        : p->side[l] == SIDE_VIEW   ? !mask[id + Wrap(n, l)]
                        : p->side[l] == SIDE_BUFFER ? !beyond[l][Beyond(n, l, x)]
                                                    : p->side[l] == SIDE_ZERO;

      if (there) p->there[id] |= (unsigned char)(1 << l);
      if (there || (Crosses(n, l, x) && p->side[l] == SIDE_NONE && Random(0, 1) < 0.5)) flags[id] |= (unsigned char)(1 << l); /* no matter there */
    }
  }

  /* The coefficients, and their formulas */
  p->excess = (long double *)malloc(cells * sizeof(long double));
  for (int l = 0; l < STRATA_LEGS; l++) p->leg[l] = (long double *)malloc(cells * sizeof(long double));
  if (kind == CONSTANT) {
    c->excess = (REAL)Random(-1, 1);
    for (int l = 0; l < STRATA_LEGS; l++) c->leg[l] = (REAL)Random(-2, 1);
    EACH_CELL(n, x, id)
    {
      p->excess[id] = c->excess;
      for (int l = 0; l < STRATA_LEGS; l++) p->leg[l][id] = c->leg[l];
    }
  } else if (kind < FACES) {
    const int axis = kind - TENSOR_X, columns = (int)(cells / n[axis]), levels = n[axis];
    REAL     *alpha = TYPED(Numbers)(&p->arrays, 4 * columns, -1, 2), *level = TYPED(Numbers)(&p->arrays, 4 * levels, -2, 1);

    c->axis = axis;
    c->area = TYPED(Numbers)(&p->arrays, columns, 0.5, 2);
    for (int m = 0; m < 4; m++) {
      c->alpha[m] = alpha + m * columns;
      c->level[m] = level + m * levels;
    }
    EACH_CELL(n, x, id)
    {
      const ptrdiff_t column = Beyond(n, 2 * axis, x);
      const int       k = x[axis];

      p->excess[id] = (long double)c->area[column] * c->level[0][k];
      p->leg[2 * axis][id] = (long double)c->area[column] * c->level[2][k];
      p->leg[2 * axis + 1][id] = (long double)c->area[column] * c->level[1][k];
      for (int l = 0, m = 0; l < STRATA_LEGS; l++)
        if (l / 2 != axis) p->leg[l][id] = (long double)c->level[3][k] * c->alpha[m++][column];
    }
  } else {
    REAL *cell = TYPED(Numbers)(&p->arrays, cells, -1, 1), *legs[STRATA_LEGS], *high[3];

    for (int l = 0; l < STRATA_LEGS; l++)
      legs[l] = kind == FACES && l % 2 ? legs[l - 1] : TYPED(Numbers)(&p->arrays, cells, -2, 1); /* high faces are the next cells' low ones */
    for (int a = 0; a < 3 && kind == FACES; a++) {
      const int east = 2 * a + 1;

      high[a] = TYPED(Numbers)(&p->arrays, BeyondCount(n, east), -2, 1);
      c->high[a] = Ghost(n, p->side[east], east, sizeof(REAL), legs[east], high[a], 0);
    }
    EACH_CELL(n, x, id)
    {
      p->excess[id] = cell[id];
      for (int l = 0; l < STRATA_LEGS; l++) {
        if (kind == LEGWISE || l % 2 == 0)
          p->leg[l][id] = legs[l][id];
        else if (!Crosses(n, l, x))
          p->leg[l][id] = legs[l][id + Step(n, l)];
        else
          p->leg[l][id] = p->side[l] == SIDE_VIEW ? legs[l][id + Wrap(n, l)] : high[l / 2][Beyond(n, l, x)];
      }
    }
    /* Where a leg is not there, and in masked rows, the arrays of these forms say so themselves */
    EACH_CELL(n, x, id)
    {
      if (mask[id]) p->excess[id] = cell[id] = c->masked;
      for (int l = 0; l < STRATA_LEGS; l++) {
        p->leg[l][id] = TYPED(wanted)(p, l, id);
        if (kind == LEGWISE || l % 2 == 0)
          legs[l][id] = (REAL)p->leg[l][id];
        else if (Crosses(n, l, x) && p->side[l] != SIDE_VIEW)
          high[l / 2][Beyond(n, l, x)] = (REAL)p->leg[l][id];
      }
    }
    c->cell = cell;
    for (int l = 0; l < STRATA_LEGS; l += kind == FACES ? 2 : 1) c->legs[l] = legs[l];
  }
  for (int l = 0; l < STRATA_LEGS; l++) free(beyond[l]);
  free(mask);
}

static void TYPED(unmake)(TYPED(Problem) *p)
{
  FreeArrays(&p->arrays);
  free(p->excess);
  for (int l = 0; l < STRATA_LEGS; l++) free(p->leg[l]);
}

#if STRATA_HAVE_CUDA
/* The kernel structure with its arrays in device memory */
static TYPED(StrataCoef) TYPED(to_device)(const TYPED(Problem) *p)
{
  TYPED(StrataCoef) c = p->c;
  const void      **pointers[26];
  int               count = 0;

  pointers[count++] = (const void **)&c.area;
  pointers[count++] = (const void **)&c.cell;
  pointers[count++] = (const void **)&c.flags;
  for (int m = 0; m < 4; m++) {
    pointers[count++] = (const void **)&c.alpha[m];
    pointers[count++] = (const void **)&c.level[m];
  }
  for (int l = 0; l < STRATA_LEGS; l++) pointers[count++] = (const void **)&c.legs[l];
  for (int a = 0; a < 3; a++) pointers[count++] = &c.high[a].p;
  DeviceArrays(&p->arrays, count, (const void **const *)pointers);
  return c;
}
#endif

/* The row of a cell, scale and shift in it, by the formulas: the diagonal entry and the legs that lead to another cell */
static long double TYPED(formula)(const TYPED(Problem) *p, const int x[3], ptrdiff_t id, long double leg[])
{
  const TYPED(StrataCoef) *c = &p->c;
  long double              diagonal = p->there[id] >> 6 & 1 ? c->masked : p->excess[id];

  for (int l = 0; l < STRATA_LEGS; l++) {
    leg[l] = c->scale * TYPED(wanted)(p, l, id);
    diagonal -= TYPED(wanted)(p, l, id);
    if (Crosses(c->n, l, x) && p->side[l] == SIDE_ZERO) leg[l] = 0;
  }
  return c->scale * diagonal + c->shift;
}

/* ---- y = add + A x ------------------------------------------------------------------------------------------------------------------- */

typedef struct {
  int         nv, add, inplace, cut, shifted, padded; /* padded: leading dimensions that are multiples of whole vectors, else odd ones */
  const char *name;
} TYPED(Call);

static const TYPED(Call) TYPED(calls)[] = {
    {1, 0, 0, 0, 0, 0, "the whole box"}, {3, 1, 0, 0, 0, 1, "added"}, {2, 1, 1, 1, 0, 1, "in place"}, {1, 0, 0, 2, 1, 0, "in many boxes"}};

/* What the calls for one form gave */
typedef struct {
  int    host, touched, device, failed;
  double worst;
} TYPED(Result);

static void TYPED(call)(const TYPED(Problem) *p, const TYPED(Call) *q, int ondevice, TYPED(Result) *result)
{
  const TYPED(StrataCoef) *c = &p->c;
  const ptrdiff_t ldx = q->padded ? (p->cells + 7) / 4 * 4 : (p->cells + 3) / 2 * 2 + 1, ldy = ldx + 4, nx = q->nv * ldx + 1, ny = q->nv * ldy + 1;
  Arrays          space = {{NULL}, {0}, 0};
  REAL           *x = TYPED(Numbers)(&space, nx, -1, 1), *add = TYPED(Numbers)(&space, ny, -1, 1), *y = (REAL *)NewArray(&space, ny * sizeof(REAL)),
       *want = (REAL *)NewArray(&space, ny * sizeof(REAL)), *at = x + q->shifted, *buffer[STRATA_LEGS] = {NULL};
  StrataGhost ghost[STRATA_LEGS];
  StrataBox   box[STRATA_LEGS + 3] = {{{0, 0, 0}, {c->n[0], c->n[1], c->n[2]}}};
  const int   nbox = q->cut ? MakeBoxes(c->n, p->side, q->cut > 1, box) : 1;

  for (ptrdiff_t i = 0; i < nx; i++)
    if (i < q->shifted || (i - q->shifted) % ldx >= p->cells) x[i] = NAN;
  for (int l = 0; l < STRATA_LEGS; l++) {
    if (p->side[l] == SIDE_BUFFER) buffer[l] = TYPED(Numbers)(&space, q->nv * BeyondCount(c->n, l), -1, 1);
    ghost[l] = Ghost(c->n, p->side[l], l, sizeof(REAL), at, buffer[l], ldx);
  }
  TYPED(Poison)(want, ny);
  for (int v = 0; v < q->nv; v++) EACH_CELL(c->n, i, id)
    {
      const REAL  u = at[v * ldx + id], r = CELL(strata_apply)(c, ghost, v, i, at + v * ldx);
      long double leg[STRATA_LEGS], exact = TYPED(formula)(p, i, id, leg) * u, size = fabsl((long double)c->scale * p->excess[id] * u);

      size += fabsl((long double)c->shift * u) + fabsl((long double)c->scale * c->masked * u);
      for (int l = 0; l < STRATA_LEGS; l++) {
        const REAL w = !Crosses(c->n, l, i)        ? at[v * ldx + id + Step(c->n, l)]
                       : p->side[l] == SIDE_VIEW   ? at[v * ldx + id + Wrap(c->n, l)]
                       : p->side[l] == SIDE_BUFFER ? buffer[l][v * BeyondCount(c->n, l) + Beyond(c->n, l, i)]
                                                   : 0;

        exact += leg[l] * w;
        size += fabsl(c->scale * TYPED(wanted)(p, l, id)) * (fabsl((long double)w) + fabsl((long double)u));
      }
      if (!(fabsl(r - exact) <= 1e30L)) result->worst = INFINITY;
      result->worst = fmax(result->worst, (double)(fabsl(r - exact) / (size + REAL_EPSILON)));
      want[v * ldy + id] = q->add ? add[v * ldy + id] + r : r;
    }
  if (q->inplace)
    for (ptrdiff_t i = 0; i < ny; i++)
      if (isnan(want[i])) want[i] = add[i];
#define BEGIN(y)                                                                                                                                     \
  for (ptrdiff_t i = 0; i < ny; i++) (y)[i] = q->inplace ? add[i] : NAN
  BEGIN(y);
  TYPED(StrataMultHost)(c, ghost, nbox, box, q->nv, at, ldx, q->inplace ? y : q->add ? add : NULL, y, ldy);
  for (ptrdiff_t i = 0; i < ny; i++) {
    const int cell = i % ldy < p->cells && i / ldy < q->nv;

    if (y[i] != want[i] && !(isnan(y[i]) && isnan(want[i]))) *(cell ? &result->host : &result->touched) = 0;
  }
#if STRATA_HAVE_CUDA
  if (ondevice) {
    const TYPED(StrataCoef) d = TYPED(to_device)(p);
    REAL                   *dx, *dadd, *dy;

    BEGIN(y);
    dx = DeviceCopy(x, nx * sizeof(REAL));
    dadd = DeviceCopy(add, ny * sizeof(REAL));
    dy = DeviceCopy(y, ny * sizeof(REAL));
    for (int l = 0; l < STRATA_LEGS; l++)
      ghost[l] = Ghost(c->n, p->side[l], l, sizeof(REAL), dx + q->shifted,
                       buffer[l] ? DeviceCopy(buffer[l], q->nv * BeyondCount(c->n, l) * sizeof(REAL)) : NULL, ldx);
    result->failed += TYPED(StrataMultCUDA)(&d, ghost, nbox, box, q->nv, dx + q->shifted, ldx,
                                            q->inplace ? dy
                                            : q->add   ? dadd
                                                       : NULL,
                                            dy, ldy, NULL) != 0;
    DeviceRead(y, dy, ny * sizeof(REAL));
    if (!TYPED(Same)(y, want, ny)) result->device = 0;
    DeviceFreeAll();
  }
#else
  (void)ondevice;
#endif
#undef BEGIN
  FreeArrays(&space);
}

static void TYPED(mults)(const char *precision, Kind kind, int masked)
{
  TYPED(Result) result = {1, 1, 1, 0, 0};
  const int     device = TapHasDevice();
  const char   *mask = masked ? ", masked" : "";

  for (int shape = 0; shape < SHAPES; shape++)
    for (Layout layout = 0; layout < LAYOUTS; layout++)
      for (int call = 0; call < 4; call++) {
        TYPED(Problem) p;
        int            on;

        /* every second small box in one way; large ones so that each kernel of marching threads is met */
        if (shape < LARGE)
          on = shape % 2 == masked && (shape + (int)kind) % LAYOUTS == (int)layout && (shape / 2 + (int)kind) % 4 == call;
        else
          on = call > 1 ? layout == ROWS_INSIDE && shape < SHAPES - 1
                        : layout == ONE_RANK || (shape < SHAPES - 1 && layout == (call ? ALL_VIEWS : ALL_NONE));
        if (!on && shape >= LARGE - 2 && ((int)layout + call) % 4 != (masked + (int)kind) % 4) continue; /* a part of the large ones will do */
        TYPED(make)(&p, kind, masked, layout, shapes[shape]);
        TYPED(call)(&p, &TYPED(calls)[call], device && on, &result);
        TYPED(unmake)(&p);
      }
  ok(result.worst <= 4 * REAL_EPSILON, "%s, %s%s: the arithmetic of a cell, error %.1e", precision, kinds[kind], mask, result.worst);
  ok(result.host, "%s, %s%s: the loops of the host give the same", precision, kinds[kind], mask);
  ok(result.touched, "%s, %s%s: nothing is written beyond the box", precision, kinds[kind], mask);
#if STRATA_HAVE_CUDA
  if (device) {
    is_int(result.failed, 0, "%s, %s%s: kernels run on the device", precision, kinds[kind], mask);
    ok(result.device, "%s, %s%s: the device gives the same", precision, kinds[kind], mask);
    return;
  }
#endif
  skip("no GPU");
}

/* ---- numbers of rows, and coefficients written out ------------------------------------------------------------------------------------- */

static int TYPED(near)(REAL got, long double want, long double size)
{
  return fabsl(got - want) <= 4 * REAL_EPSILON * size;
}

/* A number of a row by its definition; the line of an axis is the diagonal entry with the two legs along it */
static long double TYPED(quantity)(StrataRowQuantity quantity, int axis, long double diagonal, const long double leg[])
{
  long double sum = quantity == STRATA_ROW_ABSSUM ? fabsl(diagonal) : quantity == STRATA_ROW_AXIS ? 0 : diagonal;

  for (int l = 0; l < STRATA_LEGS; l++) {
    if (quantity == STRATA_ROW_DIAGONAL || (quantity >= STRATA_ROW_AXIS && l / 2 != axis)) continue;
    sum += quantity == STRATA_ROW_ABSSUM || quantity == STRATA_ROW_AXIS ? fabsl(leg[l]) : leg[l];
  }
  return sum;
}

/* Excess and legs written out, where they are wanted */
typedef struct {
  Arrays space;
  REAL  *cell, *leg[STRATA_LEGS];
} TYPED(Expanded);

static void TYPED(begin_expanded)(TYPED(Expanded) *e, ptrdiff_t cells, int without)
{
  memset(e, 0, sizeof(*e));
  for (int l = -1; l < STRATA_LEGS; l++) {
    REAL *a = l >= 0 && l == without ? NULL : (REAL *)NewArray(&e->space, cells * sizeof(REAL));

    if (a) TYPED(Poison)(a, cells);
    *(l < 0 ? &e->cell : &e->leg[l]) = a;
  }
}

#if STRATA_HAVE_CUDA
/* The same arrays on the device, and back */
static TYPED(Expanded) TYPED(expanded_to_device)(const TYPED(Expanded) *e)
{
  TYPED(Expanded) d = *e;
  const void    **pointers[STRATA_LEGS + 1];

  pointers[STRATA_LEGS] = (const void **)&d.cell;
  for (int l = 0; l < STRATA_LEGS; l++) pointers[l] = (const void **)&d.leg[l];
  DeviceArrays(&e->space, STRATA_LEGS + 1, (const void **const *)pointers);
  return d;
}

static int TYPED(same_on_device)(const TYPED(Expanded) *e, const TYPED(Expanded) *d, ptrdiff_t cells)
{
  REAL *back = (REAL *)malloc(cells * sizeof(REAL));
  int   same = 1;

  for (int l = -1; l < STRATA_LEGS; l++) {
    const REAL *a = l < 0 ? e->cell : e->leg[l];

    if (!a) continue;
    DeviceRead(back, l < 0 ? d->cell : d->leg[l], cells * sizeof(REAL));
    if (!TYPED(Same)(back, a, cells)) same = 0;
  }
  free(back);
  return same;
}
#endif

static void TYPED(rows)(const char *precision, Kind kind, int masked)
{
  const char *mask = masked ? ", masked" : "";
  int         right[5] = {1, 1, 1, 1, 1}, same = 1, expanded = 1, inplace = 1, device = TapHasDevice(), failed = 0, ondevice = 1;

  for (int shape = 0; shape < 7; shape++)
    for (Layout layout = 0; layout < LAYOUTS; layout++) {
      TYPED(Problem)           p;
      TYPED(Expanded)          out, over;
      const TYPED(StrataCoef) *c = &p.c;
      REAL                    *y;

#if STRATA_HAVE_CUDA
      const int on = device && shape == 6 && (int)layout == (shape + (int)kind + masked) % LAYOUTS;
#endif
      TYPED(make)(&p, kind, masked, layout, shapes[shape]);
      y = TYPED(Numbers)(&p.arrays, p.cells, -1, 1);
      for (StrataRowQuantity quantity = STRATA_ROW_DIAGONAL; quantity <= STRATA_ROW_LINE; quantity++)
        for (int axis = 0; axis < 3; axis++) {
          TYPED(Poison)(y, p.cells);
          TYPED(StrataRowsHost)(c, quantity, axis, y);
          EACH_CELL(c->n, x, id)
          {
            long double exact[STRATA_LEGS], diagonal = TYPED(formula)(&p, x, id, exact), size = fabsl(diagonal) + fabsl((long double)c->shift);
            REAL        leg[STRATA_LEGS];
            const REAL  excess = CELL(strata_row)(c, x, leg);

            size += fabsl(c->scale * p.excess[id]) + fabsl((long double)c->scale * c->masked);
            for (int l = 0; l < STRATA_LEGS; l++) size += fabsl(c->scale * TYPED(wanted)(&p, l, id));
            if (y[id] != CELL(strata_quantity)(quantity, axis, excess, leg)) same = 0;
            if (!TYPED(near)(y[id], TYPED(quantity)(quantity, axis, diagonal, exact), size)) right[quantity] = 0;
          }
#if STRATA_HAVE_CUDA
          if (on && axis == (int)(quantity + kind) % 3) {
            const TYPED(StrataCoef) d = TYPED(to_device)(&p);
            REAL                   *back = (REAL *)malloc(p.cells * sizeof(REAL)), *dy;

            TYPED(Poison)(back, p.cells);
            dy = DeviceCopy(back, p.cells * sizeof(REAL));
            failed += TYPED(StrataRowsCUDA)(&d, quantity, axis, dy, NULL) != 0;
            DeviceRead(back, dy, p.cells * sizeof(REAL));
            if (!TYPED(Same)(back, y, p.cells)) ondevice = 0;
            free(back);
            DeviceFreeAll();
          }
#endif
        }

      /* all coefficients written out, beside and over those that are there */
      TYPED(begin_expanded)(&out, p.cells, layout == ALL_BUFFERS ? shape % STRATA_LEGS : -1);
      TYPED(StrataExpandHost)(c, out.cell, out.leg);
      EACH_CELL(c->n, x, id)
      {
        REAL leg[STRATA_LEGS];

        if (out.cell[id] != CELL(strata_row)(c, x, leg)) expanded = 0;
        for (int l = 0; l < STRATA_LEGS; l++)
          if (out.leg[l] && out.leg[l][id] != leg[l]) expanded = 0;
      }
#if STRATA_HAVE_CUDA
      if (on) {
        const TYPED(StrataCoef) d = TYPED(to_device)(&p);
        TYPED(Expanded)         at;

        TYPED(begin_expanded)(&over, p.cells, layout == ALL_BUFFERS ? shape % STRATA_LEGS : -1);
        at = TYPED(expanded_to_device)(&over);
        failed += TYPED(StrataExpandCUDA)(&d, at.cell, at.leg, NULL) != 0;
        if (!TYPED(same_on_device)(&out, &at, p.cells)) ondevice = 0;
        DeviceFreeAll();
        FreeArrays(&over.space);
      }
#endif
      FreeArrays(&out.space);
      if (kind >= FACES) { /* legs that are not there become zero, as the set-up of an operator has it */
        const int         step = kind == FACES ? 2 : 1;
        TYPED(StrataCoef) before = *c;

        TYPED(begin_expanded)(&over, p.cells, -1);
        before.scale = 1;
        before.shift = 0;
        before.cell = over.cell;
        for (int a = 0; a < 3; a++) before.high[a].p = NULL;
        for (int l = STRATA_LEGS - 1; l >= 0; l--) {
          if (l % step) {
            over.leg[l] = NULL;
            continue;
          }
          before.legs[l] = over.leg[l];
          EACH_CELL(c->n, x, id)
          {
            over.cell[id] = p.there[id] >> 6 & 1 ? (REAL)Random(-9, 9) : c->cell[id];
            over.leg[l][id] = p.there[id] >> l & 1 ? c->legs[l][id] : (REAL)Random(-9, 9);
          }
        }
#if STRATA_HAVE_CUDA
        if (on) {
          TYPED(StrataCoef) d = before;
          TYPED(Expanded)   at = TYPED(expanded_to_device)(&over), want;

          want = over;
          want.cell = (REAL *)c->cell;
          for (int l = 0; l < STRATA_LEGS; l++) {
            d.legs[l] = at.leg[l];
            want.leg[l] = over.leg[l] ? (REAL *)c->legs[l] : NULL;
          }
          d.cell = at.cell;
          if (c->flags) d.flags = DeviceCopy(c->flags, p.cells);
          failed += TYPED(StrataExpandCUDA)(&d, at.cell, at.leg, NULL) != 0;
          if (!TYPED(same_on_device)(&want, &at, p.cells)) ondevice = 0;
          DeviceFreeAll();
        }
#endif
        TYPED(StrataExpandHost)(&before, over.cell, over.leg);
        if (!TYPED(Same)(over.cell, c->cell, p.cells)) inplace = 0;
        for (int l = 0; l < STRATA_LEGS; l += step)
          if (!TYPED(Same)(over.leg[l], c->legs[l], p.cells)) inplace = 0;
        FreeArrays(&over.space);
      }
      TYPED(unmake)(&p);
    }
  ok(right[STRATA_ROW_DIAGONAL], "%s, %s%s: diagonal entries", precision, kinds[kind], mask);
  ok(right[STRATA_ROW_ABSSUM], "%s, %s%s: sums of absolute values", precision, kinds[kind], mask);
  ok(right[STRATA_ROW_EXCESS], "%s, %s%s: sums of rows", precision, kinds[kind], mask);
  ok(right[STRATA_ROW_AXIS], "%s, %s%s: legs along an axis", precision, kinds[kind], mask);
  ok(right[STRATA_ROW_LINE], "%s, %s%s: sums of the rows of lines", precision, kinds[kind], mask);
  ok(same && expanded, "%s, %s%s: the loops over rows are those of a cell", precision, kinds[kind], mask);
  if (kind >= FACES) ok(inplace, "%s, %s%s: coefficients written over themselves", precision, kinds[kind], mask);
  if (device) {
    is_int(failed, 0, "%s, %s%s: kernels of rows run on the device", precision, kinds[kind], mask);
    ok(ondevice, "%s, %s%s: the device gives the same rows", precision, kinds[kind], mask);
  } else
    skip("no GPU");
}

/* ---- the transpose --------------------------------------------------------------------------------------------------------------------- */

static void TYPED(transposes)(const char *precision)
{
  int right = 1, same = 1, device = TapHasDevice(), failed = 0, ondevice = 1;

  for (int shape = 0; shape < 7; shape++)
    for (Layout layout = 0; layout < LAYOUTS; layout++)
      for (int masked = 0; masked < 2; masked++) {
        TYPED(Problem)     p;
        TYPED(Expanded)    out;
        TYPED(StrataCoef) *c = &p.c;
        REAL              *buffer[STRATA_LEGS];
        StrataGhost        ghost[STRATA_LEGS];

        TYPED(make)(&p, LEGWISE, masked, layout, shapes[shape]);
        c->scale = 1;
        c->shift = 0;
        for (int l = 0; l < STRATA_LEGS; l++) {
          buffer[l] = TYPED(Numbers)(&p.arrays, BeyondCount(c->n, l), -1, 1);
          ghost[l] = Ghost(c->n, p.side[l], l, sizeof(REAL), c->legs[l ^ 1], buffer[l], 0);
        }
        TYPED(begin_expanded)(&out, p.cells, -1);
        TYPED(StrataTransposeHost)(c, ghost, out.cell, out.leg);
        EACH_CELL(c->n, x, id)
        {
          long double leg[STRATA_LEGS], sum = TYPED(formula)(&p, x, id, leg), size = fabsl(sum) + fabsl(p.excess[id]);
          REAL        mine[STRATA_LEGS];

          for (int l = 0; l < STRATA_LEGS; l++) {
            size += fabsl(leg[l]);
            leg[l] = !Crosses(c->n, l, x)       ? p.leg[l ^ 1][id + Step(c->n, l)]
                     : p.side[l] == SIDE_VIEW   ? p.leg[l ^ 1][id + Wrap(c->n, l)]
                     : p.side[l] == SIDE_BUFFER ? buffer[l][Beyond(c->n, l, x)]
                                                : 0;
            if (out.leg[l][id] != leg[l]) right = 0;
            sum += leg[l];
            size += fabsl(leg[l]);
          }
          if (!TYPED(near)(out.cell[id], sum, size)) right = 0;
          if (out.cell[id] != CELL(strata_transposed)(c, ghost, x, mine)) same = 0;
        }
#if STRATA_HAVE_CUDA
        if (device && (shape == 3 || shape == 6)) {
          const TYPED(StrataCoef) d = TYPED(to_device)(&p);
          TYPED(Expanded)         empty, at;

          for (int l = 0; l < STRATA_LEGS; l++)
            ghost[l] = Ghost(c->n, p.side[l], l, sizeof(REAL), d.legs[l ^ 1], DeviceCopy(buffer[l], BeyondCount(c->n, l) * sizeof(REAL)), 0);
          TYPED(begin_expanded)(&empty, p.cells, -1);
          at = TYPED(expanded_to_device)(&empty);
          failed += TYPED(StrataTransposeCUDA)(&d, ghost, at.cell, at.leg, NULL) != 0;
          if (!TYPED(same_on_device)(&out, &at, p.cells)) ondevice = 0;
          DeviceFreeAll();
          FreeArrays(&empty.space);
        }
#endif
        FreeArrays(&out.space);
        TYPED(unmake)(&p);
      }
  ok(right, "%s: the transpose has the legs of the neighbours", precision);
  ok(same, "%s: the loops over the transpose are those of a cell", precision);
  if (device) {
    is_int(failed, 0, "%s: kernels of the transpose run on the device", precision);
    ok(ondevice, "%s: the device gives the same transpose", precision);
  } else
    skip("no GPU");
}

/* A rank without cells */
static void TYPED(empties)(const char *precision)
{
  static const StrataGhost none[STRATA_LEGS];
  const StrataBox          box[2] = {{{0, 0, 0}, {0, 3, 2}}, {{0, 2, 0}, {0, 1, 2}}};
  REAL *const              legs[STRATA_LEGS] = {NULL};
  TYPED(StrataCoef)        c;

  memset(&c, 0, sizeof(c));
  c.n[1] = 3;
  c.n[2] = 2;
  for (int form = STRATA_CONSTANT; form <= STRATA_LEGWISE; form++) {
    c.form = form;
    TYPED(StrataMultHost)(&c, none, 2, box, 2, NULL, 0, NULL, NULL, 0);
    TYPED(StrataMultHost)(&c, none, 0, box, 2, NULL, 0, NULL, NULL, 0);
    TYPED(StrataRowsHost)(&c, STRATA_ROW_DIAGONAL, 0, NULL);
    TYPED(StrataExpandHost)(&c, NULL, legs);
    TYPED(StrataTransposeHost)(&c, none, NULL, legs);
  }
  ok(1, "%s: nothing is done where there are no cells", precision);
#if STRATA_HAVE_CUDA
  if (TapHasDevice()) {
    int failed = 0;

    failed += TYPED(StrataMultCUDA)(&c, none, 2, box, 2, NULL, 0, NULL, NULL, 0, NULL) != 0;
    failed += TYPED(StrataMultCUDA)(&c, none, 0, box, 2, NULL, 0, NULL, NULL, 0, NULL) != 0;
    failed += TYPED(StrataRowsCUDA)(&c, STRATA_ROW_DIAGONAL, 0, NULL, NULL) != 0;
    failed += TYPED(StrataExpandCUDA)(&c, NULL, legs, NULL) != 0;
    failed += TYPED(StrataTransposeCUDA)(&c, none, NULL, legs, NULL) != 0;
    is_int(failed, 0, "%s: no kernel is started where there are no cells", precision);
    return;
  }
#endif
  skip("no GPU");
}
