/*
   Passes of conjugate gradients on the host
*/
#include "cg_cell.h"

#define STRATA_TYPED "../cg/cg_host_typed.h"
#include "../sys/typed.h"
