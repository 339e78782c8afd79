/* Included by column_other_host.c for each precision */

/* The rows of line q one by one, as if it were alone: number k is at 3 k of row; gives its first cell */
static ptrdiff_t TYPED(other_rows)(const TYPED(StrataLines) *t, ptrdiff_t q, REAL *row)
{
  REAL      line[2] = {1, 0};
  ptrdiff_t id;
  int       x[3];

  strata_line_start(t->coef.n, t->axis, q, x);
  id = strata_line_cell(t->coef.n, x);
  if (t->rows == STRATA_ROWS_SHARED) CELL(strata_shared_line)(t, t->axis, x, line);
  for (int k = 0; k < t->coef.n[t->axis]; k++) {
    x[t->axis] = k;
    CELL(strata_line_row)(t, t->axis, t->rows, line, x, row + 3 * (ptrdiff_t)k);
  }
  return id;
}

size_t TYPED(StrataTwoWayWork)(const TYPED(StrataLines) *t, int nv, int device)
{
  const size_t levels = (size_t)t->coef.n[t->axis];

  return sizeof(REAL) * levels * (device ? 2 * (size_t)strata_line_count(t->coef.n, t->axis) * nv : 5);
}

void TYPED(StrataTwoWayHost)(const TYPED(StrataLines) *t, int nv, const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z, ptrdiff_t ldz, void *work)
{
  const int       levels = t->coef.n[t->axis], middle = levels / 2;
  const ptrdiff_t lines = strata_line_count(t->coef.n, t->axis), stride = strata_line_stride(t->coef.n, t->axis);
  REAL           *row = (REAL *)work, *c = row + 3 * (ptrdiff_t)levels, *d = c + levels;

  for (ptrdiff_t q = 0; q < lines; q++) {
    const ptrdiff_t id = TYPED(other_rows)(t, q, row);

    for (int v = 0; v < nv; v++) {
      const REAL *from = r + v * ldr + id, *plus = add ? add + v * ldz + id : NULL;
      REAL       *to = z + v * ldz + id, ratio[2] = {0, 0}, carry[2] = {0, 0}, unused = 0;

      for (int k = 0; k < middle; k++)
        CELL(strata_forward)(0, t->singular, row + 3 * k, from[k * stride], &ratio[0], &carry[0], &unused, &unused, NULL, &c[k], &d[k]);
      for (int k = levels - 1; k > middle; k--) {
        const REAL turned[3] = {row[3 * k + 1], row[3 * k], row[3 * k + 2]};

        CELL(strata_forward)(0, t->singular, turned, from[k * stride], &ratio[1], &carry[1], &unused, &unused, NULL, &c[k], &d[k]);
      }
      c[middle] = 0;
      d[middle] = CELL(strata_meet)(row + 3 * middle, t->singular, ratio, carry, from[middle * stride]);
      for (int k = middle - 1; k >= 0; k--) d[k] = CELL(strata_backward)(c[k], d[k], d[k + 1]);
      for (int k = middle + 1; k < levels; k++) d[k] = CELL(strata_backward)(c[k], d[k], d[k - 1]);
      for (int k = 0; k < levels; k++) to[k * stride] = plus ? plus[k * stride] + d[k] : d[k];
    }
  }
}

size_t TYPED(StrataPCRWork)(const TYPED(StrataLines) *t, int nv, int device)
{
  const size_t levels = (size_t)t->coef.n[t->axis], numbers = sizeof(REAL) * levels * 2 * STRATA_PCR_NUMBERS;

  if (!device) return numbers + sizeof(REAL) * levels * 3;
  return strata_pcr_fits(t->coef.n, t->axis, (int)sizeof(REAL)) ? 0 : numbers * (size_t)strata_line_count(t->coef.n, t->axis) * nv;
}

/* The rows [from, to), of which all have a row before them, or none, and the same behind */
static inline __attribute__((always_inline)) void TYPED(pcr_rows)(int from, int to, const int before, const int behind, int levels, int distance,
                                                                  const REAL *old, REAL *new)
{
#pragma GCC ivdep
  for (int k = from; k < to; k++) CELL(strata_pcr_step)(old + k, distance, before, behind, new + k, levels);
}

STRATA_CLONES void TYPED(strata_pcr_steps)(int levels, int distance, const REAL *old, REAL *new);
STRATA_CLONES void TYPED(strata_pcr_steps)(int levels, int distance, const REAL *old, REAL *new)
{
  const int left = levels - distance, low = distance < left ? distance : left, high = distance < left ? left : distance;

  TYPED(pcr_rows)(0, low, 0, 1, levels, distance, old, new);
  if (distance < left)
    TYPED(pcr_rows)(low, high, 1, 1, levels, distance, old, new);
  else
    TYPED(pcr_rows)(low, high, 0, 0, levels, distance, old, new);
  TYPED(pcr_rows)(high, levels, 1, 0, levels, distance, old, new);
}

void TYPED(StrataPCRHost)(const TYPED(StrataLines) *t, int nv, const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z, ptrdiff_t ldz, void *work)
{
  const int       levels = t->coef.n[t->axis];
  const ptrdiff_t lines = strata_line_count(t->coef.n, t->axis), stride = strata_line_stride(t->coef.n, t->axis);
  REAL           *row = (REAL *)work, *buffer[2];

  buffer[0] = row + 3 * (ptrdiff_t)levels;
  buffer[1] = buffer[0] + STRATA_PCR_NUMBERS * (ptrdiff_t)levels;
  for (ptrdiff_t q = 0; q < lines; q++) {
    const ptrdiff_t id = TYPED(other_rows)(t, q, row);

    for (int v = 0; v < nv; v++) {
      const REAL *from = r + v * ldr + id, *plus = add ? add + v * ldz + id : NULL;
      REAL       *to = z + v * ldz + id;
      int         now = 0;

      for (int k = 0; k < levels; k++) CELL(strata_pcr_begin)(row + 3 * k, from[k * stride], buffer[0] + k, levels);
      for (int distance = 1; distance < levels; distance *= 2, now = !now) TYPED(strata_pcr_steps)(levels, distance, buffer[now], buffer[!now]);
      for (int k = 0; k < levels; k++) {
        const REAL value = buffer[now][STRATA_PCR_RIGHT * (ptrdiff_t)levels + k] * buffer[now][STRATA_PCR_INVERSE * (ptrdiff_t)levels + k];

        to[k * stride] = plus ? plus[k * stride] + value : value;
      }
    }
  }
}
