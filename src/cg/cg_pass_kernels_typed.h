/* Included by cg_pass_kernels.h for each precision */

/* Operator and preconditioner, on the turned grid. There are no cells of other ranks: beyond a side is nothing, zero, or the other side of the box. */
typedef struct {
  int                pc;
  TYPED(StrataLines) lines;         /* along y, of the operator lines.coef; rows: shared or cells */
  const REAL        *inverse;       /* 1 / diagonal, or 1 / pivot of each cell */
  const REAL        *lower, *upper; /* legs of lines that are not shared, scale in them; upper NULL: the lower leg of the next cell */
  const REAL        *level;         /* of shared lines: four numbers of each level, see strata_shared_level() */
  const REAL        *lean;          /* see StrataCGLean; NULL: the operator is applied as it is */
} TYPED(StrataCGProblem);

/* A lean operator, see StrataCGLeanHost(), on a box as it is, lines along z */
typedef struct {
  int         n[3];
  REAL        shift;
  const REAL *level, *column; /* four numbers of each level; six runs of a number of each column */
} TYPED(StrataCGLean);

STRATA_BEGIN_C

/* Numbers of cells in the order of the turned grid, and back; n: the grid as it is */
void TYPED(StrataCGTurnHost)(const StrataCGTurn *turn, const int n[3], const REAL *from, REAL *to);
void TYPED(StrataCGTurnBackHost)(const StrataCGTurn *turn, const int n[3], const REAL *from, REAL *to);

/* The operator on the turned grid. cell, legs, flags: space for the arrays that c has, left out (NULL) where it has none. */
void TYPED(StrataCGTurnCoefHost)(const StrataCGTurn *turn, const TYPED(StrataCoef) *c, REAL *cell, REAL *const legs[], unsigned char *flags,
                                 TYPED(StrataCoef) *turned);

/* Fills in inverse, and for lines that are not shared lower and upper (may be NULL), for shared ones level. The value is 0 if a number is no good:
   a pivot that is zero, not a number, or the end of a singular line. */
int TYPED(StrataCGPassFactorHost)(const TYPED(StrataCGProblem) *q, REAL *inverse, REAL *lower, REAL *upper, REAL *level);

/* Where lines are shared and nothing is periodic or masked, the operator can be had from a few numbers of each level and each column, with zeros
   for legs that are not there; those over Dirichlet sides are in the excess. Vectors must have as many zeros before and after them as a layer
   has cells. Needs a symmetric operator. lean: StrataCGLeanSize() numbers; 0 where it cannot be. */
size_t TYPED(StrataCGLeanSize)(const TYPED(StrataCGProblem) *q);
void TYPED(StrataCGLeanHost)(const TYPED(StrataCGProblem) *q, REAL *lean);

/* On the device, with the numbers of cg: the first makes pnew = z + beta p, x = x + alpha pnew, r = r - alpha A pnew and (r,r), the second
   (r,z), (z,Az) and (z,z). Sums are left for StrataCGJudgeCUDA(StrataCGLeanBlocks() * STRATA_CHUNK, ...), which work must be large enough for. */
ptrdiff_t TYPED(StrataCGLeanBlocks)(const int n[3]);
int TYPED(StrataCGLeanStepCUDA)(const TYPED(StrataCGLean) *q, const TYPED(StrataCG) *cg, const REAL *z, const REAL *p, REAL *pnew, REAL *x, REAL *r,
                                REAL *work, void *stream);
int TYPED(StrataCGLeanSumsCUDA)(const TYPED(StrataCGLean) *q, const TYPED(StrataCG) *cg, const REAL *r, const REAL *z, REAL *work, void *stream);

/* p = z + beta p, x = x + alpha p, r = r - alpha A p, z = M r, and all sums, in double precision. work: as many numbers as a layer has cells.
   With a lean operator x may wait: later not 0 leaves it as it is, and the next pass, which gets that alpha as `owed`, adds both steps at once. */
void TYPED(StrataCGPassHost)(const TYPED(StrataCGProblem) *q, REAL beta, REAL alpha, REAL owed, int later, REAL *z, REAL *p, REAL *x, REAL *r,
                             double sum[], REAL *work);

/* x = x + owed p, where no pass follows */
void TYPED(StrataCGPassPayHost)(const TYPED(StrataCGProblem) *q, REAL owed, const REAL *p, REAL *x);

/* How far z is from M r in the layers [first, last), and the largest number of z there; x and r are as before afterwards */
void TYPED(StrataCGPassProbeHost)(const TYPED(StrataCGProblem) *q, int first, int last, REAL *r, const REAL *z, REAL *x, REAL *work, REAL found[2]);

STRATA_END_C
