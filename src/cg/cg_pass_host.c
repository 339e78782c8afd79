/*
   A whole iteration of conjugate gradients in one pass, on the host
*/
#include "cg_pass_kernels.h"
#include "cg_cell.h"
#include "../column/column_cell.h"

/* Lines of a strip at most: what is kept of a strip stays in the first-level cache */
#define STRIP 64

/* Partial sums */
#define LANES 16

/* Numbers of each level: lower and upper leg, excess and lateral factor, for a column of unit area. Numbers of each column: area, the four
   lateral legs west, east, south, north, and those over Dirichlet sides. South and north are columns of the neighbouring layers. */
enum { LEAN_LOWER, LEAN_UPPER, LEAN_EXCESS, LEAN_LATERAL, LEAN_LEVEL };
enum { LEAN_AREA, LEAN_WEST, LEAN_EAST, LEAN_SOUTH, LEAN_NORTH, LEAN_SIDES, LEAN_COLUMN };

#define STRATA_TYPED "../cg/cg_pass_host_typed.h"
#include "../sys/typed.h"
