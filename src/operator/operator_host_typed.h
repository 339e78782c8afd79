/* Included by operator_host.c for each precision */

static const REAL TYPED(strata_zeros)[STRATA_PIECE];

/* Where a piece of a row of cells finds its data: the cells have consecutive numbers from id on, and so have all neighbours */
typedef struct {
  int         count;
  ptrdiff_t   id;
  const REAL *v[STRATA_LEGS], *leg[STRATA_LEGS]; /* neighbours; coefficients (faces and legwise) */
  const REAL *area, *alpha[4], *level[4];        /* tensor */
} TYPED(Piece);

static inline __attribute__((always_inline)) void TYPED(piece)(const TYPED(StrataCoef) *c, const TYPED(Piece) *q, int form, int axis, int masked,
                                                               const REAL *x, const REAL *add, REAL *y)
{
  const REAL          *v0 = q->v[0], *v1 = q->v[1], *v2 = q->v[2], *v3 = q->v[3], *v4 = q->v[4], *v5 = q->v[5];
  const REAL          *u = x + q->id;
  const REAL          *cell = form == STRATA_FACES || form == STRATA_LEGWISE ? c->cell + q->id : NULL;
  const unsigned char *flags = masked ? c->flags + q->id : NULL;
  const REAL           scale = c->scale, shift = c->shift, own = c->masked, excess = c->excess;
  const REAL           cleg[STRATA_LEGS] = {c->leg[0], c->leg[1], c->leg[2], c->leg[3], c->leg[4], c->leg[5]};
  const int            count = q->count;
  REAL                 area = 0, alpha[4] = {0}, level[4] = {0}; /* where they are the same along the row */

  if (form == STRATA_TENSOR) {
    area = q->area[0];
    for (int m = 0; m < 4; m++) {
      alpha[m] = q->alpha[m][0];
      level[m] = q->level[m][0];
    }
  }
  y += q->id;
  if (add) add += q->id;
#pragma GCC ivdep
  for (int i = 0; i < count; i++) {
    const REAL w = u[i];
    REAL       v[6] = {v0[i], v1[i], v2[i], v3[i], v4[i], v5[i]}, r;

    if (masked)
      for (int l = 0; l < STRATA_LEGS; l++) v[l] = flags[i] >> l & 1 ? v[l] : w;
    if (form == STRATA_CONSTANT)
      r = CELL(strata_star)(excess, cleg, w, v);
    else if (form == STRATA_TENSOR) {
      if (axis == 0)
        for (int m = 0; m < 4; m++) level[m] = q->level[m][i];
      else {
        area = q->area[i];
        for (int m = 0; m < 4; m++) alpha[m] = q->alpha[m][i];
      }
      r = CELL(strata_tensor)(axis, area, alpha, level, w, v);
    } else {
      const REAL leg[6] = {q->leg[0][i], q->leg[1][i], q->leg[2][i], q->leg[3][i], q->leg[4][i], q->leg[5][i]};

      r = CELL(strata_star)(cell[i], leg, w, v);
    }
    if (masked) r = flags[i] >> 6 & 1 ? own * w : r;
    r = CELL(strata_scaled)(scale, shift, r, w);
    y[i] = add ? add[i] + r : r;
  }
}

/* One piece, with form, axis and mask known to the compiler */
STRATA_CLONES void TYPED(strata_mult_piece)(const TYPED(StrataCoef) *c, const TYPED(Piece) *q, const REAL *x, const REAL *add, REAL *y);
STRATA_CLONES void TYPED(strata_mult_piece)(const TYPED(StrataCoef) *c, const TYPED(Piece) *q, const REAL *x, const REAL *add, REAL *y)
{
#define PIECE(form, axis)                                                                                                                            \
  do {                                                                                                                                               \
    if (c->flags && add)                                                                                                                             \
      TYPED(piece)(c, q, form, axis, 1, x, add, y);                                                                                                  \
    else if (c->flags)                                                                                                                               \
      TYPED(piece)(c, q, form, axis, 1, x, NULL, y);                                                                                                 \
    else if (add)                                                                                                                                    \
      TYPED(piece)(c, q, form, axis, 0, x, add, y);                                                                                                  \
    else                                                                                                                                             \
      TYPED(piece)(c, q, form, axis, 0, x, NULL, y);                                                                                                 \
  } while (0)
  if (c->form == STRATA_CONSTANT)
    PIECE(STRATA_CONSTANT, 2);
  else if (c->form == STRATA_TENSOR && c->axis == 0)
    PIECE(STRATA_TENSOR, 0);
  else if (c->form == STRATA_TENSOR && c->axis == 1)
    PIECE(STRATA_TENSOR, 1);
  else if (c->form == STRATA_TENSOR)
    PIECE(STRATA_TENSOR, 2);
  else if (c->flags)
    TYPED(piece)(c, q, STRATA_LEGWISE, 2, 0, x, add, y); /* the mask is in the coefficients */
  else
    PIECE(STRATA_LEGWISE, 2);
#undef PIECE
}

/* The cells [i0, i1) of row (j, k) that have the same kind of neighbours */
static void TYPED(run)(const TYPED(StrataCoef) *c, const StrataGhost ghost[], int i0, int i1, int j, int k, const REAL *x, int vec, const REAL *add,
                       REAL *y)
{
  const int       at[3] = {i0, j, k};
  const ptrdiff_t s[3] = {1, c->n[0], (ptrdiff_t)c->n[0] * c->n[1]}, id = i0 + j * s[1] + k * s[2];
  TYPED(Piece)    q;

  q.count = i1 - i0;
  q.id = id;
  for (int l = 0; l < STRATA_LEGS; l++) {
    const int       a = l / 2, crosses = strata_crosses(c->n, l, at);
    const ptrdiff_t step = l % 2 ? s[a] : -s[a];

    if (!crosses)
      q.v[l] = x + id + step;
    else if (c->outside[l] == STRATA_OUTSIDE_ZERO)
      q.v[l] = TYPED(strata_zeros);
    else if (c->outside[l] == STRATA_OUTSIDE_NONE)
      q.v[l] = x + id;
    else
      q.v[l] = (const REAL *)ghost[l].p + vec * ghost[l].sv + strata_ghost_offset(&ghost[l], l, at);
    if (c->form == STRATA_LEGWISE || (c->form == STRATA_FACES && l % 2 == 0))
      q.leg[l] = c->legs[l] + id;
    else if (c->form == STRATA_FACES) {
      const StrataGhost *h = &c->high[a];

      if (!crosses)
        q.leg[l] = c->legs[l - 1] + id + s[a];
      else if (!h->p)
        q.leg[l] = TYPED(strata_zeros);
      else
        q.leg[l] = (const REAL *)h->p + strata_ghost_offset(h, l, at);
    }
  }
  if (c->form == STRATA_TENSOR) {
    const int       axis = c->axis, h0 = axis == 0 ? 1 : 0, h1 = axis == 2 ? 1 : 2;
    const ptrdiff_t col = at[h0] + (ptrdiff_t)c->n[h0] * at[h1];

    q.area = c->area + col;
    for (int m = 0; m < 4; m++) {
      q.alpha[m] = c->alpha[m] + col;
      q.level[m] = c->level[m] + at[axis];
    }
  }
  TYPED(strata_mult_piece)(c, &q, x, add, y);
}

/* The cells [lo, hi) of row (j, k); those at the ends of the row, whose neighbours are elsewhere, one by one */
static inline void TYPED(row)(const TYPED(StrataCoef) *c, const StrataGhost ghost[], int lo, int hi, int j, int k, const REAL *x, int vec,
                              const REAL *add, REAL *y)
{
  const int last = c->n[0] - 1, first = lo > 1 ? lo : 1, end = hi < last ? hi : last;

  for (int e = 0; e < (last ? 2 : 1); e++) {
    const int       at[3] = {e ? last : 0, j, k};
    const ptrdiff_t id = at[0] + c->n[0] * (j + (ptrdiff_t)c->n[1] * k);

    if (at[0] >= lo && at[0] < hi) {
      const REAL r = CELL(strata_apply)(c, ghost, vec, at, x);

      y[id] = add ? add[id] + r : r;
    }
  }
  for (int i = first; i < end; i += STRATA_PIECE) TYPED(run)(c, ghost, i, end < i + STRATA_PIECE ? end : i + STRATA_PIECE, j, k, x, vec, add, y);
}

/* Blocks of rows are worked on level by level: the numbers of their columns stay in cache */
void TYPED(StrataMultHost)(const TYPED(StrataCoef) *c, const StrataGhost ghost[], int nbox, const StrataBox box[], int nv, const REAL *x,
                           ptrdiff_t ldx, const REAL *add, REAL *y, ptrdiff_t ldy)
{
  for (int v = 0; v < nv; v++)
    for (int b = 0; b < nbox; b++) {
      const int width = box[b].hi[0] - box[b].lo[0], rows = 1 + STRATA_BLOCK / (width > 0 ? 1 + width : 1);

      for (int block = box[b].lo[1]; block < box[b].hi[1]; block += rows)
        for (int k = box[b].lo[2]; k < box[b].hi[2]; k++)
          for (int j = block; j < block + rows && j < box[b].hi[1]; j++)
            TYPED(row)(c, ghost, box[b].lo[0], box[b].hi[0], j, k, x + v * ldx, v, add ? add + v * ldy : NULL, y + v * ldy);
    }
}

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
