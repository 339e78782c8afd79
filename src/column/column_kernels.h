/*
   Tridiagonal systems along the lines of one axis of the owned box, solved one by one, as plain numbers. The arithmetic of a row is in
   column_cell.h; host and device results are equal bit for bit.
*/
#ifndef STRATA_COLUMN_KERNELS_H
#define STRATA_COLUMN_KERNELS_H

#include "../operator/operator_kernels.h"
#include "column_sweep_kernels.h"

/* Where the rows of the lines come from */
enum {
  STRATA_ROWS_SHARED, /* constant form, or tensor form along its own axis, no mask: numbers of the line times numbers of the level */
  STRATA_ROWS_ARRAYS, /* arrays with the numbers of each cell */
  STRATA_ROWS_CELLS   /* any other coefficients that are not stored for each cell: strata_row() */
};

/* What a pass through all rows found. Cells are counted in the owned box, STRATA_NO_CELL if there is none. */
#define STRATA_NO_CELL (~0ULL)
typedef struct {
  unsigned long long zero;        /* first cell with a zero pivot */
  unsigned long long isolated;    /* first cell with a row of zeros, coupled to no other */
  unsigned long long nonfinite;   /* first cell with NaN or infinity in its row */
  unsigned long long singular;    /* number of singular runs of cells, isolated cells included */
  unsigned long long sign;        /* not 0 if a leg is positive or an excess negative somewhere */
  unsigned long long unsymmetric; /* not 0 if a cell's upper leg is not the next cell's lower leg somewhere */
} StrataLinesReport;

STRATA_CELL StrataLinesReport StrataLinesReportEmpty(void)
{
  const StrataLinesReport report = {STRATA_NO_CELL, STRATA_NO_CELL, STRATA_NO_CELL, 0, 0, 0};

  return report;
}

/* How the partition method cuts lines: into segments of `length` cells at most, the last ones shorter or empty, of which `segments` (a
   power of two) make a chunk that is worked on together. A thread has room for a segment of 16 or 20 cells, whichever leaves less of it empty. */
enum { STRATA_SEGMENT = 16, STRATA_SEGMENT_LONG = 20, STRATA_SEGMENTS = 32 };
enum { STRATA_SEGMENTS_LINKED = 16, STRATA_CHUNKS_LINKED = 16, STRATA_CELLS_LINKED = 1 << 23 };
typedef struct {
  int length, room, segments, chunks;
  int contiguous; /* the cells of a line are neighbours in memory */
  int linked;     /* several chunks, so few that each learns from the others while it is in registers; not of large boxes, where waiting costs more */
} StrataPartition;

STRATA_CELL StrataPartition StrataPartitionPlan(const int n[3], int axis)
{
  const int       levels = n[axis], most = STRATA_SEGMENTS * STRATA_SEGMENT;
  StrataPartition p = {STRATA_SEGMENT, STRATA_SEGMENT, 1, 1, 0, 0};

  p.contiguous = axis == 0 || (n[0] == 1 && (axis == 1 || n[1] == 1));
  if (levels <= most) {
    int segments = 1;

    while (p.segments * STRATA_SEGMENT < levels) p.segments *= 2;
    while (segments * STRATA_SEGMENT_LONG < levels) segments *= 2;
    p.length = ((levels + p.segments - 1) / p.segments + 3) / 4 * 4; /* whole packs of four numbers */
    if (!p.length) p.length = 4;
    if (segments * STRATA_SEGMENT_LONG < p.segments * p.length) {
      p.segments = segments;
      p.length = p.room = STRATA_SEGMENT_LONG;
    }
  } else if (levels <= STRATA_CHUNKS_LINKED * STRATA_SEGMENTS_LINKED * STRATA_SEGMENT && (ptrdiff_t)n[0] * n[1] * n[2] <= STRATA_CELLS_LINKED) {
    p.linked = 1;
    p.segments = STRATA_SEGMENTS_LINKED;
    p.chunks = (levels - 1) / (p.segments * STRATA_SEGMENT) + 1;
    p.length = ((levels - 1) / (p.chunks * p.segments) + 4) / 4 * 4;
  } else {
    p.segments = p.contiguous ? STRATA_SEGMENTS : 8; /* across lines few segments leave more lines side by side */
    p.chunks = (levels - 1) / (p.segments * STRATA_SEGMENT) + 1;
  }
  return p;
}

#define STRATA_TYPED "../column/column_kernels_typed.h"
#include "../sys/typed.h"

#endif
