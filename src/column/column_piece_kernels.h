/*
   Pieces of lines that other ranks go on with, as plain numbers. A line is eliminated from the first row of its first piece to the last row of its
   last one, as if it were whole: what a rank knows of the other pieces are a few numbers at the ends of its own. Host and device results are equal
   bit for bit.
*/
#ifndef STRATA_COLUMN_PIECE_KERNELS_H
#define STRATA_COLUMN_PIECE_KERNELS_H

#include "column_kernels.h"

/* Where the factorization stands after a row: E / den; 1 / den and upper / den, which the transpose needs. Zeros before the first row */
enum { STRATA_STATE_RATIO, STRATA_STATE_PIVOT, STRATA_STATE_FACTOR, STRATA_STATES };

#define STRATA_TYPED "../column/column_piece_kernels_typed.h"
#include "../sys/typed.h"

#endif
