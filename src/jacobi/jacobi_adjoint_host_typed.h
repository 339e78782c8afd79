/* Included by jacobi_adjoint_host.c for each precision of the system */

/* The transpose of a sweep over the n[0] x n[1] x n[2] cells of a tile from cell `from` of the array on: u = its part for the values before the
   sweep, from v, that for the values after it. u and v have a frame one cell wide, which is zero in v. */
static void TYPED(sweep)(const TYPED(StrataSystem) *s, const int from[3], const int n[3], double weight, const double *v, double *u, double *b)
{
  const ptrdiff_t step[3] = {1, n[0] + 2, (ptrdiff_t)(n[0] + 2) * (n[1] + 2)};

  memset(u, 0, step[2] * (n[2] + 2) * sizeof(*u));
  for (int k = 0; k < n[2]; k++)
    for (int j = 0; j < n[1]; j++)
      for (int i = 0; i < n[0]; i++) {
        const ptrdiff_t at = (i + 1) * step[0] + (j + 1) * step[1] + (k + 1) * step[2];
        const ptrdiff_t id = from[0] + i + s->n[0] * (from[1] + j + (ptrdiff_t)s->n[1] * (from[2] + k));
        const double    w = weight * v[at];

        u[at] += v[at] - w;
        b[id] += w;
        for (int l = 0; l < STRATA_LEGS; l++) {
          const double leg = s->form != STRATA_SYSTEM_VARIABLE ? s->leg[l] : s->legs[l] ? s->legs[l][id] : 0;

          u[l % 2 ? at + step[l / 2] : at - step[l / 2]] += leg * w;
        }
      }
}

/* Adds the cells of a tile (rim 0) or of the frame around it (rim 1) to those of the array, and forgets the frame */
static void TYPED(gather)(const TYPED(StrataSystem) *s, const int from[3], const int n[3], int rim, double *u, double *x)
{
  for (int k = -1; k <= n[2]; k++)
    for (int j = -1; j <= n[1]; j++)
      for (int i = -1; i <= n[0]; i++, u++) {
        const int at[3] = {from[0] + i, from[1] + j, from[2] + k};
        const int frame = i < 0 || i == n[0] || j < 0 || j == n[1] || k < 0 || k == n[2];
        int       inside = 1;

        for (int a = 0; a < 3; a++) inside = inside && at[a] >= 0 && at[a] < s->n[a];
        if (inside && frame == rim) x[at[0] + s->n[0] * (at[1] + (ptrdiff_t)s->n[1] * at[2])] += *u;
        if (frame) *u = 0;
      }
}

int TYPED(StrataCycleAdjointHost)(const TYPED(StrataSystem) *s, const StrataTiling *t, const StrataBox *box, const REAL *weight, const double *y,
                                  double *x, double *b)
{
  int       count[3], tile[3];
  ptrdiff_t cells = 1;
  double   *work;

  if (!strata_box_size(box)) return 0;
  for (int a = 0; a < 3; a++) {
    count[a] = strata_tiles(s->n[a], box->lo[a], box->hi[a], t->tile[a], t->overlap[a]);
    cells *= (t->tile[a] < s->n[a] ? t->tile[a] : s->n[a]) + 2;
  }
  if (!(work = (double *)malloc(2 * cells * sizeof(*work)))) return 1;
  for (tile[2] = 0; tile[2] < count[2]; tile[2]++)
    for (tile[1] = 0; tile[1] < count[1]; tile[1]++)
      for (tile[0] = 0; tile[0] < count[0]; tile[0]++) {
        int     from[3], n[3], lo[3], hi[3];
        double *u = work, *v = work + cells;

        for (int a = 0; a < 3; a++) {
          int f[2], e[2];

          strata_tile(s->n[a], box->lo[a], box->hi[a], t->tile[a], t->overlap[a], tile[a], f, e);
          from[a] = f[0];
          n[a] = e[0] - f[0];
          lo[a] = f[1];
          hi[a] = e[1];
        }
        memset(v, 0, cells * sizeof(*v));
        for (int k = lo[2]; k < hi[2]; k++)
          for (int j = lo[1]; j < hi[1]; j++)
            for (int i = lo[0]; i < hi[0]; i++)
              v[1 + i - from[0] + (n[0] + 2) * (1 + j - from[1] + (ptrdiff_t)(n[1] + 2) * (1 + k - from[2]))] =
                  y[i + s->n[0] * (j + (ptrdiff_t)s->n[1] * k)];
        for (int sweep = t->sweeps - 1; sweep >= 0; sweep--) {
          double *swap = v;

          TYPED(sweep)(s, from, n, weight ? weight[sweep] : 1, v, u, b);
          TYPED(gather)(s, from, n, 1, u, x);
          v = u;
          u = swap;
        }
        TYPED(gather)(s, from, n, 0, v, x);
      }
  free(work);
  return 0;
}
