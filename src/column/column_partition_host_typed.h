/* Included by column_partition_host.c for each precision */

ptrdiff_t TYPED(StrataPartitionStart)(const TYPED(StrataLines) *t)
{
  const StrataPartition p = StrataPartitionPlan(t->coef.n, t->axis);
  const ptrdiff_t       lines = strata_line_count(t->coef.n, t->axis);

  return t->rows == STRATA_ROWS_SHARED ? strata_sums_range(&p, lines, sizeof(REAL)) + 1 : lines * p.segments * p.chunks;
}

/* Before a piece of a line: what N / D it begins with, from that of the piece before it. Pieces that are not of an M-matrix are walked through. */
static REAL TYPED(partition_skip)(const TYPED(StrataLines) *t, int x[3], const REAL line[2], int from, int end, REAL ratio)
{
  const REAL before = ratio;
  REAL       map[4] = {1, 0, 0, 1}, row[3];
  int        sign = 0;

  for (int k = from; k < end; k++) {
    x[t->axis] = k;
    CELL(strata_line_row)(t, t->axis, t->rows, line, x, row);
    CELL(strata_map_row)(map, row);
    if (CELL(strata_row_signs)(row)) sign = 1;
    (void)CELL(strata_factor)(row, t->singular, &ratio);
  }
  return sign ? ratio : CELL(strata_map_ratio)(map, before);
}

/* The numbers of the levels for running sums. Do the legs suit them? */
static int TYPED(partition_levels)(const TYPED(StrataLines) *t, const StrataPartition *p, REAL *table)
{
  const int levels = t->coef.n[t->axis], padded = strata_sums_segment(p, sizeof(REAL));
  int       fit = 1;

  for (int k = 0; k < levels; k++) {
    REAL level[4], next[4];

    CELL(strata_shared_level)(t, t->axis, k, level);
    CELL(strata_sums_level)(level, k % p->length == 0, table + k / p->length * (ptrdiff_t)padded + k % p->length * STRATA_SUMS_LEVEL);
    if (k == levels - 1) break;
    CELL(strata_shared_level)(t, t->axis, k + 1, next);
    if (!CELL(strata_sums_fit_legs)(level[1], next[0])) fit = 0;
  }
  return fit;
}

void TYPED(StrataPartitionSetUpHost)(const TYPED(StrataLines) *t, REAL *start, int *sums)
{
  const StrataPartition p = StrataPartitionPlan(t->coef.n, t->axis);
  const ptrdiff_t       lines = strata_line_count(t->coef.n, t->axis), step = strata_partition_start_step(&p, lines);
  const int             shared = t->rows == STRATA_ROWS_SHARED, levels = t->coef.n[t->axis];
  const ptrdiff_t       piece = strata_partition_piece(&p, levels, lines) * p.length;

  *sums = shared && !t->singular && TYPED(partition_levels)(t, &p, start + strata_sums_table(&p, lines));
  for (ptrdiff_t q = 0; q < lines; q++) {
    REAL *s = start + strata_partition_start_of(&p, q);
    REAL  line[2] = {1, 0}, row[3], before = 0, ratio = 0, shrink = 1;
    int   x[3];

    strata_line_start(t->coef.n, t->axis, q, x);
    if (shared) CELL(strata_shared_line)(t, t->axis, x, line);
    s[0] = line[1];
    for (int k = 0, m = 1; k < levels; k++) {
      REAL inverse;

      if (k && k % piece == 0) ratio = before = TYPED(partition_skip)(t, x, line, (int)(k - piece), k, before);
      if (k == m * p.length) {
        s[m++ * step] = ratio;
        shrink = 1;
      }
      x[t->axis] = k;
      CELL(strata_line_row)(t, t->axis, t->rows, line, x, row);
      inverse = CELL(strata_factor)(row, t->singular, &ratio);
      if (*sums && !CELL(strata_sums_fit_row)(row, line[0], inverse, &shrink)) *sums = 0;
    }
  }
}

/* A line while it is solved. Of each row f, c and b as in the head of column_cell_partition.h; for running sums D, 1 / (D G) and r, then
   F / (D G), then z, and of each segment rho. */
typedef struct {
  int                    sums, levels;
  const StrataPartition *plan;
  REAL                   inverse; /* sums: 1 / area */
  REAL                  *f, *c, *b, *rho;
} TYPED(PartitionLine);

size_t TYPED(StrataPartitionWork)(const TYPED(StrataLines) *t, int nv, int device)
{
  const StrataPartition p = StrataPartitionPlan(t->coef.n, t->axis);
  const size_t          segments = (size_t)p.segments * p.chunks, rows = segments * p.length, parts = p.chunks + p.segments + STRATA_JOIN_GROUPS;

  if (!device) return (3 * rows + segments) * sizeof(REAL) + parts * sizeof(TYPED(StrataPart)); /* for one line after the other */
  return p.chunks == 1 ? 0
                       : sizeof(TYPED(StrataPart)) * (p.chunks + strata_join_groups(p.chunks)) * (size_t)strata_line_count(t->coef.n, t->axis) * nv;
}

/* One line, all segments */
static void TYPED(partition_rows)(const TYPED(StrataLines) *t, ptrdiff_t q, const REAL *start, const REAL *r, TYPED(PartitionLine) *w)
{
  const StrataPartition *p = w->plan;
  const int              axis = t->axis, levels = w->levels;
  const ptrdiff_t        lines = strata_line_count(t->coef.n, axis), step = strata_partition_start_step(p, lines);
  const ptrdiff_t        stride = strata_line_stride(t->coef.n, axis);
  const REAL            *s = start + strata_partition_start_of(p, q), *table = start + strata_sums_table(p, lines);
  REAL                   line[3] = {1, 0, 0}, row[3], N = 0, D = 1, before = 0;
  int                    x[3];

  strata_line_start(t->coef.n, axis, q, x);
  if (t->rows == STRATA_ROWS_SHARED) CELL(strata_partition_line)(t->coef.form == STRATA_CONSTANT ? 1 : t->coef.area[q], s[0], t->coef.shift, line);
  w->inverse = line[0];
  for (int k = 0; k < levels; k++) {
    const int segment = k / p->length, first = k % p->length == 0;
    REAL      inverse;

    if (first) before = k ? s[segment * step] : 0;
    if (w->sums) {
      const REAL *number = table + segment * (ptrdiff_t)strata_sums_segment(p, sizeof(REAL)) + k % p->length * STRATA_SUMS_LEVEL;
      const int   last = k == levels - 1 || (k + 1) % p->length == 0;

      CELL(strata_sums_factor)(number, line, first, before, &N, &D);
      w->f[k] = D;
      w->b[k] = r[k * stride];
      if (!first) w->c[k - 1] = TYPED(strata_reciprocal)(w->f[k - 1] * (number[1 - STRATA_SUMS_LEVEL] * D));
      if (last) {
        const REAL G = FMA(number[1], D, N);

        w->rho[segment] = number[1] * TYPED(strata_reciprocal)(G);
        w->c[k] = TYPED(strata_reciprocal)(D * G);
      }
      continue;
    }
    if (first) {
      N = before;
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
    w->f[k] = -(row[0] * inverse);
    w->c[k] = row[1] * inverse;
    w->b[k] = line[0] * r[k * stride] * inverse;
  }
}

/* The rows of a segment, counted in the line: their end, no row if the segment is beyond the line */
static int TYPED(segment_end)(const TYPED(PartitionLine) *w, int segment)
{
  const int end = (segment + 1) * w->plan->length;

  return end < w->levels ? end : w->levels;
}

/* What a segment makes of the carry before it, as a linear function */
static void TYPED(segment_sum_forward)(const TYPED(PartitionLine) *w, int segment, REAL s[2])
{
  const int from = segment * w->plan->length, end = TYPED(segment_end)(w, segment);
  REAL      F[2] = {0, 0};

  s[0] = 1;
  s[1] = 0;
  if (!w->sums)
    for (int k = from; k < end; k++) CELL(strata_then)(s, w->f[k], w->b[k]);
  else if (from < end) {
    for (int k = from; k < end; k++) F[(k - from) % 2] = FMA(w->f[k], w->b[k], F[(k - from) % 2]); /* two sums: neither waits for the other */
    s[0] = w->rho[segment];
    s[1] = s[0] * (F[0] + F[1]);
  }
}

static void TYPED(segment_forward)(const TYPED(PartitionLine) *w, int segment, REAL carry)
{
  const int end = TYPED(segment_end)(w, segment);

  for (int k = segment * w->plan->length; k < end; k++)
    if (w->sums) {
      carry = FMA(w->f[k], w->b[k], carry);
      w->b[k] = carry * w->c[k];
    } else
      w->b[k] = carry = FMA(w->f[k], carry, w->b[k]);
}

/* What it makes of the solution behind it */
static void TYPED(segment_sum_backward)(const TYPED(PartitionLine) *w, int segment, REAL s[2])
{
  const int from = segment * w->plan->length, end = TYPED(segment_end)(w, segment);

  s[0] = 1;
  s[1] = 0;
  if (!w->sums)
    for (int k = end - 1; k >= from; k--) CELL(strata_then)(s, -w->c[k], w->b[k]);
  else if (from < end) {
    s[0] = w->rho[segment];
    for (int k = from; k < end; k++) s[1] = s[1] + w->b[k];
  }
}

static void TYPED(segment_backward)(const TYPED(PartitionLine) *w, int segment, REAL next)
{
  const int from = segment * w->plan->length, end = TYPED(segment_end)(w, segment);

  if (w->sums && from < end) next = next * w->rho[segment] * w->inverse;
  for (int k = end - 1; k >= from; k--)
    if (w->sums) {
      next = FMA(w->b[k], w->inverse, next);
      w->b[k] = w->f[k] * next;
    } else
      w->b[k] = next = CELL(strata_backward)(w->c[k], w->b[k], next);
}

static TYPED(StrataPart) TYPED(segment_total)(const TYPED(PartitionLine) *w, int segment)
{
  const int         from = segment * w->plan->length, end = TYPED(segment_end)(w, segment);
  TYPED(StrataPart) part = TYPED(strata_part_none)();
  REAL              F = 0;

  if (!w->sums)
    for (int k = from; k < end; k++) CELL(strata_part_row)(&part, w->f[k], w->c[k], w->b[k]);
  else if (from < end) {
    TYPED(segment_sum_forward)(w, segment, part.carry);
    part.first[1] = w->rho[segment];
    for (int k = from; k < end; k++) {
      F = FMA(w->f[k], w->b[k], F);
      part.first[0] = part.first[0] + w->c[k];
      part.first[2] = FMA(F, w->c[k], part.first[2]);
    }
  }
  return part;
}

/* What the chunks are, one by one: their segments are joined as a tree */
static void TYPED(partition_parts)(const TYPED(PartitionLine) *w, TYPED(StrataPart) *segment, TYPED(StrataPart) *chunk)
{
  const int P = w->plan->segments;

  for (int m = 0; m < w->plan->chunks; m++) {
    for (int s = 0; s < P; s++) segment[s] = TYPED(segment_total)(w, m * P + s);
    for (int d = 1; d < P; d *= 2)
      for (int s = 0; s < P; s += 2 * d) segment[s] = CELL(strata_part_join)(segment[s], segment[s + d]);
    chunk[m] = segment[0];
  }
}

/* The carry before each chunk and the solution after it, left in carry[0] and carry[1] */
static void TYPED(partition_join)(int chunks, TYPED(StrataPart) *chunk, TYPED(StrataPart) *group)
{
  const int length = strata_join_length(chunks), groups = strata_join_groups(chunks);
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

/* A linear function with the one before it */
static void TYPED(partition_compose)(const REAL before[2], REAL s[2])
{
  REAL both[2] = {before[0], before[1]};

  CELL(strata_then)(both, s[0], s[1]);
  s[0] = both[0];
  s[1] = both[1];
}

/* Linear functions in turn: what goes into each, from what goes into the first (or the last, if backward). A thread walks through those
   before it; in a warp they are composed as a tree. If they are composed, those of all before it are left in each. */
static void TYPED(partition_chain)(const StrataPartition *p, int backward, REAL s[][2], REAL in, REAL *into)
{
  const int P = p->segments, end = backward ? P - 1 : 0, step = backward ? -1 : 1;

  if (p->contiguous || p->linked) {
    if (p->contiguous)
      for (int d = 1; d < P; d *= 2)
        for (int m = P - 1; m >= d; m--) TYPED(partition_compose)(s[end + step * (m - d)], s[end + step * m]);
    else
      for (int m = 1; m < P; m++) TYPED(partition_compose)(s[end + step * (m - 1)], s[end + step * m]);
    for (int m = 0; m < P; m++) into[end + step * m] = m ? FMA(s[end + step * (m - 1)][0], in, s[end + step * (m - 1)][1]) : in;
  } else
    for (int m = 0; m < P; m++) {
      into[end + step * m] = in;
      in = FMA(s[end + step * m][0], in, s[end + step * m][1]);
    }
}

/* The solution of a line, given for each chunk the carry before and the solution after it; b becomes z */
static void TYPED(partition_finish)(const TYPED(PartitionLine) *w, const TYPED(StrataPart) *chunk)
{
  const int P = w->plan->segments;

  for (int m = 0; m < w->plan->chunks; m++) {
    REAL s[STRATA_SEGMENTS][2], into[STRATA_SEGMENTS];

    for (int g = 0; g < P; g++) TYPED(segment_sum_forward)(w, m * P + g, s[g]);
    TYPED(partition_chain)(w->plan, 0, s, chunk[m].carry[0], into);
    for (int g = 0; g < P; g++) {
      TYPED(segment_forward)(w, m * P + g, into[g]);
      TYPED(segment_sum_backward)(w, m * P + g, s[g]);
    }
    TYPED(partition_chain)(w->plan, 1, s, chunk[m].carry[1], into);
    for (int g = 0; g < P; g++) TYPED(segment_backward)(w, m * P + g, into[g]);
  }
}

/* The same where chunks are linked: each is a linear function too, of what comes out of the one before it */
static void TYPED(partition_link)(const TYPED(PartitionLine) *w, int backward)
{
  const int P = w->plan->segments, chunks = w->plan->chunks, last = backward ? 0 : P - 1;
  REAL      s[STRATA_CHUNKS_LINKED][STRATA_SEGMENTS_LINKED][2], into[STRATA_SEGMENTS_LINKED], in = 0;

  for (int m = 0; m < chunks; m++)
    for (int g = 0; g < P; g++) (backward ? TYPED(segment_sum_backward) : TYPED(segment_sum_forward))(w, m * P + g, s[m][g]);
  for (int i = 0; i < chunks; i++) {
    const int m = backward ? chunks - 1 - i : i;

    TYPED(partition_chain)(w->plan, backward, s[m], in, into);
    for (int g = 0; g < P; g++) (backward ? TYPED(segment_backward) : TYPED(segment_forward))(w, m * P + g, into[g]);
    in = FMA(s[m][last][0], in, s[m][last][1]);
  }
}

static void TYPED(partition_solve)(const TYPED(StrataLines) *t, const REAL *start, const StrataColor *color, REAL omega, int nv, const REAL *r,
                                   ptrdiff_t ldr, const REAL *add, REAL *z, ptrdiff_t ldz, void *work)
{
  const StrataPartition p = StrataPartitionPlan(t->coef.n, t->axis);
  const int             levels = t->coef.n[t->axis];
  const ptrdiff_t       lines = strata_line_count(t->coef.n, t->axis), stride = strata_line_stride(t->coef.n, t->axis);
  const size_t          segments = (size_t)p.segments * p.chunks, size = segments * p.length;
  TYPED(PartitionLine)  w = {t->sums, levels, &p, 1, (REAL *)work, (REAL *)work + size, (REAL *)work + 2 * size, (REAL *)work + 3 * size};
  TYPED(StrataPart)    *chunk = (TYPED(StrataPart) *)(w.rho + segments), *segment = chunk + p.chunks, *group = segment + p.segments;

  for (int v = 0; v < nv; v++)
    for (ptrdiff_t q = 0; q < lines; q++) {
      ptrdiff_t id;
      int       x[3];

      strata_line_start(t->coef.n, t->axis, q, x);
      id = strata_line_cell(t->coef.n, x);
      TYPED(partition_rows)(t, q, start, r + v * ldr + id, &w);
      if (p.linked) {
        TYPED(partition_link)(&w, 0);
        TYPED(partition_link)(&w, 1);
      } else {
        if (p.chunks > 1) {
          TYPED(partition_parts)(&w, segment, chunk);
          TYPED(partition_join)(p.chunks, chunk, group);
        } else
          chunk[0].carry[0] = chunk[0].carry[1] = 0;
        TYPED(partition_finish)(&w, chunk);
      }
      for (int k = 0; k < levels; k++) {
        const ptrdiff_t at = id + k * stride;

        z[v * ldz + at] = CELL(strata_correct)(strata_colored(color, x[0], x[1], x[2]), omega, w.b[k], add ? add[v * ldz + at] : 0);
      }
    }
}

void TYPED(StrataPartitionHost)(const TYPED(StrataLines) *t, const REAL *start, int nv, const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z,
                                ptrdiff_t ldz, void *work)
{
  const StrataColor all = {{0}, 0, 1, 0};

  TYPED(partition_solve)(t, start, &all, 1, nv, r, ldr, add, z, ldz, work);
}

void TYPED(StrataPartitionCorrectHost)(const TYPED(StrataLines) *t, const REAL *start, const StrataColor *color, REAL omega, const REAL *r,
                                       const REAL *add, REAL *z, void *work)
{
  TYPED(partition_solve)(t, start, color, omega, 1, r, 0, add, z, 0, work);
}
