/* Included by operator_host.c for each precision */

/* Numbers in a vector of the processor, and in a line of its cache */
#define VECTOR (32 / (int)sizeof(REAL))
#define LINE   (64 / (int)sizeof(REAL))

static const REAL TYPED(strata_zeros)[COLUMNS];

/* Where cells with consecutive numbers find their data: their neighbours have consecutive numbers too. A piece are the cells from <= i < to. */
typedef struct {
  int                  from, to;
  const REAL          *u, *v[STRATA_LEGS], *leg[STRATA_LEGS], *cell; /* the cells, their neighbours; coefficients (faces and legwise) */
  const REAL          *area, *alpha[4], *level[4];                   /* tensor */
  const unsigned char *flags;
  const REAL          *add;
  REAL                *y;
  REAL                 scale, shift, masked, excess, legs[STRATA_LEGS]; /* copies, which no store to y can change */
} TYPED(Run);

/* Tensor form: reads area and alpha, or the level, of cell i. One of them is the same for a whole run. */
static inline __attribute__((always_inline)) void TYPED(column)(const TYPED(Run) *q, int i, REAL *area, REAL alpha[4])
{
  *area = q->area[i];
  for (int m = 0; m < 4; m++) alpha[m] = q->alpha[m][i];
}

static inline __attribute__((always_inline)) void TYPED(level)(const TYPED(Run) *q, int i, REAL level[4])
{
  for (int m = 0; m < 4; m++) level[m] = q->level[m][i];
}

/* Cell i of a run from its neighbours west and east and the leg between it and the latter, which may be others than the run has */
static inline __attribute__((always_inline)) REAL TYPED(value)(const TYPED(Run) *q, int form, int axis, int masked, int i, REAL west, REAL east,
                                                               REAL face, REAL area, const REAL alpha[4], const REAL level[4])
{
  const REAL w = q->u[i];
  REAL       v[STRATA_LEGS] = {west, east, q->v[2][i], q->v[3][i], q->v[4][i], q->v[5][i]}, r;

  if (masked)
    for (int l = 0; l < STRATA_LEGS; l++) v[l] = q->flags[i] >> l & 1 ? v[l] : w;
  if (form == STRATA_CONSTANT)
    r = CELL(strata_star)(q->excess, q->legs, w, v);
  else if (form == STRATA_TENSOR)
    r = CELL(strata_tensor)(axis, area, alpha, level, w, v);
  else {
    const REAL leg[STRATA_LEGS] = {q->leg[0][i], face, q->leg[2][i], q->leg[3][i], q->leg[4][i], q->leg[5][i]};

    r = CELL(strata_star)(q->cell[i], leg, w, v);
  }
  if (masked) r = q->flags[i] >> 6 & 1 ? q->masked * w : r;
  return CELL(strata_scaled)(q->scale, q->shift, r, w);
}

static inline __attribute__((always_inline)) void TYPED(piece)(const TYPED(Run) *q, int form, int axis, int masked, const REAL *add, REAL *y)
{
  REAL area = 0, alpha[4] = {0}, level[4] = {0};

  if (form == STRATA_TENSOR && axis == 0) TYPED(column)(q, 0, &area, alpha);
  if (form == STRATA_TENSOR && axis != 0) TYPED(level)(q, 0, level);
#pragma GCC ivdep
  for (int i = q->from; i < q->to; i++) {
    const REAL face = form == STRATA_LEGWISE ? q->leg[STRATA_EAST][i] : 0;
    REAL       r;

    if (form == STRATA_TENSOR && axis == 0) TYPED(level)(q, i, level);
    if (form == STRATA_TENSOR && axis != 0) TYPED(column)(q, i, &area, alpha);
    r = TYPED(value)(q, form, axis, masked, i, q->v[STRATA_WEST][i], q->v[STRATA_EAST][i], face, area, alpha, level);
    y[i] = add ? add[i] + r : r;
  }
}

/* With form, axis and mask known to the compiler */
static inline __attribute__((always_inline)) void TYPED(any_piece)(const TYPED(StrataCoef) *c, const TYPED(Run) *q)
{
#define PIECE(form, axis)                                                                                                                            \
  do {                                                                                                                                               \
    if (c->flags && q->add)                                                                                                                          \
      TYPED(piece)(q, form, axis, 1, q->add, q->y);                                                                                                  \
    else if (c->flags)                                                                                                                               \
      TYPED(piece)(q, form, axis, 1, NULL, q->y);                                                                                                    \
    else if (q->add)                                                                                                                                 \
      TYPED(piece)(q, form, axis, 0, q->add, q->y);                                                                                                  \
    else                                                                                                                                             \
      TYPED(piece)(q, form, axis, 0, NULL, q->y);                                                                                                    \
  } while (0)
  if (c->form == STRATA_CONSTANT)
    PIECE(STRATA_CONSTANT, 2);
  else if (c->form == STRATA_TENSOR && c->axis == 0)
    PIECE(STRATA_TENSOR, 0);
  else if (c->form == STRATA_TENSOR && c->axis == 1)
    PIECE(STRATA_TENSOR, 1);
  else if (c->form == STRATA_TENSOR)
    PIECE(STRATA_TENSOR, 2);
  else if (q->add) /* the mask is in the coefficients */
    TYPED(piece)(q, STRATA_LEGWISE, 2, 0, q->add, q->y);
  else
    TYPED(piece)(q, STRATA_LEGWISE, 2, 0, NULL, q->y);
#undef PIECE
}

/* How many numbers p is behind an address that a vector of the processor may begin at */
static inline int TYPED(behind)(const REAL *p)
{
  return (int)((uintptr_t)p / sizeof(REAL) % VECTOR);
}

/* Where count cells find their data, of one row or of whole rows, from cell `at` on. All have the same kind of neighbours in rows and levels next to
   them; those before the first and after the last cell of a row of the box are not the ones that the run finds. */
static inline void TYPED(run)(const TYPED(StrataCoef) *c, const StrataGhost ghost[], const int at[3], const REAL *x, int vec, const REAL *add,
                              REAL *y, TYPED(Run) *q)
{
  const ptrdiff_t s[3] = {1, c->n[0], (ptrdiff_t)c->n[0] * c->n[1]}, id = at[0] + at[1] * s[1] + at[2] * s[2];

  q->u = x + id;
  q->add = add ? add + id : NULL;
  q->y = y + id;
  q->flags = c->flags ? c->flags + id : NULL;
  q->cell = c->cell ? c->cell + id : NULL;
  for (int l = 0; l < STRATA_LEGS; l++) {
    const int       a = l / 2, crosses = a && strata_crosses(c->n, l, at);
    const ptrdiff_t step = l % 2 ? s[a] : -s[a];

    if (!crosses)
      q->v[l] = q->u + step;
    else if (c->outside[l] == STRATA_OUTSIDE_ZERO)
      q->v[l] = TYPED(strata_zeros);
    else if (c->outside[l] == STRATA_OUTSIDE_NONE)
      q->v[l] = q->u;
    else
      q->v[l] = (const REAL *)ghost[l].p + vec * ghost[l].sv + strata_ghost_offset(&ghost[l], l, at);
    if (c->form == STRATA_LEGWISE || (c->form == STRATA_FACES && l % 2 == 0))
      q->leg[l] = c->legs[l] + id;
    else if (c->form == STRATA_FACES) {
      const StrataGhost *h = &c->high[a];

      if (!crosses)
        q->leg[l] = c->legs[l - 1] + id + s[a];
      else if (!h->p)
        q->leg[l] = TYPED(strata_zeros);
      else
        q->leg[l] = (const REAL *)h->p + strata_ghost_offset(h, l, at);
    }
  }
  if (c->form == STRATA_TENSOR) {
    const int       axis = c->axis, h0 = axis == 0 ? 1 : 0, h1 = axis == 2 ? 1 : 2;
    const ptrdiff_t col = at[h0] + (ptrdiff_t)c->n[h0] * at[h1];

    q->area = c->area + col;
    for (int m = 0; m < 4; m++) {
      q->alpha[m] = c->alpha[m] + col;
      q->level[m] = c->level[m] + at[axis];
    }
  }
}

/* Cell i of a run, the first or last one of its row of the box or both; row: the cell's row in the run, at: the first cell of the run */
static inline __attribute__((always_inline)) REAL TYPED(end)(const TYPED(StrataCoef) *c, const StrataGhost ghost[], const TYPED(Run) *q,
                                                             const int at[3], int row, int i, int first, int last, int vec)
{
  const int legs = c->form == STRATA_FACES || c->form == STRATA_LEGWISE, is[2] = {first, last};
  REAL      face = 0, v[2] = {0, 0}, area = 0, alpha[4] = {0}, level[4] = {0};

  for (int l = 0; l < 2; l++) {
    if (!is[l])
      v[l] = q->u[l ? i + 1 : i - 1];
    else if (c->outside[l] == STRATA_OUTSIDE_NONE)
      v[l] = q->u[i];
    else if (c->outside[l] == STRATA_OUTSIDE_GHOST)
      v[l] = ((const REAL *)ghost[l].p)[vec * ghost[l].sv + strata_ghost_offset(&ghost[l], l, at) + row * ghost[l].s[1]];
  }
  if (legs && (c->form == STRATA_LEGWISE || !last))
    face = q->leg[STRATA_EAST][i];
  else if (legs && c->high[0].p)
    face = ((const REAL *)c->high[0].p)[strata_ghost_offset(&c->high[0], STRATA_EAST, at) + row * c->high[0].s[1]];
  if (c->form == STRATA_TENSOR) {
    TYPED(column)(q, c->axis == 0 ? 0 : i, &area, alpha);
    TYPED(level)(q, c->axis == 0 ? i : 0, level);
  }
  return TYPED(value)(q, c->form, c->axis, c->flags && !legs, i, v[0], v[1], face, area, alpha, level);
}

/* The distance between the copies of area and alpha of some columns: they must not drive one another out of the cache */
static inline int TYPED(pitch)(int columns)
{
  return columns / LINE * LINE + 4 * LINE;
}

/* A tile of cells, level by level. copy: area and alpha of the columns of a tile of rows, or NULL. */
STRATA_CLONES void TYPED(strata_mult_tile)(const TYPED(StrataCoef) *c, const StrataGhost ghost[], const StrataBox *tile, const REAL *copy,
                                           const REAL *x, int vec, const REAL *add, REAL *y);
STRATA_CLONES void TYPED(strata_mult_tile)(const TYPED(StrataCoef) *c, const StrataGhost ghost[], const StrataBox *tile, const REAL *copy,
                                           const REAL *x, int vec, const REAL *add, REAL *y)
{
  const int  n0 = c->n[0], i0 = tile->lo[0], i1 = tile->hi[0], j0 = tile->lo[1], j1 = tile->hi[1], width = i1 - i0;
  const int  low = i0 == 0, high = i1 == n0, along = c->form == STRATA_TENSOR ? c->axis : -1;
  const int  pitch = TYPED(pitch)(along == 1 ? width : width * (j1 - j0));
  REAL       ends[COLUMNS][2];
  TYPED(Run) q = {0};

  q.scale = c->scale;
  q.shift = c->shift;
  q.masked = c->masked;
  q.excess = c->excess;
  for (int l = 0; l < STRATA_LEGS; l++) q.legs[l] = c->leg[l];
  for (int k = tile->lo[2]; k < tile->hi[2]; k++)
    for (int j = j0, rows; j < j1; j += rows) {
      const int at[3] = {i0, j, k};
      const int ghosts =
          (k == 0 && c->outside[STRATA_BOTTOM] == STRATA_OUTSIDE_GHOST) || (k == c->n[2] - 1 && c->outside[STRATA_TOP] == STRATA_OUTSIDE_GHOST);
      int count, peel;

      rows = width == n0 && along != 0 && along != 1 && !ghosts && j && j < c->n[1] - 1 ? (j1 < c->n[1] ? j1 : c->n[1] - 1) - j : 1;
      count = (rows - 1) * n0 + width;
      TYPED(run)(c, ghost, at, x, vec, add, y, &q);
      if (copy) {
        q.area = copy + (along == 1 ? 0 : width * (j - j0));
        for (int m = 0; m < 4; m++) q.alpha[m] = q.area + (m + 1) * pitch;
      }
      for (int r = 0; r < rows; r++) {
        const int first = r * n0, last = first + width - 1;

        if (low) ends[r][0] = TYPED(end)(c, ghost, &q, at, r, first, 1, n0 == 1, vec);
        if (high) ends[r][1] = TYPED(end)(c, ghost, &q, at, r, last, n0 == 1, 1, vec);
        if (low && add) ends[r][0] = q.add[first] + ends[r][0];
        if (high && add) ends[r][1] = q.add[last] + ends[r][1];
      }
      peel = low + (VECTOR - TYPED(behind)(q.u + low)) % VECTOR;
      q.from = low;
      q.to = peel < count - high ? peel : count - high;
      while (q.from < count - high) { /* up to an address where vectors may begin, and from there on */
        TYPED(any_piece)(c, &q);
        q.from = q.to;
        q.to = count - high;
      }
      for (int r = 0; r < rows; r++) {
        if (low) q.y[r * n0] = ends[r][0];
        if (high) q.y[r * n0 + width - 1] = ends[r][1];
      }
    }
}

/* Tiles are worked on level by level: the numbers of their columns stay in cache. Area and alpha of columns along y or z are copied for all levels:
   where they come from they may drive one another out of the cache. */
void TYPED(StrataMultHost)(const TYPED(StrataCoef) *c, const StrataGhost ghost[], int nbox, const StrataBox box[], int nv, const REAL *x,
                           ptrdiff_t ldx, const REAL *add, REAL *y, ptrdiff_t ldy)
{
  const int along = c->form == STRATA_TENSOR ? c->axis : -1, few = 2; /* levels that nothing is copied for */
  REAL      columns[5 * (COLUMNS + 4 * LINE)] __attribute__((aligned(64)));

  for (int v = 0; v < nv; v++)
    for (int b = 0; b < nbox; b++) {
      StrataBox tile = box[b];

      for (int i = box[b].lo[0]; i < box[b].hi[0]; i = tile.hi[0]) {
        const int width = box[b].hi[0] - i < WIDTH ? box[b].hi[0] - i : WIDTH, rows = along == 1 ? box[b].hi[1] - box[b].lo[1] : COLUMNS / width;

        tile.lo[0] = i;
        tile.hi[0] = i + width;
        for (int j = box[b].lo[1]; j < box[b].hi[1]; j = tile.hi[1]) {
          tile.lo[1] = j;
          tile.hi[1] = box[b].hi[1] - j < rows ? box[b].hi[1] : j + rows;
          for (int k = box[b].lo[2]; k < box[b].hi[2]; k = tile.hi[2]) {
            const int       lines = along == 1 ? 1 : tile.hi[1] - j, pitch = TYPED(pitch)(width * lines);
            const ptrdiff_t col = i + (ptrdiff_t)c->n[0] * (along == 1 ? k : j);
            REAL           *copy = along > 0 && box[b].hi[along] - box[b].lo[along] > few ? columns + TYPED(behind)(x + i) : NULL;

            tile.lo[2] = k;
            tile.hi[2] = along == 1 ? k + 1 : box[b].hi[2];
            for (int m = 0; copy && m < 5; m++)
              for (int r = 0; r < lines; r++)
                memcpy(copy + m * pitch + r * width, (m ? c->alpha[m - 1] : c->area) + col + r * (ptrdiff_t)c->n[0], (size_t)width * sizeof(REAL));
            TYPED(strata_mult_tile)(c, ghost, &tile, copy, x + v * ldx, v, add ? add + v * ldy : NULL, y + v * ldy);
          }
        }
      }
    }
}
#undef VECTOR
#undef LINE

void TYPED(StrataRowsHost)(const TYPED(StrataCoef) *c, StrataRowQuantity quantity, int axis, REAL *y)
{
  int x[3];

  for (x[2] = 0; x[2] < c->n[2]; x[2]++)
    for (x[1] = 0; x[1] < c->n[1]; x[1]++)
      for (x[0] = 0; x[0] < c->n[0]; x[0]++) {
        REAL       leg[STRATA_LEGS];
        const REAL excess = CELL(strata_row)(c, x, leg);

        *y++ = CELL(strata_quantity)(quantity, axis, excess, leg);
      }
}

void TYPED(StrataExpandHost)(const TYPED(StrataCoef) *c, REAL *cell, REAL *const legs[])
{
  ptrdiff_t id = 0;
  int       x[3];

  for (x[2] = 0; x[2] < c->n[2]; x[2]++)
    for (x[1] = 0; x[1] < c->n[1]; x[1]++)
      for (x[0] = 0; x[0] < c->n[0]; x[0]++, id++) {
        REAL leg[STRATA_LEGS];

        cell[id] = CELL(strata_row)(c, x, leg);
        for (int l = 0; l < STRATA_LEGS; l++)
          if (legs[l]) legs[l][id] = leg[l];
      }
}

void TYPED(StrataTransposeHost)(const TYPED(StrataCoef) *c, const StrataGhost ghost[], REAL *cell, REAL *const legs[])
{
  ptrdiff_t id = 0;
  int       x[3];

  for (x[2] = 0; x[2] < c->n[2]; x[2]++)
    for (x[1] = 0; x[1] < c->n[1]; x[1]++)
      for (x[0] = 0; x[0] < c->n[0]; x[0]++, id++) {
        REAL leg[STRATA_LEGS];

        cell[id] = CELL(strata_transposed)(c, ghost, x, leg);
        for (int l = 0; l < STRATA_LEGS; l++) legs[l][id] = leg[l];
      }
}
