/*
   The numbers of a lean operator, as the device wants them
*/
#include "cgimpl.h"

struct _n_StrataCGDevice {
  StrataCGMadeFor made;
  int             n[3];
  StrataArray     numbers;
};

PetscErrorCode StrataCGDeviceCreate(KSP ksp, StrataCGDevice *created, const char **whynot)
{
  const StrataCGTurn turn = {{0, 2, 1}};
  KSP_CGFused       *cg = (KSP_CGFused *)ksp->data;
  StrataCGDevice     d = *created;
  StrataCoefficients c = NULL;
  StrataCoef_d       k;
  StrataCGProblem_d  q;
  Mat                A;
  PetscMPIInt        size;
  PetscBool          isstrata;
  PetscScalar       *numbers, *legs[STRATA_LEGS] = {NULL};

  PetscFunctionBegin;
  *whynot = NULL;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSTRATA, &isstrata));
  if (cg->form != KSP_CGFUSED_GEAR)
    *whynot = "form classic";
  else if (!isstrata)
    *whynot = "a matrix of another type";
  else if (size > 1)
    *whynot = "several ranks";
  else if (ksp->transpose_solve)
    *whynot = "a solve with the transpose";
  if (!*whynot) PetscCall(MatStrataGetCoefficients(A, &c));
  if (c && (!c->symmetric || c->flags.bytes || !(c->form == MAT_STRATA_CONSTANT || (c->form == MAT_STRATA_TENSOR && c->axis == 2))))
    *whynot = "an operator that is neither constant nor tensor along z, or that is masked";
  if (!*whynot && !c->grid->size_local) *whynot = "nothing to do";
  if (*whynot || (d && !StrataCGMadeForIs(&d->made, c))) PetscCall(StrataCGDeviceDestroy(created));
  if (*whynot || *created) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMemzero(&q, sizeof(q)));
  q.pc = STRATA_CG_LINES;
  q.lines.axis = 1;
  q.lines.rows = STRATA_ROWS_SHARED;
  PetscCall(StrataCoefficientsGetKernel(c, PETSC_MEMTYPE_HOST, &k));
  StrataCGTurnCoefHost_d(&turn, &k, NULL, legs, NULL, &q.lines.coef);
  if (!StrataCGLeanSize_d(&q)) {
    *whynot = "a periodic operator";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(created));
  d = *created;
  PetscCall(StrataCGMadeForKeep(&d->made, c));
  for (int a = 0; a < 3; a++) d->n[a] = k.n[a];
  PetscCall(StrataArrayCreate(&d->numbers, StrataCGLeanSize_d(&q) * sizeof(PetscScalar)));
  PetscCall(StrataArrayWrite(&d->numbers, PETSC_MEMTYPE_HOST, &numbers));
  StrataCGLeanHost_d(&q, numbers);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGDeviceDestroy(StrataCGDevice *d)
{
  PetscFunctionBegin;
  if (!*d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGMadeForForget(&(*d)->made));
  PetscCall(StrataArrayDestroy(&(*d)->numbers));
  PetscCall(PetscFree(*d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGDeviceGet(StrataCGDevice d, StrataCGLean_d *lean)
{
  PetscFunctionBegin;
  for (int a = 0; a < 3; a++) lean->n[a] = d->n[a];
  lean->shift = d->made.shift;
  PetscCall(StrataArrayRead(&d->numbers, PETSC_MEMTYPE_DEVICE, &lean->level));
  lean->column = lean->level + LEAN_LEVEL * d->n[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}
