/*
   The transpose of a cycle of Jacobi sweeps, on the host
*/
#include "jacobi_adjoint_kernels.h"
#include "jacobi_cell.h"
#include <stdlib.h>
#include <string.h>

#define STRATA_TYPED "../jacobi/jacobi_adjoint_host_typed.h"
#include "../sys/typed.h"
