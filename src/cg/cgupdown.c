/*
   All of an iteration of conjugate gradients on a GPU, in two passes along columns: see cg_columns_kernels.h
*/
#include "cgimpl.h"
#include "cg_columns_kernels.h"

struct _n_StrataCGUpDown {
  /* what it was made for */
  StrataCoefficients c;
  PetscObjectState   state;
  PetscScalar        scale, shift;
  /* what it keeps */
  StrataCGColumns_d problem;                          /* without its numbers */
  StrataArray       level, column;                    /* of the operator */
  StrataArray       r[2], p[2], x, start, F, z, work; /* the vectors, of r and p an old and a new one, and what the passes leave for each other */
  int               now;                              /* which of the two */
  PetscBool         current;                          /* are these vectors newer than those of the solver? */
  PetscBool         owes;                             /* does x lack the last step? */
};

#if STRATA_HAVE_CUDA

/* How far sums may be from those of preconditioner and operator as they are: rounding of another algorithm, not another preconditioner */
#define UPDOWN_ROUNDING 1e-9

/* What stands in the way, NULL if nothing does */
static PetscErrorCode StrataCGUpDownRefuse(KSP ksp, const char **whynot)
{
  Mat          A, P;
  PetscBool    column;
  PetscInt     along = 2;
  MatNullSpace nullspace;
  int          can;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, &P));
  PetscCall(MatGetNullSpace(A, &nullspace));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCCOLUMN, &column));
  if (column) PetscCall(PCColumnGetAxis(ksp->pc, &along));
  StrataCallCUDA(StrataCGColumnsCUDA(&can));
  if (!column)
    *whynot = "a preconditioner other than column";
  else if (along != 2)
    *whynot = "columns not along z";
  else if (A != P)
    *whynot = "two matrices";
  else if (nullspace)
    *whynot = "a null space";
  else if (!can)
    *whynot = "a GPU, or a build, of compute capability below 9.0";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbers of the operator, and space for the vectors */
static PetscErrorCode StrataCGUpDownSetUp(StrataCGUpDown u, const char **whynot)
{
  StrataLines_d      lines;
  StrataCGColumns_d *q = &u->problem;
  PetscScalar       *level, *column;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&lines, sizeof(lines)));
  lines.axis = 2;
  lines.rows = STRATA_ROWS_SHARED;
  PetscCall(StrataCoefficientsGetKernel(u->c, PETSC_MEMTYPE_HOST, &lines.coef));
  *q = StrataCGColumnsPlan_d(lines.coef.n);
  PetscCall(StrataArrayCreate(&u->level, StrataCGColumnsLevel_d(q) * sizeof(PetscScalar)));
  PetscCall(StrataArrayCreate(&u->column, StrataCGColumnsColumn_d(q) * sizeof(PetscScalar)));
  PetscCall(StrataArrayWrite(&u->level, PETSC_MEMTYPE_HOST, &level));
  PetscCall(StrataArrayWrite(&u->column, PETSC_MEMTYPE_HOST, &column));
  if (!StrataCGColumnsSetUpHost_d(&lines, q, level, column)) {
    *whynot = "columns that cannot be factored without division";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  {
    const size_t vector = StrataCGColumnsVector_d(q) * sizeof(PetscScalar), chunks = StrataCGColumnsChunks_d(q) * sizeof(PetscScalar);
    const size_t work = StrataCGColumnsWork_d(q) * sizeof(PetscScalar);
    StrataArray *arrays[] = {&u->r[0], &u->r[1], &u->p[0], &u->p[1], &u->x, &u->start, &u->F, &u->z, &u->work};
    const size_t bytes[] = {vector, vector, vector, vector, vector, chunks, chunks, chunks, work};
    PetscScalar *zeros;

    for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(arrays); m++) PetscCall(StrataArrayCreate(arrays[m], bytes[m]));
    PetscCall(StrataArrayWrite(&u->work, PETSC_MEMTYPE_HOST, &zeros));
    PetscCall(PetscMemzero(zeros, work));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The problem with its numbers on the device */
static PetscErrorCode StrataCGUpDownGet(StrataCGUpDown u, StrataCGColumns_d *q, void **stream)
{
  PetscFunctionBegin;
  *q = u->problem;
  PetscCall(StrataArrayRead(&u->level, PETSC_MEMTYPE_DEVICE, &q->level));
  PetscCall(StrataArrayRead(&u->column, PETSC_MEMTYPE_DEVICE, &q->column));
  PetscCall(StrataGetStream(PETSC_MEMTYPE_DEVICE, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vectors of the solver become those of the passes; z and the sums follow from r, the latter are left in the numbers */
static PetscErrorCode StrataCGUpDownEnter(StrataCGUpDown u, StrataCG_d *numbers, Vec p, Vec x, Vec r)
{
  const PetscScalar *a[3];
  PetscScalar       *rto, *pto, *xto, *start, *F, *z, *work;
  StrataCGColumns_d  q;
  PetscMemType       type;
  void              *stream;

  PetscFunctionBegin;
  if (u->current) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGUpDownGet(u, &q, &stream));
  PetscCall(StrataArrayWrite(&u->r[0], PETSC_MEMTYPE_DEVICE, &rto));
  PetscCall(StrataArrayWrite(&u->p[0], PETSC_MEMTYPE_DEVICE, &pto));
  PetscCall(StrataArrayWrite(&u->x, PETSC_MEMTYPE_DEVICE, &xto));
  PetscCall(StrataArrayWrite(&u->start, PETSC_MEMTYPE_DEVICE, &start));
  PetscCall(StrataArrayWrite(&u->F, PETSC_MEMTYPE_DEVICE, &F));
  PetscCall(StrataArrayWrite(&u->z, PETSC_MEMTYPE_DEVICE, &z));
  PetscCall(StrataArrayUpdate(&u->work, PETSC_MEMTYPE_DEVICE, &work));
  PetscCall(VecGetArrayReadAndMemType(r, &a[0], &type));
  PetscCall(VecGetArrayReadAndMemType(p, &a[1], &type));
  PetscCall(VecGetArrayReadAndMemType(x, &a[2], &type));
  StrataCallCUDA(StrataCGColumnsEnterCUDA_d(&q, a[0], a[1], a[2], rto, pto, xto, start, F, stream));
  PetscCall(VecRestoreArrayReadAndMemType(x, &a[2]));
  PetscCall(VecRestoreArrayReadAndMemType(p, &a[1]));
  PetscCall(VecRestoreArrayReadAndMemType(r, &a[0]));
  StrataCallCUDA(StrataCGColumnsDownCUDA_d(&q, numbers, rto, start, F, z, work, NULL, stream));
  u->now = 0;
  u->owes = PETSC_FALSE;
  u->current = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors of the passes to those of the solver; NULL: left out */
static PetscErrorCode StrataCGUpDownGive(StrataCGUpDown u, PetscReal owed, Vec p, Vec x, Vec r)
{
  const Vec          v[3] = {r, p, x};
  const PetscScalar *from[3];
  PetscScalar       *to[3] = {NULL};
  StrataCGColumns_d  q;
  PetscMemType       type;
  void              *stream;

  PetscFunctionBegin;
  PetscCall(StrataCGUpDownGet(u, &q, &stream));
  PetscCall(StrataArrayRead(&u->r[u->now], PETSC_MEMTYPE_DEVICE, &from[0]));
  PetscCall(StrataArrayRead(&u->p[u->now], PETSC_MEMTYPE_DEVICE, &from[1]));
  PetscCall(StrataArrayRead(&u->x, PETSC_MEMTYPE_DEVICE, &from[2]));
  for (int m = 0; m < 3; m++)
    if (v[m]) PetscCall(VecGetArrayWriteAndMemType(v[m], &to[m], &type));
  StrataCallCUDA(StrataCGColumnsLeaveCUDA_d(&q, u->owes ? owed : 0, from[0], from[1], from[2], to[0], to[1], to[2], stream));
  for (int m = 0; m < 3; m++)
    if (v[m]) PetscCall(VecRestoreArrayWriteAndMemType(v[m], &to[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownCreate(KSP ksp, StrataCG_d *numbers, StrataCGUpDown *created, const char **whynot)
{
  KSP_CGFused       *cg = (KSP_CGFused *)ksp->data;
  StrataCGUpDown     u = *created;
  StrataCoefficients c;
  Mat                A;

  PetscFunctionBegin;
  *whynot = NULL;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(MatStrataGetCoefficients(A, &c));
  PetscCall(StrataCGUpDownRefuse(ksp, whynot));
  if (*whynot || (u && (u->c != c || u->state != c->state || u->scale != c->scale || u->shift != c->shift)))
    PetscCall(StrataCGUpDownDestroy(created));
  if (*whynot) PetscFunctionReturn(PETSC_SUCCESS);
  if (!*created) {
    PetscCall(PetscNew(created));
    u = *created;
    PetscCall(StrataCoefficientsReference(c));
    u->c = c;
    u->state = c->state;
    u->scale = c->scale;
    u->shift = c->shift;
    PetscCall(StrataCGUpDownSetUp(u, whynot));
  }
  u = *created;
  u->current = PETSC_FALSE;
  u->problem.zz = ksp->normtype == KSP_NORM_PRECONDITIONED;
  if (!*whynot) { /* are these sums those that were made by preconditioner and operator as they are? */
    StrataCG_d read;
    void      *stream;

    PetscCall(StrataCGUpDownEnter(u, numbers, ksp->work[CG_P], ksp->vec_sol, ksp->work[CG_R]));
    PetscCall(StrataGetStream(PETSC_MEMTYPE_DEVICE, &stream));
    StrataCallCUDA(StrataCUDAMemcpy(&read, numbers, sizeof(read), stream));
    for (int m = STRATA_CG_GAMMA; m <= STRATA_CG_DELTA; m++)
      if (!(PetscAbsReal(read.sum[m] - cg->sum[m]) <= UPDOWN_ROUNDING * PetscAbsReal(cg->sum[m]))) *whynot = "options of the preconditioner";
  }
  if (*whynot) PetscCall(StrataCGUpDownDestroy(created));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownSteps(KSP ksp, StrataCGUpDown u, PetscInt steps, StrataCG_d *numbers, PetscReal (*history)[STRATA_CG_SUMS])
{
  StrataCGColumns_d q;
  PetscScalar      *r[2], *p[2], *x, *start, *F, *z, *work;
  void             *stream;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(STRATA_CGPass, ksp->work[CG_R], ksp->work[CG_P], ksp->vec_sol, ksp));
  PetscCall(StrataCGUpDownEnter(u, numbers, ksp->work[CG_P], ksp->vec_sol, ksp->work[CG_R]));
  PetscCall(StrataCGUpDownGet(u, &q, &stream));
  for (int m = 0; m < 2; m++) {
    PetscCall(m == u->now ? StrataArrayUpdate(&u->r[m], PETSC_MEMTYPE_DEVICE, &r[m]) : StrataArrayWrite(&u->r[m], PETSC_MEMTYPE_DEVICE, &r[m]));
    PetscCall(m == u->now ? StrataArrayUpdate(&u->p[m], PETSC_MEMTYPE_DEVICE, &p[m]) : StrataArrayWrite(&u->p[m], PETSC_MEMTYPE_DEVICE, &p[m]));
  }
  PetscCall(StrataArrayUpdate(&u->x, PETSC_MEMTYPE_DEVICE, &x));
  PetscCall(StrataArrayUpdate(&u->start, PETSC_MEMTYPE_DEVICE, &start));
  PetscCall(StrataArrayUpdate(&u->F, PETSC_MEMTYPE_DEVICE, &F));
  PetscCall(StrataArrayUpdate(&u->z, PETSC_MEMTYPE_DEVICE, &z));
  PetscCall(StrataArrayUpdate(&u->work, PETSC_MEMTYPE_DEVICE, &work));
  for (PetscInt s = 0; s < steps; s++) {
    const int old = (u->now + s) % 2, next = 1 - old, owes = u->owes ? s % 2 == 0 : s % 2 == 1;

    StrataCallCUDA(StrataCGColumnsUpCUDA_d(&q, numbers, z, r[old], p[old], r[next], p[next], owes ? x : NULL, F, stream));
    StrataCallCUDA(StrataCGColumnsDownCUDA_d(&q, numbers, r[next], start, F, z, work, history, stream));
  }
  PetscCall(PetscLogGpuFlops(85.0 * u->c->grid->size_local * steps));
  PetscCall(PetscLogEventEnd(STRATA_CGPass, ksp->work[CG_R], ksp->work[CG_P], ksp->vec_sol, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownMade(StrataCGUpDown u, PetscInt count)
{
  PetscFunctionBegin;
  if (count % 2) {
    u->now = 1 - u->now;
    u->owes = u->owes ? PETSC_FALSE : PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownLeave(StrataCGUpDown u, PetscReal owed, Vec p, Vec x, Vec r, PetscBool *left)
{
  PetscFunctionBegin;
  *left = u->current;
  if (!*left) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGUpDownGive(u, owed, p, x, r));
  u->current = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownSolution(StrataCGUpDown u, PetscReal owed, Vec x)
{
  PetscFunctionBegin;
  if (u->current) PetscCall(StrataCGUpDownGive(u, owed, NULL, x, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownDestroy(StrataCGUpDown *created)
{
  StrataCGUpDown u = *created;

  PetscFunctionBegin;
  if (!u) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCoefficientsDestroy(&u->c));
  {
    StrataArray *arrays[] = {&u->level, &u->column, &u->r[0], &u->r[1], &u->p[0], &u->p[1], &u->x, &u->start, &u->F, &u->z, &u->work};

    for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(arrays); m++) PetscCall(StrataArrayDestroy(arrays[m]));
  }
  PetscCall(PetscFree(*created));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
