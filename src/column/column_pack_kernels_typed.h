/* Included by column_pack_kernels.h for each precision */

STRATA_BEGIN_C

/* to[i] = by from[place[i]], 0 where place[i] < 0, for n numbers of nv vectors. place NULL: i itself; by, that of vector v at 2 v, NULL: 1 */
void TYPED(StrataPackHost)(ptrdiff_t n, const int *place, const double *by, int nv, const double *from, ptrdiff_t ldf, REAL *to, ptrdiff_t ldt);
int TYPED(StrataPackCUDA)(ptrdiff_t n, const int *place, const double *by, int nv, const double *from, ptrdiff_t ldf, REAL *to, ptrdiff_t ldt,
                          void *stream);

/* The way back: to[place[i]] = (add ? add[place[i]] : 0) + by from[i] where place[i] >= 0; to may be add */
void TYPED(StrataUnpackHost)(ptrdiff_t n, const int *place, const double *by, int nv, const REAL *from, ptrdiff_t ldf, const double *add, double *to,
                             ptrdiff_t ldt);
int TYPED(StrataUnpackCUDA)(ptrdiff_t n, const int *place, const double *by, int nv, const REAL *from, ptrdiff_t ldf, const double *add, double *to,
                            ptrdiff_t ldt, void *stream);

STRATA_END_C
