/*
   All of an iteration of conjugate gradients in one pass through the grid
*/
#include "cgimpl.h"

PetscErrorCode StrataCGPassCreate(KSP ksp, StrataCGPass *pass, const char **whynot)
{
  PetscFunctionBegin;
  *pass = NULL;
  *whynot = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGPassDestroy(StrataCGPass *pass)
{
  PetscFunctionBegin;
  *pass = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGPassStep(StrataCGPass pass, PetscReal beta, PetscReal alpha, Vec z, Vec p, Vec x, Vec r, PetscReal sums[])
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGPassView(StrataCGPass pass, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
