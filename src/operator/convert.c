/*
   Conversion between MATSTRATA and assembled matrices
*/
#include "operatorimpl.h"
#include "operator_cell.h"

/* The columns of row x, each once, with their values */
static PetscInt StrataRowEntries(StrataGrid g, const StrataCoef_d *k, const StrataColumns *columns, const int outside[], const int x[3],
                                 PetscInt cols[], PetscScalar values[])
{
  PetscReal leg[STRATA_LEGS];
  PetscInt  count = 1;

  values[0] = strata_row_d(k, x, leg);
  values[0] = strata_diagonal_d(values[0], leg);
  cols[0] = g->start + x[0] + g->n[0] * (x[1] + g->n[1] * x[2]);
  for (int l = 0; l < STRATA_LEGS; l++) {
    const PetscInt col = strata_column(columns, k->n, outside, l, x);
    PetscInt       m;

    if (leg[l] == 0 || col < 0) continue;
    for (m = 0; m < count && cols[m] != col; m++) {}
    if (m == count) {
      cols[m] = col;
      values[m] = 0;
      count++;
    }
    values[m] += leg[l];
  }
  return count;
}

static PetscErrorCode MatConvert_Strata_AIJ(Mat A, MatType type, MatReuse reuse, Mat *newmat)
{
  StrataCoefficients c;
  StrataGrid         g;
  StrataCoef_d       k;
  StrataColumns      columns;
  Mat                B;
  DM                 dm;
  PetscInt          *dnnz, *onnz, pass, rstart, rend;
  int                outside[STRATA_LEGS], x[3];

  PetscFunctionBegin;
  PetscCall(MatStrataGetCoefficients(A, &c));
  g = c->grid;
  PetscCall(StrataCoefficientsGetKernel(c, PETSC_MEMTYPE_HOST, &k));
  StrataGridColumns(g, &columns, outside);
  if (reuse == MAT_REUSE_MATRIX) {
    PetscBool same;

    B = *newmat;
    PetscCall(PetscLayoutCompare(A->rmap, B->rmap, &same));
    PetscCheck(same, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
               "The matrix to reuse has other rows, or other ranks own them: use MAT_INITIAL_MATRIX");
    PetscCall(MatZeroEntries(B)); /* legs may have become zero */
  } else {
    PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &B));
    PetscCall(MatSetSizes(B, g->size_local, g->size_local, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetType(B, type));
    PetscCall(MatGetDM(A, &dm));
    PetscCall(MatSetDM(B, dm));
  }
  rstart = g->start;
  rend = g->start + g->size_local;
  PetscCall(PetscCalloc2(g->size_local, &dnnz, g->size_local, &onnz));
  for (pass = reuse == MAT_REUSE_MATRIX ? 1 : 0; pass < 2; pass++) {
    if (pass && reuse != MAT_REUSE_MATRIX) PetscCall(MatXAIJSetPreallocation(B, 1, dnnz, onnz, NULL, NULL));
    for (x[2] = 0; x[2] < k.n[2]; x[2]++)
      for (x[1] = 0; x[1] < k.n[1]; x[1]++)
        for (x[0] = 0; x[0] < k.n[0]; x[0]++) {
          PetscInt       cols[STRATA_LEGS + 1];
          PetscScalar    values[STRATA_LEGS + 1];
          const PetscInt count = StrataRowEntries(g, &k, &columns, outside, x, cols, values);

          if (pass)
            PetscCall(MatSetValues(B, 1, cols, count, cols, values, INSERT_VALUES));
          else
            for (PetscInt m = 0; m < count; m++) {
              if (cols[m] >= rstart && cols[m] < rend)
                dnnz[cols[0] - rstart]++;
              else
                onnz[cols[0] - rstart]++;
            }
        }
  }
  PetscCall(PetscFree2(dnnz, onnz));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  if (c->symmetric) PetscCall(MatSetOption(B, MAT_SYMMETRIC, PETSC_TRUE));
  {
    MatNullSpace nullspace;

    PetscCall(MatGetNullSpace(A, &nullspace));
    if (nullspace) {
      PetscCall(MatSetNullSpace(B, nullspace));
      if (c->symmetric) PetscCall(MatSetTransposeNullSpace(B, nullspace));
    }
  }
  if (reuse == MAT_INPLACE_MATRIX)
    PetscCall(MatHeaderReplace(A, &B));
  else
    *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvert_AIJ_Strata(Mat A, MatType type, MatReuse reuse, Mat *newmat)
{
  StrataCoefficients c, own;
  Mat                B;
  DM                 dm;

  PetscFunctionBegin;
  (void)type;
  PetscCall(MatGetDM(A, &dm));
  PetscCheck(dm, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix has no grid: create it with DMCreateMatrix() on a DMDA, or attach one with MatSetDM()");
  PetscCall(StrataCoefficientsGet(A, dm, NULL, &c));
  if (reuse == MAT_REUSE_MATRIX)
    B = *newmat;
  else
    PetscCall(MatCreateStrata(dm, &B));
  PetscCall(StrataCoefficientsDuplicate(c, &own));
  PetscCall(StrataCoefficientsDestroy(&c));
  PetscCall(MatStrataReplaceCoefficients(B, own));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  if (reuse == MAT_INPLACE_MATRIX)
    PetscCall(MatHeaderReplace(A, &B));
  else
    *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells MatConvert() of the two, by the names that it looks for */
PetscErrorCode StrataComposeConversions(Mat A, PetscBool compose)
{
  static const char *const types[] = {MATAIJ, MATSEQAIJ, MATMPIAIJ, MATAIJCUSPARSE, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE};
  char                     name[128];

  PetscFunctionBegin;
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "MatConvert_%s_%s_C", MATSTRATA, types[t]));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, name, compose ? MatConvert_Strata_AIJ : NULL));
    PetscCall(PetscSNPrintf(name, sizeof(name), "MatConvert_%s_%s_C", types[t], MATSTRATA));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, name, compose ? MatConvert_AIJ_Strata : NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
