/* Included by jacobi_scale.c for each precision */

/* A box with frames of some widths, whose ghosts lie in arrays of their own with strides of their own; one vector and several */
static void TYPED(frames)(const char *precision)
{
  const double by[6] = {4, NAN, -2, NAN, 0.25, NAN};
  const int    own[3] = {7, 5, 3}, size = 7 * 5 * 3, cases[4][6] = {{0, 0, 0, 0, 0, 0}, {2, 2, 1, 1, 3, 3}, {0, 2, 3, 0, 0, 1}, {1, 0, 0, 0, 2, 0}};

  for (int m = 0; m < 8; m++) {
    const int  *f = cases[m / 2], nv = m % 2 ? 3 : 1, ldx = size + 2;
    Arrays      arrays = {.count = 0};
    StrataBox   box, part[2];
    StrataGhost ghost[STRATA_DIRECTIONS] = {{NULL, {0, 0, 0}, 0}};
    int         n[3], good = 1, i[3];
    ptrdiff_t   cells = 1, ldy;
    double     *x = Numbers_d(&arrays, nv * ldx, -1, 1), *z, *add;
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
      ghost[d].sv = ghost[d].s[2] * extent[2] + 1;
      ghost[d].p = Numbers_d(&arrays, nv * ghost[d].sv, -1, 1);
    }
    ldy = cells + 1;
    y = TYPED(Numbers)(&arrays, nv * ldy, 0, 1);
    TYPED(Poison)(y, nv * ldy);
    z = Numbers_d(&arrays, nv * ldx, 0, 1);
    add = Numbers_d(&arrays, nv * ldx, -1, 1);
    for (int h = 0; h < 2; h++) /* the array in two parts */
      for (int a = 0; a < 3; a++) {
        part[h].lo[a] = h && a == 1 ? 3 : 0;
        part[h].hi[a] = !h && a == 1 ? 3 : n[a];
      }
    for (int h = 0; h < 2; h++) TYPED(StrataEmbedHost)(n, &box, &part[h], nv, x, ldx, ghost, y, ldy);
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
          for (int v = 0; v < nv; v++)
            good &= y[v * ldy + i[0] + n[0] * (i[1] + (ptrdiff_t)n[1] * i[2])] ==
                    (REAL)(d == 13 ? x + v * ldx : (const double *)ghost[d].p + v * ghost[d].sv)[at];
        }
    for (int v = 0; v < nv; v++) good &= isnan(y[v * ldy + cells]);
    ok(good, "%s, frames %d, %d vectors: arrays from vectors and their ghosts", precision, m / 2, nv);
    good = 1;
    memcpy(z, add, nv * ldx * sizeof(*z));
    TYPED(StrataUnembedHost)(n, &box, nv, y, ldy, NULL, NULL, z, ldx);
    for (int id = 0; id < nv * ldx; id++) good &= z[id] == (id % ldx < size ? (double)(REAL)x[id] : add[id]);
    TYPED(StrataUnembedHost)(n, &box, nv, y, ldy, by, add, z, ldx);
    for (int id = 0; id < nv * ldx; id++) good &= z[id] == (id % ldx < size ? add[id] + by[id / ldx * 2] * (double)(REAL)x[id] : add[id]);
    ok(good, "%s, frames %d, %d vectors: and back, added to others", precision, m / 2, nv);
#if STRATA_HAVE_CUDA
    if (TapHasDevice()) {
      const void  **pointers[STRATA_DIRECTIONS + 4];
      const double *dx = x, *dadd = add;
      const REAL   *dy = y;
      const double *dz = z;
      REAL         *back = (REAL *)malloc(nv * ldy * sizeof(REAL));
      double       *vector = (double *)malloc(nv * ldx * sizeof(double));

      for (int d = 0; d < STRATA_DIRECTIONS; d++) pointers[d] = &ghost[d].p;
      pointers[STRATA_DIRECTIONS] = (const void **)&dx;
      pointers[STRATA_DIRECTIONS + 1] = (const void **)&dadd;
      pointers[STRATA_DIRECTIONS + 2] = (const void **)&dy;
      pointers[STRATA_DIRECTIONS + 3] = (const void **)&dz;
      DeviceArrays(&arrays, STRATA_DIRECTIONS + 4, pointers);
      good = !cudaMemset((void *)dy, 0xff, nv * ldy * sizeof(REAL)) &&
             !cudaMemcpy((void *)dz, dadd, nv * ldx * sizeof(double), cudaMemcpyDeviceToDevice);
      for (int h = 0; h < 2; h++) good &= !TYPED(StrataEmbedCUDA)(n, &box, &part[h], nv, dx, ldx, ghost, (REAL *)dy, ldy, NULL);
      DeviceRead(back, dy, nv * ldy * sizeof(REAL));
      good &= TYPED(Same)(back, y, nv * ldy);
      good &= !TYPED(StrataUnembedCUDA)(n, &box, nv, dy, ldy, DeviceCopy(by, sizeof(by)), dadd, (double *)dz, ldx, NULL);
      DeviceRead(vector, dz, nv * ldx * sizeof(double));
      ok(good && Same_d(vector, z, nv * ldx), "%s, frames %d, %d vectors: the device gives the same", precision, m / 2, nv);
      free(back);
      free(vector);
      DeviceFreeAll();
    } else
#endif
      skip("no GPU");
    FreeArrays(&arrays);
  }
}
