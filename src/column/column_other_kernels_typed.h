/* Included by column_other_kernels.h for each precision */

STRATA_BEGIN_C

/* z = (add ? add : 0) + M r as for StrataThomasHost(), without the transpose. work: that many bytes of the memory of the vectors.
   From both ends a singular run has the solution that is 0 in its last cell, in its first cell if it lies in the second half, or in the middle cell. */
size_t TYPED(StrataTwoWayWork)(const TYPED(StrataLines) *lines, int nv, int device);
void TYPED(StrataTwoWayHost)(const TYPED(StrataLines) *lines, int nv, const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z, ptrdiff_t ldz,
                             void *work);
int TYPED(StrataTwoWayCUDA)(const TYPED(StrataLines) *lines, int nv, const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z, ptrdiff_t ldz,
                            void *work, void *stream);

/* Cyclic reduction solves no singular runs */
size_t TYPED(StrataPCRWork)(const TYPED(StrataLines) *lines, int nv, int device);
void TYPED(StrataPCRHost)(const TYPED(StrataLines) *lines, int nv, const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z, ptrdiff_t ldz, void *work);
int TYPED(StrataPCRCUDA)(const TYPED(StrataLines) *lines, int nv, const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z, ptrdiff_t ldz, void *work,
                         void *stream);

STRATA_END_C
