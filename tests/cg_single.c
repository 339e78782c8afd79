/*
   KSPCGFUSED in single precision: tolerances of double precision are met, in about as many iterations
*/
/* ranks: 1 2 4 */
#include "cg.h"

static PetscMPIInt size;

typedef enum { CONSTANT, PERIODIC, TENSOR, FACES, MASKED, KINDS } Kind;
static const char *const kinds[] = {"constant", "periodic", "tensor", "faces", "masked"};

/* Numbers between 0.5 and 1.5 */
static PetscScalar Number(PetscInt i)
{
  return 1 + 0.5 * PetscSinReal(12.9898 * i);
}

/* Symmetric positive definite operators, times a factor */
static PetscErrorCode Make(Kind kind, PetscReal factor, DM *dm, Mat *A)
{
  const DMBoundaryType wrap = kind == PERIODIC ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  PetscInt             x, y, z, m, n, p;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, wrap, wrap, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 19, 14, 11, PETSC_DECIDE, PETSC_DECIDE, 1, 1, 1, NULL,
                         NULL, NULL, dm));
  PetscCall(DMSetUp(*dm));
  PetscCall(MatCreateStrata(*dm, A));
  PetscCall(DMDAGetCorners(*dm, &x, &y, &z, &m, &n, &p));
  if (kind == CONSTANT || kind == PERIODIC) {
    const PetscScalar legs[6] = {-1, -1, -2, -2, -40, -40};

    PetscCall(MatStrataSetConstant(*A, 0.1, legs));
  } else if (kind == TENSOR) {
    const PetscInt columns = m * n;
    PetscScalar   *area, *alpha, *level;

    PetscCall(PetscMalloc3(columns, &area, 4 * columns, &alpha, 4 * p, &level));
    for (PetscInt j = 0; j < n; j++)
      for (PetscInt i = 0; i < m; i++) {
        const PetscInt id = i + m * j;

        area[id] = Number((x + i) * 100 + y + j);
        for (PetscInt f = 0; f < 4; f++)
          alpha[f * columns + id] =
              Number(f < 2 ? 7 * (x + i + f) + 1000 * (y + j) : 1000 * (x + i) + 7 * (y + j + f - 2)); /* of a face, from both sides */
      }
    for (PetscInt k = 0; k < p; k++) {
      level[k] = 0.1 * Number(k);
      level[p + k] = -20 * Number(z + k + 1);
      level[2 * p + k] = -20 * Number(z + k);
      level[3 * p + k] = -Number(50 + z + k);
    }
    PetscCall(MatStrataSetTensor(*A, 2, columns, area, alpha, p, level));
    PetscCall(PetscFree3(area, alpha, level));
  } else {
    Vec faces[3], excess, mask;

    PetscCall(DMCreateGlobalVector(*dm, &excess));
    PetscCall(VecDuplicate(excess, &mask));
    PetscCall(VecSet(excess, 0.1));
    for (int a = 0; a < 3; a++) {
      PetscScalar ***q;

      PetscCall(VecDuplicate(excess, &faces[a]));
      PetscCall(DMDAVecGetArray(*dm, faces[a], &q));
      for (PetscInt k = z; k < z + p; k++)
        for (PetscInt j = y; j < y + n; j++)
          for (PetscInt i = x; i < x + m; i++) q[k][j][i] = -(a == 2 ? 30 : 1) * Number(i + 20 * j + 400 * k + 9000 * a);
      PetscCall(DMDAVecRestoreArray(*dm, faces[a], &q));
    }
    PetscCall(MatStrataSetFaces(*A, excess, faces));
    if (kind == MASKED) {
      PetscScalar ***q;

      PetscCall(DMDAVecGetArray(*dm, mask, &q));
      for (PetscInt k = z; k < z + p; k++)
        for (PetscInt j = y; j < y + n; j++)
          for (PetscInt i = x; i < x + m; i++) q[k][j][i] = (i - 9) * (i - 9) + (j - 5) * (j - 5) < 3 * k ? 1 : 0;
      PetscCall(DMDAVecRestoreArray(*dm, mask, &q));
      PetscCall(MatStrataSetMask(*A, mask));
    }
    for (int a = 0; a < 3; a++) PetscCall(VecDestroy(&faces[a]));
    PetscCall(VecDestroy(&excess));
    PetscCall(VecDestroy(&mask));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatScale(*A, factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  KSPConvergedReason reason;
  PetscInt           its, monitored;
  PetscReal          residual, off; /* the true one, and how far what monitors see was from it */
  Vec                x;
  char               text[8192];
} Solve;

static PetscErrorCode Monitor(KSP ksp, PetscInt its, PetscReal norm, void *ctx)
{
  Solve    *s = (Solve *)ctx;
  Vec       r;
  PetscReal now;

  PetscFunctionBeginUser;
  PetscCall(KSPBuildResidual(ksp, NULL, NULL, &r));
  PetscCall(VecNorm(r, NORM_2, &now));
  s->off = PetscMax(s->off, PetscAbsReal(now - norm) / now);
  s->monitored++;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(Mat A, DM dm, KSPCGFusedPrecision precision, const char options[], KSPNormType norm, PetscReal rtol, Vec b, PetscBool guess,
                          PetscBool monitor, Solve *s)
{
  KSP ksp;
  Vec r;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(CGSolver(A, dm, KSPCGFUSED, norm, &ksp));
  PetscCall(KSPCGFusedSetPrecision(ksp, precision));
  PetscCall(KSPSetTolerances(ksp, rtol, 1e-300, 1e5, norm == KSP_NORM_NONE ? 60 : 1000));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscOptionsClear(NULL));
  s->monitored = 0;
  s->off = 0;
  if (monitor) PetscCall(KSPMonitorSet(ksp, Monitor, s, NULL));
  PetscCall(VecDuplicate(b, &s->x));
  PetscCall(VecDuplicate(b, &r));
  if (guess) {
    PetscCall(VecCopy(b, s->x));
    PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  }
  PetscCall(KSPSolve(ksp, b, s->x));
  PetscCall(KSPGetConvergedReason(ksp, &s->reason));
  PetscCall(KSPGetIterationNumber(ksp, &s->its));
  PetscCall(MatMult(A, s->x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &s->residual));
  PetscCall(TapView((PetscObject)ksp, s->text, sizeof(s->text)));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both precisions, which must give the same solution */
static PetscErrorCode Compare(Mat A, DM dm, const char options[], KSPNormType norm, PetscReal rtol, Vec b, PetscBool guess, PetscBool monitor,
                              const char says[], const char name[])
{
  Solve     full, single;
  PetscReal size2, off, sizeb;

  PetscFunctionBeginUser;
  PetscCall(Run(A, dm, KSP_CGFUSED_SAME, options, norm, rtol, b, guess, monitor, &full));
  PetscCall(Run(A, dm, KSP_CGFUSED_SINGLE, options, norm, rtol, b, guess, monitor, &single));
  PetscCall(VecNorm(b, NORM_2, &sizeb));
  ok(single.reason == full.reason, "%s: reason %s, got %s", name, KSPConvergedReasons[full.reason], KSPConvergedReasons[single.reason]);
  ok(PetscAbsInt(single.its - full.its) <= 2 + full.its / 5, "%s: %d iterations, in double precision %d", name, (int)single.its, (int)full.its);
  if (norm == KSP_NORM_UNPRECONDITIONED || (norm == KSP_NORM_PRECONDITIONED && strstr(options, "pc_type none")))
    ok(single.residual <= 1.001 * rtol * sizeb, "%s: the true residual %g is below the tolerance, %g", name, (double)single.residual,
       (double)(rtol * sizeb));
  PetscCall(VecNorm(full.x, NORM_2, &size2));
  PetscCall(VecAXPY(single.x, -1, full.x));
  PetscCall(VecNorm(single.x, NORM_2, &off));
  ok(off <= 1e3 * rtol * size2, "%s: the solution of double precision, off by %g of %g", name, (double)off, (double)size2);
  if (monitor) {
    is_int(single.monitored, single.its + 1, "%s: calls of the monitor", name);
    if (size == 1) ok(single.off <= 1e-3, "%s: what monitors see is the true residual, off by %g", name, (double)single.off);
  }
  has_words(single.text, size > 1 ? "precision single: steps in double precision: several ranks" : says, "%s: view says so", name);
  PetscCall(VecDestroy(&full.x));
  PetscCall(VecDestroy(&single.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestOperators(void)
{
  static const char *const pcs[] = {"column -t_pc_column_axis z", "column -t_pc_column_axis y", "jacobi", "none"};
  const char              *says = "precision single: steps in single precision residuals replaced";

  PetscFunctionBeginUser;
  for (int kind = 0; kind < KINDS; kind++) {
    DM  dm;
    Mat A;
    Vec b;

    PetscCall(Make((Kind)kind, 1, &dm, &A));
    PetscCall(DMCreateGlobalVector(dm, &b));
    PetscCall(VecSetRandom(b, NULL));
    for (int p = 0; p < 4; p++) {
      char options[128], name[128];

      if (p == 1 && (size > 1 || kind == PERIODIC)) continue;
      PetscCall(PetscSNPrintf(options, sizeof(options), "-t_pc_type %s", pcs[p]));
      PetscCall(PetscSNPrintf(name, sizeof(name), "%s, pc %s", kinds[kind], pcs[p]));
      PetscCall(Compare(A, dm, options, KSP_NORM_UNPRECONDITIONED, p == 0 ? 1e-11 : 1e-10, b, p == 2 ? PETSC_TRUE : PETSC_FALSE,
                        p == 0 ? PETSC_TRUE : PETSC_FALSE, says, name));
    }
    PetscCall(Compare(A, dm, "-t_pc_type column", KSP_NORM_PRECONDITIONED, 1e-10, b, PETSC_FALSE, PETSC_FALSE, says, "preconditioned norm"));
    PetscCall(Compare(A, dm, "-t_pc_type column", KSP_NORM_NATURAL, 1e-10, b, PETSC_FALSE, PETSC_FALSE, says, "natural norm"));
    PetscCall(Compare(A, dm, "-t_pc_type column", KSP_NORM_NONE, 1e-10, b, PETSC_FALSE, PETSC_FALSE, says, "no norm"));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Norms that are tested, and estimates of eigenvalues, of operators of any size with any preconditioner */
static PetscErrorCode TestNorms(void)
{
  static const char *const pcs[] = {"none", "jacobi", "column"};
  const KSPNormType        norms[] = {KSP_NORM_PRECONDITIONED, KSP_NORM_UNPRECONDITIONED, KSP_NORM_NATURAL};
  const PetscReal          factors[] = {1e3, 1e-3, 1e45, 1e-45};

  PetscFunctionBeginUser;
  for (int f = 0; f < 4; f++)
    for (int kind = 0; kind < KINDS; kind++) {
      DM  dm;
      Mat A;
      Vec b, x;

      PetscCall(Make((Kind)kind, factors[f], &dm, &A));
      PetscCall(DMCreateGlobalVector(dm, &b));
      PetscCall(VecDuplicate(b, &x));
      PetscCall(VecSetRandom(b, NULL));
      for (int p = 0; p < 3; p++) {
        char      options[128], name[128];
        PetscReal most[2], least[2];

        PetscCall(PetscSNPrintf(options, sizeof(options), "-t_pc_type %s", pcs[p]));
        for (int m = 0; m < 3; m++) {
          PetscCall(
              PetscSNPrintf(name, sizeof(name), "%s times %g, pc %s, norm %s", kinds[kind], (double)factors[f], pcs[p], KSPNormTypes[norms[m]]));
          PetscCall(Compare(A, dm, options, norms[m], 1e-8, b, PETSC_FALSE, PETSC_FALSE, "precision single: steps in single precision", name));
        }
        for (int precision = 0; precision < 2; precision++) {
          KSP ksp;

          PetscCall(PetscOptionsInsertString(NULL, options));
          PetscCall(CGSolver(A, dm, KSPCGFUSED, KSP_NORM_UNPRECONDITIONED, &ksp));
          PetscCall(KSPCGFusedSetPrecision(ksp, (KSPCGFusedPrecision)precision));
          PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
          PetscCall(KSPSetFromOptions(ksp));
          PetscCall(PetscOptionsClear(NULL));
          PetscCall(KSPSolve(ksp, b, x));
          PetscCall(KSPComputeExtremeSingularValues(ksp, &most[precision], &least[precision]));
          PetscCall(KSPDestroy(&ksp));
        }
        ok(PetscAbsReal(most[1] / most[0] - 1) <= 1e-3 && PetscAbsReal(least[1] / least[0] - 1) <= 0.1,
           "%s times %g, pc %s: eigenvalues from %g to %g, in double precision from %g to %g", kinds[kind], (double)factors[f], pcs[p],
           (double)least[1], (double)most[1], (double)least[0], (double)most[0]);
      }
      PetscCall(VecDestroy(&b));
      PetscCall(VecDestroy(&x));
      PetscCall(MatDestroy(&A));
      PetscCall(DMDestroy(&dm));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers that single precision does not have */
static PetscErrorCode TestRange(void)
{
  const PetscReal factors[] = {1e60, 1e-60};

  PetscFunctionBeginUser;
  for (int f = 0; f < 2; f++)
    for (int kind = 0; kind < KINDS; kind++) {
      DM   dm;
      Mat  A;
      Vec  b;
      char name[128];

      PetscCall(Make((Kind)kind, factors[f], &dm, &A));
      PetscCall(DMCreateGlobalVector(dm, &b));
      PetscCall(VecSetRandom(b, NULL));
      PetscCall(VecScale(b, 1e-90));
      PetscCall(PetscSNPrintf(name, sizeof(name), "%s times %g", kinds[kind], (double)factors[f]));
      for (int along = kind == CONSTANT && size == 1 ? 0 : 1; along < 2; along++)
        PetscCall(Compare(A, dm, along ? "-t_pc_type column" : "-t_pc_type column -t_pc_column_axis y", KSP_NORM_UNPRECONDITIONED, 1e-12, b,
                          PETSC_FALSE, PETSC_FALSE, "precision single: steps in single precision, residuals", name));
      PetscCall(VecDestroy(&b));
      PetscCall(MatDestroy(&A));
      PetscCall(DMDestroy(&dm));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Right-hand sides of NaN and of zeros; b is of no use afterwards */
static PetscErrorCode TestNaNAndZero(Mat A, DM dm, const char options[], Vec b, const char where[])
{
  Solve s;

  PetscFunctionBeginUser;
  PetscCall(VecSet(b, NAN));
  PetscCall(Run(A, dm, KSP_CGFUSED_SINGLE, options, KSP_NORM_UNPRECONDITIONED, 1e-10, b, PETSC_FALSE, PETSC_FALSE, &s));
  ok(s.reason == KSP_DIVERGED_NANORINF, "%sNaN in the right-hand side: %s", where, KSPConvergedReasons[s.reason]);
  PetscCall(VecDestroy(&s.x));
  PetscCall(VecSet(b, 0));
  PetscCall(Run(A, dm, KSP_CGFUSED_SINGLE, options, KSP_NORM_NONE, 1e-10, b, PETSC_FALSE, PETSC_FALSE, &s));
  ok(s.reason > 0 && s.residual == 0, "%snothing to do: %s", where, KSPConvergedReasons[s.reason]);
  PetscCall(VecDestroy(&s.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What single precision cannot solve is solved in double precision */
static PetscErrorCode TestFailures(void)
{
  const PetscScalar  lines[6] = {0, 0, 0, 0, -1, -1}, indefinite[6] = {-1, -1, -1, -1, -1, -1};
  DM                 dm;
  Mat                A;
  Vec                b;
  Solve              s;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(Make(CONSTANT, 1, &dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(MatStrataSetConstant(A, -2.5, indefinite));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Run(A, dm, KSP_CGFUSED_SAME, "-t_pc_type none", KSP_NORM_UNPRECONDITIONED, 1e-10, b, PETSC_FALSE, PETSC_FALSE, &s));
  reason = s.reason;
  PetscCall(VecDestroy(&s.x));
  PetscCall(Run(A, dm, KSP_CGFUSED_SINGLE, "-t_pc_type none", KSP_NORM_UNPRECONDITIONED, 1e-10, b, PETSC_FALSE, PETSC_FALSE, &s));
  ok(reason == KSP_DIVERGED_INDEFINITE_MAT && s.reason == reason, "an indefinite operator: %s, got %s", KSPConvergedReasons[reason],
     KSPConvergedReasons[s.reason]);
  PetscCall(VecDestroy(&s.x));
  PetscCall(MatStrataSetConstant(A, -7, lines)); /* negative definite */
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Compare(A, dm, "-t_pc_type none", KSP_NORM_UNPRECONDITIONED, 1e-10, b, PETSC_FALSE, PETSC_FALSE,
                    "steps in double precision: range rounding did not do", "a negative definite operator"));
  PetscCall(Compare(A, dm, "-t_pc_type jacobi", KSP_NORM_UNPRECONDITIONED, 1e-10, b, PETSC_FALSE, PETSC_FALSE,
                    "steps in double precision: range rounding did not do", "a negative definite operator and diagonal"));
  PetscCall(TestNaNAndZero(A, dm, "-t_pc_type none", b, ""));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix changes between solves of one solver, as does the precision */
static PetscErrorCode TestChanges(void)
{
  DM        dm;
  Mat       A;
  Vec       b, x, r;
  KSP       ksp;
  PC        pc;
  PetscReal norm, norm0;

  PetscFunctionBeginUser;
  PetscCall(Make(TENSOR, 1, &dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCGFUSED));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCCOLUMN));
  for (int step = 0; step < 6; step++) {
    if (step == 1) PetscCall(MatScale(A, 3));
    if (step == 2) PetscCall(MatShift(A, 5));
    if (step == 4) PetscCall(PCSetType(pc, PCJACOBI));
    PetscCall(KSPCGFusedSetPrecision(ksp, step == 3 ? KSP_CGFUSED_SAME : KSP_CGFUSED_SINGLE));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAXPY(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &norm));
    PetscCall(VecNorm(b, NORM_2, &norm0));
    ok(norm <= 1.001e-12 * norm0, "step %d: solved, residual %g of %g", step, (double)norm, (double)norm0);
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
  KSP                 ksp;
  KSPCGFusedPrecision precision;
  PetscMPIInt         rank;

  PetscFunctionBeginUser;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCGFUSED));
  PetscCall(KSPCGFusedGetPrecision(ksp, &precision));
  ok(precision == KSP_CGFUSED_SAME, "the default");
  PetscCall(PetscOptionsInsertString(NULL, "-ksp_cgfused_precision single"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(KSPCGFusedGetPrecision(ksp, &precision));
  ok(precision == KSP_CGFUSED_SINGLE, "the option");
  PetscCall(KSPCGFusedSetPrecision(ksp, KSP_CGFUSED_SAME));
  PetscCall(KSPCGFusedGetPrecision(ksp, &precision));
  ok(precision == KSP_CGFUSED_SAME, "the setter");
  is_error(KSPCGFusedSetPrecision(ksp, (KSPCGFusedPrecision)7), PETSC_ERR_ARG_OUTOFRANGE, "precision 7 same single", "a precision that there is not");
  PetscCall(PetscOptionsInsertString(NULL, "-ksp_cgfused_precision half"));
  is_error(KSPSetFromOptions(ksp), PETSC_ERR_USER, "half same single", "a precision that there is not, by option");
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPCGFusedSetPrecision(ksp, KSP_CGFUSED_SINGLE));
  is_error(KSPCGFusedGetPrecision(ksp, &precision), PETSC_ERR_SUP, "KSPCGFusedGetPrecision", "getting a precision from another type");
  PetscCall(KSPDestroy(&ksp));
  if (size > 1) {
    DM  dm;
    Mat A;

    PetscCall(Make(CONSTANT, 1, &dm, &A));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPCGFUSED));
    PetscCall(KSPCGFusedSetPrecision(ksp, rank ? KSP_CGFUSED_SINGLE : KSP_CGFUSED_SAME));
    is_error(KSPSetUp(ksp), PETSC_ERR_ARG_WRONG, "-ksp_cgfused_precision differs ranks", "another precision on another rank");
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Histories and solutions of two solves, to the last bit */
static PetscErrorCode Same(KSP ksp, KSP other, Vec x, Vec y, const char name[])
{
  const PetscReal *h, *g;
  PetscInt         n, m;
  PetscBool        same;

  PetscFunctionBeginUser;
  PetscCall(KSPGetResidualHistory(ksp, &h, &n));
  PetscCall(KSPGetResidualHistory(other, &g, &m));
  PetscCall(VecEqual(x, y, &same));
  is_int(n, m, "%s: as many residuals", name);
  is_bits(h, g, PetscMin(n, m) * sizeof(*h), "%s: these", name);
  ok(same, "%s: the same solution", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device, in two passes along columns: as in double precision, and as on the host; whenever the host looks */
static PetscErrorCode TestDevice(void)
{
  const char       *says = "two passes along columns precision single: steps in single precision, residuals in double residuals replaced";
  const KSPNormType norms[] = {KSP_NORM_UNPRECONDITIONED, KSP_NORM_PRECONDITIONED, KSP_NORM_NATURAL, KSP_NORM_NONE};
  const PetscReal   factors[] = {1, 1e45, 1e-45};
  const PetscInt    intervals[] = {1, 3, 100};

  PetscFunctionBeginUser;
  if (!TapHasDevice() || size > 1) {
    skip(size > 1 ? "one rank only" : "no GPU");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int kind = CONSTANT; kind <= TENSOR; kind += TENSOR - CONSTANT)
    for (int f = 0; f < 3; f++) {
      DM    dm;
      Mat   A;
      Vec   b, x, first;
      Solve host, device;
      KSP   ksp[3];
      PC    pc;
      char  name[128];

      PetscCall(Make((Kind)kind, factors[f], &dm, &A));
      PetscCall(DMCreateGlobalVector(dm, &b));
      PetscCall(VecSetRandom(b, NULL));
      if (f) PetscCall(VecScale(b, 1e-30));
      PetscCall(Run(A, dm, KSP_CGFUSED_SINGLE, "-t_pc_type column -t_pc_column_axis z", KSP_NORM_UNPRECONDITIONED, 1e-11, b, PETSC_FALSE, PETSC_FALSE,
                    &host));
      PetscCall(MatDestroy(&A));
      PetscCall(DMDestroy(&dm));
      PetscCall(Make((Kind)kind, factors[f], &dm, &A));
      PetscCall(DMSetVecType(dm, VECCUDA));
      PetscCall(DMCreateGlobalVector(dm, &x));
      PetscCall(VecCopy(b, x));
      PetscCall(VecDestroy(&b));
      b = x;
      PetscCall(PetscSNPrintf(name, sizeof(name), "device, %s times %g", kinds[kind], (double)factors[f]));
      PetscCall(Run(A, dm, KSP_CGFUSED_SINGLE, "-t_pc_type column -t_pc_column_axis z", KSP_NORM_UNPRECONDITIONED, 1e-11, b, PETSC_FALSE, PETSC_FALSE,
                    &device));
      ok(PetscAbs(device.its - host.its) <= 1, "%s: %d iterations, on the host %d", name, (int)device.its, (int)host.its);
      PetscCall(VecDestroy(&host.x));
      PetscCall(VecDestroy(&device.x));
      for (int q = 0; q < 4; q++)
        for (int m = 0; m < 3; m++)
          PetscCall(Compare(A, dm, "-t_pc_type column -t_pc_column_axis z", norms[q], q ? 1e-10 : 1e-12, b, m == 1 && !f ? PETSC_TRUE : PETSC_FALSE,
                            m == 2 && !q ? PETSC_TRUE : PETSC_FALSE, q == 3 ? "precision single: steps in single precision" : says, name));
      PetscCall(VecDuplicate(b, &x));
      PetscCall(VecDuplicate(b, &first));
      for (int q = 0; q < 3; q++) {
        PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp[q]));
        PetscCall(KSPSetOperators(ksp[q], A, A));
        PetscCall(KSPSetType(ksp[q], KSPCGFUSED));
        PetscCall(KSPSetNormType(ksp[q], norms[q]));
        PetscCall(KSPCGFusedSetPrecision(ksp[q], KSP_CGFUSED_SINGLE));
        PetscCall(KSPSetTolerances(ksp[q], 1e-11, 1e-300, PETSC_DEFAULT, PETSC_DEFAULT));
        PetscCall(KSPSetResidualHistory(ksp[q], NULL, 1000, PETSC_TRUE));
        PetscCall(KSPGetPC(ksp[q], &pc));
        PetscCall(PCSetDM(pc, dm));
        PetscCall(PCSetType(pc, PCCOLUMN));
        PetscCall(PCColumnSetAxis(pc, 2));
      }
      for (int norm = 0; norm < 3; norm++)
        for (int q = 0; q < 3; q++) {
          PetscCall(KSPSetNormType(ksp[q], norms[norm]));
          PetscCall(KSPCGFusedSetCheckInterval(ksp[q], intervals[q]));
          PetscCall(KSPSolve(ksp[q], b, q ? x : first));
          if (q) PetscCall(Same(ksp[q], ksp[0], x, first, name));
        }
      for (int q = 0; q < 3; q++) PetscCall(KSPDestroy(&ksp[q]));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&first));
      PetscCall(VecDestroy(&b));
      PetscCall(MatDestroy(&A));
      PetscCall(DMDestroy(&dm));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a device does not do in single precision, and what cannot be done in it */
static PetscErrorCode TestDeviceRefuses(void)
{
  DM  dm;
  Mat A;
  Vec b;

  PetscFunctionBeginUser;
  if (!TapHasDevice() || size > 1) {
    skip(size > 1 ? "one rank only" : "no GPU");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Make(TENSOR, 1, &dm, &A));
  PetscCall(DMSetVecType(dm, VECCUDA));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(Compare(A, dm, "-t_pc_type jacobi", KSP_NORM_UNPRECONDITIONED, 1e-10, b, PETSC_FALSE, PETSC_FALSE,
                    "precision single: steps in double precision: a preconditioner other than column", "device, jacobi"));
  PetscCall(Compare(A, dm, "-t_pc_type column -t_pc_column_omega 0.9", KSP_NORM_UNPRECONDITIONED, 1e-10, b, PETSC_FALSE, PETSC_FALSE,
                    "precision single: steps in double precision: options of the preconditioner", "device, a weight"));
  PetscCall(TestNaNAndZero(A, dm, "-t_pc_type column", b, "device, "));
  PetscCall(VecDestroy(&b));
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
  PetscCall(TestOperators());
  PetscCall(TestNorms());
  PetscCall(TestRange());
  PetscCall(TestFailures());
  PetscCall(TestChanges());
  PetscCall(TestDevice());
  PetscCall(TestDeviceRefuses());
  return TapEnd();
}
