/*
   Elimination from both ends and cyclic reduction on the host: the references of the kernels, line by line
*/
#include "column_other_cell.h"

#define STRATA_TYPED "../column/column_other_host_typed.h"
#include "../sys/typed.h"
