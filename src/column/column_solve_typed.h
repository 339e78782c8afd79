/* Included by column_solve.c for each precision */

/* Where the factorization of the lines stands at the beginning of segments, found once for the same rows, scale and shift */
static PetscErrorCode TYPED(PCColumnGetStart)(PC_Column *col, TYPED(StrataLines) *t, PetscMemType type, void *stream, const REAL **start)
{
  PetscFunctionBegin;
  if (!col->started) {
    REAL *s;

    PetscCall(PCColumnNewArray(&col->start, (size_t)TYPED(StrataPartitionStart)(t) * sizeof(REAL), type, &s));
    StrataDispatch(type, TYPED(StrataPartitionSetUpHost)(t, s, &col->sums), TYPED(StrataPartitionSetUpCUDA)(t, s, &col->sums, stream));
    col->started = PETSC_TRUE;
  }
  t->sums = col->sums;
  PetscCall(StrataArrayRead(&col->start, type, start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TYPED(PCColumnThomas)(PC_Column *col, const TYPED(StrataLines) *t, PetscBool transpose, int nv, const REAL *r, ptrdiff_t ldr,
                                            const REAL *add, REAL *z, ptrdiff_t ldz, PetscMemType type, void *stream)
{
  size_t bytes;
  void  *w;

  PetscFunctionBegin;
  StrataDispatch(type, bytes = TYPED(StrataThomasWorkHost)(t), TYPED(StrataThomasWorkCUDA)(t, nv, add != NULL, &bytes));
  PetscCall(PCColumnGetWork(col, PC_COLUMN_LINES, type, bytes, &w));
  StrataDispatch(type, TYPED(StrataThomasHost)(t, transpose, nv, r, ldr, add, z, ldz, w),
                 TYPED(StrataThomasCUDA)(t, transpose, nv, r, ldr, add, z, ldz, w, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines, those that stand for rings included */
static PetscErrorCode TYPED(PCColumnLines)(PC_Column *col, const TYPED(StrataLines) *t, PetscBool transpose, PCColumnAlgorithm algorithm, int nv,
                                           const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z, ptrdiff_t ldz, PetscMemType type, void *stream)
{
  const REAL *start;
  void       *w;

  PetscFunctionBegin;
  if (algorithm == PC_COLUMN_PARTITION) {
    TYPED(StrataLines) lines = *t;

    PetscCall(TYPED(PCColumnGetStart)(col, &lines, type, stream, &start));
    PetscCall(PCColumnGetWork(col, PC_COLUMN_LINES, type, TYPED(StrataPartitionWork)(t, nv, PetscMemTypeDevice(type)), &w));
    StrataDispatch(type, TYPED(StrataPartitionHost)(&lines, start, nv, r, ldr, add, z, ldz, w),
                   TYPED(StrataPartitionCUDA)(&lines, start, nv, r, ldr, add, z, ldz, w, stream));
  } else if (algorithm == PC_COLUMN_TWOWAY) {
    PetscCall(PCColumnGetWork(col, PC_COLUMN_LINES, type, TYPED(StrataTwoWayWork)(t, nv, PetscMemTypeDevice(type)), &w));
    StrataDispatch(type, TYPED(StrataTwoWayHost)(t, nv, r, ldr, add, z, ldz, w), TYPED(StrataTwoWayCUDA)(t, nv, r, ldr, add, z, ldz, w, stream));
  } else if (algorithm == PC_COLUMN_PCR) {
    PetscCall(PCColumnGetWork(col, PC_COLUMN_LINES, type, TYPED(StrataPCRWork)(t, nv, PetscMemTypeDevice(type)), &w));
    StrataDispatch(type, TYPED(StrataPCRHost)(t, nv, r, ldr, add, z, ldz, w), TYPED(StrataPCRCUDA)(t, nv, r, ldr, add, z, ldz, w, stream));
  } else
    PetscCall(TYPED(PCColumnThomas)(col, t, transpose, nv, r, ldr, add, z, ldz, type, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lines that the numbers of rings are found with: all, or one if the rings are all the same; their number of cells */
static ptrdiff_t TYPED(PCColumnRingLines)(const PC_Column *col, const TYPED(StrataLines) *t, TYPED(StrataLines) *few)
{
  *few = *t;
  for (int a = 0; a < 3; a++)
    if (col->rings.same && a != t->axis) few->coef.n[a] = 1;
  return (ptrdiff_t)few->coef.n[0] * few->coef.n[1] * few->coef.n[2];
}

/* 1 / s of each ring */
static PetscErrorCode TYPED(PCColumnRingPivots)(PC_Column *col, const TYPED(StrataLines) *t, const REAL *number, PetscMemType type, void *stream)
{
  TYPED(StrataLines) few;
  const ptrdiff_t    cells = TYPED(PCColumnRingLines)(col, t, &few);
  REAL              *g, *inverse;

  PetscFunctionBegin;
  PetscCall(PCColumnGetWork(col, PC_COLUMN_RINGS, type, (size_t)cells * sizeof(REAL), &g));
  PetscCall(PCColumnNewArray(&col->rings.inverse, (size_t)(cells / few.coef.n[few.axis]) * sizeof(REAL), type, &inverse));
  StrataDispatch(type, TYPED(StrataRingRightHost)(&few, number, STRATA_RING_SUM, g),
                 TYPED(StrataRingRightCUDA)(&few, number, STRATA_RING_SUM, g, stream));
  PetscCall(TYPED(PCColumnThomas)(col, &few, PETSC_FALSE, 1, g, cells, NULL, g, cells, type, stream));
  StrataDispatch(type, TYPED(StrataRingPivotHost)(&few, number, g, inverse), TYPED(StrataRingPivotCUDA)(&few, number, g, inverse, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbers of rings, found once for the same rows, scale and shift. Those of the transpose are found when they are wanted. */
static PetscErrorCode TYPED(PCColumnGetRings)(PC_Column *col, const TYPED(StrataLines) *t, PetscBool transpose, PetscMemType type, void *stream,
                                              TYPED(StrataRing) *ring)
{
  const int m = transpose ? 1 : 0;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(ring, sizeof(*ring)));
  ring->same = col->rings.same;
  PetscCall(StrataArrayRead(sizeof(REAL) == sizeof(float) ? &col->singlenumber : &col->rings.number, type, &ring->number));
  if (!col->rings.ready[m]) {
    TYPED(StrataLines) few;
    const ptrdiff_t    cells = TYPED(PCColumnRingLines)(col, t, &few);
    const int          which = transpose ? STRATA_RING_C : STRATA_RING_B;
    REAL              *column;

    if (!col->rings.ready[1 - m]) PetscCall(TYPED(PCColumnRingPivots)(col, t, ring->number, type, stream));
    PetscCall(PCColumnNewArray(&col->rings.column[m], (size_t)cells * sizeof(REAL), type, &column));
    StrataDispatch(type, TYPED(StrataRingRightHost)(&few, ring->number, which, column),
                   TYPED(StrataRingRightCUDA)(&few, ring->number, which, column, stream));
    PetscCall(TYPED(PCColumnThomas)(col, &few, transpose, 1, column, cells, NULL, column, cells, type, stream));
    col->rings.ready[m] = PETSC_TRUE;
  }
  PetscCall(StrataArrayRead(&col->rings.inverse, type, &ring->inverse));
  PetscCall(StrataArrayRead(&col->rings.column[m], type, &ring->column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All columns */
static PetscErrorCode TYPED(PCColumnSolve)(PC_Column *col, const TYPED(StrataLines) *t, PetscBool transpose, PCColumnAlgorithm algorithm, int nv,
                                           const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z, ptrdiff_t ldz, PetscMemType type, void *stream)
{
  const ptrdiff_t   cells = (ptrdiff_t)t->coef.n[0] * t->coef.n[1] * t->coef.n[2], rings = cells / t->coef.n[t->axis];
  TYPED(StrataRing) ring;
  REAL             *last, *y = z;

  PetscFunctionBegin;
  if (!col->rings.periodic) {
    PetscCall(TYPED(PCColumnLines)(col, t, transpose, algorithm, nv, r, ldr, add, z, ldz, type, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (col->plain.symmetric) transpose = PETSC_FALSE;
  PetscCall(TYPED(PCColumnGetRings)(col, t, transpose, type, stream, &ring));
  PetscCall(PCColumnGetWork(col, PC_COLUMN_RINGS, type, (size_t)(rings + (add ? cells : 0)) * nv * sizeof(REAL), &last));
  if (add) y = last + rings * nv;
  PetscCall(TYPED(PCColumnLines)(col, t, transpose, algorithm, nv, r, ldr, NULL, y, add ? cells : ldz, type, stream));
  StrataDispatch(type, TYPED(StrataRingFinishHost)(t, &ring, transpose, nv, y, add ? cells : ldz, add, z, ldz, last),
                 TYPED(StrataRingFinishCUDA)(t, &ring, transpose, nv, y, add ? cells : ldz, add, z, ldz, last, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All columns, of vectors that are put into another order or precision for it: place and powers as for StrataPackHost(), the powers with those that
   lead back */
static PetscErrorCode TYPED(PCColumnSolvePacked)(PC_Column *col, const TYPED(StrataLines) *t, PetscBool transpose, PCColumnAlgorithm algorithm,
                                                 const int *place, const double *powers, int nv, const double *r, ptrdiff_t ldr, const double *add,
                                                 double *z, ptrdiff_t ldz, PetscMemType type, void *stream)
{
  const ptrdiff_t cells = (ptrdiff_t)t->coef.n[0] * t->coef.n[1] * t->coef.n[2];
  const double   *back = powers ? powers + 1 : NULL;
  REAL           *x;

  PetscFunctionBegin;
  PetscCall(PCColumnGetWork(col, PC_COLUMN_VECTORS, type, (size_t)(cells * nv) * sizeof(REAL), &x));
  StrataDispatch(type, TYPED(StrataPackHost)(cells, place, powers, nv, r, ldr, x, cells),
                 TYPED(StrataPackCUDA)(cells, place, powers, nv, r, ldr, x, cells, stream));
  PetscCall(TYPED(PCColumnSolve)(col, t, transpose, algorithm, nv, x, cells, NULL, x, cells, type, stream));
  StrataDispatch(type, TYPED(StrataUnpackHost)(cells, place, back, nv, x, cells, add, z, ldz),
                 TYPED(StrataUnpackCUDA)(cells, place, back, nv, x, cells, add, z, ldz, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
