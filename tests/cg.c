/*
   KSPCGFUSED against KSPCG: iterates, histories, reasons, with any matrix, preconditioner and norm
*/
/* ranks: 1 2 4 */
#include "cg.h"

static PetscMPIInt size;

typedef struct {
  KSPConvergedReason reason;
  PetscInt           its, length, monitored;
  PetscReal          history[400], trueresidual;
  Vec                x;
} Solve;

static PetscErrorCode Monitor(KSP ksp, PetscInt its, PetscReal norm, void *ctx)
{
  Solve *s = (Solve *)ctx;
  Vec    r;

  PetscFunctionBeginUser;
  s->monitored++;
  PetscCall(KSPBuildResidual(ksp, NULL, NULL, &r));
  PetscCall(VecNorm(r, NORM_2, &s->trueresidual));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One solve with the options; guess: the solution to start from, or NULL */
static PetscErrorCode Run(Mat A, DM dm, const char type[], const char options[], KSPNormType norm, Vec b, Vec guess, PetscBool monitor, Solve *s)
{
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(CGSolver(A, dm, type, norm, &ksp));
  PetscCall(KSPSetTolerances(ksp, 1e-8, 1e-50, 1e5, norm == KSP_NORM_NONE ? 12 : 300));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetResidualHistory(ksp, s->history, 400, PETSC_TRUE));
  s->monitored = 0;
  if (monitor) PetscCall(KSPMonitorSet(ksp, Monitor, s, NULL));
  PetscCall(VecDuplicate(b, &s->x));
  if (guess) {
    PetscCall(VecCopy(guess, s->x));
    PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  }
  PetscCall(KSPSolve(ksp, b, s->x));
  PetscCall(KSPGetConvergedReason(ksp, &s->reason));
  PetscCall(KSPGetIterationNumber(ksp, &s->its));
  PetscCall(KSPGetResidualHistory(ksp, NULL, &s->length));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsClear(NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same solve by both, which must agree. Rounding of early iterations grows in later ones. */
static PetscErrorCode Compare(Mat A, DM dm, const char options[], KSPNormType norm, Vec b, Vec guess, PetscBool monitor, const char name[])
{
  static const char *const forms[] = {"gear", "classic"};
  Solve                    cg, fused;

  PetscFunctionBeginUser;
  PetscCall(Run(A, dm, KSPCG, options, norm, b, guess, monitor, &cg));
  for (int f = 0; f < 2; f++) {
    PetscReal off = 0, size2, most = 0;
    PetscInt  common;
    char      with[256];

    PetscCall(PetscSNPrintf(with, sizeof(with), "%s -t_ksp_cgfused_form %s", options, forms[f]));
    PetscCall(Run(A, dm, KSPCGFUSED, with, norm, b, guess, monitor, &fused));
    ok(fused.reason == cg.reason, "%s, %s, norm %s: reason %s", name, forms[f], KSPNormTypes[norm], KSPConvergedReasons[cg.reason]);
    is_int(fused.its, cg.its, "%s, %s, norm %s: iterations", name, forms[f], KSPNormTypes[norm]);
    is_int(fused.length, cg.length, "%s, %s: length of the history", name, forms[f]);
    common = PetscMin(fused.length, cg.length);
    for (PetscInt i = 0; i < common; i++) {
      most = PetscMax(most, cg.history[i]);
      off = PetscMax(off, PetscAbsReal(fused.history[i] - cg.history[i]));
    }
    ok(off <= 1e-10 * most, "%s, %s: histories agree to rounding, off by %g of %g", name, forms[f], (double)off, (double)most);
    if (cg.reason > 0) {
      PetscCall(VecNorm(cg.x, NORM_2, &size2));
      PetscCall(VecAXPY(fused.x, -1, cg.x));
      PetscCall(VecNorm(fused.x, NORM_2, &off));
      ok(off <= 1e-8 * size2, "%s, %s: solutions agree, off by %g of %g", name, forms[f], (double)off, (double)size2);
    }
    if (monitor) {
      is_int(fused.monitored, cg.monitored, "%s, %s: calls of the monitor", name, forms[f]);
      is_real(fused.trueresidual, cg.trueresidual, 1e-3, "%s, %s: the residual that a monitor builds", name, forms[f]);
    }
    PetscCall(VecDestroy(&fused.x));
  }
  PetscCall(VecDestroy(&cg.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestNorms(void)
{
  static const char *const pcs[] = {"none", "jacobi", "column", "bjacobi"};
  const KSPNormType        norms[] = {KSP_NORM_NONE, KSP_NORM_PRECONDITIONED, KSP_NORM_UNPRECONDITIONED, KSP_NORM_NATURAL};

  PetscFunctionBeginUser;
  for (int assembled = 0; assembled < 2; assembled++) {
    DM  dm;
    Mat A;
    Vec b, guess;

    PetscCall(CGOperator(13, 9, 7, assembled ? PETSC_TRUE : PETSC_FALSE, PETSC_FALSE, &dm, &A));
    PetscCall(DMCreateGlobalVector(dm, &b));
    PetscCall(VecDuplicate(b, &guess));
    PetscCall(VecSetRandom(b, NULL));
    PetscCall(VecSetRandom(guess, NULL));
    for (int p = 0; p < (assembled ? 4 : 3); p++)
      for (int q = 0; q < 4; q++) {
        char options[128], name[128];

        PetscCall(PetscSNPrintf(options, sizeof(options), "-t_pc_type %s -t_sub_pc_type icc", pcs[p]));
        PetscCall(PetscSNPrintf(name, sizeof(name), "%s, pc %s", assembled ? "aij" : "strata", pcs[p]));
        PetscCall(Compare(A, dm, options, norms[q], b, q == 2 ? guess : NULL, q == 3 ? PETSC_TRUE : PETSC_FALSE, name));
      }
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&guess));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestNullSpace(void)
{
  DM           dm;
  Mat          A;
  Vec          b;
  MatNullSpace constant;

  PetscFunctionBeginUser;
  PetscCall(CGOperator(12, 8, 6, PETSC_FALSE, PETSC_TRUE, &dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(MatGetNullSpace(A, &constant));
  PetscCall(MatNullSpaceRemove(constant, b));
  PetscCall(Compare(A, dm, "-t_pc_type jacobi", KSP_NORM_UNPRECONDITIONED, b, NULL, PETSC_FALSE, "null space"));
  PetscCall(Compare(A, dm, "-t_pc_type column -t_pc_column_axis z", KSP_NORM_PRECONDITIONED, b, NULL, PETSC_TRUE, "null space, columns"));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Diagonal matrices with the same numbers again and again */
static PetscErrorCode Diagonal(const PetscScalar d[], Mat *A)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, 20, 20, PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 0, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt i = first; i < last; i++) PetscCall(MatSetValue(*A, i, i, d[i % 4], INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestIndefinite(void)
{
  const PetscScalar mats[][4] = {{1, 2, 3, 4}, {-1, -2, -3, -4}, {1, 2, -3, 4}, {1, 2, 3, -0.01}, {0, 0, 0, 0}, {1, 2, 3, NAN}};
  const char *const names[] = {"definite", "negative definite", "indefinite", "slightly indefinite", "zero", "NaN"};
  Vec               b;

  PetscFunctionBeginUser;
  for (int m = 0; m < 6; m++) {
    Mat A;

    PetscCall(Diagonal(mats[m], &A));
    PetscCall(MatCreateVecs(A, NULL, &b));
    PetscCall(VecSetRandom(b, NULL));
    PetscCall(Compare(A, NULL, "-t_pc_type none", KSP_NORM_UNPRECONDITIONED, b, NULL, PETSC_FALSE, names[m]));
    if (m < 4) PetscCall(Compare(A, NULL, "-t_pc_type jacobi", KSP_NORM_NATURAL, b, NULL, PETSC_FALSE, names[m]));
    PetscCall(VecSet(b, 0));
    PetscCall(Compare(A, NULL, "-t_pc_type none", KSP_NORM_PRECONDITIONED, b, NULL, PETSC_FALSE, names[m]));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |b - A x| over |b| */
static PetscErrorCode TrueResidual(Mat A, Vec b, Vec x, PetscReal *norm)
{
  Vec       r;
  PetscReal size2;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, norm));
  PetscCall(VecNorm(b, NORM_2, &size2));
  *norm /= size2;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves to the last digit: where the residual that cgfused finds is no longer the true one, this takes its place */
static PetscErrorCode TestDrift(void)
{
  PetscFunctionBeginUser;
  for (int hard = 0; hard < 2; hard++) {
    DM          dm;
    Mat         A;
    Vec         b;
    Solve       s, peer;
    PetscReal   residual, peers;
    const char *options = hard ? "-t_pc_type jacobi -t_ksp_rtol 1e-13 -t_ksp_max_it 1000" : "-t_pc_type jacobi -t_ksp_rtol 1e-12";

    PetscCall(CGOperator(hard ? 100 : 16, hard ? 100 : 16, hard ? 1 : 16, PETSC_TRUE, PETSC_FALSE, &dm, &A));
    if (hard) PetscCall(MatShift(A, -80.5)); /* what Dirichlet sides across the plane and the excess add */
    PetscCall(DMCreateGlobalVector(dm, &b));
    PetscCall(VecSet(b, 1));
    PetscCall(Run(A, dm, KSPCGFUSED, options, KSP_NORM_UNPRECONDITIONED, b, NULL, PETSC_FALSE, &s));
    PetscCall(Run(A, dm, KSPCG, options, KSP_NORM_UNPRECONDITIONED, b, NULL, PETSC_FALSE, &peer));
    ok(s.reason == KSP_CONVERGED_RTOL, "converges, %s", KSPConvergedReasons[s.reason]);
    PetscCall(TrueResidual(A, b, s.x, &residual));
    PetscCall(TrueResidual(A, b, peer.x, &peers));
    ok(residual <= (hard ? 0.8 * peers : 1.1e-12), "b - A x is small: %.2e, with cg %.2e", (double)residual, (double)peers);
    ok(s.its <= 1.2 * peer.its, "in %d iterations, with cg %d", (int)s.its, (int)peer.its);
    PetscCall(VecDestroy(&s.x));
    PetscCall(VecDestroy(&peer.x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator, the preconditioner or its options change between solves */
static PetscErrorCode TestChanges(void)
{
  DM        dm;
  Mat       A;
  Vec       b, x, r;
  KSP       ksp;
  PC        pc;
  PetscReal norm, size2;

  PetscFunctionBeginUser;
  PetscCall(CGOperator(11, 10, 9, PETSC_FALSE, PETSC_FALSE, &dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCGFUSED));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCCOLUMN));
  for (int step = 0; step < 7; step++) {
    static const char *const what[] = {"at first", "scaled", "shifted", "other columns", "jacobi", "other coefficients", "classic"};
    const PetscScalar        legs[6] = {-3, -3, -1, -1, -2, -2};

    if (step == 1) PetscCall(MatScale(A, 3));
    if (step == 2) PetscCall(MatShift(A, 5));
    if (step == 3 && size == 1) PetscCall(PCColumnSetAxis(pc, 0));
    if (step == 4) PetscCall(PCSetType(pc, PCJACOBI));
    if (step == 5) {
      PetscCall(MatStrataSetConstant(A, 1, legs));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    }
    if (step == 6) PetscCall(KSPCGFusedSetForm(ksp, KSP_CGFUSED_CLASSIC));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAXPY(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &norm));
    PetscCall(VecNorm(b, NORM_2, &size2));
    ok(norm <= 1e-8 * size2, "%s: solved, residual %g of %g", what[step], (double)norm, (double)size2);
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSettings(void)
{
  KSP            ksp;
  KSPCGFusedForm form;
  PetscInt       interval;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCGFUSED));
  PetscCall(KSPCGFusedGetForm(ksp, &form));
  PetscCall(KSPCGFusedGetCheckInterval(ksp, &interval));
  ok(form == KSP_CGFUSED_GEAR && interval == PETSC_DETERMINE, "defaults");
  PetscCall(PetscOptionsInsertString(NULL, "-ksp_cgfused_form classic -ksp_cgfused_check_interval 5"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPCGFusedGetForm(ksp, &form));
  PetscCall(KSPCGFusedGetCheckInterval(ksp, &interval));
  ok(form == KSP_CGFUSED_CLASSIC && interval == 5, "options");
  PetscCall(KSPCGFusedSetForm(ksp, KSP_CGFUSED_GEAR));
  PetscCall(KSPCGFusedSetCheckInterval(ksp, 3));
  PetscCall(KSPCGFusedGetForm(ksp, &form));
  PetscCall(KSPCGFusedGetCheckInterval(ksp, &interval));
  ok(form == KSP_CGFUSED_GEAR && interval == 3, "setters");
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPCGFusedSetForm(ksp, KSP_CGFUSED_CLASSIC));
  PetscCall(KSPCGFusedSetCheckInterval(ksp, 3));
  ok(1, "setters do nothing for other types");
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device: the same iterations as on the host, whatever the interval between looks; histories and solution to the last bit */
static PetscErrorCode TestDevice(void)
{
  static const char *const pcs[] = {"column", "jacobi", "none"};

  PetscFunctionBeginUser;
  for (int p = 0; p < 3; p++) {
    const char *const intervals[] = {"1", "3", "100"};
    Solve             host, first, s;
    DM                dm;
    Mat               A;
    Vec               b, bdevice;
    char              options[128];

    if (!TapHasDevice()) {
      skip("no GPU");
      continue;
    }
    PetscCall(CGOperator(37, 19, 21, PETSC_FALSE, PETSC_FALSE, &dm, &A));
    PetscCall(DMCreateGlobalVector(dm, &b));
    PetscCall(VecSetRandom(b, NULL));
    PetscCall(PetscSNPrintf(options, sizeof(options), "-t_pc_type %s -t_ksp_rtol 1e-5", pcs[p]));
    PetscCall(Run(A, dm, KSPCG, options, KSP_NORM_UNPRECONDITIONED, b, NULL, PETSC_FALSE, &host));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&dm));
    PetscCall(CGOperator(37, 19, 21, PETSC_FALSE, PETSC_FALSE, &dm, &A));
    PetscCall(DMSetVecType(dm, VECCUDA));
    PetscCall(DMCreateGlobalVector(dm, &bdevice));
    PetscCall(VecCopy(b, bdevice));
    for (int q = 0; q < 3; q++) {
      PetscBool same;

      PetscCall(PetscSNPrintf(options, sizeof(options), "-t_pc_type %s -t_ksp_rtol 1e-5 -t_ksp_cgfused_check_interval %s", pcs[p], intervals[q]));
      PetscCall(Run(A, dm, KSPCGFUSED, options, KSP_NORM_UNPRECONDITIONED, bdevice, NULL, PETSC_FALSE, &s));
      is_int(s.its, host.its, "device, %s, interval %s: iterations of the host", pcs[p], intervals[q]);
      ok(s.reason == host.reason && s.length == host.length, "and its reason");
      if (!q)
        first = s;
      else {
        PetscCall(VecEqual(s.x, first.x, &same));
        ok(same, "interval %s: the same solution", intervals[q]);
        is_bits(s.history, first.history, PetscMin(s.length, first.length) * sizeof(PetscReal), "and history");
        PetscCall(VecDestroy(&s.x));
      }
    }
    PetscCall(VecDestroy(&first.x));
    PetscCall(VecDestroy(&host.x));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&bdevice));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device, in two passes along columns: as KSPCG there, with guesses, monitors and residuals that are replaced */
static PetscErrorCode TestDeviceColumns(void)
{
  const KSPNormType norms[] = {KSP_NORM_UNPRECONDITIONED, KSP_NORM_PRECONDITIONED, KSP_NORM_NATURAL, KSP_NORM_NONE};
  DM                dm;
  Mat               A;
  Vec               b, guess, r;
  Solve             s;
  PetscReal         norm;

  PetscFunctionBeginUser;
  if (!TapHasDevice()) {
    skip("no GPU");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CGOperator(45, 18, 29, PETSC_FALSE, PETSC_FALSE, &dm, &A));
  PetscCall(DMSetVecType(dm, VECCUDA));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &guess));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(VecSetRandom(guess, NULL));
  for (int q = 0; q < 4; q++)
    for (int m = 0; m < 3; m++)
      PetscCall(Compare(A, dm, "-t_pc_type column -t_pc_column_axis z -t_ksp_cgfused_check_interval 5", norms[q], b, m ? guess : NULL,
                        m == 2 ? PETSC_TRUE : PETSC_FALSE,
                        m == 2 ? "device, monitor"
                        : m    ? "device, guess"
                               : "device"));
  PetscCall(Run(A, dm, KSPCGFUSED, "-t_pc_type column -t_pc_column_axis z -t_ksp_rtol 1e-13", KSP_NORM_UNPRECONDITIONED, b, NULL, PETSC_FALSE, &s));
  PetscCall(MatMult(A, s.x, r));
  PetscCall(VecAXPY(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &norm));
  ok(s.reason == KSP_CONVERGED_RTOL, "device: converges to 1e-13, %s", KSPConvergedReasons[s.reason]);
  is_real(norm, s.history[s.length - 1], 0.3, "device: and its residual is b - A x");
  PetscCall(VecDestroy(&s.x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&guess));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  PetscCall(TestSettings());
  PetscCall(TestNorms());
  PetscCall(TestNullSpace());
  PetscCall(TestIndefinite());
  PetscCall(TestDrift());
  PetscCall(TestChanges());
  PetscCall(TestDevice());
  PetscCall(TestDeviceColumns());
  return TapEnd();
}
