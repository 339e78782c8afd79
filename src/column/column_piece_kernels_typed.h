/* Included by column_piece_kernels.h for each precision */

/* The two ends of pieces, arrays of a number for each line; of carry, after, last and first one for each vector and line. NULL stands for zeros, or for
   what is not wanted. */
typedef struct {
  const REAL *before[STRATA_STATES], *carry; /* where the factorization stands before the first row, and what is left of the right-hand side there */
  const REAL *after, *lower;                 /* the solution in the row after the last one, and the lower leg of that row (transpose only) */
  REAL       *end[STRATA_STATES], *last;     /* the same as before[] and carry, after the last row */
  REAL       *first;                         /* the solution in the first row */
} TYPED(StrataEnds);

STRATA_BEGIN_C

/* The lower legs of the first rows, for each line */
void TYPED(StrataPieceLowerHost)(const TYPED(StrataLines) *lines, REAL *lower);
int TYPED(StrataPieceLowerCUDA)(const TYPED(StrataLines) *lines, REAL *lower, void *stream);

/* What the rows are like, added to the report. ratio: that before the first row, then that after the last one; lower: the lower legs of the rows after
   the last ones */
void TYPED(StrataPieceCheckHost)(const TYPED(StrataLines) *lines, REAL *ratio, const REAL *lower, StrataLinesReport *report);
int TYPED(StrataPieceCheckCUDA)(const TYPED(StrataLines) *lines, REAL *ratio, const REAL *lower, StrataLinesReport *report, void *stream);

/* The solve of the lines from, from + 1, ... to - 1, as StrataThomasHost() does it: z = (add ? add : 0) + the solution. r NULL: zeros; z NULL: only what
   is at the ends is wanted.
   work: that many bytes of the memory of the vectors */
size_t TYPED(StrataPieceWork)(const TYPED(StrataLines) *lines, ptrdiff_t count, int nv, int device);
void TYPED(StrataPieceHost)(const TYPED(StrataLines) *lines, int transpose, const TYPED(StrataEnds) *ends, ptrdiff_t from, ptrdiff_t to, int nv,
                            const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z, ptrdiff_t ldz, void *work);
int TYPED(StrataPieceCUDA)(const TYPED(StrataLines) *lines, int transpose, const TYPED(StrataEnds) *ends, ptrdiff_t from, ptrdiff_t to, int nv,
                           const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z, ptrdiff_t ldz, void *work, void *stream);

/* z = (add ? add : 0) + y - column times the number of the line; z may be y or add. level: that of the rings' last cells, which get these numbers, or -1 */
void TYPED(StrataPieceRingHost)(const TYPED(StrataLines) *lines, int level, const REAL *column, const REAL *number, int nv, const REAL *y,
                                ptrdiff_t ldy, const REAL *add, REAL *z, ptrdiff_t ldz);
int TYPED(StrataPieceRingCUDA)(const TYPED(StrataLines) *lines, int level, const REAL *column, const REAL *number, int nv, const REAL *y,
                               ptrdiff_t ldy, const REAL *add, REAL *z, ptrdiff_t ldz, void *stream);

STRATA_END_C
