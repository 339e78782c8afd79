/* Included by column_sweep_host.c for each precision */

/* Cells along x; even, odd: are the cells 0, 2, ... and 1, 3, ... of the colour? */
STRATA_CLONES void TYPED(strata_correct_row)(int n, int even, int odd, REAL omega, const REAL *e, const REAL *add, REAL *z);
STRATA_CLONES void TYPED(strata_correct_row)(int n, int even, int odd, REAL omega, const REAL *e, const REAL *add, REAL *z)
{
  if (add)
#pragma GCC ivdep
    for (int i = 0; i < n; i++) z[i] = CELL(strata_correct)(i % 2 ? odd : even, omega, e[i], add[i]);
  else
#pragma GCC ivdep
    for (int i = 0; i < n; i++) z[i] = CELL(strata_correct)(i % 2 ? odd : even, omega, e[i], 0);
}

void TYPED(StrataCorrectHost)(const StrataColor *c, REAL omega, const REAL *e, const REAL *add, REAL *z)
{
  for (int k = 0; k < c->n[2]; k++)
    for (int j = 0; j < c->n[1]; j++) {
      const ptrdiff_t id = c->n[0] * (j + (ptrdiff_t)c->n[1] * k);

      TYPED(strata_correct_row)(c->n[0], strata_colored(c, 0, j, k), strata_colored(c, 1, j, k), omega, e + id, add ? add + id : NULL, z + id);
    }
}
