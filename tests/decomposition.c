/*
   The same iterates for every process grid: each is compared with a solve of the whole problem on one rank
*/
/* ranks: 1 2 3 4 */
#include "tap.h"

static const PetscInt N[3] = {7, 5, 6};

typedef enum { PROBLEM_CONSTANT, PROBLEM_TENSOR, PROBLEM_FACES, PROBLEM_LEGS, PROBLEMS } Problem;
static const char *const Problems[] = {"constant", "tensor", "faces", "legs"};

/* A number between 0 and 1 that depends on a cell of the whole grid, and on what it is for */
static PetscReal Number(PetscInt i, PetscInt j, PetscInt k, PetscInt what)
{
  const PetscReal s = PetscSinReal(12.9898 * i + 78.233 * j + 37.719 * k + 4.581 * what) * 43758.5453;

  return s - PetscFloorReal(s);
}

static PetscErrorCode Fill(DM dm, PetscInt what, PetscReal offset, PetscReal scale, Vec *x)
{
  PetscScalar *v;
  PetscInt     lo[3], n[3], at = 0;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(dm, x));
  PetscCall(DMDAGetCorners(dm, &lo[0], &lo[1], &lo[2], &n[0], &n[1], &n[2]));
  PetscCall(VecGetArrayWrite(*x, &v));
  for (PetscInt k = lo[2]; k < lo[2] + n[2]; k++)
    for (PetscInt j = lo[1]; j < lo[1] + n[1]; j++)
      for (PetscInt i = lo[0]; i < lo[0] + n[0]; i++) v[at++] = offset + scale * Number(i, j, k, what);
  PetscCall(VecRestoreArrayWrite(*x, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Masks a third of the cells */
static PetscErrorCode Mask(DM dm, Mat A)
{
  PetscScalar *v;
  PetscInt     n;
  Vec          mask;

  PetscFunctionBeginUser;
  PetscCall(Fill(dm, 9, 0, 1, &mask));
  PetscCall(VecGetLocalSize(mask, &n));
  PetscCall(VecGetArray(mask, &v));
  for (PetscInt i = 0; i < n; i++) v[i] = v[i] < 0.3;
  PetscCall(VecRestoreArray(mask, &v));
  PetscCall(MatStrataSetMask(A, mask));
  PetscCall(VecDestroy(&mask));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(MPI_Comm comm, const PetscInt ranks[3], Problem problem, DM *dm, Mat *A)
{
  const DMBoundaryType around = problem == PROBLEM_FACES || problem == PROBLEM_LEGS ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  const PetscScalar    legs[6] = {-1, -1, -2, -2, -5, -5};
  Vec                  excess, leg[6];
  PetscInt             count = problem == PROBLEM_FACES ? 3 : 6;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(comm, around, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, N[0], N[1], N[2], ranks[0], ranks[1], ranks[2], 1, 1,
                         NULL, NULL, NULL, dm));
  PetscCall(DMSetUp(*dm));
  PetscCall(MatCreateStrata(*dm, A));
  if (problem == PROBLEM_CONSTANT)
    PetscCall(MatStrataSetConstant(*A, 0.1, legs));
  else if (problem == PROBLEM_TENSOR)
    PetscCall(StrataPressureSetOperator(*A, 2, 6.7e-3, 3.4e-2, 0.0126));
  else {
    PetscCall(Mask(*dm, *A));
    PetscCall(Fill(*dm, 6, 0.1, 1, &excess));
    for (PetscInt l = 0; l < count; l++) PetscCall(Fill(*dm, l, -1, -3, &leg[l]));
    if (problem == PROBLEM_FACES)
      PetscCall(MatStrataSetFaces(*A, excess, leg));
    else
      PetscCall(MatStrataSetLegs(*A, excess, leg));
    PetscCall(VecDestroy(&excess));
    for (PetscInt l = 0; l < count; l++) PetscCall(VecDestroy(&leg[l]));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Twelve iterations; assembled: with an AIJ matrix */
static PetscErrorCode Solve(DM dm, Mat A, Problem problem, PCType type, PetscBool assembled, Vec *x)
{
  Mat B = A;
  Vec b;
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  if (assembled) PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(Fill(dm, 8, 0, 1, &b));
  if (problem == PROBLEM_FACES || problem == PROBLEM_LEGS) { /* zero in masked cells */
    Vec mask;

    PetscCall(VecDuplicate(b, &mask));
    PetscCall(MatStrataGetMask(A, mask));
    PetscCall(VecScale(mask, -1));
    PetscCall(VecShift(mask, 1));
    PetscCall(VecPointwiseMult(b, b, mask));
    PetscCall(VecDestroy(&mask));
  }
  PetscCall(VecDuplicate(b, x));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)dm), &ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSetType(ksp, problem == PROBLEM_LEGS ? KSPBICG : KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 12));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetDM(pc, dm));
  PetscCall(PCSetType(pc, type));
  PetscCall(PCColumnSetAxis(pc, 2));
  PetscCall(KSPSolve(ksp, b, *x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  if (assembled) PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference of x from the whole solution, over the largest value of that */
static PetscErrorCode Compare(DM dm, Vec x, Vec whole, PetscReal *difference)
{
  const PetscScalar *v, *w;
  PetscInt           lo[3], n[3], at = 0;
  PetscReal          largest;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(whole, NORM_INFINITY, &largest));
  PetscCall(DMDAGetCorners(dm, &lo[0], &lo[1], &lo[2], &n[0], &n[1], &n[2]));
  PetscCall(VecGetArrayRead(x, &v));
  PetscCall(VecGetArrayRead(whole, &w));
  *difference = 0;
  for (PetscInt k = lo[2]; k < lo[2] + n[2]; k++)
    for (PetscInt j = lo[1]; j < lo[1] + n[1]; j++)
      for (PetscInt i = lo[0]; i < lo[0] + n[0]; i++, at++)
        if (!(PetscAbsReal(v[at] - w[i + N[0] * (j + N[1] * k)]) <= *difference * largest)) /* so that NaN counts */
          *difference = PetscAbsReal(v[at] - w[i + N[0] * (j + N[1] * k)]) / largest;
  PetscCall(VecRestoreArrayRead(x, &v));
  PetscCall(VecRestoreArrayRead(whole, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test(Problem problem, PCType type, PetscBool assembled)
{
  const PetscInt alone[3] = {1, 1, 1};
  PetscMPIInt    size;
  PetscReal      difference = 0, norm;
  DM             dm;
  Mat            A;
  Vec            x, whole;
  PetscBool      column;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscStrcmp(type, PCCOLUMN, &column));
  PetscCall(Create(PETSC_COMM_SELF, alone, problem, &dm, &A));
  PetscCall(Solve(dm, A, problem, type, PETSC_FALSE, &whole));
  PetscCall(VecNorm(whole, NORM_2, &norm));
  ok(norm > 1e-3 && norm < 1e9, "%s, %s, %s: a solution", Problems[problem], type, assembled ? "assembled" : "matrix-free");
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  for (PetscInt rx = 1; rx <= size; rx++)
    for (PetscInt ry = 1; ry <= size; ry++) {
      const PetscInt ranks[3] = {rx, ry, size / (rx * ry)};

      if (rx * ry * ranks[2] != size || (column && ranks[2] > 1)) continue;
      PetscCall(Create(PETSC_COMM_WORLD, ranks, problem, &dm, &A));
      PetscCall(Solve(dm, A, problem, type, assembled, &x));
      PetscCall(Compare(dm, x, whole, &difference));
      is_real(difference, 0, 1e-12, "%d x %d x %d ranks", (int)ranks[0], (int)ranks[1], (int)ranks[2]);
      PetscCall(VecDestroy(&x));
      PetscCall(MatDestroy(&A));
      PetscCall(DMDestroy(&dm));
    }
  PetscCall(VecDestroy(&whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PCType types[] = {PCNONE, PCJACOBI, PCCOLUMN};

  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  for (int problem = 0; problem < PROBLEMS; problem++)
    for (int t = 0; t < 3; t++)
      for (int assembled = 0; assembled < 2; assembled++) PetscCall(Test((Problem)problem, types[t], assembled ? PETSC_TRUE : PETSC_FALSE));
  return TapEnd();
}
