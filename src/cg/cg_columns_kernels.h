/*
   An iteration of conjugate gradients on the device in two passes along columns, for an operator with few numbers a level and a column whose own
   columns the preconditioner solves. z = M^-1 r and A p are never stored.

     up    from the lowest level: z from r, p = z + beta p, r = r - alpha A p, and every second time x
     down  from the highest level: z from r and the sums (r,z), (z,Az), (r,r), (z,z)

   A column divided by its area is factored without division (see cg_columns_cell.h), in chunks of levels that start anew. What one pass needs to
   know about levels that it has not seen yet, the other one left behind, a number a chunk: z goes up, the running sum F of the elimination down.
   Work is on vectors of its own: rows have a pitch, and below the first level are some without meaning, so that all chunks are whole.
*/
#ifndef STRATA_CG_COLUMNS_KERNELS_H
#define STRATA_CG_COLUMNS_KERNELS_H

#include "cg_pass_kernels.h"

/* Levels of a chunk. Blocks of threads take tiles of columns: their width, and at most so many rows; which does not matter to the results.
   Sums are made in this order: over the levels of a chunk; from there on in double precision, over the chunks of a column; over a row of a part of a
   tile, which is as wide and has four rows, in halves; over its rows in halves; lane l of a row takes the parts l, l + width, ...; over the lanes in
   halves. */
#define STRATA_CG_CHUNK 8
#define STRATA_CG_WIDTH 32
#define STRATA_CG_PART  4
#define STRATA_CG_ROWS  16

/* Numbers of a level, for a column of unit area: 1 / g, excess, lateral factor, whether it is one of the grid, g, and that of the level above, where
   -g is the leg to the level below; and of a column, legs divided by its area: the sum of the four, shift / area, and the sum of the legs over its
   east and north side if these are Dirichlet sides */
enum { STRATA_LEVEL_INVERSE, STRATA_LEVEL_EXCESS, STRATA_LEVEL_LATERAL, STRATA_LEVEL_THERE, STRATA_LEVEL_LEG, STRATA_LEVEL_ABOVE, STRATA_LEVEL };
enum {
  STRATA_COLUMN_AREA,
  STRATA_COLUMN_INVERSE, /* 1 / area */
  STRATA_COLUMN_WEST,
  STRATA_COLUMN_EAST,
  STRATA_COLUMN_SOUTH,
  STRATA_COLUMN_NORTH,
  STRATA_COLUMN_LATERAL,
  STRATA_COLUMN_SHIFT,
  STRATA_COLUMN_HIGH,
  STRATA_COLUMN
};

#define STRATA_TYPED "../cg/cg_columns_kernels_typed.h"
#include "../sys/typed.h"

STRATA_BEGIN_C

/* Are the two passes in this build, and can the device run them? */
int StrataCGColumnsCUDA(int *can);

/* From and to vectors in double precision. Round: r = kappa (from - minus), minus may be NULL, p = ratio p (0: zeros), x is zero; start and F as
   StrataCGColumnsEnterHost() leaves them. Add: to = to + factor (x + owed p), and x is zero. */
void StrataCGColumnsRoundHost(const StrataCGColumns_f *q, double kappa, const double *from, const double *minus, float ratio, float *r, float *p,
                              float *x, float *start, float *F);
int  StrataCGColumnsRoundCUDA(const StrataCGColumns_f *q, double kappa, const double *from, const double *minus, float ratio, float *r, float *p,
                              float *x, float *start, float *F, void *stream);
void StrataCGColumnsAddHost(const StrataCGColumns_f *q, double factor, float owed, const float *p, float *x, double *to);
int  StrataCGColumnsAddCUDA(const StrataCGColumns_f *q, double factor, float owed, const float *p, float *x, double *to, void *stream);

STRATA_END_C

#endif
