/*
   Vectors in the order and the precision of the solve, on the host
*/
#include "column_pack_kernels.h"

#define STRATA_TYPED "../column/column_pack_host_typed.h"
#include "../sys/typed.h"
