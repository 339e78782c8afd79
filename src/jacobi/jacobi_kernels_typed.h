/* Included by jacobi_kernels.h for each precision */

/* Rows scaled by their diagonal: x = b + sum over legs of leg_l x_l, on an array that holds the owned box of a rank and, where
   its neighbours' cells are needed, frames of these around it. Passed by value to kernels. */
typedef struct {
  int         dim;                  /* axes that the grid has */
  int         n[3];                 /* the array, x fastest; 1 in directions that the grid lacks */
  int         outside[STRATA_LEGS]; /* beyond each side of the array: STRATA_OUTSIDE_ZERO (the value zero), STRATA_OUTSIDE_NONE (no legs, or legs
                                       with the coefficient zero), STRATA_OUTSIDE_GHOST (the grid goes on, but no tile may reach there) */
  int         form;
  REAL        leg[STRATA_LEGS];  /* equal and constant; zero along axes that the grid lacks. No side is STRATA_OUTSIDE_NONE except along these */
  const REAL *legs[STRATA_LEGS]; /* variable: each cell of the array; NULL along axes that the grid lacks */
} TYPED(StrataSystem);

STRATA_BEGIN_C

/* One cycle: y = x after k sweeps with the given weights, in the cells of the box; other cells of y are not written. All arrays have the
   size of the system. change, if not NULL, becomes max |x_k - x_(k-1)| over the cells that are written (NaN if there is one).
   weight[] (NULL: all are 1), change: in the memory of the arrays. */
void TYPED(StrataCycleHost)(const TYPED(StrataSystem) *s, const StrataTiling *t, const StrataBox *box, const REAL *weight, const REAL *b,
                            const REAL *x, REAL *y, REAL *change);

/* The same bits, faster, for nv vectors with leading dimension ld: the cycles of the product on the host. x NULL: zero; change: the largest of all
   vectors. The value is not 0 if there is no memory for work space. */
int TYPED(StrataCycleFastHost)(const TYPED(StrataSystem) *s, const StrataTiling *t, int nv, ptrdiff_t ld, const StrataBox *box, const REAL *weight,
                               const REAL *b, const REAL *x, REAL *y, REAL *change);

/* The same on the device. kernel: what StrataCycleKernelCUDA() gives, so not AUTO; work: StrataCycleWorkCUDA() numbers in the memory of the
   arrays. x, y, b and work are different arrays. Nothing waits for the device, so the calls may be captured into a graph. */
int TYPED(StrataCycleCUDA)(const TYPED(StrataSystem) *s, const StrataTiling *t, StrataCycleKernel kernel, const StrataBox *box, const REAL *weight,
                           const REAL *b, const REAL *x, REAL *y, REAL *change, REAL *work, void *stream);
ptrdiff_t TYPED(StrataCycleWorkCUDA)(const TYPED(StrataSystem) *s, const StrataTiling *t, StrataCycleKernel kernel, const StrataBox *box);

/* Many cycles in one launch, for which StrataCycleKernelCUDA() gives PERSISTENT; the box is the whole array. Weights begin with number `first` of
   weight[] and repeat after `period`; work: StrataCyclesWorkCUDA() numbers. cycles times sweeps is an int. */
int TYPED(StrataCyclesCUDA)(const TYPED(StrataSystem) *s, const StrataTiling *t, int cycles, const REAL *weight, int first, int period, const REAL *b,
                            const REAL *x, REAL *y, REAL *change, REAL *work, void *stream);
ptrdiff_t TYPED(StrataCyclesWorkCUDA)(const TYPED(StrataSystem) *s);

/* The kernel that runs these cycles: the one that is asked for, or for AUTO the fastest; where the asked one cannot, the fastest that can.
   cycles: how many can be run by StrataCyclesCUDA(), 0 if they must be run one by one. text says which it is, and why it is not the asked one.
   AUTO as the result: none can, text says what would. */
StrataCycleKernel TYPED(StrataCycleKernelCUDA)(const TYPED(StrataSystem) *s, const StrataTiling *t, StrataCycleKernel asked, int cycles,
                                               const StrataBox *box, char text[], size_t length);

STRATA_END_C
