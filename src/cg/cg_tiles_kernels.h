/*
   An iteration of conjugate gradients on the device in two passes, for any symmetric star stencil whose columns along z the preconditioner solves:
   numbers of each cell, masks, sides that are periodic along x and y. A p and A z are never stored.

     step     p = z + beta p, r = r - alpha A p, and every second time x
     columns  z from r and the sums (r,z), (z,Az), (r,r), (z,z)

   A block of threads takes a tile of whole columns. What both do with the columns around it once more costs arithmetic and traffic of the cache: of
   device memory each number is read once. Cells of a column that are coupled to nothing, have r = p = 0 and have none but such below them, or above
   them, are left alone.

   Work is on vectors of its own, along x first, then along z, then along y, with a pitch: a tile is a few long runs of memory.
*/
#ifndef STRATA_CG_TILES_KERNELS_H
#define STRATA_CG_TILES_KERNELS_H

#include "cg_pass_kernels.h"

/* Columns along x of a tile, and along y; and the longest columns that fit.
   Sums are made in this order: over the levels of a column; over a row of a tile in halves; over its rows in halves; thread t of a block takes the
   tiles t, t + threads, ...; over its threads like those of a tile. */
#define STRATA_CG_TILE_WIDTH  32
#define STRATA_CG_TILE_ROWS   8
#define STRATA_CG_TILE_LEVELS 64

#define STRATA_TYPED "../cg/cg_tiles_kernels_typed.h"
#include "../sys/typed.h"

#endif
