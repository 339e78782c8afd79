/*
   KSPCGFUSED: conjugate gradients whose updates and dot products share passes through memory
*/
#include "cgimpl.h"
#include "cg_cell.h"

/* Steps from one look at the device to the next, unless asked otherwise */
#define CG_INTERVAL 16

/* ---- one step, in pieces --------------------------------------------------------------------------------------------------------- */

/* Arrays of vectors in one memory */
typedef struct {
  PetscScalar *r, *z, *p, *w, *s, *x;
} CGArrays;

static PetscErrorCode KSPCGFusedGetArrays(KSP ksp, CGArrays *a)
{
  KSP_CGFused  *cg = (KSP_CGFused *)ksp->data;
  Vec           v[6] = {ksp->work[CG_R], ksp->work[CG_Z], ksp->work[CG_P], ksp->work[CG_W], cg->form == KSP_CGFUSED_GEAR ? ksp->work[CG_S] : NULL,
                        ksp->vec_sol};
  PetscScalar **to[6] = {&a->r, &a->z, &a->p, &a->w, &a->s, &a->x};

  PetscFunctionBegin;
  for (int m = 0; m < 6; m++) {
    PetscMemType type;

    *to[m] = NULL;
    if (!v[m]) continue;
    PetscCall(VecGetArrayAndMemType(v[m], to[m], &type));
    PetscCheck(PetscMemTypeDevice(type) == PetscMemTypeDevice(cg->type), PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_INCOMP,
               "The vectors of the solve are some on the host and some on a GPU: create right-hand side and solution with the same type");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGFusedRestoreArrays(KSP ksp, CGArrays *a)
{
  KSP_CGFused  *cg = (KSP_CGFused *)ksp->data;
  Vec           v[6] = {ksp->work[CG_R], ksp->work[CG_Z], ksp->work[CG_P], ksp->work[CG_W], cg->form == KSP_CGFUSED_GEAR ? ksp->work[CG_S] : NULL,
                        ksp->vec_sol};
  PetscScalar **to[6] = {&a->r, &a->z, &a->p, &a->w, &a->s, &a->x};

  PetscFunctionBegin;
  for (int m = 0; m < 6; m++)
    if (v[m]) PetscCall(VecRestoreArrayAndMemType(v[m], to[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbers that kernels read, work space, and the size of the problem on this rank */
static PetscErrorCode KSPCGFusedGetSpace(KSP ksp, ptrdiff_t *n, PetscReal **work, StrataCG_d **numbers, void **stream)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  StrataArray *w = &cg->work[PetscMemTypeDevice(cg->type) ? 1 : 0], *q = &cg->numbers[PetscMemTypeDevice(cg->type) ? 1 : 0];
  PetscInt     local;
  size_t       bytes;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(ksp->work[CG_R], &local));
  *n = (ptrdiff_t)local;
  bytes = STRATA_CG_SUMS * StrataReduceWork(*n) * sizeof(PetscReal);
  if (cg->level == CGFUSED_OPERATOR) { /* results of blocks in place of chunks */
    StrataCGLean_d lean;

    PetscCall(StrataCGDeviceGet(cg->device, &lean));
    bytes = PetscMax(bytes, STRATA_CG_SUMS * StrataReduceWork(StrataCGLeanBlocks_d(lean.n) * STRATA_CHUNK) * sizeof(PetscReal));
  }
  if (w->bytes < bytes) {
    PetscCall(StrataArrayDestroy(w));
    PetscCall(StrataArrayCreate(w, bytes));
  }
  PetscCall(StrataArrayWrite(w, cg->type, work));
  if (q->bytes != sizeof(StrataCG_d)) PetscCall(StrataArrayCreate(q, sizeof(StrataCG_d)));
  PetscCall(StrataArrayWrite(q, cg->type, numbers));
  PetscCall(StrataGetStream(cg->type, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void StrataCGFusedGetNumbers(KSP ksp, PetscReal beta, PetscReal alpha, PetscBool tests, StrataCG_d *numbers)
{
  const KSP_CGFused *cg = (const KSP_CGFused *)ksp->data;

  memset(numbers, 0, sizeof(*numbers));
  numbers->beta = beta;
  numbers->alpha = alpha;
  numbers->gamma = cg->solve.gamma;
  numbers->curvature = cg->solve.curvature;
  numbers->owed = cg->solve.owed;
  if (tests) {
    numbers->test = ksp->normtype == KSP_NORM_UNPRECONDITIONED ? STRATA_CG_TEST_R
                    : ksp->normtype == KSP_NORM_PRECONDITIONED ? STRATA_CG_TEST_Z
                    : ksp->normtype == KSP_NORM_NATURAL        ? STRATA_CG_TEST_NATURAL
                                                               : STRATA_CG_TEST_NONE;
    numbers->least = ksp->ttol;
    numbers->most = ksp->divtol > 0 ? ksp->divtol * ksp->rnorm0 : PETSC_INFINITY;
  }
}

PetscErrorCode StrataCGFusedSetNumbers(KSP ksp, PetscReal beta, PetscReal alpha, PetscBool tests)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  StrataCG_d   numbers;

  PetscFunctionBegin;
  StrataCGFusedGetNumbers(ksp, beta, alpha, tests, &numbers);
  PetscCall(StrataArraySet(&cg->numbers[PetscMemTypeDevice(cg->type) ? 1 : 0], sizeof(numbers), cg->type, &numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGFusedLogFlops(KSP ksp, PetscReal flops)
{
  PetscFunctionBegin;
  if (PetscMemTypeDevice(((KSP_CGFused *)ksp->data)->type))
    PetscCall(PetscLogGpuFlops(flops));
  else
    PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = M r and, in the form of Chronopoulos and Gear, s = A z */
static PetscErrorCode KSPCGFusedPrecondition(KSP ksp)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(KSP_PCApply(ksp, ksp->work[CG_R], ksp->work[CG_Z]));
  if (((KSP_CGFused *)ksp->data)->form == KSP_CGFUSED_GEAR) PetscCall(KSP_MatMult(ksp, A, ksp->work[CG_Z], ksp->work[CG_S]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Dot products of this rank, by our own reductions: the same bits on host and device */
PetscErrorCode StrataCGFusedDots(KSP ksp, PetscInt count, const Vec x[], const Vec y[], PetscReal dot[])
{
  KSP_CGFused       *cg = (KSP_CGFused *)ksp->data;
  const PetscScalar *ax, *ay;
  const PetscReal   *result;
  PetscReal         *work;
  StrataCG_d        *numbers;
  PetscMemType       type;
  ptrdiff_t          n;
  void              *stream;

  PetscFunctionBegin;
  for (PetscInt q = 0; q < count; q++) {
    if (cg->level == CGFUSED_NOTHING) {
      PetscCall(VecDotBegin(x[q], y[q], &dot[q]));
      continue;
    }
    PetscCall(KSPCGFusedGetSpace(ksp, &n, &work, &numbers, &stream));
    PetscCall(VecGetArrayReadAndMemType(x[q], &ax, &type));
    PetscCall(VecGetArrayReadAndMemType(y[q], &ay, &type));
    StrataDispatch(cg->type, StrataReduceHost_d(STRATA_REDUCE_DOT, n, ax, ay, work), StrataReduceCUDA_d(STRATA_REDUCE_DOT, n, ax, ay, work, stream));
    PetscCall(VecRestoreArrayReadAndMemType(y[q], &ay));
    PetscCall(VecRestoreArrayReadAndMemType(x[q], &ax));
    PetscCall(StrataArrayRead(&cg->work[PetscMemTypeDevice(cg->type) ? 1 : 0], PETSC_MEMTYPE_HOST, &result));
    dot[q] = result[StrataReduceWork(n) - 1];
    PetscCall(KSPCGFusedLogFlops(ksp, 2.0 * n));
  }
  if (cg->level == CGFUSED_NOTHING)
    for (PetscInt q = 0; q < count; q++) PetscCall(VecDotEnd(x[q], y[q], &dot[q]));
  else
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, dot, (PetscMPIInt)count, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All sums, in one reduction over the ranks */
static PetscErrorCode KSPCGFusedSums(KSP ksp)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  Vec          R = ksp->work[CG_R], Z = ksp->work[CG_Z], x[3] = {Z}, y[3] = {R};
  PetscReal    dot[3];
  PetscInt     count = 1, which[3] = {STRATA_CG_GAMMA};

  PetscFunctionBegin;
  if (cg->form == KSP_CGFUSED_GEAR) {
    which[count] = STRATA_CG_DELTA;
    x[count] = Z;
    y[count++] = ksp->work[CG_S];
  }
  if (ksp->normtype == KSP_NORM_UNPRECONDITIONED || ksp->normtype == KSP_NORM_PRECONDITIONED) {
    which[count] = ksp->normtype == KSP_NORM_UNPRECONDITIONED ? STRATA_CG_RR : STRATA_CG_ZZ;
    x[count] = y[count] = ksp->normtype == KSP_NORM_UNPRECONDITIONED ? R : Z;
    count++;
  }
  PetscCall(StrataCGFusedDots(ksp, count, x, y, dot));
  for (PetscInt q = 0; q < count; q++) cg->solve.sum[which[q]] = dot[q];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes x and r a step along a direction that is there, with w = A p; then z, s and all sums */
PetscErrorCode StrataCGFusedAdvance(KSP ksp)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;

  PetscFunctionBegin;
  PetscCall(VecAXPY(ksp->vec_sol, cg->solve.alpha, ksp->work[CG_P]));
  PetscCall(VecAXPY(ksp->work[CG_R], -cg->solve.alpha, ksp->work[CG_W]));
  PetscCall(KSPCGFusedPrecondition(ksp));
  PetscCall(KSPCGFusedSums(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* p = z + beta p, w = A p and the curvature (p,w) */
static PetscErrorCode KSPCGFusedDirection(KSP ksp, PetscReal *curvature)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(VecAYPX(ksp->work[CG_P], ((KSP_CGFused *)ksp->data)->solve.beta, ksp->work[CG_Z]));
  PetscCall(KSP_MatMult(ksp, A, ksp->work[CG_P], ksp->work[CG_W]));
  PetscCall(StrataCGFusedDots(ksp, 1, &ksp->work[CG_P], &ksp->work[CG_W], curvature));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same, with the work on vectors in two passes: x, r and, in the form of Chronopoulos and Gear, p and w before z; sums after it */
PetscErrorCode StrataCGFusedUpdate(KSP ksp)
{
  KSP_CGFused     *cg = (KSP_CGFused *)ksp->data;
  const int        gear = cg->form == KSP_CGFUSED_GEAR;
  CGArrays         a;
  ptrdiff_t        n;
  PetscReal       *work;
  const PetscReal *z, *s;
  StrataCG_d      *numbers;
  void            *stream;

  PetscFunctionBegin;
  PetscCall(KSPCGFusedGetSpace(ksp, &n, &work, &numbers, &stream));
  PetscCall(KSPCGFusedGetArrays(ksp, &a));
  z = gear ? a.z : NULL;
  s = gear ? a.s : a.w;
  StrataDispatch(cg->type, StrataCGUpdateHost_d(n, numbers, z, s, a.p, gear ? a.w : NULL, a.x, a.r, work),
                 StrataCGUpdateCUDA_d(n, numbers, z, s, a.p, gear ? a.w : NULL, a.x, a.r, work, stream));
  PetscCall(KSPCGFusedRestoreArrays(ksp, &a));
  PetscCall(KSPCGFusedLogFlops(ksp, (gear ? 10.0 : 6.0) * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGFusedSums(KSP ksp)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  CGArrays     a;
  ptrdiff_t    n;
  PetscReal   *work;
  StrataCG_d  *numbers;
  void        *stream;

  PetscFunctionBegin;
  PetscCall(KSPCGFusedGetSpace(ksp, &n, &work, &numbers, &stream));
  PetscCall(KSPCGFusedGetArrays(ksp, &a));
  StrataDispatch(cg->type, StrataCGSumsHost_d(n, a.r, a.z, a.s, work), StrataCGSumsCUDA_d(n, numbers, a.r, a.z, a.s, work, stream));
#if STRATA_HAVE_CUDA
  if (PetscMemTypeDevice(cg->type)) {
    PetscReal(*history)[STRATA_CG_SUMS];

    PetscCall(StrataArrayWrite(&cg->history, cg->type, &history));
    StrataCallCUDA(StrataCGJudgeCUDA_d(n, numbers, work, history, stream));
  }
#endif
  PetscCall(KSPCGFusedRestoreArrays(ksp, &a));
  PetscCall(KSPCGFusedLogFlops(ksp, (cg->form == KSP_CGFUSED_GEAR ? 6.0 : 4.0) * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGFusedAdvanceTogether(KSP ksp, PetscInt steps)
{
  PetscFunctionBegin;
  for (PetscInt q = 0; q < steps; q++) {
    PetscCall(StrataCGFusedUpdate(ksp));
    PetscCall(KSPCGFusedPrecondition(ksp));
    PetscCall(StrataCGFusedSums(ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same with the operator in the first pass. The new p takes the place of w, which is not needed. */
static PetscErrorCode KSPCGFusedSwap(KSP ksp)
{
  const Vec p = ksp->work[CG_P];

  PetscFunctionBegin;
  ksp->work[CG_P] = ksp->work[CG_W];
  ksp->work[CG_W] = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGFusedAdvanceOperator(KSP ksp, PetscInt steps)
{
#if STRATA_HAVE_CUDA
  KSP_CGFused   *cg = (KSP_CGFused *)ksp->data;
  CGArrays       a;
  ptrdiff_t      n, blocks;
  PetscReal     *work, (*history)[STRATA_CG_SUMS];
  StrataCG_d    *numbers;
  StrataCGLean_d lean;
  void          *stream;

  PetscFunctionBegin;
  PetscCall(StrataCGDeviceGet(cg->device, &lean));
  PetscCall(KSPCGFusedGetSpace(ksp, &n, &work, &numbers, &stream));
  PetscCall(StrataArrayWrite(&cg->history, cg->type, &history));
  blocks = StrataCGLeanBlocks_d(lean.n);
  for (PetscInt q = 0; q < steps; q++) {
    PetscCall(KSPCGFusedGetArrays(ksp, &a));
    StrataCallCUDA(StrataCGLeanStepCUDA_d(&lean, numbers, a.z, a.p, a.w, a.x, a.r, work, stream));
    PetscCall(KSPCGFusedRestoreArrays(ksp, &a));
    PetscCall(KSPCGFusedSwap(ksp));
    PetscCall(KSP_PCApply(ksp, ksp->work[CG_R], ksp->work[CG_Z]));
    PetscCall(KSPCGFusedGetArrays(ksp, &a));
    StrataCallCUDA(StrataCGLeanSumsCUDA_d(&lean, numbers, a.r, a.z, work, stream));
    StrataCallCUDA(StrataCGJudgeCUDA_d(blocks * STRATA_CHUNK, numbers, work, history, stream));
    PetscCall(KSPCGFusedRestoreArrays(ksp, &a));
    PetscCall(KSPCGFusedLogFlops(ksp, 48.0 * n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
#endif
}

/* The same with the preconditioner as well, on vectors of its own */
static PetscErrorCode KSPCGFusedAdvanceColumns(KSP ksp, PetscInt steps)
{
#if STRATA_HAVE_CUDA
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  ptrdiff_t    n;
  PetscReal   *work, (*history)[STRATA_CG_SUMS];
  StrataCG_d  *numbers;
  void        *stream;

  PetscFunctionBegin;
  PetscCall(KSPCGFusedGetSpace(ksp, &n, &work, &numbers, &stream));
  PetscCall(StrataArrayWrite(&cg->history, cg->type, &history));
  if (cg->level == CGFUSED_TILES)
    PetscCall(StrataCGTilesSteps(ksp, cg->tiles, steps, numbers, history));
  else
    PetscCall(StrataCGUpDownSteps(ksp, cg->updown, steps, numbers, steps, history));
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
#endif
}

/* The sums that the last step left on this rank */
PetscErrorCode StrataCGFusedLocalSums(KSP ksp)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  ptrdiff_t    n, run;
  PetscReal   *work;
  StrataCG_d  *numbers;
  void        *stream;

  PetscFunctionBegin;
  PetscCall(KSPCGFusedGetSpace(ksp, &n, &work, &numbers, &stream));
  run = StrataReduceWork(n);
  if (PetscMemTypeDevice(cg->type)) {
    const StrataCG_d *read;

    PetscCall(StrataArrayRead(&cg->numbers[1], PETSC_MEMTYPE_HOST, &read));
    for (int q = 0; q < STRATA_CG_SUMS; q++) cg->solve.sum[q] = read->sum[q];
  } else
    for (int q = 0; q < STRATA_CG_SUMS; q++) cg->solve.sum[q] = q == STRATA_CG_DELTA && cg->form != KSP_CGFUSED_GEAR ? 0 : work[(q + 1) * run - 1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGFusedReduce(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(StrataCGFusedLocalSums(ksp));
  PetscCallMPI(
      MPIU_Allreduce(MPI_IN_PLACE, ((KSP_CGFused *)ksp->data)->solve.sum, STRATA_CG_SUMS, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* p = z + beta p, w = A p and the curvature, with our own kernels */
static PetscErrorCode KSPCGFusedDirectionTogether(KSP ksp, PetscReal *curvature)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  CGArrays     a;
  ptrdiff_t    n;
  PetscReal   *work;
  StrataCG_d  *numbers;
  void        *stream;
  Mat          A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(StrataCGFusedSetNumbers(ksp, cg->solve.beta, 0, PETSC_FALSE));
  PetscCall(KSPCGFusedGetSpace(ksp, &n, &work, &numbers, &stream));
  PetscCall(KSPCGFusedGetArrays(ksp, &a));
  StrataDispatch(cg->type, StrataCGDirectionHost_d(n, numbers, a.z, a.p), StrataCGDirectionCUDA_d(n, numbers, a.z, a.p, stream));
  PetscCall(KSPCGFusedRestoreArrays(ksp, &a));
  PetscCall(KSP_MatMult(ksp, A, ksp->work[CG_P], ksp->work[CG_W]));
  PetscCall(KSPCGFusedLogFlops(ksp, 2.0 * n));
  PetscCall(StrataCGFusedDots(ksp, 1, &ksp->work[CG_P], &ksp->work[CG_W], curvature));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is done all together works on vectors of its own: those of the solver are needed */
static PetscErrorCode KSPCGFusedLeavePass(KSP ksp)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;

  PetscFunctionBegin;
  PetscCall(StrataCGPassLeave(cg->pass, ksp->work[CG_Z], ksp->work[CG_P], ksp->vec_sol, ksp->work[CG_R]));
#if STRATA_HAVE_CUDA
  if (cg->level == CGFUSED_COLUMNS || cg->level == CGFUSED_TILES) {
    PetscBool left;

    if (cg->level == CGFUSED_TILES)
      PetscCall(StrataCGTilesLeave(cg->tiles, cg->solve.owed, ksp->work[CG_P], ksp->vec_sol, ksp->work[CG_R], &left));
    else
      PetscCall(StrataCGUpDownLeave(cg->updown, cg->solve.owed, ksp->work[CG_P], ksp->vec_sol, ksp->work[CG_R], &left));
    if (left) PetscCall(KSP_PCApply(ksp, ksp->work[CG_R], ksp->work[CG_Z]));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* And of these the iterate alone; it lacks the last step, of length owed, or not */
static PetscErrorCode KSPCGFusedSolution(KSP ksp, PetscReal owed)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;

  PetscFunctionBegin;
  if (cg->level == CGFUSED_ALL) PetscCall(StrataCGPassSolution(cg->pass, ksp->vec_sol));
#if STRATA_HAVE_CUDA
  if (cg->level == CGFUSED_COLUMNS) PetscCall(StrataCGUpDownSolution(cg->updown, owed, ksp->vec_sol));
  if (cg->level == CGFUSED_TILES) PetscCall(StrataCGTilesSolution(cg->tiles, owed, ksp->vec_sol));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the solve ------------------------------------------------------------------------------------------------------------------- */

/* r = b - A x */
PetscErrorCode StrataCGFusedResidual(KSP ksp)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(KSP_MatMult(ksp, A, ksp->vec_sol, ksp->work[CG_R]));
  PetscCall(VecAYPX(ksp->work[CG_R], -1.0, ksp->vec_rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norm that is tested, from the sums of an iteration */
PetscReal StrataCGFusedNorm(KSP ksp)
{
  const PetscReal *sum = ((KSP_CGFused *)ksp->data)->solve.sum;

  if (ksp->normtype == KSP_NORM_NATURAL) return PetscSqrtReal(PetscAbsReal(sum[STRATA_CG_GAMMA]));
  if (ksp->chknorm > ksp->its) return 0;
  if (ksp->normtype == KSP_NORM_UNPRECONDITIONED) return PetscSqrtReal(sum[STRATA_CG_RR]);
  if (ksp->normtype == KSP_NORM_PRECONDITIONED) return PetscSqrtReal(sum[STRATA_CG_ZZ]);
  return 0;
}

/* Tests the iterate */
PetscErrorCode StrataCGFusedTest(KSP ksp, PetscReal norm)
{
  PetscFunctionBegin;
  KSPCheckNorm(ksp, norm);
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, ksp->its, norm));
  PetscCall((*ksp->converged)(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the operator or the preconditioner shows to be indefinite ends the solve */
static PetscErrorCode KSPCGFusedIndefinite(KSP ksp, PetscBool mat, PetscReal now, PetscReal before)
{
  PetscBool negative = PETSC_FALSE;

  PetscFunctionBegin;
  if (mat) PetscCall(StrataKSPGetConvergedNegativeCurvature(ksp, &negative));
  if (negative) {
    PetscCall(PetscInfo(ksp, "converged due to negative curvature: %g\n", (double)now));
    ksp->reason = KSP_CONVERGED_NEG_CURVE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(!ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED,
             "Diverged due to indefinite %s, %s %g after %g: KSP %s needs both symmetric and positive definite; try -ksp_type gmres",
             mat ? "matrix" : "preconditioner", mat ? "(p,Ap)" : "(r,z)", (double)now, (double)before, KSPCGFUSED);
  ksp->reason = mat ? KSP_DIVERGED_INDEFINITE_MAT : KSP_DIVERGED_INDEFINITE_PC;
  PetscCall(PetscInfo(ksp, "diverging due to indefinite %s, %g after %g\n", mat ? "matrix" : "preconditioner", (double)now, (double)before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The length of the next step */
PetscErrorCode StrataCGFusedLength(KSP ksp, PetscReal gamma, PetscReal curvature)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;

  PetscFunctionBegin;
  if (ksp->calc_sings) PetscCall(StrataCGLanczosAdd(&cg->lanczos, ksp->its, cg->solve.beta, cg->solve.alpha, gamma / curvature));
  cg->solve.gamma = gamma;
  cg->solve.curvature = curvature;
  cg->solve.alpha = gamma / curvature;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the numbers of the next step from the sums. Where only the direction itself can tell whether the operator is definite, it is made, and
   `made` says so. */
PetscErrorCode StrataCGFusedPrepare(KSP ksp, PetscBool *made)
{
  KSP_CGFused    *cg = (KSP_CGFused *)ksp->data;
  const PetscReal gamma = cg->solve.sum[STRATA_CG_GAMMA], before = cg->solve.curvature;
  PetscReal       curvature;

  PetscFunctionBegin;
  *made = PETSC_FALSE;
  KSPCheckDot(ksp, gamma);
  if (gamma == 0) {
    ksp->its++;
    ksp->reason = KSP_CONVERGED_ATOL;
    PetscCall(PetscInfo(ksp, "converged due to (r,z) = 0\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (ksp->its && gamma * cg->solve.gamma < 0) {
    const PetscReal gammabefore = cg->solve.gamma;

    ksp->its++;
    PetscCall(KSPCGFusedIndefinite(ksp, PETSC_FALSE, gamma, gammabefore));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  cg->solve.beta = ksp->its ? gamma / cg->solve.gamma : 0;
  curvature = ksp->its ? strata_cg_curvature_d(cg->solve.sum[STRATA_CG_DELTA], cg->solve.beta, before) : cg->solve.sum[STRATA_CG_DELTA];
  if (cg->form == KSP_CGFUSED_GEAR) {
    if (PetscIsInfOrNanReal(curvature)) ksp->its++; /* as KSPCG counts */
    KSPCheckDot(ksp, curvature);
  }
  if (cg->form == KSP_CGFUSED_CLASSIC || curvature == 0 || (ksp->its && curvature * before <= 0)) {
    *made = PETSC_TRUE;
    PetscCall(KSPCGFusedLeavePass(ksp));
    if (cg->level == CGFUSED_NOTHING)
      PetscCall(KSPCGFusedDirection(ksp, &curvature));
    else
      PetscCall(KSPCGFusedDirectionTogether(ksp, &curvature));
    if (PetscIsInfOrNanReal(curvature)) ksp->its++;
    KSPCheckDot(ksp, curvature);
    if (curvature == 0 || (ksp->its && PetscSign(curvature) * PetscSign(before) < 0)) {
      ksp->its++;
      PetscCall(KSPCGFusedIndefinite(ksp, PETSC_TRUE, curvature, before));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(StrataCGFusedLength(ksp, gamma, curvature));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next direction starts anew */
static PetscErrorCode KSPCGFusedForget(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(VecSet(ksp->work[CG_P], 0));
  PetscCall(VecSet(ksp->work[CG_W], 0));
  ((KSP_CGFused *)ksp->data)->solve.gamma *= PETSC_INFINITY; /* beta is zero */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Rounding takes the residual of the recurrences away from b - A x, by no more than eps times what was added to it and to x. Where that may be more
   than the root of eps of the residual (van der Vorst and Ye, 2000), b - A x is looked at, at the end and whenever the residual has become ten times
   smaller. If the residual is off by a tenth, b - A x takes its place, and the directions, which do not fit it, start anew: smaller changes do more
   harm to the directions than good. If the replacement before has not halved b - A x, it is as small as rounding lets it be.
*/
PetscErrorCode StrataCGFusedDrift(KSP ksp)
{
  KSP_CGFused    *cg = (KSP_CGFused *)ksp->data;
  const PetscReal norm = ksp->rnorm;
  const Vec       R = ksp->work[CG_R], W = ksp->work[CG_W];
  PetscReal       size, off;
  Mat             A;

  PetscFunctionBegin;
  if (cg->form != KSP_CGFUSED_GEAR || ksp->normtype == KSP_NORM_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->reason && (ksp->reason < 0 || ksp->converged != KSPConvergedDefault)) PetscFunctionReturn(PETSC_SUCCESS);
  cg->solve.largest = PetscMax(cg->solve.largest, norm);
  cg->solve.drift += PETSC_MACHINE_EPSILON * (cg->solve.largest + norm);
  if (cg->solve.drift <= PETSC_SQRT_MACHINE_EPSILON * norm || (!ksp->reason && norm > cg->solve.looked / 10)) PetscFunctionReturn(PETSC_SUCCESS);
  cg->solve.looked = norm;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(KSPCGFusedLeavePass(ksp));
  PetscCall(KSP_MatMult(ksp, A, ksp->vec_sol, W));
  PetscCall(VecAYPX(W, -1.0, ksp->vec_rhs));
  PetscCall(VecAXPY(W, -1.0, R));
  PetscCall(VecNorm(R, NORM_2, &size));
  PetscCall(VecNorm(W, NORM_2, &off));
  PetscCall(PetscInfo(ksp, "residual off by %g of %g at iteration %" PetscInt_FMT "\n", (double)off, (double)size, ksp->its));
  if (off > 0.1 * size && off < cg->solve.least / 2) {
    PetscCall(VecAXPY(R, 1.0, W));
    PetscCall(VecNorm(R, NORM_2, &cg->solve.least));
    PetscCall(KSPCGFusedPrecondition(ksp));
    PetscCall(KSPCGFusedSums(ksp));
    PetscCall(KSPCGFusedForget(ksp));
    cg->solve.replaced++;
    if (ksp->reason) PetscCall((*ksp->converged)(ksp, ksp->its, StrataCGFusedNorm(ksp), &ksp->reason, ksp->cnvP));
  } else if (!ksp->reason)
    PetscCall(KSP_MatMult(ksp, A, ksp->work[CG_P], W));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Steps that may be made before anybody has to look: on a device, where it makes the test itself */
PetscErrorCode StrataCGFusedBatch(KSP ksp, PetscInt *steps)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  PetscMPIInt  size;

  PetscFunctionBegin;
  *steps = 1;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  if (PetscMemTypeHost(cg->type) || cg->level == CGFUSED_NOTHING || cg->form != KSP_CGFUSED_GEAR || size > 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->numbermonitors || ksp->chknorm > 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->converged != KSPConvergedDefault && !(ksp->converged == KSPConvergedSkip && ksp->normtype == KSP_NORM_NONE))
    PetscFunctionReturn(PETSC_SUCCESS);
  *steps = PetscMin(cg->interval == PETSC_DETERMINE ? CG_INTERVAL : cg->interval, PetscMax(ksp->max_it - ksp->its, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Space for the sums of steps on a device */
PetscErrorCode StrataCGFusedGetHistory(KSP ksp, PetscInt room, PetscReal (**history)[STRATA_CG_SUMS])
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;

  PetscFunctionBegin;
  if (cg->history.bytes < room * sizeof(**history)) {
    PetscCall(StrataArrayDestroy(&cg->history));
    PetscCall(StrataArrayCreate(&cg->history, room * sizeof(**history)));
  }
  PetscCall(StrataArrayWrite(&cg->history, cg->type, history));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The host's part of steps that were made, from their sums; history NULL: of one step, whose sums are in place */
PetscErrorCode StrataCGFusedFollow(KSP ksp, PetscInt count, const PetscReal (*history)[STRATA_CG_SUMS])
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;

  PetscFunctionBegin;
  for (PetscInt q = 0; q < count && !ksp->reason; q++) {
    if (history) PetscCall(PetscArraycpy(cg->solve.sum, history[q], STRATA_CG_SUMS));
    PetscCall(PetscObjectSAWsTakeAccess((PetscObject)ksp));
    ksp->its++;
    PetscCall(PetscObjectSAWsGrantAccess((PetscObject)ksp));
    PetscCall(StrataCGFusedTest(ksp, StrataCGFusedNorm(ksp)));
    if (!ksp->reason && q + 1 < count) {
      PetscBool other;

      PetscCall(StrataCGFusedPrepare(ksp, &other));
    }
  }
  cg->solve.owed = cg->solve.alpha;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes `steps` steps, the first with the numbers that are prepared, and tests after each. On a device no more steps are made once one passes:
   what is tested here is what was tested there. */
PetscErrorCode StrataCGFusedSteps(KSP ksp, PetscBool made, PetscInt steps)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  PetscInt     count = 1;
  const PetscReal(*history)[STRATA_CG_SUMS] = NULL;

  PetscFunctionBegin;
  if (cg->level == CGFUSED_ALL && !made) {
    PetscCall(
        StrataCGPassStep(cg->pass, cg->solve.beta, cg->solve.alpha, ksp->work[CG_Z], ksp->work[CG_P], ksp->vec_sol, ksp->work[CG_R], cg->solve.sum));
    if (ksp->numbermonitors || ksp->converged != KSPConvergedDefault) PetscCall(KSPCGFusedSolution(ksp, cg->solve.alpha)); /* somebody may look */
  } else if (cg->level == CGFUSED_NOTHING) {
    if (!made) {
      PetscCall(VecAYPX(ksp->work[CG_P], cg->solve.beta, ksp->work[CG_Z]));
      PetscCall(VecAYPX(ksp->work[CG_W], cg->solve.beta, ksp->work[CG_S]));
    }
    PetscCall(StrataCGFusedAdvance(ksp));
  } else if (made && cg->form == KSP_CGFUSED_GEAR) /* a direction of its own, rarely */
    PetscCall(StrataCGFusedAdvance(ksp));
  else {
    PetscCall(StrataCGFusedSetNumbers(ksp, cg->solve.beta, cg->solve.alpha, steps > 1 ? PETSC_TRUE : PETSC_FALSE));
    if (PetscMemTypeDevice(cg->type)) {
      PetscReal(*space)[STRATA_CG_SUMS];

      PetscCall(StrataCGFusedGetHistory(ksp, steps, &space));
    }
    if (cg->level == CGFUSED_COLUMNS || cg->level == CGFUSED_TILES)
      PetscCall(KSPCGFusedAdvanceColumns(ksp, steps));
    else if (cg->level == CGFUSED_OPERATOR)
      PetscCall(KSPCGFusedAdvanceOperator(ksp, steps));
    else
      PetscCall(KSPCGFusedAdvanceTogether(ksp, steps));
    PetscCall(KSPCGFusedReduce(ksp));
    if (steps > 1) {
      const StrataCG_d *numbers;

      PetscCall(StrataArrayRead(&cg->numbers[1], PETSC_MEMTYPE_HOST, &numbers));
      PetscCall(StrataArrayRead(&cg->history, PETSC_MEMTYPE_HOST, &history));
      count = numbers->its;
      if (cg->level == CGFUSED_OPERATOR && (steps - count) % 2) PetscCall(KSPCGFusedSwap(ksp)); /* steps that were not made */
    }
#if STRATA_HAVE_CUDA
    if (cg->level == CGFUSED_COLUMNS) PetscCall(StrataCGUpDownMade(cg->updown, count));
    if (cg->level == CGFUSED_TILES) PetscCall(StrataCGTilesMade(cg->tiles, count));
    if (steps == 1 && (ksp->numbermonitors || ksp->converged != KSPConvergedDefault)) PetscCall(KSPCGFusedSolution(ksp, cg->solve.alpha));
#endif
  }
  PetscCall(StrataCGFusedFollow(ksp, count, history));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How this solve is done */
static PetscErrorCode KSPCGFusedChoose(KSP ksp)
{
  KSP_CGFused       *cg = (KSP_CGFused *)ksp->data;
  PetscBool          plain, same;
  const PetscScalar *array;
  VecType            type;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp->vec_sol, &plain, VECSEQ, VECMPI, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(VecGetType(ksp->vec_sol, &type));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->work[CG_R], type, &same));
  cg->level = plain && same ? CGFUSED_VECTORS : CGFUSED_NOTHING;
  cg->type = PETSC_MEMTYPE_HOST;
  cg->worked = PETSC_TRUE;
  cg->whynot = cg->level == CGFUSED_NOTHING ? "vectors that are not plain arrays" : NULL;
  if (cg->level == CGFUSED_NOTHING) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayReadAndMemType(ksp->vec_sol, &array, &cg->type));
  PetscCall(VecRestoreArrayReadAndMemType(ksp->vec_sol, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Up to the first direction. sums: with z, s and all sums, else only as far as the first test needs them. */
PetscErrorCode StrataCGFusedStart(KSP ksp, PetscBool sums)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  Vec          R = ksp->work[CG_R];
  PetscReal    norm = 0;
  PetscMPIInt  failed = ksp->reason == KSP_DIVERGED_PC_FAILED;

  PetscFunctionBegin;
  ksp->its = 0;
  PetscCall(KSPCGFusedChoose(ksp));
  if (ksp->guess_zero)
    PetscCall(VecCopy(ksp->vec_rhs, R));
  else
    PetscCall(StrataCGFusedResidual(ksp));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)ksp)));
  if (failed) PetscCall(VecSet(R, PETSC_INFINITY)); /* the set-up failed, perhaps on some ranks only */
  cg->solve.gamma = cg->solve.curvature = cg->solve.beta = cg->solve.alpha = cg->solve.owed = cg->solve.drift = cg->solve.largest = 0;
  cg->solve.looked = cg->solve.least = PETSC_INFINITY;
  cg->solve.replaced = 0;
  cg->lanczos.count = 0;
  PetscCall(PetscArrayzero(cg->solve.sum, STRATA_CG_SUMS));
  if (ksp->normtype == KSP_NORM_UNPRECONDITIONED) {
    PetscCall(StrataCGFusedDots(ksp, 1, &R, &R, &norm));
    norm = PetscSqrtReal(norm);
  } else if (ksp->normtype != KSP_NORM_NONE) {
    PetscCall(KSPCGFusedPrecondition(ksp));
    PetscCall(KSPCGFusedSums(ksp));
    norm =
        ksp->normtype == KSP_NORM_NATURAL ? PetscSqrtReal(PetscAbsReal(cg->solve.sum[STRATA_CG_GAMMA])) : PetscSqrtReal(cg->solve.sum[STRATA_CG_ZZ]);
  }
  PetscCall(StrataCGFusedTest(ksp, norm));
  if (ksp->reason || !sums) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->normtype == KSP_NORM_UNPRECONDITIONED || ksp->normtype == KSP_NORM_NONE) {
    PetscCall(KSPCGFusedPrecondition(ksp));
    PetscCall(KSPCGFusedSums(ksp));
  }
  PetscCall(VecSet(ksp->work[CG_P], 0));
  PetscCall(VecSet(ksp->work[CG_W], 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Steps in single precision, where there are any. What single precision leaves of a solve starts from x with a new direction. */
static PetscErrorCode KSPCGFusedTrySingle(KSP ksp)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;

  PetscFunctionBegin;
  cg->notsingle = cg->level == CGFUSED_ALL || cg->level == CGFUSED_COLUMNS ? NULL : cg->whynot ? cg->whynot : "another way of iterating";
  if (cg->level == CGFUSED_ALL) PetscCall(StrataCGPassSingle(cg->pass, &cg->notsingle));
#if STRATA_HAVE_CUDA
  if (cg->level == CGFUSED_COLUMNS) {
    PetscCall(StrataCGUpDownSingleCreate(ksp, &cg->single, &cg->notsingle));
    if (!cg->notsingle) PetscCall(StrataCGUpDownForget(cg->updown));
  }
#endif
  if (cg->notsingle) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGFusedSingle(ksp));
  if (ksp->reason || ksp->its >= ksp->max_it || !cg->notsingle) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPCGFusedLeavePass(ksp));
  PetscCall(StrataCGFusedResidual(ksp));
  PetscCall(KSPCGFusedPrecondition(ksp));
  PetscCall(KSPCGFusedSums(ksp));
  PetscCall(KSPCGFusedForget(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if STRATA_HAVE_CUDA
/* For a lean operator the two passes along columns, else the operator with the vectors; for another one the passes over tiles; where they can be had */
static PetscErrorCode KSPCGFusedTryColumns(KSP ksp)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  ptrdiff_t    n;
  PetscReal   *work;
  StrataCG_d  *numbers;
  void        *stream;

  PetscFunctionBegin;
  PetscCall(StrataCGDeviceCreate(ksp, &cg->device, &cg->whynot));
  PetscCall(StrataCGFusedSetNumbers(ksp, 0, 0, PETSC_FALSE));
  PetscCall(KSPCGFusedGetSpace(ksp, &n, &work, &numbers, &stream));
  if (cg->device) {
    PetscCall(StrataCGTilesDestroy(&cg->tiles));
    PetscCall(StrataCGUpDownCreate(ksp, 1, 0, numbers, &cg->updown, &cg->whynot));
  } else {
    PetscCall(StrataCGUpDownDestroy(&cg->updown));
    PetscCall(StrataCGTilesCreate(ksp, numbers, &cg->tiles, &cg->whynot));
  }
  cg->level = cg->updown ? CGFUSED_COLUMNS : cg->tiles ? CGFUSED_TILES : cg->device ? CGFUSED_OPERATOR : CGFUSED_VECTORS;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode KSPCGFusedIterate(KSP ksp)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;

  PetscFunctionBegin;
  PetscCall(StrataCGFusedStart(ksp, PETSC_TRUE));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  if (cg->level == CGFUSED_VECTORS) {
    PetscCall(StrataCGPassCreate(ksp, ksp->work[CG_Z], ksp->work[CG_P], ksp->work[CG_R], &cg->pass, &cg->whynot));
    if (cg->pass) cg->level = CGFUSED_ALL;
#if STRATA_HAVE_CUDA
    if (PetscMemTypeDevice(cg->type)) PetscCall(KSPCGFusedTryColumns(ksp));
#endif
  }
  PetscCall(PetscInfo(ksp, "Fused: %s; %s\n",
                      cg->level >= CGFUSED_COLUMNS   ? "all of an iteration"
                      : cg->level == CGFUSED_VECTORS ? "vectors"
                                                     : "nothing",
                      cg->whynot ? cg->whynot : "nothing left out"));
  if (cg->precision == KSP_CGFUSED_SINGLE) PetscCall(KSPCGFusedTrySingle(ksp));
  while (!ksp->reason && ksp->its < ksp->max_it) {
    PetscInt  steps;
    PetscBool made;

    PetscCall(StrataCGFusedDrift(ksp));
    PetscCall(StrataCGFusedPrepare(ksp, &made));
    if (ksp->reason) break;
    PetscCall(StrataCGFusedBatch(ksp, &steps));
    PetscCall(StrataCGFusedSteps(ksp, made, made ? 1 : steps));
    if (ksp->reason) PetscCall(StrataCGFusedDrift(ksp));
  }
  if (!ksp->reason) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSolve_CGFused(KSP ksp)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;

  PetscFunctionBegin;
  PetscCall(KSPCGFusedIterate(ksp));
  PetscCall(KSPCGFusedSolution(ksp, cg->solve.owed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the object ------------------------------------------------------------------------------------------------------------------ */

static PetscErrorCode KSPSetUp_CGFused(KSP ksp)
{
  KSP_CGFused    *cg = (KSP_CGFused *)ksp->data;
  const PetscReal told[3] = {cg->form, cg->interval, cg->precision};
  const char     *names[3] = {"form", "check_interval", "precision"};
  PetscInt        differs;

  PetscFunctionBegin;
  PetscCall(StrataFindDifference(PetscObjectComm((PetscObject)ksp), 3, told, &differs));
  PetscCheck(differs < 0, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONG,
             "-ksp_cgfused_%s differs between ranks: all must set the same, by options or by functions", names[PetscMax(differs, 0)]);
  PetscCall(KSPSetWorkVecs(ksp, cg->form == KSP_CGFUSED_GEAR ? 5 : 4));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetFromOptions_CGFused(KSP ksp, StrataOptionItems PetscOptionsObject)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  PetscEnum    form = (PetscEnum)cg->form, precision = (PetscEnum)cg->precision;
  PetscInt     interval = cg->interval;
  PetscBool    set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Fused conjugate gradient options");
  PetscCall(PetscOptionsEnum("-ksp_cgfused_form", "Recurrence", "KSPCGFusedSetForm", KSPCGFusedForms, form, &form, &set));
  if (set) PetscCall(KSPCGFusedSetForm(ksp, (KSPCGFusedForm)form));
  PetscCall(PetscOptionsEnum("-ksp_cgfused_precision", "Precision of the steps", "KSPCGFusedSetPrecision", KSPCGFusedPrecisions, precision,
                             &precision, &set));
  if (set) PetscCall(KSPCGFusedSetPrecision(ksp, (KSPCGFusedPrecision)precision));
  PetscCall(
      PetscOptionsInt("-ksp_cgfused_check_interval", "Iterations between looks at the GPU", "KSPCGFusedSetCheckInterval", interval, &interval, &set));
  if (set) PetscCall(KSPCGFusedSetCheckInterval(ksp, interval));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPView_CGFused(KSP ksp, PetscViewer viewer)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  PetscBool    ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  form %s\n", KSPCGFusedForms[cg->form]));
  if (cg->interval == PETSC_DETERMINE)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  tested in every iteration; a GPU is looked at every %d iterations\n", CG_INTERVAL));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  tested in every iteration; a GPU is looked at every %" PetscInt_FMT " iteration%s\n", cg->interval,
                                     cg->interval == 1 ? "" : "s"));
  if (!cg->worked) PetscFunctionReturn(PETSC_SUCCESS);
  if (cg->level == CGFUSED_ALL)
    PetscCall(StrataCGPassView(cg->pass, viewer));
  else if (cg->level == CGFUSED_COLUMNS)
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "  fused: operator, columns, vector updates and dot products in two passes along columns, in CUDA memory\n"));
  else if (cg->level == CGFUSED_TILES)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  fused: operator, columns, vector updates and dot products in two passes over tiles of columns, in CUDA memory\n"));
  else if (cg->level == CGFUSED_OPERATOR)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  fused: operator, vector updates and dot products, in CUDA memory; preconditioner unfused: %s\n",
                                     cg->whynot));
  else if (cg->level == CGFUSED_VECTORS)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  fused: vector updates and dot products, in %s memory; operator and preconditioner unfused%s%s\n",
                                     PetscMemTypeDevice(cg->type) ? "CUDA" : "host", cg->whynot ? ": " : "", cg->whynot ? cg->whynot : ""));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  unfused: %s\n", cg->whynot));
  if (cg->precision == KSP_CGFUSED_SINGLE)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  precision single: steps in %s precision%s%s\n", cg->notsingle ? "double" : "single",
                                     cg->notsingle ? ": " : ", residuals in double", cg->notsingle ? cg->notsingle : ""));
  if (cg->columns)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  right-hand sides of the last KSPMatSolve(), %" PetscInt_FMT " in a batch: %s%s\n", cg->columns,
                                     cg->apart ? "one after another: " : "in steps together", cg->apart ? cg->apart : ""));
  if (cg->solve.replaced)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  residuals replaced in the last solve: %" PetscInt_FMT "\n", cg->solve.replaced));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGFusedReset(KSP_CGFused *cg)
{
  PetscFunctionBegin;
  for (int m = 0; m < 2; m++) {
    PetscCall(StrataArrayDestroy(&cg->numbers[m]));
    PetscCall(StrataArrayDestroy(&cg->work[m]));
  }
  PetscCall(StrataArrayDestroy(&cg->history));
  PetscCall(StrataCGPassDestroy(&cg->pass));
  PetscCall(StrataCGDeviceDestroy(&cg->device));
#if STRATA_HAVE_CUDA
  PetscCall(StrataCGUpDownDestroy(&cg->updown));
  PetscCall(StrataCGUpDownDestroy(&cg->batch));
  PetscCall(StrataArrayDestroy(&cg->batchnumbers));
  PetscCall(StrataCGUpDownSingleDestroy(&cg->single));
  PetscCall(StrataCGTilesDestroy(&cg->tiles));
#endif
  PetscCall(StrataCGLanczosDestroy(&cg->lanczos));
  cg->worked = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPReset_CGFused(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(StrataCGFusedReset((KSP_CGFused *)ksp->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_CGFused(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPReset_CGFused(ksp));
  PetscCall(StrataCGFusedCompose(ksp, PETSC_FALSE));
  PetscCall(KSPDestroyDefault(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPCGFUSED = "cgfused" - The preconditioned conjugate gradient method with few passes through memory

   Options Database Keys:
+  -ksp_cgfused_form <gear,classic>  - the recurrence, see `KSPCGFusedSetForm()`
.  -ksp_cgfused_precision <same,single> - precision of the steps, see `KSPCGFusedSetPrecision()`
-  -ksp_cgfused_check_interval <m>   - iterations between looks at the GPU, see `KSPCGFusedSetCheckInterval()`

   Level: beginner

   Notes:
   The iterates are those of `KSPCG` up to rounding, with any matrix and any preconditioner, which must be symmetric and definite. Updates of vectors
   and dot products share passes through memory, and there is one reduction over the ranks in an iteration. `-ksp_view` says what is done together.

   The form `KSP_CGFUSED_GEAR` finds the step length without a product of its own. Rounding can take its residual away from b - A x; where it is off
   by a tenth, b - A x takes its place.

   On the host the columns of a batch of `KSPMatSolve()` make their steps together, unless each is one pass by itself; on a GPU they do where an
   iteration is two passes along columns of the grid. Estimates of eigenvalues and singular values are those of `KSPCG`.

   All norm types of `KSPCG` are there. An operator or a preconditioner that is seen to be indefinite ends the solve with
   `KSP_DIVERGED_INDEFINITE_MAT` or `KSP_DIVERGED_INDEFINITE_PC`.

.seealso: `KSPCG`, `MATSTRATA`, `PCCOLUMN`, `KSPCGFusedSetForm()`, `KSPCGFusedSetPrecision()`, `KSPCGFusedSetCheckInterval()`, `KSPMatSolve()`,
          `KSPComputeEigenvalues()`, `KSPCreate()`, `KSPSetType()`, `KSPType`, `KSP`
M*/
PetscErrorCode KSPCreate_CGFused(KSP ksp)
{
  KSP_CGFused *cg;

  PetscFunctionBegin;
  PetscCall(PetscNew(&cg));
  ksp->data = cg;
  cg->form = KSP_CGFUSED_GEAR;
  cg->interval = PETSC_DETERMINE;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NATURAL, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->ops->setup = KSPSetUp_CGFused;
  ksp->ops->solve = KSPSolve_CGFused;
  ksp->ops->matsolve = StrataCGFusedMatSolve;
  ksp->ops->computeextremesingularvalues = StrataCGComputeExtremeSingularValues;
  ksp->ops->computeeigenvalues = StrataCGComputeEigenvalues;
  ksp->ops->destroy = KSPDestroy_CGFused;
  ksp->ops->reset = KSPReset_CGFused;
  ksp->ops->view = KSPView_CGFused;
  ksp->ops->setfromoptions = KSPSetFromOptions_CGFused;
  ksp->ops->buildsolution = KSPBuildSolutionDefault;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscCall(StrataCGFusedCompose(ksp, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
