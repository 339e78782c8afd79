/*
   The sweep engine: what it makes of a matrix, and cycles of sweeps on vectors
*/
#include "jacobiimpl.h"
#include "../operator/operator_cell.h"

/* The work space of vectors */
static PetscErrorCode StrataJacobiFree(StrataJacobi j)
{
  PetscFunctionBegin;
  PetscCall(StrataArrayDestroy(&j->b));
  for (int m = 0; m < 2; m++) PetscCall(StrataArrayDestroy(&j->array[m]));
  PetscCall(StrataArrayDestroy(&j->vector));
  PetscCall(StrataArrayDestroy(&j->power));
  PetscCall(StrataArrayDestroy(&j->sums));
  j->vectors = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiReset(StrataJacobi j)
{
  PetscFunctionBegin;
  for (int t = 0; t < 2; t++) {
    for (int l = 0; l < STRATA_LEGS; l++) PetscCall(StrataArrayDestroy(&j->rows[t].legs[l]));
    PetscCall(StrataCoefficientsDestroy(&j->rows[t].c));
    j->rows[t].built = PETSC_FALSE;
  }
  PetscCall(StrataCoefficientsDestroy(&j->c));
  PetscCall(StrataGridDestroy(&j->grid));
  PetscCall(StrataHaloDestroy(&j->frame));
  PetscCall(StrataHaloDestroy(&j->face));
  PetscCall(StrataArrayDestroy(&j->diagonal));
  PetscCall(StrataArrayDestroy(&j->weights));
  PetscCall(StrataJacobiFree(j));
  PetscCall(StrataArrayDestroy(&j->change));
  PetscCall(StrataArrayDestroy(&j->update));
  PetscCall(StrataArrayDestroy(&j->work));
  PetscCall(PetscFree(j->weight));
  j->failure = NULL;
  j->failedrow = -1;
  j->state = -1;
  j->eigenvalues = 0;
  j->applied = j->inside = j->travels = PETSC_FALSE;
  PetscCall(PetscMemzero(j->choice, sizeof(j->choice)));
  j->words[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiDestroy(StrataJacobi *j)
{
  PetscFunctionBegin;
  if (!*j) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataJacobiReset(*j));
  PetscCall(PetscObjectComposeFunction((*j)->owner, "StrataJacobiGet_C", NULL));
  PetscCall(StrataGridDestroy(&(*j)->given));
  PetscCall(PetscFree(*j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the grid -------------------------------------------------------------------------------------------------------------------- */

/* Where the grid of the matrix comes from: the sizes that were given, or a DM; neither for a Strata operator */
static PetscErrorCode StrataJacobiFindGrid(StrataJacobi j, Mat A, Mat amat, DM dm0, DM dm1, StrataGrid *given, DM *dm)
{
  PetscBool is;

  PetscFunctionBegin;
  *dm = NULL;
  *given = NULL;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSTRATA, &is));
  if (is) PetscFunctionReturn(PETSC_SUCCESS);
  if (j->dim) {
    if (!j->given) {
      PetscCall(StrataMatMakeGrid(A, j->dim, j->N, j->prefix, &j->given));
      is = j->given->size_local ? PETSC_TRUE : PETSC_FALSE;
      PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &is, 1, STRATA_MPI_BOOL, MPI_LAND, j->given->comm));
      if (!is) PetscCall(StrataGridDestroy(&j->given));
      PetscCheck(is, PetscObjectComm(j->owner), PETSC_ERR_ARG_SIZ,
                 "A rank has no rows: each must have one or more whole layers of the grid, set the local size of the matrix so, or use fewer ranks");
    }
    *given = j->given;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(StrataMatFindDM(A, amat, dm0, dm1, dm));
  PetscCheck(*dm, PetscObjectComm(j->owner), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix has no grid: create it with DMCreateMatrix() on a DMDA, attach the DMDA with KSPSetDM() or PCSetDM(), or say with -%sgrid "
             "how many cells the grid has along each axis",
             j->prefix);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fails on all ranks if one was told something else than another */
static PetscErrorCode StrataJacobiCheckRanks(StrataJacobi j)
{
#define OF_AXIS(n, list, a) (a) < j->n ? j->list[a] : 0
  const struct {
    const char *name;
    PetscReal   number;
  } told[] = {{"subiterations", j->subiterations},
              {"cycles", j->cycles},
              {"schedule", j->schedule},
              {"omega", j->omega},
              {"chebyshev_bounds", j->bounds[0]},
              {"chebyshev_bounds", j->bounds[1]},
              {"srj_levels", j->levels},
              {"kernel", j->kernel},
              {"precision", j->precision},
              {"tile", OF_AXIS(ntile, tile, 0)},
              {"tile", OF_AXIS(ntile, tile, 1)},
              {"tile", OF_AXIS(ntile, tile, 2)},
              {"overlap", j->noverlap},
              {"overlap", OF_AXIS(noverlap, overlap, 0)},
              {"overlap", OF_AXIS(noverlap, overlap, 1)},
              {"overlap", OF_AXIS(noverlap, overlap, 2)},
              {"grid", OF_AXIS(dim, N, 0)},
              {"grid", OF_AXIS(dim, N, 1)},
              {"grid", OF_AXIS(dim, N, 2)}};
#undef OF_AXIS
  const PetscInt count = PETSC_STATIC_ARRAY_LENGTH(told);
  PetscReal      numbers[PETSC_STATIC_ARRAY_LENGTH(told)];
  PetscInt       differs;

  PetscFunctionBegin;
  for (PetscInt m = 0; m < count; m++) numbers[m] = told[m].number;
  PetscCall(StrataFindDifference(PetscObjectComm(j->owner), count, numbers, &differs));
  PetscCheck(differs < 0, PetscObjectComm(j->owner), PETSC_ERR_ARG_WRONG,
             "-%s%s differs between ranks: all must set the same, by options or by functions", j->prefix, told[differs].name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscBool StrataJacobiGoesOn(StrataGrid g, int l)
{
  return StrataGridLeg(g, l)->rank >= 0 && g->N[l / 2] > 1 ? PETSC_TRUE : PETSC_FALSE;
}

/* The size of a number of the sweeps */
static size_t StrataJacobiBytes(StrataJacobi j)
{
  return j->precision == HJACOBI_PRECISION_SINGLE ? sizeof(float) : sizeof(double);
}

/* Work space for so many vectors or more; what was in it is lost where there was less */
static PetscErrorCode StrataJacobiReserve(StrataJacobi j, int nv)
{
  const size_t bytes = (size_t)nv * j->cells * StrataJacobiBytes(j), n = (size_t)nv * j->grid->size_local;

  PetscFunctionBegin;
  if (nv <= j->vectors) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataJacobiFree(j));
  j->vectors = nv;
  PetscCall(StrataArrayCreate(&j->b, bytes));
  for (int m = 0; m < 2; m++) PetscCall(StrataArrayCreate(&j->array[m], bytes));
  PetscCall(StrataArrayCreate(&j->vector, n * sizeof(PetscScalar)));
  if (j->precision == HJACOBI_PRECISION_SINGLE) {
    PetscCall(StrataArrayCreate(&j->power, 2 * nv * sizeof(PetscReal)));
    PetscCall(StrataArrayCreate(&j->sums, nv * StrataReduceWork((ptrdiff_t)j->grid->size_local) * sizeof(PetscReal)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tiles and passes: what was asked for, made to fit the boxes of the ranks */
static PetscErrorCode StrataJacobiPlan(StrataJacobi j)
{
  StrataGrid     g = j->grid;
  const PetscInt k = j->subiterations;
  PetscInt       common[3] = {g->dim == 1 ? 1024 : g->dim == 2 ? 64 : 16, g->dim == 2 ? 64 : 16, 16}; /* widths of tiles */
  PetscInt       width[3], depth[3] = {0, 0, 0}, a, l;
  PetscBool      any = PETSC_FALSE;

  PetscFunctionBegin;
  for (a = 0; a < 3; a++) {
    const PetscBool cut = (g->procs[a] > 1 || g->periodic[a]) && g->N[a] > 1 ? PETSC_TRUE : PETSC_FALSE;

    width[a] = cut && g->size_local ? g->n[a] : PETSC_MAX_INT;
    any = any || cut ? PETSC_TRUE : PETSC_FALSE;
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, width, 3, MPIU_INT, MPI_MIN, g->comm));
  j->exact = PETSC_TRUE;
  j->most = k;
  j->reduced = 0;
  for (a = 0; a < g->dim; a++) {
    const PetscInt tile = j->ntile ? j->tile[PetscMin(a, j->ntile - 1)] : 0, o = j->overlap[PetscMin(a, j->noverlap - 1)];

    PetscCheck(!tile || o == STRATA_EXACT || o < tile, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE,
               "The overlap %" PetscInt_FMT " along %c must be less than the tile, which is %" PetscInt_FMT
               " cells wide there: choose a wider -%stile or a narrower -%soverlap",
               o, (char)('x' + a), tile, j->prefix, j->prefix);
    if (o != STRATA_EXACT && o < 2 * (k - 1)) j->exact = PETSC_FALSE;
    j->most = PetscMin(j->most, tile ? PetscMin(width[a], (tile + 1) / 2) : width[a]);
  }
  if (!j->exact) j->most = k;
  if (!j->exact && g->dim == 2) { /* as the registers of a multiprocessor hold, and the cache of a processor */
    common[0] = 180;
    common[1] = 56;
  }
  j->tiling.sweeps = (int)j->most;
  j->frames = PETSC_FALSE;
  j->cells = 1;
  for (a = 0; a < 3; a++) {
    PetscInt tile = j->ntile ? j->tile[PetscMin(a, j->ntile - 1)] : 0, o = j->exact ? 2 * (j->most - 1) : j->overlap[PetscMin(a, j->noverlap - 1)];

    if (a >= g->dim) o = 0;
    if (o / 2 + 1 > width[a]) {
      o = 2 * (width[a] - 1);
      j->reduced = width[a];
    }
    if (!tile) tile = PetscMax(common[a], 2 * o);
    j->tiling.overlap[a] = (int)o;
    j->tiling.tile[a] = a < g->dim ? (int)PetscMin(tile, PETSC_MPI_INT_MAX) : 1;
    depth[a] = width[a] == PETSC_MAX_INT ? 0 : o / 2 + 1;
    for (l = 0; l < 2; l++) *(l ? &j->high[a] : &j->low[a]) = StrataJacobiGoesOn(g, (int)(2 * a + l)) ? depth[a] : 0;
    if (j->low[a] || j->high[a]) j->frames = PETSC_TRUE;
    PetscCheck(g->n[a] + j->low[a] + j->high[a] <= PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP, "A rank owns too many cells along axis %c",
               (char)('x' + a));
    j->n[a] = (int)(g->n[a] + j->low[a] + j->high[a]);
    j->own.lo[a] = (int)j->low[a];
    j->own.hi[a] = (int)(j->low[a] + g->n[a]);
    j->cells *= j->n[a];
  }
  if (any) PetscCall(StrataHaloCreate(g, depth, PETSC_TRUE, &j->frame));
  for (a = 0; a < 3; a++) depth[a] = 1;
  PetscCall(StrataHaloCreate(g, depth, PETSC_FALSE, &j->face));
  PetscCall(StrataArrayCreate(&j->change, STRATA_JACOBI_BOXES * StrataJacobiBytes(j)));
  if (j->precision == HJACOBI_PRECISION_SINGLE) PetscCall(StrataArrayCreate(&j->update, sizeof(PetscReal)));
  PetscCall(StrataJacobiReserve(j, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- cycles ---------------------------------------------------------------------------------------------------------------------- */

/* Sweeps of a pass. On the host deep passes do not fit the cache; a rank that exchanges frames sweeps as deep as these are all the same. */
static PetscInt StrataJacobiMost(StrataJacobi j, PetscMemType type)
{
  static const PetscInt deepest[] = {128, 16, 4};

  return j->exact && PetscMemTypeHost(type) && !j->frame ? PetscMin(j->most, deepest[j->grid->dim - 1]) : j->most;
}

/* The layers of a box around another one inside it, as boxes; their number */
static int StrataJacobiShell(const StrataBox *outer, const StrataBox *inner, StrataBox shell[])
{
  StrataBox rest = *outer;
  int       count = 0;

  for (int a = 2; a >= 0; a--) { /* the widest boxes along the slowest axis */
    if (inner->lo[a] > rest.lo[a]) {
      shell[count] = rest;
      shell[count++].hi[a] = rest.lo[a] = inner->lo[a];
    }
    if (inner->hi[a] < rest.hi[a]) {
      shell[count] = rest;
      shell[count++].lo[a] = rest.hi[a] = inner->hi[a];
    }
  }
  return count;
}

/* The cells that so many sweeps compute without frames; none where the owned box is too narrow for the work at the rim to pay off */
static void StrataJacobiInner(StrataJacobi j, int sweeps, StrataBox *inner)
{
  *inner = j->own;
  for (int a = 0; a < 3; a++) {
    const PetscInt width = j->own.hi[a] - j->own.lo[a];

    if (!j->low[a] && !j->high[a]) continue;
    if (!j->exact || j->grid->size == 1 || width < j->wide * j->most) {
      inner->hi[a] = inner->lo[a];
      return;
    }
    if (j->low[a]) inner->lo[a] += sweeps;
    if (j->high[a]) inner->hi[a] -= sweeps;
  }
}

#define STRATA_TYPED "../jacobi/jacobi_typed.h"
#include "../sys/typed.h"

/* Vectors with the cells around them in the precision of the sweeps */
static PetscErrorCode StrataJacobiEmbed(StrataJacobi j, PetscMemType type, int nv, const PetscScalar *x, StrataArray *to, PetscBool later)
{
  PetscFunctionBegin;
  if (j->precision == HJACOBI_PRECISION_SINGLE)
    PetscCall(StrataJacobiEmbed_f(j, type, nv, x, to, later));
  else
    PetscCall(StrataJacobiEmbed_d(j, type, nv, x, to, later));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* q = factor by a over the diagonal of the rows, on the owned box; by: a factor of each vector as powers lie, or NULL */
static PetscErrorCode StrataJacobiDivide(StrataJacobi j, PetscMemType type, PetscReal factor, const PetscReal *by, int nv, const PetscScalar *a,
                                         PetscInt lda, PetscScalar *q, ptrdiff_t ldq)
{
  const ptrdiff_t  n = (ptrdiff_t)j->grid->size_local;
  const PetscReal *d = NULL;
  void            *stream;

  PetscFunctionBegin;
  if (j->diagonal.bytes) PetscCall(StrataArrayRead(&j->diagonal, type, &d));
  PetscCall(StrataGetStream(type, &stream));
  StrataDispatch(type, StrataQuotientHost(n, factor, by, nv, a, lda, d, j->number, q, ldq),
                 StrataQuotientCUDA(n, factor, by, nv, a, lda, d, j->number, q, ldq, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The right-hand sides of the sweeps: b, times the factors `by` if there are any, over the diagonal. zero: sweeps begin with zero, so the first
   pass needs no other frames, and may itself wait for these. */
static PetscErrorCode StrataJacobiTakeRHS(StrataJacobi j, PetscMemType type, const PetscReal *by, int nv, const PetscScalar *b, PetscInt ldb,
                                          PetscBool zero)
{
  PetscScalar *own;
  StrataBox    inner;

  PetscFunctionBegin;
  if (!j->frame && j->precision == HJACOBI_PRECISION_SAME) {
    PetscCall(StrataArrayWrite(&j->b, type, &own));
    PetscCall(StrataJacobiDivide(j, type, 1, by, nv, b, ldb, own, j->cells));
  } else {
    PetscCall(StrataArrayWrite(&j->vector, type, &own));
    PetscCall(StrataJacobiDivide(j, type, 1, by, nv, b, ldb, own, j->grid->size_local));
    if (zero && j->frames) {
      StrataJacobiInner(j, (int)StrataJacobiMost(j, type), &inner);
      j->travels = strata_box_size(&inner) ? PETSC_TRUE : PETSC_FALSE;
    }
    PetscCall(StrataJacobiEmbed(j, type, nv, own, &j->b, j->travels));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the matrix ------------------------------------------------------------------------------------------------------------------ */

/* Are the rows the same everywhere? Then every cell has all legs and the same diagonal. */
static PetscBool StrataJacobiIsConstant(StrataCoefficients c, PetscReal leg[], PetscReal *diagonal)
{
  StrataGrid g = c->grid;

  for (int l = 0; l < STRATA_LEGS; l++) leg[l] = 0;
  if (c->form != MAT_STRATA_CONSTANT || c->hasmask) return PETSC_FALSE;
  for (int l = 0; l < 2 * g->dim; l++) {
    if (!g->periodic[l / 2] && c->side[l] != MAT_STRATA_DIRICHLET) return PETSC_FALSE;
    if (!g->periodic[l / 2] || g->N[l / 2] > 1) leg[l] = c->scale * c->leg[l];
  }
  *diagonal = strata_diagonal_d(fma(c->scale, c->excess, c->shift), leg);
  return PETSC_TRUE;
}

/* The size of the diagonal: what is divided by it must be in the range of single precision */
static PetscErrorCode StrataJacobiSetUnit(StrataJacobi j)
{
  const PetscReal *d;
  PetscReal        largest = j->grid->size_local ? PetscAbsReal(j->number) : 0;
  int              exponent;

  PetscFunctionBegin;
  j->unit = 1;
  if (j->precision != HJACOBI_PRECISION_SINGLE) PetscFunctionReturn(PETSC_SUCCESS);
  if (j->diagonal.bytes) {
    PetscCall(StrataArrayRead(&j->diagonal, j->home, &d));
    PetscCall(StrataGridReduce(j->grid, STRATA_REDUCE_MAXABS, d, NULL, j->home, &largest));
  } else
    PetscCall(StrataGridMax(j->grid, 1, &largest));
  (void)frexp(largest, &exponent);
  if (PetscAbsInt(exponent) > 60) j->unit = ldexp(1, exponent - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal, and whether all rows can be divided by it */
static PetscErrorCode StrataJacobiSetDiagonal(StrataJacobi j)
{
  StrataGrid           g = j->grid;
  StrataDiagonalFaults faults = {-1, -1};
  PetscReal            leg[STRATA_LEGS], *d;
  PetscInt             first[2];
  void                *stream;
  char                 words[128];

  PetscFunctionBegin;
  if (StrataJacobiIsConstant(j->c, leg, &j->number)) {
    StrataDiagonalCheckHost(g->size_local ? 1 : 0, &j->number, &faults);
  } else {
    PetscCall(StrataArrayCreate(&j->diagonal, (size_t)g->size_local * sizeof(PetscReal)));
    PetscCall(StrataArrayWrite(&j->diagonal, j->home, &d));
    PetscCall(StrataCoefficientsRows(j->c, STRATA_ROW_DIAGONAL, 0, j->home, d));
    PetscCall(StrataGetStream(j->home, &stream));
    StrataDispatch(j->home, StrataDiagonalCheckHost(g->size_local, d, &faults), StrataDiagonalCheckCUDA(g->size_local, d, &faults, stream));
  }
  first[0] = faults.zero < 0 ? PETSC_MAX_INT : g->start + (PetscInt)faults.zero;
  first[1] = faults.nonfinite < 0 ? PETSC_MAX_INT : g->start + (PetscInt)faults.nonfinite;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, first, 2, MPIU_INT, MPI_MIN, g->comm));
  if (j->c->nonfinite >= 0) first[1] = PetscMin(first[1], j->c->nonfinite); /* perhaps in a leg */
  j->failure = first[1] != PETSC_MAX_INT ? "NaN or infinity" : first[0] != PETSC_MAX_INT ? "zero diagonal entry" : NULL;
  j->failedrow = first[1] != PETSC_MAX_INT ? first[1] : first[0] != PETSC_MAX_INT ? first[0] : -1;
  if (!j->failure) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataGridRowWords(g, j->failedrow, words, sizeof(words)));
  PetscCall(PetscInfo(j->owner, "The matrix cannot be swept: %s in %s\n", j->failure, words));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Legs over the diagonal. Of variable ones the cells around the box are wanted too. */
static PetscErrorCode StrataJacobiBuildRows(StrataJacobi j, PetscBool transpose)
{
  StrataJacobiRows  *rows = &j->rows[transpose ? 1 : 0];
  StrataCoefficients e;
  PetscReal          leg[STRATA_LEGS], diagonal, *q;
  int                l;

  PetscFunctionBegin;
  if (rows->built) PetscFunctionReturn(PETSC_SUCCESS);
  rows->built = PETSC_TRUE;
  if (StrataJacobiIsConstant(j->c, leg, &diagonal)) {
    if (transpose && !j->c->symmetric)
      PetscCall(StrataCoefficientsTranspose(j->c, j->home, &rows->c));
    else {
      PetscCall(StrataCoefficientsReference(j->c));
      rows->c = j->c;
    }
    rows->form = STRATA_SYSTEM_EQUAL;
    for (l = 0; l < STRATA_LEGS; l++) {
      rows->leg[l] = -leg[transpose ? l ^ 1 : l] / diagonal;
      if (l < 2 * j->grid->dim && rows->leg[l] != rows->leg[0]) rows->form = STRATA_SYSTEM_CONSTANT;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  rows->form = STRATA_SYSTEM_VARIABLE;
  if (transpose) {
    PetscCall(StrataCoefficientsTranspose(j->c, j->home, &rows->c));
    PetscCall(StrataCoefficientsDuplicate(rows->c, &e));
  } else {
    PetscCall(StrataCoefficientsReference(j->c));
    rows->c = j->c;
    PetscCall(StrataCoefficientsExpand(j->c, j->home, &e));
  }
  for (l = 0; l < 2 * j->grid->dim; l++) {
    PetscCall(StrataArrayUpdate(&e->legs[l], j->home, &q));
    PetscCall(StrataJacobiDivide(j, j->home, -1, NULL, 1, q, 0, q, 0));
    if (!j->frame && j->precision == HJACOBI_PRECISION_SAME) {
      rows->legs[l] = e->legs[l];
      PetscCall(PetscMemzero(&e->legs[l], sizeof(e->legs[l])));
    } else {
      PetscCall(StrataArrayCreate(&rows->legs[l], j->cells * StrataJacobiBytes(j)));
      PetscCall(StrataJacobiEmbed(j, j->home, 1, q, &rows->legs[l], PETSC_FALSE));
    }
  }
  PetscCall(StrataCoefficientsDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest eigenvalue where rows are symmetric and the same everywhere: exactly so along axes that end, Gershgorin's bound along periodic ones.
   0 for other matrices. */
static PetscReal StrataJacobiLargest(StrataJacobi j)
{
  PetscReal leg[STRATA_LEGS], diagonal, largest = 1;

  if (!j->c->symmetric || !StrataJacobiIsConstant(j->c, leg, &diagonal)) return 0;
  for (PetscInt a = 0; a < j->grid->dim; a++)
    largest += PetscAbsReal(2 * leg[2 * a] / diagonal) * (j->grid->periodic[a] ? 1 : PetscCosReal(PETSC_PI / (PetscReal)(j->grid->N[a] + 1)));
  return largest;
}

/* The interval of the eigenvalues that the weights are for */
static PetscErrorCode StrataJacobiSetInterval(StrataJacobi j, Mat A)
{
  PetscReal   largest = StrataJacobiLargest(j), unit;
  PetscInt    count = 0, i;
  const char *prefix;

  PetscFunctionBegin;
  j->eigenvalues = 0;
  if (j->bounds[1] > 0) {
    j->interval[0] = j->bounds[0];
    j->interval[1] = j->bounds[1];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!(largest > 0)) {
    PetscCall(PetscObjectGetOptionsPrefix(j->owner, &prefix));
    PetscCall(StrataSpectrum(A, prefix, j->grid, j->c->symmetric, STRATA_JACOBI_STEPS, &count, j->re, j->im));
  }
  for (i = 0; i < count; i++)
    if (j->re[i] > largest) largest = j->re[i];
  PetscCheck(largest > 0 && largest < PETSC_MAX_REAL, PetscObjectComm(j->owner), PETSC_ERR_ARG_WRONG,
             "No eigenvalue of the matrix over its diagonal seems to be positive, so Chebyshev polynomials and scheduled relaxation do not work: use "
             "-%sschedule constant, or give -%schebyshev_bounds",
             j->prefix, j->prefix);
  unit = PetscPowReal(10, PetscFloorReal(PetscLog10Real(largest)) - 4); /* so that it does not depend on the order of sums */
  largest = PetscFloorReal(largest / unit + 0.5) * unit;
  j->interval[0] = 0.1 * largest; /* as KSPCHEBYSHEV */
  j->interval[1] = 1.1 * largest;
  j->eigenvalues = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Weights for a real interval may enlarge errors that belong to complex eigenvalues: then no number of cycles would help */
static PetscErrorCode StrataJacobiCheckComplex(StrataJacobi j)
{
  PetscFunctionBegin;
  for (PetscInt e = 0; e < j->eigenvalues; e++) {
    PetscReal factor = 0;

    if (PetscAbsReal(j->im[e]) <= PETSC_SQRT_MACHINE_EPSILON * PetscAbsReal(j->re[e])) continue;
    for (PetscInt m = 0; m < j->period * j->subiterations; m++) {
      const PetscReal x = 1 - j->weight[m] * j->re[e], y = j->weight[m] * j->im[e];

      factor += PetscLogReal(x * x + y * y);
    }
    PetscCheck(factor <= 0, PetscObjectComm(j->owner), PETSC_ERR_ARG_WRONG,
               "The matrix over its diagonal has complex eigenvalues, such as %g + %g i, and -%sschedule %s enlarges errors there: use -%sschedule "
               "constant, with an -%somega below 1 if need be, or give -%schebyshev_bounds",
               (double)j->re[e], (double)PetscAbsReal(j->im[e]), j->prefix, HJacobiSchedules[j->schedule], j->prefix, j->prefix, j->prefix);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The weights of a period, in whole cycles */
static PetscErrorCode StrataJacobiSetWeights(StrataJacobi j, Mat A)
{
  const PetscInt k = j->subiterations;
  PetscInt       count = k, m;
  PetscReal     *relaxation = NULL;
  PetscBool      ones = PETSC_TRUE;

  PetscFunctionBegin;
  if (j->schedule != HJACOBI_CONSTANT) PetscCall(StrataJacobiSetInterval(j, A));
  if (j->schedule == HJACOBI_SRJ) {
    PetscCheck(k <= PETSC_MAX_INT / PetscMax(j->cycles, 1), PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE,
               "%" PetscInt_FMT " cycles of %" PetscInt_FMT " sweeps are too many for one schedule: choose fewer -%scycles", j->cycles, k, j->prefix);
    PetscCall(StrataRelaxationWeights(j->levels, j->interval[0], j->interval[1], k, k * j->cycles, &count, &relaxation));
    PetscCheck(count, PetscObjectComm(j->owner), PETSC_ERR_ARG_INCOMP,
               "There is no scheduled relaxation with %" PetscInt_FMT " different weights for eigenvalues in [%g, %g] and %" PetscInt_FMT
               " sweeps: choose fewer -%ssrj_levels, or more -%ssubiterations",
               j->levels, (double)j->interval[0], (double)j->interval[1], k * PetscMax(j->cycles, 1), j->prefix, j->prefix);
  }
  j->period = count / k;
  PetscCall(PetscMalloc1(j->period * k, &j->weight));
  if (j->schedule == HJACOBI_CHEBYSHEV) PetscCall(StrataChebyshevWeights(k, j->interval[0], j->interval[1], j->weight));
  for (m = 0; m < j->period * k; m++) {
    if (j->schedule == HJACOBI_CONSTANT) j->weight[m] = j->omega;
    if (j->schedule == HJACOBI_SRJ) j->weight[m] = relaxation[m % count];
    if (j->weight[m] != 1) ones = PETSC_FALSE;
  }
  PetscCall(PetscFree(relaxation));
  PetscCall(StrataJacobiCheckComplex(j));
  if (ones) PetscFunctionReturn(PETSC_SUCCESS);
  if (j->precision == HJACOBI_PRECISION_SINGLE) {
    float *w;

    PetscCall(StrataArrayCreate(&j->weights, (size_t)(j->period * k) * sizeof(float)));
    PetscCall(StrataArrayWrite(&j->weights, PETSC_MEMTYPE_HOST, &w));
    for (m = 0; m < j->period * k; m++) w[m] = (float)j->weight[m];
  } else
    PetscCall(StrataArraySet(&j->weights, (size_t)(j->period * k) * sizeof(PetscReal), PETSC_MEMTYPE_HOST, j->weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiSetUp(StrataJacobi j, Mat A, Mat amat, DM dm0, DM dm1)
{
  StrataCoefficients c;
  StrataGrid         given;
  DM                 dm;
  PetscBool          same;

  PetscFunctionBegin;
  if (!j->grid) PetscCall(StrataJacobiCheckRanks(j));
  PetscCall(StrataJacobiFindGrid(j, A, amat, dm0, dm1, &given, &dm));
  PetscCall(StrataCoefficientsGet(A, dm, given, &c));
  same = c == j->c && c->state == j->state && c->scale == j->scale && c->shift == j->shift ? PETSC_TRUE : PETSC_FALSE;
  if (same) {
    PetscCall(StrataCoefficientsDestroy(&c));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(STRATA_JacobiSetUp, j->owner, 0, 0, 0));
  PetscCall(StrataJacobiReset(j));
  j->c = c;
  PetscCall(StrataGridReference(c->grid));
  j->grid = c->grid;
  PetscCall(StrataJacobiPlan(j));
  PetscCall(StrataMatGetHome(A, j->c, &j->home));
  PetscCall(StrataJacobiSetDiagonal(j));
  if (!j->failure) {
    PetscCall(StrataJacobiSetUnit(j));
    PetscCall(StrataJacobiSetWeights(j, A));
    PetscCall(StrataJacobiBuildRows(j, PETSC_FALSE));
  }
  j->state = c->state; /* only now: an error leaves the engine as it was before any set-up */
  j->scale = c->scale;
  j->shift = c->shift;
  PetscCall(PetscLogEventEnd(STRATA_JacobiSetUp, j->owner, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With an overlap between none and exact, a cell is written by one tile but read by others */
PetscErrorCode StrataJacobiSymmetric(StrataJacobi j, PetscBool *symmetric)
{
  PetscBool apart = PETSC_TRUE;

  PetscFunctionBegin;
  for (int a = 0; a < 3; a++)
    if (j->tiling.overlap[a]) apart = PETSC_FALSE;
  *symmetric = j->c->symmetric && (j->exact || (apart && (j->cycles == 1 || j->period == 1))) ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the use --------------------------------------------------------------------------------------------------------------------- */

PetscErrorCode StrataJacobiSetRHS(StrataJacobi j, PetscBool transpose, PetscMemType type, const PetscScalar *b)
{
  PetscFunctionBegin;
  PetscCall(StrataJacobiBuildRows(j, transpose));
  PetscCall(StrataJacobiTakeRHS(j, type, NULL, 1, b, j->grid->size_local, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StrataJacobiLog(StrataJacobi j, PetscMemType type, PetscInt cycles, int nv)
{
  const PetscLogDouble flops = (4.0 * (PetscLogDouble)j->grid->dim + (j->weights.bytes ? 3.0 : 0.0)) * (PetscLogDouble)j->grid->size_local *
                               (PetscLogDouble)j->subiterations * (PetscLogDouble)cycles * nv;

  PetscFunctionBegin;
  if (PetscMemTypeDevice(type))
    PetscCall(PetscLogGpuFlops(flops));
  else
    PetscCall(PetscLogFlops(flops));
  j->worked = type;
  j->applied = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiSweep(StrataJacobi j, PetscBool transpose, PetscMemType type, PetscInt first, PetscInt cycles, const PetscScalar *x,
                                 PetscScalar *y, PetscReal *change, const PetscReal **stays)
{
  PetscReal *result;
  void      *stream;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(STRATA_JacobiSweep, j->owner, 0, 0, 0));
  PetscCheck(j->precision == HJACOBI_PRECISION_SAME, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Single precision is for corrections only");
  PetscCall(StrataJacobiPasses_d(j, transpose, type, first, cycles, 1, x, j->frame ? NULL : y, &result, change, stays));
  if (j->frame && j->grid->size_local) {
    PetscCall(StrataGetStream(type, &stream));
    StrataDispatch(type, StrataUnembedHost_d(j->n, &j->own, 1, result, 0, NULL, NULL, y, 0),
                   StrataUnembedCUDA_d(j->n, &j->own, 1, result, 0, NULL, NULL, y, 0, stream));
  }
  if (change) PetscCall(StrataGridMax(j->grid, 1, change));
  PetscCall(StrataJacobiLog(j, type, cycles, 1));
  PetscCall(PetscLogEventEnd(STRATA_JacobiSweep, j->owner, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Powers of two bring small residuals into the range of single precision; on one rank nobody waits for them */
static PetscErrorCode StrataJacobiSetPower(StrataJacobi j, PetscMemType type, int nv, const PetscScalar *b, ptrdiff_t ldb)
{
  const ptrdiff_t n = (ptrdiff_t)j->grid->size_local, work = StrataReduceWork(n);
  PetscReal      *power, *sums, *there, *largest;
  void           *stream;

  PetscFunctionBegin;
  PetscCall(StrataGetStream(type, &stream));
  PetscCall(StrataArrayWrite(&j->sums, type, &sums));
  for (int v = 0; v < nv; v++)
    StrataDispatch(type, StrataReduceHost_d(STRATA_REDUCE_MAXABS, n, b + v * ldb, NULL, sums + v * work),
                   StrataReduceCUDA_d(STRATA_REDUCE_MAXABS, n, b + v * ldb, NULL, sums + v * work, stream));
  if (j->grid->size == 1 && j->unit == 1) {
    PetscCall(StrataArrayWrite(&j->power, type, &power));
    for (int v = 0; v < nv; v++) {
      const PetscReal *result = sums + (v + 1) * work - 1;

      StrataDispatch(type, StrataPowersHost(result, power + 2 * v), StrataPowersCUDA(result, power + 2 * v, stream));
    }
  } else {
    const size_t bytes = nv * work * sizeof(PetscReal);

    PetscCall(PetscMalloc2(nv * work, &there, nv, &largest));
    StrataDispatch(type, (void)memcpy(there, sums, bytes), StrataCUDAMemcpy(there, sums, bytes, stream));
    for (int v = 0; v < nv; v++) largest[v] = there[(v + 1) * work - 1] / j->unit;
    PetscCall(StrataGridMax(j->grid, nv, largest));
    PetscCall(StrataArrayWrite(&j->power, PETSC_MEMTYPE_HOST, &power));
    for (int v = 0; v < nv; v++) StrataPowersHost(&largest[v], power + 2 * v);
    PetscCall(PetscFree2(there, largest));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Some vectors at once; change: of one only */
static PetscErrorCode StrataJacobiApplySome(StrataJacobi j, PetscBool transpose, PetscMemType type, PetscInt first, PetscInt cycles, int nv,
                                            const PetscScalar *b, PetscInt ldb, const PetscScalar *add, PetscScalar *y, PetscInt ldy,
                                            PetscReal *change, const PetscReal **stays)
{
  const PetscBool  single = j->precision == HJACOBI_PRECISION_SINGLE ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool  direct = !single && !j->frame && !add && (nv == 1 || ldy == j->cells) ? PETSC_TRUE : PETSC_FALSE;
  const PetscReal *power = NULL;
  PetscReal       *result_d = NULL, *update;
  float           *result_f = NULL;
  const float     *change_f;
  void            *stream;

  PetscFunctionBegin;
  PetscCall(StrataGetStream(type, &stream));
  PetscCall(StrataJacobiReserve(j, nv));
  if (single) {
    PetscCall(StrataJacobiSetPower(j, type, nv, b, ldb));
    PetscCall(StrataArrayRead(&j->power, type, &power));
  }
  PetscCall(StrataJacobiTakeRHS(j, type, power, nv, b, ldb, PETSC_TRUE));
  if (single)
    PetscCall(StrataJacobiPasses_f(j, transpose, type, first, cycles, nv, NULL, NULL, &result_f, change, stays ? &change_f : NULL));
  else
    PetscCall(StrataJacobiPasses_d(j, transpose, type, first, cycles, nv, NULL, direct ? y : NULL, &result_d, change, stays));
  if (!j->grid->size_local)
    ;
  else if (single)
    StrataDispatch(type, StrataUnembedHost_f(j->n, &j->own, nv, result_f, j->cells, power + 1, add, y, ldy),
                   StrataUnembedCUDA_f(j->n, &j->own, nv, result_f, j->cells, power + 1, add, y, ldy, stream));
  else if (!direct)
    StrataDispatch(type, StrataUnembedHost_d(j->n, &j->own, nv, result_d, j->cells, NULL, add, y, ldy),
                   StrataUnembedCUDA_d(j->n, &j->own, nv, result_d, j->cells, NULL, add, y, ldy, stream));
  if (single && stays) {
    PetscCall(StrataArrayWrite(&j->update, type, &update));
    StrataDispatch(type, StrataTimesHost(change_f, power + 1, update), StrataTimesCUDA(change_f, power + 1, update, stream));
    *stays = update;
  }
  if (change) {
    if (single) {
      PetscCall(StrataArrayRead(&j->power, PETSC_MEMTYPE_HOST, &power));
      *change *= power[1];
    }
    PetscCall(StrataGridMax(j->grid, 1, change));
  }
  PetscCall(StrataJacobiLog(j, type, cycles, nv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiApply(StrataJacobi j, PetscBool transpose, PetscMemType type, PetscInt first, PetscInt cycles, const PetscScalar *b,
                                 const PetscScalar *add, PetscScalar *y, PetscReal *change, const PetscReal **stays)
{
  const PetscInt n = j->grid->size_local;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(STRATA_JacobiSweep, j->owner, 0, 0, 0));
  PetscCall(StrataJacobiBuildRows(j, transpose));
  PetscCall(StrataJacobiApplySome(j, transpose, type, first, cycles, 1, b, n, add, y, n, change, stays));
  PetscCall(PetscLogEventEnd(STRATA_JacobiSweep, j->owner, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors at once: as many as share messages, or launches, or coefficients, but on one rank's host no more than stay in the cache meanwhile */
static PetscInt StrataJacobiSome(StrataJacobi j, PetscMemType type)
{
  const PetscInt least = j->rows[0].form == STRATA_SYSTEM_VARIABLE ? 4 : 1, fit = (PetscInt)((1 << 16) / PetscMax(j->cells, 1));

  return j->frame || PetscMemTypeDevice(type) ? STRATA_JACOBI_VECTORS : PetscMax(least, PetscMin(fit, STRATA_JACOBI_VECTORS));
}

PetscErrorCode StrataJacobiApplyVectors(StrataJacobi j, PetscBool transpose, PetscMemType type, PetscInt cycles, PetscInt nv, const PetscScalar *b,
                                        PetscInt ldb, PetscScalar *y, PetscInt ldy)
{
  const PetscInt some = StrataJacobiSome(j, type);

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(STRATA_JacobiSweep, j->owner, 0, 0, 0));
  PetscCall(StrataJacobiBuildRows(j, transpose));
  for (PetscInt v = 0; v < nv; v += some)
    PetscCall(StrataJacobiApplySome(j, transpose, type, 0, cycles, (int)PetscMin(nv - v, some), b + (size_t)v * ldb, ldb, NULL, y + (size_t)v * ldy,
                                    ldy, NULL, NULL));
  PetscCall(PetscLogEventEnd(STRATA_JacobiSweep, j->owner, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* It is, unless a cell is swept in several tiles but taken from one */
PetscErrorCode StrataJacobiTransposes(StrataJacobi j, PetscBool *transposes)
{
  PetscFunctionBegin;
  *transposes = PETSC_TRUE;
  for (int a = 0; a < 3; a++)
    if (j->tiling.overlap[a] && !j->exact) *transposes = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers of the owned box of an array and, where there are frames, what other ranks have for them in theirs */
static PetscErrorCode StrataJacobiCollect(StrataJacobi j, const PetscScalar *array, PetscScalar *x)
{
  PetscFunctionBegin;
  StrataUnembedHost_d(j->n, &j->own, 1, array, 0, NULL, NULL, x, 0);
  if (j->frame) PetscCall(StrataHaloReturn(j->frame, j->n, &j->own, array, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cycles make x' = X x + B b from x = 0; the transpose goes through them backwards. Each takes what it has for b, which is the same in all. */
PetscErrorCode StrataJacobiApplyAdjoint(StrataJacobi j, PetscInt cycles, const PetscScalar *b, const PetscScalar *add, PetscScalar *y)
{
  const ptrdiff_t n = (ptrdiff_t)j->grid->size_local;
  const size_t    cells = (size_t)j->n[0] * j->n[1] * j->n[2];
  PetscScalar    *array, *x, *rhs, *own;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(STRATA_JacobiSweep, j->owner, 0, 0, 0));
  PetscCall(StrataJacobiBuildRows(j, PETSC_FALSE));
  PetscCall(PetscCalloc4(cells, &array, cells, &x, cells, &rhs, n, &own));
  PetscCall(PetscArraycpy(own, b, n));
  for (PetscInt c = cycles - 1; c >= 0 && n; c--) {
    const StrataGhost none[STRATA_DIRECTIONS] = {{NULL, {0}, 0}};

    StrataEmbedHost_d(j->n, &j->own, &j->own, 1, own, 0, none, array, 0);
    PetscCall(PetscArrayzero(x, cells));
    if (j->precision == HJACOBI_PRECISION_SINGLE)
      PetscCall(StrataJacobiAdjointCycle_f(j, c, array, x, rhs));
    else
      PetscCall(StrataJacobiAdjointCycle_d(j, c, array, x, rhs));
    if (c) PetscCall(StrataJacobiCollect(j, x, own));
  }
  if (n) PetscCall(StrataJacobiCollect(j, rhs, own));
  PetscCall(StrataJacobiDivide(j, PETSC_MEMTYPE_HOST, 1, NULL, 1, own, 0, own, 0));
  for (ptrdiff_t i = 0; i < n; i++) y[i] = add ? add[i] + own[i] : own[i];
  PetscCall(PetscFree4(array, x, rhs, own));
  PetscCall(StrataJacobiLog(j, PETSC_MEMTYPE_HOST, cycles, 1));
  PetscCall(PetscLogEventEnd(STRATA_JacobiSweep, j->owner, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiResidual(StrataJacobi j, PetscBool transpose, Vec b, Vec x, Vec r)
{
  const PetscInt     n = j->grid->size_local;
  const PetscScalar *ax, *ab;
  PetscScalar       *ar;
  PetscMemType       type;
  void              *stream;

  PetscFunctionBegin;
  PetscCall(StrataJacobiBuildRows(j, transpose));
  PetscCall(StrataVecGetArrays(x, b, r, &ax, &ab, &ar, &type));
  PetscCall(StrataCoefficientsMult(j->rows[transpose ? 1 : 0].c, j->face, 1, ax, n, NULL, ar, n, type));
  PetscCall(StrataGetStream(type, &stream));
  StrataDispatch(type, StrataSubtractHost(n, ab, ar), StrataSubtractCUDA(n, ab, ar, stream));
  PetscCall(StrataVecRestoreArrays(x, b, r, &ax, &ab, &ar, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}
