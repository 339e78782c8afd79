/*
   All of an iteration of conjugate gradients on a GPU, in two passes along columns: see cg_columns_kernels.h
*/
#include "cgupdownimpl.h"

struct _n_StrataCGUpDown {
  StrataCGMadeFor made;
  StrataCGSpace_d space;
  int             most, vector; /* right-hand sides that there is space for, and the one that is meant */
  struct {
    StrataCGStand stand;
    PetscBool     current; /* are these vectors newer than those of the solver? */
  } * of;                  /* of each right-hand side */
};

#if STRATA_HAVE_CUDA

/* How far sums may be from those of preconditioner and operator as they are: rounding of another algorithm, not another preconditioner */
#define COLUMNS_ROUNDING 1e-9

PetscErrorCode StrataCGColumnsRefuse(KSP ksp, const char **whynot)
{
  Mat          A, P;
  PetscBool    column;
  PetscInt     along = 2;
  PetscMPIInt  size;
  MatNullSpace nullspace;
  int          can;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  PetscCall(PCGetOperators(ksp->pc, &A, &P));
  PetscCall(MatGetNullSpace(A, &nullspace));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCCOLUMN, &column));
  if (column) PetscCall(PCColumnGetAxis(ksp->pc, &along));
  StrataCallCUDA(StrataCGColumnsCUDA(&can));
  if (size > 1)
    *whynot = "several ranks";
  else if (!column)
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

PetscErrorCode StrataCGColumnsCompare(KSP ksp, const StrataCG_d *numbers, const char **whynot)
{
  PetscReal *sum = ((KSP_CGFused *)ksp->data)->solve.sum;
  StrataCG_d read;
  void      *stream;

  PetscFunctionBegin;
  PetscCall(StrataGetStream(PETSC_MEMTYPE_DEVICE, &stream));
  StrataCallCUDA(StrataCUDAMemcpy(&read, numbers, sizeof(read), stream));
  for (int m = STRATA_CG_GAMMA; m <= STRATA_CG_DELTA; m++)
    if (!(PetscAbsReal(read.sum[m] - sum[m]) <= COLUMNS_ROUNDING * PetscAbsReal(sum[m]))) *whynot = "options of the preconditioner";
  if (!*whynot) PetscCall(PetscArraycpy(sum, read.sum, STRATA_CG_SUMS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StrataCGUpDownSetUp(StrataCGUpDown u, int vectors, const char **whynot)
{
  StrataLines_d lines;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&lines, sizeof(lines)));
  lines.axis = 2;
  lines.rows = STRATA_ROWS_SHARED;
  PetscCall(StrataCoefficientsGetKernel(u->made.c, PETSC_MEMTYPE_HOST, &lines.coef));
  PetscCall(StrataCGSpaceSetUp_d(&u->space, &lines, vectors, whynot));
  PetscCall(PetscCalloc1(vectors, &u->of));
  u->most = vectors;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vectors of the solver become those of the passes; z and the sums follow from r, the latter are left in the numbers */
PetscErrorCode StrataCGUpDownBegin(KSP ksp, StrataCGUpDown u, StrataCG_d *numbers)
{
  const Vec          v[3] = {ksp->work[CG_R], ksp->work[CG_P], ksp->vec_sol};
  StrataCGSpace_d   *s = &u->space;
  const PetscScalar *a[3];
  PetscScalar       *rto, *pto, *xto, *start, *F;
  StrataCGColumns_d  q;
  PetscMemType       type;
  ptrdiff_t          at;
  void              *stream;

  PetscFunctionBegin;
  if (u->of[u->vector].current) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGSpaceGet_d(s, &q, &stream));
  at = u->vector * StrataCGColumnsVector_d(&q);
  PetscCall(StrataArrayWrite(&s->r[0], PETSC_MEMTYPE_DEVICE, &rto));
  PetscCall(StrataArrayWrite(&s->p[0], PETSC_MEMTYPE_DEVICE, &pto));
  PetscCall(StrataArrayWrite(&s->x, PETSC_MEMTYPE_DEVICE, &xto));
  PetscCall(StrataArrayWrite(&s->start, PETSC_MEMTYPE_DEVICE, &start));
  PetscCall(StrataArrayWrite(&s->F, PETSC_MEMTYPE_DEVICE, &F));
  for (int m = 0; m < 3; m++) PetscCall(VecGetArrayReadAndMemType(v[m], &a[m], &type));
  StrataCallCUDA(
      StrataCGColumnsEnterCUDA_d(&q, a[0], a[1], a[2], rto + at, pto + at, xto + at, start, F + u->vector * StrataCGColumnsChunks_d(&q), stream));
  for (int m = 2; m >= 0; m--) PetscCall(VecRestoreArrayReadAndMemType(v[m], &a[m]));
  PetscCall(StrataCGSpaceBegin_d(s, u->vector, numbers));
  u->of[u->vector].stand.now = 0;
  u->of[u->vector].stand.owes = PETSC_FALSE;
  u->of[u->vector].current = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors of the passes to those of the solver; NULL: left out */
static PetscErrorCode StrataCGUpDownGive(StrataCGUpDown u, PetscReal owed, Vec p, Vec x, Vec r)
{
  const Vec           v[3] = {r, p, x};
  const StrataCGStand stand = u->of[u->vector].stand;
  const PetscScalar  *from[3];
  PetscScalar        *to[3] = {NULL};
  StrataCGColumns_d   q;
  PetscMemType        type;
  ptrdiff_t           at;
  void               *stream;

  PetscFunctionBegin;
  PetscCall(StrataCGSpaceGet_d(&u->space, &q, &stream));
  at = u->vector * StrataCGColumnsVector_d(&q);
  PetscCall(StrataArrayRead(&u->space.r[stand.now], PETSC_MEMTYPE_DEVICE, &from[0]));
  PetscCall(StrataArrayRead(&u->space.p[stand.now], PETSC_MEMTYPE_DEVICE, &from[1]));
  PetscCall(StrataArrayRead(&u->space.x, PETSC_MEMTYPE_DEVICE, &from[2]));
  for (int m = 0; m < 3; m++)
    if (v[m]) PetscCall(VecGetArrayWriteAndMemType(v[m], &to[m], &type));
  StrataCallCUDA(StrataCGColumnsLeaveCUDA_d(&q, stand.owes ? owed : 0, from[0] + at, from[1] + at, from[2] + at, to[0], to[1], to[2], stream));
  for (int m = 0; m < 3; m++)
    if (v[m]) PetscCall(VecRestoreArrayWriteAndMemType(v[m], &to[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownSelect(StrataCGUpDown u, PetscInt vector)
{
  PetscFunctionBegin;
  u->vector = (int)vector;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownForget(StrataCGUpDown u)
{
  PetscFunctionBegin;
  u->of[u->vector].current = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownCreate(KSP ksp, PetscInt vectors, PetscInt vector, StrataCG_d *numbers, StrataCGUpDown *created, const char **whynot)
{
  StrataCGUpDown     u = *created;
  StrataCoefficients c;
  Mat                A;

  PetscFunctionBegin;
  *whynot = NULL;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(MatStrataGetCoefficients(A, &c));
  PetscCall(StrataCGColumnsRefuse(ksp, whynot));
  if (*whynot || (u && (!StrataCGMadeForIs(&u->made, c) || u->most < vectors))) PetscCall(StrataCGUpDownDestroy(created));
  if (*whynot) PetscFunctionReturn(PETSC_SUCCESS);
  if (!*created) {
    PetscCall(PetscNew(created));
    u = *created;
    PetscCall(StrataCGMadeForKeep(&u->made, c));
    PetscCall(StrataCGUpDownSetUp(u, (int)vectors, whynot));
  }
  u = *created;
  for (int v = 0; v < vectors; v++) u->of[v].current = PETSC_FALSE;
  u->vector = (int)vector;
  StrataCGColumnsSetVectors_d(&u->space.problem, (int)vectors);
  u->space.problem.zz = ksp->normtype == KSP_NORM_PRECONDITIONED;
  if (!*whynot) {
    PetscCall(StrataCGUpDownBegin(ksp, u, numbers));
    PetscCall(StrataCGColumnsCompare(ksp, numbers + vector, whynot));
  }
  if (*whynot) PetscCall(StrataCGUpDownDestroy(created));
  PetscFunctionReturn(PETSC_SUCCESS);
}

StrataCGStand StrataCGUpDownStand(StrataCGUpDown u)
{
  return u->of[u->vector].stand;
}

PetscErrorCode StrataCGUpDownSteps(KSP ksp, StrataCGUpDown u, PetscInt steps, StrataCG_d *numbers, PetscInt room,
                                   PetscReal (*history)[STRATA_CG_SUMS])
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(STRATA_CGPass, ksp->work[CG_R], ksp->work[CG_P], ksp->vec_sol, ksp));
  PetscCall(StrataCGUpDownBegin(ksp, u, numbers));
  PetscCall(StrataCGSpaceSteps_d(&u->space, u->of[u->vector].stand, steps, numbers, room, history));
  PetscCall(PetscLogEventEnd(STRATA_CGPass, ksp->work[CG_R], ksp->work[CG_P], ksp->vec_sol, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownMade(StrataCGUpDown u, PetscInt count)
{
  PetscFunctionBegin;
  StrataCGStandMove(&u->of[u->vector].stand, count);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownLeave(StrataCGUpDown u, PetscReal owed, Vec p, Vec x, Vec r, PetscBool *left)
{
  PetscFunctionBegin;
  *left = u->of[u->vector].current;
  if (!*left) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGUpDownGive(u, owed, p, x, r));
  u->of[u->vector].current = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownSolution(StrataCGUpDown u, PetscReal owed, Vec x)
{
  PetscFunctionBegin;
  if (u->of[u->vector].current) PetscCall(StrataCGUpDownGive(u, owed, NULL, x, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownDestroy(StrataCGUpDown *created)
{
  PetscFunctionBegin;
  if (!*created) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGMadeForForget(&(*created)->made));
  PetscCall(StrataCGSpaceDestroy_d(&(*created)->space));
  PetscCall(PetscFree((*created)->of));
  PetscCall(PetscFree(*created));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
