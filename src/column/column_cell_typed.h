/* Included by column_cell.h for each precision */

/* In what follows axis is t->axis and rows is t->rows, given apart for they may be known to the compiler. */

/* Shared rows: lower leg, upper leg, excess and lateral legs of a level, for a line of unit area; the scale is in them */
STRATA_CELL void CELL(strata_shared_level)(const TYPED(StrataLines) *t, int axis, int k, REAL level[4])
{
  const TYPED(StrataCoef) *c = &t->coef;
  const int                low = 2 * axis, high = low + 1, constant = c->form == STRATA_CONSTANT;
  REAL lower = c->scale * (constant ? c->leg[low] : c->level[2][k]), upper = c->scale * (constant ? c->leg[high] : c->level[1][k]);
  REAL excess = c->scale * (constant ? c->excess : c->level[0][k]);

  if (k == 0) {
    if (c->outside[low] == STRATA_OUTSIDE_ZERO) excess -= lower;
    lower = 0;
  }
  if (k == c->n[axis] - 1) {
    if (c->outside[high] == STRATA_OUTSIDE_ZERO) excess -= upper;
    upper = 0;
  }
  level[0] = lower;
  level[1] = upper;
  level[2] = excess;
  level[3] = constant ? c->scale : c->scale * c->level[3][k];
}

/* Shared rows: the area of a line and the sum of its lateral legs, x its first cell */
STRATA_CELL void CELL(strata_shared_line)(const TYPED(StrataLines) *t, int axis, const int x[3], REAL line[2])
{
  const TYPED(StrataCoef) *c = &t->coef;
  const int                h0 = axis == 0 ? 1 : 0, h1 = axis == 2 ? 1 : 2, constant = c->form == STRATA_CONSTANT;
  const ptrdiff_t          q = x[h0] + (ptrdiff_t)c->n[h0] * x[h1];

  line[0] = constant ? 1 : c->area[q];
  line[1] = 0;
  for (int m = 0; m < 4; m++) {
    const int l = 2 * (m < 2 ? h0 : h1) + m % 2;

    if (!strata_crosses(c->n, l, x) || c->outside[l] != STRATA_OUTSIDE_NONE) line[1] += constant ? c->leg[l] : c->alpha[m][q];
  }
}

/* Lower leg, upper leg and excess of a row, in each way that they are found */
STRATA_CELL void CELL(strata_shared_row)(const REAL level[4], REAL area, REAL lateral, REAL shift, REAL row[3])
{
  row[0] = area * level[0];
  row[1] = area * level[1];
  row[2] = FMA(area, level[2], FMA(-level[3], lateral, shift));
}

STRATA_CELL void CELL(strata_array_row)(REAL scale, REAL shift, REAL lower, REAL upper, REAL excess, REAL row[3])
{
  row[0] = scale * lower;
  row[1] = scale * upper;
  row[2] = FMA(scale, excess, shift);
}

STRATA_CELL void CELL(strata_cell_row)(const TYPED(StrataLines) *t, int axis, const int x[3], REAL row[3])
{
  REAL       leg[STRATA_LEGS];
  const REAL excess = CELL(strata_row)(&t->coef, x, leg);

  row[0] = leg[2 * axis];
  row[1] = leg[2 * axis + 1];
  row[2] = CELL(strata_quantity)(STRATA_ROW_LINE, axis, excess, leg);
}

/* The row of cell x, whatever the way; line is that of strata_shared_line() */
STRATA_CELL void CELL(strata_line_row)(const TYPED(StrataLines) *t, int axis, int rows, const REAL line[2], const int x[3], REAL row[3])
{
  if (rows == STRATA_ROWS_SHARED) {
    REAL level[4];

    CELL(strata_shared_level)(t, axis, x[axis], level);
    CELL(strata_shared_row)(level, line[0], line[1], t->coef.shift, row);
  } else if (rows == STRATA_ROWS_ARRAYS) {
    const ptrdiff_t id = strata_line_cell(t->coef.n, x);
    REAL            upper;

    if (t->upper)
      upper = t->upper[id];
    else
      upper = x[axis] < t->coef.n[axis] - 1 ? t->lower[id + strata_line_stride(t->coef.n, axis)] : 0;
    CELL(strata_array_row)(t->coef.scale, t->coef.shift, t->lower[id], upper, t->excess[id], row);
  } else
    CELL(strata_cell_row)(t, axis, x, row);
}

/* What E may be at most at the end of a singular run, where nothing but rounding is left of it */
STRATA_CELL REAL CELL(strata_rounding)(const REAL row[3], REAL ratio)
{
  return 8 * (REAL)REAL_EPSILON * (CELL(strata_abs)(row[2]) + CELL(strata_abs)(row[0] * ratio));
}

/* One step of the factorization, E_k and from 1 / den_k what is kept: 1 / den_k, or 0 at the end of a singular run if these are looked for. ratio:
   E / den of the row before, then of this one; 0 before the first. */
STRATA_CELL REAL CELL(strata_factor_left)(const REAL row[3], REAL ratio)
{
  return FMA(-row[0], ratio, row[2]);
}

STRATA_CELL REAL CELL(strata_factor_take)(const REAL row[3], int singular, REAL E, REAL inverse, REAL *ratio)
{
  if (singular) {
    const REAL ending = CELL(strata_abs)(E) <= CELL(strata_rounding)(row, *ratio) ? 0 : inverse;

    inverse = row[1] == 0 ? ending : inverse;
  }
  *ratio = E * inverse;
  return inverse;
}

STRATA_CELL REAL CELL(strata_factor)(const REAL row[3], int singular, REAL *ratio)
{
  const REAL E = CELL(strata_factor_left)(row, *ratio);

  return CELL(strata_factor_take)(row, singular, E, 1 / (E - row[1]), ratio);
}

/* What is left of r once the row before, which has the carry, is eliminated; inverse: 1 / den */
STRATA_CELL REAL CELL(strata_eliminate)(REAL lower, REAL inverse, REAL r, REAL carry)
{
  return FMA(-lower, carry, r) * inverse;
}

/* One step down a line: takes a row and its right-hand side. From one step to the next are kept: ratio, see strata_factor(); carry, what was
   left of r; and for the transpose 1 / den and upper / den. c and d are left for the way back; for the transpose cbefore, the c of the row
   before, in place of c. */
STRATA_CELL void CELL(strata_forward)(int transpose, int singular, const REAL row[3], REAL r, REAL *ratio, REAL *carry, REAL *pivot, REAL *factor,
                                      REAL *cbefore, REAL *c, REAL *d)
{
  const REAL inverse = CELL(strata_factor)(row, singular, ratio);

  if (transpose) {
    *cbefore = row[0] * *pivot;
    *carry = FMA(-*factor, *carry, r);
    *pivot = inverse;
    *factor = row[1] * inverse;
    *d = *carry * inverse;
  } else {
    *carry = CELL(strata_eliminate)(row[0], inverse, r, *carry);
    *c = row[1] * inverse;
    *d = *carry;
  }
}

/* One step back: the solution from the one of the next row, 0 after the last */
STRATA_CELL REAL CELL(strata_backward)(REAL c, REAL d, REAL next)
{
  return FMA(-c, next, d);
}

/* Has a row signs that no row of an M-matrix has? */
STRATA_CELL int CELL(strata_row_signs)(const REAL row[3])
{
  return !(row[0] <= 0 && row[1] <= 0 && row[2] >= 0);
}

/* The same step with a look at everything that can go wrong. nextlower: the lower leg of the next row, 0 after the last */
STRATA_CELL int CELL(strata_check)(const REAL row[3], REAL nextlower, REAL *ratio)
{
  const REAL E = FMA(-row[0], *ratio, row[2]), den = E - row[1], before = *ratio;

  *ratio = 0;
  if (!(row[0] - row[0] == 0 && row[1] - row[1] == 0 && row[2] - row[2] == 0)) return STRATA_PIVOT_NONFINITE;
  if (!(E - E == 0)) return STRATA_PIVOT_ZERO;
  if (row[1] == 0 && CELL(strata_abs)(E) <= CELL(strata_rounding)(row, before)) {
    if (nextlower != 0) return STRATA_PIVOT_ZERO;
    return row[0] == 0 ? STRATA_PIVOT_ISOLATED : STRATA_PIVOT_SINGULAR;
  }
  if (CELL(strata_abs)(den) <= 8 * (REAL)REAL_EPSILON * (CELL(strata_abs)(E) + CELL(strata_abs)(row[1]))) return STRATA_PIVOT_ZERO;
  *ratio = E * (1 / den);
  if (*ratio - *ratio == 0) return STRATA_PIVOT_FINE;
  *ratio = 0; /* the reciprocal of the pivot is beyond the largest number */
  return STRATA_PIVOT_ZERO;
}
