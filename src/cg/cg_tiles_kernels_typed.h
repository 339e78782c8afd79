/* Included by cg_tiles_kernels.h for each precision */

/* Operator, preconditioner and grid; passed by value to kernels */
typedef struct {
  int         n[3], around[2];                          /* the box, lines along z; is it periodic along x, along y? */
  int         zz;                                       /* is (z,z) wanted? Else it is 0 */
  ptrdiff_t   pitch, size;                              /* from level to level in the vectors of the passes, and all of such a vector */
  const REAL *excess, *west, *south, *bottom, *inverse; /* excess and three legs of each cell, reciprocals of the pivots of the columns */
} TYPED(StrataCGTiles);

STRATA_BEGIN_C

/* The layout for a box without its numbers, and how many numbers there are in the work space of the device, which must be zeros at first.
   The columns must not be longer than STRATA_CG_TILE_LEVELS. */
TYPED(StrataCGTiles) TYPED(StrataCGTilesPlan)(const int n[3], const int around[2]);
ptrdiff_t TYPED(StrataCGTilesWork)(const TYPED(StrataCGTiles) *q);

/* Excess and the legs west, south and bottom of each cell of the box, as StrataExpandHost() gives them, in the layout of the passes, and the reciprocals
   of the pivots. *bad is set to 1 if a pivot has none, and left alone otherwise. */
void TYPED(StrataCGTilesSetUpHost)(const TYPED(StrataCGTiles) *q, const REAL *const from[4], REAL *const to[4], REAL *inverse, int *bad);
int TYPED(StrataCGTilesSetUpCUDA)(const TYPED(StrataCGTiles) *q, const REAL *const from[4], REAL *const to[4], REAL *inverse, int *bad, void *stream);

/* r, p, x of the box to vectors of the passes, zeros in z and the second p; range: of each column the first level with something to do, and the one
   after the last */
void TYPED(StrataCGTilesEnterHost)(const TYPED(StrataCGTiles) *q, const REAL *r, const REAL *p, const REAL *x, REAL *rto, REAL *zto,
                                   REAL *const pto[2], REAL *xto, unsigned char (*range)[2]);
int TYPED(StrataCGTilesEnterCUDA)(const TYPED(StrataCGTiles) *q, const REAL *r, const REAL *p, const REAL *x, REAL *rto, REAL *zto,
                                  REAL *const pto[2], REAL *xto, unsigned char (*range)[2], void *stream);

/* And back: x is x + owed p. What is NULL is left out. */
void TYPED(StrataCGTilesLeaveHost)(const TYPED(StrataCGTiles) *q, REAL owed, const REAL *r, const REAL *p, const REAL *x, REAL *rto, REAL *pto,
                                   REAL *xto);
int TYPED(StrataCGTilesLeaveCUDA)(const TYPED(StrataCGTiles) *q, REAL owed, const REAL *r, const REAL *p, const REAL *x, REAL *rto, REAL *pto,
                                  REAL *xto, void *stream);

/* pnew = z + beta p, r = r - alpha A pnew, x = x + owed p + alpha pnew with the numbers of cg; x NULL: it is owed now */
void TYPED(StrataCGTilesStepHost)(const TYPED(StrataCGTiles) *q, const TYPED(StrataCG) *cg, const unsigned char (*range)[2], const REAL *z,
                                  const REAL *p, REAL *pnew, REAL *r, REAL *x);
int TYPED(StrataCGTilesStepCUDA)(const TYPED(StrataCGTiles) *q, const TYPED(StrataCG) *cg, const unsigned char (*range)[2], const REAL *z,
                                 const REAL *p, REAL *pnew, REAL *r, REAL *x, void *stream);

/* z and the sums. history NULL: they are left in cg; else the end of the step follows as in StrataCGJudgeCUDA(). work: the work space of the device */
void TYPED(StrataCGTilesColumnsHost)(const TYPED(StrataCGTiles) *q, TYPED(StrataCG) *cg, const unsigned char (*range)[2], const REAL *r, REAL *z,
                                     REAL (*history)[STRATA_CG_SUMS]);
int TYPED(StrataCGTilesColumnsCUDA)(const TYPED(StrataCGTiles) *q, TYPED(StrataCG) *cg, const unsigned char (*range)[2], const REAL *r, REAL *z,
                                    REAL *work, REAL (*history)[STRATA_CG_SUMS], void *stream);

STRATA_END_C
