/*
   Null spaces of singular operators: one indicator vector for each connected component of cells whose rows sum to zero
*/
#include "operatorimpl.h"
#include "operator_cell.h"

/* More components than this get no null space: each would be a vector */
#define STRATA_MAX_COMPONENTS 64

typedef struct {
  StrataGrid     grid;
  StrataCoef_d   k;
  PetscInt      *parent;  /* union-find over the cells of this rank */
  int64_t       *label;   /* of each cell: the lowest global row of its component */
  unsigned char *coupled; /* of each cell: bit l is set if it is coupled to the cell beyond leg l, in whichever row */
  PetscBool      changed; /* was a label lowered? */
} StrataComponents;

static PetscInt StrataFind(PetscInt parent[], PetscInt i)
{
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

static void StrataJoin(PetscInt parent[], PetscInt i, PetscInt j)
{
  i = StrataFind(parent, i);
  j = StrataFind(parent, j);
  if (i < j)
    parent[j] = i;
  else
    parent[i] = j;
}

/* Calls action for every cell with its excess and legs */
static PetscErrorCode StrataEachRow(StrataComponents *q,
                                    PetscErrorCode (*action)(StrataComponents *, const int[], PetscInt, PetscReal, const PetscReal[], void *),
                                    void *ctx)
{
  PetscInt id = 0;
  int      x[3];

  PetscFunctionBegin;
  for (x[2] = 0; x[2] < q->k.n[2]; x[2]++)
    for (x[1] = 0; x[1] < q->k.n[1]; x[1]++)
      for (x[0] = 0; x[0] < q->k.n[0]; x[0]++, id++) {
        PetscReal       leg[STRATA_LEGS];
        const PetscReal excess = strata_row_d(&q->k, x, leg);

        PetscCall((*action)(q, x, id, excess, leg, ctx));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Joins a cell with those of its legs that are on this rank, and notes all legs */
static PetscErrorCode StrataJoinRow(StrataComponents *q, const int x[], PetscInt id, PetscReal excess, const PetscReal leg[], void *ctx)
{
  const PetscInt s[3] = {1, q->k.n[0], (PetscInt)q->k.n[0] * q->k.n[1]};

  PetscFunctionBegin;
  (void)excess;
  (void)ctx;
  q->coupled[id] = 0;
  for (int l = 0; l < STRATA_LEGS; l++) {
    if (leg[l] == 0) continue;
    q->coupled[id] |= (unsigned char)(1 << l);
    if (!strata_crosses(q->k.n, l, x)) StrataJoin(q->parent, id, l % 2 ? id + s[l / 2] : id - s[l / 2]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls action for every cell at a side of the box beyond which there are cells, with their place among the ghosts */
static PetscErrorCode StrataEachCrossing(StrataComponents *q, const StrataGhost ghost[],
                                         void (*action)(StrataComponents *, PetscInt, int, const void *, ptrdiff_t))
{
  PetscInt id = 0;
  int      x[3];

  PetscFunctionBegin;
  for (x[2] = 0; x[2] < q->k.n[2]; x[2]++)
    for (x[1] = 0; x[1] < q->k.n[1]; x[1]++)
      for (x[0] = 0; x[0] < q->k.n[0]; x[0]++, id++)
        for (int l = 0; l < STRATA_LEGS; l++)
          if (ghost[l].p && strata_crosses(q->k.n, l, x)) (*action)(q, id, l, ghost[l].p, strata_ghost_offset(&ghost[l], l, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the cell beyond leg l coupled to this one by its own row? */
static void StrataCoupleCrossing(StrataComponents *q, PetscInt id, int l, const void *ghost, ptrdiff_t offset)
{
  if (((const unsigned char *)ghost)[offset] >> (l ^ 1) & 1) q->coupled[id] |= (unsigned char)(1 << l);
}

/* Lowers the label of a component that touches a lower one across a side of the box */
static void StrataLowerCrossing(StrataComponents *q, PetscInt id, int l, const void *ghost, ptrdiff_t offset)
{
  const PetscInt root = StrataFind(q->parent, id);
  const int64_t  other = ((const int64_t *)ghost)[offset];

  if (q->coupled[id] >> l & 1 && other < q->label[root]) {
    q->label[root] = other;
    q->changed = PETSC_TRUE;
  }
}

/* What the components are like */
typedef struct {
  PetscMPIInt count;
  PetscInt   *label, *cells, *regular;
} StrataComponentList;

static PetscInt StrataComponentOf(const StrataComponentList *list, int64_t label)
{
  PetscInt lo = 0, hi = list->count;

  while (hi - lo > 1) {
    const PetscInt mid = (lo + hi) / 2;

    if (list->label[mid] <= label)
      lo = mid;
    else
      hi = mid;
  }
  return lo;
}

static PetscErrorCode StrataCountRow(StrataComponents *q, const int x[], PetscInt id, PetscReal excess, const PetscReal leg[], void *ctx)
{
  StrataComponentList *list = (StrataComponentList *)ctx;
  const PetscInt       m = StrataComponentOf(list, q->label[id]);

  PetscFunctionBegin;
  (void)x;
  (void)leg;
  if (q->k.flags && q->k.flags[id] >> 6 & 1) PetscFunctionReturn(PETSC_SUCCESS);
  list->cells[m]++;
  if (excess != 0) list->regular[m] = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels each cell with the lowest global row of its component */
static PetscErrorCode StrataLabel(StrataComponents *q)
{
  const PetscInt depth[3] = {1, 1, 1};
  StrataGrid     g = q->grid;
  StrataHalo     halo;
  StrataGhost    ghost[STRATA_LEGS];
  PetscInt       i;

  PetscFunctionBegin;
  for (i = 0; i < g->size_local; i++) q->parent[i] = i;
  PetscCall(StrataEachRow(q, StrataJoinRow, NULL));
  for (i = 0; i < g->size_local; i++) q->label[i] = (int64_t)(g->start + StrataFind(q->parent, i));
  PetscCall(StrataHaloCreate(g, depth, PETSC_FALSE, &halo));
  PetscCall(StrataHaloBegin(halo, q->coupled, 1, 1, g->size_local, PETSC_MEMTYPE_HOST));
  PetscCall(StrataHaloEndLegs(halo, ghost));
  PetscCall(StrataEachCrossing(q, ghost, StrataCoupleCrossing));
  do {
    q->changed = PETSC_FALSE;
    PetscCall(StrataHaloBegin(halo, q->label, sizeof(int64_t), 1, g->size_local, PETSC_MEMTYPE_HOST));
    PetscCall(StrataHaloEndLegs(halo, ghost));
    PetscCall(StrataEachCrossing(q, ghost, StrataLowerCrossing));
    for (i = 0; i < g->size_local; i++) q->label[i] = q->label[StrataFind(q->parent, i)];
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &q->changed, 1, STRATA_MPI_BOOL, MPI_LOR, g->comm));
  } while (q->changed);
  PetscCall(StrataHaloDestroy(&halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The labels of all components of all ranks, sorted, which is the order of their roots */
static PetscErrorCode StrataListComponents(StrataComponents *q, StrataComponentList *list, PetscInt *total)
{
  StrataGrid   g = q->grid;
  PetscInt     roots = 0, i;
  PetscInt    *mine;
  PetscMPIInt *counts, *starts, n;

  PetscFunctionBegin;
  for (i = 0; i < g->size_local; i++)
    if (q->label[i] == (int64_t)(g->start + i) && !(q->k.flags && q->k.flags[i] >> 6 & 1)) roots++;
  *total = roots;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, total, 1, MPIU_INT, MPI_SUM, g->comm));
  list->count = 0;
  if (*total > STRATA_MAX_COMPONENTS || *total == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMPIIntCast(*total, &list->count));
  PetscCall(PetscMPIIntCast(roots, &n));
  PetscCall(PetscMalloc3(roots, &mine, g->size, &counts, g->size, &starts));
  for (i = 0, roots = 0; i < g->size_local; i++)
    if (q->label[i] == (int64_t)(g->start + i) && !(q->k.flags && q->k.flags[i] >> 6 & 1)) mine[roots++] = g->start + i;
  PetscCallMPI(MPI_Allgather(&n, 1, MPI_INT, counts, 1, MPI_INT, g->comm));
  for (i = 0, n = 0; i < g->size; i++) {
    starts[i] = n;
    n += counts[i];
  }
  PetscCall(PetscCalloc3(n, &list->label, n, &list->cells, n, &list->regular));
  PetscCallMPI(MPI_Allgatherv(mine, counts[g->rank], MPIU_INT, list->label, counts, starts, MPIU_INT, g->comm));
  PetscCall(PetscFree3(mine, counts, starts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum { STRATA_REGULAR, STRATA_CONNECTED, STRATA_UNKNOWN } StrataSingularity;

/* What can be told without a look at each cell: no row that sums to zero, or one component of all cells */
static PetscErrorCode StrataQuickAnswer(StrataCoefficients c, StrataSingularity *answer)
{
  StrataGrid         g = c->grid;
  PetscBool          zero = PETSC_FALSE, closed = PETSC_FALSE, cut = PETSC_FALSE;
  const PetscScalar *p;
  PetscMemType       type;
  PetscReal          largest;
  PetscInt           m;

  PetscFunctionBegin;
  if (c->form == MAT_STRATA_CONSTANT) {
    for (m = 0; m < 2 * g->dim; m++) {
      if (c->leg[m] != 0 && !g->periodic[m / 2] && c->side[m] == MAT_STRATA_DIRICHLET) closed = PETSC_TRUE;
      if (c->leg[m] == 0 && g->N[m / 2] > 1) cut = PETSC_TRUE;
    }
    if (c->excess != 0 || (closed && !c->hasmask))
      *answer = STRATA_REGULAR;
    else
      *answer = c->hasmask || cut ? STRATA_UNKNOWN : STRATA_CONNECTED;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (c->form == MAT_STRATA_TENSOR) {
    PetscCall(StrataArrayRead(&c->level, PETSC_MEMTYPE_HOST, &p));
    for (m = 0; m < g->n[c->axis]; m++) zero = (PetscBool)(zero || p[m] == 0);
    PetscCall(StrataArrayRead(&c->area, PETSC_MEMTYPE_HOST, &p));
    for (m = 0; m < (PetscInt)(c->area.bytes / sizeof(*p)); m++) zero = (PetscBool)(zero || p[m] == 0);
  } else if (c->hasmask) {
    PetscCall(StrataArrayRead(&c->cell, PETSC_MEMTYPE_HOST, &p));
    for (m = 0; m < g->size_local; m++) zero = (PetscBool)(zero || p[m] == 0);
  } else {
    PetscCall(StrataCoefficientsGetMemType(c, &type));
    PetscCall(StrataArrayRead(&c->cell, type, &p));
    PetscCall(StrataGridReduce(g, STRATA_REDUCE_MAXABS, p, NULL, type, &largest));
    zero = largest == 0 ? PETSC_TRUE : PETSC_FALSE;
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &zero, 1, STRATA_MPI_BOOL, MPI_LOR, g->comm));
  *answer = zero ? STRATA_UNKNOWN : STRATA_REGULAR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vectors of the components that are singular */
static PetscErrorCode StrataIndicators(StrataComponents *q, StrataComponentList *list, DM dm, MatNullSpace *nullspace, PetscInt *singular)
{
  StrataGrid g = q->grid;
  Vec        v[STRATA_MAX_COMPONENTS];
  PetscInt   m, i, count = 0;

  PetscFunctionBegin;
  PetscCall(StrataEachRow(q, StrataCountRow, list));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, list->cells, list->count, MPIU_INT, MPI_SUM, g->comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, list->regular, list->count, MPIU_INT, MPI_MAX, g->comm));
  for (m = 0; m < list->count; m++) {
    PetscScalar *p;

    if (list->regular[m]) continue;
    PetscCall(DMCreateGlobalVector(dm, &v[count]));
    PetscCall(VecGetArrayWrite(v[count], &p));
    for (i = 0; i < g->size_local; i++) p[i] = q->label[i] == list->label[m] ? 1 / PetscSqrtReal((PetscReal)list->cells[m]) : 0;
    PetscCall(VecRestoreArrayWrite(v[count], &p));
    count++;
  }
  if (count) PetscCall(MatNullSpaceCreate(g->comm, PETSC_FALSE, count, v, nullspace));
  for (m = 0; m < count; m++) PetscCall(VecDestroy(&v[m]));
  *singular = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataCoefficientsNullSpace - The null space of an operator without its shift, NULL if it is regular; `components` counts its vectors, or
   all connected components where they are too many to look for it
*/
PetscErrorCode StrataCoefficientsNullSpace(StrataCoefficients c, DM dm, MatNullSpace *nullspace, PetscInt *components)
{
  StrataGrid          g = c->grid;
  StrataSingularity   answer;
  StrataComponents    q;
  StrataComponentList list = {0, NULL, NULL, NULL};

  PetscFunctionBegin;
  *nullspace = NULL;
  *components = 0;
  PetscCall(StrataQuickAnswer(c, &answer));
  if (answer == STRATA_REGULAR) PetscFunctionReturn(PETSC_SUCCESS);
  if (answer == STRATA_CONNECTED) {
    *components = 1;
    PetscCall(MatNullSpaceCreate(g->comm, PETSC_TRUE, 0, NULL, nullspace));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  q.grid = g;
  PetscCall(StrataCoefficientsGetKernel(c, PETSC_MEMTYPE_HOST, &q.k));
  q.k.scale = 1;
  q.k.shift = 0;
  PetscCall(PetscMalloc3(g->size_local, &q.parent, g->size_local, &q.label, g->size_local, &q.coupled));
  PetscCall(StrataLabel(&q));
  PetscCall(StrataListComponents(&q, &list, components));
  if (list.count)
    PetscCall(StrataIndicators(&q, &list, dm, nullspace, components));
  else if (*components)
    PetscCall(PetscInfo(dm, "%" PetscInt_FMT " connected components are too many to look for a null space\n", *components));
  PetscCall(PetscFree3(list.label, list.cells, list.regular));
  PetscCall(PetscFree3(q.parent, q.label, q.coupled));
  PetscFunctionReturn(PETSC_SUCCESS);
}
