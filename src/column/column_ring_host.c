/*
   Periodic lines on the host
*/
#include "column_ring_cell.h"

#define STRATA_TYPED "../column/column_ring_host_typed.h"
#include "../sys/typed.h"
