/*
   Pieces of lines on the host: strips of lines together, so that loops run across lines
*/
#include "column_piece_cell.h"

/* Lines of a strip at most */
#define STRIP 64

#define STRATA_TYPED "../column/column_piece_host_typed.h"
#include "../sys/typed.h"
