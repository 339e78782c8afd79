/* Included by jacobi_scale_host.c for each precision */

void TYPED(StrataEmbedHost)(const int n[3], const StrataBox *own, const StrataBox *box, int nv, const double *x, ptrdiff_t ldx,
                            const StrataGhost ghost[], REAL *y, ptrdiff_t ldy)
{
  int i[3];

  for (i[2] = box->lo[2]; i[2] < box->hi[2]; i[2]++)
    for (i[1] = box->lo[1]; i[1] < box->hi[1]; i[1]++)
      for (i[0] = box->lo[0]; i[0] < box->hi[0]; i[0]++) {
        const ptrdiff_t to = i[0] + n[0] * (i[1] + (ptrdiff_t)n[1] * i[2]);
        ptrdiff_t       distance;
        const double   *from = CELL(strata_embedded)(own, x, ldx, ghost, i, &distance, 0);

        for (int v = 0; v < nv; v++) y[to + v * ldy] = (REAL)from[v * distance];
      }
}

void TYPED(StrataUnembedHost)(const int n[3], const StrataBox *own, int nv, const REAL *x, ptrdiff_t ldx, const double *by, const double *add,
                              double *y, ptrdiff_t ldy)
{
  for (int v = 0; v < nv; v++) {
    const double factor = by ? by[2 * v] : 1;
    ptrdiff_t    id = v * ldy;

    for (int k = own->lo[2]; k < own->hi[2]; k++)
      for (int j = own->lo[1]; j < own->hi[1]; j++)
        for (int i = own->lo[0]; i < own->hi[0]; i++, id++) {
          const double value = factor * (double)x[v * ldx + i + n[0] * (j + (ptrdiff_t)n[1] * k)];

          y[id] = add ? add[id] + value : value;
        }
  }
}
