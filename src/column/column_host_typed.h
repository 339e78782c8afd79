/* Included by column_host.c for each precision */

/* A strip of lines. Arrays of cells are given from the first cell on, with the distance between levels; neighbouring lines are neighbours in
   them. c and d: `width` numbers of each level, left between the two passes; c is zero in the last level if the transpose is solved. */
typedef struct {
  int         count, levels, width, symmetric; /* symmetric: upper is lower, one level on */
  REAL        scale, shift;
  const REAL *level;                       /* shared: four numbers of each level, see strata_shared_level() */
  REAL        area[STRIP], lateral[STRIP]; /* shared, see strata_shared_line() */
  const REAL *lower, *upper, *excess;      /* otherwise */
  ptrdiff_t   step;                        /* of these */
  const REAL *r, *add;
  REAL       *z, *c, *d;
  ptrdiff_t   stepr, stepz;
} TYPED(Strip);

static const REAL TYPED(strata_no_legs)[STRIP];

/* The way down */
static inline __attribute__((always_inline)) void TYPED(strip_down)(const TYPED(Strip) *s, const int shared, const int transpose, const int singular)
{
  const int  count = s->count, levels = s->levels;
  const REAL scale = s->scale, shift = s->shift;
  REAL       ratio[STRIP] = {0}, carry[STRIP] = {0}, pivot[STRIP] = {0}, factor[STRIP] = {0}; /* whole arrays: a loop would call memset() */

  for (int k = 0; k < levels; k++) {
    const ptrdiff_t at = k * (ptrdiff_t)s->width, from = k * s->step;
    const REAL     *r = s->r + k * s->stepr, *level = shared ? s->level + 4 * (ptrdiff_t)k : NULL;
    const REAL     *lower = shared ? NULL : s->lower + from, *excess = shared ? NULL : s->excess + from, *upper = shared ? NULL : s->upper + from;
    const REAL      numbers[4] = {shared ? level[0] : 0, shared ? level[1] : 0, shared ? level[2] : 0, shared ? level[3] : 0};
    REAL           *c = s->c + at, *d = s->d + at, *cbefore = k ? c - s->width : c;

    if (!shared && s->symmetric && k == levels - 1) upper = TYPED(strata_no_legs);
    if (k + AHEAD < levels)
      for (int w = 0; w < count; w += LINE / (int)sizeof(REAL)) __builtin_prefetch(r + AHEAD * s->stepr + w);
#pragma GCC ivdep
    for (int w = 0; w < count; w++) {
      REAL row[3];

      if (shared)
        CELL(strata_shared_row)(numbers, s->area[w], s->lateral[w], shift, row);
      else
        CELL(strata_array_row)(scale, shift, lower[w], upper[w], excess[w], row);
      CELL(strata_forward)(transpose, singular, row, r[w], &ratio[w], &carry[w], &pivot[w], &factor[w], &cbefore[w], &c[w], &d[w]);
    }
  }
}

/* The way back */
static inline __attribute__((always_inline)) void TYPED(strip_back)(const TYPED(Strip) *s)
{
  const int count = s->count;
  REAL      next[STRIP] = {0};

  for (int k = s->levels - 1; k >= 0; k--) {
    const REAL *c = s->c + k * (ptrdiff_t)s->width, *d = s->d + k * (ptrdiff_t)s->width, *add = s->add ? s->add + k * s->stepz : NULL;
    REAL       *z = s->z + k * s->stepz;

    if (k >= AHEAD)
      for (int w = 0; w < count; w += LINE / (int)sizeof(REAL)) __builtin_prefetch(z - AHEAD * s->stepz + w, 1);
    if (add)
#pragma GCC ivdep
      for (int w = 0; w < count; w++) {
        next[w] = CELL(strata_backward)(c[w], d[w], next[w]);
        z[w] = add[w] + next[w];
      }
    else
#pragma GCC ivdep
      for (int w = 0; w < count; w++) z[w] = next[w] = CELL(strata_backward)(c[w], d[w], next[w]);
  }
}

/* One strip, with what differs known to the compiler. To look for singular runs where there are none changes nothing. */
STRATA_CLONES void TYPED(strata_solve_strip)(const TYPED(Strip) *s, int shared, int transpose, int singular);
STRATA_CLONES void TYPED(strata_solve_strip)(const TYPED(Strip) *s, int shared, int transpose, int singular)
{
  if (shared && transpose)
    TYPED(strip_down)(s, 1, 1, 1);
  else if (shared && singular)
    TYPED(strip_down)(s, 1, 0, 1);
  else if (shared)
    TYPED(strip_down)(s, 1, 0, 0);
  else if (transpose)
    TYPED(strip_down)(s, 0, 1, 1);
  else if (singular)
    TYPED(strip_down)(s, 0, 0, 1);
  else
    TYPED(strip_down)(s, 0, 0, 0);
  TYPED(strip_back)(s);
}

/* count lines along x, given from the first cell on, to `width` numbers a level, and back */
STRATA_CLONES void TYPED(strata_turn)(int count, int levels, int width, const REAL *from, REAL *to);
STRATA_CLONES void TYPED(strata_turn)(int count, int levels, int width, const REAL *from, REAL *to)
{
  for (int w = 0; w < count; w += TURN, from += TURN * (ptrdiff_t)levels, to += TURN) {
    const int few = count - w < TURN ? count - w : TURN;

    if (few == TURN)
      for (int k = 0; k < levels; k++)
#pragma GCC ivdep
        for (int q = 0; q < TURN; q++) to[k * width + q] = from[q * (ptrdiff_t)levels + k];
    else
      for (int k = 0; k < levels; k++)
        for (int q = 0; q < few; q++) to[k * width + q] = from[q * (ptrdiff_t)levels + k];
  }
}

STRATA_CLONES void TYPED(strata_turn_back)(int count, int levels, int width, const REAL *from, const REAL *add, REAL *to);
STRATA_CLONES void TYPED(strata_turn_back)(int count, int levels, int width, const REAL *from, const REAL *add, REAL *to)
{
  for (int w = 0; w < count; w += TURN, to += TURN * (ptrdiff_t)levels, from += TURN) {
    const int few = count - w < TURN ? count - w : TURN;

    if (few == TURN && !add)
      for (int k = 0; k < levels; k++)
#pragma GCC ivdep
        for (int q = 0; q < TURN; q++) to[q * (ptrdiff_t)levels + k] = from[k * width + q];
    else
      for (int k = 0; k < levels; k++)
        for (int q = 0; q < few; q++) {
          const ptrdiff_t id = q * (ptrdiff_t)levels + k;

          to[id] = add ? add[id] + from[k * width + q] : from[k * width + q];
        }
    if (add) add += TURN * (ptrdiff_t)levels;
  }
}

/* Prepares the rows of the lines q, q + 1, ... of a strip. tile: space for three arrays */
static void TYPED(strip_rows)(const TYPED(StrataLines) *t, ptrdiff_t q, TYPED(Strip) *s, REAL *tile)
{
  const int      *n = t->coef.n;
  const ptrdiff_t size = (ptrdiff_t)s->levels * s->width;
  int             x[3];

  if (t->rows == STRATA_ROWS_SHARED) {
    for (int w = 0; w < s->count; w++) {
      REAL line[2];

      strata_line_start(n, t->axis, q + w, x);
      CELL(strata_shared_line)(t, t->axis, x, line);
      s->area[w] = line[0];
      s->lateral[w] = line[1];
    }
  } else if (t->rows == STRATA_ROWS_CELLS) {
    for (int w = 0; w < s->count; w++) {
      strata_line_start(n, t->axis, q + w, x);
      for (int k = 0; k < s->levels; k++) {
        REAL row[3];

        x[t->axis] = k;
        CELL(strata_cell_row)(t, t->axis, x, row);
        for (int m = 0; m < 3; m++) tile[m * size + k * s->width + w] = row[m];
      }
    }
  } else {
    ptrdiff_t id;

    strata_line_start(n, t->axis, q, x);
    id = strata_line_cell(n, x);
    if (t->axis == 0) {
      TYPED(strata_turn)(s->count, s->levels, s->width, t->lower + id, tile);
      if (t->upper) TYPED(strata_turn)(s->count, s->levels, s->width, t->upper + id, tile + size);
      TYPED(strata_turn)(s->count, s->levels, s->width, t->excess + id, tile + 2 * size);
    } else {
      s->lower = t->lower + id;
      s->upper = t->upper ? t->upper + id : s->lower + strata_line_stride(n, t->axis);
      s->excess = t->excess + id;
      s->step = strata_line_stride(n, t->axis);
    }
  }
}

static int TYPED(needs_tile)(const TYPED(StrataLines) *t)
{
  return t->rows == STRATA_ROWS_CELLS || (t->rows == STRATA_ROWS_ARRAYS && t->axis == 0);
}

size_t TYPED(StrataThomasWorkHost)(const TYPED(StrataLines) *t)
{
  return sizeof(REAL) * t->coef.n[t->axis] * (strip_width(t->coef.n[t->axis]) * (TYPED(needs_tile)(t) ? 5 : 2) + 4);
}

void TYPED(StrataThomasHost)(const TYPED(StrataLines) *t, int transpose, int nv, const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z,
                             ptrdiff_t ldz, void *work)
{
  const int      *n = t->coef.n, levels = n[t->axis], width = strip_width(levels);
  const ptrdiff_t lines = strata_line_count(n, t->axis), stride = strata_line_stride(n, t->axis), size = (ptrdiff_t)levels * width;
  const ptrdiff_t group = t->axis == 1 ? n[0] : lines; /* lines whose first cells are neighbours; of those along x, whose lines are */
  REAL           *c = (REAL *)work, *d = c + size, *level = d + size, *tile = level + 4 * (ptrdiff_t)levels;
  TYPED(Strip)    s;

  s.symmetric = t->rows == STRATA_ROWS_ARRAYS && !t->upper;
  s.levels = levels;
  s.width = width;
  s.scale = t->rows == STRATA_ROWS_CELLS ? 1 : t->coef.scale;
  s.shift = t->rows == STRATA_ROWS_CELLS ? 0 : t->coef.shift;
  s.level = level;
  s.c = c;
  s.d = d;
  s.lower = tile;
  s.upper = s.symmetric ? tile + width : tile + size;
  s.excess = tile + 2 * size;
  s.step = width;
  if (t->rows == STRATA_ROWS_SHARED)
    for (int k = 0; k < levels; k++) CELL(strata_shared_level)(t, t->axis, k, level + 4 * (ptrdiff_t)k);
  for (ptrdiff_t q = 0; q < lines; q += s.count) {
    const ptrdiff_t left = group - q % group;
    ptrdiff_t       id;
    int             x[3];

    s.count = (int)(left < width ? left : width);
    TYPED(strip_rows)(t, q, &s, tile);
    strata_line_start(n, t->axis, q, x);
    id = strata_line_cell(n, x);
    for (int v = 0; v < nv; v++) {
      const REAL *ra = r + v * ldr + id, *adda = add ? add + v * ldz + id : NULL;
      REAL       *za = z + v * ldz + id;

      if (transpose) memset(c + size - width, 0, width * sizeof(REAL));
      s.r = t->axis ? ra : d;
      s.add = t->axis ? adda : NULL;
      s.z = t->axis ? za : d;
      s.stepr = s.stepz = t->axis ? stride : width;
      if (t->axis == 0) TYPED(strata_turn)(s.count, levels, width, ra, d);
      TYPED(strata_solve_strip)(&s, t->rows == STRATA_ROWS_SHARED, transpose, t->singular);
      if (t->axis == 0) TYPED(strata_turn_back)(s.count, levels, width, d, adda, za);
    }
  }
}

/* Lines that are checked together: independent, so that the processor works on several at once */
static void TYPED(check_strip)(const TYPED(StrataLines) *t, int rows, ptrdiff_t q, int count, StrataLinesReport *report)
{
  const int axis = t->axis, levels = t->coef.n[axis];
  REAL      line[STRIP][2], row[STRIP][3], ratio[STRIP];
  int       at[STRIP][3];

  for (int w = 0; w < count; w++) {
    strata_line_start(t->coef.n, axis, q + w, at[w]);
    if (rows == STRATA_ROWS_SHARED) CELL(strata_shared_line)(t, axis, at[w], line[w]);
    CELL(strata_line_row)(t, axis, rows, line[w], at[w], row[w]);
    ratio[w] = 0;
  }
  for (int k = 0; k < levels; k++)
    for (int w = 0; w < count; w++) {
      const ptrdiff_t id = strata_line_cell(t->coef.n, at[w]);
      REAL            next[3] = {0, 0, 0};

      at[w][axis]++;
      if (k < levels - 1) CELL(strata_line_row)(t, axis, rows, line[w], at[w], next);
      strata_report(report, (unsigned long long)id, CELL(strata_check)(row[w], next[0], &ratio[w]), CELL(strata_row_signs)(row[w]),
                    row[w][1] != next[0]);
      for (int m = 0; m < 3; m++) row[w][m] = next[m];
    }
}

void TYPED(StrataLinesCheckHost)(const TYPED(StrataLines) *t, StrataLinesReport *report)
{
  const ptrdiff_t lines = strata_line_count(t->coef.n, t->axis);

  for (ptrdiff_t q = 0; q < lines; q += STRIP) {
    const int count = (int)(lines - q < STRIP ? lines - q : STRIP);

    if (t->rows == STRATA_ROWS_SHARED)
      TYPED(check_strip)(t, STRATA_ROWS_SHARED, q, count, report);
    else if (t->rows == STRATA_ROWS_ARRAYS)
      TYPED(check_strip)(t, STRATA_ROWS_ARRAYS, q, count, report);
    else
      TYPED(check_strip)(t, STRATA_ROWS_CELLS, q, count, report);
  }
}
