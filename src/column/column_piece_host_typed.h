/* Included by column_piece_host.c for each precision */

void TYPED(StrataPieceLowerHost)(const TYPED(StrataLines) *t, REAL *lower)
{
  const ptrdiff_t lines = strata_line_count(t->coef.n, t->axis);

  for (ptrdiff_t q = 0; q < lines; q++) {
    REAL line[2], row[3];
    int  x[3];

    strata_line_start(t->coef.n, t->axis, q, x);
    if (t->rows == STRATA_ROWS_SHARED) CELL(strata_shared_line)(t, t->axis, x, line);
    CELL(strata_piece_row)(t, t->axis, t->rows, line, x, row);
    lower[q] = row[0];
  }
}

void TYPED(StrataPieceCheckHost)(const TYPED(StrataLines) *t, REAL *ratio, const REAL *lower, StrataLinesReport *report)
{
  const ptrdiff_t lines = strata_line_count(t->coef.n, t->axis);
  const int       levels = t->coef.n[t->axis];

  for (ptrdiff_t q = 0; q < lines; q++) {
    REAL line[2], row[3], next[3] = {0, 0, 0};
    int  x[3];

    strata_line_start(t->coef.n, t->axis, q, x);
    if (t->rows == STRATA_ROWS_SHARED) CELL(strata_shared_line)(t, t->axis, x, line);
    CELL(strata_piece_row)(t, t->axis, t->rows, line, x, row);
    for (int k = 0; k < levels; k++) {
      const unsigned long long id = (unsigned long long)strata_line_cell(t->coef.n, x);

      x[t->axis] = k + 1;
      if (k < levels - 1)
        CELL(strata_piece_row)(t, t->axis, t->rows, line, x, next);
      else
        next[0] = CELL(strata_or_zero)(lower, q);
      strata_report(report, id, CELL(strata_check)(row, next[0], &ratio[q]), CELL(strata_row_signs)(row), row[1] != next[0]);
      for (int m = 0; m < 3; m++) row[m] = next[m];
    }
  }
}

/* A strip of lines. Of each level STRIP numbers: of the rows, if they are not shared, and c and d for the way back; d is first the right-hand side and
   last the solution. */
typedef struct {
  int         count, levels;
  const REAL *level; /* shared: four numbers of each level, see strata_piece_level() */
  REAL        area[STRIP], lateral[STRIP], shift;
  REAL       *row[3], *c, *d;
  REAL        state[STRATA_STATES][STRIP], carry[STRIP], next[STRIP]; /* what is carried from row to row */
} TYPED(PieceStrip);

static inline __attribute__((always_inline)) void TYPED(piece_down)(TYPED(PieceStrip) *s, const int shared, const int transpose, const int singular)
{
  const int  count = s->count, levels = s->levels;
  const REAL shift = s->shift;
  REAL      *ratio = s->state[STRATA_STATE_RATIO], *pivot = s->state[STRATA_STATE_PIVOT], *factor = s->state[STRATA_STATE_FACTOR], *carry = s->carry;

  for (int k = 0; k < levels; k++) {
    const ptrdiff_t at = k * (ptrdiff_t)STRIP;
    const REAL     *lower = s->row[0] + at, *upper = s->row[1] + at, *excess = s->row[2] + at, *area = s->area, *lateral = s->lateral;
    const REAL     *l = shared ? s->level + 4 * (ptrdiff_t)k : NULL,
               level[4] = {shared ? l[0] : 0, shared ? l[1] : 0, shared ? l[2] : 0, shared ? l[3] : 0};
    REAL *c = s->c + at, *d = s->d + at, *cbefore = k ? c - STRIP : c;

#pragma GCC ivdep
    for (int w = 0; w < count; w++) {
      REAL row[3] = {0, 0, 0};

      if (shared)
        CELL(strata_shared_row)(level, area[w], lateral[w], shift, row);
      else {
        row[0] = lower[w];
        row[1] = upper[w];
        row[2] = excess[w];
      }
      CELL(strata_forward)(transpose, singular, row, d[w], &ratio[w], &carry[w], &pivot[w], &factor[w], &cbefore[w], &c[w], &d[w]);
    }
  }
}

/* One strip down, with what differs known to the compiler. To look for singular runs where there are none changes nothing. */
STRATA_CLONES void TYPED(strata_piece_down)(TYPED(PieceStrip) *s, int shared, int transpose);
STRATA_CLONES void TYPED(strata_piece_down)(TYPED(PieceStrip) *s, int shared, int transpose)
{
  if (shared && transpose)
    TYPED(piece_down)(s, 1, 1, 1);
  else if (shared)
    TYPED(piece_down)(s, 1, 0, 1);
  else if (transpose)
    TYPED(piece_down)(s, 0, 1, 1);
  else
    TYPED(piece_down)(s, 0, 0, 1);
}

/* And back */
STRATA_CLONES void TYPED(strata_piece_back)(TYPED(PieceStrip) *s);
STRATA_CLONES void TYPED(strata_piece_back)(TYPED(PieceStrip) *s)
{
  const int count = s->count;
  REAL     *next = s->next;

  for (int k = s->levels - 1; k >= 0; k--) {
    const REAL *c = s->c + k * (ptrdiff_t)STRIP;
    REAL       *d = s->d + k * (ptrdiff_t)STRIP;

#pragma GCC ivdep
    for (int w = 0; w < count; w++) d[w] = next[w] = CELL(strata_backward)(c[w], d[w], next[w]);
  }
}

/* c and d of all lines; on the host of one strip, with its rows and the numbers of levels */
size_t TYPED(StrataPieceWork)(const TYPED(StrataLines) *t, ptrdiff_t count, int nv, int device)
{
  return sizeof(REAL) * t->coef.n[t->axis] * (device ? 2 * (size_t)count * nv : 5 * STRIP + 4);
}

/* The rows of the lines q, q + 1, ... of a strip */
static void TYPED(piece_rows)(const TYPED(StrataLines) *t, ptrdiff_t q, TYPED(PieceStrip) *s)
{
  for (int w = 0; w < s->count; w++) {
    REAL line[2], row[3];
    int  x[3];

    strata_line_start(t->coef.n, t->axis, q + w, x);
    if (t->rows == STRATA_ROWS_SHARED) {
      CELL(strata_shared_line)(t, t->axis, x, line);
      s->area[w] = line[0];
      s->lateral[w] = line[1];
      continue;
    }
    for (int k = 0; k < s->levels; k++) {
      x[t->axis] = k;
      CELL(strata_line_row)(t, t->axis, t->rows, NULL, x, row);
      for (int m = 0; m < 3; m++) s->row[m][k * (ptrdiff_t)STRIP + w] = row[m];
    }
  }
}

void TYPED(StrataPieceHost)(const TYPED(StrataLines) *t, int transpose, const TYPED(StrataEnds) *ends, ptrdiff_t from, ptrdiff_t to, int nv,
                            const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z, ptrdiff_t ldz, void *work)
{
  const int         levels = t->coef.n[t->axis];
  const ptrdiff_t   lines = to - from, stride = strata_line_stride(t->coef.n, t->axis), size = levels * (ptrdiff_t)STRIP;
  REAL             *level = (REAL *)work + 5 * size;
  ptrdiff_t         id[STRIP];
  TYPED(PieceStrip) s;

  s.levels = levels;
  s.level = level;
  s.shift = t->coef.shift;
  s.c = (REAL *)work;
  s.d = s.c + size;
  for (int m = 0; m < 3; m++) s.row[m] = s.c + (2 + m) * size;
  for (int k = 0; k < levels && t->rows == STRATA_ROWS_SHARED; k++) CELL(strata_piece_level)(t, t->axis, k, level + 4 * (ptrdiff_t)k);
  for (ptrdiff_t q = from; q < to; q += STRIP) {
    s.count = (int)(to - q < STRIP ? to - q : STRIP);
    TYPED(piece_rows)(t, q, &s);
    for (int w = 0; w < s.count; w++) {
      int x[3];

      strata_line_start(t->coef.n, t->axis, q + w, x);
      id[w] = strata_line_cell(t->coef.n, x);
    }
    for (int v = 0; v < nv; v++) {
      for (int w = 0; w < s.count; w++) {
        for (int n = 0; n < STRATA_STATES; n++) s.state[n][w] = CELL(strata_or_zero)(ends->before[n], q + w);
        s.carry[w] = CELL(strata_or_zero)(ends->carry, v * lines + q + w - from);
        s.next[w] = CELL(strata_or_zero)(ends->after, v * lines + q + w - from);
      }
      for (int k = 0; k < levels; k++)
        for (int w = 0; w < s.count; w++) s.d[k * (ptrdiff_t)STRIP + w] = r ? r[v * ldr + id[w] + k * stride] : 0;
      TYPED(strata_piece_down)(&s, t->rows == STRATA_ROWS_SHARED, transpose);
      for (int w = 0; w < s.count && transpose && levels; w++)
        s.c[size - STRIP + w] = CELL(strata_or_zero)(ends->lower, q + w) * s.state[STRATA_STATE_PIVOT][w];
      TYPED(strata_piece_back)(&s);
      for (int k = 0; k < levels && z; k++)
        for (int w = 0; w < s.count; w++) {
          const ptrdiff_t at = v * ldz + id[w] + k * stride;
          const REAL      value = s.d[k * (ptrdiff_t)STRIP + w];

          z[at] = add ? add[at] + value : value;
        }
      for (int w = 0; w < s.count; w++) {
        for (int n = 0; n < STRATA_STATES; n++)
          if (ends->end[n]) ends->end[n][q + w] = s.state[n][w];
        if (ends->last) ends->last[v * lines + q + w - from] = s.carry[w];
        if (ends->first) ends->first[v * lines + q + w - from] = s.next[w];
      }
    }
  }
}

void TYPED(StrataPieceRingHost)(const TYPED(StrataLines) *t, int level, const REAL *column, const REAL *number, int nv, const REAL *y, ptrdiff_t ldy,
                                const REAL *add, REAL *z, ptrdiff_t ldz)
{
  const int       levels = t->coef.n[t->axis];
  const ptrdiff_t lines = strata_line_count(t->coef.n, t->axis), stride = strata_line_stride(t->coef.n, t->axis);

  for (int v = 0; v < nv; v++)
    for (ptrdiff_t q = 0; q < lines; q++) {
      const REAL last = number[v * lines + q];
      int        x[3];

      strata_line_start(t->coef.n, t->axis, q, x);
      for (int k = 0; k < levels; k++) {
        const ptrdiff_t id = strata_line_cell(t->coef.n, x) + k * stride;
        const REAL      value = k == level ? last : FMA(-column[id], last, y[v * ldy + id]);

        z[v * ldz + id] = add ? add[v * ldz + id] + value : value;
      }
    }
}
