/*
   A whole iteration of conjugate gradients in one pass through the owned box, as plain numbers: no vector is read twice. Layers of the grid
   follow each other through cache: in one p is made, in the next A p is, with it x, r and z, and in the one after that A z for the sum (z,Az).

   Lines must run along y: a layer then holds whole lines, next to each other in memory. Other grids are turned, see StrataCGTurn.
*/
#ifndef STRATA_CG_PASS_KERNELS_H
#define STRATA_CG_PASS_KERNELS_H

#include "cg_kernels.h"
#include "../column/column_kernels.h"

/* The preconditioner: none, a diagonal, or the solve of lines */
enum { STRATA_CG_NONE, STRATA_CG_DIAGONAL, STRATA_CG_LINES };

/* A grid with its axes in another order: axis a of the turned grid is axis from[a] */
typedef struct {
  int from[3];
} StrataCGTurn;

/* Numbers of each level: lower and upper leg, excess and lateral factor, for a column of unit area. Numbers of each column: area, the four
   lateral legs west, east, south, north, and those over Dirichlet sides. South and north are columns of the neighbouring layers. */
enum { LEAN_LOWER, LEAN_UPPER, LEAN_EXCESS, LEAN_LATERAL, LEAN_LEVEL };
enum { LEAN_AREA, LEAN_WEST, LEAN_EAST, LEAN_SOUTH, LEAN_NORTH, LEAN_SIDES, LEAN_COLUMN };

/* The cells of a lean operator that a block of threads takes on a device */
#define STRATA_CG_LEAN_X 32
#define STRATA_CG_LEAN_Y 8
#define STRATA_CG_LEAN_Z 32

#define STRATA_TYPED "../cg/cg_pass_kernels_typed.h"
#include "../sys/typed.h"

#endif
