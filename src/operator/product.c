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
  PetscMemType       type;

  PetscFunctionBegin;
  PetscCall(MatGetSize(B, NULL, &nv));
  PetscCall(StrataDenseGetArrays(B, C, &b, &ldb, &y, &ldc, &type));
  if (nv) PetscCall(MatStrataMultArrays(C->product->A, nv, b, ldb, y, ldc, type));
  PetscCall(StrataDenseRestoreArrays(B, C, &b, &y, type));
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
