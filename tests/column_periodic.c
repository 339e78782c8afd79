/*
   PCCOLUMN along periodic axes
*/
/* ranks: 1 2 4 */
#include "columns.h"

/* What the preconditioner must give: each line along an axis of an AIJ matrix on the box n of this rank as a dense matrix, with all entries between
   its cells; singular: the last cell is held at 0 */
static PetscErrorCode DenseLines(Mat A, const PetscInt n[3], PetscInt axis, PetscBool singular, Vec r, Vec z)
{
  const PetscInt     stride = axis == 0 ? 1 : axis == 1 ? n[0] : n[0] * n[1], rows = n[0] * n[1] * n[2], levels = n[axis];
  const PetscScalar *ar;
  PetscScalar       *az;
  PetscInt           start;
  long double       *a, *b;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, NULL));
  PetscCall(PetscMalloc2(levels * levels, &a, levels, &b));
  PetscCall(VecGetArrayRead(r, &ar));
  PetscCall(VecGetArrayWrite(z, &az));
  for (PetscInt first = 0; first < rows; first++) {
    if (first / stride % levels) continue;
    PetscCall(PetscArrayzero(a, levels * levels));
    for (PetscInt k = 0; k < levels; k++) {
      const PetscInt    *cols;
      const PetscScalar *v;
      PetscInt           count, i = first + k * stride;

      PetscCall(MatGetRow(A, start + i, &count, &cols, &v));
      for (PetscInt m = 0; m < count; m++) {
        const PetscInt c = cols[m] - start, l = c >= 0 && c < rows ? c / stride % levels : 0;

        if (c == first + l * stride) a[k * levels + l] += v[m];
      }
      PetscCall(MatRestoreRow(A, start + i, &count, &cols, &v));
      b[k] = ar[i];
    }
    if (singular) {
      for (PetscInt l = 0; l < levels; l++) a[(levels - 1) * levels + l] = l == levels - 1;
      b[levels - 1] = 0;
    }
    DenseSolve((int)levels, a, b);
    for (PetscInt k = 0; k < levels; k++) az[first + k * stride] = (PetscScalar)b[k];
  }
  PetscCall(VecRestoreArrayRead(r, &ar));
  PetscCall(VecRestoreArrayWrite(z, &az));
  PetscCall(PetscFree2(a, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Box(DM dm, PetscInt box[3])
{
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(dm, &info));
  box[0] = info.xm;
  box[1] = info.ym;
  box[2] = info.zm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The preconditioner against dense matrices: solve, transpose, added to a vector, several vectors at once. host: what the host gave, compared or
   kept. */
static PetscErrorCode CheckLines(Mat A, DM dm, PetscInt axis, PetscBool singular, PetscReal tolerance, PetscBool cuda, const char *name, Vec *host)
{
  Mat         AIJ, T, R, Z;
  PC          pc;
  Vec         r, z, exact, x[2], column;
  PetscInt    box[3], local, its;
  PetscReal   d, norm;
  PetscScalar left, right;

  PetscFunctionBeginUser;
  PetscCall(Box(dm, box));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &AIJ));
  PetscCall(MakeVec(dm, 30, -1, 1, &r));
  PetscCall(VecDuplicate(r, &z));
  PetscCall(VecDuplicate(r, &exact));
  PetscCall(DenseLines(AIJ, box, axis, singular, r, exact));
  PetscCall(VecNorm(exact, NORM_INFINITY, &norm));
  PetscCall(MakePC(A, axis, &pc));
  PetscCall(VecSet(z, NAN));
  PetscCall(PCApply(pc, r, z));
  PetscCall(Difference(z, exact, &d));
  ok(d <= tolerance * norm, "%s: the rings are solved, error %.1e", name, (double)(d / norm));
  if (*host) {
    PetscCall(Difference(z, *host, &d));
    ok(d == 0, "%s: the same bits as on the host", name);
    PetscCall(VecDestroy(host));
  } else {
    PetscCall(VecDuplicate(z, host));
    PetscCall(VecCopy(z, *host));
  }
  PetscCall(VecSet(z, NAN));
  PetscCall(PCApplyTranspose(pc, r, z));
  PetscCall(MatTranspose(AIJ, MAT_INITIAL_MATRIX, &T));
  PetscCall(DenseLines(T, box, axis, singular, r, exact));
  PetscCall(VecNorm(exact, NORM_INFINITY, &norm));
  PetscCall(Difference(z, exact, &d));
  ok(d <= tolerance * norm, "%s: the transpose, error %.1e", name, (double)(d / norm));
  PetscCall(MakeVec(dm, 31, -1, 1, &column));
  PetscCall(VecDot(z, column, &left));
  PetscCall(PCApply(pc, column, exact));
  PetscCall(VecDot(exact, r, &right));
  is_real(left, right, 100 * tolerance, "%s: (M^T r, s) = (r, M s)", name);
  PetscCall(VecDestroy(&column));

  for (int plain = 0; plain < 2; plain++) { /* added to a vector */
    PCRichardsonConvergedReason reason;

    PetscCall(VecDuplicate(r, &x[plain]));
    PetscCall(VecCopy(r, x[plain]));
    if (!plain)
      PetscCall(PCApplyRichardson(pc, r, x[plain], z, 0, 0, 0, 2, PETSC_FALSE, &its, &reason));
    else
      for (int m = 0; m < 2; m++) {
        PetscCall(MatMult(A, x[plain], z));
        PetscCall(VecAYPX(z, -1, r));
        PetscCall(PCApply(pc, z, exact));
        PetscCall(VecAXPY(x[plain], 1, exact));
      }
  }
  PetscCall(Difference(x[0], x[1], &d));
  PetscCall(VecNorm(x[1], NORM_INFINITY, &norm));
  ok(d <= tolerance * norm, "%s: PCApplyRichardson(), %.1e", name, (double)(d / norm));
  PetscCall(VecDestroy(&x[0]));
  PetscCall(VecDestroy(&x[1]));

  PetscCall(VecGetLocalSize(r, &local));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, local, PETSC_DECIDE, PETSC_DECIDE, 2, NULL, &R));
#if STRATA_HAVE_CUDA
  if (cuda) PetscCall(MatConvert(R, MATDENSECUDA, MAT_INPLACE_MATRIX, &R));
#endif
  for (PetscInt v = 0; v < 2; v++) {
    PetscCall(MatDenseGetColumnVecWrite(R, v, &column));
    PetscCall(VecCopy(r, column));
    PetscCall(VecScale(column, v ? -0.5 : 1));
    PetscCall(MatDenseRestoreColumnVecWrite(R, v, &column));
  }
  PetscCall(MatDuplicate(R, MAT_DO_NOT_COPY_VALUES, &Z));
  PetscCall(PCMatApply(pc, R, Z));
  PetscCall(PCApply(pc, r, z));
  for (PetscInt v = 0; v < 2; v++) {
    PetscCall(MatDenseGetColumnVecRead(Z, v, &column));
    PetscCall(VecCopy(column, exact));
    PetscCall(MatDenseRestoreColumnVecRead(Z, v, &column));
    PetscCall(VecScale(exact, v ? -2 : 1));
    PetscCall(Difference(exact, z, &d));
    ok(d == 0, "%s: PCMatApply(), vector %d", name, (int)v);
  }
  PetscCall(MatDestroy(&R));
  PetscCall(MatDestroy(&Z));
  PetscCall(MatDestroy(&AIJ));
  PetscCall(MatDestroy(&T));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&exact));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All forms of operators, lengths, axes and algorithms; assembled matrices and Strata operators, with scale and shift */
static PetscErrorCode CheckForms(PCColumnPrecision precision)
{
  static const PetscInt lengths[] = {1, 2, 3, 17, 40};
  const PetscReal       tolerance = precision == PC_COLUMN_PRECISION_SINGLE ? 1e-5 : 1e-14;

  PetscFunctionBeginUser;
  for (size_t length = 0; length < sizeof(lengths) / sizeof(*lengths); length++)
    for (PetscInt axis = 0; axis < 3; axis++)
      for (int form = 0; form < 2 * FORMS + 1; form++)
        for (int kind = 0; kind < 2; kind++) {
          const PetscBool masked = form >= FORMS && form < 2 * FORMS ? PETSC_TRUE : PETSC_FALSE;
          const PetscInt  own = form == 2 * FORMS ? (axis + 1) % 3 : axis;
          PetscInt        n[3] = {4, 4, 4};
          Vec             host[PC_COLUMN_PARTITION + 1] = {NULL};
          DM              dm;

          n[axis] = lengths[length];
          for (int device = 0; device <= TapHasDevice(); device++)
            for (int m = PC_COLUMN_THOMAS; m <= PC_COLUMN_PARTITION; m++) {
              Mat  A;
              char name[256];

              PetscCall(MakeGrid(3, n, axis, 7, device ? PETSC_TRUE : PETSC_FALSE, &dm));
              PetscCall(MakeOperator(dm, form == 2 * FORMS ? TENSOR : (Form)(form % FORMS), own, masked, PETSC_FALSE, &A));
              PetscCall(MatScale(A, 0.75));
              PetscCall(MatShift(A, 0.125));
              if (kind) {
                PetscCall(MatConvert(A, device ? MATAIJCUSPARSE : MATAIJ, MAT_INPLACE_MATRIX, &A));
                PetscCall(MatSetDM(A, dm));
              }
              PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s %s%s%s%s, length %d along %c", device ? "CUDA " : "", PCColumnAlgorithms[m],
                                      kind ? "AIJ of " : "", form == 2 * FORMS ? "tensor across" : forms[form % FORMS], masked ? " masked" : "",
                                      precision == PC_COLUMN_PRECISION_SINGLE ? " in single precision" : "", (int)lengths[length],
                                      (char)('x' + axis)));
              algorithm = (PCColumnAlgorithm)m;
              PetscCall(PetscOptionsSetValue(NULL, "-pc_column_precision", PCColumnPrecisions[precision]));
              PetscCall(CheckLines(A, dm, axis, PETSC_FALSE, tolerance, device ? PETSC_TRUE : PETSC_FALSE, name, &host[m]));
              algorithm = PC_COLUMN_AUTO;
              PetscCall(MatDestroy(&A));
              PetscCall(DMDestroy(&dm));
            }
          for (int m = 0; m <= PC_COLUMN_PARTITION; m++) PetscCall(VecDestroy(&host[m]));
        }
  PetscCall(PetscOptionsClearValue(NULL, "-pc_column_precision"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rings that are coupled to no others, excess: of each cell */
static PetscErrorCode MakeRings(PetscInt length, PetscBool faces, PetscReal excess, PetscBool cuda, DM *dm, Mat *A)
{
  const PetscInt n[3] = {size, length, 1};

  PetscFunctionBeginUser;
  PetscCall(MakeGrid(2, n, 1, 2, cuda, dm));
  PetscCall(MatCreateStrata(*dm, A));
  if (faces) {
    Vec e, legs[2];

    PetscCall(MakeVec(*dm, 1, excess, excess, &e));
    PetscCall(MakeVec(*dm, 2, 0, 0, &legs[0]));
    PetscCall(MakeVec(*dm, 3, -2, -0.1, &legs[1]));
    PetscCall(MatStrataSetFaces(*A, e, legs));
    PetscCall(VecDestroy(&e));
    for (int m = 0; m < 2; m++) PetscCall(VecDestroy(&legs[m]));
  } else {
    const PetscScalar legs[4] = {0, 0, -1.5, -1.5};

    PetscCall(MatStrataSetConstant(*A, excess, legs));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rings without excess, solved up to a constant; with very little, solved to the last digits; and a shift that makes a singular ring regular */
static PetscErrorCode CheckSingularRings(void)
{
  static const PetscInt lengths[] = {2, 3, 64};

  PetscFunctionBeginUser;
  for (size_t l = 0; l < sizeof(lengths) / sizeof(*lengths); l++)
    for (int faces = 0; faces < 2; faces++)
      for (int m = PC_COLUMN_THOMAS; m <= PC_COLUMN_PARTITION; m++) {
        Vec host[2] = {NULL, NULL};

        for (int device = 0; device <= TapHasDevice(); device++) {
          char      name[256], text[4096];
          DM        dm;
          Mat       A;
          PC        pc;
          Vec       r, z, y;
          PetscReal d, norm;

          PetscCall(PetscSNPrintf(name, sizeof(name), "%ssingular %s %s, %d cells", device ? "CUDA " : "", PCColumnAlgorithms[m],
                                  faces ? "faces" : "constant", (int)lengths[l]));
          algorithm = (PCColumnAlgorithm)m;
          PetscCall(MakeRings(lengths[l], faces ? PETSC_TRUE : PETSC_FALSE, 0, device ? PETSC_TRUE : PETSC_FALSE, &dm, &A));
          PetscCall(CheckLines(A, dm, 1, PETSC_TRUE, 1e-13, device ? PETSC_TRUE : PETSC_FALSE, name, &host[0]));
          PetscCall(MakePC(A, 1, &pc)); /* a right-hand side that the operator can give: the solution up to a constant */
          PetscCall(MakeVec(dm, 5, -1, 1, &y));
          PetscCall(VecDuplicate(y, &z));
          PetscCall(VecDuplicate(y, &r));
          PetscCall(MatMult(A, y, r));
          PetscCall(PCApply(pc, r, z));
          PetscCall(MatMult(A, z, y));
          PetscCall(VecAXPY(y, -1, r));
          PetscCall(VecNorm(y, NORM_INFINITY, &d));
          PetscCall(VecNorm(z, NORM_INFINITY, &norm));
          ok(d <= 1e-14 * norm, "%s: consistent, residual %.1e", name, (double)d);
          PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
          has_words(text, TapText("%d singular columns periodic", (int)size), "%s: view", name);
          PetscCall(MatShift(A, 1));
          PetscCall(PCApply(pc, r, z));
          PetscCall(MatMult(A, z, y));
          PetscCall(VecAXPY(y, -1, r));
          PetscCall(VecNorm(y, NORM_INFINITY, &d));
          ok(d <= 1e-14, "%s: regular by a shift, residual %.1e", name, (double)d);
          PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
          ok(!strstr(text, "singular columns"), "%s: view finds no singular ring after the shift", name);
          PetscCall(PCDestroy(&pc));
          PetscCall(VecDestroy(&r));
          PetscCall(VecDestroy(&z));
          PetscCall(VecDestroy(&y));
          PetscCall(MatDestroy(&A));
          PetscCall(DMDestroy(&dm));

          PetscCall(MakeRings(lengths[l], faces ? PETSC_TRUE : PETSC_FALSE, 1e-11, device ? PETSC_TRUE : PETSC_FALSE, &dm, &A));
          PetscCall(MakePC(A, 1, &pc)); /* A z = 1 has the solution 1 / excess */
          PetscCall(DMCreateGlobalVector(dm, &r));
          PetscCall(VecDuplicate(r, &z));
          PetscCall(VecSet(r, 1e-11));
          PetscCall(PCApply(pc, r, z));
          PetscCall(VecShift(z, -1));
          PetscCall(VecNorm(z, NORM_INFINITY, &d));
          ok(d <= 1e-13, "%s with an excess of 1e-11: error %.1e", name, (double)d);
          PetscCall(VecDestroy(&r));
          PetscCall(VecDestroy(&z));
          PetscCall(PCDestroy(&pc));
          PetscCall(MatDestroy(&A));
          PetscCall(DMDestroy(&dm));
          algorithm = PC_COLUMN_AUTO;
        }
        for (int q = 0; q < 2; q++) PetscCall(VecDestroy(&host[q]));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A ring of 1000 cells that is neither symmetric nor an M-matrix, against LAPACK */
static PetscErrorCode CheckLapack(void)
{
  void (*const gesv)(const int *, const int *, double *, const int *, int *, double *, const int *, int *) =
      (void (*)(const int *, const int *, double *, const int *, int *, double *, const int *, int *))dlsym(dlopen(NULL, RTLD_LAZY), "dgesv_");
  const PetscInt n[3] = {size, 1000, 1};
  const int      order = 1000, one = 1;
  double        *a, *b;
  int           *pivot, info;

  PetscFunctionBeginUser;
  if (!gesv) {
    skip("no LAPACK");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscCalloc3(order * order, &a, order, &b, order, &pivot));
  for (int i = 0; i < order; i++) {
    const double low = Random(i, 1, -2, 2), high = Random(i, 2, -2, 2);

    a[i + order * ((i + order - 1) % order)] = low;
    a[i + order * ((i + 1) % order)] = high;
    a[i + order * i] = (i % 3 ? 1 : -1) * (fabs(low) + fabs(high) + Random(i, 3, 0.1, 1));
    b[i] = Random(i, 4, -1, 1);
  }
  for (int device = 0; device <= TapHasDevice(); device++)
    for (int m = PC_COLUMN_THOMAS; m <= PC_COLUMN_PCR; m++) {
      DM        dm;
      Mat       A;
      PC        pc;
      Vec       r, z, y;
      PetscInt  start;
      PetscReal d, norm;

      PetscCall(MakeGrid(2, n, 1, 2, device ? PETSC_TRUE : PETSC_FALSE, &dm)); /* the same ring on each rank */
      PetscCall(DMCreateMatrix(dm, &A));
      PetscCall(DMCreateGlobalVector(dm, &r));
      PetscCall(VecDuplicate(r, &z));
      PetscCall(VecDuplicate(r, &y));
      PetscCall(VecGetOwnershipRange(r, &start, NULL));
      for (int i = 0; i < order; i++) {
        for (int to = i - 1; to <= i + 1; to++) {
          const int column = (to + order) % order;

          PetscCall(MatSetValue(A, start + i, start + column, a[i + order * column], INSERT_VALUES));
        }
        PetscCall(VecSetValue(r, start + i, b[i], INSERT_VALUES));
      }
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(VecAssemblyBegin(r));
      PetscCall(VecAssemblyEnd(r));
      algorithm = (PCColumnAlgorithm)m;
      PetscCall(MakePC(A, 1, &pc));
      algorithm = PC_COLUMN_AUTO;
      PetscCall(PCApply(pc, r, z));
      {
        double *copy, *x;

        PetscCall(PetscMalloc2(order * order, &copy, order, &x));
        PetscCall(PetscArraycpy(copy, a, order * order));
        PetscCall(PetscArraycpy(x, b, order));
        gesv(&order, &one, copy, &order, pivot, x, &order, &info);
        for (int i = 0; i < order; i++) PetscCall(VecSetValue(y, start + i, x[i], INSERT_VALUES));
        PetscCall(VecAssemblyBegin(y));
        PetscCall(VecAssemblyEnd(y));
        PetscCall(PetscFree2(copy, x));
      }
      PetscCall(Difference(z, y, &d));
      PetscCall(VecNorm(y, NORM_INFINITY, &norm));
      ok(d <= 1e-13 * norm, "%s%s, a ring of 1000 cells: error against LAPACK %.1e", device ? "CUDA " : "", PCColumnAlgorithms[m],
         (double)(d / norm));
      PetscCall(PCDestroy(&pc));
      PetscCall(VecDestroy(&r));
      PetscCall(VecDestroy(&z));
      PetscCall(VecDestroy(&y));
      PetscCall(MatDestroy(&A));
      PetscCall(DMDestroy(&dm));
    }
  PetscCall(PetscFree3(a, b, pivot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NaN in the leg from the last cell to the first, in an assembled matrix that is read anew */
static PetscErrorCode CheckBad(void)
{
  DM             dm;
  Mat            A;
  PC             pc;
  Vec            r, z;
  PetscInt       start;
  PCFailedReason reason;
  PetscReal      norm;
  char           text[4096];

  PetscFunctionBeginUser;
  PetscCall(MakeRings(5, PETSC_TRUE, 0.5, PETSC_FALSE, &dm, &A));
  PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatSetDM(A, dm));
  PetscCall(MakePC(A, 1, &pc));
  PetscCall(DMCreateGlobalVector(dm, &r));
  PetscCall(VecDuplicate(r, &z));
  PetscCall(VecSet(r, 1));
  PetscCall(PCApply(pc, r, z));
  PetscCall(VecGetOwnershipRange(r, &start, NULL));
  if (!rank) PetscCall(MatSetValue(A, 4, 0, NAN, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PCSetUp(pc));
  PetscCall(PCGetFailedReason(pc, &reason));
  is_int(reason, PC_FACTOR_OTHER, "NaN between the last cell and the first: the reason");
  PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
  has_words(text, "NaN row 4, cell (0, 4, 0)", "NaN between the last cell and the first: view names the cell");
  PetscCall(PCApply(pc, r, z));
  PetscCall(VecNorm(z, NORM_INFINITY, &norm));
  ok(PetscIsInfOrNanReal(norm), "NaN between the last cell and the first: no number comes out");
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The fused method takes periodic columns, single precision and line relaxation as they are: as many iterations as the plain one */
static PetscErrorCode CheckFused(void)
{
  static const char *const options[][2] = {{"-pc_column_sweep", "jacobi"}, {"-pc_column_precision", "single"}, {"-pc_column_sweep", "symmetric"}};
  const PetscInt           n[3] = {8, 12, 6};

  PetscFunctionBeginUser;
  for (size_t m = 0; m < sizeof(options) / sizeof(*options); m++) {
    PetscInt its[2];

    for (int fused = 0; fused < 2; fused++) {
      DM  dm;
      Mat A;
      KSP ksp;
      PC  pc;
      Vec b, x;

      PetscCall(MakeGrid(3, n, 1, m ? 0 : 2, PETSC_FALSE, &dm));
      PetscCall(MakeOperator(dm, FACES, 1, PETSC_FALSE, PETSC_FALSE, &A));
      PetscCall(MakeVec(dm, 30, -1, 1, &b));
      PetscCall(VecDuplicate(b, &x));
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSetType(ksp, fused ? KSPCGFUSED : KSPCG));
      PetscCall(KSPSetTolerances(ksp, 1e-6, 0, PETSC_DEFAULT, 500));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSetType(pc, PCCOLUMN));
      PetscCall(PCColumnSetAxis(pc, 1));
      PetscCall(PetscOptionsSetValue(NULL, options[m][0], options[m][1]));
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(PetscOptionsClearValue(NULL, options[m][0]));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetIterationNumber(ksp, &its[fused]));
      PetscCall(KSPDestroy(&ksp));
      PetscCall(VecDestroy(&b));
      PetscCall(VecDestroy(&x));
      PetscCall(MatDestroy(&A));
      PetscCall(DMDestroy(&dm));
    }
    is_int(its[1], its[0], "iterations of cgfused and cg, columns %s%s %s", m ? "" : "periodic, ", options[m][0], options[m][1]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(ColumnsBegin(&argc, &argv));
  PetscCall(CheckForms(PC_COLUMN_PRECISION_SAME));
  PetscCall(CheckForms(PC_COLUMN_PRECISION_SINGLE));
  PetscCall(CheckSingularRings());
  PetscCall(CheckLapack());
  PetscCall(CheckBad());
  PetscCall(CheckFused());
  return TapEnd();
}
