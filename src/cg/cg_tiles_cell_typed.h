/* Included by cg_tiles_cell.h for each precision */

/* One level upwards: t, y and y / d; before: 1 / d of the level below */
STRATA_CELL REAL CELL(strata_tile_up)(REAL bottom, REAL before, REAL inverse, REAL r, REAL *t, REAL *y)
{
  *t = bottom * before;
  *y = FMA(-*t, *y, r);
  return *y * inverse;
}

/* One level downwards: z, from y / d and the z above; t is that of the level above */
STRATA_CELL REAL CELL(strata_tile_down)(REAL t, REAL above, REAL scaled)
{
  return FMA(-t, above, scaled);
}

/* What the faces west and south of a cell add to half of (z,Az) - (r,z) */
STRATA_CELL REAL CELL(strata_tile_faces)(REAL westleg, REAL southleg, REAL u, REAL west, REAL south, REAL sum)
{
  return FMA(FMA(westleg, west, southleg * south), u, sum);
}

/* (z,Az) of a column: where columns are solved exactly, (r,z) and the faces between columns. Rounding is worth as many units in the last place as
   A is worse conditioned than its columns, which is what it is worth in all else that the iteration computes. */
STRATA_CELL REAL CELL(strata_tile_delta)(REAL gamma, REAL faces)
{
  return FMA((REAL)2, faces, gamma);
}

/* The reciprocal of the pivot of a level, from its row; see strata_factor() for ratio */
STRATA_CELL REAL CELL(strata_tile_factor)(REAL excess, const REAL leg[], REAL *ratio)
{
  const REAL row[3] = {leg[STRATA_BOTTOM], leg[STRATA_TOP], CELL(strata_quantity)(STRATA_ROW_LINE, 2, excess, leg)};

  return CELL(strata_factor)(row, 0, ratio);
}
