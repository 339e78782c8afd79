/* Included by jacobi_cycles.h for each precision */

/* A system on an array, the box in it that is written, and tiles */
typedef struct {
  TYPED(StrataSystem) s;
  StrataTiling        t;
  StrataBox           box;
  ptrdiff_t           cells;
  Arrays              arrays;
  REAL               *b, *x, *weight; /* weight: NULL where all are 1 */
} TYPED(Problem);

/* exact: tiles overlap so far that any kernel may run. For kernels without tiles there is one, which makes the reference fast. */
static void TYPED(make)(TYPED(Problem) *p, int kernel, int dim, int form, int side, const int shape[3], int k, int exact, int weights)
{
  TYPED(StrataSystem) *s = &p->s;
  const int            tiles = kernel == STRATA_KERNEL_SHARED || !exact;

  memset(p, 0, sizeof(*p));
  s->dim = dim;
  s->form = form == LINES ? STRATA_SYSTEM_CONSTANT : form;
  p->t.sweeps = k;
  p->cells = 1;
  for (int a = 0; a < 3; a++) {
    const int o = exact ? 2 * (k - 1) : 2 * Between(0, 3), frame = Between(o / 2 + 1, o / 2 + 3);
    const int low = a < dim && (side == GOES_ON || (side == MIXED && a == 0)) ? frame : 0;
    const int high = a < dim && (side == GOES_ON || (side == MIXED && a == 1)) ? frame : 0;

    p->t.overlap[a] = a < dim ? o : 0;
    p->t.tile[a] = a >= dim ? 1 : o + (tiles ? Between(1, dim == 3 ? 9 : a == 0 && Between(0, 1) ? (dim == 1 ? 800 : 180) : 40) : 5000);
    p->box.lo[a] = low;
    p->box.hi[a] = low + shape[a];
    s->n[a] = p->box.hi[a] + high;
    p->cells *= s->n[a];
    s->outside[2 * a] = low ? STRATA_OUTSIDE_GHOST : a < dim ? STRATA_OUTSIDE_ZERO : STRATA_OUTSIDE_NONE;
    s->outside[2 * a + 1] = high ? STRATA_OUTSIDE_GHOST : a < dim ? STRATA_OUTSIDE_ZERO : STRATA_OUTSIDE_NONE;
  }
  for (int l = 0; l < 2 * dim; l++) {
    s->leg[l] = (REAL)(form == STRATA_SYSTEM_EQUAL ? 0.5 / dim : form == LINES && l >= 2 ? 0 : Random(0, 1. / dim));
    if (form == STRATA_SYSTEM_VARIABLE) s->legs[l] = TYPED(Numbers)(&p->arrays, p->cells, -0.6 / dim, 1. / dim);
  }
  p->b = TYPED(Numbers)(&p->arrays, p->cells, -1, 1);
  p->x = TYPED(Numbers)(&p->arrays, p->cells, -1, 1);
  p->weight = TYPED(Numbers)(&p->arrays, k, 0.3, 1.7);
  for (int m = 0; m < k; m++)
    if (!weights || Between(0, 2) == 0) p->weight[m] = 1;
}

/* One cycle on the device; y and change come back. shift: numbers by which all arrays are off their alignment. */
static int TYPED(ondevice)(TYPED(Problem) *p, int kernel, int weights, int shift, REAL *y, REAL *change)
{
  TYPED(StrataSystem) s = p->s;
  const ptrdiff_t     works = TYPED(StrataCycleWorkCUDA)(&p->s, &p->t, (StrataCycleKernel)kernel, &p->box), n = p->cells + shift;
  REAL *from = (REAL *)malloc((n + works) * sizeof(REAL)), *device_y, *device_x, *device_b, *device_work, *device_weight, *device_change;
  int   err;

  TYPED(Poison)(from, n + works);
  device_y = (REAL *)DeviceCopy(from, n * sizeof(REAL)) + shift;
  device_work = (REAL *)DeviceCopy(from, works * sizeof(REAL));
  device_change = (REAL *)DeviceCopy(from, sizeof(REAL));
  memcpy(from + shift, p->x, p->cells * sizeof(REAL));
  device_x = (REAL *)DeviceCopy(from, n * sizeof(REAL)) + shift;
  memcpy(from + shift, p->b, p->cells * sizeof(REAL));
  device_b = (REAL *)DeviceCopy(from, n * sizeof(REAL)) + shift;
  device_weight = (REAL *)DeviceCopy(p->weight, p->t.sweeps * sizeof(REAL));
  for (int l = 0; l < STRATA_LEGS; l++) {
    if (!s.legs[l]) continue;
    memcpy(from + shift, s.legs[l], p->cells * sizeof(REAL));
    s.legs[l] = (REAL *)DeviceCopy(from, n * sizeof(REAL)) + shift;
  }
  err = TYPED(StrataCycleCUDA)(&s, &p->t, (StrataCycleKernel)kernel, &p->box, weights ? device_weight : NULL, device_b, device_x, device_y,
                               change ? device_change : NULL, device_work, NULL);
  if (!err) err = (int)cudaDeviceSynchronize();
  if (err) printf("# %s\n", cudaGetErrorString((cudaError_t)err));
  DeviceRead(y, device_y, p->cells * sizeof(REAL));
  if (change) DeviceRead(change, device_change, sizeof(REAL));
  DeviceFreeAll();
  free(from);
  return err;
}

/* All shapes, sides and numbers of sweeps, for one kernel and form */
static void TYPED(cycles)(const char *precision, int kernel, int dim, int form)
{
  static const int sweeps[] = {1, 2, 3, 6, 13, 27};
  const int        each = TestEach();
  int              same = 1, changes = 1, errors = 0, cases = 0, kinds = 0;

  for (int shape = 0; shape < SHAPES; shape++)
    for (int side = 0; side < SIDES; side++, kinds++) {
      const int exact = kernel == STRATA_KERNEL_CLASSIC || (kernel == STRATA_KERNEL_REGISTER && dim == 3 && form != LINES) || kinds % 3 == 0,
                weights = kinds % 2, shift = kinds % 5 == 4;
      const int      k = sweeps[(kinds + form + dim) % (kernel == STRATA_KERNEL_SHARED && exact && dim == 3 ? 4 : 6)];
      const int     *n = shapes[dim - 1][shape];
      TYPED(Problem) p;
      REAL          *y, *want, change = -1, expected = -1;
      char           text[512];

      if ((kinds + shape + form) % each) continue;
      TYPED(make)(&p, kernel, dim, form, side, n, k, exact, weights);
      if (TYPED(StrataCycleKernelCUDA)(&p.s, &p.t, (StrataCycleKernel)kernel, 0, &p.box, text, sizeof(text)) == (StrataCycleKernel)kernel) {
        y = TYPED(Numbers)(&p.arrays, p.cells, 0, 1);
        want = TYPED(Numbers)(&p.arrays, p.cells, 0, 1);
        TYPED(Poison)(want, p.cells);
        TYPED(StrataCycleHost)(&p.s, &p.t, &p.box, p.weight, p.b, p.x, want, &expected);
        errors += TYPED(ondevice)(&p, kernel, weights, shift, y, kinds % 4 ? &change : NULL) != 0;
        if (!TYPED(Same)(y, want, p.cells)) {
          ptrdiff_t at = 0;

          while (y[at] == want[at] || (isnan(y[at]) && isnan(want[at]))) at++;
          printf("# array %d x %d x %d, box from %d %d %d, %d sweeps, weights %d, shift %d: cell %d of %d is %.17g, should be %.17g\n", p.s.n[0],
                 p.s.n[1], p.s.n[2], p.box.lo[0], p.box.lo[1], p.box.lo[2], k, weights, shift, (int)at, (int)p.cells, (double)y[at],
                 (double)want[at]);
          same = 0;
        }
        if (kinds % 4) changes &= change == expected;
        cases++;
      } else if (!strstr(text, kernels[kernel]) || !strstr(text, "cannot run"))
        errors++;
      FreeArrays(&p.arrays);
    }
  ok(cases >= (kernel == STRATA_KERNEL_REGISTER ? kinds / 2 : kinds - 2) / each - each / 3, "%s, %s, %dD, %s: %d cases run", precision,
     kernels[kernel], dim, forms[form], cases);
  is_int(errors, 0, "%s, %s, %dD, %s: no errors", precision, kernels[kernel], dim, forms[form]);
  ok(same, "%s, %s, %dD, %s: the same numbers as on the host, no other cell is written", precision, kernels[kernel], dim, forms[form]);
  ok(changes, "%s, %s, %dD, %s: the largest change", precision, kernels[kernel], dim, forms[form]);
}
