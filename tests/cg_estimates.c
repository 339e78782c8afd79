/*
   Estimates of eigenvalues by KSPCGFUSED are those of KSPCG; a preconditioner that is reused is that of the matrix before
*/
/* ranks: 1 2 3 4 */
#include "cg.h"

#define MOST 64

static PetscErrorCode Make(PetscBool assembled, DM *dm, Mat *A)
{
  const PetscScalar   legs[6] = {-1, -1, -2, -2, -5, -5};
  const MatStrataSide sides[6] = {MAT_STRATA_DIRICHLET, MAT_STRATA_NEUMANN, MAT_STRATA_NEUMANN,
                                  MAT_STRATA_NEUMANN,   MAT_STRATA_NEUMANN, MAT_STRATA_NEUMANN};

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 10, 9, 7, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, 1, NULL, NULL, NULL, dm));
  PetscCall(DMSetUp(*dm));
  PetscCall(MatCreateStrata(*dm, A));
  PetscCall(MatStrataSetSides(*A, sides));
  PetscCall(MatStrataSetConstant(*A, 0.5, legs));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  if (assembled) PetscCall(MatConvert(*A, MATAIJ, MAT_INPLACE_MATRIX, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeSolver(Mat A, DM dm, const char type[], const char options[], KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(CGSolver(A, dm, type, KSP_NORM_UNPRECONDITIONED, ksp));
  PetscCall(KSPSetTolerances(*ksp, 1e-7, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(PetscOptionsClear(NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestEigenvalues(void)
{
  static const char *const pcs[] = {"column", "jacobi", "none", "hjacobi"}, *const forms[] = {"gear", "classic"};

  PetscFunctionBeginUser;
  for (int assembled = 0; assembled < 2; assembled++)
    for (int p = 0; p < 4; p++)
      for (int f = 0; f < 2; f++) {
        DM        dm;
        Mat       A;
        Vec       b, x;
        PetscReal extreme[2][2], re[2][MOST], im[MOST], off = 0;
        PetscInt  count[2], its;
        char      options[128], name[128];

        PetscCall(Make(assembled ? PETSC_TRUE : PETSC_FALSE, &dm, &A));
        PetscCall(DMCreateGlobalVector(dm, &b));
        PetscCall(VecDuplicate(b, &x));
        PetscCall(VecSetRandom(b, NULL));
        PetscCall(PetscSNPrintf(options, sizeof(options), "-t_pc_type %s%s", pcs[p], f ? " -t_ksp_cgfused_form classic" : ""));
        PetscCall(PetscSNPrintf(name, sizeof(name), "%s, pc %s, %s", assembled ? "aij" : "strata", pcs[p], forms[f]));
        for (int k = 0; k < 2; k++) {
          KSP ksp;

          PetscCall(MakeSolver(A, dm, k ? KSPCGFUSED : KSPCG, options, &ksp));
          PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
          PetscCall(KSPSolve(ksp, b, x));
          PetscCall(KSPComputeExtremeSingularValues(ksp, &extreme[k][0], &extreme[k][1]));
          PetscCall(KSPComputeEigenvalues(ksp, MOST, re[k], im, &count[k]));
          PetscCall(KSPGetIterationNumber(ksp, &its));
          if (k) is_error(KSPComputeEigenvalues(ksp, 2, re[k], im, &its), PETSC_ERR_ARG_SIZ, "estimates room for 2", "%s: too little room", name);
          if (k) PetscCall(KSPComputeEigenvalues(ksp, MOST, re[k], im, &count[k]));
          PetscCall(KSPDestroy(&ksp));
        }
        is_real(extreme[1][0], extreme[0][0], 1e-10, "%s: the largest singular value", name);
        is_real(extreme[1][1], extreme[0][1], 1e-6, "%s: the smallest singular value", name);
        is_int(count[1], count[0], "%s: as many eigenvalues", name);
        for (PetscInt i = 0; i < PetscMin(count[0], count[1]); i++) off = PetscMax(off, PetscAbsReal(re[1][i] - re[0][i]));
        ok(off <= 1e-6 * extreme[0][0], "%s: eigenvalues of KSPCG, off by %g", name, (double)off);
        ok(re[1][count[1] - 1] == extreme[1][0] && re[1][0] == extreme[1][1], "%s: from the smallest to the largest", name);
        PetscCall(VecDestroy(&b));
        PetscCall(VecDestroy(&x));
        PetscCall(MatDestroy(&A));
        PetscCall(DMDestroy(&dm));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other numbers */
static PetscErrorCode Change(Mat A, PetscScalar excess)
{
  const PetscScalar legs[6] = {-8, -8, -2, -2, -20, -20};
  DM                dm;
  Mat               from;
  PetscBool         strata;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSTRATA, &strata));
  PetscCall(Make(PETSC_FALSE, &dm, &from));
  PetscCall(MatStrataSetConstant(strata ? A : from, excess, legs));
  PetscCall(MatAssemblyBegin(strata ? A : from, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(strata ? A : from, MAT_FINAL_ASSEMBLY));
  if (!strata) {
    PetscCall(MatConvert(from, MATAIJ, MAT_INPLACE_MATRIX, &from));
    PetscCall(MatCopy(from, A, SAME_NONZERO_PATTERN));
  }
  PetscCall(MatDestroy(&from));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix changes, its preconditioner may not: cgfused does what cg does, with the preconditioner of before and with that of the new matrix */
static PetscErrorCode TestReuse(void)
{
  static const char *const pcs[] = {"column", "column", "jacobi", "jacobi"};

  PetscFunctionBeginUser;
  for (int p = 0; p < 4; p++) {
    PetscInt its[2][5];
    char     options[128], name[64];

    PetscCall(PetscSNPrintf(options, sizeof(options), "-t_pc_type %s -t_pc_column_axis z", pcs[p]));
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s, pc %s", p % 2 ? "aij" : "strata", pcs[p]));
    for (int k = 0; k < 2; k++) {
      DM  dm;
      Mat A;
      Vec b, x, r;
      KSP ksp;

      PetscCall(Make(p % 2 ? PETSC_TRUE : PETSC_FALSE, &dm, &A));
      PetscCall(DMCreateGlobalVector(dm, &b));
      PetscCall(VecDuplicate(b, &x));
      PetscCall(VecDuplicate(b, &r));
      PetscCall(VecSetRandom(b, NULL));
      PetscCall(MakeSolver(A, dm, k ? KSPCGFUSED : KSPCG, options, &ksp));
      for (int step = 0; step < 5; step++) {
        PetscReal norm, size;

        if (step == 1) PetscCall(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
        if (step == 3) PetscCall(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
        if (step == 1 || step == 4) PetscCall(Change(A, step == 1 ? 0.1 : 2));
        PetscCall(KSPSolve(ksp, b, x));
        PetscCall(KSPGetIterationNumber(ksp, &its[k][step]));
        PetscCall(MatMult(A, x, r));
        PetscCall(VecAXPY(r, -1, b));
        PetscCall(VecNorm(r, NORM_2, &norm));
        PetscCall(VecNorm(b, NORM_2, &size));
        ok(norm <= 1.001e-7 * size, "%s, %s, step %d: solved, residual %g of %g", name, k ? KSPCGFUSED : KSPCG, step, (double)norm, (double)size);
      }
      PetscCall(KSPDestroy(&ksp));
      PetscCall(VecDestroy(&b));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&r));
      PetscCall(MatDestroy(&A));
      PetscCall(DMDestroy(&dm));
    }
    for (int step = 0; step < 5; step++) is_int(its[1][step], its[0][step], "%s, step %d: iterations of cg", name, step);
    ok(its[1][1] == its[1][2], "%s: the old preconditioner stays", name);
    if (p)
      ok(its[1][2] != its[1][3], "%s: and goes, %d and %d iterations", name, (int)its[1][2], (int)its[1][3]); /* columns follow a Strata operator */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  PetscCall(TestEigenvalues());
  PetscCall(TestReuse());
  return TapEnd();
}
