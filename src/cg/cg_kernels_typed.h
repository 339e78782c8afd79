/* Included by cg_kernels.h for each precision */

/* The numbers that drive the iteration, in the memory of the vectors. beta and alpha are those of the next step; nothing is done once `done` is set. */
typedef struct {
  REAL beta, alpha, gamma, curvature; /* the last two of the step before: (r,z) and (p,Ap) */
  REAL owed;                          /* alpha of the step before, for an x that is behind */
  REAL least, most;                   /* a norm not above, or not below, ends the iteration */
  int  test, done, its;               /* what is tested; steps done */
  REAL sum[STRATA_CG_SUMS];           /* of the last step */
  REAL epsilon, largest, drift;       /* rounding, see strata_cg_drifts(): a drift ends the iteration. epsilon 0: it is not looked at. */
} TYPED(StrataCG);

STRATA_BEGIN_C

/* p = z + beta p, w = s + beta w, x = x + alpha p, r = r - alpha w, and the sum (r,r). w NULL: its place is taken by s, which is A p.
   z NULL: p is as it should be.
   work: STRATA_CG_SUMS runs of StrataReduceWork(n) numbers, one for each sum, which is left at the end of its run. */
void TYPED(StrataCGUpdateHost)(ptrdiff_t n, const TYPED(StrataCG) *cg, const REAL *z, const REAL *s, REAL *p, REAL *w, REAL *x, REAL *r, REAL *work);
int TYPED(StrataCGUpdateCUDA)(ptrdiff_t n, const TYPED(StrataCG) *cg, const REAL *z, const REAL *s, REAL *p, REAL *w, REAL *x, REAL *r, REAL *work,
                              void *stream);

/* p = z + beta p */
void TYPED(StrataCGDirectionHost)(ptrdiff_t n, const TYPED(StrataCG) *cg, const REAL *z, REAL *p);
int TYPED(StrataCGDirectionCUDA)(ptrdiff_t n, const TYPED(StrataCG) *cg, const REAL *z, REAL *p, void *stream);

/* The sums (r,z), (z,s), (z,z); s NULL: the second is not made */
void TYPED(StrataCGSumsHost)(ptrdiff_t n, const REAL *r, const REAL *z, const REAL *s, REAL *work);
int TYPED(StrataCGSumsCUDA)(ptrdiff_t n, const TYPED(StrataCG) *cg, const REAL *r, const REAL *z, const REAL *s, REAL *work, void *stream);

/* On the device: finishes the sums, puts them into cg and history[its], counts the step, and finds the numbers of the next one or sets `done` */
int TYPED(StrataCGJudgeCUDA)(ptrdiff_t n, TYPED(StrataCG) *cg, REAL *work, REAL (*history)[STRATA_CG_SUMS], void *stream);

STRATA_END_C
