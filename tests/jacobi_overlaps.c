/*
   KSPHJACOBI on every process grid: tiles and overlaps of their own along each axis against the kernel's definition of them; wide overlaps against
   sweeps one by one; and what is tested after a cycle
*/
/* ranks: 1 2 3 4 */
#include "problems.h"
#include "../src/jacobi/jacobi_kernels.h"

typedef struct {
  PetscInt k, cycles, tiles, tile[3], overlaps, overlap[3];
} Setting;

static const PetscReal omega = 0.8;

static PetscErrorCode Solver(const Problem *p, Mat A, const Setting *s, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(p->comm, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPHJACOBI));
  PetscCall(KSPHJacobiSetSubiterations(*ksp, s->k));
  PetscCall(KSPHJacobiSetTile(*ksp, s->tiles, s->tile));
  PetscCall(KSPHJacobiSetOverlap(*ksp, s->overlaps, s->overlap));
  PetscCall(KSPHJacobiSetOmega(*ksp, omega));
  PetscCall(KSPSetInitialGuessNonzero(*ksp, PETSC_TRUE));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_NONE));
  PetscCall(KSPSetTolerances(*ksp, 1e-50, 1e-50, 1e50, s->cycles));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x after the cycles, from the guess of all solves */
static PetscErrorCode Iterate(const Problem *p, Mat A, const Setting *s, Vec b, Vec *x)
{
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(ProblemVector(p, 2, x));
  PetscCall(Solver(p, A, s, &ksp));
  PetscCall(KSPSolve(ksp, b, *x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One cycle on the box of this rank and the cells around it, from the formulas of the problem */
static PetscErrorCode Definition(const Problem *p, const Setting *s, double *y)
{
  StrataSystem_d system;
  StrataTiling   tiling = {{1, 1, 1}, {0, 0, 0}, (int)s->k};
  StrataBox      box;
  ptrdiff_t      cells = 1, id = 0, i = 0;
  int            low[3], at[3];
  double        *b, *x, *result, *legs, weight[16];

  PetscFunctionBeginUser;
  memset(&system, 0, sizeof(system));
  system.dim = (int)p->dim;
  system.form = STRATA_SYSTEM_VARIABLE;
  for (int a = 0; a < 3; a++) {
    const int frame = a < p->dim ? (int)s->overlap[a] / 2 + 1 : 0;

    if (a < p->dim) tiling.tile[a] = (int)s->tile[a];
    if (a < p->dim) tiling.overlap[a] = (int)s->overlap[a];
    low[a] = p->lo[a] > 0 ? frame : 0;
    box.lo[a] = low[a];
    box.hi[a] = low[a] + (int)p->n[a];
    system.n[a] = box.hi[a] + (p->lo[a] + p->n[a] < p->N[a] ? frame : 0);
    system.outside[2 * a] = low[a] ? STRATA_OUTSIDE_GHOST : STRATA_OUTSIDE_NONE;
    system.outside[2 * a + 1] = system.n[a] > box.hi[a] ? STRATA_OUTSIDE_GHOST : STRATA_OUTSIDE_NONE;
    cells *= system.n[a];
  }
  PetscCall(PetscCalloc4(cells, &b, cells, &x, cells, &result, 6 * cells, &legs));
  for (int l = 0; l < 2 * p->dim; l++) system.legs[l] = legs + l * cells;
  for (at[2] = 0; at[2] < system.n[2]; at[2]++)
    for (at[1] = 0; at[1] < system.n[1]; at[1]++)
      for (at[0] = 0; at[0] < system.n[0]; at[0]++, id++) {
        PetscInt cell[3], next[3];
        double   diagonal;

        for (int a = 0; a < 3; a++) cell[a] = p->lo[a] - low[a] + at[a];
        diagonal = RowExcess(p, cell);
        for (int l = 0; l < 2 * p->dim; l++) {
          const int neighbor = Next(p, l, cell, next);

          if (neighbor && !Masked(p, next)) legs[l * cells + id] = RowLeg(p, l, cell);
          if (neighbor ? !Masked(p, next) : p->form == MAT_STRATA_CONSTANT) diagonal -= RowLeg(p, l, cell);
        }
        if (Masked(p, cell)) diagonal = 1;
        for (int l = 0; l < 2 * p->dim; l++) legs[l * cells + id] = Masked(p, cell) ? 0 : -legs[l * cells + id] / diagonal;
        b[id] = Number(1, Natural(p, cell)) / diagonal;
        x[id] = Number(2, Natural(p, cell));
      }
  for (int m = 0; m < s->k; m++) weight[m] = omega;
  StrataCycleHost_d(&system, &tiling, &box, weight, b, x, result, NULL);
  for (at[2] = box.lo[2]; at[2] < box.hi[2]; at[2]++)
    for (at[1] = box.lo[1]; at[1] < box.hi[1]; at[1]++)
      for (at[0] = box.lo[0]; at[0] < box.hi[0]; at[0]++) y[i++] = result[at[0] + system.n[0] * (at[1] + (ptrdiff_t)system.n[1] * at[2])];
  PetscCall(PetscFree4(b, x, result, legs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tiles as wide and overlaps as wide as they are asked to be along each axis */
static PetscErrorCode Axes(Problem p, int device)
{
  static const Setting settings[] = {{4, 1, 3, {7, 9, 5}, 3, {2, 4, 0}}, {5, 1, 3, {8, 5, 6}, 3, {0, 2, 4}}, {3, 1, 3, {30, 3, 9}, 3, {2, 0, 2}}};
  Mat                  A;
  Vec                  b, x;
  double               worst = 0;
  PetscReal            largest;

  PetscFunctionBeginUser;
  PetscCall(ProblemSetUp(&p));
  if (device) PetscCall(DMSetVecType(p.dm, VECCUDA));
  PetscCall(ProblemOperator(&p, &A));
  PetscCall(ProblemVector(&p, 1, &b));
  for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(settings); m++) {
    const PetscScalar *ax;
    double            *y;

    PetscCall(Iterate(&p, A, &settings[m], b, &x));
    PetscCall(PetscMalloc1(p.n[0] * p.n[1] * p.n[2], &y));
    PetscCall(Definition(&p, &settings[m], y));
    PetscCall(VecNorm(x, NORM_INFINITY, &largest));
    PetscCall(VecGetArrayRead(x, &ax));
    for (PetscInt i = 0; i < p.n[0] * p.n[1] * p.n[2]; i++) worst = PetscMax(worst, fabs(ax[i] - y[i]) / largest);
    PetscCall(VecRestoreArrayRead(x, &ax));
    PetscCall(PetscFree(y));
    PetscCall(VecDestroy(&x));
  }
  ok(worst < 1e-10, "%s, %s: tiles and overlaps of their own along each axis, error %.1e", ProblemName(&p), device ? "device" : "host", worst);
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&p.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Overlaps of 2 (k - 1) and more give the bits of sweeps one by one, and one sweep does not depend on the overlap */
static PetscErrorCode Exact(Problem p, int device)
{
  static const Setting one = {1, 12, 0, {0}, 1, {STRATA_EXACT}};
  static const Setting settings[] = {{6, 2, 0, {0}, 1, {STRATA_EXACT}}, {6, 2, 1, {14}, 1, {10}},           {6, 2, 3, {19, 13, 23}, 3, {12, 10, 18}},
                                     {12, 1, 1, {23}, 1, {22}},         {12, 1, 1, {3}, 1, {STRATA_EXACT}}, {4, 3, 2, {100, 7}, 2, {98, 6}},
                                     {1, 12, 1, {5}, 1, {4}},           {1, 12, 3, {1, 2, 3}, 1, {0}}};
  Mat                  A[2];
  Vec                  b, x, y;
  int                  differ = 0;

  PetscFunctionBeginUser;
  PetscCall(ProblemSetUp(&p));
  if (device) PetscCall(DMSetVecType(p.dm, VECCUDA));
  PetscCall(ProblemOperator(&p, &A[0]));
  PetscCall(ProblemAssembled(&p, &A[1]));
  PetscCall(ProblemVector(&p, 1, &b));
  for (int assembled = 0; assembled < 2; assembled++) {
    PetscCall(Iterate(&p, A[assembled], &one, b, &y));
    for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(settings); m++) {
      PetscBool equal;

      PetscCall(Iterate(&p, A[assembled], &settings[m], b, &x));
      PetscCall(VecEqual(x, y, &equal));
      PetscCall(VecDestroy(&x));
      if (!equal) differ++;
    }
    PetscCall(VecDestroy(&y));
  }
  is_int(differ, 0, "%s, %s: wide overlaps give the bits of sweeps one by one", ProblemName(&p), device ? "device" : "host");
  PetscCall(VecDestroy(&b));
  for (int m = 0; m < 2; m++) PetscCall(MatDestroy(&A[m]));
  PetscCall(DMDestroy(&p.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norms that are tested are those of the residual of each iterate, or the change in its last sweep */
static PetscErrorCode Norms(Problem p, int device)
{
  static const Setting setting = {5, 3, 1, {9}, 1, {STRATA_EXACT}};
  Mat                  A, B;
  Vec                  b, r, before, x;
  PetscReal            want[HJACOBI_NORM_UPDATE + 1][4], history[4];
  PetscInt             count;
  KSP                  ksp;

  PetscFunctionBeginUser;
  PetscCall(ProblemSetUp(&p));
  if (device) PetscCall(DMSetVecType(p.dm, VECCUDA));
  PetscCall(ProblemOperator(&p, &A));
  PetscCall(ProblemAssembled(&p, &B));
  PetscCall(ProblemVector(&p, 1, &b));
  PetscCall(VecDuplicate(b, &r));
  for (PetscInt c = 0; c <= setting.cycles; c++) {
    Setting s = {1, c * setting.k, 0, {0}, 1, {0}};

    if (c)
      PetscCall(Iterate(&p, A, &s, b, &x));
    else
      PetscCall(ProblemVector(&p, 2, &x));
    PetscCall(MatMult(B, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &want[HJACOBI_NORM_2][c]));
    PetscCall(VecNorm(r, NORM_INFINITY, &want[HJACOBI_NORM_INFINITY][c]));
    if (c) {
      s.cycles--;
      PetscCall(Iterate(&p, A, &s, b, &before));
      PetscCall(VecAXPY(before, -1, x));
      PetscCall(VecNorm(before, NORM_INFINITY, &want[HJACOBI_NORM_UPDATE][c]));
      PetscCall(VecDestroy(&before));
    }
    PetscCall(VecDestroy(&x));
  }
  for (int norm = HJACOBI_NORM_2; norm <= HJACOBI_NORM_UPDATE; norm++) {
    const PetscInt first = norm == HJACOBI_NORM_UPDATE ? 1 : 0;
    int            wrong = 0;

    PetscCall(Solver(&p, A, &setting, &ksp));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPHJacobiSetNorm(ksp, (HJacobiNorm)norm));
    PetscCall(KSPSetResidualHistory(ksp, history, 4, PETSC_TRUE));
    PetscCall(ProblemVector(&p, 2, &x));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetResidualHistory(ksp, NULL, &count));
    for (PetscInt c = first; c <= setting.cycles && count == setting.cycles + 1 - first; c++)
      wrong += fabs(history[c - first] - want[norm][c]) > (norm == HJACOBI_NORM_UPDATE ? 0 : 1e-12 * want[norm][0]);
    is_int(count, setting.cycles + 1 - first, "%s, %s, norm %s: a test after each cycle", ProblemName(&p), device ? "device" : "host",
           HJacobiNorms[norm]);
    is_int(wrong, 0, "their numbers, at last %g", (double)want[norm][setting.cycles]);
    PetscCall(VecDestroy(&x));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(DMDestroy(&p.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt sizes[3][3] = {{97, 1, 1}, {29, 23, 1}, {17, 19, 13}};
  PetscInt       procs[3];
  Problem        p;

  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  memset(&p, 0, sizeof(p));
  p.comm = PETSC_COMM_WORLD;
  for (int device = 0; device <= TapHasDevice(); device++)
    for (p.dim = 1; p.dim <= 3; p.dim++)
      for (int form = MAT_STRATA_CONSTANT; form <= MAT_STRATA_LEGS; form++)
        for (int mask = MASK_NONE; mask <= MASK_SCATTERED; mask++) {
          int which = 0;

          p.form = (MatStrataForm)form;
          p.axis = (int)p.dim - 1;
          p.mask = (Mask)mask;
          for (int a = 0; a < 3; a++) {
            p.N[a] = sizes[p.dim - 1][a];
            p.boundary[a] = DM_BOUNDARY_NONE;
            p.side[2 * a] = p.side[2 * a + 1] = MAT_STRATA_DIRICHLET;
          }
          while (NextProcessGrid(p.dim, p.N, &which, procs)) {
            for (int a = 0; a < 3; a++) p.procs[a] = procs[a];
            if (form != MAT_STRATA_TENSOR) PetscCall(Axes(p, device));
            PetscCall(Exact(p, device));
            if (form % 2) PetscCall(Norms(p, device));
          }
        }
  if (!TapHasDevice()) skip("no GPU");
  return TapEnd();
}
