/* Included by column_host.c for each precision */

/* A strip of lines. Arrays of cells are given from the first cell on, with the distance between levels; neighbouring lines are neighbours in
   them. c and d: `width` numbers of each level, left between the two passes; c is zero in the last level if the transpose is solved. */
typedef struct {
  REAL        area[STRIP] __attribute__((aligned(LINE))), lateral[STRIP]; /* shared, see strata_shared_line() */
  int         count, levels, width, symmetric;                            /* symmetric: upper is lower, one level on */
  REAL        scale, shift;
  const REAL *level;                         /* shared: four numbers of each level, see strata_shared_level() */
  const REAL *factors[STRIP / TYPED(GROUP)]; /* shared, but for the transpose: of each group of lines, see Factors; they take the place of c */
  const REAL *lower, *upper, *excess;        /* otherwise */
  ptrdiff_t   step;                          /* of these */
  const REAL *r, *add, *fetch;               /* fetch: numbers that are needed soon, and of how many levels, with which distance */
  int         fetches;
  ptrdiff_t   stepfetch;
  REAL       *z, *c, *d;
  ptrdiff_t   stepr, stepz;
  int         past; /* is z written past the cache? add is NULL then */
} TYPED(Strip);

/* Factors of groups of neighbouring lines with shared rows: of each level 1 / den of the lines of a group, then their c. Groups with the same numbers
   share them: on a grid of equal cells there are few that differ. */
typedef struct {
  int         slots, last, strip, found; /* last: the slot filled last; strip: the number of strips so far; found: of groups that had factors */
  int         used[SLOTS];               /* by which strip last */
  REAL        area[SLOTS][TYPED(GROUP)], lateral[SLOTS][TYPED(GROUP)];
  REAL       *factor;
  int         levels, singular;
  REAL        shift;
  const REAL *level; /* as in a strip */
} TYPED(Factors);

static const REAL TYPED(strata_no_legs)[STRIP];

static inline REAL *TYPED(slot_factors)(const TYPED(Factors) *f, int slot)
{
  return f->factor + slot * (ptrdiff_t)f->levels * (2 * TYPED(GROUP));
}

STRATA_CLONES void TYPED(strata_factor_groups)(const TYPED(Factors) *f, int count, const int slot[]);
STRATA_CLONES void TYPED(strata_factor_groups)(const TYPED(Factors) *f, int count, const int slot[])
{
  const int  levels = f->levels;
  const REAL shift = f->shift;
  REAL       ratio[STRIP] = {0};

  for (int k = 0; k < levels; k++) {
    const REAL *level = f->level + 4 * (ptrdiff_t)k, numbers[4] = {level[0], level[1], level[2], level[3]};

    for (int g = 0; g < count; g++) {
      const REAL *area = f->area[slot[g]], *lateral = f->lateral[slot[g]];
      REAL       *inverse = TYPED(slot_factors)(f, slot[g]) + k * (ptrdiff_t)(2 * TYPED(GROUP)), *c = inverse + TYPED(GROUP);
      REAL       *before = ratio + g * TYPED(GROUP);

#pragma GCC ivdep
#pragma GCC unroll 1
      for (int w = 0; w < TYPED(GROUP); w++) {
        REAL row[3];

        CELL(strata_shared_row)(numbers, area[w], lateral[w], shift, row);
        inverse[w] = CELL(strata_factor)(row, 1, &before[w]);
        c[w] = row[1] * inverse[w];
      }
    }
  }
}

/* Gives each group of a strip its factors */
static void TYPED(strip_factors)(TYPED(Factors) *f, TYPED(Strip) *s)
{
  const size_t bytes = sizeof(f->area[0]);
  int          missing[STRIP / TYPED(GROUP)], count = 0, m = 0;

  f->strip++;
  for (int w = s->count; w % TYPED(GROUP); w++) { /* the last group may have fewer lines */
    s->area[w] = s->area[w - 1];
    s->lateral[w] = s->lateral[w - 1];
  }
  for (int w = 0; w < s->count; w += TYPED(GROUP)) {
    int tries = 0;

    for (; tries < f->slots; tries++, m = (m + 1) % f->slots)
      if (f->used[m] && !memcmp(f->area[m], s->area + w, bytes) && !memcmp(f->lateral[m], s->lateral + w, bytes)) break;
    if (tries == f->slots) {
      do f->last = (f->last + 1) % f->slots;
      while (f->used[f->last] == f->strip);
      m = missing[count++] = f->last;
      memcpy(f->area[m], s->area + w, bytes);
      memcpy(f->lateral[m], s->lateral + w, bytes);
    } else
      f->found++;
    f->used[m] = f->strip;
    s->factors[w / TYPED(GROUP)] = TYPED(slot_factors)(f, m);
  }
  if (count) TYPED(strata_factor_groups)(f, count, missing);
}

/* Copies numbers that are not read again soon. Parts of cache lines are written as usual. */
static inline __attribute__((always_inline)) void TYPED(write_past)(ptrdiff_t count, const REAL *from, REAL *to)
{
  const ptrdiff_t whole = LINE / sizeof(REAL), head = (ptrdiff_t)((LINE - (uintptr_t)to % LINE) % LINE / sizeof(REAL));
  ptrdiff_t       i = 0;

  for (; i < head && i < count; i++) ((volatile REAL *)to)[i] = from[i]; /* volatile: or the loop would call memcpy() */
  for (; i + whole <= count; i += whole) write_line_past((const char *)(from + i), (char *)(to + i));
  for (; i < count; i++) ((volatile REAL *)to)[i] = from[i];
}

/* Numbers of the lines of a strip that are needed soon */
static inline __attribute__((always_inline)) void TYPED(fetch_level)(const TYPED(Strip) *s, const REAL *from)
{
  for (int w = 0; w < s->count; w += LINE / (int)sizeof(REAL)) __builtin_prefetch(from + w);
}

/* The way down. The value is not 0 if a pivot was no good for reciprocal(), which is used if `quick`. */
static inline __attribute__((always_inline)) int TYPED(strip_down)(const TYPED(Strip) *s, const int shared, const int transpose, const int singular,
                                                                   const int quick)
{
  const int  count = s->count, levels = s->levels;
  const REAL scale = s->scale, shift = s->shift;
  REAL       ratio[STRIP] = {0}, carry[STRIP] = {0}, pivot[STRIP] = {0}, factor[STRIP] = {0}, odd[STRIP] = {0},
       odds = 0; /* whole arrays: a loop would call memset() */

  for (int k = 0; k < levels; k++) {
    const ptrdiff_t at = k * (ptrdiff_t)s->width, from = k * s->step;
    const REAL     *r = s->r + k * s->stepr, *level = shared ? s->level + 4 * (ptrdiff_t)k : NULL;
    const REAL     *lower = shared ? NULL : s->lower + from, *excess = shared ? NULL : s->excess + from, *upper = shared ? NULL : s->upper + from;
    const REAL      numbers[4] = {shared ? level[0] : 0, shared ? level[1] : 0, shared ? level[2] : 0, shared ? level[3] : 0};
    REAL           *c = s->c + at, *d = s->d + at, *cbefore = k ? c - s->width : c;

    if (!shared && s->symmetric && k == levels - 1) upper = TYPED(strata_no_legs);
    if (k < s->fetches) TYPED(fetch_level)(s, s->fetch + k * s->stepfetch);
    if (!shared && k + AHEAD < levels) {
      TYPED(fetch_level)(s, lower + AHEAD * s->step);
      TYPED(fetch_level)(s, excess + AHEAD * s->step);
      if (!s->symmetric) TYPED(fetch_level)(s, upper + AHEAD * s->step);
    }
#pragma GCC ivdep
    for (int w = 0; w < count; w++) {
      REAL row[3];

      if (shared)
        CELL(strata_shared_row)(numbers, s->area[w], s->lateral[w], shift, row);
      else
        CELL(strata_array_row)(scale, shift, lower[w], upper[w], excess[w], row);
      if (quick) {
        const REAL E = CELL(strata_factor_left)(row, ratio[w]);
        const REAL inverse = CELL(strata_factor_take)(row, singular, E, TYPED(reciprocal)(E - row[1], &odd[w]), &ratio[w]);

        d[w] = carry[w] = CELL(strata_eliminate)(row[0], inverse, r[w], carry[w]);
        c[w] = row[1] * inverse;
      } else
        CELL(strata_forward)(transpose, singular, row, r[w], &ratio[w], &carry[w], &pivot[w], &factor[w], &cbefore[w], &c[w], &d[w]);
    }
  }
  for (int w = 0; w < count && quick; w++) odds += odd[w];
  return odds != 0;
}

/* One level of some lines on the way back. add, z: may be NULL */
static inline
    __attribute__((always_inline)) void TYPED(lines_back)(const int lines, const REAL *c, const REAL *d, REAL *next, const REAL *add, REAL *z)
{
#pragma GCC ivdep
#pragma GCC unroll 1
  for (int w = 0; w < lines; w++) {
    next[w] = CELL(strata_backward)(c[w], d[w], next[w]);
    if (z) z[w] = add ? add[w] + next[w] : next[w];
  }
}

/* One level of a group of lines whose factors are known, on the way down and on the way back */
static inline __attribute__((always_inline)) void TYPED(group_down)(const TYPED(Strip) *s, int k, int g, const int lines, REAL *carry)
{
  const ptrdiff_t at = g * TYPED(GROUP);
  const REAL     *inverse = s->factors[g] + k * (ptrdiff_t)(2 * TYPED(GROUP)), *area = s->area + at, *r = s->r + k * s->stepr + at;
  const REAL      lower = s->level[4 * (ptrdiff_t)k];
  REAL           *d = s->d + k * (ptrdiff_t)s->width + at;

  carry += at;
#pragma GCC ivdep
#pragma GCC unroll 1
  for (int w = 0; w < lines; w++) d[w] = carry[w] = CELL(strata_eliminate)(area[w] * lower, inverse[w], r[w], carry[w]);
}

static inline
    __attribute__((always_inline)) void TYPED(group_back)(const TYPED(Strip) *s, int k, int g, const int lines, REAL *next, const REAL *add, REAL *z)
{
  const ptrdiff_t at = g * TYPED(GROUP);
  const REAL     *c = s->factors[g] + k * (ptrdiff_t)(2 * TYPED(GROUP))+TYPED(GROUP);

  TYPED(lines_back)(lines, c, s->d + k * (ptrdiff_t)s->width + at, next + at, add ? add + at : NULL, z ? z + at : NULL);
}

/* The way down where factors are known */
static inline __attribute__((always_inline)) void TYPED(strip_down_known)(const TYPED(Strip) *s)
{
  const int count = s->count, levels = s->levels, whole = count / TYPED(GROUP), few = count % TYPED(GROUP);
  REAL      carry[STRIP] __attribute__((aligned(LINE))) = {0};

  for (int k = 0; k < levels; k++) {
    if (k < s->fetches) TYPED(fetch_level)(s, s->fetch + k * s->stepfetch);
    for (int g = 0; g < whole; g++) TYPED(group_down)(s, k, g, TYPED(GROUP), carry);
    if (few) TYPED(group_down)(s, k, whole, few, carry);
  }
}

/* One level of a strip on the way back */
static inline
    __attribute__((always_inline)) void TYPED(level_back)(const TYPED(Strip) *s, const int known, int k, REAL *next, const REAL *add, REAL *z)
{
  const int       count = s->count, whole = count / TYPED(GROUP);
  const ptrdiff_t at = k * (ptrdiff_t)s->width;

  if (known) {
    for (int g = 0; g < whole; g++) TYPED(group_back)(s, k, g, TYPED(GROUP), next, add, z);
    if (count % TYPED(GROUP)) TYPED(group_back)(s, k, whole, count % TYPED(GROUP), next, add, z);
  } else
    TYPED(lines_back)(count, s->c + at, s->d + at, next, add, z);
}

static inline __attribute__((always_inline)) void TYPED(strip_back)(const TYPED(Strip) *s, const int known)
{
  REAL next[STRIP] __attribute__((aligned(LINE))) = {0};

  for (int k = s->levels - 1; k >= 0; k--) {
    REAL *z = s->z + k * s->stepz;

    if (s->past) {
      TYPED(level_back)(s, known, k, next, NULL, NULL);
      TYPED(write_past)(s->count, next, z);
      continue;
    }
    if (k >= AHEAD)
      for (int w = 0; w < s->count; w += LINE / (int)sizeof(REAL)) __builtin_prefetch(z - AHEAD * s->stepz + w, 1);
    if (s->add)
      TYPED(level_back)(s, known, k, next, s->add + k * s->stepz, z);
    else
      TYPED(level_back)(s, known, k, next, NULL, z);
  }
}

/* One strip, with what differs known to the compiler. known: are there factors? quick: see reciprocals(). To look for singular runs where there are
   none changes nothing. */
STRATA_CLONES void TYPED(strata_solve_strip)(const TYPED(Strip) *s, int shared, int known, int transpose, int singular, int quick);
STRATA_CLONES void TYPED(strata_solve_strip)(const TYPED(Strip) *s, int shared, int known, int transpose, int singular, int quick)
{
  if (known) {
    TYPED(strip_down_known)(s);
    TYPED(strip_back)(s, 1);
    return;
  }
  if (quick && !TYPED(strip_down)(s, 1, 0, 0, 1))
    ;
  else if (shared && transpose)
    (void)TYPED(strip_down)(s, 1, 1, 1, 0);
  else if (shared)
    (void)TYPED(strip_down)(s, 1, 0, 1, 0);
  else if (transpose)
    (void)TYPED(strip_down)(s, 0, 1, 1, 0);
  else if (singular)
    (void)TYPED(strip_down)(s, 0, 0, 1, 0);
  else
    (void)TYPED(strip_down)(s, 0, 0, 0, 0);
  TYPED(strip_back)(s, 0);
}

/* Blocks of TURN rows and TURN columns become columns and rows */
typedef REAL TYPED(Block) __attribute__((vector_size(TURN * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));

static inline __attribute__((always_inline)) void TYPED(turn_block)(const REAL *from, ptrdiff_t stepfrom, REAL *to, ptrdiff_t stepto)
{
  const TYPED(Block) a = *(const TYPED(Block) *)from, b = *(const TYPED(Block) *)(from + stepfrom);
  const TYPED(Block) c = *(const TYPED(Block) *)(from + 2 * stepfrom), d = *(const TYPED(Block) *)(from + 3 * stepfrom);
  const TYPED(Block) ab = PICK(a, b, 0, 4, 2, 6), AB = PICK(a, b, 1, 5, 3, 7), cd = PICK(c, d, 0, 4, 2, 6), CD = PICK(c, d, 1, 5, 3, 7);

  *(TYPED(Block) *)to = PICK(ab, cd, 0, 1, 4, 5);
  *(TYPED(Block) *)(to + stepto) = PICK(AB, CD, 0, 1, 4, 5);
  *(TYPED(Block) *)(to + 2 * stepto) = PICK(ab, cd, 2, 3, 6, 7);
  *(TYPED(Block) *)(to + 3 * stepto) = PICK(AB, CD, 2, 3, 6, 7);
}

STRATA_CLONES void TYPED(strata_turn)(int rows, int columns, ptrdiff_t stepfrom, const REAL *from, ptrdiff_t stepto, REAL *to);
STRATA_CLONES void TYPED(strata_turn)(int rows, int columns, ptrdiff_t stepfrom, const REAL *from, ptrdiff_t stepto, REAL *to)
{
  const int wholerows = rows - rows % TURN, wholecolumns = columns - columns % TURN;

  for (int i = 0; i < wholerows; i += TURN)
    for (int j = 0; j < wholecolumns; j += TURN) TYPED(turn_block)(from + i * stepfrom + j, stepfrom, to + j * stepto + i, stepto);
  for (int i = 0; i < rows; i++)
    for (int j = i < wholerows ? wholecolumns : 0; j < columns; j++) to[j * stepto + i] = from[i * stepfrom + j];
}

/* z = from past the cache, or z = add + from */
STRATA_CLONES void TYPED(strata_put)(ptrdiff_t cells, const REAL *from, const REAL *add, REAL *z);
STRATA_CLONES void TYPED(strata_put)(ptrdiff_t cells, const REAL *from, const REAL *add, REAL *z)
{
  if (!add)
    TYPED(write_past)(cells, from, z);
  else
#pragma GCC ivdep
    for (ptrdiff_t i = 0; i < cells; i++) z[i] = add[i] + from[i];
}

/* What strata_shared_line() finds for the lines q, q + 1, ..., for those inside the box all at once */
static void TYPED(strip_lines)(const TYPED(StrataLines) *t, ptrdiff_t q, int count, REAL *area, REAL *lateral)
{
  const TYPED(StrataCoef) *c = &t->coef;
  const int                h0 = t->axis == 0 ? 1 : 0, h1 = t->axis == 2 ? 1 : 2, width = c->n[h0];

  for (int few; count; q += few, count -= few, area += few, lateral += few) {
    const int at = (int)(q % width), row = (int)(q / width), from = at ? 0 : 1;
    int       to;

    few = count < width - at ? count : width - at;
    to = row == 0 || row == c->n[h1] - 1 ? 0 : few - (at + few == width);
    for (int w = from; w < to; w++)
      if (c->form == STRATA_TENSOR) {
        area[w] = c->area[q + w];
        lateral[w] = 0 + c->alpha[0][q + w] + c->alpha[1][q + w] + c->alpha[2][q + w] + c->alpha[3][q + w];
      } else {
        area[w] = 1;
        lateral[w] = 0 + c->leg[2 * h0] + c->leg[2 * h0 + 1] + c->leg[2 * h1] + c->leg[2 * h1 + 1];
      }
    for (int w = 0; w < few; w++)
      if (w < from || w >= to) {
        REAL line[2];
        int  x[3];

        strata_line_start(c->n, t->axis, q + w, x);
        CELL(strata_shared_line)(t, t->axis, x, line);
        area[w] = line[0];
        lateral[w] = line[1];
      }
  }
}

/* Prepares the rows of the lines q, q + 1, ... of a strip. tile: space for three arrays */
static void TYPED(strip_rows)(const TYPED(StrataLines) *t, ptrdiff_t q, TYPED(Strip) *s, REAL *tile)
{
  const int      *n = t->coef.n;
  const ptrdiff_t size = (ptrdiff_t)s->levels * s->width;
  int             x[3];

  if (t->rows == STRATA_ROWS_SHARED)
    TYPED(strip_lines)(t, q, s->count, s->area, s->lateral);
  else if (t->rows == STRATA_ROWS_CELLS) {
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
      TYPED(strata_turn)(s->count, s->levels, s->levels, t->lower + id, s->width, tile);
      if (t->upper) TYPED(strata_turn)(s->count, s->levels, s->levels, t->upper + id, s->width, tile + size);
      TYPED(strata_turn)(s->count, s->levels, s->levels, t->excess + id, s->width, tile + 2 * size);
    } else {
      s->lower = t->lower + id;
      s->upper = t->upper ? t->upper + id : s->lower + strata_line_stride(n, t->axis);
      s->excess = t->excess + id;
      s->step = strata_line_stride(n, t->axis);
    }
  }
}

/* Space: for c, d, lines along x and rows that are not in arrays across lines, `width` numbers of each level; for numbers and factors of levels */
static ptrdiff_t TYPED(strip_work)(const TYPED(StrataLines) *t)
{
  const int tile = t->rows == STRATA_ROWS_CELLS || (t->rows == STRATA_ROWS_ARRAYS && t->axis == 0);

  return (ptrdiff_t)strip_width(t->axis, t->coef.n[t->axis]) * (2 + (t->axis == 0) + (tile ? 3 : 0));
}

size_t TYPED(StrataThomasWorkHost)(const TYPED(StrataLines) *t)
{
  const int levels = t->coef.n[t->axis], slots = t->rows == STRATA_ROWS_SHARED ? factor_slots(levels, TYPED(GROUP)) : 0;

  return sizeof(REAL) * levels * (TYPED(strip_work)(t) + 4 + (size_t)slots * 2 * TYPED(GROUP))+LINE;
}

void TYPED(StrataThomasHost)(const TYPED(StrataLines) *t, int transpose, int nv, const REAL *r, ptrdiff_t ldr, const REAL *add, REAL *z,
                             ptrdiff_t ldz, void *work)
{
  const int      *n = t->coef.n, levels = n[t->axis], width = strip_width(t->axis, levels), shared = t->rows == STRATA_ROWS_SHARED;
  const ptrdiff_t lines = strata_line_count(n, t->axis), stride = strata_line_stride(n, t->axis), size = (ptrdiff_t)levels * width;
  const ptrdiff_t group = t->axis == 1 ? n[0] : lines; /* lines whose first cells are neighbours; of those along x, whose lines are */
  const int       quick = shared && !transpose && !t->singular && reciprocals(sizeof(REAL));
  const int       past = !add && lines * levels * (ptrdiff_t)sizeof(REAL) >= PAST;
  REAL           *d = (REAL *)(((uintptr_t)work + LINE - 1) / LINE * LINE), *c = d + size, *turned = c + size, *tile = turned + (t->axis ? 0 : size);
  REAL           *level = d + levels * TYPED(strip_work)(t);
  TYPED(Factors)  f = {shared ? factor_slots(levels, TYPED(GROUP)) : 0};
  TYPED(Strip)    s;
  int             known = shared && !transpose;

  s.symmetric = t->rows == STRATA_ROWS_ARRAYS && !t->upper;
  s.levels = levels;
  s.width = width;
  s.scale = t->rows == STRATA_ROWS_CELLS ? 1 : t->coef.scale;
  s.shift = t->rows == STRATA_ROWS_CELLS ? 0 : t->coef.shift;
  s.level = f.level = level;
  s.c = c;
  s.d = d;
  s.lower = tile;
  s.upper = s.symmetric ? tile + width : tile + size;
  s.excess = tile + 2 * size;
  s.step = width;
  s.past = t->axis ? past : 0;
  f.factor = level + 4 * (ptrdiff_t)levels;
  f.levels = levels;
  f.shift = t->coef.shift;
  for (int k = 0; k < levels && shared; k++) CELL(strata_shared_level)(t, t->axis, k, level + 4 * (ptrdiff_t)k);
  for (ptrdiff_t q = 0; q < lines; q += s.count) {
    const ptrdiff_t left = group - q % group;
    ptrdiff_t       id;
    int             x[3];

    s.count = (int)(left < width ? left : width);
    if (s.past && q == 0 && group > FEW * width)
      s.count -= (int)((uintptr_t)(z + width) % LINE / sizeof(REAL)); /* the next ones begin with a cache line */
    TYPED(strip_rows)(t, q, &s, tile);
    if (known && f.strip >= FEW && !f.found) known = 0; /* all lines differ */
    if (known) TYPED(strip_factors)(&f, &s);
    strata_line_start(n, t->axis, q, x);
    id = strata_line_cell(n, x);
    for (int v = 0; v < nv; v++) {
      const REAL *ra = r + v * ldr + id, *adda = add ? add + v * ldz + id : NULL;
      REAL       *za = z + v * ldz + id;

      if (transpose) memset(c + size - width, 0, width * sizeof(REAL));
      s.r = t->axis ? ra : turned;
      s.add = t->axis ? adda : NULL;
      s.z = t->axis ? za : d;
      s.stepr = s.stepz = t->axis ? stride : width;
      s.fetch = t->axis ? ra + AHEAD * stride : q + s.count < lines ? ra + s.count * (ptrdiff_t)levels : ra;
      s.fetches = t->axis ? levels - AHEAD : levels;
      s.stepfetch = t->axis ? stride : s.count;
      if (t->axis == 0) TYPED(strata_turn)(s.count, levels, levels, ra, width, turned);
      TYPED(strata_solve_strip)(&s, shared, known, transpose, t->singular, quick);
      if (t->axis == 0) TYPED(strata_turn)(levels, s.count, width, d, levels, add || past ? turned : za);
      if (t->axis == 0 && (add || past)) TYPED(strata_put)((ptrdiff_t)s.count * levels, turned, adda, za);
    }
  }
  if (past) written_past();
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
