/*
   The partition method on the host: the reference of the kernels, with the same grouping of all sums
*/
#include "column_cell_partition.h"

#define STRATA_TYPED "../column/column_partition_host_typed.h"
#include "../sys/typed.h"
