/* Included by cg_cell.h for each precision */

/* a + c b, for every vector of the method */
STRATA_CELL REAL CELL(strata_cg_add)(REAL c, REAL b, REAL a)
{
  return FMA(c, b, a);
}

/* The curvature (p,Ap) of the next direction, without a product of its own (Chronopoulos and Gear) */
STRATA_CELL REAL CELL(strata_cg_curvature)(REAL delta, REAL beta, REAL before)
{
  return FMA(-(beta * beta), before, delta);
}

/* Is there a next step? Not if the preconditioner or the operator is seen to be indefinite, or anything is not a number. */
STRATA_CELL int CELL(strata_cg_ends)(REAL gamma, REAL gammabefore, REAL curvature, REAL before)
{
  return !(gamma * gammabefore > 0 && curvature * before > 0);
}

/* The squared norm that is tested */
STRATA_CELL REAL CELL(strata_cg_tested)(int test, const REAL sum[])
{
  const REAL gamma = sum[STRATA_CG_GAMMA];

  return test == STRATA_CG_TEST_R ? sum[STRATA_CG_RR] : test == STRATA_CG_TEST_Z ? sum[STRATA_CG_ZZ] : gamma < 0 ? -gamma : gamma;
}

/* After a step with a residual of size `norm`: rounding may have taken it away from b - A x by epsilon times what was added to it and to x. Is that
   more than the root of epsilon of the residual (van der Vorst and Ye, 2000)? */
STRATA_CELL int CELL(strata_cg_drifts)(REAL epsilon, REAL norm, REAL *largest, REAL *drift)
{
  if (!(norm <= *largest)) *largest = norm;
  *drift += epsilon * (*largest + norm);
  return *drift > (REAL)sqrt(epsilon) * norm;
}

/* After a step: the numbers of the next one */
STRATA_CELL void CELL(strata_cg_judge)(TYPED(StrataCG) *cg, const REAL sum[])
{
  const REAL gamma = sum[STRATA_CG_GAMMA], beta = gamma / cg->gamma, curvature = CELL(strata_cg_curvature)(sum[STRATA_CG_DELTA], beta, cg->curvature);

  for (int q = 0; q < STRATA_CG_SUMS; q++) cg->sum[q] = sum[q];
  cg->its++;
  if (cg->test != STRATA_CG_TEST_NONE) {
    const REAL norm = (REAL)sqrt(CELL(strata_cg_tested)(cg->test, sum));

    if (!(norm > cg->least && norm < cg->most)) cg->done = 1;
  }
  if (cg->epsilon > 0 && CELL(strata_cg_drifts)(cg->epsilon, (REAL)sqrt(sum[STRATA_CG_RR]), &cg->largest, &cg->drift)) cg->done = 1;
  if (CELL(strata_cg_ends)(gamma, cg->gamma, curvature, cg->curvature)) cg->done = 1;
  if (cg->done) return;
  cg->beta = beta;
  cg->owed = cg->alpha;
  cg->alpha = gamma / curvature;
  cg->gamma = gamma;
  cg->curvature = curvature;
}

/* A u of a lean operator, differences first; v: below and above along the line, west, east, south, north */
STRATA_CELL REAL CELL(strata_cg_lean_apply)(const REAL level[], const REAL column[], REAL shift, REAL u, const REAL v[])
{
  REAL a, h;

  a = level[LEAN_EXCESS] * u;
  a = FMA(level[LEAN_UPPER], v[1] - u, a);
  a = FMA(level[LEAN_LOWER], v[0] - u, a);
  h = column[LEAN_WEST] * (v[2] - u);
  h = FMA(column[LEAN_EAST], v[3] - u, h);
  h = FMA(column[LEAN_SOUTH], v[4] - u, h);
  h = FMA(column[LEAN_NORTH], v[5] - u, h);
  h = FMA(-column[LEAN_SIDES], u, h);
  return FMA(level[LEAN_LATERAL], h, FMA(column[LEAN_AREA], a, shift * u));
}

/* What a cell and its faces west and south add to (z,Az) */
STRATA_CELL REAL CELL(strata_cg_lean_energy)(const REAL level[], const REAL column[], REAL shift, REAL u, REAL west, REAL south, REAL sum)
{
  const REAL x = u - west, y = u - south, lateral = level[LEAN_LATERAL];

  sum = FMA(FMA(column[LEAN_AREA], level[LEAN_EXCESS], FMA(-lateral, column[LEAN_SIDES], shift)) * u, u, sum);
  return FMA(-lateral, FMA(column[LEAN_WEST] * x, x, column[LEAN_SOUTH] * y * y), sum);
}
