/* Included by column_pack_host.c for each precision */

void TYPED(StrataPackHost)(ptrdiff_t n, const int *place, const double *by, int nv, const double *from, ptrdiff_t ldf, REAL *to, ptrdiff_t ldt)
{
  for (int v = 0; v < nv; v++, from += ldf, to += ldt) {
    const double factor = by ? by[2 * v] : 1;

    if (place)
      for (ptrdiff_t i = 0; i < n; i++) to[i] = place[i] < 0 ? 0 : (REAL)(factor * from[place[i]]);
    else
      for (ptrdiff_t i = 0; i < n; i++) to[i] = (REAL)(factor * from[i]);
  }
}

void TYPED(StrataUnpackHost)(ptrdiff_t n, const int *place, const double *by, int nv, const REAL *from, ptrdiff_t ldf, const double *add, double *to,
                             ptrdiff_t ldt)
{
  for (int v = 0; v < nv; v++, from += ldf, to += ldt) {
    const double  factor = by ? by[2 * v] : 1;
    const double *plus = add ? add + v * ldt : NULL;

    for (ptrdiff_t i = 0; i < n; i++) {
      const ptrdiff_t at = place ? place[i] : i;

      if (at >= 0) to[at] = plus ? plus[at] + factor * from[i] : factor * from[i];
    }
  }
}
