/* Included by operator_kernels.h for each precision */

/* The coefficients of (scale A + shift I), where masked rows of A are `masked` times the identity. Passed by value to kernels.
   For every cell with value u and neighbours v_l:  A u = excess u + sum over legs a_l (v_l - u). */
typedef struct {
  int                  form, axis;           /* axis: direction of the columns (tensor) */
  int                  n[3];                 /* the owned box, 1 in directions that the grid lacks */
  int                  outside[STRATA_LEGS]; /* what lies beyond each side of the owned box */
  REAL                 scale, shift, masked;
  REAL                 excess, leg[STRATA_LEGS]; /* constant */
  const REAL          *area, *alpha[4];          /* tensor: of each column; the faces in the order of the two other axes, low, high */
  const REAL          *level[4];                 /* tensor: a, b, c, d of each level */
  const REAL          *cell;                     /* faces and legwise: the excess of each cell */
  const REAL          *legs[STRATA_LEGS];        /* legwise: all; faces: [2a] holds the low faces of axis a, [2a+1] is unused */
  StrataGhost          high[3];                  /* faces: the faces on the high sides of the box */
  const unsigned char *flags;                    /* where there is a mask: bit l is set if leg l is there, bit 6 if the cell is masked */
} TYPED(StrataCoef);

STRATA_BEGIN_C

/* y = (add ? add : 0) + A x on the boxes, for nv vectors with the leading dimensions ldx, ldy (of y and add). ghost[l] are the
   cells beyond side l; a side whose outside[] is not GHOST needs none. y may be add, but not x. */
void TYPED(StrataMultHost)(const TYPED(StrataCoef) *c, const StrataGhost ghost[], int nbox, const StrataBox box[], int nv, const REAL *x,
                           ptrdiff_t ldx, const REAL *add, REAL *y, ptrdiff_t ldy);
int TYPED(StrataMultCUDA)(const TYPED(StrataCoef) *c, const StrataGhost ghost[], int nbox, const StrataBox box[], int nv, const REAL *x,
                          ptrdiff_t ldx, const REAL *add, REAL *y, ptrdiff_t ldy, void *stream);

/* y = a number of each row; axis for those that need one */
void TYPED(StrataRowsHost)(const TYPED(StrataCoef) *c, StrataRowQuantity quantity, int axis, REAL *y);
int TYPED(StrataRowsCUDA)(const TYPED(StrataCoef) *c, StrataRowQuantity quantity, int axis, REAL *y, void *stream);

/* All coefficients written out: excess and legs of each cell, scale and shift included, zero for legs that are not there; a leg
   array that is NULL is not written. May work in place on the arrays of c where each is written over itself. */
void TYPED(StrataExpandHost)(const TYPED(StrataCoef) *c, REAL *cell, REAL *const legs[]);
int TYPED(StrataExpandCUDA)(const TYPED(StrataCoef) *c, REAL *cell, REAL *const legs[], void *stream);

/* The coefficients of the transpose of a legwise operator: ghost[l] are the cells of leg array l^1 beyond side l */
void TYPED(StrataTransposeHost)(const TYPED(StrataCoef) *c, const StrataGhost ghost[], REAL *cell, REAL *const legs[]);
int TYPED(StrataTransposeCUDA)(const TYPED(StrataCoef) *c, const StrataGhost ghost[], REAL *cell, REAL *const legs[], void *stream);

STRATA_END_C
