/*
   Solves in which many cycles run at once on the GPU: iterations, reason, norms and solution are those of cycles one by one
*/
#include "tap.h"
#include "../src/jacobi/jacobiimpl.h"

#define TESTS 400

/* Poisson's equation on a grid, or with other numbers for the legs */
typedef struct {
  PetscInt        n[2], subiterations, interval, tile[2], overlap; /* n[1] 0: in 1D; overlap STRATA_EXACT: exact */
  PetscReal       ratio;                                           /* of the legs along y to those along x; 0: another for each cell */
  HJacobiNorm     norm;
  HJacobiSchedule schedule;
  PetscBool       single, diverges; /* diverges: the diagonal is so small that numbers overflow between two tests */
} Case;

typedef struct {
  PetscInt           its, tests;
  KSPConvergedReason reason;
  PetscReal          norm, history[TESTS];
  PetscScalar       *x;
  char               words[256];
} Outcome;

/* The matrix; where each cell has legs of its own they grow along the grid's numbering, and sides are closed */
static PetscErrorCode SetMatrix(const Case *c, DM dm, Mat A)
{
  const PetscInt      dim = c->n[1] ? 2 : 1;
  const PetscScalar   legs[4] = {-1, -1, -c->ratio, -c->ratio}, excess = c->diverges ? -1.5 : 0.05;
  const MatStrataSide sides[6] = {MAT_STRATA_NEUMANN, MAT_STRATA_NEUMANN, MAT_STRATA_NEUMANN,
                                  MAT_STRATA_NEUMANN, MAT_STRATA_NEUMANN, MAT_STRATA_NEUMANN};
  Vec                 v[5];
  PetscInt            n;

  PetscFunctionBeginUser;
  if (c->ratio != 0) {
    PetscCall(MatStrataSetConstant(A, excess, legs));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int l = 0; l <= 2 * dim; l++) {
    PetscScalar *a;

    PetscCall(DMCreateGlobalVector(dm, &v[l]));
    PetscCall(VecGetLocalSize(v[l], &n));
    PetscCall(VecGetArrayWrite(v[l], &a));
    for (PetscInt i = 0; i < n; i++) a[i] = l == 2 * dim ? excess : -1 - (PetscScalar)((i * (l + 1)) % 7) / 8;
    PetscCall(VecRestoreArrayWrite(v[l], &a));
  }
  PetscCall(MatStrataSetSides(A, sides));
  PetscCall(MatStrataSetLegs(A, v[2 * dim], v));
  for (int l = 0; l <= 2 * dim; l++) PetscCall(VecDestroy(&v[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(const Case *c, VecType type, HJacobiKernel kernel, Outcome *o)
{
  const PetscScalar *a;
  PetscInt           n;
  StrataJacobi       j;
  DM                 dm;
  Mat                A;
  Vec                x, b;
  KSP                ksp;

  PetscFunctionBeginUser;
  if (c->n[1])
    PetscCall(DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, c->n[0], c->n[1], 1, 1, 1, 1, NULL, NULL, &dm));
  else
    PetscCall(DMDACreate1d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, c->n[0], 1, 1, NULL, &dm));
  PetscCall(DMSetVecType(dm, type));
  PetscCall(DMSetUp(dm));
  PetscCall(MatCreateStrata(dm, &A));
  PetscCall(SetMatrix(c, dm, A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPHJACOBI));
  PetscCall(KSPHJacobiSetSubiterations(ksp, c->subiterations));
  if (c->tile[0]) PetscCall(KSPHJacobiSetTile(ksp, c->n[1] ? 2 : 1, c->tile));
  PetscCall(KSPHJacobiSetOverlap(ksp, 1, &c->overlap));
  PetscCall(KSPHJacobiSetCheckInterval(ksp, c->interval));
  PetscCall(KSPHJacobiSetNorm(ksp, c->norm));
  PetscCall(KSPHJacobiSetSchedule(ksp, c->schedule));
  if (c->schedule != HJACOBI_CONSTANT) PetscCall(KSPHJacobiSetChebyshevBounds(ksp, 0.05, 2));
  if (c->single) PetscCall(KSPHJacobiSetPrecision(ksp, HJACOBI_PRECISION_SINGLE));
  PetscCall(KSPHJacobiSetKernel(ksp, kernel));
  PetscCall(KSPSetTolerances(ksp, 1e-6, c->norm == HJACOBI_NORM_UPDATE ? 1e-7 : 1e-50, 1e5, 3000));
  PetscCall(KSPSetResidualHistory(ksp, o->history, TESTS, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &o->its));
  PetscCall(KSPGetConvergedReason(ksp, &o->reason));
  PetscCall(KSPGetResidualNorm(ksp, &o->norm));
  PetscCall(KSPGetResidualHistory(ksp, NULL, &o->tests));
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_TRUE, &j));
  PetscCall(PetscStrncpy(o->words, j->words, sizeof(o->words)));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(PetscMalloc1(n, &o->x));
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(PetscArraycpy(o->x, a, n));
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int chosen; /* so often `auto` takes the kernel that stays on the chip */

static PetscErrorCode Compare(const Case *c)
{
  static const HJacobiKernel kernels[] = {HJACOBI_KERNEL_PERSISTENT, HJACOBI_KERNEL_AUTO, HJACOBI_KERNEL_SHARED};
  static Outcome             want, got;
  const PetscInt             n = c->n[0] * PetscMax(c->n[1], 1);

  PetscFunctionBeginUser;
  PetscCall(Solve(c, VECSTANDARD, HJACOBI_KERNEL_AUTO, &want));
  ok(c->diverges ? want.reason == KSP_DIVERGED_DTOL : want.reason > 0 && want.tests > 2,
     "%d x %d, %d sweeps, overlap %d, norm %s, schedule %s%s: %s after %d", (int)c->n[0], (int)c->n[1], (int)c->subiterations, (int)c->overlap,
     HJacobiNorms[c->norm], HJacobiSchedules[c->schedule], c->single ? ", single" : "", KSPConvergedReasons[want.reason], (int)want.its);
  for (int k = 0; k < 3 && TapHasDevice(); k++) {
    PetscBool same;

    PetscCall(Solve(c, VECCUDA, kernels[k], &got));
    ok(got.its == want.its && got.reason == want.reason, "%s: as many iterations", got.words);
    PetscCall(PetscArraycmp(got.history, want.history, want.tests - c->diverges, &same)); /* the last number may be NaN */
    ok(got.tests == want.tests && (got.norm == want.norm || c->diverges) && same, "the same norms");
    same = PETSC_TRUE;
    for (PetscInt i = 0; i < n; i++)
      same = same && (got.x[i] == want.x[i] || (got.x[i] != got.x[i] && want.x[i] != want.x[i])) ? PETSC_TRUE : PETSC_FALSE;
    ok(same, "the same solution");
    if (k == 0) is_string(got.words, "kernel persistent", "on the chip");
    if (k == 1 && !strcmp(got.words, "kernel persistent")) chosen++;
    PetscCall(PetscFree(got.x));
  }
  PetscCall(PetscFree(want.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const Case cases[] = {
      {{230, 75}, 3, 7, {0, 0}, STRATA_EXACT, 1, HJACOBI_NORM_2, HJACOBI_CONSTANT, PETSC_FALSE},
      {{230, 75}, 8, 5, {60, 50}, 4, 1, HJACOBI_NORM_2, HJACOBI_CONSTANT, PETSC_FALSE},
      {{231, 77}, 6, 4, {60, 30}, 4, 2, HJACOBI_NORM_INFINITY, HJACOBI_CONSTANT, PETSC_FALSE},
      {{300, 70}, 5, 6, {0, 0}, STRATA_EXACT, 1, HJACOBI_NORM_UPDATE, HJACOBI_CONSTANT, PETSC_FALSE},
      {{230, 75}, 4, 6, {0, 0}, STRATA_EXACT, 1, HJACOBI_NORM_2, HJACOBI_SRJ, PETSC_FALSE},
      {{40, 130}, 7, 3, {0, 0}, STRATA_EXACT, 2, HJACOBI_NORM_2, HJACOBI_CHEBYSHEV, PETSC_FALSE},
      {{230, 75}, 20, 3, {0, 0}, STRATA_EXACT, 1, HJACOBI_NORM_2, HJACOBI_CONSTANT, PETSC_TRUE},
      {{230, 75}, 9, 5, {0, 0}, STRATA_EXACT, 0, HJACOBI_NORM_2, HJACOBI_CONSTANT, PETSC_FALSE},
      {{131, 90}, 11, 4, {60, 30}, 4, 0, HJACOBI_NORM_UPDATE, HJACOBI_CONSTANT, PETSC_FALSE},
      {{131, 90}, 11, 4, {0, 0}, STRATA_EXACT, 0, HJACOBI_NORM_2, HJACOBI_CHEBYSHEV, PETSC_TRUE},
      {{1000, 0}, 7, 5, {0, 0}, STRATA_EXACT, 1, HJACOBI_NORM_2, HJACOBI_CONSTANT, PETSC_FALSE},
      {{9001, 0}, 20, 4, {0, 0}, STRATA_EXACT, 0, HJACOBI_NORM_INFINITY, HJACOBI_CONSTANT, PETSC_FALSE},
      {{3000, 0}, 8, 3, {32, 1}, 4, 1, HJACOBI_NORM_UPDATE, HJACOBI_CONSTANT, PETSC_FALSE},
      {{3000, 0}, 8, 3, {0, 0}, STRATA_EXACT, 1, HJACOBI_NORM_2, HJACOBI_SRJ, PETSC_TRUE},
      {{230, 75}, 20, 60, {0, 0}, STRATA_EXACT, 1, HJACOBI_NORM_2, HJACOBI_CONSTANT, PETSC_FALSE, PETSC_TRUE},
      {{131, 75}, 20, 60, {60, 30}, 4, 0, HJACOBI_NORM_UPDATE, HJACOBI_CONSTANT, PETSC_FALSE, PETSC_TRUE},
      {{3000, 0}, 20, 60, {0, 0}, STRATA_EXACT, 1, HJACOBI_NORM_INFINITY, HJACOBI_CONSTANT, PETSC_FALSE, PETSC_TRUE},
  };

  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  for (int c = 0; c < (int)PETSC_STATIC_ARRAY_LENGTH(cases); c++) PetscCall(Compare(&cases[c]));
  if (TapHasDevice())
    ok(2 * chosen > (int)PETSC_STATIC_ARRAY_LENGTH(cases), "auto stays on the chip in most of these cases: %d", chosen);
  else
    skip("no GPU");
  return TapEnd();
}
