/*
   Periodic lines. A ring is cut at its last cell: with z' its other cells,
     ( B  b ) ( z'  )   ( r'  )
     ( c  d ) ( z_n ) = ( r_n ),
   where b and c have two entries each, those of the neighbours of the last cell. B is a line like any other, solved as such, and
     z_n = (r_n - c B^-1 r') / s,   z' = B^-1 r' - w z_n,   w = B^-1 b,   s = e_n - c g,   g = B^-1 e',
   e the row sums of the ring. In these terms nothing cancels for an M-matrix, and s is exactly 0 for a ring without excess: it is solved with
   the value 0 in its last cell. The lines that stand for the rings have in their last rows nothing but the diagonal entry.
*/
#ifndef STRATA_COLUMN_RING_KERNELS_H
#define STRATA_COLUMN_RING_KERNELS_H

#include "column_kernels.h"

/* Numbers of each ring: of b, of c and of the row sums what belongs to the first cell and to the one before the last; e_n */
enum { STRATA_RING_B, STRATA_RING_C = 2, STRATA_RING_SUM = 4, STRATA_RING_LAST = 6, STRATA_RING_NUMBERS };

#define STRATA_TYPED "../column/column_ring_kernels_typed.h"
#include "../sys/typed.h"

#endif
