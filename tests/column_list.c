/*
   PCCOLUMN with columns that are listed
*/
/* ranks: 1 2 3 */
#include "columns.h"
#include <petscsection.h>

/* The list of this rank: columns of lengths from 0 on, their rows in any order */
typedef struct {
  PetscInt     columns, rows, first;
  PetscInt    *offset; /* columns + 1 of these */
  PetscSection section;
  IS           is;
} List;

static PetscErrorCode MakeSection(List *l)
{
  PetscFunctionBeginUser;
  PetscCall(PetscSectionCreate(PETSC_COMM_SELF, &l->section));
  PetscCall(PetscSectionSetChart(l->section, 0, l->columns));
  for (PetscInt c = 0; c < l->columns; c++) PetscCall(PetscSectionSetDof(l->section, c, l->offset[c + 1] - l->offset[c]));
  PetscCall(PetscSectionSetUp(l->section));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* order: rows one behind the other, or scattered */
static PetscErrorCode MakeList(PetscInt columns, PetscInt longest, PetscBool scattered, List *l)
{
  PetscInt *row;

  PetscFunctionBeginUser;
  l->columns = columns;
  PetscCall(PetscMalloc1(columns + 1, &l->offset));
  l->offset[0] = 0;
  for (PetscInt c = 0; c < columns; c++) l->offset[c + 1] = l->offset[c] + (PetscInt)Random(c, 60 + rank, c ? 0 : longest, longest + 0.99);
  l->rows = l->offset[columns];
  PetscCallMPI(MPI_Exscan(&l->rows, &l->first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (!rank) l->first = 0;
  PetscCall(PetscMalloc1(l->rows, &row));
  for (PetscInt i = 0; i < l->rows; i++) row[i] = l->first + i;
  for (PetscInt i = l->rows - 1; i > 0 && scattered; i--) {
    const PetscInt j = (PetscInt)Random(i, 61, 0, i + 0.99), t = row[i];

    row[i] = row[j];
    row[j] = t;
  }
  PetscCall(MakeSection(l));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, l->rows, row, PETSC_OWN_POINTER, &l->is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeList(List *l)
{
  PetscFunctionBeginUser;
  PetscCall(PetscSectionDestroy(&l->section));
  PetscCall(ISDestroy(&l->is));
  PetscCall(PetscFree(l->offset));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix with entries between all rows of a column that follow each other, and others elsewhere. Its columns as entries: a[], for each place in
   the list lower, diagonal, upper. */
static PetscErrorCode MakeMatrix(const List *l, PetscBool symmetric, PetscBool cuda, Mat *A, PetscScalar (*a)[3])
{
  const PetscInt *row;
  PetscInt        total;

  PetscFunctionBeginUser;
  PetscCall(ISGetIndices(l->is, &row));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, l->rows, l->rows, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, cuda ? MATAIJCUSPARSE : MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*A, 8, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 8, NULL, 4, NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetSize(*A, &total, NULL));
  for (PetscInt i = 0; i < l->rows; i++) { /* not in columns: overwritten where it is */
    const PetscInt to = (row[i] + 5) % total;

    if (to != row[i]) PetscCall(MatSetValue(*A, row[i], to, -0.25, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FLUSH_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FLUSH_ASSEMBLY));
  for (PetscInt c = 0; c < l->columns; c++)
    for (PetscInt i = l->offset[c]; i < l->offset[c + 1]; i++) {
      a[i][0] = i > l->offset[c] ? Random(i, 70, -2, symmetric ? -0.1 : 2) : 0;
      a[i][2] = i < l->offset[c + 1] - 1 ? Random(symmetric ? i + 1 : i, symmetric ? 70 : 71, -2, symmetric ? -0.1 : 2) : 0;
      a[i][1] = PetscAbsScalar(a[i][0]) + PetscAbsScalar(a[i][2]) + Random(i, 72, 0.1, 1);
      if (i > l->offset[c]) PetscCall(MatSetValue(*A, row[i], row[i - 1], a[i][0], INSERT_VALUES));
      PetscCall(MatSetValue(*A, row[i], row[i], a[i][1], INSERT_VALUES));
      if (i < l->offset[c + 1] - 1) PetscCall(MatSetValue(*A, row[i], row[i + 1], a[i][2], INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(ISRestoreIndices(l->is, &row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solution of the columns, or of their transpose, in long double */
static PetscErrorCode Solve(const List *l, PetscScalar (*a)[3], PetscBool transpose, Vec r, Vec z)
{
  const PetscInt    *row;
  const PetscScalar *ar;
  PetscScalar       *az;
  long double       *den, *y;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(l->rows, &den, l->rows, &y));
  PetscCall(ISGetIndices(l->is, &row));
  PetscCall(VecGetArrayRead(r, &ar));
  PetscCall(VecGetArrayWrite(z, &az));
  for (PetscInt c = 0; c < l->columns; c++) {
    for (PetscInt i = l->offset[c]; i < l->offset[c + 1]; i++) {
      den[i] = a[i][1];
      y[i] = ar[row[i] - l->first];
      if (i == l->offset[c]) continue;
      den[i] -= (long double)a[i][0] * a[i - 1][2] / den[i - 1];
      y[i] -= (transpose ? a[i - 1][2] : a[i][0]) / den[i - 1] * y[i - 1];
    }
    for (PetscInt i = l->offset[c + 1] - 1; i >= l->offset[c]; i--) {
      if (i < l->offset[c + 1] - 1) y[i] -= (transpose ? a[i + 1][0] : a[i][2]) * y[i + 1];
      y[i] /= den[i];
      az[row[i] - l->first] = (PetscScalar)y[i];
    }
  }
  PetscCall(VecRestoreArrayRead(r, &ar));
  PetscCall(VecRestoreArrayWrite(z, &az));
  PetscCall(ISRestoreIndices(l->is, &row));
  PetscCall(PetscFree2(den, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSolves(void)
{
  static const PetscInt sizes[][2] = {{1, 1}, {1, 50}, {7, 1}, {40, 3}, {150, 23}, {3, 700}}; /* columns, the longest */

  PetscFunctionBeginUser;
  for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++)
    for (int kind = 0; kind < 4; kind++)
      for (int m = PC_COLUMN_THOMAS; m <= PC_COLUMN_PCR; m++) {
        Vec host = NULL;

        for (int device = 0; device <= TapHasDevice(); device++) {
          const PetscBool symmetric = kind % 2 ? PETSC_TRUE : PETSC_FALSE, scattered = kind / 2 ? PETSC_TRUE : PETSC_FALSE;
          List            l;
          Mat             A, R, Z;
          PC              pc;
          Vec             r, z, exact, x[2], column;
          PetscScalar(*a)[3];
          PetscReal d, norm;
          PetscInt  its;
          char      name[128];

          PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s, %d columns of at most %d rows, %s, %s", device ? "CUDA " : "", PCColumnAlgorithms[m],
                                  (int)sizes[s][0], (int)sizes[s][1], symmetric ? "symmetric" : "not symmetric",
                                  scattered ? "scattered" : "one behind the other"));
          PetscCall(MakeList(!s && rank == 1 ? 0 : sizes[s][0], sizes[s][1], scattered, &l)); /* a rank without rows */
          PetscCall(PetscMalloc1(l.rows, &a));
          PetscCall(MakeMatrix(&l, symmetric, device ? PETSC_TRUE : PETSC_FALSE, &A, a));
          PetscCall(MatCreateVecs(A, &z, &r));
          PetscCall(VecDuplicate(r, &exact));
          for (PetscInt i = 0; i < l.rows; i++) PetscCall(VecSetValue(r, l.first + i, Random(l.first + i, 73, -1, 1), INSERT_VALUES));
          PetscCall(VecAssemblyBegin(r));
          PetscCall(VecAssemblyEnd(r));
          algorithm = (PCColumnAlgorithm)m;
          PetscCall(MakePC(A, PETSC_DETERMINE, &pc));
          algorithm = PC_COLUMN_AUTO;
          PetscCall(PCColumnSetColumns(pc, l.section, l.is));
          for (int single = 0; single < 2; single++) {
            PetscCall(PCColumnSetPrecision(pc, single ? PC_COLUMN_PRECISION_SINGLE : PC_COLUMN_PRECISION_SAME));
            for (int transpose = 0; transpose < 2; transpose++) {
              PetscCall(Solve(&l, a, transpose ? PETSC_TRUE : PETSC_FALSE, r, exact));
              PetscCall(VecNorm(exact, NORM_INFINITY, &norm));
              PetscCall(VecSet(z, NAN));
              PetscCall(transpose ? PCApplyTranspose(pc, r, z) : PCApply(pc, r, z));
              PetscCall(Difference(z, exact, &d));
              ok(d <= (single ? 1e-5 : 1e-14) * norm, "%s%s%s: error %.1e", name, transpose ? ", transpose" : "", single ? ", single precision" : "",
                 (double)(d / norm));
            }
          }
          PetscCall(PCColumnSetPrecision(pc, PC_COLUMN_PRECISION_SAME));
          PetscCall(PCApply(pc, r, z));
          if (device) {
            PetscCall(Difference(z, host, &d));
            ok(d == 0, "%s: the same bits as on the host", name);
          } else {
            PetscCall(VecDuplicate(z, &host));
            PetscCall(VecCopy(z, host));
          }
          for (int plain = 0; plain < 2; plain++) { /* added to a vector */
            PCRichardsonConvergedReason reason;

            PetscCall(VecDuplicate(r, &x[plain]));
            PetscCall(VecCopy(r, x[plain]));
            if (!plain)
              PetscCall(PCApplyRichardson(pc, r, x[plain], z, 0, 0, 0, 1, PETSC_FALSE, &its, &reason));
            else {
              PetscCall(MatMult(A, x[plain], z));
              PetscCall(VecAYPX(z, -1, r));
              PetscCall(PCApply(pc, z, exact));
              PetscCall(VecAXPY(x[plain], 1, exact));
            }
          }
          PetscCall(Difference(x[0], x[1], &d));
          ok(d <= 1e-14, "%s: PCApplyRichardson()", name);
          PetscCall(VecDestroy(&x[0]));
          PetscCall(VecDestroy(&x[1]));
          PetscCall(MatCreateDense(PETSC_COMM_WORLD, l.rows, PETSC_DECIDE, PETSC_DECIDE, 2, NULL, &R));
          for (PetscInt v = 0; v < 2; v++) {
            PetscCall(MatDenseGetColumnVecWrite(R, v, &column));
            PetscCall(VecCopy(r, column));
            PetscCall(VecScale(column, v ? 2 : 1));
            PetscCall(MatDenseRestoreColumnVecWrite(R, v, &column));
          }
          PetscCall(MatDuplicate(R, MAT_DO_NOT_COPY_VALUES, &Z));
          PetscCall(PCMatApply(pc, R, Z));
          PetscCall(PCApply(pc, r, z));
          PetscCall(VecScale(z, 2));
          PetscCall(MatDenseGetColumnVecRead(Z, 1, &column));
          PetscCall(Difference(column, z, &d));
          PetscCall(MatDenseRestoreColumnVecRead(Z, 1, &column));
          ok(d <= 1e-14, "%s: PCMatApply()", name);
          PetscCall(MatDestroy(&R));
          PetscCall(MatDestroy(&Z));
          PetscCall(PCDestroy(&pc));
          PetscCall(VecDestroy(&r));
          PetscCall(VecDestroy(&z));
          PetscCall(VecDestroy(&exact));
          PetscCall(MatDestroy(&A));
          PetscCall(PetscFree(a));
          PetscCall(FreeList(&l));
        }
        PetscCall(VecDestroy(&host));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A list of this rank with one entry made wrong: what set-up says */
static PetscErrorCode CheckWrong(PetscInt place, PetscInt value, PetscInt less, PetscErrorCode code, const char *words, const char *name)
{
  List            l;
  Mat             A;
  PC              pc;
  IS              is;
  const PetscInt *row;
  PetscInt       *copy;
  PetscScalar(*a)[3];

  PetscFunctionBeginUser;
  PetscCall(MakeList(5, 4, PETSC_FALSE, &l));
  PetscCall(PetscMalloc1(l.rows, &a));
  PetscCall(MakeMatrix(&l, PETSC_TRUE, PETSC_FALSE, &A, a));
  PetscCall(ISGetIndices(l.is, &row));
  PetscCall(PetscMalloc1(l.rows, &copy));
  PetscCall(PetscArraycpy(copy, row, l.rows));
  PetscCall(ISRestoreIndices(l.is, &row));
  if (rank == size - 1 && place >= 0) copy[place] = value < 0 ? value : l.first + value;
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, l.rows - (rank == size - 1 ? less : 0), copy, PETSC_OWN_POINTER, &is));
  PetscCall(MakePC(A, PETSC_DETERMINE, &pc));
  PetscCall(PCColumnSetColumns(pc, l.section, is));
  is_error(PCSetUp(pc), code, words, "%s", name);
  PetscCall(PCColumnSetColumns(pc, NULL, NULL)); /* taken back, it does without */
  PetscCall(PCColumnSetSize(pc, 1));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(ISDestroy(&is));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFree(a));
  PetscCall(FreeList(&l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckErrors(void)
{
  const PetscInt n[3] = {4, 4, 4};
  List           l;
  Mat            A;
  DM             dm;
  PC             pc;
  PetscScalar(*a)[3];

  PetscFunctionBeginUser;
  PetscCall(CheckWrong(2, 1, 0, PETSC_ERR_ARG_WRONG, TapText("twice column 0 of rank %d", (int)size - 1), "a row that is listed twice"));
  PetscCall(CheckWrong(1, -7, 0, PETSC_ERR_ARG_OUTOFRANGE, "Row -7 column 0 not one of its rows", "a row that no rank has"));
  PetscCall(CheckWrong(0, 100000, 0, PETSC_ERR_ARG_OUTOFRANGE, "not one of its rows whole on one rank", "a row that this rank has not"));
  PetscCall(CheckWrong(-1, 0, 1, PETSC_ERR_ARG_OUTOFRANGE, "place index set as many rows as its section", "an index set that is too short"));
  PetscCall(MakeList(5, 4, PETSC_FALSE, &l));
  PetscCall(PetscMalloc1(l.rows, &a));
  PetscCall(MakeMatrix(&l, PETSC_TRUE, PETSC_FALSE, &A, a));
  {
    PetscSection fewer;

    PetscCall(PetscSectionCreate(PETSC_COMM_SELF, &fewer));
    PetscCall(PetscSectionSetChart(fewer, 0, 1));
    PetscCall(PetscSectionSetDof(fewer, 0, 3));
    PetscCall(PetscSectionSetUp(fewer));
    PetscCall(MakePC(A, PETSC_DETERMINE, &pc));
    PetscCall(PCColumnSetColumns(pc, fewer, l.is));
    is_error(PCSetUp(pc), PETSC_ERR_ARG_WRONG, "Row 3 of rank 0 is in no column", "a row that is not listed");
    PetscCall(PCDestroy(&pc));
    PetscCall(PetscSectionDestroy(&fewer));
  }
  PetscCall(MakePC(A, 0, &pc));
  PetscCall(PCColumnSetColumns(pc, l.section, l.is));
  is_error(PCSetUp(pc), PETSC_ERR_ARG_INCOMP, "no axis PCColumnSetColumns()", "a list and an axis");
  is_error(PCColumnSetColumns(pc, l.section, NULL), PETSC_ERR_ARG_NULL, "section index set", "a section alone");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MakeGrid(3, n, 2, 0, PETSC_FALSE, &dm));
  PetscCall(MakeOperator(dm, FACES, 2, PETSC_FALSE, PETSC_FALSE, &A));
  PetscCall(MakePC(A, PETSC_DETERMINE, &pc));
  PetscCall(PCColumnSetColumns(pc, l.section, l.is));
  is_error(PCSetUp(pc), PETSC_ERR_SUP, "listed aij not strata PCColumnSetColumns()", "a list for a Strata operator");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFree(a));
  PetscCall(FreeList(&l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers that cannot be solved: column and row are named; view and functions */
static PetscErrorCode CheckNames(void)
{
  List            l;
  Mat             A;
  PC              pc;
  Vec             r, z;
  PetscSection    section;
  IS              is;
  const PetscInt *row;
  PetscInt        bad, size_got, at, column = 0;
  PetscReal       norm;
  PCFailedReason  reason;
  char            text[4096];
  PetscScalar(*a)[3];

  PetscFunctionBeginUser;
  PetscCall(MakeList(9, 6, PETSC_TRUE, &l));
  PetscCall(PetscMalloc1(l.rows, &a));
  PetscCall(MakeMatrix(&l, PETSC_TRUE, PETSC_FALSE, &A, a));
  PetscCall(MakePC(A, PETSC_DETERMINE, &pc));
  PetscCall(PCColumnSetColumns(pc, l.section, l.is));
  PetscCall(PCColumnGetColumns(pc, &section, &is));
  ok(section == l.section && is == l.is, "PCColumnGetColumns()");
  PetscCall(PCSetUp(pc));
  PetscCall(PCColumnGetSize(pc, &size_got));
  is_int(size_got, 0, "columns that are listed have no common size");
  PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
  has_words(text, "columns to 6 rows, as listed", "view");
  PetscCall(MatCreateVecs(A, &z, &r));
  PetscCall(VecSet(r, 1));
  PetscCall(ISGetIndices(l.is, &row));
  at = l.rows - 1;
  while (column < l.columns && l.offset[column + 1] <= at) column++;
  bad = row[at];
  at -= l.offset[column];
  for (int kind = 0; kind < 2; kind++) {
    PetscInt name[3] = {bad, at, column};

    PetscCallMPI(MPI_Bcast(name, 3, MPIU_INT, size - 1, PETSC_COMM_WORLD));
    if (rank == size - 1) {
      PetscCall(MatSetValue(A, bad, bad, kind ? NAN : 0, INSERT_VALUES));
      for (PetscInt i = l.offset[column]; i < l.offset[column + 1] && !kind; i++)
        if (row[i] != bad) {
          PetscCall(MatSetValue(A, bad, row[i], 0, INSERT_VALUES));
          PetscCall(MatSetValue(A, row[i], bad, 0, INSERT_VALUES));
        }
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(PCSetUp(pc));
    PetscCall(PCGetFailedReason(pc, &reason));
    is_int(reason, kind ? PC_FACTOR_OTHER : PC_FACTOR_NUMERIC_ZEROPIVOT, "%s: the reason", kind ? "NaN" : "a row of zeros");
    PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
    has_words(text,
              TapText("failed: %s row %d, row %d of column %d of rank %d", kind ? "NaN" : "zero pivot", (int)name[0], (int)name[1], (int)name[2],
                      (int)size - 1),
              "%s: view names row and column", kind ? "NaN" : "a row of zeros");
    PetscCall(PCApply(pc, r, z));
    PetscCall(VecNorm(z, NORM_INFINITY, &norm));
    ok(PetscIsInfOrNanReal(norm), "%s: no number comes out", kind ? "NaN" : "a row of zeros");
  }
  PetscCall(ISRestoreIndices(l.is, &row));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFree(a));
  PetscCall(FreeList(&l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(ColumnsBegin(&argc, &argv));
  PetscCall(CheckSolves());
  PetscCall(CheckErrors());
  PetscCall(CheckNames());
  return TapEnd();
}
