/* Included by column_kernels.h for each precision */

/* The lines of the owned box along one axis. Row k of a line couples its cell to the cells before and after it,
     lower_k z_{k-1} + (excess_k - lower_k - upper_k) z_k + upper_k z_{k+1} = r_k,
   lower is 0 in the first and upper in the last row. The excess is that of the line: what couples the cell to other lines is in it.
   All numbers are those of scale A + shift I, see StrataCoef; the arrays here are those of A. Passed by value to kernels. */
typedef struct {
  int               axis, rows;             /* rows: where they come from, STRATA_ROWS_... */
  int               singular;               /* are there singular runs: must they be looked for? */
  int               sums;                   /* shared rows, for the partition method: by running sums, as its set-up found? */
  TYPED(StrataCoef) coef;                   /* shared and cells: the coefficients; arrays: n, scale and shift only */
  const REAL       *excess, *lower, *upper; /* arrays; upper NULL: the upper leg of a cell is the lower leg of the next */
} TYPED(StrataLines);

STRATA_BEGIN_C

/* What the rows are like; added to what report holds already */
void TYPED(StrataLinesCheckHost)(const TYPED(StrataLines) *lines, StrataLinesReport *report);
int TYPED(StrataLinesCheckCUDA)(const TYPED(StrataLines) *lines, StrataLinesReport *report, void *stream);

/* z = (add ? add : 0) + M r, where M solves every line, or its transpose, for nv vectors with the leading dimensions ldr, ldz (of z and
   add). z may be r or add. Needs no pivot to be zero; a singular run has the solution that is 0 in its last cell.
   work: that many bytes of the memory of the vectors; what is left in it means nothing. */
size_t TYPED(StrataThomasWorkHost)(const TYPED(StrataLines) *lines);
int TYPED(StrataThomasWorkCUDA)(const TYPED(StrataLines) *lines, int nv, int adds, size_t *bytes); /* adds: add will not be NULL */
void TYPED(StrataThomasHost)(const TYPED(StrataLines) *lines, int transpose, int nv, const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z,
                             ptrdiff_t ldz, void *work);
int TYPED(StrataThomasCUDA)(const TYPED(StrataLines) *lines, int transpose, int nv, const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z,
                            ptrdiff_t ldz, void *work, void *stream);

/* The same by the partition method: segments of a line are solved side by side and joined by a small system. No transpose.
   start: what is kept as long as rows, scale and shift are the same, StrataPartitionStart() numbers: for each segment one, where the
   factorization stands at its beginning; for shared rows four for each level besides.
   sums: may `sums` of the lines be set when they are solved?
   work: that many bytes of the memory of the vectors.
   Correct: on lines of a colour z = (add ? add : 0) + omega M r, on others z = (add ? add : 0). */
ptrdiff_t TYPED(StrataPartitionStart)(const TYPED(StrataLines) *lines);
void TYPED(StrataPartitionSetUpHost)(const TYPED(StrataLines) *lines, REAL *start, int *sums);
int TYPED(StrataPartitionSetUpCUDA)(const TYPED(StrataLines) *lines, REAL *start, int *sums, void *stream);
size_t TYPED(StrataPartitionWork)(const TYPED(StrataLines) *lines, int nv, int device);
void TYPED(StrataPartitionHost)(const TYPED(StrataLines) *lines, const REAL *start, int nv, const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z,
                                ptrdiff_t ldz, void *work);
int TYPED(StrataPartitionCUDA)(const TYPED(StrataLines) *lines, const REAL *start, int nv, const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z,
                               ptrdiff_t ldz, void *work, void *stream);
void TYPED(StrataPartitionCorrectHost)(const TYPED(StrataLines) *lines, const REAL *start, const StrataColor *color, REAL omega, const REAL *r,
                                       const REAL *add, REAL *z, void *work);
int TYPED(StrataPartitionCorrectCUDA)(const TYPED(StrataLines) *lines, const REAL *start, const StrataColor *color, REAL omega, const REAL *r,
                                      const REAL *add, REAL *z, void *work, void *stream);

STRATA_END_C
