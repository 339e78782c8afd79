/*
   A program outside of Strata that is linked with it: solves -u'' = 1 on ten cells by a Strata operator, and prints the
   version and the maximum, 15
*/
#include <strata.h>

int main(int argc, char **argv)
{
  DM          da;
  Mat         A;
  Vec         x, b;
  KSP         ksp;
  PetscReal   max;
  char        version[64];
  PetscScalar legs[] = {-1, -1};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(StrataInitializePackage());
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 10, 1, 1, NULL, &da));
  PetscCall(DMSetUp(da));
  PetscCall(MatCreateStrata(da, &A));
  PetscCall(MatStrataSetConstant(A, 0, legs));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(StrataGetVersion(version, sizeof(version)));
  PetscCall(VecMax(x, NULL, &max));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, maximum %.6f\n", version, (double)max));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
