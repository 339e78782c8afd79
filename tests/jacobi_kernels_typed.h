/* Included by jacobi_kernels.c for each precision */

/* A system on an array, the box in it that is written, and a case of tiles */
typedef struct {
  TYPED(StrataSystem) s;
  StrataTiling        t;
  StrataBox           box;
  ptrdiff_t           cells;
  Arrays              arrays;
  REAL               *b, *x, *weight;
} TYPED(Problem);

/* Tiles of all sorts: narrow, wider than the grid, more sweeps than a tile is wide; `exact` makes overlaps of 2 (k - 1) or more */
static void TYPED(make)(TYPED(Problem) *p, int dim, int form, int side, const int shape[3], int k, int exact)
{
  TYPED(StrataSystem) *s = &p->s;

  memset(p, 0, sizeof(*p));
  s->dim = dim;
  s->form = form;
  p->t.sweeps = k;
  p->cells = 1;
  for (int a = 0; a < 3; a++) {
    int o = exact ? 2 * (k - 1) + 2 * Between(0, 2) : 2 * Between(0, 4), low = 0, high = 0;

    if (a < dim) {
      p->t.overlap[a] = o;
      p->t.tile[a] = o + Between(1, 24);
      low = side == GOES_ON || (side == MIXED && a == 0) ? o / 2 + 1 : 0;
      high = side == GOES_ON || (side == MIXED && a == 1) ? o / 2 + 1 : 0;
    } else
      p->t.tile[a] = 1;
    p->box.lo[a] = low;
    p->box.hi[a] = low + (a < dim ? shape[a] : 1);
    s->n[a] = p->box.hi[a] + high;
    p->cells *= s->n[a];
    s->outside[2 * a] = low ? STRATA_OUTSIDE_GHOST : a < dim ? STRATA_OUTSIDE_ZERO : STRATA_OUTSIDE_NONE;
    s->outside[2 * a + 1] = high ? STRATA_OUTSIDE_GHOST : a < dim ? STRATA_OUTSIDE_ZERO : STRATA_OUTSIDE_NONE;
  }
  for (int l = 0; l < 2 * dim; l++) {
    s->leg[l] = (REAL)(form == STRATA_SYSTEM_EQUAL ? 0.5 / dim : Random(0, 1. / dim));
    if (form != STRATA_SYSTEM_VARIABLE) continue;
    s->legs[l] = TYPED(Numbers)(&p->arrays, p->cells, -0.6 / dim, 1. / dim);
    if (side == MIXED && s->outside[l] == STRATA_OUTSIDE_ZERO) { /* no flux: nothing but zeros crosses the side */
      const ptrdiff_t step = l < 2 ? 1 : l < 4 ? s->n[0] : (ptrdiff_t)s->n[0] * s->n[1];

      s->outside[l] = STRATA_OUTSIDE_NONE;
      for (ptrdiff_t i = 0; i < p->cells; i++)
        if (i / step % s->n[l / 2] == (l % 2 ? s->n[l / 2] - 1 : 0)) ((REAL *)s->legs[l])[i] = 0;
    }
  }
  p->b = TYPED(Numbers)(&p->arrays, p->cells, -1, 1);
  p->x = TYPED(Numbers)(&p->arrays, p->cells, -1, 1);
  p->weight = TYPED(Numbers)(&p->arrays, k, 0.3, 1.7);
  for (int m = 0; m < k; m++)
    if (Between(0, 2) == 0) p->weight[m] = 1;
}

/* A plain sweep over the cells of a box; v is u elsewhere */
static void TYPED(plain)(const TYPED(Problem) *p, const StrataBox *box, REAL weight, const REAL *u, REAL *v)
{
  const TYPED(StrataSystem) *s = &p->s;
  const ptrdiff_t            step[3] = {1, s->n[0], (ptrdiff_t)s->n[0] * s->n[1]};
  int                        i[3];

  memcpy(v, u, p->cells * sizeof(REAL));
  for (i[2] = box->lo[2]; i[2] < box->hi[2]; i[2]++)
    for (i[1] = box->lo[1]; i[1] < box->hi[1]; i[1]++)
      for (i[0] = box->lo[0]; i[0] < box->hi[0]; i[0]++) {
        const ptrdiff_t id = i[0] + i[1] * step[1] + i[2] * step[2];
        REAL            w[STRATA_LEGS] = {0}, leg[STRATA_LEGS] = {0}, r;

        for (int l = 0; l < 2 * s->dim; l++) {
          w[l] = i[l / 2] == (l % 2 ? s->n[l / 2] - 1 : 0) ? 0 : u[l % 2 ? id + step[l / 2] : id - step[l / 2]];
          leg[l] = s->form == STRATA_SYSTEM_VARIABLE ? s->legs[l][id] : s->leg[l];
        }
        r = s->form == STRATA_SYSTEM_EQUAL ? CELL(strata_jacobi_equal)(s->dim, leg[0], p->b[id], w)
                                           : CELL(strata_jacobi_legs)(s->dim, leg, p->b[id], w);
        v[id] = CELL(strata_jacobi_damped)(weight, u[id], r);
      }
}

/* All sweeps in the cells of a box, the others as they are at first; gives what is before and after the last */
static void TYPED(sweeps)(const TYPED(Problem) *p, const StrataBox *box, REAL *before, REAL *after)
{
  memcpy(after, p->x, p->cells * sizeof(REAL));
  for (int k = 0; k < p->t.sweeps; k++) {
    memcpy(before, after, p->cells * sizeof(REAL));
    TYPED(plain)(p, box, p->weight[k], before, after);
  }
}

/* Takes the cells of a box, and the largest change there */
static void TYPED(take)(const TYPED(Problem) *p, const StrataBox *box, const REAL *before, const REAL *after, REAL *y, REAL *change)
{
  for (int k = box->lo[2]; k < box->hi[2]; k++)
    for (int j = box->lo[1]; j < box->hi[1]; j++)
      for (int i = box->lo[0]; i < box->hi[0]; i++) {
        const ptrdiff_t id = i + p->s.n[0] * (j + (ptrdiff_t)p->s.n[1] * k);
        const REAL      d = (REAL)fabs((double)(after[id] - before[id]));

        y[id] = after[id];
        if (d > *change) *change = d;
      }
}

/* What a cycle is, from its definition: the cells of tile b are [b (t - o), b (t - o) + t), those that it writes o/2 or more from its ends */
static void TYPED(definition)(const TYPED(Problem) *p, REAL *y, REAL *change)
{
  REAL     *before = (REAL *)malloc(p->cells * sizeof(REAL)), *after = (REAL *)malloc(p->cells * sizeof(REAL));
  StrataBox all = p->box;
  int       b[3], stride[3];

  for (int a = 0; a < 3; a++) {
    if (all.lo[a] > 0) all.lo[a] -= p->t.overlap[a] / 2;
    if (all.hi[a] < p->s.n[a]) all.hi[a] += p->t.overlap[a] / 2;
    stride[a] = p->t.tile[a] - p->t.overlap[a];
  }
  TYPED(Poison)(y, p->cells);
  *change = 0;
  for (b[2] = 0; b[2] == 0 || all.lo[2] + b[2] * stride[2] + p->t.overlap[2] < all.hi[2]; b[2]++)
    for (b[1] = 0; b[1] == 0 || all.lo[1] + b[1] * stride[1] + p->t.overlap[1] < all.hi[1]; b[1]++)
      for (b[0] = 0; b[0] == 0 || all.lo[0] + b[0] * stride[0] + p->t.overlap[0] < all.hi[0]; b[0]++) {
        StrataBox compute, write;

        for (int a = 0; a < 3; a++) {
          compute.lo[a] = all.lo[a] + b[a] * stride[a];
          compute.hi[a] = compute.lo[a] + p->t.tile[a];
          write.lo[a] = b[a] ? compute.lo[a] + p->t.overlap[a] / 2 : p->box.lo[a];
          write.hi[a] = compute.hi[a] - p->t.overlap[a] / 2;
          if (compute.hi[a] >= all.hi[a]) {
            compute.hi[a] = all.hi[a];
            write.hi[a] = p->box.hi[a];
          }
        }
        TYPED(sweeps)(p, &compute, before, after);
        TYPED(take)(p, &write, before, after, y, change);
      }
  free(before);
  free(after);
}

/* All shapes and numbers of sweeps, for one form and what is beyond the sides */
static void TYPED(cycles)(const char *precision, int dim, int form, int side)
{
  int exact = 1, single = 1, tiles = 1, changes = 1, fast = 1, ones = 1, cases = 0;

  for (int shape = 0; shape < SHAPES; shape++)
    for (int k = 1; k <= 9; k += k < 4 ? 1 : 5)
      for (int overlaps = 0; overlaps < 2; overlaps++) { /* of any width, and wide enough for the same iterates as plain sweeps */
        TYPED(Problem) p;
        StrataBox      all = {{0, 0, 0}, {0, 0, 0}};
        REAL          *y, *want, *before, *after, change = -1, expected;

        TYPED(make)(&p, dim, form, side, shapes[shape], k, overlaps);
        for (int a = 0; a < 3; a++) all.hi[a] = p.s.n[a];
        y = TYPED(Numbers)(&p.arrays, p.cells, 0, 1);
        want = TYPED(Numbers)(&p.arrays, p.cells, 0, 1);
        before = TYPED(Numbers)(&p.arrays, p.cells, 0, 1);
        after = TYPED(Numbers)(&p.arrays, p.cells, 0, 1);
        TYPED(Poison)(y, p.cells);
        TYPED(StrataCycleHost)(&p.s, &p.t, &p.box, p.weight, p.b, p.x, y, &change);
        TYPED(definition)(&p, want, &expected);
        tiles &= TYPED(Same)(y, want, p.cells);
        changes &= change == expected;
        if (overlaps || k == 1) {
          TYPED(Poison)(want, p.cells);
          expected = 0;
          TYPED(sweeps)(&p, &all, before, after);
          TYPED(take)(&p, &p.box, before, after, want, &expected);
          if (overlaps)
            exact &= TYPED(Same)(y, want, p.cells);
          else
            single &= TYPED(Same)(y, want, p.cells);
          changes &= change == expected;
        }
        TYPED(Poison)(want, p.cells);
        expected = -1;
        fast &= !TYPED(StrataCycleFastHost)(&p.s, &p.t, 1, 0, &p.box, p.weight, p.b, p.x, want, &expected) && TYPED(Same)(y, want, p.cells);
        changes &= change == expected;
        for (int m = 0; m < k; m++) p.weight[m] = 1;
        TYPED(StrataCycleHost)(&p.s, &p.t, &p.box, p.weight, p.b, p.x, y, NULL);
        TYPED(StrataCycleHost)(&p.s, &p.t, &p.box, NULL, p.b, p.x, want, NULL);
        ones &= TYPED(Same)(y, want, p.cells);
        TYPED(Poison)(want, p.cells);
        ones &= !TYPED(StrataCycleFastHost)(&p.s, &p.t, 1, 0, &p.box, NULL, p.b, p.x, want, NULL) && TYPED(Same)(y, want, p.cells);
        cases++;
        FreeArrays(&p.arrays);
      }
  is_int(cases, 70, "%s, %dD, %s, %s: all cases", precision, dim, forms[form], sides[side]);
  ok(exact, "%s, %dD, %s, %s: an overlap of 2 (k - 1) gives k plain sweeps", precision, dim, forms[form], sides[side]);
  ok(single, "%s, %dD, %s, %s: one sweep does not depend on the overlap", precision, dim, forms[form], sides[side]);
  ok(tiles, "%s, %dD, %s, %s: tiles by their definition, no other cell is written", precision, dim, forms[form], sides[side]);
  ok(fast, "%s, %dD, %s, %s: rows at a time give the same bits", precision, dim, forms[form], sides[side]);
  ok(ones, "%s, %dD, %s, %s: no weights are weights of 1", precision, dim, forms[form], sides[side]);
  ok(changes, "%s, %dD, %s, %s: the largest change", precision, dim, forms[form], sides[side]);
}

/* NaN anywhere among the cells that are written is the largest change */
static void TYPED(nan)(const char *precision)
{
  const int shape[3] = {9, 7, 1};

  for (int at = 0; at < 63; at += 31) {
    TYPED(Problem) p;
    REAL          *y, change;

    TYPED(make)(&p, 2, STRATA_SYSTEM_EQUAL, ENDS, shape, 2, 1);
    y = TYPED(Numbers)(&p.arrays, p.cells, 0, 1);
    p.b[at] = NAN;
    TYPED(StrataCycleHost)(&p.s, &p.t, &p.box, p.weight, p.b, p.x, y, &change);
    ok(isnan(change), "%s: NaN in cell %d is seen", precision, at);
    change = 0;
    ok(!TYPED(StrataCycleFastHost)(&p.s, &p.t, 1, 0, &p.box, p.weight, p.b, p.x, y, &change) && isnan(change), "%s: rows at a time", precision);
    p.t.overlap[0] = p.t.overlap[1] = 0;
    p.t.tile[0] = p.t.tile[1] = 4;
    change = 0;
    ok(!TYPED(StrataCycleFastHost)(&p.s, &p.t, 1, 0, &p.box, p.weight, p.b, p.x, y, &change) && isnan(change), "%s: tiles by rows", precision);
    FreeArrays(&p.arrays);
  }
}

/* Several vectors at once, each with the bits that it has alone, on small grids and on those that are swept in several strips */
static void TYPED(vectors)(const char *precision, int dim, int form, int side)
{
  int same = 1, changes = 1, untouched = 1;

  for (int nv = 1; nv <= 7; nv += 3)
    for (int wide = 0; wide < 2; wide++)
      for (int exact = 0; exact < 2; exact++) {
        TYPED(Problem)  p;
        const ptrdiff_t more = 3 * nv % 5; /* between the vectors */
        ptrdiff_t       ld;
        REAL           *b, *x, *y, *want, change = -1, expected = 0;

        TYPED(make)(&p, dim, form, side, wide ? wides[dim - 1] : shapes[nv % SHAPES], 2 + (nv + wide) % 4, exact);
        ld = p.cells + more;
        b = TYPED(Numbers)(&p.arrays, nv * ld, -1, 1);
        x = TYPED(Numbers)(&p.arrays, nv * ld, -1, 1);
        y = TYPED(Numbers)(&p.arrays, nv * ld, 0, 1);
        want = TYPED(Numbers)(&p.arrays, nv * ld, 0, 1);
        TYPED(Poison)(y, nv * ld);
        TYPED(Poison)(want, nv * ld);
        same &= !TYPED(StrataCycleFastHost)(&p.s, &p.t, nv, ld, &p.box, p.weight, b, x, y, &change);
        for (int v = 0; v < nv; v++) {
          REAL one;

          same &= !TYPED(StrataCycleFastHost)(&p.s, &p.t, 1, 0, &p.box, p.weight, b + v * ld, x + v * ld, want + v * ld, &one);
          if (one > expected) expected = one;
          if (!wide) {
            TYPED(StrataCycleHost)(&p.s, &p.t, &p.box, p.weight, b + v * ld, x + v * ld, p.x, NULL);
            for (int k = p.box.lo[2]; k < p.box.hi[2]; k++)
              for (int j = p.box.lo[1]; j < p.box.hi[1]; j++)
                for (int i = p.box.lo[0]; i < p.box.hi[0]; i++) {
                  const ptrdiff_t id = i + p.s.n[0] * (j + (ptrdiff_t)p.s.n[1] * k);

                  same &= p.x[id] == y[v * ld + id];
                }
          }
          for (ptrdiff_t m = 0; m < more; m++) untouched &= isnan(y[v * ld + p.cells + m]);
        }
        same &= TYPED(Same)(y, want, nv * ld);
        changes &= change == expected;
        memset(x, 0, nv * ld * sizeof(REAL));
        same &= !TYPED(StrataCycleFastHost)(&p.s, &p.t, nv, ld, &p.box, p.weight, b, x, y, NULL);
        same &= !TYPED(StrataCycleFastHost)(&p.s, &p.t, nv, ld, &p.box, p.weight, b, NULL, want, NULL);
        same &= TYPED(Same)(y, want, nv * ld);
        FreeArrays(&p.arrays);
      }
  ok(same && untouched, "%s, %dD, %s, %s: several vectors at once are those of one after the other", precision, dim, forms[form], sides[side]);
  ok(changes, "%s, %dD, %s, %s: their largest change", precision, dim, forms[form], sides[side]);
}

/* Grids that are swept in several strips, against plain sweeps */
static void TYPED(strips)(const char *precision, int dim, int side)
{
  int same = 1;

  for (int form = 0; form < 3; form++)
    for (int k = 2; k <= 9; k += 7) {
      TYPED(Problem) p;
      StrataBox      all = {{0, 0, 0}, {0, 0, 0}};
      REAL          *y, *want, *before, *after, change = -1, expected = 0;

      TYPED(make)(&p, dim, form, side, wides[dim - 1], k, 1);
      for (int a = 0; a < 3; a++) all.hi[a] = p.s.n[a];
      y = TYPED(Numbers)(&p.arrays, p.cells, 0, 1);
      want = TYPED(Numbers)(&p.arrays, p.cells, 0, 1);
      before = TYPED(Numbers)(&p.arrays, p.cells, 0, 1);
      after = TYPED(Numbers)(&p.arrays, p.cells, 0, 1);
      TYPED(Poison)(y, p.cells);
      TYPED(Poison)(want, p.cells);
      same &= !TYPED(StrataCycleFastHost)(&p.s, &p.t, 1, 0, &p.box, p.weight, p.b, p.x, y, &change);
      TYPED(sweeps)(&p, &all, before, after);
      TYPED(take)(&p, &p.box, before, after, want, &expected);
      same &= TYPED(Same)(y, want, p.cells) && change == expected;
      FreeArrays(&p.arrays);
    }
  ok(same, "%s, %dD, %s: wide grids in strips", precision, dim, sides[side]);
}
