/*
   Cycles of Jacobi sweeps on the host: the reference, tile by tile and cell by cell
*/
#include "jacobi_cell.h"
#include "../grid/grid_kernels.h"
#include <stdlib.h>
#include <string.h>

#define STRATA_TYPED "../jacobi/jacobi_host_typed.h"
#include "../sys/typed.h"
