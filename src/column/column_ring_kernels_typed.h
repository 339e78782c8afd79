/* Included by column_ring_kernels.h for each precision */

/* Of all rings, or if they are all the same of one of them. The numbers are in runs, those of the rings without scale and shift. */
typedef struct {
  int         same;
  const REAL *number;  /* STRATA_RING_NUMBERS of each ring */
  const REAL *inverse; /* 1 / s of each ring, 0 if it is singular */
  const REAL *column;  /* w of each cell; for the transpose, that of the transpose */
} TYPED(StrataRing);

STRATA_BEGIN_C

/* Cuts rings of at least two cells: the numbers of each, and the rows of the lines that stand for them, if these are wanted. from: arrays, with
   upper; or cells, any coefficients. What is written may be the arrays of `from`. */
void TYPED(StrataRingCutHost)(const TYPED(StrataLines) *from, REAL *number, REAL *excess, REAL *lower, REAL *upper);
int TYPED(StrataRingCutCUDA)(const TYPED(StrataLines) *from, REAL *number, REAL *excess, REAL *lower, REAL *upper, void *stream);

/* A right-hand side of the set-up, STRATA_RING_B, STRATA_RING_C or STRATA_RING_SUM, 0 in last cells; lines: those that stand for the rings */
void TYPED(StrataRingRightHost)(const TYPED(StrataLines) *lines, const REAL *number, int which, REAL *right);
int TYPED(StrataRingRightCUDA)(const TYPED(StrataLines) *lines, const REAL *number, int which, REAL *right, void *stream);

/* 1 / s of each ring, from g */
void TYPED(StrataRingPivotHost)(const TYPED(StrataLines) *lines, const REAL *number, const REAL *g, REAL *inverse);
int TYPED(StrataRingPivotCUDA)(const TYPED(StrataLines) *lines, const REAL *number, const REAL *g, REAL *inverse, void *stream);

/* z = (add ? add : 0) + what the solve of the lines, y, becomes for the rings; z may be y or add. last: space for one number of each ring and
   vector */
void TYPED(StrataRingFinishHost)(const TYPED(StrataLines) *lines, const TYPED(StrataRing) *ring, int transpose, int nv, const REAL *y, ptrdiff_t ldy,
                                 const REAL *add, REAL *z, ptrdiff_t ldz, REAL *last);
int TYPED(StrataRingFinishCUDA)(const TYPED(StrataLines) *lines, const TYPED(StrataRing) *ring, int transpose, int nv, const REAL *y, ptrdiff_t ldy,
                                const REAL *add, REAL *z, ptrdiff_t ldz, REAL *last, void *stream);

STRATA_END_C
