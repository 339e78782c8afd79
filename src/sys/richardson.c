/*
   Richardson's iteration of a preconditioner that can add its result to a vector
*/
#include "strataimpl.h"
#include <petsc/private/pcimpl.h>

/*
   StrataApplyRichardson - x = x + M (b - A x), its times; nothing is tested. apply: z = add + M r
*/
PetscErrorCode StrataApplyRichardson(PC pc, StrataApplyAdd apply, Vec b, Vec x, Vec w, PetscInt its, PetscBool guesszero, PetscInt *outits,
                                     PCRichardsonConvergedReason *reason)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < its; i++) {
    if (i == 0 && guesszero)
      PetscCall((*apply)(pc, PETSC_FALSE, b, NULL, x));
    else {
      PetscCall(MatMult(pc->mat, x, w));
      PetscCall(VecAYPX(w, -1.0, b));
      PetscCall((*apply)(pc, PETSC_FALSE, w, x, x));
    }
  }
  *outits = its;
  *reason = PCRICHARDSON_CONVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataPreSolveRichardson - Since it tests nothing, a KSP that tests for convergence is to use its own iteration in this solve
*/
PetscErrorCode StrataPreSolveRichardson(PC pc, KSP ksp, StrataRichardson richardson)
{
  KSPNormType norm;

  PetscFunctionBegin;
  PetscCall(KSPGetNormType(ksp, &norm));
  pc->ops->applyrichardson = norm == KSP_NORM_NONE ? richardson : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
