/*
   -dm_mat_type strata: a KSP with a DMDA gets its operator from the DM, as with any other matrix type
*/
/* ranks: 1 2 3 4 */
#include "tap.h"

static const PetscScalar legs[6] = {-1, -1, -2, -2, -9, -9};

static PetscErrorCode ComputeRHS(KSP ksp, Vec b, void *context)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(b, &first, &last));
  for (PetscInt i = first; i < last; i++) PetscCall(VecSetValue(b, i, 1 + i % 7, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbers of the operator by the call that its type knows */
static PetscErrorCode ComputeOperators(KSP ksp, Mat A, Mat P, void *context)
{
  PetscBool strata;
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &dm));
  PetscCall(PetscObjectTypeCompare((PetscObject)P, MATSTRATA, &strata));
  if (strata)
    PetscCall(MatStrataSetConstant(P, 0.25, legs));
  else {
    PetscInt x, y, z, m, n, p, M, N, L;

    PetscCall(DMDAGetCorners(dm, &x, &y, &z, &m, &n, &p));
    PetscCall(DMDAGetInfo(dm, NULL, &M, &N, &L, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    for (PetscInt k = z; k < z + p; k++)
      for (PetscInt j = y; j < y + n; j++)
        for (PetscInt i = x; i < x + m; i++) {
          const PetscInt at[3] = {i, j, k}, size[3] = {M, N, L};
          MatStencil     row = {0}, column[7];
          PetscScalar    value[7] = {0.25};
          PetscInt       count = 1;

          row.i = i;
          row.j = j;
          row.k = k;
          column[0] = row;
          for (int l = 0; l < 6; l++) {
            const PetscInt to = at[l / 2] + (l % 2 ? 1 : -1);

            value[0] -= legs[l];
            if (to < 0 || to >= size[l / 2]) continue;
            column[count] = row;
            *(l / 2 == 0 ? &column[count].i : l / 2 == 1 ? &column[count].j : &column[count].k) = to;
            value[count++] = legs[l];
          }
          PetscCall(MatSetValuesStencil(P, 1, &row, count, column, value, INSERT_VALUES));
        }
  }
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(const char options[], PetscBool strata, Vec *x)
{
  DM                 dm;
  KSP                ksp;
  Mat                A;
  PetscBool          is;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 11, 8, 6, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, 1, NULL, NULL, NULL, &dm));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(KSPSetComputeRHS(ksp, ComputeRHS, NULL));
  PetscCall(KSPSetComputeOperators(ksp, ComputeOperators, NULL));
  PetscCall(KSPSetTolerances(ksp, 1e-11, PETSC_DEFAULT, PETSC_DEFAULT, 100000));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, NULL, NULL));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  ok(reason == KSP_CONVERGED_RTOL, "%s: %s", options, KSPConvergedReasons[reason]);
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSTRATA, &is));
  ok(is == strata, "%s: the type of the matrix", options);
  PetscCall(KSPGetSolution(ksp, x));
  PetscCall(PetscObjectReference((PetscObject)*x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscOptionsClear(NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const solvers[] = {"-ksp_type cg -pc_type column", "-ksp_type cgfused -pc_type column", "-ksp_type cgfused -pc_type jacobi",
                                        "-ksp_type cg -pc_type hjacobi", "-ksp_type hjacobi"};
  Vec                      expected;

  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  PetscCall(Solve("-dm_mat_type aij -ksp_type cg -pc_type jacobi", PETSC_FALSE, &expected));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(solvers); s++) {
    char      options[256];
    Vec       x;
    PetscReal off, size;

    PetscCall(PetscSNPrintf(options, sizeof(options), "-dm_mat_type strata %s", solvers[s]));
    PetscCall(Solve(options, PETSC_TRUE, &x));
    PetscCall(VecNorm(x, NORM_2, &size));
    PetscCall(VecAXPY(x, -1, expected));
    PetscCall(VecNorm(x, NORM_2, &off));
    ok(off <= 1e-8 * size, "%s: the solution with an assembled matrix, off by %g of %g", solvers[s], (double)off, (double)size);
    PetscCall(VecDestroy(&x));
  }
  PetscCall(VecDestroy(&expected));
  return TapEnd();
}
