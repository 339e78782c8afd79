/*
   PCCOLUMN: the exact solve of every line along one axis of a grid, as a preconditioner
*/
#include "columnimpl.h"

/* ---- the lines ------------------------------------------------------------------------------------------------------------------ */

/* The grid of a matrix whose lines are runs of rows */
static PetscErrorCode PCColumnMakeRuns(PC pc, PetscInt size, StrataGrid *grid)
{
  MPI_Comm  comm = PetscObjectComm((PetscObject)pc);
  PetscInt  rows, total, N[2];
  PetscBool whole;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(pc->pmat, &rows, NULL));
  PetscCall(MatGetSize(pc->pmat, &total, NULL));
  whole = rows % size ? PETSC_FALSE : PETSC_TRUE;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &whole, 1, STRATA_MPI_BOOL, MPI_LAND, comm));
  PetscCheck(whole, comm, PETSC_ERR_ARG_SIZ,
             "Columns of %" PetscInt_FMT " rows do not divide the rows of every rank (%" PetscInt_FMT
             " in all): choose -pc_column_size or PCColumnSetSize() and the local sizes of the matrix so that each rank has whole columns",
             size, total);
  N[0] = size;
  N[1] = total / size;
  PetscCall(StrataGridCreateSlabs(comm, 2, N, rows, grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid of the matrix: its own if it is a Strata operator, else what was given, else that of the DM of the PC or of a matrix */
PetscErrorCode PCColumnFindGrid(PC pc, StrataGrid *grid)
{
  PC_Column *col = (PC_Column *)pc->data;
  PetscBool  isstrata;
  DM         dm;
  char       name[8];

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATSTRATA, &isstrata));
  col->runs = !isstrata && col->size ? PETSC_TRUE : PETSC_FALSE;
  if (isstrata) {
    PetscCall(StrataMatGetGrid(pc->pmat, NULL, grid));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (col->runs) {
    PCColumnNameAxes(col, name);
    PetscCheck(!col->several && (col->axis == PETSC_DETERMINE || col->axis == 0), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
               "Columns of a given size are runs of rows, they have no axis %s: leave out -pc_column_axis, or give a grid with -pc_column_grid",
               name);
    PetscCall(PCColumnMakeRuns(pc, col->size, grid));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (col->dim) {
    PetscCall(StrataMatMakeGrid(pc->pmat, col->dim, col->N, "pc_column_", grid));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(StrataMatFindDM(pc->pmat, pc->mat, pc->dm, NULL, &dm));
  PetscCheck(dm, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix has no grid: create it with DMCreateMatrix() on a DMDA, attach the DMDA with KSPSetDM() or PCSetDM(), or say with "
             "-pc_column_size how many rows a column has, or with -pc_column_grid how many cells the grid has along each axis");
  PetscCall(StrataMatGetGrid(pc->pmat, dm, grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Along which axes are there lines that belong to several ranks? */
static PetscErrorCode PCColumnFindCuts(StrataGrid g, PetscBool cut[3])
{
  PetscInt a;

  PetscFunctionBegin;
  for (a = 0; a < 3; a++) cut[a] = g->size_local && g->n[a] < g->N[a] ? PETSC_TRUE : PETSC_FALSE;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, cut, 3, STRATA_MPI_BOOL, MPI_LOR, g->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscBool PCColumnIsPeriodic(StrataGrid g, PetscInt a)
{
  return g->periodic[a] && g->N[a] > 1 ? PETSC_TRUE : PETSC_FALSE;
}

/* The axis with the strongest coupling, in the mean over its faces; between equals one that is not cut, and the last of these */
static PetscErrorCode PCColumnChooseAxis(PC pc, StrataGrid g, const PetscBool cut[3], PetscInt *axis)
{
  PetscReal coupling[3], best = 0;
  PetscInt  a;

  PetscFunctionBegin;
  PetscCall(StrataMatGetCoupling(pc->pmat, g, coupling));
  *axis = -1;
  for (a = 0; a < g->dim; a++) {
    const PetscInt faces = PCColumnIsPeriodic(g, a) ? g->N[a] : g->N[a] - 1;

    coupling[a] = faces && coupling[a] - coupling[a] == 0 ? coupling[a] * g->N[a] / faces : 0;
    if (*axis < 0 || coupling[a] > best * (1 + PETSC_SQRT_MACHINE_EPSILON) ||
        (coupling[a] >= best * (1 - PETSC_SQRT_MACHINE_EPSILON) && (cut[*axis] || !cut[a]))) {
      *axis = a;
      best = coupling[a];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fails on all ranks if one was told something else than another */
PetscErrorCode PCColumnCheckRanks(PC pc)
{
  PC_Column      *col = (PC_Column *)pc->data;
  const PetscReal told[] = {col->axis,  col->several, col->axes[0], col->axes[1],   col->axes[2],
                            col->size,  col->dim,     col->N[0],    col->N[1],      col->N[2],
                            col->sweep, col->omega,   col->its,     col->precision, col->list.section != NULL};
  PetscInt        differs;

  PetscFunctionBegin;
  PetscCall(StrataFindDifference(PetscObjectComm((PetscObject)pc), sizeof(told) / sizeof(*told), told, &differs));
  PetscCheck(differs < 13, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "The precision of the columns differs between ranks, or some have a list of them: all must call PCColumnSetPrecision() with the same "
             "value, and PCColumnSetColumns()");
  PetscCheck(differs < 10, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "The sweep, weight or number of iterations of the columns differ between ranks: all must call PCColumnSetSweep(), PCColumnSetOmega() "
             "and PCColumnSetIterations() with the same values");
  PetscCheck(differs < 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "The axis, size or grid of the columns differ between ranks: all must call PCColumnSetAxis(), PCColumnSetSize() and PCColumnSetGrid() "
             "with the same numbers");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the grid and the axis of the lines, and refuses what cannot be done */
static PetscErrorCode PCColumnFindLines(PC pc)
{
  PC_Column *col = (PC_Column *)pc->data;
  MPI_Comm   comm = PetscObjectComm((PetscObject)pc);
  StrataGrid g;
  PetscBool  cut[3];
  PetscInt   a = col->axis;
  char       name;

  PetscFunctionBegin;
  PetscCall(PCColumnCheckRanks(pc));
  PetscCall(StrataGridDestroy(&col->grid));
  if (col->list.section) {
    PetscCall(PCColumnListFind(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCColumnFindGrid(pc, &col->grid));
  g = col->grid;
  PetscCall(PCColumnFindCuts(g, cut));
  if (col->runs)
    a = 0;
  else if (a == PETSC_DETERMINE)
    PetscCall(PCColumnChooseAxis(pc, g, cut, &a));
  PetscCheck(a < g->dim, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "Columns along axis %c were asked for, but the grid has %" PetscInt_FMT " dimension%s: choose another -pc_column_axis", (char)('x' + a),
             g->dim, g->dim == 1 ? "" : "s");
  name = (char)('x' + a);
  PetscCheck(
      !cut[a] || col->precision == PC_COLUMN_PRECISION_SAME, comm, PETSC_ERR_SUP,
      "The columns along axis %c are cut by ranks, and such columns are solved in the precision of the vectors: leave out -pc_column_precision "
      "single, or give the process grid one rank along %c (-da_processors_%c 1)",
      name, name, name);
  col->along = a;
  PetscCall(PCColumnRanksFind(col, cut[a]));
  col->rings.periodic = PCColumnIsPeriodic(g, a);
  PetscCall(PCColumnCheckColors(pc, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the rows ------------------------------------------------------------------------------------------------------------------- */

/* Are the rows of lines along an axis numbers of the line times numbers of the level? */
static inline PetscBool PCColumnIsShared(const StrataCoef_d *c, PetscInt a)
{
  return !c->flags && (c->form == STRATA_CONSTANT || (c->form == STRATA_TENSOR && c->axis == a)) ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode PCColumnGetKernel(PC_Column *col, PetscMemType type, StrataLines_d *t)
{
  const PetscInt a = col->along;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(t, sizeof(*t)));
  t->axis = (int)a;
  t->singular = col->singular > 0;
  t->rows = STRATA_ROWS_ARRAYS;
  if (!col->c || col->lower.bytes) {
    PetscCall(StrataGridGetBox(col->grid, t->coef.n));
    if (col->list.section) {
      t->axis = 2;
      for (int m = 0; m < 3; m++) t->coef.n[m] = col->list.n[m];
    }
    t->coef.scale = col->c ? col->c->scale : 1;
    t->coef.shift = col->c ? col->c->shift : 0;
    PetscCall(StrataArrayRead(&col->lower, type, &t->lower));
    PetscCall(StrataArrayRead(&col->upper, type, &t->upper));
    PetscCall(StrataArrayRead(&col->excess, type, &t->excess));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(StrataCoefficientsGetKernel(col->c, type, &t->coef));
  if (col->excess.bytes) {
    PetscCall(StrataArrayRead(&col->excess, type, &t->excess));
    t->lower = t->coef.legs[2 * a];
    t->upper = t->coef.legs[2 * a + 1];
  } else if (PCColumnIsShared(&t->coef, a)) {
    t->rows = STRATA_ROWS_SHARED;
    if (col->rings.periodic) PetscCall(PCColumnRingsGetShared(col, type, &t->coef));
  } else
    t->rows = STRATA_ROWS_CELLS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Looks at all rows, with the scale and shift in t */
static PetscErrorCode PCColumnCheck(PC_Column *col, const StrataLines_d *t, PCColumnReport *report)
{
  StrataGrid        g = col->grid;
  StrataLinesReport local = StrataLinesReportEmpty();
  PetscInt          first[3], count[3], m;
  const int        *row = NULL;
  void             *stream;

  PetscFunctionBegin;
  PetscCall(StrataGetStream(col->home, &stream));
  if (col->ranks.cut) {
    PetscCall(PCColumnRanksCheck(col, t, &local));
    if (col->rings.periodic) PetscCall(PCColumnRanksCheckRings(col, t, &local));
  } else if (g->size_local) {
    StrataDispatch(col->home, StrataLinesCheckHost_d(t, &local), StrataLinesCheckCUDA_d(t, &local, stream));
    if (col->rings.periodic) PetscCall(PCColumnRingsCheck(col, t, &local));
    if (col->precision == PC_COLUMN_PRECISION_SINGLE) { /* some numbers may be too large or too small for it */
      StrataLinesReport single = StrataLinesReportEmpty();
      StrataLines_f     s;

      PetscCall(PCColumnGetSingle(col, t, col->home, &s));
      StrataDispatch(col->home, StrataLinesCheckHost_f(&s, &single), StrataLinesCheckCUDA_f(&s, &single, stream));
      local.zero = PetscMin(local.zero, single.zero);
      local.isolated = PetscMin(local.isolated, single.isolated);
      local.nonfinite = PetscMin(local.nonfinite, single.nonfinite);
      local.singular = PetscMax(local.singular, single.singular);
    }
  }
  if (col->list.section) PetscCall(StrataArrayRead(&col->list.cell, PETSC_MEMTYPE_HOST, &row));
  for (m = 0; m < 3; m++) {
    const unsigned long long cell = m == 0 ? local.zero : m == 1 ? local.isolated : local.nonfinite;

    first[m] = cell == STRATA_NO_CELL ? PETSC_MAX_INT : g->start + (row ? (PetscInt)row[cell] : (PetscInt)cell);
  }
  count[0] = (PetscInt)local.singular;
  count[1] = local.sign ? 1 : 0;
  count[2] = local.unsymmetric ? 1 : 0;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, first, 3, MPIU_INT, MPI_MIN, g->comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, count, 3, MPIU_INT, MPI_SUM, g->comm));
  for (m = 0; m < 3; m++)
    if (first[m] == PETSC_MAX_INT) first[m] = -1;
  report->zero = first[0];
  report->isolated = first[1];
  report->nonfinite = first[2];
  report->singular = count[0];
  report->mmatrix = count[1] ? PETSC_FALSE : PETSC_TRUE;
  report->symmetric = count[2] ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the rows of an assembled matrix; of symmetric lines the lower legs are enough, unless the next one is on another rank */
static PetscErrorCode PCColumnReadMatrix(PC pc)
{
  PC_Column    *col = (PC_Column *)pc->data;
  StrataLines_d t;
  PetscInt      nonfinite;

  PetscFunctionBegin;
  if (col->list.section)
    PetscCall(PCColumnListReadMatrix(pc, &nonfinite));
  else
    PetscCall(StrataMatGetLines(pc->pmat, col->grid, col->along, &col->excess, &col->lower, &col->upper, &col->home, &nonfinite));
  col->narrowed = PETSC_FALSE;
  PetscCall(PCColumnGetKernel(col, col->home, &t));
  if (col->rings.periodic && col->ranks.cut) {
    PetscCall(PCColumnRanksCutRings(col, NULL));
    PetscCall(PCColumnGetKernel(col, col->home, &t));
  } else if (col->rings.periodic)
    PetscCall(PCColumnRingsCut(col, &t, PETSC_FALSE));
  PetscCall(PCColumnCheck(col, &t, &col->plain));
  if (nonfinite >= 0) col->plain.nonfinite = nonfinite; /* perhaps in an entry that is not on the lines */
  if (col->plain.symmetric && !col->ranks.cut) PetscCall(StrataArrayDestroy(&col->upper));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Can all lines be divided by their areas, as the partition method does where rows are shared? An area may be zero: of land, with nothing but a shift. */
static PetscErrorCode PCColumnFindAreas(PC_Column *col)
{
  const StrataCoefficients c = col->c;
  const PetscReal          range = col->precision == PC_COLUMN_PRECISION_SINGLE ? 0x1p60 : 0x1p500;
  const PetscScalar       *area;

  PetscFunctionBegin;
  col->divides = PETSC_TRUE;
  if (c->form != MAT_STRATA_TENSOR) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataArrayRead(&c->area, PETSC_MEMTYPE_HOST, &area));
  for (size_t q = 0; q < c->area.bytes / sizeof(*area); q++)
    if (!(PetscAbsScalar(area[q]) >= 1 / range && PetscAbsScalar(area[q]) <= range)) col->divides = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Looks at the coefficients of a Strata operator. They stay where they are; what is stored besides is the excess of the lines' rows, and
   that only where legs are stored for each cell; of rings that have no shared rows all rows, of faces in
   pieces of lines nothing. */
static PetscErrorCode PCColumnReadOperator(PC pc, StrataCoefficients c)
{
  PC_Column    *col = (PC_Column *)pc->data;
  StrataLines_d t;
  StrataCoef_d  k;
  PetscScalar  *excess;
  void         *stream;

  PetscFunctionBegin;
  PetscCheck(pc->pmat->assembled, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "The operator is not assembled: call MatAssemblyBegin() and MatAssemblyEnd()");
  PetscCall(StrataCoefficientsReference(c));
  PetscCall(StrataCoefficientsDestroy(&col->c));
  col->c = c;
  col->state = c->state;
  col->narrowed = PETSC_FALSE;
  PetscCall(PCColumnFindAreas(col));
  PetscCall(StrataArrayDestroy(&col->excess));
  PetscCall(StrataArrayDestroy(&col->lower));
  PetscCall(StrataArrayDestroy(&col->upper));
  PetscCall(StrataMatGetHome(pc->pmat, c, &col->home));
  PetscCall(StrataCoefficientsGetKernel(c, col->home, &k));
  k.scale = 1;
  k.shift = 0;
  if (col->rings.periodic && col->ranks.cut) {
    PetscCall(StrataCoefficientsGetKernel(c, PETSC_MEMTYPE_HOST, &k));
    PetscCall(PCColumnRanksCutRings(col, &k));
  } else if (col->rings.periodic) {
    PetscCall(PetscMemzero(&t, sizeof(t)));
    t.axis = (int)col->along;
    t.rows = STRATA_ROWS_CELLS;
    t.coef = k;
    PetscCall(PCColumnRingsCut(col, &t, PCColumnIsShared(&k, col->along)));
  } else if ((c->form == MAT_STRATA_FACES && !col->ranks.cut) || c->form == MAT_STRATA_LEGS) {
    PetscCall(StrataArrayCreate(&col->excess, (size_t)col->grid->size_local * sizeof(PetscScalar)));
    PetscCall(StrataArrayWrite(&col->excess, col->home, &excess));
    PetscCall(StrataGetStream(col->home, &stream));
    StrataDispatch(col->home, StrataRowsHost_d(&k, STRATA_ROW_LINE, (int)col->along, excess),
                   StrataRowsCUDA_d(&k, STRATA_ROW_LINE, (int)col->along, excess, stream));
  }
  PetscCall(PCColumnGetKernel(col, col->home, &t));
  t.coef.scale = 1;
  t.coef.shift = 0;
  PetscCall(PCColumnCheck(col, &t, &col->plain));
  if (col->lower.bytes && col->plain.symmetric && !col->ranks.cut) PetscCall(StrataArrayDestroy(&col->upper));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A global row and where it is, in words */
static PetscErrorCode PCColumnRowWords(PC_Column *col, PetscInt row, char words[], size_t len)
{
  PetscFunctionBegin;
  if (col->list.section)
    PetscCall(PCColumnListRowWords(col, row, words, len));
  else
    PetscCall(StrataGridRowWords(col->grid, row, words, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Can every line be solved, with the scale and shift of the operator? They change nothing that would have to be looked at again when
   all lines are M-matrices: a positive scale leaves pivots as they are, a positive shift makes them larger. */
static PetscErrorCode PCColumnJudge(PC pc)
{
  PC_Column     *col = (PC_Column *)pc->data;
  PCColumnReport report = col->plain;
  MatNullSpace   nullspace;
  const char    *failure = NULL;
  PCFailedReason reason = PC_NOERROR;
  PetscInt       row = -1;
  char           words[128], along[16] = "";

  PetscFunctionBegin;
  col->started = col->rings.ready[0] = col->rings.ready[1] = col->ranks.ready[0] = col->ranks.ready[1] = PETSC_FALSE;
  col->scale = col->c ? col->c->scale : 1;
  col->shift = col->c ? col->c->shift : 0;
  if (col->plain.mmatrix && col->scale > 0 && col->shift > 0)
    report.zero = report.isolated = -1, report.singular = 0;
  else if (!(col->plain.mmatrix && col->scale > 0 && col->shift == 0) && !(col->scale == 1 && col->shift == 0)) {
    StrataLines_d t;

    PetscCall(PCColumnGetKernel(col, col->home, &t));
    PetscCall(PCColumnCheck(col, &t, &report));
  }
  PetscCall(MatGetNullSpace(pc->pmat, &nullspace));
  if (!nullspace) PetscCall(MatGetNullSpace(pc->mat, &nullspace));
  if (report.nonfinite >= 0) {
    row = report.nonfinite;
    failure = col->precision == PC_COLUMN_PRECISION_SINGLE ? "NaN or infinity in single precision" : "NaN or infinity";
    reason = PC_FACTOR_OTHER;
  } else if (report.zero >= 0 || (report.isolated >= 0 && !nullspace)) {
    row = report.zero >= 0 && (report.isolated < 0 || nullspace || report.zero < report.isolated) ? report.zero : report.isolated;
    failure = col->precision == PC_COLUMN_PRECISION_SINGLE ? "zero pivot in single precision" : "zero pivot";
    reason = PC_FACTOR_NUMERIC_ZEROPIVOT;
  }
  col->singular = report.singular;
  col->failedrow = row;
  col->failure = failure;
  PetscCall(PCSetFailedReason(pc, reason));
  if (!failure) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCColumnRowWords(col, row, words, sizeof(words)));
  if (!col->list.section) PetscCall(PetscSNPrintf(along, sizeof(along), " along axis %c", (char)('x' + col->along)));
  PetscCall(PetscInfo(pc, "Columns%s cannot be solved: %s in %s\n", along, failure, words));
  PetscCheck(!pc->erroriffailure, PetscObjectComm((PetscObject)pc), PETSC_ERR_MAT_LU_ZRPVT, "Columns%s cannot be solved: %s in %s", along, failure,
             words);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_Column(PC);

/* Follows a Strata operator: does nothing unless its coefficients, its scale or its shift are others than before, or another matrix has
   taken its place while the preconditioner was to be reused: of an operator nothing is stored that could be */
static PetscErrorCode PCColumnFollow(PC pc)
{
  PC_Column         *col = (PC_Column *)pc->data;
  StrataCoefficients c;
  PetscBool          other;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATSTRATA, &other));
  if (other) PetscCall(MatStrataGetCoefficients(pc->pmat, &c));
  if (!other || c->grid != col->grid) {
    PetscCall(PCSetUp_Column(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  other = c != col->c || c->state != col->state ? PETSC_TRUE : PETSC_FALSE;
  if (other) PetscCall(PCColumnReadOperator(pc, c));
  if (other || c->scale != col->scale || c->shift != col->shift) PetscCall(PCColumnJudge(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_Column(PC pc)
{
  PC_Column         *col = (PC_Column *)pc->data;
  StrataCoefficients c = NULL;
  PetscBool          isstrata;

  PetscFunctionBegin;
  if (col->several) {
    PetscCheck(!col->list.section, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
               "Columns that are listed have no axes: leave out -pc_column_axis, or PCColumnSetColumns()");
    PetscCall(PCColumnSetUpTurns(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(STRATA_ColumnSetUp, pc, 0, 0, 0));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATSTRATA, &isstrata));
  if (isstrata) PetscCall(MatStrataGetCoefficients(pc->pmat, &c));
  if (pc->flag != SAME_NONZERO_PATTERN || !col->grid || (isstrata ? c->grid != col->grid : col->c != NULL)) {
    PetscCall(StrataCoefficientsDestroy(&col->c));
    PetscCall(PCColumnFindLines(pc));
  }
  if (isstrata)
    PetscCall(PCColumnFollow(pc));
  else {
    PetscCall(PCColumnReadMatrix(pc));
    PetscCall(PCColumnJudge(pc));
  }
  PetscCall(PetscLogEventEnd(STRATA_ColumnSetUp, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the solve ------------------------------------------------------------------------------------------------------------------ */

/* z = add + M r for vectors, where M solves all lines once */
PetscErrorCode PCColumnApplyLines(PC pc, PetscBool transpose, Vec r, Vec add, Vec z)
{
  PC_Column         *col = (PC_Column *)pc->data;
  const PetscInt     n = col->grid->size_local;
  const PetscScalar *ar, *aadd;
  PetscScalar       *az;
  PetscMemType       type;

  PetscFunctionBegin;
  if (col->c) PetscCall(PCColumnFollow(pc));
  if (col->failure) { /* as factorizations do */
    PetscCall(VecSet(z, INFINITY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(STRATA_ColumnApply, pc, r, z, 0));
  PetscCall(StrataVecGetArrays(r, add, z, &ar, &aadd, &az, &type));
  PetscCall(PCColumnSolve(pc, transpose, 1, ar, n, aadd, az, n, type));
  PetscCall(StrataVecRestoreArrays(r, add, z, &ar, &aadd, &az, type));
  PetscCall(PetscLogEventEnd(STRATA_ColumnApply, pc, r, z, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = add + omega M r on the lines of a colour, add on others, where that is one pass; else it is not done */
PetscErrorCode PCColumnCorrectLines(PC pc, PetscBool transpose, const StrataColor *color, PetscReal omega, Vec r, Vec add, Vec z, PetscBool *done)
{
  PC_Column         *col = (PC_Column *)pc->data;
  const PetscScalar *ar, *aadd;
  PetscScalar       *az;
  PetscMemType       type;

  PetscFunctionBegin;
  if (col->c) PetscCall(PCColumnFollow(pc));
  PetscCall(VecGetArrayReadAndMemType(r, &ar, &type));
  PetscCall(VecRestoreArrayReadAndMemType(r, &ar));
  *done = PETSC_FALSE;
  if (col->failure || col->ranks.cut || col->rings.periodic || col->list.section || col->precision == PC_COLUMN_PRECISION_SINGLE ||
      PCColumnChoose(col, transpose, type) != PC_COLUMN_PARTITION)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(STRATA_ColumnApply, pc, r, z, 0));
  PetscCall(StrataVecGetArrays(r, add, z, &ar, &aadd, &az, &type));
  if (col->grid->size_local) PetscCall(PCColumnSolveColor(pc, color, omega, ar, aadd, az, type));
  PetscCall(StrataVecRestoreArrays(r, add, z, &ar, &aadd, &az, type));
  PetscCall(PetscLogEventEnd(STRATA_ColumnApply, pc, r, z, 0));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = add + M r, whatever M is */
static PetscErrorCode PCColumnApply(PC pc, PetscBool transpose, Vec r, Vec add, Vec z)
{
  PetscFunctionBegin;
  PetscCall(StrataMatCheckVec(pc->pmat, r));
  PetscCall(StrataMatCheckVec(pc->pmat, z));
  if (PCColumnRelaxes((PC_Column *)pc->data))
    PetscCall(PCColumnRelax(pc, transpose, r, add, z));
  else
    PetscCall(PCColumnApplyLines(pc, transpose, r, add, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_Column(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCall(PCColumnApply(pc, PETSC_FALSE, r, NULL, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_Column(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCall(PCColumnApply(pc, PETSC_TRUE, r, NULL, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One right-hand side after the other */
static PetscErrorCode PCColumnMatRelax(PC pc, Mat R, Mat Z)
{
  PetscInt nv, v;
  Vec      r, z;

  PetscFunctionBegin;
  PetscCall(MatGetSize(R, NULL, &nv));
  for (v = 0; v < nv; v++) {
    PetscCall(MatDenseGetColumnVecRead(R, v, &r));
    PetscCall(MatDenseGetColumnVecWrite(Z, v, &z));
    PetscCall(PCColumnApply(pc, PETSC_FALSE, r, NULL, z));
    PetscCall(MatDenseRestoreColumnVecWrite(Z, v, &z));
    PetscCall(MatDenseRestoreColumnVecRead(R, v, &r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMatApply_Column(PC pc, Mat R, Mat Z)
{
  PC_Column         *col = (PC_Column *)pc->data;
  const PetscScalar *r;
  PetscScalar       *z;
  PetscInt           nv, ldr, ldz;
  PetscMemType       type;

  PetscFunctionBegin;
  if (PCColumnRelaxes(col)) {
    PetscCall(PCColumnMatRelax(pc, R, Z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (col->c) PetscCall(PCColumnFollow(pc));
  PetscCall(PetscLogEventBegin(STRATA_ColumnApply, pc, R, Z, 0));
  if (col->failure)
    PetscCall(StrataDenseSet(Z, INFINITY));
  else {
    PetscCall(MatGetSize(R, NULL, &nv));
    PetscCall(StrataDenseGetArrays(R, Z, &r, &ldr, &z, &ldz, &type));
    PetscCall(PCColumnSolve(pc, PETSC_FALSE, nv, r, ldr, NULL, z, ldz, type));
    PetscCall(StrataDenseRestoreArrays(R, Z, &r, &z, type));
  }
  PetscCall(PetscLogEventEnd(STRATA_ColumnApply, pc, R, Z, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyRichardson_Column(PC pc, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol, PetscReal dtol, PetscInt its,
                                               PetscBool guesszero, PetscInt *outits, PCRichardsonConvergedReason *reason)
{
  PetscFunctionBegin;
  PetscCall(StrataApplyRichardson(pc, PCColumnApply, b, x, w, its, guesszero, outits, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPreSolve_Column(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(StrataPreSolveRichardson(pc, ksp, PCApplyRichardson_Column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPostSolve_Column(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscFunctionBegin;
  pc->ops->applyrichardson = PCApplyRichardson_Column;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the object ----------------------------------------------------------------------------------------------------------------- */

PetscErrorCode PCReset_Column(PC pc)
{
  PC_Column *col = (PC_Column *)pc->data;

  PetscFunctionBegin;
  PetscCall(StrataGridDestroy(&col->grid));
  PetscCall(StrataCoefficientsDestroy(&col->c));
  PetscCall(StrataArrayDestroy(&col->excess));
  PetscCall(StrataArrayDestroy(&col->lower));
  PetscCall(StrataArrayDestroy(&col->upper));
  PetscCall(StrataArrayDestroy(&col->start));
  for (int m = 0; m < 3; m++) {
    PetscCall(VecDestroy(&col->relax[m]));
    PetscCall(PCDestroy(&col->turn[m]));
  }
  col->turns = 0;
  PetscCall(StrataArrayDestroy(&col->single));
  PetscCall(StrataArrayDestroy(&col->singlenumber));
  PetscCall(PCColumnRingsDestroy(col));
  PetscCall(PCColumnListReset(col));
  PetscCall(PCColumnRanksDestroy(col));
  for (int m = 0; m < PC_COLUMN_SPACES; m++)
    for (int device = 0; device < 2; device++) PetscCall(StrataArrayDestroy(&col->work[m][device]));
  col->singular = 0;
  col->failure = NULL;
  col->failedrow = -1;
  col->applied = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCColumnGetMore(PC pc, const char **more)
{
  const PC_Column *col = (PC_Column *)pc->data;

  PetscFunctionBegin;
  *more = PCColumnRelaxes(col)                           ? "line relaxation"
          : col->rings.periodic                          ? "periodic columns"
          : col->precision == PC_COLUMN_PRECISION_SINGLE ? "columns in single precision"
                                                         : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_Column(PC pc, PetscViewer viewer)
{
  PC_Column *col = (PC_Column *)pc->data;
  StrataGrid g = col->grid;
  PetscBool  ascii;
  char       words[128];

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (!g) {
    PCColumnNameAxes(col, words);
    PetscCall(PetscViewerASCIIPrintf(viewer, "  columns along axis %s, not set up\n", words));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (col->turns) {
    PetscCall(PCColumnViewTurns(pc, viewer));
    PetscCall(PCColumnViewSweep(pc, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (col->list.section)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " columns of %" PetscInt_FMT " to %" PetscInt_FMT " rows, as listed\n",
                                     col->list.count, col->list.shortest, col->list.longest));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " columns of %" PetscInt_FMT " cells along axis %c (%s)\n",
                                     g->N[col->along == 0 ? 1 : 0] * g->N[col->along == 2 ? 1 : 2], g->N[col->along], (char)('x' + col->along),
                                     col->runs                     ? "runs of rows"
                                     : col->axis < 0 && g->dim > 1 ? "auto: the strongest coupling"
                                     : col->axis < 0               ? "auto: the only axis"
                                                                   : "as asked for"));
  if (col->ranks.cut)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  cut by %" PetscInt_FMT " ranks: pieces joined by a small system, in %s memory\n",
                                     g->procs[col->along], PetscMemTypeDevice(col->applied ? col->worked : col->home) ? "CUDA" : "host"));
  else {
    const PetscMemType      type = col->applied ? col->worked : col->home;
    const PCColumnAlgorithm used = col->applied ? col->used : PCColumnChoose(col, PETSC_FALSE, type);

    PetscCall(PetscViewerASCIIPrintf(viewer, "  algorithm %s (%s), in %s memory%s\n", PCColumnAlgorithms[used],
                                     col->algorithm == PC_COLUMN_AUTO ? "auto" : "as asked for", PetscMemTypeDevice(type) ? "CUDA" : "host",
                                     used != PC_COLUMN_THOMAS && !col->plain.symmetric             ? "; transpose by thomas"
                                     : col->algorithm == PC_COLUMN_PCR && used == PC_COLUMN_THOMAS ? " instead of pcr"
                                                                                                   : ""));
    if (used == PC_COLUMN_PARTITION)
      PetscCall(PetscViewerASCIIPrintf(viewer, "  one number stored for each segment of at most %d cells%s\n", STRATA_SEGMENT_LONG,
                                       col->c && !col->divides     ? "; rows made for each cell, since a column has an area of zero or out of range"
                                       : col->started && col->sums ? "; shared rows of a symmetric M-matrix: by running sums"
                                                                   : ""));
  }
  PetscCall(PCColumnViewSweep(pc, viewer));
  if (col->precision == PC_COLUMN_PRECISION_SINGLE) PetscCall(PetscViewerASCIIPrintf(viewer, "  solves in single precision\n"));
  if (col->rings.periodic)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  periodic: each column is cut at its last cell; %s\n",
                                     col->rings.same ? "one number stored for each level, since all columns are the same"
                                                     : "one number stored for each cell"));
  if (col->c)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  coefficients of the operator in form %s, %s\n", MatStrataForms[col->c->form],
                                     col->rings.periodic && col->lower.bytes ? "rows stored for each cell"
                                     : col->excess.bytes                     ? "one number stored for each cell"
                                                                             : "nothing stored for each cell"));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  coefficients read from the matrix of type %s, in form %s\n", ((PetscObject)pc->pmat)->type_name,
                                     MatStrataForms[col->plain.symmetric && !col->ranks.cut ? MAT_STRATA_FACES : MAT_STRATA_LEGS]));
  if (col->singular) PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " singular columns, solved up to a constant\n", col->singular));
  if (col->failure) {
    PetscCall(PCColumnRowWords(col, col->failedrow, words, sizeof(words)));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  failed: %s in %s\n", col->failure, words));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_Column(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_Column(pc));
  PetscCall(PCColumnCompose(pc, PETSC_FALSE));
  PetscCall(PetscSectionDestroy(&((PC_Column *)pc->data)->list.section));
  PetscCall(ISDestroy(&((PC_Column *)pc->data)->list.rows));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCCOLUMN = "column" - Solves every column of a structured grid exactly: what couples cells along one axis is inverted, what couples
   them along the others stays in the diagonal

   Options Database Keys:
+  -pc_column_axis <x,y,z,auto,xz,...,all> - the axis of the columns, see `PCColumnSetAxis()`, or axes in turn, see `PCColumnSetAxes()`
.  -pc_column_size <size>        - rows of a column, for a matrix without a grid, see `PCColumnSetSize()`
.  -pc_column_grid <nx,ny,nz>    - the grid, for a matrix without one, see `PCColumnSetGrid()`
.  -pc_column_algorithm <auto,thomas,partition,twoway,pcr> - how columns are solved, see `PCColumnSetAlgorithm()`
.  -pc_column_sweep <jacobi,redblack,symmetric> - the order in which columns are corrected, see `PCColumnSetSweep()`
.  -pc_column_omega <omega>      - the weight of corrections, see `PCColumnSetOmega()`
.  -pc_column_its <its>          - iterations of line relaxation, see `PCColumnSetIterations()`
-  -pc_column_precision <same,single> - the precision of the solve, see `PCColumnSetPrecision()`

   Level: beginner

   Notes:
   It is the preconditioner of choice for flat and layered problems, where the coupling along one axis is much stronger than along the others.

   Columns may be listed, see `PCColumnSetColumns()`. Otherwise they are those of a grid: that of the `MATSTRATA` operator, else the one that was set, else that of the `DMDA` of the `PC`, of the matrix from which the
   preconditioner is built, or of the operator. The matrix is a `MATSTRATA` operator, of which nothing but its own few numbers is stored
   in constant and tensor form, or any `MATAIJ` or `MATAIJCUSPARSE`, of which the entries on the columns are read, where the matrix is.

   Each column is a tridiagonal system, factored anew at each use, in terms of row sums, so that the columns of an M-matrix suffer no
   cancellation: by the algorithm of Thomas, or cut into segments that are solved side by side, see `PCColumnSetAlgorithm()`. Work is done
   where the vectors are, on the host or on the GPU; an algorithm gives the same bits on both.

   Where ranks cut columns, each eliminates its pieces, and these are joined by a small system across the ranks of a column, as if columns were whole:
   for each column two numbers travel, no column is gathered.

   Columns may be made of several parts that are not coupled (masked cells). A part without any excess, that is with zero flux at all its
   ends and no other coupling, is singular: it is solved up to a constant, with the value 0 in its last cell. A single row that is zero is taken for
   such a part if the matrix has a null space attached. Any other zero pivot, NaN or infinity makes the set-up fail in the way of factorizations
   (`KSP_DIVERGED_PC_FAILED`); `-ksp_view` and `-info` name the row.

   Along a periodic axis columns are rings. A ring is cut at its last cell, which is eliminated last: the solve of the other cells is that of a column
   with two ends, and its correction is one number stored for each cell, or for each level if all rings are the same. A ring without any excess is
   singular and solved up to a constant, with the value 0 in its last cell.

   The preconditioner of a `MATSTRATA` operator always follows the operator, even under `PCSetReusePreconditioner()`; changes of nothing but scale and
   shift are free.

   Line relaxation solves the columns of one colour after those of the other, see `PCColumnSetSweep()`: a smoother of multigrid, and a better
   preconditioner at about twice the cost.

   `PCApplyRichardson()` does a fixed number of iterations. `KSPRICHARDSON` uses it if it has no norm to test (`KSP_NORM_NONE`).

.seealso: `PCColumnSetAxis()`, `PCColumnSetAxes()`, `PCColumnSetSize()`, `PCColumnSetGrid()`, `PCColumnSetColumns()`, `PCColumnSetAlgorithm()`, `PCColumnSetSweep()`, `PCColumnSetOmega()`,
          `PCColumnSetIterations()`, `PCColumnSetPrecision()`, `MATSTRATA`, `MatCreateStrata()`, `PCCreate()`, `PCSetType()`, `PCType`, `PC`
M*/
PetscErrorCode PCCreate_Column(PC pc)
{
  PC_Column *col;

  PetscFunctionBegin;
  PetscCall(PetscNew(&col));
  pc->data = col;
  col->axis = PETSC_DETERMINE;
  col->omega = 1;
  col->its = 1;
  col->failedrow = -1;
  col->home = PETSC_MEMTYPE_HOST;
  pc->ops->setup = PCSetUp_Column;
  pc->ops->apply = PCApply_Column;
  pc->ops->applytranspose = PCApplyTranspose_Column;
  pc->ops->applyrichardson = PCApplyRichardson_Column;
  pc->ops->matapply = PCMatApply_Column;
  pc->ops->presolve = PCPreSolve_Column;
  pc->ops->postsolve = PCPostSolve_Column;
  pc->ops->setfromoptions = PCSetFromOptions_Column;
  pc->ops->view = PCView_Column;
  pc->ops->reset = PCReset_Column;
  pc->ops->destroy = PCDestroy_Column;
  PetscCall(PCColumnCompose(pc, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
