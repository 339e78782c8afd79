/* Included by operator_cell.h for each precision */

/* A u before scale and shift. v: the six neighbours' values; where a leg is not there, u itself */
STRATA_CELL REAL CELL(strata_star)(REAL excess, const REAL leg[], REAL u, const REAL v[])
{
  REAL r = excess * u;
  for (int l = 0; l < STRATA_LEGS; l++) r = FMA(leg[l], v[l] - u, r);
  return r;
}

/* The same in tensor form. axis: direction of the columns; level: a, b, c, d of the cell's level */
STRATA_CELL REAL CELL(strata_tensor)(int axis, REAL area, const REAL alpha[], const REAL level[], REAL u, const REAL v[])
{
  const int h0 = axis == 0 ? 1 : 0, h1 = axis == 2 ? 1 : 2;
  REAL      r, h;

  r = level[0] * u;
  r = FMA(level[1], v[2 * axis + 1] - u, r);
  r = FMA(level[2], v[2 * axis] - u, r);
  h = alpha[0] * (v[2 * h0] - u);
  h = FMA(alpha[1], v[2 * h0 + 1] - u, h);
  h = FMA(alpha[2], v[2 * h1] - u, h);
  h = FMA(alpha[3], v[2 * h1 + 1] - u, h);
  return FMA(level[3], h, area * r);
}

STRATA_CELL REAL CELL(strata_scaled)(REAL scale, REAL shift, REAL r, REAL u)
{
  return FMA(shift, u, scale * r);
}

/* Is leg l of cell x there? A leg over a Dirichlet side is; the value beyond is zero */
STRATA_CELL int CELL(strata_has_leg)(const TYPED(StrataCoef) *c, int l, const int x[3], ptrdiff_t id)
{
  if (strata_crosses(c->n, l, x) && c->outside[l] == STRATA_OUTSIDE_NONE) return 0;
  return c->flags ? c->flags[id] >> l & 1 : 1;
}

/* Leg l of cell x as stored, in the forms with numbers of each cell */
STRATA_CELL REAL CELL(strata_stored_leg)(const TYPED(StrataCoef) *c, int l, const int x[3], ptrdiff_t id)
{
  const StrataGhost *h = &c->high[l / 2];

  if (c->form == STRATA_LEGWISE || l % 2 == 0) return c->legs[l][id];
  if (!strata_crosses(c->n, l, x)) return c->legs[l - 1][id + (l == STRATA_EAST ? 1 : l == STRATA_NORTH ? c->n[0] : (ptrdiff_t)c->n[0] * c->n[1])];
  return h->p ? ((const REAL *)h->p)[strata_ghost_offset(h, l, x)] : 0;
}

/* (scale A + shift I) u in cell x, from the vector and its ghosts: what every faster loop must equal */
STRATA_CELL REAL CELL(strata_apply)(const TYPED(StrataCoef) *c, const StrataGhost ghost[], int vec, const int x[3], const REAL *u)
{
  const ptrdiff_t s[3] = {1, c->n[0], (ptrdiff_t)c->n[0] * c->n[1]}, id = x[0] * s[0] + x[1] * s[1] + x[2] * s[2];
  REAL            v[STRATA_LEGS], leg[STRATA_LEGS], r;

  for (int l = 0; l < STRATA_LEGS; l++) {
    if (!CELL(strata_has_leg)(c, l, x, id))
      v[l] = u[id];
    else if (!strata_crosses(c->n, l, x))
      v[l] = u[l % 2 ? id + s[l / 2] : id - s[l / 2]];
    else if (c->outside[l] == STRATA_OUTSIDE_ZERO)
      v[l] = 0;
    else
      v[l] = ((const REAL *)ghost[l].p)[vec * ghost[l].sv + strata_ghost_offset(&ghost[l], l, x)];
  }
  if (c->form == STRATA_CONSTANT)
    r = CELL(strata_star)(c->excess, c->leg, u[id], v);
  else if (c->form == STRATA_TENSOR) {
    const int       axis = c->axis, h0 = axis == 0 ? 1 : 0, h1 = axis == 2 ? 1 : 2;
    const ptrdiff_t col = x[h0] + (ptrdiff_t)c->n[h0] * x[h1];
    const REAL      alpha[4] = {c->alpha[0][col], c->alpha[1][col], c->alpha[2][col], c->alpha[3][col]};
    const REAL      level[4] = {c->level[0][x[axis]], c->level[1][x[axis]], c->level[2][x[axis]], c->level[3][x[axis]]};

    r = CELL(strata_tensor)(axis, c->area[col], alpha, level, u[id], v);
  } else {
    for (int l = 0; l < STRATA_LEGS; l++) leg[l] = CELL(strata_stored_leg)(c, l, x, id);
    r = CELL(strata_star)(c->cell[id], leg, u[id], v);
  }
  if (c->flags && c->flags[id] >> 6 & 1) r = c->masked * u[id];
  return CELL(strata_scaled)(c->scale, c->shift, r, u[id]);
}

/* The legs of the row of cell x (zero where there is none), and as value its excess: the diagonal entry plus the legs. Scale and
   shift are in them. A leg over a Dirichlet side is part of the excess, and zero here. */
STRATA_CELL REAL CELL(strata_row)(const TYPED(StrataCoef) *c, const int x[3], REAL leg[])
{
  const ptrdiff_t s[3] = {1, c->n[0], (ptrdiff_t)c->n[0] * c->n[1]}, id = x[0] * s[0] + x[1] * s[1] + x[2] * s[2];
  REAL            excess;

  if (c->form == STRATA_CONSTANT) {
    for (int l = 0; l < STRATA_LEGS; l++) leg[l] = c->leg[l];
    excess = c->excess;
  } else if (c->form == STRATA_TENSOR) {
    const int       axis = c->axis, h0 = axis == 0 ? 1 : 0, h1 = axis == 2 ? 1 : 2, k = x[axis];
    const ptrdiff_t col = x[h0] + (ptrdiff_t)c->n[h0] * x[h1];
    const REAL      area = c->area[col], d = c->level[3][k];

    leg[2 * h0] = d * c->alpha[0][col];
    leg[2 * h0 + 1] = d * c->alpha[1][col];
    leg[2 * h1] = d * c->alpha[2][col];
    leg[2 * h1 + 1] = d * c->alpha[3][col];
    leg[2 * axis] = area * c->level[2][k];
    leg[2 * axis + 1] = area * c->level[1][k];
    excess = area * c->level[0][k];
  } else {
    for (int l = 0; l < STRATA_LEGS; l++) leg[l] = CELL(strata_stored_leg)(c, l, x, id);
    excess = c->cell[id];
  }
  if (c->flags && c->flags[id] >> 6 & 1) excess = c->masked;
  for (int l = 0; l < STRATA_LEGS; l++) {
    if (!CELL(strata_has_leg)(c, l, x, id))
      leg[l] = 0;
    else if (strata_crosses(c->n, l, x) && c->outside[l] == STRATA_OUTSIDE_ZERO) {
      excess -= leg[l];
      leg[l] = 0;
    }
    leg[l] *= c->scale;
  }
  return FMA(c->scale, excess, c->shift);
}

/* The diagonal entry, from excess and legs */
STRATA_CELL REAL CELL(strata_diagonal)(REAL excess, const REAL leg[])
{
  REAL sum = 0;
  for (int l = 0; l < STRATA_LEGS; l++) sum += leg[l];
  return excess - sum;
}

STRATA_CELL REAL CELL(strata_abs)(REAL x)
{
  return x < 0 ? -x : x;
}

/* A number of a row from its excess and legs */
STRATA_CELL REAL CELL(strata_quantity)(StrataRowQuantity quantity, int axis, REAL excess, const REAL leg[])
{
  REAL sum = 0;

  switch (quantity) {
  case STRATA_ROW_DIAGONAL: return CELL(strata_diagonal)(excess, leg);
  case STRATA_ROW_ABSSUM:
    for (int l = 0; l < STRATA_LEGS; l++) sum += CELL(strata_abs)(leg[l]);
    return sum + CELL(strata_abs)(CELL(strata_diagonal)(excess, leg));
  case STRATA_ROW_EXCESS: return excess;
  case STRATA_ROW_AXIS: return CELL(strata_abs)(leg[2 * axis]) + CELL(strata_abs)(leg[2 * axis + 1]);
  case STRATA_ROW_LINE:
    for (int l = 0; l < STRATA_LEGS; l++)
      if (l / 2 != axis) sum += leg[l];
    return excess - sum;
  }
  return 0;
}

/* The row of cell x of the transpose of a legwise operator, as strata_row() gives it; ghost[l]: cells of leg array l^1 beyond side l */
STRATA_CELL REAL CELL(strata_transposed)(const TYPED(StrataCoef) *c, const StrataGhost ghost[], const int x[3], REAL leg[])
{
  const ptrdiff_t s[3] = {1, c->n[0], (ptrdiff_t)c->n[0] * c->n[1]}, id = x[0] * s[0] + x[1] * s[1] + x[2] * s[2];
  REAL            excess = CELL(strata_row)(c, x, leg);

  excess = CELL(strata_diagonal)(excess, leg);
  for (int l = 0; l < STRATA_LEGS; l++) {
    if (!strata_crosses(c->n, l, x))
      leg[l] = c->legs[l ^ 1][l % 2 ? id + s[l / 2] : id - s[l / 2]];
    else if (c->outside[l] == STRATA_OUTSIDE_GHOST)
      leg[l] = ((const REAL *)ghost[l].p)[strata_ghost_offset(&ghost[l], l, x)];
    else
      leg[l] = 0;
    excess += leg[l];
  }
  return excess;
}
