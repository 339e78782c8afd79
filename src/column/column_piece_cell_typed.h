/* Included by column_piece_cell.h for each precision */

/* The numbers of a level, with the legs to other pieces */
STRATA_CELL void CELL(strata_piece_level)(const TYPED(StrataLines) *t, int axis, int k, REAL level[4])
{
  const TYPED(StrataCoef) *c = &t->coef;
  const int                low = 2 * axis, high = low + 1, constant = c->form == STRATA_CONSTANT;

  CELL(strata_shared_level)(t, axis, k, level);
  if (k == 0 && c->outside[low] == STRATA_OUTSIDE_GHOST) level[0] = c->scale * (constant ? c->leg[low] : c->level[2][k]);
  if (k == c->n[axis] - 1 && c->outside[high] == STRATA_OUTSIDE_GHOST) level[1] = c->scale * (constant ? c->leg[high] : c->level[1][k]);
}

/* The row of cell x, with the legs to other pieces; line is that of strata_shared_line() */
STRATA_CELL void CELL(strata_piece_row)(const TYPED(StrataLines) *t, int axis, int rows, const REAL line[2], const int x[3], REAL row[3])
{
  if (rows == STRATA_ROWS_SHARED) {
    REAL level[4];

    CELL(strata_piece_level)(t, axis, x[axis], level);
    CELL(strata_shared_row)(level, line[0], line[1], t->coef.shift, row);
  } else
    CELL(strata_line_row)(t, axis, rows, line, x, row);
}

/* Number q of an array that may stand for zeros */
STRATA_CELL REAL CELL(strata_or_zero)(const REAL *a, ptrdiff_t q)
{
  return a ? a[q] : 0;
}
