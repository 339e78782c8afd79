/* Included by jacobi_scale.c for each precision */

/* A box with frames of some widths, whose ghosts lie in arrays of their own with strides of their own */
static void TYPED(frames)(const char *precision)
{
  const double four = 4;
  const int    own[3] = {7, 5, 3}, cases[4][6] = {{0, 0, 0, 0, 0, 0}, {2, 2, 1, 1, 3, 3}, {0, 2, 3, 0, 0, 1}, {1, 0, 0, 0, 2, 0}};

  for (int m = 0; m < 4; m++) {
    const int  *f = cases[m];
    Arrays      arrays = {.count = 0};
    StrataBox   box, part[2];
    StrataGhost ghost[STRATA_DIRECTIONS] = {{NULL, {0, 0, 0}, 0}};
    int         n[3], good = 1, i[3];
    ptrdiff_t   cells = 1;
    double     *x = Numbers_d(&arrays, own[0] * own[1] * own[2], -1, 1), *z, *add;
    REAL       *y;

    for (int a = 0; a < 3; a++) {
      n[a] = f[2 * a] + own[a] + f[2 * a + 1];
      box.lo[a] = f[2 * a];
      box.hi[a] = f[2 * a] + own[a];
      cells *= n[a];
    }
    for (int d = 0; d < STRATA_DIRECTIONS; d++) {
      const int step[3] = {d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1};
      int       extent[3];

      for (int a = 0; a < 3; a++) extent[a] = step[a] < 0 ? f[2 * a] : step[a] > 0 ? f[2 * a + 1] : own[a];
      if (d == 13 || !extent[0] || !extent[1] || !extent[2]) continue;
      ghost[d].s[0] = 1;
      ghost[d].s[1] = extent[0] + 1;
      ghost[d].s[2] = (extent[0] + 1) * (extent[1] + 2);
      ghost[d].p = Numbers_d(&arrays, ghost[d].s[2] * extent[2], -1, 1);
    }
    y = TYPED(Numbers)(&arrays, cells, 0, 1);
    z = Numbers_d(&arrays, own[0] * own[1] * own[2], 0, 1);
    add = Numbers_d(&arrays, own[0] * own[1] * own[2], -1, 1);
    for (int h = 0; h < 2; h++) /* the array in two parts */
      for (int a = 0; a < 3; a++) {
        part[h].lo[a] = h && a == 1 ? 3 : 0;
        part[h].hi[a] = !h && a == 1 ? 3 : n[a];
      }
    for (int h = 0; h < 2; h++) TYPED(StrataEmbedHost)(n, &box, &part[h], x, ghost, y);
    for (i[2] = 0; i[2] < n[2]; i[2]++)
      for (i[1] = 0; i[1] < n[1]; i[1]++)
        for (i[0] = 0; i[0] < n[0]; i[0]++) {
          const int d = 13 + (i[0] >= box.hi[0]) - (i[0] < box.lo[0]) + 3 * ((i[1] >= box.hi[1]) - (i[1] < box.lo[1])) +
                        9 * ((i[2] >= box.hi[2]) - (i[2] < box.lo[2]));
          ptrdiff_t at = 0;

          for (int a = 0; a < 3; a++) {
            const int first = i[a] < box.lo[a] ? 0 : i[a] >= box.hi[a] ? box.hi[a] : box.lo[a];

            at += (i[a] - first) * (d == 13 ? (a == 0 ? 1 : a == 1 ? own[0] : own[0] * own[1]) : ghost[d].s[a]);
          }
          good &= y[i[0] + n[0] * (i[1] + (ptrdiff_t)n[1] * i[2])] == (REAL)(d == 13 ? x : (const double *)ghost[d].p)[at];
        }
    ok(good, "%s, frames %d: an array from a vector and its ghosts", precision, m);
    good = 1;
    TYPED(StrataUnembedHost)(n, &box, y, NULL, NULL, z);
    for (int id = 0; id < own[0] * own[1] * own[2]; id++) good &= z[id] == (double)(REAL)x[id];
    TYPED(StrataUnembedHost)(n, &box, y, &four, add, z);
    for (int id = 0; id < own[0] * own[1] * own[2]; id++) good &= z[id] == add[id] + 4 * (double)(REAL)x[id];
    ok(good, "%s, frames %d: and back, added to another", precision, m);
#if STRATA_HAVE_CUDA
    if (TapHasDevice()) {
      const void  **pointers[STRATA_DIRECTIONS + 4];
      const double *dx = x, *dadd = add;
      const REAL   *dy = y;
      const double *dz = z;
      REAL         *back = (REAL *)malloc(cells * sizeof(REAL));
      double       *vector = (double *)malloc(own[0] * own[1] * own[2] * sizeof(double));

      for (int d = 0; d < STRATA_DIRECTIONS; d++) pointers[d] = &ghost[d].p;
      pointers[STRATA_DIRECTIONS] = (const void **)&dx;
      pointers[STRATA_DIRECTIONS + 1] = (const void **)&dadd;
      pointers[STRATA_DIRECTIONS + 2] = (const void **)&dy;
      pointers[STRATA_DIRECTIONS + 3] = (const void **)&dz;
      DeviceArrays(&arrays, STRATA_DIRECTIONS + 4, pointers);
      good = !cudaMemset((void *)dy, 0xff, cells * sizeof(REAL)) && !cudaMemset((void *)dz, 0xff, own[0] * own[1] * own[2] * sizeof(double));
      for (int h = 0; h < 2; h++) good &= !TYPED(StrataEmbedCUDA)(n, &box, &part[h], dx, ghost, (REAL *)dy, NULL);
      DeviceRead(back, dy, cells * sizeof(REAL));
      good &= TYPED(Same)(back, y, cells);
      good &= !TYPED(StrataUnembedCUDA)(n, &box, dy, DeviceCopy(&four, sizeof(four)), dadd, (double *)dz, NULL);
      DeviceRead(vector, dz, own[0] * own[1] * own[2] * sizeof(double));
      ok(good && Same_d(vector, z, own[0] * own[1] * own[2]), "%s, frames %d: the device gives the same", precision, m);
      free(back);
      free(vector);
      DeviceFreeAll();
    } else
#endif
      skip("no GPU");
    FreeArrays(&arrays);
  }
}
