/* Included by grid_kernels.h for each precision */

/* The start of every reduction: the identity of its operation */
STRATA_CELL REAL CELL(strata_reduce_identity)(StrataReduction op, REAL unused)
{
  (void)unused;
  return op == STRATA_REDUCE_MAX ? -(REAL)INFINITY : 0;
}

/* Takes one more number (of a chunk: x and y) */
STRATA_CELL REAL CELL(strata_reduce_take)(StrataReduction op, REAL a, REAL x, REAL y)
{
  if (op == STRATA_REDUCE_DOT) return FMA(x, y, a);
  if (op == STRATA_REDUCE_MAXDIFF) x -= y;
  if (op != STRATA_REDUCE_SUM && op != STRATA_REDUCE_MAX) x = x < 0 ? -x : x;
  return op <= STRATA_REDUCE_DOT ? a + x : x > a || x != x ? x : a;
}

/* Joins two results */
STRATA_CELL REAL CELL(strata_reduce_join)(StrataReduction op, REAL a, REAL b)
{
  if (op <= STRATA_REDUCE_DOT) return a + b;
  return b > a || b != b ? b : a;
}

STRATA_BEGIN_C

/* work: StrataReduceWork(n) numbers; the result is left in work[StrataReduceWork(n) - 1], in the memory of x */
void TYPED(StrataReduceHost)(StrataReduction op, ptrdiff_t n, const REAL *x, const REAL *y, REAL *work);
int TYPED(StrataReduceCUDA)(StrataReduction op, ptrdiff_t n, const REAL *x, const REAL *y, REAL *work, void *stream);

STRATA_END_C
