/*
   Cycles of Jacobi sweeps on the host, rows at a time: the same bits as the reference
*/
#include "jacobi_cell.h"
#include "../grid/grid_kernels.h"
#include <stdlib.h>
#include <string.h>

/* What the rows of all sweeps under way may take, so that they stay in the cache of a core, in bytes */
#define STRATA_CACHE (384 * 1024)

/* Cells of a tile of a line, and the least width of a strip over that of its overlap */
#define STRATA_LINE  4096
#define STRATA_STRIP 6

/* Vectors that are swept together */
#define STRATA_FEW 4

#define STRATA_TYPED "../jacobi/jacobi_fast_host_typed.h"
#include "../sys/typed.h"
