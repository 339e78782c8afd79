/* Included by cg_columns_cell.h for each precision. level: the numbers of the chunk's levels, of which j counts the levels, or those of one. */

/* Excess of a cell of a column of unit area, without what its faces between columns have in it */
STRATA_CELL REAL CELL(strata_cell_own)(const REAL *level, REAL shift)
{
  return FMA(level[STRATA_LEVEL_THERE], shift, level[STRATA_LEVEL_EXCESS]);
}

/* The factorization of a chunk, from N before it */
STRATA_CELL void CELL(strata_chunk_factor)(const REAL *level, REAL lateral, REAL shift, REAL N, REAL D[STRATA_CG_CHUNK], REAL *last)
{
  REAL d = 1;

  STRATA_UNROLL
  for (int j = 0; j < STRATA_CG_CHUNK; j++) {
    const REAL *l = level + STRATA_LEVEL * j, e = FMA(-l[STRATA_LEVEL_LATERAL], lateral, CELL(strata_cell_own)(l, shift));

    if (j) d = FMA(l[STRATA_LEVEL_INVERSE], N, d);
    N = FMA(e, d, N);
    D[j] = d;
  }
  *last = N;
}

/* The sum F upwards, from what it is before the chunk; v = c F, rho, and if they are wanted the sums of F v and r r */
STRATA_CELL void CELL(strata_chunk_up)(const REAL *level, const REAL D[STRATA_CG_CHUNK], REAL last, const REAL *r, ptrdiff_t stride, REAL *F,
                                       REAL v[STRATA_CG_CHUNK], REAL *rho, REAL *gamma, REAL *rr)
{
  STRATA_UNROLL
  for (int j = 0; j < STRATA_CG_CHUNK; j++) {
    const int  end = j == STRATA_CG_CHUNK - 1;
    const REAL u = r[j * stride], g = level[STRATA_LEVEL * j + STRATA_LEVEL_ABOVE];
    const REAL c = TYPED(strata_reciprocal)(D[j] * (end ? FMA(g, D[j], last) : g * D[end ? j : j + 1]));

    *F = FMA(D[j], u, *F);
    v[j] = *F * c;
    if (end) *rho = g * c * D[j];
    if (gamma) {
      *gamma = FMA(*F, v[j], *gamma);
      *rr = FMA(u, u, *rr);
    }
  }
}

/* z of level j, from the sum w above it, which goes down by one level */
STRATA_CELL REAL CELL(strata_chunk_down)(const REAL D[STRATA_CG_CHUNK], const REAL v[STRATA_CG_CHUNK], REAL inverse, int j, REAL *w)
{
  *w = FMA(v[j], inverse, *w);
  return D[j] * *w;
}

/* What a cell and its faces west and south add to (z,Az) / area, without the part (r,z); and with all of it, where also the face above counts */
STRATA_CELL REAL CELL(strata_cell_faces)(const REAL *level, REAL westleg, REAL southleg, REAL u, REAL west, REAL south, REAL sum)
{
  return FMA(level[STRATA_LEVEL_LATERAL], FMA(westleg, west, southleg * south) * u, sum);
}

STRATA_CELL REAL CELL(strata_cell_energy)(const REAL *level, REAL westleg, REAL southleg, REAL high, REAL shift, REAL u, REAL west, REAL south,
                                          REAL above, REAL sum)
{
  const REAL x = u - west, y = u - south, up = above - u;

  sum = FMA(CELL(strata_cell_own)(level, shift) * u, u, sum);
  sum = FMA(level[STRATA_LEVEL_ABOVE] * up, up, sum);
  return FMA(-level[STRATA_LEVEL_LATERAL], FMA(westleg * x, x, FMA(southleg * y, y, high * u * u)), sum);
}

/* r - alpha A u without the flux to the level above; leg, v: west, east, south, north; flux: from below; alpha has the area in it */
STRATA_CELL REAL CELL(strata_cell_residual)(const REAL *level, const REAL leg[4], REAL shift, REAL alpha, REAL u, const REAL v[4], REAL flux, REAL r)
{
  REAL h = leg[0] * (v[0] - u);

  h = FMA(leg[1], v[1] - u, h);
  h = FMA(leg[2], v[2] - u, h);
  h = FMA(leg[3], v[3] - u, h);
  return FMA(-alpha, FMA(level[STRATA_LEVEL_LATERAL], h, FMA(CELL(strata_cell_own)(level, shift), u, flux)), r);
}
