/* Included by column_ring_host.c for each precision */

#define FOR_CELLS(n, x, id)                                                                                                                          \
  for (x[2] = 0, id = 0; x[2] < n[2]; x[2]++)                                                                                                        \
    for (x[1] = 0; x[1] < n[1]; x[1]++)                                                                                                              \
      for (x[0] = 0; x[0] < n[0]; x[0]++, id++)

void TYPED(StrataRingCutHost)(const TYPED(StrataLines) *from, REAL *number, REAL *excess, REAL *lower, REAL *upper)
{
  ptrdiff_t id;
  int       x[3];

  FOR_CELLS(from->coef.n, x, id)
  {
    REAL row[3];

    CELL(strata_ring_cut)(from, x, number, row);
    if (lower) lower[id] = row[0];
    if (upper) upper[id] = row[1];
    if (excess) excess[id] = row[2];
  }
}

void TYPED(StrataRingRightHost)(const TYPED(StrataLines) *t, const REAL *number, int which, REAL *right)
{
  ptrdiff_t id;
  int       x[3];

  FOR_CELLS(t->coef.n, x, id) right[id] = CELL(strata_ring_right)(t, number, which, x);
}

#undef FOR_CELLS

/* The first cell of line q, and the distances from there to the two last ones */
static ptrdiff_t TYPED(ring_cells)(const TYPED(StrataLines) *t, ptrdiff_t q, ptrdiff_t to[2])
{
  const ptrdiff_t stride = strata_line_stride(t->coef.n, t->axis);
  int             x[3];

  to[0] = (t->coef.n[t->axis] - 2) * stride;
  to[1] = to[0] + stride;
  strata_line_start(t->coef.n, t->axis, q, x);
  return strata_line_cell(t->coef.n, x);
}

void TYPED(StrataRingPivotHost)(const TYPED(StrataLines) *t, const REAL *number, const REAL *g, REAL *inverse)
{
  const ptrdiff_t lines = strata_line_count(t->coef.n, t->axis);

  for (ptrdiff_t q = 0; q < lines; q++) {
    ptrdiff_t   to[2];
    const REAL *first = g + TYPED(ring_cells)(t, q, to);

    inverse[q] = CELL(strata_ring_pivot)(t->coef.scale, t->coef.shift, number + q, lines, first[0], first[to[0]]);
  }
}

void TYPED(StrataRingFinishHost)(const TYPED(StrataLines) *t, const TYPED(StrataRing) *ring, int transpose, int nv, const REAL *y, ptrdiff_t ldy,
                                 const REAL *add, REAL *z, ptrdiff_t ldz, REAL *last)
{
  const int      *n = t->coef.n, axis = t->axis, end = n[axis] - 1;
  const ptrdiff_t lines = strata_line_count(n, axis), inner = strata_line_stride(n, axis), outer = lines / inner, count = ring->same ? 1 : lines;

  for (int v = 0; v < nv; v++) {
    const REAL *from = y + v * ldy, *plus = add ? add + v * ldz : NULL;
    REAL       *to = z + v * ldz;

    for (ptrdiff_t q = 0; q < lines; q++) {
      ptrdiff_t       at[2];
      const ptrdiff_t own = ring->same ? 0 : q;
      const REAL     *first = from + TYPED(ring_cells)(t, q, at);

      last[q] = CELL(strata_ring_last)(t->coef.scale, t->coef.shift, ring->number + own, count, transpose, ring->inverse[own], first[0], first[at[0]],
                                       first[at[1]]);
    }
    for (ptrdiff_t o = 0; o < outer; o++)
      for (int k = 0; k <= end; k++)
        for (ptrdiff_t i = 0; i < inner; i++) {
          const ptrdiff_t id = i + inner * (k + (end + 1) * o);
          const REAL      next = last[i + inner * o], value = k == end ? next : FMA(-ring->column[ring->same ? k : id], next, from[id]);

          to[id] = plus ? plus[id] + value : value;
        }
  }
}
