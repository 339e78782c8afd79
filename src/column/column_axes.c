/*
   Several axes in turn: for each a preconditioner of this type that solves its lines
*/
#include "columnimpl.h"

/* All axes along which the grid has more than one cell; at least one */
static PetscInt PCColumnAllAxes(StrataGrid g, PetscInt axes[3])
{
  PetscInt n = 0;

  for (PetscInt a = 0; a < g->dim; a++)
    if (g->N[a] > 1) axes[n++] = a;
  if (!n) axes[n++] = 0;
  return n;
}

/* Makes the preconditioners of the axes */
static PetscErrorCode PCColumnMakeTurns(PC pc)
{
  PC_Column *col = (PC_Column *)pc->data;
  PetscInt   axes[3];

  PetscFunctionBegin;
  PetscCall(PCColumnCheckRanks(pc));
  PetscCall(PetscArraycpy(axes, col->axes, 3));
  col->turns = col->several;
  if (col->several == PETSC_DETERMINE) {
    StrataGrid g;

    PetscCall(PCColumnFindGrid(pc, &g));
    col->turns = PCColumnAllAxes(g, axes);
    PetscCall(StrataGridDestroy(&g));
  }
  for (PetscInt m = 0; m < col->turns; m++) {
    PetscCall(PCDestroy(&col->turn[m]));
    PetscCall(PCCreate(PetscObjectComm((PetscObject)pc), &col->turn[m]));
    PetscCall(PCSetType(col->turn[m], PCCOLUMN));
    PetscCall(PCColumnSetAxis(col->turn[m], axes[m]));
    PetscCall(PCColumnSetSize(col->turn[m], col->size));
    PetscCall(PCColumnSetGrid(col->turn[m], col->dim, col->N));
    PetscCall(PCColumnSetPrecision(col->turn[m], col->precision));
    PetscCall(PCSetDM(col->turn[m], pc->dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCColumnSetUpTurns(PC pc)
{
  PC_Column     *col = (PC_Column *)pc->data;
  PCFailedReason reason, worst = PC_NOERROR;

  PetscFunctionBegin;
  if (pc->flag == DIFFERENT_NONZERO_PATTERN || !col->turns) PetscCall(PCColumnMakeTurns(pc));
  for (PetscInt m = 0; m < col->turns; m++) {
    PetscCall(PCSetErrorIfFailure(col->turn[m], pc->erroriffailure));
    PetscCall(PCSetOperators(col->turn[m], pc->mat, pc->pmat));
    PetscCall(PCSetUp(col->turn[m]));
    PetscCall(PCColumnCheckColors(pc, col->turn[m]));
    PetscCall(PCGetFailedReason(col->turn[m], &reason));
    if (reason) worst = reason;
  }
  PetscCall(StrataGridDestroy(&col->grid)); /* what is said of one axis is said of the first */
  col->grid = ((PC_Column *)col->turn[0]->data)->grid;
  col->along = ((PC_Column *)col->turn[0]->data)->along;
  PetscCall(StrataGridReference(col->grid));
  PetscCall(PCSetFailedReason(pc, worst));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PCColumnGetTurn - The preconditioner that solves the lines of a turn, told what may change without a set-up
*/
PetscErrorCode PCColumnGetTurn(PC pc, PetscInt turn, PC *lines)
{
  PC_Column *col = (PC_Column *)pc->data;

  PetscFunctionBegin;
  *lines = pc;
  if (!col->turns) PetscFunctionReturn(PETSC_SUCCESS);
  *lines = col->turn[turn];
  PetscCall(PCColumnSetAlgorithm(*lines, col->algorithm));
  /* of an operator nothing is stored: one that has taken its place is followed */
  if (((PC_Column *)(*lines)->data)->c && (*lines)->pmat != pc->pmat) PetscCall(PCSetOperators(*lines, pc->mat, pc->pmat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCColumnViewTurns(PC pc, PetscViewer viewer)
{
  PC_Column *col = (PC_Column *)pc->data;
  char       name[8];

  PetscFunctionBegin;
  PCColumnNameAxes(col, name);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  axes in turn: %s (as asked for)\n", name));
  for (PetscInt m = 0; m < col->turns; m++) PetscCall(PCView_Column(col->turn[m], viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
