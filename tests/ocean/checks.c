/*
   The checks of the example `ocean` see what they are for
*/
#define main OceanMain
#include "../../examples/ocean.c"
#undef main
#include "../tap.h"

/* The checks with this right-hand side, old temperature and matrix */
static PetscErrorCode Check(const Fields *f, Mat A, Vec b, Vec old, PetscBool *good)
{
  PetscFunctionBeginUser;
  *good = PETSC_TRUE;
  PetscCall(CheckStep(f, A, b, old, good));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first cell of this rank that is land, or water */
static PetscErrorCode Find(Vec land, PetscBool island, PetscInt *row)
{
  const PetscScalar *v;
  PetscInt           start, n, i;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(land, &start, NULL));
  PetscCall(VecGetLocalSize(land, &n));
  PetscCall(VecGetArrayRead(land, &v));
  for (i = 0; i < n && (v[i] != 0) != island; i++) {}
  PetscCall(VecRestoreArrayRead(land, &v));
  *row = i < n ? start + i : -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A negative row: on this rank nothing */
static PetscErrorCode Set(Vec x, PetscInt row, PetscScalar value)
{
  PetscFunctionBeginUser;
  if (row >= 0) PetscCall(VecSetValue(x, row, value, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Ocean       o;
  Fields      f;
  DM          dm;
  Mat         A, B;
  Vec         b, old;
  PetscInt    land, water;
  PetscMPIInt rank;
  PetscBool   good;

  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(OceanSetFromOptions(&o));
  PetscCall(CreateGrid(&o, &dm));
  PetscCall(CreateFields(&o, dm, &f));
  PetscCall(CreateOperator(dm, &f, &A));
  PetscCall(VecDuplicate(f.temperature, &b));
  PetscCall(VecDuplicate(f.temperature, &old));
  PetscCall(VecCopy(f.temperature, old));
  PetscCall(VecPointwiseMult(b, f.volume, old));
  PetscCall(Find(f.land, PETSC_TRUE, &land));
  PetscCall(Find(f.land, PETSC_FALSE, &water));
  PetscCall(Check(&f, A, b, old, &good));
  ok(good, "no step at all passes: the residual explains what is missing");

  PetscCall(Set(f.temperature, rank == 0 ? land : -1, 1e-30));
  PetscCall(Check(&f, A, b, old, &good));
  ok(!good, "a value on land is seen");
  PetscCall(VecCopy(old, f.temperature));

  /* A flux that arrives nowhere */
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  if (rank == 0) PetscCall(MatSetValue(B, water, water, 1e10, ADD_VALUES));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(Check(&f, B, b, old, &good));
  ok(!good, "a matrix that does not conserve heat is seen");
  PetscCall(MatDestroy(&B));

  /* A step from another temperature that solves its equations, and yet is warmer than the water was said to be */
  PetscCall(VecScale(f.temperature, 2));
  PetscCall(VecCopy(f.temperature, b));
  PetscCall(MatMult(A, f.temperature, b));
  PetscCall(Check(&f, A, b, old, &good));
  ok(!good, "water that is too warm is seen");

  PetscCall(Set(f.temperature, rank == 0 ? water : -1, NAN));
  PetscCall(Check(&f, A, b, old, &good));
  ok(!good, "so is water that is not a number");

  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&old));
  PetscCall(VecDestroy(&f.land));
  PetscCall(VecDestroy(&f.temperature));
  PetscCall(VecDestroy(&f.volume));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  return TapEnd();
}
