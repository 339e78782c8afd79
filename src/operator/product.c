/*
   Products of the operator with dense matrices: all columns at once
*/
#include "operatorimpl.h"

static PetscErrorCode MatProductNumeric_Strata_Dense(Mat C)
{
  Mat                B = C->product->B;
  const PetscScalar *b;
  PetscScalar       *y;
  PetscInt           nv, ldb, ldc;
  PetscMemType       typeb, typec;
  PetscBool          together;

  PetscFunctionBegin;
  PetscCall(MatGetSize(B, NULL, &nv));
  PetscCall(MatDenseGetLDA(B, &ldb));
  PetscCall(MatDenseGetLDA(C, &ldc));
  PetscCall(StrataDenseGetArrayRead(B, &b, &typeb));
  PetscCall(StrataDenseGetArrayWrite(C, &y, &typec));
  together = PetscMemTypeDevice(typeb) == PetscMemTypeDevice(typec) ? PETSC_TRUE : PETSC_FALSE;
  if (!together) { /* work on the host, where both can be had */
    PetscCall(StrataDenseRestoreArrayRead(B, &b));
    PetscCall(StrataDenseRestoreArrayWrite(C, &y));
    PetscCall(MatDenseGetArrayRead(B, &b));
    PetscCall(MatDenseGetArrayWrite(C, &y));
    typeb = PETSC_MEMTYPE_HOST;
  }
  if (nv) PetscCall(MatStrataMultArrays(C->product->A, nv, b, ldb, y, ldc, typeb));
  if (together) {
    PetscCall(StrataDenseRestoreArrayRead(B, &b));
    PetscCall(StrataDenseRestoreArrayWrite(C, &y));
  } else {
    PetscCall(MatDenseRestoreArrayRead(B, &b));
    PetscCall(MatDenseRestoreArrayWrite(C, &y));
  }
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductSymbolic_Strata_Dense(Mat C)
{
  Mat     A = C->product->A, B = C->product->B;
  MatType type;

  PetscFunctionBegin;
  PetscCall(MatGetType(B, &type));
  PetscCall(MatSetSizes(C, A->rmap->n, B->cmap->n, A->rmap->N, B->cmap->N));
  PetscCall(MatSetType(C, type));
  PetscCall(MatSetUp(C));
  C->ops->productnumeric = MatProductNumeric_Strata_Dense;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductSetFromOptions_Strata_Dense(Mat C)
{
  PetscFunctionBegin;
  if (C->product->type == MATPRODUCT_AB) C->ops->productsymbolic = MatProductSymbolic_Strata_Dense;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataComposeProducts(Mat A, PetscBool compose)
{
  static const char *const types[] = {MATSEQDENSE, MATMPIDENSE, MATSEQDENSECUDA, MATMPIDENSECUDA};
  char                     name[128];

  PetscFunctionBegin;
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "MatProductSetFromOptions_%s_%s_C", MATSTRATA, types[t]));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, name, compose ? MatProductSetFromOptions_Strata_Dense : NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
