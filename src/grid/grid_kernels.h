/*
   Kernels on the owned box of a rank that know of no coefficients: packing of cells for other ranks, and reductions whose result
   depends on the data alone
*/
#ifndef STRATA_GRID_KERNELS_H
#define STRATA_GRID_KERNELS_H

#include "../sys/kernels.h"

#define STRATA_DIRECTIONS       27 /* (dx + 1) + 3 (dy + 1) + 9 (dz + 1); 13 is the cell itself */
#define STRATA_LEG_DIRECTION(l) (13 + ((l) % 2 ? 1 : -1) * ((l) / 2 == 0 ? 1 : (l) / 2 == 1 ? 3 : 9))

/* Boxes to pack, and where to: x fastest, the vectors one after the other */
typedef struct {
  int       count;
  StrataBox box[STRATA_DIRECTIONS];
  void     *to[STRATA_DIRECTIONS];
} StrataPackList;

/* Reductions follow one tree, whatever computes them: chunks of STRATA_CHUNK numbers; in a chunk lane t of STRATA_LANES takes the
   numbers t, t + STRATA_LANES, ... in this order; lanes are folded in halves; the chunks' results are reduced the same way. */
#define STRATA_CHUNK 8192
#define STRATA_LANES 256

typedef enum {
  STRATA_REDUCE_SUM,    /* sum of x */
  STRATA_REDUCE_SUMABS, /* sum of |x| */
  STRATA_REDUCE_DOT,    /* sum of x y */
  STRATA_REDUCE_MAX,    /* largest x; NaN if there is one, for the next two as well */
  STRATA_REDUCE_MAXABS, /* largest |x| */
  STRATA_REDUCE_MAXDIFF /* largest |x - y| */
} StrataReduction;

/* How the results of chunks are reduced, and does the operation need y? */
static inline StrataReduction StrataReduceAgain(StrataReduction op)
{
  return op <= STRATA_REDUCE_DOT ? STRATA_REDUCE_SUM : STRATA_REDUCE_MAX;
}

static inline int StrataReduceNeedsY(StrataReduction op)
{
  return op == STRATA_REDUCE_DOT || op == STRATA_REDUCE_MAXDIFF;
}

/* Numbers of work space that the reduction of n numbers needs: the results of the chunks, of their chunks, ... */
static inline ptrdiff_t StrataReduceWork(ptrdiff_t n)
{
  ptrdiff_t work = 0;

  do {
    n = (n + STRATA_CHUNK - 1) / STRATA_CHUNK;
    work += n;
  } while (n > 1);
  return work + 1;
}

STRATA_BEGIN_C

/* n: the owned box; numbers of 1, 4 or 8 bytes; nv vectors with leading dimension ld */
void StrataPackHost(const StrataPackList *list, const int n[3], int bytes, int nv, const void *x, ptrdiff_t ld);
int  StrataPackCUDA(const StrataPackList *list, const int n[3], int bytes, int nv, const void *x, ptrdiff_t ld, void *stream);

STRATA_END_C

#define STRATA_TYPED "../grid/grid_kernels_typed.h"
#include "../sys/typed.h"

#endif
