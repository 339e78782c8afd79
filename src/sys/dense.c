/*
   Dense matrices as arrays of vectors
*/
#include "strataimpl.h"

PetscErrorCode StrataDenseGetArrays(Mat X, Mat Y, const PetscScalar **x, PetscInt *ldx, PetscScalar **y, PetscInt *ldy, PetscMemType *type)
{
  PetscMemType tx, ty;

  PetscFunctionBegin;
  PetscCall(MatDenseGetLDA(X, ldx));
  PetscCall(MatDenseGetLDA(Y, ldy));
  PetscCall(StrataDenseGetArrayRead(X, x, &tx));
  PetscCall(StrataDenseGetArrayWrite(Y, y, &ty));
  *type = tx;
  if (PetscMemTypeDevice(tx) == PetscMemTypeDevice(ty)) PetscFunctionReturn(PETSC_SUCCESS);
  /* Not in one memory: work on the host, where both can be had */
  PetscCall(StrataDenseRestoreArrayRead(X, x));
  PetscCall(StrataDenseRestoreArrayWrite(Y, y));
  PetscCall(MatDenseGetArrayRead(X, x));
  PetscCall(MatDenseGetArrayWrite(Y, y));
  *type = PETSC_MEMTYPE_HOST;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataDenseRestoreArrays(Mat X, Mat Y, const PetscScalar **x, PetscScalar **y, PetscMemType type)
{
  PetscFunctionBegin;
  if (PetscMemTypeDevice(type)) {
    PetscCall(StrataDenseRestoreArrayRead(X, x));
    PetscCall(StrataDenseRestoreArrayWrite(Y, y));
  } else {
    PetscCall(MatDenseRestoreArrayRead(X, x));
    PetscCall(MatDenseRestoreArrayWrite(Y, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataDenseSet(Mat Y, PetscScalar number)
{
  PetscInt n, v;
  Vec      y;

  PetscFunctionBegin;
  PetscCall(MatGetSize(Y, NULL, &n));
  for (v = 0; v < n; v++) {
    PetscCall(MatDenseGetColumnVecWrite(Y, v, &y));
    PetscCall(VecSet(y, number));
    PetscCall(MatDenseRestoreColumnVecWrite(Y, v, &y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
