/*
   The coefficients of an operator: storage, set-up, and what is computed from them
*/
#include "operatorimpl.h"
#include "operator_cell.h"

PetscErrorCode StrataCoefficientsCreate(StrataGrid grid, StrataCoefficients *coefficients)
{
  StrataCoefficients c;
  PetscInt           l;

  PetscFunctionBegin;
  PetscCall(PetscNew(&c));
  PetscCall(StrataGridReference(grid));
  c->refct = 1;
  c->grid = grid;
  c->scale = 1;
  c->masked = 1;
  c->nonfinite = -1;
  for (l = 0; l < STRATA_LEGS; l++) c->side[l] = MAT_STRATA_DIRICHLET;
  *coefficients = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCoefficientsReference(StrataCoefficients c)
{
  PetscFunctionBegin;
  c->refct++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every array of the coefficients, for what is done to all */
#define STRATA_ARRAYS 15
static void StrataCoefficientsArrays(StrataCoefficients c, StrataArray *arrays[STRATA_ARRAYS])
{
  int m = 0, l;

  arrays[m++] = &c->area;
  arrays[m++] = &c->alpha;
  arrays[m++] = &c->level;
  arrays[m++] = &c->cell;
  for (l = 0; l < STRATA_LEGS; l++) arrays[m++] = &c->legs[l];
  for (l = 0; l < 3; l++) arrays[m++] = &c->high[l];
  arrays[m++] = &c->mask;
  arrays[m++] = &c->flags;
}

PetscErrorCode StrataCoefficientsDestroy(StrataCoefficients *coefficients)
{
  StrataCoefficients c = *coefficients;
  StrataArray       *arrays[STRATA_ARRAYS];
  PetscInt           m;

  PetscFunctionBegin;
  *coefficients = NULL;
  if (!c || --c->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  StrataCoefficientsArrays(c, arrays);
  for (m = 0; m < STRATA_ARRAYS; m++) PetscCall(StrataArrayDestroy(arrays[m]));
  PetscCall(StrataGridDestroy(&c->grid));
  PetscCall(PetscFree(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCoefficientsDuplicate(StrataCoefficients c, StrataCoefficients *duplicate)
{
  StrataCoefficients d;
  StrataArray       *from[STRATA_ARRAYS], *to[STRATA_ARRAYS];
  PetscInt           m;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  PetscCall(PetscMemcpy(d, c, sizeof(*d)));
  PetscCall(StrataGridReference(d->grid));
  d->refct = 1;
  StrataCoefficientsArrays(c, from);
  StrataCoefficientsArrays(d, to);
  for (m = 0; m < STRATA_ARRAYS; m++) PetscCall(StrataArrayCopy(to[m], from[m]));
  *duplicate = d;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What lies beyond side l of the owned box? */
static int StrataCoefficientsOutside(StrataCoefficients c, int l)
{
  const StrataGrid g = c->grid;
  const int        a = l / 2;

  if (g->periodic[a] && g->N[a] == 1) return STRATA_OUTSIDE_NONE; /* the cell itself */
  if (StrataGridLeg(g, l)->rank >= 0) return STRATA_OUTSIDE_GHOST;
  if (a >= g->dim || c->form == MAT_STRATA_FACES || c->form == MAT_STRATA_LEGS || c->side[l] == MAT_STRATA_NEUMANN) return STRATA_OUTSIDE_NONE;
  return STRATA_OUTSIDE_ZERO;
}

/*
   StrataCoefficientsGetKernel - The coefficients as kernels want them, in one memory; valid until they change
*/
PetscErrorCode StrataCoefficientsGetKernel(StrataCoefficients c, PetscMemType type, StrataCoef_d *k)
{
  StrataGrid         g = c->grid;
  const PetscScalar *p;
  PetscInt           ncol, nlev, a, l, m;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(k, sizeof(*k)));
  PetscCall(StrataGridGetBox(g, k->n));
  k->form = (int)c->form;
  k->axis = (int)c->axis;
  k->scale = c->scale;
  k->shift = c->shift;
  k->masked = c->masked;
  k->excess = c->excess;
  for (l = 0; l < STRATA_LEGS; l++) {
    k->leg[l] = c->leg[l];
    k->outside[l] = StrataCoefficientsOutside(c, (int)l);
  }
  if (c->form == MAT_STRATA_TENSOR) {
    nlev = g->n[c->axis];
    ncol = nlev ? g->size_local / nlev : 0;
    PetscCall(StrataArrayRead(&c->area, type, &k->area));
    PetscCall(StrataArrayRead(&c->alpha, type, &p));
    for (m = 0; m < 4; m++) k->alpha[m] = p ? p + m * ncol : NULL;
    PetscCall(StrataArrayRead(&c->level, type, &p));
    for (m = 0; m < 4; m++) k->level[m] = p ? p + m * nlev : NULL;
  } else if (c->form == MAT_STRATA_FACES || c->form == MAT_STRATA_LEGS) {
    const ptrdiff_t s[3] = {1, (ptrdiff_t)g->n[0], (ptrdiff_t)g->n[0] * g->n[1]};

    PetscCall(StrataArrayRead(&c->cell, type, &k->cell));
    for (l = 0; l < STRATA_LEGS; l += c->form == MAT_STRATA_FACES ? 2 : 1) PetscCall(StrataArrayRead(&c->legs[l], type, &k->legs[l]));
    if (c->form == MAT_STRATA_FACES)
      for (a = 0; a < 3; a++) {
        StrataGhost *h = &k->high[a];

        if (k->outside[2 * a + 1] != STRATA_OUTSIDE_GHOST) continue;
        for (m = 0; m < 3; m++) h->s[m] = s[m];
        if (StrataGridLeg(g, (int)(2 * a + 1))->rank == g->rank)
          h->p = k->legs[2 * a];
        else {
          PetscCall(StrataArrayRead(&c->high[a], type, &h->p));
          if (a == 0) h->s[1] = 1;
          if (a < 2) h->s[2] = a == 0 ? (ptrdiff_t)g->n[1] : (ptrdiff_t)g->n[0];
        }
      }
  }
  if (c->flags.bytes) PetscCall(StrataArrayRead(&c->flags, type, &k->flags));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCoefficientsGetMemType(StrataCoefficients c, PetscMemType *type)
{
  PetscFunctionBegin;
  *type = c->cell.bytes && c->cell.devicevalid ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges the cells on both sides along one axis, or along all */
static PetscErrorCode StrataExchangeFaces(StrataGrid g, PetscInt axis, const void *x, int bytes, PetscMemType type, StrataHalo *halo,
                                          StrataGhost ghosts[])
{
  PetscInt depth[3], a;

  PetscFunctionBegin;
  for (a = 0; a < 3; a++) depth[a] = axis < 0 || a == axis ? 1 : 0;
  PetscCall(StrataHaloCreate(g, depth, PETSC_FALSE, halo));
  PetscCall(StrataHaloBegin(*halo, x, bytes, 1, g->size_local, type));
  PetscCall(StrataHaloEndLegs(*halo, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which legs of each cell are there */
static PetscErrorCode StrataCoefficientsSetFlags(StrataCoefficients c)
{
  StrataGrid           g = c->grid;
  const ptrdiff_t      s[3] = {1, (ptrdiff_t)g->n[0], (ptrdiff_t)g->n[0] * g->n[1]};
  StrataHalo           halo;
  StrataGhost          ghost[STRATA_LEGS];
  const unsigned char *mask;
  unsigned char       *flags;
  ptrdiff_t            id = 0;
  int                  n[3], x[3], outside[STRATA_LEGS], l;

  PetscFunctionBegin;
  PetscCall(StrataArrayDestroy(&c->flags));
  PetscCall(StrataArrayCreate(&c->flags, (size_t)g->size_local));
  PetscCall(StrataArrayRead(&c->mask, PETSC_MEMTYPE_HOST, &mask));
  PetscCall(StrataArrayWrite(&c->flags, PETSC_MEMTYPE_HOST, &flags));
  PetscCall(StrataExchangeFaces(g, -1, mask, 1, PETSC_MEMTYPE_HOST, &halo, ghost));
  PetscCall(StrataGridGetBox(g, n));
  for (l = 0; l < STRATA_LEGS; l++) outside[l] = StrataCoefficientsOutside(c, l);
  for (x[2] = 0; x[2] < n[2]; x[2]++)
    for (x[1] = 0; x[1] < n[1]; x[1]++)
      for (x[0] = 0; x[0] < n[0]; x[0]++, id++) {
        unsigned char f = 0;

        for (l = 0; l < STRATA_LEGS; l++) {
          int there;

          if (x[l / 2] != (l % 2 ? n[l / 2] - 1 : 0))
            there = !mask[l % 2 ? id + s[l / 2] : id - s[l / 2]];
          else if (outside[l] == STRATA_OUTSIDE_GHOST)
            there = !((const unsigned char *)ghost[l].p)[strata_ghost_offset(&ghost[l], l, x)];
          else
            there = outside[l] == STRATA_OUTSIDE_ZERO;
          if (there) f |= (unsigned char)(1 << l);
        }
        flags[id] = mask[id] ? 1 << 6 : f;
      }
  PetscCall(StrataHaloDestroy(&halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the legs that are not there zero and masked rows masked I, and fetches the faces on the high sides of the box */
static PetscErrorCode StrataCoefficientsFold(StrataCoefficients c)
{
  StrataGrid   g = c->grid;
  StrataCoef_d k;
  PetscMemType type;
  void        *stream;
  PetscScalar *cell, *legs[STRATA_LEGS] = {NULL, NULL, NULL, NULL, NULL, NULL};
  PetscInt     a, l;

  PetscFunctionBegin;
  PetscCall(StrataCoefficientsGetMemType(c, &type));
  PetscCall(StrataCoefficientsGetKernel(c, type, &k));
  k.scale = 1;
  k.shift = 0;
  PetscCall(StrataArrayUpdate(&c->cell, type, &cell));
  for (l = 0; l < STRATA_LEGS; l += c->form == MAT_STRATA_FACES ? 2 : 1) PetscCall(StrataArrayUpdate(&c->legs[l], type, &legs[l]));
  if (c->form == MAT_STRATA_FACES)
    for (a = 0; a < 3; a++) k.high[a].p = NULL; /* only high legs need them, which faces do not store */
  PetscCall(StrataGetStream(type, &stream));
  StrataDispatch(type, StrataExpandHost_d(&k, cell, legs), StrataExpandCUDA_d(&k, cell, legs, stream));
  c->masking = c->hasmask;
  if (c->form != MAT_STRATA_FACES) PetscFunctionReturn(PETSC_SUCCESS);
  for (a = 0; a < g->dim; a++) {
    StrataHalo  halo;
    StrataGhost ghost[STRATA_LEGS];

    PetscCall(StrataExchangeFaces(g, a, legs[2 * a], sizeof(PetscScalar), type, &halo, ghost));
    PetscCall(StrataArrayDestroy(&c->high[a]));
    if (ghost[2 * a + 1].p && StrataGridLeg(g, (int)(2 * a + 1))->rank != g->rank)
      PetscCall(StrataArraySet(&c->high[a], (size_t)(g->size_local / g->n[a]) * sizeof(PetscScalar), type, ghost[2 * a + 1].p));
    PetscCall(StrataHaloDestroy(&halo));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are the legs of this rank's low and high faces those of the neighbours' rows? */
static PetscErrorCode StrataCoefficientsMatchNeighbors(StrataCoefficients c, PetscBool *match)
{
  StrataGrid   g = c->grid;
  StrataCoef_d k;
  PetscInt     a;

  PetscFunctionBegin;
  PetscCall(StrataCoefficientsGetKernel(c, PETSC_MEMTYPE_HOST, &k));
  k.flags = NULL; /* with or without a mask, as within a rank: the answer must not depend on the cut */
  for (a = 0; a < g->dim; a++) {
    const StrataNeighbor *low = StrataGridLeg(g, (int)(2 * a)), *high = StrataGridLeg(g, (int)(2 * a + 1));
    const PetscInt        count = g->n[a] ? g->size_local / g->n[a] : 0, h0 = a == 0 ? 1 : 0, h1 = a == 2 ? 1 : 2;
    PetscReal            *mine, *theirs;
    PetscMPIInt           n, m;
    int                   x[3], side;

    PetscCall(PetscMPIIntCast(count, &n));
    PetscCall(PetscMalloc2(count, &mine, count, &theirs));
    for (side = 0; side < 2; side++) { /* this rank's high legs are compared with the next rank's low legs, by the next rank */
      m = 0;
      x[a] = side ? 0 : k.n[a] - 1;
      for (x[h1] = 0; x[h1] < k.n[h1]; x[h1]++)
        for (x[h0] = 0; x[h0] < k.n[h0] && count; x[h0]++, m++) {
          PetscReal leg[STRATA_LEGS];

          (void)strata_row_d(&k, x, leg);
          if (!side)
            mine[m] = leg[2 * a + 1];
          else if (low->rank >= 0 && theirs[m] != leg[2 * a])
            *match = PETSC_FALSE;
        }
      if (!side)
        PetscCallMPI(MPI_Sendrecv(mine, n, MPIU_REAL, high->rank < 0 ? MPI_PROC_NULL : high->rank, g->tag[0], theirs, n, MPIU_REAL,
                                  low->rank < 0 ? MPI_PROC_NULL : low->rank, g->tag[0], g->comm, MPI_STATUS_IGNORE));
    }
    PetscCall(PetscFree2(mine, theirs));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is each cell's upper leg the next cell's lower one? */
static PetscErrorCode StrataCoefficientsMatchLegs(StrataCoefficients c, PetscBool *match)
{
  StrataCoefficients t;
  PetscMemType       type;
  PetscReal          d;
  PetscInt           l;

  PetscFunctionBegin;
  PetscCall(StrataCoefficientsGetMemType(c, &type));
  PetscCall(StrataCoefficientsTranspose(c, type, &t));
  for (l = 0; l < STRATA_LEGS && *match; l += 2) {
    const PetscScalar *p, *q;

    PetscCall(StrataArrayRead(&c->legs[l], type, &p));
    PetscCall(StrataArrayRead(&t->legs[l], type, &q));
    PetscCall(StrataGridReduce(c->grid, STRATA_REDUCE_MAXDIFF, p, q, type, &d));
    if (!(d == 0)) *match = PETSC_FALSE;
  }
  PetscCall(StrataCoefficientsDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the operator symmetric? */
static PetscErrorCode StrataCoefficientsSymmetry(StrataCoefficients c)
{
  StrataGrid g = c->grid;
  PetscBool  s = PETSC_TRUE;
  PetscInt   a, k, i, j;

  PetscFunctionBegin;
  if (c->form == MAT_STRATA_CONSTANT) {
    for (a = 0; a < g->dim; a++) s = (PetscBool)(s && c->leg[2 * a] == c->leg[2 * a + 1]);
  } else if (c->form == MAT_STRATA_TENSOR) {
    const PetscInt axis = c->axis, h0 = axis == 0 ? 1 : 0, h1 = axis == 2 ? 1 : 2, n0 = g->n[h0], n1 = g->n[h1], ncol = n0 * n1, nlev = g->n[axis];
    const PetscScalar *alpha, *level;

    PetscCall(StrataArrayRead(&c->alpha, PETSC_MEMTYPE_HOST, &alpha));
    PetscCall(StrataArrayRead(&c->level, PETSC_MEMTYPE_HOST, &level));
    for (k = 0; k + 1 < nlev; k++) s = (PetscBool)(s && level[nlev + k] == level[2 * nlev + k + 1]);
    for (j = 0; j < n1; j++)
      for (i = 0; i < n0; i++) {
        if (i + 1 < n0) s = (PetscBool)(s && alpha[ncol + i + n0 * j] == alpha[i + 1 + n0 * j]);
        if (j + 1 < n1) s = (PetscBool)(s && alpha[3 * ncol + i + n0 * j] == alpha[2 * ncol + i + n0 * (j + 1)]);
      }
    PetscCall(StrataCoefficientsMatchNeighbors(c, &s));
  } else if (c->form == MAT_STRATA_LEGS)
    PetscCall(StrataCoefficientsMatchLegs(c, &s));
  PetscCallMPI(MPIU_Allreduce(&s, &c->symmetric, 1, STRATA_MPI_BOOL, MPI_LAND, g->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataCoefficientsSetUp - Prepares the coefficients for use after they, the sides or the mask were set
*/
PetscErrorCode StrataCoefficientsSetUp(StrataCoefficients c)
{
  PetscFunctionBegin;
  c->state++;
  if (c->hasmask) PetscCall(StrataCoefficientsSetFlags(c));
  if (c->form == MAT_STRATA_FACES || c->form == MAT_STRATA_LEGS) PetscCall(StrataCoefficientsFold(c));
  PetscCall(StrataCoefficientsSymmetry(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataCoefficientsUseFaces - Keeps only the low legs, of symmetric coefficients in legwise form, and sets them up anew
*/
PetscErrorCode StrataCoefficientsUseFaces(StrataCoefficients c)
{
  PetscInt l;

  PetscFunctionBegin;
  for (l = 1; l < STRATA_LEGS; l += 2) PetscCall(StrataArrayDestroy(&c->legs[l]));
  c->form = MAT_STRATA_FACES;
  PetscCall(StrataCoefficientsSetUp(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataCoefficientsRows - A number of each row, scale and shift included
*/
PetscErrorCode StrataCoefficientsRows(StrataCoefficients c, StrataRowQuantity quantity, PetscInt axis, PetscMemType type, PetscScalar *y)
{
  StrataCoef_d k;
  void        *stream;

  PetscFunctionBegin;
  PetscCall(StrataCoefficientsGetKernel(c, type, &k));
  PetscCall(StrataGetStream(type, &stream));
  StrataDispatch(type, StrataRowsHost_d(&k, quantity, (int)axis, y), StrataRowsCUDA_d(&k, quantity, (int)axis, y, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New coefficients in legwise form on the same grid, with their arrays to be written */
static PetscErrorCode StrataCoefficientsCreateLegs(StrataCoefficients c, PetscMemType type, StrataCoefficients *created, PetscScalar **cell,
                                                   PetscScalar *legs[])
{
  const size_t       bytes = (size_t)c->grid->size_local * sizeof(PetscScalar);
  StrataCoefficients d;
  PetscInt           l;

  PetscFunctionBegin;
  PetscCall(StrataCoefficientsCreate(c->grid, &d));
  d->form = MAT_STRATA_LEGS;
  d->nonfinite = c->nonfinite;
  d->hasmask = c->hasmask;
  d->masked = c->scale * c->masked + c->shift;
  d->state = 1;
  for (l = 0; l < STRATA_LEGS; l++) d->side[l] = c->side[l];
  PetscCall(StrataArrayCopy(&d->mask, &c->mask));
  PetscCall(StrataArrayCopy(&d->flags, &c->flags));
  PetscCall(StrataArrayCreate(&d->cell, bytes));
  PetscCall(StrataArrayWrite(&d->cell, type, cell));
  for (l = 0; l < STRATA_LEGS; l++) {
    PetscCall(StrataArrayCreate(&d->legs[l], bytes));
    PetscCall(StrataArrayWrite(&d->legs[l], type, &legs[l]));
  }
  *created = d;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCoefficientsExpand(StrataCoefficients c, PetscMemType type, StrataCoefficients *expanded)
{
  StrataCoef_d k;
  PetscScalar *cell, *legs[STRATA_LEGS];
  void        *stream;

  PetscFunctionBegin;
  PetscCall(StrataCoefficientsGetKernel(c, type, &k));
  PetscCall(StrataCoefficientsCreateLegs(c, type, expanded, &cell, legs));
  PetscCall(StrataGetStream(type, &stream));
  StrataDispatch(type, StrataExpandHost_d(&k, cell, legs), StrataExpandCUDA_d(&k, cell, legs, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCoefficientsTranspose(StrataCoefficients c, PetscMemType type, StrataCoefficients *transpose)
{
  StrataGrid         g = c->grid;
  StrataCoefficients e;
  StrataCoef_d       k;
  StrataHalo         halo[STRATA_LEGS];
  StrataGhost        ghost[STRATA_LEGS], all[STRATA_LEGS];
  PetscScalar       *cell, *legs[STRATA_LEGS];
  void              *stream;
  PetscInt           l;

  PetscFunctionBegin;
  if (c->form == MAT_STRATA_LEGS && c->scale == 1 && c->shift == 0) {
    PetscCall(StrataCoefficientsReference(c));
    e = c;
  } else
    PetscCall(StrataCoefficientsExpand(c, type, &e));
  PetscCall(StrataCoefficientsGetKernel(e, type, &k));
  for (l = 0; l < STRATA_LEGS; l++) {
    PetscCall(StrataExchangeFaces(g, l / 2, k.legs[l ^ 1], sizeof(PetscScalar), type, &halo[l], all));
    ghost[l] = all[l];
  }
  PetscCall(StrataCoefficientsCreateLegs(e, type, transpose, &cell, legs));
  PetscCall(StrataGetStream(type, &stream));
  StrataDispatch(type, StrataTransposeHost_d(&k, ghost, cell, legs), StrataTransposeCUDA_d(&k, ghost, cell, legs, stream));
  for (l = 0; l < STRATA_LEGS; l++) PetscCall(StrataHaloDestroy(&halo[l])); /* freeing waits for the kernel */
  PetscCall(StrataCoefficientsDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataCoefficientsMult - y = add + A x for nv vectors; the interior while the ghosts travel. The halo is one cell deep, faces.
*/
PetscErrorCode StrataCoefficientsMult(StrataCoefficients c, StrataHalo halo, int nv, const PetscScalar *x, PetscInt ldx, const PetscScalar *add,
                                      PetscScalar *y, PetscInt ldy, PetscMemType type)
{
  StrataGrid   g = c->grid;
  StrataCoef_d k;
  StrataGhost  ghost[STRATA_LEGS];
  StrataBox    interior, shell[STRATA_LEGS];
  void        *stream;
  int          a, l, shells = 0;

  PetscFunctionBegin;
  PetscCall(StrataCoefficientsGetKernel(c, type, &k));
  PetscCall(StrataGetStream(type, &stream));
  for (a = 0; a < 3; a++) {
    interior.lo[a] = 0;
    interior.hi[a] = k.n[a];
  }
  for (l = 0; l < STRATA_LEGS; l++) { /* cut a layer off each side that waits for another rank */
    const PetscMPIInt rank = StrataGridLeg(g, l)->rank;

    a = l / 2;
    if (rank < 0 || rank == g->rank || !strata_box_size(&interior)) continue;
    shell[shells] = interior;
    if (l % 2)
      shell[shells].lo[a] = --interior.hi[a];
    else
      shell[shells].hi[a] = ++interior.lo[a];
    shells++;
  }
  PetscCall(StrataHaloBegin(halo, x, sizeof(PetscScalar), nv, ldx, type));
  PetscCall(StrataHaloViewLegs(halo, ghost));
  StrataDispatch(type, StrataMultHost_d(&k, ghost, 1, &interior, nv, x, ldx, add, y, ldy),
                 StrataMultCUDA_d(&k, ghost, 1, &interior, nv, x, ldx, add, y, ldy, stream));
  PetscCall(StrataHaloEndLegs(halo, ghost));
  if (shells)
    StrataDispatch(type, StrataMultHost_d(&k, ghost, shells, shell, nv, x, ldx, add, y, ldy),
                   StrataMultCUDA_d(&k, ghost, shells, shell, nv, x, ldx, add, y, ldy, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
