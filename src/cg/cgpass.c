/*
   All of an iteration of conjugate gradients in one pass through the grid
*/
#include "cgimpl.h"
#include "../column/columnimpl.h"
#include "cg_pass_kernels.h"

struct _n_StrataCGPass {
  /* what it was made for */
  StrataCGMadeFor made;
  int             pc, axis;
  /* what it keeps, all on the turned grid */
  StrataCGTurn      turn;
  StrataArray       cell, legs[STRATA_LEGS], flags;     /* of the operator */
  StrataArray       inverse, lower, upper, level, lean; /* of the preconditioner, and of both */
  StrataArray       z, p, x, r, work;                   /* zeros, as many as a layer has cells, before and after the vectors */
  ptrdiff_t         pad;
  StrataCGProblem_d problem;
  PetscBool         current; /* are these vectors newer than those of the solver? */
  PetscBool         owes;    /* does x lack the last step, of length owed? */
  PetscReal         owed;
  StrataCGSingle    single; /* the same in single precision */
};

/* How far z may be from what our own loops make of r: rounding of another algorithm, not another preconditioner */
#define PASS_ROUNDING 1e-9

/* The operator on the turned grid; its arrays are made once */
static PetscErrorCode StrataCGPassOperator(StrataCGPass pass, StrataCoef_d *turned)
{
  const size_t   bytes = (size_t)pass->made.c->grid->size_local * sizeof(PetscScalar);
  StrataCoef_d   c;
  PetscScalar   *cell = NULL, *legs[STRATA_LEGS] = {NULL};
  unsigned char *flags = NULL;

  PetscFunctionBegin;
  PetscCall(StrataCoefficientsGetKernel(pass->made.c, PETSC_MEMTYPE_HOST, &c));
  if (pass->turn.from[0] == 0 && pass->turn.from[1] == 1) {
    *turned = c;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (c.cell) PetscCall(StrataArrayCreate(&pass->cell, bytes));
  for (int l = 0; l < STRATA_LEGS; l++)
    if (c.legs[2 * pass->turn.from[l / 2] + l % 2]) PetscCall(StrataArrayCreate(&pass->legs[l], bytes));
  if (c.flags) PetscCall(StrataArrayCreate(&pass->flags, (size_t)pass->made.c->grid->size_local));
  PetscCall(StrataArrayWrite(&pass->cell, PETSC_MEMTYPE_HOST, &cell));
  for (int l = 0; l < STRATA_LEGS; l++) PetscCall(StrataArrayWrite(&pass->legs[l], PETSC_MEMTYPE_HOST, &legs[l]));
  PetscCall(StrataArrayWrite(&pass->flags, PETSC_MEMTYPE_HOST, &flags));
  StrataCGTurnCoefHost_d(&pass->turn, &c, cell, legs, flags, turned);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The preconditioner, if it is one that can be taken, and the axis of its lines */
static PetscErrorCode StrataCGPassFindPC(KSP ksp, StrataCoefficients c, int *pc, int *axis, const char **whynot)
{
  PetscBool column, jacobi, none;
  PetscInt  along = 1;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCCOLUMN, &column));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCJACOBI, &jacobi));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCNONE, &none));
  *pc = column ? STRATA_CG_LINES : jacobi ? STRATA_CG_DIAGONAL : STRATA_CG_NONE;
  if (!column && !jacobi && !none)
    *whynot = "a preconditioner other than column, jacobi and none";
  else if (column) {
    PetscCall(PCColumnGetMore(ksp->pc, whynot));
    PetscCall(PCColumnGetAxis(ksp->pc, &along));
    if (c->form == MAT_STRATA_TENSOR && c->axis != along && along != 1) *whynot = "columns across those of the operator";
  }
  *axis = (int)along;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What stands in the way, NULL if nothing does */
static PetscErrorCode StrataCGPassRefuse(KSP ksp, const char **whynot)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  Mat          A, P;
  PetscMPIInt  size;
  PetscBool    isstrata;
  MatNullSpace nullspace;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, &P));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSTRATA, &isstrata));
  PetscCall(MatGetNullSpace(A, &nullspace));
  if (cg->form != KSP_CGFUSED_GEAR)
    *whynot = "form classic";
  else if (!isstrata || A != P)
    *whynot = "a matrix of another type";
  else if (size > 1)
    *whynot = "several ranks";
  else if (PetscMemTypeDevice(cg->type))
    *whynot = "work on a GPU";
  else if (nullspace)
    *whynot = "a null space";
  else if (ksp->transpose_solve)
    *whynot = "a solve with the transpose";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbers of the preconditioner, and space for the vectors */
static PetscErrorCode StrataCGPassFactor(StrataCGPass pass, const char **whynot)
{
  const size_t      bytes = (size_t)pass->made.c->grid->size_local * sizeof(PetscScalar);
  StrataCGProblem_d q;
  PetscScalar      *inverse = NULL, *lower = NULL, *upper = NULL, *level = NULL;

  PetscFunctionBegin;
  for (int a = 0; a < 3; a++) pass->turn.from[a] = a == 1 ? pass->axis : a == pass->axis ? 1 : a;
  PetscCall(PetscMemzero(&q, sizeof(q)));
  q.pc = pass->pc;
  q.lines.axis = 1;
  PetscCall(StrataCGPassOperator(pass, &q.lines.coef));
  q.lines.rows = !q.lines.coef.flags && (q.lines.coef.form == STRATA_CONSTANT || (q.lines.coef.form == STRATA_TENSOR && q.lines.coef.axis == 1))
                     ? STRATA_ROWS_SHARED
                     : STRATA_ROWS_CELLS;
  if (pass->pc != STRATA_CG_NONE) {
    PetscCall(StrataArrayCreate(&pass->inverse, bytes));
    PetscCall(StrataArrayWrite(&pass->inverse, PETSC_MEMTYPE_HOST, &inverse));
  }
  if (pass->pc == STRATA_CG_LINES && q.lines.rows == STRATA_ROWS_SHARED) {
    PetscCall(StrataArrayCreate(&pass->level, 4 * q.lines.coef.n[1] * sizeof(PetscScalar)));
    PetscCall(StrataArrayWrite(&pass->level, PETSC_MEMTYPE_HOST, &level));
  } else if (pass->pc == STRATA_CG_LINES) {
    PetscCall(StrataArrayCreate(&pass->lower, bytes));
    PetscCall(StrataArrayWrite(&pass->lower, PETSC_MEMTYPE_HOST, &lower));
    if (!pass->made.c->symmetric) {
      PetscCall(StrataArrayCreate(&pass->upper, bytes));
      PetscCall(StrataArrayWrite(&pass->upper, PETSC_MEMTYPE_HOST, &upper));
    }
  }
  if (!StrataCGPassFactorHost_d(&q, inverse, lower, upper, level)) *whynot = "a row or a column without an inverse";
  q.inverse = inverse;
  q.lower = lower;
  q.upper = upper;
  q.level = level;
  if (pass->made.c->symmetric && StrataCGLeanSize_d(&q)) {
    PetscScalar *lean;

    PetscCall(StrataArrayCreate(&pass->lean, StrataCGLeanSize_d(&q) * sizeof(PetscScalar)));
    PetscCall(StrataArrayWrite(&pass->lean, PETSC_MEMTYPE_HOST, &lean));
    StrataCGLeanHost_d(&q, lean);
    q.lean = lean;
  }
  pass->problem = q;
  pass->pad = (ptrdiff_t)q.lines.coef.n[0] * q.lines.coef.n[1];
  PetscCall(StrataArrayCreate(&pass->work, pass->pad * sizeof(PetscScalar)));
  {
    StrataArray *vectors[] = {&pass->z, &pass->p, &pass->x, &pass->r};

    for (int m = 0; m < 4; m++) {
      PetscScalar *a;

      PetscCall(StrataArrayCreate(vectors[m], bytes + 2 * pass->pad * sizeof(PetscScalar)));
      PetscCall(StrataArrayWrite(vectors[m], PETSC_MEMTYPE_HOST, &a));
      PetscCall(PetscMemzero(a, vectors[m]->bytes));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector of the solver to the pass, and back */
static PetscErrorCode StrataCGPassTake(StrataCGPass pass, Vec v, StrataArray *to)
{
  const PetscScalar *from;
  PetscScalar       *a;
  int                n[3];

  PetscFunctionBegin;
  PetscCall(StrataGridGetBox(pass->made.c->grid, n));
  PetscCall(StrataArrayWrite(to, PETSC_MEMTYPE_HOST, &a));
  PetscCall(VecGetArrayRead(v, &from));
  StrataCGTurnHost_d(&pass->turn, n, from, a + pass->pad);
  PetscCall(VecRestoreArrayRead(v, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StrataCGPassGive(StrataCGPass pass, StrataArray *from, Vec v)
{
  const PetscScalar *a;
  PetscScalar       *to;
  int                n[3];

  PetscFunctionBegin;
  PetscCall(StrataGridGetBox(pass->made.c->grid, n));
  PetscCall(StrataArrayRead(from, PETSC_MEMTYPE_HOST, &a));
  PetscCall(VecGetArrayWrite(v, &to));
  StrataCGTurnBackHost_d(&pass->turn, n, a + pass->pad, to);
  PetscCall(VecRestoreArrayWrite(v, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x as it should be */
static PetscErrorCode StrataCGPassPay(StrataCGPass pass)
{
  PetscScalar *x, *p;

  PetscFunctionBegin;
  if (!pass->owes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataArrayUpdate(&pass->p, PETSC_MEMTYPE_HOST, &p));
  PetscCall(StrataArrayUpdate(&pass->x, PETSC_MEMTYPE_HOST, &x));
  StrataCGPassPayHost_d(&pass->problem, pass->owed, p + pass->pad, x + pass->pad);
  pass->owes = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is z what our loops make of r? In all layers, or in one */
static PetscErrorCode StrataCGPassProbe(StrataCGPass pass, PetscBool all, const char **whynot)
{
  const int    layers = pass->problem.lines.coef.n[2];
  PetscScalar *r, *x, *z, *work, found[2];

  PetscFunctionBegin;
  PetscCall(StrataArrayUpdate(&pass->r, PETSC_MEMTYPE_HOST, &r));
  PetscCall(StrataArrayUpdate(&pass->x, PETSC_MEMTYPE_HOST, &x));
  PetscCall(StrataArrayUpdate(&pass->z, PETSC_MEMTYPE_HOST, &z));
  PetscCall(StrataArrayWrite(&pass->work, PETSC_MEMTYPE_HOST, &work));
  StrataCGPassProbeHost_d(&pass->problem, all ? 0 : layers / 2, all ? layers : layers / 2 + 1, r + pass->pad, z + pass->pad, x + pass->pad, work,
                          found);
  if (!(found[0] <= PASS_ROUNDING * found[1])) *whynot = "options of the preconditioner";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGPassCreate(KSP ksp, Vec z, Vec p, Vec r, StrataCGPass *created, const char **whynot)
{
  StrataCGPass       pass = *created;
  StrataCoefficients c = NULL;
  Mat                A;
  int                pc = 0, axis = 0;
  PetscBool          made = PETSC_FALSE;

  PetscFunctionBegin;
  *whynot = NULL;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(StrataCGPassRefuse(ksp, whynot));
  if (!*whynot) PetscCall(MatStrataGetCoefficients(A, &c));
  if (!*whynot && !c->grid->size_local) *whynot = "nothing to do";
  if (!*whynot) PetscCall(StrataCGPassFindPC(ksp, c, &pc, &axis, whynot));
  if (*whynot) {
    PetscCall(StrataCGPassDestroy(created));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (pass && (!StrataCGMadeForIs(&pass->made, c) || pass->pc != pc || pass->axis != axis)) PetscCall(StrataCGPassDestroy(created));
  if (!*created) {
    PetscCall(PetscNew(created));
    PetscCall(StrataCGMadeForKeep(&(*created)->made, c));
    (*created)->pc = pc;
    (*created)->axis = axis;
    PetscCall(StrataCGPassFactor(*created, whynot));
    made = PETSC_TRUE;
  }
  pass = *created;
  pass->current = PETSC_FALSE;
  pass->owes = PETSC_FALSE;
  if (!*whynot) {
    PetscCall(StrataCGPassEnter(pass, z, p, ksp->vec_sol, r));
    PetscCall(StrataCGPassProbe(pass, made, whynot));
  }
  if (*whynot) PetscCall(StrataCGPassDestroy(created));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGPassDestroy(StrataCGPass *created)
{
  StrataCGPass pass = *created;

  PetscFunctionBegin;
  if (!pass) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGMadeForForget(&pass->made));
  PetscCall(StrataCGSingleDestroy(&pass->single));
  {
    StrataArray *arrays[] = {&pass->cell, &pass->flags, &pass->inverse, &pass->lower, &pass->upper, &pass->level,
                             &pass->lean, &pass->z,     &pass->p,       &pass->x,     &pass->r,     &pass->work};

    for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(arrays); m++) PetscCall(StrataArrayDestroy(arrays[m]));
    for (int l = 0; l < STRATA_LEGS; l++) PetscCall(StrataArrayDestroy(&pass->legs[l]));
  }
  PetscCall(PetscFree(*created));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGPassEnter(StrataCGPass pass, Vec z, Vec p, Vec x, Vec r)
{
  PetscFunctionBegin;
  if (pass->current) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGPassTake(pass, z, &pass->z));
  PetscCall(StrataCGPassTake(pass, p, &pass->p));
  PetscCall(StrataCGPassTake(pass, x, &pass->x));
  PetscCall(StrataCGPassTake(pass, r, &pass->r));
  pass->current = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGPassLeave(StrataCGPass pass, Vec z, Vec p, Vec x, Vec r)
{
  PetscFunctionBegin;
  if (!pass || !pass->current) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGPassPay(pass));
  PetscCall(StrataCGPassGive(pass, &pass->z, z));
  PetscCall(StrataCGPassGive(pass, &pass->p, p));
  PetscCall(StrataCGPassGive(pass, &pass->x, x));
  PetscCall(StrataCGPassGive(pass, &pass->r, r));
  pass->current = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGPassSolution(StrataCGPass pass, Vec x)
{
  PetscFunctionBegin;
  if (!pass || !pass->current) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGPassPay(pass));
  PetscCall(StrataCGPassGive(pass, &pass->x, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StrataCGPassLogFlops(StrataCGPass pass)
{
  PetscFunctionBegin;
  PetscCall(PetscLogFlops((pass->pc == STRATA_CG_LINES ? 52.0 : 45.0) * pass->made.c->grid->size_local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGPassStep(StrataCGPass pass, PetscReal beta, PetscReal alpha, Vec z, Vec p, Vec x, Vec r, PetscReal sums[])
{
  StrataArray *v[4] = {&pass->z, &pass->p, &pass->x, &pass->r};
  PetscScalar *a[4], *work;
  const int    later = pass->problem.lean && !pass->owes; /* x every second time */

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(STRATA_CGPass, z, p, x, r));
  PetscCall(StrataCGPassEnter(pass, z, p, x, r));
  PetscCall(StrataArrayWrite(&pass->work, PETSC_MEMTYPE_HOST, &work));
  for (int m = 0; m < 4; m++) PetscCall(StrataArrayUpdate(v[m], PETSC_MEMTYPE_HOST, &a[m]));
  StrataCGPassHost_d(&pass->problem, beta, alpha, pass->owes ? pass->owed : 0, later, a[0] + pass->pad, a[1] + pass->pad, a[2] + pass->pad,
                     a[3] + pass->pad, sums, work);
  pass->owes = later ? PETSC_TRUE : PETSC_FALSE;
  pass->owed = alpha;
  PetscCall(StrataCGPassLogFlops(pass));
  PetscCall(PetscLogEventEnd(STRATA_CGPass, z, p, x, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- steps in single precision: x is what the pass has and what those steps added ------------------------------------------------------ */

PetscErrorCode StrataCGPassSingle(StrataCGPass pass, const char **whynot)
{
  PetscFunctionBegin;
  if (!pass->single) PetscCall(StrataCGSingleCreate(&pass->problem, &pass->single, whynot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGPassSingleTake(StrataCGPass pass, PetscBool again, Vec r, PetscReal sums[])
{
  const PetscScalar *a;

  PetscFunctionBegin;
  if (r) PetscCall(StrataCGPassTake(pass, r, &pass->r));
  PetscCall(StrataArrayRead(&pass->r, PETSC_MEMTYPE_HOST, &a));
  PetscCall(StrataCGSingleTake(pass->single, again, a + pass->pad, sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGPassSingleStep(StrataCGPass pass, PetscReal beta, PetscReal alpha, PetscReal sums[])
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(STRATA_CGPass, 0, 0, 0, 0));
  PetscCall(StrataCGSingleStep(pass->single, beta, alpha, sums));
  PetscCall(StrataCGPassLogFlops(pass));
  PetscCall(PetscLogEventEnd(STRATA_CGPass, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGPassSingleGive(StrataCGPass pass, PetscBool add)
{
  PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(StrataArrayUpdate(&pass->x, PETSC_MEMTYPE_HOST, &x));
  PetscCall(StrataCGSingleGive(pass->single, add ? x + pass->pad : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGPassView(StrataCGPass pass, PetscViewer viewer)
{
  static const char *const pcs[] = {"no preconditioner", "diagonal", "columns"};

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  fused: operator in form %s, %s, vector updates and dot products in one pass, in host memory\n",
                                   MatStrataForms[pass->made.c->form], pcs[pass->pc]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
