/*
   KSPHJACOBI: cycles of Jacobi sweeps as a solver
*/
#include "kspjacobiimpl.h"

/* ---- the solve ------------------------------------------------------------------------------------------------------------------- */

PetscErrorCode KSPHJacobiResidual(KSP ksp, Vec x, Vec r)
{
  PetscFunctionBegin;
  PetscCall(StrataJacobiResidual(((KSP_HJacobi *)ksp->data)->jacobi, ksp->transpose_solve, ksp->vec_rhs, x, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is tested, from x and, for the update, from the last cycle; r is work space */
static PetscErrorCode KSPHJacobiNormOf(KSP ksp, Vec x, Vec r, PetscReal update, PetscReal *norm)
{
  KSP_HJacobi       *h = (KSP_HJacobi *)ksp->data;
  const PetscScalar *a;
  PetscMemType       type;

  PetscFunctionBegin;
  *norm = update;
  if (h->norm == HJACOBI_NORM_UPDATE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPHJacobiResidual(ksp, x, r));
  PetscCall(VecGetArrayReadAndMemType(r, &a, &type));
  PetscCall(StrataGridReduce(h->jacobi->grid, h->norm == HJACOBI_NORM_2 ? STRATA_REDUCE_DOT : STRATA_REDUCE_MAXABS, a,
                             h->norm == HJACOBI_NORM_2 ? a : NULL, type, norm));
  PetscCall(VecRestoreArrayReadAndMemType(r, &a));
  if (h->norm == HJACOBI_NORM_2) *norm = PetscSqrtReal(*norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest absolute value of a vector */
static PetscErrorCode KSPHJacobiMaxAbs(KSP ksp, Vec v, PetscReal *max)
{
  const PetscScalar *a;
  PetscMemType       type;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(v, &a, &type));
  PetscCall(StrataGridReduce(((KSP_HJacobi *)ksp->data)->jacobi->grid, STRATA_REDUCE_MAXABS, a, NULL, type, max));
  PetscCall(VecRestoreArrayReadAndMemType(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPConvergedDefault() for norms that it does not know: what residuals are measured by is a norm of the same kind. Updates are tested by their
   absolute value, and grow too large as measured by the first. */
static PetscErrorCode KSPHJacobiConverged(KSP ksp, PetscReal norm)
{
  KSP_HJacobi            *h = (KSP_HJacobi *)ksp->data;
  KSPConvergedDefaultCtx *ctx = (KSPConvergedDefaultCtx *)ksp->cnvP;

  PetscFunctionBegin;
  if (h->first) {
    h->reference = norm;
    if (h->norm == HJACOBI_NORM_INFINITY && !ksp->guess_zero && !ctx->initialrtol) {
      PetscReal b;

      PetscCall(KSPHJacobiMaxAbs(ksp, ksp->vec_rhs, &b));
      if (b > 0) h->reference = ctx->mininitialrtol ? PetscMin(b, norm) : b;
    }
  }
  if (PetscIsInfOrNanReal(norm))
    ksp->reason = KSP_DIVERGED_NANORINF;
  else if (norm <= ksp->abstol)
    ksp->reason = KSP_CONVERGED_ATOL;
  else if (h->norm == HJACOBI_NORM_INFINITY && norm <= ksp->rtol * h->reference)
    ksp->reason = KSP_CONVERGED_RTOL;
  else if (norm >= ksp->divtol * h->reference)
    ksp->reason = KSP_DIVERGED_DTOL;
  if (ksp->reason)
    PetscCall(PetscInfo(ksp, "%s at iteration %" PetscInt_FMT ", norm %g\n", KSPConvergedReasons[ksp->reason], ksp->its, (double)norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPHJacobiBounds(KSP ksp, PetscReal *low, PetscReal *high)
{
  KSP_HJacobi *h = (KSP_HJacobi *)ksp->data;

  PetscFunctionBegin;
  if (h->norm == HJACOBI_NORM_2) { /* as KSPConvergedDefault() found them */
    *low = ksp->ttol;
    *high = ksp->divtol * ksp->rnorm0;
  } else {
    *low = h->norm == HJACOBI_NORM_INFINITY ? PetscMax(ksp->abstol, ksp->rtol * h->reference) : ksp->abstol;
    *high = ksp->divtol * h->reference;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What grows out of all bounds between two tests is divergence too, if it began with numbers */
PetscErrorCode KSPHJacobiJudge(KSP ksp, PetscReal norm)
{
  KSP_HJacobi *h = (KSP_HJacobi *)ksp->data;
  PetscBool    own = ksp->converged == KSPConvergedDefault ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, ksp->its, norm));
  if (own && h->norm != HJACOBI_NORM_2)
    PetscCall(KSPHJacobiConverged(ksp, norm));
  else
    PetscCall((*ksp->converged)(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
  if (h->first && h->norm != HJACOBI_NORM_UPDATE) h->finite = PetscIsInfOrNanReal(norm) ? PETSC_FALSE : PETSC_TRUE;
  if (own && ksp->reason == KSP_DIVERGED_NANORINF && h->finite) ksp->reason = KSP_DIVERGED_DTOL;
  h->first = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPHJacobiTest(KSP ksp, Vec x, PetscReal update)
{
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(KSPHJacobiNormOf(ksp, x, ksp->work[1], update, &norm));
  PetscCall(KSPHJacobiJudge(ksp, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does a solve that tests nothing at its beginning begin with numbers? */
static PetscErrorCode KSPHJacobiCheckFinite(KSP ksp)
{
  PetscReal b, x = 0;

  PetscFunctionBegin;
  PetscCall(KSPHJacobiMaxAbs(ksp, ksp->vec_rhs, &b));
  if (!ksp->guess_zero) PetscCall(KSPHJacobiMaxAbs(ksp, ksp->vec_sol, &x));
  ((KSP_HJacobi *)ksp->data)->finite = PetscIsInfOrNanReal(b + x) ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPHJacobiCycles(KSP ksp, PetscInt first, PetscInt cycles, Vec *x, PetscReal *change, const PetscReal **stays)
{
  KSP_HJacobi       *h = (KSP_HJacobi *)ksp->data;
  StrataJacobi       j = h->jacobi;
  Vec                y = *x == ksp->vec_sol ? ksp->work[0] : ksp->vec_sol, r = ksp->work[1];
  const PetscScalar *ax, *aadd;
  PetscScalar       *ay;
  PetscMemType       type;
  MatNullSpace       nullspace;
  Mat                A;

  PetscFunctionBegin;
  if (j->precision == HJACOBI_PRECISION_SINGLE) {
    for (PetscInt c = 0; c < cycles; c++) {
      PetscCall(KSPHJacobiResidual(ksp, *x, r));
      PetscCall(StrataVecGetArrays(r, *x, *x, &ax, &aadd, &ay, &type));
      PetscCall(StrataJacobiApply(j, ksp->transpose_solve, type, first + c, 1, ax, aadd, ay, c + 1 == cycles ? change : NULL,
                                  c + 1 == cycles ? stays : NULL));
      PetscCall(StrataVecRestoreArrays(r, *x, *x, &ax, &aadd, &ay, type));
    }
  } else {
    PetscCall(StrataVecGetArrays(*x, NULL, y, &ax, &aadd, &ay, &type));
    PetscCall(StrataJacobiSweep(j, ksp->transpose_solve, type, first, cycles, ax, ay, change, stays));
    PetscCall(StrataVecRestoreArrays(*x, NULL, y, &ax, &aadd, &ay, type));
    *x = y;
  }
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatGetNullSpace(A, &nullspace));
  if (nullspace && !ksp->transpose_solve) PetscCall(MatNullSpaceRemove(nullspace, *x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the host must look at each test before the next cycle, NULL if it need not. type: where the sweeps are. */
static PetscErrorCode KSPHJacobiMustBlock(KSP ksp, PetscMemType type, const char **why)
{
  KSP_HJacobi *h = (KSP_HJacobi *)ksp->data;
  MatNullSpace nullspace;
  Mat          A;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatGetNullSpace(A, &nullspace));
  *why = NULL;
  if (h->check == HJACOBI_CHECK_BLOCKING)
    *why = "asked for";
  else if (PetscMemTypeHost(type) && !h->anywhere)
    *why = "work is on the host";
  else if (h->jacobi->grid->size > 1)
    *why = "several ranks";
  else if (ksp->numbermonitors)
    *why = "there are monitors";
  else if (ksp->converged != KSPConvergedDefault)
    *why = "a test of one's own";
  else if (nullspace)
    *why = "a null space";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The engine sees the matrix as it is now */
static PetscErrorCode KSPHJacobiLook(KSP ksp)
{
  KSP_HJacobi *h = (KSP_HJacobi *)ksp->data;
  Mat          A, P;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, &A, &P));
  PetscCheck(A == P, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_INCOMP,
             "KSP %s sweeps with the matrix that it solves: the matrix from which a preconditioner would be built must be the same. Give "
             "KSPSetOperators() one matrix twice, or use -ksp_type richardson -pc_type %s",
             KSPHJACOBI, PCHJACOBI);
  PetscCall(StrataJacobiSetUp(h->jacobi, P, A, ksp->dm, ksp->pc->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSolve_HJacobi(KSP ksp)
{
  KSP_HJacobi       *h = (KSP_HJacobi *)ksp->data;
  StrataJacobi       j = h->jacobi;
  PetscReal          change = 0;
  const PetscScalar *ab, *ax;
  PetscScalar       *aw;
  PetscMemType       type;
  Vec                x = ksp->vec_sol;
  PetscBool          failure;

  PetscFunctionBegin;
  ksp->its = 0;
  ksp->reason = KSP_CONVERGED_ITERATING;
  PetscCall(KSPHJacobiLook(ksp));
  failure = j->failure ? PETSC_TRUE : PETSC_FALSE;
  if (failure || h->failed) PetscCall(PCSetFailedReason(ksp->pc, failure ? PC_FACTOR_NUMERIC_ZEROPIVOT : PC_NOERROR));
  h->failed = failure;
  if (failure) {
    ksp->reason = KSP_DIVERGED_PC_FAILED;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(StrataVecGetArrays(ksp->vec_rhs, x, ksp->work[0], &ab, &ax, &aw, &type)); /* tells where the work is */
  if (j->precision == HJACOBI_PRECISION_SAME) PetscCall(StrataJacobiSetRHS(j, ksp->transpose_solve, type, ab));
  PetscCall(StrataVecRestoreArrays(ksp->vec_rhs, x, ksp->work[0], &ab, &ax, &aw, type));
  PetscCall(KSPHJacobiMustBlock(ksp, type, &h->blocking));
  h->first = PETSC_TRUE;
  h->current = x;
  if (ksp->normtype != KSP_NORM_NONE && h->norm == HJACOBI_NORM_UPDATE) PetscCall(KSPHJacobiCheckFinite(ksp));
  if (ksp->normtype != KSP_NORM_NONE && h->norm != HJACOBI_NORM_UPDATE) PetscCall(KSPHJacobiTest(ksp, x, 0));
  while (!ksp->reason) {
    const PetscInt step = ksp->normtype == KSP_NORM_NONE ? ksp->max_it : h->interval * j->period;
    const PetscInt cycles = PetscMin(step, ksp->max_it - ksp->its);

    if (cycles <= 0) {
      ksp->reason = ksp->normtype == KSP_NORM_NONE ? KSP_CONVERGED_ITS : KSP_DIVERGED_ITS;
      break;
    }
    if (ksp->normtype != KSP_NORM_NONE && !h->blocking && !h->first) {
      PetscCall(KSPHJacobiRunAhead(ksp, type, step, &x));
      continue;
    }
    PetscCall(KSPHJacobiCycles(ksp, ksp->its, cycles, &x, h->norm == HJACOBI_NORM_UPDATE ? &change : NULL, NULL));
    h->current = x;
    PetscCall(PetscObjectSAWsTakeAccess((PetscObject)ksp));
    ksp->its += cycles;
    PetscCall(PetscObjectSAWsGrantAccess((PetscObject)ksp));
    if (ksp->normtype != KSP_NORM_NONE) PetscCall(KSPHJacobiTest(ksp, x, change));
  }
  if (x != ksp->vec_sol) PetscCall(VecCopy(x, ksp->vec_sol));
  h->current = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The iterate of this moment, for monitors */
static PetscErrorCode KSPBuildSolution_HJacobi(KSP ksp, Vec v, Vec *V)
{
  KSP_HJacobi *h = (KSP_HJacobi *)ksp->data;
  Vec          x = h->current ? h->current : ksp->vec_sol;

  PetscFunctionBegin;
  if (v) {
    PetscCall(VecCopy(x, v));
    if (V) *V = v;
  } else
    *V = x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the object ------------------------------------------------------------------------------------------------------------------ */

/* There is no preconditioner: one that somebody asked for by an option is an error, and one that was there before is taken away */
static PetscErrorCode KSPHJacobiRefusePC(KSP ksp)
{
  const char *prefix;
  PetscBool   none, given;
  PC          pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCNONE, &none));
  if (none) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, prefix, "-pc_type", &given));
  PetscCheck(!given || !((PetscObject)pc)->type_name, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_INCOMP,
             "KSP %s uses no preconditioner, but -%spc_type %s was given: leave it out or give none, or use -%sksp_type richardson -%spc_type %s",
             KSPHJACOBI, prefix ? prefix : "", ((PetscObject)pc)->type_name, prefix ? prefix : "", prefix ? prefix : "", PCHJACOBI);
  PetscCall(PetscInfo(ksp, "No preconditioner is used\n"));
  PetscCall(PCSetType(pc, PCNONE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetUp_HJacobi(KSP ksp)
{
  KSP_HJacobi    *h = (KSP_HJacobi *)ksp->data;
  const PetscReal told[3] = {h->interval, h->norm, h->check};
  PetscInt        differs;

  PetscFunctionBegin;
  PetscCall(StrataFindDifference(PetscObjectComm((PetscObject)ksp), 3, told, &differs));
  PetscCheck(differs < 0, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONG,
             "-ksp_hjacobi_%s differs between ranks: all must set the same, by options or by functions",
             differs == 0   ? "check_interval"
             : differs == 1 ? "norm"
                            : "check");
  PetscCall(KSPHJacobiRefusePC(ksp));
  PetscCall(KSPSetWorkVecs(ksp, 2));
  PetscCall(KSPHJacobiLook(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetFromOptions_HJacobi(KSP ksp, StrataOptionItems PetscOptionsObject)
{
  KSP_HJacobi *h = (KSP_HJacobi *)ksp->data;
  PetscInt     interval = h->interval;
  PetscEnum    norm = (PetscEnum)h->norm, check = (PetscEnum)h->check;
  PetscBool    set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Hierarchical Jacobi options");
  PetscCall(StrataJacobiSetFromOptions(h->jacobi, PetscOptionsObject));
  PetscCall(
      PetscOptionsInt("-ksp_hjacobi_check_interval", "Cycles from one test to the next", "KSPHJacobiSetCheckInterval", interval, &interval, &set));
  if (set) PetscCall(KSPHJacobiSetCheckInterval(ksp, interval));
  PetscCall(PetscOptionsEnum("-ksp_hjacobi_norm", "What is tested", "KSPHJacobiSetNorm", HJacobiNorms, norm, &norm, &set));
  if (set) PetscCall(KSPHJacobiSetNorm(ksp, (HJacobiNorm)norm));
  PetscCall(PetscOptionsEnum("-ksp_hjacobi_check", "When tests on a GPU are looked at", "KSPHJacobiSetCheck", HJacobiChecks, check, &check, &set));
  if (set) PetscCall(KSPHJacobiSetCheck(ksp, (HJacobiCheck)check));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPView_HJacobi(KSP ksp, PetscViewer viewer)
{
  KSP_HJacobi *h = (KSP_HJacobi *)ksp->data;
  PetscBool    ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ascii) {
    const PetscBool forced = h->blocking && h->check != HJACOBI_CHECK_BLOCKING ? PETSC_TRUE : PETSC_FALSE;

    PetscCall(PetscViewerASCIIPrintf(viewer, "  tests norm %s, every %" PetscInt_FMT " cycle%s, check %s%s%s\n", HJacobiNorms[h->norm], h->interval,
                                     h->interval > 1 ? "s" : "", HJacobiChecks[h->check], forced ? ", here blocking: " : "",
                                     forced ? h->blocking : ""));
  }
  PetscCall(StrataJacobiView(h->jacobi, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPReset_HJacobi(KSP ksp)
{
  KSP_HJacobi *h = (KSP_HJacobi *)ksp->data;

  PetscFunctionBegin;
  PetscCall(StrataWatchReset(&h->watch));
  PetscCall(StrataJacobiReset(h->jacobi));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_HJacobi(KSP ksp)
{
  KSP_HJacobi *h = (KSP_HJacobi *)ksp->data;

  PetscFunctionBegin;
  PetscCall(StrataWatchReset(&h->watch));
  PetscCall(StrataJacobiDestroy(&h->jacobi));
  PetscCall(KSPDestroyDefault(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPHJACOBI = "hjacobi" - Hierarchical Jacobi iteration: several sweeps on each tile of a structured grid before tiles see each other's new values

   Options Database Keys:
+  -ksp_hjacobi_subiterations <k>             - sweeps of a cycle, see `KSPHJacobiSetSubiterations()`
.  -ksp_hjacobi_tile <x,y,z>                  - cells that a tile computes along each axis, see `KSPHJacobiSetTile()`
.  -ksp_hjacobi_overlap <n,exact>             - cells that neighbouring tiles share, see `KSPHJacobiSetOverlap()`
.  -ksp_hjacobi_schedule <constant,chebyshev,srj> - weights of the sweeps, see `KSPHJacobiSetSchedule()`
.  -ksp_hjacobi_omega <omega>                 - the weight of all sweeps, see `KSPHJacobiSetOmega()`
.  -ksp_hjacobi_chebyshev_bounds <a,b>        - eigenvalues that the weights are for, see `KSPHJacobiSetChebyshevBounds()`
.  -ksp_hjacobi_srj_levels <P>                - number of different weights, see `KSPHJacobiSetSRJLevels()`
.  -ksp_hjacobi_kernel <auto,...>             - kernel for GPUs, see `KSPHJacobiSetKernel()`
.  -ksp_hjacobi_precision <same,single>       - precision of the sweeps, see `KSPHJacobiSetPrecision()`
.  -ksp_hjacobi_grid <nx,ny,nz>               - the grid, for a matrix without one, see `KSPHJacobiSetGrid()`
.  -ksp_hjacobi_check <overlapped,blocking>   - when tests on a GPU are looked at, see `KSPHJacobiSetCheck()`
.  -ksp_hjacobi_check_interval <m>            - cycles from one test to the next, see `KSPHJacobiSetCheckInterval()`
-  -ksp_hjacobi_norm <2,infinity,update>      - what is tested, see `KSPHJacobiSetNorm()`

   Level: beginner

   Notes:
   An iteration is a cycle: every tile is swept `subiterations` times with the cells around it frozen, and writes the cells that it owns; then tiles
   see each other's new values. Tiles overlap by `overlap` cells. One sweep a cycle is Jacobi's iteration; an overlap of 2 (k - 1) or more gives
   exactly k of its iterations, `exact` is as wide as that, and is the default.

   The matrix is a `MATSTRATA` operator, or a `MATAIJ` or `MATAIJCUSPARSE` on a `DMDA` that couples each cell to its nearest neighbours along the axes.
   Work is done where the vectors are, on the host or on the GPU, with the same bits as result.

   There is no preconditioner: the type of the `PC` becomes `PCNONE`. Sweeps with a weight of 1 do not smooth: as a smoother in `PCMG` choose the
   schedule chebyshev, or use `PCHJACOBI`, where it is the default.

   A matrix with a zero or a NaN on its diagonal ends the solve with `KSP_DIVERGED_PC_FAILED`; `-ksp_view` and `-info` name the row. Iterates that grow, because the
   matrix is not dominated by its diagonal or a weight is too large, end with `KSP_DIVERGED_DTOL`.

.seealso: `PCHJACOBI`, `MATSTRATA`, `KSPCreate()`, `KSPSetType()`, `KSPType`, `KSP`
M*/
PetscErrorCode KSPCreate_HJacobi(KSP ksp)
{
  KSP_HJacobi *h;

  PetscFunctionBegin;
  PetscCall(PetscNew(&h));
  ksp->data = h;
  h->interval = 1;
  PetscCall(StrataJacobiCreate((PetscObject)ksp, "ksp_hjacobi_", &h->jacobi));
  h->jacobi->subiterations = 8;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 1));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->ops->setup = KSPSetUp_HJacobi;
  ksp->ops->solve = KSPSolve_HJacobi;
  ksp->ops->destroy = KSPDestroy_HJacobi;
  ksp->ops->reset = KSPReset_HJacobi;
  ksp->ops->view = KSPView_HJacobi;
  ksp->ops->setfromoptions = KSPSetFromOptions_HJacobi;
  ksp->ops->buildsolution = KSPBuildSolution_HJacobi;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscFunctionReturn(PETSC_SUCCESS);
}
