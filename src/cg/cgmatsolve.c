/*
   KSPMatSolve() with KSPCGFUSED: the columns of a batch make their steps together, with one product, one preconditioner and one reduction
   over the ranks for all of them
*/
#include "cgimpl.h"

/* A column and its solve */
typedef struct {
  KSP_CGFused cg; /* takes the place of the solver's own */
  Vec         work[CG_S + 1], b, x;
  CGProgress  progress;
  PetscBool   alone; /* has this step been made without the others? */
} CGColumn;

typedef struct {
  PetscInt  nv;
  Mat       B, X, work[CG_S + 1], consistent; /* the last: B without the null space of the transpose, if there is one */
  CGColumn *column;
  PetscReal (*sum)[STRATA_CG_SUMS];
  /* the solver's own */
  void *data;
  Vec  *vecs, b, x;
} CGTogether;

/* The solver becomes that of a column, and is so no more */
static PetscErrorCode CGColumnEnter(KSP ksp, CGTogether *t, PetscInt v)
{
  CGColumn *c = &t->column[v];

  PetscFunctionBegin;
  for (int m = 0; m <= CG_S; m++) PetscCall(MatDenseGetColumnVec(t->work[m], v, &c->work[m]));
  PetscCall(MatDenseGetColumnVecRead(t->B, v, &c->b));
  PetscCall(MatDenseGetColumnVec(t->X, v, &c->x));
  ksp->data = &c->cg;
  ksp->work = c->work;
  ksp->vec_rhs = c->b;
  ksp->vec_sol = c->x;
  StrataCGProgressSet(ksp, &c->progress);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CGColumnLeave(KSP ksp, CGTogether *t, PetscInt v)
{
  CGColumn *c = &t->column[v];

  PetscFunctionBegin;
  StrataCGProgressGet(ksp, &c->progress);
  PetscCall(MatDenseRestoreColumnVec(t->X, v, &c->x));
  PetscCall(MatDenseRestoreColumnVecRead(t->B, v, &c->b));
  for (int m = CG_S; m >= 0; m--) PetscCall(MatDenseRestoreColumnVec(t->work[m], v, &c->work[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CGRemoveNullSpace(MatNullSpace nullspace, Mat Z)
{
  PetscInt nv;

  PetscFunctionBegin;
  PetscCall(MatGetSize(Z, NULL, &nv));
  for (PetscInt v = 0; v < nv; v++) {
    Vec z;

    PetscCall(MatDenseGetColumnVec(Z, v, &z));
    PetscCall(MatNullSpaceRemove(nullspace, z));
    PetscCall(MatDenseRestoreColumnVec(Z, v, &z));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = M r and s = A z of all columns */
static PetscErrorCode CGTogetherPrecondition(KSP ksp, CGTogether *t)
{
  Mat          A;
  MatNullSpace nullspace;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(PCMatApply(ksp->pc, t->work[CG_R], t->work[CG_Z]));
  PetscCall(MatGetNullSpace(A, &nullspace));
  if (nullspace) PetscCall(CGRemoveNullSpace(nullspace, t->work[CG_Z]));
  PetscCall(MatMatMult(A, t->work[CG_Z], MAT_REUSE_MATRIX, PETSC_DEFAULT, &t->work[CG_S]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CGTogetherStep(KSP ksp, CGTogether *t, PetscBool *goeson)
{
  PetscFunctionBegin;
  *goeson = PETSC_FALSE;
  for (PetscInt v = 0; v < t->nv; v++) { /* directions, x and r */
    CGColumn *c = &t->column[v];
    PetscBool made;

    if (c->progress.reason) continue;
    PetscCall(CGColumnEnter(ksp, t, v));
    PetscCall(StrataCGFusedDrift(ksp));
    PetscCall(StrataCGFusedPrepare(ksp, &made));
    c->alone = made;
    if (!ksp->reason && made) PetscCall(StrataCGFusedAdvance(ksp));
    if (!ksp->reason && !made) {
      PetscCall(StrataCGFusedSetNumbers(ksp, c->cg.solve.beta, c->cg.solve.alpha, PETSC_FALSE));
      PetscCall(StrataCGFusedUpdate(ksp));
    }
    if (!ksp->reason) *goeson = PETSC_TRUE;
    PetscCall(CGColumnLeave(ksp, t, v));
  }
  if (!*goeson) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CGTogetherPrecondition(ksp, t));
  PetscCall(PetscArrayzero(t->sum, t->nv));
  for (PetscInt v = 0; v < t->nv; v++) { /* sums */
    CGColumn *c = &t->column[v];

    if (c->progress.reason || c->alone) continue;
    PetscCall(CGColumnEnter(ksp, t, v));
    PetscCall(StrataCGFusedSums(ksp));
    PetscCall(StrataCGFusedLocalSums(ksp));
    PetscCall(PetscArraycpy(t->sum[v], c->cg.solve.sum, STRATA_CG_SUMS));
    PetscCall(CGColumnLeave(ksp, t, v));
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, t->sum, (PetscMPIInt)(t->nv * STRATA_CG_SUMS), MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)ksp)));
  *goeson = PETSC_FALSE;
  for (PetscInt v = 0; v < t->nv; v++) { /* tests */
    CGColumn *c = &t->column[v];

    if (c->progress.reason) continue;
    if (!c->alone) PetscCall(PetscArraycpy(c->cg.solve.sum, t->sum[v], STRATA_CG_SUMS));
    PetscCall(CGColumnEnter(ksp, t, v));
    ksp->its++;
    PetscCall(StrataCGFusedTest(ksp, StrataCGFusedNorm(ksp)));
    if (ksp->reason) PetscCall(StrataCGFusedDrift(ksp));
    if (!ksp->reason && ksp->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
    if (!ksp->reason) *goeson = PETSC_TRUE;
    PetscCall(CGColumnLeave(ksp, t, v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All columns, to the end */
static PetscErrorCode CGTogetherSolve(KSP ksp, CGTogether *t)
{
  const KSPConvergedReason before = ksp->reason; /* the set-up may have failed */
  PetscBool                goeson = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt v = 0; v < t->nv; v++) {
    CGColumn *c = &t->column[v];

    c->progress.reason = before;
    PetscCall(CGColumnEnter(ksp, t, v));
    PetscCall(StrataCGFusedStart(ksp, PETSC_TRUE));
    if (!ksp->reason && !ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
    if (!ksp->reason) goeson = PETSC_TRUE;
    PetscCall(CGColumnLeave(ksp, t, v));
  }
  while (goeson) PetscCall(CGTogetherStep(ksp, t, &goeson));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CGTogetherCreate(KSP ksp, Mat B, Mat X, CGTogether *t)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  Mat          A, P;
  MatNullSpace nullspace;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(t, sizeof(*t)));
  t->B = B;
  t->X = X;
  t->data = ksp->data;
  t->vecs = ksp->work;
  t->b = ksp->vec_rhs;
  t->x = ksp->vec_sol;
  PetscCall(MatGetSize(B, NULL, &t->nv));
  PetscCall(PCGetOperators(ksp->pc, &A, &P));
  PetscCall(MatGetTransposeNullSpace(P, &nullspace));
  if (nullspace) {
    PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &t->consistent));
    PetscCall(CGRemoveNullSpace(nullspace, t->consistent));
    t->B = t->consistent;
  }
  for (int m = 0; m < CG_S; m++) PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &t->work[m]));
  PetscCall(MatMatMult(A, t->work[CG_Z], MAT_INITIAL_MATRIX, PETSC_DEFAULT, &t->work[CG_S]));
  PetscCall(PetscCalloc1(t->nv, &t->column));
  PetscCall(PetscMalloc1(t->nv, &t->sum));
  for (PetscInt v = 0; v < t->nv; v++) {
    t->column[v].cg.form = cg->form;
    t->column[v].cg.interval = cg->interval;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CGTogetherDestroy(CGTogether *t)
{
  PetscFunctionBegin;
  for (PetscInt v = 0; t->column && v < t->nv; v++) PetscCall(StrataCGFusedReset(&t->column[v].cg));
  PetscCall(PetscFree(t->column));
  PetscCall(PetscFree(t->sum));
  for (int m = 0; m <= CG_S; m++) PetscCall(MatDestroy(&t->work[m]));
  PetscCall(MatDestroy(&t->consistent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void StrataCGProgressGet(KSP ksp, CGProgress *p)
{
  p->its = ksp->its;
  p->rnorm = ksp->rnorm;
  p->rnorm0 = ksp->rnorm0;
  p->ttol = ksp->ttol;
  p->reason = ksp->reason;
}

void StrataCGProgressSet(KSP ksp, const CGProgress *p)
{
  ksp->its = p->its;
  ksp->rnorm = p->rnorm;
  ksp->rnorm0 = p->rnorm0;
  ksp->ttol = p->ttol;
  ksp->reason = p->reason;
}

void StrataCGProgressCollect(CGProgress *all, PetscInt v, const CGProgress *one)
{
  if (!v || (all->reason > 0 && (one->reason < 0 || one->its > all->its))) all->reason = one->reason;
  all->its = v ? PetscMax(all->its, one->its) : one->its;
  all->rnorm = v ? PetscMax(all->rnorm, one->rnorm) : one->rnorm;
}

static PetscErrorCode CGSolveTogether(KSP ksp, Mat B, Mat X, CGProgress *all)
{
  KSP_CGFused    *cg = (KSP_CGFused *)ksp->data;
  CGTogether      t;
  PetscErrorCode  code;
  const PetscBool complain = ksp->errorifnotconverged;

  PetscFunctionBegin;
  PetscCall(StrataKSPForgetMatRHS(ksp)); /* each column is tested by itself */
  PetscCall(CGTogetherCreate(ksp, B, X, &t));
  ksp->errorifnotconverged = PETSC_FALSE; /* once all columns are done */
  code = CGTogetherSolve(ksp, &t);
  ksp->errorifnotconverged = complain;
  ksp->data = t.data;
  ksp->work = t.vecs;
  ksp->vec_rhs = t.b;
  ksp->vec_sol = t.x;
  PetscCall(code);
  for (PetscInt v = 0; v < t.nv; v++) {
    const CGColumn *c = &t.column[v];

    StrataCGProgressCollect(all, v, &c->progress);
    cg->solve.replaced = (v ? cg->solve.replaced : 0) + c->cg.solve.replaced;
    cg->level = c->cg.level;
    cg->type = c->cg.type;
    cg->whynot = c->cg.whynot;
  }
  cg->worked = PETSC_TRUE;
  PetscCall(CGTogetherDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* first: those before it are solved, and in the results */
static PetscErrorCode CGSolveApart(KSP ksp, Mat B, Mat X, PetscInt first, CGProgress *all)
{
  PetscInt nv;

  PetscFunctionBegin;
  PetscCall(MatGetSize(B, NULL, &nv));
  for (PetscInt v = first; v < nv; v++) {
    Vec        b, x;
    CGProgress one;

    PetscCall(MatDenseGetColumnVecRead(B, v, &b));
    PetscCall(MatDenseGetColumnVec(X, v, &x));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(MatDenseRestoreColumnVec(X, v, &x));
    PetscCall(MatDenseRestoreColumnVecRead(B, v, &b));
    StrataCGProgressGet(ksp, &one);
    StrataCGProgressCollect(all, v, &one);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is an iteration of one column a single pass, or a few on a GPU? Together columns would take more. */
static PetscErrorCode CGIsFusedAlone(KSP ksp, PetscBool *alone)
{
  Mat         A, P;
  PetscMPIInt size;
  PetscBool   strata, known;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, &P));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSTRATA, &strata));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp->pc, &known, PCCOLUMN, PCJACOBI, PCNONE, ""));
  *alone = strata && known && A == P && size == 1 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What stands in the way of steps together, NULL if nothing does */
static PetscErrorCode CGFindApart(KSP ksp, Mat B, PetscBool *device, const char **apart)
{
  KSP_CGFused       *cg = (KSP_CGFused *)ksp->data;
  PetscBool          fused = PETSC_FALSE, plain, eisenstat, scaled;
  const PetscScalar *array;
  PetscMemType       type;
  Vec                b;
  PetscInt           nv;

  PetscFunctionBegin;
  *apart = NULL;
  PetscCall(CGIsFusedAlone(ksp, &fused));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCEISENSTAT, &eisenstat));
  PetscCall(StrataKSPGetDiagonalScale(ksp, &scaled));
  PetscCall(MatDenseGetColumnVecRead(B, 0, &b));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)b, &plain, VECSEQ, VECMPI, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(VecGetArrayReadAndMemType(b, &array, &type));
  PetscCall(VecRestoreArrayReadAndMemType(b, &array));
  PetscCall(MatDenseRestoreColumnVecRead(B, 0, &b));
  PetscCall(MatGetSize(B, NULL, &nv));
  *device = PetscMemTypeDevice(type) ? PETSC_TRUE : PETSC_FALSE;
  if (nv == 1)
    *apart = "there is one";
  else if (cg->form != KSP_CGFUSED_GEAR)
    *apart = "form classic";
  else if (cg->precision != KSP_CGFUSED_SAME)
    *apart = "precision single";
  else if (fused && PetscMemTypeHost(type))
    *apart = "the iteration of each is fused";
  else if (!fused && PetscMemTypeDevice(type))
    *apart = "work on a GPU";
  else if (!plain)
    *apart = "vectors that are not plain arrays";
  else if (ksp->numbermonitors || ksp->res_hist)
    *apart = "monitors or a history";
  else if (ksp->converged != KSPConvergedDefault && ksp->converged != KSPConvergedSkip)
    *apart = "a convergence test of the user";
  else if (ksp->calc_sings)
    *apart = "estimates of eigenvalues";
  else if (ksp->transpose_solve || ksp->guess || scaled || eisenstat)
    *apart = "options that change right-hand sides or guesses";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGFusedMatSolve(KSP ksp, Mat B, Mat X)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  PetscBool    device = PETSC_FALSE;
  PetscInt     solved = 0;
  CGProgress   all;

  PetscFunctionBegin;
  StrataCGProgressGet(ksp, &all);
  PetscCall(MatGetSize(B, NULL, &cg->columns));
  if (!cg->columns) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CGFindApart(ksp, B, &device, &cg->apart));
#if STRATA_HAVE_CUDA
  if (!cg->apart && device) PetscCall(StrataCGFusedMatSolveColumns(ksp, B, X, &solved, &all, &cg->apart));
#endif
  PetscCall(PetscInfo(ksp, "%" PetscInt_FMT " right-hand sides %s%s\n", cg->columns, cg->apart ? "one after another: " : "together",
                      cg->apart ? cg->apart : ""));
  if (cg->apart)
    PetscCall(CGSolveApart(ksp, B, X, solved, &all));
  else if (!device)
    PetscCall(CGSolveTogether(ksp, B, X, &all));
  StrataCGProgressSet(ksp, &all);
  PetscCheck(!ksp->errorifnotconverged || ksp->reason >= 0, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED,
             "KSPMatSolve() with KSP %s has not converged, reason %s", KSPCGFUSED, KSPConvergedReasons[ksp->reason]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
