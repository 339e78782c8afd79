/*
   The two passes along columns on the host: the reference of those on the device
*/
#include "cg_columns_cell.h"

enum { CHUNK = STRATA_CG_CHUNK, WIDTH = STRATA_CG_WIDTH };

#define STRATA_TYPED "../cg/cg_columns_host_typed.h"
#include "../sys/typed.h"
