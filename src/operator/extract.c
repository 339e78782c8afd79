/*
   Coefficients out of assembled matrices, read where the matrix is
*/
#include "operatorimpl.h"

/* The two blocks of rows of this rank as kernels want them */
typedef struct {
  Mat             diagonal, offdiagonal;
  const PetscInt *colmap;
  PetscBool       rowij; /* got with MatGetRowIJ() on the host */
  PetscMemType    type;
  StrataCSR       block[2];
  StrataArray     devicemap, devicerow[2];
} StrataRows;

/* On the device PETSc may have left out the row pointers of empty rows: then all of them are brought there */
static PetscErrorCode StrataRowsComplete(StrataRows *r, Mat B, PetscInt b)
{
  const PetscInt *row, *col;
  PetscInt        n, i;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(B, 0, PETSC_FALSE, PETSC_FALSE, &n, &row, &col, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "The rows of a matrix of type %s cannot be read", ((PetscObject)B)->type_name);
  for (i = 0; i < n; i++)
    if (row[i] == row[i + 1]) break;
  if (i < n) {
    PetscCall(StrataArraySet(&r->devicerow[b], (size_t)(n + 1) * sizeof(PetscInt), PETSC_MEMTYPE_HOST, row));
    PetscCall(StrataArrayRead(&r->devicerow[b], r->type, &r->block[b].row));
  }
  PetscCall(MatRestoreRowIJ(B, 0, PETSC_FALSE, PETSC_FALSE, &n, &row, &col, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StrataRowsGet(Mat A, StrataRows *r)
{
  PetscBool    aij, mpi, square;
  PetscInt     n, first, b, ncols = 0;
  PetscMemType type[2] = {PETSC_MEMTYPE_HOST, PETSC_MEMTYPE_HOST};
  PetscScalar *value;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(r, sizeof(*r)));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCheck(aij, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "Strata reads coefficients out of matrices of type %s and %s, not %s: choose one of them (-mat_type aij, -dm_mat_type aij)", MATSTRATA,
             MATAIJ, ((PetscObject)A)->type_name);
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix is not assembled: call MatAssemblyBegin() and MatAssemblyEnd()");
  PetscCall(PetscLayoutCompare(A->rmap, A->cmap, &square));
  PetscCheck(square, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
             "The matrix has %" PetscInt_FMT " rows and %" PetscInt_FMT
             " columns, or ranks own other columns than rows: it must be square, with the same local sizes for both",
             A->rmap->N, A->cmap->N);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &r->diagonal, &r->offdiagonal, &r->colmap));
    PetscCall(MatGetSize(r->offdiagonal, NULL, &ncols));
  } else
    r->diagonal = A;
  PetscCall(MatGetOwnershipRangeColumn(A, &first, NULL));
  for (b = 0; b < (mpi ? 2 : 1); b++) {
    PetscCall(MatSeqAIJGetCSRAndMemType(b ? r->offdiagonal : r->diagonal, &r->block[b].row, &r->block[b].col, &value, &type[b]));
    r->block[b].value = value;
  }
  r->type = type[0];
  if (mpi && PetscMemTypeDevice(type[0]) != PetscMemTypeDevice(type[1])) { /* in two memories: read both on the host */
    for (b = 0; b < 2; b++) {
      Mat       B = b ? r->offdiagonal : r->diagonal;
      PetscBool done;

      PetscCall(MatGetRowIJ(B, 0, PETSC_FALSE, PETSC_FALSE, &n, &r->block[b].row, &r->block[b].col, &done));
      PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "The rows of a matrix of type %s cannot be read", ((PetscObject)B)->type_name);
      PetscCall(MatSeqAIJGetArrayRead(B, &r->block[b].value));
    }
    r->rowij = PETSC_TRUE;
    r->type = PETSC_MEMTYPE_HOST;
  }
  for (b = 0; b < (mpi ? 2 : 1) && PetscMemTypeDevice(r->type); b++) PetscCall(StrataRowsComplete(r, b ? r->offdiagonal : r->diagonal, b));
  r->block[0].first = (StrataInt)first;
  if (mpi) {
    PetscCall(StrataArraySet(&r->devicemap, (size_t)ncols * sizeof(PetscInt), PETSC_MEMTYPE_HOST, r->colmap));
    PetscCall(StrataArrayRead(&r->devicemap, r->type, &r->block[1].colmap));
    if (!ncols) r->block[1].row = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StrataRowsRestore(StrataRows *r)
{
  PetscInt n, b;

  PetscFunctionBegin;
  for (b = 0; b < 2 && r->rowij; b++) {
    Mat       B = b ? r->offdiagonal : r->diagonal;
    PetscBool done;

    PetscCall(MatSeqAIJRestoreArrayRead(B, &r->block[b].value));
    PetscCall(MatRestoreRowIJ(B, 0, PETSC_FALSE, PETSC_FALSE, &n, &r->block[b].row, &r->block[b].col, &done));
  }
  PetscCall(StrataArrayDestroy(&r->devicemap));
  for (b = 0; b < 2; b++) PetscCall(StrataArrayDestroy(&r->devicerow[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataGridColumns - The global rows of the cells next to each side of the owned box, and what lies beyond the sides
*/
void StrataGridColumns(StrataGrid g, StrataColumns *columns, int outside[])
{
  for (int l = 0; l < STRATA_LEGS; l++) {
    const StrataNeighbor *nb = StrataGridLeg(g, l);
    const int             a = l / 2;
    const PetscInt        s[3] = {1, nb->n[0], nb->n[0] * nb->n[1]};

    outside[l] = nb->rank < 0 ? STRATA_OUTSIDE_NONE : STRATA_OUTSIDE_GHOST;
    for (int b = 0; b < 3; b++) columns->s[l][b] = b == a ? 0 : (StrataInt)s[b];
    columns->start[l] = (StrataInt)(nb->start + (l % 2 ? 0 : (nb->n[a] - 1) * s[a]));
  }
  columns->start[STRATA_LEGS] = (StrataInt)g->start;
}

/* Reads excess and legs (NULL: not wanted) and gives the first faults of all ranks, PETSC_MAX_INT for none */
static PetscErrorCode StrataExtract(Mat A, StrataGrid g, PetscInt axis, StrataArray *cell, StrataArray *legs[], PetscMemType *type,
                                    StrataCSRFaults *faults)
{
  const size_t  bytes = (size_t)g->size_local * sizeof(PetscScalar);
  StrataRows    rows;
  StrataColumns columns;
  double       *pcell, *plegs[STRATA_LEGS];
  void         *stream;
  int           n[3], outside[STRATA_LEGS], l;
  PetscInt      first[2];

  PetscFunctionBegin;
  PetscCall(StrataRowsGet(A, &rows));
  PetscCall(StrataGridGetBox(g, n));
  StrataGridColumns(g, &columns, outside);
  for (l = 0; l < STRATA_LEGS; l++) { /* both legs along a periodic direction of two cells are one entry: the leg inside the grid takes it */
    const PetscInt a = l / 2;

    if (g->N[a] <= 2 && (l % 2 ? g->lo[a] + g->n[a] == g->N[a] : g->lo[a] == 0)) outside[l] = STRATA_OUTSIDE_NONE;
  }
  PetscCall(StrataArrayDestroy(cell));
  PetscCall(StrataArrayCreate(cell, bytes));
  PetscCall(StrataArrayWrite(cell, rows.type, &pcell));
  for (l = 0; l < STRATA_LEGS; l++) {
    plegs[l] = NULL;
    if (!legs[l]) continue;
    PetscCall(StrataArrayDestroy(legs[l]));
    PetscCall(StrataArrayCreate(legs[l], bytes));
    PetscCall(StrataArrayWrite(legs[l], rows.type, &plegs[l]));
  }
  faults->outside = faults->nonfinite = PETSC_MAX_INT;
  PetscCall(StrataGetStream(rows.type, &stream));
  if (g->size_local)
    StrataDispatch(rows.type, StrataExtractHost(rows.block, &columns, n, outside, (int)axis, pcell, plegs, faults),
                   StrataExtractCUDA(rows.block, &columns, n, outside, (int)axis, pcell, plegs, faults, stream));
  *type = rows.type;
  PetscCall(StrataRowsRestore(&rows));
  first[0] = faults->outside;
  first[1] = faults->nonfinite;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, first, 2, MPIU_INT, MPI_MIN, g->comm));
  faults->outside = (StrataInt)first[0];
  faults->nonfinite = (StrataInt)first[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataMatGetLines(Mat A, StrataGrid g, PetscInt axis, StrataArray *excess, StrataArray *lower, StrataArray *upper, PetscMemType *type,
                                 PetscInt *nonfinite)
{
  StrataArray    *legs[STRATA_LEGS] = {NULL, NULL, NULL, NULL, NULL, NULL};
  StrataCSRFaults faults;

  PetscFunctionBegin;
  legs[2 * axis] = lower;
  legs[2 * axis + 1] = upper;
  PetscCall(StrataExtract(A, g, axis, excess, legs, type, &faults));
  *nonfinite = faults.nonfinite == PETSC_MAX_INT ? -1 : faults.nonfinite;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataMatGetHome - Where all rows of a Strata operator are looked at: where its coefficients are, or where vectors will be if those are few numbers
*/
PetscErrorCode StrataMatGetHome(Mat A, StrataCoefficients c, PetscMemType *home)
{
  DM        dm;
  VecType   vectype;
  PetscBool bound;
  char     *cuda;

  PetscFunctionBegin;
  if (c->form == MAT_STRATA_FACES || c->form == MAT_STRATA_LEGS)
    PetscCall(StrataCoefficientsGetMemType(c, home));
  else {
    PetscCall(MatGetDM(A, &dm)); /* which knows the type of vectors of a Strata operator */
    if (dm)
      PetscCall(DMGetVecType(dm, &vectype));
    else
      PetscCall(MatGetVecType(A, &vectype));
    PetscCall(PetscStrstr(vectype, VECCUDA, &cuda)); /* seqcuda, mpicuda */
    PetscCall(MatBoundToCPU(A, &bound));
    *home = STRATA_HAVE_CUDA && cuda && !bound ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataMatGetCoupling(Mat A, StrataGrid g, PetscReal coupling[3])
{
  StrataArray        sum, lower, upper;
  StrataCoefficients c;
  PetscBool          isstrata;
  PetscMemType       type;
  PetscInt           a;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&sum, sizeof(sum)));
  PetscCall(PetscMemzero(&lower, sizeof(lower)));
  PetscCall(PetscMemzero(&upper, sizeof(upper)));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSTRATA, &isstrata));
  if (isstrata) {
    PetscScalar *p;

    PetscCall(MatStrataGetCoefficients(A, &c));
    PetscCall(StrataMatGetHome(A, c, &type));
    PetscCall(StrataArrayCreate(&sum, (size_t)g->size_local * sizeof(PetscScalar)));
    for (a = 0; a < 3; a++) {
      PetscCall(StrataArrayWrite(&sum, type, &p));
      PetscCall(StrataCoefficientsRows(c, STRATA_ROW_AXIS, a, type, p));
      PetscCall(StrataGridReduce(g, STRATA_REDUCE_SUM, p, NULL, type, &coupling[a]));
    }
  } else {
    for (a = 0; a < 3; a++) {
      const PetscScalar *p[2];
      PetscReal          part[2];
      PetscInt           nonfinite, m;

      PetscCall(StrataMatGetLines(A, g, a, &sum, &lower, &upper, &type, &nonfinite));
      PetscCall(StrataArrayRead(&lower, type, &p[0]));
      PetscCall(StrataArrayRead(&upper, type, &p[1]));
      for (m = 0; m < 2; m++) PetscCall(StrataGridReduce(g, STRATA_REDUCE_SUMABS, p[m], NULL, type, &part[m]));
      coupling[a] = part[0] + part[1];
    }
  }
  PetscCall(StrataArrayDestroy(&sum));
  PetscCall(StrataArrayDestroy(&lower));
  PetscCall(StrataArrayDestroy(&upper));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  StrataCoefficients c;
  PetscObjectState   states[3];
  PetscObjectId      dm; /* whose grid they are on, -1 if it was given */
} StrataCache;

static PetscErrorCode StrataCacheDestroy(STRATA_DESTROY_ARGUMENT arg)
{
  StrataCache *cache = (StrataCache *)StrataContextOf(arg);

  PetscFunctionBegin;
  PetscCall(StrataCoefficientsDestroy(&cache->c));
  PetscCall(PetscFree(cache));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StrataCoefficientsExtract(Mat A, DM dm, StrataGrid given, StrataCoefficients *coefficients)
{
  StrataCoefficients c;
  StrataGrid         g;
  StrataArray       *legs[STRATA_LEGS];
  StrataCSRFaults    faults;
  PetscMemType       type;
  PetscInt           l;
  char               words[128];

  PetscFunctionBegin;
  if (given) {
    PetscCall(StrataGridCheckMat(given, A));
    PetscCall(StrataGridReference(given));
    g = given;
  } else
    PetscCall(StrataMatGetGrid(A, dm, &g));
  PetscCheck(g, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix has no grid: create it with DMCreateMatrix() on a DMDA, or attach one with MatSetDM() or KSPSetDM()");
  PetscCall(StrataCoefficientsCreate(g, &c));
  PetscCall(StrataGridDestroy(&g));
  g = c->grid;
  c->form = MAT_STRATA_LEGS;
  for (l = 0; l < STRATA_LEGS; l++) legs[l] = &c->legs[l];
  PetscCall(StrataExtract(A, g, -1, &c->cell, legs, &type, &faults));
  if (faults.outside != PETSC_MAX_INT) {
    PetscCall(StrataGridRowWords(g, faults.outside, words, sizeof(words)));
    PetscCall(StrataCoefficientsDestroy(&c));
    SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
            "The matrix has an entry outside the star stencil (%s): it must couple each cell to its nearest neighbours along the axes only. Use a "
            "star stencil (DMDA_STENCIL_STAR), or PCCOLUMN, which needs the entries on its lines only",
            words);
  }
  c->nonfinite = faults.nonfinite == PETSC_MAX_INT ? -1 : faults.nonfinite;
  PetscCall(StrataCoefficientsSetUp(c));
  if (c->symmetric) PetscCall(StrataCoefficientsUseFaces(c));
  *coefficients = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The states of a matrix and of its blocks: MatAXPY() of PETSc 3.18 changes those of the blocks alone */
static PetscErrorCode StrataMatGetStates(Mat A, PetscObjectState states[3])
{
  Mat       objects[3] = {A, NULL, NULL};
  PetscBool mpi;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi && A->assembled) PetscCall(MatMPIAIJGetSeqAIJ(A, &objects[1], &objects[2], NULL));
  for (int m = 0; m < 3; m++) {
    states[m] = 0;
    if (objects[m]) PetscCall(PetscObjectStateGet((PetscObject)objects[m], &states[m]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataCoefficientsGet - The coefficients of a matrix on the grid that is given, if any, else of dm, else of the matrix' own DM. The caller destroys them.
   Those of an assembled matrix are kept on it and read anew when it has changed.
*/
PetscErrorCode StrataCoefficientsGet(Mat A, DM dm, StrataGrid given, StrataCoefficients *coefficients)
{
  PetscContainer   container;
  StrataCache     *cache;
  PetscObjectState states[3];
  PetscObjectId    id = 0;
  PetscBool        isstrata, same;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSTRATA, &isstrata));
  if (isstrata) {
    PetscCall(MatStrataGetCoefficients(A, coefficients));
    PetscCall(StrataCoefficientsReference(*coefficients));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscObjectQuery((PetscObject)A, "StrataCoefficients", (PetscObject *)&container));
  if (!container) {
    PetscCall(PetscNew(&cache));
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
    PetscCall(PetscContainerSetPointer(container, cache));
    PetscCall(StrataContainerSetDestroy(container, StrataCacheDestroy));
    PetscCall(PetscObjectCompose((PetscObject)A, "StrataCoefficients", (PetscObject)container));
    PetscCall(PetscObjectDereference((PetscObject)container));
  } else
    PetscCall(PetscContainerGetPointer(container, (void **)&cache));
  if (!dm) PetscCall(MatGetDM(A, &dm));
  if (dm) PetscCall(PetscObjectGetId((PetscObject)dm, &id));
  PetscCall(StrataMatGetStates(A, states));
  PetscCall(PetscArraycmp(cache->states, states, 3, &same));
  if (!cache->c || (given ? cache->c->grid != given : cache->dm != id)) same = PETSC_FALSE;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &same, 1, STRATA_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)A)));
  if (!same) {
    PetscCall(StrataCoefficientsDestroy(&cache->c));
    PetscCall(StrataCoefficientsExtract(A, dm, given, &cache->c));
    PetscCall(PetscArraycpy(cache->states, states, 3));
    cache->dm = given ? -1 : id;
  }
  PetscCall(StrataCoefficientsReference(cache->c));
  *coefficients = cache->c;
  PetscFunctionReturn(PETSC_SUCCESS);
}
