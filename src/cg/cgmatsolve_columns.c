/*
   KSPMatSolve() with KSPCGFUSED in two passes along columns on a GPU: right-hand sides make their steps together, in the same launches. Each has the
   bits that it has when it is solved by itself, and stays as it is once it is done.
*/
#include "cg_columns_kernels.h"
#include "cgimpl.h"

#if STRATA_HAVE_CUDA

/* So many at most are under way together: more would only take more memory */
#define CG_TOGETHER 64

/* A right-hand side and its solve */
typedef struct {
  CGSolve    solve;
  CGProgress progress;
  PetscBool  ready;   /* are the numbers of its next steps there? */
  StrataCG_d numbers; /* these, and how many steps it may make before the host looks */
  PetscInt   steps;
} CGSide;

typedef struct {
  PetscInt    first, nv; /* the first of them, and how many */
  Mat         B, X;
  CGSide     *side;
  StrataCG_d *set; /* the numbers of a round */
} CGSides;

/* The solver becomes that of a right-hand side, and is so no more */
static PetscErrorCode CGSideEnter(KSP ksp, CGSides *t, PetscInt v)
{
  KSP_CGFused  *cg = (KSP_CGFused *)ksp->data;
  const CGSide *c = &t->side[v];

  PetscFunctionBegin;
  PetscCall(MatDenseGetColumnVecRead(t->B, t->first + v, &ksp->vec_rhs));
  PetscCall(MatDenseGetColumnVec(t->X, t->first + v, &ksp->vec_sol));
  if (cg->updown) PetscCall(StrataCGUpDownSelect(cg->updown, v));
  cg->solve = c->solve;
  StrataCGProgressSet(ksp, &c->progress);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CGSideLeave(KSP ksp, CGSides *t, PetscInt v)
{
  const KSP_CGFused *cg = (const KSP_CGFused *)ksp->data;
  CGSide            *c = &t->side[v];

  PetscFunctionBegin;
  c->solve = cg->solve;
  StrataCGProgressGet(ksp, &c->progress);
  PetscCall(MatDenseRestoreColumnVec(t->X, t->first + v, &ksp->vec_sol));
  PetscCall(MatDenseRestoreColumnVecRead(t->B, t->first + v, &ksp->vec_rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The passes, made with the first right-hand side that needs steps and compared with operator and preconditioner as they are */
static PetscErrorCode CGSidesCreatePasses(KSP ksp, CGSides *t, PetscInt v, StrataCG_d *numbers, const char **apart)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;

  PetscFunctionBegin;
  if (cg->level != CGFUSED_VECTORS) *apart = cg->whynot;
  if (!*apart) PetscCall(StrataCGDeviceCreate(ksp, &cg->device, apart));
  if (*apart) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGUpDownCreate(ksp, t->nv, v, numbers, &cg->batch, apart));
  cg->updown = cg->batch;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Up to the first step of each. Where the passes cannot be had, `apart` says why. */
static PetscErrorCode CGSidesStart(KSP ksp, CGSides *t, const char **apart)
{
  const KSPConvergedReason before = ksp->reason; /* the set-up may have failed */
  KSP_CGFused             *cg = (KSP_CGFused *)ksp->data;
  const StrataCG_d        *read;
  StrataCG_d              *numbers;

  PetscFunctionBegin;
  cg->updown = NULL;
  PetscCall(StrataArraySet(&cg->batchnumbers, t->nv * sizeof(*t->set), PETSC_MEMTYPE_DEVICE, t->set));
  PetscCall(StrataArrayUpdate(&cg->batchnumbers, PETSC_MEMTYPE_DEVICE, &numbers));
  for (PetscInt v = 0; v < t->nv && !*apart; v++) {
    t->side[v].progress.reason = before;
    PetscCall(CGSideEnter(ksp, t, v));
    PetscCall(StrataCGFusedStart(ksp, cg->updown ? PETSC_FALSE : PETSC_TRUE));
    if (!ksp->reason && !ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
    if (!ksp->reason && !cg->updown) PetscCall(CGSidesCreatePasses(ksp, t, v, numbers, apart));
    if (!ksp->reason && !*apart) PetscCall(StrataCGUpDownBegin(ksp, cg->updown, numbers));
    PetscCall(CGSideLeave(ksp, t, v));
  }
  if (*apart || !cg->updown) PetscFunctionReturn(PETSC_SUCCESS);
  cg->level = CGFUSED_COLUMNS;
  PetscCall(StrataArrayRead(&cg->batchnumbers, PETSC_MEMTYPE_HOST, &read));
  for (PetscInt v = 0; v < t->nv; v++) PetscCall(PetscArraycpy(t->side[v].solve.sum, read[v].sum, STRATA_CG_SUMS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After steps: is this the end? */
static PetscErrorCode CGSideEnd(KSP ksp)
{
  PetscFunctionBegin;
  if (ksp->reason) PetscCall(StrataCGFusedDrift(ksp));
  if (!ksp->reason && ksp->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbers of the next steps, after those that need a product of their own; or x, where there are no more steps */
static PetscErrorCode CGSidePrepare(KSP ksp, CGSide *c)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  StrataCG_d  *numbers;
  PetscBool    made = PETSC_TRUE;

  PetscFunctionBegin;
  while (made && !ksp->reason) {
    PetscCall(StrataCGFusedDrift(ksp));
    PetscCall(StrataCGFusedPrepare(ksp, &made));
    if (!made || ksp->reason) break;
    PetscCall(StrataCGFusedSteps(ksp, PETSC_TRUE, 1));
    PetscCall(CGSideEnd(ksp));
  }
  if (ksp->reason) {
    PetscCall(StrataCGUpDownSolution(cg->updown, cg->solve.owed, ksp->vec_sol));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(StrataArrayUpdate(&cg->batchnumbers, PETSC_MEMTYPE_DEVICE, &numbers));
  PetscCall(StrataCGUpDownBegin(ksp, cg->updown, numbers)); /* others want the vectors of the solver */
  PetscCall(StrataCGFusedBatch(ksp, &c->steps));
  StrataCGFusedGetNumbers(ksp, cg->solve.beta, cg->solve.alpha, PETSC_TRUE, &c->numbers);
  c->ready = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which make steps in this round, and how many: those that stand as the first one does, which all do in general */
static PetscErrorCode CGSidesChoose(KSP ksp, CGSides *t, PetscInt *first, PetscInt *steps)
{
  KSP_CGFused  *cg = (KSP_CGFused *)ksp->data;
  StrataCGStand stand = {0, PETSC_FALSE};

  PetscFunctionBegin;
  *first = -1;
  for (PetscInt v = 0; v < t->nv; v++) {
    const CGSide *c = &t->side[v];
    StrataCGStand own;

    PetscCall(PetscMemzero(&t->set[v], sizeof(t->set[v])));
    t->set[v].done = 1;
    if (!c->ready) continue;
    PetscCall(StrataCGUpDownSelect(cg->updown, v));
    own = StrataCGUpDownStand(cg->updown);
    if (*first < 0) {
      *first = v;
      *steps = c->steps;
      stand = own;
    }
    if (own.now != stand.now || own.owes != stand.owes) continue;
    *steps = PetscMin(*steps, c->steps);
    t->set[v] = c->numbers;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CGSidesRound(KSP ksp, CGSides *t, PetscBool *goeson)
{
  KSP_CGFused      *cg = (KSP_CGFused *)ksp->data;
  PetscInt          first, steps = 0;
  StrataCG_d       *numbers;
  const StrataCG_d *read;
  PetscReal(*space)[STRATA_CG_SUMS];
  const PetscReal(*history)[STRATA_CG_SUMS];

  PetscFunctionBegin;
  for (PetscInt v = 0; v < t->nv; v++) {
    if (t->side[v].progress.reason || t->side[v].ready) continue;
    PetscCall(CGSideEnter(ksp, t, v));
    PetscCall(CGSidePrepare(ksp, &t->side[v]));
    PetscCall(CGSideLeave(ksp, t, v));
  }
  PetscCall(CGSidesChoose(ksp, t, &first, &steps));
  *goeson = first < 0 ? PETSC_FALSE : PETSC_TRUE;
  if (first < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataArraySet(&cg->batchnumbers, t->nv * sizeof(*t->set), PETSC_MEMTYPE_DEVICE, t->set));
  PetscCall(StrataArrayUpdate(&cg->batchnumbers, PETSC_MEMTYPE_DEVICE, &numbers));
  PetscCall(StrataCGFusedGetHistory(ksp, t->nv * steps, &space));
  PetscCall(StrataCGUpDownSelect(cg->updown, first));
  PetscCall(StrataCGUpDownSteps(ksp, cg->updown, steps, numbers, steps, space));
  PetscCall(StrataArrayRead(&cg->batchnumbers, PETSC_MEMTYPE_HOST, &read));
  PetscCall(StrataArrayRead(&cg->history, PETSC_MEMTYPE_HOST, &history));
  for (PetscInt v = 0; v < t->nv; v++) {
    if (t->set[v].done) continue;
    PetscCall(CGSideEnter(ksp, t, v));
    PetscCall(StrataCGUpDownMade(cg->updown, read[v].its));
    PetscCall(StrataCGFusedFollow(ksp, read[v].its, history + v * steps));
    PetscCall(CGSideEnd(ksp));
    if (ksp->reason) PetscCall(StrataCGUpDownSolution(cg->updown, cg->solve.owed, ksp->vec_sol));
    t->side[v].ready = PETSC_FALSE;
    PetscCall(CGSideLeave(ksp, t, v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CGSidesSolve(KSP ksp, CGSides *t, const char **apart)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  PetscBool    goeson;

  PetscFunctionBegin;
  PetscCall(CGSidesStart(ksp, t, apart));
  goeson = !*apart && cg->updown ? PETSC_TRUE : PETSC_FALSE;
  while (goeson) PetscCall(CGSidesRound(ksp, t, &goeson));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Some of them, or none and in words why */
static PetscErrorCode CGSidesTogether(KSP ksp, CGSides *t, const char **apart)
{
  KSP_CGFused             *cg = (KSP_CGFused *)ksp->data;
  const StrataCGUpDown     updown = cg->updown;
  const Vec                b = ksp->vec_rhs, x = ksp->vec_sol;
  const PetscBool          complain = ksp->errorifnotconverged;
  const KSPConvergedReason before = ksp->reason;
  PetscErrorCode           code;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(t->side, t->nv));
  PetscCall(PetscArrayzero(t->set, t->nv));
  ksp->errorifnotconverged = PETSC_FALSE; /* once all are done */
  code = CGSidesSolve(ksp, t, apart);
  ksp->errorifnotconverged = complain;
  cg->updown = updown;
  ksp->vec_rhs = b;
  ksp->vec_sol = x;
  ksp->reason = before;
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does one fill the GPU? */
static PetscErrorCode CGSidesFill(KSP ksp, PetscBool *fills)
{
  StrataCoefficients c;
  StrataCGColumns_d  plan;
  Mat                A;
  int                n[3];

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(MatStrataGetCoefficients(A, &c));
  PetscCall(StrataGridGetBox(c->grid, n));
  plan = StrataCGColumnsPlan_d(n);
  *fills = plan.rows == STRATA_CG_ROWS ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGFusedMatSolveColumns(KSP ksp, Mat B, Mat X, PetscInt *solved, CGProgress *all, const char **apart)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  CGSides      t = {0, 0, B, X, NULL, NULL};
  PetscInt     nv, replaced = 0;
  PetscBool    fills = PETSC_FALSE;

  PetscFunctionBegin;
  *solved = 0;
  PetscCall(CGSidesFill(ksp, &fills));
  if (fills) *apart = "each fills the GPU";
  if (*apart) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(B, NULL, &nv));
  PetscCall(PetscMalloc2(CG_TOGETHER, &t.side, CG_TOGETHER, &t.set));
  PetscCall(StrataKSPForgetMatRHS(ksp)); /* each is tested by itself */
  for (t.first = 0; t.first < nv && !*apart; t.first += t.nv) {
    t.nv = PetscMin(nv - t.first, CG_TOGETHER);
    PetscCall(CGSidesTogether(ksp, &t, apart));
    for (PetscInt v = 0; v < t.nv && !*apart; v++) {
      StrataCGProgressCollect(all, t.first + v, &t.side[v].progress);
      replaced += t.side[v].solve.replaced;
      *solved = t.first + v + 1;
    }
  }
  cg->solve.replaced = replaced;
  PetscCall(PetscFree2(t.side, t.set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
