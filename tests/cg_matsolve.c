/*
   KSPMatSolve() with KSPCGFUSED: each column as KSPSolve() solves it, whether columns make their steps together or one after another
*/
/* ranks: 1 2 3 4 */
#include "cg.h"

#define COLUMNS 5

static PetscMPIInt size;

static PetscErrorCode MakeColumns(Mat A, Mat *B)
{
  PetscInt m, M;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, M, COLUMNS, NULL, B));
  PetscCall(MatSetRandom(*B, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeSolver(Mat A, DM dm, KSPNormType norm, const char options[], KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsClear(NULL)); /* those of the solver before, which may be wanted until its end */
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(CGSolver(A, dm, KSPCGFUSED, norm, ksp));
  PetscCall(KSPSetTolerances(*ksp, 1e-9, 1e-50, 1e5, norm == KSP_NORM_NONE ? 12 : 300));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All columns in batches, against KSPSolve() for each */
static PetscErrorCode Compare(Mat A, DM dm, const char options[], KSPNormType norm, PetscInt batch, PetscBool guess, Mat B, const char says[],
                              const char name[])
{
  KSP                ksp;
  Mat                X, Y;
  PetscReal          off = 0, most = 0;
  PetscInt           longest = 0, its;
  KSPConvergedReason reason, worst = KSP_CONVERGED_ITERATING;
  char               text[8192];

  PetscFunctionBeginUser;
  PetscCall(MakeSolver(A, dm, norm, options, &ksp));
  PetscCall(KSPSetInitialGuessNonzero(ksp, guess));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &X));
  PetscCall(MatScale(X, 0.01));
  PetscCall(MatDuplicate(X, MAT_COPY_VALUES, &Y));
  for (PetscInt v = 0; v < COLUMNS; v++) {
    Vec b, y;

    PetscCall(MatDenseGetColumnVecRead(B, v, &b));
    PetscCall(MatDenseGetColumnVec(Y, v, &y));
    PetscCall(KSPSolve(ksp, b, y));
    PetscCall(MatDenseRestoreColumnVec(Y, v, &y));
    PetscCall(MatDenseRestoreColumnVecRead(B, v, &b));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    if (!v || reason < 0) worst = reason;
    if (batch == PETSC_DECIDE || v >= COLUMNS - (COLUMNS % batch ? COLUMNS % batch : batch)) longest = PetscMax(longest, its); /* of the last batch */
  }
  PetscCall(KSPSetMatSolveBatchSize(ksp, batch));
  PetscCall(KSPMatSolve(ksp, B, X));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  is_int(its, longest, "%s, norm %s: iterations of the column that takes longest", name, KSPNormTypes[norm]);
  ok(reason == worst, "%s, norm %s: reason %s, got %s", name, KSPNormTypes[norm], KSPConvergedReasons[worst], KSPConvergedReasons[reason]);
  PetscCall(MatAXPY(X, -1, Y, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(X, NORM_FROBENIUS, &off));
  PetscCall(MatNorm(Y, NORM_FROBENIUS, &most));
  ok(off <= 1e-11 * most, "%s, norm %s: solutions of KSPSolve(), off by %g of %g", name, KSPNormTypes[norm], (double)off, (double)most);
  PetscCall(TapView((PetscObject)ksp, text, sizeof(text)));
  has_words(text, says, "%s, norm %s: view says how", name, KSPNormTypes[norm]);
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestColumns(void)
{
  static const char *const pcs[] = {"column", "jacobi", "hjacobi", "bjacobi"};
  const KSPNormType        norms[] = {KSP_NORM_UNPRECONDITIONED, KSP_NORM_NONE, KSP_NORM_PRECONDITIONED, KSP_NORM_NATURAL};

  PetscFunctionBeginUser;
  for (int assembled = 0; assembled < 2; assembled++) {
    DM  dm;
    Mat A, B;

    PetscCall(CGOperator(12, 9, 8, assembled ? PETSC_TRUE : PETSC_FALSE, PETSC_FALSE, &dm, &A));
    PetscCall(MakeColumns(A, &B));
    for (int p = 0; p < (assembled ? 4 : 3); p++)
      for (int q = 0; q < 4; q++) {
        const PetscBool alone = !assembled && p < 2 && size == 1 ? PETSC_TRUE : PETSC_FALSE;
        const PetscInt  batch = q == 2 ? 2 : PETSC_DECIDE;
        char            options[128], name[128];

        PetscCall(PetscSNPrintf(options, sizeof(options), "-t_pc_type %s -t_sub_pc_type icc", pcs[p]));
        PetscCall(PetscSNPrintf(name, sizeof(name), "%s, pc %s", assembled ? "aij" : "strata", pcs[p]));
        PetscCall(Compare(A, dm, options, norms[q], batch, q == 3 ? PETSC_TRUE : PETSC_FALSE, B,
                          batch == 2 ? "KSPMatSolve 1 batch: there is one"
                          : alone    ? "KSPMatSolve 5 batch: one after another: fused"
                                     : "KSPMatSolve 5 batch: in steps together",
                          name));
      }
    PetscCall(Compare(A, dm, "-t_pc_type jacobi -t_ksp_cgfused_form classic", KSP_NORM_UNPRECONDITIONED, 3, PETSC_FALSE, B,
                      "2 batch: one after another: form classic", "classic"));
    PetscCall(Compare(A, dm, "-t_pc_type hjacobi -t_ksp_rtol 1e-13", KSP_NORM_UNPRECONDITIONED, 3, PETSC_FALSE, B, "2 batch: in steps together",
                      "to the last digit"));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestNullSpace(void)
{
  DM           dm;
  Mat          A, B;
  MatNullSpace constant;

  PetscFunctionBeginUser;
  PetscCall(CGOperator(12, 9, 8, PETSC_FALSE, PETSC_TRUE, &dm, &A));
  PetscCall(MakeColumns(A, &B));
  PetscCall(MatGetNullSpace(A, &constant));
  for (PetscInt v = 0; v < COLUMNS; v++) {
    Vec b;

    PetscCall(MatDenseGetColumnVec(B, v, &b));
    PetscCall(MatNullSpaceRemove(constant, b));
    PetscCall(MatDenseRestoreColumnVec(B, v, &b));
  }
  PetscCall(Compare(A, dm, "-t_pc_type hjacobi", KSP_NORM_PRECONDITIONED, PETSC_DECIDE, PETSC_FALSE, B, "in steps together", "null space"));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A column that fails does not stop the others; a column of zeros needs no step */
static PetscErrorCode TestFailure(void)
{
  const PetscScalar  d[4] = {1, 2, 3, -4};
  Mat                A, B, X, R;
  KSP                ksp;
  PetscInt           first, last;
  PetscReal          norms[COLUMNS];
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 40, 40, 1, NULL, 0, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; i++) PetscCall(MatSetValue(A, i, i, d[i % 4] * (1 + 0.01 * i), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MakeColumns(A, &B));
  for (PetscInt i = first; i < last; i++)
    for (PetscInt v = 0; v < COLUMNS; v++)
      if (v == 1 || (v != 3 && i % 4 == 3)) PetscCall(MatSetValue(B, i, v, 0, INSERT_VALUES)); /* only column 3 meets the negative numbers */
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PetscCall(MakeSolver(A, NULL, KSP_NORM_UNPRECONDITIONED, "-t_pc_type none", &ksp));
  PetscCall(KSPMatSolve(ksp, B, X));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  ok(reason == KSP_DIVERGED_INDEFINITE_MAT, "the reason is that of the column that fails, %s", KSPConvergedReasons[reason]);
  PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &R));
  PetscCall(MatAXPY(R, -1, B, SAME_NONZERO_PATTERN));
  PetscCall(MatGetColumnNorms(R, NORM_2, norms));
  for (PetscInt v = 0; v < COLUMNS; v++)
    if (v != 3) ok(norms[v] <= 1e-7, "column %d is solved, residual %g", (int)v, (double)norms[v]);
  ok(norms[3] > 1e-7, "column 3 is not");
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  is_error(KSPMatSolve(ksp, B, X), PETSC_ERR_NOT_CONVERGED, "cgfused DIVERGED_INDEFINITE_MAT", "an error if asked for");
  PetscCall(MatDestroy(&R));
  PetscCall(MatDestroy(&X));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product with a dense matrix is that with its columns, bit for bit */
static PetscErrorCode TestProduct(void)
{
  DM  dm;
  Mat A, B, C;

  PetscFunctionBeginUser;
  PetscCall(CGOperator(12, 9, 8, PETSC_FALSE, PETSC_FALSE, &dm, &A));
  PetscCall(MakeColumns(A, &B));
  PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  for (int again = 0; again < 2; again++) {
    for (PetscInt v = 0; v < COLUMNS; v++) {
      Vec       b, c, y;
      PetscBool same;

      PetscCall(MatDenseGetColumnVecRead(B, v, &b));
      PetscCall(MatDenseGetColumnVecRead(C, v, &c));
      PetscCall(VecDuplicate(b, &y));
      PetscCall(MatMult(A, b, y));
      PetscCall(VecEqual(c, y, &same));
      ok(same, "%s, column %d of A B is A times that of B", again ? "reused" : "new", (int)v);
      PetscCall(VecDestroy(&y));
      PetscCall(MatDenseRestoreColumnVecRead(C, v, &c));
      PetscCall(MatDenseRestoreColumnVecRead(B, v, &b));
    }
    PetscCall(MatScale(A, 3));
    PetscCall(MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  }
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device: the product and the solutions of the host */
static PetscErrorCode TestDevice(void)
{
  DM        dm;
  Mat       A, B, C, X, Bdevice, Xdevice, back;
  KSP       ksp;
  PetscReal off, most;

  PetscFunctionBeginUser;
  if (!TapHasDevice()) {
    skip("no GPU");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CGOperator(12, 9, 8, PETSC_FALSE, PETSC_FALSE, &dm, &A));
  PetscCall(MakeColumns(A, &B));
  PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PetscCall(MakeSolver(A, dm, KSP_NORM_UNPRECONDITIONED, "-t_pc_type column", &ksp));
  PetscCall(KSPMatSolve(ksp, B, X));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscCall(CGOperator(12, 9, 8, PETSC_FALSE, PETSC_FALSE, &dm, &A));
  PetscCall(DMSetVecType(dm, VECCUDA));
  PetscCall(MatConvert(B, MATDENSECUDA, MAT_INITIAL_MATRIX, &Bdevice));
  PetscCall(MatMatMult(A, Bdevice, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Xdevice));
  PetscCall(MatConvert(Xdevice, MATDENSE, MAT_INITIAL_MATRIX, &back));
  PetscCall(MatAXPY(back, -1, C, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(back, NORM_FROBENIUS, &off));
  ok(off == 0, "the product on the device is that of the host");
  PetscCall(MatDestroy(&back));
  PetscCall(MakeSolver(A, dm, KSP_NORM_UNPRECONDITIONED, "-t_pc_type column", &ksp));
  PetscCall(KSPMatSolve(ksp, Bdevice, Xdevice));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatConvert(Xdevice, MATDENSE, MAT_INITIAL_MATRIX, &back));
  PetscCall(MatNorm(X, NORM_FROBENIUS, &most));
  PetscCall(MatAXPY(back, -1, X, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(back, NORM_FROBENIUS, &off));
  ok(off <= 1e-7 * most, "solutions on the device, off by %g of %g", (double)off, (double)most);
  PetscCall(MatDestroy(&back));
  PetscCall(MatDestroy(&Xdevice));
  PetscCall(MatDestroy(&Bdevice));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device, in two passes along columns: right-hand sides together have the bits of each by itself */
static PetscErrorCode CompareTogether(Mat A, DM dm, const char options[], KSPNormType norm, PetscInt batch, PetscBool guess, Mat B, const char name[])
{
  KSP                ksp;
  Mat                X;
  PetscInt           its, longest = 0;
  KSPConvergedReason reason, worst = KSP_CONVERGED_ITERATING;
  char               text[8192];
  Vec                alone[COLUMNS];

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &X));
  PetscCall(MatScale(X, 0.01));
  PetscCall(MakeSolver(A, dm, norm, options, &ksp));
  PetscCall(KSPSetInitialGuessNonzero(ksp, guess));
  for (PetscInt v = 0; v < COLUMNS; v++) {
    Vec b, x;

    PetscCall(DMCreateGlobalVector(dm, &alone[v]));
    PetscCall(MatDenseGetColumnVecRead(X, v, &x));
    PetscCall(VecCopy(x, alone[v]));
    PetscCall(MatDenseRestoreColumnVecRead(X, v, &x));
    PetscCall(MatDenseGetColumnVecRead(B, v, &b));
    PetscCall(KSPSolve(ksp, b, alone[v]));
    PetscCall(MatDenseRestoreColumnVecRead(B, v, &b));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    if (batch == PETSC_DECIDE || v >= COLUMNS - (COLUMNS % batch ? COLUMNS % batch : batch)) { /* of the last batch */
      if (worst >= 0 && (reason < 0 || its > longest)) worst = reason;
      longest = PetscMax(longest, its);
    }
  }
  PetscCall(KSPSetMatSolveBatchSize(ksp, batch));
  PetscCall(KSPMatSolve(ksp, B, X));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  is_int(its, longest, "%s, norm %s: iterations of the one that takes longest", name, KSPNormTypes[norm]);
  ok(reason == worst, "%s, norm %s: reason %s, got %s", name, KSPNormTypes[norm], KSPConvergedReasons[worst], KSPConvergedReasons[reason]);
  for (PetscInt v = 0; v < COLUMNS; v++) {
    Vec       x;
    PetscBool same;

    PetscCall(MatDenseGetColumnVecRead(X, v, &x));
    PetscCall(VecEqual(x, alone[v], &same));
    ok(same, "%s, norm %s: right-hand side %d has the bits of KSPSolve()", name, KSPNormTypes[norm], (int)v);
    PetscCall(MatDenseRestoreColumnVecRead(X, v, &x));
    PetscCall(VecDestroy(&alone[v]));
  }
  PetscCall(TapView((PetscObject)ksp, text, sizeof(text)));
  if (batch != 2)
    has_words(text, "two passes along columns KSPMatSolve batch: in steps together", "%s, norm %s: view says how", name, KSPNormTypes[norm]);
  PetscCall(MatDestroy(&X));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestDeviceColumns(void)
{
  const char       *column = "-t_pc_type column -t_pc_column_axis z";
  const KSPNormType norms[] = {KSP_NORM_UNPRECONDITIONED, KSP_NORM_PRECONDITIONED, KSP_NORM_NATURAL, KSP_NORM_NONE};
  DM                dm;
  Mat               A, H, B;
  char              options[256];

  PetscFunctionBeginUser;
  if (!TapHasDevice() || size > 1) {
    skip(size > 1 ? "one rank only" : "no GPU");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CGOperator(37, 18, 13, PETSC_FALSE, PETSC_FALSE, &dm, &A));
  PetscCall(MakeColumns(A, &H));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscCall(CGOperator(37, 18, 13, PETSC_FALSE, PETSC_FALSE, &dm, &A));
  PetscCall(DMSetVecType(dm, VECCUDA));
  for (PetscInt v = 0; v < COLUMNS; v++) { /* of different size, one of zeros */
    Vec b;

    PetscCall(MatDenseGetColumnVec(H, v, &b));
    PetscCall(VecScale(b, v == 1 ? 0 : PetscPowReal(10, v)));
    PetscCall(MatDenseRestoreColumnVec(H, v, &b));
  }
  PetscCall(MatConvert(H, MATDENSECUDA, MAT_INITIAL_MATRIX, &B));
  for (int q = 0; q < 4; q++)
    for (int guess = 0; guess < 2; guess++) {
      PetscCall(CompareTogether(A, dm, column, norms[q], PETSC_DECIDE, guess ? PETSC_TRUE : PETSC_FALSE, B, "device"));
      PetscCall(PetscSNPrintf(options, sizeof(options), "%s -t_ksp_cgfused_check_interval 3 -t_ksp_rtol 1e-4", column));
      PetscCall(CompareTogether(A, dm, options, norms[q], 2, guess ? PETSC_TRUE : PETSC_FALSE, B, "device, looks at each third step"));
    }
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s -t_ksp_rtol 1e-13", column));
  PetscCall(CompareTogether(A, dm, options, KSP_NORM_UNPRECONDITIONED, PETSC_DECIDE, PETSC_FALSE, B, "device, to the last digit"));
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s -t_ksp_max_it 7", column));
  PetscCall(CompareTogether(A, dm, options, KSP_NORM_UNPRECONDITIONED, 3, PETSC_FALSE, B, "device, too few iterations"));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&H));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  PetscCall(TestProduct());
  PetscCall(TestColumns());
  PetscCall(TestNullSpace());
  PetscCall(TestFailure());
  PetscCall(TestDevice());
  PetscCall(TestDeviceColumns());
  return TapEnd();
}
