/* Included by cg_tiles_host.c for each precision */

TYPED(StrataCGTiles) TYPED(StrataCGTilesPlan)(const int n[3], const int around[2])
{
  TYPED(StrataCGTiles) q = {{n[0], n[1], n[2]}, {around[0], around[1]}};

  q.zz = 1;
  q.pitch = (n[0] + 3) / 4 * 4;
  q.size = q.pitch * n[1] * n[2];
  return q;
}

static ptrdiff_t TYPED(tiles)(const TYPED(StrataCGTiles) *q)
{
  return (ptrdiff_t)((q->n[0] + WIDTH - 1) / WIDTH) * ((q->n[1] + ROWS - 1) / ROWS);
}

ptrdiff_t TYPED(StrataCGTilesWork)(const TYPED(StrataCGTiles) *q)
{
  return STRATA_CG_SUMS * TYPED(tiles)(q) + 1;
}

/* Where a column next to (i,j) begins, -1 if there is none */
static ptrdiff_t TYPED(beside)(const TYPED(StrataCGTiles) *q, int i, int j)
{
  const int x = strata_tile_around(i, q->n[0], q->around[0]), y = strata_tile_around(j, q->n[1], q->around[1]);

  return x < 0 || y < 0 ? -1 : strata_tile_cell(q->n, q->pitch, x, y, 0);
}

void TYPED(StrataCGTilesSetUpHost)(const TYPED(StrataCGTiles) *q, const REAL *const from[4], REAL *const to[4], REAL *inverse, int *bad)
{
  const int      *n = q->n;
  const ptrdiff_t plane = (ptrdiff_t)n[0] * n[1];

  for (int j = 0; j < n[1]; j++)
    for (int i = 0; i < n[0]; i++) {
      const int       east = strata_tile_around(i + 1, n[0], q->around[0]), north = strata_tile_around(j + 1, n[1], q->around[1]);
      const ptrdiff_t id = i + (ptrdiff_t)n[0] * j, ide = east + (ptrdiff_t)n[0] * j, idn = i + (ptrdiff_t)n[0] * north;
      REAL            ratio = 0;

      for (int k = 0; k < n[2]; k++) {
        const ptrdiff_t at = strata_tile_cell(n, q->pitch, i, j, k), up = plane * k;
        const REAL      leg[STRATA_LEGS] = {from[1][id + up], east < 0 ? 0 : from[1][ide + up],
                                            from[2][id + up], north < 0 ? 0 : from[2][idn + up],
                                            from[3][id + up], k + 1 < n[2] ? from[3][id + up + plane] : 0};

        for (int m = 0; m < 4; m++) to[m][at] = from[m][id + up];
        inverse[at] = CELL(strata_tile_factor)(from[0][id + up], leg, &ratio);
        if (!(inverse[at] - inverse[at] == 0)) *bad = 1;
      }
    }
}

void TYPED(StrataCGTilesEnterHost)(const TYPED(StrataCGTiles) *q, const REAL *r, const REAL *p, const REAL *x, REAL *rto, REAL *zto,
                                   REAL *const pto[2], REAL *xto, unsigned char (*range)[2])
{
  const int      *n = q->n;
  const ptrdiff_t plane = (ptrdiff_t)n[0] * n[1], pitch = q->pitch;

  for (int j = 0; j < n[1]; j++)
    for (int i = 0; i < n[0]; i++) {
      const ptrdiff_t id = i + (ptrdiff_t)n[0] * j, own = TYPED(beside)(q, i, j), east = TYPED(beside)(q, i + 1, j),
                      north = TYPED(beside)(q, i, j + 1);
      int first = n[2], end = 0;

      for (int k = 0; k < n[2]; k++) {
        const ptrdiff_t from = id + plane * k, at = own + pitch * k;

        rto[at] = r[from];
        pto[0][at] = p[from];
        xto[at] = x[from];
        zto[at] = pto[1][at] = 0;
        if (r[from] != 0 || p[from] != 0 || q->west[at] != 0 || q->south[at] != 0 || q->bottom[at] != 0 ||
            (east >= 0 && q->west[east + pitch * k] != 0) || (north >= 0 && q->south[north + pitch * k] != 0) ||
            (k + 1 < n[2] && q->bottom[at + pitch] != 0)) {
          if (first > k) first = k;
          end = k + 1;
        }
      }
      range[id][0] = (unsigned char)(first < end ? first : end);
      range[id][1] = (unsigned char)end;
    }
}

void TYPED(StrataCGTilesLeaveHost)(const TYPED(StrataCGTiles) *q, REAL owed, const REAL *r, const REAL *p, const REAL *x, REAL *rto, REAL *pto,
                                   REAL *xto)
{
  ptrdiff_t id = 0;

  for (int k = 0; k < q->n[2]; k++)
    for (int j = 0; j < q->n[1]; j++)
      for (int i = 0; i < q->n[0]; i++, id++) {
        const ptrdiff_t at = strata_tile_cell(q->n, q->pitch, i, j, k);

        if (rto) rto[id] = r[at];
        if (pto) pto[id] = p[at];
        if (xto) xto[id] = CELL(strata_cg_add)(owed, p[at], x[at]);
      }
}

/* z of a column from its r; (r,z) and (r,r) */
static void TYPED(solve)(const TYPED(StrataCGTiles) *q, const unsigned char range[2], ptrdiff_t own, const REAL *r, REAL *z, REAL *gamma, REAL *rr)
{
  REAL t[STRATA_CG_TILE_LEVELS + 1] = {0}, y = 0, before = 0, above = 0;

  for (int k = range[0]; k < range[1]; k++) {
    const ptrdiff_t at = own + q->pitch * k;
    const REAL      inverse = q->inverse[at];

    z[at] = CELL(strata_tile_up)(q->bottom[at], before, inverse, r[at], &t[k], &y);
    before = inverse;
    *gamma = FMA(y, z[at], *gamma);
    *rr = FMA(r[at], r[at], *rr);
  }
  t[range[1]] = 0;
  for (int k = range[1] - 1; k >= range[0]; k--) {
    const ptrdiff_t at = own + q->pitch * k;

    z[at] = above = CELL(strata_tile_down)(t[k + 1], above, z[at]);
  }
}

/* A tree of additions in halves */
static REAL TYPED(halves)(int n, REAL *a)
{
  for (int s = n / 2; s; s /= 2)
    for (int t = 0; t < s; t++) a[t] = a[t] + a[t + s];
  return a[0];
}

/* The sum over the threads of a block: over each of its rows, then over these */
static REAL TYPED(block)(REAL *a)
{
  for (int row = 0; row < ROWS; row++) a[row] = TYPED(halves)(WIDTH, a + WIDTH * row); /* row 0 is read before a[row] is written over */
  return TYPED(halves)(ROWS, a);
}

/* The sums of all tiles */
static void TYPED(total)(const TYPED(StrataCGTiles) *q, const unsigned char (*range)[2], const REAL *r, REAL *z, REAL sum[STRATA_CG_SUMS])
{
  const int      *n = q->n;
  const ptrdiff_t pitch = q->pitch;
  REAL            thread[STRATA_CG_SUMS][THREADS] = {{0}};
  int             tile = 0;

  for (int j = 0; j < n[1]; j++)
    for (int i = 0; i < n[0]; i++) {
      REAL unused[2] = {0};

      TYPED(solve)(q, range[i + (ptrdiff_t)n[0] * j], TYPED(beside)(q, i, j), r, z, &unused[0], &unused[1]);
    }
  for (int j0 = 0; j0 < n[1]; j0 += ROWS)
    for (int i0 = 0; i0 < n[0]; i0 += WIDTH, tile++) {
      REAL one[STRATA_CG_SUMS][THREADS] = {{0}};

      for (int j = j0; j < n[1] && j < j0 + ROWS; j++)
        for (int i = i0; i < n[0] && i < i0 + WIDTH; i++) {
          const unsigned char *levels = range[i + (ptrdiff_t)n[0] * j];
          const int            t = i - i0 + WIDTH * (j - j0);
          const ptrdiff_t      own = TYPED(beside)(q, i, j), west = TYPED(beside)(q, i - 1, j), south = TYPED(beside)(q, i, j - 1);
          REAL                 faces = 0, gamma = 0;

          TYPED(solve)(q, levels, own, r, z, &gamma, &one[STRATA_CG_RR][t]);
          one[STRATA_CG_GAMMA][t] = gamma;
          for (int k = levels[0]; k < levels[1]; k++) {
            const ptrdiff_t up = pitch * k, at = own + up;

            faces = CELL(strata_tile_faces)(q->west[at], q->south[at], z[at], west < 0 ? 0 : z[west + up], south < 0 ? 0 : z[south + up], faces);
          }
          one[STRATA_CG_DELTA][t] = CELL(strata_tile_delta)(gamma, faces);
          for (int k = levels[1] - 1; q->zz && k >= levels[0]; k--)
            one[STRATA_CG_ZZ][t] = FMA(z[own + pitch * k], z[own + pitch * k], one[STRATA_CG_ZZ][t]);
        }
      for (int m = 0; m < STRATA_CG_SUMS; m++) thread[m][tile % THREADS] = thread[m][tile % THREADS] + TYPED(block)(one[m]);
    }
  for (int m = 0; m < STRATA_CG_SUMS; m++) sum[m] = TYPED(block)(thread[m]);
}

void TYPED(StrataCGTilesColumnsHost)(const TYPED(StrataCGTiles) *q, TYPED(StrataCG) *cg, const unsigned char (*range)[2], const REAL *r, REAL *z,
                                     REAL (*history)[STRATA_CG_SUMS])
{
  REAL sum[STRATA_CG_SUMS];

  if (cg->done) return;
  TYPED(total)(q, range, r, z, sum);
  for (int m = 0; m < STRATA_CG_SUMS; m++) (history ? history[cg->its] : cg->sum)[m] = sum[m];
  if (history) CELL(strata_cg_judge)(cg, sum);
}

void TYPED(StrataCGTilesStepHost)(const TYPED(StrataCGTiles) *q, const TYPED(StrataCG) *cg, const unsigned char (*range)[2], const REAL *z,
                                  const REAL *p, REAL *pnew, REAL *r, REAL *x)
{
  const int      *n = q->n;
  const ptrdiff_t pitch = q->pitch;

  if (cg->done) return;
  for (int j = 0; j < n[1]; j++)
    for (int i = 0; i < n[0]; i++) {
      const unsigned char *levels = range[i + (ptrdiff_t)n[0] * j];
      const ptrdiff_t      own = TYPED(beside)(q, i, j);

      for (int k = levels[0]; k < levels[1]; k++) {
        const ptrdiff_t at = own + pitch * k;

        pnew[at] = CELL(strata_cg_add)(cg->beta, p[at], z[at]);
        if (x) x[at] = CELL(strata_cg_add)(cg->alpha, pnew[at], CELL(strata_cg_add)(cg->owed, p[at], x[at]));
      }
    }
  for (int j = 0; j < n[1]; j++)
    for (int i = 0; i < n[0]; i++) {
      const unsigned char *levels = range[i + (ptrdiff_t)n[0] * j];
      const ptrdiff_t      own = TYPED(beside)(q, i, j), west = TYPED(beside)(q, i - 1, j), east = TYPED(beside)(q, i + 1, j),
                      south = TYPED(beside)(q, i, j - 1), north = TYPED(beside)(q, i, j + 1);

      for (int k = levels[0]; k < levels[1]; k++) {
        const ptrdiff_t up = pitch * k, at = own + up;
        const int       highest = k + 1 == n[2];
        const REAL      leg[STRATA_LEGS] = {q->west[at],   east < 0 ? 0 : q->west[east + up],  q->south[at], north < 0 ? 0 : q->south[north + up],
                                            q->bottom[at], highest ? 0 : q->bottom[at + pitch]};
        const REAL      v[STRATA_LEGS] = {west < 0 ? 0 : pnew[west + up],   east < 0 ? 0 : pnew[east + up], south < 0 ? 0 : pnew[south + up],
                                     north < 0 ? 0 : pnew[north + up], k ? pnew[at - pitch] : 0,       highest ? 0 : pnew[at + pitch]};

        r[at] = CELL(strata_cg_add)(-cg->alpha, CELL(strata_star)(q->excess[at], leg, pnew[at], v), r[at]);
      }
    }
}
