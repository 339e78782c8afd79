/* Included by kernels.h for each precision */

static inline REAL *TYPED(Numbers)(Arrays *a, ptrdiff_t n, double low, double high)
{
  REAL *x = (REAL *)NewArray(a, n * sizeof(REAL));

  for (ptrdiff_t i = 0; i < n; i++) x[i] = (REAL)Random(low, high);
  return x;
}

/* Numbers that nobody has written */
static inline void TYPED(Poison)(REAL *x, ptrdiff_t n)
{
  for (ptrdiff_t i = 0; i < n; i++) x[i] = NAN;
}

/* Are both the same, or both not written? */
static inline int TYPED(Same)(const REAL *x, const REAL *y, ptrdiff_t n)
{
  for (ptrdiff_t i = 0; i < n; i++)
    if (x[i] != y[i] && !(isnan(x[i]) && isnan(y[i]))) return 0;
  return 1;
}
