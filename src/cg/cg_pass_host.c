/*
   A whole iteration of conjugate gradients in one pass, on the host
*/
#include "cg_pass_kernels.h"
#include "cg_cell.h"
#include "../column/column_cell.h"

/* Lines of a strip at most: what a strip reads twice stays in the second-level cache, and is read in long runs */
#define STRIP 128

/* Partial sums, and the cells whose terms they take before these are added in double precision */
#define LANES 16
#define PIECE 4096

#define STRATA_TYPED "../cg/cg_pass_host_typed.h"
#include "../sys/typed.h"
