/*
   The arithmetic of pieces of lines, shared by host and device like that of column_cell.h
*/
#ifndef STRATA_COLUMN_PIECE_CELL_H
#define STRATA_COLUMN_PIECE_CELL_H

#include "column_cell.h"
#include "column_piece_kernels.h"

#define STRATA_TYPED "../column/column_piece_cell_typed.h"
#include "../sys/typed.h"

#endif
