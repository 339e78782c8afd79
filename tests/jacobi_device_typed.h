/* Included by jacobi_device.c for each precision */

/* NaN anywhere among the cells that are written is the largest change */
static void TYPED(nan)(const char *precision)
{
  static const int shape[3] = {150, 40, 1};

  for (int kernel = STRATA_KERNEL_CLASSIC; kernel <= STRATA_KERNEL_REGISTER; kernel++)
    for (int at = 0; at < 6000; at += 2999) {
      TYPED(Problem) p;
      REAL          *y, change = 0;

      TYPED(make)(&p, kernel, 2, STRATA_SYSTEM_EQUAL, ENDS, shape, 2, 1, 0);
      y = TYPED(Numbers)(&p.arrays, p.cells, 0, 1);
      p.b[at] = NAN;
      ok(!TYPED(ondevice)(&p, kernel, 0, 0, y, &change) && isnan(change), "%s, %s: NaN in cell %d is seen", precision, kernels[kernel], at);
      FreeArrays(&p.arrays);
    }
}

/* What auto takes, and what cannot run */
static void TYPED(choices)(const char *precision)
{
  static const int shape[3] = {200, 60, 1}, cube[3] = {70, 66, 64}, line[3] = {3000, 1, 1};
  TYPED(Problem)   p;
  char             text[512];

  TYPED(make)(&p, STRATA_KERNEL_SHARED, 2, STRATA_SYSTEM_EQUAL, ENDS, shape, 4, 1, 0);
#define CHOICE(asked) TYPED(StrataCycleKernelCUDA)(&p.s, &p.t, asked, 0, &p.box, text, sizeof(text))
  ok(CHOICE(STRATA_KERNEL_AUTO) == STRATA_KERNEL_REGISTER && strstr(text, "register"), "%s: auto takes registers for exact sweeps", precision);
  ok(CHOICE(STRATA_KERNEL_CLASSIC) == STRATA_KERNEL_CLASSIC, "%s: classic is taken where it is asked for", precision);
  p.t.overlap[1] = 2;
  p.t.tile[0] = p.t.tile[1] = 9;
  ok(CHOICE(STRATA_KERNEL_AUTO) == STRATA_KERNEL_SHARED, "%s: auto takes shared memory for small tiles that overlap little", precision);
  p.t.tile[0] = p.t.tile[1] = 32;
  ok(CHOICE(STRATA_KERNEL_AUTO) == STRATA_KERNEL_REGISTER, "%s: auto takes registers for those that a warp can hold", precision);
  p.t.tile[0] = 190;
  p.t.tile[1] = 56;
  ok(CHOICE(STRATA_KERNEL_AUTO) == STRATA_KERNEL_REGISTER, "%s: auto takes registers for large ones", precision);
  p.t.tile[0] = 199;
  ok(CHOICE(STRATA_KERNEL_REGISTER) == STRATA_KERNEL_SHARED && strstr(text, "overlap"), "%s: registers cannot do that", precision);
  p.t.tile[0] = p.t.tile[1] = 1000;
  p.s.n[0] = p.s.n[1] = p.box.hi[0] = p.box.hi[1] = 2000;
  ok(CHOICE(STRATA_KERNEL_SHARED) == STRATA_KERNEL_AUTO && strstr(text, "fit"), "%s: a tile that does not fit", precision);
  p.t.sweeps = 1;
  ok(CHOICE(STRATA_KERNEL_AUTO) == STRATA_KERNEL_CLASSIC, "%s: auto takes classic for single sweeps", precision);
  ok(CHOICE(STRATA_KERNEL_REGISTER) == STRATA_KERNEL_CLASSIC && strstr(text, "2 sweeps"), "%s: registers need two", precision);
  FreeArrays(&p.arrays);
  TYPED(make)(&p, STRATA_KERNEL_SHARED, 2, STRATA_SYSTEM_VARIABLE, ENDS, shape, 4, 1, 0);
  p.t.overlap[0] = 2;
  p.t.tile[0] = 128;
  p.t.tile[1] = 56;
  ok(CHOICE(STRATA_KERNEL_AUTO) == STRATA_KERNEL_REGISTER, "%s: auto takes registers for large tiles with variable legs", precision);
  p.t.tile[0] = 129;
  ok(CHOICE(STRATA_KERNEL_REGISTER) == STRATA_KERNEL_SHARED && strstr(text, "128 x 56"), "%s: %s", precision, text);
  FreeArrays(&p.arrays);
  TYPED(make)(&p, STRATA_KERNEL_SHARED, 3, STRATA_SYSTEM_VARIABLE, ENDS, cube, 4, 1, 0);
  ok(CHOICE(STRATA_KERNEL_REGISTER) == STRATA_KERNEL_REGISTER, "%s: registers for exact sweeps in 3D", precision);
  p.t.overlap[0] = 2;
  ok(CHOICE(STRATA_KERNEL_REGISTER) == STRATA_KERNEL_SHARED && strstr(text, "3D"), "%s: %s", precision, text);
  FreeArrays(&p.arrays);
  TYPED(make)(&p, STRATA_KERNEL_SHARED, 1, STRATA_SYSTEM_EQUAL, ENDS, line, 4, 1, 0);
  p.t.overlap[0] = 2;
  p.t.tile[0] = 32;
  ok(CHOICE(STRATA_KERNEL_AUTO) == STRATA_KERNEL_REGISTER, "%s: auto takes registers for tiles of a line", precision);
  p.t.tile[0] = 1025;
  ok(CHOICE(STRATA_KERNEL_REGISTER) == STRATA_KERNEL_SHARED && strstr(text, "1024 cells"), "%s: %s", precision, text);
#undef CHOICE
  FreeArrays(&p.arrays);
}

/* Many cycles in one launch on the device; y and change come back */
static int TYPED(atonce)(TYPED(Problem) *p, const StrataTiling *t, int cycles, int weights, int first, int period, REAL *y, REAL *change)
{
  TYPED(StrataSystem) s = p->s;
  const ptrdiff_t     works = TYPED(StrataCyclesWorkCUDA)(&p->s), n = p->cells > works ? p->cells : works;
  REAL               *rubbish = (REAL *)malloc(n * sizeof(REAL)), *device_b, *device_x, *device_y, *device_work, *device_weight, *device_change;
  int                 err;

  TYPED(Poison)(rubbish, n);
  device_b = (REAL *)DeviceCopy(p->b, p->cells * sizeof(REAL));
  device_x = (REAL *)DeviceCopy(p->x, p->cells * sizeof(REAL));
  device_y = (REAL *)DeviceCopy(rubbish, p->cells * sizeof(REAL));
  device_work = (REAL *)DeviceCopy(rubbish, works * sizeof(REAL));
  device_weight = (REAL *)DeviceCopy(p->weight, period * sizeof(REAL));
  device_change = (REAL *)DeviceCopy(rubbish, sizeof(REAL));
  for (int l = 0; l < STRATA_LEGS; l++)
    if (s.legs[l]) s.legs[l] = (REAL *)DeviceCopy(s.legs[l], p->cells * sizeof(REAL));
  err = TYPED(StrataCyclesCUDA)(&s, t, cycles, weights ? device_weight : NULL, first, period, device_b, device_x, device_y,
                                change ? device_change : NULL, device_work, NULL);
  if (!err) err = (int)cudaDeviceSynchronize();
  if (err) printf("# %s\n", cudaGetErrorString((cudaError_t)err));
  DeviceRead(y, device_y, p->cells * sizeof(REAL));
  if (change) DeviceRead(change, device_change, sizeof(REAL));
  DeviceFreeAll();
  free(rubbish);
  return err;
}

/* Compares them with the host's one after the other; exact: any tiles will do, and one makes the reference fast */
static void TYPED(compare)(TYPED(Problem) *p, const StrataTiling *t, int exact, int cycles, int weights, int first, int period, int changes,
                           const char *what)
{
  REAL *y = TYPED(Numbers)(&p->arrays, p->cells, 0, 1), *want = TYPED(Numbers)(&p->arrays, p->cells, 0, 1);
  REAL *before = TYPED(Numbers)(&p->arrays, p->cells, 0, 1), change = -1, expected = -1;
  char  text[512];

  p->t = *t;
  for (int a = 0; a < p->s.dim && exact; a++) p->t.tile[a] = p->s.n[a] + 2 * t->sweeps;
  memcpy(want, p->x, p->cells * sizeof(REAL));
  for (int cycle = 0; cycle < cycles; cycle++) {
    memcpy(before, want, p->cells * sizeof(REAL));
    TYPED(StrataCycleHost)(&p->s, &p->t, &p->box, weights ? p->weight + (first + cycle * t->sweeps) % period : NULL, p->b, before, want, &expected);
  }
  ok(TYPED(StrataCycleKernelCUDA)(&p->s, t, STRATA_KERNEL_PERSISTENT, cycles, &p->box, text, sizeof(text)) == STRATA_KERNEL_PERSISTENT,
     "%s, %d x %d, %d cycles of %d sweeps, %s: %s", what, p->s.n[0], p->s.n[1], cycles, t->sweeps, exact ? "exact" : "tiles", text);
  is_int(TYPED(atonce)(p, t, cycles, weights, first, period, y, changes ? &change : NULL), 0, "no error");
  ok(TYPED(Same)(y, want, p->cells), "the same numbers as on the host");
  if (changes) ok(change == expected || (isnan(change) && isnan(expected)), "the largest change");
}

static void TYPED(runs)(const char *precision)
{
  enum { E = 1 << STRATA_SYSTEM_EQUAL, C = 1 << STRATA_SYSTEM_CONSTANT, V = 1 << STRATA_SYSTEM_VARIABLE, L = 1 << LINES };
  static const struct {
    int forms, dim, n[3], k, cycles, tile[2], overlap[2], weights; /* an overlap of -1: exact */
  } all[] = {{E | C | V, 2, {1, 1, 1}, 3, 4, {9, 9}, {-1, -1}, 0},
             {E | C | V, 2, {185, 64, 1}, 5, 3, {9, 9}, {-1, -1}, 0},
             {E | C | V, 2, {186, 65, 1}, 5, 3, {9, 9}, {-1, -1}, 1},
             {E | C | V, 2, {5, 700, 1}, 7, 5, {9, 9}, {-1, -1}, 0},
             {E | C | V, 2, {1090, 40, 1}, 11, 4, {9, 9}, {-1, -1}, 0},
             {E | C | V, 2, {373, 197, 1}, 16, 3, {9, 9}, {-1, -1}, 0},
             {E | C | V, 2, {512, 330, 1}, 13, 3, {9, 9}, {-1, -1}, 1},
             {E | C, 2, {300, 100, 1}, 7, 4, {180, 56}, {4, 2}, 0},
             {E | C, 2, {301, 103, 1}, 9, 4, {92, 50}, {8, 6}, 1},
             {E | C, 2, {400, 64, 1}, 5, 5, {184, 31}, {0, 0}, 0},
             {E | C, 2, {185, 200, 1}, 12, 3, {500, 63}, {2, 12}, 0},
             {E | C, 2, {333, 60, 1}, 6, 3, {60, 500}, {12, 8}, 0},
             {V, 2, {300, 100, 1}, 7, 4, {120, 40}, {4, 2}, 0},
             {V, 2, {301, 103, 1}, 9, 4, {92, 30}, {8, 6}, 1},
             {V, 2, {120, 200, 1}, 12, 3, {500, 39}, {2, 12}, 0},
             {V, 2, {333, 40, 1}, 6, 3, {60, 500}, {12, 8}, 0},
             {E | C | V, 1, {1, 1, 1}, 3, 4, {9, 1}, {-1, 0}, 1},
             {E | C | V, 1, {61, 1, 1}, 7, 4, {9, 1}, {-1, 0}, 0},
             {E | C | V, 1, {1025, 1, 1}, 5, 3, {9, 1}, {-1, 0}, 1},
             {E | C | V, 1, {3000, 1, 1}, 20, 5, {9, 1}, {-1, 0}, 0},
             {E | C | V, 1, {40009, 1, 1}, 30, 9, {9, 1}, {-1, 0}, 0},
             {E | C | V, 1, {200003, 1, 1}, 40, 3, {9, 1}, {-1, 0}, 1},
             {E | C | V, 1, {1000, 1, 1}, 7, 4, {32, 1}, {4, 0}, 0},
             {E | C | V, 1, {2600, 1, 1}, 9, 4, {50, 1}, {8, 0}, 1},
             {E | C | V, 1, {5003, 1, 1}, 13, 3, {300, 1}, {100, 0}, 0},
             {E | C | V, 1, {20011, 1, 1}, 5, 7, {128, 1}, {2, 0}, 0},
             {L, 2, {100, 77, 1}, 6, 3, {9, 9}, {-1, -1}, 1},
             {L, 2, {1003, 300, 1}, 16, 3, {9, 9}, {-1, -1}, 0},
             {L, 2, {5000, 150, 1}, 60, 3, {9, 9}, {-1, -1}, 0},
             {L, 2, {1500, 30, 1}, 9, 4, {32, 9}, {4, 2}, 0},
             {L, 2, {3000, 333, 1}, 9, 4, {64, 9}, {8, 2}, 1}};
  const int each = TestEach();

  for (int form = 0; form < FORMS; form++)
    for (int c = form; c < (int)(sizeof(all) / sizeof(all[0])); c++) {
      const int      k = all[c].k, exact = all[c].overlap[0] < 0;
      TYPED(Problem) p;
      StrataTiling   t = {{1, 1, 1}, {0, 0, 0}, k};
      char           what[128];

      if (!(all[c].forms & 1 << form) || (c + form) % each) continue;
      TYPED(make)(&p, STRATA_KERNEL_CLASSIC, all[c].dim, form, ENDS, all[c].n, 2 * k, 1, 1);
      for (int a = 0; a < all[c].dim; a++) {
        t.tile[a] = exact ? 2 * k : all[c].tile[a];
        t.overlap[a] = exact ? 2 * (k - 1) : all[c].overlap[a];
      }
      for (int l = 0; l < 2 * all[c].dim && form == STRATA_SYSTEM_VARIABLE && c % 2; l++) /* so that numbers do not grow */
        for (ptrdiff_t i = 0; i < p.cells; i++) ((REAL *)p.s.legs[l])[i] *= (REAL)0.4;
      snprintf(what, sizeof(what), "%s, %s", precision, forms[form]);
      TYPED(compare)(&p, &t, exact, all[c].cycles, all[c].weights, k, 2 * k, c % 4, what);
      FreeArrays(&p.arrays);
    }
}

/* Infinity and NaN are where the host has them: from large numbers in x or b, from legs that make numbers grow, and at once */
static void TYPED(overflows)(const char *precision)
{
  enum { LARGE_X, LARGE_B, GROWTH, INFINITE, KINDS };
  static const char *const kinds[] = {"large guess", "large right-hand side", "growth", "infinity"};
  static const int         shape[3][3] = {{301, 100, 1}, {120, 30, 1}, {3000, 1, 1}};
  const double             large = sizeof(REAL) == sizeof(double) ? 1.7e308 : 3.3e38, growth = sizeof(REAL) == sizeof(double) ? 1e30 : 1e4;

  for (int form = STRATA_SYSTEM_EQUAL; form <= STRATA_SYSTEM_VARIABLE; form++)
    for (int kind = 0; kind < KINDS; kind++)
      for (int c = 0; c < 4; c++) {
        const int          exact = c % 2, dim = 1 + c / 2, overlap = exact ? 10 : 4, legs = 2 * dim;
        const StrataTiling t = {{exact ? 12 : 100, dim == 1 ? 1 : exact ? 12 : 36, 1}, {overlap, dim == 1 ? 0 : overlap, 0}, 6};
        TYPED(Problem)     p;
        char               what[128];

        TYPED(make)(&p, STRATA_KERNEL_CLASSIC, dim, form, ENDS, shape[dim == 1 ? 2 : exact ^ (kind & 1)], 12, 1, 0);
        for (ptrdiff_t i = 0; i < p.cells; i++) {
          if (kind == LARGE_X) p.x[i] *= (REAL)large;
          if (kind == LARGE_B) p.b[i] *= (REAL)large;
          for (int l = 0; l < legs && form == STRATA_SYSTEM_VARIABLE; l++) ((REAL *)p.s.legs[l])[i] *= (REAL)(kind == GROWTH ? growth : 0.4);
        }
        for (int l = 0; l < legs && kind == GROWTH; l++) p.s.leg[l] *= (REAL)growth;
        if (kind == INFINITE) p.x[p.cells / 2] = INFINITY;
        snprintf(what, sizeof(what), "%s, %s, %s", precision, forms[form], kinds[kind]);
        TYPED(compare)(&p, &t, exact, 5, 0, 0, 12, 1, what);
        FreeArrays(&p.arrays);
      }
}

/* Where many cycles can be run at once, and where not */
static void TYPED(runchoices)(const char *precision)
{
  static const int shape[3] = {500, 300, 1}, layers[3] = {50, 30, 4}, wide[3] = {1500, 900, 1}, line[3] = {5000000, 1, 1};
  TYPED(Problem)   p;
  char             text[512];

#define CHOICE(asked, cycles) TYPED(StrataCycleKernelCUDA)(&p.s, &p.t, asked, cycles, &p.box, text, sizeof(text))
#define REFUSED(words)        (CHOICE(STRATA_KERNEL_PERSISTENT, 8) != STRATA_KERNEL_PERSISTENT && strstr(text, words))
  TYPED(make)(&p, STRATA_KERNEL_SHARED, 2, STRATA_SYSTEM_EQUAL, ENDS, shape, 4, 1, 0);
  ok(CHOICE(STRATA_KERNEL_AUTO, 8) == STRATA_KERNEL_PERSISTENT, "%s: auto takes many sweeps at once", precision);
  ok(CHOICE(STRATA_KERNEL_AUTO, 1) == STRATA_KERNEL_REGISTER, "%s: but not few", precision);
  ok(CHOICE(STRATA_KERNEL_PERSISTENT, 0) == STRATA_KERNEL_REGISTER && strstr(text, "one by one"), "%s: %s", precision, text);
  p.t.overlap[0] = p.t.overlap[1] = 4;
  p.t.tile[0] = 180;
  p.t.tile[1] = 60;
  ok(CHOICE(STRATA_KERNEL_AUTO, 2) == STRATA_KERNEL_PERSISTENT, "%s: auto takes two cycles of tiles at once", precision);
  p.t.overlap[0] = 2;
  ok(REFUSED("multiple of 4"), "%s: %s", precision, text);
  p.t.overlap[0] = 4;
  p.t.tile[1] = 65;
  ok(REFUSED("at most"), "%s: %s", precision, text);
  p.t.tile[1] = 6;
  ok(REFUSED("wider than"), "%s: %s", precision, text);
  p.t.tile[0] = p.t.tile[1] = 12;
  ok(REFUSED("multiprocessors"), "%s: %s", precision, text);
  p.s.n[0] = p.s.n[1] = p.box.hi[0] = p.box.hi[1] = 5000;
  p.t.overlap[0] = p.t.overlap[1] = 6;
  p.t.tile[0] = p.t.tile[1] = 20;
  ok(REFUSED("do not fit"), "%s: %s", precision, text);
  FreeArrays(&p.arrays);
  TYPED(make)(&p, STRATA_KERNEL_SHARED, 2, STRATA_SYSTEM_VARIABLE, ENDS, wide, 4, 1, 0);
  ok(REFUSED("do not fit"), "%s: %s", precision, text);
  p.t.overlap[0] = p.t.overlap[1] = 4;
  p.t.tile[0] = 124;
  ok(REFUSED("at most"), "%s: %s", precision, text);
  FreeArrays(&p.arrays);
  TYPED(make)(&p, STRATA_KERNEL_SHARED, 1, STRATA_SYSTEM_EQUAL, ENDS, line, 4, 1, 0);
  ok(REFUSED("a line of"), "%s: %s", precision, text);
  p.t.overlap[0] = 4;
  p.t.tile[0] = 2000;
  ok(REFUSED("at most"), "%s: %s", precision, text);
  p.t.tile[0] = 6;
  ok(REFUSED("wider than"), "%s: %s", precision, text);
  p.t.tile[0] = 8;
  ok(REFUSED("tiles of a line"), "%s: %s", precision, text);
  FreeArrays(&p.arrays);
  TYPED(make)(&p, STRATA_KERNEL_SHARED, 3, STRATA_SYSTEM_EQUAL, ENDS, layers, 4, 1, 0);
  ok(REFUSED("2D"), "%s: %s", precision, text);
  FreeArrays(&p.arrays);
#undef CHOICE
#undef REFUSED
}
