/* Included by column_ring_cell.h for each precision */

/* Cuts a ring in what concerns cell k, end is the last one: its row becomes that in the line that stands for the ring. number: the first one of the
   ring, count: their distance */
STRATA_CELL void CELL(strata_ring_cut_row)(int k, int end, ptrdiff_t count, REAL *number, REAL row[3])
{
  const REAL excess = row[2];

  for (int m = 0; m < 2; m++) { /* the two neighbours of the last cell, perhaps one cell: its leg to the last cell goes */
    if (k != (m ? end - 1 : 0)) continue;
    number[(STRATA_RING_B + m) * count] = row[m];
    number[(STRATA_RING_SUM + m) * count] = excess;
    row[2] -= row[m];
    row[m] = 0;
  }
  if (k == end) {
    number[STRATA_RING_C * count] = row[1];
    number[(STRATA_RING_C + 1) * count] = row[0];
    number[STRATA_RING_LAST * count] = excess;
    row[2] -= row[1] + row[0];
    row[0] = row[1] = 0;
  }
}

/* Cuts the ring of cell x, in what concerns that cell: its row in the line that stands for the ring, and numbers of the ring */
STRATA_CELL void CELL(strata_ring_cut)(const TYPED(StrataLines) *from, const int x[3], REAL *number, REAL row[3])
{
  const int      *n = from->coef.n, axis = from->axis, end = n[axis] - 1;
  const ptrdiff_t count = strata_line_count(n, axis), id = strata_line_cell(n, x);

  if (from->rows == STRATA_ROWS_ARRAYS) {
    row[0] = from->lower[id];
    row[1] = from->upper[id];
    row[2] = from->excess[id];
  } else
    CELL(strata_cell_row)(from, axis, x, row);
  CELL(strata_ring_cut_row)(x[axis], end, count, number + strata_line_of(n, axis, x), row);
}

/* A right-hand side of the set-up in cell k; sum: the sum of its row, if it has no leg to the last cell */
STRATA_CELL REAL CELL(strata_ring_right_row)(REAL scale, REAL shift, int which, int k, int end, ptrdiff_t count, const REAL *number, REAL sum)
{
  const REAL first = number[which * count], before = number[(which + 1) * count];
  REAL       right = 0;

  if (k == end) return 0;
  if (which == STRATA_RING_SUM) return k == 0 ? FMA(scale, first, shift) : k == end - 1 ? FMA(scale, before, shift) : sum;
  if (k == 0) right = scale * first;
  if (k == end - 1) right = FMA(scale, before, right);
  return right;
}

/* The same in cell x */
STRATA_CELL REAL CELL(strata_ring_right)(const TYPED(StrataLines) *t, const REAL *number, int which, const int x[3])
{
  const int      *n = t->coef.n, axis = t->axis, end = n[axis] - 1;
  const ptrdiff_t count = strata_line_count(n, axis);
  REAL            line[2] = {1, 0}, row[3] = {0, 0, 0};

  if (which == STRATA_RING_SUM && x[axis] > 0 && x[axis] < end - 1) {
    if (t->rows == STRATA_ROWS_SHARED) {
      int first[3] = {x[0], x[1], x[2]};

      first[axis] = 0;
      CELL(strata_shared_line)(t, axis, first, line);
    }
    CELL(strata_line_row)(t, axis, t->rows, line, x, row);
  }
  return CELL(strata_ring_right_row)(t->coef.scale, t->coef.shift, which, x[axis], end, count, number + strata_line_of(n, axis, x), row[2]);
}

/* 1 / s of a ring, number: the first one of that ring, count: their distance; g in the first cell and in the one before the last */
STRATA_CELL REAL CELL(strata_ring_pivot)(REAL scale, REAL shift, const REAL *number, ptrdiff_t count, REAL first, REAL before)
{
  const REAL excess = FMA(scale, number[STRATA_RING_LAST * count], shift);
  const REAL a = scale * number[STRATA_RING_C * count] * first, b = scale * number[(STRATA_RING_C + 1) * count] * before, s = excess - a - b;

  if (CELL(strata_abs)(s) <= 8 * (REAL)REAL_EPSILON * (CELL(strata_abs)(excess) + CELL(strata_abs)(a) + CELL(strata_abs)(b))) return 0;
  return 1 / s;
}

/* The solution in the last cell of a ring, from the solution of the line: in the first cell, the one before the last and the last one */
STRATA_CELL REAL CELL(strata_ring_last)(REAL scale, REAL shift, const REAL *number, ptrdiff_t count, int transpose, REAL inverse, REAL first,
                                        REAL before, REAL last)
{
  const REAL *c = number + (transpose ? STRATA_RING_B : STRATA_RING_C) * count;
  const REAL  diagonal = FMA(scale, number[STRATA_RING_LAST * count] - (number[STRATA_RING_C * count] + number[(STRATA_RING_C + 1) * count]), shift);

  return FMA(-(scale * c[count]), before, FMA(-(scale * c[0]), first, diagonal * last)) * inverse;
}
