/* Included by jacobi_host.c for each precision */

/* The value of a cell of the array, or of one next to it */
static inline REAL TYPED(value)(const TYPED(StrataSystem) *s, const REAL *x, int i, int j, int k)
{
  const int inside = i >= 0 && i < s->n[0] && j >= 0 && j < s->n[1] && k >= 0 && k < s->n[2];

  return inside ? x[i + s->n[0] * (j + (ptrdiff_t)s->n[1] * k)] : 0;
}

/* One sweep over the n[0] x n[1] x n[2] cells of a tile, whose first cell is cell `from` of the array; u and v have a frame one cell wide.
   Gives the largest change in the cells lo <= cell < hi of the tile. */
static REAL TYPED(sweep)(const TYPED(StrataSystem) *s, const int from[3], const int n[3], const int lo[3], const int hi[3], REAL weight,
                         const REAL *b, const REAL *u, REAL *v)
{
  const ptrdiff_t step[3] = {1, n[0] + 2, (ptrdiff_t)(n[0] + 2) * (n[1] + 2)};
  REAL            change = 0;

  for (int k = 0; k < n[2]; k++)
    for (int j = 0; j < n[1]; j++)
      for (int i = 0; i < n[0]; i++) {
        const ptrdiff_t at = (i + 1) * step[0] + (j + 1) * step[1] + (k + 1) * step[2];
        const ptrdiff_t id = from[0] + i + s->n[0] * (from[1] + j + (ptrdiff_t)s->n[1] * (from[2] + k));
        const int       writes = i >= lo[0] && i < hi[0] && j >= lo[1] && j < hi[1] && k >= lo[2] && k < hi[2];
        REAL            w[STRATA_LEGS], leg[STRATA_LEGS], r;

        for (int l = 0; l < STRATA_LEGS; l++) {
          w[l] = u[l % 2 ? at + step[l / 2] : at - step[l / 2]];
          leg[l] = s->form != STRATA_SYSTEM_VARIABLE ? s->leg[l] : s->legs[l] ? s->legs[l][id] : 0;
        }
        r = s->form == STRATA_SYSTEM_EQUAL ? CELL(strata_jacobi_equal)(s->dim, s->leg[0], b[id], w) : CELL(strata_jacobi_legs)(s->dim, leg, b[id], w);
        v[at] = CELL(strata_jacobi_damped)(weight, u[at], r);
        if (writes) change = CELL(strata_reduce_take)(STRATA_REDUCE_MAXDIFF, change, v[at], u[at]);
      }
  return change;
}

void TYPED(StrataCycleHost)(const TYPED(StrataSystem) *s, const StrataTiling *t, const StrataBox *box, const REAL *weight, const REAL *b,
                            const REAL *x, REAL *y, REAL *change)
{
  int       count[3], tile[3];
  ptrdiff_t cells = 1;
  REAL     *work = NULL, most = 0;

  for (int a = 0; a < 3; a++) {
    count[a] = strata_tiles(s->n[a], box->lo[a], box->hi[a], t->tile[a], t->overlap[a]);
    cells *= (t->tile[a] < s->n[a] ? t->tile[a] : s->n[a]) + 2;
  }
  if (strata_box_size(box) && !(work = (REAL *)malloc(2 * cells * sizeof(REAL)))) abort();
  for (tile[2] = 0; tile[2] < count[2] && work; tile[2]++)
    for (tile[1] = 0; tile[1] < count[1]; tile[1]++)
      for (tile[0] = 0; tile[0] < count[0]; tile[0]++) {
        int   from[3], n[3], lo[3], hi[3];
        REAL *u = work, *v = work + cells, *w, last = 0;

        for (int a = 0; a < 3; a++) {
          int f[2], e[2];

          strata_tile(s->n[a], box->lo[a], box->hi[a], t->tile[a], t->overlap[a], tile[a], f, e);
          from[a] = f[0];
          n[a] = e[0] - f[0];
          lo[a] = f[1] - f[0];
          hi[a] = e[1] - f[0];
        }
        w = u;
        for (int k = -1; k <= n[2]; k++)
          for (int j = -1; j <= n[1]; j++)
            for (int i = -1; i <= n[0]; i++) *w++ = TYPED(value)(s, x, from[0] + i, from[1] + j, from[2] + k);
        memcpy(v, u, (w - u) * sizeof(REAL));
        for (int sweep = 0; sweep < t->sweeps; sweep++) {
          last = TYPED(sweep)(s, from, n, lo, hi, weight ? weight[sweep] : 1, b, u, v);
          w = u;
          u = v;
          v = w;
        }
        most = CELL(strata_reduce_join)(STRATA_REDUCE_MAX, most, last);
        for (int k = lo[2]; k < hi[2]; k++)
          for (int j = lo[1]; j < hi[1]; j++)
            for (int i = lo[0]; i < hi[0]; i++)
              y[from[0] + i + s->n[0] * (from[1] + j + (ptrdiff_t)s->n[1] * (from[2] + k))] =
                  u[1 + i + (n[0] + 2) * (1 + j + (ptrdiff_t)(n[1] + 2) * (1 + k))];
      }
  free(work);
  if (change) *change = most;
}
