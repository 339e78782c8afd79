/*
   A solve of KSPCGFUSED whose steps are in single precision. The residual that the steps carry along leaves b - A x by rounding; before that can be
   seen, and before the solve ends, it is computed in double precision, and the direction goes on from there (van der Vorst and Ye, 2000).
*/
#include "cgimpl.h"
#include "cg_cell.h"

#define SINGLE_EPSILON 1.1920929e-7

/* Can there be a next step? Not where single precision makes the operator or the preconditioner indefinite, or leaves its range. */
static PetscBool CGSingleGoesOn(KSP ksp)
{
  const KSP_CGFused *cg = (const KSP_CGFused *)ksp->data;
  const PetscReal    gamma = cg->sum[STRATA_CG_GAMMA], beta = ksp->its ? gamma / cg->gamma : 0;
  const PetscReal    curvature = strata_cg_curvature_d(cg->sum[STRATA_CG_DELTA], beta, cg->curvature);

  return gamma == 0 || (gamma > 0 && curvature > 0 && !PetscIsInfOrNanReal(gamma) && !PetscIsInfOrNanReal(curvature)) ? PETSC_TRUE : PETSC_FALSE;
}

/* x in double precision, r = b - A x, and from there z and the sums */
static PetscErrorCode CGSingleReplace(KSP ksp)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  PetscReal    rr;

  PetscFunctionBegin;
  PetscCall(StrataCGPassSingleGive(cg->pass, PETSC_TRUE));
  PetscCall(StrataCGPassSolution(cg->pass, ksp->vec_sol));
  PetscCall(StrataCGFusedResidual(ksp));
  PetscCall(StrataCGFusedDots(ksp, 1, &ksp->work[CG_R], &ksp->work[CG_R], &rr));
  PetscCall(StrataCGPassSingleTake(cg->pass, PETSC_TRUE, ksp->work[CG_R], cg->sum));
  cg->sum[STRATA_CG_RR] = rr;
  cg->replaced++;
  PetscCall(PetscInfo(ksp, "residual replaced at iteration %" PetscInt_FMT "\n", ksp->its));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To the end, or until single precision does not do: then `notsingle` says why, and x is the iterate */
PetscErrorCode StrataCGFusedSingle(KSP ksp)
{
  static const char *const failure = "its range or its rounding did not do";
  KSP_CGFused             *cg = (KSP_CGFused *)ksp->data;
  const PetscBool          looked = ksp->numbermonitors || ksp->converged != KSPConvergedDefault ? PETSC_TRUE : PETSC_FALSE;
  const PetscReal          root = PetscSqrtReal(SINGLE_EPSILON);
  PetscReal                norm, largest = 0, drift = 0;
  PetscBool                made;

  PetscFunctionBegin;
  PetscCall(StrataCGPassSingleTake(cg->pass, PETSC_FALSE, NULL, cg->sum));
  while (!ksp->reason && ksp->its < ksp->max_it && !cg->notsingle) {
    if (!CGSingleGoesOn(ksp)) {
      cg->notsingle = failure;
      break;
    }
    largest = PetscMax(largest, PetscSqrtReal(cg->sum[STRATA_CG_RR]));
    PetscCall(StrataCGFusedPrepare(ksp, &made));
    if (ksp->reason) break;
    PetscCall(StrataCGPassSingleStep(cg->pass, cg->beta, cg->alpha, cg->sum));
    norm = PetscSqrtReal(cg->sum[STRATA_CG_RR]);
    if (PetscIsInfOrNanReal(norm)) {
      PetscCall(StrataCGPassSingleGive(cg->pass, PETSC_FALSE));
      cg->notsingle = failure;
      break;
    }
    ksp->its++;
    largest = PetscMax(largest, norm);
    drift += SINGLE_EPSILON * (largest + norm);
    if (drift > root * norm || cg->sum[STRATA_CG_GAMMA] == 0 ||
        (ksp->normtype != KSP_NORM_NONE && ksp->chknorm <= ksp->its && StrataCGFusedNorm(ksp) <= ksp->ttol)) {
      PetscCall(CGSingleReplace(ksp));
      largest = PetscSqrtReal(cg->sum[STRATA_CG_RR]);
      drift = SINGLE_EPSILON * largest;
    }
    if (looked) {
      PetscCall(StrataCGPassSingleGive(cg->pass, PETSC_TRUE));
      PetscCall(StrataCGPassSolution(cg->pass, ksp->vec_sol));
    }
    PetscCall(StrataCGFusedTest(ksp, StrataCGFusedNorm(ksp)));
  }
  PetscCall(StrataCGPassSingleGive(cg->pass, PETSC_TRUE));
  if (cg->notsingle) PetscCall(PetscInfo(ksp, "steps in double precision from iteration %" PetscInt_FMT " on\n", ksp->its));
  PetscFunctionReturn(PETSC_SUCCESS);
}
