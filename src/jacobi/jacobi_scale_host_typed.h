/* Included by jacobi_scale_host.c for each precision */

void TYPED(StrataEmbedHost)(const int n[3], const StrataBox *own, const StrataBox *box, const double *x, const StrataGhost ghost[], REAL *y)
{
  int i[3];

  for (i[2] = box->lo[2]; i[2] < box->hi[2]; i[2]++)
    for (i[1] = box->lo[1]; i[1] < box->hi[1]; i[1]++)
      for (i[0] = box->lo[0]; i[0] < box->hi[0]; i[0]++)
        y[i[0] + n[0] * (i[1] + (ptrdiff_t)n[1] * i[2])] = CELL(strata_embedded)(own, x, ghost, i, 0);
}

void TYPED(StrataUnembedHost)(const int n[3], const StrataBox *own, const REAL *x, const double *by, const double *add, double *y)
{
  const double factor = by ? *by : 1;
  ptrdiff_t    id = 0;

  for (int k = own->lo[2]; k < own->hi[2]; k++)
    for (int j = own->lo[1]; j < own->hi[1]; j++)
      for (int i = own->lo[0]; i < own->hi[0]; i++, id++) y[id] = (add ? add[id] : 0) + factor * (double)x[i + n[0] * (j + (ptrdiff_t)n[1] * k)];
}
