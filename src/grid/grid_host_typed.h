/* Included by grid_host.c for each precision */

static inline __attribute__((always_inline)) REAL TYPED(chunk)(StrataReduction op, int n, const REAL *x, const REAL *y)
{
  REAL lane[STRATA_LANES];

  for (int t = 0; t < STRATA_LANES; t++) lane[t] = CELL(strata_reduce_identity)(op, 0);
  for (int i = 0; i < n; i += STRATA_LANES) {
    const int m = n - i < STRATA_LANES ? n - i : STRATA_LANES;

    for (int t = 0; t < m; t++) lane[t] = CELL(strata_reduce_take)(op, lane[t], x[i + t], y[i + t]);
  }
  for (int s = STRATA_LANES / 2; s; s /= 2)
    for (int t = 0; t < s; t++) lane[t] = CELL(strata_reduce_join)(op, lane[t], lane[t + s]);
  return lane[0];
}

/* One chunk, with the operation known to the compiler */
STRATA_CLONES REAL TYPED(strata_reduce_chunk)(StrataReduction op, int n, const REAL *x, const REAL *y);
STRATA_CLONES REAL TYPED(strata_reduce_chunk)(StrataReduction op, int n, const REAL *x, const REAL *y)
{
  switch (op) {
  case STRATA_REDUCE_SUM: return TYPED(chunk)(STRATA_REDUCE_SUM, n, x, x);
  case STRATA_REDUCE_SUMABS: return TYPED(chunk)(STRATA_REDUCE_SUMABS, n, x, x);
  case STRATA_REDUCE_DOT: return TYPED(chunk)(STRATA_REDUCE_DOT, n, x, y);
  case STRATA_REDUCE_MAX: return TYPED(chunk)(STRATA_REDUCE_MAX, n, x, x);
  case STRATA_REDUCE_MAXABS: return TYPED(chunk)(STRATA_REDUCE_MAXABS, n, x, x);
  case STRATA_REDUCE_MAXDIFF: return TYPED(chunk)(STRATA_REDUCE_MAXDIFF, n, x, y);
  }
  return 0;
}

void TYPED(StrataReduceHost)(StrataReduction op, ptrdiff_t n, const REAL *x, const REAL *y, REAL *work)
{
  do {
    const ptrdiff_t chunks = (n + STRATA_CHUNK - 1) / STRATA_CHUNK;

    for (ptrdiff_t c = 0; c < chunks; c++) {
      const ptrdiff_t i = c * STRATA_CHUNK;

      work[c] = TYPED(strata_reduce_chunk)(op, (int)(n - i < STRATA_CHUNK ? n - i : STRATA_CHUNK), x + i, StrataReduceNeedsY(op) ? y + i : NULL);
    }
    if (!chunks) work[0] = CELL(strata_reduce_identity)(op, 0);
    x = work;
    op = StrataReduceAgain(op);
    work += chunks;
    n = chunks;
  } while (n > 1);
  *work = n ? *x : work[0];
}
