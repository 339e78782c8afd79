/*
   A solve of KSPCGFUSED whose steps are in single precision. The residual that the steps carry along leaves b - A x by rounding; before that can be
   seen, and before the solve ends, it is computed in double precision, and the direction goes on from there (van der Vorst and Ye, 2000).
*/
#include "cgimpl.h"
#include "cg_cell.h"

#define SINGLE_EPSILON 1.1920929e-7

/* The numbers of the next step, if there can be one: not where single precision makes the operator or the preconditioner indefinite, or leaves its
   range. Nothing to do is the end of the solve. */
static PetscErrorCode CGSinglePrepare(KSP ksp, PetscBool *goeson)
{
  KSP_CGFused    *cg = (KSP_CGFused *)ksp->data;
  const PetscReal gamma = cg->solve.sum[STRATA_CG_GAMMA], beta = ksp->its ? gamma / cg->solve.gamma : 0;
  const PetscReal curvature = strata_cg_curvature_d(cg->solve.sum[STRATA_CG_DELTA], beta, cg->solve.curvature);

  PetscFunctionBegin;
  *goeson = gamma > 0 && curvature > 0 && !PetscIsInfOrNanReal(gamma) && !PetscIsInfOrNanReal(curvature) ? PETSC_TRUE : PETSC_FALSE;
  if (*goeson) {
    cg->solve.beta = beta;
    PetscCall(StrataCGFusedLength(ksp, gamma, curvature));
  } else if (gamma == 0) {
    ksp->its++;
    ksp->reason = KSP_CONVERGED_ATOL;
    PetscCall(PetscInfo(ksp, "converged due to (r,z) = 0\n"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if STRATA_HAVE_CUDA
/* From the residual of the solver, of the size `norm`, or again from b - A x, of about that size */
static PetscErrorCode CGSingleTakeOnDevice(KSP ksp, PetscBool again, PetscReal norm)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  StrataCG_d   nothing, *numbers;
  Mat          A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (again) PetscCall(KSP_MatMult(ksp, A, ksp->vec_sol, ksp->work[CG_W]));
  PetscCall(PetscMemzero(&nothing, sizeof(nothing)));
  PetscCall(StrataArraySet(&cg->numbers[1], sizeof(nothing), cg->type, &nothing));
  PetscCall(StrataArrayUpdate(&cg->numbers[1], cg->type, &numbers));
  PetscCall(StrataCGUpDownSingleTake(cg->single, again, norm, again ? ksp->vec_rhs : ksp->work[CG_R], again ? ksp->work[CG_W] : NULL, numbers,
                                     cg->solve.sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As many steps as nobody has to look at; history: their sums, as they are on the device */
static PetscErrorCode CGSingleStepsOnDevice(KSP ksp, PetscReal largest, PetscReal drift, PetscInt *count, const PetscReal (**history)[STRATA_CG_SUMS])
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  StrataCG_d   set, *numbers;
  PetscReal(*space)[STRATA_CG_SUMS];
  PetscInt steps;

  PetscFunctionBegin;
  PetscCall(StrataCGFusedBatch(ksp, &steps));
  StrataCGFusedGetNumbers(ksp, cg->solve.beta, cg->solve.alpha, steps > 1 ? PETSC_TRUE : PETSC_FALSE, &set);
  set.epsilon = steps > 1 ? SINGLE_EPSILON : 0;
  set.largest = largest;
  set.drift = drift;
  StrataCGUpDownSingleScale(cg->single, &set);
  PetscCall(StrataArraySet(&cg->numbers[1], sizeof(set), cg->type, &set));
  PetscCall(StrataArrayUpdate(&cg->numbers[1], cg->type, &numbers));
  PetscCall(StrataCGFusedGetHistory(ksp, steps, &space));
  PetscCall(StrataCGUpDownSingleSteps(cg->single, steps, numbers, space));
  PetscCall(StrataArrayRead(&cg->numbers[1], PETSC_MEMTYPE_HOST, &numbers));
  PetscCall(StrataArrayRead(&cg->history, PETSC_MEMTYPE_HOST, history));
  *count = numbers->its;
  PetscCall(StrataCGUpDownSingleMade(cg->single, *count));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* z and all sums from the residual that the solve starts from */
static PetscErrorCode CGSingleTake(KSP ksp)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;

  PetscFunctionBegin;
#if STRATA_HAVE_CUDA
  if (PetscMemTypeDevice(cg->type)) {
    PetscReal rr;

    PetscCall(StrataCGFusedDots(ksp, 1, &ksp->work[CG_R], &ksp->work[CG_R], &rr));
    PetscCall(CGSingleTakeOnDevice(ksp, PETSC_FALSE, PetscSqrtReal(rr)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(StrataCGPassSingleTake(cg->pass, PETSC_FALSE, NULL, cg->solve.sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Count steps, on a device several; history NULL: the sums of the one step are in place */
static PetscErrorCode CGSingleSteps(KSP ksp, PetscReal largest, PetscReal drift, PetscInt *count, const PetscReal (**history)[STRATA_CG_SUMS])
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;

  PetscFunctionBegin;
  *count = 1;
  *history = NULL;
#if STRATA_HAVE_CUDA
  if (PetscMemTypeDevice(cg->type)) {
    PetscCall(CGSingleStepsOnDevice(ksp, largest, drift, count, history));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(StrataCGPassSingleStep(cg->pass, cg->solve.beta, cg->solve.alpha, cg->solve.sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sums of a step, in place */
static PetscErrorCode CGSingleSums(KSP ksp, PetscInt step, const PetscReal (*history)[STRATA_CG_SUMS])
{
  PetscFunctionBegin;
#if STRATA_HAVE_CUDA
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;

  if (history) {
    PetscCall(PetscArraycpy(cg->solve.sum, history[step], STRATA_CG_SUMS));
    StrataCGUpDownSingleSums(cg->single, cg->solve.sum);
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the steps added to x is added to the iterate in double precision, or lost. The last step has the length alpha. */
static PetscErrorCode CGSingleGive(KSP ksp, PetscBool add, PetscBool wanted)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;

  PetscFunctionBegin;
#if STRATA_HAVE_CUDA
  if (PetscMemTypeDevice(cg->type)) {
    PetscCall(StrataCGUpDownSingleGive(cg->single, cg->solve.alpha, add ? ksp->vec_sol : NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(StrataCGPassSingleGive(cg->pass, add));
  if (wanted) PetscCall(StrataCGPassSolution(cg->pass, ksp->vec_sol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x in double precision, r = b - A x, and from there z and the sums */
static PetscErrorCode CGSingleReplace(KSP ksp)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;

  PetscFunctionBegin;
  PetscCall(CGSingleGive(ksp, PETSC_TRUE, PETSC_TRUE));
#if STRATA_HAVE_CUDA
  if (PetscMemTypeDevice(cg->type)) PetscCall(CGSingleTakeOnDevice(ksp, PETSC_TRUE, PetscSqrtReal(cg->solve.sum[STRATA_CG_RR])));
#endif
  if (PetscMemTypeHost(cg->type)) {
    PetscReal rr;

    PetscCall(StrataCGFusedResidual(ksp));
    PetscCall(StrataCGFusedDots(ksp, 1, &ksp->work[CG_R], &ksp->work[CG_R], &rr));
    PetscCall(StrataCGPassSingleTake(cg->pass, PETSC_TRUE, ksp->work[CG_R], cg->solve.sum));
    cg->solve.sum[STRATA_CG_RR] = rr;
  }
  cg->solve.replaced++;
  PetscCall(PetscInfo(ksp, "residual replaced at iteration %" PetscInt_FMT "\n", ksp->its));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To the end, or until single precision does not do: then `notsingle` says why, and x is the iterate */
PetscErrorCode StrataCGFusedSingle(KSP ksp)
{
  static const char *const failure = "its range or its rounding did not do";
  KSP_CGFused             *cg = (KSP_CGFused *)ksp->data;
  const PetscBool          looked = ksp->numbermonitors || ksp->converged != KSPConvergedDefault ? PETSC_TRUE : PETSC_FALSE;
  const PetscReal(*history)[STRATA_CG_SUMS];
  PetscReal norm, largest, drift = 0;
  PetscInt  count;
  PetscBool goeson;

  PetscFunctionBegin;
  PetscCall(CGSingleTake(ksp));
  largest = PetscSqrtReal(cg->solve.sum[STRATA_CG_RR]);
  while (!ksp->reason && ksp->its < ksp->max_it && !cg->notsingle) {
    PetscCall(CGSinglePrepare(ksp, &goeson));
    if (!goeson) {
      if (!ksp->reason) cg->notsingle = failure;
      break;
    }
    PetscCall(CGSingleSteps(ksp, largest, drift, &count, &history));
    for (PetscInt step = 0; step < count && !ksp->reason; step++) {
      PetscCall(CGSingleSums(ksp, step, history));
      norm = PetscSqrtReal(cg->solve.sum[STRATA_CG_RR]);
      if (PetscIsInfOrNanReal(norm)) {
        PetscCall(CGSingleGive(ksp, PETSC_FALSE, PETSC_FALSE));
        cg->notsingle = failure;
        break;
      }
      ksp->its++;
      if (strata_cg_drifts_d(SINGLE_EPSILON, norm, &largest, &drift) || cg->solve.sum[STRATA_CG_GAMMA] == 0 ||
          (ksp->normtype != KSP_NORM_NONE && ksp->chknorm <= ksp->its && StrataCGFusedNorm(ksp) <= ksp->ttol)) {
        PetscCall(CGSingleReplace(ksp));
        largest = PetscSqrtReal(cg->solve.sum[STRATA_CG_RR]);
        drift = SINGLE_EPSILON * largest;
      }
      if (looked) PetscCall(CGSingleGive(ksp, PETSC_TRUE, PETSC_TRUE));
      PetscCall(StrataCGFusedTest(ksp, StrataCGFusedNorm(ksp)));
      if (!ksp->reason && step + 1 < count) PetscCall(CGSinglePrepare(ksp, &goeson));
    }
    cg->solve.owed = cg->solve.alpha;
  }
  PetscCall(CGSingleGive(ksp, PETSC_TRUE, PETSC_FALSE));
  if (cg->notsingle) PetscCall(PetscInfo(ksp, "steps in double precision from iteration %" PetscInt_FMT " on\n", ksp->its));
  PetscFunctionReturn(PETSC_SUCCESS);
}
