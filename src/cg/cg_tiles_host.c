/*
   The two passes over tiles on the host: the reference of those on the device
*/
#include "cg_tiles_cell.h"

enum { WIDTH = STRATA_CG_TILE_WIDTH, ROWS = STRATA_CG_TILE_ROWS, THREADS = WIDTH * ROWS };

#define STRATA_TYPED "../cg/cg_tiles_host_typed.h"
#include "../sys/typed.h"
