/* Included by column_partition_host.c for each precision */

ptrdiff_t TYPED(StrataPartitionStart)(const TYPED(StrataLines) *t)
{
  const StrataPartition p = StrataPartitionPlan(t->coef.n, t->axis);

  return strata_line_count(t->coef.n, t->axis) * p.segments * p.chunks;
}

void TYPED(StrataPartitionSetUpHost)(const TYPED(StrataLines) *t, REAL *start)
{
  const StrataPartition p = StrataPartitionPlan(t->coef.n, t->axis);
  const ptrdiff_t       lines = strata_line_count(t->coef.n, t->axis);

  for (ptrdiff_t q = 0; q < lines; q++) {
    const ptrdiff_t step = strata_partition_start_step(&p, lines);
    REAL           *s = start + strata_partition_start_of(&p, q);
    REAL            line[2] = {1, 0}, row[3], ratio = 0;
    int             x[3];

    strata_line_start(t->coef.n, t->axis, q, x);
    if (t->rows == STRATA_ROWS_SHARED) CELL(strata_shared_line)(t, t->axis, x, line);
    s[0] = line[1];
    for (int k = 0, m = 1; k < t->coef.n[t->axis]; k++) {
      if (k == m * p.length) s[m++ * step] = ratio;
      x[t->axis] = k;
      CELL(strata_line_row)(t, t->axis, t->rows, line, x, row);
      (void)CELL(strata_factor)(row, t->singular, &ratio);
    }
  }
}

size_t TYPED(StrataPartitionWork)(const TYPED(StrataLines) *t, int nv, int device)
{
  const StrataPartition p = StrataPartitionPlan(t->coef.n, t->axis);
  const size_t          rows = (size_t)p.length * p.segments * p.chunks, parts = p.chunks + p.segments + STRATA_JOIN_GROUPS;

  if (!device) return 3 * rows * sizeof(REAL) + parts * sizeof(TYPED(StrataPart)); /* for one line after the other */
  return p.chunks == 1 ? 0 : sizeof(TYPED(StrataPart)) * p.chunks * (size_t)strata_line_count(t->coef.n, t->axis) * nv;
}

/* One line: f, c and b of its rows, for all segments */
static void TYPED(partition_rows)(const TYPED(StrataLines) *t, const StrataPartition *p, ptrdiff_t q, const REAL *start, const REAL *r, REAL *f,
                                  REAL *c, REAL *b)
{
  const int       axis = t->axis, levels = t->coef.n[axis];
  const ptrdiff_t step = strata_partition_start_step(p, strata_line_count(t->coef.n, axis)), stride = strata_line_stride(t->coef.n, axis);
  const REAL     *s = start + strata_partition_start_of(p, q);
  REAL            line[3] = {1, 0, 0}, row[3], N = 0, D = 1;
  int             x[3];

  strata_line_start(t->coef.n, axis, q, x);
  if (t->rows == STRATA_ROWS_SHARED) CELL(strata_partition_line)(t->coef.form == STRATA_CONSTANT ? 1 : t->coef.area[q], s[0], t->coef.shift, line);
  for (int k = 0; k < levels; k++) {
    REAL inverse;

    if (k % p->length == 0) {
      N = k ? s[k / p->length * step] : 0;
      D = 1;
    }
    x[axis] = k;
    if (t->rows == STRATA_ROWS_SHARED) {
      REAL level[4];

      CELL(strata_shared_level)(t, axis, k, level);
      CELL(strata_partition_shared_row)(level, line, row);
    } else
      CELL(strata_line_row)(t, axis, t->rows, NULL, x, row);
    inverse = CELL(strata_partition_factor)(row, t->singular, &N, &D);
    f[k] = -(row[0] * inverse);
    c[k] = row[1] * inverse;
    b[k] = line[0] * r[k * stride] * inverse;
  }
}

/* What the chunks are, one by one: their segments are joined as a tree */
static void TYPED(partition_parts)(const StrataPartition *p, int levels, const REAL *f, const REAL *c, const REAL *b, TYPED(StrataPart) *segment,
                                   TYPED(StrataPart) *chunk)
{
  for (int m = 0; m < p->chunks; m++) {
    for (int s = 0; s < p->segments; s++) {
      const int from = (m * p->segments + s) * p->length;

      segment[s] = TYPED(strata_part_none)();
      for (int k = from; k < from + p->length && k < levels; k++) CELL(strata_part_row)(&segment[s], f[k], c[k], b[k]);
    }
    for (int d = 1; d < p->segments; d *= 2)
      for (int s = 0; s < p->segments; s += 2 * d) segment[s] = CELL(strata_part_join)(segment[s], segment[s + d]);
    chunk[m] = segment[0];
  }
}

/* The carry before each chunk and the solution after it, left in carry[0] and carry[1] */
static void TYPED(partition_join)(int chunks, TYPED(StrataPart) *chunk, TYPED(StrataPart) *group)
{
  const int length = strata_join_length(chunks), groups = (chunks + length - 1) / length;
  REAL      before = 0, after = 0;

  for (int g = 0; g < groups; g++) { /* the carry before a group and the solution after it */
    group[g] = TYPED(strata_part_none)();
    for (int m = g * length; groups > 1 && m < (g + 1) * length && m < chunks; m++) group[g] = CELL(strata_part_join)(group[g], chunk[m]);
  }
  for (int g = 0; g < groups; g++) {
    const REAL next = CELL(strata_part_carry)(&group[g], before);

    group[g].carry[0] = before;
    before = next;
  }
  for (int g = groups - 1; g >= 0; g--) {
    const REAL next = CELL(strata_part_first)(&group[g], group[g].carry[0], after);

    group[g].carry[1] = after;
    after = next;
  }
  for (int g = 0; g < groups; g++) {
    const int end = (g + 1) * length < chunks ? (g + 1) * length : chunks;

    before = group[g].carry[0];
    after = group[g].carry[1];
    for (int m = g * length; m < end; m++) {
      const REAL next = CELL(strata_part_carry)(&chunk[m], before);

      chunk[m].carry[0] = before;
      before = next;
    }
    for (int m = end - 1; m >= g * length; m--) {
      const REAL next = CELL(strata_part_first)(&chunk[m], chunk[m].carry[0], after);

      chunk[m].carry[1] = after;
      after = next;
    }
  }
}

/* Linear functions in turn: what goes into each, from what goes into the first (or the last, if backward). A thread walks through those
   before it; in a warp they are composed as a tree. */
static void TYPED(partition_chain)(const StrataPartition *p, int backward, REAL s[][2], REAL in, REAL *into)
{
  const int P = p->segments, end = backward ? P - 1 : 0, step = backward ? -1 : 1;

  if (p->contiguous) {
    for (int d = 1; d < P; d *= 2)
      for (int m = P - 1; m >= d; m--) {
        REAL *to = s[end + step * m];
        REAL  tmp[2] = {s[end + step * (m - d)][0], s[end + step * (m - d)][1]};

        CELL(strata_then)(tmp, to[0], to[1]);
        to[0] = tmp[0];
        to[1] = tmp[1];
      }
    for (int m = 0; m < P; m++) into[end + step * m] = m ? FMA(s[end + step * (m - 1)][0], in, s[end + step * (m - 1)][1]) : in;
  } else
    for (int m = 0; m < P; m++) {
      into[end + step * m] = in;
      in = FMA(s[end + step * m][0], in, s[end + step * m][1]);
    }
}

/* The solution of a line, given for each chunk the carry before and the solution after it; b becomes z */
static void TYPED(partition_finish)(const StrataPartition *p, int levels, const REAL *f, const REAL *c, REAL *b, const TYPED(StrataPart) *chunk)
{
  for (int m = 0; m < p->chunks; m++) {
    const int base = m * p->segments * p->length;
    REAL      s[32][2], into[32];

    for (int g = 0; g < p->segments; g++) {
      s[g][0] = 1;
      s[g][1] = 0;
      for (int k = base + g * p->length; k < base + (g + 1) * p->length && k < levels; k++) CELL(strata_then)(s[g], f[k], b[k]);
    }
    TYPED(partition_chain)(p, 0, s, chunk[m].carry[0], into);
    for (int g = 0; g < p->segments; g++) {
      const int from = base + g * p->length, end = from + p->length < levels ? from + p->length : levels;

      for (int k = from; k < end; k++) b[k] = into[g] = FMA(f[k], into[g], b[k]);
      s[g][0] = 1;
      s[g][1] = 0;
      for (int k = end - 1; k >= from; k--) CELL(strata_then)(s[g], -c[k], b[k]);
    }
    TYPED(partition_chain)(p, 1, s, chunk[m].carry[1], into);
    for (int g = 0; g < p->segments; g++) {
      const int from = base + g * p->length, end = from + p->length < levels ? from + p->length : levels;

      for (int k = end - 1; k >= from; k--) b[k] = into[g] = CELL(strata_backward)(c[k], b[k], into[g]);
    }
  }
}

void TYPED(StrataPartitionHost)(const TYPED(StrataLines) *t, const REAL *start, int nv, const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z,
                                ptrdiff_t ldz, void *work)
{
  const StrataPartition p = StrataPartitionPlan(t->coef.n, t->axis);
  const int             levels = t->coef.n[t->axis];
  const ptrdiff_t       lines = strata_line_count(t->coef.n, t->axis), stride = strata_line_stride(t->coef.n, t->axis);
  const size_t          size = (size_t)p.length * p.segments * p.chunks;
  REAL                 *f = (REAL *)work, *c = f + size, *b = c + size;
  TYPED(StrataPart)    *chunk = (TYPED(StrataPart) *)(b + size), *segment = chunk + p.chunks, *group = segment + p.segments;

  for (int v = 0; v < nv; v++)
    for (ptrdiff_t q = 0; q < lines; q++) {
      ptrdiff_t id;
      int       x[3];

      strata_line_start(t->coef.n, t->axis, q, x);
      id = strata_line_cell(t->coef.n, x);
      TYPED(partition_rows)(t, &p, q, start, r + v * ldr + id, f, c, b);
      if (p.chunks > 1) {
        TYPED(partition_parts)(&p, levels, f, c, b, segment, chunk);
        TYPED(partition_join)(p.chunks, chunk, group);
      } else
        chunk[0].carry[0] = chunk[0].carry[1] = 0;
      TYPED(partition_finish)(&p, levels, f, c, b, chunk);
      for (int k = 0; k < levels; k++) {
        const ptrdiff_t at = id + k * stride;

        z[v * ldz + at] = add ? add[v * ldz + at] + b[k] : b[k];
      }
    }
}
