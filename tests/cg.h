/*
   What tests of conjugate gradients share: an operator that is stiff along z, and a solver
*/
#ifndef CG_H
#define CG_H

#include "tap.h"

/* Dirichlet sides; or periodic along x and y, Neumann along z, and singular */
static inline PetscErrorCode CGOperator(PetscInt nx, PetscInt ny, PetscInt nz, PetscBool assembled, PetscBool periodic, DM *dm, Mat *A)
{
  const PetscScalar    legs[6] = {-1, -1, -2, -2, -40, -40};
  const DMBoundaryType wrap = periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  MatStrataSide        sides[6];

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, wrap, wrap, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, nx, ny, nz, PETSC_DECIDE, PETSC_DECIDE, 1, 1, 1, NULL,
                         NULL, NULL, dm));
  PetscCall(DMSetUp(*dm));
  PetscCall(MatCreateStrata(*dm, A));
  for (int l = 0; l < 6; l++) sides[l] = periodic ? MAT_STRATA_NEUMANN : MAT_STRATA_DIRICHLET;
  PetscCall(MatStrataSetSides(*A, sides));
  PetscCall(MatStrataSetConstant(*A, periodic ? 0 : 0.5, legs));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  if (periodic) {
    MatNullSpace constant;

    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constant));
    PetscCall(MatSetNullSpace(*A, constant));
    PetscCall(MatNullSpaceDestroy(&constant));
  }
  if (assembled) PetscCall(MatConvert(*A, MATAIJ, MAT_INPLACE_MATRIX, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver with the prefix t_, before tolerances and options */
static inline PetscErrorCode CGSolver(Mat A, DM dm, KSPType type, KSPNormType norm, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, "t_"));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetDM(pc, dm));
  PetscCall(KSPSetNormType(*ksp, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
