/*
   Columns of any lengths and rows: listed by a section and an index set. They are put end to end into a few long lines side by side, not coupled
   to each other, with identity rows behind the last ones.
*/
#include "columnimpl.h"

/* Lines side by side at most */
#define LINES 64

/* What can be wrong with a list, in the order in which it is found */
enum { LIST_FINE, LIST_OUTSIDE, LIST_FOREIGN, LIST_TWICE, LIST_MISSING };

/* Reads the list of this rank: the column of each row and its place there. bad: what is wrong, column, row */
static PetscErrorCode PCColumnListRead(PCColumnList *list, PetscInt rows, PetscInt first, const PetscInt *row, PetscInt count, PetscInt bad[3])
{
  PetscInt from, to;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < rows; i++) list->place[i] = -1;
  PetscCall(PetscSectionGetChart(list->section, &from, &to));
  for (PetscInt c = from; c < to; c++) {
    PetscInt length, offset;

    PetscCall(PetscSectionGetDof(list->section, c, &length));
    PetscCall(PetscSectionGetOffset(list->section, c, &offset));
    for (PetscInt k = 0; k < length; k++) {
      const PetscInt at = offset + k, local = at >= 0 && at < count ? row[at] - first : -1;

      bad[1] = c;
      bad[2] = at >= 0 && at < count ? row[at] : at;
      if (at < 0 || at >= count)
        bad[0] = LIST_OUTSIDE;
      else if (local < 0 || local >= rows)
        bad[0] = LIST_FOREIGN;
      else if (list->place[local] >= 0)
        bad[0] = LIST_TWICE;
      if (bad[0]) PetscFunctionReturn(PETSC_SUCCESS);
      list->column[local] = c;
      list->place[local] = k;
    }
  }
  for (PetscInt i = 0; i < rows && !bad[0]; i++)
    if (list->place[i] < 0) {
      bad[0] = LIST_MISSING;
      bad[2] = first + i;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fails on all ranks if the list of one is wrong */
static PetscErrorCode PCColumnListCheck(PC pc, PetscInt count, PetscInt bad[3])
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)pc);
  PetscInt    first, last;
  PetscMPIInt rank, size, worst;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  worst = bad[0] ? rank : size;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MIN, comm));
  if (worst == size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(bad, 3, MPIU_INT, worst, comm));
  PetscCallMPI(MPI_Bcast(&count, 1, MPIU_INT, worst, comm));
  PetscCall(MatGetOwnershipRange(pc->pmat, &first, &last));
  PetscCallMPI(MPI_Bcast(&first, 1, MPIU_INT, worst, comm));
  PetscCallMPI(MPI_Bcast(&last, 1, MPIU_INT, worst, comm));
  PetscCheck(bad[0] != LIST_OUTSIDE, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "Column %" PetscInt_FMT " of rank %d reaches to place %" PetscInt_FMT " of the index set, which has %" PetscInt_FMT
             " rows there: PCColumnSetColumns() needs as many rows as its section has",
             bad[1], worst, bad[2], count);
  PetscCheck(bad[0] != LIST_FOREIGN, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "Row %" PetscInt_FMT " in column %" PetscInt_FMT " of rank %d is not one of its rows, %" PetscInt_FMT " to %" PetscInt_FMT
             ": PCColumnSetColumns() needs global rows, and each column whole on one rank",
             bad[2], bad[1], worst, first, last - 1);
  PetscCheck(bad[0] != LIST_TWICE, comm, PETSC_ERR_ARG_WRONG,
             "Row %" PetscInt_FMT " is listed twice, the second time in column %" PetscInt_FMT
             " of rank %d: PCColumnSetColumns() needs each row in one column",
             bad[2], bad[1], worst);
  SETERRQ(comm, PETSC_ERR_ARG_WRONG,
          "Row %" PetscInt_FMT " of rank %d is in no column: PCColumnSetColumns() needs each row in one column, perhaps one of its own", bad[2],
          worst);
}

/* Puts the columns into lines, each behind the shortest line */
static PetscErrorCode PCColumnListPack(PCColumnList *list, PetscInt longest, PetscInt rows, PetscInt first, const PetscInt *row)
{
  PetscInt  from, to, filled[LINES] = {0}, levels = 0, width;
  int      *cell;
  PetscInt *line;

  PetscFunctionBegin;
  PetscCall(PetscSectionGetChart(list->section, &from, &to));
  width = longest ? PetscMin(PetscMax(rows / longest, 1), LINES) : 1;
  PetscCall(PetscMalloc1(to - from, &line));
  for (PetscInt c = from; c < to; c++) {
    PetscInt length, best = 0;

    for (PetscInt w = 1; w < width; w++)
      if (filled[w] < filled[best]) best = w;
    PetscCall(PetscSectionGetDof(list->section, c, &length));
    line[c - from] = best;
    filled[best] += length;
    levels = PetscMax(levels, filled[best]);
  }
  list->n[0] = (int)width;
  list->n[1] = 1;
  list->n[2] = (int)levels;
  PetscCall(StrataArrayDestroy(&list->cell));
  PetscCall(StrataArrayCreate(&list->cell, (size_t)(width * levels) * sizeof(int)));
  PetscCall(StrataArrayWrite(&list->cell, PETSC_MEMTYPE_HOST, &cell));
  for (PetscInt i = 0; i < width * levels; i++) cell[i] = -1;
  for (PetscInt w = 0; w < width; w++) filled[w] = 0;
  for (PetscInt c = from; c < to; c++) {
    PetscInt length, offset;

    PetscCall(PetscSectionGetDof(list->section, c, &length));
    PetscCall(PetscSectionGetOffset(list->section, c, &offset));
    for (PetscInt k = 0; k < length; k++) cell[line[c - from] + width * filled[line[c - from]]++] = (int)(row[offset + k] - first);
  }
  PetscCall(PetscFree(line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lines of a list, and a grid of the rows without columns for all that knows nothing of lists */
PetscErrorCode PCColumnListFind(PC pc)
{
  PC_Column      *col = (PC_Column *)pc->data;
  PCColumnList   *list = &col->list;
  MPI_Comm        comm = PetscObjectComm((PetscObject)pc);
  PetscBool       aij;
  PetscInt        rows, first, total, count, from, to, bad[3] = {LIST_FINE, -1, -1}, number[3] = {0, 0, PETSC_MIN_INT};
  const PetscInt *row;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCheck(aij, comm, PETSC_ERR_SUP,
             "Columns that are listed are those of a matrix of type %s, not %s: leave out PCColumnSetColumns(), or use -mat_type aij", MATAIJ,
             ((PetscObject)pc->pmat)->type_name);
  PetscCheck(!col->several && col->axis == PETSC_DETERMINE, comm, PETSC_ERR_ARG_INCOMP,
             "Columns that are listed have no axis: leave out -pc_column_axis, or PCColumnSetColumns()");
  PetscCall(MatGetLocalSize(pc->pmat, &rows, NULL));
  PetscCall(MatGetSize(pc->pmat, &total, NULL));
  PetscCall(MatGetOwnershipRange(pc->pmat, &first, NULL));
  PetscCall(ISGetLocalSize(list->rows, &count));
  PetscCall(ISGetIndices(list->rows, &row));
  PetscCall(PCColumnListReset(col));
  PetscCall(PetscMalloc2(rows, &list->column, rows, &list->place));
  PetscCall(PCColumnListRead(list, rows, first, row, count, bad));
  if (bad[0]) PetscCall(ISRestoreIndices(list->rows, &row));
  PetscCall(PCColumnListCheck(pc, count, bad));
  PetscCall(StrataGridCreateSlabs(comm, 1, &total, rows, &col->grid));
  PetscCall(PetscSectionGetChart(list->section, &from, &to));
  for (PetscInt c = from; c < to; c++) {
    PetscInt length;

    PetscCall(PetscSectionGetDof(list->section, c, &length));
    if (!length) continue;
    number[0]++;
    number[1] = PetscMax(number[1], length);
    number[2] = PetscMax(number[2], -length);
  }
  PetscCall(PCColumnListPack(list, number[1], rows, first, row));
  PetscCall(ISRestoreIndices(list->rows, &row));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &number[0], 1, MPIU_INT, MPI_SUM, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &number[1], 2, MPIU_INT, MPI_MAX, comm));
  list->count = number[0];
  list->longest = number[1];
  list->shortest = number[0] ? -number[2] : 0;
  col->along = 0;
  col->runs = col->rings.periodic = PETSC_FALSE;
  PetscCall(PCColumnRanksFind(col, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the rows of the lines on the host: of each row the entries of its neighbours in the column. The sum of a row is taken for zero where it is
   nothing but rounding. */
PetscErrorCode PCColumnListReadMatrix(PC pc, PetscInt *nonfinite)
{
  PC_Column   *col = (PC_Column *)pc->data;
  const int    width = col->list.n[0], cells = width * col->list.n[2], *cell;
  StrataArray *array[3] = {&col->lower, &col->upper, &col->excess};
  PetscScalar *a[3];
  PetscInt     first, bad = PETSC_MAX_INT;

  PetscFunctionBegin;
  col->home = PETSC_MEMTYPE_HOST;
  PetscCall(MatGetOwnershipRange(pc->pmat, &first, NULL));
  PetscCall(StrataArrayRead(&col->list.cell, PETSC_MEMTYPE_HOST, &cell));
  for (int m = 0; m < 3; m++) {
    PetscCall(StrataArrayDestroy(array[m]));
    PetscCall(StrataArrayCreate(array[m], (size_t)cells * sizeof(PetscScalar)));
    PetscCall(StrataArrayWrite(array[m], PETSC_MEMTYPE_HOST, &a[m]));
  }
  for (int i = 0; i < cells; i++) {
    PetscScalar        value[3] = {0, 1, 0}; /* behind the last column: an identity row */
    PetscInt           beside[3] = {-1, -1, -1}, count;
    const PetscInt    *to;
    const PetscScalar *v;
    PetscReal          sum, size;

    if (cell[i] >= 0) {
      for (int m = 0; m < 3; m++) {
        const int at = i + (m - 1) * width, row = at < 0 || at >= cells ? -1 : cell[at];

        if (row >= 0 && col->list.column[row] == col->list.column[cell[i]]) beside[m] = first + row;
      }
      value[1] = 0;
      PetscCall(MatGetRow(pc->pmat, first + cell[i], &count, &to, &v));
      for (PetscInt e = 0; e < count; e++) {
        if (PetscIsInfOrNanScalar(v[e])) bad = PetscMin(bad, first + cell[i]);
        for (int m = 0; m < 3; m++)
          if (to[e] == beside[m]) value[m] += v[e];
      }
      PetscCall(MatRestoreRow(pc->pmat, first + cell[i], &count, &to, &v));
    }
    sum = value[1] + value[0] + value[2];
    size = PetscAbsScalar(value[0]) + PetscAbsScalar(value[1]) + PetscAbsScalar(value[2]);
    a[0][i] = value[0];
    a[1][i] = value[2];
    a[2][i] = PetscAbsReal(sum) <= 8 * PETSC_MACHINE_EPSILON * size ? 0 : sum;
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &bad, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  *nonfinite = bad == PETSC_MAX_INT ? -1 : bad;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where a global row is, on all ranks */
PetscErrorCode PCColumnListRowWords(PC_Column *col, PetscInt row, char words[], size_t len)
{
  const PetscInt local = row - col->grid->start;
  PetscInt       at[3] = {-1, -1, -1};

  PetscFunctionBegin;
  if (local >= 0 && local < col->grid->size_local) {
    at[0] = col->grid->rank;
    at[1] = col->list.column[local];
    at[2] = col->list.place[local];
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, at, 3, MPIU_INT, MPI_MAX, col->grid->comm));
  PetscCall(PetscSNPrintf(words, len, "row %" PetscInt_FMT ", row %" PetscInt_FMT " of column %" PetscInt_FMT " of rank %" PetscInt_FMT, row, at[2],
                          at[1], at[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCColumnListReset(PC_Column *col)
{
  PetscFunctionBegin;
  PetscCall(StrataArrayDestroy(&col->list.cell));
  PetscCall(PetscFree2(col->list.column, col->list.place));
  PetscFunctionReturn(PETSC_SUCCESS);
}
