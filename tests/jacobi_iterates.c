/*
   KSPHJACOBI and PCHJACOBI on operators of all forms, sides and masks and on assembled matrices, on every process grid: iterates against
   Jacobi's iteration with an assembled matrix, the same bits on every grid
*/
/* ranks: 1 2 3 4 */
#include "problems.h"
#include "../src/jacobi/kspjacobiimpl.h"
#include <petsc/private/pcimpl.h>

/* What is solved, on one rank or on all */
typedef struct {
  Mat A, B; /* the operator, the same assembled */
  Vec b, x, y, d;
} System;

static PetscErrorCode SystemCreate(Problem *p, System *s, int device)
{
  PetscFunctionBeginUser;
  PetscCall(ProblemSetUp(p));
  if (device) PetscCall(DMSetVecType(p->dm, VECCUDA));
  PetscCall(ProblemOperator(p, &s->A));
  PetscCall(ProblemAssembled(p, &s->B));
  PetscCall(ProblemVector(p, 1, &s->b));
  PetscCall(VecDuplicate(s->b, &s->x));
  PetscCall(VecDuplicate(s->b, &s->y));
  PetscCall(VecDuplicate(s->b, &s->d));
  PetscCall(MatGetDiagonal(s->B, s->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SystemDestroy(Problem *p, System *s)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&s->A));
  PetscCall(MatDestroy(&s->B));
  PetscCall(VecDestroy(&s->b));
  PetscCall(VecDestroy(&s->x));
  PetscCall(VecDestroy(&s->y));
  PetscCall(VecDestroy(&s->d));
  PetscCall(DMDestroy(&p->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The guess of all solves */
static PetscErrorCode Guess(const Problem *p, Vec x)
{
  Vec v;

  PetscFunctionBeginUser;
  PetscCall(ProblemVector(p, 2, &v));
  PetscCall(VecCopy(v, x));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x after some sweeps of Jacobi's iteration with the assembled matrix or its transpose */
static PetscErrorCode Plain(const System *s, PetscBool transpose, PetscInt sweeps, const PetscReal weight[], PetscInt period, Vec b, Vec x)
{
  Vec r;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &r));
  for (PetscInt m = 0; m < sweeps; m++) {
    if (transpose)
      PetscCall(MatMultTranspose(s->B, x, r));
    else
      PetscCall(MatMult(s->B, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscCall(VecPointwiseDivide(r, r, s->d));
    PetscCall(VecAXPY(x, weight[m % period], r));
  }
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |x - y| over |y|, largest values */
static PetscErrorCode Difference(Vec x, Vec y, double *difference)
{
  PetscReal d, size;
  Vec       v;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &v));
  PetscCall(VecWAXPY(v, -1, x, y));
  PetscCall(VecNorm(v, NORM_INFINITY, &d));
  PetscCall(VecNorm(y, NORM_INFINITY, &size));
  *difference = size > 0 ? d / size : d;
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solver(MPI_Comm comm, Mat A, PetscInt k, PetscReal omega, PetscInt cycles, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(comm, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPHJACOBI));
  PetscCall(KSPHJacobiSetSubiterations(*ksp, k));
  PetscCall(KSPHJacobiSetOmega(*ksp, omega));
  PetscCall(KSPSetInitialGuessNonzero(*ksp, PETSC_TRUE));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_NONE));
  PetscCall(KSPSetTolerances(*ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, cycles));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterates, on the host or on the device: as they must be, and the same bits as on one rank and the host */
static PetscErrorCode Iterates(Problem p, int device)
{
  const PetscReal    omega = 0.7;
  const PetscInt     k = 5, cycles = 2;
  Problem            alone = p;
  System             s, one;
  KSP                ksp;
  double             error[3] = {0, 0, 0};
  int                same[2] = {1, 1}, reason = 1;
  const PetscScalar *mine, *theirs;

  PetscFunctionBeginUser;
  alone.comm = PETSC_COMM_SELF;
  for (int a = 0; a < 3; a++) alone.procs[a] = 1;
  PetscCall(SystemCreate(&p, &s, device));
  PetscCall(SystemCreate(&alone, &one, 0));
  for (int assembled = 0; assembled < 2; assembled++) {
    PetscCall(Solver(PETSC_COMM_SELF, assembled ? one.B : one.A, k, omega, cycles, &ksp));
    PetscCall(Guess(&alone, one.x));
    PetscCall(KSPSolve(ksp, one.b, one.x));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(Solver(PETSC_COMM_WORLD, assembled ? s.B : s.A, k, omega, cycles, &ksp));
    for (int transpose = 1; transpose >= 0; transpose--) {
      KSPConvergedReason why;

      PetscCall(Guess(&p, s.x));
      PetscCall(Guess(&p, s.y));
      if (transpose)
        PetscCall(KSPSolveTranspose(ksp, s.b, s.x));
      else
        PetscCall(KSPSolve(ksp, s.b, s.x));
      PetscCall(KSPGetConvergedReason(ksp, &why));
      if (why != KSP_CONVERGED_ITS) reason = 0;
      PetscCall(Plain(&s, (PetscBool)transpose, k * cycles, &omega, 1, s.b, s.y));
      PetscCall(Difference(s.x, s.y, &error[transpose ? 2 : assembled]));
    }
    PetscCall(VecGetArrayRead(one.x, &theirs));
    PetscCall(VecGetArrayRead(s.x, &mine));
    EACH_CELL(&p, x, i) if (mine[i] != theirs[Natural(&p, x)]) same[assembled] = 0;
    PetscCall(VecRestoreArrayRead(one.x, &theirs));
    PetscCall(VecRestoreArrayRead(s.x, &mine));
    PetscCall(KSPDestroy(&ksp));
  }
  ok(error[0] < 1e-12 && error[1] < 1e-12, "%s, %s: ten sweeps, errors %.1e, assembled %.1e", ProblemName(&p), device ? "device" : "host", error[0],
     error[1]);
  ok(error[2] < 1e-12, "with the transpose, error %.1e", error[2]);
  ok(same[0] && same[1], "the same bits as on one rank%s", device ? " and the host" : "");
  ok(reason, "a given number of cycles");
  PetscCall(SystemDestroy(&alone, &one));
  PetscCall(SystemDestroy(&p, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps of the inner part of a box while its frames travel give the bits of those that wait for them */
static PetscErrorCode Travelling(Problem p, PetscInt k, HJacobiPrecision precision, int device)
{
  System             s;
  KSP                ksp;
  PetscReal          history[2][8];
  const PetscScalar *ax, *ay;
  PetscInt           n, count[2], tile = 5;
  PetscMPIInt        size;
  int                cut = 0, waits = 1, same = 1;

  PetscFunctionBeginUser;
  PetscCall(SystemCreate(&p, &s, device));
  PetscCallMPI(MPI_Comm_size(p.comm, &size));
  for (int travelling = 0; travelling < 2; travelling++) {
    Vec          x = travelling ? s.x : s.y;
    StrataJacobi j;

    PetscCall(Solver(PETSC_COMM_WORLD, s.A, k, 0.7, 5, &ksp));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPSetTolerances(ksp, 1e-50, 1e-50, 1e50, 5));
    PetscCall(KSPHJacobiSetNorm(ksp, HJACOBI_NORM_UPDATE));
    PetscCall(KSPHJacobiSetPrecision(ksp, precision));
    if (k > 3) PetscCall(KSPHJacobiSetTile(ksp, 1, &tile)); /* several passes a cycle */
    PetscCall(KSPSetResidualHistory(ksp, history[travelling], 8, PETSC_TRUE));
    j = *(StrataJacobi *)ksp->data;
    j->wide = travelling ? 4 : 1000;
    PetscCall(Guess(&p, x));
    PetscCall(KSPSolve(ksp, s.b, x));
    PetscCall(KSPGetResidualHistory(ksp, NULL, &count[travelling]));
    if (travelling) cut = j->inside;
    if (!travelling && j->inside) waits = 0;
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecGetLocalSize(s.x, &n));
  PetscCall(VecGetArrayRead(s.x, &ax));
  PetscCall(VecGetArrayRead(s.y, &ay));
  for (PetscInt i = 0; i < n; i++) same &= ax[i] == ay[i];
  PetscCall(VecRestoreArrayRead(s.x, &ax));
  PetscCall(VecRestoreArrayRead(s.y, &ay));
  ok(waits && (cut || size == 1), "%s, %s, %d sweeps, precision %s: the inner part is swept meanwhile", ProblemName(&p), device ? "device" : "host",
     (int)k, HJacobiPrecisions[precision]);
  ok(same, "the same solution");
  ok(count[0] == 5 && count[1] == 5 && !memcmp(history[0], history[1], 5 * sizeof(PetscReal)), "the same changes");
  PetscCall(SystemDestroy(&p, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a preconditioner owes: it is linear, its transpose is that, it is symmetric where it says so, Richardson's iteration does what the plain path does */
static PetscErrorCode Preconditioner(Problem p, PetscInt overlap, PetscInt cycles, HJacobiSchedule schedule, HJacobiPrecision precision, int device)
{
  const double eps = precision == HJACOBI_PRECISION_SINGLE ? 1e-5 : 1e-12;
  System       s;
  PC           pc;
  KSP          ksp;
  Vec          u, v, w;
  PetscScalar  left, right;
  double       linear, richardson, error;
  PetscInt     tile = 12;
  PetscBool    symmetric;
  const int    owed = p.symmetric && (overlap == STRATA_EXACT || (!overlap && (cycles == 1 || schedule != HJACOBI_SRJ)));
  const char  *name;

  PetscFunctionBeginUser;
  PetscCall(SystemCreate(&p, &s, device));
  PetscCall(VecDuplicate(s.b, &u));
  PetscCall(VecDuplicate(s.b, &v));
  PetscCall(VecDuplicate(s.b, &w));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, s.A, s.A));
  PetscCall(KSPSetType(ksp, KSPRICHARDSON));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCHJACOBI));
  PetscCall(PCHJacobiSetSubiterations(pc, 4));
  PetscCall(PCHJacobiSetOverlap(pc, 1, &overlap));
  PetscCall(PCHJacobiSetTile(pc, 1, &tile));
  PetscCall(PCHJacobiSetCycles(pc, cycles));
  PetscCall(PCHJacobiSetSchedule(pc, schedule));
  PetscCall(PCHJacobiSetChebyshevBounds(pc, 0.2, 2.1));
  PetscCall(PCHJacobiSetPrecision(pc, precision));
  PetscCall(PCSetUp(pc));
  name = overlap == STRATA_EXACT ? "exact" : overlap ? "a partial overlap" : "no overlap";
  PetscCall(Guess(&p, s.x));
  PetscCall(PCApply(pc, s.b, u));
  PetscCall(PCApply(pc, s.x, v));
  PetscCall(VecWAXPY(w, 3, s.x, s.b));
  PetscCall(PCApply(pc, w, s.y));
  PetscCall(VecAXPY(u, 3, v));
  PetscCall(Difference(s.y, u, &linear));
  ok(linear < eps, "%s, %s, %s, schedule %s, %d cycles: linear, error %.1e", ProblemName(&p), device ? "device" : "host", name,
     HJacobiSchedules[schedule], (int)cycles, linear);

  PetscCall(PCApplyTranspose(pc, s.b, u));
  PetscCall(VecDot(s.b, v, &left));
  PetscCall(VecDot(u, s.x, &right));
  PetscCall(VecNorm(v, NORM_2, &error));
  ok(PetscAbsScalar(left - right) <= eps * 10 * error, "the transpose, error %.1e", (double)PetscAbsScalar(left - right) / error);

  PetscCall(StrataJacobiSymmetric(*(StrataJacobi *)pc->data, &symmetric));
  is_int(symmetric, owed, owed ? "it says that it is symmetric" : "it does not say that it is symmetric");
  PetscCall(PCApply(pc, s.b, u));
  PetscCall(VecDot(u, s.x, &right));
  ok(!symmetric || PetscAbsScalar(left - right) <= eps * 10 * error, "and is, error %.1e", (double)PetscAbsScalar(left - right) / error);

  /* no test: PCApplyRichardson(); a test: the loop of KSPRICHARDSON */
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscCall(KSPSetTolerances(ksp, 1e-50, 1e-50, 1e50, 3));
  PetscCall(VecCopy(s.x, u));
  PetscCall(KSPSolve(ksp, s.b, u));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(VecCopy(s.x, w));
  PetscCall(KSPSolve(ksp, s.b, w));
  PetscCall(Difference(u, w, &richardson));
  ok(richardson < 100 * eps, "three iterations of Richardson, error %.1e", richardson);

  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(SystemDestroy(&p, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Richardson's iteration where the preconditioner is made from another matrix: the operator's residual counts */
static PetscErrorCode Other(Problem p, int device)
{
  System s;
  Mat    A;
  KSP    ksp;
  PC     pc;
  Vec    x[2];
  double error;

  PetscFunctionBeginUser;
  PetscCall(SystemCreate(&p, &s, device));
  PetscCall(MatDuplicate(s.B, MAT_COPY_VALUES, &A));
  PetscCall(MatShift(A, 3));
  for (int tested = 0; tested < 2; tested++) {
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, s.A));
    PetscCall(KSPSetType(ksp, KSPRICHARDSON));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCHJACOBI));
    PetscCall(PCHJacobiSetChebyshevBounds(pc, 0.2, 2.1));
    PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    PetscCall(KSPSetNormType(ksp, tested ? KSP_NORM_UNPRECONDITIONED : KSP_NORM_NONE));
    PetscCall(KSPSetTolerances(ksp, 1e-50, 1e-50, 1e50, 4));
    PetscCall(VecDuplicate(s.b, &x[tested]));
    PetscCall(Guess(&p, x[tested]));
    PetscCall(KSPSolve(ksp, s.b, x[tested]));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(Difference(x[0], x[1], &error));
  ok(error < 1e-11, "%s, %s: Richardson's iteration with two matrices, error %.1e", ProblemName(&p), device ? "device" : "host", error);
  for (int m = 0; m < 2; m++) PetscCall(VecDestroy(&x[m]));
  PetscCall(MatDestroy(&A));
  PetscCall(SystemDestroy(&p, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A singular matrix with its null space: iterates stay out of it, and converge */
static PetscErrorCode Singular(Problem p, int device)
{
  System             s;
  KSP                ksp;
  MatNullSpace       constant;
  KSPConvergedReason reason;
  PetscScalar        sum;
  PetscReal          norm;

  PetscFunctionBeginUser;
  PetscCall(SystemCreate(&p, &s, device));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constant));
  PetscCall(MatSetNullSpace(s.A, constant));
  PetscCall(MatNullSpaceRemove(constant, s.b));
  PetscCall(Solver(PETSC_COMM_WORLD, s.A, 8, 0.8, 5000, &ksp));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-7, 1e-50, 1e5, 5000));
  PetscCall(Guess(&p, s.x));
  PetscCall(VecShift(s.x, 2));
  PetscCall(KSPSolve(ksp, s.b, s.x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(VecSum(s.x, &sum));
  PetscCall(VecNorm(s.x, NORM_1, &norm));
  ok(reason == KSP_CONVERGED_RTOL && PetscAbsScalar(sum) <= 1e-12 * norm, "%s, %s: a null space: %s, sum %g", ProblemName(&p),
     device ? "device" : "host", KSPConvergedReasons[reason], (double)sum);
  PetscCall(MatNullSpaceDestroy(&constant));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(SystemDestroy(&p, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The interval of the default schedule reaches 1.1 times the largest eigenvalue, which the method of powers finds; a little further along periodic
   axes of odd length */
static PetscErrorCode Interval(Problem p, int device)
{
  const PetscReal factors[] = {-1, 1e60, 1e-200, 1e300};
  System          s;
  PC              pc;
  StrataJacobi    j;
  PetscReal       norm = 0, largest, result;
  int             estimated, odd = 0;

  PetscFunctionBeginUser;
  PetscCall(SystemCreate(&p, &s, device));
  for (int a = 0; a < p.dim; a++) odd += Periodic(&p, a) && p.N[a] % 2;
  PetscCall(Guess(&p, s.x));
  for (int m = 0; m < 1000; m++) {
    PetscCall(VecNormalize(s.x, NULL));
    PetscCall(MatMult(s.B, s.x, s.y));
    PetscCall(VecPointwiseDivide(s.x, s.y, s.d));
  }
  PetscCall(VecNorm(s.x, NORM_2, &norm));
  for (int assembled = 0; assembled < 2; assembled++) {
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCHJACOBI));
    PetscCall(PCSetOperators(pc, assembled ? s.B : s.A, assembled ? s.B : s.A));
    PetscCall(PCSetUp(pc));
    j = *(StrataJacobi *)pc->data;
    largest = j->interval[1] / 1.1;
    estimated = j->eigenvalues > 0;
    is_int(estimated, assembled, "%s, %s: the largest eigenvalue is %s", ProblemName(&p), device ? "device" : "host",
           assembled ? "estimated" : "known");
    ok(largest > (assembled ? 0.9 : 0.9995) * norm && largest < (odd && !assembled ? 1.05 : 1.001) * norm, "it is %g, and %g by the method of powers",
       (double)largest, (double)norm);
    PetscCall(PCApply(pc, s.x, s.y));
    PetscCall(VecNorm(s.y, NORM_2, &result));
    for (int f = 0; f < 4; f++) { /* whatever the scale of the matrix is, in single precision too */
      Mat       scaled;
      PetscReal other;

      PetscCall(MatDuplicate(assembled ? s.B : s.A, MAT_COPY_VALUES, &scaled));
      PetscCall(MatScale(scaled, factors[f]));
      PetscCall(PCSetOperators(pc, scaled, scaled));
      PetscCall(PCSetUp(pc));
      j = *(StrataJacobi *)pc->data;
      is_real(j->interval[1] / 1.1, largest, 1e-3 * largest, "it is that of the matrix times %g", (double)factors[f]);
      PetscCall(PCHJacobiSetPrecision(pc, HJACOBI_PRECISION_SINGLE));
      PetscCall(PCApply(pc, s.x, s.y));
      PetscCall(VecScale(s.y, factors[f]));
      PetscCall(VecNorm(s.y, NORM_2, &other));
      is_real(other, result, 1e-3 * result, "and so is the result in single precision");
      PetscCall(PCHJacobiSetPrecision(pc, HJACOBI_PRECISION_SAME));
      PetscCall(MatDestroy(&scaled));
    }
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(SystemDestroy(&p, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Setters and getters; a change of the matrix is seen, a setting of what is set already is not */
static PetscErrorCode Settings(Problem p, int device)
{
  System           s;
  KSP              ksp;
  PC               pc;
  PetscInt         n, list[3], value;
  PetscReal        a, b;
  HJacobiSchedule  schedule;
  HJacobiKernel    kernel;
  HJacobiPrecision precision;
  HJacobiNorm      norm;
  double           error;
  const PetscInt   tile[2] = {7, 9}, overlap[3] = {2, 4, 6}, grid[2] = {5, 4};
  const PetscReal  one = 1;

  PetscFunctionBeginUser;
  PetscCall(SystemCreate(&p, &s, device));
  PetscCall(Solver(PETSC_COMM_WORLD, s.A, 3, 1, 1, &ksp));
#define ROUND(P, object)                                                                                                                             \
  PetscCall(P##HJacobiSetTile(object, 2, tile));                                                                                                     \
  PetscCall(P##HJacobiGetTile(object, &n, list));                                                                                                    \
  ok(n == 2 && list[0] == 7 && list[1] == 9, #P ": tile");                                                                                           \
  PetscCall(P##HJacobiSetOverlap(object, 3, overlap));                                                                                               \
  PetscCall(P##HJacobiGetOverlap(object, &n, list));                                                                                                 \
  ok(n == 3 && list[0] == 2 && list[1] == 4 && list[2] == 6, #P ": overlap");                                                                        \
  PetscCall(P##HJacobiSetSubiterations(object, 4));                                                                                                  \
  PetscCall(P##HJacobiGetSubiterations(object, &value));                                                                                             \
  is_int(value, 4, #P ": sweeps");                                                                                                                   \
  PetscCall(P##HJacobiSetOmega(object, 0.5));                                                                                                        \
  PetscCall(P##HJacobiGetOmega(object, &a));                                                                                                         \
  is_real(a, 0.5, 0, #P ": weight");                                                                                                                 \
  PetscCall(P##HJacobiSetChebyshevBounds(object, 0.25, 1.5));                                                                                        \
  PetscCall(P##HJacobiGetChebyshevBounds(object, &a, &b));                                                                                           \
  ok(a == 0.25 && b == 1.5, #P ": interval");                                                                                                        \
  PetscCall(P##HJacobiSetSchedule(object, HJACOBI_SRJ));                                                                                             \
  PetscCall(P##HJacobiGetSchedule(object, &schedule));                                                                                               \
  is_int(schedule, HJACOBI_SRJ, #P ": schedule");                                                                                                    \
  PetscCall(P##HJacobiSetSRJLevels(object, 2));                                                                                                      \
  PetscCall(P##HJacobiGetSRJLevels(object, &value));                                                                                                 \
  is_int(value, 2, #P ": levels");                                                                                                                   \
  PetscCall(P##HJacobiSetKernel(object, HJACOBI_KERNEL_SHARED));                                                                                     \
  PetscCall(P##HJacobiGetKernel(object, &kernel));                                                                                                   \
  is_int(kernel, HJACOBI_KERNEL_SHARED, #P ": kernel");                                                                                              \
  PetscCall(P##HJacobiSetPrecision(object, HJACOBI_PRECISION_SINGLE));                                                                               \
  PetscCall(P##HJacobiGetPrecision(object, &precision));                                                                                             \
  is_int(precision, HJACOBI_PRECISION_SINGLE, #P ": precision");                                                                                     \
  PetscCall(P##HJacobiSetGrid(object, 2, grid));                                                                                                     \
  PetscCall(P##HJacobiGetGrid(object, &n, list));                                                                                                    \
  ok(n == 2 && list[0] == 5 && list[1] == 4, #P ": grid");
  ROUND(KSP, ksp)
  PetscCall(KSPHJacobiSetCheckInterval(ksp, 6));
  PetscCall(KSPHJacobiGetCheckInterval(ksp, &value));
  is_int(value, 6, "KSP: interval of tests");
  PetscCall(KSPHJacobiSetNorm(ksp, HJACOBI_NORM_UPDATE));
  PetscCall(KSPHJacobiGetNorm(ksp, &norm));
  is_int(norm, HJACOBI_NORM_UPDATE, "KSP: norm");
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPHJacobiSetOmega(ksp, 0.5));
  ok(1, "a setter for another type does nothing");
  is_error(KSPHJacobiGetOmega(ksp, &a), PETSC_ERR_SUP, "hjacobi cg", "a getter fails");
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCHJACOBI));
  ROUND(PC, pc)
  PetscCall(PCHJacobiSetCycles(pc, 6));
  PetscCall(PCHJacobiGetCycles(pc, &value));
  is_int(value, 6, "PC: cycles");
  PetscCall(KSPDestroy(&ksp));

  /* another matrix, another scale, another number of sweeps between solves */
  PetscCall(Solver(PETSC_COMM_WORLD, s.A, 3, 1, 1, &ksp));
  for (int change = 0; change < 4; change++) {
    PetscInt sweeps = 3;

    if (change == 1) {
      PetscCall(MatShift(s.A, 1.5));
      PetscCall(MatShift(s.B, 1.5));
    } else if (change == 2) {
      PetscCall(MatScale(s.A, -2));
      PetscCall(MatScale(s.B, -2));
    } else if (change == 3)
      PetscCall(KSPHJacobiSetSubiterations(ksp, sweeps = 2));
    PetscCall(MatGetDiagonal(s.B, s.d));
    PetscCall(Guess(&p, s.x));
    PetscCall(Guess(&p, s.y));
    PetscCall(KSPSolve(ksp, s.b, s.x));
    PetscCall(Plain(&s, PETSC_FALSE, sweeps, &one, 1, s.b, s.y));
    PetscCall(Difference(s.x, s.y, &error));
    ok(error < 1e-12, "solve %d, after a change: error %.1e", change, error);
  }
  PetscCall(KSPDestroy(&ksp));

  /* a setting of a preconditioner that is at work already is the same as one before */
  for (int change = 0; change < 3; change++) {
    PC used, fresh;

    PetscCall(PCCreate(PETSC_COMM_WORLD, &used));
    PetscCall(PCSetType(used, PCHJACOBI));
    PetscCall(PCSetOperators(used, s.A, s.A));
    PetscCall(PCHJacobiSetSchedule(used, HJACOBI_CONSTANT));
    PetscCall(PCApply(used, s.b, s.x));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &fresh));
    PetscCall(PCSetType(fresh, PCHJACOBI));
    PetscCall(PCSetOperators(fresh, s.A, s.A));
    PetscCall(PCHJacobiSetSchedule(fresh, HJACOBI_CONSTANT));
    for (int which = 0; which < 2; which++) {
      PC q = which ? fresh : used;

      if (change == 0) PetscCall(PCHJacobiSetSubiterations(q, 5));
      if (change == 1) PetscCall(PCHJacobiSetOmega(q, 0.5));
      if (change == 2) PetscCall(PCHJacobiSetCycles(q, 3));
    }
    PetscCall(PCApply(fresh, s.b, s.y));
    PetscCall(Difference(s.x, s.y, &error));
    ok(error > 1e-6, "setting %d makes a difference: %.1e", change, error);
    PetscCall(PCApply(used, s.b, s.x));
    PetscCall(Difference(s.x, s.y, &error));
    ok(error == 0, "setting %d of a preconditioner that is at work: error %.1e", change, error);
    PetscCall(PCDestroy(&used));
    PetscCall(PCDestroy(&fresh));
  }
  PetscCall(SystemDestroy(&p, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt sizes[3][3] = {{23, 1, 1}, {9, 13, 1}, {7, 5, 6}}, wide[3][3] = {{101, 1, 1}, {49, 53, 1}, {33, 34, 17}};
  PetscInt       procs[3];
  PetscMPIInt    size;
  Problem        p;

  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  memset(&p, 0, sizeof(p));
  p.comm = PETSC_COMM_WORLD;
  for (p.dim = 1; p.dim <= 3; p.dim++)
    for (int form = MAT_STRATA_CONSTANT; form <= MAT_STRATA_LEGS; form++)
      for (int variant = 0; variant < 4; variant++) { /* sides: Dirichlet; Neumann and periodic; periodic; with a mask */
        int which = 0;

        p.form = (MatStrataForm)form;
        p.axis = (int)p.dim - 1;
        p.symmetric = variant % 2;
        p.mask = variant == 3 ? MASK_SCATTERED : MASK_NONE;
        for (int a = 0; a < 3; a++) {
          p.N[a] = sizes[p.dim - 1][a];
          p.boundary[a] = variant == 2 || (variant == 1 && a == 1) || (variant == 3 && a == 0) ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
          p.side[2 * a] = p.side[2 * a + 1] = variant == 1 ? MAT_STRATA_NEUMANN : MAT_STRATA_DIRICHLET;
        }
        while (NextProcessGrid(p.dim, p.N, &which, procs)) {
          for (int a = 0; a < 3; a++) p.procs[a] = procs[a];
          PetscCall(Iterates(p, 0));
          if (TapHasDevice())
            PetscCall(Iterates(p, 1));
          else
            skip("no GPU");
        }
        if (form % 2 == 0) /* on the last process grid */
          for (int device = 0; device <= TapHasDevice(); device++)
            PetscCall(Preconditioner(p, 4, 3, HJACOBI_CONSTANT, HJACOBI_PRECISION_SAME, device));
      }
  for (p.dim = 1; p.dim <= 3; p.dim++)
    for (int form = MAT_STRATA_CONSTANT; form <= MAT_STRATA_LEGS; form += 2)
      for (int periodic = 0; periodic < 2; periodic++)
        for (int device = 0; device <= TapHasDevice(); device++) {
          PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
          p.form = (MatStrataForm)form;
          p.mask = form ? MASK_SCATTERED : MASK_NONE;
          for (int a = 0; a < 3; a++) {
            p.N[a] = wide[p.dim - 1][a];
            p.boundary[a] = periodic && a == 0 ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
            p.side[2 * a] = p.side[2 * a + 1] = MAT_STRATA_DIRICHLET;
            p.procs[a] = 1;
          }
          p.procs[0] = size == 4 && p.dim > 1 ? 2 : p.dim == 1 ? size : 1;
          if (p.dim > 1) p.procs[1] = size / p.procs[0];
          for (PetscInt k = 1; k <= 2; k++) PetscCall(Travelling(p, k, HJACOBI_PRECISION_SAME, device));
          if (p.dim == 2) PetscCall(Travelling(p, 3, HJACOBI_PRECISION_SINGLE, device));
          if (p.dim < 3) PetscCall(Travelling(p, 6, HJACOBI_PRECISION_SAME, device));
        }
  memset(&p, 0, sizeof(p));
  p.comm = PETSC_COMM_WORLD;
  p.dim = 2;
  p.N[0] = 17;
  p.N[1] = 15;
  p.N[2] = 1;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  p.procs[0] = size % 2 ? 1 : 2;
  p.procs[1] = size / p.procs[0];
  p.procs[2] = 1;
  for (int form = MAT_STRATA_CONSTANT; form <= MAT_STRATA_LEGS; form++)
    for (int overlap = -1; overlap <= 2; overlap += overlap < 0 ? 1 : 2)
      for (PetscInt cycles = 1; cycles <= 2; cycles++)
        for (int schedule = HJACOBI_CONSTANT; schedule <= HJACOBI_SRJ; schedule++) {
          p.form = (MatStrataForm)form;
          p.symmetric = form == MAT_STRATA_TENSOR || form == MAT_STRATA_FACES;
          for (int device = 0; device <= TapHasDevice(); device++) {
            PetscCall(Preconditioner(p, overlap, cycles, (HJacobiSchedule)schedule, HJACOBI_PRECISION_SAME, device));
            if (schedule == HJACOBI_CHEBYSHEV)
              PetscCall(Preconditioner(p, overlap, cycles, (HJacobiSchedule)schedule, HJACOBI_PRECISION_SINGLE, device));
          }
        }
  p.form = MAT_STRATA_FACES;
  for (int device = 0; device <= TapHasDevice(); device++) {
    p.singular = 0;
    PetscCall(Other(p, device));
    p.singular = p.symmetric = 1;
    PetscCall(Singular(p, device));
  }
  p.singular = 0;
  p.form = MAT_STRATA_CONSTANT;
  for (int periodic = 0; periodic < 2; periodic++)
    for (int device = 0; device <= TapHasDevice(); device++) {
      p.boundary[0] = periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
      PetscCall(Interval(p, device));
    }
  p.boundary[0] = DM_BOUNDARY_NONE;
  p.symmetric = 0;
  for (int device = 0; device <= TapHasDevice(); device++) PetscCall(Settings(p, device));
  p.form = MAT_STRATA_LEGS;
  for (int device = 0; device <= TapHasDevice(); device++) PetscCall(Settings(p, device));
  return TapEnd();
}
