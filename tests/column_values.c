/*
   Known values of PCCOLUMN: short columns, a column of an ocean, columns that are singular or nearly so, by all algorithms
*/
/* ranks: 1 2 */
#include "columns.h"

/* Columns of so many rows, the same on each rank, given by lower, diagonal and upper entries */
static PetscErrorCode MakeRuns(PetscInt n, PetscInt count, const PetscScalar lower[], const PetscScalar diagonal[], const PetscScalar upper[],
                               PetscBool cuda, Mat *A)
{
  PetscInt start;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, n * count, n * count, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, cuda ? MATAIJCUSPARSE : MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*A, 3, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 3, NULL, 0, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, NULL));
  for (PetscInt i = 0; i < n * count; i++) {
    if (i % n) PetscCall(MatSetValue(*A, start + i, start + i - 1, lower[i % n], INSERT_VALUES));
    PetscCall(MatSetValue(*A, start + i, start + i, diagonal[i % n], INSERT_VALUES));
    if (i % n < n - 1) PetscCall(MatSetValue(*A, start + i, start + i + 1, upper[i % n], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves the columns by all algorithms; the error is at most so many rounding errors times the condition of the matrix in the largest norm */
static PetscErrorCode CheckColumns(PetscInt n, const PetscScalar lower[], const PetscScalar diagonal[], const PetscScalar upper[],
                                   PetscReal roundings, const char *name)
{
  long double *a, *x, *inverse, size = 0, sizeinverse = 0, largest = 0;
  PetscReal    bound;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(n * n, &a, n, &x, n, &inverse));
  for (PetscInt column = -1; column < n; column++) { /* the solution, then the columns of the inverse, whose rows are summed up */
    PetscCall(PetscArrayzero(a, n * n));
    for (PetscInt i = 0; i < n; i++) {
      if (i) a[i * n + i - 1] = lower[i];
      a[i * n + i] = diagonal[i];
      if (i < n - 1) a[i * n + i + 1] = upper[i];
      size = fmaxl(size, (i ? fabsl(a[i * n + i - 1]) : 0) + fabsl(a[i * n + i]) + (i < n - 1 ? fabsl(a[i * n + i + 1]) : 0));
    }
    if (column < 0) {
      for (PetscInt i = 0; i < n; i++) x[i] = Random(i, 50, -1, 1), inverse[i] = 0;
      DenseSolve((int)n, a, x);
      for (PetscInt i = 0; i < n; i++) largest = fmaxl(largest, fabsl(x[i]));
    } else {
      long double *e;

      PetscCall(PetscCalloc1(n, &e));
      e[column] = 1;
      DenseSolve((int)n, a, e);
      for (PetscInt i = 0; i < n; i++) inverse[i] += fabsl(e[i]);
      PetscCall(PetscFree(e));
    }
  }
  for (PetscInt i = 0; i < n; i++) sizeinverse = fmaxl(sizeinverse, inverse[i]);
  bound = (PetscReal)(roundings * PETSC_MACHINE_EPSILON * size * sizeinverse);
  for (int device = 0; device <= TapHasDevice(); device++)
    for (int m = PC_COLUMN_THOMAS; m <= PC_COLUMN_PCR; m++) {
      Mat                A;
      PC                 pc;
      Vec                r, z;
      PetscInt           start;
      const PetscScalar *got;
      long double        error = 0;

      PetscCall(MakeRuns(n, 3, lower, diagonal, upper, device ? PETSC_TRUE : PETSC_FALSE, &A));
      PetscCall(MatCreateVecs(A, &z, &r));
      PetscCall(VecGetOwnershipRange(r, &start, NULL));
      for (PetscInt i = 0; i < 3 * n; i++) PetscCall(VecSetValue(r, start + i, Random(i % n, 50, -1, 1), INSERT_VALUES));
      PetscCall(VecAssemblyBegin(r));
      PetscCall(VecAssemblyEnd(r));
      algorithm = (PCColumnAlgorithm)m;
      PetscCall(MakePC(A, PETSC_DETERMINE, &pc));
      algorithm = PC_COLUMN_AUTO;
      PetscCall(PCColumnSetSize(pc, n));
      PetscCall(PCApply(pc, r, z));
      PetscCall(VecGetArrayRead(z, &got));
      for (PetscInt i = 0; i < 3 * n; i++)
        if (!(fabsl(got[i] - x[i % n]) <= error)) error = fabsl(got[i] - x[i % n]);
      PetscCall(VecRestoreArrayRead(z, &got));
      ok(error <= bound * largest, "%s%s, %s: error %.1e, bound %.1e", device ? "CUDA " : "", PCColumnAlgorithms[m], name, (double)(error / largest),
         (double)bound);
      PetscCall(PCDestroy(&pc));
      PetscCall(VecDestroy(&r));
      PetscCall(VecDestroy(&z));
      PetscCall(MatDestroy(&A));
    }
  PetscCall(PetscFree3(a, x, inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Backward Euler of vertical diffusion in a column of 1 m2 with the levels of the Levitus climatology, mixed by convection down to 200 m */
static PetscErrorCode CheckOcean(void)
{
  enum { N = 20 };
  static const double edge[N + 1] = {0, 5, 15, 25, 40, 62.5, 87.5, 112.5, 137.5, 175, 225, 275, 350, 450, 550, 650, 750, 850, 950, 1050, 1150};
  const double        dt = 30 * 86400.;
  PetscScalar         lower[N], diagonal[N], upper[N];

  PetscFunctionBeginUser;
  for (int k = 0; k < N; k++) {
    const double k_up = edge[k] <= 200 ? 1 : 1e-4, k_down = edge[k + 1] <= 200 ? 1 : 1e-4;

    lower[k] = k ? -dt * k_up / ((edge[k + 1] - edge[k - 1]) / 2) : 0;
    upper[k] = k < N - 1 ? -dt * k_down / ((edge[k + 2] - edge[k]) / 2) : 0;
    diagonal[k] = edge[k + 1] - edge[k] - lower[k] - upper[k];
  }
  PetscCall(CheckColumns(N, lower, diagonal, upper, 8, "an ocean column"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without any excess: any right-hand side that the matrix can give has a solution up to a constant */
static PetscErrorCode CheckSingular(void)
{
  enum { N = 37 };
  PetscScalar lower[N], diagonal[N], upper[N];

  PetscFunctionBeginUser;
  for (int k = 0; k < N; k++) {
    lower[k] = k && k != 11 && k != 30 ? -1 - k % 4 : 0; /* three parts */
    upper[k] = k < N - 1 && k != 10 && k != 29 ? -1 - (k + 1) % 4 : 0;
    diagonal[k] = -lower[k] - upper[k];
  }
  for (int device = 0; device <= TapHasDevice(); device++)
    for (int m = PC_COLUMN_THOMAS; m <= PC_COLUMN_PCR; m++) {
      Mat       A;
      PC        pc;
      Vec       r, z, y;
      PetscReal d, norm;
      char      text[4096];

      PetscCall(MakeRuns(N, 2, lower, diagonal, upper, device ? PETSC_TRUE : PETSC_FALSE, &A));
      PetscCall(MatCreateVecs(A, &z, &r));
      PetscCall(VecDuplicate(r, &y));
      PetscCall(VecSetRandom(z, NULL));
      PetscCall(MatMult(A, z, r));
      algorithm = (PCColumnAlgorithm)m;
      PetscCall(MakePC(A, PETSC_DETERMINE, &pc));
      algorithm = PC_COLUMN_AUTO;
      PetscCall(PCColumnSetSize(pc, N));
      PetscCall(PCApply(pc, r, z));
      PetscCall(MatMult(A, z, y));
      PetscCall(VecAXPY(y, -1, r));
      PetscCall(VecNorm(y, NORM_INFINITY, &d));
      PetscCall(VecNorm(z, NORM_INFINITY, &norm));
      ok(d <= 1e-14 * norm, "%s%s, singular columns: residual %.1e", device ? "CUDA " : "", PCColumnAlgorithms[m], (double)(d / norm));
      PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
      has_words(text,
                TapText("%d singular columns algorithm %s", 6 * (int)size, m == PC_COLUMN_PCR ? "thomas instead of pcr" : PCColumnAlgorithms[m]),
                "singular columns: view");
      PetscCall(PCDestroy(&pc));
      PetscCall(VecDestroy(&r));
      PetscCall(VecDestroy(&z));
      PetscCall(VecDestroy(&y));
      PetscCall(MatDestroy(&A));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns of an area of zero, which a shift makes solvable, or of one that cannot be divided by, between others: all algorithms and sweeps agree */
static PetscErrorCode CheckAreas(PetscReal small, int periodic, int device)
{
  const PetscInt n[3] = {7, 5, 23};
  PetscScalar   *area, *alpha, *level;
  DMDALocalInfo  info;
  DM             dm;
  Mat            A;
  Vec            r, z, y;
  PetscInt       columns;

  PetscFunctionBeginUser;
  PetscCall(MakeGrid(3, n, 2, periodic ? 4 : 0, device ? PETSC_TRUE : PETSC_FALSE, &dm));
  PetscCall(DMDAGetLocalInfo(dm, &info));
  columns = info.xm * info.ym;
  PetscCall(PetscMalloc3(columns, &area, 4 * columns, &alpha, 4 * n[2], &level));
  for (PetscInt q = 0; q < columns; q++) {
    area[q] = q % 4 == 1 ? (q % 8 == 1 ? small : -0.0) : 1;
    for (int m = 0; m < 4; m++) alpha[q + m * columns] = area[q] == 1;
  }
  for (PetscInt k = 0; k < 4 * n[2]; k++) level[k] = k < n[2] ? 0.125 : -2;
  PetscCall(MatCreateStrata(dm, &A));
  PetscCall(MatStrataSetTensor(A, 2, columns, area, alpha, n[2], level));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatShift(A, 3));
  PetscCall(MakeVec(dm, 70, -1, 1, &r));
  PetscCall(VecDuplicate(r, &y));
  PetscCall(VecDuplicate(r, &z));
  for (int precision = 0; precision < 2; precision++)
    for (int sweep = PC_COLUMN_SWEEP_JACOBI; sweep <= PC_COLUMN_SWEEP_SYMMETRIC; sweep++)
      for (int m = PC_COLUMN_THOMAS; m <= PC_COLUMN_PCR; m++) {
        const PetscBool first = m == PC_COLUMN_THOMAS ? PETSC_TRUE : PETSC_FALSE;
        char            text[4096];
        PetscReal       d;
        PC              pc;

        algorithm = (PCColumnAlgorithm)m;
        PetscCall(MakePC(A, 2, &pc));
        algorithm = PC_COLUMN_AUTO;
        PetscCall(PCColumnSetSweep(pc, (PCColumnSweep)sweep));
        PetscCall(PCColumnSetPrecision(pc, (PCColumnPrecision)precision));
        PetscCall(PCApply(pc, r, first ? y : z));
        if (!first) {
          PetscCall(Difference(y, z, &d));
          ok(d <= (precision ? 1e-6 : 1e-14), "%s%s, areas of %g%s, sweep %s, precision %s: off by %g", device ? "CUDA " : "", PCColumnAlgorithms[m],
             (double)small, periodic ? ", periodic" : "", PCColumnSweeps[sweep], PCColumnPrecisions[precision], (double)d);
        } else {
          PetscCall(VecNorm(y, NORM_INFINITY, &d));
          ok(d > 0.1 && d < 10, "%s: the largest value is %g", PCColumnAlgorithms[m], (double)d);
        }
        if (m == PC_COLUMN_PARTITION && sweep == PC_COLUMN_SWEEP_JACOBI) {
          PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
          has_words(text, "rows made for each cell, since a column has an area of zero or out of range", "the view says how");
        }
        PetscCall(PCDestroy(&pc));
      }
  PetscCall(PetscFree3(area, alpha, level));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const PetscInt lengths[] = {1, 2, 3, 60};

  PetscFunctionBeginUser;
  PetscCall(ColumnsBegin(&argc, &argv));
  for (size_t l = 0; l < sizeof(lengths) / sizeof(*lengths); l++)
    for (int kind = 0; kind < 2; kind++) {
      const PetscInt n = lengths[l];
      PetscScalar    lower[60], diagonal[60], upper[60];

      for (PetscInt k = 0; k < n; k++) { /* diagonally dominant with signs of any kind, or an M-matrix that is nearly singular */
        lower[k] = k ? Random(k, 1, -2, kind ? -0.1 : 2) : 0;
        upper[k] = k < n - 1 ? Random(k, 2, -2, kind ? -0.1 : 2) : 0;
        diagonal[k] = PetscAbsScalar(lower[k]) + PetscAbsScalar(upper[k]) + (kind ? 1e-9 : Random(k, 3, 0.1, 1));
        if (!kind && k % 2) diagonal[k] *= -1;
      }
      PetscCall(CheckColumns(n, lower, diagonal, upper, 8, TapText("%d rows, %s", (int)n, kind ? "nearly singular" : "not symmetric")));
    }
  PetscCall(CheckOcean());
  PetscCall(CheckSingular());
  for (int device = 0; device <= TapHasDevice(); device++)
    for (int periodic = 0; periodic < 2; periodic++) {
      PetscCall(CheckAreas(0, periodic, device));
      PetscCall(CheckAreas(1e-320, periodic, device));
    }
  return TapEnd();
}
