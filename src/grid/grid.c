/*
   The grid: who owns what, and who is next to whom
*/
#include "gridimpl.h"
#include <petsc/private/dmimpl.h>

PetscErrorCode StrataGridReference(StrataGrid g)
{
  PetscFunctionBegin;
  g->refct++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataGridDestroy(StrataGrid *g)
{
  PetscFunctionBegin;
  if (!*g) PetscFunctionReturn(PETSC_SUCCESS);
  if (--(*g)->refct > 0) {
    *g = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(StrataArrayDestroy(&(*g)->work));
  PetscCall(PetscCommDestroy(&(*g)->comm));
  PetscCall(PetscFree(*g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next rank along one axis that owns cells, in the process grid; -1 if the grid ends before one is found */
static PetscInt StrataNextAlong(const PetscInt widths[], PetscInt procs, PetscBool periodic, PetscInt p, PetscInt step)
{
  PetscInt tries;

  for (tries = 0; tries < procs; tries++) {
    p += step;
    if (p < 0 || p >= procs) {
      if (!periodic) return -1;
      p = (p + procs) % procs;
    }
    if (widths[p]) return p;
  }
  return -1;
}

/*
   StrataGridCreateBox - A grid cut by a process grid; rank = px + procs[0] (py + procs[1] pz) owns widths[a][p_a] cells along axis a.
   Ranks may own nothing.
*/
PetscErrorCode StrataGridCreateBox(MPI_Comm comm, PetscInt dim, const PetscInt N[], const PetscBool periodic[], const PetscInt procs[],
                                   const PetscInt *const widths[], StrataGrid *grid)
{
  StrataGrid g;
  PetscInt   p[3], a, d, r, start = 0;

  PetscFunctionBegin;
  PetscCall(PetscNew(&g));
  g->refct = 1;
  PetscCall(PetscCommDuplicate(comm, &g->comm, &g->tag[0]));
  for (d = 1; d < STRATA_DIRECTIONS; d++) PetscCall(PetscCommGetNewTag(g->comm, &g->tag[d]));
  PetscCallMPI(MPI_Comm_rank(comm, &g->rank));
  PetscCallMPI(MPI_Comm_size(comm, &g->size));
  PetscCheck(procs[0] * procs[1] * procs[2] == g->size, comm, PETSC_ERR_PLIB,
             "A process grid of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " for %d ranks", procs[0], procs[1], procs[2], g->size);
  g->dim = dim;
  p[0] = g->rank % procs[0];
  p[1] = g->rank / procs[0] % procs[1];
  p[2] = g->rank / (procs[0] * procs[1]);
  for (a = 0; a < 3; a++) {
    g->N[a] = N[a];
    g->periodic[a] = periodic[a];
    g->procs[a] = procs[a];
    g->n[a] = widths[a][p[a]];
    for (r = 0, g->lo[a] = 0; r < p[a]; r++) g->lo[a] += widths[a][r];
    PetscCheck(g->n[a] <= PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "A rank owns %" PetscInt_FMT " cells along axis %" PetscInt_FMT ", more than fit in a C int: use more ranks", g->n[a], a);
  }
  g->size_local = g->n[0] * g->n[1] * g->n[2];
  for (d = 0; d < STRATA_DIRECTIONS; d++) {
    StrataNeighbor *nb = &g->neighbor[d];
    const PetscInt  step[3] = {d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1};
    PetscInt        q[3];
    PetscBool       found = g->size_local ? PETSC_TRUE : PETSC_FALSE;

    for (a = 0; a < 3; a++) {
      q[a] = step[a] ? StrataNextAlong(widths[a], procs[a], periodic[a], p[a], step[a]) : p[a];
      if (q[a] < 0) found = PETSC_FALSE;
    }
    nb->rank = -1;
    if (!found) continue;
    PetscCall(PetscMPIIntCast(q[0] + procs[0] * (q[1] + procs[1] * q[2]), &nb->rank));
    for (a = 0; a < 3; a++) nb->n[a] = widths[a][q[a]];
  }
  for (r = 0; r < g->size; r++) {
    if (r == g->rank) g->start = start;
    for (d = 0; d < STRATA_DIRECTIONS; d++)
      if (g->neighbor[d].rank == r) g->neighbor[d].start = start;
    start += widths[0][r % procs[0]] * widths[1][r / procs[0] % procs[1]] * widths[2][r / (procs[0] * procs[1])];
  }
  *grid = g;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataGridCreateDMDA - The grid of a DMDA with one degree of freedom
*/
PetscErrorCode StrataGridCreateDMDA(DM dm, StrataGrid *grid)
{
  PetscInt        dim, N[3], procs[3], dof, a;
  DMBoundaryType  boundary[3];
  PetscBool       isda, periodic[3];
  const PetscInt *widths[3], one[1] = {1};
  MPI_Comm        comm = PetscObjectComm((PetscObject)dm);

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &isda));
  PetscCheck(isda, comm, PETSC_ERR_ARG_WRONG,
             "Strata needs a DMDA, not a DM of type %s: create the grid with DMDACreate1d(), DMDACreate2d() or DMDACreate3d()",
             ((PetscObject)dm)->type_name ? ((PetscObject)dm)->type_name : "(not set)");
  PetscCheck(dm->setupcalled, comm, PETSC_ERR_ARG_WRONGSTATE, "The DMDA is not set up: call DMSetUp() first");
  PetscCall(DMDAGetInfo(dm, &dim, &N[0], &N[1], &N[2], &procs[0], &procs[1], &procs[2], &dof, NULL, &boundary[0], &boundary[1], &boundary[2], NULL));
  PetscCheck(dof == 1, comm, PETSC_ERR_SUP,
             "The DMDA has %" PetscInt_FMT
             " degrees of freedom a cell, but Strata works on one: use -pc_type fieldsplit to split the fields and set Strata's types on each",
             dof);
  PetscCall(DMDAGetOwnershipRanges(dm, &widths[0], &widths[1], &widths[2]));
  for (a = 0; a < 3; a++) {
    if (a >= dim) {
      N[a] = procs[a] = 1;
      boundary[a] = DM_BOUNDARY_NONE;
      widths[a] = one;
    }
    PetscCheck(boundary[a] == DM_BOUNDARY_NONE || boundary[a] == DM_BOUNDARY_GHOSTED || boundary[a] == DM_BOUNDARY_PERIODIC, comm, PETSC_ERR_SUP,
               "The DMDA has boundary type %s along axis %c, but Strata knows none, ghosted and periodic", DMBoundaryTypes[boundary[a]],
               (char)('x' + a));
    periodic[a] = boundary[a] == DM_BOUNDARY_PERIODIC ? PETSC_TRUE : PETSC_FALSE;
  }
  PetscCall(StrataGridCreateBox(comm, dim, N, periodic, procs, widths, grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataGridCreateSlabs - The grid of a matrix whose rows run through N[0] x N[1] x N[2] cells, x fastest, cut by ranks between
   layers of the last axis; rows is the number of rows of this rank
*/
PetscErrorCode StrataGridCreateSlabs(MPI_Comm comm, PetscInt dim, const PetscInt N[], PetscInt rows, StrataGrid *grid)
{
  const PetscInt  last = dim - 1;
  PetscInt        procs[3] = {1, 1, 1}, n[3] = {1, 1, 1}, layer = 1, own, *widths, a;
  const PetscInt *all[3];
  PetscBool       periodic[3] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE}, whole;
  PetscMPIInt     size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  for (a = 0; a < dim; a++) n[a] = N[a];
  for (a = 0; a < last; a++) layer *= n[a];
  whole = rows % layer ? PETSC_FALSE : PETSC_TRUE;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &whole, 1, STRATA_MPI_BOOL, MPI_LAND, comm));
  PetscCheck(whole, comm, PETSC_ERR_ARG_SIZ,
             "The rows of a rank must be whole layers of %" PetscInt_FMT " rows: set the local size of the matrix to a multiple of it", layer);
  own = rows / layer;
  procs[last] = size;
  PetscCall(PetscMalloc1(size, &widths));
  PetscCallMPI(MPI_Allgather(&own, 1, MPIU_INT, widths, 1, MPIU_INT, comm));
  for (a = 0; a < 3; a++) all[a] = a == last ? widths : &n[a];
  PetscCall(StrataGridCreateBox(comm, dim, n, periodic, procs, all, grid));
  PetscCall(PetscFree(widths));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataGridCheckSame(StrataGrid g, StrataGrid h, const char what[])
{
  PetscBool same = PETSC_TRUE;
  PetscInt  a;

  PetscFunctionBegin;
  for (a = 0; a < 3; a++)
    if (g->N[a] != h->N[a] || g->n[a] != h->n[a] || g->lo[a] != h->lo[a] || g->periodic[a] != h->periodic[a]) same = PETSC_FALSE;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &same, 1, STRATA_MPI_BOOL, MPI_LAND, g->comm));
  PetscCheck(same, g->comm, PETSC_ERR_ARG_INCOMP,
             "%s: the grids differ (%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " and %" PetscInt_FMT " x %" PetscInt_FMT
             " x %" PetscInt_FMT " cells, or other boundary types or ranks)",
             what, g->N[0], g->N[1], g->N[2], h->N[0], h->N[1], h->N[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataGridCheckVec - Fails on all ranks unless the vector lies on the grid
*/
PetscErrorCode StrataGridCheckVec(StrataGrid g, Vec v, const char what[])
{
  PetscInt  n = -1, N = -1;
  PetscBool fits;

  PetscFunctionBegin;
  if (v) {
    PetscCall(VecGetLocalSize(v, &n));
    PetscCall(VecGetSize(v, &N));
  }
  fits = n == g->size_local ? PETSC_TRUE : PETSC_FALSE;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &fits, 1, STRATA_MPI_BOOL, MPI_LAND, g->comm));
  PetscCheck(fits, g->comm, PETSC_ERR_ARG_SIZ,
             "The vector of %s is missing, or its entries are not the cells of the grid, each on its rank (%" PetscInt_FMT " entries, %" PetscInt_FMT
             " cells): create it with DMCreateGlobalVector()",
             what, N, g->N[0] * g->N[1] * g->N[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataGridGetBox(StrataGrid g, int n[3])
{
  PetscInt a;

  PetscFunctionBegin;
  for (a = 0; a < 3; a++) n[a] = (int)g->n[a];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataGridRowWords - A global row and its cell, in words; collective, for rows of any rank
*/
PetscErrorCode StrataGridRowWords(StrataGrid g, PetscInt row, char words[], size_t len)
{
  PetscInt cell[3] = {-1, -1, -1}, r = row - g->start;

  PetscFunctionBegin;
  if (r >= 0 && r < g->size_local) {
    cell[0] = g->lo[0] + r % g->n[0];
    cell[1] = g->lo[1] + r / g->n[0] % g->n[1];
    cell[2] = g->lo[2] + r / (g->n[0] * g->n[1]);
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, cell, 3, MPIU_INT, MPI_MAX, g->comm));
  PetscCall(PetscSNPrintf(words, len, "row %" PetscInt_FMT ", cell (%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT ")", row, cell[0], cell[1],
                          cell[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataGridMax - Of each number the largest of all ranks, NaN if there is one: MPI does not say what becomes of it
*/
PetscErrorCode StrataGridMax(StrataGrid g, int count, PetscReal number[])
{
  PetscReal *both;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * count, &both));
  for (int m = 0; m < count; m++) {
    both[2 * m] = PetscIsNanReal(number[m]) ? PETSC_INFINITY : number[m];
    both[2 * m + 1] = PetscIsNanReal(number[m]) ? 1 : 0;
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, both, 2 * count, MPIU_REAL, MPIU_MAX, g->comm));
  for (int m = 0; m < count; m++) number[m] = both[2 * m + 1] > 0 ? (PetscReal)NAN : both[2 * m];
  PetscCall(PetscFree(both));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataGridReduce(StrataGrid g, StrataReduction op, const PetscScalar *x, const PetscScalar *y, PetscMemType type, PetscReal *result)
{
  const ptrdiff_t n = (ptrdiff_t)g->size_local, need = StrataReduceWork(n);
  PetscReal      *w;
  void           *stream;

  PetscFunctionBegin;
  PetscCall(StrataGetStream(type, &stream));
  if (!g->work.bytes) PetscCall(StrataArrayCreate(&g->work, need * sizeof(PetscReal)));
  PetscCall(StrataArrayWrite(&g->work, type, &w));
  StrataDispatch(type, StrataReduceHost_d(op, n, x, y, w), StrataReduceCUDA_d(op, n, x, y, w, stream));
  if (PetscMemTypeHost(type)) *result = w[need - 1];
#if STRATA_HAVE_CUDA
  else
    StrataCallCUDA(StrataCUDAMemcpy(result, &w[need - 1], sizeof(*result), stream));
#endif
  if (StrataReduceAgain(op) == STRATA_REDUCE_SUM)
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, result, 1, MPIU_REAL, MPIU_SUM, g->comm));
  else
    PetscCall(StrataGridMax(g, 1, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}
