/*
   The two passes along columns on the host: the reference of those on the device
*/
#include "cg_columns_cell.h"

enum { CHUNK = STRATA_CG_CHUNK, WIDTH = STRATA_CG_WIDTH };

/* A tree of additions in halves */
static double halves(int n, double *a)
{
  for (int s = n / 2; s; s /= 2)
    for (int t = 0; t < s; t++) a[t] = a[t] + a[t + s];
  return a[0];
}

#define STRATA_TYPED "../cg/cg_columns_host_typed.h"
#include "../sys/typed.h"

void StrataCGColumnsRoundHost(const StrataCGColumns_f *q, double kappa, const double *from, const double *minus, float ratio, float *r, float *p,
                              float *x, float *start, float *F)
{
  for (int k = 0; k < q->levels; k++)
    for (int j = 0; j < q->n[1]; j++)
      for (int i = 0; i < q->n[0]; i++) {
        const ptrdiff_t to = i + q->pitch * j + q->plane * k, id = i + q->n[0] * (j + (ptrdiff_t)q->n[1] * (k - q->pad));

        r[to] = k < q->pad ? 0 : (float)(kappa * (minus ? from[id] - minus[id] : from[id]));
        p[to] = ratio == 0 ? 0 : ratio * p[to];
        x[to] = 0;
      }
  begin_f(q, r, start, F);
}

void StrataCGColumnsAddHost(const StrataCGColumns_f *q, double factor, float owed, const float *p, float *x, double *to)
{
  ptrdiff_t id = 0;

  for (int k = 0; k < q->n[2]; k++)
    for (int j = 0; j < q->n[1]; j++)
      for (int i = 0; i < q->n[0]; i++, id++) {
        const ptrdiff_t at = i + q->pitch * (j + (ptrdiff_t)q->n[1] * (k + q->pad));

        to[id] = fma(factor, (double)strata_cg_add_f(owed, p[at], x[at]), to[id]);
        x[at] = 0;
      }
}
