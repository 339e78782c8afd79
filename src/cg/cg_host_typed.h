/* Included by cg_host.c for each precision */

/* Lanes of a chunk are folded in halves */
static inline __attribute__((always_inline)) REAL TYPED(fold)(REAL lane[STRATA_LANES])
{
  for (int s = STRATA_LANES / 2; s; s /= 2)
    for (int t = 0; t < s; t++) lane[t] = lane[t] + lane[t + s];
  return lane[0];
}

/* One chunk of the update; with what there is known to the compiler */
static inline __attribute__((always_inline))
REAL TYPED(update)(int n, REAL beta, REAL alpha, const REAL *z, const REAL *s, REAL *p, REAL *w, REAL *x, REAL *r, int newp, int neww)
{
  REAL lane[STRATA_LANES];

  for (int t = 0; t < STRATA_LANES; t++) lane[t] = 0;
  for (int i = 0; i < n; i += STRATA_LANES) {
    const int m = n - i < STRATA_LANES ? n - i : STRATA_LANES;

#pragma GCC ivdep
    for (int t = 0; t < m; t++) {
      REAL pt = p[i + t], wt = s[i + t];

      if (newp) p[i + t] = pt = CELL(strata_cg_add)(beta, pt, z[i + t]);
      if (neww) w[i + t] = wt = CELL(strata_cg_add)(beta, w[i + t], wt);
      x[i + t] = CELL(strata_cg_add)(alpha, pt, x[i + t]);
      r[i + t] = wt = CELL(strata_cg_add)(-alpha, wt, r[i + t]);
      lane[t] = FMA(wt, wt, lane[t]);
    }
  }
  return TYPED(fold)(lane);
}

STRATA_CLONES REAL TYPED(strata_cg_update_chunk)(int n, REAL beta, REAL alpha, const REAL *z, const REAL *s, REAL *p, REAL *w, REAL *x, REAL *r);
STRATA_CLONES REAL TYPED(strata_cg_update_chunk)(int n, REAL beta, REAL alpha, const REAL *z, const REAL *s, REAL *p, REAL *w, REAL *x, REAL *r)
{
  if (z && w) return TYPED(update)(n, beta, alpha, z, s, p, w, x, r, 1, 1);
  if (z) return TYPED(update)(n, beta, alpha, z, s, p, NULL, x, r, 1, 0);
  if (w) return TYPED(update)(n, beta, alpha, NULL, s, p, w, x, r, 0, 1);
  return TYPED(update)(n, beta, alpha, NULL, s, p, NULL, x, r, 0, 0);
}

/* The results of the chunks of one sum are there: the sum goes to the end of its run */
static void TYPED(finish)(ptrdiff_t n, REAL *work)
{
  const ptrdiff_t chunks = (n + STRATA_CHUNK - 1) / STRATA_CHUNK;

  if (chunks > 1)
    TYPED(StrataReduceHost)(STRATA_REDUCE_SUM, chunks, work, NULL, work + chunks);
  else if (chunks)
    work[1] = work[0];
  else
    work[0] = 0;
}

void TYPED(StrataCGUpdateHost)(ptrdiff_t n, const TYPED(StrataCG) *cg, const REAL *z, const REAL *s, REAL *p, REAL *w, REAL *x, REAL *r, REAL *work)
{
  REAL *rr = work + STRATA_CG_RR * StrataReduceWork(n);

  if (cg->done) return;
  for (ptrdiff_t i = 0, c = 0; i < n; i += STRATA_CHUNK, c++)
    rr[c] = TYPED(strata_cg_update_chunk)((int)(n - i < STRATA_CHUNK ? n - i : STRATA_CHUNK), cg->beta, cg->alpha, z ? z + i : NULL, s + i, p + i,
                                          w ? w + i : NULL, x + i, r + i);
  TYPED(finish)(n, rr);
}

STRATA_CLONES void TYPED(strata_cg_direction)(ptrdiff_t n, REAL beta, const REAL *z, REAL *p);
STRATA_CLONES void TYPED(strata_cg_direction)(ptrdiff_t n, REAL beta, const REAL *z, REAL *p)
{
#pragma GCC ivdep
  for (ptrdiff_t i = 0; i < n; i++) p[i] = CELL(strata_cg_add)(beta, p[i], z[i]);
}

void TYPED(StrataCGDirectionHost)(ptrdiff_t n, const TYPED(StrataCG) *cg, const REAL *z, REAL *p)
{
  if (!cg->done) TYPED(strata_cg_direction)(n, cg->beta, z, p);
}

static inline __attribute__((always_inline)) void TYPED(sums)(int n, const REAL *r, const REAL *z, const REAL *s, REAL *gamma, REAL *delta, REAL *zz,
                                                              int product)
{
  REAL g[STRATA_LANES], d[STRATA_LANES], q[STRATA_LANES];

  for (int t = 0; t < STRATA_LANES; t++) g[t] = d[t] = q[t] = 0;
  for (int i = 0; i < n; i += STRATA_LANES) {
    const int m = n - i < STRATA_LANES ? n - i : STRATA_LANES;

    for (int t = 0; t < m; t++) {
      g[t] = FMA(r[i + t], z[i + t], g[t]);
      if (product) d[t] = FMA(z[i + t], s[i + t], d[t]);
      q[t] = FMA(z[i + t], z[i + t], q[t]);
    }
  }
  *gamma = TYPED(fold)(g);
  if (product) *delta = TYPED(fold)(d);
  *zz = TYPED(fold)(q);
}

STRATA_CLONES void TYPED(strata_cg_sums_chunk)(int n, const REAL *r, const REAL *z, const REAL *s, REAL *gamma, REAL *delta, REAL *zz);
STRATA_CLONES void TYPED(strata_cg_sums_chunk)(int n, const REAL *r, const REAL *z, const REAL *s, REAL *gamma, REAL *delta, REAL *zz)
{
  if (s)
    TYPED(sums)(n, r, z, s, gamma, delta, zz, 1);
  else
    TYPED(sums)(n, r, z, NULL, gamma, delta, zz, 0);
}

void TYPED(StrataCGSumsHost)(ptrdiff_t n, const REAL *r, const REAL *z, const REAL *s, REAL *work)
{
  const ptrdiff_t run = StrataReduceWork(n);
  REAL           *gamma = work + STRATA_CG_GAMMA * run, *delta = work + STRATA_CG_DELTA * run, *zz = work + STRATA_CG_ZZ * run;

  for (ptrdiff_t i = 0, c = 0; i < n; i += STRATA_CHUNK, c++)
    TYPED(strata_cg_sums_chunk)((int)(n - i < STRATA_CHUNK ? n - i : STRATA_CHUNK), r + i, z + i, s ? s + i : NULL, gamma + c, delta + c, zz + c);
  TYPED(finish)(n, gamma);
  if (s) TYPED(finish)(n, delta);
  TYPED(finish)(n, zz);
}
