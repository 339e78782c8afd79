/*
   The grid: who owns what, the exchange of ghost cells, and reductions
*/
/* ranks: 1 2 3 4 */
#include "grids.h"
#include "../src/grid/gridimpl.h"

/* Who owns each cell and its global row, worked out from the boxes of all ranks */
typedef struct {
  PetscInt     N[3];
  PetscInt    *row;
  PetscMPIInt *owner;
} Table;

static PetscErrorCode TableCreate(StrataGrid g, Table *t)
{
  const PetscInt cells = g->N[0] * g->N[1] * g->N[2];
  PetscInt       mine[6], *all, start = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(cells, &t->row, cells, &t->owner));
  PetscCall(PetscMalloc1(6 * g->size, &all));
  for (int a = 0; a < 3; a++) {
    t->N[a] = g->N[a];
    mine[a] = g->lo[a];
    mine[3 + a] = g->n[a];
  }
  for (PetscInt i = 0; i < cells; i++) t->owner[i] = -1;
  PetscCallMPI(MPI_Allgather(mine, 6, MPIU_INT, all, 6, MPIU_INT, PETSC_COMM_WORLD));
  for (PetscMPIInt r = 0; r < g->size; r++) {
    const PetscInt *lo = all + 6 * r, *n = lo + 3;

    for (PetscInt k = 0; k < n[2]; k++)
      for (PetscInt j = 0; j < n[1]; j++)
        for (PetscInt i = 0; i < n[0]; i++) {
          const PetscInt cell = lo[0] + i + g->N[0] * (lo[1] + j + g->N[1] * (lo[2] + k));

          if (t->owner[cell] >= 0) start += cells; /* owned twice: the count at the end is wrong */
          t->owner[cell] = r;
          t->row[cell] = start++;
        }
  }
  ok(start == cells, "every cell has one owner");
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TableDestroy(Table *t)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree2(t->row, t->owner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cell at x, which may lie beyond a periodic side; -1 beyond the others */
static PetscInt CellAt(StrataGrid g, const PetscInt x[])
{
  PetscInt y[3];

  for (int a = 0; a < 3; a++) {
    y[a] = x[a];
    if (g->periodic[a]) y[a] = (x[a] % g->N[a] + g->N[a]) % g->N[a];
    if (y[a] < 0 || y[a] >= g->N[a]) return -1;
  }
  return y[0] + g->N[0] * (y[1] + g->N[1] * y[2]);
}

static void Steps(int d, int step[])
{
  step[0] = d % 3 - 1;
  step[1] = d / 3 % 3 - 1;
  step[2] = d / 9 - 1;
}

/* What vector v holds in a row, as a number of so many bytes */
static void Value(PetscInt row, int v, int bytes, void *value)
{
  const double  d = (double)(row + 1) + 1000.0 * v;
  const float   f = (float)d;
  unsigned char c = (unsigned char)(7 * row + 31 * v + 3);

  memcpy(value, bytes == 8 ? (const void *)&d : bytes == 4 ? (const void *)&f : (const void *)&c, (size_t)bytes);
}

/* Neighbours as the table has them */
static PetscErrorCode CheckNeighbors(StrataGrid g, const Table *t, const char *name)
{
  int good = 1;

  PetscFunctionBeginUser;
  for (int d = 0; d < STRATA_DIRECTIONS; d++) {
    const StrataNeighbor *nb = &g->neighbor[d];
    PetscInt              x[3], cell = -1, cells = 0, first = -1;
    int                   step[3];

    if (d == 13) continue;
    Steps(d, step);
    for (int a = 0; a < 3; a++) x[a] = step[a] < 0 ? g->lo[a] - 1 : step[a] > 0 ? g->lo[a] + g->n[a] : g->lo[a];
    if (g->size_local) cell = CellAt(g, x);
    if (cell < 0) {
      if (nb->rank >= 0) good = 0;
      continue;
    }
    for (PetscInt c = 0; c < t->N[0] * t->N[1] * t->N[2]; c++)
      if (t->owner[c] == t->owner[cell]) {
        if (first < 0 || t->row[c] < first) first = t->row[c];
        cells++;
      }
    if (nb->rank != t->owner[cell] || nb->start != first || nb->n[0] * nb->n[1] * nb->n[2] != cells) good = 0;
    for (int a = 0; a < 3; a++)
      if (!step[a] && nb->n[a] != g->n[a]) good = 0;
  }
  ok(good, "%s: neighbours", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ghosts hold what the table says, and are there exactly where they must be */
static int GhostsAgree(StrataGrid g, const Table *t, const StrataGhost ghost[], const PetscInt depth[], int corners, int bytes, int nv)
{
  for (int d = 0; d < STRATA_DIRECTIONS; d++) {
    int      step[3], axes = 0;
    PetscInt lo[3], hi[3], x[3], cells = 1;

    Steps(d, step);
    for (int a = 0; a < 3; a++) {
      axes += step[a] != 0;
      lo[a] = step[a] < 0 ? g->lo[a] - depth[a] : step[a] > 0 ? g->lo[a] + g->n[a] : g->lo[a];
      hi[a] = lo[a] + (step[a] ? depth[a] : g->n[a]);
      cells *= hi[a] - lo[a];
    }
    if (!axes || (axes > 1 && !corners) || !cells || !g->size_local || CellAt(g, lo) < 0) {
      if (ghost[d].p) return 0;
      continue;
    }
    if (!ghost[d].p) return 0;
    for (int v = 0; v < nv; v++)
      for (x[2] = lo[2]; x[2] < hi[2]; x[2]++)
        for (x[1] = lo[1]; x[1] < hi[1]; x[1]++)
          for (x[0] = lo[0]; x[0] < hi[0]; x[0]++) {
            char        want[8];
            const char *got = (const char *)ghost[d].p + bytes * (v * ghost[d].sv + (x[0] - lo[0]) * ghost[d].s[0] + (x[1] - lo[1]) * ghost[d].s[1] +
                                                                  (x[2] - lo[2]) * ghost[d].s[2]);

            Value(t->row[CellAt(g, x)], v, bytes, want);
            if (memcmp(want, got, (size_t)bytes)) return 0;
          }
  }
  return 1;
}

static PetscErrorCode CheckHalo(StrataGrid g, const Table *t, const PetscInt depth[], int corners, int bytes, int nv, const char *name)
{
  StrataHalo     halo;
  StrataGhost    ghost[STRATA_DIRECTIONS], legs[STRATA_LEGS], early[STRATA_LEGS];
  const PetscInt ld = g->size_local + 3;
  char          *x;
  int            good = 1, same = 1, views = 1;

  PetscFunctionBeginUser;
  PetscCall(StrataHaloCreate(g, depth, corners ? PETSC_TRUE : PETSC_FALSE, &halo));
  PetscCall(PetscMalloc1(ld * nv * bytes + 1, &x));
  for (int round = 0; round < 2; round++) { /* the second round reuses the buffers, for fewer vectors */
    const int count = round ? 1 : nv;

    for (int v = 0; v < count; v++)
      for (PetscInt i = 0; i < g->size_local; i++) Value(g->start + i, v, bytes, x + bytes * (v * ld + i));
    PetscCall(StrataHaloBegin(halo, x, bytes, count, ld, PETSC_MEMTYPE_HOST));
    PetscCall(StrataHaloViewLegs(halo, early));
    if (round) {
      PetscCall(StrataHaloEndLegs(halo, legs));
      for (int l = 0; l < STRATA_LEGS; l++) {
        memset(&ghost[l], 0, sizeof(ghost[l]));
        if (legs[l].p != NULL && (PetscInt)legs[l].s[0] < 1) same = 0;
      }
    } else {
      PetscCall(StrataHaloEnd(halo, ghost));
      if (!GhostsAgree(g, t, ghost, depth, corners, bytes, count)) good = 0;
    }
    for (int l = 0; l < STRATA_LEGS; l++) {
      const StrataNeighbor *nb = StrataGridLeg(g, l);
      const int             inside = nb->rank == g->rank && depth[l / 2] > 0, there = nb->rank >= 0 && depth[l / 2] > 0;
      const StrataGhost    *q = round ? &legs[l] : &ghost[STRATA_LEG_DIRECTION(l)];

      if ((early[l].p != NULL) != inside || (q->p != NULL) != there) views = 0;
      if (early[l].p && (early[l].p != q->p || (const char *)q->p < x || (const char *)q->p >= x + ld * nv * bytes)) views = 0;
      if (!round) legs[l] = *q;
    }
    if (round) { /* the faces alone, as all ghosts but in the order of the legs */
      for (int d = 0; d < STRATA_DIRECTIONS; d++) ghost[d].p = NULL;
      for (int l = 0; l < STRATA_LEGS; l++) ghost[STRATA_LEG_DIRECTION(l)] = legs[l];
      if (!GhostsAgree(g, t, ghost, depth, 0, bytes, count)) same = 0;
    }
  }
  ok(good, "%s: ghosts %d %d %d deep, %s, %d vector(s) of %d bytes", name, (int)depth[0], (int)depth[1], (int)depth[2],
     corners ? "faces, edges and corners" : "faces", nv, bytes);
  ok(same && views, "%s: the same as legs, views of the vector where the neighbour is the rank itself", name);
  PetscCall(PetscFree(x));
  PetscCall(StrataHaloDestroy(&halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest depth along each axis that every rank can give, 3 at most */
static PetscErrorCode LargestDepth(StrataGrid g, PetscInt depth[])
{
  PetscFunctionBeginUser;
  for (int a = 0; a < 3; a++) {
    depth[a] = g->size_local ? PetscMin(g->n[a], 3) : 3;
    if (a >= g->dim) depth[a] = 1;
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, depth, 3, MPIU_INT, MPI_MIN, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckHalos(StrataGrid g, const Table *t, const char *name)
{
  PetscInt most[3];

  PetscFunctionBeginUser;
  PetscCall(LargestDepth(g, most));
  for (PetscInt deep = 0; deep <= 3; deep++) {
    const PetscInt depth[3] = {PetscMin(deep, most[0]), PetscMin(deep, most[1]), PetscMin(deep, most[2])};
    const int      bytes = deep % 3 == 0 ? 8 : deep % 3 == 1 ? 1 : 4;

    if (deep > 1 && depth[0] < deep && depth[1] < deep && depth[2] < deep) break;
    PetscCall(CheckHalo(g, t, depth, 0, bytes, 1, name));
    PetscCall(CheckHalo(g, t, depth, 1, bytes == 8 ? 4 : 8, 3, name));
  }
  for (int a = 0; a < g->dim; a++) { /* along one axis only */
    PetscInt depth[3] = {0, 0, 0};

    depth[a] = 1;
    PetscCall(CheckHalo(g, t, depth, 0, 8, 2, name));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The DMDA's own ghost cells hold the global rows that the table has there */
static PetscErrorCode CheckDMDA(DM dm, StrataGrid g, const Table *t, const char *name)
{
  Vec                global, local;
  PetscInt           start, end, glo[3], gn[3], lo[3], n[3], x[3], dim;
  PetscScalar       *p;
  const PetscScalar *q;
  int                good = 1;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMCreateGlobalVector(dm, &global));
  PetscCall(DMCreateLocalVector(dm, &local));
  PetscCall(VecGetOwnershipRange(global, &start, &end));
  PetscCall(DMDAGetCorners(dm, &lo[0], &lo[1], &lo[2], &n[0], &n[1], &n[2]));
  for (int a = 0; a < 3; a++)
    if (g->lo[a] != (a < dim ? lo[a] : 0) || g->n[a] != (a < dim ? n[a] : 1)) good = 0;
  ok(good && g->start == start && g->size_local == end - start, "%s: the box and the rows are those of the DMDA", name);
  PetscCall(VecGetArray(global, &p));
  for (PetscInt i = start; i < end; i++) p[i - start] = (PetscScalar)i;
  PetscCall(VecRestoreArray(global, &p));
  PetscCall(VecSet(local, -1));
  PetscCall(DMGlobalToLocal(dm, global, INSERT_VALUES, local));
  PetscCall(DMDAGetGhostCorners(dm, &glo[0], &glo[1], &glo[2], &gn[0], &gn[1], &gn[2]));
  PetscCall(VecGetArrayRead(local, &q));
  for (x[2] = glo[2]; x[2] < glo[2] + gn[2]; x[2]++)
    for (x[1] = glo[1]; x[1] < glo[1] + gn[1]; x[1]++)
      for (x[0] = glo[0]; x[0] < glo[0] + gn[0]; x[0]++) {
        const PetscInt cell = CellAt(g, x), got = (PetscInt)q[x[0] - glo[0] + gn[0] * (x[1] - glo[1] + gn[1] * (x[2] - glo[2]))];

        if (cell >= 0 && got != t->row[cell]) good = 0;
      }
  PetscCall(VecRestoreArrayRead(local, &q));
  ok(good, "%s: global rows are those of the DMDA", name);
  PetscCall(VecDestroy(&global));
  PetscCall(VecDestroy(&local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestDMDA(PetscInt dim, const PetscInt N[], const DMBoundaryType boundary[], int all)
{
  PetscInt procs[3];
  int      which = 0;

  PetscFunctionBeginUser;
  while (NextProcessGrid(dim, N, &which, procs)) {
    StrataGrid  g;
    Table       t;
    DM          dm;
    const char *name = TapText("%dD %dx%dx%d, %s %s %s, on %dx%dx%d ranks", (int)dim, (int)N[0], (int)N[1], (int)N[2], DMBoundaryTypes[boundary[0]],
                               DMBoundaryTypes[boundary[1]], DMBoundaryTypes[boundary[2]], (int)procs[0], (int)procs[1], (int)procs[2]);
    char        text[256];

    PetscCall(PetscStrncpy(text, name, sizeof(text)));
    PetscCall(CreateDMDA(PETSC_COMM_WORLD, dim, N, procs, boundary, 1, &dm));
    PetscCall(StrataGridCreateDMDA(dm, &g));
    PetscCall(TableCreate(g, &t));
    for (int a = 0; a < 3; a++)
      ok(g->N[a] == (a < dim ? N[a] : 1) && g->procs[a] == (a < dim ? procs[a] : 1) &&
             g->periodic[a] == (PetscBool)(a < dim && boundary[a] == DM_BOUNDARY_PERIODIC),
         "%s: axis %c", text, 'x' + a);
    PetscCall(CheckDMDA(dm, g, &t, text));
    PetscCall(CheckNeighbors(g, &t, text));
    if (all)
      PetscCall(CheckHalos(g, &t, text));
    else {
      const PetscInt depth[3] = {1, 1, 1};

      PetscCall(CheckHalo(g, &t, depth, 1, 8, 1, text));
    }
    PetscCall(TableDestroy(&t));
    PetscCall(StrataGridDestroy(&g));
    ok(!g, "destroyed");
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestUneven(void)
{
  PetscMPIInt    size;
  PetscInt       widths[4] = {1, 4, 2, 3}, N = 0;
  const PetscInt three = 3;
  DM             dm;
  StrataGrid     g, h;
  StrataHalo     halo = NULL;
  Table          t;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int r = 0; r < size; r++) N += widths[r];
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_GHOSTED, DMDA_STENCIL_STAR, N, 3, size, 1, 1, 1, widths, &three, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(StrataGridCreateDMDA(dm, &g));
  PetscCall(TableCreate(g, &t));
  PetscCall(CheckNeighbors(g, &t, "uneven widths"));
  PetscCall(CheckHalos(g, &t, "uneven widths"));
  is_error(StrataHaloCreate(g, (const PetscInt[3]){2, 0, 0}, PETSC_FALSE, &halo), PETSC_ERR_ARG_OUTOFRANGE,
           "2 deep axis x narrowest owns 1 cells fewer ranks smaller depth", "ghosts deeper than the narrowest rank is wide");
  PetscCall(CheckHalo(g, &t, (const PetscInt[3]){1, 5, 4}, 1, 8, 1, "uneven widths, no limit where nothing lies beyond"));
  PetscCall(TableDestroy(&t));
  PetscCall(StrataGridReference(g));
  h = g;
  PetscCall(StrataGridDestroy(&h));
  ok(!h && g->N[1] == 3, "a reference keeps the grid");
  PetscCall(StrataGridDestroy(&g));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Boxes of which some are empty: the digits are the widths along the axis, one a rank */
static PetscErrorCode TestBox(PetscInt dim, int axis, const char *digits, const PetscBool periodic[])
{
  PetscMPIInt     size, nonempty = 0;
  PetscInt        N[3] = {2, 3, 2}, procs[3] = {1, 1, 1}, widths[8], one[3] = {2, 3, 2};
  const PetscInt *all[3] = {&one[0], &one[1], &one[2]};
  StrataGrid      g;
  Table           t;
  PetscReal       sum;
  PetscScalar    *x;
  char            name[64];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (PetscInt a = dim; a < 3; a++) N[a] = one[a] = 1;
  N[axis] = 0;
  for (int r = 0; r < size; r++) {
    widths[r] = digits[r] - '0';
    N[axis] += widths[r];
    nonempty += widths[r] > 0;
  }
  procs[axis] = size;
  all[axis] = widths;
  PetscCall(PetscSNPrintf(name, sizeof(name), "%dD box, %.*s cells along %c%s", (int)dim, (int)size, digits, 'x' + axis,
                          periodic[axis] ? ", periodic" : ""));
  PetscCall(StrataGridCreateBox(PETSC_COMM_WORLD, dim, N, periodic, procs, all, &g));
  PetscCall(TableCreate(g, &t));
  PetscCall(CheckNeighbors(g, &t, name));
  PetscCall(CheckHalos(g, &t, name));
  PetscCall(PetscMalloc1(g->size_local, &x));
  for (PetscInt i = 0; i < g->size_local; i++) x[i] = (PetscScalar)(g->start + i);
  PetscCall(StrataGridReduce(g, STRATA_REDUCE_SUM, x, NULL, PETSC_MEMTYPE_HOST, &sum));
  is_real(sum, N[0] * N[1] * N[2] * (N[0] * N[1] * N[2] - 1.0) / 2, 0, "%s: sum of the rows", name);
  PetscCall(StrataGridReduce(g, STRATA_REDUCE_MAX, x, NULL, PETSC_MEMTYPE_HOST, &sum));
  if (nonempty)
    is_real(sum, N[0] * N[1] * N[2] - 1.0, 0, "%s: the last row", name);
  else
    ok(isinf(sum) && sum < 0, "%s: no largest row", name);
  PetscCall(PetscFree(x));
  PetscCall(TableDestroy(&t));
  PetscCall(StrataGridDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSlabs(void)
{
  const PetscInt N[3] = {3, 2, 7};
  PetscInt       M[3] = {3, 2, 0}, rows;
  PetscMPIInt    rank, size;
  StrataGrid     g, h;
  Table          t;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (PetscInt dim = 1; dim <= 3; dim++) {
    PetscInt layer = dim == 1 ? 1 : dim == 2 ? 3 : 6, layers = N[dim - 1], own = rank == size - 1 ? layers - (size - 1) / 2 : rank % 2;

    PetscCall(StrataGridCreateSlabs(PETSC_COMM_WORLD, dim, N, own * layer, &g)); /* ranks 0, 2, .. but the last own nothing */
    PetscCall(TableCreate(g, &t));
    is_int(g->size_local, own * layer, "slabs: the rows of a rank");
    PetscCall(CheckNeighbors(g, &t, TapText("%dD slabs", (int)dim)));
    PetscCall(CheckHalos(g, &t, TapText("%dD slabs", (int)dim)));
    PetscCall(StrataGridCheckSame(g, g, "a grid and itself"));
    PetscCall(TableDestroy(&t));
    PetscCall(StrataGridDestroy(&g));
  }
  rows = 6 * 2 + (rank == size - 1 ? 1 : 0);
  M[2] = 2 * size + 1;
  is_error(StrataGridCreateSlabs(PETSC_COMM_WORLD, 3, M, rows, &g), PETSC_ERR_ARG_SIZ, "whole layers of 6 rows local size multiple",
           "slabs: a rank with a part of a layer");
  M[2] = 2 * size;
  PetscCall(StrataGridCreateSlabs(PETSC_COMM_WORLD, 3, M, 12, &g));
  M[0] = 6;
  M[1] = 1;
  PetscCall(StrataGridCreateSlabs(PETSC_COMM_WORLD, 3, M, 12, &h));
  is_error(StrataGridCheckSame(g, h, "the test"), PETSC_ERR_ARG_INCOMP, "the test grids differ 3 x 2 6 x 1", "grids that differ");
  PetscCall(StrataGridDestroy(&h));
  PetscCall(StrataGridDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reductions of vectors with so many cells on the last rank, and fewer on the others */
static PetscErrorCode TestReduce(PetscInt cells, PetscInt others)
{
  const StrataReduction    ops[] = {STRATA_REDUCE_SUM, STRATA_REDUCE_SUMABS, STRATA_REDUCE_DOT,
                                    STRATA_REDUCE_MAX, STRATA_REDUCE_MAXABS, STRATA_REDUCE_MAXDIFF};
  static const char *const names[] = {"sum", "sum of |x|", "dot product", "largest x", "largest |x|", "largest |x - y|"};
  PetscMPIInt              rank, size;
  PetscInt                 n, N[3], widths[8], procs[3] = {1, 1, 1}, one = 1, i;
  const PetscInt          *all[3] = {widths, &one, &one};
  const PetscBool          no[3] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  StrataGrid               g;
  PetscScalar             *x, *y, *moved;
  char                     name[64];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int r = 0; r < size; r++) widths[r] = r == size - 1 ? cells : others;
  procs[0] = size;
  N[0] = cells + (size - 1) * others;
  N[1] = N[2] = 1;
  PetscCall(StrataGridCreateBox(PETSC_COMM_WORLD, 1, N, no, procs, all, &g));
  n = g->size_local;
  PetscCall(PetscMalloc3(n + 1, &x, n + 1, &y, n + 8, &moved));
  for (i = 0; i < n; i++) {
    x[i] = Number(1, g->start + i) * (1 + (g->start + i) % 5);
    y[i] = Number(2, g->start + i);
  }
  PetscCall(PetscSNPrintf(name, sizeof(name), "%" PetscInt_FMT " cells, %" PetscInt_FMT " on other ranks", cells, others));
  for (int op = 0; op < 6; op++) {
    long double exact = 0, size2 = 0, largest = op == 3 ? -INFINITY : 0, parts[2];
    PetscReal   got, again, nan;
    const int   needsy = op == STRATA_REDUCE_DOT || op == STRATA_REDUCE_MAXDIFF;

    for (i = 0; i < n; i++) {
      const long double term = op == 0 || op == 3   ? (long double)x[i]
                               : op == 1 || op == 4 ? fabsl((long double)x[i])
                               : op == 2            ? (long double)x[i] * y[i]
                                                    : (long double)fabs(x[i] - y[i]);

      exact += term;
      size2 += fabsl(term);
      if (term > largest) largest = term;
    }
    parts[0] = exact;
    parts[1] = size2;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, parts, 2, MPI_LONG_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_LONG_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    PetscCall(StrataGridReduce(g, ops[op], x, needsy ? y : NULL, PETSC_MEMTYPE_HOST, &got));
    if (op <= 2) {
      /* no number is in more than 32 + 8 additions of a chunk, as many of chunks, and the ranks' */
      const double bound = (2 * 41 + size) * (double)PETSC_MACHINE_EPSILON / 2 * (double)parts[1];

      ok(fabsl(got - parts[0]) <= bound, "%s: %s", name, names[op]);
    } else
      ok((long double)got == largest, "%s: %s", name, names[op]);
    PetscCall(PetscArraycpy(moved + 7, x, n));
    PetscCall(StrataGridReduce(g, ops[op], moved + 7, needsy ? y : NULL, PETSC_MEMTYPE_HOST, &again));
    is_bits(&again, &got, sizeof(got), "%s: %s, the same bits again, from elsewhere", name, names[op]);
    {
      PetscReal first = got;

      PetscCallMPI(MPI_Bcast(&first, 1, MPIU_REAL, 0, PETSC_COMM_WORLD));
      is_bits(&first, &got, sizeof(got), "%s: %s, the same bits on all ranks", name, names[op]);
    }
    if (!cells) continue;
    for (int where = 0; where < 3; where++) { /* a NaN at the start, in the middle, at the end of the last rank */
      const PetscInt at = where == 0 ? 0 : where == 1 ? n / 2 : n - 1;
      PetscScalar    keep = 0;

      if (rank == size - 1) {
        keep = x[at];
        x[at] = NAN;
      }
      PetscCall(StrataGridReduce(g, ops[op], x, needsy ? y : NULL, PETSC_MEMTYPE_HOST, &nan));
      ok(isnan(nan), "%s: %s with a NaN", name, names[op]);
      if (rank == size - 1) x[at] = keep;
    }
  }
  if (cells) {
    PetscReal got;

    if (rank == size - 1) x[n / 2] = INFINITY;
    PetscCall(StrataGridReduce(g, STRATA_REDUCE_MAX, x, NULL, PETSC_MEMTYPE_HOST, &got));
    ok(isinf(got) && got > 0, "%s: infinity is the largest", name);
  }
  PetscCall(PetscFree3(x, y, moved));
  PetscCall(StrataGridDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const DMBoundaryType none[3] = {DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE},
                       ghosted[3] = {DM_BOUNDARY_GHOSTED, DM_BOUNDARY_GHOSTED, DM_BOUNDARY_GHOSTED},
                       periodic[3] = {DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC},
                       mixed[3] = {DM_BOUNDARY_PERIODIC, DM_BOUNDARY_NONE, DM_BOUNDARY_GHOSTED};
  const DMBoundaryType *const boundaries[] = {none, ghosted, periodic, mixed};
  PetscMPIInt                 size;

  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int b = 0; b < 4; b++) {
    PetscCall(TestDMDA(1, (const PetscInt[]){11, 1, 1}, boundaries[b], 1));
    PetscCall(TestDMDA(1, (const PetscInt[]){size, 1, 1}, boundaries[b], 1)); /* one cell a rank */
    PetscCall(TestDMDA(2, (const PetscInt[]){7, 5, 1}, boundaries[b], 1));
    PetscCall(TestDMDA(2, (const PetscInt[]){size, 4, 1}, boundaries[b], 0));
    PetscCall(TestDMDA(2, (const PetscInt[]){4, 4, 1}, boundaries[b], 0));
    PetscCall(TestDMDA(3, (const PetscInt[]){5, 4, 7}, boundaries[b], 1));
    PetscCall(TestDMDA(3, (const PetscInt[]){4, 4, 4}, boundaries[b], 0));
  }
  for (int b = 2; b < 4; b++) { /* periodic directions of one and two cells */
    PetscCall(TestDMDA(1, (const PetscInt[]){1, 1, 1}, boundaries[b], 1));
    PetscCall(TestDMDA(1, (const PetscInt[]){2, 1, 1}, boundaries[b], 1));
    PetscCall(TestDMDA(2, (const PetscInt[]){1, 4, 1}, boundaries[b], 1));
    PetscCall(TestDMDA(2, (const PetscInt[]){2, 5, 1}, boundaries[b], 1));
    PetscCall(TestDMDA(3, (const PetscInt[]){1, 2, 4}, boundaries[b], 1));
    PetscCall(TestDMDA(3, (const PetscInt[]){2, 2, 2}, boundaries[b], 1));
  }
  PetscCall(TestUneven());
  for (int p = 0; p < 2; p++) {
    const PetscBool along[3] = {p ? PETSC_TRUE : PETSC_FALSE, PETSC_FALSE, p ? PETSC_TRUE : PETSC_FALSE};

    PetscCall(TestBox(1, 0, "0302", along));
    PetscCall(TestBox(2, 0, "4000", along));
    PetscCall(TestBox(2, 1, "0012", along));
    PetscCall(TestBox(3, 2, "2002", along));
    PetscCall(TestBox(3, 0, "1010", along));
    PetscCall(TestBox(3, 0, "0000", along));
  }
  PetscCall(TestSlabs());
  {
    const PetscInt cells[] = {0, 1, 2, 255, 256, 257, 8191, 8192, 8193, 3 * 8192 + 17};

    for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(cells); m++) {
      PetscCall(TestReduce(cells[m], 0));
      PetscCall(TestReduce(cells[m], cells[m] / 2 + 1));
    }
  }
  return TapEnd();
}
