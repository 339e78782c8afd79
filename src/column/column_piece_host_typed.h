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

/* A strip of lines: their first cells, what is carried from row to row, and STRIP numbers c and d of each level for the way back */
typedef struct {
  int       count, at[STRIP][3];
  ptrdiff_t id[STRIP];
  REAL      line[STRIP][2], state[STRATA_STATES][STRIP], carry[STRIP], next[STRIP], *c, *d;
} TYPED(PieceStrip);

static inline __attribute__((always_inline)) void TYPED(piece_down)(const TYPED(StrataLines) *t, TYPED(PieceStrip) *s, const REAL *r, const int rows,
                                                                    const int transpose)
{
  const int       axis = t->axis, count = s->count, levels = t->coef.n[axis];
  const ptrdiff_t stride = strata_line_stride(t->coef.n, axis);
  REAL           *ratio = s->state[STRATA_STATE_RATIO], *pivot = s->state[STRATA_STATE_PIVOT], *factor = s->state[STRATA_STATE_FACTOR];

  for (int k = 0; k < levels; k++) {
    REAL *c = s->c + k * (ptrdiff_t)STRIP, *d = s->d + k * (ptrdiff_t)STRIP, *cbefore = k ? c - STRIP : c, level[4] = {0, 0, 0, 0};

    if (rows == STRATA_ROWS_SHARED) CELL(strata_piece_level)(t, axis, k, level);
#pragma GCC ivdep
    for (int w = 0; w < count; w++) {
      REAL row[3];

      if (rows == STRATA_ROWS_SHARED)
        CELL(strata_shared_row)(level, s->line[w][0], s->line[w][1], t->coef.shift, row);
      else {
        int x[3] = {s->at[w][0], s->at[w][1], s->at[w][2]};

        x[axis] = k;
        CELL(strata_line_row)(t, axis, rows, NULL, x, row);
      }
      CELL(strata_forward)
      (transpose, t->singular, row, r ? r[s->id[w] + k * stride] : 0, &ratio[w], &s->carry[w], &pivot[w], &factor[w], &cbefore[w], &c[w], &d[w]);
    }
  }
}

/* One strip down, with what differs known to the compiler */
STRATA_CLONES void TYPED(strata_piece_down)(const TYPED(StrataLines) *t, TYPED(PieceStrip) *s, const REAL *r, int transpose);
STRATA_CLONES void TYPED(strata_piece_down)(const TYPED(StrataLines) *t, TYPED(PieceStrip) *s, const REAL *r, int transpose)
{
  if (t->rows == STRATA_ROWS_SHARED && transpose)
    TYPED(piece_down)(t, s, r, STRATA_ROWS_SHARED, 1);
  else if (t->rows == STRATA_ROWS_SHARED)
    TYPED(piece_down)(t, s, r, STRATA_ROWS_SHARED, 0);
  else if (t->rows == STRATA_ROWS_ARRAYS && transpose)
    TYPED(piece_down)(t, s, r, STRATA_ROWS_ARRAYS, 1);
  else if (t->rows == STRATA_ROWS_ARRAYS)
    TYPED(piece_down)(t, s, r, STRATA_ROWS_ARRAYS, 0);
  else if (transpose)
    TYPED(piece_down)(t, s, r, STRATA_ROWS_CELLS, 1);
  else
    TYPED(piece_down)(t, s, r, STRATA_ROWS_CELLS, 0);
}

/* And back */
STRATA_CLONES void TYPED(strata_piece_back)(int levels, ptrdiff_t stride, TYPED(PieceStrip) *s, const REAL *add, REAL *z);
STRATA_CLONES void TYPED(strata_piece_back)(int levels, ptrdiff_t stride, TYPED(PieceStrip) *s, const REAL *add, REAL *z)
{
  for (int k = levels - 1; k >= 0; k--) {
    const REAL *c = s->c + k * (ptrdiff_t)STRIP, *d = s->d + k * (ptrdiff_t)STRIP;

#pragma GCC ivdep
    for (int w = 0; w < s->count; w++) s->next[w] = CELL(strata_backward)(c[w], d[w], s->next[w]);
    if (z)
#pragma GCC ivdep
      for (int w = 0; w < s->count; w++) {
        const ptrdiff_t id = s->id[w] + k * stride;

        z[id] = add ? add[id] + s->next[w] : s->next[w];
      }
  }
}

size_t TYPED(StrataPieceWork)(const TYPED(StrataLines) *t, ptrdiff_t count, int nv, int device)
{
  return 2 * sizeof(REAL) * t->coef.n[t->axis] * (device ? (size_t)count * nv : STRIP);
}

void TYPED(StrataPieceHost)(const TYPED(StrataLines) *t, int transpose, const TYPED(StrataEnds) *ends, ptrdiff_t from, ptrdiff_t to, int nv,
                            const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z, ptrdiff_t ldz, void *work)
{
  const int         levels = t->coef.n[t->axis];
  const ptrdiff_t   lines = to - from;
  TYPED(PieceStrip) s;

  s.c = (REAL *)work;
  s.d = s.c + levels * (ptrdiff_t)STRIP;
  for (int v = 0; v < nv; v++)
    for (ptrdiff_t q = from; q < to; q += STRIP) {
      s.count = (int)(to - q < STRIP ? to - q : STRIP);
      for (int w = 0; w < s.count; w++) {
        const ptrdiff_t m = q + w, vm = v * lines + m - from;

        strata_line_start(t->coef.n, t->axis, m, s.at[w]);
        s.id[w] = strata_line_cell(t->coef.n, s.at[w]);
        if (t->rows == STRATA_ROWS_SHARED) CELL(strata_shared_line)(t, t->axis, s.at[w], s.line[w]);
        for (int n = 0; n < STRATA_STATES; n++) s.state[n][w] = CELL(strata_or_zero)(ends->before[n], m);
        s.carry[w] = CELL(strata_or_zero)(ends->carry, vm);
        s.next[w] = CELL(strata_or_zero)(ends->after, vm);
      }
      TYPED(strata_piece_down)(t, &s, r ? r + v * ldr : NULL, transpose);
      if (transpose && levels)
        for (int w = 0; w < s.count; w++)
          s.c[(levels - 1) * (ptrdiff_t)STRIP + w] = CELL(strata_or_zero)(ends->lower, q + w) * s.state[STRATA_STATE_PIVOT][w];
      TYPED(strata_piece_back)(levels, strata_line_stride(t->coef.n, t->axis), &s, add ? add + v * ldz : NULL, z ? z + v * ldz : NULL);
      for (int w = 0; w < s.count; w++) {
        const ptrdiff_t m = q + w, vm = v * lines + m - from;

        for (int n = 0; n < STRATA_STATES; n++)
          if (ends->end[n]) ends->end[n][m] = s.state[n][w];
        if (ends->last) ends->last[vm] = s.carry[w];
        if (ends->first) ends->first[vm] = s.next[w];
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
