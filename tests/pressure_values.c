/*
   The pressure-correction operator: known values, whatever the axis of the columns, the ranks and the form
*/
/* ranks: 1 2 3 4 */
#include "tap.h"

typedef struct {
  PetscInt  m, nz;
  PetscReal trace, norm; /* of the diagonal, of the right-hand side */
} Known;

static const Known known[] = {{16, 8, 6.6593329546e-01, 1.3433181080e-04},
                              {32, 16, 3.2888093742, 4.7570905749e-05},
                              {64, 32, 1.5828451971e+01, 1.6826125467e-05},
                              {128, 64, 7.4114719522e+01, 5.9495855280e-06}};

static PetscErrorCode Test(const Known *k, PetscInt axis)
{
  const PetscInt n[3] = {axis == 0 ? k->nz : k->m, k->m, axis == 2 ? k->nz : k->m};
  PetscScalar    trace, row, volume;
  PetscReal      norm;
  DM             dm;
  Mat            A, B;
  Vec            b, d, one;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n[0], n[1], n[2], PETSC_DECIDE,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(MatCreateStrata(dm, &A));
  PetscCall(StrataPressureSetOperator(A, axis, 6.7e-4, 3.4e-2, 0.0126));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &d, &b));
  PetscCall(VecDuplicate(d, &one));
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(VecSum(d, &trace));
  is_real(trace, k->trace, 1e-9, "%d x %d x %d, columns along %c: sum of the diagonal", (int)k->m, (int)k->m, (int)k->nz, "xyz"[axis]);
  PetscCall(StrataPressureSetRHS(A, axis, 0.0126, b));
  PetscCall(VecNorm(b, NORM_2, &norm));
  is_real(norm, k->norm, 1e-9, "norm of the right-hand side");

  /* The sum of all entries is the volume of the panel, a sixth of the sphere: fluxes cancel, without flux through the sides */
  PetscCall(VecSet(one, 1));
  PetscCall(MatMult(A, one, d));
  PetscCall(VecSum(d, &volume));
  is_real(volume, 4 * PETSC_PI / 6 * (PetscPowReal(1.0126, 3) - 1) / 3, 1e-12, "sum of all entries");
  if (k->m <= 32) {
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatGetTrace(B, &row));
    is_real(row, k->trace, 1e-9, "sum of the diagonal, assembled");
    PetscCall(MatDestroy(&B));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&one));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What it refuses */
static PetscErrorCode TestRefuse(void)
{
  PetscInt size;
  DM       dm[3];
  Mat      A;
  Vec      b;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 8, 8, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL,
                         &dm[0]));
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 8, 8, 8, PETSC_DECIDE,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &dm[1]));
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 8, 8, 8, PETSC_DECIDE,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &dm[2]));
  for (int i = 0; i < 3; i++) {
    PetscCall(DMSetUp(dm[i]));
    PetscCall(MatCreateStrata(dm[i], &A));
    if (i < 2)
      is_error(StrataPressureSetOperator(A, 2, 1, 1, 1), PETSC_ERR_ARG_WRONG, "three dimensions without periodic",
               i ? "a periodic direction" : "two dimensions");
    else {
      is_error(StrataPressureSetOperator(A, 1, 1, 1, 1), PETSC_ERR_ARG_OUTOFRANGE, "axis 0 (x) or 2 (z), not 1", "columns along y");
      is_error(StrataPressureSetOperator(A, 2, 0, 1, 1), PETSC_ERR_ARG_OUTOFRANGE, "omega2 0 positive", "omega2 0");
      is_error(StrataPressureSetOperator(A, 2, 1, 1, -1), PETSC_ERR_ARG_OUTOFRANGE, "depth -1 positive", "depth -1");
      PetscCall(VecCreateMPI(PETSC_COMM_WORLD, 7, PETSC_DECIDE, &b));
      PetscCall(VecGetSize(b, &size));
      is_error(StrataPressureSetRHS(A, 2, 1, b), PETSC_ERR_ARG_SIZ, TapText("%d 512", (int)size), "a vector of another size");
      PetscCall(VecDestroy(&b));
    }
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&dm[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(known); i++)
    for (PetscInt axis = 0; axis <= 2; axis += 2) PetscCall(Test(&known[i], axis));
  PetscCall(TestRefuse());
  return TapEnd();
}
