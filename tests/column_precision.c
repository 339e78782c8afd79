/*
   PCCOLUMN in single precision
*/
/* ranks: 1 3 */
#include "columns.h"

/* Solve and transpose against those in double precision, for right-hand sides of any size; the same bits on host and device */
static PetscErrorCode CheckForms(void)
{
  static const PetscInt lengths[] = {1, 2, 3, 40, 700};

  PetscFunctionBeginUser;
  for (size_t length = 0; length < sizeof(lengths) / sizeof(*lengths); length++)
    for (PetscInt axis = 0; axis < 3; axis++)
      for (int form = 0; form < 2 * FORMS; form++)
        for (int m = PC_COLUMN_THOMAS; m <= PC_COLUMN_PARTITION; m++) {
          PetscInt n[3] = {4, 4, 4};
          Vec      host = NULL;

          n[axis] = lengths[length];
          for (int device = 0; device <= TapHasDevice(); device++)
            for (int kind = 0; kind < 2; kind++) {
              DM        dm;
              Mat       A;
              PC        pc[2];
              Vec       r, z[2];
              PetscReal d, norm, worst = 0;
              char      name[256];

              PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s %s%s%s, length %d along %c", device ? "CUDA " : "", PCColumnAlgorithms[m],
                                      kind ? "AIJ of " : "", forms[form % FORMS], form < FORMS ? "" : " masked", (int)lengths[length],
                                      (char)('x' + axis)));
              PetscCall(MakeGrid(3, n, axis, 0, device ? PETSC_TRUE : PETSC_FALSE, &dm));
              PetscCall(MakeOperator(dm, (Form)(form % FORMS), axis, form < FORMS ? PETSC_FALSE : PETSC_TRUE, PETSC_FALSE, &A));
              if (kind) {
                PetscCall(MatConvert(A, device ? MATAIJCUSPARSE : MATAIJ, MAT_INPLACE_MATRIX, &A));
                PetscCall(MatSetDM(A, dm));
              }
              algorithm = (PCColumnAlgorithm)m;
              for (int single = 0; single < 2; single++) PetscCall(MakePC(A, axis, &pc[single]));
              algorithm = PC_COLUMN_AUTO;
              PetscCall(PCColumnSetPrecision(pc[1], PC_COLUMN_PRECISION_SINGLE));
              for (int size = -200; size <= 200; size += 200) {
                PetscCall(MakeVec(dm, 30, -1, 1, &r));
                PetscCall(VecScale(r, PetscPowReal(10, size)));
                for (int transpose = 0; transpose < 2; transpose++) {
                  for (int single = 0; single < 2; single++) {
                    PetscCall(VecDuplicate(r, &z[single]));
                    PetscCall(transpose ? PCApplyTranspose(pc[single], r, z[single]) : PCApply(pc[single], r, z[single]));
                  }
                  PetscCall(VecNorm(z[0], NORM_INFINITY, &norm));
                  PetscCall(Difference(z[0], z[1], &d));
                  worst = PetscMax(worst, d / norm);
                  if (!(d / norm > 0)) worst = PetscMax(worst, lengths[length] > 2 ? 1 : 0); /* double precision all the same */
                  if (!kind && !size && !transpose && !device) {
                    PetscCall(VecDuplicate(z[1], &host));
                    PetscCall(VecCopy(z[1], host));
                  }
                  if (!kind && !size && !transpose && device) {
                    PetscCall(Difference(z[1], host, &d));
                    ok(d == 0, "%s: the same bits as on the host", name);
                  }
                  for (int single = 0; single < 2; single++) PetscCall(VecDestroy(&z[single]));
                }
                PetscCall(VecDestroy(&r));
              }
              ok(worst <= 5e-6, "%s: single precision differs by %.1e", name, (double)worst);
              for (int single = 0; single < 2; single++) PetscCall(PCDestroy(&pc[single]));
              PetscCall(MatDestroy(&A));
              PetscCall(DMDestroy(&dm));
            }
          PetscCall(VecDestroy(&host));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As a preconditioner: to a tolerance of double precision; options, functions, view; numbers that single precision does not have */
static PetscErrorCode CheckSolver(void)
{
  const PetscInt    n[3] = {8, 8, 12};
  DM                dm;
  Mat               A;
  KSP               ksp;
  PC                pc;
  Vec               b, x, t;
  PetscInt          its[2];
  PetscReal         norm, whole;
  PCColumnPrecision got;
  PCFailedReason    reason;
  char              text[8192];

  PetscFunctionBeginUser;
  PetscCall(MakeGrid(3, n, 2, 0, PETSC_FALSE, &dm));
  PetscCall(MakeOperator(dm, FACES, 2, PETSC_FALSE, PETSC_FALSE, &A));
  PetscCall(MakeVec(dm, 30, -1, 1, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecNorm(b, NORM_2, &whole));
  for (int single = 0; single < 2; single++) {
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPSetTolerances(ksp, 1e-10, 0, PETSC_DEFAULT, 500));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCCOLUMN));
    PetscCall(PCColumnSetAxis(pc, 2));
    PetscCall(PCColumnGetPrecision(pc, &got));
    is_int(got, PC_COLUMN_PRECISION_SAME, "the precision is that of the vectors");
    if (single) PetscCall(PetscOptionsSetValue(NULL, "-pc_column_precision", "single"));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(PetscOptionsClearValue(NULL, "-pc_column_precision"));
    PetscCall(PCColumnGetPrecision(pc, &got));
    is_int(got, single ? PC_COLUMN_PRECISION_SINGLE : PC_COLUMN_PRECISION_SAME, "the precision from the options");
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[single]));
    PetscCall(VecDuplicate(b, &t));
    PetscCall(MatMult(A, x, t));
    PetscCall(VecAXPY(t, -1, b));
    PetscCall(VecNorm(t, NORM_2, &norm));
    PetscCall(VecDestroy(&t));
    ok(norm <= 1.1e-10 * whole, "residual %.1e of the right-hand side", (double)(norm / whole));
    PetscCall(TapView((PetscObject)ksp, text, sizeof(text)));
    ok(!strstr(text, "single precision") == !single, "view says which precision");
    if (!single) PetscCall(KSPDestroy(&ksp));
  }
  ok(PetscAbsInt(its[0] - its[1]) <= 2, "%d iterations in single precision, %d in double", (int)its[1], (int)its[0]);
  is_error(PCColumnSetPrecision(pc, (PCColumnPrecision)5), PETSC_ERR_ARG_OUTOFRANGE, "no precision 5 same single", "a precision that is none");
  PetscCall(MatScale(A, 1e60));
  PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatSetDM(A, dm));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCGetFailedReason(pc, &reason));
  ok(reason == PC_FACTOR_OTHER, "numbers beyond single precision: the set-up fails");
  PetscCall(TapView((PetscObject)ksp, text, sizeof(text)));
  has_words(text, "failed: infinity single precision row 0", "numbers beyond single precision: view names a row");
  PetscCall(PCColumnSetPrecision(pc, PC_COLUMN_PRECISION_SAME));
  PetscCall(PCSetUp(pc));
  PetscCall(PCGetFailedReason(pc, &reason));
  is_int(reason, PC_NOERROR, "they are fine in double precision");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(ColumnsBegin(&argc, &argv));
  PetscCall(CheckForms());
  PetscCall(CheckSolver());
  return TapEnd();
}
