/*
   Corrections of the lines of one colour on the host
*/
#include "column_sweep_kernels.h"

#define STRATA_TYPED "../column/column_sweep_host_typed.h"
#include "../sys/typed.h"
