/* Included by cg_columns_kernels.h for each precision */

/* Operator and grid; passed by value to kernels */
typedef struct {
  int       n[3], pad, levels; /* the box, lines along z; levels below the first one, and all of them */
  ptrdiff_t columns;           /* their number */
  ptrdiff_t pitch, plane;      /* from row to row, and from level to level, in the vectors of the passes */
  int       rows;              /* of a tile: STRATA_CG_PART or STRATA_CG_ROWS */
  int       energy; /* is (z,Az) the sum over cells and faces? Else (r,z) without the faces between columns, which is as good where these are weak */
  int       zz;     /* is (z,z) wanted? Else it is 0 */
  int       vectors, room;    /* right-hand sides, each with its numbers cg, and entries of the history of each */
  const REAL *level, *column; /* STRATA_LEVEL numbers of each level; STRATA_COLUMN runs of a number of each column */
} TYPED(StrataCGColumns);

STRATA_BEGIN_C

/* The layout for a box and one right-hand side, without numbers, and for more of them; then how many numbers of levels and of columns there are, and,
   for each right-hand side, how many in a vector of the passes, in one number a chunk, and in the work space of the device, which must be zeros at
   first */
TYPED(StrataCGColumns) TYPED(StrataCGColumnsPlan)(const int n[3]);
void TYPED(StrataCGColumnsSetVectors)(TYPED(StrataCGColumns) *q, int vectors);
ptrdiff_t TYPED(StrataCGColumnsLevel)(const TYPED(StrataCGColumns) *q);
ptrdiff_t TYPED(StrataCGColumnsColumn)(const TYPED(StrataCGColumns) *q);
ptrdiff_t TYPED(StrataCGColumnsVector)(const TYPED(StrataCGColumns) *q);
ptrdiff_t TYPED(StrataCGColumnsChunks)(const TYPED(StrataCGColumns) *q);
ptrdiff_t TYPED(StrataCGColumnsWork)(const TYPED(StrataCGColumns) *q);

/* The numbers of shared lines along z, and `energy`. The value is 0 if the factorization cannot do without division: a leg or an excess of the wrong
   sign, levels that are not coupled, a singular line, numbers too far apart. Needs a symmetric operator that is not periodic. */
int TYPED(StrataCGColumnsSetUpHost)(const TYPED(StrataLines) *lines, TYPED(StrataCGColumns) *q, REAL *level, REAL *column);

/* r, p, x of the box to the vectors of the passes; start: where the factorization stands before each chunk; F: the running sum */
void TYPED(StrataCGColumnsEnterHost)(const TYPED(StrataCGColumns) *q, const REAL *r, const REAL *p, const REAL *x, REAL *rto, REAL *pto, REAL *xto,
                                     REAL *start, REAL *F);
int TYPED(StrataCGColumnsEnterCUDA)(const TYPED(StrataCGColumns) *q, const REAL *r, const REAL *p, const REAL *x, REAL *rto, REAL *pto, REAL *xto,
                                    REAL *start, REAL *F, void *stream);

/* And back: x is x + owed p. What is NULL is left out. */
void TYPED(StrataCGColumnsLeaveHost)(const TYPED(StrataCGColumns) *q, REAL owed, const REAL *r, const REAL *p, const REAL *x, REAL *rto, REAL *pto,
                                     REAL *xto);
int TYPED(StrataCGColumnsLeaveCUDA)(const TYPED(StrataCGColumns) *q, REAL owed, const REAL *r, const REAL *p, const REAL *x, REAL *rto, REAL *pto,
                                    REAL *xto, void *stream);

/* The passes, for all right-hand sides, whose vectors follow each other; start is the same for all of them.
   Up: pnew = z + beta p, rnew = r - alpha A pnew, x = x + owed p + alpha pnew with the numbers of cg; x NULL: it is owed now */
void TYPED(StrataCGColumnsUpHost)(const TYPED(StrataCGColumns) *q, const StrataCG_d *cg, const REAL *z, const REAL *r, const REAL *p, REAL *rnew,
                                  REAL *pnew, REAL *x, REAL *F);
int TYPED(StrataCGColumnsUpCUDA)(const TYPED(StrataCGColumns) *q, const StrataCG_d *cg, const REAL *z, const REAL *r, const REAL *p, REAL *rnew,
                                 REAL *pnew, REAL *x, REAL *F, void *stream);

/* Down: z and the sums. history NULL: they are left in cg; else the end of the step follows as in StrataCGJudgeCUDA().
   work: on the host a vector of the passes, which is left with all of z of the last right-hand side; on the device the work space of each. */
void TYPED(StrataCGColumnsDownHost)(const TYPED(StrataCGColumns) *q, StrataCG_d *cg, const REAL *r, const REAL *start, const REAL *F, REAL *z,
                                    REAL *work, double (*history)[STRATA_CG_SUMS]);
int TYPED(StrataCGColumnsDownCUDA)(const TYPED(StrataCGColumns) *q, StrataCG_d *cg, const REAL *r, const REAL *start, const REAL *F, REAL *z,
                                   double *work, double (*history)[STRATA_CG_SUMS], void *stream);

STRATA_END_C
