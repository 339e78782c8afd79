/* Included by jacobi_cell.h for each precision */

/* The Jacobi value of a cell, when all legs have the same coefficient: the sum of west and south is also that of north and east
   of the cell to the south-west, so kernels compute each of these sums once */
STRATA_CELL REAL CELL(strata_jacobi_equal)(int dim, REAL leg, REAL b, const REAL v[])
{
  REAL sum;

  if (dim == 1) return FMA(leg, v[STRATA_WEST] + v[STRATA_EAST], b);
  sum = (v[STRATA_WEST] + v[STRATA_SOUTH]) + (v[STRATA_EAST] + v[STRATA_NORTH]);
  if (dim == 3) sum = sum + (v[STRATA_BOTTOM] + v[STRATA_TOP]);
  return FMA(leg, sum, b);
}

/* The same with a coefficient for each leg */
STRATA_CELL REAL CELL(strata_jacobi_legs)(int dim, const REAL leg[], REAL b, const REAL v[])
{
  REAL r = b;

  for (int l = 0; l < 2 * dim; l++) r = FMA(leg[l], v[l], r);
  return r;
}

/* One sweep's new value, from the old one and the Jacobi value; weight 1 gives the Jacobi value itself */
STRATA_CELL REAL CELL(strata_jacobi_damped)(REAL weight, REAL x, REAL jacobi)
{
  return weight == 1 ? jacobi : FMA(weight, jacobi - x, x);
}
