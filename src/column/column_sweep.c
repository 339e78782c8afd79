/*
   Line relaxation: the lines of one colour after the other are solved for the residual that those before have left, and corrected
*/
#include "columnimpl.h"
#include "column_sweep_kernels.h"

/* The lines that a step corrects: those of an axis and of a colour, 0 or 1, or -1 for all */
typedef struct {
  PetscInt turn;
  int      color;
} PCColumnStep;

enum { PC_COLUMN_STEPS = 12 }; /* of an iteration at most */

/* The steps of one iteration in turn. Their reversal is that of the transpose. */
static int PCColumnPlanSteps(const PC_Column *col, PetscBool transpose, PCColumnStep steps[PC_COLUMN_STEPS])
{
  const PetscBool jacobi = col->sweep == PC_COLUMN_SWEEP_JACOBI ? PETSC_TRUE : PETSC_FALSE;
  const PetscInt  turns = PetscMax(col->turns, 1);
  const int       colors = jacobi ? 1 : 2, count = (int)turns * colors;

  for (int m = 0; m < count; m++) {
    const PCColumnStep step = {m / colors, jacobi ? -1 : m % colors};

    if (col->sweep == PC_COLUMN_SWEEP_SYMMETRIC)
      steps[m] = steps[2 * count - 1 - m] = step;
    else
      steps[transpose ? count - 1 - m : m] = step;
  }
  return col->sweep == PC_COLUMN_SWEEP_SYMMETRIC ? 2 * count : count;
}

/* Is one solve of all lines all that is asked for? */
PetscBool PCColumnRelaxes(const PC_Column *col)
{
  return col->several || col->sweep != PC_COLUMN_SWEEP_JACOBI || col->omega != 1 || col->its != 1 ? PETSC_TRUE : PETSC_FALSE;
}

/* Where lines are neighbours across a period, two colours need an even number of them */
PetscErrorCode PCColumnCheckColors(PC pc, PC lines)
{
  PC_Column     *col = (PC_Column *)pc->data;
  StrataGrid     g = ((PC_Column *)lines->data)->grid;
  const PetscInt along = ((PC_Column *)lines->data)->along;

  PetscFunctionBegin;
  for (PetscInt a = 0; a < g->dim; a++)
    PetscCheck(col->sweep == PC_COLUMN_SWEEP_JACOBI || a == along || !g->periodic[a] || g->N[a] == 1 || g->N[a] % 2 == 0,
               PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
               "Columns in two colours need an even number of cells along a periodic axis, but there are %" PetscInt_FMT
               " along axis %c: choose another grid, or -pc_column_sweep jacobi",
               g->N[a], (char)('x' + a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* s = (first ? 0 : s) + omega M r on the lines of a colour, M the solve of all lines; in one pass, or else by way of e */
static PetscErrorCode PCColumnCorrect(PC lines, PetscBool transpose, int which, PetscReal omega, PetscBool first, Vec r, Vec e, Vec s)
{
  const PC_Column   *col = (PC_Column *)lines->data;
  StrataGrid         g = col->grid;
  StrataColor        color;
  const PetscScalar *ae, *aadd;
  PetscScalar       *as;
  PetscMemType       type;
  PetscBool          done;
  void              *stream;

  PetscFunctionBegin;
  PetscCall(StrataGridGetBox(g, color.n));
  color.axis = (int)col->along;
  color.all = which < 0;
  color.parity = which; /* counted from the first line of the whole grid */
  for (int a = 0; a < 3; a++)
    if (a != color.axis) color.parity += (int)(g->lo[a] % 2);
  PetscCall(PCColumnCorrectLines(lines, transpose, &color, omega, r, first ? NULL : s, s, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCColumnApplyLines(lines, transpose, r, NULL, e));
  PetscCall(StrataVecGetArrays(e, first ? NULL : s, s, &ae, &aadd, &as, &type));
  PetscCall(StrataGetStream(type, &stream));
  StrataDispatch(type, StrataCorrectHost_d(&color, omega, ae, aadd, as), StrataCorrectCUDA_d(&color, omega, ae, aadd, as, stream));
  PetscCall(StrataVecRestoreArrays(e, first ? NULL : s, s, &ae, &aadd, &as, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = (add ? add : 0) + M r, M the relaxation from zero, or its transpose */
PetscErrorCode PCColumnRelax(PC pc, PetscBool transpose, Vec r, Vec add, Vec z)
{
  PC_Column   *col = (PC_Column *)pc->data;
  PCColumnStep steps[PC_COLUMN_STEPS];
  const int    count = PCColumnPlanSteps(col, transpose, steps);
  PCColumnStep before = {-1, -1};
  PetscBool    failed = PETSC_FALSE;
  Vec          s = z, w = r, e;

  PetscFunctionBegin;
  if (!col->relax[0])
    for (int m = 0; m < 3; m++) PetscCall(MatCreateVecs(pc->pmat, &col->relax[m], NULL));
  e = col->relax[0];
  if (add) s = col->relax[2];
  for (PetscInt m = 0; m < col->its * count && !failed; m++) {
    const PCColumnStep step = steps[m % count];
    PC                 lines;

    if (m && col->omega == 1 && step.color >= 0 && step.color == before.color && step.turn == before.turn) continue; /* nothing is left there */
    before = step;
    if (m) {
      w = col->relax[1];
      if (transpose) {
        PetscCall(MatMultTranspose(pc->pmat, s, w));
        PetscCall(VecAYPX(w, -1, r));
      } else
        PetscCall(MatResidual(pc->pmat, r, s, w));
    }
    PetscCall(PCColumnGetTurn(pc, step.turn, &lines));
    PetscCall(PCColumnCorrect(lines, transpose, step.color, col->omega, m ? PETSC_FALSE : PETSC_TRUE, w, e, s));
    failed = ((PC_Column *)lines->data)->failure ? PETSC_TRUE : PETSC_FALSE;
  }
  if (failed)
    PetscCall(VecSet(z, INFINITY));
  else if (add == z)
    PetscCall(VecAXPY(z, 1, s));
  else if (add)
    PetscCall(VecWAXPY(z, 1, s, add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCColumnViewSweep(PC pc, PetscViewer viewer)
{
  static const char *const orders[] = {"all columns of an axis together", "columns in two colours, one after the other",
                                       "columns in two colours, forward and then reversed: a symmetric preconditioner of a symmetric matrix"};
  PC_Column               *col = (PC_Column *)pc->data;

  PetscFunctionBegin;
  if (PCColumnRelaxes(col))
    PetscCall(PetscViewerASCIIPrintf(viewer, "  line relaxation: sweep %s (%s), omega %g, %" PetscInt_FMT " iteration%s\n",
                                     PCColumnSweeps[col->sweep], orders[col->sweep], (double)col->omega, col->its, col->its == 1 ? "" : "s"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
