/*
   What the user of PCCOLUMN can set
*/
#include "columnimpl.h"

const char *const PCColumnAlgorithms[] = {"auto", "thomas", "partition", "twoway", "pcr", "PCColumnAlgorithm", "PC_COLUMN_", NULL};

const char *const PCColumnPrecisions[] = {"same", "single", "PCColumnPrecision", "PC_COLUMN_PRECISION_", NULL};

const char *const PCColumnSweeps[] = {"jacobi", "redblack", "symmetric", "PCColumnSweep", "PC_COLUMN_SWEEP_", NULL};

/* What was found for other settings holds no more */
static PetscErrorCode PCColumnChanged(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_Column(pc));
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PCColumnNameAxes(const PC_Column *col, char name[8])
{
  if (col->several > 0) {
    for (PetscInt m = 0; m < col->several; m++) name[m] = (char)('x' + col->axes[m]);
    name[col->several] = 0;
  } else if (!col->several && col->axis >= 0) {
    name[0] = (char)('x' + col->axis);
    name[1] = 0;
  } else
    strcpy(name, col->several ? "all" : "auto");
}

/* The axes that a word names: how many, as PCColumnSetAxes() wants them */
static PetscErrorCode PCColumnReadAxes(PC pc, const char word[], PetscInt *n, PetscInt axes[3])
{
  const char *c;

  PetscFunctionBegin;
  *n = !strcmp(word, "all") ? 0 : 1;
  axes[0] = PETSC_DETERMINE;
  if (!*n || !strcmp(word, "auto")) PetscFunctionReturn(PETSC_SUCCESS);
  for (c = word, *n = 0; *c && *n < 3 && *c >= 'x' && *c <= 'z'; c++) axes[(*n)++] = *c - 'x';
  PetscCheck(*n && !*c, PetscObjectComm((PetscObject)pc), PETSC_ERR_USER,
             "There is no axis %s: -pc_column_axis needs x, y or z, several of them such as xz, all, or auto", word);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnSetAxes_Column(PC pc, PetscInt n, const PetscInt axes[])
{
  PC_Column *col = (PC_Column *)pc->data;
  MPI_Comm   comm = PetscObjectComm((PetscObject)pc);
  PetscBool  changed = PETSC_FALSE;
  PetscInt   several = n == 0 ? PETSC_DETERMINE : n == 1 ? 0 : n, m;

  PetscFunctionBegin;
  PetscCheck(n >= 0 && n <= 3, comm, PETSC_ERR_ARG_OUTOFRANGE, "Columns cannot lie along %" PetscInt_FMT " axes: give 1 to 3 axes, or 0 for all", n);
  PetscCheck(!n || axes, comm, PETSC_ERR_ARG_NULL, "The axes are missing: give %" PetscInt_FMT " of them", n);
  for (m = 0; m < n; m++) {
    PetscCheck((axes[m] >= 0 && axes[m] < 3) || (n == 1 && axes[m] == PETSC_DETERMINE), comm, PETSC_ERR_ARG_OUTOFRANGE,
               "Axis %" PetscInt_FMT ": the axes are 0, 1, 2 for x, y, z, and PETSC_DETERMINE, alone, for the one with the strongest coupling",
               axes[m]);
    PetscCheck(m == 0 || (axes[m] != axes[0] && axes[m] != axes[m - 1]), comm, PETSC_ERR_ARG_WRONG,
               "Axis %c was given twice: each axis can have one turn", (char)('x' + axes[m]));
  }
  if (several != col->several || (n == 1 && axes[0] != col->axis)) changed = PETSC_TRUE;
  for (m = 0; m < several; m++)
    if (axes[m] != col->axes[m]) changed = PETSC_TRUE;
  if (changed) PetscCall(PCColumnChanged(pc));
  col->several = several;
  col->axis = n == 1 ? axes[0] : PETSC_DETERMINE;
  for (m = 0; m < 3; m++) col->axes[m] = m < several ? axes[m] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnGetAxes_Column(PC pc, PetscInt *n, PetscInt axes[])
{
  PC_Column *col = (PC_Column *)pc->data;

  PetscFunctionBegin;
  *n = col->turns ? col->turns : col->several == PETSC_DETERMINE ? 0 : PetscMax(col->several, 1);
  if (!col->several) axes[0] = col->grid ? col->along : col->axis;
  for (PetscInt m = 0; col->several && m < *n; m++) axes[m] = col->turns ? ((PC_Column *)col->turn[m]->data)->along : col->axes[m];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnSetAxis_Column(PC pc, PetscInt axis)
{
  PetscFunctionBegin;
  PetscCall(PCColumnSetAxes_Column(pc, 1, &axis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnGetAxis_Column(PC pc, PetscInt *axis)
{
  PetscInt n, axes[3] = {PETSC_DETERMINE, PETSC_DETERMINE, PETSC_DETERMINE};

  PetscFunctionBegin;
  PetscCall(PCColumnGetAxes_Column(pc, &n, axes));
  *axis = axes[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnSetSize_Column(PC pc, PetscInt size)
{
  PC_Column *col = (PC_Column *)pc->data;

  PetscFunctionBegin;
  PetscCheck(size >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "A column cannot have %" PetscInt_FMT " rows", size);
  if (size != col->size) PetscCall(PCColumnChanged(pc));
  col->size = size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnGetSize_Column(PC pc, PetscInt *size)
{
  PC_Column *col = (PC_Column *)pc->data;

  PetscFunctionBegin;
  *size = col->list.section ? 0 : col->grid ? col->grid->N[col->along] : col->size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnSetGrid_Column(PC pc, PetscInt dim, const PetscInt n[])
{
  PC_Column *col = (PC_Column *)pc->data;
  PetscBool  changed = dim != col->dim ? PETSC_TRUE : PETSC_FALSE;
  PetscInt   a;

  PetscFunctionBegin;
  PetscCheck(dim >= 0 && dim <= 3, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "A grid cannot have %" PetscInt_FMT " axes", dim);
  PetscCheck(!dim || n, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "The numbers of cells are missing: give %" PetscInt_FMT " of them",
             dim);
  for (a = 0; a < dim; a++)
    PetscCheck(n[a] > 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
               "A grid cannot have %" PetscInt_FMT " cells along axis %c: -pc_column_grid needs positive numbers", n[a], (char)('x' + a));
  for (a = 0; a < dim; a++) changed = n[a] != col->N[a] ? PETSC_TRUE : changed;
  if (changed) PetscCall(PCColumnChanged(pc));
  col->dim = dim;
  for (a = 0; a < 3; a++) col->N[a] = a < dim ? n[a] : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnGetGrid_Column(PC pc, PetscInt *dim, PetscInt n[])
{
  PC_Column *col = (PC_Column *)pc->data;
  PetscInt   a;

  PetscFunctionBegin;
  *dim = col->dim;
  for (a = 0; a < col->dim; a++) n[a] = col->N[a];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnSetColumns_Column(PC pc, PetscSection section, IS rows)
{
  PC_Column *col = (PC_Column *)pc->data;

  PetscFunctionBegin;
  PetscCheck(!section == !rows, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "A list of columns needs both a section and an index set");
  PetscCall(PCColumnChanged(pc));
  if (section) PetscCall(PetscObjectReference((PetscObject)section));
  if (rows) PetscCall(PetscObjectReference((PetscObject)rows));
  PetscCall(PetscSectionDestroy(&col->list.section));
  PetscCall(ISDestroy(&col->list.rows));
  col->list.section = section;
  col->list.rows = rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnGetColumns_Column(PC pc, PetscSection *section, IS *rows)
{
  PC_Column *col = (PC_Column *)pc->data;

  PetscFunctionBegin;
  if (section) *section = col->list.section;
  if (rows) *rows = col->list.rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnSetAlgorithm_Column(PC pc, PCColumnAlgorithm algorithm)
{
  PC_Column *col = (PC_Column *)pc->data;

  PetscFunctionBegin;
  PetscCheck(algorithm >= PC_COLUMN_AUTO && algorithm <= PC_COLUMN_PCR, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "There is no algorithm %d: PC_COLUMN_AUTO, PC_COLUMN_THOMAS, PC_COLUMN_PARTITION, PC_COLUMN_TWOWAY or PC_COLUMN_PCR is needed",
             (int)algorithm);
  if (algorithm != col->algorithm) col->applied = PETSC_FALSE;
  col->algorithm = algorithm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnGetAlgorithm_Column(PC pc, PCColumnAlgorithm *algorithm)
{
  PC_Column *col = (PC_Column *)pc->data;

  PetscFunctionBegin;
  *algorithm = col->algorithm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnSetPrecision_Column(PC pc, PCColumnPrecision precision)
{
  PC_Column *col = (PC_Column *)pc->data;

  PetscFunctionBegin;
  PetscCheck(precision == PC_COLUMN_PRECISION_SAME || precision == PC_COLUMN_PRECISION_SINGLE, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "There is no precision %d: -pc_column_precision is same or single", (int)precision);
  if (precision != col->precision) PetscCall(PCColumnChanged(pc));
  col->precision = precision;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnGetPrecision_Column(PC pc, PCColumnPrecision *precision)
{
  PetscFunctionBegin;
  *precision = ((PC_Column *)pc->data)->precision;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnSetSweep_Column(PC pc, PCColumnSweep sweep)
{
  PC_Column *col = (PC_Column *)pc->data;

  PetscFunctionBegin;
  PetscCheck(sweep >= PC_COLUMN_SWEEP_JACOBI && sweep <= PC_COLUMN_SWEEP_SYMMETRIC, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "There is no sweep %d: PC_COLUMN_SWEEP_JACOBI, PC_COLUMN_SWEEP_REDBLACK or PC_COLUMN_SWEEP_SYMMETRIC is needed", (int)sweep);
  if (sweep != col->sweep) PetscCall(PCColumnChanged(pc));
  col->sweep = sweep;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnGetSweep_Column(PC pc, PCColumnSweep *sweep)
{
  PetscFunctionBegin;
  *sweep = ((PC_Column *)pc->data)->sweep;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnSetOmega_Column(PC pc, PetscReal omega)
{
  PetscFunctionBegin;
  PetscCheck(omega > 0 && omega < 2, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "The weight %g is not between 0 and 2",
             (double)omega);
  ((PC_Column *)pc->data)->omega = omega;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnGetOmega_Column(PC pc, PetscReal *omega)
{
  PetscFunctionBegin;
  *omega = ((PC_Column *)pc->data)->omega;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnSetIterations_Column(PC pc, PetscInt its)
{
  PetscFunctionBegin;
  PetscCheck(its > 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " iterations: a positive number is needed", its);
  ((PC_Column *)pc->data)->its = its;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnGetIterations_Column(PC pc, PetscInt *its)
{
  PetscFunctionBegin;
  *its = ((PC_Column *)pc->data)->its;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_Column(PC pc, StrataOptionItems PetscOptionsObject)
{
  PC_Column        *col = (PC_Column *)pc->data;
  PetscInt          axes[3], size = col->size, dim = 3, n[3] = {1, 1, 1}, its = col->its;
  PetscReal         omega = col->omega;
  PetscBool         set;
  PCColumnAlgorithm algorithm = col->algorithm;
  PCColumnPrecision precision = col->precision;
  PCColumnSweep     sweep = col->sweep;
  char              word[32];

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Column options");
  PCColumnNameAxes(col, word);
  PetscCall(
      PetscOptionsString("-pc_column_axis", "Axis of the columns, axes in turn, all or auto", "PCColumnSetAxes", word, word, sizeof(word), &set));
  if (set) {
    PetscCall(PCColumnReadAxes(pc, word, &dim, axes));
    PetscCall(PCColumnSetAxes(pc, dim, axes));
    dim = 3;
  }
  PetscCall(PetscOptionsInt("-pc_column_size", "Rows of a column, for a matrix without a grid", "PCColumnSetSize", size, &size, &set));
  if (set) PetscCall(PCColumnSetSize(pc, size));
  PetscCall(PetscOptionsIntArray("-pc_column_grid", "Cells along each axis, for a matrix without a grid", "PCColumnSetGrid", n, &dim, &set));
  if (set) PetscCall(PCColumnSetGrid(pc, dim, n));
  PetscCall(PetscOptionsEnum("-pc_column_algorithm", "How columns are solved", "PCColumnSetAlgorithm", PCColumnAlgorithms, (PetscEnum)algorithm,
                             (PetscEnum *)&algorithm, &set));
  if (set) PetscCall(PCColumnSetAlgorithm(pc, algorithm));
  PetscCall(PetscOptionsEnum("-pc_column_precision", "Precision of the solve", "PCColumnSetPrecision", PCColumnPrecisions, (PetscEnum)precision,
                             (PetscEnum *)&precision, &set));
  if (set) PetscCall(PCColumnSetPrecision(pc, precision));
  PetscCall(PetscOptionsEnum("-pc_column_sweep", "Order of the columns in line relaxation", "PCColumnSetSweep", PCColumnSweeps, (PetscEnum)sweep,
                             (PetscEnum *)&sweep, &set));
  if (set) PetscCall(PCColumnSetSweep(pc, sweep));
  PetscCall(PetscOptionsReal("-pc_column_omega", "Weight of corrections", "PCColumnSetOmega", omega, &omega, &set));
  if (set) PetscCall(PCColumnSetOmega(pc, omega));
  PetscCall(PetscOptionsInt("-pc_column_its", "Iterations of line relaxation", "PCColumnSetIterations", its, &its, &set));
  if (set) PetscCall(PCColumnSetIterations(pc, its));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCColumnCompose(PC pc, PetscBool compose)
{
  PetscObject object = (PetscObject)pc;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(object, "PCColumnSetAxis_C", compose ? PCColumnSetAxis_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnGetAxis_C", compose ? PCColumnGetAxis_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnSetSize_C", compose ? PCColumnSetSize_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnGetSize_C", compose ? PCColumnGetSize_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnSetGrid_C", compose ? PCColumnSetGrid_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnGetGrid_C", compose ? PCColumnGetGrid_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnSetColumns_C", compose ? PCColumnSetColumns_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnGetColumns_C", compose ? PCColumnGetColumns_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnSetAlgorithm_C", compose ? PCColumnSetAlgorithm_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnGetAlgorithm_C", compose ? PCColumnGetAlgorithm_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnSetPrecision_C", compose ? PCColumnSetPrecision_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnGetPrecision_C", compose ? PCColumnGetPrecision_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnSetSweep_C", compose ? PCColumnSetSweep_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnGetSweep_C", compose ? PCColumnGetSweep_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnSetOmega_C", compose ? PCColumnSetOmega_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnGetOmega_C", compose ? PCColumnGetOmega_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnSetIterations_C", compose ? PCColumnSetIterations_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnGetIterations_C", compose ? PCColumnGetIterations_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnSetAxes_C", compose ? PCColumnSetAxes_Column : NULL));
  PetscCall(PetscObjectComposeFunction(object, "PCColumnGetAxes_C", compose ? PCColumnGetAxes_Column : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnSetAxis - Sets the axis of the grid along which the columns lie

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner, of type `PCCOLUMN`
- axis - 0, 1 or 2 for x, y or z, or `PETSC_DETERMINE` for the one with the strongest coupling

  Options Database Key:
. -pc_column_axis <x,y,z,auto> - the axis

  Level: beginner

  Notes:
  The default is `PETSC_DETERMINE`: the axis with the largest mean of the absolute values of the matrix entries that couple cells along it. Between
  axes that are equal in this, one that the ranks do not cut is taken, and of these the last.
  The axis is chosen when the preconditioner is first set up for a matrix, and again when the nonzero pattern of the matrix changes.

  Columns along a periodic axis are rings. Where ranks cut columns, their pieces are joined by a small system; whole columns are solved with half the
  work and no messages, so set up the process grid of the `DMDA` accordingly if you can.

.seealso: `PCCOLUMN`, `PCColumnGetAxis()`, `PCColumnSetAxes()`, `PCColumnSetSize()`, `DMDACreate3d()`
@*/
PetscErrorCode PCColumnSetAxis(PC pc, PetscInt axis)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, axis, 2);
  PetscTryMethod(pc, "PCColumnSetAxis_C", (PC, PetscInt), (pc, axis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnGetAxis - The axis of the grid along which the columns lie

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCCOLUMN`

  Output Parameter:
. axis - 0, 1 or 2 for x, y or z, of several axes the first; before the preconditioner is set up what was asked for, perhaps `PETSC_DETERMINE`

  Level: beginner

.seealso: `PCCOLUMN`, `PCColumnSetAxis()`
@*/
PetscErrorCode PCColumnGetAxis(PC pc, PetscInt *axis)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCColumnGetAxis_C", (PC, PetscInt *), (pc, axis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnSetAxes - Sets several axes of the grid along which columns are solved in turn

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner, of type `PCCOLUMN`
. n    - the number of axes, 1 to 3; 0 for all that the grid has with more than one cell along them
- axes - 0, 1 or 2 for x, y or z, each once; one alone may be `PETSC_DETERMINE`, see `PCColumnSetAxis()`

  Options Database Key:
. -pc_column_axis <xz,zyx,...,all> - the axes

  Level: intermediate

  Notes:
  The columns along the first axis are solved, those along the second for the residual that is left, and so on: for grids where the coupling is strong
  along one axis here and along another there. With `PC_COLUMN_SWEEP_REDBLACK` each axis has its two colours; with `PC_COLUMN_SWEEP_SYMMETRIC` axes and
  colours are visited forward and then reversed. The preconditioner of several axes is symmetric with that sweep only, see `PCColumnSetSweep()`.

.seealso: `PCCOLUMN`, `PCColumnGetAxes()`, `PCColumnSetAxis()`, `PCColumnSetSweep()`
@*/
PetscErrorCode PCColumnSetAxes(PC pc, PetscInt n, const PetscInt axes[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, n, 2);
  PetscTryMethod(pc, "PCColumnSetAxes_C", (PC, PetscInt, const PetscInt[]), (pc, n, axes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnGetAxes - The axes of the grid along which columns are solved in turn

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCCOLUMN`

  Output Parameters:
+ n    - the number of axes; before the preconditioner is set up 0 if all were asked for
- axes - 0, 1 or 2 for x, y or z, an array of three; before the preconditioner is set up one alone may be `PETSC_DETERMINE`

  Level: intermediate

.seealso: `PCCOLUMN`, `PCColumnSetAxes()`, `PCColumnGetAxis()`
@*/
PetscErrorCode PCColumnGetAxes(PC pc, PetscInt *n, PetscInt axes[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCColumnGetAxes_C", (PC, PetscInt *, PetscInt[]), (pc, n, axes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnSetSize - Sets the number of rows of a column, for a matrix whose columns are runs of consecutive rows

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner, of type `PCCOLUMN`
- size - the number of rows of each column; it must divide the number of rows of every rank. 0 takes back what was set

  Options Database Key:
. -pc_column_size <size> - the number of rows

  Level: beginner

  Note:
  A size that is set comes before a grid of a `DM`. A `MATSTRATA` operator has a grid of its own and does not need it.

.seealso: `PCCOLUMN`, `PCColumnGetSize()`, `PCColumnSetGrid()`
@*/
PetscErrorCode PCColumnSetSize(PC pc, PetscInt size)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, size, 2);
  PetscTryMethod(pc, "PCColumnSetSize_C", (PC, PetscInt), (pc, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnGetSize - The number of rows of a column

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCCOLUMN`

  Output Parameter:
. size - the number of rows; before the preconditioner is set up the one that was set, 0 if there is none, or if columns are listed

  Level: beginner

.seealso: `PCCOLUMN`, `PCColumnSetSize()`
@*/
PetscErrorCode PCColumnGetSize(PC pc, PetscInt *size)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCColumnGetSize_C", (PC, PetscInt *), (pc, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnSetGrid - Sets the grid of a matrix that has none

  Logically Collective

  Input Parameters:
+ pc  - the preconditioner, of type `PCCOLUMN`
. dim - the number of axes, 1, 2 or 3. 0 takes back what was set
- n   - the number of cells along each axis

  Options Database Key:
. -pc_column_grid <nx,ny,nz> - the number of cells along each axis

  Level: beginner

  Notes:
  The rows of the matrix run through the cells, x fastest. Each rank must own whole layers of the last axis, so that several ranks cut columns along
  this axis.

  A grid that is set comes before one of a `DM`. A `MATSTRATA` operator has a grid of its own and does not need it.

.seealso: `PCCOLUMN`, `PCColumnGetGrid()`, `PCColumnSetSize()`
@*/
PetscErrorCode PCColumnSetGrid(PC pc, PetscInt dim, const PetscInt n[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, dim, 2);
  PetscTryMethod(pc, "PCColumnSetGrid_C", (PC, PetscInt, const PetscInt[]), (pc, dim, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnGetGrid - The grid that was set with `PCColumnSetGrid()`

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCCOLUMN`

  Output Parameters:
+ dim - the number of axes, 0 if no grid was set
- n   - the number of cells along each axis, an array of three

  Level: beginner

.seealso: `PCCOLUMN`, `PCColumnSetGrid()`
@*/
PetscErrorCode PCColumnGetGrid(PC pc, PetscInt *dim, PetscInt n[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCColumnGetGrid_C", (PC, PetscInt *, PetscInt[]), (pc, dim, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnSetColumns - Lists the columns of a matrix: any rows in any order, in columns of any lengths

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner, of type `PCCOLUMN`
. section - for each point of its chart a column: the number of its rows and where they begin in `rows`. `NULL` takes back what was set
- rows    - the rows of this rank, by their global numbers, those of a column in their order. `NULL` together with `section`

  Level: intermediate

  Notes:
  Such columns are those of packed bathymetry, of unstructured surfaces, of a grid with land left out. Each row of the matrix must be in one column, perhaps one of
  its own, and each column whole on one rank. The entries between consecutive rows of a column and those of the diagonal are used.

  The matrix is of type `MATAIJ` or one derived from it; its rows are read on the host. Both objects are kept, not copied: do not change them.

  A list that is set comes before a size, and before a grid that was set or that of a `DM`. Columns that are listed have no axis and no neighbours: line
  relaxation with two colours solves all of them together.

.seealso: `PCCOLUMN`, `PCColumnGetColumns()`, `PCColumnSetSize()`, `PetscSectionCreate()`, `ISCreateGeneral()`
@*/
PetscErrorCode PCColumnSetColumns(PC pc, PetscSection section, IS rows)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  if (section) PetscValidHeaderSpecific(section, PETSC_SECTION_CLASSID, 2);
  if (rows) PetscValidHeaderSpecific(rows, IS_CLASSID, 3);
  PetscTryMethod(pc, "PCColumnSetColumns_C", (PC, PetscSection, IS), (pc, section, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnGetColumns - The list of columns that was set with `PCColumnSetColumns()`

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCCOLUMN`

  Output Parameters:
+ section - the lengths of the columns, `NULL` if none are listed; may be `NULL`
- rows    - their rows; may be `NULL`

  Level: intermediate

  Note:
  Both remain those of the preconditioner: do not destroy them.

.seealso: `PCCOLUMN`, `PCColumnSetColumns()`
@*/
PetscErrorCode PCColumnGetColumns(PC pc, PetscSection *section, IS *rows)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCColumnGetColumns_C", (PC, PetscSection *, IS *), (pc, section, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnSetAlgorithm - Sets how the columns are solved

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner, of type `PCCOLUMN`
- algorithm - `PC_COLUMN_AUTO`, `PC_COLUMN_THOMAS`, `PC_COLUMN_PARTITION`, `PC_COLUMN_TWOWAY` or `PC_COLUMN_PCR`

  Options Database Key:
. -pc_column_algorithm <auto,thomas,partition,twoway,pcr> - the algorithm

  Level: intermediate

  Notes:
  The default is `PC_COLUMN_AUTO`: `PC_COLUMN_PARTITION` on the GPU, `PC_COLUMN_THOMAS` on the host, the fastest there. The solutions of all are equal
  up to rounding; each gives the same bits on the host and on the GPU.

  `PC_COLUMN_TWOWAY` and `PC_COLUMN_PCR` eliminate rows in other orders than the set-up, which looks at the pivots of `PC_COLUMN_THOMAS`. For M-matrices
  and diagonally dominant columns no pivot vanishes in any order; for others take the first two. A singular part of a column has with
  `PC_COLUMN_TWOWAY` the value 0 in another of its cells; with `PC_COLUMN_PCR` singular columns are left to `PC_COLUMN_THOMAS`.

  With `PC_COLUMN_PARTITION`, columns that share the numbers of their rows (constant form, tensor form along its axis) and are those of a symmetric
  M-matrix are solved by two running sums, with fewer operations, unless they are so steep that these would leave the range of numbers. Shared rows are
  divided by the areas of their columns: if one is zero, or far out of range, the rows of this rank are made for each cell instead.

  The transpose of columns that are not symmetric is solved with `PC_COLUMN_THOMAS` always. Where ranks cut columns, each solves its pieces with
  `PC_COLUMN_THOMAS`, and they are joined as in the partition method.

.seealso: `PCCOLUMN`, `PCColumnAlgorithm`, `PCColumnGetAlgorithm()`
@*/
PetscErrorCode PCColumnSetAlgorithm(PC pc, PCColumnAlgorithm algorithm)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, algorithm, 2);
  PetscTryMethod(pc, "PCColumnSetAlgorithm_C", (PC, PCColumnAlgorithm), (pc, algorithm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnGetAlgorithm - How the columns are to be solved

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCCOLUMN`

  Output Parameter:
. algorithm - what was asked for, perhaps `PC_COLUMN_AUTO`

  Level: intermediate

.seealso: `PCCOLUMN`, `PCColumnAlgorithm`, `PCColumnSetAlgorithm()`
@*/
PetscErrorCode PCColumnGetAlgorithm(PC pc, PCColumnAlgorithm *algorithm)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCColumnGetAlgorithm_C", (PC, PCColumnAlgorithm *), (pc, algorithm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnSetPrecision - Sets the precision in which columns are solved

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner, of type `PCCOLUMN`
- precision - `PC_COLUMN_PRECISION_SAME` or `PC_COLUMN_PRECISION_SINGLE`

  Options Database Key:
. -pc_column_precision <same,single> - the precision

  Level: intermediate

  Notes:
  In single precision the right-hand side is brought into the range of single precision by a power of two, converted, solved and converted back. The
  numbers of the rows are stored in single precision too, besides those of the matrix; they must lie in its range, or the set-up fails as with a zero
  pivot.

  The preconditioner stays linear only up to single precision: Krylov methods that rely on it may need more iterations, or a flexible method.

.seealso: `PCCOLUMN`, `PCColumnPrecision`, `PCColumnGetPrecision()`
@*/
PetscErrorCode PCColumnSetPrecision(PC pc, PCColumnPrecision precision)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, precision, 2);
  PetscTryMethod(pc, "PCColumnSetPrecision_C", (PC, PCColumnPrecision), (pc, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnGetPrecision - The precision in which columns are solved

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCCOLUMN`

  Output Parameter:
. precision - the precision

  Level: intermediate

.seealso: `PCCOLUMN`, `PCColumnPrecision`, `PCColumnSetPrecision()`
@*/
PetscErrorCode PCColumnGetPrecision(PC pc, PCColumnPrecision *precision)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCColumnGetPrecision_C", (PC, PCColumnPrecision *), (pc, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnSetSweep - Sets the order in which columns are corrected: together, or as line relaxation with two colours

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner, of type `PCCOLUMN`
- sweep - `PC_COLUMN_SWEEP_JACOBI`, `PC_COLUMN_SWEEP_REDBLACK` or `PC_COLUMN_SWEEP_SYMMETRIC`

  Options Database Key:
. -pc_column_sweep <jacobi,redblack,symmetric> - the order

  Level: beginner

  Notes:
  The default is `PC_COLUMN_SWEEP_JACOBI`. In the others columns have two colours, like the lines or the squares of a chess board, seen along the
  columns, so that no column has a neighbour of its own colour. The columns of the first colour are solved, then those of the second for the residual
  that is left: line Gauss-Seidel, or line SOR with another weight than 1, see `PCColumnSetOmega()`. `PC_COLUMN_SWEEP_SYMMETRIC` goes through the
  colours forward and then reversed, which makes a symmetric preconditioner of a symmetric matrix, as `KSPCG` needs it; with weight 1 the second solve
  of the same colour in turn is left out.

  Colours are those of global cells: the answer does not depend on the ranks. Along a periodic axis across the columns the number of cells must be even.

  The residual is that of the whole matrix from which the preconditioner is built, entries outside the star stencil too.

.seealso: `PCCOLUMN`, `PCColumnSweep`, `PCColumnGetSweep()`, `PCColumnSetOmega()`, `PCColumnSetIterations()`
@*/
PetscErrorCode PCColumnSetSweep(PC pc, PCColumnSweep sweep)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, sweep, 2);
  PetscTryMethod(pc, "PCColumnSetSweep_C", (PC, PCColumnSweep), (pc, sweep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnGetSweep - The order in which columns are corrected

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCCOLUMN`

  Output Parameter:
. sweep - the order

  Level: beginner

.seealso: `PCCOLUMN`, `PCColumnSweep`, `PCColumnSetSweep()`
@*/
PetscErrorCode PCColumnGetSweep(PC pc, PCColumnSweep *sweep)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCColumnGetSweep_C", (PC, PCColumnSweep *), (pc, sweep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnSetOmega - Sets the weight of the corrections of columns

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner, of type `PCCOLUMN`
- omega - the weight, between 0 and 2; the default is 1

  Options Database Key:
. -pc_column_omega <omega> - the weight

  Level: beginner

.seealso: `PCCOLUMN`, `PCColumnGetOmega()`, `PCColumnSetSweep()`, `PCColumnSetIterations()`
@*/
PetscErrorCode PCColumnSetOmega(PC pc, PetscReal omega)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, omega, 2);
  PetscTryMethod(pc, "PCColumnSetOmega_C", (PC, PetscReal), (pc, omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnGetOmega - The weight of the corrections of columns

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCCOLUMN`

  Output Parameter:
. omega - the weight

  Level: beginner

.seealso: `PCCOLUMN`, `PCColumnSetOmega()`
@*/
PetscErrorCode PCColumnGetOmega(PC pc, PetscReal *omega)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCColumnGetOmega_C", (PC, PetscReal *), (pc, omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnSetIterations - Sets the number of iterations of line relaxation

  Logically Collective

  Input Parameters:
+ pc  - the preconditioner, of type `PCCOLUMN`
- its - the number of iterations from zero; the default is 1

  Options Database Key:
. -pc_column_its <its> - the number of iterations

  Level: beginner

  Note:
  An iteration corrects all columns once, or twice with `PC_COLUMN_SWEEP_SYMMETRIC`.

.seealso: `PCCOLUMN`, `PCColumnGetIterations()`, `PCColumnSetSweep()`, `PCColumnSetOmega()`
@*/
PetscErrorCode PCColumnSetIterations(PC pc, PetscInt its)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, its, 2);
  PetscTryMethod(pc, "PCColumnSetIterations_C", (PC, PetscInt), (pc, its));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCColumnGetIterations - The number of iterations of line relaxation

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCCOLUMN`

  Output Parameter:
. its - the number of iterations

  Level: beginner

.seealso: `PCCOLUMN`, `PCColumnSetIterations()`
@*/
PetscErrorCode PCColumnGetIterations(PC pc, PetscInt *its)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCColumnGetIterations_C", (PC, PetscInt *), (pc, its));
  PetscFunctionReturn(PETSC_SUCCESS);
}
